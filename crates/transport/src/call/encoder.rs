//! Frames, as an encoder makes them of what it is asked for, and their packets before they leave.
//!
//! Source: RFC 8593 section 5, the model's steady state: a frame's size is the target over the frame rate, with a Laplacian
//! deviation of scale `SCALE_B`.
//!
//! Departures from it: frames come at equal distances (`SCALE_t` = 0), a new target holds from the next frame on (`tau_v` = 0),
//! and no large frame follows a change of the target (`K_d` = 0).

use std::collections::VecDeque;

use bufferlab_units::{Span, Stream, Time};

use super::CallConfig;

/// A packet that waits: when its frame was taken, and its payload, bytes.
type Waiting = (Time, u32);

#[derive(Clone, Debug)]
pub(super) struct Encoder {
    interval: Span,
    deviation: f64,
    payload_bytes: u32,
    stream: Stream,
    next_frame: Time,
    waiting: VecDeque<Waiting>,
}

impl Encoder {
    pub(super) fn new(config: &CallConfig, stream: Stream) -> Encoder {
        Encoder {
            interval: Span::from_ps(config.frame_ps),
            deviation: config.deviation,
            payload_bytes: config.payload_bytes(),
            stream,
            next_frame: Time::NEVER,
            waiting: VecDeque::new(),
        }
    }

    pub(super) fn start(&mut self, now: Time) {
        self.next_frame = now;
    }

    pub(super) fn stop(&mut self) {
        self.next_frame = Time::NEVER;
        self.waiting.clear();
    }

    /// When there is, or was first, a packet to send.
    pub(super) fn next(&self) -> Time {
        self.waiting.front().map_or(self.next_frame, |&(taken, _)| taken)
    }

    /// Encodes the frames up to `now` for a target.
    pub(super) fn encode(&mut self, now: Time, target_bps: f64) {
        while self.next_frame <= now {
            let mean_bytes = target_bps * self.interval.as_s() / 8.0;
            let bytes = (mean_bytes * (1.0 + self.deviate())).max(1.0) as u32;
            self.pack(bytes);
            self.next_frame = self.next_frame.saturating_add(self.interval);
        }
    }

    /// A frame's packets: as few as hold it, of sizes as equal as can be (WebRTC: `RtpPacketizer::SplitAboutEqually`).
    fn pack(&mut self, bytes: u32) {
        let packets = bytes.div_ceil(self.payload_bytes);
        for number in 0..packets {
            let larger = u32::from(number < bytes % packets);
            self.waiting.push_back((self.next_frame, bytes / packets + larger));
        }
    }

    /// A zero-mean Laplacian: the difference of two exponentials.
    fn deviate(&mut self) -> f64 {
        if self.deviation > 0.0 {
            self.deviation * (self.stream.exponential() - self.stream.exponential())
        } else {
            0.0
        }
    }

    /// The next packet that waits.
    pub(super) fn take(&mut self) -> Option<Waiting> {
        self.waiting.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoder(deviation: f64) -> Encoder {
        let config = CallConfig { deviation, ..super::super::tests::config() };
        Encoder::new(&config, Stream::new(3, 1, 0))
    }

    #[test]
    fn a_frame_is_split_into_about_equal_packets() {
        let mut encoder = encoder(0.0);
        encoder.start(Time::ZERO);
        // 1.2 Mbit/s at 25 frames a second: 6000 bytes, more than five packets of 1160
        encoder.encode(Time::ZERO, 1.2e6);
        let sizes: Vec<u32> = std::iter::from_fn(|| encoder.take()).map(|(_, bytes)| bytes).collect();
        assert_eq!(sizes, [1000; 6]);
        assert_eq!(encoder.next(), Time::ZERO + Span::from_ms(40));
    }

    #[test]
    fn frames_deviate_around_the_target() {
        let mut encoder = encoder(0.15);
        encoder.start(Time::ZERO);
        let sizes: Vec<f64> = (0..20_000_u64)
            .map(|frame| {
                encoder.encode(Time::ZERO + Span::from_ms(40 * frame), 1e6);
                std::iter::from_fn(|| encoder.take()).map(|(_, bytes)| f64::from(bytes)).sum()
            })
            .collect();
        let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
        let spread = sizes.iter().map(|size| (size - mean).abs()).sum::<f64>() / sizes.len() as f64;
        // the mean absolute deviation of a Laplacian is its scale; standard errors: 0.15 % and 1 %
        assert!((mean / 5_000.0 - 1.0).abs() < 0.006, "{mean}");
        assert!((spread / 750.0 - 1.0).abs() < 0.04, "{spread}");
    }
}

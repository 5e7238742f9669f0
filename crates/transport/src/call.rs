//! A video call whose bitrate follows Google Congestion Control, as browsers send it (WebRTC).
//!
//! Source: S. Holmer et al., "A Google Congestion Control Algorithm for Real-Time Communication", draft-ietf-rmcat-gcc-02
//! (2016), in the first version of its section 3: both controllers are the sender's, and the receiver reports when each packet
//! came. Frames come as in the statistical model of RFC 8593 (section 5) and wait in a pacer; `groups` and `filter` measure how
//! the delay changes, `detector` judges it, `control` and `loss` make a rate of that each. Where the draft says nothing, WebRTC's
//! source is followed (the modules `remote_bitrate_estimator` and `congestion_controller` of 2018, read as behavior), and so
//! noted beside each constant.
//!
//! Departures from the draft:
//! - the pacer sends packet by packet, at 1.1 times the target (`kStrictPacingMultiplier`, for controllers of the sender), and not
//!   a group of target times 5 ms each 5 ms (section 4): at the target itself, frames that are larger than their mean would
//!   leave it a queue that grows without bound;
//! - the estimate m(i) is multiplied by the number of groups, up to 60, before it is compared with the threshold, as WebRTC's
//!   detector does (`kMinNumDeltas`); compared as it is (section 5.4) it would take a load of several times the link's rate to
//!   pass 12.5 ms;
//! - the loss-based controller runs when 20 packets or more are reported on since it last did (`kLimitNumPackets`), and not with
//!   each report (section 6): one loss among five packets says little; and its rate is at most the delay-based one;
//! - a report that is lost is made up for by the next one: what it says of packets is not lost with it.
//!
//! Left out of what WebRTC has beside the draft: probes and padding at the start, retransmissions and forward error correction,
//! an answer to reports that do not come, audio.

mod config;
mod control;
mod detector;
mod encoder;
mod filter;
mod groups;
mod incoming;
mod loss;
mod receiver;

use std::collections::VecDeque;

use bufferlab_units::{Span, Stream, Time};

pub use config::CallConfig;
use control::RateControl;
use detector::{Detector, Signal};
use encoder::Encoder;
use filter::Filter;
use groups::Groups;
use incoming::Incoming;
use loss::LossControl;
pub use receiver::CallReceiver;

/// The pace over the target (WebRTC: `kStrictPacingMultiplier`).
const PACE: f64 = 1.1;
/// Taken before the first report, ms (WebRTC: `kDefaultRttMs`).
const DEFAULT_RTT_MS: f64 = 200.0;

/// A packet at the receiver, as a report has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// Its number.
    pub number: u32,
    /// When it left the sender, by the sender's clock.
    pub sent: Time,
    /// When it came, by the receiver's.
    pub at: Time,
    /// Its size without headers.
    pub payload_bytes: u32,
}

/// The sending side of a call.
#[derive(Clone, Debug)]
pub struct CallSender {
    header_bytes: u32,
    encoder: Encoder,
    /// The pacer lets nothing leave before.
    free: Time,
    sent: u32,
    target_bps: f64,
    /// What has arrived and is not reported on yet.
    arrived: VecDeque<Arrived>,
    /// Arrivals that were reported on, and one more than the highest number among them.
    reported: u32,
    expected: u32,
    groups: Groups,
    filter: Filter,
    detector: Detector,
    incoming: Incoming,
    control: RateControl,
    loss: LossControl,
}

impl CallSender {
    /// A call that has not started.
    pub fn new(config: &CallConfig, stream: Stream) -> CallSender {
        let start_bps = config.start_bps as f64;
        CallSender {
            header_bytes: config.header_bytes,
            encoder: Encoder::new(config, stream),
            free: Time::ZERO,
            sent: 0,
            target_bps: start_bps,
            arrived: VecDeque::new(),
            reported: 0,
            expected: 0,
            groups: Groups::default(),
            filter: Filter::default(),
            detector: Detector::default(),
            incoming: Incoming::default(),
            control: RateControl::new(start_bps, config.min_bps as f64, config.max_bps as f64),
            loss: LossControl::new(start_bps, config.min_bps as f64),
        }
    }

    /// Starts, with a frame.
    pub fn start(&mut self, now: Time) {
        self.encoder.start(now);
    }

    /// Ends it; what waits in the pacer is not sent.
    pub fn stop(&mut self) {
        self.encoder.stop();
    }

    /// When the next packet leaves.
    pub fn deadline(&self) -> Time {
        self.encoder.next().max(self.free)
    }

    /// Packets sent.
    pub fn sent(&self) -> u64 {
        self.sent.into()
    }

    /// The bitrate that the encoder is asked for, bit/s.
    pub fn target_bps(&self) -> f64 {
        self.target_bps
    }

    /// The packet that leaves at `now`: when its frame was taken, and its size on the wire, bytes.
    pub fn emit(&mut self, now: Time) -> (Time, u32) {
        self.encoder.encode(now, self.target_bps);
        let (taken, payload_bytes) = self.encoder.take().unwrap_or((now, 1));
        let gap_ps = f64::from(8 * payload_bytes) * 1e12 / (PACE * self.target_bps);
        self.free = now + Span::from_ps(gap_ps as u64);
        self.sent += 1;
        (taken, payload_bytes + self.header_bytes)
    }

    /// A packet has reached the receiver, of which a report will say so.
    pub fn note_arrived(&mut self, arrived: Arrived) {
        self.arrived.push_back(arrived);
    }

    /// A report on the first `count` arrivals has come, made when a packet came that was sent at `echo`.
    pub fn on_report(&mut self, now: Time, count: u32, echo: Time) {
        // frames that were taken before it have been encoded
        self.encoder.encode(now, self.target_bps);
        let (expected, reported) = (self.expected, self.reported);
        let mut overuse = false;
        while self.reported < count
            && let Some(arrived) = self.arrived.pop_front()
        {
            self.reported += 1;
            overuse |= self.take(&arrived) == Some(Signal::Overuse);
        }
        if self.reported > reported {
            let signal = if overuse { Signal::Overuse } else { self.detector.signal() };
            let a_hat = self.control.update(now, signal, self.incoming.bps(), ms(now - echo));
            let as_hat = self.loss.update(self.expected - expected, self.reported - reported, a_hat);
            // section 6: "The actual sending rate is set as the minimum between As_hat and A_hat."
            self.target_bps = as_hat.min(a_hat);
        }
    }

    /// What an arrival says of the path, if it begins a group.
    fn take(&mut self, arrived: &Arrived) -> Option<Signal> {
        self.expected = self.expected.max(arrived.number + 1);
        self.incoming.add(arrived.at, arrived.payload_bytes);
        let group = self.groups.add(arrived.sent, arrived.at)?;
        let m_hat = self.filter.update(group.d_ms, group.sent_gap_ms);
        Some(self.detector.update(m_hat, group.at, group.sent_gap_ms))
    }
}

/// A length of time in milliseconds, the draft's unit.
fn ms(span: Span) -> f64 {
    span.as_ps() as f64 * 1e-9
}

#[cfg(test)]
mod tests;

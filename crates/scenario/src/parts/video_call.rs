//! Video calls.

use bufferlab_parameters::LARGEST_PACKET;
use bufferlab_transport::{CallConfig, MOST_HEADERS};

use crate::keys::{Fraction, RATE, Reading, Size, Time, Whole, given, part};
use crate::quantity::format::{format_rate, format_size};
use crate::quantity::{PS_PER_S, nearest_quotient};
use crate::text::mistake::Mistake;

/// A report with its headers (WebRTC: `kRtcpSize`).
const REPORT_BYTES: u32 = 80;

part! {
    /// A video call whose bitrate follows Google Congestion Control (WebRTC); the receiver's reports take the way back.
    pub struct VideoCall under "application" {
        /// Least bitrate of the video.
        // RFC 8593 table 1: `R_min`.
        min_rate_bps as "min_rate": u64 = given("150 kbps"), RATE, "50 kbps";
        /// The bitrate at first.
        // WebRTC: `kDefaultStartBitrateBps`.
        start_rate_bps as "start_rate": u64 = given("300 kbps"), RATE, "1 Mbps";
        /// Highest bitrate.
        // WebRTC: `GetMaxDefaultVideoBitrateKbps`, for more than 960 × 540.
        max_rate_bps as "max_rate": u64 = given("2.5 Mbps"), RATE, "1.5 Mbps";
        /// A second that brings less is counted by the metric `low_bitrate`.
        low_rate_bps as "low_rate": u64 = given("300 kbps"), RATE, "500 kbps";
        /// Frames a second.
        fps: u64 = given(30), Whole { least: 1, most: 1_000, noun: "frames a second" }, 25;
        /// How much frames' sizes vary: scale of a Laplacian, as a share of their mean.
        // RFC 8593 table 1: `SCALE_B`.
        variation: f64 = given(0.15), Fraction { most: 1.0, inclusive: true, noun: "a share of the mean" }, 0.0;
        /// Largest packet on the wire, headers included.
        // WebRTC: `kVideoMtu`, 1200 bytes of RTP; and headers of IP and UDP.
        packet_bytes as "packet": u64 = given("1228 B"), Size { least: 1, most: LARGEST_PACKET }, "1000 B";
        /// Headers within the packet (20 bytes of IP, 8 of UDP, 12 of RTP); the rest is goodput.
        header_bytes as "header": u64 = given("40 B"), Size { least: 0, most: MOST_HEADERS }, "60 B";
        /// Time between two reports of what arrived, at least.
        // draft-ietf-rmcat-gcc-02 section 3: once a frame, up to 100 ms; WebRTC: `kDefaultSendIntervalMs`.
        report_ps as "report": u64 = given("100 ms"), Time::from(1), "50 ms";
        agree agree;
    }
}

fn agree(call: &mut VideoCall, reading: &mut Reading<'_>) {
    let rates = [
        ("max_rate", call.max_rate_bps, 1_000, CallConfig::MOST_BPS),
        ("min_rate", call.min_rate_bps, 1_000, call.max_rate_bps),
        ("start_rate", call.start_rate_bps, call.min_rate_bps, call.max_rate_bps),
    ];
    // the first one only: the bounds of the others are rates that may be mistaken
    if let Some((key, bps, least, most)) =
        rates.into_iter().find(|&(_, bps, least, most)| bps < least || bps > most)
    {
        let accepted = format!("{} to {}", format_rate(least), format_rate(most));
        let mistake = Mistake::new("is out of bounds").key(key).text(format_rate(bps));
        reading.refuse(mistake.accepted(accepted));
    }
    let least = call.header_bytes + u64::from(CallConfig::LEAST_PAYLOAD_BYTES);
    if call.packet_bytes < least {
        let mistake = Mistake::new("has no room beside the headers").key("packet");
        let accepted = format!("at least {}", format_size(least));
        reading.refuse(mistake.text(format_size(call.packet_bytes)).accepted(accepted));
    }
}

impl VideoCall {
    /// Time between two frames, ps.
    pub fn frame_ps(&self) -> u64 {
        nearest_quotient(u128::from(PS_PER_S), self.fps)
    }

    /// Time between two packets at the highest bitrate, at least, ps.
    pub fn packet_ps(&self) -> u64 {
        PS_PER_S / self.plan().most_packets()
    }

    /// As a plan has it.
    pub fn plan(&self) -> CallConfig {
        CallConfig {
            min_bps: self.min_rate_bps,
            start_bps: self.start_rate_bps,
            max_bps: self.max_rate_bps,
            frame_ps: self.frame_ps(),
            deviation: self.variation,
            packet_bytes: self.packet_bytes as u32,
            header_bytes: self.header_bytes as u32,
            report_ps: self.report_ps,
            report_bytes: REPORT_BYTES,
        }
    }
}

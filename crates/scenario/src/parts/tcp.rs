//! The TCP of a flow group: what a preset says, and the keys that override it.

pub use bufferlab_congestion::Growth;
pub use bufferlab_transport::{AfterIdle, Recovery};
use serde::Serialize;
use serde_json::json;

use super::{MAX_HEADER_BYTES, MAX_PACKET_BYTES, MAX_SEGMENTS};
use crate::keys::{Choice, FLAG, Presence, Size, Text, Time, Whole, absent, part};
use crate::quantity::PS_PER_S;
use crate::quantity::congestion::{Congestion, WORDS, parse_congestion};
use crate::quantity::hosts::{
    Offload, SCALED_WINDOW_BYTES, UNSCALED_WINDOW_BYTES, Window, parse_offload, parse_window,
};
use crate::text::value::Value;

const MAX_TIMER_PS: u64 = 10_000 * PS_PER_S;
const TIMER: Time = Time { least: 1_000_000, most: MAX_TIMER_PS };
const STACK: Presence = absent("the stack's");

const CONGESTION: Text<Congestion> = Text {
    schema: Some(|| {
        let words: Vec<&str> = WORDS.iter().map(|known| known.0.as_str()).collect();
        json!({"anyOf": [{"enum": words}, {"type": "string", "pattern": "^fixed\\(\\s*(\\d{1,10})\\s*\\)$"}]})
    }),
    ..Text::of("a word of the [table below](#congestion-controls)", |value, _| parse_congestion(value))
};
const WINDOW: Text<Window> =
    Text::of("size, segments, or `\"auto\"` with a receive buffer's size or without", |value, _| {
        parse_window(value)
    });
const OFFLOAD: Text<Offload> = Text {
    schema: Some(
        || json!({"anyOf": [{"enum": ["auto", "none"]}, {"type": "string", "examples": ["6 segments"]}]}),
    ),
    ..Text::of("segments, `\"auto\"`, `\"none\"`", |value, _| parse_offload(value))
};
const SSTHRESH: Text<Option<u32>> = Text {
    schema: Some(|| json!({"anyOf": [{"type": "integer", "minimum": 1}, {"const": "none"}]})),
    python: "int | Literal[\"none\"]",
    ..Text::of("segments or `\"none\"`", |value, _| match value.as_text() {
        Some("none") => Ok(None),
        _ => Ok(Some(segments("segments, or 'none'", MAX_SEGMENTS).check(value)? as u32)),
    })
};
const DELAYED_ACK: Text<u64> = Text {
    schema: Some(|| json!({"anyOf": [{"type": "boolean"}, {"type": "integer", "minimum": 1}]})),
    python: "bool | int",
    ..Text::of("true, false, segments", |value, _| match value {
        Value::Flag(flag) => Ok(if *flag { 2 } else { 1 }),
        _ => segments("true, false, or segments an acknowledgment waits for", 1000).check(value),
    })
};

const fn segments(noun: &'static str, most: u64) -> Whole {
    Whole { least: 1, most, noun }
}

/// Declares the keys once, for the table of a flow group and for the stack that they override.
macro_rules! tcp_keys {
    ($($(#[doc = $doc:literal])+ $field:ident $(as $key:literal)?: $type:ty = $kind:expr $(, $example:expr)+;)*) => {
        part! {
            /// Keys that override the stack preset of a flow group.
            pub struct TcpKeys {
                $($(#[doc = $doc])+ $field $(as $key)?: Option<$type> = STACK, $kind $(, $example)+;)*
            }
        }

        /// A TCP sender and its receiver.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        pub struct Stack {
            $($(#[doc = $doc])+ pub $field: $type,)*
        }

        impl Stack {
            /// Its fields with their types in Python.
            pub fn fields() -> Vec<(&'static str, String)> {
                vec![$((stringify!($field), <$type as crate::keys::Shown>::python()),)*]
            }

            /// With the keys that were given.
            fn overridden(&self, keys: &TcpKeys) -> Stack {
                Stack { $($field: keys.$field.unwrap_or(self.$field),)* }
            }
        }

        impl TcpKeys {
            /// The keys that were given.
            pub fn given(&self) -> Vec<&'static str> {
                let all = [$((part!(@key $field $($key)?), self.$field.is_some()),)*];
                all.into_iter().filter(|(_, is_given)| *is_given).map(|(key, _)| key).collect()
            }
        }
    };
}

tcp_keys! {
    /// Window growth and decrease.
    congestion: Congestion = CONGESTION, "cubic";
    /// BIC and the CUBICs: a loss at a smaller window than the last one frees more room for others; the rest have none.
    fast_convergence: bool = FLAG, false;
    /// What a step of Reno's window growth counts; the other controls have their own.
    growth: Growth = Choice::<Growth>::any(), "per-segment";
    /// How losses are repaired; `linux` is `sack` with losses told by the order of sending, tail-loss probes (both RFC 8985)
    /// and the window brought down over a round trip (RFC 6937).
    recovery: Recovery = Choice::<Recovery>::any(), "sack";
    /// Payload of a full segment (MSS).
    segment_bytes as "segment": u64 = Size { least: 1, most: MAX_PACKET_BYTES }, "1000 B";
    /// Headers of a data segment on the wire, on top of the payload.
    header_bytes as "header": u64 = Size { least: 0, most: MAX_HEADER_BYTES }, "40 B";
    /// Size of a pure acknowledgment, and of a SYN, on the wire.
    ack_bytes as "ack": u64 = Size { least: 1, most: MAX_PACKET_BYTES }, "40 B";
    /// Advertised receive window, at least a segment; see [windows that are tuned](#windows-that-are-tuned) for `auto`.
    window: Window = WINDOW, "64 KiB", "100 segments", "auto", "auto(16 MiB)";
    /// Without it the window is at most 65,535 bytes, with it 1,073,725,440.
    window_scaling: bool = FLAG, false;
    /// Initial congestion window, segments.
    initial_window: u64 = segments("segments", MAX_SEGMENTS), 10;
    /// Initial slow-start threshold, segments.
    initial_ssthresh: Option<u32> = SSTHRESH, 64;
    /// Segments that an acknowledgment waits for: true is 2, false is 1.
    delayed_ack: u64 = DELAYED_ACK, true;
    /// Longest wait of a delayed acknowledgment.
    ack_delay_ps as "ack_delay": u64 = Time { least: 0, most: MAX_TIMER_PS }, "40 ms";
    /// Lower bound of the retransmission timeout.
    min_rto_ps as "min_rto": u64 = TIMER, "200 ms";
    /// Upper bound of the retransmission timeout.
    max_rto_ps as "max_rto": u64 = TIMER, "60 s";
    /// Least margin of the retransmission timeout above the smoothed round-trip time; Linux's is 200 ms.
    rto_margin_ps as "rto_margin": u64 = Time { least: 0, most: MAX_TIMER_PS }, "200 ms";
    /// Timeout before the first round-trip sample.
    initial_rto_ps as "initial_rto": u64 = TIMER, "1 s";
    /// Granularity of the round-trip clock; `"1 ps"` is exact.
    clock_ps as "clock": u64 = Time { least: 1, most: MAX_TIMER_PS }, "10 ms", "1 ps";
    /// A round-trip sample from each acknowledgment; otherwise one a window.
    timestamps: bool = FLAG, true;
    /// RFC 3042: new segments for the first two duplicate acknowledgments.
    limited_transmit: bool = FLAG, true;
    /// A SYN goes first.
    handshake: bool = FLAG, false;
    /// Segments leave evenly: 2 windows a round trip below half of the slow-start threshold, 1.2 above, as Linux paces under
    /// the queue `fq`; the first ten leave at once; `bbr` and `bbr3` have a pace of their own.
    paced: bool = FLAG, true;
    /// How many consecutive segments leave the host as one packet, at most; see
    /// [segmentation offload](#segmentation-offload).
    offload: Offload = OFFLOAD, "6 segments";
    /// Window of an `on-off` application that sent nothing for longer than the timeout: as it was; the initial window at most
    /// (RFC 5681, section 4.1); halved for each timeout that passed, down to the initial window, with the threshold at least
    /// ¾ of what it was (Linux, RFC 2861).
    after_idle: AfterIdle = Choice::<AfterIdle>::any(), "keep";
}

impl Stack {
    /// The window that the receiver can advertise, bytes: what is asked for, within the scaling limit.
    pub fn receive_window_bytes(&self) -> u64 {
        let largest = if self.window_scaling { SCALED_WINDOW_BYTES } else { UNSCALED_WINDOW_BYTES };
        self.window.size_bytes(self.segment_bytes).min(largest)
    }

    /// A preset with the keys that a flow group gives.
    ///
    /// The congestion controls `tahoe` and `newreno` choose their recovery too, unless that is given.
    pub fn of(preset: &Stack, keys: &TcpKeys) -> Stack {
        let chosen = match keys.congestion.map(|congestion| congestion.kind) {
            Some("tahoe") => Some(Recovery::Tahoe),
            Some("newreno") => Some(Recovery::NewReno),
            _ => None,
        };
        let stack = preset.overridden(keys);
        Stack { recovery: keys.recovery.or(chosen).unwrap_or(preset.recovery), ..stack }
    }
}

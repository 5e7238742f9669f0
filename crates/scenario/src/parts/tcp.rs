//! The TCP of a flow group, and the keys of its host.
//!
//! A connection's parameters are declared in [`TcpConfig`] and become keys by its table (`connection`). Those that are
//! declared here are the congestion control's, or come to several of a connection's, or are written in a form of their own.

pub use bufferlab_congestion::{Growth, NamedControl};
pub use bufferlab_transport::{AfterIdle, Recovery};
use bufferlab_transport::{MOST_SEGMENTS, TcpConfig};
use serde::Serialize;
use serde_json::json;

use super::connection::{self, STACK};
use crate::keys::{Choice, FLAG, Text, part, shown};
use crate::quantity::congestion::parse_congestion;
use crate::quantity::hosts::{
    Offload, SCALED_WINDOW_BYTES, UNSCALED_WINDOW_BYTES, Window, parse_offload, parse_window,
};
use crate::quantity::jitter::{Jitter, parse_jitter};

const CONGESTION: Text<NamedControl> = Text {
    schema: Some(|| {
        let words: Vec<&str> = NamedControl::words().collect();
        json!({"anyOf": [{"enum": words}, {"type": "string", "pattern": NamedControl::FIXED_PATTERN}]})
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

const JITTER: Text<Jitter> =
    Text::of("`uniform`, `exponential` or `\"none\"`", |value, _| parse_jitter(value));

/// Declares the keys once, for the table of a flow group and for the stack that they override; a connection's stand between
/// the two halves.
macro_rules! host_keys {
    (
        $($(#[doc = $doc:literal])+ $field:ident: $type:ty = $kind:expr $(, $example:expr)+;)*
        connection;
        $($(#[doc = $late_doc:literal])+ $late:ident: $late_type:ty = $late_kind:expr $(, $late_example:expr)+;)*
    ) => {
        part! {
            /// Keys of a flow group's host that override its stack preset.
            pub struct HostKeys {
                $($(#[doc = $doc])+ $field: Option<$type> = STACK, $kind $(, $example)+;)*
                $($(#[doc = $late_doc])+ $late: Option<$late_type> = STACK, $late_kind $(, $late_example)+;)*
            }
        }

        impl HostKeys {
            /// How many of them stand before a connection's.
            pub const EARLY: usize = [$(stringify!($field)),*].len();

            /// The keys that were given.
            pub fn given(&self) -> impl Iterator<Item = &'static str> + use<> {
                let all = [
                    $((stringify!($field), self.$field.is_some()),)*
                    $((stringify!($late), self.$late.is_some()),)*
                ];
                all.into_iter().filter(|(_, is_given)| *is_given).map(|(key, _)| key)
            }
        }

        /// A TCP sender and its receiver.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        pub struct Stack {
            $($(#[doc = $doc])+ pub $field: $type,)*
            /// The connection's parameters, but for what the host's keys come to.
            #[serde(flatten, serialize_with = "connection::resolve")]
            pub connection: TcpConfig,
            $($(#[doc = $late_doc])+ pub $late: $late_type,)*
        }

        impl Stack {
            /// Its fields with their types in Python.
            pub fn fields() -> Vec<(String, String)> {
                let mut fields = vec![$((stringify!($field), <$type as crate::keys::Shown>::python()),)*];
                let late = [$((stringify!($late), <$late_type as crate::keys::Shown>::python()),)*];
                let own = |(name, python): (&str, String)| (name.to_owned(), python);
                fields.drain(..).map(own).chain(connection::fields()).chain(late.map(own)).collect()
            }

            /// With the host's keys that were given.
            pub fn overridden(&self, keys: &HostKeys) -> Stack {
                Stack {
                    $($field: Clone::clone(keys.$field.as_ref().unwrap_or(&self.$field)),)*
                    connection: self.connection.clone(),
                    $($late: Clone::clone(keys.$late.as_ref().unwrap_or(&self.$late)),)*
                }
            }
        }
    };
}

host_keys! {
    /// Window growth and decrease.
    congestion: NamedControl = CONGESTION, "cubic";
    /// BIC and the CUBICs: a loss at a smaller window than the last one frees more room for others; the rest have none.
    fast_convergence: bool = FLAG, false;
    /// What a step of Reno's window growth counts; the other controls have their own.
    growth: Growth = Choice::<Growth>::any(), "per-segment";
    connection;
    /// Advertised receive window, at least a segment; see [windows that are tuned](#windows-that-are-tuned) for `auto`.
    window: Window = WINDOW, "64 KiB", "100 segments", "auto", "auto(16 MiB)";
    /// Without it the window is at most 65,535 bytes, with it 1,073,725,440.
    window_scaling: bool = FLAG, false;
    /// How many consecutive segments leave the host as one packet, at most; see
    /// [segmentation offload](#segmentation-offload).
    offload: Offload = OFFLOAD, "6 segments";
    /// Random processing delay of the sending host; `"0 s"` and `"none"` are none. See
    /// [what jitter delays](#flows).
    jitter: Jitter = JITTER, "uniform(0 s, 1 ms)", "exponential(mean=1 ms)", "0 s";
    /// Window of an `on-off` application that sent nothing for longer than the timeout: as it was; the initial window at most
    /// (RFC 5681, section 4.1); halved for each timeout that passed, down to the initial window, with the threshold at least
    /// ¾ of what it was (Linux, RFC 2861).
    after_idle: AfterIdle = Choice::<AfterIdle>::any(), "keep";
}

shown! { Stack => "ResolvedStack", Jitter => "ResolvedLaw | None", }

impl Stack {
    /// The window that the receiver can advertise, bytes: what is asked for, within the scaling limit and what is simulated.
    pub fn receive_window_bytes(&self) -> u64 {
        let largest = if self.window_scaling { SCALED_WINDOW_BYTES } else { UNSCALED_WINDOW_BYTES };
        let segment_bytes = u64::from(self.connection.mss_bytes);
        self.window.size_bytes(segment_bytes).min(largest).min(MOST_SEGMENTS * segment_bytes)
    }
}

//! Congestion controls, one a file: how large a window may be.
//!
//! Windows are counted in segments of the connection's maximum size. A control is told of acknowledgements and
//! of congestion; loss detection and retransmission belong to the transport, which names what happened.
//!
//! Tahoe and `NewReno` are not files here: both grow and halve the window as [`Reno`] does and differ in what
//! they do about a loss (slow start from one segment; RFC 6582's partial acknowledgements), which is recovery
//! and lives in the transport.

mod fixed;
mod reno;

pub use fixed::Fixed;
pub use reno::{Growth, Reno};

use bufferlab_units::Time;

/// A slow-start threshold above every window.
pub const NO_THRESHOLD: f64 = f64::MAX;

/// What an acknowledgement tells a control.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// Segments that it acknowledges for the first time.
    pub acked: u32,
}

/// What made the sender believe in congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionEvent {
    /// Losses found by duplicate acknowledgements; once a window.
    Loss,
    /// The retransmission timer ran out; `repeated` if nothing was acknowledged since the last time.
    Timeout {
        /// The same segment timed out before.
        repeated: bool,
    },
    /// The SYN timed out.
    SynTimeout,
}

/// The sender's state at a congestion event.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// What happened.
    pub event: CongestionEvent,
    /// RFC 5681's `FlightSize`: sent and not cumulatively acknowledged, segments.
    pub flight: u32,
    /// The receiver's window, segments.
    pub receive_window: u32,
}

/// How large the window may be.
pub trait CongestionControl {
    /// New data was acknowledged outside of fast recovery.
    fn on_ack(&mut self, now: Time, sample: &AckSample);
    /// The network is congested.
    fn on_congestion(&mut self, now: Time, congestion: &Congestion);
    /// The congestion window in segments; the fraction is growth to come.
    fn cwnd(&self) -> f64;
    /// The slow-start threshold in segments.
    fn ssthresh(&self) -> f64;
}

macro_rules! controls {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Every control behind one type: no allocation and no indirect call for each acknowledgement.
        #[derive(Clone, Debug)]
        pub enum AnyControl { $($(#[$doc])* $name($name),)* }

        impl CongestionControl for AnyControl {
            #[inline]
            fn on_ack(&mut self, now: Time, sample: &AckSample) {
                match self { $(AnyControl::$name(control) => control.on_ack(now, sample),)* }
            }
            fn on_congestion(&mut self, now: Time, congestion: &Congestion) {
                match self { $(AnyControl::$name(control) => control.on_congestion(now, congestion),)* }
            }
            #[inline]
            fn cwnd(&self) -> f64 {
                match self { $(AnyControl::$name(control) => control.cwnd(),)* }
            }
            #[inline]
            fn ssthresh(&self) -> f64 {
                match self { $(AnyControl::$name(control) => control.ssthresh(),)* }
            }
        }

        $(impl From<$name> for AnyControl {
            fn from(control: $name) -> AnyControl { AnyControl::$name(control) }
        })*
    };
}

controls! {
    /// RFC 5681.
    Reno,
    /// A window that never changes.
    Fixed,
}

#[cfg(test)]
mod conformance;

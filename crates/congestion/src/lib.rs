//! Congestion controls, one a file: how large a window may be.
//!
//! Windows are counted in segments of the connection's maximum size. A control learns of acknowledgments
//! and of congestion. Loss detection and retransmission belong to the transport, which reports what happened.
//!
//! Tahoe and `NewReno` are not files here: both grow and halve the window as [`Reno`] does and differ in what
//! they do about a loss (slow start from one segment; RFC 6582's partial acknowledgments), which is recovery
//! and lives in the transport.

mod bbr;
mod bic;
mod cbrt;
mod ctcp;
mod cubic;
mod cubic_linux;
mod dctcp;
mod fixed;
mod htcp;
mod hystart;
mod ledbat;
mod linux26;
mod linux_window;
mod prague;
mod reno;
mod sample;
mod scalable;
mod vegas;
mod westwood;
mod words;

pub use bbr::{Bbr1, Bbr1Config, Bbr3, Bbr3Config};
pub use bic::{Bic, BicConfig};
pub use ctcp::{Ctcp, CtcpConfig, CtcpParameters};
pub use cubic::{Cubic, CubicConfig};
pub use cubic_linux::{LinuxCubic, LinuxCubicConfig, LinuxVersion};
pub use dctcp::{Dctcp, DctcpConfig};
pub use fixed::{Fixed, FixedConfig};
pub use htcp::{Htcp, HtcpConfig};
pub use hystart::{HyStart, SlowStartAdvice};
pub use ledbat::{LedbatPlusPlus, LedbatPlusPlusConfig};
pub use linux26::{Linux26, Linux26Config, Linux26Law};
pub use prague::{Prague, PragueConfig};
pub use reno::{Growth, Reno, RenoConfig};
pub use sample::{AckSample, KernelAck, RateSample};
pub use scalable::{Scalable, ScalableConfig};
pub use vegas::{Vegas, VegasConfig};
pub use westwood::{Westwood, WestwoodConfig};
pub use words::NamedControl;

use bufferlab_parameters::{Parameters, kinds};
use bufferlab_units::{Span, Stream, Time};

/// A slow-start threshold above every window.
pub const NO_THRESHOLD: f64 = f64::MAX;

/// What made the sender believe in congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionEvent {
    /// Losses found by duplicate acknowledgments; once a window.
    Loss,
    /// An acknowledgment echoes a mark (RFC 3168 section 6.1.2); once a window. `mild` if the window is to shrink by less than
    /// for a loss, as RFC 8511 has it.
    Mark {
        /// By RFC 8511's factor, if the control has one.
        mild: bool,
    },
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

/// The application had nothing to send, everything was acknowledged, and now there is something again.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// Since the last segment was sent.
    pub idle: Span,
    /// If the window shrinks: the window after it, segments, at least 1 and no larger than before, and the least
    /// slow-start threshold.
    pub restart: Option<(u32, u32)>,
}

/// How large the window may be.
pub trait CongestionControl {
    /// New data was acknowledged outside fast recovery; in it only for controls that grow there.
    fn on_ack(&mut self, now: Time, sample: &AckSample);
    /// The same of any acknowledgment, for controls of Linux 2.6 in ns-2's `Agent/TCP/Linux`: the window grows only where it
    /// is used (`tcp_is_cwnd_limited`).
    fn on_kernel_ack(&mut self, now: Time, ack: &KernelAck) {
        if ack.grows && f64::from(ack.prior_inflight) >= self.cwnd() {
            self.on_ack(now, &ack.sample);
        }
    }
    /// The network is congested.
    fn on_congestion(&mut self, now: Time, congestion: &Congestion);
    /// The congestion window in segments; the fraction is growth to come.
    fn cwnd(&self) -> f64;
    /// The slow-start threshold in segments.
    fn ssthresh(&self) -> f64;
    /// The response to marks is the control's own: it counts them (`AckSample::marked`), and [`CongestionEvent::Mark`] asks
    /// for it.
    fn counts_marks(&self) -> bool {
        false
    }
    /// An acknowledgment by which the window must not grow, as it begins or follows a reduction for a mark. Of controls that
    /// count marks.
    fn on_marks(&mut self, _sample: &AckSample) {}
    /// Sending goes on after an idle time. Nothing by default: for controls that keep no such window.
    fn on_idle(&mut self, _now: Time, _idle: &Idle) {}
    /// The losses of a [`CongestionEvent::Loss`] or a timeout are repaired; or the window that a [`CongestionEvent::Mark`]
    /// came in has passed.
    fn on_recovery_exit(&mut self, _now: Time) {}
    /// A partial acknowledgment takes this many segments off the window, for good (ns-2's `NewReno`). Nothing by default.
    fn on_deflation(&mut self, _segments: u32) {}
    /// The window becomes this many segments: ns-2's `Agent/TCP/Linux` sets it where a recovery ends. Nothing by default.
    fn adopt(&mut self, _segments: u32) {}
    /// The rate to send at, segments a second; none to send as soon as the window allows.
    fn pacing(&self) -> Option<f64> {
        None
    }
    /// Where the window sets the pace: how many windows leave in a round trip outside slow start, if the control asks for
    /// a pace at all.
    fn pace(&self) -> Option<f64> {
        None
    }
    /// Acknowledgments need a [`RateSample`].
    fn wants_rate(&self) -> bool {
        false
    }
    /// The window also grows by acknowledgments in fast recovery.
    fn grows_in_recovery(&self) -> bool {
        false
    }
}

/// What a control is built for, beside its parameters.
pub struct Context {
    /// Initial window, segments.
    pub initial_window: u32,
    /// Initial slow-start threshold, segments, if there is one.
    pub initial_ssthresh: Option<u32>,
    /// A full segment on the wire, bytes.
    pub wire_bytes: u32,
    /// Payload of a full segment, bytes.
    pub mss_bytes: u32,
    /// Several segments may leave as one packet.
    pub offload: bool,
    /// Random numbers of this connection.
    pub stream: Stream,
}

/// A control's parameters, from which it is built.
pub trait Algorithm: Parameters {
    /// What they describe.
    type Control: CongestionControl;
    /// It needs a [`RateSample`] with each acknowledgment, hence a recovery that counts what is in flight.
    const NEEDS_RATES: bool = false;
    /// Its segments are ECN-capable, and it responds to marks itself.
    const USES_ECN: bool = false;
    /// Its segments say so by ECT(1), since it meets RFC 9331 section 4.
    const IS_L4S: bool = false;
    /// It asks for a pace, by a rate of its own or as [`CongestionControl::pace`] says.
    const HAS_PACE: bool = Self::NEEDS_RATES;
    /// RFC 8511 has a factor for it.
    const HAS_MILD_MARKS: bool = false;

    /// A new connection's control.
    fn build(&self, context: Context) -> Self::Control;
}

macro_rules! controls {
    ($($(#[doc = $doc:literal])+ $name:ident($config:ident) = $word:literal: $kind:ty,)*) => {
        kinds! {
            /// A control with its parameters.
            #[derive(Clone, Debug, PartialEq)]
            pub enum CongestionConfig { $($(#[doc = $doc])+ $name($config) = $word,)* }
        }

        impl CongestionConfig {
            /// A new connection's control.
            pub fn build(&self, context: Context) -> AnyControl {
                match self { $(CongestionConfig::$name(config) => config.build(context).into(),)* }
            }

            /// [`Algorithm::NEEDS_RATES`].
            pub fn needs_rates(&self) -> bool {
                match self { $(CongestionConfig::$name(_) => $config::NEEDS_RATES,)* }
            }

            /// [`Algorithm::USES_ECN`].
            pub fn uses_ecn(&self) -> bool {
                match self { $(CongestionConfig::$name(_) => $config::USES_ECN,)* }
            }

            /// [`Algorithm::IS_L4S`].
            pub fn is_l4s(&self) -> bool {
                match self { $(CongestionConfig::$name(_) => $config::IS_L4S,)* }
            }

            /// [`Algorithm::HAS_PACE`].
            pub fn has_pace(&self) -> bool {
                match self { $(CongestionConfig::$name(_) => $config::HAS_PACE,)* }
            }

            /// [`Algorithm::HAS_MILD_MARKS`].
            pub fn has_mild_marks(&self) -> bool {
                match self { $(CongestionConfig::$name(_) => $config::HAS_MILD_MARKS,)* }
            }
        }

        /// Every control behind one type, without an indirect call for each acknowledgment. The larger ones are in
        /// boxes, so that a flow of a small one costs no more memory for them.
        #[derive(Clone, Debug)]
        pub enum AnyControl { $($(#[doc = $doc])+ $name($kind),)* }

        impl CongestionControl for AnyControl {
            // A copy for each control, so that those which are inlined and look at little of the sample do not have
            // it written to memory for the sake of the others.
            #[inline(always)]
            fn on_ack(&mut self, now: Time, sample: &AckSample) {
                if let AnyControl::Reno(control) = self {
                    return control.on_ack(now, &{ *sample });
                }
                match self { $(AnyControl::$name(control) => control.on_ack(now, &{ *sample }),)* }
            }
            fn on_kernel_ack(&mut self, now: Time, ack: &KernelAck) {
                match self { $(AnyControl::$name(control) => control.on_kernel_ack(now, ack),)* }
            }
            fn adopt(&mut self, segments: u32) {
                match self { $(AnyControl::$name(control) => control.adopt(segments),)* }
            }
            fn on_congestion(&mut self, now: Time, congestion: &Congestion) {
                match self { $(AnyControl::$name(control) => control.on_congestion(now, congestion),)* }
            }
            fn counts_marks(&self) -> bool {
                match self { $(AnyControl::$name(control) => control.counts_marks(),)* }
            }
            fn on_marks(&mut self, sample: &AckSample) {
                match self { $(AnyControl::$name(control) => control.on_marks(sample),)* }
            }
            #[inline]
            fn cwnd(&self) -> f64 {
                // the usual one by a branch: a jump through a table takes longer
                if let AnyControl::Reno(control) = self {
                    return control.cwnd();
                }
                match self { $(AnyControl::$name(control) => control.cwnd(),)* }
            }
            #[inline]
            fn ssthresh(&self) -> f64 {
                match self { $(AnyControl::$name(control) => control.ssthresh(),)* }
            }
            fn on_idle(&mut self, now: Time, idle: &Idle) {
                match self { $(AnyControl::$name(control) => control.on_idle(now, idle),)* }
            }
            fn on_recovery_exit(&mut self, now: Time) {
                match self { $(AnyControl::$name(control) => control.on_recovery_exit(now),)* }
            }
            fn on_deflation(&mut self, segments: u32) {
                match self { $(AnyControl::$name(control) => control.on_deflation(segments),)* }
            }
            #[inline]
            fn pacing(&self) -> Option<f64> {
                match self { $(AnyControl::$name(control) => control.pacing(),)* }
            }
            fn pace(&self) -> Option<f64> {
                match self { $(AnyControl::$name(control) => control.pace(),)* }
            }
            fn wants_rate(&self) -> bool {
                match self { $(AnyControl::$name(control) => control.wants_rate(),)* }
            }
            #[inline]
            fn grows_in_recovery(&self) -> bool {
                match self { $(AnyControl::$name(control) => control.grows_in_recovery(),)* }
            }
        }

        $(const _: () = assert!(
            size_of::<$kind>() <= size_of::<Reno>(),
            concat!(
                "`", stringify!($name), "` is larger than `Reno`, and would make every flow larger: ",
                "put it in a box, as `Box<", stringify!($name), ">`, in `controls!`"
            )
        );)*

        $(impl From<$name> for AnyControl {
            fn from(control: $name) -> AnyControl { AnyControl::$name(control.into()) }
        })*
    };
}

controls! {
    /// One segment a round trip, half the window after a loss; they differ in recovery. Source: RFC 5681, RFC 6582.
    Reno(RenoConfig) = "reno": Reno,
    /// A window that never changes: `fixed(20)` keeps 20 segments.
    Fixed(FixedConfig) = "fixed": Fixed,
    /// Binary search for the window of the last loss, which left 0.8 of it. Source: L. Xu, K. Harfoush and I. Rhee,
    /// INFOCOM 2004; Linux 2.6.
    Bic(BicConfig) = "bic": Box<Bic>,
    /// CUBIC; with `HyStart++` in slow start. Source: RFC 9438; RFC 9406.
    Cubic(CubicConfig) = "cubic": Box<Cubic>,
    /// CUBIC of Linux 5, which counts segments; with `HyStart++`, not with Linux's own `HyStart`. Source: Linux 5.10.
    LinuxCubic(LinuxCubicConfig) = "cubic-linux": Box<LinuxCubic>,
    /// The window of Reno plus one that delay governs: Compound TCP. Source: K. Tan and others, INFOCOM 2006;
    /// draft-sridharan-tcpm-ctcp.
    Ctcp(CtcpConfig) = "ctcp": Box<Ctcp>,
    /// 1 % a round trip, 7/8 of the window after a loss. Source: T. Kelly, CCR 33(2), 2003.
    Scalable(ScalableConfig) = "scalable": Box<Scalable>,
    /// Keeps 2 to 4 segments waiting. Source: L. Brakmo and L. Peterson, JSAC 13(8), 1995.
    Vegas(VegasConfig) = "vegas": Box<Vegas>,
    /// A loss leaves what the measured rate needs: Westwood+. Source: L. Grieco and S. Mascolo, CCR 34(2), 2004.
    Westwood(WestwoodConfig) = "westwood": Box<Westwood>,
    /// Grows faster the longer the last loss is ago. Source: D. Leith and R. Shorten, `PFLDnet` 2004.
    Htcp(HtcpConfig) = "htcp": Box<Htcp>,
    /// For what may wait, as updates and backups: gives way where packets wait longer than 60 ms, takes the link alone.
    /// Source: draft-irtf-iccrg-ledbat-plus-plus; RFC 6817.
    LedbatPlusPlus(LedbatPlusPlusConfig) = "ledbat++": Box<LedbatPlusPlus>,
    /// The same as Linux 2.6.22 had them, in whole segments: what ns-2's Agent/TCP/Linux runs, with `recovery =
    /// "linux-ns2"`. Source: ns-2 2.35, tcp/linux/src.
    Linux26(Linux26Config) = "reno-2.6": Box<Linux26>,
    /// Shrinks by the share of marked segments; needs a link that marks (`mark_above`, or `ecn` or `ce_threshold` of its
    /// queue), without marks it is Reno. Source: RFC 8257.
    Dctcp(DctcpConfig) = "dctcp": Box<Dctcp>,
    /// DCTCP for the Internet, paced, with L4S's codepoint ECT(1): for links with `dualpi2`. Source:
    /// draft-briscoe-iccrg-prague-congestion-control; RFC 9331.
    Prague(PragueConfig) = "prague": Box<Prague>,
    /// BBR, version 1: paced by the measured rate. Source: N. Cardwell and others, ACM Queue 14(5), 2016; Linux.
    Bbr1(Bbr1Config) = "bbr": Box<Bbr1>,
    /// BBR, version 3: bounded by losses, too. Source: draft-ietf-ccwg-bbr.
    Bbr3(Bbr3Config) = "bbr3": Box<Bbr3>,
}

#[cfg(test)]
mod bare_link;
#[cfg(test)]
mod characteristics;
#[cfg(test)]
mod conformance;

//! DCTCP: the window shrinks by the part of it that was marked.
//!
//! Sources: RFC 8257, sections 3.3 (the estimate, the reduction), 3.4 (growth) and 3.5 (losses); Linux 6.12
//! `net/ipv4/tcp_dctcp.c` (`dctcp_update_alpha`, `dctcp_ssthresh`, `dctcp_react_to_loss`), read as behavior, for g, for the
//! first estimate and for the arithmetic: the window is in whole segments, the estimate in parts of 1024, and both are
//! rounded so that a small part of marked segments takes nothing from a small window, while the round still counts as
//! reduced. That decides what DCTCP uses of a link where marks begin at less than two packets' wait.
//!
//! When a mark reduces the window, and how it comes down, is the sender's.
//!
//! Departures:
//! - marked segments are counted, RFC 8257 counts bytes;
//! - the window and the estimate are rounded (Linux; RFC 8257 does not);
//! - a round ends with the acknowledgment of its last segment, RFC 8257's with the next.

use bufferlab_parameters::{fraction, parameters};
use bufferlab_units::Time;

use crate::linux_window::{LinuxWindow, half};
use crate::sample::Rounds;
use crate::{AckSample, Algorithm, Congestion, CongestionControl, CongestionEvent, Context, Idle};

/// An estimate of one: all were marked (Linux `DCTCP_MAX_ALPHA`). It is also the first one (RFC 8257 section 3.3; Linux
/// `dctcp_alpha_on_init`).
const MAX_ALPHA: u32 = 1024;

parameters! {
    /// Parameters of DCTCP.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct DctcpConfig {
        /// Weight of a round in the estimated part of marked segments: g = 1/16 (RFC 8257 section 4.2; Linux's
        /// `dctcp_shift_g`).
        gain: f64 = 1.0 / 16.0, fraction("a weight", 1.0);
    }
}

impl Algorithm for DctcpConfig {
    type Control = Dctcp;
    const USES_ECN: bool = true;

    fn build(&self, context: Context) -> Dctcp {
        Dctcp::new(context.initial_window, context.initial_ssthresh, *self)
    }
}

/// DCTCP's window.
#[derive(Clone, Debug)]
pub struct Dctcp {
    window: LinuxWindow,
    /// Weight of a round in the estimate (g).
    gain: f64,
    /// Estimated part of the segments that are marked (`DCTCP.Alpha`), of 1024.
    alpha: u32,
    /// Segments acknowledged in this round (`DCTCP.BytesAcked`).
    acked: u64,
    /// Of those, marked (`DCTCP.BytesMarked`).
    marked: u64,
    /// The round of the estimate (`DCTCP.WindowEnd`).
    rounds: Rounds,
}

impl Dctcp {
    /// A new connection's window.
    pub fn new(initial_window: u32, ssthresh: Option<u32>, config: DctcpConfig) -> Dctcp {
        Dctcp {
            window: LinuxWindow::new(initial_window, ssthresh),
            gain: config.gain.clamp(0.0, 1.0),
            alpha: MAX_ALPHA,
            acked: 0,
            marked: 0,
            rounds: Rounds::default(),
        }
    }

    /// The estimated part of the segments that are marked.
    pub fn alpha(&self) -> f64 {
        f64::from(self.alpha) / f64::from(MAX_ALPHA)
    }

    /// Section 3.3, steps 1 to 8.
    fn estimate(&mut self, sample: &AckSample) {
        self.acked += u64::from(sample.acked);
        self.marked += u64::from(sample.marked.min(sample.acked));
        if self.rounds.ended(sample) && self.acked > 0 {
            let decay = (f64::from(self.alpha) * self.gain) as u32;
            // what is too small to decay is forgotten
            self.alpha -= if decay > 0 { decay } else { self.alpha };
            let weighted = (self.marked as f64 * f64::from(MAX_ALPHA) * self.gain) as u64;
            self.alpha = MAX_ALPHA.min(self.alpha + (weighted / self.acked) as u32);
            (self.acked, self.marked) = (0, 0);
        }
    }
}

impl CongestionControl for Dctcp {
    fn on_ack(&mut self, _now: Time, sample: &AckSample) {
        self.estimate(sample);
        // section 3.4: as conventional TCP
        self.window.reno(sample.acked);
    }

    fn on_marks(&mut self, sample: &AckSample) {
        self.estimate(sample);
    }

    fn counts_marks(&self) -> bool {
        true
    }

    fn on_congestion(&mut self, _now: Time, congestion: &Congestion) {
        let alpha = u64::from(self.alpha);
        let reduced = |cwnd: u32| match congestion.event {
            // step 9: cwnd = cwnd * (1 - DCTCP.Alpha / 2)
            CongestionEvent::Mark { .. } => {
                cwnd - (u64::from(cwnd) * alpha / u64::from(2 * MAX_ALPHA)) as u32
            }
            // section 3.5: "A DCTCP sender MUST react to loss episodes in the same way as conventional TCP"
            _ => half(cwnd),
        };
        self.window.on_congestion(congestion, reduced);
    }

    fn on_idle(&mut self, _now: Time, idle: &Idle) {
        self.window.on_idle(idle);
    }

    fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A control with this window and estimate.
    fn control(window: u32, alpha: u32) -> Dctcp {
        Dctcp { alpha, ..Dctcp::new(window, Some(2), DctcpConfig::default()) }
    }

    /// A round of one acknowledgment for `acked` segments.
    fn round(control: &mut Dctcp, acked: u32, marked: u32) {
        let una = control.rounds.end() + acked;
        let sample = AckSample { acked, marked, una, sent_to: una, ..AckSample::default() };
        control.on_marks(&sample);
    }

    fn congest(control: &mut Dctcp, event: CongestionEvent) {
        control.on_congestion(Time::ZERO, &Congestion { event, flight: 91, receive_window: 1_000 });
    }

    #[test]
    fn the_estimate_moves_by_a_sixteenth_of_the_difference() {
        let mut control = control(10, MAX_ALPHA);
        let mut expected = 1.0;
        for marked in [0, 50, 100, 10] {
            round(&mut control, 100, marked);
            expected = expected * 15.0 / 16.0 + f64::from(marked) / 100.0 / 16.0;
            // rounded twice a round
            assert!((control.alpha() - expected).abs() < 8.0 / 1024.0, "{} {expected}", control.alpha());
        }
    }

    #[test]
    fn the_estimate_is_rounded_as_linux_does() {
        // dctcp_update_alpha: alpha -= alpha >> 4, alpha += (marked << 6) / delivered
        let mut control = control(10, 31);
        round(&mut control, 58, 1);
        assert_eq!(control.alpha, 31 - 1 + 1);
        round(&mut control, 65, 1);
        assert_eq!(control.alpha, 31 - 1, "1/65 of the segments is nothing");
        control.alpha = 15;
        round(&mut control, 58, 0);
        assert_eq!(control.alpha, 0, "what is too small to decay is forgotten");
    }

    #[test]
    fn a_mark_takes_half_of_the_estimate_in_whole_segments() {
        let after = |window, alpha| {
            let mut control = control(window, alpha);
            congest(&mut control, CongestionEvent::Mark { mild: false });
            (control.cwnd(), control.ssthresh())
        };
        assert_eq!(after(100, 205), (90.0, 90.0));
        assert_eq!(after(58, 35), (58.0, 58.0), "less than a segment is nothing");
        assert_eq!(after(59, 35), (58.0, 58.0));
        assert_eq!(after(3, MAX_ALPHA), (2.0, 2.0));
        assert_eq!(after(2, MAX_ALPHA), (2.0, 2.0));
    }

    #[test]
    fn growth_is_counted_anew_after_a_mark() {
        let mut control = control(10, 0);
        let grow = |control: &mut Dctcp, acked| {
            control.on_ack(Time::ZERO, &AckSample::of(acked));
            control.cwnd()
        };
        assert_eq!(grow(&mut control, 9), 10.0);
        congest(&mut control, CongestionEvent::Mark { mild: false });
        assert_eq!(grow(&mut control, 9), 10.0);
        assert_eq!(grow(&mut control, 1), 11.0);
    }

    #[test]
    fn a_loss_halves_whatever_the_estimate() {
        let mut control = control(91, 0);
        congest(&mut control, CongestionEvent::Loss);
        assert_eq!((control.cwnd(), control.ssthresh()), (45.0, 45.0));
    }
}

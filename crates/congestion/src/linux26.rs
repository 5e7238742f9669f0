//! Linux 2.6.22's controls as ns-2's `Agent/TCP/Linux` runs them: in whole segments, bytes and milliseconds.
//!
//! Sources: ns-2 2.35, `tcp/linux/src/tcp_cong.c`, `tcp_scalable.c`, `tcp_htcp.c`, `tcp_vegas.c`, `tcp_westwood.c` and
//! `tcp_compound.c` (Linux 2.6.22.6 and a port of Compound), `tcp/linux/ns-linux-param.c` (`sysctl_tcp_abc` 1) and
//! `tcp/tcp-linux.cc` for what calls them when, read as behavior. BIC and CUBIC' of that version are [`crate::Bic`] and
//! [`crate::LinuxCubic`].
//!
//! They differ from today's in these points:
//! - The window is in slow start also where it equals the threshold, and grows by one segment for each acknowledgment there.
//! - In a recovery the window is half of the threshold at once (`min_cwnd`), save with H-TCP, whose is the threshold, and
//!   Westwood+, whose is its estimate, also where that is more than the window was.
//! - Scalable TCP grows by one segment in 51 acknowledgments.
//! - Vegas compares with what was sent in the round before, after a recovery with all that was sent in it, and leaves slow
//!   start with a threshold of 2.
//! - Westwood+ halves its threshold as Reno does.
//! - Compound's delay window has neither a low-window rule nor a tuned γ.
//!
//! Departures: none is known but for a clock that starts with the run, and for other recoveries than `linux-ns2`, with which
//! a control learns of less (new acknowledgments only, and by their timestamps).

mod delay;
mod htcp;
mod westwood;

use bufferlab_parameters::{choice, parameters, words};
use bufferlab_units::{Span, Time};

use self::delay::{Compound, Round, Vegas};
use self::htcp::Htcp;
use self::westwood::Westwood;
use crate::linux_window::{LinuxWindow, half};
use crate::{AckSample, Algorithm, Congestion, CongestionControl, CongestionEvent, Context, Idle, KernelAck};

/// Acknowledgments less one for a segment of Scalable TCP (`TCP_SCALABLE_AI_CNT`).
const SCALABLE_COUNT: u32 = 50;
/// log₂ of the part of the window that a loss takes from Scalable TCP (`TCP_SCALABLE_MD_SCALE`).
const SCALABLE_SHIFT: u32 = 3;

words! {
    /// Laws of growth of Linux 2.6.22.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Linux26Law {
        /// Reno.
        Reno = "reno",
        /// Scalable TCP.
        Scalable = "scalable",
        /// H-TCP.
        Htcp = "htcp",
        /// Vegas.
        Vegas = "vegas",
        /// Westwood+.
        Westwood = "westwood",
        /// Compound TCP, a port for ns-2.
        Compound = "compound",
    }
}

parameters! {
    /// Parameters of Linux 2.6.22's controls.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Linux26Config {
        /// Whose law.
        law: Linux26Law = Linux26Law::Reno, choice::<Linux26Law>();
    }
}

impl Algorithm for Linux26Config {
    type Control = Linux26;

    fn build(&self, context: Context) -> Linux26 {
        Linux26::new(context.initial_window, context.initial_ssthresh, context.wire_bytes, self.law)
    }
}

/// What a law keeps.
#[derive(Clone, Debug)]
enum Law {
    Reno,
    Scalable,
    Htcp(Htcp),
    Vegas(Vegas),
    Westwood(Westwood),
    Compound(Compound),
}

/// A window of Linux 2.6.22.
#[derive(Clone, Debug)]
pub struct Linux26 {
    window: LinuxWindow,
    /// Segments acknowledged towards Reno's next (`bytes_acked`).
    acked: u32,
    /// One more than the last segment sent, as the last acknowledgment found it (`snd_nxt`).
    sent_to: u32,
    /// The first acknowledgment has come (`initialized_`).
    begun: bool,
    law: Law,
}

impl Linux26 {
    /// A new connection's window; segments are of `wire_bytes`.
    pub fn new(initial_window: u32, ssthresh: Option<u32>, wire_bytes: u32, law: Linux26Law) -> Linux26 {
        Linux26 {
            window: LinuxWindow::new(initial_window, ssthresh),
            acked: 0,
            sent_to: 0,
            begun: false,
            law: match law {
                Linux26Law::Reno => Law::Reno,
                Linux26Law::Scalable => Law::Scalable,
                Linux26Law::Htcp => Law::Htcp(Htcp::default()),
                Linux26Law::Vegas => Law::Vegas(Vegas::default()),
                Linux26Law::Westwood => Law::Westwood(Westwood::new(wire_bytes)),
                Linux26Law::Compound => Law::Compound(Compound::new(initial_window)),
            },
        }
    }

    /// The control begins with the first acknowledgment (`init`).
    fn begin(&mut self, now: Time, ack: &KernelAck) {
        self.begun = true;
        match &mut self.law {
            Law::Htcp(htcp) => htcp.begin(now),
            Law::Vegas(vegas) => vegas.round = Round::begin(self.sent_to),
            Law::Westwood(westwood) => westwood.begin(now, ack.sample.una),
            Law::Compound(compound) => compound.begin(self.sent_to, self.window.cwnd),
            Law::Reno | Law::Scalable => {}
        }
    }

    /// What the laws measure (`rtt_sample`, `pkts_acked`, `cwnd_event`).
    fn measure(&mut self, now: Time, ack: &KernelAck) {
        let is_new = ack.sample.acked > 0;
        match &mut self.law {
            Law::Htcp(htcp) if is_new => {
                htcp.measure_throughput(now, ack.sample.acked, ack.open, self.window.cwnd);
            }
            Law::Vegas(vegas) if is_new => {
                if let Some(exact) = ack.exact {
                    vegas.round.measure(whole_us(exact));
                }
            }
            Law::Westwood(westwood) => {
                if is_new {
                    westwood.rtt_ms = srtt_ms(&ack.sample);
                }
                let in_order = ack.open && is_new && !ack.sacked;
                westwood.on_ack(now, ack.sample.una, in_order);
            }
            _ => {}
        }
    }

    fn grow(&mut self, now: Time, ack: &KernelAck) {
        let limited = ack.prior_inflight >= self.window.cwnd;
        let una = ack.sample.una;
        let (window, sent_to) = (&mut self.window, self.sent_to);
        match &mut self.law {
            Law::Compound(compound) => compound.grow(window, una, sent_to, limited),
            Law::Vegas(vegas) if vegas.enabled => {
                let slow = window.ssthresh.is_none_or(|ssthresh| window.cwnd <= ssthresh);
                if vegas.grow(window, una, sent_to) {
                    self.grow_as_reno(limited);
                } else if slow {
                    self.acked = 0;
                }
            }
            _ if !limited => {}
            Law::Reno | Law::Vegas(_) | Law::Westwood(_) => self.grow_as_reno(true),
            Law::Scalable => {
                if !window.slow_start_per_ack() {
                    window.increase_per_ack(window.cwnd.min(SCALABLE_COUNT));
                }
            }
            Law::Htcp(htcp) => {
                if !window.slow_start_per_ack() {
                    htcp.grow(now, window, srtt_ms(&ack.sample), ack.open);
                }
            }
        }
    }

    /// `tcp_reno_cong_avoid` with `sysctl_tcp_abc`.
    fn grow_as_reno(&mut self, limited: bool) {
        if !limited {
            return;
        }
        if self.window.slow_start_per_ack() {
            self.acked = 0;
        } else if self.acked >= self.window.cwnd {
            self.acked -= self.window.cwnd;
            self.window.cwnd = self.window.cwnd.saturating_add(1);
        }
    }

    fn threshold(&mut self, now: Time, cwnd: u32) -> u32 {
        match &mut self.law {
            Law::Scalable => cwnd - (cwnd >> SCALABLE_SHIFT),
            Law::Htcp(htcp) => htcp.threshold(now, cwnd),
            _ => half(cwnd),
        }
    }

    /// The window of a recovery (`min_cwnd`).
    fn least(&self) -> u32 {
        let ssthresh = self.window.ssthresh.unwrap_or(self.window.cwnd);
        match &self.law {
            Law::Htcp(_) => ssthresh,
            Law::Westwood(westwood) => westwood.needed(),
            _ => ssthresh / 2,
        }
    }
}

fn whole_us(rtt: Span) -> u64 {
    rtt.as_ps() / Span::from_us(1).as_ps()
}

/// The smoothed round-trip time, whole ms.
fn srtt_ms(sample: &AckSample) -> u64 {
    sample.srtt.as_ps() / Span::from_ms(1).as_ps()
}

impl CongestionControl for Linux26 {
    fn on_ack(&mut self, now: Time, sample: &AckSample) {
        let prior_inflight = u32::MAX;
        let (open, sacked, grows, exact) = (true, false, true, sample.rtt);
        self.on_kernel_ack(now, &KernelAck { sample: *sample, prior_inflight, open, sacked, grows, exact });
    }

    fn on_kernel_ack(&mut self, now: Time, ack: &KernelAck) {
        self.sent_to = ack.sample.sent_to;
        self.acked = self.acked.saturating_add(ack.sample.acked);
        if let Law::Compound(compound) = &mut self.law
            && let Some(rtt) = ack.exact.or(ack.sample.rtt)
        {
            compound.round.measure(whole_us(rtt + Span::from_ps(500_000)));
        }
        if !self.begun {
            self.begin(now, ack);
        }
        self.measure(now, ack);
        if ack.grows {
            self.grow(now, ack);
        }
    }

    fn adopt(&mut self, segments: u32) {
        self.window.cwnd = segments.max(1);
    }

    fn on_congestion(&mut self, now: Time, congestion: &Congestion) {
        self.acked = 0;
        let mut window = self.window;
        window.on_congestion(congestion, |cwnd| self.threshold(now, cwnd));
        self.window = window;
        if matches!(congestion.event, CongestionEvent::Loss | CongestionEvent::Mark { .. }) {
            self.window.cwnd = self.least().max(1);
        }
        match &mut self.law {
            Law::Htcp(htcp) => htcp.last_congestion = Some(now),
            Law::Vegas(vegas) => vegas.enabled = false,
            _ => {}
        }
    }

    fn on_recovery_exit(&mut self, now: Time) {
        match &mut self.law {
            Law::Htcp(htcp) => htcp.last_congestion = Some(now),
            Law::Vegas(vegas) => {
                vegas.enabled = true;
                vegas.round.restart(self.sent_to);
            }
            Law::Compound(compound) => compound.round.restart(self.sent_to),
            _ => {}
        }
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
mod tests;

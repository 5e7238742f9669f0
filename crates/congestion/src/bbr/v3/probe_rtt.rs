//! `ProbeRTT`: half a pipe for a fifth of a second (section "`ProbeRTT`" of the draft).

use bufferlab_units::{Span, Time};

use super::{Ack, Bbr3, MIN_PIPE_CWND, State};

/// Gain of the window (`BBR.ProbeRTTCwndGain`).
pub(super) const CWND_GAIN: f64 = 0.5;
/// Least stay (`BBR.ProbeRTTDuration`).
const DURATION: Span = Span::from_ms(200);
/// Age at which the shortest round-trip time is measured anew (`BBR.MinRTTFilterLen`,
/// `BBR.ProbeRTTInterval`).
const FILTER_LEN: Span = Span::from_s(10);

/// State of the shortest round-trip time and of its probes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeRtt {
    /// Shortest round-trip time (`min_rtt`), and when it was seen (`min_rtt_stamp`).
    pub(super) min_rtt: Option<Span>,
    /// The same, s.
    pub(super) min_rtt_s: f64,
    seen: Time,
    /// It is too old (`min_rtt_expired`).
    expired: bool,
    /// The window to stay with, segments (`probe_rtt_cwnd`).
    pub(super) cwnd: f64,
    /// When the stay may end (`probe_rtt_done_stamp`).
    done: Option<Time>,
    /// A round passed in it (`probe_rtt_round_done`).
    round_done: bool,
}

impl ProbeRtt {
    pub(super) fn new(initial_window: f64) -> ProbeRtt {
        let seen = Time::ZERO;
        ProbeRtt {
            min_rtt: None,
            min_rtt_s: 0.0,
            seen,
            expired: false,
            cwnd: initial_window,
            done: None,
            round_done: false,
        }
    }
}

impl Bbr3 {
    /// `UpdateMinRTT`.
    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
        self.probe_rtt.expired = ack.now > self.probe_rtt.seen + FILTER_LEN;
        if self.probe_rtt.expired && self.state != State::ProbeRtt {
            // `SaveProbeRTTCwnd`: before a time with a queue in it replaces the old one
            self.probe_rtt.cwnd = self.bdp(self.bw, CWND_GAIN).max(MIN_PIPE_CWND);
        }
        let ProbeRtt { min_rtt, expired, .. } = self.probe_rtt;
        if let Some(rtt) = ack.rtt.filter(|&rtt| expired || min_rtt.is_none_or(|least| rtt < least)) {
            (self.probe_rtt.min_rtt, self.probe_rtt.seen) = (Some(rtt), ack.now);
            self.probe_rtt.min_rtt_s = rtt.as_s();
        }
    }

    /// `CheckProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, ack: &Ack) {
        if self.state != State::ProbeRtt && self.probe_rtt.expired {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.probe_rtt.done = None;
            self.cycle.stop_probe();
            self.rounds.end = ack.rate.delivered;
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(ack);
        }
    }

    /// `HandleProbeRTT`.
    fn handle_probe_rtt(&mut self, ack: &Ack) {
        self.held_down.cover(ack.rate.delivered, ack.inflight as u32);
        match self.probe_rtt.done {
            None if ack.inflight <= self.probe_rtt.cwnd => {
                (self.probe_rtt.done, self.probe_rtt.round_done) = (Some(ack.now + DURATION), false);
                self.rounds.end = ack.rate.delivered;
            }
            None => {}
            Some(done) => {
                self.probe_rtt.round_done |= self.rounds.started;
                if self.probe_rtt.round_done && ack.now > done {
                    self.probe_rtt.seen = ack.now;
                    self.cwnd = self.cwnd.max(self.prior_cwnd);
                    self.exit_probe_rtt(ack);
                }
            }
        }
    }

    /// `ExitProbeRTT`.
    fn exit_probe_rtt(&mut self, ack: &Ack) {
        self.reset_short_term();
        if self.full.reached {
            self.start_down(ack);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}

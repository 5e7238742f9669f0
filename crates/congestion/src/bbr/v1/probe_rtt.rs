//! The shortest round-trip time, and the stay with four segments that measures it anew.

use bufferlab_units::{Span, Time};

use super::{Bbr1, MIN_PIPE_CWND, Mode};
use crate::AckSample;

/// The round-trip time's filter (`bbr_min_rtt_win_sec`).
const MIN_RTT_WINDOW: Span = Span::from_s(10);
/// Least stay with four segments (`bbr_probe_rtt_mode_ms`).
const PROBE_RTT: Span = Span::from_ms(200);

impl Bbr1 {
    /// `bbr_update_min_rtt`. Only a shorter round trip puts the probe off, not one as short: commit
    /// 1b9e2a8c99a5 of Linux 5.10; before, and with exact clocks above all, an empty queue now and then put it off for ever.
    pub(super) fn update_min_rtt(&mut self, now: Time, sample: &AckSample, delivered: u64) {
        let expired = now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(rtt) = sample.rtt.filter(|&rtt| expired || self.min_rtt.is_none_or(|least| rtt < least)) {
            (self.min_rtt, self.min_rtt_s, self.min_rtt_at) = (Some(rtt), rtt.as_s(), now);
        }
        if expired && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt_done = None;
        }
        if self.mode != Mode::ProbeRtt {
            return;
        }
        self.held_down.cover(delivered, sample.inflight);
        match self.probe_rtt_done {
            None if f64::from(sample.inflight) <= MIN_PIPE_CWND => {
                (self.probe_rtt_done, self.probe_rtt_round_done) = (Some(now + PROBE_RTT), false);
                self.rounds.end = delivered;
            }
            None => {}
            Some(done) => {
                self.probe_rtt_round_done |= self.rounds.started;
                if self.probe_rtt_round_done && now > done {
                    self.min_rtt_at = now;
                    self.cwnd = self.cwnd.max(self.prior_cwnd);
                    if self.full_bw_reached { self.begin_cycle(now) } else { self.mode = Mode::Startup }
                }
            }
        }
    }
}

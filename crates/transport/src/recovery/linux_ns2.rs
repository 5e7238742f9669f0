//! Recovery of ns-2's `Agent/TCP/Linux`, which grows windows by Linux 2.6's controls and repairs losses by a way of its own.
//!
//! Source: ns-2 2.35, `tcp/tcp-linux.cc` (`recv`, `tcp_fastretrans_alert`, `enter_loss`, `send_much`, `load_to_linux`), read
//! as behavior. What is in the network is known from the scoreboard (`runs`). It differs from Linux in these points:
//! - The window falls at once to what the control says (`min_cwnd`, half of the threshold for Reno's), and what is sent in
//!   a recovery is bounded by the larger of that and an allowance, which begins with the window before and follows what is
//!   in the network down (`next_pkts_in_flight_`). So where much was lost, nothing comes until the network has emptied,
//!   and there is no slow start towards the threshold.
//! - A recovery ends when all that was out at its start is acknowledged. If the window is then below the threshold it is
//!   raised to it, but to three segments more than are in the network at most (`tcp_moderate_cwnd`).
//! - A loss that is found while a timeout is repaired begins a recovery, which reduces the window once more; and each
//!   timeout does.
//! - There are no tail-loss probes and no reordering timer, and every acknowledgment restarts the retransmission timer
//!   (`time_processing`).
//! - With `overhead_` an acknowledgment starts a timer, at whose end all is sent that is admitted then. What the window
//!   or the allowance was when it ended is restored after (`timeout`, `load_to_linux`): an allowance that stayed above the
//!   window does not come down, and one that reached it becomes the window.

mod runs;

use std::collections::VecDeque;

use bufferlab_units::Time;

use self::runs::{News, Runs};
use super::{LossRecovery, Phase};
use crate::SackBlocks;
use crate::segment::{Segment, SegmentKind};
use crate::window::SendWindow;

/// Segments beyond what is in the network to which a window is raised at a recovery's end (`tcp_max_burst`).
const MAX_BURST: u32 = 3;

/// What `Agent/TCP/Linux` keeps.
#[derive(Clone, Debug)]
pub(crate) struct LinuxNs2 {
    runs: Runs,
    /// Segments that may be in the network beside the window (`next_pkts_in_flight_`).
    allowance: u32,
    /// The SYN is out, a segment in the network like others: the first data leaves with it.
    syn_out: bool,
    /// A processing delay holds back what is sent.
    delayed: bool,
    /// The delay runs.
    waiting: bool,
    /// The window or allowance when the delay ended, while all is sent that is admitted.
    restored: Option<u32>,
    /// When each outstanding segment was sent last.
    departures: VecDeque<Time>,
    /// The same of the last one that was acknowledged.
    acknowledged: Time,
}

impl LinuxNs2 {
    pub(super) fn new() -> LinuxNs2 {
        LinuxNs2 {
            runs: Runs::new(),
            allowance: 0,
            syn_out: false,
            delayed: false,
            waiting: false,
            restored: None,
            departures: VecDeque::new(),
            acknowledged: Time::ZERO,
        }
    }

    /// With a processing delay only what is sent at its end is sent.
    fn sends(&self) -> bool {
        !self.delayed || self.restored.is_some()
    }

    fn admits(&self, window: &SendWindow) -> bool {
        self.in_flight(window) < window.cwnd.max(self.allowance)
    }

    fn in_flight(&self, window: &SendWindow) -> u32 {
        (window.flight() + u32::from(self.syn_out)).saturating_sub(self.runs.gone())
    }

    fn lower_allowance(&mut self, window: &SendWindow) {
        self.allowance = self.allowance.min(self.in_flight(window) + 1);
    }
}

impl LossRecovery {
    fn linux_ns2(&self) -> Option<&LinuxNs2> {
        self.board.linux_ns2()
    }

    fn linux_ns2_mut(&mut self) -> Option<&mut LinuxNs2> {
        self.board.linux_ns2_mut()
    }

    /// A new connection begins.
    pub(super) fn restart_linux_ns2(&mut self) {
        if let Some(state) = self.linux_ns2_mut() {
            let delayed = state.delayed;
            *state = LinuxNs2 { delayed, restored: delayed.then_some(0), ..LinuxNs2::new() };
        }
    }

    /// Segments believed to be in the network.
    #[inline(never)]
    pub(super) fn in_flight_linux_ns2(&self, window: &SendWindow) -> u32 {
        self.linux_ns2().map_or(window.flight(), |state| state.in_flight(window))
    }

    /// The SYN is to be sent, or is answered.
    pub(super) fn note_syn(&mut self, is_out: bool) {
        if let Some(state) = self.linux_ns2_mut() {
            state.syn_out = is_out;
        }
    }

    /// A processing delay holds back what is sent.
    pub(crate) fn expect_delays(&mut self) {
        if let Some(state) = self.linux_ns2_mut() {
            // the first window leaves at once
            (state.delayed, state.restored) = (true, Some(0));
        }
    }

    /// The application has more: it leaves at once.
    #[inline(never)]
    pub(crate) fn let_out(&mut self) {
        if let Some(state) = self.linux_ns2_mut()
            && state.delayed
            && !state.waiting
        {
            state.restored.get_or_insert(0);
        }
    }

    /// An acknowledgment has moved `window.una` on by `acked` segments.
    pub(crate) fn take_ack_linux_ns2(&mut self, window: &SendWindow, acked: u32, sack: &SackBlocks) -> News {
        let Some(state) = self.linux_ns2_mut() else { return News::default() };
        for _ in 0..acked {
            state.acknowledged = state.departures.pop_front().unwrap_or(state.acknowledged);
        }
        state.runs.on_ack(window.una, sack)
    }

    /// When the last segment that was acknowledged was sent last.
    pub(crate) fn acknowledged_departure(&self) -> Time {
        self.linux_ns2().map_or(Time::ZERO, |state| state.acknowledged)
    }

    /// Whether everything that was out at the recovery's start, or at the timeout, is acknowledged.
    pub(crate) fn is_over_linux_ns2(&self, window: &SendWindow) -> bool {
        self.phase != Phase::Open && window.una >= self.recover
    }

    /// It is. To how many segments a window below its threshold is raised at most.
    pub(crate) fn end_linux_ns2(&mut self, window: &SendWindow) -> u32 {
        self.phase = Phase::Open;
        if let Some(state) = self.linux_ns2_mut() {
            state.runs.clear();
            state.allowance = 0;
        }
        window.flight() + MAX_BURST
    }

    /// A loss was found, with this window.
    pub(crate) fn enter_linux_ns2(&mut self, window: &SendWindow, cwnd: u32) {
        self.recoveries += 1;
        self.recover = window.sent_to;
        self.phase = Phase::Recovery;
        if let Some(state) = self.linux_ns2_mut() {
            state.allowance = cwnd;
        }
    }

    #[inline(never)]
    pub(super) fn time_out_linux_ns2(&mut self, window: &SendWindow) {
        if let Some(state) = self.linux_ns2_mut() {
            state.runs.declare_all_lost(window.una, window.nxt);
            state.allowance = 0;
        }
    }

    /// What an acknowledgment or the timer allows may be sent, or waits for the end of the processing delay.
    #[inline(never)]
    pub(crate) fn offer(&mut self, window: &SendWindow) {
        if let Some(state) = self.linux_ns2_mut()
            && !state.waiting
        {
            state.lower_allowance(window);
            state.waiting = state.delayed && state.admits(window);
        }
    }

    /// The processing delay is over.
    pub(crate) fn end_delay(&mut self, window: &SendWindow) {
        if let Some(state) = self.linux_ns2_mut()
            && std::mem::take(&mut state.waiting)
        {
            state.restored = Some(window.cwnd.max(state.allowance));
            state.lower_allowance(window);
        }
    }

    /// If all is sent that was admitted: the window that takes the place of the present one, if one does.
    pub(crate) fn restore(&mut self, window: &SendWindow) -> Option<u32> {
        if self.resend_first || self.has_next_linux_ns2(window) {
            return None;
        }
        let state = self.linux_ns2_mut()?;
        let restored = state.restored.take()?;
        if state.allowance > window.cwnd {
            state.allowance = restored;
            return None;
        }
        (restored > window.cwnd).then_some(restored)
    }

    /// Whether something may be sent, or waits for the end of a processing delay.
    #[inline(never)]
    pub(crate) fn admits_linux_ns2(&self, window: &SendWindow) -> bool {
        let waits = self.linux_ns2().is_some_and(|state| state.waiting);
        self.resend_first || waits || self.has_next_linux_ns2(window)
    }

    /// Whether there is a segment to send, and it may be.
    fn has_next_linux_ns2(&self, window: &SendWindow) -> bool {
        self.choose_linux_ns2(window).is_some()
    }

    /// The next segment, if one may be sent.
    #[inline(never)]
    pub(super) fn choose_linux_ns2(&self, window: &SendWindow) -> Option<Segment> {
        let state = self.linux_ns2().filter(|state| state.sends() && state.admits(window))?;
        if let Some(seq) = state.runs.next_lost() {
            return Some(Segment { kind: SegmentKind::Retransmission, seq });
        }
        window.has_new().then_some(Segment { kind: SegmentKind::New, seq: window.nxt })
    }

    /// The same, which is sent.
    #[inline(never)]
    pub(super) fn take_linux_ns2(&mut self, window: &mut SendWindow) -> Option<Segment> {
        let segment = self.choose_linux_ns2(window)?;
        let state = self.linux_ns2_mut()?;
        if segment.kind == SegmentKind::New {
            window.take_next();
        } else {
            state.runs.on_resent(segment.seq, window.nxt);
        }
        state.allowance = state.allowance.min(state.in_flight(window).saturating_sub(1).max(1));
        Some(segment)
    }

    /// A segment is sent now.
    #[inline(never)]
    pub(crate) fn note_departure(&mut self, now: Time, una: u32, seq: u32) {
        if let Some(state) = self.linux_ns2_mut() {
            let index = (seq - una) as usize;
            if index < state.departures.len() {
                state.departures[index] = now;
            } else {
                state.departures.push_back(now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recovery;

    const NONE: SackBlocks = SackBlocks::NONE;

    /// A connection with `cwnd` segments out.
    fn open(cwnd: u32) -> (LossRecovery, SendWindow) {
        let (mut recovery, mut window) =
            (LossRecovery::new(Recovery::LinuxNs2, true), SendWindow::new(1_000, 1_000));
        recovery.start(false);
        window.cwnd = cwnd;
        assert_eq!(sent(&mut recovery, &mut window).len(), cwnd as usize);
        (recovery, window)
    }

    /// What may be sent now.
    fn sent(recovery: &mut LossRecovery, window: &mut SendWindow) -> Vec<u32> {
        std::iter::from_fn(|| {
            let segment = recovery.take_linux_ns2(window)?;
            if segment.kind == SegmentKind::New {
                window.on_new(segment.seq);
            }
            Some(segment.seq)
        })
        .collect()
    }

    /// Segments up to `end` have come, except the first.
    fn report(recovery: &mut LossRecovery, window: &SendWindow, end: u32) -> News {
        let mut sack = NONE;
        sack.report(1, end);
        recovery.take_ack_linux_ns2(window, 0, &sack)
    }

    /// Segment 0 of 20 is lost, and the window falls to 5.
    fn entered() -> (LossRecovery, SendWindow) {
        let (mut recovery, mut window) = open(20);
        for end in 2..6 {
            assert_eq!(report(&mut recovery, &window, end).lost, end == 5);
            if end < 5 {
                recovery.offer(&window);
                assert_eq!(sent(&mut recovery, &mut window), [18 + end]);
            }
        }
        recovery.enter_linux_ns2(&window, window.cwnd);
        window.cwnd = 5;
        (recovery, window)
    }

    #[test]
    fn in_a_recovery_one_segment_goes_for_two_that_came() {
        let (mut recovery, mut window) = entered();
        recovery.offer(&window);
        let mut counts = Vec::new();
        for end in 6..20 {
            counts.push(sent(&mut recovery, &mut window).len());
            report(&mut recovery, &window, end);
            recovery.offer(&window);
        }
        assert_eq!(counts[0], 1, "the lost segment");
        assert!(counts.windows(2).all(|two| two[0] + two[1] <= 1 + usize::from(two[0] == 1)), "{counts:?}");
        assert_eq!(counts.iter().sum::<usize>(), 7, "{counts:?}");
    }

    #[test]
    fn a_recovery_ends_with_three_segments_more_than_are_in_the_network() {
        let (mut recovery, mut window) = entered();
        window.acknowledge(22);
        recovery.take_ack_linux_ns2(&window, 22, &NONE);
        assert!(!recovery.is_over_linux_ns2(&window));
        window.acknowledge(23);
        assert!(recovery.is_over_linux_ns2(&window));
        assert_eq!(recovery.end_linux_ns2(&window), 3);
        assert_eq!(recovery.phase(), Phase::Open);
    }

    #[test]
    fn a_delay_restores_the_allowance_that_it_ended_with() {
        let (mut recovery, mut window) = entered();
        recovery.expect_delays();
        // 23 are out, 4 of which came, and one is lost: 18
        recovery.offer(&window);
        recovery.end_delay(&window);
        assert_eq!(sent(&mut recovery, &mut window), [0]);
        assert_eq!(recovery.restore(&window), None);
        assert_eq!(recovery.linux_ns2().unwrap().allowance, 19);
    }

    #[test]
    fn an_allowance_that_reached_the_window_becomes_it() {
        let (mut recovery, mut window) = entered();
        recovery.expect_delays();
        report(&mut recovery, &window, 19);
        // 23 are out, 18 of which came, and one is lost: 4
        recovery.offer(&window);
        window.cwnd = 4;
        recovery.offer(&window);
        recovery.end_delay(&window);
        assert_eq!(sent(&mut recovery, &mut window), [0]);
        assert_eq!(recovery.restore(&window), Some(5));
    }

    #[test]
    fn a_timeout_declares_all_lost_and_allows_no_more_than_the_window() {
        let (mut recovery, mut window) = entered();
        recovery.on_timeout(&mut window);
        window.cwnd = 1;
        recovery.offer(&window);
        assert_eq!(sent(&mut recovery, &mut window), [0]);
        assert_eq!(recovery.pipe(&window), 1);
    }
}

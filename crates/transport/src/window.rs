//! The send sequence space (RFC 9293 section 3.3.1) and the windows over it.
//!
//! Invariant: `una <= nxt <= sent_to`. Numbers only grow, except `nxt`, which a timeout without SACK takes back.

use crate::segment::SegmentKind;

/// Which segments were sent and acknowledged, and which the windows admit.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct SendWindow {
    /// The first segment not cumulatively acknowledged (SND.UNA).
    pub(crate) una: u32,
    /// The next segment to send (SND.NXT).
    pub(crate) nxt: u32,
    /// One more than the highest segment ever sent.
    pub(crate) sent_to: u32,
    /// One more than the last segment that there is to send.
    pub(crate) limit: u32,
    /// The receiver's window, segments.
    pub(crate) advertised: u32,
    /// The whole segments of the congestion window.
    pub(crate) cwnd: u32,
    /// One more than the last segment that the windows admit; 0 before the connection is open.
    end: u32,
}

impl SendWindow {
    pub(crate) fn new(limit: u32, advertised: u32) -> SendWindow {
        SendWindow { una: 0, nxt: 0, sent_to: 0, limit, advertised: advertised.max(1), cwnd: 0, end: 0 }
    }

    /// Whether an acknowledgment of this number acknowledges new data.
    #[inline(always)]
    pub(crate) fn is_new(&self, ack: u32) -> bool {
        ack > self.una && ack <= self.sent_to
    }

    /// Everything below `ack` is acknowledged.
    #[inline(always)]
    pub(crate) fn acknowledge(&mut self, ack: u32) {
        debug_assert!(self.is_new(ack));
        self.una = ack;
        self.nxt = self.nxt.max(ack);
    }

    /// Segments sent and not cumulatively acknowledged; after a timeout without SACK, those sent since.
    #[inline(always)]
    pub(crate) fn flight(&self) -> u32 {
        self.nxt - self.una
    }

    /// Segments ever sent and not cumulatively acknowledged.
    #[inline(always)]
    pub(crate) fn outstanding(&self) -> u32 {
        self.sent_to - self.una
    }

    /// Everything that there was to send is acknowledged.
    #[inline(always)]
    pub(crate) fn is_done(&self) -> bool {
        self.una >= self.limit
    }

    /// There is a segment that was never sent, and the receiver's window admits it.
    #[inline(always)]
    pub(crate) fn has_new(&self) -> bool {
        self.nxt < self.limit.min(self.una.saturating_add(self.advertised))
    }

    /// The windows admit the next segment.
    #[inline(always)]
    pub(crate) fn admits(&self) -> bool {
        self.nxt < self.end
    }

    /// New segments that the receiver's window admits.
    pub(crate) fn advertised_room(&self) -> u32 {
        self.una.saturating_add(self.advertised).saturating_sub(self.nxt)
    }

    /// One more than the last segment that the windows admit, with `extra` segments on top of the congestion window.
    #[inline]
    pub(crate) fn bound(&self, extra: u32) -> u32 {
        self.una.saturating_add(self.cwnd.saturating_add(extra).min(self.advertised))
    }

    /// Opens the window up to [`SendWindow::bound`].
    #[inline]
    pub(crate) fn open(&mut self, extra: u32) {
        self.end = self.bound(extra).min(self.limit);
    }

    /// Admits nothing: there is no connection.
    pub(crate) fn close(&mut self) {
        self.end = 0;
    }

    /// Follows the congestion window, where it most often grows by less than a segment.
    #[inline(always)]
    pub(crate) fn follow(&mut self, cwnd: f64) {
        let whole = f64::from(self.cwnd);
        // a branch, which is nearly always predicted, so that the window need not wait for the division that makes it
        // grow
        if cwnd < whole || cwnd >= whole + 1.0 {
            self.cwnd = cwnd as u32;
        }
        self.end = self.una.saturating_add(self.cwnd.min(self.advertised)).min(self.limit);
    }

    /// Takes the next segment that the windows admit.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Option<u32> {
        if !self.admits() {
            return None;
        }
        self.nxt += 1;
        Some(self.nxt - 1)
    }

    /// Takes the next segment, whatever the congestion window.
    pub(crate) fn take_next(&mut self) -> u32 {
        self.nxt += 1;
        self.nxt - 1
    }

    /// The first outstanding segment is sent again.
    pub(crate) fn resend_first(&mut self) {
        self.nxt = self.nxt.max(self.una + 1);
    }

    /// Everything outstanding is to be sent again.
    pub(crate) fn go_back(&mut self) {
        self.nxt = self.una;
    }

    /// Segment `seq` is sent for the first time.
    #[inline(always)]
    pub(crate) fn on_new(&mut self, seq: u32) {
        self.sent_to = seq + 1;
    }

    /// Whether segment `seq` is sent for the first time.
    #[inline(always)]
    pub(crate) fn kind(&self, seq: u32) -> SegmentKind {
        if seq < self.sent_to { SegmentKind::Retransmission } else { SegmentKind::New }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of `cwnd` segments with `sent` of 100 sent.
    fn window(cwnd: f64, advertised: u32, sent: u32) -> SendWindow {
        let mut window = SendWindow::new(100, advertised);
        window.follow(cwnd);
        for _ in 0..sent {
            let seq = window.take().expect("the window admits it");
            window.on_new(seq);
        }
        window
    }

    #[test]
    fn the_smaller_window_bounds_what_is_sent() {
        assert_eq!(window(10.9, 50, 10).take(), None);
        assert_eq!(window(50.0, 10, 10).take(), None);
        assert_eq!(window(50.0, 11, 10).take(), Some(10));
        assert_eq!(window(500.0, 500, 100).take(), None, "there is no more to send");
    }

    #[test]
    fn an_acknowledgment_moves_the_window_on() {
        let mut window = window(10.0, 50, 10);
        assert!(window.is_new(10) && !window.is_new(11) && !window.is_new(0));
        window.acknowledge(4);
        window.follow(10.4);
        assert_eq!((window.flight(), window.outstanding(), window.bound(2)), (6, 6, 16));
        assert_eq!((0..9).filter_map(|_| window.take()).collect::<Vec<_>>(), [10, 11, 12, 13]);
    }

    #[test]
    fn what_is_sent_after_going_back_is_a_retransmission_up_to_the_highest_sent() {
        let mut window = window(10.0, 50, 3);
        window.go_back();
        assert_eq!((window.flight(), window.outstanding()), (0, 3));
        let kinds = [0, 1, 2, 3].map(|seq| window.kind(seq));
        assert_eq!(kinds[2..], [SegmentKind::Retransmission, SegmentKind::New]);
        // acknowledged after all
        window.acknowledge(3);
        assert_eq!((window.nxt, window.flight()), (3, 0));
    }

    #[test]
    fn a_closed_window_admits_nothing_until_it_opens_again() {
        let mut window = window(10.0, 50, 3);
        window.close();
        assert!(!window.admits() && window.has_new());
        window.open(0);
        assert!(window.admits());
    }
}

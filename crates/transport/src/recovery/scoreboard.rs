//! What a sender knows of each outstanding segment: RFC 6675's scoreboard with constant amortized work.
//!
//! A ring with one slot a segment from the first unacknowledged one on. Counters make RFC 6675's `Pipe`
//! a sum of four numbers, as in Linux (`tcp_packets_in_flight`); taking in a SACK block visits only segments
//! that were not SACKed before (skip pointers with path halving); losses and retransmissions advance by
//! pointers that only move forward. So a window of 10⁵ segments with thousands of losses costs no more a
//! packet than a small one.
//!
//! `IsLost` (RFC 6675 section 4): a segment is lost when `DupThresh` segments above it are SACKed. The byte
//! rule "more than (`DupThresh` - 1) * SMSS bytes" says the same for full segments.
//!
//! If losses are detected by the order of sending, a segment is lost when one sent after it was delivered: RFC 8985's
//! rule with a reordering window of zero, which section 6.2 step 4 sets where no reordering was seen and `DupThresh`
//! segments are SACKed. For segments sent once this is what Linux called FACK. Retransmissions are kept in an order of
//! their own (`resent`), so that their losses are detected as well, and also losses of a window's last segments, after
//! which only a retransmission was sent.
//!
//! Departure from RFC 8985: an acknowledgment of a retransmitted segment is attributed to the retransmission, never to
//! a late original (section 6.2 step 2 distinguishes them by a round-trip time below the shortest).

use super::resent::Resent;

/// RFC 6675 section 2: `DupThresh`.
pub(crate) const DUP_THRESH: u32 = 3;

/// Most slots that a scoreboard at rest keeps.
const KEPT_SLOTS: usize = 16;

const SACKED: u16 = 1;
const LOST: u16 = 2;
const RETRANSMITTED: u16 = 4;
/// A slot's other bits: how far to skip.
const SKIP_SHIFT: u32 = 3;
const MAX_SKIP: u32 = (1 << (u16::BITS - SKIP_SHIFT)) - 1;

/// Segments' fates between the cumulative acknowledgment and the next new segment.
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    /// Flags, and above them the distance from a SACKed segment to one further on that may not be; 0 for others.
    slots: Vec<u16>,
    una: u32,
    nxt: u32,
    sacked: u32,
    lost: u32,
    retransmitted: u32,
    /// Segments ever considered lost.
    losses: u64,
    /// Retransmissions, if losses are detected by the order of sending.
    resent: Option<Resent>,
    /// The highest SACKed segments, highest first; as many as are known.
    top: [u32; DUP_THRESH as usize],
    top_len: usize,
    /// Every segment below that is not SACKed is considered lost.
    lost_to: u32,
    /// RFC 6675's `HighRxt`: lost segments below were retransmitted.
    high_rxt: u32,
}

impl Scoreboard {
    /// A scoreboard of the outstanding segments `una..nxt`, none SACKed; `by_order`: losses are detected by the order
    /// of sending.
    pub(crate) fn new(una: u32, nxt: u32, by_order: bool) -> Scoreboard {
        let mut board = Scoreboard {
            slots: Vec::new(),
            una,
            nxt,
            sacked: 0,
            lost: 0,
            retransmitted: 0,
            losses: 0,
            resent: by_order.then(Resent::default),
            top: [0; DUP_THRESH as usize],
            top_len: 0,
            lost_to: una,
            high_rxt: una,
        };
        board.restart(una, nxt);
        board
    }

    /// Not needed until the next [`Scoreboard::restart`]: gives back the memory of a large window, which a flow may
    /// not see again; a small one's is kept, since allocating it takes longer than repairing a loss.
    pub(crate) fn rest(&mut self) {
        if self.slots.len() > KEPT_SLOTS {
            self.slots = Vec::new();
        }
        self.forget_resent();
    }

    fn forget_resent(&mut self) {
        if let Some(resent) = &mut self.resent {
            resent.forget_all();
        }
    }

    /// Forgets everything and starts with `una..nxt`; keeps the memory.
    pub(crate) fn restart(&mut self, una: u32, nxt: u32) {
        let room = ((nxt - una + 1) as usize).next_power_of_two().max(KEPT_SLOTS);
        if self.slots.len() < room {
            self.slots = vec![0; room];
        }
        self.forget_resent();
        (self.una, self.nxt, self.sacked, self.lost, self.retransmitted) = (una, una, 0, 0, 0);
        (self.top_len, self.lost_to, self.high_rxt) = (0, una, una);
        for _ in una..nxt {
            self.on_new();
        }
    }

    /// Nothing to remember: the counters are all zero and no retransmission is pending.
    pub(crate) fn is_idle(&self) -> bool {
        self.sacked == 0 && self.lost == 0
    }

    /// RFC 6675 section 4's `Pipe`: segments believed to be in the network.
    #[inline]
    pub(crate) fn pipe(&self) -> u32 {
        self.nxt - self.una + self.retransmitted - self.sacked - self.lost
    }

    #[inline]
    fn index(&self, seq: u32) -> usize {
        seq as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn flag(&self, seq: u32) -> u16 {
        self.slots[self.index(seq)] & (SACKED | LOST | RETRANSMITTED)
    }

    #[inline]
    fn skip(&self, seq: u32) -> u32 {
        u32::from(self.slots[self.index(seq)] >> SKIP_SHIFT)
    }

    /// The next new segment was sent.
    pub(crate) fn on_new(&mut self) {
        if (self.nxt - self.una + 1) as usize > self.slots.len() {
            self.resize(self.slots.len() * 2);
        }
        let index = self.index(self.nxt);
        self.slots[index] = 0;
        self.nxt += 1;
    }

    fn resize(&mut self, room: usize) {
        let mut slots = vec![0; room];
        for seq in self.una..self.nxt {
            slots[seq as usize & (room - 1)] = self.slots[self.index(seq)];
        }
        self.slots = slots;
    }

    /// The cumulative acknowledgment moved to `una`: how many segments it reports for the first time.
    pub(crate) fn advance(&mut self, una: u32) -> u32 {
        let mut newly = 0;
        for seq in self.una..una.min(self.nxt) {
            let flags = self.flag(seq);
            newly += u32::from(flags & SACKED == 0);
            self.note_delivery(seq, flags);
            self.forget(flags);
        }
        self.una = una;
        self.nxt = self.nxt.max(una);
        // a board may stay in use from one loss to the next and never rest
        if self.slots.len() > KEPT_SLOTS && (self.nxt - una + 1) as usize <= self.slots.len() / 4 {
            self.resize(self.slots.len() / 2);
        }
        self.lost_to = self.lost_to.max(una);
        self.high_rxt = self.high_rxt.max(una);
        while self.top_len > 0 && self.top[self.top_len - 1] < una {
            self.top_len -= 1;
        }
        newly
    }

    #[inline]
    fn note_delivery(&mut self, seq: u32, flags: u16) {
        if flags & RETRANSMITTED != 0
            && let Some(resent) = &mut self.resent
        {
            resent.on_delivered(seq);
        }
    }

    fn forget(&mut self, flags: u16) {
        self.sacked -= u32::from(flags & SACKED != 0);
        self.lost -= u32::from(flags & LOST != 0);
        self.retransmitted -= u32::from(flags & RETRANSMITTED != 0);
    }

    /// The first segment from `seq` on that is not SACKed (or `nxt`).
    fn unsacked_from(&mut self, mut seq: u32) -> u32 {
        while seq < self.nxt {
            let skip = self.skip(seq);
            if skip == 0 {
                return seq;
            }
            let target = seq + skip;
            if target < self.nxt {
                let skip = (skip + self.skip(target)).min(MAX_SKIP) as u16;
                let index = self.index(seq);
                self.slots[index] = SACKED | skip << SKIP_SHIFT;
            }
            seq = target;
        }
        seq
    }

    /// Whether something is considered lost and not yet delivered (`lost_out`).
    pub(crate) fn has_losses(&self) -> bool {
        self.lost > 0
    }

    /// Whether a segment was sent again and is not considered lost since.
    pub(crate) fn is_resent(&self, seq: u32) -> bool {
        self.flag(seq) & RETRANSMITTED != 0
    }

    /// Segments ever considered lost, by this scoreboard since it was made.
    pub(crate) fn losses(&self) -> u64 {
        self.losses
    }

    /// A SACK block `start..end`: how many segments it reports for the first time; `tell` gets each.
    pub(crate) fn sack(&mut self, start: u32, end: u32, mut tell: impl FnMut(u32)) -> u32 {
        let end = end.min(self.nxt);
        let mut seq = self.unsacked_from(start.max(self.una));
        let mut newly = 0;
        while seq < end {
            let index = self.index(seq);
            let flags = self.slots[index];
            self.note_delivery(seq, flags);
            self.forget(flags);
            self.slots[index] = SACKED | 1 << SKIP_SHIFT;
            self.sacked += 1;
            newly += 1;
            tell(seq);
            self.raise_top(seq);
            seq = self.unsacked_from(seq + 1);
        }
        newly
    }

    fn raise_top(&mut self, seq: u32) {
        let rank = self.top[..self.top_len].iter().position(|&held| seq > held).unwrap_or(self.top_len);
        if rank < self.top.len() {
            self.top_len = (self.top_len + 1).min(self.top.len());
            // no `copy_within`: a call for at most two numbers
            for place in (rank + 1..self.top_len).rev() {
                self.top[place] = self.top[place - 1];
            }
            self.top[rank] = seq;
        }
    }

    /// The highest SACKed segment.
    pub(crate) fn highest_sacked(&self) -> Option<u32> {
        (self.top_len > 0).then(|| self.top[0])
    }

    /// `IsLost` of the first outstanding segment.
    pub(crate) fn first_is_lost(&self) -> bool {
        self.top_len == self.top.len() && self.top[self.top_len - 1] > self.una
    }

    /// Finds the losses that RFC 6675's `IsLost` says, or the order of sending.
    pub(crate) fn find_losses(&mut self) {
        if let Some(resent) = &self.resent {
            let sent_before = resent.sent_before().min(self.nxt);
            let delivered_to = self.highest_sacked().map_or(self.una, |highest| highest + 1);
            self.declare_lost_below(delivered_to.max(sent_before));
            self.find_lost_retransmissions(delivered_to);
        } else if self.top_len == self.top.len() {
            self.declare_lost_below(self.top[self.top_len - 1]);
        }
    }

    /// Finds the retransmissions that were lost.
    fn find_lost_retransmissions(&mut self, delivered_to: u32) {
        let mask = self.slots.len() - 1;
        let Some(resent) = &mut self.resent else { return };
        while let Some(resending) = resent.pop_passed(delivered_to) {
            let slot = &mut self.slots[resending.seq as usize & mask];
            if resending.seq >= self.una && *slot == LOST | RETRANSMITTED && resent.is_last(resending) {
                *slot = LOST;
                self.retransmitted -= 1;
                self.losses += 1;
                resent.push_lost(resending.seq);
            }
        }
    }

    /// Holds every segment below `bound` for lost that is not SACKed.
    pub(crate) fn declare_lost_below(&mut self, bound: u32) {
        while self.lost_to < bound {
            let index = self.index(self.lost_to);
            if self.slots[index] & (SACKED | LOST) == 0 {
                self.slots[index] |= LOST;
                self.lost += 1;
                self.losses += 1;
            }
            self.lost_to += 1;
        }
    }

    /// The retransmission timer ran out: whatever is not SACKed is lost, retransmissions too.
    pub(crate) fn declare_all_lost(&mut self) {
        self.retransmitted = 0;
        self.forget_resent();
        for seq in self.una..self.nxt {
            let index = self.index(seq);
            if self.slots[index] & SACKED == 0 {
                let known = self.slots[index] & LOST != 0;
                self.lost += u32::from(!known);
                // a retransmission may be lost too
                self.losses += u64::from(!known || self.slots[index] & RETRANSMITTED != 0);
                self.slots[index] = LOST;
            }
        }
        self.lost_to = self.nxt;
        self.high_rxt = self.una;
    }

    /// The first lost segment that was not retransmitted (RFC 6675 section 4, `NextSeg` rule 1).
    pub(crate) fn next_lost(&mut self) -> Option<u32> {
        let (slots, una) = (&self.slots, self.una);
        let wanted = |seq: u32| seq >= una && slots[seq as usize & (slots.len() - 1)] == LOST;
        if let Some(seq) = self.resent.as_mut().and_then(|resent| resent.next_lost(wanted)) {
            return Some(seq);
        }
        while self.high_rxt < self.lost_to {
            if self.flag(self.high_rxt) == LOST {
                return Some(self.high_rxt);
            }
            self.high_rxt += 1;
        }
        None
    }

    /// The first segment below the highest SACKed one that is neither SACKed nor retransmitted (rule 3).
    pub(crate) fn next_hole(&mut self) -> Option<u32> {
        let from = self.high_rxt.max(self.lost_to).max(self.una);
        let hole = self.unsacked_from(from);
        (hole < self.highest_sacked()? && self.flag(hole) & RETRANSMITTED == 0).then_some(hole)
    }

    /// The highest outstanding segment below `bound` that is not SACKed.
    pub(crate) fn highest_unsacked_below(&self, bound: u32) -> Option<u32> {
        (self.una..bound.min(self.nxt)).rev().find(|&seq| self.flag(seq) & SACKED == 0)
    }

    /// A segment was retransmitted.
    pub(crate) fn on_retransmit(&mut self, seq: u32) {
        self.on_rescue(seq);
        self.high_rxt = self.high_rxt.max(seq + 1);
    }

    /// A segment was retransmitted out of order (rule 4): those before it may still be lost.
    pub(crate) fn on_rescue(&mut self, seq: u32) {
        let index = self.index(seq);
        if self.slots[index] & (SACKED | RETRANSMITTED) == 0 {
            self.slots[index] |= RETRANSMITTED;
            self.retransmitted += 1;
            if let Some(resent) = &mut self.resent {
                resent.on_resent(self.una, self.nxt, seq);
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! Hosts with a card: what the sender hands over, and when the next segment leaves; [`crate::card`] says what a card is.

use bufferlab_qdisc::Packet;
use bufferlab_units::Time;

use super::{SendingHost, Source, Turn};
use crate::card::Card;

impl SendingHost {
    #[inline]
    pub(crate) fn card(&self) -> Option<&Card> {
        self.extras.as_deref()?.card.as_ref()
    }

    /// The next segment that leaves the card now, if any, after the sender has handed over what it may.
    #[inline(never)]
    pub(crate) fn transmit_by_card(&mut self, now: Time, local: Time, turn: Turn) -> Option<Packet> {
        if turn != Turn::Drain || self.card().is_some_and(|card| card.throttled) {
            self.fill_card(now, local);
        }
        let card = self.extras.as_deref_mut()?.card.as_mut()?;
        let segment = card.cut(local);
        if card.waits() {
            self.action = card.free;
        }
        Some(Packet { enqueued: now, ..segment? })
    }

    /// The sender hands over packets until it has none, or too much waits.
    fn fill_card(&mut self, now: Time, local: Time) {
        loop {
            let may_wait = self.most_waiting();
            let Some(card) = self.extras.as_deref_mut().and_then(|extras| extras.card.as_mut()) else {
                return;
            };
            card.throttled = card.bytes > may_wait;
            if card.throttled {
                return;
            }
            let Some(packet) = self.next_packet(now, local) else { return };
            if let Some(card) = self.extras.as_deref_mut().and_then(|extras| extras.card.as_mut()) {
                card.push(packet);
            }
        }
    }

    /// Bytes that may wait for the card before the sender has to stop.
    fn most_waiting(&self) -> u64 {
        let (Source::Tcp(sender), Some(card)) = (&self.source, self.card()) else {
            return u64::MAX;
        };
        let segments = sender.small_queue_segments();
        let bytes = (segments * f64::from(card.segment_bytes)) as u64;
        if sender.is_paced() { bytes } else { bytes.min(card.most_bytes) }
    }
}

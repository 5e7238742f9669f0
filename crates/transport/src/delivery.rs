//! Delivery-rate samples: how fast segments reach the receiver, as seen by the acknowledgments.
//!
//! Source: draft-ietf-ccwg-bbr, section "Delivery Rate Samples" (before: draft-cheng-iccrg-delivery-rate-estimation);
//! the names in parentheses are its own.
//!
//! Departure: the application has always data, until a transfer's last segment is out; segments sent after that
//! are the only ones sent while it limits (`app_limited`).

use bufferlab_congestion::RateSample;
use bufferlab_units::{Span, Time};

/// What is kept of a segment under way (P).
#[derive(Clone, Copy, Debug)]
struct Departure {
    /// `P.send_time`; [`Time::NEVER`] once it was delivered.
    sent: Time,
    /// `P.first_send_time`.
    first_sent: Time,
    /// `P.delivered_time`.
    delivered_at: Time,
    /// `P.delivered`, below 2³² as all counts of a flow's segments.
    delivered: u32,
    /// `P.lost`.
    lost: u32,
    /// `P.tx_in_flight`.
    in_flight: u32,
    /// `P.is_app_limited`.
    app_limited: bool,
    /// It was sent more than once: its acknowledgment is no round-trip sample (Karn's rule).
    again: bool,
}

const DELIVERED: Departure = Departure {
    sent: Time::NEVER,
    first_sent: Time::ZERO,
    delivered_at: Time::ZERO,
    delivered: 0,
    lost: 0,
    in_flight: 0,
    app_limited: false,
    again: false,
};

/// The delivery rate, estimated from acknowledgments.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryRate {
    /// One slot for each outstanding segment, by its number.
    departures: Vec<Departure>,
    /// `C.delivered`, segments.
    delivered: u32,
    /// `C.delivered_time`.
    delivered_at: Time,
    /// `C.first_send_time`.
    first_sent: Time,
    /// The segment sent last among those that this acknowledgment delivered, and when it was sent.
    newest: Option<(Time, u32)>,
    /// Shortest round-trip time: no rate is measured in less.
    min_rtt: Span,
    /// `C.delivered` before this acknowledgment.
    before: u32,
}

/// What one acknowledgment delivered.
pub(crate) struct Delivery {
    /// Segments delivered.
    pub(crate) delivered: u32,
    /// The round-trip time of the newest of them, if it was sent but once.
    pub(crate) rtt: Option<Span>,
    /// The sample.
    pub(crate) rate: RateSample,
}

impl DeliveryRate {
    /// Nothing was sent.
    pub(crate) fn new() -> DeliveryRate {
        DeliveryRate {
            departures: vec![DELIVERED; 16],
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            newest: None,
            min_rtt: Span::from_ps(u64::MAX),
            before: 0,
        }
    }

    fn slot(&self, seq: u32) -> usize {
        seq as usize & (self.departures.len() - 1)
    }

    /// Segment `seq` of the outstanding ones from `una` on leaves, the `in_flight`-th in the network (`OnSend`).
    pub(crate) fn on_sent(&mut self, now: Time, una: u32, seq: u32, network: Network) {
        if network.in_flight <= 1 {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        if (seq - una) as usize >= self.departures.len() {
            self.grow(una);
        }
        let slot = self.slot(seq);
        self.departures[slot] = Departure {
            sent: now,
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            lost: network.lost as u32,
            in_flight: network.in_flight,
            app_limited: network.app_limited,
            again: network.again,
        };
    }

    #[inline(never)]
    fn grow(&mut self, una: u32) {
        let slots = self.departures.len() as u32;
        let mut grown = vec![DELIVERED; 2 * slots as usize];
        let mask = grown.len() - 1;
        for seq in una..una + slots {
            grown[seq as usize & mask] = self.departures[self.slot(seq)];
        }
        self.departures = grown;
    }

    /// Segment `seq` is acknowledged, cumulatively or selectively, perhaps not for the first time
    /// (`UpdateRateSample`).
    #[inline]
    pub(crate) fn on_delivered(&mut self, seq: u32) {
        let slot = self.slot(seq);
        let sent = std::mem::replace(&mut self.departures[slot].sent, Time::NEVER);
        if sent == Time::NEVER {
            return;
        }
        self.delivered += 1;
        // `IsNewestPacket`
        if self.newest.is_none_or(|newest| (sent, seq) > newest) {
            self.newest = Some((sent, seq));
        }
    }

    /// The acknowledgment has been read (`GenerateRateSample`); `lost` segments are considered lost so far.
    pub(crate) fn take(&mut self, now: Time, lost: u64) -> Delivery {
        let delivered = self.delivered - self.before;
        self.before = self.delivered;
        let Some((sent, seq)) = self.newest.take() else {
            // nothing new but perhaps losses: no interval, no rate
            let (all, interval) = (u64::from(self.delivered), Span::ZERO);
            let rate =
                RateSample { delivered: all, prior_delivered: all, interval, lost, ..RateSample::default() };
            return Delivery { delivered, rtt: None, rate };
        };
        // delivered by this acknowledgment, so that no other segment has its place yet
        let newest = &self.departures[self.slot(seq)];
        let send_elapsed = sent.saturating_since(newest.first_sent);
        let ack_elapsed = now.saturating_since(newest.delivered_at);
        let rtt = (!newest.again).then(|| now.saturating_since(sent));
        self.min_rtt = rtt.map_or(self.min_rtt, |rtt| rtt.min(self.min_rtt));
        let interval = send_elapsed.max(ack_elapsed);
        let rate = RateSample {
            delivered: u64::from(self.delivered),
            prior_delivered: u64::from(newest.delivered),
            // "Normally we expect interval >= MinRTT"; a shorter one stems from a spurious retransmission
            interval: if interval < self.min_rtt { Span::ZERO } else { interval },
            app_limited: newest.app_limited,
            tx_in_flight: newest.in_flight,
            lost,
            prior_lost: u64::from(newest.lost),
            until_release: Span::ZERO,
        };
        (self.delivered_at, self.first_sent) = (now, sent);
        Delivery { delivered, rtt, rate }
    }
}

/// The network when a segment leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Network {
    /// Segments in it, this one included.
    pub(crate) in_flight: u32,
    /// Segments considered lost so far.
    pub(crate) lost: u64,
    /// There is nothing more to send.
    pub(crate) app_limited: bool,
    /// This segment was sent before.
    pub(crate) again: bool,
}

const _: () = assert!(size_of::<Departure>() == 40, "a segment under way should cost little memory");

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn sent(rates: &mut DeliveryRate, ms: u64, seq: u32, in_flight: u32) {
        let network = Network { in_flight, lost: 0, app_limited: false, again: false };
        rates.on_sent(at(ms), 0, seq, network);
    }

    #[test]
    fn a_steady_stream_gives_its_rate() {
        // one segment a millisecond, 100 ms round trip: 1000 segments a second
        let mut rates = DeliveryRate::new();
        for seq in 0..100 {
            sent(&mut rates, u64::from(seq), seq, seq + 1);
        }
        let mut last = None;
        for seq in 0..300_u32 {
            rates.on_delivered(seq);
            let delivery = rates.take(at(u64::from(seq) + 100), 0);
            assert_eq!((delivery.delivered, delivery.rtt), (1, Some(Span::from_ms(100))));
            let network = Network { in_flight: 100, lost: 0, app_limited: false, again: false };
            rates.on_sent(at(u64::from(seq) + 100), seq + 1, seq + 100, network);
            last = Some(delivery.rate);
        }
        let rate = last.unwrap();
        assert!((rate.bandwidth().unwrap() - 1_000.0).abs() < 1e-9, "{rate:?}");
        assert_eq!((rate.volume(), rate.tx_in_flight), (100, 100));
    }

    /// Of several segments that an acknowledgment reports, the one sent last is measured.
    #[test]
    fn the_newest_segment_is_the_sample() {
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let mut rates = DeliveryRate::new();
            for (ms, seq) in [(0, 0), (20, 1), (50, 2)] {
                sent(&mut rates, ms, seq, seq + 1);
            }
            for seq in order {
                rates.on_delivered(seq);
            }
            let delivery = rates.take(at(110), 0);
            assert_eq!((delivery.rtt, delivery.rate.tx_in_flight), (Some(Span::from_ms(60)), 3), "{order:?}");
        }
    }

    #[test]
    fn acknowledgments_that_come_together_do_not_raise_the_rate() {
        // sent over 100 ms, acknowledged within one: the longer of the two times counts
        let mut rates = DeliveryRate::new();
        for seq in 0..101 {
            sent(&mut rates, u64::from(seq), seq, seq + 1);
        }
        for seq in 0..101 {
            rates.on_delivered(seq);
        }
        let delivery = rates.take(at(150), 0);
        assert_eq!(delivery.delivered, 101);
        assert!((delivery.rate.bandwidth().unwrap() - 101.0 / 0.15).abs() < 1e-9);
    }

    #[test]
    fn what_was_acknowledged_before_is_not_counted_again() {
        let mut rates = DeliveryRate::new();
        (0..10).for_each(|seq| sent(&mut rates, 0, seq, seq + 1));
        for seq in [4, 5, 4] {
            rates.on_delivered(seq);
        }
        assert_eq!(rates.take(at(100), 0).delivered, 2);
        (0..10).for_each(|seq| rates.on_delivered(seq));
        let delivery = rates.take(at(200), 3);
        assert_eq!((delivery.delivered, delivery.rate.delivered, delivery.rate.losses()), (8, 10, 3));
        let nothing = rates.take(at(210), 3);
        assert_eq!((nothing.delivered, nothing.rate.bandwidth()), (0, None));
    }

    #[test]
    fn a_segment_sent_twice_measures_no_round_trip() {
        let mut rates = DeliveryRate::new();
        sent(&mut rates, 0, 0, 1);
        let network = Network { in_flight: 2, lost: 1, app_limited: false, again: true };
        rates.on_sent(at(150), 0, 0, network);
        rates.on_delivered(0);
        let delivery = rates.take(at(160), 1);
        assert_eq!((delivery.delivered, delivery.rtt, delivery.rate.prior_lost), (1, None, 1));
    }
}

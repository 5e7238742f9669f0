//! What a congestion control learns from an acknowledgment.

use bufferlab_units::Span;

/// What a congestion control learns from an acknowledgment. Segments are counted as the transport counts them.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckSample {
    /// Segments acknowledged for the first time: cumulatively; for controls that grow in fast recovery, there
    /// selectively as well; for those that use rates, always both. After a timeout at most one, except for these two.
    pub acked: u32,
    /// The round-trip time that this acknowledgment measured (RFC 6298), if it measured one.
    pub rtt: Option<Span>,
    /// The smoothed round-trip time with this sample (RFC 6298); zero before the first.
    pub srtt: Span,
    /// Segments in the network after this acknowledgment (RFC 6675's `Pipe`).
    pub inflight: u32,
    /// The first segment not yet cumulatively acknowledged.
    pub una: u32,
    /// One more than the last segment ever sent; with `una`, what counts rounds.
    pub sent_to: u32,
    /// Of `acked`, those that arrived with Congestion Experienced (RFC 8257 section 3.3).
    pub marked: u32,
    /// The delivery rate; only for controls that want it.
    pub rate: Option<RateSample>,
}

#[cfg(test)]
impl AckSample {
    /// An acknowledgment of `acked` segments with nothing else.
    pub fn of(acked: u32) -> AckSample {
        AckSample { acked, ..AckSample::default() }
    }
}

/// What a control of Linux 2.6 learns from an acknowledgment, new or not, in ns-2's `Agent/TCP/Linux`.
#[derive(Clone, Copy, Debug, Default)]
pub struct KernelAck {
    /// What others learn.
    pub sample: AckSample,
    /// Segments in the network before it.
    pub prior_inflight: u32,
    /// Nothing was being repaired before it (`TCP_CA_Open`).
    pub open: bool,
    /// It SACKs something new.
    pub sacked: bool,
    /// New data is acknowledged, and no fast recovery holds the window.
    pub grows: bool,
    /// How long ago the last segment that it acknowledges was sent, if it is sure which sending of it arrived.
    pub exact: Option<Span>,
}

/// A sample of the delivery rate, draft-ietf-ccwg-bbr section "Delivery Rate Samples" (before: draft-cheng-
/// iccrg-delivery-rate-estimation). "The packet" is the most recently sent one that the acknowledgment
/// covers.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateSample {
    /// Segments delivered so far (`C.delivered`).
    pub delivered: u64,
    /// The same when the packet was sent (`P.delivered`).
    pub prior_delivered: u64,
    /// The longer of the times in which that much was sent and acknowledged (`RS.interval`).
    pub interval: Span,
    /// The application, not the control, limited the sender when the packet was sent (`RS.is_app_limited`).
    pub app_limited: bool,
    /// Segments in the network when the packet was sent, itself included (`RS.tx_in_flight`).
    pub tx_in_flight: u32,
    /// Segments considered lost so far (`C.lost`).
    pub lost: u64,
    /// The same when the packet was sent (`P.lost`).
    pub prior_lost: u64,
    /// Until the pace lets the next packet leave.
    pub until_release: Span,
}

impl RateSample {
    /// Segments delivered between the packet's departure and now (`RS.delivered`).
    pub fn volume(&self) -> u64 {
        self.delivered.saturating_sub(self.prior_delivered)
    }

    /// Segments considered lost in that time (`RS.lost`).
    pub fn losses(&self) -> u64 {
        self.lost.saturating_sub(self.prior_lost)
    }

    /// Whether [`Self::bandwidth`] may exceed `bandwidth`, segments a second, by multiplication. It errs by a part in
    /// 10⁹, and then returns true.
    #[inline]
    pub fn may_exceed(&self, bandwidth: f64) -> bool {
        const PS_AND_MARGIN: f64 = 1e12 * (1.0 + 1e-9);
        self.volume() as f64 * PS_AND_MARGIN > bandwidth * self.interval.as_ps() as f64
    }

    /// Segments a second (`RS.delivery_rate`), or nothing if no time passed.
    pub fn bandwidth(&self) -> Option<f64> {
        (self.interval > Span::ZERO).then(|| self.volume() as f64 / self.interval.as_s())
    }
}

/// Counts rounds: a round ends when all that was out at its start is acknowledged.
///
/// The sources differ by one acknowledgment: RFC 8257 and Linux's Vegas wait for one beyond, RFC 9406 and
/// Linux's DCTCP for this one. Here one rule serves all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    /// One more than the last segment of the running round.
    end: u32,
}

impl Rounds {
    /// One more than the last segment of the running round.
    #[cfg(test)]
    pub fn end(self) -> u32 {
        self.end
    }

    /// A round begins now.
    pub fn restart(&mut self, sample: &AckSample) {
        self.end = sample.sent_to;
    }

    /// Whether this acknowledgment ends a round (and begins the next).
    pub fn ended(&mut self, sample: &AckSample) -> bool {
        let ended = sample.una >= self.end;
        if ended {
            self.restart(sample);
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_when_all_that_was_out_is_acknowledged() {
        let mut rounds = Rounds::default();
        let at = |una, sent_to| AckSample { una, sent_to, ..AckSample::default() };
        assert!(rounds.ended(&at(1, 10)));
        assert!(!rounds.ended(&at(9, 18)));
        assert!(rounds.ended(&at(10, 19)));
        assert!(!rounds.ended(&at(18, 27)));
    }

    #[test]
    fn the_rate_is_what_was_delivered_over_the_interval() {
        let sample = RateSample {
            delivered: 150,
            prior_delivered: 50,
            interval: Span::from_ms(20),
            lost: 5,
            prior_lost: 2,
            ..RateSample::default()
        };
        assert_eq!((sample.volume(), sample.losses()), (100, 3));
        assert!((sample.bandwidth().unwrap() - 5_000.0).abs() < 1e-9);
        assert_eq!(RateSample::default().bandwidth(), None);
    }

    #[test]
    fn what_a_bandwidth_may_exceed_is_never_denied() {
        for (volume, ps) in [(1, 3), (7, 1_000_003), (100, 20_000_000_001), (99_991, 7_777_777_777_777)] {
            let interval = Span::from_ps(ps);
            let sample = RateSample { delivered: volume, interval, ..RateSample::default() };
            let bandwidth = sample.bandwidth().unwrap();
            assert!(sample.may_exceed(bandwidth.next_down()), "{bandwidth}");
            assert!(!sample.may_exceed(bandwidth * (1.0 + 1e-8)), "{bandwidth}");
        }
    }
}

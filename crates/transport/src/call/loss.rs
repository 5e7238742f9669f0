//! The loss-based control: draft-ietf-rmcat-gcc-02 section 6.

/// > As long as less than 2% of the packets have been lost As_hat(i) will be increased as As_hat(i) = 1.05(As_hat(i-1))
const FEW: f64 = 0.02;
const GROWTH: f64 = 1.05;
/// > If more than 10% of the packets have been lost a new estimate is calculated as As_hat(i) = As_hat(i-1)(1-0.5p)
const MANY: f64 = 0.10;
/// Packets of which the loss is taken, at least (WebRTC: `kLimitNumPackets`).
const LEAST_PACKETS: u32 = 20;

/// `As_hat`, the loss-based estimate.
#[derive(Clone, Debug)]
pub(super) struct LossControl {
    as_hat_bps: f64,
    min_bps: f64,
    /// Packets sent and arrived since it ran last, as reports have it.
    sent: u32,
    arrived: u32,
}

impl LossControl {
    pub(super) fn new(start_bps: f64, min_bps: f64) -> LossControl {
        LossControl { as_hat_bps: start_bps, min_bps, sent: 0, arrived: 0 }
    }

    /// The estimate after a report on what was sent and what arrived, bit/s; at most the delay-based one.
    pub(super) fn update(&mut self, sent: u32, arrived: u32, a_hat_bps: f64) -> f64 {
        self.sent += sent;
        self.arrived += arrived;
        if self.sent >= LEAST_PACKETS {
            // those that came out of order are reported on later
            let lost = self.sent.saturating_sub(self.arrived);
            let p = f64::from(lost) / f64::from(self.sent);
            (self.sent, self.arrived) = (0, 0);
            if p > MANY {
                self.as_hat_bps *= 1.0 - 0.5 * p;
            } else if p < FEW {
                self.as_hat_bps *= GROWTH;
            }
        }
        self.as_hat_bps = self.as_hat_bps.min(a_hat_bps).max(self.min_bps);
        self.as_hat_bps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(sent: u32, lost: u32) -> f64 {
        LossControl::new(1e6, 1e5).update(sent, sent - lost, 2e6)
    }

    #[test]
    fn few_losses_raise_it_many_lower_it_and_others_hold_it() {
        assert!((after(100, 0) - 1.05e6).abs() < 1e-6);
        assert!((after(100, 1) - 1.05e6).abs() < 1e-6);
        assert_eq!([after(100, 2), after(100, 5), after(100, 10)], [1e6; 3]);
        assert!((after(100, 20) - 0.9e6).abs() < 1e-6);
        // too few to say
        assert_eq!(after(19, 10), 1e6);
    }

    #[test]
    fn it_is_at_most_the_delay_based_one_and_at_least_the_least_bitrate() {
        let mut loss = LossControl::new(1e6, 9e5);
        assert_eq!(loss.update(0, 0, 0.95e6), 0.95e6);
        assert_eq!(loss.update(20, 0, 2e6), 9e5);
        assert!((loss.update(20, 20, 2e6) - 9.45e5).abs() < 1e-6);
    }
}

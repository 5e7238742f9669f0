//! Where the capture was taken, seen from a connection.

use crate::leg::Leg;

/// The vantage point is near an end if that side has at most such a part of the round trip.
///
/// A choice: what is between the vantage point and a near end can hold no queue that matters for the round trip.
const NEAR: f64 = 0.1;

/// Between the sender of most data and its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vantage {
    Unknown = 0,
    NearSender = 1,
    NearReceiver = 2,
    Between = 3,
}

/// The sender's part of the smallest round trip, and what that means; `sender` is 0 if the initiator sends most data.
///
/// The legs' minima contain the ends' processing. A leg without samples gives no share. A standing queue from the first packet on counts as
/// distance.
pub(crate) fn vantage(legs: &[Leg; 2], sender: usize) -> (f64, Vantage) {
    // legs[0] leads to the responder
    let (to_sender, to_receiver) = (legs[1 - sender].least.smallest(), legs[sender].least.smallest());
    let Some((near, far)) = to_sender.zip(to_receiver).filter(|(near, far)| near + far > 0) else {
        return (f64::NAN, Vantage::Unknown);
    };
    let share = near as f64 / (near + far) as f64;
    let vantage = match share {
        share if share <= NEAR => Vantage::NearSender,
        share if share >= 1.0 - NEAR => Vantage::NearReceiver,
        _ => Vantage::Between,
    };
    (share, vantage)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn legs(to_responder: u64, to_initiator: u64) -> [Leg; 2] {
        [to_responder, to_initiator].map(|rtt| {
            let mut leg = Leg::default();
            leg.add(rtt, 1);
            leg
        })
    }

    #[test]
    fn the_shares_of_the_round_trip_say_where() {
        assert_eq!(vantage(&legs(95, 5), 0), (0.05, Vantage::NearSender));
        assert_eq!(vantage(&legs(95, 5), 1), (0.95, Vantage::NearReceiver));
        assert_eq!(vantage(&legs(60, 40), 0), (0.4, Vantage::Between));
        assert_eq!(vantage(&[Leg::default(), legs(1, 1)[0].clone()], 0).1, Vantage::Unknown);
    }
}

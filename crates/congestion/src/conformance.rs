//! What every control must do, whatever its law.

use super::*;

fn controls() -> Vec<AnyControl> {
    vec![
        Reno::new(2, None, Growth::PerAck).into(),
        Reno::new(10, Some(64), Growth::PerSegment).into(),
        Fixed::new(1).into(),
    ]
}

fn congestion(event: CongestionEvent) -> Congestion {
    Congestion { event, flight: 1, receive_window: 1 }
}

#[test]
fn the_window_is_finite_and_never_below_one_segment() {
    for mut control in controls() {
        for round in 0..10_000_u32 {
            match round % 7 {
                0 => control.on_congestion(Time::ZERO, &congestion(CongestionEvent::Loss)),
                3 if round % 5 == 0 => {
                    let event = CongestionEvent::Timeout { repeated: round % 2 == 0 };
                    control.on_congestion(Time::ZERO, &congestion(event));
                }
                _ => control.on_ack(Time::ZERO, &AckSample { acked: round % 3 }),
            }
            assert!(control.cwnd() >= 1.0 && control.cwnd().is_finite(), "{control:?}");
            assert!(control.ssthresh() >= 1.0, "{control:?}");
        }
    }
}

#[test]
fn a_clone_continues_identically() {
    for mut control in controls() {
        control.on_ack(Time::ZERO, &AckSample { acked: 1 });
        let mut twin = control.clone();
        for _ in 0..100 {
            control.on_ack(Time::ZERO, &AckSample { acked: 2 });
            twin.on_ack(Time::ZERO, &AckSample { acked: 2 });
        }
        assert_eq!(control.cwnd().to_bits(), twin.cwnd().to_bits());
    }
}

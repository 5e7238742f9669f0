//! Senders that state a round-trip time that is not their own.

use super::*;
use crate::config::StatedIn;

const LIE: Span = Span::from_ms(700);

/// After 2 s of 100 ms there and back: what the sender states, and when its first data left.
fn lying(place: StatedIn, recovery: Recovery) -> ((Span, Span), Time) {
    let config = TcpConfig {
        stated_rtt: Some(LIE),
        stated_in: place,
        handshake: true,
        timestamps: true,
        ..config(recovery)
    };
    let mut pair = Pair::new(&config, reno(2, 2), |_| false);
    pair.run(2_000);
    assert!(pair.sender.counters().timeouts == 0 && pair.sender.acknowledged() > 10);
    let first = pair.log.iter().find(|(_, segment)| segment.kind == crate::SegmentKind::New).unwrap();
    (pair.sender.stated(pair.now), first.0)
}

#[test]
fn a_header_says_it_and_nothing_else_changes() {
    let ((rtt, age), first) = lying(StatedIn::Header, Recovery::Sack);
    assert_eq!((rtt, first), (LIE, Time::ZERO + Span::from_ms(100)));
    assert!(age <= Span::from_ms(200));
}

#[test]
fn a_timestamp_is_older_than_the_one_that_came_back() {
    let config =
        TcpConfig { stated_rtt: Some(LIE), stated_in: StatedIn::Timestamps, ..config(Recovery::Sack) };
    let mut sender = Pair::new(&config, reno(2, 2), |_| false).sender;
    let at = |ms| Time::ZERO + Span::from_ms(ms);
    let ages = [0, 300, 699, 700, 999, 1_000, 1_500].map(|ms| sender.stated(at(ms)).1);
    assert_eq!(ages, [0, 0, 0, 700, 999, 700, 800].map(Span::from_ms));
}

#[test]
fn after_the_handshake_data_waits() {
    for recovery in ALL {
        let ((rtt, _), first) = lying(StatedIn::Handshake, recovery);
        assert_eq!((rtt, first), (Span::from_ms(100), Time::ZERO + LIE), "{recovery:?}");
    }
}

#[test]
fn a_handshake_cannot_be_made_shorter() {
    let config = TcpConfig {
        stated_rtt: Some(Span::from_ms(20)),
        stated_in: StatedIn::Handshake,
        handshake: true,
        ..config(Recovery::Sack)
    };
    let mut pair = Pair::new(&config, reno(2, 2), |_| false);
    pair.run(1_000);
    assert_eq!(pair.log[1].0, Time::ZERO + Span::from_ms(100));
}

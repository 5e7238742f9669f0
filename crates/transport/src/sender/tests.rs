//! What a sender does with losses, beside a receiver.

mod marks;
mod pair;
mod quic;
mod stated;
mod turns;

use bufferlab_congestion::{Fixed, Growth, NO_THRESHOLD, Reno};

use super::*;
use crate::{Ack, Recovery, SackBlocks};
use pair::reno;
pub(crate) use pair::{ALL, Pair, config, every, lose_once};

#[test]
fn slow_start_doubles_what_is_sent_each_round() {
    let control = Reno::new(2, None, Growth::PerSegment).into();
    let mut pair = Pair::new(&config(Recovery::Sack), control, |_| false);
    pair.run(450);
    // 2 + 4 + 8 + 16 + 32
    assert_eq!(pair.log.len(), 62);
    assert_eq!(pair.sender.counters().rtt_samples, 4);
    assert_eq!(pair.sender.srtt(), Span::from_ms(100));
}

#[test]
fn one_loss_is_repaired_within_a_round_and_halves_the_window() {
    for recovery in every() {
        let mut pair = Pair::new(&config(recovery), reno(20, 2), lose_once([30]));
        pair.run(1_500);
        assert_eq!(pair.sender.counters().timeouts, 0, "{recovery:?}");
        assert_eq!(pair.sender.counters().recoveries, 1, "{recovery:?}");
        assert_eq!(pair.sender.ssthresh(), 10.0, "{recovery:?}");
        assert!(pair.receiver.delivered() > 100, "{recovery:?}");
        if recovery != Recovery::Tahoe {
            assert_eq!(pair.count(SegmentKind::Retransmission), 1, "{recovery:?}");
        }
    }
}

#[test]
fn sack_repairs_many_losses_in_about_a_round() {
    let lost = (100..120).step_by(2);
    for recovery in [Recovery::Sack, Recovery::SackNs2] {
        let mut pair = Pair::new(&config(recovery), reno(100, 2), lose_once(lost.clone()));
        pair.run(10_000);
        assert_eq!(pair.sender.counters().timeouts, 0, "{recovery:?}");
        assert_eq!(pair.count(SegmentKind::Retransmission), 10, "{recovery:?}");
        let repairs = pair.log.iter().filter(|(_, segment)| segment.kind == SegmentKind::Retransmission);
        let times: Vec<_> = repairs.map(|(at, _)| *at).collect();
        assert!(times[9] - times[0] <= Span::from_ms(110), "{recovery:?}");
    }
}

#[test]
fn newreno_repairs_one_loss_a_round() {
    let mut pair = Pair::new(&config(Recovery::NewReno), reno(50, 2), lose_once([60, 62, 64]));
    pair.run(3_000);
    assert_eq!((pair.sender.counters().timeouts, pair.sender.counters().recoveries), (0, 1));
    let repairs = pair.log.iter().filter(|(_, segment)| segment.kind == SegmentKind::Retransmission);
    let repaired: Vec<_> = repairs.map(|(at, segment)| (*at, segment.seq)).collect();
    assert_eq!(repaired.iter().map(|(_, seq)| *seq).collect::<Vec<_>>(), [60, 62, 64]);
    assert_eq!(repaired[1].0 - repaired[0].0, Span::from_ms(100));
    assert_eq!(repaired[2].0 - repaired[1].0, Span::from_ms(100));
}

/// `tcp/tcp-reno.cc`, `bugFix_`: the second loss of a window waits for the timer, which RFC 5681's Reno need not.
#[test]
fn ns2_reno_repairs_one_loss_of_a_window() {
    for (recovery, counts) in [(Recovery::Reno, (0, 2)), (Recovery::RenoNs2, (1, 1))] {
        let mut pair = Pair::new(&config(recovery), reno(50, 2), lose_once([60, 80]));
        pair.run(3_000);
        let counters = pair.sender.counters();
        assert_eq!((counters.timeouts, counters.recoveries), counts, "{recovery:?}");
    }
}

/// `tcp/tcp.cc`, `recv_newack_helper`: the acknowledgment that ends a recovery lets the window grow, by one step.
#[test]
fn ns2_grows_the_window_where_a_recovery_ends() {
    let cwnd = |recovery| {
        let control = Reno::new(50, Some(50), Growth::PerAck).into();
        let mut pair = Pair::new(&config(recovery), control, lose_once([0]));
        pair.run(201);
        assert_eq!(pair.sender.counters().recoveries, 1);
        pair.sender.cwnd()
    };
    for (rfc, ns2) in [(Recovery::Reno, Recovery::RenoNs2), (Recovery::NewReno, Recovery::NewRenoNs2)] {
        let least = cwnd(rfc);
        assert!(least > 25.0 && least < 26.0, "{least}");
        assert_eq!(cwnd(ns2), least + 1.0 / least, "{ns2:?}");
    }
}

#[test]
fn tahoe_starts_again_from_one_segment() {
    let mut pair = Pair::new(&config(Recovery::Tahoe), reno(20, 2), lose_once([30]));
    pair.run(290);
    assert_eq!(pair.count(SegmentKind::Retransmission), 1);
    assert_eq!((pair.sender.cwnd(), pair.sender.ssthresh()), (1.0, 10.0));
}

#[test]
fn a_lost_retransmission_waits_for_the_timer_unless_the_order_of_sending_tells() {
    for recovery in ALL {
        let mut losses = 0;
        let lose = move |segment: Segment| {
            losses += u32::from(segment.seq == 30);
            segment.seq == 30 && losses <= 2
        };
        let mut pair = Pair::new(&config(recovery), reno(20, 2), lose);
        pair.run(5_000);
        let by_order = recovery == Recovery::Linux;
        assert_eq!(pair.sender.counters().timeouts, u64::from(!by_order), "{recovery:?}");
        assert!(pair.receiver.delivered() > 100, "{recovery:?}");
    }
}

#[test]
fn the_timer_backs_off_and_comes_back() {
    let mut pair = Pair::new(&config(Recovery::Sack), reno(1, 2), lose_once([0]));
    pair.run(4_000);
    // the first timeout is the initial one of 1 s
    assert_eq!(pair.log[1].0, Time::ZERO + Span::from_s(1));
    let mut dead = Pair::new(&config(Recovery::Sack), reno(1, 2), |_| true);
    dead.run(16_000);
    let times: Vec<_> = dead.log.iter().map(|(at, _)| at.as_ps() / 1_000_000_000_000).collect();
    assert_eq!(times, [0, 1, 3, 7, 15]);
}

#[test]
fn a_lost_syn_is_sent_again_after_the_initial_timeout() {
    let mut first = true;
    let lose = move |_| std::mem::replace(&mut first, false);
    let mut pair = Pair::new(&TcpConfig { handshake: true, ..config(Recovery::Sack) }, reno(2, 2), lose);
    pair.run(1_250);
    let kinds: Vec<_> =
        pair.log.iter().map(|(at, segment)| (at.as_ps() / 1_000_000_000, segment.kind)).collect();
    assert_eq!(kinds[..2], [(0, SegmentKind::Syn), (1_000, SegmentKind::Syn)]);
    assert_eq!(kinds[2], (1_100, SegmentKind::New));
    assert!(pair.sender.srtt() <= Span::from_ms(100));
}

#[test]
fn the_receive_window_bounds_what_is_outstanding() {
    let config = TcpConfig { receive_window_bytes: 7_000, ..config(Recovery::Sack) };
    let mut pair = Pair::new(&config, reno(2, 1000), |_| false);
    pair.run(1_050);
    assert_eq!(pair.sender.inflight(), 7);
    assert!(pair.sender.cwnd() <= 8.0);
}

#[test]
fn a_stopped_sender_repairs_and_falls_silent() {
    let mut pair = Pair::new(&config(Recovery::Sack), reno(20, 2), lose_once([18, 19]));
    pair.transmit();
    pair.sender.stop();
    pair.run(60_000);
    assert_eq!(pair.receiver.delivered(), 20);
    assert_eq!(pair.sender.deadline(), Time::NEVER);
    assert!(pair.sender.finished() < Time::ZERO + Span::from_s(5));
}

/// After a needless timeout everything sent is acknowledged at once, and what was repeated once more each.
#[test]
fn what_a_repair_sent_twice_starts_no_other_repair() {
    for recovery in [Recovery::Tahoe, Recovery::NewReno] {
        let mut sender = Sender::new(&config(recovery), Load::ENDLESS, reno(10, 2));
        let transmit = |sender: &mut Sender, now| while sender.poll_transmit(now).is_some() {};
        sender.start();
        transmit(&mut sender, Time::ZERO);
        let now = sender.deadline();
        sender.on_timer(now);
        transmit(&mut sender, now);
        let acknowledge = |sender: &mut Sender, ack| {
            let ack = Ack { ack, ..Ack::default() };
            sender.on_ack(now, &ack, &SackBlocks::NONE);
            transmit(sender, now);
        };
        acknowledge(&mut sender, 10);
        // RFC 3465 section 2.3: ten segments acknowledged after a timeout are one step of growth
        assert_eq!(sender.cwnd(), 2.0, "{recovery:?}");
        (0..4).for_each(|_| acknowledge(&mut sender, 10));
        assert_eq!(sender.counters().recoveries, 0, "{recovery:?}");
        acknowledge(&mut sender, 11);
        (0..3).for_each(|_| acknowledge(&mut sender, 11));
        assert_eq!(sender.counters().recoveries, 1, "{recovery:?}");
    }
}

/// RFC 6675 section 4, rule 4: "highest outstanding unSACKed", "`HighRxt` MUST NOT be updated", and not before
/// "`HighACK` is greater than `RescueRxt`", which section 5 step (4.3) sets to the first retransmission. Linux has no
/// rescue.
#[test]
fn a_lost_tail_is_rescued_once_the_first_retransmission_is_acknowledged() {
    for (lost, rescued, linux) in [
        (vec![5, 6], vec![5, 6], vec![5, 6]),
        (vec![0, 8], vec![0, 8, 8], vec![0, 8]),
        (vec![5, 23], vec![5, 23], vec![5, 23]),
        (vec![5, 21, 22, 23], vec![5, 23, 21, 22], vec![5, 21, 22, 23]),
    ] {
        for (recovery, repairs) in [(Recovery::Sack, rescued), (Recovery::Linux, linux)] {
            let mut pair = Pair::sending(24, &config(recovery), reno(24, 2), lose_once(lost.clone()));
            pair.run(5_000);
            let repeated: Vec<_> =
                pair.log.iter().filter(|(_, segment)| segment.kind == SegmentKind::Retransmission).collect();
            let segments: Vec<_> = repeated.iter().map(|(_, segment)| segment.seq).collect();
            assert_eq!(segments, repairs, "{recovery:?} {lost:?}");
            assert_eq!((pair.receiver.delivered(), pair.sender.counters().timeouts), (24, 0), "{lost:?}");
            if lost.contains(&23) {
                assert_eq!(repeated[1].0 - repeated[0].0, Span::from_ms(100), "{recovery:?} {lost:?}");
            }
        }
    }
}

/// Whatever is lost, a transfer ends with every segment delivered.
#[test]
fn transfers_survive_random_loss() {
    for recovery in every() {
        for seed in 1..=20_u64 {
            for (loss, delayed, timestamps) in [(2, 1, false), (10, 2, true), (40, 1, true)] {
                let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
                let lose = move |_| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (state >> 33) % 100 < loss
                };
                let config =
                    TcpConfig { ack_every: delayed, timestamps, handshake: true, ..config(recovery) };
                let mut pair = Pair::sending(500, &config, reno(2, 64), lose);
                pair.run(20_000_000);
                // a delayed acknowledgment of the last segment is not modeled by the pair: the timer asks again
                assert_eq!(pair.receiver.delivered(), 500, "{recovery:?} seed {seed} loss {loss} %");
                assert_ne!(pair.sender.finished(), Time::NEVER, "{recovery:?} seed {seed} loss {loss} %");
            }
        }
    }
}

#[test]
fn a_window_of_a_hundred_thousand_with_a_tenth_lost_is_repaired() {
    let window = 100_000;
    let lost = move |segment: Segment| {
        segment.kind == SegmentKind::New && segment.seq < window && segment.seq.is_multiple_of(10)
    };
    let control = Reno::new(window, Some(2), Growth::PerSegment).into();
    let mut pair = Pair::sending(2 * window, &config(Recovery::Sack), control, lost);
    pair.run(2_000);
    assert_eq!(pair.receiver.delivered(), 2 * window);
    assert_eq!(pair.sender.counters().timeouts, 0);
    assert_eq!(pair.count(SegmentKind::Retransmission), 10_000);
}

#[test]
fn a_fixed_window_goes_on_through_losses() {
    let mut pair = Pair::new(&config(Recovery::Sack), Fixed::new(10).into(), lose_once([25, 50]));
    pair.run(2_000);
    assert_eq!(pair.sender.cwnd(), 10.0);
    assert_eq!(pair.sender.ssthresh(), NO_THRESHOLD);
    assert!(pair.receiver.delivered() > 150);
}

#[test]
fn what_comes_late_after_all_is_not_sent_again() {
    for recovery in every() {
        let mut sender = Sender::new(&config(recovery), Load { segments: 5, bursts: None }, reno(5, 100));
        sender.start();
        while sender.poll_transmit(Time::ZERO).is_some() {}
        let at = Time::ZERO + Span::from_ms(100);
        // segment 0 arrives after the others, and all are acknowledged before the host retransmits it
        for _ in 0..3 {
            sender.on_ack(at, &Ack::default(), &SackBlocks::NONE);
        }
        sender.on_ack(at, &Ack { ack: 5, ..Ack::default() }, &SackBlocks::NONE);
        assert_eq!(sender.poll_transmit(at), None, "{recovery:?}");
        assert_eq!(sender.counters().retransmissions, 0, "{recovery:?}");
    }
}

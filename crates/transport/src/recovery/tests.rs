use super::*;
use crate::sender::tests::ALL;

/// An open connection with ten segments out and as many in the window.
fn open(kind: Recovery) -> (LossRecovery, SendWindow) {
    let (mut recovery, mut window) = (LossRecovery::new(kind, true), SendWindow::new(100, 100));
    recovery.start(false);
    window.follow(10.0);
    while let Some(seq) = window.take() {
        window.on_new(seq);
        recovery.on_new();
    }
    (recovery, window)
}

/// A duplicate acknowledgment that reports segments up to `end`, except the first.
fn duplicate(recovery: &mut LossRecovery, window: &SendWindow, end: u32) -> Suspicion {
    let mut sack = SackBlocks::NONE;
    if recovery.kind().uses_sack() {
        sack.report(1, end);
    }
    recovery.begin_ack();
    recovery.on_duplicate(window, &sack, None)
}

/// The first segment is lost; three duplicates show it.
fn lose(recovery: &mut LossRecovery, window: &mut SendWindow) {
    let suspicions = [2, 3, 4].map(|end| duplicate(recovery, window, end));
    assert_eq!(suspicions[2], Suspicion::Loss, "{:?}", recovery.kind());
    recovery.enter(window);
}

#[test]
fn the_third_duplicate_means_a_loss_and_the_first_segment_is_sent_again() {
    for kind in ALL {
        let (mut recovery, mut window) = open(kind);
        let first = duplicate(&mut recovery, &window, 2);
        let reordered = kind == Recovery::Linux;
        assert_eq!(first == Suspicion::Reordering, reordered, "{kind:?}");
        assert_eq!(recovery.extra(&window), 1, "limited transmit");
        duplicate(&mut recovery, &window, 3);
        assert_eq!(duplicate(&mut recovery, &window, 4), Suspicion::Loss, "{kind:?}");
        recovery.enter(&mut window);
        assert_eq!((recovery.recoveries(), recovery.timeouts()), (1, 0));
        if kind == Recovery::Tahoe {
            // slow start sends it
            assert_eq!((recovery.phase(), window.nxt), (Phase::Loss, 0));
        } else {
            assert!(recovery.decides() && recovery.phase() == Phase::Recovery);
            let again = recovery.take_first(&mut window);
            assert_eq!(again, Segment { kind: SegmentKind::Retransmission, seq: 0 });
        }
    }
}

/// RFC 6675 section 2: a duplicate acknowledgment is one that reports something new.
#[test]
fn what_was_reported_before_is_no_duplicate() {
    let (mut recovery, window) = open(Recovery::Sack);
    for _ in 0..5 {
        assert_eq!(duplicate(&mut recovery, &window, 2), Suspicion::Nothing);
        assert_eq!(recovery.extra(&window), 1);
    }
}

#[test]
fn a_repair_that_leaves_nothing_is_followed_by_none() {
    let (mut recovery, mut window) = open(Recovery::Linux);
    lose(&mut recovery, &mut window);
    recovery.take_first(&mut window);
    recovery.begin_ack();
    window.acknowledge(10);
    recovery.on_new_ack(&window, 10, &SackBlocks::NONE, None);
    assert_eq!(recovery.on_new_ack_in_recovery(&window, 10), Progress::Ended);
    assert!(!recovery.leaves_losses());
}

#[test]
fn a_recovery_ends_when_all_that_was_out_is_acknowledged() {
    for kind in [Recovery::NewReno, Recovery::Sack, Recovery::Linux, Recovery::SackNs2] {
        let (mut recovery, mut window) = open(kind);
        lose(&mut recovery, &mut window);
        let partial = |resets_timer| Progress::Partial { resets_timer, deflation: 0 };
        for (ack, progress) in
            [(5, partial(true)), (6, partial(kind != Recovery::NewReno)), (10, Progress::Ended)]
        {
            assert_eq!(recovery.is_partial(ack), ack < 10);
            let acked = ack - window.una;
            window.acknowledge(ack);
            recovery.on_new_ack(&window, acked, &SackBlocks::NONE, None);
            assert_eq!(recovery.on_new_ack_in_recovery(&window, acked), progress, "{kind:?} {ack}");
        }
        assert_eq!((recovery.phase(), recovery.inflation()), (Phase::Open, 0));
    }
    let (mut recovery, mut window) = open(Recovery::Reno);
    lose(&mut recovery, &mut window);
    window.acknowledge(5);
    assert_eq!(recovery.on_new_ack_in_recovery(&window, 5), Progress::Ended, "the first one ends it");
}

#[test]
fn what_is_in_the_network_is_counted_each_in_its_own_way() {
    let pipe = |kind| {
        let (mut recovery, mut window) = open(kind);
        lose(&mut recovery, &mut window);
        recovery.pipe(&window)
    };
    // ten less three that arrived and one that is lost; ns-2 does not take off the lost one, the others nothing
    assert_eq!(
        [Recovery::Sack, Recovery::Linux, Recovery::SackNs2, Recovery::NewReno].map(pipe),
        [6, 6, 7, 10]
    );
}

#[test]
fn after_a_timeout_everything_is_sent_again_but_what_was_reported() {
    for kind in [Recovery::Sack, Recovery::Linux] {
        let (mut recovery, mut window) = open(kind);
        duplicate(&mut recovery, &window, 4);
        recovery.on_timeout(&mut window);
        let mut again = Vec::new();
        while let Some(segment) = recovery.take(&mut window, 100).filter(|segment| segment.seq < 10) {
            assert_eq!(segment.kind, SegmentKind::Retransmission);
            again.push(segment.seq);
        }
        assert_eq!(again, [0, 4, 5, 6, 7, 8, 9], "{kind:?}");
    }
    for kind in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::SackNs2] {
        let (mut recovery, mut window) = open(kind);
        recovery.on_timeout(&mut window);
        assert_eq!((recovery.phase(), window.nxt, recovery.decides()), (Phase::Loss, 0, false), "{kind:?}");
    }
}

#[test]
fn ns2_ignores_duplicates_until_new_data_is_acknowledged_after_a_timeout() {
    let (mut recovery, mut window) = open(Recovery::SackNs2);
    recovery.on_timeout(&mut window);
    (0..3).for_each(|_| assert_eq!(duplicate(&mut recovery, &window, 4), Suspicion::Nothing));
    assert_eq!((recovery.extra(&window), recovery.newly()), (0, 0));
    window.acknowledge(2);
    recovery.on_new_ack(&window, 2, &SackBlocks::NONE, None);
    assert!(!recovery.on_new_ack_after_timeout(&window));
    let mut sack = SackBlocks::NONE;
    sack.report(5, 6);
    recovery.on_duplicate(&window, &sack, None);
    assert_eq!(recovery.extra(&window), 1);
}

/// `tcp/tcp-newreno.cc`, `partialnewack`: of 5 segments the inflation of 3 covers 3, and 2 come off the window.
#[test]
fn ns2_newreno_takes_off_the_window_what_the_inflation_does_not_cover() {
    let (mut recovery, mut window) = open(Recovery::NewRenoNs2);
    lose(&mut recovery, &mut window);
    for (ack, deflation, resets_timer) in [(5, 2, true), (6, 0, false), (9, 2, false)] {
        let acked = ack - window.una;
        window.acknowledge(ack);
        recovery.on_new_ack(&window, acked, &SackBlocks::NONE, None);
        let progress = recovery.on_new_ack_in_recovery(&window, acked);
        assert_eq!(progress, Progress::Partial { resets_timer, deflation }, "{ack}");
        assert_eq!((recovery.inflation(), recovery.resends_first()), (1, true));
    }
    // inflated by ten more, it covers what is acknowledged
    let (mut recovery, mut window) = open(Recovery::NewRenoNs2);
    lose(&mut recovery, &mut window);
    (0..10).for_each(|_| assert_eq!(duplicate(&mut recovery, &window, 4), Suspicion::Nothing));
    window.acknowledge(5);
    assert_eq!(
        recovery.on_new_ack_in_recovery(&window, 5),
        Progress::Partial { resets_timer: true, deflation: 0 }
    );
    assert_eq!(recovery.inflation(), 13 - 4);
}

#[test]
fn ns2_counts_duplicates_after_a_timeout_for_limited_transmit_alone() {
    for kind in [Recovery::RenoNs2, Recovery::NewRenoNs2] {
        let (mut recovery, mut window) = open(kind);
        window.acknowledge(2);
        recovery.on_new_ack(&window, 2, &SackBlocks::NONE, None);
        recovery.on_timeout(&mut window);
        let allowed = [1, 2, 0].map(|extra| {
            assert_eq!(duplicate(&mut recovery, &window, 4), Suspicion::Nothing, "{kind:?}");
            recovery.extra(&window) == extra
        });
        assert_eq!(allowed, [true; 3], "{kind:?}");
        assert_eq!(recovery.phase(), Phase::Loss);
    }
}

#[test]
fn only_ns2_sends_at_once_what_limited_transmit_allows_and_the_first_segment_again() {
    for kind in ALL {
        let (mut recovery, mut window) = open(kind);
        let ns2 = kind.is_ns2();
        for end in [2, 3] {
            duplicate(&mut recovery, &window, end);
            window.open(recovery.extra(&window));
            assert_eq!((window.admits(), recovery.is_prompt(&window)), (true, ns2), "{kind:?}");
            let seq = window.take().unwrap();
            window.on_new(seq);
            recovery.on_new();
            assert!(!recovery.is_prompt(&window));
        }
        duplicate(&mut recovery, &window, 4);
        recovery.enter(&mut window);
        assert_eq!(recovery.is_prompt(&window), ns2, "{kind:?}");
    }
}

/// `send_one` sends one segment. What else a window admits waits for the delay that runs, and is no more than the window.
#[test]
fn what_ns2_did_not_send_for_a_duplicate_is_not_made_up_for() {
    let (mut recovery, mut window) = open(Recovery::SackNs2);
    window.follow(12.0);
    duplicate(&mut recovery, &window, 2);
    window.open(recovery.extra(&window));
    let seq = window.take().unwrap();
    window.on_new(seq);
    recovery.on_new();
    window.open(recovery.extra(&window));
    assert_eq!((seq, window.take(), window.take()), (10, Some(11), None));
}

#[test]
fn a_new_connection_keeps_the_counters_alone() {
    for kind in ALL {
        let (mut recovery, mut window) = open(kind);
        lose(&mut recovery, &mut window);
        recovery.on_timeout(&mut window);
        recovery.restart(10);
        assert_eq!((recovery.recoveries(), recovery.timeouts()), (1, 1));
        assert_eq!((recovery.phase(), recovery.decides()), (Phase::Idle, false));
        recovery.start(true);
        let syn = Segment { kind: SegmentKind::Syn, seq: 0 };
        assert_eq!(recovery.take_first(&mut window), syn);
        recovery.on_syn_ack();
        assert!(recovery.is_steady());
    }
}

/// Losses of what was sent while a loss was repaired may be known when that repair ends. Linux begins the next repair at
/// once, and sends nothing again that is under way again.
#[test]
fn a_repair_that_leaves_losses_is_followed_by_the_next_in_linux() {
    let again = |seq| Some(Segment { kind: SegmentKind::Retransmission, seq });
    for (kind, leaves) in [(Recovery::Linux, true), (Recovery::Sack, false)] {
        let (mut recovery, mut window) = open(kind);
        lose(&mut recovery, &mut window);
        recovery.take_first(&mut window);
        for seq in 10..13 {
            assert_eq!(recovery.take(&mut window, 100), Some(Segment { kind: SegmentKind::New, seq }));
            window.on_new(seq);
            recovery.on_new();
        }
        // the first arrives at last, and 9 without 8; then 12 without 10 and 11
        let mut sack = SackBlocks::NONE;
        for (ack, newly) in [(8, 9), (8, 12), (10, 12)] {
            sack.report(newly, newly + 1);
            recovery.begin_ack();
            let acked = ack - window.una;
            if acked > 0 {
                window.acknowledge(ack);
                recovery.on_new_ack(&window, acked, &sack, None);
                let ended = recovery.on_new_ack_in_recovery(&window, acked) == Progress::Ended;
                assert_eq!(ended, ack == 10);
            } else {
                recovery.on_duplicate(&window, &sack, None);
                let sent = [8, 10].map(|seq| recovery.take(&mut window, 100) == again(seq));
                assert_eq!(sent, [leaves; 2], "{kind:?}");
            }
        }
        assert_eq!(recovery.leaves_losses(), leaves, "{kind:?}");
        if leaves {
            recovery.enter_again(&mut window);
            assert!(!recovery.resends_first(), "it is under way again");
            assert_eq!(recovery.take(&mut window, 100), again(11));
        }
    }
}

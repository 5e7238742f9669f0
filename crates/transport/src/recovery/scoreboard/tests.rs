use super::*;

#[test]
fn three_segments_above_make_a_loss() {
    let mut board = Scoreboard::new(0, 10, false);
    board.sack(2, 3, |_| ());
    board.sack(5, 6, |_| ());
    board.find_losses();
    assert_eq!((board.next_lost(), board.pipe()), (None, 8));
    board.sack(7, 8, |_| ());
    board.find_losses();
    // 0 and 1 have three SACKed segments above them, 3 and 4 only two
    assert_eq!(board.next_lost(), Some(0));
    assert_eq!(board.pipe(), 10 - 3 - 2);
    board.on_retransmit(0);
    assert_eq!((board.next_lost(), board.pipe()), (Some(1), 6));
    board.on_retransmit(1);
    assert_eq!((board.next_lost(), board.pipe()), (None, 7));
    board.advance(3);
    assert_eq!(board.pipe(), 7 - 2);
    assert!(!board.is_idle());
    board.advance(8);
    assert!(board.is_idle());
}

#[test]
fn a_block_counts_once_however_it_is_reported() {
    let mut board = Scoreboard::new(100, 200, false);
    assert_eq!(board.sack(110, 120, |_| ()), 10);
    assert_eq!(board.sack(105, 130, |_| ()), 15);
    assert_eq!(board.sack(100, 130, |_| ()), 5);
    assert_eq!(board.sack(0, 1000, |_| ()), 70);
    assert_eq!(board.pipe(), 0);
    assert_eq!(board.highest_sacked(), Some(199));
}

#[test]
fn a_timeout_loses_everything_that_is_not_sacked() {
    let mut board = Scoreboard::new(0, 6, false);
    board.sack(3, 4, |_| ());
    board.on_retransmit(0);
    board.declare_all_lost();
    assert_eq!(board.pipe(), 0);
    let mut resent = Vec::new();
    while let Some(seq) = board.next_lost() {
        resent.push(seq);
        board.on_retransmit(seq);
    }
    assert_eq!(resent, [0, 1, 2, 4, 5]);
    assert_eq!(board.pipe(), 5);
}

/// As Linux counts (`tcp_timeout_mark_lost`): what was known to be lost counts again only if it was sent again.
#[test]
fn a_timeout_counts_each_loss_once() {
    let mut board = Scoreboard::new(0, 8, false);
    board.sack(4, 7, |_| ());
    board.find_losses();
    assert_eq!(board.losses(), 4);
    board.on_retransmit(0);
    board.declare_all_lost();
    // 0 for the second time, 7 for the first
    assert_eq!(board.losses(), 6);
    board.declare_all_lost();
    assert_eq!(board.losses(), 6);
}

/// Work must stay linear: 10⁵ segments, every tenth lost, each SACK block reported in full each time.
#[test]
fn a_large_window_with_thousands_of_losses_is_linear() {
    let window = 100_000;
    let mut board = Scoreboard::new(0, window, false);
    let mut newly = 0;
    let mut start = 1;
    for seq in 1..window {
        if seq.is_multiple_of(10) {
            start = seq + 1;
            continue;
        }
        newly += board.sack(start, seq + 1, |_| ());
        newly += board.sack(1, 10, |_| ());
        board.find_losses();
    }
    let mut resent = 0;
    while let Some(seq) = board.next_lost() {
        board.on_retransmit(seq);
        resent += 1;
    }
    assert_eq!((newly, resent), (90_000, 10_000));
}

#[test]
fn agrees_with_plain_sets() {
    let mut state = 99_u64;
    let mut random = move |bound: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((state >> 33) % u64::from(bound)) as u32
    };
    let mut board = Scoreboard::new(0, 20, false);
    let (mut una, mut nxt) = (0_u32, 20_u32);
    let mut sacked = std::collections::BTreeSet::new();
    for _ in 0..20_000 {
        match random(4) {
            0 => {
                board.on_new();
                nxt += 1;
            }
            1 if nxt - una > 5 => {
                let start = una + 1 + random(nxt - una - 1);
                let end = (start + 1 + random(5)).min(nxt);
                let newly = (start..end).filter(|seq| sacked.insert(*seq)).count();
                assert_eq!(board.sack(start, end, |_| ()) as usize, newly);
                board.find_losses();
            }
            2 => {
                let above = |seq: u32| sacked.range(seq..).count();
                if let Some(seq) = board.next_lost() {
                    assert!(above(seq) >= 3 && !sacked.contains(&seq));
                    board.on_retransmit(seq);
                }
            }
            _ => {
                while sacked.remove(&una) || (random(3) == 0 && una + 1 < nxt) {
                    una += 1;
                    board.advance(una);
                }
                sacked = sacked.split_off(&una);
            }
        }
        assert_eq!(board.sacked as usize, sacked.len());
        assert_eq!(board.highest_sacked(), sacked.last().copied());
        assert!(board.pipe() <= 2 * (nxt - una));
    }
}

#[test]
fn a_lost_retransmission_is_found_by_what_was_sent_after_it() {
    let mut board = Scoreboard::new(0, 10, true);
    board.sack(3, 10, |_| ());
    board.find_losses();
    assert_eq!((board.pipe(), board.losses()), (0, 3));
    for seq in 0..3 {
        assert_eq!(board.next_lost(), Some(seq));
        board.on_retransmit(seq);
    }
    assert_eq!((board.next_lost(), board.pipe()), (None, 3));
    // the second of the three arrives: the first did not
    board.sack(1, 2, |_| ());
    board.find_losses();
    assert_eq!((board.next_lost(), board.pipe(), board.losses()), (Some(0), 1, 4));
    board.on_retransmit(0);
    // a new segment, sent after all of them, arrives: both are lost
    board.on_new();
    board.sack(10, 11, |_| ());
    board.find_losses();
    assert_eq!((board.next_lost(), board.pipe()), (Some(2), 0));
    board.on_retransmit(2);
    assert_eq!(board.next_lost(), Some(0));
    board.on_retransmit(0);
    assert_eq!(board.advance(11), 2);
    assert_eq!((board.pipe(), board.is_idle()), (0, true));
}

#[test]
fn many_lost_retransmissions_cost_no_more_than_they_are() {
    let mut board = Scoreboard::new(0, 1_000, true);
    board.sack(999, 1_000, |_| ());
    let mut sent = 0_u32;
    for round in 0..5 {
        board.find_losses();
        while let Some(seq) = board.next_lost() {
            board.on_retransmit(seq);
            sent += 1;
        }
        assert_eq!((board.pipe(), sent), (999, 999 * (round + 1)));
        board.on_new();
        board.sack(1_000 + round, 1_001 + round, |_| ());
    }
    board.find_losses();
    assert_eq!((board.pipe(), board.losses()), (0, 999 * 6));
}

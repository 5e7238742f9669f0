//! Adaptive video over a link of 10 Mbit/s, of which 9.6 are payload: what can be worked out by hand.

use bufferlab_simulator::{Control, NONE, Outcome, Plan, RateRule, SegmentTable, VideoPlan, run};
use bufferlab_transport::{AfterIdle, Recovery};

use crate::differential::assert_agreement;
use crate::scenes::{MS, S, dumbbell, tcp_of};

const SEGMENT_PS: u64 = 4 * S;

/// A video alone, whose round trip is 4 ms, for a minute.
fn video(ladder_kbps: &[u64], rule: RateRule, safety: f64) -> Plan {
    let mut plan = dumbbell(Recovery::Sack, 100, &[4]);
    plan.duration_ps = 60 * S;
    tcp_of(&mut plan).video = Some(Box::new(VideoPlan {
        segment_ps: SEGMENT_PS,
        ladder_bps: ladder_kbps.iter().map(|kbps| kbps * 1_000).collect(),
        buffer_ps: 12 * S,
        startup_ps: SEGMENT_PS,
        resume_ps: SEGMENT_PS,
        rule,
        safety,
        after_idle: AfterIdle::Keep,
    }));
    plan
}

fn outcome(plan: &Plan) -> Outcome {
    run(plan, &Control::default()).expect("the plan is within bounds")
}

/// The bitrates of a run's segments, kbit/s.
fn rates(segments: &SegmentTable) -> Vec<u64> {
    segments.bitrate_bps.iter().map(|bps| bps / 1_000).collect()
}

#[test]
fn the_highest_bitrate_below_the_safe_part_of_the_throughput_follows_the_lowest() {
    let ladder = [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000];
    // the first segment, of 1 Mbit/s, pays for the slow start, so a margin of 2 % below the link's 9.6 Mbit/s
    for (safety, wanted) in [(0.15, 1_000), (0.25, 2_000), (0.5, 4_000), (0.7, 6_000), (0.9, 8_000)] {
        let plan = video(&ladder, RateRule::Throughput, safety);
        let found = rates(&outcome(&plan).segments);
        assert!(found.len() > 12, "{found:?}");
        assert_eq!(found[0], 1_000);
        assert!(found[1..].iter().all(|&kbps| kbps == wanted), "{safety}: {found:?}");
        assert_agreement(&plan);
    }
}

#[test]
fn a_link_slower_than_the_lowest_bitrate_stalls_by_what_each_segment_takes_longer() {
    let plan = video(&[12_000], RateRule::Throughput, 0.9);
    let Outcome { segments, exchanges, .. } = outcome(&plan);
    // 6 MB in segments of 1000 bytes on the wire: 5 s, of which 4 are played meanwhile; and a round trip
    let shown: Vec<usize> = (0..segments.flow.len()).filter(|&row| segments.play_ps[row] != NONE).collect();
    assert_eq!(shown.len(), 11);
    for &row in &shown {
        let wanted_ps = if row == 0 { 5 * S } else { S };
        let more_ps = segments.stall_ps[row] - wanted_ps;
        assert!((2 * MS..20 * MS).contains(&more_ps), "segment {row}: {} ps", segments.stall_ps[row]);
        assert_eq!(segments.due_ps[row] + segments.stall_ps[row], segments.play_ps[row]);
        assert_eq!(segments.play_ps[row], exchanges.end_ps[row]);
    }
    // the last one stands still at the run's end
    let last = segments.flow.len() - 1;
    assert_eq!((last, segments.play_ps[last]), (11, NONE));
    assert_eq!(segments.stall_ps[last], plan.duration_ps.saturating_sub(segments.due_ps[last]));
    assert_agreement(&plan);
}

#[test]
fn a_full_buffer_asks_for_a_segment_as_one_is_played() {
    let plan = video(&[1_000], RateRule::Throughput, 0.9);
    let Outcome { segments, exchanges, .. } = outcome(&plan);
    assert!(segments.stall_ps[1..].iter().all(|&ps| ps == 0), "{:?}", segments.stall_ps);
    // two segments may be there when one is asked for: the third is wanted at once, the fourth when the first has been played
    let first_ps = segments.play_ps[0];
    for row in 3..segments.flow.len() {
        assert_eq!(exchanges.start_ps[row], first_ps + (row as u64 - 2) * SEGMENT_PS);
    }
    assert!(exchanges.start_ps[2] < first_ps + S);
    assert_agreement(&plan);
}

#[test]
fn playback_waits_for_as_much_as_it_needs() {
    let mut plan = video(&[1_000], RateRule::Throughput, 0.9);
    let prompt = outcome(&plan).segments.stall_ps[0];
    tcp_of(&mut plan).video.as_mut().unwrap().startup_ps = 12 * S;
    let Outcome { segments, exchanges, .. } = outcome(&plan);
    assert_eq!(segments.play_ps[0], exchanges.end_ps[2]);
    assert!(segments.stall_ps[0] > 2 * prompt, "{} ps, {prompt} ps", segments.stall_ps[0]);
    assert_agreement(&plan);
}

#[test]
fn bola_takes_the_highest_bitrate_that_the_link_sustains() {
    let ladder = [1_000, 2_000, 4_000, 8_000, 16_000];
    let plan = Plan { duration_ps: 300 * S, ..video(&ladder, RateRule::Bola, 0.9) };
    let played = outcome(&plan).segments;
    let found = rates(&played);
    // it begins as the throughput rule, and does not rise to what the link cannot sustain
    assert!(found[1..].iter().all(|&kbps| kbps == 8_000), "{found:?}");
    assert!(played.stall_ps[1..].iter().all(|&ps| ps == 0));
    assert_agreement(&plan);
}

#[test]
fn nothing_is_asked_for_after_the_stop_and_what_is_buffered_is_played() {
    let mut plan = video(&[1_000], RateRule::Throughput, 0.9);
    plan.flows.stop_ps[0] = 20 * S;
    let Outcome { segments, exchanges, .. } = outcome(&plan);
    assert!(exchanges.start_ps.iter().all(|&ps| ps < 20 * S));
    let last = segments.flow.len() - 1;
    assert!(segments.play_ps[last] > 20 * S && segments.play_ps[last] != NONE);
    assert!(segments.stall_ps[1..].iter().all(|&ps| ps == 0), "{:?}", segments.stall_ps);
    assert_agreement(&plan);
}

//! Links that vary, most of them on the grid of the other times.

use bufferlab_simulator::{
    CapacityPlan, DelayPiece, DelayPlan, LinkPlan, LossBurstsPlan, MarkovState, MemoryPlan, RatePiece,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::{MS, STEP_PS, jitter, moment};

/// What makes a link vary; nothing for most.
pub(super) type Varying = (Option<CapacityPlan>, Option<DelayPlan>, Option<LossBurstsPlan>);

pub(super) fn varying() -> impl Strategy<Value = Varying> {
    (
        option::weighted(0.3, capacity()),
        option::weighted(0.2, delays()),
        option::weighted(0.08, loss_bursts()),
    )
}

/// A link with these.
pub(super) fn with(link: LinkPlan, (capacity, varying_delay, loss_bursts): Varying) -> LinkPlan {
    LinkPlan { capacity, varying_delay, loss_bursts, ..link }
}

fn rate() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => prop_oneof![Just(5_000_000), Just(10_000_000), Just(20_000_000)],
        2 => Just(0),
        2 => 100_000..40_000_000_u64,
    ]
}

pub(crate) fn capacity() -> impl Strategy<Value = CapacityPlan> {
    prop_oneof![
        3 => rates(),
        3 => opportunities(),
        1 => (vec((rate(), MS..500 * MS), 1..4), 1_000_000..20_000_000_u64, MS..500 * MS).prop_map(
            |(states, rate_bps, stay_ps)| {
                let state = |(rate_bps, stay_ps)| MarkovState { rate_bps, stay_ps };
                let states = states.into_iter().map(state).chain([MarkovState { rate_bps, stay_ps }]);
                CapacityPlan::Markov { states: states.collect() }
            }
        ),
        1 => (5_000_000..40_000_000_u64, moment(10 * MS), moment(20 * MS), moment(20 * MS)).prop_map(
            |(rate_bps, on, off_low_ps, more)| CapacityPlan::Bursts {
                rate_bps,
                on_ps: on + STEP_PS,
                off_low_ps,
                off_high_ps: off_low_ps + more,
            }
        ),
        1 => (1_000_000..20_000_000_u64, 500..20_000_u64, 1..10_u64).prop_map(
            |(rate_bps, burst_bytes, times)| CapacityPlan::Bucket {
                rate_bps,
                burst_bytes,
                line_bps: rate_bps * times,
            }
        ),
    ]
}

fn rates() -> impl Strategy<Value = CapacityPlan> {
    let pieces = vec((rate(), moment(300 * MS)), 0..4);
    (pieces, 1_000_000..40_000_000_u64, moment(300 * MS), any::<bool>()).prop_map(
        |(pieces, last_bps, length, repeats)| {
            let mut at_ps = 0;
            let mut next = |rate_bps, length: u64| {
                let piece = RatePiece { at_ps, rate_bps };
                at_ps += length.max(STEP_PS);
                piece
            };
            let mut list: Vec<RatePiece> =
                pieces.into_iter().map(|(rate_bps, length)| next(rate_bps, length)).collect();
            list.push(next(last_bps, length));
            CapacityPlan::Rates { pieces: list, repeat_ps: if repeats { at_ps } else { 0 } }
        },
    )
}

/// Many of them, as a rate of some Mbit/s needs.
fn opportunities() -> impl Strategy<Value = CapacityPlan> {
    let bytes = prop_oneof![2 => Just(1504), 1 => 100..3_000_u32];
    (vec(0..4_u32, 1..100), bytes, 0..5_u32).prop_map(|(steps, bytes, more)| {
        let at_ms: Vec<u32> = steps
            .iter()
            .scan(0, |at, step| {
                *at += step;
                Some(*at)
            })
            .collect();
        let repeat_ms = (at_ms[at_ms.len() - 1] + more).max(1);
        CapacityPlan::Opportunities { at_ms, bytes, repeat_ms }
    })
}

fn delays() -> impl Strategy<Value = DelayPlan> {
    let pieces = vec((moment(200 * MS), moment(30 * MS)), 0..4);
    (pieces, any::<bool>(), jitter(), any::<bool>()).prop_map(|(pieces, repeats, jitter, reorders)| {
        let (mut at_ps, mut delays) = (0, Vec::new());
        for (length, more_ps) in pieces {
            delays.push(DelayPiece { at_ps, more_ps });
            at_ps += length.max(STEP_PS);
        }
        DelayPlan { delays, repeat_ps: if repeats { at_ps } else { 0 }, jitter, reorders }
    })
}

fn loss_bursts() -> impl Strategy<Value = LossBurstsPlan> {
    let chance = || prop_oneof![Just(0), Just(1_000_000_000), 0..=300_000_000_u32];
    (0..=20_000_000_u32, 50_000_000..=1_000_000_000_u32, chance(), 0..=2_000_000_u32).prop_map(
        |(begin_ppb, end_ppb, bad_ppb, good_ppb)| LossBurstsPlan { begin_ppb, end_ppb, bad_ppb, good_ppb },
    )
}

/// In a part of all plans the links share a memory, those that may.
pub(super) fn share_memories(links: &mut [LinkPlan], seed: u64) {
    if !seed.is_multiple_of(5) {
        return;
    }
    let alpha_ppm = [None, Some(500_000), Some(1_000_000), Some(4_000_000)][(seed / 5 % 4) as usize];
    let congested_bytes = [None, Some(3_000), Some(20_000)][(seed / 20 % 3) as usize];
    let memory = MemoryPlan { number: 7, bytes: 5_000 + seed / 20 % 40_000, alpha_ppm, congested_bytes };
    for link in links.iter_mut().filter(|link| MemoryPlan::holds(&link.discipline.config)) {
        link.memory = Some(memory);
    }
}

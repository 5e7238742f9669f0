//! Hosts that do something beside TCP.

use bufferlab_simulator::{CardPlan, HostPlan, LawPlan, SourcePlan};
use proptest::option;
use proptest::prelude::*;

use super::{Case, MS, STEP_PS, moment, plans};

/// Plans whose TCP hosts do something beside TCP.
pub(crate) fn hosted_plans() -> impl Strategy<Value = Case> {
    (plans(), [option::of(host()), option::of(host()), option::of(host())]).prop_map(
        |(Case(mut plan), hosts)| {
            for (group, host) in plan.groups.iter_mut().zip(hosts) {
                group.host = host.filter(|_| matches!(group.source, SourcePlan::Tcp(_)));
                group.access_bps = group.access_bps.filter(|_| group.host.is_none());
            }
            Case(plan)
        },
    )
}

fn host() -> impl Strategy<Value = HostPlan> {
    let rate = prop_oneof![Just(10_000_000), Just(40_000_000), 1_000_000..1_000_000_000_u64];
    let interrupt = prop_oneof![1 => Just(0), 3 => moment(3 * STEP_PS), 1 => moment(20 * MS)];
    let card = (rate, option::of(1_000..100_000_u64), interrupt)
        .prop_map(|(rate_bps, most_bytes, interrupt_ps)| CardPlan { rate_bps, most_bytes, interrupt_ps });
    let noise = prop_oneof![
        2 => Just(None),
        1 => moment(2 * MS).prop_map(|ps| Some(LawPlan::Exponential { mean: ps.max(1) })),
        1 => moment(2 * MS).prop_map(|ps| Some(LawPlan::Pareto { mean: ps.max(1), shape: 1.5 })),
    ];
    (option::of(card), 0..20_u16, noise).prop_map(|(card, quick_acks, noise)| HostPlan {
        card,
        quick_acks,
        noise,
    })
}

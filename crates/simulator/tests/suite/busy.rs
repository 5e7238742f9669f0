//! A link to which more is offered than it carries is busy, whatever discipline it has.

use bufferlab_qdisc::{DisciplineConfig, Limit};
use bufferlab_simulator::{Control, GroupPlan, Plan, QueuePlan, SourcePlan, UdpPlan, run};
use bufferlab_transport::{Recovery, UdpConfig, Variate};
use bufferlab_units::Span;
use proptest::prelude::*;

use crate::golden::link_row;
use crate::plans::{any_kind, config};
use crate::scenes::{MS, RATE_BPS, S, dumbbell};

/// What may remain idle.
const IDLE: f64 = 1e-3;

const DATAGRAM_BYTES: u32 = 1_000;

/// TCP flows and a constant stream of `load` times the link's rate, measured in the last of four seconds.
fn flooded(discipline: QueuePlan, rtts_ms: &[u64], load: f64) -> Plan {
    let mut plan = dumbbell(Recovery::Linux, 1, rtts_ms);
    (plan.duration_ps, plan.warmup_ps) = (4 * S, 3 * S);
    plan.links[0].discipline = discipline;
    let bits = f64::from(DATAGRAM_BYTES * 8);
    let interval = Span::from_ps((bits / (RATE_BPS as f64 * load) * S as f64) as u64);
    let (arrivals, sizes) = (Variate::Constant, Variate::Constant);
    let config = UdpConfig { packet_bytes: DATAGRAM_BYTES, header_bytes: 28, interval, arrivals, sizes };
    let source = SourcePlan::Udp(UdpPlan { config, echo: false, record: false });
    plan.groups.push(GroupPlan::new("flood", source, vec![0]));
    let columns = &mut plan.flows;
    columns.group.push(1);
    columns.start_ps.push(S);
    columns.stop_ps.push(u64::MAX);
    for column in [
        &mut columns.source_delay_ps,
        &mut columns.sink_delay_ps,
        &mut columns.return_delay_ps,
        &mut columns.home_delay_ps,
    ] {
        column.push(MS);
    }
    columns.home_delay_ps[rtts_ms.len()] = 0;
    columns.sample.push(false);
    plan
}

fn busy(plan: &Plan) -> f64 {
    let outcome = run(plan, &Control::default()).expect("the plan is within bounds");
    outcome.queues.busy_fraction[link_row(&outcome)]
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        3 => (5..=200_u64).prop_map(Limit::Packets),
        1 => (5_000..=200_000_u64).prop_map(Limit::Bytes),
        1 => Just(Limit::Unlimited),
    ]
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn a_link_is_busy_while_more_is_offered_than_it_carries(
        config in any_kind::<DisciplineConfig>(&[]),
        limit in limit(),
        rtts_ms in proptest::collection::vec(5..100_u64, 0..5),
        load in prop_oneof![1.05..2.0_f64, 2.0..20.0_f64],
    ) {
        let share = busy(&flooded(QueuePlan { limit, config }, &rtts_ms, load));
        prop_assert!(share >= 1.0 - IDLE, "{share}");
    }
}

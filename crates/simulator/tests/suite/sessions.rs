//! A session is the run, whatever steps it is taken in.

use bufferlab_parameters::Kinds as _;
use bufferlab_qdisc::{CodelConfig, DisciplineConfig, FifoConfig, FqCodelConfig, Limit, PieConfig};
use bufferlab_simulator::{Control, GroupCounters, LimitChange, LinkCounters, Outcome, Plan, Session, run};
use bufferlab_units::Span;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::laws::assert_conservation;
use crate::plans::{config, plans};

fn whole(plan: &Plan) -> Outcome {
    run(plan, &Control::default()).expect("the plan is within bounds")
}

fn session(plan: &Plan) -> Session {
    Session::new(plan).expect("the plan is within bounds")
}

/// Moments of a run as shares of a thousand, in order.
fn moments(plan: &Plan, shares: &[u64]) -> Vec<u64> {
    let mut moments: Vec<u64> = shares.iter().map(|share| plan.duration_ps / 1000 * share).collect();
    moments.sort_unstable();
    moments
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (1_u64..60).prop_map(Limit::Packets),
        (1_u64..60_000).prop_map(Limit::Bytes),
        Just(Limit::Unlimited),
    ]
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn steps_change_nothing(case in plans(), shares in vec(0_u64..1100, 0..8)) {
        let (plan, control) = (case.0, Control::default());
        let mut session = session(&plan);
        for moment in moments(&plan, &shares) {
            prop_assert!(session.advance(moment, &control));
            prop_assert_eq!(session.now_ps(), moment.min(plan.duration_ps));
            for link in 0..plan.links.len() {
                let counters = session.counters(link).unwrap();
                let groups = session.groups(link).unwrap();
                prop_assert_eq!(counters, session.counters(link).unwrap());
                let sum = |read: fn(&GroupCounters) -> u64| groups.iter().map(read).sum::<u64>();
                prop_assert_eq!(counters.arrived_packets, sum(|group| group.arrived_packets));
                prop_assert_eq!(counters.dropped_packets, sum(|group| group.dropped_packets));
                prop_assert_eq!(counters.departed_packets, sum(|group| group.departed_packets));
                prop_assert_eq!(counters.departed_bytes, sum(|group| group.departed_bytes));
            }
            for link in 0..plan.links.len() {
                prop_assert_eq!(session.sub_queues(link).unwrap(), session.sub_queues(link).unwrap());
                let order = session.groups_in_order(link).unwrap();
                for (group, counted) in session.groups(link).unwrap().iter().enumerate() {
                    let held = counted.arrived_packets - counted.dropped_packets - counted.departed_packets;
                    let shown = order.iter().filter(|&&of| usize::from(of) == group).count() as u64;
                    prop_assert!(order.is_empty() || shown == held, "{shown} of {held}");
                }
                let held = session.estimates(link).unwrap().map(|estimates| estimates.whole.backlog.packets);
                let waiting = session.counters(link).unwrap().backlog_packets;
                prop_assert_eq!(held.unwrap_or(waiting), waiting);
            }
            for flow in 0..plan.flows.group.len() {
                prop_assert_eq!(session.flow(flow).unwrap(), session.flow(flow).unwrap());
                let last = session.last_exchange_ps(flow).unwrap();
                prop_assert!(last.is_none_or(|last| last <= session.now_ps()));
            }
        }
        session.advance(u64::MAX, &control);
        prop_assert_eq!(session.finish(&control), whole(&plan));
    }

    #[test]
    fn limits_set_on_the_way_are_changes_of_the_plan(
        case in plans(),
        sets in vec((0_u64..1000, any::<prop::sample::Index>(), limit()), 1..6),
    ) {
        let mut sets = sets;
        sets.sort_by_key(|(share, ..)| *share);
        let (mut plan, control) = (case.0, Control::default());
        let mut session = session(&plan);
        for (share, link, limit) in sets {
            let (at_ps, link) = (plan.duration_ps / 1000 * share, link.index(plan.links.len()));
            session.advance(at_ps, &control);
            session.set_limit(link, limit).unwrap();
            let changes = &mut plan.links[link].changes;
            let place = changes.partition_point(|change| change.at_ps <= at_ps);
            changes.insert(place, LimitChange { at_ps, limit });
        }
        session.advance(u64::MAX, &control);
        prop_assert_eq!(session.finish(&control), whole(&plan));
    }

    #[test]
    fn the_parameters_that_a_link_has_change_nothing(case in plans(), share in 0_u64..1000) {
        let (plan, control) = (case.0, Control::default());
        let mut session = session(&plan);
        session.advance(plan.duration_ps / 1000 * share, &control);
        for (link, of_link) in plan.links.iter().enumerate() {
            let changes = matches!(of_link.discipline.config.word(), "codel" | "fq_codel" | "pie");
            prop_assert_eq!(session.set_discipline(link, &of_link.discipline.config).is_ok(), changes);
        }
        session.advance(u64::MAX, &control);
        prop_assert_eq!(session.finish(&control), whole(&plan));
    }

    #[test]
    fn counters_are_those_of_the_report(case in plans(), share in 0_u64..1000) {
        let plan = Plan { warmup_ps: 0, ..case.0 };
        let control = Control::default();
        let mut session = session(&plan);
        session.advance(plan.duration_ps / 1000 * share, &control);
        let counted: Vec<LinkCounters> =
            (0..plan.links.len()).map(|link| session.counters(link).unwrap()).collect();
        for counters in &counted {
            let gone = counters.departed_packets + counters.dropped_packets + counters.backlog_packets;
            prop_assert!(counters.arrived_packets == gone || counters.arrived_packets == gone + 1);
        }
        let outcome = session.finish(&control);
        prop_assert!(outcome.canceled);
        assert_conservation(&outcome);
        let rows = outcome.queues.group.iter().enumerate().filter(|(_, group)| **group == u32::MAX);
        for ((row, _), counters) in rows.zip(&counted) {
            prop_assert_eq!(outcome.queues.arrived_packets[row], counters.arrived_packets);
            prop_assert_eq!(outcome.queues.dropped_packets[row], counters.dropped_packets);
            prop_assert_eq!(outcome.queues.departed_packets[row], counters.departed_packets);
            prop_assert_eq!(outcome.queues.departed_bytes[row], counters.departed_bytes);
        }
    }
}

/// The plan of two flows with another discipline.
fn under(config: impl Into<DisciplineConfig>) -> Plan {
    let mut plan: Plan = serde_json::from_str(include_str!("../plans/two_flows.json")).unwrap();
    plan.links[0].discipline.config = config.into();
    plan
}

#[test]
fn a_target_set_before_the_first_packet_is_that_of_the_plan() {
    fn check<C: Clone + Into<DisciplineConfig>>(from: C, to: C) {
        let (mut changed, control) = (session(&under(from.clone())), Control::default());
        changed.set_discipline(0, &to.clone().into()).unwrap();
        changed.advance(u64::MAX, &control);
        let changed = changed.finish(&control);
        assert_eq!(changed, whole(&under(to)));
        assert_ne!(changed, whole(&under(from)));
    }
    let target = Span::from_us(200);
    let codel = CodelConfig { target, interval: Span::from_ms(5), ..CodelConfig::default() };
    check(CodelConfig::default(), codel);
    check(FqCodelConfig::default(), FqCodelConfig { codel, ..FqCodelConfig::default() });
    check(PieConfig::default(), PieConfig { target, ..PieConfig::default() });
}

#[test]
fn what_needs_a_queue_made_anew_is_refused() {
    let mut session = session(&under(FqCodelConfig::default()));
    let more = FqCodelConfig { flows: 7, ..FqCodelConfig::default() };
    let odd = FqCodelConfig { quantum_bytes: 0, ..FqCodelConfig::default() };
    for config in [CodelConfig::default().into(), FifoConfig::default().into(), more.into(), odd.into()] {
        let error = session.set_discipline(0, &config).unwrap_err();
        assert!(error.field.starts_with("discipline"), "{error}");
    }
    assert_eq!(session.set_discipline(9, &CodelConfig::default().into()).unwrap_err().field, "link");
}

#[test]
fn waits_on_the_way_are_those_of_the_report() {
    let (plan, control) = (under(CodelConfig::default()), Control::default());
    let mut session = session(&plan);
    session.advance(u64::MAX, &control);
    let waits = session.waits(0).unwrap();
    let table = session.finish(&control).histograms;
    let rows = (0..table.link.len()).filter(|&row| (table.link[row], table.group[row]) == (0, u32::MAX));
    let reported: Vec<(u64, u64)> = rows.map(|row| (table.upper_ps[row], table.count[row])).collect();
    assert!(reported.len() > 5);
    assert_eq!(waits, reported);
}

#[test]
fn a_look_at_a_flow_is_what_a_sample_says() {
    let mut plan: Plan = serde_json::from_str(include_str!("../plans/two_flows.json")).unwrap();
    plan.sample_interval_ps = plan.duration_ps / 50;
    plan.flows.sample = vec![true; plan.flows.group.len()];
    let samples = whole(&plan).sender_samples;
    assert!(samples.time_ps.len() >= 98);
    let control = Control::default();
    for flow in 0..plan.flows.group.len() {
        let mut session = session(&plan);
        for row in (0..samples.time_ps.len()).filter(|&row| samples.flow[row] as usize == flow) {
            // a sender's clock is behind by the way to its first link
            let moment = samples.time_ps[row] + plan.flows.source_delay_ps[flow];
            if moment >= plan.duration_ps {
                continue;
            }
            session.advance(moment, &control);
            let state = session.flow(flow).unwrap();
            assert_eq!(state.cwnd_segments, samples.cwnd_segments[row]);
            assert_eq!(state.srtt_ps, samples.srtt_ps[row]);
            assert_eq!(state.inflight_segments, samples.inflight_segments[row]);
            assert_eq!(state.retransmissions, samples.retransmissions[row]);
        }
        let state = session.flow(flow).unwrap();
        assert!(state.acknowledged_segments > 100);
        assert!(state.sent_packets >= state.acknowledged_segments);
    }
}

#[test]
fn a_canceled_session_stays_where_it_is() {
    let plan: Plan = serde_json::from_str(include_str!("../plans/two_flows.json")).unwrap();
    let mut session = session(&plan);
    assert!(session.advance(plan.duration_ps / 2, &Control::default()));
    let control = Control::default();
    control.cancel();
    assert!(!session.advance(plan.duration_ps, &control));
    let reached = session.now_ps();
    assert_eq!(reached, plan.duration_ps / 2);
    assert!(!session.advance(plan.duration_ps, &Control::default()));
    let outcome = session.finish(&Control::default());
    assert_eq!((outcome.canceled, outcome.reached_ps), (true, reached));
    assert_conservation(&outcome);
}

#[test]
fn what_a_session_does_not_have_is_an_error() {
    let plan: Plan = serde_json::from_str(include_str!("../plans/two_flows.json")).unwrap();
    let mut session = session(&plan);
    assert_eq!(session.counters(9).unwrap_err().field, "link");
    assert_eq!(session.flow(9).unwrap_err().field, "flow");
    assert_eq!(session.set_limit(9, Limit::Unlimited).unwrap_err().value, "9");
    let error = session.set_limit(0, Limit::Packets(0)).unwrap_err();
    assert_eq!(error.to_string(), "plan: limit.packets: 0 is not accepted; accepted: 1 to 1099511627776");
    let broken = Plan { duration_ps: 0, ..plan };
    assert!(Session::new(&broken).is_err());
}

//! Queue disciplines.

use bufferlab_simulator::{
    ClassesPlan, ControlLawPlan, DisciplinePlan, LimitPlan, MeanPlan, RttPlan, ThresholdsPlan,
};
use proptest::option;
use proptest::prelude::*;

use super::{MS, limit, moment};

pub(super) fn discipline() -> impl Strategy<Value = DisciplinePlan> {
    let mark_above = prop_oneof![
        1 => Just(None),
        4 => (0..4_u64).prop_map(|packets| Some(LimitPlan::Packets(packets))),
        2 => (0..4_000_u64).prop_map(|bytes| Some(LimitPlan::Bytes(bytes))),
    ];
    let fifo =
        (limit(), mark_above).prop_map(|(limit, mark_above)| DisciplinePlan::Fifo { limit, mark_above });
    // within a few packets' times of each other, so that runs of a second or two drop and mark
    let law = prop_oneof![2 => Just(ControlLawPlan::Rfc), 1 => Just(ControlLawPlan::Linux)];
    let signals = (any::<bool>(), option::of(moment(8 * MS)));
    let codel = (limit(), moment(4 * MS), moment(20 * MS), signals, law).prop_map(
        |(limit, target_ps, interval_ps, (ecn, ce_threshold_ps), control_law)| DisciplinePlan::Codel {
            limit,
            target_ps,
            interval_ps: interval_ps.max(1),
            ecn,
            ce_threshold_ps,
            control_law,
        },
    );
    let drr = (limit(), 256..3_000_u32)
        .prop_map(|(limit, quantum_bytes)| DisciplinePlan::Drr { limit, quantum_bytes });
    prop_oneof![4 => fifo, 3 => codel, 1 => drr, 1 => red(), 1 => pie(), 1 => fq_codel(), 2 => splitbuff()]
}

fn red() -> impl Strategy<Value = DisciplinePlan> {
    let thresholds = prop_oneof![
        (1..8_u64, 1..8_u64)
            .prop_map(|(min, more)| (LimitPlan::Packets(min), LimitPlan::Packets(min + more))),
        (1..8_000_u64, 1..8_000_u64)
            .prop_map(|(min, more)| (LimitPlan::Bytes(min), LimitPlan::Bytes(min + more))),
    ];
    let weight = option::of((0..=10_u32).prop_map(|tenths| f64::from(tenths) / 10.0));
    let max_p = (0..=10_u32).prop_map(|tenths| f64::from(tenths) / 10.0);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (limit(), thresholds, weight, max_p, flags, 1..2_000_u32).prop_map(
        |(
            limit,
            (min_threshold, max_threshold),
            weight,
            max_p,
            (gentle, adaptive, ecn),
            mean_packet_bytes,
        )| {
            DisciplinePlan::Red {
                limit,
                min_threshold,
                max_threshold,
                weight,
                max_p,
                gentle,
                adaptive,
                ecn,
                mean_packet_bytes,
            }
        },
    )
}

fn pie() -> impl Strategy<Value = DisciplinePlan> {
    (limit(), moment(4 * MS), moment(20 * MS), (0..20_u32, 0..200_u32), moment(40 * MS), any::<bool>())
        .prop_map(|(limit, target_ps, t_update_ps, (alpha, beta), max_burst_ps, ecn)| DisciplinePlan::Pie {
            limit,
            target_ps,
            t_update_ps: t_update_ps.max(MS),
            alpha: f64::from(alpha),
            beta: f64::from(beta),
            max_burst_ps,
            ecn,
        })
}

fn fq_codel() -> impl Strategy<Value = DisciplinePlan> {
    // of few queues some are shared
    let queues = (1..9_u32, 256..3_000_u32, 1..9_u32);
    let law = prop_oneof![Just(ControlLawPlan::Rfc), Just(ControlLawPlan::Linux)];
    (limit(), queues, moment(4 * MS), moment(20 * MS), any::<bool>(), (option::of(moment(8 * MS)), law))
        .prop_map(
            |(
                limit,
                (flows, quantum_bytes, drop_batch),
                target_ps,
                interval_ps,
                ecn,
                (ce_threshold_ps, control_law),
            )| {
                DisciplinePlan::FqCodel {
                    limit,
                    flows,
                    quantum_bytes,
                    drop_batch,
                    target_ps,
                    interval_ps: interval_ps.max(1),
                    ecn,
                    ce_threshold_ps,
                    control_law,
                }
            },
        )
}

fn splitbuff() -> impl Strategy<Value = DisciplinePlan> {
    let information = prop_oneof![
        Just(RttPlan::Oracle),
        Just(RttPlan::Header),
        (1..=12_u32).prop_map(|bits| RttPlan::Quantized { bits }),
        (1..9_u32).prop_map(|flows| RttPlan::Syn { flows }),
        (1..9_u32).prop_map(|flows| RttPlan::Timestamps { flows }),
    ];
    let classes = prop_oneof![
        1 => Just(ClassesPlan::Random),
        5 => information.prop_map(|information| ClassesPlan::Rtt { information }),
    ];
    let beyond = (
        prop_oneof![Just(ThresholdsPlan::Mean), Just(ThresholdsPlan::Gaps)],
        prop_oneof![Just(0.0), Just(0.25)],
        prop_oneof![Just(MeanPlan::Packets), Just(MeanPlan::Flows)],
        any::<bool>(),
    );
    (limit(), 1..=8_u32, moment(100 * MS), 0..=4_u32, classes, beyond, 1..=8_u64).prop_map(
        |(limit, sub_buffers, update_ps, quarters, classes, beyond, part)| DisciplinePlan::Splitbuff {
            limit,
            sub_buffers,
            update_ps: update_ps.max(1),
            smoothing: f64::from(quarters) / 4.0,
            classes,
            thresholds: beyond.0,
            hysteresis: beyond.1,
            mean: beyond.2,
            weighted: beyond.3,
            first_update_ps: (part > 1).then(|| (update_ps / part).max(1)),
        },
    )
}

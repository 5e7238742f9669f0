//! What TCP sources have to send.

use bufferlab_simulator::{LawPlan, OnOffPlan, OnPlan, RateRule, VideoPlan};
use bufferlab_transport::{AfterIdle, Offload, StatedIn, TcpConfig};
use bufferlab_units::Span;
use proptest::prelude::*;

use super::{MS, moment};

/// What a TCP source has to send: one of them, or none for data without end.
pub(super) type Data = (Option<u64>, Option<OnOffPlan>, Option<VideoPlan>);

/// A transfer, or bursts, or a video, or data without end; a configuration that says whether it is paced, and its window tuned, and how
/// many segments a packet holds.
pub(super) fn data() -> impl Strategy<Value = (Data, TcpConfig)> {
    let data = prop_oneof![
        3 => Just((None, None, None)),
        1 => (1..100_000_u64).prop_map(|bytes| (Some(bytes), None, None)),
        1 => on_off().prop_map(|on_off| (None, Some(on_off), None)),
        1 => video().prop_map(|video| (None, None, Some(video))),
    ];
    let switches =
        (prop_oneof![2 => Just(false), 1 => Just(true)], prop_oneof![9 => Just(false), 1 => Just(true)]);
    (data, switches, offload(), stated()).prop_map(
        |(data, (paced, tuned_window), offload, (stated_rtt, stated_in))| {
            let stated_rtt = stated_rtt.filter(|_| !tuned_window);
            let config =
                TcpConfig { paced, tuned_window, offload, stated_rtt, stated_in, ..TcpConfig::default() };
            (data, config)
        },
    )
}

fn stated() -> impl Strategy<Value = (Option<Span>, StatedIn)> {
    let rtt = prop_oneof![9 => Just(None), 1 => (1..500_u64).prop_map(|ms| Some(Span::from_ms(ms)))];
    (rtt, prop_oneof![Just(StatedIn::Header), Just(StatedIn::Timestamps), Just(StatedIn::Handshake)])
}

fn offload() -> impl Strategy<Value = Option<Offload>> {
    let segments = prop_oneof![2..=8_u32, 1..=44_u32];
    prop_oneof![
        14 => Just(None),
        2 => segments.prop_map(|segments| Some(Offload::Segments(segments))),
        1 => Just(Some(Offload::Auto)),
    ]
}

/// Times of which many are longer than a timeout, and as many shorter than a round trip.
fn on_off() -> impl Strategy<Value = OnOffPlan> {
    let law = |most: u64| {
        let value = move || 1..=most;
        prop_oneof![
            value().prop_map(|value| LawPlan::Constant { value }),
            value().prop_map(|mean| LawPlan::Exponential { mean }),
            (value(), 11..30_u32)
                .prop_map(|(mean, tenths)| LawPlan::Pareto { mean, shape: f64::from(tenths) / 10.0 }),
        ]
    };
    let on = prop_oneof![law(200 * MS).prop_map(OnPlan::TimePs), law(60_000).prop_map(OnPlan::Bytes),];
    let off = prop_oneof![
        law(50 * MS),
        law(1_000 * MS),
        moment(500 * MS).prop_map(|ps| LawPlan::Constant { value: ps.max(1) })
    ];
    let after = prop_oneof![Just(AfterIdle::Keep), Just(AfterIdle::Restart), Just(AfterIdle::Decay)];
    (on, off, after, any::<bool>()).prop_map(|(on, off_ps, after_idle, fetch)| OnOffPlan {
        on,
        off_ps,
        after_idle,
        fetch: fetch && matches!(on, OnPlan::Bytes(_)),
    })
}

/// Segments that are far shorter than real ones, as runs are, with buffers of a few and of many; BOLA's levels are met with
/// long buffers only.
fn video() -> impl Strategy<Value = VideoPlan> {
    let ladder = prop::collection::btree_set(10_000..3_000_000_u64, 1..6);
    let rule = prop_oneof![Just(RateRule::Throughput), Just(RateRule::Bola)];
    let segment = prop_oneof![3 => 10 * MS..200 * MS, 1 => 1_000 * MS..20_000 * MS];
    let parts = (1.0..40.0_f64, 0.0..1.0_f64, 0.0..1.0_f64, 2..=10_u32);
    let after = prop_oneof![Just(AfterIdle::Keep), Just(AfterIdle::Restart), Just(AfterIdle::Decay)];
    (ladder, rule, segment, parts, after).prop_map(
        |(ladder, rule, segment_ps, (buffer, startup, resume, safety), after_idle)| {
            let buffer_ps = (segment_ps as f64 * buffer) as u64;
            let part = |share: f64| ((buffer_ps as f64 * share) as u64).max(1);
            VideoPlan {
                segment_ps,
                ladder_bps: ladder.into_iter().collect(),
                buffer_ps,
                startup_ps: part(startup),
                resume_ps: part(resume),
                rule,
                safety: f64::from(safety) / 10.0,
                after_idle,
            }
        },
    )
}

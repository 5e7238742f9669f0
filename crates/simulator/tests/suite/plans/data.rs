//! What TCP sources have to send.

use bufferlab_simulator::{LawPlan, OnOffPlan, OnPlan};
use bufferlab_transport::{AfterIdle, Offload, StatedIn, TcpConfig};
use bufferlab_units::Span;
use proptest::prelude::*;

use super::{MS, moment};

/// A transfer, or bursts, or data without end; a configuration that says whether it is paced, and its window tuned, and how
/// many segments a packet holds.
pub(super) fn data() -> impl Strategy<Value = (Option<u64>, Option<OnOffPlan>, TcpConfig)> {
    let data = prop_oneof![
        3 => Just((None, None)),
        1 => (1..100_000_u64).prop_map(|bytes| (Some(bytes), None)),
        1 => on_off().prop_map(|on_off| (None, Some(on_off))),
    ];
    let switches =
        (prop_oneof![2 => Just(false), 1 => Just(true)], prop_oneof![9 => Just(false), 1 => Just(true)]);
    (data, switches, offload(), stated()).prop_map(
        |((bytes, on_off), (paced, tuned_window), offload, (stated_rtt, stated_in))| {
            let stated_rtt = stated_rtt.filter(|_| !tuned_window);
            let config =
                TcpConfig { paced, tuned_window, offload, stated_rtt, stated_in, ..TcpConfig::default() };
            (bytes, on_off, config)
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

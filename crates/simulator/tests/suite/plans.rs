//! Random plans, small enough for the slow engine, and likely to make events coincide.

mod data;
mod hosts;
mod kinds;
mod queues;
mod varying;

use std::fmt;

use bufferlab_congestion::{Bbr1Config, Bbr3Config, CongestionConfig};
use bufferlab_qdisc::Limit;
use bufferlab_simulator::{
    FlowColumns, GroupPlan, JitterPlan, LimitChange, LinkPlan, Plan, SourcePlan, TcpPlan, UdpPlan,
};
use bufferlab_transport::{CallConfig, EcnUse, Recovery, TcpConfig, UdpConfig, Variate};
use bufferlab_units::Span;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use data::data;
pub(crate) use hosts::hosted_plans;
pub(crate) use kinds::any_kind;
use queues::discipline;
pub(crate) use varying::capacity;
use varying::{share_memories, varying, with};

/// A plan that a failing test prints as JSON, to be kept in `tests/plans` and run by `examples/plan.rs`.
#[derive(Clone, PartialEq)]
pub(crate) struct Case(pub(crate) Plan);

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(&self.0).map_err(|_| fmt::Error)?)
    }
}

const MS: u64 = 1_000_000_000;
/// 1000 bytes at 10 Mbit/s. Delays are often a multiple, so that packets often meet.
const STEP_PS: u64 = 800_000_000;
const MAX_LINKS: usize = 3;
const MAX_GROUPS: usize = 3;
const MAX_FLOWS: usize = 6;

/// Settings of the heavier properties: `PROPTEST_CASES` and `PROPTEST_RNG_SEED` make a longer campaign.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    ProptestConfig {
        cases: number("PROPTEST_CASES").map_or(cases, |cases| cases as u32),
        rng_seed: proptest::test_runner::RngSeed::Fixed(number("PROPTEST_RNG_SEED").unwrap_or(1)),
        failure_persistence: None,
        max_shrink_time: 60_000,
        ..ProptestConfig::default()
    }
}

/// Plans with everything that a plan can ask for.
pub(crate) fn plans() -> impl Strategy<Value = Case> {
    let network = (vec(link(), 1..=MAX_LINKS), vec(group(), 1..=MAX_GROUPS), vec(flow(), 1..=MAX_FLOWS));
    let duration = prop_oneof![9 => moment(3_000 * MS).prop_map(|ps| ps + 1_000 * MS), 1 => moment(100 * MS)];
    let warmup = (any::<prop::sample::Index>(), prop_oneof![3 => Just(STEP_PS), 1 => Just(1)]);
    let run = (any::<u64>(), duration, warmup, sample_interval());
    (network, run).prop_map(|((links, groups, flows), (seed, duration, warmup, sample_interval_ps))| {
        let duration_ps = duration.max(1);
        let mut plan = Plan {
            version: Plan::VERSION,
            seed,
            duration_ps,
            warmup_ps: warmup.0.index(duration_ps as usize) as u64 / warmup.1 * warmup.1,
            sample_interval_ps,
            links,
            groups,
            flows: FlowColumns::default(),
        };
        let links = plan.links.len() as u32;
        for group in &mut plan.groups {
            group.forward.iter_mut().chain(&mut group.reverse).for_each(|link| *link %= links);
        }
        share_memories(&mut plan.links, seed);
        for flow in flows {
            push_flow(&mut plan, &flow);
        }
        Case(plan)
    })
}

/// Plans whose senders keep a pace, most of them with nothing between host and link that waits.
pub(crate) fn paced_plans() -> impl Strategy<Value = Case> {
    (plans(), [0..3_u8, 0..3, 0..3], any::<bool>()).prop_map(|(Case(mut plan), paces, linux)| {
        let plain = !plan.seed.is_multiple_of(4);
        for (group, pace) in plan.groups.iter_mut().zip(paces) {
            if let SourcePlan::Tcp(tcp) = &mut group.source {
                match pace {
                    0 => tcp.congestion = Bbr1Config {}.into(),
                    1 => tcp.congestion = Bbr3Config {}.into(),
                    _ => tcp.config.paced = true,
                }
                let preferred = if linux { Recovery::Linux } else { tcp.config.recovery };
                tcp.config.recovery = recovery_for(&tcp.congestion, preferred);
                tcp.config.ecn = ecn_for(&tcp.congestion, tcp.config.recovery, tcp.config.ecn);
                tcp.on_off = tcp.on_off.filter(|_| !plain);
                tcp.video = tcp.video.take().filter(|_| !plain);
                tcp.config.offload = tcp.config.offload.filter(|_| !plain);
            }
            if plain {
                (group.jitter, group.access_bps) = (JitterPlan::None, None);
            }
        }
        Case(plan)
    })
}

/// A moment or a span up to `max` ps, often on the grid.
fn moment(max: u64) -> impl Strategy<Value = u64> {
    prop_oneof![
        6 => (0..=max / STEP_PS).prop_map(|steps| steps * STEP_PS),
        2 => 0..=max,
        1 => Just(0),
    ]
}

fn sample_interval() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), (1..100_u64).prop_map(|steps| steps * 10 * STEP_PS), 8 * MS..2_000 * MS]
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        4 => (1..=30_u64).prop_map(Limit::Packets),
        2 => (500..=30_000_u64).prop_map(Limit::Bytes),
        1 => Just(Limit::Unlimited),
    ]
}

fn changes() -> impl Strategy<Value = Vec<LimitChange>> {
    let change = (moment(1_000 * MS), limit()).prop_map(|(at_ps, limit)| LimitChange { at_ps, limit });
    let some = vec(change, 1..=3).prop_map(|mut changes| {
        changes.sort_by_key(|change| change.at_ps);
        changes
    });
    prop_oneof![3 => Just(Vec::new()), 1 => some]
}

fn link() -> impl Strategy<Value = LinkPlan> {
    let rate = prop_oneof![
        4 => Just(10_000_000),
        2 => prop_oneof![Just(5_000_000), Just(20_000_000)],
        2 => 100_000..40_000_000_u64,
    ];
    let loss = prop_oneof![25 => Just(0), 8 => 1..=50_000_000_u32, 1 => Just(1_000_000_000)];
    (rate, moment(20 * MS), discipline(), loss, changes(), any::<bool>(), varying()).prop_map(
        |(rate_bps, delay_ps, discipline, loss_ppb, changes, sample, varying)| {
            let link = LinkPlan::new(rate_bps, delay_ps, discipline);
            with(LinkPlan { loss_ppb, changes, sample, ..link }, varying)
        },
    )
}

fn group() -> impl Strategy<Value = GroupPlan> {
    let source = prop_oneof![
        8 => tcp().prop_map(SourcePlan::Tcp),
        2 => udp().prop_map(SourcePlan::Udp),
        1 => call().prop_map(SourcePlan::VideoCall),
    ];
    let path = || prop_oneof![3 => vec(0..6_u32, 1), 2 => vec(0..6_u32, 2..=4)];
    let reverse = prop_oneof![Just(Vec::new()), path()];
    let access = prop_oneof![
        3 => Just(None),
        1 => prop_oneof![Just(10_000_000), 1_000_000..100_000_000_u64].prop_map(Some),
    ];
    let dscp = prop_oneof![Just(0), Just(8), Just(46), 0..64_u8];
    let host = || prop_oneof![Just(None), (0..2_u32).prop_map(Some)];
    (source, path(), reverse, jitter(), access, (dscp, host(), host())).prop_map(
        |(source, forward, reverse, jitter, access_bps, (dscp, sender, receiver))| {
            let group = GroupPlan::new("", source, forward);
            GroupPlan { reverse, jitter, access_bps, dscp, sender, receiver, ..group }
        },
    )
}

fn jitter() -> impl Strategy<Value = JitterPlan> {
    prop_oneof![
        4 => Just(JitterPlan::None),
        1 => (moment(4 * MS), moment(2 * MS))
            .prop_map(|(low_ps, more)| JitterPlan::Uniform { low_ps, high_ps: low_ps + more }),
        // in effect a constant
        1 => (1..4_u64).prop_map(|steps| {
            JitterPlan::Uniform { low_ps: steps * STEP_PS, high_ps: steps * STEP_PS }
        }),
        1 => moment(5 * MS).prop_map(|mean_ps| JitterPlan::Exponential { mean_ps }),
    ]
}

fn recovery() -> impl Strategy<Value = Recovery> {
    prop_oneof![
        Just(Recovery::Tahoe),
        Just(Recovery::Reno),
        Just(Recovery::NewReno),
        Just(Recovery::Sack),
        Just(Recovery::Linux),
        Just(Recovery::Quic),
        Just(Recovery::SackNs2),
    ]
}

/// The one that most flows have, and those that listen to marks.
const CONTROLS: [(&str, f64); 3] = [("reno", 0.55), ("dctcp", 0.9), ("prague", 0.4)];

fn recovery_for(congestion: &CongestionConfig, recovery: Recovery) -> Recovery {
    if congestion.needs_rates() && !recovery.computes_pipe() { Recovery::Sack } else { recovery }
}

fn ecn() -> impl Strategy<Value = EcnUse> {
    prop_oneof![
        3 => Just(EcnUse::Off),
        1 => Just(EcnUse::Classic),
        1 => Just(EcnUse::Abe),
        1 => Just(EcnUse::L4s),
    ]
}

/// What goes with the control and the recovery.
pub(crate) fn ecn_for(congestion: &CongestionConfig, recovery: Recovery, preferred: EcnUse) -> EcnUse {
    match preferred {
        _ if recovery.is_ns2() || recovery == Recovery::LinuxNs2 => EcnUse::Off,
        EcnUse::L4s if congestion.uses_ecn() => EcnUse::L4s,
        EcnUse::L4s => EcnUse::Classic,
        _ if congestion.uses_ecn() => EcnUse::Off,
        EcnUse::Abe if !congestion.has_mild_marks() => EcnUse::Classic,
        preferred => preferred,
    }
}

/// Segment, header and acknowledgment sizes, bytes.
fn sizes() -> impl Strategy<Value = (u32, u32, u32)> {
    prop_oneof![
        3 => Just((960, 40, 40)),
        1 => Just((1_000, 0, 1_000)),
        2 => (100..1_461_u32, 0..61_u32, 1..101_u32),
    ]
}

/// Least, longest and first retransmission timeout, and the clock, ps.
fn timers() -> impl Strategy<Value = (Span, Span, Span, Span)> {
    let min = prop_oneof![Just(200 * MS), Just(1_000 * MS), MS..300 * MS];
    let clock = prop_oneof![3 => Just(1), 2 => Just(10 * MS), 1 => Just(100 * MS), 1 => 1..200 * MS];
    (min, moment(60_000 * MS), MS..1_000 * MS, clock)
        .prop_map(|(min, more, initial, clock)| [min, min + more, initial, clock].map(Span::from_ps).into())
}

fn tcp() -> impl Strategy<Value = TcpPlan> {
    let window = (1..=20_u32, option::of(1..=30_u32), prop_oneof![Just(100_000), 1..=64_u64]);
    let acks = (prop_oneof![3 => Just(1), 2 => Just(2), 1 => 3..=5_u32], moment(200 * MS));
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), ecn());
    (any_kind(&CONTROLS), recovery(), sizes(), window, acks, timers(), switches, data()).prop_map(
        |(
            congestion,
            recovery,
            sizes,
            window,
            acks,
            timers,
            switches,
            ((transfer_bytes, on_off, video), config),
        )| {
            TcpPlan {
                config: TcpConfig {
                    recovery: recovery_for(&congestion, recovery),
                    mss_bytes: sizes.0,
                    header_bytes: sizes.1,
                    ack_bytes: sizes.2,
                    initial_window: window.0,
                    initial_ssthresh: window.1,
                    receive_window_bytes: window.2 * u64::from(sizes.0),
                    ack_every: acks.0,
                    ack_delay: Span::from_ps(acks.1),
                    min_rto: timers.0,
                    rto_margin: if switches.0 { timers.0 } else { Span::ZERO },
                    max_rto: timers.1,
                    initial_rto: timers.2,
                    clock: timers.3,
                    timestamps: switches.0,
                    limited_transmit: switches.1,
                    handshake: switches.2,
                    ecn: ecn_for(&congestion, recovery_for(&congestion, recovery), switches.3),
                    ..config
                },
                congestion,
                transfer_bytes,
                on_off,
                video: video.map(Box::new),
            }
        },
    )
}

fn udp() -> impl Strategy<Value = UdpPlan> {
    let law = || prop_oneof![Just(Variate::Constant), Just(Variate::Exponential)];
    let interval = prop_oneof![(1..20_u64).prop_map(|steps| steps * STEP_PS), MS / 2..20 * MS];
    (1..=1_500_u32, 0..=40_u32, interval, law(), law(), 0..3_u32).prop_map(
        |(packet_bytes, header_bytes, interval_ps, arrivals, sizes, kind)| UdpPlan {
            config: UdpConfig {
                packet_bytes,
                header_bytes: header_bytes.min(packet_bytes),
                interval: Span::from_ps(interval_ps),
                arrivals,
                sizes,
            },
            echo: kind == 1,
            record: kind == 2,
        },
    )
}

/// Frames come far more often than real ones, so that short runs have many.
fn call() -> impl Strategy<Value = CallConfig> {
    let rates = (20_000..500_000_u64, 1..4_u64, 1..10_u64);
    let deviation = prop_oneof![Just(0.0), (0..40_u32).prop_map(|percent| f64::from(percent) / 100.0)];
    let report = prop_oneof![Just(1), moment(100 * MS)];
    (rates, (1..40_u64).prop_map(|steps| steps * MS), deviation, (200..=1_500_u32, 0..=60_u32), report)
        .prop_map(|((min_bps, start, max), frame_ps, deviation, (packet_bytes, header_bytes), report_ps)| {
            CallConfig {
                min_bps,
                start_bps: min_bps * start,
                max_bps: min_bps * start * max,
                frame_ps,
                deviation,
                packet_bytes,
                header_bytes,
                report_ps: report_ps.max(1),
                report_bytes: 80,
            }
        })
}

/// A flow before it has a place in a network.
#[derive(Clone, Debug)]
struct Flow {
    group: usize,
    start_ps: u64,
    stop_ps: u64,
    delays_ps: [u64; 4],
    sample: bool,
    /// A transfer of its own, if its group is of TCP.
    transfer_bytes: Option<u64>,
    /// It returns what another flow of its group brings, if there is one.
    echoes: bool,
}

fn flow() -> impl Strategy<Value = Flow> {
    let stop = prop_oneof![4 => Just(u64::MAX), 1 => moment(3_000 * MS)];
    let delay = || moment(10 * MS);
    let delays = [delay(), delay(), delay(), delay()];
    let transfer = prop_oneof![3 => Just(None), 1 => (1..50_000_u64).prop_map(Some)];
    let echoes = prop_oneof![3 => Just(false), 1 => Just(true)];
    (0..6_usize, moment(300 * MS), stop, delays, any::<bool>(), transfer, echoes).prop_map(
        |(group, start_ps, stop_ps, delays_ps, sample, transfer_bytes, echoes)| Flow {
            group,
            start_ps,
            stop_ps,
            delays_ps,
            sample,
            transfer_bytes,
            echoes,
        },
    )
}

fn push_flow(plan: &mut Plan, flow: &Flow) {
    let group = flow.group % plan.groups.len();
    let [source, sink, back, home] = flow.delays_ps;
    let columns = &mut plan.flows;
    columns.group.push(group as u32);
    columns.start_ps.push(flow.start_ps);
    columns.stop_ps.push(flow.stop_ps);
    columns.source_delay_ps.push(source);
    columns.sink_delay_ps.push(sink);
    columns.return_delay_ps.push(back);
    columns.home_delay_ps.push(if plan.groups[group].reverse.is_empty() { 0 } else { home });
    columns.sample.push(flow.sample);
    let may = matches!(&plan.groups[group].source, SourcePlan::Tcp(tcp) if !tcp.is_by_turns());
    let own = flow.transfer_bytes.filter(|_| may);
    // where no flow has its own the column may be missing
    if own.is_some() || !columns.transfer_bytes.is_empty() {
        columns.transfer_bytes.resize(columns.group.len() - 1, u64::MAX);
        columns.transfer_bytes.push(own.unwrap_or(u64::MAX));
    }
    let this = columns.group.len() - 1;
    let free = |of: &usize| columns.group[*of] == group as u32 && !columns.echo_of.contains(&(*of as u32));
    let of = (0..this).rev().find(free).filter(|_| may && flow.echoes);
    if of.is_some() || !columns.echo_of.is_empty() {
        columns.echo_of.resize(this, u32::MAX);
        columns.echo_of.push(of.map_or(u32::MAX, |of| of as u32));
    }
}

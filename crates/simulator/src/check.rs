//! Whether a plan can be run: every bound that the engine's integers and indices rely on.

mod data;

use std::fmt::Display;

use bufferlab_qdisc::{MAX_RTT_BITS, MAX_SUB_BUFFERS};

use data::{check_echoes, check_law, check_offload, check_transfers};

use crate::plan::{
    ClassesPlan, CongestionPlan, DisciplinePlan, FlowColumns, GroupPlan, JitterPlan, LimitPlan, LinkPlan,
    OnPlan, Plan, RecoveryPlan, RttPlan, SourcePlan, TcpPlan, UdpPlan,
};

/// Longest run and longest delay of a path, ps: 100,000 s, so that sums stay far below the type's bound.
const MAX_PS: u64 = 100_000_000_000_000_000;
/// Fastest link: a byte takes at least a picosecond.
const MAX_BPS: u64 = 8_000_000_000_000;
/// Largest packet on the wire, bytes.
const MAX_WIRE_BYTES: u32 = 1_000_000;
/// Most flows.
const MAX_FLOWS: usize = 4_000_000;
/// Most links on a path; a packet counts them in a byte.
const MAX_HOPS: usize = 255;
/// Largest window, segments.
const MAX_WINDOW: u64 = 1 << 30;
/// Most segments of a flow: sequence numbers are 32 bits wide.
const MAX_SEGMENTS: u128 = 1 << 31;
/// Most flows that a passive estimator remembers.
const MAX_TABLE_FLOWS: u32 = 1 << 22;
/// Least quantum of a round, bytes (Linux's for FQ-CoDel): a packet waits for a bounded number of rounds.
const MIN_QUANTUM_BYTES: u32 = 256;
/// Most queues of hashed flows (Linux's for FQ-CoDel).
const MAX_HASHED_QUEUES: u32 = 1 << 16;
/// Least time between updates of PIE, ps: 1 ms, so that making up for a slow link's is quick.
const MIN_UPDATE_PS: u64 = 1_000_000_000;
/// Largest gain of PIE, 1/s.
const MAX_GAIN: f64 = 1_000.0;
/// Most samples of one component.
const MAX_SAMPLES: u64 = 100_000_000;

/// A plan that cannot be run: which field, its value and what is accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("plan: {field}: {value} is not accepted; accepted: {accepted}")]
pub struct PlanError {
    /// Path of the field.
    pub field: String,
    /// What it holds.
    pub value: String,
    /// What it may hold.
    pub accepted: String,
}

type Checked = Result<(), PlanError>;

fn require(holds: bool, field: impl Into<String>, value: impl Display, accepted: impl Display) -> Checked {
    let error =
        || PlanError { field: field.into(), value: format!("{value}"), accepted: format!("{accepted}") };
    if holds { Ok(()) } else { Err(error()) }
}

fn within<T: PartialOrd + Display + Copy>(value: T, low: T, high: T, field: String) -> Checked {
    let accepted = format!("{low} to {high}");
    require(low <= value && value <= high, field, value, accepted)
}

/// Checks everything that [`crate::run`] relies on.
///
/// # Errors
/// The first field found that is out of bounds.
pub(crate) fn check(plan: &Plan) -> Checked {
    within(plan.version, Plan::VERSION, Plan::VERSION, "version".into())?;
    within(plan.duration_ps, 1, MAX_PS, "duration_ps".into())?;
    within(plan.warmup_ps, 0, plan.duration_ps - 1, "warmup_ps".into())?;
    let sampled = plan.sample_interval_ps == 0 || plan.duration_ps / plan.sample_interval_ps <= MAX_SAMPLES;
    let accepted = format!("0, or an interval that gives at most {MAX_SAMPLES} samples");
    require(sampled, "sample_interval_ps", plan.sample_interval_ps, accepted)?;
    within(plan.links.len(), 1, 65_536, "links (count)".into())?;
    within(plan.groups.len(), 1, 65_536, "groups (count)".into())?;
    for (index, link) in plan.links.iter().enumerate() {
        check_link(link, &format!("links[{index}]"))?;
    }
    for (index, group) in plan.groups.iter().enumerate() {
        check_group(plan, group, &format!("groups[{index}]"))?;
    }
    check_flows(&plan.flows, &plan.groups)
}

fn check_link(link: &LinkPlan, at: &str) -> Checked {
    within(link.rate_bps, 1, MAX_BPS, format!("{at}.rate_bps"))?;
    within(link.delay_ps, 0, MAX_PS, format!("{at}.delay_ps"))?;
    within(link.loss_ppb, 0, 1_000_000_000, format!("{at}.loss_ppb"))?;
    check_discipline(&link.discipline, &format!("{at}.discipline"))?;
    let mut last = 0;
    for (index, change) in link.changes.iter().enumerate() {
        within(change.at_ps, last, MAX_PS, format!("{at}.changes[{index}].at_ps"))?;
        check_limit(change.limit, &format!("{at}.changes[{index}].limit"))?;
        last = change.at_ps;
    }
    Ok(())
}

fn check_discipline(discipline: &DisciplinePlan, at: &str) -> Checked {
    match discipline {
        DisciplinePlan::Fifo { limit, mark_above } => {
            check_limit(*limit, &format!("{at}.limit"))?;
            mark_above.map_or(Ok(()), |mark_above| check_mark(mark_above, &format!("{at}.mark_above")))
        }
        DisciplinePlan::Codel { limit, target_ps, interval_ps, ecn: _, ce_threshold_ps, control_law: _ } => {
            check_limit(*limit, &format!("{at}.limit"))?;
            check_codel(*target_ps, *interval_ps, *ce_threshold_ps, at)
        }
        DisciplinePlan::Drr { limit, quantum_bytes } => {
            check_limit(*limit, &format!("{at}.limit"))?;
            within(*quantum_bytes, MIN_QUANTUM_BYTES, MAX_WIRE_BYTES, format!("{at}.quantum_bytes"))
        }
        DisciplinePlan::Red {
            limit,
            min_threshold,
            max_threshold,
            weight,
            max_p,
            gentle: _,
            adaptive: _,
            ecn: _,
            mean_packet_bytes,
        } => {
            check_limit(*limit, &format!("{at}.limit"))?;
            check_thresholds(*min_threshold, *max_threshold, at)?;
            within(weight.unwrap_or(0.0), 0.0, 1.0, format!("{at}.weight"))?;
            within(*max_p, 0.0, 1.0, format!("{at}.max_p"))?;
            within(*mean_packet_bytes, 1, MAX_WIRE_BYTES, format!("{at}.mean_packet_bytes"))
        }
        DisciplinePlan::Pie { limit, target_ps, t_update_ps, alpha, beta, max_burst_ps, ecn: _ } => {
            check_limit(*limit, &format!("{at}.limit"))?;
            within(*target_ps, 0, MAX_PS, format!("{at}.target_ps"))?;
            within(*t_update_ps, MIN_UPDATE_PS, MAX_PS, format!("{at}.t_update_ps"))?;
            within(*alpha, 0.0, MAX_GAIN, format!("{at}.alpha"))?;
            within(*beta, 0.0, MAX_GAIN, format!("{at}.beta"))?;
            within(*max_burst_ps, 0, MAX_PS, format!("{at}.max_burst_ps"))
        }
        DisciplinePlan::FqCodel {
            limit,
            flows,
            quantum_bytes,
            drop_batch,
            target_ps,
            interval_ps,
            ecn: _,
            ce_threshold_ps,
            control_law: _,
        } => {
            check_limit(*limit, &format!("{at}.limit"))?;
            within(*flows, 1, MAX_HASHED_QUEUES, format!("{at}.flows"))?;
            within(*quantum_bytes, MIN_QUANTUM_BYTES, MAX_WIRE_BYTES, format!("{at}.quantum_bytes"))?;
            within(*drop_batch, 1, u32::MAX, format!("{at}.drop_batch"))?;
            check_codel(*target_ps, *interval_ps, *ce_threshold_ps, at)
        }
        DisciplinePlan::Splitbuff {
            limit,
            sub_buffers,
            update_ps,
            first_update_ps,
            smoothing,
            classes,
            hysteresis,
            weighted: _,
            thresholds: _,
            mean: _,
        } => {
            check_limit(*limit, &format!("{at}.limit"))?;
            within(*sub_buffers, 1, MAX_SUB_BUFFERS as u32, format!("{at}.sub_buffers"))?;
            within(*update_ps, 1, MAX_PS, format!("{at}.update_ps"))?;
            within(first_update_ps.unwrap_or(1), 1, MAX_PS, format!("{at}.first_update_ps"))?;
            within(*smoothing, 0.0, 1.0, format!("{at}.smoothing"))?;
            within(*hysteresis, 0.0, 1.0, format!("{at}.hysteresis"))?;
            check_classes(classes, &format!("{at}.classes.information"))
        }
    }
}

fn check_codel(target_ps: u64, interval_ps: u64, ce_threshold_ps: Option<u64>, at: &str) -> Checked {
    within(target_ps, 0, MAX_PS, format!("{at}.target_ps"))?;
    within(interval_ps, 1, MAX_PS, format!("{at}.interval_ps"))?;
    within(ce_threshold_ps.unwrap_or(0), 0, MAX_PS, format!("{at}.ce_threshold_ps"))
}

/// RED's thresholds: of one unit, the upper one larger.
fn check_thresholds(min: LimitPlan, max: LimitPlan, at: &str) -> Checked {
    check_limit(max, &format!("{at}.max_threshold"))?;
    let holds = match (min, max) {
        (LimitPlan::Packets(min), LimitPlan::Packets(max))
        | (LimitPlan::Bytes(min), LimitPlan::Bytes(max)) => min < max,
        _ => false,
    };
    let accepted = format!("packets or bytes as the upper threshold {max:?}, and fewer");
    require(holds, format!("{at}.min_threshold"), format!("{min:?}"), accepted)
}

fn check_classes(classes: &ClassesPlan, at: &str) -> Checked {
    match classes {
        ClassesPlan::Rtt { information: RttPlan::Quantized { bits } } => {
            within(*bits, 1, MAX_RTT_BITS, format!("{at}.bits"))
        }
        ClassesPlan::Rtt { information: RttPlan::Syn { flows } | RttPlan::Timestamps { flows } } => {
            within(*flows, 1, MAX_TABLE_FLOWS, format!("{at}.flows"))
        }
        _ => Ok(()),
    }
}

/// A threshold may be zero: whoever has to wait is marked.
fn check_mark(mark_above: LimitPlan, at: &str) -> Checked {
    match mark_above {
        LimitPlan::Packets(0) | LimitPlan::Bytes(0) => Ok(()),
        other => check_limit(other, at),
    }
}

pub(crate) fn check_limit(limit: LimitPlan, at: &str) -> Checked {
    match limit {
        LimitPlan::Packets(packets) => within(packets, 1, 1 << 40, format!("{at}.packets")),
        LimitPlan::Bytes(bytes) => within(bytes, 1, 1 << 50, format!("{at}.bytes")),
        LimitPlan::Unlimited => Ok(()),
    }
}

fn check_group(plan: &Plan, group: &GroupPlan, at: &str) -> Checked {
    within(group.forward.len(), 1, MAX_HOPS, format!("{at}.forward (count)"))?;
    within(group.reverse.len(), 0, MAX_HOPS, format!("{at}.reverse (count)"))?;
    for (name, path) in [("forward", &group.forward), ("reverse", &group.reverse)] {
        for (hop, &link) in path.iter().enumerate() {
            within(link as usize, 0, plan.links.len() - 1, format!("{at}.{name}[{hop}]"))?;
        }
        let delays = path.iter().map(|&link| u128::from(plan.links[link as usize].delay_ps));
        let accepted = format!("delays of at most {MAX_PS} ps in all");
        let sum: u128 = delays.sum();
        require(sum <= u128::from(MAX_PS), format!("{at}.{name} (sum of delay_ps)"), sum, accepted)?;
    }
    match group.jitter {
        JitterPlan::None => {}
        JitterPlan::Uniform { low_ps, high_ps } => {
            within(high_ps, low_ps, MAX_PS / 1_000, format!("{at}.jitter.high_ps"))?;
        }
        JitterPlan::Exponential { mean_ps } => {
            within(mean_ps, 0, MAX_PS / 1_000, format!("{at}.jitter.mean_ps"))?;
        }
    }
    if let Some(bps) = group.access_bps {
        within(bps, 1, MAX_BPS, format!("{at}.access_bps"))?;
    }
    match &group.source {
        SourcePlan::Tcp(tcp) => check_tcp(plan, group, tcp, &format!("{at}.source")),
        SourcePlan::Udp(udp) => check_udp(udp, &format!("{at}.source")),
    }
}

fn check_tcp(plan: &Plan, group: &GroupPlan, tcp: &TcpPlan, at: &str) -> Checked {
    within(tcp.mss_bytes, 1, MAX_WIRE_BYTES, format!("{at}.mss_bytes"))?;
    within(tcp.header_bytes, 0, MAX_WIRE_BYTES - tcp.mss_bytes, format!("{at}.header_bytes"))?;
    within(tcp.ack_bytes, 1, MAX_WIRE_BYTES, format!("{at}.ack_bytes"))?;
    within(u64::from(tcp.initial_window), 1, MAX_WINDOW, format!("{at}.initial_window"))?;
    if let CongestionPlan::Fixed { segments } = tcp.congestion {
        within(u64::from(segments), 1, MAX_WINDOW, format!("{at}.congestion.segments"))?;
    }
    if matches!(tcp.congestion, CongestionPlan::Bbr1 | CongestionPlan::Bbr3) {
        let holds = matches!(tcp.recovery, RecoveryPlan::Sack | RecoveryPlan::Linux);
        let value = format!("{:?}", tcp.recovery);
        require(holds, format!("{at}.recovery"), value, "sack or linux, which BBR's delivery rates need")?;
    }
    let window = tcp.receive_window_bytes / u64::from(tcp.mss_bytes);
    require(
        (1..=MAX_WINDOW).contains(&window),
        format!("{at}.receive_window_bytes"),
        tcp.receive_window_bytes,
        format!("1 to {MAX_WINDOW} segments"),
    )?;
    within(tcp.ack_every, 1, 1_000_000, format!("{at}.ack_every"))?;
    within(tcp.ack_delay_ps, 0, MAX_PS, format!("{at}.ack_delay_ps"))?;
    within(tcp.max_rto_ps, 1, MAX_PS, format!("{at}.max_rto_ps"))?;
    within(tcp.min_rto_ps, 1, tcp.max_rto_ps, format!("{at}.min_rto_ps"))?;
    within(tcp.rto_margin_ps, 0, tcp.max_rto_ps, format!("{at}.rto_margin_ps"))?;
    within(tcp.initial_rto_ps, 1, MAX_PS, format!("{at}.initial_rto_ps"))?;
    within(tcp.clock_ps, 1, MAX_PS, format!("{at}.clock_ps"))?;
    check_offload(tcp, &format!("{at}.offload"))?;
    if let Some(bytes) = tcp.transfer_bytes {
        within(bytes, 1, most_bytes(tcp), format!("{at}.transfer_bytes"))?;
        require(tcp.on_off.is_none(), format!("{at}.transfer_bytes"), bytes, "null with on_off")?;
    }
    if let Some(on_off) = &tcp.on_off {
        match on_off.on {
            OnPlan::TimePs(law) => check_law(law, MAX_PS, &format!("{at}.on_off.on.time_ps"))?,
            OnPlan::Bytes(law) => check_law(law, most_bytes(tcp), &format!("{at}.on_off.on.bytes"))?,
        }
        let holds = !on_off.fetch || matches!(on_off.on, OnPlan::Bytes(_));
        require(holds, format!("{at}.on_off.on"), "time_ps", "bytes with fetch")?;
        check_law(on_off.off_ps, MAX_PS, &format!("{at}.on_off.off_ps"))?;
    }
    check_sequence_space(plan, group, tcp, at)
}

/// The longest transfer: sequence numbers count segments.
fn most_bytes(tcp: &TcpPlan) -> u64 {
    MAX_SEGMENTS as u64 * u64::from(tcp.mss_bytes)
}

/// What the slowest link of the path can carry must stay within the sequence numbers.
fn check_sequence_space(plan: &Plan, group: &GroupPlan, tcp: &TcpPlan, at: &str) -> Checked {
    let rates = group.forward.iter().map(|&link| plan.links[link as usize].rate_bps);
    let bps = rates.min().unwrap_or(0);
    let bits = u128::from(bps) * u128::from(plan.duration_ps) / 1_000_000_000_000;
    let segments = bits / 8 / u128::from(tcp.mss_bytes + tcp.header_bytes);
    let accepted = format!("a run of at most {MAX_SEGMENTS} segments a flow: larger ones, or a shorter run");
    require(segments <= MAX_SEGMENTS, format!("{at}.mss_bytes"), tcp.mss_bytes, accepted)
}

fn check_udp(udp: &UdpPlan, at: &str) -> Checked {
    within(udp.packet_bytes, 1, 65_535, format!("{at}.packet_bytes"))?;
    within(udp.header_bytes, 0, udp.packet_bytes, format!("{at}.header_bytes"))?;
    within(udp.interval_ps, 1, MAX_PS, format!("{at}.interval_ps"))
}

fn check_flows(flows: &FlowColumns, groups: &[GroupPlan]) -> Checked {
    let count = flows.group.len();
    within(count, 1, MAX_FLOWS, "flows.group (count)".into())?;
    let lengths = [
        ("start_ps", flows.start_ps.len()),
        ("stop_ps", flows.stop_ps.len()),
        ("source_delay_ps", flows.source_delay_ps.len()),
        ("sink_delay_ps", flows.sink_delay_ps.len()),
        ("return_delay_ps", flows.return_delay_ps.len()),
        ("home_delay_ps", flows.home_delay_ps.len()),
        ("sample", flows.sample.len()),
    ];
    for (name, length) in lengths {
        require(length == count, format!("flows.{name} (count)"), length, count)?;
    }
    for (flow, &group) in flows.group.iter().enumerate() {
        within(group as usize, 0, groups.len() - 1, format!("flows.group[{flow}]"))?;
    }
    let columns = [
        ("start_ps", &flows.start_ps),
        ("source_delay_ps", &flows.source_delay_ps),
        ("sink_delay_ps", &flows.sink_delay_ps),
        ("return_delay_ps", &flows.return_delay_ps),
        ("home_delay_ps", &flows.home_delay_ps),
    ];
    for (name, column) in columns {
        for (flow, &ps) in column.iter().enumerate() {
            within(ps, 0, MAX_PS, format!("flows.{name}[{flow}]"))?;
        }
    }
    for (flow, &ps) in flows.home_delay_ps.iter().enumerate() {
        let has_reverse = !groups[flows.group[flow] as usize].reverse.is_empty();
        let accepted = "0 without reverse links, where return_delay_ps is the whole way back";
        require(ps == 0 || has_reverse, format!("flows.home_delay_ps[{flow}]"), ps, accepted)?;
    }
    check_echoes(flows, groups)?;
    check_transfers(flows, groups)
}

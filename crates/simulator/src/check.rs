//! Whether a plan can be run: every bound that the engine's integers and indices rely on.

mod data;

use std::collections::BTreeMap;

use bufferlab_parameters::{FASTEST_BPS, Kinds, LONGEST, OutOfBounds, Parameters, Words, require, within};
use bufferlab_qdisc::Header;
use bufferlab_transport::{CallConfig, EcnUse};

use data::{check_echoes, check_transfers};

use crate::plan::{FlowColumns, GroupPlan, HostPlan, Plan, SourcePlan, TcpPlan};

/// Longest run and longest delay of a path, ps.
const MAX_PS: u64 = LONGEST.as_ps();
/// Most flows.
const MAX_FLOWS: usize = 4_000_000;
/// Most links on a path; a packet counts them in a byte.
const MAX_HOPS: usize = 127;
/// Most segments of a flow: sequence numbers are 32 bits wide.
const MAX_SEGMENTS: u128 = 1 << 31;
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

impl From<OutOfBounds> for PlanError {
    fn from(OutOfBounds { field, value, accepted }: OutOfBounds) -> PlanError {
        PlanError { field, value, accepted }
    }
}

type Checked = Result<(), OutOfBounds>;

/// Checks everything that [`crate::run`] relies on.
///
/// # Errors
/// The first field found that is out of bounds.
pub(crate) fn check(plan: &Plan) -> Result<(), PlanError> {
    Ok(check_plan(plan)?)
}

fn check_plan(plan: &Plan) -> Checked {
    within(plan.version, Plan::VERSION, Plan::VERSION, "version")?;
    within(plan.duration_ps, 1, MAX_PS, "duration_ps")?;
    within(plan.warmup_ps, 0, plan.duration_ps - 1, "warmup_ps")?;
    let sampled = plan.sample_interval_ps == 0 || plan.duration_ps / plan.sample_interval_ps <= MAX_SAMPLES;
    let accepted = format!("0, or an interval that gives at most {MAX_SAMPLES} samples");
    require(sampled, "sample_interval_ps", plan.sample_interval_ps, accepted)?;
    within(plan.links.len(), 1, 65_536, "links (count)")?;
    within(plan.groups.len(), 1, 65_536, "groups (count)")?;
    for (index, link) in plan.links.iter().enumerate() {
        link.validate().map_err(|error| error.under(&format!("links[{index}]")))?;
    }
    check_memories(plan)?;
    for (index, group) in plan.groups.iter().enumerate() {
        check_group(plan, group, &format!("groups[{index}]"))?;
    }
    check_flows(&plan.flows, &plan.groups)
}

/// Links that share a memory say the same of it.
fn check_memories(plan: &Plan) -> Checked {
    let mut first = BTreeMap::new();
    for (index, link) in plan.links.iter().enumerate() {
        let Some(memory) = link.memory else { continue };
        let (of, known) = *first.entry(memory.number).or_insert((index, memory));
        let accepted = format!("the size and threshold of links[{of}], which has the same number");
        require(known == memory, format!("links[{index}].memory"), format!("{memory:?}"), accepted)?;
    }
    Ok(())
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
    group.jitter.validate().map_err(|error| error.under(&format!("{at}.jitter")))?;
    if let Some(bps) = group.access_bps {
        within(bps, 1, FASTEST_BPS, format!("{at}.access_bps"))?;
    }
    within(group.dscp, 0, Header::MOST_DSCP, format!("{at}.dscp"))?;
    for (name, host) in [("sender", group.sender), ("receiver", group.receiver)] {
        within(host.unwrap_or(0), 0, GroupPlan::MOST_HOSTS - 1, format!("{at}.{name}"))?;
    }
    if let Some(host) = &group.host {
        check_host(group, host, &format!("{at}.host"))?;
    }
    match &group.source {
        SourcePlan::Tcp(tcp) => check_tcp(plan, group, tcp, &format!("{at}.source")),
        SourcePlan::Udp(udp) => udp.config.validate().map_err(|error| error.under(&format!("{at}.source"))),
        SourcePlan::VideoCall(call) => check_call(plan, call, &format!("{at}.source")),
    }
}

fn check_call(plan: &Plan, call: &CallConfig, at: &str) -> Checked {
    call.validate().map_err(|error| error.under(at))?;
    let packets = u128::from(call.most_packets()) * u128::from(plan.duration_ps) / 1_000_000_000_000;
    let accepted = format!("a run of at most {MAX_SEGMENTS} packets a flow: a lower rate, or a shorter run");
    require(packets <= MAX_SEGMENTS, format!("{at}.max_bps"), call.max_bps, accepted)
}

/// A host beside TCP has TCP, and one interface.
fn check_host(group: &GroupPlan, host: &HostPlan, at: &str) -> Checked {
    host.validate(FASTEST_BPS).map_err(|error| error.under(at))?;
    let is_tcp = matches!(group.source, SourcePlan::Tcp(_));
    require(is_tcp, at, "a host", "null where the source is not tcp")?;
    let one = host.card.is_none() || group.access_bps.is_none();
    require(one, format!("{at}.card"), "a card", "null with access_bps")
}

fn check_tcp(plan: &Plan, group: &GroupPlan, tcp: &TcpPlan, at: &str) -> Checked {
    tcp.config.validate().map_err(|error| error.under(at))?;
    tcp.congestion.validate().map_err(|error| error.under(&format!("{at}.congestion")))?;
    if tcp.congestion.needs_rates() {
        let (recovery, accepted) =
            (tcp.config.recovery, "sack, linux or quic, which BBR's delivery rates need");
        require(recovery.computes_pipe(), format!("{at}.recovery"), format!("{recovery:?}"), accepted)?;
    }
    check_ecn(tcp, at)?;
    if let Some(bytes) = tcp.transfer_bytes {
        within(bytes, 1, most_bytes(tcp), format!("{at}.transfer_bytes"))?;
        require(!tcp.is_by_turns(), format!("{at}.transfer_bytes"), bytes, "null with on_off or video")?;
    }
    if let Some(on_off) = &tcp.on_off {
        on_off.validate(most_bytes(tcp)).map_err(|error| error.under(&format!("{at}.on_off")))?;
    }
    if let Some(video) = &tcp.video {
        video.validate(most_bytes(tcp)).map_err(|error| error.under(&format!("{at}.video")))?;
        require(tcp.on_off.is_none(), format!("{at}.on_off"), "turns", "null with video")?;
    }
    check_sequence_space(plan, group, tcp, at)
}

fn check_ecn(tcp: &TcpPlan, at: &str) -> Checked {
    let (ecn, key) = (tcp.config.ecn, format!("{at}.ecn"));
    let is_free = matches!(ecn, EcnUse::Off | EcnUse::L4s) || !tcp.congestion.uses_ecn();
    let accepted = "\"off\" or \"l4s\" with a control that has its own response to marks";
    require(is_free, &*key, ecn.word(), accepted)?;
    let responds = ecn != EcnUse::L4s || tcp.congestion.uses_ecn();
    require(responds, &*key, ecn.word(), "\"l4s\" with dctcp or prague only")?;
    let has_factor = ecn != EcnUse::Abe || tcp.congestion.has_mild_marks();
    require(has_factor, key, ecn.word(), "\"classic\" or \"off\" with controls other than reno and cubic")
}

/// The longest transfer: sequence numbers count segments.
fn most_bytes(tcp: &TcpPlan) -> u64 {
    MAX_SEGMENTS as u64 * u64::from(tcp.config.mss_bytes)
}

/// What the slowest link of the path can carry must stay within the sequence numbers.
fn check_sequence_space(plan: &Plan, group: &GroupPlan, tcp: &TcpPlan, at: &str) -> Checked {
    let rates = group.forward.iter().map(|&link| plan.links[link as usize].rate_bps);
    let bps = rates.min().unwrap_or(0);
    let bits = u128::from(bps) * u128::from(plan.duration_ps) / 1_000_000_000_000;
    let segments = bits / 8 / u128::from(tcp.config.mss_bytes + tcp.config.header_bytes);
    let accepted = format!("a run of at most {MAX_SEGMENTS} segments a flow: larger ones, or a shorter run");
    require(segments <= MAX_SEGMENTS, format!("{at}.mss_bytes"), tcp.config.mss_bytes, accepted)
}

fn check_flows(flows: &FlowColumns, groups: &[GroupPlan]) -> Checked {
    let count = flows.group.len();
    within(count, 1, MAX_FLOWS, "flows.group (count)")?;
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

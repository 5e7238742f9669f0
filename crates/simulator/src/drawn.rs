//! What a plan's applications do at random, for hosts that are not ours: the draws are those of a run of the same plan.

use bufferlab_transport::UdpSource;
use bufferlab_units::Time;

use crate::on_off::draw;
use crate::plan::{OnPlan, Plan, SourcePlan};
use crate::streams::StreamKind;

/// When each datagram of each flow leaves, and its size on the wire, up to the flow's stop or the run's end; at most `most`
/// of a flow. Flows that send none have none.
pub fn datagrams(plan: &Plan, most: usize) -> Vec<Vec<(Time, u32)>> {
    (0..plan.flows.group.len()).map(|flow| datagrams_of(plan, flow, most)).collect()
}

fn datagrams_of(plan: &Plan, flow: usize, most: usize) -> Vec<(Time, u32)> {
    let SourcePlan::Udp(udp) = &plan.groups[plan.flows.group[flow] as usize].source else {
        return Vec::new();
    };
    let mut source = UdpSource::new(udp.config.clone(), StreamKind::Datagram.stream(plan.seed, flow as u32));
    source.start(Time::from_ps(plan.flows.start_ps[flow]));
    let end = Time::from_ps(plan.flows.stop_ps[flow].min(plan.duration_ps));
    let mut sent = Vec::new();
    while source.deadline() < end && sent.len() < most {
        let at = source.deadline();
        sent.push((at, source.emit()));
    }
    sent
}

/// The first turns of each flow that has data by turns: how many bytes, and how long it is silent then, ps. Others have
/// none.
pub fn turns(plan: &Plan, count: usize) -> Vec<Vec<(u64, u64)>> {
    let flows = 0..plan.flows.group.len();
    flows.map(|flow| turns_of(plan, flow, count).unwrap_or_default()).collect()
}

fn turns_of(plan: &Plan, flow: usize, count: usize) -> Option<Vec<(u64, u64)>> {
    let SourcePlan::Tcp(tcp) = &plan.groups[plan.flows.group[flow] as usize].source else {
        return None;
    };
    let on_off = tcp.on_off?;
    let OnPlan::Bytes(on) = on_off.on else {
        return None;
    };
    let mut stream = StreamKind::OnOff.stream(plan.seed, flow as u32);
    let mut turn = || (draw(on, &mut stream), draw(on_off.off_ps, &mut stream));
    Some((0..count).map(|_| turn()).collect())
}

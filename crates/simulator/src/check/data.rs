//! What flows have to send.

use bufferlab_parameters::{require, within};

use super::{Checked, most_bytes};
use crate::plan::{FlowColumns, GroupPlan, SourcePlan};

pub(super) fn check_echoes(flows: &FlowColumns, groups: &[GroupPlan]) -> Checked {
    let (length, count) = (flows.echo_of.len(), flows.group.len());
    require(length == 0 || length == count, "flows.echo_of (count)", length, format!("0 or {count}"))?;
    let mut echoed = vec![false; length];
    for flow in 0..length {
        let Some(of) = flows.echo_of(flow) else { continue };
        let at = format!("flows.echo_of[{flow}]");
        let accepted =
            "another TCP flow of the same segments, without on_off and video, that no other returns";
        let tcp = |flow: usize| match groups.get(*flows.group.get(flow)? as usize).map(|group| &group.source)
        {
            Some(SourcePlan::Tcp(tcp)) if !tcp.is_by_turns() => Some(tcp.config.mss_bytes),
            _ => None,
        };
        let alike = tcp(flow).is_some() && tcp(flow) == tcp(of as usize) && of as usize != flow;
        require(alike && !echoed[of as usize], at, of, accepted)?;
        echoed[of as usize] = true;
    }
    Ok(())
}

pub(super) fn check_transfers(flows: &FlowColumns, groups: &[GroupPlan]) -> Checked {
    let (length, count) = (flows.transfer_bytes.len(), flows.group.len());
    let accepted = format!("0 or {count}");
    require(length == 0 || length == count, "flows.transfer_bytes (count)", length, accepted)?;
    for (flow, &bytes) in flows.transfer_bytes.iter().enumerate().filter(|&(_, &bytes)| bytes != u64::MAX) {
        let at = format!("flows.transfer_bytes[{flow}]");
        match &groups[flows.group[flow] as usize].source {
            SourcePlan::Tcp(tcp) if !tcp.is_by_turns() => within(bytes, 1, most_bytes(tcp), at)?,
            SourcePlan::Tcp(_) => require(false, at, bytes, "18446744073709551615 with on_off or video")?,
            SourcePlan::Udp(_) | SourcePlan::VideoCall(_) => {
                require(false, at, bytes, "18446744073709551615 where the source is not tcp")?;
            }
        }
    }
    Ok(())
}

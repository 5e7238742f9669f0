//! The engine on the measured workload: SACK recovery, queue statistics, samples every 10 ms.

use std::error::Error;

use bufferlab_congestion::{Growth, RenoConfig};
use bufferlab_qdisc::{FifoConfig, Limit};
use bufferlab_simulator::{
    ALL_GROUPS, Control, FlowColumns, GroupPlan, LinkPlan, Outcome, Plan, QueuePlan, SourcePlan, TcpPlan, run,
};
use bufferlab_transport::{Recovery, TcpConfig};
use bufferlab_units::Span;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::workload::{HEADER_BYTES, PS_PER_MS, WIRE_BYTES, Workload};

/// Largest number of flows in the time series, as in scenario files.
const SAMPLED_FLOWS: usize = 10;
/// Propagation delay of the bottleneck, ps.
const LINK_DELAY_PS: u64 = PS_PER_MS;

/// Which TCP the flows run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// RFC 6675 recovery; the sender's own interface has no bound.
    Rfc,
    /// Like ns-2's `Agent/TCP/Sack1`, with interfaces of 10 Gbit/s.
    Ns2,
}

impl Stack {
    /// The stack with this name.
    pub fn from_name(name: &str) -> Result<Self, String> {
        match name {
            "rfc" => Ok(Self::Rfc),
            "ns2" => Ok(Self::Ns2),
            _ => Err(format!("'{name}' is not a stack; known: rfc, ns2")),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rfc => "rfc",
            Self::Ns2 => "ns2",
        }
    }
}

/// The results of a run that the benchmarks need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Packets that reached the bottleneck.
    pub arrived_packets: u64,
    /// How many of them it dropped, if counted.
    pub dropped_packets: Option<u64>,
    /// Packets that left it.
    pub departed_packets: u64,
    /// Engine events.
    pub events: u64,
    /// Largest memory of the process, KiB.
    pub peak_kib: Option<u64>,
}

impl Counts {
    fn of(outcome: &Outcome) -> Result<Self, String> {
        let queues = &outcome.queues;
        let row = queues.group.iter().position(|&group| group == ALL_GROUPS).ok_or("no row for the link")?;
        Ok(Self {
            arrived_packets: queues.whole_arrived_packets[row],
            dropped_packets: Some(queues.whole_dropped_packets[row]),
            departed_packets: queues.whole_departed_packets[row],
            events: outcome.events,
            peak_kib: clock::peak_kib(),
        })
    }
}

/// Runs `plan` to its end.
pub fn simulate(plan: &Plan) -> Result<Counts, Box<dyn Error>> {
    Ok(Counts::of(&run(plan, &Control::default())?)?)
}

/// The plan of `work`.
pub fn plan(work: &Workload, stack: Stack) -> Plan {
    let discipline = QueuePlan::new(Limit::Packets(work.limit_packets), FifoConfig::default());
    Plan {
        version: Plan::VERSION,
        seed: 1,
        duration_ps: work.duration_ps,
        warmup_ps: work.duration_ps / 5,
        sample_interval_ps: 10 * PS_PER_MS,
        links: vec![LinkPlan {
            name: "bottleneck".to_owned(),
            sample: true,
            ..LinkPlan::new(work.rate_bps, LINK_DELAY_PS, discipline)
        }],
        groups: vec![GroupPlan {
            access_bps: (stack == Stack::Ns2).then_some(10_000_000_000),
            ..GroupPlan::new("flows", SourcePlan::Tcp(tcp(work, stack)), vec![0])
        }],
        flows: flows(work),
    }
}

fn tcp(work: &Workload, stack: Stack) -> TcpPlan {
    let (recovery, clock) = match stack {
        // As in the presets of these names: an exact clock, and ns-2's `tcpTick_`.
        Stack::Rfc => (Recovery::Sack, Span::from_ps(1)),
        Stack::Ns2 => (Recovery::SackNs2, Span::from_ms(10)),
    };
    let config = TcpConfig {
        recovery,
        mss_bytes: WIRE_BYTES as u32 - HEADER_BYTES,
        header_bytes: HEADER_BYTES,
        ack_bytes: 40,
        initial_window: 2,
        receive_window_bytes: work.window_packets * WIRE_BYTES,
        ack_every: 1,
        ack_delay: Span::ZERO,
        min_rto: Span::from_ms(200),
        initial_rto: Span::from_s(3),
        clock,
        timestamps: stack == Stack::Rfc,
        ..TcpConfig::default()
    };
    TcpPlan::new(RenoConfig { growth: Growth::PerAck }, config)
}

/// What remains of a one-way delay besides the bottleneck: half is before it, half behind it.
fn flows(work: &Workload) -> FlowColumns {
    let mut columns = FlowColumns::default();
    for flow in 0..work.flows {
        let one_way_ps = Workload::rtt_ps(flow) / 2;
        let access_ps = (one_way_ps - LINK_DELAY_PS) / 2;
        columns.group.push(0);
        columns.start_ps.push(Workload::start_ps(flow));
        columns.stop_ps.push(u64::MAX);
        columns.source_delay_ps.push(access_ps);
        columns.sink_delay_ps.push(access_ps);
        columns.return_delay_ps.push(one_way_ps);
        columns.home_delay_ps.push(0);
        columns.sample.push(flow < SAMPLED_FLOWS);
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_fills_the_link() {
        for stack in [Stack::Rfc, Stack::Ns2] {
            let work = Workload::new(10, 30);
            let counts = simulate(&plan(&work, stack)).expect("a valid plan");
            let capacity_packets = work.duration_ps / work.transmission_ps();
            assert!(counts.departed_packets > capacity_packets * 8 / 10, "{stack:?}: {counts:?}");
            assert!(counts.departed_packets <= counts.arrived_packets, "{stack:?}: {counts:?}");
        }
    }

    #[test]
    fn names_of_stacks_lead_back_to_them() {
        for stack in [Stack::Rfc, Stack::Ns2] {
            assert_eq!(Stack::from_name(stack.name()), Ok(stack));
        }
        assert!(Stack::from_name("linux").is_err());
    }
}

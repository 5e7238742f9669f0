//! From a link's plan to its queue.

use std::sync::Arc;

use bufferlab_qdisc::{AnyQdisc, Context, Header};
use bufferlab_units::{Rate, Span};

use crate::plan::{GroupPlan, LinkPlan, Plan};
use crate::streams::StreamKind;

impl LinkPlan {
    /// The queue of this link in a plan that was checked; `index` is the link's.
    pub fn qdisc(&self, plan: &Plan, index: u32) -> AnyQdisc {
        self.discipline.config.build(Context {
            limit: self.discipline.limit,
            rate: self.rate(),
            seed: plan.seed,
            stream: StreamKind::Queue.stream(plan.seed, index),
            propagation: &|| plan.propagation(),
            headers: &|| plan.headers(),
        })
    }

    /// Its rate.
    pub(crate) fn rate(&self) -> Rate {
        Rate::from_bps(self.rate_bps).expect("a checked plan has no rate of zero")
    }
}

impl Plan {
    /// The flows' two-way propagation delays, links included.
    fn propagation(&self) -> Arc<[Span]> {
        let flows = &self.flows;
        let delay = |flow: usize| {
            let group = &self.groups[flows.group[flow] as usize];
            let links = group.forward.iter().chain(&group.reverse);
            let links = links.map(|&link| self.links[link as usize].delay_ps);
            let ends =
                [&flows.source_delay_ps, &flows.sink_delay_ps, &flows.return_delay_ps, &flows.home_delay_ps];
            Span::from_ps(links.sum::<u64>() + ends.map(|column| column[flow]).iter().sum::<u64>())
        };
        (0..flows.group.len()).map(delay).collect()
    }

    /// What the headers of the flows' packets say. Hosts without a number are a flow's own.
    fn headers(&self) -> Arc<[Header]> {
        /// Numbers that groups cannot have.
        const OWN: u32 = GroupPlan::MOST_HOSTS;
        let header = |(flow, &group): (u32, &u32)| {
            let group = &self.groups[group as usize];
            let host = |named: Option<u32>| named.unwrap_or(OWN + flow);
            Header { dscp: group.dscp, sender: host(group.sender), receiver: host(group.receiver) }
        };
        (0..).zip(&self.flows.group).map(header).collect()
    }
}

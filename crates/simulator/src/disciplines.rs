//! From a plan's words to a queue discipline.

use bufferlab_estimator::{SynEstimator, TimestampEstimator};
use bufferlab_qdisc::{
    AnyQdisc, Classes, Codel, CodelConfig, Fifo, Limit, RttInformation, RttScale, Service, SplitBuff,
    SplitBuffConfig,
};
use bufferlab_units::{Rate, Span};

use crate::plan::{ClassesPlan, DisciplinePlan, LimitPlan, LinkPlan, Plan, RttPlan};

/// Timestamps in headers are whole microseconds; a difference of two may be one off.
const STAMP_TICK: Span = Span::from_us(2);

impl LinkPlan {
    /// The discipline of this link in a plan that was checked.
    pub fn qdisc(&self, plan: &Plan) -> AnyQdisc {
        match &self.discipline {
            DisciplinePlan::Fifo { limit, mark_above } => {
                let mark_above = mark_above.map_or(Limit::Unlimited, LimitPlan::limit);
                Fifo::new(limit.limit()).marking_above(mark_above).into()
            }
            DisciplinePlan::Codel { limit, target_ps, interval_ps, ecn, ce_threshold_ps } => {
                let config = CodelConfig {
                    target: Span::from_ps(*target_ps),
                    interval: Span::from_ps(*interval_ps),
                    ecn: *ecn,
                    ce_threshold: ce_threshold_ps.map(Span::from_ps),
                };
                Codel::new(limit.limit(), config).into()
            }
            DisciplinePlan::Splitbuff { limit, sub_buffers, update_ps, smoothing, classes, weighted } => {
                let config = SplitBuffConfig {
                    limit: limit.limit(),
                    rate: self.rate(),
                    sub_buffers: *sub_buffers as usize,
                    update: Span::from_ps(*update_ps),
                    smoothing: *smoothing,
                    classes: build_classes(plan, classes),
                    service: if *weighted { Service::Flows } else { Service::Alike },
                };
                SplitBuff::new(config).into()
            }
        }
    }

    /// Its rate.
    pub(crate) fn rate(&self) -> Rate {
        Rate::from_bps(self.rate_bps).expect("a checked plan has no rate of zero")
    }
}

fn build_classes(plan: &Plan, classes: &ClassesPlan) -> Classes {
    match classes {
        ClassesPlan::Random => Classes::Random { seed: plan.seed },
        ClassesPlan::Rtt { information } => Classes::Rtt(build_information(plan, information)),
    }
}

fn build_information(plan: &Plan, information: &RttPlan) -> RttInformation {
    match information {
        RttPlan::Oracle => {
            let flows = 0..plan.flows.group.len();
            RttInformation::Oracle(flows.map(|flow| plan.propagation(flow)).collect())
        }
        RttPlan::Header => RttInformation::Header,
        RttPlan::Quantized { bits } => RttInformation::Quantized(RttScale::new(*bits)),
        RttPlan::Syn { flows } => RttInformation::Syn(SynEstimator::new(*flows as usize)),
        RttPlan::Timestamps { flows } => {
            RttInformation::Timestamps(TimestampEstimator::new(*flows as usize, STAMP_TICK))
        }
    }
}

impl DisciplinePlan {
    /// How much may wait.
    pub fn limit(&self) -> LimitPlan {
        match self {
            DisciplinePlan::Fifo { limit, .. }
            | DisciplinePlan::Codel { limit, .. }
            | DisciplinePlan::Splitbuff { limit, .. } => *limit,
        }
    }
}

impl LimitPlan {
    /// As disciplines take it.
    pub(crate) fn limit(self) -> Limit {
        match self {
            LimitPlan::Packets(packets) => Limit::Packets(packets),
            LimitPlan::Bytes(bytes) => Limit::Bytes(bytes),
            LimitPlan::Unlimited => Limit::Unlimited,
        }
    }
}

impl Plan {
    /// A flow's two-way propagation delay, links included.
    fn propagation(&self, flow: usize) -> Span {
        let flows = &self.flows;
        let group = &self.groups[flows.group[flow] as usize];
        let links =
            group.forward.iter().chain(&group.reverse).map(|&link| self.links[link as usize].delay_ps);
        let ends =
            [&flows.source_delay_ps, &flows.sink_delay_ps, &flows.return_delay_ps, &flows.home_delay_ps];
        Span::from_ps(links.sum::<u64>() + ends.map(|column| column[flow]).iter().sum::<u64>())
    }
}

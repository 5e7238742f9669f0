//! From a plan's words to a queue discipline.

use bufferlab_estimator::{SynEstimator, TimestampEstimator};
use bufferlab_qdisc::{
    AnyQdisc, Classes, Codel, CodelConfig, ControlLaw, Drr, Fifo, FqCodel, FqCodelConfig, Limit, Mean, Pie,
    PieConfig, Red, RedConfig, RttInformation, RttScale, Service, SplitBuff, SplitBuffConfig, Threshold,
    Thresholds, automatic_weight,
};
use bufferlab_units::{Rate, Span};

use crate::plan::{
    ClassesPlan, ControlLawPlan, DisciplinePlan, LimitPlan, LinkPlan, MeanPlan, Plan, RttPlan, ThresholdsPlan,
};
use crate::streams::StreamKind;

/// Timestamps in headers are whole microseconds; a difference of two may be one off.
const STAMP_TICK: Span = Span::from_us(2);

impl LinkPlan {
    /// The discipline of this link in a plan that was checked; `index` is the link's.
    pub fn qdisc(&self, plan: &Plan, index: u32) -> AnyQdisc {
        let stream = || StreamKind::Queue.stream(plan.seed, index);
        match &self.discipline {
            DisciplinePlan::Fifo { limit, mark_above } => {
                let mark_above = mark_above.map_or(Limit::Unlimited, LimitPlan::limit);
                Fifo::new(limit.limit()).marking_above(mark_above).into()
            }
            DisciplinePlan::Codel { limit, target_ps, interval_ps, ecn, ce_threshold_ps, control_law } => {
                let config = codel_config(*target_ps, *interval_ps, *ecn, *ce_threshold_ps, *control_law);
                Codel::new(limit.limit(), config).into()
            }
            DisciplinePlan::Drr { limit, quantum_bytes } => Drr::new(limit.limit(), *quantum_bytes).into(),
            DisciplinePlan::Red {
                limit,
                min_threshold,
                max_threshold,
                weight,
                max_p,
                gentle,
                adaptive,
                ecn,
                mean_packet_bytes,
            } => {
                let packet_time = self.rate().transmission(u64::from(*mean_packet_bytes));
                let config = RedConfig {
                    min_threshold: threshold(*min_threshold),
                    max_threshold: threshold(*max_threshold),
                    weight: weight.unwrap_or_else(|| automatic_weight(packet_time)),
                    max_p: *max_p,
                    gentle: *gentle,
                    ecn: *ecn,
                    adaptive: *adaptive,
                    packet_time,
                };
                Red::new(limit.limit(), config, stream()).into()
            }
            DisciplinePlan::Pie { limit, target_ps, t_update_ps, alpha, beta, max_burst_ps, ecn } => {
                let config = PieConfig {
                    target: Span::from_ps(*target_ps),
                    t_update: Span::from_ps(*t_update_ps),
                    alpha: *alpha,
                    beta: *beta,
                    max_burst: Span::from_ps(*max_burst_ps),
                    ecn: *ecn,
                };
                Pie::new(limit.limit(), config, stream()).into()
            }
            DisciplinePlan::FqCodel {
                limit,
                flows,
                quantum_bytes,
                drop_batch,
                target_ps,
                interval_ps,
                ecn,
                ce_threshold_ps,
                control_law,
            } => {
                let config = FqCodelConfig {
                    codel: codel_config(*target_ps, *interval_ps, *ecn, *ce_threshold_ps, *control_law),
                    flows: *flows,
                    quantum: *quantum_bytes,
                    drop_batch: *drop_batch,
                    perturbation: stream().bits(),
                };
                FqCodel::new(limit.limit(), config).into()
            }
            DisciplinePlan::Splitbuff {
                limit,
                sub_buffers,
                update_ps,
                first_update_ps,
                smoothing,
                classes,
                weighted,
                thresholds,
                hysteresis,
                mean,
            } => {
                let config = SplitBuffConfig {
                    limit: limit.limit(),
                    rate: self.rate(),
                    sub_buffers: *sub_buffers as usize,
                    update: Span::from_ps(*update_ps),
                    first_update: Span::from_ps(first_update_ps.unwrap_or(*update_ps)),
                    smoothing: *smoothing,
                    classes: build_classes(plan, classes),
                    service: if *weighted { Service::Flows } else { Service::Alike },
                    thresholds: match thresholds {
                        ThresholdsPlan::Mean => Thresholds::Mean,
                        ThresholdsPlan::Gaps => Thresholds::Gaps,
                    },
                    hysteresis: *hysteresis,
                    mean: match mean {
                        MeanPlan::Packets => Mean::Packets,
                        MeanPlan::Flows => Mean::Flows,
                    },
                };
                SplitBuff::new(config).into()
            }
        }
    }

    /// Whether packets of one flow may overtake each other here.
    pub(crate) fn reorders(&self) -> bool {
        matches!(&self.discipline, DisciplinePlan::Splitbuff { classes: ClassesPlan::Rtt { .. }, .. })
    }

    /// Its rate.
    pub(crate) fn rate(&self) -> Rate {
        Rate::from_bps(self.rate_bps).expect("a checked plan has no rate of zero")
    }
}

fn codel_config(
    target_ps: u64,
    interval_ps: u64,
    ecn: bool,
    ce_threshold_ps: Option<u64>,
    control_law: ControlLawPlan,
) -> CodelConfig {
    CodelConfig {
        target: Span::from_ps(target_ps),
        interval: Span::from_ps(interval_ps),
        ecn,
        ce_threshold: ce_threshold_ps.map(Span::from_ps),
        control_law: match control_law {
            ControlLawPlan::Rfc => ControlLaw::Rfc,
            ControlLawPlan::Linux => ControlLaw::Linux,
        },
    }
}

fn threshold(plan: LimitPlan) -> Threshold {
    match plan {
        LimitPlan::Packets(packets) => Threshold::Packets(packets),
        LimitPlan::Bytes(bytes) => Threshold::Bytes(bytes),
        LimitPlan::Unlimited => unreachable!("a checked plan has no such threshold"),
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
            | DisciplinePlan::Drr { limit, .. }
            | DisciplinePlan::Red { limit, .. }
            | DisciplinePlan::Pie { limit, .. }
            | DisciplinePlan::FqCodel { limit, .. }
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

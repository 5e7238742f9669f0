//! Parameters.

use bufferlab_parameters::{FLAG, Kind, LONGEST, choice, count, fraction, parameters, time, words};
use bufferlab_units::{Rate, Span};

use super::SplitBuff;
use crate::{Context, Discipline, RttInformation, RttSource};

/// Most sub-buffers.
pub(super) const MAX_SUB_BUFFERS: u32 = 8;
const SUB_BUFFERS: Kind = count("sub-buffers", 1, MAX_SUB_BUFFERS as u64);
/// The first period is such a part of the others.
const FIRST_PART: u64 = 8;

/// How packets are classified.
#[derive(Clone, Debug)]
pub enum Classes {
    /// By round-trip time.
    Rtt(RttInformation),
    /// Each flow at random; sub-buffers of equal size, as Blind-SplitBuff has it.
    Random {
        /// Whom chance favors.
        seed: u64,
    },
}

words! {
    /// Where the thresholds lie.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Thresholds {
        /// At the mean and half a sigma from each other, as published.
        Mean = "mean",
        /// Where round-trip times leave room; as many as they need.
        Gaps = "gaps",
    }
}

words! {
    /// Over what the mean round-trip time is taken.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Mean {
        /// Packets, as published.
        Packets = "packets",
        /// Flows, as far as they can be counted.
        Flows = "flows",
    }
}

words! {
    /// What the smoothed queueing delays are made of.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Delays {
        /// The waits of the packets that left.
        Departures = "departures",
        /// What arrivals find before them, as in the published pseudocode.
        Arrivals = "arrivals",
    }
}

words! {
    /// How large sub-buffers are.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Sizes {
        /// All of B, in proportion to their flows' propagation delays, as published: equation (4).
        Share = "share",
        /// Each its own bandwidth-delay product. Where all exceed the limit, those of the longest round trips give way.
        Own = "own",
    }
}

parameters! {
    /// Parameters of SplitBuff. The document gives no values for the period and the smoothing.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct SplitBuffConfig {
        /// Number of sub-buffers (section III has two, IV.E three).
        sub_buffers: u32 = 2, SUB_BUFFERS;
        /// Time between new sizes and thresholds (`T_u`): about the longest round trip.
        update: Span = Span::from_ms(500), time(Span::from_ps(1), LONGEST);
        /// Weight of the last period's queueing delay in the smoothed one (alpha).
        smoothing: f64 = 0.5, fraction("a weight", 1.0);
        /// First period, each twice the last up to `update`; default an eighth of that.
        first_update: Option<Span> = None, time(Span::from_ps(1), LONGEST);
        /// Where the packets' round-trip times come from. Senders can lie in all but the oracle; see
        /// [SplitBuff](splitbuff.md#liars).
        rtt: RttSource = RttSource::Header, Kind::Form(&RttSource::FORM);
        /// Sub-buffers share the link by their numbers of flows, not alike.
        weighted: bool = false, FLAG;
        /// At the mean round-trip time, or in the gaps between these, as many as they need.
        thresholds: Thresholds = Thresholds::Mean, choice::<Thresholds>();
        /// Part by which a threshold must change to be moved.
        hysteresis: f64 = 0.0, fraction("a part", 1.0);
        /// Over what the mean round-trip time is taken.
        mean: Mean = Mean::Packets, choice::<Mean>();
        /// Queueing delays from the waits of departures, or from the queues that arrivals meet, as in the pseudocode.
        delays: Delays = Delays::Departures, choice::<Delays>();
        /// Part of the flows, picked by chance, whose packets carry no round-trip time.
        silent: f64 = 0.0, fraction("a part", 1.0);
        /// How large sub-buffers are: shares of one size, or each by its own flows, so that those which state a long time
        /// take nothing from the others; see [SplitBuff](splitbuff.md#liars).
        sizes: Sizes = Sizes::Share, choice::<Sizes>();
        /// Most that a flow may have where a sub-buffer is a quarter full, as a multiple of its fair share of the link. A sketch of
        /// 17 KB counts bytes of flows. Default any: who states a wrong round-trip time can starve all others. 1 is best:
        /// below, fair flows are over it, too. See [SplitBuff](splitbuff.md#liars).
        police: Option<f64> = None, fraction("a multiple", 100.0);
    }
}

impl SplitBuffConfig {
    /// The first period.
    pub(super) fn first_update(&self) -> Span {
        let part = Span::from_ps(self.update.as_ps() / FIRST_PART);
        self.first_update.unwrap_or(part).min(self.update).max(Span::from_ps(1))
    }
}

impl Discipline for SplitBuffConfig {
    type Qdisc = SplitBuff;
    /// A flow whose round-trip time crosses a threshold has packets in two sub-buffers.
    const REORDERS: bool = true;
    const READS_RTT: bool = true;

    fn build(&self, context: Context<'_>) -> SplitBuff {
        let classes = Classes::Rtt(self.rtt.build(context.propagation));
        SplitBuff::new(*self, classes, context.limit, context.rate).with_silent(context.seed)
    }

    fn fill(&mut self, _rate: Rate, _packet_bytes: u32) {
        self.first_update = Some(self.first_update());
    }

    #[cfg(test)]
    fn eager() -> Vec<Self> {
        let (update, first_update) = (Span::from_us(50), Some(Span::from_us(10)));
        let hasty = SplitBuffConfig { update, first_update, smoothing: 0.25, ..SplitBuffConfig::default() };
        let of_flows = SplitBuffConfig { mean: Mean::Flows, hysteresis: 0.3, ..hasty };
        let by_gaps = SplitBuffConfig { thresholds: Thresholds::Gaps, weighted: true, ..hasty };
        vec![
            hasty,
            SplitBuffConfig { sub_buffers: 3, weighted: true, ..hasty },
            SplitBuffConfig { sub_buffers: 4, ..of_flows },
            SplitBuffConfig { sub_buffers: 4, ..by_gaps },
            SplitBuffConfig { sizes: Sizes::Own, police: Some(1.0), ..hasty },
            SplitBuffConfig { sizes: Sizes::Own, police: Some(0.5), ..by_gaps },
        ]
    }
}

parameters! {
    /// Parameters of Blind-SplitBuff (section IV.D).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SplitBuffBlindConfig {
        /// Number of sub-buffers.
        sub_buffers: u32 = 2, SUB_BUFFERS;
    }
}

impl Discipline for SplitBuffBlindConfig {
    type Qdisc = SplitBuff;

    /// Its sub-buffers never change, so the parameters of estimates do not matter.
    fn build(&self, context: Context<'_>) -> SplitBuff {
        let config = SplitBuffConfig { sub_buffers: self.sub_buffers, ..SplitBuffConfig::default() };
        SplitBuff::new(config, Classes::Random { seed: context.seed }, context.limit, context.rate)
    }
}

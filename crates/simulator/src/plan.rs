//! The plan: a scenario lowered to plain integers, the engine's only input.
//!
//! Times are picoseconds, rates bits per second, sizes bytes or packets. The scenario crate draws every random
//! round-trip time and start from the seed, so a plan is the whole truth of a run; random processes that go
//! on during the run (losses, jitter, Poisson arrivals) take their streams from `seed`.

mod host;
mod memory;
mod on_off;
mod varying;
mod video;

use bufferlab_congestion::CongestionConfig;
use bufferlab_parameters::{FASTEST_BPS, Kinds, LONGEST, OutOfBounds, require, within};
use bufferlab_qdisc::{DisciplineConfig, Limit};
use bufferlab_transport::{CallConfig, TcpConfig, UdpConfig};
use bufferlab_units::{Span, Stream};
use serde::{Deserialize, Serialize};

pub use host::{CardPlan, HostPlan};
pub use memory::MemoryPlan;
pub use on_off::{LawPlan, OnOffPlan, OnPlan};
pub use varying::{CapacityPlan, DelayPiece, DelayPlan, LossBurstsPlan, MarkovState, RatePiece};
pub use video::{RateRule, VideoPlan};

/// A run: links, flow groups and flows. See the crate's documentation for the laws that a run obeys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Format of this document; this crate reads [`Plan::VERSION`].
    pub version: u32,
    /// Seed of every random stream of the run.
    pub seed: u64,
    /// Length of the run, ps.
    pub duration_ps: u64,
    /// Measurements start here, ps; less than `duration_ps`.
    pub warmup_ps: u64,
    /// Period of the time series, ps; 0 for none.
    pub sample_interval_ps: u64,
    /// The queued links.
    pub links: Vec<LinkPlan>,
    /// What flows of one kind share.
    pub groups: Vec<GroupPlan>,
    /// The flows, by columns of equal length.
    pub flows: FlowColumns,
}

/// A link: a queue, a transmitter and a fixed propagation delay. What a plan leaves out is as in [`LinkPlan::new`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkPlan {
    /// For messages only.
    pub name: String,
    /// Transmission rate, bit/s; where `capacity` is given, its mean.
    pub rate_bps: u64,
    /// Propagation delay after the transmission, ps.
    pub delay_ps: u64,
    /// How packets are queued.
    pub discipline: QueuePlan,
    /// Chance that an arriving packet is lost before it reaches the queue, in parts per billion.
    #[serde(default)]
    pub loss_ppb: u32,
    /// Changes of the limit while the run goes, in order of time.
    #[serde(default)]
    pub changes: Vec<LimitChange>,
    /// Take part in the time series.
    #[serde(default)]
    pub sample: bool,
    /// What the transmitter offers over time; `null` for always `rate_bps`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<CapacityPlan>,
    /// What a packet's way takes beyond `delay_ps`; `null` for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub varying_delay: Option<DelayPlan>,
    /// Losses in bursts, beside `loss_ppb`; `null` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_bursts: Option<LossBurstsPlan>,
    /// The memory that its queue shares with others'; `null` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryPlan>,
}

impl LinkPlan {
    /// A link without a name that loses nothing, whose limit stays, and which is not sampled.
    pub fn new(rate_bps: u64, delay_ps: u64, discipline: QueuePlan) -> LinkPlan {
        LinkPlan {
            name: String::new(),
            rate_bps,
            delay_ps,
            discipline,
            loss_ppb: 0,
            changes: Vec::new(),
            sample: false,
            capacity: None,
            varying_delay: None,
            loss_bursts: None,
            memory: None,
        }
    }

    /// Whether its packets may come in another order than they have left.
    pub fn reorders(&self) -> bool {
        self.discipline.config.reorders() || self.varying_delay.as_ref().is_some_and(|delay| delay.reorders)
    }

    /// Checks its parameters.
    pub(crate) fn validate(&self) -> Result<(), OutOfBounds> {
        within(self.rate_bps, 1, FASTEST_BPS, "rate_bps")?;
        within(self.delay_ps, 0, LONGEST.as_ps(), "delay_ps")?;
        within(self.loss_ppb, 0, 1_000_000_000, "loss_ppb")?;
        self.discipline.limit.validate("discipline.limit")?;
        self.discipline.config.validate().map_err(|error| error.under("discipline"))?;
        let mut last = 0;
        for (index, change) in self.changes.iter().enumerate() {
            within(change.at_ps, last, LONGEST.as_ps(), format!("changes[{index}].at_ps"))?;
            change.limit.validate(&format!("changes[{index}].limit"))?;
            last = change.at_ps;
        }
        self.validate_varying()
    }

    fn validate_varying(&self) -> Result<(), OutOfBounds> {
        if let Some(memory) = &self.memory {
            memory.validate().map_err(|error| error.under("memory"))?;
            let one = MemoryPlan::holds(&self.discipline.config);
            require(one, "memory", "a memory", "null with a discipline that has classes")?;
        }
        if let Some(capacity) = &self.capacity {
            capacity.validate().map_err(|error| error.under("capacity"))?;
        }
        if let Some(delay) = &self.varying_delay {
            delay.validate().map_err(|error| error.under("varying_delay"))?;
        }
        self.loss_bursts
            .map_or(Ok(()), |bursts| bursts.validate().map_err(|error| error.under("loss_bursts")))
    }
}

/// A link's queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueuePlan {
    /// How much may wait.
    pub limit: Limit,
    /// The discipline with its parameters.
    #[serde(flatten)]
    pub config: DisciplineConfig,
}

impl QueuePlan {
    /// A discipline with a limit.
    pub fn new(limit: Limit, config: impl Into<DisciplineConfig>) -> QueuePlan {
        QueuePlan { limit, config: config.into() }
    }
}

/// A new limit from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitChange {
    /// When, ps.
    pub at_ps: u64,
    /// The new limit.
    pub limit: Limit,
}

/// What the flows of a group share. What a plan leaves out is as in [`GroupPlan::new`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupPlan {
    /// For messages only.
    pub name: String,
    /// What sends.
    pub source: SourcePlan,
    /// Links that data crosses, in order; indices into [`Plan::links`].
    pub forward: Vec<u32>,
    /// Links that acknowledgments cross, in order; may be empty.
    #[serde(default)]
    pub reverse: Vec<u32>,
    /// Random processing delay at the sending host.
    #[serde(default)]
    pub jitter: JitterPlan,
    /// Rate of the sender's own interface, bit/s: packets leave it no closer than that; `null` for no bound.
    pub access_bps: Option<u64>,
    /// What the hosts do beside TCP; `null` for ideal ones, which do nothing.
    pub host: Option<HostPlan>,
    /// Differentiated services codepoint of the flows' packets.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dscp: u8,
    /// Number of the host that sends; `null` if each flow has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<u32>,
    /// Number of the host that receives; `null` if each flow has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<u32>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &u8) -> bool {
    *value == 0
}

impl GroupPlan {
    /// Numbers of hosts are below this.
    pub const MOST_HOSTS: u32 = 1 << 31;

    /// Flows between ideal hosts over these links; acknowledgments cross none.
    pub fn new(name: impl Into<String>, source: SourcePlan, forward: Vec<u32>) -> GroupPlan {
        let (name, reverse) = (name.into(), Vec::new());
        GroupPlan {
            name,
            source,
            forward,
            reverse,
            jitter: JitterPlan::None,
            access_bps: None,
            host: None,
            dscp: 0,
            sender: None,
            receiver: None,
        }
    }
}

/// A random processing delay at a sending host. One delay is drawn at a time; what comes meanwhile shares it.
///
/// What it holds back depends on [`TcpPlan::config`]'s recovery:
/// - Linux's, and any where there is a [`GroupPlan::host`]: acknowledgments. A host that is interrupted late finds those that came meanwhile and takes them in their
///   order, and what each of them allows leaves in the same turn: `Documentation/networking/napi.rst` (6.12: received
///   packets are processed in software interrupts, as many at a time as have come), `net/ipv4/tcp_input.c` (5.10:
///   `tcp_rcv_established` calls `tcp_ack`, which ends with `tcp_xmit_recovery`, and then `tcp_data_snd_check`). So no
///   delay ever comes between proportional rate reduction's count and the segments that it counts (RFC 6937 section 3:
///   `prr_out`).
/// - the others': segments, as ns-2's `overhead_` (2.35, `tcp/tcp.cc`, `send_much`): acknowledgments are processed as
///   they come, and what they allow together leaves when the delay ends.
///
/// What a timer sends waits with every recovery; what waited for its pace does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case", tag = "kind")]
pub enum JitterPlan {
    /// None.
    #[default]
    None,
    /// Uniform in [low, high).
    Uniform {
        /// Least delay, ps.
        low_ps: u64,
        /// Bound of the delay, ps.
        high_ps: u64,
    },
    /// Exponential with this mean.
    Exponential {
        /// Mean delay, ps.
        mean_ps: u64,
    },
}

impl JitterPlan {
    /// The bound of a uniform delay is at most this, and the mean of an exponential one: far below a run's length.
    pub const LONGEST: Span = Span::from_ps(LONGEST.as_ps() / 1_000);

    /// The next delay.
    pub(crate) fn draw(self, stream: &mut Stream) -> Span {
        match self {
            JitterPlan::None => Span::ZERO,
            JitterPlan::Uniform { low_ps, high_ps } => {
                stream.uniform_span(Span::from_ps(low_ps), Span::from_ps(high_ps))
            }
            JitterPlan::Exponential { mean_ps } => stream.exponential_span(Span::from_ps(mean_ps)),
        }
    }

    /// Checks its parameters.
    pub(crate) fn validate(self) -> Result<(), OutOfBounds> {
        let most = Self::LONGEST.as_ps();
        match self {
            JitterPlan::None => Ok(()),
            JitterPlan::Uniform { low_ps, high_ps } => within(high_ps, low_ps, most, "high_ps"),
            JitterPlan::Exponential { mean_ps } => within(mean_ps, 0, most, "mean_ps"),
        }
    }
}

/// What a flow's sender is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case", tag = "kind")]
pub enum SourcePlan {
    /// A TCP connection with data to send.
    Tcp(TcpPlan),
    /// A source that does not listen.
    Udp(UdpPlan),
    /// A video call, whose bitrate follows the receiver's reports. Each packet is a row of the exchanges, from its frame on.
    VideoCall(CallConfig),
}

/// A TCP connection with what it carries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TcpPlan {
    /// Window growth and decrease.
    pub congestion: CongestionConfig,
    /// The parameters of the sender and the receiver.
    #[serde(flatten)]
    pub config: TcpConfig,
    /// Payload bytes to send; `null` for a sender that never ends.
    pub transfer_bytes: Option<u64>,
    /// Data comes by turns, in place of a transfer; `null` for a sender that always has some.
    pub on_off: Option<OnOffPlan>,
    /// Data is what a video client asks for, in place of a transfer or turns; `null` for no video.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub video: Option<Box<VideoPlan>>,
}

impl TcpPlan {
    /// A connection whose sender always has data.
    pub fn new(congestion: impl Into<CongestionConfig>, config: TcpConfig) -> TcpPlan {
        TcpPlan { congestion: congestion.into(), config, transfer_bytes: None, on_off: None, video: None }
    }

    /// Whether its data comes by and by, so that it is neither endless nor one transfer.
    pub fn is_by_turns(&self) -> bool {
        self.on_off.is_some() || self.video.is_some()
    }
}

/// A source that does not listen to its path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UdpPlan {
    /// The parameters of the source.
    #[serde(flatten)]
    pub config: UdpConfig,
    /// The receiver returns each packet, as ICMP's echo does.
    pub echo: bool,
    /// Each packet is a row of the exchanges; so it is with `echo`.
    pub record: bool,
}

/// The flows, by columns of equal length. Delays are one-way and exclude those of links.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowColumns {
    /// Index into [`Plan::groups`].
    pub group: Vec<u32>,
    /// First packet, ps.
    pub start_ps: Vec<u64>,
    /// No new data from here on, ps; `u64::MAX` for never.
    pub stop_ps: Vec<u64>,
    /// Sender to first forward link, ps.
    pub source_delay_ps: Vec<u64>,
    /// Far end of the last forward link to the receiver, ps.
    pub sink_delay_ps: Vec<u64>,
    /// Receiver to the first reverse link, or to the sender if there is none, ps.
    pub return_delay_ps: Vec<u64>,
    /// Far end of the last reverse link to the sender, ps; 0 if there is none.
    pub home_delay_ps: Vec<u64>,
    /// Take part in the time series.
    pub sample: Vec<bool>,
    /// Index of the flow whose data this one returns, as its receiver gets them; `u32::MAX` for none. Empty if no flow
    /// returns another's.
    #[serde(default)]
    pub echo_of: Vec<u32>,
    /// Payload to send in place of the group's, bytes; `u64::MAX` for the group's. Empty if no flow has its own.
    #[serde(default)]
    pub transfer_bytes: Vec<u64>,
}

impl FlowColumns {
    /// The flow whose data a flow returns.
    pub fn echo_of(&self, flow: usize) -> Option<u32> {
        self.echo_of.get(flow).copied().filter(|&of| of != u32::MAX)
    }

    /// What a TCP flow has to send, bytes, if it ever ends.
    pub fn transfer_bytes(&self, flow: usize, group: &TcpPlan) -> Option<u64> {
        let own = self.transfer_bytes.get(flow).copied().filter(|&bytes| bytes != u64::MAX);
        own.or(group.transfer_bytes)
    }
}

impl Plan {
    /// The format that this crate reads.
    pub const VERSION: u32 = 1;
}

//! A queue, a transmitter and a propagation delay.

use bufferlab_simulator::{LinkPlan, QueuePlan};

use super::queue::{Queue, QueueKind, discipline};
use crate::keys::{FLAG, Fraction, ListOf, NAME, REQUIRED, Reading, Text, Time, absent, given, part, shown};
use crate::quantity::buffer::{Buffer, parse_buffer, parse_threshold};
use crate::quantity::capacity::{Capacity, parse_capacity, parse_rate_or_none};
use crate::quantity::format::format_time;
use crate::quantity::handover::{Handover, parse_handover};
use crate::quantity::jitter::{Jitter, parse_jitter};
use crate::quantity::loss_bursts::{LossBursts, parse_loss_bursts};
use crate::text::mistake::Mistake;
use crate::text::value::{Node, Table, Value};

/// Buffer of a `SplitBuff` that is given none.
///
/// Its own size is the BDP of the packets' mean round-trip time, so twice that of the flows' seldom binds, save before
/// the first estimate: all wait in one queue then, and slow start would fill it with what is lost later.
pub const SPLITBUFF_CAP: &str = "2 bdp";

const PPB: f64 = 1e9;

/// Longest delay that a change may have.
const MOST_DELAY_PS: u64 = crate::quantity::MAX_TIME_PS / 1_000;

/// How much may wait.
pub const BUFFER: Text<Buffer> = Text::of("see [below](#buffers)", |value, _| parse_buffer(value));
const MARK: Text<Buffer> = Text::of("a size as `buffer`, not `\"unlimited\"`", |value, _| {
    parse_threshold(value, "; without mark_above nothing is marked")
});

const CAPACITY: Text<Capacity> = Text::of("rate, or one that varies (docs/links.md)", parse_capacity);
const RATE_OR_NONE: Text<u64> = Text::of("rate, `0 bps` for an outage", |value, _| parse_rate_or_none(value));
const JITTER: Text<Jitter> =
    Text::of("`uniform`, `exponential` or `\"none\"`", |value, _| parse_jitter(value));
const HANDOVER: Text<Handover> = Text::of("`\"starlink\"`, `every(…)` (docs/links.md)", parse_handover);
const LOSS_BURSTS: Text<LossBursts> = Text::of("`gemodel(…)` (docs/links.md)", parse_loss_bursts);

shown! { Capacity => "str | None", Handover => "str", LossBursts => "str", }

part! {
    /// What is new of a link from a moment on.
    pub struct Change under "what-changes" {
        /// When.
        at_ps as "at": u64 = REQUIRED, Time::from(0), "100 s";
        /// The new limit.
        buffer: Option<Buffer> = absent("as before"), BUFFER, "50 packets";
        /// The new rate.
        rate_bps as "rate": Option<u64> = absent("as before"), RATE_OR_NONE, "20 Mbps", "0 bps";
        /// The new propagation delay.
        delay_ps as "delay": Option<u64> = absent("as before"), Time { least: 0, most: MOST_DELAY_PS }, "40 ms";
    }
}

part! {
    /// A queue, a transmitter and a propagation delay.
    pub struct Link under "links" {
        /// What paths and overrides call it; in the short form `bottleneck`.
        name: String = absent("`\"link0\"`, `\"link1\"`, …"), NAME, "west" => String::new();
        /// Transmission rate.
        capacity as "rate": Capacity = REQUIRED, CAPACITY, "100 Mbps", "2.5 Gbps";
        /// Propagation delay, one way.
        delay_ps as "delay": u64 = given("0 s"), Time::from(0), "1 ms";
        /// How much may wait; the packet in transmission is not counted. Only splitbuff needs none.
        buffer: Buffer = REQUIRED, BUFFER, "1 bdp", "6250 packets", "1 MB", "300 ms", "stanford";
        /// Queue discipline, with its parameters if a table.
        queue: Queue = given("fifo"), QueueKind, "codel";
        /// An ECN-capable packet that finds more than this waiting is marked; only with `fifo`.
        mark_above: Option<Buffer> = absent("never"), MARK, "20 packets", "30 KB", "1 ms", "0.2 bdp";
        /// Chance that an arriving packet is lost before the queue.
        loss: f64 = given(0.0), Fraction { most: 1.0, inclusive: true, noun: "a share of packets" }, 0.001;
        /// Losses in bursts, beside `loss`: the model of Gilbert and Elliott.
        loss_bursts: Option<LossBursts> = absent("none"), LOSS_BURSTS, "gemodel(0.001, 0.2)";
        /// Random delay of each packet on its way, beside `delay`.
        jitter: Jitter = given("none"), JITTER, "uniform(0 s, 4 ms)";
        /// Whether jitter may change the order of packets; without, one that would come too early waits for those before it.
        reorder: bool = given(false), FLAG, true;
        /// Handovers: the delay changes and nothing is sent for a time.
        handover: Option<Handover> = absent("none"), HANDOVER, "starlink", "every(30 s, outage=80 ms)";
        /// Changes of the buffer, the rate or the delay during the run: from the time `at` on, this holds; in order of time.
        changes: Vec<Change> = given(Value::List(Vec::new())), ListOf::<Change>::within(0, usize::MAX, None),
            crate::keys::toml("[{ at = \"30 s\", buffer = \"50 packets\" }]");
        also
        /// Transmission rate; where it varies, its mean over the run.
        rate_bps: u64;
        also
        /// Largest full packet of the flows on it, by which a buffer in another unit becomes packets; of a scenario under a
        /// seed only.
        packet_bytes: Option<u64>;
        prepare with_buffer;
        agree agree;
    }
}

impl Link {
    /// What a plan takes from its keys as they are, with this queue: neither the traffic nor other parts matter for it.
    pub fn plan(&self, discipline: QueuePlan) -> LinkPlan {
        LinkPlan {
            name: self.name.clone(),
            loss_ppb: (self.loss * PPB).round_ties_even() as u32,
            loss_bursts: self.loss_bursts.as_ref().map(|bursts| bursts.plan),
            ..LinkPlan::new(self.rate_bps, self.delay_ps, discipline)
        }
    }
}

fn agree(link: &mut Link, reading: &mut Reading<'_>) {
    link.rate_bps = link.capacity.mean_bps(crate::quantity::MAX_TIME_PS);
    agree_varying(link, reading);
    if let Some(mark) = link.mark_above.as_ref().filter(|_| link.queue.discipline != "fifo") {
        let mistake = Mistake::new("goes with the queue 'fifo' only")
            .text(&mark.text)
            .key("mark_above")
            .accepted("ecn or ce_threshold in the queue's table");
        reading.refuse(mistake);
    }
    for (index, pair) in link.changes.windows(2).enumerate() {
        if pair[1].at_ps <= pair[0].at_ps {
            let mistake = Mistake::new("is not later than the change before it")
                .text(format_time(pair[1].at_ps))
                .key(format!("changes[{}].at", index + 1))
                .accepted(format!("a time after {}", format_time(pair[0].at_ps)));
            reading.refuse(mistake);
        }
    }
}

/// What changes a rate goes with one that is given over time.
fn agree_varying(link: &Link, reading: &mut Reading<'_>) {
    for (index, change) in link.changes.iter().enumerate() {
        if change.buffer.is_none() && change.rate_bps.is_none() && change.delay_ps.is_none() {
            let mistake = Mistake::new("changes nothing").key(format!("changes[{index}]"));
            reading.refuse(mistake.accepted("a buffer, a rate or a delay"));
        }
    }
    let changes_delay = link.changes.iter().any(|change| change.delay_ps.is_some());
    let has_delays = changes_delay || !link.capacity.delays.is_empty();
    let handover = link.handover.as_ref();
    if let Some(handover) = handover.filter(|handover| handover.delay.is_some() && has_delays) {
        let mistake = Mistake::new("has delays beside those of changes or of a file");
        reading.refuse(mistake.text(&handover.text).key("handover").accepted("delays of one kind"));
    }
    if changes_delay && !link.capacity.delays.is_empty() {
        let mistake = Mistake::new("has delays beside those of the file of the rate").key("changes");
        reading.refuse(mistake.accepted("delays of one kind"));
    }
    let changes_rate = link.changes.iter().any(|change| change.rate_bps.is_some());
    let key = if changes_rate { "changes" } else { "handover" };
    let changed = changes_rate || handover.is_some_and(|handover| handover.outage_ps > 0);
    if changed && link.capacity.pieces().is_none() {
        let mistake = Mistake::new("changes a rate that comes of a trace or at random").key(key);
        reading.refuse(mistake.accepted("a constant rate, steps or csv; or a handover without outage"));
    }
}

/// A `SplitBuff` sizes itself, so it needs no buffer.
fn with_buffer(table: &Table) -> Option<Table> {
    let sizes_itself = discipline(&table.get("queue")?.value).as_deref() == Some("splitbuff");
    if !sizes_itself || table.get("buffer").is_some() {
        return None;
    }
    let mut table = table.clone();
    table.set("buffer", Node::new(Value::text(SPLITBUFF_CAP)));
    Some(table)
}

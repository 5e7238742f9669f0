//! A queue, a transmitter and a propagation delay.

use bufferlab_simulator::{LinkPlan, QueuePlan};

use super::queue::{Queue, QueueKind, discipline};
use crate::keys::{Fraction, ListOf, NAME, RATE, REQUIRED, Reading, Text, Time, absent, given, part};
use crate::quantity::buffer::{Buffer, parse_buffer, parse_threshold};
use crate::quantity::format::format_time;
use crate::text::mistake::Mistake;
use crate::text::value::{Node, Table, Value};

/// Buffer of a `SplitBuff` that is given none.
///
/// Its own size is the BDP of the packets' mean round-trip time, so twice that of the flows' seldom binds, save before
/// the first estimate: all wait in one queue then, and slow start would fill it with what is lost later.
pub const SPLITBUFF_CAP: &str = "2 bdp";

const PPB: f64 = 1e9;

/// How much may wait.
pub const BUFFER: Text<Buffer> = Text::of("see [below](#buffers)", |value, _| parse_buffer(value));
const MARK: Text<Buffer> = Text::of("a size as `buffer`, not `\"unlimited\"`", |value, _| {
    parse_threshold(value, "; without mark_above nothing is marked")
});

part! {
    /// A new buffer from a moment on.
    pub struct Change {
        /// When.
        at_ps as "at": u64 = REQUIRED, Time::from(0), "100 s";
        /// The new limit.
        buffer: Buffer = REQUIRED, BUFFER, "50 packets";
    }
}

part! {
    /// A queue, a transmitter and a propagation delay.
    pub struct Link {
        /// What paths and overrides call it; in the short form `bottleneck`.
        name: String = absent("`\"link0\"`, `\"link1\"`, …"), NAME, "west" => String::new();
        /// Transmission rate.
        rate_bps as "rate": u64 = REQUIRED, RATE, "100 Mbps", "2.5 Gbps";
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
        /// Changes of the buffer during the run: from the time `at` on, this `buffer` holds; in order of time.
        changes: Vec<Change> = given(Value::List(Vec::new())), ListOf::<Change>::within(0, usize::MAX, None),
            crate::keys::toml("[{ at = \"30 s\", buffer = \"50 packets\" }]");
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
            ..LinkPlan::new(self.rate_bps, self.delay_ps, discipline)
        }
    }
}

fn agree(link: &mut Link, reading: &mut Reading<'_>) {
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

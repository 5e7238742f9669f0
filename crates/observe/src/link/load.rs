//! Who uses the link over time.

use super::series::{Bin, Series};
use crate::sketch::Sketch;

/// Bins of one second.
const WIDTH_NS: u64 = 1_000_000_000;
/// A flow is long if it has sent more than this in a direction, over more than a second.
///
/// Long flows are those that have left slow start and share the link by congestion avoidance (G. Appenzeller, I. Keslassy and N. `McKeown`,
/// "Sizing router buffers", SIGCOMM 2004, section 3). From the initial window of ten segments (RFC 6928) slow start sends 10 + 20 +
/// 40 segments of 1460 bytes, 102 kB, in its first three round trips.
const LONG_BYTES: u64 = 100_000;
const LONG_NS: u64 = 1_000_000_000;

/// Whether a flow that has sent this payload since its first is long.
pub(crate) fn is_long(payload_bytes: u64, since_first_ns: u64) -> bool {
    payload_bytes > LONG_BYTES && since_first_ns > LONG_NS
}

/// What one bin has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Second {
    pub(crate) packets: u64,
    pub(crate) wire_bytes: u64,
    /// Flows that are long already and send in it. Of bins that become one, the larger number.
    pub(crate) long_flows: u64,
    /// Connections that begin in it.
    pub(crate) new_flows: u64,
}

impl Bin for Second {
    fn merge(&mut self, later: Second) {
        self.packets += later.packets;
        self.wire_bytes += later.wire_bytes;
        self.long_flows = self.long_flows.max(later.long_flows);
        self.new_flows += later.new_flows;
    }
}

/// Packets, bytes and flows by bins, the sizes of short flows, and the times between the beginnings of connections.
///
/// A flow counts as long only from when it is; before, and in bins in which it sends nothing, it does not. Flows that the capture's end cuts
/// off may be taken for short. A connection begins in the direction of its initiator; those that were there before the capture do not.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) seconds: Series<Second>,
    pub(crate) short_bytes: Sketch,
    pub(crate) apart_ns: Sketch,
    last_ns: Option<u64>,
}

impl Load {
    pub(crate) fn new(bins: usize) -> Load {
        Load {
            seconds: Series::new(WIDTH_NS, bins),
            short_bytes: Sketch::default(),
            apart_ns: Sketch::default(),
            last_ns: None,
        }
    }

    /// A packet; `long` is the moment up to which its flow, which is long, has been counted.
    #[inline]
    pub(crate) fn packet(&mut self, now: u64, wire_bytes: u32, long: Option<&mut u64>) {
        let is_counted = |counted: &u64| self.seconds.is_same(*counted, now);
        let long = long.filter(|counted| !is_counted(counted));
        let bin = self.seconds.at(now);
        bin.packets += 1;
        bin.wire_bytes += u64::from(wire_bytes);
        if let Some(counted) = long {
            bin.long_flows += 1;
            *counted = now;
        }
    }

    /// A connection begins.
    pub(crate) fn begin(&mut self, now: u64) {
        self.seconds.at(now).new_flows += 1;
        if let Some(last) = self.last_ns.replace(now) {
            self.apart_ns.add(now - last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_flow_counts_once_a_bin() {
        let mut load = Load::new(100);
        let mut counted = 0;
        let at = |tenths: u64| WIDTH_NS * tenths / 10;
        load.begin(at(10));
        for tenths in [10, 11, 19, 20, 31] {
            load.packet(at(tenths), 100, (tenths > 10).then_some(&mut counted));
        }
        load.begin(at(31));
        let bins: Vec<_> = load
            .seconds
            .into_bins()
            .map(|(at, bin)| (at, bin.packets, bin.long_flows, bin.new_flows))
            .collect();
        assert_eq!(bins, [(WIDTH_NS, 3, 1, 1), (2 * WIDTH_NS, 1, 1, 0), (3 * WIDTH_NS, 1, 1, 1)]);
        assert_eq!(load.apart_ns.total(), 1);
        assert!(
            is_long(100_001, WIDTH_NS + 1) && !is_long(100_000, WIDTH_NS * 9) && !is_long(1 << 40, WIDTH_NS)
        );
    }
}

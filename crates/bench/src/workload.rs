//! The measured workload: a dumbbell with long-lived flows, the same for all compared programs.

/// Number of evenly spaced classes of round-trip times; flow `i` is in class `i` modulo this.
pub const RTT_CLASSES: usize = 20;
/// Size of a data packet on the wire, bytes.
pub const WIRE_BYTES: u64 = 1000;
/// Headers within it, bytes.
pub const HEADER_BYTES: u32 = 40;

const PS_PER_S: u64 = 1_000_000_000_000;
/// Picoseconds in a millisecond.
pub const PS_PER_MS: u64 = 1_000_000_000;

/// One bottleneck with a drop-tail queue of one bandwidth-delay product, flows with round-trip times of 80 to 120 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Number of flows.
    pub flows: usize,
    /// Rate of the bottleneck, bit/s.
    pub rate_bps: u64,
    /// Largest backlog, packets.
    pub limit_packets: u64,
    /// Simulated time, ps.
    pub duration_ps: u64,
    /// Largest number of packets in flight that a receiver allows.
    pub window_packets: u64,
}

/// A receiver's window that does not limit the sender, packets.
pub const NO_WINDOW: u64 = 100_000;

impl Workload {
    /// The workload of `flows` flows for `duration_s` simulated seconds: 100 Mbit/s up to 1000 flows, then 100 kbit/s per
    /// flow, so that a flow has at least one packet in flight.
    pub fn new(flows: usize, duration_s: u64) -> Self {
        Self { flows, ..Self::at_rate(100_000_000.max(flows as u64 * 100_000), duration_s) }
    }

    /// One flow at `rate_bps`; the queue holds 100 ms.
    pub fn at_rate(rate_bps: u64, duration_s: u64) -> Self {
        let limit_packets = rate_bps / 10 / (8 * WIRE_BYTES);
        let duration_ps = duration_s * PS_PER_S;
        Self { flows: 1, rate_bps, limit_packets, duration_ps, window_packets: NO_WINDOW }
    }

    /// Simulated time, s.
    pub fn duration_s(&self) -> u64 {
        self.duration_ps / PS_PER_S
    }

    /// Time on the wire of a data packet, ps.
    pub fn transmission_ps(&self) -> u64 {
        WIRE_BYTES * 8 * PS_PER_S / self.rate_bps
    }

    /// Two-way propagation delay of a flow, ps: the midpoints of equal parts of 80 to 120 ms.
    pub fn rtt_ps(flow: usize) -> u64 {
        80 * PS_PER_MS + (2 * (flow % RTT_CLASSES) as u64 + 1) * 40 * PS_PER_MS / (2 * RTT_CLASSES as u64)
    }

    /// Start of a flow, ps: spread over the first five seconds in no order of class, a whole number of nanoseconds.
    pub fn start_ps(flow: usize) -> u64 {
        // Multiples of the golden ratio are spread evenly whatever their number.
        let turn = (flow as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
        ((turn * 5 * PS_PER_S / 1000) >> 20) * 1000
    }

    /// Packets that one flow can have in flight without overrunning its ring: eight fair shares and a little more.
    pub fn ring_packets(&self) -> usize {
        (2 * self.limit_packets as usize * 8 / self.flows).clamp(32, 4 * self.limit_packets as usize)
    }
}

//! The bare loop: the least that a packet-level simulation of TCP over one drop-tail link can do.
//!
//! Additive increase, multiplicative decrease, no recovery: a dropped packet only halves the window, at most once per
//! round-trip time. Each flow has one heap entry, and its coming acknowledgments wait in a ring. The queue is not a list
//! but the time at which the link will have sent everything. There are no statistics but the counters below. The engine
//! is measured against this loop, so it is written for speed, not for use.

use crate::workload::Workload;

/// What the loop counted, so that the compiler cannot optimize it away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that reached the queue.
    pub arrived_packets: u64,
    /// Packets that found the queue full.
    pub dropped_packets: u64,
    /// Sum of the waits in the queue, ns.
    pub wait_sum_ns: u64,
}

#[cfg(test)]
impl Counts {
    /// Packets that the link has sent or will send.
    pub fn departed_packets(&self) -> u64 {
        self.arrived_packets - self.dropped_packets
    }
}

/// An entry of the heap: a time and a flow, in this order.
pub trait Entry: Copy + Ord {
    /// An entry for `flow` at `time_ns`.
    fn new(time_ns: u64, flow: u32) -> Self;
    /// The time, ns.
    fn time_ns(self) -> u64;
    /// The flow.
    fn flow(self) -> u32;
}

/// Keeps all 64 bits of the time and all 32 of the flow, as an engine that counts picoseconds must.
impl Entry for u128 {
    #[inline]
    fn new(time_ns: u64, flow: u32) -> Self {
        (Self::from(time_ns) << 64) | Self::from(flow)
    }

    #[inline]
    fn time_ns(self) -> u64 {
        (self >> 64) as u64
    }

    #[inline]
    fn flow(self) -> u32 {
        self as u32
    }
}

/// Bits of the small entry for the flow; the time is above them: 2^40 ns are 18 minutes.
const FLOW_BITS: u32 = 24;

/// The smallest entry that could suffice: nanoseconds, short runs, fewer flows.
impl Entry for u64 {
    #[inline]
    fn new(time_ns: u64, flow: u32) -> Self {
        (time_ns << FLOW_BITS) | Self::from(flow)
    }

    #[inline]
    fn time_ns(self) -> u64 {
        self >> FLOW_BITS
    }

    #[inline]
    fn flow(self) -> u32 {
        (self & ((1 << FLOW_BITS) - 1)) as u32
    }
}

/// Set in the answer to a dropped packet in a ring; the rest of the word is the time, ns.
const LOST: u64 = 1 << 63;

const PS_PER_NS: u64 = 1000;
/// One flow's sender; one cache line.
#[repr(align(64))]
struct Flow {
    /// Two-way propagation delay, ns.
    rtt_ns: u64,
    /// No halving for losses answered before this time, ns.
    recovered_ns: u64,
    /// Window, packets.
    window: u32,
    /// Slow start below this window, packets.
    ssthresh: u32,
    /// Acknowledgments since the window last grew.
    credit: u32,
    /// Read and write positions of the ring, not wrapped: their difference is the number of packets in flight.
    head: u32,
    tail: u32,
    /// First slot of the ring.
    ring: usize,
}

impl Flow {
    /// Handles the answer to one packet.
    #[inline]
    fn answer(&mut self, lost: bool, now_ns: u64, largest_window: u32) {
        if lost {
            if now_ns >= self.recovered_ns {
                self.ssthresh = (self.window / 2).max(1);
                self.window = self.ssthresh;
                self.recovered_ns = now_ns + self.rtt_ns;
                self.credit = 0;
            }
            return;
        }
        self.credit += 1;
        if self.window < self.ssthresh || self.credit >= self.window {
            self.credit = 0;
            self.window = (self.window + 1).min(largest_window);
        }
    }
}

/// Runs the loop over `work` and returns its counts; `E` is the heap's entry.
pub fn run<E: Entry>(work: &Workload) -> Counts {
    let transmission_ns = work.transmission_ps() / PS_PER_NS;
    let full_ns = transmission_ns * work.limit_packets;
    let duration_ns = work.duration_ps / PS_PER_NS;
    let ring_size = work.ring_packets().next_power_of_two();
    let mask = ring_size as u32 - 1;
    let mut rings = vec![0_u64; ring_size * work.flows];
    let mut flows: Vec<Flow> = (0..work.flows)
        .map(|index| {
            rings[index * ring_size] = Workload::start_ps(index) / PS_PER_NS;
            Flow {
                rtt_ns: Workload::rtt_ps(index) / PS_PER_NS,
                recovered_ns: 0,
                window: 1,
                ssthresh: u32::MAX,
                credit: 0,
                head: 0,
                tail: 1,
                ring: index * ring_size,
            }
        })
        .collect();
    let mut heap: Vec<E> =
        (0..work.flows).map(|index| E::new(rings[index * ring_size], index as u32)).collect();
    heap.sort_unstable();

    let mut counts = Counts::default();
    let mut busy_until_ns = 0_u64;
    loop {
        let now_ns = heap[0].time_ns();
        if now_ns >= duration_ns {
            return counts;
        }
        let index = heap[0].flow();
        let flow = &mut flows[index as usize];
        let ring = &mut rings[flow.ring..flow.ring + ring_size];
        let lost = ring[(flow.head & mask) as usize] & LOST != 0;
        flow.head = flow.head.wrapping_add(1);
        flow.answer(lost, now_ns, mask);
        while flow.tail.wrapping_sub(flow.head) < flow.window {
            let wait_ns = busy_until_ns.saturating_sub(now_ns);
            counts.arrived_packets += 1;
            let slot = &mut ring[(flow.tail & mask) as usize];
            if wait_ns > full_ns {
                counts.dropped_packets += 1;
                *slot = (now_ns + wait_ns + flow.rtt_ns) | LOST;
            } else {
                counts.wait_sum_ns += wait_ns;
                busy_until_ns = now_ns + wait_ns + transmission_ns;
                *slot = busy_until_ns + flow.rtt_ns;
            }
            flow.tail = flow.tail.wrapping_add(1);
        }
        // After a halving more than a window is in flight. The ring is never empty, as the window is at least one.
        let next_ns = ring[(flow.head & mask) as usize] & !LOST;
        replace_top(&mut heap, E::new(next_ns, index));
    }
}

/// Replaces the heap's least entry by `entry`.
#[inline]
fn replace_top<E: Entry>(heap: &mut [E], entry: E) {
    let mut hole = 0;
    loop {
        let mut child = 2 * hole + 1;
        if child >= heap.len() {
            break;
        }
        if child + 1 < heap.len() && heap[child + 1] < heap[child] {
            child += 1;
        }
        if heap[child] >= entry {
            break;
        }
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = entry;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_entries_give_the_same_run() {
        for flows in [1, 2, 10, 100] {
            let work = Workload::new(flows, 20);
            assert_eq!(run::<u64>(&work), run::<u128>(&work), "{flows} flows");
        }
    }

    #[test]
    fn the_link_is_full_and_never_overfull() {
        let work = Workload::new(10, 60);
        let counts = run::<u128>(&work);
        let capacity_packets = work.duration_ps / work.transmission_ps();
        assert!(counts.departed_packets() <= capacity_packets + work.limit_packets + 1);
        assert!(counts.departed_packets() > capacity_packets * 9 / 10, "{counts:?}");
        assert!(counts.dropped_packets > 0);
        assert!(
            counts.wait_sum_ns < counts.arrived_packets * work.limit_packets * work.transmission_ps() / 1000
        );
    }

    #[test]
    fn replacing_the_top_keeps_the_least_entry_first() {
        let mut heap: Vec<u64> = (0..37).map(|index| index * 3).collect();
        let mut sorted = heap.clone();
        for step in 0..500_u64 {
            let entry = heap[0] + step * 7919 % 101;
            replace_top(&mut heap, entry);
            sorted[0] = entry;
            sorted.sort_unstable();
            assert_eq!(heap[0], sorted[0], "step {step}");
        }
    }
}

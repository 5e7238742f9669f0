//! What is counted of the packets of one direction of a connection.

use bufferlab_capture::reading::Packet;

/// Counters of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) packets: u64,
    pub(crate) ip_bytes: u64,
    pub(crate) payload_bytes: u64,
    /// Segments on the wire with payload.
    pub(crate) segments: u64,
    /// Packets of several segments, and those segments.
    pub(crate) large_packets: u64,
    pub(crate) large_segments: u64,
    /// The largest payload of a packet of one segment.
    pub(crate) largest_bytes: u32,
    pub(crate) retransmitted_segments: u64,
    pub(crate) retransmitted_bytes: u64,
    /// Of those, the first copy was not seen.
    pub(crate) lost_before_segments: u64,
    /// Losses of one round trip are one.
    pub(crate) loss_episodes: u32,
    /// Segments of the start, and those of it sent again, of a connection whose beginning was seen.
    pub(crate) start_segments: u64,
    pub(crate) start_retransmitted_segments: u64,
    pub(crate) reordered_segments: u64,
    pub(crate) ect0_packets: u64,
    pub(crate) ect1_packets: u64,
    pub(crate) ce_packets: u64,
    pub(crate) ece_packets: u64,
    pub(crate) sack_packets: u64,
    pub(crate) zero_windows: u64,
    /// Acknowledged, but never seen.
    pub(crate) missed_bytes: u64,
    /// Seen twice in a row, with the same identification.
    pub(crate) doubled_packets: u64,
    /// With numbers that no window of the connection holds.
    pub(crate) strange_packets: u64,
    /// When payload was first seen.
    pub(crate) first_data_ns: Option<u64>,
}

impl Counts {
    /// Counts a packet with its payload, which took such a number of segments.
    pub(crate) fn packet(&mut self, now: u64, packet: &Packet, payload: u32, segments: u32) {
        self.packets += 1;
        self.ip_bytes += u64::from(packet.ip_bytes);
        self.payload_bytes += u64::from(payload);
        match packet.ecn {
            1 => self.ect1_packets += 1,
            2 => self.ect0_packets += 1,
            3 => self.ce_packets += 1,
            _ => {}
        }
        if payload == 0 {
            return;
        }
        self.first_data_ns.get_or_insert(now);
        self.segments += u64::from(segments);
        if segments > 1 {
            self.large_packets += 1;
            self.large_segments += u64::from(segments);
        } else {
            self.largest_bytes = self.largest_bytes.max(payload);
        }
    }
}

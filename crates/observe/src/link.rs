//! One direction of a link, as its packets show it.

use bufferlab_capture::reading::Packet;

use crate::observation::LinkRow;
use crate::sample::Seen;

/// What crosses an interface in one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Link {
    packets: u64,
    frame_bytes: u64,
    wire_bytes: u64,
    payload_bytes: u64,
}

impl Link {
    /// A packet, with what its connection says of it.
    pub(crate) fn packet(&mut self, packet: &Packet, seen: &Seen) {
        self.packets += 1;
        self.frame_bytes += u64::from(packet.frame_bytes);
        self.wire_bytes += u64::from(seen.wire_bytes);
        self.payload_bytes += u64::from(seen.payload_bytes);
    }

    /// Its row, if there was a packet.
    pub(crate) fn row(self, interface: u32, direction: u32) -> Option<LinkRow> {
        let Link { packets, frame_bytes, wire_bytes, payload_bytes } = self;
        (packets > 0).then_some(LinkRow {
            interface,
            direction,
            packets,
            frame_bytes,
            wire_bytes,
            payload_bytes,
        })
    }
}

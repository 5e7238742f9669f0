//! The content of a packet, derived from the model's state when it is sent.

use bufferlab_qdisc::{Packet, PacketKind};
use bufferlab_transport::{Ack, SackBlocks};
use bufferlab_units::Time;

use crate::flows::{Endpoints, Flow, Kind, Tcp};
use crate::headers::{Content, Offer, TcpSegment};
use crate::sighting::{Known, Network, Remark};

impl Network {
    fn next_id(&mut self) -> u64 {
        self.packets += 1;
        self.packets
    }

    /// A packet from a sender.
    pub(crate) fn of_packet(&mut self, packet: &Packet) -> Known {
        let id = self.next_id();
        let flow = &mut self.flows[packet.flow as usize];
        let group = flow.group;
        let syn = packet.kind == PacketKind::Syn;
        let connection = if syn { flow.newest() } else { flow.connection_of(packet.seq) };
        let (content, fetches, handshake) = match &self.groups[group as usize].kind {
            Kind::Tcp(tcp) => {
                let stamps = tcp.stamps.then(|| (stamp(packet.sent), flow.heard));
                (Content::Tcp(segment(flow, tcp, packet, connection, stamps)), tcp.fetches, tcp.handshake)
            }
            Kind::Datagrams { pings: true, .. } => {
                (echo(packet.flow, false, packet.seq, packet.wire_bytes), false, true)
            }
            Kind::Datagrams { .. } => (Content::Udp { wire_bytes: packet.wire_bytes }, false, true),
        };
        let first = flow.seen <= connection;
        flow.seen = flow.seen.max(connection + 1);
        Known {
            id,
            flow: packet.flow,
            group,
            from_sender: true,
            ends: Endpoints::new(packet.flow, group, connection, true, fetches),
            identification: flow.next_identification(true),
            content,
            number: if syn { -1 } else { i64::from(packet.seq) },
            wire_bytes: packet.wire_bytes,
            remark: (first && !handshake).then_some(Remark::NoHandshake),
        }
    }

    /// A packet from a receiver.
    pub(crate) fn of_answer(&mut self, at: Time, number: u32, ack: &Ack, blocks: &SackBlocks) -> Known {
        let id = self.next_id();
        let flow = &mut self.flows[number as usize];
        let group = flow.group;
        // the acknowledged segment is the one before
        let connection = if ack.syn { flow.newest() } else { flow.connection_of(ack.ack.saturating_sub(1)) };
        let (content, wire_bytes, fetches, last) = match &self.groups[group as usize].kind {
            Kind::Tcp(tcp) => {
                let stamps = tcp.stamps.then(|| (stamp(at), stamp(ack.echo)));
                let segment = acknowledgment(flow, tcp, ack, blocks, connection, stamps);
                let last = if ack.syn { -1 } else { i64::from(ack.ack) - 1 };
                (Content::Tcp(segment), tcp.ack_bytes, tcp.fetches, last)
            }
            Kind::Datagrams { wire_bytes, pings: true } => {
                (echo(number, true, ack.ack, *wire_bytes), *wire_bytes, false, i64::from(ack.ack))
            }
            // the report of a call
            Kind::Datagrams { wire_bytes, .. } => {
                (Content::Udp { wire_bytes: *wire_bytes }, *wire_bytes, false, i64::from(ack.ack))
            }
        };
        Known {
            id,
            flow: number,
            group,
            from_sender: false,
            ends: Endpoints::new(number, group, connection, false, fetches),
            identification: flow.next_identification(false),
            content,
            number: last,
            wire_bytes,
            remark: None,
        }
    }

    /// The SYN of a client that fetches.
    pub(crate) fn of_question(&mut self, at: Time, number: u32, connection: u32) -> Known {
        let id = self.next_id();
        let flow = &mut self.flows[number as usize];
        let group = flow.group;
        let (content, wire_bytes) = match &self.groups[group as usize].kind {
            Kind::Tcp(tcp) => {
                let stamps = tcp.stamps.then(|| (stamp(at), 0));
                (Content::Tcp(syn(tcp, None, stamps, tcp.first_window)), tcp.ack_bytes)
            }
            Kind::Datagrams { wire_bytes, .. } => (Content::Udp { wire_bytes: *wire_bytes }, *wire_bytes),
        };
        Known {
            id,
            flow: number,
            group,
            from_sender: false,
            ends: Endpoints::new(number, group, connection, false, true),
            identification: flow.next_identification(false),
            content,
            number: -1,
            wire_bytes,
            remark: Some(Remark::DelayOnly),
        }
    }
}

/// TCP's timestamp clock: milliseconds, as in Linux, from 1, since 0 means none.
fn stamp(at: Time) -> u32 {
    (1 + at.as_ps() / 1_000_000_000) as u32
}

fn echo(flow: u32, reply: bool, number: u32, wire_bytes: u32) -> Content {
    Content::Echo { reply, identifier: flow as u16, sequence: (number as u16).wrapping_add(1), wire_bytes }
}

fn segment(
    flow: &Flow,
    tcp: &Tcp,
    packet: &Packet,
    connection: u32,
    stamps: Option<(u32, u32)>,
) -> TcpSegment {
    if packet.kind == PacketKind::Syn {
        // the client that fetches has sent the first SYN
        return syn(tcp, tcp.fetches.then_some(1), stamps, None);
    }
    let seq = flow.byte(connection, packet.seq, tcp.mss_bytes);
    let next = packet.seq + tcp.segments(packet.wire_bytes);
    let end = flow.byte(connection, next, tcp.mss_bytes);
    TcpSegment {
        seq,
        ack: Some(1),
        offer: None,
        ece: false,
        cwr: packet.is_reduced(),
        push: flow.ends_before(next, tcp.mss_bytes),
        window: tcp.window(false, None),
        stamps,
        blocks: [(0, 0); 3],
        block_count: 0,
        payload_bytes: end.wrapping_sub(seq),
    }
}

/// A SYN, or the answer to one, which acknowledges it.
fn syn(tcp: &Tcp, ack: Option<u32>, stamps: Option<(u32, u32)>, offered: Option<u32>) -> TcpSegment {
    TcpSegment {
        seq: 0,
        ack,
        offer: Some(Offer { mss: tcp.announced_mss, sack: tcp.sack, scale: tcp.scale }),
        // RFC 3168 section 6.1.1: a SYN asks with both, its answer agrees with ECE
        ece: tcp.ecn,
        cwr: tcp.ecn && ack.is_none(),
        push: false,
        window: tcp.window(true, offered),
        stamps,
        blocks: [(0, 0); 3],
        block_count: 0,
        payload_bytes: 0,
    }
}

fn acknowledgment(
    flow: &Flow,
    tcp: &Tcp,
    ack: &Ack,
    blocks: &SackBlocks,
    connection: u32,
    stamps: Option<(u32, u32)>,
) -> TcpSegment {
    if ack.syn && !tcp.fetches {
        return syn(tcp, Some(1), stamps, flow.offered);
    }
    let byte = |segment| flow.byte(connection, segment, tcp.mss_bytes);
    let mut edges = [(0, 0); 3];
    for (edge, &(from, to)) in edges.iter_mut().zip(blocks.ranges()) {
        *edge = (byte(from), byte(to));
    }
    TcpSegment {
        seq: 1,
        ack: Some(if ack.syn { 1 } else { byte(ack.ack) }),
        offer: None,
        ece: ack.marked,
        cwr: false,
        push: false,
        window: tcp.window(false, flow.offered),
        stamps,
        blocks: edges,
        block_count: if ack.has_sack { blocks.ranges().len() as u8 } else { 0 },
        payload_bytes: 0,
    }
}

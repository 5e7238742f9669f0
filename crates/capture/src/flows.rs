//! Flows as headers show them: addresses, ports, byte numbers.
//!
//! The model numbers segments and knows no addresses. Here segment n of a connection starts at byte 1 + n × MSS, its
//! initial sequence number being 0, and only a transfer's last segment is shorter. Flow f's sender is 10.0.0.1 + f, its
//! receiver 10.128.0.1 + f. The server's port identifies the group, the client's the connection.

use bufferlab_simulator::{GroupPlan, Plan, SourcePlan, TcpPlan};
use bufferlab_transport::{EcnUse, TuningConfig};

/// Octets of TCP's timestamp option with its padding (RFC 7323 appendix A), which the MSS excludes (RFC 6691).
const STAMP_BYTES: u32 = 12;

const SENDERS: u32 = u32::from_be_bytes([10, 0, 0, 1]);
const RECEIVERS: u32 = u32::from_be_bytes([10, 128, 0, 1]);

/// Ports that no dissector of Wireshark uses.
const SERVER_PORT: u16 = 50_001;
const SERVER_PORTS: u32 = 1_000;
const CLIENT_PORT: u16 = 51_001;
const CLIENT_PORTS: u32 = 3_000;

/// What the flows of a group send.
pub(crate) enum Kind {
    Tcp(Tcp),
    /// Datagrams: the size of an answer, and whether each is answered. What answers others is a call's report.
    Datagrams {
        wire_bytes: u32,
        pings: bool,
    },
}

/// The options that both ends of a connection agreed on.
pub(crate) struct Tcp {
    pub(crate) mss_bytes: u32,
    /// A full segment on the wire; a packet may hold several.
    segment_bytes: u32,
    /// As stated in the option.
    pub(crate) announced_mss: u16,
    pub(crate) ack_bytes: u32,
    pub(crate) window_bytes: u64,
    /// The first window of a receiver that tunes it, segments.
    pub(crate) first_window: Option<u32>,
    /// Shift of the advertised window, if there is one.
    pub(crate) scale: Option<u8>,
    pub(crate) stamps: bool,
    pub(crate) sack: bool,
    pub(crate) ecn: bool,
    pub(crate) handshake: bool,
    /// The receiver is a client that fetches, over a new connection each time.
    pub(crate) fetches: bool,
}

impl Tcp {
    fn new(plan: &TcpPlan) -> Tcp {
        let window_bytes = plan.config.receive_window_bytes;
        let fits = |&shift: &u8| u16::try_from(window_bytes >> shift).is_ok();
        let tuning = plan.config.tuning();
        let scale = tuning.map_or_else(|| (0..=14).find(fits).unwrap_or(14), TuningConfig::scale);
        Tcp {
            mss_bytes: plan.config.mss_bytes,
            segment_bytes: plan.config.mss_bytes + plan.config.header_bytes,
            announced_mss: clamped(
                plan.config.mss_bytes + if plan.config.timestamps { STAMP_BYTES } else { 0 },
            ),
            ack_bytes: plan.config.ack_bytes,
            window_bytes,
            first_window: tuning.map(TuningConfig::first_segments),
            scale: (scale > 0).then_some(scale),
            stamps: plan.config.timestamps,
            sack: plan.config.recovery.uses_sack(),
            ecn: plan.congestion.uses_ecn() || plan.config.ecn != EcnUse::Off,
            handshake: plan.config.handshake,
            fetches: plan.on_off.is_some_and(|on_off| on_off.fetch),
        }
    }

    /// Segments in a packet of data.
    pub(crate) fn segments(&self, wire_bytes: u32) -> u32 {
        wire_bytes / self.segment_bytes.max(1)
    }

    /// The window field of a segment whose sender offers this number of segments, or its constant window.
    pub(crate) fn window(&self, syn: bool, offered: Option<u32>) -> u16 {
        let shift = if syn { 0 } else { self.scale.unwrap_or(0) };
        // the bits that the shift cuts off must not cost a segment
        let tuned =
            offered.map(|segments| (u64::from(segments) * u64::from(self.mss_bytes)).div_ceil(1 << shift));
        tuned.unwrap_or(self.window_bytes >> shift).min(u64::from(u16::MAX)) as u16
    }
}

/// A group of flows.
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Codepoint of its packets, acknowledgments included.
    pub(crate) dscp: u8,
    pub(crate) forward: Vec<u32>,
    pub(crate) reverse: Vec<u32>,
}

impl Group {
    pub(crate) fn new(plan: &GroupPlan) -> Group {
        let kind = match &plan.source {
            SourcePlan::Tcp(tcp) => Kind::Tcp(Tcp::new(tcp)),
            SourcePlan::Udp(udp) => Kind::Datagrams { wire_bytes: udp.config.packet_bytes, pings: udp.echo },
            SourcePlan::VideoCall(call) => Kind::Datagrams { wire_bytes: call.report_bytes, pings: false },
        };
        let (forward, reverse) = (plan.forward.clone(), plan.reverse.clone());
        Group { name: plan.name.clone(), kind, dscp: plan.dscp, forward, reverse }
    }
}

/// The current state of a flow.
#[derive(Clone)]
pub(crate) struct Flow {
    pub(crate) group: u32,
    /// Payload to send, bytes; `u64::MAX` without end.
    transfer_bytes: u64,
    /// First segments of its connections, if it fetches.
    bases: Vec<u32>,
    /// Packets that its sender and its receiver have sent, as the IP header counts them.
    sent: [u16; 2],
    /// The newest timestamp of the receiver that has reached the sender.
    pub(crate) heard: u32,
    /// Answers that were sent over no queue.
    pub(crate) answers: u32,
    /// The window that its receiver currently offers, segments, if it is tuned.
    pub(crate) offered: Option<u32>,
    /// Connections that were reported, and those that have sent something.
    pub(crate) reported: usize,
    pub(crate) seen: u32,
}

impl Flow {
    fn new(plan: &Plan, flow: usize) -> Flow {
        let group = plan.flows.group[flow];
        let transfer_bytes = match &plan.groups[group as usize].source {
            SourcePlan::Tcp(tcp) => plan.flows.transfer_bytes(flow, tcp),
            SourcePlan::Udp(_) | SourcePlan::VideoCall(_) => None,
        };
        Flow {
            group,
            transfer_bytes: transfer_bytes.unwrap_or(u64::MAX),
            bases: Vec::new(),
            sent: [0; 2],
            heard: 0,
            answers: 0,
            offered: match &plan.groups[group as usize].source {
                SourcePlan::Tcp(tcp) => tcp.config.tuning().map(TuningConfig::first_segments),
                SourcePlan::Udp(_) | SourcePlan::VideoCall(_) => None,
            },
            reported: 0,
            seen: 0,
        }
    }

    pub(crate) fn all(plan: &Plan) -> Vec<Flow> {
        (0..plan.flows.group.len()).map(|flow| Flow::new(plan, flow)).collect()
    }

    /// A connection for segments from `base` is opened.
    pub(crate) fn connect(&mut self, base: u32) {
        self.bases.push(base);
    }

    /// The newest connection.
    pub(crate) fn newest(&self) -> u32 {
        self.bases.len().saturating_sub(1) as u32
    }

    /// The connection that a segment belongs to.
    pub(crate) fn connection_of(&self, segment: u32) -> u32 {
        self.bases.partition_point(|&base| base <= segment).saturating_sub(1) as u32
    }

    /// Bytes of a connection before a segment, as sequence numbers count them.
    pub(crate) fn byte(&self, connection: u32, segment: u32, mss_bytes: u32) -> u32 {
        let base = self.bases.get(connection as usize).copied().unwrap_or(0);
        let bytes = u64::from(segment.saturating_sub(base)) * u64::from(mss_bytes);
        // sequence numbers wrap
        (1 + bytes.min(self.transfer_bytes)) as u32
    }

    /// Whether a transfer ends with the segment before this one.
    pub(crate) fn ends_before(&self, segment: u32, mss_bytes: u32) -> bool {
        u64::from(segment) * u64::from(mss_bytes) >= self.transfer_bytes
    }

    /// The next identification of an IP header, which distinguishes packets with equal bytes.
    pub(crate) fn next_identification(&mut self, from_sender: bool) -> u16 {
        let sent = &mut self.sent[usize::from(from_sender)];
        *sent = sent.wrapping_add(1);
        *sent
    }
}

/// Where a packet comes from and goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Endpoints {
    pub(crate) source: [u8; 4],
    pub(crate) destination: [u8; 4],
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
}

impl Endpoints {
    /// Of a packet of a flow's connection, from its sender or its receiver.
    pub(crate) fn new(flow: u32, group: u32, connection: u32, from_sender: bool, fetches: bool) -> Endpoints {
        let (sender, receiver) = ((SENDERS + flow).to_be_bytes(), (RECEIVERS + flow).to_be_bytes());
        let server = SERVER_PORT + (group % SERVER_PORTS) as u16;
        let client = CLIENT_PORT + (connection % CLIENT_PORTS) as u16;
        let (sender_port, receiver_port) = if fetches { (server, client) } else { (client, server) };
        if from_sender {
            Endpoints {
                source: sender,
                destination: receiver,
                source_port: sender_port,
                destination_port: receiver_port,
            }
        } else {
            Endpoints {
                source: receiver,
                destination: sender,
                source_port: receiver_port,
                destination_port: sender_port,
            }
        }
    }
}

fn clamped(bytes: u32) -> u16 {
    u16::try_from(bytes).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        serde_json::from_str(include_str!("../../simulator/tests/plans/two_flows.json")).unwrap()
    }

    /// The first group's options with other parameters.
    fn tcp(change: impl FnOnce(&mut TcpPlan)) -> Tcp {
        let mut plan = plan();
        let SourcePlan::Tcp(tcp) = &mut plan.groups[0].source else { panic!() };
        change(tcp);
        Tcp::new(tcp)
    }

    /// RFC 7323 section 2.3: the least shift by which 16 bits hold the window, 14 at most; none is offered for a small one.
    #[test]
    fn the_window_is_scaled_by_as_much_as_it_needs() {
        for (bytes, scale, field) in [
            (65_535, None, 65_535),
            (65_536, Some(1), 32_768),
            (131_071, Some(1), 65_535),
            (65_535 << 14, Some(14), 65_535),
            (1 << 40, Some(14), 65_535),
        ] {
            let tcp = tcp(|tcp| tcp.config.receive_window_bytes = bytes);
            assert_eq!((tcp.scale, tcp.window(false, None)), (scale, field), "{bytes}");
            // section 2.2: a SYN's window is not scaled
            assert_eq!(u64::from(tcp.window(true, None)), bytes.min(65_535), "{bytes}");
        }
    }

    /// What is offered is in units of the shift, and no segment less for that.
    #[test]
    fn an_offered_window_is_rounded_up() {
        let tcp = tcp(|tcp| tcp.config.receive_window_bytes = 65_535 << 3);
        assert_eq!((tcp.scale, tcp.mss_bytes), (Some(3), 960));
        // 3·960 / 8, and 1 of 961 bytes is more than 120
        assert_eq!([tcp.window(false, Some(3)), tcp.window(true, Some(3))], [360, 2_880]);
        assert_eq!(tcp.window(false, Some(1_000_000)), u16::MAX);
        let odd = Tcp { mss_bytes: 961, ..tcp };
        assert_eq!(odd.window(false, Some(1)), 121);
    }

    /// A packet of several segments has each one's headers.
    #[test]
    fn a_packet_holds_as_many_segments_as_its_bytes() {
        let tcp = tcp(|_| {});
        assert_eq!([999, 1_000, 1_999, 2_000, 45_000].map(|bytes| tcp.segments(bytes)), [0, 1, 1, 2, 45]);
    }

    /// RFC 6691: the option leaves out neither timestamps nor other options; 16 bits hold it.
    #[test]
    fn the_announced_mss_counts_the_timestamps() {
        for (mss_bytes, timestamps, announced) in
            [(960, false, 960), (960, true, 972), (65_530, true, 65_535)]
        {
            let tcp = tcp(|tcp| (tcp.config.mss_bytes, tcp.config.timestamps) = (mss_bytes, timestamps));
            assert_eq!(tcp.announced_mss, announced);
        }
    }

    #[test]
    fn a_segment_belongs_to_the_newest_connection_that_begins_before_it() {
        let mut flow = Flow::new(&plan(), 0);
        assert_eq!((flow.newest(), flow.connection_of(5)), (0, 0));
        for base in [0, 10, 25] {
            flow.connect(base);
        }
        assert_eq!(flow.newest(), 2);
        assert_eq!([0, 9, 10, 24, 25, 99].map(|segment| flow.connection_of(segment)), [0, 0, 1, 1, 2, 2]);
        assert_eq!([flow.byte(1, 10, 960), flow.byte(1, 12, 960), flow.byte(2, 24, 960)], [1, 1_921, 1]);
        // sequence numbers have 32 bits
        assert_eq!(flow.byte(0, 5_000_000, 960), (5_000_000_u64 * 960 + 1) as u32);
    }

    #[test]
    fn a_transfer_ends_within_its_last_segment() {
        let mut plan = plan();
        let SourcePlan::Tcp(tcp) = &mut plan.groups[0].source else { panic!() };
        tcp.transfer_bytes = Some(1_920);
        let flow = Flow::new(&plan, 0);
        assert_eq!([1, 2, 3].map(|segment| flow.ends_before(segment, 960)), [false, true, true]);
        assert_eq!([1, 2, 3].map(|segment| flow.byte(0, segment, 960)), [961, 1_921, 1_921]);
    }

    #[test]
    fn each_host_counts_its_packets_in_16_bits() {
        let mut flow = Flow::new(&plan(), 0);
        assert_eq!([true, true, false, true].map(|sender| flow.next_identification(sender)), [1, 2, 1, 3]);
        flow.sent[0] = u16::MAX;
        assert_eq!(flow.next_identification(false), 0);
    }

    /// docs/capture.md: hosts by flow, the server's port by group, the client's by connection; who fetches is the client.
    #[test]
    fn addresses_and_ports_name_flow_group_and_connection() {
        let ends = Endpoints::new(300, 1_002, 3_004, true, false);
        assert_eq!((ends.source, ends.destination), ([10, 0, 1, 45], [10, 128, 1, 45]));
        assert_eq!((ends.source_port, ends.destination_port), (51_005, 50_003));
        let back = Endpoints::new(300, 1_002, 3_004, false, false);
        assert_eq!((back.source, back.destination), (ends.destination, ends.source));
        assert_eq!((back.source_port, back.destination_port), (50_003, 51_005));
        let fetched = Endpoints::new(300, 1_002, 3_004, true, true);
        assert_eq!((fetched.source_port, fetched.destination_port), (50_003, 51_005));
    }
}

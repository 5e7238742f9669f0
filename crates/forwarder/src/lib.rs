//! A plan's link for the packets of a kernel: the queue and the transmitter that the simulator runs, with packets that
//! have headers.
//!
//! There is no clock and no socket here: whoever reads packets hands them over with the time, and is given the moment at which to ask
//! for one. A packet leaves when its transmission ends, at a moment of the link's own clock, so that being late once does
//! not make later ones late.
//!
//! # Departures from a router
//! - A packet's flow is known by its sender's port, as the flows of a plan have each their own: from the first port on, one
//!   a flow, and then again for each flow's next connection.
//! - A packet has the scenario's size on the wire, whatever the kernel's headers have: what the plan's `header_bytes` are
//!   more than the kernel's is added to every packet of the group.
//! - The round-trip time that senders state comes beside the packets ([`Forwarder::state`]): no kernel writes it
//!   into them.

mod header;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use bufferlab_qdisc::{Ecn, Packet, PacketKind};
use bufferlab_simulator::{CarriedLink, LinkCounters, Outcome, Plan, PlanError, SourcePlan};
use bufferlab_units::Time;

use header::Header;

/// IPv4, TCP without options; the option of timestamps (RFC 7323) takes 12 bytes more.
const TCP_HEADERS: u32 = 40;
const TIMESTAMPS: u32 = 12;

/// Ports that sockets get which ask for none (Documentation/networking/ip-sysctl.rst, `ip_local_port_range`).
const PROGRAMS_FROM: u16 = 32_768;
/// Where the flows of a plan go, one port a congestion control.
const PLANNED_TO: RangeInclusive<u16> = 4_999..=5_031;

/// A packet that is no flow's of the plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a packet of {bytes} bytes is of no flow: {reason}")]
pub struct Stray {
    bytes: usize,
    reason: String,
}

/// A plan's link, which is looked at as by a kernel that forwards packets.
pub struct Forwarder {
    link: CarriedLink<Vec<u8>>,
    first_port: u16,
    groups: Vec<u16>,
    /// What is added to a packet's size, by group.
    extra_bytes: Vec<i64>,
    /// The round-trip times that senders state, µs, by flow; 0 if unknown.
    stated_us: Vec<u32>,
    /// The flows of a group whose packets a user's program sends, and its connections in the order in which they came.
    program: Option<Program>,
}

/// What a user's program sends in the place of a group.
struct Program {
    first: usize,
    count: usize,
    connections: BTreeMap<Connection, usize>,
}

/// Addresses, protocol and ports.
type Connection = ([u8; 8], u8, [u8; 4]);

impl Forwarder {
    /// An empty link.
    ///
    /// # Errors
    /// [`PlanError`] names the first field of the plan that is out of bounds.
    ///
    /// # Arguments
    /// `first_port` is the port of flow 0; the others' follow, and those of their next connections.
    pub fn new(plan: &Plan, first_port: u16) -> Result<Forwarder, PlanError> {
        Ok(Forwarder {
            link: CarriedLink::new(plan, 0)?,
            first_port,
            groups: plan.flows.group.iter().map(|&group| group as u16).collect(),
            extra_bytes: plan.groups.iter().map(|group| extra_bytes(&group.source)).collect(),
            stated_us: vec![0; plan.flows.group.len()],
            program: None,
        })
    }

    /// A user's program sends in the place of a group: whatever is not to a port of the plan's flows is the group's. Its connections
    /// are the group's flows in the order in which they come, again from the first one when all are taken.
    #[must_use]
    pub fn with_program(mut self, group: u16) -> Forwarder {
        let flows = (0..self.groups.len()).filter(|&flow| self.groups[flow] == group);
        let (first, count) = (flows.clone().min().unwrap_or(0), flows.count().max(1));
        self.program = Some(Program { first, count, connections: BTreeMap::new() });
        self
    }

    /// A flow's sender states this round-trip time from now on, µs.
    pub fn state(&mut self, flow: usize, rtt_us: u32) {
        if let Some(stated) = self.stated_us.get_mut(flow) {
            *stated = rtt_us;
        }
    }

    /// A packet comes.
    ///
    /// # Errors
    /// [`Stray`]: it is of no flow.
    pub fn arrive(&mut self, now: Time, bytes: Vec<u8>) -> Result<(), Stray> {
        let Some((header, flow)) = self.look(&bytes)? else {
            return Ok(());
        };
        let group = self.groups[flow];
        let wire_bytes = (i64::from(header.bytes) + self.extra_bytes[usize::from(group)]).max(1) as u32;
        let packet = Packet {
            sent: now,
            flow: flow as u32,
            wire_bytes,
            group,
            kind: header.kind,
            hop: if header.reduced { Packet::REDUCED } else { 0 },
            srtt_us: self.stated_us[flow],
            ..Packet::default()
        };
        self.link.arrive(now, packet, bytes);
        Ok(())
    }

    /// What a packet's headers say, and its flow; nothing if a program sent what is no IPv4, which no link here carries.
    fn look(&mut self, bytes: &[u8]) -> Result<Option<(Header, usize)>, Stray> {
        let stray = |reason: String| Stray { bytes: bytes.len(), reason };
        let known = Header::read(bytes);
        if let Some(program) = &mut self.program
            && known.as_ref().is_none_or(|header| !is_planned(header, self.first_port))
        {
            let header = known.or_else(|| Header::of_others(bytes));
            return Ok(header
                .map(|header| (program.flow_of(&header), header))
                .map(|(flow, header)| (header, flow)));
        }
        let header = known.ok_or_else(|| stray("it is neither TCP nor UDP over IPv4".to_owned()))?;
        let above = header.port.checked_sub(self.first_port);
        let above = above.ok_or_else(|| stray(format!("its port is {}", header.port)))?;
        // a plan that was checked has flows
        Ok(Some((header, usize::from(above) % self.groups.len())))
    }

    /// When to ask for packets; never if none is in it.
    pub fn next(&self) -> Time {
        self.link.next()
    }

    /// The next packet that has left by `now`, with the mark that it was given.
    pub fn take(&mut self, now: Time) -> Option<Vec<u8>> {
        self.link.advance(now);
        let carried = self.link.take()?;
        let mut bytes = carried.load;
        if carried.packet.kind == PacketKind::Data(Ecn::Marked) {
            header::mark(&mut bytes);
        }
        Some(bytes)
    }

    /// What was counted up to `now`, and marks.
    pub fn counters(&mut self, now: Time) -> (LinkCounters, u64) {
        let counters = self.link.counters(now);
        (counters, self.link.marked_packets())
    }

    /// The link's tables, as of `end`, or of the plan's end if that comes first.
    pub fn finish(self, end: Time) -> Outcome {
        self.link.finish_at(end)
    }
}

impl Program {
    /// The flow of the group whose place a packet's connection takes.
    fn flow_of(&mut self, header: &Header) -> usize {
        let next = self.connections.len();
        let number = *self.connections.entry(header.connection).or_insert(next);
        self.first + number % self.count
    }
}

/// Whether a packet is a flow's of the plan, where a program sends, too: those come from ports below the ones that Linux gives to
/// sockets that ask for none (`ip_local_port_range`, 32768 and more), and go to few.
fn is_planned(header: &Header, first_port: u16) -> bool {
    (first_port..PROGRAMS_FROM).contains(&header.port) && PLANNED_TO.contains(&header.to_port)
}

/// What a packet of a group has on the plan's wire more than in the kernel.
fn extra_bytes(source: &SourcePlan) -> i64 {
    match source {
        SourcePlan::Tcp(tcp) => {
            let kernels = TCP_HEADERS + if tcp.config.timestamps { TIMESTAMPS } else { 0 };
            i64::from(tcp.config.header_bytes) - i64::from(kernels)
        }
        SourcePlan::Udp(_) | SourcePlan::VideoCall(_) => 0,
    }
}

#[cfg(test)]
mod tests;

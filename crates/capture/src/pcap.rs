//! Sightings as packets of a pcapng file, one interface for each place.

use bufferlab_units::Time;

use crate::blocks::{Blocks, Output, Report};
use crate::flows::{Endpoints, Kind};
use crate::headers;
use crate::pcapng::{self, Direction, PacketRecord};
use crate::sighting::{Known, Network, Remark, Sighting, Step, reason};

/// Where packets are captured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// At the senders' hosts.
    pub senders: bool,
    /// At the receivers' hosts.
    pub receivers: bool,
    /// At these links: both ends, and losses.
    pub links: Vec<u32>,
}

impl Places {
    /// Whether packets are of interest between leaving a host and reaching the other.
    pub(crate) fn beyond_senders(&self) -> bool {
        self.receivers || !self.links.is_empty()
    }
}

/// Flows whose hosts get names in a file.
const MOST_NAMED: usize = 10_000;

/// A capture file.
pub(crate) struct Pcap {
    blocks: Blocks,
    /// Interfaces by place; a link has three: arrivals, packets that have crossed it, losses.
    senders: Option<u32>,
    receivers: Option<u32>,
    links: Vec<Option<u32>>,
    /// Packets seen at each interface.
    seen: Vec<u64>,
    most: u64,
    written: u64,
    /// Blocks before the first packet.
    heads: u64,
    headers: Vec<u8>,
}

impl Pcap {
    pub(crate) fn new(output: Box<dyn Output>, places: &Places, network: &Network, most: u64) -> Pcap {
        let mut pcap = Pcap {
            blocks: Blocks::new(output),
            senders: None,
            receivers: None,
            links: vec![None; network.links.len()],
            seen: Vec::new(),
            most,
            written: 0,
            heads: 1,
            headers: Vec::new(),
        };
        pcap.blocks.push(|buffer| {
            let application = concat!("Bufferlab ", env!("CARGO_PKG_VERSION"));
            pcapng::section(
                buffer,
                application,
                "A simulation: addresses and ports are made up, payload is left out",
            );
        });
        if places.senders {
            pcap.senders = Some(pcap.describe("senders", "The senders' hosts", None));
        }
        if places.receivers {
            pcap.receivers = Some(pcap.describe("receivers", "The receivers' hosts", None));
        }
        for &link in &places.links {
            let facts = &network.links[link as usize];
            let (name, rate) = (&facts.name, Some(facts.rate_bps));
            let first =
                pcap.describe(&format!("{name}.in"), &format!("What arrives at the queue of {name}"), rate);
            pcap.describe(&format!("{name}.out"), &format!("What reaches the far end of {name}"), rate);
            pcap.describe(&format!("{name}.lost"), &format!("What {name} loses"), rate);
            pcap.links[link as usize] = Some(first);
        }
        pcap
    }

    /// Names the hosts of the recorded flows, if there are few enough for a list.
    pub(crate) fn name_hosts(&mut self, network: &Network, included: &[bool]) {
        let flows = network.flows.iter().zip(0_u32..);
        let flows: Vec<_> = flows.filter(|(flow, _)| included[flow.group as usize]).collect();
        if flows.len() > MOST_NAMED {
            return;
        }
        let names = flows.iter().flat_map(|&(flow, number)| {
            let group = &network.groups[flow.group as usize].name;
            let ends = Endpoints::new(number, flow.group, 0, true, false);
            let name = |role: &str| format!("{group}-{number}.{role}");
            [(ends.source, name("sender")), (ends.destination, name("receiver"))]
        });
        self.blocks.push(|buffer| pcapng::names(buffer, names));
        self.heads += 1;
    }

    fn describe(&mut self, name: &str, description: &str, rate_bps: Option<u64>) -> u32 {
        self.blocks.push(|buffer| pcapng::interface(buffer, name, description, rate_bps));
        self.seen.push(0);
        self.heads += 1;
        self.seen.len() as u32 - 1
    }

    /// The interface at which a packet is seen, and its direction there.
    fn interface(&self, sighting: &Sighting<'_>) -> Option<(u32, Direction)> {
        let of_link = |link: u32, place: u32, direction: Direction| {
            self.links[link as usize].map(|first| (first + place, direction))
        };
        let host = |sends: bool| if sends { self.senders } else { self.receivers };
        let from_sender = sighting.packet.from_sender;
        match sighting.step {
            Step::Leaves => host(from_sender).map(|interface| (interface, Direction::Outbound)),
            Step::Arrives => host(!from_sender).map(|interface| (interface, Direction::Inbound)),
            Step::Joins(link, _) => of_link(link, 0, Direction::Inbound),
            Step::Reaches(link, _) => of_link(link, 1, Direction::Outbound),
            Step::Lost(link, _) => of_link(link, 2, Direction::Inbound),
            Step::Starts(_) => None,
        }
    }

    pub(crate) fn see(&mut self, sighting: &Sighting<'_>, network: &Network) {
        let Some((interface, direction)) = self.interface(sighting) else {
            return;
        };
        self.seen[interface as usize] += 1;
        if self.written >= self.most {
            return;
        }
        self.written += 1;
        let packet = sighting.packet;
        let field = (network.groups[packet.group as usize].dscp, sighting.ecn);
        let stated =
            headers::write(&mut self.headers, &packet.ends, packet.identification, field, &packet.content);
        let comment = comment(sighting, network);
        let record = PacketRecord {
            interface,
            time_ns: nanoseconds(sighting.at),
            headers: &self.headers,
            original_bytes: packet.wire_bytes.max(stated),
            direction,
            id: packet.id,
            comment: comment.as_deref(),
        };
        self.blocks.push(|buffer| pcapng::packet(buffer, &record));
    }

    pub(crate) fn is_open(&self) -> bool {
        self.blocks.is_open()
    }

    pub(crate) fn finish(mut self, end: Time) -> Report {
        for (interface, &seen) in self.seen.iter().enumerate() {
            self.blocks.push(|buffer| pcapng::statistics(buffer, interface as u32, nanoseconds(end), seen));
        }
        let left_out = self.seen.iter().sum::<u64>() - self.written;
        let (bytes, blocks, problem) = self.blocks.finish();
        Report { records: self.written.min(blocks.saturating_sub(self.heads)), left_out, bytes, problem }
    }
}

fn nanoseconds(at: Time) -> u64 {
    at.as_ps() / 1_000
}

fn comment(sighting: &Sighting<'_>, network: &Network) -> Option<String> {
    if let Step::Lost(link, loss) = sighting.step {
        return Some(format!("lost at {}: {}", network.links[link as usize].name, reason(loss)));
    }
    match sighting.packet.remark? {
        Remark::DelayOnly => {
            Some("the model's client asks by a pure delay: this SYN waits in no queue".to_owned())
        }
        Remark::NoHandshake => Some(agreed(sighting.packet, network)),
    }
}

/// What a handshake would have shown.
fn agreed(packet: &Known, network: &Network) -> String {
    let Kind::Tcp(tcp) = &network.groups[packet.group as usize].kind else {
        return String::new();
    };
    let scale = tcp.scale.map_or(String::new(), |scale| format!(", window scale {scale}"));
    let (sack, stamps) = (if tcp.sack { ", SACK" } else { "" }, if tcp.stamps { ", timestamps" } else { "" });
    format!("the scenario has no handshake; MSS {}{scale}{sack}{stamps}", tcp.announced_mss)
}

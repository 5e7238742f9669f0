//! Sightings as lines: ns-2's trace, or a table of comma-separated values.
//!
//! ns-2's columns are event, time, node it comes from, node it goes to, type, bytes, flags, flow, source, destination,
//! number, packet (The ns Manual, "Trace File Format"; ns-2.35 `trace/trace.cc`, `Trace::format`).

use std::io::Write;

use bufferlab_qdisc::Ecn;
use bufferlab_units::Time;

use crate::blocks::{Blocks, Output, Report};
use crate::headers::{Content, TcpSegment};
use crate::sighting::{Known, Network, Sighting, Step, reason};

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// As in ns-2.
    Ns2,
    /// Comma-separated values under a line of names.
    Csv,
}

/// A trace file.
pub(crate) struct Trace {
    blocks: Blocks,
    format: TraceFormat,
    /// The nodes at the two ends of each link.
    nodes: Vec<(u32, u32)>,
    /// The first number of hosts.
    hosts: u32,
    most: u64,
    written: u64,
    left_out: u64,
}

impl Trace {
    pub(crate) fn new(output: Box<dyn Output>, format: TraceFormat, network: &Network, most: u64) -> Trace {
        let (nodes, hosts) = nodes(network);
        let mut blocks = Blocks::new(output);
        if format == TraceFormat::Csv {
            blocks.push(|buffer| {
                buffer.extend(b"time_s,event,place,type,bytes,flow,group,from,number,packet,reason\n");
            });
        }
        Trace { blocks, format, nodes, hosts, most, written: 0, left_out: 0 }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.blocks.is_open()
    }

    pub(crate) fn see(&mut self, sighting: &Sighting<'_>, network: &Network) {
        match self.format {
            TraceFormat::Csv => self.see_csv(sighting, network),
            TraceFormat::Ns2 => self.see_ns2(sighting, network),
        }
    }

    fn line(&mut self, write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) {
        if self.written >= self.most {
            self.left_out += 1;
            return;
        }
        self.written += 1;
        self.blocks.push(|buffer| {
            // memory accepts everything
            let _ = write(buffer);
        });
    }

    fn see_csv(&mut self, sighting: &Sighting<'_>, network: &Network) {
        let packet = sighting.packet;
        let link = |link: u32| network.links[link as usize].name.as_str();
        let host = |sends: bool| if sends { "senders" } else { "receivers" };
        let (event, place, why) = match sighting.step {
            Step::Leaves => ("leaves", host(packet.from_sender), ""),
            Step::Joins(index, _) => ("joins", link(index), ""),
            Step::Starts(index) => ("starts", link(index), ""),
            Step::Reaches(index, _) => ("reaches", link(index), ""),
            Step::Lost(index, loss) => ("lost", link(index), reason(loss)),
            Step::Arrives => ("arrives", host(!packet.from_sender), ""),
        };
        let group = &network.groups[packet.group as usize].name;
        let from = if packet.from_sender { "sender" } else { "receiver" };
        let (seconds, kind) = (Seconds(sighting.at), kind(packet));
        let Known { wire_bytes, flow, number, id, .. } = packet;
        self.line(|buffer| {
            writeln!(
                buffer,
                "{seconds},{event},{place},{kind},{wire_bytes},{flow},{group},{from},{number},{id},{why}"
            )
        });
    }

    fn see_ns2(&mut self, sighting: &Sighting<'_>, network: &Network) {
        let packet = sighting.packet;
        let group = &network.groups[packet.group as usize];
        let path = if packet.from_sender { &group.forward } else { &group.reverse };
        let node = |sends: bool| self.hosts + 2 * packet.flow + u32::from(!sends);
        let (from, to) = (node(packet.from_sender), node(!packet.from_sender));
        // without a queue on the way, the other host is next
        let first = path.first().map_or(to, |&link| self.nodes[link as usize].0);
        let last = path.last().map_or(from, |&link| self.nodes[link as usize].1);
        match sighting.step {
            Step::Leaves => {
                self.event('+', sighting, (from, first));
                self.event('-', sighting, (from, first));
            }
            Step::Joins(link, is_first) => {
                if is_first {
                    self.event('r', sighting, (from, first));
                }
                self.event('+', sighting, self.nodes[link as usize]);
            }
            Step::Starts(link) => self.event('-', sighting, self.nodes[link as usize]),
            Step::Lost(link, _) => self.event('d', sighting, self.nodes[link as usize]),
            Step::Reaches(link, is_last) => {
                self.event('r', sighting, self.nodes[link as usize]);
                if is_last {
                    self.event('+', sighting, (last, to));
                    self.event('-', sighting, (last, to));
                }
            }
            Step::Arrives => self.event('r', sighting, (last, to)),
        }
    }

    fn event(&mut self, event: char, sighting: &Sighting<'_>, (from, to): (u32, u32)) {
        let packet = sighting.packet;
        let node = |sends: bool| self.hosts + 2 * packet.flow + u32::from(!sends);
        let (source, destination) = (node(packet.from_sender), node(!packet.from_sender));
        let (seconds, kind, flags) = (Seconds(sighting.at), kind(packet), flags(sighting));
        let Known { wire_bytes, flow, number, id, .. } = packet;
        self.line(|buffer| {
            writeln!(
                buffer,
                "{event} {seconds} {from} {to} {kind} {wire_bytes} {flags} {flow} {source}.0 {destination}.0 {number} {id}"
            )
        });
    }

    pub(crate) fn finish(self) -> Report {
        let head = u64::from(self.format == TraceFormat::Csv);
        let (bytes, blocks, problem) = self.blocks.finish();
        Report { records: blocks.saturating_sub(head), left_out: self.left_out, bytes, problem }
    }
}

/// Nodes by link, and the first number beyond them: one link's far end is the near end of the one after it.
fn nodes(network: &Network) -> (Vec<(u32, u32)>, u32) {
    let links = network.links.len();
    // near ends come first, then far ends; each stands for the lowest that it is joined to
    let mut joined: Vec<usize> = (0..2 * links).collect();
    for group in &network.groups {
        for path in [&group.forward, &group.reverse] {
            for pair in path.windows(2).filter(|pair| pair[0] != pair[1]) {
                let (far, near) = (joined[links + pair[0] as usize], joined[pair[1] as usize]);
                let (low, high) = (far.min(near), far.max(near));
                joined.iter_mut().filter(|end| **end == high).for_each(|end| *end = low);
            }
        }
    }
    let mut numbers = vec![None; 2 * links];
    let mut next = 0;
    let mut number = |end: usize| {
        *numbers[joined[end]].get_or_insert_with(|| {
            next += 1;
            next - 1
        })
    };
    let ends = (0..links).map(|link| (number(link), number(links + link))).collect();
    (ends, next)
}

fn kind(packet: &Known) -> &'static str {
    match packet.content {
        Content::Tcp(_) if packet.from_sender => "tcp",
        Content::Tcp(_) => "ack",
        Content::Udp { .. } => "udp",
        Content::Echo { .. } => "ping",
    }
}

/// C: echoes a mark to the sender; E: marked; N: may be marked.
fn flags(sighting: &Sighting<'_>) -> &'static str {
    match (sighting.ecn, sighting.packet.content) {
        (Ecn::Marked, _) => "----E-N",
        (Ecn::Capable | Ecn::Scalable, _) => "------N",
        (Ecn::Incapable, Content::Tcp(TcpSegment { ece: true, offer: None, .. })) => "C------",
        _ => "-------",
    }
}

/// A time in seconds, exact.
struct Seconds(Time);

impl std::fmt::Display for Seconds {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const PS_PER_S: u64 = 1_000_000_000_000;
        let ps = self.0.as_ps();
        write!(out, "{}.{:012}", ps / PS_PER_S, ps % PS_PER_S)
    }
}

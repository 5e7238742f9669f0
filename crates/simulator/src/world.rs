//! Builds a world from a checked plan.

use std::collections::BTreeMap;

use bufferlab_qdisc::{DisciplineConfig, Limit};
use bufferlab_transport::{
    BurstsConfig, CallReceiver, CallSender, DatagramSource, EcnUse, Load, Receiver, Recovery, Sender,
    UdpSource,
};
use bufferlab_units::{Rate, Span, Time};

use crate::card::Card;
use crate::ends::Ends;
use crate::ends::receiving::{Datagrams, Interrupts, ReceivingHost, ReceivingSetup, Watch};
use crate::extras::Noise;
use crate::link::{self, Capacity, DelayLine, Link, LinkSetup, LossBursts, Moments, Server};
use crate::memory::SharedMemory;
use crate::network::{Route, World};
use crate::on_off::OnOff;
use crate::plan::{FlowColumns, GroupPlan, JitterPlan, LinkPlan, Plan, SourcePlan, TcpPlan};
use crate::readings::Schedule;
use crate::return_path::ReturnPath;
use crate::sending::{Capable, Identity, SendingHost, SendingSetup, Source};
use crate::statistics::LinkStatistics;
use crate::streams::StreamKind;
use crate::video::Video;

/// How links are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    /// Without events where the discipline allows it.
    Shortest,
    /// By events everywhere.
    Events,
}

/// A link by itself, served by events, and when it is read.
pub(crate) fn build_link(plan: &Plan, index: u32) -> (Link, Schedule) {
    let schedule = schedule(plan);
    let builder = Builder { plan, schedule, service: Service::Events, echoes: BTreeMap::new() };
    (builder.link(index), schedule)
}

pub(crate) fn build(plan: &Plan, service: Service) -> World {
    let schedule = schedule(plan);
    let builder = Builder { plan, schedule, service, echoes: echoes(&plan.flows) };
    let by_rank = senders_in_order(&plan.flows.source_delay_ps);
    let mut ranks = vec![0; by_rank.len()];
    for (rank, &flow) in by_rank.iter().enumerate() {
        ranks[flow as usize] = rank as u32;
    }
    World {
        ends: by_rank.iter().map(|&flow| builder.ends(flow as usize)).collect(),
        links: (0..plan.links.len() as u32).map(|index| builder.link(index)).collect(),
        ranks,
        groups: plan.flows.group.clone(),
        routes: plan.groups.iter().map(build_route).collect(),
        memories: SharedMemory::all(plan),
        schedule,
        receiver_events: plan.groups.iter().any(has_receiver_events) || !plan.flows.echo_of.is_empty(),
    }
}

fn schedule(plan: &Plan) -> Schedule {
    Schedule {
        interval: Span::from_ps(plan.sample_interval_ps),
        warmup: Time::from_ps(plan.warmup_ps),
        end: Time::from_ps(plan.duration_ps),
    }
}

/// Flows by falling delay to their first link, then by index.
fn senders_in_order(source_delays: &[u64]) -> Vec<u32> {
    let mut flows: Vec<u32> = (0..source_delays.len() as u32).collect();
    flows.sort_by_key(|&flow| std::cmp::Reverse(source_delays[flow as usize]));
    flows
}

/// The flow that returns what a flow delivers, by that flow, where there is one.
fn echoes(flows: &FlowColumns) -> BTreeMap<u32, u32> {
    let pairs = flows.echo_of.iter().zip(0..).filter(|&(&of, _)| of != u32::MAX);
    pairs.map(|(&of, by)| (of, by)).collect()
}

fn build_route(group: &GroupPlan) -> Route {
    Route { forward: group.forward.clone(), reverse: group.reverse.clone() }
}

fn has_receiver_events(group: &GroupPlan) -> bool {
    match &group.source {
        SourcePlan::Tcp(tcp) => tcp.config.ack_every > 1 || !group.reverse.is_empty() || is_late(group),
        SourcePlan::Udp(udp) => udp.echo && !group.reverse.is_empty(),
        SourcePlan::VideoCall(_) => !group.reverse.is_empty(),
    }
}

/// The moments at which backlogs are read do not depend on the seed, so that runs in which nothing is random are, too.
const MOMENTS_SEED: u64 = 0;

/// Builds the parts of a plan's world.
struct Builder<'a> {
    plan: &'a Plan,
    schedule: Schedule,
    service: Service,
    /// The flow that returns what a flow delivers, by that flow, where there is one.
    echoes: BTreeMap<u32, u32>,
}

impl Builder<'_> {
    fn group(&self, flow: usize) -> &GroupPlan {
        &self.plan.groups[self.plan.flows.group[flow] as usize]
    }

    fn ends(&self, flow: usize) -> Ends {
        Ends { sender: self.sender(flow), receiver: self.receiver(flow) }
    }

    fn link(&self, index: u32) -> Link {
        let (plan, schedule) = (self.plan, &self.schedule);
        let link = &plan.links[index as usize];
        Link::new(LinkSetup {
            server: self.server(index),
            plan: link,
            loss: StreamKind::Loss.stream(plan.seed, index),
            bursts: link.loss_bursts.as_ref().map(|bursts| {
                Box::new(LossBursts::new(bursts, StreamKind::LossBursts.stream(plan.seed, index)))
            }),
            delay_line: link.varying_delay.as_ref().map(|delay| {
                Box::new(DelayLine::new(delay, StreamKind::LinkJitter.stream(plan.seed, index)))
            }),
            readings: schedule.readings(link.sample),
            moments: Moments::new(schedule, StreamKind::Moments.stream(MOMENTS_SEED, index)),
            statistics: LinkStatistics::new(plan.groups.len(), schedule),
        })
    }

    fn server(&self, index: u32) -> Server {
        let link = &self.plan.links[index as usize];
        if let Some(capacity) = &link.capacity {
            let stream = StreamKind::Capacity.stream(self.plan.seed, index);
            let capacity = Capacity::new(capacity, &self.schedule, stream);
            return Server::Queued(link::Queued::varying(link.qdisc(self.plan, index), capacity));
        }
        match (&link.discipline.config, self.service) {
            (DisciplineConfig::Fifo(fifo), Service::Shortest)
                if link.varying_delay.is_none() && link.memory.is_none() =>
            {
                let mark_above = fifo.mark_above.map_or(Limit::Unlimited, Limit::from);
                Server::Fifo(link::Fifo::new(link.discipline.limit, mark_above, link.rate()))
            }
            _ => Server::Queued(link::Queued::new(link.qdisc(self.plan, index), link.rate())),
        }
    }

    fn sender(&self, flow: usize) -> SendingHost {
        let (plan, flows, group) = (self.plan, &self.plan.flows, self.group(flow));
        let (source, data_bytes, syn_bytes) = match &group.source {
            SourcePlan::Tcp(tcp) => {
                let wire = tcp.config.mss_bytes + tcp.config.header_bytes;
                let control = tcp.control(plan.seed, flow as u32);
                (
                    Source::Tcp(Sender::new(&tcp.config, load(tcp, flows, flow), control)),
                    wire,
                    tcp.config.ack_bytes,
                )
            }
            SourcePlan::Udp(udp) => {
                let stream = StreamKind::Datagram.stream(plan.seed, flow as u32);
                let source = DatagramSource::Deaf(Box::new(UdpSource::new(udp.config.clone(), stream)));
                (Source::Datagrams(source), udp.config.packet_bytes, 0)
            }
            SourcePlan::VideoCall(call) => {
                let stream = StreamKind::Datagram.stream(plan.seed, flow as u32);
                let source = DatagramSource::Call(Box::new(CallSender::new(call, stream)));
                (Source::Datagrams(source), call.packet_bytes, 0)
            }
        };
        SendingHost::new(SendingSetup {
            source,
            readings: self.schedule.readings(flows.sample[flow]),
            start: Time::from_ps(flows.start_ps[flow]),
            stop: Time::from_ps(flows.stop_ps[flow]),
            offset: Span::from_ps(flows.source_delay_ps[flow]),
            data_bytes,
            syn_bytes,
            jitter: group.jitter,
            delays_acks: delays_acks(group),
            interrupt: interrupt(group),
            noise: self.noise(group, StreamKind::Noise, flow),
            access: group.access_bps.map(rate),
            card: group.host.and_then(|host| host.card).map(|card| Card::new(card, data_bytes)),
            stream: StreamKind::Jitter.stream(plan.seed, flow as u32),
            on_off: self.on_off(flow),
            video: self.video(flow),
            recorded: is_recorded(&group.source),
            echoes: flows.echo_of(flow).is_some(),
            packs: packs(&group.source),
            states: is_tuned(&group.source)
                || plan.links.iter().any(|link| link.discipline.config.reads_rtt()),
            identity: Identity {
                flow: flow as u32,
                first_link: group.forward[0],
                group: flows.group[flow] as u16,
                single_link: group.forward.len() == 1
                    && group.reverse.is_empty()
                    && plan.links[group.forward[0] as usize].memory.is_none(),
                capable: capable(&group.source),
            },
        })
    }

    fn noise(&self, group: &GroupPlan, kind: StreamKind, flow: usize) -> Option<Noise> {
        let law = group.host?.noise?;
        Some(Noise::new(law, kind.stream(self.plan.seed, flow as u32)))
    }

    fn on_off(&self, flow: usize) -> Option<OnOff> {
        let SourcePlan::Tcp(tcp) = &self.group(flow).source else {
            return None;
        };
        let stream = StreamKind::OnOff.stream(self.plan.seed, flow as u32);
        let way = Span::from_ps(self.way_back(flow));
        tcp.on_off.as_ref().map(|on_off| OnOff::new(on_off, tcp.config.mss_bytes, way, stream))
    }

    fn video(&self, flow: usize) -> Option<Box<Video>> {
        let SourcePlan::Tcp(tcp) = &self.group(flow).source else {
            return None;
        };
        let (way, until) = (Span::from_ps(self.way_back(flow)), Time::from_ps(self.plan.flows.stop_ps[flow]));
        tcp.video.as_ref().map(|video| Box::new(Video::new(video, tcp.config.mss_bytes, way, until)))
    }

    /// From the receiver to the sender without waiting, ps.
    fn way_back(&self, flow: usize) -> u64 {
        let (plan, flows, group) = (self.plan, &self.plan.flows, self.group(flow));
        let links: u64 = group.reverse.iter().map(|&link| plan.links[link as usize].delay_ps).sum();
        flows.return_delay_ps[flow] + links + flows.home_delay_ps[flow]
    }

    fn receiver(&self, flow: usize) -> ReceivingHost {
        let (plan, flows, group) = (self.plan, &self.plan.flows, self.group(flow));
        let echoed_by = self.echoes.get(&(flow as u32)).copied();
        let delay = |link: u32| Span::from_ps(plan.links[link as usize].delay_ps);
        let after = |path: &[u32]| path.last().map_or(Span::ZERO, |&link| delay(link));
        let (receiver, ack_bytes, payload_bytes, header_bytes, transfer_bytes) = match &group.source {
            SourcePlan::Tcp(tcp) => (
                Some(
                    Receiver::new(&tcp.config)
                        .with_quick_acks(quick_acks(group), tcp.config.first_receive_window()),
                ),
                tcp.config.ack_bytes,
                tcp.config.mss_bytes,
                tcp.config.header_bytes,
                flows.transfer_bytes(flow, tcp).unwrap_or(u64::MAX),
            ),
            SourcePlan::Udp(udp) => (None, 0, 0, udp.config.header_bytes, u64::MAX),
            SourcePlan::VideoCall(call) => (None, call.report_bytes, 0, call.header_bytes, u64::MAX),
        };
        let (datagrams, watch) = looks(&group.source, transfer_bytes, echoed_by.is_some());
        let apart = packs(&group.source) || is_tuned(&group.source) || group.host.is_some();
        let mut readings = self.schedule.readings(flows.sample[flow]);
        readings.watch(watch != Watch::Nothing || apart, &self.schedule);
        ReceivingHost::new(ReceivingSetup {
            receiver,
            readings,
            offset: after(&group.forward) + Span::from_ps(flows.sink_delay_ps[flow]),
            return_delay: Span::from_ps(flows.return_delay_ps[flow]),
            home_delay: after(&group.reverse) + Span::from_ps(flows.home_delay_ps[flow]),
            ack_bytes,
            payload_bytes,
            header_bytes,
            transfer_bytes,
            returns: (!group.reverse.is_empty()).then(|| {
                let mut links = group.reverse.iter().map(|&link| &plan.links[link as usize]);
                ReturnPath::new(links.any(LinkPlan::reorders))
            }),
            datagrams,
            watch,
            apart,
            interrupts: is_late(group).then(|| {
                let noise = self.noise(group, StreamKind::ReceiverNoise, flow);
                Interrupts::new(interrupt(group), noise, payload_bytes, header_bytes)
            }),
            echoed_by,
            reports: match &group.source {
                SourcePlan::VideoCall(call) => Some(CallReceiver::new(call)),
                _ => None,
            },
        })
    }
}

fn rate(bps: u64) -> Rate {
    Rate::from_bps(bps).expect("a checked plan has no rate of zero")
}

/// Whether each burst or datagram of a source is recorded.
fn is_recorded(source: &SourcePlan) -> bool {
    match source {
        SourcePlan::Tcp(tcp) => tcp.is_by_turns(),
        SourcePlan::Udp(udp) => udp.echo || udp.record,
        SourcePlan::VideoCall(_) => true,
    }
}

/// Whether a processing delay holds acknowledgments back; [`JitterPlan`] says why.
fn delays_acks(group: &GroupPlan) -> bool {
    let is_linux = matches!(&group.source, SourcePlan::Tcp(tcp) if tcp.config.recovery == Recovery::Linux);
    (is_linux || group.host.is_some()) && group.jitter != JitterPlan::None || is_late(group)
}

/// Whether a host handles what comes some time after it has.
fn is_late(group: &GroupPlan) -> bool {
    interrupt(group) > Span::ZERO || group.host.is_some_and(|host| host.noise.is_some())
}

fn quick_acks(group: &GroupPlan) -> u16 {
    group.host.map_or(0, |host| host.quick_acks)
}

/// How long a host's card waits until it interrupts.
fn interrupt(group: &GroupPlan) -> Span {
    let card = group.host.and_then(|host| host.card);
    card.map_or(Span::ZERO, |card| Span::from_ps(card.interrupt_ps))
}

/// Whether a packet may hold several segments.
fn packs(source: &SourcePlan) -> bool {
    matches!(source, SourcePlan::Tcp(tcp) if tcp.config.offload.is_some())
}

/// Whether its receiver tunes the window, by the round-trip time that the sender states.
fn is_tuned(source: &SourcePlan) -> bool {
    matches!(source, SourcePlan::Tcp(tcp) if tcp.config.tuned_window)
}

/// What a receiver does with datagrams, and what it checks at each segment.
fn looks(source: &SourcePlan, transfer_bytes: u64, echoed: bool) -> (Datagrams, Watch) {
    match source {
        SourcePlan::Tcp(tcp) if tcp.is_by_turns() => (Datagrams::Counted, Watch::Bursts),
        SourcePlan::Tcp(_) if transfer_bytes != u64::MAX => (Datagrams::Counted, Watch::Transfer),
        SourcePlan::Tcp(_) if echoed => (Datagrams::Counted, Watch::Echo),
        SourcePlan::Udp(udp) if udp.echo => (Datagrams::Returned, Watch::Nothing),
        SourcePlan::Udp(udp) if udp.record => (Datagrams::Recorded, Watch::Nothing),
        SourcePlan::VideoCall(_) => (Datagrams::Reported, Watch::Nothing),
        _ => (Datagrams::Counted, Watch::Nothing),
    }
}

/// What a flow has to send.
fn load(plan: &TcpPlan, flows: &FlowColumns, flow: usize) -> Load {
    let of_video = plan.video.as_ref().map(|video| (video.after_idle, false));
    let of_turns = plan.on_off.map(|on_off| (on_off.after_idle, on_off.fetch));
    Load {
        segments: flows.transfer_bytes(flow, plan).map_or(u32::MAX, |bytes| plan.config.segments_of(bytes)),
        bursts: of_video.or(of_turns).map(|(after_idle, reconnects)| BurstsConfig { after_idle, reconnects }),
    }
}

fn capable(source: &SourcePlan) -> Capable {
    match source {
        SourcePlan::Tcp(tcp) if tcp.congestion.is_l4s() || tcp.config.ecn == EcnUse::L4s => Capable::L4s,
        SourcePlan::Tcp(tcp) if tcp.congestion.uses_ecn() => Capable::All,
        SourcePlan::Tcp(tcp) if tcp.config.ecn != EcnUse::Off => Capable::New,
        _ => Capable::Nothing,
    }
}

//! A flow's two hosts.

mod card;
mod delayed;
mod interrupts;
mod noise;
mod reading;
mod sending;

use bufferlab_qdisc::{Ecn, Packet, PacketKind};
use bufferlab_simulator::{GroupPlan, JitterPlan, Plan, SourcePlan, TcpPlan};
use bufferlab_transport::{
    Ack, Arrived, CallReceiver, CallSender, DatagramSource, Notice, Receiver, SackBlocks, Sender,
    SenderCounters, UdpSource,
};
use bufferlab_units::{Span, Stream, Time};

use super::application::Application;
use super::bursts;
use card::Card;
use delayed::Delayed;
pub(super) use interrupts::Coming;
use interrupts::Interrupts;
use noise::Noise;

/// The random streams of a flow: part of what a plan means, so the numbers are the engine's.
const JITTER_STREAM: u32 = 2;
const DATAGRAM_STREAM: u32 = 3;
const NOISE_STREAM: u32 = 13;
const RECEIVER_NOISE_STREAM: u32 = 14;

/// What sends, and what receives.
enum Ends {
    Tcp { sender: Box<Sender>, receiver: Box<Receiver>, plan: TcpPlan, application: Option<Box<Application>> },
    Datagrams(Datagrams),
}

/// Both ends of a flow of datagrams.
struct Datagrams {
    source: DatagramSource,
    header_bytes: u32,
    delivered_bytes: u64,
    log: Vec<(Time, Option<Time>, u64)>,
    /// The receiver returns each packet.
    echo: bool,
    recorded: bool,
    /// When a call's receiver reports, and the size of a report.
    reports: Option<(CallReceiver, u32)>,
    /// Round trips that were measured, ps.
    rtts_ps: Vec<f64>,
}

impl Datagrams {
    fn new(source: DatagramSource, header_bytes: u32) -> Datagrams {
        Datagrams {
            source,
            header_bytes,
            delivered_bytes: 0,
            log: Vec::new(),
            echo: false,
            recorded: false,
            reports: None,
            rtts_ps: Vec::new(),
        }
    }

    /// A packet has come; what is answered.
    fn take(&mut self, now: Time, packet: &Packet) -> Option<Ack> {
        let payload_bytes = packet.wire_bytes.saturating_sub(self.header_bytes);
        self.delivered_bytes += u64::from(payload_bytes);
        let answer = |ack: u32| Ack { ack, echo: packet.sent, ..Ack::default() };
        if self.echo {
            return Some(answer(packet.seq));
        }
        self.log[packet.seq as usize].1 = Some(now);
        let (reports, _) = self.reports.as_mut()?;
        let arrived = Arrived { number: packet.seq, sent: packet.sent, at: now, payload_bytes };
        if let Some(call) = self.source.call() {
            call.note_arrived(arrived);
        }
        reports.on_packet(now).map(answer)
    }

    /// An answer has come.
    fn take_answer(&mut self, now: Time, ack: &Ack) {
        if let Some(call) = self.source.call() {
            call.on_report(now, ack.ack, ack.echo);
            self.rtts_ps.push((now - ack.echo).as_ps() as f64);
        } else {
            let row = &mut self.log[ack.ack as usize];
            row.1 = Some(now);
            self.rtts_ps.push((now - row.0).as_ps() as f64);
        }
    }

    fn answer_bytes(&self, ack: &Ack) -> u32 {
        self.reports.as_ref().map_or_else(|| self.log[ack.ack as usize].2 as u32, |(_, bytes)| *bytes)
    }
}

/// A sender's state at a sampling time.
pub(super) struct SenderSample {
    pub(super) time: Time,
    pub(super) cwnd: f64,
    pub(super) ssthresh: f64,
    pub(super) srtt: Span,
    pub(super) rtt_sum_ps: f64,
    pub(super) rtt_samples: u64,
    pub(super) inflight: u32,
    pub(super) retransmissions: u64,
}

/// A flow.
pub(super) struct Flow {
    ends: Ends,
    index: u32,
    group: u16,
    jitter: JitterPlan,
    stream: Stream,
    /// Acknowledgments that wait for the host, where it delays those.
    delayed: Option<Delayed>,
    card: Option<Card>,
    /// Packets that wait for the receiving host.
    interrupts: Option<Interrupts>,
    noise: Option<Noise>,
    /// The last moment at which something happened here.
    last: Time,
    /// Its hosts are no ideal ones.
    hosted: bool,
    access_bps: Option<u64>,
    /// The interface is sending until then.
    access_busy_until: Time,
    started: bool,
    /// Nothing is sent before: the start, the end of a processing delay, a busy interface.
    held_until: Option<Time>,
    stop: Option<Time>,
    sampled: bool,
    /// Every data segment that came: when, its number, when it was sent.
    pub(super) arrivals: Vec<(Time, u32, Time)>,
    /// Every acknowledgment sent, by its number.
    pub(super) answers: Vec<(Ack, SackBlocks, u32)>,
    /// The window that acknowledgments tell of now, segments, where it is tuned.
    pub(super) window: u32,
    /// Segments that earlier connections brought: acknowledgments of no more say nothing of this one's window.
    earlier: u32,
    pub(super) sender_samples: Vec<SenderSample>,
    pub(super) receiver_samples: Vec<(Time, u64)>,
    pub(super) counters_at_warmup: SenderCounters,
    pub(super) delivered_at_warmup: u64,
    /// When a transfer's last byte came.
    pub(super) received: Option<Time>,
    /// What there is to return, if it does: from when on how many segments.
    fed: Option<Vec<(Time, u32)>>,
    returns: bool,
}

impl Flow {
    pub(super) fn new(plan: &Plan, flow: usize) -> Flow {
        let columns = &plan.flows;
        let group: &GroupPlan = &plan.groups[columns.group[flow] as usize];
        let mut ends = ends(plan, flow, &group.source);
        let delayed = Delayed::of(group);
        if let Ends::Tcp { sender, .. } = &mut ends
            && group.jitter != JitterPlan::None
            && delayed.is_none()
        {
            sender.expect_delays();
        }
        let lead = match &ends {
            Ends::Tcp { application: Some(application), .. } => application.lead(),
            _ => Span::ZERO,
        };
        let stop = columns.stop_ps[flow];
        Flow {
            ends,
            index: flow as u32,
            group: columns.group[flow] as u16,
            jitter: group.jitter,
            stream: Stream::new(plan.seed, JITTER_STREAM, flow as u32),
            delayed,
            card: Card::of(group),
            interrupts: Interrupts::of(plan, flow, group),
            noise: Noise::of(plan, flow, group, NOISE_STREAM),
            hosted: group.host.is_some(),
            last: Time::ZERO,
            access_bps: group.access_bps,
            access_busy_until: Time::ZERO,
            started: false,
            held_until: Some(Time::from_ps(columns.start_ps[flow]) + lead),
            stop: (stop != u64::MAX).then(|| Time::from_ps(stop)),
            sampled: columns.sample[flow],
            arrivals: Vec::new(),
            answers: Vec::new(),
            window: 0,
            earlier: 0,
            sender_samples: Vec::new(),
            receiver_samples: Vec::new(),
            counters_at_warmup: SenderCounters::default(),
            delivered_at_warmup: 0,
            received: None,
            fed: columns.echo_of(flow).map(|_| Vec::new()),
            returns: columns.echo_of(flow).is_some(),
        }
    }

    /// When the sender acts without any packet.
    pub(super) fn next_wake(&self) -> Option<Time> {
        let timer = match &self.ends {
            Ends::Tcp { sender, .. } => sender.deadline(),
            // what is due waits for the hold's end
            Ends::Datagrams(_) if self.started && self.held_until.is_some() => Time::NEVER,
            Ends::Datagrams(ends) => ends.source.deadline(),
        };
        let timer = (timer != Time::NEVER).then_some(timer);
        let change = match &self.ends {
            Ends::Tcp { application: Some(application), .. } => application.next(),
            _ => None,
        };
        let fed = self.fed.iter().flatten().map(|(at, _)| *at).min().filter(|_| self.started);
        let ready = self.delayed.as_ref().and_then(Delayed::next);
        let out = self.card.as_ref().and_then(|card| card.next(self.last));
        [timer, self.held_until, self.stop, change, fed, ready, out].into_iter().flatten().min()
    }

    /// The sender's own time has come, unless what was to be done is done.
    pub(super) fn wake(&mut self, now: Time) -> Vec<Packet> {
        let mut packets = self.take_delayed(now);
        if self.next_wake().is_some_and(|at| at <= now) {
            packets.extend(self.act(now));
        }
        packets
    }

    /// What is due, except acknowledgments.
    fn act(&mut self, now: Time) -> Vec<Packet> {
        if self.stop.is_some_and(|at| at <= now) {
            self.on_stop();
        }
        let mut answers = true;
        if let Ends::Tcp { sender, receiver, plan, application: Some(application) } = &mut self.ends {
            answers = !application.change(now, sender);
            if !answers && plan.on_off.is_some_and(|on_off| on_off.fetch) {
                self.earlier = receiver.delivered();
            }
        }
        if self.started && self.take_fed(now) {
            answers = false;
        }
        if self.release(now) {
            return self.transmit(now, false);
        }
        // a busy card is a busy interface: what it held back goes before the timer
        if self.card.as_ref().is_some_and(|card| card.goes_on(now)) {
            return self.transmit(now, answers);
        }
        if let Ends::Tcp { sender, application, .. } = &mut self.ends {
            answers &= !sender.is_released(now);
            sender.on_timer(now);
            if let Some(application) = application {
                application.look(now, sender);
            }
        }
        self.transmit(now, answers)
    }

    /// A number of segments has come that are to be returned.
    pub(super) fn feed(&mut self, now: Time, segments: u32) {
        if let Some(fed) = &mut self.fed {
            fed.push((now, segments));
        }
    }

    fn take_fed(&mut self, now: Time) -> bool {
        let due = |at: Time| at <= now;
        let most = self.fed.iter().flatten().filter(|(at, _)| due(*at)).map(|(_, segments)| *segments).max();
        if let (Some(segments), Ends::Tcp { sender, .. }) = (most, &mut self.ends) {
            sender.allow(segments);
        }
        self.fed.iter_mut().for_each(|fed| fed.retain(|(at, _)| !due(*at)));
        most.is_some()
    }

    pub(super) fn delivered_segments(&self) -> u32 {
        match &self.ends {
            Ends::Tcp { receiver, .. } => receiver.delivered(),
            Ends::Datagrams(_) => 0,
        }
    }

    fn on_stop(&mut self) {
        self.stop = None;
        self.fed = None;
        match &mut self.ends {
            Ends::Tcp { sender, application, .. } => {
                sender.stop();
                if let Some(application) = application {
                    application.stop();
                }
            }
            Ends::Datagrams(ends) => ends.source.stop(),
        }
        if !self.started {
            self.held_until = None;
        }
    }

    /// Whether a hold has just ended; the first one ends with the start.
    fn release(&mut self, now: Time) -> bool {
        if self.held_until.is_none_or(|at| at > now) {
            return false;
        }
        self.held_until = None;
        if !self.started {
            self.started = true;
            match &mut self.ends {
                Ends::Tcp { sender, application, .. } => {
                    sender.start();
                    if let Some(application) = application {
                        application.begin(now, sender);
                    }
                    if self.fed.is_some() {
                        sender.allow(0);
                    }
                }
                Ends::Datagrams(ends) => ends.source.start(now),
            }
            self.take_fed(now);
        } else if let Ends::Tcp { sender, .. } = &mut self.ends {
            sender.end_delay();
        }
        true
    }

    /// An acknowledgment, which tells of a window, is processed.
    fn process(&mut self, now: Time, ack: &Ack, blocks: &SackBlocks, window: u32) -> Vec<Packet> {
        match &mut self.ends {
            Ends::Tcp { sender, .. } => {
                if ack.ack > self.earlier {
                    sender.note_window(0, window);
                }
                sender.on_ack(now, ack, blocks);
            }
            Ends::Datagrams(ends) => ends.take_answer(now, ack),
        }
        let answers = !self.release(now) && self.delayed.is_none();
        self.transmit(now, answers)
    }

    /// A packet reaches the receiver; what it answers.
    pub(super) fn on_data(&mut self, now: Time, packet: &Packet) -> Option<(Ack, SackBlocks)> {
        match &mut self.ends {
            Ends::Datagrams(ends) => ends.take(now, packet).map(|ack| (ack, SackBlocks::NONE)),
            Ends::Tcp { receiver, application, plan, .. } => {
                let ack = if packet.kind == PacketKind::Syn {
                    receiver.restart_tuning(now);
                    self.window = 0;
                    Some(receiver.on_syn(packet.sent))
                } else {
                    let marked = packet.kind == PacketKind::Data(Ecn::Marked);
                    let notice = Notice::new(marked, packet.is_reduced());
                    let count = packet.wire_bytes / (plan.config.mss_bytes + plan.config.header_bytes);
                    let segments = packet.seq..packet.seq + count;
                    self.arrivals.extend(segments.map(|seq| (now, seq, packet.sent)));
                    let ack = if self.hosted || plan.config.offload.is_some() {
                        receiver.on_packet(now, packet.seq, count, packet.sent, notice)
                    } else {
                        receiver.on_data(now, packet.seq, packet.sent, notice)
                    };
                    let window = receiver.tune(now, count, packet.srtt(), ack.is_some());
                    self.window = window.unwrap_or(self.window);
                    ack
                };
                let has = receiver.delivered();
                if let Some(application) = application {
                    application.on_delivered(now, has);
                }
                let all = plan.transfer_bytes.map(|bytes| bytes.div_ceil(u64::from(plan.config.mss_bytes)));
                if all.is_some_and(|all| u64::from(has) >= all) {
                    self.received.get_or_insert(now);
                }
                ack.map(|ack| (ack, blocks(receiver, &ack)))
            }
        }
    }

    /// The delayed acknowledgment, if it is due.
    pub(super) fn delayed_ack(&mut self, now: Time) -> Option<(Ack, SackBlocks)> {
        let Ends::Tcp { receiver, .. } = &mut self.ends else { return None };
        let ack = receiver.on_timer(now)?;
        self.window = receiver.tuned_window().unwrap_or(self.window);
        Some((ack, blocks(receiver, &ack)))
    }

    pub(super) fn ack_deadline(&self) -> Option<Time> {
        let Ends::Tcp { receiver, .. } = &self.ends else { return None };
        Some(receiver.deadline()).filter(|&at| at != Time::NEVER)
    }

    /// An acknowledgment as a packet.
    pub(super) fn wrap(&mut self, now: Time, ack: Ack, blocks: SackBlocks) -> Packet {
        let number = self.answers.len() as u32;
        self.answers.push((ack, blocks, self.window));
        let wire_bytes = match &self.ends {
            Ends::Tcp { plan, .. } => plan.config.ack_bytes,
            Ends::Datagrams(ends) => ends.answer_bytes(&ack),
        };
        self.packet(now, PacketKind::Ack, number, wire_bytes)
    }
}

fn blocks(receiver: &Receiver, ack: &Ack) -> SackBlocks {
    if ack.has_sack { receiver.sack_blocks() } else { SackBlocks::NONE }
}

fn ends(plan: &Plan, flow: usize, source: &SourcePlan) -> Ends {
    match source {
        SourcePlan::Tcp(tcp) => {
            let mut tcp = tcp.clone();
            // a flow's own transfer goes before that of its group
            if let Some(&bytes) = plan.flows.transfer_bytes.get(flow)
                && bytes != u64::MAX
            {
                tcp.transfer_bytes = Some(bytes);
            }
            let sender =
                Box::new(Sender::new(&tcp.config, bursts::load(&tcp), tcp.control(plan.seed, flow as u32)));
            let application = Application::new(plan, flow, &tcp).map(Box::new);
            let quick = plan.groups[plan.flows.group[flow] as usize].host.map_or(0, |host| host.quick_acks);
            let window = tcp.config.first_receive_window();
            let receiver = Box::new(Receiver::new(&tcp.config).with_quick_acks(quick, window));
            Ends::Tcp { sender, receiver, plan: tcp, application }
        }
        SourcePlan::Udp(udp) => {
            let stream = Stream::new(plan.seed, DATAGRAM_STREAM, flow as u32);
            let source = DatagramSource::Deaf(Box::new(UdpSource::new(udp.config.clone(), stream)));
            let ends = Datagrams::new(source, udp.config.header_bytes);
            Ends::Datagrams(Datagrams { echo: udp.echo, recorded: udp.record || udp.echo, ..ends })
        }
        SourcePlan::VideoCall(call) => {
            let stream = Stream::new(plan.seed, DATAGRAM_STREAM, flow as u32);
            let ends = Datagrams::new(
                DatagramSource::Call(Box::new(CallSender::new(call, stream))),
                call.header_bytes,
            );
            let reports = Some((CallReceiver::new(call), call.report_bytes));
            Ends::Datagrams(Datagrams { recorded: true, reports, ..ends })
        }
    }
}

//! A sender and a receiver joined by a delay and a script of losses.

use std::collections::VecDeque;

use bufferlab_congestion::{AnyControl, Growth, Reno};
use bufferlab_units::{Span, Time};

use crate::sender::{Load, Sender};
use crate::{Ack, Notice, Receiver, Recovery, SackBlocks, Segment, SegmentKind, TcpConfig};

pub(crate) fn config(recovery: Recovery) -> TcpConfig {
    TcpConfig {
        recovery,
        mss_bytes: 1_000,
        receive_window_bytes: 1_000_000_000,
        ack_every: 1,
        ack_delay: Span::from_ms(40),
        min_rto: Span::from_ms(200),
        timestamps: false,
        handshake: false,
        ..TcpConfig::default()
    }
}

/// Every recovery but ns-2's `Agent/TCP/Linux`, whose first data leaves with the SYN, and which sets the window at its end.
pub(crate) const ALL: [Recovery; 8] = [
    Recovery::Tahoe,
    Recovery::Reno,
    Recovery::NewReno,
    Recovery::Sack,
    Recovery::Linux,
    Recovery::SackNs2,
    Recovery::RenoNs2,
    Recovery::NewRenoNs2,
];

/// Every recovery.
pub(crate) fn every() -> impl Iterator<Item = Recovery> {
    ALL.into_iter().chain([Recovery::LinuxNs2])
}

/// 100 ms there and back, no queue: what is sent at t comes back at t + 100 ms, unless `lose` says no.
pub(crate) struct Pair<F> {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(super) now: Time,
    acks: VecDeque<(Time, Ack, SackBlocks)>,
    lose: F,
    /// The first segment of each packet.
    pub(crate) log: Vec<(Time, Segment)>,
    /// Segments of each packet.
    pub(crate) sizes: Vec<u32>,
    /// Segments leave by the packet.
    packs: bool,
    /// Segments with the flag CWR.
    pub(super) reduced: Vec<u32>,
    /// Segments that a queue marks when they come for the first time.
    pub(crate) marked: Vec<u32>,
}

impl<F: FnMut(Segment) -> bool> Pair<F> {
    pub(crate) fn new(config: &TcpConfig, control: AnyControl, lose: F) -> Pair<F> {
        Pair::with_load(config, Load::ENDLESS, control, lose)
    }

    /// A pair that sends this many segments.
    pub(crate) fn sending(segments: u32, config: &TcpConfig, control: AnyControl, lose: F) -> Pair<F> {
        Pair::with_load(config, Load { segments, bursts: None }, control, lose)
    }

    pub(crate) fn with_load(config: &TcpConfig, load: Load, control: AnyControl, lose: F) -> Pair<F> {
        let mut sender = Sender::new(config, load, control);
        sender.start();
        let (receiver, packs) = (Receiver::new(config), config.offload.is_some());
        Pair {
            sender,
            receiver,
            now: Time::ZERO,
            acks: VecDeque::new(),
            lose,
            log: Vec::new(),
            sizes: Vec::new(),
            packs,
            marked: Vec::new(),
            reduced: Vec::new(),
        }
    }

    fn poll(&mut self) -> Option<(Segment, u32)> {
        let segment = self.sender.poll_transmit(self.now)?;
        Some((segment, self.sender.segments_in_packet()))
    }

    pub(super) fn transmit(&mut self) {
        while let Some((segment, count)) = self.poll() {
            self.log.push((self.now, segment));
            self.sizes.push(count);
            if (self.lose)(segment) {
                continue;
            }
            let marked = segment.kind == SegmentKind::New && self.marked.contains(&segment.seq);
            let reduced = self.sender.tells_of_reduction(segment.kind);
            self.reduced.extend(reduced.then_some(segment.seq));
            let notice = Notice::new(marked, reduced);
            let arrival = self.now + Span::from_ms(50);
            let ack = match segment.kind {
                SegmentKind::Syn => Some(self.receiver.on_syn(self.now)),
                _ if self.packs => self.receiver.on_packet(arrival, segment.seq, count, self.now, notice),
                _ => self.receiver.on_data(arrival, segment.seq, self.now, notice),
            };
            self.acks.extend(ack.map(|ack| (arrival + Span::from_ms(50), ack, blocks(&self.receiver, &ack))));
        }
    }

    /// Handles the next event; false if there is none before `end`.
    pub(super) fn step(&mut self, end: Time) -> bool {
        self.transmit();
        let ack_at = self.acks.front().map_or(Time::NEVER, |(at, ..)| *at);
        let next = ack_at.min(self.sender.deadline());
        // what leaves now arrives when a delayed acknowledgment goes
        let delayed = self.receiver.deadline();
        if delayed != Time::NEVER && delayed <= next + Span::from_ms(50) && delayed < end + Span::from_ms(50)
        {
            self.now = self.now.max(Time::from_ps(delayed.as_ps() - Span::from_ms(50).as_ps()));
            let ack = self.receiver.on_timer(delayed).expect("its time has come");
            self.acks.push_back((delayed + Span::from_ms(50), ack, blocks(&self.receiver, &ack)));
            return true;
        }
        if next >= end {
            return false;
        }
        self.now = next;
        if ack_at <= next {
            let (_, ack, sack) = self.acks.pop_front().unwrap();
            self.sender.on_ack(next, &ack, &sack);
        } else {
            self.sender.on_timer(next);
        }
        true
    }

    pub(crate) fn run(&mut self, end_ms: u64) {
        while self.step(Time::ZERO + Span::from_ms(end_ms)) {}
    }

    pub(crate) fn count(&self, kind: SegmentKind) -> usize {
        self.log.iter().filter(|(_, segment)| segment.kind == kind).count()
    }
}

fn blocks(receiver: &Receiver, ack: &Ack) -> SackBlocks {
    if ack.has_sack { receiver.sack_blocks() } else { SackBlocks::NONE }
}

pub(crate) fn reno(window: u32, ssthresh: u32) -> AnyControl {
    Reno::new(window, Some(ssthresh), Growth::PerSegment).into()
}

/// Loses the first transmission of the given segments.
pub(crate) fn lose_once(segments: impl IntoIterator<Item = u32>) -> impl FnMut(Segment) -> bool {
    let segments: Vec<u32> = segments.into_iter().collect();
    move |segment| segment.kind == SegmentKind::New && segments.contains(&segment.seq)
}

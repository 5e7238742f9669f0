//! Adaptive video: a client that fetches segments over one connection and plays them, with its server as the sender.
//!
//! The client asks for the next segment when it has the last one and there is room in its buffer; a request takes the way
//! back without waiting in queues. Sources: ISO/IEC 23009-1 (segments at several bitrates, chosen by the client); dash.js, the
//! DASH Industry Forum's reference player, for the rules in `rules` and `bola`.
//!
//! Departures from dash.js:
//! - every segment of a bitrate has one size, bitrate times playing time; real ones vary around it;
//! - one rule chooses throughout: nothing changes between throughput and BOLA with the level (`DYNAMIC`), and no second rule
//!   lowers what the first has chosen (`InsufficientBufferRule`, `AbandonRequestsRule`, `SwitchHistoryRule`); no request is
//!   given up, and none is made twice (fast switching);
//! - the last four segments count whatever their spread (`enableSampleSizeAdjustment` is left out), by their harmonic mean (one
//!   of the modes there; the default is a moving average);
//! - the first segment has the lowest bitrate;
//! - a segment is asked for when all of it has room in the buffer; dash.js asks as long as the level is below its target.

mod bola;
mod playback;
mod rules;

use bufferlab_transport::Sender;
use bufferlab_units::{Span, Time};

use crate::exchanges::ExchangeLog;
use crate::outcome::{NONE, SegmentTable};
use crate::plan::VideoPlan;
use playback::Playback;
use rules::Rules;

/// The application at work; the server in its host's time, the client in its own.
#[derive(Clone, Debug)]
pub(crate) struct Video {
    plan: VideoPlan,
    mss_bytes: u64,
    /// How long a request takes to arrive.
    way: Span,
    rules: Rules,
    playback: Playback,
    /// The bitrate of each segment that was asked for, bit/s.
    rates_bps: Vec<u64>,
    /// Segments of TCP that are to be delivered until this one is there; as many as there can be if none is awaited.
    target: u32,
    /// When the server gets the next request.
    next: Time,
    /// When it ends; never once that is over.
    stop: Time,
    /// From here on nothing is asked for.
    until: Time,
}

impl Video {
    pub(crate) fn new(plan: &VideoPlan, mss_bytes: u32, way: Span, until: Time) -> Video {
        let [segment, startup, resume] =
            [plan.segment_ps, plan.startup_ps, plan.resume_ps].map(Span::from_ps);
        Video {
            plan: plan.clone(),
            mss_bytes: u64::from(mss_bytes),
            way,
            rules: Rules::new(plan),
            playback: Playback::new(segment, startup, resume),
            rates_bps: Vec::new(),
            target: u32::MAX,
            next: Time::NEVER,
            stop: until,
            until,
        }
    }

    /// How long after the flow's start the server hears of it.
    pub(crate) fn lead(&self) -> Span {
        self.way
    }

    /// The server hears of the client, which asks for the first segment.
    pub(crate) fn start(&mut self, now: Time, sender: &mut Sender, log: &mut ExchangeLog) {
        self.ask(Time::from_ps(now.as_ps() - self.way.as_ps()), 0, log);
        self.send(now, sender);
    }

    /// The server's time has come: whether it has data now.
    pub(crate) fn change(&mut self, now: Time, sender: &mut Sender) -> bool {
        if self.stop <= now {
            sender.stop();
            (self.next, self.stop) = (Time::NEVER, Time::NEVER);
        }
        let asked = self.next <= now;
        if asked {
            self.send(now, sender);
        }
        asked
    }

    /// When [`Self::change`] wants to be called.
    pub(crate) fn next_change(&self) -> Time {
        self.next.min(self.stop)
    }

    /// `delivered` segments of TCP have reached the client by `now`, its own time.
    pub(crate) fn note_delivered(&mut self, now: Time, delivered: u32, log: &mut ExchangeLog) {
        if delivered < self.target {
            return;
        }
        self.target = u32::MAX;
        log.close_last(now);
        self.rules.on_segment(self.segment_bytes(), now - log.last_start(), self.playback.level(now));
        if self.playback.add(now) {
            self.rules.on_stall();
        }
        let (room, level) = (self.time_to_room(now), self.playback.level(now));
        let choice = self.rules.choose(Span::from_ps(level.as_ps() - room.as_ps()), room);
        let at = now + room + Span::from_ps((choice.wait_s * 1e12) as u64);
        if at + self.way < self.until {
            self.ask(at, choice.rate, log);
        }
    }

    /// Until a segment has room in the buffer; a buffer that is not played from gets what it needs.
    fn time_to_room(&self, now: Time) -> Span {
        if !self.playback.is_playing() {
            return Span::ZERO;
        }
        let full_ps = self.playback.level(now).as_ps() + self.plan.segment_ps;
        Span::from_ps(full_ps.saturating_sub(self.plan.buffer_ps))
    }

    /// The client asks for a segment at `at`.
    fn ask(&mut self, at: Time, rate: usize, log: &mut ExchangeLog) {
        self.rates_bps.push(self.plan.ladder_bps[rate]);
        log.open(at, self.segment_bytes());
        self.next = at + self.way;
    }

    /// The server has a request.
    fn send(&mut self, now: Time, sender: &mut Sender) {
        let segments = u32::try_from(self.segment_bytes().div_ceil(self.mss_bytes)).unwrap_or(u32::MAX);
        sender.resume(now, Some(segments));
        (self.next, self.target) = (Time::NEVER, sender.limit());
    }

    /// Size of the segment that was asked for last.
    fn segment_bytes(&self) -> u64 {
        self.rates_bps.last().map_or(0, |&bps| self.plan.segment_bytes(bps))
    }

    /// Writes the segments that were asked for before `end`, the run's.
    pub(crate) fn report(&self, flow: u32, end: Time, log: &ExchangeLog, table: &mut SegmentTable) {
        let first = log.starts().next().unwrap_or(Time::NEVER);
        let known = |at: Option<Time>| at.filter(|&at| at < end);
        for (number, _) in log.starts().enumerate().filter(|&(_, start)| start < end) {
            let due = known(self.playback.due(number, first));
            let begins = known(self.playback.begins(number));
            let waited = |due| begins.unwrap_or(end.min(self.until)).saturating_since(due);
            table.flow.push(flow);
            table.number.push(number as u64);
            table.bitrate_bps.push(self.rates_bps[number]);
            table.due_ps.push(due.map_or(NONE, Time::as_ps));
            table.play_ps.push(begins.map_or(NONE, Time::as_ps));
            table.stall_ps.push(due.map_or(0, |due| waited(due).as_ps()));
        }
    }
}

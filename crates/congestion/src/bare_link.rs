//! A single flow on a bare link, for the tests of controls: an ideal transport that repairs every loss at
//! once.
//!
//! Every transmission has a number of its own, so an acknowledgment shows which segments before it were
//! lost. The link serves segments one by one after a FIFO of limited length; propagation comes after it.
//! Controls without a rate of their own send at most 2 % faster than the link serves, so that a queue is what
//! the window leaves over, not a burst.

use std::collections::VecDeque;

use bufferlab_units::{Span, Time};

use crate::{AckSample, Congestion, CongestionControl, CongestionEvent, RateSample};

/// The link and its receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BareLink {
    /// Time to serve a segment.
    service: Span,
    /// Propagation, both ways together.
    propagation: Span,
    /// Segments that may wait.
    buffer: u32,
    /// Segments are marked when more than this wait.
    mark_above: u32,
    /// The receiver acknowledges every `ack_every` segments.
    ack_every: u32,
    /// From a moment on, propagation takes longer.
    longer: (Time, Span),
    /// Controls without a rate of their own are spaced.
    spaced: bool,
}

/// The window between a recovery's end and the next loss, weighted by time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Epoch {
    pub mean: f64,
    pub sd: f64,
    pub min: f64,
    pub max: f64,
    pub seconds: f64,
}

/// What came out.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    /// Epochs between losses; the first one begins after the first loss.
    pub epochs: Vec<Epoch>,
    /// Segments delivered in the second half of the run over what the link could.
    pub utilization: f64,
    /// Mean of the segments found waiting in the second half.
    pub mean_waiting: f64,
    /// Segments dropped in the whole run.
    pub dropped: u64,
}

/// A segment on its way.
#[derive(Clone, Copy, Debug)]
struct Flight {
    number: u32,
    sent: Time,
    /// When its acknowledgment arrives.
    acked: Time,
    marked: bool,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    inflight: u32,
    lost: u64,
}

#[derive(Default)]
struct Moments {
    since: Time,
    weight: f64,
    sum: f64,
    squares: f64,
    min: f64,
    max: f64,
}

impl Moments {
    fn from(now: Time) -> Moments {
        Moments { since: now, min: f64::MAX, ..Moments::default() }
    }

    fn add(&mut self, now: Time, window: f64) {
        let weight = now.saturating_since(self.since).as_s();
        self.since = now;
        self.weight += weight;
        self.sum += weight * window;
        self.squares += weight * window * window;
        (self.min, self.max) = (self.min.min(window), self.max.max(window));
    }

    fn epoch(&self) -> Epoch {
        let mean = self.sum / self.weight;
        let sd = (self.squares / self.weight - mean * mean).max(0.0).sqrt();
        Epoch { mean, sd, min: self.min, max: self.max, seconds: self.weight }
    }
}

/// A run.
struct Run<'a> {
    link: &'a BareLink,
    now: Time,
    free_at: Time,
    next_send: Time,
    flying: VecDeque<Flight>,
    dropped: VecDeque<Flight>,
    next: u32,
    inflight: u32,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    lost: u64,
    srtt: Option<Span>,
    recover: Option<u32>,
    reduced_to: Option<u32>,
    pending: u32,
    pending_marked: u32,
    waiting: (f64, u64),
    half_delivered: Option<u64>,
    total_dropped: u64,
    epoch: Option<Moments>,
    epochs: Vec<Epoch>,
}

impl BareLink {
    /// A link that serves `segments_per_s`.
    pub const fn new(segments_per_s: u64, propagation: Span, buffer: u32) -> BareLink {
        let service = Span::from_ps(Span::from_s(1).as_ps() / segments_per_s);
        BareLink {
            service,
            propagation,
            buffer,
            mark_above: u32::MAX,
            ack_every: 1,
            longer: (Time::NEVER, Span::ZERO),
            spaced: true,
        }
    }

    /// The same link, whose receiver acknowledges every `ack_every` segments.
    pub fn acknowledging_every(self, ack_every: u32) -> BareLink {
        BareLink { ack_every, ..self }
    }

    /// The same link, which marks segments that find more than this waiting.
    pub fn marking_above(self, mark_above: u32) -> BareLink {
        BareLink { mark_above, ..self }
    }

    /// The same link without spacing of what the window allows at one moment.
    pub fn in_bursts(self) -> BareLink {
        BareLink { spaced: false, ..self }
    }

    /// The same link with a path that gets longer.
    pub fn longer_from(self, moment: Time, by: Span) -> BareLink {
        BareLink { longer: (moment, by), ..self }
    }

    /// The round-trip time of a segment that does not wait.
    pub fn shortest(&self) -> Span {
        self.service + self.propagation
    }

    /// Runs a flow that always has something to send; `watch` sees the control after every acknowledgment,
    /// and the segments in flight.
    pub fn run<C: CongestionControl>(
        &self,
        control: &mut C,
        until: Time,
        mut watch: impl FnMut(Time, &C, u32),
    ) -> Report {
        let mut run = Run::new(self);
        let half = Time::from_ps(until.as_ps() / 2);
        while run.now < until {
            if run.half_delivered.is_none() && run.now >= half {
                run.half_delivered = Some(run.delivered);
                run.waiting = (0.0, 0);
            }
            if run.inflight < control.cwnd() as u32 && run.next_send <= run.now {
                run.send(control.pacing());
                continue;
            }
            let ack = run.flying.front().map_or(Time::NEVER, |flight| flight.acked);
            let send = if run.inflight < control.cwnd() as u32 { run.next_send } else { Time::NEVER };
            if ack == Time::NEVER && send == Time::NEVER {
                run.time_out(control);
            } else if ack <= send {
                run.now = ack;
                run.acknowledge(control);
                watch(run.now, control, run.inflight);
            } else {
                run.now = send;
            }
        }
        run.report(half)
    }
}

impl Run<'_> {
    fn new(link: &BareLink) -> Run<'_> {
        Run {
            link,
            now: Time::ZERO,
            free_at: Time::ZERO,
            next_send: Time::ZERO,
            flying: VecDeque::new(),
            dropped: VecDeque::new(),
            next: 0,
            inflight: 0,
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent_at: Time::ZERO,
            lost: 0,
            srtt: None,
            recover: None,
            pending: 0,
            pending_marked: 0,
            reduced_to: None,
            waiting: (0.0, 0),
            half_delivered: None,
            total_dropped: 0,
            epoch: None,
            epochs: Vec::new(),
        }
    }

    fn send(&mut self, pacing: Option<f64>) {
        if self.inflight == 0 {
            (self.first_sent_at, self.delivered_at) = (self.now, self.now);
        }
        self.inflight += 1;
        let service = self.link.service.as_ps();
        let in_system = self.free_at.saturating_since(self.now).as_ps().div_ceil(service);
        let waiting = in_system.saturating_sub(1) as u32;
        self.waiting = (self.waiting.0 + f64::from(waiting), self.waiting.1 + 1);
        let mut flight = Flight {
            number: self.next,
            sent: self.now,
            acked: Time::NEVER,
            marked: waiting > self.link.mark_above,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            inflight: self.inflight,
            lost: self.lost,
        };
        self.next += 1;
        if in_system > 0 && waiting >= self.link.buffer {
            self.total_dropped += 1;
            self.dropped.push_back(flight);
        } else {
            self.free_at = self.free_at.max(self.now) + self.link.service;
            let (moment, by) = self.link.longer;
            let longer = if self.now >= moment { by } else { Span::ZERO };
            flight.acked = self.free_at + self.link.propagation + longer;
            self.flying.push_back(flight);
        }
        let spacing = if self.link.spaced { service - service / 50 } else { 0 };
        let gap = pacing.map_or(spacing, |rate| (1e12 / rate) as u64);
        self.next_send = self.now.max(self.next_send) + Span::from_ps(gap);
    }

    fn acknowledge<C: CongestionControl>(&mut self, control: &mut C) {
        let flight = self.flying.pop_front().unwrap();
        let before = self.inflight;
        self.inflight -= 1;
        self.delivered += 1;
        self.delivered_at = self.now;
        self.first_sent_at = flight.sent;
        self.pending += 1;
        self.pending_marked += u32::from(flight.marked);
        let lost_before = self.lost;
        while self.dropped.front().is_some_and(|dropped| dropped.number < flight.number) {
            self.dropped.pop_front();
            self.lost += 1;
            self.inflight -= 1;
        }
        let rtt = self.now - flight.sent;
        let srtt = self.srtt.map_or(rtt, |srtt| Span::from_ps((7 * srtt.as_ps() + rtt.as_ps()) / 8));
        self.srtt = Some(srtt);
        if let Some(epoch) = &mut self.epoch {
            epoch.add(self.now, control.cwnd());
        }
        self.follow_recovery(control, flight.number, before, self.lost > lost_before);
        let hurried = self.lost > lost_before || self.recover.is_some() || self.flying.is_empty();
        let due = hurried || self.pending >= self.link.ack_every;
        if due {
            let sample = self.sample(&flight, rtt, srtt, control.wants_rate());
            (self.pending, self.pending_marked) = (0, 0);
            let reduces = control.counts_marks() && self.follow_marks(control, &sample);
            if !reduces && (self.recover.is_none() || control.grows_in_recovery()) {
                control.on_ack(self.now, &sample);
            }
        }
    }

    fn follow_recovery<C: CongestionControl>(
        &mut self,
        control: &mut C,
        number: u32,
        flight: u32,
        lost: bool,
    ) {
        if self.recover.is_some_and(|recover| number >= recover) {
            self.recover = None;
            control.on_recovery_exit(self.now);
            self.epoch = Some(Moments::from(self.now));
        }
        if lost && self.recover.is_none() {
            self.recover = Some(self.next);
            if let Some(epoch) = self.epoch.take().filter(|epoch| epoch.weight > 0.0) {
                self.epochs.push(epoch.epoch());
            }
            let event = CongestionEvent::Loss;
            let flight = flight.min(control.cwnd() as u32);
            control.on_congestion(self.now, &Congestion { event, flight, receive_window: u32::MAX });
        }
    }

    /// A mark reduces the window once a window of data; whether the window must not grow.
    fn follow_marks<C: CongestionControl>(&mut self, control: &mut C, sample: &AckSample) -> bool {
        self.reduced_to = self.reduced_to.filter(|end| sample.una <= *end);
        let begins = sample.marked > 0 && self.reduced_to.is_none();
        if begins || self.reduced_to.is_some() {
            control.on_marks(sample);
        }
        if begins {
            self.reduced_to = Some(sample.sent_to);
            let (event, flight) = (CongestionEvent::Mark { mild: false }, sample.inflight);
            control.on_congestion(self.now, &Congestion { event, flight, receive_window: u32::MAX });
        }
        self.reduced_to.is_some()
    }

    fn sample(&self, flight: &Flight, rtt: Span, srtt: Span, wants_rate: bool) -> AckSample {
        let sent = flight.sent.saturating_since(flight.first_sent_at);
        let acked = self.now.saturating_since(flight.delivered_at);
        AckSample {
            acked: self.pending,
            rtt: Some(rtt),
            srtt,
            inflight: self.inflight,
            una: flight.number + 1,
            sent_to: self.next,
            marked: self.pending_marked,
            rate: wants_rate.then_some(RateSample {
                delivered: self.delivered,
                prior_delivered: flight.delivered,
                interval: sent.max(acked),
                app_limited: false,
                tx_in_flight: flight.inflight,
                lost: self.lost,
                prior_lost: flight.lost,
                until_release: self.next_send.saturating_since(self.now),
            }),
        }
    }

    /// All that was out is lost.
    fn time_out<C: CongestionControl>(&mut self, control: &mut C) {
        self.now += Span::from_s(1);
        self.lost += u64::from(self.inflight);
        let event = CongestionEvent::Timeout { repeated: false };
        control
            .on_congestion(self.now, &Congestion { event, flight: self.inflight, receive_window: u32::MAX });
        self.dropped.clear();
        (self.inflight, self.recover, self.epoch) = (0, None, None);
    }

    fn report(self, half: Time) -> Report {
        let delivered = (self.delivered - self.half_delivered.unwrap_or(0)) as f64;
        let could = (self.now - half).as_s() / self.link.service.as_s();
        Report {
            epochs: self.epochs,
            utilization: delivered / could,
            mean_waiting: self.waiting.0 / self.waiting.1.max(1) as f64,
            dropped: self.total_dropped,
        }
    }
}

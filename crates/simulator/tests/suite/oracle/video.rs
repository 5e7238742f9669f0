//! A video's client, which works out anew from what has come when it plays what, and its server.

use bufferlab_simulator::{Plan, RateRule, TcpPlan, VideoPlan};
use bufferlab_transport::Sender;
use bufferlab_units::{Span, Time, ln};

/// A segment: when it was asked for, at which place of the ladder, and when it was there.
struct Fetched {
    asked: Time,
    rate: usize,
    came: Option<Time>,
}

pub(super) struct Viewer {
    plan: VideoPlan,
    mss: u64,
    way: Span,
    stop: Option<Time>,
    fetched: Vec<Fetched>,
    /// Segments of TCP that are there when the one under way is.
    complete_at: u64,
    /// When the server gets a request.
    request: Option<Time>,
    placeholder_s: f64,
    steady: bool,
    /// What is to be reported of it: start, end, bytes.
    pub(super) log: Vec<(Time, Option<Time>, u64)>,
}

impl Viewer {
    pub(super) fn new(plan: &Plan, flow: usize, tcp: &TcpPlan) -> Option<Viewer> {
        let (columns, links) = (&plan.flows, &plan.groups[plan.flows.group[flow] as usize].reverse);
        let on_links: u64 = links.iter().map(|&link| plan.links[link as usize].delay_ps).sum();
        let stop = columns.stop_ps[flow];
        tcp.video.as_ref().map(|video| Viewer {
            plan: VideoPlan::clone(video),
            mss: u64::from(tcp.config.mss_bytes),
            way: Span::from_ps(columns.return_delay_ps[flow] + on_links + columns.home_delay_ps[flow]),
            stop: (stop != u64::MAX).then(|| Time::from_ps(stop)),
            fetched: Vec::new(),
            complete_at: 0,
            request: None,
            placeholder_s: 0.0,
            steady: false,
            log: Vec::new(),
        })
    }

    pub(super) fn lead(&self) -> Span {
        self.way
    }

    pub(super) fn next(&self) -> Option<Time> {
        self.request
    }

    pub(super) fn stop(&mut self) {
        self.request = None;
    }

    /// The first request has reached the server.
    pub(super) fn begin(&mut self, now: Time, sender: &mut Sender) {
        self.ask(Time::from_ps((now - Time::ZERO).as_ps() - self.way.as_ps()), 0);
        self.serve(now, sender);
    }

    /// Whether a request has reached the server.
    pub(super) fn change(&mut self, now: Time, sender: &mut Sender) -> bool {
        let has = self.request.is_some_and(|at| at <= now);
        if has {
            self.serve(now, sender);
        }
        has
    }

    fn serve(&mut self, now: Time, sender: &mut Sender) {
        self.request = None;
        let (_, _, bytes) = self.log[self.log.len() - 1];
        let segments = bytes.div_ceil(self.mss).min(u64::from(u32::MAX));
        sender.resume(now, Some(segments as u32));
        self.complete_at += segments;
    }

    fn ask(&mut self, at: Time, rate: usize) {
        let bits = u128::from(self.plan.ladder_bps[rate]) * u128::from(self.plan.segment_ps);
        let bytes = bits.div_ceil(8 * 1_000_000_000_000) as u64;
        self.fetched.push(Fetched { asked: at, rate, came: None });
        self.log.push((at, None, bytes));
        self.request = Some(at + self.way);
    }

    /// When each segment that has come is played, as far as that is known.
    fn plays(&self) -> Vec<Time> {
        let segment = Span::from_ps(self.plan.segment_ps);
        let came: Vec<Time> = self.fetched.iter().filter_map(|each| each.came).collect();
        let mut plays: Vec<Time> = Vec::new();
        let mut first_waiting = 0;
        for (number, &now) in came.iter().enumerate() {
            let goes_on = plays.last().map(|&at| at + segment).filter(|&at| at >= now);
            if let Some(at) = goes_on.filter(|_| plays.len() == number) {
                plays.push(at);
                first_waiting = number + 1;
                continue;
            }
            let needs = if plays.is_empty() { self.plan.startup_ps } else { self.plan.resume_ps };
            let held = number + 1 - first_waiting;
            if held as u64 * self.plan.segment_ps >= needs {
                for each in 0..held {
                    plays.push(now + segment.saturating_mul(each as u64));
                }
                first_waiting = number + 1;
            }
        }
        plays
    }

    /// What is in the buffer of `came` segments, ps, and whether it is played from.
    fn level(&self, plays: &[Time], came: usize, now: Time) -> (u64, bool) {
        let waiting = (came - plays.len()) as u64 * self.plan.segment_ps;
        let end = plays.last().map(|&at| at + Span::from_ps(self.plan.segment_ps));
        let left = end.map_or(0, |end| end.saturating_since(now).as_ps());
        (left + waiting, waiting == 0 && end.is_some_and(|end| end >= now))
    }

    /// The receiver has this many segments of TCP.
    pub(super) fn on_delivered(&mut self, now: Time, delivered: u32) {
        let waits = self.fetched.last().is_some_and(|each| each.came.is_none()) && self.request.is_none();
        if !waits || u64::from(delivered) < self.complete_at {
            return;
        }
        let number = self.fetched.len() - 1;
        let before = self.plays();
        let (level_before, _) = self.level(&before, number, now);
        let dry = !before.is_empty()
            && before.len() == number
            && before[number - 1] + Span::from_ps(self.plan.segment_ps) < now;
        let took = now - self.fetched[number].asked;
        self.placeholder_s = (self.placeholder_s * 0.99).min(
            (self.most_s(self.fetched[number].rate) - (Span::from_ps(level_before) + took).as_s()).max(0.0),
        );
        if dry && self.steady {
            self.placeholder_s = 0.0;
        }
        self.fetched[number].came = Some(now);
        self.log[number].1 = Some(now);
        let (level, playing) = self.level(&self.plays(), number + 1, now);
        let over = (level + self.plan.segment_ps).saturating_sub(self.plan.buffer_ps);
        let room = if playing { over } else { 0 };
        let (rate, wait_s) = self.choose(Span::from_ps(level - room).as_s(), Span::from_ps(room).as_s());
        let at = now + Span::from_ps(room) + Span::from_ps((wait_s * 1e12) as u64);
        if self.stop.is_none_or(|stop| at + self.way < stop) {
            self.ask(at, rate);
        }
    }

    fn bps(&self, rate: usize) -> f64 {
        self.plan.ladder_bps[rate] as f64
    }

    /// v + 1 of the paper's utilities.
    fn utility(&self, rate: usize) -> f64 {
        ln(self.bps(rate) / self.bps(0)) + 1.0
    }

    /// Vp and gp.
    fn parameters(&self) -> (f64, f64) {
        let rates = self.plan.ladder_bps.len();
        let target = Span::from_ps(self.plan.buffer_ps).as_s().max(10.0 + 2.0 * rates as f64);
        let gp = if rates == 1 { 1.0 } else { (self.utility(rates - 1) - 1.0) / (target / 10.0 - 1.0) };
        (10.0 / gp, gp)
    }

    fn most_s(&self, rate: usize) -> f64 {
        let (vp, gp) = self.parameters();
        vp * (self.utility(rate) + gp)
    }

    fn best(&self, level_s: f64) -> usize {
        let mut best = (0, f64::NEG_INFINITY);
        for rate in 0..self.plan.ladder_bps.len() {
            let score = (self.most_s(rate) - level_s) / self.bps(rate);
            if score >= best.1 {
                best = (rate, score);
            }
        }
        best.0
    }

    fn sustained(&self) -> usize {
        let done: Vec<f64> = self
            .fetched
            .iter()
            .zip(&self.log)
            .filter_map(|(each, &(_, _, bytes))| {
                each.came.map(|came| (came - each.asked).as_s() / (8.0 * bytes as f64))
            })
            .collect();
        let last = &done[done.len().saturating_sub(4)..];
        let safe = self.plan.safety * last.len() as f64 / last.iter().sum::<f64>();
        (0..self.plan.ladder_bps.len()).rfind(|&rate| self.bps(rate) <= safe).unwrap_or(0)
    }

    fn choose(&mut self, level_s: f64, waited_s: f64) -> (usize, f64) {
        let (sustained, last) = (self.sustained(), self.fetched[self.fetched.len() - 1].rate);
        match self.plan.rule {
            RateRule::Throughput => (sustained, 0.0),
            RateRule::Bola if !self.steady => {
                let (vp, gp) = self.parameters();
                let (bps, utility) = (self.bps(sustained), self.utility(sustained));
                let mut least = 0_f64;
                for lower in 0..sustained {
                    let mixed = bps * self.utility(lower) - self.bps(lower) * utility;
                    least = least.max(vp * (gp + mixed / (bps - self.bps(lower))));
                }
                self.placeholder_s = (least - level_s).max(0.0);
                self.steady = level_s >= Span::from_ps(self.plan.segment_ps).as_s();
                (sustained, 0.0)
            }
            RateRule::Bola => {
                self.placeholder_s += waited_s;
                let effective = level_s + self.placeholder_s;
                let wanted = self.best(effective);
                let rises = wanted > last && wanted > sustained;
                let rate = if rises { sustained.max(last) } else { wanted };
                let excess = (effective - self.most_s(rate)).max(0.0);
                let taken = excess.min(self.placeholder_s);
                self.placeholder_s -= taken;
                (rate, if rate + 1 == self.plan.ladder_bps.len() { 0.0 } else { excess - taken })
            }
        }
    }

    /// Bitrate, when due, when played and how long it stood still, of each segment that was asked for before `end`.
    pub(super) fn segments(&self, end: Time) -> Vec<(u64, Option<Time>, Option<Time>, Span)> {
        let plays = self.plays();
        let asked = self.fetched.iter().take_while(|each| each.asked < end);
        let seen = asked.enumerate().map(|(number, each)| {
            let due = match number {
                0 => Some(self.fetched[0].asked),
                _ => plays.get(number - 1).map(|&at| at + Span::from_ps(self.plan.segment_ps)),
            };
            let due = due.filter(|&at| at < end);
            let plays = plays.get(number).copied().filter(|&at| at < end);
            let until = plays.unwrap_or(self.stop.map_or(end, |stop| stop.min(end)));
            let stood = due.map_or(Span::ZERO, |due| until.saturating_since(due));
            (self.plan.ladder_bps[each.rate], due, plays, stood)
        });
        seen.collect()
    }
}

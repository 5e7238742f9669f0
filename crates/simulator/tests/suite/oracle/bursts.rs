//! An application that has data by turns, as the plan words it.

use bufferlab_simulator::{LawPlan, OnOffPlan, OnPlan, Plan, TcpPlan};
use bufferlab_transport::{BurstsConfig, Load, Sender};
use bufferlab_units::{Span, Stream, Time, exp};

/// The random stream of an application: part of what a plan means, so the number is the engine's.
const ON_OFF_STREAM: u32 = 6;

/// Where the application stands.
#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Not started, or stopped for good.
    Out,
    OnUntil(Time),
    /// On until everything is acknowledged.
    OnUntilDone,
    OffUntil(Time),
}

pub(super) struct Bursts {
    plan: OnOffPlan,
    mss: u64,
    stream: Stream,
    state: State,
    /// From the client to the server, where bursts are fetched.
    way: Option<Span>,
    /// Segments that the receiver has when this burst is complete.
    complete_at: u64,
    /// What was fetched so far: when it was asked for or written, when it was there, its bytes.
    pub(super) log: Vec<(Time, Option<Time>, u64)>,
}

impl Bursts {
    pub(super) fn new(plan: &Plan, flow: usize, tcp: &TcpPlan) -> Option<Bursts> {
        let stream = Stream::new(plan.seed, ON_OFF_STREAM, flow as u32);
        let (columns, links) = (&plan.flows, &plan.groups[plan.flows.group[flow] as usize].reverse);
        let on_links: u64 = links.iter().map(|&link| plan.links[link as usize].delay_ps).sum();
        let way = Span::from_ps(columns.return_delay_ps[flow] + on_links + columns.home_delay_ps[flow]);
        tcp.on_off.map(|plan| Bursts {
            plan,
            mss: u64::from(tcp.config.mss_bytes),
            stream,
            state: State::Out,
            way: plan.fetch.then_some(way),
            complete_at: 0,
            log: Vec::new(),
        })
    }

    /// How long after the flow's start the server hears of the client.
    pub(super) fn lead(&self) -> Span {
        self.way.unwrap_or(Span::ZERO)
    }

    /// The receiver has this many segments.
    pub(super) fn on_delivered(&mut self, now: Time, delivered: u32) {
        if let Some((_, end, _)) = self.log.last_mut()
            && u64::from(delivered) >= self.complete_at
        {
            end.get_or_insert(now);
        }
    }

    pub(super) fn next(&self) -> Option<Time> {
        match self.state {
            State::OnUntil(at) | State::OffUntil(at) => Some(at),
            State::Out | State::OnUntilDone => None,
        }
    }

    pub(super) fn stop(&mut self) {
        self.state = State::Out;
    }

    pub(super) fn turn_on(&mut self, now: Time, sender: &mut Sender) {
        match self.plan.on {
            OnPlan::TimePs(law) => {
                sender.resume(now, None);
                self.state = State::OnUntil(now + Span::from_ps(self.draw(law)));
            }
            OnPlan::Bytes(law) => {
                let bytes = self.draw(law);
                let segments = bytes.div_ceil(self.mss).min(u64::from(u32::MAX));
                if self.way.is_some() && !self.log.is_empty() {
                    sender.reconnect(now, segments as u32);
                } else {
                    sender.resume(now, Some(segments as u32));
                }
                self.complete_at += segments;
                self.log.push((Time::from_ps((now - Time::ZERO).as_ps() - self.lead().as_ps()), None, bytes));
                self.state = State::OnUntilDone;
            }
        }
    }

    fn turn_off(&mut self, now: Time) {
        let law = self.plan.off_ps;
        let off = Span::from_ps(self.draw(law));
        let next = match (self.way, self.log.last()) {
            (Some(way), Some((asked, ..))) => (*asked + off + way).max(now),
            _ => now + off,
        };
        self.state = State::OffUntil(next);
    }

    /// The time has come that `next` named, if it has; whether there is data again.
    pub(super) fn change(&mut self, now: Time, sender: &mut Sender) -> bool {
        if self.next().is_none_or(|at| at > now) {
            return false;
        }
        if let State::OnUntil(_) = self.state {
            sender.stop();
            self.turn_off(now);
            return false;
        }
        self.turn_on(now, sender);
        true
    }

    /// After the sender's timers.
    pub(super) fn look(&mut self, now: Time, sender: &Sender) {
        if self.state == State::OnUntilDone && sender.finished() != Time::NEVER {
            self.turn_off(now);
        }
    }

    fn draw(&mut self, law: LawPlan) -> u64 {
        draw(law, &mut self.stream)
    }
}

/// The next value of a law.
pub(super) fn draw(law: LawPlan, stream: &mut Stream) -> u64 {
    let value = match law {
        LawPlan::Constant { value } => value as f64,
        LawPlan::Exponential { mean } => stream.exponential() * mean as f64,
        LawPlan::Pareto { mean, shape } => {
            mean as f64 * ((shape - 1.0) / shape) * exp(stream.exponential() / shape)
        }
    };
    value.clamp(1.0, 1e18) as u64
}

/// What a flow of this group has to send.
pub(super) fn load(plan: &TcpPlan) -> Load {
    let mss = u64::from(plan.config.mss_bytes);
    let of_turns = plan.on_off.map(|turns| (turns.after_idle, turns.fetch));
    let of_data = plan.video.as_ref().map_or(of_turns, |video| Some((video.after_idle, false)));
    Load {
        segments: plan.transfer_bytes.map_or(u32::MAX, |bytes| bytes.div_ceil(mss) as u32),
        bursts: of_data.map(|(after_idle, reconnects)| BurstsConfig { after_idle, reconnects }),
    }
}

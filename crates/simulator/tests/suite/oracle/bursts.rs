//! An application that has data by turns, as the plan words it.

use bufferlab_simulator::{AfterIdlePlan, LawPlan, OnOffPlan, OnPlan, Plan, TcpPlan};
use bufferlab_transport::{AfterIdle, BurstsConfig, Sender};
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
}

impl Bursts {
    pub(super) fn new(plan: &Plan, flow: usize, tcp: &TcpPlan) -> Option<Bursts> {
        let stream = Stream::new(plan.seed, ON_OFF_STREAM, flow as u32);
        tcp.on_off.map(|plan| Bursts { plan, mss: u64::from(tcp.mss_bytes), stream, state: State::Out })
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
                let segments = self.draw(law).div_ceil(self.mss).min(u64::from(u32::MAX));
                sender.resume(now, Some(segments as u32));
                self.state = State::OnUntilDone;
            }
        }
    }

    fn turn_off(&mut self, now: Time) {
        let law = self.plan.off_ps;
        self.state = State::OffUntil(now + Span::from_ps(self.draw(law)));
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
        let value = match law {
            LawPlan::Constant { value } => value as f64,
            LawPlan::Exponential { mean } => self.stream.exponential() * mean as f64,
            LawPlan::Pareto { mean, shape } => {
                mean as f64 * ((shape - 1.0) / shape) * exp(self.stream.exponential() / shape)
            }
        };
        value.clamp(1.0, 1e18) as u64
    }
}

pub(super) fn config(plan: &TcpPlan) -> Option<BurstsConfig> {
    let after_idle = match plan.on_off?.after_idle {
        AfterIdlePlan::Keep => AfterIdle::Keep,
        AfterIdlePlan::Restart => AfterIdle::Restart,
        AfterIdlePlan::Decay => AfterIdle::Decay,
    };
    Some(BurstsConfig { after_idle, initial_window: plan.initial_window })
}

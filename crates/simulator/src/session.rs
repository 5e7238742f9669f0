//! A run that can be inspected, and changed, while it goes on.
//!
//! # Laws
//! - A session advanced to the end, in whatever steps and however often inspected, gives the same as [`crate::run`].
//! - [`Session::set_limit`] at a moment gives the same as that change in the plan ([`crate::LimitChange`]).
//! - [`Session::set_discipline`] with the parameters that a link has already changes nothing.

use bufferlab_parameters::Kinds;
use bufferlab_qdisc::{DisciplineConfig, Estimates, Limit, SubQueue};
use bufferlab_units::{Span, Time};

use crate::check::{self, PlanError};
use crate::control::Control;
use crate::engine::Engine;
use crate::link::Link;
use crate::network::World;
use crate::outcome::{FlowState, GroupCounters, LinkCounters, Outcome};
use crate::plan::Plan;
use crate::recording::Off;
use crate::tournament::Tournament;
use crate::world::{self, Service};

/// The engine with the narrower keys if they hold the run; see [`Tournament`].
enum AnyEngine {
    Narrow(Box<Engine<i64>>),
    Wide(Box<Engine<i128>>),
}

macro_rules! with_engine {
    ($engine:expr, $inner:pat => $body:expr) => {
        match $engine {
            AnyEngine::Narrow($inner) => $body,
            AnyEngine::Wide($inner) => $body,
        }
    };
}

/// A simulation that stops at moments.
pub struct Session {
    engine: AnyEngine,
    now: Time,
    canceled: bool,
}

impl Session {
    /// Begins a plan.
    ///
    /// # Errors
    /// [`PlanError`] names the first field of the plan that is out of bounds.
    pub fn new(plan: &Plan) -> Result<Session, PlanError> {
        check::check(plan)?;
        Ok(Session::begin(world::build(plan, Service::Shortest)))
    }

    fn begin(world: World) -> Session {
        let engine = if Tournament::<i64>::holds(world.ends.len(), world.horizon()) {
            AnyEngine::Narrow(Box::new(Engine::new(world, Off)))
        } else {
            AnyEngine::Wide(Box::new(Engine::new(world, Off)))
        };
        Session { engine, now: Time::ZERO, canceled: false }
    }

    /// The moment reached, ps: what happens from here on has not happened yet.
    pub fn now_ps(&self) -> u64 {
        self.now.as_ps()
    }

    /// Runs up to a moment, or to the plan's end if that is earlier; a moment that is past changes nothing. False if
    /// `control` canceled it on the way: the session then stays where it is.
    pub fn advance(&mut self, until_ps: u64, control: &Control) -> bool {
        let until = Time::from_ps(until_ps).min(with_engine!(&self.engine, engine => engine.end()));
        self.canceled |= control.is_canceled();
        if until > self.now && !self.canceled {
            let canceled_at = with_engine!(&mut self.engine, engine => engine.advance(until, control));
            self.canceled = canceled_at.is_some();
            self.now = canceled_at.unwrap_or(until).max(self.now);
        }
        !self.canceled
    }

    /// Gives a link another limit: packets that arrive from now on find it, until the plan changes it.
    ///
    /// # Errors
    /// [`PlanError`] if there is no such link, or the limit is out of bounds.
    pub fn set_limit(&mut self, link: usize, limit: Limit) -> Result<(), PlanError> {
        limit.validate("limit")?;
        let now = self.now;
        self.link(link)?.set_limit(now, limit);
        Ok(())
    }

    /// Gives a link's discipline other parameters: what waits stays, and what comes or goes from now on meets them.
    ///
    /// # Errors
    /// [`PlanError`] if there is no such link, a parameter is out of bounds, or the link's queue would have to be made anew for
    /// them (see [`AnyQdisc::change`]).
    ///
    /// [`AnyQdisc::change`]: bufferlab_qdisc::AnyQdisc::change
    pub fn set_discipline(&mut self, link: usize, config: &DisciplineConfig) -> Result<(), PlanError> {
        config.validate().map_err(|error| error.under("discipline"))?;
        if self.link(link)?.change(config) {
            return Ok(());
        }
        let accepted =
            "other parameters of the link's codel, fq_codel with as many queues, or pie".to_owned();
        Err(PlanError { field: "discipline".to_owned(), value: config.word().to_owned(), accepted })
    }

    /// How long packets waited at a link, of those that [`LinkCounters::served_packets`] counts: bounds in ps, each with how many
    /// waited for less, and for no less than the bound before.
    ///
    /// # Errors
    /// [`PlanError`] if there is no such link.
    pub fn waits(&mut self, link: usize) -> Result<Vec<(u64, u64)>, PlanError> {
        let now = self.now;
        Ok(self.link(link)?.waits(now))
    }

    /// What a link has counted by now.
    ///
    /// # Errors
    /// [`PlanError`] if there is no such link.
    pub fn counters(&mut self, link: usize) -> Result<LinkCounters, PlanError> {
        let now = self.now;
        Ok(self.link(link)?.counters(now))
    }

    /// The same for each group of flows, by its index in the plan.
    ///
    /// # Errors
    /// [`PlanError`] if there is no such link.
    pub fn groups(&mut self, link: usize) -> Result<Vec<GroupCounters>, PlanError> {
        let now = self.now;
        Ok(self.link(link)?.group_counters(now))
    }

    /// The state of a flow's sender now. This only reads: nothing is brought up to the moment for it.
    ///
    /// # Errors
    /// [`PlanError`] if there is no such flow.
    pub fn flow(&self, flow: usize) -> Result<FlowState, PlanError> {
        with_engine!(&self.engine, engine => engine.flow_state(flow)).ok_or_else(|| missing("flow", flow))
    }

    /// How long the last of a flow's exchanges took that is done: a page, a burst, a ping, a recorded datagram. ps; nothing
    /// before the first.
    ///
    /// # Errors
    /// [`PlanError`] if there is no such flow.
    pub fn last_exchange_ps(&self, flow: usize) -> Result<Option<u64>, PlanError> {
        self.flow(flow)?;
        Ok(with_engine!(&self.engine, engine => engine.last_exchange(flow, self.now)).map(Span::as_ps))
    }

    /// What a link's discipline holds and estimates of its classes, if it has classes.
    ///
    /// # Errors
    /// [`PlanError`] if there is no such link.
    pub fn estimates(&mut self, link: usize) -> Result<Option<Estimates>, PlanError> {
        Ok(self.link(link)?.estimates())
    }

    /// The queues that a link's discipline keeps for flows, in the order of their turns ([`QueueDisc::sub_queues`]).
    ///
    /// # Errors
    /// [`PlanError`] if there is no such link.
    ///
    /// [`QueueDisc::sub_queues`]: bufferlab_qdisc::QueueDisc::sub_queues
    pub fn sub_queues(&mut self, link: usize) -> Result<Vec<SubQueue>, PlanError> {
        Ok(self.link(link)?.sub_queues())
    }

    /// The group of each packet that is in transmission at a link or waits there, the next one to be out first; nothing if
    /// its discipline has more than one queue ([`QueueDisc::groups_in_order`]).
    ///
    /// # Errors
    /// [`PlanError`] if there is no such link.
    ///
    /// [`QueueDisc::groups_in_order`]: bufferlab_qdisc::QueueDisc::groups_in_order
    pub fn groups_in_order(&mut self, link: usize) -> Result<Vec<u16>, PlanError> {
        let now = self.now;
        Ok(self.link(link)?.groups_in_order(now))
    }

    /// What was measured: all of the plan if it was advanced to its end, else as if canceled here.
    pub fn finish(self, control: &Control) -> Outcome {
        let early = self.canceled || self.now < with_engine!(&self.engine, engine => engine.end());
        with_engine!(self.engine, mut engine => {
            // senders whose clock is behind have not reached the end yet
            let canceled_at = if early { None } else { engine.advance(Time::NEVER, control) };
            engine.finish(self.now, early || canceled_at.is_some(), control)
        })
    }

    fn link(&mut self, link: usize) -> Result<&mut Link, PlanError> {
        let now = self.now;
        with_engine!(&mut self.engine, engine => engine.link_at(now, link))
            .ok_or_else(|| missing("link", link))
    }
}

fn missing(what: &str, index: usize) -> PlanError {
    PlanError { field: what.to_owned(), value: index.to_string(), accepted: format!("the index of a {what}") }
}

//! An application whose data comes by and by.

use bufferlab_simulator::{Plan, TcpPlan};
use bufferlab_transport::Sender;
use bufferlab_units::{Span, Time};

use super::bursts::Bursts;
use super::video::Viewer;

pub(super) enum Application {
    Bursts(Bursts),
    Video(Box<Viewer>),
}

impl Application {
    pub(super) fn new(plan: &Plan, flow: usize, tcp: &TcpPlan) -> Option<Application> {
        let video = Viewer::new(plan, flow, tcp).map(|viewer| Application::Video(Box::new(viewer)));
        video.or_else(|| Bursts::new(plan, flow, tcp).map(Application::Bursts))
    }

    /// How long after the flow's start the server hears of the client.
    pub(super) fn lead(&self) -> Span {
        match self {
            Application::Bursts(bursts) => bursts.lead(),
            Application::Video(viewer) => viewer.lead(),
        }
    }

    /// The receiver has this many segments.
    pub(super) fn on_delivered(&mut self, now: Time, delivered: u32) {
        match self {
            Application::Bursts(bursts) => bursts.on_delivered(now, delivered),
            Application::Video(viewer) => viewer.on_delivered(now, delivered),
        }
    }

    pub(super) fn next(&self) -> Option<Time> {
        match self {
            Application::Bursts(bursts) => bursts.next(),
            Application::Video(viewer) => viewer.next(),
        }
    }

    pub(super) fn stop(&mut self) {
        match self {
            Application::Bursts(bursts) => bursts.stop(),
            Application::Video(viewer) => viewer.stop(),
        }
    }

    /// The sender has started.
    pub(super) fn begin(&mut self, now: Time, sender: &mut Sender) {
        match self {
            Application::Bursts(bursts) => bursts.turn_on(now, sender),
            Application::Video(viewer) => viewer.begin(now, sender),
        }
    }

    /// The time has come that `next` named, if it has; whether there is data again.
    pub(super) fn change(&mut self, now: Time, sender: &mut Sender) -> bool {
        match self {
            Application::Bursts(bursts) => bursts.change(now, sender),
            Application::Video(viewer) => viewer.change(now, sender),
        }
    }

    /// After the sender's timers.
    pub(super) fn look(&mut self, now: Time, sender: &Sender) {
        if let Application::Bursts(bursts) = self {
            bursts.look(now, sender);
        }
    }

    /// What was fetched so far: when it was asked for or written, when it was there, its bytes.
    pub(super) fn log(&self) -> &[(Time, Option<Time>, u64)] {
        match self {
            Application::Bursts(bursts) => &bursts.log,
            Application::Video(viewer) => &viewer.log,
        }
    }
}

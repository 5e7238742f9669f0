//! The events that a recorder of a run's packets receives.
//!
//! A [`Recorder`] receives every packet at every point of its path. Hosts run in shifted time and a FIFO link knows a
//! departure when the packet arrives, so events are reported ahead of their time and out of order;
//! [`Recorder::reaches`] says up to where they are complete. Whether there is a recorder is a type parameter of the
//! engine: without one, [`Off`] leaves no instruction behind.

use bufferlab_qdisc::{DropReason, Packet};
use bufferlab_transport::{Ack, SackBlocks};
use bufferlab_units::Time;

/// Why a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// By the link's random losses, before it reached the queue.
    Random,
    /// By the queue.
    Queue(DropReason),
}

/// A point of a packet's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// It leaves the sender's host. ([`Recorder::answers`] reports what a receiver sends.)
    Leaves,
    /// It arrives at a link's queue.
    Joins(u32),
    /// It is lost at a link.
    Lost(u32, Loss),
    /// A link's transmitter has sent it.
    Departs(u32),
    /// It reaches the host at the other end.
    Arrives,
}

/// How an answer returns to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Over no queue; it reaches the sender at this time.
    Home(Time),
    /// Over queued links, as a packet whose `seq` is this.
    Queues(u32),
}

/// Receives every packet of a run. It cannot change anything.
pub trait Recorder {
    /// A packet reaches a point of its path. An acknowledgment's `seq` is its [`Way::Queues`].
    fn sees(&mut self, at: Time, sight: Sight, packet: &Packet);

    /// A receiver sends an acknowledgment, or returns a datagram, whose number `ack.ack` then is.
    fn answers(&mut self, at: Time, flow: u32, way: Way, ack: &Ack, blocks: &SackBlocks);

    /// What a receiver sends from now on advertises a window of `segments`. Only receivers that tune it report it.
    fn offers(&mut self, at: Time, flow: u32, segments: u32) {
        let _ = (at, flow, segments);
    }

    /// A flow that fetches opens its connection number `number`, from 0, for segments from `base` on; its client asked
    /// at `asked`. Repeated until the next one.
    fn fetches(&mut self, at: Time, flow: u32, number: usize, asked: Time, base: u32);

    /// All events before `now` were handled. Later reports lie before `now` by at most a sender's delay to its first
    /// link.
    fn reaches(&mut self, now: Time);
}

/// A recorder, or none.
pub(crate) trait Tap {
    /// Whether there is a recorder, so that nothing is looked up for none.
    const ON: bool;

    /// Reports to the recorder, if there is one.
    fn tell(&mut self, tell: impl FnOnce(&mut dyn Recorder));
}

/// No recorder.
#[derive(Debug, Default)]
pub(crate) struct Off;

impl Tap for Off {
    const ON: bool = false;

    #[inline(always)]
    fn tell(&mut self, _: impl FnOnce(&mut dyn Recorder)) {}
}

/// A recorder.
pub(crate) struct On<'a>(pub(crate) &'a mut dyn Recorder);

impl Tap for On<'_> {
    const ON: bool = true;

    fn tell(&mut self, tell: impl FnOnce(&mut dyn Recorder)) {
        tell(self.0);
    }
}

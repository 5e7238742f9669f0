//! What someone is told who records the packets of a run.
//!
//! A [`Recorder`] hears of every packet at every point of its way. Hosts run in shifted time and a FIFO link knows a
//! departure when the packet arrives, so it hears of things to come, and not in their order; [`Recorder::reaches`] says
//! what lies behind. Whether anyone records is a type parameter of the engine: where nobody does, [`Off`] leaves no
//! instruction behind.

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

/// A point of a packet's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// It leaves the sender's host. (What a receiver sends is told by [`Recorder::answers`].)
    Leaves,
    /// It arrives at a link's queue.
    Joins(u32),
    /// It is lost at a link.
    Lost(u32, Loss),
    /// A link's transmitter is done with it.
    Departs(u32),
    /// It reaches the host at the other end.
    Arrives,
}

/// How an answer goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Over no queue: it reaches the sender then.
    Home(Time),
    /// Over queued links, as a packet whose `seq` is this.
    Queues(u32),
}

/// Hears of every packet of a run. It cannot change anything.
pub trait Recorder {
    /// A packet is somewhere. An acknowledgment's `seq` is its [`Way::Queues`].
    fn sees(&mut self, at: Time, sight: Sight, packet: &Packet);

    /// A receiver sends an acknowledgment, or returns a datagram, whose number `ack.ack` then is.
    fn answers(&mut self, at: Time, flow: u32, way: Way, ack: &Ack, blocks: &SackBlocks);

    /// What a receiver sends from now on offers a window of so many segments. Only those that tune it tell.
    fn offers(&mut self, at: Time, flow: u32, segments: u32) {
        let _ = (at, flow, segments);
    }

    /// A flow that fetches opens its connection number `number`, from 0, for segments from `base` on; its client asked
    /// at `asked`. Told again until there is another.
    fn fetches(&mut self, at: Time, flow: u32, number: usize, asked: Time, base: u32);

    /// All events before `now` were handled. What is told from now on lies no more than a sender's delay to its first
    /// link before it.
    fn reaches(&mut self, now: Time);
}

/// A place for a recorder.
pub(crate) trait Tap {
    /// Whether anyone listens, for what has to be looked up first.
    const ON: bool;

    /// Tells whoever listens.
    fn tell(&mut self, tell: impl FnOnce(&mut dyn Recorder));
}

/// Nobody records.
#[derive(Debug, Default)]
pub(crate) struct Off;

impl Tap for Off {
    const ON: bool = false;

    #[inline(always)]
    fn tell(&mut self, _: impl FnOnce(&mut dyn Recorder)) {}
}

/// Somebody does.
pub(crate) struct On<'a>(pub(crate) &'a mut dyn Recorder);

impl Tap for On<'_> {
    const ON: bool = true;

    fn tell(&mut self, tell: impl FnOnce(&mut dyn Recorder)) {
        tell(self.0);
    }
}

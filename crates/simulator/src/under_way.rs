//! Acknowledgments on their way to their senders, all flows' in one pool.

use bufferlab_transport::{Ack, SackBlocks};
use bufferlab_units::Time;

use crate::pool::Pool;

/// An acknowledgment on its way. Without gaps, so that it moves in registers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrival {
    /// When, by the first link's clock, its answer reaches that link.
    pub(crate) at: Time,
    pub(crate) echo: Time,
    pub(crate) ack: u32,
    pub(crate) flags: u32,
}

/// Acknowledgments on their way, all flows'.
#[derive(Debug, Default)]
pub(crate) struct UnderWay {
    pub(crate) arrivals: Pool<Arrival, 8>,
    /// SACK blocks of those acknowledgments that have them.
    pub(crate) blocks: Pool<SackBlocks, 4>,
}

const SYN: u32 = 1;
const HAS_SACK: u32 = 2;
const MARKED: u32 = 4;
/// The bits above say how long it was delayed.
const DELAY_SHIFT: u32 = 8;

impl Arrival {
    pub(crate) const NONE: Arrival = Arrival { at: Time::NEVER, echo: Time::ZERO, ack: 0, flags: 0 };

    #[inline(always)]
    pub(crate) fn new(at: Time, ack: Ack) -> Arrival {
        let flag = |holds: bool, bit: u32| u32::from(holds) * bit;
        let flags = flag(ack.syn, SYN) | flag(ack.has_sack, HAS_SACK) | flag(ack.marked, MARKED);
        let flags = flags | u32::from(ack.delay) << DELAY_SHIFT;
        Arrival { at, echo: ack.echo, ack: ack.ack, flags }
    }

    #[inline(always)]
    pub(crate) fn ack(&self) -> Ack {
        let Arrival { echo, ack, flags, .. } = *self;
        let is = |bit| flags & bit != 0;
        let delay = (flags >> DELAY_SHIFT) as u8;
        Ack { ack, syn: is(SYN), has_sack: is(HAS_SACK), marked: is(MARKED), delay, echo }
    }
}

//! Times that packets on both sides contradict.

use bufferlab_capture::reading::Packet;

/// Packets of one file are out of order by milliseconds, where an interface has several queues. Our choice.
const MOST_EARLY_NS: u64 = 1_000_000_000;

/// Holds one packet, until the next has come.
///
/// One wrong time in the future, as a damaged file has it, would make all packets that follow older than it, and everything that is measured
/// in time wrong. So a packet that is later than the next by more than a second, while that is no earlier than the one before, is as of the
/// next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    held: Option<Box<Packet>>,
    last_ns: u64,
}

impl Times {
    /// The packet before one, with the time that it has beside that, and whether its own was wrong.
    pub(crate) fn before(&mut self, next_ns: u64) -> Option<(Box<Packet>, bool)> {
        let mut held = self.held.take()?;
        let is_wrong = next_ns >= self.last_ns && held.at_ns.saturating_sub(next_ns) > MOST_EARLY_NS;
        if is_wrong {
            held.at_ns = next_ns;
        }
        self.last_ns = self.last_ns.max(held.at_ns);
        Some((held, is_wrong))
    }

    /// Holds a packet, in the place of one that was given.
    pub(crate) fn hold(&mut self, mut place: Box<Packet>, packet: &Packet) {
        *place = *packet;
        self.held = Some(place);
    }

    /// The last packet.
    pub(crate) fn end(&mut self) -> Option<Box<Packet>> {
        self.held.take()
    }
}

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
    held: Option<Packet>,
    last_ns: u64,
}

impl Times {
    /// The packet before this one, and whether its time was wrong.
    pub(crate) fn next(&mut self, packet: &Packet) -> Option<(Packet, bool)> {
        let mut held = self.held.replace(*packet)?;
        let next_ns = packet.at_ns;
        let is_wrong = next_ns >= self.last_ns && held.at_ns.saturating_sub(next_ns) > MOST_EARLY_NS;
        if is_wrong {
            held.at_ns = next_ns;
        }
        self.last_ns = self.last_ns.max(held.at_ns);
        Some((held, is_wrong))
    }

    /// The last packet.
    pub(crate) fn end(&mut self) -> Option<Packet> {
        self.held.take()
    }
}

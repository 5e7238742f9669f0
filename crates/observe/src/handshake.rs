//! Round trips of TCP's handshake.

use bufferlab_capture::reading::Tcp;

/// The opening of a connection: from the SYN to its answer is the round trip to the responder, from there to the next acknowledgment
/// the one to the initiator (H. Jiang and C. Dovrolis, "Passive estimation of TCP round-trip times", ACM CCR 32(3), 2002, section 3).
///
/// Packets are small and hosts answer at once, so these are among the smallest samples. They contain the queues of that moment, and an
/// application's delay where the last acknowledgment goes with data. A repeated SYN or answer gives no sample: which of them was answered is
/// unknown (Karn and Partridge, SIGCOMM 1987).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Handshake {
    syn: Option<(u64, u32)>,
    answer: Option<(u64, u32)>,
    repeated: [bool; 2],
    is_over: bool,
}

impl Handshake {
    /// A segment of the initiator (0) or the responder (1). Returns a round trip to the other one.
    pub(crate) fn segment(&mut self, now: u64, from: usize, tcp: &Tcp) -> Option<u64> {
        if self.is_over {
            return None;
        }
        match (from, tcp.flags.syn, tcp.ack) {
            (0, true, None) => {
                self.repeated[0] |= self.syn.is_some();
                self.syn = Some((now, tcp.seq));
                None
            }
            (1, true, Some(ack)) => {
                let first = self.answer.replace((now, tcp.seq)).is_none();
                self.repeated[1] |= !first;
                let (at, seq) = self.syn?;
                (first && !self.repeated[0] && ack == seq.wrapping_add(1)).then_some(now - at)
            }
            (0, false, Some(ack)) if !tcp.flags.rst => {
                let (at, seq) = self.answer?;
                self.is_over = true;
                (!self.repeated[1] && ack == seq.wrapping_add(1)).then_some(now - at)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use bufferlab_capture::reading::Flags;

    use super::*;

    fn syn(seq: u32, ack: Option<u32>) -> Tcp {
        Tcp { seq, ack, flags: Flags { syn: true, ..Flags::default() }, ..Tcp::default() }
    }

    fn ack(ack: u32) -> Tcp {
        Tcp { ack: Some(ack), ..Tcp::default() }
    }

    #[test]
    fn both_sides_are_measured_once() {
        let mut handshake = Handshake::default();
        assert_eq!(handshake.segment(100, 0, &syn(u32::MAX, None)), None);
        assert_eq!(handshake.segment(130, 1, &syn(7, Some(0))), Some(30));
        assert_eq!(handshake.segment(150, 0, &ack(8)), Some(20));
        assert_eq!(handshake.segment(190, 0, &ack(8)), None);
    }

    #[test]
    fn what_was_repeated_gives_none() {
        let mut handshake = Handshake::default();
        handshake.segment(100, 0, &syn(1, None));
        handshake.segment(1_100, 0, &syn(1, None));
        assert_eq!(handshake.segment(1_130, 1, &syn(7, Some(2))), None);
        assert_eq!(handshake.segment(1_150, 1, &syn(7, Some(2))), None);
        assert_eq!(handshake.segment(1_170, 0, &ack(8)), None);
    }
}

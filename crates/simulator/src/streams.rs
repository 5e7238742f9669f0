//! The random streams of a run: one a component, told apart by the component's kind and index.

use bufferlab_units::Stream;

/// Kinds of random streams. A number is never given to another kind, so that results stay what they are; that no two
/// kinds have the same, the compiler sees to.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(crate) enum StreamKind {
    /// Random losses, by link.
    Loss = 1,
    /// Processing delays, by flow.
    Jitter = 2,
    /// Datagram sources, by flow.
    Datagram = 3,
    /// Congestion controls, by flow.
    Control = 4,
    /// Queue disciplines, by link.
    Queue = 5,
    /// Applications that are silent at times, by flow.
    OnOff = 6,
}

impl StreamKind {
    /// The stream of a component.
    pub(crate) fn stream(self, seed: u64, index: u32) -> Stream {
        Stream::new(seed, self as u32, index)
    }
}

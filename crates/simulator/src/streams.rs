//! The random streams of a run: one per component, derived from the component's kind and its index, or from the name of
//! the group for what is drawn before the run.

use bufferlab_units::Stream;

/// Kinds of random streams. A number is never reused for another kind, so that results stay the same. The compiler
/// ensures that no two kinds share one.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub enum StreamKind {
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
    /// Round-trip times, by group.
    RoundTrips = 7,
    /// Starts, by group.
    Starts = 8,
    /// Stops, by group.
    Stops = 9,
    /// Arrivals of short flows, by group.
    Arrivals = 10,
    /// Sizes of short flows, by group.
    Sizes = 11,
    /// When the backlog is read for its percentiles, by link.
    Moments = 12,
    /// What sending hosts take at random, by flow.
    Noise = 13,
    /// What receiving hosts take at random, by flow.
    ReceiverNoise = 14,
    /// Losses in bursts, by link.
    LossBursts = 20,
    /// Rates that change at random, by link.
    Capacity = 21,
    /// Jitter of links, by link.
    LinkJitter = 22,
    /// Delays of links that change at random, by link.
    LinkDelay = 23,
}

impl StreamKind {
    /// The stream of a component.
    pub(crate) fn stream(self, seed: u64, index: u32) -> Stream {
        Stream::new(seed, self as u32, index)
    }

    /// The stream of a group, which other groups do not change.
    pub fn named(self, seed: u64, group: &str) -> Stream {
        Stream::named(seed, self as u32, group)
    }
}

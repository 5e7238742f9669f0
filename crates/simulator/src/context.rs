//! What links and hosts use besides their own state.

use bufferlab_units::Time;

use crate::readings::Schedule;
use crate::recording::Off;
use crate::samples::Samples;
use crate::under_way::UnderWay;

/// A segment that a flow received, and that another one is to return.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fed {
    /// The flow that returns it.
    pub(crate) by: u32,
    /// When it came.
    pub(crate) at: Time,
    /// Segments that have come so far.
    pub(crate) segments: u32,
}

/// One per run; every component that acts gets it.
#[derive(Debug)]
pub(crate) struct Context<T = Off> {
    /// When components are read.
    pub(crate) schedule: Schedule,
    /// What was read for the time series.
    pub(crate) samples: Samples,
    /// Acknowledgments on their way to senders.
    pub(crate) under_way: UnderWay,
    /// What has just come and is to be returned.
    pub(crate) fed: Vec<Fed>,
    /// The recorder, or none.
    pub(crate) tap: T,
}

impl<T> Context<T> {
    /// The context of a run that has not begun.
    pub(crate) fn new(schedule: Schedule, samples: Samples, tap: T) -> Context<T> {
        Context { schedule, samples, under_way: UnderWay::default(), fed: Vec::new(), tap }
    }
}

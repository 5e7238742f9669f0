//! Time, sizes, rates and random streams.
//!
//! Time is counted in whole picoseconds in a `u64`, which lasts 213 days: a bit at 1 Tbit/s takes one. Sizes
//! are bytes, rates bits per second. Only operators with a meaning exist, so units cannot be mixed by accident.

mod exp;
mod log;
mod rate;
mod stream;
mod time;

pub use exp::exp;
pub use log::ln;
pub use rate::{Rate, TransmissionClock};
pub use stream::Stream;
pub use time::{Span, Time};

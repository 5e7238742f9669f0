//! What a capture tells of a link and its flows: packets go in, one by one in the order of the capture, and estimates come
//! out at its end. State is bounded: a flow takes constant memory, and the number of flows has a limit.
//!
//! [`Observer::packet`] takes the packets of [`bufferlab_capture::reading`], [`Observer::finish`] gives an [`Observation`]: tables of
//! plain columns. Each estimate has a module of its own, whose text says what is estimated, by whom that is, and in which direction it errs.
//!
//! The vantage point divides the path of a connection into two legs. What is beyond it, on the way to the receiver of some data, is ahead
//! of that data; what the data has passed is behind.

mod anonymous;
mod arrived;
mod buckets;
mod clock;
mod columns;
mod connection;
mod counts;
mod flows;
mod handshake;
mod holes;
mod key;
mod least;
mod leg;
mod limits;
mod link;
mod marks;
mod observation;
mod observer;
mod prompt;
mod quic;
mod repeats;
mod rows;
mod sample;
mod segments;
mod sequence;
mod sides;
mod silences;
mod sketch;
mod start;
mod tcp;
mod thinned;
mod times;
mod trips;
mod vantage;
mod watched;

pub use anonymous::Anonymizer;
pub use columns::{Column, Table};
pub use key::Protocol;
pub use limits::Limits;
pub use observation::{
    ConnectionRow, Connections, DirectionRow, Directions, DistributionRow, Distributions, LinkRow, Links,
    LossRow, Losses, MomentRow, Moments, Observation, Queueing, QueueingRow, SecondRow, Seconds, Totals,
    TripRow, Trips,
};
pub use observer::Observer;

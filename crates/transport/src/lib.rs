//! TCP and QUIC sender and receiver, a datagram source, and the two sides of a video call: sans-IO, time passed in.
//!
//! Nothing here reads a clock or sends a packet. A [`Sender`] is driven by [`Sender::on_ack`] and
//! [`Sender::on_timer`], asked for segments by [`Sender::poll_transmit`] and for its next timer by
//! [`Sender::deadline`]; a [`Receiver`] likewise.
//!
//! Segments are numbered from 0, each of one maximum size (the last of a transfer may be shorter), so sequence
//! numbers are small and dense and every scoreboard is a ring. Reading list: RFC 9293 for the whole, RFC 5681
//! and 6582 (Reno, `NewReno`), RFC 2018 and 6675 (SACK), RFC 6298 (timer), RFC 7323 (timestamps); RFC 9002
//! for QUIC.

mod ack;
mod call;
mod config;
mod datagrams;
mod delivery;
mod reassembly;
mod receiver;
mod recovery;
mod rtt;
mod segment;
mod sender;
mod tuning;
mod udp;
mod window;

pub use ack::{Ack, SackBlocks};
pub use call::{Arrived, CallConfig, CallReceiver, CallSender};
pub use config::{
    AfterIdle, BurstsConfig, EcnUse, Load, MAX_PACKET_PAYLOAD, MAX_PACKET_SEGMENTS, MOST_HEADERS,
    MOST_SEGMENTS, Offload, Recovery, StatedIn, TcpConfig, UdpConfig, Variate, most_by_size,
};
pub use datagrams::DatagramSource;
pub use receiver::{Disorder, Receiver};
pub use rtt::RttEstimator;
pub use segment::{Notice, Segment, SegmentKind};
pub use sender::{Sender, SenderCounters};
pub use tuning::TuningConfig;
pub use udp::UdpSource;

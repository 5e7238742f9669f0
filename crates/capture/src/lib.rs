//! A run's packets as files for common tools: pcapng for Wireshark, tshark and tcptrace, and traces in ns-2's format. And
//! captures of others, read packet by packet: [`reading`].
//!
//! [`Recording`] is a [`bufferlab_simulator::Recorder`]. It writes to its destinations during the run, and keeps
//! only packets in flight in memory.
//!
//! # What is made up
//! The model has segments, hosts and delays. Addresses, ports, sequence numbers in bytes, TCP's timestamp clock and
//! IP's identification are made up here, see `flows` and `packets`. Payload is not written.

mod blocks;
mod flows;
mod headers;
mod lateness;
mod order;
pub mod others;
mod packets;
mod pcap;
mod pcapng;
pub mod reading;
mod recording;
mod sighting;
mod trace;

pub use blocks::{Output, Report};
pub use pcap::Places;
pub use recording::Recording;
pub use trace::TraceFormat;

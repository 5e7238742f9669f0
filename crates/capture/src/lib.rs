//! What a run sent, as files for the tools that engineers know: pcapng for Wireshark, tshark and tcptrace, and traces
//! as ns-2 writes them.
//!
//! [`Recording`] is a [`bufferlab_simulator::Recorder`]. It writes to what it is given, while the run goes on, and keeps
//! in memory only what is under way in the network.
//!
//! # What is made up
//! The model has segments, hosts and delays. Addresses, ports, the bytes' numbers, TCP's timestamp clock and IP's
//! identification are given here, see `flows` and `packets`; payload is not written.

mod blocks;
mod flows;
mod headers;
mod lateness;
mod order;
mod packets;
mod pcap;
mod pcapng;
mod recording;
mod sighting;
mod trace;

pub use blocks::{Output, Report};
pub use pcap::Places;
pub use recording::Recording;
pub use trace::TraceFormat;

//! Round-trip times as observed at a point of the path, with bounded state.
//!
//! There are three methods; all only watch passing packets. [`SynEstimator`]: the time between a flow's SYN and its first
//! data is one round trip (H. Jiang and C. Dovrolis, "Passive estimation of TCP round-trip times", ACM CCR 32(3), 2002,
//! section 3, the SYN-ACK method). [`TimestampEstimator`]: the time between a timestamp and the packet that its echo
//! released is one round trip, repeatedly (B. Veal, K. Li and D. Lowenthal, "New methods for passive estimation of TCP
//! round-trip times", PAM 2005; RFC 7323's option). [`FrequencyEstimator`]: packets come in bursts, once a round trip; the
//! period of the gaps between them is one, also where only one direction is seen (D. Carra and others, "Passive online RTT
//! estimation for flow-aware routers using one-way traffic", NETWORKING 2010: a periodogram of the arrivals, and the fundamental
//! among its peaks; patent EP2226971 has the steps).
//!
//! Flows are identified by keys of the caller's choice (a number, a hash of addresses and ports), and kept in a
//! [`FlowTable`] of fixed size. It does not matter where packets come from: a simulated queue, a live link, a capture.

mod frequency;
mod syn;
mod table;
mod timestamps;

pub use frequency::FrequencyEstimator;
pub use syn::SynEstimator;
pub use table::FlowTable;
pub use timestamps::TimestampEstimator;

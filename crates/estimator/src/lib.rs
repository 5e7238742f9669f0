//! Round-trip times as observed at a point of the path, with bounded state.
//!
//! There are two methods; both only watch passing packets. [`SynEstimator`]: the time between a flow's SYN and its first
//! data is one round trip (H. Jiang and C. Dovrolis, "Passive estimation of TCP round-trip times", ACM CCR 32(3), 2002,
//! section 3, the SYN-ACK method). [`TimestampEstimator`]: the time between a timestamp and the packet that its echo
//! released is one round trip, repeatedly (B. Veal, K. Li and D. Lowenthal, "New methods for passive estimation of TCP
//! round-trip times", PAM 2005; RFC 7323's option).
//!
//! Flows are identified by keys of the caller's choice (a number, a hash of addresses and ports), and kept in a
//! [`FlowTable`] of fixed size. It does not matter where packets come from: a simulated queue, a live link, a capture.

mod syn;
mod table;
mod timestamps;

pub use syn::SynEstimator;
pub use table::FlowTable;
pub use timestamps::TimestampEstimator;

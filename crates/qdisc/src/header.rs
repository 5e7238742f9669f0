//! What the headers of a flow's packets say, for disciplines with classes or with hosts.

/// Codepoint and addresses of a flow's packets. All its packets have the codepoint, acknowledgments too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Differentiated services codepoint (RFC 2474 section 3), 0 to 63.
    pub dscp: u8,
    /// The host that sends the data.
    pub sender: u32,
    /// The host that receives them.
    pub receiver: u32,
}

impl Header {
    /// The highest codepoint.
    pub const MOST_DSCP: u8 = 63;

    /// Of a flow between hosts of its own, with the default codepoint.
    pub fn own(flow: u32) -> Header {
        Header { dscp: 0, sender: flow, receiver: flow }
    }
}

/// What the headers of each flow say, by flow number; of one that is not listed, [`Header::own`].
#[inline]
pub(crate) fn header_of(headers: &[Header], flow: u32) -> Header {
    headers.get(flow as usize).copied().unwrap_or_else(|| Header::own(flow))
}

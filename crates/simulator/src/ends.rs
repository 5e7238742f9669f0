//! A flow's two ends. What the receiver answers goes to the sender, so both are handled together.

pub(crate) mod receiving;

use crate::sending::SendingHost;
use crate::tournament::Tournament;
use receiving::ReceivingHost;

/// A flow's two ends, whole cache lines.
#[repr(C, align(64))]
pub(crate) struct Ends {
    pub(crate) sender: SendingHost,
    pub(crate) receiver: ReceivingHost,
}

const _: () = assert!(
    size_of::<Ends>() + 2 * Tournament::<i128>::MOST_BYTES_A_COMPONENT <= 1024,
    "a flow's ends and events should take at most 1 KiB: put what is large and rare into a box"
);
const _: () = assert!(
    size_of::<Ends>() <= 11 * 64,
    "with its parts of the plan and of the results a flow takes 1 KiB then (`make bench`)"
);

//! What a capture tells of a link and its flows: packets go in, one by one in the order of the capture, and estimates come
//! out at its end. State is bounded: a flow takes constant memory, and the number of flows has a limit.

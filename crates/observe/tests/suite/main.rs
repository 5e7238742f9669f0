//! Sequences of packets made by hand, with what is known of them.

mod connections;
mod laws;
mod links;
mod packets;
mod round_trips;

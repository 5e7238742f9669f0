//! The parts of a scenario. What is written as "10 ms" is an integer here, with its unit in the name. Checks that need
//! one part only are with the part; those across parts are in `checks`.

pub mod advise;
pub mod application;
pub mod connection;
pub mod flow;
pub mod host;
pub mod link;
pub mod memory;
pub mod parameter;
pub mod probes;
pub mod queue;
pub mod run;
pub mod stack;
pub mod tcp;
pub mod tcp_keys;
pub mod varying;
pub mod video;
pub mod video_call;

/// Most flows in one scenario.
pub const MAX_FLOWS: u64 = 1_000_000;

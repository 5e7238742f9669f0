//! Parameters.

use bufferlab_units::{Rate, Span};

use crate::{Limit, RttInformation};

/// Most sub-buffers.
pub const MAX_SUB_BUFFERS: usize = 8;

/// How packets are told apart.
#[derive(Clone, Debug)]
pub enum Classes {
    /// By round-trip time.
    Rtt(RttInformation),
    /// Each flow at random; sub-buffers of equal size, as Blind-SplitBuff has it.
    Random {
        /// Whom chance favors.
        seed: u64,
    },
}

/// How sub-buffers share the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Alike, as published.
    Alike,
    /// By the estimated number of their active flows.
    Flows,
}

/// Where the thresholds lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thresholds {
    /// At the mean and half a sigma from each other, as published.
    Mean,
    /// Where round-trip times leave room; as many as they need.
    Gaps,
}

/// Over what the mean round-trip time is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mean {
    /// Packets, as published.
    Packets,
    /// Flows, as far as they can be counted.
    Flows,
}

/// Parameters.
#[derive(Clone, Debug)]
pub struct SplitBuffConfig {
    /// How much may wait in all.
    pub limit: Limit,
    /// Rate of the link.
    pub rate: Rate,
    /// Number of sub-buffers, 1 to [`MAX_SUB_BUFFERS`].
    pub sub_buffers: usize,
    /// Update period `T_u`.
    pub update: Span,
    /// The first one; each is twice the one before until they are as long as `update`.
    pub first_update: Span,
    /// Weight alpha of a period's delay in the smoothed one, 0 to 1.
    pub smoothing: f64,
    /// How packets are told apart.
    pub classes: Classes,
    /// How sub-buffers share the link.
    pub service: Service,
    /// Where the thresholds lie.
    pub thresholds: Thresholds,
    /// Part by which a threshold must change to be moved; 0 for always.
    pub hysteresis: f64,
    /// Whose mean round-trip time counts.
    pub mean: Mean,
}

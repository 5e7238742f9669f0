//! From a connection's plan to its congestion control.

use bufferlab_congestion::{AnyControl, Context};

use crate::plan::TcpPlan;
use crate::streams::StreamKind;

impl TcpPlan {
    /// The congestion control of flow `flow` under a run's seed.
    pub fn control(&self, seed: u64, flow: u32) -> AnyControl {
        self.congestion.build(Context {
            initial_window: self.config.initial_window,
            initial_ssthresh: self.config.initial_ssthresh,
            wire_bytes: self.config.mss_bytes + self.config.header_bytes,
            mss_bytes: self.config.mss_bytes,
            offload: self.config.offload.is_some(),
            stream: StreamKind::Control.stream(seed, flow),
        })
    }
}

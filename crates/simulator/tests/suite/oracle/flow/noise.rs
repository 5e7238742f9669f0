//! What a host takes at random.

use bufferlab_simulator::{GroupPlan, Plan};
use bufferlab_units::{Span, Stream};

use super::super::bursts::draw;
use bufferlab_simulator::LawPlan;

/// A law and its stream.
pub(super) struct Noise {
    law: LawPlan,
    stream: Stream,
}

impl Noise {
    pub(super) fn of(plan: &Plan, flow: usize, group: &GroupPlan, stream: u32) -> Option<Noise> {
        let law = group.host?.noise?;
        Some(Noise { law, stream: Stream::new(plan.seed, stream, flow as u32) })
    }

    pub(super) fn draw(&mut self) -> Span {
        Span::from_ps(draw(self.law, &mut self.stream))
    }
}

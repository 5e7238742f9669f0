//! What it holds and estimates, for those who watch.

use bufferlab_units::Span;

use super::SplitBuff;
use super::sub_buffer::SubBuffer;
use crate::{ClassEstimate, Estimates};

impl SplitBuff {
    pub(super) fn read(&self) -> Estimates {
        let known = self.thresholds.is_some();
        let thresholds = self.thresholds.as_deref().unwrap_or_default();
        let classes = self.parts.iter().enumerate().map(|(index, part)| ClassEstimate {
            backlog: part.backlog(),
            limit: part.limit,
            threshold: thresholds.get(index).copied().map(span),
            rtt: known.then(|| span(part.propagation_s)),
            delay: span(part.delay_s),
            flows: part.counted_flows().filter(|_| known),
            weight: part.weight,
            state_bytes: part.state_bytes() as u64,
        });
        let flows: Vec<f64> = self.parts.iter().filter_map(SubBuffer::counted_flows).collect();
        Estimates {
            whole: ClassEstimate {
                backlog: self.backlog,
                limit: self.limit,
                threshold: None,
                rtt: known.then(|| span(self.center_s)),
                delay: span(self.delay_s),
                flows: (known && !flows.is_empty()).then(|| flows.iter().sum()),
                weight: self.parts.iter().map(|part| part.weight).sum(),
                state_bytes: self.state_bytes() as u64,
            },
            classes: classes.collect(),
        }
    }
}

fn span(seconds: f64) -> Span {
    Span::from_ps((seconds * 1e12).round() as u64)
}

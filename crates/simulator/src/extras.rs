//! Parts that few sending hosts have: a random processing delay, an interface of their own, an application that is
//! silent at times.

use bufferlab_units::{Rate, Span, Stream, Time};

use crate::echo::Echo;
use crate::exchanges::ExchangeLog;
use crate::on_off::OnOff;

/// Random processing delay before a sender answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Jitter {
    None,
    Uniform { low: Span, high: Span },
    Exponential { mean: Span },
}

/// Rarely needed parts of a host.
#[derive(Clone, Debug)]
pub(crate) struct Extras {
    pub(crate) jitter: Jitter,
    pub(crate) stream: Stream,
    pub(crate) access: Option<Rate>,
    /// The interface is busy until then.
    pub(crate) access_free: Time,
    /// A packet may hold several segments.
    pub(crate) packs: bool,
    pub(crate) on_off: Option<OnOff>,
    pub(crate) echo: Option<Echo>,
    /// Each burst or datagram that the application sends, if they are to be recorded.
    pub(crate) log: Option<ExchangeLog>,
}

impl Extras {
    /// The next processing delay.
    pub(crate) fn draw(&mut self) -> Span {
        match self.jitter {
            Jitter::None => Span::ZERO,
            Jitter::Uniform { low, high } => self.stream.uniform_span(low, high),
            Jitter::Exponential { mean } => self.stream.exponential_span(mean),
        }
    }
}

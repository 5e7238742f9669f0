//! Parts that few sending hosts have: a random processing delay, an interface of their own, an application that is
//! silent at times.

use bufferlab_units::{Rate, Span, Stream, Time};

use crate::card::Card;
use crate::echo::Echo;
use crate::exchanges::ExchangeLog;
use crate::on_off::{OnOff, draw};
use crate::plan::{JitterPlan, LawPlan};
use crate::video::Video;

/// What a host takes at random.
#[derive(Clone, Debug)]
pub(crate) struct Noise {
    law: LawPlan,
    stream: Stream,
}

impl Noise {
    pub(crate) fn new(law: LawPlan, stream: Stream) -> Noise {
        Noise { law, stream }
    }

    pub(crate) fn draw(&mut self) -> Span {
        Span::from_ps(draw(self.law, &mut self.stream))
    }
}

/// Rarely needed parts of a host.
#[derive(Clone, Debug)]
pub(crate) struct Extras {
    pub(crate) jitter: JitterPlan,
    /// How long the card waits until it interrupts.
    pub(crate) interrupt: Span,
    pub(crate) stream: Stream,
    pub(crate) noise: Option<Noise>,
    /// Of a processing delay that holds acknowledgments back: when, by the first link's clock, the host was or will be
    /// ready for them.
    pub(crate) ready: Option<Time>,
    /// When the acknowledgment comes that has drawn the newest of these delays, by the same clock.
    pub(crate) comes: Time,
    pub(crate) access: Option<Rate>,
    /// The interface is busy until then.
    pub(crate) access_free: Time,
    /// The card and what waits for it, in place of such an interface.
    pub(crate) card: Option<Card>,
    /// A packet may hold several segments.
    pub(crate) packs: bool,
    pub(crate) on_off: Option<OnOff>,
    pub(crate) echo: Option<Echo>,
    pub(crate) video: Option<Box<Video>>,
    /// Each burst or datagram that the application sends, if they are to be recorded.
    pub(crate) log: Option<ExchangeLog>,
}

impl Extras {
    /// The next random processing delay.
    pub(crate) fn draw(&mut self) -> Span {
        let noise = self.noise.as_mut().map_or(Span::ZERO, Noise::draw);
        noise + self.jitter.draw(&mut self.stream)
    }
}

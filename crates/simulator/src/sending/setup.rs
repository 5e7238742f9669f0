//! The parts of a sending host, and how it is put together.

use bufferlab_units::{Rate, Span, Stream, Time};

use super::{Identity, SendingHost, Source};
use crate::card::Card;
use crate::echo::Echo;
use crate::exchanges::ExchangeLog;
use crate::extras::{Extras, Noise};
use crate::on_off::OnOff;
use crate::plan::JitterPlan;
use crate::pool::Queue;
use crate::readings::Readings;
use crate::under_way::Arrival;
use crate::video::Video;

/// The parts of a host.
pub(crate) struct SendingSetup {
    pub(crate) source: Source,
    pub(crate) readings: Readings,
    pub(crate) start: Time,
    pub(crate) stop: Time,
    pub(crate) offset: Span,
    pub(crate) data_bytes: u32,
    pub(crate) syn_bytes: u32,
    pub(crate) jitter: JitterPlan,
    /// The processing delay holds acknowledgments back, and not what they allow.
    pub(crate) delays_acks: bool,
    /// How long the card waits until it interrupts, which delays them, too.
    pub(crate) interrupt: Span,
    pub(crate) noise: Option<Noise>,
    pub(crate) access: Option<Rate>,
    pub(crate) card: Option<Card>,
    pub(crate) stream: Stream,
    pub(crate) on_off: Option<OnOff>,
    pub(crate) video: Option<Box<Video>>,
    /// Each burst or datagram that it sends is to be recorded.
    pub(crate) recorded: bool,
    /// It returns what another flow delivers.
    pub(crate) echoes: bool,
    /// A packet may hold several segments.
    pub(crate) packs: bool,
    pub(crate) states: bool,
    pub(crate) identity: Identity,
}

impl SendingHost {
    pub(crate) fn new(setup: SendingSetup) -> SendingHost {
        let prompt = setup.jitter == JitterPlan::None && setup.noise.is_none() && setup.access.is_none();
        let jitters = setup.jitter != JitterPlan::None && !setup.delays_acks;
        let has_card = setup.card.is_some();
        let plain = prompt && !(setup.recorded || setup.echoes || setup.packs || has_card);
        let fetches = setup.video.as_deref().map(Video::lead);
        let lead = fetches.or(setup.on_off.as_ref().map(OnOff::lead)).unwrap_or(Span::ZERO);
        let extras = (!plain).then(|| {
            let (jitter, stream, access, on_off) = (setup.jitter, setup.stream, setup.access, setup.on_off);
            let video = setup.video;
            let log = setup.recorded.then(ExchangeLog::default);
            let echo = setup.echoes.then(|| Echo::new(setup.stop));
            let packs = setup.packs;
            let ready = setup.delays_acks.then_some(Time::ZERO);
            let access_free = Time::ZERO;
            let comes = Time::ZERO;
            let (card, interrupt, noise) = (setup.card, setup.interrupt, setup.noise);
            Box::new(Extras {
                jitter,
                interrupt,
                stream,
                noise,
                ready,
                comes,
                access,
                access_free,
                card,
                packs,
                on_off,
                echo,
                video,
                log,
            })
        });
        let postpones = SendingHost::postpones(&setup.source, plain);
        let mut source = setup.source;
        if let Source::Tcp(sender) = &mut source
            && jitters
        {
            sender.expect_delays();
        }
        SendingHost {
            postpones,
            direct: setup.identity.single_link && !postpones && !setup.delays_acks && !has_card,
            source,
            next: Arrival::NONE,
            arrivals: Queue::EMPTY,
            blocks: Queue::EMPTY,
            readings: setup.readings,
            action: setup.start + lead,
            stop: setup.stop,
            start: setup.start,
            started: false,
            states: setup.states,
            offset: setup.offset,
            data_bytes: setup.data_bytes,
            syn_bytes: setup.syn_bytes,
            identity: setup.identity,
            extras,
            at_warmup: None,
        }
    }
}

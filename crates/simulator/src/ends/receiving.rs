//! A flow's receiving host: the transport's receiver, and acknowledgments waiting to reach a queued link.
//!
//! A receiver's clock is behind its last link's by the delay between them: the engine hands it a packet when it
//! leaves that link, or as soon as that moment is known, and the receiver acts at the moment when the packet will
//! arrive. A delay keeps the order, so nothing but the host's own timer can come in between.

mod answering;
mod delivering;
mod interrupts;
mod looking;

use bufferlab_transport::{CallReceiver, Disorder, Receiver};
use bufferlab_units::{Span, Time};

pub(crate) use interrupts::Interrupts;

use crate::context::Context;
use crate::readings::{Reading, Readings};
use crate::return_path::ReturnPath;
use crate::samples::ReceiverSample;

/// A receiving host. Its fields lie in this order: those that each packet touches, then the others.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct ReceivingHost {
    /// `None` for a datagram sink.
    receiver: Option<Receiver>,
    /// Between the last forward link's transmitter and the host.
    offset: Span,
    /// From the host to the sender, or to the first reverse link.
    pub(crate) return_delay: Span,
    returns: Option<Box<ReturnPath>>,
    readings: Readings,
    /// From the last reverse link's transmitter to the sender.
    pub(crate) home_delay: Span,
    /// Payload of the whole transfer, bytes.
    transfer_bytes: u64,
    datagram_bytes: u64,
    delivered_at_warmup: u64,
    /// Nothing if there was none.
    disorder_at_warmup: Option<Box<Disorder>>,
    ack_bytes: u32,
    payload_bytes: u32,
    header_bytes: u32,
    /// What becomes of datagrams.
    datagrams: Datagrams,
    /// What is checked at each data segment.
    watch: Watch,
    /// Packets may hold several segments, the window is tuned, or the host is no ideal one: they take a path of their own. Readings are then always
    /// due, too.
    apart: bool,
    /// When a transfer's last byte came.
    received: Time,
    extras: Option<Box<ReceivingExtras>>,
}

/// Parts that few receiving hosts have.
#[derive(Clone, Debug)]
struct ReceivingExtras {
    /// The flow that returns what arrives.
    echo: Option<Echoed>,
    /// What has come and waits for the host, if its card does not interrupt it for each packet.
    interrupts: Option<Interrupts>,
    /// When it reports what has come, if it is a call's.
    reports: Option<CallReceiver>,
}

/// The flow that returns what arrives.
#[derive(Clone, Debug)]
struct Echoed {
    by: u32,
    /// Segments handed to it so far.
    fed: u32,
}

/// What a datagram sink does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Datagrams {
    /// It counts.
    Counted,
    /// It notes when each arrived.
    Recorded,
    /// It returns them.
    Returned,
    /// It notes when each arrived, and reports that to the sender at times.
    Reported,
}

/// What a receiver checks at each data segment. If there is something, its readings are always due, so that other
/// receivers pay nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    Nothing,
    /// Whether a transfer is complete.
    Transfer,
    /// Whether a burst is.
    Bursts,
    /// What is to be returned.
    Echo,
}

/// The parts of a host.
pub(crate) struct ReceivingSetup {
    pub(crate) receiver: Option<Receiver>,
    pub(crate) readings: Readings,
    pub(crate) offset: Span,
    pub(crate) return_delay: Span,
    pub(crate) home_delay: Span,
    pub(crate) ack_bytes: u32,
    pub(crate) payload_bytes: u32,
    pub(crate) header_bytes: u32,
    pub(crate) transfer_bytes: u64,
    pub(crate) returns: Option<ReturnPath>,
    pub(crate) datagrams: Datagrams,
    pub(crate) watch: Watch,
    pub(crate) apart: bool,
    pub(crate) interrupts: Option<Interrupts>,
    pub(crate) echoed_by: Option<u32>,
    pub(crate) reports: Option<CallReceiver>,
}

impl ReceivingHost {
    pub(crate) fn new(setup: ReceivingSetup) -> ReceivingHost {
        ReceivingHost {
            receiver: setup.receiver,
            readings: setup.readings,
            offset: setup.offset,
            return_delay: setup.return_delay,
            home_delay: setup.home_delay,
            ack_bytes: setup.ack_bytes,
            payload_bytes: setup.payload_bytes,
            transfer_bytes: setup.transfer_bytes,
            datagram_bytes: 0,
            header_bytes: setup.header_bytes,
            delivered_at_warmup: 0,
            disorder_at_warmup: None,
            returns: setup.returns.map(Box::new),
            datagrams: setup.datagrams,
            watch: setup.watch,
            apart: setup.apart,
            received: Time::NEVER,
            extras: (setup.interrupts.is_some() || setup.echoed_by.is_some() || setup.reports.is_some())
                .then(|| {
                    let echo = setup.echoed_by.map(|by| Echoed { by, fed: 0 });
                    Box::new(ReceivingExtras { echo, interrupts: setup.interrupts, reports: setup.reports })
                }),
        }
    }

    /// When a transfer's last byte came, if it has.
    pub(crate) fn received(&self) -> Time {
        self.received
    }

    #[inline]
    fn timer(&self) -> Time {
        self.receiver.as_ref().map_or(Time::NEVER, Receiver::deadline)
    }

    #[inline]
    fn interrupts(&self) -> Option<&Interrupts> {
        self.extras.as_deref()?.interrupts.as_ref()
    }

    fn interrupts_mut(&mut self) -> Option<&mut Interrupts> {
        self.extras.as_deref_mut()?.interrupts.as_mut()
    }

    fn reports_mut(&mut self) -> Option<&mut CallReceiver> {
        self.extras.as_deref_mut()?.reports.as_mut()
    }

    fn echo_mut(&mut self) -> Option<&mut Echoed> {
        self.extras.as_deref_mut()?.echo.as_mut()
    }

    /// When the host takes what waits.
    #[inline]
    fn interrupt(&self) -> Time {
        self.interrupts().map_or(Time::NEVER, Interrupts::due)
    }

    /// When the next thing happens here, by the last link's clock. A timer that runs out after the run's end
    /// does not count: it would stay pending, and by this clock its moment may pass before the end.
    #[inline]
    pub(crate) fn next_event(&self, end: Time) -> Time {
        let timer = self.timer().min(self.interrupt());
        let timer =
            if timer < end { Time::from_ps(timer.as_ps() - self.offset.as_ps()) } else { Time::NEVER };
        let outgoing = self.returns.as_deref().and_then(|returns| returns.outgoing.front());
        outgoing.map_or(timer, |packet| packet.enqueued.min(timer))
    }

    /// Delay between the last forward link's transmitter and the host.
    pub(crate) fn offset(&self) -> Span {
        self.offset
    }

    /// In-order payload since the run's start, bytes.
    pub(crate) fn delivered_bytes(&self) -> u64 {
        match &self.receiver {
            Some(receiver) => {
                let bytes = u64::from(receiver.delivered()) * u64::from(self.payload_bytes);
                bytes.min(self.transfer_bytes)
            }
            None => self.datagram_bytes,
        }
    }

    /// The same when the warm-up ended.
    pub(crate) fn delivered_at_warmup(&self) -> u64 {
        self.delivered_at_warmup
    }

    /// What came out of order since the run's start.
    pub(crate) fn disorder(&self) -> Disorder {
        self.receiver.as_ref().map_or(Disorder::default(), Receiver::disorder)
    }

    /// The same when the warm-up ended.
    pub(crate) fn disorder_at_warmup(&self) -> Disorder {
        self.disorder_at_warmup.as_deref().copied().unwrap_or_default()
    }

    /// Takes the readings of `flow` up to `local`, the host's time; false once the run has ended.
    #[cold]
    pub(crate) fn take_readings<T>(&mut self, local: Time, flow: u32, context: &mut Context<T>) -> bool {
        while let Some(Reading { time, sample, warmup }) = self.readings.take(local, &context.schedule) {
            let delivered_bytes = self.delivered_bytes();
            if warmup {
                self.delivered_at_warmup = delivered_bytes;
                let disorder = self.disorder();
                self.disorder_at_warmup = (disorder != Disorder::default()).then(|| Box::new(disorder));
            }
            if sample {
                context.samples.receivers.push(ReceiverSample { time, flow, delivered_bytes });
            }
        }
        local < context.schedule.end
    }
}

//! The sender: what may be sent and when, by RFC 5681, 6298, 6582, 6675 and 3042.
//!
//! Its parts hold the state, one a file: [`SendWindow`] the sequence numbers and windows, [`Timers`] the timers,
//! [`RttSampler`] the round trips, [`LossRecovery`] the losses and their repair, [`DeliveryRate`] the rate of delivery,
//! [`Pacer`] the pace, [`Packetizer`] packets of several segments, [`Bursts`] an application that is silent at times,
//! [`AdvertisedWindows`] a receiver's window that is tuned, [`Marks`] the response to marks. Window growth belongs to a [`CongestionControl`].
//!
//! The sender coordinates them: `acks` at an acknowledgment, `timeouts` when a timer runs out, `quic` at both for QUIC, `transmit` when there is
//! something to send, `application` when the application has more, or a new connection.
//!
//! Departures: no window growth while the receiver's window, not the congestion window, is the bound (RFC
//! 7661 section 4.4 in spirit; Linux alike).

mod acks;
mod advertised;
mod application;
mod bursts;
mod linux_ns2;
mod marks;
mod pacer;
mod packetizer;
mod quic;
mod rtt_sampler;
mod statement;
#[cfg(test)]
pub(crate) mod tests;
mod timeouts;
mod timers;
mod transmit;

use bufferlab_congestion::{AnyControl, CongestionControl};
use bufferlab_units::{Span, Time};

use advertised::AdvertisedWindows;
use bursts::Bursts;
use marks::Marks;
use pacer::Pacer;
use packetizer::Packetizer;
use rtt_sampler::{RttSampler, Timing};
use statement::Statement;
use timers::Timers;

use crate::delivery::DeliveryRate;
use crate::recovery::{LossRecovery, Phase};
use crate::segment::{Segment, SegmentKind};
use crate::window::SendWindow;
use crate::{Load, Recovery, RttEstimator, TcpConfig};

/// What a sender counts, from the run's start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderCounters {
    /// Data segments sent, retransmissions among them.
    pub sent: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast recoveries (for Tahoe: fast retransmits) entered.
    pub recoveries: u64,
    /// Sum of round-trip samples, ps.
    pub rtt_sum_ps: f64,
    /// Number of round-trip samples.
    pub rtt_samples: u64,
}

/// The path that acknowledgments and segments take through the sender, the shortest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Course {
    /// No loss is suspected, and only the windows decide what is sent: what the next acknowledgment does is known.
    Calm,
    /// Only the windows decide what is sent.
    Plain,
    /// There is a pace, there are packets of several segments, or the application is silent at times.
    Shaped,
    /// Loss recovery decides what is sent.
    Repair,
}

/// Parts that few connections have, in one place, so that the others need little memory for them.
#[derive(Clone, Debug)]
struct Rare {
    /// Of a receiver that tunes its window.
    advertised: Option<AdvertisedWindows>,
    /// Of a connection that uses ECN.
    marks: Option<Marks>,
    /// Of a sender that lies about its round-trip time.
    statement: Option<Statement>,
}

impl Rare {
    fn of(config: &TcpConfig, control: &AnyControl, rated: bool) -> Option<Box<Rare>> {
        let advertised = config.tuning().map(|tuning| AdvertisedWindows::new(tuning.first_segments()));
        let marks = Marks::of(config, control).filter(|_| !rated);
        let statement = config.stated_rtt.map(|rtt| Statement::new(rtt, config.stated_in));
        let rare = advertised.is_some() || marks.is_some() || statement.is_some();
        rare.then(|| Box::new(Rare { advertised, marks, statement }))
    }
}

/// A TCP sender. Its fields lie in the order below: what each acknowledgment touches comes first and fills few
/// cache lines, which decides the speed where there are thousands of flows.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender {
    window: SendWindow,
    course: Course,
    handshake: bool,
    timers: Timers,
    rtt: RttSampler,
    /// Data segments sent, retransmissions among them.
    sent: u64,
    retransmissions: u64,
    control: AnyControl,
    recovery: LossRecovery,
    /// Of controls that ask for rates. Each such sender is paced.
    rates: Option<Box<DeliveryRate>>,
    /// Of a sender that is paced.
    pacer: Option<Box<Pacer>>,
    /// Of an application that is silent at times.
    bursts: Option<Box<Bursts>>,
    /// Of a host that sends several segments as one packet.
    packetizer: Option<Box<Packetizer>>,
    /// Of few connections.
    rare: Option<Box<Rare>>,
    finished: Time,
}

impl Sender {
    /// The sender of a connection that has not started.
    pub fn new(config: &TcpConfig, load: Load, control: AnyControl) -> Sender {
        let rated = control.wants_rate();
        debug_assert!(!rated || config.recovery.computes_pipe(), "rates need RFC 6675's scoreboard");
        let estimator = RttEstimator::new(config.initial_rto, config.min_rto, config.max_rto, config.clock)
            .with_margin(config.rto_margin)
            .with_ticks_of_linux(config.recovery == Recovery::LinuxNs2);
        let timing = match config.recovery {
            _ if config.timestamps => Timing::Timestamps,
            recovery if recovery.is_ns2() => Timing::SegmentNs2,
            _ => Timing::Segment,
        };
        Sender {
            window: SendWindow::new(load.segments, config.first_receive_window()),
            course: Course::Plain,
            handshake: config.handshake,
            timers: Timers::new(0),
            sent: 0,
            retransmissions: 0,
            recovery: LossRecovery::new(config.recovery, config.limited_transmit)
                .with_ack_delay(config.ack_delay),
            rates: rated.then(|| Box::new(DeliveryRate::new())),
            pacer: (rated || config.paced || control.pace().is_some())
                .then(|| Box::new(Pacer::new(control.pacing()))),
            bursts: load
                .bursts
                .map(|bursts| Box::new(Bursts::new(bursts, config.initial_window, &estimator, &control))),
            packetizer: config.offload.map(|most| Box::new(Packetizer::new(most, config.mss_bytes))),
            rare: Rare::of(config, &control, rated),
            finished: Time::NEVER,
            rtt: RttSampler::new(estimator, timing),
            control,
        }
    }

    /// Opens the connection.
    pub fn start(&mut self) {
        self.recovery.start(self.handshake);
        self.refresh();
    }

    /// No new data from now on; what is outstanding is still repaired.
    pub fn stop(&mut self) {
        self.window.limit = self.window.limit.min(self.window.sent_to);
        self.refresh();
    }

    /// The congestion window, segments, with the segments that fast recovery adds, or has not yet taken.
    pub fn cwnd(&self) -> f64 {
        match self.recovery.reduced_window() {
            Some(window) if !self.is_rated() => f64::from(window),
            _ => self.control.cwnd() + f64::from(self.recovery.inflation()),
        }
    }

    /// The slow-start threshold, segments.
    pub fn ssthresh(&self) -> f64 {
        self.control.ssthresh()
    }

    /// The smoothed round-trip time; zero before the first sample.
    pub fn srtt(&self) -> Span {
        self.rtt.estimator.srtt()
    }

    /// How long ago the newest timestamp was sent that has come back; zero before the first.
    #[inline]
    pub fn echo_age(&self, now: Time) -> Span {
        self.rtt.echo_age(now)
    }

    /// Segments believed to be in the network: RFC 6675's `Pipe` with SACK, else what is outstanding.
    pub fn inflight(&self) -> u32 {
        self.recovery.pipe(&self.window)
    }

    /// What was counted from the run's start.
    pub fn counters(&self) -> SenderCounters {
        let (rtt_sum_ps, rtt_samples) = self.rtt.totals();
        SenderCounters {
            sent: self.sent,
            retransmissions: self.retransmissions,
            timeouts: self.recovery.timeouts(),
            recoveries: self.recovery.recoveries(),
            rtt_sum_ps,
            rtt_samples,
        }
    }

    /// One more than the last segment that there is to send.
    pub fn limit(&self) -> u32 {
        self.window.limit
    }

    /// One more than the highest segment ever sent.
    pub fn sent_to(&self) -> u32 {
        self.window.sent_to
    }

    /// How many segments were acknowledged in order.
    pub fn acknowledged(&self) -> u32 {
        self.window.una
    }

    /// When the last byte of a transfer was acknowledged, or [`Time::NEVER`].
    pub fn finished(&self) -> Time {
        self.finished
    }

    /// Whether segments wait for their pace.
    #[inline]
    pub fn is_paced(&self) -> bool {
        self.pacer.is_some()
    }

    /// The congestion control sets the pace, and gets rate samples.
    #[inline]
    fn is_rated(&self) -> bool {
        self.rates.is_some()
    }

    fn advertised(&self) -> Option<&AdvertisedWindows> {
        self.rare.as_deref()?.advertised.as_ref()
    }

    /// Brings the windows and the course up to date after a change of state.
    fn refresh(&mut self) {
        self.window.cwnd = self.control.cwnd() as u32;
        let reducing = self.recovery.is_reducing();
        if reducing && let Some(window) = self.recovery.reduced_window() {
            self.window.cwnd = window;
        }
        let shaped = reducing || self.pacer.is_some() || self.packetizer.is_some() || self.bursts.is_some();
        self.course = if self.recovery.decides() || self.timers.probe_due {
            Course::Repair
        } else if shaped {
            Course::Shaped
        } else if self.recovery.is_steady() && self.advertised().is_none() {
            Course::Calm
        } else {
            Course::Plain
        };
        match self.recovery.phase() {
            // the recovery decides
            _ if self.recovery.kind().decides_always() => self.window.close(),
            Phase::Idle | Phase::SynSent => self.window.close(),
            _ => self.window.open(self.recovery.extra(&self.window)),
        }
    }
}

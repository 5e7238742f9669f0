//! One direction of a link, as its packets show it.

mod dispersion;
mod load;
mod pauses;
mod plateau;
mod queueing;
mod rate;
mod rates;
mod series;
mod side;
mod tables;
mod trains;

use bufferlab_capture::reading::{Content, Packet};

use self::dispersion::Dispersion;
use self::load::Load;
use self::plateau::Windows;
use self::queueing::Queueing;
use self::trains::Trains;
use crate::sample::{Loss, Sample, Seen};

pub(crate) use self::load::is_long;
pub(crate) use self::series::{Bin, Series};

/// Pairs of packets after which trains have a rate for the first time; then after twice as many.
const FIRST_PAIRS: u64 = 256;
/// A direction counts as loaded for as long after a long flow's data; round trips take less. Our choice.
const LOADED_NS: u64 = 1_000_000_000;

/// What crosses an interface in one direction.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    packets: u64,
    frame_bytes: u64,
    wire_bytes: u64,
    payload_bytes: u64,
    /// Of TCP's packets with data: payload, and bytes on the wire.
    data_bytes: u64,
    data_wire_bytes: u64,
    dispersion: Dispersion,
    next_pairs: u64,
    trains: Trains,
    /// Of 100 ms and of 1 s.
    windows: [Windows; 2],
    load: Load,
    /// Ahead of the vantage point, and behind.
    queueing: [Queueing; 2],
    /// When a long flow's data last crossed.
    long_ns: Option<u64>,
}

impl Link {
    /// One that nothing has crossed; its time series have such a number of bins at most.
    pub(crate) fn new(bins: usize) -> Link {
        Link {
            packets: 0,
            frame_bytes: 0,
            wire_bytes: 0,
            payload_bytes: 0,
            data_bytes: 0,
            data_wire_bytes: 0,
            dispersion: Dispersion::default(),
            next_pairs: FIRST_PAIRS,
            trains: Trains::default(),
            windows: [100_000_000, 1_000_000_000].map(Windows::new),
            load: Load::new(bins),
            queueing: [0, 1].map(|_| Queueing::new(bins)),
            long_ns: None,
        }
    }

    /// A packet, with what its connection says of it. If that is long, `long` is until when it was counted.
    pub(crate) fn packet(&mut self, now: u64, packet: &Packet, seen: &Seen, long: Option<&mut u64>) {
        self.packets += 1;
        self.frame_bytes += u64::from(packet.frame_bytes);
        self.wire_bytes += u64::from(seen.wire_bytes);
        self.payload_bytes += u64::from(seen.payload_bytes);
        let is_tcp = matches!(packet.content, Content::Tcp(_));
        if is_tcp && seen.payload_bytes > 0 {
            self.data_bytes += u64::from(seen.payload_bytes);
            self.data_wire_bytes += u64::from(seen.wire_bytes);
        }
        for windows in &mut self.windows {
            windows.advance(now);
            windows.seen(seen.wire_bytes.into(), is_tcp);
        }
        self.dispersion.packet(now, packet.frame_bytes, seen.is_one);
        if self.dispersion.pairs() >= self.next_pairs {
            self.next_pairs *= 2;
            if let Some(mode) = self.dispersion.mode() {
                self.trains.set_rate(mode.rate_bps);
            }
        }
        self.trains.packet(now, seen.wire_bytes);
        if long.is_some() && seen.payload_bytes > 0 {
            self.long_ns = Some(now);
        }
        self.load.packet(now, seen.wire_bytes, long);
    }

    /// Whether long flows send over it: some of their data crossed in the last second.
    pub(crate) fn is_loaded(&self, now: u64) -> bool {
        self.long_ns.is_some_and(|at| now.saturating_sub(at) <= LOADED_NS)
    }

    /// Payload of this direction is acknowledged.
    pub(crate) fn delivered(&mut self, now: u64, payload_bytes: u64) {
        if self.data_bytes == 0 {
            return;
        }
        let headers = self.data_wire_bytes as f64 / self.data_bytes as f64;
        for windows in &mut self.windows {
            windows.advance(now);
            windows.delivered(payload_bytes as f64 * headers);
        }
    }

    /// A round trip that says what waits for this direction of the link, of a long flow or another.
    pub(crate) fn sample(&mut self, now: u64, sample: &Sample, is_long: bool) {
        let queued_ns = queueing::is_queued(sample).then(|| sample.sure_ns());
        let place = usize::from(!sample.ahead);
        self.queueing[place].sample(now, sample, is_long);
        for windows in &mut self.windows {
            windows.advance(now);
            windows.sample(place, queued_ns);
        }
    }

    /// A loss of data of this direction.
    pub(crate) fn loss(&mut self, now: u64, loss: &Loss) {
        self.queueing[usize::from(!loss.ahead)].loss(now, loss);
    }

    /// A connection begins in this direction.
    pub(crate) fn begin(&mut self, now: u64) {
        self.load.begin(now);
    }

    /// A flow ends that was not long.
    pub(crate) fn short(&mut self, payload_bytes: u64) {
        self.load.short_bytes.add(payload_bytes);
    }
}

//! A source that sends whatever happens: constant or Poisson datagrams.

use bufferlab_units::{Span, Stream, Time};

use crate::{UdpConfig, Variate};

/// Sizes are cut here: an IPv4 packet's largest size (RFC 791 section 3.1).
const MAX_DATAGRAM_BYTES: u32 = 65_535;

/// A datagram source.
#[derive(Clone, Debug)]
pub struct UdpSource {
    config: UdpConfig,
    stream: Stream,
    next: Time,
    sent: u64,
}

impl UdpSource {
    /// A source that has not started.
    pub fn new(config: UdpConfig, stream: Stream) -> UdpSource {
        UdpSource { config, stream, next: Time::NEVER, sent: 0 }
    }

    /// Starts: a Poisson source's first packet comes after an exponential time, a constant one's at once.
    pub fn start(&mut self, now: Time) {
        self.next = match self.config.arrivals {
            Variate::Constant => now,
            Variate::Exponential => now + self.gap(),
        };
    }

    /// Ends it.
    pub fn stop(&mut self) {
        self.next = Time::NEVER;
    }

    /// When the next packet goes.
    pub fn deadline(&self) -> Time {
        self.next
    }

    /// Packets sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// The size of the packet that goes now, bytes on the wire.
    pub fn emit(&mut self) -> u32 {
        let gap = self.gap();
        self.next += gap;
        self.sent += 1;
        match self.config.sizes {
            Variate::Constant => self.config.packet_bytes,
            Variate::Exponential => {
                let size = self.stream.exponential() * f64::from(self.config.packet_bytes);
                (size.min(f64::from(MAX_DATAGRAM_BYTES)) as u32).max(self.config.header_bytes.max(1))
            }
        }
    }

    fn gap(&mut self) -> Span {
        match self.config.arrivals {
            Variate::Constant => self.config.interval,
            Variate::Exponential => self.stream.exponential_span(self.config.interval),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(arrivals: Variate, sizes: Variate) -> UdpSource {
        let config =
            UdpConfig { packet_bytes: 1000, header_bytes: 28, interval: Span::from_ms(2), arrivals, sizes };
        UdpSource::new(config, Stream::new(3, 1, 0))
    }

    #[test]
    fn a_constant_source_keeps_its_interval() {
        let mut source = source(Variate::Constant, Variate::Constant);
        source.start(Time::ZERO);
        assert_eq!((source.deadline(), source.emit()), (Time::ZERO, 1000));
        assert_eq!(source.deadline(), Time::ZERO + Span::from_ms(2));
        source.stop();
        assert_eq!((source.deadline(), source.sent()), (Time::NEVER, 1));
    }

    #[test]
    fn a_poisson_source_keeps_its_means() {
        let mut source = source(Variate::Exponential, Variate::Exponential);
        source.start(Time::ZERO);
        let n = 40_000;
        let bytes: f64 = (0..n).map(|_| f64::from(source.emit())).sum();
        // standard errors: 0.5 % each; the least size of 28 bytes adds 0.04 %
        assert!((bytes / f64::from(n) / 1000.0 - 1.0).abs() < 0.02);
        assert!((source.deadline().as_ps() as f64 / f64::from(n) / 2e9 - 1.0).abs() < 0.02);
    }
}

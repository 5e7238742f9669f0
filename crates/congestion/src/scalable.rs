//! Scalable TCP: a window that grows by a hundredth and shrinks by an eighth.
//!
//! Sources: T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", ACM CCR 33(2),
//! 2003 (cwnd ← cwnd + 0.01 per acknowledgment, cwnd ← 0.875 cwnd); Linux 5.10 `net/ipv4/tcp_scalable.c` for
//! whole segments and for small windows.
//!
//! Departures: those of the window (`linux_window`). Older Linux counted 50 acknowledgments instead of
//! 100 segments, "to account for delayed ack"; that is [`ScalableConfig::count`].

use bufferlab_parameters::{count, parameters};
use bufferlab_units::Time;

use crate::linux_window::LinuxWindow;
use crate::{AckSample, Algorithm, Congestion, CongestionControl, Context, Idle};

/// log₂ of the part of the window that a loss takes: Kelly's b = 1/8 (`TCP_SCALABLE_MD_SCALE`).
const DECREASE_SHIFT: u32 = 3;

parameters! {
    /// Parameters of Scalable TCP.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ScalableConfig {
        /// Segments to be acknowledged for one more in the window: Kelly's a = 0.01 (`TCP_SCALABLE_AI_CNT`). Windows below
        /// grow by one a round, as Reno's.
        count: u32 = 100, count("segments", 1, 1_000_000_000);
    }
}

impl Algorithm for ScalableConfig {
    type Control = Scalable;

    fn build(&self, context: Context) -> Scalable {
        Scalable::new(context.initial_window, context.initial_ssthresh, *self)
    }
}

/// Scalable TCP's window.
#[derive(Clone, Debug)]
pub struct Scalable {
    window: LinuxWindow,
    /// Segments to be acknowledged for one more in the window.
    count: u32,
}

impl Scalable {
    /// A new connection's window.
    pub fn new(initial_window: u32, ssthresh: Option<u32>, config: ScalableConfig) -> Scalable {
        Scalable { window: LinuxWindow::new(initial_window, ssthresh), count: config.count.max(1) }
    }
}

impl CongestionControl for Scalable {
    fn on_ack(&mut self, _now: Time, sample: &AckSample) {
        let window = &mut self.window;
        let left = if window.in_slow_start() { window.slow_start(sample.acked) } else { sample.acked };
        if left > 0 {
            window.increase(window.cwnd.min(self.count), left);
        }
    }

    fn on_congestion(&mut self, _now: Time, congestion: &Congestion) {
        self.window.on_congestion(congestion, |cwnd| cwnd - (cwnd >> DECREASE_SHIFT));
    }

    fn on_idle(&mut self, _now: Time, idle: &Idle) {
        self.window.on_idle(idle);
    }

    fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionEvent;

    #[test]
    fn a_hundred_segments_add_one_at_any_large_window() {
        for cwnd in [100, 1_000, 20_000] {
            let mut control = Scalable::new(cwnd, Some(2), ScalableConfig::default());
            for _ in 0..500 {
                control.on_ack(Time::ZERO, &AckSample::of(1));
            }
            assert_eq!(control.cwnd(), f64::from(cwnd + 5));
        }
    }

    #[test]
    fn a_small_window_grows_as_renos() {
        let mut control = Scalable::new(10, Some(2), ScalableConfig::default());
        for _ in 0..10 {
            control.on_ack(Time::ZERO, &AckSample::of(1));
        }
        assert_eq!(control.cwnd(), 11.0);
    }

    #[test]
    fn a_loss_takes_an_eighth() {
        let mut control = Scalable::new(801, Some(2), ScalableConfig::default());
        let congestion = Congestion { event: CongestionEvent::Loss, flight: 801, receive_window: 10_000 };
        control.on_congestion(Time::ZERO, &congestion);
        assert_eq!((control.cwnd(), control.ssthresh()), (701.0, 701.0));
    }

    /// `tcp_scalable_cong_avoid`: what slow start has used up does not count, whatever was counted before an idle time.
    #[test]
    fn slow_start_leaves_nothing_to_count() {
        let mut control = Scalable::new(100, Some(2), ScalableConfig::default());
        control.on_ack(Time::ZERO, &AckSample::of(60));
        control.on_idle(Time::ZERO, &Idle { idle: bufferlab_units::Span::ZERO, restart: Some((10, 50)) });
        control.on_ack(Time::ZERO, &AckSample::of(1));
        assert_eq!(control.cwnd(), 11.0);
    }
}

//! Readings of a sender: samples, and its counters.

use bufferlab_transport::SenderCounters;
use bufferlab_units::Time;

use super::{SendingHost, Source};
use crate::context::Context;
use crate::outcome::FlowState;
use crate::readings::Reading;
use crate::recording::Tap;
use crate::samples::SenderSample;

impl SendingHost {
    /// Reports the current fetch to a recorder.
    #[inline(always)]
    pub(crate) fn note_fetch<T: Tap>(&self, local: Time, context: &mut Context<T>) {
        if T::ON
            && let Some(extras) = self.extras.as_deref()
            && let (Some(on_off), Some(log), Source::Tcp(sender)) =
                (&extras.on_off, &extras.log, &self.source)
            && on_off.fetches()
            && log.begun() > 0
        {
            let (flow, number, asked) = (self.identity.flow, log.begun() - 1, log.last_start());
            context.tap.tell(|recorder| recorder.fetches(local, flow, number, asked, sender.sent_to()));
        }
    }

    /// Whether it takes part in the time series.
    pub(crate) fn is_sampled(&self) -> bool {
        self.readings.are_sampled()
    }

    /// Whether a reading is due.
    #[inline]
    pub(crate) fn reading_due(&self, local: Time) -> bool {
        self.readings.due(local)
    }

    /// Takes the readings up to `local`, the host's time; false once the run has ended.
    #[cold]
    pub(crate) fn take_readings<T: Tap>(&mut self, local: Time, context: &mut Context<T>) -> bool {
        while let Some(Reading { time, sample, warmup }) = self.readings.take(local, &context.schedule) {
            if self.postpones {
                self.catch_up(time, context);
            }
            if warmup {
                self.at_warmup = Some(Box::new(self.counters()));
            }
            if let Source::Tcp(sender) = &self.source
                && sample
            {
                let SenderCounters { retransmissions, rtt_sum_ps, rtt_samples, .. } = sender.counters();
                context.samples.senders.push(SenderSample {
                    time,
                    flow: self.identity.flow,
                    cwnd: sender.cwnd(),
                    ssthresh: sender.ssthresh(),
                    srtt: sender.srtt(),
                    rtt_sum_ps,
                    rtt_samples,
                    inflight: sender.inflight(),
                    retransmissions,
                });
            }
        }
        local < context.schedule.end
    }

    /// The run ends at `local`, the host's time: takes the readings up to it, and what was postponed.
    pub(crate) fn finish<T: Tap>(&mut self, local: Time, context: &mut Context<T>) {
        self.take_readings(local, context);
        if self.postpones {
            self.catch_up(local, context);
        }
    }

    /// The host's state now, by its clock.
    pub(crate) fn state(&self) -> FlowState {
        let counters = self.counters();
        let counted = FlowState {
            sent_packets: counters.sent,
            retransmissions: counters.retransmissions,
            ..FlowState::default()
        };
        let Source::Tcp(sender) = &self.source else {
            return counted;
        };
        FlowState {
            cwnd_segments: sender.cwnd(),
            srtt_ps: sender.srtt().as_ps(),
            inflight_segments: sender.inflight().into(),
            acknowledged_segments: sender.acknowledged().into(),
            ..counted
        }
    }

    /// What was counted from the run's start.
    pub(crate) fn counters(&self) -> SenderCounters {
        match &self.source {
            Source::Tcp(sender) => sender.counters(),
            Source::Datagrams(source) => {
                let (rtt_sum_ps, rtt_samples) =
                    self.exchanges().map_or((0.0, 0), |log| (log.rtt_sum_ps, log.rtt_samples));
                SenderCounters { sent: source.sent(), rtt_sum_ps, rtt_samples, ..SenderCounters::default() }
            }
        }
    }

    /// What was counted when the warm-up ended.
    pub(crate) fn counters_at_warmup(&self) -> SenderCounters {
        self.at_warmup.as_deref().copied().unwrap_or_default()
    }
}

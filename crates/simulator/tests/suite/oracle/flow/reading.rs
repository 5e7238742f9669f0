//! What is read off a flow's hosts.

use bufferlab_transport::SenderCounters;
use bufferlab_units::Time;

use super::{Application, Ends, Flow, SenderSample};
use crate::oracle::video::Viewer;

impl Flow {
    /// Reads the state at a sampling time, or at the warm-up's end.
    pub(in super::super) fn read(&mut self, now: Time, sample: bool, warmup: bool) {
        if warmup {
            self.counters_at_warmup = self.counters();
            self.delivered_at_warmup = self.delivered_bytes();
        }
        if !(sample && self.sampled) {
            return;
        }
        self.receiver_samples.push((now, self.delivered_bytes()));
        if let Ends::Tcp { sender, .. } = &self.ends {
            let SenderCounters { retransmissions, rtt_sum_ps, rtt_samples, .. } = sender.counters();
            self.sender_samples.push(SenderSample {
                time: now,
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

    pub(in super::super) fn counters(&self) -> SenderCounters {
        match &self.ends {
            Ends::Tcp { sender, .. } => sender.counters(),
            Ends::Datagrams(ends) => {
                let (rtt_sum_ps, rtt_samples) = (ends.rtts_ps.iter().sum(), ends.rtts_ps.len() as u64);
                let sent = ends.source.sent();
                SenderCounters { sent, rtt_sum_ps, rtt_samples, ..SenderCounters::default() }
            }
        }
    }

    pub(in super::super) fn delivered_bytes(&self) -> u64 {
        match &self.ends {
            Ends::Tcp { receiver, plan, .. } => {
                let bytes = u64::from(receiver.delivered()) * u64::from(plan.config.mss_bytes);
                plan.transfer_bytes.map_or(bytes, |transfer| bytes.min(transfer))
            }
            Ends::Datagrams(ends) => ends.delivered_bytes,
        }
    }

    /// The exchanges that are to be reported: start, end, bytes.
    pub(in super::super) fn exchanges(&self) -> &[(Time, Option<Time>, u64)] {
        match &self.ends {
            Ends::Tcp { application: Some(application), .. } => application.log(),
            Ends::Datagrams(ends) if ends.recorded => &ends.log,
            _ => &[],
        }
    }

    /// The video that it serves.
    pub(in super::super) fn video(&self) -> Option<&Viewer> {
        match &self.ends {
            Ends::Tcp { application: Some(application), .. } => match &**application {
                Application::Video(viewer) => Some(viewer),
                Application::Bursts(_) => None,
            },
            _ => None,
        }
    }

    pub(in super::super) fn finished(&self) -> Time {
        match &self.ends {
            Ends::Tcp { sender, application: None, .. } if !self.returns => sender.finished(),
            _ => Time::NEVER,
        }
    }
}

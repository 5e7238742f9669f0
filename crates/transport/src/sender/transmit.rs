//! What is sent next: within the windows while nothing is lost, else by the rules of recovery; at a pace if the sender
//! is paced, in packets of several segments if the host uses offload.

use bufferlab_congestion::CongestionControl;
use bufferlab_units::{Span, Time};

use super::pacer::{self, Pacer};
use super::packetizer::{Pace, Packetizer, Room};
use super::{Course, Segment, SegmentKind, Sender};
use crate::Recovery;
use crate::delivery::Network;
use crate::recovery::Phase;

impl Sender {
    /// The next segment to send now, if the windows allow one; where several leave as one packet, the first of them.
    #[inline(always)]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        if self.course > Course::Plain {
            let formed = self.pacer.is_some() || self.packetizer.is_some();
            return if formed { self.poll_formed(now) } else { self.poll_segment(now) };
        }
        let segment = self.next_in_window()?;
        self.on_sent(now, segment);
        Some(segment)
    }

    /// Whether [`Sender::poll_transmit`] may have something: exact while nothing is being repaired, else yes.
    #[inline]
    pub fn may_send(&self) -> bool {
        self.window.admits() || self.course > Course::Plain && self.may_send_otherwise()
    }

    #[inline]
    fn may_send_otherwise(&self) -> bool {
        if self.recovery.kind() == Recovery::LinuxNs2 {
            return self.recovery.admits_linux_ns2(&self.window);
        }
        if self.recovery.kind() == Recovery::Quic {
            return self.recovery.admits_quic(&self.window);
        }
        self.course == Course::Repair || self.is_rated()
    }

    /// Whether a processing delay neither begins for the next segment nor holds it back.
    pub fn is_prompt(&mut self) -> bool {
        // limited transmit is over when its segment has been sent
        if self.recovery.kind().is_ns2() && self.recovery.phase() != Phase::SynSent {
            self.window.open(self.recovery.extra(&self.window));
        }
        self.recovery.is_prompt(&self.window)
    }

    /// Segments of the packet that begins with what [`Sender::poll_transmit`] gave last: one without
    /// [`crate::TcpConfig::offload`].
    pub fn segments_in_packet(&self) -> u32 {
        self.packetizer.as_deref().map_or(1, Packetizer::count)
    }

    /// Nothing leaves before. Only a departure changes it.
    pub fn released_at(&self) -> Time {
        self.pacer.as_deref().map_or(Time::ZERO, Pacer::release)
    }

    /// With a pace, or where several segments leave as one packet.
    #[inline(never)]
    fn poll_formed(&mut self, now: Time) -> Option<Segment> {
        if self.packetizer.is_some() {
            self.poll_packet(now)
        } else if self.waits_for_pace(now) {
            None
        } else {
            self.poll_in_pace(now)
        }
    }

    /// The first segment of the next packet, if the windows allow one and it need not wait to become larger.
    fn poll_packet(&mut self, now: Time) -> Option<Segment> {
        if self.is_paced() && self.waits_for_pace(now) {
            return None;
        }
        if let Some(packetizer) = self.packetizer.as_deref_mut() {
            packetizer.forget_below(self.window.una);
        }
        let most = self.most_segments();
        if self.defers(now, most) {
            return None;
        }
        let (half, alone) = ((self.cwnd() as u32 / 2).max(1), self.timers.probe_due);
        let first = self.poll_next(now)?;
        let most = match first.kind {
            // "at least 2 GSO packets in flight"
            SegmentKind::New if !alone => most.min(half),
            SegmentKind::Retransmission if !alone => most.min(self.left_in_packet(first.seq)),
            _ => 1,
        };
        let mut count = 1;
        while count < most && self.upcoming() == Some(Segment { seq: first.seq + count, ..first }) {
            self.poll_next(now);
            count += 1;
        }
        let release = self.released_at();
        if let Some(packetizer) = self.packetizer.as_deref_mut() {
            packetizer.on_sent(now, release, first, count, self.window.sent_to);
        }
        Some(first)
    }

    /// Most segments of the next packet.
    pub(super) fn most_segments(&self) -> u32 {
        self.packetizer.as_deref().map_or(1, |packetizer| packetizer.most_segments(|| self.pace()))
    }

    /// Segments that may wait below TCP before new packets do: two packets, and what the pace sends in about a
    /// millisecond (Linux 6.1 `net/ipv4/tcp_output.c`, `tcp_small_queue_check`, read as behavior).
    pub fn small_queue_segments(&self) -> f64 {
        self.pace().segments_in_a_millisecond().max(2.0 * f64::from(self.most_segments()))
    }

    fn pace(&self) -> Pace {
        Pace {
            segments_per_s: self.control_rate().unwrap_or_else(|| {
                // without a sample it is infinite
                self.segments_a_round_trip() / (self.srtt().as_ps() as f64 / 1e12)
            }),
            of_control: self.is_rated(),
            min_rtt: self.rtt.estimator.min(),
        }
    }

    /// The rate of a control that sets the pace, segments a second.
    fn control_rate(&self) -> Option<f64> {
        self.is_rated().then(|| self.control.pacing().unwrap_or(f64::INFINITY))
    }

    /// Whether new data waits for a larger packet.
    fn defers(&self, now: Time, most: u32) -> bool {
        let repairs =
            self.recovery.phase() != Phase::Open || self.recovery.resends_first() || self.timers.probe_due;
        if repairs {
            return false;
        }
        let room = Room {
            admitted: self.recovery.room(&self.window),
            left: self.window.limit.saturating_sub(self.window.nxt),
            window: self.window.cwnd.min(self.window.advertised),
            idle: self.window.outstanding() == 0,
        };
        let packetizer = self.packetizer.as_deref();
        packetizer.is_some_and(|packetizer| packetizer.defers(now, most, room, self.srtt()))
    }

    /// Segments from `seq` on that were sent in one packet with it.
    fn left_in_packet(&self, seq: u32) -> u32 {
        let packetizer = self.packetizer.as_deref();
        packetizer.map_or(1, |packetizer| packetizer.left_in_packet(seq, self.window.sent_to))
    }

    /// The segment that [`Sender::poll_segment`] would return, except those that travel alone.
    fn upcoming(&mut self) -> Option<Segment> {
        if self.course != Course::Repair {
            let seq = self.window.nxt;
            return self.window.admits().then(|| Segment { kind: self.window.kind(seq), seq });
        }
        if self.recovery.resends_first() || self.timers.probe_due {
            return None;
        }
        let cwnd = self.repair_window();
        self.recovery.peek(&self.window, cwnd)
    }

    /// The next segment; its time has come.
    fn poll_next(&mut self, now: Time) -> Option<Segment> {
        if self.is_paced() { self.poll_in_pace(now) } else { self.poll_segment(now) }
    }

    /// Whether it is too early for a segment; sets when to come again.
    #[inline]
    fn waits_for_pace(&mut self, now: Time) -> bool {
        let release = self.released_at();
        let waits = now < release;
        if waits && (self.course == Course::Repair && self.may_send_otherwise() || self.window.admits()) {
            self.timers.wait_until(release);
        }
        waits
    }

    /// The next segment of a sender that keeps a pace, if the window allows one; its time has come.
    #[inline]
    fn poll_in_pace(&mut self, now: Time) -> Option<Segment> {
        let segment = self.poll_segment(now)?;
        if segment.kind != SegmentKind::Syn {
            self.note_departure(now, segment);
        }
        Some(segment)
    }

    fn note_departure(&mut self, now: Time, segment: Segment) {
        self.timers.end_wait();
        let network = Network {
            in_flight: self.inflight(),
            lost: self.recovery.losses(),
            app_limited: self.window.nxt >= self.window.limit,
            again: segment.kind == SegmentKind::Retransmission,
        };
        let window_gap = (!self.is_rated()).then(|| self.window_gap());
        if let Some(rates) = self.rates.as_deref_mut() {
            rates.on_sent(now, self.window.una, segment.seq, network);
        }
        if let Some(pacer) = self.pacer.as_deref_mut() {
            pacer.on_sent(now, window_gap.unwrap_or(pacer.gap()));
        }
    }

    /// Between two segments where a window sets the pace.
    fn window_gap(&self) -> Span {
        pacer::window_gap(self.sent, self.srtt(), self.segments_a_round_trip())
    }

    fn segments_a_round_trip(&self) -> f64 {
        if self.recovery.kind() == Recovery::Quic {
            return self.control.pace().unwrap_or(pacer::QUIC_RATIO) * self.cwnd();
        }
        let ratio = self.control.pace().unwrap_or(pacer::AVOIDANCE_RATIO);
        pacer::segments_a_round_trip(self.cwnd(), self.ssthresh(), self.window.flight(), ratio)
    }

    /// The next segment, if the windows or the recovery allow one.
    #[inline(never)]
    fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        let repairs = self.course == Course::Repair;
        let segment = if repairs { self.next_in_repair()? } else { self.next_in_window()? };
        self.on_sent(now, segment);
        self.recovery.on_sent();
        if self.recovery.kind() == Recovery::LinuxNs2 && segment.kind != SegmentKind::Syn {
            self.recovery.note_departure(now, self.window.una, segment.seq);
        }
        if self.recovery.kind() == Recovery::Quic && segment.kind != SegmentKind::Syn {
            self.on_sent_quic(now, segment.seq);
        }
        if segment.kind != SegmentKind::Syn
            && let Some(bursts) = self.bursts.as_deref_mut()
        {
            bursts.on_sent(now, &self.window);
        }
        Some(segment)
    }

    fn next_in_repair(&mut self) -> Option<Segment> {
        let segment = if self.recovery.resends_first() {
            self.recovery.take_first(&mut self.window)
        } else if self.timers.probe_due {
            self.timers.take_probe(&mut self.window)
        } else {
            let cwnd = self.repair_window();
            let segment = self.recovery.take(&mut self.window, cwnd);
            if self.recovery.kind() == Recovery::LinuxNs2 {
                self.restore_after_delay();
            }
            return segment;
        };
        self.refresh();
        Some(segment)
    }

    /// The window in a repair, segments: while it comes down, not the control's.
    fn repair_window(&self) -> u32 {
        self.recovery.reduced_window().filter(|_| !self.is_rated()).unwrap_or(self.window.cwnd)
    }

    #[inline]
    fn next_in_window(&mut self) -> Option<Segment> {
        let seq = self.window.take()?;
        Some(Segment { kind: self.window.kind(seq), seq })
    }

    #[inline]
    fn on_sent(&mut self, now: Time, segment: Segment) {
        match segment.kind {
            SegmentKind::Syn => {}
            SegmentKind::New => {
                self.window.on_new(segment.seq);
                self.sent += 1;
                self.recovery.on_new();
                self.rtt.on_new(now, segment.seq);
            }
            SegmentKind::Retransmission => {
                self.sent += 1;
                self.retransmissions += 1;
                self.rtt.on_retransmission();
            }
        }
        self.timers.start_if_idle(now, || self.rtt.estimator.rto());
    }
}

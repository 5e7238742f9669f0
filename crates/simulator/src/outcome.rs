//! What a run measured, as plain columns. Counters of the measured window start at the warm-up's end;
//! those named `whole_…` start with the run.

use crate::table::table;

/// Everything that a run measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Simulated time reached, ps: the plan's duration, or less if the run was canceled.
    pub reached_ps: u64,
    /// The run was canceled.
    pub canceled: bool,
    /// Engine events processed.
    pub events: u64,
    /// Packets that left a link, of any kind, summed over links.
    pub packets: u64,
    /// One row per flow.
    pub flows: FlowTable,
    /// One row per link and group with traffic there, and one with group `ALL_GROUPS` for each link.
    pub queues: QueueTable,
    /// Histograms of waits of the same pairs; only buckets that are not empty.
    pub histograms: HistogramTable,
    /// One row per link and class of its discipline, if that has classes.
    pub classes: ClassTable,
    /// Histograms of waits of the classes; only buckets that are not empty.
    pub class_histograms: ClassHistogramTable,
    /// Time series of the sampled links.
    pub queue_samples: QueueSampleTable,
    /// Time series of what the sampled links' disciplines hold and estimate, if they have classes.
    pub class_samples: ClassSampleTable,
    /// Time series of the sampled senders.
    pub sender_samples: SenderSampleTable,
    /// Time series of the sampled receivers.
    pub receiver_samples: ReceiverSampleTable,
    /// Exchanges of flows whose applications send more than one piece.
    pub exchanges: ExchangeTable,
    /// Segments of videos.
    pub segments: SegmentTable,
}

/// What a link has counted by a moment of a [`crate::Session`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets that came to the queue since the run's start.
    pub arrived_packets: u64,
    /// Packets dropped by it since then.
    pub dropped_packets: u64,
    /// Packets that left since then.
    pub departed_packets: u64,
    /// Their bytes.
    pub departed_bytes: u64,
    /// Packets that wait, the one in transmission not counted.
    pub backlog_packets: u64,
    /// Their bytes.
    pub backlog_bytes: u64,
    /// Packets whose wait is known, since the warm-up's end.
    pub served_packets: u64,
    /// The sum of their waits, ps.
    pub waited_ps: u128,
}

/// What a link has counted of a group of flows by a moment of a [`crate::Session`], since the run's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupCounters {
    /// Packets that came to the queue.
    pub arrived_packets: u64,
    /// Packets dropped by it.
    pub dropped_packets: u64,
    /// Packets that left. The others that came wait, or are in transmission.
    pub departed_packets: u64,
    /// Their bytes.
    pub departed_bytes: u64,
}

/// A flow's sender at a moment of a [`crate::Session`], by its own clock: it has not seen yet what reaches the first
/// link later. A source of datagrams has no window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowState {
    /// Congestion window.
    pub cwnd_segments: f64,
    /// Smoothed round-trip time, ps; zero before the first sample.
    pub srtt_ps: u64,
    /// Segments believed to be in the network.
    pub inflight_segments: u64,
    /// Segments acknowledged in order since the run's start.
    pub acknowledged_segments: u64,
    /// Packets sent since then.
    pub sent_packets: u64,
    /// Retransmissions among them.
    pub retransmissions: u64,
}

/// Stands for "all groups" in [`QueueTable`] and [`HistogramTable`].
pub const ALL_GROUPS: u32 = u32::MAX;
/// Stands for "all classes" in [`ClassSampleTable`].
pub const ALL_CLASSES: u32 = u32::MAX;
/// Stands for "none" where a time or a limit may be missing.
pub const NONE: u64 = u64::MAX;

table! {
    /// One row per flow.
    FlowTable {
        /// Index of the flow in the plan.
        flow: u32,
        /// Index of its group.
        group: u32,
        /// Start, ps.
        start_ps: u64,
        /// Two-way propagation delay without transmission times, ps.
        rtt_ps: u64,
        /// In-order payload at the receiver in the measured window, bytes.
        delivered_bytes: u64,
        /// The same from the run's start.
        whole_delivered_bytes: u64,
        /// Data packets sent, retransmissions among them, in the measured window.
        sent_packets: u64,
        /// The same from the run's start.
        whole_sent_packets: u64,
        /// Retransmitted packets in the measured window.
        retransmissions: u64,
        /// The same from the run's start.
        whole_retransmissions: u64,
        /// Retransmission timeouts in the measured window.
        timeouts: u64,
        /// The same from the run's start.
        whole_timeouts: u64,
        /// Fast recoveries entered in the measured window.
        recoveries: u64,
        /// The same from the run's start.
        whole_recoveries: u64,
        /// Reordered data packets, which arrived after one of a higher number that was sent later, in the measured window.
        reordered_packets: u64,
        /// The same from the run's start.
        whole_reordered_packets: u64,
        /// Spurious retransmissions: data packets that had arrived before, in the measured window.
        spurious_retransmissions: u64,
        /// The same from the run's start.
        whole_spurious_retransmissions: u64,
        /// Sum of the round-trip samples in the measured window, ps.
        rtt_sum_ps: f64,
        /// Number of those samples.
        rtt_samples: u64,
        /// When the transfer's last byte was acknowledged, ps; `u64::MAX` if it was not.
        finished_ps: u64,
        /// When the transfer's last byte reached the receiver, ps; `u64::MAX` if it did not.
        received_ps: u64,
    }
}

table! {
    /// One row per link and group.
    QueueTable {
        /// Index of the link in the plan.
        link: u32,
        /// Index of the group, or [`ALL_GROUPS`].
        group: u32,
        /// Packets that came to the queue in the measured window (random losses before it not counted).
        arrived_packets: u64,
        /// The same in bytes.
        arrived_bytes: u64,
        /// Of those, packets that the queue dropped.
        dropped_packets: u64,
        /// The same in bytes.
        dropped_bytes: u64,
        /// Packets lost at random before the queue in the measured window.
        lost_packets: u64,
        /// Packets marked by the queue in the measured window (ECN).
        marked_packets: u64,
        /// Packets whose transmission ended in the measured window.
        departed_packets: u64,
        /// The same in bytes.
        departed_bytes: u64,
        /// Packets whose wait is counted in the wait figures (they left the queue in the measured window).
        served_packets: u64,
        /// Mean wait in the queue, own transmission not counted, ps; 0 if no packet was served.
        wait_mean_ps: f64,
        /// Longest wait, ps.
        wait_max_ps: u64,
        /// Time average of the waiting packets (of all groups; 0 in rows of one group).
        backlog_mean_packets: f64,
        /// Time average of the waiting bytes.
        backlog_mean_bytes: f64,
        /// At most this many packets wait for 1 % of the time, read at random moments (0 in rows of one group).
        backlog_p1_packets: u64,
        /// The same for half of the time.
        backlog_p50_packets: u64,
        /// The same for 95 % of the time.
        backlog_p95_packets: u64,
        /// The same for 99 % of the time.
        backlog_p99_packets: u64,
        /// Most packets waiting.
        backlog_max_packets: u64,
        /// Most bytes waiting.
        backlog_max_bytes: u64,
        /// Fraction of the measured window in which no packet waited (0 in rows of one group).
        empty_fraction: f64,
        /// Arrivals from the run's start, packets.
        whole_arrived_packets: u64,
        /// Drops from the run's start, packets.
        whole_dropped_packets: u64,
        /// Random losses from the run's start, packets.
        whole_lost_packets: u64,
        /// Departures (transmissions ended) from the run's start, packets.
        whole_departed_packets: u64,
        /// Waiting or in transmission at the run's end, packets.
        left_packets: u64,
        /// Fraction of the measured window in which the transmitter sent these packets; where the rate varies, of what the link
        /// offered in the window, the share that they used.
        busy_fraction: f64,
        /// Where the rate varies, the mean that the link offered in the measured window, bit/s; else 0.
        offered_bps: f64,
    }
}

table! {
    /// One row per bucket.
    HistogramTable {
        /// Index of the link in the plan.
        link: u32,
        /// Index of the group, or [`ALL_GROUPS`].
        group: u32,
        /// Least wait that falls into the bucket, ps.
        lower_ps: u64,
        /// Bound of the bucket, ps.
        upper_ps: u64,
        /// Packets.
        count: u64,
    }
}

table! {
    /// One row per link and class, for disciplines that have classes.
    ClassTable {
        /// Index of the link in the plan.
        link: u32,
        /// Index of the class: of round-trip times, from the shortest; of `DualPI2`, 0 for L4S and 1 for all others.
        class: u32,
        /// Packets that came in the measured window.
        arrived_packets: u64,
        /// The same in bytes.
        arrived_bytes: u64,
        /// Of those, packets that were dropped.
        dropped_packets: u64,
        /// The same in bytes.
        dropped_bytes: u64,
        /// Packets marked by the queue in the measured window (ECN).
        marked_packets: u64,
        /// Packets whose transmission ended in the measured window.
        departed_packets: u64,
        /// The same in bytes.
        departed_bytes: u64,
        /// Packets whose wait is counted in the wait figures.
        served_packets: u64,
        /// Mean wait, own transmission not counted, ps; 0 if no packet was served.
        wait_mean_ps: f64,
        /// Longest wait, ps.
        wait_max_ps: u64,
        /// Arrivals from the run's start, packets.
        whole_arrived_packets: u64,
        /// Drops from the run's start, packets.
        whole_dropped_packets: u64,
        /// Departures from the run's start, packets.
        whole_departed_packets: u64,
        /// Waiting or in transmission at the run's end, packets.
        left_packets: u64,
        /// Fraction of the measured window in which the transmitter sent these packets; where the rate varies, of what the link
        /// offered in the window, the share that they used.
        busy_fraction: f64,
        /// As the queue's.
        offered_bps: f64,
    }
}

table! {
    /// One row per bucket.
    ClassHistogramTable {
        /// Index of the link in the plan.
        link: u32,
        /// Index of the class.
        class: u32,
        /// Least wait that falls into the bucket, ps.
        lower_ps: u64,
        /// Bound of the bucket, ps.
        upper_ps: u64,
        /// Packets.
        count: u64,
    }
}

table! {
    /// One row per sampling time, link and class, and one of [`ALL_CLASSES`] before them.
    ClassSampleTable {
        /// Time, ps.
        time_ps: u64,
        /// Index of the link in the plan.
        link: u32,
        /// Index of the class, or [`ALL_CLASSES`].
        class: u32,
        /// Waiting packets.
        backlog_packets: u64,
        /// Waiting bytes.
        backlog_bytes: u64,
        /// How many packets may wait; [`NONE`] if packets are not counted.
        limit_packets: u64,
        /// How many bytes may wait; [`NONE`] if bytes are not counted.
        limit_bytes: u64,
        /// Round-trip time from which on packets belong to the next class, ps; [`NONE`] if there is no such.
        threshold_ps: u64,
        /// Mean round-trip time without queueing as the discipline estimates it, ps; [`NONE`] before it has one.
        rtt_ps: u64,
        /// Wait as the discipline smooths it, ps.
        delay_ps: u64,
        /// Active flows as the discipline estimates them; negative if it does not.
        flows: f64,
        /// Part of the service, in that of the class with the least.
        weight: f64,
        /// What a router must keep beside the packets that wait, bytes.
        state_bytes: u64,
    }
}

table! {
    /// One row per sampling time and link.
    QueueSampleTable {
        /// Time, ps.
        time_ps: u64,
        /// Index of the link in the plan.
        link: u32,
        /// Waiting packets.
        backlog_packets: u64,
        /// Waiting bytes.
        backlog_bytes: u64,
        /// Packets arrived since the run's start.
        arrived_packets: u64,
        /// Packets dropped since the run's start.
        dropped_packets: u64,
        /// Bytes transmitted since the run's start.
        departed_bytes: u64,
    }
}

table! {
    /// One row per sampling time and flow, in the sender's time.
    SenderSampleTable {
        /// Time, ps.
        time_ps: u64,
        /// Index of the flow in the plan.
        flow: u32,
        /// Congestion window, segments.
        cwnd_segments: f64,
        /// Slow-start threshold, segments.
        ssthresh_segments: f64,
        /// Smoothed round-trip time, ps; 0 before the first sample.
        srtt_ps: u64,
        /// Sum of the round-trip samples since the run's start, ps.
        rtt_sum_ps: f64,
        /// Number of those samples.
        rtt_samples: u64,
        /// Segments sent and not yet known to have left the network.
        inflight_segments: u64,
        /// Packets retransmitted since the run's start.
        retransmissions: u64,
    }
}

table! {
    /// One row per sampling time and flow, in the receiver's time.
    ReceiverSampleTable {
        /// Time, ps.
        time_ps: u64,
        /// Index of the flow in the plan.
        flow: u32,
        /// In-order payload since the run's start, bytes.
        delivered_bytes: u64,
    }
}

table! {
    /// One row per exchange: a burst of data, a fetch, a datagram, a ping.
    ExchangeTable {
        /// Index of the flow in the plan.
        flow: u32,
        /// Its number among those of the flow.
        number: u64,
        /// When it began, ps: data was there to be sent, the client asked, the packet left.
        start_ps: u64,
        /// When its last byte was received, or for a ping its answer, ps; `u64::MAX` if it was not by the run's end.
        end_ps: u64,
        /// Its payload, or for a datagram its size on the wire, bytes.
        bytes: u64,
    }
}

table! {
    /// One row per segment of a video, beside that of its fetch in [`ExchangeTable`].
    SegmentTable {
        /// Index of the flow in the plan.
        flow: u32,
        /// Its number among those of the flow, as the exchange's.
        number: u64,
        /// Its bitrate, bit/s.
        bitrate_bps: u64,
        /// When playback came to its turn, ps: the one before it had been played, or for the first one the client asked;
        /// [`NONE`] if that was not by the run's end.
        due_ps: u64,
        /// When it began to be played, ps; [`NONE`] if it did not by the run's end.
        play_ps: u64,
        /// How long playback stood still before it, ps: for the first one the start-up. One that was due and did not come
        /// has what was seen until the run's or the flow's end.
        stall_ps: u64,
    }
}

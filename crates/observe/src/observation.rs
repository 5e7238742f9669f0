//! What an observation consists of: tables of plain columns.

use crate::columns::{Column, Table, table};

table! {
    /// One row a connection, in the order in which they began.
    Connections of ConnectionRow {
        /// Counts the reported connections from 0.
        connection: u32,
        /// The interface; 0 if they are joined.
        interface: u32,
        /// IP's number: 6 TCP, 17 UDP, 1 echoes of ICMP.
        protocol: u32,
        /// Address and port of the end that opened it, as far as that was seen; otherwise that with the higher port. An echo's port is its
        /// identifier.
        initiator: String,
        /// The initiator's port.
        initiator_port: u32,
        /// The other end's address.
        responder: String,
        /// The other end's port.
        responder_port: u32,
        /// Which way the initiator's packets cross the link: 0 out, 1 in.
        direction: u32,
        /// Whether its first packet was seen: a SYN, a request, or a datagram of the initiator after a silence.
        is_opened: u32,
        /// Whether it ended because others took its place in memory.
        is_evicted: u32,
        /// When its first packet was captured, ns since 1970.
        first_ns: u64,
        /// When its last packet was captured, ns since 1970.
        last_ns: u64,
        /// The smallest round trip of the whole path, ns: the sum of the two legs'.
        path_rtt_ns: f64,
        /// The lower end of its interval, ns; the estimate is the upper end.
        path_rtt_low_ns: f64,
        /// The part of the round trip on the data sender's side of the vantage point, 0 to 1.
        sender_share: f64,
        /// The vantage point: 0 unknown, 1 near the data sender, 2 near the receiver, 3 in between.
        vantage: u32,
        /// Whether both ends offered SACK.
        has_sack: u32,
        /// Whether both ends sent timestamps.
        has_timestamps: u32,
        /// Whether QUIC's spin bit spins.
        is_spinning: u32,
    }
}

table! {
    /// Two rows a connection: the initiator's packets and the responder's.
    Directions of DirectionRow {
        /// As in the table of connections.
        connection: u32,
        /// Who sends: 0 the initiator, 1 the responder.
        sender: u32,
        /// Which way it crosses the link: 0 out, 1 in.
        direction: u32,
        /// Packets captured.
        packets: u64,
        /// Bytes of them with IP's headers.
        ip_bytes: u64,
        /// Bytes of payload, repeated ones too.
        payload_bytes: u64,
        /// Segments on the wire with payload.
        segments: u64,
        /// Packets larger than the MSS, which stand for several segments.
        large_packets: u64,
        /// The segments that those stand for.
        large_segments: u64,
        /// The largest payload of other packets.
        largest_segment_bytes: u32,
        /// The largest segment that it offers to take; 0 if its SYN was not seen.
        mss_bytes: u32,
        /// Segments sent again.
        retransmitted_segments: u64,
        /// Their bytes.
        retransmitted_bytes: u64,
        /// Segments sent again whose first copy was lost before the vantage point.
        lost_before_segments: u64,
        /// Segments sent again although they had arrived.
        spurious_segments: u64,
        /// Of those, reported by the receiver (DSACK).
        dsack_segments: u64,
        /// Times at which losses began: those of one round trip are one.
        loss_episodes: u64,
        /// Segments until its first losses are repaired, by which slow start ends; 0 if its beginning was not seen.
        start_segments: u64,
        /// Of those, the ones sent again.
        start_retransmitted_segments: u64,
        /// Silences in which it had nothing to send: longer than 200 ms and than two round trips, with nothing under way.
        silences: u64,
        /// Their mean, ns.
        silence_mean_ns: f64,
        /// Their standard deviation, ns.
        silence_deviation_ns: f64,
        /// The mean payload of the bursts between them, bytes.
        burst_mean_bytes: f64,
        /// The standard deviation of that, bytes.
        burst_deviation_bytes: f64,
        /// Segments that came after later ones.
        reordered_segments: u64,
        /// Packets that are ECN-capable, ECT(0).
        ect0_packets: u64,
        /// Packets that are ECN-capable, ECT(1).
        ect1_packets: u64,
        /// Packets that experienced congestion.
        ce_packets: u64,
        /// Packets that echo that.
        ece_packets: u64,
        /// Times at which its receiver began to echo marks: until the sender's answer they are one (RFC 3168 section 6.1.3); none of accurate ECN.
        mark_episodes: u64,
        /// Whether its receiver counts marks (accurate ECN, RFC 9768), which is not read.
        has_accurate_ecn: u32,
        /// Packets with SACK blocks.
        sack_packets: u64,
        /// Packets that close the window.
        zero_windows: u64,
        /// Bytes that were acknowledged but never captured.
        missed_bytes: u64,
        /// Packets captured twice in a row.
        doubled_packets: u64,
        /// Packets whose sequence numbers cannot be of this connection.
        strange_packets: u64,
        /// Round trips measured between the vantage point and the receiver of this direction.
        rtt_samples: u64,
        /// The smallest of them, ns.
        rtt_min_ns: f64,
        /// The lower end of its interval with a confidence of 90 %, ns.
        rtt_low_ns: f64,
        /// Their median, ns.
        rtt_median_ns: f64,
        /// Nine tenths are not larger, ns.
        rtt_p90_ns: f64,
        /// Their 95th percentile, ns.
        rtt_p95_ns: f64,
        /// Their 99th percentile, ns.
        rtt_p99_ns: f64,
        /// The largest, ns.
        rtt_max_ns: f64,
    }
}

table! {
    /// One row an interface and direction with packets.
    Links of LinkRow {
        /// As in the capture; 0 if they are joined.
        interface: u32,
        /// 0 out, 1 in.
        direction: u32,
        /// Packets captured, of all protocols.
        packets: u64,
        /// Bytes of their frames.
        frame_bytes: u64,
        /// Bytes on the wire: of packets that stand for several segments, the headers of each.
        wire_bytes: u64,
        /// Bytes of payload of TCP and UDP.
        payload_bytes: u64,
        /// The rate of the bottleneck, bit/s: the estimate to be trusted.
        rate_bps: f64,
        /// Its standard deviation, bit/s.
        rate_error_bps: f64,
        /// What it comes from: 0 nothing, 1 the plateau of 1 s, 2 that of 100 ms, 3 the distances of packets.
        rate_by: u32,
        /// Whether what waits does so beyond the vantage point, so that plateaus are of what arrived; otherwise of what was seen.
        is_queue_ahead: u32,
        /// The rate of most windows of 1 s with a queue, bit/s.
        plateau_1s_bps: f64,
        /// The standard deviation of those windows' rates, bit/s.
        plateau_1s_error_bps: f64,
        /// The part of the windows with a queue that have this rate.
        plateau_1s_share: f64,
        /// The rate that most of the others have, bit/s: that of a link that varies.
        second_1s_bps: f64,
        /// The part of the windows with a queue that have it.
        second_1s_share: f64,
        /// Windows with a queue on that side.
        queued_1s_windows: u64,
        /// The rate of most of all windows of 1 s, with a queue or without, bit/s; before the queue that of what is acknowledged.
        steady_1s_bps: f64,
        /// The standard deviation of those windows' rates, bit/s.
        steady_1s_error_bps: f64,
        /// The part of all windows that have this rate.
        steady_1s_share: f64,
        /// All windows of 1 s.
        steady_1s_windows: u64,
        /// The rate of most windows of 100 ms with a queue, bit/s.
        plateau_100ms_bps: f64,
        /// The standard deviation of those windows' rates, bit/s.
        plateau_100ms_error_bps: f64,
        /// The part of the windows with a queue that have this rate.
        plateau_100ms_share: f64,
        /// The rate that most of the others have, bit/s.
        second_100ms_bps: f64,
        /// The part of the windows with a queue that have it.
        second_100ms_share: f64,
        /// Windows with a queue on that side.
        queued_100ms_windows: u64,
        /// Further ones in which packets waited for a while, and the link was idle for a quarter or more: bursts.
        idle_100ms_windows: u64,
        /// The rate that most packets' distances show, bit/s.
        dispersion_bps: f64,
        /// The standard deviation of those, bit/s.
        dispersion_error_bps: f64,
        /// The part of the pairs that show this rate.
        dispersion_share: f64,
        /// Pairs of packets in a row with the same size.
        dispersion_pairs: u64,
        /// The highest rate of a window of 100 ms, bit/s: the link's is not lower, if the queue is behind.
        highest_100ms_bps: f64,
        /// The highest rate of a window of 1 s, bit/s.
        highest_1s_bps: f64,
    }
}

table! {
    /// A time series: one row an interface, direction and second with packets.
    Seconds of SecondRow {
        /// As in the table of links.
        interface: u32,
        /// 0 out, 1 in.
        direction: u32,
        /// When it begins, ns since 1970.
        start_ns: u64,
        /// How long it is, ns: a second, or a multiple in a very long capture.
        width_ns: u64,
        /// Packets captured.
        packets: u64,
        /// Bytes on the wire.
        wire_bytes: u64,
        /// Long flows that send in it: those with more than 100 kB over more than a second so far.
        long_flows: u64,
        /// Connections whose beginning is in it, by the direction of their initiator.
        new_flows: u64,
    }
}

table! {
    /// A time series: round trips of long flows, one row a connection, direction, side and 100 ms with samples.
    Trips of TripRow {
        /// As in the table of connections.
        connection: u32,
        /// Whose data: that of the initiator (0) or of the responder (1).
        sender: u32,
        /// Whether it goes on from the vantage point to the receiver (1), or came from the sender (0).
        is_ahead: u32,
        /// When it begins, ns since 1970.
        start_ns: u64,
        /// How long it is, ns: 100 ms, or a multiple for a flow of more than 6.4 s.
        width_ns: u64,
        /// Round trips measured.
        samples: u64,
        /// Their mean, ns.
        mean_ns: f64,
        /// The smallest of them, ns.
        lowest_ns: u64,
        /// The smallest of the whole connection on that side, ns.
        least_ns: u64,
    }
}

table! {
    /// Times at which losses began: one row each, or every second, fourth, … of a connection's direction and side with more than 32.
    Losses of LossRow {
        /// As in the table of connections.
        connection: u32,
        /// Whose data: that of the initiator (0) or of the responder (1).
        sender: u32,
        /// Whether it was lost between the vantage point and the receiver (1), or between the sender and the vantage point (0).
        is_ahead: u32,
        /// When it was sent again, ns since 1970.
        at_ns: u64,
        /// The longest of about the last two round trips on that side before it was lost, ns.
        trip_ns: u64,
        /// The smallest of the whole connection on that side, ns.
        least_ns: u64,
        /// For how many times the row stands.
        episodes: u64,
    }
}

table! {
    /// What waits for each direction of a link: one row an interface, direction and side of the vantage point.
    Queueing of QueueingRow {
        /// As in the table of links.
        interface: u32,
        /// Of the data: 0 out, 1 in.
        direction: u32,
        /// Whether it waits between the vantage point and the receiver (1), or between the sender and the vantage point (0).
        is_ahead: u32,
        /// Round trips measured.
        samples: u64,
        /// The median of what they exceed their connection's minimum by, ns, each as often as packets went since the one before.
        median_ns: f64,
        /// The 95th percentile of that, ns.
        p95_ns: f64,
        /// The 99th percentile of that, ns.
        p99_ns: f64,
        /// The largest, ns.
        max_ns: u64,
        /// Times at which losses began.
        loss_episodes: u64,
        /// Of those, with a sample within the two round trips before.
        at_loss_samples: u64,
        /// The median of the largest excess before a loss, ns.
        at_loss_median_ns: f64,
        /// Whether losses come when the excess is at its plateau, which says that the buffer fills.
        is_filled: u32,
        /// The buffer's depth, ns; not a number if it was never filled.
        depth_ns: f64,
        /// The 10th percentile of the excess before losses, ns.
        depth_low_ns: f64,
        /// The 90th percentile, ns.
        depth_high_ns: f64,
    }
}

table! {
    /// A time series: what waits, one row an interface, direction, side and 100 ms with samples or losses.
    Moments of MomentRow {
        /// As in the table of links.
        interface: u32,
        /// Of the data: 0 out, 1 in.
        direction: u32,
        /// Whether it waits beyond the vantage point (1) or before (0).
        is_ahead: u32,
        /// When it begins, ns since 1970.
        start_ns: u64,
        /// How long it is, ns: 100 ms, or a multiple in a long capture.
        width_ns: u64,
        /// Round trips measured.
        samples: u64,
        /// Of those, of long flows: if there are some, the median and the 95th percentile are theirs.
        long_samples: u64,
        /// The median of what they exceed their connection's minimum by, ns, each as often as packets went since the one before.
        median_ns: f64,
        /// The 95th percentile of that, ns.
        p95_ns: f64,
        /// The largest, ns.
        max_ns: u64,
        /// Times at which losses began.
        loss_episodes: u64,
    }
}

table! {
    /// Distributions: one row a value, within 0.8 %.
    Distributions of DistributionRow {
        /// As in the table of links.
        interface: u32,
        /// 0 out, 1 in.
        direction: u32,
        /// What is distributed, with its unit: `short_flow_bytes` (payload), `interarrival_ns` (of connections), `train_packets`,
        /// `excess_ahead_ns`, `excess_behind_ns` (round trips beyond their minimum, as often as packets went since), `excess_at_loss_ahead_ns`,
        /// `excess_at_loss_behind_ns`.
        quantity: String,
        /// The value.
        value: f64,
        /// How often.
        count: u64,
    }
}

/// Declares counters, which have names.
macro_rules! counters {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name { $($(#[$field_doc])* pub $field: u64,)* }

        impl $name {
            /// All with their names, in the order of their declaration.
            pub fn entries(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($field), self.$field),)*]
            }
        }
    };
}

counters! {
    /// What the capture has as a whole.
    Totals {
        /// Packets.
        packets,
        /// Bytes of their frames, as captured.
        frame_bytes,
        /// When the first was captured, ns since 1970.
        first_ns,
        /// When the last was captured, ns since 1970.
        last_ns,
        /// Packets with an earlier time than one before them; they are taken as of that time.
        backward_packets,
        /// The largest such step, ns.
        backward_ns,
        /// Packets that are later than the next by more than a second, while that is no earlier than the one before; they are taken as of the next.
        wrong_times,
        /// Packets of TCP.
        tcp_packets,
        /// Packets of UDP.
        udp_packets,
        /// Echoes.
        echo_packets,
        /// Fragments, of which only the first has ports.
        fragment_packets,
        /// Packets of other protocols.
        other_packets,
        /// Packets that the capture cut within the headers, so that they are of no connection.
        cut_packets,
        /// Packets of TCP that the capture cut within their options, so that timestamps and SACK blocks are missing.
        cut_options_packets,
        /// Packets within others.
        tunneled_packets,
        /// Packets of which the capture says which way they went: its machine's way, or between which stations of Ethernet.
        sided_packets,
        /// Packets of interfaces beyond the limit, left out of everything else.
        other_interface_packets,
        /// Connections.
        connections,
        /// Of those, ended because others took their place.
        evicted_connections,
        /// Of those, not in the tables, because others have more bytes.
        left_out_connections,
        /// Their bytes, with IP's headers.
        left_out_bytes,
        /// IP bytes of UDP's port 443, which are QUIC.
        quic_bytes,
        /// Of those, of connections whose round trips the spin bit shows. Of the others only the handshake can be seen.
        spinning_bytes,
    }
}

/// What a capture tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// Of the whole capture.
    pub totals: Totals,
    /// One row a connection.
    pub connections: Connections,
    /// Two rows a connection.
    pub directions: Directions,
    /// Time series of the round trips of long flows.
    pub trips: Trips,
    /// Times at which losses began.
    pub losses: Losses,
    /// One row an interface and direction.
    pub links: Links,
    /// Time series of who uses them.
    pub seconds: Seconds,
    /// What waits for them.
    pub queueing: Queueing,
    /// Time series of that.
    pub moments: Moments,
    /// Distributions.
    pub distributions: Distributions,
}

impl Observation {
    /// The tables with their names, but not the totals.
    pub fn into_tables(self) -> Vec<(&'static str, Vec<(&'static str, Column)>)> {
        vec![
            ("connections", self.connections.into_columns()),
            ("directions", self.directions.into_columns()),
            ("trips", self.trips.into_columns()),
            ("losses", self.losses.into_columns()),
            ("links", self.links.into_columns()),
            ("seconds", self.seconds.into_columns()),
            ("queueing", self.queueing.into_columns()),
            ("moments", self.moments.into_columns()),
            ("distributions", self.distributions.into_columns()),
        ]
    }
}

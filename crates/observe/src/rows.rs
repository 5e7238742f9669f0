//! Connections that are over, as rows of tables.

use crate::connection::Connection;
use crate::key::Key;
use crate::leg::Leg;
use crate::observation::{
    ConnectionRow, Connections, DirectionRow, Directions, LossRow, Losses, TripRow, Trips,
};
use crate::silences::Silences;
use crate::vantage::vantage;

/// The rows of a connection.
#[derive(Clone, Debug)]
struct Finished {
    number: u64,
    bytes: u64,
    connection: ConnectionRow,
    directions: [DirectionRow; 2],
    trips: Vec<TripRow>,
    losses: Vec<LossRow>,
}

/// The connections that are reported: those with the most bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    most: usize,
    finished: Vec<Finished>,
    left_out: u64,
    left_out_bytes: u64,
}

impl Rows {
    pub(crate) fn new(most: usize) -> Rows {
        Rows { most: most.min(u32::MAX as usize), ..Rows::default() }
    }

    pub(crate) fn add(&mut self, key: &Key, connection: &Connection, is_evicted: bool) {
        let directions = [0, 1].map(|sender| direction_row(connection, sender));
        let row = ConnectionRow { is_evicted: is_evicted.into(), ..connection_row(key, connection) };
        let bytes = directions.iter().map(|row| row.ip_bytes).sum();
        let (trips, losses) = (trip_rows(connection), loss_rows(connection));
        let finished =
            Finished { number: connection.number, bytes, connection: row, directions, trips, losses };
        self.finished.push(finished);
        if self.finished.len() > self.most.saturating_mul(2) {
            self.cut();
        }
    }

    /// The tables, and how many connections with how many bytes are left out.
    pub(crate) fn finish(mut self) -> (Connections, Directions, Trips, Losses, (u64, u64)) {
        self.cut();
        self.finished.sort_unstable_by_key(|finished| finished.number);
        let (mut connections, mut directions) = (Connections::default(), Directions::default());
        let (mut trips, mut losses) = (Trips::default(), Losses::default());
        for (connection, finished) in (0..).zip(self.finished) {
            connections.push(ConnectionRow { connection, ..finished.connection });
            finished
                .directions
                .into_iter()
                .for_each(|row| directions.push(DirectionRow { connection, ..row }));
            finished.trips.into_iter().for_each(|row| trips.push(TripRow { connection, ..row }));
            finished.losses.into_iter().for_each(|row| losses.push(LossRow { connection, ..row }));
        }
        (connections, directions, trips, losses, (self.left_out, self.left_out_bytes))
    }

    fn cut(&mut self) {
        if self.finished.len() <= self.most {
            return;
        }
        self.finished.sort_unstable_by_key(|finished| (u64::MAX - finished.bytes, finished.number));
        for gone in self.finished.drain(self.most..) {
            self.left_out += 1;
            self.left_out_bytes += gone.bytes;
        }
    }
}

/// Of both directions, ahead of the vantage point and behind.
fn trip_rows(connection: &Connection) -> Vec<TripRow> {
    let mut rows = Vec::new();
    for (sender, sides) in connection.trips.iter().enumerate() {
        for (behind, trips) in sides.iter().enumerate() {
            let least_ns = connection.legs[sender ^ behind].least.smallest().unwrap_or(0);
            let row = TripRow {
                sender: sender as u32,
                is_ahead: 1 - behind as u32,
                least_ns,
                ..TripRow::default()
            };
            rows.extend(trips.rows(&row));
        }
    }
    rows
}

/// Of both directions, ahead of the vantage point and behind.
fn loss_rows(connection: &Connection) -> Vec<LossRow> {
    let mut rows = Vec::new();
    for (sender, sides) in connection.lost.iter().enumerate() {
        for (behind, losses) in sides.iter().enumerate() {
            let least_ns = connection.legs[sender ^ behind].least.smallest().unwrap_or(0);
            rows.extend(losses.kept().iter().map(|&(at_ns, trip_ns)| LossRow {
                connection: 0,
                sender: sender as u32,
                is_ahead: 1 - behind as u32,
                at_ns,
                trip_ns,
                least_ns,
                episodes: losses.every(),
            }));
        }
    }
    rows
}

fn connection_row(key: &Key, connection: &Connection) -> ConnectionRow {
    let [initiator, responder] = connection.ends(key);
    let sender = usize::from(connection.counts[1].payload_bytes > connection.counts[0].payload_bytes);
    let (sender_share, place) = vantage(&connection.legs, sender);
    let (rtt, low) = connection.path_rtt().map_or((f64::NAN, f64::NAN), |(rtt, low)| (rtt as f64, low));
    let tcp = connection.as_tcp().map(|state| &state.sending);
    ConnectionRow {
        connection: 0,
        interface: key.interface,
        protocol: key.protocol as u32,
        initiator: initiator.0.to_string(),
        initiator_port: initiator.1.into(),
        responder: responder.0.to_string(),
        responder_port: responder.1.into(),
        direction: connection.direction as u32,
        is_opened: connection.is_opened.into(),
        is_evicted: 0,
        first_ns: connection.first_ns,
        last_ns: connection.last_ns,
        path_rtt_ns: rtt,
        path_rtt_low_ns: low,
        sender_share,
        vantage: place as u32,
        has_sack: tcp.is_some_and(|ends| ends.iter().all(|end| end.sack_permitted)).into(),
        has_timestamps: tcp.is_some_and(|ends| ends.iter().all(|end| end.has_stamps)).into(),
        is_spinning: connection.as_quic().unwrap_or(false).into(),
    }
}

fn direction_row(connection: &Connection, sender: usize) -> DirectionRow {
    let counts = &connection.counts[sender];
    let sending = connection.as_tcp().map(|state| &state.sending[sender]);
    let Leg { least, samples, largest, sketch } = &connection.legs[sender];
    let silences = sending.map(|end| &end.silences);
    let of_silences = |value: fn(&Silences) -> f64| silences.map_or(f64::NAN, value);
    let quantile = |part| sketch.quantile(part).unwrap_or(f64::NAN);
    DirectionRow {
        connection: 0,
        sender: sender as u32,
        direction: (connection.direction ^ sender) as u32,
        packets: counts.packets,
        ip_bytes: counts.ip_bytes,
        payload_bytes: counts.payload_bytes,
        segments: counts.segments,
        large_packets: counts.large_packets,
        large_segments: counts.large_segments,
        largest_segment_bytes: counts.largest_bytes,
        mss_bytes: sending.and_then(|end| end.mss).map_or(0, u32::from),
        retransmitted_segments: counts.retransmitted_segments,
        retransmitted_bytes: counts.retransmitted_bytes,
        lost_before_segments: counts.lost_before_segments,
        spurious_segments: sending.map_or(0, |end| end.repeats.spurious().into()),
        dsack_segments: sending.map_or(0, |end| end.repeats.reported.into()),
        loss_episodes: counts.loss_episodes.into(),
        start_segments: counts.start_segments,
        start_retransmitted_segments: counts.start_retransmitted_segments,
        silences: silences.map_or(0, |all| all.times.number.into()),
        silence_mean_ns: of_silences(|all| all.times.mean()),
        silence_deviation_ns: of_silences(|all| all.times.deviation()),
        burst_mean_bytes: of_silences(|all| all.bursts.mean()),
        burst_deviation_bytes: of_silences(|all| all.bursts.deviation()),
        reordered_segments: counts.reordered_segments,
        ect0_packets: counts.ect0_packets,
        ect1_packets: counts.ect1_packets,
        ce_packets: counts.ce_packets,
        ece_packets: counts.ece_packets,
        mark_episodes: sending.map_or(0, |end| end.marks.episodes()),
        has_accurate_ecn: sending.is_some_and(|end| end.marks.is_accurate()).into(),
        sack_packets: counts.sack_packets,
        zero_windows: counts.zero_windows,
        missed_bytes: counts.missed_bytes,
        doubled_packets: counts.doubled_packets,
        strange_packets: counts.strange_packets,
        rtt_samples: (*samples).into(),
        rtt_min_ns: least.smallest().map_or(f64::NAN, |rtt| rtt as f64),
        rtt_low_ns: least.low().unwrap_or(f64::NAN),
        rtt_median_ns: quantile(0.5),
        rtt_p90_ns: quantile(0.9),
        rtt_p95_ns: quantile(0.95),
        rtt_p99_ns: quantile(0.99),
        rtt_max_ns: if sketch.total() > 0 { *largest as f64 } else { f64::NAN },
    }
}

//! Captures, from the file to what they tell.

use std::io::Cursor;

use bufferlab_capture::reading::{Reader, Report};
use bufferlab_observe::{Column, Limits, Observation, Observer, Table};

/// Small, so that a few hundred packets reach all of them.
const LIMITS: Limits = Limits {
    flows: 4,
    rows: 10,
    bins: 64,
    interfaces: 3,
    idle_ns: 100_000_000,
    joined: false,
    inside: Vec::new(),
    only: Vec::new(),
};

/// A capture, read and analyzed: that ends, and what is kept is bounded. Returns nothing if it is no capture.
pub fn observed(bytes: &[u8]) -> Option<(Report, Observation)> {
    let mut reader = Reader::new(Box::new(Cursor::new(bytes.to_vec()))).ok()?;
    let mut observer = Observer::new(LIMITS);
    reader.by_ref().for_each(|packet| observer.packet(&packet));
    let (report, seen) = (reader.report(), observer.finish());
    check(&report, &seen);
    Some((report, seen))
}

/// What a fuzzer calls.
pub fn observation(bytes: &[u8]) {
    drop(observed(bytes));
}

fn check(report: &Report, seen: &Observation) {
    let totals = &seen.totals;
    assert_eq!(totals.packets, report.packets, "each packet is seen");
    let at_links = seen.links.packets.iter().sum::<u64>();
    assert_eq!(
        at_links + totals.other_interface_packets,
        totals.packets,
        "each packet is of a link, or counted"
    );
    assert!(seen.links.packets.len() <= 2 * LIMITS.interfaces);
    assert!(seen.connections.connection.len() <= LIMITS.rows);
    assert!(seen.seconds.packets.len() <= 2 * LIMITS.interfaces * LIMITS.bins);
    assert!(seen.moments.samples.len() <= 2 * LIMITS.interfaces * LIMITS.bins);
    assert!(
        seen.trips
            .clone()
            .into_columns()
            .iter()
            .all(|(_, column)| rows(column) <= 2 * LIMITS.rows * LIMITS.bins)
    );
    for (name, column) in all(seen) {
        let Column::F64(values) = column else { continue };
        let bad = values.iter().find(|value| value.is_infinite() || **value < 0.0);
        assert_eq!(bad, None, "{name}: {values:?}");
    }
}

/// The columns of estimates; not known is not a number.
fn all(seen: &Observation) -> Vec<(&'static str, Column)> {
    let tables = [
        seen.connections.clone().into_columns(),
        seen.directions.clone().into_columns(),
        seen.links.clone().into_columns(),
        seen.queueing.clone().into_columns(),
        seen.moments.clone().into_columns(),
        seen.distributions.clone().into_columns(),
    ];
    tables.into_iter().flatten().collect()
}

fn rows(column: &Column) -> usize {
    match column {
        Column::U32(values) => values.len(),
        Column::U64(values) => values.len(),
        Column::F64(values) => values.len(),
        Column::Text(values) => values.len(),
    }
}

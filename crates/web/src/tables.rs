//! The tables of a run that ended.

use bufferlab_simulator::{Column, Outcome, Plan, Table};
use serde::Serialize;

use crate::summary::{self, Summary};

/// The columns of each table.
pub type Tables = Vec<Vec<Column>>;

/// Which tables there are.
#[derive(Serialize)]
pub struct Head {
    reached_ps: u64,
    events: u64,
    packets: u64,
    summary: Summary,
    tables: Vec<TableHead>,
}

#[derive(Serialize)]
struct TableHead {
    name: &'static str,
    /// Names and types: "u32", "u64", "f64".
    columns: Vec<(&'static str, &'static str)>,
}

/// Takes an outcome apart.
pub fn of(outcome: Outcome, plan: &Plan) -> (Head, Tables) {
    let summary = summary::of(&outcome, plan);
    let (reached_ps, events, packets) = (outcome.reached_ps, outcome.events, outcome.packets);
    let named = [
        ("flows", outcome.flows.into_columns()),
        ("queues", outcome.queues.into_columns()),
        ("histograms", outcome.histograms.into_columns()),
        ("classes", outcome.classes.into_columns()),
        ("class_histograms", outcome.class_histograms.into_columns()),
        ("queue_samples", outcome.queue_samples.into_columns()),
        ("class_samples", outcome.class_samples.into_columns()),
        ("sender_samples", outcome.sender_samples.into_columns()),
        ("receiver_samples", outcome.receiver_samples.into_columns()),
        ("exchanges", outcome.exchanges.into_columns()),
        ("segments", outcome.segments.into_columns()),
    ];
    let (mut heads, mut tables) = (Vec::new(), Vec::new());
    for (name, columns) in named {
        let head = columns.iter().map(|(column, values)| (*column, kind(values)));
        heads.push(TableHead { name, columns: head.collect() });
        tables.push(columns.into_iter().map(|(_, values)| values).collect());
    }
    (Head { reached_ps, events, packets, summary, tables: heads }, tables)
}

fn kind(column: &Column) -> &'static str {
    match column {
        Column::U32(_) => "u32",
        Column::U64(_) => "u64",
        Column::F64(_) => "f64",
    }
}

/// A column's values, one behind the other.
pub fn bytes(column: &Column) -> Vec<u8> {
    match column {
        Column::U32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        Column::U64(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        Column::F64(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
    }
}

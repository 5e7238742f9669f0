//! What a flow's hosts exchange, one by one: bursts of data, what is fetched, datagrams, pings.

use bufferlab_units::Time;

use crate::outcome::ExchangeTable;

/// One exchange.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    start: Time,
    /// [`Time::NEVER`] until it is done.
    end: Time,
    bytes: u64,
}

/// The exchanges of a flow, in the order in which they began.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExchangeLog {
    rows: Vec<Exchange>,
    /// Sum of the answers' times, ps.
    pub(crate) rtt_sum_ps: f64,
    /// Answers.
    pub(crate) rtt_samples: u64,
}

impl ExchangeLog {
    /// One begins.
    pub(crate) fn open(&mut self, start: Time, bytes: u64) {
        self.rows.push(Exchange { start, end: Time::NEVER, bytes });
    }

    /// Exchange `number` is done, unless it was before.
    pub(crate) fn close(&mut self, number: usize, end: Time) {
        if let Some(row) = self.rows.get_mut(number) {
            row.end = row.end.min(end);
        }
    }

    /// Exchange `number` is answered.
    pub(crate) fn answer(&mut self, number: usize, now: Time) {
        if let Some(row) = self.rows.get(number).filter(|row| row.end == Time::NEVER) {
            self.rtt_sum_ps += (now - row.start).as_ps() as f64;
            self.rtt_samples += 1;
        }
        self.close(number, now);
    }

    /// The last one is done, unless it was before.
    pub(crate) fn close_last(&mut self, end: Time) {
        if let Some(row) = self.rows.last_mut() {
            row.end = row.end.min(end);
        }
    }

    /// How many have begun.
    pub(crate) fn begun(&self) -> usize {
        self.rows.len()
    }

    /// When the last one began.
    pub(crate) fn last_start(&self) -> Time {
        self.rows.last().map_or(Time::ZERO, |row| row.start)
    }

    /// Writes the exchanges that had begun before `end`, the run's.
    pub(crate) fn report(&self, flow: u32, end: Time, table: &mut ExchangeTable) {
        for (number, row) in self.rows.iter().enumerate().filter(|(_, row)| row.start < end) {
            table.flow.push(flow);
            table.number.push(number as u64);
            table.start_ps.push(row.start.as_ps());
            table.end_ps.push(if row.end < end { row.end.as_ps() } else { u64::MAX });
            table.bytes.push(row.bytes);
        }
    }
}

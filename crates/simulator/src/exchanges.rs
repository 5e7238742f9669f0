//! What a flow's hosts exchange, one by one: bursts of data, what is fetched, datagrams, pings.

use bufferlab_units::{Span, Time};

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
            self.note_rtt(now - row.start);
        }
        self.close(number, now);
    }

    /// A round trip was measured.
    pub(crate) fn note_rtt(&mut self, rtt: Span) {
        self.rtt_sum_ps += rtt.as_ps() as f64;
        self.rtt_samples += 1;
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

    /// When each began.
    pub(crate) fn starts(&self) -> impl Iterator<Item = Time> {
        self.rows.iter().map(|row| row.start)
    }

    /// When the last one began.
    pub(crate) fn last_start(&self) -> Time {
        self.rows.last().map_or(Time::ZERO, |row| row.start)
    }

    /// How long the last one that is done by `now` took.
    pub(crate) fn last_duration(&self, now: Time) -> Option<Span> {
        self.rows.iter().rev().find(|row| row.end <= now).map(|row| row.end - row.start)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_exchange_is_the_newest_that_is_done() {
        let mut log = ExchangeLog::default();
        assert_eq!(log.last_duration(Time::from_ps(9)), None);
        (1..4).for_each(|start| log.open(Time::from_ps(start), 100));
        log.close(0, Time::from_ps(5));
        log.close(1, Time::from_ps(8));
        assert_eq!(log.last_duration(Time::from_ps(4)), None);
        assert_eq!(log.last_duration(Time::from_ps(7)), Some(Span::from_ps(4)));
        assert_eq!(log.last_duration(Time::from_ps(9)), Some(Span::from_ps(6)));
    }
}

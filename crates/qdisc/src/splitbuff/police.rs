//! Flows that have more than their share, found without state of any flow.
//!
//! Bytes of flows are counted in a count-min sketch (G. Cormode and S. Muthukrishnan, "An improved data stream summary: the
//! count-min sketch and its applications", J. Algorithms 55(1), 2005, section 3) with conservative update (C. Estan and
//! G. Varghese, "New directions in traffic measurement and accounting", SIGCOMM 2002, section 3.3): a counter is only ever
//! too large. Each is a leaky bucket that loses, each period, what a flow may send in one: a multiple of the link's
//! rate over the number of flows. Packets of a flow whose bucket is full are refused where there is a queue, else
//! they pass: so it is with packets that are "out" of their profile in D. Clark and W. Fang, "Explicit allocation of
//! best-effort packet delivery service", IEEE/ACM Trans. Networking 6(4), 1998. What the others leave is not lost.
//!
//! - **Flows are counted** by linear counting, as weights count them. Those that send less than [`SMALL`] of a share, as
//!   pings do, do not count, unless a packet of theirs found no room: who is starved sends little, too. The number falls
//!   by an eighth a period at most, since who waits for a timeout is still there.
//! - **A bucket holds** [`DEPTH`] periods. A flow that was refused is so again no later than that after it slowed down.

use super::sketch::FlowSketch;

/// Part of a share below which a flow does not count.
const SMALL: f64 = 0.125;
/// Rows of the sketch, and counters of each.
const ROWS: usize = 4;
const COLUMNS: usize = 1024;
/// Periods of its share that a flow may be ahead.
const DEPTH: f64 = 4.0;
/// What is left of the number of flows after a period in which none came.
const KEPT: f64 = 7.0 / 8.0;

/// Bytes of flows, about, beyond what each may send.
#[derive(Clone, Debug)]
pub(super) struct Police {
    /// Most that a flow may have, in fair shares.
    multiple: f64,
    /// What a flow may send in a period, bytes; nothing before the first is over.
    allowance: Option<f64>,
    counters: Vec<f32>,
    flows: FlowSketch,
    /// Flows, about.
    count: f64,
    seed: u64,
}

impl Police {
    pub(super) fn new(multiple: f64) -> Police {
        let counters = vec![0.0; ROWS * COLUMNS];
        Police { multiple, allowance: None, counters, flows: FlowSketch::new(), count: 0.0, seed: 0 }
    }

    /// Chance decides, by this seed, which flows share counters.
    pub(super) fn seed(&mut self, seed: u64) {
        self.seed = seed;
    }

    pub(super) fn bytes(&self) -> usize {
        size_of::<Police>() + size_of_val(self.counters.as_slice()) + self.flows.bytes()
    }

    /// Where a flow's counters are.
    fn places(&self, flow: u32) -> [usize; ROWS] {
        let hash = super::mixed(self.seed, flow.wrapping_add(1));
        let hash = hash ^ (hash >> 31);
        std::array::from_fn(|row| row * COLUMNS + (hash >> (10 * row)) as usize % COLUMNS)
    }

    fn counted(&self, places: [usize; ROWS]) -> f32 {
        places.iter().map(|&place| self.counters[place]).fold(f32::INFINITY, f32::min)
    }

    /// A flow's packet finds no room: who is starved counts, too.
    pub(super) fn note_loss(&mut self, flow: u32) {
        self.flows.note(flow);
    }

    /// Whether a flow has had more than it may.
    pub(super) fn is_ahead(&self, flow: u32) -> bool {
        let counted = || f64::from(self.counted(self.places(flow)));
        self.allowance.is_some_and(|allowance| counted() > DEPTH * allowance)
    }

    /// A flow's packet is taken.
    pub(super) fn note(&mut self, flow: u32, bytes: u32) {
        let places = self.places(flow);
        let most = self.allowance.map_or(f64::INFINITY, |allowance| 2.0 * DEPTH * allowance);
        let counted = (self.counted(places) + bytes as f32).min(most as f32);
        if self.allowance.is_none_or(|allowance| f64::from(counted) >= SMALL * allowance) {
            self.flows.note(flow);
        }
        for place in places {
            self.counters[place] = self.counters[place].max(counted);
        }
    }

    /// A period is over, in which the link could send this many bytes.
    pub(super) fn end_period(&mut self, bytes: f64) {
        self.count = self.flows.take().max(KEPT * self.count).max(1.0);
        let allowance = self.multiple * bytes / self.count;
        self.allowance = Some(allowance);
        for counter in &mut self.counters {
            // what came before the first share was known, or when shares were larger
            let most = (2.0 * DEPTH * allowance) as f32;
            *counter = (counter.min(most) - allowance as f32).max(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flows have sent this many bytes in each of ten periods, in which a fair share was 1000 bytes.
    fn after(sent: &[u32], multiple: f64) -> Police {
        let mut police = Police::new(multiple);
        police.seed(7);
        for _ in 0..10 {
            for (flow, &bytes) in sent.iter().enumerate() {
                police.note(flow as u32, bytes);
            }
            police.end_period(1_000.0 * sent.len() as f64);
        }
        police
    }

    #[test]
    fn who_sends_more_than_its_share_is_ahead_after_a_while() {
        let mut sent = vec![1_000; 100];
        sent[3] = 3_000;
        let police = after(&sent, 1.1);
        assert!(police.is_ahead(3));
        let others = (0..100).filter(|&flow| flow != 3 && police.is_ahead(flow)).count();
        assert!(others <= 1, "flows that share all counters with it: {others}");
        assert!(!after(&sent, 10.0).is_ahead(3));
    }

    #[test]
    fn who_slows_down_is_free_again_after_a_few_periods() {
        let mut sent = vec![1_000; 100];
        sent[3] = 100_000;
        let mut police = after(&sent, 1.0);
        let periods = (0..20).position(|_| {
            police.end_period(100_000.0);
            !police.is_ahead(3)
        });
        assert!((1..6).contains(&periods.unwrap()), "{periods:?}");
    }

    #[test]
    fn nobody_is_ahead_before_a_first_period_and_the_state_does_not_grow() {
        let mut police = Police::new(1.0);
        (0..10_000).for_each(|flow| police.note(flow, 60_000));
        assert!(!police.is_ahead(5));
        assert!(police.bytes() < 18_000, "{}", police.bytes());
    }
}

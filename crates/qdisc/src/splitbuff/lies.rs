//! What a flow gains by reporting a wrong round-trip time, in a small simulation: windows that grow by one segment per
//! round trip and are halved at a loss, one link, and slots of one transmission time.

use std::collections::BTreeMap;

use super::tests::packet;
use super::*;
use crate::RttInformation;

const SLOT: Span = Span::from_us(800);
const SLOTS: u64 = 150_000;
const WARMUP: u64 = 50_000;
/// What a header holds.
const LONGEST_MS: f64 = 4e6;

struct Source {
    rtt_ms: u32,
    /// The round-trip time that it states, as a multiple of its own.
    lie: f64,
    window: f64,
    inflight: u32,
    srtt_ms: f64,
    /// Losses of packets sent before are of the same event.
    calm_until: u64,
    served: u64,
}

/// Parts of the link of flows with these round-trip times and lies, each behind the other.
fn parts(config: SplitBuffConfig, flows: &[(u32, f64)]) -> Vec<f64> {
    let config = SplitBuffConfig { first_update: Some(Span::from_ms(60)), ..config };
    let (classes, rate) = (Classes::Rtt(RttInformation::Header), Rate::from_bps(10_000_000).unwrap());
    let mut queue = SplitBuff::new(config, classes, Limit::Packets(500), rate);
    let mut sources: Vec<Source> = flows
        .iter()
        .map(|&(rtt_ms, lie)| Source {
            rtt_ms,
            lie,
            window: 2.0,
            inflight: 0,
            srtt_ms: f64::from(rtt_ms),
            calm_until: 0,
            served: 0,
        })
        .collect();
    // what comes back, by slot: the flow, and how long its packet waited; nothing if it was lost
    let mut back = BTreeMap::<u64, Vec<(usize, Option<f64>)>>::new();
    let mut drops = Drops::new();
    for slot in 0..SLOTS {
        let now = Time::ZERO + SLOT.saturating_mul(slot);
        for (flow, wait_ms) in back.remove(&slot).unwrap_or_default() {
            sources[flow].hear(slot, wait_ms);
        }
        // a random order: neither the first nor the last always finds the queue as the others left it
        let first = (slot.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as usize % flows.len();
        for turn in 0..flows.len() {
            let flow = (first + turn) % flows.len();
            if f64::from(sources[flow].inflight) < sources[flow].window.floor() {
                sources[flow].inflight += 1;
                let stated_ms = (sources[flow].srtt_ms * sources[flow].lie).min(LONGEST_MS) as u32;
                queue.enqueue(now, packet(flow as u32, slot as u32, stated_ms), &mut drops);
            }
        }
        let served = queue.dequeue(now, &mut drops);
        let lost = drops.drain(..).map(|dropped| (dropped.packet, None));
        let served = served.map(|packet| (packet, Some((now - packet.enqueued).as_s() * 1e3)));
        for (packet, wait_ms) in lost.chain(served) {
            let source = &mut sources[packet.flow as usize];
            source.served += u64::from(wait_ms.is_some() && slot >= WARMUP);
            let at = slot + u64::from(source.rtt_ms) * 1_000 / 800;
            back.entry(at).or_default().push((packet.flow as usize, wait_ms));
        }
    }
    sources.iter().map(|source| source.served as f64 / (SLOTS - WARMUP) as f64).collect()
}

impl Source {
    fn hear(&mut self, slot: u64, wait_ms: Option<f64>) {
        self.inflight -= 1;
        if let Some(wait_ms) = wait_ms {
            self.window += 1.0 / self.window;
            self.srtt_ms += (f64::from(self.rtt_ms) + wait_ms - self.srtt_ms) / 8.0;
        } else if slot >= self.calm_until {
            self.window = (self.window / 2.0).max(2.0);
            self.calm_until = slot + (self.srtt_ms / 0.8) as u64;
        }
    }
}

/// Four flows of 20 ms, two of 200 ms, the first of each with a lie.
fn with_lies(short: f64, long: f64) -> Vec<f64> {
    parts(
        SplitBuffConfig::default(),
        &[(20, short), (20, 1.0), (20, 1.0), (20, 1.0), (200, long), (200, 1.0)],
    )
}

#[test]
fn who_says_a_long_time_gains_no_more_than_the_part_of_those_with_a_long_time() {
    let (honest, lied) = (with_lies(1.0, 1.0), with_lies(10.0, 1.0));
    let sum = |parts: &[f64]| parts.iter().sum::<f64>();
    // served alike: half the link for each side, as long as both can use it
    assert!((sum(&honest[..4]) - 0.5).abs() < 0.03, "{honest:?}");
    // it may have nearly all of the other half, where its round trips are ten times as short, and no more
    assert!(lied[0] > 3.0 * honest[0], "{honest:?} {lied:?}");
    assert!((sum(&lied[4..]) + lied[0] - 0.5).abs() < 0.05, "{honest:?} {lied:?}");
    // those whom it leaves lose nothing, those whom it joins pay
    assert!((1..4).all(|flow| lied[flow] > honest[flow]), "{honest:?} {lied:?}");
    assert!((4..6).all(|flow| lied[flow] < honest[flow] / 10.0), "{honest:?} {lied:?}");
}

#[test]
fn who_says_a_short_time_loses() {
    let (honest, lied) = (with_lies(1.0, 1.0), with_lies(1.0, 0.1));
    assert!(lied[4] < honest[4] / 2.0 && lied[5] > honest[5], "{honest:?} {lied:?}");
}

/// Eight flows of 20 ms of which one states a multiple of that.
fn with_liar(config: SplitBuffConfig, lie: f64) -> Vec<f64> {
    let mut flows = [(20, 1.0); 8];
    flows[0].1 = lie;
    parts(config, &flows)
}

const LIES: [f64; 4] = [5.0, 50.0, 500.0, 5_000.0];

/// Windows here never fall below two segments and none waits for a timeout, so the others keep more than in a network.
#[test]
fn who_states_a_time_far_beyond_all_others_gains_under_both() {
    let weighted =
        SplitBuffConfig { weighted: true, thresholds: Thresholds::Gaps, ..SplitBuffConfig::default() };
    for (config, least) in [(SplitBuffConfig::default(), 0.45), (weighted, 0.2)] {
        let parts = with_liar(config, 5_000.0);
        assert!(parts[0] > least, "{config:?} {parts:?}");
    }
}

#[test]
fn policed_and_sized_by_its_own_flows_it_gains_a_tenth_at_most() {
    let defended = SplitBuffConfig { sizes: Sizes::Own, police: Some(1.0), ..SplitBuffConfig::default() };
    let weighted = SplitBuffConfig { weighted: true, thresholds: Thresholds::Gaps, ..defended };
    for config in [defended, weighted] {
        for lie in LIES {
            let parts = with_liar(config, lie);
            assert!(parts[0] < 1.1, "{config:?} {lie} {parts:?}");
            // and the others have the rest, alike
            assert!(parts.iter().sum::<f64>() > 0.97, "{config:?} {lie} {parts:?}");
            assert!(parts[1..].iter().all(|&part| part > 0.9 / 8.0), "{config:?} {lie} {parts:?}");
        }
    }
}

#[test]
fn a_size_of_its_own_leaves_a_liar_a_whole_sub_buffer() {
    let sized = SplitBuffConfig { sizes: Sizes::Own, ..SplitBuffConfig::default() };
    let parts = with_liar(sized, 500.0);
    assert!(parts[0] > 0.45, "{parts:?}");
}

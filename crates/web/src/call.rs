//! How good calls were: the rating R and the mean opinion score.
//!
//! Sources: ITU-T G.107 (06/2015), sections 7.4 and 7.5 and annex B; codecs as in G.113 (11/2007), appendix I. What counts as a
//! call, and its jitter buffer, are those of `python/bufferlab/results/latency/voice.py`, which says why; tests/web compares
//! the two.

use bufferlab_simulator::{Outcome, Plan, SourcePlan};
use bufferlab_transport::Variate;
use serde::Serialize;

const PS_PER_MS: f64 = 1e9;
const PS_PER_S: u64 = 1_000_000_000_000;

/// R without delay and loss, all that a packet network does not change at its default (G.107, table 3).
const BEST: f64 = 93.206_207_723_275_71;
/// The shortest delay that is noticed, ms (section 7.4).
const NOTICED_MS: f64 = 100.0;
/// The most that codec and loss together cost (section 7.5).
const MOST_IMPAIRMENT: f64 = 95.0;

/// How many of 1000 packets that come a jitter buffer may wait for.
const PLAYED: [usize; 7] = [900, 950, 980, 990, 995, 999, 1000];
/// After which a call of which nothing came is dead, ps.
const PATIENCE_PS: u64 = PS_PER_S;
/// The most speech in a packet (RFC 3551, section 4.2).
const MOST_SPEECH_PS: u64 = 200 * PS_PER_S / 1000;
/// IPv4, UDP and RTP.
const HEADER_BYTES: u32 = 40;

/// Means over the calls of a group.
#[derive(Clone, Copy, Serialize)]
pub struct Call {
    /// R, 0 to 100.
    rating: f64,
    /// Mean opinion score, 1 to 4.5.
    score: f64,
    /// From mouth to ear, ms; none of calls of which nothing came.
    delay_ms: Option<f64>,
}

/// How one call was.
#[derive(Clone, Copy)]
struct Heard {
    rating: f64,
    delay_ms: Option<f64>,
}

struct Codec {
    /// Ie.
    impairment: f64,
    /// Bpl, %.
    robustness: f64,
    lookahead_ms: f64,
}

const G711: Codec = Codec { impairment: 0.0, robustness: 25.1, lookahead_ms: 0.0 };
const G729A: Codec = Codec { impairment: 11.0, robustness: 19.0, lookahead_ms: 5.0 };
const G729A_BPS: u64 = 8_000;

/// A packet: when it was sent, and how long it took, ps; none of one that did not come.
type Sent = (u64, Option<u64>);

/// How a group's calls were; nothing if it has none.
pub fn of_group(outcome: &Outcome, plan: &Plan, group: usize) -> Option<Call> {
    let (codec, interval_ps) = codec_of(&plan.groups[group].source)?;
    let ahead_ms = interval_ps as f64 / PS_PER_MS + codec.lookahead_ms;
    let flows = (0..plan.flows.group.len()).filter(|&flow| plan.flows.group[flow] as usize == group);
    let calls: Vec<Heard> = flows
        .filter_map(|flow| {
            assess(&packets_of(outcome, plan, flow as u32), ahead_ms, &codec, outcome.reached_ps)
        })
        .collect();
    Some(Call {
        rating: mean(calls.iter().map(|call| call.rating))?,
        score: mean(calls.iter().map(|call| opinion_score(call.rating)))?,
        delay_ms: mean(calls.iter().filter_map(|call| call.delay_ms)),
    })
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}

fn codec_of(source: &SourcePlan) -> Option<(Codec, u64)> {
    let SourcePlan::Udp(source) = source else { return None };
    let config = &source.config;
    let is_even = (config.arrivals, config.sizes) == (Variate::Constant, Variate::Constant);
    let speech_bits = 8 * u64::from(config.packet_bytes.saturating_sub(HEADER_BYTES));
    let interval_ps = config.interval.as_ps();
    let is_speech = speech_bits > 0 && interval_ps <= MOST_SPEECH_PS;
    if source.echo || !source.record || !is_even || !is_speech {
        return None;
    }
    let slow =
        u128::from(speech_bits) * u128::from(PS_PER_S) <= u128::from(G729A_BPS) * u128::from(interval_ps);
    Some((if slow { G729A } else { G711 }, interval_ps))
}

/// What a flow sent in the measured window.
fn packets_of(outcome: &Outcome, plan: &Plan, flow: u32) -> Vec<Sent> {
    let table = &outcome.exchanges;
    let rows =
        (0..table.flow.len()).filter(|&row| table.flow[row] == flow && table.start_ps[row] >= plan.warmup_ps);
    let mut numbered: Vec<_> =
        rows.map(|row| (table.number[row], table.start_ps[row], table.end_ps[row])).collect();
    numbered.sort_unstable();
    let took = |start: u64, end: u64| (end != u64::MAX).then(|| end - start);
    numbered.into_iter().map(|(_, start, end)| (start, took(start, end))).collect()
}

/// A call with the best fixed jitter buffer; nothing if none of it came and some may still come.
fn assess(sent: &[Sent], ahead_ms: f64, codec: &Codec, reached_ps: u64) -> Option<Heard> {
    let mut delays: Vec<u64> = sent.iter().filter_map(|&(_, delay)| delay).collect();
    delays.sort_unstable();
    let Some(&longest) = delays.last() else {
        let dead = Heard { rating: 0.0, delay_ms: None };
        return sent.iter().any(|&(start, _)| start + PATIENCE_PS < reached_ps).then_some(dead);
    };
    let known: Vec<_> = sent
        .iter()
        .filter(|&&(start, delay)| delay.is_some() || start + longest < reached_ps)
        .map(|&(_, delay)| delay)
        .collect();
    let quantile = |played: usize| delays[(played * (delays.len() - 1)).div_ceil(1000)];
    let heard = PLAYED.iter().map(|&played| {
        let wait = quantile(played);
        let missing: Vec<bool> = known.iter().map(|delay| delay.is_none_or(|delay| delay > wait)).collect();
        let delay_ms = ahead_ms + wait as f64 / PS_PER_MS;
        Heard { rating: rating(delay_ms, &missing, codec), delay_ms: Some(delay_ms) }
    });
    heard.reduce(|best, each| if each.rating > best.rating { each } else { best })
}

fn rating(delay_ms: f64, missing: &[bool], codec: &Codec) -> f64 {
    let count = missing.iter().filter(|&&is| is).count() as f64;
    let lost_percent = 100.0 * count / missing.len() as f64;
    let share = lost_percent / (lost_percent / burst_ratio(missing) + codec.robustness);
    let impairment = codec.impairment + (MOST_IMPAIRMENT - codec.impairment) * share;
    (BEST - delay_impairment(delay_ms) - impairment).clamp(0.0, 100.0)
}

/// Mean run of missing packets over that under random loss, at least 1.
fn burst_ratio(missing: &[bool]) -> f64 {
    let lost = missing.iter().filter(|&&is| is).count();
    if lost == 0 || lost == missing.len() {
        return 1.0;
    }
    let begins = missing.windows(2).filter(|pair| pair[1] && !pair[0]).count();
    let runs = begins + usize::from(missing[0]);
    (lost as f64 / runs as f64 * (1.0 - lost as f64 / missing.len() as f64)).max(1.0)
}

/// Idd (section 7.4).
fn delay_impairment(delay_ms: f64) -> f64 {
    if delay_ms <= NOTICED_MS {
        return 0.0;
    }
    let x = (delay_ms / NOTICED_MS).log2();
    let root = |of: f64| (1.0 + of.powi(6)).powf(1.0 / 6.0);
    25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
}

/// Annex B; below 6.5 its formula would fall below the worst opinion.
fn opinion_score(rated: f64) -> f64 {
    if rated >= 100.0 {
        return 4.5;
    }
    (1.0 + 0.035 * rated + rated * (rated - 60.0) * (100.0 - rated) * 7e-6).max(1.0)
}

//! What a link whose rate varies offers, worked out for the whole run at once.

use bufferlab_simulator::{CapacityPlan, MarkovState, RatePiece};
use bufferlab_units::{Span, Stream, Time};

/// The random stream of rates that change at random: part of what a plan means, so the number is the engine's.
const CAPACITY_STREAM: u32 = 21;
/// A byte's work, in bits times 10¹².
const BYTE: i128 = 8_000_000_000_000;

/// Rates by stretches of time, opportunities one by one, or a bucket.
pub(super) enum Capacity {
    /// Each stretch's end and rate, with the work done by then; beyond the last nothing is known, nor needed.
    Rates(Vec<Stretch>),
    /// Each opportunity's moment, and the bytes that are left of it.
    Opportunities(Vec<(Time, u64)>),
    Bucket {
        bps: i128,
        burst: i128,
        line_bps: i128,
        sent: Vec<(Time, i128)>,
        sent_bytes: i128,
    },
}

pub(super) struct Stretch {
    from: Time,
    to: Time,
    bps: i128,
    work_before: i128,
}

impl Capacity {
    pub(super) fn new(plan: &CapacityPlan, seed: u64, index: u32, end: Time) -> Capacity {
        let mut stream = Stream::new(seed, CAPACITY_STREAM, index);
        match plan {
            CapacityPlan::Rates { pieces, repeat_ps } => Capacity::Rates(listed(pieces, *repeat_ps, end)),
            CapacityPlan::Markov { states } => Capacity::Rates(markov(states, &mut stream, end)),
            CapacityPlan::Bursts { rate_bps, on_ps, off_low_ps, off_high_ps } => {
                let mut stretches = Vec::new();
                while reached(&stretches) < end {
                    let off = stream.uniform_span(Span::from_ps(*off_low_ps), Span::from_ps(*off_high_ps));
                    extend(&mut stretches, off.as_ps(), 0);
                    extend(&mut stretches, *on_ps, *rate_bps);
                }
                Capacity::Rates(stretches)
            }
            CapacityPlan::Opportunities { at_ms, bytes, repeat_ms } => {
                let rounds = (0..).map(|round| round * u64::from(*repeat_ms));
                let times = rounds.flat_map(|base| at_ms.iter().map(move |&at| base + u64::from(at)));
                let times = times.map(|ms| Time::from_ps(ms * 1_000_000_000)).take_while(|time| *time < end);
                Capacity::Opportunities(times.map(|time| (time, u64::from(*bytes))).collect())
            }
            CapacityPlan::Bucket { rate_bps, burst_bytes, line_bps } => Capacity::Bucket {
                bps: (*rate_bps).into(),
                burst: i128::from(*burst_bytes) * BYTE,
                line_bps: (*line_bps).into(),
                sent: Vec::new(),
                sent_bytes: 0,
            },
        }
    }

    /// When a packet may be taken: now, later, or not in this run. A packet that has just come cannot use this very moment's
    /// opportunity.
    pub(super) fn ready(&self, now: Time, has_come: bool) -> Option<Time> {
        match self {
            Capacity::Rates(stretches) => {
                let next = stretches.iter().find(|stretch| stretch.to > now && stretch.bps > 0)?;
                Some(next.from.max(now))
            }
            Capacity::Opportunities(list) => {
                let is_open = |time: Time| if has_come { time > now } else { time >= now };
                list.iter().find(|(time, left)| is_open(*time) && *left > 0).map(|(time, _)| *time)
            }
            Capacity::Bucket { .. } => Some(now),
        }
    }

    /// Takes a packet: when it will have left, if that is in this run, and its work between two moments. `owed` is what the
    /// packets before it have left undone within a picosecond.
    pub(super) fn send(
        &mut self,
        now: Time,
        bytes: u32,
        owed: &mut i128,
        window: (Time, Time),
    ) -> (Option<Time>, i128) {
        match self {
            Capacity::Rates(_) => {
                let goal = self.work(now) + *owed + i128::from(bytes) * BYTE;
                let Capacity::Rates(stretches) = self else { unreachable!() };
                let place = stretches.iter().position(|stretch| stretch.work_after() >= goal);
                let departs = place.map(|place| {
                    let stretch = &stretches[place];
                    let ps = (goal - stretch.work_before) / stretch.bps;
                    *owed = (goal - stretch.work_before) % stretch.bps;
                    stretch.from + Span::from_ps(ps as u64)
                });
                let (from, to) = (now.max(window.0), departs.unwrap_or(window.1).min(window.1));
                (departs, if to > from { self.work(to) - self.work(from) } else { 0 })
            }
            Capacity::Opportunities(list) => {
                let (mut needed, mut work, mut departs) = (u64::from(bytes), 0, None);
                for (time, left) in list.iter_mut().filter(|(time, left)| *time >= now && *left > 0) {
                    let used = needed.min(*left);
                    needed -= used;
                    *left -= used;
                    if window.0 <= *time && *time < window.1 {
                        work += i128::from(used) * BYTE;
                    }
                    if needed == 0 {
                        departs = Some(*time);
                        break;
                    }
                }
                (departs, work)
            }
            Capacity::Bucket { burst, bps, line_bps, sent, sent_bytes } => {
                let size = i128::from(bytes) * BYTE;
                let goal = size.min(*burst);
                let had = tokens(*bps, *burst, sent, now);
                let wait = ((goal - had).max(0) + *bps - 1) / *bps;
                let Ok(wait) = u64::try_from(wait) else { return (None, 0) };
                let starts = now.saturating_add(Span::from_ps(wait));
                if starts >= window.1 {
                    return (None, 0);
                }
                sent.push((starts, size));
                // all packets so far take their exact time on the line in all, rounded down to a picosecond
                let ps = |bytes: i128| bytes * BYTE / *line_bps;
                let takes = ps(*sent_bytes + i128::from(bytes)) - ps(*sent_bytes);
                *sent_bytes += i128::from(bytes);
                let work = if starts >= window.0 { size } else { 0 };
                (Some(starts + Span::from_ps(takes as u64)), work)
            }
        }
    }

    /// What could have been done between two moments.
    pub(super) fn offered(&self, from: Time, to: Time, bytes: u64) -> i128 {
        match self {
            Capacity::Rates(_) => self.work(to) - self.work(from),
            Capacity::Opportunities(list) => {
                let count = list.iter().filter(|(time, _)| from <= *time && *time < to).count();
                count as i128 * i128::from(bytes) * BYTE
            }
            Capacity::Bucket { bps, burst, sent, .. } => {
                let before: Vec<_> = sent.iter().copied().filter(|(at, _)| *at < from).collect();
                tokens(*bps, *burst, &before, from) + bps * i128::from((to - from).as_ps())
            }
        }
    }

    /// All work until a moment.
    fn work(&self, at: Time) -> i128 {
        let Capacity::Rates(stretches) = self else { unreachable!("only rates are asked") };
        let stretch = stretches.iter().rfind(|stretch| stretch.from <= at).expect("the first is from 0 on");
        stretch.work_before + stretch.bps * i128::from((at.min(stretch.to) - stretch.from).as_ps())
    }
}

impl Stretch {
    fn work_after(&self) -> i128 {
        self.work_before + self.bps * i128::from((self.to - self.from).as_ps())
    }
}

/// The tokens at a moment, from all that was sent: a bucket that starts full, and never holds more.
fn tokens(bps: i128, burst: i128, sent: &[(Time, i128)], now: Time) -> i128 {
    let (mut tokens, mut at) = (burst, Time::ZERO);
    for &(time, size) in sent {
        tokens = burst.min(tokens + bps * i128::from((time - at).as_ps())) - size;
        at = time;
    }
    burst.min(tokens + bps * i128::from((now - at).as_ps()))
}

fn reached(stretches: &[Stretch]) -> Time {
    stretches.last().map_or(Time::ZERO, |last| last.to)
}

fn extend(stretches: &mut Vec<Stretch>, ps: u64, bps: u64) {
    let from = reached(stretches);
    let work_before = stretches.last().map_or(0, Stretch::work_after);
    stretches.push(Stretch { from, to: from + Span::from_ps(ps), bps: bps.into(), work_before });
}

fn listed(pieces: &[RatePiece], repeat_ps: u64, end: Time) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    let last = pieces.last().expect("there is one").at_ps;
    let period = if repeat_ps == 0 { last.max(end.as_ps()) + 1 } else { repeat_ps };
    while reached(&stretches) < end {
        let ends = pieces.iter().skip(1).map(|piece| piece.at_ps).chain([period]);
        for (piece, next) in pieces.iter().zip(ends) {
            extend(&mut stretches, next - piece.at_ps, piece.rate_bps);
        }
    }
    stretches
}

fn markov(states: &[MarkovState], stream: &mut Stream, end: Time) -> Vec<Stretch> {
    let (mut stretches, mut state) = (Vec::new(), 0);
    while reached(&stretches) < end {
        let MarkovState { rate_bps, stay_ps } = states[state];
        extend(&mut stretches, stream.exponential_span(Span::from_ps(stay_ps)).as_ps(), rate_bps);
        let (up, last) = (stream.bits() >= 1 << 63, states.len() - 1);
        let rises = state == 0 || up && state < last;
        state = if rises { state + 1 } else { state - 1 };
    }
    stretches
}

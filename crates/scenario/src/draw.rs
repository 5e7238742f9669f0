//! Draws what is random about the flows of a group: round-trip times, starts, stops, sizes of short flows.
//!
//! Each group draws from streams of its own, derived from the seed and the group's name: adding, removing or reordering
//! groups changes no other group's draws, and raising a group's count leaves its first flows as they were (but for a lone
//! flow that acts by turns, which has no phase).

use bufferlab_simulator::StreamKind;
use bufferlab_units::Stream;
use serde::Serialize;

use crate::checks::{links_rtt_ps, short_rtt};
use crate::parts::application::{Application, Arrivals, ShortFlows};
use crate::parts::flow::Flow;
use crate::quantity::format::format_time;
use crate::quantity::law::Law;
use crate::resolved::Resolved;
use crate::text::mistake::Mistake;

/// What was drawn for the flows of one group.
#[derive(Clone, Debug, Serialize)]
pub struct Draws {
    /// Two-way propagation delays, ps.
    pub rtt_ps: Vec<u64>,
    /// Starts, ps.
    pub start_ps: Vec<u64>,
    /// Stops, ps; nothing if the flows never stop.
    pub stop_ps: Option<Vec<u64>>,
    /// Payload of each flow, bytes; nothing if that is a matter of the group.
    pub transfer_bytes: Option<Vec<u64>>,
}

/// Draws for all groups.
pub fn draw(scenario: &Resolved, seed: u64) -> Result<Vec<Draws>, Mistake> {
    let groups = scenario.flows.iter().enumerate();
    let draws = groups.map(|(index, flow)| {
        let group = Group { flow, scenario, seed };
        group.draw().map_err(|mistake| mistake.below(&format!("flows[{index}]")))
    });
    let draws: Vec<Draws> = draws.collect::<Result<_, _>>()?;
    Ok(with_echoes(scenario, draws))
}

/// Flows that return others' data begin with them, and have as much to send.
fn with_echoes(scenario: &Resolved, mut draws: Vec<Draws>) -> Vec<Draws> {
    for (index, flow) in scenario.flows.iter().enumerate() {
        let Application::Echo(echo) = &flow.application else { continue };
        let Some(of) = scenario.flows.iter().position(|group| group.name == echo.of) else { continue };
        let transfer_bytes = match &scenario.flows[of].application {
            Application::Transfer(transfer) => Some(vec![transfer.transfer_bytes; draws[index].rtt_ps.len()]),
            _ => None,
        };
        draws[index] = Draws { start_ps: draws[of].start_ps.clone(), transfer_bytes, ..draws[index].clone() };
    }
    draws
}

/// A group that draws.
struct Group<'a> {
    flow: &'a Flow,
    scenario: &'a Resolved,
    seed: u64,
}

impl Group<'_> {
    fn draw(&self) -> Result<Draws, Mistake> {
        let draws = if let Application::ShortFlows(short) = &self.flow.application {
            self.short_flows(short)?
        } else {
            let (rtt_ps, start_ps) = (self.round_trips()?, self.starts()?);
            let stop_ps = self.stops(&start_ps)?;
            Draws { rtt_ps, start_ps, stop_ps, transfer_bytes: None }
        };
        let least_ps = links_rtt_ps(self.flow, &self.scenario.links);
        match draws.rtt_ps.iter().copied().min() {
            Some(shortest_ps) if shortest_ps < least_ps => {
                let text = format!("{}, drawn as {},", self.flow.rtt.text, format_time(shortest_ps));
                Err(short_rtt(&text, least_ps, !self.flow.reverse_path.is_empty()).key("rtt"))
            }
            _ => Ok(draws),
        }
    }

    /// The flows of one process of arrivals, from the group's start to its stop or the run's end.
    fn short_flows(&self, short: &ShortFlows) -> Result<Draws, Mistake> {
        let end_ps = self.scenario.run.duration_ps;
        let start_ps = self.starts()?;
        let stop_ps = self.stops(&start_ps)?;
        let last_ps = stop_ps.map_or(end_ps, |stop_ps| stop_ps[0].min(end_ps));
        let start_ps = arrivals(short, &mut self.stream(StreamKind::Arrivals), start_ps[0], last_ps);
        if start_ps.is_empty() {
            let mistake = Mistake::new("brings no flow before the run's end").key("application");
            return Err(mistake
                .text(format_time(short.interval_ps))
                .accepted("a shorter interval, or more load"));
        }
        let count = start_ps.len();
        let rtt_ps = self.law(&self.flow.rtt, "rtt", StreamKind::RoundTrips, count)?;
        let sizes = self.law(&short.size, "application.size", StreamKind::Sizes, count)?;
        Ok(Draws { rtt_ps, start_ps, stop_ps: None, transfer_bytes: Some(sizes) })
    }

    fn starts(&self) -> Result<Vec<u64>, Mistake> {
        let end_ps = self.scenario.run.duration_ps;
        let start_ps = self.law(&self.flow.start, "start", StreamKind::Starts, self.count())?;
        if start_ps.iter().all(|&start_ps| start_ps >= end_ps) {
            let mistake = Mistake::new("starts no flow before the run's end").key("start");
            let accepted = format!("a start before {}", format_time(end_ps));
            return Err(mistake.text(&self.flow.start.text).accepted(accepted));
        }
        Ok(start_ps)
    }

    fn stops(&self, start_ps: &[u64]) -> Result<Option<Vec<u64>>, Mistake> {
        let Some(stop) = &self.flow.stop else { return Ok(None) };
        let stop_ps = self.law(stop, "stop", StreamKind::Stops, start_ps.len())?;
        if let Some(early) = stop_ps.iter().zip(start_ps).position(|(stop_ps, start_ps)| stop_ps <= start_ps)
        {
            let start = format_time(start_ps[early]);
            let mistake = Mistake::new(format!("comes before flow {early} of the group starts at {start}"));
            return Err(mistake.key("stop").text(&stop.text).accepted("a stop after every start"));
        }
        Ok(Some(stop_ps))
    }

    /// Round-trip times; a spread spaces them evenly, at the middles of `count` equal parts.
    fn round_trips(&self) -> Result<Vec<u64>, Mistake> {
        let rtt_ps = self.law(&self.flow.rtt, "rtt", StreamKind::RoundTrips, self.count())?;
        let spread = self.flow.rtt_spread;
        if spread == 0.0 {
            return Ok(rtt_ps);
        }
        let count = self.flow.count as f64;
        let spaced = rtt_ps.iter().enumerate().map(|(index, &rtt_ps)| {
            let middle = 2.0 * (index as f64 + 0.5) / count - 1.0;
            (rtt_ps as f64 * (1.0 + spread * middle)).round_ties_even() as u64
        });
        Ok(spaced.collect())
    }

    fn count(&self) -> usize {
        usize::try_from(self.flow.count).expect("its bound was checked")
    }

    fn law(&self, law: &Law, key: &str, kind: StreamKind, count: usize) -> Result<Vec<u64>, Mistake> {
        law.draw(&mut self.stream(kind), count).map_err(|mistake| mistake.key(key))
    }

    fn stream(&self, kind: StreamKind) -> Stream {
        kind.named(self.seed, &self.flow.name)
    }
}

/// Starts from `first_ps` on, before `end_ps`: at equal distances, or those of a Poisson process.
fn arrivals(short: &ShortFlows, stream: &mut Stream, first_ps: u64, end_ps: u64) -> Vec<u64> {
    let interval_ps = short.interval_ps;
    if short.arrivals == Arrivals::Constant {
        let starts = std::iter::successors(Some(first_ps), |start_ps| start_ps.checked_add(interval_ps));
        return starts.take_while(|&start_ps| start_ps < end_ps).collect();
    }
    // floats, since the sum may pass what 64 bits hold before it is cut
    let end = end_ps as f64 - 1.0;
    let mut now = first_ps as f64;
    let next = std::iter::from_fn(|| {
        now += interval_ps as f64 * stream.exponential();
        (now < end).then(|| now.round_ties_even() as u64)
    });
    next.collect()
}

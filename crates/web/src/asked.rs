//! What a page asks for, and what it is shown of it.

use std::collections::BTreeMap;

use bufferlab_congestion::NamedControl;
use bufferlab_scenario::{
    Mistake, Mistakes, NoFiles, Node, Resolved, Scenario, Table, Value, described_queues, plan_hash,
};
use bufferlab_simulator::{GroupPlan, LinkPlan, Plan, SourcePlan};
use serde::{Deserialize, Serialize};

use crate::rules::{self, Mark};

/// A scenario as a page has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// TOML or JSON.
    text: String,
    /// Values by path, as on a command line.
    #[serde(default)]
    overrides: BTreeMap<String, String>,
    /// Default: the scenario's own.
    seed: Option<u64>,
}

/// What is wrong, and where.
#[derive(Serialize)]
pub struct Problem {
    /// The line that the command prints, too.
    message: String,
    /// In the text, from 1.
    line: Option<usize>,
    column: Option<usize>,
}

impl Problem {
    pub fn of(what: &impl ToString) -> Problem {
        Problem { message: what.to_string(), line: None, column: None }
    }
}

impl From<&Mistake> for Problem {
    fn from(mistake: &Mistake) -> Problem {
        let place = mistake.place;
        Problem {
            message: mistake.to_string(),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
        }
    }
}

/// What a scenario comes to.
#[derive(Serialize)]
pub struct Answer {
    title: String,
    /// The identity of the plan.
    hash: String,
    /// The scenario with its overrides, as TOML.
    toml: String,
    seed: u64,
    duration_s: f64,
    warmup_s: f64,
    links: Vec<Link>,
    groups: Vec<Group>,
    /// What `queue` may be in one word.
    queues: Vec<Word>,
    /// What `congestion` may be.
    controls: Vec<Word>,
}

/// A word of scenarios, and what it is, as docs/scenario.md has it.
#[derive(Serialize)]
struct Word {
    word: &'static str,
    doc: String,
}

#[derive(Serialize)]
struct Link {
    /// As the plan has it.
    plan: LinkPlan,
    /// Its buffer as written.
    buffer: String,
    /// Where it stands, for overrides.
    path: String,
    /// The discipline that the text has, whatever the overrides say; none if the text alone is no scenario.
    own_queue: Option<&'static str>,
    /// What published rules ask for.
    marks: Vec<Mark>,
}

#[derive(Serialize)]
struct Group {
    name: String,
    flows: usize,
    /// The mean of its flows, two-way and without queueing.
    rtt_s: f64,
    forward: Vec<u32>,
    /// TCP sends it.
    is_tcp: bool,
    /// Payload of TCP's full segments; 0 without TCP.
    segment_bytes: u32,
    /// Its receiver returns each packet, as pings.
    echoes: bool,
    /// Its packets are of pictures of a video call.
    films: bool,
    /// The congestion control that the text has, whatever the overrides say.
    own_control: Option<String>,
}

/// Reads what was asked.
pub fn read(input: &[u8]) -> Result<(Plan, Answer), Vec<Problem>> {
    let asked: Asked = serde_json::from_slice(input).map_err(|error| vec![Problem::of(&error)])?;
    read_scenario(&asked).map_err(|mistakes| mistakes.iter().map(Problem::from).collect())
}

fn read_scenario(asked: &Asked) -> Result<(Plan, Answer), Mistakes> {
    let mut overrides = Table::default();
    for (path, value) in &asked.overrides {
        overrides.set(path, Node::new(Value::text(value.as_str())));
    }
    let scenario = Scenario::from_text(&asked.text, None, &overrides, &NoFiles)?;
    let seeded = scenario.seeded(asked.seed)?;
    let own = Scenario::from_text(&asked.text, None, &Table::default(), &NoFiles).ok();
    let own = own.as_ref().map(Scenario::resolved);
    let marks = rules::marks(&asked.text, &overrides, asked.seed, &seeded);
    let (plan, resolved) = (seeded.plan, seeded.resolved);
    let links = plan.links.iter().zip(&resolved.links).zip(marks).enumerate();
    let links = links.map(|(index, ((plan, link), marks))| Link {
        plan: plan.clone(),
        buffer: link.buffer.text.clone(),
        path: resolved.link_key(index),
        own_queue: own.and_then(|own| own.links.get(index)).map(|link| link.queue.discipline),
        marks,
    });
    let answer = Answer {
        title: scenario.title(),
        hash: plan_hash(&plan),
        toml: scenario.to_toml(),
        seed: plan.seed,
        duration_s: seconds(plan.duration_ps),
        warmup_s: seconds(plan.warmup_ps),
        links: links.collect(),
        groups: plan
            .groups
            .iter()
            .zip(&seeded.draws)
            .map(|(plan, draws)| Group {
                own_control: control(own, &plan.name),
                ..group(plan, &draws.rtt_ps)
            })
            .collect(),
        queues: described_queues().into_iter().map(|(word, doc)| Word { word, doc }).collect(),
        controls: controls(),
    };
    Ok((plan, answer))
}

/// Every control in one word, without its source; `fixed(N)` is none.
fn controls() -> Vec<Word> {
    let described = NamedControl::described();
    let doc = |word| described.iter().find(|(words, _)| words.contains(&word)).map_or("", |(_, doc)| *doc);
    let what = |word| doc(word).split(" Source: ").next().unwrap_or_default().to_owned();
    NamedControl::words().map(|word| Word { word, doc: what(word) }).collect()
}

fn control(own: Option<&Resolved>, group: &str) -> Option<String> {
    let flow = own?.flows.iter().find(|flow| flow.name == group)?;
    Some(flow.tcp.as_ref()?.congestion.word.clone())
}

fn group(plan: &GroupPlan, rtt_ps: &[u64]) -> Group {
    let sum: f64 = rtt_ps.iter().map(|&rtt| seconds(rtt)).sum();
    Group {
        name: plan.name.clone(),
        flows: rtt_ps.len(),
        rtt_s: sum / rtt_ps.len().max(1) as f64,
        forward: plan.forward.clone(),
        is_tcp: matches!(plan.source, SourcePlan::Tcp(_)),
        segment_bytes: if let SourcePlan::Tcp(tcp) = &plan.source { tcp.config.mss_bytes } else { 0 },
        echoes: matches!(&plan.source, SourcePlan::Udp(source) if source.echo),
        films: matches!(plan.source, SourcePlan::VideoCall(_)),
        own_control: None,
    }
}

fn seconds(ps: u64) -> f64 {
    ps as f64 / 1e12
}

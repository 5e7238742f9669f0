//! A scenario as it is read, and as it is meant.

use serde::Serialize;

use crate::keys::{ListOf, REQUIRED, TableOf, absent, given, part, toml};
use crate::parts::advise::Advise;
use crate::parts::flow::Flow;
use crate::parts::host::{self, Host};
use crate::parts::link::Link;
use crate::parts::memory::Memory;
use crate::parts::probes::Probes;
use crate::parts::run::Run;
use crate::parts::stack::preset;
use crate::parts::varying::mean_rate;
use crate::text::value::Value;

part! {
    /// A network, the flows that cross it, and what to measure: docs/scenario.md.
    pub struct Root {
        /// Length, warm-up, seed, stack and hosts of the run.
        run: Run = REQUIRED, TableOf::<Run>::any(), toml("{ duration = \"60 s\" }");
        /// Short form for a single link, named bottleneck.
        bottleneck: Option<Link> = absent("`links`"), TableOf::<Link>::any();
        /// The queued links.
        links: Vec<Link> = given(Value::List(Vec::new())), ListOf::<Link>::within(0, 10_000, Some("links"));
        /// Memories that the queues of several links share.
        memories: Vec<Memory> = given(Value::List(Vec::new())), ListOf::<Memory>::within(0, 10_000, Some("memories"));
        /// What hosts do beside TCP, where they do something.
        host: Option<Host> = absent("as the presets"), TableOf::<Host>::any();
        /// Groups of flows.
        flows: Vec<Flow> = REQUIRED, ListOf::<Flow>::within(1, usize::MAX, Some("flows")), toml("[{ rtt = \"40 ms\" }]");
        /// What to sample over time.
        probes: Option<Probes> = absent("nothing"), TableOf::<Probes>::any();
        /// What users need, for commands that choose a queue or a buffer.
        advise: Option<Advise> = absent("nothing said"), TableOf::<Advise>::any();
    }
}

/// A scenario as it is meant: defaults filled in, units resolved, stacks expanded, links and groups named.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Resolved {
    /// Length, warm-up, seed, stack and hosts.
    pub run: Run,
    /// The links in order, whichever form the file has.
    pub links: Vec<Link>,
    /// Memories that queues share.
    pub memories: Vec<Memory>,
    /// What changes the hosts' presets. What comes of it is with the groups.
    #[serde(skip)]
    pub host: Option<Host>,
    /// The groups of flows.
    pub flows: Vec<Flow>,
    /// What to sample over time.
    pub probes: Option<Probes>,
    /// What users need.
    pub advise: Option<Advise>,
    /// Whether the only link was written as `bottleneck`.
    #[serde(skip)]
    pub is_short: bool,
}

impl Resolved {
    /// The link of a name.
    pub fn link(&self, name: &str) -> Option<&Link> {
        self.links.iter().find(|link| link.name == name)
    }

    /// Where a link stands in the file, for messages.
    pub fn link_key(&self, index: usize) -> String {
        if self.is_short { "bottleneck".to_owned() } else { format!("links[{index}]") }
    }

    /// Fills in what the other parts say: names, the only link's path, stacks.
    pub(crate) fn of(root: Root) -> Resolved {
        let Root { run, bottleneck, mut links, mut memories, host, mut flows, probes, advise } = root;
        let is_short = bottleneck.is_some();
        if let Some(mut link) = bottleneck {
            name(&mut link.name, || "bottleneck".to_owned());
            links = vec![link];
        }
        for (index, link) in links.iter_mut().enumerate() {
            name(&mut link.name, || format!("link{index}"));
            link.rate_bps = mean_rate(link, run.duration_ps);
        }
        let only = if let [only] = links.as_slice() { Some(only.name.as_str()) } else { None };
        for (index, flow) in flows.iter_mut().enumerate() {
            name(&mut flow.name, || format!("flows{index}"));
            flow.start = flow.starts(run.duration_ps);
            complete(flow, only, Some(run.stack), Hosts { preset: Some(run.host), table: host.as_ref() });
        }
        for (index, memory) in memories.iter_mut().enumerate() {
            name(&mut memory.name, || format!("memory{index}"));
        }
        Resolved { run, links, memories, host, flows, probes, advise, is_short }
    }
}

/// What a scenario says of the hosts of its groups.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hosts<'a> {
    /// The run's preset, if it is known.
    pub(crate) preset: Option<&'static str>,
    /// What changes the presets.
    pub(crate) table: Option<&'a Host>,
}

/// Fills in what a group has from elsewhere: the only link as its path, its hosts, and its TCP if the stack is known.
pub(crate) fn complete(
    flow: &mut Flow,
    only_link: Option<&str>,
    run_stack: Option<&'static str>,
    hosts: Hosts<'_>,
) {
    if let (Some(only), true) = (only_link, flow.path.is_empty()) {
        flow.path = vec![only.to_owned()];
    }
    let stack = flow.stack.or(run_stack).filter(|_| !flow.application.is_datagrams());
    flow.stack = stack;
    flow.tcp = stack.map(|stack| flow.keys.over(preset(stack)));
    flow.host = flow.host.or(hosts.preset).filter(|_| !flow.application.is_datagrams());
    flow.host_model = flow.host.and_then(|name| host::model(name, hosts.table));
    if let (Some(tcp), Some(model)) = (&mut flow.tcp, &flow.host_model) {
        model.fit(tcp, &flow.keys);
    }
}

fn name(name: &mut String, default: impl FnOnce() -> String) {
    if name.is_empty() {
        *name = default();
    }
}

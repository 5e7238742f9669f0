//! Scaled-down twins: the same flows with the same windows, but fewer, on a slower link.
//!
//! A twin has 1/s of every link's rate and of every group's flows; round-trip times, congestion controls, starts and what
//! one flow does stay. That the twin's waits, losses and shares are those of the large link is the scaling hypothesis of
//! K. Psounis, R. Pan, B. Prabhakar and D. Wischik, "The scaling hypothesis: simplifying the prediction of network
//! performance using scaled-down simulations", ACM SIGCOMM CCR 33(1), 2003. How far it holds is measured by
//! `bufferlab validate scaling`.
//!
//! | buffer | the twin's | what is kept |
//! | --- | --- | --- |
//! | "600 packets", "1 MB" | divided by s, as in that paper | the time that it takes to drain |
//! | "5 ms", "0.1 bdp" | as written | the same |
//! | "stanford" | as written: BDP/√n of the twin | buffer over deviation of the sum of n windows |
//!
//! The sum of n independent windows deviates by a share of 1/√n (G. Appenzeller, I. Keslassy, N. `McKeown`, "Sizing Router
//! Buffers", SIGCOMM 2004, section 3), so the twin's relative deviation is larger. The twin's BDP/√n follows it: its waits
//! are √s times as long, their share of the buffer about stays.

use bufferlab_parameters::Kinds;
use bufferlab_qdisc::DisciplineConfig;

use crate::parts::application::Application;
use crate::parts::link::Link;
use crate::quantity::buffer::{Buffer, BufferKind};
use crate::quantity::empirical::Files;
use crate::quantity::nearest_quotient;
use crate::scenario::Scenario;
use crate::text::mistake::{Mistake, Mistakes};
use crate::text::value::{Node, Table, Value};

impl Scenario {
    /// The twin with 1/`factor` of the rates and flows.
    ///
    /// # Errors
    /// If the factor does not divide a group's flows, or a queue does not scale.
    pub fn twin(&self, factor: u64, files: &dyn Files) -> Result<Scenario, Mistakes> {
        match factor {
            0 => {
                let mistake = Mistake::new("is too small").key("scale").value(&Value::from(factor));
                Err(mistake.accepted("1 or more").into())
            }
            1 => Ok(self.clone()),
            _ => {
                let changes = self.changes(factor).map_err(|mistake| self.placed(mistake))?;
                self.with_overrides(&changes, files)
            }
        }
    }

    fn changes(&self, factor: u64) -> Result<Table, Mistake> {
        let mut changes = Table::default();
        if !self.resolved().memories.is_empty() {
            let mistake = Mistake::new("do not scale").key("memories");
            return Err(mistake.accepted("links that share no memory"));
        }
        for (index, link) in self.resolved().links.iter().enumerate() {
            add_link(&mut changes, link, &format!("links[{index}]"), factor)?;
        }
        for (index, flow) in self.resolved().flows.iter().enumerate() {
            let place = format!("flows[{index}]");
            let (key, value) = match &flow.application {
                // one process brings all of them: fewer come, each as large as before
                Application::ShortFlows(short) => match short.load_bps {
                    Some(load_bps) => {
                        ("application.load", Value::text(format!("{} bps", divided(load_bps, factor))))
                    }
                    None => {
                        ("application.interval", Value::text(format!("{} ps", short.interval_ps * factor)))
                    }
                },
                _ if flow.count % factor == 0 => ("count", Value::from(flow.count / factor)),
                _ => {
                    let mistake =
                        Mistake::new(format!("is not divided by {factor}")).key(format!("{place}.count"));
                    let accepted = "a number of flows that the scale divides";
                    return Err(mistake.value(&Value::from(flow.count)).accepted(accepted));
                }
            };
            changes.set(&format!("{place}.{key}"), Node::new(value));
        }
        Ok(changes)
    }
}

fn add_link(changes: &mut Table, link: &Link, place: &str, factor: u64) -> Result<(), Mistake> {
    if !link.queue.config.scales() {
        let mistake =
            Mistake::new("does not scale").key(format!("{place}.queue")).text(link.queue.discipline);
        let scaling = DisciplineConfig::KINDS.iter().filter(|kind| (kind.default)().scales());
        let words: Vec<&str> = scaling.map(|kind| kind.word.word).collect();
        return Err(mistake.accepted(format!("one of {}", words.join(", "))));
    }
    if link.capacity.plan.is_some() || link.changes.iter().any(|change| change.rate_bps.is_some()) {
        let mistake = Mistake::new("does not scale").key(format!("{place}.rate")).text(&link.capacity.text);
        return Err(mistake.accepted("a constant rate"));
    }
    let mut add =
        |key: &str, text: String| changes.set(&format!("{place}.{key}"), Node::new(Value::text(text)));
    add("rate", format!("{} bps", divided(link.rate_bps, factor)));
    add_size(&mut add, "buffer", &link.buffer, factor);
    if let Some(mark) = &link.mark_above {
        add_size(&mut add, "mark_above", mark, factor);
    }
    for (index, change) in link.changes.iter().enumerate() {
        if let Some(buffer) = &change.buffer {
            add_size(&mut add, &format!("changes[{index}].buffer"), buffer, factor);
        }
    }
    for (key, threshold) in &link.queue.thresholds {
        add_size(&mut add, &format!("queue.{key}"), threshold, factor);
    }
    Ok(())
}

fn add_size(add: &mut impl FnMut(&str, String), key: &str, given: &Buffer, factor: u64) {
    let unit = match given.kind {
        BufferKind::Packets => "packets",
        BufferKind::Bytes => "B",
        _ => return,
    };
    add(key, format!("{} {unit}", divided(given.count(), factor)));
}

fn divided(amount: u64, factor: u64) -> u64 {
    nearest_quotient(amount.into(), factor).max(1)
}

//! Parameters that change while a queue goes on, as `tc qdisc change` does in Linux.

use crate::{AnyQdisc, DisciplineConfig};

impl AnyQdisc {
    /// Takes other parameters from now on. What waits stays, and what was learned is kept. False, and nothing has changed, if
    /// the discipline is another, or if these parameters need a new queue: only CoDel, FQ-CoDel with as many queues, and PIE
    /// can be changed.
    pub fn change(&mut self, config: &DisciplineConfig) -> bool {
        match (self, config) {
            (AnyQdisc::Codel(queue), DisciplineConfig::Codel(config)) => queue.change(*config),
            (AnyQdisc::FqCodel(queue), DisciplineConfig::FqCodel(config)) => return queue.change(*config),
            (AnyQdisc::Pie(queue), DisciplineConfig::Pie(config)) => queue.change(*config),
            _ => return false,
        }
        true
    }
}

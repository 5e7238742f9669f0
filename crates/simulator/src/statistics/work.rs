//! What a link whose rate varies has offered in the measured window, and what has been used of it, in bits times 10¹².

use super::LinkStatistics;
use crate::outcome::ALL_GROUPS;

/// The work done in the window, by group and by class.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    groups: Vec<u128>,
    classes: Vec<u128>,
    offered: u128,
}

impl Work {
    /// The share that a group has used of what was offered, or all of them; 0 of nothing.
    pub(super) fn share(&self, group: u32) -> f64 {
        let done = if group == ALL_GROUPS { self.groups.iter().sum() } else { self.groups[group as usize] };
        self.of_offered(done)
    }

    /// The same of a class.
    pub(super) fn class_share(&self, class: u32) -> f64 {
        self.of_offered(self.classes[class as usize])
    }

    fn of_offered(&self, done: u128) -> f64 {
        if self.offered == 0 { 0.0 } else { done as f64 / self.offered as f64 }
    }
}

impl LinkStatistics {
    /// The rate varies: work is counted.
    pub(crate) fn count_work(&mut self) {
        let (groups, classes) = (vec![0; self.groups.len()], vec![0; self.classes.len()]);
        self.work = Some(Box::new(Work { groups, classes, offered: 0 }));
    }

    /// A packet of a group and a class is sent, with so much work in the window.
    pub(crate) fn on_work(&mut self, group: u16, class: usize, work: u128) {
        let Some(books) = &mut self.work else { return };
        books.groups[usize::from(group)] += work;
        books.classes.get_mut(class).into_iter().for_each(|sum| *sum += work);
    }

    /// All that the window has offered.
    pub(crate) fn set_offered(&mut self, offered: u128) {
        if let Some(books) = &mut self.work {
            books.offered = offered;
        }
    }

    /// The mean rate that the link has offered in the window, bit/s; 0 where it is constant.
    pub(super) fn offered_bps(&self) -> f64 {
        self.work.as_ref().map_or(0.0, |work| self.a_window(work.offered as f64))
    }
}

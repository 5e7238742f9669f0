//! A memory that the queues of several links share, as in a switch.

use bufferlab_simulator::MemoryPlan;

use crate::keys::{Fraction, NAME, Names, REQUIRED, Reading, Size, absent, part};
use crate::text::mistake::Mistake;

const PPM: f64 = 1e6;

part! {
    /// A memory that the queues of several links share.
    pub struct Memory under "memories" {
        /// What messages call it.
        name: String = absent("`\"memory0\"`, `\"memory1\"`, …"), NAME, "switch" => String::new();
        /// Its size.
        size_bytes as "size": u64 = REQUIRED, Size { least: 1, most: 1 << 50 }, "2 MB";
        /// The links whose queues it holds.
        links: Vec<String> = REQUIRED, Names { of: "links", least: 1 }, ["east", "west"];
        /// Dynamic Threshold: no queue takes more once it is as long as this many times the memory that is free.
        alpha: Option<f64> = absent("complete sharing"), Fraction { most: 1000.0, inclusive: true, noun: "a multiple" }, 1.0;
        /// Active Buffer Management: alpha is shared by the queues that are congested. One of this length counts as one, a shorter one in part.
        congested_bytes as "congested": Option<u64> = absent("alpha for each queue"), Size { least: 1, most: MemoryPlan::MOST_CONGESTED }, "28 kB";
        agree agree;
    }
}

impl Memory {
    /// As links of a plan have it.
    pub fn plan(&self, number: u32) -> MemoryPlan {
        let alpha_ppm = self.alpha.map(|alpha| (alpha * PPM).round_ties_even() as u64);
        MemoryPlan { number, bytes: self.size_bytes, alpha_ppm, congested_bytes: self.congested_bytes }
    }
}

fn agree(memory: &mut Memory, reading: &mut Reading<'_>) {
    if memory.plan(0).alpha_ppm == Some(0) {
        let mistake = Mistake::new("leaves room for nothing").key("alpha").text("0");
        reading.refuse(mistake.accepted("0.000001 to 1000"));
    }
    if let (Some(bytes), None) = (memory.congested_bytes, memory.alpha) {
        let mistake = Mistake::new("has no threshold to share").key("congested").text(format!("{bytes} B"));
        reading.refuse(mistake.accepted("with `alpha`"));
    }
}

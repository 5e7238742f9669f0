//! Length, warm-up, seed, stack and hosts.

use super::host::{HOST_WORDS, IDEAL};
use super::stack::STACK_WORDS;
use crate::keys::{REQUIRED, Reading, TITLE, Time, Whole, absent, given, part};
use crate::quantity::format::format_time;
use crate::text::mistake::Mistake;

/// The warm-up is such a part of the run unless given.
const WARMUP_SHARE: u64 = 5;

part! {
    /// Length, warm-up, seed, stack and hosts of the run.
    pub struct Run under "run" {
        /// Title of the run, for tables and plots.
        name: Option<String> = absent("the file's name"), TITLE, "Figure 1";
        /// Simulated time.
        duration_ps as "duration": u64 = REQUIRED, Time::from(1), "500 s";
        /// Measurements start here.
        warmup_ps as "warmup": u64 = absent("a fifth of the duration"), Time::from(0), "100 s"
            => duration_ps / WARMUP_SHARE;
        /// Seed of every random draw.
        seed: u64 = given(1), Whole { least: 0, most: i64::MAX as u64, noun: "the seed" }, 7;
        /// [Preset](#stack-presets) of the TCP keys of every flow group that names no stack of its own.
        stack: &'static str = given("rfc"), STACK_WORDS, "linux";
        /// [Preset](#hosts) of what the hosts of every flow group do beside TCP that names none of its own.
        host: &'static str = given(IDEAL), HOST_WORDS, "linux-10g";
        agree warmup_within_run;
    }
}

fn warmup_within_run(run: &mut Run, reading: &mut Reading<'_>) {
    if run.warmup_ps >= run.duration_ps {
        let accepted = format!("less than the duration of {}", format_time(run.duration_ps));
        let mistake = Mistake::new("leaves nothing to measure").key("warmup");
        reading.refuse(mistake.text(format_time(run.warmup_ps)).accepted(accepted));
    }
}

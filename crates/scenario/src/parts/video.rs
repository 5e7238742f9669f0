//! Adaptive video.

use bufferlab_simulator::{RateRule, VideoPlan};

use super::tcp::Stack;
use crate::keys::{Choice, Fraction, ListOfEach, RATE, Reading, Time, absent, given, part, shown_as_words};
use crate::quantity::format::{format_rate, format_time};
use crate::text::mistake::Mistake;
use crate::text::value::Value;

/// The bitrates by which DASH-IF's test stream of 4-second segments, `bbb_30fps` (Big Buck Bunny, 320×180 to 3840×2160), names
/// its representations, kbit/s.
const LADDER_KBPS: [u64; 10] = [200, 400, 600, 800, 1_000, 1_500, 2_500, 4_000, 8_000, 12_000];

shown_as_words!(RateRule);

part! {
    /// Adaptive video (DASH): a client fetches segments over one TCP connection, each at a bitrate of its choice, and plays them;
    /// the sender is the server.
    pub struct Video under "application" {
        /// Playing time of a segment.
        segment_ps as "segment": u64 = given("4 s"), Time::from(VideoPlan::SHORTEST_PS), "2 s";
        /// The bitrates that there are, from the lowest.
        ladder_bps as "ladder": Vec<u64> = absent("ten from 200 kbps to 12 Mbps, see [below](#video)"),
            ListOfEach { item: RATE, of: "rates" }, ["1 Mbps", "4 Mbps"] => LADDER_KBPS.map(|kbps| 1_000 * kbps).to_vec();
        /// How bitrates are chosen: by the last segments' throughput, or by the level of the buffer (BOLA as in dash.js).
        rule: RateRule = given("throughput"), Choice::<RateRule>::any(), "bola";
        /// Most that the client buffers, in playing time; a segment is asked for when it has room.
        buffer_ps as "buffer": u64 = given("30 s"), Time::from(1), "12 s";
        /// Playing begins with this much in the buffer.
        startup_ps as "startup": u64 = absent("one segment"), Time::from(1), "8 s" => segment_ps;
        /// After a stall it goes on with this much.
        resume_ps as "resume": u64 = absent("one segment"), Time::from(1), "8 s" => segment_ps;
        /// What part of the last segments' throughput counts.
        safety: f64 = given(0.9), Fraction { most: 1.0, inclusive: true, noun: "a part of the throughput" }, 0.7;
        agree agree;
    }
}

fn agree(video: &mut Video, reading: &mut Reading<'_>) {
    let mistake = |key: &str, problem: &str| Mistake::new(problem.to_owned()).key(key);
    if video.ladder_bps.is_empty() || video.ladder_bps.len() > VideoPlan::MOST_RATES {
        let accepted = format!("1 to {} rates", VideoPlan::MOST_RATES);
        let count = Value::from(video.ladder_bps.len() as u64);
        reading.refuse(mistake("ladder", "is too short or too long").value(&count).accepted(accepted));
    }
    if let Some(pair) = video.ladder_bps.windows(2).find(|pair| pair[1] <= pair[0]) {
        let accepted = format!("rates that grow: above {}", format_rate(pair[0]));
        reading.refuse(mistake("ladder", "does not grow").text(format_rate(pair[1])).accepted(accepted));
    }
    if video.safety == 0.0 {
        reading.refuse(mistake("safety", "leaves nothing").text("0").accepted("above 0, to 1"));
    }
    let (buffer, segment) = (format_time(video.buffer_ps), format_time(video.segment_ps));
    if video.buffer_ps < video.segment_ps {
        let accepted = format!("at least a segment's {segment}");
        return reading.refuse(mistake("buffer", "holds no segment").text(buffer).accepted(accepted));
    }
    for (key, ps) in [("startup", video.startup_ps), ("resume", video.resume_ps)] {
        if ps > video.buffer_ps {
            let accepted = format!("at most the buffer's {buffer}");
            let text = format_time(ps);
            reading.refuse(mistake(key, "is more than the buffer holds").text(text).accepted(accepted));
        }
    }
}

impl Video {
    /// As a plan has it.
    pub fn plan(&self, stack: &Stack) -> VideoPlan {
        VideoPlan {
            segment_ps: self.segment_ps,
            ladder_bps: self.ladder_bps.clone(),
            buffer_ps: self.buffer_ps,
            startup_ps: self.startup_ps,
            resume_ps: self.resume_ps,
            rule: self.rule,
            safety: self.safety,
            after_idle: stack.after_idle,
        }
    }
}

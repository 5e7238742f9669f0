//! What a key or a word that is not known was meant to be: words of other tools and of plain speech, then spelling.

use super::nearest::{USUAL_CUTOFF, likest, nearest};
use super::value::{Entry, Table, Value};

/// Words of other tools and of plain speech, and what they are called here, the likeliest first: which of these a table
/// has, or a key takes, decides.
const SPOKEN: &[(&str, &str)] = &[
    ("algorithm cc cca congestion_control control protocol tcp variant", "congestion"),
    ("algorithm aqm discipline qdisc scheduler type", "queue discipline kind application"),
    ("bandwidth bitrate bps bw capacity speed throughput", "rate load"),
    ("buffer_size depth limit maxlen packets qlen queue_limit queue_size size", "buffer packet bytes"),
    ("delay latency one_way_delay ping propagation round_trip round_trip_time", "rtt delay"),
    ("clients connections flows n num number sessions users", "count"),
    ("amount length payload volume", "bytes size packet duration"),
    ("packet_size", "packet"),
    ("gap idle pause period think_time", "every off interval"),
    ("app load model traffic workload", "application"),
    ("drop drop_rate error_rate losses loss_rate packet_loss plr", "loss"),
    ("delay_variation pdv", "jitter"),
    ("ecn_threshold k mark mark_threshold", "mark_above"),
    ("links route via", "path"),
    ("dst dest destination to", "receiver"),
    ("from source src", "sender"),
    ("begin start_time starts", "start"),
    ("end end_time stop_time until", "stop duration"),
    ("runtime run_time seconds sim_time simulation_time time", "duration"),
    ("settle skip transient warm_up", "warmup"),
    ("random_seed rng rng_seed", "seed"),
    ("id label title", "name"),
    ("kernel os", "stack"),
    ("mss segment_size", "segment"),
    ("initcwnd init_cwnd iw", "initial_window"),
    ("cwnd max_window receive_window rwnd", "window"),
    ("gso tso", "offload"),
    ("pacing", "paced"),
    ("codepoint diffserv tos", "dscp"),
    ("bottleneck_link hop interface link network port router wan", "bottleneck"),
    ("application applications flow group groups sources streams traffic users", "flows"),
    ("config experiment general settings sim simulation", "run"),
    ("aims goals needs requirements", "advise targets"),
    ("drop_tail droptail fifo_fast pfifo pfifo_fast tail_drop taildrop", "fifo"),
    ("fair fq sfq wfq", "fq_codel"),
    ("wred", "red"),
    ("cbwfq llq prio priority", "diffserv"),
    ("new_reno newreno", "reno"),
];

/// Keys that are often sought in another table than their own, and where they are.
const ELSEWHERE: &[(&str, &str)] = &[
    ("ecn", "a link's queue has it, such as queue = { discipline = \"codel\", ecn = true }"),
    ("buffer", "links have it: bottleneck.buffer"),
    ("delay", "links have it: bottleneck.delay"),
    ("loss", "links have it: bottleneck.loss"),
    ("mark_above", "links have it: bottleneck.mark_above"),
    ("queue", "links have it: bottleneck.queue"),
    ("rate", "links have it: bottleneck.rate"),
    ("congestion", "groups of flows have it: flows[0].congestion"),
    ("rtt", "groups of flows have it: flows[0].rtt"),
    ("bytes every kind packet", "a group's application has it: flows[0].application"),
    ("size", "of what waits: bottleneck.buffer; of what is sent: flows[0].application"),
    ("duration", "the run has it: run.duration"),
    ("seed", "the run has it: run.seed"),
    ("warmup", "the run has it: run.warmup"),
    ("targets", "the table of what is needed has it: advise.targets"),
];

/// More words than these are not all listed in a message.
pub const FEW: usize = 12;
/// Longer texts are no misspelled words, and would take long to compare.
const LONGEST_WORD: usize = 64;

/// What was meant.
#[derive(Clone, Debug, PartialEq)]
pub enum Meant<'a> {
    /// A known word.
    Word(&'a str),
    /// A key of another table, and where that is.
    Elsewhere(&'static str),
}

impl Meant<'_> {
    /// As a part of a message.
    pub fn hint(&self) -> String {
        match self {
            Meant::Word(word) => format!(" (did you mean '{word}'?)"),
            Meant::Elsewhere(place) => format!(" ({place})"),
        }
    }
}

/// The key of a table with these keys that was meant.
pub fn meant_key<'a>(written: &str, value: &Value, known: &[&'a str]) -> Option<Meant<'a>> {
    let word = plain(written);
    let as_written = |key: &'a str| match value {
        Value::List(_) if key == "bottleneck" => "links",
        _ => key,
    };
    let here = known.iter().find(|known| **known == word).copied();
    let here = here.or_else(|| spoken(&word, known).map(as_written));
    let there = || {
        let mut others = words_of(SPOKEN, &word).flat_map(str::split_whitespace);
        let place = words_of(ELSEWHERE, &word).next();
        place.or_else(|| others.find_map(|key| words_of(ELSEWHERE, key).next()))
    };
    let near = || nearest(&word, known.iter().copied(), USUAL_CUTOFF);
    here.map(Meant::Word).or_else(|| there().map(Meant::Elsewhere)).or_else(|| near().map(Meant::Word))
}

/// The one of these words that was meant.
pub fn meant_word<'a>(written: &str, known: &[&'a str]) -> Option<&'a str> {
    if written.chars().count() > LONGEST_WORD {
        return None;
    }
    let (word, lower) = (plain(written), written.to_lowercase());
    spoken(&word, known).or_else(|| nearest(&lower, known.iter().copied(), USUAL_CUTOFF))
}

/// What the known words are, for messages: all if they are few and none seems meant, else where all are, and the nearest.
pub fn short_list(written: &str, meant: Option<&str>, known: &[&str], page: &str) -> String {
    const NEAREST: usize = 3;
    match meant {
        Some(_) => format!("what {page} lists"),
        None if known.len() <= FEW => known.join(", "),
        None => format!("{}, … (all: {page})", likest(&plain(written), known, NEAREST).join(", ")),
    }
}

/// Where the keys under a heading are listed.
pub fn page(heading: &str) -> String {
    let fragment = if heading.is_empty() { String::new() } else { format!("#{heading}") };
    format!("docs/scenario.md{fragment}")
}

/// The entry of a table that says its kind, under that key or another word for it.
pub fn tag<'a>(table: &'a Table, tag: &str) -> Option<&'a Entry> {
    let is_tag = |name: &str| spoken(&plain(name), &[tag]).is_some();
    table.entry(tag).or_else(|| table.entries.iter().find(|entry| is_tag(&entry.name)))
}

/// What a word of other tools or of plain speech is called here.
fn spoken<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let mut keys = words_of(SPOKEN, word).flat_map(str::split_whitespace);
    keys.find_map(|key| known.iter().find(|known| **known == key).copied())
}

/// What stands beside the rows that have a word.
fn words_of(rows: &'static [(&str, &str)], word: &str) -> impl Iterator<Item = &'static str> {
    rows.iter().filter(move |(words, _)| words.split(' ').any(|each| each == word)).map(|(_, of)| *of)
}

/// A word without capitals, and with underscores only.
fn plain(written: &str) -> String {
    written.chars().take(LONGEST_WORD).collect::<String>().to_lowercase().replace(['-', ' '], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(written: &str, known: &[&'static str]) -> Option<Meant<'static>> {
        meant_key(written, &Value::Null, known)
    }

    #[test]
    fn words_of_other_tools_mean_keys_of_the_table_that_they_are_in() {
        let flows = ["congestion", "count", "rtt", "application"];
        let links = ["rate", "delay", "buffer", "queue"];
        assert_eq!(meant("control", &flows), Some(Meant::Word("congestion")));
        assert_eq!(meant("protocol", &flows), Some(Meant::Word("congestion")));
        assert_eq!(meant("latency", &flows), Some(Meant::Word("rtt")));
        assert_eq!(meant("latency", &links), Some(Meant::Word("delay")));
        assert_eq!(meant("queue-size", &links), Some(Meant::Word("buffer")));
        assert_eq!(meant("RTT", &flows), Some(Meant::Word("rtt")));
        assert_eq!(meant("n", &flows), Some(Meant::Word("count")));
        assert!(
            matches!(meant("limit", &flows), Some(Meant::Elsewhere(place)) if place.contains("bottleneck.buffer"))
        );
        assert_eq!(meant("blue", &flows), None);
    }

    #[test]
    fn no_word_stands_for_itself() {
        for (words, keys) in SPOKEN {
            let own = keys.split(' ').next().unwrap_or_default();
            assert!(words.split(' ').all(|word| word != own), "{own}");
        }
    }
}

//! Rates that vary, as they are written and as files have them.

use super::super::empirical::NoFiles;
use super::super::written_trace::{TraceFormat, trace_text};
use super::*;

struct One(&'static str);

impl Files for One {
    fn read(&self, path: &str) -> Result<(String, String), Mistake> {
        Ok((path.to_owned(), self.0.to_owned()))
    }
}

fn parse(text: &str) -> Result<Capacity, String> {
    parse_capacity(&Value::text(text), &NoFiles).map_err(|mistake| mistake.to_string())
}

fn read(text: &str, file: &'static str) -> Result<Capacity, String> {
    parse_capacity(&Value::text(text), &One(file)).map_err(|mistake| mistake.to_string())
}

fn mean(text: &str, seconds: u64) -> u64 {
    parse(text).unwrap().mean_bps(seconds * PS_PER_S)
}

#[test]
fn the_mean_is_that_of_the_run() {
    assert_eq!(mean("100 Mbps", 7), 100_000_000);
    assert_eq!(mean("steps(50 Mbps for 10 s, 0 bps for 10 s)", 40), 25_000_000);
    assert_eq!(mean("steps(50 Mbps for 10 s, 0 bps for 10 s)", 30), 33_333_333);
    // visits 1 : 2 : 1 of 1, 2 and 3 s
    assert_eq!(mean("markov(0 bps for 1 s, 10 Mbps for 2 s, 40 Mbps for 3 s)", 1), 20_000_000);
    assert_eq!(mean("bursts(rate=300 Mbps, on=2 ms, off=uniform(0.5 ms, 1.5 ms))", 9), 200_000_000);
    assert_eq!(mean("bucket(rate=50 Mbps, burst=32 KB, line=1 Gbps)", 9), 50_000_000);
}

#[test]
fn a_packet_delivery_trace_is_read() {
    let trace = read("mahimahi(lte.down)", "0\n5\n5\n10\n").unwrap();
    let plan = CapacityPlan::Opportunities { at_ms: vec![0, 5, 5, 10], bytes: 1504, repeat_ms: 10 };
    assert_eq!(trace.plan, Some(plan));
    assert_eq!(serde_json::to_string(&trace).unwrap(), "\"mahimahi(lte.down)\"");
    // before 20 ms: 0, 5, 5, 10, 10, 15, 15; the one at 20 ms comes after
    assert_eq!(trace.mean_bps(20 * PS_PER_MS), 7 * 1504 * 8 * 50);
}

#[test]
fn mistakes_in_files_name_the_file_and_the_line() {
    let cases = [
        ("mahimahi(a.down)", "0\n5\n4\n", "a.down: 'line 3': '4' is smaller than the line before it"),
        ("mahimahi(a.down)", "0\n5 ms\n", "a.down: 'line 2': '5 ms' is not a whole number of milliseconds"),
        ("mahimahi(a.down)", "", "a.down: is empty"),
        ("mahimahi(a.down)", "0\n0\n", "a.down: lasts no time"),
        ("csv(a.csv)", "time_s,rate\n0,1\n", "a.csv: 'time_s,rate' has no usable header"),
        ("csv(a.csv)", "time_s,rate_Mbps\n0,1\n2,x\n", "a.csv: 'line 3': '2,x' is not usable"),
        ("csv(a.csv)", "time_s,rate_Mbps\n1,1\n", "a.csv: 'line 2': '1,1' does not begin at 0"),
        ("csv(a.csv)", "time_s,rate_Mbps\n0,1\n0,2\n", "a.csv: 'line 3': '0,2' is not later"),
        ("csv(a.csv)", "time_s,rate_Mbps\n0,0\n", "a.csv: has no rate above 0"),
        ("csv(a.csv, repeat=1 s)", "time_s,rate_Mbps\n0,1\n2,1\n", "a.csv: has a line after the time"),
    ];
    for (text, file, expected) in cases {
        let message = read(text, file).unwrap_err();
        assert!(message.contains(expected), "{message}");
        assert!(message.contains("; accepted: a "), "{message}");
    }
}

#[test]
fn mistakes_of_words_say_what_is_accepted() {
    let cases = [
        ("mahimaho(a.down)", "is not a known rate (did you mean 'mahimahi'?)"),
        ("markov(20 Mbps for 2 s)", "does not have 2 to 1000 rates"),
        ("steps(20 Mbps)", "has '20 Mbps' where a rate for a time belongs"),
        ("steps(0 bps for 1 s)", "has no rate above 0"),
        ("bursts(rate=1 Mbps, on=1 ms)", "lacks off"),
        ("bursts(rate=1 Mbps, on=1 ms, off=exponential(mean=1 ms))", "has an off time of another law"),
        ("bucket(rate=1 Gbps, burst=32 KB, line=1 Mbps)", "has a line slower than its rate"),
        ("bucket(rate=1 Gbps, burst=100 B)", "has a burst out of bounds"),
        ("bucket(rate=1 Gbps, burst=32 KB, speed=1 Gbps)", "has the unknown parameter 'speed'"),
        ("100 Mb", "has a wrong unit"),
    ];
    for (text, expected) in cases {
        let message = parse(text).unwrap_err();
        assert!(message.contains(expected) && message.contains("; accepted: "), "{message}");
    }
}

#[test]
fn a_csv_file_has_rates_and_delays() {
    let trace = read("csv(a.csv, repeat=4 s)", "time_s,rate_Mbps,delay_ms\n0,10,20\n2,0,35.5\n").unwrap();
    let pieces =
        vec![RatePiece { at_ps: 0, rate_bps: 10_000_000 }, RatePiece { at_ps: 2 * PS_PER_S, rate_bps: 0 }];
    assert_eq!(trace.plan, Some(CapacityPlan::Rates { pieces, repeat_ps: 4 * PS_PER_S }));
    assert_eq!(trace.delays, [(0, 20 * PS_PER_MS), (2 * PS_PER_S, 35_500_000_000)]);
    assert_eq!(trace.mean_bps(6 * PS_PER_S), 6_666_667);
}

/// 12.032 Mbit/s is an opportunity a millisecond; what is written is read as the same rate.
#[test]
fn a_rate_is_written_as_a_trace_that_offers_it() {
    let rate = Value::text("steps(12.032 Mbps for 3 ms, 0 bps for 3 ms, 24.064 Mbps for 2 ms)");
    let written =
        |ms: Option<u64>, format| trace_text(&rate, ms.map(|ms| ms * PS_PER_MS), format, &NoFiles).unwrap();
    assert_eq!(written(None, TraceFormat::Mahimahi), "1\n2\n3\n7\n7\n8\n8\n");
    let twice = "1\n2\n3\n7\n7\n8\n8\n9\n10\n11\n15\n15\n16\n16\n";
    assert_eq!(written(Some(16), TraceFormat::Mahimahi), twice);
    let csv = "time_s,rate_Mbps\n0,12.032\n0.003,0\n0.006,24.064\n";
    assert_eq!(written(None, TraceFormat::Csv(PS_PER_MS)), csv);
}

#[test]
fn a_trace_is_written_as_rates_over_time() {
    let file = One("1\n2\n3\n7\n7\n8\n8\n");
    let rate = Value::text("mahimahi(a.down)");
    let text = trace_text(&rate, None, TraceFormat::Csv(4 * PS_PER_MS), &file).unwrap();
    assert_eq!(text, "time_s,rate_Mbps\n0,9.024\n0.004,12.032\n");
    let copied = trace_text(&rate, Some(10 * PS_PER_MS), TraceFormat::Mahimahi, &file).unwrap();
    assert_eq!(copied, "1\n2\n3\n7\n7\n8\n8\n9\n10\n");
}

#[test]
fn what_has_no_end_or_is_random_is_no_trace() {
    for (rate, expected) in [
        ("100 Mbps", "has no end of its own"),
        ("markov(20 Mbps for 2 s, 5 Mbps for 1 s)", "has no end of its own"),
    ] {
        let refused = trace_text(&Value::text(rate), None, TraceFormat::Mahimahi, &NoFiles).unwrap_err();
        assert!(refused.to_string().contains(expected), "{refused}");
    }
    let rate = Value::text("markov(20 Mbps for 2 s, 5 Mbps for 1 s)");
    let refused = trace_text(&rate, Some(PS_PER_S), TraceFormat::Mahimahi, &NoFiles).unwrap_err();
    assert!(refused.to_string().contains("is drawn by each run"), "{refused}");
}

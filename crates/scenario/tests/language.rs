//! Scenarios in, meanings, plans and mistakes out.

use bufferlab_scenario::write::{fill_in, schema_text, types};
use bufferlab_scenario::{Files, Mistake, NoFiles, Scenario, Table, Value, plan_hash, plan_json};

const DUMBBELL: &str = r#"
[run]
duration = "100 s"

[[links]]
name = "west"
rate = "100 Mbps"
delay = "1 ms"
buffer = "100 packets"

[[flows]]
name = "short"
rtt = "10 ms"

[[flows]]
name = "long"
rtt = "990 ms"
count = 3
"#;

fn scenario(text: &str) -> Scenario {
    Scenario::from_toml(text, None, &NoFiles).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

fn mistakes(text: &str) -> String {
    Scenario::from_toml(text, Some("a.toml"), &NoFiles).expect_err("it is wrong").to_string()
}

/// Each line begins so, and there are no others.
fn assert_begin(found: &str, starts: &[&str]) {
    for (line, start) in found.lines().zip(starts) {
        assert!(line.starts_with(start), "{line}\n{start}");
    }
    assert_eq!(found.lines().count(), starts.len(), "{found}");
}

fn with(path: &str, value: &str) -> Scenario {
    let overrides = Table::of([(path, Value::text(value))]);
    scenario(DUMBBELL).with_overrides(&overrides, &NoFiles).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

fn refused(path: &str, value: &str) -> String {
    let overrides = Table::of([(path, Value::text(value))]);
    let changed = scenario(DUMBBELL).with_overrides(&overrides, &NoFiles);
    changed.and_then(|changed| changed.lower(None)).expect_err("it is wrong").to_string()
}

#[test]
fn all_mistakes_are_reported_with_their_places_in_the_order_of_the_file() {
    let text = "[run]\nduraton = \"1 s\"\n\n[bottleneck]\nbuffer = \"0 packets\"\nrate = \"10 mbps\"\n\n[[flows]]\nrtt = 5\n";
    let starts = [
        "a.toml:2:1: run.duraton: is not a known key (did you mean 'duration'?); accepted: what docs/scenario.md#run lists",
        "a.toml:5:10: bottleneck.buffer: '0 packets' leaves no room for a packet",
        "a.toml:6:8: bottleneck.rate: '10 mbps' has a wrong unit (did you mean 'Mbps'?)",
        "a.toml:9:7: flows[0].rtt: 5 is not a time or a distribution",
    ];
    assert_begin(&mistakes(text), &starts);
}

/// As somebody writes it who knows other tools: nothing is said twice, and no mistake hides another.
#[test]
fn all_mistakes_of_a_file_from_memory_are_reported_at_once() {
    let text = r#"[link]
bandwidth = "20 mbps"
latency = "5 ms"
limit = 100

[queue]
type = "fifo"

[[flows]]
name = "down"
n = 3
control = "cubik"
latency = "20"
application = "download"

[[flows]]
rtt = "20 ms"
application = { kind = "web" }

[[flows]]
rtt = "20 ms"
application = { type = "udp", packets = "200 B" }

[[flows]]
application = "voip"
"#;
    let found = mistakes(text);
    let starts = [
        "a.toml:1:2: link: is not a known key (did you mean 'bottleneck'?); accepted: what docs/scenario.md lists",
        "a.toml:2:1: link.bandwidth: is not a known key (did you mean 'rate'?)",
        "a.toml:2:13: link.bandwidth: '20 mbps' has a wrong unit",
        "a.toml:3:1: link.latency: is not a known key (did you mean 'delay'?)",
        "a.toml:4:1: link.limit: is not a known key (did you mean 'buffer'?)",
        "a.toml:4:9: link.limit: 100 is not a text with a number and a unit",
        "a.toml:6:2: queue: is not a known key (links have it: bottleneck.queue)",
        "a.toml: run: is required",
        "a.toml:11:1: flows[0].n: is not a known key (did you mean 'count'?)",
        "a.toml:12:1: flows[0].control: is not a known key (did you mean 'congestion'?)",
        "a.toml:12:11: flows[0].control: 'cubik' is not a known congestion control (did you mean 'cubic'?)",
        "a.toml:13:1: flows[0].latency: is not a known key (did you mean 'rtt'?)",
        "a.toml:13:11: flows[0].latency: '20' has no unit",
        "a.toml:14:15: flows[0].application: 'download' is not accepted here (did you mean \"bulk\"?)",
        "a.toml:18:1: flows[1].application.size: is required",
        "a.toml:18:1: flows[1].application.every: is required",
        "a.toml:22:1: flows[2].application: needs either rate or interval",
        "a.toml:22:17: flows[2].application.type: is not a known key (did you mean 'kind'?)",
        "a.toml:22:31: flows[2].application.packets: is not a known key (did you mean 'packet'?)",
        "a.toml:24:1: flows[3].rtt: is required",
        "a.toml:25:15: flows[3].application: 'voip' is not accepted here (did you mean { kind = \"udp\", packet = \"200 B\", interval = \"20 ms\" }?)",
    ];
    assert_begin(&found, &starts);
}

#[test]
fn tables_that_stand_for_lists_and_lists_for_tables_are_read_nonetheless() {
    let text = "[[run]]\nduraton = \"1 s\"\n[links]\nrate = \"1 Mbps\"\nbuffer = \"0\"\n[flows]\nrtt = 5\n[advise]\ntargets = [\"x.r > 80\"]\n";
    let found = mistakes(text);
    let starts = [
        "a.toml:1:3: run: is a list; accepted: one table of keys, in single brackets",
        "a.toml:2:1: run[0].duraton: is not a known key",
        "a.toml:3:1: links: {'buffer': '0', 'rate': '1 Mbps'} is not a list; accepted: tables headed [[links]]",
        "a.toml:5:10: links.buffer: '0' has no unit",
        "a.toml:6:1: flows: {'rtt': 5} is not a list; accepted: tables headed [[flows]]",
        "a.toml:7:7: flows.rtt: 5 is not a time or a distribution",
    ];
    assert_begin(&found, &starts);
}

#[test]
fn a_target_of_no_group_is_reported_beside_other_mistakes() {
    let text = DUMBBELL.replace("100 Mbps", "100 mbps") + "[advise]\ntargets = [\"shrt.goodput > 1 Mbps\"]\n";
    assert!(mistakes(&text).contains("names no flow group (did you mean 'short'?)"), "{}", mistakes(&text));
}

#[test]
fn a_part_that_cannot_be_read_hides_no_mistake_across_the_others() {
    let text = DUMBBELL
        .replace("rate = \"100 Mbps\"", "rate = \"100 mbps\"")
        .replace("rtt = \"10 ms\"", "rtt = \"10 ms\"\npath = [\"east\"]")
        .replace("name = \"long\"", "name = \"short\"\nmin_rto = \"2 min\"");
    let starts = [
        "a.toml:7:8: links[0].rate: '100 mbps' has a wrong unit",
        "a.toml:14:9: flows[0].path[0]: 'east' names no link; accepted: west",
        "a.toml:17:8: flows[1].name: 'short' is the name of flows[0] too",
        "a.toml:18:11: flows[1].min_rto: '120 s' is above max_rto",
    ];
    assert_begin(&mistakes(&text), &starts);
}

#[test]
fn what_a_misspelled_key_may_have_said_is_not_missed() {
    for (from, to) in [("name = \"west\"", "nam = \"east\""), ("[[links]]", "[[lnks]]")] {
        let text =
            DUMBBELL.replace(from, to).replace("rtt = \"10 ms\"", "rtt = \"10 ms\"\npath = [\"east\"]");
        let found = mistakes(&text);
        assert!(found.lines().count() == 1 && found.contains("is not a known key"), "{found}");
    }
    let text =
        DUMBBELL.replace("rtt = \"10 ms\"", "rtt = \"10 ms\"\ncongestion = \"bbr\"\nrecovry = \"sack\"");
    let found = mistakes(&text);
    assert!(found.lines().count() == 1 && found.contains("(did you mean 'recovery'?)"), "{found}");
}

#[test]
fn a_mistake_of_an_override_names_its_path_as_written() {
    for path in ["flows.long.rtt", "flows.1.rtt", "flows[1].rtt"] {
        let message = refused(path, "1 mss");
        assert!(message.starts_with(&format!("--set: {path}: '1 mss' has a wrong unit")), "{message}");
    }
    let shorter = DUMBBELL.replace("990 ms", "1 ms");
    let overrides = Table::of([("flows.long.count", Value::text("0"))]);
    let both = Scenario::from_text(&shorter, Some("a.toml"), &overrides, &NoFiles).unwrap_err().to_string();
    let lines: Vec<&str> = both.lines().collect();
    assert!(lines[0].starts_with("--set: flows.long.count: 0 is too small"), "{both}");
    assert_eq!(lines.len(), 1, "{both}"); // that group is not looked at further
}

#[test]
fn mistakes_across_parts_and_of_draws_know_their_places() {
    let text = DUMBBELL.replace("rtt = \"10 ms\"", "rtt = \"1 ms\"");
    assert!(
        mistakes(&text).starts_with("a.toml:13:7: flows[0].rtt: '1 ms' is shorter than the links' delays")
    );
    let text = DUMBBELL.replace("rtt = \"10 ms\"", "rtt = \"10 ms\"\nstart = \"100 s\"");
    let drawn =
        Scenario::from_toml(&text, Some("a.toml"), &NoFiles).unwrap().lower(None).unwrap_err().to_string();
    assert!(drawn.starts_with("a.toml:14:9: flows[0].start: '100 s' starts no flow before"), "{drawn}");
}

#[test]
fn one_mistake_is_one_line() {
    let cases = [
        (
            "run.warmup",
            "100 s",
            "run.warmup: '100 s' leaves nothing to measure; accepted: less than the duration",
        ),
        ("run.stack", "bsd", "'bsd' is not a known word; accepted: rfc, ns2-sack1, linux, inet-reno, quic"),
        ("links.west.queue", "fq-codel", "'fq-codel' is not accepted here (did you mean 'fq_codel'?)"),
        (
            "links.west.queue",
            "{discipline = 'codel', taget = '5 ms'}",
            "queue.taget: is not a known key (did you mean",
        ),
        ("links.west.queue", "{discipline = 'splitbuff', rtt = 4}", "4 is no source of round-trip times"),
        ("links.west.mark_above", "unlimited", "'unlimited' is not a threshold; accepted: '20 packets',"),
        ("flows.short.path", "['east']", "--set: flows.short.path[0]: 'east' names no link; accepted: west"),
        ("run.stack", "linus", "'linus' is not a known word (did you mean 'linux'?); accepted: rfc,"),
        (
            "flows[0].recovery",
            "SAK",
            "--set: flows[0].recovery: 'SAK' is not a known word (did you mean 'sack'?)",
        ),
        (
            "links.0.queue",
            "{discipline = 'codle'}",
            "links.0.queue.discipline: 'codle' is not a known discipline (did you mean 'codel'?)",
        ),
        (
            "flows.short.application",
            "pings",
            "(did you mean { kind = \"ping\", interval = \"100 ms\" }?); accepted: 'bulk', or a table",
        ),
        (
            "flows.short.application.kind",
            "wbe",
            "'wbe' is not a known kind (did you mean { kind = \"web\", size = \"177669 B\", every = \"2 s\" }?)",
        ),
        ("flows.short.application", "{}", "flows.short.application.kind: is required; accepted: bulk"),
        (
            "flows.short.congestion",
            "cubix",
            "(did you mean 'cubic'?); accepted: what docs/scenario.md#congestion-controls lists",
        ),
        ("flows.short.offload", "46 segments", "is more than 64 KB; accepted: 1 to 45 segments of 1448 B"),
        ("flows.short.window", "1000 B", "accepted: at least '1448 B', a segment's 1448 B"),
        ("flows.long.name", "all", "'all' is reserved for the sum over groups"),
        ("flows.long.rtt", "uniform(0 s, 4 ms)", "--set: flows.long.rtt: 'uniform(0 s, 4 ms), drawn as"),
        ("probes.interval", "1 us", "probes.interval: '1 us' makes"),
        ("flows[2].count", "1", "--set: flows[2].count: has no item 2; accepted: 0 to 1"),
    ];
    for (path, value, expected) in cases {
        let message = refused(path, value);
        assert!(message.contains(expected) && message.lines().count() == 1, "{message}");
    }
}

#[test]
fn everything_is_resolved() {
    let short = "[run]\nduration = \"100 s\"\n[bottleneck]\nrate = \"1 Mbps\"\nqueue = \"splitbuff-weighted\"\n[[flows]]\nrtt = \"10 ms\"\n";
    let resolved = serde_json::to_value(scenario(short).resolved()).unwrap();
    assert_eq!(resolved["run"]["warmup_ps"], 20_000_000_000_000_u64);
    assert_eq!(resolved["links"][0]["name"], "bottleneck");
    assert_eq!(resolved["links"][0]["buffer"]["text"], "2 bdp");
    assert_eq!(resolved["links"][0]["queue"]["sub_buffers"], 4);
    assert_eq!(resolved["flows"][0]["path"][0], "bottleneck");
    assert_eq!(resolved["flows"][0]["tcp"]["congestion"], "reno");
    assert_eq!(resolved["flows"][0]["application"]["kind"], "bulk");
}

#[test]
fn other_groups_do_not_change_a_groups_draws() {
    let drawn = "[[flows]]\nname = \"drawn\"\nrtt = \"uniform(10 ms, 1 s)\"\nstart = \"uniform(0 s, 5 s)\"\ncount = 5\n";
    let head = "[run]\nduration = \"100 s\"\n[bottleneck]\nrate = \"1 Mbps\"\nbuffer = \"9 packets\"\n";
    let alone = scenario(&format!("{head}{drawn}")).lower(None).unwrap().flows;
    let more = drawn.replace("count = 5", "count = 6");
    let beside = scenario(&format!("{head}[[flows]]\nrtt = \"50 ms\"\n{more}")).lower(None).unwrap().flows;
    assert_eq!(alone.start_ps, beside.start_ps[1..6]);
    assert_eq!(alone.return_delay_ps, beside.return_delay_ps[1..6]);
    let other = scenario(&format!("{head}{}", drawn.replace("drawn", "other"))).lower(None).unwrap().flows;
    assert_ne!(alone.start_ps, other.start_ps);
}

/// A change of these numbers changes every published result: say so in the change log.
#[test]
fn draws_are_the_same_on_every_machine() {
    let plan = with("flows.long.start", "uniform(0 s, 5 s)").lower(None).unwrap();
    assert_eq!(plan.flows.start_ps[1..], START_PS);
    assert_eq!(plan_hash(&plan).len(), 64);
    assert_eq!(serde_json::from_str::<bufferlab_simulator::Plan>(&plan_json(&plan)).unwrap(), plan);
}

const START_PS: [u64; 3] = [3_882_576_672_857, 4_376_512_984_213, 1_313_117_730_906];

#[test]
fn twins_have_their_share() {
    let twin = with("links.west.buffer", "105 packets")
        .with_overrides(&Table::of([("flows.short.count", Value::text("3"))]), &NoFiles);
    let twin = twin.unwrap().twin(3, &NoFiles).unwrap();
    let link = &twin.resolved().links[0];
    assert_eq!((link.rate_bps, link.buffer.text.as_str()), (33_333_333, "35 packets"));
    assert_eq!(twin.resolved().flows[1].count, 1);
    let refused = with("links.west.queue", "codel").twin(3, &NoFiles).unwrap_err().to_string();
    let (problem, accepted) = refused.split_once("; accepted: one of ").unwrap();
    assert!(problem.ends_with("links.west.queue: 'codel' does not scale"), "{refused}");
    let scaling: Vec<_> = accepted.split(", ").collect();
    assert!(["fifo", "pie", "red", "drr"].iter().all(|word| scaling.contains(word)), "{refused}");
    assert!(!scaling.contains(&"codel"), "{refused}");
}

#[test]
fn what_is_written_reads_as_the_same() {
    let changed = with("links.west.queue", "{discipline = 'red', max_p = 0.02}");
    assert_eq!(scenario(&changed.to_toml()).lower(None), changed.lower(None));
    assert_eq!(scenario(DUMBBELL).to_toml(), DUMBBELL);
}

#[test]
fn files_are_read_by_the_caller() {
    struct Sizes;
    impl Files for Sizes {
        fn read(&self, path: &str) -> Result<(String, String), Mistake> {
            Ok((path.to_owned(), "rtt_ms\n40\n".to_owned()))
        }
    }
    let text = DUMBBELL.replace("\"10 ms\"", "\"empirical(rtts.csv)\"");
    let plan = Scenario::from_toml(&text, None, &Sizes).unwrap().lower(None).unwrap();
    assert_eq!(plan.flows.return_delay_ps[0], 20_000_000_000);
    assert!(mistakes(&text).starts_with("rtts.csv: flows[0].rtt: no such file"));
}

#[test]
fn what_is_written_from_the_declarations_is_complete() {
    let schema: serde_json::Value = serde_json::from_str(&schema_text()).unwrap();
    assert_eq!(schema["$defs"]["Codel"]["properties"]["target"]["default"], "5 ms");
    assert_eq!(schema["$defs"]["Link"]["required"], serde_json::json!(["rate"]));
    let page = fill_in("a\n<!-- generated: run -->\nold\n<!-- end of generated -->\nb\n").unwrap();
    assert!(page.contains("| `duration` | time | required | `\"500 s\"` | simulated time |\n"), "{page}");
    assert!(fill_in("<!-- generated: nothing -->\n<!-- end of generated -->").is_err());
    assert!(types().contains("class ResolvedFlow(TypedDict):"));
}

#[test]
fn a_seed_settles_what_depends_on_the_flows_drawn() {
    use serde_json::{json, to_value};
    let scenario = with("links.west.buffer", "0.5 bdp");
    let before = to_value(scenario.resolved()).unwrap();
    assert_eq!(before["links"][0]["buffer"]["limit"], json!(null));
    let seeded = scenario.seeded(Some(9)).unwrap();
    assert_eq!(plan_json(&seeded.plan), plan_json(&scenario.lower(Some(9)).unwrap()));
    let after = to_value(&seeded.resolved).unwrap();
    assert_eq!(after["run"]["seed"], json!(9));
    assert_eq!(
        after["links"][0]["buffer"]["limit"],
        to_value(seeded.plan.links[0].discipline.limit).unwrap()
    );
    assert_eq!(after["links"][0]["packet_bytes"], json!(1500));
    assert_eq!(after["flows"], before["flows"]);
    assert_eq!(seeded.draws[1].rtt_ps, [990_000_000_000; 3]);
}

/// Different users have different phases; a start that is stated holds.
#[test]
fn flows_that_act_by_turns_start_at_random_within_a_period() {
    let head = "[run]\nduration = \"60 s\"\n[bottleneck]\nrate = \"9 Mbps\"\nbuffer = \"9 packets\"\n";
    let start = |keys: &str, application: &str| {
        let text = format!("{head}[[flows]]\nrtt = \"20 ms\"\n{keys}\napplication = {application}\n");
        let seeded = scenario(&text).seeded(Some(3)).unwrap();
        (seeded.resolved.flows[0].start.text.clone(), seeded.plan.flows.start_ps)
    };
    let web = "{ kind = \"web\", size = \"pareto(mean=30 KB, shape=1.2)\", every = \"6 s\" }";
    let (text, mut start_ps) = start("count = 30", web);
    assert_eq!(text, "uniform(0 s, 6 s)");
    start_ps.sort_unstable();
    start_ps.dedup();
    assert!(start_ps.len() == 30 && start_ps[29] < 6_000_000_000_000, "{start_ps:?}");
    let stated = start("count = 30\nstart = \"uniform(0 s, 6 s)\"", web).1;
    assert_eq!(stated, start("count = 30", web).1);
    let spread = [
        ("{ kind = \"udp\", packet = \"200 B\", interval = \"20 ms\" }", "uniform(0 s, 20 ms)"),
        ("{ kind = \"udp\", packet = \"1000 B\", rate = \"1 Mbps\" }", "uniform(0 s, 8 ms)"),
        ("{ kind = \"ping\", interval = \"100 ms\" }", "uniform(0 s, 100 ms)"),
        ("{ kind = \"on-off\", on = \"1 s\", off = \"2 s\" }", "uniform(0 s, 3 s)"),
        ("{ kind = \"on-off\", size = \"1 MB\", off = \"4 s\" }", "uniform(0 s, 4 s)"),
        ("{ kind = \"video\" }", "uniform(0 s, 4 s)"),
    ];
    for (application, expected) in spread {
        assert_eq!(start("count = 2", application).0, expected, "{application}");
    }
    let at_once = [
        ("count = 30\nstart = \"0 s\"", web),
        ("count = 1", web),
        ("count = 2\nstop = \"5 s\"", web),
        ("count = 2", "\"bulk\""),
        ("count = 2", "{ kind = \"web\", size = \"1 MB\", every = \"61 s\" }"),
        ("count = 2", "{ kind = \"web\", size = \"1 MB\", every = \"exponential(mean=6 s)\" }"),
        ("count = 2", "{ kind = \"udp\", packet = \"200 B\", interval = \"20 ms\", arrivals = \"poisson\" }"),
        ("count = 2", "{ kind = \"on-off\", on = \"exponential(mean=1 s)\", off = \"2 s\" }"),
    ];
    for (keys, application) in at_once {
        let (text, start_ps) = start(keys, application);
        assert!(text == "0 s" && start_ps.iter().all(|ps| *ps == 0), "{keys} {application}: {text}");
    }
}

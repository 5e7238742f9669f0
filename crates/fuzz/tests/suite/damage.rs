//! Damaged captures of a run, from the file to what they tell: nothing panics, everything ends, what is kept is bounded, and what could
//! not be read is said.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, OnceLock};

use bufferlab_capture::reading::Warning;
use bufferlab_capture::{Output, Places, Recording};
use bufferlab_fuzz::observed;
use bufferlab_scenario::{NoFiles, Scenario};
use bufferlab_simulator::{Control, run_recorded};
use bufferlab_units::Time;
use proptest::prelude::*;

/// Losses, marks, SACK, timestamps, short flows, datagrams, pings, for long enough that senders' clocks are known; captured at both ends.
const SCENARIO: &str = r#"
run = { duration = "4 s", warmup = "0 s", stack = "linux" }
[bottleneck]
rate = "1 Mbps"
buffer = "6 packets"
queue = "fifo"
[[flows]]
count = 2
rtt = "40 ms"
[[flows]]
rtt = "20 ms"
application = { kind = "short-flows", size = "10 kB", interval = "500 ms" }
[[flows]]
rtt = "20 ms"
application = { kind = "udp", packet = "200 B", rate = "50 kbps" }
[[flows]]
rtt = "20 ms"
application = { kind = "ping", interval = "100 ms" }
"#;

/// A file in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("one thread").write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output for Memory {
    fn cut(&mut self, bytes: u64) -> io::Result<()> {
        self.0.lock().expect("one thread").truncate(bytes as usize);
        Ok(())
    }
}

/// The run as pcapng.
fn newer() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let scenario = Scenario::from_toml(SCENARIO, None, &NoFiles).expect("it is one");
        let plan = scenario.lower(Some(1)).expect("it has a plan");
        let memory = Memory::default();
        let places = Places { senders: true, receivers: true, links: Vec::new() };
        let mut recording =
            Recording::new(&plan, None).with_pcap(Box::new(memory.clone()), &places, u64::MAX);
        let outcome = run_recorded(&plan, &Control::default(), &mut recording).expect("it runs");
        recording.finish(Time::from_ps(outcome.reached_ps));
        let bytes = memory.0.lock().expect("one thread").clone();
        assert!(bytes.len() < 500_000, "{}", bytes.len());
        bytes
    })
}

/// The same packets as pcap: frames by the enhanced packet blocks of the file above, with times in nanoseconds.
fn older() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let word = |at: usize| u32::from_le_bytes(newer()[at..at + 4].try_into().expect("four bytes"));
        let mut file =
            [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, link_type()].map(u32::to_le_bytes).concat();
        for at in blocks() {
            if word(at) == 6 {
                let ns = u64::from(word(at + 12)) << 32 | u64::from(word(at + 16));
                let (kept, whole) = (word(at + 20), word(at + 24));
                let head = [(ns / 1_000_000_000) as u32, (ns % 1_000_000_000) as u32, kept, whole];
                file.extend(head.map(u32::to_le_bytes).concat());
                file.extend(&newer()[at + 28..at + 28 + kept as usize]);
            }
        }
        file
    })
}

/// Where the blocks of the run's pcapng begin.
fn blocks() -> Vec<usize> {
    let mut places = Vec::new();
    let mut at = 0;
    while at < newer().len() {
        places.push(at);
        at += u32::from_le_bytes(newer()[at + 4..at + 8].try_into().expect("four bytes")) as usize;
    }
    places
}

fn link_type() -> u32 {
    let first = blocks()[1];
    u32::from(u16::from_le_bytes(newer()[first + 8..first + 10].try_into().expect("two bytes")))
}

/// Where the records of pcap begin.
fn records() -> Vec<usize> {
    let mut places = Vec::new();
    let mut at = 24;
    while at < older().len() {
        places.push(at);
        at += 16 + u32::from_le_bytes(older()[at + 8..at + 12].try_into().expect("four bytes")) as usize;
    }
    places
}

/// What happens to a file.
#[derive(Clone, Debug)]
enum Damage {
    /// One bit is another.
    Bit(prop::sample::Index, u8),
    /// Bytes are others.
    Bytes(prop::sample::Index, Vec<u8>),
    /// Bytes are missing.
    Missing(prop::sample::Index, usize),
    /// Bytes are there twice.
    Twice(prop::sample::Index, usize),
    /// A record has another time, in the file's units.
    Time(prop::sample::Index, u64),
    /// All records from here on do, by as much.
    Later(prop::sample::Index, u32),
    /// A field of four bytes within a packet is another: addresses, ports, sequence numbers, timestamps.
    Field(prop::sample::Index, usize, u32),
    /// Records are another's interface (pcapng), or length (pcap).
    Head(prop::sample::Index, u32),
    /// A record has another length.
    Length(prop::sample::Index, u32),
    /// Two records have changed places.
    Swap(prop::sample::Index, prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    use Damage::{Bit, Bytes, Field, Head, Later, Length, Missing, Swap, Time, Twice};
    let at = any::<prop::sample::Index>;
    let wild =
        prop_oneof![Just(0), Just(1), Just(u32::MAX), Just(i32::MAX as u32), Just(1 << 31), any::<u32>()];
    let time = prop_oneof![Just(0), Just(u64::MAX), Just(i64::MAX as u64), Just(1 << 63), any::<u64>()];
    prop_oneof![
        (at(), 0_u8..8).prop_map(|(at, bit)| Bit(at, bit)),
        (at(), prop::collection::vec(any::<u8>(), 1..30)).prop_map(|(at, bytes)| Bytes(at, bytes)),
        (at(), 1_usize..300).prop_map(|(at, length)| Missing(at, length)),
        (at(), 1_usize..2_000).prop_map(|(at, length)| Twice(at, length)),
        (at(), time).prop_map(|(at, time)| Time(at, time)),
        (at(), any::<u32>()).prop_map(|(at, by)| Later(at, by)),
        (at(), 0_usize..100, wild.clone()).prop_map(|(at, offset, value)| Field(at, offset, value)),
        (at(), prop_oneof![0_u32..5, wild.clone()]).prop_map(|(at, value)| Head(at, value)),
        (at(), prop_oneof![0_u32..300_000, wild]).prop_map(|(at, value)| Length(at, value)),
        (at(), at()).prop_map(|(one, other)| Swap(one, other)),
    ]
}

/// Where a record's time, its length, the field that `Damage::Head` changes, and its packet are.
struct Layout {
    records: Vec<usize>,
    time: usize,
    length: usize,
    head: usize,
    frame: usize,
}

impl Layout {
    fn of(is_newer: bool) -> Layout {
        if is_newer {
            Layout { records: blocks(), time: 12, length: 4, head: 8, frame: 28 }
        } else {
            Layout { records: records(), time: 0, length: 8, head: 8, frame: 16 }
        }
    }
}

fn write(file: &mut [u8], at: usize, bytes: &[u8]) {
    for (place, &byte) in file.iter_mut().skip(at).zip(bytes) {
        *place = byte;
    }
}

fn apply(file: &mut Vec<u8>, layout: &Layout, damage: &Damage) {
    if file.is_empty() {
        return;
    }
    let record = |at: &prop::sample::Index| layout.records[at.index(layout.records.len())];
    let length = file.len();
    match damage {
        Damage::Bit(at, bit) => file[at.index(length)] ^= 1 << bit,
        Damage::Bytes(at, bytes) => write(file, at.index(length), bytes),
        Damage::Missing(at, count) => {
            let at = at.index(length);
            file.drain(at..(at + count).min(length));
        }
        Damage::Twice(at, count) => {
            let at = at.index(length);
            let part = file[at..(at + count).min(length)].to_vec();
            file.splice(at..at, part);
        }
        Damage::Time(at, time) => {
            let halves = [(time >> 32) as u32, *time as u32].map(u32::to_le_bytes).concat();
            write(file, record(at) + layout.time, &halves);
        }
        Damage::Later(at, by) => {
            for &place in &layout.records[at.index(layout.records.len())..] {
                write(file, place + layout.time, &by.to_le_bytes());
            }
        }
        Damage::Field(at, offset, value) => {
            write(file, record(at) + layout.frame + offset, &value.to_be_bytes());
        }
        Damage::Head(at, value) => write(file, record(at) + layout.head, &value.to_le_bytes()),
        Damage::Length(at, value) => write(file, record(at) + layout.length, &value.to_le_bytes()),
        Damage::Swap(one, other) => {
            let (one, other) = (record(one), record(other));
            let (one, other) = (one.min(other), one.max(other));
            if other + 200 <= length && one + 200 <= other {
                let (before, after) = file.split_at_mut(other);
                before[one..one + 200].swap_with_slice(&mut after[..200]);
            }
        }
    }
}

#[test]
fn what_is_damaged_is_a_capture_of_everything() {
    let (report, seen) = observed(newer()).expect("it is a capture");
    assert!(report.warnings.is_empty() && report.interfaces.len() == 2, "{report:?}");
    assert!(
        seen.directions.retransmitted_segments.iter().sum::<u64>() > 5,
        "{:?}",
        seen.directions.retransmitted_segments
    );
    assert!(seen.directions.sack_packets.iter().sum::<u64>() > 5, "{:?}", seen.directions.sack_packets);
    assert!(seen.queueing.samples.iter().sum::<u64>() > 100, "{:?}", seen.queueing.samples);
    assert!(seen.links.rate_by.iter().any(|&by| by > 0), "{:?}", seen.links.rate_by);
    assert!(
        seen.totals.udp_packets > 50 && seen.totals.echo_packets > 4 && seen.totals.evicted_connections > 0
    );
    let again = observed(older()).expect("it is one, too");
    assert!(again.0.warnings.is_empty(), "{:?}", again.0);
    assert_eq!(again.0.packets, report.packets);
}

#[test]
fn times_that_no_clock_has_are_taken_as_they_are() {
    for is_newer in [false, true] {
        let (whole, layout) = (if is_newer { newer() } else { older() }, Layout::of(is_newer));
        for time in [0, 1, 1 << 62, 1 << 63, i64::MAX as u64, u64::MAX] {
            let mut file = whole.to_vec();
            for (number, &place) in layout.records.iter().enumerate().skip(5) {
                if number % 3 == 0 {
                    let halves = [(time >> 32) as u32, time as u32].map(u32::to_le_bytes).concat();
                    write(&mut file, place + layout.time, &halves);
                }
            }
            let (report, _) = observed(&file).expect("it is a capture");
            assert!(report.packets > 300, "{report:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_cut_anywhere_is_read_up_to_there(is_newer in any::<bool>(), at in any::<prop::sample::Index>()) {
        let whole = if is_newer { newer() } else { older() };
        let layout = Layout::of(is_newer);
        let at = at.index(whole.len());
        let ends = at == whole.len() || layout.records.contains(&at);
        match observed(&whole[..at]) {
            Some((report, _)) => {
                let cut = report.warnings.iter().any(|notice| notice.warning == Warning::Cut);
                prop_assert!(cut != ends, "{at}: {report:?}");
            }
            None => prop_assert!(at < 28, "{at}"),
        }
    }

    /// What is read besides is what a capture without that record has.
    #[test]
    fn a_length_that_no_packet_has_costs_one_record(
        is_newer in any::<bool>(),
        at in any::<prop::sample::Index>(),
        length in prop_oneof![Just(u32::MAX), Just(6_000_000), 400_001_u32.., 66_000_u32..262_144],
    ) {
        let layout = Layout::of(is_newer);
        // pcapng's first blocks are of no packet; and its lengths are a multiple of four
        let (first, length) = if is_newer { (3, length.max(400_000) | 1) } else { (0, length) };
        let place = layout.records[first + at.index(layout.records.len() - first)];
        let mut file = (if is_newer { newer() } else { older() }).to_vec();
        let whole = observed(&file).expect("it is a capture").0;
        write(&mut file, place + layout.length, &length.to_le_bytes());
        let report = observed(&file).expect("it is one, too").0;
        let (left, noticed) = (whole.packets - report.packets, report.warnings[0].count);
        prop_assert!(left <= 1 && noticed == 1 && report.skipped_bytes < 2_000, "{place} {left}: {report:?}");
        prop_assert_eq!(report.bytes + report.skipped_bytes, file.len() as u64);
    }

    #[test]
    fn no_damage_stops_the_analysis(
        is_newer in any::<bool>(),
        damages in prop::collection::vec(damage(), 1..8),
        keep in prop::option::weighted(0.3, any::<prop::sample::Index>()),
    ) {
        let layout = Layout::of(is_newer);
        let mut file = (if is_newer { newer() } else { older() }).to_vec();
        for damage in &damages {
            apply(&mut file, &layout, damage);
        }
        if let Some(keep) = keep {
            file.truncate(keep.index(file.len().max(1)));
        }
        if let Some((report, _)) = observed(&file) {
            prop_assert!(report.packets * 16 <= file.len() as u64);
        }
    }
}

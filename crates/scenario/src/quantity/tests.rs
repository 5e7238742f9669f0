use super::buffer::{Limit, LinkTraffic, limit, parse_buffer};
use super::format::{format_rate, format_size, format_time};
use super::*;

fn time(text: &str) -> Result<u64, Mistake> {
    parse_time(&Value::text(text), 0, MAX_TIME_PS)
}

fn size(text: &str) -> Result<u64, Mistake> {
    parse_size(&Value::text(text), 1, MAX_SIZE_BYTES)
}

fn rate(text: &str) -> Result<u64, Mistake> {
    parse_rate(&Value::text(text))
}

#[test]
fn quantities() {
    let times = [
        ("10 ms", 10_000_000_000),
        ("0 s", 0),
        ("1ps", 1),
        ("2.5 us", 2_500_000),
        ("2.5 µs", 2_500_000),
        ("1e-3 s", 1_000_000_000),
        (" 1 min ", 60 * PS_PER_S),
        (".5 h", 1800 * PS_PER_S),
        ("0.1 ps", 0),
        ("0.5 ps", 0),
        ("1.5 ps", 2),
        ("0.6 ps", 1),
        ("100000 s", MAX_TIME_PS),
        ("33.333333333333336 ms", 33_333_333_333),
    ];
    for (text, expected) in times {
        assert_eq!(time(text), Ok(expected), "{text}");
    }
    for (text, expected) in [
        ("62.5 Mbps", 62_500_000),
        ("2 Gbit/s", 2_000_000_000),
        ("1G", 1_000_000_000),
        ("20 Mbit", 20_000_000),
        ("1.5 kbps", 1500),
    ] {
        assert_eq!(rate(text), Ok(expected), "{text}");
    }
    for (text, expected) in [("1 kB", 1000), ("64 KiB", 65_536), ("1.5 MB", 1_500_000), ("3 bytes", 3)] {
        assert_eq!(size(text), Ok(expected), "{text}");
    }
}

#[test]
fn refused_quantities() {
    let cases = [
        (time("10"), "'10' has no unit"),
        (time("ten ms"), "'ten ms' is not a number with a unit"),
        (time("10 Mbps"), "'10 Mbps' has a wrong unit"),
        (time("-1 ms"), "'-1 ms' is negative; accepted: a time of 0 s to 100000 s, such as '10 ms'"),
        (time("nan s"), "'nan s' is not a number with a unit"),
        (time("1000001 s"), "'1000001 s' is too large"),
        (time("1e99 s"), "'1e99 s' is too large"),
        (time("1e999999999 s"), "'1e999999999 s' is too large"),
        (time("1e99999999999 s"), "is too large"),
        (rate("1e400 Mbps"), "'1e400 Mbps' is too large"),
        (rate("1e-400 Mbps"), "'1e-400 Mbps' is too small"),
        (rate("10_0 Mbps"), "'10_0 Mbps' is not a number with a unit"),
        (rate("0x10Mbps"), "'0x10Mbps' is not a number with a unit"),
        (time("1.5.2 s"), "'1.5.2 s' is not a number with a unit"),
        (rate("10 Mbps2"), "has a wrong unit (did you mean 'Mbps'?)"),
        (rate("10 mbps"), "has a wrong unit (did you mean 'Mbps'?)"),
        (rate("10 MB/s"), "has a wrong unit"),
        (rate("0.1 bps"), "'0.1 bps' is too small; accepted: a rate of 1 bps to 8 Tbps"),
        (size("1.5 B"), "is not a whole number of bytes"),
        (size("1 mb"), "has a wrong unit (did you mean 'MB'?)"),
        (size("1e20 B"), "is too large"),
        (parse_size(&Value::Null, 1, 2), "None is not a text"),
        (time("1,5 s"), "'1,5 s' has a comma in its number (did you mean '1.5 s'?)"),
        (rate("0,500 mbps"), "(did you mean '0.500 Mbps'?)"),
        (size("1,500 B"), "(did you mean '1500 B' or '1.500 B'?)"),
        (size("1,500,000 bytes"), "(did you mean '1500000 B'?)"),
        (time("1,5"), "'1,5' has no unit"),
        (time("1,5,2 s"), "has a wrong unit"),
        (time("1, 5 s"), "has a wrong unit"),
    ];
    for (read, expected) in cases {
        let message = read.unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn formatting() {
    let cases = [
        (format_time(10_000_000_000), "10 ms"),
        (format_time(0), "0 s"),
        (format_time(7200 * PS_PER_S), "7200 s"),
        (format_time(1_234_567), "1.23457 us"),
        (format_rate(62_500_000), "62.5 Mbps"),
        (format_size(1_500_000), "1.5 MB"),
        (format_size(65_536), "65.536 KB"),
        (format_size(1_073_725_440), "1.07373 GB"),
    ];
    for (written, expected) in cases {
        assert_eq!(written, expected);
    }
}

/// `SplitBuff`'s figure 1, an OC-12 of 200 flows, and the reference runs.
const FIG1: LinkTraffic = traffic(100_000_000, 2, 500, 1000);
const OC12: LinkTraffic = traffic(622_000_000, 200, 100, 1500);
const REFERENCE: LinkTraffic = traffic(62_500_000, 10, 87, 1500);

const fn traffic(rate_bps: u64, flows: u64, rtt_ms: u64, packet_bytes: u64) -> LinkTraffic {
    LinkTraffic { rate_bps, flows, mean_rtt_ps: (rtt_ms * PS_PER_MS) as f64, packet_bytes }
}

#[test]
fn buffers() {
    let cases = [
        ("6250 packets", None, Limit::Packets(6250)),
        ("1 packet", None, Limit::Packets(1)),
        ("64 KiB", None, Limit::Bytes(65_536)),
        ("unlimited", None, Limit::Unlimited),
        ("1 bdp", Some(FIG1), Limit::Packets(6250)),
        ("bdp", Some(FIG1), Limit::Packets(6250)),
        ("300 ms", Some(FIG1), Limit::Packets(3750)),
        ("25 ms", Some(FIG1), Limit::Packets(312)),
        ("0.00001 bdp", Some(FIG1), Limit::Packets(1)),
        ("1 bdp", Some(OC12), Limit::Packets(5183)),
        ("stanford", Some(OC12), Limit::Packets(367)),
        ("2 stanford", Some(OC12), Limit::Packets(733)),
        ("0.02 bdp", Some(REFERENCE), Limit::Packets(9)),
        ("0.1 bdp", Some(REFERENCE), Limit::Packets(45)),
        ("0.2 bdp", Some(REFERENCE), Limit::Packets(91)),
        ("0.7 bdp", Some(REFERENCE), Limit::Packets(317)),
    ];
    for (text, traffic, expected) in cases {
        let buffer = parse_buffer(&Value::text(text)).unwrap();
        assert_eq!(limit(&buffer, traffic.as_ref()), Ok(expected), "{text}");
    }
}

#[test]
fn refused_buffers() {
    let cases = [
        ("0 packets", "leaves no room"),
        ("-1 packets", "leaves no room"),
        ("1.5 packets", "is not a whole number"),
        ("100", "has no unit"),
        ("100 Mbps", "has a wrong unit"),
        ("1 bpd", "did you mean 'bdp'"),
        ("1e13 packets", "is too large"),
        ("1e16 B", "is too large"),
        ("1001 bdp", "is too large; accepted: at most 1000 bdp, or 'unlimited'"),
        ("", "is not a number with a unit"),
    ];
    for (text, expected) in cases {
        let message = parse_buffer(&Value::text(text)).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    let bdp = parse_buffer(&Value::text("1 bdp")).unwrap();
    assert!(limit(&bdp, None).unwrap_err().to_string().contains("no flow crosses"));
    let huge = LinkTraffic { rate_bps: 100_000_000_000_000, flows: 1, mean_rtt_ps: 1e18, packet_bytes: 1 };
    assert!(limit(&bdp, Some(&huge)).unwrap_err().to_string().contains("too many packets"));
}

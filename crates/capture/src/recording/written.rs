//! What a run's capture and trace say, read back and held against docs/capture.md and what the run had to do.

use std::collections::BTreeSet;
use std::io::Cursor;

use bufferlab_simulator::{Control, Plan, SourcePlan, run_recorded};
use bufferlab_units::Time;
use serde_json::json;

use crate::blocks::tests::Memory;
use crate::reading::{Content, Packet, Reader, Tcp};
use crate::{Places, Recording, Report, TraceFormat};

/// The plan of two flows with other values at some places: a pointer (RFC 6901) and a value each.
fn plan(changes: &[(&str, serde_json::Value)]) -> Plan {
    let text = include_str!("../../../simulator/tests/plans/two_flows.json");
    let mut plan: serde_json::Value = serde_json::from_str(text).unwrap();
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        plan.pointer_mut(parent).unwrap()[key] = value.clone();
    }
    serde_json::from_value(plan).unwrap()
}

fn every_place() -> Places {
    Places { senders: true, receivers: true, links: vec![0] }
}

/// The interfaces of `every_place`.
const SENDERS: u32 = 0;
const RECEIVERS: u32 = 1;
const IN: u32 = 2;
const OUT: u32 = 3;
const LOST: u32 = 4;

struct Capture {
    packets: Vec<Packet>,
    bytes: Vec<u8>,
    report: Report,
}

impl Capture {
    fn at(&self, interface: u32) -> impl Iterator<Item = &Packet> {
        self.packets.iter().filter(move |packet| packet.interface == interface)
    }

    /// Segments seen at an interface, with their time, from the sender or from the receiver.
    fn segments(&self, interface: u32, from_sender: bool) -> Vec<(u64, Tcp)> {
        let of = |packet: &Packet| match packet.content {
            Content::Tcp(tcp) if packet.source.to_string().starts_with("10.0.") == from_sender => {
                Some((packet.at_ns, tcp))
            }
            _ => None,
        };
        self.at(interface).filter_map(of).collect()
    }

    fn says(&self, text: &str) -> usize {
        self.bytes.windows(text.len()).filter(|window| *window == text.as_bytes()).count()
    }
}

fn capture(plan: &Plan, places: &Places, groups: Option<&[u32]>, most: u64) -> Capture {
    let memory = Memory::default();
    let mut recording = Recording::new(plan, groups).with_pcap(Box::new(memory.clone()), places, most);
    let outcome = run_recorded(plan, &Control::default(), &mut recording).unwrap();
    let report = recording.finish(Time::from_ps(outcome.reached_ps)).0.unwrap();
    let bytes = memory.bytes();
    let packets = Reader::new(Box::new(Cursor::new(bytes.clone()))).unwrap().collect();
    Capture { packets, bytes, report }
}

fn trace(plan: &Plan, format: TraceFormat, most: u64) -> (Vec<String>, Report) {
    let memory = Memory::default();
    let mut recording = Recording::new(plan, None).with_trace(Box::new(memory.clone()), format, most);
    let outcome = run_recorded(plan, &Control::default(), &mut recording).unwrap();
    let report = recording.finish(Time::from_ps(outcome.reached_ps)).1.unwrap();
    (String::from_utf8(memory.bytes()).unwrap().lines().map(str::to_owned).collect(), report)
}

/// One connection of 3000 bytes in segments of 960, with timestamps.
fn transfer(more: &[(&str, serde_json::Value)]) -> Plan {
    let changes = [
        ("/flows/stop_ps", json!([u64::MAX, 0])),
        ("/groups/0/source/transfer_bytes", json!(3_000)),
        ("/groups/0/source/timestamps", json!(true)),
        ("/groups/0/source/header_bytes", json!(52)),
        ("/groups/0/source/ack_bytes", json!(52)),
        ("/groups/0/dscp", json!(46)),
    ];
    plan(&[&changes, more].concat())
}

#[test]
fn a_transfer_is_a_handshake_its_bytes_in_segments_and_their_acknowledgments() {
    let seen = capture(&transfer(&[]), &every_place(), None, u64::MAX);
    let (data, answers) = (seen.segments(RECEIVERS, true), seen.segments(RECEIVERS, false));
    let (syn, agreed) = (data[0].1, answers[0].1);
    // 10⁸ bytes need a shift of 11; the MSS excludes the 12 bytes of timestamps (RFC 6691)
    for (segment, ack) in [(syn, None), (agreed, Some(1))] {
        assert!(segment.flags.syn && segment.sack_permitted && !segment.flags.ece && !segment.flags.cwr);
        assert_eq!((segment.seq, segment.ack, segment.payload_bytes), (0, ack, 0));
        assert_eq!((segment.mss, segment.scale, segment.window), (Some(972), Some(11), u16::MAX));
    }
    let sent: Vec<_> = data[1..].iter().map(|(_, tcp)| (tcp.seq, tcp.payload_bytes, tcp.flags.psh)).collect();
    assert_eq!(sent, [(1, 960, false), (961, 960, false), (1_921, 960, false), (2_881, 120, true)]);
    assert!(data[1..].iter().all(|(_, tcp)| tcp.ack == Some(1) && tcp.window == (100_000_000 >> 11) as u16));
    let acks: Vec<_> = answers[1..].iter().map(|(_, tcp)| (tcp.seq, tcp.ack)).collect();
    assert_eq!(acks, [961, 1_921, 2_881, 3_001].map(|ack| (1, Some(ack))));
    // milliseconds since the start, and one; each end tells the newest that it had from the other when it sent
    for (segments, others) in [(seen.segments(SENDERS, true), seen.segments(SENDERS, false)), (answers, data)]
    {
        for (at_ns, tcp) in segments {
            let heard = others.iter().rfind(|(arrived, _)| *arrived <= at_ns);
            let echo = heard.map_or(0, |(_, tcp)| tcp.stamps.unwrap().0);
            assert_eq!(tcp.stamps, Some((1 + (at_ns / 1_000_000) as u32, echo)));
        }
    }
}

#[test]
fn a_packet_is_the_same_at_every_place_that_it_passes() {
    let seen = capture(&transfer(&[]), &every_place(), None, u64::MAX);
    let from_sender = |packet: &&Packet| packet.source.to_string() == "10.0.0.1";
    let identified = |interface| -> Vec<_> {
        seen.at(interface).filter(from_sender).map(|packet| (packet.identification, packet.content)).collect()
    };
    let sent = identified(SENDERS);
    assert_eq!(sent.iter().map(|sent| sent.0).collect::<Vec<_>>(), [1, 2, 3, 4, 5].map(Some));
    assert!([RECEIVERS, IN, OUT].iter().all(|&interface| identified(interface) == sent));
    let answers = seen.at(SENDERS).filter(|packet| !from_sender(packet));
    assert_eq!(answers.map(|packet| packet.identification).collect::<Vec<_>>(), [1, 2, 3, 4, 5].map(Some));
    // 4 ms to the link, a SYN of 52 bytes at 10 Mbit/s, 1 ms, and 5 ms to the receiver
    let moments: Vec<_> =
        [SENDERS, IN, OUT, RECEIVERS].map(|interface| seen.at(interface).next().unwrap().at_ns).into();
    assert_eq!(moments, [0, 4_000_000, 5_041_600, 10_041_600]);
    let hosts = |packet: &Packet| (packet.source.to_string(), packet.destination.to_string(), packet.dscp);
    assert_eq!(hosts(seen.at(RECEIVERS).nth(1).unwrap()), ("10.128.0.1".into(), "10.0.0.1".into(), 46));
    assert!(seen.packets.iter().all(|packet| packet.dscp == 46));
    assert_eq!(
        (seen.says("bulk-0.sender\0"), seen.says("bulk-1.receiver\0"), seen.says("bottleneck.in")),
        (1, 1, 1)
    );
    // the last segment has a trailer on the link
    assert_eq!(
        seen.at(OUT).map(|packet| packet.frame_bytes).collect::<Vec<_>>(),
        [60, 1_012, 1_012, 1_012, 1_012]
    );
    assert_eq!(seen.at(OUT).last().unwrap().ip_bytes, 172);
}

/// The cumulative acknowledgment and its blocks are what has arrived, at any moment, for both flows.
#[test]
fn acknowledgments_and_sack_blocks_say_what_has_arrived() {
    let plan =
        plan(&[("/links/0/loss_ppb", json!(20_000_000)), ("/duration_ps", json!(2_000_000_000_000_u64))]);
    let seen = capture(&plan, &every_place(), None, u64::MAX);
    for flow in ["10.128.0.1", "10.128.0.2"] {
        let (mut held, mut blocks) = (BTreeSet::new(), 0);
        for packet in seen.at(RECEIVERS) {
            let Content::Tcp(tcp) = packet.content else { panic!() };
            if packet.destination.to_string() == flow && tcp.payload_bytes > 0 {
                assert_eq!((tcp.seq % 960, tcp.payload_bytes), (1, 960));
                held.insert(tcp.seq);
            } else if packet.source.to_string() == flow && !tcp.flags.syn {
                let ack = tcp.ack.unwrap();
                assert!(!held.contains(&ack) && (ack == 1 || held.contains(&(ack - 960))));
                for &(left, right) in tcp.sacks.blocks() {
                    assert!(left > ack && (left..right).step_by(960).all(|seq| held.contains(&seq)));
                    assert!(!held.contains(&(left - 960)) && !held.contains(&right));
                    blocks += 1;
                }
            }
        }
        assert!(blocks > 20, "{flow}: {blocks}");
    }
    let lost = seen.at(LOST).count();
    assert!(lost > 20 && seen.says("lost at bottleneck: random loss before the queue") > 20);
    assert_eq!(
        seen.says("lost at bottleneck: buffer full") + seen.says("lost at bottleneck: random loss"),
        lost
    );
}

/// RFC 3168 sections 6.1.1 and 6.1.2.
#[test]
fn marks_are_asked_for_seen_echoed_and_answered() {
    let plan = plan(&[
        ("/groups/0/source/ecn", json!("classic")),
        ("/links/0/discipline/mark_above", json!({"packets": 5})),
        ("/flows/stop_ps", json!([u64::MAX, 0])),
        ("/duration_ps", json!(1_000_000_000_000_u64)),
        ("/warmup_ps", json!(0)),
    ]);
    let seen = capture(&plan, &every_place(), None, u64::MAX);
    let (data, answers) = (seen.segments(RECEIVERS, true), seen.segments(RECEIVERS, false));
    assert_eq!((data[0].1.flags.ece, data[0].1.flags.cwr), (true, true));
    assert_eq!((answers[0].1.flags.ece, answers[0].1.flags.cwr), (true, false));
    let fields = |interface| -> BTreeSet<u8> {
        seen.at(interface).filter(|packet| packet.frame_bytes == 1_000).map(|packet| packet.ecn).collect()
    };
    assert_eq!((fields(IN), fields(OUT)), (BTreeSet::from([2]), BTreeSet::from([2, 3])));
    assert!(seen.at(RECEIVERS).filter(|packet| packet.frame_bytes != 1_000).all(|packet| packet.ecn == 0));
    let marked = seen.at(RECEIVERS).find(|packet| packet.ecn == 3).unwrap().at_ns;
    let echoed = answers[1..].iter().find(|(_, tcp)| tcp.flags.ece).unwrap().0;
    let reduced = data[1..].iter().find(|(_, tcp)| tcp.flags.cwr).unwrap().0;
    assert!(marked == echoed && echoed < reduced && answers.iter().any(|(_, tcp)| !tcp.flags.ece));
}

/// `web`: the client is the receiver, which opens a connection for each page; the model's SYN is a delay.
#[test]
fn each_page_is_a_connection_that_the_client_opens() {
    let page = json!({"on": {"bytes": {"kind": "constant", "value": 1_920}}, "off_ps": {"kind": "constant", "value": 1},
        "after_idle": "keep", "fetch": true});
    let plan = plan(&[
        ("/groups/0/source/on_off", page),
        ("/flows/stop_ps", json!([u64::MAX, 0])),
        ("/duration_ps", json!(500_000_000_000_u64)),
        ("/warmup_ps", json!(0)),
    ]);
    let seen = capture(&plan, &every_place(), None, u64::MAX);
    let (data, answers) = (seen.segments(SENDERS, true), seen.segments(SENDERS, false));
    let last = data.last().unwrap().1.destination_port;
    assert!(last > 51_003, "{last}");
    for port in 51_001..last {
        let server: Vec<_> =
            data.iter().map(|data| data.1).filter(|tcp| tcp.destination_port == port).collect();
        let client: Vec<_> =
            answers.iter().map(|data| data.1).filter(|tcp| tcp.source_port == port).collect();
        assert!(server.iter().all(|tcp| tcp.source_port == 50_001));
        let sent: Vec<_> = server.iter().map(|tcp| (tcp.seq, tcp.ack, tcp.payload_bytes)).collect();
        assert_eq!(sent, [(0, Some(1), 0), (1, Some(1), 960), (961, Some(1), 960)]);
        let said: Vec<_> = client.iter().map(|tcp| (tcp.seq, tcp.ack, tcp.flags.syn)).collect();
        assert_eq!(
            said,
            [(0, None, true), (1, Some(1), false), (1, Some(961), false), (1, Some(1_921), false)]
        );
    }
    // at both hosts
    let opened = answers.iter().filter(|(_, tcp)| tcp.flags.syn).count();
    let asked = seen.segments(RECEIVERS, false).iter().filter(|(_, tcp)| tcp.flags.syn).count();
    assert_eq!(seen.says("this SYN waits in no queue"), opened + asked);
    assert!(seen.at(IN).all(|packet| packet.source.to_string() == "10.0.0.1"));
}

fn datagrams(echo: bool) -> Plan {
    plan(&[
        (
            "/groups/0/source",
            json!({"kind": "udp", "packet_bytes": 1_000, "interval_ps": 30_000_000_000_u64,
            "echo": echo, "record": false}),
        ),
        ("/duration_ps", json!(100_000_000_000_u64)),
        ("/warmup_ps", json!(0)),
        ("/flows/stop_ps", json!([u64::MAX, 0])),
        ("/flows/start_ps", json!([0, 0])),
    ])
}

#[test]
fn pings_count_from_one_and_are_answered_and_datagrams_are_not() {
    let pings = capture(&datagrams(true), &every_place(), None, u64::MAX);
    let echoes: Vec<_> = pings.at(SENDERS).map(|packet| packet.content).collect();
    let echo = |reply, sequence| Content::Echo { reply, identifier: 0, sequence };
    assert_eq!(echoes[..4], [echo(false, 1), echo(true, 1), echo(false, 2), echo(true, 2)]);
    assert!(pings.packets.iter().all(|packet| (packet.ip_bytes, packet.frame_bytes) == (1_000, 1_000)));
    let datagrams = capture(&datagrams(false), &every_place(), None, u64::MAX);
    assert!(datagrams.packets.iter().all(|packet| packet.source.to_string() == "10.0.0.1"));
    let Content::Udp(udp) = datagrams.packets[0].content else { panic!() };
    assert_eq!((udp.source_port, udp.destination_port, udp.payload_bytes), (51_001, 50_001, 972));
}

/// docs/capture.md, "Traces": nodes of links, then of hosts; every hop has `+`, `-` and `r`.
#[test]
fn a_datagram_leaves_these_lines_in_a_trace() {
    let lines = trace(&datagrams(false), TraceFormat::Ns2, 8).0;
    // 4 ms to the link, 800 µs of transmission, 1 ms, 5 ms to the receiver
    assert_eq!(
        lines,
        [
            "+ 0.000000000000 2 0 udp 1000 ------- 0 2.0 3.0 0 1",
            "- 0.000000000000 2 0 udp 1000 ------- 0 2.0 3.0 0 1",
            "r 0.004000000000 2 0 udp 1000 ------- 0 2.0 3.0 0 1",
            "+ 0.004000000000 0 1 udp 1000 ------- 0 2.0 3.0 0 1",
            "- 0.004000000000 0 1 udp 1000 ------- 0 2.0 3.0 0 1",
            "r 0.005800000000 0 1 udp 1000 ------- 0 2.0 3.0 0 1",
            "+ 0.005800000000 1 3 udp 1000 ------- 0 2.0 3.0 0 1",
            "- 0.005800000000 1 3 udp 1000 ------- 0 2.0 3.0 0 1",
        ]
    );
    let lines = trace(&datagrams(false), TraceFormat::Csv, 5).0;
    assert_eq!(
        lines,
        [
            "time_s,event,place,type,bytes,flow,group,from,number,packet,reason",
            "0.000000000000,leaves,senders,udp,1000,0,bulk,sender,0,1,",
            "0.004000000000,joins,bottleneck,udp,1000,0,bulk,sender,0,1,",
            "0.004000000000,starts,bottleneck,udp,1000,0,bulk,sender,0,1,",
            "0.005800000000,reaches,bottleneck,udp,1000,0,bulk,sender,0,1,",
            "0.010800000000,arrives,receivers,udp,1000,0,bulk,sender,0,1,",
        ]
    );
}

#[test]
fn an_answer_goes_from_host_to_host_where_no_link_is_on_its_way() {
    let lines = trace(&datagrams(true), TraceFormat::Ns2, u64::MAX).0;
    let answer: Vec<_> = lines.iter().filter(|line| line.ends_with(" 3.0 2.0 0 2")).collect();
    // 10 ms
    assert_eq!(
        answer,
        [
            "+ 0.010800000000 3 2 ping 1000 ------- 0 3.0 2.0 0 2",
            "- 0.010800000000 3 2 ping 1000 ------- 0 3.0 2.0 0 2",
            "r 0.020800000000 3 2 ping 1000 ------- 0 3.0 2.0 0 2",
        ]
    );
}

/// The far end of a link is the near end of the next one on a path; hosts come behind all of them.
#[test]
fn links_of_a_path_share_the_node_between_them() {
    let mut two = datagrams(false);
    let mut back = two.links[0].clone();
    back.name = "second".to_owned();
    two.links.push(back);
    two.groups[0].forward = vec![1, 0];
    two.groups[0].reverse = vec![];
    let hops = |plan: &Plan| -> Vec<String> {
        let arrived = trace(plan, TraceFormat::Ns2, 40).0.into_iter().filter(|line| line.starts_with('r'));
        arrived.take(4).map(|line| line.split(' ').skip(2).take(2).collect::<Vec<_>>().join(">")).collect()
    };
    assert_eq!(hops(&two), ["3>2", "2>0", "0>1", "1>4"]);
    two.groups[0].forward = vec![0];
    // two links that no path joins
    assert_eq!(hops(&two)[..3], ["4>0", "0>1", "1>5"]);
}

#[test]
fn what_is_beyond_the_limit_is_counted_and_what_is_of_other_groups_left_out() {
    let mut plan = transfer(&[]);
    let all = capture(&plan, &every_place(), None, u64::MAX);
    let some = capture(&plan, &every_place(), None, 7);
    assert_eq!((&some.packets[..], some.report.records), (&all.packets[..7], 7));
    assert_eq!((some.report.left_out, all.report.left_out), (all.report.records - 7, 0));
    assert_eq!(all.report.bytes, all.bytes.len() as u64);
    let (lines, report) = trace(&plan, TraceFormat::Ns2, 3);
    assert_eq!((lines.len() as u64, report.records), (3, 3));
    let (lines, whole) = trace(&plan, TraceFormat::Csv, u64::MAX);
    assert_eq!((whole.records, whole.left_out), (lines.len() as u64 - 1, 0));
    // one event is several lines in ns-2's format
    assert_eq!(report.left_out, trace(&plan, TraceFormat::Ns2, u64::MAX).1.records - 3);
    // the other flow is of a group of its own
    plan.groups.push(plan.groups[0].clone());
    plan.flows.group = vec![0, 1];
    plan.flows.stop_ps = vec![u64::MAX; 2];
    let second = capture(&plan, &every_place(), Some(&[1]), u64::MAX);
    assert!(!second.packets.is_empty() && second.says("bulk-0.") == 0);
    assert!(second.packets.iter().all(|packet| packet.source.to_string().ends_with(".2")));
    let SourcePlan::Tcp(_) = plan.groups[1].source else { panic!() };
    assert_eq!(second.segments(SENDERS, true)[0].1.destination_port, 50_002);
}

#[test]
fn without_a_handshake_a_remark_has_what_it_would_have_shown() {
    let plan = transfer(&[("/groups/0/source/handshake", json!(false))]);
    let seen = capture(&plan, &Places { senders: true, ..Places::default() }, None, u64::MAX);
    assert_eq!(seen.says("the scenario has no handshake; MSS 972, window scale 11, SACK, timestamps"), 1);
    assert!(seen.segments(0, true).iter().all(|(_, tcp)| !tcp.flags.syn));
}

/// An acknowledgment has the number of the last segment in order, a SYN and its answer −1.
#[test]
fn a_trace_numbers_segments_and_what_acknowledges_them() {
    let lines = trace(&transfer(&[]), TraceFormat::Csv, u64::MAX).0;
    let numbers = |event: &str, kind: &str| -> Vec<i64> {
        let columns = lines.iter().map(|line| line.split(',').collect::<Vec<_>>());
        columns
            .filter(|columns| columns[1] == event && columns[3] == kind)
            .map(|columns| columns[8].parse().unwrap())
            .collect()
    };
    assert_eq!(numbers("arrives", "tcp"), [-1, 0, 1, 2, 3]);
    assert_eq!(numbers("leaves", "ack"), [-1, 0, 1, 2, 3]);
}

#[test]
fn packets_are_followed_where_a_place_lies_beyond_the_senders() {
    for (senders, receivers, links, beyond) in
        [(true, false, vec![], false), (false, true, vec![], true), (true, false, vec![0], true)]
    {
        assert_eq!(Places { senders, receivers, links }.beyond_senders(), beyond);
    }
}

/// On a full disk: as many packets are reported as can be read, and nothing more is kept.
#[test]
fn a_file_that_fails_holds_the_packets_that_it_reports() {
    let plan = plan(&[("/groups/0/dscp", json!(0))]);
    let memory = Memory { room: Some(300_000), ..Memory::default() };
    let mut recording =
        Recording::new(&plan, None).with_pcap(Box::new(memory.clone()), &every_place(), u64::MAX);
    let outcome = run_recorded(&plan, &Control::default(), &mut recording).unwrap();
    let report = recording.finish(Time::from_ps(outcome.reached_ps)).0.unwrap();
    let read = Reader::new(Box::new(Cursor::new(memory.bytes()))).unwrap().count() as u64;
    assert!(report.problem.is_some() && read > 1_000);
    assert_eq!(report.records, read);
}

#[test]
fn a_trace_and_a_capture_see_the_same_packets() {
    let plan =
        plan(&[("/links/0/loss_ppb", json!(20_000_000)), ("/duration_ps", json!(3_000_000_000_000_u64))]);
    let seen = capture(&plan, &every_place(), None, u64::MAX);
    let lines = trace(&plan, TraceFormat::Csv, u64::MAX).0;
    for (event, place, interface) in
        [("joins", "bottleneck", IN), ("reaches", "bottleneck", OUT), ("lost", "bottleneck", LOST)]
    {
        let start = format!(",{event},{place},");
        assert_eq!(
            lines.iter().filter(|line| line.contains(&start)).count(),
            seen.at(interface).count(),
            "{event}"
        );
    }
    let at_receivers =
        |line: &&String| line.contains(",arrives,receivers,") || line.contains(",leaves,receivers,");
    assert_eq!(lines.iter().filter(at_receivers).count(), seen.at(RECEIVERS).count());
}

/// A receiver that tunes its window offers more as data comes faster.
#[test]
fn a_tuned_window_is_offered_as_it_grows() {
    let plan = plan(&[
        ("/groups/0/source/tuned_window", json!(true)),
        ("/groups/0/source/receive_window_bytes", json!(6_000_000)),
        ("/flows/stop_ps", json!([u64::MAX, 0])),
        ("/duration_ps", json!(2_000_000_000_000_u64)),
    ]);
    let seen = capture(&plan, &every_place(), None, u64::MAX);
    let windows: Vec<u16> = seen.segments(RECEIVERS, false)[1..].iter().map(|(_, tcp)| tcp.window).collect();
    assert!(windows.is_sorted() && *windows.last().unwrap() > 2 * windows[0], "{windows:?}");
}

use proptest::prelude::*;

use super::*;
use crate::{DisciplineConfig, Ecn, PacketKind};

const RATE_BPS: u64 = 10_000_000;

/// Flow `n` has codepoint `n`.
fn headers() -> Arc<[Header]> {
    (0..64).map(|flow| Header { dscp: flow as u8, ..Header::own(flow) }).collect()
}

fn context(limit: Limit) -> Context<'static> {
    let rate = Rate::from_bps(RATE_BPS).unwrap();
    let stream = Stream::new(1, 0, 0);
    Context { limit, rate, seed: 1, stream, propagation: &|| Arc::from([]), headers: &headers }
}

fn queue(classes: &str, limit: Limit) -> Diffserv {
    let config = DiffservConfig { classes: classes.parse().unwrap(), ..DiffservConfig::default() };
    config.build(context(limit))
}

fn packet(flow: u32, wire_bytes: u32) -> Packet {
    Packet { flow, wire_bytes, kind: PacketKind::Data(Ecn::Incapable), ..Packet::default() }
}

fn offer(queue: &mut Diffserv, now: Time, flow: u32, packets: u32) -> usize {
    let mut drops = Drops::new();
    (0..packets).for_each(|_| queue.enqueue(now, packet(flow, 1000), &mut drops));
    drops.len()
}

fn flows(queue: &mut Diffserv, packets: usize) -> Vec<u32> {
    let next = || queue.dequeue(Time::ZERO, &mut Drops::new()).map(|packet| packet.flow);
    std::iter::from_fn(next).take(packets).collect()
}

const EF: u32 = 46;
const CS1: u32 = 8;
const AF41: u32 = 34;

/// As `prio`: a band is served when those before it are empty, whatever came first.
#[test]
fn who_has_priority_goes_first() {
    let mut queue = queue("EF: priority; AF41: priority; rest: weight 1", Limit::Unlimited);
    for flow in [0, AF41, EF] {
        offer(&mut queue, Time::ZERO, flow, 2);
    }
    assert_eq!(flows(&mut queue, 3), [EF, EF, AF41]);
    offer(&mut queue, Time::ZERO, EF, 1);
    assert_eq!(flows(&mut queue, 9), [EF, AF41, 0, 0]);
}

/// As `ets quanta`: of what those with priority leave, classes get bytes by their weights.
#[test]
fn the_others_share_by_weight() {
    let mut queue = queue("AF41: weight 4; CS1: weight 1; rest: weight 5", Limit::Unlimited);
    let mut drops = Drops::new();
    for (flow, wire_bytes) in [(AF41, 1500), (CS1, 300), (0, 700)] {
        (0..9_000_000 / wire_bytes).for_each(|_| {
            queue.enqueue(Time::ZERO, packet(flow, wire_bytes), &mut drops);
        });
    }
    let mut bytes = [0_u64; 64];
    while bytes.iter().sum::<u64>() < 9_000_000 {
        let packet = queue.dequeue(Time::ZERO, &mut drops).unwrap();
        bytes[packet.flow as usize] += u64::from(packet.wire_bytes);
    }
    for (flow, share) in [(AF41, 0.4), (CS1, 0.1), (0, 0.5)] {
        let got = bytes[flow as usize] as f64 / 9e6;
        assert!((got - share).abs() < 0.002, "{flow}: {got}");
    }
}

/// 10 % of 10 Mbit/s and 200 ms are a bucket of 25,000 bytes; of a flood then a tenth of the rate passes.
#[test]
fn a_class_with_priority_is_policed_while_others_wait() {
    let mut queue = queue("EF: priority 10 %; rest: weight 1", Limit::Unlimited);
    assert_eq!(offer(&mut queue, Time::ZERO, EF, 1), 0);
    assert_eq!(offer(&mut queue, Time::ZERO, EF, 40), 40 - 24);
    let second = Time::ZERO + Span::from_s(1);
    assert_eq!(offer(&mut queue, second, EF, 40), 40 - 25, "no more than the bucket is kept");
    let mut dropped = 0;
    for ms in 1_001..11_001 {
        let now = Time::ZERO + Span::from_ms(ms);
        offer(&mut queue, now, 0, 1);
        dropped += offer(&mut queue, now, EF, 1);
        queue.dequeue(now, &mut Drops::new());
    }
    assert_eq!(10_000 - dropped, 1_250, "10 s of 1 Mbit/s");
}

/// Alone on an idle link, it may send more than its part.
#[test]
fn nobody_is_policed_on_an_idle_link() {
    let mut queue = queue("EF: priority 1 %; rest: weight 1", Limit::Unlimited);
    for ms in 0..1_000 {
        assert_eq!(offer(&mut queue, Time::ZERO + Span::from_ms(ms), EF, 1), 0);
        assert_eq!(flows(&mut queue, 9), [EF]);
    }
}

#[test]
fn who_fills_his_queue_takes_no_room_from_others() {
    let mut queue = queue("EF: priority; CS1: weight 1; rest: weight 1", Limit::Packets(30));
    assert_eq!(offer(&mut queue, Time::ZERO, 0, 100), 90);
    assert_eq!(offer(&mut queue, Time::ZERO, EF, 10), 0);
    assert_eq!(offer(&mut queue, Time::ZERO, CS1, 11), 1);
    assert_eq!(queue.backlog().packets, 30);
}

/// RFC 2597's and RFC 2474's names; what nobody lists goes to `rest`, and without that to the last class.
#[test]
fn codepoints_are_those_of_the_text() {
    let of = |text: &str, dscp| text.parse::<DiffservClasses>().unwrap().class_of(dscp);
    let text = "EF,VA 5: priority; rest: weight 2; AF11 af43 CS7 le: weight 1 red";
    let expected = [(46, 0), (44, 0), (5, 0), (10, 2), (38, 2), (56, 2), (1, 2), (0, 1), (63, 1)];
    for (dscp, class) in expected {
        assert_eq!(of(text, dscp), class, "{dscp}");
    }
    assert_eq!(of("EF: priority; CS1: weight 1", 0), 1);
}

#[test]
fn texts_are_read_and_written() {
    let read = |text: &str| text.parse::<DiffservClasses>().map(|classes| classes.to_string());
    let long = "EF VA: priority 33 %; AF42 CS3 5: weight 4 red; rest: priority";
    assert_eq!(read(long).unwrap(), long);
    assert_eq!(read("46 44:priority 33%;AF42,24,5 : weight  4 red ;rest:priority fifo").unwrap(), long);
    for example in DiffservClasses::FORM.examples {
        assert!((DiffservClasses::FORM.parse)(example).is_ok(), "{example}");
    }
    assert_eq!(DiffservClasses::FORM.examples[0], DiffservClasses::default().to_string());
    for wrong in [
        "",
        "EF",
        "EF:",
        "EF: first",
        ": priority",
        "XF: priority",
        "CS8: priority",
        "AF14: priority",
        "AF51: priority",
        "64: priority",
        "+4: priority",
        "EF: priority 33",
        "EF: priority 0 %",
        "EF: priority 101 %",
        "EF: priority +3 %",
        "EF: weight",
        "EF: weight 0",
        "EF: weight 1001",
        "EF: weight 1 cake",
        "EF: weight 1 diffserv",
        "EF: weight 1 red red",
        "EF: priority; 46: weight 1",
        "rest: priority; rest: weight 1",
        "EF: priority;",
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
    let many = |count: u32| (0..count).map(|dscp| format!("{dscp}: priority")).collect::<Vec<_>>().join(";");
    assert!(read(&many(16)).is_ok() && read(&many(17)).is_err());
}

/// The obvious queue: lists of packets, every class looked at each time.
struct Twin {
    classes: Vec<(Option<i64>, Vec<Packet>, i64)>,
    /// The classes with a weight that have packets, the next one first.
    turns: Vec<usize>,
    part: usize,
}

impl Twin {
    fn enqueue(&mut self, now: Time, class: usize, packet: Packet, drops: &mut Drops) {
        let (quantum, waiting, credit) = &mut self.classes[class];
        if waiting.len() >= self.part {
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
            return;
        }
        if let (Some(quantum), true) = (quantum, waiting.is_empty()) {
            *credit = *quantum;
            self.turns.push(class);
        }
        waiting.push(Packet { enqueued: now, ..packet });
    }

    fn dequeue(&mut self) -> Option<Packet> {
        let strict =
            self.classes.iter().position(|(quantum, waiting, _)| quantum.is_none() && !waiting.is_empty());
        if let Some(class) = strict {
            return Some(self.classes[class].1.remove(0));
        }
        while let Some(&class) = self.turns.first() {
            let (quantum, waiting, credit) = &mut self.classes[class];
            if *credit > 0 {
                let packet = waiting.remove(0);
                *credit -= i64::from(packet.wire_bytes);
                if waiting.is_empty() {
                    self.turns.remove(0);
                }
                return Some(packet);
            }
            *credit += quantum.unwrap();
            self.turns.remove(0);
            self.turns.push(class);
        }
        None
    }
}

proptest! {
    #[test]
    fn it_is_its_slow_twin(
        weights in prop::collection::vec(prop::option::of(1..5_u32), 1..6),
        steps in prop::collection::vec((0..9_u64, 0..9_usize, 40..3000_u32), 1..500),
        part in 1..20_usize,
    ) {
        let of = |(class, weight): (usize, &Option<u32>)| match weight {
            Some(weight) => format!("{class}: weight {weight}"),
            None => format!("{class}: priority"),
        };
        let text = weights.iter().enumerate().map(of).collect::<Vec<_>>().join("; ");
        let limit = Limit::Packets((part * weights.len()) as u64);
        let mut queue = queue(&text, limit);
        let classes = weights.iter().map(|weight| (weight.map(|it| 1514 * i64::from(it)), Vec::new(), 0));
        let mut twin = Twin { classes: classes.collect(), turns: Vec::new(), part };
        let (mut now, mut drops, mut theirs) = (Time::ZERO, Drops::new(), Drops::new());
        for (gap, step, wire_bytes) in steps {
            now += Span::from_us(gap);
            if step < 5 {
                let flow = step % (weights.len() + 1);
                let packet = packet(flow as u32, wire_bytes);
                queue.enqueue(now, packet, &mut drops);
                twin.enqueue(now, flow.min(weights.len() - 1), packet, &mut theirs);
            } else {
                prop_assert_eq!(queue.dequeue(now, &mut drops), twin.dequeue());
            }
            prop_assert_eq!(&drops, &theirs);
        }
    }

    /// With one class it is that class's queue, whichever.
    #[test]
    fn a_lone_class_is_its_queue(
        steps in prop::collection::vec((0..3_000_u64, 0..9_usize, 40..1500_u32), 1..300),
        limit in 1..60_u64,
    ) {
        for word in ["fifo", "codel", "cobalt", "pie", "pi2", "red", "drr", "step"] {
            let mut queue = queue(&format!("rest: weight 1 {word}"), Limit::Packets(limit));
            let classes: DiffservClasses = format!("rest: weight 1 {word}").parse().unwrap();
            let mut alone: DisciplineConfig = classes.classes[0].queue();
            alone.fill(Rate::from_bps(RATE_BPS).unwrap(), FULL_PACKET);
            let mut context = context(Limit::Packets(limit));
            context.stream = Stream::new(context.stream.bits(), 0, 0);
            let mut alone = alone.build(context);
            let (mut now, mut drops, mut theirs) = (Time::ZERO, Drops::new(), Drops::new());
            for &(gap, step, wire_bytes) in &steps {
                now += Span::from_us(gap);
                if let Some(&ecn) = [Ecn::Incapable, Ecn::Capable, Ecn::Scalable, Ecn::Capable, Ecn::Marked].get(step) {
                    let packet = Packet { kind: PacketKind::Data(ecn), ..packet(step as u32, wire_bytes) };
                    queue.enqueue(now, packet, &mut drops);
                    alone.enqueue(now, packet, &mut theirs);
                } else if alone.backlog().packets > 0 {
                    prop_assert_eq!(queue.dequeue(now, &mut drops), alone.dequeue(now, &mut theirs), "{}", word);
                }
                prop_assert_eq!(&drops, &theirs, "{}", word);
                prop_assert_eq!((queue.backlog(), queue.marks()), (alone.backlog(), alone.marks()));
            }
        }
    }
}

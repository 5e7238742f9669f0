//! A slow twin: lists that are searched, hosts that are counted anew each time, and no COBALT but for how long it keeps a queue.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;

use super::*;
use crate::Ecn;
use bufferlab_units::Span;

const RATE_BPS: u64 = 16_000_000;
/// Longer than any wait here, so that COBALT never signals.
const TARGET: Span = Span::from_s(10);
const INTERVAL: Span = Span::from_s(20);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    New,
    Old,
    Decaying,
}

/// A flow's queue. It is sparse while it is in the new list, or in the old one since it was empty as its turn ended.
#[derive(Debug)]
struct Flow {
    number: u32,
    packets: VecDeque<Packet>,
    place: Place,
    bulk: bool,
    deficit: i64,
    /// When its COBALT will have come to rest.
    rests: Time,
}

#[derive(Debug, Default)]
struct TwinTin {
    /// The queues that are in a list, in the order in which they joined their lists.
    flows: Vec<Flow>,
    next_ps: u64,
    ps_a_byte: u64,
    quantum: u64,
}

struct Twin {
    tins: Vec<TwinTin>,
    headers: Vec<Header>,
    rests: BTreeMap<u32, Time>,
    stream: Stream,
}

impl Twin {
    fn new(headers: &[Header], stream: Stream) -> Twin {
        let tin = |bps: u64| TwinTin {
            ps_a_byte: 8_000_000_000_000 / bps,
            quantum: (bps / 8 / 4096).clamp(300, 1514),
            ..TwinTin::default()
        };
        let tins = [RATE_BPS, RATE_BPS / 16, RATE_BPS / 4].map(tin).into();
        Twin { tins, headers: headers.to_vec(), rests: BTreeMap::new(), stream }
    }

    fn quantum(&mut self, tin: usize, number: u32) -> i64 {
        let of = self.headers[number as usize];
        let bulk = |same: &dyn Fn(Header) -> bool| {
            let flows = self.tins[tin].flows.iter().filter(|flow| flow.bulk);
            flows.filter(|flow| same(self.headers[flow.number as usize])).count() as u64
        };
        let senders = bulk(&|header| header.sender == of.sender);
        let load = senders.max(bulk(&|header| header.receiver == of.receiver));
        let quantum = self.tins[tin].quantum;
        match load {
            0 | 1 => quantum.cast_signed(),
            load => ((quantum * (65_535 / load) + (self.stream.bits() >> 48)) >> 16).cast_signed(),
        }
    }

    fn enqueue(&mut self, now: Time, packet: Packet) {
        let tin = match self.headers[packet.flow as usize].dscp {
            8 => 1,
            46 => 2,
            _ => 0,
        };
        let waits = self.tins[tin].flows.iter().any(|flow| !flow.packets.is_empty());
        if !waits {
            self.tins[tin].next_ps = self.tins[tin].next_ps.max(now.as_ps());
        }
        let known = self.tins[tin].flows.iter().position(|flow| flow.number == packet.flow);
        let Some(known) = known.filter(|&at| self.tins[tin].flows[at].place != Place::Decaying) else {
            known.map(|at| self.tins[tin].flows.remove(at));
            let rests = self.rests.get(&packet.flow).copied().unwrap_or(Time::ZERO);
            let deficit = self.quantum(tin, packet.flow);
            let packets = VecDeque::from([packet]);
            let flow = Flow { number: packet.flow, packets, place: Place::New, bulk: false, deficit, rests };
            self.tins[tin].flows.push(flow);
            return;
        };
        let flow = &mut self.tins[tin].flows[known];
        flow.packets.push_back(packet);
        flow.bulk |= flow.place == Place::Old;
    }

    /// The tin that is due and highest, or else the one that is due first.
    fn tin(&self, now: Time) -> usize {
        let active = (0..self.tins.len())
            .filter(|&tin| self.tins[tin].flows.iter().any(|flow| flow.place != Place::Decaying));
        let wait = |tin: usize| self.tins[tin].next_ps.saturating_sub(now.as_ps());
        active.min_by_key(|&tin| (wait(tin), std::cmp::Reverse(tin))).expect("somebody waits")
    }

    fn dequeue(&mut self, now: Time) -> Option<Packet> {
        let mut order = vec![Place::Decaying, Place::New, Place::Old];
        while self.tins.iter().flat_map(|tin| &tin.flows).any(|flow| !flow.packets.is_empty()) {
            let tin = self.tin(now);
            let flows = &self.tins[tin].flows;
            let first = |place: &Place| flows.iter().position(|flow| flow.place == *place);
            let at = order.iter().find_map(first).expect("an active tin has a queue");
            order = vec![Place::New, Place::Old, Place::Decaying];
            let mut flow = self.tins[tin].flows.remove(at);
            if flow.deficit <= 0 {
                flow.bulk |= !flow.packets.is_empty();
                flow.place = Place::Old;
                // the queue itself counts, as it is bulk now
                let number = flow.number;
                self.tins[tin].flows.push(flow);
                let more = self.quantum(tin, number);
                self.tins[tin].flows.last_mut().expect("it was put there").deficit += more;
                order = vec![Place::New, Place::Old, Place::Decaying];
                continue;
            }
            let Some(packet) = flow.packets.pop_front() else {
                if now < flow.rests {
                    (flow.place, flow.bulk) = (Place::Decaying, false);
                    self.tins[tin].flows.push(flow);
                }
                continue;
            };
            flow.rests = now + INTERVAL;
            self.rests.insert(flow.number, flow.rests);
            flow.deficit -= i64::from(packet.wire_bytes);
            self.tins[tin].flows.insert(at, flow);
            let tin = &mut self.tins[tin];
            let span_ps = u64::from(packet.wire_bytes) * tin.ps_a_byte;
            tin.next_ps = if tin.next_ps < now.as_ps() {
                tin.next_ps + span_ps
            } else {
                tin.next_ps.max(now.as_ps() + span_ps)
            };
            return Some(packet);
        }
        None
    }
}

proptest! {
    /// Six flows between two senders and two receivers, in three tins.
    #[test]
    fn it_serves_as_its_slow_twin(
        steps in prop::collection::vec((0..100_u32, 60..1500_u32, 0..2_000_u64), 1..600)
    ) {
        let headers: Vec<Header> = (0..6)
            .map(|flow| Header { dscp: [0, 0, 0, 8, 46, 46][flow as usize], sender: flow % 2, receiver: 10 + flow / 3 })
            .collect();
        let cobalt = CobaltConfig { target: TARGET, interval: INTERVAL, ..CobaltConfig::default() };
        let config = CakeConfig { cobalt, ..CakeConfig::default() };
        let mut stream = Stream::new(1, 0, 0);
        let rate = Rate::from_bps(RATE_BPS).unwrap();
        let mut queue = Cake::new(Limit::Unlimited, config, rate, headers.clone().into(), stream.clone());
        let _ = [(); 3].map(|()| stream.bits());
        let mut twin = Twin::new(&headers, stream);
        let mut drops = Drops::new();
        let mut now = Time::ZERO;
        for (seq, (step, wire_bytes, us)) in steps.into_iter().enumerate() {
            now += Span::from_us(us);
            if step == 99 {
                // a pause of up to two intervals, for which nothing may wait
                while queue.backlog().packets > 0 {
                    prop_assert_eq!(queue.dequeue(now, &mut drops), twin.dequeue(now));
                }
                now += Span::from_ms(20 * us);
            } else if step < 60 {
                let flow = step % 6;
                let kind = PacketKind::Data(Ecn::Incapable);
                let packet = Packet { flow, seq: seq as u32, wire_bytes, kind, enqueued: now, ..Packet::default() };
                queue.enqueue(now, packet, &mut drops);
                twin.enqueue(now, packet);
            } else {
                prop_assert_eq!(queue.dequeue(now, &mut drops), twin.dequeue(now));
            }
        }
        prop_assert!(drops.is_empty());
    }
}

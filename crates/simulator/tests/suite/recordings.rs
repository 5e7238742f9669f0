//! Recording changes nothing, and what is recorded adds up to what is counted.

use bufferlab_qdisc::{Packet, PacketKind};
use bufferlab_simulator::{
    ALL_GROUPS, Control, Loss, Outcome, Plan, Recorder, Sight, SourcePlan, Way, run, run_recorded,
};
use bufferlab_transport::{Ack, SackBlocks};
use bufferlab_units::Time;
use proptest::prelude::*;

use crate::plans::{config, plans};

/// What was recorded, by link and by flow.
struct Counts {
    end: Time,
    joined: Vec<u64>,
    lost: Vec<u64>,
    dropped: Vec<u64>,
    departed: Vec<u64>,
    /// Data segments and datagrams.
    sent: Vec<u64>,
    /// A segment of each flow on the wire, bytes.
    segment_bytes: Vec<u32>,
    /// The moment up to which all was recorded.
    reached: Time,
    /// The longest way from a sender to its first link, ps.
    lead_ps: u64,
}

impl Recorder for Counts {
    fn sees(&mut self, at: Time, sight: Sight, packet: &Packet) {
        assert!(at.as_ps() + self.lead_ps >= self.reached.as_ps(), "{sight:?} comes too late");
        match sight {
            Sight::Leaves => {
                let flow = packet.flow as usize;
                self.sent[flow] += match packet.kind {
                    PacketKind::Data(_) => u64::from(packet.wire_bytes / self.segment_bytes[flow]),
                    kind => u64::from(kind != PacketKind::Syn),
                };
            }
            Sight::Joins(link) => self.joined[link as usize] += 1,
            Sight::Lost(link, Loss::Random) => self.lost[link as usize] += 1,
            // what a queue gives up when the run has ended is left, not dropped
            Sight::Lost(link, Loss::Queue(_)) => self.dropped[link as usize] += u64::from(at < self.end),
            Sight::Departs(link) => self.departed[link as usize] += 1,
            Sight::Arrives => {}
        }
    }

    fn answers(&mut self, at: Time, _: u32, way: Way, ack: &Ack, blocks: &SackBlocks) {
        assert!(at >= self.reached, "an answer comes too late");
        assert!(ack.has_sack || blocks.is_empty(), "{ack:?} {blocks:?}");
        assert!(!matches!(way, Way::Home(home) if home < at));
    }

    fn fetches(&mut self, at: Time, _: u32, _: usize, asked: Time, _: u32) {
        assert!(asked <= at);
    }

    fn reaches(&mut self, now: Time) {
        assert!(now >= self.reached);
        self.reached = now;
    }
}

fn by_link(outcome: &Outcome, column: &[u64]) -> Vec<u64> {
    let rows = 0..outcome.queues.link.len();
    rows.filter(|&row| outcome.queues.group[row] == ALL_GROUPS).map(|row| column[row]).collect()
}

fn segment_bytes(plan: &Plan, group: u32) -> u32 {
    match &plan.groups[group as usize].source {
        SourcePlan::Tcp(tcp) => tcp.config.mss_bytes + tcp.config.header_bytes,
        SourcePlan::Udp(_) | SourcePlan::VideoCall(_) => 1,
    }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn a_recorded_run_is_the_run_and_its_sights_are_the_tables(case in plans()) {
        let (plan, control) = (case.0, Control::default());
        let links = || vec![0; plan.links.len()];
        let mut counts = Counts {
            end: Time::from_ps(plan.duration_ps),
            joined: links(),
            lost: links(),
            dropped: links(),
            departed: links(),
            sent: vec![0; plan.flows.group.len()],
            segment_bytes: plan.flows.group.iter().map(|&group| segment_bytes(&plan, group)).collect(),
            reached: Time::ZERO,
            lead_ps: plan.flows.source_delay_ps.iter().copied().max().unwrap_or(0),
        };
        let recorded = run_recorded(&plan, &control, &mut counts).expect("the plan is within bounds");
        prop_assert_eq!(&recorded, &run(&plan, &control).expect("the plan is within bounds"));
        let queues = &recorded.queues;
        let arrived = by_link(&recorded, &queues.whole_arrived_packets);
        let lost = by_link(&recorded, &queues.whole_lost_packets);
        let both: Vec<u64> = arrived.iter().zip(&lost).map(|(arrived, lost)| arrived + lost).collect();
        prop_assert_eq!(counts.joined, both);
        prop_assert_eq!(counts.lost, lost);
        prop_assert_eq!(counts.dropped, by_link(&recorded, &queues.whole_dropped_packets));
        prop_assert_eq!(counts.departed, by_link(&recorded, &queues.whole_departed_packets));
        prop_assert_eq!(&counts.sent, &recorded.flows.whole_sent_packets);
    }
}

//! A link that carries packets of others is the link of a run.

use bufferlab_qdisc::Packet;
use bufferlab_simulator::{
    CarriedLink, Column, Control, Outcome, Plan, Recorder, Sight, Table, Way, run_recorded,
};
use bufferlab_transport::{Ack, SackBlocks};
use bufferlab_units::Time;
use proptest::prelude::*;

use crate::plans::{config, plans};

/// What came to a link, and what left its transmitter.
struct Seen {
    link: u32,
    came: Vec<(Time, Packet)>,
    left: Vec<(Time, u32)>,
}

impl Recorder for Seen {
    fn sees(&mut self, at: Time, sight: Sight, packet: &Packet) {
        match sight {
            Sight::Joins(link) if link == self.link => self.came.push((at, *packet)),
            Sight::Departs(link) if link == self.link => self.left.push((at, packet.flow)),
            _ => {}
        }
    }

    fn answers(&mut self, _: Time, _: u32, _: Way, _: &Ack, _: &SackBlocks) {}

    fn fetches(&mut self, _: Time, _: u32, _: usize, _: Time, _: u32) {}

    fn reaches(&mut self, _: Time) {}
}

/// All that a run has of a link, by table and column.
fn tables(outcome: Outcome, link: u32) -> Vec<(&'static str, Column)> {
    let queues = of_link(outcome.queues, link).into_iter();
    let columns = queues.chain(of_link(outcome.histograms, link)).chain(of_link(outcome.classes, link));
    let columns = columns.chain(of_link(outcome.class_histograms, link));
    columns.chain(of_link(outcome.queue_samples, link)).chain(of_link(outcome.class_samples, link)).collect()
}

/// A link's rows of a table.
fn of_link(table: impl Table, link: u32) -> Vec<(&'static str, Column)> {
    let columns = table.into_columns();
    let links = columns.iter().find_map(|(name, column)| match column {
        Column::U32(links) if *name == "link" => Some(links.clone()),
        _ => None,
    });
    let links = links.unwrap();
    columns.into_iter().map(|(name, column)| (name, rows(column, &links, link))).collect()
}

fn rows(column: Column, links: &[u32], link: u32) -> Column {
    fn kept<T>(values: Vec<T>, links: &[u32], link: u32) -> Vec<T> {
        values.into_iter().zip(links).filter(|(_, of)| **of == link).map(|(value, _)| value).collect()
    }
    match column {
        Column::U32(values) => Column::U32(kept(values, links, link)),
        Column::U64(values) => Column::U64(kept(values, links, link)),
        Column::F64(values) => Column::F64(kept(values, links, link)),
    }
}

/// Hands over what came to a run's link.
fn carry(plan: &Plan, index: u32) -> (Outcome, Seen) {
    let mut seen = Seen { link: index, came: Vec::new(), left: Vec::new() };
    let outcome = run_recorded(plan, &Control::default(), &mut seen).unwrap();
    (outcome, seen)
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn what_came_to_a_runs_link_leaves_as_it_did_there(case in plans()) {
        let plan = case.0;
        for index in (0..plan.links.len() as u32).filter(|&index| plan.links[index as usize].memory.is_none()) {
            let (outcome, mut seen) = carry(&plan, index);
            let mut link = CarriedLink::new(&plan, index).unwrap();
            let mut left = Vec::new();
            let end = Time::from_ps(plan.duration_ps);
            // a stable sort: what comes at one moment stays in its order
            seen.came.sort_by_key(|(at, _)| *at);
            for (number, (at, packet)) in seen.came.iter().enumerate() {
                link.arrive(*at, *packet, number);
            }
            link.advance(Time::from_ps(plan.duration_ps - 1));
            while let Some(carried) = link.take() {
                let came = seen.came[carried.load].1;
                prop_assert_eq!(came.flow, carried.packet.flow);
                left.push((carried.at, came.flow));
            }
            if plan.links[index as usize].varying_delay.is_none() {
                seen.left.retain(|(at, _)| *at < end);
                seen.left.sort();
                left.sort();
                prop_assert_eq!(&left, &seen.left);
            }
            prop_assert_eq!(tables(link.finish(), index), tables(outcome, index));
        }
    }
}

#[test]
fn a_link_that_is_not_there_is_refused() {
    let plan = crate::scenes::dumbbell(bufferlab_transport::Recovery::Linux, 20, &[40]);
    let error = CarriedLink::<()>::new(&plan, 1).err().unwrap();
    assert_eq!((error.field.as_str(), error.accepted.as_str()), ("link", "the index of a link"));
}

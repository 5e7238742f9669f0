//! State per flow: a table of fixed size that forgets the flow that was silent longest.

use bufferlab_units::Time;

/// Flows per set of the table: when another comes, the one that was seen longest ago goes.
const WAYS: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Slot<T> {
    key: u64,
    seen: Time,
    /// `None` while the slot is free.
    value: Option<T>,
}

/// A set-associative table from flow keys to values.
#[derive(Clone, Debug)]
pub struct FlowTable<T> {
    slots: Vec<Slot<T>>,
}

impl<T: Copy> FlowTable<T> {
    /// An empty table for about this number of flows: a power of two of slots, at least one set.
    pub fn new(flows: usize) -> FlowTable<T> {
        let slots = flows.next_power_of_two().max(WAYS);
        FlowTable { slots: vec![Slot { key: 0, seen: Time::ZERO, value: None }; slots] }
    }

    /// Its size, which never changes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.slots.as_slice())
    }

    /// The value of a flow, which is seen now.
    pub fn get(&mut self, now: Time, key: u64) -> Option<&mut T> {
        let slot = self.set(key).iter_mut().find(|slot| slot.value.is_some() && slot.key == key)?;
        slot.seen = now;
        slot.value.as_mut()
    }

    /// Stores a value; the flow of the same set that was seen longest ago may be forgotten for it.
    pub fn put(&mut self, now: Time, key: u64, value: T) {
        let set = self.set(key);
        let own = set.iter().position(|slot| slot.value.is_some() && slot.key == key);
        let oldest = || (0..WAYS).min_by_key(|&way| (set[way].value.is_some(), set[way].seen, way));
        if let Some(way) = own.or_else(oldest) {
            set[way] = Slot { key, seen: now, value: Some(value) };
        }
    }

    fn set(&mut self, key: u64) -> &mut [Slot<T>] {
        let sets = self.slots.len() / WAYS;
        let first = (spread(key) as usize & (sets - 1)) * WAYS;
        &mut self.slots[first..first + WAYS]
    }
}

/// Fibonacci hashing (Knuth 1973 volume 3 section 6.4): the upper bits of a product with the golden ratio.
fn spread(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    #[test]
    fn few_flows_are_all_remembered() {
        let mut table = FlowTable::new(1024);
        (0..200).for_each(|key| table.put(at(key), key, key * 3));
        let known = (0..200).filter(|&key| table.get(at(500), key).copied() == Some(key * 3)).count();
        assert_eq!(known, 200);
        assert_eq!(table.get(at(500), 7_777), None);
    }

    #[test]
    fn the_quiet_are_forgotten_first_and_the_size_stays() {
        let mut table = FlowTable::new(WAYS);
        let bytes = table.bytes();
        (0..4).for_each(|key| table.put(at(key), key, ()));
        table.get(at(10), 0);
        table.put(at(11), 99, ());
        let known: Vec<_> =
            [0, 1, 2, 3, 99].into_iter().filter(|&key| table.get(at(12), key).is_some()).collect();
        assert_eq!(known, [0, 2, 3, 99]);
        assert_eq!(table.bytes(), bytes);
    }

    /// Of a full set the flow that was seen longest ago goes, whatever the order in which they came; a free place goes first.
    #[test]
    fn a_flow_has_one_place_and_takes_a_free_one_first() {
        let mut table = FlowTable::new(1);
        for (ms, key) in [(5, 1), (3, 2), (4, 3), (6, 1), (7, 4)] {
            table.put(at(ms), key, ms);
        }
        let known = |table: &mut FlowTable<u64>| [1, 2, 3, 4, 5].map(|key| table.get(at(8), key).copied());
        assert_eq!(known(&mut table.clone()), [Some(6), Some(3), Some(4), Some(7), None]);
        table.put(at(8), 5, 8);
        assert_eq!(known(&mut table), [Some(6), None, Some(4), Some(7), Some(8)]);
        // sizes: powers of two of slots, four at least
        let sizes = [0, 4, 5, 8, 9]
            .map(|flows| FlowTable::<u64>::new(flows).bytes() / FlowTable::<u64>::new(4).bytes());
        assert_eq!(sizes, [1, 1, 2, 2, 4]);
    }
}

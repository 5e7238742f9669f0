//! Which connections are followed: a table of bounded size, which ends the one that was silent longest.

use crate::key::Key;

/// No connection.
const NONE: u32 = u32::MAX;

/// Connections by key: open addressing with linear search (Knuth volume 3, section 6.4, algorithm L, and R for removal) into a list of
/// entries, which are chained from the most to the least recently used.
#[derive(Clone, Debug)]
pub(crate) struct Flows<T> {
    /// Entries by hash, with a part of it, so that the key of another entry is seldom read.
    places: Vec<(u32, u32)>,
    entries: Vec<(Key, T)>,
    /// The next and the previous of each entry in the chain.
    chain: Vec<[u32; 2]>,
    newest: u32,
    oldest: u32,
    most: usize,
}

impl<T> Flows<T> {
    pub(crate) fn new(most: usize) -> Flows<T> {
        let most = most.clamp(1, 1 << 28);
        Flows {
            places: vec![(NONE, 0); (most * 2).next_power_of_two()],
            entries: Vec::new(),
            chain: Vec::new(),
            newest: NONE,
            oldest: NONE,
            most,
        }
    }

    /// The entry of a key, which is now the most recently used.
    #[inline]
    pub(crate) fn find(&mut self, key: &Key) -> Option<usize> {
        let entry = self.places[self.place(key, key.hash())].0;
        if entry == NONE {
            return None;
        }
        if entry != self.newest {
            self.unchain(entry);
            self.chain_first(entry);
        }
        Some(entry as usize)
    }

    pub(crate) fn get(&mut self, entry: usize) -> &mut T {
        &mut self.entries[entry].1
    }

    /// Adds one, whose key must be new. If there are too many, the least recently used one is returned.
    pub(crate) fn add(&mut self, key: Key, value: T) -> (usize, Option<(Key, T)>) {
        let hash = key.hash();
        if self.entries.len() < self.most {
            let entry = self.entries.len() as u32;
            let place = self.place(&key, hash);
            self.places[place] = (entry, tag(hash));
            self.chain.push([NONE; 2]);
            self.chain_first(entry);
            self.entries.push((key, value));
            return (entry as usize, None);
        }
        let entry = self.oldest;
        let gone = self.entries[entry as usize].0;
        self.remove_place(&gone);
        let place = self.place(&key, hash);
        self.places[place] = (entry, tag(hash));
        self.unchain(entry);
        self.chain_first(entry);
        let old = std::mem::replace(&mut self.entries[entry as usize], (key, value));
        (entry as usize, Some(old))
    }

    /// All that are left, in the order in which their entries were first used.
    pub(crate) fn into_all(self) -> impl Iterator<Item = (Key, T)> {
        self.entries.into_iter()
    }

    /// Where a key is, or would be.
    #[inline]
    fn place(&self, key: &Key, hash: u64) -> usize {
        let mut place = self.home(hash);
        loop {
            let (entry, part) = self.places[place];
            if entry == NONE || (part == tag(hash) && self.entries[entry as usize].0 == *key) {
                return place;
            }
            place = (place + 1) & (self.places.len() - 1);
        }
    }

    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.places.len() - 1)
    }

    /// Frees a key's place and moves up those that were displaced by it.
    fn remove_place(&mut self, key: &Key) {
        let last = self.places.len() - 1;
        let mut free = self.place(key, key.hash());
        let mut place = free;
        loop {
            place = (place + 1) & last;
            let (entry, part) = self.places[place];
            if entry == NONE {
                break;
            }
            let home = self.home(self.entries[entry as usize].0.hash());
            if (place.wrapping_sub(home) & last) >= (place.wrapping_sub(free) & last) {
                self.places[free] = (entry, part);
                free = place;
            }
        }
        self.places[free] = (NONE, 0);
    }

    fn unchain(&mut self, entry: u32) {
        let [next, previous] = self.chain[entry as usize];
        match previous {
            NONE => self.newest = next,
            previous => self.chain[previous as usize][0] = next,
        }
        match next {
            NONE => self.oldest = previous,
            next => self.chain[next as usize][1] = previous,
        }
    }

    fn chain_first(&mut self, entry: u32) {
        self.chain[entry as usize] = [self.newest, NONE];
        match self.newest {
            NONE => self.oldest = entry,
            newest => self.chain[newest as usize][1] = entry,
        }
        self.newest = entry;
    }
}

/// The half of a hash that does not say where it is.
fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;
    use crate::key::Protocol;

    fn key(port: u16) -> Key {
        let address = Ipv4Addr::LOCALHOST.into();
        Key::new((address, port), (address, 0), Protocol::Udp, 0).0
    }

    #[test]
    fn the_silent_go_first() {
        let mut flows = Flows::new(3);
        (0..3).for_each(|port| assert!(flows.add(key(port), port).1.is_none()));
        assert!(flows.find(&key(0)).is_some());
        assert_eq!(flows.add(key(7), 7).1, Some((key(1), 1)));
        assert_eq!(flows.find(&key(1)), None);
        assert_eq!(flows.add(key(8), 8).1, Some((key(2), 2)));
        let left: Vec<_> = flows.into_all().map(|(_, port)| port).collect();
        assert_eq!(left, [0, 7, 8]);
    }

    proptest! {
        #[test]
        fn it_equals_a_slow_list(ports in prop::collection::vec(0_u16..40, 0..300), most in 1_usize..20) {
            let mut flows = Flows::new(most);
            let mut list: Vec<u16> = Vec::new();
            for port in ports {
                let known = list.iter().position(|&other| other == port);
                let found = flows.find(&key(port));
                prop_assert_eq!(known.is_some(), found.is_some());
                if let Some(place) = known {
                    list.remove(place);
                } else {
                    let gone = flows.add(key(port), port).1;
                    let expected = (list.len() == most).then(|| list.remove(0));
                    prop_assert_eq!(gone.map(|(_, port)| port), expected);
                }
                list.push(port);
            }
        }
    }
}

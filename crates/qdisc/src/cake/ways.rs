//! Sets of eight places: whoever's own place is taken may have another one of its set.

/// Queues of a tin, and hosts that it counts (`CAKE_QUEUES`).
pub(super) const QUEUES: usize = 1024;
/// Places in a set (`CAKE_SET_WAYS`).
const WAYS: usize = 8;

/// The place of a hash.
#[inline]
pub(super) fn own(hash: u32) -> usize {
    hash as usize % QUEUES
}

/// The places of its set, its own first.
pub(super) fn ways(hash: u32) -> impl Iterator<Item = usize> + Clone {
    let inner = own(hash) % WAYS;
    let outer = own(hash) - inner;
    (0..WAYS).map(move |way| outer + (inner + way) % WAYS)
}

/// How many queues of each host are bulk ones: of those that send, or of those that receive.
#[derive(Clone, Debug)]
pub(super) struct Hosts {
    tags: Vec<u32>,
    bulk: Vec<u16>,
}

impl Hosts {
    /// Nobody yet; they take no room if they are not `counted`.
    pub(super) fn new(counted: bool) -> Hosts {
        let places = if counted { QUEUES } else { 0 };
        Hosts { tags: vec![0; places], bulk: vec![0; places] }
    }

    /// Whether they are counted.
    #[inline]
    pub(super) fn counted(&self) -> bool {
        !self.tags.is_empty()
    }

    /// The place of a host; it gets one of a host without bulk queues, or shares its own.
    pub(super) fn place(&mut self, hash: u32) -> u16 {
        if !self.counted() {
            return 0;
        }
        let known = ways(hash).find(|&way| self.tags[way] == hash);
        let place = known.or_else(|| ways(hash).find(|&way| self.bulk[way] == 0)).unwrap_or(own(hash));
        self.tags[place] = hash;
        place as u16
    }

    /// Bulk queues of the host, 0 if they are not counted.
    #[inline]
    pub(super) fn load(&self, place: u16) -> u16 {
        self.bulk.get(usize::from(place)).copied().unwrap_or(0)
    }

    #[inline]
    pub(super) fn count(&mut self, place: u16) {
        if let Some(bulk) = self.bulk.get_mut(usize::from(place)) {
            *bulk = (*bulk + 1).min(QUEUES as u16);
        }
    }

    #[inline]
    pub(super) fn discount(&mut self, place: u16) {
        if let Some(bulk) = self.bulk.get_mut(usize::from(place)) {
            *bulk = bulk.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `cake_hash`: a set of eight begins at a multiple of eight; its places are tried from the hash's own on, in a circle.
    #[test]
    fn a_set_has_eight_places_from_its_own_on() {
        for (hash, expected) in [
            (13, [13, 14, 15, 8, 9, 10, 11, 12]),
            (16, [16, 17, 18, 19, 20, 21, 22, 23]),
            (1024 + 7, [7, 0, 1, 2, 3, 4, 5, 6]),
            (u32::MAX, [1023, 1016, 1017, 1018, 1019, 1020, 1021, 1022]),
        ] {
            assert_eq!((own(hash), ways(hash).collect::<Vec<_>>()), (expected[0], expected.into()), "{hash}");
        }
    }

    /// The same for hosts: a place is free while its host has no bulk queue.
    #[test]
    fn a_host_takes_the_place_of_one_without_bulk_queues_or_shares_its_own() {
        let mut hosts = Hosts::new(true);
        let hash = |number: u32| 1024 * number + 13;
        // alone, each has the own place
        assert_eq!([hosts.place(hash(1)), hosts.place(hash(2))], [13, 13]);
        hosts.count(13);
        let others = [3, 4, 5, 6, 7, 8, 9].map(|number| {
            let place = hosts.place(hash(number));
            hosts.count(place);
            place
        });
        assert_eq!(others, [14, 15, 8, 9, 10, 11, 12]);
        assert_eq!(
            [hosts.place(hash(4)), hosts.place(hash(9))],
            [15, 12],
            "those that are known keep theirs"
        );
        assert_eq!(hosts.place(hash(10)), 13, "of a full set the own one is shared");
        hosts.discount(9);
        assert_eq!(hosts.place(hash(11)), 9);
    }

    #[test]
    fn bulk_queues_are_counted_where_hosts_are() {
        let mut hosts = Hosts::new(true);
        hosts.discount(13);
        let loads = [1, 2].map(|_| {
            hosts.count(13);
            hosts.load(13)
        });
        hosts.discount(13);
        assert_eq!((loads, hosts.load(13), hosts.load(14)), ([1, 2], 1, 0));
        (0..2_000).for_each(|_| hosts.count(14));
        assert_eq!(hosts.load(14), 1024, "no more than there are queues");
        let mut nobody = Hosts::new(false);
        nobody.count(0);
        assert_eq!(
            (nobody.place(1024 + 13), nobody.load(0), nobody.counted(), hosts.counted()),
            (0, 0, false, true)
        );
    }
}

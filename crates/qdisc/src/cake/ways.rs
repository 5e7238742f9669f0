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

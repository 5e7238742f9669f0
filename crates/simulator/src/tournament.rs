//! The event list: one pending event a component.
//!
//! A winner tree over the components' next times (Knuth 1973 volume 3 section 5.4.1). Setting any component's
//! time is one climb of log2 n steps without a branch on the data; the next event is read off the root. Ties go
//! to the lower component, which is half of the determinism law: events are ordered by (time, component, FIFO),
//! never by how they came to be scheduled.

use bufferlab_units::Time;

/// An event as one number, never negative: the time above the component's `bits`, so that the lower number is the
/// earlier event and, at one time, the lower component.
pub(crate) trait Key: Copy + Default + Ord {
    /// Bits of a number that is not negative.
    const BITS: u32;
    fn new(time: Time, component: usize, bits: u32) -> Self;
    fn time(self, bits: u32) -> Time;
    fn component(self, bits: u32) -> usize;
    /// The lower of two: self + min (other - self, 0). Spelled out, since compilers make a branch of a minimum,
    /// and the outcome of a match is as good as a coin toss.
    fn first_of(self, other: Self) -> Self;
}

macro_rules! keys {
    ($($number:ty),*) => {$(
        impl Key for $number {
            const BITS: u32 = <$number>::BITS - 1;

            #[inline(always)]
            fn new(time: Time, component: usize, bits: u32) -> Self {
                (time.as_ps().cast_signed() as $number) << bits | component.cast_signed() as $number
            }

            #[inline(always)]
            fn time(self, bits: u32) -> Time {
                Time::from_ps((self >> bits) as u64)
            }

            #[inline(always)]
            fn component(self, bits: u32) -> usize {
                (self & !(<$number>::MAX << bits)) as usize
            }

            #[inline(always)]
            fn first_of(self, other: Self) -> Self {
                let difference = other.wrapping_sub(self);
                self.wrapping_add(difference & (difference >> (<$number>::BITS - 1)))
            }
        }
    )*};
}

// The narrow key takes half the time; the wide one holds every plan.
keys!(i64, i128);

/// The next event of each of a fixed number of components.
#[derive(Clone, Debug)]
pub(crate) struct Tournament<K> {
    /// Of two sides each, numbered through: the components, then the winners of the matches. The final is the
    /// last match.
    matches: Vec<[K; 2]>,
    /// The winner of the final.
    first: K,
    /// Bits of a component's number; there is room for as many components as it has values.
    bits: u32,
    /// Later events count as of this time.
    horizon: Time,
}

impl<K: Key> Tournament<K> {
    /// Two sides for each of at most twice the components.
    pub(crate) const MOST_BYTES_A_COMPONENT: usize = 4 * size_of::<K>();

    /// Whether the key has room for that many components and times up to the horizon.
    pub(crate) fn holds(components: usize, horizon: Time) -> bool {
        let time_bits = u64::BITS - (horizon.as_ps() + 1).leading_zeros();
        component_bits(components) + time_bits <= K::BITS
    }

    /// No component has an event. Events after `horizon` are not distinguished.
    pub(crate) fn new(components: usize, horizon: Time) -> Tournament<K> {
        debug_assert!(Self::holds(components, horizon));
        let bits = component_bits(components);
        let matches = vec![[K::default(); 2]; (1 << bits) - 1];
        let mut events = Tournament { matches, first: K::default(), bits, horizon };
        for component in 0..1 << bits {
            events.set(component, Time::NEVER);
        }
        events
    }

    /// The time that stands for no event.
    #[inline]
    pub(crate) fn idle(&self) -> Time {
        Time::from_ps(self.horizon.as_ps() + 1)
    }

    /// The earliest event's time and component; [`Self::idle`] if there is none.
    #[inline]
    pub(crate) fn first(&self) -> (Time, usize) {
        (self.first.time(self.bits), self.first.component(self.bits))
    }

    /// Sets a component's event; [`Time::NEVER`] for none.
    ///
    /// Nearly always the winner gets a new time, which changes every match on its way. So all matches are played,
    /// without a check whether they need to be.
    #[inline]
    pub(crate) fn set(&mut self, component: usize, time: Time) {
        self.play(component, self.key(component, time));
    }

    /// Sets the event of a component that has one.
    #[inline(always)]
    pub(crate) fn set_due(&mut self, component: usize, time: Time) {
        debug_assert!(time < Time::NEVER);
        self.play(component, K::new(time.min(self.horizon), component, self.bits));
    }

    #[inline(always)]
    fn play(&mut self, component: usize, mut winner: K) {
        let mut side = component;
        while let Some(sides) = self.matches.get_mut(side / 2) {
            let own = side % 2;
            let other = sides[1 - own];
            sides[own] = winner;
            winner = winner.first_of(other);
            side = (1 << self.bits) + side / 2;
        }
        self.first = winner;
    }

    /// Sets a component's event if that makes it earlier.
    #[inline]
    pub(crate) fn advance(&mut self, component: usize, time: Time) {
        if self.key(component, time) < self.matches[component / 2][component % 2] {
            self.set(component, time);
        }
    }

    #[inline(always)]
    fn key(&self, component: usize, time: Time) -> K {
        let time = if time == Time::NEVER { self.idle() } else { time.min(self.horizon) };
        K::new(time, component, self.bits)
    }
}

/// Bits for that many components' numbers; at least one, so that there is a match.
fn component_bits(components: usize) -> u32 {
    components.next_power_of_two().trailing_zeros().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bufferlab_units::Stream;

    fn agree_with_a_sorted_list<K: Key>() {
        let horizon = Time::from_ps(45);
        for components in [1, 2, 3, 7, 64, 100] {
            let mut events = Tournament::<K>::new(components, horizon);
            let mut twin = vec![events.idle(); components];
            let mut stream = Stream::new(components as u64, 0, 0);
            for _ in 0..5_000 {
                let component = stream.below(components as u64) as usize;
                let time = match stream.below(10) {
                    0 => Time::NEVER,
                    _ => Time::from_ps(stream.below(50)),
                };
                let expected = if time == Time::NEVER { events.idle() } else { time.min(horizon) };
                if stream.below(2) == 0 {
                    events.set(component, time);
                    twin[component] = expected;
                } else {
                    events.advance(component, time);
                    twin[component] = twin[component].min(expected);
                }
                let first = (0..components).map(|component| (twin[component], component)).min().unwrap();
                assert_eq!(events.first(), first);
            }
        }
    }

    #[test]
    fn both_keys_agree_with_a_sorted_list() {
        agree_with_a_sorted_list::<i64>();
        agree_with_a_sorted_list::<i128>();
    }

    #[test]
    fn a_key_holds_what_fits_beside_the_component() {
        let horizon = |bits: u32| Time::from_ps((1 << bits) - 2);
        assert!(Tournament::<i64>::holds(1000, horizon(53)));
        assert!(!Tournament::<i64>::holds(1025, horizon(53)));
        assert!(!Tournament::<i64>::holds(1000, horizon(54)));
        assert!(Tournament::<i128>::holds(usize::MAX / 4, horizon(63)));
    }
}

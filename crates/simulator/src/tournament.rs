//! The event list: one pending event a component.
//!
//! A winner tree over the components' next times (Knuth 1973 volume 3 section 5.4.1). Setting any component's
//! time is one climb of log2 n steps without a branch on the data; the next event is read off the root. Ties go to the lower component, which is half of the determinism law:
//! events are ordered by (time, component, FIFO), never by how they came to be scheduled.

use bufferlab_units::Time;

/// The time of a component without an event: later than every event.
pub(crate) const IDLE: Time = Time::from_ps(i64::MAX as u64);

/// The next event of each of a fixed number of components.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    /// Of two sides each, numbered through: the components, then the winners of the matches. The final is the
    /// last match.
    matches: Vec<[Event; 2]>,
    /// Number of components, rounded up to a power of two.
    size: usize,
    /// The winner of the final.
    first: Event,
}

impl Tournament {
    /// No component has an event.
    pub(crate) fn new(components: usize) -> Tournament {
        let size = components.next_power_of_two().max(2);
        let mut events =
            Tournament { matches: vec![[Event::default(); 2]; size - 1], size, first: Event::default() };
        for component in 0..size {
            events.set(component, Time::NEVER);
        }
        events
    }

    /// The earliest event's time and component; [`IDLE`] if there is none.
    #[inline]
    pub(crate) fn first(&self) -> (Time, usize) {
        (self.first.time(), self.first.component())
    }

    /// When the component's event is.
    #[inline]
    pub(crate) fn time(&self, component: usize) -> Time {
        self.matches[component / 2][component % 2].time()
    }

    /// Sets a component's event; [`Time::NEVER`] for none.
    ///
    /// It is nearly always the winner that gets a new time, which changes every match on its way: so all are
    /// played, without a look at whether that is still needed.
    #[inline]
    pub(crate) fn set(&mut self, component: usize, time: Time) {
        let mut side = component;
        let mut winner = Event::new(time, component);
        while let Some(sides) = self.matches.get_mut(side / 2) {
            let own = side % 2;
            let other = sides[1 - own];
            sides[own] = winner;
            winner = winner.first_of(other);
            side = self.size + side / 2;
        }
        self.first = winner;
    }

    /// Sets a component's event if that makes it earlier.
    #[inline]
    pub(crate) fn advance(&mut self, component: usize, time: Time) {
        if time < self.time(component) {
            self.set(component, time);
        }
    }
}

/// A component's next event: (time << 64) | component, so that the lower number is the earlier event and, at one
/// time, the lower component. Never negative.
#[derive(Clone, Copy, Debug, Default)]
struct Event(i128);

impl Event {
    #[inline(always)]
    fn new(time: Time, component: usize) -> Event {
        Event((i128::from(time.min(IDLE).as_ps()) << 64) | component as i128)
    }

    #[inline(always)]
    fn time(self) -> Time {
        Time::from_ps((self.0 >> 64) as u64)
    }

    #[inline(always)]
    fn component(self) -> usize {
        self.0 as usize
    }

    /// The earlier of two: self + min (other - self, 0). Spelled out, since compilers make a branch of a minimum,
    /// and the outcome of a match is as good as a coin toss.
    #[inline(always)]
    fn first_of(self, other: Event) -> Event {
        let difference = other.0.wrapping_sub(self.0);
        Event(self.0.wrapping_add(difference & (difference >> 127)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bufferlab_units::Stream;

    #[test]
    fn agrees_with_a_sorted_list() {
        for components in [1, 2, 3, 7, 64, 100] {
            let mut events = Tournament::new(components);
            let mut twin = vec![Time::NEVER; components];
            let mut stream = Stream::new(components as u64, 0, 0);
            for _ in 0..5_000 {
                let component = stream.below(components as u64) as usize;
                let time = match stream.below(10) {
                    0 => Time::NEVER,
                    _ => Time::from_ps(stream.below(50)),
                };
                if stream.below(2) == 0 {
                    events.set(component, time);
                    twin[component] = time;
                } else {
                    events.advance(component, time);
                    twin[component] = twin[component].min(time);
                }
                let first = (0..components).map(|component| (twin[component], component)).min().unwrap();
                assert_eq!(events.first().0, first.0.min(IDLE));
                if first.0 != Time::NEVER {
                    assert_eq!(events.first(), first);
                }
            }
        }
    }
}

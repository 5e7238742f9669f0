//! The event list: one pending event a component.
//!
//! A winner tree over the components' next times (Knuth 1973 volume 3 section 5.4.1). Setting any component's
//! time is one climb of log2 n steps without a branch on the data, stopped early where nothing changes; the
//! next event is read off the root. Ties go to the lower component, which is half of the determinism law:
//! events are ordered by (time, component, FIFO), never by how they came to be scheduled.

use bufferlab_units::Time;

/// The next event of each of a fixed number of components.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    /// `nodes[1]` is the root, `nodes[size + i]` the leaf of component i; each (time << 64) | component, so that
    /// the smaller node is the earlier event and, at one time, the lower component.
    nodes: Vec<u128>,
    size: usize,
    /// The root, at hand.
    first: u128,
}

impl Tournament {
    /// No component has an event.
    pub(crate) fn new(components: usize) -> Tournament {
        let size = components.next_power_of_two();
        let mut nodes = vec![0; 2 * size];
        for component in 0..size {
            nodes[size + component] = pack(Time::NEVER, component);
        }
        for node in (1..size).rev() {
            nodes[node] = nodes[2 * node].min(nodes[2 * node + 1]);
        }
        Tournament { first: nodes[1], nodes, size }
    }

    /// The earliest event's time and component; [`Time::NEVER`] if there is none.
    #[inline]
    pub(crate) fn first(&self) -> (Time, usize) {
        unpack(self.first)
    }

    /// When the component's event is.
    #[inline]
    pub(crate) fn time(&self, component: usize) -> Time {
        unpack(self.nodes[self.size + component]).0
    }

    /// Sets a component's event.
    #[inline]
    pub(crate) fn set(&mut self, component: usize, time: Time) {
        let mut node = self.size + component;
        let mut winner = pack(time, component);
        self.nodes[node] = winner;
        while node > 1 {
            winner = winner.min(self.nodes[node ^ 1]);
            node >>= 1;
            if self.nodes[node] == winner {
                return;
            }
            self.nodes[node] = winner;
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

#[inline]
fn pack(time: Time, component: usize) -> u128 {
    (u128::from(time.as_ps()) << 64) | component as u128
}

#[inline]
fn unpack(node: u128) -> (Time, usize) {
    (Time::from_ps((node >> 64) as u64), node as usize)
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
                assert_eq!(events.first().0, first.0);
                if first.0 != Time::NEVER {
                    assert_eq!(events.first(), first);
                }
            }
        }
    }
}

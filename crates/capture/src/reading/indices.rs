//! The interfaces in a capture of all of them.
//!
//! `tcpdump -i any` on a router captures a packet where it comes in and where it goes out, before and behind the queue. As one interface it
//! would look like a link that loses half of what it carries. So each of Linux's interfaces counts as one.

use std::collections::BTreeMap;

use super::frame::MOST_INTERFACES;
use super::report::Interface;

/// Numbers of Linux's interfaces, by the capture's interface and the index that Linux has for them.
#[derive(Default)]
pub(super) struct Indices {
    numbers: BTreeMap<(u32, u32), u32>,
    /// Most packets are of the same interface as the one before.
    last: Option<((u32, u32), u32)>,
}

impl Indices {
    /// The number of an interface of a capture: the first one has the capture's own. `None` if there are too many.
    #[inline]
    pub(super) fn number(
        &mut self,
        interface: u32,
        index: u32,
        interfaces: &mut Vec<Interface>,
    ) -> Option<u32> {
        let key = (interface, index);
        if let Some((last, number)) = self.last
            && last == key
        {
            return Some(number);
        }
        let number = match self.numbers.get(&key) {
            Some(&number) => number,
            None => self.add(key, interfaces)?,
        };
        self.last = Some((key, number));
        Some(number)
    }

    #[cold]
    fn add(&mut self, key: (u32, u32), interfaces: &mut Vec<Interface>) -> Option<u32> {
        let (interface, index) = key;
        let is_first = self.numbers.range((interface, 0)..=(interface, u32::MAX)).next().is_none();
        let own = &mut interfaces[interface as usize];
        let name = format!("index {index}");
        let number = if is_first {
            own.name = Some(own.name.as_ref().map_or(name.clone(), |of| format!("{of}, {name}")));
            interface
        } else {
            // "any, index 2" is the first one's name by now
            let of = own.name.as_deref().unwrap_or_default().rsplit_once("index ").map_or("", |(of, _)| of);
            let new = Interface { name: Some(format!("{of}{name}")), dropped: None, ..own.clone() };
            if interfaces.len() >= MOST_INTERFACES {
                return None;
            }
            interfaces.push(new);
            (interfaces.len() - 1) as u32
        };
        self.numbers.insert(key, number);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_index_of_each_capture_has_a_number() {
        let named = |name: Option<&str>| Interface { name: name.map(str::to_owned), ..Interface::default() };
        let mut interfaces = vec![named(Some("any")), named(None)];
        let mut indices = Indices::default();
        let mut number = |interface, index| indices.number(interface, index, &mut interfaces);
        let found = [(0, 3), (0, 2), (0, 3), (1, 3), (1, 9), (0, 2)].map(|(a, b)| number(a, b));
        assert_eq!(found, [Some(0), Some(2), Some(0), Some(1), Some(3), Some(2)]);
        let names: Vec<_> = interfaces.iter().filter_map(|each| each.name.as_deref()).collect();
        assert_eq!(names, ["any, index 3", "index 3", "any, index 2", "index 9"]);
    }

    #[test]
    fn there_are_no_more_than_the_limit() {
        let mut interfaces = vec![Interface::default(); MOST_INTERFACES];
        let mut indices = Indices::default();
        assert_eq!(indices.number(7, 1, &mut interfaces), Some(7));
        assert_eq!(indices.number(7, 2, &mut interfaces), None);
        assert_eq!(indices.number(7, 1, &mut interfaces), Some(7));
        assert_eq!(interfaces.len(), MOST_INTERFACES);
    }
}

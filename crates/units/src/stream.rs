//! Random streams, one a component.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::{Span, ln};

/// A random stream of one component, fixed by the run's seed, the component's kind and its index, so that
/// adding a component never shifts another's numbers.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64Mcg);

impl Stream {
    /// The stream of component `index` of a `kind` (any number that the caller reserves for it).
    pub fn new(seed: u64, kind: u32, index: u32) -> Stream {
        let component = (u64::from(kind) << 32) | u64::from(index);
        let low = mix(seed ^ mix(component));
        let high = mix(low ^ component);
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&low.to_le_bytes());
        bytes[8..].copy_from_slice(&high.to_le_bytes());
        Stream(Pcg64Mcg::from_seed(bytes))
    }

    /// The stream of a `kind` that belongs to a name: whatever other names there are, it stays the same.
    pub fn named(seed: u64, kind: u32, name: &str) -> Stream {
        let words = name.as_bytes().chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        let length = mix(name.len() as u64);
        Stream::new(words.fold(seed ^ length, |state, word| mix(state ^ mix(word))), kind, 0)
    }

    /// Sixty-four random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in [0, bound), or 0 if the bound is 0, by Lemire's multiplication (the bias of at most
    /// bound/2⁶⁴ is far below what a run can see).
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in (0, 1], from 53 bits.
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// An exponentially distributed number with mean 1, by inversion.
    pub fn exponential(&mut self) -> f64 {
        -ln(self.unit())
    }

    /// A span uniform in [low, high).
    pub fn uniform_span(&mut self, low: Span, high: Span) -> Span {
        low + Span::from_ps(self.below(high.as_ps() - low.as_ps()))
    }

    /// An exponentially distributed span.
    pub fn exponential_span(&mut self, mean: Span) -> Span {
        Span::from_ps((self.exponential() * mean.as_ps() as f64) as u64)
    }
}

/// The finalizer of `SplitMix64` (Steele, Lea, Flood 2014): spreads nearby seeds over all bits.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ() {
        let draw = |seed, kind, index| {
            let mut stream = Stream::new(seed, kind, index);
            (0..4).map(|_| stream.bits()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1, 2, 3), draw(1, 2, 3));
        assert_ne!(draw(1, 2, 3), draw(2, 2, 3));
        assert_ne!(draw(1, 2, 3), draw(1, 3, 2));
    }

    #[test]
    fn names_have_streams_of_their_own() {
        let draw = |seed, kind, name| Stream::named(seed, kind, name).bits();
        assert_eq!(draw(1, 2, "a name of some length"), draw(1, 2, "a name of some length"));
        let others = [draw(2, 2, "a"), draw(1, 3, "a"), draw(1, 2, "b"), draw(1, 2, "a\0"), draw(1, 2, "")];
        assert!(others.iter().all(|&other| other != draw(1, 2, "a")));
    }

    #[test]
    fn moments_of_the_variates_are_right() {
        let mut stream = Stream::new(7, 0, 0);
        let n = 100_000;
        let mean = (0..n).map(|_| stream.exponential()).sum::<f64>() / f64::from(n);
        // the standard error is 1/sqrt(n) = 0.0032
        assert!((mean - 1.0).abs() < 0.013, "{mean}");
        let low = Span::from_us(2);
        let high = Span::from_us(4);
        let spans: Vec<_> = (0..n).map(|_| stream.uniform_span(low, high)).collect();
        assert!(spans.iter().all(|&span| (low..high).contains(&span)));
        let mean = spans.iter().map(|span| span.as_s() * 1e6).sum::<f64>() / f64::from(n);
        assert!((mean - 3.0).abs() < 0.01, "{mean}");
        assert_eq!(stream.below(0), 0);
    }
}

//! How long packets were under way, by their sender's clock.

/// Ticks a second of a sender's timestamps. Linux has 1000 (`TCP_TS_HZ`, include/net/tcp.h, 6.1), and a million with microseconds
/// (`tcp_usec_ts`, since 6.7); older hosts have 250. RFC 7323 section 5.4 allows down to one a second; coarse ones say nothing of a queue.
const RATES_HZ: [i64; 3] = [1_000, 250, 1_000_000];

/// The rate is known if the clock has run at it for at least a second, but for such a part: waits change while it is measured, and no clock
/// is off by as much. Our choice.
const FIRST_NS: u64 = 1_000_000_000;
const MOST_OFF: f64 = 0.05;

/// A window in which both minima are taken: it lasts a second, and has as many echoes. What is known is from the last eight windows, and
/// holds for ten seconds more: meanwhile clocks that differ by 50 ppm part by less than a millisecond. Our choice.
const WINDOW_NS: u64 = 1_000_000_000;
const FEWEST_ECHOES: u32 = 8;
const WINDOWS: usize = 8;
const HOLDS_NS: u64 = 10_000_000_000;

/// A window without enough echoes has no second bound; one that is lower than this is none. Sums never come near.
const NO_BOUND: i64 = i64::MIN / 2;

/// No packet waits as long: a clock was set, or a timestamp is not its sender's. Then all begins anew.
const MOST_NS: u64 = 10_000_000_000;

/// After 24 days a timestamp of milliseconds may have passed half of its 32 bits, and says nothing more (RFC 7323 section 5.5). Longer round
/// trips are none either. So no sum here comes near 63 bits, whatever times a file states.
const OUTDATED_NS: u64 = 24 * 86_400 * 1_000_000_000;

/// A sender's clock, as its packets arrive.
///
/// A packet's arrival less its timestamp is what it was under way, but for a constant: the minimum over time is without a queue, as for
/// LEDBAT (RFC 6817 section 3.4.2). Clocks run apart, so the constant is found anew in each window, from two bounds. It is at most the
/// smallest difference, which a queue that never empties leaves too large. And it is at least that less the shortest round trip of the
/// window, by echoes of timestamps, beyond the flow's own: those contain what the sender waits before it sends, which is nothing for some
/// of them. Packets' own times are without that.
///
/// An echo also contains what acknowledgments wait on their way back. Where that way is loaded itself, the second bound is too low by as
/// much, and the first alone counts: waits are then too short by what the queue held at its emptiest in the last windows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    first: Option<(u32, u64)>,
    next_look_ns: u64,
    known: Option<Box<Known>>,
}

/// A clock whose rate is known.
#[derive(Clone, Debug)]
struct Known {
    tick_ns: i64,
    window: Window,
    /// The last windows: the smallest difference, and that less the smallest round trip.
    bounds: [(i64, i64); WINDOWS],
    count: usize,
    found_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    since: u64,
    least: i64,
    echoes: u32,
    least_echo: i64,
}

impl Window {
    fn new(since: u64) -> Window {
        Window { since, least: i64::MAX, echoes: 0, least_echo: i64::MAX }
    }
}

impl Clock {
    /// A packet that was sent at `value`, of a flow whose smallest round trip is known. Returns how long the packet waited, in nanoseconds,
    /// if that can be known. `is_back_loaded`: whether what it answers to may have waited, too.
    pub(crate) fn packet(
        &mut self,
        now: u64,
        value: u32,
        least_rtt_ns: u64,
        is_back_loaded: bool,
    ) -> Option<u64> {
        if self.first.is_some_and(|(_, first_at)| now - first_at > OUTDATED_NS) {
            *self = Clock::default();
        }
        let (first_value, first_at) = *self.first.get_or_insert((value, now));
        let (ticks, passed) = (i64::from(value.wrapping_sub(first_value).cast_signed()), now - first_at);
        let Some(known) = &mut self.known else {
            self.look(ticks, passed, now);
            return None;
        };
        let offset = passed.cast_signed() - ticks * known.tick_ns;
        known.window.least = known.window.least.min(offset);
        let has_echoes = is_back_loaded || known.window.echoes >= FEWEST_ECHOES;
        let is_whole = now - known.window.since >= WINDOW_NS && has_echoes;
        let least_ns = (!is_back_loaded).then(|| least_rtt_ns.min(OUTDATED_NS).cast_signed());
        let wait = known.wait(now, offset, least_ns);
        if is_whole {
            // what follows counts from here, so that nothing wraps
            known.close(now, offset);
            self.first = Some((value, now));
        }
        if wait.is_some_and(|wait| wait.unsigned_abs() > MOST_NS) {
            *self = Clock::default();
            return None;
        }
        wait.map(|wait| wait.max(0) as u64)
    }

    /// The round trip of an echo.
    pub(crate) fn echo(&mut self, rtt_ns: u64) {
        if let Some(known) = &mut self.known
            && rtt_ns <= OUTDATED_NS
        {
            known.window.echoes += 1;
            known.window.least_echo = known.window.least_echo.min(rtt_ns.cast_signed());
        }
    }

    /// Whether waits of the moment are known.
    pub(crate) fn is_known(&self, now: u64) -> bool {
        self.known.as_ref().is_some_and(|known| known.holds(now))
    }

    /// Looks how fast the clock runs, at moments that are ever farther apart.
    fn look(&mut self, ticks: i64, passed: u64, now: u64) {
        if passed < FIRST_NS.max(self.next_look_ns) {
            return;
        }
        self.next_look_ns = 2 * passed;
        let is_near = |hz: i64| {
            let expected = hz as f64 * passed as f64 / 1e9;
            (ticks as f64 / expected - 1.0).abs() <= MOST_OFF
        };
        self.known = RATES_HZ.into_iter().find(|&hz| is_near(hz)).map(|hz| {
            let tick_ns = 1_000_000_000 / hz;
            let window = Window::new(now);
            Box::new(Known {
                tick_ns,
                window,
                bounds: [(i64::MAX, i64::MIN); WINDOWS],
                count: 0,
                found_ns: 0,
            })
        });
    }
}

impl Known {
    fn holds(&self, now: u64) -> bool {
        self.count > 0 && now - self.found_ns <= HOLDS_NS
    }

    /// Without a smallest round trip the smallest difference alone counts.
    fn wait(&self, now: u64, offset: i64, least_rtt_ns: Option<i64>) -> Option<i64> {
        let most = self.bounds.iter().map(|&(least, _)| least).min()?;
        let least = self.bounds.iter().map(|&(_, without)| without).max()?;
        let constant = match least_rtt_ns {
            None => most,
            Some(_) if least <= NO_BOUND => return None,
            Some(rtt_ns) => most.min(least + rtt_ns),
        };
        // the value was true for a tick: in the mean it was half of that ago
        self.holds(now).then(|| offset - constant - self.tick_ns / 2)
    }

    /// Ends a window, and counts differences from `offset` on.
    fn close(&mut self, now: u64, offset: i64) {
        let Window { least, echoes, least_echo, .. } = self.window;
        let without = if echoes >= FEWEST_ECHOES { least - least_echo } else { i64::MIN };
        self.bounds[self.count % WINDOWS] = (least, without);
        self.count += 1;
        for (most, least) in &mut self.bounds[..self.count.min(WINDOWS)] {
            *most -= offset;
            *least = if *least <= NO_BOUND { i64::MIN } else { *least - offset };
        }
        self.window = Window::new(now);
        self.found_ns = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Packets every 2 ms for as long, of a clock with such a rate, which wait as said; echoes are too long by up to 5 ms.
    fn waits(seconds: u64, hz: f64, wait_ns: impl Fn(u64) -> u64) -> Vec<(u64, u64)> {
        let mut clock = Clock::default();
        let mut found = Vec::new();
        for n in 0..500 * seconds {
            let sent = n * 2 * MS + n % 7 * 100_000;
            let now = sent + 20 * MS + wait_ns(sent);
            let value = 77_u32.wrapping_add((sent as f64 * hz / 1e9) as u32);
            if let Some(wait) = clock.packet(now, value, 40 * MS, false) {
                found.push((wait_ns(sent), wait));
            }
            if n % 5 == 0 {
                clock.echo(40 * MS + wait_ns(sent) + n % 50 / 10 * MS);
            }
        }
        found
    }

    fn errors_ms(found: &[(u64, u64)]) -> (f64, f64) {
        let errors: Vec<f64> =
            found.iter().map(|&(truth, wait)| (wait as f64 - truth as f64) / 1e6).collect();
        let worst = errors.iter().fold(0.0, |worst: f64, error| worst.max(error.abs()));
        (errors.iter().sum::<f64>() / errors.len() as f64, worst)
    }

    #[test]
    fn packets_times_show_waits_that_echoes_blur() {
        let triangle = |at: u64| (at / MS % 40).abs_diff(20) * MS / 5;
        let found = waits(30, 1_000.0, triangle);
        let (mean, worst) = errors_ms(&found);
        assert!(found.len() > 13_000 && mean.abs() < 0.3 && worst < 1.2, "{mean} {worst} {}", found.len());
    }

    #[test]
    fn what_acknowledgments_wait_is_no_wait_of_the_data() {
        let triangle = |at: u64| (at / MS % 40).abs_diff(20) * MS / 5;
        // the way back never empties: echoes are 30 ms too long, or none match
        for echoed in [true, false] {
            let (mut loaded, mut alone) = (Clock::default(), Clock::default());
            let (mut errors, mut errors_alone) = (Vec::new(), Vec::new());
            for n in 0..15_000_u64 {
                let sent = n * 2 * MS;
                let now = sent + 20 * MS + triangle(sent);
                let value = (sent / MS) as u32;
                if let Some(wait) = loaded.packet(now, value, 40 * MS, true) {
                    errors.push((triangle(sent), wait));
                }
                if let Some(wait) = alone.packet(now, value, 40 * MS, false) {
                    errors_alone.push((triangle(sent), wait));
                }
                if echoed && n % 5 == 0 {
                    loaded.echo(70 * MS + triangle(sent));
                    alone.echo(70 * MS + triangle(sent));
                }
            }
            let (mean, worst) = errors_ms(&errors);
            assert!(errors.len() > 13_000 && mean.abs() < 0.6 && worst < 1.2, "{mean} {worst}");
            // without knowing of it, all of that is taken for a wait of the data
            assert_eq!(echoed, !errors_alone.is_empty());
            assert!(!echoed || errors_ms(&errors_alone).0 > 29.0);
        }
    }

    #[test]
    fn a_clock_that_runs_apart_says_the_same() {
        let triangle = |at: u64| (at / MS % 40).abs_diff(20) * MS / 5;
        for off in [0.999_95, 1.000_05] {
            let (mean, worst) = errors_ms(&waits(60, 1_000.0 * off, triangle));
            assert!(mean.abs() < 0.5 && worst < 1.4, "{off}: {mean} {worst}");
        }
    }

    #[test]
    fn a_clock_that_is_none_says_nothing() {
        assert!(waits(10, 700.0, |_| 0).is_empty());
        assert!(waits(10, 10.0, |_| 0).is_empty());
    }

    #[test]
    fn times_and_timestamps_that_cannot_be_say_nothing() {
        // 292 years are what 63 bits of nanoseconds hold; beside a clock that is known, one that jumps
        for jump in [1, 1_u64 << 62, i64::MAX as u64, (i64::MAX as u64) + 1, u64::MAX / 2 + 77] {
            for value in [0, 1, i32::MAX as u32, 1 << 31, u32::MAX] {
                let mut clock = Clock::default();
                let mut last = 0;
                for n in 0..2_000_u64 {
                    let now = 20 * MS + n * 2 * MS;
                    clock.packet(now, (n * 2) as u32, 40 * MS, false);
                    clock.echo(40 * MS);
                    last = now;
                }
                assert!(clock.is_known(last));
                for n in 0..30 {
                    let now = last.saturating_add(jump) + n * MS;
                    for rtt_ns in [0, jump, u64::MAX] {
                        let wait = clock.packet(now, value.wrapping_mul(n as u32), rtt_ns, false);
                        assert!(wait.is_none_or(|wait| wait <= MOST_NS), "{jump} {value}: {wait:?}");
                        clock.echo(rtt_ns);
                    }
                }
            }
        }
        let mut clock = Clock::default();
        clock.packet(0, 0, MS, false);
        assert_eq!(clock.packet(u64::MAX - 1, 9, MS, false), None);
        assert_eq!(clock.packet(u64::MAX, 9, MS, false), None);
    }

    #[test]
    fn without_echoes_nothing_is_known() {
        let mut clock = Clock::default();
        assert!((0..10_000_u32).all(|n| clock.packet(u64::from(n) * MS, n, MS, false).is_none()));
        assert!(!clock.is_known(10_000 * MS));
    }
}

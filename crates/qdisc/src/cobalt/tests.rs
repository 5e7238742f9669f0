use proptest::prelude::*;

use super::*;

const DEAF: PacketKind = PacketKind::Data(Ecn::Incapable);
const ECT0: PacketKind = PacketKind::Data(Ecn::Capable);
const CE: PacketKind = PacketKind::Data(Ecn::Marked);

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

fn at(time_ms: u64) -> Time {
    Time::ZERO + ms(time_ms)
}

fn mbps(mbps: u64) -> Rate {
    Rate::from_bps(mbps * 1_000_000).unwrap()
}

fn packet(seq: u32, kind: PacketKind) -> Packet {
    Packet { seq, kind, wire_bytes: 1000, ..Packet::default() }
}

fn cobalt(limit: Limit, config: CobaltConfig) -> Cobalt {
    Cobalt::new(limit, config, mbps(1_000), Stream::new(7, 0, 0))
}

/// The constants of `cake_set_rate` and of tc's `rtt`.
#[test]
fn the_defaults_are_those_of_linux() {
    let config = CobaltConfig::default();
    assert_eq!((config.target, config.interval), (ms(5), ms(100)));
    assert_eq!(config.target.saturating_mul(20), config.interval);
    assert_eq!((1.0 / config.increment, 1.0 / config.decrement), (256.0, 4096.0));
}

/// A full packet of 1500 bytes takes 12 ms at 1 Mbps: the target is 18 ms, the interval 113 ms, and 48 ms are spared.
#[test]
fn a_slow_link_has_longer_times() {
    let mut queue = Cobalt::new(Limit::Unlimited, CobaltConfig::default(), mbps(1), Stream::new(1, 0, 0));
    queue.enqueue(Time::ZERO, Packet { wire_bytes: 1500, ..packet(0, DEAF) }, &mut Drops::new());
    let Times { target, interval, spared } = queue.times;
    assert_eq!([target, interval, spared], [18, 113, 48].map(ms));
    assert!(!queue.times.is_long(ms(48)) && queue.times.is_long(ms(49)));
    // an interval below twice the target is that
    let short = CobaltConfig { interval: ms(10), ..CobaltConfig::default() };
    assert_eq!(Times::new(&short, ms(12)).interval, ms(36));
}

/// After an interval above the target the first signal, the next ones after 100 / √2, √3, √4 ... ms: the count is raised
/// before its root is taken, other than in RFC 8289.
#[test]
fn signals_come_at_distances_of_the_interval_over_the_root_of_their_count() {
    let times = Times::new(&CobaltConfig::default(), Span::ZERO);
    let (mut due, mut expected) = (101.0_f64, Vec::new());
    for count in 2..9 {
        expected.push(due.ceil() as u64);
        due += 100.0 / f64::from(count).sqrt();
    }
    for listens in [false, true] {
        let (mut state, mut stream) = (State::NEW, Stream::new(1, 0, 0));
        let mut judge = |now, wait| state.judge(at(now), ms(wait), &times, listens, &mut stream).signaled;
        judge(0, 1);
        let signals: Vec<_> = (1..due as u64).filter(|&now| judge(now, 30)).collect();
        assert_eq!(signals, expected);
        assert_eq!(state.count, 8);
    }
}

/// Below the target the count goes down as it went up, a step at each distance.
#[test]
fn the_count_decays_by_steps() {
    let times = Times::new(&CobaltConfig::default(), Span::ZERO);
    let mut stream = Stream::new(1, 0, 0);
    let mut state = State { count: 4, drop_next: at(1_000), dropping: true, ..State::NEW };
    let mut counts = Vec::new();
    for now in 1_000..1_300 {
        state.judge(at(now), ms(1), &times, false, &mut stream);
        counts.push(state.count);
    }
    // 100 / √3 after the first step, then 100 / √2, and 100
    let fell = |to: u32| 1_000 + counts.iter().position(|&count| count == to).expect("it gets there") as u64;
    assert_eq!([3, 2, 1, 0].map(fell), [1_000, 1_058, 1_129, 1_229]);
}

#[test]
fn the_chance_changes_once_a_target() {
    let config = CobaltConfig { increment: 0.3, decrement: 0.4, ..CobaltConfig::default() };
    let times = Times::new(&config, Span::ZERO);
    let mut state = State::NEW;
    let mut chances = Vec::new();
    for now in [1, 6, 7, 11, 12, 18, 24] {
        state.on_full(at(now), &times, &config);
        chances.push((state.chance * 10.0).round() as u32);
    }
    assert_eq!(chances, [0, 3, 3, 3, 6, 9, 10]);
    assert!(state.dropping && state.count == 1);
    chances.clear();
    for now in [25, 30, 31, 36, 42] {
        state.on_empty(at(now), &times, &config);
        chances.push((state.chance * 10.0).round() as u32);
    }
    assert_eq!(chances, [10, 6, 6, 2, 0]);
    assert!(!state.dropping);
}

/// "Lack of ECN is deliberate". The tolerance is four standard deviations.
#[test]
fn lots_fall_on_whoever_comes() {
    for kind in [DEAF, ECT0] {
        let mut queue = cobalt(Limit::Unlimited, CobaltConfig::default());
        queue.state.chance = 0.25;
        let mut drops = Drops::new();
        (0..100_001).for_each(|seq| queue.enqueue(Time::ZERO, packet(seq, kind), &mut drops));
        while queue.dequeue(Time::ZERO, &mut drops).is_some() {}
        let share = drops.len() as f64 / 100_000.0;
        assert!((share - 0.25).abs() < 4.0 * (0.25 * 0.75 / 100_000.0_f64).sqrt(), "{share}");
        assert!(drops.iter().all(|dropped| dropped.reason == DropReason::Early));
        assert_eq!(queue.marks(), 0);
    }
}

#[test]
fn the_last_packet_is_never_dropped() {
    for (kind, marks) in [(DEAF, 0), (ECT0, 1)] {
        let mut queue = cobalt(Limit::Unlimited, CobaltConfig::default());
        queue.state = State { count: 3, dropping: true, chance: 1.0, ..State::NEW };
        let mut drops = Drops::new();
        queue.enqueue(Time::ZERO, packet(0, kind), &mut drops);
        assert!(queue.dequeue(at(500), &mut drops).is_some() && drops.is_empty());
        assert_eq!(queue.marks(), marks);
    }
}

#[test]
fn the_oldest_packet_makes_room() {
    let mut queue = cobalt(Limit::Packets(2), CobaltConfig::default());
    let mut drops = Drops::new();
    (0..4).for_each(|seq| queue.enqueue(at(10), packet(seq, DEAF), &mut drops));
    assert_eq!(drops.iter().map(|dropped| dropped.packet.seq).collect::<Vec<_>>(), [0, 1]);
    assert!(drops.iter().all(|dropped| dropped.reason == DropReason::Overlimit));
    assert_eq!(queue.state.chance, 1.0 / 256.0, "once a target");
}

/// Linux's root: four steps of Newton's method from the one before for counts below 16 ("cache"), one beyond.
#[test]
fn the_exact_root_is_close_to_linux_s() {
    let newton = |x: f64, count: u32| x * (3.0 - f64::from(count) * x * x) / 2.0;
    let mut root = 1.0;
    for count in 1..2_000_u32 {
        let steps = if count < 16 { 4 } else { 1 };
        root = (0..steps).fold(root, |x, _| newton(x, count));
        let exact = 1.0 / f64::from(count).sqrt();
        assert!((root / exact - 1.0).abs() < 0.002, "{count}: {root} {exact}");
    }
}

/// Linux's steps with its names, signed times and a list.
struct Slow {
    config: CobaltConfig,
    waiting: Vec<Packet>,
    limit: usize,
    target: i64,
    interval: i64,
    mtu_time: i64,
    count: u32,
    drop_next: i64,
    blue_timer: i64,
    p_drop: f64,
    dropping: bool,
    stream: Stream,
    marks: u64,
}

impl Slow {
    fn control(&self, t: i64) -> i64 {
        let root = if self.count == 0 { 1.0 } else { f64::from(self.count).sqrt() };
        t + (self.interval as f64 / root) as i64
    }

    fn enqueue(&mut self, now: i64, packet: Packet) {
        let bytes = i64::from(packet.wire_bytes);
        let time = bytes * 8 * 1_000; // ps at 1 Gbit/s
        if time > self.mtu_time {
            self.mtu_time = time;
            let (target, interval) =
                (self.config.target.as_ps().cast_signed(), self.config.interval.as_ps().cast_signed());
            self.target = target.max(time * 3 / 2);
            self.interval = (interval + self.target - target).max(2 * self.target);
        }
        self.waiting.push(Packet { enqueued: Time::from_ps(now as u64), ..packet });
        if self.waiting.len() > self.limit {
            if now - self.blue_timer > self.target {
                self.p_drop = f64::min(self.p_drop + self.config.increment, 1.0);
                self.blue_timer = now;
            }
            self.dropping = true;
            self.drop_next = now;
            if self.count == 0 {
                self.count = 1;
            }
            self.waiting.remove(0);
        }
    }

    fn empty(&mut self, now: i64) {
        if self.p_drop > 0.0 && now - self.blue_timer > self.target {
            self.p_drop = f64::max(self.p_drop - self.config.decrement, 0.0);
            self.blue_timer = now;
        }
        self.dropping = false;
        if self.count > 0 && now - self.drop_next >= 0 {
            self.count -= 1;
            self.drop_next = self.control(self.drop_next);
        }
    }

    /// Whether the packet is to be dropped, and whether it bears a mark.
    fn should_drop(&mut self, now: i64, packet: &Packet) -> (bool, bool) {
        let wait = now - packet.enqueued.as_ps().cast_signed();
        let mut schedule = now - self.drop_next;
        let over_target = wait > self.target && wait > self.mtu_time * 4;
        let mut next_due = self.count > 0 && schedule >= 0;
        let (mut drop, mut marked) = (false, false);
        if over_target {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.control(now);
            }
            if self.count == 0 {
                self.count = 1;
            }
        } else if self.dropping {
            self.dropping = false;
        }
        if next_due && self.dropping {
            marked = self.config.ecn && (packet.kind == ECT0 || packet.kind == CE);
            drop = !marked;
            self.count += 1;
            self.drop_next = self.control(self.drop_next);
            schedule = now - self.drop_next;
        } else {
            while next_due {
                self.count -= 1;
                self.drop_next = self.control(self.drop_next);
                schedule = now - self.drop_next;
                next_due = self.count > 0 && schedule >= 0;
            }
        }
        if self.p_drop > 0.0 {
            drop |= self.stream.unit() <= self.p_drop;
        }
        if self.count == 0 {
            self.drop_next = now + self.interval;
        } else if schedule > 0 && !drop {
            self.drop_next = now;
        }
        (drop, marked)
    }

    fn dequeue(&mut self, now: i64) -> Option<Packet> {
        while !self.waiting.is_empty() {
            let mut packet = self.waiting.remove(0);
            let (drop, marked) = self.should_drop(now, &packet);
            if drop && !self.waiting.is_empty() {
                continue;
            }
            if marked && packet.kind == ECT0 {
                packet.kind = CE;
                self.marks += 1;
            }
            return Some(packet);
        }
        self.empty(now);
        None
    }
}

proptest! {
    #[test]
    fn it_does_what_linux_does(
        steps in prop::collection::vec((0..5_u64, 0..6_usize, 40..1500_u32), 1..700),
        which in 0..3_usize,
        limit in 1..60_usize,
    ) {
        let fast = CobaltConfig {
            target: ms(1),
            interval: ms(3),
            increment: 0.1,
            decrement: 0.07,
            ..CobaltConfig::default()
        };
        let config = [CobaltConfig::default(), fast, CobaltConfig { ecn: false, ..fast }][which];
        let stream = Stream::new(3, 0, 0);
        let mut queue = Cobalt::new(Limit::Packets(limit as u64), config, mbps(1_000), stream.clone());
        let mut slow = Slow {
            config,
            waiting: Vec::new(),
            limit,
            target: config.target.as_ps().cast_signed(),
            interval: config.interval.as_ps().cast_signed(),
            mtu_time: 0,
            count: 0,
            drop_next: 0,
            blue_timer: 0,
            p_drop: 0.0,
            dropping: false,
            stream,
            marks: 0,
        };
        let (mut now, mut drops) = (Time::ZERO, Drops::new());
        for (seq, (gap, step, wire_bytes)) in (0..).zip(steps) {
            now += Span::from_us(300 * gap);
            if let Some(&kind) = [DEAF, ECT0, CE].get(step) {
                let packet = Packet { wire_bytes, ..packet(seq, kind) };
                queue.enqueue(now, packet, &mut drops);
                slow.enqueue(now.as_ps().cast_signed(), packet);
            } else {
                prop_assert_eq!(queue.dequeue(now, &mut drops), slow.dequeue(now.as_ps().cast_signed()));
            }
            prop_assert_eq!(queue.backlog().packets, slow.waiting.len() as u64);
            prop_assert_eq!((queue.state.count, queue.marks()), (slow.count, slow.marks));
        }
    }
}

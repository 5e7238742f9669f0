//! BOLA: bitrates by the level of the playback buffer.
//!
//! Sources: K. Spiteri, R. Urgaonkar, R. K. Sitaraman, "BOLA: Near-Optimal Bitrate Adaptation for Online Videos", IEEE
//! INFOCOM 2016 (arXiv 1601.06748): the ratio `(V (v_m + γp) − Q) / S_m` that the bitrate m maximizes, with the utilities
//! `v_m = ln(S_m / S_1)`; and BOLA-O. The placeholder buffer is BOLA-E's: K. Spiteri, R. K. Sitaraman,
//! D. Sparacio, "From Theory to Practice: Improving Bitrate Adaptation in the DASH Reference Player", ACM Multimedia Systems
//! 2018. The constants and the order of steps are those of dash.js, `src/streaming/rules/abr/BolaRule.js`, read as behavior.

use bufferlab_units::ln;

/// `MINIMUM_BUFFER_S`: at this level the lowest bitrate is what is preferred.
const LEAST_BUFFER_S: f64 = 10.0;
/// `MINIMUM_BUFFER_PER_BITRATE_LEVEL_S`: the highest bitrate is preferred this much above it for each bitrate, or more.
const BUFFER_PER_RATE_S: f64 = 2.0;
/// `PLACEHOLDER_BUFFER_DECAY`, with each segment.
const PLACEHOLDER_DECAY: f64 = 0.99;

/// What BOLA's score of each bitrate is made of.
#[derive(Clone, Debug)]
pub(super) struct Scores {
    ladder_bps: Vec<f64>,
    /// ln(bitrate over the lowest) + 1.
    utilities: Vec<f64>,
    /// V of the paper times the segment's length, s.
    vp: f64,
    /// γp of the paper.
    gp: f64,
}

impl Scores {
    /// For a ladder, and a buffer of `buffer_s`.
    ///
    /// Without the steps of the ladder, the score's maximum is at the bitrate of utility u when the level is Vp·(u + gp − 1):
    /// at the lowest bitrate with `LEAST_BUFFER_S`, and at the highest with the longer of the buffer and
    /// `LEAST_BUFFER_S` + `BUFFER_PER_RATE_S` for each (`calculateBolaParameters`). Of one bitrate any parameters choose it.
    pub(super) fn new(ladder_bps: &[u64], buffer_s: f64) -> Scores {
        let ladder_bps: Vec<f64> = ladder_bps.iter().map(|&bps| bps as f64).collect();
        let utilities: Vec<f64> = ladder_bps.iter().map(|bps| ln(bps / ladder_bps[0]) + 1.0).collect();
        let top_s = buffer_s.max(LEAST_BUFFER_S + BUFFER_PER_RATE_S * ladder_bps.len() as f64);
        let most = utilities[utilities.len() - 1] - 1.0;
        let gp = if most > 0.0 { most / (top_s / LEAST_BUFFER_S - 1.0) } else { 1.0 };
        Scores { ladder_bps, utilities, vp: LEAST_BUFFER_S / gp, gp }
    }

    /// The best bitrate at a level, s; of equal ones the highest (`getQualityFromBufferLevel`).
    pub(super) fn best(&self, level_s: f64) -> usize {
        let score = |rate: usize| (self.most_s(rate) - level_s) / self.ladder_bps[rate];
        (1..self.ladder_bps.len()).fold(0, |best, rate| if score(rate) >= score(best) { rate } else { best })
    }

    /// Above this level waiting is better than a segment at this bitrate, s (`maxBufferLevelForQuality`).
    fn most_s(&self, rate: usize) -> f64 {
        self.vp * (self.utilities[rate] + self.gp)
    }

    /// From this level on it is better than each lower one, s (`minBufferLevelForQuality`).
    fn least_s(&self, rate: usize) -> f64 {
        let (bps, utility) = (self.ladder_bps[rate], self.utilities[rate]);
        let over = |lower: usize| {
            let mixed = bps * self.utilities[lower] - self.ladder_bps[lower] * utility;
            self.vp * (self.gp + mixed / (bps - self.ladder_bps[lower]))
        };
        (0..rate).map(over).fold(0.0, f64::max)
    }
}

/// BOLA-E and BOLA-O: with a placeholder, a part of the level that is not in the buffer, and without rises that the
/// throughput cannot sustain.
#[derive(Clone, Debug)]
pub(super) struct Bola {
    scores: Scores,
    placeholder_s: f64,
    last: usize,
    /// The buffer has held a segment (`BOLA_STATE_STEADY`).
    steady: bool,
}

/// The next segment's bitrate, and how long the client waits for its request, s.
pub(super) struct Choice {
    pub(super) rate: usize,
    pub(super) wait_s: f64,
}

impl Bola {
    pub(super) fn new(scores: Scores) -> Bola {
        Bola { scores, placeholder_s: 0.0, last: 0, steady: false }
    }

    /// A segment is there, of which the client had `level_s` in its buffer when it asked (`checkNewSegment`).
    pub(super) fn on_segment(&mut self, level_s: f64) {
        let most_s = (self.scores.most_s(self.last) - level_s).max(0.0);
        self.placeholder_s = (self.placeholder_s * PLACEHOLDER_DECAY).min(most_s);
    }

    /// The buffer has run empty (`onBufferEmpty`).
    pub(super) fn on_stall(&mut self) {
        if self.steady {
            self.placeholder_s = 0.0;
        }
    }

    /// What is asked for next with `level_s` in the buffer, after a wait of `waited_s` until there was room, which changes
    /// nothing (`updatePlaceholderBuffer`). `sustained` is the throughput's bitrate (`getMaxIndex`).
    pub(super) fn choose(&mut self, level_s: f64, waited_s: f64, segment_s: f64, sustained: usize) -> Choice {
        if !self.steady {
            self.placeholder_s = (self.scores.least_s(sustained) - level_s).max(0.0);
            self.last = sustained;
            self.steady = level_s >= segment_s;
            return Choice { rate: sustained, wait_s: 0.0 };
        }
        self.placeholder_s += waited_s;
        let effective_s = level_s + self.placeholder_s;
        let mut rate = self.scores.best(effective_s);
        if rate > self.last && rate > sustained {
            rate = sustained.max(self.last);
        }
        self.last = rate;
        let excess_s = (effective_s - self.scores.most_s(rate)).max(0.0);
        let taken_s = excess_s.min(self.placeholder_s);
        self.placeholder_s -= taken_s;
        let is_top = rate + 1 == self.scores.ladder_bps.len();
        Choice { rate, wait_s: if is_top { 0.0 } else { excess_s - taken_s } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five bitrates: "BOLA switches to top bitrate at buffer = 10 + 5 * 2 = 20s" (the source's comment).
    const LADDER: [u64; 5] = [500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000];

    fn close(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-9, "{found} is not {wanted}");
    }

    #[test]
    fn the_lowest_is_best_at_ten_seconds_and_the_highest_at_two_more_for_each_bitrate() {
        let scores = Scores::new(&LADDER, 12.0);
        // utilities 1 … 1 + ln 16, so gp = ln 16 / (20/10 − 1)
        close(scores.gp, 16_f64.ln());
        close(scores.vp, 10.0 / 16_f64.ln());
        close(scores.vp * scores.gp, 10.0);
        close(scores.vp * (scores.utilities[4] + scores.gp - 1.0), 20.0);
        assert_eq!((scores.best(10.0), scores.best(20.0)), (0, 4));
        // a longer buffer moves the highest there
        let long = Scores::new(&LADDER, 60.0);
        close(long.vp * (long.utilities[4] + long.gp - 1.0), 60.0);
        assert_eq!(long.best(10.0), 0);
    }

    #[test]
    fn bitrates_change_where_two_scores_are_equal() {
        // with bitrates b and 2b of utilities u and u + ln 2, (Vp(u + gp) − Q)/b = (Vp(u + ln 2 + gp) − Q)/2b at
        // Q = Vp(u + gp − ln 2); with V = 10/ln 16 and gp = ln 16 that is 10 + 10 (1 + k ln 2 − ln 2)/ln 16
        let scores = Scores::new(&LADDER, 12.0);
        for rate in 1..LADDER.len() {
            let lower = rate as f64 - 1.0;
            let level_s = 10.0 + 10.0 * (1.0 + (lower - 1.0) * 2_f64.ln()) / 16_f64.ln();
            close(scores.least_s(rate), level_s);
            assert_eq!(scores.best(level_s - 1e-6), rate - 1);
            assert_eq!(scores.best(level_s + 1e-6), rate);
        }
        assert_eq!(scores.best(0.0), 0);
        assert_eq!(Scores::new(&LADDER[..1], 12.0).best(40.0), 0);
    }

    #[test]
    fn the_start_follows_the_throughput_and_the_placeholder_keeps_it() {
        let scores = Scores::new(&LADDER, 12.0);
        let least_s = scores.least_s(3);
        let mut bola = Bola::new(scores);
        // one segment of 4 s is there: what the throughput sustains, and from then on as if the buffer held what that takes
        let first = bola.choose(4.0, 0.0, 4.0, 3);
        assert_eq!((first.rate, first.wait_s, bola.steady), (3, 0.0, true));
        close(bola.placeholder_s, least_s - 4.0);
        // the next one comes as fast as it is played, so nothing changes but the decay
        bola.on_segment(4.0);
        close(bola.placeholder_s, (least_s - 4.0) * 0.99);
        assert_eq!(bola.choose(4.2, 0.0, 4.0, 3).rate, 3);
        // the buffer has run empty, so only what is in it counts
        bola.on_stall();
        assert_eq!(bola.choose(4.0, 0.0, 4.0, 3).rate, 0);
    }

    #[test]
    fn it_rises_no_higher_than_the_throughput_but_does_not_fall_by_it() {
        let mut bola = Bola::new(Scores::new(&LADDER, 12.0));
        bola.choose(4.0, 0.0, 4.0, 1);
        assert_eq!(bola.choose(20.0, 0.0, 4.0, 2).rate, 2);
        assert_eq!(bola.choose(20.0, 0.0, 4.0, 4).rate, 4);
        assert_eq!(bola.choose(20.0, 0.0, 4.0, 0).rate, 4);
    }

    #[test]
    fn it_waits_rather_than_fill_the_buffer_with_a_low_bitrate_unless_it_is_the_highest() {
        let scores = Scores::new(&LADDER, 12.0);
        let (low_s, top_s) = (scores.most_s(1), scores.most_s(4));
        let mut bola = Bola::new(scores);
        bola.choose(4.0, 0.0, 4.0, 1);
        bola.placeholder_s = 1.0;
        let choice = bola.choose(low_s + 2.0, 0.0, 4.0, 1);
        // the placeholder goes first
        assert_eq!(choice.rate, 1);
        close(choice.wait_s, 2.0);
        assert_eq!(bola.placeholder_s, 0.0);
        let choice = bola.choose(top_s + 2.0, 0.0, 4.0, 4);
        assert_eq!((choice.rate, choice.wait_s), (4, 0.0));
        // a wait for room counts as if it had not been
        bola.placeholder_s = 0.0;
        let choice = bola.choose(15.0, 5.0, 4.0, 4);
        assert_eq!(choice.rate, 4);
        close(bola.placeholder_s, 5.0);
    }
}

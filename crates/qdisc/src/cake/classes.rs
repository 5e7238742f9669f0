//! Which codepoint belongs to which tin, and what each tin gets.

use bufferlab_units::Rate;

use super::tin::Tin;
use super::{CakeConfig, CakeTins};

/// Codepoints by name (RFC 2474, 2597, 3246, 5865, 8622; 4 is the old "minimal delay").
const LE: u8 = 1;
const MIN_DELAY: u8 = 4;
const VOICE_ADMIT: u8 = 44;
const EF: u8 = 46;

/// The precedence of a codepoint, if it is CS0 … CS7, and else the class and the drop precedence of AF11 … AF43.
fn class_selector(dscp: u8) -> Option<u8> {
    dscp.is_multiple_of(8).then_some(dscp / 8)
}

fn assured_forwarding(dscp: u8) -> Option<u8> {
    let (class, precedence) = (dscp / 8, dscp % 8);
    ((1..=4).contains(&class) && [2, 4, 6].contains(&precedence)).then_some(class)
}

/// The tin of a codepoint (the tables `diffserv3` … of Linux).
pub(super) fn tin_of(tins: CakeTins, dscp: u8) -> u8 {
    match tins {
        CakeTins::BestEffort => 0,
        CakeTins::Precedence => dscp >> 3,
        CakeTins::Diffserv3 => diffserv3(dscp),
        CakeTins::Diffserv4 => diffserv4(dscp),
        CakeTins::Diffserv8 => diffserv8(dscp),
    }
}

/// Best effort, bulk, voice.
fn diffserv3(dscp: u8) -> u8 {
    match (dscp, class_selector(dscp)) {
        (LE, _) | (_, Some(1)) => 1,
        (MIN_DELAY | VOICE_ADMIT | EF, _) | (_, Some(6 | 7)) => 2,
        _ => 0,
    }
}

/// Best effort, bulk, video, voice.
fn diffserv4(dscp: u8) -> u8 {
    match (dscp, class_selector(dscp), assured_forwarding(dscp)) {
        (LE, ..) | (_, Some(1), _) => 1,
        (MIN_DELAY, ..) | (_, Some(2 | 3), _) | (_, _, Some(2..=4)) => 2,
        (VOICE_ADMIT | EF, ..) | (_, Some(4..=7), _) => 3,
        _ => 0,
    }
}

/// Lower effort, throughput, best effort, video, transactions, shell, latency, network control.
fn diffserv8(dscp: u8) -> u8 {
    /// The old "maximal throughput".
    const MAX_THROUGHPUT: u8 = 2;
    match (dscp, class_selector(dscp), assured_forwarding(dscp)) {
        (LE, ..) => 0,
        (MAX_THROUGHPUT, ..) | (_, Some(1), _) | (_, _, Some(1)) => 1,
        (_, Some(3), _) | (_, _, Some(3 | 4)) => 3,
        (MIN_DELAY, ..) | (_, _, Some(2)) => 4,
        (_, Some(2), _) => 5,
        (VOICE_ADMIT | EF, ..) | (_, Some(4 | 5), _) => 6,
        (_, Some(6 | 7), _) => 7,
        _ => 2,
    }
}

/// The tins of a link with this rate, none without a shaper (`cake_config_…`): the rate up to which each comes first, and
/// its quantum.
pub(super) fn tins_of(config: &CakeConfig, rate: Option<Rate>) -> Vec<Tin> {
    let settings = settings(config.tins, rate.map_or(0, Rate::as_bps));
    let alone = settings.len() == 1;
    let tin = |(bps, quantum): &(u64, u16)| {
        let rate = rate.and(Rate::from_bps((*bps).max(LEAST_BPS)));
        Tin::new(config, rate, *quantum, alone)
    };
    settings.iter().map(tin).collect()
}

/// The least rate of a tin, bit/s (`MIN_RATE`, in bytes).
const LEAST_BPS: u64 = 64 * 8;

/// Rate, bit/s, and quantum of each tin.
pub(super) fn settings(tins: CakeTins, bps: u64) -> Vec<(u64, u16)> {
    const WHOLE: u16 = 1024;
    match tins {
        CakeTins::BestEffort => vec![(bps, u16::MAX)],
        CakeTins::Diffserv3 => vec![(bps, WHOLE), (bps >> 4, WHOLE >> 4), (bps >> 2, WHOLE >> 2)],
        CakeTins::Diffserv4 => {
            vec![(bps, WHOLE), (bps >> 4, WHOLE >> 4), (bps >> 1, WHOLE >> 1), (bps >> 2, WHOLE >> 2)]
        }
        CakeTins::Precedence | CakeTins::Diffserv8 => {
            // each has seven eighths of what the one below it has
            let first = Some((u128::from(bps), 256_u16));
            let tins = std::iter::successors(first, |(bps, quantum)| Some((bps * 7 / 8, quantum * 7 / 8)));
            tins.take(8).map(|(bps, quantum)| (bps as u64, quantum)).collect()
        }
    }
}

//! Handovers of a link: "starlink", or "every(15 s, delay=uniform(0 s, 15 ms), outage=100 ms)".

use serde::{Serialize, Serializer};

use super::capacity::split;
use super::empirical::{Files, NoFiles};
use super::kind::TIME;
use super::law::{Law, call, parse_law};
use super::{MAX_TIME_PS, PS_PER_MS, PS_PER_S, parse_time};
use crate::text::mistake::Mistake;
use crate::text::value::Value;

const ACCEPTED: &str = "'starlink', or every(15 s, delay=uniform(0 s, 15 ms), outage=100 ms, first=12 s); only the time \
                        between them has to be given";
const SHORTEST_PS: u64 = PS_PER_MS;

/// What Starlink's preset stands for.
///
/// The links of all users are assigned anew every 15 s, at 12, 27, 42 and 57 s of each minute, and latency and throughput
/// change then: N. Mohan et al., "A multifaceted look at Starlink performance", WWW 2024 (arXiv:2310.09242). The beginning of
/// a period is disturbed for about 140 ms: "Statistical characterization and prediction of E2E latency over LEO satellite
/// networks", arXiv:2601.08439, whose abstract has this number; here nothing is sent meanwhile. By how much the delay changes
/// is our choice, of the order of the published differences between satellites: evenly up to 15 ms beyond the link's delay.
const STARLINK: &str = "every(15 s, first=12 s, delay=uniform(0 s, 15 ms), outage=140 ms)";

/// Handovers at equal distances.
#[derive(Clone, Debug, PartialEq)]
pub struct Handover {
    /// As written.
    pub text: String,
    /// Between two of them, ps.
    pub every_ps: u64,
    /// The first, ps.
    pub first_ps: u64,
    /// What each adds to the link's delay until the next; the first from the run's start.
    pub delay: Option<Law>,
    /// How long nothing is sent from each of them on, ps.
    pub outage_ps: u64,
}

impl Serialize for Handover {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

/// Reads handovers.
pub fn parse_handover(value: &Value, _: &dyn Files) -> Result<Handover, Mistake> {
    let refused = |problem: &str| Mistake::new(problem).value(value).accepted(ACCEPTED);
    let text = value.as_text().map(str::trim).ok_or_else(|| refused("is not a text"))?;
    let written = if text == "starlink" { STARLINK } else { text };
    let Some(("every", inside)) = call(written) else { return Err(refused("is no handover")) };
    let mut handover =
        Handover { text: text.to_owned(), every_ps: 0, first_ps: 0, delay: None, outage_ps: 0 };
    let time = |text: &str, least: u64| parse_time(&Value::text(text), least, MAX_TIME_PS);
    for part in split(inside) {
        match part.split_once('=').map(|(key, given)| (key.trim(), given.trim())) {
            None => handover.every_ps = time(part, SHORTEST_PS)?,
            Some(("first", given)) => handover.first_ps = time(given, SHORTEST_PS)?,
            Some(("outage", given)) => handover.outage_ps = time(given, 0)?,
            Some(("delay", given)) => {
                let law = parse_law(&Value::text(given), &TIME, &NoFiles)?;
                if law.most > PS_PER_S && law.mean().is_none_or(|mean| mean > PS_PER_S as f64) {
                    return Err(refused("has a delay of more than 1 s"));
                }
                handover.delay = Some(law);
            }
            Some((key, _)) => return Err(refused(&format!("has the unknown parameter '{key}'"))),
        }
    }
    if handover.every_ps == 0 {
        return Err(refused("does not say how often"));
    }
    if handover.first_ps == 0 {
        handover.first_ps = handover.every_ps;
    }
    if handover.outage_ps >= handover.every_ps {
        return Err(refused("has an outage as long as the time to the next"));
    }
    Ok(handover)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Handover, String> {
        parse_handover(&Value::text(text), &NoFiles).map_err(|mistake| mistake.to_string())
    }

    #[test]
    fn the_preset_has_the_published_times() {
        let starlink = parse("starlink").unwrap();
        assert_eq!((starlink.first_ps, starlink.every_ps), (12 * PS_PER_S, 15 * PS_PER_S));
        assert_eq!(starlink.outage_ps, 140 * PS_PER_MS);
        assert_eq!(serde_json::to_string(&starlink).unwrap(), "\"starlink\"");
    }

    #[test]
    fn mistakes_say_what_is_accepted() {
        let cases = [
            ("oneweb", "is no handover"),
            ("every(delay=10 ms)", "does not say how often"),
            ("every(15 s, outage=15 s)", "has an outage as long"),
            ("every(15 s, lag=15 s)", "has the unknown parameter 'lag'"),
            ("every(15 s, delay=20 s)", "has a delay of more than 1 s"),
        ];
        for (text, expected) in cases {
            let message = parse(text).unwrap_err();
            assert!(message.contains(expected) && message.contains("; accepted: 'starlink'"), "{message}");
        }
    }
}

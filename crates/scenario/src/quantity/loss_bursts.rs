//! Losses in bursts, as `tc-netem` writes them: "gemodel(p, r, 1-h, 1-k)", here as shares, not in percent.

use bufferlab_simulator::LossBurstsPlan;
use serde::{Serialize, Serializer};

use super::capacity::split;
use super::empirical::Files;
use super::law::call;
use crate::text::mistake::Mistake;
use crate::text::value::Value;

const ACCEPTED: &str = "gemodel(p, r, 1-h, 1-k), four numbers of 0 to 1, such as gemodel(0.001, 0.2): the chances that a \
                        packet begins and ends a burst, and of a loss in one (1) and outside (0)";
const PPB: f64 = 1e9;

/// The model of Gilbert and Elliott.
#[derive(Clone, Debug, PartialEq)]
pub struct LossBursts {
    /// As written.
    pub text: String,
    /// Its chances.
    pub plan: LossBurstsPlan,
}

impl Serialize for LossBursts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

/// Reads it. What is left out is as with `tc`: r = 1 - p, 1-h = 1, 1-k = 0 (`man tc-netem`, iproute2 5.15).
pub fn parse_loss_bursts(value: &Value, _: &dyn Files) -> Result<LossBursts, Mistake> {
    let refused = |problem: &str| Mistake::new(problem).value(value).accepted(ACCEPTED);
    let text = value.as_text().map(str::trim).ok_or_else(|| refused("is not a text"))?;
    let Some(("gemodel", inside)) = call(text) else { return Err(refused("is no model of losses")) };
    let chance = |part: &str| {
        let number = part.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
        number.ok_or_else(|| refused(&format!("has '{part}' where a number of 0 to 1 belongs")))
    };
    let given: Vec<f64> = split(inside).into_iter().map(chance).collect::<Result<_, _>>()?;
    let [p, r, bad, good] = match *given.as_slice() {
        [p] => [p, 1.0 - p, 1.0, 0.0],
        [p, r] => [p, r, 1.0, 0.0],
        [p, r, bad] => [p, r, bad, 0.0],
        [p, r, bad, good] => [p, r, bad, good],
        _ => return Err(refused("does not have one to four numbers")),
    };
    let ppb = |share: f64| (share * PPB).round_ties_even() as u32;
    let plan = LossBurstsPlan { begin_ppb: ppb(p), end_ppb: ppb(r), bad_ppb: ppb(bad), good_ppb: ppb(good) };
    Ok(LossBursts { text: text.to_owned(), plan })
}

#[cfg(test)]
mod tests {
    use super::super::empirical::NoFiles;
    use super::*;

    fn parse(text: &str) -> Result<LossBurstsPlan, String> {
        parse_loss_bursts(&Value::text(text), &NoFiles)
            .map(|bursts| bursts.plan)
            .map_err(|mistake| mistake.to_string())
    }

    #[test]
    fn what_is_left_out_is_as_with_tc() {
        let plan =
            |begin_ppb, end_ppb, bad_ppb, good_ppb| LossBurstsPlan { begin_ppb, end_ppb, bad_ppb, good_ppb };
        assert_eq!(parse("gemodel(0.01)"), Ok(plan(10_000_000, 990_000_000, 1_000_000_000, 0)));
        assert_eq!(parse("gemodel(0.01, 0.2)"), Ok(plan(10_000_000, 200_000_000, 1_000_000_000, 0)));
        let all = plan(10_000_000, 200_000_000, 500_000_000, 1_000_000);
        assert_eq!(parse("gemodel(0.01, 0.2, 0.5, 0.001)"), Ok(all));
    }

    #[test]
    fn mistakes_say_what_is_accepted() {
        for text in ["0.01", "gemodel()", "gemodel(1 %)", "gemodel(2)", "gemodel(0, 0, 0, 0, 0)"] {
            let message = parse(text).unwrap_err();
            assert!(message.contains("; accepted: gemodel(p, r, 1-h, 1-k)"), "{message}");
        }
    }
}

use bufferlab_units::Stream;

use super::*;
use crate::quantity::PS_PER_MS;
use crate::quantity::empirical::NoFiles;
use crate::quantity::kind::TIME;

struct OneFile(&'static str);

impl Files for OneFile {
    fn read(&self, path: &str) -> Result<(String, String), Mistake> {
        Ok((path.to_owned(), self.0.to_owned()))
    }
}

fn law(text: &str) -> Result<Law, Mistake> {
    parse_law(&Value::text(text), &TIME, &NoFiles)
}

fn draws(law: &Law, count: usize) -> Vec<f64> {
    let drawn = law.draw(&mut Stream::new(7, 0, 0), count).unwrap();
    drawn.into_iter().map(|ps| ps as f64 / PS_PER_MS as f64).collect()
}

fn mean_and_sd(drawn: &[f64]) -> (f64, f64) {
    let count = drawn.len() as f64;
    let mean = drawn.iter().sum::<f64>() / count;
    (mean, (drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt())
}

#[test]
fn moments() {
    let root = |x: f64| x.sqrt();
    let cases = [
        ("uniform(0 s, 100 ms)", 50.0, 100.0 / root(12.0)),
        ("normal(mean=100 ms, sd=10 ms)", 100.0, 10.0),
        ("normal(100 ms, 10 ms)", 100.0, 10.0),
        ("lognormal(mean=130 ms, sigma=0.2)", 130.0, 130.0 * root(0.04_f64.exp() - 1.0)),
        ("lognormal(median=100 ms, sigma=0.5)", 113.315, 113.315 * 0.5329),
        ("exponential(mean=20 ms)", 20.0, 20.0),
        ("pareto(mean=30 ms, shape=3.5)", 30.0, 30.0 / root(3.5 * 1.5)),
        ("choice(10 ms, 90 ms: 3)", 70.0, 40.0 * root(0.75)),
    ];
    for (text, mean, sd) in cases {
        let (drawn_mean, drawn_sd) = mean_and_sd(&draws(&law(text).unwrap(), 40_000));
        // five standard errors of 40,000 draws
        assert!((drawn_mean - mean).abs() < 5.0 * sd / 200.0, "{text}: {drawn_mean}");
        let most = if text.starts_with("pareto") { 0.3 } else { 0.05 };
        assert!((drawn_sd / sd - 1.0).abs() < most, "{text}: {drawn_sd}");
    }
}

#[test]
fn bounds_hold_and_change_nothing_within() {
    let bounded = draws(&law("normal(mean=0 s, sd=10 ms, min=5 ms, max=9 ms)").unwrap(), 40_000);
    assert!(bounded.iter().all(|x| (5.0..=9.0).contains(x)));
    // a truncated normal on [0.5, 0.9] standard deviations has its mean at 0.691 of one
    assert!((mean_and_sd(&bounded).0 - 6.907).abs() < 0.03);
    let impossible = law("normal(mean=1 s, sd=1 ps, min=2 s)").unwrap();
    let mistake = impossible.draw(&mut Stream::new(1, 0, 0), 10).unwrap_err();
    assert!(mistake.problem.contains("hardly ever"));
}

#[test]
fn more_draws_do_not_change_the_first_ones() {
    let law = law("lognormal(mean=1 s, sigma=1, max=2 s)").unwrap();
    assert_eq!(draws(&law, 10), draws(&law, 100)[..10]);
}

#[test]
fn measured_times() {
    let files = OneFile("rtt_ms,weight\r\n10,1\r\n\"20.5\",3\r\n\r\n30,0\r\n");
    let law = parse_law(&Value::text("empirical(rtts.csv)"), &TIME, &files).unwrap();
    let drawn = draws(&law, 40_000);
    assert!(drawn.iter().all(|&x| x == 10.0 || x == 20.5));
    let share = drawn.iter().filter(|&&x| x == 10.0).count() as f64 / 40_000.0;
    assert!((share - 0.25).abs() < 0.02, "{share}");
    assert_eq!(law.mean(), Some(17.875e9));
}

#[test]
fn refused_files() {
    let cases = [
        ("", "has no usable header"),
        ("rtt\n1\n", "has no usable header"),
        ("rtt_ms,share\n1,2\n", "has no usable header"),
        ("rtt_ms\n", "has no values"),
        ("rtt_ms\n1\nx\n", "rtts.csv: 'line 3': 'x' is not usable"),
        ("rtt_ms\n-1\n", "line 2"),
        ("rtt_ms\nnan\n", "line 2"),
        ("rtt_ms,weight\n1\n", "line 2"),
        ("rtt_ms,weight\n1,inf\n", "line 2"),
        ("rtt_ms\n\"1\n", "is not CSV"),
        ("rtt_ms,weight\n1,0\n", "weights"),
    ];
    for (content, expected) in cases {
        let files = OneFile(content);
        let mistake = parse_law(&Value::text("empirical(rtts.csv)"), &TIME, &files).unwrap_err().to_string();
        assert!(mistake.contains(expected), "{mistake}");
    }
}

#[test]
fn refused_laws() {
    let long = "x".repeat(5000);
    let cases = [
        ("triangular(1 s, 2 s)", "is not a known distribution; accepted: a time"),
        ("unifrom(0 s, 1 s)", "is not a known distribution (did you mean 'uniform'?); accepted: a time"),
        ("Choice(1 s)", "is not a known distribution (did you mean 'choice'?)"),
        ("exponential(mean=1,5 s)", "has a comma in a number (did you mean 'exponential(mean=1.5 s)'?)"),
        ("uniform(0 s,1 s,2 s)", "arguments that make no sense"),
        (
            "soon",
            "'soon' is not a time or a distribution; accepted: a time such as '10 ms', or uniform(low, high)",
        ),
        ("uniform(5 s, 0 s)", "low above its high"),
        ("uniform(5 s)", "'uniform(5 s)' lacks high; accepted: uniform(low, high, min, max)"),
        ("uniform(1 s, 2 s, 3 s)", "arguments that make no sense"),
        ("uniform(0 s, 1 s, low=2 s)", "arguments that make no sense"),
        ("uniform(0 s, 1 s, mean=2 s)", "unknown parameter 'mean'"),
        ("uniform(0, 1)", "'0' has no unit"),
        ("normal(mean=1 s)", "lacks sd"),
        ("normal(mean=1 s, sd=-1 s)", "is negative"),
        ("lognormal(mean=1 s, sigma=0.2 s)", "where a plain number belongs"),
        ("lognormal(mean=1 s, sigma=nan)", "sigma out of bounds; accepted: sigma of 0 to 10 (standard"),
        ("exponential(mean=1 s, min=2 s, max=1 s)", "min above its max"),
        ("choice()", "is not a number with a unit"),
        ("choice(1 s: 0)", "has weights that do not sum to more than 0"),
        ("choice(1 s: -1, 2 s: 3)", "has a negative weight"),
        ("choice(1 s: x)", "where a plain number belongs"),
        ("empirical(nowhere.csv)", "no such file"),
        ("constant(1 s, min=0 s)", "unknown parameter 'min'"),
        ("pareto(mean=1 s, shape=1)", "has a shape out of bounds; accepted: a shape above 1"),
        (&long, "is not a time or a distribution"),
    ];
    for (text, expected) in cases {
        let mistake = law(text).unwrap_err().to_string();
        assert!(mistake.contains(expected), "{mistake}");
    }
}

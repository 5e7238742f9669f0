//! An exponential function that is the same on every machine.

/// ln 2 in two parts; a multiple of the first by a small whole number is exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// e to the power of x, within a few ulp; 0 or the largest number if the result is not a normal number.
///
/// As in [`crate::ln`], only operations that IEEE 754 rounds exactly: x = k ln 2 + r with |r| < 0.347, and the series
/// of e^r to r¹⁴/14!, which is below 10⁻¹⁷.
pub fn exp(x: f64) -> f64 {
    if x > 709.0 {
        return f64::MAX;
    }
    if x < -708.0 {
        return 0.0;
    }
    let k = (x * std::f64::consts::LOG2_E).round();
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let mut sum = 1.0;
    for term in (1..=14_i32).rev() {
        sum = 1.0 + sum * r / f64::from(term);
    }
    sum * f64::from_bits(((k as i64 + 1_023) << 52).cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::exp;

    #[test]
    fn agrees_with_the_c_library() {
        for k in -7_000..7_000 {
            let x = f64::from(k) / 10.0 + 0.037;
            assert!((exp(x) - x.exp()).abs() <= 1e-15 * x.exp(), "exp({x})");
        }
        assert_eq!((exp(0.0), exp(-1e9), exp(1e9)), (1.0, 0.0, f64::MAX));
    }
}

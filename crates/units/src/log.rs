//! A natural logarithm that is the same on every machine.

/// Natural logarithm of a positive, normal number, within about 1 ulp.
///
/// The C library's `ln` may differ in the last bit between machines; this one only uses
/// operations that IEEE 754 rounds exactly. With x = m·2^e, m in [√½, √2), and s = (m − 1)/(m + 1),
/// ln m = 2 (s + s³/3 + s⁵/5 + …); |s| < 0.172, so eleven terms reach the precision of an `f64`.
pub fn ln(x: f64) -> f64 {
    debug_assert!(x.is_normal() && x > 0.0);
    let bits = x.to_bits();
    let mut exponent = (bits >> 52).cast_signed() - 1023;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let mut sum = 0.0;
    for term in (0..11_i32).rev() {
        sum = sum * square + 1.0 / f64::from(2 * term + 1);
    }
    2.0 * s * sum + exponent as f64 * std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::ln;

    #[test]
    fn agrees_with_the_c_library() {
        for k in 1..10_000 {
            let x = f64::from(k) / 9_999.0;
            assert!((ln(x) - x.ln()).abs() <= 4e-16 * x.ln().abs().max(1.0), "ln({x})");
        }
        assert_eq!(ln(1.0), 0.0);
    }
}

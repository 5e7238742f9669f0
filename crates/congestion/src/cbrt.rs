//! A cube root that is the same on every machine.

/// The cube root of a positive, normal number (0 of anything else that is not positive), to about 1 ulp.
///
/// The C library's `cbrt` may differ in the last bit from one machine to the next; this one only uses
/// operations that IEEE 754 rounds exactly. With x = m·8ᵏ, m in [1, 8), Newton's y ← (2y + m/y²)/3 starts
/// from the chord of the cube root between 1 and 8, at most 12 % off, and squares the relative error with
/// each step: five suffice.
pub(crate) fn cbrt(x: f64) -> f64 {
    if !(x.is_normal() && x > 0.0) {
        return 0.0;
    }
    let bits = x.to_bits();
    let exponent = (bits >> 52).cast_signed() - 1023;
    let (thirds, rest) = (exponent.div_euclid(3), exponent.rem_euclid(3));
    let mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (((1023 + rest) as u64) << 52));
    let mut y = 1.0 + (mantissa - 1.0) / 7.0;
    for _ in 0..6 {
        y = (2.0 * y + mantissa / (y * y)) / 3.0;
    }
    y * f64::from_bits(((1023 + thirds) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::cbrt;

    #[test]
    fn agrees_with_the_c_library() {
        for k in 1..20_000 {
            for scale in [1e-12, 1e-3, 1.0, 7.3, 1e9, 1e200] {
                let x = f64::from(k) * scale;
                assert!((cbrt(x) - x.cbrt()).abs() <= 4e-16 * x.cbrt(), "cbrt({x})");
            }
        }
    }

    #[test]
    fn cubes_of_whole_numbers_come_back() {
        for k in 1..2_000_u32 {
            let x = f64::from(k);
            assert_eq!(cbrt(x * x * x), x);
        }
    }

    #[test]
    fn what_has_no_positive_root_gives_zero() {
        for x in [0.0, -8.0, f64::NAN, f64::INFINITY, 1e-310] {
            assert_eq!(cbrt(x), 0.0);
        }
    }
}

//! Sequence numbers that do not wrap.

/// Where counting begins, so that numbers before the first one that was seen have room.
const ORIGIN: u64 = 1 << 33;
/// No window is larger (RFC 7323 section 2.3), so a number that is further away is not of this connection.
const WINDOW: u64 = 1 << 30;

/// The number of 64 bits for one of 32, as the one nearest to another; `near` is 0 before there is one.
#[inline]
pub(crate) fn widen(near: u64, number: u32) -> u64 {
    if near == 0 {
        return ORIGIN + u64::from(number);
    }
    let apart = number.wrapping_sub(near as u32).cast_signed();
    near.saturating_add_signed(apart.into())
}

/// Whether two numbers can be of one window.
#[inline]
pub(crate) fn is_near(a: u64, b: u64) -> bool {
    a.abs_diff(b) <= WINDOW
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_behind_the_wrap() {
        let first = widen(0, u32::MAX - 9);
        assert_eq!(widen(first, 10) - first, 20);
        assert_eq!(widen(first + 20, u32::MAX - 9), first);
    }
}

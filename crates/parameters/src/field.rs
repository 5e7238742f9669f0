//! The types that parameters may have.

use std::fmt::Display;

use bufferlab_units::{Rate, Span};

use crate::kind::Kind;
use crate::table::{OutOfBounds, require};

/// A type that a parameter may have.
pub trait Field {
    /// The unit that the plan puts behind the name.
    const SUFFIX: &'static str = "";
    /// Whether it may be left without a value.
    const IS_OPTIONAL: bool = false;

    /// Checks a value against its kind's bounds.
    ///
    /// # Errors
    /// If it is out of bounds; `field` is the plan's name of it.
    fn check(&self, field: &str, kind: &Kind) -> Result<(), OutOfBounds> {
        let _ = (field, kind);
        Ok(())
    }
}

impl Field for bool {}

impl Field for Rate {
    const SUFFIX: &'static str = "_bps";
}

impl Field for Span {
    const SUFFIX: &'static str = "_ps";

    fn check(&self, field: &str, kind: &Kind) -> Result<(), OutOfBounds> {
        match *kind {
            Kind::Time { least, most } => within(self.as_ps(), least.as_ps(), most.as_ps(), field),
            _ => Ok(()),
        }
    }
}

impl Field for u64 {
    fn check(&self, field: &str, kind: &Kind) -> Result<(), OutOfBounds> {
        match *kind {
            Kind::Bytes { least, most } | Kind::Count { least, most, .. } => {
                within(*self, least, most, field)
            }
            _ => Ok(()),
        }
    }
}

impl Field for u32 {
    fn check(&self, field: &str, kind: &Kind) -> Result<(), OutOfBounds> {
        u64::from(*self).check(field, kind)
    }
}

impl Field for f64 {
    fn check(&self, field: &str, kind: &Kind) -> Result<(), OutOfBounds> {
        match *kind {
            Kind::Number { most, .. } => within(*self, 0.0, most, field),
            _ => Ok(()),
        }
    }
}

impl<T: Field> Field for Option<T> {
    const SUFFIX: &'static str = T::SUFFIX;
    const IS_OPTIONAL: bool = true;

    fn check(&self, field: &str, kind: &Kind) -> Result<(), OutOfBounds> {
        self.as_ref().map_or(Ok(()), |value| value.check(field, kind))
    }
}

/// Fails unless a value is within bounds.
///
/// # Errors
/// If it is not.
pub fn within<T: PartialOrd + Display + Copy>(
    value: T,
    least: T,
    most: T,
    field: impl Into<String>,
) -> Result<(), OutOfBounds> {
    require(least <= value && value <= most, field, value, format_args!("{least} to {most}"))
}

//! The engine from outside: against a slow twin, by its laws, on wild plans, and against committed tables.
//!
//! `PROPTEST_CASES` and `PROPTEST_RNG_SEED` turn the random tests into a campaign. A plan that fails is printed as
//! JSON: kept in `tests/plans`, it is tried again by every run.

#[cfg(test)]
mod busy;
#[cfg(test)]
mod calls;
#[cfg(test)]
mod carried;
#[cfg(test)]
mod differential;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod hosts;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod noise;
#[cfg(test)]
mod offload;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod recordings;
#[cfg(test)]
mod scenes;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod tuning;
#[cfg(test)]
mod varying;
#[cfg(test)]
mod video;
#[cfg(test)]
mod wild;

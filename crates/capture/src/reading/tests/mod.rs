//! Captures made by hand, whole and damaged.

mod build;
mod damage;
mod files;
mod headers;

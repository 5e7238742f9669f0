//! Captures made by hand, whole and damaged.

mod blocks;
mod build;
mod damage;
mod fields;
mod files;
mod headers;
mod links;

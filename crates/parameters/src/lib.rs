//! Parameters declared once.
//!
//! [`parameters!`] turns one declaration into a plain struct with public fields, its `Default`, its form in the plan
//! (serde), its bounds ([`Parameters::validate`]) and its description ([`Parameters::table`]). The plan, its check, the
//! scenario language and the documentation all read that declaration. [`words!`] does the same for a choice of words,
//! [`kinds!`] for a choice of configurations.
//!
//! ```
//! use bufferlab_parameters::{parameters, words, choice, time, Parameters, FLAG};
//! use bufferlab_units::Span;
//!
//! words! {
//!     /// How the distance between drops shrinks.
//!     #[derive(Clone, Copy, Debug, PartialEq, Eq)]
//!     pub enum Law {
//!         /// By the root of their count.
//!         Rfc = "rfc",
//!         /// As Linux approximates the root.
//!         Linux = "linux",
//!     }
//! }
//!
//! parameters! {
//!     /// Parameters of a queue.
//!     #[derive(Clone, Debug, PartialEq)]
//!     pub struct QueueConfig {
//!         /// The wait to hold (RFC 8033 section 4.2, QDELAY_REF).
//!         target: Span = Span::from_ms(15), time(Span::ZERO, Span::from_s(10));
//!         /// Time between updates (T_UPDATE).
//!         t_update as "update": Span = Span::from_ms(15), time(Span::from_ms(1), Span::from_s(10));
//!         /// ECN-capable packets are marked in place of being dropped.
//!         ecn: bool = false, FLAG;
//!         /// Distance to the next drop.
//!         law: Law = Law::Rfc, choice::<Law>();
//!     }
//! }
//!
//! let config: QueueConfig = serde_json::from_str(r#"{"target_ps": 5000000000, "law": "linux"}"#).unwrap();
//! assert_eq!(config, QueueConfig { target: Span::from_ms(5), law: Law::Linux, ..QueueConfig::default() });
//! assert!(QueueConfig { t_update: Span::ZERO, ..config }.validate().is_err());
//! let keys: Vec<_> = QueueConfig::table().iter().map(|parameter| parameter.key).collect();
//! assert_eq!(keys, ["target", "update", "ecn", "law"]);
//! ```

mod declare;
mod entry;
mod field;
mod kind;
#[doc(hidden)]
pub mod macro_support;
mod plan;
mod table;

pub use field::{Field, within};
pub use kind::{
    FASTEST_BPS, FLAG, Form, Kind, LARGEST_PACKET, LONGEST, RATE, THRESHOLD, Word, Words, bytes, choice,
    count, form, fraction, time,
};
pub use plan::{read, read_word, write, write_word};
pub use table::{Described, Kinds, OutOfBounds, Parameter, Parameters, Unread, require};

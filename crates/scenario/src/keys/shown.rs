//! The types of what is read, as Python's dictionaries of a resolved scenario have them.

use bufferlab_parameters::{Word, Words};

use super::Part;

/// A type that a resolved scenario shows.
pub trait Shown {
    /// Its type in Python.
    fn python() -> String;
}

macro_rules! shown {
    ($($type:ty => $python:literal,)+) => {
        $(impl Shown for $type {
            fn python() -> String {
                $python.to_owned()
            }
        })+
    };
}

shown! {
    bool => "bool",
    u32 => "int",
    u64 => "int",
    f64 => "float",
    String => "str",
    &'static str => "str",
    crate::parts::application::Application => "ResolvedApplication",
    crate::parts::flow::Jitter => "ResolvedLaw | None",
    crate::parts::queue::Queue => "ResolvedQueue",
    crate::parts::tcp::Stack => "ResolvedStack",
    crate::quantity::buffer::Buffer => "ResolvedBuffer",
    crate::parts::tcp::NamedControl => "str",
    crate::quantity::hosts::Offload => "int | str",
    crate::quantity::hosts::Window => "str",
    crate::quantity::law::Law => "ResolvedLaw",
}

impl<T: Shown> Shown for Option<T> {
    fn python() -> String {
        let inner = T::python();
        if inner.ends_with("| None") { inner } else { format!("{inner} | None") }
    }
}

impl<T: Shown> Shown for Vec<T> {
    fn python() -> String {
        format!("list[{}]", T::python())
    }
}

/// The Python type of a choice of words, as the plan has them.
pub fn literal(words: &[Word]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("\"{}\"", word.in_plan())).collect();
    format!("Literal[{}]", words.join(", "))
}

/// The same of a type.
fn literal_of<W: Words>() -> String {
    literal(W::WORDS)
}

/// The Python type of a part.
pub fn part<P: Part>() -> String {
    format!("Resolved{}", P::NAME)
}

macro_rules! shown_as {
    ($function:ident: $($type:ty),+) => {
        $(impl Shown for $type {
            fn python() -> String {
                $function::<$type>()
            }
        })+
    };
}

shown_as!(literal_of: crate::parts::tcp::Growth, crate::parts::tcp::Recovery, crate::parts::tcp::AfterIdle,
    crate::parts::application::Arrivals, crate::parts::application::Sizes);
shown_as!(part: crate::parts::run::Run, crate::parts::link::Link, crate::parts::link::Change, crate::parts::flow::Flow,
    crate::parts::probes::Probes);

//! The types of what is read, as Python's dictionaries of a resolved scenario have them.

use bufferlab_parameters::Word;

/// A type that a resolved scenario shows.
pub trait Shown {
    /// Its type in Python.
    fn python() -> String;
}

/// Says the types in Python.
macro_rules! shown {
    ($($type:ty => $python:literal,)+) => {
        $(impl $crate::keys::Shown for $type {
            fn python() -> ::std::string::String {
                $python.to_owned()
            }
        })+
    };
}

/// Says that types in Python are their words.
macro_rules! shown_as_words {
    ($($type:ty),+) => {
        $(impl $crate::keys::Shown for $type {
            fn python() -> ::std::string::String {
                $crate::keys::literal(<$type as ::bufferlab_parameters::Words>::WORDS)
            }
        })+
    };
}

pub(crate) use {shown, shown_as_words};

shown! {
    bool => "bool",
    u32 => "int",
    u64 => "int",
    f64 => "float",
    String => "str",
    &'static str => "str",
    crate::quantity::buffer::Buffer => "ResolvedBuffer",
    bufferlab_congestion::NamedControl => "str",
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

shown_as_words!(bufferlab_congestion::Growth, bufferlab_transport::Recovery, bufferlab_transport::AfterIdle);

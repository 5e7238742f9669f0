//! The macro that declares a part.

/// Declares a part of a scenario: a struct that is read from a table.
///
/// A key is a doc comment for users, a name, `as "key"` where files spell it otherwise, a type, whether it has to be
/// given ([`crate::keys::Presence`]), a [`crate::keys::Kind`] and examples. `=>` fills in what is not given from the keys
/// before it. `under` is the heading of docs/scenario.md that has the keys. `include` takes the keys of another part; `also` declares fields that no key has and that `agree` fills in,
/// a function that checks keys against each other. `prepare` gives the table that is read in place of the given one; `either` names two keys of which
/// one has to be given.
macro_rules! part {
    (
        $(#[doc = $part_doc:literal])+
        $visibility:vis struct $part:ident $(under $heading:literal)? {
            $(include $inner:ident: $inner_type:ty;)?
            $(
                $(#[doc = $doc:literal])+
                $field:ident $(as $key:literal)?: $type:ty = $presence:expr, $kind:expr $(, $example:expr)* $(=> $fill:expr)?;
            )*
            $(also $(#[$also_meta:meta])* $also:ident: $also_type:ty;)*
            $(prepare $prepare:expr;)?
            $(either $either:expr;)?
            $(agree $agree:expr;)?
        }
    ) => {
        $(#[doc = $part_doc])+
        #[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
        $visibility struct $part {
            $(
                /// Keys shared with other parts.
                #[serde(skip)]
                pub $inner: $inner_type,
            )?
            $($(#[doc = $doc])+ pub $field: $type,)*
            $($(#[$also_meta])* pub $also: $also_type,)*
        }

        impl $crate::keys::Shown for $part {
            fn python() -> ::std::string::String {
                concat!("Resolved", stringify!($part)).to_owned()
            }
        }

        impl $crate::keys::Part for $part {
            const NAME: &'static str = stringify!($part);
            const DOC: &'static str = concat!($($part_doc),+);
            $(const HEADING: &'static str = $heading;)?

            fn keys(parts: &mut $crate::keys::Schemas) -> ::std::vec::Vec<$crate::keys::Key> {
                let _ = &parts;
                let included: ::std::vec::Vec<::std::vec::Vec<$crate::keys::Key>> = vec![$(<$inner_type as $crate::keys::Part>::keys(parts))?];
                let own = vec![$($crate::keys::Key::new(
                    part!(@key $field $($key)?),
                    concat!($($doc),+),
                    $presence,
                    &$kind,
                    vec![$(::core::convert::Into::into($example)),*],
                    parts,
                )),*];
                included.into_iter().flatten().chain(own).collect()
            }

            fn fields() -> ::std::vec::Vec<(&'static str, ::std::string::String)> {
                vec![
                    $((stringify!($field), <$type as $crate::keys::Shown>::python()),)*
                    $((stringify!($also), <$also_type as $crate::keys::Shown>::python()),)*
                ]
            }

            fn key_names() -> ::std::vec::Vec<&'static str> {
                let included: &[::std::vec::Vec<&'static str>] =
                    &[$(<$inner_type as $crate::keys::Part>::key_names())?];
                [included.concat(), vec![$(part!(@key $field $($key)?)),*]].concat()
            }

            $(fn prepared(table: &$crate::text::value::Table) -> ::core::option::Option<$crate::text::value::Table> {
                $prepare(table)
            })?

            fn read_keys(
                table: &$crate::text::value::Table,
                reading: &mut $crate::keys::Reading<'_>,
            ) -> ::core::option::Option<Self> {
                let _ = (&table, &reading);
                $(reading.either(table, $either);)?
                $(let $inner = <$inner_type as $crate::keys::Part>::read_keys(table, reading);)?
                $(let $field = $crate::keys::read_key(
                    part!(@key $field $($key)?),
                    concat!($($doc),+),
                    &$kind,
                    &$presence,
                    &|| vec![$(::core::convert::Into::into($example)),*],
                    table,
                    reading,
                );)*
                $(let $field: $type = part!(@value $field $(, $fill)?);)*
                let read = $part {
                    $($inner: $inner?,)?
                    $($field,)*
                    $($also: ::core::default::Default::default(),)*
                };
                Some(part!(@agreed read, reading $(, $agree)?))
            }
        }
    };
    (@agreed $read:ident, $reading:ident) => { $read };
    (@agreed $read:ident, $reading:ident, $agree:expr) => {{
        let mut read = $read;
        $agree(&mut read, $reading);
        read
    }};
    (@key $field:ident $key:literal) => { $key };
    (@key $field:ident) => { stringify!($field) };
    (@value $field:ident) => { $crate::keys::Slot::filled($field?)? };
    (@value $field:ident, $fill:expr) => { $field?.unwrap_or_else(|| $fill) };
}

pub(crate) use part;

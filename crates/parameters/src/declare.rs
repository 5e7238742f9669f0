//! The macros.

/// Declares a struct of parameters.
///
/// A field is a doc comment for users with the value's source, a name, `as "key"` where the scenario's key is not the
/// name (less `_bytes`), a type, a default unless it has to be given, and a [`crate::Kind`]. An `include` takes the
/// parameters of another struct among these, with defaults of its own; `agree` names a function that checks fields
/// against each other, after their bounds. See the crate's documentation for an example.
#[macro_export]
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident $(as $key:literal)?: $type:ty $(= $default:expr)?, $kind:expr;
            )*
            $(include $(#[doc = $inner_doc:literal])+ $inner:ident: $inner_type:ty = $inner_default:expr;)*
            $(agree $agree:expr;)?
        }
    ) => {
        $(#[$meta])*
        $visibility struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)*
            $($(#[doc = $inner_doc])+ pub $inner: $inner_type,)*
        }

        impl ::core::default::Default for $name {
            fn default() -> Self {
                $name {
                    $($field: $crate::parameters!(@default $($default)?),)*
                    $($inner: $inner_default,)*
                }
            }
        }

        impl $name {
            const PARAMETERS: &'static [$crate::Parameter] = &[$($crate::Parameter {
                key: $crate::macro_support::key(stringify!($field), &[$($key)?]),
                name: stringify!($field),
                suffix: <$type as $crate::Field>::SUFFIX,
                raw_doc: concat!($($doc),+),
                kind: $kind,
                is_optional: <$type as $crate::Field>::IS_OPTIONAL,
                is_required: $crate::parameters!(@is_required $($default)?),
            },)*];
        }

        impl $crate::Parameters for $name {
            fn table() -> ::std::vec::Vec<$crate::Parameter> {
                let included: &[::std::vec::Vec<$crate::Parameter>] =
                    &[$(<$inner_type as $crate::Parameters>::table(),)*];
                [Self::PARAMETERS, &included.concat()].concat()
            }

            fn read_field<'de, A: $crate::macro_support::MapAccess<'de>>(
                &mut self,
                plan_key: &str,
                map: &mut A,
            ) -> ::core::result::Result<bool, A::Error> {
                let _ = (plan_key, &map);
                $(if $crate::macro_support::is_key_of(plan_key, stringify!($field), &self.$field) {
                    self.$field = map.next_value()?;
                    return Ok(true);
                })*
                $(if $crate::Parameters::read_field(&mut self.$inner, plan_key, map)? {
                    return Ok(true);
                })*
                Ok(false)
            }

            fn write_fields<M: $crate::macro_support::SerializeMap>(
                &self,
                map: &mut M,
            ) -> ::core::result::Result<(), M::Error> {
                let _ = &map;
                $($crate::macro_support::write_field(map, stringify!($field), &self.$field)?;)*
                $($crate::Parameters::write_fields(&self.$inner, map)?;)*
                Ok(())
            }

            fn validate(&self) -> ::core::result::Result<(), $crate::OutOfBounds> {
                let _table = &mut Self::PARAMETERS.iter();
                $($crate::macro_support::check_field(_table, &self.$field)?;)*
                $($crate::Parameters::validate(&self.$inner)?;)*
                $($agree(self)?;)?
                Ok(())
            }
        }

        $crate::parameters!(@serde $name);
    };
    (@default) => { ::core::default::Default::default() };
    (@default $default:expr) => { $default };
    (@is_required) => { true };
    (@is_required $default:expr) => { false };
    (@serde $name:ident) => {
        impl $crate::macro_support::Serialize for $name {
            fn serialize<S: $crate::macro_support::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $crate::write(self, serializer)
            }
        }

        impl<'de> $crate::macro_support::Deserialize<'de> for $name {
            fn deserialize<D: $crate::macro_support::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::read(deserializer)
            }
        }
    };
}

/// Declares a choice of words: an enum whose variants have a doc comment and the scenario's word. The plan has the same
/// words with `_` in place of `-`.
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident {
            $($(#[doc = $doc:literal])+ $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$meta])*
        $visibility enum $name { $($(#[doc = $doc])+ $variant,)+ }

        impl $crate::Words for $name {
            const WORDS: &'static [$crate::Word] = &[$($crate::Word::new($word, concat!($($doc),+)),)+];
            const ALL: &'static [Self] = &[$($name::$variant,)+];

            fn index(self) -> usize {
                self as usize
            }
        }

        impl $crate::Field for $name {}

        impl $crate::macro_support::Serialize for $name {
            fn serialize<S: $crate::macro_support::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $crate::write_word(*self, serializer)
            }
        }

        impl<'de> $crate::macro_support::Deserialize<'de> for $name {
            fn deserialize<D: $crate::macro_support::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::read_word(deserializer)
            }
        }
    };
}

/// Declares an enum of configurations, each a struct declared by [`parameters!`], with the word by which plan and
/// scenarios name it. The crate that uses it depends on serde.
#[macro_export]
macro_rules! kinds {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident {
            $($(#[doc = $doc:literal])+ $variant:ident($config:ty) = $word:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive($crate::macro_support::DeriveSerialize, $crate::macro_support::DeriveDeserialize)]
        #[serde(tag = "kind")]
        $visibility enum $name {
            $($(#[doc = $doc])+ #[serde(rename = $word)] $variant($config),)+
        }

        impl $crate::Kinds for $name {
            const KINDS: &'static [$crate::Described<Self>] = &[$($crate::Described {
                word: $crate::Word::new($word, concat!($($doc),+)),
                table: <$config as $crate::Parameters>::table,
                default: || $name::$variant(<$config as ::core::default::Default>::default()),
            },)+];

            fn word(&self) -> &'static str {
                match self { $($name::$variant(_) => $word,)+ }
            }

            fn table(&self) -> ::std::vec::Vec<$crate::Parameter> {
                match self { $($name::$variant(_) => <$config as $crate::Parameters>::table(),)+ }
            }

            fn validate(&self) -> ::core::result::Result<(), $crate::OutOfBounds> {
                match self { $($name::$variant(config) => $crate::Parameters::validate(config),)+ }
            }

            fn set(
                &mut self,
                key: &str,
                value: $crate::macro_support::Value,
            ) -> ::core::result::Result<(), $crate::Unread> {
                match self { $($name::$variant(config) => $crate::Parameters::set(config, key, value),)+ }
            }
        }

        $(impl ::core::convert::From<$config> for $name {
            fn from(config: $config) -> $name { $name::$variant(config) }
        })+
    };
}

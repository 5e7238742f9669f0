//! The form of an observation's tables: plain columns, each declared once.

/// A column of any table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Indices, and yes (1) or no (0).
    U32(Vec<u32>),
    /// Counts and moments.
    U64(Vec<u64>),
    /// Estimates; not a number where there is none.
    F64(Vec<f64>),
    /// Addresses and names.
    Text(Vec<String>),
}

impl From<Vec<u32>> for Column {
    fn from(values: Vec<u32>) -> Column {
        Column::U32(values)
    }
}

impl From<Vec<u64>> for Column {
    fn from(values: Vec<u64>) -> Column {
        Column::U64(values)
    }
}

impl From<Vec<f64>> for Column {
    fn from(values: Vec<f64>) -> Column {
        Column::F64(values)
    }
}

impl From<Vec<String>> for Column {
    fn from(values: Vec<String>) -> Column {
        Column::Text(values)
    }
}

/// A table of an observation.
pub trait Table {
    /// Its columns with their names, in the order of their declaration.
    fn into_columns(self) -> Vec<(&'static str, Column)>;
}

/// Declares a table: a struct of columns, and one for a row.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident of $row:ident { $($(#[$field_doc:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name { $($(#[$field_doc])* pub $field: Vec<$kind>,)* }

        #[doc = concat!("A row of [`", stringify!($name), "`].")]
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $row { $($(#[$field_doc])* pub $field: $kind,)* }

        impl $name {
            /// Adds a row.
            pub fn push(&mut self, row: $row) {
                $(self.$field.push(row.$field);)*
            }
        }

        impl $crate::columns::Table for $name {
            fn into_columns(self) -> Vec<(&'static str, $crate::columns::Column)> {
                vec![$((stringify!($field), self.$field.into()),)*]
            }
        }
    };
}
pub(crate) use table;

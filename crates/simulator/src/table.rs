//! The form of an outcome's tables: plain columns, each declared once.

/// A column of any table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Indices.
    U32(Vec<u32>),
    /// Counts and times.
    U64(Vec<u64>),
    /// Means and fractions.
    F64(Vec<f64>),
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

/// A table of an outcome.
pub trait Table {
    /// Its columns with their names, in the order of their declaration.
    fn into_columns(self) -> Vec<(&'static str, Column)>;
}

/// Declares a table: a struct of columns, each with the type of its values.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name { $($(#[$field_doc])* pub $field: Vec<$kind>,)* }

        impl $crate::table::Table for $name {
            fn into_columns(self) -> Vec<(&'static str, $crate::table::Column)> {
                vec![$((stringify!($field), self.$field.into()),)*]
            }
        }
    };
}
pub(crate) use table;

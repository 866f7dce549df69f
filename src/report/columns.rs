//! Tables with typed columns, written row by row: one description for every form a table is written in.
//!
//! CSV: one header line with units in brackets; empty cells mean "no value"; floats are written so that reading
//! them gives the same bits. The feature `parquet` adds a second form.

use super::ReportError;
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::io::Write;

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// Whole numbers from 0.
    Integer,
    /// Numbers.
    Float,
    /// True or false.
    Boolean,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name, with its unit in brackets.
    pub name: Cow<'static, str>,
    /// What is in it.
    pub kind: Kind,
}

impl Column {
    /// A column of that name and kind.
    pub fn new(name: impl Into<Cow<'static, str>>, kind: Kind) -> Self {
        let name = name.into();
        Self { name, kind }
    }
}

/// Columns with names known beforehand.
pub(super) fn columns(list: &[(&'static str, Kind)]) -> Vec<Column> {
    list.iter()
        .map(|&(name, kind)| Column::new(name, kind))
        .collect()
}

/// A value of a row; its kind is that of its column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    None,
    /// Text.
    Text(Cow<'a, str>),
    /// A whole number.
    Integer(u64),
    /// A number.
    Float(f64),
    /// True or false.
    Boolean(bool),
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

macro_rules! from {
    ($($kind:ident: $($type:ty),+;)+) => {$($(
        impl From<$type> for Cell<'_> {
            fn from(value: $type) -> Self {
                Self::$kind(value.into())
            }
        }
    )+)+};
}

from! {
    Integer: u64, u32, u16, u8;
    Boolean: bool;
}

/// A number that is none, such as the time of what never ends, is no value.
impl From<f64> for Cell<'_> {
    fn from(value: f64) -> Self {
        if value.is_finite() {
            Self::Float(value)
        } else {
            Self::None
        }
    }
}

impl From<usize> for Cell<'_> {
    fn from(value: usize) -> Self {
        Self::Integer(value as u64)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell<'_> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

/// As a CSV writer takes it: numbers in the shortest text that reads as the same bits, without an allocation.
impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => to.serialize_none(),
            Self::Text(text) => to.serialize_str(text),
            Self::Integer(value) => to.serialize_u64(*value),
            Self::Float(value) => to.serialize_f64(*value),
            Self::Boolean(value) => to.serialize_bool(*value),
        }
    }
}

/// Takes the rows of a table, first to last.
pub trait Rows {
    /// Takes a row: as many cells as there are columns.
    ///
    /// # Errors
    /// When it cannot be written, with the reason.
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), String>;
}

/// Gives the rows of a table.
type Give<'a> = dyn Fn(&mut dyn Rows) -> Result<(), String> + 'a;

/// A table that can be written in several forms.
pub struct Table<'a> {
    /// Name of its CSV file.
    pub file: &'static str,
    /// Its columns.
    pub columns: Vec<Column>,
    give: Box<Give<'a>>,
}

impl<'a> Table<'a> {
    /// A table whose rows are given by `give`, any number of times.
    pub fn new(
        file: &'static str,
        columns: Vec<Column>,
        give: impl Fn(&mut dyn Rows) -> Result<(), String> + 'a,
    ) -> Self {
        let give = Box::new(give);
        Self {
            file,
            columns,
            give,
        }
    }

    /// Gives all rows.
    ///
    /// # Errors
    /// When `rows` takes one not.
    pub fn fill(&self, rows: &mut dyn Rows) -> Result<(), ReportError> {
        (self.give)(rows).map_err(|reason| self.error(reason))
    }

    /// The table as CSV.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn csv(&self) -> Result<Vec<u8>, ReportError> {
        let mut rows = CsvRows::new(Vec::new());
        rows.header(&self.columns)
            .map_err(|reason| self.error(reason))?;
        self.fill(&mut rows)?;
        let writer = rows.writer.into_inner();
        writer.map_err(|cause| self.error(cause.to_string()))
    }

    /// The table in every form it is written in: names of files and what is in them.
    ///
    /// # Errors
    /// When one cannot be made.
    pub fn forms(&self) -> Result<Vec<(String, Vec<u8>)>, ReportError> {
        Ok(vec![
            (self.file.to_owned(), self.csv()?),
            #[cfg(feature = "parquet")]
            (
                super::parquet_form::file_name(self.file),
                super::parquet_form::bytes(self)?,
            ),
        ])
    }

    /// What is wrong with this table.
    pub(super) fn error(&self, reason: String) -> ReportError {
        let file = self.file;
        ReportError::Format { file, reason }
    }
}

/// Rows as CSV.
pub struct CsvRows<W: Write> {
    writer: csv::Writer<W>,
}

impl<W: Write> CsvRows<W> {
    /// Writes to `output`, without a header.
    pub fn new(output: W) -> Self {
        Self {
            writer: csv::Writer::from_writer(output),
        }
    }

    /// Writes the header line.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn header(&mut self, columns: &[Column]) -> Result<(), String> {
        let names = columns.iter().map(|column| column.name.as_ref());
        self.writer
            .write_record(names)
            .map_err(|cause| cause.to_string())
    }

    /// Everything that was written.
    ///
    /// # Errors
    /// When the output does not take it.
    pub fn into_output(self) -> Result<W, String> {
        self.writer.into_inner().map_err(|cause| cause.to_string())
    }
}

impl<W: Write> Rows for CsvRows<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), String> {
        self.writer
            .serialize(cells)
            .map_err(|cause| cause.to_string())
    }
}

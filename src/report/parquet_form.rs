//! Tables as Parquet, with the feature `parquet`: the columns of the CSV form with their types.
//!
//! Texts are UTF-8 strings, whole numbers 64-bit integers, numbers doubles; every column may have empty cells. Rows are
//! kept in groups, so a table of any length takes little memory. Snappy compression.

use super::columns::{Cell, Column, Kind, Rows, Table};
use super::{ReportError, RunDirectory, packets};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use std::borrow::Cow;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;

/// Rows of a group.
const GROUP: usize = 1 << 17;

/// Name of the Parquet form of a CSV file.
pub fn file_name(csv: &str) -> String {
    format!("{}.parquet", csv.trim_end_matches(".csv"))
}

/// The table as Parquet.
///
/// # Errors
/// When it cannot be made.
pub fn bytes(table: &Table<'_>) -> Result<Vec<u8>, ReportError> {
    let mut bytes = Vec::new();
    write(table, &mut bytes)?;
    Ok(bytes)
}

/// Writes `packets.parquet` beside the CSV file of a run directory.
///
/// # Errors
/// When a file cannot be read or written.
pub(super) fn packets(directory: &RunDirectory) -> Result<(), ReportError> {
    let from = directory.path().join(packets::FILE);
    let path = directory.path().join(file_name(packets::FILE));
    let table = Table::new(packets::FILE, packets::packet_columns(), move |rows| {
        let mut reader = csv::Reader::from_path(&from).map_err(|cause| cause.to_string())?;
        let mut record = csv::StringRecord::new();
        while reader
            .read_record(&mut record)
            .map_err(|cause| cause.to_string())?
        {
            let cells: Vec<Cell<'_>> = record.iter().map(Cell::from).collect();
            rows.row(&cells)?;
        }
        Ok(())
    });
    let file = File::create(&path).map_err(|error| ReportError::Io { path, error })?;
    write(&table, file)
}

fn write(table: &Table<'_>, output: impl Write + Send) -> Result<(), ReportError> {
    let error = |cause: ParquetError| table.error(cause.to_string());
    let schema = schema(&table.columns).map_err(error)?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
    let properties = Arc::new(properties.build());
    let mut rows = ParquetRows {
        writer: SerializedFileWriter::new(output, schema, properties).map_err(error)?,
        chunks: table.columns.iter().map(Chunk::new).collect(),
        count: 0,
    };
    table.fill(&mut rows)?;
    rows.close_group().map_err(error)?;
    rows.writer.close().map_err(error)?;
    Ok(())
}

fn schema(columns: &[Column]) -> Result<TypePtr, ParquetError> {
    let field = |column: &Column| {
        let (physical, logical) = match column.kind {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Integer => (Physical::INT64, None),
            Kind::Float => (Physical::DOUBLE, None),
            Kind::Boolean => (Physical::BOOLEAN, None),
        };
        let field = Type::primitive_type_builder(&column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical);
        field.build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("table").with_fields(fields);
    schema.build().map(Arc::new)
}

/// Values of a column in the open group.
enum Values {
    Text(Vec<ByteArray>),
    Integer(Vec<i64>),
    Float(Vec<f64>),
    Boolean(Vec<bool>),
}

/// A column in the open group.
struct Chunk {
    values: Values,
    /// 1 where there is a value, `[row]`.
    levels: Vec<i16>,
}

impl Chunk {
    fn new(column: &Column) -> Self {
        let values = match column.kind {
            Kind::Text => Values::Text(Vec::new()),
            Kind::Integer => Values::Integer(Vec::new()),
            Kind::Float => Values::Float(Vec::new()),
            Kind::Boolean => Values::Boolean(Vec::new()),
        };
        let levels = Vec::new();
        Self { values, levels }
    }

    /// Adds a cell, typed or as its text in the CSV form.
    fn push(&mut self, cell: &Cell<'_>) -> Result<(), String> {
        let text = text(cell);
        self.levels.push(i16::from(!text.is_empty()));
        if text.is_empty() {
            return Ok(());
        }
        let misfit = || format!("`{text}` is not of the type of its column");
        match (&mut self.values, cell) {
            (Values::Text(values), _) => values.push(text.as_ref().into()),
            (Values::Float(values), Cell::Float(value)) => values.push(*value),
            (Values::Integer(values), _) => values.push(text.parse().map_err(|_| misfit())?),
            (Values::Float(values), _) => values.push(text.parse().map_err(|_| misfit())?),
            (Values::Boolean(values), _) => values.push(text.parse().map_err(|_| misfit())?),
        }
        Ok(())
    }

    /// Writes the column as the next one of a group, and empties it.
    fn write<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        let Some(mut column) = group.next_column()? else {
            return Err(ParquetError::General("a column too many".into()));
        };
        let levels = Some(&self.levels[..]);
        match &mut self.values {
            Values::Text(values) => {
                let writer = column.typed::<ByteArrayType>();
                writer.write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Integer(values) => {
                let writer = column.typed::<Int64Type>();
                writer.write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Float(values) => {
                let writer = column.typed::<DoubleType>();
                writer.write_batch(values, levels, None)?;
                values.clear();
            }
            Values::Boolean(values) => {
                let writer = column.typed::<BoolType>();
                writer.write_batch(values, levels, None)?;
                values.clear();
            }
        }
        self.levels.clear();
        column.close()
    }
}

/// A cell as text; empty without a value.
fn text<'a>(cell: &'a Cell<'_>) -> Cow<'a, str> {
    match cell {
        Cell::None => Cow::Borrowed(""),
        Cell::Text(text) => Cow::Borrowed(text),
        Cell::Integer(value) => Cow::Owned(value.to_string()),
        Cell::Float(value) => Cow::Owned(format!("{value:?}")),
        Cell::Boolean(value) => Cow::Borrowed(if *value { "true" } else { "false" }),
    }
}

/// Rows as Parquet.
struct ParquetRows<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    chunks: Vec<Chunk>,
    /// Rows of the open group.
    count: usize,
}

impl<W: Write + Send> ParquetRows<W> {
    fn close_group(&mut self) -> Result<(), ParquetError> {
        if self.count == 0 {
            return Ok(());
        }
        self.count = 0;
        let mut group = self.writer.next_row_group()?;
        for chunk in &mut self.chunks {
            chunk.write(&mut group)?;
        }
        group.close().map(drop)
    }
}

impl<W: Write + Send> Rows for ParquetRows<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), String> {
        for (chunk, cell) in self.chunks.iter_mut().zip(cells) {
            chunk.push(cell)?;
        }
        self.count += 1;
        if self.count < GROUP {
            return Ok(());
        }
        self.close_group().map_err(|cause| cause.to_string())
    }
}

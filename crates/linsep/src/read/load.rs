//! A whole source into memory.

use super::error::ReadErrorKind;
use super::{Format, Labels, ReadNotes, ReadOptions, RowStream, Schema, Source};
use crate::Error;
use crate::dataset::{Dataset, DatasetBuilder, DatasetError};
use crate::observe::{Observer, Progress};

/// A data set together with how it was read.
#[derive(Debug)]
pub struct Loaded {
    /// The rows and labels.
    pub dataset: Dataset,
    /// The format, as given or detected.
    pub format: Format,
    /// How the columns became features, for reading other files the same way.
    pub schema: Schema,
    /// What was noticed.
    pub notes: ReadNotes,
    /// How the columns of the source itself became features, whatever model they were matched with.
    pub own_schema: Schema,
    /// The fingerprint of the rows, where the source holds it.
    pub fingerprint: Option<String>,
}

/// Reads a whole source of labelled rows into memory.
pub fn read(source: &Source, options: &ReadOptions, observer: &mut dyn Observer) -> Result<Loaded, Error> {
    let options = ReadOptions { labels: Labels::Required, ..options.clone() };
    let mut stream = RowStream::open_with(source, &options, source.can_be_read_again())?;
    if let Some(loaded) = stream.whole() {
        return Ok(loaded);
    }
    match collect(&mut stream, observer) {
        // A table of which a later row contradicts the first ones is read again, with all rows in view.
        Err(Error::Read(error)) if stream.is_guess() && !matches!(error.kind, ReadErrorKind::Changed(_)) => {
            let mut again = RowStream::open(source, &options)?;
            stream.check_same(&again)?;
            collect(&mut again, observer)
        }
        collected => collected,
    }
}

fn collect(stream: &mut RowStream, observer: &mut dyn Observer) -> Result<Loaded, Error> {
    let mut builder: Option<DatasetBuilder> = None;
    let mut rows = 0;
    while let Some(batch) = stream.next_batch()? {
        let builder = builder.get_or_insert_with(|| {
            let mut builder = DatasetBuilder::new(batch.layout());
            if let Some((rows, values)) = stream.expected(&batch) {
                builder.reserve(rows, values);
            }
            builder
        });
        builder.append(&batch)?;
        rows += batch.len() as u64;
        let (bytes, total) = stream.bytes();
        if observer.progress(&Progress::Reading { bytes, total, rows }).is_break() {
            return Err(Error::Interrupted);
        }
    }
    let Some(mut builder) = builder else { return Err(stream.no_rows()) };
    let schema = stream.schema();
    if stream.index_shift() == 1 {
        builder.shift_columns_down();
    }
    let names = stream.label_names().to_vec();
    builder.describe(schema.features(), names, schema.feature_names(), schema.index_base());
    let dataset = match builder.finish() {
        Err(DatasetError::Empty) => return Err(stream.no_rows()),
        finished => finished?,
    };
    let own_schema = stream.own_schema();
    Ok(Loaded {
        dataset,
        format: stream.format(),
        schema,
        notes: stream.notes(),
        own_schema,
        fingerprint: None,
    })
}

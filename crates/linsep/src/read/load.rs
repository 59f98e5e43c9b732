//! A whole source into memory.

use super::error::{ReadError, ReadErrorKind};
use super::{Format, Labels, ReadNotes, ReadOptions, RowStream, Schema, Source};
use crate::dataset::{Batch, Dataset, DatasetBuilder, DatasetError};
use crate::numbers::grouped;
use crate::observe::Observer;
use crate::{Error, memory};

/// A data set together with how it was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The rows and labels.
    pub dataset: Dataset,
    /// The format, as given or detected.
    pub format: Format,
    /// How the columns became features, for reading other files the same way.
    pub schema: Schema,
    /// Notes made while reading.
    pub notes: ReadNotes,
    /// How the columns of the source itself became features, whatever model they were matched with.
    pub own_schema: Schema,
    /// The fingerprint of the rows, where the source holds it.
    pub fingerprint: Option<String>,
}

/// Reads a whole source of labelled rows into memory.
pub fn read(source: &Source, options: &ReadOptions, observer: &mut dyn Observer) -> Result<Loaded, Error> {
    if let Source::Rows(_, loaded) = source {
        return Ok(Loaded::clone(loaded));
    }
    let loaded = read_any(source, options, observer)?;
    // A limit that was given, hashes of so many bits, and the features of a model are meant.
    let meant =
        options.max_features.is_some() || options.text.hash_bits.is_some() || options.schema.is_some();
    let (features, values) = (loaded.dataset.columns() as u64, loaded.dataset.nonzeros() as u64);
    // Two classes share a vector of weights. Of several classes together, methods that look back hold many.
    let classes = loaded.dataset.classes().len() as u64;
    let vectors = if classes > 2 { 2 * classes } else { 1 };
    let limit = (FREE_WEIGHTS + WEIGHTS_FOR_EACH * values) / vectors;
    // No limit is below what rows without zeros have.
    if !meant && features > limit && values < features {
        return Err(
            ReadError::whole(&source.name(), ReadErrorKind::FewValues { features, values, limit }).into()
        );
    }
    Ok(loaded)
}

/// The weights that rows may ask for, however few their values are, and more for each value: an index of eight digits in a file of
/// fifty bytes must not ask for gigabytes of weights.
const FREE_WEIGHTS: u64 = 1 << 22;
const WEIGHTS_FOR_EACH: u64 = 64;

fn read_any(source: &Source, options: &ReadOptions, observer: &mut dyn Observer) -> Result<Loaded, Error> {
    let options = ReadOptions { labels: Labels::Required, ..options.clone() };
    let mut stream = RowStream::open_with(source, &options, source.can_be_read_again())?;
    if let Some(loaded) = stream.whole() {
        return Ok(loaded);
    }
    match collect(&mut stream, observer) {
        // The first bytes were ASCII and told nothing about the encoding.
        Err(Error::Read(ReadError { kind: ReadErrorKind::NotUtf8 { .. }, .. }))
            if cfg!(feature = "encodings")
                && !stream.is_marked()
                && options.encoding.is_none()
                && !options.skip_bad
                && source.can_be_read_again() =>
        {
            let options = ReadOptions { encoding: Some("windows-1252".to_string()), ..options };
            let mut loaded = read_any(source, &options, observer)?;
            let remark = "The text is not UTF-8: it is read as windows-1252. Another encoding can be named with ⟦encoding⟧.";
            loaded.notes.remarks.insert(0, remark.to_string());
            Ok(loaded)
        }
        // A table of which a later row contradicts the first ones is read again, with all rows in view.
        Err(Error::Read(error)) if stream.is_guess() && may_be_of_guess(&error.kind) => {
            let mut again = RowStream::open(source, &options)?;
            stream.check_same(&again)?;
            collect(&mut again, observer)
        }
        collected => collected,
    }
}

/// Whether an error may be one of the guess of the columns: not where the file itself is at fault.
fn may_be_of_guess(kind: &ReadErrorKind) -> bool {
    use ReadErrorKind::{Changed, LineForMemory, LongLine};
    !matches!(kind, Changed(_) | LongLine { .. } | LineForMemory { .. })
}

/// How often memory is looked at while rows come.
const STEP: u64 = 16 << 20;

/// A builder with room for all rows, as far as their number can be told from the first ones. Rows that cannot fit into the
/// memory are refused before they are read.
fn with_room(stream: &RowStream, first: &Batch) -> Result<DatasetBuilder, Error> {
    let mut builder = DatasetBuilder::new(first.layout());
    if let Some((rows, values)) = stream.expected(first) {
        // The rows of a text are estimated from its first ones, and the later ones may be shorter.
        let certain = if stream.format().is_text() { 2 } else { 1 };
        let least = builder.least_bytes(rows, values) / certain;
        memory::check(least, || format!("{}: holding about {} rows", stream.name(), grouped(rows as u64)))?;
        builder.reserve(rows, values);
    }
    Ok(builder)
}

fn collect(stream: &mut RowStream, observer: &mut dyn Observer) -> Result<Loaded, Error> {
    let mut builder: Option<DatasetBuilder> = None;
    let mut rows = 0;
    // What was held when memory was last looked at.
    let mut looked = 0;
    while let Some(batch) = stream.next_batch()? {
        let builder = match &mut builder {
            Some(builder) => builder,
            None => builder.insert(with_room(stream, &batch)?),
        };
        // A source whose length is not known shows only now that there is no room for what comes next.
        if builder.bytes() > looked + STEP {
            looked = builder.bytes();
            memory::check(STEP, || format!("{}: holding more than {} rows", stream.name(), grouped(rows)))?;
        }
        builder.append(&batch).map_err(|error| Error::from(error).at(stream.name()))?;
        rows += batch.len() as u64;
        if observer.progress(&stream.progress(rows)).is_break() {
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

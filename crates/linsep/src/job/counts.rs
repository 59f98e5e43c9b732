//! Rows that count more than once: a column of a table, or a file, that says how often each row occurs.
//!
//! Whole numbers are counts. A table of counts is a short way to write the table with each row repeated, and whatever is
//! learned from it, counted on it, or held out of it is that of the long one: [`repeat`] writes it out. Other numbers are
//! weights of rows that stay one row each.

use super::DataSpec;
use crate::Error;
use crate::SettingsError;
use crate::dataset::{Dataset, DatasetError, Row};
use crate::features::{ColumnKind, Missing, Schema, relearn_columns};
use crate::numbers::{counted, grouped};
use crate::observe::Observer;
use crate::read::{Loaded, ReadOptions, Source, read, read_weights};
use crate::train::occurrences;
use std::collections::HashMap;
use std::path::Path;

/// Takes the column of counts out of the features, and the rows that occur not at all out of the rows. The others count as
/// often as it says.
pub(super) fn take(loaded: &mut Loaded, name: &str, source: &str) -> Result<(), Error> {
    let refuse = |problem: String| Err(Error::from(SettingsError::new("weights", problem)));
    let Schema::Table { columns, features, .. } = &mut loaded.schema else {
        return refuse(format!(
            "⟦weights⟧ names a column of a table, and {} files have none",
            loaded.format.title()
        ));
    };
    let by_number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let by_name = columns.iter().position(|column| column.name == name);
    let Some(column) = by_name.or(by_number).and_then(|place| columns.get_mut(place)) else {
        return refuse(format!(
            "⟦weights⟧ names neither a file that exists nor a column of the table: \"{name}\""
        ));
    };
    let taken = match &column.kind {
        ColumnKind::Number(number) => number.feature,
        ColumnKind::Words(_) => {
            return refuse(format!("the column \"{name}\" of ⟦weights⟧ holds words, not counts"));
        }
        ColumnKind::Text(_) => {
            return refuse(format!("the column \"{name}\" of ⟦weights⟧ holds texts, not counts"));
        }
        ColumnKind::Label | ColumnKind::Ignored => {
            return refuse(format!("the column \"{name}\" of ⟦weights⟧ is the label, or left out"));
        }
    };
    (column.kind, column.names_rows) = (ColumnKind::Ignored, None);
    let data = &loaded.dataset;
    let missing = data.filled_cells().unwrap_or_default().iter().find(|cell| cell.1 as usize == taken);
    if let Some(&(row, _)) = missing {
        let place = format!("{source}:{}", data.line(row as usize));
        return Err(Error::Rows { place, problem: format!("the count in column \"{name}\" is missing") });
    }
    let mut counts = Vec::with_capacity(data.len());
    for i in 0..data.len() {
        let count = data.row(i).iter().find(|&(j, _)| j == taken).map_or(0.0, |(_, value)| value);
        if !(0.0..=1e15).contains(&count) {
            let place = format!("{source}:{}", data.line(i));
            let problem =
                format!("{count} in column \"{name}\" is not a count: expected a number from 0 to 1e15");
            return Err(Error::Rows { place, problem });
        }
        counts.push(count);
    }
    let occurring: Vec<usize> = (0..data.len()).filter(|&i| counts[i] > 0.0).collect();
    let rows = occurring.iter().map(|&i| counts[i]).sum::<f64>();
    loaded.notes.remarks.push(format!(
        "Column \"{name}\" holds row counts: {} with a total count of {}{}.",
        counted(occurring.len() as u64, "row", "rows"),
        if rows.fract() == 0.0 { grouped(rows as u64) } else { rows.to_string() },
        match data.len() - occurring.len() {
            0 => String::new(),
            none => format!("; rows with count 0 are left out ({})", grouped(none as u64)),
        }
    ));
    // Features after it move up.
    let numbers: Vec<Option<u32>> =
        (0..features.len()).map(|j| (j != taken).then(|| (j - usize::from(j > taken)) as u32)).collect();
    for kind in columns.iter_mut().filter_map(|column| column.kind.features_mut()) {
        kind.renumber(&numbers);
    }
    features.remove(taken);
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    let kept = data.subset(&occurring)?.map_rows_to(features.len(), |row, keep| {
        indices.clear();
        values.clear();
        let is_dense = matches!(row, Row::DenseF32(_) | Row::DenseF64(_));
        for (j, value) in row.iter() {
            if let Some(number) = numbers[j] {
                indices.push(number);
                values.push(value);
            }
        }
        keep(if is_dense { Row::DenseF64(&values) } else { Row::SparseF64(&indices, &values) });
    })?;
    // Written out, the table would show neither a class nor a word that occurs not at all.
    let kept = kept.renamed(features.clone()).without_empty_classes();
    loaded.dataset = kept.with_weights(occurring.iter().map(|&i| counts[i]).collect())?;
    loaded.fingerprint = None;
    if occurring.len() < counts.len() {
        relearn(loaded)?;
    }
    Ok(())
}

/// The rows with the weights of a file, which has one for each.
pub(super) fn weighed(data: Dataset, path: &Path) -> Result<Dataset, Error> {
    let weights = read_weights(path)?;
    data.with_weights(weights).map_err(|error| Error::from(error).at(path.display().to_string()))
}

/// Takes the rows out that occur not at all.
pub(super) fn leave_out_absent(loaded: &mut Loaded) -> Result<(), Error> {
    let data = &loaded.dataset;
    let occurring: Vec<usize> = (0..data.len()).filter(|&i| data.weight(i) > 0.0).collect();
    if occurring.len() == data.len() {
        return Ok(());
    }
    loaded.dataset = data.subset(&occurring)?.without_empty_classes();
    relearn(loaded)
}

/// How often each row occurs as a file says, by its line; rows that occur not at all are not there.
pub(super) fn file_counts_by_line(rows: &Dataset, path: &Path) -> Result<HashMap<u64, f64>, Error> {
    let rows = weighed(rows.clone(), path)?;
    let occurring = (0..rows.len()).filter(|&i| rows.weight(i) > 0.0);
    Ok(occurring.map(|i| (rows.line(i), rows.weight(i))).collect())
}

/// Writes each row out as often as it occurs, if all weights are whole numbers and their sum is not huge.
pub(super) fn repeat(loaded: &mut Loaded) -> Result<(), Error> {
    let Some(positions) = occurrences(&loaded.dataset) else {
        let is_whole =
            loaded.dataset.weights().is_some_and(|weights| weights.iter().all(|w| w.fract() == 0.0));
        loaded.notes.remarks.push(format!(
            "{}: they weight the training, and errors count {}.",
            if is_whole {
                "The counts are too large to repeat the rows"
            } else {
                "The weights are not whole numbers"
            },
            counted(loaded.dataset.len() as u64, "row", "rows")
        ));
        return Ok(());
    };
    let (table_rows, rows) = (loaded.dataset.len() as u64, positions.len() as u64);
    loaded.dataset = loaded.dataset.subset(&positions)?.without_weights().without_empty_classes();
    loaded.fingerprint = None;
    if rows != table_rows {
        loaded.notes.remarks.push(format!(
            "Each row is counted as often as it occurs: all results are for {}.",
            counted(rows, "row", "rows")
        ));
    }
    relearn(loaded)
}

/// Learns the columns of a table again from the rows as they are now.
fn relearn(loaded: &mut Loaded) -> Result<(), Error> {
    let (schema, data) = (loaded.schema.clone(), loaded.dataset.clone());
    (loaded.schema, loaded.dataset) = relearn_columns(schema, data)?;
    Ok(())
}

/// How often each row of a file occurs whose rows are judged one after the other.
pub(super) enum Occurrences {
    /// Once.
    Once,
    /// As often as a column says, by the line of the row.
    ByLine(HashMap<u64, u64>),
    /// As often as a file says, in the order of the rows.
    InOrder(Vec<u64>),
}

impl Occurrences {
    /// Reads the column of counts of a table, which a model with these columns is judged on, or the file of counts.
    pub(super) fn read(
        data: &DataSpec,
        file: Option<&Path>,
        columns: &Schema,
        observer: &mut dyn Observer,
    ) -> Result<Self, Error> {
        if let Some(path) = file {
            if data.read.skip_bad {
                let problem = "⟦weights⟧ has one number for each row, and ⟦skip_bad⟧ leaves rows out";
                return Err(SettingsError::new("weights", problem).into());
            }
            let counts = read_weights(path)?.into_iter().map(whole).collect::<Result<_, _>>()?;
            return Ok(Occurrences::InOrder(counts));
        }
        let Some(by_line) = counts_by_line(data, columns, observer)? else { return Ok(Occurrences::Once) };
        let by_line = by_line.into_iter().map(|(line, count)| Ok((line, whole(count)?)));
        Ok(Occurrences::ByLine(by_line.collect::<Result<_, SettingsError>>()?))
    }

    /// How often a row occurs, by its number from 0 and its line.
    pub(super) fn of(&self, row: u64, line: u64) -> u64 {
        match self {
            Occurrences::Once => 1,
            Occurrences::ByLine(counts) => counts.get(&line).copied().unwrap_or(0),
            Occurrences::InOrder(counts) => counts.get(row as usize).copied().unwrap_or(0),
        }
    }

    /// Refuses a file that does not have one number for each row.
    pub(super) fn check(&self, rows: u64) -> Result<(), Error> {
        match self {
            Occurrences::InOrder(counts) if counts.len() as u64 != rows => {
                let found = counts.len();
                let problem = format!("{found} weights for {rows} rows: each row needs one");
                Err(DatasetError::Shape(problem).into())
            }
            _ => Ok(()),
        }
    }
}

/// How often each row of a table occurs that a model with these columns sees, by its line; rows that occur not at all are not
/// there. `None` without a column of counts.
pub(super) fn counts_by_line(
    data: &DataSpec,
    columns: &Schema,
    observer: &mut dyn Observer,
) -> Result<Option<HashMap<u64, f64>>, Error> {
    let Some(column) = &data.counts else { return Ok(None) };
    if matches!(data.source, Source::Stdin | Source::Custom(..)) {
        let problem =
            "a column of counts is read before the rows, which standard input does not allow: name a file";
        return Err(SettingsError::new("weights", problem).into());
    }
    // The model knows which column is the label, and reads others than the counts itself.
    let mut options = ReadOptions { schema: None, ..data.read.clone() };
    if let Schema::Table { columns, .. } = columns {
        let label = columns.iter().find(|of| matches!(of.kind, ColumnKind::Label));
        options.csv.label = options.csv.label.or_else(|| label.map(|label| label.name.clone()));
    }
    options.csv.missing = Missing::Auto;
    let mut loaded = read(&data.source, &options, observer)?;
    take(&mut loaded, column, &data.source.name())?;
    let rows = &loaded.dataset;
    let counts = rows.weights().unwrap_or_default().iter().enumerate();
    Ok(Some(counts.map(|(i, &count)| (rows.line(i), count)).collect()))
}

/// A weight that is a count.
fn whole(weight: f64) -> Result<u64, SettingsError> {
    if weight.fract() == 0.0 && (0.0..=1e15).contains(&weight) {
        return Ok(weight as u64);
    }
    let problem = format!(
        "evaluation counts rows, and {weight} is not a count: ⟦weights⟧ needs whole numbers from 0 to 1e15"
    );
    Err(SettingsError::new("weights", problem))
}

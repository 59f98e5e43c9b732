//! Writing a model as ONNX, and judging on rows what inputs of 32 bits change.

use super::DataSpec;
use super::data::{emit_notes, load_model};
use super::refuse_overwriting;
use crate::Error;
use crate::dataset::Row;
use crate::features::{ColumnKind, Schema};
use crate::model::{InputNumbers, Model, OnnxInput, Predictor};
use crate::observe::Observer;
use crate::read::{Labels, RowStream};
use crate::store::write_atomically;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Lines of rows that are kept for the report.
const MAX_LINES: usize = 20;

/// Which model is written, where, and how.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportSpec {
    /// The model.
    pub model: PathBuf,
    /// Where the ONNX file is written.
    pub output: PathBuf,
    /// The number type of its inputs.
    #[serde(default)]
    pub input: InputNumbers,
    /// Rows on which predictions from f32 inputs are compared with the model's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataSpec>,
}

/// A model that was written.
#[derive(Clone, Debug, Serialize)]
pub struct Exported {
    /// The specification.
    pub spec: ExportSpec,
    /// The inputs of the file.
    pub inputs: Vec<OnnxInput>,
    /// The names of the outputs.
    pub outputs: Vec<&'static str>,
    /// The classes, in the order of the probabilities.
    pub classes: Vec<String>,
    /// How many bytes it has.
    pub bytes: u64,
    /// The effect of f32 inputs, if rows were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounding: Option<Rounding>,
}

/// The effect of rounding the numbers of rows to f32.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Rounding {
    /// Rows looked at.
    pub rows: u64,
    /// Rows that get another class.
    pub other_class: u64,
    /// The lines of the first of these.
    pub lines: Vec<u64>,
    /// The largest change of a score.
    pub largest_change: f64,
}

impl ExportSpec {
    /// Reads the model, judges the rounding if rows are given, and writes the file.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Exported, Error> {
        let data = self.data.iter().flat_map(DataSpec::inputs);
        let inputs: Vec<_> = [self.model.as_path()].into_iter().chain(data).collect();
        refuse_overwriting(&[&self.output], &inputs)?;
        let model = load_model(&self.model)?;
        let file = model.to_onnx(self.input)?;
        let rounding = self.data.as_ref().map(|data| rounding(&model, data, observer)).transpose()?;
        write_atomically(&self.output, |out| out.write_all(&file.bytes))?;
        Ok(Exported {
            spec: self.clone(),
            inputs: file.inputs,
            outputs: file.outputs,
            classes: model.classes.outcomes(),
            bytes: file.bytes.len() as u64,
            rounding,
        })
    }
}

/// Compares the model's predictions with those from rows whose numbers are rounded to f32.
fn rounding(model: &Model, data: &DataSpec, observer: &mut dyn Observer) -> Result<Rounding, Error> {
    let mut options = data.read.clone();
    options.schema = Some(model.recipe.columns.clone());
    options.labels = Labels::Ignored;
    let mut stream = RowStream::open(&data.source, &options)?;
    let mut check = RoundingCheck::new(model);
    while let Some(batch) = stream.next_batch()? {
        for i in 0..batch.len() {
            check.look_at(batch.row(i), batch.line(i));
        }
        if observer.progress(&stream.progress(check.found.rows)).is_break() {
            return Err(Error::Interrupted);
        }
    }
    if check.found.rows == 0 {
        return Err(stream.no_rows());
    }
    emit_notes(&stream.notes(), observer);
    Ok(check.found)
}

/// Judges row by row what rounding its numbers to f32 changes. Missing cells are filled after that, and the features of words
/// are 0 or 1, so these stay as they are.
pub struct RoundingCheck<'m> {
    predictor: Predictor<'m>,
    fills: Vec<Option<(f64, Option<usize>)>>,
    values: Vec<f64>,
    /// The findings so far.
    pub found: Rounding,
}

impl<'m> RoundingCheck<'m> {
    /// Before the first row.
    pub fn new(model: &'m Model) -> Self {
        let columns = &model.recipe.columns;
        let (fills, values) = (fills(columns), vec![0.0; columns.features()]);
        Self { predictor: Predictor::new(model), fills, values, found: Rounding::default() }
    }

    /// Looks at a row as read. `line` is what it is called in [`Rounding::lines`]; its number from 1 if there is none.
    pub fn look_at(&mut self, row: Row<'_>, line: Option<u64>) {
        let Self { predictor, fills, values, found } = self;
        found.rows += 1;
        let width = values.len();
        values.fill(0.0);
        row.truncated(width).iter().for_each(|(j, x)| values[j] = x);
        let own = predictor.predict(Row::DenseF64(values));
        for j in 0..width {
            let is_filled = fills.get(j).copied().flatten().is_some_and(|(fill, gap)| {
                values[j] == fill && gap.is_none_or(|gap: usize| values[gap] == 1.0)
            });
            if !is_filled {
                values[j] = f64::from(values[j] as f32);
            }
        }
        let rounded = predictor.predict(Row::DenseF64(values));
        let change = (rounded.score - own.score).abs();
        found.largest_change = found.largest_change.max(if change.is_nan() { f64::INFINITY } else { change });
        if rounded.outcome != own.outcome || rounded.score.is_nan() {
            found.other_class += 1;
            if found.lines.len() < MAX_LINES {
                found.lines.push(line.unwrap_or(found.rows));
            }
        }
    }
}

/// For each feature that is a number, what a missing cell becomes, and the feature that says that it was missing.
fn fills(schema: &Schema) -> Vec<Option<(f64, Option<usize>)>> {
    let mut fills = vec![None; schema.features()];
    let Schema::Table { columns, .. } = schema else { return fills };
    for column in columns {
        if let ColumnKind::Number(number) = &column.kind {
            fills[number.feature] = number.fill.map(|fill| (fill, number.gap));
        }
    }
    fills
}

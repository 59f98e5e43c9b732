//! The model as an ONNX file, which programs in other languages run without linsep.
//!
//! The graph does what [`Predictor`](super::Predictor) does, with the same formulas: missing numbers are filled, words become
//! features, columns get splines and products, features are scaled; then scores, probabilities and the class. Everything is computed
//! in f64, also where the inputs are f32: then predictions differ from the model's only as far as the values themselves
//! change when they are rounded to f32.
//!
//! **Inputs.** Rows of numbers alone are one matrix `X`, a column for each column of numbers in the order of the file (for
//! numbered features, one for each feature). A table that has words too has one input for each of its columns, by its name, with
//! one column: of numbers or of texts. NaN, and for words the empty text, are missing cells. Dates and times are numbers as
//! [`CellForm`](crate::features::CellForm) makes them. **Outputs.** `label`; `scores`, one for each row, or one for each class
//! where there are more than two; and, if the model has probabilities, `probabilities` of all classes in the order of the
//! property `classes`: that of the model, or the one that is asked for.

mod graph;

use super::{Calibration, Model};
use crate::SettingsError;
use crate::features::expansion::{FARTHEST, Factor, Splines};
use crate::features::{Column, ColumnKind, Expansion, MISSING_WORD, Number, Scaler, Schema, Words};
use crate::model::probability::MIN;
use crate::train::Learned;
use graph::{Attribute, Element, Graph, Value};
use serde::{Deserialize, Serialize};

/// The number type of the inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputNumbers {
    /// 32 bits, as most programs that run such files have them.
    #[default]
    F32,
    /// 64 bits: the values as they are.
    F64,
}

/// One input of an exported model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OnnxInput {
    /// Its name.
    pub name: String,
    /// `f32`, `f64` or `text`.
    pub kind: &'static str,
    /// The columns of the file that it holds; none where features have no names.
    pub columns: Vec<String>,
    /// How many columns it has.
    pub width: usize,
}

/// A model as ONNX.
#[derive(Clone, Debug)]
pub struct OnnxFile {
    /// The file.
    pub bytes: Vec<u8>,
    /// The inputs.
    pub inputs: Vec<OnnxInput>,
    /// The names of the outputs.
    pub outputs: Vec<&'static str>,
}

impl Model {
    /// The model as an ONNX file. An error for a model that is no linear function of its features.
    pub fn to_onnx(&self, numbers: InputNumbers) -> Result<OnnxFile, SettingsError> {
        let order: Vec<usize> = (0..self.classes.outcomes().len()).collect();
        self.to_onnx_in_order(numbers, &order)
    }

    /// The same with scores and probabilities in this order of the outcomes, for a program that lists its classes in another one than
    /// the model. Of two classes there is one score, for the second.
    pub fn to_onnx_in_order(
        &self,
        numbers: InputNumbers,
        order: &[usize],
    ) -> Result<OnnxFile, SettingsError> {
        let outcomes = self.classes.outcomes();
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..outcomes.len()) {
            let problem = format!("the order must name each of {} classes once, from 0", outcomes.len());
            return Err(SettingsError::new("order", problem));
        }
        let is_own = order.iter().copied().eq(0..outcomes.len());
        if let Some((column, _)) = self.recipe.columns.texts().next() {
            let problem = format!(
                "this model reads texts (column \"{column}\"): ONNX cannot express the same tokenisation. \
                 Use linsep predict"
            );
            return Err(SettingsError::new("model", problem));
        }
        let weights = weights(&self.learned)?;
        let mut graph = Graph::default();
        let outputs = ["label", "scores", "probabilities"];
        outputs.iter().for_each(|name| graph.reserve(name));
        let mut export = Export { graph, numbers, inputs: Vec::new() };
        let x = export.features(&self.recipe.columns);
        let graph = &mut export.graph;
        let x = expanded(graph, &x, &self.recipe.expansion);
        let (x, divisors) = scaled(graph, &x, &self.recipe.scaling);
        let (width, classes) = (self.recipe.features(), weights.len());
        let entry =
            |j: usize, w: &[f64]| w.get(j).copied().unwrap_or(0.0) / divisors.get(j).copied().unwrap_or(1.0);
        let columns = (0..width).flat_map(|j| weights.iter().map(move |(w, _)| entry(j, w)));
        let matrix = graph.numbers(&[width, classes], columns);
        let intercepts = graph.row(weights.iter().map(|(_, intercept)| *intercept));
        let products = graph.apply("MatMul", &[&x, &matrix]);
        let scores = graph.apply("Add", &[&products, &intercepts]);
        let probabilities = self.calibrated().map(|calibration| match classes {
            1 => probability_of_pair(graph, &scores, calibration),
            _ => probabilities_of_classes(graph, &scores, calibration),
        });

        let place = match (&self.threshold, &probabilities) {
            _ if classes > 1 => {
                let ways = [("axis", Attribute::Number(1)), ("keepdims", Attribute::Number(0))];
                graph.apply_with("ArgMax", &[&scores], &ways)
            }
            (Some(threshold), Some(p)) => at_least(graph, p, threshold.probability),
            _ => at_least(graph, &scores, 0.0),
        };
        let names = graph.texts(&outcomes);
        let label = graph.apply("Gather", &[&names, &place]);
        graph.output("label", &label, Element::Text, None);
        if classes == 1 {
            let mut flat = graph.shaped(&scores, &[-1]);
            if !is_own {
                flat = graph.apply("Neg", &[&flat]);
            }
            graph.output("scores", &flat, Element::F64, None);
        } else {
            let scores = if is_own { scores } else { graph.columns(&scores, order) };
            graph.output("scores", &scores, Element::F64, Some(classes));
        }
        let outputs = if probabilities.is_some() { outputs.to_vec() } else { outputs[..2].to_vec() };
        if let Some(mut p) = probabilities {
            if classes == 1 {
                let one = graph.numbers(&[], [1.0]);
                let rest = graph.apply("Sub", &[&one, &p]);
                p = graph.beside(&[&rest, &p]);
            }
            if !is_own {
                p = graph.columns(&p, order);
            }
            graph.output("probabilities", &p, Element::F64, Some(outcomes.len()));
        }
        let about = format!("A linear classifier of linsep: {}", self.settings.learner.name());
        let ordered: Vec<&str> = order.iter().map(|&outcome| outcomes[outcome].as_str()).collect();
        let classes = serde_json::Value::from(ordered).to_string();
        let mut properties = vec![("classes", classes)];
        properties.extend(self.fingerprint.iter().map(|fingerprint| ("fingerprint", fingerprint.clone())));
        Ok(OnnxFile { bytes: export.graph.finish(&about, &properties), inputs: export.inputs, outputs })
    }
}

/// The weights and the intercept of each score.
fn weights(learned: &Learned) -> Result<Vec<(&[f64], f64)>, SettingsError> {
    if let Some(thetas) = learned.thetas() {
        return Ok(thetas.into_iter().map(|theta| (&theta.weights[..], theta.intercept())).collect());
    }
    let what = learned.parts()[0].title();
    let problem = format!(
        "this model {what}: only a model with one weight for each feature can be written as ONNX (such as those of the \
         averaged perceptron, svm and logistic)"
    );
    Err(SettingsError::new("model", problem))
}

/// The way from the inputs to the features of the columns.
struct Export {
    graph: Graph,
    numbers: InputNumbers,
    inputs: Vec<OnnxInput>,
}

impl Export {
    fn input_numbers(&mut self, name: &str, columns: Vec<String>, width: usize) -> Value {
        let (element, kind) = match self.numbers {
            InputNumbers::F32 => (Element::F32, "f32"),
            InputNumbers::F64 => (Element::F64, "f64"),
        };
        let name = self.graph.input(name, element, width);
        self.inputs.push(OnnxInput { name: name.clone(), kind, columns, width });
        if element == Element::F64 { name } else { self.graph.cast(&name, Element::F64) }
    }

    fn features(&mut self, schema: &Schema) -> Value {
        let Schema::Table { columns, .. } = schema else {
            return self.input_numbers("X", Vec::new(), schema.features());
        };
        let is_used = |words: &Words| !words.words.is_empty() || words.rare.is_some();
        let has_words =
            columns.iter().any(|column| matches!(&column.kind, ColumnKind::Words(words) if is_used(words)));
        // The numbers, and the words with the names of their inputs.
        let (mut numbers, mut each, mut words): (Vec<&Number>, Vec<Value>, Vec<(&Words, Value)>) =
            Default::default();
        for column in columns {
            match &column.kind {
                ColumnKind::Number(number) => {
                    numbers.push(number);
                    if has_words {
                        each.push(self.input_numbers(&column.name, vec![column.name.clone()], 1));
                    }
                }
                ColumnKind::Words(own) if is_used(own) => words.push((own, self.input_texts(&column.name))),
                _ => {}
            }
        }
        // Parts of the features, and which features they hold.
        let (mut parts, mut held) = (Vec::new(), Vec::new());
        if !numbers.is_empty() {
            let x = if has_words {
                self.graph.beside(&each.iter().map(String::as_str).collect::<Vec<_>>())
            } else {
                let is_number = |column: &&Column| matches!(column.kind, ColumnKind::Number(_));
                let names = columns.iter().filter(is_number).map(|column| column.name.clone()).collect();
                self.input_numbers("X", names, numbers.len())
            };
            let missing = self.graph.apply("IsNaN", &[&x]);
            // Where a missing cell is refused it stays NaN, and so does the score: it must show.
            let fills = self.graph.row(numbers.iter().map(|number| number.fill.unwrap_or(f64::NAN)));
            parts.push(self.graph.apply("Where", &[&missing, &fills, &x]));
            held.extend(numbers.iter().map(|number| number.feature));
            let gaps: Vec<usize> = (0..numbers.len()).filter(|&i| numbers[i].gap.is_some()).collect();
            if !gaps.is_empty() {
                let missing = self.graph.cast(&missing, Element::F64);
                parts.push(self.graph.columns(&missing, &gaps));
                held.extend(numbers.iter().filter_map(|number| number.gap));
            }
        }
        for (words, input) in words {
            parts.push(self.words(&input, words, &mut held));
        }
        let x = self.graph.beside(&parts.iter().map(String::as_str).collect::<Vec<_>>());
        let order: Vec<usize> =
            (0..schema.features()).filter_map(|j| held.iter().position(|&feature| feature == j)).collect();
        if order.iter().enumerate().all(|(j, &place)| j == place) {
            x
        } else {
            self.graph.columns(&x, &order)
        }
    }

    fn input_texts(&mut self, column: &str) -> Value {
        let name = self.graph.input(column, Element::Text, 1);
        let columns = vec![column.to_string()];
        self.inputs.push(OnnxInput { name: name.clone(), kind: "text", columns, width: 1 });
        name
    }

    /// One feature for each word, and one for all other texts where rare words share one.
    fn words(&mut self, input: &str, words: &Words, held: &mut Vec<usize>) -> Value {
        // The missing cell is known, too: it is not rare.
        let missing = words.words.iter().all(|(word, _)| word != MISSING_WORD).then_some(MISSING_WORD);
        let known: Vec<&str> = words.words.iter().map(|(word, _)| word.as_str()).chain(missing).collect();
        let ways = [("cats_strings", Attribute::Texts(&known)), ("zeros", Attribute::Number(1))];
        let encoded = self.graph.apply_with("OneHotEncoder", &[input], &ways);
        let flat = self.graph.shaped(&encoded, &[-1, known.len() as i64]);
        let x = self.graph.cast(&flat, Element::F64);
        held.extend(words.words.iter().map(|(_, feature)| *feature));
        let own: Vec<usize> = (0..words.words.len()).collect();
        let own = self.graph.columns(&x, &own);
        let Some(rare) = &words.rare else { return own };
        held.push(rare.feature);
        let (one, sum) = (self.graph.numbers(&[], [1.0]), self.graph.row_sums(&x, true));
        let others = self.graph.apply("Sub", &[&one, &sum]);
        self.graph.beside(&[&own, &others])
    }
}

/// Numbers in deviations from their means, kept within reach: see the splines of the expansion.
fn standardised(graph: &mut Graph, x: &str, means: &[f64], deviations: &[f64]) -> Value {
    let (means, deviations) = (graph.row(means.iter().copied()), graph.row(deviations.iter().copied()));
    let centred = graph.apply("Sub", &[x, &means]);
    let z = graph.apply("Div", &[&centred, &deviations]);
    let (least, most) = (graph.numbers(&[], [-FARTHEST]), graph.numbers(&[], [FARTHEST]));
    graph.apply("Clip", &[&z, &least, &most])
}

/// The features of the columns, their splines, and their products.
fn expanded(graph: &mut Graph, x: &str, expansion: &Expansion) -> Value {
    let mut parts = vec![x.to_string()];
    for splines in expansion.splines() {
        let own = graph.columns(x, &[splines.feature]);
        let z = standardised(graph, &own, &[splines.mean], &[splines.deviation]);
        parts.push(piecewise(graph, &z, &Pieces::of(splines)));
    }
    let products: Vec<[&Factor; 2]> = expansion.each_product().map(|(_, factors)| factors).collect();
    if !products.is_empty() {
        let mut side = |which: usize| {
            let factors: Vec<&Factor> = products.iter().map(|pair| pair[which]).collect();
            let features: Vec<usize> = factors.iter().map(|factor| factor.feature).collect();
            let centres: Vec<f64> = factors.iter().map(|factor| factor.centre).collect();
            let scales: Vec<f64> = factors.iter().map(|factor| factor.scale).collect();
            let own = graph.columns(x, &features);
            standardised(graph, &own, &centres, &scales)
        };
        let (left, right) = (side(0), side(1));
        parts.push(graph.apply("Mul", &[&left, &right]));
    }
    graph.beside(&parts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Functions that are cubics between the same points: below the first point, between two, and from the last on.
struct Pieces {
    /// The points, increasing.
    points: Vec<f64>,
    /// For each piece, one more than points: from where its cubics count.
    origins: Vec<f64>,
    /// For each power from 0, each piece, each function.
    coefficients: [Vec<Vec<f64>>; 4],
}

impl Pieces {
    /// The splines of a column: natural, so linear outside their knots.
    fn of(splines: &Splines) -> Self {
        let knots = splines.standard_knots();
        let last = knots.len() - 1;
        let mut coefficients: [Vec<Vec<f64>>; 4] = Default::default();
        let mut origins = Vec::new();
        for piece in 0..=knots.len() {
            // The interval whose tangent goes on outside.
            let k = piece.saturating_sub(1).min(last - 1);
            let h = knots[k + 1] - knots[k];
            origins.push(knots[piece.saturating_sub(1)]);
            let cubic = |(y, m): (&Vec<f64>, &Vec<f64>)| {
                let slope = (y[k + 1] - y[k]) / h;
                match piece {
                    0 => [y[0], slope - h * m[1] / 6.0, 0.0, 0.0],
                    _ if piece == knots.len() => [y[last], slope + h * m[last - 1] / 6.0, 0.0, 0.0],
                    _ => {
                        let start = slope - h * (2.0 * m[k] + m[k + 1]) / 6.0;
                        [y[k], start, m[k] / 2.0, (m[k + 1] - m[k]) / (6.0 * h)]
                    }
                }
            };
            let cubics: Vec<[f64; 4]> =
                splines.values().iter().zip(splines.second_derivatives()).map(cubic).collect();
            for (power, of_power) in coefficients.iter_mut().enumerate() {
                of_power.push(cubics.iter().map(|cubic| cubic[power]).collect());
            }
        }
        Self { points: knots.to_vec(), origins, coefficients }
    }

    /// One function with these values at the points: linear between them, constant outside.
    fn interpolated(points: &[f64], values: &[f64]) -> Self {
        let slope = |k: usize| (values[k + 1] - values[k]) / (points[k + 1] - points[k]);
        let last = points.len() - 1;
        let (mut origins, mut starts, mut slopes) = (vec![points[0]], vec![vec![values[0]]], vec![vec![0.0]]);
        for k in 0..=last {
            origins.push(points[k]);
            starts.push(vec![values[k]]);
            slopes.push(vec![if k == last { 0.0 } else { slope(k) }]);
        }
        let zeros = vec![vec![0.0]; points.len() + 1];
        Self { points: points.to_vec(), origins, coefficients: [starts, slopes, zeros.clone(), zeros] }
    }
}

/// The functions at a column of numbers, side by side.
fn piecewise(graph: &mut Graph, z: &str, pieces: &Pieces) -> Value {
    // The number of points up to z is the number of the piece.
    let points = graph.row(pieces.points.iter().copied());
    let reached = graph.apply("GreaterOrEqual", &[z, &points]);
    let reached = graph.cast(&reached, Element::I64);
    let piece = graph.row_sums(&reached, false);
    let origins = graph.numbers(&[pieces.origins.len(), 1], pieces.origins.iter().copied());
    let origin = graph.apply("Gather", &[&origins, &piece]);
    let u = graph.apply("Sub", &[z, &origin]);
    let is_linear = pieces.coefficients[2..].iter().flatten().flatten().all(|&c| c == 0.0);
    let mut sum: Option<Value> = None;
    for of_power in pieces.coefficients[..if is_linear { 2 } else { 4 }].iter().rev() {
        let table = graph.numbers(&[of_power.len(), of_power[0].len()], of_power.iter().flatten().copied());
        let own = graph.apply("Gather", &[&table, &piece]);
        sum = Some(match sum {
            None => own,
            Some(sum) => {
                let raised = graph.apply("Mul", &[&sum, &u]);
                graph.apply("Add", &[&raised, &own])
            }
        });
    }
    sum.unwrap_or(u)
}

/// The features without their centres, or as rows of unit length, and what they are still to be divided by.
///
/// The weights are divided, not the features: onnxruntime takes a division by a constant before a product of matrices for a factor
/// of that product, and rounds the factor to 32 bits.
fn scaled<'a>(graph: &mut Graph, x: &str, scaler: &'a Scaler) -> (Value, &'a [f64]) {
    match scaler {
        Scaler::None => (x.to_string(), &[]),
        Scaler::MaxAbs { divisor } => (x.to_string(), divisor),
        Scaler::Standard(standard) => {
            let means = graph.row(standard.mean().iter().copied());
            (graph.apply("Sub", &[x, &means]), standard.divisor())
        }
        Scaler::UnitRows => {
            let squares = graph.apply("Mul", &[x, x]);
            let sums = graph.row_sums(&squares, true);
            let lengths = graph.apply("Sqrt", &[&sums]);
            // A row of zeros stays one.
            let (zero, one) = (graph.numbers(&[], [0.0]), graph.numbers(&[], [1.0]));
            let is_zero = graph.apply("Equal", &[&lengths, &zero]);
            let divisors = graph.apply("Where", &[&is_zero, &one, &lengths]);
            (graph.apply("Div", &[x, &divisors]), &[])
        }
    }
}

/// 1 for each row where the value, a column, is at least the number, otherwise 0.
fn at_least(graph: &mut Graph, column: &str, number: f64) -> Value {
    let number = graph.numbers(&[], [number]);
    let reached = graph.apply("GreaterOrEqual", &[column, &number]);
    let place = graph.cast(&reached, Element::I64);
    graph.shaped(&place, &[-1])
}

/// A probability that is neither 0 nor 1.
fn clamped(graph: &mut Graph, p: &str) -> Value {
    let (least, most) = (graph.numbers(&[], [MIN]), graph.numbers(&[], [1.0 - MIN]));
    graph.apply("Clip", &[p, &least, &most])
}

/// The probability of the positive side, as a column.
fn probability_of_pair(graph: &mut Graph, scores: &str, calibration: &Calibration) -> Value {
    let p = match calibration {
        Calibration::Natural | Calibration::Temperature { .. } => graph.apply("Sigmoid", &[scores]),
        Calibration::Sigmoid { slope, intercept } => {
            let (slope, intercept) = (graph.numbers(&[], [*slope]), graph.numbers(&[], [*intercept]));
            let product = graph.apply("Mul", &[scores, &slope]);
            let odds = graph.apply("Add", &[&product, &intercept]);
            graph.apply("Sigmoid", &[&odds])
        }
        Calibration::Isotonic { scores: points, probabilities } => {
            piecewise(graph, scores, &Pieces::interpolated(points, probabilities))
        }
    };
    clamped(graph, &p)
}

fn probabilities_of_classes(graph: &mut Graph, scores: &str, calibration: &Calibration) -> Value {
    let scores = match calibration {
        Calibration::Temperature { inverse } => {
            let inverse = graph.numbers(&[], [*inverse]);
            graph.apply("Mul", &[scores, &inverse])
        }
        _ => scores.to_string(),
    };
    let shares = graph.apply_with("Softmax", &[&scores], &[("axis", Attribute::Number(1))]);
    clamped(graph, &shares)
}

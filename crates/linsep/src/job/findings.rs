//! Everything that a page about a data set tells: the rows in figures, learners side by side, a model judged on rows that it has
//! not seen, the verdict on separation, and the proof of a run.

use super::data::load_model;
use super::separate::SeparationTasks;
use super::view::View;
use super::{
    ClassSpec, CompareSpec, DataSpec, EvaluateSpec, Evaluated, JudgedRow, SeparateSpec, Separated,
    SeparationView, TrainSpec, Trained, WhichRows,
};
use crate::dataset::Dataset;
use crate::features::{Column, ColumnKind, Missing, Scaling, Schema};
use crate::model::Model;
use crate::observe::{Note, Observer};
use crate::prepare::Preparation;
use crate::read::Format;
use crate::separate::ColumnDetail;
use crate::train::{ClassWeight, Learner, Options};
use crate::validate::compare::Comparison;
use crate::{Error, SettingsError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The share of the rows that is held out where nothing is said.
const HOLDOUT: f64 = 0.25;
/// Features whose numbers are kept.
const MAX_FEATURES: usize = 200;

/// A request for findings about rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingsSpec {
    /// The rows, and how a model is learned from them; a quarter of them is held out if nothing is said.
    pub train: TrainSpec,
    /// A model that is judged on all rows, instead of learning one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<PathBuf>,
    /// Stop each run of the comparison, the run that is followed, and the decision about separation after this many seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<f64>,
}

/// The numbers of one feature over all rows.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureFigures {
    /// Its name.
    pub name: String,
    /// The least value.
    pub least: f64,
    /// The mean.
    pub mean: f64,
    /// The greatest value.
    pub greatest: f64,
    /// Rows in which it is not zero.
    pub nonzero: u64,
}

/// The rows in figures.
#[derive(Clone, Debug, PartialEq)]
pub struct DataFigures {
    /// The name of the data.
    pub source: String,
    /// Its format.
    pub format: String,
    /// Rows, each as often as it counts.
    pub rows: u64,
    /// Rows of the file that represent them, where rows have counts or weights.
    pub rows_of_file: Option<u64>,
    /// Features, words counted one by one.
    pub features: u64,
    /// Values that are not zero.
    pub nonzeros: u64,
    /// The columns with missing cells, and how many each has in the file.
    pub missing: Vec<(String, u64)>,
    /// How they are treated; unknown for a cache, and decided by the model if one was given.
    pub treated: Option<Missing>,
    /// Malformed rows that were skipped.
    pub skipped: u64,
    /// Rows left out for a missing cell or label.
    pub dropped: u64,
    /// The classes, each with its rows.
    pub classes: Vec<(String, u64)>,
    /// The first features.
    pub columns: Vec<FeatureFigures>,
    /// The fingerprint of the rows as read.
    pub fingerprint: String,
}

/// A model, and what rows that it was judged on tell.
#[derive(Debug)]
pub struct JudgedModel {
    /// The model.
    pub model: Model,
    /// How it was made, unless it was given.
    pub trained: Option<Trained>,
    /// The measures.
    pub evaluated: Evaluated,
    /// Every row by itself.
    pub rows: Vec<JudgedRow>,
    /// Which rows these are.
    pub which: WhichRows,
    /// The rows on a plane, where the model can be drawn.
    pub view: Option<View>,
}

/// The findings about a data set, for the HTML report.
#[derive(Debug)]
pub struct Findings {
    /// The specification.
    pub spec: FindingsSpec,
    /// The rows.
    pub data: DataFigures,
    /// The model.
    pub judged: JudgedModel,
    /// Comparison of learners; not where a model was given.
    pub comparison: Option<Comparison>,
    /// The verdict; none on rows of one class, which a given model can be judged on.
    pub separated: Option<Separated>,
    /// The verdict on a plane, for two sides.
    pub separation: Option<SeparationView>,
    /// A perceptron that was followed, for two sides; not where a model was given.
    pub followed: Option<Trained>,
}

impl FindingsSpec {
    /// Finds out everything. An interruption leaves nothing.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Findings, Error> {
        super::refuse_reading_twice(&self.train.data)?;
        let as_read = self.as_the_model_reads(observer)?;
        let data = as_read.figures(observer)?;
        let judged = self.judged(observer)?;
        let mut quiet = Quiet(observer);
        let comparison = match self.model {
            None => Some(self.comparison().run(&mut quiet)?),
            Some(_) => None,
        };
        stop(&quiet)?;
        let separated = match (&self.model, data.classes.len()) {
            (Some(_), ..2) => None,
            _ => Some(as_read.separation().run(&mut quiet)?),
        };
        stop(&quiet)?;
        let two = separated.as_ref().filter(|separated| separated.sides == SeparationTasks::Two);
        let separation = match two {
            Some(separated) => Some(SeparationView::of(separated, &mut quiet)?),
            None => None,
        };
        let followed = match (&self.model, two) {
            (None, Some(_)) => Some(self.followed().run(&mut quiet)?),
            _ => None,
        };
        stop(&quiet)?;
        Ok(Findings { spec: self.clone(), data, judged, comparison, separated, separation, followed })
    }

    /// The rows as `train` reads them.
    fn data(&self) -> DataSpec {
        self.train.data.with_missing(Missing::Auto)
    }

    /// The same with the label of the model that is given, unless another is named, and without the columns that it does not use.
    fn as_the_model_reads(&self, observer: &mut dyn Observer) -> Result<Self, Error> {
        let mut spec = self.clone();
        let Some(path) = &self.model else { return Ok(spec) };
        let Schema::Table { header, columns: of_model, .. } = load_model(path)?.recipe.columns else {
            return Ok(spec);
        };
        let label = of_model.iter().find(|column| matches!(column.kind, ColumnKind::Label));
        let csv = &mut spec.train.data.read.csv;
        csv.label = csv.label.take().or_else(|| label.map(|column| column.name.clone()));
        // What is no table has its label in its place.
        let Ok(loaded) = spec.data().load(&mut Quiet(observer)) else { return Ok(self.clone()) };
        let Schema::Table { header: has_names, columns, .. } = loaded.schema else { return Ok(self.clone()) };
        // A model of documents takes any column of texts.
        let is_document = |of: &Column| matches!(&of.kind, ColumnKind::Text(text) if text.documents);
        if of_model.iter().any(is_document) {
            return Ok(spec);
        }
        let is_used = |place: usize, name: &String| {
            let own = match header && has_names {
                true => of_model.iter().find(|of| of.name == *name),
                false => of_model.get(place),
            };
            own.is_some_and(|of| of.kind.features().is_some())
        };
        let kept = columns
            .iter()
            .enumerate()
            .filter(|(place, of)| of.names_rows.is_some() && is_used(*place, &of.name));
        spec.train.data.read.csv.keep.extend(kept.map(|(_, column)| column.name.clone()));
        // That of the counts is no feature, and stays.
        let unused = columns
            .into_iter()
            .enumerate()
            .filter(|(place, of)| of.kind.features().is_some() && !is_used(*place, &of.name))
            .map(|(_, column)| column.name);
        spec.train.data.read.csv.ignore.extend(unused);
        Ok(spec)
    }

    fn figures(&self, observer: &mut dyn Observer) -> Result<DataFigures, Error> {
        let mut quiet = Quiet(observer);
        let (source, options) = self.data().resolve(&mut quiet)?;
        let classes = &self.train.classes;
        let mut loaded = self.data().read_weighted(&source, &options, classes, &mut quiet)?;
        // That of the rows as they were read, as a model keeps it.
        let fingerprint =
            loaded.fingerprint.take().unwrap_or_else(|| loaded.dataset.fingerprint().to_string());
        let columns = Preparation::default().columns(loaded.schema, loaded.dataset, None)?;
        let data = classes.kept(columns.train)?;
        let counts = data.class_counts().into_iter().map(|count| count as u64);
        let weighted = self.train.data.counts.is_some() || classes.row_weights.is_some();
        let rows_of_file =
            weighted.then(|| (0..data.len()).map(|i| data.line(i)).collect::<BTreeSet<_>>().len() as u64);
        Ok(DataFigures {
            source: self.train.data.source.name(),
            format: loaded.notes.format.clone(),
            rows: data.len() as u64,
            rows_of_file,
            features: data.columns() as u64,
            nonzeros: data.nonzeros() as u64,
            missing: std::mem::take(&mut loaded.notes.missing),
            treated: (self.model.is_none() && loaded.format != Format::LINSEP).then_some(options.csv.missing),
            skipped: loaded.notes.skipped,
            dropped: loaded.notes.dropped,
            classes: data.classes().iter().cloned().zip(counts).filter(|(_, count)| *count > 0).collect(),
            columns: features(&data, &columns.schema),
            fingerprint,
        })
    }

    fn judged(&self, observer: &mut dyn Observer) -> Result<JudgedModel, Error> {
        if let Some(path) = &self.model {
            let model = load_model(path)?;
            let row_weights = self.train.classes.row_weights.clone();
            let data = self.train.data.clone();
            let spec = EvaluateSpec { model: path.clone(), data, row_weights, threshold: None };
            let (evaluated, rows) = spec.run_with_rows(&model, observer)?;
            let which = evaluated.which_rows();
            let view = self.view(&model, observer)?;
            return Ok(JudgedModel { model, trained: None, evaluated, rows, which, view });
        }
        let holdout = self.train.holdout.or(Some(HOLDOUT));
        let learner = self.train.learner.as_deref().map(Learner::named).transpose()?;
        let probabilities = learner.is_none_or(|learner| learner.abilities().scores_new_rows);
        let spec = TrainSpec { holdout, probabilities, keep_held_out: true, ..self.train.clone() };
        let mut trained = spec.run(observer)?;
        stop(observer)?;
        if !trained.status.has_model() {
            let learner = trained.model.settings.learner.name();
            let reason = format!("{learner} finds no model on these rows: choose another ⟦learner⟧");
            return Err(SettingsError::new("learner", reason).into());
        }
        let Some(held_out) = trained.held_out.as_mut() else { return Err(Error::Interrupted) };
        let (evaluated, rows) = (held_out.evaluated.clone(), std::mem::take(&mut held_out.judged));
        let model = trained.model.clone();
        let view = self.view(&model, observer)?;
        Ok(JudgedModel { model, trained: Some(trained), evaluated, rows, which: WhichRows::HeldOut, view })
    }

    /// The rows on a plane; `None` where such a model cannot be drawn.
    fn view(&self, model: &Model, observer: &mut dyn Observer) -> Result<Option<View>, Error> {
        let row_weights = self.train.classes.row_weights.as_deref();
        match View::of(model.clone(), &self.train.data, row_weights, &mut Quiet(observer)) {
            Ok(view) => Ok(Some(view)),
            Err(Error::Settings(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn comparison(&self) -> CompareSpec {
        CompareSpec {
            data: self.train.data.clone(),
            classes: self.train.classes.clone(),
            scale: self.train.scale.unwrap_or(Scaling::Auto),
            bias: self.train.bias,
            order: self.train.order,
            max_seconds: self.max_seconds,
            seed: self.train.seed.unwrap_or(0),
            ..CompareSpec::default()
        }
    }

    fn separation(&self) -> SeparateSpec {
        SeparateSpec {
            data: self.data(),
            positive: self.train.classes.positive.clone(),
            only: self.train.classes.only.clone(),
            row_weights: self.train.classes.row_weights.clone(),
            max_seconds: self.max_seconds,
            seed: self.train.seed.unwrap_or(0),
            columns: Some(ColumnDetail::Usual),
            ..SeparateSpec::default()
        }
    }

    /// A perceptron on all rows, whose proof is followed.
    fn followed(&self) -> TrainSpec {
        TrainSpec {
            learner: Some("perceptron".to_string()),
            options: Options::new(),
            keep_trace: true,
            holdout: None,
            probabilities: false,
            threshold: None,
            features: None,
            max_pairs: None,
            shards: None,
            mixing: None,
            classes: ClassSpec { weight: ClassWeight::Equal, ..self.train.classes.clone() },
            max_seconds: self.max_seconds,
            ..self.train.clone()
        }
    }
}

fn stop(observer: &dyn Observer) -> Result<(), Error> {
    if observer.will_stop() { Err(Error::Interrupted) } else { Ok(()) }
}

/// The numbers of the first features.
fn features(data: &Dataset, schema: &Schema) -> Vec<FeatureFigures> {
    let shown = data.columns().min(MAX_FEATURES);
    // Values that are not stored are zeros.
    let mut found = vec![(f64::INFINITY, 0.0, f64::NEG_INFINITY, 0u64, 0u64); shown];
    for i in 0..data.len() {
        for (j, x) in data.row(i).iter().take_while(|(j, _)| *j < shown) {
            let (least, sum, greatest, stored, nonzero) = &mut found[j];
            (*least, *greatest) = (least.min(x), greatest.max(x));
            *sum += x;
            *stored += 1;
            *nonzero += u64::from(x != 0.0);
        }
    }
    let rows = data.len() as u64;
    let figures = |(j, (least, sum, greatest, stored, nonzero)): (usize, (f64, f64, f64, u64, u64))| {
        let zeros = if stored < rows { 0.0 } else { least };
        FeatureFigures {
            name: schema.feature_name(j),
            least: least.min(zeros),
            mean: sum / rows.max(1) as f64,
            greatest: if stored < rows { greatest.max(0.0) } else { greatest },
            nonzero,
        }
    };
    found.into_iter().enumerate().map(figures).collect()
}

/// Passes progress on, and no notes: what there is to say was said when the model was learned, and is on the page.
struct Quiet<'a>(&'a mut dyn Observer);

impl Observer for Quiet<'_> {
    fn progress(&mut self, progress: &crate::observe::Progress) -> std::ops::ControlFlow<()> {
        self.0.progress(progress)
    }

    fn will_stop(&self) -> bool {
        self.0.will_stop()
    }

    fn note(&mut self, note: Note<'_>) {
        if let Note::Warning(_) = note {
            self.0.note(note);
        }
    }
}

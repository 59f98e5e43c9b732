//! Rows as a model sees them, on a plane: what a picture of a boundary shows.

use super::DataSpec;
use super::counts::{counts_by_line, file_counts_by_line};
use super::data::load_model;
use crate::dataset::{Dataset, Row};
use crate::features::{RecipeBuffer, Scaler};
use crate::model::{Model, Predictor};
use crate::numbers::counted;
use crate::observe::{Note, Observer};
use crate::read::{Source, read};
use crate::theory::plane::Plane;
use crate::theory::trace::TracePoint;
use crate::theta::Theta;
use crate::train::{Learned, Learner};
use crate::{Error, SettingsError};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Cells along each side of the grid that a curved boundary is found on.
const GRID: usize = 160;
/// The most classes whose borders are drawn.
const MAX_CLASSES: usize = 24;

/// Which rows are seen by which model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewSpec {
    /// The model.
    pub model: PathBuf,
    /// The labelled rows.
    pub data: DataSpec,
    /// A file with one number for each row: how often it occurs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_weights: Option<PathBuf>,
}

/// The axes of a plane.
#[derive(Clone, Debug, PartialEq)]
pub enum PlaneAxes {
    /// Two features of the rows as read, by their names.
    Features([String; 2]),
    /// The signed distance to the boundary, and the main direction across it, with the share of the variance across the
    /// boundary that it shows. Distances are those of the features as they are learned from.
    Boundary {
        /// That share.
        shown: f64,
    },
    /// One feature: the signed distance to the boundary; the classes are drawn above each other.
    OneFeature,
}

/// A row on a plane.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenRow {
    /// Its place.
    pub at: [f64; 2],
    /// Where it stands in its source, from 1.
    pub line: u64,
    /// How often it counts.
    pub times: u64,
    /// The true class, as a place among the classes of the view.
    pub class: usize,
    /// Whether another class is predicted.
    pub wrong: bool,
    /// Whether the margin rests on it.
    pub rests: bool,
}

/// Where predictions change.
#[derive(Clone, Debug, PartialEq)]
pub enum Border {
    /// Where ax + by + c = 0; this is the score.
    Line([f64; 3]),
    /// For each border, numbers on a grid, row by row from the lowest, that change their sign there.
    Curves(Vec<Vec<f64>>),
}

/// The band around a boundary that no row, or only ringed rows, are in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margin {
    /// The scores at its edges are this and its negative.
    pub half: f64,
    /// Whether it is that of the hinge loss: rows may be within it.
    pub soft: bool,
}

/// Rows on a plane.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The name of the data.
    pub source: String,
    /// The classes; of two sides, the negative one first.
    pub classes: Vec<String>,
    /// The axes.
    pub axes: PlaneAxes,
    /// Whether distances are those of scaled features.
    pub scaled: bool,
    /// The least and the greatest of each coordinate that is shown.
    pub limits: [[f64; 2]; 2],
    /// All rows.
    pub rows: Vec<SeenRow>,
}

impl Scene {
    /// Such rows, each as often as it counts.
    pub fn count(&self, which: impl Fn(&SeenRow) -> bool) -> u64 {
        self.rows.iter().filter(|row| which(row)).map(|row| row.times).sum()
    }

    /// Finds the limits: those of the rows with some room, and where the first axis is a distance, the boundary.
    pub(super) fn settle_limits(&mut self) {
        self.limits = [0, 1].map(|k| {
            let values = || self.rows.iter().map(|row| row.at[k]);
            let (low, high) =
                (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
            let room = if high > low { 0.06 * (high - low) } else { 0.5 * low.abs().max(1.0) };
            let room = if self.axes == PlaneAxes::OneFeature && k == 1 { 0.6 } else { room };
            [low - room, high + room]
        });
        if !matches!(self.axes, PlaneAxes::Features(_)) {
            let [low, high] = self.limits[0];
            let room = 0.06 * (high - low);
            self.limits[0] = [low.min(-room), high.max(room)];
        }
    }
}

/// Rows as a model sees them.
#[derive(Clone, Debug)]
pub struct View {
    /// All rows of classes that the model knows.
    pub scene: Scene,
    /// The learner of the model.
    pub learner: &'static str,
    /// Where predictions change.
    pub border: Border,
    /// Cells along each side of the grid of a curved border.
    pub grid: usize,
    /// The margin, where there is one.
    pub margin: Option<Margin>,
    /// Rows predicted wrong, each as often as it counts.
    pub errors: u64,
    model: Model,
    plane: Option<Plane>,
}

impl ViewSpec {
    /// Reads the model and the rows.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<View, Error> {
        View::of(load_model(&self.model)?, &self.data, self.row_weights.as_deref(), observer)
    }
}

impl View {
    /// The rows of a source as a model sees them, where a file may say how often each occurs.
    pub fn of(
        model: Model,
        data: &DataSpec,
        row_weights: Option<&Path>,
        observer: &mut dyn Observer,
    ) -> Result<Self, Error> {
        let mut options = data.read.clone();
        options.schema = Some(model.recipe.columns.clone());
        let loaded = read(&data.source, &options, observer)?;
        let source = data.source.name();
        // The columns of the model leave that of the counts out: it is read by itself.
        let rows = &loaded.dataset;
        let counts = match row_weights {
            Some(path) => Some(file_counts_by_line(rows, path)?),
            None => counts_by_line(data, &model.recipe.columns, observer)?,
        };
        let Some(counts) = counts else { return Self::of_rows(model, rows, source, observer) };
        let occurring: Vec<usize> = (0..rows.len()).filter(|&i| counts.contains_key(&rows.line(i))).collect();
        let mut view = Self::of_rows(model, &rows.subset(&occurring)?, source, observer)?;
        // Other weights are no counts.
        if counts.values().all(|count| count.fract() == 0.0) {
            view.scene.rows.iter_mut().for_each(|row| row.times = counts[&row.line] as u64);
            view.errors = view.scene.count(|row| row.wrong);
        }
        Ok(view)
    }

    /// Rows in memory, as they were read by the columns of the model, as it sees them.
    pub fn of_rows(
        model: Model,
        data: &Dataset,
        source: String,
        observer: &mut dyn Observer,
    ) -> Result<Self, Error> {
        let flat = model.recipe.columns.features() == 2;
        let classes = model.classes.outcomes();
        if !flat {
            refuse_plane(&model)?;
        } else if classes.len() > MAX_CLASSES {
            let problem =
                format!("a picture shows at most {MAX_CLASSES} classes, and there are {}", classes.len());
            return Err(SettingsError::new("classes", problem).into());
        }
        let outcomes = model.classes.outcomes_of(data.classes());
        let known: Vec<usize> =
            (0..data.len()).filter(|&i| outcomes[data.labels()[i] as usize].is_some()).collect();
        if known.is_empty() {
            return Err(Error::Rows {
                place: source,
                problem: "no row has a label that the model knows".into(),
            });
        }
        if known.len() < data.len() {
            let rows = counted((data.len() - known.len()) as u64, "row is", "rows are");
            observer.note(Note::Remark(&format!("{rows} left out: the model does not know their labels.")));
        }
        let plane = if flat { None } else { Some(plane_of(&model, data, &known)?) };
        let scene = Scene {
            source,
            axes: match &plane {
                None => PlaneAxes::Features([0, 1].map(|j| model.recipe.columns.feature_name(j))),
                Some(_) if model.recipe.features() == 1 => PlaneAxes::OneFeature,
                Some(plane) => PlaneAxes::Boundary { shown: plane.shown() },
            },
            scaled: model.recipe.scaling != Scaler::None,
            classes,
            limits: [[0.0, 1.0]; 2],
            rows: Vec::new(),
        };
        let mut view = Self {
            scene,
            learner: model.settings.learner.name(),
            border: Border::Curves(Vec::new()),
            grid: GRID,
            margin: None,
            errors: 0,
            model,
            plane,
        };
        view.see(data, &outcomes, observer)?;
        view.scene.settle_limits();
        view.border = view.find_border();
        Ok(view)
    }

    /// Predicts every row and finds its place; then the margin and the rows that it rests on.
    fn see(
        &mut self,
        data: &Dataset,
        outcomes: &[Option<usize>],
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        let model = &self.model;
        let mut buffer = RecipeBuffer::default();
        let (mut agreements, mut rows) = (Vec::new(), Vec::new());
        let whole = model.predict_watched(data, observer, |predictor, i| {
            let Some(class) = outcomes[data.labels()[i] as usize] else { return };
            let found = predictor.predict(data.row(i));
            let at = match &self.plane {
                None => two(data.row(i)),
                Some(plane) => {
                    let row = data.row(i).truncated(model.recipe.columns.features());
                    let [along, across] = plane.place(model.recipe.apply(row, &mut buffer));
                    [along, if self.scene.axes == PlaneAxes::OneFeature { class as f64 } else { across }]
                }
            };
            agreements.push(if class == 1 { found.score } else { -found.score });
            let (line, wrong) = (data.line(i), found.outcome != class);
            rows.push(SeenRow { at, line, times: 1, class, wrong, rests: false });
        });
        if !whole || observer.will_stop() {
            return Err(Error::Interrupted);
        }
        self.errors = rows.iter().filter(|row| row.wrong).count() as u64;
        self.scene.rows = rows;
        let two_sides = self.model.classes.pair().is_some() && self.model.threshold.is_none();
        if two_sides && self.model.learned.linear().is_some() {
            self.margin = margin_of(&self.model.settings.learner, &agreements);
        }
        if let Some(margin) = self.margin {
            // Those on the margin itself are there but for rounding, or for the gap of the optimum.
            let gap = if self.model.settings.learner.abilities().widens_margin { 1e-3 } else { 1e-9 };
            let most = margin.half * (1.0 + gap);
            self.scene
                .rows
                .iter_mut()
                .zip(agreements)
                .for_each(|(row, agreement)| row.rests = agreement <= most);
        }
        Ok(())
    }

    fn find_border(&self) -> Border {
        if self.plane.is_some() || self.is_straight() {
            return Border::Line(self.line_of(self.model.learned.theta()).unwrap_or_default());
        }
        let [across, up] = self.scene.limits;
        let step = |[low, high]: [f64; 2], k: usize| low + (high - low) * k as f64 / (GRID - 1) as f64;
        let cells: Vec<[f64; 2]> =
            (0..GRID * GRID).map(|k| [step(across, k % GRID), step(up, k / GRID)]).collect();
        match &self.model.learned {
            learned if learned.is_of_classes() => {
                let scores: Vec<Vec<f64>> = cells
                    .par_iter()
                    .map_init(RecipeBuffer::default, |buffer, cell| {
                        let row = self.model.recipe.apply(Row::DenseF64(cell), buffer);
                        learned.parts().iter().map(|learned| learned.score(row)).collect()
                    })
                    .collect();
                let lead = |class: usize| {
                    let of = |scores: &Vec<f64>| {
                        let others = scores.iter().enumerate().filter(|(other, _)| *other != class);
                        scores[class] - others.map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max)
                    };
                    scores.iter().map(of).collect()
                };
                Border::Curves((0..self.model.learned.parts().len()).map(lead).collect())
            }
            _ => {
                let predictor = Predictor::new(&self.model);
                let score = |predictor: &mut Predictor<'_>, cell: &[f64; 2]| {
                    let found = predictor.predict(Row::DenseF64(cell));
                    // A threshold of probabilities moves the boundary away from the score 0.
                    match (&self.model.threshold, found.probability) {
                        (Some(threshold), Some(probability)) => probability - threshold.probability,
                        _ => found.score,
                    }
                };
                Border::Curves(vec![cells.par_iter().map_init(|| predictor.clone(), score).collect()])
            }
        }
    }

    /// Whether the boundary of two features is a line.
    fn is_straight(&self) -> bool {
        self.model.learned.linear().is_some()
            && self.model.classes.pair().is_some()
            && self.model.recipe.expansion.is_none()
            && self.model.threshold.is_none()
            && self.model.in_units_of(0).is_some()
    }

    /// The line [a, b, c] with ax + by + c = 0 on the plane of other weights of the same features as they are learned from.
    pub fn line_of(&self, theta: &Theta) -> Option<[f64; 3]> {
        if let Some(plane) = &self.plane {
            return Some(plane.line(theta));
        }
        let mut own = self.model.clone();
        own.learned = Learned::Linear(theta.clone());
        let units = own.in_units_of(0).filter(|units| units.weights.len() == 2)?;
        Some([units.weights[0], units.weights[1], units.intercept])
    }

    /// The line of a moment of the run that made the model.
    pub fn line_at(&self, point: &TracePoint) -> Option<[f64; 3]> {
        match point.theta() {
            Some(theta) => self.line_of(&theta),
            None => point.projection,
        }
    }

    /// Whether the model knows rows by heart, and says the same of all others.
    pub fn is_by_heart(&self) -> bool {
        !self.model.settings.learner.abilities().scores_new_rows
    }

    /// Whether the boundary of a line is none, because no feature has a weight.
    pub fn weighs_nothing(&self) -> bool {
        matches!(self.border, Border::Line([a, b, _]) if a == 0.0 && b == 0.0)
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }
}

/// The two numbers of a row.
pub(super) fn two(row: Row<'_>) -> [f64; 2] {
    let mut at = [0.0; 2];
    row.iter().filter(|(j, _)| *j < 2).for_each(|(j, x)| at[j] = x);
    at
}

/// Half the width of the margin in scores: of the hinge loss, or of the nearest row where every row is right.
fn margin_of(learner: &Learner, agreements: &[f64]) -> Option<Margin> {
    if learner.abilities().soft_margin {
        return Some(Margin { half: 1.0, soft: true });
    }
    let least = agreements.iter().copied().fold(f64::INFINITY, f64::min);
    (least > 0.0).then_some(Margin { half: least, soft: false })
}

/// Refuses what has no boundary on a plane of its own.
fn refuse_plane(model: &Model) -> Result<(), Error> {
    let features = model.recipe.columns.features();
    let columns = "two columns, with the others left out by ⟦ignore⟧";
    if model.classes.pair().is_none() {
        let problem = format!(
            "{} classes on {features} features cannot be drawn on one plane: choose {columns}, or two sides with \
             ⟦positive=CLASS⟧ or ⟦classes=A,B⟧",
            model.classes.outcomes().len()
        );
        return Err(SettingsError::new("positive", problem).into());
    }
    if model.learned.linear().is_none() {
        let problem = format!(
            "the score of {} is not a linear function of the features, so {features} features cannot be \
             drawn on one plane: choose {columns}",
            model.settings.learner.name()
        );
        return Err(SettingsError::new("learner", problem).into());
    }
    Ok(())
}

/// The plane of the boundary, for rows as they are learned from.
fn plane_of(model: &Model, data: &Dataset, known: &[usize]) -> Result<Plane, Error> {
    let prepared;
    let recipe = &model.recipe;
    let data = if known.len() < data.len() { &data.subset(known)? } else { data };
    let all = if recipe.expansion.is_none() && recipe.scaling == Scaler::None {
        data
    } else {
        prepared = recipe.scaling.apply_all(recipe.expansion.apply_all(data.clone())?)?;
        &prepared
    };
    Plane::of(all, model.learned.theta()).ok_or_else(|| {
        SettingsError::new("learner", "all weights are zero, so there is no boundary to draw").into()
    })
}

/// Refuses standard input where rows are read to learn from them, and again to draw them.
pub fn refuse_reading_twice(data: &DataSpec) -> Result<(), SettingsError> {
    match data.source {
        Source::Stdin => {
            let problem = "the rows are read twice, for training and for drawing, which standard input does \
                           not allow: name a file";
            Err(SettingsError::new("data", problem))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{SeparateSpec, SeparationView, TrainSpec};

    /// Rows in a file of their own.
    fn rows(features: usize, count: usize) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rows.csv");
        let names: Vec<String> = (0..features).map(|j| format!("x{j}")).collect();
        let mut text = format!("{},label\n", names.join(","));
        for i in 0..count {
            let value = |j: usize| ((i * (7 + 4 * j) + j * j) % 23) as f64 / 3.0;
            let cells: Vec<String> = (0..features).map(|j| value(j).to_string()).collect();
            let label = if value(0) - 0.4 * value(1.min(features - 1)) > 2.1 { "yes" } else { "no" };
            text.push_str(&format!("{},{label}\n", cells.join(",")));
        }
        std::fs::write(&file, text).unwrap();
        (folder, file)
    }

    fn view(features: usize, learner: &str) -> (View, Dataset, tempfile::TempDir) {
        let (folder, file) = rows(features, 120);
        let spec = TrainSpec { learner: Some(learner.into()), ..TrainSpec::file(&file) };
        let model = spec.run(&mut ()).unwrap().model;
        let data = DataSpec::file(&file).load(&mut ()).unwrap().dataset;
        (View::of(model, &DataSpec::file(&file), None, &mut ()).unwrap(), data, folder)
    }

    #[test]
    fn the_first_axis_is_the_distance_that_predict_gives() {
        for learner in ["averaged", "logistic", "svm"] {
            let (view, data, _folder) = view(5, learner);
            let mut predictor = Predictor::new(view.model());
            for (i, row) in view.scene.rows.iter().enumerate() {
                let found = predictor.predict(data.row(i));
                assert!((row.at[0].abs() - found.distance.unwrap()).abs() < 1e-9, "{learner}");
                assert_eq!((row.at[0] >= 0.0, row.line), (found.outcome == 1, i as u64 + 2));
                assert_eq!(row.wrong, found.outcome != row.class);
            }
            assert_eq!(view.errors, view.model().errors_on(&data));
            let Border::Line([a, b, c]) = view.border else { panic!("{:?}", view.border) };
            assert!(a > 0.0 && b.abs() < 1e-9 * a && c.abs() < 1e-9 * a);
        }
    }

    #[test]
    fn two_features_are_drawn_as_they_are() {
        let (view, data, _folder) = view(2, "logistic");
        let Border::Line([a, b, c]) = view.border else { panic!("{:?}", view.border) };
        let mut predictor = Predictor::new(view.model());
        for (i, row) in view.scene.rows.iter().enumerate() {
            assert_eq!(row.at, two(data.row(i)));
            let score = predictor.predict(data.row(i)).score;
            assert!((a * row.at[0] + b * row.at[1] + c - score).abs() < 1e-9 * (1.0 + score.abs()));
        }
    }

    #[test]
    fn a_curved_boundary_has_the_signs_of_the_predictions() {
        let (view, ..) = view(2, "kernel");
        let Border::Curves(curves) = &view.border else { panic!() };
        let [[left, right], [low, high]] = view.scene.limits;
        let mut predictor = Predictor::new(view.model());
        for (k, value) in curves[0].iter().enumerate().step_by(97) {
            let unit = (view.grid - 1) as f64;
            let x = left + (right - left) * (k % view.grid) as f64 / unit;
            let y = low + (high - low) * (k / view.grid) as f64 / unit;
            assert_eq!(*value >= 0.0, predictor.predict(Row::DenseF64(&[x, y])).outcome == 1);
        }
    }

    #[test]
    fn what_has_no_plane_is_refused() {
        let (_folder, file) = rows(5, 60);
        let spec = TrainSpec { learner: Some("kernel".into()), ..TrainSpec::file(&file) };
        let model = spec.run(&mut ()).unwrap().model;
        let refused = View::of(model, &DataSpec::file(&file), None, &mut ()).unwrap_err();
        assert!(matches!(refused, Error::Settings(_)), "{refused}");
    }

    /// The conflicting rows meet at one point of every plane, and a separating band is empty.
    #[test]
    fn verdicts_hold_on_the_plane() {
        for features in [2, 4] {
            let (_folder, file) = rows(features, 120);
            let separated = SeparateSpec::file(&file).run(&mut ()).unwrap();
            let view = SeparationView::of(&separated, &mut ()).unwrap();
            let (line, half) = (view.line.unwrap(), view.half.unwrap());
            for row in &view.scene.rows {
                let score = line[0] * row.at[0] + line[1] * row.at[1] + line[2];
                let agreement = if row.class == 1 { score } else { -score };
                assert!(agreement >= half * (1.0 - 1e-9), "{agreement} {half}");
            }
            // One label turned around.
            let text = std::fs::read_to_string(&file).unwrap();
            let lines: Vec<String> = text.lines().map(String::from).collect();
            let turned = |(k, line): (usize, &String)| match k {
                40 | 41 | 55 => {
                    if line.ends_with("yes") {
                        line.replace("yes", "no")
                    } else {
                        line.replace("no", "yes")
                    }
                }
                _ => line.clone(),
            };
            let text: Vec<String> = lines.iter().enumerate().map(turned).collect();
            std::fs::write(&file, text.join("\n")).unwrap();
            let separated = SeparateSpec::file(&file).run(&mut ()).unwrap();
            let view = SeparationView::of(&separated, &mut ()).unwrap();
            assert!(!view.ringed.is_empty() && view.line.is_none());
            let mut sides = [[0.0; 3]; 2];
            for ringed in &view.ringed {
                let (row, share) = (&view.scene.rows[ringed.row], ringed.share.unwrap());
                let side = &mut sides[row.class];
                (side[0], side[1], side[2]) =
                    (side[0] + share * row.at[0], side[1] + share * row.at[1], side[2] + share);
            }
            let [no, yes] = sides.map(|[x, y, all]| [x / all, y / all]);
            assert!((no[0] - yes[0]).abs() + (no[1] - yes[1]).abs() < 1e-6, "{no:?} {yes:?}");
        }
    }
}

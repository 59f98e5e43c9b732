//! A verdict on rows of a plane: the widest gap between two sides, or the conflicting rows.

use super::separate::{Separated, SeparationTasks};
use super::view::{PlaneAxes, Scene, SeenRow, two};
use crate::dataset::Dataset;
use crate::features::{Scaler, Scaling};
use crate::observe::Observer;
use crate::separate::Verdict;
use crate::theory::plane::Plane;
use crate::theta::Theta;
use crate::train::{Learner, Settings, train};
use crate::{Error, SettingsError};

/// The most rows by which the direction of the picture is chosen where no boundary tells it.
const MAX_ROWS: usize = 5000;

/// A row that the verdict is about, as a place among the rows of the scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ringed {
    /// The place.
    pub row: usize,
    /// Of conflicting rows, its share in the mixture.
    pub share: Option<f64>,
}

/// A verdict on rows of a plane.
#[derive(Clone, Debug)]
pub struct SeparationView {
    /// The rows of both sides.
    pub scene: Scene,
    /// The separating boundary: ax + by + c = 0.
    pub line: Option<[f64; 3]>,
    /// Completely separable: no row has a score below this; the boundary has length 1.
    pub half: Option<f64>,
    /// The rows nearest to the boundary, those that every boundary goes through, or those that cannot all be right.
    pub ringed: Vec<Ringed>,
}

impl SeparationView {
    /// The rows of a decision about two sides, on the plane of its boundary or, without one, on that of a logistic regression.
    pub fn of(separated: &Separated, observer: &mut dyn Observer) -> Result<Self, Error> {
        let (SeparationTasks::Two, [decided]) = (separated.sides, separated.decided.as_slice()) else {
            let problem = "a picture shows the decision about two sides: choose one with ⟦positive=CLASS⟧, or keep two with \
                           ⟦classes=A,B⟧";
            return Err(SettingsError::new("positive", problem).into());
        };
        let (data, separation) = (&separated.data, &decided.separation);
        let signs = separation.classes.signs_of(data.classes());
        let known: Vec<usize> =
            (0..data.len()).filter(|&i| signs[data.labels()[i] as usize].is_some()).collect();
        let flat = data.columns() == 2;
        let theta = separation.weights.clone();
        let mut scaled = false;
        let (mut places, axes, line): (Vec<[f64; 2]>, PlaneAxes, Option<[f64; 3]>);
        if flat {
            places = known.iter().map(|&i| two(data.row(i))).collect();
            axes = PlaneAxes::Features([0, 1].map(|j| separated.schema.feature_name(j)));
            line = theta.as_ref().map(|theta| [theta.weights[0], theta.weights[1], theta.intercept()]);
        } else {
            let prepared;
            let (rows, shown) = match &theta {
                Some(theta) => (data, theta.clone()),
                None => {
                    // Without a boundary there is no distance to keep: scaled columns show more.
                    let scaler = Scaler::learn(Scaling::Auto, data);
                    prepared = scaler.apply_all(data.clone())?;
                    scaled = scaler != Scaler::None;
                    (&prepared, direction(&prepared, separation.classes.positive.clone(), &known, observer)?)
                }
            };
            let plane = Plane::of(rows, &shown).ok_or_else(|| {
                SettingsError::new("data", "the rows differ in no feature: there is nothing to draw")
            })?;
            places = known.iter().map(|&i| plane.place(rows.row(i))).collect();
            axes = match data.columns() {
                1 => PlaneAxes::OneFeature,
                _ => PlaneAxes::Boundary { shown: plane.shown() },
            };
            line = theta.as_ref().map(|theta| plane.line(theta));
        }
        let is_positive = |i: usize| signs[data.labels()[i] as usize] == Some(1);
        if axes == PlaneAxes::OneFeature {
            places.iter_mut().zip(&known).for_each(|(at, &i)| at[1] = f64::from(u8::from(is_positive(i))));
        }
        let rows = known.iter().zip(places).map(|(&i, at)| SeenRow {
            at,
            line: data.line(i),
            times: 1,
            class: usize::from(is_positive(i)),
            wrong: false,
            rests: false,
        });
        let mut scene = Scene {
            source: separated.name(),
            classes: vec![separation.classes.negative_name(), separation.classes.positive.clone()],
            axes,
            scaled,
            limits: [[0.0, 1.0]; 2],
            rows: rows.collect(),
        };
        let place = |i: usize| known.binary_search(&i).unwrap_or(0);
        let ringed: Vec<Ringed> = match separation.verdict {
            Verdict::Complete => {
                let least = separation.closest.first().map_or(0.0, |near| near.value);
                let near = separation.closest.iter().take_while(|near| near.value <= least * (1.0 + 1e-3));
                near.map(|near| Ringed { row: place(near.row), share: None }).collect()
            }
            Verdict::QuasiComplete => {
                separation.boundary.iter().map(|&row| Ringed { row: place(row), share: None }).collect()
            }
            Verdict::Overlap | Verdict::Undecided => {
                let witness = separation.witness.iter();
                witness.map(|of| Ringed { row: place(of.row), share: Some(of.value) }).collect()
            }
        };
        ringed.iter().for_each(|ringed| scene.rows[ringed.row].rests = true);
        scene.settle_limits();
        let half = separation.margin.lower.filter(|_| separation.verdict == Verdict::Complete);
        Ok(Self { scene, line, half, ringed })
    }
}

/// The direction along which logistic regression tells the sides apart best: a choice of the picture, no result.
fn direction(
    data: &Dataset,
    positive: String,
    known: &[usize],
    observer: &mut dyn Observer,
) -> Result<Theta, Error> {
    let every = known.len().div_ceil(MAX_ROWS).max(1);
    let some: Vec<usize> = known.iter().copied().step_by(every).collect();
    let few = data.subset(&some)?;
    let few = if few.class_counts().iter().filter(|&&count| count > 0).count() > 1 {
        few
    } else {
        data.subset(known)?
    };
    let learner = Learner::named("logistic")?;
    let settings = Settings {
        learner,
        epochs: 200,
        max_seconds: Some(5.0),
        positive: Some(positive),
        ..Settings::default()
    };
    let outcome = train(&few, &settings, observer)?;
    if observer.will_stop() {
        return Err(Error::Interrupted);
    }
    match outcome.learned.linear() {
        Some(theta) if theta.weights.iter().any(|w| *w != 0.0) => Ok(theta.clone()),
        // All features the same for both sides: any direction shows as much.
        _ => Ok(Theta { weights: vec![1.0; data.columns()], bias: 0.0, bias_input: 0.0 }),
    }
}

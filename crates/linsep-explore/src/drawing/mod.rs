//! The drawing on the page: rows in a plane, boundaries, regions, and the history of a run. Computing never looks at it.

mod history;
mod pack;
mod plane;
mod region;
mod sample;

pub(crate) use history::{ClassScore, History};
pub(crate) use pack::Arrays;
pub(crate) use plane::{Line, Plane};
pub(crate) use region::region;
pub(crate) use sample::{MAX_DRAWN, sample};

use linsep::features::{RecipeBuffer, Scaler, Schema};
use linsep::{Dataset, Model, Row};
use serde::Serialize;

/// One axis of the picture. A place `x` on it represents the value `mean + x · divisor` in the units of the file.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Axis {
    name: String,
    mean: f64,
    divisor: f64,
}

impl Axis {
    fn plain(name: impl Into<String>) -> Self {
        Self { name: name.into(), mean: 0.0, divisor: 1.0 }
    }
}

/// Rows as a learner sees them: expanded and scaled by the recipe of a model, or as they are.
pub(crate) struct Seen<'a> {
    pub(crate) data: &'a Dataset,
    /// The rows that take part, in the order in which the job numbers them.
    pub(crate) rows: &'a [u32],
    recipe: Option<&'a Model>,
    /// How many features a row has in the space that is drawn.
    pub(crate) features: usize,
}

impl<'a> Seen<'a> {
    /// Rows as they were read.
    pub(crate) fn as_read(data: &'a Dataset, rows: &'a [u32]) -> Self {
        Self { data, rows, recipe: None, features: data.columns() }
    }

    /// Rows in the space in which the model was learned. Two columns that are bent, multiplied or divided by the length of
    /// their row are drawn as they are: the plane of the file says more than one of many that were made of it.
    pub(crate) fn by(model: &'a Model, data: &'a Dataset, rows: &'a [u32]) -> Self {
        if data.columns() <= 2 && !is_affine(model) {
            return Self::as_read(data, rows);
        }
        Self { data, rows, recipe: Some(model), features: model.recipe.features() }
    }

    /// The same rows as the learner sees them, wherever they are drawn.
    pub(crate) fn learned(&self, model: &'a Model) -> Self {
        Self { data: self.data, rows: self.rows, recipe: Some(model), features: model.recipe.features() }
    }

    /// Whether they are drawn where the learner sees them.
    pub(crate) fn is_learned_space(&self) -> bool {
        self.recipe.is_some()
    }

    /// Row `i` of those that take part.
    pub(crate) fn row<'b>(&'b self, i: usize, buffer: &'b mut RecipeBuffer) -> Row<'b> {
        let row = self.data.row(self.rows[i] as usize);
        match self.recipe {
            Some(model) => model.recipe.apply(row.truncated(model.recipe.columns.features()), buffer),
            None => row,
        }
    }

    /// The names of the two columns, and what a place on their axes stands for.
    pub(crate) fn column_axes(&self, schema: &Schema) -> [Axis; 2] {
        let name = |j: usize| {
            if j < self.data.columns() { schema.feature_name(j) } else { String::new() }
        };
        let axis = |j: usize| match self.recipe.map(|model| &model.recipe.scaling) {
            Some(Scaler::MaxAbs { divisor }) if j < divisor.len() => {
                Axis { divisor: divisor[j], ..Axis::plain(name(j)) }
            }
            Some(Scaler::Standard(standard)) if j < standard.divisor().len() => {
                Axis { name: name(j), mean: standard.mean()[j], divisor: standard.divisor()[j] }
            }
            _ => Axis::plain(name(j)),
        };
        [axis(0), axis(1)]
    }
}

/// The part of a picture that depends on the rows only.
pub(crate) struct Drawn<'a> {
    pub(crate) seen: &'a Seen<'a>,
    pub(crate) plane: &'a Plane,
    /// Which of the rows that take part are drawn.
    pub(crate) which: &'a [u32],
    /// The columns.
    pub(crate) schema: &'a Schema,
    /// The classes, in the order of their places.
    pub(crate) outcomes: Vec<String>,
}

impl Drawn<'_> {
    /// Packs where the rows are drawn, which rows of the file they are and of which class, and what the axes are. Gives their
    /// places.
    pub(crate) fn put(self, arrays: &mut Arrays, outcome: impl Fn(usize) -> usize) -> Vec<(f64, f64)> {
        let Self { seen, plane, which, schema, outcomes } = self;
        let mut buffer = RecipeBuffer::default();
        let places: Vec<(f64, f64)> =
            which.iter().map(|&i| plane.place(seen.row(i as usize, &mut buffer))).collect();
        arrays.put("x", places.iter().map(|place| place.0));
        arrays.put("y", places.iter().map(|place| place.1));
        arrays.put("row", which.iter().map(|&i| seen.rows[i as usize]));
        arrays.put("side", which.iter().map(|&i| outcome(i as usize).min(255) as u8));
        arrays.say("plane", &plane.name());
        arrays.say("axes", &seen.column_axes(schema));
        arrays.say("features", &seen.features);
        arrays.say("rows", &seen.rows.len());
        arrays.say("outcomes", &outcomes);
        places
    }
}

/// Whether the recipe moves and stretches each column by itself, so that lines stay lines.
fn is_affine(model: &Model) -> bool {
    model.recipe.expansion.is_none() && !matches!(model.recipe.scaling, Scaler::UnitRows)
}

//! Out-of-fold scores: every row is scored by a model that has not learned from it.
//!
//! The rows are dealt out into folds, each with its share of every class. For each fold, columns and scaling are learned on
//! the other rows ([`Preparation::fit_fold`]), a model is trained on these with the settings of the whole, and it scores the rows of
//! the fold. So the scores are as good, and as bad, as those of new rows.
//!
//! The scores of most learners have no unit: a perceptron's weights grow with its updates, so that a model of all rows
//! scores higher than one of four fifths of them. [`typical_size`] measures that on training rows, and
//! [`OutOfFold::in_units_of`] scales the scores of each fold to the size of another model.

use crate::classes::Classes;
use crate::dataset::Dataset;
use crate::features::RecipeBuffer;
use crate::numbers::counted;
use crate::observe::{Observer, Progress, in_parallel};
use crate::prepare::{Preparation, Prepared, Records};
use crate::split::folds;
use crate::train::{Learned, Settings, Status, train};
use crate::{Error, SettingsError};

/// Folds where nothing else is said.
pub const FOLDS: usize = 5;

/// The rows, and how they are learned from.
#[derive(Clone, Copy, Debug)]
pub struct OutOfFoldTask<'a> {
    /// The rows as they were read.
    pub records: &'a Records,
    /// How rows are prepared, as learned on the training rows of each fold.
    pub preparation: Preparation,
    /// The settings of each run.
    pub settings: &'a Settings,
    /// The classes that are distinguished.
    pub classes: &'a Classes,
    /// How many folds; as many as there are rows, if these are fewer.
    pub folds: usize,
}

/// Scores of rows by models that have not learned from them.
#[derive(Clone, Debug, PartialEq)]
pub struct OutOfFold {
    /// Scores of a row: 1 for two sides, else as many as there are classes.
    pub width: usize,
    /// The scores, row by row. A class that no training row of a fold has scores −∞ there.
    pub scores: Vec<f64>,
    /// The outcome of each row.
    pub truth: Vec<usize>,
    /// The place of each row among the data, increasing.
    pub rows: Vec<usize>,
    /// The fold of each row.
    pub fold: Vec<usize>,
    /// The typical size of the scores of each fold's model.
    pub sizes: Vec<f64>,
}

/// The scores of one fold.
struct Scored {
    rows: Vec<usize>,
    scores: Vec<f64>,
    truth: Vec<usize>,
    size: f64,
}

impl OutOfFoldTask<'_> {
    /// Scores every row by a model of the other folds. Rows of a class that only their own fold has are left out. An
    /// observer that breaks ends it with [`Error::Interrupted`].
    pub fn run(&self, observer: &mut dyn Observer) -> Result<OutOfFold, Error> {
        self.check()?;
        let folds_wanted = self.folds.min(self.records.data.len());
        let parts = folds(&self.records.data, folds_wanted, self.settings.seed)?;
        // The sides of the whole, also where a fold lacks a class.
        let positive = self.classes.pair().map(|pair| pair.positive.clone());
        let settings = Settings { positive, ..self.settings.clone() };
        let done =
            in_parallel(&parts, "folds", observer, |part, signal| self.score_fold(part, &settings, signal));
        if observer.will_stop() {
            return Err(Error::Interrupted);
        }
        let done = done.into_iter().collect::<Result<Vec<Scored>, Error>>()?;
        let width = self.width();
        let sizes = done.iter().map(|scored| scored.size).collect();
        let mut order: Vec<(usize, usize, usize)> = Vec::new();
        for (fold, scored) in done.iter().enumerate() {
            order.extend(scored.rows.iter().enumerate().map(|(place, &row)| (row, fold, place)));
        }
        order.sort_unstable();
        let mut found = OutOfFold {
            width,
            scores: Vec::with_capacity(order.len() * width),
            truth: Vec::with_capacity(order.len()),
            rows: Vec::with_capacity(order.len()),
            fold: Vec::with_capacity(order.len()),
            sizes,
        };
        for (row, fold, place) in order {
            found.scores.extend_from_slice(&done[fold].scores[place * width..][..width]);
            found.truth.push(done[fold].truth[place]);
            found.rows.push(row);
            found.fold.push(fold);
        }
        Ok(found)
    }

    fn width(&self) -> usize {
        if self.classes.pair().is_some() { 1 } else { self.classes.outcomes().len() }
    }

    /// Refuses rows of which nothing could be learned, and more scores than can be held.
    fn check(&self) -> Result<(), SettingsError> {
        /// Scores that are kept at a time: 800 MB of them.
        const MAX_SCORES: usize = 100_000_000;
        let refuse = |problem: String| Err(SettingsError::new("probabilities", problem));
        if self.records.data.len().saturating_mul(self.width()) > MAX_SCORES {
            return refuse(format!(
                "{} of {} classes each are more out-of-fold scores than can be kept",
                counted(self.records.data.len() as u64, "row", "rows"),
                self.width()
            ));
        }
        let outcomes = self.classes.outcomes_of(self.records.data.classes());
        let mut rows = vec![0u64; self.classes.outcomes().len()];
        for (outcome, count) in outcomes.into_iter().zip(self.records.data.class_counts()) {
            rows[outcome.unwrap_or(0)] += count as u64;
        }
        if let (Some(_), Some(place)) = (self.classes.pair(), rows.iter().position(|&rows| rows < 2)) {
            return refuse(format!(
                "\"{}\" has {}, and out-of-fold scores need two rows of each class: one to train on while \
                 the other is held out",
                self.classes.outcomes()[place],
                counted(rows[place], "row", "rows")
            ));
        }
        Ok(())
    }

    fn score_fold(
        &self,
        part: &[usize],
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Scored, Error> {
        // After a stop no run begins.
        if observer.progress(&Progress::Parts { what: "folds", done: 0, total: 1 }).is_break() {
            return Err(Error::Interrupted);
        }
        let fold = self.preparation.fit_fold(self.records, part, settings, observer)?;
        let Some(Prepared { train: rows, held_out: Some(held_out), recipe }) = fold else {
            return Err(Error::Interrupted);
        };
        let outcome = train(&rows, settings, observer)?;
        if outcome.status == Status::Interrupted {
            return Err(Error::Interrupted);
        }
        if !outcome.status.has_model() {
            let problem = "training on a fold gave no model, so there are no out-of-fold scores";
            return Err(SettingsError::new("probabilities", problem).into());
        }
        let size = typical_size_watched(&outcome.learned, &rows, observer).ok_or(Error::Interrupted)?;
        let places = self.places_of(&outcome.classes);
        let outcomes = self.classes.outcomes_of(held_out.classes());
        let mut scored = Scored { rows: Vec::new(), scores: Vec::new(), truth: Vec::new(), size };
        let (mut buffer, mut own) = (RecipeBuffer::default(), Vec::new());
        for (i, &row) in part.iter().enumerate() {
            let Some(truth) = outcomes[held_out.labels()[i] as usize] else { continue };
            let features = held_out.row(i).truncated(recipe.columns.features());
            let features = recipe.apply(features, &mut buffer);
            own.clear();
            let scores = outcome.learned.parts().iter().map(|learned| learned.score(features));
            if outcome.learned.is_of_classes() {
                own.resize(self.width(), f64::NEG_INFINITY);
                scores.zip(&places).for_each(|(score, &place)| own[place] = score);
                if own[truth] == f64::NEG_INFINITY {
                    continue;
                }
            } else {
                own.extend(scores);
            }
            scored.scores.extend_from_slice(&own);
            scored.truth.push(truth);
            scored.rows.push(row);
            // A single row may take long where votes of thousands of classes are counted.
            if observer.will_stop() {
                return Err(Error::Interrupted);
            }
        }
        Ok(scored)
    }

    /// The place among all classes of each class that a fold's model knows.
    fn places_of(&self, classes: &Classes) -> Vec<usize> {
        let found = self.classes.outcomes_of(&classes.outcomes());
        found.into_iter().map(|place| place.unwrap_or(0)).collect()
    }
}

impl OutOfFold {
    /// The signs of the rows, for two sides.
    pub fn signs(&self) -> Vec<i8> {
        self.truth.iter().map(|&outcome| if outcome == 1 { 1 } else { -1 }).collect()
    }

    /// The scores as they would be if those of each fold's model had this typical size. Where a size is 0, its fold's scores
    /// stay as they are.
    pub fn in_units_of(mut self, size: f64) -> Self {
        for (scores, &fold) in self.scores.chunks_mut(self.width).zip(&self.fold) {
            let factor = size / self.sizes[fold];
            if factor.is_finite() && factor > 0.0 {
                scores.iter_mut().for_each(|score| *score *= factor);
            }
        }
        self.sizes.iter_mut().for_each(|own| *own = size);
        self
    }

    /// How many rows have another outcome than their score says: the largest wins, for two sides its sign.
    pub fn errors(&self) -> u64 {
        let wrong = |(scores, &truth): (&[f64], &usize)| {
            let found = match scores {
                [one] => usize::from(*one >= 0.0),
                many => (0..many.len()).rev().max_by(|&a, &b| many[a].total_cmp(&many[b])).unwrap_or(0),
            };
            found != truth
        };
        self.scores.chunks(self.width).zip(&self.truth).filter(|&row| wrong(row)).count() as u64
    }
}

/// The typical size of a model's scores on rows that are prepared for it: the mean of |f|, and for many classes that of the
/// distances of the scores from their mean. Of many rows, some thousand are looked at, evenly spread.
pub fn typical_size(learned: &Learned, data: &Dataset) -> f64 {
    typical_size_watched(learned, data, &mut ()).unwrap_or(0.0)
}

/// The same, or `None` if the observer stopped it: one row of a vote of very many vectors may take long.
pub(crate) fn typical_size_watched(
    learned: &Learned,
    data: &Dataset,
    observer: &mut dyn Observer,
) -> Option<f64> {
    const MAX_ROWS: usize = 4096;
    let step = data.len().div_ceil(MAX_ROWS).max(1);
    let (mut sum, mut rows) = (0.0, 0u32);
    for i in (0..data.len()).step_by(step) {
        let row = data.row(i);
        let scores: Vec<f64> = learned.parts().iter().map(|learned| learned.score(row)).collect();
        let middle =
            if learned.is_of_classes() { scores.iter().sum::<f64>() / scores.len() as f64 } else { 0.0 };
        sum += scores.iter().map(|score| (score - middle).abs()).sum::<f64>() / scores.len() as f64;
        rows += 1;
        if observer.will_stop() {
            return None;
        }
    }
    Some(sum / f64::from(rows.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::{Scaler, Scaling, Schema};
    use crate::random::Random;
    use crate::train::Learner;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Every row has the score of a model of the other folds, and no other row decides it.
        #[test]
        fn scores_are_those_of_models_of_the_other_rows(seed: u64, rows in 12usize..50, classes in 2usize..4) {
            let mut random = Random::new(seed);
            let mut number = || random.below(2001) as f64 / 100.0 - 10.0;
            let values: Vec<f64> = (0..2 * rows).map(|_| number()).collect();
            let labels: Vec<String> = (0..rows).map(|i| format!("class{}", i % classes)).collect();
            let data = Dataset::dense(2, &values, &labels).unwrap();
            let records = Records { schema: Schema::Array { features: 2 }, data: data.clone() };
            let settings = Settings { learner: Learner::Averaged, epochs: 5, seed, ..Settings::default() };
            let whole = train(&data, &settings, &mut ()).unwrap();
            let task = OutOfFoldTask {
                records: &records,
                preparation: Preparation { scaling: Scaling::Standard, ..Preparation::default() },
                settings: &settings,
                classes: &whole.classes,
                folds: 4,
            };
            let found = task.run(&mut ()).unwrap();
            prop_assert_eq!(&found.rows, &(0..rows).collect::<Vec<_>>());
            prop_assert_eq!(found.width, if classes == 2 { 1 } else { classes });
            for (fold, part) in folds(&data, 4, seed).unwrap().iter().enumerate() {
                let rest: Vec<usize> = (0..rows).filter(|i| !part.contains(i)).collect();
                let others = data.subset(&rest).unwrap();
                let scaler = Scaler::learn(Scaling::Standard, &others);
                let model = train(&scaler.apply_all(others).unwrap(), &settings, &mut ()).unwrap();
                let held_out = scaler.apply_all(data.subset(part).unwrap()).unwrap();
                for (i, &row) in part.iter().enumerate() {
                    let own = &found.scores[row * found.width..][..found.width];
                    let expected = match &model.learned {
                        Learned::Each(each) => each.iter().map(|one| one.score(held_out.row(i))).collect(),
                        one => vec![one.score(held_out.row(i))],
                    };
                    prop_assert_eq!(own, expected);
                    prop_assert_eq!((found.truth[row], found.fold[row]), (row % classes, fold));
                }
            }
            // Scaled to the size of another model, each fold's scores keep their signs and their order.
            let scaled = found.clone().in_units_of(3.0);
            for (a, b) in found.scores.iter().zip(&scaled.scores) {
                prop_assert!(a.signum() == b.signum() || *a == 0.0);
            }
            prop_assert_eq!(found.errors(), scaled.errors());
        }
    }

    #[test]
    fn a_side_with_one_row_is_refused() {
        let data = Dataset::dense(1, &[1.0, 2.0, 3.0], &["a", "a", "b"]).unwrap();
        let settings = Settings::default();
        let classes = train(&data, &settings, &mut ()).unwrap().classes;
        let records = Records { schema: Schema::Array { features: 1 }, data };
        let task = OutOfFoldTask {
            records: &records,
            preparation: Preparation::default(),
            settings: &settings,
            classes: &classes,
            folds: 5,
        };
        assert!(
            matches!(task.run(&mut ()), Err(Error::Settings(error)) if error.problem.contains("\"b\" has 1 row"))
        );
    }
}

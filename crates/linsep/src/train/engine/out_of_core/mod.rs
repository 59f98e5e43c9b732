//! Data larger than memory: the rows stay in a cache, and those of one window at a time are in memory, with those of the
//! next window on their way.
//!
//! The order of a pass knows which rows come together (`order.rs`), so a pass costs one reading of the file, and a run has
//! the same bits as one over rows in memory.

mod data;
mod rows;

pub use data::OutOfCoreData;

use crate::classes::{ClassError, ClassPair, places_of};
use crate::observe::{Observer, Progress};
use crate::read::cache::Part;
use crate::theory::margin::{certain_agreement, quotient_down};
use crate::theta::Theta;
use crate::train::engine::checkpoint::CheckpointError;
use crate::train::engine::cost_limit::{TimeShares, refuse_excessive_cost_rows};
use crate::train::engine::evidence::{Facts, Judged, check_finite, conclude};
use crate::train::engine::learned::Learned;
use crate::train::engine::one_against_rest;
use crate::train::engine::online::OnlineLearner;
use crate::train::engine::run::{Outcome, check_lengths};
use crate::train::engine::state::{Learners, State};
use crate::train::engine::weights::class_weights;
use crate::train::learners::names_of;
use crate::train::settings::Settings;
use crate::{Error, SettingsError};
use data::{BlockTable, Measured, Room};
use rayon::prelude::*;
use std::sync::Arc;
use std::time::Instant;

/// Vectors with a number for each feature that are in memory together at the worst moment, when the result is judged:
/// three were measured for the perceptron, four with an average, five for gradient descent. Checkpoints and models
/// are written from where their numbers lie, and add none.
const VECTORS: u64 = 5;

/// Checks that a run with these settings can leave its rows in their file.
pub fn check_out_of_core(settings: &Settings) -> Result<(), SettingsError> {
    settings.validate()?;
    if let Some(reason) = settings.learner.abilities().out_of_core.reason() {
        let problem = format!(
            "⟦memory⟧ is for learners that process one row at a time and store none ({}), not for {}: {reason}",
            names_of(|abilities| abilities.out_of_core.is_yes()),
            settings.learner.name()
        );
        return Err(SettingsError::new("memory", problem));
    }
    Ok(())
}

/// Trains on rows that stay in their file, in memory that does not grow with them. The same as
/// [`train`](crate::train::train) on the same rows in memory, bit for bit.
pub fn train_out_of_core(
    data: &OutOfCoreData,
    settings: &Settings,
    checkpoint: Option<State>,
    observer: &mut dyn Observer,
) -> Result<(Outcome, Vec<u64>), Error> {
    check_out_of_core(settings)?;
    let many = settings.positive.is_none() && data.classes().len() > 2;
    let kept = if many { data.classes().len() as u64 } else { 0 };
    let vectors = VECTORS + kept;
    // Where the blocks are known, too little memory is an error before anything is read.
    let reading = match data.known_blocks() {
        Some(table) => data.room(table, settings.order, vectors)?,
        None => data.reading_room(vectors),
    };
    let mut part = Part::with_room(&data.reader, reading.rows, reading.values);
    let measured = data.measure(settings.bias.input(), &mut part, &reading, observer)?;
    let table = data.blocks(measured.nonzeros);
    let room = match data.known_blocks() {
        Some(_) => reading,
        None => {
            let room = data.room(&table, settings.order, vectors)?;
            drop(part);
            part = Part::with_room(&data.reader, room.rows, room.values);
            room
        }
    };
    let file = MeasuredFile { data, table, room, measured };
    let outcome = match many {
        true => file.each_against_rest(settings, part, observer)?,
        false => {
            let classes = ClassPair::choose(data.classes(), settings.positive.as_deref())?;
            let sides = file.sides(settings, data.classes(), classes)?;
            file.two_sides(sides, settings, checkpoint, &mut part, observer)?
        }
    };
    Ok((outcome, file.measured.counts))
}

/// A cache whose rows have been looked at once.
struct MeasuredFile<'a> {
    data: &'a OutOfCoreData,
    /// The blocks by which rows are shuffled.
    table: BlockTable,
    room: Room,
    measured: Measured,
}

/// Which class is on which side, and how much it counts.
struct BinaryLabels {
    classes: ClassPair,
    signs: Vec<i8>,
    weights: Option<Vec<f64>>,
}

impl MeasuredFile<'_> {
    /// What [`Task::new`](crate::train::engine::run::Task::new) checks and prepares for rows in memory. `names` are those of the
    /// data; sides that share them are told apart at once.
    fn sides(
        &self,
        settings: &Settings,
        names: &[String],
        classes: ClassPair,
    ) -> Result<BinaryLabels, Error> {
        let counts = &self.measured.counts;
        let signs: Vec<i8> = classes.signs_of(names).into_iter().map(|sign| sign.unwrap_or(-1)).collect();
        let rows_of = |sign: i8| -> u64 {
            counts.iter().zip(&signs).filter(|&(_, &own)| own == sign).map(|(&count, _)| count).sum()
        };
        if rows_of(1) == 0 || rows_of(-1) == 0 {
            let class = if rows_of(-1) == 0 { classes.positive } else { classes.negative_name() };
            return Err(ClassError::One { class }.into());
        }
        check_lengths(&self.measured.extent)?;
        let sides: Vec<u32> = signs.iter().map(|&sign| u32::from(sign > 0)).collect();
        let totals: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        let weights = class_weights(&settings.class_weight, names, &sides, &totals)?;
        Ok(BinaryLabels { classes, signs, weights })
    }

    fn two_sides(
        &self,
        sides: BinaryLabels,
        settings: &Settings,
        checkpoint: Option<State>,
        part: &mut Part,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error> {
        let data = self.data;
        let mut state = match checkpoint {
            Some(mut state) => {
                state.adopt(settings, data.reader.columns(), data.fingerprint())?;
                state.check_position(data.rows())?;
                state
            }
            None => {
                let radius = Some(self.measured.extent.radius_upper);
                let learner = OnlineLearner::with_radius(settings, data.reader.columns(), radius)?;
                State::begin(settings, Learners::Two(learner), data.fingerprint().to_string())
            }
        };
        state.expect_rows(self.measured.extent.radius_upper, data.longest_row);
        let settings = state.settings().clone();
        let status = self.passes(&sides, &settings, &mut state, part, observer)?;
        let fit = state.into_fit(status).ok_or(CheckpointError::OtherData)?;
        check_finite(&fit)?;
        let judged = self.judge(&sides, &fit.learned, &fit.candidates, part, observer)?;
        let facts = Facts {
            shape: self.shape(),
            extent: self.measured.extent,
            classes: &sides.classes,
            weighted: sides.weights.is_some(),
        };
        Ok(conclude(facts, &settings, fit, judged))
    }

    fn shape(&self) -> (u64, u64, u64) {
        (self.data.rows() as u64, self.data.reader.columns() as u64, self.measured.nonzeros)
    }

    /// What the result is worth on all rows, in one more pass.
    fn judge(
        &self,
        sides: &BinaryLabels,
        learned: &Learned,
        candidates: &[Theta],
        part: &mut Part,
        observer: &mut dyn Observer,
    ) -> Result<Judged, Error> {
        let own = learned.theta();
        let others: Vec<&Theta> = candidates.iter().filter(|&theta| theta != own).collect();
        let total = self.data.rows() as u64;
        let mut errors = 0;
        let mut least = Some(f64::MAX);
        let mut least_of_others = vec![Some(f64::MAX); others.len()];
        let whole = self.table.each_part(&self.data.reader, part, &self.room, |part, rows| {
            let sign = |i: usize| sides.signs[part.label(i) as usize];
            let all = || (0..part.len()).into_par_iter().with_min_len(256);
            errors += all().filter(|&i| (own.score(part.row(i)) >= 0.0) != (sign(i) > 0)).count() as u64;
            let least_here = |theta: &Theta| {
                all()
                    .map(|i| Some(certain_agreement(theta, part.row(i), sign(i))).filter(|&a| a > 0.0))
                    .try_reduce(|| f64::MAX, |a, b| Some(a.min(b)))
            };
            least = least.and_then(|so_far| Some(so_far.min(least_here(own)?)));
            for (theta, least) in others.iter().zip(&mut least_of_others) {
                *least = least.and_then(|so_far| Some(so_far.min(least_here(theta)?)));
            }
            observer.progress(&Progress::Judging { rows: rows.end as u64, total }).is_continue()
        })?;
        if !whole {
            // What was not seen to the end proves nothing.
            return Ok(Judged { errors: None, least: None, lower: None });
        }
        let bound = |least: Option<f64>, theta: &Theta| least.map(|a| quotient_down(a, theta.norm().high));
        let lower = others
            .iter()
            .zip(least_of_others)
            .map(|(theta, least)| bound(least, theta))
            .fold(bound(least, own), crate::theory::margin::larger);
        Ok(Judged { errors: Some(errors), least, lower })
    }

    /// Each class against the rest, one after the other.
    fn each_against_rest(
        &self,
        settings: &Settings,
        mut part: Part,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error> {
        // One list of names for the sides of all classes.
        let all: Arc<[String]> = self.data.classes().into();
        let own_places: Vec<usize> =
            (0..all.len()).filter(|&place| self.measured.counts[place] > 0).collect();
        let names: Vec<String> = own_places.iter().map(|&place| all[place].clone()).collect();
        if names.len() < 2 {
            return Err(ClassError::One { class: names.first().cloned().unwrap_or_default() }.into());
        }
        let rows = self.data.rows() as u64;
        refuse_excessive_cost_rows(rows, names.len(), settings, "Learn without ⟦memory⟧")?;
        let shares = settings.max_seconds.map(|limit| TimeShares::one_by_one(limit, names.len()));
        let mut runs = Vec::new();
        let mut stopped = None;
        for (name, &place) in names.iter().zip(&own_places) {
            // As in memory, classes that have not been begun are so only for a moment.
            if observer.will_stop()
                && stopped.get_or_insert_with(Instant::now).elapsed() > one_against_rest::GRACE
            {
                one_against_rest::warn_not_begun(&Error::Interrupted, observer);
                return Err(Error::Interrupted);
            }
            let max_seconds = shares.as_ref().map(TimeShares::next);
            let own = Settings { positive: Some(name.clone()), max_seconds, ..settings.clone() };
            let sides = self.sides(&own, &all, ClassPair::against_rest(&all, place))?;
            let run = self.two_sides(sides, &own, None, &mut part, observer)?;
            runs.push((run.learned, run.evidence));
        }
        let (learned, mut evidence, boundaries) = one_against_rest::together(runs, &names);
        let known = places_of(&names);
        let places: Vec<Option<usize>> =
            self.data.classes().iter().map(|class| known.get(class.as_str()).copied()).collect();
        let mut errors = 0;
        let whole = self.table.each_part(&self.data.reader, &mut part, &self.room, |part, rows| {
            let wrong = |&i: &usize| Some(learned.class_of(part.row(i)).0) != places[part.label(i) as usize];
            errors += (0..part.len()).into_par_iter().with_min_len(16).filter(wrong).count();
            let (rows, total) = (rows.end as u64, self.data.rows() as u64);
            observer.progress(&Progress::Judging { rows, total }).is_continue()
        })?;
        evidence.training_error = whole.then(|| errors as f64 / self.data.rows() as f64);
        Ok(one_against_rest::outcome(learned, evidence, boundaries, names, settings))
    }
}

#[cfg(test)]
mod tests;

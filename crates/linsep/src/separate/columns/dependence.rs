//! Which columns are linear combinations of others, found modulo a prime, and the relations between them, in whole
//! numbers.

use crate::random::Random;
use crate::separate::SeparateSettings;
use crate::separate::examples::Examples;
use crate::separate::integer::{integers, null_vector};
use crate::separate::modular::{self, Echelon};
use crate::separate::number::ExactVector;
use dashu_int::IBig;

/// Some rows looked at in some places, taken in an order in which later places depend on earlier ones.
pub(super) struct Dependence<'a> {
    examples: &'a Examples<'a>,
    /// The places in their order.
    places: Vec<usize>,
    echelon: Echelon,
    /// Rows that span all of them.
    basis: Vec<usize>,
}

/// The order in which R takes columns: the bias first, then the features in the given order. Those that are to be set aside come last.
pub(super) fn in_order(features: usize, dimension: usize, settings: &SeparateSettings) -> Vec<usize> {
    // 1 for features that come last, 2 for those that were taken.
    let mut state = vec![0; features];
    settings.last.iter().filter(|&&place| place < features).for_each(|&place| state[place] = 1);
    let mut places: Vec<usize> = (features..dimension).collect();
    for turn in [0, 1] {
        for place in settings.order.iter().copied().chain(0..features) {
            if state.get(place) == Some(&turn) {
                state[place] = 2;
                places.push(place);
            }
        }
    }
    places
}

impl<'a> Dependence<'a> {
    /// These rows in these places.
    pub(super) fn new(examples: &'a Examples<'a>, rows: &[usize], places: Vec<usize>) -> Self {
        let mut slot = vec![None; examples.dimension()];
        places.iter().enumerate().for_each(|(k, &place)| slot[place] = Some(k));
        let entries =
            |row: usize| examples.entries(row).filter_map(|(place, value)| Some((slot[place]?, value)));
        let mut echelon = Echelon::new(places.len());
        let mut basis = Vec::new();
        let mut rest = rows;
        loop {
            // Rows before the first that a random vector tells apart from the span are in it, and stay in it.
            let orthogonal = echelon.orthogonal(&mut Random::new(echelon.rank() as u64));
            let outside = |&&row: &&usize| modular::dot(&orthogonal, entries(row)) != 0;
            let Some(next) = rest.iter().position(|row| outside(&row)) else { break };
            let (some, others) = rest[next..].split_at((2 * places.len()).min(rest.len() - next));
            for &row in some {
                if echelon.rank() < places.len() && echelon.insert_f64(entries(row)) {
                    basis.push(row);
                }
            }
            rest = others;
            if echelon.rank() == places.len() {
                break;
            }
        }
        Self { examples, places, echelon, basis }
    }

    /// The places that depend on earlier ones. The others are independent for certain: they are so even modulo the
    /// prime. (The pivot of a row in echelon form is its first entry that is not zero, so the pivots are just the columns
    /// that do not depend on earlier ones.)
    pub(super) fn dependent(&self) -> Vec<usize> {
        let mut is_pivot = vec![false; self.places.len()];
        self.echelon.pivots().iter().for_each(|&slot| is_pivot[slot] = true);
        (0..is_pivot.len()).filter(|&slot| !is_pivot[slot]).map(|slot| self.places[slot]).collect()
    }

    /// The relation of a dependent place to the independent ones before it: a vector that is orthogonal to all rows in
    /// these places, positive at this one and zero at all other dependent ones. It is orthogonal for certain to as many rows as
    /// the rank says; the others are for the checker.
    pub(super) fn relation(&self, place: usize) -> Option<ExactVector> {
        let free = self.places.iter().position(|&other| other == place)?;
        let image = self.echelon.orthogonal_at(free);
        // Places that are zero modulo the prime are taken for zero: few columns are left, and short numbers.
        let used: Vec<usize> =
            (0..image.len()).filter(|&slot| image[slot] != 0).map(|slot| self.places[slot]).collect();
        let at = used.iter().position(|&other| other == place)?;
        let mut slot = vec![None; self.examples.dimension()];
        used.iter().enumerate().for_each(|(k, &place)| slot[place] = Some(k));
        let mut columns: Vec<Vec<IBig>> = vec![Vec::new(); used.len()];
        for &row in &self.basis {
            let mut values = vec![0.0; used.len()];
            for (place, value) in self.examples.entries(row) {
                if let Some(k) = slot[place] {
                    values[k] = value;
                }
            }
            if values.iter().any(|&value| value != 0.0) {
                integers(&values)
                    .0
                    .into_iter()
                    .zip(&mut columns)
                    .for_each(|(value, column)| column.push(value));
            }
        }
        let numbers = if used.len() == 1 { vec![IBig::ONE] } else { null_vector(&columns)? };
        let turn = numbers[at] < IBig::ZERO;
        let mut values = vec![IBig::ZERO; self.examples.dimension()];
        for (&place, number) in used.iter().zip(numbers) {
            values[place] = if turn { -number } else { number };
        }
        (values[place] != IBig::ZERO).then_some(ExactVector { values, exponent: 0 })
    }
}

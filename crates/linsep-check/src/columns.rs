//! The claims about columns: what each coefficient does over K, and which sets of columns separate.

use std::cmp::Ordering;

use crate::certificate::{Checked, Columns, Sparse, Status, ensure, rejected};
use crate::rows::Data;
use crate::verify::{Boundary, MATRIX_LIMIT, combine, nowhere_negative, orthogonal};

/// The sign of a vector's entry at a place.
fn sign_at(vector: &Sparse, place: usize) -> Ordering {
    let entry = vector.iter().find(|(other, _)| *other == place);
    entry.map_or(Ordering::Equal, |(_, number)| number.sign())
}

/// Whether numbers increase and are below `end`.
fn increase(mut numbers: impl Iterator<Item = usize> + Clone, end: usize) -> bool {
    numbers.clone().is_sorted_by(|a, b| a < b) && numbers.all(|number| number < end)
}

/// Checks each claim about columns. `boundary` is what the verdict shows of the boundary.
pub(crate) fn check(data: &Data<'_>, columns: &Columns, boundary: &Boundary) -> Checked {
    let coefficients = &columns.coefficients;
    let ordered = increase(coefficients.iter().map(|(place, _)| *place), data.width());
    ensure(ordered, None, "the coefficients are not in order or out of range")?;
    let mut aliased: Vec<Option<&Sparse>> = vec![None; data.width()];
    for (place, status) in coefficients {
        aliased[*place] = if let Status::Aliased { relation } = status { Some(relation) } else { None };
    }
    let relations: Vec<&Sparse> = aliased.iter().copied().flatten().collect();
    orthogonal(data, &data.present, &relations)?;
    for member in &columns.members {
        nowhere_negative(data, member, "members")?;
        let kept = member.iter().all(|(place, _)| aliased[*place].is_none());
        ensure(kept, None, "a member is not zero at an aliased place")?;
    }
    // `has`: whether a member, by its number, has the sign at the place.
    let (finite, members) = (finite(&aliased, boundary), &columns.members);
    let has = |which: usize, place, sign| members.get(which).is_some_and(|m| sign_at(m, place) == sign);
    for (place, status) in coefficients {
        data.go_on()?;
        let holds = match status {
            Status::Aliased { relation } => {
                relation.iter().map(|(other, _)| other).filter(|other| aliased[**other].is_some()).eq([place])
            }
            Status::Finite => finite[*place],
            Status::Infinite { positive, member, combination } => {
                let sign = if *positive { Ordering::Greater } else { Ordering::Less };
                let mut found = Ordering::Equal;
                combine(data, combination, |other, sum| {
                    found = if other == *place { sum.sign() } else { found };
                    let zero = other == *place || aliased[other].is_some() || sum.sign().is_eq();
                    ensure(zero, None, "the combination of an infinite coefficient is not 0 at another place")
                })?;
                found == sign && has(*member, *place, sign)
            }
            Status::Open { positive, negative } => {
                has(*positive, *place, Ordering::Greater) && has(*negative, *place, Ordering::Less)
            }
        };
        if !holds {
            return rejected(None, format!("the claim about the coefficient at place {place} is not shown"));
        }
    }
    for set in &columns.alone {
        let within = places_of(data, &set.columns)?;
        let zero = nowhere_negative(data, &set.weights, "weights of a set of columns")?;
        ensure(zero.is_empty(), zero.first().copied(), "the weights of a set put the row on the boundary")?;
        let only = set.weights.iter().all(|(place, _)| within[*place]);
        ensure(only, None, "the weights of a set of columns use another column")?;
    }
    for set in &columns.not_alone {
        let within = places_of(data, &set.columns)?;
        ensure(!set.combination.is_empty(), None, "the combination for a set of columns is empty")?;
        combine(data, &set.combination, |place, sum| {
            let zero = !within[place] || sum.sign().is_eq();
            ensure(zero, None, "the combination for a set of columns is not 0 within the set")
        })?;
    }
    at_least(data, columns)
}

/// Whether a place belongs to a set of columns or to the bias.
fn places_of(data: &Data<'_>, columns: &[usize]) -> Checked<Vec<bool>> {
    let sound = increase(columns.iter().copied(), data.features);
    ensure(sound, None, "the columns of a set are not in order or out of range")?;
    let mut within = vec![false; data.width()];
    columns.iter().for_each(|&column| within[column] = true);
    within[data.features..].fill(true);
    Ok(within)
}

/// At which places δ is 0 for each δ of K that is 0 at the aliased places, as far as the verdict shows it: the places of U at which all vectors
/// of the kernel are 0, relations aside.
fn finite(aliased: &[Option<&Sparse>], boundary: &Boundary) -> Vec<bool> {
    let mut finite = vec![false; aliased.len()];
    let Some((used, kernel)) = &boundary.space else { return finite };
    used.iter().for_each(|&place| finite[place] = true);
    for vector in kernel {
        let is_aside =
            |(place, _): &&(usize, _)| aliased[*place].is_some() && used.binary_search(place).is_ok();
        match vector.iter().find(is_aside) {
            None => vector.iter().for_each(|(place, _)| finite[*place] = false),
            // The relation of an aliased place of U has no part in any δ.
            Some((place, _)) if aliased[*place] == Some(vector) => {}
            // Any other vector with an aliased place of U spoils the argument.
            Some(_) => finite.fill(false),
        }
    }
    finite
}

/// Every set of fewer than `at_least` columns lies in a set that does not separate.
fn at_least(data: &Data<'_>, columns: &Columns) -> Checked {
    let (size, sets) = (columns.at_least, &columns.not_alone);
    let unproved = "the least number of columns that separate is not shown";
    let few = size < 3 || (size == 3 && data.features.saturating_mul(data.features) <= MATRIX_LIMIT);
    ensure(few && (size == 0 || !sets.is_empty()), None, unproved)?;
    for column in (0..data.features).filter(|_| size > 1) {
        data.go_on()?;
        // The columns that are in a set together with this one. Unless pairs are asked for, only the column itself matters.
        let mut beside = vec![size < 3; data.features];
        beside[column] = false;
        for set in sets.iter().filter(|set| set.columns.binary_search(&column).is_ok()) {
            set.columns.iter().for_each(|&other| beside[other] = true);
        }
        ensure(beside.iter().all(|&beside| beside), None, unproved)?;
    }
    Ok(())
}

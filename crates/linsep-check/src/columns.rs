//! The claims about columns: what each coefficient does over K, and which sets of columns separate.

use std::cmp::Ordering;

use crate::certificate::{ColumnSet, Columns, Status};
use crate::numbers::Sparse;
use crate::rows::{Checked, Data, ensure, increase};
use crate::verify::{MATRIX_LIMIT, Space, combine, orthogonal, signs};

/// Checks each claim about columns. `space` is what the verdict's rank argument shows.
pub(crate) fn check(data: &Data, columns: &Columns, space: Space<'_>) -> Checked {
    let coefficients = &columns.coefficients;
    let ordered = increase(coefficients.iter().map(|(place, _)| *place), data.width);
    ensure(ordered, None, "the coefficients are not in order or out of range")?;
    let mut aliased: Vec<Option<&Sparse>> = vec![None; data.width];
    for (place, status) in coefficients {
        aliased[*place] = if let Status::Aliased { relation } = status { Some(relation) } else { None };
    }
    orthogonal(data, &data.present, &aliased.iter().copied().flatten().collect::<Vec<_>>())?;
    for member in &columns.members {
        signs(data, member, Ordering::Equal, "members")?;
        let kept = member.iter().all(|(place, _)| aliased[*place].is_none());
        ensure(kept, None, "a member is not zero at an aliased place")?;
    }
    // `has`: whether a member, by its number, has the sign at the place.
    let (finite, members) = (finite(&aliased, space), &columns.members);
    let has = |member: usize, place: usize, sign| {
        members.get(member).is_some_and(|m| m.iter().any(|(other, c)| *other == place && c.sign() == sign))
    };
    for (place, status) in coefficients {
        data.go_on()?;
        let holds = match status {
            Status::Aliased { relation } => {
                relation.iter().map(|(other, _)| other).filter(|other| aliased[**other].is_some()).eq([place])
            }
            Status::Finite => finite[*place],
            Status::Infinite { positive, member, combination } => {
                let sign = if *positive { Ordering::Greater } else { Ordering::Less };
                let mut vector = combine(data, combination)?;
                vector.retain(|(other, _)| aliased[*other].is_none());
                let shown = vector.iter().map(|(other, value)| (other, value.sign())).eq([(place, sign)]);
                shown && has(*member, *place, sign)
            }
            Status::Open { positive, negative } => {
                has(*positive, *place, Ordering::Greater) && has(*negative, *place, Ordering::Less)
            }
        };
        ensure(holds, None, format!("the claim about the coefficient at place {place} is not shown"))?;
    }
    // Whether a place belongs to a set of columns or to the bias.
    let within = |set: &ColumnSet, place| place == data.features || set.columns.binary_search(&place).is_ok();
    for set in columns.alone.iter().chain(&columns.not_alone) {
        let sound = increase(set.columns.iter().copied(), data.features);
        ensure(sound, None, "the columns of a set are not in order or out of range")?;
    }
    for set in &columns.alone {
        signs(data, &set.proof, Ordering::Greater, "weights of a set of columns")?;
        let only = set.proof.iter().all(|(place, _)| within(set, *place));
        ensure(only, None, "the weights of a set of columns use another column")?;
    }
    for set in &columns.not_alone {
        ensure(!set.proof.is_empty(), None, "the combination for a set of columns is empty")?;
        let zero = combine(data, &set.proof)?.iter().all(|(place, _)| !within(set, *place));
        ensure(zero, None, "the combination for a set of columns is not 0 within the set")?;
    }
    at_least(data, columns)
}

/// At which places δ is 0 for each δ of K that is 0 at the aliased places, as far as the verdict shows it: the places of U at which all vectors
/// of the kernel are 0, relations aside.
fn finite(aliased: &[Option<&Sparse>], space: Space<'_>) -> Vec<bool> {
    let mut finite = vec![false; aliased.len()];
    let Some((used, kernel)) = space else { return finite };
    used.iter().for_each(|&place| finite[place] = true);
    // The relation of an aliased place of U, entry by entry the same vector, has no part in any δ. Any other vector that is not 0 at such a
    // place spoils the argument: then nothing is shown to be finite.
    let is_relation = |vector: &Sparse| used.iter().any(|&place| aliased[place] == Some(vector));
    for (place, _) in kernel.iter().filter(|vector| !is_relation(vector)).flatten() {
        if finite[*place] && aliased[*place].is_some() {
            return vec![false; aliased.len()];
        }
        finite[*place] = false;
    }
    finite
}

/// Every set of fewer than `at_least` columns lies in a set that does not separate.
fn at_least(data: &Data, columns: &Columns) -> Checked {
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

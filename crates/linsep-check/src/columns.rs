//! The claims about columns: what each coefficient does over K, and which sets of columns separate.

use std::cmp::Ordering;

use crate::certificate::{Columns, Sparse, Status};
use crate::rows::Data;
use crate::verify::{Boundary, Rejected, combine, rejected, signs, well_combined, well_formed};

/// Sets of columns are compared with at most so many pairs of columns.
const PAIR_LIMIT: usize = 1 << 28;

/// The entry of a vector at a place.
fn sign_at(vector: &Sparse, place: usize) -> Ordering {
    match vector.binary_search_by_key(&place, |(place, _)| *place) {
        Ok(entry) => vector[entry].1.sign(),
        Err(_) => Ordering::Equal,
    }
}

/// Checks each claim about columns. `shown` is what the verdict shows of the boundary.
pub(crate) fn check(data: &Data<'_>, columns: &Columns, shown: &Boundary) -> Result<(), Rejected> {
    let Columns { members, coefficients, alone, not_alone, at_least } = columns;
    let width = data.width();
    if !coefficients.windows(2).all(|pair| pair[0].0 < pair[1].0)
        || coefficients.last().is_some_and(|(place, _)| *place >= width)
    {
        return rejected(None, "the places of the coefficients do not increase or are out of range");
    }
    let mut aliased = vec![false; width];
    for (place, status) in coefficients {
        aliased[*place] = matches!(status, Status::Aliased { .. });
    }
    for member in members {
        well_formed(member, width, "members")?;
        if member.iter().any(|(place, _)| aliased[*place]) {
            return rejected(None, "a member is not zero at an aliased place");
        }
        signs(data, member)?;
    }
    for (place, status) in coefficients {
        data.go_on()?;
        let member = |which: usize, wanted: Ordering| match members.get(which) {
            Some(member) if sign_at(member, *place) == wanted => Ok(()),
            _ => rejected(None, format!("a member does not have the sign at place {place} that is claimed")),
        };
        match status {
            Status::Aliased { relation } => {
                well_formed(relation, width, "relation")?;
                let own = relation.iter().filter(|(other, _)| aliased[*other]).map(|(other, _)| other);
                if !own.eq([place]) {
                    return rejected(
                        None,
                        format!("the relation of place {place} has another aliased place, or not its own"),
                    );
                }
                let signs = signs(data, relation)?;
                if signs.boundary.len() < signs.present() {
                    return rejected(None, format!("the relation of place {place} is not 0 for every row"));
                }
            }
            Status::Finite => finite(*place, coefficients, &aliased, shown)?,
            Status::Infinite { positive, member: which, combination } => {
                let wanted = if *positive { Ordering::Greater } else { Ordering::Less };
                member(*which, wanted)?;
                well_combined(data, combination)?;
                let mut own = Ordering::Equal;
                combine(data, combination, |other, value| {
                    if other == *place {
                        own = value.sign();
                    } else if !aliased[other] && value.sign().is_ne() {
                        return rejected(
                            None,
                            format!("the combination for place {place} is not 0 elsewhere"),
                        );
                    }
                    Ok(())
                })?;
                if own != wanted {
                    return rejected(
                        None,
                        format!("the combination for place {place} does not have its sign"),
                    );
                }
            }
            Status::Open { positive, negative } => {
                member(*positive, Ordering::Greater)?;
                member(*negative, Ordering::Less)?;
            }
        }
    }
    for set in alone {
        let within = in_set(data, &set.columns)?;
        well_formed(&set.weights, width, "weights")?;
        if !set.weights.iter().all(|(place, _)| within[*place]) {
            return rejected(None, "the weights of a set of columns use another column");
        }
        if let Some(row) = signs(data, &set.weights)?.boundary.first() {
            return rejected(*row, "the weights of a set of columns put the row on the boundary");
        }
    }
    for set in not_alone {
        let within = in_set(data, &set.columns)?;
        well_combined(data, &set.combination)?;
        if set.combination.is_empty() {
            return rejected(None, "the combination for a set of columns is empty");
        }
        combine(data, &set.combination, |place, value| match within[place] && value.sign().is_ne() {
            true => rejected(None, "the combination for a set of columns is not 0 in the set"),
            false => Ok(()),
        })?;
    }
    covered(data, columns, *at_least)
}

/// The places of a set of columns and of the bias.
fn in_set(data: &Data<'_>, columns: &[usize]) -> Result<Vec<bool>, Rejected> {
    if !columns.windows(2).all(|pair| pair[0] < pair[1])
        || columns.last().is_some_and(|&column| column >= data.features)
    {
        return rejected(None, "the columns of a set do not increase or are out of range");
    }
    let mut within = vec![false; data.width()];
    columns.iter().for_each(|&column| within[column] = true);
    within[data.features..].fill(true);
    Ok(within)
}

/// δ_j = 0 for each δ of K that is zero at the aliased places.
fn finite(
    place: usize,
    coefficients: &[(usize, Status)],
    aliased: &[bool],
    shown: &Boundary,
) -> Result<(), Rejected> {
    let unproved = |why: &str| {
        rejected(None, format!("the coefficient at place {place} is not shown to be finite: {why}"))
    };
    let Some((used, kernel)) = &shown.space else {
        return unproved("the verdict does not show what the rows on the boundary span");
    };
    if used.binary_search(&place).is_err() {
        return unproved("no row that is forced onto the boundary has it");
    }
    let in_use = |place: usize| aliased[place] && used.binary_search(&place).is_ok();
    for vector in kernel {
        let relation_of = |(place, status): &(usize, Status)| {
            in_use(*place) && matches!(status, Status::Aliased { relation } if relation == vector)
        };
        if coefficients.iter().any(relation_of) {
            continue;
        }
        if vector.iter().any(|(other, _)| in_use(*other)) {
            return unproved(
                "a vector of the kernel is neither zero at the aliased places nor their relation",
            );
        }
        if sign_at(vector, place).is_ne() {
            return unproved("a vector of the kernel is not zero there");
        }
    }
    Ok(())
}

/// Every set of fewer than `at_least` columns lies in a set that does not separate.
fn covered(data: &Data<'_>, columns: &Columns, at_least: usize) -> Result<(), Rejected> {
    let unproved = || rejected(None, "the least number of columns that separate is not shown");
    let sets = &columns.not_alone;
    if at_least > 3 || (at_least > 0 && sets.is_empty()) {
        return unproved();
    }
    if at_least == 3 && data.features.saturating_mul(data.features) > PAIR_LIMIT {
        return unproved();
    }
    for column in (0..data.features).take_while(|_| at_least > 1) {
        data.go_on()?;
        let mut beside = vec![false; data.features];
        let mut any = false;
        for set in sets.iter().filter(|set| set.columns.binary_search(&column).is_ok()) {
            any = true;
            if at_least > 2 {
                set.columns.iter().for_each(|&other| beside[other] = true);
            }
        }
        if !any || (at_least > 2 && !beside.iter().all(|&beside| beside)) {
            return unproved();
        }
    }
    Ok(())
}

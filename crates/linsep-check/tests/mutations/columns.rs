//! Claims about columns: made, changed, decided by the rules, and tried against small vectors.

use super::{combined, dot, entries, nudged, positive, rank, rows, vector, whole_dot};
use crate::common::{Big, Random, Table, number};
use linsep_check::{Bias, Certificate, Claim, ColumnSet, Columns, Sparse, Status};

/// Whether each claim about columns follows by the rules of `docs/certificate.md`.
pub(super) fn columns_hold(
    certificate: &Certificate,
    z: &[Option<Vec<Big>>],
    width: usize,
    features: usize,
) -> bool {
    let Columns { members, coefficients, alone, not_alone, at_least } = &certificate.columns;
    let rows: Vec<&Vec<Big>> = z.iter().flatten().collect();
    let places: Vec<usize> = coefficients.iter().map(|(place, _)| *place).collect();
    if !places.is_sorted_by(|a, b| a < b) || places.iter().any(|&place| place >= width) {
        return false;
    }
    let relation = |place: usize| {
        coefficients.iter().find_map(|(other, status)| match status {
            Status::Aliased { relation } if *other == place => Some(relation),
            _ => None,
        })
    };
    let aliased: Vec<usize> = places.iter().copied().filter(|&place| relation(place).is_some()).collect();
    let products = |v: &Sparse| {
        let v = entries(v, width)?;
        Some(rows.iter().map(|z| dot(&v, z).sign()).collect::<Vec<_>>())
    };
    let is_member = |v: &Sparse| {
        products(v).is_some_and(|signs| signs.iter().all(|sign| sign.is_ge()))
            && v.iter().all(|(place, _)| !aliased.contains(place))
    };
    let total = |lambda: &Sparse| Some(combined(&positive(lambda, z)?, z, width));
    let at = |member: usize, place: usize| {
        let entry = members.get(member).and_then(|v| v.iter().find(|(other, _)| *other == place));
        entry.map_or(std::cmp::Ordering::Equal, |(_, value)| value.sign())
    };
    // What the verdict proves of forced rows.
    let (boundary, combination, kernel): (Vec<&Vec<Big>>, _, _) = match &certificate.claim {
        Claim::Complete { .. } => (vec![], vec![], vec![]),
        Claim::QuasiComplete { weights, combination, kernel } => {
            let w = entries(weights, width).unwrap();
            let on = rows.iter().filter(|z| dot(&w, z).sign().is_eq()).copied();
            (on.collect(), combination.clone(), kernel.clone())
        }
        Claim::Overlap { combination, kernel } => (rows.clone(), combination.clone(), kernel.clone()),
    };
    let used: Vec<usize> = (0..width).filter(|&j| boundary.iter().any(|z| z[j].sign().is_ne())).collect();
    let span = rank(combination.iter().map(|(row, _)| z[*row].clone().unwrap()).collect());
    let ranked = span + kernel.len() == used.len();
    let is_finite = |place: usize| {
        let counts = |v: &&Sparse| !aliased.iter().any(|a| used.contains(a) && relation(*a) == Some(*v));
        let pinned =
            |v: &Sparse| v.iter().all(|(j, _)| *j != place && !(aliased.contains(j) && used.contains(j)));
        ranked && used.contains(&place) && kernel.iter().filter(counts).all(pinned)
    };
    let status_holds = |(place, status): &(usize, Status)| match status {
        Status::Aliased { relation } => {
            products(relation).is_some_and(|signs| signs.iter().all(|sign| sign.is_eq()))
                && relation.iter().filter(|(j, _)| aliased.contains(j)).map(|(j, _)| j).eq([place])
        }
        Status::Finite => is_finite(*place),
        Status::Infinite { positive, member, combination } => total(combination).is_some_and(|g| {
            let wanted = 0.cmp(&if *positive { -1 } else { 1 });
            let others = (0..width).filter(|j| j != place && !aliased.contains(j));
            g[*place].sign() == wanted
                && others.into_iter().all(|j| g[j].sign().is_eq())
                && at(*member, *place) == wanted
        }),
        Status::Open { positive, negative } => at(*positive, *place).is_gt() && at(*negative, *place).is_lt(),
    };
    let is_set = |set: &[usize]| set.is_sorted_by(|a, b| a < b) && set.iter().all(|&j| j < features);
    let inside = |set: &[usize], j: usize| set.contains(&j) || j == features;
    let few: Vec<Vec<usize>> = match at_least {
        0 => vec![],
        1 => vec![vec![]],
        2 => std::iter::once(vec![]).chain((0..features).map(|j| vec![j])).collect(),
        3 => std::iter::once(vec![])
            .chain((0..features).flat_map(|i| (0..features).map(move |j| vec![i, j])))
            .collect(),
        _ => return false,
    };
    members.iter().all(is_member)
        && coefficients.iter().all(status_holds)
        && alone.iter().all(|ColumnSet { columns, proof: weights }| {
            is_set(columns)
                && products(weights).is_some_and(|signs| signs.iter().all(|sign| sign.is_gt()))
                && weights.iter().all(|(j, _)| inside(columns, *j))
        })
        && not_alone.iter().all(|ColumnSet { columns, proof: combination }| {
            let zero = |g: Vec<Big>| (0..width).all(|j| !inside(columns, j) || g[j].sign().is_eq());
            is_set(columns) && !combination.is_empty() && total(combination).is_some_and(zero)
        })
        && few.iter().all(|few| not_alone.iter().any(|set| few.iter().all(|j| set.columns.contains(j))))
}

/// Whether the claims about columns are true, as far as vectors with entries between −2 and 2 can tell.
pub(super) fn columns_not_refuted(certificate: &Certificate, table: &Table) -> bool {
    let bias = match certificate.bias {
        Bias::None => None,
        Bias::Append(value) => Some(value),
        Bias::Free => Some(1.0),
    };
    let width = table.features + usize::from(bias.is_some());
    let z: Vec<Vec<Big>> = rows(table, bias).into_iter().flatten().collect();
    let Columns { coefficients, not_alone, at_least, .. } = &certificate.columns;
    let is_aside = |place: usize| {
        coefficients.iter().any(|(other, status)| *other == place && matches!(status, Status::Aliased { .. }))
    };
    (0..5_i64.pow(width as u32)).all(|code| {
        let w: Vec<i64> = (0..width as u32).map(|j| code / 5_i64.pow(j) % 5 - 2).collect();
        let exact: Vec<Big> = w.iter().map(|&w| Big::float(w as f64)).collect();
        let signs: Vec<_> = z.iter().map(|z| dot(&exact, z).sign()).collect();
        if signs.iter().all(|sign| sign.is_gt()) {
            let support: Vec<usize> = (0..table.features).filter(|&j| w[j] != 0).collect();
            if support.len() < *at_least
                || not_alone.iter().any(|set| support.iter().all(|j| set.columns.contains(j)))
            {
                return false;
            }
        }
        if signs.iter().any(|sign| sign.is_lt()) || (0..width).any(|j| w[j] != 0 && is_aside(j)) {
            return true;
        }
        coefficients.iter().all(|(place, status)| match status {
            Status::Finite => w[*place] == 0,
            Status::Infinite { positive: true, .. } => w[*place] >= 0,
            Status::Infinite { positive: false, .. } => w[*place] <= 0,
            Status::Aliased { .. } | Status::Open { .. } => true,
        })
    })
}

/// Claims about the columns of these rows z, most of them true.
pub(super) fn make_columns(
    random: &mut Random,
    z: &[Vec<i64>],
    features: usize,
    kernel: &[Sparse],
) -> Columns {
    let width = z.first().map_or(0, Vec::len);
    let small: Vec<Vec<i64>> = (0..5_i64.pow(width as u32))
        .map(|code| (0..width as u32).map(|j| code / 5_i64.pow(j) % 5 - 2).collect())
        .collect();
    let mut columns = Columns::default();
    // A column that depends on others is set aside, by a vector of the kernel where there is one.
    let mut aside: Option<usize> = None;
    let relations: Vec<Vec<i64>> = small
        .iter()
        .filter(|v| v.iter().any(|&v| v != 0) && z.iter().all(|z| whole_dot(v, z) == 0))
        .cloned()
        .collect();
    if !relations.is_empty() && random.below(4) > 0 {
        let chosen = vector(&relations[random.below(relations.len())]);
        let known = kernel.iter().find(|v| {
            let v: Vec<i64> = (0..width)
                .map(|j| v.iter().find(|e| e.0 == j).map_or(0, |e| e.1.to_f64().unwrap() as i64))
                .collect();
            z.iter().all(|z| whole_dot(&v, z) == 0)
        });
        let relation = known.cloned().filter(|_| random.below(4) > 0).unwrap_or(chosen);
        let place = relation[relation.len() - 1].0;
        aside = Some(place);
        columns.coefficients.push((place, Status::Aliased { relation }));
    }
    let members: Vec<&Vec<i64>> = small
        .iter()
        .filter(|v| aside.is_none_or(|a| v[a] == 0) && z.iter().all(|z| whole_dot(v, z) >= 0))
        .collect();
    let shares: Vec<Vec<i64>> = (0..3_i64.pow(z.len().min(6) as u32))
        .map(|code| (0..z.len().min(6) as u32).map(|i| code / 3_i64.pow(i) % 3).collect())
        .collect();
    let totals: Vec<Vec<i64>> = shares
        .iter()
        .map(|share| (0..width).map(|j| share.iter().zip(z).map(|(s, z)| s * z[j]).sum()).collect())
        .collect();
    for place in (0..width).filter(|&j| Some(j) != aside) {
        if random.below(5) == 0 {
            continue;
        }
        let find = |random: &mut Random, sign: i64| {
            let fit: Vec<&&Vec<i64>> = members.iter().filter(|v| v[place] * sign > 0).collect();
            (!fit.is_empty()).then(|| fit[random.below(fit.len())].to_vec())
        };
        let (up, down) = (find(random, 1), find(random, -1));
        let add = |columns: &mut Columns, v: &[i64]| {
            columns.members.push(vector(v));
            columns.members.len() - 1
        };
        let status = match (up, down) {
            (Some(up), Some(down)) => {
                Status::Open { positive: add(&mut columns, &up), negative: add(&mut columns, &down) }
            }
            (None, None) => Status::Finite,
            (up, down) => {
                let positive = up.is_some();
                let sign = if positive { 1 } else { -1 };
                let fits = |g: &&Vec<i64>| {
                    g[place] * sign > 0 && (0..width).all(|j| j == place || Some(j) == aside || g[j] == 0)
                };
                let Some(which) = totals.iter().position(|g| fits(&g)) else { continue };
                let member = add(&mut columns, &up.or(down).unwrap());
                Status::Infinite { positive, member, combination: vector(&shares[which]) }
            }
        };
        columns.coefficients.push((place, status));
    }
    columns.coefficients.sort_by_key(|(place, _)| *place);
    let separators: Vec<&Vec<i64>> = small.iter().filter(|v| z.iter().all(|z| whole_dot(v, z) > 0)).collect();
    if !separators.is_empty() {
        let w = separators[random.below(separators.len())];
        let set = (0..features).filter(|&j| w[j] != 0 || random.below(3) == 0).collect();
        columns.alone.push(ColumnSet { columns: set, proof: vector(w) });
    }
    for _ in 0..random.below(4) {
        let which = random.below(totals.len());
        if shares[which].iter().any(|&share| share > 0) && totals[which][features..].iter().all(|&g| g == 0) {
            let set = (0..features).filter(|&j| totals[which][j] == 0).collect();
            columns.not_alone.push(ColumnSet { columns: set, proof: vector(&shares[which]) });
        }
    }
    let covers =
        |few: &[usize]| columns.not_alone.iter().any(|set| few.iter().all(|j| set.columns.contains(j)));
    let pairs = (0..features).all(|i| (0..features).all(|j| covers(&[i, j])));
    columns.at_least = match (covers(&[]), (0..features).all(|j| covers(&[j])), pairs) {
        (true, true, true) => 3,
        (true, true, false) => 2,
        (true, false, _) => 1,
        _ => 0,
    };
    columns
}

/// Changes something about the claims on columns.
pub(super) fn mutate_columns(random: &mut Random, columns: &mut Columns) {
    let nudge = |random: &mut Random, vector: &mut Sparse| match random.below(4) {
        0 if !vector.is_empty() => {
            let entry = random.below(vector.len());
            vector[entry].1 = number(nudged(random, vector[entry].1.to_f64().unwrap_or(1.0)));
        }
        1 if !vector.is_empty() => drop(vector.remove(random.below(vector.len()))),
        2 if !vector.is_empty() => {
            let entry = random.below(vector.len());
            vector[entry].0 = random.below(5);
        }
        _ => {
            let place = random.below(5);
            let at = vector.partition_point(|(before, _)| *before < place);
            vector.insert(at, (place, number([1.0, -1.0, 0.5][random.below(3)])));
        }
    };
    let Columns { members, coefficients, alone, not_alone, at_least } = columns;
    match random.below(12) {
        0 | 1 if !members.is_empty() => {
            let which = random.below(members.len());
            nudge(random, &mut members[which]);
        }
        2 if !members.is_empty() => drop(members.remove(random.below(members.len()))),
        3 | 4 if !coefficients.is_empty() => {
            let which = random.below(coefficients.len());
            match &mut coefficients[which].1 {
                Status::Aliased { relation } => nudge(random, relation),
                Status::Infinite { positive, member, combination } => match random.below(3) {
                    0 => *positive = !*positive,
                    1 => *member = random.below(3),
                    _ => nudge(random, combination),
                },
                Status::Open { positive, negative } => std::mem::swap(positive, negative),
                Status::Finite => coefficients[which].0 = random.below(4),
            }
        }
        5 if !coefficients.is_empty() => {
            let which = random.below(coefficients.len());
            coefficients[which].1 = match random.below(4) {
                0 => Status::Finite,
                1 => Status::Open { positive: random.below(3), negative: random.below(3) },
                2 => Status::Aliased { relation: crate::common::sparse(&[1.0, -1.0]) },
                _ => Status::Infinite {
                    positive: random.below(2) == 0,
                    member: random.below(3),
                    combination: crate::common::sparse(&[1.0]),
                },
            };
        }
        6 if !coefficients.is_empty() => drop(coefficients.remove(random.below(coefficients.len()))),
        7 => coefficients.push((random.below(5), Status::Finite)),
        8 if !alone.is_empty() => match random.below(3) {
            0 => drop(alone[0].columns.pop()),
            1 => alone[0].columns.push(random.below(4)),
            _ => nudge(random, &mut alone[0].proof),
        },
        9 | 10 if !not_alone.is_empty() => {
            let which = random.below(not_alone.len());
            match random.below(4) {
                0 => drop(not_alone.remove(which)),
                1 => not_alone[which].columns.push(random.below(4)),
                2 => not_alone[which].columns = (0..random.below(4)).collect(),
                _ => nudge(random, &mut not_alone[which].proof),
            }
        }
        _ => *at_least = random.below(5),
    }
}

//! Exact answers for small problems, found in ways that share nothing with the engine: a linear program in whole
//! numbers for the verdict, Wolfe's method in fractions for the margin. Every answer is proved before it is given.

use dashu_int::IBig;
use dashu_ratio::RBig;

/// A matrix of whole numbers, one row after the other.
pub(crate) type Matrix = Vec<Vec<IBig>>;

/// A finite float as a whole number times a power of two.
pub(crate) fn split(value: f64) -> (IBig, i64) {
    assert!(value.is_finite());
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
    let magnitude = if field == 0 { fraction } else { fraction | 1 << 52 };
    let shift = i64::from(magnitude.trailing_zeros()) * i64::from(magnitude != 0);
    let whole = IBig::from(magnitude >> (shift % 64));
    (if value < 0.0 { -whole } else { whole }, field.max(1) - 1075 + shift)
}

/// whole · 2^exponent.
pub(crate) fn scaled(whole: &IBig, exponent: i64) -> RBig {
    let power = IBig::ONE << exponent.unsigned_abs() as usize;
    let whole = RBig::from(whole.clone());
    if exponent >= 0 { whole * RBig::from(power) } else { whole / RBig::from(power) }
}

/// The exact value of a finite float.
pub(crate) fn fraction(value: f64) -> RBig {
    let (whole, exponent) = split(value);
    scaled(&whole, exponent)
}

pub(crate) fn zero(value: &IBig) -> bool {
    *value == IBig::ZERO
}

pub(crate) fn positive(value: &IBig) -> bool {
    *value > IBig::ZERO
}

pub(crate) fn negative(value: &IBig) -> bool {
    *value < IBig::ZERO
}

pub(crate) fn dot(a: &[IBig], b: &[IBig]) -> IBig {
    a.iter().zip(b).fold(IBig::ZERO, |sum, (a, b)| sum + a * b)
}

/// Σ shares · rows, for rows of `width` coordinates.
pub(crate) fn combine(rows: &Matrix, shares: &[IBig], width: usize) -> Vec<IBig> {
    let mut sum = vec![IBig::ZERO; width];
    for (row, share) in rows.iter().zip(shares).filter(|(_, share)| !zero(share)) {
        sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += share * value);
    }
    sum
}

/// The rows in whole numbers, and the power of two that all of them were divided by.
pub(crate) fn whole(rows: &[Vec<f64>]) -> (Matrix, i64) {
    let least =
        rows.iter().flatten().filter(|&&value| value != 0.0).map(|&value| split(value).1).min().unwrap_or(0);
    let entry = |&value: &f64| {
        let (whole, exponent) = split(value);
        if value == 0.0 { IBig::ZERO } else { whole << (exponent - least) as usize }
    };
    (rows.iter().map(|row| row.iter().map(entry).collect()).collect(), least)
}

/// The rows in whole numbers, each row and each column divided by a power of two of its own: who can be on which
/// side of a boundary does not depend on them, and the numbers stay short.
fn balanced(rows: &[Vec<f64>]) -> Matrix {
    let width = rows.first().map_or(0, Vec::len);
    let parts: Vec<Vec<(IBig, i64)>> =
        rows.iter().map(|row| row.iter().map(|&value| split(value)).collect()).collect();
    let (mut by_row, mut by_column) = (vec![0; rows.len()], vec![0; width]);
    for _ in 0..3 {
        for (i, row) in parts.iter().enumerate() {
            let left = (0..width).filter(|&j| !zero(&row[j].0)).map(|j| row[j].1 - by_column[j]);
            by_row[i] = left.min().unwrap_or(0);
        }
        for j in 0..width {
            let left = (0..rows.len()).filter(|&i| !zero(&parts[i][j].0)).map(|i| parts[i][j].1 - by_row[i]);
            by_column[j] = left.min().unwrap_or(0);
        }
    }
    let entry = |i: usize, j: usize| {
        let (whole, exponent) = &parts[i][j];
        if zero(whole) { IBig::ZERO } else { whole << (exponent - by_row[i] - by_column[j]) as usize }
    };
    (0..rows.len()).map(|i| (0..width).map(|j| entry(i, j)).collect()).collect()
}

/// One step of elimination in whole numbers (Edmonds): all entries are over the common denominator `over`, and
/// the divisions leave no remainder. The pivot is the next denominator.
fn pivot(table: &mut Matrix, row: usize, column: usize, over: &mut IBig) {
    let chosen = table[row].clone();
    for (_, other) in table.iter_mut().enumerate().filter(|&(i, _)| i != row) {
        let factor = other[column].clone();
        for (value, above) in other.iter_mut().zip(&chosen) {
            *value = (&*value * &chosen[column] - &factor * above) / &*over;
        }
    }
    *over = chosen[column].clone();
}

/// Brings the first `columns` columns to echelon form; gives the (row, column) of each pivot, and their denominator.
fn eliminate(table: &mut Matrix, columns: usize) -> (Vec<(usize, usize)>, IBig) {
    let (mut pivots, mut over) = (Vec::new(), IBig::ONE);
    for column in 0..columns {
        let next = pivots.len();
        if let Some(found) = (next..table.len()).find(|&row| !zero(&table[row][column])) {
            table.swap(next, found);
            pivot(table, next, column, &mut over);
            pivots.push((next, column));
        }
    }
    (pivots, over)
}

/// The exact rank.
pub(crate) fn rank(rows: &[Vec<f64>]) -> usize {
    rank_whole(&balanced(rows))
}

pub(crate) fn rank_whole(rows: &Matrix) -> usize {
    let columns = rows.first().map_or(0, Vec::len);
    eliminate(&mut rows.clone(), columns).0.len()
}

/// If Σ λ z = 0 has just one solution, up to a factor, and that is positive throughout: that solution, with sum 1.
pub(crate) fn circuit(rows: &[Vec<f64>]) -> Option<Vec<RBig>> {
    let (whole, _) = whole(rows);
    let width = rows.first()?.len();
    let mut columns: Matrix = (0..width).map(|j| whole.iter().map(|row| row[j].clone()).collect()).collect();
    let (pivots, over) = eliminate(&mut columns, rows.len());
    if pivots.len() + 1 != rows.len() {
        return None;
    }
    let free = (0..rows.len()).find(|&i| pivots.iter().all(|&(_, column)| column != i))?;
    let mut shares = vec![IBig::ZERO; rows.len()];
    shares[free] = over;
    for &(row, column) in &pivots {
        shares[column] = -columns[row][free].clone();
    }
    let sum: IBig = shares.iter().fold(IBig::ZERO, |sum, share| sum + share);
    let same_sign = shares.iter().all(positive) || shares.iter().all(negative);
    same_sign.then(|| shares.into_iter().map(|share| RBig::from(share) / RBig::from(sum.clone())).collect())
}

/// What the exact linear program says of λ ≥ 0, Σ λ z = 0, Σ over `counted` rows of λ = 1.
enum Answer {
    /// Such a λ, up to a factor.
    Shares(Vec<IBig>),
    /// There is none, because this w has ⟨w, z⟩ ≥ 0 for all rows and > 0 for the counted ones.
    Weights(Vec<IBig>),
}

/// The first phase of the simplex method with Bland's rule, in whole numbers.
fn feasible(rows: &Matrix, counted: &[bool]) -> Answer {
    let (n, d) = (rows.len(), rows[0].len());
    let m = d + 1;
    let end = n + m;
    // Columns: one for each λ, one for each artificial variable, the right side.
    let mut table: Matrix = (0..m)
        .map(|k| {
            let entry = |i: usize| if k < d { rows[i][k].clone() } else { IBig::from(i32::from(counted[i])) };
            let artificial = (0..m).map(|other| IBig::from(i32::from(other == k)));
            (0..n).map(entry).chain(artificial).chain([IBig::from(i32::from(k == d))]).collect()
        })
        .collect();
    // The costs, reduced: the sum of the artificial variables is made small.
    let costs = (0..=end).map(|column| match column {
        _ if (n..end).contains(&column) => IBig::ZERO,
        _ => -table.iter().fold(IBig::ZERO, |sum, row| sum + &row[column]),
    });
    let costs: Vec<IBig> = costs.collect();
    table.push(costs);
    let (mut basis, mut over): (Vec<usize>, IBig) = ((n..end).collect(), IBig::ONE);
    while let Some(enters) = (0..n).find(|&column| negative(&table[m][column])) {
        let mut leaves: Option<usize> = None;
        for row in (0..m).filter(|&row| positive(&table[row][enters])) {
            let better = leaves.is_none_or(|best| {
                let (mine, least) =
                    (&table[row][end] * &table[best][enters], &table[best][end] * &table[row][enters]);
                mine < least || mine == least && basis[row] < basis[best]
            });
            if better {
                leaves = Some(row);
            }
        }
        let leaves = leaves.expect("a sum of numbers that are not negative has a least value");
        pivot(&mut table, leaves, enters, &mut over);
        basis[leaves] = enters;
    }
    if zero(&table[m][end]) {
        let mut shares = vec![IBig::ZERO; n];
        for (row, &column) in basis.iter().enumerate().filter(|&(_, &column)| column < n) {
            shares[column] = table[row][end].clone();
        }
        Answer::Shares(shares)
    } else {
        Answer::Weights((0..d).map(|k| &table[m][n + k] - &over).collect())
    }
}

/// B: whether each row has ⟨w, z⟩ = 0 for every w with ⟨w, z⟩ ≥ 0 throughout.
///
/// Proved on the way: rows in B have a positive λ with Σ λ z = 0, the others a w with ⟨w, z⟩ > 0, ≥ 0 for all rows.
pub(crate) fn boundary(rows: &[Vec<f64>]) -> Vec<bool> {
    let rows = &balanced(rows);
    let mut inside = vec![false; rows.len()];
    while inside.contains(&false) {
        let counted: Vec<bool> = inside.iter().map(|&inside| !inside).collect();
        match feasible(rows, &counted) {
            Answer::Shares(shares) => {
                assert!(combine(rows, &shares, rows[0].len()).iter().all(zero), "the oracle's λ is no proof");
                assert!(!shares.iter().any(negative), "the oracle's λ is no proof");
                let before = inside.clone();
                inside.iter_mut().zip(&shares).for_each(|(inside, share)| *inside |= positive(share));
                assert_ne!(inside, before, "the oracle's λ adds nothing");
            }
            Answer::Weights(w) => {
                for (row, &inside) in rows.iter().zip(&inside) {
                    let agreement = dot(row, &w);
                    assert!(
                        if inside { zero(&agreement) } else { positive(&agreement) },
                        "the oracle's w is no proof"
                    );
                }
                break;
            }
        }
    }
    inside
}

/// The affine combination of the points `corral` that is nearest to the origin: numerators and their denominator,
/// which is positive. The points must be affinely independent.
fn nearest_affine(points: &Matrix, corral: &[usize]) -> (Vec<IBig>, IBig) {
    let first = &points[corral[0]];
    let sides: Matrix =
        corral[1..].iter().map(|&i| points[i].iter().zip(first).map(|(a, b)| a - b).collect()).collect();
    let mut table: Matrix = sides
        .iter()
        .map(|side| sides.iter().map(|other| dot(side, other)).chain([-dot(side, first)]).collect())
        .collect();
    let (pivots, over) = eliminate(&mut table, sides.len());
    assert_eq!(pivots.len(), sides.len(), "the points of the corral are affinely dependent");
    let rest: Vec<IBig> = table.into_iter().map(|mut row| row.pop().unwrap()).collect();
    let sum = rest.iter().fold(IBig::ZERO, |sum, share| sum + share);
    ([&over - sum].into_iter().chain(rest).collect(), over)
}

/// ‖x‖² of the point x nearest to the origin in the convex hull: Wolfe's method, in fractions.
///
/// Proved at the end: x is in the hull, and ⟨x, p⟩ ≥ ‖x‖² for every point p.
pub(crate) fn nearest_squared(points: &Matrix) -> RBig {
    let width = points[0].len();
    let start = (0..points.len()).min_by_key(|&i| dot(&points[i], &points[i])).unwrap();
    let (mut corral, mut shares) = (vec![start], vec![RBig::ONE]);
    loop {
        // Minor cycles: towards the nearest affine combination, until it is in the hull.
        let (numerators, over) = loop {
            let (numerators, over) = nearest_affine(points, &corral);
            if numerators.iter().all(positive) {
                break (numerators, over);
            }
            let aims: Vec<RBig> =
                numerators.iter().map(|top| RBig::from(top.clone()) / RBig::from(over.clone())).collect();
            let step = shares
                .iter()
                .zip(&aims)
                .filter(|&(_, aim)| *aim <= RBig::ZERO)
                .map(|(share, aim)| share / (share - aim))
                .min()
                .unwrap();
            shares = shares.iter().zip(&aims).map(|(share, aim)| share + &step * (aim - share)).collect();
            let kept: Vec<usize> = (0..corral.len()).filter(|&k| shares[k] > RBig::ZERO).collect();
            assert!(kept.len() < corral.len(), "a minor cycle must drop a point");
            corral = kept.iter().map(|&k| corral[k]).collect();
            shares = kept.iter().map(|&k| shares[k].clone()).collect();
        };
        // x · over, and its squared length times over².
        let chosen: Matrix = corral.iter().map(|&i| points[i].clone()).collect();
        let x = combine(&chosen, &numerators, width);
        let squared = dot(&x, &x);
        let (least, worst) = points.iter().enumerate().map(|(i, point)| (dot(&x, point), i)).min().unwrap();
        if &least * &over >= squared {
            assert!(positive(&over) && numerators.iter().fold(IBig::ZERO, |sum, share| sum + share) == over);
            return RBig::from(squared) / RBig::from(&over * &over);
        }
        shares = numerators.into_iter().map(|top| RBig::from(top) / RBig::from(over.clone())).collect();
        corral.push(worst);
        shares.push(RBig::ZERO);
    }
}

/// γ*² of rows z that some boundary through the origin separates.
pub(crate) fn squared_margin(rows: &[Vec<f64>]) -> RBig {
    let (points, exponent) = whole(rows);
    nearest_squared(&points) * scaled(&IBig::ONE, 2 * exponent)
}

/// γ*² with a free bias: a quarter of the squared distance of the hulls of the two sides.
pub(crate) fn squared_margin_free(rows: &[Vec<f64>], signs: &[i8]) -> RBig {
    let (points, exponent) = whole(rows);
    let side = |sign: i8| (0..rows.len()).filter(move |&i| signs[i] == sign);
    let difference = |i: usize, j: usize| points[i].iter().zip(&points[j]).map(|(a, b)| a - b).collect();
    let differences: Matrix =
        side(1).flat_map(|i| side(-1).map(move |j| (i, j))).map(|(i, j)| difference(i, j)).collect();
    nearest_squared(&differences) * scaled(&IBig::ONE, 2 * exponent - 2)
}

mod tests {
    use super::*;
    use linsep::random::Random;

    fn inside(rows: &[&[f64]]) -> Vec<usize> {
        let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.to_vec()).collect();
        boundary(&rows).iter().enumerate().filter_map(|(i, &inside)| inside.then_some(i)).collect()
    }

    #[test]
    fn floats_are_split_exactly() {
        for value in [1.0, -1.5, 0.1, 5e-324, -2.2250738585072014e-308, f64::MAX, 3.0 * 2f64.powi(-1074), 0.0]
        {
            let (whole, exponent) = split(value);
            let (half, rest) = (exponent / 2, exponent - exponent / 2);
            let back = whole.to_f64().value() * 2f64.powi(half as i32) * 2f64.powi(rest as i32);
            assert_eq!(back, value);
            assert!(value == 0.0 || !zero(&(whole & IBig::ONE)));
        }
    }

    #[test]
    fn hand_made_boundaries() {
        assert!(inside(&[&[1.0, 0.0], &[0.0, 1.0]]).is_empty());
        assert_eq!(inside(&[&[1.0, 0.0], &[-3.0, 0.0]]), [0, 1]);
        assert_eq!(inside(&[&[1.0, 0.0], &[-3.0, 0.0], &[0.0, 1.0]]), [0, 1]);
        assert_eq!(inside(&[&[0.0, 0.0], &[1.0, 1.0]]), [0]);
        // A second face appears only once the first is known.
        assert_eq!(
            inside(&[
                &[1.0, 0.0, 0.0],
                &[-1.0, 0.0, 0.0],
                &[5.0, 1.0, 0.0],
                &[7.0, -1.0, 0.0],
                &[0.0, 0.0, 1.0]
            ]),
            [0, 1, 2, 3]
        );
        // Three directions at the corners of a triangle around the origin, and then moved by the least amount.
        assert_eq!(inside(&[&[1.0, 0.0], &[0.0, 1.0], &[-1.0, -1.0]]), [0, 1, 2]);
        assert!(inside(&[&[1.0, 5e-324], &[-1.0, 0.0]]).is_empty());
        assert!(inside(&[&[1e300, 1e-300], &[-1e300, 0.0]]).is_empty());
        assert!(inside(&[&[0.1, 0.2], &[-0.3, -0.6000000000000001]]).is_empty());
        assert_eq!(inside(&[&[0.1, 0.2], &[-0.4, -0.8]]), [0, 1]);
    }

    #[test]
    fn hand_made_margins() {
        let squared =
            |rows: &[&[f64]]| squared_margin(&rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>());
        assert_eq!(squared(&[&[3.0, 4.0]]), RBig::from(25));
        assert_eq!(squared(&[&[1.0, 0.0], &[0.0, 1.0]]), RBig::ONE / RBig::from(2));
        assert_eq!(squared(&[&[1.0, 9.0], &[1.0, -2.0], &[4.0, 0.0]]), RBig::ONE);
        let rows = [vec![2.0, 1.0], vec![2.0, -3.0], vec![-1.0, 0.0], vec![-5.0, 2.0]];
        assert_eq!(squared_margin_free(&rows, &[1, 1, -1, -1]), RBig::from(9) / RBig::from(4));
    }

    #[test]
    fn hand_made_circuits_and_ranks() {
        let rows = [vec![1.0, 0.0], vec![0.0, 2.0], vec![-1.0, -1.0]];
        let shares = circuit(&rows).unwrap();
        assert_eq!(shares, [2, 1, 2].map(|share| RBig::from(share) / RBig::from(5)));
        assert_eq!(circuit(&rows[..2]), None);
        assert_eq!(circuit(&[vec![1.0], vec![-1.0], vec![-2.0]]), None);
        assert_eq!(circuit(&[vec![0.0, 0.0]]), Some(vec![RBig::ONE]));
        assert_eq!((rank(&rows), rank(&[vec![0.1, 0.2], vec![0.2, 0.4]])), (2, 1));
        assert_eq!(rank(&[vec![0.1, 0.3], vec![0.2, 0.6000000000000001]]), 2);
    }

    /// The least squared distance of all faces, each tried: what Wolfe's method must find.
    fn by_all_faces(points: &Matrix) -> RBig {
        let mut best: Option<RBig> = None;
        for chosen in 1u32..1 << points.len() {
            let corral: Vec<usize> = (0..points.len()).filter(|i| chosen >> i & 1 == 1).collect();
            let sides: Matrix = corral[1..]
                .iter()
                .map(|&i| points[i].iter().zip(&points[corral[0]]).map(|(a, b)| a - b).collect())
                .collect();
            if corral.len() > points[0].len() + 1 || rank_whole(&sides) < sides.len() {
                continue;
            }
            let (numerators, over) = nearest_affine(points, &corral);
            if !numerators.iter().any(negative) {
                let rows: Matrix = corral.iter().map(|&i| points[i].clone()).collect();
                let x = combine(&rows, &numerators, points[0].len());
                let squared = RBig::from(dot(&x, &x)) / RBig::from(&over * &over);
                best = best.into_iter().chain([squared]).min();
            }
        }
        best.unwrap()
    }

    #[test]
    fn both_ways_to_the_margin_agree() {
        let mut random = Random::new(11);
        for _ in 0..150 {
            let (n, d) = (1 + random.below(7), 1 + random.below(4));
            let shift = random.below(4) as i64;
            let points: Matrix = (0..n)
                .map(|_| (0..d).map(|_| IBig::from(random.below(9) as i64 - 4 + shift)).collect())
                .collect();
            let found = nearest_squared(&points);
            assert_eq!(found, by_all_faces(&points), "{points:?}");
            let rows: Vec<Vec<f64>> =
                points.iter().map(|row| row.iter().map(|value| value.to_f64().value()).collect()).collect();
            // The margin is zero just where no boundary has all rows strictly on its right side.
            assert_eq!(found == RBig::ZERO, boundary(&rows).contains(&true), "{points:?}");
        }
    }
}

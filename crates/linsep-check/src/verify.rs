//! The decision on a verdict: accepted, or rejected and why.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::certificate::{
    Accepted, Bias, Certificate, Claim, Margin, Refusal, Rejected, Sparse, Status, Terms,
};
use crate::certificate::{Checked, ensure, rejected};
use crate::columns;
use crate::numbers::{Dyadic, Sum};
use crate::rank::{Echelon, image, image_of_float};
use crate::rows::{Data, Examples};

/// A number that is to be squared has at most so many bits: a square takes time with the square of the length.
const SQUARE_LIMIT: u64 = 1 << 18;
/// The matrices whose ranks are asked for have at most so many entries, of 8 bytes each.
pub(crate) const MATRIX_LIMIT: usize = 1 << 28;
/// Coordinates of a combination that are summed at the same time have at most so many words.
const BLOCK_LIMIT: usize = 1 << 22;

/// Checks a certificate against the data, exactly. Nothing in the certificate is trusted. Rows that all belong to the same
/// side are refused: [`verify_on`] can allow them.
pub fn verify(certificate: &Certificate, examples: &dyn Examples) -> Result<Accepted, Rejected> {
    verify_on(Terms::default(), certificate, examples)
}

/// Checks a certificate against the data, exactly, on terms of the caller.
pub fn verify_on(
    terms: Terms<'_>,
    certificate: &Certificate,
    examples: &dyn Examples,
) -> Result<Accepted, Rejected> {
    let data = &Data::new(examples, certificate.bias, terms);
    let (claimed, found) = (&certificate.subject, (examples.rows(), data.features));
    if (claimed.rows, claimed.features) != found {
        let of = format!("it is about {} rows with {} features", claimed.rows, claimed.features);
        return rejected(None, format!("{of}, but the data has {} rows with {} features", found.0, found.1));
    }
    ensure(!data.present.is_empty(), None, "no row belongs to a side")?;
    let up: HashSet<&String> = claimed.positive.iter().collect();
    ensure(!claimed.negative.iter().any(|class| up.contains(class)), None, "a class is on both sides")?;
    let bias = data.bias.is_none_or(|value| value.is_finite() && value > 0.0);
    ensure(bias, None, "the appended value is not a positive number")?;
    let boundary = verdict(data, certificate)?;
    columns::check(data, &certificate.columns, &boundary)?;
    if data.one_sided && !terms.allow_one_sided {
        let reason = "all rows belong to the same side, so nothing is told apart".into();
        return Err(Rejected { refusal: Refusal::OneSided, row: None, reason });
    }
    let (boundary_rows, boundary_is_exact) = (boundary.rows, boundary.is_exact);
    Ok(Accepted { rows: data.present.len(), boundary_rows, boundary_is_exact, one_sided: data.one_sided })
}

/// What the proof of a verdict shows of the boundary rows, those with ⟨w, z⟩ = 0.
pub(crate) struct Boundary {
    rows: usize,
    /// Whether they are forced: ⟨δ, z⟩ = 0 for every δ of K.
    is_exact: bool,
    /// If they are forced by the rank argument: the coordinates U that they use, and the kernel.
    pub(crate) space: Option<(Vec<usize>, Vec<Sparse>)>,
}

/// Checks the verdict.
fn verdict(data: &Data<'_>, certificate: &Certificate) -> Checked<Boundary> {
    let coefficients = &certificate.columns.coefficients;
    let ranked = coefficients.iter().any(|(_, status)| *status == Status::Finite);
    match &certificate.claim {
        Claim::Complete { weights, margin } => {
            complete(data, certificate.bias, weights, margin)?;
            Ok(Boundary { rows: 0, is_exact: true, space: None })
        }
        Claim::QuasiComplete { weights, combination, kernel } => {
            let zero = nowhere_negative(data, weights, "weights")?;
            ensure(zero.len() < data.present.len(), None, "the weights give 0 for every row")?;
            ensure(!combination.is_empty(), None, "the combination is empty")?;
            forced(data, &zero, combination, kernel, ranked)
        }
        Claim::Overlap { combination, kernel } => {
            // With w = 0 every row is on the boundary.
            let boundary = forced(data, &data.present, combination, kernel, ranked)?;
            ensure(boundary.is_exact, None, "the combination's rows are not shown to span all rows")?;
            Ok(boundary)
        }
    }
}

/// Places increase and are below `width`; entries are not zero and within the limits.
fn well_formed(vector: &Sparse, width: usize, name: &str) -> Checked {
    let increase = vector.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let within = vector.last().is_none_or(|(place, _)| *place < width);
    let sound = vector.iter().all(|(_, c)| c.is_writable() && c.sign().is_ne());
    let what = "places do not increase or are out of range, or with a zero or a number beyond the limits";
    if increase && within && sound { Ok(()) } else { rejected(None, format!("the {name}: {what}")) }
}

/// ⟨v, z⟩ as a sum with this range, which is that of v or larger ([`Sum::range`]).
///
/// Both lists are ordered by place. Where they differ, the one that is behind skips to the place of the other by bisection.
fn product(range: (i64, i64), v: &Sparse, z: &[(usize, f64)]) -> Sum {
    let (mut sum, mut v, mut z) = (Sum::new(range), &v[..], z);
    while let (Some((a, c)), Some((b, value))) = (v.first(), z.first()) {
        match a.cmp(b) {
            Ordering::Less => v = &v[v.partition_point(|(place, _)| place < b)..],
            Ordering::Greater => z = &z[z.partition_point(|(place, _)| place < a)..],
            Ordering::Equal => {
                sum.add_float(c, *value);
                (v, z) = (&v[1..], &z[1..]);
            }
        }
    }
    sum
}

/// Checks that ⟨v, z⟩ ≥ 0 for every row, and gives the rows with ⟨v, z⟩ = 0.
pub(crate) fn nowhere_negative(data: &Data<'_>, v: &Sparse, name: &str) -> Checked<Vec<usize>> {
    well_formed(v, data.width(), name)?;
    let (range, settled) = (Sum::range([v]), data.examples.settled(v, data.bias, 0.0, 0));
    let zero = data.scan(&data.present, &settled, |zero: &mut Vec<usize>, i, z| {
        let sign = product(range, v, z).sign();
        zero.extend(Some(i).filter(|_| sign.is_eq()));
        ensure(sign.is_ge(), i, "the weights, or a member, put the row on the wrong side")
    })?;
    Ok(zero.concat())
}

/// Checks that ⟨v, z⟩ = 0 for each of these vectors and rows.
pub(crate) fn orthogonal(data: &Data<'_>, rows: &[usize], vectors: &[&Sparse]) -> Checked {
    vectors.iter().try_for_each(|v| well_formed(v, data.width(), "kernel or relation"))?;
    let range = Sum::range(vectors.iter().copied());
    let rows = if vectors.is_empty() { &[] } else { rows };
    data.scan(rows, &|_| false, |(), i, z| {
        let orthogonal = vectors.iter().all(|v| product(range, v, z).sign().is_eq());
        ensure(orthogonal, i, "a vector of the kernel, or a relation, is not orthogonal to the row")
    })?;
    Ok(())
}

/// The coordinates in which one of the rows at least is not zero, in order.
fn used(data: &Data<'_>, rows: &[usize]) -> Checked<Vec<usize>> {
    let used: Vec<AtomicBool> = (0..data.width()).map(|_| AtomicBool::new(false)).collect();
    data.scan(rows, &|_| false, |(), _, z| {
        // Asked first: threads that only read a place do not slow each other.
        z.iter().filter(|z| !used[z.0].load(Relaxed)).for_each(|z| used[z.0].store(true, Relaxed));
        Ok(())
    })?;
    Ok((0..data.width()).filter(|&place| used[place].load(Relaxed)).collect())
}

/// Checks that the combination has λ > 0 for rows of a side, and calls `each` with the coordinates of Σ λ z, in order of their places. Those that
/// all its rows have 0 in are left out: they are 0. Sums can be long, so only a block of coordinates is summed at a time.
pub(crate) fn combine(
    data: &Data<'_>,
    combination: &Sparse,
    mut each: impl FnMut(usize, &Sum) -> Checked,
) -> Checked {
    well_formed(combination, data.examples.rows(), "combination")?;
    let negative = combination.iter().find(|(_, coefficient)| coefficient.sign().is_lt());
    ensure(negative.is_none(), negative.map(|(row, _)| *row), "the row's coefficient is negative")?;
    let rows: Vec<usize> = combination.iter().map(|(row, _)| *row).collect();
    let (places, range) = (used(data, &rows)?, Sum::range([combination]));
    let (mut slot, mut z) = (vec![0; data.width()], Vec::new());
    for block in places.chunks((BLOCK_LIMIT / Sum::new(range).words()).max(1)) {
        let mut sums: Vec<Sum> = block.iter().map(|_| Sum::new(range)).collect();
        block.iter().enumerate().for_each(|(i, &place)| slot[place] = i);
        for (row, coefficient) in combination {
            data.z(*row, &mut z)?;
            for (place, value) in z.iter().filter(|z| (block[0]..=block[block.len() - 1]).contains(&z.0)) {
                sums[slot[*place]].add_float(coefficient, *value);
            }
        }
        block.iter().zip(&sums).try_for_each(|(place, sum)| each(*place, sum))?;
    }
    Ok(())
}

/// Whether a² ≥ b²·c, for the two ends of the margin.
fn is_square_enough(a: &Dyadic, b: &Dyadic, c: &Dyadic) -> Checked<bool> {
    let mut square = Sum::new((2 * b.exponent(), 2 * b.top()));
    add_square(&mut square, b)?;
    let b = square.value();
    let low = (2 * a.exponent()).min(b.exponent() + c.exponent());
    let mut sum = Sum::new((low, (2 * a.top()).max(b.top() + c.top())));
    add_square(&mut sum, a)?;
    sum.add_product(&b, c, true);
    Ok(sum.sign().is_ge())
}

fn add_square(sum: &mut Sum, number: &Dyadic) -> Checked {
    ensure(number.bits() <= SQUARE_LIMIT, None, "the numbers of the margin's proof are too long")?;
    sum.add_product(number, number, false);
    Ok(())
}

/// ⟨w, z⟩ > 0 for every row, and the two ends of the margin.
fn complete(data: &Data<'_>, bias: Bias, w: &Sparse, margin: &Margin) -> Checked {
    let Margin { lower, upper, combination } = margin;
    let ends = Dyadic::from_f64(*lower).zip(Dyadic::from_f64(*upper));
    let Some((low, high)) = ends.filter(|_| 0.0 <= *lower && lower <= upper) else {
        return rejected(None, "the ends of the margin are not finite numbers with 0 ≤ lower ≤ upper");
    };
    // The norm is over the first so many coordinates: the weight of a free bias does not count.
    let norm = if bias == Bias::Free { data.features } else { data.width() };
    well_formed(w, data.width(), "weights")?;
    let (range, settled) = (Sum::range([w]), data.examples.settled(w, data.bias, *lower, norm));
    let least = data.scan(&data.present, &settled, |least: &mut Option<(Vec<u64>, usize)>, i, z| {
        let sum = product(range, w, z);
        ensure(sum.sign().is_gt(), i, "the weights put the row on the boundary or on the wrong side")?;
        // The least of the sums, which all have the same range and so compare like their words. A lower end of 0 needs none.
        let other = (*lower > 0.0).then(|| (sum.size(), i));
        *least = least.take().into_iter().chain(other).min();
        Ok(())
    })?;
    if *lower > 0.0 {
        let (mut square, mut counted) =
            (Sum::new((2 * range.0, 2 * range.1)), w.iter().filter(|c| c.0 < norm));
        counted.try_for_each(|(_, c)| add_square(&mut square, c))?;
        let square = square.value();
        ensure(square.sign().is_gt(), None, "the lower end is positive, but the weights have the norm 0")?;
        if let Some((size, row)) = least.into_iter().flatten().min() {
            let least = Dyadic::new(false, size.into_iter().rev().collect(), range.0);
            let reached = is_square_enough(&least, &low, &square)?;
            ensure(reached, row, "the row's margin is below the lower end that is claimed")?;
        }
    }
    if combination.is_empty() {
        return ensure(*upper == f64::MAX, None, "no combination proves the upper end of the margin");
    }
    upper_end(data, norm, &high, combination)
}

/// ‖Σ λ z‖ ≤ upper · Σ λ.
fn upper_end(data: &Data<'_>, norm: usize, upper: &Dyadic, combination: &Sparse) -> Checked {
    well_formed(combination, data.examples.rows(), "combination")?;
    let range = Sum::range([combination]);
    // A coordinate is a sum of fewer than 2^64 terms.
    let (mut square, mut total) = (Sum::new((2 * range.0, 2 * (range.1 + 64))), Sum::new(range));
    combination.iter().for_each(|(_, coefficient)| total.add_product(coefficient, upper, false));
    combine(data, combination, |place, sum| match place < norm {
        true => add_square(&mut square, &sum.value()),
        false => ensure(sum.sign().is_eq(), None, "the margin's combination does not weigh both sides alike"),
    })?;
    let one = Dyadic::new(false, vec![1], 0);
    let proved = is_square_enough(&total.value(), &one, &square.value())?;
    ensure(proved, None, "the combination does not prove the upper end of the margin")
}

/// Checks that Σ λ z = 0 for the combination, and tells whether this forces ⟨δ, z⟩ = 0, for every δ of K, for each of these boundary
/// rows. (The combination's rows are among them.) `ranked` asks for the rank argument even if the combination cites all of them.
fn forced(
    data: &Data<'_>,
    rows: &[usize],
    combination: &Sparse,
    kernel: &[Sparse],
    ranked: bool,
) -> Checked<Boundary> {
    combine(data, combination, |place, sum| match sum.sign() {
        Ordering::Equal => Ok(()),
        _ => rejected(None, format!("the combination of rows is not 0 at place {place}")),
    })?;
    let cited = rows.iter().all(|row| combination.binary_search_by_key(row, |(row, _)| *row).is_ok());
    let mut boundary = Boundary { rows: rows.len(), is_exact: cited, space: None };
    if cited && kernel.is_empty() && !ranked {
        return Ok(boundary);
    }

    // The rank argument. `places` is U; `slot` numbers its places.
    let places = used(data, rows)?;
    if places.len().saturating_mul(places.len().max(kernel.len())) > MATRIX_LIMIT {
        ensure(kernel.is_empty(), None, "the kernel has too many coordinates")?;
        return Ok(boundary);
    }
    orthogonal(data, rows, &kernel.iter().collect::<Vec<_>>())?;
    let mut slot = vec![None; data.width()];
    places.iter().enumerate().for_each(|(i, &place)| slot[place] = Some(i));
    let (mut independent, mut spanned, mut z) = (Echelon::default(), Echelon::default(), Vec::new());
    for vector in kernel {
        data.go_on()?;
        let within = vector.iter().filter_map(|(place, value)| Some((slot[*place]?, image(value))));
        independent.add(places.len(), within);
    }
    ensure(independent.rank() == kernel.len(), None, "the kernel is not shown to be independent")?;
    for (row, _) in combination {
        if spanned.rank() + kernel.len() < places.len() {
            data.z(*row, &mut z)?;
            let within = z.iter().filter_map(|(place, value)| Some((slot[*place]?, image_of_float(*value))));
            spanned.add(places.len(), within);
        }
    }
    if spanned.rank() + kernel.len() == places.len() {
        boundary.is_exact = true;
        boundary.space = Some((places, kernel.to_vec()));
    }
    let holds = boundary.space.is_some() || kernel.is_empty();
    ensure(holds, None, "the kernel does not show what the combination's rows span")?;
    Ok(boundary)
}

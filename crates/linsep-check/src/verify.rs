//! The decision on a verdict: accepted, or rejected and why.

use std::cmp::Ordering;
use std::collections::HashSet;

use crate::certificate::{Certificate, Claim, Margin, Status};
use crate::columns;
use crate::numbers::{Dyadic, Sparse, Sum};
use crate::rank::{image, rank};
use crate::rows::{Checked, Data, Examples, Stop, ensure, increase};

/// A number that is to be squared has at most so many bits: a square takes time with the square of the length.
const SQUARE_LIMIT: u64 = 1 << 18;
/// The numbers of one combination of rows have at most so many bits in all.
const VECTOR_LIMIT: u64 = 1 << 32;
/// The matrices whose ranks are asked for have at most so many entries, of 8 bytes each.
pub(crate) const MATRIX_LIMIT: usize = 1 << 28;

/// The statements that an accepted certificate proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Rows that belong to a side.
    pub rows: usize,
    /// Rows with ⟨w, z⟩ = 0.
    pub boundary_rows: usize,
    /// Whether each of those has ⟨w, z⟩ = 0 for every w with ⟨w, z⟩ ≥ 0 throughout.
    pub boundary_is_exact: bool,
    /// Whether all rows belong to the same side, so that nothing is said about telling two sides apart.
    pub one_sided: bool,
}

/// Checks a certificate against the data, exactly. Nothing in the certificate is trusted. Rows that all belong to the same
/// side are refused.
pub fn verify(certificate: &Certificate, examples: &dyn Examples) -> Checked<Accepted> {
    let accepted = check(certificate, examples, &|| false)?;
    ensure(!accepted.one_sided, None, "all rows are on one side, so the claim is vacuous")?;
    Ok(accepted)
}

/// The same, but whether all rows belong to the same side is left to the caller to judge. Once `stop` is true, the check ends with a
/// rejection that means nothing.
pub fn check(certificate: &Certificate, examples: &dyn Examples, stop: Stop<'_>) -> Checked<Accepted> {
    let data = &Data::new(examples, certificate.bias, stop);
    let size = |rows, features| format!("{rows} rows with {features} features");
    let subject = &certificate.subject;
    let (about, found) = (size(subject.rows, subject.features), size(examples.rows(), data.features));
    ensure(about == found, None, format!("it is about {about}, but the data has {found}"))?;
    ensure(!data.present.is_empty(), None, "no row belongs to a side")?;
    let up: HashSet<&String> = subject.positive.iter().collect();
    ensure(!subject.negative.iter().any(|class| up.contains(class)), None, "a class is on both sides")?;
    let bias = data.bias.is_none_or(|value| value.is_finite() && value > 0.0);
    ensure(bias, None, "the appended value is not a positive number")?;
    let (boundary_rows, boundary_is_exact, space) = verdict(data, certificate)?;
    columns::check(data, &certificate.columns, space)?;
    let one_sided = data.present.windows(2).all(|pair| examples.side(pair[0]) == examples.side(pair[1]));
    Ok(Accepted { rows: data.present.len(), boundary_rows, boundary_is_exact, one_sided })
}

/// What the rank argument shows: the coordinates U of the boundary rows, and the kernel.
pub(crate) type Space<'a> = Option<(Vec<usize>, &'a [Sparse])>;

/// Checks the verdict. Gives the number of boundary rows, those with ⟨w, z⟩ = 0; whether they are all shown to be forced, which means
/// ⟨δ, z⟩ = 0 for every δ of K; and the space, if that was shown by the rank argument.
fn verdict<'a>(data: &Data, certificate: &'a Certificate) -> Checked<(usize, bool, Space<'a>)> {
    let (rows, combination, kernel) = match &certificate.claim {
        Claim::Complete { weights, margin } => {
            return complete(data, weights, margin).map(|()| (0, true, None));
        }
        Claim::QuasiComplete { weights, combination, kernel } => {
            let zero = signs(data, weights, Ordering::Equal, "weights")?;
            ensure(zero.len() < data.present.len(), None, "the weights give 0 for every row")?;
            ensure(!combination.is_empty(), None, "the combination is empty")?;
            (zero, combination, kernel)
        }
        // With w = 0 every row is on the boundary.
        Claim::Overlap { combination, kernel } => (data.present.clone(), combination, kernel),
    };
    ensure(combine(data, combination)?.is_empty(), None, "the combination of rows is not 0")?;
    // The rank argument is made where it is needed: for rows that are not cited, and for claims of finite coefficients, which rest on
    // it. A kernel that is given must hold in any case.
    let cited = rows.iter().all(|row| combination.binary_search_by_key(row, |(row, _)| *row).is_ok());
    let finite = certificate.columns.coefficients.iter().any(|(_, status)| *status == Status::Finite);
    let is_ranked = !cited || !kernel.is_empty() || finite;
    let space = if is_ranked { spanned(data, &rows, combination, kernel)? } else { None };
    // All rows are on the boundary only for overlap: the weights of quasi-complete are above 0 for one row at least.
    let (forced, is_overlap) = (cited || space.is_some(), rows.len() == data.present.len());
    ensure(forced || !is_overlap, None, "the combination's rows are not shown to span all rows")?;
    Ok((rows.len(), forced, space))
}

/// Places increase and are below `end`; entries are not zero and within the limits.
fn well_formed(vector: &Sparse, end: usize, name: &str) -> Checked {
    let places = increase(vector.iter().map(|(place, _)| *place), end);
    let numbers = vector.iter().all(|(_, c)| c.is_writable() && c.sign().is_ne());
    let what = "places do not increase or are out of range, or with a zero or a number beyond the limits";
    ensure(places && numbers, None, format!("the {name}: {what}"))
}

/// The function that gives ⟨v, z⟩ for the coordinates of a row.
fn product_with(v: &Sparse) -> impl Fn(&[(usize, f64)]) -> Sum {
    let range = Sum::range(v);
    move |z| {
        let mut sum = Sum::new(range);
        for (place, value) in z {
            if let Ok(at) = v.binary_search_by_key(place, |(place, _)| *place) {
                sum.add_float(&v[at].1, *value);
            }
        }
        sum
    }
}

/// Checks that ⟨v, z⟩ ≥ 0 for every row, or > 0 if `least` is greater, and gives the rows with ⟨v, z⟩ = 0.
pub(crate) fn signs(data: &Data, v: &Sparse, least: Ordering, name: &str) -> Checked<Vec<usize>> {
    well_formed(v, data.width, name)?;
    let (product, mut zero) = (product_with(v), Vec::new());
    let place = if least.is_gt() { "on the boundary or on" } else { "on" };
    for i in data.examples.unsettled(v, data.bias, 0.0, 0) {
        let sign = product(&data.z(i)?).sign();
        ensure(sign >= least, i, format!("the {name} put the row {place} the wrong side"))?;
        zero.extend(sign.is_eq().then_some(i));
    }
    Ok(zero)
}

/// Checks that ⟨v, z⟩ = 0 for each of these vectors and rows.
pub(crate) fn orthogonal(data: &Data, rows: &[usize], vectors: &[&Sparse]) -> Checked {
    vectors.iter().try_for_each(|v| well_formed(v, data.width, "kernel or relation"))?;
    let products: Vec<_> = vectors.iter().map(|v| product_with(v)).collect();
    for &i in rows.iter().filter(|_| !products.is_empty()) {
        let z = data.z(i)?;
        let orthogonal = products.iter().all(|product| product(&z).sign().is_eq());
        ensure(orthogonal, i, "a vector of the kernel, or a relation, is not orthogonal to the row")?;
    }
    Ok(())
}

/// Checks that the combination has λ > 0 for rows of a side, and gives Σ λ z.
pub(crate) fn combine(data: &Data, lambda: &Sparse) -> Checked<Sparse> {
    well_formed(lambda, data.examples.rows(), "combination")?;
    let mut terms = Vec::new();
    for (row, coefficient) in lambda {
        ensure(coefficient.sign().is_gt(), *row, "the row's coefficient is negative")?;
        terms.extend(data.z(*row)?.into_iter().map(|(place, value)| (place, coefficient, value)));
    }
    terms.sort_unstable_by_key(|(place, ..)| *place);
    let (range, mut vector, mut bits) = (Sum::range(lambda), Sparse::new(), 0);
    for terms in terms.chunk_by(|a, b| a.0 == b.0) {
        data.go_on()?;
        let mut sum = Sum::new(range);
        terms.iter().for_each(|(_, coefficient, value)| sum.add_float(coefficient, *value));
        vector.push((terms[0].0, sum.value()));
        bits += vector.last().map_or(0, |(_, value)| value.bits());
        ensure(bits <= VECTOR_LIMIT, None, "the numbers of the combination are too long")?;
    }
    vector.retain(|(_, value)| value.sign().is_ne());
    Ok(vector)
}

/// ⟨w, z⟩ > 0 for every row, and the two ends of the margin.
fn complete(data: &Data, w: &Sparse, margin: &Margin) -> Checked {
    let Margin { lower, upper, combination } = margin;
    let ends = "the ends of the margin are not finite numbers with 0 ≤ lower ≤ upper";
    ensure(0.0 <= *lower && lower <= upper && upper.is_finite(), None, ends)?;
    signs(data, w, Ordering::Greater, "weights")?;
    if *lower > 0.0 {
        lower_end(data, *lower, w)?;
    }
    if combination.is_empty() {
        return ensure(*upper == f64::MAX, None, "no combination proves the upper end of the margin");
    }
    upper_end(data, *upper, combination)
}

/// Adds the square of a number, or subtracts it.
fn add_square(sum: &mut Sum, number: &Dyadic, negative: bool) -> Checked {
    ensure(number.bits() <= SQUARE_LIMIT, None, "the numbers of the margin's proof are too long")?;
    sum.add_product(number, number, negative);
    Ok(())
}

/// ⟨w, z⟩² ≥ ‖lower·w‖² for the row with the least ⟨w, z⟩. Each ⟨w, z⟩ is known to be positive, so the least is the one with the least size.
fn lower_end(data: &Data, lower: f64, w: &Sparse) -> Checked {
    let (product, mut difference) = (product_with(w), Sum::of_squares(Sum::range(w)));
    for (place, _) in w.iter().filter(|(place, _)| *place < data.norm) {
        // The product with lower·e_place is lower·w at that place.
        add_square(&mut difference, &product(&[(*place, lower)]).value(), true)?;
    }
    ensure(difference.sign().is_ne(), None, "the lower end is positive, but the weights have the norm 0")?;
    let mut least = None;
    for i in data.examples.unsettled(w, data.bias, lower, data.norm) {
        let other = (product(&data.z(i)?).size(), i);
        least = least.into_iter().chain([other]).min();
    }
    // Rows that are settled are known to be above the lower end: if all are, nothing is left to check.
    let Some((_, row)) = least else { return Ok(()) };
    add_square(&mut difference, &product(&data.z(row)?).value(), false)?;
    ensure(difference.sign().is_ge(), row, "the row's margin is below the lower end that is claimed")
}

/// (upper·Σ λ)² ≥ ‖Σ λ z‖².
fn upper_end(data: &Data, upper: f64, lambda: &Sparse) -> Checked {
    let vector = combine(data, lambda)?;
    // The place of a free bias, the last one, does not count in the norm: there the vector is Σ λ y, which must be 0.
    let alike = vector.last().is_none_or(|(place, _)| *place < data.norm);
    ensure(alike, None, "the margin's combination does not weigh both sides alike")?;
    let range = Sum::range(lambda);
    let (mut difference, mut total) = (Sum::of_squares(range), Sum::new(range));
    lambda.iter().for_each(|(_, coefficient)| total.add_float(coefficient, upper));
    add_square(&mut difference, &total.value(), false)?;
    vector.iter().try_for_each(|(_, value)| add_square(&mut difference, value, true))?;
    ensure(difference.sign().is_ge(), None, "the combination does not prove the upper end of the margin")
}

/// The rank argument: whether the rows of the combination span these boundary rows, which they are among.
fn spanned<'a>(data: &Data, rows: &[usize], lambda: &Sparse, kernel: &'a [Sparse]) -> Checked<Space<'a>> {
    let (mut used, mut count) = (vec![false; data.width], 0);
    for row in rows {
        // The rows of a dense table use all places at once.
        for (place, _) in if count < data.width { data.z(*row)? } else { Vec::new() } {
            count += usize::from(!used[place]);
            used[place] = true;
        }
    }
    let places: Vec<usize> = (0..data.width).filter(|&place| used[place]).collect();
    if places.len().saturating_mul(places.len().max(kernel.len())) > MATRIX_LIMIT {
        // Too much work. Without a kernel nothing is claimed by it, and the rows are just not shown to be spanned.
        return ensure(kernel.is_empty(), None, "the kernel has too many coordinates").map(|()| None);
    }
    orthogonal(data, rows, &kernel.iter().collect::<Vec<_>>())?;
    // A coordinate in U, counted within U, and its image.
    let within = |place: &usize, value: &Dyadic| Some((places.binary_search(place).ok()?, image(value)));
    let images = kernel.iter().map(|vector| {
        data.go_on()?;
        Ok(vector.iter().filter_map(|(place, value)| within(place, value)).collect())
    });
    let independent = rank(images, places.len(), kernel.len())? == kernel.len();
    ensure(independent, None, "the kernel is not shown to be independent")?;
    let images = lambda.iter().map(|(row, _)| {
        let z = data.z(*row)?;
        Ok(z.iter().filter_map(|(place, value)| within(place, &Dyadic::from_f64(*value)?)).collect())
    });
    let spanned = rank(images, places.len(), places.len() - kernel.len())? + kernel.len() == places.len();
    ensure(spanned || kernel.is_empty(), None, "the kernel does not show what the combination's rows span")?;
    Ok(spanned.then_some((places, kernel)))
}

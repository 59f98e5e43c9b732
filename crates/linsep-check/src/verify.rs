//! The decision: accepted, or rejected and why.

use std::cmp::Ordering;

use crate::certificate::{Bias, Certificate, Claim, Margin, Sparse, Status};
use crate::columns;
use crate::dyadic::Dyadic;
use crate::exact::{Accumulator, Form, Frame};
use crate::rank::{self, Echelon};
use crate::rows::{Data, Examples, scan};

/// What an accepted certificate proves.
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

/// How a certificate is checked.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    /// Accept a claim about rows that all belong to the same side. Such a claim may be true, but it says nothing about telling
    /// two sides apart: with a bias, weights of zero put all rows on their side.
    pub allow_one_sided: bool,
    /// Asked every few rows; once it says true, the check ends without an answer.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Default for Terms<'_> {
    fn default() -> Self {
        Self { allow_one_sided: false, stop: &|| false }
    }
}

/// In which way a certificate was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It does not prove its claim.
    Unproved,
    /// It proves its claim, but all rows belong to the same side ([`Terms::allow_one_sided`]).
    OneSided,
    /// The check was stopped before it had an answer ([`Terms::stop`]).
    Stopped,
}

/// Why a certificate does not prove its claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// In which way.
    pub refusal: Refusal,
    /// The row at fault, counted from 0, if it is one row.
    pub row: Option<usize>,
    /// What fails.
    pub reason: String,
}

impl std::fmt::Display for Rejected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.refusal {
            Refusal::Unproved => write!(f, "The certificate does not prove its claim: {}.", self.reason),
            Refusal::OneSided => write!(f, "The certificate shows nothing: {}.", self.reason),
            Refusal::Stopped => write!(f, "The certificate was not checked to the end: {}.", self.reason),
        }
    }
}

impl std::error::Error for Rejected {}

/// A rejection because of one row, or of no single row.
pub(crate) fn rejected<T>(row: impl Into<Option<usize>>, reason: impl Into<String>) -> Result<T, Rejected> {
    Err(Rejected { refusal: Refusal::Unproved, row: row.into(), reason: reason.into() })
}

/// A number that is to be squared has at most so many bits: a square takes time with the square of the length.
const SQUARE_LIMIT: u64 = 1 << 18;

/// The matrices whose ranks are asked for have at most so many entries, of 8 bytes each.
const RANK_LIMIT: usize = 1 << 28;

/// Checks a certificate against the data, exactly. Nothing in the certificate is trusted. Rows that all belong to the same
/// side are refused: [`verify_on`] can allow them.
pub fn verify(certificate: &Certificate, examples: &impl Examples) -> Result<Accepted, Rejected> {
    verify_on(Terms::default(), certificate, examples)
}

/// Checks a certificate against the data, exactly, on terms of the caller.
pub fn verify_on(
    terms: Terms<'_>,
    certificate: &Certificate,
    examples: &impl Examples,
) -> Result<Accepted, Rejected> {
    let accepted = prove(certificate, examples, terms.stop)?;
    if accepted.one_sided && !terms.allow_one_sided {
        let reason = "all rows belong to the same side, so nothing is told apart".to_string();
        return Err(Rejected { refusal: Refusal::OneSided, row: None, reason });
    }
    Ok(accepted)
}

/// Whether the claim is true of the rows.
fn prove(
    certificate: &Certificate,
    examples: &impl Examples,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Accepted, Rejected> {
    let bias = match certificate.bias {
        Bias::None => None,
        Bias::Append(value) if value.is_finite() && value > 0.0 => Some(value),
        Bias::Append(_) => return rejected(None, "the appended value is not a positive number"),
        Bias::Free => Some(1.0),
    };
    let data = &Data::new(examples, bias, stop);
    let subject = &certificate.subject;
    if (subject.rows, subject.features) != (data.rows(), data.features) {
        let (rows, features) = (data.rows(), data.features);
        return rejected(
            None,
            format!(
                "it is about {} rows with {} features, but the data has {rows} rows with {features} features",
                subject.rows, subject.features
            ),
        );
    }
    let mut shown = Boundary::default();
    let accepted = verdict(data, certificate, &mut shown)?;
    columns::check(data, &certificate.columns, &shown)?;
    Ok(accepted)
}

/// The rows that every member of K puts on the boundary, as far as the verdict shows it.
#[derive(Default)]
pub(crate) struct Boundary {
    /// Whether all rows with ⟨w, z⟩ = 0 are shown to be such rows.
    exact: bool,
    /// If the rank argument was made: the coordinates U of these rows, and the kernel.
    pub(crate) space: Option<(Vec<usize>, Vec<Sparse>)>,
}

/// Checks the verdict.
fn verdict(data: &Data<'_>, certificate: &Certificate, shown: &mut Boundary) -> Result<Accepted, Rejected> {
    let coefficients = &certificate.columns.coefficients;
    let finite_claims = coefficients.iter().any(|(_, status)| *status == Status::Finite);
    match &certificate.claim {
        Claim::Complete { weights, margin } => {
            well_formed(weights, data.width(), "weights")?;
            complete(data, certificate.bias, weights, margin)
        }
        Claim::QuasiComplete { weights, combination, kernel } => {
            well_formed(weights, data.width(), "weights")?;
            let signs = signs(data, weights)?;
            if signs.boundary.len() == signs.present() {
                return rejected(None, "the weights give 0 for every row, but must give more for some row");
            }
            if combination.is_empty() {
                return rejected(None, "the combination is empty");
            }
            *shown = boundary(data, &signs.boundary, combination, kernel, finite_claims)?;
            Ok(Accepted {
                rows: signs.present(),
                boundary_rows: signs.boundary.len(),
                boundary_is_exact: shown.exact,
                one_sided: signs.is_one_sided(),
            })
        }
        Claim::Overlap { combination, kernel } => {
            // With w = 0 every row is on the boundary.
            let signs = signs(data, &[])?;
            *shown = boundary(data, &signs.boundary, combination, kernel, finite_claims)?;
            if !shown.exact {
                return rejected(None, "the rows of the combination are not shown to span all rows");
            }
            Ok(Accepted {
                rows: signs.present(),
                boundary_rows: signs.present(),
                boundary_is_exact: true,
                one_sided: signs.is_one_sided(),
            })
        }
    }
}

/// Places increase and are below `width`; entries are not zero and within the limits.
pub(crate) fn well_formed(vector: &[(usize, Dyadic)], width: usize, name: &str) -> Result<(), Rejected> {
    if !vector.windows(2).all(|pair| pair[0].0 < pair[1].0) {
        return rejected(None, format!("the places of the {name} do not increase"));
    }
    if vector.last().is_some_and(|(place, _)| *place >= width) {
        return rejected(None, format!("a place of the {name} is out of range"));
    }
    if vector.len() >= u32::MAX as usize || !vector.iter().all(|(_, c)| c.is_writable() && c.sign().is_ne()) {
        return rejected(None, format!("the {name} have an entry that is zero or beyond the limits"));
    }
    Ok(())
}

/// A combination of rows that belong to a side, with positive coefficients.
pub(crate) fn well_combined(data: &Data<'_>, combination: &[(usize, Dyadic)]) -> Result<(), Rejected> {
    well_formed(combination, data.rows(), "rows of the combination")?;
    for (row, coefficient) in combination {
        data.go_on()?;
        if coefficient.sign().is_lt() {
            return rejected(*row, "the row's coefficient in the combination is negative");
        }
        match data.row(*row)? {
            Some((values, _)) => data.finite(*row, values)?,
            None => return rejected(*row, "the combination uses a row that belongs to neither side"),
        }
    }
    Ok(())
}

/// What a pass over the rows found.
pub(crate) struct Signs {
    /// Rows of the positive and of the negative side.
    sides: [usize; 2],
    /// The rows with ⟨w, z⟩ = 0, in order.
    pub(crate) boundary: Vec<usize>,
}

impl Signs {
    /// Rows that belong to a side.
    pub(crate) fn present(&self) -> usize {
        self.sides[0] + self.sides[1]
    }

    fn is_one_sided(&self) -> bool {
        self.sides.contains(&0)
    }
}

/// Checks that ⟨w, z⟩ ≥ 0 for every row.
pub(crate) fn signs(data: &Data<'_>, weights: &[(usize, Dyadic)]) -> Result<Signs, Rejected> {
    let form = &Form::new(weights, data.width(), true);
    let step = |(found, sum): &mut (Signs, Accumulator), i| {
        let Some((row, negative)) = data.row(i)? else { return Ok(()) };
        found.sides[usize::from(negative)] += 1;
        if form.estimate(data, row, negative).is_some_and(|estimate| estimate.value > estimate.error) {
            return Ok(());
        }
        data.finite(i, row)?;
        form.exact(data, row, negative, sum);
        match sum.sign() {
            Ordering::Less => return rejected(i, "the weights put the row on the wrong side"),
            Ordering::Equal => found.boundary.push(i),
            Ordering::Greater => {}
        }
        Ok(())
    };
    let state = || (Signs { sides: [0; 2], boundary: Vec::new() }, form.accumulator());
    let mut all = Signs { sides: [0; 2], boundary: Vec::new() };
    for (found, _) in scan(data, data.rows(), state, step)? {
        all.sides = add(all.sides, found.sides);
        all.boundary.extend(found.boundary);
    }
    all.boundary.sort_unstable();
    if all.present() == 0 {
        return rejected(None, "no row belongs to a side");
    }
    Ok(all)
}

fn add([a, b]: [usize; 2], [c, d]: [usize; 2]) -> [usize; 2] {
    [a + c, b + d]
}

/// ⟨w, z⟩ > 0 for every row, and the two ends of the margin.
fn complete(data: &Data<'_>, bias: Bias, weights: &Sparse, margin: &Margin) -> Result<Accepted, Rejected> {
    let Margin { lower, upper, combination } = margin;
    let ends = Dyadic::from_f64(*lower).zip(Dyadic::from_f64(*upper));
    let Some((low, high)) = ends.filter(|_| 0.0 <= *lower && lower <= upper) else {
        return rejected(None, "the ends of the margin are not finite numbers with 0 ≤ lower ≤ upper");
    };
    // The weight of a free bias does not count in the norm.
    let norm = if bias == Bias::Free { data.features } else { data.width() };

    let form = &Form::new(weights, data.width(), true);
    let threshold = form.threshold(*lower, norm);
    // Rows that the filter leaves open: of these, the one with the least ⟨w, z⟩ stands for all.
    type Least = Option<(Dyadic, usize)>;
    let step = |(sides, least, sum): &mut ([usize; 2], Least, Accumulator), i| {
        let Some((row, negative)) = data.row(i)? else { return Ok(()) };
        sides[usize::from(negative)] += 1;
        let estimate = form.estimate(data, row, negative);
        if estimate.is_some_and(|estimate| estimate.value > estimate.error + threshold) {
            return Ok(());
        }
        data.finite(i, row)?;
        form.exact(data, row, negative, sum);
        match sum.sign() {
            Ordering::Less => return rejected(i, "the weights put the row on the wrong side"),
            Ordering::Equal => return rejected(i, "the weights put the row on the boundary"),
            Ordering::Greater if low.sign().is_gt() => {
                let candidate = (sum.value(), i);
                if least.as_ref().is_none_or(|least| candidate < *least) {
                    *least = Some(candidate);
                }
            }
            Ordering::Greater => {}
        }
        Ok(())
    };
    let states = scan(data, data.rows(), || ([0; 2], None, form.accumulator()), step)?;
    let sides = states.iter().fold([0; 2], |all, (sides, ..)| add(all, *sides));
    if sides == [0; 2] {
        return rejected(None, "no row belongs to a side");
    }
    if low.sign().is_gt() {
        let counted = weights.iter().filter(|(place, _)| *place < norm);
        let square = sum_of_squares(data, counted.map(|(_, c)| c))?;
        if square.sign().is_eq() {
            return rejected(
                None,
                "the lower end of the margin is positive, but the weights have the norm 0",
            );
        }
        if let Some((least, row)) = states.into_iter().filter_map(|(_, least, _)| least).min()
            && sum_of_squares(data, [&least].into_iter())? < low.times(&low).times(&square)
        {
            return rejected(row, "the row's margin is below the lower end that is claimed");
        }
    }
    upper_end(data, norm, &high, combination)?;
    let rows = sides[0] + sides[1];
    Ok(Accepted { rows, boundary_rows: 0, boundary_is_exact: true, one_sided: sides.contains(&0) })
}

/// ‖Σ λ z‖ ≤ upper · Σ λ.
fn upper_end(data: &Data<'_>, norm: usize, upper: &Dyadic, combination: &Sparse) -> Result<(), Rejected> {
    well_combined(data, combination)?;
    if combination.is_empty() {
        return if Some(upper) == Dyadic::from_f64(f64::MAX).as_ref() {
            Ok(())
        } else {
            rejected(None, "no combination proves the upper end of the margin")
        };
    }
    let mut square = Dyadic::zero();
    combine(data, combination, |place, value| {
        if place < norm {
            square = square.plus(&sum_of_squares(data, [&value].into_iter())?);
        } else if value.sign().is_ne() {
            return rejected(None, "the margin's combination does not give both sides the same weight");
        }
        Ok(())
    })?;
    let mut total = Frame::new(combination.iter().map(|(_, coefficient)| coefficient)).accumulator();
    combination.iter().for_each(|(_, coefficient)| total.add(coefficient, 1.0, false));
    let total = total.value();
    if square > sum_of_squares(data, [&total.times(upper)].into_iter())? {
        return rejected(None, "the combination does not prove the upper end of the margin");
    }
    Ok(())
}

fn sum_of_squares<'a>(
    data: &Data<'_>,
    numbers: impl Iterator<Item = &'a Dyadic>,
) -> Result<Dyadic, Rejected> {
    let mut sum = Dyadic::zero();
    for number in numbers {
        data.go_on()?;
        if number.bits() > SQUARE_LIMIT {
            return rejected(None, "the numbers of the margin's proof are too long");
        }
        sum = sum.plus(&number.times(number));
    }
    Ok(sum)
}

/// Calls `each` with the coordinates of Σ λ z that are not zero in all of its rows, in order.
///
/// Accumulators can be long, so only a block of coordinates is summed at a time.
pub(crate) fn combine(
    data: &Data<'_>,
    combination: &Sparse,
    mut each: impl FnMut(usize, Dyadic) -> Result<(), Rejected>,
) -> Result<(), Rejected> {
    const WORDS: usize = 1 << 22;
    let frame = Frame::new(combination.iter().map(|(_, coefficient)| coefficient));
    let places = used(data, combination.len(), |i| combination[i].0)?;
    let mut sums = Vec::new();
    let mut slot = vec![0; data.width()];
    for block in places.chunks((WORDS / frame.words()).max(1)) {
        let (Some(&first), Some(&last)) = (block.first(), block.last()) else { continue };
        sums.resize_with(block.len().max(sums.len()), || frame.accumulator());
        for (i, place) in block.iter().enumerate() {
            slot[*place] = i;
            sums[i].clear();
        }
        for (row, coefficient) in combination {
            data.go_on()?;
            let Some((values, negative)) = data.row(*row)? else { continue };
            data.each(values, first..last + 1, |place, value| {
                if value != 0.0 {
                    sums[slot[place]].add(coefficient, value, negative);
                }
            });
        }
        for (place, sum) in block.iter().zip(&sums) {
            data.go_on()?;
            each(*place, sum.value())?;
        }
    }
    Ok(())
}

/// The coordinates in which one of `count` rows at least is not zero, in order. All values must be finite.
fn used(data: &Data<'_>, count: usize, row: impl Fn(usize) -> usize + Sync) -> Result<Vec<usize>, Rejected> {
    let mark = |used: &mut Vec<bool>, i| {
        let Some((values, _)) = data.row(row(i))? else { return Ok(()) };
        data.each(values, 0..data.width(), |place, value| used[place] |= value != 0.0);
        Ok(())
    };
    let states = scan(data, count, || vec![false; data.width()], mark)?;
    Ok((0..data.width()).filter(|&place| states.iter().any(|used| used[place])).collect())
}

/// Checks that Σ λ z = 0 for the combination, and tells whether this forces ⟨w, z⟩ = 0 for each of the boundary rows
/// (for which the combination's rows are known to be on the boundary). Claims of finite coefficients need the rank argument even
/// where the combination cites all of these rows.
fn boundary(
    data: &Data<'_>,
    rows: &[usize],
    combination: &Sparse,
    kernel: &[Sparse],
    finite_claims: bool,
) -> Result<Boundary, Rejected> {
    well_combined(data, combination)?;
    combine(data, combination, |place, value| {
        if value.sign().is_eq() {
            return Ok(());
        }
        let name =
            if place < data.features { format!("in feature {}", place + 1) } else { "in the bias".into() };
        rejected(None, format!("the combination of rows is not 0 {name}"))
    })?;
    let cited = rows.iter().all(|row| combination.binary_search_by_key(row, |(row, _)| *row).is_ok());
    if cited && kernel.is_empty() && !finite_claims {
        return Ok(Boundary { exact: true, space: None });
    }

    // The rank argument, in the coordinates that the boundary rows use.
    let places = used(data, rows.len(), |i| rows[i])?;
    if places.len().saturating_mul(places.len().max(kernel.len())) > RANK_LIMIT {
        return if kernel.is_empty() {
            Ok(Boundary { exact: cited, space: None })
        } else {
            rejected(None, "the kernel has too many coordinates")
        };
    }
    let mut slot = vec![None; data.width()];
    places.iter().enumerate().for_each(|(i, &place)| slot[place] = Some(i));
    let mut independent = Echelon::new();
    for vector in kernel {
        data.go_on()?;
        well_formed(vector, data.width(), "kernel")?;
        let mut image = vec![0; places.len()];
        for (place, value) in vector {
            if let Some(i) = slot[*place] {
                image[i] = rank::of_dyadic(value);
            }
        }
        independent.add(image);
        let form = &Form::new(vector, data.width(), false);
        let step = |sum: &mut Accumulator, i: usize| {
            let Some((row, negative)) = data.row(rows[i])? else { return Ok(()) };
            form.exact(data, row, negative, sum);
            if sum.sign().is_ne() {
                return rejected(rows[i], "a vector of the kernel is not orthogonal to the row");
            }
            Ok(())
        };
        scan(data, rows.len(), || form.accumulator(), step)?;
    }
    if independent.rank() < kernel.len() {
        return rejected(None, "the vectors of the kernel are not shown to be independent");
    }
    let wanted = places.len() - kernel.len();
    let mut spanned = Echelon::new();
    for (row, _) in combination {
        data.go_on()?;
        if spanned.rank() == wanted {
            break;
        }
        let Some((values, _)) = data.row(*row)? else { continue };
        let mut image = vec![0; places.len()];
        data.each(values, 0..data.width(), |place, value| {
            if let Some(i) = slot[place] {
                image[i] = rank::of_float(value);
            }
        });
        spanned.add(image);
    }
    if spanned.rank() < wanted && !kernel.is_empty() {
        return rejected(None, "the kernel does not show that the combination's rows span the boundary rows");
    }
    let full = spanned.rank() == wanted;
    Ok(Boundary { exact: cited || full, space: full.then(|| (places, kernel.to_vec())) })
}

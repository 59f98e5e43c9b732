//! Certificates, judged a second time: from their text, in whole numbers, without the checker.

use super::instances::Instance;
use super::oracle::{Matrix, combine, dot, fraction, negative, positive, rank_whole, scaled, whole, zero};
use dashu_int::IBig;
use dashu_ratio::RBig;
use linsep::separate::{Bias, Certificate, hexadecimal};
use linsep_check::{Claim, Dyadic, Margin, Sparse};

/// What a true certificate proves beyond its verdict.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Judged {
    /// Present rows with ⟨w, z⟩ = 0, by their positions in the data.
    pub(crate) boundary: Vec<usize>,
    /// The combination's rows span those.
    pub(crate) boundary_is_exact: bool,
}

/// `-0x1fp-3` as a whole number and an exponent.
fn number(value: &Dyadic) -> Result<(IBig, i64), String> {
    let text = hexadecimal(value).to_string();
    let malformed = || format!("{text} is no number of the format");
    let (sign, digits) =
        text.strip_prefix('-').map_or((IBig::ONE, text.as_str()), |rest| (IBig::NEG_ONE, rest));
    let (magnitude, exponent) =
        digits.strip_prefix("0x").and_then(|digits| digits.split_once('p')).ok_or_else(malformed)?;
    let magnitude = IBig::from_str_radix(magnitude, 16).map_err(|_| malformed())?;
    Ok((sign * magnitude, exponent.parse().map_err(|_| malformed())?))
}

/// A sparse vector of `width` places in whole numbers, and the power of two that it was divided by.
fn vector(sparse: &Sparse, width: usize) -> Result<(Vec<IBig>, i64), String> {
    if sparse.windows(2).any(|pair| pair[0].0 >= pair[1].0)
        || sparse.last().is_some_and(|last| last.0 >= width)
    {
        return Err("places that do not increase, or too large ones".to_string());
    }
    let numbers: Vec<(IBig, i64)> =
        sparse.iter().map(|(_, value)| number(value)).collect::<Result<_, _>>()?;
    let least = numbers.iter().map(|number| number.1).min().unwrap_or(0);
    let mut dense = vec![IBig::ZERO; width];
    for ((place, _), (whole, exponent)) in sparse.iter().zip(numbers) {
        dense[*place] = whole << (exponent - least) as usize;
    }
    Ok((dense, least))
}

/// The rows z in whole numbers; rows of neither side are left out.
struct Rows {
    z: Matrix,
    exponent: i64,
    present: Vec<usize>,
    /// Coordinates that count in the norm.
    measured: usize,
    width: usize,
    all: usize,
}

impl Rows {
    /// λ of the present rows: not negative, and on no other row.
    fn combination(&self, sparse: &Sparse) -> Result<Vec<IBig>, String> {
        let (all, _) = vector(sparse, self.all)?;
        let shares: Vec<IBig> = self.present.iter().map(|&i| all[i].clone()).collect();
        if all.iter().any(negative)
            || all.iter().filter(|share| positive(share)).count()
                != shares.iter().filter(|share| positive(share)).count()
        {
            return Err("a share is negative, or of a row that belongs to neither side".to_string());
        }
        Ok(shares)
    }

    fn vanishing(&self, sparse: &Sparse) -> Result<Vec<IBig>, String> {
        let shares = self.combination(sparse)?;
        if !combine(&self.z, &shares, self.width).iter().all(zero) {
            return Err("the combination does not vanish".to_string());
        }
        Ok(shares)
    }

    fn agreements(&self, weights: &Sparse) -> Result<(Vec<IBig>, Vec<IBig>, i64), String> {
        let (w, exponent) = vector(weights, self.width)?;
        Ok((self.z.iter().map(|z| dot(z, &w)).collect(), w, exponent))
    }

    /// Whether the rows with a share span all rows with `among`.
    fn span(&self, shares: &[IBig], among: impl Fn(usize) -> bool) -> bool {
        let chosen = |keep: &dyn Fn(usize) -> bool| -> Matrix {
            (0..self.z.len()).filter(|&i| keep(i)).map(|i| self.z[i].clone()).collect()
        };
        rank_whole(&chosen(&|i| positive(&shares[i]))) == rank_whole(&chosen(&among))
    }

    fn margin(
        &self,
        margin: &Margin,
        agreements: &[IBig],
        w: &[IBig],
        free: bool,
        signs: &[i8],
    ) -> Result<(), String> {
        let least = agreements.iter().min().ok_or("no rows")?;
        let squared = dot(&w[..self.measured], &w[..self.measured]);
        if margin.lower.is_nan() || margin.upper.is_nan() {
            return Err("the margin is not a number".to_string());
        }
        // lower · ‖w‖ ≤ ⟨w, z⟩, squared: the scale of w is on both sides, that of the rows is not.
        let unit = scaled(&IBig::ONE, 2 * self.exponent);
        if margin.lower > 0.0 {
            let lower = fraction(margin.lower);
            if &lower * &lower * RBig::from(squared) > RBig::from(least * least) * &unit {
                return Err(format!("the lower end {:e} is not proved", margin.lower));
            }
        }
        let shares = self.combination(&margin.combination)?;
        let sum = shares.iter().fold(IBig::ZERO, |sum, share| sum + share);
        // The largest float says nothing: margins may be larger, or have no bound at all.
        if margin.upper >= f64::MAX {
            return Ok(());
        }
        if !positive(&sum) {
            return Err("the combination of the margin is empty".to_string());
        }
        if free {
            let balance = shares
                .iter()
                .zip(&self.present)
                .fold(IBig::ZERO, |sum, (share, &i)| sum + share * IBig::from(signs[i]));
            if !zero(&balance) {
                return Err("the combination does not give both sides the same weight".to_string());
            }
        }
        let x = combine(&self.z, &shares, self.width);
        let upper = fraction(margin.upper.max(0.0));
        if RBig::from(dot(&x[..self.measured], &x[..self.measured])) * unit
            > &upper * &upper * RBig::from(&sum * &sum)
        {
            return Err(format!("the upper end {:e} is not proved", margin.upper));
        }
        Ok(())
    }
}

/// Whether what the certificate says of these rows, with its own bias, is proved by what it brings.
pub(crate) fn judge(certificate: &Certificate, instance: &Instance) -> Result<Judged, String> {
    let told = Instance { bias: certificate.bias, ..instance.clone() };
    let columns = told.rows[0].len();
    let (z, exponent) = whole(&told.z());
    let width = columns + usize::from(told.bias != Bias::None);
    let measured = if told.bias == Bias::Free { columns } else { width };
    let rows = Rows { z, exponent, present: told.present(), measured, width, all: told.rows.len() };
    if (certificate.subject.rows, certificate.subject.features) != (told.rows.len(), columns) {
        return Err("it speaks of data of another shape".to_string());
    }
    match &certificate.claim {
        Claim::Complete { weights, margin } => {
            let (agreements, w, _) = rows.agreements(weights)?;
            if !agreements.iter().all(positive) {
                return Err("a row is not on its right side".to_string());
            }
            rows.margin(margin, &agreements, &w, told.bias == Bias::Free, &told.signs)?;
            Ok(Judged { boundary: Vec::new(), boundary_is_exact: true })
        }
        Claim::QuasiComplete { weights, combination, .. } => {
            let (agreements, _, _) = rows.agreements(weights)?;
            if agreements.iter().any(negative) || !agreements.iter().any(positive) {
                return Err("a row is on its wrong side, or all are on the boundary".to_string());
            }
            let shares = rows.vanishing(combination)?;
            if !shares.iter().any(positive) {
                return Err("the combination is empty".to_string());
            }
            let boundary =
                (0..agreements.len()).filter(|&i| zero(&agreements[i])).map(|i| rows.present[i]).collect();
            let boundary_is_exact = rows.span(&shares, |i| zero(&agreements[i]));
            Ok(Judged { boundary, boundary_is_exact })
        }
        Claim::Overlap { combination, .. } => {
            let shares = rows.vanishing(combination)?;
            if !rows.span(&shares, |_| true) {
                return Err("the combination does not span the rows".to_string());
            }
            Ok(Judged { boundary: rows.present.clone(), boundary_is_exact: true })
        }
    }
}

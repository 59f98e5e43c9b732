//! Shared by the tests of the engine: small problems made to break a solver, and exact answers to them.

#[allow(dead_code)]
pub(super) mod instances;
#[allow(dead_code)]
pub(super) mod oracle;

use super::decide::space_of;
use super::nearest::Space;
use super::number::Exact;
use super::{Accepted, Bias, Certificate, Examples, Rejected, SeparateSettings, Verdict};
use crate::dataset::Dataset;
use crate::random::Random;
use crate::theory::margin::Extent;
use dashu_ratio::RBig;
use instances::Instance;

/// How many random problems a test draws: the usual number, times `LINSEP_TIMES`.
pub(super) fn times(usual: u64) -> u64 {
    usual * std::env::var("LINSEP_TIMES").map_or(1, |text| text.parse::<u64>().unwrap())
}

/// Rows x with their sides.
pub(super) fn problem(rows: Vec<Vec<f64>>, signs: Vec<i8>, bias: Bias) -> Instance {
    Instance { rows, signs, bias, sparse: false }
}

/// The problem whose rows z are these, without a bias; rows x of the negative side are turned.
pub(super) fn of_z(z: &[Vec<f64>], signs: &[i8]) -> Instance {
    let turned = |(row, &sign): (&Vec<f64>, &i8)| row.iter().map(|value| f64::from(sign) * value).collect();
    problem(z.iter().zip(signs).map(turned).collect(), signs.to_vec(), Bias::None)
}

pub(super) fn examples<'a>(data: &'a Dataset, problem: &Instance) -> Examples<'a> {
    Examples::with_signs(data, problem.signs.clone(), problem.bias)
}

/// The space of all rows that belong to a side, for one simplex.
pub(super) fn space<'a>(examples: &'a Examples<'a>) -> Space<'a> {
    let rows: Vec<usize> = examples.present().collect();
    let extent = Extent::of_rows(examples.data(), &rows, examples.bias_input());
    space_of(examples, &extent, &SeparateSettings::default())
}

/// The exact verdict on rows z, and for each whether it is in B.
pub(super) fn truth(z: &[Vec<f64>]) -> (Verdict, Vec<bool>) {
    let inside = oracle::boundary(z);
    let verdict = match inside.iter().filter(|&&inside| inside).count() {
        0 => Verdict::Complete,
        count if count == z.len() => Verdict::Overlap,
        _ => Verdict::QuasiComplete,
    };
    (verdict, inside)
}

/// Whether the sizes of all entries that are not zero are within 2^±`bits`.
pub(super) fn is_tame(z: &[Vec<f64>], bits: i32) -> bool {
    let size = 2f64.powi(bits);
    z.iter().flatten().all(|value| *value == 0.0 || (1.0 / size..=size).contains(&value.abs()))
}

/// Whole numbers from −most to most.
pub(super) fn grid(random: &mut Random, n: usize, d: usize, most: u64) -> Vec<Vec<f64>> {
    (0..n).map(|_| (0..d).map(|_| random.below(2 * most + 1) as f64 - most as f64).collect()).collect()
}

pub(super) fn normals(random: &mut Random, n: usize, d: usize) -> Vec<Vec<f64>> {
    (0..n).map(|_| (0..d).map(|_| random.normal()).collect()).collect()
}

/// A whole number from `least` to `most`.
pub(super) fn from(random: &mut Random, least: u64, most: u64) -> usize {
    (least + random.below(most - least + 1)) as usize
}

pub(super) fn sides(random: &mut Random, n: usize) -> Vec<i8> {
    (0..n).map(|_| [1, -1][random.below(2) as usize]).collect()
}

/// ⟨a, b⟩ in fractions.
pub(super) fn dot(a: &[f64], b: &[f64]) -> RBig {
    a.iter().zip(b).fold(RBig::ZERO, |sum, (&a, &b)| sum + oracle::fraction(a) * oracle::fraction(b))
}

/// An exact number of the engine as a fraction.
pub(super) fn fraction(value: &Exact) -> RBig {
    let (mantissa, exponent) = value.mantissa_and_exponent();
    oracle::scaled(mantissa, exponent)
}

/// Whether the checker finds the claim true, be the rows of one side or of two.
pub(super) fn verify(certificate: &Certificate, examples: &Examples<'_>) -> Result<Accepted, Rejected> {
    linsep_check::check(certificate, examples, &|| false)
}

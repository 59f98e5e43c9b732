//! Is the data separable, by what margin, and if not, which rows stand in the way? With a proof, always exact.
//!
//! [`separate()`] gives one of three verdicts, each with a certificate that the independent checker
//! ([`linsep_check`]) has accepted, or *undecided* when a budget ran out.

#[allow(dead_code)]
mod exact_point;
mod examples;
#[allow(dead_code)]
mod integer;
#[allow(dead_code)]
mod modular;

pub use examples::Examples;
pub use linsep_check::{Bias, Certificate};

use crate::classes::ClassPair;
use crate::dataset::Dataset;
use crate::observe::Observer;
use crate::theory::margin::MarginInterval;
use crate::{Error, SettingsError, Theta};
use serde::{Deserialize, Serialize};

/// What can be chosen about deciding separation.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Whether the boundary may miss the origin, and which margin is meant.
    pub bias: Bias,
    /// The margin of separable data is narrowed until (upper − lower) ≤ gap · upper. `None`: to 1e-6, but without going
    /// to great lengths for it where the data is large and sparse.
    pub gap: Option<f64>,
    /// Stop after this many seconds.
    pub max_seconds: Option<f64>,
    /// Use at most about this many bytes beside the data.
    pub max_memory: Option<u64>,
    /// The seed of all samples.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { bias: Bias::Append(1.0), gap: None, max_seconds: None, max_memory: None, seed: 0 }
    }
}

impl Settings {
    /// Checks that the settings make sense.
    pub fn validate(&self) -> Result<(), SettingsError> {
        let refuse = |reason: &str| Err(SettingsError(reason.to_string()));
        if let Bias::Append(value) = self.bias
            && !(1e-100..=1e100).contains(&value)
        {
            return refuse(
                "the scale of the bias must be a number from 1e-100 to 1e100; for no bias, choose --bias none",
            );
        }
        if self.gap.is_some_and(|gap| !(1e-15..1.0).contains(&gap)) {
            return refuse(
                "the gap must be a number from 1e-15 up to, not including, 1: it is relative to the margin",
            );
        }
        if self.max_seconds.is_some_and(|seconds| seconds.is_nan() || seconds <= 0.0) {
            return refuse("the limit of seconds must be above 0: without time nothing is decided");
        }
        Ok(())
    }
}

/// How the rows lie to each other. B is the set of rows with ⟨w, z⟩ = 0 for every w that has ⟨w, z⟩ ≥ 0 throughout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// B is empty: some boundary has every row strictly on its right side.
    Complete,
    /// B and its complement are not empty: some boundary has no row on its wrong side, but all that do touch B.
    QuasiComplete,
    /// All rows are in B: a boundary with no row on its wrong side goes through all of them.
    Overlap,
    /// A budget ended before a proof was found.
    Undecided,
}

/// A row with a number: its share in a witness, or its distance from the boundary.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RowShare {
    /// The row, counted from 0.
    pub row: usize,
    /// Its share or distance.
    pub value: f64,
}

/// What was decided, with its proof.
#[derive(Clone, Debug)]
pub struct Separation {
    /// The verdict. Unless undecided, the checker has accepted its certificate.
    pub verdict: Verdict,
    /// The certificate.
    pub certificate: Option<Certificate>,
    /// What is proved of the best margin: for complete both ends; for quasi-complete it is 0; for overlap at most 0.
    pub margin: MarginInterval,
    /// Rows that belong to a side.
    pub rows: usize,
    /// R, the length of the longest z, rounded up (for a free bias, of x alone).
    pub radius: f64,
    /// The rank of the rows z, where it is known.
    pub rank: Option<usize>,
    /// Not complete: a few rows that cannot all be strictly on their right sides, with shares that sum to 1 in a
    /// combination of their z that vanishes. No row can be left out. The largest share comes first.
    pub witness: Vec<RowShare>,
    /// Quasi-complete: B, the rows that every boundary without a wrong side goes through.
    pub boundary: Vec<usize>,
    /// Complete and quasi-complete: the separating weights in f64, and for quasi-complete rounded, with length 1.
    pub weights: Option<Theta>,
    /// Complete: the rows nearest to the boundary, nearest first, with their distances (at most 20).
    pub closest: Vec<RowShare>,
    /// Undecided: why no more was done. Complete: why the gap was not reached, if it was not.
    pub stopped: Option<String>,
}

/// Decides how the rows of the two sides lie to each other. Rows of classes on neither side are not spoken of.
pub fn separate(
    data: &Dataset,
    classes: &ClassPair,
    settings: &Settings,
    observer: &mut impl Observer,
) -> Result<Separation, Error> {
    let _ = (data, classes, settings, observer);
    todo!()
}

/// Rows whose removal leaves the others completely separable: the smallest such set that was found. A heuristic: a
/// smaller one may exist.
#[derive(Clone, Debug)]
pub struct Blame {
    /// The rows, in order.
    pub rows: Vec<usize>,
    /// No such set has fewer rows than this: one row at least of each of so many witnesses without a common row.
    pub at_least: usize,
    /// What was decided of the rows that remain: complete, unless a budget ended.
    pub rest: Separation,
}

/// Looks for few rows whose removal separates the rest.
pub fn blame(
    data: &Dataset,
    classes: &ClassPair,
    settings: &Settings,
    observer: &mut impl Observer,
) -> Result<Blame, Error> {
    let _ = (data, classes, settings, observer);
    todo!()
}

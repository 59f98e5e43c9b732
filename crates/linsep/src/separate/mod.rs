//! Is the data separable, by what margin, and if not, which rows stand in the way? With a proof, always exact.
//!
//! [`separate()`] gives one of three verdicts, each with a certificate that the independent checker
//! ([`linsep_check`]) has accepted, or *undecided* when a budget ran out.

mod active_set;
mod agreements;
mod blame;
mod contradictions;
mod descent;
mod exact_point;
mod examples;
mod faces;
mod integer;
mod margin_interval;
mod modular;
mod nearest;
mod number;
mod peel;
mod real;
#[cfg(test)]
mod testing;
mod watch;
mod wide;

pub use blame::{Blame, blame};
pub use examples::Examples;
pub use linsep_check::{Bias, Certificate};

use crate::classes::{ClassError, ClassPair};
use crate::dataset::{Dataset, Rows};
use crate::observe::Observer;
use crate::random::Random;
use crate::theory::margin::{Extent, MarginInterval, MarginKind};
use crate::{Error, SettingsError, Theta};
use agreements::Agreements;
use contradictions::{Contradictions, contradictions};
use faces::{Faces, Side};
use linsep_check::{Claim, Subject};
use margin_interval::Bounds;
use modular::Echelon;
use nearest::Space;
use number::ExactVector;
use serde::{Deserialize, Serialize};
use watch::Watch;

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
    /// Make at most this many passes of descent over data with many features.
    pub max_passes: Option<u64>,
    /// Use at most about this many bytes beside the data.
    pub max_memory: Option<u64>,
    /// The seed of all samples.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            bias: Bias::Append(1.0),
            gap: None,
            max_seconds: None,
            max_passes: None,
            max_memory: None,
            seed: 0,
        }
    }
}

impl Settings {
    /// Checks that the settings make sense.
    pub fn validate(&self) -> Result<(), SettingsError> {
        let refuse = |reason: &str| Err(SettingsError::new("bias_scale", reason.to_string()));
        if let Bias::Append(value) = self.bias
            && !(1e-100..=1e100).contains(&value)
        {
            return refuse(
                "the scale of the bias must be a number from 1e-100 to 1e100; for no bias, choose ⟦bias=none⟧",
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
    /// The lengths of the rows z (for a free bias, of x alone).
    pub extent: Extent,
    /// The rank of the rows z, where it is known.
    pub rank: Option<usize>,
    /// Not complete: a few rows that cannot all be strictly on their right sides, with shares that sum to 1 in a
    /// combination of their z that vanishes. No row can be left out. The largest share comes first.
    pub witness: Vec<RowShare>,
    /// Not complete: rows that contradict each other outright, two for each direction that occurs both ways; with a
    /// bias, the same features on both sides.
    pub contradictions: Vec<[usize; 2]>,
    /// Quasi-complete: B, the rows that every boundary without a wrong side goes through.
    pub boundary: Vec<usize>,
    /// Complete and quasi-complete: the separating weights, rounded to floats and to length 1.
    pub weights: Option<Theta>,
    /// Complete: the rows nearest to the boundary, nearest first, with their distances (at most 20).
    pub closest: Vec<RowShare>,
    /// Complete: how many rows the combination has that proves the upper end of the margin.
    pub support: usize,
    /// Passes over the data.
    pub passes: u64,
    /// Whether a budget ended the search, or the observer.
    pub out_of_time: bool,
    /// Undecided: why no more was done. Complete: why the gap was not reached, if it was not.
    pub stopped: Option<String>,
}

/// Decides how the rows of the two sides lie to each other. Rows of classes on neither side are not spoken of.
pub fn separate(
    data: &Dataset,
    classes: &ClassPair,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Separation, Error> {
    settings.validate()?;
    let examples = Examples::new(data, classes, settings.bias);
    decide(&examples, classes, settings, observer)
}

/// The gap that is aimed at where none is asked for.
const USUAL_GAP: f64 = 1e-6;
/// With more coordinates than this, the way for many features is gone: a matrix of the support would take long.
const FEW_DENSE: usize = 2048;
const FEW_SPARSE: usize = 512;
/// Why the margin of data with many features is not known better.
const FEW_PASSES: &str =
    "with so many features only a few passes were made for it; ⟦gap⟧ goes on until it is reached";

/// What the search ended with.
enum Found {
    /// w vanishes on the boundary rows and is positive on all others; the support sums to 1 on each simplex.
    Positive {
        boundary: Vec<usize>,
        w: ExactVector,
        agreements: Agreements,
        support: Vec<(usize, [f64; 2])>,
    },
    Overlap,
    Undecided(String),
}

pub(crate) fn decide(
    examples: &Examples<'_>,
    classes: &ClassPair,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Separation, Error> {
    let rows: Vec<usize> = examples.present().collect();
    let one_sided = |sign: i8| rows.iter().all(|&row| examples.signs()[row] == sign);
    if settings.bias == Bias::Free || rows.is_empty() {
        if one_sided(1) {
            return Err(ClassError::One { class: classes.positive.clone() }.into());
        }
        if one_sided(-1) {
            return Err(ClassError::One { class: classes.negative_name() }.into());
        }
    }
    let mut watch = Watch::new(observer, settings.max_seconds);
    let extent = Extent::of_rows(examples.data(), &rows, examples.bias_input());
    let space = space_of(examples, &extent, settings);
    let few = if matches!(examples.data().rows(), Rows::Sparse { .. }) { FEW_SPARSE } else { FEW_DENSE };
    let is_wide = examples.dimension() > few;
    // What is kept for each row and each coordinate, whatever the way.
    let least = 48 * rows.len() as u64 + 64 * examples.dimension() as u64;
    if settings.max_memory.is_some_and(|limit| limit < least) {
        watch.end_for_memory();
    }
    let (mut faces, found, contradictions) = search(&space, &rows, is_wide, &mut watch);
    let mut separation = Separation {
        verdict: Verdict::Undecided,
        certificate: None,
        margin: MarginInterval { lower: None, upper: extent.shortest, kind: kind_of(settings.bias) },
        rows: rows.len(),
        extent,
        rank: None,
        witness: shares(&faces.witness),
        contradictions: contradictions.pairs,
        boundary: Vec::new(),
        weights: None,
        closest: Vec::new(),
        support: 0,
        passes: 0,
        out_of_time: false,
        stopped: None,
    };
    if settings.bias == Bias::Free {
        separation.extent = Extent::of_rows(examples.data(), &rows, 0.0);
        // Half the distance of two rows is no longer than the longest.
        separation.margin.upper = separation.extent.radius_upper;
    }
    if !faces.witness.is_empty() {
        separation.margin.upper = 0.0;
    }
    let (verdict, claim) = match found {
        Found::Undecided(reason) => {
            if let Some(upper) = margin_interval::proved_upper(examples, &watch.support) {
                separation.margin.upper = separation.margin.upper.min(upper);
            }
            separation.out_of_time = watch.is_over();
            separation.passes = watch.passes;
            separation.stopped = Some(reason);
            return Ok(separation);
        }
        Found::Overlap => {
            let kernel = faces.prove(&rows);
            separation.rank = Some(faces.rank());
            (Verdict::Overlap, Claim::Overlap { combination: faces.combination(), kernel })
        }
        Found::Positive { boundary, w, .. } if !boundary.is_empty() => {
            let kernel = faces.prove(&boundary);
            separation.weights = Some(unit_weights(examples, &w));
            separation.boundary = boundary;
            separation.margin.lower = Some(0.0);
            let claim =
                Claim::QuasiComplete { weights: w.to_sparse(), combination: faces.combination(), kernel };
            (Verdict::QuasiComplete, claim)
        }
        Found::Positive { w, agreements, support, .. } => {
            let mut bounds = Bounds::new(examples, w, &agreements);
            bounds.offer_combination(examples, &support);
            (watch.lower, watch.upper) = (Some(bounds.lower), Some(bounds.upper));
            let gap = settings.gap.unwrap_or(USUAL_GAP);
            if is_wide {
                let usual = if settings.gap.is_some() { u64::MAX } else { USUAL_PASSES };
                let passes = settings.max_passes.unwrap_or(usual);
                wide::narrow(&space, &rows, &mut bounds, gap, passes, &mut watch);
            } else {
                bounds.narrow(
                    &Space { two_hulls: settings.bias == Bias::Free, ..space },
                    &rows,
                    gap,
                    &mut watch,
                );
            }
            if !bounds.is_within(gap) {
                separation.stopped = Some(match is_wide {
                    _ if watch.is_over() => watch.reason(),
                    true => FEW_PASSES.to_string(),
                    false => "floats of this size, or with so many features, hold no more digits".to_string(),
                });
            }
            separation.margin.lower = Some(bounds.lower);
            separation.margin.upper = bounds.upper;
            separation.weights = Some(unit_weights(examples, &bounds.weights));
            separation.support = bounds.combination.len();
            separation.closest = shares(&bounds.closest);
            (
                Verdict::Complete,
                Claim::Complete { weights: bounds.weights.to_sparse(), margin: bounds.to_claim() },
            )
        }
    };
    if separation.rank.is_none() && !is_wide {
        separation.rank = Some(rank(examples, &rows));
    }
    watch.begin("verification");
    separation.out_of_time = watch.is_over();
    separation.passes = watch.passes;
    let certificate = Certificate {
        subject: Subject {
            fingerprint: examples.data().fingerprint().to_string(),
            rows: examples.len(),
            features: examples.data().columns(),
            positive: vec![classes.positive.clone()],
            negative: classes.negative.clone(),
        },
        bias: settings.bias,
        claim,
    };
    match linsep_check::verify(&certificate, examples) {
        Ok(_) => (separation.verdict, separation.certificate) = (verdict, Some(certificate)),
        Err(rejected) => {
            separation.stopped = Some(format!("the checker did not accept the proof: {rejected}"))
        }
    }
    Ok(separation)
}

/// The space of one simplex, in which verdicts are found.
fn space_of<'a>(examples: &'a Examples<'a>, extent: &Extent, settings: &Settings) -> Space<'a> {
    let radius = extent.radius_upper;
    Space {
        examples,
        two_hulls: false,
        exponent: if (1e-60..=1e60).contains(&radius) { 0 } else { -libm::ilogb(radius).clamp(-1000, 1000) },
        radius,
        seed: settings.seed,
        memory: settings.max_memory.unwrap_or(4 << 30),
    }
}

/// Passes that are spent on the margin of data with many features, where no gap is asked for.
const USUAL_PASSES: u64 = 16;

/// Finds the verdict and what proves it.
fn search<'a>(
    space: &Space<'a>,
    rows: &[usize],
    is_wide: bool,
    watch: &mut Watch<'_>,
) -> (Faces<'a>, Found, Contradictions) {
    let mut faces = Faces::new(space.examples);
    if is_wide {
        watch.begin("contradictions");
        let contradictions = contradictions(space.examples);
        faces.add_contradictions(&contradictions);
        let (faces, found) = wide::decide(space, faces, rows, watch);
        return (faces, found, contradictions);
    }
    let two_hulls = space.examples.bias() == Bias::Free;
    let first = faces.locate(&Space { two_hulls, ..*space }, rows, &[], watch);
    let (support, free) = match first {
        None => return (faces, Found::Undecided(watch.reason()), Contradictions::default()),
        Some(Side::Positive { w, agreements, support }) => {
            let found = Found::Positive { boundary: Vec::new(), w, agreements, support };
            return (faces, found, Contradictions::default());
        }
        Some(Side::Meets { support, free }) => (support, free),
    };
    // Rows that contradict each other outright explain best.
    let contradictions = contradictions(space.examples);
    faces.add_contradictions(&contradictions);
    faces.add_circuit(support, free);
    loop {
        let (boundary, outside) = faces.split(rows);
        if outside.is_empty() {
            return (faces, Found::Overlap, contradictions);
        }
        match faces.locate(space, &outside, &[], watch) {
            None => return (faces, Found::Undecided(watch.reason()), contradictions),
            Some(Side::Positive { w, agreements, support }) => {
                return (faces, Found::Positive { boundary, w, agreements, support }, contradictions);
            }
            Some(Side::Meets { support, free }) => faces.add_circuit(support, free),
        }
    }
}

fn kind_of(bias: Bias) -> MarginKind {
    match bias {
        Bias::None => MarginKind::ThroughOrigin,
        Bias::Append(_) => MarginKind::AppendedBias,
        Bias::Free => MarginKind::FreeBias,
    }
}

fn shares(rows: &[(usize, f64)]) -> Vec<RowShare> {
    rows.iter().map(|&(row, value)| RowShare { row, value }).collect()
}

/// The weights divided by their length, rounded; for a free bias by the length of those of the features.
fn unit_weights(examples: &Examples<'_>, w: &ExactVector) -> Theta {
    let (mut weights, _) = w.rounded();
    let columns = examples.data().columns();
    let counted = if examples.bias() == Bias::Free { columns } else { weights.len() };
    let norm = crate::linalg::norm_squared(&weights[..counted]).sqrt();
    if norm > 0.0 {
        weights.iter_mut().for_each(|x| *x /= norm);
    }
    let bias = weights.get(columns).copied().unwrap_or(0.0);
    weights.truncate(columns);
    Theta { weights, bias, bias_input: examples.bias_input() }
}

/// The rank of the rows modulo a prime, which is their rank but for an accident of probability about 2⁻⁶¹.
fn rank(examples: &Examples<'_>, rows: &[usize]) -> usize {
    let mut echelon = Echelon::new(examples.dimension());
    let mut rest = rows;
    loop {
        // Rows before the first that a random vector tells apart from the span are in it, and stay in it.
        let orthogonal = echelon.orthogonal(&mut Random::new(echelon.rank() as u64));
        let outside = |&&row: &&usize| modular::dot(&orthogonal, examples.entries(row)) != 0;
        let Some(next) = rest.iter().position(|row| outside(&row)) else { return echelon.rank() };
        let (some, others) = rest[next..].split_at((2 * examples.dimension()).min(rest.len() - next));
        for &row in some {
            echelon.insert_f64(examples.entries(row));
            if echelon.rank() == examples.dimension() {
                return echelon.rank();
            }
        }
        rest = others;
    }
}

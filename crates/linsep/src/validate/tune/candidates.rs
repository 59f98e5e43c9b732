//! The candidates of a search: ways to prepare the rows, learners, penalties.

use crate::dataset::{Dataset, Rows};
use crate::features::{Expansion, Features, Scaling, Schema, TermWeights, TextChoice};
use crate::numbers::counted;
use crate::prepare::Preparation;
use crate::train::{Learner, LogisticOptions, Loss, SgdOptions, SvmLoss, SvmOptions};
use std::fmt;

/// One way to learn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// How rows are prepared.
    pub preparation: Preparation,
    /// The learner with its options.
    pub learner: Learner,
    /// How closely it may follow the training rows.
    pub fit: Fit,
}

/// How closely a learner may follow the training rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fit {
    /// C, the weight of the loss against the penalty.
    C(f64),
    /// Passes of gradient descent, which has no penalty: the weights start at zero, and fewer passes leave them nearer to it.
    Passes(u64),
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::C(c) => write!(f, "C = {c}"),
            Self::Passes(passes) => f.write_str(&counted(passes, "pass", "passes")),
        }
    }
}

/// Candidates that share their preparation and differ in how closely they follow the rows, which goes up.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Family {
    pub(super) preparation: Preparation,
    pub(super) kind: Kind,
    /// The weights of the loss, C; of gradient descent, the passes.
    pub(super) values: Vec<f64>,
}

/// Which learner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Logistic,
    SquaredHinge,
    /// Gradient descent on the log loss with steps that adapt to each feature.
    Sgd,
}

impl Family {
    /// The learner for a weight of the loss. The search needs less of an optimum than the model that is kept.
    pub(super) fn learner(&self, c: f64, gap: Option<f64>) -> Learner {
        match self.kind {
            Kind::Logistic => {
                let usual = LogisticOptions::default();
                Learner::Logistic(LogisticOptions { c, gap: gap.unwrap_or(usual.gap), ..usual })
            }
            Kind::SquaredHinge => {
                let usual = SvmOptions { loss: SvmLoss::SquaredHinge, ..SvmOptions::default() };
                Learner::Svm(SvmOptions { c, gap: gap.unwrap_or(usual.gap), ..usual })
            }
            Kind::Sgd => Learner::Sgd(SgdOptions::of(Loss::Log)),
        }
    }

    /// How closely the candidate with this weight of the loss follows the rows.
    pub(super) fn fit(&self, value: f64) -> Fit {
        match self.kind {
            Kind::Logistic | Kind::SquaredHinge => Fit::C(value),
            Kind::Sgd => Fit::Passes(value as u64),
        }
    }

    /// Whether the log loss chooses among its candidates. Gradient descent without a penalty becomes too sure of itself while
    /// its errors still fall.
    pub(super) fn has_probabilities(&self) -> bool {
        self.kind == Kind::Logistic
    }

    /// Its name in progress messages.
    pub(super) fn what(&self) -> &'static str {
        match (self.kind, self.preparation.features) {
            (Kind::SquaredHinge, _) => "folds, svm",
            (Kind::Sgd, _) => "folds, sgd",
            (_, Features::Plain) => "folds, plain",
            (_, Features::Splines) => "folds, splines",
            (_, Features::Pairs) => "folds, pairs",
            (_, Features::SplinesAndPairs) => "folds, splines+pairs",
        }
    }

    /// About how many values the rows have that are prepared in this way.
    pub(super) fn values(&self, data: &Dataset, schema: &Schema, outcomes: usize) -> f64 {
        let stored = data.stored().max(data.len()) as f64;
        stored
            + Expansion::most_added(self.preparation.features, schema, data, outcomes) as f64
                * data.len() as f64
    }

    pub(super) fn candidates(&self) -> impl Iterator<Item = Candidate> {
        self.values.iter().map(|&c| Candidate {
            preparation: self.preparation,
            learner: self.learner(c, None),
            fit: self.fit(c),
        })
    }
}

/// The weights of the loss that are tried: from so little that a row hardly counts to nearly no penalty.
const C_GRID: [f64; 11] = [1e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0];

/// The passes of gradient descent that are tried.
const PASSES: [f64; 4] = [1.0, 2.0, 5.0, 10.0];

/// With more features than this, sparse rows are not expanded.
const MAX_EXPANDED: usize = 300;

/// The candidates for these rows, the simplest first.
///
/// `texts` are the ways to make features of texts, where there are some.
pub(super) fn families(
    data: &Dataset,
    schema: &Schema,
    texts: &[TextChoice],
    probabilities: bool,
) -> Vec<Family> {
    let logistic = |features, scaling| Family {
        preparation: Preparation { features, scaling, ..Preparation::default() },
        kind: Kind::Logistic,
        values: C_GRID.to_vec(),
    };
    if schema.texts().next().is_some() {
        return of_texts(texts, probabilities, logistic);
    }
    let is_sparse = matches!(data.rows(), Rows::Sparse { .. });
    let is_table = matches!(schema, Schema::Table { .. });
    if is_sparse && !is_table && data.columns() > MAX_EXPANDED {
        let hinge = |scaling| Family { kind: Kind::SquaredHinge, ..logistic(Features::Plain, scaling) };
        let mut families =
            vec![logistic(Features::Plain, Scaling::Auto), logistic(Features::Plain, Scaling::UnitRows)];
        // Rows of length 1 need a larger weight for the same fit.
        families[1].values = C_GRID.iter().map(|c| 30.0 * c).skip(2).collect();
        if !probabilities {
            families.extend([hinge(Scaling::Auto), hinge(Scaling::UnitRows)]);
            families[3].values = C_GRID.iter().map(|c| 3.0 * c).skip(3).collect();
            families.push(Family {
                kind: Kind::Sgd,
                values: PASSES.to_vec(),
                ..logistic(Features::Plain, Scaling::Auto)
            });
        }
        return families;
    }
    [Features::Plain, Features::Splines, Features::Pairs, Features::SplinesAndPairs]
        .map(|features| logistic(features, Scaling::Auto))
        .to_vec()
}

/// The candidates for texts: every way to make features of them, with rows of length 1 where they are not already.
fn of_texts(
    texts: &[TextChoice],
    probabilities: bool,
    logistic: impl Fn(Features, Scaling) -> Family,
) -> Vec<Family> {
    let mut families = Vec::new();
    for &text in texts {
        let scaling = if text.weights == TermWeights::TfIdf { Scaling::Auto } else { Scaling::UnitRows };
        let mut family = logistic(Features::Plain, scaling);
        family.preparation.text = Some(text);
        let hinge =
            Family { kind: Kind::SquaredHinge, values: vec![0.1, 0.3, 1.0, 3.0, 10.0], ..family.clone() };
        family.values = vec![1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0];
        families.push(family);
        if !probabilities {
            families.push(hinge);
        }
    }
    families
}

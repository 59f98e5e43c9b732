//! Which learner, and the options that each has of its own.

use clap::{Args, ValueEnum};

/// The learners, each with the one line that says when to choose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LearnerArg {
    /// The last weights: the textbook algorithm, and the one to watch the theorem on
    Perceptron,
    /// The mean of all weights: choose it first, it generalises better at no cost
    Averaged,
    /// All weights vote by how long they survived: often as good as averaged, slower to predict
    Voted,
    /// Learns also from rows that are barely right: for separable data, when you want nearly the widest margin
    Margin,
    /// All mistakes at once, on all cores: when the order of the rows must not matter
    Batch,
    /// Keeps the best weights that turn up: for data that overlaps, when the training error counts
    Pocket,
    /// Gives every row a coordinate of its own, so that it converges in the end, whatever the data: to see how the notes deal with
    /// overlap
    Lifted,
    /// Sums of kernels instead of weights: when the boundary is curved, and there are not too many rows
    Kernel,
    /// One weight vector for each class, learned together: for many classes, smaller and often better than one
    /// against the rest
    Multiclass,
    /// Gradient descent on a loss, with a penalty: for streams, and when you want logistic regression
    Sgd,
    /// The soft-margin support vector machine, to a proved gap: when you want the best weights and have the time
    Svm,
    /// The boundary furthest from the nearest row, with proof: for separable data, when the margin is what counts
    MaxMargin,
    /// Looks rows up: no use but as a baseline; its training error is zero unless equal rows have both labels
    Memoriser,
    /// Moves as little as makes each row right by 1: for streams whose classes drift
    PassiveAggressive,
}

/// A degree; whether it suits a kernel is decided there.
fn degree(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "the degree of a polynomial is a whole number, from 1 to 100".to_string())
}

/// The options of single learners.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Options of one learner")]
pub(crate) struct LearnerArgs {
    /// margin: end with at least 1−ε of the best margin, ε in (0, 1) [default: 0.1]
    #[arg(long, value_name = "ε", allow_negative_numbers = true)]
    pub(crate) epsilon: Option<f64>,
    /// margin: instead, learn from rows nearer than β to the boundary, β ≥ 0
    #[arg(long, value_name = "β", conflicts_with_all = ["epsilon", "threshold"], allow_negative_numbers = true)]
    pub(crate) beta: Option<f64>,
    /// margin: instead, learn from rows with an agreement up to b ≥ 0
    #[arg(long, value_name = "b", conflicts_with = "epsilon", allow_negative_numbers = true)]
    pub(crate) threshold: Option<f64>,
    /// batch, sgd: how steps change [default: constant for batch and the perceptron loss, else shrinking]
    #[arg(long, value_enum)]
    pub(crate) schedule: Option<ScheduleArg>,
    /// batch, sgd: p of --schedule power, from 0 to 1
    #[arg(long, value_name = "p", allow_negative_numbers = true)]
    pub(crate) power: Option<f64>,
    /// batch, sgd: the first step [default: 1 for batch and the perceptron loss, else 1/R²]
    #[arg(long, value_name = "η", allow_negative_numbers = true)]
    pub(crate) step: Option<f64>,
    /// pocket: keep the weights with the most rows at this distance at least, γ ≥ 0 [default: 0]
    #[arg(long, value_name = "γ", allow_negative_numbers = true)]
    pub(crate) margin: Option<f64>,
    /// lifted: a in (0, 1), how much of a row is its features [default: what the lemma says is best]
    #[arg(long, value_name = "a", allow_negative_numbers = true)]
    pub(crate) lift: Option<f64>,
    /// kernel: which [default: rbf]
    #[arg(long, value_enum)]
    pub(crate) kernel: Option<KernelArg>,
    /// kernel poly: the power [default: 2]
    #[arg(long, value_name = "N", value_parser = degree, allow_negative_numbers = true)]
    pub(crate) degree: Option<u32>,
    /// kernel poly, rbf: the factor g [default: 1 for poly, 1/features for rbf]
    #[arg(long, value_name = "g", allow_negative_numbers = true)]
    pub(crate) gamma: Option<f64>,
    /// kernel poly: the constant c in (g⟨x,x'⟩ + c)^N, beside what an appended bias adds [default: 0]
    #[arg(long, value_name = "c", allow_negative_numbers = true)]
    pub(crate) offset: Option<f64>,
    /// kernel: memory for kernel values that are kept, such as 2GB [default: 500MB]
    #[arg(long, value_name = "BYTES", value_parser = super::size)]
    pub(crate) kernel_cache: Option<u64>,
    /// kernel, multiclass, sgd, passive-aggressive: what joins the weights of the run [default: last for kernel and the
    /// perceptron loss, else average]
    #[arg(long, value_enum)]
    pub(crate) combine: Option<CombineArg>,
    /// sgd, svm: what a row costs [default: hinge]
    #[arg(long, value_enum)]
    pub(crate) loss: Option<LossArg>,
    /// sgd: the penalty on the squared length of the weights [default: 0 for the perceptron loss, else 0.0001]
    #[arg(long, value_name = "λ", allow_negative_numbers = true)]
    pub(crate) l2: Option<f64>,
    /// perceptron, averaged: deal the rows into S shards (blocks of rows at random, by the seed), learn them at once and mix
    /// their weights after every pass, on all cores; the shards, not the threads, decide the result [default: 1]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) shards: Option<usize>,
    /// perceptron, averaged: how much each shard counts [default: uniform]
    #[arg(long, value_enum)]
    pub(crate) mixing: Option<MixingArg>,
    /// svm: price of the losses; passive-aggressive: the longest step [default: 1]
    #[arg(long = "C", value_name = "C", allow_negative_numbers = true)]
    pub(crate) c: Option<f64>,
    /// svm: stop when the objective is proved to be within this share of the best [default: 0.001]; max-margin: the same
    /// for the margin [default: 0.000001]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) gap: Option<f64>,
    /// passive-aggressive: how far a row may move the weights [default: capped]
    #[arg(long, value_enum)]
    pub(crate) aggression: Option<AggressionArg>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScheduleArg {
    /// The same in every step
    Constant,
    /// η/k in step k
    #[value(name = "1/k")]
    Inverse,
    /// η/√k
    #[value(name = "1/sqrt-k")]
    InverseRoot,
    /// η/k^p, with --power p
    Power,
    /// batch: η times the mean of the mistakes
    Mean,
    /// sgd: η/(1 + ηλk)
    Shrinking,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KernelArg {
    /// The perceptron itself, in its dual form
    Linear,
    /// Polynomials up to a degree
    Poly,
    /// Bumps around the rows
    Rbf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CombineArg {
    /// The last weights
    Last,
    /// The mean over all rows seen
    Average,
    /// kernel: all vote by how long they survived
    Vote,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MixingArg {
    /// As much as every other: fewer passes on most data
    Uniform,
    /// As much as it made updates in the pass: at most (R/γ*)² passes with a mistake, for any number of shards
    Updates,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LossArg {
    /// sgd: max(0, −a)
    Perceptron,
    /// max(0, 1−a)
    Hinge,
    /// svm: max(0, 1−a)²
    SquaredHinge,
    /// sgd: ln(1 + e^−a), logistic regression
    Log,
    /// sgd: ½(1−a)², least squares
    Squared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AggressionArg {
    /// PA: as far as it takes
    Full,
    /// PA-I: as far as it takes, at most C
    Capped,
    /// PA-II: softened by C
    Softened,
}

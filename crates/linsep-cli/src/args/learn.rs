//! Training arguments shared by `train` and by commands that train a model in order to plot or report it.

use super::choice::{FEATURES, MISTAKES, ORDERS, choice};
use super::{BiasArgs, CacheArgs, ClassArgs, LearnerArg, LearnerArgs, ProbabilityArgs, ReadArgs};
use clap::Args;
use linsep::features::Features;
use linsep::job::TrainSpec;
use linsep::train::{ClassWeight, MistakeRule, Options, Order};
use std::path::Path;

#[derive(Debug, Args)]
pub(crate) struct LearnArgs {
    /// Learner [default: averaged; for 3 to 1000 classes multiclass, or svm if there are more numbered
    /// features than rows; logistic with --features]
    #[arg(long, value_enum, help_heading = "Training options")]
    pub(crate) learner: Option<LearnerArg>,
    /// Maximum number of passes over the data [default: 100; 1000 for svm, logistic and max-margin; 1 when
    /// learning online]
    #[arg(long, value_name = "N", help_heading = "Training options")]
    pub(crate) epochs: Option<u64>,
    /// Stop after this many updates (with --shards, at the next synchronisation of the shards)
    #[arg(long, value_name = "N", help_heading = "Training options")]
    pub(crate) max_updates: Option<u64>,
    /// Stop after this many seconds of training, summed over all classes
    #[arg(long, value_name = "SECONDS", help_heading = "Training options", allow_negative_numbers = true)]
    pub(crate) max_seconds: Option<f64>,
    /// Order in which rows are visited [default: shuffle; given when learning online]
    #[arg(long, value_parser = choice::<Order>(ORDERS), help_heading = "Training options")]
    pub(crate) order: Option<Order>,
    /// Random seed for shuffling and for choosing held-out rows [default: 0]
    #[arg(long, value_name = "S", help_heading = "Training options")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) bias: BiasArgs,
    /// Whether a score of exactly 0 counts as a mistake [default: nonpositive]
    #[arg(long, value_parser = choice::<MistakeRule>(MISTAKES), help_heading = "Training options")]
    pub(crate) mistake: Option<MistakeRule>,
    #[command(flatten)]
    pub(crate) classes: ClassArgs,
    /// Feature expansion, fitted on the training rows and stored in the model [default: plain]
    #[arg(long, value_parser = choice::<Features>(FEATURES), help_heading = "Class and feature options")]
    pub(crate) features: Option<Features>,
    /// Maximum number of pairwise products [default: half the rows per boundary, between 50 and 2000]
    #[arg(long, value_name = "N", help_heading = "Class and feature options")]
    pub(crate) max_pairs: Option<usize>,
    /// Hold out this fraction of the rows of each class and report the error on them
    #[arg(
        long,
        value_name = "FRACTION",
        help_heading = "Class and feature options",
        allow_negative_numbers = true
    )]
    pub(crate) holdout: Option<f64>,
    /// CSV: maximum number of categories in a column before rare ones are merged: categories in fewer than 3
    /// training rows then share one feature, COLUMN=(rare) [default: 1000]
    #[arg(long, value_name = "N", help_heading = "Class and feature options")]
    pub(crate) max_words: Option<u32>,
    #[command(flatten)]
    pub(crate) probability: ProbabilityArgs,
    #[command(flatten)]
    pub(crate) options: LearnerArgs,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) cache: CacheArgs,
}

impl LearnArgs {
    /// Overrides a specification with the given arguments.
    pub(crate) fn lay_over(&self, data: Option<&Path>, spec: &mut TrainSpec) -> Result<(), linsep::Error> {
        self.read.lay_over(data, &mut spec.data);
        spec.data.cache |= self.cache.cache;
        let classes = &self.classes;
        let over = &mut spec.classes;
        set(&mut over.positive, &classes.positive);
        if !classes.keep.is_empty() {
            over.only = classes.keep.clone();
        }
        if !classes.class_weight.is_empty() {
            over.weight = ClassWeight::parse(&classes.class_weight)?;
        }
        set(&mut over.row_weights, &classes.weights.file());
        set(&mut spec.data.counts, &classes.weights.column());
        set(&mut spec.scale, &classes.scale);
        let learner = self.learner.map(LearnerArg::name);
        if learner.is_some() && learner != spec.learner {
            (spec.learner, spec.options) = (learner, Options::new());
        }
        for (name, value) in self.options.options.iter() {
            spec.options.set(name, value.clone());
        }
        self.bias.lay_over(&mut spec.bias);
        set(&mut spec.features, &self.features);
        set(&mut spec.max_pairs, &self.max_pairs);
        set(&mut spec.holdout, &self.holdout);
        spec.probabilities |= self.probability.probabilities;
        set(&mut spec.threshold, &self.probability.rule()?);
        set(&mut spec.max_words, &self.max_words);
        set(&mut spec.epochs, &self.epochs);
        set(&mut spec.max_updates, &self.max_updates);
        set(&mut spec.max_seconds, &self.max_seconds);
        set(&mut spec.order, &self.order);
        set(&mut spec.seed, &self.seed);
        set(&mut spec.mistake, &self.mistake);
        set(&mut spec.shards, &self.options.shards);
        set(&mut spec.mixing, &self.options.mixing);
        Ok(())
    }
}

/// Overrides the field if a value was given.
pub(crate) fn set<T: Clone>(field: &mut Option<T>, given: &Option<T>) {
    if given.is_some() {
        field.clone_from(given);
    }
}

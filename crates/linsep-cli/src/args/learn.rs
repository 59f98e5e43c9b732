//! How a model is learned: what `train` has in common with commands that learn a model to show it.

use super::choice::{FEATURES, MISTAKES, ORDERS, choice};
use super::{BiasArgs, CacheArgs, ClassArgs, LearnerArg, LearnerArgs, ProbabilityArgs, ReadArgs};
use clap::Args;
use linsep::features::Features;
use linsep::job::TrainSpec;
use linsep::train::{ClassWeight, MistakeRule, Options, Order};
use std::path::Path;

#[derive(Debug, Args)]
pub(crate) struct LearnArgs {
    /// Which learner [default: averaged; for 3 to 1000 classes multiclass, or svm for numbered features that are more than the
    /// rows; logistic with --features]
    #[arg(long, value_enum, help_heading = "Learning")]
    pub(crate) learner: Option<LearnerArg>,
    /// At most this many passes over the data [default: 100; 1000 for svm, logistic and max-margin; 1 when learning online]
    #[arg(long, value_name = "N", help_heading = "Learning")]
    pub(crate) epochs: Option<u64>,
    /// Stop after this many updates (with --shards, when all shards next pause after as many)
    #[arg(long, value_name = "N", help_heading = "Learning")]
    pub(crate) max_updates: Option<u64>,
    /// Stop after this many seconds of training, all classes together
    #[arg(long, value_name = "SECONDS", help_heading = "Learning", allow_negative_numbers = true)]
    pub(crate) max_seconds: Option<f64>,
    /// In which order rows are visited [default: shuffle; given when learning online]
    #[arg(long, value_parser = choice::<Order>(ORDERS), help_heading = "Learning")]
    pub(crate) order: Option<Order>,
    /// Seed of shuffles and of the held-out rows [default: 0]
    #[arg(long, value_name = "S", help_heading = "Learning")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) bias: BiasArgs,
    /// When a row is a mistake: agreement ≤ 0, or < 0 [default: nonpositive]
    #[arg(long, value_parser = choice::<MistakeRule>(MISTAKES), help_heading = "Learning")]
    pub(crate) mistake: Option<MistakeRule>,
    #[command(flatten)]
    pub(crate) classes: ClassArgs,
    /// Which features are learned from, made on the training rows and stored in the model [default: plain]
    #[arg(long, value_parser = choice::<Features>(FEATURES), help_heading = "Classes and scale")]
    pub(crate) features: Option<Features>,
    /// At most this many products of pairs of columns [default: half the rows for each boundary, from 50 to 2000]
    #[arg(long, value_name = "N", help_heading = "Classes and scale")]
    pub(crate) max_pairs: Option<usize>,
    /// Hold out this share of the rows of each class, and report the error on them
    #[arg(long, value_name = "FRACTION", help_heading = "Classes and scale", allow_negative_numbers = true)]
    pub(crate) holdout: Option<f64>,
    /// CSV: the most words of a column that all have features of their own; of more, those in fewer than 3 training rows
    /// share one, COLUMN=(rare) [default: 1000]
    #[arg(long, value_name = "N", help_heading = "Classes and scale")]
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
    /// Lays what was given over a specification.
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

/// Takes over what was given.
pub(crate) fn set<T: Clone>(field: &mut Option<T>, given: &Option<T>) {
    if given.is_some() {
        field.clone_from(given);
    }
}

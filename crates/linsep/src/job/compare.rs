//! Comparison of learners on the same rows.

use super::train::refuse_pairs;
use super::{BiasSpec, ClassSpec, DataSpec, emit_notes, label};
use crate::dataset::Dataset;
use crate::features::Features;
use crate::numbers::{counted, grouped};
use crate::observe::{Note, Observer};
use crate::prepare::{Preparation, Records};
use crate::read::options::is_default;
use crate::scale::Scaling;
use crate::train::{Learner, OptionValue, Options, Order, Settings, learners, refuse_excessive_cost};
use crate::validate::compare::{
    CompareSettings, Comparison, Contender, check_orders, compare, is_judged, outcomes, suitable,
};
use crate::validate::metric::Metric;
use crate::{Error, SettingsError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which learners are compared on which rows.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompareSpec {
    /// Where the rows come from and how they are read.
    pub data: DataSpec,
    /// Which classes, and how often their rows count.
    #[serde(default, skip_serializing_if = "is_default")]
    pub classes: ClassSpec,
    /// How features are scaled, as learned on the training part of each fold; if not said, as suits each of them.
    #[serde(default = "auto", skip_serializing_if = "is_auto")]
    pub scale: Scaling,
    /// The features made of the columns.
    #[serde(default, skip_serializing_if = "is_default")]
    pub features: Features,
    /// The most products of columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_pairs: Option<usize>,
    /// Whether the boundary has a bias, or goes through the origin.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bias: BiasSpec,
    /// The learners by their names; empty for all that suit the data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learners: Vec<String>,
    /// Options of the learners, each with the values to try: every learner that has them is compared with all
    /// combinations.
    #[serde(default, skip_serializing_if = "is_default")]
    pub grid: Grid,
    /// By what the learners are judged on held-out rows.
    #[serde(default, skip_serializing_if = "is_default")]
    pub metric: Metric,
    /// The number of folds of the cross-validation.
    #[serde(default = "five")]
    pub folds: usize,
    /// In which order rows are visited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// In how many more orders of the rows each learner learns.
    #[serde(default, skip_serializing_if = "is_default")]
    pub orders: u64,
    /// At most this many passes for each run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epochs: Option<u64>,
    /// At most this many seconds for each run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<f64>,
    /// The seed of folds and orders.
    #[serde(default, skip_serializing_if = "is_default")]
    pub seed: u64,
}

/// Options by name, each with the values to try.
pub type Grid = BTreeMap<String, Vec<OptionValue>>;

/// The most learners that are compared at once.
const MAX: usize = 1000;

fn five() -> usize {
    5
}

fn auto() -> Scaling {
    Scaling::Auto
}

fn is_auto(scale: &Scaling) -> bool {
    *scale == auto()
}

impl Default for CompareSpec {
    fn default() -> Self {
        Self {
            data: DataSpec::default(),
            classes: ClassSpec::default(),
            scale: auto(),
            features: Features::default(),
            max_pairs: None,
            bias: BiasSpec::default(),
            learners: Vec::new(),
            grid: Grid::new(),
            metric: Metric::default(),
            folds: five(),
            order: None,
            orders: 0,
            epochs: None,
            max_seconds: None,
            seed: 0,
        }
    }
}

impl CompareSpec {
    /// Compares.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Comparison, Error> {
        if self.order == Some(Order::Given) && self.orders > 0 {
            let problem =
                "⟦orders⟧ tries other orders of the rows, so it cannot be combined with ⟦order=given⟧";
            return Err(SettingsError::new("orders", problem).into());
        }
        check_orders(self.orders)?;
        refuse_pairs(self.max_pairs, self.features)?;
        let settings = Settings {
            max_seconds: self.max_seconds,
            seed: self.seed,
            order: self.order.unwrap_or(Settings::default().order),
            bias: self.bias.resolve(Settings::default().bias)?,
            positive: self.classes.positive.clone(),
            class_weight: self.classes.weight.clone(),
            ..Settings::default()
        };
        let named = self.named(&settings)?;
        let some = if named.is_empty() {
            learners().iter().map(|each| each.learner()).collect()
        } else {
            named.clone()
        };
        check_grid(&self.grid, &some)?;
        // Before anything is read or listed.
        refuse_many(&named, &self.grid)?;
        let loaded = self.data.load_to_train(&self.classes, observer)?;
        emit_notes(&loaded.notes, observer);
        let data = self.classes.kept(loaded.dataset)?;
        label::check(&self.data, loaded.format, &loaded.schema, &data, observer)?;
        let mut contenders = Vec::new();
        let chosen =
            if named.is_empty() { suited(&data, &settings, self.epochs, observer) } else { named.clone() };
        refuse_many(&chosen, &self.grid)?;
        for learner in chosen {
            contenders.extend(combinations(learner, &self.grid)?);
        }
        if named.is_empty() {
            let positive = self.classes.positive.as_deref();
            leave_out_unjudged(&mut contenders, &data, positive, self.metric, observer);
        }
        let settings = CompareSettings {
            learners: contenders,
            settings,
            epochs: self.epochs,
            preparation: Preparation {
                features: self.features,
                max_pairs: self.max_pairs,
                scaling: self.scale,
                ..Preparation::default()
            },
            metric: self.metric,
            folds: self.folds,
            orders: self.orders,
        };
        let records = Records { schema: loaded.schema, data };
        let comparison = compare(&records, &settings, observer).map_err(|error| match error {
            Error::Interrupted => Error::Interrupted,
            error => error.at(self.data.source.name()),
        })?;
        if comparison.interrupted {
            observer.note(Note::Warning(&format!(
                "interrupted: only {} of {} were held out, and no further orders were tried",
                comparison.folds,
                counted(self.folds as u64, "fold", "folds")
            )));
        }
        Ok(comparison)
    }

    /// The learners that the specification names, each once and fit for these settings.
    fn named(&self, settings: &Settings) -> Result<Vec<Learner>, Error> {
        let mut named: Vec<Learner> = Vec::new();
        for name in &self.learners {
            let learner = Learner::named(name)?;
            if named.contains(&learner) {
                let problem = format!("⟦learners⟧ names {name} twice");
                return Err(SettingsError::new("learners", problem).into());
            }
            let epochs = self.epochs.unwrap_or(learner.usual_epochs());
            Settings { learner, epochs, ..settings.clone() }.validate()?;
            named.push(learner);
        }
        Ok(named)
    }
}

/// Refuses options that none of the learners has, and options without a value.
fn check_grid(grid: &Grid, learners: &[Learner]) -> Result<(), Error> {
    for (name, values) in grid {
        if values.is_empty() {
            return Err(SettingsError::new("grid", format!("⟦{name}⟧ has no value to try")).into());
        }
        if values.len() > MAX {
            return Err(too_many(values.len() as u64).into());
        }
        if let Some(value) =
            values.iter().enumerate().find_map(|(k, value)| values[..k].contains(value).then_some(value))
        {
            return Err(SettingsError::new("grid", format!("⟦{name}⟧ has the value {value} twice")).into());
        }
        if !learners.iter().any(|learner| learner.descriptor().option(name).is_some()) {
            // The first of them says whose option it is.
            let problem = learners
                .first()
                .map(|learner| learner.with_options(&Options::new().with(name, values[0].clone())));
            if let Some(Err(problem)) = problem {
                return Err(problem.into());
            }
        }
    }
    Ok(())
}

/// Refuses a grid that makes too many learners of these. They are counted, not listed: a small grid may make billions.
fn refuse_many(learners: &[Learner], grid: &Grid) -> Result<(), SettingsError> {
    let of_one = |learner: &Learner| {
        let own = grid.iter().filter(|(name, _)| learner.descriptor().option(name).is_some());
        own.fold(1, |made: u64, (_, values)| made.saturating_mul(values.len() as u64))
    };
    let made = learners.iter().map(of_one).fold(0, u64::saturating_add);
    if made > MAX as u64 { Err(too_many(made)) } else { Ok(()) }
}

fn too_many(learners: u64) -> SettingsError {
    let problem = format!(
        "the grid makes {} learners, and at most {MAX} are compared: give fewer values, or name fewer ⟦learners⟧",
        grouped(learners)
    );
    SettingsError::new("grid", problem)
}

/// A learner with every combination of the values of those options that it has.
fn combinations(learner: Learner, grid: &Grid) -> Result<Vec<Contender>, Error> {
    let mut all = vec![(Options::new(), learner.name().to_string())];
    for (name, values) in grid.iter().filter(|(name, _)| learner.descriptor().option(name).is_some()) {
        all = all
            .iter()
            .flat_map(|(options, label)| {
                values.iter().map(move |value| {
                    let label =
                        if values.len() > 1 { format!("{label} {name}={value}") } else { label.clone() };
                    (options.clone().with(name, value.clone()), label)
                })
            })
            .collect();
    }
    let made = all
        .into_iter()
        .map(|(options, label)| Ok(Contender { learner: learner.with_options(&options)?, label }));
    made.collect()
}

/// Leaves out learners that do not give what the metric is about, and says so.
fn leave_out_unjudged(
    contenders: &mut Vec<Contender>,
    data: &Dataset,
    positive: Option<&str>,
    metric: Metric,
    observer: &mut dyn Observer,
) {
    let outcomes = outcomes(data, positive);
    let (kept, left): (Vec<Contender>, Vec<Contender>) =
        contenders.drain(..).partition(|each| is_judged(each.learner, metric, outcomes));
    *contenders = kept;
    if !left.is_empty() {
        let left: Vec<String> = left.into_iter().map(|each| each.label).collect();
        observer.note(Note::Remark(&format!(
            "{} needs probabilities: {} are left out.",
            metric.title,
            left.join(", ")
        )));
    }
}

/// All learners that suit the data and the settings; says which are left out and why.
fn suited(
    data: &Dataset,
    settings: &Settings,
    epochs: Option<u64>,
    observer: &mut dyn Observer,
) -> Vec<Learner> {
    let (mut kept, left) = suitable(data);
    for (learner, reason) in left {
        let learner = learner.name();
        observer.note(Note::Remark(&format!(
            "{learner} is left out: {reason}; name it in ⟦learners⟧ to include it."
        )));
    }
    // Learners that cannot use weights, or one class against the rest, or would not end, are left out too.
    kept.retain(|&learner| {
        let epochs = epochs.unwrap_or(learner.usual_epochs());
        let settings = Settings { learner, epochs, ..settings.clone() };
        match settings.check_on(data).and_then(|()| refuse_excessive_cost(data, &settings)) {
            Ok(()) => true,
            Err(reason) => {
                let learner = learner.name();
                observer.note(Note::Remark(&format!("{learner} is left out: {}.", reason.problem)));
                false
            }
        }
    });
    kept
}

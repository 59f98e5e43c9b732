//! The settings of a training specification, and checks for conflicting choices.

use super::TrainSpec;
use super::path;
use crate::SettingsError;
use crate::classes::class_name;
use crate::dataset::Dataset;
use crate::features::Features;
use crate::model::Model;
use crate::read::{Schema, Source};
use crate::scale::Scaling;
use crate::train::{ClassWeight, Init, Learner, Options, Order, Settings, State, learners, names_of};

/// Whether rows are learned as they are read: asked for, or standard input that is to be seen once.
pub(super) fn is_online(spec: &TrainSpec, checkpoint: Option<&State>) -> Result<bool, SettingsError> {
    let saved = checkpoint.map(State::settings);
    let one_pass = spec.epochs.or(saved.map(|settings| settings.epochs)) == Some(1);
    let given = match spec.order {
        Some(order) => order == Order::Given,
        None => saved.is_none_or(|settings| settings.order == Order::Given),
    };
    let learner = spec.learner.as_deref().map(Learner::named).transpose()?;
    let shards = spec.shards.or(saved.map(|settings| settings.shards));
    let needs_all_rows = spec.holdout.is_some()
        || spec.asks_for_probabilities().is_some()
        || !spec.classes.only.is_empty()
        || spec.teaching_set.is_some()
        || spec.classes.row_weights.is_some()
        // A class takes part in the multi-class perceptron from its first row on, so a stream differs from its file.
        || spec.expands()
        || learner.is_some_and(|learner| !learner.is_online() || learner.abilities().many_classes)
        || shards.is_some_and(|shards| shards > 1)
        || spec.classes.weight == ClassWeight::Balanced
        || matches!(spec.scale, Some(Scaling::Auto | Scaling::MaxAbs | Scaling::Standard))
        || spec.data.read.csv.missing.notes_gaps();
    let stream = !matches!(
        spec.data.source,
        Source::File(_) | Source::Memory(..) | Source::Shared(..) | Source::Rows(..)
    );
    Ok(spec.online || (stream && one_pass && given && !needs_all_rows))
}

/// The settings: what the specification says, else what the checkpoint says, else the defaults.
pub(super) fn resolve(
    spec: &TrainSpec,
    online: bool,
    checkpoint: Option<&State>,
    warm: Option<&Model>,
) -> Result<Settings, SettingsError> {
    let mut settings = match checkpoint {
        Some(run) => run.settings().clone(),
        None => {
            let pair = warm.and_then(|model| model.classes.pair());
            Settings { positive: pair.map(|pair| pair.positive.clone()), ..Settings::default() }
        }
    };
    if online && checkpoint.is_none() {
        settings.epochs = 1;
        settings.order = Order::Given;
    }
    if let (Some(model), None) = (warm, checkpoint) {
        settings.bias = model.settings.bias;
    }
    match &spec.learner {
        Some(name) => settings.learner = Learner::named(name)?,
        None if !spec.options.is_empty() && checkpoint.is_none() => {
            settings.learner = match spec.expands() {
                // Splines and products are many: no other learner is chosen for them.
                true => Learner::named("logistic")?,
                false => learner_with(&spec.options, settings.learner)?,
            };
        }
        None => {}
    }
    settings.learner = settings.learner.with_options(&spec.options)?;
    settings.shards = spec.shards.unwrap_or(settings.shards);
    if let Some(mixing) = spec.mixing {
        if settings.shards == 1 && spec.shards.is_none() {
            return Err(SettingsError::new("mixing", "⟦mixing⟧ needs ⟦shards⟧ 2 or more"));
        }
        settings.mixing = mixing;
    }
    if spec.classes.weight != ClassWeight::Equal {
        settings.class_weight = spec.classes.weight.clone();
    }
    if !online && checkpoint.is_none() {
        settings.epochs = settings.learner.usual_epochs();
    }
    settings.order = spec.order.unwrap_or(settings.order);
    settings.bias = spec.bias.resolve(settings.bias)?;
    settings.mistake = spec.mistake.unwrap_or(settings.mistake);
    match (&spec.init, warm) {
        (_, Some(model)) => settings.init = Init::Warm(model.learned.theta().clone()),
        (Some(path), None) if path.as_os_str() == "first" => settings.init = Init::First,
        (Some(_), None) => settings.init = Init::Zero,
        (None, None) => {}
    }
    settings.epochs = spec.epochs.unwrap_or(settings.epochs);
    settings.max_updates = spec.max_updates.or(settings.max_updates);
    settings.max_seconds = spec.max_seconds.or(settings.max_seconds);
    settings.seed = spec.seed.unwrap_or(settings.seed);
    settings.positive = spec.classes.positive.clone().or(settings.positive);
    Ok(settings)
}

/// The most classes that are learned together where nothing else was said. More go one by one, which takes far less time.
const MAX_TOGETHER: usize = 1000;

/// Tables with fewer rows than this are left to the usual learner: too few to have shown what suits them.
const FEWEST_ROWS: usize = 30;

/// The rule below, in words.
pub const DEFAULT_LEARNER: &str = "averaged; logistic with ⟦features⟧ or for a table with more features than rows; svm with squared \
     hinge for texts; for 3 to 1000 classes multiclass, or svm with squared hinge if numbered features are more than the rows. With \
     options that it lacks: logistic, svm or the first learner that has them";

/// Chooses the learner where none was named, by what was best on real data. On tables (`bench/tables.py`): logistic
/// regression where there are more features than rows, and only a penalty keeps weights from fitting anything; otherwise, for
/// more than two classes, all of them together. For numbered features that are more than the rows, such as words of texts
/// (`bench/sparse_defaults.py`), and more than two classes: each against the rest with a penalty. Splines and products of
/// columns are many, and it is a penalty that keeps curves smooth: logistic regression. Texts (`bench/inputs.py`): a support
/// vector machine.
///
/// Returns why it is another than the usual learner, if it is.
pub(super) fn choose_learner(
    spec: &TrainSpec,
    settings: &mut Settings,
    schema: &Schema,
    data: &Dataset,
) -> Result<Option<&'static str>, SettingsError> {
    let classes = data.classes().len();
    if spec.learner.is_some() || !spec.options.is_empty() || classes > MAX_TOGETHER || settings.shards > 1 {
        return Ok(None);
    }
    let several = classes > 2 && settings.positive.is_none();
    let is_table = matches!(schema, Schema::Table { .. });
    let is_wide = data.columns() - schema.row_name_features() > data.len();
    let squared_hinge = || Learner::named("svm")?.with_options(&Options::new().with("loss", "squared-hinge"));
    let (learner, reason) = if spec.expands() {
        (Learner::named("logistic")?, "because added features need a penalty")
    } else if schema.texts().next().is_some() {
        (squared_hinge()?, "because the rows are texts")
    } else if is_table && is_wide && data.len() >= FEWEST_ROWS {
        (Learner::named("logistic")?, "because there are more features than rows")
    } else if several && !is_table && is_wide {
        (squared_hinge()?, "because there are several classes, and more features than rows")
    } else if several {
        (Learner::named("multiclass")?, "because there are several classes")
    } else {
        return Ok(None);
    };
    let chosen =
        Settings { learner, epochs: spec.epochs.unwrap_or(learner.usual_epochs()), ..settings.clone() };
    // It does not have every start, rule and weight that the usual learner has.
    let fits = chosen.check_on(data).is_ok() && (learner.is_online() || spec.checkpoint.is_none());
    if fits {
        *settings = chosen;
    }
    Ok(fits.then_some(reason))
}

/// The learner of options that are given without it: the one that is usual if it has them, or the first that has.
fn learner_with(options: &Options, usual: Learner) -> Result<Learner, SettingsError> {
    let preferred = ["logistic", "svm"].into_iter().chain(learners().iter().map(|learner| learner.name));
    let candidates = [Ok(usual)].into_iter().chain(preferred.map(Learner::named));
    let has_all =
        |learner: &Learner| options.iter().all(|(name, _)| learner.descriptor().option(name).is_some());
    let having: Vec<Learner> =
        candidates.collect::<Result<Vec<_>, _>>()?.into_iter().filter(has_all).collect();
    // Where no learner takes the values, the first says what is wrong with them.
    let takes_them = having.iter().find(|learner| learner.with_options(options).is_ok());
    Ok(*takes_them.or(having.first()).unwrap_or(&usual))
}

/// Refuses what follows one run, where each of many classes is a run of its own.
pub(super) fn refuse_many(
    spec: &TrainSpec,
    settings: &Settings,
    classes: usize,
) -> Result<(), SettingsError> {
    let one_run = classes <= 2 || settings.positive.is_some() || settings.learner.abilities().many_classes;
    for (given, field, name) in [
        (spec.checkpoint.is_some(), "checkpoint", "⟦checkpoint⟧"),
        (spec.resume.is_some(), "resume", "⟦resume⟧"),
        (spec.wants_trace(), "trace", "⟦trace⟧"),
        (spec.teaching_set.is_some(), "teaching_set", "⟦teaching_set⟧"),
        (matches!(settings.init, Init::Warm(_)), "init", "⟦init=MODEL⟧"),
    ] {
        if given && !one_run {
            return Err(follows_one_run(field, name, classes));
        }
    }
    Ok(())
}

/// The error for what cannot follow several runs.
pub(super) fn follows_one_run(field: &'static str, name: &str, classes: usize) -> SettingsError {
    let problem = format!(
        "{name} records one run, but {classes} classes need one run each: choose one with ⟦positive=CLASS⟧, \
         or keep two with ⟦classes=A,B⟧"
    );
    SettingsError::new(field, problem)
}

/// Refuses what cannot be done together, with the reason.
pub(super) fn refuse_combinations(
    spec: &TrainSpec,
    settings: &Settings,
    warm: Option<&Model>,
    online: bool,
) -> Result<(), SettingsError> {
    let learner = settings.learner;
    if !learner.is_online() && (spec.checkpoint.is_some() || spec.resume.is_some()) {
        let problem = format!(
            "⟦checkpoint⟧ and ⟦resume⟧ are for learners that process one row at a time ({}), not for {}",
            names_of(|abilities| abilities.row_by_row),
            learner.name()
        );
        return Err(SettingsError::new("checkpoint", problem));
    }
    refuse_proof(spec, settings)?;
    if let Some(points) = spec.path {
        path::check(points, settings, online || spec.memory.is_some())?;
    }
    refuse_pairs(spec.max_pairs, spec.features.unwrap_or_default())?;
    spec.check_probabilities(settings, warm.is_some())?;
    let probabilities = spec.asks_for_probabilities();
    let (field, asking) = probabilities.unwrap_or_default();
    if spec.data.counts.is_some() && (online || spec.memory.is_some()) {
        let problem = "a column of ⟦weights⟧ needs all rows in memory: give the weights in a file that exists, or leave out \
                       ⟦online⟧ and ⟦memory⟧";
        return Err(SettingsError::new("weights", problem));
    }
    if spec.classes.row_weights.is_some() {
        spec.data.refuse_to_weigh()?;
    }
    if let Some(model) = warm {
        refuse_start(spec, model)?;
        if spec.max_words.is_some() {
            let problem = "⟦max_words⟧ does not apply to a warm start, which keeps the features of the model";
            return Err(SettingsError::new("max_words", problem));
        }
    }
    if online && warm.is_some_and(|model| !model.recipe.expansion.is_none()) {
        let problem = "the model to start from has spline or product features, which need all rows in \
                       memory; online learning does not keep rows";
        return Err(SettingsError::new("init", problem));
    }
    if online {
        for (given, field, name) in [
            (spec.holdout.is_some(), "holdout", "⟦holdout⟧"),
            (!spec.classes.only.is_empty(), "classes", "⟦classes⟧"),
            (spec.teaching_set.is_some(), "teaching_set", "⟦teaching_set⟧"),
            (spec.classes.row_weights.is_some(), "weights", "⟦weights⟧"),
            (settings.shards > 1, "shards", "⟦shards⟧"),
            (spec.expands(), "features", "⟦features⟧"),
            (probabilities.is_some(), field, asking),
            (spec.max_words.is_some(), "max_words", "⟦max_words⟧"),
        ] {
            if given {
                let problem = format!("{name} needs all rows in memory; online learning does not keep rows");
                return Err(SettingsError::new(field, problem));
            }
        }
    }
    Ok(())
}

/// Refuses a number of products where none are made.
pub(in crate::job) fn refuse_pairs(most: Option<usize>, features: Features) -> Result<(), SettingsError> {
    match most.is_some() && !features.pairs() {
        true => Err(SettingsError::new("max_pairs", "⟦max_pairs⟧ needs ⟦features=pairs⟧ or splines+pairs")),
        false => Ok(()),
    }
}

/// Refuses a trace or a teaching set of runs that the theorem does not cover.
fn refuse_proof(spec: &TrainSpec, settings: &Settings) -> Result<(), SettingsError> {
    if !spec.wants_proof() {
        return Ok(());
    }
    let refuse = |problem: &str| Err(SettingsError::new("trace", problem));
    if !settings.learner.abilities().traces_mistakes {
        return refuse(&format!(
            "⟦trace⟧ and ⟦teaching_set⟧ record the mistakes of a perceptron: choose one of {}, not {}",
            names_of(|abilities| abilities.traces_mistakes),
            settings.learner.name()
        ));
    }
    if settings.shards > 1 {
        return refuse(
            "⟦trace⟧ and ⟦teaching_set⟧ record the mistakes of one sequential run; ⟦shards⟧ makes several \
             at once",
        );
    }
    if settings.class_weight != ClassWeight::Equal {
        return Err(weighted_proof());
    }
    if matches!(settings.init, Init::Warm(_)) {
        return refuse(
            "⟦trace⟧ and ⟦teaching_set⟧ need a start at zero: the theorems do not cover another start",
        );
    }
    Ok(())
}

/// The error for a trace or a teaching set of rows that have weights, which are not those of a table written out.
fn weighted_proof() -> SettingsError {
    let problem = "⟦trace⟧ and ⟦teaching_set⟧ need whole-number row weights: the theorem counts mistakes";
    SettingsError::new("trace", problem)
}

/// Refuses a trace or a teaching set in a file where rows are found to have weights.
pub(super) fn refuse_weighted_proof(spec: &TrainSpec, data: &Dataset) -> Result<(), SettingsError> {
    let in_file = spec.trace.is_some() || spec.teaching_set.is_some();
    if in_file && data.weights().is_some() { Err(weighted_proof()) } else { Ok(()) }
}

/// Refuses a start from a model that does not fit.
fn refuse_start(spec: &TrainSpec, model: &Model) -> Result<(), SettingsError> {
    let refuse = |problem: String| Err(SettingsError::new("init", problem));
    let Some(pair) = model.classes.pair() else {
        return refuse(
            "the model to start from has more than two classes, and only a binary model can be a starting \
             point: train one with ⟦positive=CLASS⟧ or ⟦classes=A,B⟧, or leave ⟦init=MODEL⟧ out"
                .into(),
        );
    };
    if model.learned.weights().is_none() {
        return refuse(
            "the model to start from has no weights: it is a kernel machine or a memoriser".into(),
        );
    }
    let other = |class: &str| class_name(class).as_ref() != Some(&pair.positive);
    if spec.classes.positive.as_deref().is_some_and(other) {
        return refuse(format!(
            "the model to start from has {} as its positive class; ⟦positive⟧ must agree",
            pair.positive
        ));
    }
    if spec.scale.is_some_and(|scale| scale != model.recipe.scaling.scaling() && scale != Scaling::Auto) {
        return refuse("the model to start from was trained with another ⟦scale⟧; use the same".into());
    }
    let made = model.recipe.expansion.features();
    if spec.features.is_some_and(|features| features != made) {
        let name = made.name();
        return refuse(format!("the model to start from has other features ({name}): leave ⟦features⟧ out"));
    }
    Ok(())
}

/// Refuses what needs all rows in memory, or a second file beside them, for data that stays in its file.
pub(super) fn refuse_whole(
    spec: &TrainSpec,
    settings: &Settings,
    scaling: Scaling,
) -> Result<(), SettingsError> {
    if !matches!(spec.data.source, Source::File(_)) {
        let problem = "⟦memory⟧ reads the data several times, which standard input does not allow: name a \
                       file, or \
                       learn ⟦online⟧";
        return Err(SettingsError::new("memory", problem));
    }
    let probabilities = spec.asks_for_probabilities();
    let (field, asking) = probabilities.unwrap_or_default();
    for (given, field, name) in [
        (probabilities.is_some(), field, asking),
        (spec.holdout.is_some(), "holdout", "⟦holdout⟧"),
        (!spec.classes.only.is_empty(), "classes", "⟦classes⟧"),
        (spec.classes.row_weights.is_some(), "weights", "⟦weights⟧"),
        (spec.wants_trace(), "trace", "⟦trace⟧"),
        (spec.teaching_set.is_some(), "teaching_set", "⟦teaching_set⟧"),
        (spec.start_model().is_some(), "init", "⟦init=MODEL⟧"),
        (settings.shards > 1, "shards", "⟦shards⟧"),
        (scaling != Scaling::None, "scale", "⟦scale⟧"),
        (spec.expands(), "features", "⟦features⟧"),
        (spec.max_words.is_some(), "max_words", "⟦max_words⟧"),
    ] {
        if given {
            let problem = format!("{name} needs all rows in memory: leave it out, or ⟦memory⟧");
            return Err(SettingsError::new(field, problem));
        }
    }
    Ok(())
}

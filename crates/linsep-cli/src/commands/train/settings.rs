//! What the arguments of `train` mean, and which make no sense together.

use crate::args::{MissingArg, MistakeArg, MixingArg, OrderArg, ScaleArg, TrainArgs};
use crate::commands::{bias, learner, scaling};
use crate::exit::Usage;
use linsep::classes::class_name;
use linsep::train::{ClassWeight, Init, Learned, Learner, MistakeRule, Mixing, Order, Run};
use linsep::{Model, Settings};

/// Whether rows are learned as they are read: asked for, or standard input that is to be seen once.
pub(super) fn is_online(args: &TrainArgs, checkpoint: Option<&Run>) -> bool {
    let one_pass = args.epochs.or(checkpoint.map(|run| run.settings().epochs)) == Some(1);
    let given = match args.order {
        Some(order) => matches!(order, OrderArg::Given),
        None => checkpoint.is_none_or(|run| run.settings().order == Order::Given),
    };
    let needs_all_rows = args.holdout.is_some()
        || !args.classes.keep.is_empty()
        || args.teaching_set.is_some()
        || args.classes.weights.is_some()
        || args.learner.is_some_and(|name| !learner::plain(name).is_online())
        || args
            .options
            .shards
            .or(checkpoint.map(|run| run.settings().shards))
            .is_some_and(|shards| shards > 1)
        || args.classes.class_weight.iter().any(|text| text == "balanced")
        || matches!(args.classes.scale, Some(ScaleArg::MaxAbs | ScaleArg::Standard))
        || matches!(args.read.missing, Some(MissingArg::Mean));
    args.online || (args.data.as_os_str() == "-" && one_pass && given && !needs_all_rows)
}

/// The settings: what the user said, else what the checkpoint says, else the defaults.
pub(super) fn resolve(
    args: &TrainArgs,
    online: bool,
    checkpoint: Option<&Run>,
    warm: Option<&Model>,
) -> Result<Settings, Usage> {
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
    if let Some(name) = args.learner {
        settings.learner = learner::plain(name);
    }
    settings.learner = learner::with_options(settings.learner, &args.options)?;
    settings.shards = args.options.shards.unwrap_or(settings.shards);
    if let Some(mixing) = args.options.mixing {
        if settings.shards == 1 && args.options.shards.is_none() {
            return Err(Usage("--mixing says how shards count: with --shards S there are some".into()));
        }
        settings.mixing = match mixing {
            MixingArg::Updates => Mixing::Updates,
            MixingArg::Uniform => Mixing::Uniform,
        };
    }
    if !args.classes.class_weight.is_empty() {
        settings.class_weight = learner::class_weight(&args.classes.class_weight)?;
    }
    if !online && checkpoint.is_none() {
        settings.epochs = settings.learner.usual_epochs();
    }
    if let Some(order) = args.order {
        settings.order = match order {
            OrderArg::Given => Order::Given,
            OrderArg::ShuffleOnce => Order::ShuffleOnce,
            OrderArg::Shuffle => Order::Shuffle,
        };
    }
    settings.bias = bias(&args.bias, settings.bias)?;
    if let Some(rule) = args.mistake {
        settings.mistake = match rule {
            MistakeArg::Nonpositive => MistakeRule::NonPositive,
            MistakeArg::Negative => MistakeRule::Negative,
        };
    }
    match (&args.init, warm) {
        (_, Some(model)) => settings.init = Init::Warm(model.learned.theta().clone()),
        (Some(path), None) if path.as_os_str() == "first" => settings.init = Init::First,
        (Some(_), None) => settings.init = Init::Zero,
        (None, None) => {}
    }
    settings.epochs = args.epochs.unwrap_or(settings.epochs);
    settings.max_updates = args.max_updates.or(settings.max_updates);
    settings.max_seconds = args.max_seconds.or(settings.max_seconds);
    settings.seed = args.seed.unwrap_or(settings.seed);
    settings.positive = args.classes.positive.clone().or(settings.positive);
    Ok(settings)
}

/// Refuses what follows one run, where each of many classes is one.
pub(super) fn refuse_many(args: &TrainArgs, settings: &Settings, classes: usize) -> Result<(), Usage> {
    let one_run =
        classes <= 2 || settings.positive.is_some() || matches!(settings.learner, Learner::Multiclass(_));
    for (given, name) in [
        (args.checkpoint.is_some(), "--checkpoint"),
        (args.resume.is_some(), "--resume"),
        (args.trace.is_some(), "--trace"),
        (args.teaching_set.is_some(), "--teaching-set"),
        (matches!(settings.init, Init::Warm(_)), "--init MODEL"),
    ] {
        if given && !one_run {
            return Err(Usage(format!(
                "{name} follows one run, and with {classes} classes each is a run of its own: choose one with --positive \
                 CLASS, or keep two with --classes A,B"
            )));
        }
    }
    Ok(())
}

/// Refuses what cannot be done together, with the reason.
pub(super) fn refuse_combinations(
    args: &TrainArgs,
    settings: &Settings,
    warm: Option<&Model>,
    online: bool,
) -> Result<(), Usage> {
    let refuse = |reason: &str| Err(Usage(reason.to_string()));
    let learner = settings.learner;
    if !learner.is_online() && (args.checkpoint.is_some() || args.resume.is_some()) {
        return Err(Usage(format!(
            "--checkpoint and --resume are for learners that go row by row (perceptron, averaged, voted, margin, sgd, \
             passive-aggressive), not for {}",
            learner.name()
        )));
    }
    let mistakes = matches!(learner, Learner::Perceptron | Learner::Averaged | Learner::Voted);
    if !mistakes && (args.trace.is_some() || args.teaching_set.is_some()) {
        return Err(Usage(format!(
            "--trace and --teaching-set follow the mistakes of a perceptron: choose perceptron, averaged or voted, not {}",
            learner.name()
        )));
    }
    if settings.shards > 1 && (args.trace.is_some() || args.teaching_set.is_some()) {
        return refuse(
            "--trace and --teaching-set follow the mistakes of one run, one after the other; with --shards there are \
             several at once",
        );
    }
    let weighted = args.classes.weights.is_some() || settings.class_weight != ClassWeight::Equal;
    if weighted && (args.trace.is_some() || args.teaching_set.is_some()) {
        return refuse("--trace and --teaching-set need rows that count once: the theorem counts mistakes");
    }
    if args.classes.weights.is_some()
        && (args.read.skip_bad || matches!(args.read.missing, Some(MissingArg::DropRow)))
    {
        return refuse(
            "--weights has one number for each row; --skip-bad and --missing drop-row leave rows out",
        );
    }
    if let Some(model) = warm {
        let Some(pair) = model.classes.pair() else {
            return refuse("the model to start from tells many classes apart; a start needs a model of two");
        };
        if !matches!(model.learned, Learned::Linear(_) | Learned::Voted { .. }) {
            return refuse("the model to start from has no weights: it is a sum of kernels, or a memory");
        }
        if args
            .classes
            .positive
            .as_deref()
            .is_some_and(|class| class_name(class).as_ref() != Some(&pair.positive))
        {
            let positive = &pair.positive;
            return Err(Usage(format!(
                "the model to start from has {positive} as its positive class; --positive must agree"
            )));
        }
        if args.classes.scale.is_some_and(|scale| scaling(scale) != model.scaler.scaling()) {
            return refuse(
                "the model to start from was trained with another --scale: its weights fit no other",
            );
        }
    }
    if matches!(settings.init, Init::Warm(_)) && (args.trace.is_some() || args.teaching_set.is_some()) {
        return refuse("--trace and --teaching-set need a start at zero: the theorems speak of no other");
    }
    if online {
        for (given, name) in [
            (args.holdout.is_some(), "--holdout"),
            (!args.classes.keep.is_empty(), "--classes"),
            (args.teaching_set.is_some(), "--teaching-set"),
            (args.classes.weights.is_some(), "--weights"),
            (settings.shards > 1, "--shards"),
        ] {
            if given {
                return Err(Usage(format!(
                    "{name} needs all rows in memory; learning online forgets each row"
                )));
            }
        }
    }
    Ok(())
}

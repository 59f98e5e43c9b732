//! What the arguments of `train` mean, and which make no sense together.

use crate::args::{BiasArg, LearnerArg, MissingArg, MistakeArg, OrderArg, ScaleArg, TrainArgs};
use crate::exit::Usage;
use linsep::classes::class_name;
use linsep::scale::Scaling;
use linsep::train::{Bias, Init, Learner, MistakeRule, Order, Run};
use linsep::{Model, Settings};

/// Whether rows are learned as they are read: asked for, or standard input that is to be seen once.
pub(super) fn is_online(args: &TrainArgs, checkpoint: Option<&Run>) -> bool {
    let one_pass = args.epochs.or(checkpoint.map(|run| run.settings().epochs)) == Some(1);
    let given = match args.order {
        Some(order) => matches!(order, OrderArg::Given),
        None => checkpoint.is_none_or(|run| run.settings().order == Order::Given),
    };
    let needs_all_rows = args.holdout.is_some()
        || !args.classes.is_empty()
        || args.teaching_set.is_some()
        || matches!(args.scale, Some(ScaleArg::MaxAbs | ScaleArg::Standard))
        || matches!(args.read.missing, Some(MissingArg::Mean));
    args.online || (args.data.as_os_str() == "-" && one_pass && given && !needs_all_rows)
}

/// The settings: what the user said, else what the checkpoint says, else the defaults.
pub(super) fn resolve(
    args: &TrainArgs,
    online: bool,
    checkpoint: Option<&Run>,
    warm: Option<&Model>,
) -> Settings {
    let mut settings = match checkpoint {
        Some(run) => run.settings().clone(),
        None => {
            Settings { positive: warm.map(|model| model.classes.positive.clone()), ..Settings::default() }
        }
    };
    if online && checkpoint.is_none() {
        settings.epochs = 1;
        settings.order = Order::Given;
    }
    if let (Some(model), None) = (warm, checkpoint) {
        settings.bias = model.settings.bias;
    }
    if let Some(learner) = args.learner {
        settings.learner = match learner {
            LearnerArg::Perceptron => Learner::Perceptron,
            LearnerArg::Averaged => Learner::Averaged,
            LearnerArg::Voted => Learner::Voted,
        };
    }
    if let Some(order) = args.order {
        settings.order = match order {
            OrderArg::Given => Order::Given,
            OrderArg::ShuffleOnce => Order::ShuffleOnce,
            OrderArg::Shuffle => Order::Shuffle,
        };
    }
    match (args.bias, args.bias_scale) {
        (Some(BiasArg::None), _) => settings.bias = Bias::None,
        (_, Some(scale)) => settings.bias = Bias::Append(scale),
        (Some(BiasArg::Append), None) if settings.bias == Bias::None => settings.bias = Bias::Append(1.0),
        _ => {}
    }
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
    settings.positive = args.positive.clone().or(settings.positive);
    settings
}

/// The scaling that was asked for.
pub(super) fn scaling(scale: ScaleArg) -> Scaling {
    match scale {
        ScaleArg::None => Scaling::None,
        ScaleArg::MaxAbs => Scaling::MaxAbs,
        ScaleArg::Standard => Scaling::Standard,
        ScaleArg::UnitRows => Scaling::UnitRows,
    }
}

/// Refuses what cannot be done together, with the reason.
pub(super) fn refuse_combinations(
    args: &TrainArgs,
    settings: &Settings,
    warm: Option<&Model>,
    online: bool,
) -> Result<(), Usage> {
    let refuse = |reason: &str| Err(Usage(reason.to_string()));
    if args.bias == Some(BiasArg::None) && args.bias_scale.is_some() {
        return refuse("--bias-scale needs --bias append: without a bias there is nothing to scale");
    }
    if let Some(model) = warm {
        if args
            .positive
            .as_deref()
            .is_some_and(|class| class_name(class).as_ref() != Some(&model.classes.positive))
        {
            let positive = &model.classes.positive;
            return Err(Usage(format!(
                "the model to start from has {positive} as its positive class; --positive must agree"
            )));
        }
        if args.scale.is_some_and(|scale| scaling(scale) != model.scaler.scaling()) {
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
            (!args.classes.is_empty(), "--classes"),
            (args.teaching_set.is_some(), "--teaching-set"),
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

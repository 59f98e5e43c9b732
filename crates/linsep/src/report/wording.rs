//! What is known about a run, in plain sentences.

use crate::numbers::{Rounding, counted, grouped, percent, rounded};
use crate::theory::margin::{MarginInterval, MarginKind};
use crate::theory::novikoff::MistakeBound;
use crate::train::{
    Aggression, Bias, ClassWeight, Combine, Detail, Evidence, Init, Kernel, Learner, Loss, MarginRule,
    MistakeRule, Mixing, Order, Schedule, Settings, Status, StepSchedule, SvmLoss,
};

/// The settings in a few words.
pub fn describe_settings(settings: &Settings) -> String {
    let learner = describe_learner(&settings.learner);
    let order = match settings.order {
        Order::Given => "rows in the given order".to_string(),
        Order::ShuffleOnce => format!("rows shuffled once, seed {}", settings.seed),
        Order::Shuffle => format!("rows shuffled for every pass, seed {}", settings.seed),
    };
    let bias = match settings.bias {
        Bias::None => "no bias".to_string(),
        Bias::Append(scale) => format!("appended bias of scale {scale}"),
    };
    let start = match settings.init {
        Init::Zero => "",
        Init::First => ", started at the first row",
        Init::Warm(_) => ", started from a model",
    };
    let weights = match &settings.class_weight {
        ClassWeight::Equal => String::new(),
        ClassWeight::Balanced => ", classes balanced".to_string(),
        ClassWeight::Named(named) => {
            let listed: Vec<String> =
                named.iter().map(|(class, weight)| format!("{class} × {weight}")).collect();
            format!(", rows weighted: {}", listed.join(", "))
        }
    };
    let shards = match (settings.shards, settings.mixing) {
        (0 | 1, _) => String::new(),
        (shards, Mixing::Updates) => format!(", {shards} shards mixed by their updates"),
        (shards, Mixing::Uniform) => format!(", {shards} shards mixed equally"),
    };
    format!("{learner}, {bias}, {order}{start}{weights}{shards}")
}

/// A learner with its options, in a few words.
pub fn describe_learner(learner: &Learner) -> String {
    let combined = |combine: Combine| match combine {
        Combine::Last => "",
        Combine::Average => ", averaged",
        Combine::Vote => ", voted",
    };
    match learner {
        Learner::Perceptron => "perceptron".to_string(),
        Learner::Averaged => "averaged perceptron".to_string(),
        Learner::Voted => "voted perceptron".to_string(),
        Learner::Margin(MarginRule::Dynamic { epsilon }) => {
            format!("margin perceptron, dynamic, ε = {epsilon}")
        }
        Learner::Margin(MarginRule::Fixed { beta }) => format!("margin perceptron, fixed β = {beta}"),
        Learner::Margin(MarginRule::Threshold { b }) => format!("margin perceptron, threshold b = {b}"),
        Learner::Batch(options) => {
            let schedule = match options.schedule {
                Schedule::Constant => format!("constant step {}", options.step),
                Schedule::Power(p) => format!("step {} · k^−{p}", options.step),
                Schedule::Mean => format!("step {} · mean of the mistakes", options.step),
            };
            format!("batch perceptron, {schedule}")
        }
        Learner::Pocket(options) if options.margin > 0.0 => {
            format!("pocket perceptron, margin {}", options.margin)
        }
        Learner::Pocket(_) => "pocket perceptron".to_string(),
        Learner::Lifted(options) => match options.a {
            Some(a) => format!("lifted perceptron, a = {a}"),
            None => "lifted perceptron, a from the lemma".to_string(),
        },
        Learner::Kernel(options) => {
            let kernel = match options.kernel {
                Kernel::Linear => "linear kernel".to_string(),
                Kernel::Polynomial { degree, gamma, offset } => {
                    format!("kernel ({gamma}·⟨x, x′⟩ + {offset})^{degree}")
                }
                Kernel::Rbf { gamma: Some(gamma) } => format!("kernel exp(−{gamma}·‖x − x′‖²)"),
                Kernel::Rbf { gamma: None } => "kernel exp(−‖x − x′‖²/features)".to_string(),
            };
            format!("kernel perceptron, {kernel}{}", combined(options.combine))
        }
        Learner::Multiclass(options) => format!("multi-class perceptron{}", combined(options.combine)),
        Learner::Sgd(options) => {
            let loss = match options.loss {
                Loss::Perceptron => "perceptron",
                Loss::Hinge => "hinge",
                Loss::Log => "log",
                Loss::Squared => "squared",
            };
            let step = options.step.map_or("1/R²".to_string(), |step| step.to_string());
            let schedule = match options.schedule {
                StepSchedule::Constant => format!("constant step {step}"),
                StepSchedule::Power(p) => format!("step {step} · t^−{p}"),
                StepSchedule::Shrinking => format!("shrinking step from {step}"),
            };
            let l2 = options.l2;
            format!("gradient descent on the {loss} loss, {schedule}, L2 {l2}{}", combined(options.combine))
        }
        Learner::Svm(options) => {
            let loss = match options.loss {
                SvmLoss::Hinge => "hinge",
                SvmLoss::SquaredHinge => "squared hinge",
            };
            format!("support vector machine, {loss} loss, C = {}", options.c)
        }
        Learner::MaxMargin(_) => "max-margin separator".to_string(),
        Learner::Memoriser => "memoriser".to_string(),
        Learner::PassiveAggressive(options) => {
            let form = match options.aggression {
                Aggression::Full => "PA".to_string(),
                Aggression::Capped => format!("PA-I, C = {}", options.c),
                Aggression::Softened => format!("PA-II, C = {}", options.c),
            };
            format!("passive–aggressive, {form}{}", combined(options.combine))
        }
    }
}

/// How the run ended, in a few words.
pub fn describe_end(evidence: &Evidence) -> String {
    let passes = counted(evidence.epochs, "pass", "passes");
    let updates = counted(evidence.updates, "update", "updates");
    match evidence.status {
        Status::Converged => format!("converged after {passes} and {updates}"),
        Status::EpochLimit => format!("not converged within {passes}; {updates}"),
        Status::UpdateLimit => {
            format!("stopped at the limit of updates, in pass {}, after {updates}", evidence.epochs)
        }
        Status::TimeLimit => {
            format!("stopped at the time limit, in pass {}, after {updates}", evidence.epochs)
        }
        Status::Interrupted => format!("interrupted in pass {}, after {updates}", evidence.epochs),
    }
}

/// What only this learner has to tell, in a few words.
pub fn describe_detail(evidence: &Evidence) -> Option<String> {
    match evidence.detail.as_ref()? {
        Detail::Svm { primal, dual, gap, support } => Some(format!(
            "objective {primal:.6}, proved to be at least {dual:.6} for all weights (gap {gap:.1e}); {} in it",
            counted(*support, "row has a part", "rows have a part")
        )),
        Detail::MaxMargin { gap, support } => Some(format!(
            "the margin of the weights is proved to be within {gap:.1e} of the best; {} it",
            counted(*support, "row holds", "rows hold")
        )),
        Detail::Pocket { margin, kept, rows, looks, error_bound } => {
            let by =
                if *margin > 0.0 { format!(" by a distance of {margin} at least") } else { String::new() };
            let looks = counted(*looks, "time", "times");
            let mut text =
                format!("{} of {} rows are right{by}; counted {looks}", grouped(*kept), grouped(*rows));
            if let Some(bound) = error_bound.filter(|&bound| bound < 1.0) {
                text += &format!(
                    "; if the rows were drawn independently, at most {} of new rows are wrong, with probability 0.95",
                    percent(bound)
                );
            }
            Some(text)
        }
        Detail::Lifted { a, lifted_margin_lower, mistakes, bound } => {
            let mut text = format!(
                "lifted with a = {}: {}",
                rounded(*a, Rounding::Down),
                counted(*mistakes, "mistake", "mistakes")
            );
            if let Some(bound) = bound {
                text += &format!(" of at most {}", rounded(*bound, Rounding::Up));
            }
            if let Some(lower) = lifted_margin_lower {
                text +=
                    &format!("; the lifted rows have margin {} at least", rounded(*lower, Rounding::Down));
            }
            Some(text)
        }
        Detail::Memoriser { distinct, contradicted } => {
            let mut text = format!("it remembers {}", counted(*distinct, "different row", "different rows"));
            if *contradicted > 0 {
                text += &format!("; {} outvoted by equal rows", counted(*contradicted, "row is", "rows are"));
            }
            Some(text)
        }
        Detail::Shards { mistakes, updates, .. } => {
            let (least, most) = (updates.iter().min()?, updates.iter().max()?);
            Some(format!(
                "{} with {} to {} updates each; mixed, they count as K = {} mistakes",
                counted(updates.len() as u64, "shard", "shards"),
                grouped(*least),
                grouped(*most),
                rounded(*mistakes, Rounding::Up)
            ))
        }
        Detail::Kernel { support } => {
            Some(format!("the function is made of {}", counted(*support, "row", "rows")))
        }
    }
}

/// The margin interval in a few words.
pub fn describe_margin(evidence: &Evidence) -> String {
    let MarginInterval { lower, upper, kind } = evidence.margin;
    let kind = match kind {
        MarginKind::ThroughOrigin => "boundary through the origin",
        MarginKind::AppendedBias => "appended bias",
        MarginKind::FreeBias => "free bias",
        MarginKind::KernelSpace => "in the space of the kernel",
        MarginKind::MultiClass => "of each row's class against the strongest other",
        MarginKind::OneAgainstRest => "the smallest of all classes against the rest",
    };
    let radius = rounded(evidence.extent.radius_upper, Rounding::Up);
    let upper = rounded(upper, Rounding::Up);
    match lower {
        Some(lower) => format!("{} ≤ γ* ≤ {upper} ({kind}); R ≤ {radius}", rounded(lower, Rounding::Down)),
        None => format!("γ* ≤ {upper} ({kind}); R ≤ {radius}"),
    }
}

/// Whether the updates of the run are mistakes that Novikoff's theorem counts: of a perceptron that starts at zero and
/// takes every row once.
fn counts_mistakes(evidence: &Evidence, settings: &Settings) -> bool {
    let perceptron = matches!(
        settings.learner,
        Learner::Perceptron
            | Learner::Averaged
            | Learner::Voted
            | Learner::Pocket(_)
            | Learner::Kernel(_)
            | Learner::Multiclass(_)
    );
    let one_boundary = evidence.margin.kind != MarginKind::OneAgainstRest;
    perceptron && one_boundary && !evidence.weighted && !matches!(settings.init, Init::Warm(_))
}

/// The mistakes of a run that Novikoff's theorem, or that of mixing, counts.
fn mistakes_made(evidence: &Evidence, settings: &Settings) -> Option<f64> {
    let counts = counts_mistakes(evidence, settings);
    counts.then_some(match evidence.detail {
        Some(Detail::Shards { mistakes, .. }) => mistakes,
        _ => evidence.updates as f64,
    })
}

/// Novikoff's bound in a few words, with the number of mistakes made beside it.
pub fn describe_bound(evidence: &Evidence, settings: &Settings) -> String {
    let counted = mistakes_made(evidence, settings);
    let made = if let (Some(mistakes), Some(Detail::Shards { .. })) = (counted, &evidence.detail) {
        format!("this mixture counts {}", rounded(mistakes, Rounding::Up))
    } else if counted.is_some() || matches!(settings.init, Init::Warm(_)) {
        format!("this run made {}", grouped(evidence.updates))
    } else if evidence.margin.kind == MarginKind::OneAgainstRest {
        "for the hardest class".to_string()
    } else {
        "of a perceptron; this learner counts otherwise".to_string()
    };
    let MistakeBound { lower, upper } = evidence.mistake_bound;
    let lower = lower.map(|lower| rounded(lower, Rounding::Down));
    match (lower, upper.map(|upper| rounded(upper, Rounding::Up))) {
        (Some(lower), Some(most)) => {
            let share = upper.zip(counted).map_or(String::new(), |(upper, mistakes)| {
                format!(", {} % of the upper end", rounded(100.0 * mistakes / upper, Rounding::Up))
            });
            format!("{lower} ≤ (R/γ*)² ≤ {most} mistakes; {made}{share}")
        }
        (Some(lower), None) => format!("(R/γ*)² ≥ {lower} mistakes, no upper end known; {made}"),
        (None, _) => format!("none: the margin is proved to be zero or less; {made}"),
    }
}

/// What the evidence means, in plain sentences.
pub fn explain(evidence: &Evidence, settings: &Settings) -> String {
    let upper = rounded(evidence.margin.upper, Rounding::Up);
    if let Some(bound) = evidence.mistake_bound.upper {
        let mut text = format!(
            "The rows are linearly separable: the run found weights that prove it. A perceptron that starts at zero \
             makes at most {} mistakes on them, in any order and however often it sees them",
            rounded(bound, Rounding::Up)
        );
        if evidence.margin.kind == MarginKind::OneAgainstRest {
            text = text
                .replace("The rows are linearly separable", "Each class is linearly separable from the rest");
            text = text
                .replace("A perceptron that starts at zero", "For each, a perceptron that starts at zero");
            text.push('.');
        } else if matches!(settings.init, Init::Warm(_)) {
            let updates = counted(evidence.updates, "update does", "updates do");
            text += &format!("; this run started elsewhere, so its {updates} not count against that.");
        } else if let (Some(mistakes), Some(Detail::Shards { mixing, updates, .. })) =
            (mistakes_made(evidence, settings), &evidence.detail)
        {
            text += &format!(
                "; nor can a mixture of shards count more, and this one counts K = {}. No more than {} of its passes can \
                 make a mistake.",
                rounded(mistakes, Rounding::Up),
                rounded(mixing.most_passes(bound, updates.len()), Rounding::Up)
            );
        } else if counts_mistakes(evidence, settings) {
            text += &format!("; this run made {}.", grouped(evidence.updates));
        } else {
            text.push('.');
        }
        if matches!(settings.learner, Learner::Averaged | Learner::Voted)
            && evidence.training_error.is_some_and(|error| error > 0.0)
        {
            text += " The weights that prove it are the last ones; what is saved is made of all weights of the run, and \
                     still errs on some rows. To save the last ones, choose ⟦learner=perceptron⟧.";
        }
        return text;
    }
    if evidence.margin.upper == 0.0 {
        return "No weights agree with every row: some row is zero, and nothing can be on the right side of it.".into();
    }
    let judged = if evidence.progressive_error.is_some() {
        "The rows were seen once and not kept, so it is not known whether they are separable."
    } else if evidence.status == Status::Converged && settings.mistake == MistakeRule::Negative {
        "No row was a mistake in the last pass, but some row lies on the boundary, so nothing is proved by it."
    } else {
        if evidence.margin.kind == MarginKind::OneAgainstRest {
            "Not every class was separated from the rest."
        } else {
            "The rows were not separated."
        }
    };
    let margin = match evidence.margin.kind {
        MarginKind::ThroughOrigin => "no boundary through the origin has a margin",
        MarginKind::AppendedBias => {
            "no boundary has a margin, measured with the bias as one more coordinate,"
        }
        MarginKind::FreeBias => "no boundary has a margin",
        MarginKind::KernelSpace => "no function of this kernel has a margin",
        MarginKind::MultiClass => "no weights tell the classes apart by a margin",
        MarginKind::OneAgainstRest => "some class cannot be told from the rest by a margin",
    };
    let mut text = format!("{judged} It is proved that {margin} above {upper} on them");
    match evidence.mistake_bound.lower {
        Some(least) if least >= 1.0 => {
            text += &format!(
                ": either they overlap, or their margin is so small that Novikoff's theorem cannot promise convergence \
                 within fewer than {} mistakes.",
                rounded(least, Rounding::Down)
            );
        }
        _ => text.push('.'),
    }
    text
}

//! The results of a run in plain sentences.

use crate::features::{Expansion, Recipe, Scaler};
use crate::job::Trained;
use crate::model::Model;
use crate::numbers::{Rounding, counted, grouped, rounded};
use crate::theory::margin::{MarginInterval, MarginKind};
use crate::theory::novikoff::MistakeBound;
use crate::train::{
    Bias, ClassWeight, Detail, Evidence, Init, Learner, MistakeRule, Mixing, Order, Settings, Status,
};

/// The settings in a few words.
pub fn describe_settings(settings: &Settings) -> String {
    let learner = settings.learner.describe();
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
    if matches!(settings.learner, Learner::Logistic(_)) {
        // All rows at once, and an intercept that is no coordinate of a norm.
        let bias = if settings.bias == Bias::None { "no bias" } else { "free bias" };
        return format!("{learner}, {bias}{weights}");
    }
    format!("{learner}, {bias}, {order}{start}{weights}{shards}")
}

/// How the run ended, in a few words.
pub fn describe_end(evidence: &Evidence) -> String {
    if let Some(Detail::Logistic { .. } | Detail::Firth { .. }) = evidence.detail {
        let steps = counted(evidence.epochs, "step", "steps");
        return match evidence.status {
            Status::Converged => format!("converged after {steps}"),
            Status::TimeLimit => format!("stopped at the time limit, after {steps}"),
            Status::Interrupted => format!("interrupted after {steps}"),
            _ => format!("the gap was not reached within {steps}"),
        };
    }
    let passes = counted(evidence.epochs, "pass", "passes");
    let updates = counted(evidence.updates, "update", "updates");
    match evidence.status {
        Status::Converged => format!("converged after {passes} and {updates}"),
        // Weights that separate all rows and "not converged" would contradict each other for a reader.
        Status::EpochLimit if evidence.margin.lower.is_some() => {
            let separated = if evidence.training_error == Some(0.0) { "separated all rows; " } else { "" };
            format!("{separated}stopped at the limit of {passes}; {updates}")
        }
        Status::EpochLimit => format!("not converged within {passes}; {updates}"),
        Status::UpdateLimit => {
            format!("stopped at the limit of updates, in pass {}, after {updates}", evidence.epochs)
        }
        Status::TimeLimit => {
            format!("stopped at the time limit, in pass {}, after {updates}", evidence.epochs)
        }
        Status::Interrupted => format!("interrupted in pass {}, after {updates}", evidence.epochs),
        Status::NoMargin => "no boundary separates the rows with a margin".to_string(),
        Status::NoOptimum => "no finite optimum exists".to_string(),
        Status::Undecided => "undecided within the limits".to_string(),
    }
}

/// How a run ended early of a learner that would have converged ([`always_converges`](crate::train::Abilities::always_converges)), and
/// the setting that a larger value lets converge.
pub fn describe_unfinished(model: &Model) -> Option<(String, &'static str)> {
    let limit = match model.evidence.status {
        // The gap is smaller than rounding allows.
        Status::EpochLimit if model.evidence.epochs < model.settings.epochs => "gap",
        Status::EpochLimit => "epochs",
        Status::UpdateLimit => "max_updates",
        Status::TimeLimit => "max_seconds",
        _ => return None,
    };
    let would = model.settings.learner.abilities().always_converges;
    would.then(|| (describe_end(&model.evidence), limit))
}

/// The results that only this learner has, in a few words.
pub fn describe_detail(evidence: &Evidence, settings: &Settings) -> Option<String> {
    evidence.detail.as_ref().and_then(|detail| settings.learner.tell(detail, evidence))
}

/// Which features were made of those of the columns, in a few words; `None` where there are none.
pub fn describe_expansion(expansion: &Expansion) -> Option<String> {
    let made = expansion.summary()?;
    let mut parts = vec![format!("{} of the original columns", counted(made.plain, "feature", "features"))];
    if made.splines > 0 {
        parts.push(format!(
            "{} of {}",
            counted(made.splines, "spline feature", "spline features"),
            counted(made.spline_columns, "numeric column", "numeric columns")
        ));
    }
    if made.products > 0 {
        let products = counted(made.products, "product", "products");
        let chosen = match made.candidates > made.products {
            true => format!(
                " (chosen from {} as those that best explain the errors of a model without products)",
                grouped(made.candidates)
            ),
            false => String::new(),
        };
        parts.push(format!("{products} of pairs of columns{chosen}"));
    }
    Some(parts.join(", "))
}

/// The margin interval in a few words, with the features that it is about: those that `recipe` makes.
pub fn describe_margin(evidence: &Evidence, recipe: &Recipe) -> String {
    let MarginInterval { lower, upper, kind } = evidence.margin;
    let kind = match kind {
        MarginKind::ThroughOrigin => "boundary through the origin",
        MarginKind::AppendedBias => "appended bias",
        MarginKind::FreeBias => "free bias",
        MarginKind::KernelSpace => "in the space of the kernel",
        MarginKind::MultiClass => "of each row's class against the strongest other",
        MarginKind::OneAgainstRest => "the smallest of all classes against the rest",
        MarginKind::KernelOneAgainstRest => {
            "the smallest of all classes against the rest, in the space of the kernel"
        }
    };
    let radius = rounded(evidence.extent.radius_upper, Rounding::Up);
    let upper = rounded(upper, Rounding::Up);
    let of = match (recipe.expansion.is_none(), recipe.scaling == Scaler::None) {
        (true, true) => "",
        (true, false) => "; of the scaled features",
        (false, true) => "; in the space of the expanded features",
        (false, false) => "; in the space of the expanded features, scaled",
    };
    match lower {
        Some(lower) => {
            format!("{} ≤ γ* ≤ {upper} ({kind}); R ≤ {radius}{of}", rounded(lower, Rounding::Down))
        }
        None => format!("γ* ≤ {upper} ({kind}); R ≤ {radius}{of}"),
    }
}

/// Whether the updates of the run are mistakes that Novikoff's theorem counts: of a perceptron that starts at zero and
/// takes every row once.
fn counts_mistakes(evidence: &Evidence, settings: &Settings) -> bool {
    let perceptron = settings.learner.abilities().counts_mistakes;
    let one_boundary = !evidence.margin.kind.is_of_each_class();
    perceptron && one_boundary && !evidence.weighted && !matches!(settings.init, Init::Warm(_))
}

/// The mistakes of a run that Novikoff's theorem, or that of mixing, counts.
pub(super) fn mistakes_made(evidence: &Evidence, settings: &Settings) -> Option<f64> {
    let counts = counts_mistakes(evidence, settings);
    counts.then_some(match evidence.detail {
        Some(Detail::Shards { mistakes, .. }) => mistakes,
        _ => evidence.updates as f64,
    })
}

/// Novikoff's bound in a few words, with the number of mistakes made beside it. None for learners that it says nothing about.
pub fn describe_bound(evidence: &Evidence, settings: &Settings) -> Option<String> {
    if !settings.learner.abilities().counts_mistakes {
        return None;
    }
    let counted = mistakes_made(evidence, settings);
    let made = if let (Some(mistakes), Some(Detail::Shards { .. })) = (counted, &evidence.detail) {
        format!("this mixture counts {}", rounded(mistakes, Rounding::Up))
    } else if evidence.margin.kind.is_of_each_class() {
        "for the hardest class".to_string()
    } else {
        format!("this run made {}", grouped(evidence.updates))
    };
    let MistakeBound { lower, upper } = evidence.mistake_bound;
    let lower = lower.map(|lower| rounded(lower, Rounding::Down));
    Some(match (lower, upper.map(|upper| rounded(upper, Rounding::Up))) {
        (Some(lower), Some(most)) => {
            let share = upper.zip(counted).map_or(String::new(), |(upper, mistakes)| {
                format!(", {} % of the upper end", rounded(100.0 * mistakes / upper, Rounding::Up))
            });
            format!("{lower} ≤ (R/γ*)² ≤ {most} mistakes; {made}{share}")
        }
        (Some(lower), None) => format!("(R/γ*)² ≥ {lower} mistakes, no upper end known; {made}"),
        (None, _) => format!("none: the margin is proved to be zero or less; {made}"),
    })
}

/// The meaning of the evidence, in plain sentences.
pub fn explain(evidence: &Evidence, settings: &Settings) -> String {
    if settings.learner == Learner::Memoriser {
        return "The rows are memorised and no boundary is sought, so separability is not known.".into();
    }
    match (evidence.mistake_bound.upper, &evidence.detail) {
        (Some(bound), _) => explain_separable(evidence, settings, bound),
        (None, Some(detail)) if !evidence.status.has_model() => {
            settings.learner.tell(detail, evidence).unwrap_or_default() + "."
        }
        (None, None) if !evidence.status.has_model() => format!("Not learned: {}.", describe_end(evidence)),
        (None, _) => explain_unseparated(evidence, settings),
    }
}

/// How to say that weights such as the learner's separate the rows, and that none do.
pub(super) fn separable(evidence: &Evidence, settings: &Settings) -> [String; 2] {
    let (all, not_all) = match evidence.margin.kind {
        MarginKind::OneAgainstRest => (
            "each class is linearly separable from the rest",
            "some class is not linearly separable from the rest",
        ),
        MarginKind::MultiClass => {
            ("the classes are linearly separable all at once", "no weights separate all the classes at once")
        }
        MarginKind::KernelSpace => (
            "the classes are separable in the kernel's space",
            "the classes are not separable in the kernel's space",
        ),
        MarginKind::KernelOneAgainstRest => (
            "each class is separable from the rest in the kernel's space",
            "some class is not separable from the rest in the kernel's space",
        ),
        MarginKind::ThroughOrigin | MarginKind::AppendedBias | MarginKind::FreeBias => {
            ("the classes are linearly separable", "the classes are not linearly separable")
        }
    };
    let origin = if settings.bias == Bias::None { " through the origin" } else { "" };
    [all, not_all].map(|words| format!("{words}{origin}"))
}

/// What it means that the run found a separator.
fn explain_separable(evidence: &Evidence, settings: &Settings, bound: f64) -> String {
    let each = evidence.margin.kind.is_of_each_class();
    let kernel = matches!(settings.learner, Learner::Kernel(_));
    let [all, _] = separable(evidence, settings);
    let proof = if kernel { "multipliers" } else { "weights" };
    let mut text = format!("It is proved that {all}: the run found {proof} that do it.");
    if !settings.learner.abilities().counts_mistakes {
        return text;
    }
    text += &format!(
        " {} makes at most {} mistakes on them, in any order and however often it sees them",
        match (kernel, each) {
            (false, false) => "A perceptron that starts at zero",
            (false, true) => "For each, a perceptron that starts at zero",
            (true, false) => "A perceptron with this kernel that starts at zero",
            (true, true) => "For each, a perceptron with this kernel that starts at zero",
        },
        rounded(bound, Rounding::Up)
    );
    if each {
        text.push('.');
    } else if matches!(settings.init, Init::Warm(_)) {
        let updates = counted(evidence.updates, "update", "updates");
        text += &format!("; this run did not start at zero, so that does not hold for its {updates}.");
    } else if let (Some(mistakes), Some(Detail::Shards { mixing, updates, .. })) =
        (mistakes_made(evidence, settings), &evidence.detail)
    {
        text += &format!(
            "; the same bound holds for a mixture of shards, and this one counts K = {}. At most {} of its passes can \
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
        text += " The last weights of the run prove it; the saved model combines all weights of the run, and is still wrong \
                 on some rows. To save the last weights, choose ⟦learner=perceptron⟧.";
    }
    text
}

/// What it means that the run found no separator.
fn explain_unseparated(evidence: &Evidence, settings: &Settings) -> String {
    if evidence.extent.shortest == 0.0 {
        return "The rows are not separable: some row is zero, and a zero row has score 0 for all \
                weights."
            .into();
    }
    if evidence.margin.upper == 0.0 {
        return "The rows are not separable: it is proved that no weights have a margin above zero on them."
            .into();
    }
    let found = if evidence.progressive_error.is_some() {
        "The rows were seen once and not kept, so it is not known whether they are separable."
    } else if evidence.status == Status::Converged && settings.mistake == MistakeRule::Negative {
        "No row was a mistake in the last pass, but some row lies on the boundary, so that proves nothing."
    } else if evidence.margin.kind.is_of_each_class() {
        "Not every class was separated from the rest."
    } else {
        "The rows were not separated."
    };
    let upper = rounded(evidence.margin.upper, Rounding::Up);
    let mut text = format!("{found} It is proved that their best margin is at most {upper}");
    match evidence.mistake_bound.lower {
        Some(least) if least >= 1.0 && settings.learner.abilities().counts_mistakes => {
            let [_, not_all] = separable(evidence, settings);
            text += &format!(
                ": either {not_all}, or the margin is so small that Novikoff's theorem cannot promise convergence within \
                 fewer than {} mistakes.",
                rounded(least, Rounding::Down)
            );
        }
        _ => text.push('.'),
    }
    text
}

/// Why a run ended without a model, if it did.
pub fn describe_no_model(model: &Model) -> Option<String> {
    let (evidence, settings) = (&model.evidence, &model.settings);
    if evidence.status.has_model() {
        return None;
    }
    let all = std::iter::once(evidence).chain(model.boundaries.iter().map(|boundary| &boundary.evidence));
    all.filter(|part| part.status == evidence.status).find_map(|part| describe_detail(part, settings))
}

/// Advice for a run that ended without a model.
pub fn no_model_help(trained: &Trained) -> &'static str {
    match trained.status {
        Status::NoOptimum if !trained.model.recipe.expansion.is_none() => {
            "this concerns the expanded features; separate decides only for the original columns. With a \
             penalty an optimum always exists: ⟦penalty=l2⟧"
        }
        Status::NoOptimum if trained.model.evidence.margin.kind == MarginKind::MultiClass => {
            "separate decides for two sides: each class against the rest, or with ⟦pairs⟧ two classes at a \
             time. With a penalty an optimum always exists: ⟦penalty=l2⟧"
        }
        Status::NoOptimum => {
            "separate writes the certificate and names the columns. With a penalty an optimum always \
             exists: ⟦penalty=l2⟧"
        }
        _ => "separate lists the conflicting rows; ⟦learner=svm⟧ allows rows on the wrong side",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Dataset;
    use crate::train::{Outcome, train};

    /// The report of a run on four points in a row, of which the last two belong together.
    fn told(learner: &str, epochs: u64, labels: &[&str]) -> (Outcome, String) {
        let values: Vec<f64> = (0..labels.len()).map(|i| i as f64).collect();
        let data = Dataset::dense(1, &values, labels).unwrap();
        let settings = Settings { learner: Learner::named(learner).unwrap(), epochs, ..Settings::default() };
        let outcome = train(&data, &settings, &mut ()).unwrap();
        let text = format!("{}. {}", describe_end(&outcome.evidence), explain(&outcome.evidence, &settings));
        (outcome, text)
    }

    #[test]
    fn a_kernel_separates_in_its_own_space() {
        for labels in [&["a", "a", "b", "b"][..], &["a", "b", "a", "b"], &["a", "b", "c", "a"]] {
            let (outcome, text) = told("kernel", 10_000, labels);
            assert!(!text.contains("linearly"), "{text}");
            if outcome.evidence.margin.lower.is_some() {
                assert!(text.contains("separable") && text.contains("in the kernel's space"), "{text}");
            }
        }
        assert!(
            told("perceptron", 1000, &["a", "a", "b", "b"]).1.contains("the classes are linearly separable")
        );
        let (_, text) = told("multiclass", 1000, &["a", "a", "b", "b"]);
        assert!(text.contains("the classes are linearly separable all at once"), "{text}");
    }

    #[test]
    fn separable_and_not_converged_are_not_said_together() {
        let (mut separated, mut not) = (0, 0);
        for learner in
            ["perceptron", "averaged", "svm", "sgd", "margin", "kernel", "batch", "pocket", "lifted"]
        {
            for epochs in 1..40 {
                for labels in [&["a", "a", "a", "b", "b"][..], &["a", "b", "a", "b"]] {
                    let (outcome, text) = told(learner, epochs, labels);
                    let proved = outcome.evidence.margin.lower.is_some();
                    assert!(!proved || !text.contains("not converged"), "{learner} {epochs}: {text}");
                    let said = text.contains("proved that the classes are linearly separable")
                        || text.contains("proved that the classes are separable");
                    assert_eq!(proved, said, "{learner} {epochs}: {text}");
                    separated += usize::from(proved && text.contains("stopped at the limit"));
                    not += usize::from(text.contains("not converged"));
                }
            }
        }
        assert!(separated > 10 && not > 10, "{separated} {not}");
    }

    #[test]
    fn a_memory_says_nothing_about_boundaries() {
        let (_, text) = told("memoriser", 1, &["a", "b", "a", "b"]);
        assert!(text.contains("no boundary is sought") && !text.contains("not separated"), "{text}");
    }
}

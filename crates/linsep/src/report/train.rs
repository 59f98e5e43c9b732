//! The report of a training run.

use super::Block;
use super::evaluate::{baseline, matrix, measured_error, pair_matrix, recalls, reliability_table};
use super::layout::{MAX_LINES, cell, column_width};
use super::probability::{describe_calibration, describe_threshold, measures_in_line};
use super::wording::{
    describe_bound, describe_detail, describe_end, describe_end_of_separable, describe_expansion,
    describe_margin, describe_settings, explain, explain_with_column,
};
use crate::classes::{Classes, shortened};
use crate::features::Features;
use crate::job::{BiasKind, Evaluated, HeldOut, SeparateSpec, Spec, Trained};
use crate::model::Model;
use crate::numbers::{Rounding, counted, grouped, percent, rounded};
use crate::read::Source;
use crate::scale::Scaler;
use crate::theory::compression::{Compression, compression_bound};
use crate::theory::margin::MarginKind;
use crate::train::{Bias, Boundary, Evidence, Init, Learner, LogisticPenalty, Status};

/// The report of a training run, for people.
pub fn train_report(trained: &Trained) -> Vec<Block> {
    report(trained, true)
}

/// The same for a model that a search chose, whose report has said before what is to be expected of new rows.
pub(super) fn chosen_report(trained: &Trained) -> Vec<Block> {
    report(trained, false)
}

/// `alone` says whether nothing else tells what is to be expected of new rows.
fn report(trained: &Trained, alone: bool) -> Vec<Block> {
    let mut blocks = vec![Block::Facts(facts(trained, alone))];
    blocks.extend(trained.held_out.as_ref().and_then(held_out_matrix));
    if asks_for_probabilities(trained) {
        let held_out = trained.held_out.as_ref();
        blocks.extend(
            held_out.and_then(|held_out| reliability_table(&held_out.evaluated, "the held-out rows")),
        );
    }
    let boundaries = &trained.model.boundaries;
    if !boundaries.is_empty() {
        blocks.push(Block::text(format!("\nEach class against the rest:\n{}", boundary_table(boundaries))));
    }
    if let Some(question) = open_question(trained) {
        blocks.push(Block::text("\n"));
        blocks.push(Block::paragraph(
            "To find out whether these rows are linearly separable, and which rows conflict:",
        ));
        blocks.push(Block::Job(Box::new(Spec::Separate(question))));
    }
    blocks
}

/// Why there are only the features of the columns where more were asked for.
fn nothing_made(asked: Features) -> Option<&'static str> {
    match (asked.splines(), asked.pairs()) {
        (false, false) => None,
        (true, false) => Some("the columns only: no numeric column has enough distinct values for a spline"),
        (false, true) => {
            Some("the columns only: no product of two columns varies and is nonzero in 5 rows or more")
        }
        (true, true) => Some(
            "the columns only: no numeric column has enough distinct values for a spline, and no product of \
             two columns varies and is nonzero in 5 rows or more",
        ),
    }
}

fn facts(trained: &Trained, alone: bool) -> Vec<(&'static str, String)> {
    let (model, evidence) = (&trained.model, &trained.model.evidence);
    let shape = format!(
        "{}: {}, {}, {} not zero ({})",
        trained.source.name(),
        counted(evidence.examples, "row", "rows"),
        counted(evidence.features, "feature", "features"),
        counted(evidence.nonzeros, "value", "values"),
        trained.notes.format,
    );
    let scaling = describe_scaling(&model.recipe.scaling);
    let mut facts = vec![("Data", shape), ("Classes", classes(trained))];
    let asked = trained.spec.features.unwrap_or_default();
    let made = describe_expansion(&model.recipe.expansion).or_else(|| nothing_made(asked).map(str::to_owned));
    facts.extend(made.map(|made| ("Features", made)));
    let chosen = trained.reason.map_or_else(String::new, |reason| format!("; chosen {reason}"));
    facts.extend([
        ("Scale", scaling),
        ("Learner", describe_settings(&model.settings) + &chosen),
        (
            "Result",
            separating_column(trained)
                .map_or_else(|| describe_end(evidence), |_| describe_end_of_separable(evidence)),
        ),
        ("Error", error(trained, alone)),
    ]);
    facts.extend(trained.held_out.as_ref().map(|held_out| ("Held out", held_out_measures(held_out))));
    if asks_for_probabilities(trained) {
        facts.extend(describe_calibration(model).map(|how| ("Scores", how)));
    }
    if let (Some(threshold), Some(pair)) = (&model.threshold, model.classes.pair()) {
        facts.push(("Threshold", describe_threshold(threshold, &pair.positive)));
    }
    facts.extend(new_rows(trained).map(|bound| ("New rows", bound)));
    facts.extend(describe_detail(evidence, &model.settings).map(|detail| ("Detail", detail)));
    facts.extend(features_left(model).map(|left| ("Left", left)));
    let expansion = &model.recipe.expansion;
    facts.push(("Margin", describe_margin(evidence, &model.recipe)));
    if let Some(distance) = evidence.distance {
        // After the margin, which it is easily mistaken for: this is the distance that these weights keep.
        let distance = rounded(distance, Rounding::Down);
        facts.push(("Nearest", format!("every row is at least {distance} from this boundary")));
    }
    facts.push(("Bound", describe_bound(evidence, &model.settings)));
    let mut meaning = match separating_column(trained) {
        Some(column) => explain_with_column(evidence, &model.settings, column),
        None => explain(evidence, &model.settings),
    };
    if !expansion.is_none() {
        meaning += " This is about the space of the expanded features, where the boundary is linear; in the columns it is \
                    curved.";
    }
    facts.push(("Meaning", meaning));
    let threads = counted(trained.threads as u64, "thread", "threads");
    let (read, train) = (trained.seconds.read, trained.seconds.train);
    facts.push(("Time", format!("read {read:.3} s, train {train:.3} s, {threads}")));
    facts.push(match &trained.saved {
        Some(path) => ("Saved", path.display().to_string()),
        None if trained.spec.output.is_some() => {
            ("Saved", "not saved: the file could not be written".to_string())
        }
        None => ("Saved", "not saved; name a file with ⟦output=MODEL⟧".to_string()),
    });
    facts
}

/// The most features that are named.
const MAX_NAMED: usize = 10;

/// Where a penalty leaves features out: those that it leaves, the strongest first, with what one unit more adds to the score.
fn features_left(model: &Model) -> Option<String> {
    let Learner::Logistic(options) = model.settings.learner else { return None };
    if !matches!(options.penalty, LogisticPenalty::L1 | LogisticPenalty::ElasticNet) {
        return None;
    }
    let left = |outcome: usize| {
        let (features, units) = (model.strongest_features(outcome), model.in_units_of(outcome));
        let weights = units.as_ref().map_or(model.weights_of(outcome), |units| &units.weights);
        let named = features.iter().take(MAX_NAMED).map(|&j| {
            let sign = if weights[j] < 0.0 { "−" } else { "+" };
            format!("{} {sign}{}", model.recipe.feature_name(j), significant(weights[j].abs()))
        });
        let mut text = named.collect::<Vec<_>>().join(", ");
        match features.len() {
            0 => text.push_str("none"),
            n if n > MAX_NAMED => text.push_str(&format!(", and {} more", grouped((n - MAX_NAMED) as u64))),
            _ => {}
        }
        text
    };
    let has_products = model.recipe.expansion.each_product().next().is_some();
    let per = match model.in_units_of(0) {
        Some(_) if has_products => "per unit (products: of deviations from the means)",
        Some(_) => "per unit",
        None => "weight",
    };
    Some(match &model.classes {
        Classes::Pair(_) if model.strongest_features(0).is_empty() => left(0),
        Classes::Pair(_) => format!("{}; {per}, the strongest first", left(0)),
        Classes::Each { names } => {
            let shown = names.iter().take(MAX_NAMED).enumerate();
            let each: Vec<String> =
                shown.map(|(outcome, name)| format!("{name}: {}", left(outcome))).collect();
            format!("{}; {per}, the strongest first", each.join("; "))
        }
    })
}

/// A number with three significant digits.
fn significant(number: f64) -> String {
    let digits = 2 - number.log10().floor() as i32;
    if (-2..=6).contains(&digits) {
        format!("{number:.*}", digits.max(0) as usize)
    } else {
        format!("{number:.2e}")
    }
}

/// Whether probabilities or a threshold were asked for.
fn asks_for_probabilities(trained: &Trained) -> bool {
    trained.spec.probabilities || trained.spec.threshold.is_some()
}

/// The column that proves that the rows are separable, where the run itself did not separate them.
fn separating_column(trained: &Trained) -> Option<&str> {
    let Evidence { margin, status, .. } = &trained.model.evidence;
    let open = margin.lower.is_none() && margin.upper > 0.0 && status.has_model();
    open.then(|| trained.warnings.iter().find_map(|warning| warning.separating_column())).flatten()
}

/// The preparation of the features before training.
pub(super) fn describe_scaling(scaler: &Scaler) -> String {
    match scaler {
        Scaler::None => "features as they are".into(),
        Scaler::MaxAbs { .. } => "each feature divided by its largest magnitude".into(),
        Scaler::UnitRows => "rows scaled to length 1".into(),
        Scaler::Standard(standard) => {
            let features = standard.divisor().len() as u64;
            let parts = standard.mean().iter().zip(standard.divisor());
            let count = |wanted: fn(f64, f64) -> bool| {
                parts.clone().filter(|&(&mean, &divisor)| wanted(mean, divisor)).count() as u64
            };
            let centred = count(|mean, divisor| mean != 0.0 && divisor != 1.0);
            // Those that are the same in every row cannot have another variance than 0.
            let moved = count(|mean, divisor| mean != 0.0 && divisor == 1.0);
            let alone = count(|mean, divisor| mean == 0.0 && divisor == 1.0);
            let said = [
                (centred, "to mean 0 and variance 1"),
                (moved, "to mean 0"),
                (features - centred - moved - alone, "scaled without being centred"),
                (alone, "as they are"),
            ];
            let said = said.iter().filter(|(count, _)| *count > 0).enumerate();
            let said = said.map(|(place, &(count, how))| match place {
                0 => format!("{} {how}", counted(count, "feature", "features")),
                _ => format!("{} {how}", grouped(count)),
            });
            said.collect::<Vec<_>>().join(", ")
        }
    }
}

fn classes(trained: &Trained) -> String {
    let rows = |outcome: usize| {
        let count = trained.counts.get(outcome);
        count.map_or(String::new(), |&count| format!(" ({})", counted(count, "row", "rows")))
    };
    match &trained.model.classes {
        Classes::Pair(pair) => {
            let negative = pair.negative.shortened(" or ");
            format!("−1 = {negative}{}, +1 = {}{}", rows(0), pair.positive, rows(1))
        }
        Classes::Each { names } => {
            let listed = names.iter().enumerate().map(|(i, name)| format!("{name}{}", rows(i)));
            shortened(listed, names.len(), ", ")
        }
    }
}

fn error(trained: &Trained, alone: bool) -> String {
    let evidence = &trained.model.evidence;
    let mut text = match (evidence.training_error, evidence.progressive_error) {
        (Some(error), _) => format!(
            "training {} ({} of {}{})",
            percent(error),
            grouped((error * evidence.examples as f64).round() as u64),
            grouped(evidence.examples),
            if trained.model.threshold.is_some() {
                ", by the score alone, without the threshold"
            } else {
                ""
            }
        ),
        (None, Some(error)) => {
            format!("progressive error (each row predicted before it is learned): {}", percent(error))
        }
        (None, None) => "unknown".to_string(),
    };
    match (&trained.held_out, trained.baseline()) {
        (Some(held_out), _) => {
            let (class, error) = held_out.evaluated.baseline();
            let measured = measured_error(held_out.errors, held_out.rows);
            text.push_str(&format!(", held out {measured}; {}", baseline(class, error)));
        }
        (None, Some((class, error))) if evidence.training_error.is_some() => {
            text.push_str(&format!("; {}", baseline(&class, error)));
            if alone {
                text.push_str("; not an estimate for new rows (⟦holdout=0.25⟧ gives one)");
            }
        }
        _ => {}
    }
    text
}

/// The most classes of a confusion matrix in a report of training.
const MAX_IN_REPORT: usize = 10;

/// The classes that are found least, where a matrix would be too wide.
const MIN_FOUND: usize = 3;

/// The other measures on the held-out rows, in one line.
fn held_out_measures(held_out: &HeldOut) -> String {
    let mut text = measures(held_out);
    if let Some(found) = held_out.evaluated.probabilities() {
        text.push_str(&format!("; {}", measures_in_line(found)));
    }
    if held_out.duplicates > 0 {
        let rows = counted(held_out.duplicates, "row is", "rows are");
        text.push_str(&format!("; {rows} also among the training rows"));
    }
    text
}

fn measures(held_out: &HeldOut) -> String {
    match &held_out.evaluated {
        Evaluated::Pair { evaluation, classes, .. } => {
            let auc = evaluation.auc.map_or(String::new(), |auc| format!("; AUC {auc:.4}"));
            format!(
                "balanced error {}; {}{auc}",
                percent(evaluation.balanced_error),
                recalls(evaluation, &classes.positive, &classes.negative_name())
            )
        }
        Evaluated::Many { evaluation, .. } => {
            let f1 = evaluation.macro_f1.map_or(String::new(), |f1| format!("; mean F1 {f1:.4}"));
            let mut text = format!("balanced error {}{f1}", percent(evaluation.balanced_error));
            if evaluation.classes.len() > MAX_IN_REPORT {
                let mut found: Vec<(&str, u64, f64)> = evaluation
                    .classes
                    .iter()
                    .filter_map(|of| Some((of.class.as_str(), of.rows, of.recall?)))
                    .collect();
                found.sort_by(|a, b| a.2.total_cmp(&b.2));
                let least = found.iter().take(MIN_FOUND).map(|(class, rows, recall)| {
                    format!("{class} {} ({})", percent(*recall), counted(*rows, "row", "rows"))
                });
                text.push_str(&format!("; least found: {}", least.collect::<Vec<_>>().join(", ")));
            }
            text
        }
    }
}

/// The risk with which the bound on new rows may fail.
const DELTA: f64 = 0.05;

/// The bound on the error on new rows by sample compression: of the last weights of a perceptron from
/// zero, where no row was changed by what was learned from all of them. None where always predicting the
/// same class promises as much.
fn new_rows(trained: &Trained) -> Option<String> {
    let Model { evidence, settings, recipe, .. } = &trained.model;
    let perceptron = settings.learner == Learner::Perceptron
        && settings.init == Init::Zero
        && settings.shards <= 1
        && !evidence.weighted
        && matches!(evidence.margin.kind, MarginKind::AppendedBias | MarginKind::ThroughOrigin);
    let as_drawn = trained.spec.data.as_drawn(recipe.scaling.scaling())
        && recipe.expansion.is_none()
        && !recipe.columns.has_rare_words();
    if !perceptron || !as_drawn {
        return None;
    }
    let (_, baseline) = trained.baseline()?;
    let errors = (evidence.training_error? * evidence.examples as f64).round() as u64;
    // At least so many rows were never mistaken, and at most so many of them are wrong: fewer of the first or more of the
    // second only loosen the bound.
    let others = evidence.examples.saturating_sub(evidence.updates);
    let run = Compression { rows: evidence.examples, teaching: evidence.updates, others, errors };
    let bound = compression_bound(&run, DELTA).ok().filter(|&bound| bound < baseline)?;
    Some(format!(
        "wrong on at most {} of them with probability {}, if all rows were drawn independently: {} taught the weights \
         (sample compression)",
        percent(bound),
        1.0 - DELTA,
        counted(evidence.updates, "mistake", "mistakes")
    ))
}

/// The confusion matrix of the held-out rows, where it is small enough.
fn held_out_matrix(held_out: &HeldOut) -> Option<Block> {
    match &held_out.evaluated {
        Evaluated::Pair { evaluation, classes, .. } => {
            Some(Block::text(pair_matrix("the held-out rows", evaluation, classes)))
        }
        Evaluated::Many { evaluation, .. } => (evaluation.classes.len() <= MAX_IN_REPORT).then(|| {
            let names: Vec<String> = evaluation.classes.iter().map(|of| of.class.clone()).collect();
            Block::text(matrix("the held-out rows", &names, &evaluation.confusion, 10))
        }),
    }
}

/// The job that decides what this run could not: whether the rows are separable. There is none for runs that separated
/// them, that were stopped, or that look for no linear boundary, nor for rows that are gone.
fn open_question(trained: &Trained) -> Option<SeparateSpec> {
    let (spec, model) = (&trained.spec, &trained.model);
    let Evidence { margin, status, .. } = &model.evidence;
    let linear = !matches!(model.settings.learner, Learner::Kernel(_) | Learner::Memoriser)
        && matches!(
            margin.kind,
            MarginKind::ThroughOrigin
                | MarginKind::AppendedBias
                | MarginKind::OneAgainstRest
                | MarginKind::MultiClass
        );
    let open = margin.lower.is_none() && margin.upper > 0.0 && *status != Status::Interrupted;
    // That job speaks of the columns, and this run of more.
    let expanded = !model.recipe.expansion.is_none();
    let known = separating_column(trained).is_some() || expanded;
    if !linear || !open || known || !matches!(spec.data.source, Source::File(_)) {
        return None;
    }
    let (bias, bias_scale) = match model.settings.bias {
        Bias::None => (BiasKind::None, None),
        Bias::Append(scale) => (BiasKind::Append, (scale != 1.0).then_some(scale)),
    };
    // Classes that are told apart together are told apart two by two. Of many classes these are too many to look at.
    const FEW: usize = 20;
    let pairs = margin.kind == MarginKind::MultiClass && model.classes.outcomes().len() <= FEW;
    Some(SeparateSpec {
        pairs,
        data: spec.data.clone(),
        positive: spec.classes.positive.clone(),
        only: spec.classes.only.clone(),
        row_weights: spec.classes.row_weights.clone(),
        bias,
        bias_scale,
        ..SeparateSpec::default()
    })
}

/// The evidence about each class against the rest, as a table.
pub fn boundary_table(boundaries: &[Boundary]) -> String {
    let width = column_width(boundaries.iter().map(|boundary| boundary.class.as_str()), 5, 24);
    let mut text = format!(
        "  {:<width$}  {:>8}  {:>10}  {:>10}  {:>10}  result\n",
        "class", "error", "updates", "γ* ≥", "γ* ≤"
    );
    let mut shown: Vec<&Boundary> = boundaries.iter().collect();
    if shown.len() > MAX_LINES {
        // The largest errors are worth most; an error that is not known comes first.
        let error = |boundary: &Boundary| boundary.evidence.training_error.unwrap_or(f64::MAX);
        shown.sort_by(|a, b| error(b).total_cmp(&error(a)));
        shown.truncate(MAX_LINES);
    }
    for Boundary { class, evidence } in &shown {
        let lower = evidence.margin.lower.map_or("none".to_string(), |lower| rounded(lower, Rounding::Down));
        let upper = rounded(evidence.margin.upper, Rounding::Up);
        let error = evidence.training_error.map_or("unknown".to_string(), percent);
        let result = match evidence.status {
            Status::Converged => "converged",
            Status::Interrupted => "interrupted",
            _ => "reached its limit",
        };
        text.push_str(&format!(
            "  {}  {error:>8}  {:>10}  {lower:>10}  {upper:>10}  {result}\n",
            cell(class, width),
            grouped(evidence.updates)
        ));
    }
    if shown.len() < boundaries.len() {
        text.push_str(&format!(
            "  … and {} more classes, none of which has a larger error; the JSON record has all\n",
            grouped((boundaries.len() - shown.len()) as u64)
        ));
    }
    text
}

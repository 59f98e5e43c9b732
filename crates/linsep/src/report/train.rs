//! The report of a training run.

use super::evaluate::{baseline, matrix, measured_error, pair_matrix, recalls, reliability_table};
use super::layout::{MAX_LINES, cell, column_width};
use super::probability::{describe_calibration, describe_threshold, measures_in_line};
use super::wording::{
    describe_bound, describe_detail, describe_end, describe_expansion, describe_margin, describe_settings,
    explain, mistakes_made, separable,
};
use super::{Block, Facts};
use crate::classes::{Classes, shortened};
use crate::features::Features;
use crate::job::{
    BestMargin, BiasKind, Evaluated, HeldOut, SeparateSpec, Spec, TrainSpec, Trained, TuneSpec, Warning,
};
use crate::model::Model;
use crate::numbers::{Rounding, counted, grouped, percent, rounded};
use crate::read::Source;
use crate::scale::Scaler;
use crate::separate::Verdict;
use crate::theory::compression::{Compression, compression_bound};
use crate::theory::margin::MarginKind;
use crate::train::{Bias, Boundary, Evidence, Init, Learner, LogisticPenalty, MistakeRule, Status};

/// The report of a training run, for people: the answer, what to do next, how it was learned, then the proofs.
pub fn train_report(trained: &Trained) -> Vec<Block> {
    let mut blocks = vec![Block::Facts(answer(trained, error(trained)))];
    blocks.extend(next(trained, trained.held_out.is_some()).map(Block::next).into_iter().flatten());
    blocks.push(Block::text("\n"));
    blocks.extend(rest(trained));
    blocks
}

/// What was learned, how good it is, how the run ended and what stands out. `error` says what is to be expected of new rows.
pub(super) fn answer(trained: &Trained, error: String) -> Facts {
    let (model, evidence) = (&trained.model, &trained.model.evidence);
    let what = match &model.classes {
        Classes::Pair(pair) => {
            format!("{} from {}", pair.positive, pair.negative.only().map_or("the rest", String::as_str))
        }
        Classes::Each { names } if names.len() > MAX_NAMED => {
            format!("{} apart", counted(names.len() as u64, "class", "classes"))
        }
        Classes::Each { names } => format!("{} apart", shortened(names, names.len(), ", ")),
    };
    let learned = format!(
        "to tell {what} by {} of {} in {} ({}{})",
        counted(evidence.features, "feature", "features"),
        counted(evidence.examples, "row", "rows"),
        trained.source.name(),
        model.settings.learner.descriptor().title,
        trained.reason.map_or_else(String::new, |reason| format!(", {reason}"))
    );
    let end = describe_end(evidence);
    let result = verdict(trained).map_or_else(|| end.clone(), |verdict| format!("{end}; {verdict}"));
    let mut facts = vec![("Learned", learned), ("Error", error), ("Result", result)];
    facts.extend(cautions(&trained.warnings));
    facts
}

/// The most reasons for caution that are shown: the others have been notes.
const MAX_CAUTIONS: usize = 2;

/// What stands out, without what follows from it.
pub(super) fn cautions(warnings: &[Warning]) -> Option<(&'static str, String)> {
    let facts: Vec<String> = warnings.iter().take(MAX_CAUTIONS).map(Warning::fact).collect();
    (!facts.is_empty()).then(|| ("Caution", facts.join("; ")))
}

/// Whether the training rows are separable, where it is proved, or open for a learner that would converge if they are.
fn verdict(trained: &Trained) -> Option<String> {
    let Model { evidence, settings, .. } = &trained.model;
    let [all, not_all] = separable(evidence, settings);
    let best = trained.best.map(|best| best.verdict);
    if evidence.margin.lower.is_some_and(|lower| lower > 0.0) {
        return Some(format!("{all}, proved"));
    }
    if best == Some(Verdict::Complete) || separating_column(trained).is_some() {
        return Some(format!("{all}, proved, but this run has not separated them"));
    }
    let perceptron = settings.learner.abilities().counts_mistakes;
    if evidence.margin.upper == 0.0 || best.is_some() {
        // One that takes no row on the boundary for a mistake may converge all the same.
        let never = perceptron && settings.mistake == MistakeRule::NonPositive;
        let so = if never { ", so no perceptron converges" } else { "" };
        return Some(format!("{not_all}, proved{so}"));
    }
    (perceptron && evidence.status.has_model()).then(|| format!("whether {all} is not known"))
}

/// The rows of a class from which on some can be held out.
const MIN_ROWS: u64 = 4;

/// The one job that makes most sense after this run, on the same file; `is_judged` says whether the error on new rows is known.
pub(super) fn next(trained: &Trained, is_judged: bool) -> Option<(&'static str, Spec)> {
    let (spec, Model { evidence, settings, .. }) = (&trained.spec, &trained.model);
    if !matches!(spec.data.source, Source::File(_)) {
        return None;
    }
    let train = |spec: TrainSpec| Spec::Train(Box::new(spec));
    if trained.status == Status::Interrupted {
        let resume = spec.checkpoint.clone()?;
        return Some(("go on where it stopped:", train(TrainSpec { resume: Some(resume), ..spec.clone() })));
    }
    let overlap = evidence.margin.upper == 0.0 && evidence.extent.shortest > 0.0;
    let of_two_sides = evidence.margin.kind != MarginKind::MultiClass;
    if overlap
        && of_two_sides
        && !settings.learner.abilities().counts_mistakes
        && let Some(proof) = spec.separation()
    {
        return Some(("save the proof that the classes overlap:", Spec::Separate(proof)));
    }
    // Another run beside this one: it leaves alone what this one has written.
    let held_out = TrainSpec {
        holdout: Some(0.25),
        output: None,
        checkpoint: None,
        checkpoint_every: None,
        resume: None,
        trace: None,
        trace_points: None,
        comparator: None,
        teaching_set: None,
        ..spec.clone()
    };
    let may_hold_out = spec.memory.is_none() && !spec.online && held_out.check_settings().is_ok();
    let is_weak = trained.warnings.iter().any(|warning| matches!(warning, Warning::Baseline { .. }));
    // After a search another one is no help.
    let searched = is_judged && trained.held_out.is_none();
    if is_weak && !searched && may_hold_out {
        let tune = TuneSpec { data: spec.data.clone(), classes: spec.classes.clone(), ..TuneSpec::default() };
        return Some(("search for features and settings that predict better:", Spec::Tune(tune)));
    }
    let enough = trained.counts.iter().all(|&rows| rows >= MIN_ROWS) && evidence.training_error.is_some();
    if !is_judged && enough && may_hold_out {
        return Some(("estimate the error on new rows:", train(held_out)));
    }
    if let Some(question) = open_question(trained) {
        let what = match trained.best {
            Some(_) => "find the rows that conflict:",
            None => "decide whether the classes are separable, and which rows conflict:",
        };
        return Some((what, Spec::Separate(question)));
    }
    spec.output
        .is_none()
        .then(|| ("save the model:", train(TrainSpec { output: Some("MODEL".into()), ..spec.clone() })))
}

/// How it was learned, more measures, and the proofs.
pub(super) fn rest(trained: &Trained) -> Vec<Block> {
    let mut blocks = vec![Block::Facts(setup(trained)), Block::Details(details(trained))];
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

/// How it was learned.
fn setup(trained: &Trained) -> Facts {
    let model = &trained.model;
    let mut facts = vec![("Data", trained.notes.format.clone()), ("Classes", classes(trained))];
    let asked = trained.spec.features.unwrap_or_default();
    let made = describe_expansion(&model.recipe.expansion).or_else(|| nothing_made(asked).map(str::to_owned));
    facts.extend(made.map(|made| ("Features", made)));
    facts.push(("Scale", describe_scaling(&model.recipe.scaling)));
    facts.push(("Learner", describe_settings(&model.settings)));
    facts.extend(trained.held_out.as_ref().map(|held_out| ("Held out", held_out_measures(held_out))));
    if asks_for_probabilities(trained) {
        facts.extend(describe_calibration(model).map(|how| ("Scores", how)));
    }
    if let (Some(threshold), Some(pair)) = (&model.threshold, model.classes.pair()) {
        facts.push(("Threshold", describe_threshold(threshold, &pair.positive)));
    }
    facts.extend(new_rows(trained).map(|bound| ("New rows", bound)));
    facts.extend(features_left(model).map(|left| ("Left", left)));
    facts.extend(describe_detail(&model.evidence, &model.settings).map(|detail| ("Detail", detail)));
    facts.extend(most_mistakes(trained).map(|bound| ("Mistakes", bound)));
    facts.push(match &trained.saved {
        Some(path) => ("Saved", path.display().to_string()),
        None if trained.spec.output.is_some() => {
            ("Saved", "not saved: the file could not be written".to_string())
        }
        None => ("Saved", "not saved; name a file with ⟦output=MODEL⟧".to_string()),
    });
    facts
}

/// The most mistakes of a perceptron on these rows, where that is known.
fn most_mistakes(trained: &Trained) -> Option<String> {
    let Model { evidence, settings, .. } = &trained.model;
    let bound = trained.best.map_or(evidence.mistake_bound, |best| best.mistake_bound);
    let most = bound.upper.filter(|_| settings.learner.abilities().counts_mistakes)?;
    let made = mistakes_made(evidence, settings)
        .map_or(String::new(), |made| format!("{} in this run; ", rounded(made, Rounding::Up)));
    let each = if evidence.margin.kind.is_of_each_class() { " about any one class" } else { "" };
    let most = if most < 1e6 { grouped(most as u64) } else { rounded(most, Rounding::Up) };
    Some(format!("{made}no perceptron from zero makes more than {most}{each} on these rows, in any order"))
}

/// What is proved, and the time.
fn details(trained: &Trained) -> Facts {
    let (model, evidence) = (&trained.model, &trained.model.evidence);
    let mut facts = vec![("Values", format!("{} not zero", grouped(evidence.nonzeros)))];
    let shown = |evidence: &Evidence| {
        let bound = describe_bound(evidence, &model.settings);
        std::iter::once(("Margin", describe_margin(evidence, &model.recipe)))
            .chain(bound.map(|bound| ("Bound", bound)))
            .collect::<Facts>()
    };
    let best = trained.best.map(|BestMargin { margin, mistake_bound, .. }| Evidence {
        margin,
        mistake_bound,
        ..evidence.clone()
    });
    facts.extend(shown(best.as_ref().unwrap_or(evidence)));
    if best.is_some() {
        let own: Vec<String> = shown(evidence).into_iter().map(|(_, text)| text).collect();
        facts.push(("This run", format!("by itself proves only {}", own.join("; "))));
    }
    if let Some(distance) = evidence.distance {
        // After the margin, which it is easily mistaken for: this is the distance that these weights keep.
        let distance = rounded(distance, Rounding::Down);
        facts.push(("Nearest", format!("every row is at least {distance} from this boundary")));
    }
    let mut meaning = match &best {
        None => explain(evidence, &model.settings),
        Some(best) if evidence.margin.lower.is_some() => explain(best, &model.settings),
        // The result has told.
        Some(_) => String::new(),
    };
    if !model.recipe.expansion.is_none() {
        meaning += " This is about the space of the expanded features, where the boundary is linear; in the columns it is \
                    curved.";
    }
    if !meaning.is_empty() {
        facts.push(("Meaning", meaning));
    }
    let threads = counted(trained.threads as u64, "thread", "threads");
    let (read, train) = (trained.seconds.read, trained.seconds.train);
    facts.push(("Time", format!("read {read:.3} s, train {train:.3} s, {threads}")));
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

/// How good the model is, as far as this run can tell.
fn error(trained: &Trained) -> String {
    let evidence = &trained.model.evidence;
    let training = match (evidence.training_error, evidence.progressive_error) {
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
            format!("held out {measured}; {}; {training}", baseline(class, error))
        }
        (None, Some((class, error))) if evidence.training_error.is_some() => {
            format!("{training}; {}; not an estimate for new rows", baseline(&class, error))
        }
        _ => training,
    }
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

/// The job that decides what this run could not, and names the rows that conflict: for perceptrons, which converge only without such rows.
fn open_question(trained: &Trained) -> Option<SeparateSpec> {
    let (spec, model) = (&trained.spec, &trained.model);
    let Evidence { margin, .. } = &model.evidence;
    let linear = matches!(
        margin.kind,
        MarginKind::ThroughOrigin
            | MarginKind::AppendedBias
            | MarginKind::OneAgainstRest
            | MarginKind::MultiClass
    );
    let converges = model.settings.learner.abilities().counts_mistakes;
    let separable = separating_column(trained).is_some()
        || trained.best.is_some_and(|best| best.verdict == Verdict::Complete);
    let open = margin.lower.is_none() && margin.upper > 0.0 && !separable;
    // That job speaks of the columns, and this run of more.
    let expanded = !model.recipe.expansion.is_none();
    if !linear || !converges || !open || expanded {
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

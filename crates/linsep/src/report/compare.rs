//! The report of a comparison of learners.

use super::Block;
use crate::features::{Features, Scaling};
use crate::job::{CompareSpec, Spec, TrainSpec};
use crate::numbers::{Rounding, counted, grouped, rounded};
use crate::read::Source;
use crate::theory::margin::MarginKind;
use crate::theory::orders::Spread;
use crate::train::{Options, Status};
use crate::validate::compare::{Comparison, Entry};
use std::fmt::Write;

/// The best learner, then all side by side, in 80 columns. `spec` names the rows for what to do next.
pub fn compare_report(comparison: &Comparison, name: &str, spec: &CompareSpec) -> Vec<Block> {
    let shape = format!(
        "{name}: {}, {}; {}",
        counted(comparison.rows, "row", "rows"),
        counted(comparison.features, "feature", "features"),
        if comparison.interrupted {
            format!("the rows of {} held out once", counted(comparison.folds, "fold", "folds"))
        } else {
            format!("every row held out once, in {} folds", comparison.folds)
        }
    );
    // Of several classes there are two margins, which are not compared with each other.
    let has = |is: fn(MarginKind) -> bool| comparison.learners.iter().any(|entry| is(entry.margin.kind));
    let two_margins = has(|kind| kind == MarginKind::MultiClass) && has(MarginKind::is_of_each_class);
    let margin_width = if two_margins { 10 } else { 9 };
    let mut text = "\n".to_string();
    let mut line = |cells: [&str; 7]| {
        let [learner, training, held_out, margin, updates, bound, time] = cells;
        // A long name has a line of its own.
        let is_long = learner.chars().count() > 18;
        if is_long {
            let _ = writeln!(text, "{learner}");
        }
        let learner = if is_long { "" } else { learner };
        let cells = format!(
            "{learner:<18} {training:>7} {held_out:>14} {margin:>margin_width$} {updates:>9} {bound:>9} {time:>7}"
        );
        let _ = writeln!(text, "{}", cells.trim_end());
    };
    line(["", "train", "held out", "margin", "updates", "bound", "time"]);
    let metric = comparison.metric;
    let title = format!("{}{}", metric.title, if metric.is_share { " %" } else { "" });
    line(["learner", "error %", &title, "proved", "made", "(R/γ)²", "s"]);
    let shown = |value: f64| if metric.is_share { percent(value) } else { format!("{value:.3}") };
    let baseline = &comparison.baseline;
    line(["majority class", &percent(baseline.error), &shown(baseline.value), "", "", "", ""]);
    for entry in &comparison.learners {
        let held_out = match (entry.value, entry.value_error) {
            (Some(value), Some(error)) => format!("{} ± {}", shown(value), shown(error)),
            _ if entry.status == Status::Undecided => "undecided".to_string(),
            _ if entry.status == Status::NoOptimum => "no optimum".to_string(),
            _ => "no margin".to_string(),
        };
        line([
            &entry.label,
            &entry.training_error.map_or(String::new(), percent),
            &held_out,
            &(margin(entry)
                + if two_margins && entry.margin.kind == MarginKind::MultiClass { "*" } else { "" }),
            &short(entry.updates as f64),
            &entry.mistake_bound.upper.map_or("none".to_string(), most_mistakes),
            &seconds(entry.seconds),
        ]);
    }
    let mut facts = vec![("Compared", shape)];
    if let (Some(best), [first, ..]) = (describe_best(comparison), comparison.best().as_slice()) {
        let unit = |value: f64| if metric.is_share { shown(value) + " %" } else { shown(value) };
        let error = first.value_error.map_or(String::new(), |error| format!(" ± {}", unit(error)));
        let value = first.value.map_or(String::new(), unit);
        let baseline = format!("always predicting \"{}\": {}", baseline.class, unit(baseline.value));
        facts.push(("Best", format!("{best}, {value}{error}; {baseline}")));
    }
    let named = |is: &dyn Fn(&Entry) -> bool| -> Vec<&str> {
        comparison.learners.iter().filter(|entry| is(entry)).map(|entry| entry.label.as_str()).collect()
    };
    let mut remarks = Vec::new();
    for (learners, remark) in [
        (named(&|entry| !entry.converged && entry.status.has_model()), "Reached a limit before converging"),
        (
            named(&|entry| entry.status == Status::NoMargin),
            "No model, because no boundary separates the rows with a margin",
        ),
        (
            named(&|entry| entry.status == Status::NoOptimum),
            "No model, because without a penalty there is no finite optimum where the classes do not overlap",
        ),
        (
            named(&|entry| entry.status == Status::Undecided),
            "No model, because a limit was reached before its existence was decided",
        ),
    ] {
        if !learners.is_empty() {
            remarks.push(Block::paragraph(format!("{remark}: {}.", learners.join(", "))));
        }
    }
    let mut blocks = vec![Block::Facts(facts)];
    blocks.extend(next(comparison, spec).map(Block::next).into_iter().flatten());
    blocks.push(Block::Text(text));
    blocks.push(Block::text("\n"));
    blocks.push(Block::paragraph(
        "majority class: always predicting the most frequent class; held out: the error on rows that were not trained on, \
         ± its standard error; margin: the proved lower end of γ* (<: upper end) on all rows, for kernel in its own space; \
         bound: the largest number of mistakes that a perceptron can make, given that margin.",
    ));
    if two_margins {
        blocks.push(Block::paragraph(
            "*: the margin of each row's class against the strongest other, all classes together; without *: the least \
             margin of a class against the rest. These are different quantities: compare a margin with * only with \
             others with *.",
        ));
    }
    blocks.extend(remarks);
    if comparison.learners.iter().any(|entry| entry.orders.is_some()) {
        blocks.push(Block::Text(orders_table(comparison)));
    }
    blocks
}

/// Training the best learner as it was compared, and saving its model.
fn next(comparison: &Comparison, spec: &CompareSpec) -> Option<(&'static str, Spec)> {
    let best = comparison.judged().next().filter(|_| matches!(spec.data.source, Source::File(_)))?;
    let learned = best.settings.learner.options();
    let tried = spec.grid.keys().filter_map(|name| Some((name, learned.get(name)?.clone())));
    let train = TrainSpec {
        data: spec.data.clone(),
        classes: spec.classes.clone(),
        scale: (spec.scale != Scaling::Auto).then_some(spec.scale),
        features: (spec.features != Features::Plain).then_some(spec.features),
        max_pairs: spec.max_pairs,
        bias: spec.bias,
        learner: Some(best.learner.to_string()),
        options: tried.fold(Options::new(), |options, (name, value)| options.with(name, value)),
        order: spec.order,
        epochs: spec.epochs,
        max_seconds: spec.max_seconds,
        seed: (spec.seed != 0).then_some(spec.seed),
        output: Some("MODEL".into()),
        ..TrainSpec::default()
    };
    Some(("train the best one on all rows, and save it:", Spec::Train(Box::new(train))))
}

/// Which learner is the best one, or which are, among how many: the beginning of a sentence that goes on with its value.
/// `None` if no learner has a model.
pub fn describe_best(comparison: &Comparison) -> Option<String> {
    let best: Vec<&str> = comparison.best().iter().map(|entry| entry.label.as_str()).collect();
    let judged = comparison.judged().count();
    let contenders = match comparison.learners.len() - judged {
        0 => counted(judged as u64, "learner", "learners"),
        without => format!(
            "{} with a model ({})",
            counted(judged as u64, "learner", "learners"),
            counted(without as u64, "has none", "have none")
        ),
    };
    let names = match best.as_slice() {
        [] => return None,
        [one] => format!("{one} has"),
        [first, second] => format!("{first} and {second} have"),
        [first, second, third] => format!("{first}, {second} and {third} have"),
        [first, second, rest @ ..] => {
            format!("{first}, {second} and {} others have", grouped(rest.len() as u64))
        }
    };
    Some(format!("of {contenders}, {names} the lowest {}", comparison.metric.title))
}

/// What the order of the rows alone changes.
fn orders_table(comparison: &Comparison) -> String {
    let orders = comparison
        .learners
        .iter()
        .filter_map(|entry| entry.orders.as_ref())
        .map(|spread| spread.orders)
        .max();
    let mut text = format!(
        "\nThe first fold learned in {}: least to largest\n\n",
        counted(orders.unwrap_or(0), "order of its rows", "orders of its rows")
    );
    let _ = writeln!(
        text,
        "{:<18} {:>19} {:>25} {:>14}",
        "learner", "held-out error %", "margin proved", "angle °"
    );
    for entry in &comparison.learners {
        let Some(spread) = &entry.orders else { continue };
        let range = |spread: &Option<Spread>, show: &dyn Fn(f64) -> String| {
            spread.as_ref().map_or("none".to_string(), |spread| {
                format!("{} to {}", show(spread.least), show(spread.largest))
            })
        };
        let _ = writeln!(
            text,
            "{:<18} {:>19} {:>25} {:>14}",
            entry.label,
            range(&spread.held_out_error, &percent),
            range(&spread.margin, &|margin| rounded(margin, Rounding::Down)),
            range(&spread.angle, &|angle| format!("{angle:.1}")),
        );
    }
    text.push_str("\nangle: between the weights of any two orders; none without weights of one boundary.\n");
    text
}

/// The margin that the weights prove, or what it is at most, in nine characters.
fn margin(entry: &Entry) -> String {
    match entry.margin.lower {
        _ if entry.status == Status::NoMargin || entry.margin.upper == 0.0 => "none".to_string(),
        Some(lower) => brief(lower, Rounding::Down),
        None => format!("<{}", brief(entry.margin.upper, Rounding::Up)),
    }
}

/// A number in at most eight characters, rounded in the safe direction.
fn brief(x: f64, direction: Rounding) -> String {
    let text = rounded(x, direction);
    if text.chars().count() <= 8 || x <= 0.0 {
        return text;
    }
    let exponent = x.log10().floor();
    let hundreds = x / 10f64.powf(exponent) * 100.0;
    // One step further than needed does no harm to a bound.
    let hundreds = match direction {
        Rounding::Up => hundreds.ceil() + 1.0,
        Rounding::Down => hundreds.floor() - 1.0,
    };
    format!("{:.2}e{exponent}", hundreds / 100.0)
}

/// A count in at most nine characters.
fn short(number: f64) -> String {
    if number < 1e6 { grouped(number as u64) } else { format!("{number:.2e}") }
}

/// An upper bound of a count in at most nine characters.
fn most_mistakes(bound: f64) -> String {
    if bound < 1e6 { grouped(bound.ceil() as u64) } else { brief(bound, Rounding::Up) }
}

fn percent(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}

fn seconds(seconds: f64) -> String {
    if seconds < 100.0 { format!("{seconds:.3}") } else { format!("{seconds:.0}") }
}

/// The table for programs, as CSV.
pub fn compare_csv(comparison: &Comparison) -> String {
    let mut text = "learner,training_error,held_out_error,standard_error,metric,metric_error,margin_lower,margin_upper,updates,\
                    converged,bound_lower,bound_upper,seconds\n"
        .to_string();
    let optional = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
    let baseline = &comparison.baseline;
    let (error, value) = (baseline.error, baseline.value);
    let _ = writeln!(text, "majority class,{error},{error},,{value},,,,,,,,");
    for entry in &comparison.learners {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{},{},{}",
            entry.label,
            optional(entry.training_error),
            optional(entry.held_out_error),
            optional(entry.standard_error),
            optional(entry.value),
            optional(entry.value_error),
            optional(entry.margin.lower),
            entry.margin.upper,
            entry.updates,
            entry.converged,
            optional(entry.mistake_bound.lower),
            optional(entry.mistake_bound.upper),
            entry.seconds
        );
    }
    text
}

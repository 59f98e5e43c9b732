//! `linsep compare`

use super::{bias, learner, load, print_json, print_result, scaling, wrapped_to};
use crate::args::CompareArgs;
use crate::console::{Console, Watch};
use crate::exit::{Exit, Usage};
use anyhow::Context;
use linsep::Settings;
use linsep::compare::{CompareSettings, Comparison, Entry, compare, suitable};
use linsep::numbers::{Rounding, counted, grouped, rounded};
use linsep::theory::orders::Spread;
use linsep::train::Learner;
use std::fmt::Write;

pub(crate) fn run(args: &CompareArgs, console: Console) -> anyhow::Result<Exit> {
    let settings = Settings {
        max_seconds: args.max_seconds,
        seed: args.seed,
        bias: bias(&args.task.bias, Settings::default().bias)?,
        positive: args.task.classes.positive.clone(),
        class_weight: learner::class_weight(&args.task.classes.class_weight)?,
        ..Settings::default()
    };
    let mut named: Vec<Learner> = Vec::new();
    for &name in &args.learners {
        let learner = learner::plain(name);
        if named.contains(&learner) {
            return Err(Usage(format!("--learners names {} twice", learner.name())).into());
        }
        let epochs = args.epochs.unwrap_or(learner.usual_epochs());
        Settings { learner, epochs, ..settings.clone() }.validate().map_err(linsep::Error::from)?;
        named.push(learner);
    }
    let (name, data) = load(&args.data, &args.task, console)?;
    let learners = if named.is_empty() {
        let (mut kept, left) = suitable(&data);
        for (learner, reason) in left {
            let learner = learner.name();
            console
                .note(&format!("note: {learner} is left out: {reason}; name it in --learners to have it."));
        }
        // What has no use for weights, or for one class against the rest, is left out too.
        kept.retain(|&learner| match (Settings { learner, ..settings.clone() }).check_on(&data) {
            Ok(()) => true,
            Err(reason) => {
                console.note(&format!("note: {} is left out: {reason}.", learner.name()));
                false
            }
        });
        kept
    } else {
        named
    };
    let settings = CompareSettings {
        learners,
        settings,
        epochs: args.epochs,
        scaling: args.task.classes.scale.map_or_else(Default::default, scaling),
        folds: args.folds,
        orders: args.orders,
    };
    let mut watch = Watch::new(console);
    let comparison = compare(&data, &settings, &mut watch);
    watch.end()?;
    let comparison = comparison.with_context(|| name.clone())?;
    if comparison.interrupted {
        console.warn(&format!(
            "interrupted: only {} of {} were held out, and no more orders tried",
            comparison.folds,
            counted(args.folds as u64, "fold", "folds")
        ));
    }
    if args.json {
        print_json(&comparison)?;
    } else {
        let text = if args.csv { to_csv(&comparison) } else { to_text(&comparison, &name) };
        print_result(|out| out.write_all(text.as_bytes()))?;
    }
    Ok(if comparison.interrupted { Exit::Interrupted } else { Exit::Fine })
}

/// The table for people, in 80 columns.
fn to_text(comparison: &Comparison, name: &str) -> String {
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
    let mut text = wrapped_to(&shape, 0, 80) + "\n";
    let mut line = |cells: [&str; 7]| {
        let [learner, training, held_out, margin, updates, bound, time] = cells;
        let _ = writeln!(
            text,
            "{learner:<18} {training:>7} {held_out:>14} {margin:>9} {updates:>9} {bound:>9} {time:>7}"
        );
    };
    line(["", "train", "held out", "margin", "updates", "bound", "time"]);
    line(["learner", "error %", "error %", "proved", "made", "(R/γ)²", "s"]);
    for entry in &comparison.learners {
        line([
            entry.learner,
            &percent(entry.training_error),
            &format!("{} ± {}", percent(entry.held_out_error), percent(entry.standard_error)),
            &margin(entry),
            &short(entry.updates as f64),
            &entry.mistake_bound.upper.map_or("none".to_string(), short),
            &seconds(entry.seconds),
        ]);
    }
    text.push_str(
        "\nheld out: error on rows not learned from, ± its standard error; margin: what the\n\
         weights prove γ* to be at least (<: at most), learned from all rows, for kernel\n\
         and multiclass in a space of their own; bound: the mistakes that a perceptron\n\
         can make at most, given that margin.\n",
    );
    let limited: Vec<&str> =
        comparison.learners.iter().filter(|entry| !entry.converged).map(|entry| entry.learner).collect();
    if !limited.is_empty() {
        text.push_str(&wrapped_to(
            &format!("Stopped at a limit, not at their end: {}.", limited.join(", ")),
            0,
            80,
        ));
    }
    if comparison.learners.iter().any(|entry| entry.orders.is_some()) {
        text.push_str(&orders_table(comparison));
    }
    text
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
            entry.learner,
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
    if number < 1e6 { grouped(number.ceil() as u64) } else { format!("{number:.2e}") }
}

fn percent(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}

fn seconds(seconds: f64) -> String {
    if seconds < 100.0 { format!("{seconds:.3}") } else { format!("{seconds:.0}") }
}

/// The table for programs.
fn to_csv(comparison: &Comparison) -> String {
    let mut text = "learner,training_error,held_out_error,standard_error,margin_lower,margin_upper,updates,\
                    converged,bound_lower,bound_upper,seconds\n"
        .to_string();
    let optional = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
    for entry in &comparison.learners {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{}",
            entry.learner,
            entry.training_error,
            entry.held_out_error,
            entry.standard_error,
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

//! `linsep inspect`

use super::{load_model, print_json, print_result};
use crate::args::InspectArgs;
use crate::exit::Exit;
use crate::layout::report_lines;
use anyhow::bail;
use linsep::classes::Classes;
use linsep::features::Scaler;
use linsep::job::{Spec, TrainSpec};
use linsep::model::{Calibration, Model};
use linsep::numbers;
use linsep::read::cache::{Cache, is_cache};
use linsep::report::{self, boundary_table};
use linsep::train::Learned;
use serde_json::json;
use std::path::Path;

pub(crate) fn run(args: &InspectArgs) -> anyhow::Result<Exit> {
    if is_cache(&args.model).unwrap_or(false) {
        return inspect_cache(args);
    }
    let model = load_model(&args.model)?;
    if args.spec {
        return print_spec(&model, &args.model);
    }
    let strongest = strongest(&model, args.top);
    if args.json {
        let weights = |of: &Strongest| {
            let entry = |(feature, weight, per_unit): &(String, f64, Option<f64>)| {
                let mut entry = json!({"feature": feature, "weight": weight});
                if let Some(per_unit) = per_unit {
                    entry["weight_per_unit"] = json!(per_unit);
                }
                entry
            };
            of.features.iter().map(entry).collect::<Vec<_>>()
        };
        let mut record = json!({
            "classes": model.classes,
            "settings": model.settings,
            "scaling": model.recipe.scaling.scaling(),
            "evidence": model.evidence,
            "boundaries": model.boundaries,
            "fingerprint": model.fingerprint,
            "features": model.learned.columns(),
        });
        if let Some(calibration) = model.calibrated() {
            record["probabilities"] = probabilities(calibration);
        }
        if let Some(threshold) = &model.threshold {
            record["threshold"] = json!(threshold);
        }
        if let Learned::Each(each) = &model.learned {
            let classes: Vec<_> = strongest
                .iter()
                .zip(each)
                .map(|(of, learned)| {
                    let intercept = learned.theta().intercept();
                    let mut record =
                        json!({"class": of.class, "intercept": intercept, "strongest": weights(of)});
                    if let Some(in_units) = of.intercept {
                        record["intercept_in_units"] = json!(in_units);
                    }
                    record
                })
                .collect();
            record["weights"] = json!(classes);
        } else {
            record["intercept"] = json!(model.learned.theta().intercept());
            record["strongest"] = json!(strongest.first().map(weights));
            if let Some(in_units) = strongest.first().and_then(|of| of.intercept) {
                record["intercept_in_units"] = json!(in_units);
            }
        }
        return print_json(&record);
    }
    print_result(|out| out.write_all(to_text(&model, &strongest).as_bytes()))
}

/// How scores become probabilities, as JSON.
fn probabilities(calibration: &Calibration) -> serde_json::Value {
    let mut record = json!({"kind": calibration.name()});
    match calibration {
        Calibration::Natural => {}
        Calibration::Sigmoid { slope, intercept } => {
            record["slope"] = json!(slope);
            record["intercept"] = json!(intercept);
        }
        Calibration::Isotonic { scores, probabilities } => {
            record["scores"] = json!(scores);
            record["probabilities"] = json!(probabilities);
        }
        Calibration::Temperature { inverse } => record["inverse"] = json!(inverse),
    }
    record
}

/// Prints the specification that makes the model again.
fn print_spec(model: &Model, path: &Path) -> anyhow::Result<Exit> {
    let Some(spec) = TrainSpec::from_model(model) else {
        bail!(
            "{}: this model keeps no specification: an earlier version saved it, or its data has a name that is not text",
            path.display()
        );
    };
    let spec = spec.map_err(|error| error.at(path.display().to_string()))?;
    let text = Spec::Train(Box::new(spec)).to_toml()?;
    print_result(|out| out.write_all(text.as_bytes()))
}

/// Tells what a cache holds, after a check of all of it.
fn inspect_cache(args: &InspectArgs) -> anyhow::Result<Exit> {
    let cache = Cache::open(&args.model).map_err(linsep::Error::from)?;
    cache.load().map_err(linsep::Error::from)?;
    let summary = cache.summary();
    if args.json {
        return print_json(&summary);
    }
    let values = match summary.sparse {
        true => format!("{} stored, zeros left out", numbers::grouped(summary.stored)),
        false => "all stored".to_string(),
    };
    let lines = [
        ("Cache", format!("whole, {} bytes, made by {}", numbers::grouped(summary.bytes), summary.program)),
        (
            "Source",
            match &summary.source {
                Some(name) => format!("{name} ({})", summary.format),
                None => summary.format.clone(),
            },
        ),
        (
            "Rows",
            format!(
                "{}, {}",
                numbers::counted(summary.rows, "row", "rows"),
                numbers::counted(summary.features, "feature", "features")
            ),
        ),
        ("Values", format!("{values}, {} bytes each", summary.value_bytes)),
        ("Classes", summary.classes.join(", ")),
        ("Data", summary.fingerprint.clone()),
    ];
    print_result(|out| out.write_all(report_lines(&lines).as_bytes()))
}

/// The strongest weights of a boundary or a class.
struct Strongest {
    class: String,
    /// Name, weight, and where features are scaled, the weight in the units of the file.
    features: Vec<(String, f64, Option<f64>)>,
    /// The intercept in the units of the file, where features are scaled.
    intercept: Option<f64>,
}

/// The strongest weights of the boundary, or of each class.
fn strongest(model: &Model, top: usize) -> Vec<Strongest> {
    let scaled = model.recipe.scaling != Scaler::None;
    let of = |outcome: usize, class: &str| {
        let (weights, units) = (model.weights_of(outcome), model.in_units_of(outcome).filter(|_| scaled));
        let feature = |j: usize| {
            (model.recipe.feature_name(j), weights[j], units.as_ref().map(|units| units.weights[j]))
        };
        let features = model.strongest_features(outcome).into_iter().take(top).map(feature).collect();
        Strongest {
            class: class.to_string(),
            features,
            intercept: units.as_ref().map(|units| units.intercept),
        }
    };
    match &model.classes {
        Classes::Pair(pair) => vec![of(0, &pair.positive)],
        Classes::Each { names } => {
            names.iter().enumerate().map(|(outcome, name)| of(outcome, name)).collect()
        }
    }
}

fn to_text(model: &Model, strongest: &[Strongest]) -> String {
    let evidence = &model.evidence;
    let shape = format!(
        "{}, {}",
        numbers::counted(evidence.examples, "row", "rows"),
        numbers::counted(model.learned.columns() as u64, "feature", "features")
    );
    let mut lines = vec![
        ("Classes", model.classes.describe()),
        ("Learner", report::describe_settings(&model.settings)),
        (
            "Scale",
            serde_json::to_string(&model.recipe.scaling.scaling())
                .unwrap_or_default()
                .trim_matches('"')
                .to_string(),
        ),
        ("Trained", shape),
        (
            "Data",
            model
                .fingerprint
                .clone()
                .unwrap_or_else(|| "not known: a stream, or an interrupted run".to_string()),
        ),
        ("Result", report::describe_end(evidence)),
        (
            "Error",
            evidence.training_error.map_or("unknown: the rows were a stream".to_string(), |error| {
                format!("training {}", numbers::percent(error))
            }),
        ),
        ("Margin", report::describe_margin(evidence)),
        ("Bound", report::describe_bound(evidence, &model.settings)),
    ];
    if let Some(detail) = report::describe_detail(evidence) {
        lines.push(("Detail", detail));
    }
    if let Some(how) = report::describe_calibration(model) {
        lines.push(("Scores", how));
    }
    if let (Some(threshold), Some(pair)) = (&model.threshold, model.classes.pair()) {
        lines.push(("Threshold", report::describe_threshold(threshold, &pair.positive)));
    }
    if matches!(model.learned, Learned::Linear(_) | Learned::Voted { .. }) {
        let intercept = format!("{:.6}", model.learned.theta().intercept());
        let in_units = strongest.first().and_then(|of| of.intercept);
        let in_units =
            in_units.map_or(String::new(), |own| format!("; {} in the units of the file", number(own)));
        lines.push(("Intercept", intercept + &in_units));
    }
    if let Learned::Voted { ballot, .. } = &model.learned {
        lines.push((
            "Votes",
            format!(
                "{}; the weights below are those of the last",
                numbers::counted(ballot.votes().len() as u64, "vector", "vectors")
            ),
        ));
    }
    let mut text = report_lines(&lines);
    if !model.boundaries.is_empty() {
        text.push_str("\nEach class against the rest:\n");
        text.push_str(&boundary_table(&model.boundaries));
    }
    for Strongest { class, features, intercept } in strongest.iter().filter(|of| !of.features.is_empty()) {
        let of = if strongest.len() > 1 { format!(" of {class}") } else { String::new() };
        let columns = model.learned.columns();
        text.push_str(&format!("\nStrongest weights{of}, {} of {columns}", features.len()));
        text.push_str(match intercept {
            Some(_) => "; of the scaled features, and for each unit of the file:\n",
            None => ":\n",
        });
        let width = features.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
        let largest = features.first().map_or(1.0, |(_, weight, _)| weight.abs());
        for (name, weight, per_unit) in features {
            let bar = "█".repeat((weight.abs() / largest * 30.0).round() as usize);
            let padding = " ".repeat(width - name.chars().count());
            let per_unit = per_unit.map_or(String::new(), |per_unit| format!("  {:>12}", number(per_unit)));
            text.push_str(&format!("  {name}{padding}  {weight:>+14.6}{per_unit}  {bar}\n"));
        }
        if let (Some(intercept), true) = (intercept, strongest.len() > 1) {
            let padding = " ".repeat(width.saturating_sub(9));
            text.push_str(&format!("  intercept{padding}  {:14}  {:>12}\n", "", number(*intercept)));
        }
    }
    text
}

/// A number in few characters, with its sign.
fn number(x: f64) -> String {
    if x == 0.0 || (1e-4..1e6).contains(&x.abs()) { format!("{x:+.6}") } else { format!("{x:+.4e}") }
}

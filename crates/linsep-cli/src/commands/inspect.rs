//! `linsep inspect`

use super::{load_model, print_json, print_result};
use crate::args::InspectArgs;
use crate::exit::Exit;
use crate::layout::report_lines;
use anyhow::bail;
use linsep::classes::Classes;
use linsep::job::{Spec, TrainSpec};
use linsep::model::Model;
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
    let strongest: Vec<(String, Vec<(String, f64)>)> = strongest(&model, args.top);
    if args.json {
        let weights = |features: &[(String, f64)]| {
            features
                .iter()
                .map(|(feature, weight)| json!({"feature": feature, "weight": weight}))
                .collect::<Vec<_>>()
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
        if let Learned::Each(each) = &model.learned {
            let classes: Vec<_> = strongest
                .iter()
                .zip(each)
                .map(|((class, features), learned)| {
                    let intercept = learned.theta().intercept();
                    json!({"class": class, "intercept": intercept, "strongest": weights(features)})
                })
                .collect();
            record["weights"] = json!(classes);
        } else {
            record["intercept"] = json!(model.learned.theta().intercept());
            record["strongest"] = json!(strongest.first().map(|(_, features)| weights(features)));
        }
        return print_json(&record);
    }
    print_result(|out| out.write_all(to_text(&model, &strongest).as_bytes()))
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

/// The strongest weights of the boundary, or of each class.
fn strongest(model: &Model, top: usize) -> Vec<(String, Vec<(String, f64)>)> {
    let of = |outcome: usize| model.strongest_of(outcome).into_iter().take(top).collect();
    match &model.classes {
        Classes::Pair(pair) => vec![(pair.positive.clone(), of(0))],
        Classes::Each { names } => {
            names.iter().enumerate().map(|(outcome, name)| (name.clone(), of(outcome))).collect()
        }
    }
}

fn to_text(model: &Model, strongest: &[(String, Vec<(String, f64)>)]) -> String {
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
    if matches!(model.learned, Learned::Linear(_) | Learned::Voted { .. }) {
        lines.push(("Intercept", format!("{:.6}", model.learned.theta().intercept())));
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
    for (class, features) in strongest.iter().filter(|(_, features)| !features.is_empty()) {
        let of = if strongest.len() > 1 { format!(" of {class}") } else { String::new() };
        let columns = model.learned.columns();
        text.push_str(&format!("\nStrongest weights{of}, {} of {columns}:\n", features.len()));
        let width = features.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let largest = features.first().map_or(1.0, |(_, weight)| weight.abs());
        for (name, weight) in features {
            let bar = "█".repeat((weight.abs() / largest * 30.0).round() as usize);
            let padding = " ".repeat(width - name.chars().count());
            text.push_str(&format!("  {name}{padding}  {weight:>+14.6}  {bar}\n"));
        }
    }
    text
}

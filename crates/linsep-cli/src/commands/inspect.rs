//! `linsep inspect`

use super::{load_model, print_json, print_result, report_lines};
use crate::args::InspectArgs;
use crate::exit::Exit;
use linsep::model::Model;
use linsep::report;
use linsep::train::Learned;
use serde_json::json;

pub(crate) fn run(args: &InspectArgs) -> anyhow::Result<Exit> {
    let model = load_model(&args.model)?;
    let strongest: Vec<(String, f64)> = model.strongest().into_iter().take(args.top).collect();
    if args.json {
        return print_json(&json!({
            "classes": model.classes,
            "settings": model.settings,
            "scaling": model.scaler.scaling(),
            "evidence": model.evidence,
            "fingerprint": model.fingerprint,
            "features": model.learned.columns(),
            "intercept": model.learned.theta().intercept(),
            "strongest": strongest.iter().map(|(feature, weight)| json!({"feature": feature, "weight": weight}))
                .collect::<Vec<_>>(),
        }));
    }
    print_result(|out| out.write_all(to_text(&model, &strongest).as_bytes()))
}

fn to_text(model: &Model, strongest: &[(String, f64)]) -> String {
    let evidence = &model.evidence;
    let shape = format!(
        "{}, {}",
        report::counted(evidence.examples, "row", "rows"),
        report::counted(model.learned.columns() as u64, "feature", "features")
    );
    let mut lines = vec![
        ("Classes", format!("−1 = {}, +1 = {}", model.classes.negative.join(" or "), model.classes.positive)),
        ("Learner", report::describe_settings(&model.settings)),
        (
            "Scale",
            serde_json::to_string(&model.scaler.scaling()).unwrap_or_default().trim_matches('"').to_string(),
        ),
        ("Trained", shape),
        ("Data", model.fingerprint.clone().unwrap_or_else(|| "a stream, not kept".to_string())),
        ("Result", report::describe_end(evidence)),
        (
            "Error",
            evidence.training_error.map_or("unknown: the rows were a stream".to_string(), |error| {
                format!("training {}", report::percent(error))
            }),
        ),
        ("Margin", report::describe_margin(evidence)),
        ("Bound", report::describe_bound(evidence, &model.settings)),
        ("Intercept", format!("{:.6}", model.learned.theta().intercept())),
    ];
    if let Learned::Voted { ballot, .. } = &model.learned {
        lines.push((
            "Votes",
            format!(
                "{}; the weights below are those of the last",
                report::counted(ballot.votes().len() as u64, "vector", "vectors")
            ),
        ));
    }
    let mut text = report_lines(&lines);
    text.push_str(&format!("\nStrongest weights, {} of {}:\n", strongest.len(), model.learned.columns()));
    let width = strongest.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let largest = strongest.first().map_or(1.0, |(_, weight)| weight.abs());
    for (name, weight) in strongest {
        let bar = "█".repeat((weight.abs() / largest * 30.0).round() as usize);
        let padding = " ".repeat(width - name.chars().count());
        text.push_str(&format!("  {name}{padding}  {weight:>+14.6}  {bar}\n"));
    }
    text
}

//! `linsep inspect`

use super::{load_model, print_json, print_result};
use crate::args::InspectArgs;
use crate::console::Console;
use crate::exit::Exit;
use crate::layout::report_lines;
use anyhow::bail;
use linsep::classes::{printable, shortened};
use linsep::features::Terms;
use linsep::job::{Spec, TrainSpec};
use linsep::model::{ColumnEffect, Effect, Model, ProductEffect, WeightsPicture};
use linsep::numbers;
use linsep::read::cache::{Cache, is_cache};
use linsep::report::{
    self, StrongestWeights, boundary_table, inspect_record, strongest_terms, strongest_weights,
};
use std::path::Path;

pub(crate) fn run(args: &InspectArgs, console: Console) -> anyhow::Result<Exit> {
    if is_cache(&args.model).unwrap_or(false) {
        return inspect_cache(args);
    }
    let model = load_model(&args.model)?;
    if args.spec {
        return print_spec(&model, &args.model);
    }
    if let Some(path) = &args.weights_png {
        write_weights(&model, path, console)?;
    }
    if args.json {
        return print_json(&inspect_record(&model, args.top, args.effects));
    }
    let strongest = strongest_weights(&model, args.top);
    let mut text = to_text(&model, &strongest);
    for (class, terms) in strongest_terms(&model, args.top) {
        text.push_str(&format!("\nTerms that are evidence for {}:\n", printable(&class)));
        let listed: Vec<String> =
            terms.iter().map(|(term, weight)| format!("{} ({weight:.3})", printable(term))).collect();
        text.push_str(&textwrap::indent(&textwrap::fill(&listed.join(", "), 96), "  "));
        text.push('\n');
    }
    if args.effects {
        strongest.iter().enumerate().for_each(|(outcome, of)| {
            let class = (strongest.len() > 1).then_some(of.class.as_str());
            text.push_str(&effects_text(&model, outcome, class, args.top));
        });
    }
    print_result(|out| out.write_all(text.as_bytes()))
}

/// The bits of the hash that the model knows terms by, if it does.
fn hash_bits(model: &Model) -> Option<u8> {
    model.recipe.columns.texts().find_map(|(_, text)| match text.terms {
        Terms::Hashed(bits) => Some(bits),
        _ => None,
    })
}

/// The effects of the columns on the score, the largest first.
fn effects_text(model: &Model, outcome: usize, class: Option<&str>, top: usize) -> String {
    let of = class.map_or(String::new(), |class| format!(" of {}", printable(class)));
    let Some(effects) = model.effects_of(outcome) else {
        return "\nNo effects of columns: the model has no weights for the columns as they are.\n"
            .to_string();
    };
    let shown = effects.len().min(top);
    let mut text = format!("\nEffects of the columns on the score{of}, {shown} of {}", effects.len());
    text.push_str("; curves are 0 on average over the training rows:\n");
    let entries = |effect: &Effect| -> Vec<(String, f64)> {
        match effect {
            Effect::Curve(points) => {
                points.iter().map(|point| (Short(point.value).to_string(), point.effect)).collect()
            }
            Effect::PerUnit(slope) => vec![("one more unit".to_string(), *slope)],
            Effect::Words(words) => {
                let word = |word: &str| {
                    if word.is_empty() { "missing".into() } else { printable(word).into_owned() }
                };
                words.iter().map(|own| (word(&own.word), own.effect)).collect()
            }
        }
    };
    let listed: Vec<(&ColumnEffect, Vec<(String, f64)>)> =
        effects[..shown].iter().map(|effect| (effect, entries(&effect.effect))).collect();
    let all = || listed.iter().flat_map(|(_, entries)| entries);
    let width = all().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let largest = all().map(|(_, effect)| effect.abs()).fold(0.0, f64::max);
    for (effect, entries) in &listed {
        text.push_str(&format!("  {}\n", printable(&effect.column)));
        for (name, effect) in entries {
            let padding = " ".repeat(width - name.chars().count());
            let bar = "█".repeat((effect.abs() / largest * 30.0).round() as usize);
            text.push_str(&format!("    {padding}{name}  {:>12}  {bar}\n", number(*effect)));
        }
    }
    if let Some(constant) = model.effects_constant(outcome) {
        text.push_str(&format!("  Added to all of them: {}\n", number(constant)));
    }
    let products = model.product_effects_of(outcome).unwrap_or_default();
    if products.is_empty() {
        return text;
    }
    let shown = products.len().min(top);
    text.push_str(&format!("\nProducts of pairs of columns{of}, {shown} of {}", products.len()));
    let at_zero = ProductEffect::centred_at_zero(&products);
    let except = |before: &str| match at_zero.as_slice() {
        [] => String::new(),
        names => format!(" ({before}: {})", printable(&shortened(names, names.len(), ", "))),
    };
    text.push_str(&format!("; numbers one deviation above their means{}, words there:\n", except("above 0")));
    let name = |effect: &ProductEffect| printable(&effect.product).into_owned();
    let width = products[..shown].iter().map(|effect| name(effect).chars().count()).max().unwrap_or(0);
    for effect in &products[..shown] {
        let name = name(effect);
        let padding = " ".repeat(width - name.chars().count());
        let bar = "█".repeat((effect.effect.abs() / largest * 30.0).round().min(30.0) as usize);
        text.push_str(&format!("  {name}{padding}  {:>12}  {bar}\n", number(effect.effect)));
    }
    let note = format!(
        "They add to the score beside the effects of the columns. What is shown of a number there holds where the numbers that it is \
         multiplied with are at their means{}, and the words absent.",
        except("at 0")
    );
    text.push_str(&textwrap::indent(&textwrap::fill(&note, 96), "  "));
    text.push('\n');
    text
}

/// A number with at most six digits.
struct Short(f64);

impl std::fmt::Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(x) = *self;
        if x == 0.0 || !(1e-4..1e9).contains(&x.abs()) {
            return if x == 0.0 { f.write_str("0") } else { write!(f, "{x:.3e}") };
        }
        let decimals = (5 - x.abs().log10().floor() as i32).clamp(0, 9) as usize;
        let text = format!("{x:.decimals$}");
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        f.write_str(text)
    }
}

/// Writes the weights of a model of pictures as a picture, and says how to look at it.
fn write_weights(model: &Model, path: &Path, console: Console) -> anyhow::Result<()> {
    let picture = WeightsPicture::of(model).map_err(linsep::Error::from)?;
    linsep::store::write_atomically(path, |out| out.write_all(&picture.png))?;
    let colours = match picture.red_and_blue {
        true => "red is evidence for the class, blue against it",
        false => "colours brighter than grey are evidence for the class",
    };
    let (width, height) = picture.size;
    let parts = picture.classes.join(", ");
    console.note(&format!("{} written, {width}x{height} pixels: {colours} ({parts})", path.display()));
    Ok(())
}

/// Prints the specification that makes the model again.
fn print_spec(model: &Model, path: &Path) -> anyhow::Result<Exit> {
    let Some(spec) = TrainSpec::from_model(model) else {
        bail!(
            "{}: this model has no specification: it was learned from rows in memory, or the name of its \
             data file is not valid text",
            path.display()
        );
    };
    let spec = spec.map_err(|error| error.at(path.display().to_string()))?;
    let text = Spec::Train(Box::new(spec)).to_toml()?;
    print_result(|out| out.write_all(text.as_bytes()))
}

/// Describes the contents of a cache, after checking all of it.
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

fn to_text(model: &Model, strongest: &[StrongestWeights]) -> String {
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
        ("Margin", report::describe_margin(evidence, &model.recipe)),
    ];
    lines.extend(report::describe_bound(evidence, &model.settings).map(|bound| ("Bound", bound)));
    if let Some(made) = report::describe_expansion(&model.recipe.expansion) {
        lines.insert(2, ("Features", made));
    }
    if let Some(detail) = report::describe_detail(evidence, &model.settings) {
        lines.push(("Detail", detail));
    }
    if let Some(how) = report::describe_calibration(model) {
        lines.push(("Scores", how));
    }
    if let (Some(threshold), Some(pair)) = (&model.threshold, model.classes.pair()) {
        lines.push(("Threshold", report::describe_threshold(threshold, &pair.positive)));
    }
    if let Some(theta) = model.learned.weights() {
        let intercept = format!("{:.6}", theta.intercept());
        let in_units = strongest.first().and_then(|of| of.intercept);
        let in_units =
            in_units.map_or(String::new(), |own| format!("; {} in the units of the file", number(own)));
        lines.push(("Intercept", intercept + &in_units));
    }
    if let Some(votes) = model.learned.votes() {
        lines.push((
            "Votes",
            format!(
                "{}; the weights below are those of the last",
                numbers::counted(votes.len() as u64, "vector", "vectors")
            ),
        ));
    }
    if let Some(bits) = hash_bits(model) {
        lines.push((
            "Words",
            format!(
                "not kept: the model knows the terms of texts by a hash of {bits} bits. #5 is the place of all terms with that \
                 hash; predict --explain names those of a row"
            ),
        ));
    }
    let mut text = report_lines(&lines);
    if !model.boundaries.is_empty() {
        text.push_str("\nEach class against the rest:\n");
        text.push_str(&boundary_table(&model.boundaries));
    }
    for StrongestWeights { class, features, intercept } in
        strongest.iter().filter(|of| !of.features.is_empty())
    {
        let of = if strongest.len() > 1 { format!(" of {}", printable(class)) } else { String::new() };
        let columns = model.learned.columns();
        text.push_str(&format!("\nStrongest weights{of}, {} of {columns}", features.len()));
        text.push_str(match intercept {
            Some(_) if model.recipe.expansion.each_product().next().is_some() => {
                "; of the scaled features, and for each unit of the file\n(products are of deviations from the means of numbers):\n"
            }
            Some(_) => "; of the scaled features, and for each unit of the file:\n",
            None => ":\n",
        });
        let shown = |name: &str| printable(name).into_owned();
        let width = features.iter().map(|(name, ..)| shown(name).chars().count()).max().unwrap_or(0);
        let largest = features.first().map_or(1.0, |(_, weight, _)| weight.abs());
        for (name, weight, per_unit) in features {
            let bar = "█".repeat((weight.abs() / largest * 30.0).round() as usize);
            let name = shown(name);
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

//! `linsep inspect`

use super::{load_model, print_json, print_result};
use crate::args::InspectArgs;
use crate::console::Console;
use crate::exit::Exit;
use crate::layout::report_lines;
use anyhow::bail;
use linsep::classes::{Classes, printable, shortened};
use linsep::features::{Scaler, Terms};
use linsep::job::{Spec, TrainSpec};
use linsep::model::{Calibration, ColumnEffect, Effect, Model, ProductEffect, WeightsPicture};
use linsep::numbers;
use linsep::read::cache::{Cache, is_cache};
use linsep::report::{self, boundary_table};
use serde_json::json;
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
    let strongest = strongest(&model, args.top);
    let shows_effects = args.effects || (args.json && !model.recipe.expansion.is_none());
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
            "expansion": model.recipe.expansion.summary(),
            "scaling": model.recipe.scaling.scaling(),
            "evidence": model.evidence,
            "boundaries": model.boundaries,
            "fingerprint": model.fingerprint,
            "features": model.learned.columns(),
        });
        let terms = terms_for(&model, args.top);
        if !terms.is_empty() {
            let of = |(class, terms): &(String, Vec<(String, f64)>)| {
                let terms = terms.iter().map(|(term, weight)| json!({"term": term, "weight": weight}));
                json!({"class": class, "terms": terms.collect::<Vec<_>>()})
            };
            record["terms"] = terms.iter().map(of).collect();
        }
        if let Some(calibration) = model.calibrated() {
            record["probabilities"] = probabilities(calibration);
        }
        if let Some(threshold) = &model.threshold {
            record["threshold"] = json!(threshold);
        }
        if model.learned.is_of_classes() {
            let classes: Vec<_> = strongest
                .iter()
                .zip(model.learned.parts())
                .enumerate()
                .map(|(outcome, (of, learned))| {
                    let intercept = learned.theta().intercept();
                    let mut record =
                        json!({"class": of.class, "intercept": intercept, "strongest": weights(of)});
                    if let Some(in_units) = of.intercept {
                        record["intercept_in_units"] = json!(in_units);
                    }
                    if shows_effects {
                        add_effects(&mut record, &model, outcome);
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
            if shows_effects {
                add_effects(&mut record, &model, 0);
            }
        }
        let products = products(&model);
        if !products.is_empty() {
            record["products"] = json!(products);
        }
        return print_json(&record);
    }
    let mut text = to_text(&model, &strongest);
    for (class, terms) in terms_for(&model, args.top) {
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

/// The contribution of each column to the score, and the number that it is added to.
fn add_effects(record: &mut serde_json::Value, model: &Model, outcome: usize) {
    if let (Some(effects), Some(constant)) = (model.effects_of(outcome), model.effects_constant(outcome)) {
        record["effects"] = json!(effects);
        record["effects_constant"] = json!(constant);
        let products = model.product_effects_of(outcome).unwrap_or_default();
        if !products.is_empty() {
            record["product_effects"] = json!(products);
        }
    }
}

/// The products of pairs of columns, each with its factors and what is taken off them first.
fn products(model: &Model) -> Vec<serde_json::Value> {
    let name = |feature: usize| model.recipe.feature_name(feature);
    let products = model.recipe.expansion.each_product().map(|(feature, factors)| {
        let factors = factors.map(|factor| json!({"feature": name(factor.feature), "minus": factor.centre}));
        json!({"feature": name(feature), "of": factors})
    });
    products.collect()
}

/// The bits of the hash that the model knows terms by, if it does.
fn hash_bits(model: &Model) -> Option<u8> {
    model.recipe.columns.texts().find_map(|(_, text)| match text.terms {
        Terms::Hashed(bits) => Some(bits),
        _ => None,
    })
}

/// For each class, the terms of texts that are the strongest evidence for it; none for a model without texts or weights.
fn terms_for(model: &Model, top: usize) -> Vec<(String, Vec<(String, f64)>)> {
    if model.recipe.columns.texts().next().is_none() {
        return Vec::new();
    }
    let names = model.classes.outcomes();
    let is_term = |j: usize| model.recipe.columns.is_term(j);
    let of = |outcome: usize, sign: f64| {
        let weights = model.weights_of(outcome);
        let strongest = model.strongest_features(outcome);
        let own = strongest.into_iter().filter(|&j| sign * weights[j] > 0.0 && is_term(j)).take(top);
        own.map(|j| (model.recipe.feature_name(j), weights[j].abs())).collect::<Vec<_>>()
    };
    let pairs: Vec<(String, Vec<(String, f64)>)> = match &model.classes {
        Classes::Pair(_) => {
            [(1, 1.0), (0, -1.0)].map(|(name, sign)| (names[name].clone(), of(0, sign))).to_vec()
        }
        Classes::Each { names } => {
            names.iter().enumerate().map(|(outcome, name)| (name.clone(), of(outcome, 1.0))).collect()
        }
    };
    pairs.into_iter().filter(|(_, terms)| !terms.is_empty()).collect()
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
        ("Margin", report::describe_margin(evidence, &model.recipe)),
        ("Bound", report::describe_bound(evidence, &model.settings)),
    ];
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
    for Strongest { class, features, intercept } in strongest.iter().filter(|of| !of.features.is_empty()) {
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

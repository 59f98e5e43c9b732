//! Learning, with its history for the picture and the trace of the proof.

use super::report::blocks;
use super::{classes, rows_of};
use crate::data::DataSet;
use crate::drawing::{Arrays, ClassScore, Drawn, History, Line, Plane, Seen, region, sample};
use crate::results::Kept;
use crate::server::App;
use crate::watch::{Listener, Watch};
use linsep::features::RecipeBuffer;
use linsep::job::{Spec, TrainSpec, Trained};
use linsep::report::{TrainRecord, describe_no_model, no_model_help, train_report};
use linsep::theory::trace::TracePoint;
use linsep::train::{ClassWeight, Init};
use linsep::{Dataset, Error, Model, Theta};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The most updates that a page can go through one by one.
const MAX_UPDATES: u64 = 200_000;
/// How many runs of fewer passes show the way of a learner that makes no single updates, and how long they may take.
const MAX_PASSES: usize = 32;
const TIME_FOR_PASSES: Duration = Duration::from_secs(3);
const FEATURES_FOR_PASSES: usize = 2000;
/// Rows with the most mistakes, which are drawn whatever the sample.
const MAX_MISTAKEN: usize = 500;

pub(super) fn run(
    app: &App,
    set: &DataSet,
    spec: TrainSpec,
    id: String,
    history: bool,
    listener: &Listener,
) -> Result<(Value, Kept), Error> {
    let job = TrainSpec { data: set.to_learn(), ..spec.clone() };
    let mut trained = job.run(&mut Watch::new(listener))?;
    if listener.is_gone() {
        return Err(Error::Interrupted);
    }
    let no_model = describe_no_model(&trained.model);
    let facts = if no_model.is_none() { train_report(&trained) } else { Vec::new() };
    let record = serde_json::to_value(TrainRecord::from(&trained))
        .map_err(|error| Error::Spec { place: "the record".to_string(), problem: error.to_string() })?;
    let (drawing, trace) = draw(set, &job, &trained, history, listener)?;
    let classes = set.weighted(spec.classes.clone());
    let as_file = Spec::Train(Box::new(TrainSpec { data: set.as_file(), classes, ..spec }));
    let result = json!({
        "job": "train",
        "record": record,
        "report": blocks(app, &facts),
        "no_model": no_model.map(|reason| json!({
            "message": crate::watch::worded(&reason),
            "help": crate::watch::worded(no_model_help(&trained)),
        })),
        "weights": weights(&trained.model),
    });
    // Rows in memory have no name that a specification could keep; as a file they have.
    if let Spec::Train(spec) = &as_file {
        trained.model.spec = serde_json::to_value(spec).ok();
    }
    let model = trained.status.has_model().then(|| Box::new(trained.model));
    Ok((result, Kept { id, name: set.name.clone(), spec: as_file, model, trace, certificate: None, drawing }))
}

/// The strongest weights: of the features as learned, and in the units of the file where those exist.
fn weights(model: &Model) -> Value {
    const MAX: usize = 12;
    if !model.evidence.status.has_model()
        || model.classes.pair().is_none()
        || model.learned.linear().is_none()
    {
        return Value::Null;
    }
    let units = model.in_units_of(0);
    let strongest: Vec<Value> = model
        .strongest_features(0)
        .into_iter()
        .take(MAX)
        .map(|j| {
            json!({
                "feature": model.recipe.feature_name(j),
                "weight": model.weights_of(0)[j],
                "per_unit": units.as_ref().map(|units| units.weights[j]),
            })
        })
        .collect();
    json!({ "strongest": strongest, "intercept": units.map(|units| units.intercept) })
}

/// The arrays of the picture, and the trace as a text.
fn draw(
    set: &DataSet,
    job: &TrainSpec,
    trained: &Trained,
    history: bool,
    listener: &Listener,
) -> Result<(Vec<u8>, Option<Vec<TracePoint>>), Error> {
    let model = &trained.model;
    let (schema, data) = set.settled();
    let rows = rows_of(data, &kept_classes(data, &job.classes.only));
    let outcomes = model.classes.outcomes_of(data.classes());
    let outcome = |i: usize| outcomes[data.labels()[rows[i] as usize] as usize].unwrap_or(0);
    let signs: Vec<i8> = (0..rows.len()).map(|i| if outcome(i) > 0 { 1 } else { -1 }).collect();
    let seen = Seen::by(model, data, &rows);
    let two_sides = model.classes.pair().is_some();
    let has_model = trained.status.has_model();
    let drawn = |theta: Option<_>| theta.filter(|_| two_sides && has_model);
    let linear = drawn(model.learned.linear());
    // Votes have no weights of their own: those of the last vector give the plane, as they give the history.
    let base = drawn(model.learned.weights());
    // Several classes are drawn in the plane of the two that differ most.
    let each = classes::thetas(model);
    let pair = each.as_deref().and_then(classes::farthest);
    let base = base.or(pair.as_ref().map(|(_, difference)| difference));
    let base = base.filter(|theta| theta.weights.len() == seen.features);
    let plane = Plane::of(&seen, base, &signs);
    let is_linear = two_sides || each.is_some();
    let draws_lines = is_linear && seen.is_learned_space();
    let mut arrays = Arrays::default();
    let mut trace = None;
    let mut mistakes: HashMap<u32, u32> = HashMap::new();
    let makes_updates = is_linear && has_model && updates_one_by_one(model);
    let of_classes = each.as_ref().map_or(0, Vec::len);
    if !history {
        // Only the result is drawn.
    } else if makes_updates {
        let (history, points) = replay(job, trained, &plane, &seen, draws_lines, of_classes, listener)?;
        history.rows.iter().for_each(|&row| *mistakes.entry(row).or_default() += 1);
        put_history(&mut arrays, &history, &rows);
        // The place of a row among those that are there several times is no place in the file.
        if set.is_weighted() {
            let line = |&position: &u32| data.line(rows[position as usize] as usize);
            arrays.put(
                "update.line",
                history.rows.iter().map(line).map(|line| line.try_into().unwrap_or(u32::MAX)),
            );
        }
        if let Some(points) = &points {
            put_trace(&mut arrays, points);
        } else if each.is_some()
            && let Some(points) = classes::trace(trained, &history, &seen, outcome, listener)
        {
            put_trace(&mut arrays, &points);
        }
        trace = points;
    } else if draws_lines && let Some(result) = linear.map(|theta| vec![theta]).or(each.clone()) {
        put_passes(&mut arrays, &passes(job, trained, &plane, &result, listener), two_sides);
    }
    if let (Some(thetas), true) = (&each, draws_lines) {
        arrays.say("final_classes", &classes::lines(&plane, thetas));
    }
    if let (Some((pair, _)), Plane::Theta(_)) = (&pair, &plane) {
        let names = model.classes.outcomes();
        arrays.say("pair", &pair.map(|place| &names[place]));
    }
    let mut most: Vec<(u32, u32)> = mistakes.into_iter().collect();
    most.sort_by_key(|&(row, count)| (std::cmp::Reverse(count), row));
    let drawn = sample(rows.len(), most.iter().take(MAX_MISTAKEN).map(|&(row, _)| row as usize));
    let outcomes = model.classes.outcomes();
    let rows_drawn = Drawn { seen: &seen, plane: &plane, which: &drawn, schema, outcomes };
    let places = rows_drawn.put(&mut arrays, outcome);
    arrays.say("updates", &model.evidence.updates);
    arrays.say("steps", &if makes_updates { "updates" } else { "passes" });
    if let (Some(theta), true) = (linear, draws_lines) {
        arrays.say("final", &plane.line(theta));
        arrays.say("band", &band(&seen, &signs, theta));
    }
    // A boundary that is no line, or many of them, is drawn as the regions of the classes.
    if has_model
        && data.columns() <= 2
        && (linear.is_none() || !draws_lines)
        && model.classes.outcomes().len() <= 255
    {
        let region = region(model, &seen.column_axes(schema), &places, data.columns());
        arrays.say("region", &region);
        arrays.put("region", region.outcomes);
    }
    Ok((arrays.into_bytes(), trace))
}

/// The classes that were asked for, by their names in the data.
fn kept_classes(data: &Dataset, only: &[String]) -> Vec<String> {
    let spec = linsep::job::ClassSpec { only: only.to_vec(), ..Default::default() };
    if only.is_empty() { Vec::new() } else { spec.names(data).unwrap_or_default() }
}

/// Whether the learner tells of its updates one by one.
fn updates_one_by_one(model: &Model) -> bool {
    let learner = &model.settings.learner;
    if model.classes.pair().is_none() {
        // One against the rest goes through as many runs as there are classes; only this learner has one run for all.
        return learner.name() == "multiclass";
    }
    let by_itself = learner.is_online() && learner.descriptor().abilities.two_sides;
    (by_itself || matches!(learner.name(), "pocket" | "kernel")) && model.settings.shards <= 1
}

/// The least agreement of a row, where it is positive: the boundary keeps a band of this score free on both sides.
fn band(seen: &Seen<'_>, signs: &[i8], theta: &linsep::Theta) -> Option<f64> {
    let mut buffer = RecipeBuffer::default();
    let agreement = |i: usize| f64::from(signs[i]) * theta.score(seen.row(i, &mut buffer));
    let least = (0..seen.rows.len()).map(agreement).fold(f64::MAX, f64::min);
    (least > 0.0).then_some(least)
}

/// Goes through the same run again and records it: the updates, and the trace where the theorem covers the run.
fn replay<'a>(
    job: &TrainSpec,
    trained: &Trained,
    plane: &'a Plane,
    seen: &'a Seen<'_>,
    draws_lines: bool,
    of_classes: usize,
    listener: &'a Listener,
) -> Result<(History<'a>, Option<Vec<TracePoint>>), Error> {
    let settings = &trained.model.settings;
    let updates = trained.model.evidence.updates;
    let traced = settings.learner.abilities().traces_mistakes
        && settings.class_weight == ClassWeight::Equal
        && settings.init == Init::Zero
        && !trained.model.evidence.weighted;
    let again = TrainSpec {
        max_updates: if updates > MAX_UPDATES { Some(MAX_UPDATES) } else { job.max_updates },
        probabilities: false,
        keep_trace: traced,
        trace_points: traced.then_some(MAX_UPDATES + 1),
        ..job.clone()
    };
    let most = MAX_UPDATES as usize;
    let history = History::new(plane, draws_lines, most, updates, seen.features, of_classes);
    let mut watch = Watch::recording(listener, Some(history));
    let repeated = again.run(&mut watch)?;
    if listener.is_gone() {
        return Err(Error::Interrupted);
    }
    let mut history = watch.into_history().ok_or(Error::Interrupted)?;
    if !seen.is_learned_space() {
        history.places_of(|position, buffer| plane.place(seen.row(position as usize, buffer)));
    }
    Ok((history, traced.then_some(repeated.trace)))
}

fn put_history(arrays: &mut Arrays, history: &History<'_>, rows: &[u32]) {
    arrays.put("update.row", history.rows.iter().map(|&position| rows[position as usize]));
    arrays.put("update.epoch", history.epochs.iter().copied());
    arrays.put("update.sign", history.signs.iter().copied());
    arrays.put("update.agreement", history.agreements.iter().copied());
    arrays.put("update.x", history.places.iter().map(|place| place.0));
    arrays.put("update.y", history.places.iter().map(|place| place.1));
    put_lines(arrays, &history.lines);
    arrays.put("update.norm", history.norms.iter().copied());
    arrays.put("update.class", history.moved.iter().map(|moved| moved.0));
    arrays.put("update.rival", history.moved.iter().map(|moved| moved.1));
    classes::put_scores(arrays, &history.scores);
    arrays.say("stride", &history.stride);
}

fn put_lines(arrays: &mut Arrays, lines: &[Line]) {
    for (name, place) in [("line.a", 0), ("line.b", 1), ("line.c", 2)] {
        arrays.put(name, lines.iter().map(|line| line[place]));
    }
}

/// The trace as arrays: each number as the command line writes it.
fn put_trace(arrays: &mut Arrays, points: &[TracePoint]) {
    arrays.put("trace.norm_squared", points.iter().map(|point| point.norm_squared));
    arrays.put("trace.norm_squared_bound", points.iter().map(|point| point.norm_squared_bound));
    arrays.put("trace.margin_upper", points.iter().map(|point| point.margin_upper));
    let known = |value: fn(&TracePoint) -> Option<f64>| points.iter().filter_map(value).collect::<Vec<f64>>();
    arrays.put("trace.alignment", known(|point| point.alignment));
    arrays.put("trace.alignment_bound", known(|point| point.alignment_bound));
    arrays.put("trace.cosine", known(|point| point.cosine));
    arrays.put("trace.cosine_bound", known(|point| point.cosine_bound));
}

/// The boundaries after fewer passes, each by a run of its own: one, or the score of each class.
fn passes(
    job: &TrainSpec,
    trained: &Trained,
    plane: &Plane,
    result: &[&Theta],
    listener: &Listener,
) -> Vec<(u32, Vec<Line>)> {
    let total = trained.model.evidence.epochs;
    let clock = Instant::now();
    let mut found = Vec::new();
    if result.iter().map(|theta| theta.weights.len()).sum::<usize>() <= FEATURES_FOR_PASSES {
        for passes in spread(total) {
            let fewer = TrainSpec { epochs: Some(passes), probabilities: false, ..job.clone() };
            match fewer.run(&mut Watch::recording(listener, None)) {
                Ok(trained) if trained.status.has_model() => {
                    let lines = match trained.model.learned.linear() {
                        Some(theta) => vec![plane.line(theta)],
                        None => classes::thetas(&trained.model)
                            .map_or_else(Vec::new, |thetas| classes::lines(plane, &thetas)),
                    };
                    if lines.len() == result.len() {
                        found.push((passes.try_into().unwrap_or(u32::MAX), lines));
                    }
                }
                _ => {}
            }
            if listener.is_gone() || clock.elapsed() > TIME_FOR_PASSES {
                break;
            }
        }
    }
    found.push((total.try_into().unwrap_or(u32::MAX), classes::lines(plane, result)));
    found
}

/// Numbers of passes from 1 to below `total`: all of few, of many in growing steps.
fn spread(total: u64) -> Vec<u64> {
    let mut numbers: Vec<u64> = if total <= MAX_PASSES as u64 {
        (1..total).collect()
    } else {
        let step = (total as f64).powf(1.0 / MAX_PASSES as f64);
        (0..MAX_PASSES).map(|i| (step.powi(i as i32)).round() as u64).collect()
    };
    numbers.dedup();
    numbers
}

fn put_passes(arrays: &mut Arrays, passes: &[(u32, Vec<Line>)], two_sides: bool) {
    arrays.put("pass.number", passes.iter().map(|pass| pass.0));
    if two_sides {
        return put_lines(arrays, &passes.iter().flat_map(|pass| pass.1.iter().copied()).collect::<Vec<_>>());
    }
    let scores = passes.iter().zip(1..).flat_map(|((_, lines), step)| {
        lines.iter().zip(0..).map(move |(&line, class)| ClassScore { step, class, line })
    });
    classes::put_scores(arrays, &scores.collect::<Vec<_>>());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_spread_over_a_run() {
        assert_eq!(spread(1), Vec::<u64>::new());
        assert_eq!(spread(4), [1, 2, 3]);
        let many = spread(100_000);
        assert!(many.len() <= MAX_PASSES && many[0] == 1 && many.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(*many.last().unwrap() < 100_000 && *many.last().unwrap() > 10_000);
    }
}

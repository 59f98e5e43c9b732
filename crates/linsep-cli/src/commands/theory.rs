//! `linsep theory`

use super::again::{Words, named};
use super::{as_drawn, bias, load, print_json, print_result, scaling, wrapped};
use crate::args::{BiasArg, ScaleArg, TaskArgs, TheoryArgs};
use crate::console::{Console, Watch};
use crate::exit::{Exit, Usage};
use anyhow::Context;
use linsep::numbers::{Rounding, counted, grouped, percent, rounded};
use linsep::scale::{Scaler, Scaling};
use linsep::story::{Story, tell};
use linsep::theory::margin::MarginKind;
use linsep::theory::orders::Spread;
use linsep::{Settings, Status};
use std::fmt::Write;

pub(crate) fn run(args: &TheoryArgs, console: Console) -> anyhow::Result<Exit> {
    if !args.task.classes.class_weight.is_empty() || args.task.classes.weights.is_some() {
        return Err(
            Usage("the theorem counts mistakes, each once: weights have no place in it".into()).into()
        );
    }
    let settings = Settings {
        epochs: args.epochs,
        max_seconds: Some(args.max_seconds),
        seed: args.seed,
        bias: bias(&args.task.bias, Settings::default().bias)?,
        positive: args.task.classes.positive.clone(),
        ..Settings::default()
    };
    settings.validate().map_err(linsep::Error::from)?;
    let (name, data) = load(&args.data, &args.task, console)?;
    let scale = args.task.classes.scale.map_or(Scaling::None, scaling);
    let data = Scaler::learn(scale, &data).apply_all(data)?;
    let mut watch = Watch::new(console);
    let story = tell(&data, &settings, args.delta, as_drawn(scale, &args.task.read), &mut watch);
    watch.end()?;
    let story = story.with_context(|| name.clone())?;
    if args.json {
        return print_json(&story);
    }
    let again = Again::new(args, &name);
    let text = to_text(&story, &again, scale, &settings);
    print_result(|out| out.write_all(text.as_bytes()))
}

fn up(x: f64) -> String {
    rounded(x, Rounding::Up)
}

fn down(x: f64) -> String {
    rounded(x, Rounding::Down)
}

/// How to call other commands on the same rows.
struct Again {
    name: String,
    /// The name, and the options that say which rows and features.
    data: String,
    /// The same for `separate`, which has no scale.
    unscaled: String,
}

impl Again {
    fn new(args: &TheoryArgs, name: &str) -> Self {
        // Which rows they are does not depend on where they are kept.
        let TaskArgs { bias, classes, read, cache: _ } = &args.task;
        let words = |scale: Option<ScaleArg>| {
            Words::of(&args.data)
                .option("--positive", classes.positive.clone())
                .option("--classes", (!classes.keep.is_empty()).then(|| classes.keep.join(",")))
                .option("--scale", scale.and_then(named))
                .option("--bias", bias.bias.filter(|&bias| bias == BiasArg::None).and_then(named))
                .option("--bias-scale", bias.bias_scale.map(|scale| scale.to_string()))
                .option("--seed", (args.seed != 0).then(|| args.seed.to_string()))
                .reading(read)
                .text()
        };
        Self { name: name.to_string(), data: words(classes.scale), unscaled: words(None) }
    }
}

/// The story for people.
fn to_text(story: &Story, again: &Again, scale: Scaling, settings: &Settings) -> String {
    let mut chapters: Vec<(&str, Vec<String>)> = vec![
        ("Your data", vec![data(story, &again.name, scale)]),
        ("The run", vec![the_run(story, settings)]),
        ("The margin", vec![margin(story)]),
        ("The theorem", vec![theorem(story)]),
    ];
    chapters.push(("Teachers", vec![teachers(story)]));
    if story.margin.lower.is_none() {
        chapters.push(("Without a margin", without_margin(story)));
    }
    let mut text = String::new();
    for (title, paragraphs) in chapters {
        push_chapter(&mut text, title, &paragraphs);
    }
    if story.subsets.len() > 1 {
        push_chapter(&mut text, "Fewer rows", &[fewer_rows(story)]);
        text.push_str(&subsets_table(story));
    }
    push_chapter(&mut text, "Other orders", &[other_orders(story)]);
    push_chapter(&mut text, "What to do next", &[]);
    for (what, command) in next_steps(story, again, scale) {
        text.push_str(&wrapped(&format!("- {what}"), 2));
        // Commands stand alone and whole, to be copied.
        if let Some(command) = command {
            let _ = writeln!(text, "      {command}");
        }
    }
    text
}

fn push_chapter(text: &mut String, title: &str, paragraphs: &[String]) {
    if !text.is_empty() {
        text.push('\n');
    }
    let _ = writeln!(text, "{title}");
    for paragraph in paragraphs {
        text.push_str(&wrapped(paragraph, 2));
    }
}

fn data(story: &Story, name: &str, scale: Scaling) -> String {
    let scaled = match scale {
        Scaling::None => "",
        _ => ", scaled as you asked",
    };
    format!(
        "{name}: {} with {}{scaled}. +1 is {}, −1 is {}. The longest row has length R ≤ {}{}.",
        counted(story.rows, "row", "rows"),
        counted(story.features, "feature", "features"),
        story.classes.positive,
        story.classes.negative.join(" or "),
        up(story.extent.radius_upper),
        if story.margin.kind == MarginKind::AppendedBias {
            ", with the coordinate that is appended for the bias"
        } else {
            ""
        }
    )
}

fn the_run(story: &Story, settings: &Settings) -> String {
    let how = match story.status {
        Status::Converged => format!(
            "made {} and then, in pass {}, none: it is done, and has every row right",
            counted(story.mistakes, "mistake", "mistakes"),
            grouped(story.epochs)
        ),
        Status::TimeLimit => format!(
            "made {} before its time was over ({} s; more with --max-seconds)",
            counted(story.mistakes, "mistake", "mistakes"),
            settings.max_seconds.unwrap_or(0.0)
        ),
        _ => format!(
            "made {} in {} and was still making them (more passes with --epochs)",
            counted(story.mistakes, "mistake", "mistakes"),
            counted(story.epochs, "pass", "passes")
        ),
    };
    format!(
        "A perceptron started at zero, went through the rows in random order, and added each row it had wrong to its \
         weights. It {how}. The first pass had {}. [A1]",
        counted(story.first_pass_mistakes, "mistake", "mistakes")
    )
}

fn margin(story: &Story) -> String {
    let kind = match story.margin.kind {
        MarginKind::AppendedBias => "measured with the bias as one more coordinate",
        _ => "for boundaries through the origin",
    };
    match story.margin.lower {
        Some(lower) => format!(
            "The rows are linearly separable, and the best margin γ* ({kind}) is between {} and {}. The lower end is \
             the distance that weights which were found keep from every row; the upper end is the length of a sum of rows, \
             divided by their number (‖θ‖/k after k updates of a run), which no separator can beat. Several runs were \
             made for both. Both are proved, rounding included. [B1, B3]",
            down(lower),
            up(story.margin.upper)
        ),
        None if story.margin.upper == 0.0 => {
            "There is a row that is zero, and nothing can be on the right side of it: γ* ≤ 0.".to_string()
        }
        None => format!(
            "No separator was found. What is proved: the best margin γ* ({kind}) is at most {}, because ‖θ‖/k after k \
             updates is an upper bound at every moment of every run. Either the rows overlap, or their margin is \
             smaller than that. [B1]",
            up(story.margin.upper)
        ),
    }
}

fn theorem(story: &Story) -> String {
    let lower = story.difficulty.lower.map(down);
    match (lower, story.difficulty.upper) {
        (Some(lower), Some(upper)) => format!(
            "Novikoff: a perceptron from zero makes at most (R/γ*)² mistakes, whatever the order and however often it \
             sees the rows. On your rows that number, the difficulty, is between {lower} and {}. This run made {}: {} % of \
             the upper end. [B1; --trace of train shows the proof step by step, B2]",
            up(upper),
            grouped(story.mistakes),
            up(100.0 * story.mistakes as f64 / upper)
        ),
        (Some(lower), None) => format!(
            "Novikoff: a perceptron from zero makes at most (R/γ*)² mistakes. On your rows that number is at least \
             {lower}, and there is no upper end while no separator is known: the theorem promises nothing. [B1]"
        ),
        _ => "Novikoff's theorem needs a margin above zero, and there is none. [B1]".to_string(),
    }
}

fn teachers(story: &Story) -> String {
    let run = &story.compression;
    let mut text = format!(
        "The last weights are a sum of {} ({}): going once through just these, in order, gives the same weights. [B5; \
         --teaching-set of train writes them] ",
        counted(run.teaching, "mistake", "mistakes"),
        if story.teaching_rows == story.rows {
            "every row was one".to_string()
        } else {
            counted(story.teaching_rows, "distinct row", "distinct rows")
        }
    );
    match story.error_bound {
        Some(bound) if bound < 1.0 => {
            let _ = write!(
                text,
                "The other {} had no part in them, so they judge them fairly: {} wrong. If your rows were drawn \
                 independently from one source, then with probability {} the weights are wrong on at most {} of new rows. \
                 [B7]",
                counted(run.others, "row", "rows"),
                if run.errors == 1 { "1 is".to_string() } else { format!("{} are", grouped(run.errors)) },
                1.0 - story.delta,
                percent(bound)
            );
        }
        Some(_) => text.push_str(
            "That is too many for the rows there are to say anything about new rows from this alone; hold rows out \
             instead. [B7]",
        ),
        None => text.push_str(
            "What the other rows say about new ones cannot be told here: the rows were changed (scaled, or filled in) by \
             what was learned from all of them, so none judges fairly. [B7]",
        ),
    }
    text
}

/// What can be said all the same.
fn without_margin(story: &Story) -> Vec<String> {
    let mut paragraphs = Vec::new();
    if let Some(scalings) = &story.comparator {
        let bound = &scalings.best().bound;
        let most = story.rows as f64;
        let opening = format!(
            "Compared with the best weights found, whose hinge losses sum to {}: a first pass makes at most {} \
             mistakes by the sum and at most {} by the root of the sum of squares",
            up(bound.hinge_sum),
            up(scalings.first.bound.first_form),
            up(scalings.second.bound.second_form)
        );
        paragraphs.push(if bound.best() < most {
            format!("{opening}; it made {}. [B6]", grouped(story.first_pass_mistakes))
        } else {
            format!(
                "{opening}. Neither is better than the {} rows there are: these weights are wrong by too much for the \
                 bound to say anything. It made {}. [B6]",
                grouped(story.rows),
                grouped(story.first_pass_mistakes)
            )
        });
    }
    if let Some(lifting) = &story.lifting {
        let worth = if lifting.mistake_bound < story.rows as f64 {
            ""
        } else {
            ": no better than learning each row by heart, for these weights are wrong by too much"
        };
        paragraphs.push(format!(
            "With a coordinate of its own for every row, any data is separable. With a = {}, the best for these weights \
             (γ = {}, D = {}), the lifted perceptron makes at most ((R + D)/γ)² = {} mistakes{worth}. [B8; train --learner lifted]",
            rounded(lifting.a, Rounding::Down),
            down(lifting.lemma.gamma),
            up(lifting.lemma.slack_norm),
            up(lifting.mistake_bound)
        ));
    }
    paragraphs
}

fn fewer_rows(story: &Story) -> String {
    let separable = story.margin.lower.is_some();
    let end = if separable {
        "The theorem knows neither the number of rows nor of features: as rows are added the margin can only fall, and once \
         the hard rows are in, nothing changes any more."
    } else {
        "As rows are added the margin can only fall: where it becomes none is how many rows it takes to overlap, or to be \
         beyond this many passes."
    };
    format!("{end} On random subsets, each within the next: [B10]")
}

fn subsets_table(story: &Story) -> String {
    let mut text = format!(
        "\n  {:>10} {:>10} {:>12} {:>12} {:>24}\n",
        "rows", "mistakes", "γ* ≥", "γ* ≤", "(R/γ*)² between"
    );
    for point in &story.subsets {
        let bound = match (point.difficulty.lower, point.difficulty.upper) {
            (Some(lower), Some(upper)) => format!("{} and {}", down(lower), up(upper)),
            (Some(lower), None) => format!("{} and ?", down(lower)),
            _ => "none".to_string(),
        };
        let _ = writeln!(
            text,
            "  {:>10} {:>10} {:>12} {:>12} {bound:>24}",
            grouped(point.rows),
            grouped(point.updates),
            point.margin.lower.map_or("none".to_string(), down),
            up(point.margin.upper),
        );
    }
    text
}

fn other_orders(story: &Story) -> String {
    let orders = grouped(story.orders.orders);
    let varies = |spread: &Option<Spread>| spread.filter(|spread| spread.least < spread.largest);
    let mut parts = Vec::new();
    if let Some(mistakes) = varies(&story.order_mistakes) {
        let (least, most) = (grouped(mistakes.least as u64), grouped(mistakes.largest as u64));
        parts.push(format!("the perceptron made {least} to {most} mistakes"));
    }
    if let Some(margin) = varies(&story.orders.margin) {
        parts.push(format!(
            "the margins it ended with were {} to {}",
            down(margin.least),
            down(margin.largest)
        ));
    }
    if let Some(angle) = varies(&story.orders.angle) {
        parts.push(format!("its weight vectors were {:.1}° to {:.1}° apart", angle.least, angle.largest));
    }
    if parts.is_empty() {
        return format!(
            "{orders} orders of the same rows led to the same answer here. [B9; compare --orders]"
        );
    }
    format!(
        "The answer is not unique. In {orders} orders of the same rows {}. [B9; compare --orders shows what that means for \
         new rows, and for other learners]",
        parts.join(", ")
    )
}

/// What to do, and the command that does it.
fn next_steps(story: &Story, again: &Again, scale: Scaling) -> Vec<(String, Option<String>)> {
    let data = &again.data;
    let mut steps = Vec::new();
    let compare = Some(format!("linsep compare {data}"));
    match (story.margin.lower, story.difficulty.upper) {
        (Some(_), Some(upper)) => {
            steps.push((
                "For nearly the widest margin, proved:".to_string(),
                Some(format!("linsep train {data} --learner margin --epsilon 0.05 --epochs 100000 -o MODEL")),
            ));
            if upper > 1e4 && scale == Scaling::None {
                steps.push((
                    "The difficulty is large for separable rows: features on very different scales make R large and γ* \
                     small. Tell the story again on another scale, and compare:"
                        .to_string(),
                    Some(format!("linsep theory {data} --scale standard")),
                ));
            }
            steps.push((
                "To know how it does on new rows, for separable rows can still be learned badly:".to_string(),
                compare,
            ));
        }
        _ => {
            steps.push((
                "To know whether any boundary can separate these rows, with a proof, and which rows stand in the way:"
                    .to_string(),
                Some(format!("linsep separate {}", again.unscaled)),
            ));
            if scale == Scaling::None {
                steps.push((
                    "To see whether the scale of the features is in the way:".to_string(),
                    Some(format!("linsep theory {data} --scale standard")),
                ));
            }
            steps.push((
                "For a good classifier all the same, which needs no margin, see which learner does best and train with it:"
                    .to_string(),
                compare,
            ));
        }
    }
    steps
}

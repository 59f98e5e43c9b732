//! The statements of the theory on a data set, in plain sentences; `docs/theory.md` has each with its proof.

use super::Block;
use crate::job::{BiasKind, CompareSpec, SeparateSpec, Spec, TheorySpec, TrainSpec};
use crate::numbers::{Rounding, counted, grouped, percent, rounded};
use crate::scale::Scaling;
use crate::theory::margin::MarginKind;
use crate::theory::orders::Spread;
use crate::theory_report::TheoryReport;
use crate::train::{Learner, MarginRule, Status};

/// The statements of the theory, for people.
pub fn theory_report(theory: &TheoryReport, spec: &TheorySpec) -> Vec<Block> {
    let mut blocks = vec![Block::text("Your data\n"), sentences(data(theory, spec))];
    let mut chapter = |title: &str, paragraphs: Vec<String>| {
        blocks.push(Block::Heading(title.to_string()));
        blocks.extend(paragraphs.into_iter().map(sentences));
    };
    chapter("The run", vec![the_run(theory, spec)]);
    chapter("The margin", vec![margin(theory)]);
    chapter("Novikoff's theorem", vec![theorem(theory)]);
    chapter("Sample compression", vec![compression(theory)]);
    if theory.margin.lower.is_none() {
        chapter("Without a margin", without_margin(theory));
    }
    if theory.subsets.len() > 1 {
        chapter("Difficulty on fewer rows", vec![fewer_rows(theory)]);
        blocks.push(Block::Text(subsets_table(theory)));
    }
    blocks.push(Block::Heading("Other orders".into()));
    blocks.push(sentences(other_orders(theory)));
    blocks.push(Block::Heading("What to do next".into()));
    for (what, spec) in next_steps(theory, spec) {
        blocks.push(Block::Item(what.to_string()));
        blocks.push(Block::Job(Box::new(spec)));
    }
    blocks
}

fn sentences(text: String) -> Block {
    Block::Paragraph { indent: 2, text }
}

fn up(x: f64) -> String {
    rounded(x, Rounding::Up)
}

fn down(x: f64) -> String {
    rounded(x, Rounding::Down)
}

fn data(theory: &TheoryReport, spec: &TheorySpec) -> String {
    let name = spec.data.source.name();
    let scaled = match spec.scale {
        Scaling::None => "",
        _ => ", scaled",
    };
    format!(
        "{name}: {} with {}{scaled}. +1 is {}, −1 is {}. The longest row has length R ≤ {}{}.",
        counted(theory.rows, "row", "rows"),
        counted(theory.features, "feature", "features"),
        theory.classes.positive,
        theory.classes.negative.shortened(" or "),
        up(theory.extent.radius_upper),
        if theory.margin.kind == MarginKind::AppendedBias {
            ", with the appended coordinate of the bias"
        } else {
            ""
        }
    )
}

fn the_run(theory: &TheoryReport, spec: &TheorySpec) -> String {
    let how = match theory.status {
        Status::Converged => format!(
            "made {} and, in pass {}, none: it converged with every row on its right side",
            counted(theory.mistakes, "mistake", "mistakes"),
            grouped(theory.epochs)
        ),
        Status::TimeLimit => format!(
            "made {} before it reached its time limit ({} s; ⟦max_seconds⟧ changes it)",
            counted(theory.mistakes, "mistake", "mistakes"),
            spec.max_seconds
        ),
        _ => format!(
            "made {} in {}, and {} (⟦epochs⟧ allows more passes)",
            counted(theory.mistakes, "mistake", "mistakes"),
            counted(theory.epochs, "pass", "passes"),
            if theory.margin.lower.is_some() {
                "did not complete a pass without one, though the rows are separable"
            } else {
                "had not converged"
            }
        ),
    };
    format!(
        "A perceptron started at zero, went through the rows in random order, and added each mistaken row to its \
         weights. It {how}. The first pass had {}.",
        counted(theory.first_pass_mistakes, "mistake", "mistakes")
    )
}

fn margin(theory: &TheoryReport) -> String {
    let kind = match theory.margin.kind {
        MarginKind::AppendedBias => "measured with the bias as one more coordinate",
        _ => "for boundaries through the origin",
    };
    match theory.margin.lower {
        Some(lower) => format!(
            "The rows are linearly separable, and the best margin γ* ({kind}) is between {} and {}. The lower end is \
             the smallest distance from a row to a boundary that was found. The upper end is the length of a sum of rows \
             divided by their number (‖θ‖/k after k updates of a run), which no margin exceeds. Both are the best of \
             several runs, and both are proved, rounding included.",
            down(lower),
            up(theory.margin.upper)
        ),
        None if theory.margin.upper == 0.0 => {
            "Some row is zero, and no boundary has it strictly on its right side: γ* ≤ 0.".to_string()
        }
        None => format!(
            "No separator was found. What is proved: the best margin γ* ({kind}) is at most {}, because ‖θ‖/k after k \
             updates is an upper bound at every moment of every run. Either the rows overlap, or their margin is \
             smaller than that.",
            up(theory.margin.upper)
        ),
    }
}

fn theorem(theory: &TheoryReport) -> String {
    let lower = theory.difficulty.lower.map(down);
    match (lower, theory.difficulty.upper) {
        (Some(lower), Some(upper)) => format!(
            "A perceptron that starts at zero makes at most (R/γ*)² mistakes, in any order of the rows and any number of \
             passes. On your rows that number, the difficulty, is between {lower} and {}. This run made {}: {} % of \
             the upper end. Training with ⟦trace⟧ shows the proof step by step.",
            up(upper),
            grouped(theory.mistakes),
            up(100.0 * theory.mistakes as f64 / upper)
        ),
        (Some(lower), None) => format!(
            "A perceptron that starts at zero makes at most (R/γ*)² mistakes. On your rows that number is at least \
             {lower}. Without a separator there is no upper end, so the theorem gives no bound."
        ),
        _ => "The theorem needs a margin above zero, and there is none.".to_string(),
    }
}

fn compression(theory: &TheoryReport) -> String {
    let run = &theory.compression;
    let mut text = format!(
        "The last weights are the sum of {} ({}): one pass through just these, in order, gives the same weights. \
         Training with ⟦teaching_set⟧ writes them to a file. ",
        counted(run.teaching, "mistake", "mistakes"),
        if theory.teaching_rows == theory.rows {
            "every row was mistaken".to_string()
        } else {
            counted(theory.teaching_rows, "distinct row", "distinct rows")
        }
    );
    match theory.error_bound {
        Some(bound) if bound < 1.0 => {
            text += &format!(
                "The other {} did not change the weights, so they are a fair test: {} wrong. If your rows were drawn \
                 independently from one source, then with probability {} the weights are wrong on at most {} of new rows.",
                counted(run.others, "row", "rows"),
                if run.errors == 1 { "1 is".to_string() } else { format!("{} are", grouped(run.errors)) },
                1.0 - theory.delta,
                percent(bound)
            );
        }
        Some(_) => text.push_str(
            "There are too many mistakes for this number of rows to give a bound on the error on new rows; hold rows out \
             instead.",
        ),
        None => text.push_str(
            "The other rows give no bound on the error on new rows here: the rows were scaled, or their missing cells \
             filled in, by what was learned from all of them, so none is a fair test.",
        ),
    }
    text
}

/// The bounds that need no margin.
fn without_margin(theory: &TheoryReport) -> Vec<String> {
    let mut paragraphs = Vec::new();
    if let Some(scalings) = &theory.comparator {
        let bound = &scalings.best().bound;
        let most = theory.rows as f64;
        let opening = format!(
            "The best weights found have hinge losses that sum to {}. Compared with them, a first pass makes at most {} \
             mistakes by the sum of the losses and at most {} by the root of the sum of their squares",
            up(bound.hinge_sum),
            up(scalings.first.bound.first_form),
            up(scalings.second.bound.second_form)
        );
        paragraphs.push(if bound.best() < most {
            format!("{opening}; it made {}.", grouped(theory.first_pass_mistakes))
        } else {
            format!(
                "{opening}. Neither bound is below the number of rows, {}: the losses of these weights are too large. It \
                 made {}.",
                grouped(theory.rows),
                grouped(theory.first_pass_mistakes)
            )
        });
    }
    if let Some(lifting) = &theory.lifting {
        let worth = if lifting.mistake_bound < theory.rows as f64 {
            ""
        } else {
            ", which is no less than the number of rows: the losses of these weights are too large"
        };
        paragraphs.push(format!(
            "The lifting lemma: with one more coordinate for each row, any data is separable. With a = {}, the best for \
             these weights (γ = {}, D = {}), the lifted perceptron (⟦learner=lifted⟧) makes at most ((R + D)/γ)² = {} \
             mistakes{worth}.",
            rounded(lifting.a, Rounding::Down),
            down(lifting.lemma.gamma),
            up(lifting.lemma.slack_norm),
            up(lifting.mistake_bound)
        ));
    }
    paragraphs
}

fn fewer_rows(theory: &TheoryReport) -> String {
    let separable = theory.margin.lower.is_some();
    let end = if separable {
        "The difficulty depends neither on the number of rows nor on that of features. As rows are added the margin can \
         only fall; once the hard rows are among them, it stays nearly the same."
    } else {
        "As rows are added the margin can only fall. Where none is found, the rows overlap or need more passes."
    };
    format!("{end} On random subsets, each within the next:")
}

fn subsets_table(theory: &TheoryReport) -> String {
    let mut text = format!(
        "\n  {:>10} {:>10} {:>12} {:>12} {:>24}\n",
        "rows", "mistakes", "γ* ≥", "γ* ≤", "(R/γ*)² between"
    );
    for point in &theory.subsets {
        let bound = match (point.difficulty.lower, point.difficulty.upper) {
            (Some(lower), Some(upper)) => format!("{} and {}", down(lower), up(upper)),
            (Some(lower), None) => format!("{} and ?", down(lower)),
            _ => "none".to_string(),
        };
        text += &format!(
            "  {:>10} {:>10} {:>12} {:>12} {bound:>24}\n",
            grouped(point.rows),
            grouped(point.updates),
            point.margin.lower.map_or("none".to_string(), down),
            up(point.margin.upper),
        );
    }
    text
}

fn other_orders(theory: &TheoryReport) -> String {
    let orders = grouped(theory.orders.orders);
    let varies = |spread: &Option<Spread>| spread.filter(|spread| spread.least < spread.largest);
    let mut parts = Vec::new();
    if let Some(mistakes) = varies(&theory.order_mistakes) {
        let (least, most) = (grouped(mistakes.least as u64), grouped(mistakes.largest as u64));
        parts.push(format!("the perceptron made {least} to {most} mistakes"));
    }
    if let Some(margin) = varies(&theory.orders.margin) {
        parts.push(format!(
            "the margins it ended with were {} to {}",
            down(margin.least),
            down(margin.largest)
        ));
    }
    if let Some(angle) = varies(&theory.orders.angle) {
        parts.push(format!("its weight vectors were {:.1}° to {:.1}° apart", angle.least, angle.largest));
    }
    if parts.is_empty() {
        return format!(
            "{orders} orders of the same rows gave the same result here; a comparison with ⟦orders⟧ tries more."
        );
    }
    format!(
        "The result depends on the order of the rows. In {orders} orders {}. A comparison with ⟦orders⟧ shows the effect on \
         new rows, and on other learners.",
        parts.join(", ")
    )
}

/// The next steps, each with its job.
fn next_steps(theory: &TheoryReport, spec: &TheorySpec) -> Vec<(&'static str, Spec)> {
    let (data, classes) = (&spec.data, &spec.classes);
    let rescaled = || Spec::Theory(TheorySpec { scale: Scaling::Standard, ..spec.clone() });
    let compare = Spec::Compare(CompareSpec {
        data: data.clone(),
        classes: classes.clone(),
        scale: spec.scale,
        bias: spec.bias,
        seed: spec.seed,
        ..CompareSpec::default()
    });
    let mut steps = Vec::new();
    if let (Some(_), Some(upper)) = (theory.margin.lower, theory.difficulty.upper) {
        let learner = Learner::Margin(MarginRule::Dynamic { epsilon: 0.05 });
        let train = TrainSpec {
            data: data.clone(),
            classes: classes.clone(),
            scale: (spec.scale != Scaling::None).then_some(spec.scale),
            bias: spec.bias,
            learner: Some(learner.name().to_string()),
            options: learner.options(),
            epochs: Some(100_000),
            seed: Some(spec.seed),
            output: Some("MODEL".into()),
            ..TrainSpec::default()
        };
        steps.push(("For nearly the best margin, proved:", Spec::Train(Box::new(train))));
        if upper > 1e4 && spec.scale == Scaling::None {
            let what = "The difficulty is large for separable rows: features on very different scales make R large and γ* \
                        small. Compare with the difficulty of scaled features:";
            steps.push((what, rescaled()));
        }
        steps
            .push(("To measure the error on new rows, which may be large even for separable rows:", compare));
    } else {
        let what = "To decide, with a proof, whether these rows are linearly separable, and which rows \
                    conflict:";
        let separate = SeparateSpec {
            data: data.clone(),
            positive: classes.positive.clone(),
            only: classes.only.clone(),
            bias: if spec.bias.append == Some(false) { BiasKind::None } else { BiasKind::Append },
            bias_scale: spec.bias.scale,
            seed: spec.seed,
            ..SeparateSpec::default()
        };
        steps.push((what, Spec::Separate(separate)));
        if spec.scale == Scaling::None {
            steps.push(("To see whether the scales of the features are the reason:", rescaled()));
        }
        let what = "For a good classifier that needs no margin, see which learner does best:";
        steps.push((what, compare));
    }
    steps
}

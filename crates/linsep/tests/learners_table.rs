//! The promise: `docs/learners.md` says what the registry of learners says.

use linsep::spelling::plain;
use linsep::train::{Abilities, Descriptor, OptionDescriptor, OptionKind, learners};
use std::fmt::Write;
use std::path::Path;

/// The title of a column, and the ability that it shows.
type Column = (&'static str, fn(&Abilities) -> bool);

/// What the table has a column for.
const ABILITIES: [Column; 8] = [
    ("row by row", |abilities| abilities.row_by_row),
    ("out of core", |abilities| abilities.out_of_core.is_yes()),
    ("shards", |abilities| abilities.shards.is_yes()),
    ("weights", |abilities| abilities.weights.is_yes()),
    ("many classes by itself", |abilities| abilities.many_classes),
    ("start from weights", |abilities| abilities.start.is_yes()),
    ("trace and teaching set", |abilities| abilities.traces_mistakes),
    ("probabilities", |abilities| abilities.probabilities),
];

/// The document that the registry describes.
fn document() -> String {
    let mut text = "# Learners\n\n\
        One learner is chosen by name: `linsep train DATA --learner NAME`, or `Learner::named` in the library. This page is\n\
        made from the registry of learners, and a test keeps it true: after a change, run\n\
        `UPDATE_DOCS=1 cargo test -p linsep --test main learners_table`. What is proved of each is in [theory.md](theory.md).\n\n\
        ## When to choose which\n\n| learner | in one line | usual passes |\n|---|---|---|\n"
        .to_string();
    for learner in learners() {
        let _ = writeln!(text, "| `{}` | {} | {} |", learner.name, learner.summary, learner.usual_epochs);
    }
    text.push_str(
        "\n## What each can do\n\n\
         *Row by row*: learns from streams, and can be stopped and resumed at any row; the others need all rows.\n\
         *Out of core*: the rows may stay in their file. *Weights*: rows and classes can count more than others.\n\
         *Probabilities*: the scores are the logarithm of the odds (for `sgd`, with the log loss).\n\
         Learners that do not tell many classes apart by themselves learn each class against the rest.\n\n| learner |",
    );
    for (ability, _) in ABILITIES {
        let _ = write!(text, " {ability} |");
    }
    text.push_str("\n|---|");
    text.push_str(&"---|".repeat(ABILITIES.len()));
    for learner in learners() {
        let _ = write!(text, "\n| `{}` |", learner.name);
        for (_, has) in ABILITIES {
            text.push_str(if has(&learner.abilities) { " yes |" } else { " |" });
        }
    }
    text.push_str("\n\nWhy a learner has no shards, or no weights for rows and classes:\n\n");
    for learner in learners() {
        for (what, ability) in [("shards", learner.abilities.shards), ("weights", learner.abilities.weights)]
        {
            if let Some(reason) = ability.reason() {
                let _ = writeln!(text, "- `{}`, {what}: {}.", learner.name, plain(reason));
            }
        }
    }
    text.push_str(
        "\n## Options\n\n\
         On the command line an option is `--name value`, with hyphens for underscores; in a specification, `name = value`.\n",
    );
    for learner in learners().iter().filter(|learner| !learner.options.is_empty()) {
        options(&mut text, learner);
    }
    text
}

fn options(text: &mut String, learner: &Descriptor) {
    let _ = write!(
        text,
        "\n### `{}`\n\n| option | meaning | values | default |\n|---|---|---|---|\n",
        learner.name
    );
    for option in learner.options {
        let OptionDescriptor { name, help, default, .. } = option;
        let _ = writeln!(text, "| `{name}` | {} | {} | {default} |", plain(help), values(option));
    }
}

/// The values of an option.
fn values(option: &OptionDescriptor) -> String {
    let auto = option.auto.map_or(String::new(), |meaning| format!(", or `auto`: {meaning}"));
    match option.kind {
        OptionKind::Choice(choices) => {
            let listed: Vec<String> =
                choices.iter().map(|choice| format!("`{}`: {}", choice.name, plain(choice.help))).collect();
            listed.join("<br>")
        }
        OptionKind::Whole { .. } => format!("{}: whole number {}{auto}", option.symbol, option.kind),
        kind => format!("{}: {kind}{auto}", option.symbol),
    }
}

#[test]
fn the_page_of_learners_is_true() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/learners.md");
    let expected = document();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &expected).expect("write the page");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "docs/learners.md is stale: run UPDATE_DOCS=1 cargo test -p linsep --test main learners_table"
    );
}

//! The form of a training job: the learners, the settings that they share, and the options of reading, as data for front ends that
//! show or generate one.

use crate::features::{Missing, TermKind, TermWeights};
use crate::read::FORMATS;
use crate::train::{Descriptor, OptionDescriptor, OptionKind};
use serde_json::{Value, json};

/// The description of a learner, with its options.
pub fn learner_form(learner: &Descriptor) -> Value {
    let abilities = &learner.abilities;
    json!({
        "name": learner.name,
        "title": learner.title,
        "summary": learner.summary,
        "usual_epochs": learner.usual_epochs,
        "options": learner.options.iter().map(option_form).collect::<Vec<_>>(),
        "row_by_row": abilities.row_by_row,
        "weights": abilities.weights.is_yes(),
        "shards": abilities.shards.is_yes(),
        "start": abilities.start.is_yes(),
        "start_at_first_row": abilities.start_at_first_row.is_yes(),
        "mistake_rule": abilities.mistake_rule,
        "traces_mistakes": abilities.traces_mistakes,
        "probabilities": abilities.probabilities,
        "many_classes": abilities.many_classes,
    })
}

fn option_form(option: &OptionDescriptor) -> Value {
    let (kind, values) = match option.kind {
        OptionKind::Number(_) => ("number", Vec::new()),
        OptionKind::Whole { .. } => ("whole", Vec::new()),
        OptionKind::Size => ("size", Vec::new()),
        OptionKind::Choice(choices) => (
            "choice",
            choices.iter().map(|choice| json!({"name": choice.name, "help": choice.help})).collect(),
        ),
    };
    json!({
        "name": option.name,
        "kind": kind,
        "values": values,
        "range": option.kind.to_string(),
        "auto": option.auto,
        "default": option.default,
        "help": option.help,
    })
}

/// The settings that learners share: name, kind, choices, help, and which learners have it.
pub fn settings_form() -> Vec<Value> {
    let entry = |name: &str, kind: &str, values: &[&str], of: &str, help: &str| {
        let values: Vec<Value> = values.iter().map(|&word| json!({"name": word, "help": ""})).collect();
        json!({"name": name, "kind": kind, "values": values, "of": of, "help": help})
    };
    vec![
        entry("epochs", "whole", &[], "all", "the largest number of passes over the rows"),
        entry(
            "scale",
            "choice",
            &["auto", "none", "max-abs", "standard", "unit-rows"],
            "all",
            "how features are scaled, fitted on the training rows; 'auto' chooses for each feature, and \
             does not scale without a bias. The scaled rows are a copy of 8 bytes per value; 'none' makes \
             no copy",
        ),
        entry(
            "order",
            "choice",
            &["given", "shuffle-once", "shuffle"],
            "all",
            "in which order rows are visited",
        ),
        entry("seed", "whole", &[], "all", "the seed of all shuffles"),
        entry(
            "bias",
            "choice",
            &["append", "none"],
            "all",
            "whether the boundary has a bias, or goes \
               through the origin",
        ),
        entry("bias_scale", "number", &[], "all", "the value of the appended coordinate; None for 1"),
        entry(
            "init",
            "choice",
            &["zero", "first"],
            "start_at_first_row",
            "where to start: at zero, or at the first row, which counts as an update",
        ),
        entry(
            "mistake",
            "choice",
            &["nonpositive", "negative"],
            "mistake_rule",
            "whether a score of exactly 0 counts as a mistake",
        ),
        entry(
            "shards",
            "whole",
            &[],
            "shards",
            "the number of shards that are trained in parallel and mixed after every pass; None for 1",
        ),
        entry("mixing", "choice", &["uniform", "updates"], "shards", "how much each shard counts"),
        entry("max_updates", "whole", &[], "all", "stop after this many updates"),
        entry("max_seconds", "number", &[], "all", "stop after this many seconds"),
        entry(
            "class_weight",
            "class_weight",
            &[],
            "weights",
            "the weight of the rows of each class: 'balanced', or a dict from class to weight; None for 1",
        ),
        entry(
            "probabilities",
            "flag",
            &[],
            "all",
            "whether to calibrate the scores to probabilities, by cross-validation",
        ),
        entry(
            "features",
            "choice",
            &["plain", "splines", "pairs", "splines+pairs"],
            "all",
            "which features are added to the columns, such as splines; None for none",
        ),
    ]
}

/// The options of reading: name, label, kind, choices, help, where it is in [`ReadOptions`](crate::read::ReadOptions), and for which
/// kind of data. The kinds are text, list (texts), pairs (of texts), choice, whole, answer (true or false, or not said) and flag.
pub fn reading_form() -> Vec<Value> {
    let entry = |at: &str, label: &str, kind: &str, of: &str, help: &str| {
        // What messages call it: the last part of its place, but for two whose place says more.
        let name = match at {
            "csv.columns" => "column",
            "text.columns" => "text",
            "text.weights" => "text_weights",
            at => at.rsplit('.').next().unwrap_or(at),
        };
        let choices = |names: Vec<&str>| names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>();
        let values = match at {
            "format" => choices(FORMATS.iter().map(|format| format.name).collect()),
            "csv.missing" => choices(Missing::ALL.iter().map(|missing| missing.name()).collect()),
            "text.terms" => choices(TermKind::ALL.iter().map(|kind| kind.name()).collect()),
            "text.weights" => choices(TermWeights::ALL.iter().map(|weights| weights.name()).collect()),
            _ => Vec::new(),
        };
        json!({"name": name, "at": at, "label": label, "kind": kind, "values": values, "of": of, "help": help})
    };
    vec![
        entry("csv.label", "label column", "text", "tables", "by name or number from 1; the last if empty"),
        entry("csv.ignore", "columns to leave out", "list", "tables", "by name or number from 1"),
        entry("csv.delimiter", "delimiter", "text", "tables", "one character, or tab or space"),
        entry("csv.header", "header row", "answer", "tables", "whether the first row names the columns"),
        entry("csv.missing", "missing cells", "choice", "tables", "what becomes of them"),
        entry(
            "csv.na",
            "words for missing cells",
            "list",
            "tables",
            "in every column; empty cells always are missing",
        ),
        entry(
            "csv.columns",
            "what columns hold",
            "pairs",
            "tables",
            "such as zip=words: words, text, number, decimal-point, decimal-comma, date, day-first or month-first",
        ),
        entry(
            "csv.sheet",
            "sheet of the workbook",
            "text",
            "tables",
            "by name or number from 1; the first if empty",
        ),
        entry("format", "format", "choice", "files", ""),
        entry("encoding", "encoding", "text", "files", "of a text, such as windows-1252"),
        entry("libsvm.index_base", "first index", "whole", "files", "of a feature in LIBSVM text: 0 or 1"),
        entry(
            "text.columns",
            "columns of texts",
            "list",
            "texts",
            "by name or number from 1; each word becomes a feature",
        ),
        entry("text.terms", "terms", "choice", "texts", "what a term of a text is made of"),
        entry("text.ngrams", "neighbours in a term", "text", "texts", "such as 2 or 1-2"),
        entry("text.weights", "value of a term", "choice", "texts", ""),
        entry(
            "text.min_count",
            "rows that have a term",
            "whole",
            "texts",
            "the fewest for a term to become a feature",
        ),
        entry("text.max_vocabulary", "most terms", "whole", "texts", ""),
        entry(
            "text.hash_bits",
            "bits of the hash",
            "whole",
            "texts",
            "4 to 24; terms are then numbered by a hash",
        ),
        entry("text.words", "these words alone", "list", "texts", ""),
        entry(
            "pictures.size",
            "size of pictures",
            "text",
            "pictures",
            "all are brought to it, such as 32x32",
        ),
        entry("max_features", "most features", "whole", "limits", "what is more is refused"),
        entry("max_classes", "most classes", "whole", "limits", "what is more is refused"),
        entry("max_line", "longest line", "whole", "limits", "in bytes, at least 1000000"),
        entry(
            "csv.auto",
            "leave out identifiers and constant columns",
            "flag",
            "tables",
            "columns that do not generalise to new rows",
        ),
        entry("skip_bad", "skip malformed rows", "flag", "files", ""),
        entry("pictures.colour", "red, green and blue as features", "flag", "pictures", ""),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{FORMATS, ReadOptions};

    /// Each field is one that reading knows, and every option that a format has a meaning for has a field; but for what only a second
    /// file or a folder needs.
    #[test]
    fn the_form_of_reading_is_that_of_the_options() {
        let form = reading_form();
        for field in &form {
            let value = match (field["kind"].as_str().unwrap(), field["at"].as_str().unwrap()) {
                ("text", "text.ngrams") => json!("1-2"),
                ("text", "pictures.size") => json!("8x8"),
                ("text", _) => json!(";"),
                ("list", _) => json!(["a", "b"]),
                ("pairs", _) => json!({"a": "words"}),
                ("choice", _) => field["values"][0]["name"].clone(),
                ("whole", _) => json!(1),
                ("answer" | "flag", _) => json!(true),
                (kind, _) => panic!("{kind}"),
            };
            let at: Vec<&str> = field["at"].as_str().unwrap().split('.').collect();
            let options = at.iter().rev().fold(value, |inner, &name| json!({ name: inner }));
            let read = serde_json::from_value::<ReadOptions>(options);
            assert!(read.as_ref().is_ok_and(|read| *read != ReadOptions::default()), "{field}: {read:?}");
        }
        let named = |option: &str| form.iter().any(|field| field["name"] == option || field["of"] == option);
        for format in FORMATS {
            for option in format.options.iter().filter(|option| !["labels", "max_file"].contains(option)) {
                assert!(named(option) || (*option == "text_options" && named("texts")), "{option}");
            }
        }
    }
}

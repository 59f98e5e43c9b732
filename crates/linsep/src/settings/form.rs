//! The form of a training job: the learners, the settings that they share, and the options of reading, as data for front ends that
//! show or generate one.

use super::setting::Kind;
use super::table::{LEARN, READ, RUN, Tables, full_place};
use crate::train::{Choice, Descriptor, OptionDescriptor, OptionKind};
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
        "always_converges": abilities.always_converges,
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

/// The settings of a training job that forms show: name, place, kind, choices, help, default, and which learners have it.
pub fn settings_form() -> Vec<Value> {
    entries(&[("", LEARN), ("", RUN)])
}

/// The settings of reading that forms show, with their labels and for which kind of data they are. The places are those of
/// [`ReadOptions`](crate::read::ReadOptions).
pub fn reading_form() -> Vec<Value> {
    entries(&[("", READ)])
}

/// The entries of a form. The kinds are text, list (of texts), pairs (of texts), choice, whole, number, size, class_weight and flag.
/// Each choice says which value it stands for.
fn entries(tables: Tables) -> Vec<Value> {
    let mut entries = Vec::new();
    for (prefix, settings) in tables {
        for setting in *settings {
            let Some(form) = setting.form else { continue };
            let kind = match setting.kind {
                Kind::Flag => "flag",
                Kind::Text | Kind::Checked(_) | Kind::File | Kind::FileOrColumn(_) => "text",
                Kind::List | Kind::Learners => "list",
                Kind::Pairs(_) => "pairs",
                Kind::Whole(..) => "whole",
                Kind::Number => "number",
                Kind::Size => "size",
                Kind::Own { .. } => setting.name,
                Kind::Truth(_) | Kind::Choice(_) | Kind::WordOrFile(_) | Kind::Format | Kind::Learner => {
                    "choice"
                }
            };
            let choice = |choice: Choice| {
                let value = setting.value(&[choice.name.to_owned()]).ok().filter(|value| !value.is_null())?;
                Some(json!({"name": choice.name, "help": choice.help, "value": value}))
            };
            let label =
                if form.label.is_empty() { setting.name.replace('_', " ") } else { form.label.to_owned() };
            entries.push(json!({
                "name": setting.name,
                "at": full_place(prefix, setting.at).trim_start_matches("read."),
                "label": label,
                "kind": kind,
                "values": setting.choices().into_iter().filter_map(choice).collect::<Vec<Value>>(),
                "of": form.of,
                "help": setting.help,
                "default": setting.default,
                // Other texts than these words name files, which are not for a form.
                "words_only": matches!(setting.kind, Kind::WordOrFile(_)),
            }));
        }
    }
    entries
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
                ("choice", _) => field["values"][0]["value"].clone(),
                ("whole" | "size", _) => json!(10),
                ("flag", _) => json!(true),
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

//! How texts name settings: as data, which each front end spells in its own language.
//!
//! A text that names a setting writes `⟦field⟧` or `⟦field=value⟧`. The command line spells the second `--field value`,
//! Python spells it `field="value"`, and a form shows its own label. [`plain`] is the spelling of the library itself.

use serde_json::Value;

/// A setting that a text names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mention<'a> {
    /// The name of the field, in snake case.
    pub field: &'a str,
    /// The value that the text names, if any.
    pub value: Option<&'a str>,
}

/// The text with each setting spelled by `spell`.
pub fn spelled(text: &str, spell: impl Fn(Mention<'_>) -> String) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('⟦') {
        let Some((inside, behind)) = after.split_once('⟧') else { break };
        result.push_str(before);
        result.push_str(&spell(mention(inside)));
        rest = behind;
    }
    result.push_str(rest);
    result
}

/// The settings that a text names, in order. Those with a value are what it proposes to do.
pub fn mentions(text: &str) -> Vec<Mention<'_>> {
    let parts = text.split('⟦').skip(1);
    parts.filter_map(|part| part.split_once('⟧')).map(|(inside, _)| mention(inside)).collect()
}

/// The text with settings spelled as in the library: `field`, or `field = value`.
pub fn plain(text: &str) -> String {
    spelled(text, |Mention { field, value }| match value {
        Some(value) => format!("{field} = {value}"),
        None => field.to_string(),
    })
}

/// Whether a field of a record holds sentences of the library. All other texts of a record are names, which stay as they are.
pub fn holds_sentence(field: &str) -> bool {
    matches!(field, "stopped" | "coefficients_stopped" | "reason")
}

/// Spells the settings in the sentences of a record.
pub fn spell_record(record: &mut Value, spell: &impl Fn(&str) -> String) {
    match record {
        Value::Array(items) => items.iter_mut().for_each(|item| spell_record(item, spell)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if holds_sentence(name) => *text = spell(text),
                    value => spell_record(value, spell),
                }
            }
        }
        _ => {}
    }
}

/// The expected kind of a value that serde rejects: `expected a number`. Where serde says no more than that the
/// value is wrong, these are its words.
pub fn needed(error: &serde_json::Error) -> String {
    let text = error.to_string().replace('`', "");
    let Some((_, wanted)) = text.rsplit_once("expected ") else { return text };
    let wanted = match wanted {
        "u64" | "u32" | "usize" => "a whole number of 0 or more",
        "f64" => "a number",
        "a string" | "string" => "a text",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        other => other,
    };
    format!("expected {wanted}")
}

fn mention(inside: &str) -> Mention<'_> {
    match inside.split_once('=') {
        Some((field, value)) => Mention { field, value: Some(value) },
        None => Mention { field: inside, value: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_spelled_and_the_rest_stays() {
        let text = "give ⟦class_weight⟧, or choose ⟦bias=none⟧: α ⟦ is open";
        assert_eq!(plain(text), "give class_weight, or choose bias = none: α ⟦ is open");
        assert_eq!(
            mentions(text),
            [Mention { field: "class_weight", value: None }, Mention { field: "bias", value: Some("none") }]
        );
        assert_eq!(spelled("⟦⟧⟧", |mention| format!("<{}>", mention.field)), "<>⟧");
    }

    #[test]
    fn sentences_of_a_record_are_spelled_and_names_stay() {
        use serde_json::json;
        let mut record = json!({
            "stopped": "late; ⟦time⟧ sets another",
            "table": [{"blame": {"stopped": "see ⟦bias=none⟧", "rows": [{"label": "⟦a⟧"}]}, "stopped": null}],
        });
        spell_record(&mut record, &|text| plain(text));
        let expected = json!({
            "stopped": "late; time sets another",
            "table": [{"blame": {"stopped": "see bias = none", "rows": [{"label": "⟦a⟧"}]}, "stopped": null}],
        });
        assert_eq!(record, expected);
    }

    #[test]
    fn a_wrong_value_is_told_what_is_needed() {
        use serde_json::json;
        let of = |error: serde_json::Error| needed(&error);
        let whole = |value| of(serde_json::from_value::<u64>(value).unwrap_err());
        for value in [json!("many"), json!(-1), json!(1.5), json!(null), json!({"a": 1})] {
            assert_eq!(whole(value), "expected a whole number of 0 or more");
        }
        assert_eq!(of(serde_json::from_value::<f64>(json!("x")).unwrap_err()), "expected a number");
        #[derive(Debug, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        enum Order {
            Given,
            ShuffleOnce,
            Shuffle,
        }
        let order = of(serde_json::from_value::<Order>(json!("by-size")).unwrap_err());
        assert_eq!(order, "expected one of given, shuffle-once, shuffle");
    }
}

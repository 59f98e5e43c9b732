//! Jobs that pages ask for: the specification of the command line, on a data set that is open.

mod classes;
mod compare;
mod report;
mod separate;
mod train;

use crate::data::DataSet;
use crate::results::Kept;
use crate::server::App;
use crate::watch::Listener;
use linsep::job::{CompareSpec, SeparateSpec, Spec, TrainSpec};
use linsep::settings::{OF_COMPARE, OF_SEPARATE, OF_TRAIN, Tables, unknown};
use linsep::spelling::needed;
use linsep::{Dataset, Error};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The greatest whole number up to which a page has all of them.
const MAX_EXACT: u64 = (1 << 53) - 1;

/// The specification in a request, and the id of its data.
pub(crate) fn parse(value: Value) -> Result<(Spec, String), String> {
    let Value::Object(mut fields) = value else { return Err("a job is a JSON object".to_string()) };
    let job = fields.remove("job").and_then(|job| job.as_str().map(str::to_string));
    let job = job.ok_or("the job has no field job, such as \"train\"")?;
    let id = match fields.remove("data") {
        Some(Value::Object(data)) if data.keys().all(|key| key == "source") => {
            data.get("source").and_then(Value::as_str).map(str::to_string)
        }
        _ => None,
    };
    let id = id.ok_or("the job names its data as {\"source\": ID}, with an id that this server gave")?;
    let spec = match job.as_str() {
        "train" => {
            check(&fields, OF_TRAIN)?;
            if let Some(init) = fields.get("init")
                && init != "zero"
                && init != "first"
            {
                return Err("init is zero or first".to_string());
            }
            Spec::Train(Box::new(read::<TrainSpec>(fields)?))
        }
        "separate" => {
            check(&fields, OF_SEPARATE)?;
            Spec::Separate(read::<SeparateSpec>(fields)?)
        }
        "compare" => {
            check(&fields, OF_COMPARE)?;
            Spec::Compare(read::<CompareSpec>(fields)?)
        }
        other => {
            return Err(format!("there is no job \"{other}\"; the jobs are train, separate and compare"));
        }
    };
    Ok((spec, id))
}

/// Refuses what a page may not give: what names files, or changes how rows are held.
fn check(fields: &Map<String, Value>, tables: Tables) -> Result<(), String> {
    let others = unknown(tables, &Value::Object(fields.clone()), |setting| setting.page);
    if let Some(other) = others.first() {
        let known = tables.iter().flat_map(|(_, settings)| *settings).filter(|setting| setting.page);
        let names: Vec<&str> = known.map(|setting| setting.at).collect();
        return Err(format!("a page cannot set \"{other}\"; it can set {}", names.join(", ")));
    }
    Ok(())
}

fn read<T: DeserializeOwned>(mut fields: Map<String, Value>) -> Result<T, String> {
    fields.insert("data".to_string(), json!({"source": "-"}));
    // Read one by one, the fields tell which of them is wrong.
    for (name, value) in fields.iter().filter(|(name, _)| *name != "data") {
        let alone =
            Map::from_iter([(name.clone(), value.clone()), ("data".to_string(), json!({"source": "-"}))]);
        if let Err(error) = serde_json::from_value::<T>(Value::Object(alone)) {
            return Err(match (name.as_str(), value) {
                ("classes", classes) if classes.get("weight").is_some() => wrong_weight(&classes["weight"]),
                ("bias", bias) if bias.get("scale").is_some() => wrong("bias scale", &bias["scale"], &error),
                (name, value) => wrong(&name.replace('_', " "), value, &error),
            });
        }
    }
    serde_json::from_value(Value::Object(fields)).map_err(|error| needed(&error))
}

/// The problem with the value of a control, which is named as on the page.
pub(crate) fn wrong(control: &str, value: &Value, error: &serde_json::Error) -> String {
    let needed = needed(error);
    match value {
        // The page sends such numbers as texts: as its own numbers they would be others.
        Value::String(text) if text.parse::<u64>().is_ok_and(|number| number > MAX_EXACT) => format!(
            "“{control}” is {text}: a page has whole numbers up to {MAX_EXACT}; larger ones can be given on the command line."
        ),
        Value::String(text) => format!("“{control}” is “{text}”: {needed}."),
        Value::Number(number) => format!("“{control}” is {number}: {needed}."),
        _ => format!("“{control}”: {needed}."),
    }
}

/// The problem with weights of classes, as the control of the page has them: the first that is no number.
fn wrong_weight(weight: &Value) -> String {
    let pairs = weight.get("named").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let of_class = pairs.iter().find(|pair| !pair[1].is_number());
    match of_class.map(|pair| (pair[0].as_str().unwrap_or_default(), &pair[1])) {
        Some((class, Value::String(text))) if !text.is_empty() => {
            format!("“class weight” is “{text}” for “{class}”, but must be a number.")
        }
        Some((text, Value::Null)) => {
            format!("“class weight” is “{text}”, but must be balanced, or CLASS=WEIGHT separated by commas.")
        }
        Some((class, _)) => format!("“class weight” is empty for “{class}”, but must be a number."),
        None => "“class weight” must be balanced, or CLASS=WEIGHT separated by commas.".to_string(),
    }
}

/// Runs a job on a data set: the answer to the page, and the stored result, with or without the way to the result.
pub(crate) fn run(
    app: &App,
    set: &DataSet,
    spec: Spec,
    history: bool,
    listener: &Listener,
) -> Result<(Value, Kept), Error> {
    let mut id = [0; 12];
    getrandom::fill(&mut id).map_err(|error| Error::Rows {
        place: set.name.clone(),
        problem: format!("no random numbers: {error}"),
    })?;
    let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let (mut result, kept) = match spec {
        Spec::Train(spec) => train::run(app, set, *spec, id, history, listener)?,
        Spec::Separate(spec) => separate::run(app, set, spec, id, listener)?,
        Spec::Compare(spec) => compare::run(app, set, spec, id, listener)?,
        _ => return Err(Error::Interrupted),
    };
    result["id"] = json!(kept.id);
    result["command"] = json!((app.command)(&kept.spec));
    result["parts"] = json!({
        "model": kept.model.is_some(),
        "trace": kept.trace.is_some(),
        "certificate": kept.certificate.is_some(),
        "drawing": !kept.drawing.is_empty(),
    });
    Ok((result, kept))
}

/// The rows of the classes that are kept, in their order.
pub(crate) fn rows_of(data: &Dataset, only: &[String]) -> Vec<u32> {
    if only.is_empty() {
        return (0..data.len() as u32).collect();
    }
    let kept: Vec<bool> = data.classes().iter().map(|class| only.contains(class)).collect();
    let labels = data.labels();
    (0..data.len() as u32).filter(|&i| kept[labels[i as usize] as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_no_file() {
        let data = json!({"source": "square"});
        let (spec, id) =
            parse(json!({"job": "train", "data": data, "learner": "perceptron", "epochs": 5})).unwrap();
        assert!(matches!(spec, Spec::Train(spec) if spec.epochs == Some(5)) && id == "square");
        for field in
            ["output", "checkpoint", "resume", "trace", "comparator", "teaching_set", "memory", "online"]
        {
            let error = parse(json!({"job": "train", "data": data, field: "/tmp/x"})).unwrap_err();
            assert!(error.contains(field), "{error}");
        }
        for request in [
            json!({"job": "train", "data": data, "init": "/etc/passwd"}),
            json!({"job": "train", "data": data, "classes": {"row_weights": "/etc/passwd"}}),
            json!({"job": "train", "data": {"source": "square", "cache": true}}),
            json!({"job": "train", "data": {"source": "square", "read": {"array": {"labels_file": "/etc/passwd"}}}}),
            json!({"job": "separate", "data": data, "output": "/tmp/x"}),
            json!({"job": "predict", "model": "/etc/passwd", "data": data}),
            json!({"job": "train"}),
            json!([]),
        ] {
            assert!(parse(request.clone()).is_err(), "{request}");
        }
    }

    #[test]
    fn a_wrong_value_is_named_with_its_field() {
        let request = json!({"job": "train", "data": {"source": "xor"}, "epochs": "many", "seed": 1});
        let error = parse(request).unwrap_err();
        assert_eq!(error, "“epochs” is “many”: expected a whole number of 0 or more.");
        let request = json!({"job": "train", "data": {"source": "xor"}, "seed": "9007199254740993"});
        let error = parse(request).unwrap_err();
        assert!(
            error.contains("“seed” is 9007199254740993: a page has whole numbers up to 9007199254740991")
        );
        for (pair, said) in [
            (json!(["a", "much"]), "“class weight” is “much” for “a”, but must be a number."),
            (json!(["a", ""]), "“class weight” is empty for “a”, but must be a number."),
            (
                json!(["much", null]),
                "“class weight” is “much”, but must be balanced, or CLASS=WEIGHT separated by commas.",
            ),
        ] {
            let weight = json!({"weight": {"named": [["b", 2], pair]}});
            let job = json!({"job": "train", "data": {"source": "xor"}, "classes": weight});
            assert_eq!(parse(job).unwrap_err(), said);
        }
        let bias = json!({"scale": "wide"});
        let error = parse(json!({"job": "train", "data": {"source": "xor"}, "bias": bias})).unwrap_err();
        assert_eq!(error, "“bias scale” is “wide”: expected a number.");
    }
}

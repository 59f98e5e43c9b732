//! Labels that look like something else than classes: a measurement, a date, an identifier. Usually the wrong column was
//! taken for the label.

use super::DataSpec;
use crate::dataset::Dataset;
use crate::features::dates::looks_like_date;
use crate::features::{ColumnKind, Schema};
use crate::numbers::grouped;
use crate::observe::{Note, Observer};
use crate::read::{Format, excerpt};
use crate::{Error, SettingsError};

/// More classes than this in a column that nobody named as the label are refused.
const MAX_GUESSED: usize = 100;

/// Fewer rows tell nothing about whether nearly every one has a label of its own.
const FEW_ROWS: usize = 20;

/// Numbers with more classes than this look like a measurement.
const FEW_NUMBERS: usize = 20;

/// Column names that say that the column is the label.
const NAMES: [&str; 8] = ["class", "label", "target", "y", "outcome", "category", "species", "diagnosis"];

/// Warns of labels that do not look like classes; refuses them where the column was only guessed to be the label.
pub(super) fn check(
    spec: &DataSpec,
    format: Format,
    schema: &Schema,
    data: &Dataset,
    observer: &mut dyn Observer,
) -> Result<(), Error> {
    let Schema::Table { header, columns, .. } = schema else { return Ok(()) };
    let Some(label) = columns.iter().find(|column| column.kind == ColumnKind::Label) else { return Ok(()) };
    // A cache was made with its label in mind.
    if format == Format::LINSEP && !spec.cache {
        return Ok(());
    }
    let named = spec.read.csv.label.is_some()
        || *header && NAMES.iter().any(|name| label.name.eq_ignore_ascii_case(name));
    let is_last = columns.last().is_some_and(|column| column.kind == ColumnKind::Label);
    let place = if is_last { "the last" } else { "the last that is not ignored" };
    let Some(what) = look(data) else {
        if !named && *header {
            let name = &label.name;
            observer.note(Note::Remark(&format!(
                "The label is column \"{name}\", {place}; ⟦label⟧ names another."
            )));
        }
        return Ok(());
    };
    let classes = data.class_counts().iter().filter(|&&count| count > 0).count();
    let example = data.classes().first().map_or("", String::as_str);
    let found =
        format!("{} classes, such as \"{}\": {what}", grouped(classes as u64), excerpt(example.as_bytes()));
    if named {
        observer.note(Note::Caution(&format!("the label, column \"{}\", has {found}", label.name)));
        return Ok(());
    }
    let problem = format!(
        "{}: column \"{}\", {place}, was taken as the label, and has {found}. Name the label column with \
         ⟦label⟧; if it is this one, use ⟦label={}⟧",
        spec.source.name(),
        label.name,
        label.name
    );
    Err(SettingsError::new("label", problem).into())
}

/// The apparent kind of the labels, if they do not look like classes.
fn look(data: &Dataset) -> Option<&'static str> {
    let rows = data.len();
    let counts = data.class_counts();
    let names: Vec<&str> = (0..counts.len())
        .filter(|&class| counts[class] > 0)
        .map(|class| data.classes()[class].as_str())
        .collect();
    let numbers = names.iter().all(|name| name.parse::<f64>().is_ok());
    let fractions = || names.iter().any(|name| name.parse::<f64>().is_ok_and(|number| number.fract() != 0.0));
    match names.len() {
        0..=2 => None,
        classes if classes > FEW_NUMBERS && numbers && (fractions() || classes * 10 > rows) => {
            Some("they look like a measurement, and linsep predicts classes")
        }
        _ if names.iter().all(|name| looks_like_date(name)) => Some("they look like dates or times"),
        classes if rows >= FEW_ROWS && classes * 2 > rows => Some("most rows have a unique class"),
        classes if classes > MAX_GUESSED => Some("unusually many"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {

    use crate::job::{ClassSpec, TrainSpec};
    use crate::read::Source;

    fn trained(text: &str, label: Option<&str>) -> Result<usize, String> {
        let mut spec = TrainSpec { epochs: Some(1), ..TrainSpec::default() };
        spec.data.source = Source::Shared("rows.csv".into(), text.as_bytes().into());
        spec.data.read.csv.label = label.map(String::from);
        spec.classes = ClassSpec::default();
        let trained = spec.run(&mut ()).map_err(|error| error.to_string())?;
        Ok(trained.model.classes.outcomes().len())
    }

    fn table(header: &str, label: impl Fn(usize) -> String) -> String {
        let rows = (0..300).map(|i| format!("{},{}\n", i % 7, label(i)));
        format!("{header}\n{}", rows.collect::<String>())
    }

    #[test]
    fn a_guessed_label_that_looks_like_none_is_refused() {
        for (label, what) in [
            ((|i| format!("{}.5", i % 50)) as fn(usize) -> String, "they look like a measurement"),
            (|i| format!("2024-01-{:02}", i % 28 + 1), "they look like dates or times"),
            (|i| format!("row {i}"), "most rows have a unique class"),
            (|i| format!("w{}", i % 120), "unusually many"),
        ] {
            let text = table("x,last", label);
            let refused = trained(&text, None).unwrap_err();
            assert!(refused.contains(what) && refused.contains("column \"last\""), "{refused}");
            assert!(trained(&text, Some("last")).is_ok());
            assert!(trained(&table("x,class", label), None).is_ok());
        }
    }

    #[test]
    fn ordinary_labels_are_accepted() {
        for label in [
            (|i| format!("{}", i % 10)) as fn(usize) -> String,
            |i| format!("letter {}", i % 26),
            |i| format!("{}", i % 25),
            |i| if i % 2 == 0 { "2024-01-01".into() } else { "2024-02-01".into() },
        ] {
            assert!(trained(&table("x,last", label), None).is_ok());
        }
    }

    #[test]
    fn few_classes_are_learned_together_and_very_many_one_by_one() {
        let text = table("x,last", |i| format!("{}", i % 10));
        let spec = TrainSpec { epochs: Some(1), ..TrainSpec::default() };
        let of = |text: &str, learner: Option<&str>| {
            let mut spec = TrainSpec { learner: learner.map(String::from), ..spec.clone() };
            spec.data.source = Source::Shared("rows.csv".into(), text.as_bytes().into());
            spec.run(&mut ()).unwrap().model.settings.learner.name()
        };
        assert_eq!(of(&text, None), "multiclass");
        assert_eq!(of(&text, Some("averaged")), "averaged");
        assert_eq!(of(&table("x,last", |i| format!("{}", i % 2)), None), "averaged");
        let many: String = (0..2400).map(|i| format!("{i},c{}\n", i % 1200)).collect();
        assert_eq!(of(&format!("x,class\n{many}"), None), "averaged");
    }
}

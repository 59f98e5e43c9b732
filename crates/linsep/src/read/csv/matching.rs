//! The columns of a file against those that a model was trained with.

use super::columns::{CellUse, Column, Places, Role, TextCells, Word, roles, some_of};
use super::dialect::nowhere;
use super::records::Fault;
use crate::features::{CellForm, FeatureKind, MISSING_WORD, Number, Words};
use crate::numbers::counted;
use crate::read::error::ReadErrorKind;
use crate::read::{self, ColumnKind, Labels, ReadOptions, Schema};
use std::collections::HashMap;

/// The columns of the file at hand, as the model uses them, and a remark about those that it does not use, or about how they
/// were matched.
pub(super) fn match_columns(
    names: Vec<String>,
    has_header: bool,
    schema: &Schema,
    options: &ReadOptions,
) -> Result<(Vec<Column>, Option<String>), Fault> {
    if !options.csv.columns.is_empty() {
        let reason = "⟦column⟧ does not apply here: the model stores the kinds of its columns".to_string();
        return Err(nowhere(ReadErrorKind::Misused(reason)));
    }
    let Schema::Table { header, columns: model, .. } = schema else {
        let remark = has_header.then(|| NAMES_NOT_USED.to_string());
        let found = names.len();
        let columns = by_order(names, schema.features(), options).map_err(|fault| match (schema, &fault.kind) {
            (Schema::Pictures(form), ReadErrorKind::ColumnCount { .. }) => {
                let (columns, width, height) = (counted(found as u64, "column", "columns"), form.width, form.height);
                let reason = format!(
                    "the model was trained on pictures of {width}x{height} pixels, and this is a text with {columns}"
                );
                nowhere(ReadErrorKind::NotForModel(reason))
            }
            _ => fault,
        })?;
        return Ok((columns, remark));
    };
    let features = schema.features();
    let out_of_range = model.iter().find(|column| {
        let outside = |kind: &dyn FeatureKind| kind.features().iter().any(|&feature| feature >= features);
        column.kind.features().is_some_and(outside)
    });
    if let Some(column) = out_of_range {
        // Only a damaged model has such a column; it must not make rows that reach outside its weights.
        return Err(no_model_column(&names, &column.name));
    }
    let documents =
        model.iter().find(|column| matches!(&column.kind, ColumnKind::Text(text) if text.documents));
    let has_name = |column: &read::Column| has_header && names.contains(&column.name);
    let (columns, remark) =
        if let Some(text) = documents.filter(|text| !options.text.columns.is_empty() || !has_name(text)) {
            (of_documents(names, text, options)?, None)
        } else if *header && has_header {
            by_name(names, model, options)?
        } else {
            let remark = match (*header, has_header) {
                (true, _) => Some(NO_HEADER),
                (false, true) => Some(NAMES_NOT_USED),
                // Neither has names: there is no other way.
                (false, false) => None,
            };
            (by_place(names, model, options)?, remark.map(str::to_string))
        };
    check_named(&columns, options)?;
    // A model whose labels were in a second file knows no column of them.
    let labelled = columns.iter().any(|column| matches!(column.used_for, CellUse::Label));
    if options.labels == Labels::Required && !labelled {
        let why = match documents {
            Some(_) => "it was trained on documents",
            None => "it was trained with ⟦labels⟧",
        };
        let reason = format!(
            "the model stores no label column ({why}): name the column with ⟦label⟧, or the file of labels \
             with ⟦labels⟧"
        );
        return Err(nowhere(ReadErrorKind::Misused(reason)));
    }
    Ok((columns, remark))
}

fn no_model_column(names: &[String], wanted: &str) -> Fault {
    nowhere(ReadErrorKind::NoModelColumn { column: wanted.to_string(), columns: some_of(names) })
}

/// Nothing but the count of the columns tells whether these are the right ones.
const NO_HEADER: &str =
    "The file has no header: its columns are matched with those of the model by their position.";
const NAMES_NOT_USED: &str = "The model stores no column names: the columns of the file are matched with \
                              its features by position, and the header is not used.";

/// The model needs all of its features: none can be left out, or be the label.
fn check_named(columns: &[Column], options: &ReadOptions) -> Result<(), Fault> {
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let places = Places::of(&names);
    let refuse = |reason| Err(nowhere(ReadErrorKind::Misused(reason)));
    for wanted in &options.csv.ignore {
        let needed = match columns[places.find(wanted)?].used_for {
            CellUse::Number { .. } | CellUse::Words { .. } | CellUse::Text(_) => true,
            CellUse::Label => options.labels == Labels::Required,
            CellUse::Ignored => false,
        };
        if needed {
            return refuse(format!(
                "⟦ignore⟧ leaves out column \"{wanted}\", which the model needs: take it out of ⟦ignore⟧"
            ));
        }
    }
    if options.labels == Labels::Required
        && let Some(wanted) = &options.csv.label
        && !matches!(columns[places.find(wanted)?].used_for, CellUse::Label)
    {
        return refuse(format!(
            "⟦label⟧ names column \"{wanted}\", which is not the label column of this model: name that one"
        ));
    }
    Ok(())
}

fn by_name(
    names: Vec<String>,
    model: &[read::Column],
    options: &ReadOptions,
) -> Result<(Vec<Column>, Option<String>), Fault> {
    let mut parts: Vec<Option<CellUse>> = names.iter().map(|_| None).collect();
    let places: HashMap<&String, usize> = names.iter().zip(0..).collect();
    for column in model {
        match (places.get(&column.name), &column.kind) {
            (Some(&place), kind) => parts[place] = Some(part(kind, options)),
            (None, ColumnKind::Number { .. } | ColumnKind::Words { .. } | ColumnKind::Text(_)) => {
                return Err(no_model_column(&names, &column.name));
            }
            (None, ColumnKind::Label)
                if options.labels == Labels::Required && options.csv.label.is_none() =>
            {
                return Err(no_model_column(&names, &column.name));
            }
            (None, _) => {}
        }
    }
    if options.labels == Labels::Required
        && let Some(wanted) = &options.csv.label
    {
        for part in parts.iter_mut().filter(|part| matches!(part, Some(CellUse::Label))) {
            *part = Some(CellUse::Ignored);
        }
        let place = Places::of(&names).find(wanted)?;
        // A feature stays one, and is refused as a label later.
        if !matches!(parts[place], Some(CellUse::Number { .. } | CellUse::Words { .. } | CellUse::Text(_))) {
            parts[place] = Some(CellUse::Label);
        }
    }
    let extra: Vec<&String> =
        names.iter().zip(&parts).filter(|(_, part)| part.is_none()).map(|(name, _)| name).collect();
    let remark = (!extra.is_empty()).then(|| {
        let shown = extra.iter().take(3).map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let more = if extra.len() > 3 { ", …" } else { "" };
        let noun = if extra.len() == 1 { "column is" } else { "columns are" };
        format!("{} {noun} not in the model and ignored: {shown}{more}.", extra.len())
    });
    let columns =
        names.into_iter().zip(parts).map(|(name, part)| Column::new(name, part.unwrap_or(CellUse::Ignored)));
    Ok((columns.collect(), remark))
}

/// The columns of a table for a model of documents, none of which is called as documents are: the one that the user names is
/// the text, or the only one there is.
fn of_documents(
    names: Vec<String>,
    text: &read::Column,
    options: &ReadOptions,
) -> Result<Vec<Column>, Fault> {
    let refuse = |reason| Err(nowhere(ReadErrorKind::Misused(reason)));
    let places = Places::of(&names);
    let label = match (&options.csv.label, options.labels) {
        (Some(wanted), Labels::Required) => Some(places.find(wanted)?),
        _ => None,
    };
    let place = match options.text.columns.as_slice() {
        [wanted] => places.find(wanted)?,
        [] if names.len() == 1 => 0,
        [] => {
            return refuse(format!(
                "the model was trained on documents, and this table has {} columns ({}): name the one that holds the texts \
                 with ⟦text⟧",
                names.len(),
                some_of(&names)
            ));
        }
        _ => {
            return refuse(
                "⟦text⟧ names one column here: the model was trained on one text a row".to_string(),
            );
        }
    };
    if label == Some(place) {
        return refuse(format!(
            "column \"{}\" is named by ⟦label⟧ and by ⟦text⟧: leave it out of one of them",
            names[place]
        ));
    }
    let column = |(j, name): (usize, String)| {
        let used_for = match j {
            _ if j == place => part(&text.kind, options),
            _ if Some(j) == label => CellUse::Label,
            _ => CellUse::Ignored,
        };
        Column::new(name, used_for)
    };
    Ok(names.into_iter().enumerate().map(column).collect())
}

/// Without names the columns have the order of the training file; the label may be left out where none is needed.
fn by_place(names: Vec<String>, model: &[read::Column], options: &ReadOptions) -> Result<Vec<Column>, Fault> {
    let label_at = model.iter().position(|column| column.kind == ColumnKind::Label);
    let may_lack_label = options.labels == Labels::Ignored && label_at.is_some();
    let lacks_label = may_lack_label && names.len() + 1 == model.len();
    if names.len() != model.len() && !lacks_label {
        return Err(wrong_count(names.len(), model.len(), may_lack_label.then(|| model.len() - 1)));
    }
    let used = model.iter().enumerate().filter(|&(j, _)| !(lacks_label && Some(j) == label_at));
    Ok(used.map(|(_, column)| Column::new(column.name.clone(), part(&column.kind, options))).collect())
}

/// A model without columns: the numbers of a row are its features in order.
fn by_order(names: Vec<String>, features: usize, options: &ReadOptions) -> Result<Vec<Column>, Fault> {
    let used = names.len().saturating_sub(roles_ignored(&names, options)?);
    let labelled = options.labels == Labels::Required || used == features + 1;
    if used != features + usize::from(labelled) {
        let without = (options.labels == Labels::Ignored).then_some(features);
        return Err(wrong_count(used, features + 1, without));
    }
    let roles = roles(&names, options, labelled)?;
    let mut next = 0;
    let columns = names.into_iter().zip(roles).map(|(name, role)| {
        let part = match role {
            Role::Label => CellUse::Label,
            Role::Ignored => CellUse::Ignored,
            Role::Feature => {
                next += 1;
                CellUse::Number {
                    feature: next - 1,
                    on_missing: options.csv.missing.of_model_number(None, None),
                    form: CellForm::Plain,
                }
            }
        };
        Column::new(name, part)
    });
    Ok(columns.collect())
}

/// How many columns the user leaves out.
fn roles_ignored(names: &[String], options: &ReadOptions) -> Result<usize, Fault> {
    let places = Places::of(names);
    let mut ignored =
        options.csv.ignore.iter().map(|wanted| places.find(wanted)).collect::<Result<Vec<_>, _>>()?;
    ignored.sort_unstable();
    ignored.dedup();
    Ok(ignored.len())
}

fn wrong_count(found: usize, expected: usize, without_label: Option<usize>) -> Fault {
    let expected = match without_label {
        Some(fewer) => format!("{expected}, or {fewer} without the label"),
        None => expected.to_string(),
    };
    nowhere(ReadErrorKind::ColumnCount { found, expected })
}

fn part(kind: &ColumnKind, options: &ReadOptions) -> CellUse {
    match kind {
        ColumnKind::Label => CellUse::Label,
        ColumnKind::Ignored => CellUse::Ignored,
        ColumnKind::Number(Number { feature, fill, gap, form }) => CellUse::Number {
            feature: *feature as u32,
            on_missing: options.csv.missing.of_model_number(*fill, *gap),
            form: *form,
        },
        ColumnKind::Text(text) => {
            CellUse::Text(Box::new(TextCells::new(text.clone()).keeping_hashed(options.keep_hashed_terms)))
        }
        ColumnKind::Words(Words { words, optional, rare }) => CellUse::Words {
            rare: rare.as_ref().map(|rare| rare.feature as u32),
            words: words
                .iter()
                .map(|(text, feature)| (text.clone(), Word { feature: *feature as u32, number: false }))
                .collect(),
            on_missing: {
                let category = words.iter().any(|(word, _)| word == MISSING_WORD);
                options.csv.missing.of_model_words(category, *optional)
            },
        },
    }
}

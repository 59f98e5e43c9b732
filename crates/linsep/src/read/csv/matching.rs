//! The columns of a file against those that a model was trained with.

use super::columns::{Column, OnMissing, Part, Role, Word, find, no_such_column, roles};
use super::dialect::nowhere;
use super::records::Fault;
use crate::read::error::ReadErrorKind;
use crate::read::{self, ColumnKind, Labels, Missing, ReadOptions, Schema};

/// The columns of the file at hand, as the model uses them, and a remark about those that it does not use.
pub(super) fn match_columns(
    names: Vec<String>,
    has_header: bool,
    schema: &Schema,
    options: &ReadOptions,
) -> Result<(Vec<Column>, Option<String>), Fault> {
    let Schema::Table { header, columns: model, .. } = schema else {
        return Ok((by_order(names, schema.features(), options)?, None));
    };
    let features = schema.features();
    let out_of_range = model.iter().find(|column| match &column.kind {
        ColumnKind::Number { feature, .. } => *feature >= features,
        ColumnKind::Words { words, .. } => words.iter().any(|&(_, feature)| feature >= features),
        _ => false,
    });
    if let Some(column) = out_of_range {
        // Only a damaged model says so; it must not make rows that reach outside its weights.
        return Err(no_such_column(&names, &column.name));
    }
    let (columns, remark) = if *header && has_header {
        by_name(names, model, options)?
    } else {
        (by_place(names, model, options)?, None)
    };
    check_named(&columns, options)?;
    Ok((columns, remark))
}

/// The model needs all of its features: none can be left out, or be the label.
fn check_named(columns: &[Column], options: &ReadOptions) -> Result<(), Fault> {
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let refuse = |reason| Err(nowhere(ReadErrorKind::Misused(reason)));
    for wanted in &options.ignore {
        let needed = match columns[find(&names, wanted)?].part {
            Part::Number { .. } | Part::Words { .. } => true,
            Part::Label => options.labels == Labels::Required,
            Part::Ignored => false,
        };
        if needed {
            return refuse(format!("⟦ignore⟧ leaves out column \"{wanted}\", which the model needs"));
        }
    }
    if options.labels == Labels::Required
        && let Some(wanted) = &options.label
        && !matches!(columns[find(&names, wanted)?].part, Part::Label)
    {
        return refuse(format!("⟦label⟧ names column \"{wanted}\", which is not the label for this model"));
    }
    Ok(())
}

fn by_name(
    names: Vec<String>,
    model: &[read::Column],
    options: &ReadOptions,
) -> Result<(Vec<Column>, Option<String>), Fault> {
    let mut parts: Vec<Option<Part>> = names.iter().map(|_| None).collect();
    for column in model {
        let place = names.iter().position(|name| *name == column.name);
        match (place, &column.kind) {
            (Some(place), kind) => parts[place] = Some(part(kind, options)),
            (None, ColumnKind::Number { .. } | ColumnKind::Words { .. }) => {
                return Err(no_such_column(&names, &column.name));
            }
            (None, ColumnKind::Label) if options.labels == Labels::Required && options.label.is_none() => {
                return Err(no_such_column(&names, &column.name));
            }
            (None, _) => {}
        }
    }
    if options.labels == Labels::Required
        && let Some(wanted) = &options.label
    {
        for part in parts.iter_mut().filter(|part| matches!(part, Some(Part::Label))) {
            *part = Some(Part::Ignored);
        }
        let place = find(&names, wanted)?;
        // A feature stays one, and is refused as a label later.
        if !matches!(parts[place], Some(Part::Number { .. } | Part::Words { .. })) {
            parts[place] = Some(Part::Label);
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
        names.into_iter().zip(parts).map(|(name, part)| Column::new(name, part.unwrap_or(Part::Ignored)));
    Ok((columns.collect(), remark))
}

/// Without names the columns stand as they stood for the model; the label may be left out where none is needed.
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
            Role::Label => Part::Label,
            Role::Ignored => Part::Ignored,
            Role::Feature => {
                next += 1;
                Part::Number { feature: next - 1, on_missing: number_missing(None, options.missing) }
            }
        };
        Column::new(name, part)
    });
    Ok(columns.collect())
}

/// How many columns the user leaves out.
fn roles_ignored(names: &[String], options: &ReadOptions) -> Result<usize, Fault> {
    let mut ignored =
        options.ignore.iter().map(|wanted| find(names, wanted)).collect::<Result<Vec<_>, _>>()?;
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

fn part(kind: &ColumnKind, options: &ReadOptions) -> Part {
    match kind {
        ColumnKind::Label => Part::Label,
        ColumnKind::Ignored => Part::Ignored,
        ColumnKind::Number { feature, fill } => {
            Part::Number { feature: *feature as u32, on_missing: number_missing(*fill, options.missing) }
        }
        ColumnKind::Words { words, optional } => Part::Words {
            words: words
                .iter()
                .map(|(text, feature)| (text.clone(), Word { feature: *feature as u32, number: false }))
                .collect(),
            on_missing: match options.missing {
                _ if *optional => OnMissing::Unset,
                Missing::Refuse => OnMissing::Unknown,
                Missing::Mean | Missing::Zero => OnMissing::Unset,
                Missing::DropRow => OnMissing::DropRow,
            },
        },
    }
}

/// What the model filled in, otherwise what the user asks for; the model's mean is not known without a fill.
fn number_missing(fill: Option<f64>, missing: Missing) -> OnMissing {
    match (fill, missing) {
        (Some(value), _) => OnMissing::Fill(value),
        (None, Missing::Refuse | Missing::Mean) => OnMissing::Unknown,
        (None, Missing::Zero) => OnMissing::Fill(0.0),
        (None, Missing::DropRow) => OnMissing::DropRow,
    }
}

//! Tables of counts: a column that says how often each row occurs.

use crate::Error;
use crate::SettingsError;
use crate::dataset::Row;
use crate::features::{ColumnKind, Schema};
use crate::numbers::{counted, grouped};
use crate::read::Loaded;

/// Takes the column of counts out of the features, and the rows that occur not at all out of the rows. The others count as
/// often as it says.
pub(super) fn take(loaded: &mut Loaded, name: &str, source: &str) -> Result<(), Error> {
    let refuse = |problem: String| Err(Error::from(SettingsError::new("weights", problem)));
    let Schema::Table { columns, features, .. } = &mut loaded.schema else {
        return refuse(format!(
            "⟦weights⟧ names a column of a table, and {} files have none",
            loaded.format.title()
        ));
    };
    let by_number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let by_name = columns.iter().position(|column| column.name == name);
    let Some(column) = by_name.or(by_number).and_then(|place| columns.get_mut(place)) else {
        return refuse(format!(
            "⟦weights⟧ names neither a file that exists nor a column of the table: \"{name}\""
        ));
    };
    let taken = match &column.kind {
        ColumnKind::Number(number) => number.feature,
        ColumnKind::Words(_) => {
            return refuse(format!("the column \"{name}\" of ⟦weights⟧ holds words, not counts"));
        }
        ColumnKind::Text(_) => {
            return refuse(format!("the column \"{name}\" of ⟦weights⟧ holds texts, not counts"));
        }
        ColumnKind::Label | ColumnKind::Ignored => {
            return refuse(format!("the column \"{name}\" of ⟦weights⟧ is the label, or left out"));
        }
    };
    column.kind = ColumnKind::Ignored;
    let data = &loaded.dataset;
    let missing = data.filled_cells().unwrap_or_default().iter().find(|cell| cell.1 as usize == taken);
    if let Some(&(row, _)) = missing {
        let place = format!("{source}:{}", data.line(row as usize));
        return Err(Error::Rows { place, problem: format!("the count in column \"{name}\" is missing") });
    }
    let mut counts = Vec::with_capacity(data.len());
    for i in 0..data.len() {
        let count = data.row(i).iter().find(|&(j, _)| j == taken).map_or(0.0, |(_, value)| value);
        if !(0.0..=1e15).contains(&count) {
            let place = format!("{source}:{}", data.line(i));
            let problem =
                format!("{count} in column \"{name}\" is no count: a number from 0 to 1e15 is needed");
            return Err(Error::Rows { place, problem });
        }
        counts.push(count);
    }
    let occurring: Vec<usize> = (0..data.len()).filter(|&i| counts[i] > 0.0).collect();
    let rows = occurring.iter().map(|&i| counts[i]).sum::<f64>();
    loaded.notes.remarks.push(format!(
        "Column \"{name}\" counts rows: {} stand for {}{}.",
        counted(occurring.len() as u64, "row", "rows"),
        if rows.fract() == 0.0 { grouped(rows as u64) } else { rows.to_string() },
        match data.len() - occurring.len() {
            0 => String::new(),
            none => format!("; {} with the count 0 are left out", grouped(none as u64)),
        }
    ));
    // Features after it move up.
    let numbers: Vec<Option<u32>> =
        (0..features.len()).map(|j| (j != taken).then(|| (j - usize::from(j > taken)) as u32)).collect();
    for kind in columns.iter_mut().filter_map(|column| column.kind.features_mut()) {
        kind.renumber(&numbers);
    }
    features.remove(taken);
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    let kept = data.subset(&occurring)?.map_rows_to(features.len(), |row, keep| {
        indices.clear();
        values.clear();
        let is_dense = matches!(row, Row::DenseF32(_) | Row::DenseF64(_));
        for (j, value) in row.iter() {
            if let Some(number) = numbers[j] {
                indices.push(number);
                values.push(value);
            }
        }
        keep(if is_dense { Row::DenseF64(&values) } else { Row::SparseF64(&indices, &values) });
    })?;
    // Expanded to one row each, the table would not show a class that occurs not at all.
    let kept = kept.renamed(features.clone()).without_empty_classes();
    loaded.dataset = kept.with_weights(occurring.iter().map(|&i| counts[i]).collect())?;
    loaded.fingerprint = None;
    Ok(())
}

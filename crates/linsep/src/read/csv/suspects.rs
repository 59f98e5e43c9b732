//! Columns that nothing general is learned from: identifiers of the rows, and columns that are always the same.

use super::columns::{CellUse, Column, Draft, Role};
use super::records::{Record, Records};
use crate::features::RowNames;
use crate::read::number::parse_number;
use std::collections::HashSet;

/// Rows from which on a column that is different in every row is suspected of naming them.
const ENOUGH_ROWS: u64 = 20;

/// Why a column is suspected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suspicion {
    /// Every cell is the same.
    Constant,
    /// Words of which none occurs twice.
    DifferentWords,
    /// Whole numbers, each the one before it and one more.
    CountsUp,
    /// Different whole numbers in a column with the name of an identifier.
    NamedIdentifier,
}

impl Suspicion {
    /// The rows that it takes.
    pub(super) fn enough_rows(self) -> u64 {
        if self == Suspicion::Constant { 2 } else { ENOUGH_ROWS }
    }

    /// How the cells name the rows, if they do.
    pub(super) fn names_rows(self) -> Option<RowNames> {
        match self {
            Suspicion::DifferentWords => Some(RowNames::DifferentWords),
            Suspicion::CountsUp => Some(RowNames::CountsUp),
            Suspicion::Constant | Suspicion::NamedIdentifier => None,
        }
    }

    /// The reason, as the end of a sentence about a column.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Suspicion::Constant => "has the same value in every row: nothing can be learned from it",
            Suspicion::DifferentWords => RowNames::DifferentWords.reason(),
            Suspicion::CountsUp => RowNames::CountsUp.reason(),
            Suspicion::NamedIdentifier => {
                "has a different whole number in every row, and the name of an identifier"
            }
        }
    }
}

/// What the cells of a column have in common so far.
struct Watch {
    rows: u64,
    first: Vec<u8>,
    constant: bool,
    /// Whether each number is the one before it and one more, and what would come next.
    counts_up: bool,
    next: f64,
    different: Option<HashSet<Vec<u8>>>,
    is_number: bool,
}

impl Watch {
    fn of(column: &Column) -> Option<Self> {
        let (is_number, different) = match column.used_for {
            CellUse::Number { form, .. } if form.is_plain() => (true, is_called_identifier(&column.name)),
            CellUse::Number { .. } => (true, false),
            CellUse::Words { .. } => (false, true),
            CellUse::Text(_) | CellUse::Label | CellUse::Ignored => return None,
        };
        Some(Self {
            rows: 0,
            first: Vec::new(),
            constant: true,
            counts_up: is_number,
            next: 0.0,
            different: different.then(HashSet::new),
            is_number,
        })
    }

    fn is_alive(&self) -> bool {
        self.constant || self.counts_up || self.different.is_some()
    }

    fn add(&mut self, cell: &[u8]) {
        let cell = cell.trim_ascii();
        self.rows += 1;
        let number = if self.is_number { parse_number(cell) } else { None };
        self.counts_up = self.counts_up
            && number.is_some_and(|number| number.fract() == 0.0 && (self.rows == 1 || number == self.next));
        self.next = number.map_or(0.0, |number| number + 1.0);
        if self.rows == 1 {
            self.first = cell.to_vec();
        } else {
            self.constant = self.constant && cell == self.first;
        }
        if let Some(different) = &mut self.different {
            let is_whole = !self.is_number || number.is_some_and(|number| number.fract() == 0.0);
            if !is_whole || !different.insert(cell.to_vec()) {
                self.different = None;
            }
        }
    }

    /// What the rows so far do not rule out.
    fn suspicions(&self) -> impl Iterator<Item = Suspicion> {
        let different = match self.is_number {
            true => Suspicion::NamedIdentifier,
            false => Suspicion::DifferentWords,
        };
        [
            (self.constant, Suspicion::Constant),
            (self.counts_up, Suspicion::CountsUp),
            (self.different.is_some() && !self.counts_up, different),
        ]
        .into_iter()
        .filter_map(|(holds, suspicion)| holds.then_some(suspicion))
    }
}

/// Whether a column has one of the usual names of identifiers, or none at all.
fn is_called_identifier(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let usual =
        ["id", "rownames", "row.names", "index", "uuid", "unnamed: 0", "rowid", "row_id", "no.", "nr"];
    usual.contains(&lower.as_str())
        || lower.ends_with("_id")
        || lower.ends_with(" id")
        || name.ends_with("Id")
        || name.ends_with("ID")
}

/// The columns of features that are suspected, by the rows of the text, and how many rows that were. Most columns are
/// cleared by the first rows, and the text is read no further than until all are.
pub(super) fn suspects(
    draft: &Draft,
    records: &mut Records,
    columns: &[Column],
) -> (Vec<(usize, Suspicion)>, u64) {
    let mut watches: Vec<Option<Watch>> = columns.iter().map(Watch::of).collect();
    let mut record = Record::default();
    let mut header = draft.header;
    let mut rows = 0;
    records.rewind();
    while watches.iter().flatten().any(Watch::is_alive)
        && let Ok(true) = records.next(&mut record)
    {
        if record.misshape(columns.len()).is_some() || std::mem::take(&mut header) {
            continue;
        }
        rows += 1;
        for (j, watch) in watches.iter_mut().enumerate() {
            if let Some(watch) = watch.as_mut().filter(|watch| watch.is_alive()) {
                watch.add(record.cell(j));
            }
        }
    }
    let found = |(j, watch): (usize, &Option<Watch>)| {
        watch.iter().flat_map(Watch::suspicions).map(|suspicion| (j, suspicion)).collect::<Vec<_>>()
    };
    (watches.iter().enumerate().flat_map(found).collect(), rows)
}

/// Leaves the suspected columns out, unless no other column is left to learn from.
pub(super) fn leave_out(draft: &mut Draft, suspects: &[(usize, Suspicion)]) -> Vec<String> {
    let features = draft.roles.iter().filter(|&&role| role == Role::Feature).count();
    if suspects.is_empty() || suspects.len() == features {
        return Vec::new();
    }
    let mut remarks = Vec::new();
    for &(j, suspicion) in suspects {
        draft.roles[j] = Role::Ignored;
        remarks.push(format!(
            "Column \"{}\" {}. It is left out (⟦auto⟧).",
            draft.names[j],
            suspicion.reason()
        ));
    }
    remarks
}

/// A suspicion about a column of numbers that the first rows gave, against the rows that come later.
#[derive(Clone)]
pub(super) struct Suspect {
    pub(super) column: usize,
    pub(super) suspicion: Suspicion,
    feature: Option<u32>,
    /// The number that comes next.
    next: Option<f64>,
    /// The numbers so far, if they must be different.
    different: HashSet<u64>,
}

impl Suspect {
    pub(super) fn new(column: usize, suspicion: Suspicion, columns: &[Column]) -> Self {
        let feature = match columns[column].used_for {
            CellUse::Number { feature, .. } => Some(feature),
            _ => None,
        };
        Self { column, suspicion, feature, next: None, different: HashSet::new() }
    }

    /// Looks at a value of the column; `false` clears it.
    pub(super) fn still(&mut self, value: f64) -> bool {
        let step = match self.suspicion {
            Suspicion::Constant => 0.0,
            Suspicion::CountsUp => 1.0,
            Suspicion::NamedIdentifier => return self.different.insert(value.to_bits()),
            Suspicion::DifferentWords => return true,
        };
        let expected = self.next.replace(value + step);
        expected.is_none_or(|expected| expected == value)
    }

    pub(super) fn feature(&self) -> Option<usize> {
        self.feature.map(|feature| feature as usize)
    }
}

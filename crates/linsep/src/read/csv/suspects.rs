//! Columns that nothing general is learned from: identifiers of the rows, and columns that are always the same.

use super::columns::{CellUse, Column, Draft, Role};
use super::records::{Record, Records};
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
    /// The reason, as the end of a sentence about a column.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Suspicion::Constant => "has the same value in every row: nothing can be learned from it",
            Suspicion::DifferentWords => "has a different word in every row: it looks like an identifier",
            Suspicion::CountsUp => "counts the rows: it looks like an identifier",
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
    /// The number that would come next.
    next: Option<f64>,
    different: Option<HashSet<Vec<u8>>>,
    is_number: bool,
}

impl Watch {
    fn of(column: &Column) -> Option<Self> {
        let (is_number, different) = match column.used_for {
            CellUse::Number { form, .. } if form.is_plain() => (true, is_called_identifier(&column.name)),
            CellUse::Number { .. } => (true, false),
            CellUse::Words { .. } => (false, true),
            CellUse::Label | CellUse::Ignored => return None,
        };
        Some(Self {
            rows: 0,
            first: Vec::new(),
            constant: true,
            next: None,
            different: different.then(HashSet::new),
            is_number,
        })
    }

    fn is_alive(&self) -> bool {
        self.constant || self.next.is_some() || self.different.is_some()
    }

    fn add(&mut self, cell: &[u8]) {
        let cell = cell.trim_ascii();
        self.rows += 1;
        let number = if self.is_number { parse_number(cell) } else { None };
        if self.rows == 1 {
            self.first = cell.to_vec();
            self.next = number.filter(|number| number.fract() == 0.0).map(|number| number + 1.0);
        } else {
            self.constant = self.constant && cell == self.first;
            self.next = self.next.filter(|&next| number == Some(next)).map(|next| next + 1.0);
        }
        if let Some(different) = &mut self.different {
            let is_whole = !self.is_number || number.is_some_and(|number| number.fract() == 0.0);
            if !is_whole || !different.insert(cell.to_vec()) {
                self.different = None;
            }
        }
    }

    fn suspicion(&self) -> Option<Suspicion> {
        match self {
            _ if self.rows < 2 => None,
            _ if self.constant => Some(Suspicion::Constant),
            _ if self.rows < ENOUGH_ROWS => None,
            _ if self.next.is_some() => Some(Suspicion::CountsUp),
            _ if self.different.is_some() && self.is_number => Some(Suspicion::NamedIdentifier),
            _ => self.different.as_ref().map(|_| Suspicion::DifferentWords),
        }
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

/// The columns of features that are suspected, by the rows of the text. Most columns are cleared by the first rows, and the
/// text is read no further than until all are.
pub(super) fn suspects(draft: &Draft, records: &mut Records, columns: &[Column]) -> Vec<(usize, Suspicion)> {
    let mut watches: Vec<Option<Watch>> = columns.iter().map(Watch::of).collect();
    let mut record = Record::default();
    let mut header = draft.header;
    records.rewind();
    while watches.iter().flatten().any(Watch::is_alive)
        && let Ok(true) = records.next(&mut record)
    {
        if record.misshape(columns.len()).is_some() || std::mem::take(&mut header) {
            continue;
        }
        for (j, watch) in watches.iter_mut().enumerate() {
            if let Some(watch) = watch.as_mut().filter(|watch| watch.is_alive()) {
                watch.add(record.cell(j));
            }
        }
    }
    let suspicion = |(j, watch): (usize, &Option<Watch>)| Some((j, watch.as_ref()?.suspicion()?));
    watches.iter().enumerate().filter_map(suspicion).collect()
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
#[derive(Clone, Copy)]
pub(super) struct Suspect {
    pub(super) column: usize,
    pub(super) suspicion: Suspicion,
    feature: Option<u32>,
    /// The number that comes next.
    next: Option<f64>,
}

impl Suspect {
    pub(super) fn new(column: usize, suspicion: Suspicion, columns: &[Column]) -> Self {
        let feature = match columns[column].used_for {
            CellUse::Number { feature, .. } => Some(feature),
            _ => None,
        };
        Self { column, suspicion, feature, next: None }
    }

    /// Looks at a value of the column; `false` clears it.
    pub(super) fn still(&mut self, value: f64) -> bool {
        let step = match self.suspicion {
            Suspicion::Constant => 0.0,
            Suspicion::CountsUp => 1.0,
            Suspicion::DifferentWords | Suspicion::NamedIdentifier => return true,
        };
        let expected = self.next.replace(value + step);
        expected.is_none_or(|expected| expected == value)
    }

    pub(super) fn feature(&self) -> Option<usize> {
        self.feature.map(|feature| feature as usize)
    }
}

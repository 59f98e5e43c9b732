//! Columns of free text, recognised by their first cells: sentences, most of them different.

use super::columns::{self, Role};
use super::records::{Fault, Record, Records};
use super::remarks;
use crate::read::ReadOptions;
use std::borrow::Cow;
use std::collections::HashSet;

/// Fewer rows tell nothing.
const ENOUGH_ROWS: usize = 20;
/// Rows that are looked at.
const MAX_ROWS: usize = 500;
/// Words of a cell, on average, from which on it is a sentence and not a name.
const MEAN_WORDS: usize = 5;

/// Which columns hold free text, as far as the first rows tell.
fn are_free(records: &mut Records, width: usize, header: bool) -> Vec<bool> {
    let mut words = vec![0; width];
    let mut different: Vec<HashSet<Vec<u8>>> = vec![HashSet::new(); width];
    let (mut record, mut rows, mut skip) = (Record::default(), 0, header);
    records.rewind();
    while rows < MAX_ROWS
        && let Ok(true) = records.next(&mut record)
    {
        if record.misshape(width).is_some() || std::mem::take(&mut skip) {
            continue;
        }
        rows += 1;
        for j in 0..width {
            let cell = record.cell(j);
            let is_word = |part: &&[u8]| part.iter().any(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80);
            words[j] += cell.split(u8::is_ascii_whitespace).filter(is_word).count();
            different[j].insert(cell.to_vec());
        }
    }
    let is_free =
        |j: usize| rows >= ENOUGH_ROWS && words[j] >= MEAN_WORDS * rows && different[j].len() * 2 > rows;
    (0..width).map(is_free).collect()
}

/// What follows from columns of free text, where the options leave it open: one is no label; and where nothing else can be
/// learned from, its words are features. Gives the options with that, and what the user should know.
pub(super) fn considered<'a>(
    options: &'a ReadOptions,
    names: &[String],
    records: &mut Records,
    header: bool,
) -> Result<(Cow<'a, ReadOptions>, Vec<String>), Fault> {
    let mut options = Cow::Borrowed(options);
    let mut remarks = Vec::new();
    let free = are_free(records, names.len(), header);
    if !free.contains(&true) {
        return Ok((options, remarks));
    }
    let labelled = options.array.labels_file.is_none();
    let roles = columns::roles(names, &options, labelled)?;
    let label = roles.iter().position(|&role| role == Role::Label);
    if let Some(label) = label.filter(|&j| free[j] && options.csv.label.is_none()) {
        let other = (0..names.len()).rev().find(|&j| roles[j] == Role::Feature && !free[j]);
        if let Some(other) = other {
            options.to_mut().csv.label = Some(names[other].clone());
            remarks.push(remarks::free_text_is_no_label(&names[label], &names[other]));
        }
    }
    let roles = columns::roles(names, &options, labelled)?;
    let asked = columns::asked(names, &options)?;
    let used: Vec<usize> = (0..names.len()).filter(|&j| roles[j] == Role::Feature).collect();
    for &j in used.iter().filter(|&&j| free[j] && asked[j].is_none()) {
        if used.len() == 1 && !options.online {
            options.to_mut().text.columns.push(names[j].clone());
            remarks.push(remarks::free_text_alone(&names[j]));
        } else {
            remarks.push(remarks::free_text(&names[j]));
        }
    }
    Ok((options, remarks))
}

//! Lines above a table that begin with `#`: comments, unless they are rows of the table or name its columns.

use super::dialect::{self, Sample};
use super::records::{Record, scan};
use super::settle::settle_dialect;
use super::spaces;
use crate::read::ReadOptions;
use crate::read::error::excerpt;
use crate::read::input::{BYTE_ORDER_MARK, Input};

/// Comments that were passed over.
pub(super) struct Comments {
    /// Lines that begin with `#`.
    pub(super) lines: u64,
    /// The first of them.
    pub(super) example: String,
}

/// Passes over the comments above a table. A line that begins with `#` and has as many cells as the rows is one of them, or
/// names the columns, unless the line after it does that.
pub(super) fn pass_over(input: &mut Input, options: &ReadOptions) -> Option<Comments> {
    if options.csv.delimiter == Some(b'#') {
        return None;
    }
    let end = loop {
        match end_of_comments(input.head()) {
            Some(0) => return None,
            Some(end) => break end,
            None if input.look_further(options.line_limit()) => {}
            // Where nothing else comes these are rows.
            None => return None,
        }
    };
    let lines_of = |text: &[u8]| memchr::memchr_iter(b'\n', text).count() as u64;
    let comments = input.head()[..end].to_vec();
    input.drop_front(end, lines_of(&comments));
    let kept = belonging_to_table(&comments, input, options);
    input.put_back(&comments[kept..], lines_of(&comments[kept..]));
    let mut dropped = lines_with_places(&comments[..kept]).filter(|(_, line)| !line.is_empty());
    let (_, first) = dropped.next()?;
    Some(Comments { lines: 1 + dropped.count() as u64, example: excerpt(first) })
}

/// Where each line begins, and the line without the white space around it.
fn lines_with_places(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mark = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let mut place = mark;
    text[mark..].split_inclusive(|&byte| byte == b'\n').map(move |line| {
        let start = place;
        place += line.len();
        (start, line.trim_ascii())
    })
}

/// Where the first line begins that is neither blank nor begins with `#`: 0 if no line begins so, `None` if there is no other.
fn end_of_comments(head: &[u8]) -> Option<usize> {
    let mut any = false;
    for (place, line) in lines_with_places(head) {
        match line.first() {
            None => {}
            Some(b'#') => any = true,
            Some(_) => return Some(if any { place } else { 0 }),
        }
    }
    // Blank lines alone are no comments.
    if any { None } else { Some(0) }
}

/// Where those of the lines begin that belong to the table below them.
fn belonging_to_table(comments: &[u8], table: &mut Input, options: &ReadOptions) -> usize {
    let (delimiter, width) = match settle_dialect(table, options) {
        Ok(dialect) => (Some(dialect.delimiter), dialect.width),
        Err(_) if spaces::divide(table.head(), options) => (None, spaces::width(table.head())),
        // Whatever is wrong is told by those who read on.
        Err(_) => return comments.len(),
    };
    let text = [comments, table.head()].concat();
    let mut record = Record::default();
    // The length of the row of the table that begins at a place, if it is one. A quoted cell may go over several lines.
    let mut row_at = |place: usize, line: &[u8]| match delimiter {
        None => {
            let cells = line.split(u8::is_ascii_whitespace).filter(|cell| !cell.is_empty()).count();
            (cells == width).then_some(line.len())
        }
        Some(delimiter) => {
            record.clear(0, 0);
            let row = scan(&text[place..], delimiter, table.head_is_all(), &mut record).ok().flatten()?;
            (record.fault.is_none() && record.width() == width).then_some(row.bytes)
        }
    };
    // Where the rows begin that nothing else comes after.
    let mut rows = None;
    let mut next = 0;
    for (place, line) in lines_with_places(comments) {
        if place < next || line.is_empty() {
            continue;
        }
        match row_at(place, line) {
            Some(length) => {
                next = place + length;
                rows.get_or_insert(place);
            }
            None => rows = None,
        }
    }
    let sample = Sample { bytes: table.head(), cut: !table.head_is_all() };
    let has_header = delimiter.is_some_and(|delimiter| {
        options.csv.header != Some(false) && dialect::names_numbers(sample, delimiter, width)
    });
    if has_header && width > 1 { comments.len() } else { rows.unwrap_or(comments.len()) }
}

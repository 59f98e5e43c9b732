//! Remarks for the user about a table that was read.

use super::columns::{CellUse, Column, Counts};
use super::comments::Comments;
use super::dialect::Dialect;
use super::suspects::{Suspect, Suspicion};
use super::titles::Titles;
use crate::features::{CellForm, OnMissing};
use crate::numbers;
use crate::read::{ColumnAs, Missing};
use std::collections::HashSet;

/// Columns that are named one by one.
const SHOWN: usize = 5;

/// What to do about a cell that is unlike the others of its column.
const STRAY: &str =
    "Correct the cell; or if it marks a missing value, list it with ⟦na⟧, along with all other such words.";

/// What to do about numbers that are not written alike.
const ONE_WAY: &str = "Write all of them in one way.";

/// Words of a column that are worth a remark, however many rows there are.
const MANY_WORDS: usize = 1000;

/// Words that a column may have without being suspected of naming its rows.
const FEW_WORDS: usize = 50;

pub(super) fn format(dialect: &Dialect, columns: &[Column]) -> String {
    let delimiter = match dialect.delimiter {
        b'\t' => "tab".to_string(),
        other => format!("'{}'", char::from(other)),
    };
    let header = if dialect.header.is_some() { "header" } else { "no header" };
    let count = |wanted: fn(&CellUse) -> bool| {
        columns.iter().filter(|column| wanted(&column.used_for)).count() as u64
    };
    let numbers = count(|part| matches!(part, CellUse::Number { .. }));
    let words = count(|part| matches!(part, CellUse::Words { .. }));
    let counted = |number, of| format!(", {} of {of}", numbers::counted(number, "column", "columns"));
    let kinds = match (numbers, words) {
        (0, 0) => String::new(),
        (0, words) => counted(words, "words"),
        (numbers, 0) => counted(numbers, "numbers"),
        (numbers, words) => format!("{}, {} of words", counted(numbers, "numbers"), numbers::grouped(words)),
    };
    format!("CSV, delimiter {delimiter}, {header}{kinds}")
}

/// Columns of words most of whose cells are numbers: a typing error in one cell turns a column into words.
/// Columns about which that was said already, with more reason, are left out.
pub(super) fn mixed(columns: &[Column], counts: &[Counts], rows: u64, said: &[String]) -> Vec<String> {
    let said: HashSet<&str> = said.iter().filter_map(|remark| read_as_words(remark)).collect();
    let remark = |(column, counts): (&Column, &Counts)| {
        if said.contains(column.name.as_str()) {
            return None;
        }
        let cells = rows.saturating_sub(counts.missing);
        let (word, line) = counts.first_word.as_ref().filter(|_| counts.numbers * 2 >= cells)?;
        let are = if counts.numbers == 1 { "is a number" } else { "are numbers" };
        // Where more cells are words, they may well be meant to be.
        let advice = if counts.numbers * 10 >= cells * 9 { format!(" {STRAY}") } else { String::new() };
        Some(format!(
            "Column \"{}\" is read as words: {} of its {} cells {are}, but not \"{word}\" on line {line}.{advice}",
            column.name,
            numbers::grouped(counts.numbers),
            numbers::grouped(cells)
        ))
    };
    columns.iter().zip(counts).filter_map(remark).take(SHOWN).collect()
}

/// What became of missing cells. With a model, that is what the model has learned, unless such cells are refused or their rows dropped.
pub(super) fn missing(
    columns: &[Column],
    counts: &[Counts],
    rows: u64,
    missing: Missing,
    has_model: bool,
) -> Vec<String> {
    let affected: Vec<(&Column, &Counts)> =
        columns.iter().zip(counts).filter(|(_, counts)| counts.missing > 0).collect();
    let mut remarks: Vec<String> = affected
        .iter()
        .take(SHOWN)
        .map(|(column, counts)| {
            let became = match column.used_for {
                CellUse::Number { on_missing: OnMissing::Fill(0.0), .. } if missing != Missing::Mean => {
                    "became zero".to_string()
                }
                CellUse::Number { on_missing: OnMissing::Leave, .. } if counts.missing == rows => {
                    "are its only values: nothing can be learned from it".to_string()
                }
                // Which rows the mean is taken over is decided later: all of them, or those that are not held out.
                CellUse::Number {
                    on_missing: OnMissing::Fill(_) | OnMissing::FillAndSay(..) | OnMissing::Leave,
                    ..
                } => format!(
                    "became the mean of the column{}",
                    if has_model { " in the training rows" } else { "" }
                ),
                CellUse::Words { on_missing: OnMissing::Category, .. } if counts.missing == 1 => {
                    "became a category of its own".to_string()
                }
                CellUse::Words { on_missing: OnMissing::Category, .. } => {
                    "became a category of their own".to_string()
                }
                _ if counts.missing == 1 => "was left without a category".to_string(),
                _ => "were left without a category".to_string(),
            };
            let cells = numbers::counted(counts.missing, "missing cell", "missing cells");
            let example = match &counts.missing_word {
                Some((word, line)) if counts.missing == 1 => format!(", \"{word}\" on line {line},"),
                Some((word, line)) => format!(", such as \"{word}\" on line {line},"),
                None => String::new(),
            };
            format!("{cells} in column \"{}\"{example} {became}.", column.name)
        })
        .collect();
    match affected.len().saturating_sub(SHOWN) {
        0 => {}
        1 => remarks.push("…and 1 more column with missing cells.".to_string()),
        more => remarks.push(format!("…and {more} more columns with missing cells.")),
    }
    let overrule = match (has_model, missing) {
        (false, _) => " ⟦missing⟧ chooses another treatment".to_string(),
        (true, Missing::Auto | Missing::Mean | Missing::Zero) => format!(
            " The model decides that, so ⟦missing={}⟧ has no effect; ⟦missing=refuse⟧ and \
             ⟦missing=drop-row⟧ have",
            missing.name()
        ),
        (true, _) => {
            " The model decides that; ⟦missing=refuse⟧ and ⟦missing=drop-row⟧ overrule it".to_string()
        }
    };
    let words = match affected.iter().any(|(_, counts)| counts.missing_word.is_some()) {
        true => "; ⟦na⟧ lists the words that mark a missing cell.",
        false => ".",
    };
    if let Some(last) = remarks.last_mut() {
        *last += &(overrule + words);
    }
    remarks
}

/// What is said where quotes are part of the words.
pub(super) const STRAY_QUOTES: &str = "Some cells have an unclosed quote (\"), so quotes are read as part \
                                       of the words. If cells are meant to be quoted, close every quote.";

/// A column of free text that would have been the label.
pub(super) fn free_text_is_no_label(column: &str, label: &str) -> String {
    format!("Column \"{column}\" holds free text, so the label is column \"{label}\"; ⟦label⟧ names another.")
}

/// A column of free text that is all there is to learn from.
pub(super) fn free_text_alone(column: &str) -> String {
    format!(
        "Column \"{column}\" holds free text: its words are the features, as with ⟦text={column}⟧. ⟦column={column}=words⟧ \
         would take each text as one word."
    )
}

/// A column of free text beside others.
pub(super) fn free_text(column: &str) -> String {
    format!(
        "Column \"{column}\" looks like free text, and each text of it is taken as one word. ⟦text={column}⟧ makes features \
         of the words in it."
    )
}

/// What is said where every row ends in a delimiter.
pub(super) const TRAILING_DELIMITER: &str =
    "Every row ends in a delimiter: the last column, which has no name and no cells, is left out.";

/// What is said of a first row that has the numbers of the columns.
pub(super) const COUNTED_HEADER: &str = "The first row numbers the columns, and its label occurs in no \
                                         other row: it is taken as a header. If it is a row, use ⟦header=no⟧.";

/// What stands above the header.
pub(super) fn titles(titles: &Titles) -> String {
    let what = titles
        .example
        .as_ref()
        .map_or("no cell of them holds anything".into(), |title| format!("\"{title}\""));
    let lines = numbers::counted(titles.lines, "line above the header is", "lines above the header are");
    format!("{lines} left out: {what}. If the table begins there, use ⟦header=no⟧.")
}

/// Comments above the table.
pub(super) fn comments(comments: &Comments) -> String {
    let lines =
        numbers::counted(comments.lines, "line above the table begins", "lines above the table begin");
    let are = if comments.lines == 1 { "is left out as a comment" } else { "are left out as comments" };
    format!("{lines} with # and {are}: \"{}\".", comments.example)
}

/// Whether all rows bear a suspicion out.
fn holds(suspect: &Suspect, columns: &[Column], counts: &[Counts], rows: u64) -> bool {
    let Suspect { column, suspicion, .. } = suspect;
    let is_so = match &columns[*column].used_for {
        CellUse::Words { words, .. } => {
            let different = if *suspicion == Suspicion::Constant { 1 } else { rows };
            words.len() as u64 == different && counts[*column].missing == 0
        }
        _ => true,
    };
    rows >= suspicion.enough_rows() && is_so
}

/// The suspicions that all rows bear out, but of columns of which more was said.
pub(super) fn borne_out<'a>(
    columns: &'a [Column],
    suspects: &'a [Suspect],
    counts: &'a [Counts],
    rows: u64,
    said: &'a [String],
) -> impl Iterator<Item = &'a Suspect> {
    let strays = with_strays(said);
    suspects.iter().filter(move |suspect| {
        holds(suspect, columns, counts, rows) && !strays.contains(columns[suspect.column].name.as_str())
    })
}

/// Columns that nothing general is learned from.
pub(super) fn suspects(
    columns: &[Column],
    suspects: &[Suspect],
    counts: &[Counts],
    rows: u64,
    said: &[String],
) -> Vec<String> {
    let remark = |suspect: &Suspect| {
        let column = &columns[suspect.column];
        // What becomes of columns that name the rows is said when it is known.
        if suspect.suspicion.names_rows().is_some() {
            return None;
        }
        Some(format!(
            "Column \"{}\" {}. Leave it out with ⟦ignore⟧ {}, or all such columns with ⟦auto⟧.",
            column.name,
            suspect.suspicion.reason(),
            argument(&column.name)
        ))
    };
    let constant = |suspect: &&Suspect| suspect.suspicion == Suspicion::Constant;
    let is_said = |suspect: &&Suspect| remark(suspect).is_some();
    let suspects: Vec<&Suspect> = borne_out(columns, suspects, counts, rows, said).collect();
    let names: Vec<&str> = suspects
        .iter()
        .copied()
        .filter(constant)
        .filter(is_said)
        .map(|suspect| columns[suspect.column].name.as_str())
        .collect();
    let others = suspects.iter().copied().filter(|suspect| names.len() < 3 || !constant(suspect));
    let mut said: Vec<String> = others.filter_map(remark).take(SHOWN).collect();
    if names.len() > 2 {
        let shown = names.iter().take(3).map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let more = if names.len() > 3 { ", …" } else { "" };
        said.push(format!(
            "{} columns have the same value in every row: {shown}{more}. Leave them out with ⟦auto⟧.",
            numbers::grouped(names.len() as u64)
        ));
    }
    said
}

/// Columns of words that look like names of the rows, from which nothing general is learned.
pub(super) fn identifiers(
    columns: &[Column],
    suspects: &[Suspect],
    counts: &[Counts],
    rows: u64,
    said: &[String],
) -> Vec<String> {
    let strays = with_strays(said);
    let suspected: HashSet<usize> = suspects.iter().map(|suspect| suspect.column).collect();
    let remark = |(j, (column, counts)): (usize, (&Column, &Counts))| {
        let CellUse::Words { words, .. } = &column.used_for else { return None };
        if strays.contains(column.name.as_str()) {
            return None;
        }
        // That was said with more reason.
        if suspected.contains(&j) && words.len() as u64 == rows {
            return None;
        }
        if words.len() <= FEW_WORDS || words.len() as u64 * 2 <= rows.saturating_sub(counts.missing) {
            return (words.len() >= MANY_WORDS).then(|| {
                format!(
                    "Column \"{}\" has {} different words. If they are names or codes, leave it out with ⟦ignore⟧ {}.",
                    column.name,
                    numbers::grouped(words.len() as u64),
                    argument(&column.name)
                )
            });
        }
        let name = &column.name;
        let argument = argument(name);
        Some(format!(
            "Column \"{name}\" has {} different words in {rows} rows: if it is an identifier, leave it out with \
             ⟦ignore⟧ {argument}.",
            words.len()
        ))
    };
    columns.iter().zip(counts).enumerate().filter_map(remark).take(SHOWN).collect()
}

/// A name of a column as an argument of an option.
fn argument(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    if plain { name.to_string() } else { format!("\"{name}\"") }
}

/// A name of a column and what it is, as an argument of an option.
fn assigned(name: &str, what: &str) -> String {
    let plain = name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    if plain { format!("⟦column⟧ {name}={what}") } else { format!("⟦column⟧ \"{name}={what}\"") }
}

/// A column whose cells become numbers in another way than plain numbers do. `other` is a way in which its cells could be
/// read too.
pub(super) fn guessed(
    name: &str,
    form: CellForm,
    example: &str,
    value: f64,
    other: Option<ColumnAs>,
) -> String {
    let (what, value) = match form {
        CellForm::Plain | CellForm::Styled(_) => ("numbers", (value + 0.0).to_string()),
        CellForm::Date(_) => ("dates", format!("day {} since 1970", (value * 1e4).round() / 1e4)),
        CellForm::Time => ("times", format!("{} hours", (value * 1e4).round() / 1e4)),
    };
    let overrule = assigned(name, "words");
    let other = other.map_or(String::new(), |other| {
        let means = match other {
            ColumnAs::DecimalComma => "If the comma is the decimal separator",
            ColumnAs::DecimalPoint => "If the point is the decimal separator",
            ColumnAs::DayFirst => "If they begin with the day",
            _ => "If they begin with the month",
        };
        format!(" {means}, use {}.", assigned(name, other.name()))
    });
    format!(
        "Column \"{name}\" holds {what}: \"{example}\" is read as {value}.{other} If these are words, use \
         {overrule}."
    )
}

/// A first row that may be a header of numbers.
pub(super) fn lonely_first_row(class: &str) -> String {
    format!("Only the first row has the label \"{class}\". If it names the columns, use ⟦header=yes⟧.")
}

/// Columns of codes: whole numbers, some of which begin with a zero.
pub(super) fn codes(columns: &[Column]) -> Vec<String> {
    let remark = |column: &Column| {
        let (name, example) = (&column.name, column.code_example.as_ref()?);
        let overrule = assigned(name, "number");
        Some(format!(
            "Column \"{name}\" holds codes, which are words: all are whole, and \"{example}\" begins with a \
             zero. If these are numbers, use {overrule}."
        ))
    };
    columns.iter().filter_map(remark).take(SHOWN).collect()
}

/// A column of numbers in a style, or of dates, but for a few cells.
pub(super) fn nearly(name: &str, example: &str, stray: &str, line: u64) -> String {
    format!(
        "Column \"{name}\" is read as words: nearly all its cells are like \"{example}\", but not \"{stray}\" on line \
         {line}. {STRAY}"
    )
}

/// The column that a remark says is read as words.
fn read_as_words(remark: &str) -> Option<&str> {
    remark.strip_prefix("Column \"")?.split_once("\" is read as words:").map(|(name, _)| name)
}

/// The columns that were said to be words because of a few cells: they are no identifiers.
fn with_strays(said: &[String]) -> HashSet<&str> {
    let has_stray = |remark: &&String| remark.ends_with(STRAY) || remark.ends_with(ONE_WAY);
    said.iter().filter(has_stray).filter_map(|remark| read_as_words(remark)).collect()
}

/// A column some of whose numbers have a percent sign, and others none.
pub(super) fn some_percents(name: &str, example: &str) -> String {
    format!(
        "Column \"{name}\" is read as words: some of its numbers have a percent sign, such as \"{example}\", and others have \
         none. {ONE_WAY}"
    )
}

/// A column of numbers whose commas may mean one thing or another.
pub(super) fn open_number(name: &str, example: &str) -> String {
    let (point, comma) = (assigned(name, "decimal-point"), assigned(name, "decimal-comma"));
    format!(
        "Column \"{name}\" is read as words: the file does not show whether the comma or point in \
         \"{example}\" is a decimal or a thousands separator. Use {point} or {comma}."
    )
}

/// A column whose cells may be telephone numbers or large numbers.
pub(super) fn telephone(name: &str, example: &str) -> String {
    let number = assigned(name, "number");
    format!(
        "Column \"{name}\" is read as words: all its cells have as many digits as \"{example}\", as \
         telephone numbers do. If they are numbers, use {number}."
    )
}

/// A column of whole numbers, some of which floats cannot hold.
pub(super) fn long_wholes(name: &str, example: &str) -> String {
    let argument = argument(name);
    format!(
        "Column \"{name}\" is read as words: \"{example}\" is a whole number beyond 2^53, which a float \
         cannot represent exactly. If it is an identifier, leave it out with ⟦ignore⟧ {argument}."
    )
}

/// A column of dates that may begin with the day or the month.
pub(super) fn open_date(name: &str, example: &str) -> String {
    let (day, month) = (assigned(name, "day-first"), assigned(name, "month-first"));
    format!(
        "Column \"{name}\" is read as words: the file does not show whether \"{example}\" begins with the \
         day or the month. Use {day} or {month}."
    )
}

/// Words in columns of numbers.
pub(super) fn strange(columns: &[Column], counts: &[Counts]) -> Vec<String> {
    let remark = |(column, counts): (&Column, &Counts)| {
        let (word, line) = counts.first_word.as_ref().filter(|_| counts.strange > 0)?;
        let is_date =
            matches!(column.used_for, CellUse::Number { form: CellForm::Date(_) | CellForm::Time, .. });
        Some(format!(
            "Column \"{}\" holds {}, and {} of its cells {}, such as \"{word}\" on line {line}: counted as missing.",
            column.name,
            if is_date { "dates" } else { "numbers" },
            numbers::grouped(counts.strange),
            match (is_date, counts.strange) {
                (true, 1) => "does not have that form",
                (true, _) => "do not have that form",
                (false, 1) => "is a word",
                (false, _) => "are words",
            }
        ))
    };
    columns.iter().zip(counts).filter_map(remark).take(SHOWN).collect()
}

pub(super) fn unseen(cells: u64) -> Option<String> {
    match cells {
        0 => None,
        1 => Some(
            "1 cell holds a word that was not in the training data; it is left without a category."
                .to_string(),
        ),
        _ => Some(format!(
            "{cells} cells hold words that were not in the training data; they are left without a category."
        )),
    }
}

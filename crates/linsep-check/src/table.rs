//! A strict reader of two kinds of text: tables of numbers (comma, semicolon or tab), and LIBSVM.
//!
//! A proof is about the rows that every reader of the file sees. Programs that read such files guess: what divides the cells,
//! whether the first row holds names, which lines are remarks, what a stray quote means. This one does not: it refuses
//! whatever could be read in two ways. `docs/certificate.md` lists what it reads.

use linsep_check::{Examples, Subject};
use std::collections::HashMap;

/// Values by feature, and the side: 1, −1, or 0 for neither.
type Row = (Vec<(usize, f64)>, i8);

/// The rows of a file, and its features.
pub(crate) struct Table {
    /// The names of the features; none if they are numbers from `first` on.
    names: Vec<String>,
    first: usize,
    features: usize,
    pub(crate) rows: Vec<Row>,
}

impl Table {
    /// The name of the feature at a place, which may be the one after the last: that of the bias.
    pub(crate) fn name(&self, place: usize) -> String {
        match self.names.get(place) {
            Some(name) => name.clone(),
            None if place < self.features => (self.first + place).to_string(),
            None => "the bias".to_owned(),
        }
    }
}

impl Examples for Table {
    fn rows(&self) -> usize {
        self.rows.len()
    }
    fn features(&self) -> usize {
        self.features
    }
    fn side(&self, i: usize) -> i8 {
        self.rows[i].1
    }
    fn values(&self, i: usize, values: &mut Vec<(usize, f64)>) {
        values.extend(&self.rows[i].0);
    }
}

/// Lines with their numbers, without their ends; no blank ones.
type Lines<'a> = [(usize, &'a str)];

/// Options with their columns, by name or by number from 1: `--label`; `--ignore`, which is left out; `--weights`, which is left
/// out with the rows where it is 0; and `--header` for a first row of names, even if these are numbers.
pub(crate) type Options = [(String, String)];

/// What may divide the cells of a table. One with bars could be Vowpal Wabbit's text, and is refused.
const DELIMITERS: [char; 4] = [',', '\t', ';', '|'];

/// Words that mean a missing cell, whatever the case of their letters: in any column, and among numbers.
const MISSING: [&str; 8] = ["", "?", "na", "n/a", "#n/a", "nan", "<na>", "null"];
const MISSING_AMONG_NUMBERS: [&str; 3] = ["none", "nil", "n.a."];

/// Endings of names of other kinds of files: a reader that goes by the name sees something else in such a file.
const OTHER_KINDS: &str = "arff arrow bz2 eml feather gz idx idx2-ubyte idx3-ubyte jpeg jpg json jsonl linsep mbox ndjson npy npz \
                           parquet png vw xlsm xlsx xz zst";

/// Endings of names of LIBSVM files.
const LIBSVM: [&str; 3] = ["svm", "libsvm", "svmlight"];

/// What files of other kinds begin with.
const OTHER_BEGINNINGS: [&str; 6] = ["<", "ARROW1", "MATLAB", "SQLite", "From ", "RDX3"];

/// Features that a LIBSVM file may have. No index is larger.
const MAX_FEATURES: usize = 1 << 24;

/// Reads the text of a file with this name, whose lines are rows. A label tells the side of its row.
pub(crate) fn read(name: &str, text: &str, options: &Options, subject: &Subject) -> Result<Table, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let ending = name.rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_ascii_lowercase());
    let is_other = OTHER_BEGINNINGS.iter().any(|beginning| text.trim_start().starts_with(beginning));
    if is_other || OTHER_KINDS.split_whitespace().any(|kind| kind == ending) {
        return Err("its name or its beginning is that of a file of another kind".to_owned());
    }
    let lines =
        (1..).zip(text.split('\n')).map(|(line, text)| (line, text.strip_suffix('\r').unwrap_or(text)));
    let lines: Vec<_> = lines.filter(|(_, text)| !text.trim_matches(' ').is_empty()).collect();
    for &(line, text) in &lines {
        if let Some(found) = text.chars().find(|c| (c.is_control() && *c != '\t') || *c == '\u{feff}') {
            return Err(format!(
                "line {line} holds the character {}, which text does not",
                found.escape_unicode()
            ));
        }
    }
    let mut sides: HashMap<String, i8> = HashMap::new();
    let negative = subject.negative.iter().map(|class| (class, -1));
    for (name, side) in subject.positive.iter().map(|class| (class, 1)).chain(negative) {
        let before = sides.insert(truth_value(name).unwrap_or(name.clone()), side);
        // The same name on both sides is for the checker to reject.
        if before.is_some_and(|before| before != side) && !subject.positive.contains(name) {
            return Err(format!("the certificate has the class \"{name}\" on both sides"));
        }
    }
    let side = |label: &str| sides.get(&class(label)).copied().unwrap_or(0);
    // LIBSVM has a colon in the second word of its first row.
    let before_comment = |&(_, text): &(usize, &'_ str)| text.split('#').next().unwrap_or("").to_owned();
    let first = lines.iter().map(before_comment).find(|text| !text.trim().is_empty()).unwrap_or_default();
    let pair = first.split_ascii_whitespace().nth(1).and_then(|word| word.split_once(':'));
    let is_libsvm = pair.is_some_and(|(index, _)| index == "qid" || index.parse::<u32>().is_ok());
    let is_wrong = match ending.as_str() {
        "csv" => is_libsvm,
        "tsv" => is_libsvm || !first.contains('\t'),
        ending => LIBSVM.contains(&ending) && !is_libsvm,
    };
    if is_wrong {
        return Err(format!("its name ends in .{ending}, and it begins like another kind of file"));
    }
    match options.first().filter(|_| is_libsvm) {
        Some((option, _)) => Err(format!("{option} is for tables, and this is LIBSVM")),
        None if is_libsvm => libsvm(&lines, side),
        None => delimited(&lines, side, options),
    }
}

/// A finite number, as the nearest float.
fn number(text: &str, line: usize) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|value| value.is_finite());
    number.ok_or_else(|| format!("line {line}: \"{text}\" is not a finite number"))
}

/// True, false, yes and no, which are the same in small and capital letters.
fn truth_value(label: &str) -> Option<String> {
    let lower = label.to_ascii_lowercase();
    ["true", "false", "yes", "no"].contains(&lower.as_str()).then_some(lower)
}

/// The class that a label means. Numbers with at most 15 digits are named by their value: 1, +1 and 1.0 are one class.
fn class(label: &str) -> String {
    if let Some(truth) = truth_value(label) {
        return truth;
    }
    let mantissa = label.split(['e', 'E']).next().unwrap_or("").chars().filter(char::is_ascii_digit);
    let short = mantissa.skip_while(|digit| *digit == '0').count() <= 15;
    let value = label.parse::<f64>().ok().filter(|value| short && value.is_finite());
    // Adding 0 makes 0 of −0.
    value.map_or(label.to_owned(), |value| (value + 0.0).to_string())
}

/// Refuses a label that may mean that there is none: not a number, or infinite; in a table, a word for a missing cell.
fn check_label(label: &str, line: usize, missing: &[&str]) -> Result<(), String> {
    let infinite = label.parse::<f64>().is_ok_and(|value| !value.is_finite());
    if infinite || label.trim().is_empty() || is_one_of(label, missing) {
        return Err(format!("line {line}: \"{label}\" is no label"));
    }
    Ok(())
}

/// Whether a text is one of these words, in small or capital letters.
fn is_one_of(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.trim().eq_ignore_ascii_case(word))
}

/// `label index:value index:value … # comment`. Indices count from 0 if one of them is 0, else from 1.
fn libsvm(lines: &Lines, side: impl Fn(&str) -> i8) -> Result<Table, String> {
    let mut rows: Vec<Row> = Vec::new();
    let (mut first, mut end) = (1, 0);
    for &(line, text) in lines {
        let mut words = text.split('#').next().unwrap_or("").split_ascii_whitespace().peekable();
        let Some(label) = words.next() else { continue };
        check_label(label, line, &[])?;
        if text.contains('\t') {
            return Err(format!("line {line} holds a tab, which could divide the cells of a table"));
        }
        if label.contains([':', '"']) || label.contains(DELIMITERS) {
            return Err(format!("line {line}: \"{label}\" is no label of a LIBSVM file"));
        }
        words.next_if(|word| word.strip_prefix("qid:").is_some_and(|query| query.parse::<u64>().is_ok()));
        let mut values: Vec<(usize, f64)> = Vec::new();
        for word in words {
            let (index, value) = word.split_once(':').unwrap_or_default();
            let index = index.parse().ok().filter(|_| index.bytes().all(|byte| byte.is_ascii_digit()));
            let index = index
                .filter(|index| *index <= MAX_FEATURES && values.last().is_none_or(|last| last.0 < *index));
            let wrong = || {
                format!(
                    "line {line}: \"{word}\" is not index:value with an index above the one before, up to {MAX_FEATURES}"
                )
            };
            values.push((index.ok_or_else(wrong)?, number(value, line)?));
        }
        first = first.min(values.first().map_or(1, |pair| pair.0));
        end = end.max(values.last().map_or(0, |pair| pair.0 + 1));
        rows.push((values, side(label)));
    }
    rows.iter_mut().flat_map(|(values, _)| values).for_each(|(index, _)| *index -= first);
    Ok(Table { names: Vec::new(), first, features: end.saturating_sub(first), rows })
}

/// The cells of a line, without the blanks around them; `None` where a quote is not the first or the last character of its cell, or
/// has others or blanks beside it.
fn cells(text: &str, delimiter: char) -> Option<Vec<&str>> {
    let (mut cells, mut rest) = (Vec::new(), text);
    loop {
        let (cell, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                quoted.split_once('"').filter(|(cell, _)| !(delimiter == '\t' && cell.contains('\t')))?
            }
            None => {
                let (cell, after) = rest.split_at(rest.find(delimiter).unwrap_or(rest.len()));
                (Some(cell.trim_matches(' ')).filter(|cell| !cell.contains('"'))?, after)
            }
        };
        cells.push(cell);
        match after.strip_prefix(delimiter) {
            Some(next) => rest = next,
            None => return after.is_empty().then_some(cells),
        }
    }
}

/// Whether a cell can only be a name: not a number, a date or an amount in any style, nor a word for a missing cell. Such cells
/// have digits, which a name has behind letters: x1, age_2.
fn is_name(cell: &str) -> bool {
    let stem = cell.split(|c: char| c.is_ascii_digit()).next().unwrap_or("");
    let is_code = stem == "kr" || (stem.len() == 3 && stem.bytes().all(|byte| byte.is_ascii_uppercase()));
    let is_identifier =
        cell.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !stem.is_empty();
    let missing = is_one_of(cell, &MISSING) || is_one_of(cell, &MISSING_AMONG_NUMBERS);
    let has_letter = cell.contains(|c: char| c.is_alphabetic() || c == '_');
    has_letter && !missing && cell.parse::<f64>().is_err() && (stem == cell || (is_identifier && !is_code))
}

/// How the lines of a table are divided, and what the columns are for.
struct Layout<'a> {
    delimiter: char,
    /// The cells of the first line.
    titles: Vec<&'a str>,
    /// Whether these are names.
    header: bool,
    features: Vec<usize>,
    label: usize,
    counts: Option<usize>,
}

impl<'a> Layout<'a> {
    /// Settles it by the first line and the options.
    fn of(lines: &Lines<'a>, options: &Options) -> Result<Self, String> {
        let &(line, first) = lines.first().ok_or("there are no rows")?;
        let occurs = |delimiter: &char| lines.iter().any(|(_, text)| text.contains(*delimiter));
        let mut found = DELIMITERS.into_iter().filter(occurs);
        let delimiter = found.next().ok_or("no comma, semicolon or tab divides the cells")?;
        if delimiter == '|' {
            return Err("bars divide it, as they do Vowpal Wabbit's text".to_owned());
        }
        if let Some(other) = found.next() {
            return Err(format!("it holds {delimiter:?} and {other:?}: either could divide the cells"));
        }
        let titles = split(first, line, delimiter)?;
        let says_separator = first.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("sep="));
        if says_separator || first.starts_with(['{', '[', '@', '%']) {
            return Err(format!("line {line} could begin a file of another kind"));
        }
        let given = |option: &'static str| {
            options.iter().filter(move |given| given.0 == option).map(|given| &given.1)
        };
        let places =
            |option| given(option).map(|wanted| place(wanted, &titles)).collect::<Result<Vec<_>, _>>();
        let (ignored, counts, labels) = (places("--ignore")?, places("--weights")?, places("--label")?);
        if labels.len() > 1 || counts.len() > 1 {
            return Err("--label and --weights name one column".to_owned());
        }
        let mut features: Vec<usize> = (0..titles.len()).filter(|column| !ignored.contains(column)).collect();
        let label = *labels.last().or(features.last()).ok_or("no column is left")?;
        features.retain(|column| *column != label && !counts.contains(column));
        if ignored.iter().chain(&counts).any(|column| *column == label)
            || counts.iter().any(|column| ignored.contains(column))
        {
            return Err(format!(
                "column {} has two uses: --label names another one for the labels",
                label + 1
            ));
        }
        if features.is_empty() {
            return Err("no column of numbers is left".to_owned());
        }
        let header = given("--header").next().is_some() || features.iter().any(|&j| is_name(titles[j]));
        for wanted in ["--ignore", "--weights", "--label"].into_iter().flat_map(given) {
            let place = place(wanted, &titles)?;
            let is_other = |(j, title): (usize, &&str)| j != place && title == wanted;
            let is_open = if header {
                titles.iter().enumerate().any(is_other)
            } else {
                wanted.parse::<usize>().is_err()
            };
            if is_open {
                return Err(format!("which column \"{wanted}\" means is open"));
            }
        }
        let numbered =
            |from: usize| titles.iter().enumerate().all(|(j, title)| *title == (j + from).to_string());
        if !header && (numbered(0) || numbered(1)) {
            return Err(format!("line {line} may hold names or not: with --header it does"));
        }
        Ok(Self { delimiter, titles, header, features, label, counts: counts.last().copied() })
    }
}

/// The column with this number, from 1, or this name. A comma would be one between two columns for linsep.
fn place(wanted: &String, titles: &[&str]) -> Result<usize, String> {
    if wanted.contains(',') {
        return Err(format!(
            "\"{wanted}\" may mean several columns: give each by its number, with an option of its own"
        ));
    }
    let number = wanted.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let named = || titles.iter().position(|title| title == wanted);
    let place = number.or_else(named).filter(|place| *place < titles.len() && !wanted.is_empty());
    place.ok_or_else(|| format!("there is no column \"{wanted}\""))
}

/// The cells of a line of a table. Nothing in it may mean something else to another reader.
fn split(text: &str, line: usize, delimiter: char) -> Result<Vec<&str>, String> {
    let cells = cells(text, delimiter).ok_or_else(|| {
        format!(
            "line {line}: a quote is not right at the beginning or the end of its cell, or there are others"
        )
    })?;
    let is_pair = |word: &str| {
        let (index, value) = word.split_once(':').unwrap_or((" ", ""));
        index == "qid"
            || word.ends_with(':')
            || index.bytes().all(|byte| byte.is_ascii_digit()) && !value.contains(delimiter)
    };
    match cells.last() {
        _ if text.contains('#') => Err(format!("line {line} holds a #, which could begin a comment")),
        _ if text.split_ascii_whitespace().take(2).any(|word| word.contains(':') && is_pair(word)) => {
            Err(format!("line {line} could be one of a LIBSVM file"))
        }
        Some(&"") => Err(format!("line {line}: the last cell is empty, or there is none")),
        _ => Ok(cells),
    }
}

/// A number of a table: no code that would lose digits as a number, such as 007 or a number of twenty digits.
fn plain_number(cell: &str, line: usize) -> Result<f64, String> {
    let digits = cell.trim_start_matches(['+', '-']);
    let is_long = digits.len() > 15 || (digits.len() > 2 && cell.starts_with('0'));
    if is_long && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("line {line}: \"{cell}\" may be a code, which as a number loses digits"));
    }
    number(cell, line)
}

/// A table. The first line holds names if one of its cells, that of the label aside, is one.
fn delimited(lines: &Lines, side: impl Fn(&str) -> i8, options: &Options) -> Result<Table, String> {
    let layout = Layout::of(lines, options)?;
    let Layout { delimiter, titles, header, features, label, counts } = &layout;
    let is_number = |&j: &usize| titles[j].bytes().all(|byte| byte.is_ascii_digit());
    let mut may_be_header = !header && features.iter().all(is_number);
    let mut rows = Vec::new();
    for (place, &(line, text)) in lines[usize::from(*header)..].iter().enumerate() {
        let cells = split(text, line, *delimiter)?;
        if cells.len() != titles.len() {
            return Err(format!("line {line} has {} cells, but the first has {}", cells.len(), titles.len()));
        }
        // Where the features are numbers from the first line on, a word above a number in another column would be a name.
        let may_be_named = |(title, cell): (&&str, &&str)| title.parse::<f64>().is_err() && !is_name(cell);
        if !header && place == 1 && titles.iter().zip(&cells).any(may_be_named) {
            return Err(format!(
                "line {line}: a number may stand here below a word of the first line, which may be a name"
            ));
        }
        let values = features.iter().map(|&j| plain_number(cells[j], line)).collect::<Result<Vec<_>, _>>()?;
        let count = counts.map_or(Ok(1.0), |column| plain_number(cells[column], line))?;
        check_label(cells[*label], line, &MISSING)?;
        if !(0.0..=1e15).contains(&count) {
            return Err(format!("line {line}: a row counts from 0 to 1e15 times"));
        }
        // Programs that know no names for columns write numbers above them, and the word above the labels is no label.
        may_be_header &= class(cells[*label]) != class(titles[*label]) || place == 0;
        if count != 0.0 {
            rows.push((values.into_iter().enumerate().collect(), side(cells[*label])));
        }
    }
    if rows.is_empty() {
        return Err("there are no rows".to_owned());
    }
    if may_be_header && lines.len() > 1 {
        return Err(
            "no other row has the label of the first line, which may hold names: with --header it does"
                .to_owned(),
        );
    }
    let name = |&j: &usize| if *header { titles[j].to_owned() } else { (j + 1).to_string() };
    Ok(Table { names: features.iter().map(name).collect(), first: 0, features: features.len(), rows })
}

//! `linsep-check CERTIFICATE DATA`: checks a certificate of separation, with nothing but this crate and the standard library.

#![forbid(unsafe_code)]

mod table;

use linsep_check::{Accepted, Certificate, Claim, Columns, Margin, Status, verify};
use std::fs::File;
use std::io::{Read, Write};
use std::process::ExitCode;
use table::Table;

const USAGE: &str = "\
Usage: linsep-check CERTIFICATE DATA [--label COLUMN] [--ignore COLUMN]... [--weights COLUMN] [--header]

Checks a certificate of linsep separate against a table of numbers: CSV (comma, semicolon or tab) or LIBSVM.
--label COLUMN    the column of the labels, by its name or its number from 1 [default: the last one]
--ignore COLUMN   a column that is left out
--weights COLUMN  a column of counts: it is left out, and so are rows with the count 0
--header          the first line holds names, even though they are numbers
This program reads tables of numbers only. linsep verify reads more, and linsep convert makes such a table of other data.
Exit codes: 0 accepted, 1 rejected, 2 wrong arguments, 3 a file that cannot be read.
";

fn main() -> ExitCode {
    let (code, text) = run().map_or_else(|failure| failure, |text| (0, text));
    // Names may hold what a terminal would obey.
    let obeyed = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    let shown = |c: char| if obeyed(c) { c.escape_default().to_string() } else { c.to_string() };
    let text: String = text.chars().map(shown).collect();
    // A reader that has gone away does not change the answer.
    let _ = match code {
        0 | 1 => std::io::stdout().write_all(text.as_bytes()),
        _ => std::io::stderr().write_all(text.as_bytes()),
    };
    ExitCode::from(code)
}

/// What is proved; else an exit code, and why nothing is.
fn run() -> Result<String, (u8, String)> {
    let wrong = || (2, USAGE.to_owned());
    let (mut files, mut options, mut arguments) = (Vec::new(), Vec::new(), std::env::args().skip(1));
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--label" | "--ignore" | "--weights" => {
                options.push((argument, arguments.next().ok_or_else(wrong)?));
            }
            "--header" => options.push((argument, String::new())),
            "--help" | "-h" => return Ok(USAGE.to_owned()),
            option if option.starts_with("--") => return Err(wrong()),
            _ => files.push(argument),
        }
    }
    let [proof, data] = &files[..] else { return Err(wrong()) };
    let load =
        |path: &String| text_of(path).map_err(|error| (3, format!("{}: {error}\n", in_one_line(path))));
    let certificate = Certificate::parse(&load(proof)?).map_err(|line| {
        let what = "not a certificate";
        (3, format!("{}:{line}: {what}: a line is missing, out of order or malformed\n", in_one_line(proof)))
    })?;
    let table = table::read(data, &load(data)?, &options, &certificate.subject)
        .map_err(|reason| (3, format!("{}: {}\n\n{USAGE}", in_one_line(data), in_one_line(&reason))))?;
    let accepted = verify(&certificate, &table).map_err(|rejected| {
        let row = rejected.row.map_or(String::new(), |row| format!("row {row} (from 0): "));
        (1, format!("Rejected: {row}{}\n", rejected.reason))
    })?;
    Ok(report(&certificate, &table, &accepted))
}

/// The text of a file, which is no longer read where a zero byte shows that it is none: a device may have no end.
fn text_of(path: &str) -> std::io::Result<String> {
    let (mut file, mut bytes) = (File::open(path)?, Vec::new());
    while Read::by_ref(&mut file).take(1 << 16).read_to_end(&mut bytes)? > 0 && !bytes.ends_with(&[0]) {}
    String::from_utf8(bytes).map_err(std::io::Error::other)
}

/// A name that ends no line.
fn in_one_line(name: &str) -> String {
    name.replace('\n', "\\n")
}

/// The statements that an accepted certificate proves.
fn report(certificate: &Certificate, table: &Table, accepted: &Accepted) -> String {
    let proved = match &certificate.claim {
        Claim::Complete { margin: Margin { lower, upper, .. }, .. } => {
            let upper = if *upper < f64::MAX { *upper } else { f64::INFINITY };
            format!(
                "complete: some weights put every row on its side\nMargin: at least {lower}, at most {upper}"
            )
        }
        Claim::QuasiComplete { .. } => format!(
            "quasi-complete: some weights have no row on the wrong side, but none put every row on its side\n\
             Rows on the boundary: {}{}",
            accepted.boundary_rows,
            if accepted.boundary_is_exact { ", with all such weights" } else { ", maybe fewer with others" }
        ),
        Claim::Overlap { .. } => "overlap: weights with no row on the wrong side are 0 for every row".into(),
    };
    let count = |side| table.rows.iter().filter(|row| row.1 == side).count();
    let (up, down, neither) = (count(1), count(-1), count(0));
    let mut text = format!("Accepted: {proved}\nRows: {up} are +1, {down} are -1, {neither} are left out\n");
    let name = |place: &usize| table.name(*place);
    for (place, status) in &certificate.columns.coefficients {
        let status = match status {
            Status::Aliased { .. } => "aliased",
            Status::Finite => "finite",
            Status::Infinite { positive: true, .. } => "+infinity",
            Status::Infinite { positive: false, .. } => "-infinity",
            Status::Open { .. } => "infinite, sign open",
        };
        text += &format!("Coefficient of {}: {status}\n", name(place));
    }
    let Columns { alone, not_alone, at_least, .. } = &certificate.columns;
    let separating = alone.iter().map(|set| ("separate completely", set));
    for (what, set) in separating.chain(not_alone.iter().map(|set| ("do not", set))) {
        let names = set.columns.iter().map(name).collect::<Vec<_>>().join(", ");
        let names = if names.is_empty() { "none, the bias alone".to_owned() } else { names };
        text += &format!("Columns that {what}: {names}\n");
    }
    text + &format!("Fewest columns that can: at least {at_least}\n").repeat(usize::from(*at_least > 0))
}

//! `linsep-check CERTIFICATE DATA`: checks a certificate of separation, with nothing but this crate and the standard library.

#![forbid(unsafe_code)]

mod table;

use linsep_check::{Accepted, Certificate, Claim, Side, Status, verify};
use std::io::Write;
use std::process::ExitCode;
use table::{Options, Table};

const USAGE: &str = "\
Usage: linsep-check CERTIFICATE DATA [--label COLUMN] [--ignore COLUMN]... [--header]

Checks a certificate of linsep separate against a table of numbers: CSV (comma, semicolon, tab or bar) or LIBSVM.
--label COLUMN    the column of the labels, by its name or its number from 1 [default: the last one]
--ignore COLUMN   a column that is left out
--header          the first line holds names, even though they are numbers
Exit codes: 0 accepted, 1 rejected, 2 wrong arguments, 3 a file that cannot be read.
";

const HINT: &str = "This program reads tables of numbers only: CSV with a label, and LIBSVM. linsep verify reads more, and \
                    linsep convert makes such a table of other data.";

/// An exit code, and what to say.
type Answer = (u8, String);

fn main() -> ExitCode {
    let (code, text) = run().unwrap_or_else(|failure| failure);
    // A reader that has gone away does not change the answer.
    let _ = match code {
        0 | 1 => std::io::stdout().write_all(text.as_bytes()),
        _ => std::io::stderr().write_all(text.as_bytes()),
    };
    ExitCode::from(code)
}

fn run() -> Result<Answer, Answer> {
    let wrong = || (2, USAGE.to_owned());
    let (mut files, mut options, mut arguments) = (Vec::new(), Options::default(), std::env::args().skip(1));
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--label" => options.label = Some(arguments.next().ok_or_else(wrong)?),
            "--ignore" => options.ignore.push(arguments.next().ok_or_else(wrong)?),
            "--header" => options.header = true,
            "--help" | "-h" => return Ok((0, USAGE.to_owned())),
            option if option.starts_with("--") => return Err(wrong()),
            _ => files.push(argument),
        }
    }
    let [certificate, data] = &files[..] else { return Err(wrong()) };
    let load =
        |path: &String| std::fs::read_to_string(path).map_err(|error| (3, format!("{path}: {error}\n")));
    let parsed = Certificate::parse(&load(certificate)?).map_err(|error| {
        let place = format!("{certificate}:{}", error.line);
        (
            3,
            format!(
                "{place}: not a certificate of version 2 (linsep verify reads version 1): {}\n",
                error.reason
            ),
        )
    })?;
    let table = table::read(&load(data)?, &options, &parsed.subject)
        .map_err(|reason| (3, format!("{data}: {reason}\n{HINT}\n")))?;
    Ok(match verify(&parsed, &table) {
        Ok(accepted) => (0, report(&parsed, &table, &accepted)),
        Err(rejected) => {
            let row = rejected.row.map_or(String::new(), |row| format!("row {row} (from 0): "));
            (1, format!("Rejected: {row}{}\n", rejected.reason))
        }
    })
}

/// What an accepted certificate proves.
fn report(certificate: &Certificate, table: &Table, accepted: &Accepted) -> String {
    let count = |side| table.sides.iter().filter(|other| **other == side).count();
    let (up, down, left) = (count(Side::Positive), count(Side::Negative), count(Side::Neither));
    let verdict = match &certificate.claim {
        Claim::Complete { .. } => "complete: some weights put every row on its side".to_owned(),
        Claim::QuasiComplete { .. } => format!(
            "quasi-complete: some weights have no row on the wrong side, but none put every row on its side\n\
             Rows on the boundary: {}{}",
            accepted.boundary_rows,
            if accepted.boundary_is_exact { ", with all such weights" } else { ", maybe fewer with others" }
        ),
        Claim::Overlap { .. } => {
            "overlap: weights with no row on the wrong side are 0 for every row".to_owned()
        }
    };
    let mut text = format!("Accepted: {verdict}\nRows: {up} are +1, {down} are -1, {left} are left out\n");
    if let Claim::Complete { margin, .. } = &certificate.claim {
        let upper =
            if margin.upper < f64::MAX { format!("at most {}", margin.upper) } else { "open".to_owned() };
        text += &format!("Margin: at least {}, {upper}\n", margin.lower);
    }
    let name = |place: usize| table.names.get(place).map_or("the bias", String::as_str);
    for (place, status) in &certificate.columns.coefficients {
        let status = match status {
            Status::Aliased { .. } => "aliased",
            Status::Finite => "finite",
            Status::Infinite { positive: true, .. } => "+infinity",
            Status::Infinite { positive: false, .. } => "-infinity",
            Status::Open { .. } => "infinite, sign open",
        };
        text += &format!("Coefficient of {}: {status}\n", name(*place));
    }
    let names = |set: &[usize]| set.iter().map(|&place| name(place)).collect::<Vec<_>>().join(", ");
    for set in &certificate.columns.alone {
        text += &format!("Columns that separate completely: {}\n", names(&set.columns));
    }
    for set in &certificate.columns.not_alone {
        text += &format!("Columns that do not: {}\n", names(&set.columns));
    }
    if certificate.columns.at_least > 0 {
        text += &format!("Fewest columns that can: at least {}\n", certificate.columns.at_least);
    }
    text
}

//! Several tasks: each class against the rest, or every pair of classes.

use super::record::{Record, TableRecord};
use super::text::data_line;
use super::{Decided, Job, exit, inputs};
use crate::commands::{print_json, print_result, refuse_overwriting, report_lines, shortened, wrapped};
use crate::console;
use crate::exit::{Exit, Usage};
use linsep::classes::ClassPair;
use linsep::numbers::{Rounding, counted, grouped, rounded};
use linsep::separate::Verdict;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

impl Job<'_> {
    /// Decides all tasks, one after the other, and tells what came of them as a table.
    pub(super) fn table(&self, what: &'static str, pairs: &[ClassPair]) -> anyhow::Result<Exit> {
        let folder = self.args.output.as_deref();
        let files = folder.map(|folder| self.files(folder, pairs)).transpose()?;
        let mut lines: Vec<Decided> = Vec::new();
        for (i, pair) in pairs.iter().enumerate() {
            if console::interrupted() {
                break;
            }
            if let (Some(folder), 0) = (folder, i)
                && !folder.is_dir()
            {
                std::fs::create_dir(folder)
                    .map_err(|source| linsep::Error::Write { path: folder.to_path_buf(), source })?;
            }
            let title = format!("{} of {}, {}: ", i + 1, pairs.len(), title(pair));
            let file = files.as_ref().map(|files| files[i].as_path());
            match self.decide(pair, &title, file) {
                Ok(decided) => lines.push(decided),
                // What was decided before is worth telling.
                Err(_) if !lines.is_empty() && console::interrupted() => break,
                Err(error) => return Err(error),
            }
        }
        let missing = pairs.len() - lines.len();
        if missing > 0 {
            let rest = counted(missing as u64, "line is", "lines are");
            self.console.warn(&format!("interrupted: {rest} missing from the table"));
        }
        if self.args.json {
            let table = lines.iter().map(|decided| Record::new(self, decided, false));
            print_json(&TableRecord {
                tasks: what,
                rows: self.data.len(),
                features: self.data.columns(),
                interrupted: console::interrupted(),
                table: table.collect::<Result<_, _>>()?,
                skipped_rows: self.notes.skipped,
                dropped_rows: self.notes.dropped,
            })?;
        } else {
            print_result(|out| out.write_all(self.table_text(&lines).as_bytes()))?;
        }
        Ok(exit(lines.iter().map(|decided| decided.separation.verdict)))
    }

    /// One file for each task, none of which destroys an input.
    fn files(&self, folder: &Path, pairs: &[ClassPair]) -> anyhow::Result<Vec<PathBuf>> {
        if folder.exists() && !folder.is_dir() {
            return Err(Usage(format!(
                "{} is a file, and a table has a certificate for each of its {}: name a folder",
                folder.display(),
                counted(pairs.len() as u64, "line", "lines")
            ))
            .into());
        }
        let files: Vec<PathBuf> = file_names(pairs).into_iter().map(|name| folder.join(name)).collect();
        refuse_overwriting(&files.iter().map(PathBuf::as_path).collect::<Vec<_>>(), &inputs(self.args))?;
        if folder.is_dir() {
            for file in &files {
                linsep::store::check_writable(file)?;
            }
        }
        Ok(files)
    }

    fn table_text(&self, lines: &[Decided]) -> String {
        let mut text = report_lines(&[("Data", data_line(self, self.data.len())), ("Margin", self.kind())]);
        let width =
            lines.iter().map(|line| title(&line.classes).chars().count()).max().unwrap_or(0).clamp(7, 40);
        text.push_str(&format!(
            "\n  {:<width$}  {:>9}  {:<14}  {:>10}  {:>10}  {:>7}  {:>8}\n",
            "classes", "rows", "verdict", "γ* ≥", "γ* ≤", "witness", "seconds"
        ));
        for line in lines {
            let separation = &line.separation;
            let lower =
                separation.margin.lower.map_or("none".to_string(), |lower| rounded(lower, Rounding::Down));
            let witness = match separation.witness.len() {
                0 => "none".to_string(),
                count => grouped(count as u64),
            };
            text.push_str(&format!(
                "  {:<width$}  {:>9}  {:<14}  {lower:>10}  {:>10}  {witness:>7}  {:>8.3}\n",
                shortened(&title(&line.classes), width),
                grouped(separation.rows as u64),
                word(separation.verdict),
                rounded(separation.margin.upper, Rounding::Up),
                line.seconds
            ));
        }
        text.push('\n');
        text.push_str(&wrapped(
            "witness: how many rows were found that cannot all be right, none of which can be left out. To be told \
             which, and why: linsep separate with --positive CLASS or --classes A,B.",
            0,
        ));
        for line in lines {
            if let Some(why) = &line.separation.stopped {
                text.push_str(&wrapped(&format!("{}: {why}.", title(&line.classes)), 0));
            }
        }
        if let Some(folder) = &self.args.output {
            let written = lines.iter().filter(|line| line.certificate.is_some()).count() as u64;
            let certificates = counted(written, "certificate", "certificates");
            text.push_str(&wrapped(&format!("{certificates} written to {}.", folder.display()), 0));
        }
        text
    }
}

/// One word for a verdict.
pub(super) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Complete => "complete",
        Verdict::QuasiComplete => "quasi-complete",
        Verdict::Overlap => "overlap",
        Verdict::Undecided => "undecided",
    }
}

/// What a task is called.
fn title(pair: &ClassPair) -> String {
    match pair.negative.as_slice() {
        [only] => format!("{only} against {}", pair.positive),
        _ => format!("{} against the rest", pair.positive),
    }
}

/// A file name for each task, by its classes: no two are the same, on systems that ignore case too.
fn file_names(pairs: &[ClassPair]) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut unused = |name: String| {
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        names.find(|name| taken.insert(name.to_lowercase())).unwrap_or(name) + ".json"
    };
    let name = |pair: &ClassPair| match pair.negative.as_slice() {
        [only] => format!("{}-vs-{}", safe(only), safe(&pair.positive)),
        _ => format!("{}-vs-rest", safe(&pair.positive)),
    };
    pairs.iter().map(|pair| unused(name(pair))).collect()
}

/// A class in a file name: letters, digits, and inside also - and dots; not too long.
fn safe(class: &str) -> String {
    const LONGEST: usize = 40;
    let kept = |(place, c): (usize, char)| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => c,
        '-' | '.' | '+' if place > 0 => c,
        _ => '_',
    };
    class.chars().take(LONGEST).enumerate().map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_safe_and_differ() {
        let pair = |positive: &str, negative: &[&str]| ClassPair {
            positive: positive.to_string(),
            negative: negative.iter().map(ToString::to_string).collect(),
        };
        let names = file_names(&[
            pair("setosa", &["a", "b"]),
            pair("../etc/passwd", &["a", "b"]),
            pair("-1", &["0", "1"]),
            pair("_1", &["0", "1"]),
            pair("Ä", &["ß"]),
            pair("SETOSA", &["a", "b"]),
            pair("x y", &["1.5"]),
        ]);
        let expected = [
            "setosa-vs-rest.json",
            "_._etc_passwd-vs-rest.json",
            "_1-vs-rest.json",
            "_1-vs-rest-2.json",
            "_-vs-_.json",
            "SETOSA-vs-rest-2.json",
            "1.5-vs-x_y.json",
        ];
        assert_eq!(names, expected);
    }
}

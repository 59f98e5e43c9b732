//! Few rows whose removal separates the rest.

use super::record::RowRecord;
use super::text::{interval, row_list};
use super::{Decided, Job};
use crate::commands::wrapped;
use crate::console::Watch;
use linsep::numbers::{counted, grouped};
use linsep::separate::{Blame, Verdict, blame};
use linsep::theory::margin::MarginInterval;
use serde::Serialize;
use std::time::Instant;

/// What was found, and how long it took.
pub(super) struct Blamed {
    pub(super) found: Blame,
    seconds: f64,
}

/// The same for `--json`.
#[derive(Serialize)]
pub(super) struct BlameRecord {
    rows: Vec<RowRecord>,
    at_least: usize,
    rest: Verdict,
    rest_rows: usize,
    rest_margin: MarginInterval,
    stopped: Option<String>,
    seconds: f64,
}

impl Job<'_> {
    /// Looks for rows to blame, where there is something to blame them for.
    pub(super) fn blame(&self, decided: &Decided) -> anyhow::Result<Option<Blamed>> {
        match decided.separation.verdict {
            Verdict::Complete => {
                self.console.note("note: The classes are completely separable: no row needs to be removed.");
                return Ok(None);
            }
            Verdict::Undecided => {
                self.console
                    .note("note: --blame is left out: it is not known whether a row needs to be removed.");
                return Ok(None);
            }
            Verdict::QuasiComplete | Verdict::Overlap => {}
        }
        let clock = Instant::now();
        let mut watch = Watch::new(self.console);
        watch.title = "rows to blame: ".to_string();
        let found = blame(&self.data, &decided.classes, &self.settings, &mut watch);
        watch.end()?;
        let found = match found {
            // The settings are fine: it is the rows that leave nothing to separate. The verdict stands all the same.
            Err(linsep::Error::Settings(reason)) => {
                self.console.note(&format!("note: --blame found no rows: {reason}."));
                return Ok(None);
            }
            found => found.map_err(|error| self.located(error))?,
        };
        Ok(Some(Blamed { found, seconds: clock.elapsed().as_secs_f64() }))
    }

    pub(super) fn blame_record(&self, blamed: &Blamed) -> BlameRecord {
        let Blame { rows, at_least, rest } = &blamed.found;
        BlameRecord {
            rows: rows.iter().map(|&i| RowRecord::new(self, i)).collect(),
            at_least: *at_least,
            rest: rest.verdict,
            rest_rows: rest.rows,
            rest_margin: rest.margin,
            stopped: rest.stopped.clone(),
            seconds: blamed.seconds,
        }
    }

    /// Whether nothing is left of one side without these rows.
    fn one_class(&self, decided: &Decided, removed: &[usize]) -> bool {
        let side = |i: usize| decided.classes.sign_of(self.label(i));
        let count =
            |rows: &mut dyn Iterator<Item = usize>, sign: i8| rows.filter(|&i| side(i) == Some(sign)).count();
        [1, -1]
            .into_iter()
            .any(|sign| count(&mut removed.iter().copied(), sign) == count(&mut (0..self.data.len()), sign))
    }

    /// What was found, for people.
    pub(super) fn blame_text(&self, decided: &Decided, blamed: &Blamed) -> String {
        let Blame { rows, at_least, rest } = &blamed.found;
        let count = rows.len() as u64;
        let least = counted(*at_least as u64, "row", "rows");
        let opening = match rest.verdict {
            Verdict::Complete if self.one_class(decided, rows) => format!(
                "No set of rows was found whose removal separates the rest, but all of one side: {}. Every such set has at \
                 least {least}: that is proved.",
                counted(count, "row", "rows")
            ),
            Verdict::Complete => format!(
                "Without {} the other {} are completely separable, with {}. {}",
                if count == 1 { "this row".to_string() } else { format!("these {} rows", grouped(count)) },
                grouped(rest.rows as u64),
                interval(&rest.margin),
                if *at_least >= rows.len() {
                    "No smaller set does: that is proved.".to_string()
                } else {
                    format!(
                        "They were found by a heuristic: a smaller set may do, and all that is proved is that every one has \
                         at least {least}."
                    )
                }
            ),
            _ => format!(
                "The search for few rows whose removal separates the rest ended before it was done{}. Every such set has at \
                 least {least}: that is proved. Removed until then:",
                rest.stopped.as_ref().map_or(String::new(), |why| format!(" ({why})"))
            ),
        };
        let list = rows.iter().map(|&i| (i, String::new())).collect::<Vec<_>>();
        format!("\n{}{}", wrapped(&opening, 0), row_list(self, &list))
    }
}

//! The error of a search on rows that had no part in it.

use super::candidates::Family;
use super::{Deadline, Search, Searched, fold};
use crate::Error;
use crate::dataset::Dataset;
use crate::observe::Observer;
use crate::split::folds;
use crate::theory::binomial::{Interval, clopper_pearson};
use crate::train::Settings;
use serde::{Deserialize, Serialize};

/// How the error on new rows is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judging {
    /// Nested for few rows, aside for many.
    #[default]
    Auto,
    /// The whole search is made again without each of five parts of the rows, and judged on that part.
    Nested,
    /// A fifth of the rows of each class is kept aside until the choice is made; the model then learns from all rows.
    Aside,
    /// Not at all.
    None,
}

/// With more values than this, rows are kept aside instead of searching again.
const MANY_VALUES: usize = 60_000;

/// Parts of nested cross-validation.
const PARTS: usize = 5;

impl Judging {
    /// The use of these rows.
    pub(super) fn settled(self, data: &Dataset) -> Self {
        let classes = data.classes().len();
        let scores = if classes > 2 { classes } else { 1 };
        match self {
            Judging::Auto if data.len() * data.columns().min(1000) * scores > MANY_VALUES => Judging::Aside,
            Judging::Auto => Judging::Nested,
            said => said,
        }
    }
}

/// The error on rows that had no part in the search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// How it was measured.
    pub judging: Judging,
    /// Rows judged.
    pub rows: u64,
    /// Rows predicted wrong.
    pub errors: u64,
    /// Their share.
    pub error: f64,
    /// The 95 % interval for new rows: exact for rows kept aside, about right for nested parts, whose models differ.
    pub interval: Interval,
}

impl Estimate {
    fn new(judging: Judging, errors: u64, rows: u64) -> Self {
        let error = errors as f64 / rows.max(1) as f64;
        Self { judging, rows, errors, error, interval: clopper_pearson(errors, rows) }
    }
}

/// The places of a fifth of the rows of each class, increasing: other parts than those of the search itself.
pub(super) fn rows_aside(data: &Dataset, settings: &Settings) -> Result<Vec<usize>, Error> {
    Ok(outer_parts(data, settings)?.swap_remove(0))
}

fn outer_parts(data: &Dataset, settings: &Settings) -> Result<Vec<Vec<usize>>, Error> {
    let seed = settings.seed ^ 0x6e65_7374_6564;
    Ok(folds(data, PARTS.min(data.len()), seed)?)
}

/// Learns the chosen candidate from the rows of the search, and counts its errors on those aside. `all` has both.
pub(super) fn on_rows_aside(
    all: &Search<'_>,
    searched: &Searched,
    chosen: usize,
    aside: &[usize],
    observer: &mut Deadline<'_>,
) -> Result<Option<Estimate>, Error> {
    let errors = errors_of(all, searched, chosen, aside, observer)?;
    Ok(errors.map(|errors| Estimate::new(Judging::Aside, errors, aside.len() as u64)))
}

/// Errors of the chosen candidate on a part of the rows, learned from the others. `None` if it was stopped.
fn errors_of(
    search: &Search<'_>,
    searched: &Searched,
    chosen: usize,
    part: &[usize],
    observer: &mut dyn Observer,
) -> Result<Option<u64>, Error> {
    let owner = searched.by_family().find(|(_, own)| own.contains(&chosen));
    let Some((family, own)) = owner else { return Ok(None) };
    let alone = Family { values: vec![family.values[chosen - own.start]], ..family.clone() };
    let judged = fold::judge(search, part, &alone, observer)?;
    Ok(judged.map(|judged| judged[0].iter().filter(|row| row.is_wrong()).count() as u64))
}

/// The whole search without each of five parts in turn, and the errors of what it chose on that part.
pub(super) fn nested(search: &Search<'_>, observer: &mut Deadline<'_>) -> Result<Option<Estimate>, Error> {
    let mut errors = 0;
    for part in &outer_parts(search.data(), search.settings)? {
        let rows = search.records.without(part)?;
        let inner = Search { records: &rows, ..*search };
        // A class of few rows may not be left in all of its parts: then there is no such estimate.
        if inner.check().is_err() {
            return Ok(None);
        }
        let searched = inner.run(observer)?;
        if !searched.whole {
            return Ok(None);
        }
        let chosen = inner.choose(&searched);
        match errors_of(search, &searched, chosen, part, observer)? {
            Some(found) => errors += found,
            None => return Ok(None),
        }
    }
    Ok(Some(Estimate::new(Judging::Nested, errors, search.data().len() as u64)))
}

//! The data as the checker sees it, and passes over its rows.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::verify::{Refusal, Rejected, rejected};

/// One row as it is stored.
#[derive(Clone, Copy, Debug)]
pub enum Row<'a> {
    /// Every value, as f32.
    DenseF32(&'a [f32]),
    /// Every value, as f64.
    DenseF64(&'a [f64]),
    /// Columns in increasing order, and their values as f32.
    SparseF32(&'a [u32], &'a [f32]),
    /// Columns in increasing order, and their values as f64.
    SparseF64(&'a [u32], &'a [f64]),
}

/// The side of the boundary on which a row should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// y = +1.
    Positive,
    /// y = −1.
    Negative,
    /// The row is left out.
    Neither,
}

/// The data, as the checker sees it.
pub trait Examples: Sync {
    /// Number of rows.
    fn rows(&self) -> usize;
    /// Number of features, the bias not included.
    fn features(&self) -> usize;
    /// Row `i`, whose columns are all below the number of features.
    fn row(&self, i: usize) -> Row<'_>;
    /// The side of row `i`.
    fn side(&self, i: usize) -> Side;
}

impl Row<'_> {
    /// How many values are stored.
    pub(crate) fn stored(self) -> usize {
        match self {
            Row::DenseF32(x) => x.len(),
            Row::DenseF64(x) => x.len(),
            Row::SparseF32(columns, _) | Row::SparseF64(columns, _) => columns.len(),
        }
    }

    /// Whether the row has a legal form; its values are not looked at.
    fn is_formed(self, features: usize) -> bool {
        let (columns, values) = match self {
            Row::DenseF32(x) => return x.len() == features,
            Row::DenseF64(x) => return x.len() == features,
            Row::SparseF32(columns, x) => (columns, x.len()),
            Row::SparseF64(columns, x) => (columns, x.len()),
        };
        columns.len() == values
            && columns.last().is_none_or(|&last| (last as usize) < features)
            && columns.windows(2).fold(true, |increasing, pair| increasing & (pair[0] < pair[1]))
    }

    fn is_finite(self) -> bool {
        match self {
            Row::DenseF32(x) | Row::SparseF32(_, x) => {
                x.iter().fold(true, |finite, x| finite & x.is_finite())
            }
            Row::DenseF64(x) | Row::SparseF64(_, x) => {
                x.iter().fold(true, |finite, x| finite & x.is_finite())
            }
        }
    }
}

/// Calls `visit` with each stored value whose column lies in the range.
pub(crate) fn each(row: Row<'_>, columns: Range<usize>, visit: &mut impl FnMut(usize, f64)) {
    fn dense<T: Copy + Into<f64>>(x: &[T], columns: Range<usize>, visit: &mut impl FnMut(usize, f64)) {
        for (column, &x) in columns.clone().zip(&x[columns.start.min(x.len())..]) {
            visit(column, x.into());
        }
    }
    fn sparse<T: Copy + Into<f64>>(
        places: &[u32],
        x: &[T],
        columns: Range<usize>,
        visit: &mut impl FnMut(usize, f64),
    ) {
        let first = places.partition_point(|&place| (place as usize) < columns.start);
        for (&place, &x) in places[first..].iter().zip(&x[first..]) {
            if place as usize >= columns.end {
                break;
            }
            visit(place as usize, x.into());
        }
    }
    match row {
        Row::DenseF32(x) => dense(x, columns, visit),
        Row::DenseF64(x) => dense(x, columns, visit),
        Row::SparseF32(places, x) => sparse(places, x, columns, visit),
        Row::SparseF64(places, x) => sparse(places, x, columns, visit),
    }
}

/// The rows x̃ with their sides.
pub(crate) struct Data<'a> {
    examples: &'a (dyn Examples + 'a),
    pub(crate) features: usize,
    /// The value of the coordinate that follows the features, if there is one.
    pub(crate) bias: Option<f64>,
    /// Whether the check is to end.
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> Data<'a> {
    pub(crate) fn new(
        examples: &'a impl Examples,
        bias: Option<f64>,
        stop: &'a (dyn Fn() -> bool + Sync),
    ) -> Self {
        Self { examples, features: examples.features(), bias, stop }
    }

    /// An error once the check is to end.
    pub(crate) fn go_on(&self) -> Result<(), Rejected> {
        if !(self.stop)() {
            return Ok(());
        }
        Err(Rejected { refusal: Refusal::Stopped, row: None, reason: "it was interrupted".to_string() })
    }

    pub(crate) fn rows(&self) -> usize {
        self.examples.rows()
    }

    /// Number of coordinates, the bias included.
    pub(crate) fn width(&self) -> usize {
        self.features + usize::from(self.bias.is_some())
    }

    /// Row `i` in legal form, and whether its side is the negative one; `None` if it belongs to neither.
    pub(crate) fn row(&self, i: usize) -> Result<Option<(Row<'a>, bool)>, Rejected> {
        let negative = match self.examples.side(i) {
            Side::Positive => false,
            Side::Negative => true,
            Side::Neither => return Ok(None),
        };
        let row = self.examples.row(i);
        if !row.is_formed(self.features) {
            return rejected(i, "the row's columns are not increasing numbers below the number of features");
        }
        Ok(Some((row, negative)))
    }

    /// The same, and all values of the row are finite. An infinite or NaN value makes the filter's bound so too: only rows
    /// that are looked at exactly need this.
    pub(crate) fn finite(&self, i: usize, row: Row<'_>) -> Result<(), Rejected> {
        if row.is_finite() { Ok(()) } else { rejected(i, "the row has a value that is not a finite number") }
    }

    /// The coordinates of z within the range: each stored value, and that of the bias. Signs are those of x̃.
    pub(crate) fn each(&self, row: Row<'_>, columns: Range<usize>, mut visit: impl FnMut(usize, f64)) {
        each(row, columns.start..columns.end.min(self.features), &mut visit);
        if let Some(value) = self.bias.filter(|_| columns.contains(&self.features)) {
            visit(self.features, value);
        }
    }
}

/// Calls `step` for each of the numbers below `count`, on several threads if the work is large, and gives the states of the
/// threads back. An error is that of the lowest number that has one, whatever the number of threads: chunks are begun
/// in order, and one that was begun is carried on to its first error. The caller is asked every few numbers whether to stop.
pub(crate) fn scan<S: Send>(
    data: &Data<'_>,
    count: usize,
    state: impl Fn() -> S + Sync,
    step: impl Fn(&mut S, usize) -> Result<(), Rejected> + Sync,
) -> Result<Vec<S>, Rejected> {
    const CHUNK: usize = 512;
    const PATIENCE: usize = 16;
    let next = AtomicUsize::new(0);
    let error = Mutex::new(None::<(usize, Rejected)>);
    let work = || {
        let mut state = state();
        loop {
            let start = next.fetch_add(CHUNK, Ordering::Relaxed);
            for i in start..count.min(start.saturating_add(CHUNK)) {
                let asked = if i % PATIENCE == 0 { data.go_on() } else { Ok(()) };
                if let Err(why) = asked.and_then(|()| step(&mut state, i)) {
                    next.store(count, Ordering::Relaxed);
                    let mut error = error.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                    if error.as_ref().is_none_or(|(row, _)| i < *row) {
                        *error = Some((i, why));
                    }
                    return state;
                }
            }
            if start >= count.saturating_sub(CHUNK) {
                return state;
            }
        }
    };
    let large = count.saturating_mul(data.width()) > 1 << 17 && count > CHUNK;
    let threads = if large { std::thread::available_parallelism().map_or(1, |n| n.get()) } else { 1 };
    let states = std::thread::scope(|scope| {
        // A thread that the system does not give is work for the others.
        let others = (1..threads).map_while(|_| std::thread::Builder::new().spawn_scoped(scope, work).ok());
        let others: Vec<_> = others.collect();
        let mut states = vec![work()];
        for other in others {
            match other.join() {
                Ok(state) => states.push(state),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        states
    });
    match error.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        Some((_, why)) => Err(why),
        None => Ok(states),
    }
}

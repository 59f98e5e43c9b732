//! The data as the checker sees it, and passes over its rows.

use std::sync::OnceLock;

use crate::certificate::{Bias, Checked, Refusal, Rejected, Sparse, Terms, ensure, rejected};

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

/// A test that is true only of rows that need no further look; see [`Examples::settled`].
pub type Settled<'a> = Box<dyn Fn(usize) -> bool + Sync + 'a>;

/// The data. The first four methods are all that the checker needs; the others can make it faster.
pub trait Examples: Sync {
    /// Number of rows.
    fn rows(&self) -> usize;
    /// Number of features, the bias not included.
    fn features(&self) -> usize;
    /// The side of row `i`.
    fn side(&self, i: usize) -> Side;
    /// Appends the values x of row `i` with their places, which increase and are below the number of features. Zeros may be
    /// left out.
    fn values(&self, i: usize, values: &mut Vec<(usize, f64)>);

    /// A test that is true only of rows of a side, in legal form, with ⟨w, z⟩ > lower·‖w‖; the norm is over the first `norm`
    /// coordinates, and the bias has this value. What it says is believed. Without a faster way no row is settled, and the
    /// checker computes ⟨w, z⟩ for each.
    fn settled<'a>(&'a self, w: &'a Sparse, bias: Option<f64>, lower: f64, norm: usize) -> Settled<'a> {
        let _ = (w, bias, lower, norm);
        Box::new(|_| false)
    }

    /// Calls `piece` with 0, 1, … below `pieces`; begins none after one that was false.
    fn each_piece(&self, pieces: usize, piece: &(dyn Fn(usize) -> bool + Sync)) {
        let _ = (0..pieces).all(piece);
    }
}

/// The rows z.
pub(crate) struct Data<'a> {
    pub(crate) examples: &'a dyn Examples,
    pub(crate) features: usize,
    /// The value of the coordinate that follows the features, if there is one.
    pub(crate) bias: Option<f64>,
    /// The rows that belong to a side, in order.
    pub(crate) present: Vec<usize>,
    /// Whether these all belong to the same side.
    pub(crate) one_sided: bool,
    /// Whether the check is to end.
    stop: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl<'a> Data<'a> {
    pub(crate) fn new(examples: &'a dyn Examples, bias: Bias, terms: Terms<'a>) -> Self {
        let bias = match bias {
            Bias::None => None,
            Bias::Append(value) => Some(value),
            Bias::Free => Some(1.0),
        };
        let all = 0..examples.rows();
        let present: Vec<usize> = all.filter(|&i| examples.side(i) != Side::Neither).collect();
        let one_sided = present.windows(2).all(|pair| examples.side(pair[0]) == examples.side(pair[1]));
        Self { examples, features: examples.features(), bias, present, one_sided, stop: terms.stop }
    }

    /// Number of coordinates, the bias included.
    pub(crate) fn width(&self) -> usize {
        self.features + usize::from(self.bias.is_some())
    }

    /// An error once the check is to end.
    pub(crate) fn go_on(&self) -> Checked {
        let stopped =
            || Rejected { refusal: Refusal::Stopped, row: None, reason: "it was interrupted".into() };
        if self.stop.is_some_and(|stop| stop()) { Err(stopped()) } else { Ok(()) }
    }

    /// Puts the coordinates of z_i = y_i·x̃_i that are not zero into `z`, by increasing places. Every number that is computed with
    /// comes through here: the row belongs to a side, its places are in order, its values are finite.
    pub(crate) fn z(&self, i: usize, z: &mut Vec<(usize, f64)>) -> Checked {
        self.go_on()?;
        z.clear();
        self.examples.values(i, z);
        let increase = z.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let within = z.last().is_none_or(|(place, _)| *place < self.features);
        ensure(increase && within, i, "the row's columns do not increase or are out of range")?;
        let finite = z.iter().all(|(_, value)| value.is_finite());
        ensure(finite, i, "the row has a value that is not a finite number")?;
        z.extend(self.bias.map(|value| (self.features, value)));
        z.retain(|(_, value)| *value != 0.0);
        match self.examples.side(i) {
            Side::Positive => {}
            Side::Negative => z.iter_mut().for_each(|(_, value)| *value = -*value),
            Side::Neither => return rejected(i, "the combination uses a row that belongs to neither side"),
        }
        Ok(())
    }

    /// The one way to go through many rows. They are cut into pieces, and each piece begins with an empty note, a `T`. `step` gets each row of a
    /// piece that is not settled, by its number and its z, and may write into the note. The notes are given back in the order of the rows.
    ///
    /// Pieces may be worked on in any order, even at the same time. Still, an error is that of the first row that has one: a piece ends
    /// at its first error, and of all pieces the first error counts. A piece that was left out without an error before it is an
    /// error, too.
    pub(crate) fn scan<T: Default + Send + Sync>(
        &self,
        rows: &[usize],
        settled: &(dyn Fn(usize) -> bool + Sync),
        step: impl Fn(&mut T, usize, &[(usize, f64)]) -> Checked + Sync,
    ) -> Checked<Vec<T>> {
        let work = |rows: &[usize]| {
            let (mut found, mut z) = (T::default(), Vec::new());
            self.go_on()?;
            for &i in rows.iter().filter(|&&i| !settled(i)) {
                self.z(i, &mut z)?;
                step(&mut found, i, &z)?;
            }
            Ok(found)
        };
        let pieces: Vec<(&[usize], OnceLock<_>)> =
            rows.chunks(512).map(|rows| (rows, OnceLock::new())).collect();
        self.examples.each_piece(pieces.len(), &|piece| {
            let (rows, answer) = &pieces[piece];
            answer.get_or_init(|| work(rows)).is_ok()
        });
        let missed = || rejected(None, "not all rows were looked at");
        pieces.into_iter().map(|(_, answer)| answer.into_inner().unwrap_or_else(missed)).collect()
    }
}

//! Elimination: columns in which at most one row has one of the two signs are taken out of the question, one after the other.
//!
//! Let z_r be the only row with its sign in column j, and let all entries of the column have the size u. For given weights of the other
//! columns, some w_j is right on all these rows just if ⟨w, z_r + z_i⟩ ≥ 0 for each other row i of the column: the step of Fourier and
//! Motzkin. So the sums z_r + z_i take the place of the rows, one row fewer, and the column is gone. A column
//! with one sign goes with all its rows, as in [peeling](super::peel).
//!
//! Nothing is lost. A combination of sums that vanishes is a combination of rows that vanishes, and of a vanishing combination of rows the
//! share of z_r is that of all rows i together, so that it is one of sums: a row is in B just if it is part of a sum in B, and no row of a circuit can be
//! left out before or after. Of a table of words with many levels few columns are left.

use super::examples::Examples;
use super::number::{Exact, ExactVector};
use crate::dataset::{Dataset, DatasetError};
use dashu_int::IBig;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// More entries than this are not worth the memory.
const MAX_ENTRIES: usize = 1 << 23;
/// The sums have at most so many times the entries of the rows.
const MAX_GROWTH: usize = 2;

/// A row, or the sum of two.
struct Node {
    /// The entries that are not zero, by increasing columns.
    entries: Vec<(u32, f64)>,
    /// What it is the sum of.
    parts: Option<[u32; 2]>,
    /// Whether nothing has taken its place.
    is_left: bool,
}

/// One column that was taken out.
struct Step {
    column: usize,
    /// The only row of one sign; none if all rows have the same sign.
    only: Option<u32>,
    /// The other rows of the column.
    others: Vec<u32>,
    /// Whether the entry of the only row, or those of all rows if there is none, are positive.
    is_positive: bool,
    /// No entry is smaller than this power of two; beside an only row all are equal to it.
    power: i32,
}

/// Rows without the columns that could be eliminated.
pub(super) struct Eliminated {
    /// The rows themselves, then sums of those before.
    nodes: Vec<Node>,
    /// The row that each of the first nodes is.
    origins: Vec<usize>,
    steps: Vec<Step>,
    /// The nodes that are left: the rows of the smaller question.
    left: Vec<u32>,
    /// The columns that they use.
    columns: Vec<usize>,
    /// All coordinates of the rows.
    dimension: usize,
}

/// Eliminates columns for as long as there are such; none if it does not help much, or was stopped.
pub(super) fn eliminate(
    examples: &Examples<'_>,
    rows: &[usize],
    stop: &mut dyn FnMut() -> bool,
) -> Option<Eliminated> {
    let stored: usize = rows.iter().map(|&row| examples.data().row(row).stored() + 1).sum();
    if stored > MAX_ENTRIES {
        return None;
    }
    let row = |&row: &usize| Node {
        entries: examples.entries(row).map(|(column, value)| (column as u32, value)).collect(),
        parts: None,
        is_left: true,
    };
    let nodes: Vec<Node> = rows.iter().map(row).collect();
    let mut work = Work {
        columns: vec![Column::default(); examples.dimension()],
        queue: BinaryHeap::new(),
        steps: Vec::new(),
        stored: 0,
        nodes,
    };
    for node in 0..work.nodes.len() {
        work.enter(node as u32);
    }
    let used = work.columns.iter().filter(|column| column.rows() > 0).count();
    let most = MAX_GROWTH * work.stored;
    (0..work.columns.len()).for_each(|column| work.propose(column));
    while let Some(Reverse((_, column))) = work.queue.pop() {
        if work.steps.len().is_multiple_of(64) && stop() {
            return None;
        }
        work.take_out(column, most);
    }
    let Work { nodes, columns, steps, .. } = work;
    let columns: Vec<usize> = (0..columns.len()).filter(|&column| columns[column].rows() > 0).collect();
    // Sums are longer than rows: they should be worth it.
    if columns.len() * 4 > used * 3 {
        return None;
    }
    let left = (0..nodes.len() as u32).filter(|&node| nodes[node as usize].is_left).collect();
    Some(Eliminated { nodes, origins: rows.to_vec(), steps, left, columns, dimension: examples.dimension() })
}

/// The rows that use a column.
#[derive(Clone, Default)]
struct Column {
    /// Those that are left, with a positive and with a negative entry.
    count: [usize; 2],
    /// Those that used it when they were made.
    members: Vec<u32>,
}

impl Column {
    fn rows(&self) -> usize {
        self.count[0] + self.count[1]
    }
}

/// Elimination under way.
struct Work {
    nodes: Vec<Node>,
    columns: Vec<Column>,
    /// Columns that may go, those with few rows first.
    queue: BinaryHeap<Reverse<(usize, usize)>>,
    steps: Vec<Step>,
    /// Entries of all nodes that are left.
    stored: usize,
}

impl Work {
    /// Counts a node among those that are left.
    fn enter(&mut self, node: u32) {
        let entries = &self.nodes[node as usize].entries;
        self.stored += entries.len();
        for &(column, value) in entries {
            let column = &mut self.columns[column as usize];
            column.count[usize::from(value < 0.0)] += 1;
            column.members.push(node);
        }
    }

    /// Lets a column wait for its turn, if it may go.
    fn propose(&mut self, column: usize) {
        let [above, below] = self.columns[column].count;
        if above.min(below) <= 1 && above + below > 0 {
            self.queue.push(Reverse((above + below, column)));
        }
    }

    /// The entry of a node in a column.
    fn entry(&self, node: u32, column: usize) -> Option<f64> {
        let entries = &self.nodes[node as usize].entries;
        let place = entries.binary_search_by_key(&(column as u32), |&(column, _)| column).ok()?;
        Some(entries[place].1)
    }

    /// Takes a column out, if all its entries have the same size, a power of two, and all sums are exact.
    fn take_out(&mut self, column: usize, most: usize) {
        let [above, below] = self.columns[column].count;
        if above.min(below) > 1 || above + below == 0 {
            return;
        }
        let mut members = std::mem::take(&mut self.columns[column].members);
        members.retain(|&node| self.nodes[node as usize].is_left);
        let has_one_sign = above.min(below) == 0;
        let is_positive = if has_one_sign { above > 0 } else { above == 1 };
        let (mut only, mut others) = (None, Vec::new());
        let (mut least, mut largest) = (f64::INFINITY, 0.0_f64);
        for &node in &members {
            let Some(value) = self.entry(node, column) else { continue };
            (least, largest) = (least.min(value.abs()), largest.max(value.abs()));
            match !has_one_sign && (value > 0.0) == is_positive {
                true => only = Some(node),
                false => others.push(node),
            }
        }
        let power = libm::ilogb(least);
        let is_power = least == largest && libm::scalbn(1.0, power) == least;
        let sums = match only {
            None => Some(Vec::new()),
            Some(only) if is_power => self.sums(only, &others, most),
            Some(_) => None,
        };
        let Some(sums) = sums else {
            self.columns[column].members = members;
            return;
        };
        let mut touched = Vec::new();
        for &node in others.iter().chain(&only) {
            let node = &mut self.nodes[node as usize];
            node.is_left = false;
            self.stored -= node.entries.len();
            for &(column, value) in &node.entries {
                self.columns[column as usize].count[usize::from(value < 0.0)] -= 1;
                touched.push(column as usize);
            }
        }
        for (entries, &other) in sums.into_iter().zip(&others) {
            let parts = only.map(|only| [only, other]);
            self.nodes.push(Node { entries, parts, is_left: true });
            self.enter(self.nodes.len() as u32 - 1);
        }
        self.steps.push(Step { column, only, others, is_positive, power });
        touched.sort_unstable();
        touched.dedup();
        touched.into_iter().for_each(|column| self.propose(column));
    }

    /// The sums of one node with each of the others; none if one is not exact, or if they are too long.
    fn sums(&self, only: u32, others: &[u32], most: usize) -> Option<Vec<Vec<(u32, f64)>>> {
        let length = |node: u32| self.nodes[node as usize].entries.len();
        let more = (others.len() - 1) * length(only);
        if self.stored + more > most {
            return None;
        }
        let entries = |node: u32| self.nodes[node as usize].entries.as_slice();
        others.iter().map(|&other| sum(entries(only), entries(other))).collect()
    }
}

/// The sum of two rows, if floats hold it exactly.
fn sum(a: &[(u32, f64)], b: &[(u32, f64)]) -> Option<Vec<(u32, f64)>> {
    let (mut i, mut k, mut sum) = (0, 0, Vec::with_capacity(a.len() + b.len()));
    while i < a.len() || k < b.len() {
        let (left, right) = (a.get(i), b.get(k));
        let order = match (left, right) {
            (Some((left, _)), Some((right, _))) => left.cmp(right),
            (Some(_), None) => Ordering::Less,
            _ => Ordering::Greater,
        };
        if order.is_lt() {
            sum.extend(left);
        } else if order.is_gt() {
            sum.extend(right);
        } else if let (Some(&(column, x)), Some(&(_, y))) = (left, right) {
            let total = x + y;
            // What rounding lost: zero just if nothing was.
            let back = total - x;
            if !total.is_finite() || (x - (total - back)) + (y - back) != 0.0 {
                return None;
            }
            if total != 0.0 {
                sum.push((column, total));
            }
        }
        i += usize::from(order.is_le());
        k += usize::from(order.is_ge());
    }
    Some(sum)
}

impl Eliminated {
    /// Rows of the smaller question.
    pub(super) fn len(&self) -> usize {
        self.left.len()
    }

    /// The smaller question: its rows are z themselves, without a bias of their own.
    pub(super) fn dataset(&self) -> Result<Dataset, DatasetError> {
        let mut place = vec![0u32; self.dimension];
        self.columns.iter().enumerate().for_each(|(k, &column)| place[column] = k as u32);
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for &node in &self.left {
            for &(column, value) in &self.nodes[node as usize].entries {
                indices.push(place[column as usize]);
                values.push(value);
            }
            offsets.push(values.len());
        }
        let labels = vec!["1"; self.left.len()];
        Dataset::sparse(self.columns.len().max(1), &offsets, &indices, &values, &labels)
    }

    /// A combination of rows of the smaller question as one of the rows themselves.
    pub(super) fn combination<'s>(
        &self,
        shares: impl IntoIterator<Item = (&'s usize, &'s Exact)>,
    ) -> Vec<(usize, Exact)> {
        let mut sums: Vec<Option<Exact>> = vec![None; self.nodes.len()];
        let add = |sum: &mut Option<Exact>, share: &Exact| {
            *sum = Some(sum.take().map_or_else(|| share.clone(), |sum| sum.plus(share)));
        };
        shares.into_iter().for_each(|(&row, share)| add(&mut sums[self.left[row] as usize], share));
        for node in (self.origins.len()..self.nodes.len()).rev() {
            if let (Some(share), Some(parts)) = (sums[node].take(), self.nodes[node].parts) {
                parts.iter().for_each(|&part| add(&mut sums[part as usize], &share));
            }
        }
        let own = sums.into_iter().take(self.origins.len());
        self.origins.iter().zip(own).filter_map(|(&row, share)| Some((row, share?))).collect()
    }

    /// The weights of the smaller question with weights of the columns that were taken out: zero on the rows that are part of a sum with
    /// the agreement zero, and positive on all others.
    pub(super) fn lift(&self, weights: Option<&ExactVector>) -> ExactVector {
        let mut w: Vec<Exact> = vec![Exact::zero(); self.dimension];
        if let Some(weights) = weights {
            for (&column, value) in self.columns.iter().zip(&weights.values) {
                w[column] = Exact::new(value.clone(), weights.exponent);
            }
        }
        for Step { column, only, others, is_positive, power } in self.steps.iter().rev() {
            // ⟨w, z⟩ without the column, whose weight is still zero.
            let rest = |&node: &u32| {
                let entries = self.nodes[node as usize].entries.iter();
                let term = |&(column, value): &(u32, f64)| w[column as usize].times(&Exact::from_f64(value));
                entries.map(term).fold(Exact::zero(), |sum, term| sum.plus(&term))
            };
            let least = others.iter().map(rest).reduce(|a, b| if b.compare(&a).is_lt() { b } else { a });
            let least = least.unwrap_or_else(Exact::zero);
            // What the column must give to the rows of its sign, and what it may take from the others.
            let given = match only {
                Some(only) => between(&Exact::zero().minus(&rest(only)), &least),
                None => above(&Exact::zero().minus(&least)),
            };
            let (mantissa, exponent) = given.mantissa_and_exponent();
            let mantissa = if *is_positive { mantissa.clone() } else { -mantissa.clone() };
            w[*column] = Exact::new(mantissa, exponent - i64::from(*power));
        }
        let exponent = w.iter().filter(|x| x.sign().is_ne()).map(|x| x.mantissa_and_exponent().1).min();
        let exponent = exponent.unwrap_or(0);
        let aligned = |x: Exact| {
            let (mantissa, own) = x.mantissa_and_exponent();
            if x.sign().is_eq() { IBig::ZERO } else { mantissa.clone() << (own - exponent) as usize }
        };
        ExactVector { values: w.into_iter().map(aligned).collect(), exponent }
    }
}

/// Zero, or a power of two, that is above this number.
fn above(low: &Exact) -> Exact {
    match low.sign() {
        Ordering::Less => Exact::zero(),
        Ordering::Equal => Exact::new(IBig::ONE, 0),
        Ordering::Greater => Exact::new(IBig::ONE, low.scaled().1 + 1),
    }
}

/// A number between two others, not at either end unless they are the same, and short.
fn between(low: &Exact, high: &Exact) -> Exact {
    let width = high.minus(low);
    if width.sign().is_le() {
        return low.clone();
    }
    if low.sign().is_lt() && high.sign().is_gt() {
        return Exact::zero();
    }
    // A multiple of at most half the width.
    let (mantissa, exponent) = low.mantissa_and_exponent();
    let unit = width.scaled().1 - 1;
    Exact::new(Exact::new(mantissa.clone(), exponent - unit).floor() + IBig::ONE, unit)
}

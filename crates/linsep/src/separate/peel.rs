//! Peeling: a column with one sign over all remaining rows puts the rows that use it in N, and they can be set aside.
//!
//! Exact for the decision: a large multiple of that coordinate makes those rows positive and changes no other. Each
//! sweep takes all such columns at once; within a sweep they cannot hurt each other, and a later sweep's columns are
//! outweighed by an earlier one's.

use super::examples::Examples;

/// What was peeled, sweep by sweep, and what is left.
#[derive(Clone, Debug, Default)]
pub(super) struct Peeled {
    sweeps: Vec<Sweep>,
    /// Rows that no column with one sign uses.
    pub(super) core: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Sweep {
    /// +1 or −1 for each column with one sign.
    columns: Vec<(usize, f64)>,
    rows: Vec<usize>,
}

/// Peels until no column has one sign. Rows of `boundary` are counted and never peeled: a column that they use has both
/// signs among them.
pub(super) fn peel(examples: &Examples<'_>, rows: &[usize], boundary: &[usize]) -> Peeled {
    const POSITIVE: u8 = 1;
    const NEGATIVE: u8 = 2;
    let mut core = rows.to_vec();
    let mut sweeps = Vec::new();
    loop {
        let mut signs = vec![0u8; examples.dimension()];
        for &row in core.iter().chain(boundary) {
            examples.entries(row).for_each(|(column, value)| {
                signs[column] |= if value > 0.0 { POSITIVE } else { NEGATIVE };
            });
        }
        let one_sign = |column: usize| signs[column] == POSITIVE || signs[column] == NEGATIVE;
        let (peeled, rest): (Vec<usize>, Vec<usize>) =
            core.iter().partition(|&&row| examples.entries(row).any(|(column, _)| one_sign(column)));
        core = rest;
        if peeled.is_empty() {
            return Peeled { sweeps, core };
        }
        let columns = (0..signs.len())
            .filter(|&column| one_sign(column))
            .map(|column| (column, if signs[column] == POSITIVE { 1.0 } else { -1.0 }))
            .collect();
        sweeps.push(Sweep { columns, rows: peeled });
    }
}

impl Peeled {
    /// Adds to w, which is positive on the core and uses only its columns, what makes the peeled rows positive too.
    /// False if no float is large enough.
    pub(super) fn lift(&self, examples: &Examples<'_>, w: &mut [f64]) -> bool {
        for sweep in self.sweeps.iter().rev() {
            let mut unit = vec![0.0; w.len()];
            sweep.columns.iter().for_each(|&(column, sign)| unit[column] = sign);
            let needed = sweep.rows.iter().map(|&row| {
                let lacking = -examples.dot(row, w);
                lacking / examples.dot(row, &unit)
            });
            let least = w.iter().fold(0.0f64, |most, x| most.max(x.abs())).max(1.0) * 1e-3;
            let size = needed.fold(least, f64::max) * 2.0;
            if !size.is_finite() || size > 1e200 {
                return false;
            }
            sweep.columns.iter().for_each(|&(column, sign)| w[column] = sign * size);
        }
        true
    }
}

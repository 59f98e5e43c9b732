//! Faster ways for the checker: a float filter that settles nearly all rows at the speed of memory, and threads.
//!
//! The checker ([`linsep_check`]) needs neither: on its own it computes each product exactly, one after the other. What the
//! filter says is believed, so its bound is rigorous; the tests compare it with the exact signs.

use super::Examples;
use crate::dataset::Row;
use linsep_check::{Dyadic, Sparse};
use rayon::prelude::*;

/// Unit roundoff of f64.
const U: f64 = f64::EPSILON / 2.0;
/// 2^−1000: above every loss by underflow, below everything that matters.
const TINY: f64 = f64::from_bits(23 << 52);
/// Rows that one thread looks at in one go.
const BLOCK: usize = 4096;

/// The rows of a side, in order, without those that are clearly on their side: see [`settled`].
pub(super) fn unsettled(
    examples: &Examples<'_>,
    w: &Sparse,
    bias: Option<f64>,
    lower: f64,
    norm: usize,
) -> Vec<usize> {
    let settled = settled(examples, w, bias, lower, norm);
    let open = |i: &usize| examples.signs()[*i] != 0 && !settled.as_ref().is_some_and(|settled| settled(*i));
    let blocks = examples.len().div_ceil(BLOCK);
    let block = |k: usize| (k * BLOCK..examples.len().min((k + 1) * BLOCK)).filter(open).collect::<Vec<_>>();
    (0..blocks).into_par_iter().map(block).collect::<Vec<_>>().concat()
}

/// A test that is true only of rows with ⟨w, z⟩ > lower·‖w‖, where the norm is over the first `norm` coordinates.
///
/// w is scaled by a power of two, which changes no sign, and rounded to floats ŵ. For a row, p ≈ ⟨ŵ, z⟩ and s ≈ Σ|ŵ_j z_j| are computed
/// in floats. With n products, summed in any order, the relative errors of rounding w, of the products and of the sums are
/// below (n + 3)·u·(1 + small) of the exact Σ|w_j z_j|, s is itself too small by no more than such a part, and underflow costs at most
/// 2^−1074 a product: e = 2·(n + 8)·u·s + (n + 8)·2^−1000 leaves room for all of these and for the rounding of the bound. (n
/// is far below 2^43: the values are in memory.) A row is settled if p > e + t, where t ≥ lower·‖w‖ in the same scale.
/// Values that are NaN or infinite, on the way or in the data, fail the comparison and so settle nothing. If entries of
/// w differ by more than a factor of 2^900, there is no test.
fn settled<'a>(
    examples: &'a Examples<'a>,
    w: &Sparse,
    bias: Option<f64>,
    lower: f64,
    norm: usize,
) -> Option<impl Fn(usize) -> bool + Sync + use<'a>> {
    let tops = || w.iter().map(|(_, c)| c.top());
    let (height, lowest) = (tops().max()?, tops().min()?);
    if height - lowest > 900 {
        return None;
    }
    let features = examples.data().columns();
    let mut rounded = vec![0.0; features + usize::from(bias.is_some())];
    w.iter().for_each(|(place, c)| rounded[*place] = round(c, height));
    let threshold = threshold(&rounded[..norm], lower);
    Some(move |i: usize| {
        let row = examples.data().row(i);
        let (mut value, mut size) = match row {
            Row::DenseF32(x) => dense(&rounded, x),
            Row::DenseF64(x) => dense(&rounded, x),
            Row::SparseF32(columns, x) => gathered(&rounded, columns, x),
            Row::SparseF64(columns, x) => gathered(&rounded, columns, x),
        };
        if let Some(bias) = bias {
            let product = rounded[features] * bias;
            value += product;
            size += product.abs();
        }
        let terms = row.stored() as f64 + 8.0;
        let error = 2.0 * terms * U * size + terms * TINY;
        f64::from(examples.signs()[i]) * value > error + threshold
    })
}

/// c·2^−height to a relative error of u·(1 + 2^−9); |c| lies between 2^(height − 901) and 2^height.
fn round(c: &Dyadic, height: i64) -> f64 {
    let mut words = c.parts().0.iter().rev();
    let (high, low) = (words.next().copied().unwrap_or(0), words.next().copied().unwrap_or(0));
    let head = (u128::from(high) << 64 | u128::from(low)) << high.leading_zeros();
    let value = libm::scalbn((head >> 64) as f64, (c.top() - height) as i32 - 64);
    if c.sign().is_lt() { -value } else { value }
}

/// A float that is at least lower·‖w‖; it may be infinite.
fn threshold(w: &[f64], lower: f64) -> f64 {
    if lower == 0.0 {
        return 0.0;
    }
    let terms = w.len() as f64 + 16.0;
    let square = w.iter().map(|w| w * w).sum::<f64>() + terms * TINY;
    square.sqrt() * (1.0 + 4.0 * terms * U) * lower + TINY
}

/// Σ w·x and Σ |w·x|, with several sums side by side so that the loop runs at the speed of memory.
fn dense<T: Copy + Into<f64>>(w: &[f64], x: &[T]) -> (f64, f64) {
    const LANES: usize = 8;
    let (mut value, mut size) = ([0.0; LANES], [0.0; LANES]);
    let (x_blocks, x_rest) = x.as_chunks::<LANES>();
    let (w_blocks, w_rest) = w[..x.len()].as_chunks::<LANES>();
    for (w, x) in w_blocks.iter().zip(x_blocks) {
        for lane in 0..LANES {
            let product = w[lane] * x[lane].into();
            value[lane] += product;
            size[lane] += product.abs();
        }
    }
    for (lane, (&w, &x)) in w_rest.iter().zip(x_rest).enumerate() {
        let product = w * x.into();
        value[lane] += product;
        size[lane] += product.abs();
    }
    (value.iter().sum(), size.iter().sum())
}

/// The same for the stored values of a sparse row.
fn gathered<T: Copy + Into<f64>>(w: &[f64], columns: &[u32], x: &[T]) -> (f64, f64) {
    const LANES: usize = 4;
    let (mut value, mut size) = ([0.0; LANES], [0.0; LANES]);
    for (columns, x) in columns.chunks(LANES).zip(x.chunks(LANES)) {
        for (lane, (&column, &x)) in columns.iter().zip(x).enumerate() {
            let product = w[column as usize] * x.into();
            value[lane] += product;
            size[lane] += product.abs();
        }
    }
    (value.iter().sum(), size.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::super::testing::instances::{Instance, instance};
    use super::super::testing::{examples, from, grid, normals, problem, sides, times};
    use super::super::{Bias, Certificate, Claim, Columns};
    use super::*;
    use crate::random::Random;
    use linsep_check::{Accepted, Margin, Rejected, Subject, check};

    /// The same rows without any help.
    struct Alone<'a>(&'a Examples<'a>);

    impl linsep_check::Examples for Alone<'_> {
        fn rows(&self) -> usize {
            linsep_check::Examples::rows(self.0)
        }
        fn features(&self) -> usize {
            linsep_check::Examples::features(self.0)
        }
        fn side(&self, i: usize) -> i8 {
            linsep_check::Examples::side(self.0, i)
        }
        fn values(&self, i: usize, values: &mut Vec<(usize, f64)>) {
            linsep_check::Examples::values(self.0, i, values);
        }
    }

    fn complete(examples: &Examples<'_>, weights: Sparse, lower: f64) -> Certificate {
        let subject = Subject {
            fingerprint: String::new(),
            rows: examples.len(),
            features: examples.data().columns(),
            positive: vec![],
            negative: vec![],
        };
        let margin = Margin { lower, upper: f64::MAX, combination: vec![] };
        let claim = Claim::Complete { weights, margin };
        Certificate { subject, bias: examples.bias(), claim, columns: Columns::default() }
    }

    /// The answer, which is the same with help and without.
    fn answer(certificate: &Certificate, examples: &Examples<'_>) -> Result<Accepted, Rejected> {
        let helped = check(certificate, examples, &|| false);
        assert_eq!(helped, check(certificate, &Alone(examples), &|| false), "{certificate:?}");
        helped
    }

    fn sparse(w: &[f64]) -> Sparse {
        let entries = w.iter().enumerate().filter(|(_, value)| **value != 0.0);
        entries.map(|(place, value)| (place, Dyadic::from_f64(*value).unwrap())).collect()
    }

    /// Rows made to break a solver, weights that are nearly orthogonal to some, and lower ends next to what is true.
    #[test]
    fn answers_are_those_of_exact_arithmetic() {
        let mut random = Random::new(5);
        let mut kinds = [0; 2];
        for number in 0..times(1500) {
            let (_, problem) = instance(11, number);
            let data = problem.dataset();
            let examples = examples(&data, &problem);
            if problem.present().is_empty() {
                continue;
            }
            let z = problem.z();
            let width = examples.dimension();
            let mut w: Vec<f64> = match random.below(3) {
                0 => z[random.below(z.len() as u64) as usize].clone(),
                1 => (0..width).map(|_| random.normal()).collect(),
                _ => (0..width).map(|j| z.iter().map(|z| z[j]).sum::<f64>()).collect(),
            };
            // Orthogonal to a row up to rounding.
            if width > 1 && random.below(3) == 0 {
                let row = &z[random.below(z.len() as u64) as usize];
                w = vec![0.0; width];
                (w[0], w[1]) = (row[1], -row[0]);
            }
            if !w.iter().all(|w| w.is_finite()) {
                continue;
            }
            let length = w.iter().map(|w| w * w).sum::<f64>().sqrt();
            let least =
                z.iter().map(|z| z.iter().zip(&w).map(|(z, w)| z * w).sum::<f64>()).fold(f64::MAX, f64::min);
            let near = least / length;
            for lower in [0.0, near, near.next_down(), near.next_up(), near / 2.0] {
                let lower = if lower.is_finite() && lower > 0.0 { lower } else { 0.0 };
                let answer = answer(&complete(&examples, sparse(&w), lower), &examples);
                kinds[usize::from(answer.is_ok())] += 1;
            }
        }
        assert!(kinds.iter().all(|&count| count > 200), "{kinds:?}");
    }

    /// The row that is named is the first, whatever thread finds which.
    #[test]
    fn many_rows_on_many_threads() {
        let mut random = Random::new(6);
        for _ in 0..times(12) {
            let (n, d) = (from(&mut random, 1500, 6000), from(&mut random, 1, 6));
            let mut rows = grid(&mut random, n, d, 3);
            rows.iter_mut().for_each(|row| row[0] = 1.0 + row[0].abs());
            let signs = sides(&mut random, n);
            rows.iter_mut().zip(&signs).for_each(|(row, &sign)| row[0] *= f64::from(sign));
            for i in (0..random.below(4)).map(|_| random.below(n as u64) as usize).collect::<Vec<_>>() {
                rows[i][0] = 0.0;
            }
            let first = rows.iter().position(|row| row[0] == 0.0);
            let problem = Instance { sparse: random.below(2) == 0, ..problem(rows, signs, Bias::None) };
            let data = problem.dataset();
            let examples = examples(&data, &problem);
            let answer = answer(&complete(&examples, sparse(&[1.0]), 0.0), &examples);
            assert_eq!(answer.err().and_then(|rejected| rejected.row), first);
        }
    }

    /// The filter is worth its trouble: rows that are clearly on their side are settled.
    #[test]
    fn clear_rows_are_settled() {
        let mut random = Random::new(7);
        for bias in [Bias::None, Bias::Append(1.0), Bias::Free] {
            let rows = normals(&mut random, 500, 7);
            let w: Vec<f64> = (0..7).map(|_| random.normal()).collect();
            let product = |row: &Vec<f64>| row.iter().zip(&w).map(|(x, w)| x * w).sum::<f64>();
            let signs = rows.iter().map(|row| if product(row) > 0.0 { 1 } else { -1 }).collect();
            let problem = problem(rows.clone(), signs, bias);
            let data = problem.dataset();
            let examples = examples(&data, &problem);
            let weights = sparse(&w);
            let value = Some(examples.bias_input()).filter(|value| *value > 0.0);
            let settled = settled(&examples, &weights, value, 0.0, 7).unwrap();
            let clear = (0..rows.len()).filter(|&i| product(&rows[i]).abs() > 1e-9);
            assert!(clear.into_iter().all(settled));
        }
    }
}

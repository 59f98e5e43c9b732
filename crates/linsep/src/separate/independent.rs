//! Rows that are independent: then some w has ⟨w, z⟩ = 1 for all of them, whatever their sides.
//!
//! With Zᵀ = QR, w = Q R⁻ᵀ 1 is the shortest such w. Q is made by Gram and Schmidt, every vector orthogonalised twice, by blocks on all
//! cores with the same bits: unlike normal equations this bears rows that are nearly dependent.

use super::examples::Examples;
use crate::linalg::{add_dense, dot_dense, norm_squared};
use rayon::prelude::*;

/// Rows that are orthogonalised together.
const PANEL: usize = 16;
/// Coordinates that a core works on at once.
const STRIP: usize = 512;
/// Rows whose part outside the span of the others is shorter than this, relative to the row, are taken to depend on them.
const DEPENDENT: f64 = 1e-13;

/// Weights with ⟨w, z⟩ ≈ ‖z‖ for the rows and ⟨w, l⟩ ≈ 0 for the free rows, if floats hold such; rows that depend on others are left
/// out. None if the budget ended, or if a matrix of the rows does not fit.
pub(super) fn equal_agreements(
    examples: &Examples<'_>,
    rows: &[usize],
    free: &[usize],
    memory: u64,
    stop: &mut dyn FnMut() -> bool,
) -> Option<Vec<f64>> {
    let mut place = vec![u32::MAX; examples.dimension()];
    for &row in rows.iter().chain(free) {
        examples.entries(row).for_each(|(column, _)| place[column] = 0);
    }
    let used: Vec<usize> = (0..place.len()).filter(|&column| place[column] == 0).collect();
    used.iter().enumerate().for_each(|(k, &column)| place[column] = k as u32);
    let width = used.len();
    let count = rows.len() + free.len();
    // With many more rows than columns all depend on others; with many of both it would take too long.
    const MAX_PRODUCTS: u64 = 30_000_000_000;
    let products = (width as u64).saturating_mul((count as u64).pow(2));
    let fits = (8 * width * count.min(width)) as u64 <= memory;
    if rows.is_empty() || count > width + width / 4 || products > MAX_PRODUCTS || !fits {
        return None;
    }
    let unit = |row: usize| {
        let mut v = vec![0.0; width];
        examples.entries(row).for_each(|(column, value)| v[place[column] as usize] = value);
        let norm = norm_squared(&v).sqrt();
        v.iter_mut().for_each(|v| *v /= norm);
        v
    };
    // Those that w is to be orthogonal to come first.
    let order: Vec<(usize, f64)> =
        free.iter().map(|&row| (row, 0.0)).chain(rows.iter().map(|&row| (row, 1.0))).collect();
    let mut basis = Basis { q: Vec::new(), w: vec![0.0; width] };
    for panel in order.chunks(PANEL) {
        if stop() {
            return None;
        }
        let vectors: Vec<Vec<f64>> = panel.iter().map(|&(row, _)| unit(row)).collect();
        basis.add(vectors, panel.iter().map(|&(_, target)| target));
    }
    let mut w = vec![0.0; examples.dimension()];
    used.iter().zip(&basis.w).for_each(|(&column, &value)| w[column] = value);
    Some(w)
}

/// An orthonormal basis, and the vector of their span with the products asked for.
struct Basis {
    q: Vec<Vec<f64>>,
    w: Vec<f64>,
}

impl Basis {
    /// Adds vectors of length 1, with the products that w is to have with them. Earlier products stay as they are: w changes only
    /// along what is new in each vector.
    fn add(&mut self, vectors: Vec<Vec<f64>>, targets: impl Iterator<Item = f64>) {
        let mut new = vectors.clone();
        for _ in 0..2 {
            self.remove_parts(&mut new);
        }
        let old = self.q.len();
        for ((vector, mut rest), target) in vectors.into_iter().zip(new).zip(targets) {
            for _ in 0..2 {
                for q in &self.q[old..] {
                    let part = dot_dense(q, &rest);
                    add_dense(-part, q, &mut rest);
                }
            }
            let norm = norm_squared(&rest).sqrt();
            if norm.is_nan() || norm <= DEPENDENT {
                continue;
            }
            rest.iter_mut().for_each(|x| *x /= norm);
            // ⟨w + t q, v⟩ = target, where ⟨q, v⟩ is the part of v that is new.
            let lacking = target - dot_dense(&self.w, &vector);
            add_dense(lacking / dot_dense(&rest, &vector), &rest, &mut self.w);
            self.q.push(rest);
        }
    }

    /// Takes from each vector its part in the span.
    fn remove_parts(&self, vectors: &mut [Vec<f64>]) {
        if self.q.is_empty() {
            return;
        }
        let parts: Vec<Vec<f64>> = self
            .q
            .par_iter()
            .with_min_len(8)
            .map(|q| vectors.iter().map(|vector| dot_dense(q, vector)).collect())
            .collect();
        let width = self.w.len();
        let strips: Vec<Vec<Vec<f64>>> = (0..width)
            .into_par_iter()
            .step_by(STRIP)
            .map(|start| {
                let strip = start..(start + STRIP).min(width);
                let mut rest: Vec<Vec<f64>> =
                    vectors.iter().map(|vector| vector[strip.clone()].to_vec()).collect();
                for (q, parts) in self.q.iter().zip(&parts) {
                    for (rest, &part) in rest.iter_mut().zip(parts) {
                        add_dense(-part, &q[strip.clone()], rest);
                    }
                }
                rest
            })
            .collect();
        for (number, strip) in strips.into_iter().enumerate() {
            for (vector, rest) in vectors.iter_mut().zip(strip) {
                vector[number * STRIP..][..rest.len()].copy_from_slice(&rest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Bias;
    use super::super::testing::instances::Instance;
    use super::super::testing::{examples, from, normals, problem, sides};
    use super::*;
    use crate::random::Random;

    /// Independent rows all get the same agreement in units of their length, and free rows none; with any number of threads.
    #[test]
    fn independent_rows_agree() {
        for number in 0..60 {
            let random = &mut Random::stream(82, number);
            let d = from(random, 1, 70);
            let n = from(random, 1, d as u64);
            let mut rows = normals(random, n, d);
            // Nearly dependent: the last is the first but for a little.
            if n > 1 && number % 3 == 0 {
                let shift = rows[n - 1].clone();
                rows[n - 1] = rows[0].iter().zip(&shift).map(|(a, b)| a + 1e-6 * b).collect();
            }
            let problem = Instance { sparse: number % 2 == 0, ..problem(rows, sides(random, n), Bias::None) };
            let data = problem.dataset();
            let examples = examples(&data, &problem);
            let present = problem.present();
            let (free, rest) = present.split_at(from(random, 0, n as u64 - 1));
            let find = || equal_agreements(&examples, rest, free, 1 << 30, &mut || false).unwrap();
            let w = find();
            for &row in &present {
                let expected =
                    if free.contains(&row) { 0.0 } else { norm_squared(&examples.dense(row)).sqrt() };
                let found = examples.dot(row, &w);
                assert!(
                    (found - expected).abs() < 1e-4 * (1.0 + expected),
                    "{number}: {found}, not {expected}"
                );
            }
            let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            assert_eq!(w, alone.install(find), "{number}");
        }
    }

    /// A row twice, and more rows than columns: what there is, or nothing.
    #[test]
    fn dependent_rows_are_left_out() {
        let rows = vec![vec![1.0, 2.0, 0.0], vec![1.0, 2.0, 0.0], vec![0.0, 0.0, 3.0]];
        let once = problem(rows, vec![1, 1, -1], Bias::None);
        let data = once.dataset();
        let some = examples(&data, &once);
        let w = equal_agreements(&some, &[0, 1, 2], &[], 1 << 30, &mut || false).unwrap();
        for row in 0..3 {
            assert!(some.dot(row, &w) > 0.5);
        }
        assert!(equal_agreements(&some, &[0, 1, 2], &[], 8, &mut || false).is_none());
        assert!(equal_agreements(&some, &[0, 1, 2], &[], 1 << 30, &mut || true).is_none());
        let many = problem(vec![vec![1.0]; 4], vec![1; 4], Bias::None);
        let data = many.dataset();
        let crowd = examples(&data, &many);
        assert!(equal_agreements(&crowd, &[0, 1, 2, 3], &[], 1 << 30, &mut || false).is_none());
    }
}

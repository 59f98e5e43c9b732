//! Eigenvalues and eigenvectors of a small symmetric matrix, by Jacobi's rotations.
//!
//! A rotation in the plane of coordinates p and q makes the entry a_pq zero and takes 2 a_pq² from the sum of squares off the
//! diagonal, so that sweeps over all planes make the matrix diagonal. The planes are visited in one fixed order and the sums
//! have one order, so the same matrix gives the same bits everywhere.

/// Sweeps after which the matrix is taken for diagonal; convergence is quadratic, and a handful are enough.
const MAX_SWEEPS: usize = 60;

/// The eigenvalues of a symmetric matrix, the largest first, each with its eigenvector of length 1 whose last component that
/// is not zero is positive.
pub(super) fn eigen(mut matrix: Vec<Vec<f64>>) -> Vec<(f64, Vec<f64>)> {
    let n = matrix.len();
    let mut vectors: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..MAX_SWEEPS {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                rotated |= rotate(&mut matrix, &mut vectors, p, q);
            }
        }
        if !rotated {
            break;
        }
    }
    let mut found: Vec<(f64, Vec<f64>)> =
        (0..n).map(|j| (matrix[j][j], vectors.iter().map(|row| row[j]).collect())).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, vector) in &mut found {
        if vector.iter().rev().find(|&&x| x != 0.0).is_some_and(|&last| last < 0.0) {
            vector.iter_mut().for_each(|x| *x = -*x);
        }
    }
    found
}

/// Makes the entry (p, q) zero. Whether there was anything to do: an entry that rounding hides is zero already.
fn rotate(matrix: &mut [Vec<f64>], vectors: &mut [Vec<f64>], p: usize, q: usize) -> bool {
    let off = matrix[p][q];
    let (a, b) = (matrix[p][p], matrix[q][q]);
    if off.abs() <= f64::EPSILON * (a.abs() * b.abs()).sqrt() || off.abs() < f64::MIN_POSITIVE {
        return false;
    }
    let theta = (b - a) / (2.0 * off);
    // tan of the smaller angle; for a huge θ it is 1/(2θ).
    let t = if theta.abs() > 1e150 {
        0.5 / theta
    } else {
        theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt())
    };
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    let turn = |x: f64, y: f64| (c * x - s * y, s * x + c * y);
    for row in matrix.iter_mut().chain(vectors.iter_mut()) {
        (row[p], row[q]) = turn(row[p], row[q]);
    }
    // p comes before q.
    let (upper, lower) = matrix.split_at_mut(q);
    for (x, y) in upper[p].iter_mut().zip(&mut lower[0]) {
        (*x, *y) = turn(*x, *y);
    }
    (matrix[p][q], matrix[q][p]) = (0.0, 0.0);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn eigenvectors_are_orthogonal_and_make_the_matrix_again(
            entries in prop::collection::vec(-10.0f64..10.0, 64),
            n in 1usize..9,
        ) {
            let matrix: Vec<Vec<f64>> = (0..n)
                .map(|i| (0..n).map(|j| entries[i.min(j) * 8 + i.max(j)]).collect())
                .collect();
            let found = eigen(matrix.clone());
            prop_assert!(found.windows(2).all(|pair| pair[0].0 >= pair[1].0));
            for i in 0..n {
                for j in 0..n {
                    let product: f64 = found[i].1.iter().zip(&found[j].1).map(|(x, y)| x * y).sum();
                    prop_assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12);
                    let again: f64 = found.iter().map(|(value, v)| value * v[i] * v[j]).sum();
                    prop_assert!((again - matrix[i][j]).abs() < 1e-11);
                }
            }
        }
    }

    #[test]
    fn a_known_matrix() {
        let found = eigen(vec![vec![2.0, 1.0], vec![1.0, 2.0]]);
        assert!((found[0].0 - 3.0).abs() < 1e-15 && (found[1].0 - 1.0).abs() < 1e-15);
        assert!(found.iter().all(|(_, vector)| (vector[0].abs() - 0.5f64.sqrt()).abs() < 1e-15));
        assert_eq!(eigen(vec![vec![0.0; 3]; 3]).iter().map(|(value, _)| *value).sum::<f64>(), 0.0);
    }
}

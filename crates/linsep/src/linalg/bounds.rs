//! Rounding, accounted for: intervals that contain the exact value of a norm or a dot product of stored floats.
//!
//! With unit roundoff u = 2⁻⁵³, a sum of m products, added in any order, is off by at most
//! m·u/(1 − m·u) · Σ|terms| (Higham, *Accuracy and Stability of Numerical Algorithms*, section 3.1), plus at
//! most one smallest subnormal per product that underflows. The factors below are rounded up generously.

/// Unit roundoff of f64.
const U: f64 = f64::EPSILON / 2.0;
/// The smallest positive f64: the most that one product can lose by underflow.
const TINY: f64 = 5e-324;

/// A closed interval known to contain a real number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// An upper bound on the relative error of a sum of `terms` products, with room for its own evaluation.
fn relative(terms: usize) -> f64 {
    (terms as f64 + 8.0) * U * 1.01
}

/// A bound on the rounding error of a dot product of `terms` products whose vectors have `norms` as the product
/// of their norms.
pub(crate) fn rounding_error_bound(terms: usize, norms: f64) -> f64 {
    relative(terms + 8) * norms + (terms as f64 + 1.0) * TINY
}

/// The norm whose square was computed as `squared` from `terms` squares.
///
/// The inputs must be small enough that `squared` did not overflow; squares that underflow are accounted for.
pub(crate) fn norm_interval(squared: f64, terms: usize) -> Interval {
    let (error, lost) = (relative(terms), (terms as f64 + 1.0) * TINY);
    Interval {
        low: (squared * (1.0 - error) - lost).max(0.0).sqrt().next_down().max(0.0),
        high: (squared * (1.0 + error) + lost).sqrt().next_up(),
    }
}

/// The sum of the products of `pairs`: a plain sum with its error bound, or, when that bound is not far
/// smaller than the sum, a compensated one (Ogita, Rump and Oishi, 2005), as good as twice the precision.
///
/// The pairs must be small enough that no sum overflows.
pub(crate) fn certified_dot(pairs: impl Iterator<Item = (f64, f64)> + Clone) -> Interval {
    let (mut sum, mut magnitude, mut terms) = (0.0f64, 0.0f64, 0usize);
    for (a, b) in pairs.clone() {
        sum += a * b;
        magnitude += (a * b).abs();
        terms += 1;
    }
    let error = relative(terms) * magnitude + (terms as f64 + 1.0) * TINY;
    if error <= 1e-9 * sum.abs() {
        return around(sum, error);
    }
    let (mut sum, mut correction) = (0.0f64, 0.0f64);
    for (a, b) in pairs {
        let product = a * b;
        let product_error = a.mul_add(b, -product);
        let next = sum + product;
        let shift = next - sum;
        let sum_error = (sum - (next - shift)) + (product - shift);
        sum = next;
        correction += product_error + sum_error;
    }
    let result = sum + correction;
    let error = 2.0 * U * result.abs()
        + 4.0 * relative(terms).powi(2) * magnitude
        + 8.0 * (terms as f64 + 1.0) * TINY;
    around(result, error)
}

fn around(value: f64, error: f64) -> Interval {
    Interval { low: (value - error).next_down(), high: (value + error).next_up() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Exact integers scaled by a power of two: their dot products are known without rounding.
    fn exact_pairs() -> impl Strategy<Value = Vec<(i64, i64)>> {
        let number = prop_oneof![-9i64..9, -(1i64 << 50)..(1i64 << 50), Just(1i64 << 52)];
        prop::collection::vec((number.clone(), number), 0..40)
    }

    proptest! {
        #[test]
        fn the_exact_dot_product_is_inside(pairs in exact_pairs(), exponent in -400i32..400, cancel: bool) {
            let mut pairs = pairs;
            if cancel {
                // Heavy cancellation: everything appears with both signs, plus a small rest.
                let negated: Vec<_> = pairs.iter().map(|&(a, b)| (-a, b)).collect();
                pairs.extend(negated);
                pairs.push((3, 1));
            }
            let exact: i128 = pairs.iter().map(|&(a, b)| i128::from(a) * i128::from(b)).sum();
            let scale = 2f64.powi(exponent);
            let floats: Vec<_> = pairs.iter().map(|&(a, b)| (a as f64 * scale, b as f64)).collect();
            let found = certified_dot(floats.iter().copied());
            // A float is at most an integer when its ceiling is; dividing by a power of two is exact.
            prop_assert!((found.low / scale).ceil() as i128 <= exact, "{found:?} {exact}");
            prop_assert!((found.high / scale).floor() as i128 >= exact, "{found:?} {exact}");
            let magnitude: f64 = pairs.iter().map(|&(a, b)| (a as f64 * b as f64).abs()).sum();
            if cancel && exact == 3 && magnitude < 1e26 {
                prop_assert!(found.low > 0.0, "compensation must see the small rest: {found:?}");
            }
        }

        #[test]
        fn the_exact_norm_is_inside(values in prop::collection::vec(-(1i64 << 31)..(1i64 << 31), 0..50)) {
            let floats: Vec<f64> = values.iter().map(|&v| v as f64).collect();
            let found = norm_interval(crate::linalg::norm_squared(&floats), floats.len());
            let exact: i128 = values.iter().map(|&v| i128::from(v).pow(2)).sum();
            // low² ≤ exact ≤ high², with the squares taken in whole numbers rounded the safe way.
            prop_assert!((found.low.floor() as i128).pow(2) <= exact);
            prop_assert!((found.high.ceil() as i128).pow(2) >= exact);
            prop_assert!(found.high - found.low <= 1e-13 * found.high + 1e-150);
        }
    }

    #[test]
    fn subnormal_products_are_accounted_for() {
        let found = certified_dot([(1e-200, 1e-200)].into_iter());
        assert!(found.low <= 0.0 && found.high > 0.0);
        assert!(norm_interval(0.0, 1).high >= 1e-162);
    }
}

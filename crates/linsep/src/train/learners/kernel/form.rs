//! The kernels, and what rounding can do to their values.

use super::Kernel;
use crate::linalg::{Interval, rounding_error_bound};

/// Unit roundoff, with room for the few operations that use it.
pub(super) const U: f64 = f64::EPSILON * 0.51;

/// What a value can lose to underflow in one operation, with much room.
const TINY: f64 = 1e-310;

/// A kernel with all its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Form {
    /// p, the inner product ⟨x̃, x̃′⟩
    Linear,
    /// (gamma·p + offset)^degree
    Polynomial { degree: u32, gamma: f64, offset: f64 },
    /// exp(−gamma·d), where d = ‖x − x′‖²
    Rbf { gamma: f64 },
}

/// How far a computed kernel value K̂ can be from the exact one:
/// |K̂ − K| ≤ min(relative · √K(x, x) · √K(x′, x′), own · |K̂|) + absolute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct KernelRounding {
    pub(super) relative: f64,
    pub(super) own: f64,
    pub(super) absolute: f64,
}

impl Form {
    /// The kernel on rows with `columns` features.
    pub(super) fn new(kernel: Kernel, columns: usize) -> Self {
        match kernel {
            Kernel::Linear => Form::Linear,
            Kernel::Polynomial { degree, gamma, offset } => Form::Polynomial { degree, gamma, offset },
            Kernel::Rbf { gamma } => Form::Rbf { gamma: gamma.unwrap_or(1.0 / columns.max(1) as f64) },
        }
    }

    /// The kernel as it is chosen and written down.
    pub(super) fn kernel(self) -> Kernel {
        match self {
            Form::Linear => Kernel::Linear,
            Form::Polynomial { degree, gamma, offset } => Kernel::Polynomial { degree, gamma, offset },
            Form::Rbf { gamma } => Kernel::Rbf { gamma: Some(gamma) },
        }
    }

    /// The value that belongs to an inner product, or for RBF to a squared distance.
    #[inline(always)]
    pub(super) fn value(self, measure: f64) -> f64 {
        match self {
            Form::Linear => measure,
            Form::Polynomial { degree, gamma, offset } => {
                let base = gamma * measure + offset;
                (1..degree).fold(base, |power, _| power * base)
            }
            // One exponential for all machines.
            Form::Rbf { gamma } => libm::exp(-gamma * measure),
        }
    }

    /// The value of a row with itself, from its computed ‖x̃‖².
    pub(super) fn own_value(self, squared: f64) -> f64 {
        match self {
            Form::Rbf { .. } => 1.0,
            _ => self.value(squared),
        }
    }

    /// What rounding can do to a value, for rows of at most `terms` values (the appended coordinate counted) that
    /// are no longer than `radius`. RBF has its distances from differences, or from inner products.
    ///
    /// Let a and b be the lengths of the two rows and ε = rounding_error_bound(terms, 1): a computed inner product, a
    /// sum of at most `terms` products, is off by at most εab (Higham, section 3.1).
    ///
    /// - Linear: that is ε√K(x, x)√K(x′, x′) already.
    /// - Polynomial: the base is at most B = g·ab + c, and off by at most (ε + 4u)B. Each of m factors brings
    ///   that and one rounding, so the power is off by at most 1.02·m(ε + 5u)·B^m, and by Cauchy–Schwarz
    ///   B^m ≤ √((ga² + c)^m)·√((gb² + c)^m).
    /// - RBF from differences: d is off by a factor 1 ± ε, so the value e^−t by a factor e^±tε. As t·e^−t ≤ 1/e,
    ///   that is at most 0.4ε, with √K(x, x) = 1; and where the value is not lost to underflow, t ≤ 745.
    /// - RBF from d = a² + b² − 2p: d is off by at most 4R²(ε + 4u), and the value by e to g times that.
    ///
    /// Inner products can cancel, so their error is no multiple of |K̂|; that of RBF is, which matters for rows far
    /// from all others. The absolute part covers underflow: a few of the smallest numbers, times what later factors
    /// make of them.
    pub(super) fn rounding_error(self, terms: usize, radius: f64, differences: bool) -> KernelRounding {
        let epsilon = rounding_error_bound(terms + 8, 1.0);
        let lost = TINY * (terms as f64 + 8.0);
        match self {
            Form::Linear => KernelRounding { relative: epsilon, own: f64::INFINITY, absolute: lost },
            Form::Polynomial { degree, gamma, .. } => KernelRounding {
                relative: 1.02 * f64::from(degree) * (epsilon + 5.0 * U),
                own: f64::INFINITY,
                absolute: lost
                    * f64::from(degree).powi(2)
                    * gamma.max(1.0)
                    * self.value(radius * radius).max(1.0),
            },
            Form::Rbf { gamma } => {
                let off = if differences {
                    0.0
                } else {
                    1.01 * gamma * (2.0 * radius).powi(2) * (epsilon + 4.0 * U)
                };
                KernelRounding {
                    relative: off + 0.5 * epsilon + 8.0 * U,
                    own: off + 750.0 * if differences { epsilon } else { U } + 8.0 * U,
                    absolute: lost * gamma.max(1.0),
                }
            }
        }
    }
}

impl KernelRounding {
    /// An interval that contains K(x, x), from its computed value.
    pub(super) fn of_own(self, value: f64) -> Interval {
        Interval {
            low: (value * (1.0 - 2.0 * self.relative) - self.absolute).max(0.0),
            high: (value * (1.0 + 2.0 * self.relative) + self.absolute).next_up(),
        }
    }
}

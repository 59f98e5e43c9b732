//! The bounds that the updates prove on the margin in the kernel's space.
//!
//! Novikoff's argument needs no coordinates. With f = Σ s_t K(x_t, ·), s_t = y_t w_t and W = Σ w_t, the function
//! f / W is a convex combination of the z_t = y_t K(x_t, ·), so γ* ≤ ‖f‖ / W at every moment. An update with
//! agreement a makes ‖f‖² grow by 2wa + w²K(x, x).

use super::form::{KernelRounding, U};
use crate::theory::margin::quotient_up;

/// Bounds that stay true while sums are rounded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ledger {
    rounding_error: KernelRounding,
    /// ‖f‖² is at most this.
    norm_squared: f64,
    /// Σ w_t is at least this.
    total_low: f64,
    /// Σ w_t is at most this.
    total_high: f64,
    /// Σ w_t √K(x_t, x_t) is at most this.
    load: f64,
    updates: u64,
    /// The smallest ‖f‖ / W so far.
    best: Option<f64>,
}

impl Ledger {
    /// The ledger of f = 0, for kernel values with this rounding_error.
    pub(super) fn new(rounding_error: KernelRounding) -> Self {
        Self {
            rounding_error,
            norm_squared: 0.0,
            total_low: 0.0,
            total_high: 0.0,
            load: 0.0,
            updates: 0,
            best: None,
        }
    }

    /// How far the computed f(x) can be from the exact one, for a row with √K(x, x) ≤ `root` and computed
    /// Σ w_t |K(x_t, x)| = `size`.
    ///
    /// f(x) is a sum of k terms s_t K(x_t, x), added one by one. A term is off by w_t times the rounding_error of the
    /// kernel value and one rounding; the sum by at most k·u·Σ|terms| more (Higham, section 4.2).
    #[inline]
    pub(super) fn score_error(&self, root: f64, size: f64) -> f64 {
        let roundings = (self.updates as f64 + 8.0) * U * 1.01;
        let values =
            (root * self.load * self.rounding_error.relative).min(1.01 * size * self.rounding_error.own);
        (values + 1.01 * size * roundings + 2.0 * self.total_high * self.rounding_error.absolute)
            * (1.0 + 8.0 * U)
            + f64::MIN_POSITIVE
    }

    /// Notes an update of size `weight` with a row whose computed agreement was `agreement` before, and off by
    /// at most `rounding_error`; √K(x, x) is at most `root`.
    pub(super) fn record(&mut self, agreement: f64, rounding_error: f64, weight: f64, root: f64) {
        let step = (weight * root).next_up();
        let gained = 2.0 * weight * (agreement + rounding_error);
        let grown = self.norm_squared + gained + step * step;
        let rounding = 8.0 * U * (self.norm_squared + gained.abs() + step * step);
        self.norm_squared = (grown + rounding).max(0.0) + f64::MIN_POSITIVE;
        self.updates += 1;
        self.load = (self.load + step).next_up();
        if weight == 1.0 && self.total_low == self.total_high && self.updates < 1 << 53 {
            self.total_low += 1.0;
            self.total_high += 1.0;
        } else {
            self.total_low = (self.total_low + weight).next_down();
            self.total_high = (self.total_high + weight).next_up();
        }
        self.improve();
    }

    /// Takes a bound of ‖f‖² that was found in another way.
    pub(super) fn tighten(&mut self, norm_squared: f64) {
        self.norm_squared = self.norm_squared.min(norm_squared);
        self.improve();
    }

    fn improve(&mut self) {
        if self.total_low > 0.0 {
            let bound = quotient_up(self.norm(), self.total_low);
            self.best = Some(self.best.map_or(bound, |best| best.min(bound)));
        }
    }

    /// ‖f‖ is at most this.
    pub(super) fn norm(&self) -> f64 {
        self.norm_squared.sqrt().next_up()
    }

    /// γ* in the kernel's space is at most this.
    pub(super) fn margin_upper(&self) -> Option<f64> {
        self.best
    }
}

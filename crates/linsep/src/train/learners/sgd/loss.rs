//! The losses of gradient descent: value, slope, and the curve that a step follows.

use serde::{Deserialize, Serialize};

/// The loss of a row with agreement a.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// max(0, −a)
    Perceptron,
    /// max(0, 1 − a)
    #[default]
    Hinge,
    /// ln(1 + e^−a)
    Log,
    /// ½(1 − a)²
    Squared,
}

impl Loss {
    /// loss(a)
    pub fn value(self, a: f64) -> f64 {
        match self {
            Loss::Perceptron => (-a).max(0.0),
            Loss::Hinge => (1.0 - a).max(0.0),
            Loss::Log if a > 0.0 => libm::log1p(libm::exp(-a)),
            Loss::Log => libm::log1p(libm::exp(a)) - a,
            Loss::Squared => 0.5 * (1.0 - a) * (1.0 - a),
        }
    }

    /// −loss′(a): how far the example pulls. At a kink, 1.
    #[inline]
    pub fn pull(self, a: f64) -> f64 {
        match self {
            Loss::Perceptron => f64::from(u8::from(a <= 0.0)),
            Loss::Hinge => f64::from(u8::from(a <= 1.0)),
            // Written so that no exponential overflows.
            Loss::Log if a > 0.0 => {
                let e = libm::exp(-a);
                e / (1.0 + e)
            }
            Loss::Log => 1.0 / (1.0 + libm::exp(a)),
            Loss::Squared => 1.0 - a,
        }
    }

    /// How far the agreement a gets in the time `time` if it flows as the loss pulls: u(`time`) for du/dτ = pull(a + u),
    /// u(0) = 0. A step of the loss along its own curve: it never goes past the point where the pull ends, however long the
    /// time is, and two times one after the other are their sum.
    ///
    /// - hinge: u = min(τ, 1 − a), if a ≤ 1.
    /// - squared: u = (1 − a)(1 − e^−τ).
    /// - log: u + eᵃ(eᵘ − 1) = τ.
    /// - perceptron: u = τ, if a ≤ 0. At its kink, where a run begins, the flow would stand still.
    pub(crate) fn flow(self, a: f64, time: f64) -> f64 {
        match self {
            Loss::Perceptron if a <= 0.0 => time,
            Loss::Hinge if a <= 1.0 => time.min(1.0 - a),
            Loss::Perceptron | Loss::Hinge => 0.0,
            Loss::Squared => (a - 1.0) * libm::expm1(-time),
            Loss::Log => log_flow(a, time),
        }
    }
}

/// The u of u + eᵃ(eᵘ − 1) = τ. The left side is convex and increasing, so Newton's steps from above the root go down to
/// it and never past it; each of three bounds of u is above it.
fn log_flow(a: f64, time: f64) -> f64 {
    if time <= 0.0 {
        return 0.0;
    }
    let e = libm::exp(a);
    let mut u = time.min(time / (1.0 + e)).min(libm::log1p(time / e));
    for _ in 0..64 {
        let grown = e * libm::expm1(u);
        let next = u - (u + grown - time) / (1.0 + e + grown);
        // Also where rounding, or a number that is not one, leaves nothing to gain.
        if next.is_nan() || next >= u {
            break;
        }
        u = next.max(0.0);
    }
    u
}

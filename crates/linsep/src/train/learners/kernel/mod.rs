//! The perceptron in its dual form (A8), with a kernel.
//!
//! θ is a sum of mistaken examples, so ⟨θ, x̃⟩ = Σ α_j y_j ⟨x̃_j, x̃⟩: the run needs inner products only, and any
//! kernel K may stand in for them. On a mistake, y_i f(x_i) ≤ 0, α_i grows by 1 (or by the weight of the row).
//! With the linear kernel this is the perceptron itself, update for update.
//!
//! - `form.rs`: the kernels, and what rounding can do to their values;
//! - `gram.rs`: many kernel values at a time;
//! - `scores.rs`: the scores of all rows, each brought up to date when it is needed;
//! - `learner.rs`: the run; `ledger.rs`: what its updates prove about the margin in the kernel's space;
//! - `machine.rs`: the function that is learned; `file.rs`: its arrays.

mod dual;
mod file;
mod form;
mod gram;
mod ledger;
mod machine;
mod scores;
#[cfg(test)]
mod tests;

pub use machine::KernelMachine;

pub(crate) use dual::learn;
pub(crate) use file::{get_kernel, put_kernel};

use crate::Error;
use crate::SettingsError;
use crate::dataset::{Dataset, Rows};
use crate::observe::Observer;
use crate::train::engine::run::Task;
use crate::train::learners::Combine;
use crate::train::settings::{Init, MistakeRule, Settings};
use form::Form;
use serde::{Deserialize, Serialize};

/// A kernel on x̃, the row with its appended coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// ⟨x̃, x̃′⟩: the perceptron itself.
    Linear,
    /// (g⟨x̃, x̃′⟩ + c)^degree
    Polynomial {
        /// The power.
        degree: u32,
        /// g
        gamma: f64,
        /// c
        offset: f64,
    },
    /// exp(−g‖x − x′‖²)
    Rbf {
        /// g; none for 1 / number of features.
        gamma: Option<f64>,
    },
}

/// The options of the kernel perceptron.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelOptions {
    /// The kernel.
    pub kernel: Kernel,
    /// What joins the functions of the run into one.
    pub combine: Combine,
    /// At most this many bytes for kernel values that are kept.
    pub cache_bytes: u64,
}

impl Default for KernelOptions {
    fn default() -> Self {
        Self { kernel: Kernel::Rbf { gamma: None }, combine: Combine::Last, cache_bytes: 500_000_000 }
    }
}

/// No higher power is offered: with rows of length 10, this one reaches 10²⁰⁰.
const MOST_DEGREE: u32 = 100;

impl KernelOptions {
    /// Checks the ranges.
    pub(crate) fn validate(&self) -> Result<(), SettingsError> {
        let refuse = |reason: String| Err(SettingsError::new("kernel", reason));
        let bad_gamma = |gamma: f64| !(1e-100..=1e100).contains(&gamma);
        match self.kernel {
            Kernel::Linear => Ok(()),
            Kernel::Polynomial { degree: 0, .. } => refuse(
                "degree 0 makes every kernel value 1, so no two rows can be told apart: choose 1 or more"
                    .into(),
            ),
            Kernel::Polynomial { degree, .. } if degree > MOST_DEGREE => refuse(format!(
                "the degree must be at most {MOST_DEGREE}: powers beyond leave the range of numbers"
            )),
            Kernel::Polynomial { gamma, .. } | Kernel::Rbf { gamma: Some(gamma) } if bad_gamma(gamma) => {
                refuse(format!(
                    "the gamma of a kernel is {gamma}; it must be above 0 (from 1e-100 to 1e100): at 0 all rows look the \
                     same, and beyond the range all values vanish or overflow"
                ))
            }
            Kernel::Polynomial { offset, .. } if !offset.is_finite() || offset < 0.0 => refuse(
                "the offset of a polynomial kernel must be a number of at least 0: below, it is no kernel"
                    .into(),
            ),
            Kernel::Polynomial { .. } | Kernel::Rbf { .. } => Ok(()),
        }
    }
}

/// Kernel values of rows with themselves that leave room for sums and products of many.
const VALUES: std::ops::RangeInclusive<f64> = 1e-200..=1e200;

/// Distances are of no use when rounding can change a kernel value by more than this.
const MOST_DOUBT: f64 = 1e-6;

/// Checks what depends on the data: kernel values must neither leave the range of numbers nor drown in rounding.
pub(crate) fn check(
    task: &Task<'_>,
    settings: &Settings,
    options: &KernelOptions,
) -> Result<(), SettingsError> {
    options.validate()?;
    let refuse = |reason: String| Err(SettingsError::new("kernel", reason));
    if settings.init != Init::Zero || settings.mistake != MistakeRule::NonPositive {
        return refuse(
            "the kernel perceptron starts at zero, with a ≤ 0 as a mistake: it has no other ⟦init⟧ or ⟦mistake⟧".into(),
        );
    }
    let (form, radius) = (Form::new(options.kernel, task.data.columns()), task.extent.radius_upper);
    match form {
        Form::Linear => Ok(()),
        Form::Polynomial { .. } => {
            let longest = form.value(radius * radius);
            if VALUES.contains(&longest) || radius == 0.0 {
                return Ok(());
            }
            refuse(format!(
                "the polynomial kernel of the longest row with itself is {longest:.1e}, which leaves no room for sums: \
                 scale the features (⟦scale⟧), or change ⟦gamma⟧ or ⟦degree⟧"
            ))
        }
        Form::Rbf { .. } => {
            let differences = matches!(task.data.rows(), Rows::Dense { .. });
            if differences
                || form.rounding_error(task.data.longest_row() + 1, radius, false).relative <= MOST_DOUBT
            {
                return Ok(());
            }
            refuse(format!(
                "rows as long as {radius:.1e} lose their distances to rounding with this ⟦gamma⟧: scale the features \
                 (⟦scale⟧), or choose a smaller ⟦gamma⟧"
            ))
        }
    }
}

/// Trains a kernel perceptron on a data set, for benchmarks.
#[doc(hidden)]
pub fn train_kernel(
    data: &Dataset,
    settings: &Settings,
    options: &KernelOptions,
    observer: &mut dyn Observer,
) -> Result<(KernelMachine, crate::train::Status, u64), Error> {
    let task = Task::new(data, settings)?;
    check(&task, settings, options)?;
    let fit = learn(&task, None, settings, options, observer);
    match fit.learned {
        crate::train::Learned::Kernel(machine) => Ok((*machine, fit.status, fit.updates)),
        _ => unreachable!("the kernel perceptron ends with a kernel machine"),
    }
}

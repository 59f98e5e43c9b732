//! The perceptron in its dual form, with a kernel.
//!
//! θ is a sum of mistaken examples, so ⟨θ, x̃⟩ = Σ α_j y_j ⟨x̃_j, x̃⟩: the run needs inner products only, and any
//! kernel K may stand in for them. On a mistake, y_i f(x_i) ≤ 0, α_i grows by 1 (or by the weight of the row).
//! With the linear kernel this is the perceptron itself, update for update.
//!
//! - `form.rs`: the kernels, and what rounding can do to their values;
//! - `gram.rs`: many kernel values at a time;
//! - `scores.rs`: the scores of all rows, each brought up to date when it is needed;
//! - `dual.rs`: the run; `ledger.rs`: what its updates prove about the margin in the kernel's space;
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

use crate::numbers::counted;
use crate::train::engine::evidence::{Detail, Evidence};
pub(crate) use dual::learn;
use file::get_kernel;
pub(crate) use file::put_kernel;

use crate::Error;
use crate::SettingsError;
use crate::dataset::{Dataset, Rows};
use crate::observe::Observer;
use crate::store::{Arrays, StoreError};
use crate::train::engine::cost_limit::{RunSize, Work};
use crate::train::engine::fit::Fit;
use crate::train::engine::learned::Learned;
use crate::train::engine::run::Task;
use crate::train::learners::registry::{
    Abilities, Choice, Descriptor, NumberRange, OptionDescriptor, OptionKind, Registered, RowLimit,
};
use crate::train::learners::{Combine, Learner, OptionValue, Options};
use crate::train::settings::{Init, MistakeRule, Settings};
use form::Form;
use serde::{Deserialize, Serialize};

/// What the registry says of it.
pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    name: "kernel",
    title: "kernel perceptron",
    summary: "Learns a kernel expansion instead of weights: for curved boundaries and moderate numbers of rows",
    options: &[
        OptionDescriptor {
            name: "kernel",
            symbol: "KERNEL",
            kind: OptionKind::Choice(&[
                Choice { name: "linear", help: "⟨x, x′⟩: the perceptron itself, in its dual form" },
                Choice { name: "poly", help: "(g⟨x, x′⟩ + c)^N: polynomials up to degree N" },
                Choice { name: "rbf", help: "exp(−g‖x − x′‖²): radial basis functions" },
            ]),
            auto: None,
            default: "rbf",
            help: "which kernel",
        },
        OptionDescriptor {
            name: "degree",
            symbol: "N",
            kind: OptionKind::Whole { least: 1, most: MAX_DEGREE as u64 },
            auto: None,
            default: "2",
            help: "the degree N of the polynomial kernel",
        },
        OptionDescriptor {
            name: "gamma",
            symbol: "g",
            kind: OptionKind::Number(GAMMAS),
            auto: Some("1/features (1 with the polynomial kernel)"),
            default: "auto",
            help: "the factor g of the polynomial and the RBF kernel",
        },
        OptionDescriptor {
            name: "offset",
            symbol: "c",
            kind: OptionKind::Number(OFFSETS),
            auto: None,
            default: "0",
            help: "the constant c of the polynomial kernel, in addition to an appended bias",
        },
        OptionDescriptor {
            name: "kernel_cache",
            symbol: "BYTES",
            kind: OptionKind::Size,
            auto: None,
            default: "500MB",
            help: "memory for cached kernel values",
        },
        OptionDescriptor {
            kind: OptionKind::Choice(&[Combine::LAST, Combine::AVERAGE, Combine::VOTE]),
            ..Combine::option("last")
        },
    ],
    abilities: Abilities { counts_mistakes: true, weighs_features: false, ..Abilities::ALL_ROWS },
    usual_epochs: 100,
    compared_up_to: Some(RowLimit {
        rows: 5_000,
        reason: "its time grows with the square of the number of \
                                                          rows",
    }),
    usual: || Learner::Kernel(KernelOptions::default()),
};

const GAMMAS: NumberRange = NumberRange::from_to(1e-100, 1e100);
const OFFSETS: NumberRange = NumberRange::from_to(0.0, f64::MAX);

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
const MAX_DEGREE: u32 = 100;

impl Kernel {
    /// The name by which it is chosen.
    fn name(&self) -> &'static str {
        match self {
            Kernel::Linear => "linear",
            Kernel::Polynomial { .. } => "poly",
            Kernel::Rbf { .. } => "rbf",
        }
    }

    /// The kernel of that name, with its usual options.
    fn named(name: &str) -> Self {
        match name {
            "linear" => Kernel::Linear,
            "poly" => Kernel::Polynomial { degree: 2, gamma: 1.0, offset: 0.0 },
            _ => Kernel::Rbf { gamma: None },
        }
    }

    /// The kernel with the options that are given; those of another kernel are refused.
    fn with_options(self, given: &Options) -> Result<Self, SettingsError> {
        let own: &[&str] = match self {
            Kernel::Linear => &[],
            Kernel::Polynomial { .. } => &["degree", "gamma", "offset"],
            Kernel::Rbf { .. } => &["gamma"],
        };
        for (option, kernels) in [("degree", "poly"), ("offset", "poly"), ("gamma", "poly and rbf")] {
            if given.get(option).is_some() && !own.contains(&option) {
                let problem =
                    format!("⟦{option}⟧ is an option of ⟦kernel={kernels}⟧, not of {}", self.name());
                return Err(SettingsError::new(option, problem));
            }
        }
        Ok(match self {
            Kernel::Linear => self,
            Kernel::Polynomial { degree, gamma, offset } => Kernel::Polynomial {
                // What is beyond any number is beyond the range too.
                degree: given
                    .get("degree")
                    .and_then(OptionValue::whole)
                    .map_or(degree, |n| n.try_into().unwrap_or(u32::MAX)),
                gamma: given.number_or_auto("gamma").map_or(gamma, |gamma| gamma.unwrap_or(1.0)),
                offset: given.number("offset").unwrap_or(offset),
            },
            Kernel::Rbf { gamma } => Kernel::Rbf { gamma: given.number_or_auto("gamma").unwrap_or(gamma) },
        })
    }
}

impl Registered for KernelOptions {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn tell(&self, detail: &Detail, _: &Evidence) -> Option<String> {
        let Detail::Kernel { support } = detail else { return None };
        Some(counted(*support, "support vector", "support vectors"))
    }

    fn work(&self, size: &RunSize) -> Work {
        const MAX_VISITS: u64 = 100_000_000;
        Work { most: MAX_VISITS, ..size.one_by_one() }
    }

    /// It has no weights.
    fn memory(&self, _: &RunSize) -> Option<(u64, String)> {
        None
    }

    fn load(&self, arrays: &Arrays<'_>, prefix: &str, settings: &Settings) -> Result<Learned, StoreError> {
        Ok(Learned::Kernel(Box::new(get_kernel(arrays, prefix, settings, self)?)))
    }

    fn with_options(&self, given: &Options) -> Result<Learner, SettingsError> {
        let kernel = match given.text("kernel") {
            Some(name) if name != self.kernel.name() => Kernel::named(name),
            _ => self.kernel,
        };
        Ok(Learner::Kernel(Self {
            kernel: kernel.with_options(given)?,
            combine: given.choice("combine").unwrap_or(self.combine),
            cache_bytes: given.get("kernel_cache").and_then(OptionValue::size).unwrap_or(self.cache_bytes),
        }))
    }

    fn options(&self) -> Options {
        let options = Options::new()
            .with("kernel", self.kernel.name())
            .with("kernel_cache", self.cache_bytes)
            .with_choice("combine", self.combine);
        match self.kernel {
            Kernel::Linear => options,
            Kernel::Polynomial { degree, gamma, offset } => {
                options.with("degree", u64::from(degree)).with("gamma", gamma).with("offset", offset)
            }
            Kernel::Rbf { gamma } => options.with("gamma", gamma),
        }
    }

    fn describe(&self) -> String {
        let kernel = match self.kernel {
            Kernel::Linear => "linear kernel".to_string(),
            Kernel::Polynomial { degree, gamma, offset } => {
                format!("kernel ({gamma}·⟨x, x′⟩ + {offset})^{degree}")
            }
            Kernel::Rbf { gamma: Some(gamma) } => format!("kernel exp(−{gamma}·‖x − x′‖²)"),
            Kernel::Rbf { gamma: None } => "kernel exp(−‖x − x′‖²/features)".to_string(),
        };
        format!("kernel perceptron, {kernel}{}", self.combine.words())
    }

    fn fit(
        &self,
        task: &Task<'_>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Option<Fit>, Error> {
        check(task, settings, self)?;
        Ok(Some(learn(task, task.weights.as_deref(), settings, self, observer)))
    }

    fn validate(&self) -> Result<(), SettingsError> {
        let refuse = |field, reason: String| Err(SettingsError::new(field, reason));
        match self.kernel {
            Kernel::Linear => Ok(()),
            Kernel::Polynomial { degree: 0, .. } => refuse(
                "degree",
                "degree 0 makes every kernel value 1: choose 1 or more"
                    .into(),
            ),
            Kernel::Polynomial { degree, .. } if degree > MAX_DEGREE => refuse(
                "degree",
                format!("the degree must be at most {MAX_DEGREE}: larger powers overflow"),
            ),
            Kernel::Polynomial { gamma, .. } | Kernel::Rbf { gamma: Some(gamma) }
                if !GAMMAS.contains(gamma) =>
            {
                refuse(
                    "gamma",
                    format!(
                        "the gamma of a kernel is {gamma}; it must be above 0 ({GAMMAS}): at 0 all kernel \
                         values are equal, and outside the range they vanish or overflow"
                    ),
                )
            }
            Kernel::Polynomial { offset, .. } if !OFFSETS.contains(offset) => refuse(
                "offset",
                "the offset of a polynomial kernel must be a number of at least 0: with a negative one the function is \
                 not a kernel"
                    .into(),
            ),
            Kernel::Polynomial { .. } | Kernel::Rbf { .. } => Ok(()),
        }
    }
}

/// Kernel values of rows with themselves that leave room for sums and products of many.
const VALUES: std::ops::RangeInclusive<f64> = 1e-200..=1e200;

/// Distances are of no use when rounding can change a kernel value by more than this.
const MAX_ROUNDING_ERROR: f64 = 1e-6;

/// Checks what depends on the data: kernel values must neither leave the range of numbers nor drown in rounding.
pub(crate) fn check(
    task: &Task<'_>,
    settings: &Settings,
    options: &KernelOptions,
) -> Result<(), SettingsError> {
    options.validate()?;
    let refuse = |field, reason: String| Err(SettingsError::new(field, reason));
    if settings.init != Init::Zero || settings.mistake != MistakeRule::NonPositive {
        return refuse(
            "init",
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
            refuse(
                "scale",
                format!(
                    "the polynomial kernel of the longest row with itself is {longest:.1e}, so that sums could overflow or \
                     vanish: scale the features (⟦scale⟧), or change ⟦gamma⟧ or ⟦degree⟧"
                ),
            )
        }
        Form::Rbf { .. } => {
            let differences = matches!(task.data.rows(), Rows::Dense { .. });
            if differences
                || form.rounding_error(task.data.longest_row() + 1, radius, false).relative
                    <= MAX_ROUNDING_ERROR
            {
                return Ok(());
            }
            refuse(
                "scale",
                format!(
                    "rows as long as {radius:.1e} lose their distances to rounding with this ⟦gamma⟧: scale the features \
                     (⟦scale⟧), or choose a smaller ⟦gamma⟧"
                ),
            )
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

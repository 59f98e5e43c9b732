//! The specification of a decision about separation.

use crate::SettingsError;
use crate::job::DataSpec;
use crate::job::separate::reference::ReferenceSpec;
use crate::read::options::is_default;
use crate::separate::{Bias, ColumnDetail, SeparateSettings};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Whether the boundary may miss the origin, and which margin is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BiasKind {
    /// The boundary goes through the origin.
    None,
    /// A constant coordinate is appended to every row, and its weight counts in the norm.
    #[default]
    Append,
    /// The boundary may miss the origin at no cost.
    Free,
}

/// The specification of a decision about separation.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeparateSpec {
    /// Where the rows come from and how they are read.
    pub data: DataSpec,
    /// The class that counts as +1. If none is named, the last of two classes; of more, each against the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positive: Option<String>,
    /// The classes whose rows count; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// A file with one number for each row: how often it occurs. Rows that occur not at all are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_weights: Option<PathBuf>,
    /// Decide for every pair of classes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pairs: bool,
    /// Whether the boundary may miss the origin, and which margin is meant.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bias: BiasKind,
    /// The value of the appended coordinate; 1 if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias_scale: Option<f64>,
    /// The width of the margin interval of separable data, relative to its upper end, that is to be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// Stop after this many seconds of deciding; several pairs of sides share them, and so do the verdict and the rows to blame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<f64>,
    /// Use at most about this many bytes beside the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// The seed of samples.
    #[serde(default, skip_serializing_if = "is_default")]
    pub seed: u64,
    /// Where the classes are not completely separable, look for few rows whose removal separates the rest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blame: bool,
    /// How much is said about columns beside the verdict of two sides; if not said, as much as is usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<ColumnDetail>,
    /// The reference level of each column of words, beside which its other words are judged.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reference: ReferenceSpec,
    /// Where the certificate is written; for several pairs of sides, a folder with one certificate for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<PathBuf>,
}

impl SeparateSpec {
    /// The specification for a file, with everything else left to the defaults.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { data: DataSpec::file(path), ..Self::default() }
    }

    /// Files that must not be written over.
    pub(super) fn inputs(&self) -> Vec<&Path> {
        self.data.inputs().into_iter().chain(self.row_weights.as_deref()).collect()
    }

    /// The settings of the exact engine, but for the classes.
    pub fn settings(&self) -> Result<SeparateSettings, SettingsError> {
        let refuse = |why: &str| {
            Err(SettingsError::new("bias_scale", format!("⟦bias_scale⟧ needs ⟦bias=append⟧: {why}")))
        };
        let bias = match (self.bias, self.bias_scale) {
            (BiasKind::Append, scale) => Bias::Append(scale.unwrap_or(1.0)),
            (BiasKind::None, None) => Bias::None,
            (BiasKind::Free, None) => Bias::Free,
            (BiasKind::None, Some(_)) => return refuse("without a bias there is nothing to scale"),
            (BiasKind::Free, Some(_)) => return refuse("a free bias has no scale"),
        };
        let settings = SeparateSettings {
            classes: None,
            bias,
            gap: self.gap,
            max_seconds: self.max_seconds,
            max_passes: None,
            max_memory: self.memory,
            seed: self.seed,
            columns: self.columns.unwrap_or(ColumnDetail::Usual),
            order: Vec::new(),
            last: Vec::new(),
        };
        settings.validate()?;
        Ok(settings)
    }
}

//! Missing cells: what they become.

use serde::{Deserialize, Serialize};

/// How missing cells of a table are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// A missing cell is an error that names the cell.
    #[default]
    Refuse,
    /// A missing number becomes the mean of its column; a missing word is left without a category.
    Mean,
    /// A missing number becomes zero; a missing word is left without a category.
    Zero,
    /// Rows with a missing cell are left out.
    DropRow,
}

impl Missing {
    /// Every way, in the order of the documentation.
    pub const ALL: [Missing; 4] = [Missing::Refuse, Missing::Mean, Missing::Zero, Missing::DropRow];

    /// The name in specifications and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Missing::Refuse => "refuse",
            Missing::Mean => "mean",
            Missing::Zero => "zero",
            Missing::DropRow => "drop-row",
        }
    }

    /// What a missing number becomes, in a column with this mean.
    pub(crate) fn of_number(self, mean: f64) -> OnMissing {
        match self {
            Missing::Refuse => OnMissing::Refuse,
            Missing::Mean => OnMissing::Fill(mean),
            Missing::Zero => OnMissing::Fill(0.0),
            Missing::DropRow => OnMissing::DropRow,
        }
    }

    /// What a missing word becomes.
    pub(crate) fn of_words(self) -> OnMissing {
        match self {
            Missing::Refuse => OnMissing::Refuse,
            Missing::Mean | Missing::Zero => OnMissing::Unset,
            Missing::DropRow => OnMissing::DropRow,
        }
    }

    /// What a missing number becomes for a model: what the model fills in, otherwise what the user asks for. Without a
    /// fill the model does not know the mean.
    pub(crate) fn of_model_number(self, fill: Option<f64>) -> OnMissing {
        match (fill, self) {
            (Some(value), _) => OnMissing::Fill(value),
            (None, Missing::Refuse | Missing::Mean) => OnMissing::Unknown,
            (None, Missing::Zero) => OnMissing::Fill(0.0),
            (None, Missing::DropRow) => OnMissing::DropRow,
        }
    }

    /// What a missing word becomes for a model that accepts missing words, or does not.
    pub(crate) fn of_model_words(self, optional: bool) -> OnMissing {
        match self {
            _ if optional => OnMissing::Unset,
            Missing::Refuse => OnMissing::Unknown,
            Missing::Mean | Missing::Zero => OnMissing::Unset,
            Missing::DropRow => OnMissing::DropRow,
        }
    }
}

/// What a missing cell of one column means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OnMissing {
    /// An error.
    Refuse,
    /// An error, because the model does not know what to fill in.
    Unknown,
    /// This number.
    Fill(f64),
    /// None of the column's words.
    Unset,
    /// The row is left out.
    DropRow,
}

/// The mean of numbers that come one by one; it does not overflow where their sum does.
#[derive(Clone, Default)]
pub(crate) struct Mean {
    sum: f64,
    /// The sum in units of 2³².
    scaled: f64,
}

const SCALE: f64 = 4_294_967_296.0;

impl Mean {
    pub(crate) fn add(&mut self, number: f64) {
        self.sum += number;
        self.scaled += number / SCALE;
    }

    /// The mean over so many numbers, of which those that were not added are zero.
    pub(crate) fn over(&self, count: u64) -> f64 {
        let count = count.max(1) as f64;
        if self.sum.is_finite() {
            self.sum / count
        } else {
            (self.scaled / count * SCALE).clamp(f64::MIN, f64::MAX)
        }
    }
}

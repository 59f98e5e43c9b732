//! Missing cells: what they become.

use serde::{Deserialize, Serialize};

/// How missing cells of a table are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// Nothing was said: as [`Missing::Auto`] where a model is learned from rows in memory, else refused.
    #[default]
    NotSaid,
    /// A missing number becomes the mean of its column, and an additional feature marks it as missing;
    /// a missing word is a category of its own; a row without a label is left out.
    Auto,
    /// A missing cell is an error that names the cell.
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
    pub const ALL: [Missing; 5] =
        [Missing::Auto, Missing::Refuse, Missing::Mean, Missing::Zero, Missing::DropRow];

    /// The name in specifications and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Missing::NotSaid => "not-said",
            Missing::Auto => "auto",
            Missing::Refuse => "refuse",
            Missing::Mean => "mean",
            Missing::Zero => "zero",
            Missing::DropRow => "drop-row",
        }
    }

    /// Whether rows without missing cells are read in the same way as by the other usual ones.
    pub(crate) fn is_usual(self) -> bool {
        matches!(self, Missing::NotSaid | Missing::Auto | Missing::Refuse)
    }

    /// Whether a row without a label is left out.
    pub(crate) fn drops_unlabelled(self) -> bool {
        matches!(self, Missing::Auto | Missing::DropRow)
    }

    /// Whether it is noted which numbers are missing, because what they become may be learned again.
    pub(crate) fn notes_gaps(self) -> bool {
        matches!(self, Missing::Auto | Missing::Mean)
    }

    /// What a missing number becomes, in a column with this mean.
    pub(crate) fn of_number(self, mean: f64) -> OnMissing {
        match self {
            Missing::NotSaid | Missing::Refuse => OnMissing::Refuse,
            Missing::Auto => OnMissing::Leave,
            Missing::Mean => OnMissing::Fill(mean),
            Missing::Zero => OnMissing::Fill(0.0),
            Missing::DropRow => OnMissing::DropRow,
        }
    }

    /// What a missing word becomes.
    pub(crate) fn of_words(self) -> OnMissing {
        match self {
            Missing::NotSaid | Missing::Refuse => OnMissing::Refuse,
            Missing::Auto => OnMissing::Category,
            Missing::Mean | Missing::Zero => OnMissing::Unset,
            Missing::DropRow => OnMissing::DropRow,
        }
    }

    /// What a missing number becomes for a model: what the model fills in, with the feature that says so, unless the user has
    /// rows with missing cells refused or left out; without a fill what the user asks for, but the model does not know the mean.
    pub(crate) fn of_model_number(self, fill: Option<f64>, gap: Option<usize>) -> OnMissing {
        match (fill, self) {
            (Some(_), Missing::Refuse) => OnMissing::Refuse,
            (Some(_), Missing::DropRow) => OnMissing::DropRow,
            (Some(value), _) => match gap {
                Some(feature) => OnMissing::FillAndSay(value, feature as u32),
                None => OnMissing::Fill(value),
            },
            (None, Missing::NotSaid | Missing::Auto | Missing::Refuse | Missing::Mean) => OnMissing::Unknown,
            (None, Missing::Zero) => OnMissing::Fill(0.0),
            (None, Missing::DropRow) => OnMissing::DropRow,
        }
    }

    /// What a missing word becomes for a model that has a category for it, accepts it without one, or does not.
    pub(crate) fn of_model_words(self, category: bool, optional: bool) -> OnMissing {
        match self {
            Missing::Refuse if category || optional => OnMissing::Refuse,
            Missing::DropRow => OnMissing::DropRow,
            _ if category => OnMissing::Category,
            _ if optional => OnMissing::Unset,
            Missing::NotSaid | Missing::Auto | Missing::Refuse => OnMissing::Unknown,
            Missing::Mean | Missing::Zero => OnMissing::Unset,
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
    /// This number, and 1 in the feature that says so.
    FillAndSay(f64, u32),
    /// Zero for now: what it becomes is learned from all rows, see [`super::learn_columns`].
    Leave,
    /// The category of missing words.
    Category,
    /// None of the column's words.
    Unset,
    /// The row is left out.
    DropRow,
}

impl OnMissing {
    /// Whether a missing number is known to become another.
    pub(crate) fn fills(self) -> bool {
        matches!(self, OnMissing::Fill(_) | OnMissing::FillAndSay(..))
    }

    /// What a missing number of this feature adds to its row.
    pub(crate) fn filled(self, feature: u32) -> impl Iterator<Item = (u32, f64)> {
        let (value, gap) = match self {
            OnMissing::Fill(value) => (Some(value), None),
            OnMissing::FillAndSay(value, gap) => (Some(value), Some(gap)),
            _ => (None, None),
        };
        value.map(|value| (feature, value)).into_iter().chain(gap.map(|gap| (gap, 1.0)))
    }
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
    pub(crate) fn over(&self, count: f64) -> f64 {
        let count = if count > 0.0 { count } else { 1.0 };
        if self.sum.is_finite() {
            self.sum / count
        } else {
            (self.scaled / count * SCALE).clamp(f64::MIN, f64::MAX)
        }
    }
}

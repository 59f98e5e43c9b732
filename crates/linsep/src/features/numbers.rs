//! A column of numbers: one feature, its value; and one that says where the value is missing.

use super::{CellForm, FeatureKind, Observed};
use serde::{Deserialize, Serialize};

/// One feature: the number in the cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Number {
    /// Which feature.
    pub feature: usize,
    /// The value of a missing cell; `None` if it is refused, or not learned yet.
    pub fill: Option<f64>,
    /// The feature that is 1 where the cell is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<usize>,
    /// How the text of a cell becomes the number.
    #[serde(default, skip_serializing_if = "CellForm::is_plain")]
    pub form: CellForm,
}

impl FeatureKind for Number {
    fn features(&self) -> Vec<usize> {
        [self.feature].into_iter().chain(self.gap).collect()
    }

    fn is_sound(&self) -> bool {
        self.fill.is_none_or(f64::is_finite)
    }

    fn relearn(&mut self, observed: &Observed) {
        if let Some(means) = &observed.means {
            self.fill = Some(means[self.feature]);
        }
    }

    fn renumber(&mut self, numbers: &[Option<u32>]) {
        if let Some(number) = numbers[self.feature] {
            self.feature = number as usize;
        }
    }
}

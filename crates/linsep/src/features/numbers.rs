//! A column of numbers: one feature, its value.

use super::{CellForm, FeatureKind, Observed};
use serde::{Deserialize, Serialize};

/// One feature: the number in the cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Number {
    /// Which feature.
    pub feature: usize,
    /// What a missing cell becomes; `None` if it is refused.
    pub fill: Option<f64>,
    /// How the text of a cell becomes the number.
    #[serde(default, skip_serializing_if = "CellForm::is_plain")]
    pub form: CellForm,
}

impl FeatureKind for Number {
    fn features(&self, column: &str) -> Vec<(usize, String)> {
        vec![(self.feature, column.to_string())]
    }

    fn is_sound(&self) -> bool {
        self.fill.is_none_or(f64::is_finite)
    }

    fn relearn(&mut self, observed: &Observed) {
        if let (Some(fill), Some(means)) = (&mut self.fill, &observed.means) {
            *fill = means[self.feature];
        }
    }

    fn renumber(&mut self, numbers: &[Option<u32>]) {
        if let Some(number) = numbers[self.feature] {
            self.feature = number as usize;
        }
    }
}

//! Splines and products of columns, learned on the training rows of a run.

use super::Runner;
use crate::dataset::Dataset;
use crate::features::{Expansion, Features, Scaler, Schema};
use crate::model::learn_expansion;
use crate::observe::Observer;
use crate::{Error, SettingsError};

impl Runner<'_> {
    /// Which features are made.
    pub(super) fn features(&self) -> Features {
        match &self.warm {
            Some(model) => model.recipe.expansion.features(),
            None => self.spec.features.unwrap_or_default(),
        }
    }

    /// Whether rows may be expanded.
    pub(super) fn may_expand(&self) -> bool {
        self.features() != Features::Plain
    }

    /// The expansion of the model that is started from, or one learned from the training rows.
    pub(super) fn expansion(
        &self,
        schema: &Schema,
        data: &Dataset,
        observer: &mut dyn Observer,
    ) -> Result<Expansion, Error> {
        if let Some(model) = &self.warm {
            let expansion = &model.recipe.expansion;
            if !expansion.is_none() && data.columns() != expansion.inputs() {
                let problem = "the model to start from has spline or product features, and these rows have \
                               more features than it was trained on: it cannot be trained further on them";
                return Err(SettingsError::new("init", problem).into());
            }
            expansion.check_memory(data)?;
            return Ok(expansion.clone());
        }
        let (features, most) = (self.features(), self.spec.max_pairs);
        if features == Features::Plain {
            return Ok(Expansion::none());
        }
        let learned = learn_expansion(features, most, schema, data, &self.settings, observer)?;
        learned.ok_or(Error::Interrupted)
    }

    /// The scaling of the model that is started from, or one learned from rows that were expanded so.
    pub(super) fn scaler_of(&self, columns: &Schema, data: &Dataset, expansion: &Expansion) -> Scaler {
        let Some(model) = &self.warm else {
            return Scaler::learn_for(self.scaling(), data, columns, expansion);
        };
        let mut scaler = model.recipe.scaling.clone();
        scaler.widen(data.columns());
        scaler
    }
}

//! How far a training run can be trusted: what the held-out rows tell, and what is warned of.

use super::Trained;
use crate::dataset::Dataset;
use crate::job::measure::{Evaluated, Judged, most_frequent};
use crate::model::Model;
use crate::observe::{Note, Observer};

/// What the rows that were held out tell.
#[derive(Clone, Debug)]
pub struct HeldOut {
    /// Rows predicted wrong. A row of a class that no training row has is one of them.
    pub errors: u64,
    /// Rows held out.
    pub rows: u64,
    /// The measures, over the rows of the classes that were learned. Their baseline always answers the most frequent
    /// class of the training rows.
    pub evaluated: Evaluated,
}

impl Trained {
    /// The most frequent class of the training rows, and the error on them of always answering it; `None` for a stream,
    /// which does not count.
    pub fn baseline(&self) -> Option<(String, f64)> {
        let rows: u64 = self.counts.iter().sum();
        let usual = most_frequent(&self.counts);
        let others = rows - self.counts.get(usual)?;
        Some((self.model.classes.outcomes().swap_remove(usual), others as f64 / rows as f64))
    }
}

impl HeldOut {
    /// The share of them that is predicted wrong.
    pub fn error(&self) -> f64 {
        self.errors as f64 / self.rows as f64
    }

    /// Judges a model on held-out rows; `counts` are the training rows of each outcome. `None` if that was interrupted.
    pub(super) fn judge(
        model: &Model,
        held_out: &Dataset,
        counts: &[u64],
        observer: &mut dyn Observer,
    ) -> Option<Self> {
        let Some(judged) = Judged::of(model, held_out, observer) else {
            observer.note(Note::Warning("interrupted: the held-out rows were not judged to the end"));
            return None;
        };
        let (errors, rows) = (judged.errors(), held_out.len() as u64);
        let evaluated = judged.measure(&model.classes, Some(most_frequent(counts)), 0);
        Some(Self { errors, rows, evaluated })
    }
}

//! The result of a state so far, and the bounds that its updates prove: the outcome of a stream.

use crate::classes::{ClassError, ClassPair, Classes};
use crate::theory::margin::{Extent, MarginKind};
use crate::train::engine::evidence::Evidence;
use crate::train::engine::learned::Learned;
use crate::train::engine::one_against_rest;
use crate::train::engine::online::OnlineLearner;
use crate::train::engine::run::{Boundary, Outcome, Status};
use crate::train::engine::state::{Learners, State};
use crate::train::engine::weights::check_named;
use crate::train::learners::multiclass::Multiclass;
use crate::train::settings::ClassWeight;
use crate::{Error, SettingsError};

impl State {
    /// The learned functions so far: for many classes, one function for each, in the order of the sorted classes.
    pub fn learned(&self) -> Result<Learned, Error> {
        Ok(self.clone().into_outcome(None)?.learned)
    }

    /// The evidence about the rows learned from and their updates, as at the end of a stream. The rows are
    /// forgotten, so the training error and the lower end of the margin are not known; the share of the rows that were
    /// predicted wrong before they were learned from is.
    pub fn evidence(&self) -> Result<Evidence, Error> {
        Ok(self.clone().into_outcome(None)?.evidence)
    }

    /// The result so far with its evidence, as at the end of a stream: a
    /// [`Model`](crate::Model) can be made of it.
    pub fn outcome(&self) -> Result<Outcome, Error> {
        self.clone().into_outcome(None)
    }

    /// The outcome of a stream, which came to its end or was stopped.
    pub(crate) fn into_outcome(mut self, stopped: Option<Status>) -> Result<Outcome, Error> {
        let names = self.sorted_names();
        let classes = match &self.learners {
            Learners::Two(_) => Classes::Pair(self.pair(&names)?),
            _ if names.len() < 2 => {
                return Err(ClassError::One { class: names.first().cloned().unwrap_or_default() }.into());
            }
            _ => Classes::Each { names: names.clone() },
        };
        // A stream that was stopped may still have brought the class that a weight is named for.
        if stopped.is_none() && !self.seen.closed {
            check_named(&self.settings.class_weight, &names)?;
        }
        let (learned, mut evidence, boundaries) = match &mut self.learners {
            Learners::Two(_) | Learners::Each(_) => self.of_boundaries(&names, stopped),
            Learners::Together(learner) => {
                learner.end_pass();
                let learned = Learned::Each(learner.learned());
                let upper = learner.margin_upper();
                let stacked = Multiclass::stacked_extent(&self.seen.extent);
                let status = self.status(self.updates(), false, stopped);
                let evidence =
                    self.evidence_of(self.updates(), status, stacked, MarginKind::MultiClass, upper);
                (learned, evidence, Vec::new())
            }
        };
        if !learned.is_finite() {
            let reason = "training diverged: the weights overflowed; choose a smaller ⟦step⟧";
            return Err(SettingsError::new("step", reason).into());
        }
        evidence.progressive_error = Some(self.seen.wrong as f64 / self.cursor.position as f64);
        Ok(Outcome {
            learned,
            status: evidence.status,
            evidence,
            boundaries,
            classes,
            settings: self.settings,
        })
    }

    /// Which class is on which side.
    fn pair(&self, names: &[String]) -> Result<ClassPair, ClassError> {
        let pair = ClassPair::choose(names, self.settings.positive.as_deref())?;
        if self.seen.signs.iter().all(|&sign| sign == self.seen.signs[0]) {
            return Err(ClassError::One { class: names.first().cloned().unwrap_or_default() });
        }
        Ok(pair)
    }

    /// What the boundaries between two sides come to: one, or one for each class.
    fn of_boundaries(
        &mut self,
        names: &[String],
        stopped: Option<Status>,
    ) -> (Learned, Evidence, Vec<Boundary>) {
        self.each_learner(OnlineLearner::end_pass);
        let kind = MarginKind::of_bias(self.settings.bias.input());
        let of = |learner: &OnlineLearner| {
            let status = self.status(learner.updates(), learner.updates_every_row(), stopped);
            let upper = learner.margin_upper();
            let evidence = self.evidence_of(learner.updates(), status, self.seen.extent, kind, upper);
            (learner.learned(), evidence)
        };
        match &self.learners {
            Learners::Two(learner) => {
                let (learned, evidence) = of(learner);
                (learned, evidence, Vec::new())
            }
            Learners::Each(own) => {
                let order = self.seen.order.iter();
                one_against_rest::together(order.map(|&class| of(&own[class])).collect(), names)
            }
            Learners::Together(_) => unreachable!("the multi-class perceptron has no boundaries of its own"),
        }
    }

    /// How one pass ended for a learner with so many updates.
    fn status(&self, updates: u64, updates_every_row: bool, stopped: Option<Status>) -> Status {
        if self.settings.update_limit().is_some_and(|most| updates >= most) {
            return Status::UpdateLimit;
        }
        let quiet = updates == 0 && !updates_every_row;
        stopped.unwrap_or(if quiet { Status::Converged } else { Status::EpochLimit })
    }

    fn evidence_of(
        &self,
        updates: u64,
        status: Status,
        extent: Extent,
        kind: MarginKind,
        upper: Option<f64>,
    ) -> Evidence {
        let rows = self.cursor.position;
        let mut evidence = Evidence::new(
            (rows, self.columns() as u64, self.seen.nonzeros),
            (1, updates, status),
            None,
            None,
            extent,
            kind,
            None,
            upper,
        );
        evidence.weighted = self.settings.class_weight != ClassWeight::Equal;
        evidence
    }
}

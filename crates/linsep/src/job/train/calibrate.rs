//! Probabilities and the threshold of a model, by out-of-fold scores.

use super::{Runner, TrainSpec};
use crate::classes::Classes;
use crate::dataset::Dataset;
use crate::model::{Calibration, Model, Threshold, ThresholdRule};
use crate::numbers::percent;
use crate::observe::{Note, Observer, Progress, watched};
use crate::prepare::{Preparation, Records};
use crate::train::{ClassWeight, Settings};
use crate::validate::out_of_fold::{FOLDS, OutOfFold, OutOfFoldTask, typical_size_watched};
use crate::{Error, SettingsError};

impl TrainSpec {
    /// The option that asks for probabilities, as texts name it, if any.
    pub(super) fn asks_for_probabilities(&self) -> Option<(&'static str, &'static str)> {
        match self.threshold {
            Some(ThresholdRule::Probability(_)) => Some(("threshold", "⟦threshold⟧")),
            Some(ThresholdRule::Cost { .. }) => Some(("cost", "⟦cost⟧")),
            Some(ThresholdRule::Recall(_)) => Some(("recall", "⟦recall⟧")),
            Some(ThresholdRule::Precision(_)) => Some(("precision", "⟦precision⟧")),
            None => self.probabilities.then_some(("probabilities", "⟦probabilities⟧")),
        }
    }

    /// Refuses probabilities that there cannot be. `warm` says whether the run starts from a model.
    pub(super) fn check_probabilities(&self, settings: &Settings, warm: bool) -> Result<(), SettingsError> {
        let Some((field, name)) = self.asks_for_probabilities() else { return Ok(()) };
        if let Some(rule) = &self.threshold {
            rule.validate()?;
        }
        if !settings.learner.abilities().scores_new_rows {
            let problem = format!(
                "{name} needs scores of rows outside the training set; the memoriser gives them all the \
                 same score"
            );
            return Err(SettingsError::new(field, problem));
        }
        if warm {
            let problem = format!(
                "{name} needs rows that the scoring model was not trained on, but the model to start from \
                 may have been: leave ⟦init=MODEL⟧ out"
            );
            return Err(SettingsError::new(field, problem));
        }
        Ok(())
    }

    /// Refuses a threshold for many classes.
    pub(super) fn check_threshold(&self, settings: &Settings, classes: usize) -> Result<(), SettingsError> {
        let Some((field, name)) = self.asks_for_probabilities().filter(|_| self.threshold.is_some()) else {
            return Ok(());
        };
        if classes <= 2 && !settings.learner.abilities().two_sides {
            let problem = format!(
                "{name} needs a learner with one score for two classes; multiclass has one score for each \
                 class: choose another learner, such as ⟦learner=logistic⟧"
            );
            return Err(SettingsError::new(field, problem));
        }
        if classes <= 2 || settings.positive.is_some() {
            return Ok(());
        }
        let problem = format!(
            "{name} is for two sides, and there are {classes} classes: choose one with ⟦positive=CLASS⟧, or keep two with \
             ⟦classes=A,B⟧"
        );
        Err(SettingsError::new(field, problem))
    }
}

impl Runner<'_> {
    /// Gives the model the probabilities and the threshold that were asked for. `prepared` are the rows that it has learned
    /// from. What cannot be had is warned of, and the model stays as it was. Gives whether it was interrupted.
    pub(super) fn calibrate(
        &self,
        model: &mut Model,
        rows: &Records,
        preparation: Preparation,
        prepared: &Dataset,
        observer: &mut dyn Observer,
    ) -> bool {
        let done = self.calibrated(model, rows, preparation, prepared, observer);
        let has_probabilities = model.calibration.is_some() || self.are_natural(model);
        let lost = match (&self.spec.threshold, has_probabilities) {
            (Some(_), true) => "threshold",
            (Some(_), false) => "probabilities and the threshold",
            (None, _) => "probabilities",
        };
        match done {
            Ok(()) => false,
            Err(Error::Interrupted) => {
                observer.note(Note::Warning(&format!(
                    "interrupted while computing out-of-fold scores: the model lacks the requested {lost}"
                )));
                true
            }
            Err(error) => {
                observer.note(Note::Warning(&format!("the model lacks the requested {lost}: {error}")));
                false
            }
        }
    }

    /// Whether the scores say the odds by themselves. Weights of classes shift what they say, so that they are no longer the
    /// odds in rows like these.
    fn are_natural(&self, model: &Model) -> bool {
        model.has_natural_probabilities() && self.settings.class_weight == ClassWeight::Equal
    }

    fn calibrated(
        &self,
        model: &mut Model,
        rows: &Records,
        preparation: Preparation,
        prepared: &Dataset,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        let natural = self.are_natural(model);
        if let (true, None | Some(ThresholdRule::Probability(_))) = (natural, &self.spec.threshold) {
            if let Some(ThresholdRule::Probability(probability)) = self.spec.threshold {
                model.threshold = Some(Threshold::given(probability)?);
            }
            return Ok(());
        }
        let task = OutOfFoldTask {
            records: rows,
            preparation,
            settings: &self.settings,
            classes: &model.classes,
            folds: FOLDS,
        };
        let mut found = task.run(observer)?;
        if !model.has_natural_probabilities() {
            let size = typical_size_watched(&model.learned, prepared, observer).ok_or(Error::Interrupted)?;
            found = found.in_units_of(size);
        }
        if !natural {
            model.calibration = Some(fit(&found, &model.classes, observer)?);
            if self.settings.class_weight != ClassWeight::Equal && model.classes.pair().is_none() {
                observer.note(Note::Warning(
                    "class weights shift the scores of the classes against each other, and temperature \
                     scaling cannot undo that: the probabilities favour the classes with larger weights",
                ));
            }
        }
        let (Some(rule), Some(calibration)) = (self.spec.threshold, model.calibrated()) else {
            return Ok(());
        };
        let probabilities: Vec<f64> =
            found.scores.iter().map(|&score| calibration.probability(score)).collect();
        let chosen = Threshold::choose(rule, &probabilities, &found.signs());
        model.threshold = Some(chosen.ok_or_else(|| unreachable_target(rule))?);
        Ok(())
    }
}

/// The calibration of out-of-fold scores.
fn fit(found: &OutOfFold, classes: &Classes, observer: &mut dyn Observer) -> Result<Calibration, Error> {
    let rows = found.truth.len() as u64;
    let progress = Progress::Judging { rows, total: rows };
    let calibration = watched(observer, &progress, |stop| match classes {
        Classes::Pair(_) => Calibration::fit_pair(&found.scores, &found.signs()),
        Classes::Each { .. } => Calibration::fit_many_until(&found.scores, found.width, &found.truth, stop),
    });
    if calibration.is_none() && observer.will_stop() {
        return Err(Error::Interrupted);
    }
    calibration.ok_or_else(|| {
        let problem = "the out-of-fold scores are too large or too few to fit probabilities";
        SettingsError::new("probabilities", problem).into()
    })
}

/// The error for a target that no threshold reaches.
fn unreachable_target(rule: ThresholdRule) -> Error {
    let problem = match rule {
        ThresholdRule::Precision(least) => {
            format!("no threshold has a precision of {} on the out-of-fold scores", percent(least))
        }
        _ => "the out-of-fold scores have no row of the positive side".to_string(),
    };
    SettingsError::new("precision", problem).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Source;
    use crate::train::Status;
    use std::ops::ControlFlow;

    /// Rows of two classes that overlap a little.
    fn table() -> String {
        let row = |i: u32| {
            format!(
                "{},{},{}\n",
                (i * 37) % 101,
                (i * 53) % 89,
                if (i * 37) % 101 + i % 20 > 60 { "yes" } else { "no" }
            )
        };
        format!("x,z,kind\n{}", (0..200).map(row).collect::<String>())
    }

    fn spec(learner: &str) -> TrainSpec {
        let source = Source::Shared("rows".into(), table().into_bytes().into());
        let data = crate::job::DataSpec { source, ..Default::default() };
        TrainSpec { data, learner: Some(learner.into()), probabilities: true, ..TrainSpec::default() }
    }

    /// Breaks as soon as folds are being learned, and keeps what it hears.
    #[derive(Default)]
    struct Impatient {
        stopped: bool,
        heard: Vec<String>,
    }

    impl Observer for Impatient {
        fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
            self.stopped |= matches!(progress, Progress::Parts { what: "folds", .. });
            if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }

        fn will_stop(&self) -> bool {
            self.stopped
        }

        fn note(&mut self, note: Note<'_>) {
            if let Note::Warning(text) = note {
                self.heard.push(text.to_string());
            }
        }
    }

    #[test]
    fn an_interrupted_calibration_keeps_the_model() {
        let mut observer = Impatient::default();
        let trained = spec("svm").run(&mut observer).unwrap();
        assert_eq!((trained.status, &trained.model.calibration), (Status::Interrupted, &None));
        assert!(trained.model.evidence.training_error.is_some());
        assert!(
            observer.heard.iter().any(|text| text.contains("the model lacks the requested probabilities")),
            "{:?}",
            observer.heard
        );
    }

    #[test]
    fn natural_probabilities_need_no_folds_unless_classes_have_weights() {
        let mut observer = Impatient::default();
        let trained = spec("logistic").run(&mut observer).unwrap();
        assert!(!observer.stopped && trained.model.calibration.is_none());
        assert_eq!(trained.model.calibrated(), Some(&Calibration::Natural));
        let mut weighted = spec("logistic");
        weighted.classes.weight = ClassWeight::Balanced;
        let trained = weighted.run(&mut ()).unwrap();
        assert!(matches!(trained.model.calibrated(), Some(Calibration::Sigmoid { .. })));
    }

    #[test]
    fn a_precision_that_is_not_reached_leaves_the_model_without_a_threshold() {
        let mut hopeless = spec("averaged");
        // Labels that have nothing to do with the rows.
        let rows: String =
            (0..60u32).map(|i| format!("{},{}\n", i % 3, if (i / 3) % 2 == 0 { "a" } else { "b" })).collect();
        hopeless.data.source = Source::Shared("rows".into(), format!("x,kind\n{rows}").into_bytes().into());
        hopeless.threshold = Some(ThresholdRule::Precision(1.0));
        let mut observer = Impatient { stopped: false, heard: Vec::new() };
        // This one is patient.
        struct Patient<'a>(&'a mut Impatient);
        impl Observer for Patient<'_> {
            fn note(&mut self, note: Note<'_>) {
                self.0.note(note);
            }
        }
        let trained = hopeless.run(&mut Patient(&mut observer)).unwrap();
        assert_eq!(trained.model.threshold, None);
        assert!(
            observer.heard.iter().any(|text| text.contains("no threshold has a precision of 100")),
            "{:?}",
            observer.heard
        );
    }
}

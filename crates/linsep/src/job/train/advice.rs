//! Remarks on a training run that may help its user.

use crate::dataset::Dataset;
use crate::numbers::{Rounding, rounded};
use crate::read::Schema;
use crate::scale::{Scaler, Scaling};

/// Rows that are looked at for advice: a sample tells as much, and is no second copy of the data.
const SAMPLE: usize = 5_000;

/// The remark where each of many classes is trained against the rest.
pub(super) fn many_classes(classes: usize) -> String {
    format!(
        "{classes} classes: one classifier is trained for each class against the rest. For one class only, \
         use ⟦positive=CLASS⟧; to keep two classes, ⟦classes=A,B⟧; to train all jointly, ⟦learner=multiclass⟧."
    )
}

/// Advice where the scale of the features may keep a perceptron from converging.
pub(super) fn scaling(data: &Dataset, schema: &Schema) -> Option<String> {
    let sampled;
    let data = if data.len() <= SAMPLE {
        data
    } else {
        let count = (data.len() / 8).min(SAMPLE);
        let sample: Vec<usize> = (0..data.len()).step_by(data.len().div_ceil(count)).collect();
        sampled = data.subset(&sample).ok()?;
        &sampled
    };
    let Scaler::MaxAbs { divisor: mut sizes } = Scaler::learn(Scaling::MaxAbs, data) else { return None };
    sizes.sort_by(f64::total_cmp);
    let (median, largest) = (*sizes.get(sizes.len() / 2)?, *sizes.last()?);
    if largest / median > 100.0 {
        let times = rounded((largest / median).floor(), Rounding::Down);
        return Some(format!(
            "The largest feature is about {times} times as large as the median one: ⟦scale=auto⟧ may help."
        ));
    }
    let Scaler::Standard(standard) = Scaler::learn(Scaling::Standard, data) else { return None };
    let (mean, divisor) = (standard.mean(), standard.divisor());
    let far = (0..mean.len()).find(|&j| mean[j].abs() > 10.0 * divisor[j])?;
    let name = schema.feature_name(far);
    Some(format!(
        "Feature \"{name}\" has a mean far from zero relative to its spread: ⟦scale=auto⟧, which centres \
         it, may help."
    ))
}

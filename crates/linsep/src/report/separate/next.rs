//! Jobs that make sense after a verdict.

use crate::features::Scaling;
use crate::job::{
    BiasSpec, ClassSpec, CompareSpec, Decided, SeparateSpec, Separated, Spec, TrainSpec, VerifySpec,
};
use crate::separate::{Bias, Verdict};
use crate::train::Options;

/// Rows × coordinates² up to which the bias of maximum likelihood matters and is quickly reduced.
const SMALL: usize = 100_000_000;

/// The next steps, each with its job: first what a user who asked for this verdict most likely wants.
pub(super) fn steps(separated: &Separated, decided: &Decided) -> Vec<(&'static str, Spec)> {
    let given = &separated.spec;
    if given.data.source.path().is_none() {
        return Vec::new();
    }
    let data = given.data.clone();
    let row_weights = given.row_weights.clone();
    let classes = || ClassSpec {
        positive: given.positive.clone(),
        only: given.only.clone(),
        row_weights: row_weights.clone(),
        ..ClassSpec::default()
    };
    let bias = match separated.settings.bias {
        Bias::None => BiasSpec { append: Some(false), scale: None },
        Bias::Append(scale) if scale != 1.0 => BiasSpec { append: None, scale: Some(scale) },
        Bias::Append(_) | Bias::Free => BiasSpec::default(),
    };
    let again = SeparateSpec {
        data: data.clone(),
        positive: given.positive.clone(),
        only: given.only.clone(),
        row_weights: row_weights.clone(),
        bias: given.bias,
        bias_scale: given.bias_scale.filter(|&scale| scale != 1.0),
        reference: given.reference.clone(),
        ..SeparateSpec::default()
    };
    let mut steps: Vec<(&'static str, Spec)> = Vec::new();
    let has_no_optimum = matches!(decided.separation.verdict, Verdict::Complete | Verdict::QuasiComplete)
        || decided.separation.overlap_is_ruled_out;
    if has_no_optimum {
        let train = TrainSpec {
            data: data.clone(),
            classes: classes(),
            learner: Some("logistic".into()),
            output: Some("MODEL".into()),
            ..TrainSpec::default()
        };
        // Small data with fewer coordinates than rows: estimates of little bias.
        let (rows, dimension) = (decided.separation.rows, separated.data.columns() + 1);
        if dimension < rows && rows.saturating_mul(dimension * dimension) < SMALL {
            let options = Options::new().with("penalty", "firth");
            let firth = TrainSpec { options, ..train.clone() };
            let what = "train a logistic regression with finite, bias-reduced estimates (Firth), suited to small studies:";
            steps.push((what, Spec::Train(Box::new(firth))));
        }
        let what = "train a logistic regression with finite estimates, using a penalty:";
        steps.push((what, Spec::Train(Box::new(train))));
    }
    match decided.separation.verdict {
        // The margin is that of the nearest row, however often it counts: its learner takes no counts.
        Verdict::Complete if data.counts.is_some() || row_weights.is_some() => {
            let train = TrainSpec {
                data: data.clone(),
                classes: classes(),
                bias,
                learner: Some("svm".into()),
                output: Some("MODEL".into()),
                ..TrainSpec::default()
            };
            let what = "train a soft-margin classifier that uses the row weights:";
            steps.push((what, Spec::Train(Box::new(train))));
        }
        Verdict::Complete => {
            let what = match separated.settings.bias {
                Bias::Free => "train the classifier with the best margin, with the bias counted in the norm:",
                _ => "train the classifier with that margin:",
            };
            let train = TrainSpec {
                data: data.clone(),
                classes: classes(),
                bias,
                learner: Some("max-margin".into()),
                scale: Some(Scaling::None),
                output: Some("MODEL".into()),
                ..TrainSpec::default()
            };
            steps.push((what, Spec::Train(Box::new(train))));
        }
        Verdict::QuasiComplete | Verdict::Overlap => {
            // Where it found nothing, it would find nothing again.
            if decided.blame.is_none() && !given.blame {
                let what = "find a small set of rows to remove so that the rest is separable:";
                steps.push((what, Spec::Separate(SeparateSpec { blame: true, ..again })));
            }
            let what = "see which learner does best on these rows:";
            let compare =
                CompareSpec { data: data.clone(), classes: classes(), bias, ..CompareSpec::default() };
            steps.push((what, Spec::Compare(compare)));
        }
        Verdict::Undecided if given.max_seconds.is_some() => {
            steps.push(("decide without a time limit:", Spec::Separate(again)));
        }
        Verdict::Undecided => {}
    }
    if let Some(path) = &decided.certificate {
        let verify = VerifySpec { certificate: path.clone(), data, row_weights, ..VerifySpec::default() };
        steps.push(("check the proof again, here or elsewhere:", Spec::Verify(verify)));
    }
    steps
}

//! What the arguments say about the learner.

use crate::args::{AggressionArg, CombineArg, KernelArg, LearnerArg, LearnerArgs, LossArg, ScheduleArg};
use crate::exit::Usage;
use linsep::classes::class_name;
use linsep::train::{
    Aggression, BatchOptions, ClassWeight, Combine, Kernel, KernelOptions, Learner, LiftedOptions, Loss,
    MarginRule, MaxMarginOptions, MulticlassOptions, PassiveAggressiveOptions, PocketOptions, Schedule,
    SgdOptions, StepSchedule, SvmLoss, SvmOptions,
};

/// The learner of that name, with its usual options.
pub(super) fn plain(name: LearnerArg) -> Learner {
    match name {
        LearnerArg::Perceptron => Learner::Perceptron,
        LearnerArg::Averaged => Learner::Averaged,
        LearnerArg::Voted => Learner::Voted,
        LearnerArg::Margin => Learner::Margin(MarginRule::default()),
        LearnerArg::Batch => Learner::Batch(BatchOptions::default()),
        LearnerArg::Pocket => Learner::Pocket(PocketOptions::default()),
        LearnerArg::Lifted => Learner::Lifted(LiftedOptions::default()),
        LearnerArg::Kernel => Learner::Kernel(KernelOptions::default()),
        LearnerArg::Multiclass => Learner::Multiclass(MulticlassOptions::default()),
        LearnerArg::Sgd => Learner::Sgd(SgdOptions::default()),
        LearnerArg::Svm => Learner::Svm(SvmOptions::default()),
        LearnerArg::MaxMargin => Learner::MaxMargin(MaxMarginOptions::default()),
        LearnerArg::Memoriser => Learner::Memoriser,
        LearnerArg::PassiveAggressive => Learner::PassiveAggressive(PassiveAggressiveOptions::default()),
    }
}

/// The learner with the options that were given. One that it does not have is refused, with the learners that do.
pub(super) fn with_options(learner: Learner, args: &LearnerArgs) -> Result<Learner, Usage> {
    refuse_foreign(learner, args)?;
    Ok(match learner {
        Learner::Margin(_) if args.beta.is_some() || args.threshold.is_some() || args.epsilon.is_some() => {
            Learner::Margin(match (args.beta, args.threshold, args.epsilon) {
                (Some(beta), _, _) => MarginRule::Fixed { beta },
                (_, Some(b), _) => MarginRule::Threshold { b },
                (_, _, epsilon) => MarginRule::Dynamic { epsilon: epsilon.unwrap_or_default() },
            })
        }
        Learner::Batch(mut options) => {
            options.schedule = match power(args)? {
                Some(p) => Schedule::Power(p),
                None => match args.schedule {
                    None => options.schedule,
                    Some(ScheduleArg::Mean) => Schedule::Mean,
                    Some(ScheduleArg::Shrinking) => {
                        return Err(Usage("--schedule shrinking is for the sgd learner".into()));
                    }
                    Some(_) => Schedule::Constant,
                },
            };
            options.step = args.step.unwrap_or(options.step);
            Learner::Batch(options)
        }
        Learner::Pocket(mut options) => {
            options.margin = args.margin.unwrap_or(options.margin);
            Learner::Pocket(options)
        }
        Learner::Lifted(mut options) => {
            options.a = args.lift.or(options.a);
            Learner::Lifted(options)
        }
        Learner::Kernel(options) => Learner::Kernel(kernel(options, args)?),
        Learner::Multiclass(mut options) => {
            options.combine = args.combine.map_or(options.combine, combine);
            Learner::Multiclass(options)
        }
        Learner::Sgd(options) => Learner::Sgd(sgd(options, args)?),
        Learner::Svm(mut options) => {
            options.loss = match args.loss {
                None => options.loss,
                Some(LossArg::Hinge) => SvmLoss::Hinge,
                Some(LossArg::SquaredHinge) => SvmLoss::SquaredHinge,
                Some(_) => {
                    return Err(Usage(
                        "the svm learner has --loss hinge and squared-hinge; the others are for sgd".into(),
                    ));
                }
            };
            options.c = args.c.unwrap_or(options.c);
            options.gap = args.gap.unwrap_or(options.gap);
            Learner::Svm(options)
        }
        Learner::MaxMargin(mut options) => {
            options.gap = args.gap.unwrap_or(options.gap);
            Learner::MaxMargin(options)
        }
        Learner::PassiveAggressive(mut options) => {
            options.aggression = match args.aggression {
                None => options.aggression,
                Some(AggressionArg::Full) => Aggression::Full,
                Some(AggressionArg::Capped) => Aggression::Capped,
                Some(AggressionArg::Softened) => Aggression::Softened,
            };
            if options.aggression == Aggression::Full && args.c.is_some() {
                return Err(Usage(
                    "--C has no meaning with --aggression full, which goes as far as it takes".into(),
                ));
            }
            options.c = args.c.unwrap_or(options.c);
            options.combine = args.combine.map_or(options.combine, combine);
            Learner::PassiveAggressive(options)
        }
        other => other,
    })
}

/// The p of a schedule that is a power, by whichever name.
fn power(args: &LearnerArgs) -> Result<Option<f64>, Usage> {
    match (args.schedule, args.power) {
        (Some(ScheduleArg::Inverse), None) => Ok(Some(1.0)),
        (Some(ScheduleArg::InverseRoot), None) => Ok(Some(0.5)),
        (Some(ScheduleArg::Power) | None, Some(p)) => Ok(Some(p)),
        (Some(ScheduleArg::Power), None) => {
            Err(Usage("--schedule power needs --power p, from 0 to 1".into()))
        }
        (Some(_), Some(_)) => Err(Usage("--power belongs to --schedule power".into())),
        _ => Ok(None),
    }
}

fn combine(arg: CombineArg) -> Combine {
    match arg {
        CombineArg::Last => Combine::Last,
        CombineArg::Average => Combine::Average,
        CombineArg::Vote => Combine::Vote,
    }
}

fn kernel(mut options: KernelOptions, args: &LearnerArgs) -> Result<KernelOptions, Usage> {
    let kind = args.kernel.unwrap_or(match options.kernel {
        Kernel::Linear => KernelArg::Linear,
        Kernel::Polynomial { .. } => KernelArg::Poly,
        Kernel::Rbf { .. } => KernelArg::Rbf,
    });
    let refuse = |option: &str, kinds: &str| Err(Usage(format!("{option} is an option of --kernel {kinds}")));
    if kind != KernelArg::Poly && args.degree.is_some() {
        return refuse("--degree", "poly");
    }
    if kind != KernelArg::Poly && args.offset.is_some() {
        return refuse("--offset", "poly");
    }
    if kind == KernelArg::Linear && args.gamma.is_some() {
        return refuse("--gamma", "poly and rbf");
    }
    options.kernel = match kind {
        KernelArg::Linear => Kernel::Linear,
        KernelArg::Poly => Kernel::Polynomial {
            degree: args.degree.unwrap_or(2),
            gamma: args.gamma.unwrap_or(1.0),
            offset: args.offset.unwrap_or(0.0),
        },
        KernelArg::Rbf => Kernel::Rbf { gamma: args.gamma },
    };
    options.combine = args.combine.map_or(options.combine, combine);
    options.cache_bytes = args.kernel_cache.unwrap_or(options.cache_bytes);
    Ok(options)
}

fn sgd(options: SgdOptions, args: &LearnerArgs) -> Result<SgdOptions, Usage> {
    let loss = match args.loss {
        None => options.loss,
        Some(LossArg::Perceptron) => Loss::Perceptron,
        Some(LossArg::Hinge) => Loss::Hinge,
        Some(LossArg::Log) => Loss::Log,
        Some(LossArg::Squared) => Loss::Squared,
        Some(LossArg::SquaredHinge) => {
            return Err(Usage("--loss squared-hinge is for the svm learner".into()));
        }
    };
    let mut options = if loss == options.loss { options } else { SgdOptions::of(loss) };
    options.schedule = match power(args)? {
        Some(p) => StepSchedule::Power(p),
        None => match args.schedule {
            None => options.schedule,
            Some(ScheduleArg::Shrinking) => StepSchedule::Shrinking,
            Some(ScheduleArg::Mean) => {
                return Err(Usage("--schedule mean is for the batch learner".into()));
            }
            Some(_) => StepSchedule::Constant,
        },
    };
    options.step = args.step.or(options.step);
    options.l2 = args.l2.unwrap_or(options.l2);
    options.combine = args.combine.map_or(options.combine, combine);
    Ok(options)
}

/// Refuses options that the learner does not have.
fn refuse_foreign(learner: Learner, args: &LearnerArgs) -> Result<(), Usage> {
    let given: [(bool, &str, &[&str]); 19] = [
        (args.epsilon.is_some(), "--epsilon", &["margin"]),
        (args.beta.is_some(), "--beta", &["margin"]),
        (args.threshold.is_some(), "--threshold", &["margin"]),
        (args.schedule.is_some(), "--schedule", &["batch", "sgd"]),
        (args.power.is_some(), "--power", &["batch", "sgd"]),
        (args.step.is_some(), "--step", &["batch", "sgd"]),
        (args.margin.is_some(), "--margin", &["pocket"]),
        (args.lift.is_some(), "--lift", &["lifted"]),
        (args.kernel.is_some(), "--kernel", &["kernel"]),
        (args.degree.is_some(), "--degree", &["kernel"]),
        (args.gamma.is_some(), "--gamma", &["kernel"]),
        (args.offset.is_some(), "--offset", &["kernel"]),
        (args.kernel_cache.is_some(), "--kernel-cache", &["kernel"]),
        (args.combine.is_some(), "--combine", &["kernel", "multiclass", "sgd", "passive-aggressive"]),
        (args.loss.is_some(), "--loss", &["sgd", "svm"]),
        (args.l2.is_some(), "--l2", &["sgd"]),
        (args.c.is_some(), "--C", &["svm", "passive-aggressive"]),
        (args.gap.is_some(), "--gap", &["svm", "max-margin"]),
        (args.aggression.is_some(), "--aggression", &["passive-aggressive"]),
    ];
    let foreign = given.iter().find(|(given, _, learners)| *given && !learners.contains(&learner.name()));
    match foreign {
        Some((_, option, learners)) => Err(Usage(format!(
            "{option} is an option of --learner {}, not of {}",
            learners.join(" and "),
            learner.name()
        ))),
        None => Ok(()),
    }
}

/// How often the rows of each class count.
pub(super) fn class_weight(texts: &[String]) -> Result<ClassWeight, Usage> {
    let mut named: Vec<(String, f64)> = Vec::new();
    for text in texts {
        if text == "balanced" && texts.len() == 1 {
            return Ok(ClassWeight::Balanced);
        }
        let parsed = text
            .rsplit_once('=')
            .and_then(|(class, weight)| Some((class_name(class)?, weight.trim().parse::<f64>().ok()?)));
        let Some((class, weight)) = parsed else {
            return Err(Usage(format!(
                "--class-weight {text}: expected balanced alone, or CLASS=WEIGHT such as spam=2"
            )));
        };
        if named.iter().any(|(other, _)| *other == class) {
            return Err(Usage(format!("--class-weight names the class {class} twice")));
        }
        named.push((class, weight));
    }
    Ok(if named.is_empty() { ClassWeight::Equal } else { ClassWeight::Named(named) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_belong_to_their_learners() {
        let args = LearnerArgs { epsilon: Some(0.2), ..LearnerArgs::default() };
        assert_eq!(
            with_options(plain(LearnerArg::Margin), &args).unwrap(),
            Learner::Margin(MarginRule::Dynamic { epsilon: 0.2 })
        );
        let refused = with_options(plain(LearnerArg::Svm), &args).unwrap_err();
        assert_eq!(refused.0, "--epsilon is an option of --learner margin, not of svm");
    }

    #[test]
    fn class_weights_are_read() {
        let read = |texts: &[&str]| class_weight(&texts.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(read(&[]).unwrap(), ClassWeight::Equal);
        assert_eq!(read(&["balanced"]).unwrap(), ClassWeight::Balanced);
        let named = ClassWeight::Named(vec![("a=b".into(), 2.0), ("1".into(), 0.5)]);
        assert_eq!(read(&["a=b=2", "+1=0.5"]).unwrap(), named);
        for wrong in [&["balanced", "a=1"][..], &["a"], &["a=x"], &["a=1", "a=2"]] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}

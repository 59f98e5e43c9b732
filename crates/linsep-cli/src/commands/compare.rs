//! `linsep compare`

use super::{print_json, print_report_within, print_result};
use crate::args::{CompareArgs, ContestArgs};
use crate::console::{Console, ProgressDisplay};
use crate::exit::Exit;
use linsep::job::CompareSpec;
use linsep::report::{compare_csv, compare_report};
use linsep::scale::Scaling;

/// The comparison that was asked for.
pub(super) fn spec(args: &ContestArgs) -> anyhow::Result<CompareSpec> {
    let task = &args.task;
    Ok(CompareSpec {
        data: task.data(&args.data),
        classes: task.classes.spec()?,
        scale: task.classes.scale.unwrap_or(Scaling::Auto),
        bias: task.bias.spec(),
        learners: args.learners.iter().map(|learner| learner.name()).collect(),
        grid: args.grid.values.clone(),
        metric: args.metric,
        folds: args.folds,
        order: args.order,
        orders: args.orders,
        epochs: args.epochs,
        max_seconds: args.max_seconds,
        seed: args.seed,
    })
}

pub(crate) fn run(args: &CompareArgs, console: Console) -> anyhow::Result<Exit> {
    let spec = spec(&args.contest)?;
    let comparison = spec.run(&mut ProgressDisplay::new(console))?;
    if args.json {
        print_json(&comparison)?;
    } else if args.csv {
        print_result(|out| out.write_all(compare_csv(&comparison).as_bytes()))?;
    } else {
        print_report_within(&compare_report(&comparison, &spec.data.source.name()), 80)?;
    }
    Ok(if comparison.interrupted { Exit::Interrupted } else { Exit::Fine })
}

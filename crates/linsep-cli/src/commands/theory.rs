//! `linsep theory`

use super::{print_json, print_report};
use crate::args::TheoryArgs;
use crate::console::{Console, ProgressDisplay};
use crate::exit::Exit;
use linsep::job::TheorySpec;
use linsep::report::theory_report;

pub(crate) fn run(args: &TheoryArgs, console: Console) -> anyhow::Result<Exit> {
    let task = &args.task;
    let spec = TheorySpec {
        data: task.data(&args.data),
        classes: task.classes.spec()?,
        scale: task.classes.scale.unwrap_or_default(),
        bias: task.bias.spec(),
        epochs: args.epochs,
        max_seconds: args.max_seconds,
        delta: args.delta,
        seed: args.seed,
    };
    let found = spec.run(&mut ProgressDisplay::of_whole_job(console))?;
    if args.json { print_json(&found) } else { print_report(&theory_report(&found, &spec)) }
}

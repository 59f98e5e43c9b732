//! `linsep evaluate`

use super::{print_json, print_report};
use crate::args::EvaluateArgs;
use crate::console::{Console, ProgressDisplay};
use crate::exit::Exit;
use linsep::job::{DataSpec, EvaluateSpec};
use linsep::report::{EvaluateRecord, evaluate_report};

pub(crate) fn run(args: &EvaluateArgs, console: Console) -> anyhow::Result<Exit> {
    let spec = EvaluateSpec {
        model: args.model.clone(),
        data: DataSpec { counts: args.weights.column(), ..args.read.data(&args.data) },
        row_weights: args.weights.file(),
        threshold: args.threshold.threshold,
    };
    let evaluated = spec.run(&mut ProgressDisplay::of_whole_job(console))?;
    if args.json {
        print_json(&EvaluateRecord::from(&evaluated))
    } else {
        print_report(&evaluate_report(&evaluated))
    }
}

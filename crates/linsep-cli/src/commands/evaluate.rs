//! `linsep evaluate`

use super::{print_json, print_report};
use crate::args::{EvaluateArgs, Rows};
use crate::console::{Console, ProgressDisplay};
use crate::exit::Exit;
use linsep::job::EvaluateSpec;
use linsep::report::{EvaluateRecord, evaluate_report};

pub(crate) fn run(args: &EvaluateArgs, console: Console) -> anyhow::Result<Exit> {
    let Rows { data, row_weights } = args.flags.rows(&args.data)?;
    let spec =
        EvaluateSpec { model: args.model.clone(), data, row_weights, threshold: args.threshold.threshold };
    let evaluated = spec.run(&mut ProgressDisplay::of_whole_job(console))?;
    if args.json {
        print_json(&EvaluateRecord::from(&evaluated))
    } else {
        print_report(&evaluate_report(&evaluated), console)
    }
}

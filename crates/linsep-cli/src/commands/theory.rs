//! `linsep theory`

use super::{print_json, print_report};
use crate::args::TheoryArgs;
use crate::console::{Console, ProgressDisplay};
use crate::exit::Exit;
use linsep::Source;
use linsep::report::theory_report;

pub(crate) fn run(args: &TheoryArgs, console: Console) -> anyhow::Result<Exit> {
    let mut spec = args.flags.spec()?;
    spec.data.source = Source::from_argument(&args.data);
    let found = spec.run(&mut ProgressDisplay::of_whole_job(console))?;
    if args.json { print_json(&found) } else { print_report(&theory_report(&found, &spec), console) }
}

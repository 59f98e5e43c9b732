//! `linsep tune`

use super::{print_json, print_report};
use crate::args::TuneArgs;
use crate::console::{Console, ProgressDisplay};
use crate::exit::Exit;
use crate::output;
use linsep::Source;
use linsep::report::{TuneRecord, tune_report};
use linsep::validate::tune::Ended;
use std::path::PathBuf;

pub(crate) fn run(args: &TuneArgs, console: Console) -> anyhow::Result<Exit> {
    let mut spec = args.flags.spec()?;
    spec.data.source = Source::from_argument(&args.data);
    spec.output = args.output.clone();
    output::will_write(&args.output.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    output::awaits(args.output.as_deref());
    let found = spec.run(&mut ProgressDisplay::new(console))?;
    if args.json {
        print_json(&TuneRecord::from(&found))?;
    } else {
        print_report(&tune_report(&found), console)?;
    }
    if let Some(exit) = Exit::of_losses(found.trained.lost) {
        return Ok(exit);
    }
    Ok(if found.tuned.ended == Some(Ended::Interrupted) { Exit::Interrupted } else { Exit::Fine })
}

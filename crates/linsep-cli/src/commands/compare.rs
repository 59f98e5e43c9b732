//! `linsep compare`

use super::{print_json, print_report_within, print_result};
use crate::args::{CompareArgs, ContestArgs};
use crate::console::{Console, ProgressDisplay};
use crate::exit::Exit;
use linsep::Source;
use linsep::job::CompareSpec;
use linsep::report::{compare_csv, compare_report};

/// The comparison that was asked for.
pub(super) fn spec(args: &ContestArgs) -> anyhow::Result<CompareSpec> {
    let mut spec = args.flags.spec()?;
    spec.data.source = Source::from_argument(&args.data);
    Ok(spec)
}

pub(crate) fn run(args: &CompareArgs, console: Console) -> anyhow::Result<Exit> {
    let spec = spec(&args.contest)?;
    let comparison = spec.run(&mut ProgressDisplay::new(console))?;
    if args.json {
        print_json(&comparison)?;
    } else if args.csv {
        print_result(|out| out.write_all(compare_csv(&comparison).as_bytes()))?;
    } else {
        print_report_within(&compare_report(&comparison, &spec.data.source.name(), &spec), 80, console)?;
    }
    Ok(if comparison.interrupted { Exit::Interrupted } else { Exit::Fine })
}

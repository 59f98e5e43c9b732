//! `linsep separate`

use super::{print_json, print_report};
use crate::args::{DecideArgs, SeparateArgs};
use crate::console::{Console, ProgressDisplay};
use crate::exit::Exit;
use crate::output;
use linsep::Source;
use linsep::job::SeparateSpec;
use linsep::report::{SeparateRecord, separate_report};
use linsep::separate::Verdict;

/// The decision that was asked for, without an output.
pub(super) fn spec(args: &DecideArgs) -> anyhow::Result<SeparateSpec> {
    let mut spec = args.flags.spec()?;
    spec.data.source = Source::from_argument(&args.data);
    Ok(spec)
}

pub(crate) fn run(args: &SeparateArgs, console: Console) -> anyhow::Result<Exit> {
    let spec = SeparateSpec { output: args.output.clone(), ..spec(&args.decide)? };
    output::will_write(&spec.output.iter().map(std::path::PathBuf::as_path).collect::<Vec<_>>());
    output::awaits(spec.output.as_deref());
    let separated = spec.run(&mut ProgressDisplay::new(console))?;
    if args.json {
        print_json(&SeparateRecord::from(&separated))?;
    } else {
        print_report(&separate_report(&separated), console)?;
    }
    Ok(match separated.verdict() {
        Verdict::Complete => Exit::Fine,
        Verdict::QuasiComplete | Verdict::Overlap => Exit::No,
        Verdict::Undecided => Exit::Undecided,
    })
}

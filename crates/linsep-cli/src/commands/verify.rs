//! `linsep verify`

use super::{print_json, print_report};
use crate::args::VerifyArgs;
use crate::console::{Console, ProgressDisplay};
use crate::exit::Exit;
use linsep::Source;
use linsep::report::{VerifyRecord, verify_report};

pub(crate) fn run(args: &VerifyArgs, console: Console) -> anyhow::Result<Exit> {
    let mut spec = args.flags.spec()?;
    spec.certificate = args.certificate.clone();
    spec.data.source = Source::from_argument(&args.data);
    let verified = spec.run(&mut ProgressDisplay::of_whole_job(console))?;
    if args.json {
        print_json(&VerifyRecord::from(&verified))?;
    } else {
        print_report(&verify_report(&verified), console)?;
    }
    Ok(if verified.outcome.is_ok() { Exit::Fine } else { Exit::No })
}

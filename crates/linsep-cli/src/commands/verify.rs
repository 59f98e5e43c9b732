//! `linsep verify`

use super::{print_json, print_report};
use crate::args::VerifyArgs;
use crate::console::{Console, ProgressDisplay};
use crate::exit::Exit;
use linsep::job::{DataSpec, VerifySpec};
use linsep::report::{VerifyRecord, verify_report};

pub(crate) fn run(args: &VerifyArgs, console: Console) -> anyhow::Result<Exit> {
    let spec = VerifySpec {
        certificate: args.certificate.clone(),
        data: DataSpec {
            cache: args.cache.cache,
            counts: args.weights.column(),
            ..args.read.data(&args.data)
        },
        row_weights: args.weights.file(),
        allow_one_sided: args.allow_one_sided,
    };
    let verified = spec.run(&mut ProgressDisplay::of_whole_job(console))?;
    if args.json {
        print_json(&VerifyRecord::from(&verified))?;
    } else {
        print_report(&verify_report(&verified))?;
    }
    Ok(if verified.outcome.is_ok() { Exit::Fine } else { Exit::No })
}

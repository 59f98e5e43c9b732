//! `linsep separate`

use super::{print_json, print_report};
use crate::args::{DecideArgs, SeparateArgs};
use crate::console::{Console, ProgressDisplay};
use crate::exit::Exit;
use crate::output;
use linsep::job::{DataSpec, ReferenceSpec, SeparateSpec};
use linsep::report::{SeparateRecord, separate_report};
use linsep::separate::Verdict;

/// The decision that was asked for, without an output.
pub(super) fn spec(args: &DecideArgs) -> anyhow::Result<SeparateSpec> {
    Ok(SeparateSpec {
        data: DataSpec {
            cache: args.cache.cache,
            counts: args.weights.column(),
            ..args.read.data(&args.data)
        },
        positive: args.positive.clone(),
        only: args.keep.clone(),
        row_weights: args.weights.file(),
        pairs: args.pairs,
        bias: args.bias,
        bias_scale: args.bias_scale,
        gap: args.gap,
        max_seconds: args.time,
        memory: args.memory,
        seed: args.seed,
        blame: args.blame,
        columns: args.columns,
        reference: ReferenceSpec::parse(&args.reference).map_err(linsep::Error::from)?,
        output: None,
    })
}

pub(crate) fn run(args: &SeparateArgs, console: Console) -> anyhow::Result<Exit> {
    let spec = SeparateSpec { output: args.output.clone(), ..spec(&args.decide)? };
    output::will_write(&spec.output.iter().map(std::path::PathBuf::as_path).collect::<Vec<_>>());
    output::awaits(spec.output.as_deref());
    let separated = spec.run(&mut ProgressDisplay::new(console))?;
    if args.json {
        print_json(&SeparateRecord::from(&separated))?;
    } else {
        print_report(&separate_report(&separated))?;
    }
    Ok(match separated.verdict() {
        Verdict::Complete => Exit::Fine,
        Verdict::QuasiComplete | Verdict::Overlap => Exit::No,
        Verdict::Undecided => Exit::Undecided,
    })
}

//! `linsep train`

use super::{command, print_json, print_report};
use crate::args::TrainArgs;
use crate::console::{Console, ProgressDisplay};
use crate::exit::{Exit, Usage};
use crate::output;
use anyhow::Context;
use linsep::job::{Spec, TrainSpec, refuse_overwriting};
use linsep::report::{TrainRecord, describe_no_model, train_report};
use linsep::theory::margin::MarginKind;
use linsep::{Source, Status};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &TrainArgs, console: Console) -> anyhow::Result<Exit> {
    let spec = spec(args)?;
    announce_outputs(args, &spec)?;
    let mut trained = spec.run(&mut ProgressDisplay::new(console))?;
    let no_model = describe_no_model(&trained.model);
    if args.json {
        print_json(&TrainRecord::from(&trained))?;
    } else if no_model.is_none() {
        print_report(&train_report(&trained), console)?;
    }
    if let Some(exit) = Exit::of_losses(std::mem::take(&mut trained.lost)) {
        return Ok(exit);
    }
    Ok(match trained.status {
        status if !status.has_model() => {
            // Of several classes at once there is no such job.
            let two_sides = trained.model.evidence.margin.kind != MarginKind::MultiClass;
            let proof = trained.spec.separation().filter(|_| status == Status::NoOptimum && two_sides);
            let proof = proof.map(|spec| command(&Spec::Separate(spec)));
            Exit::without_model(&trained, &no_model.unwrap_or_default(), proof.as_deref())
        }
        Status::Interrupted => Exit::Interrupted,
        Status::Converged => Exit::Fine,
        _ if args.require_convergence => Exit::No,
        _ => Exit::Fine,
    })
}

/// The bytes of a specification, at most.
const MAX_SPEC: u64 = 1 << 24;

/// The specification file, or an empty one, with the arguments laid over it.
pub(super) fn spec(args: &TrainArgs) -> anyhow::Result<TrainSpec> {
    let mut spec: TrainSpec = match &args.spec {
        Some(path) => {
            let name = path.display().to_string();
            let text = linsep::store::read_text(path, MAX_SPEC)
                .with_context(|| format!("{name}: cannot read the file"))?;
            match Spec::parse(&text, &name)? {
                Spec::Train(spec) => *spec,
                _ => {
                    return Err(Usage(format!("{name}: this specification is not for train")).into());
                }
            }
        }
        None => TrainSpec::default(),
    };
    spec = args.flags.over(&spec)?;
    if let Some(path) = &args.data {
        spec.data.source = Source::from_argument(path);
    }
    spec.output = args.output.clone().or(spec.output);
    Ok(spec)
}

/// Refuses to write over the specification, and tells the console which files are written.
fn announce_outputs(args: &TrainArgs, spec: &TrainSpec) -> anyhow::Result<()> {
    let written = [&spec.output, &spec.checkpoint, &spec.trace, &spec.teaching_set];
    let written: Vec<&Path> = written.into_iter().flatten().map(PathBuf::as_path).collect();
    let read: Vec<&Path> = args.spec.iter().map(PathBuf::as_path).collect();
    refuse_overwriting(&written, &read).map_err(linsep::Error::from)?;
    output::will_write(&written);
    output::awaits(spec.output.as_deref());
    Ok(())
}

//! `linsep convert`

use super::{data_format, data_source, read_options, refuse_overwriting, tell_notes};
use crate::args::ConvertArgs;
use crate::console::{Console, Watch};
use crate::exit::{Exit, Usage};
use linsep::numbers;
use linsep::write::{convert, format_of_name};
use std::path::PathBuf;

pub(crate) fn run(args: &ConvertArgs, console: Console) -> anyhow::Result<Exit> {
    if args.output.as_os_str() == "-" {
        let reason = "convert writes a file: name one, or a device such as /dev/stdout with --to FORMAT";
        return Err(Usage(reason.into()).into());
    }
    let inputs: Vec<_> = [Some(&args.input), args.read.labels.as_ref()].into_iter().flatten().collect();
    refuse_overwriting(&[&args.output], &inputs.into_iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    let Some(format) = args.to.map(data_format).or(format_of_name(&args.output).0) else {
        let reason = format!(
            "{}: the name does not tell the format; name it with --to libsvm, csv, tsv, npz or linsep",
            args.output.display()
        );
        return Err(Usage(reason).into());
    };
    let mut options = read_options(&args.read);
    options.online = args.online;
    let mut watch = Watch::new(console);
    let converted = convert(&data_source(&args.input), &options, &args.output, format, &mut watch)?;
    watch.end()?;
    tell_notes(console, &converted.notes);
    for loss in &converted.lost {
        console.note(&format!("note: {loss}"));
    }
    console.note(&format!(
        "{}, {}, to {}",
        numbers::counted(converted.rows, "row", "rows"),
        numbers::counted(converted.features, "feature", "features"),
        args.output.display()
    ));
    Ok(Exit::Fine)
}

//! `linsep convert`

use crate::args::ConvertArgs;
use crate::console::{self, Console, ProgressDisplay};
use crate::exit::{Exit, Usage};
use linsep::job::{emit_notes, refuse_overwriting};
use linsep::numbers;
use linsep::observe::{Note, Observer};
use linsep::read::Missing;
use linsep::write::{convert, format_of_name};
use std::path::PathBuf;

pub(crate) fn run(args: &ConvertArgs, console: Console) -> anyhow::Result<Exit> {
    if args.output.as_os_str() == "-" {
        let reason = "convert writes a file: name one, or a device such as /dev/stdout with --to FORMAT";
        return Err(Usage(reason.into()).into());
    }
    let mut data = args.flags.rows(&args.input)?.data;
    let labels = data.read.array.labels_file.as_ref();
    let inputs: Vec<_> = [Some(&args.input), labels].into_iter().flatten().map(PathBuf::as_path).collect();
    refuse_overwriting(&[&args.output], &inputs).map_err(linsep::Error::from)?;
    let Some(format) = args.to.or(format_of_name(&args.output).0) else {
        let reason = format!(
            "{}: the file name does not determine the format; choose one with --to libsvm, csv, tsv, npz or \
             linsep",
            args.output.display()
        );
        return Err(Usage(reason).into());
    };
    if data.read.csv.missing == Missing::Auto {
        let reason = "--missing auto needs a model: for convert, choose mean, zero or drop-row";
        return Err(Usage(reason.into()).into());
    }
    data.read.online = args.online;
    // Files beside the output, which are removed.
    console::has_results();
    let mut display = ProgressDisplay::new(console);
    let converted = convert(&data.source, &data.read, &args.output, format, &mut display)?;
    emit_notes(&converted.notes, &mut display);
    for loss in &converted.lost {
        // A file that is read back as other rows must be told of, also quietly.
        let note = if loss.changes_rows { Note::Warning } else { Note::Remark };
        display.note(note(&loss.text));
    }
    console.note(&format!(
        "{}, {}, to {}",
        numbers::counted(converted.rows, "row", "rows"),
        numbers::counted(converted.features, "feature", "features"),
        args.output.display()
    ));
    Ok(Exit::Fine)
}

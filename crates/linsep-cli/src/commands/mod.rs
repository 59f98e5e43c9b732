//! One file per command.

mod demo;
mod evaluate;
mod generate;
mod inspect;
mod predict;
mod train;

use crate::args::{Arguments, Command, FormatArg, HeaderArg, MissingArg, ReadArgs};
use crate::console::Console;
use crate::exit::{Exit, Usage};
use anyhow::Context;
use clap::CommandFactory;
use linsep::Model;
use linsep::read::{Format, Missing, ReadNotes, ReadOptions, Source};
use linsep::report::counted;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Runs the command that was asked for.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Exit> {
    let console = Console { quiet: arguments.quiet };
    match arguments.command {
        Command::Train(args) => train::run(&args, console),
        Command::Predict(args) => predict::run(&args, console),
        Command::Evaluate(args) => evaluate::run(&args, console),
        Command::Inspect(args) => inspect::run(&args),
        Command::Generate(args) => generate::run(&args, console),
        Command::Demo(args) => demo::run(&args, console),
        Command::Completions(args) => {
            let mut script = Vec::new();
            clap_complete::generate(args.shell, &mut Arguments::command(), "linsep", &mut script);
            print_result(|out| out.write_all(&script))
        }
    }
}

/// Prints the result on standard output.
fn print_result(print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<Exit> {
    let mut out = BufWriter::new(io::stdout().lock());
    print(&mut out).and_then(|()| out.flush()).context("cannot write to standard output")?;
    Ok(Exit::Fine)
}

/// Prints one JSON record on standard output.
fn print_json(record: &impl serde::Serialize) -> anyhow::Result<Exit> {
    let text = serde_json::to_string_pretty(record).context("cannot make the JSON record")?;
    print_result(|out| writeln!(out, "{text}"))
}

/// Where data comes from: a path, or standard input for `-`.
fn data_source(path: &Path) -> Source {
    if path.as_os_str() == "-" {
        Source::Custom("standard input", crate::stdin::open)
    } else {
        Source::File(path.to_path_buf())
    }
}

/// Refuses outputs that would destroy an input or each other, and `-`, which is no file to write.
fn refuse_overwriting(outputs: &[&Path], inputs: &[&Path]) -> Result<(), Usage> {
    let place = |path: &Path| std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).ok();
    for (i, output) in outputs.iter().enumerate() {
        if output.as_os_str() == "-" {
            let reason =
                "an output called - would be a file of that name; results go to standard output without it";
            return Err(Usage(reason.to_string()));
        }
        let special = std::fs::metadata(output).is_ok_and(|metadata| !metadata.is_file());
        let mut others = inputs.iter().chain(&outputs[..i]);
        if !special && others.any(|other| other.as_os_str() != "-" && place(other) == place(output)) {
            let name = output.display();
            return Err(Usage(format!("{name} is named twice, and would be overwritten: name another file")));
        }
    }
    Ok(())
}

/// Opens a model, with its path in the error.
fn load_model(path: &Path) -> anyhow::Result<Model> {
    Model::load(path).with_context(|| format!("{}", path.display()))
}

/// What the arguments say about reading.
fn read_options(args: &ReadArgs) -> ReadOptions {
    ReadOptions {
        format: args.format.map(|format| match format {
            FormatArg::Libsvm => Format::Libsvm,
            FormatArg::Csv => Format::Csv,
            FormatArg::Tsv => Format::Tsv,
            FormatArg::Npy => Format::Npy,
            FormatArg::Npz => Format::Npz,
        }),
        label: args.label.clone(),
        ignore: args.ignore.clone(),
        header: match args.header {
            Some(HeaderArg::Yes) => Some(true),
            Some(HeaderArg::No) => Some(false),
            Some(HeaderArg::Auto) | None => None,
        },
        delimiter: args.delimiter,
        missing: match args.missing {
            None => Missing::Refuse,
            Some(MissingArg::Mean) => Missing::Mean,
            Some(MissingArg::Zero) => Missing::Zero,
            Some(MissingArg::DropRow) => Missing::DropRow,
        },
        index_base: args.index_base,
        skip_bad: args.skip_bad,
        max_features: args.max_features,
        labels_file: args.labels.clone(),
        ..ReadOptions::default()
    }
}

/// Tells what was noticed while reading. Skipped rows are told even when quiet: they are not in the result.
fn tell_notes(console: Console, notes: &ReadNotes) {
    for remark in &notes.remarks {
        console.note(&format!("note: {remark}"));
    }
    if notes.dropped > 0 {
        let rows = counted(
            notes.dropped,
            "row with a missing cell or label was",
            "rows with missing cells or labels were",
        );
        console.note(&format!("note: {rows} left out."));
    }
    if notes.skipped > 0 {
        let rows = counted(notes.skipped, "malformed row was", "malformed rows were");
        console.warn(&format!("{rows} skipped:"));
        for row in &notes.first_skipped {
            console.warn(&format!("  line {}: {}", row.line, row.reason));
        }
        if notes.skipped > notes.first_skipped.len() as u64 {
            console.warn(&format!("  … and {} more", notes.skipped - notes.first_skipped.len() as u64));
        }
    }
}

/// Lines of a report: a short name, then what is to be said, wrapped to the terminal's usual width.
fn report_lines(lines: &[(&str, String)]) -> String {
    const WIDTH: usize = 100;
    const INDENT: usize = 10;
    let mut text = String::new();
    for (name, content) in lines {
        let mut line = format!("{name:<INDENT$}");
        let mut length = INDENT;
        for word in content.split(' ') {
            let word_length = word.chars().count();
            if length > INDENT && length + 1 + word_length > WIDTH {
                text.push_str(line.trim_end());
                text.push('\n');
                line = " ".repeat(INDENT);
                length = INDENT;
            }
            if length > INDENT {
                line.push(' ');
                length += 1;
            }
            line.push_str(word);
            length += word_length;
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

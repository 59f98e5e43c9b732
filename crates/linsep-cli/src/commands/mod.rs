//! One file per command.

mod again;
mod compare;
mod convert;
mod demo;
mod evaluate;
mod generate;
mod inspect;
mod learner;
mod predict;
mod separate;
mod theory;
mod train;
mod verify;

use crate::args::{
    Arguments, BiasArg, BiasArgs, CacheArgs, ClassArgs, Command, FormatArg, HeaderArg, MissingArg, ReadArgs,
    ScaleArg, TaskArgs,
};
use crate::console::{Console, Watch, flags};
use crate::exit::{Exit, Usage};
use anyhow::Context;
use clap::CommandFactory;
use linsep::classes::class_name;
use linsep::numbers::{Rounding, counted, grouped, percent, rounded};
use linsep::read::cache::{self, CacheUse};
use linsep::read::{Format, Missing, ReadNotes, ReadOptions, Source, read, read_weights};
use linsep::scale::Scaling;
use linsep::train::{Bias, Boundary};
use linsep::{Dataset, Model, Status};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Runs the command that was asked for.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Exit> {
    let console = Console { quiet: arguments.quiet };
    match arguments.command {
        Command::Train(args) => train::run(&args, console),
        Command::Predict(args) => predict::run(&args, console),
        Command::Compare(args) => compare::run(&args, console),
        Command::Theory(args) => theory::run(&args, console),
        Command::Separate(args) => separate::run(&args, console),
        Command::Verify(args) => verify::run(&args, console),
        Command::Evaluate(args) => evaluate::run(&args, console),
        Command::Inspect(args) => inspect::run(&args),
        Command::Convert(args) => convert::run(&args, console),
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
    print_result(|out| writeln!(out, "{}", flags(&text)))
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

/// The format that an argument names.
fn data_format(format: FormatArg) -> Format {
    match format {
        FormatArg::Libsvm => Format::Libsvm,
        FormatArg::Csv => Format::Csv,
        FormatArg::Tsv => Format::Tsv,
        FormatArg::Npy => Format::Npy,
        FormatArg::Npz => Format::Npz,
        FormatArg::Linsep => Format::Cache,
    }
}

/// Where rows are read from and how: the file itself, or with `--cache` the one beside it.
fn source_and_options(
    path: &Path,
    read: &ReadArgs,
    cache: CacheArgs,
    console: Console,
) -> anyhow::Result<(Source, ReadOptions)> {
    let options = read_options(read);
    if !cache.cache {
        return Ok((data_source(path), options));
    }
    if path.as_os_str() == "-" {
        return Err(Usage(
            "--cache keeps a file beside the data, and standard input has no place: name a file".into(),
        )
        .into());
    }
    let kept = cache_of(path, &options, console)?;
    if kept == path {
        return Ok((data_source(path), options));
    }
    // How the text was read is settled in the cache.
    let options = ReadOptions { max_features: options.max_features, ..ReadOptions::default() };
    Ok((Source::File(kept), options))
}

/// The cache of a file, made or renewed if need be.
fn cache_of(path: &Path, options: &ReadOptions, console: Console) -> anyhow::Result<PathBuf> {
    let mut watch = Watch::new(console);
    let (kept, done) = cache::beside(path, options, &mut watch)?;
    watch.end()?;
    let name = kept.display();
    match done {
        CacheUse::Itself => {}
        CacheUse::Used => console.note(&format!("note: The rows are read from {name}.")),
        CacheUse::Made => console.note(&format!("note: The rows are kept in {name}, and read from there from now on.")),
        CacheUse::Renewed => console.note(&format!(
            "note: {name} was of another state of the file, or read with other options, and has been made anew."
        )),
    }
    Ok(kept)
}

/// What the arguments say about reading.
fn read_options(args: &ReadArgs) -> ReadOptions {
    ReadOptions {
        format: args.format.map(data_format),
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

/// Reads the rows that the arguments name, with their weights, of the classes asked for. Gives the name of their source
/// too.
fn load(path: &Path, args: &TaskArgs, console: Console) -> anyhow::Result<(String, Dataset)> {
    let (source, options) = source_and_options(path, &args.read, args.cache, console)?;
    let mut watch = Watch::new(console);
    let loaded = read(&source, &options, &mut watch)?;
    watch.end()?;
    tell_notes(console, &loaded.notes);
    Ok((data_source(path).name(), chosen_classes(weighted(loaded.dataset, &args.classes)?, &args.classes)?))
}

/// The rows with the weights that the arguments name.
fn weighted(data: Dataset, args: &ClassArgs) -> anyhow::Result<Dataset> {
    match &args.weights {
        Some(path) => data.with_weights(read_weights(path)?).with_context(|| format!("{}", path.display())),
        None => Ok(data),
    }
}

/// The rows of the classes asked for.
fn chosen_classes(data: Dataset, args: &ClassArgs) -> anyhow::Result<Dataset> {
    if args.keep.is_empty() {
        return Ok(data);
    }
    Ok(data.only_classes(&named_classes(&data, &args.keep)?)?)
}

/// The classes that `--classes` names.
fn named_classes(data: &Dataset, labels: &[String]) -> Result<Vec<String>, Usage> {
    let mut names = Vec::new();
    for label in labels {
        let name = class_name(label).filter(|name| data.classes().contains(name));
        names.push(name.ok_or_else(|| {
            Usage(format!(
                "--classes names \"{label}\", which no row has; the classes are {}",
                data.classes().join(", ")
            ))
        })?);
    }
    if names.iter().all(|name| *name == names[0]) {
        return Err(Usage("--classes needs at least two classes, to have something to tell apart".into()));
    }
    Ok(names)
}

/// The bias that was asked for, else `usual`.
fn bias(args: &BiasArgs, usual: Bias) -> Result<Bias, Usage> {
    match (args.bias, args.bias_scale) {
        (Some(BiasArg::None), Some(_)) => {
            Err(Usage("--bias-scale needs --bias append: without a bias there is nothing to scale".into()))
        }
        (Some(BiasArg::None), None) => Ok(Bias::None),
        (_, Some(scale)) => Ok(Bias::Append(scale)),
        (Some(BiasArg::Append), None) if usual == Bias::None => Ok(Bias::Append(1.0)),
        _ => Ok(usual),
    }
}

/// The scaling that was asked for.
fn scaling(scale: ScaleArg) -> Scaling {
    match scale {
        ScaleArg::None => Scaling::None,
        ScaleArg::MaxAbs => Scaling::MaxAbs,
        ScaleArg::Standard => Scaling::Standard,
        ScaleArg::UnitRows => Scaling::UnitRows,
    }
}

/// Whether no row is changed by something learned from all of them, so that those a learner did not use judge it fairly.
fn as_drawn(scaling: Scaling, reading: &ReadArgs) -> bool {
    matches!(scaling, Scaling::None | Scaling::UnitRows) && !matches!(reading.missing, Some(MissingArg::Mean))
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
    const INDENT: usize = 10;
    let mut text = String::new();
    for (name, content) in lines {
        wrap(&mut text, format!("{name:<INDENT$}"), INDENT, content, WIDTH);
    }
    text
}

/// A paragraph, wrapped to the terminal's usual width.
fn wrapped(content: &str, indent: usize) -> String {
    wrapped_to(content, indent, WIDTH)
}

/// A paragraph, wrapped to this width.
fn wrapped_to(content: &str, indent: usize, width: usize) -> String {
    let mut text = String::new();
    wrap(&mut text, " ".repeat(indent), indent, content, width);
    text
}

const WIDTH: usize = 100;

/// Appends `content` after `start`, which is `indent` wide; further lines are indented as far.
fn wrap(text: &mut String, start: String, indent: usize, content: &str, width: usize) {
    let (mut line, mut length) = (start, indent);
    for word in flags(content).split(' ') {
        let word_length = word.chars().count();
        if length > indent && length + 1 + word_length > width {
            text.push_str(line.trim_end());
            text.push('\n');
            line = " ".repeat(indent);
            length = indent;
        }
        if length > indent {
            line.push(' ');
            length += 1;
        }
        line.push_str(word);
        length += word_length;
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

/// What is known about each class against the rest, as a table.
fn boundary_table(boundaries: &[Boundary]) -> String {
    let width =
        boundaries.iter().map(|boundary| boundary.class.chars().count()).max().unwrap_or(0).clamp(5, 24);
    let mut text = format!(
        "  {:<width$}  {:>8}  {:>10}  {:>10}  {:>10}  result\n",
        "class", "error", "updates", "γ* ≥", "γ* ≤"
    );
    for Boundary { class, evidence } in boundaries {
        let lower = evidence.margin.lower.map_or("none".to_string(), |lower| rounded(lower, Rounding::Down));
        let upper = rounded(evidence.margin.upper, Rounding::Up);
        let error = evidence.training_error.map_or("unknown".to_string(), percent);
        let result = match evidence.status {
            Status::Converged => "converged",
            Status::Interrupted => "interrupted",
            _ => "at its limit",
        };
        text.push_str(&format!(
            "  {:<width$}  {error:>8}  {:>10}  {lower:>10}  {upper:>10}  {result}\n",
            shortened(class, width),
            grouped(evidence.updates)
        ));
    }
    text
}

/// A name of at most this many characters.
fn shortened(name: &str, width: usize) -> String {
    if name.chars().count() <= width {
        return name.to_string();
    }
    name.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

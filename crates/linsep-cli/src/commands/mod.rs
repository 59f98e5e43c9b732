//! One file per command.

mod compare;
mod convert;
mod demo;
mod demo_mail;
mod demo_pictures;
mod evaluate;
#[cfg(feature = "explore")]
mod explore;
mod export;
mod generate;
mod inspect;
mod plot;
mod predict;
mod report;
mod separate;
mod shell_command;
mod theory;
mod train;
mod tune;
mod verify;

use crate::args::{Arguments, Command};
use crate::console::{Console, spelled_flags};
use crate::exit::Exit;
use crate::layout::rendered;
use crate::output;
use anyhow::Context;
use clap::CommandFactory;
use linsep::Model;
use linsep::classes::is_hidden;
use linsep::report::Block;
use linsep::spelling::holds_sentence;
pub(crate) use shell_command::command;
use std::io::{self, Write};
use std::path::Path;

/// Runs the command that was asked for.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Exit> {
    let console = Console { quiet: arguments.quiet, verbose: arguments.verbose };
    match arguments.command {
        Command::Train(args) => train::run(&args, console),
        Command::Tune(args) => tune::run(&args, console),
        Command::Predict(args) => predict::run(&args, console),
        Command::Compare(args) => compare::run(&args, console),
        Command::Theory(args) => theory::run(&args, console),
        Command::Separate(args) => separate::run(&args, console),
        Command::Verify(args) => verify::run(&args, console),
        Command::Evaluate(args) => evaluate::run(&args, console),
        Command::Export(args) => export::run(&args, console),
        Command::Inspect(args) => inspect::run(&args, console),
        Command::Plot(args) => plot::run(&args, console),
        Command::Report(args) => report::run(&args, console),
        Command::Convert(args) => convert::run(&args, console),
        Command::Generate(args) => generate::run(&args, console),
        Command::Demo(args) => demo::run(&args, console),
        #[cfg(feature = "explore")]
        Command::Explore(args) => explore::run(&args, console),
        Command::Completions(args) => {
            let mut script = Vec::new();
            clap_complete::generate(args.shell, &mut Arguments::command(), "linsep", &mut script);
            print_product(|out| out.write_all(&script))
        }
    }
}

/// Prints the result on standard output. If its reader has closed it, the command goes on to its own exit code.
fn print_result(print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<Exit> {
    output::print(print)?;
    Ok(Exit::Fine)
}

/// Prints rows or a picture on standard output, which must not have been closed from the start.
fn print_product(print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<Exit> {
    output::print_product(print)?;
    Ok(Exit::Fine)
}

/// Prints one JSON record on standard output.
fn print_json(record: &impl serde::Serialize) -> anyhow::Result<Exit> {
    let text = serde_json::to_string_pretty(record).context("cannot make the JSON record")?;
    print_result(|out| text.lines().try_for_each(|line| writeln!(out, "{}", escaped(&spelled_line(line)))))
}

/// A line of a JSON record, where settings are spelled as flags if it holds a sentence. All else is names, which stay as they are.
fn spelled_line(line: &str) -> String {
    let field = line.trim_start().strip_prefix('"').and_then(|rest| Some(rest.split_once("\": ")?.0));
    if field.is_some_and(holds_sentence) { spelled_flags(line) } else { line.to_owned() }
}

/// A JSON text in which what a terminal would obey is escaped: such characters stand only within strings.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if is_hidden(c) && c != '\n' {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| text.push_str(&format!("\\u{unit:04x}")));
        } else {
            text.push(c);
        }
    }
    text
}

/// Opens a model, with its path in the error.
fn load_model(path: &Path) -> anyhow::Result<Model> {
    Model::load(path).with_context(|| format!("{}", path.display()))
}

/// Prints a report, wrapped to the terminal.
fn print_report(blocks: &[Block], console: Console) -> anyhow::Result<Exit> {
    print_report_within(blocks, usize::MAX, console)
}

/// Prints a report with a table of this width.
fn print_report_within(blocks: &[Block], most: usize, console: Console) -> anyhow::Result<Exit> {
    print_result(|out| out.write_all(rendered(blocks, most, console.verbose).as_bytes()))
}

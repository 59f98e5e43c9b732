//! The `linsep` program: arguments in, library called, exit code out.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod console;
mod exit;
mod layout;
mod output;

use clap::Parser;
use exit::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match args::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return Exit::of_arguments(&error).into(),
    };
    let result = console::listen_for_interrupts()
        .and_then(|()| console::set_threads(arguments.threads))
        .and_then(|()| commands::run(arguments));
    match result {
        // Whatever came of it, the user asked for an end before its time.
        Ok(Exit::Fine | Exit::No | Exit::Undecided) if console::interrupted() => Exit::Interrupted.into(),
        Ok(exit) => exit.into(),
        // That an output is lost must be heard: the user counts on what Ctrl-C saves.
        Err(error) if console::interrupted() && !exit::is_lost_output(&error) => {
            Exit::of_error(&error.context(linsep::Error::Interrupted)).into()
        }
        Err(error) => Exit::of_error(&error).into(),
    }
}

//! The `linsep` program as a function: arguments in, library called, exit code out. The program and the Python package, which
//! installs the same program, call it.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod console;
mod exit;
mod layout;
mod output;

use clap::Parser;
use exit::Exit;
use linsep::classes::printable;
use std::ffi::OsString;

/// The exit code of a program that ran out of memory, as of one whose file is bad.
pub const OUT_OF_MEMORY: u8 = Exit::BadFile as u8;

/// Runs the program with these arguments, of which the first is its name, and gives its exit code. To be called once in a
/// process: it listens for Ctrl-C and sets the number of threads.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    output::replace_closed_streams();
    linsep::read::silence_guarded_panics();
    exit_of(arguments) as u8
}

fn exit_of(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let words: Vec<OsString> = arguments.into_iter().collect();
    let arguments = match args::Arguments::try_parse_from(&words) {
        Ok(arguments) => arguments,
        Err(error) => {
            // The message repeats the arguments: those that would command the terminal are shown spelled out.
            let shown = words.iter().map(|word| printable(&word.to_string_lossy()).into_owned());
            return Exit::of_arguments(&args::Arguments::try_parse_from(shown).err().unwrap_or(error));
        }
    };
    // Without the guard a cache that is cut short still ends the program, by a signal.
    let _ = linsep::read::cache::guard_mapped_files(Exit::BadFile as u8);
    exit::end_with_an_error_where_rows_changed();
    let result = console::start_threads(arguments.threads).and_then(|()| commands::run(arguments));
    if let Some(exit) = exit::of_changed_rows() {
        return exit;
    }
    match result {
        // Whatever came of it, the user asked for an end before its time.
        Ok(Exit::Fine | Exit::No | Exit::Undecided) if console::interrupted() => Exit::Interrupted,
        Ok(exit) => exit,
        // That an output is lost must be heard: the user counts on what Ctrl-C saves.
        Err(error) if console::interrupted() && !exit::is_lost_output(&error) => {
            Exit::of_error(&error.context(linsep::Error::Interrupted))
        }
        Err(error) => Exit::of_error(&error),
    }
}

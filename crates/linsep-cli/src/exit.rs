//! Exit codes and how errors are told.

use crate::console::flags;
use linsep::classes::ClassError;
use linsep::separate::Verdict;
use std::io::{self, Write};
use std::process::ExitCode;

/// How the program ends; `linsep --help` and the README document the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All went well.
    Fine = 0,
    /// The answer is no.
    No = 1,
    /// Wrong usage or settings.
    Usage = 2,
    /// A file is bad, or cannot be read or written.
    BadFile = 3,
    /// A budget ran out before an answer was proved.
    Undecided = 4,
    /// Stopped by Ctrl-C.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

impl Exit {
    /// Tells the error on standard error and chooses the code. A closed pipe is no error: whoever read the
    /// output has had enough.
    pub(crate) fn of_error(error: &anyhow::Error) -> Self {
        let closed_pipe = error
            .chain()
            .filter_map(|cause| cause.downcast_ref::<io::Error>())
            .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe);
        if closed_pipe {
            return Exit::Fine;
        }
        let (code, help) = match error.downcast_ref::<linsep::Error>() {
            Some(error) => judge(error),
            None if error.is::<Usage>() => (Exit::Usage, None),
            None => (Exit::BadFile, error.downcast_ref::<BadFile>().map(|bad| bad.help)),
        };
        // If standard error is closed too, there is nobody left to tell.
        let mut out = io::stderr().lock();
        let _ = if code == Exit::Interrupted {
            writeln!(out, "interrupted")
        } else {
            writeln!(out, "error: {}", told(error))
        };
        if let Some(help) = help {
            let _ = writeln!(out, "  help: {}", flags(help));
        }
        code
    }
}

/// The chain of causes in one line; a cause that the message before it already tells is not told again.
fn told(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(in_flags) {
        if !text.contains(&cause) {
            text = if text.is_empty() { cause } else { format!("{text}: {cause}") };
        }
    }
    text
}

/// What a cause says, with settings spelled as flags.
fn in_flags(cause: &(dyn std::error::Error + 'static)) -> String {
    match cause.downcast_ref::<linsep::Error>() {
        Some(linsep::Error::Settings(error)) => flags(&error.problem),
        _ => flags(&cause.to_string()),
    }
}

/// The code of a library error, and what can be done about it.
fn judge(error: &linsep::Error) -> (Exit, Option<&'static str>) {
    use linsep::Error;
    match error {
        Error::Interrupted => (Exit::Interrupted, None),
        Error::Settings(_) | Error::Recipe(_) => (Exit::Usage, None),
        Error::Read(error) => (Exit::BadFile, Some(error.kind.help())),
        Error::Classes(ClassError::Unknown { .. }) => (Exit::Usage, None),
        Error::Classes(ClassError::Many { .. }) => (
            Exit::BadFile,
            Some("set one class against the rest with --positive CLASS, or keep two with --classes A,B"),
        ),
        Error::Classes(ClassError::One { .. }) => (
            Exit::BadFile,
            Some("give rows of both classes; in a CSV file, check that --label names the right column"),
        ),
        Error::NoMargin { verdict, .. } => (
            if *verdict == Verdict::Undecided { Exit::Undecided } else { Exit::No },
            Some(
                "linsep separate tells which rows stand in the way; --learner svm allows rows on the wrong side",
            ),
        ),
        Error::Lengths { .. } => {
            (Exit::BadFile, Some("bring the features to a common scale with --scale max-abs or standard"))
        }
        _ => (Exit::BadFile, None),
    }
}

/// Wrong usage that the argument parser cannot see.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// A file that is not what it should be, beyond what the library says of files.
#[derive(Debug)]
pub(crate) struct BadFile {
    /// Where, and what is wrong.
    pub(crate) reason: String,
    /// What can be done about it.
    pub(crate) help: &'static str,
}

impl std::fmt::Display for BadFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for BadFile {}

//! Exit codes, and how errors are printed.

use crate::console::flags;
use crate::output;
use linsep::classes::{ClassError, printable};
use linsep::job::Trained;
use linsep::report::no_model_help;
use linsep::{SettingsError, Status};
use std::io::{self, Write};

/// How the program ends; `linsep --help` and `docs/cli.md` document the numbers.
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

impl Exit {
    /// Prints the error on standard error and chooses the code.
    pub(crate) fn of_error(error: &anyhow::Error) -> Self {
        let (code, help) = match error.downcast_ref::<linsep::Error>() {
            Some(error) => (code_of(error), error.help()),
            None if error.is::<Usage>() => (Exit::Usage, None),
            None => (Exit::BadFile, error.downcast_ref::<BadFile>().map(|bad| bad.help)),
        };
        if let Some(output) = output::awaited().filter(|_| code == Exit::Interrupted) {
            print(format!("{output} is not written: there is no result yet"), None);
        }
        print(
            if code == Exit::Interrupted { "interrupted".into() } else { format!("error: {}", told(error)) },
            help,
        );
        code
    }

    /// Prints which outputs were lost, if any; the code is then that of an error, whatever the answer was.
    pub(crate) fn of_losses(lost: Vec<linsep::Error>) -> Option<Self> {
        let mut exit = None;
        for error in lost {
            exit = Some(Self::of_error(&error.into()));
        }
        exit
    }

    /// Prints the help or version that was asked for, or what is wrong with the arguments, and chooses the code.
    pub(crate) fn of_arguments(error: &clap::Error) -> Self {
        if error.use_stderr() {
            // If standard error is closed too, there is no place left to print to.
            let _ = error.print();
            return Exit::Usage;
        }
        match error.print().and_then(|()| io::stdout().flush()) {
            Err(failure) if failure.kind() != io::ErrorKind::BrokenPipe => {
                Self::of_error(&output::failed(failure).into())
            }
            _ => Exit::Fine,
        }
    }

    /// Prints why a run ended without a model and the command that proves it, and chooses the code.
    pub(crate) fn without_model(trained: &Trained, reason: &str, proof: Option<&str>) -> Self {
        let help = no_model_help(trained);
        let proof = proof.map(|command| format!("{help}\n  {command}"));
        print(format!("error: {reason}"), Some(proof.as_deref().unwrap_or(help)));
        if trained.status == Status::Undecided { Exit::Undecided } else { Exit::No }
    }
}

/// Whether the error says that an output was lost: a file, or standard output, that could not be written.
pub(crate) fn is_lost_output(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<linsep::Error>().map(linsep::Error::kind);
    matches!(error, Some(linsep::Error::Write { .. }))
}

/// What the rows of a mapped file led to is not to be trusted if another program has written to it meanwhile.
pub(crate) fn of_changed_rows() -> Option<Exit> {
    let name = linsep::read::cache::changed_mapped_file()?;
    print(
        format!(
            "error: {name}: the file was changed while it was in use: what was made of it is not to be trusted"
        ),
        Some("wait until nothing writes to the file any more, and start again"),
    );
    Some(Exit::BadFile)
}

/// Rows that change after they were checked can cause any other error: then the change is reported instead.
pub(crate) fn end_with_an_error_where_rows_changed() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if let Some(exit) = of_changed_rows() {
            std::process::exit(exit as i32);
        }
        usual(panic);
    }));
}

/// Prints a message on standard error, and what can be done about it.
fn print(message: String, help: Option<&str>) {
    // If standard error is closed too, there is no place left to print to.
    let mut out = io::stderr().lock();
    let _ = writeln!(out, "{}", printable(&message));
    if let Some(help) = help {
        let _ = writeln!(out, "  help: {}", flags(help));
    }
}

/// The chain of causes in one line; a cause that the message before it already contains is left out.
fn told(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(in_flags) {
        if !text.contains(&cause) {
            text = if text.is_empty() { cause } else { format!("{text}: {cause}") };
        }
    }
    text
}

/// The text of a cause, with settings spelled as flags.
fn in_flags(cause: &(dyn std::error::Error + 'static)) -> String {
    match cause.downcast_ref::<linsep::Error>() {
        Some(linsep::Error::Settings(error)) => flags(&error.problem),
        Some(linsep::Error::Located { place, error }) => format!("{place}: {}", in_flags(error.as_ref())),
        _ => flags(&cause.to_string()),
    }
}

/// The code of a library error.
fn code_of(error: &linsep::Error) -> Exit {
    use linsep::Error;
    match error.kind() {
        Error::Interrupted => Exit::Interrupted,
        Error::Settings(_) | Error::Generate(_) | Error::Classes(ClassError::Unknown { .. }) => Exit::Usage,
        _ => Exit::BadFile,
    }
}

/// Wrong usage that the argument parser cannot see.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl From<SettingsError> for Usage {
    fn from(error: SettingsError) -> Self {
        Usage(flags(&error.problem))
    }
}

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
    /// Advice for the user.
    pub(crate) help: &'static str,
}

impl std::fmt::Display for BadFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for BadFile {}

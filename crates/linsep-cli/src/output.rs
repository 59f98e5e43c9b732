//! Standard output. A reader that closes it has had enough: that is no error and changes no exit code. Nor is a report that
//! nobody wanted, because standard output was closed from the start; rows and pictures that should go there are lost.

use linsep::classes::printable_lines;
use linsep::store::{closed_stream_error, is_closed_stream};
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Its descriptor.
const STANDARD_OUTPUT: u8 = 1;

/// Standard output, which remembers whether its reader has closed it.
pub(crate) struct StandardOutput {
    out: BufWriter<StdoutLock<'static>>,
    closed: bool,
    /// Whether it is a terminal, which would obey what stands in names.
    is_terminal: bool,
}

impl StandardOutput {
    pub(crate) fn open() -> Self {
        let out = io::stdout().lock();
        Self { is_terminal: out.is_terminal(), out: BufWriter::new(out), closed: false }
    }

    /// Whether a write failed because the reader is gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    fn heard<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result {
            self.closed |= error.kind() == io::ErrorKind::BrokenPipe;
        }
        result
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if is_closed_stream(STANDARD_OUTPUT) {
            return Err(closed_stream_error());
        }
        let written = match self.is_terminal {
            true => Shown(&mut self.out).write(bytes),
            false => self.out.write(bytes),
        };
        self.heard(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.heard(flushed)
    }
}

/// Whether a file that was asked for goes to standard output.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Notes where files will be written: one that goes to standard output must not be followed by a report.
pub(crate) fn will_write(outputs: &[&Path]) {
    let standard = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    if outputs.iter().any(|path| standard.iter().any(|name| Path::new(name) == *path)) {
        TAKEN.store(true, Ordering::Relaxed);
    }
}

/// The file that a command is to end with, as the user names it.
static AWAITED: Mutex<Option<String>> = Mutex::new(None);

/// Notes the file that a command is to end with: where it ends before there is a result, the file is named in the message.
pub(crate) fn awaits(output: Option<&Path>) {
    *AWAITED.lock().unwrap_or_else(PoisonError::into_inner) = output.map(|path| path.display().to_string());
}

/// The file that a command was to end with.
pub(crate) fn awaited() -> Option<String> {
    AWAITED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Prints what a command has found. A closed pipe ends the printing, not the command. Where a file goes to standard output,
/// it is printed on standard error.
pub(crate) fn print(print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), linsep::Error> {
    let print = |out: &mut dyn Write| print(&mut Shown(out));
    if TAKEN.load(Ordering::Relaxed) {
        // As for notes, a closed standard error must not stop the work.
        let _ = print(&mut io::stderr().lock());
        return Ok(());
    }
    if is_closed_stream(STANDARD_OUTPUT) {
        return Ok(());
    }
    print_product(print)
}

/// Prints the rows or the picture that a command is asked for: a standard output that was closed from the start has lost them.
pub(crate) fn print_product(
    print: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), linsep::Error> {
    let mut out = StandardOutput::open();
    match print(&mut out).and_then(|()| out.flush()) {
        Err(_) if out.is_closed() => Ok(()),
        printed => printed.map_err(failed),
    }
}

/// Text on its way to a terminal, without characters that would command it: names in it may hold some.
struct Shown<'a>(&'a mut dyn Write);

impl Write for Shown<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let whole = match std::str::from_utf8(bytes) {
            Err(cut) if cut.valid_up_to() > 0 => &bytes[..cut.valid_up_to()],
            _ => bytes,
        };
        match std::str::from_utf8(whole) {
            Ok(text) => self.0.write_all(printable_lines(text).as_bytes())?,
            Err(_) => self.0.write_all(whole)?,
        }
        Ok(whole.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Puts `/dev/null` in the place of standard streams that are closed, so that no file that is opened takes their numbers, and
/// what is printed. The runtime of a program has done so before; that of Python does not.
#[cfg(unix)]
pub(crate) fn replace_closed_streams() {
    use std::os::fd::{AsFd, AsRawFd, IntoRawFd};
    let is_open = |stream: &dyn AsFd| stream.as_fd().try_clone_to_owned().is_ok();
    let open = [is_open(&io::stdin()), is_open(&io::stdout()), is_open(&io::stderr())];
    (0..)
        .zip(open)
        .filter(|&(_, open)| !open)
        .for_each(|(number, _)| linsep::store::note_closed_stream(number));
    let null = || std::fs::OpenOptions::new().read(true).write(true).open("/dev/null").ok();
    // The lowest number that is free is taken first.
    while let Some(file) = null().filter(|file| file.as_raw_fd() <= 2) {
        let _ = file.into_raw_fd();
    }
}

#[cfg(not(unix))]
pub(crate) fn replace_closed_streams() {}

/// The error of a standard output that cannot be written to.
pub(crate) fn failed(source: io::Error) -> linsep::Error {
    linsep::Error::Write { path: "to standard output".into(), source }
}

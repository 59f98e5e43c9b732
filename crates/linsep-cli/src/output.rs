//! Standard output. A reader that closes it has had enough: that is no error and changes no exit code.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Standard output, which remembers whether its reader has closed it.
pub(crate) struct StandardOutput {
    out: BufWriter<StdoutLock<'static>>,
    closed: bool,
}

impl StandardOutput {
    pub(crate) fn open() -> Self {
        Self { out: BufWriter::new(io::stdout().lock()), closed: false }
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
        let written = self.out.write(bytes);
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

/// Prints what a command has found. A closed pipe ends the printing, not the command. Where a file goes to standard output,
/// it is printed on standard error.
pub(crate) fn print(print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), linsep::Error> {
    if TAKEN.load(Ordering::Relaxed) {
        // As for notes, a closed standard error must not stop the work.
        let _ = print(&mut io::stderr().lock());
        return Ok(());
    }
    let mut out = StandardOutput::open();
    match print(&mut out).and_then(|()| out.flush()) {
        Err(_) if out.is_closed() => Ok(()),
        printed => printed.map_err(failed),
    }
}

/// The error of a standard output that cannot be written to.
pub(crate) fn failed(source: io::Error) -> linsep::Error {
    linsep::Error::Write { path: "to standard output".into(), source }
}

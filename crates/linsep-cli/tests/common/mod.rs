//! What the tests of the program share: a folder of their own, and a way to run the program in it.
#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod published;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_linsep");

/// Every learner by its name.
pub(crate) fn learners() -> Vec<&'static str> {
    linsep::train::learners().iter().map(|learner| learner.name).collect()
}

/// Texts of two classes with words of their own.
pub(crate) const SPAM: [&str; 4] =
    ["win a prize now", "a cheap loan for you", "prize and loan, free prize", "free loan now"];
pub(crate) const HAM: [&str; 4] =
    ["see you at noon", "lunch at noon today", "the meeting is today", "you and me at lunch"];

/// A folder that is gone when the test is over.
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("linsep-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder for the test");
        Self { path }
    }

    /// A folder with one file in it.
    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = Self::new();
        folder.write(name, content);
        folder
    }

    /// A folder with Fisher's irises in a file of this name.
    pub(crate) fn with_iris(name: &str) -> Self {
        let folder = Self::new();
        folder.linsep(&format!("demo iris --export {name} -q")).exits(0);
        folder
    }

    /// A folder of texts in `mails`, with some mails among them.
    pub(crate) fn with_texts() -> Self {
        let folder = Self::new();
        folder.write_texts("mails/spam", &SPAM);
        folder.write_texts("mails/ham", &HAM);
        folder
    }

    /// Writes texts into the folder of a class, every other one as a mail.
    pub(crate) fn write_texts(&self, class: &str, texts: &[&str]) {
        fs::create_dir_all(self.path(class)).expect("the folder of a class");
        for (i, text) in texts.iter().enumerate() {
            let mail = match i % 2 {
                0 => text.to_string(),
                _ => format!("From: a@example.org\nTo: b\nSubject: {text}\n\n{text}\n"),
            };
            self.write(&format!("{class}/{i}"), mail);
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("write a file of the test");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The bytes of a model without its specification, which names the file that it was trained on.
    pub(crate) fn model(&self, name: &str) -> Vec<u8> {
        let mut model = linsep::Model::from_bytes(&self.read(name)).expect("a model");
        model.spec = None;
        model.to_bytes().expect("the bytes of a model")
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("text")
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Everything in the folder, hidden files too, by name.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.path).expect("the folder of the test");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The program, about to be run in this folder; `line` is split at spaces.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(line.split_whitespace()).current_dir(&self.path).stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn linsep(&self, line: &str) -> Ran {
        Ran::new(line, self.command(line).output().expect("run linsep"))
    }

    /// Runs the program to its end with something on standard input.
    pub(crate) fn linsep_with_input(&self, line: &str, input: &[u8]) -> Ran {
        let mut child = self.start(self.command(line).stdin(Stdio::piped()));
        let mut pipe = child.stdin.take().expect("standard input");
        let output = std::thread::scope(|scope| {
            // The program may have stopped reading; what it says is what counts.
            scope.spawn(move || pipe.write_all(input));
            child.wait_with_output().expect("wait for linsep")
        });
        Ran::new(line, output)
    }

    /// Starts the program, sends it Ctrl-C after a while, and waits for its end.
    #[cfg(unix)]
    pub(crate) fn linsep_interrupted(&self, line: &str) -> Ran {
        let child = self.start(&mut self.command(line));
        std::thread::sleep(std::time::Duration::from_millis(700));
        let sent = Command::new("kill").arg("-INT").arg(child.id().to_string()).status();
        assert!(sent.expect("kill").success());
        Ran::new(line, child.wait_with_output().expect("wait for linsep"))
    }

    /// Starts a command whose output is collected.
    pub(crate) fn start(&self, command: &mut Command) -> Child {
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("start linsep")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays behind does no harm.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// What a run of the program left.
#[derive(Debug)]
pub(crate) struct Ran {
    line: String,
    /// The exit code; none after a signal.
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn new(line: &str, output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is text");
        let ran = Self {
            line: line.to_string(),
            code: output.status.code(),
            out: text(output.stdout),
            err: text(output.stderr),
        };
        assert!(!ran.err.contains("panicked"), "{ran:#?}");
        // Whatever is in a name, no message commands the terminal.
        let commands = |c: char| linsep::classes::is_hidden(c) && !matches!(c, '\n' | '\t');
        assert!(!ran.err.contains(commands), "{ran:#?}");
        // Settings, whose names are in small letters, are spelled as flags.
        let is_setting = |part: &str| part.starts_with(|c: char| c.is_ascii_lowercase());
        assert!(
            ![&ran.err, &ran.out].into_iter().flat_map(|text| text.split('⟦').skip(1)).any(is_setting),
            "{ran:#?}"
        );
        ran
    }

    /// The exit code must be this one.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Standard error must hold all of these.
    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.err.contains(part), "{part:?} is missing: {self:#?}");
        }
        self
    }

    /// Standard output or standard error must hold each of these.
    #[track_caller]
    pub(crate) fn tells(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.out.contains(part) || self.err.contains(part), "{part:?} is missing: {self:#?}");
        }
        self
    }

    /// Standard output must be this.
    #[track_caller]
    pub(crate) fn prints(self, text: &str) -> Self {
        assert_eq!(self.out, text, "{self:#?}");
        self
    }

    /// Standard error must be empty.
    #[track_caller]
    pub(crate) fn keeps_silent(self) -> Self {
        assert_eq!(self.err, "", "{self:#?}");
        self
    }

    /// Standard output as one JSON record, with nothing beside it.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

/// The gzip form of some bytes.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect("compress");
    encoder.finish().expect("compress")
}

/// The zstd form of some bytes, with the check sum that the program `zstd` adds.
pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).expect("compress");
    encoder.include_checksum(true).expect("compress");
    encoder.write_all(bytes).expect("compress");
    encoder.finish().expect("compress")
}

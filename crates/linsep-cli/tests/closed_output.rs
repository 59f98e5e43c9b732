//! The promise: whoever closes standard output changes no answer, and an output that was asked for and is lost is an error.
#![cfg(unix)]

use crate::common::{Folder, Ran};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::{Command, Stdio};

/// Rows that overlap, a certificate that is false of them, rows that can be separated, and a model.
fn folder() -> Folder {
    let folder = Folder::with("overlap", "1 1:1\n-1 1:1\n1 1:2\n-1 1:3\n");
    folder.write("fine", "1 1:1\n-1 1:-1\n1 1:2\n-1 1:-3\n");
    folder.linsep("train fine -o model -q").exits(0);
    folder.linsep("separate fine -o proof -q").exits(0);
    folder
}

/// Runs a command whose standard output nobody reads.
fn unread(folder: &Folder, line: &str) -> Ran {
    // The reading end is dropped before the program starts: its first write fails, whatever the size of the pipe.
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = folder.command(line);
    let child = command.stdout(writer).stderr(Stdio::piped()).spawn().expect("start linsep");
    drop(command);
    Ran::new(line, child.wait_with_output().expect("wait"))
}

#[test]
fn a_closed_standard_output_does_not_change_the_answer() {
    let folder = folder();
    for (line, code) in [
        ("separate overlap -q", 1),
        ("separate overlap --json -q", 1),
        ("separate fine -q", 0),
        ("verify proof overlap -q", 1),
        ("verify proof overlap --json -q", 1),
        ("verify proof fine -q", 0),
        ("train overlap --require-convergence -q", 1),
        ("train overlap --require-convergence --json -q", 1),
        ("train overlap -q", 0),
        ("evaluate model fine -q", 0),
        ("predict model fine -q", 0),
        ("compare fine --folds 2 --epochs 2 -q", 0),
        ("theory fine --epochs 2 -q", 0),
        ("inspect model -q", 0),
        ("demo iris -q", 0),
        ("generate square -q", 0),
        ("completions bash", 0),
        ("--help", 0),
        ("--version", 0),
    ] {
        unread(&folder, line).exits(code).keeps_silent();
    }
    unread(&folder, "train overlap --learner max-margin --json -q").exits(1).says(&["the classes overlap"]);
    // What was asked for beside the report is made all the same.
    unread(&folder, "separate overlap -q -o certificate").exits(1).keeps_silent();
    unread(&folder, "train overlap -q -o other").exits(0).keeps_silent();
    assert_eq!(folder.names(), ["certificate", "fine", "model", "other", "overlap", "proof"]);
}

/// Runs a command whose standard stream with this number is closed before it starts.
fn closed(folder: &Folder, number: u8, line: &str) -> Ran {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec \"$0\" {line} {number}>&-"), crate::common::PROGRAM]);
    shell.current_dir(folder.path("")).stdin(Stdio::null());
    Ran::new(line, shell.output().expect("a shell"))
}

/// Rust's runtime opens `/dev/null` in the place of a closed descriptor, which would take every output.
#[test]
fn an_output_on_a_descriptor_that_was_closed_is_lost() {
    let folder = folder();
    let before = folder.names();
    for line in [
        "train fine -q -o /dev/stdout",
        "train overlap -q -o /dev/fd/1 --require-convergence",
        "tune fine -q -o /dev/stdout --time 1",
        "separate overlap -q -o /dev/stdout",
        "predict model fine -q -o /dev/stdout",
        "convert fine /dev/stdout --to csv -q",
        "demo iris --export /dev/stdout -q",
        "generate square -q -o /dev/stdout",
        "export model /dev/stdout -q",
    ] {
        closed(&folder, 1, line).exits(3).says(&["cannot write /dev/", "closed before the program started"]);
    }
    closed(&folder, 2, "train fine -q -o /dev/stderr").exits(3);
    // Rows and pictures that should go to standard output.
    for line in ["predict model fine -q", "generate square -q", "plot boundary fine -q", "completions bash"] {
        closed(&folder, 1, line)
            .exits(3)
            .says(&["cannot write to standard output: it was closed before the program started"]);
    }
    assert_eq!(folder.names(), before);
}

/// Nobody wanted the report: the exit code is the answer.
#[test]
fn a_report_on_a_descriptor_that_was_closed_is_not_missed() {
    let folder = folder();
    for (line, code) in [
        ("separate overlap -q", 1),
        ("separate overlap --json -q", 1),
        ("separate fine -q", 0),
        ("verify proof overlap -q", 1),
        ("train overlap --require-convergence -q", 1),
        ("train fine -q -o other", 0),
        ("evaluate model fine --json -q", 0),
        ("predict model fine -q -o predictions", 0),
        ("--help", 0),
    ] {
        closed(&folder, 1, line).exits(code).keeps_silent();
    }
    assert!(folder.has("other") && folder.has("predictions"));
    // The device itself is a place like any other.
    let null = File::options().read(true).write(true).open("/dev/null").expect("/dev/null");
    let mut command = folder.command("train fine -q -o /dev/stdout");
    let output = command.stdout(null).output().expect("run linsep");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn an_output_that_was_asked_for_and_is_lost_is_an_error() {
    let folder = folder();
    for line in [
        "train fine -q -o /dev/stdout",
        "train overlap -q -o /dev/stdout --require-convergence",
        "separate overlap -q -o /dev/stdout",
        "predict model fine -q -o /dev/stdout",
        "convert fine /dev/stdout --to csv -q",
        "demo iris --export /dev/stdout -q",
        "generate square -q -o /dev/stdout",
    ] {
        unread(&folder, line).exits(3).says(&["cannot write /dev/stdout: Broken pipe"]);
    }
}

#[test]
fn a_pipe_whose_reader_leaves_is_a_lost_output() {
    let folder = folder();
    // Each output is larger than the buffer of a pipe.
    folder.write("wide", "1 1:1 20000:1\n-1 1:-1\n");
    folder.write("long", "1 1:1\n-1 1:-1\n".repeat(40_000));
    let mkfifo = Command::new("mkfifo").arg(folder.path("fifo")).status().expect("mkfifo");
    assert!(mkfifo.success());
    for line in [
        "train wide -q -o fifo",
        "predict model long -q -o fifo",
        "convert long fifo --to csv -q",
        "generate text --rows 2000 -q -o fifo",
    ] {
        let child = folder.start(&mut folder.command(line));
        let path = folder.path("fifo");
        let reader = std::thread::spawn(move || {
            let mut byte = [0];
            File::open(path).expect("open").read_exact(&mut byte).expect("a byte");
        });
        let ran = Ran::new(line, child.wait_with_output().expect("wait"));
        ran.exits(3).says(&["cannot write fifo: Broken pipe"]);
        reader.join().expect("reader");
    }
}

#[test]
fn a_full_standard_output_is_an_error_of_every_command() {
    let folder = folder();
    for line in [
        "separate overlap",
        "separate fine --json",
        "verify proof overlap",
        "train fine",
        "train overlap --learner max-margin --json",
        "evaluate model fine",
        "predict model fine",
        "compare fine --folds 2 --epochs 2",
        "theory fine --epochs 2",
        "inspect model",
        "demo iris",
        "generate square",
        "completions bash",
        "--help",
        "train --help",
        "--version",
    ] {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let mut command = folder.command(line);
        let child = command.stdout(full).stderr(Stdio::piped()).spawn().expect("start linsep");
        let ran = Ran::new(line, child.wait_with_output().expect("wait"));
        ran.exits(3).says(&["error: cannot write to standard output: ", "No space left on device"]);
    }
}

/// A file that is written to standard output has it to itself.
#[test]
fn a_model_or_a_proof_on_standard_output_is_not_followed_by_a_report() {
    let folder = Folder::with("data", "1 1:1\n-1 1:-1\n");
    for (line, look) in [
        ("train data -o /dev/stdout", "inspect file"),
        ("train data -o /dev/stdout --json", "inspect file"),
        ("separate data -o /dev/stdout", "verify file data"),
    ] {
        let output = folder.command(line).output().expect("run linsep");
        assert_eq!(output.status.code(), Some(0), "{line}");
        assert!(!output.stderr.is_empty(), "{line}: the report");
        folder.write("file", &output.stdout);
        folder.linsep(look).exits(0);
    }
    folder.linsep("train data -o model").exits(0);
    folder.linsep("export model whole.onnx").exits(0);
    let whole = std::fs::read(folder.path("whole.onnx")).expect("read the exported model");
    for line in ["export model /dev/stdout", "export model /dev/stdout --json"] {
        let output = folder.command(line).output().expect("run linsep");
        assert_eq!(output.status.code(), Some(0), "{line}");
        assert!(!output.stderr.is_empty(), "{line}: the report");
        assert!(output.stdout == whole, "{line}: the file alone");
    }
}

//! Files as they are written and read: whole or not there, nothing left behind, no input overwritten, and a file that
//! changes while it is read is noticed.
#![cfg(unix)]

use crate::common::{Folder, PROGRAM, Ran};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ROWS: &str = "a,b,kind\n1,2,x\n-2,0.5,y\n3,-1,x\n0,0.25,y\n";

/// Runs a script in the folder, in which $LINSEP is the program.
fn script(folder: &Folder, text: &str) -> Ran {
    let mut command = Command::new("sh");
    command.args(["-c", text]).env("LINSEP", PROGRAM).current_dir(folder.path("."));
    Ran::new(text, command.stdin(Stdio::null()).output().expect("sh"))
}

/// A run that is killed when it is dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn is_temporary(name: impl AsRef<str>) -> bool {
    name.as_ref().ends_with(".part")
}

#[test]
fn what_a_killed_writer_left_is_removed_by_the_next_one() {
    let folder = Folder::with("rows.csv", ROWS);
    let lines = [
        "generate text --rows 100000000 -o made.svm -q",
        "convert rows.svm made.csv -q",
        "convert rows.svm made.linsep -q",
        "predict model rows.svm -o made -q",
    ];
    folder.linsep("generate text --rows 20000 --features 2000 -o rows.svm -q").exits(0);
    folder.linsep("train rows.svm -o model --epochs 1 -q").exits(0);
    let before = folder.names();
    for line in lines {
        let mut writer = Killed(folder.start(&mut folder.command(line)));
        let clock = Instant::now();
        while !folder.names().iter().any(is_temporary) && writer.0.try_wait().expect("wait").is_none() {
            assert!(clock.elapsed() < Duration::from_secs(60), "{line}: nothing is written");
        }
        drop(writer);
        for made in ["made.svm", "made.csv", "made.linsep", "made"] {
            // One that was done before it was killed.
            let _ = fs::remove_file(folder.path(made));
        }
        let left: Vec<String> = folder.names().into_iter().filter(|name| !before.contains(name)).collect();
        assert!(left.len() <= 1 && left.iter().all(is_temporary), "{line}: {left:?}");
        folder.linsep("train rows.csv -o model.small -q").exits(0);
        fs::remove_file(folder.path("model.small")).expect("the model");
        assert_eq!(folder.names(), before, "{line}");
    }
}

#[test]
fn a_file_that_is_being_written_is_left_alone() {
    let folder = Folder::with("rows.csv", ROWS);
    let _writer = Killed(folder.start(&mut folder.command("generate text --rows 100000000 -o made.svm -q")));
    let clock = Instant::now();
    while !folder.names().iter().any(is_temporary) {
        assert!(clock.elapsed() < Duration::from_secs(60), "nothing is written");
    }
    for _ in 0..5 {
        folder.linsep("train rows.csv -o model -q").exits(0);
        assert_eq!(folder.names().iter().filter(|name| is_temporary(name)).count(), 1);
    }
}

#[test]
fn names_may_be_as_long_as_the_file_system_allows() {
    let folder = Folder::with("rows.csv", ROWS);
    let long = "m".repeat(255);
    folder.linsep(&format!("train rows.csv -o {long} -q")).exits(0);
    folder.linsep(&format!("convert rows.csv {}.linsep -q", "c".repeat(248))).exits(0);
    let mut command = folder.command("train rows.csv -q -o");
    command.arg(OsStr::from_bytes(b"model-\xff\xfe"));
    Ran::new("a name that is not UTF-8", command.output().expect("linsep")).exits(0);
    assert!(folder.path("").join(OsStr::from_bytes(b"model-\xff\xfe")).is_file());
    assert_eq!(folder.names().len(), 4);
}

#[test]
fn links_are_followed_to_their_end() {
    let folder = Folder::with("rows.csv", ROWS);
    fs::create_dir(folder.path("elsewhere")).expect("folder");
    symlink("second", folder.path("first")).expect("link");
    symlink("elsewhere/model", folder.path("second")).expect("link");
    symlink("elsewhere/rows.linsep", folder.path("cache")).expect("link");
    for _ in 0..2 {
        folder.linsep("train rows.csv -o first -q").exits(0);
        folder.linsep("convert rows.csv cache --to linsep -q").exits(0);
        assert!(["first", "second", "cache"].iter().all(|name| folder.path(name).is_symlink()));
        let mut made: Vec<_> = fs::read_dir(folder.path("elsewhere"))
            .expect("folder")
            .map(|entry| entry.expect("entry").file_name())
            .collect();
        made.sort();
        assert_eq!(made, ["model", "rows.linsep"]);
    }
    symlink("circle", folder.path("circle")).expect("link");
    folder.linsep("train rows.csv -o circle -q").exits(3).says(&["cannot write circle", "lead in a circle"]);
    assert_eq!(folder.names(), ["cache", "circle", "elsewhere", "first", "rows.csv", "second"]);
}

#[test]
fn devices_are_written_to_and_nothing_beside_them() {
    let folder = Folder::with("rows.csv", ROWS);
    // Standard output is a file that others write to as well.
    let text = "(echo before; $LINSEP convert rows.csv /dev/stdout --to csv -q; echo after) > out
                (echo before; $LINSEP convert rows.csv /dev/fd/1 --to csv -q; echo after) >> out
                $LINSEP convert rows.csv /dev/stdout --to linsep -q | cat > cache
                $LINSEP train cache -o /dev/null -q
                $LINSEP generate square --rows 3 -o /proc/self/fd/1 -q";
    let ran = script(&folder, text).exits(0).keeps_silent();
    assert!(ran.out.ends_with('\n') && ran.out.contains("label\n"), "{ran:?}");
    let once = format!("before\n{ROWS}after\n");
    assert_eq!(folder.text("out"), format!("{once}{once}"));
    folder.linsep("train rows.csv -o /dev/no-such-device -q").exits(3).says(&["cannot write /dev/no-such"]);
    assert!(!Path::new("/dev/no-such-device").exists());
    assert_eq!(folder.names(), ["cache", "out", "rows.csv"]);
}

/// A limit on the size of files stands for a full disk.
#[test]
fn on_a_full_disk_there_is_a_whole_file_or_none() {
    let folder = Folder::with("rows.csv", ROWS);
    folder.linsep("generate text --rows 3000 --features 100000 -o rows.svm -q").exits(0);
    folder.linsep("train rows.svm --epochs 1 -o model -q").exits(0);
    folder.write("old", "old");
    let before = folder.names();
    for line in [
        "generate text --rows 100000 -o new.svm",
        "generate text --rows 100000 -o old",
        "convert rows.svm old --to csv",
        "convert rows.svm old --to linsep",
        "train rows.svm --epochs 1 -o old",
        "train rows.svm --epochs 1 --cache -o other",
        "separate rows.svm -o old",
        "predict model rows.svm --csv -o old",
    ] {
        // So many blocks of 512 bytes.
        let text = format!("trap '' XFSZ; ulimit -f 100; exec $LINSEP {line} -q");
        let ran = script(&folder, &text).exits(3).says(&["cannot write"]);
        assert!(!ran.err.contains(".part"), "{ran:?}");
        assert_eq!(folder.names(), before, "{line}");
        assert_eq!(folder.text("old"), "old", "{line}");
    }
}

#[test]
fn no_output_replaces_an_input() {
    let folder = Folder::with("rows.csv", ROWS);
    folder.write("weights", "1\n1\n1\n1\n");
    folder.write("spec.toml", "job = \"train\"\n[data]\nsource = \"rows.csv\"\n");
    folder.linsep("train rows.csv -o model -q").exits(0);
    folder.linsep("train rows.csv -o init --checkpoint run -q").exits(0);
    symlink("rows.csv", folder.path("link")).expect("link");
    symlink("rows.csv.linsep", folder.path("dangling")).expect("link");
    fs::hard_link(folder.path("rows.csv"), folder.path("second-name")).expect("link");
    let before: Vec<_> = folder.names();
    let content = |name: &String| fs::read(folder.path(name)).ok();
    let contents: Vec<_> = before.iter().map(content).collect();
    for line in [
        "train rows.csv -o rows.csv",
        "train rows.csv -o ./rows.csv",
        "train rows.csv -o link",
        "train link -o rows.csv",
        "train rows.csv -o second-name",
        "train rows.csv --cache -o rows.csv.linsep",
        "train rows.csv --cache -o ./rows.csv.linsep",
        "train rows.csv --cache -o dangling",
        "train rows.csv -o rows.csv.linsep",
        "train rows.csv --memory 10MB -o rows.csv.linsep",
        "train rows.csv --cache --checkpoint rows.csv.linsep",
        "train rows.csv --checkpoint rows.csv",
        "train rows.csv -o new --checkpoint new",
        "train rows.csv -o new --checkpoint ./new",
        "train rows.csv --trace link -o new --learner perceptron",
        "train rows.csv --weights weights -o weights",
        "train rows.csv --resume run -o run",
        "train rows.csv --init init --checkpoint init",
        "train --spec spec.toml -o spec.toml",
        "convert rows.csv rows.csv",
        "convert rows.csv second-name --to libsvm",
        "convert - rows.csv",
        "predict model rows.csv -o rows.csv",
        "predict model rows.csv -o link",
        "predict model rows.csv -o model",
        "predict model rows.csv -o rows.csv.linsep",
        "predict model - -o second-name",
        "separate rows.csv -o second-name",
        "separate rows.csv -o rows.csv.linsep",
    ] {
        let mut command = folder.command(line);
        command.stdin(File::open(folder.path("rows.csv")).expect("rows"));
        Ran::new(line, command.output().expect("linsep")).exits(2).says(&["name another file"]);
        assert_eq!(folder.names(), before, "{line}");
        assert_eq!(before.iter().map(content).collect::<Vec<_>>(), contents, "{line}");
    }
    // These replace what they start from, whole or not at all.
    folder.linsep("train rows.csv --init init -o init -q").exits(0);
    folder.linsep("train rows.csv --resume run --checkpoint run -o model -q").exits(0);
    folder.linsep("convert rows.csv rows.csv.linsep -q").exits(0);
}

#[test]
fn archives_do_not_tell_the_time() {
    let folder = Folder::with("rows.csv", ROWS);
    folder.linsep("convert rows.csv first.npz -q").exits(0);
    // The time of a zip archive has steps of two seconds.
    std::thread::sleep(Duration::from_millis(2100));
    folder.linsep("convert rows.csv second.npz -q").exits(0);
    assert_eq!(folder.read("first.npz"), folder.read("second.npz"));
    // Time and date of the first entry: midnight of 1 January 1980.
    assert_eq!(folder.read("first.npz")[10..14], [0, 0, 0x21, 0]);
}

/// Runs a line that reads `pipe` at some point. When it does, `change` is done; then `text` comes through the pipe.
fn change_meanwhile(folder: &Folder, line: &str, text: &str, change: impl FnOnce()) -> Ran {
    assert!(Command::new("mkfifo").arg(folder.path("pipe")).status().expect("mkfifo").success());
    let child = folder.start(&mut folder.command(line));
    // Opening waits for the reader.
    let mut pipe = File::options().write(true).open(folder.path("pipe")).expect("pipe");
    change();
    // The reader may be gone.
    let _ = pipe.write_all(text.as_bytes());
    drop(pipe);
    let ran = Ran::new(line, child.wait_with_output().expect("wait"));
    fs::remove_file(folder.path("pipe")).expect("pipe");
    ran
}

/// 100,000 rows of one number, as NumPy saves them.
fn array() -> Vec<u8> {
    let mut header = "{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 1), }".to_string();
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    (0..100_000).for_each(|row| bytes.extend_from_slice(&f64::from(row).to_le_bytes()));
    bytes
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_an_error() {
    let folder = Folder::with("rows.npy", array());
    let length = array().len() as u64;
    let labels: String = (0..100_000).map(|row| if row < 50_000 { "a\n" } else { "b\n" }).collect();
    let line = "train rows.npy --labels pipe -o model --epochs 1 -q";
    let rows = || File::options().write(true).open(folder.path("rows.npy")).expect("rows");
    let cut = format!("it had {length} bytes, now it has {}", length / 2);
    change_meanwhile(&folder, line, &labels, || rows().set_len(length / 2).expect("cut")).exits(3).says(&[
        "rows.npy: the file was changed while it was read",
        &cut,
        "start again",
    ]);
    // Written to in place, with the same length.
    folder.write("rows.npy", array());
    change_meanwhile(&folder, line, &labels, || {
        std::thread::sleep(Duration::from_millis(50));
        rows().write_all(&array()).expect("write");
    })
    .exits(3)
    .says(&["the file was changed while it was read: it was written to"]);
    assert!(!folder.has("model"));
    // What is appended is not looked at.
    folder.write("rows.npy", array());
    let append = || File::options().append(true).open(folder.path("rows.npy")).expect("rows");
    change_meanwhile(&folder, line, &labels, || append().write_all(b"more").expect("write")).exits(0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_cache_that_is_cut_short_in_use_is_an_error() {
    let folder = Folder::new();
    folder.linsep("generate text --rows 20000 --features 2000 -o rows.svm -q").exits(0);
    folder.linsep("convert rows.svm rows.linsep -q").exits(0);
    let weights = "1\n".repeat(20_000);
    let cut = || {
        let file = File::options().write(true).open(folder.path("rows.linsep")).expect("cache");
        file.set_len(4096).expect("cut");
    };
    // The weights are read when the rows are mapped and checked.
    change_meanwhile(&folder, "train rows.linsep --weights pipe -o model -q", &weights, cut)
        .exits(3)
        .says(&["error: a cache was cut short by another program while it was in use", "help: "]);
    assert!(!folder.has("model"));
}

/// A cache that is written to in its place: rows that were checked are others now, and so is what comes of them.
#[cfg(target_os = "linux")]
#[test]
fn a_cache_that_is_written_to_in_use_is_an_error() {
    let folder = Folder::new();
    folder.linsep("generate text --rows 20000 --features 2000 -o rows.svm -q").exits(0);
    folder.linsep("convert rows.svm rows.linsep -q").exits(0);
    let length = folder.read("rows.linsep").len();
    let weights = "1\n".repeat(20_000);
    // Columns far outside of the weights.
    let overwrite = || {
        std::thread::sleep(Duration::from_millis(50));
        let mut file = File::options().write(true).open(folder.path("rows.linsep")).expect("cache");
        file.write_all(&vec![0x7f; length]).expect("write");
    };
    change_meanwhile(&folder, "train rows.linsep --weights pipe -o model -q", &weights, overwrite)
        .exits(3)
        .says(&["error: rows.linsep: the file was changed while it was in use", "start again"]);
}

/// `train` fills missing cells and `separate` refuses them. Where none is missing, both use the same cache, and the model is the
/// one that the text gives.
#[test]
fn a_cache_of_a_table_without_missing_cells_serves_every_command() {
    let made = "were cached in rows.csv.linsep";
    let used = "The rows are read from the cache rows.csv.linsep";
    let anew = "it was written again";
    let train = "train rows.csv --epochs 3 -o";
    for (first, second) in [("train", "separate"), ("separate", "train"), ("train", "train --memory 40MB")] {
        let folder = Folder::with("rows.csv", "x,w,y\n1,red,a\n2,blue,b\n3,red,a\n4,blue,b\n");
        folder.linsep(&format!("{first} rows.csv --cache")).exits(0).says(&[made]);
        folder.linsep(&format!("{second} rows.csv --cache")).exits(0);
        folder.linsep(&format!("{second} rows.csv --cache")).exits(0).says(&[used]);
        folder.linsep(&format!("{first} rows.csv --cache")).exits(0).says(&[used]);
        folder.linsep(&format!("{train} plain")).exits(0);
        folder.linsep(&format!("{train} cached --cache")).exits(0).says(&[used]);
        assert_eq!(folder.model("plain"), folder.model("cached"), "{first}, {second}");
        folder.linsep(&format!("{train} plain --missing refuse")).exits(0);
        folder.linsep(&format!("{train} cached --missing refuse --cache")).exits(0).says(&[used]);
        assert_eq!(folder.model("plain"), folder.model("cached"), "{first}, {second}");
    }
    let folder = Folder::with("rows.csv", "x,w,y\n1,red,a\n,blue,b\n3,,a\n4,blue,b\n");
    folder.linsep("train rows.csv --cache").exits(0).says(&[made]);
    folder.linsep("separate rows.csv --cache").exits(3).says(&["rows.csv:3:1:"]);
    folder.linsep("separate rows.csv --cache --missing zero").exits(0).says(&[anew]);
    folder.linsep("train rows.csv --cache").exits(0).says(&[anew]);
}

#[test]
fn an_exported_model_overwrites_no_input() {
    let folder = Folder::with("rows.csv", ROWS);
    folder.linsep("train rows.csv -o model -q").exits(0);
    let before = fs::read(folder.path("model")).expect("a model");
    for (line, code, says) in [
        ("export model model", 2, "name another file"),
        ("export model rows.csv --data rows.csv", 2, "name another file"),
        ("export rows.csv out.onnx", 3, "rows.csv"),
        ("export model out.onnx --data missing.csv", 3, "missing.csv"),
        ("export model out.onnx --input f16", 2, "f16"),
    ] {
        let ran = folder.linsep(line).exits(code);
        assert!(ran.err.contains(says), "{line}: {}", ran.err);
        assert!(!folder.path("out.onnx").exists(), "{line}");
    }
    assert_eq!(fs::read(folder.path("model")).expect("a model"), before);
    assert_eq!(fs::read_to_string(folder.path("rows.csv")).expect("rows"), ROWS);
    let ran = folder.linsep("export model out.onnx --data rows.csv").exits(0);
    assert!(ran.out.contains("X (f32 × 2): a, b") && ran.out.contains("changes no class"), "{}", ran.out);
}

//! Whatever is wrong with the input: a message that says where and what, the documented exit code, and no file
//! that was not there before.

use crate::common::{Folder, PROGRAM, Ran};
use std::fs;
use std::process::{Command, Stdio};

const OLDER: &[u8] = b"an older model";
const GOOD_CSV: &str = "width,height,kind\n1,2,left\n2,1,right\n0.5,3,left\n4,1,right\n";
const GOOD_LIBSVM: &str = "+1 1:1 3:2\n-1 2:1.5\n+1 1:2\n-1 2:1 3:-1\n";

/// Trains on `content`, once beside nothing and once beside an older model: both times the program must end
/// with `code`, say all `parts`, and leave the folder as it was.
#[track_caller]
fn refused(content: impl AsRef<[u8]>, arguments: &str, code: i32, parts: &[&str]) {
    let folder = Folder::with("data", content);
    let line = format!("train data -o model {arguments}");
    folder.linsep(&line).exits(code).says(parts);
    assert_eq!(folder.names(), ["data"], "{line}");
    folder.write("model", OLDER);
    folder.linsep(&line).exits(code).says(parts);
    assert_eq!(folder.names(), ["data", "model"], "{line}");
    assert_eq!(folder.read("model"), OLDER, "{line}");
}

/// A folder with a model that was trained on `content`.
fn with_model(content: &str) -> Folder {
    let folder = Folder::with("training", content);
    folder.linsep("train training -o model -q --scale none").exits(0);
    fs::remove_file(folder.path("training")).expect("remove");
    folder
}

#[test]
fn numbers_that_are_not_finite() {
    let help = "help: linsep learns from finite numbers only: correct the value, or use --skip-bad";
    refused("+1 1:1\n-1 1:2 3:nan\n", "", 3, &["data:2:10: the value \"nan\" is not finite", help]);
    refused("+1 1:-inf\n-1 1:2\n", "", 3, &["data:1:6: the value \"-inf\" is not finite", help]);
    refused("a,b\n1,x\nInfinity,y\n", "", 3, &["data:3:1: the value \"Infinity\" is not finite", help]);
    refused("+1 1:1e999\n-1 1:2\n", "", 3, &["data:1:6: the value \"1e999\" is not finite", help]);
    refused("+1 1:1\nnan 1:2\n", "", 3, &["data:2:1: the label \"nan\" is missing or not finite"]);
}

/// The same for rows that are labelled as they come.
#[test]
fn a_bad_byte_after_a_mark_among_lines() {
    let folder = Folder::with("data.csv", "a,word,kind\n1,grün,left\n2,rot,right\n");
    folder.linsep("train data.csv -q -o model").exits(0);
    let table = b"\xef\xbb\xbfa,word\n1,gr\xc3\xbcn\n2,gr\xfcn\n";
    let refused = folder.linsep_with_input("predict model -", table).exits(3);
    refused.says(&["standard input:3:", "column \"word\" is not UTF-8"]);
    let named =
        folder.linsep_with_input("predict model - --encoding windows-1252", b"a,word\n1,gr\xfcn\n").exits(0);
    assert_eq!(named.out, "left\n");
    let mut wide: Vec<u8> = "\u{feff}a,word\n1,x".encode_utf16().flat_map(u16::to_le_bytes).collect();
    wide.extend([0x00, 0xd8, b'\n', 0x00]);
    folder
        .linsep_with_input("predict model -", &wide)
        .exits(3)
        .says(&["line 2, character 4 is not UTF-16LE"]);
    folder.write("texts.csv", "text,kind\nfree prize,spam\nsee you,ham\na prize,spam\nat noon,ham\n");
    folder.linsep("train texts.csv --text text -q -o texts").exits(0);
    let texts = b"\xef\xbb\xbffree prize\ngr\xfcn\n";
    folder.linsep_with_input("predict texts -", texts).exits(3).says(&["standard input", "not UTF-8"]);
}

/// A mark at the beginning says that a text is UTF-8, or UTF-16: one bad byte does not make windows-1252 of it.
#[test]
fn a_bad_byte_after_a_mark() {
    let rows = "1,grün,left\n2,rot,right\n";
    for many in [1, 20_000] {
        let good = format!("\u{feff}a,word,kind\n{}", rows.repeat(many));
        let bad = [good.as_bytes(), b"3,gr\xfcn,left\n"].concat();
        let place = format!("data:{}:3: the cell in column \"word\" is not UTF-8", 2 * many + 2);
        refused(&bad, "", 3, &[&place, "help: name the encoding, such as --encoding windows-1252"]);
        // Whoever names the encoding is believed.
        let folder = Folder::with("data", &bad);
        folder.linsep("train data -o model -q --encoding windows-1252 --epochs 1").exits(0);
    }
    let text = "\u{feff}a,word,kind\n1,grün,left\n2,rot,right\n3,x";
    let mut wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    wide.extend([0x00, 0xd8]);
    wide.extend(",left\n".encode_utf16().flat_map(u16::to_le_bytes));
    refused(
        &wide,
        "",
        3,
        &["data: line 4, character 4 is not UTF-16LE", "help: correct the text there, or name an encoding"],
    );
    let lines = b"\xef\xbb\xbf{\"a\": 1, \"kind\": \"x\"}\n{\"a\": 2, \"kind\": \"\xfcber\"}\n";
    refused(lines, "--format jsonl", 3, &["data:2:", "help:"]);
}

#[test]
fn rows_too_long_to_compute_with() {
    refused("+1 1:1e200\n-1 1:2\n", "--scale none", 3, &["a row has length", "help:", "--scale max-abs"]);
}

#[test]
fn nothing_to_learn_from() {
    let help = "help: give a file with at least one row; for training, at least one of each class";
    for content in ["", "\n\n  \n", "# only a comment\n"] {
        refused(content, "", 3, &["data: no rows: the file is empty", help]);
    }
    refused("a,b,kind\n", "--format csv", 3, &["data", "help:"]);
    let one = "all training rows have the label \"1\": training needs two classes";
    let help = "help: give rows of both classes; in a CSV file, check that --label names the right column";
    refused("1 1:1\n1 1:2\n+1.0 2:2\n", "", 3, &[one, help]);
    refused("1 1:1\n1 1:2\n", "--online", 3, &[one, help]);
    refused(
        "only\n",
        "",
        3,
        &["data: the format cannot be determined from the content", "help: name the format with"],
    );
}

#[test]
fn indices_out_of_order() {
    let help = "help: correct the row, or skip malformed rows with --skip-bad";
    refused("1 1:1\n-1 2:1 2:3\n", "", 3, &["data:2:8: feature index 2 occurs twice in this row", help]);
    let falling = "data:2:8: feature index 2 comes after 3: indices must increase";
    refused("1 1:1\n-1 3:1 2:3\n", "", 3, &[falling, help]);
    refused("1 1:1\n-1 x:1\n", "", 3, &["data:2:4: the feature index \"x\" is not a whole number", "help:"]);
    refused(
        "1 1:1\n-1 -2:1\n",
        "",
        3,
        &["data:2:4: the feature index \"-2\" is not a whole number", "help:"],
    );
    let beyond = "data:2:4: the feature index \"4294967296\" is not a whole number from 0 to";
    refused("1 1:1\n-1 4294967296:1\n", "", 3, &[beyond, "--max-features"]);
}

#[test]
fn index_zero_beside_indices_from_one() {
    let message = "data:2:4: feature index 0 in a file whose indices count from 1";
    let help = "help: count all indices from 1, or use --index-base 0";
    refused("1 1:1\n-1 0:1 2:3\n", "--index-base 1", 3, &[message, help]);
    let folder = with_model(GOOD_LIBSVM);
    folder.write("data", "1 1:1\n-1 0:1 2:3\n");
    for line in ["predict model data", "predict model data -o labels", "evaluate model data"] {
        folder.linsep(line).exits(3).says(&[message, help]);
        assert_eq!(folder.names(), ["data", "model"]);
    }
    // What the help says must work.
    folder.linsep("evaluate model data --index-base 0").exits(0);
    folder.linsep("predict model data --index-base 0").exits(0);
}

#[test]
fn labels_that_are_missing() {
    let help = "help: begin each row with its label, or skip such rows with --skip-bad";
    let message = "data:2:1: the label is missing: the row begins with \"1:2\"";
    refused("1 1:1\n1:2 2:3\n", "", 3, &[message, help]);
    refused(
        "a,kind\n1,x\n2,\n",
        "--missing refuse",
        3,
        &["data:3:3: the label \"\" is missing or not finite", "help: give the row"],
    );
    let folder = with_model(GOOD_CSV);
    folder.write("data", "width,height\n1,2\n");
    folder.linsep("evaluate model data").exits(3).says(&["data", "help:"]);
    folder.write("data", "width,height,kind\n1,2,middle\n");
    let unknown = "data:2: the label \"middle\" is not among the model's classes (left, right)";
    folder.linsep("evaluate model data").exits(3).says(&[unknown, "--skip-bad"]);
}

#[test]
fn malformed_tables() {
    let quote = "data:3:3: the quote that opens here is never closed";
    refused("a,b\n1,x\n2,\"y\n3,x\n", "", 3, &[quote, "help: close the quote, or double a quote"]);
    let after = "unexpected text after the closing quote";
    refused("a,b\n1,x\n2,\"y\"z\n3,x\n", "", 3, &["data:3:", after, "help: put the whole field in quotes"]);
    let ragged = "data:3:5: this row has 3 fields where 2 are expected";
    refused("a,b\n1,x\n2,3,y\n", "", 3, &[ragged, "help: correct the row, or leave it out with --skip-bad"]);
    let cell = "data:3:3: the cell in column \"b\" is missing (found \"\")";
    refused(
        "a,b,c\n1,2,x\n2,,y\n",
        "--missing refuse",
        3,
        &[cell, "help: fill it in, or choose --missing mean"],
    );
    let word = "data:3:3: the cell in column \"b\" is missing (found \"NA\")";
    refused("a,b,c\n1,2,x\n2,NA,y\n", "--missing refuse", 3, &[word, "--missing zero"]);
    let column = "data: there is no column \"sort\"; the columns are \"width\", \"height\", \"kind\"";
    refused(GOOD_CSV, "--label sort", 3, &[column, "help: name a column as the header spells it"]);
    refused(GOOD_CSV, "--ignore 9", 3, &["there is no column \"9\"", "help:"]);
    refused(GOOD_CSV, "--ignore width,height", 3, &["no column besides the label", "help:"]);
}

#[test]
fn bytes_that_are_not_text() {
    let help =
        ["help: give a file of a known format (libsvm, csv, ", "plain or compressed with gzip or zstd"];
    let garbage: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    refused(&garbage, "", 3, &["data: this is not text: found byte 0x", help[0], help[1]]);
    let program = b"\x7fELF\x02\x01\x01\x00\x00";
    refused(program, "", 3, &["data: this is not text: found byte 0x02", help[0], help[1]]);
    for format in ["libsvm", "csv", "tsv", "npy", "npz"] {
        refused(&garbage, &format!("--format {format}"), 3, &["error: data", "help:"]);
    }
    let npy = b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, ";
    refused(npy, "", 3, &["error: data", "help:"]);
    refused(b"PK\x03\x04\x14\x00\x00\x00\x08\x00cut short", "", 3, &["error: data", "help:"]);
}

#[test]
fn compression_that_is_damaged_or_unknown() {
    let help = "help: decompress it; one file can be piped in, because linsep reads standard input as -, and files in a folder can be \
                skipped with --skip-bad";
    let unsupported =
        |name: &str| format!("data: the file is compressed with {name}, which is not supported");
    refused(b"BZh91AY&SY\x00\x01\x02", "", 3, &[&unsupported("bzip2"), help]);
    refused(b"\xfd7zXZ\x00\x00\x04", "", 3, &[&unsupported("xz"), help]);

    let rows = "+1 1:1 2:0.125\n-1 1:-2 3:0.75\n".repeat(2000);
    let whole = [crate::common::gzip(rows.as_bytes()), crate::common::zstd(rows.as_bytes())];
    let help = "help: check the path, the permissions and that the file is whole";
    for bytes in &whole {
        let folder = Folder::with("data", bytes);
        folder.linsep("train data -o model -q").exits(0);
        for kept in [3, bytes.len() / 2, bytes.len() - 1] {
            for arguments in ["", "--online"] {
                refused(&bytes[..kept], arguments, 3, &["data: ", "help:"]);
            }
        }
        let mut damaged = bytes.clone();
        let middle = damaged.len() / 2;
        damaged[middle..].iter_mut().for_each(|byte| *byte ^= 0x55);
        refused(&damaged, "", 3, &["error: data", "cannot read", help]);
    }
}

#[test]
fn classes_that_make_no_two_sides() {
    let three = "a,b\n1,x\n2,y\n3,z\n";
    // A trace follows one run.
    refused(
        three,
        "--online --trace proof",
        2,
        &["--trace records one run", "3 classes", "--positive CLASS"],
    );
    for arguments in ["", "--online"] {
        let unknown = "no row has the label \"left\"; the classes are \"x\", \"y\", \"z\"";
        refused(three, &format!("--positive left {arguments}"), 2, &[unknown]);
    }
    let unknown = "--classes names \"left\", which no row has; the classes are x, y, z";
    refused(three, "--classes x,left", 2, &[unknown]);
    // What the help says must work.
    let folder = Folder::with("data", three);
    folder.linsep("train data --positive z -q").exits(0);
    folder.linsep("train data --classes x,z -q").exits(0);
    folder
        .linsep("train data --learner averaged")
        .exits(0)
        .says(&["3 classes: one classifier is trained for each class against the rest"]);
    // A stream does not know its classes beforehand, and learns them all the same.
    for learner in ["averaged", "multiclass"] {
        let line = format!("train data --learner {learner} --online --json -q");
        let report = folder.linsep(&line).exits(0).json();
        assert_eq!(report["classes"]["names"], serde_json::json!(["x", "y", "z"]));
    }
}

#[test]
fn settings_that_make_no_sense() {
    let reason = "at zero every agreement is 0, which is no mistake. Start with --init first";
    refused(GOOD_CSV, "--mistake negative", 2, &[reason]);
    refused(GOOD_CSV, "--init zero --mistake negative", 2, &[reason]);
    for (arguments, reason) in [
        ("--epochs 0", "--epochs must be at least 1"),
        ("--epochs many", "invalid value 'many' for '--epochs <N>'"),
        ("--max-updates 0", "--max-updates must be at least 1"),
        ("--max-seconds 0", "--max-seconds must be above 0"),
        ("--max-seconds -1", "--max-seconds must be above 0"),
        ("--max-seconds nan", "invalid value 'nan' for '--max-seconds <SECONDS>': expected a number"),
        ("--holdout 0", "the held-out fraction is 0; it must be above 0 and below 1"),
        ("--holdout 1.5", "the held-out fraction is 1.5; it must be above 0 and below 1"),
        ("--holdout -0.5", "the held-out fraction is -0.5; it must be above 0 and below 1"),
        ("--holdout nan", "expected a number"),
        ("--bias-scale -1", "the scale of the bias must be a number from 1e-100 to 1e100"),
        ("--bias-scale 0", "for no bias, choose --bias none"),
        ("--bias-scale inf", "expected a number"),
        ("--bias none --bias-scale 2", "--bias-scale needs --bias append"),
        ("--checkpoint run --checkpoint-every -1", "--checkpoint-every needs a number of seconds"),
        ("--threads 0", "expected a number from 1 to 1024"),
        ("--trace-points 1", "invalid value '1' for '--trace-points <N>'"),
        ("--index-base 2", "invalid value '2' for '--index-base <0|1>'"),
        ("--delimiter ab", "expected one character"),
        ("--learner tree", "[possible values: perceptron, averaged, voted, margin"),
        ("--online --holdout 0.5", "--holdout needs all rows in memory"),
        ("--online --classes left,right", "--classes needs all rows in memory"),
        ("--online --teaching-set rows", "--teaching-set needs all rows in memory"),
        ("--online --scale standard", "online learning allows --scale none and unit-rows"),
        ("--online --epochs 2", "a stream allows one pass in the given order"),
        ("--comparator model", "--trace <FILE>"),
        ("--nonsense", "unexpected argument '--nonsense' found"),
        ("--epochs", "a value is required for '--epochs <N>'"),
    ] {
        refused(GOOD_CSV, arguments, 2, &["error: ", reason]);
    }
    let folder = Folder::new();
    folder.linsep("").exits(2);
    folder.linsep("learn data").exits(2).says(&["unrecognized subcommand 'learn'"]);
    folder.linsep("generate blobs --margin -1").exits(2).says(&["margin = -1 is not in the range"]);
    folder.linsep("generate text --per-row 0").exits(2).says(&["error: --per-row = 0 is not in the range"]);
    folder.linsep("generate square --margin 1").exits(2).says(&["--margin does not apply"]);
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn settings_are_judged_before_the_data_is_read() {
    let folder = Folder::new();
    folder.linsep("train absent --holdout 1.5").exits(2).says(&["the held-out fraction is 1.5"]);
    folder.linsep("train absent --epochs 0").exits(2).says(&["--epochs must be at least 1"]);
}

/// Everything that is not a model must be refused by every command that opens one.
#[track_caller]
fn no_model(folder: &Folder, parts: &[&str]) {
    folder.write("rows", GOOD_LIBSVM);
    let before = folder.names();
    let mut parts = parts.to_vec();
    parts.push("error: file: ");
    for line in [
        "predict file rows",
        "predict file rows -o labels",
        "evaluate file rows",
        "inspect file",
        "train rows --init file -o new",
    ] {
        folder.linsep(line).exits(3).says(&parts);
        assert_eq!(folder.names(), before, "{line}");
    }
}

#[test]
fn files_that_are_no_model() {
    let message = "this is not a linsep model, or it is cut short or damaged";
    for content in ["", "{}", "just some text, longer than a header\n", GOOD_LIBSVM] {
        no_model(&Folder::with("file", content), &[message]);
    }
    no_model(&Folder::with("file", [0xff; 64]), &[message]);
    // A safetensors file of another program: one tensor of two f32.
    let header = r#"{"weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    let mut foreign = (header.len() as u64).to_le_bytes().to_vec();
    foreign.extend(header.as_bytes());
    foreign.extend([0; 8]);
    no_model(&Folder::with("file", foreign), &["this safetensors file was not written by linsep"]);

    let folder = Folder::with("data", GOOD_LIBSVM);
    folder.linsep("train data -q --checkpoint file -o model").exits(0);
    no_model(&folder, &["this is a linsep checkpoint, not a model"]);
    let resumed = folder.linsep("train data --resume model -o other").exits(3);
    resumed.says(&["model: this is a linsep model, not a checkpoint"]);
    assert!(!folder.has("other"));
}

/// A device may have no end and a named pipe no writer: nothing is read from them. What comes through a pipe of the process itself is read.
#[cfg(unix)]
#[test]
fn models_and_specifications_that_are_no_files() {
    let folder = Folder::with("data.csv", "x,y,kind\n1,2,a\n2,1,b\n3,1,b\n0,5,a\n");
    folder.linsep("train data.csv -q -o model").exits(0);
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status();
    assert!(made.is_ok_and(|status| status.success()));
    for (path, kind) in
        [("pipe", "it is a named pipe, and no file"), ("/dev/zero", "it is a device, and no file")]
    {
        for command in [
            "predict PATH data.csv",
            "evaluate PATH data.csv",
            "train data.csv --init PATH",
            "train data.csv --resume PATH",
            "train --spec PATH",
            "verify PATH data.csv",
        ] {
            let line = command.replace("PATH", path);
            folder.linsep(&line).exits(3).says(&[path, kind]);
        }
    }
    let labels = folder.linsep("predict model data.csv").exits(0).out.clone();
    let model = folder.read("model");
    let piped = folder.linsep_with_input("predict /dev/stdin data.csv", &model).exits(0);
    assert_eq!(piped.out, labels);
    // What goes on after its end is damaged, however long it goes on.
    let longer = [model.as_slice(), &[0; 100_000]].concat();
    folder
        .linsep_with_input("predict /dev/stdin data.csv", &longer)
        .exits(3)
        .says(&["/dev/stdin: this is not a linsep model"]);
    let spec = folder.linsep("inspect model --spec").exits(0).out.clone();
    folder.linsep_with_input("train --spec /dev/stdin -q", spec.as_bytes()).exits(0);
    // What is no text need not have an end.
    let zeros = vec![0; 1 << 20];
    for command in ["verify /dev/stdin data.csv", "train --spec /dev/stdin"] {
        folder.linsep_with_input(command, &zeros).exits(3).says(&["/dev/stdin", "a zero byte"]);
    }
    folder.linsep("separate data.csv -q -o proof").exits(0);
    let header = format!("{:<117}\n", "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 1), }");
    folder.write("rows.npy", [&b"\x93NUMPY\x01\x00\x76\x00"[..], header.as_bytes(), &[0; 32]].concat());
    folder.linsep("train rows.npy --labels /dev/zero").exits(3).says(&["/dev/zero: ", "a zero byte"]);
}

#[test]
fn a_model_cut_at_any_byte() {
    for learner in ["averaged", "voted"] {
        let folder = Folder::with("rows", GOOD_LIBSVM);
        folder.linsep(&format!("train rows -o whole --learner {learner} --scale max-abs -q")).exits(0);
        let whole = folder.read("whole");
        for kept in 0..whole.len() {
            let problem =
                linsep::Model::from_bytes(&whole[..kept]).expect_err("a part of a model").to_string();
            assert!(
                problem.starts_with("this is not a linsep model, or it is cut"),
                "{kept} bytes: {problem}"
            );
        }
        // A prime step, so that both commands see every part of the file.
        for kept in (0..whole.len()).step_by(37) {
            folder.write("model", &whole[..kept]);
            let line = if kept % 2 == 0 { "inspect model" } else { "predict model rows" };
            let ran = folder
                .linsep(line)
                .exits(3)
                .says(&["error: model: this is not a linsep model, or it is cut"]);
            assert_eq!(ran.out, "");
        }
        folder.write("model", [&whole[..], b"\0"].concat());
        folder.linsep("inspect model").exits(3);
    }
}

#[test]
fn files_that_are_not_there_or_no_files() {
    let help = "help: check the path, the permissions and that the file is whole";
    let folder = Folder::with("good", GOOD_CSV);
    fs::create_dir(folder.path("folder")).expect("folder");
    folder.linsep("train good -o model -q").exits(0);
    let before = folder.names();
    for line in ["train absent -o new", "predict model absent -o new", "evaluate model absent"] {
        folder.linsep(line).exits(3).says(&["error: absent: cannot read: ", "No such file", help]);
    }
    for line in ["train folder -o new", "evaluate model folder"] {
        folder
            .linsep(line)
            .exits(3)
            .says(&["error: folder: this folder has no sub-folders, one for each class"]);
    }
    folder.write("cat.png", b"\x89PNG\r\n\x1a\n");
    folder.write("letter.eml", "Subject: hello\n\nhow are you\n");
    for file in ["cat.png", "letter.eml"] {
        let problem = format!("error: {file}: this is one file without a label");
        folder.linsep(&format!("train {file}")).exits(3).says(&[&problem, "one sub-folder for each class"]);
        fs::remove_file(folder.path(file)).expect("remove");
    }
    folder
        .linsep("predict model folder -o new")
        .exits(3)
        .says(&["the model was trained on a table with the columns"]);
    folder.linsep("inspect absent").exits(3).says(&["error: absent: cannot read", "No such file"]);
    folder.linsep("inspect folder").exits(3).says(&["error: folder: cannot read"]);
    for line in ["train good -o folder", "predict model good -o folder"] {
        folder.linsep(line).exits(3).says(&["cannot write folder: it is a folder"]);
    }
    for line in [
        "train good -o absent/new",
        "train good --trace absent/new",
        "train good --teaching-set absent/new",
        "train good --checkpoint absent/new",
        "predict model good -o absent/new",
        "generate square -o absent/new",
        "demo iris --export absent/new",
    ] {
        folder.linsep(line).exits(3).says(&["error: cannot write absent/new: ", "No such file"]);
    }
    assert_eq!(folder.names(), before);
}

#[test]
fn a_place_that_cannot_be_written_is_noticed_before_the_work() {
    // Data that is missing would be told first if the work came first.
    let folder = Folder::new();
    folder.linsep("train absent -o nowhere/model").exits(3).says(&["cannot write nowhere/model"]);
    folder.linsep("train absent --trace nowhere/trace").exits(3).says(&["cannot write nowhere/trace"]);
}

/// Runs the program so that permissions count, which root does not obey: without capabilities root is only the
/// owner of its files.
#[cfg(target_os = "linux")]
fn without_privilege(folder: &Folder, line: &str) -> Ran {
    folder.write("probe", "secret");
    forbid(folder, "probe", 0o000);
    let obeys = fs::read(folder.path("probe")).is_err();
    let plain = ["--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"];
    let wrapped = |program: &str, arguments: &[&str]| {
        let mut command = if obeys { Command::new(program) } else { Command::new("setpriv") };
        if !obeys {
            command.args(plain).arg(program);
        }
        command.args(arguments).current_dir(folder.path(".")).stdin(Stdio::null());
        command.output().expect("run a program, as root through setpriv")
    };
    let probe = wrapped("cat", &["probe"]);
    assert!(!probe.status.success() && probe.stdout.is_empty(), "permissions do not count here: {probe:?}");
    fs::remove_file(folder.path("probe")).expect("remove");
    Ran::new(line, wrapped(PROGRAM, &line.split_whitespace().collect::<Vec<_>>()))
}

#[cfg(target_os = "linux")]
fn forbid(folder: &Folder, name: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder.path(name), fs::Permissions::from_mode(mode)).expect("set permissions");
}

#[cfg(target_os = "linux")]
#[test]
fn no_permission() {
    let folder = Folder::with("data", GOOD_CSV);
    folder.linsep("train data -o model -q --checkpoint run").exits(0);
    for name in ["secret", "secret-model", "locked-model"] {
        folder.write(name, if name == "secret" { GOOD_CSV.into() } else { folder.read("model") });
    }
    fs::create_dir(folder.path("locked")).expect("folder");
    fs::copy(folder.path("run"), folder.path("locked/run")).expect("copy");
    for (name, mode) in
        [("secret", 0o000), ("secret-model", 0o000), ("locked-model", 0o444), ("locked", 0o000)]
    {
        forbid(&folder, name, mode);
    }
    let before = folder.names();
    let help = "help: check the path, the permissions and that the file is whole";
    for (line, parts) in [
        ("train secret -o new", &["error: secret: cannot read: Permission denied", help][..]),
        ("predict model secret -o new", &["error: secret: cannot read: Permission denied", help]),
        ("inspect secret-model", &["error: secret-model: cannot read", "Permission denied"]),
        ("predict secret-model data", &["error: secret-model: cannot read", "Permission denied"]),
        ("train data -o locked/new", &["error: cannot write locked/new: Permission denied"]),
        ("train data --checkpoint locked/new", &["error: cannot write locked/new: Permission denied"]),
        ("predict model data -o locked/new", &["error: cannot write locked/new: Permission denied"]),
        ("generate square -o locked/new", &["error: cannot write locked/new: Permission denied"]),
        ("train data -o locked-model", &["error: cannot write locked-model: the file is write-protected"]),
        // A checkpoint that cannot be looked at is not one that does not exist.
        ("train data --resume locked/run -o new", &["error: locked/run: ", "Permission denied"]),
    ] {
        let ran = without_privilege(&folder, line).exits(3).says(parts);
        assert_eq!(ran.out, "", "{line}");
        assert_eq!(folder.names(), before, "{line}");
    }
    forbid(&folder, "locked", 0o755);
    assert_eq!(fs::read_dir(folder.path("locked")).expect("folder").count(), 1);
    assert_eq!(folder.read("locked-model"), folder.read("model"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let folder = Folder::with("data", GOOD_CSV);
    folder.linsep("train data -o model -q").exits(0);
    let before = folder.names();
    for line in [
        "train data -o /dev/full",
        "train data --checkpoint /dev/full",
        "train data --trace /dev/full",
        "train data --teaching-set /dev/full",
        "predict model data -o /dev/full",
        "generate square -o /dev/full",
        "demo iris --export /dev/full",
    ] {
        folder.linsep(line).exits(3).says(&[
            "error: ",
            "cannot write /dev/full: ",
            "No space left on device",
        ]);
    }
    for line in [
        "train data",
        "train data --json",
        "predict model data",
        "predict model data --csv",
        "evaluate model data --json",
        "inspect model",
        "generate square",
        "demo iris",
        "completions bash",
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let mut command = folder.command(line);
        let child = command.stdout(full).stderr(Stdio::piped()).spawn().expect("start linsep");
        let ran = Ran::new(line, child.wait_with_output().expect("wait"));
        ran.exits(3).says(&["error: cannot write to standard output: ", "No space left on device"]);
    }
    assert_eq!(folder.names(), before);
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_had_enough() {
    let folder = Folder::with("data", GOOD_LIBSVM.repeat(50_000));
    folder.linsep("train data -o model -q").exits(0);
    for line in ["predict model data", "predict model data --csv", "generate text --rows 20000"] {
        let mut child = folder.start(&mut folder.command(line));
        // As `head -1` does: one line is read, then the pipe is closed.
        let mut pipe = std::io::BufReader::new(child.stdout.take().expect("standard output"));
        let mut first = String::new();
        std::io::BufRead::read_line(&mut pipe, &mut first).expect("a line");
        assert!(!first.is_empty());
        drop(pipe);
        Ran::new(line, child.wait_with_output().expect("wait")).exits(0).keeps_silent();
    }
}

#[test]
fn options_that_the_file_does_not_have() {
    refused(GOOD_LIBSVM, "--label 1", 2, &["error: --label does not apply to LIBSVM files"]);
    refused(GOOD_CSV, "--index-base 1", 2, &["error: --index-base does not apply to CSV files"]);
    refused(GOOD_LIBSVM, "--labels data", 2, &["error: --labels does not apply to LIBSVM files"]);
    let both = "error: column \"kind\" is named by --label and by --ignore";
    refused(GOOD_CSV, "--label kind --ignore 3", 2, &[both]);
    let folder = with_model(GOOD_LIBSVM);
    folder.write("data", GOOD_LIBSVM);
    folder.linsep("predict model data --missing zero").exits(2).says(&["--missing does not apply to LIBSVM"]);
    folder.linsep("predict model data --labels data").exits(2).says(&["--labels does not apply"]);
}

#[test]
fn old_line_ends_and_delimiters_at_the_end() {
    let message = "data: the lines end in carriage returns (\\r) without line feeds";
    refused(GOOD_CSV.replace('\n', "\r"), "", 3, &[message, "help: convert the line ends"]);
    refused(GOOD_LIBSVM.replace('\n', "\r"), "", 3, &[message]);
    let message = "data:1:7: the label, in the last column, is empty here and in most rows";
    refused("1,2,a,\n3,4,b,\n", "", 3, &[message, "help: remove the delimiter at the end of the rows"]);
}

#[test]
fn missing_cells_that_the_model_cannot_fill() {
    let folder = with_model(GOOD_CSV);
    folder.write("data", "width,height,kind\n1,2,left\n?,1,right\n");
    for arguments in ["", "--missing mean"] {
        let ran = folder.linsep(&format!("predict model data {arguments}")).exits(3);
        ran.says(&[
            "data:3:1: the cell in column \"width\" is missing (found \"?\"), and the model has no value for it",
            "help: fill it in, or choose --missing zero or --missing drop-row",
        ]);
    }
    // What the help says must work.
    folder.linsep("predict model data --missing zero").exits(0);
    let table = folder.linsep("predict model data --missing drop-row --csv").exits(0).out;
    assert_eq!(table.lines().count(), 2);
}

#[test]
fn scores_that_are_not_finite() {
    let folder = with_model("1 1:4 2:1\n-1 1:-4 2:2\n1 1:5 2:-1\n-1 1:-3 2:-3\n");
    folder.write("data", "1 1:1\n1 1:1e308 2:-1e308\n-1 1:-1.5e308\n");
    let weights = folder.linsep("inspect model --json").exits(0).json();
    for line in ["predict model data", "predict model data -o labels", "evaluate model data"] {
        let ran = folder.linsep(line).exits(3);
        assert!(ran.err.contains("are too large: its score is not finite"), "{}\n{weights}", ran.err);
        assert!(ran.err.contains("error: data:"), "{}", ran.err);
        assert_eq!(folder.names(), ["data", "model"]);
    }
    folder.write("data", "1 1:1e200\n1 1:1e-200\n");
    let scores = folder.linsep("predict model data --show score").exits(0).out;
    assert!(scores.lines().all(|line| line.len() < 30 && line.parse::<f64>().is_ok()), "{scores}");
}

#[test]
fn what_cannot_be_judged_is_told_so() {
    let folder = with_model("1 1:1\n-1 1:-1\n");
    folder.write("data", "-1 1:-1\n");
    let text = folder.linsep("evaluate model data").exits(0).out;
    assert!(
        text.contains("none: no row was predicted 1\n")
            && text.contains("100.00 % of -1 found; no row is 1\n"),
        "{text}"
    );
}

#[test]
fn a_model_of_a_table_reads_numbered_rows_with_a_note() {
    let folder = with_model(GOOD_CSV);
    folder.write("data", "1:1 2:2\n");
    folder
        .linsep("predict model data")
        .exits(0)
        .says(&["note: The model was trained on a table", "by number"]);
}

#[test]
fn malformed_rows_can_be_skipped() {
    let mut rows = GOOD_LIBSVM.to_string();
    rows.push_str("+1 1:nan\n-1 2:1 2:2\n1:2\n-1 x\n+1 3:\n-1 3:1 2:1\n+1 1:3\n");
    let folder = Folder::with("data", &rows);
    let ran = folder.linsep("train data --skip-bad --json -q -o model").exits(0).says(&[
        "warning: 6 malformed rows were skipped:",
        "line 5: the value \"nan\" is not finite",
        "line 6: feature index 2 occurs twice in this row",
        "line 7: the label is missing",
        "line 8: expected index:value, found \"x\"",
        "line 9: feature 3 has no value",
        "and 1 more",
    ]);
    let report = ran.json();
    assert_eq!((&report["examples"], &report["skipped_rows"]), (&5.into(), &6.into()));
    // The result is that of the good rows alone.
    folder.write("good", format!("{GOOD_LIBSVM}+1 1:3\n"));
    folder.linsep("train good -q -o same").exits(0);
    assert_eq!(folder.model("model"), folder.model("same"));
    // A bare list of labels would not tell which rows were left out.
    for option in ["--skip-bad", "--skip-bad --show score", "--missing drop-row"] {
        folder
            .linsep(&format!("predict model data {option}"))
            .exits(2)
            .says(&["leaves rows out", "add --csv"]);
    }
    let ran = folder.linsep("predict model data --skip-bad --csv").exits(0);
    let lines: Vec<&str> = ran.out.lines().map(|row| row.split(',').next().unwrap_or_default()).collect();
    assert_eq!(
        lines,
        ["line", "1", "2", "3", "4", "7", "11"],
        "without labels, the row \"1:2\" is a good one"
    );
    let evaluated = folder.linsep("evaluate model data --skip-bad --json").exits(0).json();
    assert_eq!((&evaluated["rows"], &evaluated["skipped_rows"]), (&5.into(), &6.into()));

    folder.write("table", "a,b,kind\n1,2,x\n2,1,y\n3\nnan,1,x\n1,inf,y\n5,1,y\n");
    let ran = folder.linsep("train table --skip-bad --json -q --missing refuse").exits(0);
    let ran = ran.says(&["line 4: this row has 1 field", "line 6: the value \"inf\" is not finite"]);
    assert_eq!(ran.json()["examples"], 3);
    folder.write("bad", "1 1:nan\n2 1:nan\n");
    let ran = folder.linsep("train bad --skip-bad -o new").exits(3);
    ran.says(&["bad: no rows left: all 2 rows were skipped", "help:"]);
    assert!(!folder.has("new"));
}

#[test]
fn no_output_destroys_an_input() {
    let folder = Folder::with("data", "1 1:1\n-1 1:-1\n");
    folder.linsep("train data -o model --checkpoint run").exits(0);
    let (data, model, run) = (folder.read("data"), folder.read("model"), folder.read("run"));
    for line in [
        "train data -o data",
        "train data -o ./data",
        "train data --trace data",
        "train data --teaching-set data",
        "train data --checkpoint data",
        "train data -o same --trace same",
        "train data --init model --trace model",
        "train data --resume run -o run",
        "train data --resume run --trace run",
        "train data -o -",
        "predict model data -o data",
        "predict model data -o model",
    ] {
        folder.linsep(line).exits(2);
        assert_eq!((folder.read("data"), folder.read("model")), (data.clone(), model.clone()), "{line}");
        assert_eq!(folder.read("run"), run, "{line}");
        assert_eq!(folder.names(), ["data", "model", "run"], "{line}");
    }
    // A model may be replaced by the one that starts from it.
    folder.linsep("train data --init model -o model").exits(0);
    // Going on in the same checkpoint is what it is for.
    folder.linsep("train data --checkpoint run --resume run -o again").exits(0);
    folder.linsep("train data --checkpoint run --resume run -o again").exits(0);
}

#[test]
fn classes_that_are_no_two() {
    let folder = Folder::with("data", "1 1:1\n-1 1:-1\n");
    for classes in ["1", "1,1", "1,+1"] {
        folder.linsep(&format!("train data --classes {classes}")).exits(2).says(&["at least two classes"]);
    }
    let folder = Folder::with("data", "x,y\n1,a\n2,a\n3,a\n4,b\n");
    folder
        .linsep("train data --holdout 0.5")
        .exits(3)
        .says(&["data: all training rows have the label \"a\""]);
}

#[test]
fn a_model_of_many_classes_is_no_start() {
    let folder = Folder::with("data", "x,y\n1,a\n2,b\n3,c\n1,a\n2,b\n3,c\n");
    folder.linsep("train data -o model").exits(0);
    folder
        .linsep("train data --init model")
        .exits(2)
        .says(&["has more than two classes", "--positive CLASS or --classes A,B, or leave --init MODEL out"]);
}

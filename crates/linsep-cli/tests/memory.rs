//! `train --memory` keeps to its limit. These tests are a binary of their own: the peak of a process counts what its parent had when
//! it was started, and other tests hold large files in memory.
#![cfg(target_os = "linux")]

mod common;

use common::Folder;
use std::io::Write;
use std::process::Stdio;

/// What a limit of `train --memory` does not count, as docs/formats.md says: the code of the program, as far as it is loaded.
const ALLOWANCE: u64 = 10_000_000;

/// Runs the program to its end, which must have this exit code, and gives the most memory that it had, in bytes.
#[expect(clippy::zombie_processes, reason = "wait4 waits for it")]
fn peak(folder: &Folder, line: &str, code: i32) -> u64 {
    use std::os::unix::process::ExitStatusExt;
    let child =
        folder.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("start linsep");
    let process = libc::pid_t::try_from(child.id()).expect("a process number");
    let mut status = 0;
    // SAFETY: all zeros are a valid value of this structure of plain numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the child has not been waited for, and both pointers are to variables that outlive the call.
    let ended = unsafe { libc::wait4(process, &raw mut status, 0, &raw mut usage) };
    assert_eq!(ended, process, "{line}");
    assert_eq!(std::process::ExitStatus::from_raw(status).code(), Some(code), "{line}");
    u64::try_from(usage.ru_maxrss).expect("kilobytes") * 1024
}

/// `train --memory` keeps to its limit, saving included, and does not ask for much more than it uses: in the least memory
/// that it says it needs, for a wide model and for one of many classes.
#[test]
fn training_keeps_to_its_memory_also_when_it_saves() {
    let folder = Folder::new();
    let row = |i: u64, features: u64| {
        (0..20).map(|j| (i * 7919 + j * 104_729) % features + 1).collect::<std::collections::BTreeSet<_>>()
    };
    for (name, rows, classes, features) in [("wide", 2000, 2, 900_000), ("many", 600, 300, 6000)] {
        let line = |i: u64| {
            let pairs: String = row(i, features).iter().map(|j| format!(" {j}:{}", i % 5 + 1)).collect();
            format!("{}{pairs}\n", i % classes)
        };
        let last = format!("0 {features}:1\n");
        folder.write(name, (0..rows).map(line).collect::<String>() + &last);
        for learner in ["averaged", "sgd"] {
            let train = format!("train {name} --learner {learner} --epochs 1 --threads 2 --memory");
            let told = folder.linsep(&format!("{train} 1MB")).exits(2).err;
            let needed =
                told.split(" need ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a number");
            let needed: u64 = needed.replace(',', "").parse().expect("megabytes");
            for output in ["-o model", "-o model --checkpoint run --checkpoint-every 0"] {
                if classes > 2 && output.contains("run") {
                    continue;
                }
                let bytes = peak(&folder, &format!("{train} {needed}MB {output}"), 0);
                let limit = needed * 1_000_000;
                assert!(bytes < limit + ALLOWANCE, "{train} {output}: {bytes} of {limit}");
                assert!(bytes > limit / 10 * 7, "{train} {output}: {bytes} of {limit}");
            }
        }
    }
}

/// A line without end is refused before it fills the memory that a run may use, and the message says what set the limit.
#[test]
fn a_line_without_end_does_not_fill_the_memory() {
    let folder = Folder::new();
    let pieces = [
        &b"a,b,y\n1,2,p\n2,1,q\n"[..],
        b"1 1:1\n-1 1:2\n",
        b"@relation r\n@attribute a real\n@attribute y {p,q}\n@data\n1,p\n",
        b"",
    ];
    for (number, beginning) in pieces.into_iter().enumerate() {
        let name = format!("endless{number}.gz");
        let file = std::fs::File::create(folder.path(&name)).unwrap();
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        packed.write_all(beginning).unwrap();
        let blanks = vec![b' '; 1 << 20];
        (0..150).for_each(|_| packed.write_all(&blanks).unwrap());
        packed.finish().unwrap();
        for command in ["train", "separate"] {
            let line = format!("{command} {name} --memory 64MB --threads 2");
            folder.linsep(&line).exits(3).says(&[
                "this line is longer than 4,000,000 bytes",
                "a memory limit of 64 MB",
                "raise the limit with --memory",
            ]);
            let bytes = peak(&folder, &line, 3);
            assert!(bytes < 64_000_000 + ALLOWANCE, "{line}: {bytes}");
        }
    }
    // A limit that is asked for and lower counts.
    let line = "train endless3.gz --memory 64MB --max-line 1MB";
    folder.linsep(line).exits(3).says(&["longer than 1,000,000 bytes", "--max-line"]);
}

/// The names of columns and words count, too, and a table with too many of them is refused before they are in memory.
#[test]
fn the_names_of_a_wide_table_keep_to_the_memory() {
    let folder = Folder::new();
    for (name, cells) in [("words", ["red", "blue"]), ("numbers", ["1", "2"])] {
        let columns = 40_000;
        let mut text: String = (0..columns).map(|j| format!("c{j},")).collect();
        text.push_str("kind\n");
        for row in 0..6 {
            (0..columns).for_each(|j| text.extend([cells[(row * row + j) % 2], ","]));
            text.push_str(["p\n", "q\n"][row % 2]);
        }
        folder.write("table.csv", text);
        folder.linsep(&format!("convert table.csv {name}.linsep -q")).exits(0);
        let train = format!("train {name}.linsep --epochs 1 --threads 2 -o model --memory");
        let told = folder.linsep(&format!("{train} 16MB")).exits(2).err;
        assert!(told.contains("16 MB is too little for so many columns and classes"), "{told}");
        assert!(peak(&folder, &format!("{train} 16MB"), 2) < 16_000_000 + ALLOWANCE, "{name}");
        let bytes = peak(&folder, &format!("{train} 100MB"), 0);
        assert!(bytes < 100_000_000 + ALLOWANCE, "{name}: {bytes}");
        // What it asks for is enough.
        let needed = |megabytes: u64| {
            let ran = folder.linsep(&format!("{train} {megabytes}MB"));
            let told = ran.err.split(" need ").nth(1)?.split(' ').next()?.replace(',', "");
            told.parse::<u64>().ok()
        };
        let mut least = 16;
        while let Some(more) = needed(least) {
            assert!(more > least, "{name}: {more} MB are asked for where there are {least}");
            least = more;
        }
        let bytes = peak(&folder, &format!("{train} {least}MB"), 0);
        assert!(bytes < least * 1_000_000 + ALLOWANCE, "{name}: {bytes} of {least} MB");
    }
}

/// So does the reading of a text with many columns, whose chunks hold something for each of them.
#[test]
fn chunks_of_a_wide_text_keep_to_the_memory() {
    let folder = Folder::new();
    let columns = 40_000;
    // Row by row: what is in memory here counts for the program that is started.
    let mut file = std::fs::File::create(folder.path("table.csv")).expect("a file");
    let names: String = (0..columns).map(|j| format!("c{j},")).collect();
    writeln!(file, "{names}kind").expect("a header");
    for row in 0..100 {
        let cells: String = (0..columns).map(|j| if (row * 7 + j) % 50 == 0 { "1," } else { "0," }).collect();
        writeln!(file, "{cells}{}", ["p", "q"][row % 2]).expect("a row");
    }
    let train = "train table.csv --epochs 1 --threads 2 -o model --memory 128MB";
    let bytes = peak(&folder, train, 0);
    assert!(bytes < 128_000_000 + ALLOWANCE, "{bytes}");
}

/// What a file becomes in memory is in proportion to the file: rows that name few of very many columns, and a text that many cells share,
/// are refused before they are written out.
#[test]
fn small_files_do_not_fill_the_memory() {
    let folder = Folder::new();
    let keys = |i: usize| format!("{{\"k{i}\":1,\"y\":\"{}\"}}\n", ["a", "b"][i % 2]);
    folder.write("keys.jsonl", (0..9200).map(keys).collect::<String>());
    let attributes: String = (0..5000).map(|j| format!("@attribute a{j} {{x,y}}\n")).collect();
    let pairs = |i: usize| format!("{{{} y, 5000 {}}}\n", i % 5000, ["n", "p"][i % 2]);
    let rows: String = (0..20_000).map(pairs).collect();
    folder.write("sparse.arff", format!("@relation r\n{attributes}@attribute class {{n,p}}\n@data\n{rows}"));
    let long = "k".repeat(300_000);
    let inside: String = (0..40_000).map(|i| format!("\"{i}\":1,")).collect();
    folder.write("names.jsonl", format!("{{\"x\":1,\"y\":1}}\n{{\"{long}\":{{{inside}\"x\":1}},\"y\":2}}\n"));
    for (name, problem) in [
        ("keys.jsonl", "9,201 columns make that a table of"),
        ("sparse.arff", "5,001 columns make that a table of"),
        ("names.jsonl", "the names of the columns of this row have more than"),
    ] {
        let line = format!("train {name} --epochs 1 --threads 2");
        folder.linsep(&line).exits(3).says(&[problem]);
        let bytes = peak(&folder, &line, 3);
        assert!(bytes < 200_000_000, "{name}: {bytes}");
    }
}

/// A line of a million delimiters would take gigabytes for its columns; names of several letters may be as many.
#[test]
fn columns_that_are_hardly_there_are_refused() {
    let folder = Folder::with("commas.csv", format!("{}x\n1,2\n", ",".repeat(999_000)));
    folder.write("numbers.csv", format!("{}y\n{}n\n", "1,".repeat(400_000), "2,".repeat(400_000)));
    for (file, columns) in [("commas.csv", "999,001"), ("numbers.csv", "400,001")] {
        for command in ["train", "separate", "convert"] {
            let line = match command {
                "convert" => format!("convert {file} out.svm --threads 2"),
                command => format!("{command} {file} --threads 2"),
            };
            folder.linsep(&line).exits(3).says(&[
                &format!("{file}:1: {columns} cells in"),
                "at most 131,072 are read that are as short as that",
                "--max-features",
            ]);
            let bytes = peak(&folder, &line, 3);
            assert!(bytes < 60_000_000, "{line}: {bytes}");
        }
    }
    let names: String = (0..150_000).map(|j| format!("rs{j},")).collect();
    folder.write("names.csv", format!("{names}y\n{}a\n{}b\n", "1,".repeat(150_000), "0,".repeat(150_000)));
    folder.linsep("train names.csv --epochs 1 -q").exits(0);
}

/// An index of eight digits in fifty bytes: every command refuses it with the numbers, unless the limit is given.
#[test]
fn few_values_do_not_ask_for_millions_of_weights() {
    let folder = Folder::with("far.svm", "1 16777216:1\n-1 1:1\n1 5:1\n-1 7:2\n");
    for command in ["train", "separate", "theory", "compare", "tune", "report"] {
        let line = format!("{command} far.svm --threads 2");
        let line = if command == "report" { format!("{line} -o far.html") } else { line };
        folder.linsep(&line).exits(3).says(&[
            "16,777,216 features, but the rows have only 4 values that are not 0",
            "at most 4,194,560 features",
            "--max-features",
        ]);
        let bytes = peak(&folder, &line, 3);
        assert!(bytes < 100_000_000, "{line}: {bytes}");
    }
    folder.linsep("train far.svm --epochs 1 --max-features 16777216").exits(0);
}

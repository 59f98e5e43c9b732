//! The promise: data goes from every format to every other and stays the same, a cache is never wrong, and a limit of
//! memory holds.

use crate::common::Folder;

const SPARSE: &str = "-1 1:0.5 3:2\n+1 2:-1.5 3:1e300\n-1 1:0.1 2:123456789.125\n+1 3:7\n";

fn fingerprint(folder: &Folder, name: &str) -> String {
    let record = folder.linsep(&format!("train {name} --epochs 1 --scale max-abs --json")).exits(0).json();
    record["fingerprint"].as_str().expect("a fingerprint").to_string()
}

#[test]
fn files_go_from_format_to_format() {
    let folder = Folder::with("rows.svm", SPARSE);
    let expected = fingerprint(&folder, "rows.svm");
    let mut last = "rows.svm".to_string();
    for name in ["a.linsep", "b.csv", "c.npz", "d.tsv.gz", "e.svm.zst", "f.linsep", "g.libsvm"] {
        folder.linsep(&format!("convert {last} {name}")).exits(0).says(&["4 rows, 3 features, to"]);
        assert_eq!(fingerprint(&folder, name), expected, "{last} to {name}");
        last = name.to_string();
    }
    folder.linsep("convert a.linsep rows.data --to csv").exits(0);
    assert_eq!(folder.read("rows.data"), folder.read("b.csv"));
    let from_input = folder.linsep_with_input("convert - h.csv", SPARSE.as_bytes());
    from_input.exits(0);
    assert_eq!(folder.read("h.csv"), folder.read("b.csv"));
    assert!(!folder.names().iter().any(|name| name.contains(".part")), "{:?}", folder.names());
}

#[test]
fn a_conversion_that_cannot_be_is_refused() {
    let folder = Folder::with("rows.svm", SPARSE);
    folder.write("bad.svm", "1 1:1\n-1 1:x\n");
    folder.write("names.csv", "a,kind\n1,x y\n2,z\n");
    for (line, code, says) in [
        ("convert rows.svm rows.svm", 2, "named twice"),
        ("convert rows.svm ./rows.svm --to csv", 2, "named twice"),
        ("convert rows.svm rows.unknown", 2, "--to"),
        ("convert rows.svm -", 2, "-"),
        ("convert rows.svm out.npy", 2, ".npz"),
        ("convert rows.svm out.linsep.gz", 2, "not compressed"),
        ("convert names.csv out.svm", 2, "\"x y\" cannot be written"),
        ("convert bad.svm out.csv", 3, "bad.svm:2:6"),
        ("convert missing.svm out.csv", 3, "missing.svm"),
        ("convert rows.svm no/such/folder/out.csv", 3, "cannot write"),
        ("convert rows.svm out.csv --label 2", 2, "--label does not apply"),
    ] {
        folder.linsep(line).exits(code).says(&[says]);
    }
    assert_eq!(folder.names(), ["bad.svm", "names.csv", "rows.svm"]);
    assert_eq!(folder.text("rows.svm"), SPARSE);
}

/// Every command that reads data reads a cache, and comes to the same result.
#[test]
fn commands_read_caches() {
    let folder = Folder::new();
    folder.linsep("demo iris --export iris.csv").exits(0);
    folder.linsep("generate text --rows 300 --features 200 -o text.svm").exits(0);
    for (text, cache, task) in
        [("iris.csv", "iris.linsep", "--positive setosa"), ("text.svm", "text.linsep", "")]
    {
        folder.linsep(&format!("convert {text} {cache}")).exits(0);
        for (line, made) in [
            ("train DATA TASK -o NAME.model -q", "NAME.model"),
            ("separate DATA TASK -o NAME.json -q --time 60", "NAME.json"),
        ] {
            let run = |data: &str, name: &str| {
                let line = line.replace("DATA", data).replace("TASK", task).replace("NAME", name);
                let ran = folder.linsep(&line);
                assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
                let made = made.replace("NAME", name);
                if made.ends_with(".model") { folder.model(&made) } else { folder.read(&made) }
            };
            assert_eq!(run(text, "text"), run(cache, "cache"), "{line}");
        }
        for line in ["predict text.model DATA", "predict text.model DATA --csv", "evaluate text.model DATA"] {
            let out = |data: &str| folder.linsep(&line.replace("DATA", data)).exits(0).out.replace(data, "");
            assert_eq!(out(text), out(cache), "{line}");
        }
        folder.linsep(&format!("verify text.json {cache}")).exits(0);
        folder.linsep(&format!("compare {cache} {task} --learners perceptron,averaged")).exits(0);
        folder.linsep(&format!("theory {cache} {task} --epochs 20")).exits(0);
        let shown = folder.linsep(&format!("inspect {cache}")).exits(0);
        assert!(shown.out.contains(text), "{shown:?}");
        assert_eq!(folder.linsep(&format!("inspect {cache} --json")).exits(0).json()["source"], text);
        folder.linsep(&format!("train {cache} --label 2")).exits(2).says(&["does not apply to linsep cache"]);
    }
    let mut bytes = folder.read("iris.linsep");
    bytes[100] ^= 1;
    folder.write("iris.linsep", &bytes);
    for command in ["train iris.linsep", "inspect iris.linsep", "separate iris.linsep"] {
        folder.linsep(command).exits(3).says(&["iris.linsep", "damaged", "make it again"]);
    }
}

#[test]
fn the_cache_beside_the_data_is_made_used_and_renewed() {
    let folder = Folder::with("rows.csv", "a,b,kind\n1,2,x\n3,4,y\n5,5,x\n");
    let record = |line: &str, says: &str| {
        let ran = folder.linsep(line).exits(0).says(&[says]);
        let mut record = ran.json();
        record.as_object_mut().expect("a record").remove("seconds");
        record
    };
    let plain = record("train rows.csv --json", "");
    assert!(!folder.has("rows.csv.linsep"));
    assert_eq!(record("train rows.csv --json --cache", "were cached in rows.csv.linsep"), plain);
    assert_eq!(record("train rows.csv --json --cache", "are read from the cache rows.csv.linsep"), plain);
    folder
        .linsep("separate rows.csv --cache --missing auto")
        .says(&["are read from the cache rows.csv.linsep"]);
    record("train rows.csv --json --cache --ignore a", "it was written again");
    folder.write("rows.csv", "a,b,kind\n1,2,x\n3,4,y\n5,5,y\n");
    let renewed = record("train rows.csv --json --cache", "it was written again");
    assert_ne!(renewed["fingerprint"], plain["fingerprint"]);
    assert_eq!(renewed, record("train rows.csv --json", ""));
    folder.linsep_with_input("train - --cache", b"1 1:1\n").exits(2).says(&["--cache", "name a file"]);
    folder.linsep("train rows.csv.linsep --cache").exits(0);
    assert_eq!(folder.names(), ["rows.csv", "rows.csv.linsep"]);
    folder.write("rows.csv.linsep", "mine");
    folder.linsep("train rows.csv --cache").exits(3).says(&["rename it"]);
}

#[test]
fn a_limit_of_memory_gives_the_same_model() {
    let folder = Folder::new();
    folder.linsep("generate text --rows 3000 --features 400 -o rows.svm").exits(0);
    folder.linsep("train rows.svm --epochs 3 --scale none -o plain.model").exits(0);
    folder
        .linsep("train rows.svm --epochs 3 -o within.model --memory 40MB")
        .exits(0)
        .says(&["rows.svm.linsep"]);
    assert_eq!(folder.model("plain.model"), folder.model("within.model"));
    for (line, says) in [
        ("train rows.svm --memory 1MB", "MB"),
        ("train rows.svm --memory 40MB --learner svm", "not for svm"),
        ("train rows.svm --memory 40MB --learner voted", "not for voted"),
        ("train rows.svm --memory 40MB --holdout 0.1", "--holdout needs all rows in memory"),
        ("train rows.svm --memory 40MB --scale standard", "--scale needs all rows in memory"),
        ("train rows.svm --memory 40MB --online", "cannot be used"),
        ("train rows.svm --memory much", "500MB"),
        ("train - --memory 40MB", "standard input"),
    ] {
        folder.linsep(line).exits(2).says(&[says]);
    }
}

/// The operating system sees to it that the limit holds: with it, reading the file into memory fails.
#[cfg(target_os = "linux")]
#[test]
fn the_limit_holds_under_a_real_one() {
    use std::process::Command;
    let folder = Folder::new();
    // About 65 MB of numbers in memory.
    folder.linsep("generate text --rows 60000 --features 20000 --per-row 90 -o rows.svm").exits(0);
    let within = |kilobytes: u64, line: &str| {
        let script = format!("ulimit -d {kilobytes} && exec {} {line} --threads 2", crate::common::PROGRAM);
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).current_dir(folder.path(""));
        command.output().expect("run linsep")
    };
    let train = "train rows.svm --epochs 2 -o within.model --memory 45MB";
    let output = within(52_000, train);
    assert!(output.status.success(), "{output:?}");
    let plain = "train rows.svm --epochs 2 --scale none -o plain.model";
    assert!(!within(52_000, plain).status.success(), "the limit is too wide to tell anything");
    folder.linsep(plain).exits(0);
    assert_eq!(folder.model("plain.model"), folder.model("within.model"));
}

/// A file that is read back with fewer features is told of, also quietly; lost names are not.
#[test]
fn a_feature_that_is_lost_is_told_also_quietly() {
    let folder = Folder::with("rows.csv", "a,b,c,label\n1,0,0,x\n0,2,0,y\n");
    folder
        .linsep("convert -q rows.csv rows.svm --label label")
        .exits(0)
        .says(&["warning: The last 1 feature has no values but zeros"]);
    folder.write("full.csv", "a,b,label\n1,0,x\n0,2,y\n");
    folder.linsep("convert -q full.csv full.svm --label label").exits(0).keeps_silent();
}

/// A header of names that look like cells gets other names, and that is told.
#[test]
fn names_that_are_changed_are_told() {
    let folder = Folder::with("odd.csv", "na,?,y\n1,4,p\n2,5,q\n3,6,p\n2,7,q\n");
    let told = folder.linsep("convert odd.csv --header yes new.csv").exits(0);
    told.says(&["Columns are named \"xna\" instead of \"na\""]);
    assert!(folder.text("new.csv").starts_with("xna,x?,y\n"));
    folder.write("plain.csv", "1,4,p\n2,5,q\n");
    let told = folder.linsep("convert plain.csv other.csv").exits(0);
    assert!(!told.err.contains("Columns are named"), "{}", told.err);
}

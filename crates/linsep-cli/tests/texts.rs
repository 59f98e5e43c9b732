//! Texts and mails as they come: folders, single files, columns of tables, and lines as they arrive.

use crate::common::{Folder, HAM, PROGRAM, SPAM, gzip};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

#[test]
fn a_folder_is_learned_and_single_files_are_labelled() {
    let folder = Folder::with_texts();
    folder
        .linsep("train mails -o model")
        .exits(0)
        .tells(&["documents, 8 files in 2 classes", "support vector machine"]);
    folder.write("new.eml", "Subject: your prize\nFrom: x\nTo: y\n\n<b>loan</b>");
    folder.write("other.txt", "lunch at noon?");
    folder.linsep("predict model new.eml").exits(0).prints("spam\n");
    folder.linsep("predict model new.eml other.txt").exits(0).prints("new.eml: spam\nother.txt: ham\n");
    folder
        .linsep("predict model new.eml other.txt --csv")
        .exits(0)
        .tells(&["file,label,score,distance\nnew.eml,spam,"]);
    folder.linsep("evaluate model mails").exits(0).tells(&["0.00 %"]);
    folder.linsep("predict model new.eml --explain=1").exits(0).tells(&[
        "spam\n  spam rather than ham by +",
        "  for      ",
        "(+",
        "  against  ",
    ]);
    folder
        .linsep("inspect model")
        .exits(0)
        .tells(&["Terms that are evidence for spam:", "Terms that are evidence for ham:"]);
    let record = folder.linsep("inspect model --json").exits(0).json();
    let terms = record["terms"].as_array().expect("the terms of each class");
    assert_eq!((&terms[0]["class"], &terms[1]["class"]), (&"spam".into(), &"ham".into()));
    assert!(
        terms.iter().all(|of| of["terms"][0]["term"].is_string() && of["terms"][0]["weight"].is_number())
    );
    folder.linsep("export model out.onnx").exits(2).tells(&["this model reads texts"]);
}

#[test]
fn columns_of_texts_and_free_text_that_nobody_named() {
    let folder = Folder::new();
    let rows = |header: &str| {
        let row = |i: usize| {
            let (class, text) =
                if i.is_multiple_of(2) { ("spam", SPAM[i / 2 % 4]) } else { ("ham", HAM[i / 2 % 4]) };
            format!("{class}\t{text} number n{i} x{i}\n")
        };
        header.to_string() + &(0..24).map(row).collect::<String>()
    };
    folder.write("named.tsv", rows("kind\tmessage\n"));
    folder.linsep("train named.tsv --text message -o named").exits(0);
    folder.linsep("predict named named.tsv --show score -o one").exits(0);
    // Without a word from the user it comes to the same.
    folder.write("rows", rows(""));
    folder
        .linsep("train rows -o guessed")
        .exits(0)
        .tells(&["Column \"2\" holds free text, so the label is column \"1\"", "its words are the features"]);
    folder.linsep("predict guessed rows --show score -o two").exits(0);
    assert_eq!(folder.text("one"), folder.text("two"));
    folder.linsep("train rows --text 2 --label 2").exits(2).tells(&["is named by --label and by --text"]);
    folder.linsep("train named.tsv --text absent").exits(3).tells(&["there is no column \"absent\""]);
    folder.write("renamed.tsv", rows("kind\tnote\n"));
    folder
        .linsep("predict named renamed.tsv")
        .exits(3)
        .tells(&["there is no column \"message\", which the model was trained with"]);
    folder
        .linsep("predict named rows --text 2")
        .exits(2)
        .tells(&["the model stores how texts become features"]);
    folder.linsep("tune named.tsv --text message -o tuned --folds 3").exits(0).tells(&[
        "words, tf-idf ",
        "1-2 words, counts ",
        "features of ",
    ]);
    folder.linsep("compare named.tsv --text message --learners perceptron,svm --folds 3").exits(0);
}

#[test]
fn chosen_words_hashes_and_terms() {
    let folder = Folder::with_texts();
    folder.linsep("train mails --words loan,prize -o two").exits(0).tells(&["2 features"]);
    folder
        .linsep("train mails --hash-bits 6 -o hashed")
        .exits(0)
        .tells(&["terms are hashed into 64 buckets"]);
    folder.linsep("predict hashed mails/spam/0").exits(0).prints("spam\n");
    folder.linsep("train mails --terms characters --ngrams 2-3 -o runs").exits(0);
    folder.linsep("predict runs mails/ham/1").exits(0).prints("ham\n");
    folder.linsep("train mails --online").exits(2).tells(&["no vocabulary can be built", "--hash-bits 18"]);
    folder.linsep("train mails --online --hash-bits 8 --text-weights counts -o online").exits(0);
    folder.linsep("train mails --cache").exits(2).tells(&["is a folder: no cache is kept beside it"]);
    folder.linsep("train mails --words loan --ngrams 2").exits(2).tells(&["--words lists all terms"]);
    folder.linsep("train mails --ngrams 0").exits(2);
    folder.linsep("train mails --label x").exits(2).tells(&["--label does not apply to text and mail files"]);
    folder.linsep("convert mails mails.linsep").exits(0);
    folder.linsep("train mails.linsep -o again").exits(0);
    folder.linsep("train mails -o first").exits(0);
    assert_eq!(folder.model("again"), folder.model("first"));
}

#[test]
fn what_is_no_text_is_named_or_skipped() {
    let folder = Folder::with_texts();
    folder.write(
        "mails/ham/odd name\u{fc} %20.png",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xff\xff\xff\xff\xff\xff\xff",
    );
    folder.write("mails/ham/empty", "");
    folder
        .linsep("train mails")
        .exits(3)
        .tells(&["mails/ham/empty: this is not a text: it is empty", "--skip-bad"]);
    folder
        .linsep("train mails --skip-bad")
        .exits(0)
        .tells(&["2 files or folders were skipped", "it is a PNG"]);
    fs::create_dir(folder.path("mails/nothing")).expect("folder");
    folder.linsep("train mails").exits(3).tells(&["mails/nothing: this folder of a class has no files"]);
    folder.linsep("train mails --skip-bad --max-file 10").exits(3).tells(&["all 11 rows were skipped"]);
    folder
        .linsep("train mails/spam")
        .exits(3)
        .tells(&["has no sub-folders, one for each class: it has 4 files"]);
    folder.linsep("train mails/spam/0").exits(3);
    let mut bomb = gzip(&vec![b' '; 10_000_000]);
    folder.write("mails/ham/bomb.gz", &bomb);
    fs::remove_dir(folder.path("mails/nothing")).expect("folder");
    folder
        .linsep("train mails --skip-bad --max-file 1MB")
        .exits(0)
        .tells(&["bomb.gz: the file is larger than 1,000,000 bytes"]);
    bomb.truncate(100);
    folder.write("mails/ham/bomb.gz", &bomb);
    folder.linsep("train mails --skip-bad").exits(0).tells(&["bomb.gz: cannot read"]);
    folder.write("mails/ham/mail.bz2", b"BZh91AY&SY");
    folder.linsep("train mails --skip-bad").exits(0).tells(&["mail.bz2: ", "bzip2"]);
}

#[test]
fn mailboxes_are_classes_or_rows() {
    let folder = Folder::new();
    fs::create_dir(folder.path("boxes")).expect("folder");
    for (class, texts) in [("spam", SPAM), ("ham", HAM)] {
        let mail =
            |text: &&str| format!("From x Mon Jan 1\nSubject: {text}\nFrom: y\n\n{text}\n>From here\n\n");
        folder.write(&format!("boxes/{class}.mbox"), texts.iter().map(mail).collect::<String>());
    }
    folder.linsep("train boxes -o model").exits(0).tells(&["ham (4 rows)", "spam (4 rows)"]);
    folder.linsep("predict model boxes/spam.mbox").exits(0).prints("spam\nspam\nspam\nspam\n");
}

#[test]
fn the_same_model_for_any_threads() {
    let folder = Folder::new();
    for i in 0..300 {
        let class = ["a", "b"][i % 2];
        fs::create_dir_all(folder.path(&format!("texts/{class}"))).expect("folder");
        let words: Vec<String> =
            (0..40).map(|k| format!("w{}", (i * 31 + k * k * (1 + i % 2)) % 400)).collect();
        folder.write(&format!("texts/{class}/{i}.txt"), words.join(" "));
    }
    for threads in [1, 2, 5] {
        folder
            .linsep(&format!("train texts --threads {threads} --ngrams 1-2 --holdout 0.2 -o m{threads}"))
            .exits(0);
        assert_eq!(folder.model(&format!("m{threads}")), folder.model("m1"));
    }
}

/// Each line is answered before the next one is written.
#[test]
fn lines_are_answered_as_they_come() {
    let folder = Folder::with_texts();
    folder.linsep("train mails -o texts -q").exits(0);
    folder.write("rows.csv", "x,y,kind\n1,2,a\n2,1,b\n1,3,a\n3,1,b\n");
    folder.linsep("train rows.csv -o table -q").exits(0);
    folder.write("rows.svm", "a 1:1 2:2\nb 1:2 2:1\na 1:1 2:3\nb 1:3 2:1\n");
    folder.linsep("train rows.svm -o numbered -q").exits(0);
    for (model, lines) in [
        ("texts", &[("a free prize\n", "spam"), ("lunch, \"today\"\n", "ham"), ("free loan\n", "spam")][..]),
        ("table", &[("y,x\n5,1\n", "a"), ("1,5\n", "b"), ("4,1\n", "a")]),
        ("table", &[("1,5\n", "a"), ("5,1\n", "b")]),
        ("numbered", &[("1:1 2:5\n", "a"), ("1:5 2:1\n", "b")]),
        // Some programs put a mark before the first line.
        ("texts", &[("\u{feff}a free prize\n", "spam"), ("lunch, today\n", "ham")]),
        ("table", &[("\u{feff}y,x\n5,1\n", "a"), ("1,5\n", "b")]),
    ] {
        let mut child = Command::new(PROGRAM)
            .args(["predict", model, "-"])
            .current_dir(folder.path("."))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("start");
        let mut pipe = child.stdin.take().expect("pipe");
        let mut answers = BufReader::new(child.stdout.take().expect("pipe")).lines();
        for (line, answer) in lines {
            pipe.write_all(line.as_bytes()).expect("write");
            assert_eq!(answers.next().expect("an answer").expect("text"), *answer, "{model}: {line}");
        }
        drop(pipe);
        assert!(answers.next().is_none());
        assert!(child.wait().expect("end").success());
    }
    folder.linsep_with_input("predict table -", b"x,y\n1,5\n1,2,3\n").exits(3).tells(&["standard input:3:"]);
    folder.linsep_with_input("predict table -", b"").exits(3).tells(&["no rows"]);
    folder.linsep_with_input("predict table - --csv", b"x,y\n\n1,5\n5,1\n").exits(0).tells(&["3,a,", "4,b,"]);
}

#[test]
fn the_demonstration_tells_its_story() {
    let folder = Folder::with_texts();
    folder.linsep("demo mail mails").exits(0).tells(&[
        "1. Two words only",
        "--words loan,prize",
        "2. All words",
        "held-out error",
        "What this shows",
    ]);
    folder.linsep("demo mail").exits(2).tells(&["demo mail needs a folder"]);
    folder.linsep("demo iris mails").exits(2).tells(&["only demo mail and demo cats-dogs take a folder"]);
}

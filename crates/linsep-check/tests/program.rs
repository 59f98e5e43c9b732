//! The program `linsep-check`: what it says of files, with its exit codes.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A folder of its own for each test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("linsep-check-{name}"));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.0.join(name), text).unwrap();
    }

    /// The exit code, and what was said on standard output and on standard error.
    fn check(&self, arguments: &str) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linsep-check"));
        let done = command.args(arguments.split(' ')).current_dir(&self.0).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (done.status.code(), text(done.stdout), text(done.stderr))
    }
}

/// The examples of the page on certificates.
fn examples() -> Vec<&'static str> {
    let page = include_str!("../../../docs/certificate.md");
    page.split("```text\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn each_form_of_a_table() {
    let folder = Folder::new("forms");
    folder.write("proof", examples()[0]);
    let forms = [
        ("x,y,class\n2,1,yes\n3,3,yes\n0,1,no\n", ""),
        ("2,1,yes\n3,3,yes\n0,1,no", ""),
        ("\u{feff}x;y;class\r\n2;1;yes\r\n\r\n3;3;yes\r\n0;1;no\r\n", ""),
        ("class\tx\ty\n\"yes\"\t2.0\t 1e0 \nyes\t+3\t3\nno\t-0\t1\n", " --label class"),
        ("yes;2;1\nyes;3;3\nno;0;1\n", " --label 1"),
        ("x,id,y,class\n2,a,1,yes\n3,b,3,yes\n0,c,1,no\n", " --ignore id"),
        ("x,y,class,weight\n2,1,yes,1\n3,3,yes,4\n0,1,no,2\n", " --ignore 4"),
        ("x,y,class,n\n2,1,yes,1\n3,3,yes,4\n9,9,no,0\n0,1,no,0.5\n5,1,no,0\n", " --weights n --label class"),
        ("n,x,class,y\n1,2,yes,1\n4,3,yes,3\n0,9,no,9\n2,0,no,1\n", " --label class --weights 1"),
        ("0,1,2\n2,1,yes\n3,3,yes\n0,1,no\n", " --header"),
        ("# rows\nyes 1:2 2:1 # first\nyes qid:3 1:3 2:3\n\nno 2:1\n", ""),
        ("yes 0:2 1:1\nyes 0:3 1:3\nno 1:1\n", ""),
    ];
    for (table, options) in forms {
        folder.write("data", table);
        let (code, out, error) = folder.check(&format!("proof data{options}"));
        assert_eq!((code, error.as_str()), (Some(0), ""), "{table}{out}");
        assert!(out.starts_with("Accepted: complete"), "{out}");
        assert!(
            out.contains("\nMargin: at least 1, at most 1\nRows: 2 are +1, 1 are -1, 0 are left out\n"),
            "{out}"
        );
        assert!(
            out.contains(": infinite, sign open\n")
                && out.contains("\nFewest columns that can: at least 1\n")
        );
    }
}

/// A set without columns has a name, too.
#[test]
fn sets_of_columns_are_named() {
    let folder = Folder::new("sets");
    folder.write("data", "x,y,class\n2,1,yes\n3,3,yes\n0,1,no\n");
    for (columns, told) in [("1 ", "y"), ("", "none, the bias alone")] {
        folder.write("proof", examples()[0].replace("not-alone 1 ", &format!("not-alone {columns}")));
        let (code, out, _) = folder.check("proof data");
        assert_eq!(code, Some(0), "{out}");
        assert!(out.contains("\nColumns that separate completely: x\n"), "{out}");
        assert!(out.contains(&format!("\nColumns that do not: {told}\n")), "{out}");
    }
}

#[test]
fn rows_of_other_classes_are_left_out_and_numbers_are_classes_by_value() {
    let folder = Folder::new("classes");
    let proof =
        examples()[0].replace("\"yes\"", "\"1\"").replace("\"no\"", "\"0\"").replace("rows 3", "rows 4");
    folder.write("proof", proof);
    folder.write("data", "2,1,+1\n3,3,1.0\n0,1,-0\n9,-9,other\n");
    let (code, out, _) = folder.check("proof data");
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("Rows: 2 are +1, 1 are -1, 1 are left out"), "{out}");
}

#[test]
fn other_verdicts() {
    let folder = Folder::new("verdicts");
    folder.write("overlap", examples()[1]);
    folder.write("quasi", examples()[2]);
    folder.write("two", "1,1,yes\n2,2,no\n3,3,yes\n");
    folder.write("three", "a,b,k\n1,5,yes\n0,2,yes\n0,1,no\n-1,0,no\n");
    let (code, out, _) = folder.check("overlap two");
    assert!(
        code == Some(0) && out.contains("Coefficient of 1: finite\nCoefficient of 2: aliased\n"),
        "{out}"
    );
    let (code, out, _) = folder.check("quasi three");
    assert!(
        code == Some(0) && out.contains("Coefficient of a: +infinity\nCoefficient of b: finite\n"),
        "{out}"
    );
    assert!(out.contains("Rows on the boundary: 2, with all such weights\n"), "{out}");
}

#[test]
fn rejections_and_files_that_cannot_be_read() {
    let folder = Folder::new("rejected");
    folder.write("proof", examples()[0]);
    folder.write("both", examples()[0].replace("negative \"no\"", "negative \"no\"\nnegative \"yes\""));
    folder.write("good", "2,1,yes\n3,3,yes\n0,1,no\n");
    folder.write("moved", "2,1,yes\n3,3,yes\n5,1,no\n");
    folder.write("short", "2.5,1,yes\n0,1,no\n");
    folder.write("sided", "2,1,yes\n3,3,yes\n0,1,never\n");
    for (arguments, why) in [
        (
            "proof moved",
            "Rejected: row 2 (from 0): the weights put the row on the boundary or on the wrong side\n",
        ),
        (
            "proof short",
            "Rejected: it is about 3 rows with 2 features, but the data has 2 rows with 2 features\n",
        ),
        (
            "proof sided",
            "Rejected: row 2 (from 0): the combination uses a row that belongs to neither side\n",
        ),
        ("both good", "Rejected: a class is on both sides\n"),
    ] {
        assert_eq!(folder.check(arguments), (Some(1), why.to_owned(), String::new()), "{arguments}");
    }
    folder.write("words", "x,y,class\n2,red,yes\n3,blue,yes\n0,red,no\n");
    folder.write("missing", "2,1,yes\n3,,yes\n0,1,no\n");
    folder.write("infinite", "2,1,yes\n3,inf,yes\n0,1,no\n");
    folder.write("ragged", "2,1,yes\n3,3\n0,1,no\n");
    folder.write("pairs", "yes 1:2 2:1\nyes 1:3 x\n");
    folder.write("counts", "2,1,yes,1\n3,3,yes,many\n0,1,no,2\n");
    let (code, _, error) = folder.check("proof counts --weights 4 --label 3");
    assert!(
        code == Some(3) && error.starts_with("counts: line 2: \"many\" is not a finite number"),
        "{error}"
    );
    folder.write("bytes", [0x89, 0x50, 0xff, 0xfe]);
    folder.write("empty", "");
    for (name, why) in [
        ("words", "words: line 2: \"red\" is not a finite number"),
        ("missing", "missing: line 2: \"\" is not a finite number"),
        ("infinite", "infinite: line 2: \"inf\" is not a finite number"),
        ("ragged", "ragged: line 2 has 2 cells, but the first has 3"),
        ("pairs", "pairs: line 2: \"x\" is not index:value"),
        ("empty", "empty: there are no rows"),
    ] {
        let (code, out, error) = folder.check(&format!("proof {name}"));
        assert_eq!((code, out.as_str()), (Some(3), ""), "{error}");
        assert!(error.starts_with(why), "{error}");
        assert!(
            error.contains("reads tables of numbers only") && error.contains("linsep convert"),
            "{error}"
        );
    }
    for arguments in
        ["proof bytes", "proof absent", "absent good", "good proof", "proof good --label nothing"]
    {
        let (code, out, error) = folder.check(arguments);
        assert_eq!((code, out.as_str()), (Some(3), ""), "{arguments}: {error}");
        assert!(!error.is_empty());
    }
    let (_, _, error) = folder.check("good proof");
    assert!(error.starts_with("good:1: not a certificate"), "{error}");
    for arguments in ["proof", "proof good more", "proof good --what", "proof good --label"] {
        let (code, _, error) = folder.check(arguments);
        assert!(code == Some(2) && error.starts_with("Usage: linsep-check CERTIFICATE DATA"), "{error}");
    }
    assert_eq!(folder.check("--help").0, Some(0));
}

/// Rows that other readers would not see prove nothing, so a file with two readings is not read at all.
#[test]
fn files_with_two_readings_are_refused() {
    let folder = Folder::new("readings");
    folder.write("proof", examples()[0]);
    // Every reader of CSV sees four rows here, which are not separable, and one that splits lines first sees five that are.
    let certificate = "linsep certificate 2\nfingerprint \"\"\nrows 5\nfeatures 1\npositive \"b\"\nnegative \"a\"\nbias free\n\
                       verdict complete\nweights 0:0x1p0 1:-0x5p0\nlower 0x0p0\nupper 0x1fffffffffffffp971\n\
                       combination\nat-least 0\nend\n";
    folder.write("m.cert", certificate);
    folder.write("m.csv", "x,note,k\n1,\"n,a\n9,m\",b\n1,p,a\n1,q,a\n8,r,b\n");
    let (code, out, error) = folder.check("m.cert m.csv --ignore note");
    assert_eq!((code, out.as_str()), (Some(3), ""), "{error}");
    assert!(error.starts_with("m.csv: line 2: a quote"), "{error}");
    // Each name has one text.
    folder.write("odd.cert", certificate.replace("positive \"b\"", "positive \"\\x\""));
    let (code, _, error) = folder.check("odd.cert m.csv --ignore note");
    assert!(code == Some(3) && error.contains("odd.cert:5: not a certificate"), "{error}");
    folder.write("plain.csv", "x,note,k\n1,n,a\n9,m,b\n1,p,a\n1,q,a\n8,r,b\n");
    let (code, out, error) = folder.check("m.cert plain.csv --ignore note");
    assert_eq!(code, Some(0), "the certificate is one of the plain rows: {out}{error}");

    let tables: [(&str, &str, &str); 30] = [
        ("2\tid:1:\n3\tno\n", "", "line 1 could be one of a LIBSVM file"),
        // A table of times for who divides it at tabs.
        ("2.5\t12:30\n3.5\t13:45\n2.5\t12:50\n3.5\t13:40\n", "", "line 1 holds a tab"),
        (
            "x,y,note,class\n2,1, \"n,a\",yes\n3,3, \"n,b\",yes\n0,1, \"n,c\",no\n",
            " --ignore 3",
            "line 2: a quote",
        ),
        ("x,y,class\n2,1, \"yes\"\n3,3,yes\n0,1,no\n", "", "line 2: a quote"),
        ("x,y,class\n2,1,\"yes\" \n3,3,yes\n0,1,no\n", "", "line 2: a quote"),
        ("5,7,k\n2,1,yes\n3,3,yes\n0,1,no\n", "", "no other row has the label of the first line"),
        (
            "x,y,class,n\n2,1,yes,1e300\n3,3,yes,1\n0,1,no,1\n",
            " --weights n --label class",
            "line 2: a row counts",
        ),
        (
            "a,b,x,y,class\n1,1,2,1,yes\n2,2,3,3,yes\n3,3,0,1,no\n",
            " --ignore a,b",
            "\"a,b\" may mean several columns",
        ),
        ("x,y,class,n\n2,1,yes,1\n3,3,yes,1\n0,1,no,1\n", " --weights n", "column 4 has two uses"),
        ("x,y,class\n2,1,\"\"yes\"\"\n3,3,yes\n0,1,no\n", "", "line 2: a quote"),
        ("x,y,class\n2,1,\"y\"\"s\"\n3,3,yes\n0,1,no\n", "", "line 2: a quote"),
        ("x,y,class\n2,1,ye\"s\n3,3,yes\n0,1,no\n", "", "line 2: a quote"),
        ("x,y,class\n2,1,\"yes\"s\n3,3,yes\n0,1,no\n", "", "line 2: a quote"),
        ("x,y,class\n2,1,nan\n3,3,yes\n0,1,no\n", "", "line 2: \"nan\" is no label"),
        ("x,y,class\n2,1,-inf\n3,3,yes\n0,1,no\n", "", "line 2: \"-inf\" is no label"),
        ("x,y,class\n2,1,NA\n3,3,yes\n0,1,no\n", "", "line 2: \"NA\" is no label"),
        ("x,y,class\n2,1,\n3,3,yes\n0,1,no\n", "", "line 2: the last cell is empty"),
        ("x,y,class\r2,1,yes\r3,3,yes\r0,1,no\n", "", "line 1 holds the character \\u{d}"),
        ("x,y,class\n2,1,ye\0s\n3,3,yes\n0,1,no\n", "", "line 2 holds the character \\u{0}"),
        ("x,y;z,class\n2,1,yes\n3,3,yes\n0,1,no\n", "", "it holds ',' and ';'"),
        ("yes|2|1\nyes|3|3\nno|0|1\n", " --label 1", "bars divide it"),
        ("# rows\n2,1,yes\n3,3,yes\n0,1,no\n", "", "line 1 holds a #"),
        ("0,1,2\n2,1,yes\n3,3,yes\n0,1,no\n", "", "line 1 may hold names or not"),
        ("x,y,class\n002,1,yes\n3,3,yes\n0,1,no\n", "", "line 2: \"002\" may be a code"),
        (
            "x,y,class\n9007199254740993,1,yes\n3,3,yes\n0,1,no\n",
            "",
            "line 2: \"9007199254740993\" may be a code",
        ),
        ("2,1,class\n3,3,1\n0,1,0\n", "", "line 2: a number may stand here below a word"),
        ("x,2,class,1\n2,1,yes,1\n3,3,yes,1\n0,1,no,1\n", " --label 1", "which column \"1\" means is open"),
        (
            "x,y,class,n\n2,1,yes,-1\n3,3,yes,1\n0,1,no,1\n",
            " --weights n --label class",
            "line 2: a row counts",
        ),
        ("yes 1:2 1:1\nyes 1:3 2:3\nno 2:1\n", "", "line 1: \"1:1\" is not index:value"),
        ("yes 1:2 4000000000:1\nyes 1:3 2:3\nno 2:1\n", "", "line 1: \"4000000000:1\" is not index:value"),
    ];
    for (table, options, why) in tables {
        folder.write("data", table);
        let (code, out, error) = folder.check(&format!("proof data{options}"));
        assert_eq!((code, out.as_str()), (Some(3), ""), "{table}{error}");
        assert!(error.starts_with(&format!("data: {why}")), "{table}{error}");
    }
}

/// Names of files and columns are shown, and no terminal obeys them.
#[test]
fn names_command_no_terminal() {
    let folder = Folder::new("names");
    folder.write("proof", examples()[0]);
    let evil = "\u{1b}[31m\nx\u{202e}y";
    folder.write(evil, "x\u{202e},y,class\n2,1,yes\n3,3,yes\n0,1,no\n");
    for files in [[evil, evil], ["proof", "\u{1b}absent\n"], ["proof", evil]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linsep-check"));
        let done = command.args(files).current_dir(&folder.0).output().unwrap();
        let text = String::from_utf8([done.stdout, done.stderr].concat()).unwrap();
        assert!(!text.contains(['\u{1b}', '\u{202e}']) && !text.contains("\nx\\u"), "{text:?}");
        assert!(text.contains("\\u{202e}") || text.contains("\\u{1b}absent\\n: "), "{text}");
    }
}

/// What one class is: numbers by their value, truth values in any letters, everything else as it stands, with the blanks
/// within its quotes.
#[test]
fn labels_mean_one_class_each() {
    let folder = Folder::new("labels");
    let certificate = |yes: &str, no: &str| {
        examples()[0].replace("\"yes\"", &format!("\"{yes}\"")).replace("\"no\"", &format!("\"{no}\""))
    };
    let table = |labels: [&str; 3]| {
        let [one, two, three] = labels;
        format!("x,y,class\n2,1,{one}\n3,3,{two}\n0,1,{three}\n")
    };
    for (yes, no, labels, accepted) in [
        ("TRUE", "false", ["true", "True", "FALSE"], true),
        ("yes", "NO", ["yEs", "YES", "no"], true),
        ("Red", "blue", ["Red", "Red", "blue"], true),
        ("Red", "blue", ["red", "Red", "blue"], false),
        (" a ", "a", ["\" a \"", "\" a \"", " a "], true),
        ("a", "b", ["\" a \"", "a", "b"], false),
        ("1", "0", ["+1", "1.0", "-0"], true),
        ("1.0", "0", ["1.0", "1.0", "0"], false),
    ] {
        folder.write("proof", certificate(yes, no));
        folder.write("data", table(labels));
        let (code, out, error) = folder.check("proof data");
        assert_eq!(code, Some(if accepted { 0 } else { 1 }), "{yes} {labels:?} {out}{error}");
    }
    folder.write("proof", certificate("TRUE", "true"));
    folder.write("data", table(["TRUE", "TRUE", "true"]));
    let (code, _, error) = folder.check("proof data");
    assert!(code == Some(3) && error.contains("the class \"true\" on both sides"), "{error}");
}

//! The promise of `linsep plot`: every kind is drawn, as one file that needs nothing from elsewhere; names from a data file
//! are text and never markup; the numbers are those of the other commands.

use crate::common::{Folder, Ran};
use roxmltree::Document;
use std::collections::BTreeSet;

const PETALS: &str = "--ignore sepal_length_cm,sepal_width_cm";

/// Every kind with what it needs on the irises.
fn kinds() -> Vec<(&'static str, String)> {
    let of = |kind: &'static str, more: &str| (kind, format!("plot {kind} iris.csv {more}"));
    vec![
        of("boundary", PETALS),
        of("trace", "--positive setosa"),
        of("learning", &format!("--positive setosa {PETALS}")),
        of("compare", "--learners perceptron,logistic --classes versicolor,virginica"),
        of("roc", "--positive virginica"),
        of("calibration", "--positive virginica --learner logistic"),
        of("weights", "--positive virginica"),
        of("effects", "--positive virginica"),
        of("separation", "--classes versicolor,virginica"),
        of("path", "--positive virginica --points 12 --penalty l1"),
    ]
}

/// Everything that a figure may consist of: no scripts, no links, no pictures of others, no foreign objects.
const ELEMENTS: [&str; 12] = [
    "svg",
    "title",
    "desc",
    "style",
    "rect",
    "path",
    "g",
    "text",
    "clipPath",
    "line",
    "animate",
    "animateTransform",
];

/// A figure that is well formed, and has nothing in it that reaches out or runs.
#[track_caller]
fn checked(svg: &str) -> Document<'_> {
    let document = Document::parse(svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        assert!(ELEMENTS.contains(&node.tag_name().name()), "<{}>", node.tag_name().name());
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            assert!(!name.starts_with("on") && !name.contains("href"), "{name}={value}");
            assert!(
                !value.contains("javascript:") && (!value.contains("url(") || value.starts_with("url(#")),
                "{value}"
            );
        }
    }
    // The name of the language is no address that is visited.
    let rest = svg.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    assert!(!rest.contains("http:") && !rest.contains("https:") && !rest.contains("@import"), "{rest}");
    document
}

/// All texts of a figure.
fn texts(svg: &str) -> String {
    let document = checked(svg);
    let texts = document
        .descendants()
        .filter(|node| node.is_text() && !node.parent().is_some_and(|p| p.has_tag_name("style")));
    texts.filter_map(|node| node.text()).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_kind_is_drawn_and_says_what_it_shows() {
    let folder = Folder::with_iris("iris.csv");
    for (kind, line) in kinds() {
        let ran = folder.linsep(&format!("{line} -q")).exits(0);
        let document = checked(&ran.out);
        let root = document.root_element();
        assert_eq!(root.attribute("role"), Some("img"), "{kind}");
        let by_id = |id: &str| {
            document.descendants().find(|node| node.attribute("id") == Some(id)).and_then(|node| node.text())
        };
        let names: Vec<&str> = root.attribute("aria-labelledby").unwrap_or_default().split(' ').collect();
        let [title, desc] = names[..] else { panic!("{kind}: {names:?}") };
        let (title, desc) = (by_id(title).unwrap_or_default(), by_id(desc).unwrap_or_default());
        assert!(title.starts_with("iris.csv") && title.len() > 20, "{kind}: {title}");
        assert!(desc.len() > 40 && desc.ends_with('.'), "{kind}: {desc}");
        // Both are also there for those who see.
        let seen = texts(&ran.out).replace('\u{a0}', " ");
        let flowing = seen.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flowing.matches(title).count() > 1 && flowing.matches(desc).count() > 1, "{kind}: {flowing}");
        // Light, dark and paper.
        assert!(ran.out.contains("prefers-color-scheme:dark") && ran.out.contains("@media print"), "{kind}");
        // The same picture from the same rows.
        assert_eq!(folder.linsep(&format!("{line} -q --threads 1")).exits(0).out, ran.out, "{kind}");
    }
    // Exactly these kinds exist.
    let help = folder.linsep("plot --help").exits(0).out;
    let listed: BTreeSet<&str> = help
        .lines()
        .filter(|line| line.starts_with("  ") && line.chars().nth(2).is_some_and(|c| c.is_ascii_lowercase()))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert_eq!(listed, kinds().iter().map(|(kind, _)| *kind).collect());
}

#[test]
fn a_picture_is_written_as_its_name_says() {
    let folder = Folder::with_iris("iris.csv");
    let svg = folder.linsep(&format!("plot boundary iris.csv {PETALS} -q")).exits(0).out;
    let written = folder.linsep(&format!("plot boundary iris.csv {PETALS} -o b.svg")).exits(0);
    assert!(written.out.is_empty(), "{}", written.out);
    assert_eq!(folder.text("b.svg"), svg);
    folder.linsep(&format!("plot boundary iris.csv {PETALS} -o b.html -q")).exits(0).keeps_silent();
    let page = folder.text("b.html");
    assert!(page.starts_with("<!doctype html>") && page.contains("default-src 'none'"));
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("<script"));
    folder.linsep(&format!("plot boundary iris.csv {PETALS} -o light.png -q")).exits(0);
    folder.linsep(&format!("plot boundary iris.csv {PETALS} -o dark.png --dark -q")).exits(0);
    for (name, corner) in [("light.png", [255, 255, 255]), ("dark.png", [0x12, 0x17, 0x1f])] {
        let (width, height, first) = png(&folder.read(name));
        assert!(width == 1440 && (800..3000).contains(&height), "{name}: {width} × {height}");
        assert_eq!(first, corner, "{name}");
    }
    // A moving picture stands still on paper.
    folder.linsep(&format!("plot learning iris.csv --positive setosa {PETALS} -o l.png -q")).exits(0);
    assert_eq!(png(&folder.read("l.png")).0, 1440);
    let moving = folder.linsep(&format!("plot learning iris.csv --positive setosa {PETALS} -q")).exits(0).out;
    assert!(moving.contains("<animate ") && moving.contains("prefers-reduced-motion"));
    assert_eq!(folder.names(), ["b.html", "b.svg", "dark.png", "iris.csv", "l.png", "light.png"]);
}

/// Width, height and the first dot of a PNG file, which has to be whole.
fn png(bytes: &[u8]) -> (u32, u32, [u8; 3]) {
    use std::io::Read;
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let (mut at, mut packed) = (8, Vec::new());
    while at < bytes.len() {
        let length = number(at) as usize;
        if &bytes[at + 4..at + 8] == b"IDAT" {
            packed.extend(&bytes[at + 8..at + 8 + length]);
        }
        at += 12 + length;
    }
    assert_eq!(&bytes[bytes.len() - 8..bytes.len() - 4], b"IEND");
    let mut dots = Vec::new();
    flate2::read::ZlibDecoder::new(&packed[..]).read_to_end(&mut dots).expect("dots");
    let (width, height) = (number(16), number(20));
    assert_eq!(dots.len(), (height as usize) * (1 + 4 * width as usize));
    // In the first line, the first dot is as it is, whatever the filter.
    (width, height, [dots[1], dots[2], dots[3]])
}

/// Names that would be markup, scripts or broken XML if they were believed.
const HOSTILE: [&str; 4] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "]]></style><style>*{display:none}</style>",
    "&lt;b&gt;&#x3c;\u{ffff}\u{202e}evil",
];

#[test]
fn hostile_names_are_text() {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let [first, second, positive, negative] = HOSTILE.map(quoted);
    let mut table = format!("{first},{second},label\n");
    for i in 0..60 {
        let (x, y) = (i % 11, i % 7);
        let label = if (x + y > 7) != (i % 13 == 0) { &positive } else { &negative };
        table.push_str(&format!("{x},{y},{label}\n"));
    }
    let name = "<svg onload=alert(2)>.csv";
    let folder = Folder::with(name, table);
    let run = |arguments: &[&str]| -> Ran {
        let mut command = folder.command("");
        command.args(arguments);
        Ran::new(&arguments.join(" "), command.output().expect("run linsep"))
    };
    for kind in [
        "boundary",
        "trace",
        "learning",
        "roc",
        "calibration",
        "weights",
        "effects",
        "separation",
        "path",
        "compare",
    ] {
        let mut arguments = vec!["plot", kind, name, "-q"];
        if kind == "compare" {
            arguments.extend(["--learners", "perceptron,logistic"]);
        }
        let ran = run(&arguments).exits(0);
        // Nothing of the names became an element or an attribute; what they say can be read.
        let seen = texts(&ran.out);
        assert!(seen.contains("<svg onload=alert(2)>.csv"), "{kind}: {seen}");
        assert!(!ran.out.contains('\u{ffff}') && !ran.out.contains('\u{202e}'), "{kind}");
        if ["boundary", "learning", "weights", "effects", "separation"].contains(&kind) {
            assert!(seen.contains("]]></style>"), "{kind}: {seen}");
        }
        arguments.extend(["-o", "page.html"]);
        run(&arguments).exits(0);
        let page = folder.text("page.html");
        for markup in ["<script", "<img", "onerror=alert(1)>\"", "<b>", "</style><style>*"] {
            assert!(!page.contains(markup), "{kind}: {markup} in the page");
        }
    }
}

/// The number after a text, as far as it goes.
#[track_caller]
fn after<'a>(text: &'a str, mark: &str) -> &'a str {
    let start = text.find(mark).unwrap_or_else(|| panic!("{mark:?} is not in {text}")) + mark.len();
    let end = text[start..]
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','))
        .unwrap_or(text.len() - start);
    text[start..start + end].trim_end_matches(['.', ','])
}

#[test]
fn the_numbers_are_those_of_the_other_commands() {
    let folder = Folder::with_iris("iris.csv");
    let drawn =
        |line: &str| texts(&folder.linsep(&format!("plot {line} -q")).exits(0).out).replace('\u{a0}', " ");
    let record = |line: &str| folder.linsep(&format!("{line} --json -q")).json();

    let of = "iris.csv --positive virginica";
    let trained = record(&format!("train {of} --holdout 0.25"));
    let auc = trained["holdout"]["auc"].as_f64().expect("an AUC");
    assert_eq!(after(&drawn(&format!("roc {of}")), "AUC "), format!("{auc:.4}"));
    let trained = record(&format!("train {of} --learner logistic --holdout 0.25"));
    let found = &trained["holdout"]["probabilities"];
    let seen = drawn(&format!("calibration {of} --learner logistic"));
    assert_eq!(after(&seen, "log loss "), format!("{:.4}", found["log_loss"].as_f64().expect("a loss")));
    assert_eq!(after(&seen, "Brier "), format!("{:.4}", found["brier"].as_f64().expect("a score")));

    // On a model: what evaluate says.
    folder.linsep(&format!("train {of} --learner logistic -o v.model -q")).exits(0);
    let judged = record("evaluate v.model iris.csv");
    let seen = drawn("roc iris.csv --model v.model");
    assert_eq!(after(&seen, "AUC "), format!("{:.4}", judged["auc"].as_f64().expect("an AUC")));
    assert!(seen.contains("training rows"), "{seen}");
    let seen = drawn("boundary iris.csv --model v.model");
    assert_eq!(after(&seen, "logistic: "), judged["errors"].to_string());

    let trained = record("train iris.csv --positive setosa --learner perceptron");
    let seen = drawn("trace iris.csv --positive setosa");
    assert_eq!(after(&seen, "iris.csv: "), trained["updates"].to_string());
    let most: f64 = after(&seen, "; at most ").replace(',', "").parse().expect("a number");
    let bound = trained["mistake_bound"]["upper"].as_f64().expect("a bound");
    assert!(most >= bound && most <= 1.001 * bound, "{most} {bound}");

    let decided = record(&format!("separate iris.csv --positive setosa {PETALS}"));
    let seen = drawn(&format!("separation iris.csv --positive setosa {PETALS}"));
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let (low, high) = (number(after(&seen, "is between ")), number(after(&seen, " and ")));
    let end = |name: &str| decided["margin"][name].as_f64().expect("an end");
    assert!(low <= end("lower") && low > 0.999 * end("lower"), "{low} {decided}");
    assert!(high >= end("upper") && high < 1.001 * end("upper"), "{high} {decided}");

    let decided = record("separate iris.csv --classes versicolor,virginica");
    let seen = drawn("separation iris.csv --classes versicolor,virginica");
    for row in decided["witness_rows"].as_array().expect("rows") {
        let share = 100.0 * row["share"].as_f64().expect("a share");
        assert!(seen.contains(&format!("line {}: {share:.2} %", row["line"])), "{row} {seen}");
    }

    let options = "iris.csv --learners perceptron,logistic,averaged --seed 3";
    let compared = record(&format!("compare {options}"));
    let seen = drawn(&format!("compare {options}"));
    for entry in compared["learners"].as_array().expect("learners") {
        let percent = |name: &str| format!("{:.2}", 100.0 * entry[name].as_f64().expect("a value"));
        let text = format!("{} ± {}", percent("value"), percent("value_error"));
        assert!(seen.contains(&text), "{text} {seen}");
    }

    let shown = record("inspect v.model");
    let seen = drawn("weights --model v.model");
    for entry in shown["strongest"].as_array().expect("weights") {
        let name = entry["feature"].as_str().expect("a name");
        let per_unit = entry["weight_per_unit"].as_f64().expect("a weight");
        let digits = format!("{:.3e}", per_unit.abs());
        let rounded: f64 = digits.parse().expect("a number");
        assert!(seen.contains(name) && seen.contains(&rounded.to_string()), "{name} {rounded} {seen}");
    }
}

#[test]
fn what_cannot_be_drawn_is_said_before_anything_is_written() {
    let folder = Folder::with_iris("iris.csv");
    let before = folder.names();
    for (line, parts) in [
        ("plot boundary iris.csv -o b.gif", vec!["b.gif", ".svg, .png or .html"]),
        ("plot boundary iris.csv -o b", vec![".svg, .png or .html"]),
        ("plot boundary iris.csv", vec!["3 classes on 4 features", "--positive CLASS"]),
        ("plot boundary iris.csv --positive setosa --learner kernel", vec!["kernel", "--ignore"]),
        ("plot trace iris.csv", vec!["--positive CLASS"]),
        ("plot trace iris.csv --positive setosa --learner svm", vec!["perceptron", "not svm"]),
        ("plot separation iris.csv", vec!["--positive CLASS", "--classes A,B"]),
        ("plot roc iris.csv", vec!["two classes", "--positive CLASS"]),
        ("plot path iris.csv --learner svm", vec!["logistic"]),
        ("plot boundary iris.csv --positive setosa -o b.svg --dark", vec!["--dark is for .png"]),
        ("plot weights", vec!["DATA"]),
        ("plot path iris.csv --positive virginica --points 1", vec!["--points", "2..=1000"]),
        ("plot compare iris.csv --orders 3", vec!["--orders is for linsep compare"]),
        ("plot weights iris.csv --class nothing", vec!["nothing", "setosa, versicolor, virginica"]),
        ("plot boundary - --positive setosa", vec!["standard input"]),
        ("plot pie iris.csv", vec!["pie"]),
    ] {
        folder.linsep(line).exits(2).says(&parts);
        assert_eq!(folder.names(), before, "{line}");
    }
    folder.write("data.svg", folder.text("iris.csv"));
    folder
        .linsep("plot boundary data.svg --positive setosa -o data.svg")
        .exits(2)
        .says(&["would be overwritten"]);
    folder
        .linsep("plot boundary iris.csv --positive setosa -o no/such/b.svg")
        .exits(3)
        .says(&["no/such/b.svg"]);
    folder.linsep("plot boundary none.csv -o b.svg").exits(3).says(&["none.csv"]);
    folder.write("bad.csv", "a,b,label\n1,2,x\n1,oops\n");
    folder.linsep("plot boundary bad.csv -o b.svg").exits(3).says(&["bad.csv"]);
    assert!(!folder.has("b.svg"));
}

#[test]
fn a_trace_has_what_a_picture_needs() {
    let folder = Folder::with_iris("iris.csv");
    folder
        .linsep("train iris.csv --positive setosa --learner perceptron --trace t.jsonl -o p.model -q")
        .exits(0);
    let points = |name: &str| -> Vec<serde_json::Value> {
        folder.text(name).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let trace = points("t.jsonl");
    let last = trace.last().expect("a mistake");
    // The irises begin in line 2, below the header.
    assert!(trace.iter().all(|point| point["line"].as_u64() == point["row"].as_u64().map(|row| row + 1)));
    let model = folder.linsep("inspect p.model --json --top 10").json();
    let weights: Vec<f64> =
        last["weights"].as_array().expect("weights").iter().filter_map(serde_json::Value::as_f64).collect();
    assert_eq!(weights.len(), 5);
    assert_eq!(weights[4], model["intercept"].as_f64().expect("an intercept"));
    for entry in model["strongest"].as_array().expect("weights") {
        assert!(weights.contains(&entry["weight"].as_f64().expect("a weight")), "{entry}");
    }
    // Of many features, the line on the plane instead: that of the last boundary is x = 0.
    folder.linsep("generate blobs --rows 300 --features 80 -o wide.csv -q").exits(0);
    folder.linsep("train wide.csv --learner perceptron --trace w.jsonl -q").exits(0);
    let trace = points("w.jsonl");
    let line: Vec<f64> = trace.last().expect("a mistake")["projection"]
        .as_array()
        .expect("a line")
        .iter()
        .filter_map(serde_json::Value::as_f64)
        .collect();
    assert!(trace.iter().all(|point| point.get("weights").is_none()));
    assert!(line[0] > 0.0 && line[1].abs() < 1e-9 * line[0] && line[2].abs() < 1e-9 * line[0], "{line:?}");
    let drawn = folder.linsep("plot learning wide.csv -q").exits(0);
    assert!(texts(&drawn.out).contains("main direction across"));
}

#[test]
fn many_rows_are_thinned_for_the_picture_alone() {
    let folder = Folder::new();
    folder.linsep("generate blobs --rows 30000 -o blobs.csv -q").exits(0);
    let drawn = folder.linsep("plot boundary blobs.csv -q").exits(0);
    let seen = texts(&drawn.out);
    assert!(seen.contains("4,000 of the 30,000 rows are drawn") && seen.contains("30,000 rows"), "{seen}");
    assert!(drawn.out.len() < 600_000, "{} bytes", drawn.out.len());
}

#[test]
fn a_curve_counts_rows_as_often_as_they_occur() {
    let folder = Folder::new();
    let (mut short, mut long) = ("a,b,n,label\n".to_string(), "a,b,label\n".to_string());
    for i in 0..60 {
        let (a, b, times) = (i * 7 % 13, i * 5 % 11, 1 + i * i % 4);
        let label = if a + b + i % 5 > 11 { "yes" } else { "no" };
        short.push_str(&format!("{a},{b},{times},{label}\n"));
        (0..times).for_each(|_| long.push_str(&format!("{a},{b},{label}\n")));
    }
    folder.write("rows.csv", &short);
    folder.write("long.csv", long);
    folder.linsep("train long.csv --learner logistic -o m.model -q").exits(0);
    // Drawn of rows with counts, and of the same rows written out: the same curve, with the AUC that evaluate gives.
    let counted = folder.linsep("plot roc rows.csv --weights n --model m.model -q").exits(0).out;
    let judged = folder.linsep("evaluate m.model rows.csv --weights n --json -q").exits(0).json();
    let auc = format!("{:.4}", judged["auc"].as_f64().expect("an AUC"));
    let seen = texts(&counted);
    assert_eq!(after(&seen, "AUC "), auc);
    assert!(seen.contains(&format!("on {} rows", judged["rows"])), "{seen}");
    let paths = |svg: &str| -> Vec<String> {
        let document = checked(svg);
        let paths = document.descendants().filter_map(|node| node.attribute("d").map(str::to_string));
        paths.collect()
    };
    let written_out = folder.linsep("plot roc long.csv --model m.model -q").exits(0).out;
    assert_eq!(paths(&counted), paths(&written_out));
    folder.write("once.csv", short.replace(",n,", ",other,"));
    let once = folder.linsep("plot roc once.csv --model m.model -q").exits(0).out;
    assert_ne!(paths(&counted), paths(&once));
    // And on a page: rows, mistakes and the curve.
    folder.linsep("report rows.csv --weights n --model m.model -o page.html -q").exits(0);
    let page = folder.text("page.html");
    let mistakes = format!("of {} mistakes on {} rows", judged["errors"], judged["rows"]);
    assert!(page.contains(&mistakes) && page.contains(&format!("AUC {auc} on {}", judged["rows"])), "{page}");
}

#[test]
fn the_best_learners_are_all_named() {
    let folder = Folder::with_iris("iris.csv");
    let of = "iris.csv --classes versicolor,virginica --learners perceptron,logistic,svm,max-margin";
    let compared = folder.linsep(&format!("compare {of} --json -q")).exits(0).json();
    let learners = compared["learners"].as_array().expect("learners");
    let best = learners[0]["value"].as_f64().expect("a value");
    let equal = learners.iter().filter(|entry| entry["value"] == learners[0]["value"]).count();
    let seen = texts(&folder.linsep(&format!("plot compare {of} -q")).exits(0).out).replace('\u{a0}', " ");
    let flowing = seen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains("of 3 learners with a model (1 has none), "), "{flowing}");
    let verb = if equal == 1 { "has" } else { "have" };
    assert!(flowing.contains(&format!("{verb} the lowest error, {:.2} %", 100.0 * best)), "{flowing}");
    // Setosa is easy: no learner is better than the others.
    let easy =
        "plot compare iris.csv --positive setosa --learners perceptron,averaged,logistic,svm,max-margin -q";
    let seen = texts(&folder.linsep(easy).exits(0).out).replace('\u{a0}', " ");
    let flowing = seen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains("and 3 others have the lowest error, 0.00 %"), "{flowing}");
}

#[test]
fn numbers_at_the_axes_differ_whatever_is_added_to_all() {
    let folder = Folder::new();
    let row =
        |i: i64| format!("{},{:e},{}\n", 1_700_000_000 + 3 * i, -1e-7 + 1e-12 * (i * 7 % 13) as f64, i > 20);
    folder.write("time.csv", format!("time,small,label\n{}", (0..40).map(row).collect::<String>()));
    for kind in ["boundary", "separation"] {
        let seen = texts(&folder.linsep(&format!("plot {kind} time.csv -q")).exits(0).out);
        let numbers: Vec<&str> = seen.lines().filter(|line| line.starts_with("1,700,000,")).collect();
        let distinct: BTreeSet<&str> = numbers.iter().copied().collect();
        assert!(numbers.len() > 2 && distinct.len() == numbers.len(), "{kind}: {seen}");
        let small: Vec<&str> =
            seen.lines().filter(|line| line.ends_with("e−8") || line.ends_with("e−7")).collect();
        let distinct: BTreeSet<&str> = small.iter().copied().collect();
        assert!(small.len() > 2 && distinct.len() == small.len(), "{kind}: {small:?}");
    }
}

#[test]
fn a_figure_speaks_of_nothing_that_there_is_not() {
    let folder = Folder::with_iris("iris.csv");
    let drawn = |line: &str| texts(&folder.linsep(&format!("plot {line} -q")).exits(0).out);
    // A separator that nobody found.
    let overlap = drawn(&format!("learning iris.csv --classes versicolor,virginica {PETALS} --epochs 20"));
    assert!(!overlap.contains("⟨θ_k, θ*⟩") && overlap.contains("none was found"), "{overlap}");
    let known = drawn(&format!("learning iris.csv --positive setosa {PETALS}"));
    assert!(known.contains("⟨θ_k, θ*⟩") && !known.contains("none was found"), "{known}");
    // Rows that are all the same: no boundary, and no weights.
    folder.write("same.csv", format!("a,b,label\n{}", "1,2,u\n1,2,v\n".repeat(10)));
    let same = drawn("boundary same.csv");
    assert!(same.contains("There is no boundary") && !same.contains("solid line"), "{same}");
    assert!(!same.lines().any(|line| line == "boundary"), "{same}");
    let same = drawn("learning same.csv");
    assert!(same.contains("no boundary to draw") && !same.lines().any(|line| line == "boundary"), "{same}");
    folder.linsep("plot path same.csv -o path.svg").exits(2).says(&["no path to plot"]);
    assert!(!folder.has("path.svg"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_no_picture() {
    let folder = Folder::new();
    folder.linsep("generate random-labels --rows 400 --features 30 -o data.csv -q").exits(0);
    let line = "plot trace data.csv --epochs 1000000000 -o t.svg";
    folder.linsep_interrupted(line).exits(130).says(&["interrupted"]);
    assert_eq!(folder.names(), ["data.csv"]);
}

#[test]
fn a_boundary_is_drawn_of_rows_that_count_more_than_once() {
    let folder = Folder::new();
    let (mut short, mut long) = ("a,b,n,label\n".to_string(), "a,b,label\n".to_string());
    for i in 0..40 {
        let (a, b, times) = (i * 7 % 13, i * 5 % 11, i % 4);
        let label = if a + b + i % 5 > 11 { "yes" } else { "no" };
        short.push_str(&format!("{a},{b},{times},{label}\n"));
        (0..times).for_each(|_| long.push_str(&format!("{a},{b},{label}\n")));
    }
    let occurring = short.lines().skip(1).filter(|line| line.split(',').nth(2) != Some("0")).count();
    folder.write("rows.csv", &short);
    folder.write("long.csv", &long);
    let mistakes = |svg: &str| {
        let seen = texts(svg);
        let end = seen.find(" mistakes").expect("mistakes");
        seen[..end].rsplit([' ', '\n']).next().unwrap_or_default().to_string()
    };
    let of = "--learner logistic --seed 1 -q";
    let counted = folder.linsep(&format!("plot boundary rows.csv --weights n {of}")).exits(0).out;
    let written_out = folder.linsep(&format!("plot boundary long.csv {of}")).exits(0).out;
    assert_eq!(mistakes(&counted), mistakes(&written_out));
    // Rows are counted as mistakes are.
    let count = |svg: &str| after(&texts(svg), "mistakes on ").to_string();
    let rows = long.lines().count() - 1;
    assert_eq!([count(&counted), count(&written_out)], [rows.to_string(), rows.to_string()]);
    let of_class = |label: &str| long.lines().filter(|line| line.ends_with(label)).count();
    let seen = texts(&counted).split_whitespace().collect::<Vec<_>>().join(" ");
    for label in ["yes", "no"] {
        assert!(seen.contains(&format!("{label} ({} rows)", of_class(&format!(",{label}")))), "{seen}");
    }
    assert!(seen.contains(&format!("{occurring} rows of the file stand for the {rows} rows")), "{seen}");
    // Each row that occurs is drawn once.
    let lines = counted.split("<title>line ").skip(1).filter_map(|rest| rest.split(':').next());
    assert_eq!(lines.collect::<BTreeSet<_>>().len(), occurring);
    folder.linsep("plot learning rows.csv --weights n --epochs 3 -q -o moving.svg").exits(0);
    checked(&folder.text("moving.svg"));
    folder.linsep(&format!("train rows.csv --weights n -o m.model {of}")).exits(0);
    let by_model = folder.linsep("plot boundary rows.csv --weights n --model m.model -q").exits(0).out;
    assert_eq!(mistakes(&by_model), mistakes(&counted));
    // The page has the boundary, and says how many rows stand for how many.
    folder.linsep("report rows.csv --weights n -q -o page.html").exits(0);
    let page = folder.text("page.html").replace('\u{a0}', " ");
    assert!(page.contains("All rows of the file, as the model sees them"), "{page}");
    assert!(
        page.contains(&format!("{rows}, counted with their weights: {occurring} rows in the file")),
        "{page}"
    );
}

/// A file of counts means what a column of them means: in every picture, in a verdict and its proof, and on a page.
#[test]
fn a_file_of_counts_means_what_a_column_means() {
    let folder = Folder::new();
    let (mut column, mut file, mut plain) = ("a,b,n,label\n".to_string(), String::new(), String::new());
    for i in 0..40 {
        let (a, b, times) = (i * 7 % 13, i * 5 % 11, i % 4);
        // Those that would overlap do not occur.
        let label = if (a + b > 11) == (times > 0) { "yes" } else { "no" };
        column.push_str(&format!("{a},{b},{times},{label}\n"));
        plain.push_str(&format!("{a},{b},{label}\n"));
        file.push_str(&format!("{times}\n"));
    }
    for (name, table) in [("column", column), ("file", format!("a,b,label\n{plain}"))] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
        folder.write(&format!("{name}/rows.csv"), table);
    }
    folder.write("counts", &file);
    folder.write("shares", file.replace('3', "2.5"));
    for kind in ["boundary", "learning", "trace", "roc", "separation"] {
        let of = |rows: &str| folder.linsep(&format!("plot {kind} {rows} -q")).exits(0).out;
        assert_eq!(of("file/rows.csv --weights counts"), of("column/rows.csv --weights n"), "{kind}");
    }
    // Without the counts, rows overlap.
    folder.linsep("separate file/rows.csv -q").exits(1);
    let separated = folder.linsep("separate file/rows.csv --weights counts -o proof").exits(0);
    assert!(separated.out.contains("linsep verify proof file/rows.csv --weights counts"), "{separated:?}");
    folder.linsep("verify proof file/rows.csv --weights counts -q").exits(0);
    folder.linsep("verify proof file/rows.csv -q").exits(1);
    let refused = folder.linsep("separate file/rows.csv --weights counts --skip-bad").exits(2);
    refused.says(&["--weights has one number for each row", "--skip-bad"]);
    let page = |rows: &str| {
        let page = folder.linsep(&format!("report {rows} --time 2 -q")).exits(0).out;
        assert!(page.contains("The classes are proved to be completely separable"), "{page}");
        page.split("<section id=\"model\">").next().unwrap_or_default().replace("column/", "file/")
    };
    let rows = |page: &str| after(page, "<dt>Rows</dt><dd>").to_string();
    let (by_file, by_column) = (page("file/rows.csv --weights counts"), page("column/rows.csv --weights n"));
    assert_eq!(rows(&by_file), rows(&by_column));
    assert_eq!(by_file.matches("rows").count(), by_column.matches("rows").count());
    // Weights that are no counts have a page too, but no trace of theirs is written.
    folder.linsep("report file/rows.csv --weights shares --time 2 -q -o page.html").exits(0);
    let train = "train file/rows.csv --learner perceptron --trace t.jsonl -q --weights";
    folder.linsep(&format!("{train} shares")).exits(2).says(&["whole-number row weights"]);
    folder.linsep(&format!("{train} counts")).exits(0);
}

/// The curves of a path are those of the weights that the penalty weighs, whatever the units of the file.
#[test]
fn a_path_is_that_of_scaled_features() {
    let folder = Folder::with_iris("iris.csv");
    let lines: Vec<String> = folder.text("iris.csv").lines().map(str::to_string).collect();
    // The first column in another unit.
    let micrometres = |line: &String| {
        let (first, rest) = line.split_once(',').expect("cells");
        first.parse::<f64>().map_or(line.clone(), |x| format!("{},{rest}", 1e4 * x))
    };
    folder.write("small.csv", lines.iter().map(micrometres).collect::<Vec<_>>().join("\n"));
    let drawn = |file: &str, penalty: &str| {
        let line = format!("plot path {file} --positive virginica --points 12 --penalty {penalty} -q");
        texts(&folder.linsep(&line).exits(0).out).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let seen = drawn("iris.csv", "l1");
    assert_eq!(drawn("small.csv", "l1").replace("small.csv", "iris.csv"), seen);
    assert!(
        seen.contains("Each curve is the weight of a scaled feature") && seen.contains(" of 4 weights"),
        "{seen}"
    );
    assert!(seen.contains("leave zero first") && !drawn("iris.csv", "l2").contains("leave zero"), "{seen}");
}

/// A weight that returns to zero is drawn there, and every curve goes on to the end.
#[test]
fn a_path_shows_weights_of_zero() {
    let mut state = 7u64;
    let mut next = || {
        state = (state * 1_103_515_245 + 12_345) % (1 << 31);
        (state >> 16) as i64 % 201 - 100
    };
    let mut table = "a,b,c,label\n".to_string();
    for _ in 0..200 {
        // The third column is like the sum of the others, and needed only while the penalty is large.
        let (a, b) = (next(), next());
        let c = a + b + (next() * 7).div_euclid(10);
        let label = if a + b + (next() * 3).div_euclid(2) > 0 { "yes" } else { "no" };
        table.push_str(&format!("{a},{b},{c},{label}\n"));
    }
    let folder = Folder::with("rows.csv", table);
    let of = "rows.csv --learner logistic --penalty l1 --C 1 -q";
    let trained = folder.linsep(&format!("train {of} --path 20 --json")).exits(0).json();
    let path = trained["path"].as_array().expect("a path").iter();
    let has = |point: &serde_json::Value| point["classes"][0]["weights"].to_string().contains("\"c\"");
    let there: Vec<bool> = path.map(has).collect();
    assert!(there[1] && there[19] && !there[10], "{there:?}");
    let svg = folder.linsep(&format!("plot path {of} --points 20")).exits(0).out;
    let document = checked(&svg);
    let curves = document.descendants().filter(|node| node.attribute("class") == Some("s-c2"));
    let longest = curves.filter_map(|node| Some(node.attribute("d")?.matches('L').count())).max();
    assert_eq!(longest, Some(19), "{svg}");
}

/// Where a model has products of columns, the strongest are drawn, and how many there are is said.
#[test]
fn products_of_columns_are_drawn() {
    let folder = Folder::new();
    let mut table = "age,income,sex,label\n".to_string();
    for i in 0..200 {
        let (age, income) = (20 + i * 7 % 41, 1000 + i * 131 % 4000);
        let sex = if i % 3 == 0 { "f" } else { "m" };
        let score = (age as f64 - 40.0) * (income as f64 - 3000.0) * if sex == "f" { -1.0 } else { 1.0 };
        table.push_str(&format!("{age},{income},{sex},{}\n", if score > 0.0 { "yes" } else { "no" }));
    }
    folder.write("rows.csv", table);
    folder.linsep("train rows.csv --features pairs -o m.model -q").exits(0);
    let products = folder.linsep("inspect m.model --json").exits(0).json()["product_effects"].clone();
    let products = products.as_array().expect("products");
    let seen = texts(&folder.linsep("plot effects --model m.model -q").exits(0).out);
    let seen = seen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(products.len() > 2 && seen.contains("Panels with × are products"), "{seen}");
    for product in products.iter().take(6) {
        let name = product["product"].as_str().expect("a name");
        assert!(seen.contains(name), "{name}: {seen}");
    }
    assert!(seen.contains("along age; solid: income = ") && seen.contains("where there is sex=f"), "{seen}");
    assert_eq!(seen.contains(" products are drawn"), products.len() > 6, "{seen}");
    let listed = folder.linsep("inspect m.model --effects --top 2").exits(0).out;
    assert!(listed.contains(&format!("Products of pairs of columns, 2 of {}", products.len())), "{listed}");
}

/// What the panels of columns hold for is said of each: at its mean, or at 0 where a column is not centred.
#[test]
fn columns_that_are_not_centred_are_said_to_be_at_zero() {
    let folder = Folder::new();
    let (mut sparse, mut dense) = (String::new(), "age,debt,label\n".to_string());
    for i in 0..240 {
        let (age, debt) = (20 + i * 7 % 41, if i % 8 == 0 { 100 + i * 131 % 900 } else { 0 });
        let label = if (age > 40) == (debt > 500) { "-1" } else { "1" };
        let own = if debt > 0 { format!(" 2:{debt}") } else { String::new() };
        sparse.push_str(&format!("{label} 1:{age}{own} {}:1\n", 3 + i % 20));
        dense.push_str(&format!("{age},{debt},{label}\n"));
    }
    folder.write("sparse.svm", sparse);
    folder.write("dense.csv", dense);
    for (rows, at, above) in [
        ("sparse.svm", "at their means (at 0: 2), and", "above their means (above 0: 2), words"),
        ("dense.csv", "at their means, and", "above their means, words"),
    ] {
        folder.linsep(&format!("train {rows} --features pairs -o m.model -q")).exits(0);
        let seen = texts(&folder.linsep("plot effects --model m.model -q").exits(0).out);
        let drawn = seen.split_whitespace().collect::<Vec<_>>().join(" ");
        let listed = folder.linsep("inspect m.model --effects").exits(0).out;
        let listed = listed.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(drawn.contains(at) && listed.contains(at) && listed.contains(above), "{drawn} {listed}");
    }
}

/// A picture that stands still shows the ring that its text speaks of: around the row of the last mistake.
#[test]
fn a_still_picture_of_learning_has_its_ring() {
    let folder = Folder::with_iris("iris.csv");
    let line = format!("plot learning iris.csv --positive setosa {PETALS} -q");
    let svg = folder.linsep(&line).exits(0).out;
    assert!(texts(&svg).contains("the row that was mistaken"));
    let document = checked(&svg);
    let is_still_ring = |node: &roxmltree::Node<'_, '_>| {
        let still = node.attribute("class").is_some_and(|class| class.split(' ').any(|own| own == "still"));
        still && node.attribute("d").is_some_and(|path| path.contains(['a', 'A']))
    };
    assert_eq!(document.descendants().filter(is_still_ring).count(), 1, "{svg}");
}

/// Numbers of four digits at an axis may be years.
#[test]
fn years_have_no_comma() {
    let folder = Folder::new();
    let row =
        |i: u32| format!("{},{},{}\n", 2000 + i % 12, i * 7 % 10, if i % 12 > 5 { "yes" } else { "no" });
    folder.write("rows.csv", format!("year,size,label\n{}", (0..60).map(row).collect::<String>()));
    let seen = texts(&folder.linsep("plot boundary rows.csv -q").exits(0).out);
    assert!(seen.contains("\n2004") && !seen.contains("2,00"), "{seen}");
}

#[test]
fn a_memoriser_has_no_boundary() {
    let folder = Folder::with_iris("iris.csv");
    let line =
        format!("plot boundary iris.csv {PETALS} --classes versicolor,virginica --learner memoriser -q");
    let seen = texts(&folder.linsep(&line).exits(0).out).replace('\u{a0}', " ");
    assert!(seen.contains("There is no boundary: a memoriser") && !seen.contains("outside"), "{seen}");
}

/// A run of one mistake has curves of one point, which are dots.
#[test]
fn one_mistake_is_seen() {
    let folder = Folder::new();
    folder.write("rows.csv", "x,label\n1,b\n2,b\n3,b\n-1,a\n-2,a\n");
    let of = "--scale none --order given --bias none --learner perceptron -q";
    let seen = folder.linsep(&format!("plot trace rows.csv {of}")).exits(0).out;
    let document = checked(&seen);
    let text: String = document.descendants().filter_map(|node| node.text()).collect();
    assert!(text.contains("k = 1 mistake was made.") && text.contains("rows.csv: 1 mistake"), "{text}");
    // A dot for the passes, one for the cosine and one for the margin.
    let is_dot = |node: &roxmltree::Node<'_, '_>| {
        let filled = node.attribute("class").is_some_and(|class| class.split(' ').any(|ink| ink == "f-c0"));
        filled && node.attribute("d").is_some_and(|path| path.contains(['a', 'A']))
    };
    assert_eq!(document.descendants().filter(is_dot).count(), 3);
}

//! What the program prints and saves: exact records, exact models, however the rows come in.

use crate::common::Folder;
use serde_json::Value;

const LEARNERS: [&str; 3] = ["perceptron", "averaged", "voted"];

/// Rows with numbers and words, in no class order.
const TABLE: &str = "size,colour,weight,kind\n\
    1.5,red,0.25,apple\n-2,green,1e-3,pear\n0,red,3.75,pear\n4.125,\"dark, red\",-1,apple\n\
    2,green,0.1,apple\n-1,yellow,2,pear\n0.3,green,0.7,apple\n-0.5,\"dark, red\",0,pear\n";
const NUMBERED: &str =
    "+1 1:0.5 3:2\n-1 2:1.5 7:0.1\n-1 1:2\n+1 2:1 3:-1\n+1 7:3\n-1 3:0.3 7:-0.2\n+1 1:-1 2:-1\n";

fn iris() -> Folder {
    let folder = Folder::new();
    folder.linsep("demo iris --export data -q").exits(0).keeps_silent();
    folder
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// All weights and the intercept, as the model has them.
fn weights(folder: &Folder, model: &str) -> (Value, Value) {
    let shown = folder.linsep(&format!("inspect {model} --json --top 1000000")).exits(0).json();
    (shown["strongest"].clone(), shown["intercept"].clone())
}

#[test]
fn json_is_one_record_with_all_fields() {
    let folder = iris();
    let ran = folder.linsep("train data --positive setosa --json -q").exits(0).keeps_silent();
    let report = ran.json();
    let record = report.as_object().expect("one object");
    for field in [
        "learner",
        "examples",
        "features",
        "nonzeros",
        "epochs",
        "updates",
        "converged",
        "training_error",
        "radius",
        "margin",
        "mistake_bound",
        "seconds",
        "threads",
    ] {
        assert!(record.contains_key(field), "{field}: {report}");
    }
    assert!(!record.contains_key("holdout_error"));
    assert_eq!(report["learner"], "averaged");
    assert_eq!((&report["examples"], &report["features"]), (&150.into(), &4.into()));
    assert_eq!((&report["converged"], &report["training_error"]), (&true.into(), &0.0.into()));
    let (low, high) = (number(&report["margin"]["lower"]), number(&report["margin"]["upper"]));
    assert!(0.0 < low && low <= high);
    let bound = &report["mistake_bound"];
    assert!(number(&bound["lower"]) <= number(&bound["upper"]));
    assert!(number(&report["updates"]) <= number(&bound["upper"]), "Novikoff's theorem");
    let radius = number(&report["radius"]);
    assert!((radius / low).powi(2) <= number(&bound["upper"]) * (1.0 + 1e-9));
    for time in ["read", "train"] {
        assert!(number(&report["seconds"][time]) >= 0.0);
    }

    let held =
        folder.linsep("train data --positive setosa --json -q --holdout 0.2 --threads 1").exits(0).json();
    assert_eq!((&held["holdout_error"], &held["holdout_rows"]), (&0.0.into(), &30.into()));
    assert_eq!((&held["examples"], &held["threads"]), (&120.into(), &1.into()));

    let stream = folder.linsep("train data --positive setosa --json -q --online").exits(0).json();
    assert_eq!((&stream["training_error"], &stream["epochs"]), (&Value::Null, &1.into()));
    assert!(number(&stream["progressive_error"]) > 0.0);

    // Without --quiet there is still nothing else on standard output.
    let ran = folder.linsep("train data --positive setosa --json --online").exits(0);
    ran.json();
    assert!(ran.err.contains("note: online learning"));
}

#[test]
fn quiet_leaves_standard_error_empty() {
    let folder = iris();
    for line in [
        "train data --positive setosa -q -o model",
        "train data --positive setosa -q --online",
        "train data --positive setosa -q --holdout 0.3 --trace trace --teaching-set set --checkpoint run",
        "predict model data -q",
        "evaluate model data -q",
        "inspect model -q",
        "generate xor -q",
        "demo iris -q",
    ] {
        let ran = folder.linsep(line).exits(0).keeps_silent();
        assert!(!ran.out.is_empty(), "{line}");
    }
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let folder = Folder::new();
    // More than one block of text for each thread.
    folder.linsep("generate text --size 7MB --features 2000 -o text -q").exits(0);
    folder.linsep("generate blobs --rows 30000 --features 5 -o blobs -q").exits(0);
    for arguments in [
        "text --epochs 3",
        "text --epochs 3 --scale standard --holdout 0.25",
        "text --online",
        "blobs --epochs 3 --scale standard",
        "blobs --online --learner perceptron",
    ] {
        let mut models = Vec::new();
        let mut labels = Vec::new();
        for threads in [1, 2, 5] {
            folder.linsep(&format!("train {arguments} -q -o model --threads {threads}")).exits(0);
            models.push(folder.read("model"));
            let data = arguments.split(' ').next().expect("data");
            let line = format!("predict model {data} -q --show score --threads {threads}");
            labels.push(folder.linsep(&line).exits(0).out);
        }
        assert!(models[0] == models[1] && models[0] == models[2], "{arguments}");
        assert!(labels[0] == labels[1] && labels[0] == labels[2], "{arguments}");
    }
    folder.linsep("generate blobs --rows 2000 -o small -q").exits(0);
    folder.linsep("train small --learner voted -q -o one --threads 1").exits(0);
    folder.linsep("train small --learner voted -q -o five --threads 5").exits(0);
    assert_eq!(folder.read("one"), folder.read("five"));
}

#[test]
fn rows_from_memory_a_stream_a_pipe_or_an_archive_give_the_same_model() {
    let zero_based = NUMBERED.replace(" 1:", " 0:");
    for content in [TABLE, NUMBERED, &zero_based] {
        let folder = Folder::with("data", content);
        folder.write("data.gz", crate::common::gzip(content.as_bytes()));
        folder.write("data.zst", crate::common::zstd(content.as_bytes()));
        for learner in LEARNERS {
            let arguments = format!("-q --learner {learner} --epochs 1 --order given --scale none");
            folder.linsep(&format!("train data -o memory {arguments}")).exits(0);
            let expected = weights(&folder, "memory");
            assert!(expected.0.as_array().is_some_and(|weights| !weights.is_empty()));
            let scores = folder.linsep("predict memory data --show score").exits(0).out;
            folder.linsep(&format!("train data --online -o stream {arguments}")).exits(0);
            let piped = format!("train - -o piped {arguments}");
            folder.linsep_with_input(&piped, content.as_bytes()).exits(0);
            let piped = format!("train - -o piped-archive {arguments}");
            folder.linsep_with_input(&piped, &folder.read("data.zst")).exits(0);
            for archive in ["gz", "zst"] {
                folder.linsep(&format!("train data.{archive} -o {archive} {arguments}")).exits(0);
                folder
                    .linsep(&format!("train data.{archive} --online -o {archive}-stream {arguments}"))
                    .exits(0);
                // A compressed file is the same file, down to its fingerprint.
                assert_eq!(folder.model(archive), folder.model("memory"));
                assert_eq!(folder.model(&format!("{archive}-stream")), folder.model("stream"));
            }
            for model in ["stream", "piped", "piped-archive", "gz-stream", "zst-stream"] {
                assert_eq!(weights(&folder, model), expected, "{learner}, {model}");
                let line = format!("predict {model} data --show score");
                assert_eq!(folder.linsep(&line).exits(0).out, scores, "{learner}, {model}");
            }
            assert_eq!(folder.model("piped"), folder.model("stream"));
        }
    }
}

#[test]
fn predictions_come_in_order_and_in_the_form_asked_for() {
    let folder = Folder::with("data", TABLE);
    folder.linsep("train data -q -o model --learner perceptron").exits(0);
    let labels = folder.linsep("predict model data").exits(0).out;
    let scores = folder.linsep("predict model data --show score").exits(0).out;
    let distances = folder.linsep("predict model data --show distance").exits(0).out;
    let table = folder.linsep("predict model data --csv").exits(0).out;
    let mut expected = "line,label,score,distance\n".to_string();
    for (i, ((label, score), distance)) in
        labels.lines().zip(scores.lines()).zip(distances.lines()).enumerate()
    {
        let number: f64 = score.parse().expect("a number");
        assert_eq!(label, if number >= 0.0 { "pear" } else { "apple" });
        assert!(distance.parse::<f64>().expect("a number") >= 0.0);
        expected.push_str(&format!("{},{label},{score},{distance}\n", i + 2));
    }
    assert_eq!((labels.lines().count(), &table), (8, &expected));

    // Each row by itself gets the label that it gets among the others.
    let mut alone = String::new();
    for row in TABLE.lines().skip(1) {
        folder.write("row", format!("size,colour,weight,kind\n{row}\n"));
        alone.push_str(&folder.linsep("predict model row").exits(0).out);
    }
    assert_eq!(alone, labels);

    // The same to a file, from a pipe, and without labels.
    folder.linsep("predict model data -o labels").exits(0);
    assert_eq!(folder.text("labels"), labels);
    assert_eq!(folder.linsep_with_input("predict model -", TABLE.as_bytes()).exits(0).out, labels);
    let unlabelled: String =
        TABLE.lines().map(|line| line.rsplit_once(',').expect("a comma").0.to_string() + "\n").collect();
    folder.write("unlabelled", unlabelled);
    assert_eq!(folder.linsep("predict model unlabelled").exits(0).out, labels);

    folder.write("numbered", NUMBERED);
    folder.linsep("train numbered -q -o model").exits(0);
    let labels = folder.linsep("predict model numbered").exits(0).out;
    assert!(labels.lines().all(|label| label == "1" || label == "-1"));
    let unlabelled: String =
        NUMBERED.lines().map(|line| line.split_once(' ').expect("a space").1.to_string() + "\n").collect();
    folder.write("unlabelled", unlabelled);
    assert_eq!(folder.linsep("predict model unlabelled").exits(0).out, labels);

    // A label that needs quotes gets them.
    folder.write("quoted", "a,kind\n1,\"x, \"\"y\"\"\"\n-1,z\n");
    folder.linsep("train quoted -q -o model").exits(0);
    let table = folder.linsep("predict model quoted --csv").exits(0).out;
    assert!(table.contains("\n2,\"x, \"\"y\"\"\","), "{table}");
}

#[test]
fn the_same_rows_get_the_same_scores_in_every_format() {
    let folder = Folder::with("table", "a,b,kind\n0,5,x\n1,0,y\n2,7,x\n0,0,y\n");
    folder.write("numbered", "x 2:5\ny 1:1\nx 1:2 2:7\ny\n");
    for scale in ["none", "max-abs", "standard", "unit-rows"] {
        for learner in LEARNERS {
            folder.linsep(&format!("train table -q -o model --scale {scale} --learner {learner}")).exits(0);
            let scores =
                |data: &str| folder.linsep(&format!("predict model {data} --show score -q")).exits(0).out;
            assert_eq!(scores("numbered"), scores("table"), "{scale}, {learner}");
        }
    }
}

#[test]
fn evaluation_agrees_with_counting_by_hand() {
    let folder = iris();
    for learner in LEARNERS {
        let line =
            format!("train data --classes versicolor,virginica --learner {learner} --epochs 3 -q -o model");
        folder.linsep(&line).exits(0);
        let content = folder.text("data");
        let kept: Vec<&str> = content.lines().filter(|line| !line.ends_with("setosa")).collect();
        folder.write("rows", kept.join("\n") + "\n");
        let truth: Vec<&str> =
            kept[1..].iter().map(|line| line.rsplit(',').next().expect("a label")).collect();
        let predicted = folder.linsep("predict model rows").exits(0).out;
        let count = |real: &str, said: &str| {
            truth.iter().zip(predicted.lines()).filter(|&(&a, b)| a == real && b == said).count() as u64
        };
        let (tp, fp) = (count("virginica", "virginica"), count("versicolor", "virginica"));
        let (tn, fne) = (count("versicolor", "versicolor"), count("virginica", "versicolor"));
        assert_eq!(tp + fp + tn + fne, 100);
        let found = folder.linsep("evaluate model rows --json").exits(0).json();
        for (field, expected) in [
            ("rows", 100),
            ("errors", fp + fne),
            ("true_positives", tp),
            ("false_positives", fp),
            ("true_negatives", tn),
            ("false_negatives", fne),
            ("skipped_rows", 0),
        ] {
            assert_eq!(found[field], expected, "{field}: {found}");
        }
        assert_eq!(number(&found["error"]), (fp + fne) as f64 / 100.0);
        if tp + fp > 0 {
            assert_eq!(number(&found["precision"]), tp as f64 / (tp + fp) as f64);
        }
        assert_eq!(number(&found["recall"]), tp as f64 / (tp + fne) as f64);
        assert_eq!(number(&found["negative_recall"]), tn as f64 / (tn + fp) as f64);
        // There are 50 rows of each: the mean of both shares is the share of all.
        assert!((number(&found["balanced_error"]) - number(&found["error"])).abs() < 1e-12);
        assert_eq!((number(&found["baseline_error"]), &found["baseline_class"]), (0.5, &"versicolor".into()));
        let scores: Vec<f64> = folder
            .linsep("predict model rows --show score")
            .exits(0)
            .out
            .lines()
            .map(|line| line.parse().expect("a number"))
            .collect();
        let side = |name: &str| {
            let name = name.to_string();
            truth
                .iter()
                .zip(&scores)
                .filter(move |pair| *pair.0 == name)
                .map(|pair| *pair.1)
                .collect::<Vec<f64>>()
        };
        let (positive, negative) = (side("virginica"), side("versicolor"));
        let wins: f64 = positive
            .iter()
            .flat_map(|a| {
                negative.iter().map(move |b| {
                    if a > b {
                        1.0
                    } else if a == b {
                        0.5
                    } else {
                        0.0
                    }
                })
            })
            .sum();
        assert!((number(&found["auc"]) - wins / 2500.0).abs() < 1e-12);
        let text = folder.linsep("evaluate model rows").exits(0).out;
        assert!(text.contains(&format!("({} of 100; 95 % interval ", fp + fne)), "{text}");
    }
}

#[test]
fn the_teaching_set_teaches_the_same_weights() {
    let folder = iris();
    folder.write("words", TABLE);
    for arguments in [
        "data --positive setosa",
        "data --positive setosa --order given --bias none",
        "data --classes versicolor,virginica --epochs 7",
        "data --positive virginica --epochs 5 --scale standard --bias-scale 3",
        "data --positive virginica --max-updates 50",
        "words --epochs 4",
    ] {
        let line = format!("train {arguments} --learner perceptron -q -o model --json --teaching-set set");
        let report = folder.linsep(&line).exits(0).json();
        let text = folder.text("set");
        let rows = text.lines().filter(|line| !line.starts_with('#')).count() as u64;
        assert_eq!(rows, report["updates"].as_u64().expect("updates"));
        // The file itself says how to learn from it.
        let command = text.lines().find_map(|line| line.strip_prefix("# linsep ")).expect("a command");
        let line = format!("{} -q -o taught --json", command.replace("THIS", "set"));
        let taught = folder.linsep(&line).exits(0).json();
        assert_eq!(taught["updates"], report["updates"], "{arguments}: every row teaches");
        let plain = |(weights, intercept): (Value, Value)| {
            let weights: Vec<Value> =
                weights.as_array().expect("weights").iter().map(|entry| entry["weight"].clone()).collect();
            (weights, intercept)
        };
        assert_eq!(plain(weights(&folder, "model")), plain(weights(&folder, "taught")), "{arguments}");
    }
}

#[test]
fn a_warm_start_takes_up_features_that_its_model_has_not_seen() {
    let folder = Folder::with("old", "-1 1:1\n+1 1:-1\n");
    folder.write("new", "1 1:1 2:1\n-1 1:-1\n1 3:2\n");
    for scale in ["none", "max-abs", "standard", "unit-rows"] {
        folder.linsep(&format!("train old --scale {scale} -o model")).exits(0);
        for online in ["", "--online"] {
            for learner in ["perceptron", "averaged", "voted"] {
                let line = format!("train new --init model --learner {learner} {online} -o warm --json");
                assert_eq!(folder.linsep(&line).exits(0).json()["features"], 3);
                folder.linsep("predict warm new").exits(0);
            }
        }
    }
    // What does not fit the model is refused.
    folder.write("table", "x,y\n1,-1\n2,1\n");
    folder.linsep("train table -o named").exits(0);
    folder.linsep("train new --init named").exits(2).says(&["data of another kind"]);
    folder.linsep("train table --init model").exits(2).says(&["data of another kind"]);
    folder.linsep("train new --init model --positive -1").exits(2).says(&["--positive must agree"]);
    folder.linsep("train new --init model --scale standard").exits(2).says(&["another --scale"]);
}

#[test]
fn scalings_bear_huge_and_tiny_values() {
    for size in ["1e300", "1e-300"] {
        let folder = Folder::with("data", format!("a,y\n{size},p\n-{size},q\n"));
        for scale in ["standard", "max-abs", "unit-rows"] {
            let line = format!("train data --scale {scale} --learner perceptron -o model --json");
            assert_eq!(folder.linsep(&line).exits(0).json()["converged"], true);
            folder.linsep("inspect model").exits(0);
            assert_eq!(folder.linsep("predict model data").exits(0).out, "p\nq\n");
        }
        folder.linsep("train data --bias none").exits(3).says(&["data: a row has length", "--scale"]);
    }
}

/// Every line of a trace must bear out the three inequalities of the proof; gives the number of lines.
fn check_trace(folder: &Folder, with_separator: bool) -> usize {
    let text = folder.text("trace");
    let mut last = 0.0;
    for line in text.lines() {
        let point: Value = serde_json::from_str(line).expect("JSON Lines");
        assert!(number(&point["update"]) > last, "updates come in order");
        last = number(&point["update"]);
        assert!(number(&point["norm_squared"]) <= number(&point["norm_squared_bound"]), "{line}");
        if with_separator {
            assert!(number(&point["alignment"]) >= number(&point["alignment_bound"]), "{line}");
            assert!(number(&point["cosine"]) >= number(&point["cosine_bound"]), "{line}");
            assert!(number(&point["cosine"]) <= 1.0 + 1e-9, "{line}");
        }
    }
    text.lines().count()
}

#[test]
fn the_trace_bears_out_the_proof() {
    let folder = iris();
    folder.linsep("generate blobs --rows 2000 --features 3 --margin 0.01 -o blobs -q").exits(0);
    folder
        .linsep("train blobs --learner perceptron -q -o separator --epochs 10000 --require-convergence")
        .exits(0);
    for (arguments, with_separator) in [
        ("data --positive setosa --learner perceptron", true),
        ("blobs --epochs 10000", true),
        ("blobs --epochs 10000 --order given --bias none", true),
        ("blobs --epochs 10000 --comparator separator --seed 3", true),
        ("data --classes versicolor,virginica --learner perceptron", false),
        ("blobs --online", false),
    ] {
        for points in [2, 10, 1000] {
            let line = format!("train {arguments} -q --trace trace --trace-points {points} --json");
            let updates = folder.linsep(&line).exits(0).json()["updates"].as_u64().expect("updates");
            let lines = check_trace(&folder, with_separator);
            assert!(lines <= points && lines as u64 <= updates, "{line}: {lines} lines");
            assert!(lines as u64 == updates || lines > points / 2, "{line}: {lines} lines of {updates}");
            let text = folder.text("trace");
            let end: Value = serde_json::from_str(text.lines().last().expect("a line")).expect("JSON");
            assert_eq!(end["update"], updates, "the last update is among the points");
        }
    }
}

#[test]
fn convergence_can_be_required() {
    let folder = iris();
    let ran =
        folder.linsep("train data --positive setosa --learner perceptron --require-convergence -v").exits(0);
    assert!(ran.out.contains("converged after"), "{}", ran.out);
    let meaning = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        meaning.contains(
            "It is proved that the classes are linearly separable: the run found weights that do it."
        ),
        "{meaning}"
    );

    let line = "train data --classes versicolor,virginica --learner perceptron -o model -v";
    folder.linsep(line).exits(0);
    let ran = folder.linsep(&format!("{line} --require-convergence")).exits(1);
    let meaning = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "not converged within 100 passes",
        "the classes are not linearly separable, proved, so no perceptron converges",
        "γ* ≤ 0 (appended bias)",
    ] {
        assert!(meaning.contains(part), "{meaning}");
    }
    // The answer is no, but it is an answer: the model is there.
    folder.linsep("inspect model").exits(0);
    let report = folder.linsep(&format!("{line} --require-convergence --json")).exits(1).json();
    assert_eq!((&report["converged"], &report["margin"]["lower"]), (&false.into(), &Value::Null));
    assert_eq!(report["mistake_bound"]["upper"], Value::Null);
}

#[test]
fn a_run_without_a_model_has_its_record_too() {
    let folder = Folder::with("data", "1 1:1\n-1 1:1\n1 1:2\n-1 1:3\n");
    let line = "train data --learner max-margin --json -o model";
    let ran = folder
        .linsep(line)
        .exits(1)
        .says(&["no boundary separates these rows: the classes overlap", "help: "]);
    let record = ran.json();
    assert_eq!((&record["status"], &record["converged"]), (&"no-margin".into(), &false.into()));
    assert_eq!((&record["model"], &record["examples"]), (&serde_json::Value::Null, &4.into()));
    assert_eq!(record["detail"]["verdict"], "overlap");
    // For people, the message says all there is.
    assert_eq!(folder.linsep("train data --learner max-margin -o model").exits(1).out, "");
    assert!(!folder.has("model"));
}

#[test]
fn columns_matched_by_position_are_said_to_be() {
    let folder = Folder::with("named", "a,b,y\n1,2,p\n2,3,n\n1,2,p\n-2,3,n\n");
    folder.write("bare", "1,2,p\n2,3,n\n");
    folder.write("numbered", "p 1:1 2:2\nn 1:2 2:3\n");
    for model in ["named", "bare", "numbered"] {
        folder.linsep(&format!("train {model} -q -o {model}.model")).exits(0);
    }
    let no_header =
        "note: The file has no header: its columns are matched with those of the model by their position.\n";
    let not_used = "note: The model stores no column names: the columns of the file are matched with its \
                    features by position, and the header is not used.\n";
    for (model, data, remark) in [
        ("named", "bare", no_header),
        ("named", "named", ""),
        ("bare", "named", not_used),
        ("bare", "bare", ""),
        ("numbered", "named", not_used),
        ("numbered", "bare", ""),
    ] {
        for command in ["predict", "evaluate"] {
            let line = format!("{command} {model}.model {data}");
            let ran = folder.linsep(&line).exits(0);
            let notes: String = ran
                .err
                .lines()
                .filter(|line| line.starts_with("note"))
                .map(|line| format!("{line}\n"))
                .collect();
            assert_eq!(notes, remark, "{line}");
        }
    }
    let ran = folder.linsep("train bare --init named.model --header no").exits(0).says(&[no_header]);
    assert_eq!(ran.err.matches("position").count(), 1, "{ran:?}");
}

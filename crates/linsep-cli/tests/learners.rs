//! The family from the outside: every learner trains, predicts, is judged and comes back from its file; wrong settings
//! are refused with the range and the reason; `compare` and `theory` print what they promise.

use crate::common::{Folder, learners};
use serde_json::Value;

#[test]
fn every_learner_tells_three_classes_apart() {
    let folder = Folder::with_iris("iris");
    // Two of the classes overlap, so there is no margin to maximise.
    for learner in learners().into_iter().filter(|&learner| learner != "max-margin") {
        let trained = folder
            .linsep(&format!(
                "train iris --learner {learner} --scale standard --epochs 50 -o {learner}.model --json"
            ))
            .exits(0)
            .json();
        assert_eq!(trained["learner"], learner);
        let names: Vec<&str> = trained["classes"]["names"]
            .as_array()
            .expect("classes")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert_eq!(names, ["setosa", "versicolor", "virginica"], "{learner}");
        // One against the rest tells about each class; what learns all of them together is one run.
        let boundaries = trained["boundaries"].as_array().map_or(0, Vec::len);
        assert_eq!(
            boundaries,
            if ["multiclass", "logistic"].contains(&learner) { 0 } else { 3 },
            "{learner}"
        );
        let error = trained["training_error"].as_f64().expect("a number");
        assert!(error < 0.35, "{learner}: {error}");

        let labels = folder.linsep(&format!("predict {learner}.model iris")).exits(0).out;
        let truth = folder.text("iris");
        let truth = truth.lines().skip(1).map(|line| line.rsplit(',').next().expect("label"));
        let wrong = labels.lines().zip(truth).filter(|(found, class)| found != class).count();
        assert_eq!(labels.lines().count(), 150);
        assert!((wrong as f64 / 150.0 - error).abs() < 1e-12, "{learner}: the file predicts as the run did");

        let judged = folder.linsep(&format!("evaluate {learner}.model iris --json")).exits(0).json();
        assert_eq!(judged["errors"], wrong as u64, "{learner}");
        let confusion: u64 = (0..3).map(|k| judged["confusion"][k][k].as_u64().expect("a count")).sum();
        assert_eq!(confusion, 150 - wrong as u64);
        folder.linsep(&format!("evaluate {learner}.model iris")).exits(0);
        folder.linsep(&format!("inspect {learner}.model")).exits(0);
        folder.linsep(&format!("predict {learner}.model iris --csv")).exits(0);
    }
}

#[test]
fn every_binary_learner_gives_the_same_model_for_any_number_of_threads() {
    let folder = Folder::with_iris("iris");
    for learner in learners() {
        let classes =
            if learner == "max-margin" { "--positive setosa" } else { "--classes versicolor,virginica" };
        let train = |threads: usize, model: &str| {
            let line = format!(
                "--threads {threads} train iris --learner {learner} {classes} --scale standard --epochs 20 -o {model} -q"
            );
            folder.linsep(&line).exits(0);
            folder.read(model)
        };
        assert_eq!(train(1, "one"), train(2, "two"), "{learner}");
    }
}

#[test]
fn shards_decide_and_threads_do_not() {
    let folder = Folder::with_iris("iris");
    let train = |threads: usize, options: &str| {
        let line = format!("--threads {threads} train iris --positive setosa {options} -o model --json");
        let report = folder.linsep(&line).exits(0).json();
        (folder.read("model"), report)
    };
    // One shard is the ordinary run.
    assert_eq!(train(2, "--shards 1").0, train(1, "").0);
    for options in ["--shards 5", "--shards 5 --mixing updates --learner perceptron", "--shards 1000"] {
        let (one, report) = train(1, options);
        assert!(one == train(3, options).0, "{options}");
        assert_eq!(report["converged"], true, "{options}");
        let (detail, bound) = (&report["detail"], &report["mistake_bound"]["upper"]);
        assert_eq!(detail["of"], "shards");
        let updates: Vec<u64> =
            detail["updates"].as_array().expect("updates").iter().filter_map(Value::as_u64).collect();
        assert_eq!(updates.len(), if options == "--shards 1000" { 150 } else { 5 });
        assert_eq!(updates.iter().sum::<u64>(), report["updates"].as_u64().expect("a count"));
        assert!(detail["mistakes"].as_f64() > Some(0.0) && detail["mistakes"].as_f64() <= bound.as_f64());
    }
    let text = folder.linsep("train iris --positive setosa --shards 5 -o model -v").exits(0).out;
    for part in
        ["5 shards mixed equally", "count as K =", "this mixture counts", "of its passes can make a mistake"]
    {
        let found = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(found.contains(part), "{part:?} is missing: {text}");
    }
    let shown = folder.linsep("inspect model --json").exits(0).json();
    assert_eq!((&shown["settings"]["shards"], &shown["settings"]["mixing"]), (&5.into(), &"uniform".into()));
    // With three classes each against the rest, in shards.
    let many = folder.linsep("train iris --shards 3 --epochs 20 --json").exits(0).json();
    assert_eq!(many["boundaries"][2]["evidence"]["detail"]["updates"].as_array().map(Vec::len), Some(3));
}

#[test]
fn wrong_settings_name_the_range_and_the_reason() {
    let folder = Folder::with_iris("iris");
    let pair = "--classes versicolor,virginica";
    for (options, parts) in [
        ("--learner margin --epsilon 0", ["above 0 and below 1", "best margin"]),
        ("--learner margin --epsilon 1", ["above 0 and below 1", "at least 1 − epsilon of the best margin"]),
        ("--learner margin --epsilon 1.5", ["above 0 and below 1", "best margin"]),
        ("--learner margin --epsilon nan", ["--epsilon is NaN", "above 0 and below 1"]),
        ("--learner margin --beta -1", ["from 0 to", "margin that every row is to have"]),
        ("--learner margin --agreement -0.5", ["from 0 to", "mistakes would not count"]),
        ("--learner batch --power 1.5", ["from 0 to 1", "finite"]),
        ("--learner batch --schedule power", ["--power", "from 0 to 1"]),
        ("--learner batch --step 0", ["from 0.001 to 1000", "length of the weights"]),
        ("--learner pocket --margin -1", ["margin", "0"]),
        ("--learner lifted --lift 0", ["above 0", "below 1"]),
        ("--learner lifted --lift 1", ["above 0", "below 1"]),
        ("--learner kernel --kernel poly --degree 0", ["degree 0", "1 or more"]),
        ("--learner kernel --gamma 0", ["gamma of a kernel is 0", "all kernel values are equal"]),
        ("--learner kernel --kernel poly --gamma 1e308", ["from 1e-100 to 1e100", "overflow"]),
        ("--learner kernel --kernel poly --degree -1", ["whole number", "from 1 to 100"]),
        ("--learner kernel --kernel poly --offset -1", ["offset", "0"]),
        ("--learner sgd --step -1", ["the step is -1; it must be above 0", "from 1e-100 to 1e100"]),
        ("--learner sgd --l2 -1", ["the L2 penalty is -1", "from 0 (no penalty) to 1e100"]),
        ("--learner sgd --power 2", ["from 0 to 1", "finite"]),
        ("--learner sgd --step 1 --l2 1", ["below 1", "each step shrinks the weights by that share"]),
        ("--learner sgd --combine vote", ["has --combine last and average", "vote is for kernel"]),
        ("--learner margin --epsilon 0.1 --beta 1", ["--epsilon, --beta and --agreement", "choose one"]),
        (
            "--learner kernel --kernel linear --gamma 1",
            ["--gamma is an option of --kernel poly and rbf", "linear"],
        ),
        ("--learner passive-aggressive --aggression full --C 1", ["--C does not apply", "--aggression full"]),
        ("--learner max-margin --gap 1", ["from 1e-15 and below 1", "relative to the margin"]),
        ("--learner kernel --kernel-cache much", ["500MB", "--kernel-cache"]),
        ("--learner svm --C 0", ["C must be", "from 1e-100 to 1e100: it is the weight of the loss"]),
        ("--learner svm --C -1", ["C must be", "from 1e-100 to 1e100: it is the weight of the loss"]),
        ("--learner svm --gap 0", ["gap", "above 0"]),
        ("--learner passive-aggressive --C 0", ["above 0", "it limits how far one row can move the weights"]),
        ("--learner svm --epsilon 0.1", ["--epsilon is an option of --learner margin", "not of svm"]),
        ("--learner svm --loss log", ["hinge and squared-hinge", "sgd"]),
        ("--learner voted --class-weight balanced", ["do not apply to the voted learner", "votes"]),
        (
            "--learner margin --class-weight versicolor=2",
            ["do not apply to the margin learner", "equal size"],
        ),
        ("--class-weight versicolor=0", ["above 0", "multiplies the weight of each row of the class"]),
        ("--class-weight half", ["balanced", "CLASS=WEIGHT"]),
        ("--class-weight rose=2", ["no row has the label", "rose"]),
        ("--learner batch --checkpoint save", ["one row at a time", "not for batch"]),
        ("--learner svm --trace proof", ["mistakes of a perceptron", "not svm"]),
        ("--learner svm --init first", ["starts at zero", "one row at a time"]),
        ("--learner multiclass --positive virginica", ["--positive", "multiclass"]),
        ("--learner svm --online", ["needs all rows", "svm"]),
        ("--shards 0", ["from 1 to 1024", "weights of its own"]),
        ("--shards 2000", ["from 1 to 1024", "not 2000"]),
        (
            "--learner voted --shards 4",
            ["perceptron and averaged learners, not for voted", "one sequential run"],
        ),
        ("--learner margin --shards 4", ["not for margin", "margin guarantee holds for a single run"]),
        ("--learner sgd --shards 4", ["not for sgd", "needs equal steps"]),
        ("--learner batch --shards 4", ["not for batch", "on all cores"]),
        (
            "--learner multiclass --shards 4",
            ["not for multiclass", "other learners train each class against the rest"],
        ),
        ("--learner svm --shards 4", ["not for svm", "there is nothing to mix"]),
        ("--shards 4 --init first", ["each shard has its own", "start at zero"]),
        ("--shards 4 --online", ["--shards", "needs all rows in memory"]),
        ("--shards 4 --trace proof", ["one sequential run", "several at once"]),
        ("--shards 4 --teaching-set rows", ["one sequential run", "several at once"]),
        ("--mixing uniform", ["--mixing needs", "--shards 2 or more"]),
        ("--learner sgd --online --order given --epochs 1 --l2 0.1", ["--step", "stream"]),
        ("--learner sgd --schedule adaptive --l2 0.1", ["no l2 penalty", "--schedule shrinking"]),
    ] {
        let classes = if options.contains("--online") { "" } else { pair };
        let ran = folder.linsep(&format!("train iris {classes} {options} -o model")).exits(2);
        let error = ran.err.to_lowercase();
        for part in parts {
            assert!(error.contains(&part.to_lowercase()), "{options}: {part:?} is missing in {}", ran.err);
        }
        assert!(!folder.has("model"), "{options} left a model");
    }
}

#[test]
fn without_a_margin_max_margin_says_so_and_leaves_no_model() {
    let folder = Folder::with_iris("iris");
    let overlap = "--learner max-margin --classes versicolor,virginica -o model";
    for options in [overlap, "--learner max-margin -o model", &format!("{overlap} --json")] {
        let ran = folder.linsep(&format!("train iris {options}")).exits(1);
        // A record that was asked for is printed whatever came of it; a report of a model would be one of none.
        if options.ends_with("--json") {
            let record: serde_json::Value = serde_json::from_str(&ran.out).expect("a record");
            assert_eq!((&record["status"], &record["converged"]), (&"no-margin".into(), &false.into()));
        } else {
            assert_eq!(ran.out, "", "{options}");
        }
        let rest =
            if options.contains("--classes") { "virginica against versicolor" } else { " against the rest" };
        ran.says(&["error: ", &format!("{rest}: no boundary separates these rows: the classes overlap")])
            .says(&["help: ", "separate lists the conflicting rows", "--learner svm"]);
        assert!(!folder.has("model"), "{options} left a model");
    }
    let ran = folder.linsep(&format!("train iris {overlap} --max-seconds 1e-9")).exits(4);
    ran.says(&["was not decided within the limits"]);
    assert!(!folder.has("model"));
}

#[test]
fn a_descent_that_runs_away_is_refused() {
    let folder = Folder::with_iris("iris");
    let line =
        "train iris --positive setosa --learner sgd --loss squared --step 10 --schedule constant -o model";
    folder.linsep(line).exits(2).says(&["training diverged: the weights overflowed", "--step"]);
    assert!(!folder.has("model"));
}

#[test]
fn weights_count_rows() {
    let folder = Folder::with_iris("iris");
    // A row of weight 2 is two rows, where the algorithm takes all at once.
    let (mut doubled, mut weights) = (String::new(), String::new());
    for (i, line) in folder.text("iris").lines().enumerate() {
        let times = if i % 3 == 1 { 2 } else { 1 };
        (0..if i == 0 { 1 } else { times }).for_each(|_| doubled.push_str(&format!("{line}\n")));
        if i > 0 {
            weights.push_str(&format!("{times}\n"));
        }
    }
    folder.write("doubled", doubled);
    folder.write("weights", weights);
    let objective = |line: &str| {
        let common =
            "--classes versicolor,virginica --learner svm --gap 1e-9 --epochs 100000 --json --scale none";
        let record = folder.linsep(&format!("train {line} {common}")).exits(0).json();
        record["detail"]["primal"].as_f64().expect("an objective")
    };
    let (a, b) = (objective("iris --weights weights"), objective("doubled"));
    assert!((a - b).abs() < 1e-7 * a, "{a} {b}");
    assert!((a - objective("iris")).abs() > 1e-3 * a, "weights change something");

    folder.write("few", "1\n2\n");
    folder.linsep("train iris --weights few").exits(3).says(&["2 weights for 150 rows"]);
    folder.write("bad", "1\nmuch\n");
    folder.linsep("train iris --weights bad").exits(3).says(&["bad:2", "much", "not a number"]);
    folder.write("negative", "1\n-1\n");
    folder.linsep("train iris --weights negative").exits(3).says(&["negative:2", "-1"]);
}

#[test]
fn balanced_weights_find_the_rare_class() {
    let folder = Folder::new();
    let rows: String = (0..200)
        .map(|i| {
            let rare = i % 20 == 0;
            let x = if rare { 0.4 } else { -0.4 } + f64::from((i * 37) % 100) / 60.0 - 0.8;
            format!("{x},{}\n", if rare { "rare" } else { "common" })
        })
        .collect();
    folder.write("rows", rows);
    let recall = |options: &str| {
        folder.linsep(&format!("train rows --positive rare --learner svm {options} -o model -q")).exits(0);
        folder.linsep("evaluate model rows --json").exits(0).json()["recall"].as_f64().expect("recall")
    };
    assert!(recall("--class-weight balanced") > recall("") + 0.2);
    assert_eq!(recall("--class-weight rare=19"), recall("--class-weight rare=19,common=1"));
}

#[test]
fn compare_is_a_table_sorted_by_held_out_error() {
    let folder = Folder::with_iris("iris");
    let line = "compare iris --scale standard --folds 3 --epochs 20";
    let record = folder.linsep(&format!("{line} --json")).exits(0).json();
    let entries = record["learners"].as_array().expect("learners");
    let mut names: Vec<&str> = entries.iter().filter_map(|entry| entry["learner"].as_str()).collect();
    let errors: Vec<f64> = entries.iter().filter_map(|entry| entry["held_out_error"].as_f64()).collect();
    assert!(errors.windows(2).all(|pair| pair[0] <= pair[1]), "{errors:?}");
    names.sort_unstable();
    let mut all = learners();
    all.sort_unstable();
    assert_eq!(names, all);
    let memoriser = entries.iter().find(|entry| entry["learner"] == "memoriser").expect("the baseline");
    assert_eq!(memoriser["training_error"], 0.0);
    assert!(memoriser["held_out_error"].as_f64().expect("a share") > 0.3);
    // Two of the classes overlap: the max-margin separator has nothing to show, and the others are judged all the same.
    let without = entries.last().expect("learners");
    assert_eq!((&without["learner"], &without["status"]), (&"max-margin".into(), &"no-margin".into()));
    assert_eq!((&without["training_error"], &without["held_out_error"]), (&Value::Null, &Value::Null));

    let text = folder.linsep(line).exits(0).out;
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "too wide: {line}");
    }
    assert!(text.contains("no margin") && text.contains("No model, because no boundary separates"), "{text}");
    assert!(text.contains("before converging: "), "{text}");
    let csv = folder.linsep(&format!("{line} --csv")).exits(0).out;
    assert_eq!(csv.lines().count(), 2 + learners().len());
    let columns = csv.lines().next().expect("header").split(',').count();
    assert!(csv.lines().all(|line| line.split(',').count() == columns));

    // A row of the table is what train says.
    let svm = entries.iter().find(|entry| entry["learner"] == "svm").expect("svm");
    let alone = folder.linsep("train iris --scale standard --learner svm --epochs 20 --json").exits(0).json();
    for field in ["training_error", "updates", "margin"] {
        assert_eq!(svm[field], alone[field], "{field}");
    }
}

/// A grid is each learner with each value, as train has it; the first line is what any of them must beat.
#[test]
fn compare_tries_grids_by_any_metric() {
    let folder = Folder::with_iris("iris");
    let task = "--classes versicolor,virginica --scale standard --folds 3";
    let line = format!("compare iris {task} --learners averaged,svm,logistic --C 0.01,1");
    let record = folder.linsep(&format!("{line} --json")).exits(0).json();
    let entries = record["learners"].as_array().expect("learners");
    let mut labels: Vec<&str> = entries.iter().filter_map(|entry| entry["label"].as_str()).collect();
    labels.sort_unstable();
    assert_eq!(labels, ["averaged", "logistic C=0.01", "logistic C=1", "svm C=0.01", "svm C=1"]);
    assert_eq!(record["baseline"]["error"], 0.5);
    for entry in entries {
        assert_eq!(entry["value"], entry["held_out_error"], "{entry}");
    }
    // A line of the grid is the comparison of that value alone.
    let alone = folder.linsep(&format!("compare iris {task} --learners svm --C 0.01 --json")).exits(0).json();
    let svm = entries.iter().find(|entry| entry["label"] == "svm C=0.01").expect("the grid has it");
    assert_eq!(alone["learners"][0]["label"], "svm");
    for field in ["held_out_error", "training_error", "updates", "settings"] {
        assert_eq!(alone["learners"][0][field], svm[field], "{field}");
    }
    let text = folder.linsep(&line).exits(0).out;
    let first = text.lines().skip_while(|line| !line.starts_with("learner")).nth(1).expect("a line");
    assert!(first.starts_with("majority class") && first.contains("50.00"), "{text}");

    for (metric, baseline) in [("balanced-error", 0.5), ("auc", 0.5), ("f1", 1.0), ("log-loss", 2f64.ln())] {
        let ran = folder.linsep(&format!("compare iris {task} --C 0.01,1 --metric {metric} --json")).exits(0);
        let record = ran.json();
        let value = record["baseline"]["value"].as_f64().expect("a number");
        // Of two classes of the same size, the first is answered: F1 of the second is 0.
        assert!((value - baseline).abs() < 1e-12, "{metric}: {value}");
        let values: Vec<f64> = record["learners"]
            .as_array()
            .expect("learners")
            .iter()
            .filter_map(|entry| entry["value"].as_f64())
            .collect();
        assert!(
            !values.is_empty() && values.is_sorted() && values[0] < baseline / 2.0,
            "{metric}: {values:?}"
        );
        assert_eq!(ran.err.contains("needs probabilities"), metric == "log-loss", "{}", ran.err);
    }
}

#[test]
fn compare_does_not_depend_on_the_number_of_threads() {
    let folder = Folder::with_iris("iris");
    let run = |threads: usize| {
        let line = format!(
            "--threads {threads} compare iris --scale standard --folds 4 --orders 3 --epochs 5 --json"
        );
        let mut record = folder.linsep(&line).exits(0).json();
        for entry in record["learners"].as_array_mut().expect("learners") {
            entry["seconds"] = Value::Null;
        }
        record
    };
    let (one, two) = (run(1), run(2));
    assert_eq!(one, two);
    let spread = &one["learners"][0]["orders"];
    assert_eq!(spread["orders"], 3);
}

#[test]
fn compare_bears_rare_classes() {
    let folder = Folder::new();
    let row = |i: usize, class: &str| format!("{},{},{class}\n", i % 7, (i * i) % 5);
    let common: String = (0..20).map(|i| row(i, if i % 2 == 0 { "a" } else { "b" })).collect();
    folder.write("three", format!("{common}{}", row(3, "rare")));
    let record = folder.linsep("compare three --folds 4 --epochs 5 --json").exits(0).json();
    assert_eq!(record["learners"].as_array().map(Vec::len), Some(learners().len()));
    folder.write("two", format!("{}{}", (0..9).map(|i| row(i, "a")).collect::<String>(), row(3, "rare")));
    let ran = folder.linsep("compare two --folds 3 --epochs 5").exits(2);
    assert!(ran.err.contains("class \"rare\" has 1 row, all in one fold"), "{ran:?}");
}

#[test]
fn nothing_is_said_of_new_rows_after_a_scaling_learned_from_all() {
    let folder = Folder::with_iris("iris");
    let bound = |scale: &str| {
        let line = format!("theory iris --positive setosa --scale {scale} --json");
        let story = folder.linsep(&line).exits(0).json()["error_bound"].clone();
        let line = format!("train iris --positive setosa --learner pocket --scale {scale} --json");
        (story, folder.linsep(&line).exits(0).json()["detail"]["error_bound"].clone())
    };
    for scale in ["standard", "max-abs"] {
        assert_eq!(bound(scale), (Value::Null, Value::Null), "{scale}");
    }
    for scale in ["none", "unit-rows"] {
        let (story, pocket) = bound(scale);
        assert!(story.is_number() && pocket.is_number(), "{scale}: {story} {pocket}");
    }
}

#[test]
fn the_next_steps_can_be_pasted() {
    let folder = Folder::with_iris("iris");
    folder.write("it's iris", folder.read("iris"));
    let data = folder.path("it's iris");
    let run = |line: &str| {
        let script = line.replacen("linsep ", &format!("{} ", crate::common::PROGRAM), 1);
        let shell =
            std::process::Command::new("sh").arg("-c").arg(&script).current_dir(folder.path("")).output();
        crate::common::Ran::new(line, shell.expect("a shell"))
    };
    let quoted = data.display().to_string().replace('\'', "'\\''");
    for options in [
        "--positive setosa --bias none --ignore petal_width_cm",
        "--classes versicolor,virginica --epochs 20",
    ] {
        let story = run(&format!("linsep theory '{quoted}' {options} -q")).exits(0).out;
        let steps: Vec<&str> =
            story.lines().map(str::trim).filter(|line| line.starts_with("linsep ")).collect();
        assert!(steps.len() >= 2, "{story}");
        for step in steps {
            assert!(step.contains("--ignore petal_width_cm") == options.contains("--ignore"), "{step}");
            // These two species overlap, so the answer is no.
            let code = i32::from(step.starts_with("linsep separate "));
            run(&format!("{step} -q")).exits(code);
        }
    }
}

#[test]
fn what_follows_one_run_is_refused_for_many_classes() {
    let folder = Folder::with_iris("iris");
    for option in ["--checkpoint save", "--trace proof", "--teaching-set rows"] {
        let ran = folder.linsep(&format!("train iris --learner perceptron {option}")).exits(2);
        assert!(ran.err.contains("3 classes need one run each"), "{ran:?}");
        assert!(!folder.has("save") && !folder.has("proof") && !folder.has("rows"));
    }
}

#[test]
fn compare_refuses_what_makes_no_sense() {
    let folder = Folder::with_iris("iris");
    for (options, part) in [
        ("--folds 1", "from 2 to the number of rows"),
        ("--folds 151", "from 2 to the number of rows"),
        ("--learners svm,svm", "svm twice"),
        ("--learners nonsense", "possible values"),
        ("--epochs 0", "at least 1"),
        ("--csv --json", "cannot be used with"),
        ("--learners voted --class-weight balanced", "do not apply to the voted learner"),
        ("--learners perceptron --C 1,2", "an option of --learner"),
        ("--C 1,0", "C must be a number from 1e-100 to 1e100"),
        ("--C 1,1.0", "twice"),
        ("--C 1,,2", "invalid value ''"),
        ("--learners svm --metric log-loss", "gives no probabilities"),
        ("--metric auc", "--positive CLASS"),
        ("--learners logistic --l1-ratio 0.2,0.8", "--penalty elastic-net"),
        ("--learners logistic --penalty l2,elastic-net --l1-ratio 0.2,0.8", "--penalty elastic-net"),
        (
            "--penalty elastic-net --C 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33 \
          --l1-ratio 0.01,0.02,0.03,0.04,0.05,0.06,0.07,0.08,0.09,0.1,0.11,0.12,0.13,0.14,0.15,0.16,0.17,0.18,0.19,0.2,\
          0.21,0.22,0.23,0.24,0.25,0.26,0.27,0.28,0.29,0.3,0.31,0.32,0.33",
            "at most 1000",
        ),
    ] {
        folder.linsep(&format!("compare iris {options}")).exits(2).says(&[part]);
    }
    // Without names, what cannot use weights is left out.
    let ran = folder.linsep("compare iris --class-weight balanced --folds 2 --epochs 3 --csv").exits(0);
    assert!(ran.err.contains("voted is left out") && !ran.out.contains("voted"), "{ran:?}");
}

#[test]
fn theory_tells_both_stories() {
    let folder = Folder::with_iris("iris");
    let story = folder.linsep("theory iris --positive setosa --json").exits(0).json();
    let (lower, upper) =
        (story["margin"]["lower"].as_f64().expect("separable"), story["margin"]["upper"].as_f64());
    assert!(lower > 0.0 && lower <= upper.expect("a bound"));
    assert_eq!(story["status"], "converged");
    let mistakes = story["mistakes"].as_f64().expect("a count");
    assert!(mistakes <= story["difficulty"]["upper"].as_f64().expect("a bound"));
    let subsets = story["subsets"].as_array().expect("subsets");
    let rows: Vec<u64> = subsets.iter().filter_map(|point| point["rows"].as_u64()).collect();
    assert!(rows.len() > 2 && rows.windows(2).all(|pair| pair[0] < pair[1]) && rows.last() == Some(&150));

    let text = folder.linsep("theory iris --positive setosa").exits(0).out;
    for part in [
        "The rows are linearly separable",
        "Novikoff's theorem",
        "Sample compression",
        "with probability 0.95",
        "Other orders",
        "Difficulty on fewer rows",
        "What to do next",
        "linsep train",
    ] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    let text = folder.linsep("theory iris --classes versicolor,virginica --epochs 50").exits(0).out;
    for part in
        ["No separator was found", "hinge losses", "The lifting lemma", "What to do next", "linsep compare"]
    {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    folder.linsep("theory iris").exits(3).says(&["3 classes", "--positive"]);
    folder.linsep("theory iris --positive setosa --delta 0").exits(2).says(&["above 0", "below 1"]);
    folder.linsep("theory iris --positive setosa --class-weight balanced").exits(2).says(&["weights"]);
}

#[test]
fn online_learners_learn_streams_as_files() {
    let folder = Folder::new();
    folder.linsep("generate blobs --rows 300 --seed 3 --format csv -o rows -q").exits(0);
    let rows = folder.read("rows");
    for learner in
        ["perceptron", "averaged", "voted", "margin", "sgd", "sgd --step 0.1 --l2 0.01", "passive-aggressive"]
    {
        let options = format!("--learner {learner} --epochs 1 --order given -q --scale none");
        folder.linsep(&format!("train rows {options} -o file.model --json")).exits(0);
        folder.linsep_with_input(&format!("train - {options} -o stream.model --json"), &rows).exits(0);
        let scores = |model: &str| folder.linsep(&format!("predict {model} rows --show score")).exits(0).out;
        assert_eq!(scores("file.model"), scores("stream.model"), "{learner}");
    }
    let line = "train - --learner svm --epochs 1 --order given --online";
    folder.linsep_with_input(line, &rows).exits(2).says(&["needs all rows at once"]);
}

#[test]
fn checkpoints_of_every_online_learner_go_on_where_they_were() {
    let folder = Folder::new();
    folder.linsep("generate blobs --rows 200 --seed 5 --margin 0.001 -o rows -q").exits(0);
    for learner in [
        "margin --epsilon 0.5",
        "sgd --loss log",
        "sgd --l2 0.01",
        "passive-aggressive --aggression softened",
    ] {
        let train =
            |options: &str| folder.linsep(&format!("train rows --learner {learner} {options} -q")).exits(0);
        train("--epochs 9 -o whole");
        train("--epochs 4 --checkpoint save --checkpoint-every 0");
        train("--epochs 9 --resume save -o resumed");
        assert_eq!(folder.read("whole"), folder.read("resumed"), "{learner}");
    }
}

/// The path begins where the first weight leaves zero, and ends at the model; the report names what is left.
#[test]
fn a_penalty_leaves_few_features_and_its_path_is_told() {
    let folder = Folder::with_iris("iris");
    let line = "train iris --positive virginica --learner logistic --penalty l1 --C 0.2 --gap 1e-9";
    let record = folder.linsep(&format!("{line} --path 6 --json -o model")).exits(0).json();
    let path = record["path"].as_array().expect("a path");
    assert_eq!(path.len(), 6);
    let weights = |point: &Value| point["classes"][0]["weights"].as_array().expect("weights").clone();
    // At the first point the steepest slope is just as large as the price.
    let size = |point: &Value| {
        let size = |pair: &Value| pair[1].as_f64().expect("a number").abs();
        weights(point).iter().map(size).fold(0.0, f64::max)
    };
    assert!(size(&path[0]) < 1e-6 && size(&path[1]) > 1e-3, "{path:?}");
    let prices: Vec<f64> = path.iter().filter_map(|point| point["C"].as_f64()).collect();
    assert!(prices.is_sorted() && prices[5] == 0.2, "{prices:?}");
    let inspected = folder.linsep("inspect model --json").exits(0).json();
    for pair in weights(&path[5]) {
        let own = inspected["strongest"].as_array().expect("weights").iter();
        let own = own.clone().find(|entry| entry["feature"] == pair[0]).expect("the same features");
        let (a, b) = (own["weight_per_unit"].as_f64().expect("scaled"), pair[1].as_f64().expect("a number"));
        assert!((a - b).abs() < 1e-3 * (1.0 + b.abs()), "{a} {b}");
    }
    assert!(weights(&path[5]).len() < 4, "{path:?}");
    let text = folder.linsep(line).exits(0).out;
    let left = text.lines().find(|line| line.starts_with("Left")).expect("the features left");
    for pair in weights(&path[5]) {
        assert!(left.contains(pair[0].as_str().expect("a name")), "{left}");
    }
    for (options, part) in [
        ("--learner svm --path 5 --json", "--learner logistic"),
        ("--learner logistic --penalty none --path 5 --json", "there is no penalty"),
        ("--learner logistic --path 1 --json", "from 2 to 1000"),
        ("--learner logistic --path 5", "--json"),
    ] {
        folder.linsep(&format!("train iris {options}")).exits(2).says(&[part]);
    }
}

/// One rule chooses the learner where none is named, and the report says why.
#[test]
fn the_learner_that_was_not_named_is_explained() {
    let folder = Folder::with_iris("iris");
    let wide: String = (0..40)
        .map(|i| {
            let cells: String = (0..50).map(|j| format!("{},", (i * 7 + j * j * 3 + i * j) % 11)).collect();
            format!("{cells}{}\n", if (i * 5) % 7 < 3 { "a" } else { "b" })
        })
        .collect();
    folder.write("wide.csv", wide);
    let pair = "--classes versicolor,virginica";
    for (arguments, learner, reason) in [
        (format!("iris {pair}"), "averaged perceptron", ""),
        ("iris".to_owned(), "multi-class", "because there are several classes"),
        ("wide.csv".to_owned(), "logistic regression", "because there are more features than rows"),
        (
            format!("iris {pair} --features splines"),
            "logistic regression",
            "because added features need a penalty",
        ),
        (format!("iris {pair} --learner logistic"), "logistic regression", ""),
        // Options that the usual learner does not have.
        (format!("iris {pair} --C 10"), "logistic regression", "because it has the given options"),
        ("wide.csv --C 10".to_owned(), "logistic regression", "because it has the given options"),
        ("iris --C 10".to_owned(), "logistic regression", "because it has the given options"),
        (format!("iris {pair} --loss hinge"), "support vector machine", "because it has the given options"),
        (format!("iris {pair} --lift 0.5"), "lifted perceptron", "because it has the given options"),
    ] {
        let text = folder.linsep(&format!("train {arguments}")).exits(0).out;
        let line =
            text.split("\nError").next().unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, line) = line.rsplit_once(" (").expect("the learner in brackets");
        assert!(line.starts_with(learner), "{arguments}: {line}");
        let chosen = if reason.is_empty() { ")".to_owned() } else { format!(", {reason})") };
        assert!(line.ends_with(&chosen) && (!reason.is_empty() || !line.contains("because")), "{line}");
    }
    // No learner has both.
    folder.linsep("train iris --C 10 --lift 0.5").exits(2).says(&["--C"]);
}

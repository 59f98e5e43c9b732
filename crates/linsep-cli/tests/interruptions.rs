//! Runs that are stopped: Ctrl-C saves what there is, and a killed run ends, once resumed, in the same bytes as
//! an undisturbed one.
#![cfg(unix)]

use crate::common::{Folder, Ran};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// Labels by coin flips: no run over these rows converges.
fn hopeless(rows: u32, format: &str) -> Folder {
    let folder = Folder::new();
    let line = format!("generate random-labels --rows {rows} --features 30 --format {format} -o data -q");
    folder.linsep(&line).exits(0);
    folder
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status();
    assert!(status.expect("kill").success());
}

/// Waits until the run has saved a checkpoint since `before`.
#[track_caller]
fn await_checkpoint(folder: &Folder, child: &mut Child, before: Option<SystemTime>) {
    let clock = Instant::now();
    while modified(folder) == before && child.try_wait().expect("wait").is_none() {
        assert!(clock.elapsed() < Duration::from_secs(60), "no checkpoint appears");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn modified(folder: &Folder) -> Option<SystemTime> {
    std::fs::metadata(folder.path("run")).and_then(|metadata| metadata.modified()).ok()
}

/// Moments that differ from run to run, so that over time all are tried.
fn moment(most: u64) -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("the time");
    u64::from(now.subsec_nanos()).wrapping_mul(0x9e37_79b9_7f4a_7c15) % most
}

#[test]
fn ctrl_c_saves_the_model_so_far() {
    // Few rows: judging the votes of all vectors on each takes its time.
    let folder = hopeless(300, "csv");
    for learner in ["perceptron", "averaged", "voted"] {
        for checkpoint in ["run", "/dev/null"] {
            let _ = std::fs::remove_file(folder.path("run"));
            let line = format!(
                "train data -o model --learner {learner} --epochs 1000000000 --json --checkpoint {checkpoint}"
            );
            let mut child = folder.start(&mut folder.command(&line));
            if checkpoint == "run" {
                await_checkpoint(&folder, &mut child, None);
            }
            std::thread::sleep(Duration::from_millis(200));
            signal(&child, "INT");
            let ran = Ran::new(&line, child.wait_with_output().expect("wait")).exits(130);
            let report = ran.json();
            assert_eq!((&report["status"], &report["converged"]), (&"interrupted".into(), &false.into()));
            assert!(report["updates"].as_u64() > Some(0));
            let shown = folder.linsep("inspect model").exits(0).keeps_silent();
            assert!(shown.out.contains("interrupted in pass"), "{}", shown.out);
            folder.linsep("predict model data -o labels").exits(0);
            std::fs::remove_file(folder.path("model")).expect("remove");
        }
    }
}

#[test]
fn ctrl_c_leaves_no_part_of_a_proof() {
    let folder = hopeless(300, "csv");
    let line = "train data -o model --learner perceptron --epochs 1000000000 --checkpoint run --trace trace \
                --teaching-set set";
    let mut child = folder.start(&mut folder.command(line));
    await_checkpoint(&folder, &mut child, None);
    std::thread::sleep(Duration::from_millis(100));
    signal(&child, "INT");
    let ran = Ran::new(line, child.wait_with_output().expect("wait")).exits(130);
    ran.says(&[
        "warning: interrupted: the trace and the teaching set need a complete run and are not written",
    ]);
    assert_eq!(folder.names(), ["data", "model", "run"]);
}

/// Runs `arguments` undisturbed, then again with a kill at several moments: the model files must be the same.
fn same_after_kills(folder: &Folder, arguments: &str) {
    folder.linsep(&format!("train data -q -o undisturbed {arguments}")).exits(0);
    let expected = folder.read("undisturbed");
    let line =
        format!("train data -q -o model --checkpoint run --checkpoint-every 0 --resume run {arguments}");
    let mut killed = 0;
    let mut moments = Vec::new();
    for attempt in 0..5 {
        let before = modified(folder);
        let mut child = folder.start(&mut folder.command(&line));
        // The first kill may come before the first checkpoint, the others while the run is under way.
        if attempt > 0 {
            await_checkpoint(folder, &mut child, before);
        }
        moments.push(moment(if attempt == 0 { 40 } else { 120 }));
        std::thread::sleep(Duration::from_millis(moments[attempt]));
        if child.try_wait().expect("wait").is_some() {
            break;
        }
        let name = if attempt == 2 { "INT" } else { "KILL" };
        signal(&child, name);
        let status = child.wait_with_output().expect("wait").status;
        killed += u32::from(status.signal() == Some(9) || status.code() == Some(130));
    }
    assert!(killed > 1, "{arguments}: the run ended before it could be killed");
    let ran = folder.linsep(&line).exits(0);
    ran.keeps_silent();
    assert!(
        folder.read("model") == expected,
        "{arguments}: another model after kills, each so many milliseconds after a checkpoint: {moments:?}"
    );
    for name in ["run", "model"] {
        std::fs::remove_file(folder.path(name)).expect("remove");
    }
}

#[test]
fn a_killed_perceptron_ends_in_the_same_bytes() {
    let folder = hopeless(2000, "csv");
    for order in ["given", "shuffle"] {
        same_after_kills(&folder, &format!("--learner perceptron --epochs 800 --order {order}"));
    }
    let arguments = "--learner perceptron --epochs 800 --order shuffle-once --holdout 0.3 --scale standard";
    same_after_kills(&folder, arguments);
}

#[test]
fn a_killed_averaged_perceptron_ends_in_the_same_bytes() {
    let folder = hopeless(2000, "libsvm");
    for order in ["given", "shuffle"] {
        same_after_kills(&folder, &format!("--epochs 800 --order {order}"));
    }
    same_after_kills(&folder, "--epochs 800 --holdout 0.2 --scale max-abs --seed 7 --bias none");
}

#[test]
fn a_killed_voted_perceptron_ends_in_the_same_bytes() {
    let folder = hopeless(1000, "csv");
    for order in ["given", "shuffle"] {
        same_after_kills(&folder, &format!("--learner voted --epochs 400 --order {order}"));
    }
    let arguments = "--learner voted --epochs 400 --holdout 0.2 --scale unit-rows --init first";
    same_after_kills(&folder, arguments);
}

#[test]
fn a_killed_warm_start_ends_in_the_same_bytes() {
    let folder = hopeless(2000, "csv");
    folder.linsep("train data -q -o start --epochs 3 --scale standard").exits(0);
    same_after_kills(&folder, "--init start --epochs 800");
}

#[test]
fn a_killed_run_in_shards_ends_in_the_same_bytes() {
    let folder = hopeless(2000, "csv");
    same_after_kills(&folder, "--epochs 800 --shards 3");
    same_after_kills(&folder, "--learner perceptron --epochs 800 --order given --shards 4 --mixing updates");
}

#[test]
fn resume_without_a_checkpoint_starts_from_the_beginning() {
    let folder = hopeless(200, "csv");
    folder.linsep("train data -q -o undisturbed").exits(0);
    let ran = folder.linsep("train data -q -o model --checkpoint run --resume run").exits(0);
    ran.says(&["warning: there is no checkpoint run yet: starting from the beginning"]);
    assert_eq!(folder.read("model"), folder.read("undisturbed"));
    assert!(folder.has("run"));
}

#[test]
fn a_finished_run_can_go_on_with_other_limits() {
    let folder = hopeless(200, "csv");
    folder.linsep("train data -q -o long --epochs 20").exits(0);
    let line = "train data -q --checkpoint run --checkpoint-every 0 --epochs 5 -o short";
    folder.linsep(line).exits(0);
    folder.linsep("train data -q --resume run --epochs 20 -o model").exits(0).keeps_silent();
    assert_eq!(folder.read("model"), folder.read("long"));
    // What the command does not say is taken from the checkpoint.
    folder.linsep("train data -q --resume run -o model").exits(0);
    assert_eq!(folder.read("model"), folder.read("short"));
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let folder = hopeless(200, "csv");
    let first = "train data -q --checkpoint run --checkpoint-every 0 --epochs 5 --holdout 0.2 -o model";
    folder.linsep(first).exits(0);
    folder.linsep("generate random-labels --rows 200 --features 30 --seed 1 -o other -q").exits(0);
    let (run, model, before) = (folder.read("run"), folder.read("model"), folder.names());
    let other_data = "run: the checkpoint was made on other data, or the data was read with other options";
    for (arguments, code, reason) in [
        ("other --holdout 0.2", 3, other_data),
        ("data --holdout 0.3", 3, other_data),
        ("data", 3, other_data),
        ("data --holdout 0.2 --scale max-abs", 3, other_data),
        ("data --holdout 0.2 --ignore 1", 3, other_data),
        ("data --holdout 0.2 --learner voted", 3, "another learner: averaged then, voted now"),
        ("data --holdout 0.2 --shards 2", 3, "another number of shards: 1 then, 2 now"),
        ("data --holdout 0.2 --order given", 3, "another order: shuffle then, given now"),
        ("data --holdout 0.2 --bias none", 3, "another bias: {\"append\":1.0} then, none now"),
        ("data --holdout 0.2 --init first", 3, "another start: zero then, first now"),
        ("data --holdout 0.2 --positive -1", 3, "another positive class: null then, -1 now"),
        ("data --holdout 0.2 --epochs 0", 2, "--epochs must be at least 1"),
    ] {
        let line = format!("train {arguments} -q --resume run --checkpoint run -o model");
        folder.linsep(&line).exits(code).says(&[reason]);
        assert_eq!((folder.read("run"), folder.read("model")), (run.clone(), model.clone()), "{line}");
        assert_eq!(folder.names(), before, "{line}");
    }
    // Another seed holds out other rows.
    folder.linsep("train data -q --holdout 0.2 --seed 1 --resume run -o model").exits(3);
    folder.write("cut", &run[..run.len() - 1]);
    folder
        .linsep("train data --holdout 0.2 --resume cut -o model")
        .exits(3)
        .says(&["error: cut: ", "checkpoint"]);
    assert_eq!(folder.read("model"), model);
}

#[test]
fn a_run_from_another_model_is_refused() {
    let folder = hopeless(200, "csv");
    for (name, epochs) in [("one", 3), ("another", 4)] {
        folder.linsep(&format!("train data -q -o {name} --epochs {epochs}")).exits(0);
    }
    folder.linsep("train data -q --init one --checkpoint run").exits(0);
    folder.linsep("train data -q --init one --resume run").exits(0).keeps_silent();
    let ran = folder.linsep("train data -q --init another --resume run -o model").exits(3);
    ran.says(&["the checkpoint was made with another start: one model then, another now"]);
    assert!(!folder.has("model"));
}

/// Pipes the first `rows` bytes and kills the program once it has saved a checkpoint; the pipe stays open until
/// then, as that of a slow source does.
fn kill_while_streaming(folder: &Folder, line: &str, rows: &[u8]) {
    let before = modified(folder);
    let mut child = folder.start(folder.command(line).stdin(Stdio::piped()));
    let mut pipe = child.stdin.take().expect("standard input");
    std::thread::scope(|scope| {
        let (done, wait) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || {
            // Ends with an error when the program is killed before it has read all.
            let _ = pipe.write_all(rows);
            let _ = wait.recv();
        });
        await_checkpoint(folder, &mut child, before);
        std::thread::sleep(Duration::from_millis(moment(30)));
        signal(&child, "KILL");
        drop(done);
        assert_eq!(child.wait_with_output().expect("wait").status.signal(), Some(9));
    });
}

#[test]
fn a_killed_stream_ends_in_the_same_bytes() {
    for format in ["csv", "libsvm"] {
        let folder = hopeless(40_000, format);
        let rows = folder.read("data");
        for arguments in
            ["--learner perceptron", "--learner averaged --scale unit-rows", "--learner voted --positive -1"]
        {
            let train = format!("train - --online --threads 1 -q {arguments}");
            folder.linsep_with_input(&format!("{train} -o undisturbed"), &rows).exits(0);
            let line = format!("{train} -o model --checkpoint run --checkpoint-every 0 --resume run");
            for share in [2, 3] {
                kill_while_streaming(&folder, &line, &rows[..rows.len() * share / 4]);
            }
            folder.linsep_with_input(&line, &rows).exits(0).keeps_silent();
            assert!(folder.read("model") == folder.read("undisturbed"), "{format} {arguments}");

            // Other rows, or fewer than the checkpoint has seen.
            let mut other = rows.clone();
            let place = rows.len() / 3
                + other[rows.len() / 3..].windows(2).position(|pair| pair == b"\n-").expect("-")
                + 1;
            other.remove(place);
            let refused = "the checkpoint was made on other data, or the data was read with other options";
            folder.linsep_with_input(&line, &other).exits(3).says(&[refused]);
            let fewer = &rows[..rows.len() / 8];
            let whole = &fewer[..=fewer.iter().rposition(|&byte| byte == b'\n').expect("a line")];
            folder.linsep_with_input(&line, whole).exits(3).says(&[refused]);
            for name in ["run", "model"] {
                std::fs::remove_file(folder.path(name)).expect("remove");
            }
        }
    }
}

#[test]
fn ctrl_c_ends_a_silent_stream_with_what_it_has() {
    let folder = Folder::new();
    let mut child = folder.start(folder.command("train - --online -o model --json").stdin(Stdio::piped()));
    let mut pipe = child.stdin.take().expect("standard input");
    // Enough that the first rows are learned while the stream stays open.
    let rows = "1 1:1 2:0.5\n-1 1:-1 3:0.25\n".repeat(200_000);
    pipe.write_all(rows.as_bytes()).expect("write rows");
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "INT");
    let ran = Ran::new("train -", child.wait_with_output().expect("wait")).exits(130);
    drop(pipe);
    assert_eq!(ran.json()["status"], "interrupted");
    folder.linsep("inspect model").exits(0);
}

#[test]
fn ctrl_c_while_votes_are_counted_is_not_success() {
    let folder = hopeless(3_000, "csv");
    let line = "train data --learner voted --epochs 400 --order given -o model --json";
    let mut child = folder.start(&mut folder.command(line));
    // Somewhere in the run or in the counting after it, which takes far longer than this.
    std::thread::sleep(Duration::from_millis(1_500));
    assert!(child.try_wait().expect("wait").is_none(), "the test needs a longer run");
    signal(&child, "INT");
    let ran = Ran::new(line, child.wait_with_output().expect("wait")).exits(130);
    assert_eq!(ran.json()["training_error"], serde_json::Value::Null);
    folder.linsep("inspect model").exits(0);
}

#[test]
fn a_failed_checkpoint_does_not_discard_the_model() {
    let folder = hopeless(500, "csv");
    folder.linsep("train data --epochs 3 -q -o undisturbed").exits(0);
    let name = "the checkpoint is not saved: cannot write /dev/full: No space left on device";
    for arguments in ["data --epochs 3", "data --epochs 3 --memory 64M", "- --online"] {
        let line =
            format!("train {arguments} -q -o model --checkpoint /dev/full --checkpoint-every 0 --json");
        let ran = folder.linsep_with_input(&line, &folder.read("data")).exits(3);
        // Once as it happens, and once at the end.
        let warning = format!("warning: {name}");
        assert_eq!(ran.err.matches(&warning).count(), 1, "{ran:?}");
        assert!(
            ran.err.lines().last().is_some_and(|last| last.starts_with(&format!("error: {name}"))),
            "{ran:?}"
        );
        let record = ran.json();
        assert!(record["lost"][0].as_str().is_some_and(|lost| lost.starts_with(name)), "{ran:?}");
        assert_eq!(record["model"], "model");
        if arguments == "data --epochs 3" {
            assert_eq!(folder.model("model"), folder.model("undisturbed"));
        }
        folder.linsep("inspect model -q").exits(0);
        std::fs::remove_file(folder.path("model")).expect("the model");
    }
    // The same for what is written after the run.
    let line =
        "train data --learner perceptron --epochs 3 -q -o model --trace /dev/full --teaching-set /dev/full";
    let ran = folder.linsep(&line.replace("--teaching-set /dev/full", "--teaching-set taught")).exits(3);
    let ran = ran.says(&["error: the trace is not saved: cannot write /dev/full"]);
    assert!(ran.out.contains("Saved     model\n"), "{ran:?}");
    assert!(folder.has("model") && folder.has("taught"));
    folder.linsep(line).exits(3).says(&[
        "error: the trace is not saved",
        "error: the teaching set is not saved: cannot write /dev/full",
    ]);
}

#[test]
fn a_checkpoint_that_is_saved_later_makes_good() {
    let folder = hopeless(500, "csv");
    std::fs::create_dir(folder.path("there")).expect("a folder");
    for comes_back in [true, false] {
        let line = "train data --epochs 1000000000 --max-seconds 4 -q -o model \
                    --checkpoint there/run --checkpoint-every 0.05";
        let child = folder.start(&mut folder.command(line));
        while !folder.path("there/run").exists() {
            std::thread::sleep(Duration::from_millis(10));
        }
        std::fs::rename(folder.path("there"), folder.path("gone")).expect("rename");
        std::thread::sleep(Duration::from_millis(1000));
        if comes_back {
            std::fs::rename(folder.path("gone"), folder.path("there")).expect("rename");
        }
        let ran = Ran::new(line, child.wait_with_output().expect("wait"));
        let ran = ran.says(&["warning: the checkpoint is not saved: cannot write there/run: No such file"]);
        if comes_back {
            ran.says(&["warning: saving the checkpoint succeeded again\n"]).exits(0);
            std::fs::remove_file(folder.path("there/run")).expect("the checkpoint");
        } else {
            ran.says(&["error: the checkpoint is not saved: cannot write there/run: No such file"]).exits(3);
        }
        folder.linsep("inspect model -q").exits(0);
        std::fs::remove_file(folder.path("model")).expect("the model");
    }
}

#[test]
fn ctrl_c_does_not_hide_a_lost_output() {
    let folder = hopeless(2000, "csv");
    for (line, name) in [
        ("train data --epochs 1000000000 -q -o /dev/full", "the model is not saved: cannot write /dev/full"),
        (
            "train data --epochs 1000000000 -q -o model --checkpoint /dev/full --checkpoint-every 1000",
            "the checkpoint is not saved: cannot write /dev/full",
        ),
    ] {
        let child = folder.start(&mut folder.command(line));
        std::thread::sleep(Duration::from_millis(1500));
        signal(&child, "INT");
        let ran = Ran::new(line, child.wait_with_output().expect("wait")).exits(3);
        let ran = ran.says(&[&format!("error: {name}: No space left on device")]);
        assert!(ran.out.contains("interrupted in pass"), "{ran:?}");
    }
    folder.linsep("inspect model -q").exits(0);
}

/// Feeds `sent` to a command, keeps the pipe open, and interrupts it.
fn interrupted_after(folder: &Folder, line: &str, sent: &[u8]) -> Ran {
    let mut child = folder.start(folder.command(line).stdin(Stdio::piped()));
    let mut pipe = child.stdin.take().expect("standard input");
    pipe.write_all(sent).expect("write rows");
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "INT");
    let ran = Ran::new(line, child.wait_with_output().expect("wait"));
    drop(pipe);
    ran
}

#[test]
fn a_row_that_was_on_its_way_is_not_learned() {
    let folder = Folder::new();
    let line = "train - --epochs 1 --learner perceptron -o model --json -q";
    for (whole, cut) in [
        ("a,b,y\n1,2,p\n2,3,n\n1,2,p\n-2,3,n\n", &["4,5", "4,5,no", "4,5,p", "\"4"][..]),
        ("+1 1:1\n-1 1:-2\n+1 2:1\n-1 1:-3\n", &["-", "-1 1:", "-1 1:12", "#"][..]),
    ] {
        folder.linsep_with_input(line, whole.as_bytes()).exits(0);
        let expected = weights_of(&folder);
        for cut in cut {
            let report =
                interrupted_after(&folder, line, format!("{whole}{cut}").as_bytes()).exits(130).json();
            assert_eq!((&report["examples"], &report["status"]), (&4.into(), &"interrupted".into()), "{cut}");
            assert_eq!(weights_of(&folder), expected, "{cut}");
        }
    }
}

fn weights_of(folder: &Folder) -> serde_json::Value {
    folder.linsep("inspect model --json").exits(0).json()["strongest"].clone()
}

#[test]
fn ctrl_c_before_the_first_row_is_an_interruption() {
    let folder = Folder::with("data", "1 1:1\n-1 1:-1\n");
    folder.linsep("train data -o model").exits(0);
    for line in [
        "train - -o new",
        "train - --epochs 1 -o new",
        "predict model -",
        "predict model - -o new",
        "evaluate model -",
    ] {
        for sent in ["", "1 1:", "1 1:1\n", "\u{1f}"] {
            let ran = interrupted_after(&folder, line, sent.as_bytes()).exits(130);
            assert!(ran.err.ends_with("interrupted\n"), "{line}: {ran:?}");
            assert_eq!(folder.names(), ["data", "model"], "{line}");
        }
    }
}

/// Interrupts a command after a while; it must end soon.
fn interrupted_within_seconds(folder: &Folder, line: &str, after: u64) -> Ran {
    interrupted_or_ended(folder, line, after).unwrap_or_else(|| panic!("{line}: the test needs a longer job"))
}

/// The same, or none where the command has ended before.
fn interrupted_or_ended(folder: &Folder, line: &str, after: u64) -> Option<Ran> {
    // Two seconds are promised, of a machine with two cores that has nothing else to do. Elsewhere the time that the processors
    // spent on it tells, and whoever waits for ever does not spend any.
    let (most_work, most_wait) = (Duration::from_secs(4), Duration::from_secs(60));
    let mut child = folder.start(folder.command(line).env("RAYON_NUM_THREADS", "2"));
    std::thread::sleep(Duration::from_millis(after));
    if child.try_wait().expect("wait").is_some() {
        return None;
    }
    let (clock, before) = (Instant::now(), work_of(&child));
    signal(&child, "INT");
    while child.try_wait().expect("wait").is_none() {
        let worked = work_of(&child).zip(before).map(|(now, before)| now.saturating_sub(before));
        if worked.is_some_and(|worked| worked > most_work) || clock.elapsed() > most_wait {
            child.kill().expect("kill");
            panic!("{line}: does not end; {worked:?} of work and {:?} since the signal", clock.elapsed());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Some(Ran::new(line, child.wait_with_output().expect("wait")))
}

/// The time that processors have spent on a process, where the system tells.
fn work_of(child: &Child) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    // After the name in brackets: the state is the first, and in user mode and in the kernel the times are the 12th and 13th.
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    // There are a hundred in a second, as far as programs are told.
    Some(Duration::from_millis(10 * (ticks()? + ticks()?)))
}

#[test]
fn ctrl_c_ends_the_wait_for_a_pipe() {
    let folder = Folder::with("data", "1 1:1\n-1 1:-1\n");
    folder.linsep("train data -o model -q").exits(0);
    folder.linsep("separate data -o proof -q").exits(0);
    let mkfifo = Command::new("mkfifo").arg(folder.path("fifo")).status().expect("mkfifo");
    assert!(mkfifo.success());
    let before = folder.names();
    for line in [
        "train fifo -o new",
        "train fifo --online -o new",
        "predict model fifo",
        "predict model fifo -o new",
        "evaluate model fifo",
        "separate fifo -o new",
        "verify proof fifo",
        "convert fifo new --to csv",
        "compare fifo",
        "theory fifo",
    ] {
        let ran = interrupted_within_seconds(&folder, line, 700).exits(130);
        assert!(ran.err.ends_with("interrupted\n"), "{line}: {ran:?}");
        if line.starts_with("train") || line.starts_with("separate") {
            ran.says(&["new is not written: there is no result yet"]);
        }
        assert_eq!(folder.names(), before, "{line}");
    }
    // A result that nobody comes to take is lost, and that is said.
    for line in ["train data -q -o fifo", "separate data -q -o fifo", "predict model data -q -o fifo"] {
        let ran = interrupted_within_seconds(&folder, line, 1500).exits(3);
        ran.says(&["cannot write fifo: interrupted"]);
        assert_eq!(folder.names(), before, "{line}");
    }
}

#[test]
fn ctrl_c_ends_a_demonstration_and_a_count_of_votes() {
    let folder = hopeless(4_000, "csv");
    let ran = interrupted_within_seconds(&folder, "demo breast-cancer", 1500).exits(130);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", "interrupted\n"));
    folder.linsep("train data --learner voted --epochs 200 --max-seconds 10 -q -o votes").exits(0);
    for line in ["evaluate votes data -q", "predict votes data -q -o labels"] {
        let ran = interrupted_within_seconds(&folder, line, 300).exits(130);
        assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", "interrupted\n"));
    }
    assert!(!folder.has("labels"));
}

/// Classes are learned one after the other out of core. A run that is stopped gives each class that has not been begun a moment,
/// and then gives up: there is a whole model or none.
#[test]
fn ctrl_c_ends_many_classes_out_of_core() {
    for (classes, after) in [(200, 400), (200, 2500), (5, 2500)] {
        let line =
            |i: u32| format!("c{},{},{},{}\n", i % classes, i * 7919 % 1009, i * 104_729 % 997, i * 31 % 101);
        let rows: String = (0..40_000).map(line).collect();
        let folder = Folder::with("data.csv", format!("label,x,y,z\n{rows}"));
        let train = "train data.csv --label label --learner averaged --epochs 100000 --memory 40MB -o model";
        folder.linsep("convert data.csv data.csv.linsep --label label -q").exits(0);
        let ran = interrupted_within_seconds(&folder, train, after).exits(130);
        let expected: &[&str] = if folder.has("model") {
            folder.linsep("predict model data.csv -q -o labels").exits(0);
            assert_eq!(folder.text("labels").lines().count(), 40_000, "{ran:#?}");
            &["data.csv", "data.csv.linsep", "labels", "model"]
        } else {
            &["data.csv", "data.csv.linsep"]
        };
        assert_eq!(folder.names(), expected, "{ran:#?}");
    }
}

/// Interrupts runs after each of these milliseconds, unless they are done or refused before. What is kept is a whole model, or
/// none.
fn has_a_whole_model_or_none(folder: &Folder, line: &str, moments: &[u64]) {
    for &after in moments {
        let Some(ran) = interrupted_or_ended(folder, line, after) else { break };
        if ran.code == Some(2) {
            break;
        }
        assert_eq!(ran.code, Some(130), "{ran:#?}");
        if folder.has("model") {
            folder.linsep("predict model few -q -o labels").exits(0);
            assert_eq!(folder.text("labels").lines().count(), 2, "{ran:#?}");
            for name in ["model", "labels"] {
                std::fs::remove_file(folder.path(name)).expect("remove");
            }
        }
        assert_eq!(folder.names(), ["data", "few"], "{ran:#?}");
    }
}

/// The scores of a pass grow with the square of the classes here, and steps of some learners with more.
#[test]
fn ctrl_c_ends_thousands_of_classes() {
    let rows: String = (1..=3000).map(|class| format!("{class} 1:{class}\n")).collect();
    let folder = Folder::with("data", rows);
    folder.write("few", "1 1:1\n2 1:2\n");
    for learner in crate::common::learners() {
        let more = if learner == "logistic" { " --gap 1e-12" } else { "" };
        let line = format!("train data -q -o model --learner {learner} --epochs 100000{more}");
        has_a_whole_model_or_none(&folder, &line, &[700]);
    }
}

/// Judging a row counts the votes of all vectors of all classes, or a kernel for each row that was a mistake.
#[test]
fn ctrl_c_ends_the_judging_of_several_classes() {
    let row = |i: u32| {
        let numbers = [i * 7919 % 1009, i * 104_729 % 997, i * 31 % 101];
        format!("{} 1:{} 2:{} 3:{}\n", i * i % 11 % 4, numbers[0], numbers[1], numbers[2])
    };
    let folder = Folder::with("data", (1..=6000).map(row).collect::<String>());
    folder.write("few", "0 1:1 2:5 3:2\n1 1:2 3:1\n");
    for learner in
        ["voted --epochs 100000", "voted --epochs 30", "voted --epochs 30 --probabilities", "kernel"]
    {
        let line = format!("train data -q -o model --learner {learner}");
        has_a_whole_model_or_none(&folder, &line, &[1500]);
    }
}

/// What was started with `nohup` goes on without its terminal.
#[test]
fn a_hang_up_that_is_ignored_stays_so() {
    let folder = hopeless(2000, "csv");
    let program = env!("CARGO_BIN_EXE_linsep");
    let script =
        format!("trap '' HUP; exec '{program}' train data --epochs 4000 --checkpoint run -o model -q");
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .current_dir(folder.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("sh");
    await_checkpoint(&folder, &mut child, None);
    signal(&child, "HUP");
    assert_eq!(child.wait().expect("wait").code(), Some(0));
    assert!(folder.has("model"));
}

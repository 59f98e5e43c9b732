//! `train --memory` keeps to its limit. This test is alone in its file: the peak of a process counts what its parent had when
//! it was started, and other tests hold large files in memory.
#![cfg(target_os = "linux")]

mod common;

use common::Folder;
use std::process::Stdio;

/// What a limit of `train --memory` does not count, as docs/formats.md says: the code of the program, as far as it is loaded.
const ALLOWANCE: u64 = 10_000_000;

/// Runs the program to its end, which must be good, and gives the most memory that it had, in bytes.
#[expect(clippy::zombie_processes, reason = "wait4 waits for it")]
fn peak(folder: &Folder, line: &str) -> u64 {
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
    assert!(std::process::ExitStatus::from_raw(status).success(), "{line}: {status}");
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
                let bytes = peak(&folder, &format!("{train} {needed}MB {output}"));
                let limit = needed * 1_000_000;
                assert!(bytes < limit + ALLOWANCE, "{train} {output}: {bytes} of {limit}");
                assert!(bytes > limit / 10 * 7, "{train} {output}: {bytes} of {limit}");
            }
        }
    }
}

//! How much memory there is, and whether a job fits into it.
//!
//! Running out of memory is noticed too late to say anything sensible: the system ends the program. So what is about to need
//! much asks first, and refuses with numbers. Only what is certain is refused: estimates are of the least that is needed.

use crate::Error;
use crate::numbers;
use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::{io, thread};

/// What is not worth a question.
const LITTLE: u64 = 8 << 20;

/// The memory that this process may still use, in bytes: what the machine has free, what its control group leaves, and what
/// the limits of the process leave. `None` where the system does not tell.
pub fn available() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| free_of_machine(&text));
    let group = fs::read_to_string("/proc/self/cgroup").ok().and_then(|text| {
        let read = |path: &Path| fs::read_to_string(path).ok();
        free_of_groups(&text, &read)
    });
    [machine, group, left_by_limits()].into_iter().flatten().min()
}

/// The memory that this process has, in bytes. `None` where the system does not tell.
pub fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// Refuses what needs more memory than there is. `what` is the beginning of a sentence.
pub fn check(needed: u64, what: impl FnOnce() -> String) -> Result<(), Error> {
    if needed <= LITTLE {
        return Ok(());
    }
    match available() {
        Some(available) if needed > available => Err(Error::Memory { what: what(), needed, available }),
        _ => Ok(()),
    }
}

/// The memory that a thread needs to start: its stack, and room for what the system keeps about it.
pub const THREAD_BYTES: u64 = 3 << 20;

/// The maker of a thread, where there is memory for one. A thread that is begun without any ends the whole program: what the
/// system needs for it is not asked for in a way that could be refused.
pub(crate) fn new_thread() -> io::Result<thread::Builder> {
    // Only a limit of the address space refuses a stack, which is not used yet. Most processes have none, for good.
    static HAS_LIMIT: OnceLock<bool> = OnceLock::new();
    let has_limit = *HAS_LIMIT.get_or_init(|| left_by_limits().is_some());
    if has_limit && left_by_limits().is_some_and(|left| left < THREAD_BYTES) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    Ok(thread::Builder::new())
}

/// The address space and data that the limits of the process leave, in bytes. `None` where it has none, or the system
/// does not tell.
pub fn left_by_limits() -> Option<u64> {
    let (limits, status) = ("/proc/self/limits", "/proc/self/status");
    free_of_process(&fs::read_to_string(limits).ok()?, &fs::read_to_string(status).ok()?)
}

thread_local! {
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
}

/// Asks for memory that may be refused: an allocator that ends the program when there is none ([`may_fail`]) must not do so
/// now.
pub(crate) fn fallibly<T>(ask: impl FnOnce() -> T) -> T {
    let before = MAY_FAIL.replace(true);
    let answer = ask();
    MAY_FAIL.set(before);
    answer
}

/// Whether this thread is prepared for a request of memory that fails. A program whose allocator turns a failed request into
/// an exit code asks here first.
pub fn may_fail() -> bool {
    MAY_FAIL.get()
}

/// An amount of memory, for messages.
pub(crate) fn amount(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} bytes", numbers::grouped(bytes)),
        1_000_000..10_000_000_000 => format!("{} MB", numbers::grouped(bytes.div_ceil(1_000_000))),
        _ => format!("{} GB", numbers::grouped(bytes.div_ceil(1_000_000_000))),
    }
}

/// What is free by `/proc/meminfo`: memory without a use or with one that can wait, and swap.
fn free_of_machine(meminfo: &str) -> Option<u64> {
    Some(kilobytes(meminfo, "MemAvailable:")? + kilobytes(meminfo, "SwapFree:").unwrap_or(0))
}

/// What a process may still add to its address space and data, by `/proc/self/limits` and `/proc/self/status`.
fn free_of_process(limits: &str, status: &str) -> Option<u64> {
    let limited = |name: &str, used: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(limit.saturating_sub(kilobytes(status, used)?))
    };
    [limited("Max address space", "VmSize:"), limited("Max data size", "VmData:")].into_iter().flatten().min()
}

/// A line such as `MemAvailable:   1234 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// What the control groups of a process leave, by `/proc/self/cgroup`: of each group, its limit less what it uses that cannot
/// be given back, and so up to the root.
fn free_of_groups(cgroup: &str, read: &dyn Fn(&Path) -> Option<String>) -> Option<u64> {
    // Where the groups are mounted, and what a group calls its limit, its use, and the part of it that can be given back.
    let second = ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file");
    let first =
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file");
    let number = |path: &Path| read(path)?.trim().parse::<u64>().ok();
    let mut free = None;
    for line in cgroup.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(group)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let (root, limit, usage, reclaimable) = match controllers {
            "" => second,
            _ if controllers.split(',').any(|controller| controller == "memory") => first,
            _ => continue,
        };
        // Inside a container the path of the group may be that of the host, and the mount its own group: walking up to the
        // root finds it either way.
        for folder in Path::new(group.trim_start_matches('/')).ancestors() {
            let folder = Path::new(root).join(folder);
            let (Some(limit), Some(usage)) = (number(&folder.join(limit)), number(&folder.join(usage)))
            else {
                continue;
            };
            let statistics = read(&folder.join("memory.stat")).unwrap_or_default();
            let given_back = statistics
                .lines()
                .find_map(|line| line.strip_prefix(reclaimable)?.trim().parse::<u64>().ok())
                .unwrap_or(0);
            let left = limit.saturating_sub(usage.saturating_sub(given_back));
            free = Some(free.map_or(left, |free: u64| free.min(left)));
        }
    }
    free
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn the_machine_says_what_is_free() {
        let text =
            "MemTotal:       24 kB\nMemFree:        1 kB\nMemAvailable:   20 kB\nSwapFree:       3 kB\n";
        assert_eq!(free_of_machine(text), Some(23 * 1024));
        assert_eq!(free_of_machine("MemTotal: 24 kB\n"), None);
        assert_eq!(free_of_machine("MemAvailable: many\n"), None);
    }

    #[test]
    fn limits_of_the_process_count_what_it_has_already() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max data size             unlimited            unlimited            bytes\n\
                      Max address space         4096000              unlimited            bytes\n";
        let status = "Name:\tlinsep\nVmSize:\t    1000 kB\nVmData:\t     500 kB\n";
        assert_eq!(free_of_process(limits, status), Some(4_096_000 - 1_024_000));
        assert_eq!(free_of_process("Max address space   unlimited  unlimited  bytes\n", status), None);
    }

    #[test]
    fn the_tightest_group_counts_and_what_can_be_given_back_is_free() {
        let files = HashMap::from([
            ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("/sys/fs/cgroup/a/b/memory.current", "700\n"),
            ("/sys/fs/cgroup/a/memory.max", "1000\n"),
            ("/sys/fs/cgroup/a/memory.current", "900\n"),
            ("/sys/fs/cgroup/a/memory.stat", "anon 100\ninactive_file 300\n"),
            ("/sys/fs/cgroup/memory/c/memory.limit_in_bytes", "500\n"),
            ("/sys/fs/cgroup/memory/c/memory.usage_in_bytes", "450\n"),
        ]);
        let read = |path: &Path| files.get(path.to_str()?).map(|text| text.to_string());
        assert_eq!(free_of_groups("0::/a/b\n", &read), Some(400));
        assert_eq!(free_of_groups("4:cpu,memory:/c\n0::/a/b\n", &read), Some(50));
        assert_eq!(free_of_groups("0::/elsewhere\n", &read), None);
        assert_eq!(free_of_groups("nonsense\n", &read), None);
    }

    #[test]
    fn what_cannot_fit_is_refused_with_numbers() {
        check(1 << 20, || "a little".to_string()).unwrap();
        if available().is_some() {
            let error = check(u64::MAX, || "learning".to_string()).unwrap_err().to_string();
            assert!(
                error.starts_with("learning needs about 18,446,744,074 GB of memory, and only "),
                "{error}"
            );
        }
    }

    #[test]
    fn failing_is_allowed_only_while_it_is() {
        assert!(!may_fail());
        assert!(fallibly(|| fallibly(may_fail) && may_fail()));
        assert!(!may_fail());
    }
}

//! Never wrong: small random and adversarial problems against the exact oracle.
//!
//! `LINSEP_INSTANCES` sets how many, `LINSEP_SEED` which, `LINSEP_NUMBER` runs one alone, and `LINSEP_REPORT` names a
//! folder for tables of what was seen.

use super::check::{Effort, Seen, check};
use super::instances::{FAMILIES, Instance, instance};
use linsep::separate::Verdict;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// As many as fit into a quarter of a minute of a test run.
const USUAL: u64 = 10_000;

/// Enough failures of a family to see what they have in common.
const SHOWN: usize = 2;

/// More failures than this are not looked for.
const ENOUGH: usize = 300;

pub(crate) fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a whole number, not {text}")))
}

/// Writes a table to the folder for tables, if one is named.
pub(crate) fn report(name: &str, table: &str) {
    if let Some(folder) = std::env::var_os("LINSEP_REPORT") {
        std::fs::write(std::path::Path::new(&folder).join(name), table).unwrap();
    }
}

fn effort(number: u64) -> Effort {
    let round = number / FAMILIES.len() as u64;
    Effort {
        settings_seed: number % 3,
        gap: [None, None, Some(1e-3), Some(1e-9)][(round % 4) as usize],
        threads: round.is_multiple_of(8),
        long_numbers: round.is_multiple_of(16),
    }
}

/// The problem with as few rows as still show a failure.
fn shrink(mut failing: Instance, effort: Effort) -> (Instance, String) {
    let mut reason = check(&failing, effort).err().unwrap_or_else(|| "passed when run again".to_string());
    let mut i = 0;
    while i < failing.rows.len() {
        let less = failing.without(i);
        let still = if less.present().is_empty() { None } else { check(&less, effort).err() };
        match still {
            Some(still) => (failing, reason) = (less, still),
            None => i += 1,
        }
    }
    (failing, reason)
}

/// What was seen of a family.
#[derive(Default)]
struct Tally {
    verdicts: [u64; 4],
    exact_margins: u64,
    missed_gaps: u64,
    largest_gap: f64,
    seconds: f64,
    slowest: f64,
}

impl Tally {
    fn add(&mut self, seen: &Seen, wanted: f64) {
        let place = [Verdict::Complete, Verdict::QuasiComplete, Verdict::Overlap, Verdict::Undecided];
        self.verdicts[place.iter().position(|verdict| *verdict == seen.verdict).unwrap()] += 1;
        self.exact_margins += u64::from(seen.exact_margin);
        self.missed_gaps += u64::from(seen.gap.is_some_and(|gap| gap > wanted));
        self.largest_gap = self.largest_gap.max(seen.gap.unwrap_or(0.0));
        self.seconds += seen.time.as_secs_f64();
        self.slowest = self.slowest.max(seen.time.as_secs_f64());
    }
}

fn table(tallies: &BTreeMap<&str, Tally>) -> String {
    let mut text = String::from(
        "| family | complete | quasi-complete | overlap | refused | exact margins | gap missed | largest gap \
         | mean time | longest time |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for (family, tally) in tallies {
        let [complete, quasi, overlap, refused] = tally.verdicts;
        let count = (complete + quasi + overlap + refused).max(1) as f64;
        writeln!(
            text,
            "| {family} | {complete} | {quasi} | {overlap} | {refused} | {} | {} | {:.1e} | {:.2} ms | {:.1} ms |",
            tally.exact_margins,
            tally.missed_gaps,
            tally.largest_gap,
            1e3 * tally.seconds / count,
            1e3 * tally.slowest
        )
        .unwrap();
    }
    text
}

#[test]
fn never_wrong() {
    let (count, seed) = (setting("LINSEP_INSTANCES").unwrap_or(USUAL), setting("LINSEP_SEED").unwrap_or(0));
    let numbers = setting("LINSEP_NUMBER").map_or(0..count, |number| number..number + 1);
    let next = AtomicU64::new(numbers.start);
    let (tallies, failures) = (Mutex::new(BTreeMap::<&str, Tally>::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end || failures.lock().unwrap().len() >= ENOUGH {
                        break;
                    }
                    let (family, problem) = instance(seed, number);
                    let effort = effort(number);
                    match check(&problem, effort) {
                        Ok(seen) => {
                            let wanted = effort.gap.unwrap_or(1e-6);
                            tallies.lock().unwrap().entry(family).or_default().add(&seen, wanted);
                        }
                        Err(reason) => failures.lock().unwrap().push((number, family, reason)),
                    }
                }
            });
        }
    });
    report("never_wrong.md", &table(&tallies.into_inner().unwrap()));
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    let told = tell(seed, &failures);
    assert!(failures.is_empty(), "seed {seed}: {} failures in {count} problems\n{told}", failures.len());
}

/// How often each family failed, and the first failures of each, made as small as they can be.
fn tell(seed: u64, failures: &[(u64, &str, String)]) -> String {
    let mut told = String::new();
    for (family, _) in FAMILIES {
        let of_family: Vec<_> = failures.iter().filter(|failure| failure.1 == family).collect();
        if of_family.is_empty() {
            continue;
        }
        // A wrong answer says more than one that is missing.
        let missing = |reason: &str| reason.contains("Undecided");
        let undecided = of_family.iter().filter(|failure| missing(&failure.2)).count();
        writeln!(told, "\n{family}: {} failures, {undecided} of them undecided", of_family.len()).unwrap();
        let (last, first): (Vec<_>, Vec<_>) = of_family.into_iter().partition(|failure| missing(&failure.2));
        for (number, _, reason) in first.into_iter().chain(last).take(SHOWN) {
            let (small, still) = shrink(instance(seed, *number).1, effort(*number));
            writeln!(told, "  LINSEP_SEED={seed} LINSEP_NUMBER={number}: {reason}").unwrap();
            writeln!(told, "    with {:?}; smallest: {still}\n    {small:?}", effort(*number)).unwrap();
        }
    }
    told
}

/// The makers make what their names say: every family has rows, most have several verdicts.
#[test]
fn families_are_as_named() {
    use super::oracle::boundary;
    let mut verdicts: BTreeMap<&str, [u32; 3]> = BTreeMap::new();
    for number in 0..60 * FAMILIES.len() as u64 {
        let (family, problem) = instance(7, number);
        assert_eq!(problem.dataset().len(), problem.rows.len());
        assert!(problem.rows.iter().flatten().all(|value| value.is_finite()));
        let inside = boundary(&problem.z());
        let place = usize::from(inside.contains(&true)) + usize::from(!inside.contains(&false));
        verdicts.entry(family).or_default()[place] += 1;
    }
    for (family, counts) in &verdicts {
        let kinds = counts.iter().filter(|&&count| count > 0).count();
        assert!(kinds >= 2, "{family} always has the same verdict: {counts:?}");
    }
    let total = verdicts.values().fold([0; 3], |sum, counts| std::array::from_fn(|k| sum[k] + counts[k]));
    assert!(total.iter().all(|&count| count > 150), "{total:?}\n{verdicts:?}");
}

//! The checker can be read in one sitting: its lines are counted.

use std::fs;
use std::path::Path;

/// The core, in the order in which the proof is told.
const CORE: [&str; 5] = ["numbers.rs", "rows.rs", "rank.rs", "verify.rs", "columns.rs"];

/// Lines of a file before its tests that are not blank and no comments.
fn lines(path: &Path) -> usize {
    let text = fs::read_to_string(path).unwrap();
    let code = text.lines().map(str::trim).take_while(|line| *line != "#[cfg(test)]");
    code.filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

#[test]
fn the_checker_is_small() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    // No file is hidden in a folder.
    assert!(
        files.iter().all(|path| path.extension().is_some_and(|extension| extension == "rs")),
        "{files:?}"
    );
    let all: usize = files.iter().map(|path| lines(path)).sum();
    let core: usize = CORE.iter().map(|name| lines(&folder.join(name))).sum();
    assert!(core <= 600, "the core has {core} lines");
    assert!(all <= 1150, "the checker has {all} lines");
}

#[test]
fn the_checker_stands_alone() {
    let manifest = include_str!("../Cargo.toml");
    let tables: Vec<&str> = manifest.lines().filter(|line| line.starts_with('[')).collect();
    assert_eq!(tables, ["[package]", "[dev-dependencies]", "[[test]]", "[lints]"]);
    for root in [include_str!("../src/lib.rs"), include_str!("../src/main.rs")] {
        assert!(root.contains("\n#![forbid(unsafe_code)]\n"));
    }
}

/// The checker in Python, which must agree with this one, is smaller still.
#[test]
fn the_second_checker_is_smaller() {
    let text = include_str!("../../../tests/oracle/certificate_checker.py");
    let (mut count, mut inside) = (0, false);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let quotes = line.matches("\"\"\"").count();
        count += usize::from(!inside && quotes == 0);
        inside ^= quotes == 1;
    }
    assert!((100..=150).contains(&count), "{count} lines");
}

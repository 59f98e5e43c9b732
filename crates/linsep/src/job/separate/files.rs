//! The files of certificates, one for each pair of sides.

use super::SeparateSpec;
use crate::classes::ClassPair;
use crate::job::refuse_overwriting;
use crate::numbers::counted;
use crate::store::check_writable;
use crate::{Error, SettingsError};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

impl SeparateSpec {
    /// One file for each pair of sides, none of which replaces an input.
    pub(super) fn files(&self, folder: &Path, pairs: &[ClassPair]) -> Result<Vec<PathBuf>, Error> {
        if folder.exists() && !folder.is_dir() {
            let problem = format!(
                "{} is a file, and a table has a certificate for each of its {}: name a folder",
                folder.display(),
                counted(pairs.len() as u64, "line", "lines")
            );
            return Err(SettingsError::new("output", problem).into());
        }
        let files: Vec<PathBuf> = file_names(pairs).into_iter().map(|name| folder.join(name)).collect();
        let outputs: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        // Their names differ: only the inputs are in danger.
        outputs.iter().try_for_each(|output| refuse_overwriting(&[output], &self.inputs()))?;
        self.data.refuse_replacing_cache(&outputs)?;
        if folder.is_dir() {
            for file in &files {
                check_writable(file)?;
            }
        }
        Ok(files)
    }
}

/// A file name for each pair of sides, by its classes. No two are the same, even where case is ignored.
fn file_names(pairs: &[ClassPair]) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut unused = |name: String| {
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        names.find(|name| taken.insert(name.to_lowercase())).unwrap_or(name) + ".cert"
    };
    let name = |pair: &ClassPair| match pair.negative.only() {
        Some(only) => format!("{}-vs-{}", safe(only), safe(&pair.positive)),
        None => format!("{}-vs-rest", safe(&pair.positive)),
    };
    pairs.iter().map(|pair| unused(name(pair))).collect()
}

/// A class in a file name: letters, digits and underscores, after the first character also - . and +; not too long.
fn safe(class: &str) -> String {
    const LONGEST: usize = 40;
    let kept = |(place, c): (usize, char)| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => c,
        '-' | '.' | '+' if place > 0 => c,
        _ => '_',
    };
    class.chars().take(LONGEST).enumerate().map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_safe_and_differ() {
        let pair = |positive: &str, negative: &[&str]| ClassPair {
            positive: positive.to_string(),
            negative: negative.iter().map(ToString::to_string).collect::<Vec<_>>().into(),
        };
        let names = file_names(&[
            pair("setosa", &["a", "b"]),
            pair("../etc/passwd", &["a", "b"]),
            pair("-1", &["0", "1"]),
            pair("_1", &["0", "1"]),
            pair("Ä", &["ß"]),
            pair("SETOSA", &["a", "b"]),
            pair("x y", &["1.5"]),
        ]);
        let expected = [
            "setosa-vs-rest.cert",
            "_._etc_passwd-vs-rest.cert",
            "_1-vs-rest.cert",
            "_1-vs-rest-2.cert",
            "_-vs-_.cert",
            "SETOSA-vs-rest-2.cert",
            "1.5-vs-x_y.cert",
        ];
        assert_eq!(names, expected);
    }
}

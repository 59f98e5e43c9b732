//! The promise of ARCHITECTURE.md: data flows one way, so no stage imports a later one. And: unsafe code is in the files
//! that are listed here, and nowhere else.
//!
//! The source is read as text: `crate::` and `super::` paths outside comments, strings and tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the crate's root in the order of the stages. Modules of one stage may import each other.
const STAGES: &[&[&str]] = &[
    &["spelling", "numbers", "random", "linalg", "memory", "waiting", "store"],
    &["classes", "theta", "dataset"],
    &["observe"],
    &["split", "features"],
    &["read", "write", "generate"],
    &["theory"],
    &["separate"],
    &["train"],
    &["model"],
    &["prepare"],
    &["validate", "theory_report"],
    &["job"],
    &["settings"],
    &["report"],
    &["chart"],
    &["page"],
];

/// The one error type names the errors of all stages, and every stage gives it.
const EXEMPT: &[&str] = &["error"];

/// The files with unsafe code: vector instructions, mapped files and the signal when one is cut
/// short, hints to the memory. A folder stands for all its files.
const UNSAFE: &[&str] = &[
    "dataset/storage.rs",
    "linalg/mod.rs",
    "read/cache/guard.rs",
    "read/cache/mod.rs",
    "read/csv/numbers.rs",
    "read/digits.rs",
    "read/libsvm/pairs.rs",
    "train/learners/kernel/gram.rs",
];

#[test]
fn every_module_is_in_one_stage() {
    let root = Root::read();
    for module in &root.modules {
        let count = STAGES.iter().flat_map(|stage| stage.iter()).filter(|name| *name == module).count();
        let expected = usize::from(!EXEMPT.contains(&module.as_str()));
        assert_eq!(count, expected, "crate::{module} should be in one stage of STAGES");
    }
}

#[test]
fn no_stage_imports_a_later_one() {
    let root = Root::read();
    let stage = |module: &str| STAGES.iter().position(|stage| stage.contains(&module));
    let mut faults = String::new();
    for arrow in root.arrows() {
        let (Some(from), Some(to)) = (stage(&arrow.from), stage(&arrow.to)) else { continue };
        if from >= to {
            continue;
        }
        let _ = writeln!(faults, "{}:{}: {} → {}", arrow.file.display(), arrow.line, arrow.from, arrow.to);
    }
    assert!(faults.is_empty(), "these import a later stage:\n{faults}");
}

#[test]
fn unsafe_code_is_where_it_is_listed() {
    let source = Root::read().source;
    let allowed: Vec<String> = files(&source)
        .iter()
        .filter(|file| fs::read_to_string(file).expect("a source file").contains("allow(unsafe_code"))
        .map(|file| file.strip_prefix(&source).expect("inside").to_string_lossy().replace('\\', "/"))
        .collect();
    assert_eq!(allowed, UNSAFE);
    let root = fs::read_to_string(source.join("lib.rs")).expect("lib.rs");
    assert!(root.contains("#![deny(unsafe_code)]"));
}

/// One import: where it is, and between which modules of the root.
struct Arrow {
    file: PathBuf,
    line: usize,
    from: String,
    to: String,
}

/// The crate's root: its modules, and which of them its names come from.
struct Root {
    source: PathBuf,
    modules: Vec<String>,
    names: BTreeMap<String, String>,
}

impl Root {
    fn read() -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let text = plain(&fs::read_to_string(source.join("lib.rs")).expect("lib.rs"));
        let mut modules = Vec::new();
        let mut names = BTreeMap::new();
        for item in text.split(';') {
            let words: Vec<&str> =
                item.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).collect();
            if let Some(at) = words.iter().rposition(|word| *word == "mod") {
                let module = words.get(at + 1).expect("a name").to_string();
                names.insert(module.clone(), module.clone());
                modules.push(module);
            }
        }
        for item in text.split(';') {
            // `pub use module::{One, Another}`: the last names of the paths.
            let Some((_, path)) = item.split_once("pub use ") else { continue };
            let module = path.split("::").next().unwrap_or_default().trim().to_string();
            for name in path.split(|c: char| !is_word(c)).skip(1).filter(|name| !name.is_empty()) {
                names.entry(name.to_string()).or_insert(module.clone());
            }
        }
        assert!(modules.len() > 10, "lib.rs was not understood");
        Self { source, modules, names }
    }

    /// All imports of one module of the root by another, outside tests.
    fn arrows(&self) -> Vec<Arrow> {
        let all: Vec<(PathBuf, String)> = files(&self.source)
            .into_iter()
            .map(|file| {
                let text = fs::read_to_string(&file).expect("a source file");
                (file, plain(&text))
            })
            .collect();
        let mut only_for_tests = BTreeSet::new();
        let shown: Vec<(PathBuf, String)> = all
            .into_iter()
            .map(|(file, text)| {
                let (text, modules) = without_tests(&text);
                let folder = match file.file_stem().and_then(|stem| stem.to_str()) {
                    Some("mod" | "lib") => file.parent().expect("a folder").to_path_buf(),
                    _ => file.with_extension(""),
                };
                only_for_tests.extend(modules.into_iter().map(|module| folder.join(module)));
                (file, text)
            })
            .collect();
        let mut arrows = Vec::new();
        for (file, text) in &shown {
            if file.ancestors().any(|part| only_for_tests.contains(&part.with_extension(""))) {
                continue;
            }
            let inside = file.strip_prefix(&self.source).expect("inside").with_extension("");
            let mut place: Vec<String> =
                inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            if place.last().is_some_and(|last| last == "mod") {
                place.pop();
            }
            if place == ["lib"] || EXEMPT.contains(&place[0].as_str()) {
                continue;
            }
            for (at, name) in imports(text, place.len()) {
                let Some(to) = self.names.get(&name) else { continue };
                if *to != place[0] {
                    let line = text[..at].matches('\n').count() + 1;
                    let file = file.strip_prefix(&self.source).expect("inside").to_path_buf();
                    arrows.push(Arrow { file, line, from: place[0].clone(), to: to.clone() });
                }
            }
        }
        assert!(arrows.len() > 100, "the imports were not understood");
        arrows
    }
}

/// All source files, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The text with comments and the contents of strings as spaces; lines stay.
fn plain(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    let blank = |out: &mut Vec<u8>, from: usize, to: usize| {
        out[from..to].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    };
    let find = |from: usize, what: &str| text[from..].find(what).map_or(text.len(), |found| from + found);
    while at < bytes.len() {
        let rest = &text[at..];
        let after_word = at > 0 && is_word(bytes[at - 1] as char);
        let end = if rest.starts_with("//") {
            find(at, "\n")
        } else if rest.starts_with("/*") {
            (find(at, "*/") + 2).min(text.len())
        } else if !after_word && (rest.starts_with("r\"") || rest.starts_with("r#") || rest.starts_with("br"))
        {
            let hashes = rest.trim_start_matches(['b', 'r']).bytes().take_while(|byte| *byte == b'#').count();
            let opening = at + rest.find(['"']).unwrap_or(0) + 1;
            let is_string = rest.trim_start_matches(['b', 'r'])[hashes..].starts_with('"');
            if is_string { find(opening, &format!("\"{}", "#".repeat(hashes))) + 1 + hashes } else { at }
        } else if rest.starts_with('"') {
            let mut end = at + 1;
            while end < bytes.len() && bytes[end] != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            end + 1
        } else if let Some(quoted) = rest.strip_prefix('\'') {
            // A character, not a lifetime: closed after one character or an escape.
            let mut characters = quoted.char_indices();
            match characters.next() {
                Some((_, '\\')) => find(at + 3, "'") + 1,
                Some(_) if characters.next().is_some_and(|(_, c)| c == '\'') => find(at + 1, "'") + 1,
                _ => at,
            }
        } else {
            at
        };
        if end > at {
            blank(&mut out, at, end.min(bytes.len()));
            at = end;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    String::from_utf8(out).expect("whole characters were replaced")
}

/// The text without the items under `#[cfg(test)]`, and the names of the modules among these that are files of their own.
fn without_tests(text: &str) -> (String, Vec<String>) {
    const MARK: &str = "#[cfg(test)]";
    let mut out = text.as_bytes().to_vec();
    let mut modules = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find(MARK) {
        let start = at + found;
        let mut depth = 0usize;
        let mut end = text.len();
        for (i, byte) in text.bytes().enumerate().skip(start + MARK.len()) {
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && matches!(byte, b';' | b'}') {
                end = i + 1;
                break;
            }
        }
        let item = text[start + MARK.len()..end].trim();
        if let Some((_, module)) = item.trim_end_matches(';').rsplit_once("mod ")
            && module.chars().all(is_word)
        {
            modules.push(module.to_string());
        }
        out[start..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        at = end;
    }
    (String::from_utf8(out).expect("whole characters were replaced"), modules)
}

/// What a file at this depth imports from the root, with the places: the first names after `crate::`, and after as many
/// `super::` as lead there.
fn imports(text: &str, depth: usize) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for prefix in ["crate::".to_string(), "super::".repeat(depth)] {
        for (at, _) in text.match_indices(&prefix) {
            let before = text[..at].chars().next_back();
            if before.is_some_and(|c| is_word(c) || c == ':' || c == '$') {
                continue;
            }
            let rest = &text[at + prefix.len()..];
            found.extend(first_names(rest).into_iter().map(|name| (at, name)));
        }
    }
    found
}

/// `name…`, or the first names of `{one…, another…}`.
fn first_names(text: &str) -> Vec<String> {
    let name = |text: &str| text.trim_start().chars().take_while(|c| is_word(*c)).collect::<String>();
    let Some(group) = text.strip_prefix('{') else { return vec![name(text)] };
    let mut names = vec![name(group)];
    let mut depth = 0;
    for (at, byte) in group.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => break,
            b'}' => depth -= 1,
            b',' if depth == 0 => names.push(name(&group[at + 1..])),
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[test]
fn the_reading_of_the_source_is_right() {
    let text = "use crate::{one::A, two::{b, c}, D}; // crate::comment\nlet s = \"crate::string\"; 'a'; b'\\''; &'static str;\n\
                use super::super::E; let r = r#\"crate::raw\"#; use crate::three;\n\
                #[cfg(test)]\nmod tests {\n fn f() { crate::four::f() }\n}\n#[cfg(test)]\nmod other;\nuse crate::five::*;\n";
    let (text, modules) = without_tests(&plain(text));
    let names: Vec<String> = imports(&text, 2).into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["one", "two", "D", "three", "five", "E"]);
    assert_eq!(modules, ["other"]);
}

//! The promise of docs/plots.md: its pictures are what its commands make. `LINSEP_REMAKE_PICTURES=1` writes them anew.

use crate::common::Folder;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn pictures_of_the_documents_are_current() {
    let document = include_str!("../../../docs/plots.md");
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
    let remake = std::env::var_os("LINSEP_REMAKE_PICTURES").is_some();
    let folder = Folder::new();
    fs::create_dir(folder.path("pictures")).expect("a folder");
    let mut made = BTreeSet::new();
    for command in document.lines().filter_map(|line| line.strip_prefix("$ linsep ")) {
        folder.linsep(&format!("{command} -q")).exits(0);
        let Some((_, file)) = command.split_once("-o pictures/") else { continue };
        let (new, place) = (folder.text(&format!("pictures/{file}")), kept.join(file));
        assert!(document.contains(&format!("](pictures/{file})")), "{file} is not shown");
        if remake {
            fs::write(&place, &new).expect("write a picture");
        }
        let old = fs::read_to_string(&place).unwrap_or_default();
        assert!(
            old == new,
            "docs/pictures/{file} is not what `linsep {command}` makes: run \
             LINSEP_REMAKE_PICTURES=1 cargo test -p linsep-cli --test main pictures::"
        );
        made.insert(file.to_string());
    }
    assert!(made.len() >= 10, "the document has lost its commands: {made:?}");
    let there: BTreeSet<String> = fs::read_dir(&kept)
        .expect("the pictures")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(there, made, "docs/pictures has files that no command of docs/plots.md makes");
}

//! The estimates of Firth's logistic regression and the statuses of coefficients, beside those of R. It needs R with two packages, which
//! take minutes to install, so it is run by hand:
//!
//! ```text
//! apt-get install --no-install-recommends r-cran-brglm2 r-cran-lpsolve
//! cargo test -p linsep-cli --test main brglm2 -- --ignored --nocapture
//! ```

use crate::common::{Folder, published};
use linsep::Model;
use linsep::random::Random;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A table of numbers, dummies and copies, some of them far from 0; rows of either class in any place.
fn drawn(number: u64) -> String {
    let random = &mut Random::stream(91, number);
    let rows = 12 + random.below(30) as usize;
    let shift = [0.0, 0.0, 1000.0][random.below(3) as usize];
    let kinds: Vec<u64> = (0..1 + random.below(4)).map(|_| random.below(4)).collect();
    let mut text: String = (0..kinds.len()).map(|j| format!("x{j},")).collect::<String>() + "y\n";
    for i in 0..rows {
        let mut first = 0.0;
        for (j, kind) in kinds.iter().enumerate() {
            let value = match kind {
                // Exact in floats, so that copies are: R calls columns aliased by a tolerance.
                0 => (random.normal() * 64.0).round() / 64.0 + shift,
                1 => random.below(2) as f64,
                2 => random.below(4) as f64,
                // A copy of the first column, but for its unit.
                _ => 2.0 * first + 1.0,
            };
            first = if j == 0 { value } else { first };
            text += &format!("{value},");
        }
        // Both classes occur.
        text += &format!("{}\n", if i < 2 { i as u64 } else { u64::from(random.below(3) == 0) });
    }
    text
}

#[test]
#[ignore = "needs R: see above"]
#[expect(clippy::print_stdout, reason = "what was compared is told")]
fn estimates_and_statuses_are_those_of_r() {
    let mut tables: BTreeMap<String, String> = [
        ("endometrial", published::endometrial(&["NV", "PI", "EH"])),
        ("endometrial-doubled", published::endometrial(&["NV", "2NV", "PI", "EH"])),
        ("endometrial-turned", published::endometrial(&["-NV", "PI", "EH"])),
        ("lizards", published::lizards()),
        ("silvapulle", published::silvapulle()),
        ("murder", published::MURDER.to_string()),
        ("sex", published::sex()),
    ]
    .into_iter()
    .map(|(name, table)| (format!("{name}.csv"), table))
    .collect();
    tables.extend((0..60).map(|number| (format!("drawn-{number:02}.csv"), drawn(number))));
    let folder = Folder::new();
    tables.iter().for_each(|(name, table)| folder.write(name, table));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/development/brglm2.R");
    let ran = Command::new("Rscript").arg(script).arg(folder.path(".")).output().expect("Rscript");
    let (out, error) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{error}");
    let mut told: BTreeMap<&str, Vec<(&str, f64, &str)>> = BTreeMap::new();
    for line in out.lines() {
        let [name, column, firth, status] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        told.entry(name).or_default().push((column, firth.parse().expect(line), status));
    }
    assert_eq!(told.len(), tables.len());
    let (mut coefficients, mut furthest) = (0, 0.0f64);
    for (name, expected) in told {
        let options = "--learner logistic --firth --scale none --gap 1e-10";
        folder.linsep(&format!("train {name} {options} -o {name}.model -q")).exits(0);
        let model = Model::from_bytes(&folder.read(&format!("{name}.model"))).expect("a model");
        let theta = model.learned.theta();
        let ours: Vec<f64> =
            std::iter::once(theta.intercept()).chain(theta.weights.iter().copied()).collect();
        let record = folder.linsep(&format!("separate {name} --json")).json();
        let statuses = record["coefficients"].as_array().expect("statuses");
        assert_eq!((ours.len(), statuses.len()), (expected.len(), expected.len()), "{name}");
        for (place, (column, firth, status)) in expected.into_iter().enumerate() {
            let off = (ours[place] - firth).abs() / (1.0 + firth.abs());
            assert!(off < 1e-5, "{name}, {column}: {} here, {firth} in R", ours[place]);
            let here = statuses[place]["status"].as_str().expect("a status").replace("infinite-sign-", "");
            assert_eq!(here, status, "{name}, {column}");
            (coefficients, furthest) = (coefficients + 1, furthest.max(off));
        }
    }
    println!(
        "{} tables, {coefficients} coefficients: all statuses equal, estimates within {furthest:.1e}",
        tables.len()
    );
}

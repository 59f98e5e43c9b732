//! One file and both readers: that of the program linsep-check, and linsep's own. Either they see the same rows, or the first
//! refuses the file.

use linsep::job::{DataSpec, VerifySpec};
use linsep::read::{CsvOptions, Format};
use linsep::separate::sides;
use linsep::{ReadOptions, Row, Source};
use linsep_check::{Certificate, Examples as _};

#[allow(dead_code, unreachable_pub, reason = "the module of a program")]
#[path = "../../../linsep-check/src/table.rs"]
mod table;

/// How a file is to be read, on both command lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// `--label`.
    pub(crate) label: Option<String>,
    /// `--ignore`.
    pub(crate) ignore: Option<String>,
    /// `--weights`.
    pub(crate) weights: Option<String>,
    /// `--header`.
    pub(crate) header: bool,
    /// The ending of its name, with the point.
    pub(crate) ending: &'static str,
}

/// The result for one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// Both see the same rows.
    Same,
    /// linsep-check refuses the file.
    Refused,
}

/// The numbers of a row that are not 0, and its side.
type SeenRow = (Vec<(usize, u64)>, i8);

fn nonzero(values: impl Iterator<Item = (usize, f64)>) -> Vec<(usize, u64)> {
    values.filter(|&(_, value)| value != 0.0).map(|(j, value)| (j, value.to_bits())).collect()
}

/// Reads a text with both readers. The sides are those of a certificate with these classes.
///
/// # Errors
///
/// What differs.
pub(crate) fn agree(
    text: &[u8],
    options: &Options,
    positive: &[&str],
    negative: &[&str],
) -> Result<Agreement, String> {
    let names = |word: &str, names: &[&str]| {
        names.iter().map(|name| format!("{word} \"{name}\"\n")).collect::<String>()
    };
    let certificate = format!(
        "linsep certificate 2\nfingerprint \"\"\nrows 0\nfeatures 0\n{}{}bias none\nverdict overlap\n\
         combination 0:0x1p0\nat-least 0\nend\n",
        names("positive", positive),
        names("negative", negative)
    );
    let certificate =
        Certificate::parse(&certificate).map_err(|line| format!("line {line} of the certificate"))?;
    let name = format!("data{}", options.ending);
    let extension = options.ending.trim_start_matches('.').to_lowercase();
    let Ok(decoded) = std::str::from_utf8(text) else { return Ok(Agreement::Refused) };
    let given = [("--label", &options.label), ("--ignore", &options.ignore), ("--weights", &options.weights)];
    let mut arguments: Vec<(String, String)> =
        given.iter().filter_map(|(name, value)| Some((name.to_string(), (*value).clone()?))).collect();
    arguments.extend(options.header.then(|| ("--header".to_owned(), String::new())));
    let Ok(seen) = table::read(&name, decoded, &arguments, &certificate.subject) else {
        return Ok(Agreement::Refused);
    };

    let csv = CsvOptions {
        label: options.label.clone(),
        ignore: options.ignore.clone().into_iter().collect(),
        header: options.header.then_some(true),
        ..CsvOptions::default()
    };
    let data = DataSpec {
        source: Source::Shared(name, text.into()),
        // With a limit that is given, few values may have many features.
        read: ReadOptions {
            csv,
            format: Format::from_extension(&extension),
            max_features: Some(ReadOptions::MAX_FEATURES),
            ..ReadOptions::default()
        },
        counts: options.weights.clone(),
        ..DataSpec::default()
    };
    let spec = VerifySpec { data, ..VerifySpec::default() };
    let verified = spec
        .run_on(certificate.clone(), &mut ())
        .map_err(|error| format!("linsep-check reads {} rows, linsep says: {error}", seen.rows()))?;
    let signs = match sides(&verified.data, &certificate) {
        Ok(examples) => examples.signs().to_vec(),
        Err(rejected) => return Err(format!("only linsep rejects it: {rejected:?}")),
    };
    let own: Vec<SeenRow> = (0..verified.data.len())
        .map(|i| {
            let row: Row<'_> = verified.data.row(i);
            (nonzero(row.iter()), signs[i])
        })
        .collect();
    let other: Vec<SeenRow> = (0..seen.rows())
        .map(|i| {
            let mut values = Vec::new();
            seen.values(i, &mut values);
            (nonzero(values.into_iter()), seen.side(i))
        })
        .collect();
    if (verified.data.columns(), &own) == (seen.features(), &other) {
        return Ok(Agreement::Same);
    }
    Err(format!(
        "linsep-check: {} features, {other:?}\nlinsep: {} features, {own:?}, classes {:?}",
        seen.features(),
        verified.data.columns(),
        verified.data.classes()
    ))
}

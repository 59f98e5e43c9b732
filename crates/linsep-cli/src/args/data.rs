//! What commands that read labelled data say of it.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use linsep::read::FormatColumns::{AsStored, Documents, Pixels};
use linsep::read::{FORMATS, Format};
use std::sync::LazyLock;

/// Help text for labelled data: every input format.
pub(crate) static LABELLED_DATA: LazyLock<String> = LazyLock::new(|| {
    let mut titles: Vec<String> = Vec::new();
    for format in FORMATS.iter().filter(|format| !matches!(format.columns, Documents | Pixels)) {
        let title = match format.extensions {
            [_, ..] if format.columns == AsStored => ".linsep".to_string(),
            [ending, ..] if !format.is_text => format!("{} (.{ending})", format.title),
            _ => format.title.to_string(),
        };
        // Two formats may have one title.
        match titles.iter_mut().find(|other| other.starts_with(&format!("{} (", format.title))) {
            Some(other) => *other = format!("{}, .{})", other.trim_end_matches(')'), format.extensions[0]),
            None => titles.push(title),
        }
    }
    format!(
        "Labelled data: {}; text formats may be compressed (.gz, .zst); - for standard input; or a folder \
         of texts, e-mails or images with one subfolder per class",
        titles.join(", ")
    )
});

/// The formats by their names, as the library lists them.
pub(crate) fn format_parser() -> impl TypedValueParser<Value = Format> {
    let value = |format: &&linsep::read::FormatDescriptor| PossibleValue::new(format.name).help(format.help);
    PossibleValuesParser::new(FORMATS.iter().map(value)).try_map(|name| name.parse::<Format>())
}

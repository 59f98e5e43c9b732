//! How to call a command again on the same rows: words for the shell.

use crate::args::ReadArgs;
use clap::ValueEnum;
use std::path::Path;

/// The data, and the options that say which rows and features.
pub(super) struct Words(String);

impl Words {
    /// The data alone.
    pub(super) fn of(data: &Path) -> Self {
        Self(quoted(&data.display().to_string()))
    }

    /// Adds an option, where it has a value.
    pub(super) fn option(mut self, name: &str, value: Option<String>) -> Self {
        if let Some(value) = value {
            self.0 += &format!(" {name} {}", quoted(&value));
        }
        self
    }

    /// Adds how the data is read.
    pub(super) fn reading(self, args: &ReadArgs) -> Self {
        let ReadArgs {
            format,
            label,
            ignore,
            header,
            delimiter,
            missing,
            index_base,
            labels,
            skip_bad,
            max_features,
        } = args;
        let tab = |byte: u8| if byte == b'\t' { "tab".to_string() } else { char::from(byte).to_string() };
        let mut words = self
            .option("--format", format.and_then(named))
            .option("--label", label.clone())
            .option("--ignore", (!ignore.is_empty()).then(|| ignore.join(",")))
            .option("--header", header.and_then(named))
            .option("--delimiter", delimiter.map(tab))
            .option("--missing", missing.and_then(named))
            .option("--index-base", index_base.map(|base| base.to_string()))
            .option("--labels", labels.as_ref().map(|path| path.display().to_string()))
            .option("--max-features", max_features.map(|most| most.to_string()));
        if *skip_bad {
            words.0.push_str(" --skip-bad");
        }
        words
    }

    /// The words, as typed.
    pub(super) fn text(self) -> String {
        self.0
    }
}

/// How a choice is spelled on the command line.
pub(super) fn named<T: ValueEnum>(choice: T) -> Option<String> {
    choice.to_possible_value().map(|value| value.get_name().to_string())
}

/// A word for the shell.
pub(super) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./,:=+%@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_string();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

//! What the commands that read labelled data have in common: how it is read, which classes, which scale, which bias.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// How data is read.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadArgs {
    /// The format, if the content should not decide
    #[arg(long, value_enum)]
    pub(crate) format: Option<FormatArg>,
    /// CSV: column of the label, by name or number from 1 [default: the last]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// CSV: column to leave out, by name or number from 1 (repeat, or separate by commas)
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,
    /// CSV: whether the first row names the columns
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) header: Option<HeaderArg>,
    /// CSV: the delimiter: one character, or tab or space
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// CSV: what missing cells become; without this they are an error (drop-row also drops rows without a label)
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) missing: Option<MissingArg>,
    /// LIBSVM: index of the first feature [default: 0 if index 0 occurs, else 1]
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u32).range(0..=1))]
    pub(crate) index_base: Option<u32>,
    /// NumPy: file with one label for each row (.npy, or text with one per line)
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Skip malformed rows, count them and list the first
    #[arg(long)]
    pub(crate) skip_bad: bool,
    /// The most features accepted [default: 134217728]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_features: Option<u32>,
}

/// Whether the rows are kept for the next time.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct CacheArgs {
    /// Keep the rows in FILE.linsep beside the data, ready for use, and read that from then on while the data and these
    /// options stay as they are
    #[arg(long)]
    pub(crate) cache: bool,
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        "space" => Ok(b' '),
        _ => match text.as_bytes() {
            [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(*byte),
            _ => Err("one character is needed (not a quote), or tab, or space".to_string()),
        },
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum FormatArg {
    Libsvm,
    Csv,
    Tsv,
    Npy,
    Npz,
    /// A cache, as convert makes it
    Linsep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeaderArg {
    Auto,
    Yes,
    No,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum MissingArg {
    /// Mean of the column; words set no feature
    Mean,
    /// Zero; words set no feature
    Zero,
    /// The row is left out
    DropRow,
}

/// Which classes, how much they count, and on which scale.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Classes and scale")]
pub(crate) struct ClassArgs {
    /// The class that counts as +1; with more than two classes, it is set against the rest [default: the last of two;
    /// of more, each is set against the rest]
    #[arg(long, value_name = "CLASS", allow_hyphen_values = true)]
    pub(crate) positive: Option<String>,
    /// Keep only the rows of these classes
    #[arg(long = "classes", value_name = "A,B", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) keep: Vec<String>,
    /// How often rows count: balanced (each class as much as the other), or CLASS=WEIGHT (repeat, or separate by commas)
    #[arg(long, value_name = "balanced|CLASS=W", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) class_weight: Vec<String>,
    /// File with one number for each row, in order: how often it counts (.npy, or text with one per line)
    #[arg(long, value_name = "FILE")]
    pub(crate) weights: Option<PathBuf>,
    /// Scale features, as learned on the training rows and stored in the model [default: none]
    #[arg(long, value_enum)]
    pub(crate) scale: Option<ScaleArg>,
}

/// Whether the boundary may miss the origin.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Learning")]
pub(crate) struct BiasArgs {
    /// Whether the boundary may miss the origin [default: append]
    #[arg(long, value_enum)]
    pub(crate) bias: Option<BiasArg>,
    /// Value of the appended coordinate [default: 1]
    #[arg(long, value_name = "SCALE", allow_negative_numbers = true)]
    pub(crate) bias_scale: Option<f64>,
}

/// All of these, for commands that ask for a task and not for a model.
#[derive(Debug, Default, Args)]
pub(crate) struct TaskArgs {
    #[command(flatten)]
    pub(crate) bias: BiasArgs,
    #[command(flatten)]
    pub(crate) classes: ClassArgs,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) cache: CacheArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BiasArg {
    /// The boundary goes through the origin
    None,
    /// A constant coordinate is appended to every row
    Append,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ScaleArg {
    /// Values as they are
    None,
    /// Each feature divided by its largest magnitude
    MaxAbs,
    /// Each feature to mean 0 and variance 1 (sparse data is scaled without centring)
    Standard,
    /// Each row divided by its length
    UnitRows,
}

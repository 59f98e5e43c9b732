//! The arguments of `separate` and `verify`.

use super::{Flags, Separating, Verifying};
use clap::Args;
use std::path::PathBuf;

/// The end of `linsep separate --help`.
const AFTER_SEPARATE: &str = "\
Exit codes of separate: 0 completely separable, 1 quasi-completely separable or overlapping, 4 undecided. \
For a table: 0 if every line is completely separable, 4 if one is undecided, otherwise 1.

Margins refer to the rows as read. There is no --scale option, because scaling changes the margin. Whether the classes are separable does not depend on the scale of the features.";

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true, after_help = AFTER_SEPARATE, after_long_help = AFTER_SEPARATE)]
pub(crate) struct SeparateArgs {
    /// Output certificate, for verify and linsep-check; for a table, a folder with one certificate per line
    ///
    /// The folder is created if it does not exist. Its files are named by the classes, such as
    /// setosa-vs-rest.cert or versicolor-vs-virginica.cert, with _ for characters that some systems do not
    /// allow in names.
    #[arg(short, long, value_name = "CERTIFICATE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) decide: DecideArgs,
    /// Print one JSON record on standard output instead of the report
    #[arg(long, help_heading = None::<&'static str>)]
    pub(crate) json: bool,
}

/// The decision and its limits.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct DecideArgs {
    /// The input data.
    #[arg(help = super::data::LABELLED_DATA.as_str())]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) flags: Flags<Separating>,
}

/// The end of `linsep verify --help`.
const AFTER_VERIFY: &str = "Exit codes of verify: 0 accepted, 1 rejected (also if one of the two classes \
                            has no rows, unless --allow-one-sided), 3 if the file is not a certificate.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_VERIFY, after_long_help = AFTER_VERIFY)]
pub(crate) struct VerifyArgs {
    /// Certificate file written by separate -o
    pub(crate) certificate: PathBuf,
    /// The labelled data of the certificate, with the same input options as for separate; - for standard
    /// input
    pub(crate) data: PathBuf,
    /// Print one JSON record on standard output instead of the report
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) flags: Flags<Verifying>,
}

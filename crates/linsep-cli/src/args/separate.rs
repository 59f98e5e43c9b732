//! The arguments of `separate` and `verify`.

use super::choice::{COLUMN_DETAILS, SEPARATE_BIASES, choice};
use super::{CacheArgs, ReadArgs, WeightsArg};
use clap::Args;
use linsep::job::BiasKind;
use linsep::separate::ColumnDetail;
use std::path::PathBuf;

/// The end of `linsep separate --help`.
const AFTER_SEPARATE: &str = "\
Exit codes of separate: 0 completely separable, 1 quasi-completely separable or overlapping, 4 undecided. For a table: 0 \
if every line is completely separable, 4 if one is undecided, else 1.

Margins are those of the rows as read. There is no --scale here, because scaled rows have another margin. Whether the \
classes can be separated does not depend on the scale of the features.";

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true, after_help = AFTER_SEPARATE, after_long_help = AFTER_SEPARATE)]
pub(crate) struct SeparateArgs {
    /// Where to write the certificate, for verify and linsep-check; for a table, a folder for one certificate per line
    ///
    /// The folder is made if it does not exist. Its files are named by the classes, such as setosa-vs-rest.cert or
    /// versicolor-vs-virginica.cert, with _ for characters that some systems do not allow in names.
    #[arg(short, long, value_name = "CERTIFICATE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) decide: DecideArgs,
    /// Print one JSON record on standard output instead of the report
    #[arg(long, help_heading = None::<&'static str>)]
    pub(crate) json: bool,
}

/// Which rows are decided, and how.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct DecideArgs {
    /// Which rows are decided.
    #[arg(help = super::data::LABELLED_DATA.as_str())]
    pub(crate) data: PathBuf,

    /// Whether the boundary may miss the origin, and which margin is meant
    #[arg(
        long,
        value_name = "BIAS",
        default_value = "append",
        value_parser = choice::<BiasKind>(SEPARATE_BIASES),
        help_heading = "Deciding"
    )]
    pub(crate) bias: BiasKind,
    /// Value of the appended coordinate [default: 1]
    #[arg(long, value_name = "SCALE", allow_negative_numbers = true, help_heading = "Deciding")]
    pub(crate) bias_scale: Option<f64>,
    /// Narrow the margin interval of separable data to this width, relative to its upper end [default: 1e-6; for data
    /// with many features, what the first separating boundary shows]
    #[arg(long, value_name = "GAP", allow_negative_numbers = true, help_heading = "Deciding")]
    pub(crate) gap: Option<f64>,
    /// Stop after this many seconds of deciding; the lines of a table share them, and so do the verdict and --blame [default: no
    /// limit]
    #[arg(
        long,
        visible_alias = "max-seconds",
        value_name = "SECONDS",
        allow_negative_numbers = true,
        help_heading = "Deciding"
    )]
    pub(crate) time: Option<f64>,
    /// Decide with at most about this much memory, such as 500MB or 2GB, beside the rows, which are all kept, and what reading
    /// the file takes [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = super::size, help_heading = "Deciding")]
    pub(crate) memory: Option<u64>,
    /// Seed of the random samples
    #[arg(long, value_name = "S", default_value_t = 0, help_heading = "Deciding")]
    pub(crate) seed: u64,
    /// Where the classes are not completely separable, look for few rows whose removal separates the rest
    ///
    /// The rest is proved to be completely separable, and how few rows can be enough is bounded from below by a proof; where both meet,
    /// no smaller set exists. The answer does not depend on how the bias is counted or on the units of the columns. With --weights a
    /// row costs its count. Without --time the search ends after a fixed number of operations.
    #[arg(long, help_heading = "Deciding")]
    pub(crate) blame: bool,

    /// What is said about columns beside the verdict of two sides: whether each coefficient of a logistic regression is
    /// finite, and which few columns separate by themselves [default: usual]
    #[arg(long, value_name = "HOW", value_parser = choice::<ColumnDetail>(COLUMN_DETAILS), help_heading = "Deciding")]
    pub(crate) columns: Option<ColumnDetail>,

    /// CSV: which word of a column the others are compared with in the coefficients: first (in alphabetical order),
    /// most-frequent, or COLUMN=WORD (repeat, or separate by commas) [default: first]
    #[arg(long, value_name = "LEVEL", value_delimiter = ',', help_heading = "Deciding")]
    pub(crate) reference: Vec<String>,

    /// The class that counts as +1; with more than two classes, it is set against the rest [default: the last of two; of
    /// more, each is set against the rest, as a table]
    #[arg(long, value_name = "CLASS", allow_hyphen_values = true, help_heading = "Classes")]
    pub(crate) positive: Option<String>,
    /// Use only the rows of these classes
    #[arg(
        long = "classes",
        value_name = "A,B",
        value_delimiter = ',',
        allow_hyphen_values = true,
        help_heading = "Classes"
    )]
    pub(crate) keep: Vec<String>,
    /// Decide for every pair of classes, as a table
    #[arg(long, conflicts_with_all = ["positive", "blame"], help_heading = "Classes")]
    pub(crate) pairs: bool,

    #[command(flatten, next_help_heading = "Reading")]
    pub(crate) weights: WeightsArg,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) cache: CacheArgs,
}

/// The end of `linsep verify --help`.
const AFTER_VERIFY: &str = "Exit codes of verify: 0 accepted, 1 rejected (also if no row belongs to one of its two sides, unless \
     --allow-one-sided), 3 if the file is not a certificate.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_VERIFY, after_long_help = AFTER_VERIFY)]
pub(crate) struct VerifyArgs {
    /// A certificate, as separate -o writes it
    pub(crate) certificate: PathBuf,
    /// The labelled data that it is about, read as it was for separate; - for standard input
    pub(crate) data: PathBuf,
    /// Accept a certificate one of whose sides no row belongs to, though it tells nothing apart
    #[arg(long)]
    pub(crate) allow_one_sided: bool,
    /// Print one JSON record on standard output instead of the report
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten, next_help_heading = "Reading")]
    pub(crate) weights: WeightsArg,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) cache: CacheArgs,
}

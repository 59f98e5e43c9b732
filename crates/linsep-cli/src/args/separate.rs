//! The arguments of `separate` and `verify`.

use super::choice::{COLUMN_DETAILS, SEPARATE_BIASES, choice};
use super::{CacheArgs, ReadArgs, WeightsArg};
use clap::Args;
use linsep::job::BiasKind;
use linsep::separate::ColumnDetail;
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

    /// How the bias (intercept) is modelled, which also defines the margin
    #[arg(
        long,
        value_name = "BIAS",
        default_value = "append",
        value_parser = choice::<BiasKind>(SEPARATE_BIASES),
        help_heading = "Separation options"
    )]
    pub(crate) bias: BiasKind,
    /// Value of the appended constant coordinate [default: 1]
    #[arg(long, value_name = "SCALE", allow_negative_numbers = true, help_heading = "Separation options")]
    pub(crate) bias_scale: Option<f64>,
    /// Target width of the margin interval of separable data, relative to its upper end [default: 1e-6; with
    /// many features, the interval given by the first separating boundary]
    #[arg(long, value_name = "GAP", allow_negative_numbers = true, help_heading = "Separation options")]
    pub(crate) gap: Option<f64>,
    /// Time limit in seconds, shared by all lines of a table and by the verdict and --blame [default: no
    /// limit]
    #[arg(
        long,
        visible_alias = "max-seconds",
        value_name = "SECONDS",
        allow_negative_numbers = true,
        help_heading = "Separation options"
    )]
    pub(crate) time: Option<f64>,
    /// Approximate memory limit, such as 500MB or 2GB, not counting the rows themselves and reading the file
    /// [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = super::size, help_heading = "Separation options")]
    pub(crate) memory: Option<u64>,
    /// Random seed
    #[arg(long, value_name = "S", default_value_t = 0, help_heading = "Separation options")]
    pub(crate) seed: u64,
    /// If the classes are not completely separable, find a small set of rows to remove so that the rest is
    /// separable
    ///
    /// The remaining rows are proved to be completely separable, and a lower bound on the number of rows to
    /// remove is proved. If the two numbers agree, the set is a smallest one. The result does not depend on
    /// the bias option or on the units of the columns. With --weights, removing a row costs its count.
    /// Without --time, the search ends after a fixed number of operations.
    #[arg(long, help_heading = "Separation options")]
    pub(crate) blame: bool,

    /// Column analysis for two classes: whether each coefficient of a logistic regression is finite, and
    /// which small sets of columns separate the classes by themselves [default: usual]
    #[arg(long, value_name = "HOW", value_parser = choice::<ColumnDetail>(COLUMN_DETAILS), help_heading = "Separation options")]
    pub(crate) columns: Option<ColumnDetail>,

    /// CSV: reference category for the coefficients of categorical columns: first (in alphabetical order),
    /// most-frequent, or COLUMN=WORD (repeat, or separate by commas) [default: first]
    #[arg(long, value_name = "LEVEL", value_delimiter = ',', help_heading = "Separation options")]
    pub(crate) reference: Vec<String>,

    /// Positive class; with more than two classes, it is compared with the rest [default: the second of two;
    /// with more, a table of each class against the rest]
    #[arg(long, value_name = "CLASS", allow_hyphen_values = true, help_heading = "Class options")]
    pub(crate) positive: Option<String>,
    /// Use only the rows of these classes
    #[arg(
        long = "classes",
        value_name = "A,B",
        value_delimiter = ',',
        allow_hyphen_values = true,
        help_heading = "Class options"
    )]
    pub(crate) keep: Vec<String>,
    /// Decide for every pair of classes and print a table
    #[arg(long, conflicts_with_all = ["positive", "blame"], help_heading = "Class options")]
    pub(crate) pairs: bool,

    #[command(flatten, next_help_heading = "Input options")]
    pub(crate) weights: WeightsArg,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) cache: CacheArgs,
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
    /// Accept a certificate although one of its two classes has no rows, which makes the claim vacuous
    #[arg(long)]
    pub(crate) allow_one_sided: bool,
    /// Print one JSON record on standard output instead of the report
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten, next_help_heading = "Input options")]
    pub(crate) weights: WeightsArg,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) cache: CacheArgs,
}

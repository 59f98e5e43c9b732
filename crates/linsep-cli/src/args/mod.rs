//! The arguments as the user typed them; what they mean is decided by the commands.

mod choice;
mod data;
#[cfg(feature = "explore")]
mod explore;
mod learn;
mod learner;
mod plot;
mod probability;
mod separate;

pub(crate) use data::{BiasArgs, CacheArgs, ClassArgs, ReadArgs, TaskArgs, WeightsArg};
#[cfg(feature = "explore")]
pub(crate) use explore::ExploreArgs;
pub(crate) use learn::{LearnArgs, set};
pub(crate) use learner::{GridArgs, LearnerArg, LearnerArgs};
pub(crate) use plot::{
    ComparePlotArgs, DrawArgs, LearnedPlotArgs, ModelPlotArgs, PathPlotArgs, PlotArgs, PlotKind, ReportArgs,
    SeparationPlotArgs, WeightPlotArgs,
};
pub(crate) use probability::{ProbabilityArgs, ThresholdArg};
pub(crate) use separate::{DecideArgs, SeparateArgs, VerifyArgs};

use choice::{INPUT_NUMBERS, JUDGINGS, METRICS, ORDERS, SHOW, choice};
use clap::{Args, Parser, Subcommand, ValueEnum};
use linsep::job::Show;
use linsep::metric::Metric;
use linsep::model::InputNumbers;
use linsep::read::Format;
use linsep::train::Order;
use linsep::tune::Judging;
use std::path::PathBuf;

const EXIT_CODES: &str = "\
Exit codes:
  0    fine
  1    the answer is \"no\" (separate: not completely separable; verify: rejected;
       train: not converged, with --require-convergence; no margin for max-margin;
       no finite optimum for logistic without a penalty)
  2    wrong usage or settings
  3    bad data, model or certificate file, or a file that cannot be read; or an output that
       was asked for and could not be written, whatever the answer and after Ctrl-C too
  4    undecided, the budget ran out (separate; train --learner max-margin, or
       logistic without a penalty)
  130  interrupted; the model so far is saved if an output was named
A standard output that its reader closes (as head does) changes no exit code.";

/// A linear classifier you can trust: it trains at the speed of memory, and its claims come with proof.
#[derive(Debug, Parser)]
#[command(name = "linsep", version, after_help = EXIT_CODES, after_long_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Say nothing but the result, errors, and warnings that a part of it is missing
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Threads for the parallel parts; the result never depends on it [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=1024) => Ok(threads),
        _ => Err("a number of threads from 1 to 1024 is needed".to_string()),
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Learn a classifier from labelled data, with the convergence theorem reported on that very data
    Train(Box<TrainArgs>),
    /// Search preparation, learner and penalty by cross-validation, and learn the best way from all rows
    Tune(TuneArgs),
    /// Label new rows with a trained model
    Predict(PredictArgs),
    /// Set learners side by side on the same rows: training error, held-out error, margin, updates, bound, time
    Compare(CompareArgs),
    /// Tell the story of the convergence theorem on your data, in plain words with numbers
    Theory(TheoryArgs),
    /// Decide, with proof, whether a boundary can separate the classes, by what margin, and if not, which rows stand in
    /// the way
    Separate(SeparateArgs),
    /// Check a certificate of separate against the data, with the small exact checker alone
    Verify(VerifyArgs),
    /// Judge a model on labelled rows: error, confusion matrix, precision, recall, F1, AUC; how good its probabilities are
    Evaluate(EvaluateArgs),
    /// Write a model as ONNX, for programs in other languages: preparation, scores, probabilities and class
    Export(ExportArgs),
    /// Show what is in a model: settings, classes, evidence, strongest weights; or what is in a cache
    Inspect(InspectArgs),
    /// Draw a picture: a boundary, a proof, learners side by side, a curve; as SVG, PNG or HTML
    Plot(Box<PlotArgs>),
    /// Write a page to send to a colleague: the data in figures, learners compared, error, calibration, verdict and proof, worst
    /// mistakes, warnings
    Report(Box<ReportArgs>),
    /// Write data in another format, or as a cache that opens at once; what is read back is the same
    Convert(ConvertArgs),
    /// Make data: the square of the lecture notes, blobs with a margin, XOR, random labels, text-like rows
    Generate(GenerateArgs),
    /// Run the whole job on a data set that comes with the program, or on a folder of mails, and say what it shows
    Demo(DemoArgs),
    /// Open a page on this machine where a perceptron learns before one's eyes, on built-in data or on your own
    #[cfg(feature = "explore")]
    Explore(ExploreArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct TrainArgs {
    /// What the rows are learned from.
    #[arg(required_unless_present = "spec", help = data::LABELLED_DATA.as_str())]
    pub(crate) data: Option<PathBuf>,
    /// Where to save the model (safetensors)
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
    /// Take everything from a specification (TOML or JSON), such as `inspect --spec` prints; arguments override it
    #[arg(long, value_name = "FILE")]
    pub(crate) spec: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) learn: LearnArgs,

    /// Where to start: zero, first (the first row, which counts as an update), or a model file [default: zero]
    #[arg(long, value_name = "zero|first|MODEL", help_heading = "Learning")]
    pub(crate) init: Option<PathBuf>,
    /// Learn each row as it is read, in one pass and in memory that does not grow with the file (the default for
    /// standard input with --epochs 1; the voted learner alone keeps its mistakes)
    #[arg(long, help_heading = "Learning")]
    pub(crate) online: bool,
    /// Learn from data larger than memory, using at most this much, such as 64MB or 2GB: the rows stay in FILE.linsep
    /// beside the data, which is made if need be; the model is that of --scale none
    #[arg(long, value_name = "SIZE", value_parser = size, conflicts_with = "online", help_heading = "Learning")]
    pub(crate) memory: Option<u64>,
    /// Exit with code 1 unless the run came to its end: for a perceptron, a whole pass without a mistake
    #[arg(long, help_heading = "Learning")]
    pub(crate) require_convergence: bool,

    /// Save the run here when it starts and every so often, so that a killed run can be taken up
    #[arg(long, value_name = "FILE", help_heading = "Interruptions")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Seconds between checkpoints [default: 10]
    #[arg(
        long,
        value_name = "SECONDS",
        help_heading = "Interruptions",
        requires = "checkpoint",
        allow_negative_numbers = true
    )]
    pub(crate) checkpoint_every: Option<f64>,
    /// Take up a run where its checkpoint left it; ends in the same model as an undisturbed run
    #[arg(long, value_name = "FILE", help_heading = "Interruptions")]
    pub(crate) resume: Option<PathBuf>,

    /// logistic: give the weights for at most N values of C, from where the first weight leaves zero in equal ratios up to the
    /// one chosen, each started from the one before; with --json
    #[arg(long, value_name = "N", requires = "json", help_heading = "Evidence")]
    pub(crate) path: Option<usize>,
    /// Write the proof of the convergence theorem as it happened, as JSON Lines
    #[arg(long, value_name = "FILE", help_heading = "Evidence")]
    pub(crate) trace: Option<PathBuf>,
    /// At most this many lines in the trace [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..), requires = "trace", help_heading = "Evidence")]
    pub(crate) trace_points: Option<u64>,
    /// Model to compare with in the trace [default: the separator that the run itself finds]
    #[arg(long, value_name = "MODEL", requires = "trace", help_heading = "Evidence")]
    pub(crate) comparator: Option<PathBuf>,
    /// Write the mistaken rows in order, as LIBSVM: a perceptron that sees just these, once and in that order, ends
    /// with the same last weights
    #[arg(long, value_name = "FILE", help_heading = "Evidence")]
    pub(crate) teaching_set: Option<PathBuf>,

    /// Print one JSON record on standard output instead of the report
    #[arg(long, help_heading = None::<&'static str>)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) contest: ContestArgs,
    /// Print a table in CSV
    #[arg(long, conflicts_with = "json", help_heading = "Comparing")]
    pub(crate) csv: bool,
    /// Print one JSON record on standard output instead of the report
    #[arg(long, help_heading = "Comparing")]
    pub(crate) json: bool,
}

/// Which learners are compared, and how.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct ContestArgs {
    /// Labelled data, as for train
    pub(crate) data: PathBuf,
    /// Which learners, separated by commas [default: all that suit the data]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "A,B,…", help_heading = "Comparing")]
    pub(crate) learners: Vec<LearnerArg>,
    /// By what the learners are judged on held-out rows
    #[arg(long, value_parser = choice::<Metric>(METRICS), default_value = "error", help_heading = "Comparing")]
    pub(crate) metric: Metric,
    /// Deal the rows out into this many parts, and hold out each in turn
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Comparing")]
    pub(crate) folds: usize,
    /// In which order rows are visited [default: shuffle]
    #[arg(long, value_parser = choice::<Order>(ORDERS), help_heading = "Comparing")]
    pub(crate) order: Option<Order>,
    /// Learn in this many more orders of the rows, and show what the order alone changes
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=10_000), help_heading = "Comparing")]
    pub(crate) orders: u64,
    /// At most this many passes over the data, for each run [default: 100; 1000 for svm, logistic and max-margin]
    #[arg(long, value_name = "N", help_heading = "Comparing")]
    pub(crate) epochs: Option<u64>,
    /// At most this many seconds, for each run [default: no limit]
    #[arg(long, value_name = "SECONDS", help_heading = "Comparing", allow_negative_numbers = true)]
    pub(crate) max_seconds: Option<f64>,
    /// Seed of folds and orders
    #[arg(long, value_name = "S", default_value_t = 0, help_heading = "Comparing")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) grid: GridArgs,
    #[command(flatten)]
    pub(crate) task: TaskArgs,
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct TuneArgs {
    /// Labelled data, as for train
    pub(crate) data: PathBuf,
    /// Where to save the model (safetensors)
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
    /// By what candidates are judged on held-out rows; of equal ones the simplest is taken (fewer features, then a stronger
    /// penalty). With error, the log loss chooses C for each way to prepare the rows, and then the error among these:
    /// a count of errors changes by chance
    #[arg(long, value_parser = choice::<Metric>(METRICS), default_value = "error", help_heading = "Searching")]
    pub(crate) metric: Metric,
    /// End the search after this many seconds, with the best so far
    #[arg(long, value_name = "SECONDS", help_heading = "Searching", allow_negative_numbers = true)]
    pub(crate) time: Option<f64>,
    /// Every row is held out once, in one of this many parts; fewer than 500 rows are dealt out anew, up to four times
    #[arg(long, value_name = "K", default_value_t = 5, help_heading = "Searching")]
    pub(crate) folds: usize,
    /// How the error on new rows is measured
    #[arg(long, value_parser = choice::<Judging>(JUDGINGS), default_value = "auto", help_heading = "Searching")]
    pub(crate) judge: Judging,
    /// Take a simpler candidate that is worse than the best, by the metric alone, by at most this many standard errors of their
    /// difference; 1 is the usual rule
    #[arg(
        long,
        value_name = "ERRORS",
        default_value_t = 0.0,
        help_heading = "Searching",
        allow_negative_numbers = true
    )]
    pub(crate) simpler: f64,
    /// Seed of folds and of rows kept aside
    #[arg(long, value_name = "S", default_value_t = 0, help_heading = "Searching")]
    pub(crate) seed: u64,
    /// Print one JSON record on standard output instead of the report
    #[arg(long, help_heading = "Searching")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) task: TaskArgs,
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct TheoryArgs {
    /// Labelled data of two classes, as for train
    pub(crate) data: PathBuf,
    /// At most this many passes over the data, for each run
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Telling")]
    pub(crate) epochs: u64,
    /// At most this many seconds for each run
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 10.0,
        help_heading = "Telling",
        allow_negative_numbers = true
    )]
    pub(crate) max_seconds: f64,
    /// How sure to be of what is said about new rows: wrong with probability δ at most
    #[arg(
        long,
        value_name = "δ",
        default_value_t = 0.05,
        help_heading = "Telling",
        allow_negative_numbers = true
    )]
    pub(crate) delta: f64,
    /// Seed of orders and subsets
    #[arg(long, value_name = "S", default_value_t = 0, help_heading = "Telling")]
    pub(crate) seed: u64,
    /// Print one JSON record on standard output instead of the story
    #[arg(long, help_heading = "Telling")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) task: TaskArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    /// A trained model
    pub(crate) model: PathBuf,
    /// Rows to label, with or without a label of their own, in any format that train reads: files, folders, or for a model of
    /// texts or pictures single texts, mails and pictures (several are labelled each with its name); - for standard input, which
    /// is answered line by line as rows come
    #[arg(required = true)]
    pub(crate) data: Vec<PathBuf>,
    /// Say below each label what spoke for it and against it: N features of each [default: 5]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "5")]
    pub(crate) explain: Option<usize>,
    /// What to print for each row
    #[arg(long, value_parser = choice::<Show>(SHOW), default_value = "label")]
    pub(crate) show: Show,
    /// Print a table with line, label, score, distance and, where the model has probabilities, that of the label; with
    /// --show probability, a table with line, label and the probability of each class
    ///
    /// The line is that of the row in its file (for arrays, the number of the row); --skip-bad and --missing
    /// drop-row need it. Distances are in the units of the scaled features where the model scales.
    #[arg(long)]
    pub(crate) csv: bool,
    #[command(flatten)]
    pub(crate) threshold: ThresholdArg,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    /// A trained model
    pub(crate) model: PathBuf,
    /// Labelled rows, in any format that train reads, files or folders; - for standard input
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) threshold: ThresholdArg,
    #[command(flatten)]
    pub(crate) weights: WeightsArg,
    /// Print one JSON record on standard output instead of the report
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// A trained model
    pub(crate) model: PathBuf,
    /// Where to write the ONNX file
    #[arg(value_name = "OUT.onnx")]
    pub(crate) output: PathBuf,
    /// What the numbers of the inputs are; all else is computed with 64 bits
    #[arg(long, value_parser = choice::<InputNumbers>(INPUT_NUMBERS), default_value = "f32")]
    pub(crate) input: InputNumbers,
    /// Rows on which to compare predictions from 32 bits with the model's own
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    /// Print one JSON record on standard output instead of the report
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// A trained model, or a cache
    pub(crate) model: PathBuf,
    /// Print the specification that makes the model again, for `train --spec`
    #[arg(long, conflicts_with = "json")]
    pub(crate) spec: bool,
    /// Show what each column adds to the score, as curves and by words, the largest effects first
    #[arg(long, conflicts_with = "spec")]
    pub(crate) effects: bool,
    /// Write the weights of the pixels of a model of pictures as a picture: red speaks for the class, blue against it
    #[arg(long, value_name = "FILE.png", conflicts_with = "spec")]
    pub(crate) weights_png: Option<PathBuf>,
    /// How many of the strongest weights, and of the largest effects, to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// Print one JSON record on standard output instead of the report
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// What is converted.
    #[arg(value_name = "IN", help = data::LABELLED_DATA.as_str())]
    pub(crate) input: PathBuf,
    /// Where to write: .svm, .libsvm, .csv, .tsv, .npz or .linsep; the texts also with .gz or .zst
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The format to write, if the name should not decide
    #[arg(long, value_name = "FORMAT", value_parser = data::format_parser())]
    pub(crate) to: Option<Format>,
    /// CSV: settle the columns from the first rows, so that memory does not grow with the file
    #[arg(long)]
    pub(crate) online: bool,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct GenerateArgs {
    /// What to make
    #[arg(value_enum)]
    pub(crate) kind: KindArg,
    /// Where to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Number of rows [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "size")]
    pub(crate) rows: Option<u64>,
    /// Size of the file instead of rows, such as 500MB or 10GB
    #[arg(long, value_name = "BYTES", value_parser = size)]
    pub(crate) size: Option<u64>,
    /// Number of features [default: 2 for blobs, 100 for random-labels, 47000 for text]
    #[arg(long, value_name = "D")]
    pub(crate) features: Option<u32>,
    /// blobs: no row is nearer than this to the boundary [default: 0.1]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) margin: Option<f64>,
    /// blobs: size of the clouds [default: 1]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) spread: Option<f64>,
    /// xor: size of the clouds [default: 0.2]; text: share of flipped labels [default: 0.01]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) noise: Option<f64>,
    /// text: words in a row, on average [default: 63.5]
    #[arg(long, value_name = "WORDS", allow_negative_numbers = true)]
    pub(crate) per_row: Option<f64>,
    /// Seed of everything random
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Format to write [default: libsvm for text, csv for the others]
    #[arg(long, value_enum)]
    pub(crate) format: Option<GenerateFormatArg>,
}

/// `10GB`, `500MB`, `123`: decimal multiples of bytes.
fn size(text: &str) -> Result<u64, String> {
    linsep::numbers::bytes(text).ok_or_else(|| "a size such as 500MB or 10GB is needed".to_string())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArg {
    /// Points in a square, labelled by x2 > x1
    Square,
    /// Two clouds with a given margin
    Blobs,
    /// Four clouds that no line separates
    Xor,
    /// Patterns of -1 and +1 with labels by coin flips
    RandomLabels,
    /// Sparse rows like those of text
    Text,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum GenerateFormatArg {
    Libsvm,
    Csv,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Which data set
    #[arg(value_enum, default_value_t = DemoArg::Iris)]
    pub(crate) data: DemoArg,
    /// The folder that the demonstration is about, with a sub-folder for each class: of mails for mail, of pictures for cats-dogs
    /// (which makes some if there is none)
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Skip files of the folder that cannot be read, count them and list the first
    #[arg(long, requires = "folder")]
    pub(crate) skip_bad: bool,
    /// Write the data set to a file instead, to try the other commands on
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum DemoArg {
    /// Flowers: one species is separable, the other two overlap
    Iris,
    /// Tumours: separable, but by a thin margin
    BreastCancer,
    /// E-mails: they overlap, and a good classifier is wanted all the same
    Spam,
    /// Your e-mails, in a folder: two words alone, then all words
    Mail,
    /// Fifty pictures: learned by heart without an error, and what that is worth
    CatsDogs,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

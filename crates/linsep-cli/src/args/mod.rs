//! The arguments as the user typed them; what they mean is decided by the commands.

mod choice;
mod data;
#[cfg(feature = "explore")]
mod explore;
mod flags;
mod learner;
mod plot;
mod probability;
mod separate;

#[cfg(feature = "explore")]
pub(crate) use explore::ExploreArgs;
pub(crate) use flags::{
    Comparing, Explaining, Flags, Job, Learning, Reading, Rows, Separating, Training, Tuning, Verifying,
    WeightedReading,
};
pub(crate) use plot::{
    ComparePlotArgs, DrawArgs, LearnedPlotArgs, ModelPlotArgs, PathPlotArgs, PlotArgs, PlotKind, ReportArgs,
    SeparationPlotArgs, WeightPlotArgs,
};
pub(crate) use probability::ThresholdArg;
pub(crate) use separate::{DecideArgs, SeparateArgs, VerifyArgs};

use choice::{INPUT_NUMBERS, SHOW, choice};
use clap::{Args, Parser, Subcommand, ValueEnum};
use linsep::job::Show;
use linsep::model::InputNumbers;
use linsep::read::Format;
use std::path::PathBuf;

const EXIT_CODES: &str = "\
Exit codes:
  0    success
  1    the answer is \"no\" (separate: not completely separable; verify: rejected;
       train: not converged, with --require-convergence; no margin for max-margin;
       no finite optimum for logistic without a penalty)
  2    invalid arguments or settings
  3    unreadable or malformed input; or a requested output file could not be written
       (takes precedence over the other codes)
  4    undecided within the limits (separate; train --learner max-margin, or
       logistic without a penalty)
  130  interrupted; the model so far is saved if -o was given
A closed pipe on standard output (as with head) does not change the exit code.";

/// A fast linear classifier whose margins, mistake bounds and separability verdicts are proved.
#[derive(Debug, Parser)]
#[command(name = "linsep", version, after_help = EXIT_CODES, after_long_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Print only the result, errors and warnings about missing output
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Report every detail: proved margins and bounds, the objective, times
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,

    /// Number of threads; results do not depend on it [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=1024) => Ok(threads),
        _ => Err("expected a number from 1 to 1024".to_string()),
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Train a classifier on labelled data and report its error, margin and mistake bound
    Train(Box<TrainArgs>),
    /// Search for the best scaling, features, learner and penalty by cross-validation, then train on all rows
    Tune(TuneArgs),
    /// Predict the labels of new rows with a trained model
    Predict(PredictArgs),
    /// Compare learners by cross-validation: error, margin, updates, mistake bound and time
    Compare(CompareArgs),
    /// Explain what the convergence theorem guarantees on this data
    Theory(TheoryArgs),
    /// Decide, with a proof, whether the classes are linearly separable: the margin if they are, the
    /// conflicting rows if not
    Separate(SeparateArgs),
    /// Check a certificate from separate against the data, using only the small exact checker
    Verify(VerifyArgs),
    /// Evaluate a model on labelled rows: error, confusion matrix, precision, recall, F1, AUC and calibration
    Evaluate(EvaluateArgs),
    /// Export a model as ONNX, including preprocessing, scores, probabilities and class
    Export(ExportArgs),
    /// Show the contents of a model (settings, classes, proof, strongest weights) or of a cache
    Inspect(InspectArgs),
    /// Plot a boundary, a proof, a comparison or a curve as SVG, PNG or HTML
    Plot(Box<PlotArgs>),
    /// Write an HTML report: data summary, learner comparison, error, calibration, separability, worst
    /// mistakes and warnings
    Report(Box<ReportArgs>),
    /// Convert data to another format, or to a cache that loads quickly; the values stay exactly the same
    Convert(ConvertArgs),
    /// Generate synthetic data: the square of the lecture notes, blobs with a margin, XOR, random labels,
    /// text-like rows
    Generate(GenerateArgs),
    /// Run a demonstration on a built-in data set, a folder of e-mails or a folder of images
    Demo(DemoArgs),
    /// Open a local web page that animates training, on built-in data or your own
    #[cfg(feature = "explore")]
    Explore(ExploreArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct TrainArgs {
    /// The training data.
    #[arg(required_unless_present = "spec", help = data::LABELLED_DATA.as_str())]
    pub(crate) data: Option<PathBuf>,
    /// Output model file (safetensors)
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
    /// Read the settings from a specification (TOML or JSON), such as `inspect --spec` prints; arguments
    /// override it
    #[arg(long, value_name = "FILE")]
    pub(crate) spec: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) flags: Flags<Training>,
    /// Exit with code 1 if training did not converge (a perceptron converges with a pass without mistakes)
    #[arg(long, help_heading = "Training options")]
    pub(crate) require_convergence: bool,

    /// Print one JSON record on standard output instead of the report
    #[arg(long, help_heading = None::<&'static str>)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) contest: ContestArgs,
    /// Print a table in CSV
    #[arg(long, conflicts_with = "json", help_heading = "Comparison options")]
    pub(crate) csv: bool,
    /// Print one JSON record on standard output instead of the report
    #[arg(long, help_heading = "Comparison options")]
    pub(crate) json: bool,
}

/// Which learners are compared, and how they are evaluated.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct ContestArgs {
    /// Labelled data, as for train
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) flags: Flags<Comparing>,
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct TuneArgs {
    /// Labelled data, as for train
    pub(crate) data: PathBuf,
    /// Output model file (safetensors)
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
    /// Print one JSON record on standard output instead of the report
    #[arg(long, help_heading = "Search options")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) flags: Flags<Tuning>,
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct TheoryArgs {
    /// Labelled data of two classes, as for train
    pub(crate) data: PathBuf,
    /// Print one JSON record on standard output instead of the report
    #[arg(long, help_heading = "Output options")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) flags: Flags<Explaining>,
}

#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    /// Model file
    pub(crate) model: PathBuf,
    /// Rows to predict, with or without labels, in any format that train reads: files, folders, or, for a
    /// model of texts or images, single texts, e-mails and images (with several, each prediction is preceded
    /// by the file name); - for standard input, which is answered line by line
    #[arg(required = true)]
    pub(crate) data: Vec<PathBuf>,
    /// Explain each prediction: the N features that contribute most for it and against it [default: 5]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "5")]
    pub(crate) explain: Option<usize>,
    /// Output for each row
    #[arg(long, value_parser = choice::<Show>(SHOW), default_value = "label")]
    pub(crate) show: Show,
    /// Print a CSV table of line, label, score, distance and, if the model has probabilities, the probability
    /// of the label; with --show probability, a table of line, label and the probability of each class
    ///
    /// The line is the line number in the input file (for arrays, the row number). --skip-bad and --missing
    /// drop-row require this option. Distances are in scaled units if the model scales its features.
    #[arg(long)]
    pub(crate) csv: bool,
    #[command(flatten)]
    pub(crate) threshold: ThresholdArg,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) flags: Flags<Reading>,
}

#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    /// Model file
    pub(crate) model: PathBuf,
    /// Labelled rows, in any format that train reads, files or folders; - for standard input
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) threshold: ThresholdArg,
    /// Print one JSON record on standard output instead of the report
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) flags: Flags<WeightedReading>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Model file
    pub(crate) model: PathBuf,
    /// Where to write the ONNX file
    #[arg(value_name = "OUT.onnx")]
    pub(crate) output: PathBuf,
    /// Number type of the inputs; everything else is computed with 64 bits
    #[arg(long, value_parser = choice::<InputNumbers>(INPUT_NUMBERS), default_value = "f32")]
    pub(crate) input: InputNumbers,
    /// Rows on which to compare 32-bit predictions with those of the model
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    /// Print one JSON record on standard output instead of the report
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) flags: Flags<Reading>,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// Model or cache file
    pub(crate) model: PathBuf,
    /// Print the specification that reproduces the model, for `train --spec`
    #[arg(long, conflicts_with = "json")]
    pub(crate) spec: bool,
    /// Show the effect of each column on the score, largest first
    #[arg(long, conflicts_with = "spec")]
    pub(crate) effects: bool,
    /// Images: write the pixel weights as an image: red is evidence for the class, blue against it
    #[arg(long, value_name = "FILE.png", conflicts_with = "spec")]
    pub(crate) weights_png: Option<PathBuf>,
    /// Number of weights and effects to show, strongest first
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// Print one JSON record on standard output instead of the report
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The input data.
    #[arg(value_name = "IN", help = data::LABELLED_DATA.as_str())]
    pub(crate) input: PathBuf,
    /// Output file: .svm, .libsvm, .csv, .tsv, .npz or .linsep; text formats also with .gz or .zst
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Output format [default: from the file name]
    #[arg(long, value_name = "FORMAT", value_parser = data::format_parser())]
    pub(crate) to: Option<Format>,
    /// CSV: determine the columns from the first rows, so that memory does not grow with the file
    #[arg(long)]
    pub(crate) online: bool,
    #[command(flatten)]
    pub(crate) flags: Flags<Reading>,
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct GenerateArgs {
    /// Kind of data
    #[arg(value_enum)]
    pub(crate) kind: KindArg,
    /// Output file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Number of rows [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "size")]
    pub(crate) rows: Option<u64>,
    /// File size instead of a number of rows, such as 500MB or 10GB
    #[arg(long, value_name = "BYTES", value_parser = size)]
    pub(crate) size: Option<u64>,
    /// Number of features [default: 2 for blobs, 100 for random-labels, 47000 for text]
    #[arg(long, value_name = "D")]
    pub(crate) features: Option<u32>,
    /// blobs: minimum distance of a row from the boundary [default: 0.1]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) margin: Option<f64>,
    /// blobs: standard deviation of the clusters [default: 1]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) spread: Option<f64>,
    /// xor: standard deviation of the clusters [default: 0.2]; text: fraction of flipped labels [default:
    /// 0.01]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) noise: Option<f64>,
    /// text: mean number of words per row [default: 63.5]
    #[arg(long, value_name = "WORDS", allow_negative_numbers = true)]
    pub(crate) per_row: Option<f64>,
    /// Random seed
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Output format [default: libsvm for text, csv for the others]
    #[arg(long, value_enum)]
    pub(crate) format: Option<GenerateFormatArg>,
}

/// `10GB`, `500MB`, `123`: decimal multiples of bytes.
fn size(text: &str) -> Result<u64, String> {
    linsep::numbers::bytes(text).ok_or_else(|| "expected a size such as 500MB or 10GB".to_string())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArg {
    /// Points in a square, labelled by x2 > x1
    Square,
    /// Two clusters with a given margin
    Blobs,
    /// Four clusters that no line separates
    Xor,
    /// Vectors of -1 and +1 with random labels
    RandomLabels,
    /// Sparse rows that resemble text
    Text,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum GenerateFormatArg {
    Libsvm,
    Csv,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Data set
    #[arg(value_enum, default_value_t = DemoArg::Iris)]
    pub(crate) data: DemoArg,
    /// Folder with one subfolder per class: e-mails for mail, images for cats-dogs (default: generated
    /// images)
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Skip unreadable files; report their number and list the first ones
    #[arg(long, requires = "folder")]
    pub(crate) skip_bad: bool,
    /// Write the data set to a file instead, for use with the other commands
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum DemoArg {
    /// Flowers: one species is separable, the other two overlap
    Iris,
    /// Tumours: separable, but by a thin margin
    BreastCancer,
    /// E-mails: the classes overlap, but a good classifier exists
    Spam,
    /// Your own e-mails in a folder: first with two words, then with all words
    Mail,
    /// Fifty images: zero training error that says nothing about new images
    CatsDogs,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

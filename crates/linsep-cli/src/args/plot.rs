//! The arguments of `plot` and `report`: a kind, the rows or the model to show, and where the picture or page goes.

use super::{ContestArgs, DecideArgs, LearnArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// The end of `linsep plot --help`.
const AFTER_PLOT: &str = "\
`linsep plot KIND --help` has the options of a kind: those of the command whose result it draws.

A picture follows the light or dark setting of its reader, and can be read without colours. It is one file that needs no \
network. Without -o it is printed as SVG.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_PLOT, after_long_help = AFTER_PLOT)]
pub(crate) struct PlotArgs {
    #[command(subcommand)]
    pub(crate) kind: PlotKind,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PlotKind {
    /// Rows and the boundary between the classes: two features, or the plane of the boundary and the strongest direction across
    /// it; the margin, the rows that it rests on, mistakes
    Boundary(ModelPlotArgs),
    /// The proof of the convergence theorem as it happened: ⟨θ_k, θ*⟩ above kγ, ‖θ_k‖² below kR², the angle, mistakes below their
    /// bound, the interval of the margin closing
    Trace(LearnedPlotArgs),
    /// A perceptron while it learns, as a moving picture: the boundary turns at each mistake, and the curves of the proof rise
    Learning(LearnedPlotArgs),
    /// Learners side by side on held-out rows, beside always giving the same answer
    Compare(ComparePlotArgs),
    /// What each threshold finds and what it calls wrongly, on held-out rows or with --model on these
    Roc(ModelPlotArgs),
    /// Whether probabilities come true, on held-out rows or with --model on these
    Calibration(ModelPlotArgs),
    /// The strongest weights of a model
    Weights(WeightPlotArgs),
    /// What each column adds to the score, as curves; learned with --features splines unless said otherwise
    Effects(WeightPlotArgs),
    /// The verdict on separation: the widest gap between two sides, or the rows that cannot all be right
    Separation(SeparationPlotArgs),
    /// Weights of logistic regression as its penalty loses weight
    Path(PathPlotArgs),
}

/// Where a picture goes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Drawing")]
pub(crate) struct DrawArgs {
    /// Where to write the picture: a file that ends in .svg, .png or .html [default: SVG on standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// PNG: light ink on dark paper; SVG and HTML follow the setting of their reader
    #[arg(long)]
    pub(crate) dark: bool,
}

/// What a model that is given leaves nothing to say about.
const LEARNING: [&str; 8] =
    ["learner", "epochs", "features", "holdout", "scale", "order", "probabilities", "class_weight"];

/// A picture of a model on rows: one that is learned from them, or one that is given.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct ModelPlotArgs {
    /// Labelled data, as for train
    pub(crate) data: PathBuf,
    /// Draw this model on the rows, instead of learning one from them
    #[arg(long, value_name = "MODEL", conflicts_with_all = LEARNING)]
    pub(crate) model: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
    #[command(flatten)]
    pub(crate) learn: LearnArgs,
}

/// A picture of a run.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct LearnedPlotArgs {
    /// Labelled data, as for train; the learner is perceptron unless said otherwise
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
    #[command(flatten)]
    pub(crate) learn: LearnArgs,
}

/// A picture of a model alone.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct WeightPlotArgs {
    /// Labelled data, as for train
    #[arg(required_unless_present = "model")]
    pub(crate) data: Option<PathBuf>,
    /// Draw this model, instead of learning one
    #[arg(long, value_name = "MODEL", conflicts_with_all = LEARNING, conflicts_with = "data")]
    pub(crate) model: Option<PathBuf>,
    /// How many to show, the strongest first [default: 15 weights, 9 effects]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=200), help_heading = "Drawing")]
    pub(crate) top: Option<u64>,
    /// More than two classes: the class whose score is shown [default: the first]
    #[arg(long, value_name = "CLASS", allow_hyphen_values = true, help_heading = "Drawing")]
    pub(crate) class: Option<String>,
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
    #[command(flatten)]
    pub(crate) learn: LearnArgs,
}

/// A picture of a path.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct PathPlotArgs {
    /// Labelled data, as for train; the learner is logistic
    pub(crate) data: PathBuf,
    /// How many values of C
    #[arg(
        long,
        value_name = "N",
        default_value_t = 60,
        value_parser = clap::value_parser!(u64).range(2..=1000),
        help_heading = "Drawing"
    )]
    pub(crate) points: u64,
    /// More than two classes: the class whose weights are shown [default: the first]
    #[arg(long, value_name = "CLASS", allow_hyphen_values = true, help_heading = "Drawing")]
    pub(crate) class: Option<String>,
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
    #[command(flatten)]
    pub(crate) learn: LearnArgs,
}

/// A picture of a comparison.
#[derive(Debug, Args)]
pub(crate) struct ComparePlotArgs {
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
    #[command(flatten)]
    pub(crate) contest: ContestArgs,
}

/// A picture of a verdict.
#[derive(Debug, Args)]
pub(crate) struct SeparationPlotArgs {
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
    #[command(flatten)]
    pub(crate) decide: DecideArgs,
}

/// The end of `linsep report --help`.
const AFTER_REPORT: &str = "\
The page is one HTML file without scripts that needs no network; it follows the light or dark setting of its reader and prints well. \
It has no date, so that the same rows make the same page.";

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true, after_help = AFTER_REPORT, after_long_help = AFTER_REPORT)]
pub(crate) struct ReportArgs {
    /// Labelled data, as for train
    pub(crate) data: PathBuf,
    /// Judge this model on the rows, instead of learning one from them
    #[arg(long, value_name = "MODEL", conflicts_with_all = LEARNING)]
    pub(crate) model: Option<PathBuf>,
    /// Where to write the page: a file that ends in .html [default: standard output]
    #[arg(short, long, value_name = "REPORT.html")]
    pub(crate) output: Option<PathBuf>,
    /// Stop each run of the comparison, the run whose proof is followed, and the decision about separation after this many
    /// seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, allow_negative_numbers = true)]
    pub(crate) time: f64,
    #[command(flatten)]
    pub(crate) learn: LearnArgs,
}

//! The arguments of `plot` and `report`.

use super::{ContestArgs, DecideArgs, Flags, Learning};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// The end of `linsep plot --help`.
const AFTER_PLOT: &str = "\
`linsep plot KIND --help` lists the options of a kind: those of the command whose result it plots.

A plot is a single file without external resources. It follows the light or dark setting of the viewer and does \
not rely on colour. Without -o it is printed as SVG.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_PLOT, after_long_help = AFTER_PLOT)]
pub(crate) struct PlotArgs {
    #[command(subcommand)]
    pub(crate) kind: PlotKind,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PlotKind {
    /// Rows and the decision boundary, with the margin, the support vectors and the mistakes; with more than
    /// two features, a two-dimensional projection
    Boundary(ModelPlotArgs),
    /// The convergence proof during training: ⟨θ_k, θ*⟩ ≥ kγ, ‖θ_k‖² ≤ kR², the angle to θ*, mistakes and
    /// their bound, the margin interval
    Trace(LearnedPlotArgs),
    /// An animation of perceptron training: the boundary turns at each mistake, beside the curves of the
    /// proof
    Learning(LearnedPlotArgs),
    /// Held-out results of several learners, with the majority-class baseline
    Compare(ComparePlotArgs),
    /// ROC curve on held-out rows, or on all rows with --model
    Roc(ModelPlotArgs),
    /// Calibration of the probabilities on held-out rows, or on all rows with --model
    Calibration(ModelPlotArgs),
    /// The strongest weights of a model
    Weights(WeightPlotArgs),
    /// Effect of each column on the score, as curves [default features: splines]
    Effects(WeightPlotArgs),
    /// The separability verdict: the widest margin, or the conflicting rows
    Separation(SeparationPlotArgs),
    /// Regularisation path: the weights of logistic regression as the penalty decreases
    Path(PathPlotArgs),
}

/// Where a picture goes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Figure options")]
pub(crate) struct DrawArgs {
    /// Output file, ending in .svg, .png or .html [default: SVG on standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// PNG: dark background; SVG and HTML follow the setting of the viewer
    #[arg(long)]
    pub(crate) dark: bool,
}

/// Training arguments that conflict with a given model.
const LEARNING: [&str; 8] =
    ["learner", "epochs", "features", "holdout", "scale", "order", "probabilities", "class_weight"];

/// A plot of a model on rows: a given model, or one trained on the rows.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct ModelPlotArgs {
    /// Labelled data, as for train
    pub(crate) data: PathBuf,
    /// Plot this model on the rows instead of training one
    #[arg(long, value_name = "MODEL", conflicts_with_all = LEARNING)]
    pub(crate) model: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
    #[command(flatten)]
    pub(crate) learn: Flags<Learning>,
}

/// A plot of a training run.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct LearnedPlotArgs {
    /// Labelled data, as for train [default learner: perceptron]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
    #[command(flatten)]
    pub(crate) learn: Flags<Learning>,
}

/// A plot of a model without data.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct WeightPlotArgs {
    /// Labelled data, as for train
    #[arg(required_unless_present = "model")]
    pub(crate) data: Option<PathBuf>,
    /// Plot this model instead of training one
    #[arg(long, value_name = "MODEL", conflicts_with_all = LEARNING, conflicts_with = "data")]
    pub(crate) model: Option<PathBuf>,
    /// Number to show, strongest first [default: 15 weights, 9 effects]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=200), help_heading = "Figure options")]
    pub(crate) top: Option<u64>,
    /// With more than two classes: the class whose score is shown [default: the first]
    #[arg(long, value_name = "CLASS", allow_hyphen_values = true, help_heading = "Figure options")]
    pub(crate) class: Option<String>,
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
    #[command(flatten)]
    pub(crate) learn: Flags<Learning>,
}

/// A plot of a regularisation path.
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct PathPlotArgs {
    /// Labelled data, as for train; the learner is logistic
    pub(crate) data: PathBuf,
    /// Number of values of C
    #[arg(
        long,
        value_name = "N",
        default_value_t = 60,
        value_parser = clap::value_parser!(u64).range(2..=1000),
        help_heading = "Figure options"
    )]
    pub(crate) points: u64,
    /// With more than two classes: the class whose weights are shown [default: the first]
    #[arg(long, value_name = "CLASS", allow_hyphen_values = true, help_heading = "Figure options")]
    pub(crate) class: Option<String>,
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
    #[command(flatten)]
    pub(crate) learn: Flags<Learning>,
}

/// A plot of a comparison.
#[derive(Debug, Args)]
pub(crate) struct ComparePlotArgs {
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
    #[command(flatten)]
    pub(crate) contest: ContestArgs,
}

/// A plot of a separability verdict.
#[derive(Debug, Args)]
pub(crate) struct SeparationPlotArgs {
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
    #[command(flatten)]
    pub(crate) decide: DecideArgs,
}

/// The end of `linsep report --help`.
const AFTER_REPORT: &str = "\
The report is a single HTML file without scripts or external resources. It follows the light or dark \
setting of the browser and is printable. It contains no date, so the same input gives the same file.";

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true, after_help = AFTER_REPORT, after_long_help = AFTER_REPORT)]
pub(crate) struct ReportArgs {
    /// Labelled data, as for train
    pub(crate) data: PathBuf,
    /// Evaluate this model on the rows instead of training one
    #[arg(long, value_name = "MODEL", conflicts_with_all = LEARNING)]
    pub(crate) model: Option<PathBuf>,
    /// Output file, ending in .html [default: standard output]
    #[arg(short, long, value_name = "REPORT.html")]
    pub(crate) output: Option<PathBuf>,
    /// Time limit in seconds for each training run and for the separability decision
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, allow_negative_numbers = true)]
    pub(crate) time: f64,
    #[command(flatten)]
    pub(crate) learn: Flags<Learning>,
}

//! `linsep plot`: runs the job whose result is drawn, and writes the picture.

use super::{compare, load_model, print_product, separate};
use crate::args::{
    ComparePlotArgs, DrawArgs, Flags, LearnedPlotArgs, Learning, ModelPlotArgs, PathPlotArgs, PlotArgs,
    PlotKind, SeparationPlotArgs, WeightPlotArgs,
};
use crate::console::{self, Console, ProgressDisplay};
use crate::exit::{Exit, Usage};
use crate::output;
use linsep::chart::{self, Figure, FigureFormat, Theme};
use linsep::features::Features;
use linsep::job::{
    DataSpec, EvaluateSpec, SeparationView, TrainSpec, Trained, View, WhichRows, refuse_overwriting,
    refuse_reading_twice,
};
use linsep::report::describe_no_model;
use linsep::store::{check_writable, write_atomically};
use linsep::{Error, Model, Source};
use std::path::{Path, PathBuf};

/// The default of the training where held-out rows are not mentioned.
const HOLDOUT: f64 = 0.25;
const TOP_WEIGHTS: u64 = 15;
const TOP_EFFECTS: u64 = 9;

pub(crate) fn run(args: &PlotArgs, console: Console) -> anyhow::Result<Exit> {
    match &args.kind {
        PlotKind::Boundary(args) => boundary(args, console),
        PlotKind::Trace(args) => trace(args, console),
        PlotKind::Learning(args) => learning(args, console),
        PlotKind::Compare(args) => compared(args, console),
        PlotKind::Roc(args) => judged(args, Judged::Roc, console),
        PlotKind::Calibration(args) => judged(args, Judged::Calibration, console),
        PlotKind::Weights(args) => weights(args, Shown::Weights, console),
        PlotKind::Effects(args) => weights(args, Shown::Effects, console),
        PlotKind::Separation(args) => separation(args, console),
        PlotKind::Path(args) => path(args, console),
    }
}

/// Where the picture goes, checked before any work.
struct Canvas<'a> {
    draw: &'a DrawArgs,
    format: FigureFormat,
    console: Console,
}

impl<'a> Canvas<'a> {
    fn new(draw: &'a DrawArgs, inputs: &[&Path], console: Console) -> anyhow::Result<Self> {
        let mut format = FigureFormat::Svg;
        if let Some(path) = &draw.output {
            format = FigureFormat::of(path).map_err(Error::from)?;
            refuse_overwriting(&[path], inputs).map_err(Error::from)?;
            check_writable(path)?;
            output::will_write(&[path]);
        }
        if draw.dark && format != FigureFormat::Png {
            let reason = "--dark is for .png: SVG and HTML follow the light or dark setting of their reader";
            return Err(Usage(reason.to_string()).into());
        }
        Ok(Self { draw, format, console })
    }

    /// Writes the picture, unless the user has asked for an end: half an answer is none.
    fn write(&self, figure: &Figure) -> anyhow::Result<Exit> {
        if console::interrupted() {
            return Err(Error::Interrupted.into());
        }
        let theme = if self.draw.dark { Theme::Dark } else { Theme::Light };
        let bytes = figure.to_bytes(self.format, theme)?;
        let lacking = figure.letters_without_outline() as u64;
        if self.format == FigureFormat::Png && lacking > 0 {
            self.console.note(&format!(
                "{} shown as boxes: PNG has Latin, Greek and Cyrillic letters; .svg and .html show all.",
                linsep::numbers::counted(lacking, "letter is", "letters are")
            ));
        }
        match &self.draw.output {
            Some(path) => {
                write_atomically(path, |out| out.write_all(&bytes))?;
                self.console.note(&format!("{} is written: {}", path.display(), figure.title()));
                Ok(Exit::Fine)
            }
            None => print_product(|out| out.write_all(&bytes)),
        }
    }
}

/// Learns a model to be drawn.
fn train(spec: &TrainSpec, console: Console) -> anyhow::Result<Result<Trained, Exit>> {
    let trained = spec.run(&mut ProgressDisplay::of_whole_job(console))?;
    if console::interrupted() {
        return Err(Error::Interrupted.into());
    }
    if trained.status.has_model() {
        return Ok(Ok(trained));
    }
    let reason = describe_no_model(&trained.model);
    Ok(Err(Exit::without_model(&trained, &reason.unwrap_or_default(), None)))
}

/// The specification of what is learned, with a default learner.
fn spec(learn: &Flags<Learning>, data: &Path, usual: Option<&str>) -> anyhow::Result<TrainSpec> {
    let mut spec = learn.spec()?;
    spec.data.source = Source::from_argument(data);
    if let (None, Some(usual)) = (&spec.learner, usual) {
        spec.learner = Some(usual.to_string());
    }
    Ok(spec)
}

/// The files that a picture is made from.
fn inputs<'a>(model: Option<&'a PathBuf>, spec: &'a TrainSpec) -> Vec<&'a Path> {
    let files =
        [spec.data.source.path(), model.map(PathBuf::as_path), spec.data.read.array.labels_file.as_deref()];
    files.into_iter().flatten().collect()
}

/// The rows that are drawn. Cells that are missing are treated as the model treats them.
fn drawn_rows(spec: &TrainSpec) -> DataSpec {
    DataSpec { cache: false, ..spec.data.clone() }
}

fn boundary(args: &ModelPlotArgs, console: Console) -> anyhow::Result<Exit> {
    let spec = spec(&args.learn, &args.data, None)?;
    let canvas = Canvas::new(&args.draw, &inputs(args.model.as_ref(), &spec), console)?;
    let rows = drawn_rows(&spec);
    let model = match &args.model {
        Some(path) => load_model(path)?,
        None => {
            refuse_reading_twice(&rows).map_err(Error::from)?;
            match train(&spec, console)? {
                Ok(trained) => trained.model,
                Err(exit) => return Ok(exit),
            }
        }
    };
    let view = View::of(model, &rows, spec.classes.row_weights.as_deref(), &mut silent())?;
    canvas.write(&chart::boundary(&view))
}

/// Messages of training are not repeated while drawing.
fn silent() -> ProgressDisplay {
    ProgressDisplay::of_whole_job(Console { quiet: true, verbose: false })
}

fn trace(args: &LearnedPlotArgs, console: Console) -> anyhow::Result<Exit> {
    let spec = TrainSpec { keep_trace: true, ..spec(&args.learn, &args.data, Some("perceptron"))? };
    let canvas = Canvas::new(&args.draw, &inputs(None, &spec), console)?;
    match train(&spec, console)? {
        Ok(trained) => {
            canvas.write(&chart::trace(&trained.source.name(), &trained.trace, &trained.model.evidence))
        }
        Err(exit) => Ok(exit),
    }
}

fn learning(args: &LearnedPlotArgs, console: Console) -> anyhow::Result<Exit> {
    let spec = TrainSpec { keep_trace: true, ..spec(&args.learn, &args.data, Some("perceptron"))? };
    let canvas = Canvas::new(&args.draw, &inputs(None, &spec), console)?;
    let rows = drawn_rows(&spec);
    refuse_reading_twice(&rows).map_err(Error::from)?;
    let trained = match train(&spec, console)? {
        Ok(trained) => trained,
        Err(exit) => return Ok(exit),
    };
    let view = View::of(trained.model, &rows, spec.classes.row_weights.as_deref(), &mut silent())?;
    canvas.write(&chart::learning(&view, &trained.trace))
}

fn compared(args: &ComparePlotArgs, console: Console) -> anyhow::Result<Exit> {
    let canvas = Canvas::new(&args.draw, &[&args.contest.data], console)?;
    let spec = compare::spec(&args.contest)?;
    if spec.orders > 0 {
        let reason = "--orders is for linsep compare, which prints what the order of the rows changes: this picture does not show it";
        return Err(Usage(reason.to_string()).into());
    }
    let comparison = spec.run(&mut ProgressDisplay::of_whole_job(console))?;
    canvas.write(&chart::compare(&spec.data.source.name(), &comparison))
}

/// The pictures of evaluated rows.
#[derive(Clone, Copy)]
enum Judged {
    Roc,
    Calibration,
}

fn judged(args: &ModelPlotArgs, kind: Judged, console: Console) -> anyhow::Result<Exit> {
    let mut spec = spec(&args.learn, &args.data, None)?;
    let canvas = Canvas::new(&args.draw, &inputs(args.model.as_ref(), &spec), console)?;
    let rows = drawn_rows(&spec);
    let source = rows.source.name();
    let (evaluated, judged, which) = match &args.model {
        Some(path) => {
            let model = load_model(path)?;
            let row_weights = spec.classes.row_weights;
            let spec = EvaluateSpec { model: path.clone(), data: rows, row_weights, threshold: None };
            let (evaluated, judged) =
                spec.run_with_rows(&model, &mut ProgressDisplay::of_whole_job(console))?;
            let which = evaluated.which_rows();
            (evaluated, judged, which)
        }
        None => {
            spec.keep_held_out = true;
            spec.holdout = spec.holdout.or(Some(HOLDOUT));
            spec.probabilities |= matches!(kind, Judged::Calibration);
            let trained = match train(&spec, console)? {
                Ok(trained) => trained,
                Err(exit) => return Ok(exit),
            };
            let Some(held_out) = trained.held_out else { return Err(Error::Interrupted.into()) };
            (held_out.evaluated, held_out.judged, WhichRows::HeldOut)
        }
    };
    let (figure, needed) = match kind {
        Judged::Roc => (
            chart::roc(&source, which, &evaluated, &judged),
            "a ROC curve needs two classes with rows of both: choose --positive CLASS, or --classes A,B",
        ),
        Judged::Calibration => (
            chart::calibration(&source, which, &evaluated),
            "this model has no probabilities: train it with --probabilities, or with --learner logistic",
        ),
    };
    match figure {
        Some(figure) => canvas.write(&figure),
        None => Err(Usage(needed.to_string()).into()),
    }
}

/// The pictures of a model alone.
#[derive(Clone, Copy)]
enum Shown {
    Weights,
    Effects,
}

fn weights(args: &WeightPlotArgs, kind: Shown, console: Console) -> anyhow::Result<Exit> {
    let mut spec = spec(&args.learn, args.data.as_deref().unwrap_or(Path::new("-")), None)?;
    let canvas = Canvas::new(&args.draw, &inputs(args.model.as_ref(), &spec), console)?;
    let (model, name) = match (&args.model, &args.data) {
        (Some(path), _) => (load_model(path)?, path.display().to_string()),
        (None, Some(_)) => {
            if matches!(kind, Shown::Effects) && spec.features.is_none() {
                spec.features = Some(Features::Splines);
            }
            match train(&spec, console)? {
                Ok(trained) => (trained.model, trained.source.name()),
                Err(exit) => return Ok(exit),
            }
        }
        (None, None) => return Err(Usage("give a data file or a --model".to_string()).into()),
    };
    let outcome = outcome_of(&model, args.class.as_deref())?;
    let figure = match kind {
        Shown::Weights => chart::weights(&name, &model, outcome, args.top.unwrap_or(TOP_WEIGHTS) as usize),
        Shown::Effects => chart::effects(&name, &model, outcome, args.top.unwrap_or(TOP_EFFECTS) as usize),
    };
    match figure {
        Some(figure) => canvas.write(&figure),
        None => {
            let learner = model.settings.learner.name();
            let reason = format!("this model of {learner} has no weights of columns to show");
            Err(Usage(reason).into())
        }
    }
}

/// The class whose score is shown.
fn outcome_of(model: &Model, class: Option<&str>) -> anyhow::Result<usize> {
    let outcomes = model.classes.outcomes();
    match class {
        None => Ok(0),
        Some(_) if model.classes.pair().is_some() => Err(Usage(
            "--class needs more than two classes; with two, the weights are for one and against the other"
                .to_string(),
        )
        .into()),
        Some(class) => outcomes.iter().position(|name| name == class).ok_or_else(|| {
            Usage(format!("--class \"{class}\" is not among the classes: {}", outcomes.join(", "))).into()
        }),
    }
}

fn separation(args: &SeparationPlotArgs, console: Console) -> anyhow::Result<Exit> {
    let canvas = Canvas::new(&args.draw, &[&args.decide.data], console)?;
    let spec = separate::spec(&args.decide)?;
    let mut display = ProgressDisplay::of_whole_job(console);
    let separated = spec.run(&mut display)?;
    let view = SeparationView::of(&separated, &mut display)?;
    canvas.write(&chart::separation(&separated, &view))
}

fn path(args: &PathPlotArgs, console: Console) -> anyhow::Result<Exit> {
    let spec =
        TrainSpec { path: Some(args.points as usize), ..spec(&args.learn, &args.data, Some("logistic"))? };
    let canvas = Canvas::new(&args.draw, &inputs(None, &spec), console)?;
    let trained = match train(&spec, console)? {
        Ok(trained) => trained,
        Err(exit) => return Ok(exit),
    };
    let classes: Vec<String> = trained
        .path
        .last()
        .iter()
        .flat_map(|point| point.classes.iter().map(|own| own.class.clone()))
        .collect();
    let class = match &args.class {
        None => 0,
        Some(class) => classes.iter().position(|name| name == class).ok_or_else(|| {
            Usage(format!("--class \"{class}\" is not among the classes: {}", classes.join(", ")))
        })?,
    };
    match chart::path(&trained.source.name(), &trained.model, &trained.path, class) {
        Some(figure) => canvas.write(&figure),
        None => {
            let reason = "every weight is zero at every penalty: there is no path to plot";
            Err(Usage(reason.to_string()).into())
        }
    }
}

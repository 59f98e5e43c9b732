//! `linsep train`

use super::{load_model, print_json, print_result, read_options, report_lines, tell_notes};
use crate::args::{BiasArg, LearnerArg, MistakeArg, OrderArg, ScaleArg, TrainArgs};
use crate::console::{Console, Watch};
use crate::exit::{Exit, Usage};
use anyhow::Context;
use linsep::classes::class_name;
use linsep::model::Predictor;
use linsep::read::{ReadNotes, ReadOptions, RowStream, Schema, Source, read};
use linsep::report::{self, Seconds, TrainReport};
use linsep::scale::{Scaler, Scaling};
use linsep::split::{check_fraction, hold_out};
use linsep::theory::margin::{Extent, least_agreement};
use linsep::theory::teaching::write_teaching_set;
use linsep::theory::trace::{Comparator, TracePoint, TraceRecorder};
use linsep::train::{self, Bias, Init, Learned, Learner, MistakeRule, Order, Run, Task, train_stream};
use linsep::{Dataset, Model, Outcome, Settings, Status};
use std::path::Path;
use std::time::{Duration, Instant};

/// What came of training, before it is told.
struct Trained {
    model: Model,
    report: TrainReport,
    notes: ReadNotes,
    source: String,
    counts: Option<(u64, u64)>,
    /// Ctrl-C came before the trace and the teaching set were whole.
    interrupted: bool,
}

pub(crate) fn run(args: &TrainArgs, console: Console) -> anyhow::Result<Exit> {
    if !(args.checkpoint_every >= 0.0 && args.checkpoint_every <= 1e9) {
        return Err(Usage("--checkpoint-every needs a number of seconds, at least 0".into()).into());
    }
    let checkpoint = load_checkpoint(args, console)?;
    let warm = match &args.init {
        Some(path) if path.as_os_str() != "zero" && path.as_os_str() != "first" => Some(load_model(path)?),
        _ => None,
    };
    let source = Source::from_argument(&args.data);
    let online = is_online(args, checkpoint.as_ref(), &source);
    let settings = settings(args, online, checkpoint.as_ref(), warm.as_ref());
    settings.validate().map_err(linsep::Error::from)?;
    let mut options = read_options(&args.read);
    options.schema = warm.as_ref().map(|model| model.schema.clone());
    options.online = online;
    refuse_combinations(args, &settings, online)?;
    if let Some(fraction) = args.holdout {
        check_fraction(fraction).map_err(linsep::Error::from)?;
    }
    // A place that cannot be written to is better known before hours of work than after.
    for path in [&args.output, &args.checkpoint, &args.trace, &args.teaching_set].into_iter().flatten() {
        linsep::store::check_writable(path)?;
    }
    let name = source.name();
    let job = Job { args, console, settings, options, source, warm };
    let trained = if online { job.online(checkpoint) } else { job.in_memory(checkpoint) };
    let mut trained = trained.map_err(|error| match error.downcast_ref() {
        // What is wrong with the data as a whole has no line, but it has a file.
        Some(linsep::Error::Classes(_) | linsep::Error::Lengths { .. }) => error.context(name),
        _ => error,
    })?;
    tell_notes(console, &trained.notes);
    if let Some(path) = &args.output {
        trained.model.save(path)?;
        trained.report.model = Some(path.display().to_string());
    }
    if args.json {
        print_json(&trained.report)?;
    } else {
        print_result(|out| out.write_all(trained.to_text().as_bytes()))?;
    }
    Ok(match trained.report.status {
        _ if trained.interrupted => Exit::Interrupted,
        Status::Interrupted => Exit::Interrupted,
        Status::Converged => Exit::Fine,
        _ if args.require_convergence => Exit::No,
        _ => Exit::Fine,
    })
}

/// The run to take up, if there is one. A run that was killed before its first checkpoint starts again, which
/// gives the same model.
fn load_checkpoint(args: &TrainArgs, console: Console) -> anyhow::Result<Option<Run>> {
    let Some(path) = &args.resume else { return Ok(None) };
    let exists =
        path.try_exists().with_context(|| format!("{}: cannot look for a checkpoint", path.display()))?;
    if !exists {
        console.warn(&format!("there is no checkpoint {} yet: starting from the beginning", path.display()));
        return Ok(None);
    }
    Ok(Some(Run::load(path).with_context(|| format!("{}", path.display()))?))
}

/// Whether rows are learned as they are read: asked for, or standard input that is to be seen once.
fn is_online(args: &TrainArgs, checkpoint: Option<&Run>, source: &Source) -> bool {
    let one_pass = args.epochs.or(checkpoint.map(|run| run.settings().epochs)) == Some(1);
    let given = match args.order {
        Some(order) => matches!(order, OrderArg::Given),
        None => checkpoint.is_none_or(|run| run.settings().order == Order::Given),
    };
    let needs_all_rows = args.holdout.is_some()
        || !args.classes.is_empty()
        || args.teaching_set.is_some()
        || matches!(args.scale, Some(ScaleArg::MaxAbs | ScaleArg::Standard))
        || matches!(args.read.missing, Some(crate::args::MissingArg::Mean));
    args.online || (*source == Source::Stdin && one_pass && given && !needs_all_rows)
}

/// The settings: what the user said, else what the checkpoint says, else the defaults.
fn settings(args: &TrainArgs, online: bool, checkpoint: Option<&Run>, warm: Option<&Model>) -> Settings {
    let mut settings = match checkpoint {
        Some(run) => run.settings().clone(),
        None => {
            Settings { positive: warm.map(|model| model.classes.positive.clone()), ..Settings::default() }
        }
    };
    if online && checkpoint.is_none() {
        settings.epochs = 1;
        settings.order = Order::Given;
    }
    if let (Some(model), None) = (warm, checkpoint) {
        settings.bias = model.settings.bias;
    }
    if let Some(learner) = args.learner {
        settings.learner = match learner {
            LearnerArg::Perceptron => Learner::Perceptron,
            LearnerArg::Averaged => Learner::Averaged,
            LearnerArg::Voted => Learner::Voted,
        };
    }
    if let Some(order) = args.order {
        settings.order = match order {
            OrderArg::Given => Order::Given,
            OrderArg::ShuffleOnce => Order::ShuffleOnce,
            OrderArg::Shuffle => Order::Shuffle,
        };
    }
    match (args.bias, args.bias_scale) {
        (Some(BiasArg::None), _) => settings.bias = Bias::None,
        (_, Some(scale)) => settings.bias = Bias::Append(scale),
        (Some(BiasArg::Append), None) if settings.bias == Bias::None => settings.bias = Bias::Append(1.0),
        _ => {}
    }
    if let Some(rule) = args.mistake {
        settings.mistake = match rule {
            MistakeArg::Nonpositive => MistakeRule::NonPositive,
            MistakeArg::Negative => MistakeRule::Negative,
        };
    }
    match (&args.init, warm) {
        (_, Some(model)) => settings.init = Init::Warm(model.learned.theta().clone()),
        (Some(path), None) if path.as_os_str() == "first" => settings.init = Init::First,
        (Some(_), None) => settings.init = Init::Zero,
        (None, None) => {}
    }
    settings.epochs = args.epochs.unwrap_or(settings.epochs);
    settings.max_updates = args.max_updates.or(settings.max_updates);
    settings.max_seconds = args.max_seconds.or(settings.max_seconds);
    settings.seed = args.seed.unwrap_or(settings.seed);
    settings.positive = args.positive.clone().or(settings.positive);
    settings
}

/// Refuses what cannot be done together, with the reason.
fn refuse_combinations(args: &TrainArgs, settings: &Settings, online: bool) -> Result<(), Usage> {
    let refuse = |reason: &str| Err(Usage(reason.to_string()));
    if args.bias == Some(BiasArg::None) && args.bias_scale.is_some() {
        return refuse("--bias-scale needs --bias append: without a bias there is nothing to scale");
    }
    if matches!(settings.init, Init::Warm(_)) && (args.trace.is_some() || args.teaching_set.is_some()) {
        return refuse("--trace and --teaching-set need a start at zero: the theorems speak of no other");
    }
    if online {
        for (given, name) in [
            (args.holdout.is_some(), "--holdout"),
            (!args.classes.is_empty(), "--classes"),
            (args.teaching_set.is_some(), "--teaching-set"),
        ] {
            if given {
                return Err(Usage(format!(
                    "{name} needs all rows in memory; learning online forgets each row"
                )));
            }
        }
    }
    Ok(())
}

/// Everything that training needs.
struct Job<'a> {
    args: &'a TrainArgs,
    console: Console,
    settings: Settings,
    options: ReadOptions,
    source: Source,
    warm: Option<Model>,
}

impl Job<'_> {
    fn watch(&self) -> Watch {
        let every = Duration::from_secs_f64(self.args.checkpoint_every);
        Watch::new(self.console).saving(self.args.checkpoint.as_ref(), every)
    }

    fn scaling(&self) -> Scaling {
        match self.args.scale {
            None => self.warm.as_ref().map_or(Scaling::None, |model| model.scaler.scaling()),
            Some(ScaleArg::None) => Scaling::None,
            Some(ScaleArg::MaxAbs) => Scaling::MaxAbs,
            Some(ScaleArg::Standard) => Scaling::Standard,
            Some(ScaleArg::UnitRows) => Scaling::UnitRows,
        }
    }

    fn in_memory(mut self, checkpoint: Option<Run>) -> anyhow::Result<Trained> {
        let clock = Instant::now();
        let mut reading = Watch::new(self.console);
        let loaded = read(&self.source, &self.options, &mut reading)?;
        reading.end()?;
        let read_seconds = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        let (schema, mut notes, data) = (loaded.schema, loaded.notes, loaded.dataset);
        let fingerprint = data.fingerprint();
        let data = self.chosen_classes(data)?;
        let (data, held_out) = match self.args.holdout {
            Some(fraction) => {
                let split = hold_out(&data, fraction, self.settings.seed)?;
                (split.train, Some(split.held_out))
            }
            None => (data, None),
        };
        let scaler = self.scaler(&data, &mut notes)?;
        let uneven = if scaler == Scaler::None { unevenness(&data) } else { 1.0 };
        let data = scaler.apply_all(data)?;

        let mut watch = self.watch();
        let outcome = match checkpoint {
            Some(run) => train::resume(run, &data, &self.settings, &mut watch),
            None => linsep::train(&data, &self.settings, &mut watch),
        };
        watch.end()?;
        let outcome = outcome?;
        let train_seconds = clock.elapsed().as_secs_f64();
        if outcome.status != Status::Converged && uneven > 100.0 {
            notes.remarks.push(format!(
                "The largest feature is about {} times as large as the usual one: --scale standard or max-abs may help.",
                report::rounded(uneven.round(), report::Rounding::Down)
            ));
        }
        let interrupted = self.write_evidence(&data, &outcome)? == Status::Interrupted;
        if interrupted {
            self.console
                .warn("interrupted: the trace and the teaching set, which need a whole run, are not written");
        }

        let seconds = Seconds { read: read_seconds, train: train_seconds };
        let mut report = TrainReport::new(&outcome, seconds, rayon::current_num_threads());
        report.fingerprint = Some(fingerprint.clone());
        report.skipped_rows = notes.skipped;
        report.dropped_rows = notes.dropped;
        let model = Model::with_reading(outcome, widened(schema, data.columns()), scaler, Some(fingerprint));
        if let Some(held_out) = held_out {
            let errors = count_errors(&model, &held_out);
            report.holdout_error = Some(errors as f64 / held_out.len() as f64);
            report.holdout_rows = Some(held_out.len() as u64);
        }
        let positive = data.classes().iter().position(|class| *class == model.classes.positive);
        let positives = positive.map_or(0, |class| data.class_counts()[class] as u64);
        let counts = Some((data.len() as u64 - positives, positives));
        Ok(Trained { model, report, notes, source: self.source.name(), counts, interrupted })
    }

    fn online(self, checkpoint: Option<Run>) -> anyhow::Result<Trained> {
        let clock = Instant::now();
        let scaler = match self.scaling() {
            Scaling::None => Scaler::None,
            Scaling::UnitRows => Scaler::UnitRows,
            scaling => match &self.warm {
                Some(model) if model.scaler.scaling() == scaling && self.args.scale.is_none() => {
                    model.scaler.clone()
                }
                _ => {
                    let reason = "--scale max-abs and standard need all rows before the first is learned; learning \
                                  online allows --scale none and unit-rows";
                    return Err(Usage(reason.into()).into());
                }
            },
        };
        self.console.note("note: learning online: one pass, in the given order, rows are not kept.");
        let comparator = self.args.comparator.as_ref().map(|path| load_model(path)).transpose()?;
        if comparator.is_some() {
            return Err(
                Usage("--comparator needs all rows in memory, to know its margin on them".into()).into()
            );
        }
        let mut stream = RowStream::open(&self.source, &self.options)?;
        let mut watch = self.watch();
        if self.args.trace.is_some() {
            watch.trace = Some(TraceRecorder::new(self.args.trace_points as usize, None, None));
        }
        let saves = self.args.checkpoint.is_some();
        let outcome = train_stream(&mut stream, &self.settings, &scaler, checkpoint, saves, &mut watch);
        watch.end()?;
        let outcome = outcome?;
        if let (Some(path), Some(trace)) = (&self.args.trace, watch.trace) {
            write_trace(path, &trace.finish())?;
        }
        let notes = stream.notes();
        let seconds = Seconds { read: clock.elapsed().as_secs_f64(), train: 0.0 };
        let mut report = TrainReport::new(&outcome, seconds, rayon::current_num_threads());
        report.skipped_rows = notes.skipped;
        report.dropped_rows = notes.dropped;
        let model = Model::with_reading(outcome, stream.schema(), scaler, None);
        Ok(Trained { model, report, notes, source: self.source.name(), counts: None, interrupted: false })
    }

    /// Keeps the rows of the classes asked for.
    fn chosen_classes(&mut self, data: Dataset) -> anyhow::Result<Dataset> {
        if self.args.classes.is_empty() {
            return Ok(data);
        }
        let mut names = Vec::new();
        for label in &self.args.classes {
            let name = class_name(label).filter(|name| data.classes().contains(name));
            names.push(name.ok_or_else(|| {
                Usage(format!(
                    "--classes names \"{label}\", which no row has; the classes are {}",
                    data.classes().join(", ")
                ))
            })?);
        }
        Ok(data.only_classes(&names)?)
    }

    fn scaler(&self, data: &Dataset, notes: &mut ReadNotes) -> anyhow::Result<Scaler> {
        if let (Some(model), None) = (&self.warm, self.args.scale) {
            return Ok(model.scaler.clone());
        }
        let scaler = Scaler::learn(self.scaling(), data);
        if matches!(scaler, Scaler::Standard { mean: None, .. }) {
            notes
                .remarks
                .push("The data is sparse: features are scaled to unit variance without centring.".into());
        }
        Ok(scaler)
    }

    /// The trace and the teaching set, by going through the same run again: nothing is kept in runs that do not
    /// ask, and a resumed run gives the whole. A part of them would prove nothing, so Ctrl-C leaves them out;
    /// the status tells.
    fn write_evidence(&self, data: &Dataset, outcome: &Outcome) -> anyhow::Result<Status> {
        if self.args.trace.is_none() && self.args.teaching_set.is_none() {
            return Ok(Status::Converged);
        }
        if outcome.status == Status::Interrupted {
            return Ok(Status::Interrupted);
        }
        let mut again = Settings { learner: Learner::Perceptron, max_seconds: None, ..self.settings.clone() };
        again.max_updates = Some(outcome.evidence.updates.max(1));
        let task = Task::new(data, &again)?;
        let comparator = match &self.args.comparator {
            Some(path) => {
                let theta = load_model(path)?.learned.theta().clone();
                if theta.weights.len() != data.columns() || theta.bias_input != again.bias.input() {
                    return Err(Usage(
                        "--comparator has other features or another bias than this run".into(),
                    )
                    .into());
                }
                let margin = least_agreement(data, &task.signs, &theta);
                let margin =
                    margin.ok_or_else(|| Usage("--comparator does not separate these rows".into()))?;
                Some(Comparator { theta, margin })
            }
            None => {
                let found = linsep::train(data, &again, &mut Watch::new(self.console))?;
                if found.status == Status::Interrupted {
                    return Ok(Status::Interrupted);
                }
                let Learned::Linear(theta) = found.learned else { return Ok(found.status) };
                least_agreement(data, &task.signs, &theta).map(|margin| Comparator { theta, margin })
            }
        };
        let radius = Extent::of(data, again.bias.input()).radius_upper;
        let mut watch = Watch::new(self.console);
        watch.trace = Some(TraceRecorder::new(self.args.trace_points as usize, Some(radius), comparator));
        watch.mistakes = Some(Vec::new());
        if outcome.evidence.updates > 0 {
            let status = linsep::train(data, &again, &mut watch)?.status;
            if status == Status::Interrupted {
                return Ok(status);
            }
        }
        watch.end()?;
        if let (Some(path), Some(trace)) = (&self.args.trace, watch.trace) {
            write_trace(path, &trace.finish())?;
        }
        if let (Some(path), Some(mistakes)) = (&self.args.teaching_set, watch.mistakes) {
            linsep::store::write_atomically(path, |out| write_teaching_set(data, &mistakes, out))?;
        }
        Ok(outcome.status)
    }
}

/// By how much the largest feature exceeds the median one, in magnitude.
fn unevenness(data: &Dataset) -> f64 {
    let Scaler::MaxAbs { divisor: mut sizes } = Scaler::learn(Scaling::MaxAbs, data) else { return 1.0 };
    sizes.sort_by(f64::total_cmp);
    match (sizes.get(sizes.len() / 2), sizes.last()) {
        (Some(median), Some(largest)) => largest / median,
        _ => 1.0,
    }
}

/// A warm start can have more features than the file has.
fn widened(schema: Schema, columns: usize) -> Schema {
    match schema {
        Schema::Numbered { index_base, features } => {
            Schema::Numbered { index_base, features: features.max(columns) }
        }
        other => other,
    }
}

fn write_trace(path: &Path, points: &[TracePoint]) -> anyhow::Result<()> {
    linsep::store::write_atomically(path, |out| {
        for point in points {
            serde_json::to_writer(&mut *out, point)?;
            writeln!(out)?;
        }
        Ok(())
    })?;
    Ok(())
}

fn count_errors(model: &Model, data: &Dataset) -> u64 {
    let mut predictor = Predictor::new(model);
    let wrong = |i: &usize| {
        let class = &data.classes()[data.labels()[*i] as usize];
        (predictor.predict(data.row(*i)).score >= 0.0) != (model.classes.sign_of(class) == Some(1))
    };
    (0..data.len()).filter(wrong).count() as u64
}

impl Trained {
    /// The report for people.
    fn to_text(&self) -> String {
        let (evidence, report) = (&self.model.evidence, &self.report);
        let shape = format!(
            "{}: {}, {}, {} not zero ({})",
            self.source,
            report::counted(evidence.examples, "row", "rows"),
            report::counted(evidence.features, "feature", "features"),
            report::counted(evidence.nonzeros, "value", "values"),
            self.notes.format,
        );
        let with_count = |name: String, count: Option<u64>| match count {
            Some(count) => format!("{name} ({})", report::counted(count, "row", "rows")),
            None => name,
        };
        let classes = format!(
            "−1 = {}, +1 = {}",
            with_count(self.model.classes.negative.join(" or "), self.counts.map(|(negative, _)| negative)),
            with_count(self.model.classes.positive.clone(), self.counts.map(|(_, positive)| positive)),
        );
        let mut error = match (evidence.training_error, evidence.progressive_error) {
            (Some(error), _) => format!(
                "training {} ({} of {})",
                report::percent(error),
                report::grouped((error * evidence.examples as f64).round() as u64),
                report::grouped(evidence.examples)
            ),
            (None, Some(error)) => format!("mistakes when the rows came: {}", report::percent(error)),
            (None, None) => "unknown".to_string(),
        };
        if let (Some(share), Some(rows)) = (report.holdout_error, report.holdout_rows) {
            error.push_str(&format!(
                ", held out {} ({} of {})",
                report::percent(share),
                report::grouped((share * rows as f64).round() as u64),
                report::grouped(rows)
            ));
        }
        let scaling = match self.model.scaler.scaling() {
            Scaling::None => "",
            Scaling::MaxAbs => "; features scaled by their largest magnitude",
            Scaling::Standard => "; features scaled to unit variance",
            Scaling::UnitRows => "; rows scaled to length 1",
        };
        let mut lines = vec![
            ("Data", shape),
            ("Classes", classes),
            ("Learner", report::describe_settings(&self.model.settings) + scaling),
            ("Result", report::describe_end(evidence)),
            ("Error", error),
            ("Margin", report::describe_margin(evidence)),
            ("Bound", report::describe_bound(evidence)),
            ("Meaning", report::explain(evidence, &self.model.settings)),
        ];
        if let Some(distance) = evidence.distance {
            // After the margin, which it is easily mistaken for: this is the distance that these weights keep.
            let distance = report::rounded(distance, report::Rounding::Down);
            lines.insert(6, ("Nearest", format!("no row is nearer than {distance} to this boundary")));
        }
        lines.push((
            "Time",
            format!(
                "read {:.3} s, train {:.3} s, {}",
                report.seconds.read,
                report.seconds.train,
                report::counted(report.threads as u64, "thread", "threads")
            ),
        ));
        lines.push(match &report.model {
            Some(path) => ("Saved", path.clone()),
            None => ("Saved", "nowhere: name a file with -o MODEL".to_string()),
        });
        report_lines(&lines)
    }
}

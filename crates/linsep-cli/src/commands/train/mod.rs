//! `linsep train`

mod evidence;
mod larger;
mod settings;
mod text;

use super::{
    as_drawn, chosen_classes, data_source, load_model, print_json, print_result, read_options,
    refuse_overwriting, source_and_options, tell_notes, weighted,
};
use crate::args::TrainArgs;
use crate::console::{Console, Watch};
use crate::exit::{Exit, Usage};
use anyhow::Context;
use linsep::classes::Classes;
use linsep::numbers;
use linsep::read::{Format, ReadNotes, ReadOptions, RowStream, Schema, Source, read};
use linsep::report::{Seconds, TrainReport};
use linsep::scale::{Scaler, Scaling};
use linsep::split::{check_fraction, hold_out};
use linsep::theory::trace::TraceRecorder;
use linsep::train::{self, Run, train_stream};
use linsep::{Dataset, Model, Outcome, Settings, Status};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What came of training, before it is told.
struct Trained {
    model: Model,
    report: TrainReport,
    notes: ReadNotes,
    source: String,
    /// Rows of each outcome; empty for a stream, which is not counted.
    counts: Vec<u64>,
    /// Ctrl-C came before the trace and the teaching set were whole.
    interrupted: bool,
}

pub(crate) fn run(args: &TrainArgs, console: Console) -> anyhow::Result<Exit> {
    if !(args.checkpoint_every >= 0.0 && args.checkpoint_every <= 1e9) {
        return Err(Usage("--checkpoint-every needs a number of seconds, at least 0".into()).into());
    }
    let outputs: Vec<&Path> = [&args.output, &args.checkpoint, &args.trace, &args.teaching_set]
        .into_iter()
        .filter_map(|path| path.as_deref())
        .collect();
    refuse_to_destroy(args, &outputs)?;
    let checkpoint = load_checkpoint(args, console)?;
    let warm = match &args.init {
        Some(path) if path.as_os_str() != "zero" && path.as_os_str() != "first" => Some(load_model(path)?),
        _ => None,
    };
    let name = data_source(&args.data).name();
    let online = settings::is_online(args, checkpoint.as_ref());
    let settings = settings::resolve(args, online, checkpoint.as_ref(), warm.as_ref())?;
    settings.validate().map_err(linsep::Error::from)?;
    let (source, mut options) = match args.memory {
        // Looks after its cache itself.
        Some(_) => (data_source(&args.data), read_options(&args.read)),
        None => source_and_options(&args.data, &args.read, args.cache, console)?,
    };
    options.schema = warm.as_ref().map(|model| model.schema.clone());
    options.online = online;
    settings::refuse_combinations(args, &settings, warm.as_ref(), online)?;
    if let Some(fraction) = args.holdout {
        check_fraction(fraction).map_err(linsep::Error::from)?;
    }
    // A place that cannot be written to is better known before hours of work than after.
    for path in outputs {
        linsep::store::check_writable(path)?;
    }
    let job = Job { args, console, settings, options, source, name: name.clone(), warm };
    let trained = match args.memory {
        Some(memory) => job.larger(memory, checkpoint),
        None if online => job.online(checkpoint),
        None => job.in_memory(checkpoint),
    };
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
        print_result(|out| out.write_all(trained.to_text(args).as_bytes()))?;
    }
    Ok(match trained.report.status {
        _ if trained.interrupted => Exit::Interrupted,
        Status::Interrupted => Exit::Interrupted,
        Status::Converged => Exit::Fine,
        _ if args.require_convergence => Exit::No,
        _ => Exit::Fine,
    })
}

/// Refuses outputs that would destroy an input. A model may be replaced by the one that starts from it, and a
/// checkpoint by the run that goes on from it: both are written whole or not at all.
fn refuse_to_destroy(args: &TrainArgs, outputs: &[&Path]) -> Result<(), Usage> {
    let given = |path: &Option<PathBuf>| path.as_deref().map(Path::to_path_buf);
    let always = [
        Some(args.data.clone()),
        given(&args.comparator),
        given(&args.read.labels),
        given(&args.classes.weights),
    ];
    let (init, resume) = (given(&args.init), given(&args.resume));
    for (output, replaced) in [
        (&args.output, &init),
        (&args.checkpoint, &resume),
        (&args.trace, &None),
        (&args.teaching_set, &None),
    ] {
        let inputs = always.iter().chain([&init, &resume].into_iter().filter(|&input| input != replaced));
        let inputs: Vec<&Path> = inputs.filter_map(|path| path.as_deref()).collect();
        if let Some(output) = output {
            refuse_overwriting(&[output], &inputs)?;
        }
    }
    refuse_overwriting(outputs, &[])
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

/// Everything that training needs.
struct Job<'a> {
    args: &'a TrainArgs,
    console: Console,
    settings: Settings,
    options: ReadOptions,
    source: Source,
    /// What the data is called.
    name: String,
    warm: Option<Model>,
}

impl Job<'_> {
    fn watch(&self) -> Watch {
        let every = Duration::from_secs_f64(self.args.checkpoint_every);
        Watch::new(self.console).saving(self.args.checkpoint.as_ref(), every)
    }

    fn scaling(&self) -> Scaling {
        let of_model = || self.warm.as_ref().map_or(Scaling::None, |model| model.scaler.scaling());
        self.args.classes.scale.map_or_else(of_model, super::scaling)
    }

    fn in_memory(self, checkpoint: Option<Run>) -> anyhow::Result<Trained> {
        let clock = Instant::now();
        let mut reading = Watch::new(self.console);
        let loaded = read(&self.source, &self.options, &mut reading)?;
        reading.end()?;
        let read_seconds = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        self.check_kind(loaded.format, &loaded.own_schema)?;
        let (schema, mut notes) = (loaded.schema, loaded.notes);
        let known = loaded.fingerprint.filter(|_| self.args.classes.weights.is_none());
        let data = weighted(loaded.dataset, &self.args.classes)?;
        // The fingerprint is that of the rows as they were read. If those are the rows that are learned from, it can be
        // computed meanwhile.
        let read_rows_are_learned = self.args.classes.keep.is_empty()
            && self.args.holdout.is_none()
            && self.scaling() == Scaling::None;
        let early = known.or_else(|| (!read_rows_are_learned).then(|| data.fingerprint().to_string()));
        let data = chosen_classes(data, &self.args.classes)?;
        settings::refuse_many(self.args, &self.settings, data.classes().len())?;
        let (data, held_out) = match self.args.holdout {
            Some(fraction) => {
                let split = hold_out(&data, fraction, self.settings.seed)?;
                (split.train, Some(split.held_out))
            }
            None => (data, None),
        };
        let scaler = self.scaler(&data, &mut notes);
        let data = scaler.apply_all(data)?;

        let mut watch = self.watch();
        let outcome = std::thread::scope(|scope| {
            if early.is_none() && rayon::current_num_threads() > 1 {
                scope.spawn(|| compute_fingerprint(&data));
            }
            match checkpoint {
                Some(run) => train::resume(run, &data, &self.settings, &mut watch),
                None => linsep::train(&data, &self.settings, &mut watch),
            }
        });
        let fingerprint = early.unwrap_or_else(|| data.fingerprint().to_string());
        watch.end()?;
        let mut outcome = outcome?;
        if !as_drawn(scaler.scaling(), &self.args.read) {
            outcome.evidence.forget_new_rows();
            outcome.boundaries.iter_mut().for_each(|boundary| boundary.evidence.forget_new_rows());
        }
        let train_seconds = clock.elapsed().as_secs_f64();
        if outcome.status != Status::Converged && scaler == Scaler::None {
            notes.remarks.extend(scale_advice(&data, &schema));
        }
        notes.remarks.extend(many_remark(&outcome));
        if outcome.evidence.training_error.is_none() {
            self.console.warn("interrupted: the training error was not counted to the end");
        }
        let interrupted = self.write_evidence(&data, &schema, &outcome)? == Status::Interrupted;
        if interrupted {
            self.console
                .warn("interrupted: the trace and the teaching set, which need a whole run, are not written");
        }

        let seconds = Seconds { read: read_seconds, train: train_seconds };
        let mut report = TrainReport::new(&outcome, seconds, rayon::current_num_threads());
        report.fingerprint = Some(fingerprint.clone());
        report.scaling = scaler.scaling();
        report.skipped_rows = notes.skipped;
        report.dropped_rows = notes.dropped;
        let model = Model::with_reading(outcome, schema, scaler, Some(fingerprint));
        if let Some(held_out) = held_out {
            let errors = model.errors_on(&held_out);
            report.holdout_error = Some(errors as f64 / held_out.len() as f64);
            report.holdout_rows = Some(held_out.len() as u64);
        }
        let counted = data.class_counts().into_iter().map(|count| count as u64);
        let counts = outcome_counts(&model, data.classes().iter().zip(counted));
        Ok(Trained { model, report, notes, source: self.name, counts, interrupted })
    }

    fn online(self, checkpoint: Option<Run>) -> anyhow::Result<Trained> {
        let clock = Instant::now();
        let mut scaler = match self.scaling() {
            Scaling::None => Scaler::None,
            Scaling::UnitRows => Scaler::UnitRows,
            scaling => match &self.warm {
                Some(model) if model.scaler.scaling() == scaling => model.scaler.clone(),
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
        self.check_kind(stream.format(), &stream.own_schema())?;
        let mut watch = self.watch();
        if self.args.trace.is_some() {
            watch.trace = Some(TraceRecorder::new(self.args.trace_points as usize, None, None));
        }
        let outcome = train_stream(&mut stream, &self.settings, &scaler, checkpoint, &mut watch);
        watch.end()?;
        let outcome = outcome?;
        if let (Some(path), Some(trace)) = (&self.args.trace, watch.trace) {
            evidence::write_trace(path, &trace.finish())?;
        }
        let notes = stream.notes();
        let seconds = Seconds { read: clock.elapsed().as_secs_f64(), train: 0.0 };
        let mut report = TrainReport::new(&outcome, seconds, rayon::current_num_threads());
        report.skipped_rows = notes.skipped;
        report.dropped_rows = notes.dropped;
        report.scaling = scaler.scaling();
        scaler.widen(stream.schema().features());
        let model = Model::with_reading(outcome, stream.schema(), scaler, None);
        Ok(Trained { model, report, notes, source: self.name, counts: Vec::new(), interrupted: false })
    }

    /// A warm start goes on with the features of its model: those of a table, or those of numbered columns.
    fn check_kind(&self, format: Format, own: &Schema) -> Result<(), Usage> {
        let fits = |schema: &Schema| match (schema, format) {
            (schema, Format::Cache) => std::mem::discriminant(schema) == std::mem::discriminant(own),
            (Schema::Numbered { .. }, format) => format == Format::Libsvm,
            (Schema::Table { .. }, format) => matches!(format, Format::Csv | Format::Tsv),
            (Schema::Array { .. }, format) => matches!(format, Format::Npy | Format::Npz),
        };
        match &self.warm {
            Some(model) if !fits(&model.schema) => {
                let reason = "the model to start from was trained on data of another kind (a table with named columns, \
                              numbered features, or an array): its features are not those of this file";
                Err(Usage(reason.to_string()))
            }
            _ => Ok(()),
        }
    }

    fn scaler(&self, data: &Dataset, notes: &mut ReadNotes) -> Scaler {
        if let Some(model) = &self.warm {
            let mut scaler = model.scaler.clone();
            scaler.widen(data.columns());
            return scaler;
        }
        let scaler = Scaler::learn(self.scaling(), data);
        if matches!(scaler, Scaler::Standard { mean: None, .. }) {
            notes
                .remarks
                .push("The data is sparse: features are scaled to unit variance without centring.".into());
        }
        scaler
    }
}

/// Computes the fingerprint in one thread: the others have better things to do. It stays with the data.
fn compute_fingerprint(data: &Dataset) {
    if let Ok(one) = rayon::ThreadPoolBuilder::new().num_threads(1).build() {
        one.install(|| data.fingerprint());
    }
}

/// What to say where each of many classes was set against the rest.
fn many_remark(outcome: &Outcome) -> Option<String> {
    let Classes::Each { names } = &outcome.classes else { return None };
    (!outcome.boundaries.is_empty()).then(|| {
        format!(
            "{} classes: each is set against the rest. To set one alone, use --positive CLASS; to keep two, --classes \
             A,B; to learn all together, --learner multiclass.",
            names.len()
        )
    })
}

/// Rows of each outcome of a model, from the rows of each class.
fn outcome_counts<'a>(model: &Model, rows_of: impl Iterator<Item = (&'a String, u64)>) -> Vec<u64> {
    let mut counts = vec![0; model.classes.outcomes().len()];
    for (class, count) in rows_of {
        if let Some(outcome) = model.classes.outcome_of(class) {
            counts[outcome] += count;
        }
    }
    counts
}

/// What about the features may keep a perceptron from converging, and what to do about it.
fn scale_advice(data: &Dataset, schema: &Schema) -> Option<String> {
    // A sample tells as much, and is no second copy of the data.
    let sampled;
    let data = if data.len() <= 5_000 {
        data
    } else {
        let count = (data.len() / 8).min(5_000);
        let sample: Vec<usize> = (0..data.len()).step_by(data.len().div_ceil(count)).collect();
        sampled = data.subset(&sample).ok()?;
        &sampled
    };
    let Scaler::MaxAbs { divisor: mut sizes } = Scaler::learn(Scaling::MaxAbs, data) else { return None };
    sizes.sort_by(f64::total_cmp);
    let (median, largest) = (*sizes.get(sizes.len() / 2)?, *sizes.last()?);
    if largest / median > 100.0 {
        let times = numbers::rounded((largest / median).floor(), numbers::Rounding::Down);
        return Some(format!(
            "The largest feature is about {times} times as large as the usual one: --scale standard or max-abs may help."
        ));
    }
    // Only dense data can be centred.
    let Scaler::Standard { mean: Some(mean), divisor } = Scaler::learn(Scaling::Standard, data) else {
        return None;
    };
    let far = (0..mean.len()).find(|&j| mean[j].abs() > 10.0 * divisor[j])?;
    let name = schema.feature_name(far);
    Some(format!(
        "Feature \"{name}\" lies far from zero for its spread: --scale standard, which centres it, may help."
    ))
}

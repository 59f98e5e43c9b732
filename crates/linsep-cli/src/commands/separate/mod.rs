//! `linsep separate`

mod blame;
mod record;
mod table;
mod text;

use super::again::Words;
use super::{
    data_source, named_classes, print_json, print_result, refuse_overwriting, source_and_options, tell_notes,
};
use crate::args::{SeparateArgs, SeparateBiasArg};
use crate::console::{Console, Watch};
use crate::exit::{BadFile, Exit, Usage};
use anyhow::Context;
use blame::Blamed;
use linsep::Dataset;
use linsep::classes::{ClassError, ClassPair};
use linsep::read::{ReadNotes, Schema, read};
use linsep::separate::{Bias, Separation, Settings, Verdict, separate};
use linsep::theory::novikoff::{MistakeBound, mistake_bound};
use record::Record;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(super) use text::ends;

pub(crate) fn run(args: &SeparateArgs, console: Console) -> anyhow::Result<Exit> {
    let settings = Settings {
        bias: bias(args)?,
        gap: args.gap,
        max_seconds: args.time,
        max_passes: None,
        max_memory: args.memory,
        seed: args.seed,
    };
    settings.validate().map_err(linsep::Error::from)?;
    if let Some(path) = &args.output {
        refuse_overwriting(&[path], &inputs(args))?;
        // A place that cannot be written to is better known before hours of work than after. A folder is one for a table.
        if !path.is_dir() {
            linsep::store::check_writable(path)?;
        }
    }
    let clock = Instant::now();
    let (source, options) = source_and_options(&args.data, &args.read, args.cache, console)?;
    let mut watch = Watch::new(console);
    let loaded = read(&source, &options, &mut watch)?;
    watch.end()?;
    tell_notes(console, &loaded.notes);
    let job = Job {
        args,
        console,
        settings,
        name: data_source(&args.data).name(),
        numbered: matches!(loaded.schema, Schema::Array { .. }),
        data: loaded.dataset,
        schema: loaded.schema,
        notes: loaded.notes,
        read_seconds: clock.elapsed().as_secs_f64(),
    };
    match job.tasks()? {
        Tasks::One(pair) => job.one(pair),
        Tasks::Many { what, pairs } => job.table(what, &pairs),
    }
}

/// Files that must not be written over.
fn inputs(args: &SeparateArgs) -> Vec<&Path> {
    [Some(&args.data), args.read.labels.as_ref()].into_iter().flatten().map(PathBuf::as_path).collect()
}

/// The bias that was asked for.
fn bias(args: &SeparateArgs) -> Result<Bias, Usage> {
    match (args.bias, args.bias_scale) {
        (SeparateBiasArg::Append, scale) => Ok(Bias::Append(scale.unwrap_or(1.0))),
        (SeparateBiasArg::None, None) => Ok(Bias::None),
        (SeparateBiasArg::Free, None) => Ok(Bias::Free),
        (SeparateBiasArg::None, Some(_)) => {
            Err(Usage("--bias-scale needs --bias append: without a bias there is nothing to scale".into()))
        }
        (SeparateBiasArg::Free, Some(_)) => {
            Err(Usage("--bias-scale needs --bias append: a free bias has no scale".into()))
        }
    }
}

/// Which sides are to be separated.
enum Tasks {
    /// Two sides.
    One(ClassPair),
    /// Several tasks, as a table.
    Many { what: &'static str, pairs: Vec<ClassPair> },
}

/// Everything that deciding needs.
struct Job<'a> {
    args: &'a SeparateArgs,
    console: Console,
    settings: Settings,
    /// What the data is called.
    name: String,
    /// Rows have numbers, not lines.
    numbered: bool,
    data: Dataset,
    schema: Schema,
    notes: ReadNotes,
    read_seconds: f64,
}

/// What came of one task.
struct Decided {
    classes: ClassPair,
    separation: Separation,
    /// (R/γ*)².
    difficulty: MistakeBound,
    blame: Option<Blamed>,
    /// Where the certificate was written.
    certificate: Option<PathBuf>,
    seconds: f64,
}

impl Job<'_> {
    /// The tasks that the arguments and the classes of the data make.
    fn tasks(&self) -> anyhow::Result<Tasks> {
        let args = self.args;
        let mut classes = self.data.classes().to_vec();
        if !args.keep.is_empty() {
            let kept = named_classes(&self.data, &args.keep)?;
            classes.retain(|class| kept.contains(class));
        }
        if args.pairs && classes.len() > 1 {
            let later = |i: usize| &classes[i + 1..];
            let pair = |a: &String, b: &String| ClassPair { positive: b.clone(), negative: vec![a.clone()] };
            let pairs = (0..classes.len()).flat_map(|i| later(i).iter().map(move |b| (i, b)));
            let pairs = pairs.map(|(i, b)| pair(&classes[i], b)).collect();
            return Ok(Tasks::Many { what: "pairs", pairs });
        }
        if classes.len() > 2 && args.positive.is_none() {
            if args.blame {
                return Err(Usage(format!(
                    "--blame is for two sides, and there are {} classes: choose one with --positive CLASS, or keep two \
                     with --classes A,B",
                    classes.len()
                ))
                .into());
            }
            let against_rest = |class: &String| ClassPair::choose(&classes, Some(class));
            let pairs = classes.iter().map(against_rest).collect::<Result<_, _>>();
            return Ok(Tasks::Many { what: "one-against-rest", pairs: pairs.map_err(linsep::Error::from)? });
        }
        match ClassPair::choose(&classes, args.positive.as_deref()) {
            Ok(pair) => Ok(Tasks::One(pair)),
            Err(ClassError::One { class }) => Err(BadFile {
                reason: format!(
                    "{}: all rows have the label \"{class}\": there is nothing to separate",
                    self.name
                ),
                help: "give rows of two classes; in a CSV file, check that --label names the right column",
            }
            .into()),
            Err(error) => Err(linsep::Error::from(error)).with_context(|| self.name.clone()),
        }
    }

    /// Decides one task, and writes its certificate.
    fn decide(&self, classes: &ClassPair, title: &str, output: Option<&Path>) -> anyhow::Result<Decided> {
        let clock = Instant::now();
        let mut watch = Watch::new(self.console);
        watch.title = title.to_string();
        let separation = separate(&self.data, classes, &self.settings, &mut watch);
        watch.end()?;
        let separation = separation.map_err(|error| self.located(error))?;
        let seconds = clock.elapsed().as_secs_f64();
        let mut certificate = None;
        if let (Some(path), Some(proof)) = (output, &separation.certificate) {
            let text = proof.to_json();
            linsep::store::write_atomically(path, |out| out.write_all(text.as_bytes()))?;
            certificate = Some(path.to_path_buf());
        }
        let difficulty = mistake_bound(&separation.extent, &separation.margin);
        Ok(Decided { classes: classes.clone(), separation, difficulty, blame: None, certificate, seconds })
    }

    /// What is wrong with the data as a whole has no line, but it has a file.
    fn located(&self, error: linsep::Error) -> anyhow::Error {
        match error {
            error @ (linsep::Error::Classes(_) | linsep::Error::Lengths { .. }) => {
                anyhow::Error::from(error).context(self.name.clone())
            }
            error => error.into(),
        }
    }

    fn one(&self, pair: ClassPair) -> anyhow::Result<Exit> {
        let output = self.args.output.as_deref();
        if let Some(path) = output {
            linsep::store::check_writable(path)?;
        }
        let mut decided = self.decide(&pair, "", output)?;
        if self.args.blame {
            decided.blame = self.blame(&decided)?;
        }
        if self.args.json {
            print_json(&Record::new(self, &decided, true)?)?;
        } else {
            print_result(|out| out.write_all(self.to_text(&decided).as_bytes()))?;
        }
        Ok(exit([decided.separation.verdict]))
    }

    /// The class of row `i`.
    fn label(&self, i: usize) -> &str {
        &self.data.classes()[self.data.labels()[i] as usize]
    }

    /// Where row `i` stands in its source.
    fn place(&self, i: usize) -> String {
        place(&self.name, self.numbered, &self.data, i)
    }

    /// The data and how it is read, to call another command on it.
    fn again(&self) -> Words {
        Words::of(&self.args.data).reading(&self.args.read)
    }
}

/// Where row `i` stands in its source: file and line, or the number of the row where there are no lines.
pub(super) fn place(name: &str, numbered: bool, data: &Dataset, i: usize) -> String {
    let separator = if numbered { " row " } else { ":" };
    format!("{name}{separator}{}", data.line(i))
}

/// Which margin is meant.
pub(super) fn kind_of_margin(bias: Bias) -> String {
    match bias {
        Bias::None => "boundary through the origin".to_string(),
        Bias::Append(scale) => format!("appended bias of scale {scale}"),
        Bias::Free => "free bias, half the distance of the hulls of the classes".to_string(),
    }
}

/// How the bias is told in JSON: as in the settings of `train`.
pub(super) fn bias_record(bias: Bias) -> serde_json::Value {
    match bias {
        Bias::None => "none".into(),
        Bias::Append(scale) => serde_json::json!({ "append": scale }),
        Bias::Free => "free".into(),
    }
}

/// The exit code of one verdict, or of several: undecided counts most.
fn exit(verdicts: impl IntoIterator<Item = Verdict>) -> Exit {
    verdicts.into_iter().fold(Exit::Fine, |exit, verdict| match (exit, verdict) {
        (Exit::Undecided, _) | (_, Verdict::Undecided) => Exit::Undecided,
        (exit, Verdict::Complete) => exit,
        (_, Verdict::QuasiComplete | Verdict::Overlap) => Exit::No,
    })
}

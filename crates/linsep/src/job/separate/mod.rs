//! Deciding, with proof, whether a boundary can separate the classes: two sides, each class against the rest, or every
//! pair of classes.

mod files;
mod reference;
mod rounding;
mod spec;

pub(crate) use reference::in_file_order;
pub use reference::{ReferenceRule, ReferenceSpec};
pub use spec::{BiasKind, SeparateSpec};

use super::{ClassSpec, label, refuse_overwriting};
use crate::classes::{ClassError, ClassPair};
use crate::dataset::Dataset;
use crate::numbers::{counted, grouped};
use crate::observe::{Note, Observer, Progress};
use crate::read::{Loaded, ReadNotes, Schema};
use crate::separate::{
    CertificateText, ColumnDetail, Removal, SeparateSettings, Separation, Verdict, find_removal, separate,
};
use crate::store::{check_writable, write_atomically};
use crate::theory::novikoff::{MistakeBound, mistake_bound};
use crate::{Error, SettingsError};
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The most pairs of classes that one job decides: they grow with the square of the number of classes.
const MAX_PAIRS: u64 = 100_000;

/// Which pairs of classes are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeparationTasks {
    /// One pair of sides.
    Two,
    /// Each class against the rest.
    OneAgainstRest,
    /// Every class against every other.
    Pairs,
}

/// Rows whose removal separates the rest, and the time of the search.
#[derive(Clone, Debug)]
pub struct TimedRemoval {
    /// The rows, and the verdict on the others.
    pub found: Removal,
    /// How long the search took.
    pub seconds: f64,
}

/// The decision about one pair of sides.
#[derive(Clone, Debug)]
pub struct Decided {
    /// The verdict with its proof.
    pub separation: Separation,
    /// (R/γ*)², which bounds the mistakes of a perceptron.
    pub difficulty: MistakeBound,
    /// The rows to remove, if they were asked for and found.
    pub blame: Option<TimedRemoval>,
    /// Complete or quasi-complete: whether that rests on the rounding of decimals to floats, so that the numbers as written may have
    /// another verdict (complete), or have one or separate other rows (quasi-complete).
    pub separable_by_rounding: bool,
    /// Where the certificate was written.
    pub certificate: Option<PathBuf>,
    /// How long the decision took.
    pub seconds: f64,
}

/// The result of a decision about separation, before it is reported.
#[derive(Clone, Debug)]
pub struct Separated {
    /// The specification.
    pub spec: SeparateSpec,
    /// The settings of the exact engine, but for the classes.
    pub settings: SeparateSettings,
    /// The rows.
    pub data: Dataset,
    /// The names of their features.
    pub schema: Schema,
    /// Notes made while reading.
    pub notes: ReadNotes,
    /// Which sides were decided.
    pub sides: SeparationTasks,
    /// One decision for each pair of sides; of [`SeparationTasks::Two`], one. Where there are several, none keeps its certificate.
    pub decided: Vec<Decided>,
    /// Whether the job was stopped before all were decided.
    pub interrupted: bool,
    /// Pairs of sides that were not looked at: the job was stopped, or its time was over.
    pub missing: usize,
    /// How long reading took.
    pub read_seconds: f64,
    /// Threads that parallel parts may use.
    pub threads: usize,
}

impl SeparateSpec {
    /// Reads the rows, decides, and writes the certificates that the specification asks for.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Separated, Error> {
        let mut settings = self.settings()?;
        if let Some(path) = &self.output {
            refuse_overwriting(&[path], &self.inputs())?;
            self.data.refuse_replacing_cache(&[path])?;
            // A place that cannot be written to is better known before hours of work than after. Several pairs of sides
            // need a folder.
            if !path.is_dir() {
                check_writable(path)?;
            }
        }
        let clock = Instant::now();
        let mut source = self.data.clone();
        source.read.memory = self.memory;
        let Loaded { dataset: data, schema, notes, format, .. } =
            source.load_counted(self.row_weights.as_deref(), observer)?;
        if self.only.is_empty() && self.positive.is_none() {
            label::check(&self.data, format, &schema, &data, observer)?;
        }
        settings.order = in_file_order(&schema);
        settings.last = self.reference.features(&schema, &data)?;
        let (sides, pairs) = self.pairs_of_sides(&data)?;
        let mut job = Separated {
            spec: self.clone(),
            settings,
            data,
            schema,
            notes,
            sides,
            decided: Vec::new(),
            interrupted: false,
            missing: 0,
            read_seconds: clock.elapsed().as_secs_f64(),
            threads: rayon::current_num_threads(),
        };
        match (sides, pairs.as_slice()) {
            (SeparationTasks::Two, [pair]) => job.decide_two(pair, observer)?,
            _ => job.decide_many(&pairs, observer)?,
        }
        Ok(job)
    }

    /// The pairs of sides that the specification and the classes of the data make.
    fn pairs_of_sides(&self, data: &Dataset) -> Result<(SeparationTasks, Vec<ClassPair>), Error> {
        let mut classes = Arc::clone(data.shared_classes());
        if !self.only.is_empty() {
            let kept = ClassSpec { only: self.only.clone(), ..ClassSpec::default() }.names(data)?;
            let kept: HashSet<String> = kept.into_iter().collect();
            classes = classes.iter().filter(|&class| kept.contains(class)).cloned().collect();
        }
        if self.pairs && classes.len() > 1 {
            let count = classes.len() as u64 * (classes.len() as u64 - 1) / 2;
            if count > MAX_PAIRS {
                let problem = format!(
                    "{} classes make {} pairs, and ⟦pairs⟧ decides at most {}: keep some of the classes with \
                     ⟦classes=A,B,C⟧, or leave ⟦pairs⟧ out to decide each class against the rest",
                    grouped(classes.len() as u64),
                    grouped(count),
                    grouped(MAX_PAIRS)
                );
                return Err(SettingsError::new("pairs", problem).into());
            }
            let pair =
                |a: &String, b: &String| ClassPair { positive: b.clone(), negative: vec![a.clone()].into() };
            let pairs = (0..classes.len()).flat_map(|i| classes[i + 1..].iter().map(move |b| (i, b)));
            return Ok((SeparationTasks::Pairs, pairs.map(|(i, b)| pair(&classes[i], b)).collect()));
        }
        if classes.len() > 2 && self.positive.is_none() {
            if self.blame {
                let problem = format!(
                    "⟦blame⟧ is for two sides, and there are {} classes: choose one with ⟦positive=CLASS⟧, or keep two \
                     with ⟦classes=A,B⟧",
                    classes.len()
                );
                return Err(SettingsError::new("blame", problem).into());
            }
            let pairs = (0..classes.len()).map(|place| ClassPair::against_rest(&classes, place)).collect();
            return Ok((SeparationTasks::OneAgainstRest, pairs));
        }
        let place = self.data.source.name();
        match ClassPair::choose(&classes, self.positive.as_deref()) {
            Ok(pair) => Ok((SeparationTasks::Two, vec![pair])),
            Err(ClassError::One { class }) => {
                let problem = format!(
                    "all rows have the label \"{class}\": there is nothing to separate; give rows of two classes, and in a \
                     CSV file check that ⟦label⟧ names the right column"
                );
                Err(Error::Rows { place, problem })
            }
            Err(error) => Err(Error::from(error).at(place)),
        }
    }
}

impl Separated {
    /// The name of the data.
    pub fn name(&self) -> String {
        self.spec.data.source.name()
    }

    /// The class of row `i`.
    pub fn label(&self, i: usize) -> &str {
        &self.data.classes()[self.data.labels()[i] as usize]
    }

    /// The verdict on all pairs of sides together: complete if all are, undecided if one is, or was not looked at, else the
    /// first other.
    pub fn verdict(&self) -> Verdict {
        if self.missing > 0 {
            return Verdict::Undecided;
        }
        let verdicts = || self.decided.iter().map(|decided| decided.separation.verdict);
        let open = verdicts().find(|&verdict| verdict == Verdict::Undecided);
        open.or_else(|| verdicts().find(|&verdict| verdict != Verdict::Complete)).unwrap_or(Verdict::Complete)
    }

    fn decide_two(&mut self, pair: &ClassPair, observer: &mut dyn Observer) -> Result<(), Error> {
        let output = self.spec.output.clone();
        if let Some(path) = &output {
            check_writable(path)?;
        }
        // The rows to blame have at least half of the time, so that they are searched for also where no verdict is found.
        let part = if self.spec.blame { 0.5 } else { 1.0 };
        let limit = self.settings.max_seconds.map(|limit| part * limit);
        let mut decided = self.decide(pair, limit, output.as_deref(), observer)?;
        if self.spec.blame {
            decided.blame = self.blame(&decided, observer)?;
        }
        self.decided.push(decided);
        Ok(())
    }

    /// Decides one pair of sides after the other. Certificates name all classes of both sides: they are written where a
    /// folder is given, and not kept. Each has an equal share of the time that is left: what one does not need goes to those
    /// after it.
    fn decide_many(&mut self, pairs: &[ClassPair], observer: &mut dyn Observer) -> Result<(), Error> {
        let folder = self.spec.output.clone();
        let files = folder.as_deref().map(|folder| self.spec.files(folder, pairs)).transpose()?;
        let what = if self.sides == SeparationTasks::Pairs { "pairs" } else { "classes" };
        let limit = self.settings.max_seconds;
        let clock = Instant::now();
        for (i, pair) in pairs.iter().enumerate() {
            let left = limit.map(|limit| limit - clock.elapsed().as_secs_f64());
            if left.is_some_and(|left| left <= 0.0) {
                break;
            }
            let share = left.map(|left| left / (pairs.len() - i) as f64);
            let progress = Progress::Parts { what, done: i as u64, total: pairs.len() as u64 };
            if observer.progress(&progress).is_break() || observer.will_stop() {
                break;
            }
            if let (Some(folder), 0) = (&folder, i)
                && !folder.is_dir()
            {
                std::fs::create_dir(folder)
                    .map_err(|source| Error::Write { path: folder.clone(), source })?;
            }
            match self.decide(pair, share, files.as_ref().map(|files| files[i].as_path()), observer) {
                Ok(mut decided) => {
                    decided.separation.certificate = None;
                    self.decided.push(decided);
                }
                // The decisions before this one are still reported.
                Err(_) if !self.decided.is_empty() && observer.will_stop() => break,
                Err(error) => return Err(error),
            }
        }
        self.interrupted = observer.will_stop();
        self.missing = pairs.len() - self.decided.len();
        if self.missing > 0 {
            let why = if self.interrupted { "interrupted" } else { "the time limit was reached" };
            let rest = counted(self.missing as u64, "line is", "lines are");
            observer.note(Note::Warning(&format!("{why}: {rest} missing from the table")));
        }
        Ok(())
    }

    /// Decides one pair of sides within this time, and writes its certificate.
    fn decide(
        &self,
        classes: &ClassPair,
        max_seconds: Option<f64>,
        output: Option<&Path>,
        observer: &mut dyn Observer,
    ) -> Result<Decided, Error> {
        let clock = Instant::now();
        // A table has one line for each pair of sides: no room for columns.
        let columns =
            if self.sides == SeparationTasks::Two { self.settings.columns } else { ColumnDetail::None };
        let settings = SeparateSettings { max_seconds, columns, ..self.settings.with_classes(classes) };
        let separation = separate(&self.data, &settings, observer).map_err(|error| self.located(error))?;
        let seconds = clock.elapsed().as_secs_f64();
        let mut certificate = None;
        if let (Some(path), Some(proof)) = (output, &separation.certificate) {
            // Not to be stopped any more: the proof is there. How long its text is shows when it is written.
            let _ = observer.progress(&Progress::Writing { bytes: 0, total: 1, rows: 0 });
            write_atomically(path, |out| write!(out, "{}", CertificateText(proof)))?;
            certificate = Some(path.to_path_buf());
        }
        let difficulty = mistake_bound(&separation.extent, &separation.margin);
        let left = max_seconds.map(|limit| limit - clock.elapsed().as_secs_f64());
        let separable_by_rounding = self.is_separable_by_rounding(&separation, left, observer);
        Ok(Decided { separation, difficulty, blame: None, separable_by_rounding, certificate, seconds })
    }

    /// Looks for rows whose removal separates the rest, where some must be removed.
    fn blame(&self, decided: &Decided, observer: &mut dyn Observer) -> Result<Option<TimedRemoval>, Error> {
        let left_out = match decided.separation.verdict {
            Verdict::Complete => Some("The classes are completely separable: no row needs to be removed."),
            Verdict::Undecided if !decided.separation.complete_is_ruled_out => {
                Some("⟦blame⟧ was not run: it is not known whether a row needs to be removed.")
            }
            Verdict::Undecided | Verdict::QuasiComplete | Verdict::Overlap => None,
        };
        if let Some(remark) = left_out {
            observer.note(Note::Remark(remark));
            return Ok(None);
        }
        let clock = Instant::now();
        let settings = SeparateSettings {
            columns: ColumnDetail::None,
            // What the decision has left of the time; a little in any case.
            max_seconds: self.settings.max_seconds.map(|limit| (limit - decided.seconds).max(0.05 * limit)),
            ..self.settings.with_classes(&decided.separation.classes)
        };
        match find_removal(&self.data, &settings, observer) {
            Ok(found) => Ok(Some(TimedRemoval { found, seconds: clock.elapsed().as_secs_f64() })),
            Err(error) => Err(self.located(error)),
        }
    }

    /// An error about the data as a whole has no line, but it has a file.
    fn located(&self, error: Error) -> Error {
        match error {
            error @ (Error::Classes(_) | Error::Lengths { .. }) => error.at(self.name()),
            error => error,
        }
    }
}

/// Where row `i` stands in its source: file and line, or the number of the row where there are no lines.
pub(crate) fn place_of(name: &str, schema: &Schema, data: &Dataset, i: usize) -> String {
    let separator = if matches!(schema, Schema::Array { .. } | Schema::Pictures(_)) { " row " } else { ":" };
    format!("{name}{separator}{}", data.line(i))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Report, Spec, VerifySpec, run};
    use crate::report::{Block, SeparateRecord, VerifyRecord, separate_report, verify_report};
    use crate::separate::Bias;

    const FLOWERS: &str = "length,width,kind\n1,1,a\n1,2,a\n3,1,b\n4,2,b\n3,1,c\n";

    fn folder() -> (tempfile::TempDir, SeparateSpec) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("flowers.csv");
        std::fs::write(&file, FLOWERS).unwrap();
        (folder, SeparateSpec::file(file))
    }

    #[test]
    fn a_specification_survives_json_and_toml() {
        let spec = SeparateSpec {
            positive: Some("b".into()),
            only: vec!["a".into(), "b".into()],
            bias: BiasKind::Free,
            gap: Some(1e-3),
            max_seconds: Some(2.5),
            memory: Some(1 << 30),
            seed: 7,
            blame: true,
            output: Some("proof.cert".into()),
            ..SeparateSpec::file("flowers.csv")
        };
        let spec = Spec::Separate(spec);
        let json = serde_json::to_string(&spec).unwrap();
        for text in [json.clone(), spec.to_toml().unwrap()] {
            assert_eq!(serde_json::to_string(&Spec::parse(&text, "test").unwrap()).unwrap(), json, "{text}");
        }
    }

    #[test]
    fn two_sides_are_decided_and_the_certificate_is_verified() {
        let (folder, spec) = folder();
        let proof = folder.path().join("proof.cert");
        let only = vec!["a".to_string(), "b".to_string()];
        let spec = SeparateSpec { only, output: Some(proof.clone()), ..spec };
        let Report::Separate(separated) = run(&Spec::Separate(spec.clone()), &mut ()).unwrap() else {
            panic!()
        };
        assert_eq!((separated.sides, separated.verdict()), (SeparationTasks::Two, Verdict::Complete));
        let record = serde_json::to_value(SeparateRecord::from(&*separated)).unwrap();
        assert_eq!((&record["verdict"], &record["rows"]), (&"complete".into(), &4.into()));
        let blocks = separate_report(&separated);
        let Block::Facts(facts) = &blocks[0] else { panic!("{blocks:?}") };
        assert!(
            facts.iter().any(|(name, text)| *name == "Verdict" && text.starts_with("completely separable"))
        );
        let verify = VerifySpec { certificate: proof, data: spec.data.clone(), ..VerifySpec::default() };
        let verified = verify.run(&mut ()).unwrap();
        assert!(verified.same_data && verified.outcome.is_ok());
        let record = serde_json::to_value(VerifyRecord::from(&verified)).unwrap();
        assert_eq!((&record["accepted"], &record["claim"]), (&true.into(), &"complete".into()));
        assert_eq!(verify_report(&verified).len(), 1);
    }

    #[test]
    fn many_classes_are_a_table_with_a_certificate_for_each() {
        let (folder, spec) = folder();
        let proofs = folder.path().join("proofs");
        for (pairs, sides, names) in [
            (false, SeparationTasks::OneAgainstRest, ["a-vs-rest.cert", "b-vs-rest.cert", "c-vs-rest.cert"]),
            (true, SeparationTasks::Pairs, ["a-vs-b.cert", "a-vs-c.cert", "b-vs-c.cert"]),
        ] {
            let spec = SeparateSpec { pairs, output: Some(proofs.clone()), ..spec.clone() };
            let separated = spec.run(&mut ()).unwrap();
            assert_eq!((separated.sides, separated.decided.len()), (sides, 3));
            assert!(names.iter().all(|name| proofs.join(name).is_file()), "{names:?}");
            // b and c share a flower.
            assert_ne!(separated.verdict(), Verdict::Complete);
            let record = serde_json::to_value(SeparateRecord::from(&separated)).unwrap();
            assert_eq!(record["table"].as_array().map(Vec::len), Some(3));
        }
    }

    #[test]
    fn settings_that_do_not_go_together_are_refused() {
        let (folder, spec) = folder();
        let refused = |spec: SeparateSpec| match spec.run(&mut ()) {
            Err(Error::Settings(error)) => error.field,
            other => panic!("{other:?}"),
        };
        let scaled = SeparateSpec { bias_scale: Some(2.0), ..spec.clone() };
        assert_eq!(scaled.settings().unwrap().bias, Bias::Append(2.0));
        assert_eq!(refused(SeparateSpec { bias: BiasKind::Free, ..scaled }), "bias_scale");
        assert_eq!(refused(SeparateSpec { blame: true, ..spec.clone() }), "blame");
        assert_eq!(refused(SeparateSpec { only: vec!["z".into()], ..spec.clone() }), "classes");
        let data = spec.data.source.path().map(Path::to_path_buf);
        assert_eq!(refused(SeparateSpec { output: data, ..spec }), "output");
        assert_eq!(std::fs::read_to_string(folder.path().join("flowers.csv")).unwrap(), FLOWERS);
    }
}

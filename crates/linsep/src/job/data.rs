//! Which rows a job works on: where they come from, how they are read, and which classes they belong to.

use super::counts;
use crate::Error;
use crate::SettingsError;
use crate::classes::{class_among, printable, shortened};
use crate::dataset::Dataset;
use crate::model::Model;
use crate::numbers::counted;
use crate::observe::{Note, Observer};
use crate::prepare::Preparation;
use crate::read::cache::{self, CacheUse};
use crate::read::options::is_default;
use crate::read::{Loaded, Missing, ReadNotes, ReadOptions, Source, read};
use crate::scale::Scaling;
use crate::store::is_same_file;
use crate::train::{Bias, ClassWeight};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Where rows come from and how they are read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSpec {
    /// A file, or `-` for standard input.
    pub source: Source,
    /// Keep the rows in a file beside the source, ready for use, and read that from then on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cache: bool,
    /// How the source is read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read: ReadOptions,
    /// A column of a table that says how often each row occurs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<String>,
}

/// Which classes, and how often their rows count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClassSpec {
    /// The class that counts as +1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positive: Option<String>,
    /// The classes whose rows are kept; empty for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// How often the rows of each class count.
    #[serde(skip_serializing_if = "is_default")]
    pub weight: ClassWeight,
    /// A file with one number for each row: how often it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_weights: Option<PathBuf>,
}

/// Whether the boundary may miss the origin, as far as that was said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BiasSpec {
    /// Whether a constant coordinate is appended to every row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append: Option<bool>,
    /// The value of that coordinate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
}

impl DataSpec {
    /// The file alone, read as its content says.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { source: Source::File(path.into()), ..Self::default() }
    }

    /// Where rows are read from and how: the source itself, or the cache beside it.
    pub(crate) fn resolve(&self, observer: &mut dyn Observer) -> Result<(Source, ReadOptions), Error> {
        let as_given = || (self.source.clone(), self.read.clone());
        if !self.cache {
            return Ok(as_given());
        }
        let Source::File(path) = &self.source else {
            let problem =
                "⟦cache⟧ writes a file next to the data file, so standard input has none: name a file";
            return Err(SettingsError::new("cache", problem).into());
        };
        let kept = cache_beside(path, &self.read, observer)?;
        if kept == *path {
            return Ok(as_given());
        }
        // How the text was read is settled in the cache, except what a model makes of cells that will be missing.
        let mut options = self.read.limits();
        if self.read.csv.missing.is_usual() {
            options.csv.missing = self.read.csv.missing;
        }
        Ok((Source::File(kept), options))
    }

    /// The files that the rows are read from: no output may replace them.
    pub(crate) fn inputs(&self) -> Vec<&Path> {
        let source = match &self.source {
            Source::Stdin | Source::Custom(..) | Source::Once(..) => Some(Path::new("-")),
            source => source.path(),
        };
        [source, self.read.array.labels_file.as_deref()].into_iter().flatten().collect()
    }

    /// Refuses an output in the place of the cache beside the source, whether or not this job uses it.
    pub(crate) fn refuse_replacing_cache(&self, outputs: &[&Path]) -> Result<(), SettingsError> {
        let Some(source) = self.source.path() else { return Ok(()) };
        let kept = cache::path_beside(source);
        match outputs.iter().find(|output| is_same_file(output, &kept)) {
            Some(output) => {
                let problem = format!(
                    "{} is where the cache of {} is kept: name another file",
                    output.display(),
                    source.display()
                );
                Err(SettingsError::new("output", problem))
            }
            None => Ok(()),
        }
    }

    /// The same with missing cells treated in this way, if nothing was said about them.
    pub(crate) fn with_missing(&self, missing: Missing) -> Self {
        let mut data = self.clone();
        if data.read.csv.missing == Missing::NotSaid {
            data.read.csv.missing = missing;
        }
        data
    }

    /// Whether no row is changed by something learned from all rows, so that rows not learned from judge fairly.
    pub(crate) fn as_drawn(&self, scaling: Scaling) -> bool {
        matches!(scaling, Scaling::None | Scaling::UnitRows) && !self.read.csv.missing.notes_gaps()
    }

    /// Reads the rows of a source, which is this one or its cache, and takes out the counts.
    pub(crate) fn read_rows(
        &self,
        source: &Source,
        options: &ReadOptions,
        observer: &mut dyn Observer,
    ) -> Result<Loaded, Error> {
        let mut loaded = read(source, options, observer)?;
        if let Some(column) = &self.counts {
            counts::take(&mut loaded, column, &source.name())?;
        }
        Ok(loaded)
    }

    /// Gives each row the weight that a file has for it.
    fn weigh(&self, loaded: &mut Loaded, path: &Path) -> Result<(), Error> {
        if loaded.dataset.weights().is_some() && !matches!(self.source, Source::Rows(..)) {
            return Err(two_weights().into());
        }
        loaded.dataset = counts::weighed(loaded.dataset.clone(), path)?;
        loaded.fingerprint = None;
        Ok(())
    }

    /// Refuses a file of weights where rows are left out: it has one number for each row.
    pub(crate) fn refuse_to_weigh(&self) -> Result<(), SettingsError> {
        if !self.read.skip_bad && self.read.csv.missing != Missing::DropRow {
            return Ok(());
        }
        let problem =
            "⟦weights⟧ has one number for each row; ⟦skip_bad⟧ and ⟦missing=drop-row⟧ leave rows out";
        Err(SettingsError::new("weights", problem))
    }

    /// The same with the weights that the specification of the classes names: a row whose weight is a whole number is there as
    /// often as that says.
    pub(crate) fn read_weighted(
        &self,
        source: &Source,
        options: &ReadOptions,
        classes: &ClassSpec,
        observer: &mut dyn Observer,
    ) -> Result<Loaded, Error> {
        let mut loaded = self.read_rows(source, options, observer)?;
        if let Some(path) = &classes.row_weights {
            self.weigh(&mut loaded, path)?;
        }
        // Weights that a file has, as Vowpal Wabbit's text does, are like those of a column. Rows of another program bring weights
        // that it may also give in parts, row by row.
        let of_file = loaded.dataset.weights().is_some() && !matches!(self.source, Source::Rows(..));
        if self.counts.is_some() || classes.row_weights.is_some() || of_file {
            counts::repeat(&mut loaded)?;
        }
        Ok(loaded)
    }

    /// Reads the rows as training does, with the weights that this and the specification of the classes name. The columns are not
    /// settled yet, and what was noticed is in the notes.
    pub fn load_to_train(&self, classes: &ClassSpec, observer: &mut dyn Observer) -> Result<Loaded, Error> {
        let data = self.with_missing(Missing::Auto);
        let (source, options) = data.resolve(observer)?;
        data.read_weighted(&source, &options, classes, observer)
    }

    /// Reads the rows, and says what was noticed.
    pub fn load(&self, observer: &mut dyn Observer) -> Result<Loaded, Error> {
        self.load_counted(None, observer)
    }

    /// The same where a file may say how often each row occurs: those that occur not at all are left out.
    pub(crate) fn load_counted(
        &self,
        row_weights: Option<&Path>,
        observer: &mut dyn Observer,
    ) -> Result<Loaded, Error> {
        let (source, options) = self.resolve(observer)?;
        let mut loaded = self.read_rows(&source, &options, observer)?;
        if let Some(path) = row_weights {
            self.refuse_to_weigh()?;
            self.weigh(&mut loaded, path)?;
            counts::leave_out_absent(&mut loaded)?;
        }
        emit_notes(&loaded.notes, observer);
        let columns = Preparation { most_words: None, ..Preparation::default() }.columns(
            loaded.schema,
            loaded.dataset,
            None,
        )?;
        columns.schema.remarks().iter().for_each(|remark| observer.note(Note::Remark(remark)));
        columns.warn_of_terms(observer);
        (loaded.schema, loaded.dataset) = (columns.schema, columns.train);
        Ok(loaded)
    }
}

/// The error for rows that say how often they count, where a file says so too.
pub(crate) fn two_weights() -> SettingsError {
    let problem = "the rows already have importance weights: leave out ⟦weights⟧, or remove the importances \
                   from the rows";
    SettingsError::new("weights", problem)
}

/// The cache of a file, made or renewed if need be.
pub(crate) fn cache_beside(
    path: &Path,
    options: &ReadOptions,
    observer: &mut dyn Observer,
) -> Result<PathBuf, Error> {
    if path.is_dir() {
        let problem = format!(
            "{} is a folder: no cache is kept beside it. Make one with linsep convert, and give that",
            path.display()
        );
        return Err(SettingsError::new("cache", problem).into());
    }
    let (kept, done) = cache::beside(path, options, observer)?;
    let name = kept.display();
    match done {
        CacheUse::Itself => {}
        CacheUse::Used => observer.note(Note::Remark(&format!("The rows are read from the cache {name}."))),
        CacheUse::Made => {
            observer
                .note(Note::Remark(&format!("The rows were cached in {name}; later runs read that file.")));
        }
        CacheUse::Renewed => observer.note(Note::Remark(&format!(
            "{name} did not match the file or the reading options; it was written again."
        ))),
    }
    Ok(kept)
}

impl ClassSpec {
    /// The rows of the classes asked for.
    pub fn kept(&self, data: Dataset) -> Result<Dataset, Error> {
        if self.only.is_empty() {
            return Ok(data);
        }
        Ok(data.only_classes(&self.names(&data)?)?)
    }

    /// The classes asked for, by their names in the data.
    pub fn names(&self, data: &Dataset) -> Result<Vec<String>, SettingsError> {
        let mut names = Vec::new();
        for label in &self.only {
            let name = class_among(label, data.classes()).cloned();
            names.push(name.ok_or_else(|| {
                let known = shortened(data.classes(), data.classes().len(), ", ");
                let problem =
                    format!("⟦classes⟧ names \"{label}\", which no row has; the classes are {known}");
                SettingsError::new("classes", problem)
            })?);
        }
        if names.iter().all(|name| *name == names[0]) {
            let problem = "⟦classes⟧ needs at least two classes";
            return Err(SettingsError::new("classes", problem));
        }
        Ok(names)
    }
}

impl From<Bias> for BiasSpec {
    fn from(bias: Bias) -> Self {
        match bias {
            Bias::None => Self { append: Some(false), scale: None },
            Bias::Append(scale) => Self { append: Some(true), scale: Some(scale) },
        }
    }
}

impl BiasSpec {
    /// The bias that was asked for, else `usual`.
    pub fn resolve(&self, usual: Bias) -> Result<Bias, SettingsError> {
        match (self.append, self.scale) {
            (Some(false), Some(_)) => {
                Err(SettingsError::new("bias_scale", "⟦bias_scale⟧ needs ⟦bias=append⟧"))
            }
            (Some(false), None) => Ok(Bias::None),
            (_, Some(scale)) => Ok(Bias::Append(scale)),
            (Some(true), None) if usual == Bias::None => Ok(Bias::Append(1.0)),
            _ => Ok(usual),
        }
    }
}

/// Opens a model, with its path in the error.
pub(crate) fn load_model(path: &Path) -> Result<Model, Error> {
    Model::load(path).map_err(|error| error.at(path.display().to_string()))
}

/// Passes the notes of reading to the observer. Skipped rows are warnings, because they are missing from the result.
pub fn emit_notes(notes: &ReadNotes, observer: &mut dyn Observer) {
    for remark in &notes.remarks {
        observer.note(Note::Remark(remark));
    }
    for warning in &notes.warnings {
        observer.note(Note::Warning(warning));
    }
    if notes.dropped > 0 {
        let rows = counted(
            notes.dropped,
            "row with a missing cell or label was",
            "rows with missing cells or labels were",
        );
        observer.note(Note::Remark(&format!(
            "{rows} left out; ⟦na⟧ lists the words that mark a missing \
                                             cell."
        )));
    }
    if notes.skipped > 0 {
        let files = notes.first_skipped.iter().any(|row| row.line == 0);
        let (one, many) = match files {
            true => ("file or folder was", "files or folders were"),
            false => ("malformed row was", "malformed rows were"),
        };
        let rows = counted(notes.skipped, one, many);
        let mut text = format!("{rows} skipped:");
        for row in &notes.first_skipped {
            match row.line {
                0 => text += &format!("\n  {}", printable(&row.reason)),
                line => text += &format!("\n  line {line}: {}", printable(&row.reason)),
            }
        }
        let more = notes.skipped - notes.first_skipped.len() as u64;
        if more > 0 {
            text += &format!("\n  … and {more} more");
        }
        observer.note(Note::Warning(&text));
    }
}

/// Refuses outputs that would destroy an input or each other, and `-`, which is no file to write.
pub fn refuse_overwriting(outputs: &[&Path], inputs: &[&Path]) -> Result<(), SettingsError> {
    // Standard input may be a file as well.
    let is_stdin = |input: &Path| input.as_os_str() == "-";
    let file_of =
        |input: &'_ Path| if is_stdin(input) { PathBuf::from("/dev/stdin") } else { input.to_path_buf() };
    for (i, output) in outputs.iter().enumerate() {
        if output.as_os_str() == "-" {
            let problem = "- is not an output file; results go to standard output by default";
            return Err(SettingsError::new("output", problem));
        }
        let special = std::fs::metadata(output).is_ok_and(|metadata| !metadata.is_file());
        let mut others = inputs.iter().chain(&outputs[..i]);
        let Some(other) = others.find(|other| !special && is_same_file(&file_of(other), output)) else {
            continue;
        };
        let what = if is_stdin(other) { "the file that standard input is read from" } else { "named twice" };
        let problem = format!("{} is {what}, and would be overwritten: name another file", output.display());
        return Err(SettingsError::new("output", problem));
    }
    Ok(())
}

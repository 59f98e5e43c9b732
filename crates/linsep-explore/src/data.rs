//! The data sets that pages can work on: those that are built in, the file named on the command line, and files that pages
//! sent. A page names them by their ids; no page can name a file of the machine.

use crate::watch::worded;
use axum::body::Bytes;
use linsep::generate::{Synthetic, dataset};
use linsep::job::{ClassSpec, DataSpec};
use linsep::observe::Observer;
use linsep::prepare::{Columns, Preparation};
use linsep::read::{Loaded, Missing, ReadOptions, Schema, Source};
use linsep::{Dataset, Error};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A real data set that the program holds.
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    /// The name of its file.
    pub name: &'static str,
    /// The bytes of the file.
    pub bytes: &'static [u8],
}

/// Rows that jobs work on.
pub(crate) struct DataSet {
    pub(crate) id: String,
    /// The name of its file.
    pub(crate) name: String,
    /// What it is, in a few words.
    pub(crate) title: String,
    source: Source,
    read: ReadOptions,
    /// How often each row counts: a column of the table, or a file of the user.
    counts: Option<String>,
    row_weights: Option<PathBuf>,
    /// Whether rows have weights, by these or in the file itself: then a row is there as often as it counts.
    is_weighted: bool,
    /// The rows as training reads them.
    rows: Arc<Loaded>,
    /// The same rows with the columns that a model of them has, where those are others.
    settled: Option<Columns>,
    /// What the page begins with, as parts of a specification.
    usual: Value,
    bytes: u64,
}

impl DataSet {
    /// Reads a data set.
    fn open(
        name: String,
        title: String,
        source: Source,
        options: ReadOptions,
        observer: &mut dyn Observer,
    ) -> Result<Self, Error> {
        let data = DataSpec { source, read: options, ..DataSpec::default() };
        Self::open_weighted(name, title, data, None, observer)
    }

    /// Reads a data set whose rows count as often as a column says, or a file.
    fn open_weighted(
        name: String,
        title: String,
        data: DataSpec,
        row_weights: Option<PathBuf>,
        observer: &mut dyn Observer,
    ) -> Result<Self, Error> {
        let classes = ClassSpec { row_weights, ..ClassSpec::default() };
        let rows = data.load_to_train(&classes, observer)?;
        let DataSpec { source, read: options, counts, .. } = data;
        // The rows are in memory once, unless they change.
        let preparation = Preparation::default();
        let settled = match preparation.changes(&rows.schema, &rows.dataset) {
            true => Some(preparation.columns(rows.schema.clone(), rows.dataset.clone(), None)?),
            false => None,
        };
        let held = match &source {
            Source::Shared(_, bytes) => bytes.len() as u64,
            _ => 0,
        };
        let values = (rows.dataset.nonzeros() as u64).saturating_mul(12);
        let mut hasher = DefaultHasher::new();
        (&name, rows.dataset.fingerprint(), serde_json::to_string(&options).unwrap_or_default())
            .hash(&mut hasher);
        let id = format!("file-{:016x}", hasher.finish());
        let is_copy = |i: usize| rows.dataset.line(i) == rows.dataset.line(i - 1);
        let is_weighted = counts.is_some()
            || classes.row_weights.is_some()
            || rows.dataset.weights().is_some()
            || (1..rows.dataset.len()).any(is_copy);
        let usual = json!({});
        Ok(Self {
            id,
            name,
            title,
            source,
            read: options,
            counts,
            row_weights: classes.row_weights,
            is_weighted,
            rows: Arc::new(rows),
            settled,
            usual,
            bytes: held + values,
        })
    }

    /// The rows as training reads them: each as often as it counts.
    pub(crate) fn to_learn(&self) -> DataSpec {
        let source = Source::Rows(self.name.clone(), Arc::clone(&self.rows));
        DataSpec { source, read: self.read.clone(), ..DataSpec::default() }
    }

    /// The rows as a decision about them reads them: each once, with its weight, and with missing cells treated as in training. Where
    /// training reads others, the source is read again.
    pub(crate) fn to_decide(&self) -> DataSpec {
        if !self.has_gaps() && !self.is_weighted {
            return self.to_learn();
        }
        let (source, counts) = (self.source.clone(), self.counts.clone());
        DataSpec { source, read: self.read_to_decide(), counts, ..DataSpec::default() }
    }

    /// Whether cells are missing, in rows that are there or left out.
    pub(crate) fn has_gaps(&self) -> bool {
        let filled = self.rows.dataset.filled_cells().is_some_and(|cells| !cells.is_empty());
        filled || self.rows.notes.dropped > 0
    }

    /// How a decision reads the source: what was said about missing cells, or what training does with them.
    fn read_to_decide(&self) -> ReadOptions {
        let mut read = self.read.clone();
        if self.has_gaps() && read.csv.missing == Missing::NotSaid {
            read.csv.missing = Missing::Auto;
        }
        read
    }

    /// Whether rows have weights, so that one of the file can be there several times.
    pub(crate) fn is_weighted(&self) -> bool {
        self.is_weighted
    }

    /// The specification of the rows as a file, for commands.
    pub(crate) fn as_file(&self) -> DataSpec {
        let source = match &self.source {
            Source::File(path) => Source::File(path.clone()),
            _ => Source::File(PathBuf::from(&self.name)),
        };
        DataSpec { source, read: self.read.clone(), counts: self.counts.clone(), ..DataSpec::default() }
    }

    /// The same as a decision reads it.
    pub(crate) fn as_file_to_decide(&self) -> DataSpec {
        DataSpec { read: self.read_to_decide(), ..self.as_file() }
    }

    /// The classes that a page asks for, with the file of weights that the command line named.
    pub(crate) fn weighted(&self, classes: ClassSpec) -> ClassSpec {
        ClassSpec { row_weights: self.row_weights.clone(), ..classes }
    }

    /// The file that says how often each row counts, if the command line named one.
    pub(crate) fn row_weights(&self) -> Option<PathBuf> {
        self.row_weights.clone()
    }

    /// The columns and rows as models of them have them.
    pub(crate) fn settled(&self) -> (&Schema, &Dataset) {
        match &self.settled {
            Some(columns) => (&columns.schema, &columns.train),
            None => (&self.rows.schema, &self.rows.dataset),
        }
    }

    /// The bytes of the file, where it is not one of the user's own.
    pub(crate) fn file(&self) -> Option<Bytes> {
        match &self.source {
            Source::Memory(_, bytes) => Some(Bytes::from_static(bytes)),
            Source::Shared(_, bytes) => Some(Bytes::from_owner(Arc::clone(bytes))),
            _ => None,
        }
    }

    /// What the page shows of it.
    pub(crate) fn summary(&self) -> Value {
        const MAX_NAMES: usize = 200;
        const MAX_CLASSES: usize = 100;
        let (schema, data) = self.settled();
        let counts = data.class_counts();
        let classes: Vec<Value> = data
            .classes()
            .iter()
            .zip(&counts)
            .take(MAX_CLASSES)
            .map(|(name, rows)| json!({"name": name, "rows": rows}))
            .collect();
        let names: Vec<String> = (0..data.columns().min(MAX_NAMES)).map(|j| schema.feature_name(j)).collect();
        let remarks = self
            .rows
            .notes
            .remarks
            .iter()
            .chain(&schema.remarks())
            .map(|remark| worded(remark))
            .collect::<Vec<_>>();
        json!({
            "id": self.id,
            "name": self.name,
            "title": self.title,
            "rows": data.len(),
            "features": data.columns(),
            "columns": names,
            "classes": classes,
            "class_count": data.classes().len(),
            "format": self.rows.notes.format,
            "remarks": remarks,
            "skipped_rows": self.rows.notes.skipped,
            "dropped_rows": self.rows.notes.dropped,
            "fingerprint": data.fingerprint(),
            "usual": self.usual,
            "read": self.read,
            "has_file": self.file().is_some(),
        })
    }
}

/// A set that is built in.
struct BuiltIn {
    id: &'static str,
    title: &'static str,
    about: &'static str,
    usual: fn() -> Value,
    open: fn(&[Embedded]) -> Result<DataSet, Error>,
}

fn textbook() -> Value {
    json!({"learner": "perceptron", "scale": "none", "order": "given"})
}

fn pair(classes: [&str; 2]) -> Value {
    json!({"learner": "perceptron", "scale": "none", "classes": {"only": classes}})
}

const BUILT_IN: &[BuiltIn] = &[
    BuiltIn {
        id: "square",
        title: "The square",
        about: "Points of a square, labelled by the side of the diagonal on which they are. A line separates them.",
        usual: textbook,
        open: |_| made("square", "The square", &Synthetic::Square, 50, 4),
    },
    BuiltIn {
        id: "blobs",
        title: "Two blobs",
        about: "Two clouds with a gap between them. A line separates them; the wider the gap, the faster it \
                is found.",
        usual: textbook,
        open: |_| {
            made("blobs", "Two blobs", &Synthetic::Blobs { features: 2, margin: 0.05, spread: 1.0 }, 60, 4)
        },
    },
    BuiltIn {
        id: "xor",
        title: "XOR",
        about: "Four clouds, labelled crosswise. No line separates them.",
        usual: textbook,
        open: |_| made("xor", "XOR", &Synthetic::Xor { noise: 0.25 }, 48, 1),
    },
    BuiltIn {
        id: "iris-setosa",
        title: "Iris: setosa and versicolor",
        about: "Petals of two species of iris, measured by Edgar Anderson. A line separates them.",
        usual: || pair(["setosa", "versicolor"]),
        open: |embedded| petals(embedded, "Iris: setosa and versicolor"),
    },
    BuiltIn {
        id: "iris-virginica",
        title: "Iris: versicolor and virginica",
        about: "Petals of two species of iris that overlap. No line separates them.",
        usual: || pair(["versicolor", "virginica"]),
        open: |embedded| petals(embedded, "Iris: versicolor and virginica"),
    },
    BuiltIn {
        id: "spam",
        title: "Spam",
        about: "4,601 e-mails, by how often 57 words and signs occur in them.",
        usual: || json!({}),
        open: |embedded| of_program(embedded, "spam.csv", "Spam", ReadOptions::default()),
    },
];

/// Synthetic points as a table of text, as `linsep generate` makes them: a file like any other.
fn made(id: &str, title: &str, kind: &Synthetic, rows: u64, seed: u64) -> Result<DataSet, Error> {
    let data = dataset(kind, rows, seed)?;
    let mut text = "x,y,class\n".to_string();
    for i in 0..data.len() {
        let mut values = [0.0; 2];
        data.row(i).iter().for_each(|(j, value)| values[j] = value);
        let class = &data.classes()[data.labels()[i] as usize];
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{},{},{class}", values[0], values[1]);
    }
    let name = format!("{id}.csv");
    let source = Source::Shared(name.clone(), text.into_bytes().into());
    DataSet::open(name, title.to_string(), source, ReadOptions::default(), &mut ())
}

fn petals(embedded: &[Embedded], title: &str) -> Result<DataSet, Error> {
    let mut options = ReadOptions::default();
    options.csv.ignore = vec!["sepal_length_cm".to_string(), "sepal_width_cm".to_string()];
    of_program(embedded, "iris.csv", title, options)
}

fn of_program(
    embedded: &[Embedded],
    name: &str,
    title: &str,
    options: ReadOptions,
) -> Result<DataSet, Error> {
    let missing =
        || Error::Rows { place: name.to_string(), problem: "this program does not contain it".to_string() };
    let found = embedded.iter().find(|file| file.name == name).ok_or_else(missing)?;
    DataSet::open(
        name.to_string(),
        title.to_string(),
        Source::Memory(found.name, found.bytes),
        options,
        &mut (),
    )
}

/// The most bytes of files that pages sent, with their rows. Those that were not used for longest give way.
const MAX_BYTES: u64 = 1 << 30;
const MAX_SETS: usize = 200;

/// The data sets by their ids.
pub(crate) struct Store {
    embedded: Vec<Embedded>,
    /// The one that was used last is last.
    open: Mutex<VecDeque<Arc<DataSet>>>,
    most_bytes: u64,
}

impl Store {
    pub(crate) fn new(embedded: Vec<Embedded>) -> Self {
        Self { embedded, open: Mutex::default(), most_bytes: MAX_BYTES }
    }

    /// The built-in sets, for the list of the page.
    pub(crate) fn built_in() -> Vec<Value> {
        BUILT_IN.iter().map(|set| json!({"id": set.id, "title": set.title, "about": set.about})).collect()
    }

    /// The set with this id; a built-in one is opened when it is first asked for.
    pub(crate) fn get(&self, id: &str) -> Option<Result<Arc<DataSet>, Error>> {
        if let Some(known) = self.used(id) {
            return Some(Ok(known));
        }
        let built_in = BUILT_IN.iter().find(|set| set.id == id)?;
        Some(
            (built_in.open)(&self.embedded)
                .map(|set| self.keep(DataSet { id: id.to_string(), usual: (built_in.usual)(), ..set })),
        )
    }

    /// An open set, which is now the one that was used last.
    fn used(&self, id: &str) -> Option<Arc<DataSet>> {
        let mut open = self.lock();
        let place = open.iter().position(|set| set.id == id)?;
        let set = open.remove(place)?;
        open.push_back(Arc::clone(&set));
        Some(set)
    }

    /// Reads bytes that a page sent.
    pub(crate) fn add(
        &self,
        name: &str,
        bytes: Arc<[u8]>,
        options: ReadOptions,
        observer: &mut dyn Observer,
    ) -> Result<Arc<DataSet>, Error> {
        let source = Source::Shared(name.to_string(), bytes);
        let set = DataSet::open(name.to_string(), name.to_string(), source, options, observer)?;
        Ok(self.keep(set))
    }

    /// Reads the data that was named on the command line.
    pub(crate) fn add_named(
        &self,
        data: DataSpec,
        row_weights: Option<PathBuf>,
        observer: &mut dyn Observer,
    ) -> Result<Arc<DataSet>, Error> {
        let name = data.source.name();
        // The folders before it are in the command that the page shows.
        let file = data.source.path().and_then(|path| path.file_name());
        let title = file.map_or_else(|| name.clone(), |file| file.to_string_lossy().into_owned());
        let set = DataSet::open_weighted(name, title, data, row_weights, observer)?;
        Ok(self.keep(set))
    }

    fn keep(&self, set: DataSet) -> Arc<DataSet> {
        let set = Arc::new(set);
        let mut open = self.lock();
        open.retain(|other| other.id != set.id);
        open.push_back(Arc::clone(&set));
        let mut held: u64 = open.iter().map(|set| set.bytes).sum();
        // The file of the command line stays.
        while (held > self.most_bytes || open.len() > MAX_SETS) && open.len() > 1 {
            let oldest = open.iter().position(|set| matches!(set.source, Source::Shared(..)));
            match oldest.filter(|&place| place + 1 < open.len()).and_then(|place| open.remove(place)) {
                Some(oldest) => held -= oldest.bytes,
                None => break,
            }
        }
        set
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Arc<DataSet>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_set_opens_and_is_kept() {
        let embedded = vec![
            Embedded { name: "iris.csv", bytes: include_bytes!("../data/iris.csv") },
            Embedded { name: "spam.csv", bytes: include_bytes!("../data/spam.csv") },
        ];
        let store = Store::new(embedded);
        for set in BUILT_IN {
            let opened = store.get(set.id).expect("it is in the list").expect("it opens");
            assert!(Arc::ptr_eq(&opened, &store.get(set.id).unwrap().unwrap()));
            let summary = opened.summary();
            assert_eq!(summary["id"], set.id);
            assert!(summary["rows"].as_u64().unwrap() >= 40, "{summary}");
        }
        assert!(store.get("/etc/passwd").is_none());
    }

    #[test]
    fn files_that_were_not_used_for_longest_give_way() {
        let text = |name: &str| format!("x,y\n1,a\n2,{name}\n").into_bytes();
        let add = |store: &Store, name: &str| {
            let set = store.add(name, text(name).into(), ReadOptions::default(), &mut ()).unwrap();
            (set.id.clone(), set.bytes)
        };
        let (_, bytes) = add(&Store::new(Vec::new()), "b");
        let store = Store { most_bytes: 3 * bytes, ..Store::new(Vec::new()) };
        let ids = ["b", "c", "d"].map(|name| add(&store, name).0);
        assert!(store.get(&ids[0]).is_some(), "now the second is the one that was not used for longest");
        let (fourth, _) = add(&store, "e");
        assert!(store.get(&ids[1]).is_none());
        assert!([&ids[0], &ids[2], &fourth].iter().all(|id| store.get(id).is_some()));
        let alone = Store { most_bytes: 1, ..Store::new(Vec::new()) };
        let (only, _) = add(&alone, "b");
        assert!(alone.get(&only).is_some(), "the newest stays however large it is");
    }

    #[test]
    fn the_oldest_files_give_way() {
        let store = Store::new(Vec::new());
        let add = |i: usize| {
            let text = format!("x,y\n{i},a\n2,b\n");
            store
                .add(&format!("{i}.csv"), text.into_bytes().into(), ReadOptions::default(), &mut ())
                .unwrap()
                .id
                .clone()
        };
        let ids: Vec<String> = (0..MAX_SETS + 3).map(add).collect();
        assert!(store.get(&ids[2]).is_none());
        assert!(store.get(&ids[3]).is_some() && store.get(&ids[MAX_SETS + 2]).is_some());
    }
}

//! Arguments shared by commands that read labelled data: input, classes, scaling and bias.

use super::choice::{MISSING, SCALES, TERMS, WEIGHTS, choice};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use linsep::features::{Ngrams, TermKind, TermWeights};
use linsep::job::{BiasSpec, ClassSpec, DataSpec};
use linsep::read::FormatColumns::{AsStored, Documents, Pixels};
use linsep::read::{ColumnAs, FORMATS, Format, Missing, PictureSize, Source, parse_delimiter};
use linsep::scale::Scaling;
use linsep::train::ClassWeight;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Help text for labelled data: every input format.
pub(crate) static LABELLED_DATA: LazyLock<String> = LazyLock::new(|| {
    let mut titles: Vec<String> = Vec::new();
    for format in FORMATS.iter().filter(|format| !matches!(format.columns, Documents | Pixels)) {
        let title = match format.extensions {
            [_, ..] if format.columns == AsStored => ".linsep".to_string(),
            [ending, ..] if !format.is_text => format!("{} (.{ending})", format.title),
            _ => format.title.to_string(),
        };
        // Two formats may have one title.
        match titles.iter_mut().find(|other| other.starts_with(&format!("{} (", format.title))) {
            Some(other) => *other = format!("{}, .{})", other.trim_end_matches(')'), format.extensions[0]),
            None => titles.push(title),
        }
    }
    format!(
        "Labelled data: {}; text formats may be compressed (.gz, .zst); - for standard input; or a folder \
         of texts, e-mails or images with one subfolder per class",
        titles.join(", ")
    )
});

/// How data is read.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Input options")]
pub(crate) struct ReadArgs {
    /// Input format [default: detected from the content]
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    pub(crate) format: Option<Format>,
    /// CSV: label column, by name or number from 1 [default: the last]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// CSV: column to ignore, by name or number from 1 (repeat, or separate by commas)
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,
    /// CSV: ignore identifier columns and constant columns
    #[arg(long)]
    pub(crate) auto: bool,
    /// CSV: override the detected type of a column: words, text, number, decimal-point (1,234.5),
    /// decimal-comma (1.234,5), date, day-first (31/01/2024) or month-first (01/31/2024) (repeat, or separate
    /// by commas)
    #[arg(long, value_name = "COLUMN=KIND", value_delimiter = ',', value_parser = ColumnAs::parse)]
    pub(crate) column: Vec<(String, ColumnAs)>,
    /// CSV: whether the first row is a header
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) header: Option<HeaderArg>,
    /// CSV: delimiter: one character, or tab or space
    #[arg(long, value_name = "CHAR", value_parser = parse_delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// CSV: how to treat missing cells (drop-row also drops rows without a label) [default: auto for train
    /// and compare when all rows are in memory, otherwise refuse]
    #[arg(long, value_name = "HOW", value_parser = choice::<Missing>(MISSING))]
    pub(crate) missing: Option<Missing>,
    /// CSV: words that mark a missing cell, separated by commas; empty cells are always missing [default: ?,
    /// NA, N/A, #N/A, NaN and null, and in numeric columns also none, -, . and spreadsheet error values]
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) na: Option<String>,
    /// Excel: sheet, by name or number from 1 [default: the first]
    #[arg(long, value_name = "SHEET")]
    pub(crate) sheet: Option<String>,
    /// Tables: text column, by name or number from 1: one feature per term (repeat, or separate by commas);
    /// for a model of documents, the column that holds them
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', help_heading = "Text options")]
    pub(crate) text: Vec<String>,
    /// Kind of term [default: words]
    #[arg(long, value_name = "KIND", value_parser = choice::<TermKind>(TERMS), help_heading = "Text options")]
    pub(crate) terms: Option<TermKind>,
    /// Length of n-grams, such as 2 or 1-2 [default: 1 for words, 3-5 for characters]
    #[arg(long, value_name = "N", help_heading = "Text options")]
    pub(crate) ngrams: Option<Ngrams>,
    /// Term weighting [default: tf-idf; counts with --words]
    #[arg(long, value_name = "KIND", value_parser = choice::<TermWeights>(WEIGHTS), help_heading = "Text options")]
    pub(crate) text_weights: Option<TermWeights>,
    /// Ignore terms that occur in fewer training rows than this [default: 2]
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Text options")]
    pub(crate) min_count: Option<u32>,
    /// Maximum vocabulary size; the terms in the most training rows are kept [default: 1048576]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Text options")]
    pub(crate) max_vocabulary: Option<u32>,
    /// Hash terms into 2^BITS features instead of storing a vocabulary; terms may collide
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u8).range(4..=24), help_heading = "Text options")]
    pub(crate) hash_bits: Option<u8>,
    /// Use only these words, separated by commas
    #[arg(long, value_name = "WORDS", value_delimiter = ',', help_heading = "Text options")]
    pub(crate) words: Vec<String>,
    /// Images: resize every image to this size [default: the size of the first image, or 128x128 if it is
    /// larger]
    #[arg(long, value_name = "WIDTHxHEIGHT", help_heading = "Image options")]
    pub(crate) size: Option<PictureSize>,
    /// Images: use red, green and blue as features instead of grey levels
    #[arg(long, visible_alias = "color", help_heading = "Image options")]
    pub(crate) colour: bool,
    /// Folders: maximum file size, such as 100MB [default: 64MB]
    #[arg(long, value_name = "SIZE", value_parser = super::size)]
    pub(crate) max_file: Option<u64>,
    /// LIBSVM: index of the first feature [default: 0 if index 0 occurs, else 1]
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u32).range(0..=1))]
    pub(crate) index_base: Option<u32>,
    /// NumPy, IDX, CSV: file with one label per row (.npy, IDX, or text with one per line)
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Text encoding, such as windows-1252 or utf-16le [default: detected from the first bytes, otherwise
    /// UTF-8]
    #[arg(long, value_name = "NAME")]
    pub(crate) encoding: Option<String>,
    /// Skip malformed rows; report their number and list the first ones
    #[arg(long)]
    pub(crate) skip_bad: bool,
    /// Maximum number of features [default: 16777216]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_features: Option<u32>,
    /// Maximum number of classes [default: 65536]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) max_classes: Option<u32>,
    /// Maximum length of a line of text, such as 500MB [default: 256MB]
    #[arg(long, value_name = "SIZE", value_parser = super::size)]
    pub(crate) max_line: Option<u64>,
}

/// Whether the parsed rows are cached.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Input options")]
pub(crate) struct CacheArgs {
    /// Cache the parsed rows in FILE.linsep beside the data; later runs read the cache as long as the data
    /// and these options are unchanged
    #[arg(long)]
    pub(crate) cache: bool,
}

/// The formats by their names, as the library lists them.
pub(crate) fn format_parser() -> impl TypedValueParser<Value = Format> {
    let value = |format: &&linsep::read::FormatDescriptor| PossibleValue::new(format.name).help(format.help);
    PossibleValuesParser::new(FORMATS.iter().map(value)).try_map(|name| name.parse::<Format>())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeaderArg {
    Auto,
    Yes,
    No,
}

/// Which classes, how much they count, and on which scale.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Class and feature options")]
pub(crate) struct ClassArgs {
    /// Positive class; with more than two classes, it is trained against the rest [default: the second of
    /// two; with more, each class against the rest]
    #[arg(long, value_name = "CLASS", allow_hyphen_values = true)]
    pub(crate) positive: Option<String>,
    /// Use only the rows of these classes
    #[arg(long = "classes", value_name = "A,B", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) keep: Vec<String>,
    /// Class weights: balanced (equal total weight per class), or CLASS=WEIGHT (repeat, or separate by
    /// commas)
    #[arg(long, value_name = "balanced|CLASS=W", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) class_weight: Vec<String>,
    #[command(flatten)]
    pub(crate) weights: WeightsArg,
    /// Feature scaling, fitted on the training rows and stored in the model [default: auto; none for theory,
    /// and when rows are not all in memory]
    #[arg(long, value_parser = choice::<Scaling>(SCALES))]
    pub(crate) scale: Option<Scaling>,
}

/// Row weights.
#[derive(Debug, Default, Args)]
pub(crate) struct WeightsArg {
    /// Row weights: a file with one number per row (.npy, or text with one per line), or the name of a weight
    /// column, which is then not a feature. Whole numbers are counts: a row counts as that many equal rows.
    /// Other numbers weight the training loss only; error rates still count rows
    #[arg(long, value_name = "FILE|COLUMN")]
    weights: Option<PathBuf>,
}

impl WeightsArg {
    /// The file of the weights, if there is one of that name.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        self.weights.clone().filter(|path| path.exists())
    }

    /// Otherwise the column of the weights.
    pub(crate) fn column(&self) -> Option<String> {
        let name = self.weights.as_ref().filter(|path| !path.exists());
        name.map(|name| name.to_string_lossy().into_owned())
    }
}

/// Whether the boundary has a bias, or goes through the origin.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Training options")]
pub(crate) struct BiasArgs {
    /// How the bias (intercept) is modelled [default: append]
    #[arg(long, value_enum)]
    pub(crate) bias: Option<BiasArg>,
    /// Value of the appended constant coordinate [default: 1]
    #[arg(long, value_name = "SCALE", allow_negative_numbers = true)]
    pub(crate) bias_scale: Option<f64>,
}

/// All of these arguments, for commands that take a task rather than a model.
#[derive(Debug, Default, Args)]
pub(crate) struct TaskArgs {
    #[command(flatten)]
    pub(crate) bias: BiasArgs,
    #[command(flatten)]
    pub(crate) classes: ClassArgs,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) cache: CacheArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BiasArg {
    /// No bias: the boundary goes through the origin
    None,
    /// A constant coordinate is appended to every row
    Append,
}

impl ReadArgs {
    /// The data that a command reads.
    pub(crate) fn data(&self, path: &Path) -> DataSpec {
        let mut data = DataSpec::default();
        self.lay_over(Some(path), &mut data);
        data
    }

    /// Overrides a specification with the given arguments.
    pub(crate) fn lay_over(&self, path: Option<&Path>, data: &mut DataSpec) {
        if let Some(path) = path {
            data.source = Source::from_argument(path);
        }
        let read = &mut data.read;
        read.format = self.format.or(read.format);
        read.csv.label = self.label.clone().or(read.csv.label.take());
        if !self.ignore.is_empty() {
            read.csv.ignore = self.ignore.clone();
        }
        read.csv.auto |= self.auto;
        read.csv.columns.extend(self.column.iter().cloned());
        if let Some(words) = &self.na {
            let words = words.split(',').map(str::trim).filter(|word| !word.is_empty());
            read.csv.na = Some(words.map(str::to_string).collect());
        }
        match self.header {
            Some(HeaderArg::Yes) => read.csv.header = Some(true),
            Some(HeaderArg::No) => read.csv.header = Some(false),
            Some(HeaderArg::Auto) => read.csv.header = None,
            None => {}
        }
        read.csv.delimiter = self.delimiter.or(read.csv.delimiter);
        read.csv.missing = self.missing.unwrap_or(read.csv.missing);
        read.csv.sheet = self.sheet.clone().or(read.csv.sheet.take());
        if !self.text.is_empty() {
            read.text.columns = self.text.clone();
        }
        if !self.words.is_empty() {
            read.text.words = self.words.clone();
        }
        read.text.terms = self.terms.or(read.text.terms);
        read.text.ngrams = self.ngrams.or(read.text.ngrams);
        read.text.weights = self.text_weights.or(read.text.weights);
        read.text.min_count = self.min_count.or(read.text.min_count);
        read.text.max_vocabulary = self.max_vocabulary.or(read.text.max_vocabulary);
        read.text.hash_bits = self.hash_bits.or(read.text.hash_bits);
        read.pictures.size = self.size.or(read.pictures.size);
        read.pictures.colour |= self.colour;
        read.max_file = self.max_file.or(read.max_file);
        read.libsvm.index_base = self.index_base.or(read.libsvm.index_base);
        read.array.labels_file = self.labels.clone().or(read.array.labels_file.take());
        read.encoding = self.encoding.clone().or(read.encoding.take());
        read.skip_bad |= self.skip_bad;
        read.max_features = self.max_features.or(read.max_features);
        read.max_classes = self.max_classes.or(read.max_classes);
        read.max_line = self.max_line.or(read.max_line);
    }
}

impl TaskArgs {
    /// The data that a command reads.
    pub(crate) fn data(&self, path: &Path) -> DataSpec {
        let counts = self.classes.weights.column();
        DataSpec { cache: self.cache.cache, counts, ..self.read.data(path) }
    }
}

impl ClassArgs {
    /// Which classes, and how often they count.
    pub(crate) fn spec(&self) -> Result<ClassSpec, linsep::Error> {
        Ok(ClassSpec {
            positive: self.positive.clone(),
            only: self.keep.clone(),
            weight: ClassWeight::parse(&self.class_weight)?,
            row_weights: self.weights.file(),
        })
    }
}

impl BiasArgs {
    /// Whether the boundary has a bias, or goes through the origin.
    pub(crate) fn spec(&self) -> BiasSpec {
        BiasSpec { append: self.bias.map(|bias| bias == BiasArg::Append), scale: self.bias_scale }
    }

    /// Overrides a specification with the given arguments.
    pub(crate) fn lay_over(&self, bias: &mut BiasSpec) {
        let given = self.spec();
        if given.append.is_some() {
            *bias = given;
        } else if given.scale.is_some() {
            bias.scale = given.scale;
        }
    }
}

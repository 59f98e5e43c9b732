//! The settings of every job, each told once.

use super::setting::{Kind, Setting};
use crate::features::Ngrams;
use crate::job::ReferenceSpec;
use crate::model::ThresholdRule;
use crate::read::ColumnAs;
use crate::read::options::{PictureSize, parse_delimiter};
use crate::train::{Choice, ClassWeight};
use crate::validate::compare::MAX_ORDERS;
use serde_json::Value;

const TRAINING: &str = "Training options";
const CLASSES: &str = "Class and feature options";
const LEARNER: &str = "Learner-specific options";
const PROBABILITY: &str = "Probability options";
const CHECKPOINT: &str = "Checkpoint options";
const EXTRA: &str = "Additional output";
const INPUT: &str = "Input options";
const TEXT: &str = "Text options";
const IMAGE: &str = "Image options";
const COMPARISON: &str = "Comparison options";
const SEARCH: &str = "Search options";
const SEPARATION: &str = "Separation options";
const OUTPUT: &str = "Output options";

const ANY: u64 = super::setting::UNLIMITED;

const fn word(name: &'static str, help: &'static str) -> Choice {
    Choice { name, help }
}

const ORDERS: &[Choice] = &[
    word("given", "File order"),
    word("shuffle-once", "Shuffle once and use the same order in every pass"),
    word("shuffle", "Shuffle before every pass"),
];
const MISTAKES: &[Choice] = &[
    word("nonpositive", "A score of 0 is a mistake (label × score ≤ 0)"),
    word(
        "negative",
        "A score of 0 is correct (only label × score < 0 is a mistake); needs ⟦init=first⟧ or a model, because \
         zero weights would never change",
    ),
];
const SCALES: &[Choice] = &[
    word(
        "auto",
        "Standardise dense features; leave sparse 0/1 features unchanged; divide other sparse features by \
         their root mean square (by their largest magnitude if there are more than 300)",
    ),
    word("none", "No scaling"),
    word("max-abs", "Divide each feature by its largest magnitude"),
    word("standard", "Standardise each feature to mean 0 and variance 1 (sparse features are not centred)"),
    word("unit-rows", "Divide each row by its Euclidean norm"),
];
const FEATURES: &[Choice] = &[
    word("plain", "The columns themselves: the boundary is linear in them"),
    word("splines", "Add natural cubic splines of each numeric column, linear beyond the outer knots"),
    word(
        "pairs",
        "Add products of pairs of columns, categories included; if there are too many, those that best \
         explain a plain model's errors",
    ),
    word("splines+pairs", "Add both"),
];
const MISSING: &[Choice] = &[
    word(
        "auto",
        "Replace missing numbers by the column mean and add an indicator feature; treat missing words as a \
         category; drop rows without a label",
    ),
    word("refuse", "Stop with an error that names the cell"),
    word("mean", "Replace missing numbers by the column mean; leave missing words without a category"),
    word("zero", "Replace missing numbers by zero; leave missing words without a category"),
    word("drop-row", "Drop the row"),
];
const METRICS: &[Choice] = &crate::validate::metric::CHOICES;
const JUDGINGS: &[Choice] = &[
    word("auto", "nested for few rows, aside for many"),
    word("nested", "Nested cross-validation: repeat the whole search in each of five outer folds"),
    word("aside", "Set aside a fifth of the rows as a test set until the search has finished"),
    word("none", "Do not estimate the error"),
];
const COLUMN_DETAILS: &[Choice] = &[
    word("none", "Only the verdict"),
    word(
        "usual",
        "Analyse columns within a few seconds, for data of at most 16 million cells and 511 features (127 if \
         completely separable)",
    ),
    word("all", "Analyse all columns for data of any size; slow with many features"),
];
const BIASES: &[Choice] = &[
    word("none", "No bias: the boundary goes through the origin"),
    word("append", "A constant coordinate is appended to every row"),
];
const SEPARATE_BIASES: &[Choice] = &[
    word("none", "No bias: the boundary goes through the origin"),
    word(
        "append",
        "A constant coordinate is appended to every row; its weight is part of the norm, as in train",
    ),
    word(
        "free",
        "An unpenalised bias: the margin is half the distance between the convex hulls of the classes",
    ),
];
const TERMS: &[Choice] = &[
    word("words", "Words of two or more letters, digits and underscores, in lower case"),
    word("characters", "Character n-grams, including spaces between words"),
];
const TERM_WEIGHTS: &[Choice] = &[
    word("counts", "Number of occurrences of the term"),
    word("binary", "1 if the text contains the term"),
    word("tf-idf", "Term frequency times inverse document frequency, each text scaled to length 1"),
];
const MIXINGS: &[Choice] = &[
    word("uniform", "Equal weights: fewer passes on most data"),
    word(
        "updates",
        "Weights proportional to the updates in the pass: at most (R/γ*)² passes with a mistake, for any \
         number of shards",
    ),
];
const HEADERS: &[Choice] = &[word("no", ""), word("yes", ""), word("auto", "")];
const STARTS: &[Choice] =
    &[word("zero", "all weights are 0"), word("first", "the first row, which counts as an update")];

fn delimiter(text: &str) -> Result<(), String> {
    parse_delimiter(text).map(|_| ())
}

fn picture_size(text: &str) -> Result<(), String> {
    text.parse::<PictureSize>().map(|_| ())
}

fn ngrams(text: &str) -> Result<(), String> {
    text.parse::<Ngrams>().map(|_| ()).map_err(|problem| problem.to_string())
}

fn column_kind(text: &str) -> Result<(), String> {
    ColumnAs::parse(text).map(|_| ())
}

/// The weights of classes.
const CLASS_WEIGHT: Kind = Kind::Own {
    several: true,
    value: |texts| {
        let weight = ClassWeight::parse(texts).map_err(|error| error.problem)?;
        serde_json::to_value(weight).map_err(|error| error.to_string())
    },
    text: |value| match serde_json::from_value(value.clone()).ok()? {
        ClassWeight::Equal => None,
        ClassWeight::Balanced => Some("balanced".to_owned()),
        ClassWeight::Named(named) => {
            let pairs = named.iter().map(|(class, weight)| format!("{class}={weight}"));
            Some(pairs.collect::<Vec<String>>().join(","))
        }
    },
};

/// The costs of the two kinds of mistakes.
const COST: Kind = Kind::Own {
    several: false,
    value: |texts| {
        let rule = ThresholdRule::parse_cost(&texts.join(",")).map_err(|error| error.problem)?;
        let rule = serde_json::to_value(rule).map_err(|error| error.to_string())?;
        Ok(rule["cost"].clone())
    },
    text: |value| Some(format!("fp={},fn={}", value.get("fp")?, value.get("fn")?)),
};

/// Reference categories.
const REFERENCE: Kind = Kind::Own {
    several: true,
    value: |texts| {
        let spec = ReferenceSpec::parse(texts).map_err(|error| error.problem)?;
        serde_json::to_value(spec).map_err(|error| error.to_string())
    },
    text: |value| {
        let rule = value.get("rule").and_then(Value::as_str).map(str::to_owned);
        let named = value.get("named").and_then(Value::as_object);
        let named = named.into_iter().flatten();
        let named = named.filter_map(|(column, word)| Some(format!("{column}={}", word.as_str()?)));
        let all: Vec<String> = rule.into_iter().chain(named).collect();
        (!all.is_empty()).then(|| all.join(","))
    },
};

/// How the rows are read, whatever the job: places in its `data`.
pub(super) const READ: &[Setting] = &[
    Setting::new("format", Kind::Format, "Input format")
        .at("read.format")
        .symbol("FORMAT")
        .default("detected from the content")
        .heading(INPUT)
        .form("files", ""),
    Setting::new("label", Kind::Text, "Label column, by name or number from 1")
        .at("read.csv.label")
        .symbol("COLUMN")
        .default("the last")
        .heading(INPUT)
        .only("CSV")
        .form("tables", "label column"),
    Setting::new("ignore", Kind::List, "Column to ignore, by name or number from 1")
        .at("read.csv.ignore")
        .symbol("COLUMN")
        .heading(INPUT)
        .only("CSV")
        .form("tables", "columns to leave out"),
    Setting::new(
        "keep",
        Kind::List,
        "Column to keep although it has a different word in every row or counts the rows, by name or number from 1",
    )
    .at("read.csv.keep")
    .symbol("COLUMN")
    .heading(INPUT)
    .only("CSV")
    .form("tables", "columns to keep"),
    Setting::new("auto", Kind::Flag, "Also ignore columns with the name of an identifier and constant columns")
        .at("read.csv.auto")
        .heading(INPUT)
        .only("CSV")
        .form("tables", "leave out identifiers and constant columns"),
    Setting::new(
        "column",
        Kind::Pairs(column_kind),
        "Override the detected type of a column: words, text, number, decimal-point (1,234.5), decimal-comma \
         (1.234,5), date, day-first (31/01/2024) or month-first (01/31/2024)",
    )
    .at("read.csv.columns")
    .symbol("COLUMN=KIND")
    .heading(INPUT)
    .only("CSV")
    .form("tables", "what columns hold"),
    Setting::new("header", Kind::Truth(HEADERS), "Whether the first row is a header")
        .at("read.csv.header")
        .symbol("WHEN")
        .heading(INPUT)
        .only("CSV")
        .form("tables", "header row"),
    Setting::new("delimiter", Kind::Checked(delimiter), "Delimiter: one character, or tab or space")
        .at("read.csv.delimiter")
        .symbol("CHAR")
        .heading(INPUT)
        .only("CSV")
        .form("tables", "delimiter"),
    Setting::new(
        "missing",
        Kind::Choice(MISSING),
        "How to treat missing cells (drop-row also drops rows without a label)",
    )
    .at("read.csv.missing")
    .symbol("HOW")
    .default("auto for train and compare when all rows are in memory, otherwise refuse")
    .heading(INPUT)
    .only("CSV")
    .form("tables", "missing cells"),
    Setting::new(
        "na",
        Kind::List,
        "Words that mark a missing cell; empty cells are always missing",
    )
    .at("read.csv.na")
    .symbol("WORDS")
    .default(
        "?, NA, N/A, #N/A, NaN and null, and in numeric columns also none, -, . and spreadsheet error values",
    )
    .heading(INPUT)
    .only("CSV")
    .form("tables", "words for missing cells"),
    Setting::new("sheet", Kind::Text, "Sheet, by name or number from 1")
        .at("read.csv.sheet")
        .symbol("SHEET")
        .default("the first")
        .heading(INPUT)
        .only("Excel")
        .form("tables", "sheet of the workbook"),
    Setting::new(
        "text",
        Kind::List,
        "Text column, by name or number from 1: one feature per term; for a model of documents, the column that \
         holds them",
    )
    .at("read.text.columns")
    .symbol("COLUMN")
    .heading(TEXT)
    .only("Tables")
    .form("texts", "columns of texts"),
    Setting::new("terms", Kind::Choice(TERMS), "Kind of term")
        .at("read.text.terms")
        .symbol("KIND")
        .default("words")
        .heading(TEXT)
        .form("texts", ""),
    Setting::new("ngrams", Kind::Checked(ngrams), "Length of n-grams, such as 2 or 1-2")
        .at("read.text.ngrams")
        .symbol("N")
        .default("1 for words, 3-5 for characters")
        .heading(TEXT)
        .form("texts", "neighbours in a term"),
    Setting::new("text_weights", Kind::Choice(TERM_WEIGHTS), "Term weighting")
        .at("read.text.weights")
        .symbol("KIND")
        .default("tf-idf; counts with ⟦words⟧")
        .heading(TEXT)
        .form("texts", "value of a term"),
    Setting::new(
        "min_count",
        Kind::Whole(1, u32::MAX as u64),
        "Ignore terms that occur in fewer training rows than this",
    )
    .at("read.text.min_count")
    .symbol("ROWS")
    .default("2")
    .heading(TEXT)
    .form("texts", "rows that have a term"),
    Setting::new(
        "max_vocabulary",
        Kind::Whole(1, u32::MAX as u64),
        "Maximum vocabulary size; the terms in the most training rows are kept",
    )
    .at("read.text.max_vocabulary")
    .symbol("N")
    .default("1048576")
    .heading(TEXT)
    .form("texts", "most terms"),
    Setting::new(
        "hash_bits",
        Kind::Whole(4, 24),
        "Hash terms into 2^BITS features instead of storing a vocabulary; terms may collide",
    )
    .at("read.text.hash_bits")
    .symbol("BITS")
    .heading(TEXT)
    .form("texts", "bits of the hash"),
    Setting::new("words", Kind::List, "Use only these words")
        .at("read.text.words")
        .symbol("WORDS")
        .heading(TEXT)
        .form("texts", "these words alone"),
    Setting::new("size", Kind::Checked(picture_size), "Resize every image to this size")
        .at("read.pictures.size")
        .symbol("WIDTHxHEIGHT")
        .default("the size of the first image, or 128x128 if it is larger")
        .heading(IMAGE)
        .only("Images")
        .form("pictures", "size of pictures"),
    Setting::new("colour", Kind::Flag, "Use red, green and blue as features instead of grey levels")
        .at("read.pictures.colour")
        .alias("color")
        .heading(IMAGE)
        .only("Images")
        .form("pictures", "red, green and blue as features"),
    Setting::new("max_file", Kind::Size, "Maximum file size, such as 100MB")
        .at("read.max_file")
        .symbol("SIZE")
        .default("64MB")
        .heading(INPUT)
        .only("Folders"),
    Setting::new("index_base", Kind::Whole(0, 1), "Index of the first feature")
        .at("read.libsvm.index_base")
        .symbol("0|1")
        .default("0 if index 0 occurs, else 1")
        .heading(INPUT)
        .only("LIBSVM")
        .form("files", "first index"),
    Setting::new("labels", Kind::File, "File with one label per row (.npy, IDX, or text with one per line)")
        .at("read.array.labels_file")
        .symbol("FILE")
        .heading(INPUT)
        .only("NumPy, IDX, CSV"),
    Setting::new("encoding", Kind::Text, "Text encoding, such as windows-1252 or utf-16le")
        .at("read.encoding")
        .symbol("NAME")
        .default("detected from the first bytes, otherwise UTF-8")
        .heading(INPUT)
        .form("files", ""),
    Setting::new("skip_bad", Kind::Flag, "Skip malformed rows; report their number and list the first ones")
        .at("read.skip_bad")
        .heading(INPUT)
        .form("files", "skip malformed rows"),
    Setting::new("max_features", Kind::Whole(1, u32::MAX as u64), "Maximum number of features")
        .at("read.max_features")
        .symbol("N")
        .default("16777216")
        .heading(INPUT)
        .form("limits", "most features"),
    Setting::new("max_classes", Kind::Whole(2, u32::MAX as u64), "Maximum number of classes")
        .at("read.max_classes")
        .symbol("N")
        .default("65536")
        .heading(INPUT)
        .form("limits", "most classes"),
    Setting::new("max_line", Kind::Size, "Maximum length of a line of text, such as 500MB")
        .at("read.max_line")
        .symbol("SIZE")
        .default("256MB")
        .heading(INPUT)
        .form("limits", "longest line"),
];

/// Whether the rows are kept for the next job: a place in the `data` of a job.
pub(super) const CACHE: &[Setting] = &[Setting::new(
    "cache",
    Kind::Flag,
    "Cache the parsed rows in FILE.linsep beside the data; later runs read the cache as long as the data and \
     these options are unchanged",
)
.heading(INPUT)];

const WEIGHTS_HELP: &str = "Row weights: a file with one number per row (.npy, or text with one per line), or the \
     name of a weight column, which is then not a feature. Whole numbers are counts: a row counts as that many \
     equal rows. Other numbers weight the training loss only; error rates still count rows";

/// The weights of rows, of a job that names them beside its data.
pub(super) const ROW_WEIGHTS: &[Setting] =
    &[Setting::new("weights", Kind::FileOrColumn("data.counts"), WEIGHTS_HELP)
        .at("row_weights")
        .symbol("FILE|COLUMN")
        .heading(INPUT)];

const POSITIVE: Setting = Setting::new(
    "positive",
    Kind::Text,
    "Positive class; with more than two classes, it is trained against the rest",
)
.at("classes.positive")
.symbol("CLASS")
.default("the second of two; with more, each class against the rest")
.heading(CLASSES)
.page();

const KEEP: Setting = Setting::new("classes", Kind::List, "Use only the rows of these classes")
    .at("classes.only")
    .symbol("A,B")
    .heading(CLASSES)
    .page();

/// Which classes and how much they count.
const WHICH_CLASSES: [Setting; 4] = [
    POSITIVE,
    KEEP,
    Setting::new(
        "class_weight",
        CLASS_WEIGHT,
        "Class weights: balanced (equal total weight per class), or a weight for each class",
    )
    .at("classes.weight")
    .symbol("balanced|CLASS=W")
    .heading(CLASSES)
    .form("weights", ""),
    Setting::new("weights", Kind::FileOrColumn("data.counts"), WEIGHTS_HELP)
        .at("classes.row_weights")
        .symbol("FILE|COLUMN")
        .heading(CLASSES),
];

const SCALE: Setting = Setting::new(
    "scale",
    Kind::Choice(SCALES),
    "Feature scaling, fitted on the training rows and stored in the model",
)
.default("auto; none for theory, and when rows are not all in memory")
.heading(CLASSES)
.form("all", "");

const BIAS: Setting = Setting::new("bias", Kind::Truth(BIASES), "How the bias (intercept) is modelled")
    .at("bias.append")
    .default("append")
    .heading(TRAINING)
    .form("all", "");

const BIAS_SCALE: Setting =
    Setting::new("bias_scale", Kind::Number, "Value of the appended constant coordinate")
        .at("bias.scale")
        .symbol("SCALE")
        .default("1")
        .heading(TRAINING)
        .form("all", "");

const ORDER: Setting = Setting::new("order", Kind::Choice(ORDERS), "Order in which rows are visited")
    .default("shuffle; given when learning online")
    .heading(TRAINING)
    .form("all", "");

const SEED: Setting =
    Setting::new("seed", Kind::Whole(0, ANY), "Random seed").symbol("S").default("0").page();

/// The features made of the columns.
const MADE_FEATURES: [Setting; 2] = [
    Setting::new(
        "features",
        Kind::Choice(FEATURES),
        "Feature expansion, fitted on the training rows and stored in the model",
    )
    .default("plain")
    .heading(CLASSES)
    .form("all", ""),
    Setting::new("max_pairs", Kind::Whole(0, ANY), "Maximum number of pairwise products")
        .symbol("N")
        .default("half the rows per boundary, between 50 and 2000")
        .heading(CLASSES)
        .form("all", ""),
];

/// How a model is learned, by whichever command.
pub(super) const LEARN: &[Setting] = &[
    Setting::new("learner", Kind::Learner, "Learner")
        .default(crate::job::DEFAULT_LEARNER)
        .heading(TRAINING)
        .page(),
    Setting::new("epochs", Kind::Whole(0, ANY), "Maximum number of passes over the data")
        .symbol("N")
        .default("100; 1000 for svm, logistic and max-margin; 1 when learning online")
        .heading(TRAINING)
        .form("all", ""),
    Setting::new(
        "max_updates",
        Kind::Whole(0, ANY),
        "Stop after this many updates (with ⟦shards⟧, at the next synchronisation of the shards)",
    )
    .symbol("N")
    .heading(TRAINING)
    .form("all", ""),
    Setting::new(
        "max_seconds",
        Kind::Number,
        "Stop after this many seconds of training, summed over all classes",
    )
    .symbol("SECONDS")
    .heading(TRAINING)
    .form("all", ""),
    ORDER,
    Setting { help: "Random seed for shuffling and for choosing held-out rows", ..SEED }
        .heading(TRAINING)
        .form("all", ""),
    BIAS,
    BIAS_SCALE,
    Setting::new("mistake", Kind::Choice(MISTAKES), "Whether a score of exactly 0 counts as a mistake")
        .default("nonpositive")
        .heading(TRAINING)
        .form("mistake_rule", ""),
    WHICH_CLASSES[0],
    WHICH_CLASSES[1],
    WHICH_CLASSES[2],
    WHICH_CLASSES[3],
    SCALE,
    MADE_FEATURES[0],
    MADE_FEATURES[1],
    Setting::new(
        "holdout",
        Kind::Number,
        "Hold out this fraction of the rows of each class and report the error on them",
    )
    .symbol("FRACTION")
    .heading(CLASSES),
    Setting::new(
        "max_words",
        Kind::Whole(0, u32::MAX as u64),
        "Maximum number of categories in a column before rare ones are merged: categories in fewer than 3 \
         training rows then share one feature, COLUMN=(rare)",
    )
    .symbol("N")
    .default("1000")
    .heading(CLASSES)
    .only("CSV"),
    Setting::new(
        "probabilities",
        Kind::Flag,
        "Calibrate probabilities by 5-fold cross-validation and store the calibration in the model. Not needed \
         for logistic regression",
    )
    .heading(PROBABILITY)
    .form("all", ""),
    Setting::new("threshold", Kind::Number, "Predict positive if the probability is at least P, 0 < P < 1")
        .at("threshold.probability")
        .symbol("P")
        .default("if the score is at least 0")
        .heading(PROBABILITY)
        .only("Two classes")
        .one_of("threshold"),
    Setting::new(
        "cost",
        COST,
        "Choose the threshold with the lowest out-of-fold cost, where a false positive costs X and a false \
         negative Y",
    )
    .at("threshold.cost")
    .symbol("fp=X,fn=Y")
    .heading(PROBABILITY)
    .only("Two classes")
    .one_of("threshold"),
    Setting::new(
        "recall",
        Kind::Number,
        "Choose the largest threshold with at least this out-of-fold recall",
    )
    .at("threshold.recall")
    .symbol("SHARE")
    .heading(PROBABILITY)
    .only("Two classes")
    .one_of("threshold"),
    Setting::new(
        "precision",
        Kind::Number,
        "Choose the threshold with the highest out-of-fold recall among those with at least this precision",
    )
    .at("threshold.precision")
    .symbol("SHARE")
    .heading(PROBABILITY)
    .only("Two classes")
    .one_of("threshold"),
    Setting::new(
        "shards",
        Kind::Whole(0, ANY),
        "Split the rows into S random shards, train them in parallel and average their weights after every pass; \
         the result depends on the number of shards, not of threads",
    )
    .symbol("S")
    .default("1")
    .heading(LEARNER)
    .only("perceptron, averaged")
    .form("shards", ""),
    Setting::new("mixing", Kind::Choice(MIXINGS), "Weight of each shard in the average")
        .default("uniform")
        .heading(LEARNER)
        .only("perceptron, averaged")
        .form("shards", ""),
];

/// How `train` runs: where it starts, how rows are held, and what it writes beside the model.
pub(super) const RUN: &[Setting] = &[
    Setting::new(
        "init",
        Kind::WordOrFile(STARTS),
        "Initial weights",
    )
    .symbol("zero|first|MODEL")
    .default("zero")
    .heading(TRAINING)
    .form("start_at_first_row", ""),
    Setting::new(
        "online",
        Kind::Flag,
        "Train on each row as it is read, in one pass and constant memory (the default for standard input with \
         ⟦epochs=1⟧; the voted learner stores its mistakes)",
    )
    .heading(TRAINING),
    Setting::new(
        "memory",
        Kind::Size,
        "Train on data larger than memory, using at most this much, such as 64MB or 2GB: rows are streamed from \
         FILE.linsep beside the data, which is created if necessary; the model is the same as with ⟦scale=none⟧ and \
         ⟦keep⟧ for columns that name the rows",
    )
    .symbol("SIZE")
    .heading(TRAINING)
    .excludes(&["online"]),
    Setting::new(
        "checkpoint",
        Kind::File,
        "Save the training state here at the start and at regular intervals, so that a killed run can be resumed",
    )
    .symbol("FILE")
    .heading(CHECKPOINT),
    Setting::new("checkpoint_every", Kind::Number, "Seconds between checkpoints")
        .symbol("SECONDS")
        .default("10")
        .heading(CHECKPOINT)
        .needs("checkpoint"),
    Setting::new(
        "resume",
        Kind::File,
        "Resume from a checkpoint; the model is the same as without the interruption",
    )
    .symbol("FILE")
    .heading(CHECKPOINT),
    Setting::new(
        "path",
        Kind::Whole(0, ANY),
        "Output the regularisation path: the weights for at most N values of C, spaced geometrically from the \
         smallest with a nonzero weight up to the chosen C; needs ⟦json⟧",
    )
    .symbol("N")
    .heading(EXTRA)
    .only("logistic")
    .needs("json"),
    Setting::new(
        "trace",
        Kind::File,
        "Write the quantities in the convergence proof as training proceeds, as JSON Lines",
    )
    .symbol("FILE")
    .heading(EXTRA),
    Setting::new("trace_points", Kind::Whole(2, ANY), "Maximum number of lines in the trace")
        .symbol("N")
        .default("1000")
        .heading(EXTRA)
        .needs("trace"),
    Setting::new("comparator", Kind::File, "Reference separator θ* for the trace")
        .symbol("MODEL")
        .default("the separator found by this run")
        .heading(EXTRA)
        .needs("trace"),
    Setting::new(
        "teaching_set",
        Kind::File,
        "Write the misclassified rows in order, as LIBSVM: one pass of a perceptron over them gives the same \
         final weights",
    )
    .symbol("FILE")
    .heading(EXTRA),
];

/// The comparison of learners.
pub(super) const COMPARE: &[Setting] = &[
    Setting::new("learners", Kind::Learners, "Learners to compare")
        .symbol("A,B,…")
        .default("all that are suitable for the data")
        .heading(COMPARISON)
        .page(),
    Setting::new("metric", Kind::Choice(METRICS), "Metric on held-out rows")
        .default("error")
        .heading(COMPARISON)
        .page(),
    Setting::new("folds", Kind::Whole(0, ANY), "Number of cross-validation folds")
        .symbol("N")
        .heading(COMPARISON)
        .page(),
    Setting { default: "shuffle", ..ORDER }.heading(COMPARISON),
    Setting::new(
        "orders",
        Kind::Whole(0, MAX_ORDERS),
        "Repeat training in this many other row orders and show how much the results vary",
    )
    .symbol("N")
    .default("0")
    .heading(COMPARISON)
    .page(),
    Setting::new("epochs", Kind::Whole(0, ANY), "Maximum number of passes over the data per run")
        .symbol("N")
        .default("100; 1000 for svm, logistic and max-margin")
        .heading(COMPARISON)
        .page(),
    Setting::new("max_seconds", Kind::Number, "Maximum seconds per run")
        .symbol("SECONDS")
        .default("no limit")
        .heading(COMPARISON)
        .page(),
    Setting { help: "Random seed for folds and row orders", ..SEED }.heading(COMPARISON),
    BIAS,
    BIAS_SCALE,
    WHICH_CLASSES[0],
    WHICH_CLASSES[1],
    WHICH_CLASSES[2],
    WHICH_CLASSES[3],
    SCALE,
    MADE_FEATURES[0],
    MADE_FEATURES[1],
];

/// The search for the best way to learn.
pub(super) const TUNE: &[Setting] = &[
    Setting::new(
        "metric",
        Kind::Choice(METRICS),
        "Metric on held-out rows; ties go to the simplest candidate (fewer features, then a stronger penalty). \
         With error, C is chosen by log loss, which is less noisy, and the features by error",
    )
    .default("error")
    .heading(SEARCH),
    Setting::new(
        "time",
        Kind::Number,
        "Stop the search after this many seconds and use the best candidate so far",
    )
    .at("max_seconds")
    .symbol("SECONDS")
    .heading(SEARCH),
    Setting::new(
        "folds",
        Kind::Whole(0, ANY),
        "Number of cross-validation folds; repeated up to four times for fewer than 500 rows",
    )
    .symbol("K")
    .heading(SEARCH),
    Setting::new("judge", Kind::Choice(JUDGINGS), "How to estimate the error on new rows")
        .at("judging")
        .default("auto")
        .heading(SEARCH),
    Setting::new(
        "simpler",
        Kind::Number,
        "Prefer a simpler candidate if it is worse than the best by at most this many standard errors of the \
         difference; 1 gives the one-standard-error rule",
    )
    .symbol("ERRORS")
    .default("0")
    .heading(SEARCH),
    Setting { help: "Random seed for folds and for the test set", ..SEED }.heading(SEARCH),
    BIAS,
    BIAS_SCALE,
    WHICH_CLASSES[0],
    WHICH_CLASSES[1],
    WHICH_CLASSES[2],
    WHICH_CLASSES[3],
];

/// The statements of the theory.
pub(super) const THEORY: &[Setting] = &[
    Setting::new("epochs", Kind::Whole(0, ANY), "Maximum number of passes over the data per run")
        .symbol("N")
        .heading(OUTPUT),
    Setting::new("max_seconds", Kind::Number, "Maximum seconds per run").symbol("SECONDS").heading(OUTPUT),
    Setting::new(
        "delta",
        Kind::Number,
        "Confidence of the bound on new rows: it fails with probability at most δ",
    )
    .symbol("δ")
    .heading(OUTPUT),
    Setting { help: "Random seed for row orders and subsets", ..SEED }.heading(OUTPUT),
    BIAS,
    BIAS_SCALE,
    WHICH_CLASSES[0],
    WHICH_CLASSES[1],
    WHICH_CLASSES[2],
    WHICH_CLASSES[3],
    SCALE,
];

/// The decision about separation.
pub(super) const SEPARATE: &[Setting] = &[
    Setting::new(
        "bias",
        Kind::Choice(SEPARATE_BIASES),
        "How the bias (intercept) is modelled, which also defines the margin",
    )
    .symbol("BIAS")
    .default("append")
    .heading(SEPARATION)
    .page(),
    Setting { at: "bias_scale", ..BIAS_SCALE }.heading(SEPARATION),
    Setting::new(
        "gap",
        Kind::Number,
        "Target width of the margin interval of separable data, relative to its upper end",
    )
    .symbol("GAP")
    .default("1e-6; with many features, the interval given by the first separating boundary")
    .heading(SEPARATION)
    .page(),
    Setting::new(
        "time",
        Kind::Number,
        "Time limit in seconds, shared by all lines of a table and by the verdict and ⟦blame⟧",
    )
    .at("max_seconds")
    .symbol("SECONDS")
    .default("no limit")
    .alias("max-seconds")
    .heading(SEPARATION)
    .page(),
    Setting::new(
        "memory",
        Kind::Size,
        "Approximate memory limit, such as 500MB or 2GB, not counting the rows themselves and reading the file",
    )
    .symbol("SIZE")
    .default("no limit")
    .heading(SEPARATION),
    SEED.heading(SEPARATION),
    Setting::new(
        "blame",
        Kind::Flag,
        "If the classes are not completely separable, find a small set of rows to remove so that the rest is \
         separable",
    )
    .details(
        "The remaining rows are proved to be completely separable, and a lower bound on the number of rows to \
         remove is proved. If the two numbers agree, the set is a smallest one. The result does not depend on the \
         bias option or on the units of the columns. With ⟦weights⟧, removing a row costs its count. Without \
         ⟦time⟧, the search ends after a fixed number of operations.",
    )
    .heading(SEPARATION)
    .page(),
    Setting::new(
        "columns",
        Kind::Choice(COLUMN_DETAILS),
        "Column analysis for two classes: whether each coefficient of a logistic regression is finite, and which \
         small sets of columns separate the classes by themselves",
    )
    .symbol("HOW")
    .default("usual")
    .heading(SEPARATION)
    .page(),
    Setting::new(
        "reference",
        REFERENCE,
        "Reference category for the coefficients of categorical columns: first (in alphabetical order), \
         most-frequent, or COLUMN=WORD",
    )
    .symbol("LEVEL")
    .default("first")
    .heading(SEPARATION)
    .only("CSV"),
    Setting {
        at: "positive",
        help: "Positive class; with more than two classes, it is compared with the rest",
        default: "the second of two; with more, a table of each class against the rest",
        ..POSITIVE
    },
    Setting { at: "only", ..KEEP },
    Setting::new("pairs", Kind::Flag, "Decide for every pair of classes and print a table")
        .heading(CLASSES)
        .excludes(&["positive", "blame"]),
];

/// The check of a certificate.
pub(super) const VERIFY: &[Setting] = &[Setting::new(
    "allow_one_sided",
    Kind::Flag,
    "Accept a certificate although one of its two classes has no rows, which makes the claim vacuous",
)];

/// The settings of one job: for each table, the part of the specification in which its places are.
pub type Tables = &'static [(&'static str, &'static [Setting])];

/// Of `train`.
pub const OF_TRAIN: Tables = &[("", LEARN), ("", RUN), ("data.", READ), ("data.", CACHE)];
/// Of commands that learn a model in order to draw or report it.
pub const OF_LEARNING: Tables = &[("", LEARN), ("data.", READ), ("data.", CACHE)];
/// Of `compare`.
pub const OF_COMPARE: Tables = &[("", COMPARE), ("data.", READ), ("data.", CACHE)];
/// Of `tune`.
pub const OF_TUNE: Tables = &[("", TUNE), ("data.", READ), ("data.", CACHE)];
/// Of `theory`.
pub const OF_THEORY: Tables = &[("", THEORY), ("data.", READ), ("data.", CACHE)];
/// Of `separate`.
pub const OF_SEPARATE: Tables = &[("", SEPARATE), ("", ROW_WEIGHTS), ("data.", READ), ("data.", CACHE)];
/// Of `verify`.
pub const OF_VERIFY: Tables = &[("", VERIFY), ("", ROW_WEIGHTS), ("data.", READ), ("data.", CACHE)];
/// Of commands that read rows and have settings of their own beside.
pub const OF_READING: Tables = &[("data.", READ)];
/// The same where rows may have weights.
pub const OF_WEIGHTED_READING: Tables = &[("", ROW_WEIGHTS), ("data.", READ)];

/// Where the option of a learner is in a specification, and that of a grid.
pub(super) const OPTIONS: &str = "options";
pub(super) const GRID: &str = "grid";

/// The place of a setting in the specification of a job.
pub(super) fn full_place(prefix: &str, place: &str) -> String {
    // The column of weights is named with its whole place.
    if place.starts_with("data.") { place.to_owned() } else { format!("{prefix}{place}") }
}

//! How to read: one structure of options for each kind of format, and what they have in common.

use super::error::{ReadError, ReadErrorKind};
use super::formats::{Format, FormatColumns};
use crate::SettingsError;
use crate::features::{Missing, Schema, TextOptions};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Whether rows come with labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// Every row must have one.
    #[default]
    Required,
    /// Rows may have one; it is ignored.
    Ignored,
}

/// How to read. The defaults detect everything.
///
/// The options are part of a job's specification: as JSON or TOML, defaults are left out and unknown fields are refused.
/// Fields that the program sets itself ([`labels`](Self::labels), [`schema`](Self::schema), [`online`](Self::online),
/// [`columns_were_seen`](Self::columns_were_seen), [`keep_hashed_terms`](Self::keep_hashed_terms),
/// [`memory`](Self::memory)) are not written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// The format, if not to be detected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Skip malformed rows and list the first of them, instead of stopping at the first.
    #[serde(skip_serializing_if = "is_default")]
    pub skip_bad: bool,
    /// The largest number of features accepted; `None` for [`MAX_FEATURES`](Self::MAX_FEATURES).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_features: Option<u32>,
    /// The largest number of classes accepted; `None` for [`MAX_CLASSES`](Self::MAX_CLASSES).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_classes: Option<u32>,
    /// The longest line of text accepted, in bytes; `None` for [`MAX_LINE`](Self::MAX_LINE).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_line: Option<u64>,
    /// The largest file of a folder accepted, in bytes; `None` for [`MAX_FILE`](Self::MAX_FILE).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_file: Option<u64>,
    /// The encoding of a text, if not to be detected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// Options of delimited text.
    #[serde(skip_serializing_if = "is_default")]
    pub csv: CsvOptions,
    /// How texts become features.
    #[serde(skip_serializing_if = "is_default")]
    pub text: TextOptions,
    /// How pictures become features.
    #[serde(skip_serializing_if = "is_default")]
    pub pictures: PictureOptions,
    /// Options of LIBSVM text.
    #[serde(skip_serializing_if = "is_default")]
    pub libsvm: LibsvmOptions,
    /// Options of NumPy arrays.
    #[serde(skip_serializing_if = "is_default")]
    pub array: ArrayOptions,
    /// Whether labels are needed.
    #[serde(skip)]
    pub labels: Labels,
    /// Read as a model was trained: its columns, categories and index base.
    #[serde(skip)]
    pub schema: Option<Schema>,
    /// Settle the columns from the first rows, so that memory does not grow with the file.
    #[serde(skip)]
    pub online: bool,
    /// Whether earlier rows of the same source had every column of the model: then these may lack some of their cells.
    #[serde(skip)]
    pub columns_were_seen: bool,
    /// Keep the terms of texts that a model knows by their hash alone, so that an explanation can name them.
    #[serde(skip)]
    pub keep_hashed_terms: bool,
    /// The bytes of memory that the job may use: lines are limited to a part of them.
    #[serde(skip)]
    pub memory: Option<u64>,
}

/// Options of tables: delimited text (CSV and TSV), and what is read as if it were that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CsvOptions {
    /// The column of the label, by name or number from 1; the last if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Columns to leave out, by name or number from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// Columns to keep although their cells look like names of the rows, by name or number from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
    /// The kinds of columns, by name or number from 1, where they are not detected.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, ColumnAs>,
    /// Whether the first row names the columns, if not to be detected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// The delimiter, if not to be detected. Its text is one character, or `tab` or `space`.
    #[serde(skip_serializing_if = "Option::is_none", with = "delimiter_text")]
    pub delimiter: Option<u8>,
    /// The treatment of missing cells.
    #[serde(skip_serializing_if = "is_default")]
    pub missing: Missing,
    /// Which words mean a missing cell, in every column; an empty cell always does. If not given, the usual words do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub na: Option<Vec<String>>,
    /// The sheet of a workbook, by name or number from 1; the first if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// Leave out columns that do not generalise to new rows: identifiers, and columns that are always the same.
    #[serde(skip_serializing_if = "is_default")]
    pub auto: bool,
}

/// The kind of a column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnAs {
    /// Words: one feature for each.
    Words,
    /// Texts: one feature for each term.
    Text,
    /// Numbers, in the style that the cells have.
    Number,
    /// Numbers such as `1,234.5`.
    DecimalPoint,
    /// Numbers such as `1.234,5`.
    DecimalComma,
    /// Dates, in the order that the cells have, or times of day.
    Date,
    /// Dates such as `31/01/2024`.
    DayFirst,
    /// Dates such as `01/31/2024`.
    MonthFirst,
}

impl ColumnAs {
    /// Every kind, in the order of the documentation.
    pub const ALL: [ColumnAs; 8] = [
        ColumnAs::Words,
        ColumnAs::Text,
        ColumnAs::Number,
        ColumnAs::DecimalPoint,
        ColumnAs::DecimalComma,
        ColumnAs::Date,
        ColumnAs::DayFirst,
        ColumnAs::MonthFirst,
    ];

    /// The name in specifications and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ColumnAs::Words => "words",
            ColumnAs::Text => "text",
            ColumnAs::Number => "number",
            ColumnAs::DecimalPoint => "decimal-point",
            ColumnAs::DecimalComma => "decimal-comma",
            ColumnAs::Date => "date",
            ColumnAs::DayFirst => "day-first",
            ColumnAs::MonthFirst => "month-first",
        }
    }

    /// The column and its kind that a text such as `price=words` names.
    pub fn parse(text: &str) -> Result<(String, Self), String> {
        let kinds = || Self::ALL.map(Self::name).join(", ");
        let Some((column, kind)) = text.rsplit_once('=').filter(|(column, _)| !column.is_empty()) else {
            return Err(format!("expected COLUMN=KIND, where KIND is one of {}", kinds()));
        };
        match Self::ALL.into_iter().find(|known| known.name() == kind) {
            Some(known) => Ok((column.to_string(), known)),
            None => Err(format!("unknown kind of column \"{kind}\": the kinds are {}", kinds())),
        }
    }
}

/// How pictures become features.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PictureOptions {
    /// The size that all are brought to; that of the first picture if not given, or 128x128 if that is larger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<PictureSize>,
    /// Whether red, green and blue are features, and not one level of grey.
    #[serde(skip_serializing_if = "is_default")]
    pub colour: bool,
}

/// The size of a picture in pixels. Its text is `WIDTHxHEIGHT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PictureSize {
    /// Pixels in a row.
    pub width: u32,
    /// Rows of pixels.
    pub height: u32,
}

impl std::str::FromStr for PictureSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let side = |text: &str| text.parse().ok().filter(|side| (1..=65_536).contains(side));
        let sides = text.split_once(['x', 'X', '×']);
        sides
            .and_then(|(width, height)| Some(Self { width: side(width)?, height: side(height)? }))
            .ok_or_else(|| "expected a width and a height in pixels, such as 128x128".to_string())
    }
}

impl TryFrom<String> for PictureSize {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<PictureSize> for String {
    fn from(PictureSize { width, height }: PictureSize) -> String {
        format!("{width}x{height}")
    }
}

/// Options of LIBSVM text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LibsvmOptions {
    /// 0 or 1, the index of the first feature, if not to be detected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_base: Option<u32>,
}

/// Options of NumPy arrays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ArrayOptions {
    /// The file that holds the labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels_file: Option<PathBuf>,
}

/// Whether a field of a specification need not be written down.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The delimiter that a text denotes: one character, or `tab` or `space`.
pub fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        "space" => Ok(b' '),
        _ => match text.as_bytes() {
            [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(*byte),
            _ => Err("expected one character (not a quote), tab or space".to_string()),
        },
    }
}

/// A delimiter as text, for specifications.
mod delimiter_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(delimiter: &Option<u8>, serializer: S) -> Result<S::Ok, S::Error> {
        match delimiter {
            Some(b'\t') => serializer.serialize_str("tab"),
            Some(b' ') => serializer.serialize_str("space"),
            Some(byte) => serializer.serialize_char(char::from(*byte)),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
        let text: Option<String> = Option::deserialize(deserializer)?;
        let parse = |text: String| {
            super::parse_delimiter(&text).map_err(|problem| {
                D::Error::custom(format!("the delimiter \"{text}\" cannot be used: {problem}"))
            })
        };
        text.map(parse).transpose()
    }
}

impl ReadOptions {
    /// The most features that are accepted unless more are asked for: 128 MB of weights for each vector of a learner.
    pub const MAX_FEATURES: u32 = 1 << 24;
    /// The most classes that are accepted unless more are asked for. What has more is a measurement or a name.
    pub const MAX_CLASSES: u32 = 1 << 16;
    /// The longest line of text that is accepted unless a longer one is asked for.
    pub const MAX_LINE: u64 = 256_000_000;
    /// The least that a line may be limited to. Shorter lines fit into a chunk, where nobody measures them.
    pub const MIN_LINE_LIMIT: u64 = 1_000_000;

    /// The largest file of a folder that is accepted unless a larger one is asked for.
    pub const MAX_FILE: u64 = 64_000_000;

    /// The most features that rows may have: those of the model that they are read for are never too many.
    pub(crate) fn feature_limit(&self) -> u32 {
        let of_model =
            self.schema.as_ref().map_or(0, |schema| schema.features().try_into().unwrap_or(u32::MAX));
        self.max_features.unwrap_or(Self::MAX_FEATURES.max(of_model))
    }

    pub(crate) fn class_limit(&self) -> usize {
        self.max_classes.unwrap_or(Self::MAX_CLASSES) as usize
    }

    /// The longest line accepted, in bytes: as asked for, but not more than memory allows.
    pub(crate) fn line_limit(&self) -> usize {
        let limit = self.max_line.unwrap_or(Self::MAX_LINE);
        let limit = limit.min(self.line_limit_of_memory().unwrap_or(u64::MAX));
        usize::try_from(limit).unwrap_or(usize::MAX)
    }

    /// The longest line for which the memory that the job may use is enough: several are held at once, as text and as numbers.
    fn line_limit_of_memory(&self) -> Option<u64> {
        const LINES_AT_ONCE: u64 = 16;
        self.memory.map(|memory| (memory / LINES_AT_ONCE).max(Self::MIN_LINE_LIMIT))
    }

    /// How many chunks of a table with so many columns may be parsed at once: a quarter of the memory that the job may use is for
    /// them.
    pub(super) fn chunks_at_once(&self, columns: usize) -> usize {
        /// What a chunk of few rows holds for each column: cells, counts, and words that are new.
        const COLUMN_BYTES: u64 = 640;
        let chunks = self.memory.map(|memory| memory / 4 / (columns as u64 * COLUMN_BYTES).max(1));
        chunks.map_or(usize::MAX, |chunks| usize::try_from(chunks).unwrap_or(usize::MAX))
    }

    /// The same error; where it is about a line that is too long for the memory, it says so.
    pub(super) fn explained(&self, error: ReadError) -> ReadError {
        use ReadErrorKind::{LateStart, LineForMemory, LongLine};
        match (&error.kind, self.memory, self.line_limit_of_memory()) {
            (&(LongLine { limit } | LateStart { bytes: limit }), Some(memory), Some(limit_of_memory))
                if limit == limit_of_memory =>
            {
                let problem = error.kind.to_string();
                ReadError { kind: LineForMemory { problem, memory }, ..error }
            }
            _ => error,
        }
    }

    /// Only the limits, for a file in which all else is settled.
    pub(crate) fn limits(&self) -> Self {
        let Self { max_features, max_classes, max_line, max_file, memory, .. } = *self;
        Self { max_features, max_classes, max_line, max_file, memory, ..Self::default() }
    }

    /// The options given that have a meaning for some formats only, by their names in messages.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let CsvOptions { label, ignore, keep, columns, header, delimiter, missing, na, sheet, auto } =
            &self.csv;
        [
            ("label", label.is_some()),
            ("ignore", !ignore.is_empty()),
            ("keep", !keep.is_empty()),
            ("column", !columns.is_empty()),
            ("header", header.is_some()),
            ("delimiter", delimiter.is_some()),
            ("missing", !matches!(missing, Missing::NotSaid | Missing::Auto | Missing::Refuse)),
            ("na", na.is_some()),
            ("sheet", sheet.is_some()),
            ("auto", *auto),
            ("index_base", self.libsvm.index_base.is_some()),
            ("labels", self.array.labels_file.is_some()),
            ("size", self.pictures.size.is_some()),
            ("colour", self.pictures.colour),
            ("text", !self.text.columns.is_empty()),
            ("text_options", self.text.says_how()),
        ]
        .into_iter()
        .filter_map(|(option, given)| given.then_some(option))
    }

    /// Refuses an option that would have no effect on files of this format.
    pub(super) fn check(&self, format: Format) -> Result<(), SettingsError> {
        // A model of documents does not know which column of a table is the text.
        let is_known =
            |schema: &Schema| !schema.texts().any(|(_, text)| text.documents) || !format.is_table();
        let told = self.text.says_how()
            || !self.text.columns.is_empty() && self.schema.as_ref().is_some_and(is_known);
        if self.schema.is_some() && told {
            return Err(SettingsError::new(
                "text",
                "⟦text⟧ and its options do not apply here: the model stores how texts become features",
            ));
        }
        self.text.check()?;
        if self.max_line.is_some_and(|limit| limit < Self::MIN_LINE_LIMIT) {
            return Err(SettingsError::new("max_line", "⟦max_line⟧ is at least 1MB"));
        }
        if self.array.labels_file.is_some() && self.labels == Labels::Ignored {
            return Err(SettingsError::new("labels", "⟦labels⟧ does not apply here: labels are not used"));
        }
        let leaves_rows_out = self.skip_bad || self.csv.missing == Missing::DropRow;
        if self.array.labels_file.is_some() && format.is_text() && leaves_rows_out {
            return Err(SettingsError::new(
                "labels",
                "⟦labels⟧ has one label for each row; ⟦skip_bad⟧ and ⟦missing=drop-row⟧ leave rows out",
            ));
        }
        if self.array.labels_file.is_some() && self.csv.label.is_some() {
            return Err(SettingsError::new(
                "labels",
                "⟦labels⟧ names a file, ⟦label⟧ a column: one of them is enough",
            ));
        }
        if self.encoding.is_some() && !format.is_text() && !format.descriptor().options.contains(&"encoding")
        {
            let problem = format!("⟦encoding⟧ does not apply to {} files", format.title());
            return Err(SettingsError::new("encoding", problem));
        }
        match self.given().find(|option| !format.descriptor().options.contains(option)) {
            Some("text_options") => {
                let option = self.text.first_said().unwrap_or("text");
                let problem = format!("⟦{option}⟧ does not apply to {} files", format.title());
                Err(SettingsError::new(option, problem))
            }
            Some(option) => Err(SettingsError::new(
                option,
                format!("⟦{option}⟧ does not apply to {} files", format.title()),
            )),
            None => Ok(()),
        }
    }

    /// Refuses data that holds features already, where the model makes features of texts.
    pub(super) fn check_model(&self, format: Format) -> Result<(), ReadErrorKind> {
        let Some((column, text)) = self.schema.as_ref().and_then(|schema| schema.texts().next()) else {
            return Ok(());
        };
        use FormatColumns::{Array, Named, Numbered, Pixels};
        if !matches!(format.descriptor().columns, Array | Named | Numbered | Pixels) {
            return Ok(());
        }
        let expected = match text.documents {
            true => {
                "documents: give text files, mails or a folder of them, or a table with a column of texts"
                    .to_string()
            }
            false => format!("a table with the texts of column \"{column}\": give such a table"),
        };
        Err(ReadErrorKind::NotForModel(format!(
            "this is {} data, which holds features already, and the model was trained on {expected}",
            format.title()
        )))
    }

    /// The sentence for a model that knows its features by name and a file that has only numbers.
    pub(super) fn matching_remark(&self, format: Format) -> Option<String> {
        let Some(Schema::Table { .. }) = self.schema else { return None };
        format.descriptor().matched_by_number.map(|how| format!("The model was trained on a table: {how}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> ReadOptions {
        ReadOptions {
            format: Some(Format::TSV),
            skip_bad: true,
            max_features: Some(1000),
            max_classes: Some(100),
            max_line: Some(2_000_000),
            encoding: Some("latin1".into()),
            csv: CsvOptions {
                label: Some("kind".into()),
                ignore: vec!["id".into(), "3".into()],
                keep: vec!["name".into()],
                columns: [("zip".to_string(), ColumnAs::Words)].into(),
                header: Some(false),
                delimiter: Some(b'\t'),
                missing: Missing::DropRow,
                na: Some(vec!["-999".into()]),
                sheet: Some("Data".into()),
                auto: true,
            },
            libsvm: LibsvmOptions { index_base: Some(0) },
            array: ArrayOptions { labels_file: Some("labels.npy".into()) },
            ..ReadOptions::default()
        }
    }

    #[test]
    fn options_come_back_from_json_and_toml_without_their_defaults() {
        for options in [ReadOptions::default(), all()] {
            let json = serde_json::to_string(&options).unwrap();
            assert_eq!(serde_json::from_str::<ReadOptions>(&json).unwrap(), options);
            let toml = toml::to_string(&options).unwrap();
            assert_eq!(toml::from_str::<ReadOptions>(&toml).unwrap(), options);
        }
        assert_eq!(serde_json::to_string(&ReadOptions::default()).unwrap(), "{}");
        assert_eq!(
            serde_json::to_string(&all()).unwrap(),
            r#"{"format":"tsv","skip_bad":true,"max_features":1000,"max_classes":100,"max_line":2000000,"encoding":"latin1","csv":{"label":"kind","ignore":["id","3"],"keep":["name"],"columns":{"zip":"words"},"header":false,"delimiter":"tab","missing":"drop-row","na":["-999"],"sheet":"Data","auto":true},"libsvm":{"index_base":0},"array":{"labels_file":"labels.npy"}}"#
        );
    }

    #[test]
    fn unknown_fields_and_values_are_refused() {
        for (text, problem) in [
            ("{\"speed\": 1}", "unknown field `speed`"),
            ("{\"csv\": {\"lable\": \"x\"}}", "unknown field `lable`"),
            ("{\"schema\": null}", "unknown field `schema`"),
            ("{\"format\": \"xls\"}", "unknown format \"xls\": the formats are "),
            ("{\"csv\": {\"delimiter\": \"ab\"}}", "expected one character"),
            ("{\"csv\": {\"missing\": \"median\"}}", "unknown variant `median`"),
        ] {
            let error = serde_json::from_str::<ReadOptions>(text).unwrap_err().to_string();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }

    #[test]
    fn names_are_those_of_specifications() {
        for missing in Missing::ALL {
            assert_eq!(serde_json::to_value(missing).unwrap(), missing.name());
        }
        for kind in ColumnAs::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(ColumnAs::parse(&format!("a=b={}", kind.name())).unwrap(), ("a=b".to_string(), kind));
        }
        assert!(ColumnAs::parse("price").is_err() && ColumnAs::parse("price=money").is_err());
    }
}

//! The content of a certificate, and its text.

use crate::Dyadic;
use crate::json::{Reader, error, quoted};
use std::fmt;

/// Whether the boundary may miss the origin, and which margin is meant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bias {
    /// It goes through the origin.
    None,
    /// A coordinate with this constant, positive value is appended to every row, and its weight counts in the norm.
    Append(f64),
    /// A coordinate with the value 1 is appended to every row; its weight does not count in the norm.
    Free,
}

/// A vector by its non-zero entries, with increasing places.
pub type Sparse = Vec<(usize, Dyadic)>;

/// The data that a certificate is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The fingerprint of the data. It is for messages: no check depends on it.
    pub fingerprint: String,
    /// Rows of the data, those that belong to neither side included.
    pub rows: usize,
    /// Features of the data, the bias not included.
    pub features: usize,
    /// The classes that count as +1.
    pub positive: Vec<String>,
    /// The classes that count as −1.
    pub negative: Vec<String>,
}

/// The best margin lies between two floats.
#[derive(Clone, Debug, PartialEq)]
pub struct Margin {
    /// It is at least this.
    pub lower: f64,
    /// It is at most this.
    pub upper: f64,
    /// The combination of rows λ ≥ 0 that proves the upper end; for a free bias it gives both sides the same weight.
    pub combination: Sparse,
}

/// The verdict with what proves it. Places in `weights` and `kernel` are features, and for the bias the number of
/// features; places in `combination` are rows, counted from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// Some w has ⟨w, z⟩ > 0 for every row.
    Complete {
        /// w.
        weights: Sparse,
        /// What is proved of the margin.
        margin: Margin,
    },
    /// Some w has ⟨w, z⟩ ≥ 0 for every row and > 0 for some, but none has > 0 for all.
    QuasiComplete {
        /// w.
        weights: Sparse,
        /// λ ≥ 0, not zero, with Σ λ z = 0.
        combination: Sparse,
        /// Independent vectors, orthogonal to every row on the boundary, that show how much the rows of the combination span.
        kernel: Vec<Sparse>,
    },
    /// ⟨w, z⟩ ≥ 0 for every row only where it is 0 for every row.
    Overlap {
        /// λ ≥ 0 with Σ λ z = 0, whose rows span all rows.
        combination: Sparse,
        /// Independent vectors, orthogonal to every row, that show how much the rows of the combination span.
        kernel: Vec<Sparse>,
    },
}

/// A claim about a data set, with its proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// The data that it is about.
    pub subject: Subject,
    /// With which bias.
    pub bias: Bias,
    /// The claim.
    pub claim: Claim,
    /// What is claimed of the columns beside it.
    pub columns: Columns,
}

/// Claims about columns. Write K for all δ with ⟨δ, z⟩ ≥ 0 for every row. Places are features, and for the bias the number of
/// features. The default claims nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// Vectors of K that are zero at each aliased place.
    pub members: Vec<Sparse>,
    /// What is claimed of the coefficient at a place, with increasing places. Of a place that is not listed nothing is claimed.
    pub coefficients: Vec<(usize, Status)>,
    /// Sets of columns that separate the rows completely without the others.
    pub alone: Vec<Alone>,
    /// Sets of columns that do not.
    pub not_alone: Vec<NotAlone>,
    /// Every set of columns that separates completely has at least so many columns; 0 claims nothing.
    pub at_least: usize,
}

/// What is claimed of one coefficient δ_j over K, when the coefficients at aliased places are 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// The column is a linear combination of others that are not aliased: it is set aside.
    Aliased {
        /// ℓ with ⟨ℓ, z⟩ = 0 for every row and ℓ_j ≠ 0; j is the only aliased place where ℓ is not zero.
        relation: Sparse,
    },
    /// δ_j = 0 throughout. The proof is the verdict's: its combination and its kernel.
    Finite,
    /// δ_j has one sign and is not 0 throughout.
    Infinite {
        /// The sign is plus.
        positive: bool,
        /// Which of the members has the sign at j.
        member: usize,
        /// λ > 0 with Σ λ z = c·e_j at all places that are not aliased; c has the sign.
        combination: Sparse,
    },
    /// δ_j takes both signs.
    Open {
        /// Which of the members has δ_j > 0.
        positive: usize,
        /// Which of the members has δ_j < 0.
        negative: usize,
    },
}

/// A set of columns that separates completely, alone with the bias.
#[derive(Clone, Debug, PartialEq)]
pub struct Alone {
    /// The features of the set, increasing.
    pub columns: Vec<usize>,
    /// w with ⟨w, z⟩ > 0 for every row, zero at all places but these and that of the bias.
    pub weights: Sparse,
}

/// A set of columns that does not separate completely, alone with the bias.
#[derive(Clone, Debug, PartialEq)]
pub struct NotAlone {
    /// The features of the set, increasing.
    pub columns: Vec<usize>,
    /// λ > 0, not empty, with Σ λ z = 0 at the places of the set and of the bias.
    pub combination: Sparse,
}

/// Text that is no certificate: where, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Byte of the text, from 0.
    pub at: usize,
    /// What is wrong.
    pub reason: String,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "This is not a certificate: {} (byte {}).", self.reason, self.at)
    }
}

impl std::error::Error for ParseError {}

/// What the text says of its form.
const FORMAT: &str = "linsep certificate 1";

impl Bias {
    /// The name of the margin that goes with the bias.
    fn margin_kind(self) -> &'static str {
        match self {
            Self::None => "through-origin",
            Self::Append(_) => "appended-bias",
            Self::Free => "free-bias",
        }
    }
}

impl Certificate {
    /// Reads the text of a certificate. White space and the order of keys are free; apart from these, only what
    /// [`Certificate::to_json`] writes is read.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let keys = ["format", "data", "bias", "verdict", "weights", "margin", "combination", "kernel"];
        let (mut format, mut subject, mut bias, mut verdict) = (None, None, None, None);
        let (mut weights, mut margin, mut combination, mut kernel) = (None, None, None, None);
        let reader = &mut Reader::new(text);
        reader.object(&keys, |reader, key| {
            let at = reader.place();
            match key {
                "format" => format = Some(one_of(reader, &[FORMAT])?),
                "data" => subject = Some(read_subject(reader)?),
                "bias" => bias = Some(read_bias(reader)?),
                "verdict" => verdict = Some(one_of(reader, &["complete", "quasi-complete", "overlap"])?),
                "weights" => weights = Some(read_sparse(reader)?),
                "margin" => margin = Some((at, read_margin(reader)?)),
                "combination" => combination = Some(read_sparse(reader)?),
                _ => kernel = Some(reader.list(read_sparse)?),
            }
            Ok(())
        })?;
        reader.end()?;

        let end = text.len();
        let missing = |key: &'static str| move || missing(end, key);
        format.ok_or_else(missing("format"))?;
        let subject = subject.ok_or_else(missing("data"))?;
        let bias = bias.ok_or_else(missing("bias"))?;
        let verdict = verdict.ok_or_else(missing("verdict"))?;
        let claim = match verdict {
            "complete" => {
                let weights = weights.take().ok_or_else(missing("weights"))?;
                let (at, (kind, margin)) = margin.take().ok_or_else(missing("margin"))?;
                if kind != bias.margin_kind() {
                    return error(
                        at,
                        format!("with this bias the margin is of the kind {}", bias.margin_kind()),
                    );
                }
                Claim::Complete { weights, margin }
            }
            "quasi-complete" => Claim::QuasiComplete {
                weights: weights.take().ok_or_else(missing("weights"))?,
                combination: combination.take().ok_or_else(missing("combination"))?,
                kernel: kernel.take().ok_or_else(missing("kernel"))?,
            },
            _ => Claim::Overlap {
                combination: combination.take().ok_or_else(missing("combination"))?,
                kernel: kernel.take().ok_or_else(missing("kernel"))?,
            },
        };
        if weights.is_some() || margin.is_some() || combination.is_some() || kernel.is_some() {
            return error(end, format!("a key does not belong to the verdict {verdict}"));
        }
        Ok(Self { subject, bias, claim, columns: Columns::default() })
    }

    /// The canonical text: the same certificate always gives the same bytes.
    ///
    /// It reads back as the same certificate if that one is well formed: floats are finite, places increase, and no entry is
    /// zero or beyond what [`Dyadic`] reads.
    pub fn to_json(&self) -> String {
        self.to_string()
    }
}

/// The JSON text, written piece by piece: a long certificate need not be held as a text.
impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Subject { fingerprint, rows, features, positive, negative } = &self.subject;
        let fingerprint = quoted(fingerprint);
        write!(
            f,
            "{{\n  \"format\": \"{FORMAT}\",\n  \"data\": {{\n    \"fingerprint\": {fingerprint},\n    "
        )?;
        write!(f, "\"rows\": {rows},\n    \"features\": {features},\n    \"positive\": ")?;
        write_list(f, positive, |f, name| f.write_str(&quoted(name)))?;
        f.write_str(",\n    \"negative\": ")?;
        write_list(f, negative, |f, name| f.write_str(&quoted(name)))?;
        f.write_str("\n  },\n  \"bias\": ")?;
        match self.bias {
            Bias::None => f.write_str("\"none\"")?,
            Bias::Append(value) => write!(f, "{{\"append\": {}}}", float(value))?,
            Bias::Free => f.write_str("\"free\"")?,
        }
        match &self.claim {
            Claim::Complete { weights, margin } => {
                f.write_str(",\n  \"verdict\": \"complete\",\n  \"weights\": ")?;
                write_sparse(f, weights)?;
                let (kind, lower, upper) =
                    (self.bias.margin_kind(), float(margin.lower), float(margin.upper));
                write!(f, ",\n  \"margin\": {{\n    \"kind\": \"{kind}\",\n    \"lower\": {lower},\n    ")?;
                write!(f, "\"upper\": {upper},\n    \"combination\": ")?;
                write_sparse(f, &margin.combination)?;
                f.write_str("\n  }\n}\n")
            }
            Claim::QuasiComplete { weights, combination, kernel } => {
                f.write_str(",\n  \"verdict\": \"quasi-complete\",\n  \"weights\": ")?;
                write_sparse(f, weights)?;
                f.write_str(",\n  \"combination\": ")?;
                write_sparse(f, combination)?;
                f.write_str(",\n  \"kernel\": ")?;
                write_list(f, kernel, |f, vector| write_sparse(f, vector))?;
                f.write_str("\n}\n")
            }
            Claim::Overlap { combination, kernel } => {
                f.write_str(",\n  \"verdict\": \"overlap\",\n  \"combination\": ")?;
                write_sparse(f, combination)?;
                f.write_str(",\n  \"kernel\": ")?;
                write_list(f, kernel, |f, vector| write_sparse(f, vector))?;
                f.write_str("\n}\n")
            }
        }
    }
}

fn write_list<T>(
    f: &mut fmt::Formatter<'_>,
    entries: &[T],
    write: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_str("[")?;
    for (place, entry) in entries.iter().enumerate() {
        if place > 0 {
            f.write_str(", ")?;
        }
        write(f, entry)?;
    }
    f.write_str("]")
}

fn write_sparse(f: &mut fmt::Formatter<'_>, vector: &[(usize, Dyadic)]) -> fmt::Result {
    write_list(f, vector, |f, (place, number)| write!(f, "[{place}, \"{number}\"]"))
}

/// A float as a number's text. A float without a value gives text that is not read again.
fn float(value: f64) -> String {
    Dyadic::from_f64(value).map_or_else(|| "null".to_owned(), |number| format!("\"{number}\""))
}

fn missing(at: usize, key: &str) -> ParseError {
    ParseError { at, reason: format!("the key \"{key}\" is missing") }
}

fn one_of(reader: &mut Reader<'_>, known: &[&'static str]) -> Result<&'static str, ParseError> {
    let at = reader.place();
    let text = reader.string()?;
    match known.iter().find(|&&known| known == text) {
        Some(known) => Ok(known),
        None => error(at, format!("expected {}", known.join(" or "))),
    }
}

fn read_subject(reader: &mut Reader<'_>) -> Result<Subject, ParseError> {
    let (mut fingerprint, mut rows, mut features, mut positive, mut negative) =
        (None, None, None, None, None);
    reader.object(&["fingerprint", "rows", "features", "positive", "negative"], |reader, key| {
        match key {
            "fingerprint" => fingerprint = Some(reader.string()?),
            "rows" => rows = Some(reader.whole()?),
            "features" => features = Some(reader.whole()?),
            "positive" => positive = Some(reader.list(Reader::string)?),
            _ => negative = Some(reader.list(Reader::string)?),
        }
        Ok(())
    })?;
    let at = reader.place();
    Ok(Subject {
        fingerprint: fingerprint.ok_or_else(|| missing(at, "fingerprint"))?,
        rows: rows.ok_or_else(|| missing(at, "rows"))?,
        features: features.ok_or_else(|| missing(at, "features"))?,
        positive: positive.ok_or_else(|| missing(at, "positive"))?,
        negative: negative.ok_or_else(|| missing(at, "negative"))?,
    })
}

fn read_bias(reader: &mut Reader<'_>) -> Result<Bias, ParseError> {
    if reader.is_string() {
        return Ok(if one_of(reader, &["none", "free"])? == "none" { Bias::None } else { Bias::Free });
    }
    let (at, mut value) = (reader.place(), None);
    reader.object(&["append"], |reader, _| {
        value = Some(read_float(reader)?);
        Ok(())
    })?;
    match value {
        Some(value) if value > 0.0 => Ok(Bias::Append(value)),
        Some(_) => error(at, "the appended value must be positive"),
        None => Err(missing(at, "append")),
    }
}

fn read_margin(reader: &mut Reader<'_>) -> Result<(&'static str, Margin), ParseError> {
    let (mut kind, mut lower, mut upper, mut combination) = (None, None, None, None);
    reader.object(&["kind", "lower", "upper", "combination"], |reader, key| {
        match key {
            "kind" => kind = Some(one_of(reader, &["through-origin", "appended-bias", "free-bias"])?),
            "lower" => lower = Some(read_float(reader)?),
            "upper" => upper = Some(read_float(reader)?),
            _ => combination = Some(read_sparse(reader)?),
        }
        Ok(())
    })?;
    let at = reader.place();
    let margin = Margin {
        lower: lower.ok_or_else(|| missing(at, "lower"))?,
        upper: upper.ok_or_else(|| missing(at, "upper"))?,
        combination: combination.ok_or_else(|| missing(at, "combination"))?,
    };
    Ok((kind.ok_or_else(|| missing(at, "kind"))?, margin))
}

fn read_number(reader: &mut Reader<'_>) -> Result<Dyadic, ParseError> {
    let at = reader.place();
    match reader.string()?.parse() {
        Ok(number) => Ok(number),
        Err(()) => {
            error(at, "expected a number such as \"-0x1f3p-12\", in its shortest form and within the limits")
        }
    }
}

fn read_float(reader: &mut Reader<'_>) -> Result<f64, ParseError> {
    let at = reader.place();
    let number = read_number(reader)?;
    let value = number.approximate();
    if Dyadic::from_f64(value).as_ref() != Some(&number) {
        return error(at, "this number is not exactly a 64-bit float");
    }
    Ok(value)
}

fn read_sparse(reader: &mut Reader<'_>) -> Result<Sparse, ParseError> {
    let mut free = 0;
    reader.list(|reader| {
        let at = reader.place();
        let (place, number) = reader.pair(Reader::whole, read_number)?;
        if place < free || place == usize::MAX {
            return error(at, "places must increase");
        }
        if number.sign().is_eq() {
            return error(at, "a zero is written by leaving it out");
        }
        free = place + 1;
        Ok((place, number))
    })
}

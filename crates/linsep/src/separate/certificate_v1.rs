//! Certificates of version 1, which were JSON: read, and from then on like those of version 2.

use linsep_check::{Bias, Certificate, Claim, Columns, Dyadic, Margin, Sparse, Subject};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: Format,
    data: Data,
    bias: Option<BiasForm>,
    verdict: Verdict,
    weights: Option<Vector>,
    margin: Option<MarginForm>,
    combination: Option<Vector>,
    kernel: Option<Vec<Vector>>,
}

#[derive(Deserialize)]
enum Format {
    #[serde(rename = "linsep certificate 1")]
    One,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    fingerprint: String,
    rows: usize,
    features: usize,
    positive: Vec<String>,
    negative: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum BiasForm {
    None,
    Free,
    Append(Float),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    Complete,
    QuasiComplete,
    Overlap,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    ThroughOrigin,
    AppendedBias,
    FreeBias,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MarginForm {
    kind: Kind,
    lower: Float,
    upper: Float,
    combination: Vector,
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Number(Dyadic);

impl TryFrom<String> for Number {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        let reason = "expected a number such as \"-0x1f3p-12\", in its shortest form and within the limits";
        Dyadic::parse(&text).map(Self).ok_or(reason)
    }
}

#[derive(Deserialize)]
#[serde(try_from = "Number")]
struct Float(f64);

impl TryFrom<Number> for Float {
    type Error = &'static str;
    fn try_from(number: Number) -> Result<Self, Self::Error> {
        number.0.to_f64().map(Self).ok_or("this number is not exactly a 64-bit float")
    }
}

#[derive(Deserialize)]
struct Vector(Vec<(usize, Number)>);

impl From<Vector> for Sparse {
    fn from(vector: Vector) -> Self {
        vector.0.into_iter().map(|(place, number)| (place, number.0)).collect()
    }
}

/// Reads the text. An error has a line and a column, from 1, and a reason.
pub(super) fn parse(text: &str) -> Result<Certificate, (usize, usize, String)> {
    let document: Document =
        serde_json::from_str(text).map_err(|error| (error.line(), error.column(), without_place(&error)))?;
    certificate(document).map_err(|reason| (1, 1, reason.to_owned()))
}

/// The reason of an error, whose place is told apart.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(reason, _)| reason.to_owned())
}

fn certificate(document: Document) -> Result<Certificate, &'static str> {
    let Document { format: Format::One, data, bias, verdict, weights, margin, combination, kernel } =
        document;
    let (bias, kind) = match bias.ok_or("the key \"bias\" is missing")? {
        BiasForm::None => (Bias::None, Kind::ThroughOrigin),
        BiasForm::Append(Float(value)) if value > 0.0 => (Bias::Append(value), Kind::AppendedBias),
        BiasForm::Append(_) => return Err("the appended value must be positive"),
        BiasForm::Free => (Bias::Free, Kind::FreeBias),
    };
    let kernel = kernel.map(|vectors| vectors.into_iter().map(Sparse::from).collect());
    let claim = match (verdict, weights, margin, combination, kernel) {
        (Verdict::Complete, Some(weights), Some(margin), None, None) => {
            if margin.kind != kind {
                return Err("the margin is of another kind than the bias");
            }
            let (Float(lower), Float(upper)) = (margin.lower, margin.upper);
            let margin = Margin { lower, upper, combination: margin.combination.into() };
            Claim::Complete { weights: weights.into(), margin }
        }
        (Verdict::QuasiComplete, Some(weights), None, Some(combination), Some(kernel)) => {
            Claim::QuasiComplete { weights: weights.into(), combination: combination.into(), kernel }
        }
        (Verdict::Overlap, None, None, Some(combination), Some(kernel)) => {
            Claim::Overlap { combination: combination.into(), kernel }
        }
        _ => return Err("a key that belongs to the verdict is missing, or there is one that does not"),
    };
    let Data { fingerprint, rows, features, positive, negative } = data;
    let subject = Subject { fingerprint, rows, features, positive, negative };
    Ok(Certificate { subject, bias, claim, columns: Columns::default() })
}

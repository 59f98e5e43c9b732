//! The text of a certificate, as it is written: version 2, which `docs/certificate.md` describes.
//!
//! The checker reads this text and never writes it, so nothing here needs to be trusted.

use linsep_check::{Bias, Certificate, Claim, ColumnSet, Dyadic, Margin, Status, Subject};
use std::fmt::{self, Display, Formatter};

/// The text of a certificate: the same certificate always gives the same bytes.
///
/// It reads back as the same certificate if that one is well formed: floats are finite, and no number is beyond what [`Dyadic`] reads.
/// It is written piece by piece, so that a long certificate need not be held as a text.
#[derive(Clone, Copy, Debug)]
pub struct CertificateText<'a>(pub &'a Certificate);

impl Display for CertificateText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Certificate { subject, bias, claim, columns } = self.0;
        let Subject { fingerprint, rows, features, positive, negative } = subject;
        writeln!(f, "linsep certificate 2\nfingerprint {}", quoted(fingerprint))?;
        writeln!(f, "rows {rows}\nfeatures {features}")?;
        positive.iter().try_for_each(|name| writeln!(f, "positive {}", quoted(name)))?;
        negative.iter().try_for_each(|name| writeln!(f, "negative {}", quoted(name)))?;
        match bias {
            Bias::None => writeln!(f, "bias none")?,
            Bias::Append(value) => writeln!(f, "bias append {}", float(*value))?,
            Bias::Free => writeln!(f, "bias free")?,
        }
        match claim {
            Claim::Complete { weights, margin: Margin { lower, upper, combination } } => {
                writeln!(f, "verdict complete")?;
                line(f, "weights", &[], weights)?;
                writeln!(f, "lower {}\nupper {}", float(*lower), float(*upper))?;
                line(f, "combination", &[], combination)?;
            }
            Claim::QuasiComplete { weights, combination, kernel } => {
                writeln!(f, "verdict quasi-complete")?;
                line(f, "weights", &[], weights)?;
                line(f, "combination", &[], combination)?;
                kernel.iter().try_for_each(|vector| line(f, "kernel", &[], vector))?;
            }
            Claim::Overlap { combination, kernel } => {
                writeln!(f, "verdict overlap")?;
                line(f, "combination", &[], combination)?;
                kernel.iter().try_for_each(|vector| line(f, "kernel", &[], vector))?;
            }
        }
        columns.members.iter().try_for_each(|member| line(f, "member", &[], member))?;
        for &(place, ref status) in &columns.coefficients {
            match status {
                Status::Aliased { relation } => line(f, "aliased", &[place], relation)?,
                Status::Finite => line(f, "finite", &[place], &[])?,
                Status::Infinite { positive: true, member, combination } => {
                    line(f, "plus-infinite", &[place, *member], combination)?;
                }
                Status::Infinite { positive: false, member, combination } => {
                    line(f, "minus-infinite", &[place, *member], combination)?;
                }
                Status::Open { positive, negative } => line(f, "open", &[place, *positive, *negative], &[])?,
            }
        }
        for ColumnSet { columns, proof } in &columns.alone {
            line(f, "alone", columns, proof)?;
        }
        for ColumnSet { columns, proof } in &columns.not_alone {
            line(f, "not-alone", columns, proof)?;
        }
        writeln!(f, "at-least {}\nend", columns.at_least)
    }
}

/// A word, whole numbers, and the entries of a vector.
fn line(f: &mut Formatter<'_>, word: &str, numbers: &[usize], vector: &[(usize, Dyadic)]) -> fmt::Result {
    f.write_str(word)?;
    numbers.iter().try_for_each(|number| write!(f, " {number}"))?;
    vector.iter().try_for_each(|(place, number)| write!(f, " {place}:{}", hexadecimal(number)))?;
    f.write_str("\n")
}

/// The one text of a number, such as `-0x1f3p-12`.
pub fn hexadecimal(number: &Dyadic) -> impl Display {
    fmt::from_fn(move |f| {
        let (magnitude, exponent) = number.parts();
        let mut words = magnitude.iter().rev();
        let sign = if number.sign().is_lt() { "-" } else { "" };
        write!(f, "{sign}0x{:x}", words.next().unwrap_or(&0))?;
        words.try_for_each(|word| write!(f, "{word:016x}"))?;
        write!(f, "p{exponent}")
    })
}

/// A float as a number's text. A float without a value gives text that is not read again.
fn float(value: f64) -> String {
    Dyadic::from_f64(value).map_or_else(|| "none".to_owned(), |number| hexadecimal(&number).to_string())
}

/// A name in quotes, with `\b`, `\n` and `\r` for a backslash, a line feed and a carriage return.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\b").replace('\n', "\\n").replace('\r', "\\r"))
}

//! Can a boundary separate the classes, by what margin, and if not, which rows stand in the way? Decided exactly, with a
//! proof.
//!
//! [`separate()`] gives one of three verdicts, each with a certificate that the independent checker
//! ([`linsep_check`]) has accepted, or *undecided* when a limit of time or memory was reached. [`verify()`] checks a
//! certificate again, and [`find_removal()`] looks for few rows whose removal separates the rest.
//!
//! ```
//! use linsep::Dataset;
//! use linsep::separate::{SeparateSettings, Verdict, separate, verify};
//!
//! // Four flowers: petal length and width in centimetres.
//! let petals = [1.4, 0.2, 1.3, 0.2, 4.7, 1.4, 5.1, 1.9];
//! let data = Dataset::dense(2, &petals, &["setosa", "setosa", "other", "other"])?;
//! let separation = separate(&data, &SeparateSettings::default(), &mut ())?;
//! assert_eq!(separation.verdict, Verdict::Complete);
//!
//! // The margin is proved from both sides, and anyone who has the rows can check the proof.
//! let margin = separation.margin;
//! assert!(margin.lower.is_some_and(|lower| lower > 0.0 && lower <= margin.upper));
//! let certificate = separation.certificate.expect("every verdict has one");
//! assert!(verify(&data, &certificate).is_ok());
//!
//! // The same flower with both labels: no boundary tells them apart.
//! let same = Dataset::dense(2, &[1.4, 0.2, 1.4, 0.2], &["setosa", "other"])?;
//! let separation = separate(&same, &SeparateSettings::default(), &mut ())?;
//! assert_eq!(separation.verdict, Verdict::Overlap);
//! assert_eq!(separation.contradictions, [[0, 1]]);
//! # Ok::<(), linsep::Error>(())
//! ```

mod accelerate;
mod active_set;
mod agreements;
mod blame;
mod budget;
mod certificate_text;
mod cholesky;
mod columns;
mod contradictions;
mod coordinate_descent;
mod decide;
mod eliminate;
mod exact_point;
mod examples;
mod faces;
mod hinge;
mod independent;
mod integer;
mod margin_interval;
mod modular;
mod nearest;
mod number;
mod peel;
mod real;
mod separation;
pub(crate) mod settings;
#[cfg(test)]
mod testing;
mod verify;
mod wide;

pub use blame::{Removal, find_removal};
pub use certificate_text::{CertificateText, hexadecimal};
pub use columns::{CoefficientStatus, ColumnDetail, ColumnFindings};
pub(crate) use decide::decide;
pub use examples::Examples;
pub use linsep_check::{Accepted, Bias, Certificate, Claim, Columns, Rejected, Status};
pub use separation::{RowShare, Separation, Verdict};
pub use settings::SeparateSettings;
pub(crate) use verify::verify_watched;
pub use verify::{CertificateError, parse_certificate, sides, verify};

use crate::Error;
use crate::dataset::Dataset;
use crate::observe::Observer;

/// Decides whether a boundary separates the two classes, with a proof.
pub fn separate(
    data: &Dataset,
    settings: &SeparateSettings,
    observer: &mut dyn Observer,
) -> Result<Separation, Error> {
    settings.validate()?;
    let classes = settings.sides(data)?;
    let examples = Examples::new(data, &classes, settings.bias);
    decide(&examples, &classes, settings, observer)
}

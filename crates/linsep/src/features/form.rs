//! How the text of a cell becomes a number: as it stands, in a style of writing, or as a date.

use super::dates::{self, DateOrder};
use super::styled::Style;
use serde::{Deserialize, Serialize};

/// How the text of a cell becomes a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellForm {
    /// A decimal number with a point, as programs write it.
    #[default]
    Plain,
    /// A number as people write it: `12 %`, `$86,606`, `1.234,5`, `(12)`.
    Styled(Style),
    /// A date, with or without a time: the days since 1970, with the time as a fraction.
    Date(DateOrder),
    /// A time of day: the hours since midnight.
    Time,
}

impl CellForm {
    /// Whether it is the usual form, which need not be written down.
    pub(crate) fn is_plain(&self) -> bool {
        *self == CellForm::Plain
    }

    /// The number that a cell denotes, without the space around it; `None` if it has another form.
    pub(crate) fn parse(self, cell: &[u8]) -> Option<f64> {
        let text = std::str::from_utf8(cell).ok()?.trim();
        match self {
            CellForm::Plain => text.parse().ok(),
            CellForm::Styled(style) => style.parse(text),
            CellForm::Date(order) => dates::days(text, order),
            CellForm::Time => dates::hours(text),
        }
    }

    /// The date or time of day that a number denotes; `None` if it is just a number.
    pub(crate) fn date(self, value: f64) -> Option<String> {
        match self {
            CellForm::Plain | CellForm::Styled(_) => None,
            CellForm::Date(_) => dates::date_of(value),
            CellForm::Time => dates::time_of(value),
        }
    }
}

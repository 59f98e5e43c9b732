//! Which words in a cell mean that its value is missing.

use serde::{Deserialize, Serialize};

/// Which cells of a table count as missing, beside empty ones. Case does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingWords {
    /// The rule of models that were saved before the words depended on the column: `?`, `NA`, `N/A`, `NaN`, `null` and
    /// `none` everywhere, but `none` is a class.
    #[default]
    Early,
    /// `?`, `NA`, `N/A`, `#N/A`, `NaN` and `null` everywhere; in a column of numbers also `none`, `-`, `.` and the error
    /// values of spreadsheets, which may be words in a column of words.
    Usual,
    /// These words in every column, and no others.
    Listed(Vec<String>),
}

/// Words that mean a missing cell whatever the column holds.
const ANYWHERE: [&str; 7] = ["?", "na", "n/a", "#n/a", "nan", "<na>", "null"];

/// Words that mean a missing cell where the other cells are numbers.
const AMONG_NUMBERS: [&str; 11] =
    ["-", ".", "none", "nil", "--", "n.a.", "#null!", "#div/0!", "#value!", "#ref!", "#num!"];

/// The longest of these words. Most words of tables have more letters, so that they are not looked at further.
const LONGEST: usize = 7;
const LONGEST_ANYWHERE: usize = 4;

const EARLY: [&str; 6] = ["?", "na", "n/a", "nan", "null", "none"];

impl MissingWords {
    /// The rule for these words, or the usual one.
    pub fn listed(words: Option<&Vec<String>>) -> Self {
        match words {
            Some(words) => MissingWords::Listed(words.iter().map(|word| word.trim().to_string()).collect()),
            None => MissingWords::Usual,
        }
    }

    /// Whether a cell of a column of numbers is missing.
    #[inline]
    pub(crate) fn in_numbers(&self, cell: &[u8]) -> bool {
        // Most cells are numbers, which begin with a digit or a sign and a digit.
        if let [b'0'..=b'9', ..] | [b'-', b'0'..=b'9', ..] = cell
            && !matches!(self, MissingWords::Listed(_))
        {
            return false;
        }
        self.is_word_in_numbers(cell)
    }

    #[inline(never)]
    fn is_word_in_numbers(&self, cell: &[u8]) -> bool {
        let text = cell.trim_ascii();
        match self {
            _ if text.is_empty() => true,
            MissingWords::Usual => {
                text.len() <= LONGEST && (is_one_of(text, &ANYWHERE) || is_one_of(text, &AMONG_NUMBERS))
            }
            MissingWords::Early => text.len() <= 4 && is_one_of(text, &EARLY),
            MissingWords::Listed(words) => is_one_of(text, words),
        }
    }

    /// Whether a cell of a column of words is missing.
    pub(crate) fn in_words(&self, cell: &[u8]) -> bool {
        match self {
            MissingWords::Usual => {
                let text = cell.trim_ascii();
                match text.len() {
                    0 => true,
                    1..=LONGEST_ANYWHERE => is_one_of(text, &ANYWHERE),
                    _ => false,
                }
            }
            MissingWords::Early | MissingWords::Listed(_) => self.in_numbers(cell),
        }
    }

    /// Whether a label is not there.
    pub(crate) fn in_labels(&self, cell: &[u8]) -> bool {
        match self {
            // A class may be called "none".
            MissingWords::Early => self.in_words(cell) && !cell.trim_ascii().eq_ignore_ascii_case(b"none"),
            _ => self.in_words(cell),
        }
    }

    /// Whether one of the words is a number, so that a number may be missing.
    pub(crate) fn has_numbers(&self) -> bool {
        match self {
            MissingWords::Listed(words) => words.iter().any(|word| word.parse::<f64>().is_ok()),
            _ => false,
        }
    }
}

fn is_one_of(text: &[u8], words: &[impl AsRef<str>]) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word.as_ref().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_missing_where_the_column_says_so() {
        let usual = MissingWords::Usual;
        for word in ["", " ", "NA", "n/a", "#N/A", "NaN", "null", "?", " NULL ", "<NA>", "  <na>  "] {
            let cell = word.as_bytes();
            assert!(usual.in_numbers(cell) && usual.in_words(cell) && usual.in_labels(cell), "{word}");
        }
        for word in ["-", ".", "none", "None", "--", "n.a.", "#DIV/0!", " #REF! "] {
            let cell = word.as_bytes();
            assert!(usual.in_numbers(cell) && !usual.in_words(cell) && !usual.in_labels(cell), "{word}");
        }
        for word in ["nano", "0", "-1", "n a", "nullable", "...", "#N/A!"] {
            let cell = word.as_bytes();
            assert!(!usual.in_numbers(cell) && !usual.in_words(cell) && !usual.in_labels(cell), "{word}");
        }
    }

    #[test]
    fn a_list_replaces_the_usual_words_in_every_column() {
        let listed = MissingWords::listed(Some(&vec!["-999".into(), " Unknown ".into()]));
        for word in ["-999", "unknown", "", " "] {
            let cell = word.as_bytes();
            assert!(listed.in_numbers(cell) && listed.in_words(cell) && listed.in_labels(cell), "{word}");
        }
        assert!(!listed.in_numbers(b"NA") && !listed.in_words(b"none"));
        assert!(listed.has_numbers() && !MissingWords::Usual.has_numbers());
    }

    #[test]
    fn models_of_before_keep_their_rule() {
        let early = MissingWords::default();
        assert!(early.in_words(b"none") && early.in_words(b"NULL") && !early.in_labels(b"None"));
        assert!(!early.in_numbers(b"-") && !early.in_numbers(b"#N/A"));
    }
}

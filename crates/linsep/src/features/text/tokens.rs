//! Texts to terms: words or characters in lower case, and runs of them.
//!
//! A word is a run of two or more letters, digits and underscores of any script. That is what `CountVectorizer` and
//! `TfidfVectorizer` of scikit-learn take for words unless told otherwise (`(?u)\b\w\w+\b` on the text in lower case); their
//! n-grams of words and of characters are the same as well. A test compares them.

use super::options::{Ngrams, TermKind};
use unicode_general_category::{GeneralCategory, get_general_category};

/// Which terms a text is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// The unit of a term.
    pub kind: TermKind,
    /// How many words or characters are one term.
    pub ngrams: Ngrams,
}

/// Room for the text in lower case and for its words, kept from one text to the next.
#[derive(Clone, Debug, Default)]
pub struct TokenBuffer {
    lower: String,
    /// Where the words, or the characters, begin and end.
    spans: Vec<(usize, usize)>,
    term: String,
}

impl Analysis {
    /// Calls `found` with every term of the text, as often as it occurs.
    pub fn terms(self, text: &str, buffer: &mut TokenBuffer, mut found: impl FnMut(&str)) {
        let TokenBuffer { lower, spans, term } = buffer;
        lower.clear();
        spans.clear();
        match self.kind {
            TermKind::Words => {
                lower_case(text, lower);
                find_words(lower, spans);
            }
            TermKind::Characters => {
                // Runs of white space are one space.
                let mut cased = String::new();
                lower_case(text, &mut cased);
                join_spaces(&cased, lower);
                spans.extend(lower.char_indices().map(|(start, c)| (start, start + c.len_utf8())));
            }
        }
        let (least, most) = (self.ngrams.least as usize, self.ngrams.most as usize);
        for first in 0..spans.len() {
            for count in least..=most.min(spans.len() - first) {
                let own = &spans[first..first + count];
                // Characters stand beside each other; so does a single word.
                if self.kind == TermKind::Characters || count == 1 {
                    found(&lower[own[0].0..own[count - 1].1]);
                    continue;
                }
                term.clear();
                for &(start, end) in own {
                    if !term.is_empty() {
                        term.push(' ');
                    }
                    term.push_str(&lower[start..end]);
                }
                found(term);
            }
        }
    }
}

fn lower_case(text: &str, lower: &mut String) {
    if text.is_ascii() {
        lower.push_str(text);
        lower.make_ascii_lowercase();
    } else {
        lower.push_str(&text.to_lowercase());
    }
}

/// The runs of at least two characters of words.
fn find_words(text: &str, spans: &mut Vec<(usize, usize)>) {
    let bytes = text.as_bytes();
    let (mut at, mut start, mut length) = (0, 0, 0);
    while at < bytes.len() {
        let (is_word, width) = match bytes[at] {
            byte if byte < 0x80 => (byte.is_ascii_alphanumeric() || byte == b'_', 1),
            _ => match text[at..].chars().next() {
                Some(c) => (is_word_character(c), c.len_utf8()),
                None => break,
            },
        };
        if is_word {
            if length == 0 {
                start = at;
            }
            length += 1;
        } else {
            if length > 1 {
                spans.push((start, at));
            }
            length = 0;
        }
        at += width;
    }
    if length > 1 {
        spans.push((start, bytes.len()));
    }
}

/// Letters, digits and other numbers of any script, and the underscore. Accents that are characters of their own are not.
fn is_word_character(c: char) -> bool {
    use GeneralCategory::*;
    c == '_'
        || matches!(
            get_general_category(c),
            UppercaseLetter
                | LowercaseLetter
                | TitlecaseLetter
                | ModifierLetter
                | OtherLetter
                | DecimalNumber
                | LetterNumber
                | OtherNumber
        )
}

/// Two or more characters of white space become one space; one stays as it is.
fn join_spaces(text: &str, joined: &mut String) {
    // Separators of files, groups, records and units are white space too.
    let is_space = |c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c);
    let mut run: Option<(char, usize)> = None;
    let end = |run: &mut Option<(char, usize)>, joined: &mut String| match run.take() {
        Some((c, 1)) => joined.push(c),
        Some(_) => joined.push(' '),
        None => {}
    };
    for c in text.chars() {
        if is_space(c) {
            run = Some((c, run.map_or(1, |(_, count)| count + 1)));
        } else {
            end(&mut run, joined);
            joined.push(c);
        }
    }
    end(&mut run, joined);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn terms(kind: TermKind, least: u8, most: u8, text: &str) -> Vec<String> {
        let analysis = Analysis { kind, ngrams: Ngrams { least, most } };
        let mut found = Vec::new();
        analysis.terms(text, &mut TokenBuffer::default(), |term| found.push(term.to_string()));
        found
    }

    #[test]
    fn words_have_two_characters_and_lower_case() {
        let words = |text| terms(TermKind::Words, 1, 1, text);
        assert_eq!(words("I won a PRIZE, call 0800_x now!"), ["won", "prize", "call", "0800_x", "now"]);
        assert_eq!(words("Ärger über ΣΊΣΥΦΟΣ 東京 №5"), ["ärger", "über", "σίσυφος", "東京"]);
        // A combining accent parts a word, as it does for scikit-learn.
        assert_eq!(words("cafe\u{301} bar"), ["cafe", "bar"]);
        assert_eq!(words("½½ ²³ \u{1F600}\u{1F600} a b"), ["½½", "²³"]);
        assert!(words("").is_empty() && words("a . b").is_empty());
    }

    #[test]
    fn neighbours_make_longer_terms() {
        assert_eq!(terms(TermKind::Words, 1, 2, "you won, now"), ["you", "you won", "won", "won now", "now"]);
        assert_eq!(terms(TermKind::Words, 2, 3, "one"), Vec::<String>::new());
        assert_eq!(terms(TermKind::Characters, 2, 2, "aB \n c"), ["ab", "b ", " c"]);
        assert_eq!(terms(TermKind::Characters, 1, 1, "x\ny"), ["x", "\n", "y"]);
    }

    proptest! {
        /// The words are those that a plain walk over the characters finds, for any text.
        #[test]
        fn words_are_those_of_a_plain_walk(text in "\\PC*|[a-zA-Z_ .é°ǅẞİ\u{301}\u{1c}\n]*") {
            let lower = text.to_lowercase();
            let plain: Vec<&str> = lower
                .split(|c: char| !is_word_character(c))
                .filter(|word| word.chars().count() > 1)
                .collect();
            prop_assert_eq!(terms(TermKind::Words, 1, 1, &text), plain);
        }

        /// All runs of characters, of all lengths, are there.
        #[test]
        fn there_are_as_many_runs_as_places(text in "[ab c\n]{0,20}", least in 1u8..4, more in 0u8..3) {
            let found = terms(TermKind::Characters, least, least + more, &text);
            let mut joined = String::new();
            join_spaces(&text, &mut joined);
            let length = joined.chars().count() as i64;
            let places: i64 = (least..=least + more).map(|n| (length - i64::from(n) + 1).max(0)).sum();
            prop_assert_eq!(found.len() as i64, places);
        }
    }
}

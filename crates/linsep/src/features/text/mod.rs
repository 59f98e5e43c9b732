//! Texts: one feature for each term (a word, or a run of words or of characters).
//!
//! A reader counts terms ([`TextReader`]) and lists those it meets. Which of them become features, and what a count is
//! worth, is learned on the training rows ([`Text::learn`]); from then on a text is read as the model knows it. Terms that no
//! training row has are left out.

mod counting;
mod options;
mod term_table;
#[cfg(test)]
mod tests;
mod tokens;

pub(crate) use counting::{TextBlock, TextNumbers, TextReader};
pub use options::{Ngrams, TermKind, TermWeights, TextOptions};
pub(crate) use term_table::TermTable;
pub use tokens::{Analysis, TokenBuffer};

use super::{FeatureKind, Observed};
use crate::SettingsError;
use serde::{Deserialize, Serialize};

/// A column of texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Text {
    /// The unit of a term.
    pub kind: TermKind,
    /// How many neighbouring words or characters are one term.
    pub ngrams: Ngrams,
    /// The weighting of terms.
    pub weights: TermWeights,
    /// How terms are told apart.
    pub terms: Terms,
    /// Which features they are.
    pub features: TermFeatures,
    /// Whether each text is a file of its own, and no cell of a table.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub documents: bool,
}

/// How terms are told apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Terms {
    /// Those of the training rows.
    Vocabulary {
        /// The terms, in the order of their features.
        list: Vec<String>,
        /// The training rows that must have a term.
        min_count: u32,
        /// The most terms.
        most: u32,
    },
    /// Those that were named.
    Chosen(Vec<String>),
    /// By a hash of so many bits.
    Hashed(u8),
}

/// Which features the terms are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TermFeatures {
    /// As the reader numbered them: the values are counts, and nothing is learned yet.
    AsRead(Vec<u32>),
    /// One after the other, after the features of all columns that are no texts.
    Learned {
        /// The first.
        first: usize,
        /// Training rows, and how many of them have each term, where the weights need that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rows: Option<TermRows>,
    },
}

/// How many training rows have each term.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TermRows {
    /// Training rows.
    pub all: u64,
    /// Those that have the term.
    pub with: Vec<u32>,
}

/// What a search chooses about texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TextChoice {
    /// The unit of a term.
    pub terms: TermKind,
    /// How many neighbouring words or characters are one term: no more than were read.
    pub ngrams: Ngrams,
    /// The weighting of terms.
    pub weights: TermWeights,
}

impl Text {
    /// The column as a reader begins it. Terms that are listed or hashed have features from `first` on.
    pub(crate) fn begin(options: &TextOptions, first: usize) -> Result<Self, SettingsError> {
        options.check()?;
        let kind = options.terms.unwrap_or_default();
        let mut ngrams = options.ngrams.or(options.searched_ngrams).unwrap_or(kind.usual_ngrams());
        let mut weights = options.weights.unwrap_or_default();
        let terms = match options.hash_bits {
            Some(bits) => Terms::Hashed(bits),
            None if options.words.is_empty() => Terms::Vocabulary {
                list: Vec::new(),
                min_count: options.min_count.unwrap_or(TextOptions::MIN_COUNT),
                most: options.max_vocabulary.unwrap_or(TextOptions::MAX_VOCABULARY),
            },
            None => {
                let (list, longest) = chosen(&options.words)?;
                ngrams = Ngrams { least: 1, most: longest };
                // A few words are counted, as one would by hand.
                weights = options.weights.unwrap_or(TermWeights::Counts);
                Terms::Chosen(list)
            }
        };
        let count = terms.len();
        let features = TermFeatures::AsRead((0..count).map(|term| (first + term) as u32).collect());
        Ok(Self { kind, ngrams, weights, terms, features, documents: false })
    }

    /// Which terms a text is made of.
    pub fn analysis(&self) -> Analysis {
        Analysis { kind: self.kind, ngrams: self.ngrams }
    }

    /// Whether the values of rows are counts, from which nothing was learned yet.
    pub fn is_as_read(&self) -> bool {
        matches!(self.features, TermFeatures::AsRead(_))
    }

    /// The features of the terms, where they were learned.
    pub fn range(&self) -> std::ops::Range<usize> {
        match self.features {
            TermFeatures::Learned { first, .. } => first..first.saturating_add(self.terms.len()),
            TermFeatures::AsRead(_) => 0..0,
        }
    }

    /// The name of the feature of a term.
    ///
    /// `prefix` comes before it, where another column has features too.
    pub fn feature_name(&self, prefix: &str, term: usize) -> String {
        let term = match &self.terms {
            Terms::Vocabulary { list, .. } | Terms::Chosen(list) => {
                list.get(term).map_or(String::new(), |term| visible(term))
            }
            Terms::Hashed(_) => format!("#{term}"),
        };
        format!("{prefix}{term}")
    }

    /// Settles the features, from `first` on, without learning anything from rows: so they can be read once.
    pub(crate) fn settle_online(&mut self, first: usize) -> Result<(), SettingsError> {
        if self.weights == TermWeights::TfIdf || matches!(self.terms, Terms::Vocabulary { .. }) {
            let problem = "no vocabulary can be built when rows are read only once: hash the terms of texts \
                           (⟦hash_bits=18⟧) or list them (⟦words⟧), and choose ⟦text_weights=counts⟧ or binary";
            return Err(SettingsError::new("hash_bits", problem));
        }
        self.features = TermFeatures::Learned { first, rows: None };
        Ok(())
    }

    /// Learns from training rows which terms are features, and what they are worth. The first of the features is `first`.
    /// Gives, for each feature of the reader, the place of its term.
    pub(super) fn learn(&mut self, observed: &Observed, first: usize) -> Vec<(u32, u32)> {
        let TermFeatures::AsRead(numbers) = &mut self.features else { return Vec::new() };
        let numbers = std::mem::take(numbers);
        let with = |number: u32| observed.rows[number as usize];
        // The places of the terms that stay, in their new order.
        let mut kept: Vec<usize> = (0..numbers.len()).collect();
        if let Terms::Vocabulary { list, min_count, most } = &mut self.terms {
            let (least, longest) = (self.ngrams.least as usize, self.ngrams.most as usize);
            let is_long_enough = |term: &str| {
                let length = match self.kind {
                    TermKind::Words => term.split(' ').count(),
                    TermKind::Characters => term.chars().count(),
                };
                (least..=longest).contains(&length)
            };
            kept.retain(|&place| {
                with(numbers[place]) >= u64::from(*min_count) && is_long_enough(&list[place])
            });
            // In the order in which the training rows show them; those of one row by name, so that other rows have no say.
            let appearance = |place: usize| (observed.first[numbers[place] as usize], list[place].as_str());
            if kept.len() > *most as usize {
                kept.sort_unstable_by(|&a, &b| {
                    let rows = with(numbers[b]).cmp(&with(numbers[a]));
                    rows.then_with(|| appearance(a).cmp(&appearance(b)))
                });
                kept.truncate(*most as usize);
            }
            kept.sort_unstable_by(|&a, &b| appearance(a).cmp(&appearance(b)));
            *list = kept.iter().map(|&place| std::mem::take(&mut list[place])).collect();
        }
        let rows = (self.weights == TermWeights::TfIdf).then(|| TermRows {
            all: observed.len as u64,
            with: kept.iter().map(|&place| with(numbers[place]) as u32).collect(),
        });
        self.features = TermFeatures::Learned { first, rows };
        kept.iter().enumerate().map(|(place, &old)| (numbers[old], (first + place) as u32)).collect()
    }

    /// What turns counts into values.
    pub(crate) fn weighing(&self) -> Weighing {
        let TermFeatures::Learned { rows, .. } = &self.features else { return Weighing::default() };
        let idf = rows.as_ref().map(TermRows::idf).unwrap_or_default();
        Weighing { features: self.range(), weights: self.weights, idf }
    }
}

/// Characters that cannot be seen are shown.
fn visible(term: &str) -> String {
    term.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// The words that were named, as a text would have them, and how many words the longest of them is made of.
fn chosen(words: &[String]) -> Result<(Vec<String>, u8), SettingsError> {
    let (mut table, mut longest) = (TermTable::default(), 1);
    let single = Analysis { kind: TermKind::Words, ngrams: Ngrams { least: 1, most: 1 } };
    for named in words {
        let mut parts: Vec<String> = Vec::new();
        single.terms(named, &mut TokenBuffer::default(), |word| parts.push(word.to_string()));
        if parts.is_empty() || parts.len() > Ngrams::MAX as usize {
            let problem = format!(
                "⟦words⟧ names \"{named}\", which is no word: words have two or more letters or digits, and up to {} of \
                 them can be named together",
                Ngrams::MAX
            );
            return Err(SettingsError::new("words", problem));
        }
        longest = longest.max(parts.len() as u8);
        table.number(&parts.join(" "));
    }
    Ok((table.terms().map(str::to_string).collect(), longest))
}

impl Terms {
    /// How many terms there are.
    pub fn len(&self) -> usize {
        match self {
            Terms::Vocabulary { list, .. } | Terms::Chosen(list) => list.len(),
            Terms::Hashed(bits) => 1 << bits,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl TermRows {
    /// ln((1 + n) / (1 + m)) + 1 of each term.
    fn idf(&self) -> Vec<f64> {
        let idf = |&with: &u32| libm::log((1.0 + self.all as f64) / (1.0 + f64::from(with))) + 1.0;
        self.with.iter().map(idf).collect()
    }
}

impl FeatureKind for Text {
    fn features(&self) -> Vec<usize> {
        match &self.features {
            TermFeatures::AsRead(numbers) => numbers.iter().map(|&number| number as usize).collect(),
            TermFeatures::Learned { .. } => self.range().collect(),
        }
    }

    fn is_sound(&self) -> bool {
        let Ngrams { least, most } = self.ngrams;
        let sound = match &self.terms {
            Terms::Hashed(bits) => TextOptions::HASH_BITS.contains(bits),
            Terms::Vocabulary { .. } | Terms::Chosen(_) => true,
        };
        let fits = match &self.features {
            TermFeatures::AsRead(numbers) => numbers.len() == self.terms.len(),
            TermFeatures::Learned { rows: None, .. } => self.weights != TermWeights::TfIdf,
            TermFeatures::Learned { rows: Some(rows), first } => {
                rows.with.len() == self.terms.len()
                    && first.checked_add(self.terms.len()).is_some()
                    && rows.with.iter().all(|&with| u64::from(with) <= rows.all)
            }
        };
        1 <= least && least <= most && most <= Ngrams::MAX && sound && fits
    }

    fn has_terms(&self) -> bool {
        true
    }

    // What stays of a text is learned apart.
    fn relearn(&mut self, _: &Observed) {}

    fn renumber(&mut self, numbers: &[Option<u32>]) {
        let TermFeatures::AsRead(own) = &mut self.features else { return };
        for number in own {
            *number = numbers[*number as usize].unwrap_or(*number);
        }
    }
}

/// What turns the counts of terms into values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Weighing {
    /// The features of the terms.
    pub(crate) features: std::ops::Range<usize>,
    weights: TermWeights,
    idf: Vec<f64>,
}

impl Weighing {
    /// Weighs the counts of one text: features in increasing order, all of this column.
    pub(crate) fn weigh(&self, cells: &mut [(u32, f64)]) {
        match self.weights {
            TermWeights::Counts => {}
            TermWeights::Binary => cells.iter_mut().for_each(|(_, value)| *value = 1.0),
            TermWeights::TfIdf => {
                for (feature, value) in cells.iter_mut() {
                    *value *= self.idf[*feature as usize - self.features.start];
                }
                let squared: f64 = cells.iter().map(|(_, value)| value * value).sum();
                if squared > 0.0 {
                    let length = squared.sqrt();
                    cells.iter_mut().for_each(|(_, value)| *value /= length);
                }
            }
        }
    }
}

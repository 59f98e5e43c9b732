//! Counting the terms of texts, by many threads at once.
//!
//! Each thread counts the terms of some texts in a [`TextBlock`] with numbers of its own. Taken over in order, the block's
//! terms get the numbers of the whole, in the order of first appearance: how texts are dealt out to blocks never shows.

use super::term_table::{TermTable, bucket_of, term_hash};
use super::tokens::{Analysis, TokenBuffer};
use super::{TermFeatures, Terms, Text, Weighing};
use crate::numbers::{grouped, percent};
use hashbrown::{HashMap, HashSet};

/// Reads the texts of one column.
#[derive(Clone, Debug)]
pub(crate) struct TextReader {
    analysis: Analysis,
    how: How,
    /// Whether terms are kept that a model knows by their hash alone.
    keeps_hashed: bool,
}

#[derive(Clone, Debug)]
enum How {
    /// Every term counts.
    Open,
    /// Only these count; the first has feature `first`.
    Listed { terms: TermTable, first: u32 },
    /// A term counts for its bucket.
    Hashed { bits: u8, first: u32 },
    /// As a model knows them: only the listed terms count, and they are weighed.
    Weighed { terms: Option<TermTable>, bits: u8, weighing: Weighing },
}

/// The terms that some texts have, numbered from 0 in the order of first appearance, and room for counting.
#[derive(Debug, Default)]
pub(crate) struct TextBlock {
    /// The terms that have no feature yet.
    pub(crate) terms: TermTable,
    /// For each number, how often it occurs in the text at hand, and the numbers that occur.
    counts: Vec<u32>,
    met: Vec<u32>,
    buffer: TokenBuffer,
    /// The hashes of the terms, where buckets stand for them and they are still being learned.
    hashes: HashSet<u64>,
    /// The terms of the text at hand that a hash made features of, where they are kept: each once.
    pub(crate) hashed: Vec<(u32, String)>,
}

impl TextReader {
    /// The reader of a column: of a file whose columns are being learned, or of a model.
    pub(crate) fn new(text: &Text) -> Self {
        let how = match (&text.features, &text.terms) {
            (TermFeatures::AsRead(_), Terms::Vocabulary { .. }) => How::Open,
            (TermFeatures::AsRead(numbers), Terms::Chosen(list)) => How::Listed {
                terms: list.iter().map(String::as_str).collect(),
                first: numbers.first().copied().unwrap_or(0),
            },
            (TermFeatures::AsRead(numbers), Terms::Hashed(bits)) => {
                How::Hashed { bits: *bits, first: numbers.first().copied().unwrap_or(0) }
            }
            (TermFeatures::Learned { .. }, Terms::Hashed(bits)) => {
                How::Weighed { terms: None, bits: *bits, weighing: text.weighing() }
            }
            (TermFeatures::Learned { .. }, Terms::Vocabulary { list, .. } | Terms::Chosen(list)) => {
                let terms = Some(list.iter().map(String::as_str).collect());
                How::Weighed { terms, bits: 0, weighing: text.weighing() }
            }
        };
        Self { analysis: text.analysis(), how, keeps_hashed: false }
    }

    /// The same, which keeps the terms that a model knows by their hash alone.
    pub(crate) fn keeping_hashed(self, keeps_hashed: bool) -> Self {
        Self { keeps_hashed, ..self }
    }

    /// Whether features are numbered as terms appear, so that the numbers are those of the block.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.how, How::Open)
    }

    /// Adds the terms of a text to a row: with the number in the block if the column [is open](Self::is_open), else with
    /// the number of the feature. In increasing order.
    pub(crate) fn read(&self, text: &str, block: &mut TextBlock, row: &mut Vec<(u32, f64)>) {
        let TextBlock { terms: new, counts, met, buffer, hashes, hashed } = block;
        met.clear();
        hashed.clear();
        let mut add = |number: u32| {
            let place = number as usize;
            if counts.len() <= place {
                counts.resize(place + 1, 0);
            }
            if counts[place] == 0 {
                met.push(number);
            }
            counts[place] += 1;
        };
        let first = match &self.how {
            How::Open => {
                self.analysis.terms(text, buffer, |term| add(new.number(term)));
                0
            }
            How::Listed { terms, first } => {
                self.analysis.terms(text, buffer, |term| terms.find(term).into_iter().for_each(&mut add));
                *first
            }
            How::Hashed { bits, first } => {
                self.analysis.terms(text, buffer, |term| {
                    let hash = term_hash(term);
                    hashes.insert(hash);
                    add(bucket_of(hash, *bits));
                });
                *first
            }
            How::Weighed { terms: Some(terms), weighing, .. } => {
                self.analysis.terms(text, buffer, |term| terms.find(term).into_iter().for_each(&mut add));
                weighing.features.start as u32
            }
            How::Weighed { terms: None, bits, weighing } => {
                let first = weighing.features.start as u32;
                self.analysis.terms(text, buffer, |term| {
                    let bucket = bucket_of(term_hash(term), *bits);
                    add(bucket);
                    if self.keeps_hashed {
                        hashed.push((first + bucket, term.to_string()));
                    }
                });
                hashed.sort_unstable();
                hashed.dedup();
                first
            }
        };
        let start = row.len();
        // A block's own numbers are sorted after they have become features.
        met.sort_unstable();
        for &number in met.iter() {
            row.push((first + number, f64::from(std::mem::take(&mut counts[number as usize]))));
        }
        if let How::Weighed { weighing, .. } = &self.how {
            weighing.weigh(&mut row[start..]);
        }
    }
}

/// The features of the terms of one column, as blocks of texts are taken over in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextNumbers {
    terms: TermTable,
    features: Vec<u32>,
    /// The hashes of the terms that were met, where buckets stand for them; no more are kept than [`MAX_HASHES`].
    hashes: HashSet<u64>,
}

/// Terms that are counted to tell how many share a bucket.
const MAX_HASHES: usize = 1 << 24;

impl TextNumbers {
    /// The features of the terms of a block, by their numbers in it: new ones from `next` on.
    pub(crate) fn take(&mut self, block: &TextBlock, next: &mut u32) -> Vec<u32> {
        self.take_hashes(block);
        block.terms.terms().map(|term| self.feature(term, next)).collect()
    }

    /// Counts the terms of a block that buckets stand for.
    pub(crate) fn take_hashes(&mut self, block: &TextBlock) {
        if self.hashes.len() < MAX_HASHES {
            self.hashes.extend(&block.hashes);
        }
    }

    /// The feature of a term.
    pub(crate) fn feature(&mut self, term: &str, next: &mut u32) -> u32 {
        let number = self.terms.number(term) as usize;
        if number == self.features.len() {
            self.features.push(*next);
            *next = next.saturating_add(1);
        }
        self.features[number]
    }

    /// The column with the terms that were met.
    pub(crate) fn describe(&self, text: &Text) -> Text {
        let mut text = text.clone();
        if let (Terms::Vocabulary { list, .. }, TermFeatures::AsRead(numbers)) =
            (&mut text.terms, &mut text.features)
        {
            *list = self.terms.terms().map(str::to_string).collect();
            numbers.clone_from(&self.features);
        }
        text
    }

    /// How many terms share buckets, where buckets stand for terms.
    pub(crate) fn remark(&self, text: &Text) -> Option<String> {
        let Terms::Hashed(bits) = text.terms else { return None };
        if self.hashes.is_empty() {
            return None;
        }
        let mut buckets: HashMap<u32, u32> = HashMap::new();
        self.hashes.iter().for_each(|&hash| *buckets.entry(bucket_of(hash, bits)).or_default() += 1);
        let shared: u64 = buckets.values().filter(|&&terms| terms > 1).map(|&terms| u64::from(terms)).sum();
        let (terms, all) = (self.hashes.len() as u64, 1u64 << bits);
        let least = if self.hashes.len() >= MAX_HASHES { "at least " } else { "" };
        Some(format!(
            "{least}{} terms are hashed into {} buckets: {} of the terms ({}) share a bucket with another. \
             More bits (⟦hash_bits⟧) reduce the collisions.",
            grouped(terms),
            grouped(all),
            grouped(shared),
            percent(shared as f64 / terms as f64)
        ))
    }
}

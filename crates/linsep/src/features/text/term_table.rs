//! Terms and their numbers, in the order of first appearance.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Gives each term a number. The terms lie one after the other in one text.
#[derive(Clone, Debug, Default)]
pub(crate) struct TermTable {
    text: String,
    /// Where each term ends.
    ends: Vec<usize>,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl TermTable {
    /// Number of terms.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The term with this number.
    pub(crate) fn term(&self, number: u32) -> &str {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start..self.ends[number]]
    }

    /// The terms in the order of their numbers.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as u32).map(|number| self.term(number))
    }

    /// The number of a term, if it has one.
    pub(crate) fn find(&self, term: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(term);
        self.numbers.find(hash, |&number| self.term(number) == term).copied()
    }

    /// The number of a term: a new one if it has none.
    pub(crate) fn number(&mut self, term: &str) -> u32 {
        let hash = self.hasher.hash_one(term);
        let Self { text, ends, numbers, hasher } = self;
        let term_of = |number: u32| {
            let number = number as usize;
            let start = if number == 0 { 0 } else { ends[number - 1] };
            &text[start..ends[number]]
        };
        if let Some(&number) = numbers.find(hash, |&number| term_of(number) == term) {
            return number;
        }
        let number = ends.len() as u32;
        numbers.insert_unique(hash, number, |&number| hasher.hash_one(term_of(number)));
        text.push_str(term);
        ends.push(text.len());
        number
    }
}

impl<'a> FromIterator<&'a str> for TermTable {
    fn from_iter<I: IntoIterator<Item = &'a str>>(terms: I) -> Self {
        let mut table = Self::default();
        for term in terms {
            table.number(term);
        }
        table
    }
}

/// A hash of a term. The same for every machine and version: FNV-1a, mixed so that the upper bits depend on all of the term.
pub(crate) fn term_hash(term: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for &byte in term.as_bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// The bucket of a hash among 2^bits.
pub(crate) fn bucket_of(hash: u64, bits: u8) -> u32 {
    (hash >> (64 - u32::from(bits))) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn numbers_are_those_of_a_plain_map(terms in proptest::collection::vec("[ab]{0,4}|\\PC{0,3}", 0..200)) {
            let mut table = TermTable::default();
            let mut plain: HashMap<&str, u32> = HashMap::new();
            for term in &terms {
                let next = plain.len() as u32;
                let expected = *plain.entry(term).or_insert(next);
                prop_assert_eq!(table.number(term), expected);
                prop_assert_eq!(table.term(expected), term);
            }
            prop_assert_eq!(table.len(), plain.len());
            prop_assert_eq!(table.find("never met"), None);
            prop_assert!(table.terms().enumerate().all(|(number, term)| plain[term] == number as u32));
        }
    }

    #[test]
    fn buckets_are_pinned_and_spread() {
        assert_eq!(["", "loan", "prize", "東京"].map(|term| bucket_of(term_hash(term), 16)), PINNED);
        let mut hit = vec![0; 16];
        (0..16_000).for_each(|i| hit[bucket_of(term_hash(&i.to_string()), 4) as usize] += 1);
        assert!(hit.iter().all(|&count| (850..1150).contains(&count)), "{hit:?}");
    }

    /// As first computed: models depend on them.
    const PINNED: [u32; 4] = [62762, 39956, 28928, 59656];
}

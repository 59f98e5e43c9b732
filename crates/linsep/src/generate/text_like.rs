//! Sparse rows that look like text.

use crate::random::{Random, Stream};

/// How much the lengths of rows differ: the standard deviation of the logarithm.
const LENGTH_SPREAD: f64 = 0.5;

/// The share of words against the row's leaning that are drawn again. It keeps most rows well away from the
/// boundary, as topics do in real text, and makes the classes about equal.
const REDRAWN: f64 = 0.65;

/// Values are whole multiples of 10⁻⁵, the precision that text data sets are commonly written with.
pub(super) const STEPS: u32 = 100_000;

/// What all rows share. Nothing here has the size of the vocabulary: weights are computed when needed.
pub(super) struct Text {
    features: u32,
    per_row: f64,
    noise: f64,
    seed: u64,
    weight_seed: u64,
    /// ln(features + 1): ranks are log-uniform below it.
    log_end: f64,
    /// The most frequent words are in nearly every row and say nothing, as in real text.
    stop_words: u32,
    /// Coprime to `features`: rank · stride mod features scatters the frequent words over the columns, as an
    /// alphabetical vocabulary does.
    stride: u64,
}

impl Text {
    /// Expects checked settings.
    pub(super) fn new(features: u32, per_row: f64, noise: f64, seed: u64) -> Self {
        // The golden ratio spreads successive multiples most evenly.
        let golden = (f64::from(features) * 0.618_033_988_749_894_9) as u64;
        let stride = (golden.max(1)..).find(|&stride| coprime(stride, features.into())).unwrap_or(1);
        Self {
            features,
            per_row,
            noise,
            seed,
            weight_seed: Random::of(seed, Stream::MadeShared).next_u64(),
            log_end: libm::log(f64::from(features) + 1.0),
            stop_words: (features / 20).min(50),
            stride,
        }
    }

    /// The column of a word, from 1.
    fn column(&self, rank: u32) -> u32 {
        (u64::from(rank) * self.stride % u64::from(self.features)) as u32 + 1
    }

    /// The hidden weights of all columns.
    pub(super) fn weights(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.features as usize];
        for rank in 1..=self.features {
            weights[self.column(rank) as usize - 1] = self.weight(rank) as f64;
        }
        weights
    }

    /// The hidden weight of a word: zero for half of the words, otherwise ±1, ±2 or ±3.
    fn weight(&self, rank: u32) -> i64 {
        if rank <= self.stop_words {
            return 0;
        }
        let bits = Random::of(self.weight_seed, Stream::MadeWord(rank)).next_u64();
        // Of 12 equally likely outcomes six are zero.
        match ((u128::from(bits) * 12) >> 64) as i64 {
            outcome @ 0..3 => outcome - 3,
            outcome @ 3..6 => outcome - 2,
            _ => 0,
        }
    }

    /// How many different words the row of this generator has.
    fn length(&self, random: &mut Random) -> usize {
        let factor = libm::exp(LENGTH_SPREAD * random.normal() - 0.5 * LENGTH_SPREAD * LENGTH_SPREAD);
        // Rounding at random keeps the mean.
        let length = (self.per_row * factor + random.uniform()).floor();
        // The rarest words would take for ever to meet.
        let most = (f64::from(self.features) * 0.75).floor();
        length.clamp(1.0, most) as usize
    }

    /// Makes a row: columns from 1 in increasing order, with values in steps of 10⁻⁵. Tells whether its label is 1.
    pub(super) fn make(&self, number: u64, words: &mut Vec<(u32, u32)>, table: &mut Vec<u64>) -> bool {
        let mut random = Random::of(self.seed, Stream::MadeRow(number));
        let length = self.length(&mut random);
        let leaning = if random.next_u64() >> 63 == 1 { 1 } else { -1 };

        // Counts of words by open addressing: the word in the upper half, its count in the lower.
        let slots = (2 * length).next_power_of_two();
        table.clear();
        table.resize(slots, 0);
        let mut found = 0;
        while found < length {
            // Zipf's law: P(rank ≤ r) = ln(r + 1) / ln(features + 1).
            let rank = (libm::exp(random.uniform() * self.log_end) as u32).clamp(1, self.features);
            if self.weight(rank) * leaning < 0 && random.uniform() < REDRAWN {
                continue;
            }
            let mut slot = (rank.wrapping_mul(0x9e37_79b1) >> 7) as usize & (slots - 1);
            while table[slot] != 0 && (table[slot] >> 32) as u32 != rank {
                slot = (slot + 1) & (slots - 1);
            }
            if table[slot] == 0 {
                table[slot] = u64::from(rank) << 32;
                found += 1;
            }
            table[slot] += 1;
        }
        table.retain(|&entry| entry != 0);

        // A word of rank r is in about every r-th row, so that its inverse document frequency is ln r, up to a
        // constant.
        let tf_idf = |entry: u64| {
            let count = entry as u32;
            let often = if count == 1 { 1.0 } else { 1.0 + libm::log(f64::from(count)) };
            often * (1.0 + libm::log((entry >> 32) as f64))
        };
        words.clear();
        let mut squares = 0.0;
        for entry in table.iter_mut() {
            let value = tf_idf(*entry);
            squares += value * value;
            words.push(((*entry >> 32) as u32, 0));
            *entry = value.to_bits();
        }
        let scale = f64::from(STEPS) / f64::sqrt(squares);
        let mut score = 0;
        for ((word, steps), &value) in words.iter_mut().zip(table.iter()) {
            // No value is rounded to zero, so that a row has the words it has.
            *steps = ((f64::from_bits(value) * scale).round() as u32).max(1);
            score += self.weight(*word) * i64::from(*steps);
            *word = self.column(*word);
        }
        words.sort_unstable_by_key(|&(column, _)| column);
        (score >= 0) != (random.uniform() < self.noise)
    }
}

fn coprime(mut a: u64, mut b: u64) -> bool {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

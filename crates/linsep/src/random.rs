//! The seeded generator behind every shuffle, split and generated data set.
//!
//! The algorithm is pinned (xoshiro256++ of Blackman and Vigna, seeded through SplitMix64), so a seed means
//! the same numbers on every machine and in every later version. [`Stream`] lists everything that a seed is used for.

/// A small, fast generator with a fixed algorithm.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
}

/// The uses of a seed: each use has a stream of random numbers of its own, with the number given here.
///
/// A seed belongs to one kind of work: training with what surrounds it, separation, or making data. Streams of one kind
/// of work never share a number. The numbers are part of what a seed means, so they never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Training: the order of a pass over the rows, counted from 0. Number n.
    Pass(u64),
    /// Training: which block of rows goes to which shard. Number 2⁶⁴ − 1.
    Dealing,
    /// Which rows are held out. Number 2⁶⁴ − 2.
    Holdout,
    /// Nested subsets of the rows. Number 2⁶⁴ − 3.
    NestedRows,
    /// Nested subsets of the features. Number 2⁶⁴ − 4.
    NestedFeatures,
    /// The folds of cross-validation. Number 2⁶⁴ − 5.
    Folds,
    /// Training: the seed of a shard, counted from 1; shard 0 has the seed of the run. Number 2⁶⁴ − 2³² − n.
    Shard(u32),
    /// Training: the order inside a window of a pass, counted from 0, of the seed that the pass has drawn. Number n.
    Window(u64),
    /// Separation: the sample that a search for the nearest point begins with. Number 4.
    Sample,
    /// Separation: the order of coordinate descent. Number 5.
    Descent,
    /// Separation: the search for few rows to remove. Number 6.
    Blame,
    /// Making data: a row, counted from 0. Number n.
    MadeRow(u64),
    /// Making data: what all rows share. Number 2⁶⁴ − 1.
    MadeShared,
    /// Making data: the weight of a word, of the seed that [`MadeShared`](Self::MadeShared) has drawn. Number n.
    MadeWord(u32),
}

impl Stream {
    fn number(self) -> u64 {
        match self {
            Stream::Pass(number) | Stream::Window(number) | Stream::MadeRow(number) => number,
            Stream::MadeWord(rank) => rank.into(),
            Stream::Dealing | Stream::MadeShared => u64::MAX,
            Stream::Holdout => u64::MAX - 1,
            Stream::NestedRows => u64::MAX - 2,
            Stream::NestedFeatures => u64::MAX - 3,
            Stream::Folds => u64::MAX - 4,
            Stream::Shard(number) => u64::MAX - u64::from(u32::MAX) - u64::from(number),
            Stream::Sample => 4,
            Stream::Descent => 5,
            Stream::Blame => 6,
        }
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Random {
    /// The generator of `seed`.
    pub fn new(seed: u64) -> Self {
        Self::stream(seed, 0)
    }

    /// The generator of one use of `seed`: any can be reproduced without running those before it.
    pub fn of(seed: u64, stream: Stream) -> Self {
        Self::stream(seed, stream.number())
    }

    /// The generator of `seed` with this number. The library's own uses have names: see [`of`](Self::of).
    pub fn stream(seed: u64, stream: u64) -> Self {
        let mut state = seed;
        let mut mixed = split_mix(&mut state) ^ stream.wrapping_mul(0xd134_2543_de82_ef95);
        Self { state: std::array::from_fn(|_| split_mix(&mut mixed)) }
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A uniform number in [0, 1), a multiple of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (0.5f64).powi(53)
    }

    /// A uniform whole number below `bound` (Lemire's method, without bias).
    ///
    /// # Panics
    /// If `bound` is zero: there is no such number.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "no whole number is below zero");
        loop {
            let wide = u128::from(self.next_u64()) * u128::from(bound);
            if (wide as u64) >= bound.wrapping_neg() % bound {
                return (wide >> 64) as u64;
            }
        }
    }

    /// A standard normal number (Marsaglia's polar method, with a pinned logarithm).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                return u * (-2.0 * libm::log(s) / s).sqrt();
            }
        }
    }

    /// Shuffles in place (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_mix_matches_its_published_first_output() {
        assert_eq!(split_mix(&mut 0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn xoshiro_matches_its_published_first_outputs() {
        let mut random = Random { state: [1, 2, 3, 4] };
        let first: Vec<u64> = (0..4).map(|_| random.next_u64()).collect();
        assert_eq!(first, [41943041, 58720359, 3588806011781223, 3591011842654386]);
    }

    #[test]
    fn a_seed_is_pinned_for_ever() {
        let mut random = Random::new(0);
        let mut order: Vec<u32> = (0..8).collect();
        random.shuffle(&mut order);
        assert_eq!((order.as_slice(), random.next_u64()), (&PINNED.0[..], PINNED.1));
    }
    const PINNED: ([u32; 8], u64) = ([1, 0, 3, 2, 6, 7, 5, 4], 5908066791298089662);

    #[test]
    fn the_streams_of_a_seed_have_different_numbers() {
        let passes = (0..1000).chain([u64::from(u32::MAX), 1 << 62]).map(Stream::Pass);
        let shards = (1..2000).chain([u32::MAX]).map(Stream::Shard);
        let others =
            [Stream::Dealing, Stream::Holdout, Stream::NestedRows, Stream::NestedFeatures, Stream::Folds];
        let training: Vec<Stream> = passes.chain(shards).chain(others).collect();
        let separation = vec![Stream::Sample, Stream::Descent, Stream::Blame, Stream::Holdout, Stream::Folds];
        let made = (0..1000).chain([1 << 62]).map(Stream::MadeRow).chain([Stream::MadeShared]).collect();
        for streams in [training, separation, made] {
            let numbers: std::collections::HashSet<u64> =
                streams.iter().map(|stream| stream.number()).collect();
            assert_eq!(numbers.len(), streams.len());
        }
    }

    #[test]
    fn below_is_uniform_and_normal_has_unit_variance() {
        let mut random = Random::new(7);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[random.below(6) as usize] += 1;
        }
        assert!(counts.iter().all(|&c| (9_600..10_400).contains(&c)), "{counts:?}");
        let squares: f64 = (0..100_000).map(|_| random.normal().powi(2)).sum::<f64>() / 1e5;
        assert!((squares - 1.0).abs() < 0.02, "{squares}");
    }
}

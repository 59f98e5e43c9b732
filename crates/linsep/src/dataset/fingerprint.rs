//! The hash of a data set's content, however it is stored.

use super::{Dataset, Row};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Rows that are hashed together, so that several threads can work on one data set.
pub(super) const ROWS_PER_CHUNK: usize = 8192;

/// Bytes of a value that is not zero: its column and its bits.
const ENTRY: usize = 12;

/// Values of a row that are written one after the other without looking whether there is room.
const TOGETHER: usize = 1024;

/// Bytes that are hashed at once: a power of two, so that the hash can work on all of them side by side.
const HASHED: usize = 1 << 16;

/// The hash of some rows.
pub(super) struct ChunkHasher {
    hasher: blake3::Hasher,
    /// As long as what is hashed at once and what is then still written.
    bytes: Vec<u8>,
    written: usize,
}

impl Default for ChunkHasher {
    fn default() -> Self {
        let bytes = vec![0; HASHED + ENTRY * TOGETHER + 2 * size_of::<u32>()];
        Self { hasher: blake3::Hasher::new(), bytes, written: 0 }
    }
}

impl ChunkHasher {
    pub(super) fn row(&mut self, label: u32, row: Row<'_>) {
        self.mark(label);
        match row {
            Row::DenseF32(values) => self.entries(0.., values),
            Row::DenseF64(values) => self.entries(0.., values),
            Row::SparseF32(columns, values) => self.entries(columns.iter().copied(), values),
            Row::SparseF64(columns, values) => self.entries(columns.iter().copied(), values),
        }
        self.mark(u32::MAX);
    }

    /// The label before a row, or the end after it.
    fn mark(&mut self, mark: u32) {
        self.bytes[self.written..self.written + 4].copy_from_slice(&mark.to_le_bytes());
        self.written += 4;
        self.hash_what_is_enough();
    }

    /// The values of a row that are not zero.
    fn entries<T: Copy + Into<f64>>(&mut self, mut columns: impl Iterator<Item = u32>, values: &[T]) {
        for values in values.chunks(TOGETHER) {
            let mut end = self.written;
            for (&value, column) in values.iter().zip(&mut columns) {
                let value: f64 = value.into();
                let entry = &mut self.bytes[end..end + ENTRY];
                entry[..4].copy_from_slice(&column.to_le_bytes());
                entry[4..].copy_from_slice(&value.to_bits().to_le_bytes());
                // What follows a zero is written over it.
                end += if value == 0.0 { 0 } else { ENTRY };
            }
            self.written = end;
            self.hash_what_is_enough();
        }
    }

    fn hash_what_is_enough(&mut self) {
        if self.written >= HASHED {
            self.hasher.update(&self.bytes[..HASHED]);
            self.bytes.copy_within(HASHED..self.written, 0);
            self.written -= HASHED;
        }
    }

    pub(super) fn finish(&mut self) -> blake3::Hash {
        let hash = self.hasher.update(&self.bytes[..self.written]).finalize();
        self.hasher.reset();
        self.written = 0;
        hash
    }
}

/// The fingerprint of a data set while it is being computed: every thread that works on it takes the next rows.
pub(crate) struct Hashing<'a> {
    data: &'a Dataset,
    next: AtomicUsize,
    hashes: Vec<OnceLock<blake3::Hash>>,
}

impl<'a> Hashing<'a> {
    pub(super) fn new(data: &'a Dataset) -> Self {
        let hashes = vec![OnceLock::new(); data.len().div_ceil(ROWS_PER_CHUNK)];
        Self { data, next: AtomicUsize::new(0), hashes }
    }

    /// Hashes the next rows. False if others have taken the last ones.
    pub(crate) fn step(&self) -> bool {
        let chunk = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(place) = self.hashes.get(chunk) else { return false };
        let mut hasher = ChunkHasher::default();
        let start = chunk * ROWS_PER_CHUNK;
        for i in start..(start + ROWS_PER_CHUNK).min(self.data.len()) {
            hasher.row(self.data.labels()[i], self.data.row(i));
        }
        // No other thread has taken this place.
        let _ = place.set(hasher.finish());
        true
    }

    /// Hashes rows until others have taken the last ones, or until `stop` is set.
    pub(crate) fn work(&self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) && self.step() {}
    }

    /// The fingerprint, once all threads have come to an end; `None` if they were stopped. It stays with the data.
    pub(crate) fn result(&self) -> Option<&'a str> {
        let data = self.data;
        let hashes: Option<Vec<blake3::Hash>> = self.hashes.iter().map(|hash| hash.get().copied()).collect();
        let fingerprint = whole(data.len(), data.columns(), data.classes(), &hashes?, data.weights());
        Some(data.fingerprint.get_or_init(|| fingerprint))
    }
}

/// The fingerprint of a data set whose chunks have these hashes.
pub(super) fn whole(
    rows: usize,
    columns: usize,
    classes: &[String],
    chunks: &[blake3::Hash],
    weights: Option<&[f64]>,
) -> String {
    let mut whole = blake3::Hasher::new();
    whole.update(b"linsep data 1\n");
    for size in [rows, columns, classes.len()] {
        whole.update(&(size as u64).to_le_bytes());
    }
    for class in classes {
        whole.update(&(class.len() as u64).to_le_bytes());
        whole.update(class.as_bytes());
    }
    for hash in chunks {
        whole.update(hash.as_bytes());
    }
    if let Some(weights) = weights {
        whole.update(b"weights\n");
        weights.iter().for_each(|weight| {
            whole.update(&weight.to_bits().to_le_bytes());
        });
    }
    whole.finalize().to_hex().to_string()
}

/// The fingerprint of rows that come one by one.
#[derive(Default)]
pub(crate) struct FingerprintHasher {
    rows: usize,
    chunk: ChunkHasher,
    chunks: Vec<blake3::Hash>,
}

impl FingerprintHasher {
    pub(crate) fn row(&mut self, label: u32, row: Row<'_>) {
        self.chunk.row(label, row);
        self.rows += 1;
        if self.rows.is_multiple_of(ROWS_PER_CHUNK) {
            self.chunks.push(self.chunk.finish());
        }
    }

    pub(crate) fn finish(mut self, columns: usize, classes: &[String]) -> String {
        if !self.rows.is_multiple_of(ROWS_PER_CHUNK) {
            self.chunks.push(self.chunk.finish());
        }
        whole(self.rows, columns, classes, &self.chunks, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same bytes, one value after the other.
    fn plainly(rows: &[(u32, Vec<f64>)]) -> blake3::Hash {
        let mut bytes = Vec::new();
        for (label, values) in rows {
            bytes.extend(label.to_le_bytes());
            for (column, value) in values.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                bytes.extend((column as u32).to_le_bytes());
                bytes.extend(value.to_bits().to_le_bytes());
            }
            bytes.extend(u32::MAX.to_le_bytes());
        }
        blake3::hash(&bytes)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 60 }))]

        /// Rows of any length and layout, below and beyond what is written or hashed at once.
        #[test]
        fn the_hash_is_that_of_the_bytes_one_after_the_other(
            lengths in prop::collection::vec(prop_oneof![0usize..9, 1000usize..1060, 5000usize..7000], 1..12),
            zeros in 1usize..5,
        ) {
            let value = |i: usize, j: usize| if (i + j).is_multiple_of(zeros + 1) { 0.0 } else { (i * 7 + j) as f64 / 8.0 };
            let rows: Vec<(u32, Vec<f64>)> =
                lengths.iter().enumerate().map(|(i, &length)| (i as u32, (0..length).map(|j| value(i, j)).collect())).collect();
            let mut hashers: [ChunkHasher; 4] = std::array::from_fn(|_| ChunkHasher::default());
            for (label, values) in &rows {
                let narrow: Vec<f32> = values.iter().map(|&x| x as f32).collect();
                let kept = || values.iter().enumerate().filter(|(_, x)| **x != 0.0);
                let columns: Vec<u32> = kept().map(|(j, _)| j as u32).collect();
                let stored: Vec<f64> = kept().map(|(_, &x)| x).collect();
                let stored_narrow: Vec<f32> = stored.iter().map(|&x| x as f32).collect();
                hashers[0].row(*label, Row::DenseF64(values));
                hashers[1].row(*label, Row::DenseF32(&narrow));
                hashers[2].row(*label, Row::SparseF64(&columns, &stored));
                hashers[3].row(*label, Row::SparseF32(&columns, &stored_narrow));
            }
            for mut hasher in hashers {
                prop_assert_eq!(hasher.finish(), plainly(&rows));
                // It can be used again.
                prop_assert_eq!(hasher.finish(), blake3::hash(&[]));
            }
        }
    }

    #[test]
    fn threads_share_the_rows_of_one_fingerprint() {
        let rows = 5 * ROWS_PER_CHUNK / 2;
        let values: Vec<f64> = (0..rows).map(|i| (i % 97) as f64).collect();
        let labels: Vec<&str> = (0..rows).map(|i| ["a", "b"][i % 2]).collect();
        let data = Dataset::dense(1, &values, &labels).unwrap();
        let expected = data.clone().fingerprint().to_string();
        let hashing = Hashing::new(&data);
        assert_eq!(hashing.result(), None);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| hashing.work(&stop));
            }
        });
        assert!(!hashing.step());
        assert_eq!(hashing.result(), Some(expected.as_str()));
        assert_eq!(data.fingerprint(), expected);
    }
}

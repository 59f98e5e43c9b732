//! The hash of a data set's content, however it is stored.

use super::Row;

/// Rows that are hashed together, so that several threads can work on one data set.
pub(super) const ROWS_PER_CHUNK: usize = 8192;

/// The hash of some rows.
#[derive(Default)]
pub(super) struct ChunkHasher {
    hasher: blake3::Hasher,
    bytes: Vec<u8>,
}

impl ChunkHasher {
    pub(super) fn row(&mut self, label: u32, row: Row<'_>) {
        let bytes = &mut self.bytes;
        bytes.extend_from_slice(&label.to_le_bytes());
        for (column, value) in row.iter().filter(|&(_, value)| value != 0.0) {
            bytes.extend_from_slice(&(column as u32).to_le_bytes());
            bytes.extend_from_slice(&value.to_bits().to_le_bytes());
        }
        bytes.extend_from_slice(&u32::MAX.to_le_bytes());
        // Long rows would make a copy of the data otherwise.
        if bytes.len() >= 1 << 16 {
            self.hasher.update(bytes);
            bytes.clear();
        }
    }

    pub(super) fn finish(&mut self) -> blake3::Hash {
        let hash = self.hasher.update(&self.bytes).finalize();
        self.hasher.reset();
        self.bytes.clear();
        hash
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

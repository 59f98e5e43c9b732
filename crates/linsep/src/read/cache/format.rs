//! The description in a cache file: the head, the metadata and where each array lies.
//!
//! docs/formats.md describes the file byte by byte.

use super::origin::Origin;
use crate::classes::{class_name, sorted_order};
use crate::read::{Missing, ReadNotes, Schema, SkippedRow};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The first bytes of every cache: not text, and changed by any conversion of line ends, so that such damage shows.
pub(crate) const MAGIC: [u8; 8] = *b"\x89linsep\n";
/// The version of what this program writes; it reads this one and all before it.
pub(super) const VERSION: u32 = 1;
/// Arrays begin at multiples of this, the first of them right here: a cache line, and what every number needs.
pub(super) const ALIGNMENT: u64 = 64;
/// Bytes at the end: where the metadata lies, and the sum over head and metadata.
pub(super) const TAIL: usize = 48;
/// Longer metadata is not read: it has a name for each feature of a table, and little else.
const LONGEST_METADATA: u64 = 1 << 32;
/// Arrays are summed in pieces of so many bytes, so that several threads can do it.
pub(super) const PIECE: usize = 1 << 20;

/// The problem with a cache file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CacheFault {
    /// It does not begin as a cache does.
    #[error("this is not a linsep cache")]
    NotOne,
    /// Written by a later version.
    #[error("this cache has version {found}; this program reads versions up to {VERSION}")]
    Newer {
        /// The version of the file.
        found: u32,
    },
    /// Fewer or more bytes than the description says.
    #[error("the cache is cut short, or more was appended to it")]
    Length,
    /// The head or the metadata were changed.
    #[error("the cache is damaged: its description does not match its checksum")]
    DescriptionSum,
    /// Metadata that makes no sense.
    #[error("the cache is damaged: {0}")]
    Description(String),
    /// An array was changed.
    #[error("the cache is damaged: its {0} do not match their checksum")]
    Sum(&'static str),
    /// Rows that do not fit together.
    #[error("the cache is damaged: {0}")]
    Rows(String),
}

/// How the rows are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Layout {
    Dense,
    Sparse,
}

/// The type of the stored values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Width {
    F32,
    F64,
}

impl Width {
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Width::F32 => 4,
            Width::F64 => 8,
        }
    }
}

/// Everything about the rows but the rows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Metadata {
    /// The program that wrote the file.
    pub(crate) program: String,
    pub(crate) rows: u64,
    pub(crate) columns: u64,
    /// Stored values; of dense rows, all of them.
    pub(crate) stored: u64,
    pub(crate) layout: Layout,
    pub(crate) values: Width,
    /// In their order, see [`sorted_order`].
    pub(crate) classes: Vec<String>,
    pub(crate) schema: Schema,
    /// [`crate::Dataset::fingerprint`] of the rows.
    pub(crate) fingerprint: String,
    pub(crate) notes: Notes,
    /// What the rows were read from, and how; none if they did not come from a file.
    pub(crate) origin: Option<Origin>,
    pub(crate) arrays: Arrays,
    /// [`crate::Dataset::filled_cells`] of the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) filled: Option<Vec<(u32, u32)>>,
}

/// Notes made while reading when the source was read, for whoever reads the cache instead.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Notes {
    format: String,
    remarks: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    skipped: u64,
    first_skipped: Vec<(u64, String)>,
    dropped: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    missing: Vec<(String, u64)>,
}

impl From<ReadNotes> for Notes {
    fn from(notes: ReadNotes) -> Self {
        Self {
            format: notes.format,
            remarks: notes.remarks,
            warnings: notes.warnings,
            skipped: notes.skipped,
            first_skipped: notes.first_skipped.into_iter().map(|row| (row.line, row.reason)).collect(),
            dropped: notes.dropped,
            missing: notes.missing,
        }
    }
}

impl From<Notes> for ReadNotes {
    fn from(notes: Notes) -> Self {
        let skipped = |(line, reason)| SkippedRow { line, reason };
        Self {
            format: notes.format,
            remarks: notes.remarks,
            warnings: notes.warnings,
            skipped: notes.skipped,
            first_skipped: notes.first_skipped.into_iter().map(skipped).collect(),
            dropped: notes.dropped,
            missing: notes.missing,
        }
    }
}

/// Where the arrays lie.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Arrays {
    /// Of sparse rows: where each row starts among the values, and the end. u64.
    pub(crate) offsets: Option<Place>,
    /// Of sparse rows: the column of each value. u32.
    pub(crate) indices: Option<Place>,
    /// f32 or f64.
    pub(crate) values: Place,
    /// The class of each row. u32.
    pub(crate) labels: Place,
    /// The line of each row, unless that is just its number from 1. u64.
    pub(crate) lines: Option<Place>,
}

/// Where an array lies, and its checksum.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Place {
    /// The first byte.
    pub(crate) start: u64,
    /// See [`sum`].
    pub(crate) sum: String,
}

impl Metadata {
    /// Whether the file has no missing cells, so that it does not matter which of the usual ways they were treated in.
    fn has_no_gaps(&self) -> bool {
        self.origin.as_ref().is_some_and(Origin::has_usual_gaps)
            && self.filled.as_ref().is_none_or(Vec::is_empty)
            && self.notes.dropped == 0
            // A malformed row may be one with a missing cell.
            && self.notes.skipped == 0
            && !self.schema.has_missing_words()
    }

    /// Whether the rows are what would be read now.
    pub(super) fn is_up_to_date(&self, now: &Origin) -> bool {
        let same = |made: &Origin| made == now || (self.has_no_gaps() && made.is_same_without_gaps(now));
        self.origin.as_ref().is_some_and(same)
    }

    /// Treats cells that will be missing in rows to come in this way, if it is a usual one and none is missing here.
    pub(super) fn treat_missing(&mut self, missing: Missing) {
        if missing != Missing::NotSaid && missing.is_usual() && self.has_no_gaps() {
            self.schema.treat_missing_words(missing);
        }
    }

    /// The arrays with their names and their lengths in bytes, in the order of the file.
    pub(super) fn places(&self) -> impl Iterator<Item = (&'static str, &Place, u64)> {
        let Arrays { offsets, indices, values, labels, lines } = &self.arrays;
        let found = [
            ("row starts", offsets.as_ref(), (self.rows + 1) * 8),
            ("columns", indices.as_ref(), self.stored * 4),
            ("values", Some(values), self.stored * self.values.bytes()),
            ("labels", Some(labels), self.rows * 4),
            ("lines", lines.as_ref(), self.rows * 8),
        ];
        found.into_iter().filter_map(|(name, place, length)| Some((name, place?, length)))
    }

    /// Checks what can be checked without a look at the arrays, which end before byte `end`.
    fn check(&self, end: u64) -> Result<(), CacheFault> {
        let wrong = |what: &str| Err(CacheFault::Description(what.to_string()));
        let most = u64::from(u32::MAX);
        if self.rows == 0 || self.rows > most || self.columns > most || self.stored > 1 << 58 {
            return wrong("its size makes no sense");
        }
        let sparse = self.layout == Layout::Sparse;
        if self.arrays.offsets.is_some() != sparse || self.arrays.indices.is_some() != sparse {
            return wrong("its arrays do not fit its layout");
        }
        if !sparse && self.rows.checked_mul(self.columns) != Some(self.stored) {
            return wrong("its values do not make whole rows");
        }
        if let Some(what) = self.schema.fault(self.columns as usize) {
            return wrong(what);
        }
        let filled = self.filled.as_deref().unwrap_or_default();
        let inside =
            |&(row, column): &(u32, u32)| u64::from(row) < self.rows && u64::from(column) < self.columns;
        if !filled.iter().all(inside) || !filled.is_sorted() {
            return wrong("its filled cells are not cells of its rows, in order");
        }
        let proper = |name: &String| class_name(name).as_ref() == Some(name);
        let in_order = sorted_order(&self.classes).into_iter().eq(0..self.classes.len());
        let distinct = self.classes.windows(2).all(|pair| pair[0] != pair[1]);
        if self.classes.is_empty() || !self.classes.iter().all(proper) || !in_order || !distinct {
            return wrong("its classes are not those of a data set");
        }
        // One after the other, each as near to the one before as the alignment allows: nothing overlaps.
        let mut next = ALIGNMENT;
        for (name, place, length) in self.places() {
            if place.start != next || length > end.saturating_sub(next) {
                return wrong(&format!("its {name} do not lie where they should"));
            }
            next = aligned(next + length);
        }
        if next != end {
            return wrong("its arrays do not fill it");
        }
        Ok(())
    }
}

/// The next place for an array.
pub(super) fn aligned(position: u64) -> u64 {
    position.next_multiple_of(ALIGNMENT)
}

/// The first bytes of a file.
pub(super) fn head() -> [u8; ALIGNMENT as usize] {
    let mut head = [0; ALIGNMENT as usize];
    head[..8].copy_from_slice(&MAGIC);
    head[8..12].copy_from_slice(&VERSION.to_le_bytes());
    head
}

/// Metadata as text, and the bytes that follow it at the end of the file.
pub(super) fn describe(metadata: &Metadata, start: u64) -> serde_json::Result<(Vec<u8>, [u8; TAIL])> {
    let text = serde_json::to_vec(metadata)?;
    let mut tail = [0; TAIL];
    tail[..8].copy_from_slice(&start.to_le_bytes());
    tail[8..16].copy_from_slice(&(text.len() as u64).to_le_bytes());
    let sum = description_sum(&head(), &text, &tail);
    tail[16..].copy_from_slice(sum.as_bytes());
    Ok((text, tail))
}

fn description_sum(head: &[u8], text: &[u8], tail: &[u8]) -> blake3::Hash {
    blake3::Hasher::new().update(head).update(&tail[..16]).update(text).finalize()
}

/// Where the description of a file is, and the head and the tail around it.
struct Frame {
    head: Vec<u8>,
    version: u32,
    start: u64,
    size: u64,
    tail: Vec<u8>,
}

fn read_frame<E: From<CacheFault>>(
    length: u64,
    read: &mut impl FnMut(u64, usize) -> Result<Vec<u8>, E>,
) -> Result<Frame, E> {
    let head = read(0, length.min(ALIGNMENT) as usize)?;
    if !head.starts_with(&MAGIC) {
        return Err(CacheFault::NotOne.into());
    }
    if length < ALIGNMENT + TAIL as u64 {
        return Err(CacheFault::Length.into());
    }
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
    let version = number(&head[8..12]) as u32;
    if version > VERSION {
        return Err(CacheFault::Newer { found: version }.into());
    }
    let tail = read(length - TAIL as u64, TAIL)?;
    let (start, size) = (number(&tail[..8]), number(&tail[8..16]));
    let end = length - TAIL as u64;
    if start.checked_add(size) != Some(end) || size > LONGEST_METADATA {
        return Err(CacheFault::Length.into());
    }
    Ok(Frame { head, version, start, size, tail })
}

/// The length of the metadata of a file of `length` bytes, of which `read` gives any range.
pub(super) fn metadata_size<E: From<CacheFault>>(
    length: u64,
    mut read: impl FnMut(u64, usize) -> Result<Vec<u8>, E>,
) -> Result<u64, E> {
    read_frame(length, &mut read).map(|frame| frame.size)
}

/// Reads the metadata of a file of `length` bytes, of which `read` gives any range.
pub(super) fn read_metadata<E: From<CacheFault>>(
    length: u64,
    mut read: impl FnMut(u64, usize) -> Result<Vec<u8>, E>,
) -> Result<Metadata, E> {
    let Frame { head, version, start, size, tail } = read_frame(length, &mut read)?;
    let text = read(start, size as usize)?;
    // A damaged head cannot pass for another version: all of it is summed.
    if description_sum(&head, &text, &tail).as_bytes() != &tail[16..] {
        return Err(CacheFault::DescriptionSum.into());
    }
    let metadata: Metadata =
        serde_json::from_slice(&text).map_err(|error| CacheFault::Description(error.to_string()))?;
    if version == 0 || head[12..].iter().any(|&byte| byte != 0) {
        return Err(CacheFault::Description("its head makes no sense".to_string()).into());
    }
    metadata.check(start)?;
    Ok(metadata)
}

/// The checksum of an array: the hash of the hashes of its pieces.
pub(super) fn sum(bytes: &[u8]) -> String {
    let pieces: Vec<blake3::Hash> = bytes.par_chunks(PIECE).map(blake3::hash).collect();
    let mut whole = blake3::Hasher::new();
    pieces.iter().for_each(|piece| {
        whole.update(piece.as_bytes());
    });
    whole.finalize().to_hex().to_string()
}

/// The same for bytes that come little by little.
#[derive(Default)]
pub(super) struct Sum {
    pieces: blake3::Hasher,
    piece: blake3::Hasher,
    /// Bytes of the piece so far.
    filled: usize,
}

impl Sum {
    pub(super) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(PIECE - self.filled));
            self.piece.update(now);
            self.filled += now.len();
            if self.filled == PIECE {
                self.end_piece();
            }
            bytes = later;
        }
    }

    fn end_piece(&mut self) {
        self.pieces.update(self.piece.finalize().as_bytes());
        self.piece.reset();
        self.filled = 0;
    }

    pub(super) fn finish(mut self) -> String {
        if self.filled > 0 {
            self.end_piece();
        }
        self.pieces.finalize().to_hex().to_string()
    }
}

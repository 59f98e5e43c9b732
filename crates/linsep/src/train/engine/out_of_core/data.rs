//! A cache that is learned from within a limit of memory: its blocks of rows, how many of them fit into memory, and what a
//! look at all rows tells.

use crate::numbers;
use crate::observe::{Observer, Progress};
use crate::read::cache::{Part, PartReader, Sums};
use crate::read::{Missing, ReadError, ReadNotes, Schema};
use crate::theory::margin::Extent;
use crate::train::engine::order::{Blocks, Pass};
use crate::train::settings::Order;
use crate::{Error, SettingsError};
use rayon::prelude::*;
use std::ops::Range;
use std::path::Path;

/// Memory of the program itself: code, stacks, buffers of files.
const PROGRAM_BYTES: u64 = 12 << 20;

/// What a byte of the description of a cache takes when it is read: names are kept as columns, as words, as features and in what
/// finds them. Measured on tables of 40,000 to 200,000 columns: 14.8 with short names, less with long ones.
const DESCRIBED: u64 = 15;

/// A cache that is learned from within a limit of memory.
#[derive(Debug)]
pub struct OutOfCoreData {
    pub(super) reader: PartReader,
    memory: u64,
    /// Blocks by stored values, for reading the rows one after the other.
    stored: BlockTable,
    pub(super) longest_row: usize,
}

fn megabytes(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} bytes", numbers::grouped(bytes)),
        _ => format!("{} MB", numbers::grouped(bytes.div_ceil(1_000_000))),
    }
}

impl OutOfCoreData {
    /// Opens a cache. Its row starts are read, its rows are not.
    pub fn open(path: &Path, memory: u64) -> Result<Self, Error> {
        let reader = PartReader::open(path, |described| {
            let needed = DESCRIBED * described;
            // What the program has room for anyway is counted with all else.
            if needed <= memory.max(PROGRAM_BYTES) {
                return Ok(());
            }
            let problem = format!(
                "⟦memory⟧ {} is too little for so many columns and classes: their names alone need {}",
                megabytes(memory),
                megabytes(needed)
            );
            Err(SettingsError::new("memory", problem))
        })?;
        let blocks = Blocks::new(reader.rows(), reader.stored());
        let mut starts = vec![0];
        let mut longest = 0;
        reader.each_length(|row, length| {
            longest = longest.max(length);
            let so_far = starts[starts.len() - 1];
            if row == blocks.block(starts.len() - 1).start {
                starts.push(so_far);
            }
            if let Some(last) = starts.last_mut() {
                *last += length;
            }
        })?;
        let stored = BlockTable { blocks, starts };
        Ok(Self { reader, memory, stored, longest_row: longest as usize })
    }

    /// The same, with a schema that treats cells that will be missing in rows to come in this way.
    pub(crate) fn treating_missing(mut self, missing: Missing) -> Self {
        self.reader.treat_missing(missing);
        self
    }

    /// The class names, sorted.
    pub fn classes(&self) -> &[String] {
        self.reader.classes()
    }

    /// How the columns came about.
    pub fn schema(&self) -> &Schema {
        self.reader.schema()
    }

    /// Notes made while reading when the cache was made.
    pub fn notes(&self) -> ReadNotes {
        self.reader.notes()
    }

    /// The fingerprint of the rows.
    pub fn fingerprint(&self) -> &str {
        self.reader.fingerprint()
    }

    pub(super) fn rows(&self) -> usize {
        self.reader.rows()
    }

    /// The blocks by which rows are shuffled, where they are known before the rows have been read: sparse rows store no
    /// zeros, dense rows must be counted.
    pub(super) fn known_blocks(&self) -> Option<&BlockTable> {
        (!self.reader.is_dense()).then_some(&self.stored)
    }

    /// The blocks by which rows with so many values that are not zero are shuffled.
    pub(super) fn blocks(&self, nonzeros: u64) -> BlockTable {
        if let Some(known) = self.known_blocks() {
            return known.clone();
        }
        let blocks = Blocks::new(self.rows(), nonzeros as usize);
        let count = self.rows().div_ceil(blocks.size());
        let start =
            |block: usize| (blocks.block(block).start.min(self.rows()) * self.reader.columns()) as u64;
        BlockTable { starts: (0..=count).map(start).collect(), blocks }
    }

    /// How much is read at a time where rows are read one after the other, with the least that is possible if even that
    /// is above the limit.
    pub(super) fn reading_room(&self, vectors: u64) -> Room {
        self.room(&self.stored, Order::Given, vectors)
            .unwrap_or_else(|_| self.stored.room(&self.stored.sizes(), 1, 1))
    }

    /// How much is read at a time, or why the limit does not allow any.
    pub(super) fn room(&self, table: &BlockTable, order: Order, vectors: u64) -> Result<Room, SettingsError> {
        let (count, sizes) = (table.count(), table.sizes());
        let fixed = PROGRAM_BYTES
            .saturating_add(DESCRIBED * self.reader.described())
            .saturating_add(vectors.saturating_mul(8 * (self.reader.columns() as u64 + 1)))
            .saturating_add(16 * count as u64);
        let needs = |room: &Room| {
            let part = Part::bytes(&self.reader, room.rows as u64, room.values as u64);
            // Each window has a list of its rows.
            fixed.saturating_add(part.saturating_mul(room.parts)).saturating_add(8 * room.rows as u64)
        };
        let together = Pass::blocks_together().min(count);
        let least = if order == Order::Given { 1 } else { together };
        // Reading ahead is worth more than mixing less often; where all rows fit, there is nothing to read ahead.
        let parts = if together == count { 1..=1 } else { 1..=2 };
        let choices =
            parts.rev().flat_map(|parts| (least..=together).rev().map(move |blocks| (blocks, parts)));
        let mut rooms = choices.map(|(blocks, parts)| table.room(&sizes, blocks, parts));
        rooms.find(|room| needs(room) <= self.memory).ok_or_else(|| {
            let least = needs(&table.room(&sizes, least, 1));
            let given = match needs(&table.room(&sizes, 1, 1)) {
                less if less < least => format!(", or ⟦order=given⟧, which needs {}", megabytes(less)),
                _ => String::new(),
            };
            SettingsError::new(
                "memory",
                format!(
                    "⟦memory⟧ {} is too little for these rows: the weights and the rows that are mixed with one \
                     another need {}; give that much{given}",
                    megabytes(self.memory),
                    megabytes(least)
                ),
            )
        })
    }

    /// Looks at all rows once, and checks that they are those that were written.
    pub(super) fn measure(
        &self,
        bias_input: f64,
        part: &mut Part,
        room: &Room,
        observer: &mut dyn Observer,
    ) -> Result<Measured, Error> {
        let mut measured = Measured {
            extent: Extent::default(),
            nonzeros: 0,
            counts: vec![0; self.classes().len()],
            first: 0,
        };
        let mut sums = Sums::default();
        let total = self.rows() as u64;
        let whole = self.stored.each_part(&self.reader, part, room, |part, rows| {
            rayon::join(|| sums.update(part), || measured.include(part, bias_input, self.reader.is_dense()));
            if rows.start == 0 {
                measured.first = part.row(0).stored();
            }
            observer.progress(&Progress::Judging { rows: rows.end as u64, total }).is_continue()
        })?;
        if !whole {
            return Err(Error::Interrupted);
        }
        self.reader.check(sums)?;
        Ok(measured)
    }
}

/// Blocks of neighbouring rows, and where their values lie.
#[derive(Clone, Debug)]
pub(super) struct BlockTable {
    pub(super) blocks: Blocks,
    /// Where each block starts among the stored values, and the end.
    starts: Vec<u64>,
}

impl BlockTable {
    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    fn values(&self, block: usize) -> u64 {
        self.starts[block + 1] - self.starts[block]
    }

    /// The values of each block, the largest first.
    fn sizes(&self) -> Vec<u64> {
        let mut sizes: Vec<u64> = (0..self.count()).map(|block| self.values(block)).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes
    }

    /// Room for so many blocks of these sizes, whichever they are: any may come together in a shuffled pass, and the
    /// largest are the worst.
    fn room(&self, sizes: &[u64], blocks: usize, parts: u64) -> Room {
        Room {
            rows: (blocks * self.blocks.block(0).len()).min(self.blocks.rows()),
            values: sizes[..blocks].iter().sum::<u64>() as usize,
            parts,
        }
    }

    /// Consecutive blocks from `first` on that fit into the room: one at least.
    pub(super) fn neighbours(&self, first: usize, room: &Room) -> Vec<u32> {
        let (mut rows, mut values, mut end) = (0, 0, first);
        while end < self.count() && end - first < Pass::blocks_together() {
            rows += self.blocks.block(end).len();
            values += self.values(end) as usize;
            if end > first && (rows > room.rows || values > room.values) {
                break;
            }
            end += 1;
        }
        (first as u32..end as u32).collect()
    }

    /// The rows of these blocks, as few ranges as possible.
    pub(super) fn ranges(&self, blocks: &[u32]) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for block in blocks.iter().map(|&block| self.blocks.block(block as usize)) {
            match ranges.last_mut() {
                Some(last) if last.end == block.start => last.end = block.end,
                _ => ranges.push(block),
            }
        }
        ranges
    }

    /// Shows all rows to `see`, part by part in their order, until it returns false. Returns whether all were shown.
    pub(super) fn each_part(
        &self,
        reader: &PartReader,
        part: &mut Part,
        room: &Room,
        mut see: impl FnMut(&Part, Range<usize>) -> bool,
    ) -> Result<bool, ReadError> {
        let mut block = 0;
        while block < self.count() {
            let blocks = self.neighbours(block, room);
            let ranges = self.ranges(&blocks);
            reader.read(&ranges, part)?;
            block += blocks.len();
            if !see(part, ranges[0].clone()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// How much is in memory: rows and values of a part, and one part or two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) rows: usize,
    pub(super) values: usize,
    pub(super) parts: u64,
}

/// What all rows tell.
pub(super) struct Measured {
    pub(super) extent: Extent,
    pub(super) nonzeros: u64,
    /// Rows of each class.
    pub(super) counts: Vec<u64>,
    /// Values stored in the first row.
    pub(super) first: usize,
}

impl Measured {
    fn include(&mut self, part: &Part, bias_input: f64, dense: bool) {
        let found = (0..part.len())
            .into_par_iter()
            .with_min_len(1024)
            .fold(
                || (Extent::default(), 0),
                |(mut extent, mut nonzeros), i| {
                    let row = part.row(i);
                    extent.include(row, bias_input);
                    nonzeros +=
                        if dense { row.iter().filter(|&(_, x)| x != 0.0).count() } else { row.stored() };
                    (extent, nonzeros)
                },
            )
            .reduce(
                || (Extent::default(), 0),
                |(mut a, m), (b, n)| {
                    a.merge(&b);
                    (a, m + n)
                },
            );
        self.extent.merge(&found.0);
        self.nonzeros += found.1 as u64;
        (0..part.len()).for_each(|i| self.counts[part.label(i) as usize] += 1);
    }
}

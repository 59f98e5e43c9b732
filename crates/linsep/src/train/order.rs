//! The order in which a pass visits the rows.
//!
//! A shuffle of all rows would touch the memory, or the disk, at a new place for every row. So rows that stand together
//! stay nearly together: blocks of neighbouring rows come in a random order, and the rows of [`BLOCKS_MIXED`] blocks at a
//! time, a window, are mixed thoroughly. Data that fit into one window are shuffled as a whole. The order depends on the
//! seed, the pass and the shape of the data, never on where the rows are kept.

use super::settings::{Order, Settings};
use crate::dataset::Dataset;
use crate::random::Random;
use std::ops::Range;

/// Values of one block, on average.
const BLOCK_VALUES: usize = 1 << 15;
/// Blocks whose rows are mixed with one another.
const BLOCKS_MIXED: usize = 64;

/// How many rows there are, and how many stand together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blocks {
    rows: usize,
    block: usize,
}

impl Blocks {
    /// The blocks of rows that store so many values in all.
    pub(crate) fn new(rows: usize, stored: usize) -> Self {
        let per_block = BLOCK_VALUES as u128 * rows as u128 / stored.max(1) as u128;
        Self { rows, block: per_block.clamp(1, BLOCK_VALUES as u128) as usize }
    }

    pub(crate) fn of(data: &Dataset) -> Self {
        Self::new(data.len(), data.stored())
    }

    pub(crate) fn rows(self) -> usize {
        self.rows
    }

    /// The rows of a block.
    pub(crate) fn block(self, number: usize) -> Range<usize> {
        number * self.block..((number + 1) * self.block).min(self.rows)
    }

    /// The block that a row stands in.
    #[inline(always)]
    pub(crate) fn block_of(self, row: usize) -> usize {
        row / self.block
    }

    fn count(self) -> usize {
        self.rows.div_ceil(self.block)
    }
}

/// The order of one pass, window by window.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    blocks: Blocks,
    order: PassOrder,
}

#[derive(Clone, Debug)]
enum PassOrder {
    Given,
    /// One window that holds everything.
    Whole(Random),
    /// Blocks in their order, and the seed of what happens inside the windows.
    Windows {
        blocks: Vec<u32>,
        seed: u64,
    },
    /// Rows drawn with replacement.
    Drawn(Random),
}

/// Rows that are visited together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Position in the pass of the first.
    pub(crate) start: usize,
    pub(crate) rows: WindowRows,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WindowRows {
    /// Neighbours, in the given order.
    Range(Range<usize>),
    /// In this order.
    Listed(Vec<u32>),
}

impl Window {
    /// One past the last position.
    pub(crate) fn end(&self) -> usize {
        self.start
            + match &self.rows {
                WindowRows::Range(range) => range.len(),
                WindowRows::Listed(rows) => rows.len(),
            }
    }

    /// The row at a position of the pass.
    #[inline(always)]
    pub(crate) fn at(&self, position: usize) -> usize {
        match &self.rows {
            WindowRows::Range(range) => range.start + (position - self.start),
            WindowRows::Listed(rows) => rows[position - self.start] as usize,
        }
    }

    /// The row at a later position, where the memory cannot guess it.
    #[inline(always)]
    pub(crate) fn jump(&self, position: usize) -> Option<usize> {
        match &self.rows {
            WindowRows::Range(_) => None,
            WindowRows::Listed(rows) => rows.get(position - self.start).map(|&row| row as usize),
        }
    }
}

impl Pass {
    /// The order that the settings ask for.
    pub(crate) fn new(settings: &Settings, epoch: u64, blocks: Blocks) -> Self {
        let stream = match settings.order {
            Order::Given => return Self { blocks, order: PassOrder::Given },
            Order::ShuffleOnce => 0,
            Order::Shuffle => epoch,
        };
        let mut random = Random::stream(settings.seed, stream);
        if blocks.count() <= BLOCKS_MIXED {
            return Self { blocks, order: PassOrder::Whole(random) };
        }
        let mut numbers: Vec<u32> = (0..blocks.count() as u32).collect();
        random.shuffle(&mut numbers);
        Self { blocks, order: PassOrder::Windows { blocks: numbers, seed: random.next_u64() } }
    }

    /// The most blocks that a window holds.
    pub(crate) fn blocks_together() -> usize {
        BLOCKS_MIXED
    }

    /// As many draws as there are rows.
    pub(crate) fn drawn(seed: u64, epoch: u64, blocks: Blocks) -> Self {
        Self { blocks, order: PassOrder::Drawn(Random::stream(seed, epoch)) }
    }

    /// The blocks that hold the rows of the window at a position, in the order in which the window takes them: as many
    /// as are worth having in memory together.
    pub(crate) fn window_blocks(&self, position: usize) -> Vec<u32> {
        let all = 0..self.blocks.count() as u32;
        match &self.order {
            PassOrder::Given => {
                let first = position / self.blocks.block;
                all.skip(first).take(BLOCKS_MIXED).collect()
            }
            PassOrder::Whole(_) | PassOrder::Drawn(_) => all.collect(),
            PassOrder::Windows { blocks, .. } => {
                let (number, _) = self.place(blocks, position);
                blocks.chunks(BLOCKS_MIXED).nth(number).unwrap_or_default().to_vec()
            }
        }
    }

    /// The window with this position, which must be before the end.
    pub(crate) fn window(&self, position: usize) -> Window {
        let rows = self.blocks.rows;
        match &self.order {
            PassOrder::Given => Window { start: 0, rows: WindowRows::Range(0..rows) },
            PassOrder::Whole(random) => {
                let mut order: Vec<u32> = (0..rows as u32).collect();
                random.clone().shuffle(&mut order);
                Window { start: 0, rows: WindowRows::Listed(order) }
            }
            PassOrder::Windows { blocks, seed } => {
                let (number, start) = self.place(blocks, position);
                let mut order: Vec<u32> = self
                    .window_blocks(position)
                    .into_iter()
                    .flat_map(|block| self.blocks.block(block as usize))
                    .map(|row| row as u32)
                    .collect();
                Random::stream(*seed, number as u64).shuffle(&mut order);
                Window { start, rows: WindowRows::Listed(order) }
            }
            PassOrder::Drawn(random) => {
                let mut random = random.clone();
                let order = (0..rows).map(|_| random.below(rows as u64) as u32).collect();
                Window { start: 0, rows: WindowRows::Listed(order) }
            }
        }
    }

    /// The window that a position lies in: its number and where it starts.
    fn place(&self, blocks: &[u32], position: usize) -> (usize, usize) {
        let mut start = 0;
        for (number, window) in blocks.chunks(BLOCKS_MIXED).enumerate() {
            let rows: usize = window.iter().map(|&block| self.blocks.block(block as usize).len()).sum();
            if position < start + rows {
                return (number, start);
            }
            start += rows;
        }
        (blocks.len().div_ceil(BLOCKS_MIXED), start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn listed(pass: &Pass, rows: usize) -> Vec<usize> {
        let mut order = Vec::new();
        while order.len() < rows {
            let window = pass.window(order.len());
            assert_eq!(window.start, order.len());
            order.extend((window.start..window.end()).map(|position| window.at(position)));
        }
        order
    }

    proptest! {
        /// Every row once, whatever the shape; a window found from any of its positions is the same; it holds the rows
        /// of its blocks and no others.
        #[test]
        fn a_pass_visits_every_row_once(
            rows in 1usize..3000, per_row in 1usize..9000, seed: u64, epoch in 0u64..5,
            order in prop_oneof![Just(Order::Given), Just(Order::Shuffle), Just(Order::ShuffleOnce)],
            place: prop::sample::Index,
        ) {
            let blocks = Blocks::new(rows, rows * per_row);
            let settings = Settings { order, seed, ..Settings::default() };
            let pass = Pass::new(&settings, epoch, blocks);
            let mut visited = listed(&pass, rows);
            let position = place.index(rows);
            let window = pass.window(position);
            prop_assert!(window.start <= position && position < window.end());
            prop_assert_eq!(window.at(position), visited[position]);
            if order != Order::Given {
                let mut held: Vec<usize> =
                    pass.window_blocks(position).iter().flat_map(|&block| blocks.block(block as usize)).collect();
                let mut seen: Vec<usize> = (window.start..window.end()).map(|at| window.at(at)).collect();
                held.sort_unstable();
                seen.sort_unstable();
                prop_assert_eq!(held, seen);
            }
            visited.sort_unstable();
            prop_assert_eq!(visited, (0..rows).collect::<Vec<_>>());
        }
    }

    #[test]
    fn small_data_are_shuffled_as_a_whole() {
        let pass = Pass::new(&Settings::default(), 3, Blocks::new(1000, 50_000));
        let mut expected: Vec<u32> = (0..1000).collect();
        Random::stream(0, 3).shuffle(&mut expected);
        assert_eq!(pass.window(17).rows, WindowRows::Listed(expected));
    }

    /// Rows sorted by class must not come class by class: in every stretch of a window both halves are met.
    #[test]
    fn sorted_rows_are_mixed() {
        let rows = 200_000;
        let pass = Pass::new(&Settings::default(), 0, Blocks::new(rows, 64 * rows));
        for stretch in listed(&pass, rows).chunks(1000) {
            let upper = stretch.iter().filter(|&&row| row >= rows / 2).count();
            assert!((250..750).contains(&upper) || stretch.len() < 1000, "{upper} of {}", stretch.len());
        }
    }
}

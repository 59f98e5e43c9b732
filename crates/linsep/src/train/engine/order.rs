//! The order in which a pass visits the rows.
//!
//! A shuffle of all rows would touch the memory, or the disk, at a new place for every row: several times slower than
//! reading on. So rows that stand together stay nearly together, on two scales. Blocks of neighbouring rows come in a random
//! order, and [`BLOCKS_TOGETHER`] of them make a window, which is what must be in memory. Inside a window, strips of some
//! dozens of neighbouring rows come in a random order, and the rows of [`STRIPS_MIXED`] strips at a time are mixed
//! thoroughly, which is what must be in the cache. Data small enough for the cache are shuffled as a whole.
//!
//! The order depends on the seed, the pass, and on what the fingerprint of the data covers: the number of rows and of values
//! that are not zero. Dense and sparse rows, f32 and f64, memory and file all give the same order. Zeros that dense rows
//! store do not count, so blocks of dense rows with many zeros take more memory than others.

use crate::dataset::Dataset;
use crate::random::{Random, Stream};
use crate::train::settings::{Order, Settings};
use std::ops::Range;

/// Values of one block that are not zero, on average.
const BLOCK_VALUES: usize = 1 << 15;
/// Blocks of one window.
const BLOCKS_TOGETHER: usize = 64;
/// Strips of one block.
const STRIPS_OF_BLOCK: usize = 16;
/// Strips whose rows are mixed with one another.
const STRIPS_MIXED: usize = 8;
/// Data with so many values that are not zero are shuffled as a whole.
const WHOLE_VALUES: usize = 1 << 17;
/// How far ahead rows in a random order are brought into the cache.
const ROWS_AHEAD: usize = 6;

/// How many rows there are, and how many stand together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blocks {
    rows: usize,
    /// Rows of a block.
    block: usize,
    /// Rows of a strip.
    strip: usize,
    /// So many rows are shuffled as a whole.
    whole: usize,
}

impl Blocks {
    /// The blocks of rows with so many values that are not zero in all.
    pub(crate) fn new(rows: usize, nonzeros: usize) -> Self {
        let rows_with = |values: usize| (values as u128 * rows as u128 / nonzeros.max(1) as u128) as usize;
        let block = rows_with(BLOCK_VALUES).clamp(1, BLOCK_VALUES);
        Self { rows, block, strip: block.div_ceil(STRIPS_OF_BLOCK), whole: rows_with(WHOLE_VALUES) }
    }

    pub(crate) fn of(data: &Dataset) -> Self {
        Self::new(data.len(), data.nonzeros())
    }

    /// The same blocks of other rows: those of a shard.
    pub(crate) fn with_rows(self, rows: usize) -> Self {
        Self { rows, ..self }
    }

    pub(crate) fn rows(self) -> usize {
        self.rows
    }

    /// How many rows stand together.
    pub(crate) fn size(self) -> usize {
        self.block
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

    /// Some of the rows, given as they stand, in a random order that keeps strips of them together.
    pub(crate) fn mixed(self, mut rows: Vec<u32>, mut random: Random) -> WindowRows {
        if rows.len() <= self.whole {
            random.shuffle(&mut rows);
            return WindowRows::Listed(rows);
        }
        let mut strips: Vec<&[u32]> = rows.chunks(self.strip).collect();
        random.shuffle(&mut strips);
        let strips = strips.concat();
        let mixed = STRIPS_MIXED * self.strip;
        let mut order = strips.clone();
        order.chunks_mut(mixed).for_each(|mixture| random.shuffle(mixture));
        WindowRows::Strips { order, strips, mixed }
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
    /// In this order, in which rows that stand together come at about the same time as in the order of the strips.
    Strips { order: Vec<u32>, strips: Vec<u32>, mixed: usize },
}

impl WindowRows {
    /// Those that a test lets through.
    pub(crate) fn only(self, keep: impl Fn(&u32) -> bool) -> Self {
        let kept = |rows: Vec<u32>| rows.into_iter().filter(&keep).collect();
        match self {
            WindowRows::Range(range) => WindowRows::Listed(kept(range.map(|row| row as u32).collect())),
            WindowRows::Listed(order) => WindowRows::Listed(kept(order)),
            WindowRows::Strips { order, strips, mixed } => {
                WindowRows::Strips { order: kept(order), strips: kept(strips), mixed }
            }
        }
    }
}

impl Window {
    /// No rows, before the first.
    pub(crate) fn empty() -> Self {
        Self { start: 0, rows: WindowRows::Range(0..0) }
    }

    /// One past the last position.
    pub(crate) fn end(&self) -> usize {
        self.start
            + match &self.rows {
                WindowRows::Range(range) => range.len(),
                WindowRows::Listed(order) | WindowRows::Strips { order, .. } => order.len(),
            }
    }

    /// The row at a position of the pass.
    #[inline(always)]
    pub(crate) fn at(&self, position: usize) -> usize {
        match &self.rows {
            WindowRows::Range(range) => range.start + (position - self.start),
            WindowRows::Listed(order) | WindowRows::Strips { order, .. } => {
                order[position - self.start] as usize
            }
        }
    }

    /// The row to bring into the cache while the one at `position` is visited, where the memory cannot guess it. Strips
    /// are brought row by row in the order in which they stand, one mixture before they are needed.
    #[inline(always)]
    pub(crate) fn ahead(&self, position: usize) -> Option<usize> {
        let place = position - self.start;
        match &self.rows {
            WindowRows::Range(_) => None,
            WindowRows::Listed(order) => order.get(place + ROWS_AHEAD),
            WindowRows::Strips { strips, mixed, .. } => strips.get(place + mixed),
        }
        .map(|&row| row as usize)
    }
}

impl Pass {
    /// The order that the settings ask for.
    pub(crate) fn new(settings: &Settings, epoch: u64, blocks: Blocks) -> Self {
        Self::seeded(settings.order, settings.seed, epoch, blocks)
    }

    /// This order, shuffled by this seed.
    pub(crate) fn seeded(order: Order, seed: u64, epoch: u64, blocks: Blocks) -> Self {
        let number = match order {
            Order::Given => return Self { blocks, order: PassOrder::Given },
            Order::ShuffleOnce => 0,
            Order::Shuffle => epoch,
        };
        let mut random = Random::of(seed, Stream::Pass(number));
        if blocks.count() <= BLOCKS_TOGETHER {
            return Self { blocks, order: PassOrder::Whole(random) };
        }
        let mut numbers: Vec<u32> = (0..blocks.count() as u32).collect();
        random.shuffle(&mut numbers);
        Self { blocks, order: PassOrder::Windows { blocks: numbers, seed: random.next_u64() } }
    }

    /// The most blocks that a window holds.
    pub(crate) fn blocks_together() -> usize {
        BLOCKS_TOGETHER
    }

    /// As many draws as there are rows.
    pub(crate) fn drawn(seed: u64, epoch: u64, blocks: Blocks) -> Self {
        Self { blocks, order: PassOrder::Drawn(Random::of(seed, Stream::Pass(epoch))) }
    }

    /// The blocks that hold the rows of the window at a position, in the order in which the window takes them: as many
    /// as are worth having in memory together.
    pub(crate) fn window_blocks(&self, position: usize) -> Vec<u32> {
        let all = 0..self.blocks.count() as u32;
        match &self.order {
            PassOrder::Given => {
                let first = position / self.blocks.block;
                all.skip(first).take(BLOCKS_TOGETHER).collect()
            }
            PassOrder::Whole(_) | PassOrder::Drawn(_) => all.collect(),
            PassOrder::Windows { blocks, .. } => {
                let (number, _) = self.place(blocks, position);
                blocks.chunks(BLOCKS_TOGETHER).nth(number).unwrap_or_default().to_vec()
            }
        }
    }

    /// The window with this position, which must be before the end.
    pub(crate) fn window(&self, position: usize) -> Window {
        let rows = self.blocks.rows;
        match &self.order {
            PassOrder::Given => Window { start: 0, rows: WindowRows::Range(0..rows) },
            PassOrder::Whole(random) => {
                Window { start: 0, rows: self.blocks.mixed((0..rows as u32).collect(), random.clone()) }
            }
            PassOrder::Windows { blocks, seed } => {
                let (number, start) = self.place(blocks, position);
                let blocks = self.window_blocks(position).into_iter();
                let rows = blocks.flat_map(|block| self.blocks.block(block as usize)).map(|row| row as u32);
                Window {
                    start,
                    rows: self.blocks.mixed(rows.collect(), Random::of(*seed, Stream::Window(number as u64))),
                }
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
        for (number, window) in blocks.chunks(BLOCKS_TOGETHER).enumerate() {
            let rows: usize = window.iter().map(|&block| self.blocks.block(block as usize).len()).sum();
            if position < start + rows {
                return (number, start);
            }
            start += rows;
        }
        (blocks.len().div_ceil(BLOCKS_TOGETHER), start)
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
            rows in 1usize..3000, per_row in 1usize..4000, seed: u64, epoch in 0u64..5,
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

    #[test]
    fn strips_are_mixed_anew_for_every_pass() {
        let rows: Vec<u32> = (0..50_000).filter(|i| i % 7 != 0).collect();
        let blocks = Blocks::new(50_000, 50_000 * 64);
        let orders: Vec<Vec<u32>> = (0..2)
            .map(|pass| match blocks.mixed(rows.clone(), Random::stream(9, pass)) {
                WindowRows::Strips { order, strips, .. } => {
                    assert!(strips.windows(2).filter(|pair| pair[1].abs_diff(pair[0]) <= 2).count() > 40_000);
                    order
                }
                other => panic!("{other:?}"),
            })
            .collect();
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, rows);
            // Rows that are neighbours rarely follow each other.
            let followed = order.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) <= 2).count();
            assert!(followed < order.len() / 10, "{followed}");
            // The rows of the beginning come from everywhere.
            let early = order[..5000].iter().filter(|&&i| i < 5000).count();
            assert!(early < 1500, "{early}");
        }
        let same = orders[0].iter().zip(&orders[1]).filter(|(a, b)| a == b).count();
        assert!(same < 50, "{same}");
    }

    /// Rows sorted by class must not come class by class: in every stretch of a window both halves are met.
    #[test]
    fn sorted_rows_are_mixed() {
        let rows = 200_000;
        let pass = Pass::new(&Settings::default(), 0, Blocks::new(rows, 64 * rows));
        for stretch in listed(&pass, rows).chunks(1000) {
            let upper = stretch.iter().filter(|&&row| row >= rows / 2).count();
            assert!((100..900).contains(&upper) || stretch.len() < 1000, "{upper} of {}", stretch.len());
        }
    }
}

//! Data larger than memory: the rows stay in a cache, and those of one window at a time are in memory, with those of the
//! next window on their way.
//!
//! The order of a pass knows which rows come together (`order.rs`), so a pass costs one reading of the file, and a run has
//! the same bits as one over rows in memory.

use crate::classes::{ClassError, ClassPair, class_name};
use crate::numbers;
use crate::observe::{Observer, Progress, Update};
use crate::read::cache::{Part, PartReader, Sums};
use crate::read::{ReadError, ReadNotes, Schema};
use crate::theory::margin::{Extent, certain_agreement, quotient_down};
use crate::theta::Theta;
use crate::train::engine::evidence::{Facts, Judged, check_finite, conclude};
use crate::train::engine::learned::Learned;
use crate::train::engine::one_against_rest;
use crate::train::engine::online::OnlineLearner;
use crate::train::engine::order::{Blocks, Pass, Window};
use crate::train::engine::passes::{Cursor, RowLearner, passes};
use crate::train::engine::run::{Outcome, Run, check_lengths, pause_after};
use crate::train::learners::Learner;
use crate::train::settings::{ClassWeight, Order, Settings};
use crate::{Error, SettingsError};
use rayon::prelude::*;
use std::ops::Range;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Memory of the program itself: code, stacks, buffers of files.
const PROGRAM_BYTES: u64 = 12 << 20;
/// Vectors with a number for each feature that are in memory together at the worst moment: those of the learner, of what
/// it learned, and of the model on its way to a file.
const VECTORS: u64 = 8;

/// A cache that is learned from within a limit of memory.
#[derive(Debug)]
pub struct OutOfCoreData {
    reader: PartReader,
    blocks: Blocks,
    memory: u64,
    /// Where each block starts among the values, and the end.
    block_starts: Vec<u64>,
    longest_row: usize,
}

impl OutOfCoreData {
    /// Opens a cache. Its row starts are read, its rows are not.
    pub fn open(path: &Path, memory: u64) -> Result<Self, Error> {
        let reader = PartReader::open(path)?;
        let blocks = Blocks::new(reader.rows(), reader.stored());
        let mut block_starts = vec![0];
        let mut longest = 0;
        reader.each_length(|row, length| {
            longest = longest.max(length);
            let so_far = block_starts[block_starts.len() - 1];
            if row == blocks.block(block_starts.len() - 1).start {
                block_starts.push(so_far);
            }
            if let Some(last) = block_starts.last_mut() {
                *last += length;
            }
        })?;
        Ok(Self { reader, blocks, memory, block_starts, longest_row: longest as usize })
    }

    /// The class names, sorted.
    pub fn classes(&self) -> &[String] {
        self.reader.classes()
    }

    /// How the columns came about.
    pub fn schema(&self) -> &Schema {
        self.reader.schema()
    }

    /// What was noticed when the cache was made.
    pub fn notes(&self) -> ReadNotes {
        self.reader.notes()
    }

    /// The fingerprint of the rows.
    pub fn fingerprint(&self) -> &str {
        self.reader.fingerprint()
    }

    fn block_values(&self, block: usize) -> u64 {
        self.block_starts[block + 1] - self.block_starts[block]
    }

    /// How much is read at a time, or why the limit does not allow any.
    fn room(&self, order: Order, vectors: u64) -> Result<Room, SettingsError> {
        let count = self.block_starts.len() - 1;
        let mut sizes: Vec<u64> = (0..count).map(|block| self.block_values(block)).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let block_rows = self.blocks.block(0).len();
        // Any blocks may come together in a shuffled pass: the largest are the worst.
        let room = |blocks: usize, parts: u64| Room {
            rows: (blocks * block_rows).min(self.blocks.rows()),
            values: sizes[..blocks].iter().sum::<u64>() as usize,
            parts,
        };
        // A name is kept more than once: as a feature, as a word, and in what finds it.
        let names = self.schema().feature_names().unwrap_or_default();
        let names: u64 = names.iter().map(|name| 200 + 6 * name.len() as u64).sum();
        let fixed = PROGRAM_BYTES
            .saturating_add(names)
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
        let mut rooms = choices.map(|(blocks, parts)| room(blocks, parts));
        rooms.find(|room| needs(room) <= self.memory).ok_or_else(|| {
            let megabytes = |bytes: u64| match bytes {
                0..1_000_000 => format!("{} bytes", numbers::grouped(bytes)),
                _ => format!("{} MB", numbers::grouped(bytes.div_ceil(1_000_000))),
            };
            let given = match order {
                Order::Given => String::new(),
                _ => {
                    let room = room(1, 1);
                    format!(", or ⟦order=given⟧, which needs {}", megabytes(needs(&room)))
                }
            };
            SettingsError::new("memory", format!(
                "⟦memory⟧ {} is too little for these rows: the weights and the rows that are mixed with one another need \
                 {}; give that much{given}",
                megabytes(self.memory),
                megabytes(needs(&room(least, 1)))
            ))
        })
    }

    /// Consecutive blocks from `first` on that fit into the room: one at least.
    fn neighbours(&self, first: usize, room: &Room) -> Vec<u32> {
        let (mut rows, mut values, mut end) = (0, 0, first);
        while end + 1 < self.block_starts.len() && end - first < Pass::blocks_together() {
            rows += self.blocks.block(end).len();
            values += self.block_values(end) as usize;
            if end > first && (rows > room.rows || values > room.values) {
                break;
            }
            end += 1;
        }
        (first as u32..end as u32).collect()
    }

    fn ranges(&self, blocks: &[u32]) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for block in blocks.iter().map(|&block| self.blocks.block(block as usize)) {
            match ranges.last_mut() {
                Some(last) if last.end == block.start => last.end = block.end,
                _ => ranges.push(block),
            }
        }
        ranges
    }

    /// Shows all rows to `see`, part by part in their order, until it breaks; whether it did not.
    fn each_part(
        &self,
        part: &mut Part,
        room: &Room,
        mut see: impl FnMut(&Part, Range<usize>) -> bool,
    ) -> Result<bool, ReadError> {
        let mut block = 0;
        while block + 1 < self.block_starts.len() {
            let blocks = self.neighbours(block, room);
            let ranges = self.ranges(&blocks);
            self.reader.read(&ranges, part)?;
            block += blocks.len();
            if !see(part, ranges[0].clone()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Looks at all rows once, and checks that they are those that were written.
    fn measure(
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
        let total = self.blocks.rows() as u64;
        let whole = self.each_part(part, room, |part, rows| {
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

/// How much is in memory: rows and values of a part, and one part or two.
#[derive(Clone, Copy, Debug)]
struct Room {
    rows: usize,
    values: usize,
    parts: u64,
}

/// What all rows tell.
struct Measured {
    extent: Extent,
    nonzeros: u64,
    /// Rows of each class.
    counts: Vec<u64>,
    /// Values stored in the first row.
    first: usize,
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

/// Checks that a run with these settings can leave its rows in their file.
pub fn check_out_of_core(settings: &Settings) -> Result<(), SettingsError> {
    settings.validate()?;
    if !settings.learner.is_online() || settings.learner == Learner::Voted {
        return Err(SettingsError::new(
            "memory",
            format!(
                "⟦memory⟧ is for learners that go row by row and keep none of them (perceptron, averaged, margin, sgd, \
             passive-aggressive), not for {}",
                settings.learner.name()
            ),
        ));
    }
    Ok(())
}

/// Trains on rows that stay in their file, in memory that does not grow with them. The same as
/// [`train`](super::train) on the same rows in memory, bit for bit.
pub fn train_out_of_core(
    data: &OutOfCoreData,
    settings: &Settings,
    checkpoint: Option<Run>,
    observer: &mut dyn Observer,
) -> Result<(Outcome, Vec<u64>), Error> {
    check_out_of_core(settings)?;
    let many = settings.positive.is_none() && data.classes().len() > 2;
    let kept = if many { data.classes().len() as u64 } else { 0 };
    let saving = if observer.saves() { 4 } else { 0 };
    let room = data.room(settings.order, VECTORS + kept + saving)?;
    let mut part = Part::with_room(&data.reader, room.rows, room.values);
    let measured = data.measure(settings.bias.input(), &mut part, &room, observer)?;
    let job = Job { data, room, measured };
    let outcome = match many {
        true => job.each(settings, part, observer)?,
        false => job.binary(settings, checkpoint, &mut part, observer)?,
    };
    Ok((outcome, job.measured.counts))
}

struct Job<'a> {
    data: &'a OutOfCoreData,
    room: Room,
    measured: Measured,
}

/// Which class is on which side, and how much it counts.
struct Sides {
    classes: ClassPair,
    signs: Vec<i8>,
    weights: Option<Vec<f64>>,
}

impl Job<'_> {
    /// What [`Task::new`](crate::train::engine::run::Task::new) checks and prepares for rows in memory.
    fn sides(&self, settings: &Settings) -> Result<Sides, Error> {
        let (names, counts) = (self.data.classes(), &self.measured.counts);
        let classes = ClassPair::choose(names, settings.positive.as_deref())?;
        let signs: Vec<i8> = names.iter().map(|name| classes.sign_of(name).unwrap_or(-1)).collect();
        let rows_of = |sign: i8| -> u64 {
            counts.iter().zip(&signs).filter(|&(_, &own)| own == sign).map(|(&count, _)| count).sum()
        };
        if rows_of(1) == 0 || rows_of(-1) == 0 {
            let class = if rows_of(-1) == 0 { classes.positive } else { classes.negative_name() };
            return Err(ClassError::One { class }.into());
        }
        check_lengths(&self.measured.extent)?;
        let weights = match &settings.class_weight {
            ClassWeight::Equal => None,
            ClassWeight::Balanced => {
                let balanced = |&sign: &i8| self.data.blocks.rows() as f64 / (2.0 * rows_of(sign) as f64);
                Some(signs.iter().map(balanced).collect())
            }
            ClassWeight::Named(named) => {
                let mut weights = vec![1.0; names.len()];
                for (label, weight) in named {
                    let place = class_name(label)
                        .and_then(|name| names.iter().position(|class| *class == name))
                        .ok_or_else(|| ClassError::unknown(label, names))?;
                    weights[place] = *weight;
                }
                Some(weights)
            }
        };
        Ok(Sides { classes, signs, weights })
    }

    fn binary(
        &self,
        settings: &Settings,
        checkpoint: Option<Run>,
        part: &mut Part,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error> {
        let sides = self.sides(settings)?;
        let data = self.data;
        let mut run = match checkpoint {
            Some(mut run) => {
                run.adopt(settings, data.reader.columns(), data.fingerprint())?;
                run.check_position(data.blocks.rows())?;
                run
            }
            None => Run::begin(
                settings,
                OnlineLearner::with_radius(
                    settings,
                    data.reader.columns(),
                    Some(self.measured.extent.radius_upper),
                )?,
                data.fingerprint().to_string(),
            ),
        };
        run.learner.expect_rows(self.measured.extent.radius_upper, data.longest_row);
        let settings = run.settings().clone();
        let per_row = self.measured.first.max(self.measured.nonzeros as usize / data.blocks.rows());
        let empty = Part::with_room(&data.reader, 0, 0);
        let status = std::thread::scope(|scope| {
            let ahead = (self.room.parts == 2).then(|| {
                let (ask, asked) = channel::<(Vec<Range<usize>>, Part)>();
                let (answer, answers) = channel();
                scope.spawn(move || {
                    for (ranges, mut part) in asked {
                        let read = data.reader.read(&ranges, &mut part).map(|()| part);
                        if answer.send(read).is_err() {
                            break;
                        }
                    }
                });
                Ahead {
                    ask,
                    answers,
                    spare: Some(Part::with_room(&data.reader, self.room.rows, self.room.values)),
                    blocks: Vec::new(),
                }
            });
            let mut visitor = Visitor {
                data,
                room: self.room,
                sides: &sides,
                settings: &settings,
                run: &mut run,
                part: std::mem::replace(part, empty),
                held: Held { epoch: u64::MAX, positions: 0..0 },
                slots: vec![0; data.block_starts.len()],
                ahead,
                failure: None,
            };
            let status = passes(&mut visitor, &settings, data.blocks, pause_after(per_row), observer);
            *part = visitor.part;
            visitor.failure.map_or(Ok(status), Err)
        })?;
        let fit = run.into_fit(status);
        check_finite(&fit)?;
        let judged = self.judge(&sides, &fit.learned, &fit.candidates, part, observer)?;
        let facts = Facts {
            shape: self.shape(),
            extent: self.measured.extent,
            classes: &sides.classes,
            weighted: sides.weights.is_some(),
        };
        Ok(conclude(facts, &settings, fit, judged))
    }

    fn shape(&self) -> (u64, u64, u64) {
        (self.data.blocks.rows() as u64, self.data.reader.columns() as u64, self.measured.nonzeros)
    }

    /// What the result is worth on all rows, in one more pass.
    fn judge(
        &self,
        sides: &Sides,
        learned: &Learned,
        candidates: &[Theta],
        part: &mut Part,
        observer: &mut dyn Observer,
    ) -> Result<Judged, Error> {
        let own = learned.theta();
        let others: Vec<&Theta> = candidates.iter().filter(|&theta| theta != own).collect();
        let total = self.data.blocks.rows() as u64;
        let mut errors = 0;
        let mut least = Some(f64::MAX);
        let mut least_of_others = vec![Some(f64::MAX); others.len()];
        let whole = self.data.each_part(part, &self.room, |part, rows| {
            let sign = |i: usize| sides.signs[part.label(i) as usize];
            let all = || (0..part.len()).into_par_iter().with_min_len(256);
            errors += all().filter(|&i| (own.score(part.row(i)) >= 0.0) != (sign(i) > 0)).count() as u64;
            let least_here = |theta: &Theta| {
                all()
                    .map(|i| Some(certain_agreement(theta, part.row(i), sign(i))).filter(|&a| a > 0.0))
                    .try_reduce(|| f64::MAX, |a, b| Some(a.min(b)))
            };
            least = least.and_then(|so_far| Some(so_far.min(least_here(own)?)));
            for (theta, least) in others.iter().zip(&mut least_of_others) {
                *least = least.and_then(|so_far| Some(so_far.min(least_here(theta)?)));
            }
            observer.progress(&Progress::Judging { rows: rows.end as u64, total }).is_continue()
        })?;
        if !whole {
            // What was not seen to the end proves nothing.
            return Ok(Judged { errors: None, least: None, lower: None });
        }
        let bound = |least: Option<f64>, theta: &Theta| least.map(|a| quotient_down(a, theta.norm().high));
        let lower = others
            .iter()
            .zip(least_of_others)
            .map(|(theta, least)| bound(least, theta))
            .fold(bound(least, own), crate::theory::margin::larger);
        Ok(Judged { errors: Some(errors), least, lower })
    }

    /// Each class against the rest, one after the other.
    fn each(
        &self,
        settings: &Settings,
        mut part: Part,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error> {
        let counted = self.data.classes().iter().zip(&self.measured.counts);
        let names: Vec<String> =
            counted.filter(|&(_, &count)| count > 0).map(|(name, _)| name.clone()).collect();
        if names.len() < 2 {
            return Err(ClassError::One { class: names.first().cloned().unwrap_or_default() }.into());
        }
        let mut runs = Vec::new();
        for name in &names {
            let own = Settings { positive: Some(name.clone()), ..settings.clone() };
            runs.push(self.binary(&own, None, &mut part, observer)?);
        }
        let (learned, mut evidence, boundaries) = one_against_rest::together(runs, &names);
        let places: Vec<Option<usize>> =
            self.data.classes().iter().map(|class| names.iter().position(|name| name == class)).collect();
        let mut errors = 0;
        let whole = self.data.each_part(&mut part, &self.room, |part, rows| {
            let wrong = |&i: &usize| Some(learned.class_of(part.row(i)).0) != places[part.label(i) as usize];
            errors += (0..part.len()).into_par_iter().with_min_len(16).filter(wrong).count();
            let (rows, total) = (rows.end as u64, self.data.blocks.rows() as u64);
            observer.progress(&Progress::Judging { rows, total }).is_continue()
        })?;
        evidence.training_error = whole.then(|| errors as f64 / self.data.blocks.rows() as f64);
        Ok(one_against_rest::outcome(learned, evidence, boundaries, names, settings))
    }
}

/// Which positions of which pass are in memory.
struct Held {
    epoch: u64,
    positions: Range<usize>,
}

/// A thread that reads the next part while this one is learned from.
struct Ahead {
    ask: Sender<(Vec<Range<usize>>, Part)>,
    answers: Receiver<Result<Part, ReadError>>,
    /// The part that is not in use, unless the thread has it.
    spare: Option<Part>,
    /// The blocks that were asked for.
    blocks: Vec<u32>,
}

/// A run, among the rows of a file.
struct Visitor<'a> {
    data: &'a OutOfCoreData,
    room: Room,
    sides: &'a Sides,
    settings: &'a Settings,
    run: &'a mut Run,
    part: Part,
    held: Held,
    /// Where the rows of a block start in the part, for those that are in it.
    slots: Vec<u32>,
    ahead: Option<Ahead>,
    failure: Option<ReadError>,
}

impl Visitor<'_> {
    #[inline(always)]
    fn place(&self, i: usize) -> usize {
        let block = self.data.blocks.block_of(i);
        self.slots[block] as usize + (i - self.data.blocks.block(block).start)
    }

    /// The blocks to have in memory from a position on.
    fn blocks_at(&self, pass: &Pass, position: usize) -> Vec<u32> {
        if self.settings.order == Order::Given {
            return self.data.neighbours(self.data.blocks.block_of(position), &self.room);
        }
        pass.window_blocks(position)
    }

    /// Brings blocks into memory, and asks for those that come after them.
    fn load(&mut self, blocks: &[u32], next: Vec<u32>) -> Result<(), ReadError> {
        let ranges = self.data.ranges(blocks);
        match &mut self.ahead {
            Some(ahead) => {
                let answer = if ahead.spare.is_none() { ahead.answers.recv().ok() } else { None };
                match answer {
                    Some(read) if ahead.blocks == blocks => {
                        ahead.spare = Some(std::mem::replace(&mut self.part, read?));
                    }
                    other => {
                        // Nothing was asked for, or something else: the run was taken up in the middle.
                        if let Some(read) = other {
                            ahead.spare = Some(read?);
                        }
                        self.data.reader.read(&ranges, &mut self.part)?;
                    }
                }
                if let (false, Some(spare)) = (next.is_empty(), ahead.spare.take()) {
                    // If the thread is gone, the next part is read here.
                    ahead.spare =
                        ahead.ask.send((self.data.ranges(&next), spare)).err().map(|unsent| unsent.0.1);
                    ahead.blocks = next;
                }
            }
            None => self.data.reader.read(&ranges, &mut self.part)?,
        }
        let mut start = 0;
        for &block in blocks {
            self.slots[block as usize] = start;
            start += self.data.blocks.block(block as usize).len() as u32;
        }
        Ok(())
    }
}

impl RowLearner for Visitor<'_> {
    #[inline(always)]
    fn cursor(&mut self) -> &mut Cursor {
        &mut self.run.cursor
    }

    fn bring(&mut self, pass: &Pass, window: &Window, position: usize) -> Option<usize> {
        let epoch = self.run.cursor.epoch;
        if self.held.epoch == epoch && self.held.positions.contains(&position) {
            return Some(self.held.positions.end);
        }
        let blocks = self.blocks_at(pass, position);
        let positions = match self.settings.order {
            Order::Given => {
                let ends = (blocks.first(), blocks.last());
                let (Some(&first), Some(&last)) = ends else { return None };
                self.data.blocks.block(first as usize).start..self.data.blocks.block(last as usize).end
            }
            _ => window.start..window.end(),
        };
        let whole = positions.len() == self.data.blocks.rows();
        let next = if positions.end < self.data.blocks.rows() {
            self.blocks_at(pass, positions.end)
        } else if !whole && epoch + 1 < self.settings.epochs {
            self.blocks_at(&Pass::new(self.settings, epoch + 1, self.data.blocks), 0)
        } else {
            Vec::new()
        };
        // All rows in one window are in memory already: a new order of them is no reason to read them again.
        let present = whole && self.held.positions == positions;
        if !present && let Err(error) = self.load(&blocks, next) {
            self.failure = Some(error);
            return None;
        }
        let end = positions.end;
        self.held = Held { epoch, positions };
        Some(end)
    }

    #[inline(always)]
    fn visit(&mut self, i: usize, observer: &mut dyn Observer) -> bool {
        let place = self.place(i);
        let (row, label) = (self.part.row(place), self.part.label(place) as usize);
        let sign = self.sides.signs[label];
        let weight = self.sides.weights.as_ref().map_or(1.0, |weights| weights[label]);
        let applied = self.run.learner.learn_expected(row, sign, weight, Some(i as u32));
        if let Some(applied) = applied {
            observer.update(&Update {
                number: self.run.learner.updates(),
                epoch: self.run.cursor.epoch + 1,
                position: i as u64,
                row,
                row_squared: applied.row_squared,
                sign,
                agreement: applied.agreement,
            });
        }
        applied.is_some()
    }

    #[inline(always)]
    fn prefetch(&self, i: usize) {
        self.part.row(self.place(i)).prefetch();
    }

    fn end_pass(&mut self) {
        self.run.learner.end_pass();
    }

    fn is_finished(&mut self, quiet: bool) -> bool {
        quiet && !self.run.learner.updates_every_row()
    }

    fn pause(&mut self, observer: &mut dyn Observer) {
        observer.checkpoint(self.run);
    }

    fn updates(&self) -> u64 {
        self.run.learner.updates()
    }

    fn margin_upper(&self) -> Option<f64> {
        self.run.learner.margin_upper()
    }
}

#[cfg(test)]
mod tests;

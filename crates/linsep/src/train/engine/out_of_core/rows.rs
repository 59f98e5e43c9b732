//! Passes over rows that stay in their file: the next window is read while this one is learned from.

use super::{BinaryLabels, MeasuredFile};
use crate::memory;
use crate::observe::Observer;
use crate::read::ReadError;
use crate::read::cache::Part;
use crate::train::engine::order::{Pass, Window};
use crate::train::engine::passes::{Cursor, RowLearner, passes};
use crate::train::engine::run::{Status, pause_after};
use crate::train::engine::state::State;
use crate::train::settings::{Order, Settings};
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};

impl MeasuredFile<'_> {
    /// Goes on with a state until a reason to stop.
    pub(super) fn passes(
        &self,
        sides: &BinaryLabels,
        settings: &Settings,
        state: &mut State,
        part: &mut Part,
        observer: &mut dyn Observer,
    ) -> Result<Status, ReadError> {
        let (data, room) = (self.data, self.room);
        let per_row = self.measured.first.max(self.measured.nonzeros as usize / data.rows());
        let empty = Part::with_room(&data.reader, 0, 0);
        std::thread::scope(|scope| {
            let ahead = (room.parts == 2).then_some(()).and_then(|()| {
                let (ask, asked) = channel::<(Vec<Range<usize>>, Part)>();
                let (answer, answers) = channel();
                let read_ahead = move || {
                    for (ranges, mut part) in asked {
                        let read = data.reader.read(&ranges, &mut part).map(|()| part);
                        if answer.send(read).is_err() {
                            break;
                        }
                    }
                };
                let reader = memory::new_thread().and_then(|thread| thread.spawn_scoped(scope, read_ahead));
                // Without a thread that reads ahead, each part is read when its turn comes.
                reader.ok()?;
                let spare = Some(Part::with_room(&data.reader, room.rows, room.values));
                Some(Ahead { ask, answers, spare, blocks: Vec::new() })
            });
            let mut rows = FileRows {
                file: self,
                sides,
                settings,
                state,
                part: std::mem::replace(part, empty),
                held: Held { epoch: u64::MAX, positions: 0..0 },
                slots: vec![0; self.table.count()],
                ahead,
                failure: None,
            };
            let status = passes(&mut rows, settings, self.table.blocks, pause_after(per_row), observer);
            *part = rows.part;
            rows.failure.map_or(Ok(status), Err)
        })
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

/// The rows of a file as a run visits them: those of a window are in memory.
struct FileRows<'a> {
    file: &'a MeasuredFile<'a>,
    sides: &'a BinaryLabels,
    settings: &'a Settings,
    state: &'a mut State,
    part: Part,
    held: Held,
    /// Where the rows of a block start in the part, for those that are in it.
    slots: Vec<u32>,
    ahead: Option<Ahead>,
    failure: Option<ReadError>,
}

impl FileRows<'_> {
    #[inline(always)]
    fn place(&self, i: usize) -> usize {
        let block = self.file.table.blocks.block_of(i);
        self.slots[block] as usize + (i - self.file.table.blocks.block(block).start)
    }

    /// The blocks to have in memory from a position on.
    fn blocks_at(&self, pass: &Pass, position: usize) -> Vec<u32> {
        if self.settings.order == Order::Given {
            return self.file.table.neighbours(self.file.table.blocks.block_of(position), &self.file.room);
        }
        pass.window_blocks(position)
    }

    /// Brings blocks into memory, and asks for those that come after them.
    fn load(&mut self, blocks: &[u32], next: Vec<u32>) -> Result<(), ReadError> {
        let ranges = self.file.table.ranges(blocks);
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
                        self.file.data.reader.read(&ranges, &mut self.part)?;
                    }
                }
                if let (false, Some(spare)) = (next.is_empty(), ahead.spare.take()) {
                    // If the thread is gone, the next part is read here.
                    ahead.spare =
                        ahead.ask.send((self.file.table.ranges(&next), spare)).err().map(|unsent| unsent.0.1);
                    ahead.blocks = next;
                }
            }
            None => self.file.data.reader.read(&ranges, &mut self.part)?,
        }
        let mut start = 0;
        for &block in blocks {
            self.slots[block as usize] = start;
            start += self.file.table.blocks.block(block as usize).len() as u32;
        }
        Ok(())
    }
}

impl RowLearner for FileRows<'_> {
    #[inline(always)]
    fn cursor(&mut self) -> &mut Cursor {
        &mut self.state.cursor
    }

    fn bring(&mut self, pass: &Pass, window: &Window, position: usize) -> Option<usize> {
        let epoch = self.state.cursor.epoch;
        if self.held.epoch == epoch && self.held.positions.contains(&position) {
            return Some(self.held.positions.end);
        }
        let blocks = self.blocks_at(pass, position);
        let positions = match self.settings.order {
            Order::Given => {
                let ends = (blocks.first(), blocks.last());
                let (Some(&first), Some(&last)) = ends else { return None };
                self.file.table.blocks.block(first as usize).start
                    ..self.file.table.blocks.block(last as usize).end
            }
            _ => window.start..window.end(),
        };
        let whole = positions.len() == self.file.data.rows();
        let next = if positions.end < self.file.data.rows() {
            self.blocks_at(pass, positions.end)
        } else if !whole && epoch + 1 < self.settings.epochs {
            self.blocks_at(&Pass::new(self.settings, epoch + 1, self.file.table.blocks), 0)
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
        self.state.visit(i, row, sign, weight, observer)
    }

    #[inline(always)]
    fn prefetch(&self, i: usize) {
        self.part.row(self.place(i)).prefetch();
    }

    fn end_pass(&mut self) {
        self.state.end_pass();
    }

    fn is_finished(&mut self, quiet: bool) -> bool {
        quiet && !self.state.updates_every_row()
    }

    fn pause(&mut self, observer: &mut dyn Observer) {
        observer.checkpoint(self.state);
    }

    fn updates(&self) -> u64 {
        self.state.updates()
    }

    fn margin_upper(&self) -> Option<f64> {
        self.state.margin_upper()
    }
}

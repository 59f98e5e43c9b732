//! A `.npy` file whose rows or labels are stored one after the other: only some of them are in memory at a time.

use super::npy::{Form, Npy};
use super::{BATCH_ROWS, BATCH_VALUES};
use crate::read::error::ReadErrorKind;
use crate::read::source::Input;
use std::io;

pub(super) struct Stream {
    /// What comes after the window.
    input: Input,
    form: Form,
    rows: usize,
    columns: usize,
    /// The rows read last, and which they are.
    window: Npy,
    held: std::ops::Range<usize>,
    /// Bytes of items read so far.
    taken: usize,
    /// Whether the file is known to be as long as its header says.
    vouched: bool,
}

impl Stream {
    /// Rows of numbers from what comes after the header, which has ended at `start`.
    pub(super) fn open(input: Input, form: Form, start: usize) -> Result<Self, ReadErrorKind> {
        let (rows, columns) = form.size().map_err(ReadErrorKind::Array)?;
        Self::new(input, form, start, rows, columns)
    }

    /// Labels, each a row of one item.
    pub(super) fn open_line(input: Input, form: Form, start: usize) -> Result<Self, ReadErrorKind> {
        let count = form.line_of_labels().map_err(ReadErrorKind::Array)?;
        Self::new(input, form, start, count, 1)
    }

    fn new(
        input: Input,
        form: Form,
        start: usize,
        rows: usize,
        columns: usize,
    ) -> Result<Self, ReadErrorKind> {
        let present =
            input.length().map(|length| usize::try_from(length).unwrap_or(usize::MAX).saturating_sub(start));
        if let Some(present) = present {
            form.check_length(present).map_err(ReadErrorKind::Array)?;
        }
        let window = Npy::window(&form, columns);
        let vouched = present.is_some();
        let mut stream = Self { input, form, rows, columns, window, held: 0..0, taken: 0, vouched };
        if rows == 0 {
            stream.check_end()?;
        }
        Ok(stream)
    }

    /// Reads until row `row` is held, which must not be before the rows that are.
    pub(super) fn advance(&mut self, row: usize) -> Result<(), ReadErrorKind> {
        while row >= self.held.end && self.held.end < self.rows {
            let count = BATCH_VALUES.div_ceil(self.columns).min(BATCH_ROWS).min(self.rows - self.held.end);
            let found = self.window.refill(&mut self.input, count)?;
            self.taken += found;
            if found < count * self.form.row_bytes() {
                return self.form.check_length(self.taken).map_err(ReadErrorKind::Array);
            }
            self.held = self.held.end..self.held.end + count;
            if self.held.end == self.rows {
                self.check_end()?;
            }
        }
        Ok(())
    }

    /// Bytes after the last row are an error.
    fn check_end(&mut self) -> Result<(), ReadErrorKind> {
        let more = io::copy(&mut self.input, &mut io::sink())?;
        let present = self.taken.saturating_add(usize::try_from(more).unwrap_or(usize::MAX));
        self.form.check_length(present).map_err(ReadErrorKind::Array)
    }

    /// Appends the numbers of a row that is held, as [`Npy::append_row`] does.
    pub(super) fn append_row(&self, row: usize, values: &mut Vec<f64>) -> Result<(), (usize, ReadErrorKind)> {
        self.window.append_row(row - self.held.start, values)
    }

    /// The text of a label that is held, as [`Npy::text`] gives it.
    pub(super) fn text(&self, row: usize) -> Option<String> {
        self.window.text(row - self.held.start)
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn form(&self) -> &Form {
        &self.form
    }

    /// Whether the file is as long as its header says.
    pub(super) fn is_vouched(&self) -> bool {
        self.vouched
    }
}

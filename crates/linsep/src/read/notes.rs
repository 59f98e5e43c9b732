//! Notes made while reading.

/// A malformed row that was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedRow {
    /// Line in the file, or row for formats without lines; 0 where a file was skipped, which the reason names.
    pub line: u64,
    /// The problem.
    pub reason: String,
}

/// Notes made while reading, for the user.
#[derive(Clone, Debug, Default)]
pub struct ReadNotes {
    /// The format in words, with what was detected: `CSV, delimiter ',', header, 3 columns of numbers`.
    pub format: String,
    /// Remarks, one sentence each.
    pub remarks: Vec<String>,
    /// Reasons to think that the data is not what was meant, in sentences.
    pub warnings: Vec<String>,
    /// How many malformed rows were skipped.
    pub skipped: u64,
    /// The first of them.
    pub first_skipped: Vec<SkippedRow>,
    /// How many rows were dropped for a missing cell or label.
    pub dropped: u64,
    /// The columns of a table with missing cells, and how many each has in the rows that were kept.
    pub missing: Vec<(String, u64)>,
}

impl ReadNotes {
    /// How many skipped rows are listed; the others are only counted.
    pub const LISTED: usize = 5;

    /// Notes that a file was skipped.
    pub(crate) fn skip_file(&mut self, reason: String) {
        self.skip(0, reason);
    }

    pub(crate) fn skip(&mut self, line: u64, reason: String) {
        self.skipped += 1;
        if self.first_skipped.len() < Self::LISTED {
            self.first_skipped.push(SkippedRow { line, reason });
        }
    }
}

//! Sample compression (B5): the examples that teach the classifier.
//!
//! A perceptron from zero is a function of its mistakes alone: going once through the mistaken examples, in the
//! order in which they were made, makes the same updates and ends in the same θ. When the data is separable
//! there are at most (R/γ)² of them, however many rows there are.

use crate::dataset::Dataset;
use std::io::{self, Write};

/// Writes the mistaken rows, in order, as LIBSVM text that loses nothing; each line ends with a comment that
/// says which row it is (as a line of the training file).
pub fn write_teaching_set(data: &Dataset, mistakes: &[u32], out: &mut dyn Write) -> io::Result<()> {
    for &i in mistakes {
        let i = i as usize;
        let label = &data.classes()[data.labels()[i] as usize];
        write!(out, "{}", label.replace(|c: char| c.is_whitespace() || c == ':' || c == '#', "_"))?;
        for (column, value) in data.row(i).iter().filter(|&(_, value)| value != 0.0) {
            write!(out, " {}:{}", column + 1, value)?;
        }
        writeln!(out, " # line {}", data.line(i))?;
    }
    Ok(())
}

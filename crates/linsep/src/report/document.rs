//! A report as blocks: what is said, apart from how wide a terminal or a page is.

use crate::job::Spec;

/// Short names, each with what is said about it.
pub type Facts = Vec<(&'static str, String)>;

/// One block of a report. Texts name settings as [`spelling`](crate::spelling) says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Block {
    /// Short names, each with what is said about it.
    Facts(Facts),
    /// More facts, for those who ask for everything.
    Details(Facts),
    /// A heading.
    Heading(String),
    /// A paragraph, to be wrapped; indented by this many columns.
    Paragraph {
        /// Columns before each line.
        indent: usize,
        /// The text.
        text: String,
    },
    /// One of several things to do, to be wrapped after a dash.
    Item(String),
    /// Lines that stand as they are, such as a table.
    Text(String),
    /// Another job that can be run on the same data.
    Job(Box<Spec>),
}

impl Block {
    /// A paragraph without indent.
    pub fn paragraph(text: impl Into<String>) -> Self {
        Block::Paragraph { indent: 0, text: text.into() }
    }

    /// What to do next, and the job that does it.
    pub(super) fn next((what, job): (&str, Spec)) -> [Self; 2] {
        [Block::Facts(vec![("Next", what.to_string())]), Block::Job(Box::new(job))]
    }

    /// Lines that stand as they are.
    pub fn text(text: impl Into<String>) -> Self {
        Block::Text(text.into())
    }
}

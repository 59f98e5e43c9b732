//! The classes of a folder that its rows have.

use super::super::error::ReadErrorKind;
use super::super::label_table::LabelTable;
use crate::dataset::Batch;
use crate::numbers::counted;

/// The classes of a folder, by their places in its listing. Each becomes a class of the rows with the first of its files that can
/// be read: one whose files are all skipped is none.
#[derive(Debug)]
pub(in crate::read) struct FolderClasses {
    listed: Vec<String>,
    /// The class of the rows that each became.
    class_of: Vec<Option<u32>>,
    labels: LabelTable,
}

impl FolderClasses {
    /// Refuses names that are no classes, and more classes than are accepted.
    pub(in crate::read) fn new(listed: Vec<String>, limit: usize) -> Result<Self, ReadErrorKind> {
        let mut all = LabelTable::default();
        for name in &listed {
            all.class(name.as_bytes()).ok_or_else(|| ReadErrorKind::BadLabel { found: name.clone() })?;
        }
        all.check(limit)?;
        Ok(Self { class_of: vec![None; listed.len()], listed, labels: LabelTable::default() })
    }

    /// The class of a row, by the place of the class of its file.
    pub(in crate::read) fn of_row(&mut self, place: Option<u32>) -> u32 {
        let Some(place) = place.map(|place| place as usize) else { return Batch::UNLABELLED };
        let Self { listed, class_of, labels } = self;
        // Every name was found to be a class.
        *class_of[place]
            .get_or_insert_with(|| labels.class(listed[place].as_bytes()).unwrap_or(Batch::UNLABELLED))
    }

    /// The names of the classes that rows have.
    pub(in crate::read) fn names(&self) -> &[String] {
        self.labels.names()
    }

    /// A sentence about classes all of whose files were skipped, if there are any.
    pub(in crate::read) fn remark(&self) -> Option<String> {
        const SHOWN: usize = 3;
        let without = self.listed.iter().zip(&self.class_of).filter(|(_, class)| class.is_none());
        let names: Vec<String> = without.map(|(name, _)| format!("\"{name}\"")).collect();
        let more = if names.len() > SHOWN { ", …" } else { "" };
        (!names.is_empty()).then(|| {
            let classes = counted(
                names.len() as u64,
                "class is left out, because none of its files could be read",
                "classes are left out, because none of their files could be read",
            );
            format!("{classes}: {}{more}.", names[..names.len().min(SHOWN)].join(", "))
        })
    }
}

//! The classes met so far, in the order of their first row.

use super::error::ReadErrorKind;
use crate::classes::{class_name, spellings};
use std::collections::HashMap;

/// Gives each label text the number of its class.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelTable {
    names: Vec<String>,
    /// Every spelling met, with its class.
    spellings: HashMap<Vec<u8>, u32>,
    /// The spelling before this one: most rows repeat it or one other.
    last: Option<(Vec<u8>, u32)>,
}

impl LabelTable {
    /// Class names in the order of their first row.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The class of a label, or `None` if it is no class (empty, NaN, infinite, not UTF-8).
    pub(crate) fn class(&mut self, label: &[u8]) -> Option<u32> {
        if let Some((spelling, class)) = &self.last
            && spelling == label
        {
            return Some(*class);
        }
        let class = match self.spellings.get(label) {
            Some(&class) => class,
            None => {
                let class = self.named(class_name(std::str::from_utf8(label).ok()?)?);
                self.spellings.insert(label.to_vec(), class);
                class
            }
        };
        let (spelling, last) = self.last.get_or_insert_default();
        spelling.clear();
        spelling.extend_from_slice(label);
        *last = class;
        Some(class)
    }

    /// For each class of `other`, its number here.
    pub(crate) fn merge(&mut self, other: &LabelTable) -> Vec<u32> {
        other.names.iter().map(|name| self.named(name.clone())).collect()
    }

    /// Refuses more classes than are accepted.
    pub(crate) fn check(&self, limit: usize) -> Result<(), ReadErrorKind> {
        if self.names.len() > limit { Err(ReadErrorKind::TooManyClasses { limit }) } else { Ok(()) }
    }

    fn named(&mut self, name: String) -> u32 {
        // A name is its own canonical spelling, so the map also finds classes by name.
        if let Some(&class) = self.spellings.get(name.as_bytes()) {
            return class;
        }
        let known =
            spellings(&name).iter().find_map(|spelling| self.spellings.get(spelling.as_bytes()).copied());
        if let Some(class) = known {
            self.spellings.insert(name.into_bytes(), class);
            return class;
        }
        let class = self.names.len() as u32;
        self.spellings.insert(name.clone().into_bytes(), class);
        self.names.push(name);
        class
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_share_a_class_and_tables_merge() {
        let mut table = LabelTable::default();
        assert_eq!(
            [&b"+1"[..], b"-1", b"1", b"1.0", b"-1"].map(|label| table.class(label)),
            [0, 1, 0, 0, 1].map(Some)
        );
        assert_eq!(table.class(b"nan"), None);
        let mut other = LabelTable::default();
        other.class(b"-1.0");
        other.class(b"spam");
        assert_eq!(table.merge(&other), [1, 2]);
        assert_eq!(table.names(), ["1", "-1", "spam"]);
    }

    #[test]
    fn truth_values_are_alike_and_other_words_are_not() {
        let mut table = LabelTable::default();
        let labels = ["TRUE", "False", "true", "FALSE", "True", "Red", "red", "yes", "Yes", "yEs"];
        let classes = labels.map(|label| table.class(label.as_bytes()).unwrap());
        assert_eq!(classes, [0, 1, 0, 1, 0, 2, 3, 4, 4, 4]);
        assert_eq!(table.names(), ["TRUE", "False", "Red", "red", "yes"]);
        let mut other = LabelTable::default();
        other.class(b"FALSE");
        assert_eq!(table.merge(&other), [1]);
    }
}

//! Class names: how labels become classes, how classes are sorted, and which side of the boundary each is on.

use serde::{Deserialize, Serialize};

/// The canonical name of the class that a label text stands for.
///
/// Numbers are named by their shortest form, so `1`, `+1`, `1.0` and `1e0` are one class; a number with more
/// digits than a float holds keeps its text, so two different labels never merge. Any other text is a word.
/// `None`: the text is empty, NaN or infinite, which no class is.
pub fn class_name(label: &str) -> Option<String> {
    let text = label.trim();
    match text.parse::<f64>() {
        Ok(number) if !number.is_finite() => None,
        Ok(number) if significant_digits(text) <= 15 => {
            Some(if number == 0.0 { 0.0 } else { number }.to_string())
        }
        _ => (!text.is_empty()).then(|| text.to_string()),
    }
}

fn significant_digits(number: &str) -> usize {
    let mantissa = number.split(['e', 'E']).next().unwrap_or("");
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_start_matches('0').len()
}

/// The order in which classes are listed: by value if all are numbers, otherwise by name.
/// Gives the positions of `names` in that order.
pub(crate) fn sorted_order(names: &[String]) -> Vec<usize> {
    let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse::<f64>().ok()).collect();
    let mut order: Vec<usize> = (0..names.len()).collect();
    match numbers {
        Some(numbers) => {
            order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]).then_with(|| names[a].cmp(&names[b])));
        }
        None => order.sort_by(|&a, &b| names[a].cmp(&names[b])),
    }
    order
}

/// The two sides of a binary task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassPair {
    /// The class that counts as +1.
    pub positive: String,
    /// The classes that count as −1: one, or several when a class is set against the rest.
    pub negative: Vec<String>,
}

impl ClassPair {
    /// Chooses the sides among sorted `classes`: `positive` against all others, or, when it is not named and
    /// there are two classes, the last against the first.
    pub fn choose(classes: &[String], positive: Option<&str>) -> Result<Self, ClassError> {
        if classes.len() < 2 {
            return Err(ClassError::One { class: classes.first().cloned().unwrap_or_default() });
        }
        let positive = match positive {
            Some(label) => class_name(label)
                .filter(|name| classes.contains(name))
                .ok_or_else(|| ClassError::unknown(label, classes))?,
            None if classes.len() == 2 => classes[1].clone(),
            None => return Err(ClassError::Many { count: classes.len(), classes: listed(classes) }),
        };
        let negative = classes.iter().filter(|&class| *class != positive).cloned().collect();
        Ok(Self { positive, negative })
    }

    /// What a prediction of −1 is called.
    pub fn negative_name(&self) -> String {
        match self.negative.as_slice() {
            [only] => only.clone(),
            _ => format!("not {}", self.positive),
        }
    }

    /// The name that a prediction gives: the positive class for scores ≥ 0 (so sign(0) = +1).
    pub fn name_of(&self, score: f64) -> String {
        if score >= 0.0 { self.positive.clone() } else { self.negative_name() }
    }

    /// The sign of a class, or `None` if it belongs to neither side.
    pub fn sign_of(&self, class: &str) -> Option<i8> {
        if class == self.positive {
            Some(1)
        } else {
            self.negative.iter().any(|name| name == class).then_some(-1)
        }
    }
}

/// The classes that a model tells apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Classes {
    /// Two sides of one boundary.
    Pair(ClassPair),
    /// Each class has a score of its own.
    Each {
        /// Their names, in order.
        names: Vec<String>,
    },
}

impl Classes {
    /// The two sides, if that is what there is.
    pub fn pair(&self) -> Option<&ClassPair> {
        match self {
            Classes::Pair(pair) => Some(pair),
            Classes::Each { .. } => None,
        }
    }

    /// The names that predictions give: for two sides, the negative one first.
    pub fn outcomes(&self) -> Vec<String> {
        match self {
            Classes::Pair(pair) => vec![pair.negative_name(), pair.positive.clone()],
            Classes::Each { names } => names.clone(),
        }
    }

    /// The place in [`outcomes`](Self::outcomes) of the right answer for a row of this class, if there is one.
    pub fn outcome_of(&self, class: &str) -> Option<usize> {
        match self {
            Classes::Pair(pair) => pair.sign_of(class).map(|sign| usize::from(sign > 0)),
            Classes::Each { names } => names.iter().position(|name| name == class),
        }
    }

    /// Every class that a row may have.
    pub fn known(&self) -> Vec<String> {
        match self {
            Classes::Pair(pair) => pair.negative.iter().chain([&pair.positive]).cloned().collect(),
            Classes::Each { names } => names.clone(),
        }
    }

    /// The classes in a few words.
    pub fn describe(&self) -> String {
        match self {
            Classes::Pair(pair) => format!("−1 = {}, +1 = {}", pair.negative.join(" or "), pair.positive),
            Classes::Each { names } => names.join(", "),
        }
    }
}

impl ClassError {
    /// The error for a class that is not among those of the data.
    pub(crate) fn unknown(class: &str, classes: &[String]) -> Self {
        ClassError::Unknown { class: class.to_string(), classes: listed(classes) }
    }
}

/// At most a dozen class names, for messages.
fn listed(classes: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut text = classes.iter().take(SHOWN).map(|c| format!("\"{c}\"")).collect::<Vec<_>>().join(", ");
    if classes.len() > SHOWN {
        text.push_str(", …");
    }
    text
}

/// Labels that do not make a binary task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClassError {
    /// There is nothing to separate.
    #[error("all rows to learn from have the label \"{class}\": training needs two classes")]
    One {
        /// The only class.
        class: String,
    },
    /// More classes than two sides.
    #[error("{count} classes found ({classes}) where two are needed")]
    Many {
        /// How many classes there are.
        count: usize,
        /// Their names, shortened.
        classes: String,
    },
    /// A class that was named but is not in the data.
    #[error("no row has the label \"{class}\"; the classes are {classes}")]
    Unknown {
        /// The class asked for.
        class: String,
        /// The names that exist, shortened.
        classes: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spellings_of_one_number_are_one_class() {
        for spelling in ["1", "+1", "1.0", "1e0", " 1 ", "01"] {
            assert_eq!(class_name(spelling).as_deref(), Some("1"));
        }
        assert_eq!(class_name("-0").as_deref(), Some("0"));
        assert_eq!(class_name("1.5").as_deref(), Some("1.5"));
    }

    #[test]
    fn labels_that_a_float_would_merge_stay_apart() {
        let (a, b) = (class_name("9007199254740993"), class_name("9007199254740992"));
        assert_ne!(a, b);
    }

    #[test]
    fn what_no_class_is() {
        for label in ["", "  ", "nan", "inf", "-Infinity"] {
            assert_eq!(class_name(label), None, "{label}");
        }
    }

    #[test]
    fn numbers_sort_by_value_and_words_by_name() {
        let names = |list: &[&str]| list.iter().map(|s| s.to_string()).collect::<Vec<_>>();
        assert_eq!(sorted_order(&names(&["10", "9", "-1"])), [2, 1, 0]);
        assert_eq!(sorted_order(&names(&["b", "10", "a"])), [1, 2, 0]);
    }

    #[test]
    fn a_class_can_be_set_against_the_rest() {
        let classes: Vec<String> = ["a", "b", "c"].map(String::from).into();
        let pair = ClassPair::choose(&classes, Some("b")).unwrap();
        assert_eq!(pair.negative, ["a", "c"]);
        assert_eq!(pair.name_of(-1.0), "not b");
        assert_eq!((pair.sign_of("b"), pair.sign_of("c"), pair.sign_of("d")), (Some(1), Some(-1), None));
        assert!(matches!(ClassPair::choose(&classes, None), Err(ClassError::Many { .. })));
        assert!(matches!(ClassPair::choose(&classes[..1], None), Err(ClassError::One { .. })));
    }

    proptest! {
        #[test]
        fn naming_is_idempotent(label in "\\PC{0,12}") {
            if let Some(name) = class_name(&label) {
                prop_assert_eq!(class_name(&name), Some(name));
            }
        }
    }
}

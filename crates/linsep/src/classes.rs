//! Class names: how labels become classes, how classes are sorted, and which side of the boundary each is on.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The canonical name of the class that a label text denotes.
///
/// Numbers are named by their shortest form, so `1`, `+1`, `1.0` and `1e0` are one class; a number with more
/// digits than a float holds keeps its text, so two different labels never merge. Any other text is a word, with the blanks at
/// its ends: a reader takes off those that are not part of the label.
/// `None`: the text is blank, NaN or infinite, which no class is.
pub fn class_name(label: &str) -> Option<String> {
    match label.parse::<f64>() {
        Ok(number) if !number.is_finite() => None,
        Ok(number) if significant_digits(label) <= 15 => {
            Some(if number == 0.0 { 0.0 } else { number }.to_string())
        }
        _ => (!label.trim().is_empty()).then(|| label.to_string()),
    }
}

/// A name as people are shown it: characters that a terminal obeys and does not show, such as the end of a line, are spelled out.
pub fn printable(name: &str) -> Cow<'_, str> {
    spelled_out(name, is_hidden)
}

/// A text of several lines as people are shown it: as [`printable`], but for the ends of lines and tabs.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    spelled_out(text, |c| is_hidden(c) && !matches!(c, '\n' | '\t'))
}

fn spelled_out(text: &str, is_hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_hidden) {
        return text.into();
    }
    let shown = |c: char| if is_hidden(c) { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(shown).collect::<String>().into()
}

/// Whether a terminal obeys a character instead of showing it: control characters, those that change the direction of the text
/// beside them, and those that end a line or stand for nothing.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

fn significant_digits(number: &str) -> usize {
    let mantissa = number.split(['e', 'E']).next().unwrap_or("");
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_start_matches('0').len()
}

/// All spellings of a truth value in small and capital letters, which mean the same: `TRUE`, `True`, `true` and so on, or
/// those of `yes`. None for any other word, whose case may mean something.
pub(crate) fn spellings(word: &str) -> Vec<String> {
    if !is_truth(word) {
        return Vec::new();
    }
    let capitals = |which: u32| {
        let letters = word.bytes().enumerate();
        let letter = |(place, byte): (usize, u8)| match which >> place & 1 {
            0 => byte.to_ascii_lowercase(),
            _ => byte.to_ascii_uppercase(),
        };
        letters.map(|letter_at| char::from(letter(letter_at))).collect()
    };
    (0..1 << word.len()).map(capitals).collect()
}

/// What the labels of one class have in common: their canonical name, in small letters where it is a truth value.
pub fn class_key(label: &str) -> Option<String> {
    let name = class_name(label)?;
    Some(if is_truth(&name) { name.to_ascii_lowercase() } else { name })
}

fn is_truth(word: &str) -> bool {
    ["true", "false", "yes", "no"].iter().any(|truth| word.eq_ignore_ascii_case(truth))
}

/// The class that a label means among these: by its canonical name, or by another spelling of the same truth value.
pub(crate) fn class_among<'a>(label: &str, classes: &'a [String]) -> Option<&'a String> {
    let name = class_name(label)?;
    let known = |wanted: &str| classes.iter().find(|class| *class == wanted);
    known(&name).or_else(|| spellings(&name).iter().find_map(|spelling| known(spelling)))
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
    pub negative: NegativeClasses,
}

/// The classes of the negative side. Where a class is set against the rest, these are all names but one: thousands of
/// such sides share the names, and none has a copy of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct NegativeClasses {
    names: Arc<[String]>,
    /// The place of the positive class among the names, if it is one of them.
    except: Option<usize>,
}

impl NegativeClasses {
    /// Their names, in order.
    pub fn iter(&self) -> impl Iterator<Item = &String> + Clone {
        let except = self.except;
        self.names.iter().enumerate().filter(move |&(place, _)| Some(place) != except).map(|(_, name)| name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len() - usize::from(self.except.is_some())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The only one, if there is one.
    pub fn only(&self) -> Option<&String> {
        self.iter().next().filter(|_| self.len() == 1)
    }

    /// Their names for a text: see [`shortened`].
    pub fn shortened(&self, separator: &str) -> String {
        shortened(self.iter().map(String::as_str), self.len(), separator)
    }
}

impl From<Vec<String>> for NegativeClasses {
    fn from(names: Vec<String>) -> Self {
        Self { names: names.into(), except: None }
    }
}

impl From<NegativeClasses> for Vec<String> {
    fn from(classes: NegativeClasses) -> Self {
        classes.iter().cloned().collect()
    }
}

impl PartialEq for NegativeClasses {
    fn eq(&self, other: &Self) -> bool {
        let same_home = Arc::ptr_eq(&self.names, &other.names) && self.except == other.except;
        same_home || (self.len() == other.len() && self.iter().eq(other.iter()))
    }
}

impl Eq for NegativeClasses {}

impl ClassPair {
    /// Chooses the sides among sorted `classes`: `positive` against all others, or, when it is not named and
    /// there are two classes, the last against the first.
    pub fn choose(classes: &[String], positive: Option<&str>) -> Result<Self, ClassError> {
        if classes.len() < 2 {
            return Err(ClassError::One { class: classes.first().cloned().unwrap_or_default() });
        }
        let positive = match positive {
            Some(label) => {
                class_among(label, classes).ok_or_else(|| ClassError::unknown(label, classes))?.clone()
            }
            None if classes.len() == 2 => classes[1].clone(),
            None => return Err(ClassError::Many { count: classes.len(), classes: listed(classes) }),
        };
        let negative: Vec<String> = classes.iter().filter(|&class| *class != positive).cloned().collect();
        Ok(Self { positive, negative: negative.into() })
    }

    /// The class at a place against all others, which keep their one home.
    pub(crate) fn against_rest(classes: &Arc<[String]>, place: usize) -> Self {
        let negative = NegativeClasses { names: Arc::clone(classes), except: Some(place) };
        Self { positive: classes[place].clone(), negative }
    }

    /// The name of the negative class.
    pub fn negative_name(&self) -> String {
        match self.negative.only() {
            Some(only) => only.clone(),
            None => format!("not {}", self.positive),
        }
    }

    /// The name that a prediction gives: the positive class for scores ≥ 0 (so sign(0) = +1).
    pub fn name_of(&self, score: f64) -> String {
        if score >= 0.0 { self.positive.clone() } else { self.negative_name() }
    }

    /// The sign of a class, or `None` if it belongs to neither side. As within one file, the spellings `TRUE`, `True` and
    /// `true` are one class.
    pub fn sign_of(&self, class: &str) -> Option<i8> {
        self.sign_named(class).or_else(|| self.sign_spelled(class))
    }

    fn sign_named(&self, class: &str) -> Option<i8> {
        if class == self.positive {
            Some(1)
        } else {
            self.negative.iter().any(|name| name == class).then_some(-1)
        }
    }

    fn sign_spelled(&self, class: &str) -> Option<i8> {
        spellings(class).iter().find_map(|spelling| self.sign_named(spelling))
    }

    /// The sign of each of many classes, in time that is linear in their number.
    pub fn signs_of(&self, classes: &[String]) -> Vec<Option<i8>> {
        if let (true, Some(place)) = (std::ptr::eq(classes, &*self.negative.names), self.negative.except) {
            // The classes are the very names that the sides share.
            let mut signs = vec![Some(-1); classes.len()];
            signs[place] = Some(1);
            return signs;
        }
        let negative: HashSet<&str> = self.negative.iter().map(String::as_str).collect();
        let sign = |class: &String| match class {
            class if *class == self.positive => Some(1),
            class if negative.contains(class.as_str()) => Some(-1),
            class => self.sign_spelled(class),
        };
        classes.iter().map(sign).collect()
    }
}

/// The classes of a model.
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

    /// For each of many classes, the place in [`outcomes`](Self::outcomes) of the right answer for its rows, if there is one. As
    /// within one file, the spellings `TRUE`, `True` and `true` are one class.
    pub fn outcomes_of(&self, classes: &[String]) -> Vec<Option<usize>> {
        match self {
            Classes::Pair(pair) => {
                let signs = pair.signs_of(classes).into_iter();
                signs.map(|sign| sign.map(|sign| usize::from(sign > 0))).collect()
            }
            Classes::Each { names } => {
                let places = places_of(names);
                let place = |name: &String| places.get(name.as_str()).copied();
                let spelled = |class: &String| spellings(class).iter().find_map(place);
                classes.iter().map(|class| place(class).or_else(|| spelled(class))).collect()
            }
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
            Classes::Pair(pair) => {
                format!("−1 = {}, +1 = {}", pair.negative.shortened(" or "), pair.positive)
            }
            Classes::Each { names } => shortened(names.iter().map(String::as_str), names.len(), ", "),
        }
    }
}

/// The place of each name; of the first, where a name comes twice.
pub(crate) fn places_of(names: &[String]) -> HashMap<&str, usize> {
    names.iter().enumerate().rev().map(|(place, name)| (name.as_str(), place)).collect()
}

/// Classes that a text names before it says only how many more there are.
pub const MAX_NAMED: usize = 50;

/// Up to [`MAX_NAMED`] of `count` names for a text, and how many more there are.
pub fn shortened<N: AsRef<str>>(names: impl IntoIterator<Item = N>, count: usize, separator: &str) -> String {
    let mut text = String::new();
    for (place, name) in names.into_iter().take(MAX_NAMED).enumerate() {
        if place > 0 {
            text.push_str(separator);
        }
        text.push_str(name.as_ref());
    }
    if count > MAX_NAMED {
        text.push_str(&format!("{separator}{} more", crate::numbers::grouped((count - MAX_NAMED) as u64)));
    }
    text
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
    #[error("all training rows have the label \"{class}\": training needs two classes")]
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
        for spelling in ["1", "+1", "1.0", "1e0", "01"] {
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

    /// Blanks that a reader has left at the ends are part of the label.
    #[test]
    fn blanks_are_part_of_a_label() {
        for label in [" a", "a ", " 1 ", "\u{a0}a"] {
            assert_eq!(class_name(label).as_deref(), Some(label));
        }
    }

    #[test]
    fn truth_values_are_alike_whatever_the_case_of_their_letters() {
        assert_eq!(spellings("No"), ["no", "No", "nO", "NO"]);
        assert_eq!(spellings("fALSE").len(), 32);
        assert_eq!(spellings("none"), [""; 0]);
        let classes: Vec<String> = ["tRUE", "FALSE"].map(String::from).into();
        let pair = ClassPair::choose(&classes, Some("True")).unwrap();
        let others: Vec<String> = ["true", "falsE", "FALSE", "tRUE", "t"].map(String::from).into();
        assert_eq!(pair.signs_of(&others), [Some(1), Some(-1), Some(-1), Some(1), None]);
        let signs: Vec<Option<i8>> = others.iter().map(|class| pair.sign_of(class)).collect();
        assert_eq!(signs, pair.signs_of(&others));
        let each = Classes::Each { names: classes };
        assert_eq!(each.outcomes_of(&others), [Some(0), Some(1), Some(1), Some(0), None]);
    }

    #[test]
    fn what_a_terminal_obeys_is_spelled_out() {
        assert_eq!(
            printable("größe\n\u{1b}[31m\u{202e}\u{85}\u{feff}x"),
            "größe\\n\\u{1b}[31m\\u{202e}\\u{85}\\u{feff}x"
        );
        assert_eq!(printable_lines("a\tb\n\r\u{2066}"), "a\tb\n\\r\\u{2066}");
        assert_eq!(printable("\u{61c}a\u{200e}b\u{200f}"), "\\u{61c}a\\u{200e}b\\u{200f}");
        assert!(matches!(printable("שלום ✓"), Cow::Borrowed(_)));
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
        assert!(pair.negative.iter().eq(["a", "c"]));
        assert_eq!(pair.name_of(-1.0), "not b");
        assert_eq!((pair.sign_of("b"), pair.sign_of("c"), pair.sign_of("d")), (Some(1), Some(-1), None));
        assert!(matches!(ClassPair::choose(&classes, None), Err(ClassError::Many { .. })));
        assert!(matches!(ClassPair::choose(&classes[..1], None), Err(ClassError::One { .. })));
    }

    /// Whatever the home of the names, a side is the same: equal, with the same signs, and the same text in a file.
    #[test]
    fn sides_that_share_their_names_are_those_that_own_them() {
        let classes: Arc<[String]> = ["a", "b", "c"].map(String::from).into();
        let others: Vec<String> = ["c", "z", "b", "a"].map(String::from).into();
        for place in 0..3 {
            let shared = ClassPair::against_rest(&classes, place);
            let owned = ClassPair::choose(&classes, Some(&classes[place])).unwrap();
            assert_eq!(shared, owned);
            let text = serde_json::to_string(&shared).unwrap();
            assert_eq!(text, serde_json::to_string(&owned).unwrap());
            assert_eq!(serde_json::from_str::<ClassPair>(&text).unwrap(), shared);
            for list in [&classes[..], &others] {
                let expected: Vec<_> = list.iter().map(|class| owned.sign_of(class)).collect();
                assert_eq!(shared.signs_of(list), expected);
                assert_eq!(owned.signs_of(list), expected);
            }
        }
        let each = Classes::Each { names: classes.to_vec() };
        assert_eq!(each.outcomes_of(&others), [Some(2), None, Some(1), Some(0)]);
    }

    #[test]
    fn a_text_names_few_classes() {
        let names: Vec<String> = (0..20_000).map(|class| class.to_string()).collect();
        let text = Classes::Each { names: names.clone() }.describe();
        assert!(text.starts_with("0, 1, 2") && text.ends_with("49, 19,950 more"), "{text}");
        let text = Classes::Each { names: names[..50].to_vec() }.describe();
        assert!(text.ends_with("48, 49"), "{text}");
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

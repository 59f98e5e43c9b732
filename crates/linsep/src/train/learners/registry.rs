//! The registry of learners: each is described once, as data, in its own file.
//!
//! Validation, help texts, forms, comparisons, the table in `docs/learners.md` and the tests all read these descriptors.

use super::options::{OptionValue, Options};
use super::{Combine, Core, Learner};
use crate::dataset::Dataset;
use crate::numbers::bytes;
use crate::observe::Observer;
use crate::store::{Arrays, StoreError};
use crate::train::engine::checkpoint::get_theta;
use crate::train::engine::cost_limit::{RunSize, Work};
use crate::train::engine::evidence::{Detail, Evidence};
use crate::train::engine::fit::Fit;
use crate::train::engine::learned::Learned;
use crate::train::engine::one_against_rest::SharedFit;
use crate::train::engine::row_rule::Start;
use crate::train::engine::run::Outcome;
use crate::train::engine::run::Task;
use crate::train::engine::state::State;
use crate::train::settings::Settings;
use crate::{Error, SettingsError};
use std::fmt;
use std::ops::{Bound, RangeBounds};

/// Everything that is known about a learner before it learns.
#[derive(Debug)]
pub struct Descriptor {
    /// The name by which it is chosen.
    pub name: &'static str,
    /// Its name in reports, without an article.
    pub title: &'static str,
    /// One line: what it does, and when to choose it.
    pub summary: &'static str,
    /// The options that it has beside the settings that all learners share.
    pub options: &'static [OptionDescriptor],
    /// Its abilities.
    pub abilities: Abilities,
    /// How many passes it is usually given at most.
    pub usual_epochs: u64,
    /// With how many rows it still takes part in a comparison of all learners; none for any number.
    pub compared_up_to: Option<RowLimit>,
    /// The learner with its usual options.
    pub(crate) usual: fn() -> Learner,
}

/// A number of rows above which a learner is left out of comparisons, unless it is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLimit {
    /// The most rows.
    pub rows: usize,
    /// The problem with more.
    pub reason: &'static str,
}

/// One option of a learner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptionDescriptor {
    /// The name, in snake case.
    pub name: &'static str,
    /// The symbol of its value in help texts and formulas.
    pub symbol: &'static str,
    /// Which values it takes.
    pub kind: OptionKind,
    /// The meaning of the value `auto`, where the option has it.
    pub auto: Option<&'static str>,
    /// The usual value, as text; empty where the option is usually absent.
    pub default: &'static str,
    /// Its meaning, without its range and default.
    pub help: &'static str,
}

/// Which values an option takes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum OptionKind {
    /// A number.
    Number(NumberRange),
    /// A whole number.
    Whole {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// A number of bytes, at least 1; also as text such as `500MB`.
    Size,
    /// One of a few words.
    Choice(&'static [Choice]),
}

/// A word that an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The word.
    pub name: &'static str,
    /// Its meaning.
    pub help: &'static str,
}

/// The numbers that an option takes. NaN is never one of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberRange {
    /// The lower end.
    pub least: Bound<f64>,
    /// The upper end.
    pub most: Bound<f64>,
}

impl NumberRange {
    /// From `least` to `most`, both included.
    pub const fn from_to(least: f64, most: f64) -> Self {
        Self { least: Bound::Included(least), most: Bound::Included(most) }
    }

    /// Above `least` and below `most`.
    pub const fn between(least: f64, most: f64) -> Self {
        Self { least: Bound::Excluded(least), most: Bound::Excluded(most) }
    }

    /// From `least`, which is included, to `most`, which is not.
    pub const fn from_below(least: f64, most: f64) -> Self {
        Self { least: Bound::Included(least), most: Bound::Excluded(most) }
    }

    /// Whether the number is in the range.
    pub fn contains(&self, number: f64) -> bool {
        (self.least, self.most).contains(&number)
    }
}

impl fmt::Display for NumberRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.least {
            Bound::Included(least) => write!(f, "from {}", shown(least))?,
            Bound::Excluded(least) => write!(f, "above {}", shown(least))?,
            Bound::Unbounded => {}
        }
        match self.most {
            Bound::Included(most) if most == f64::MAX => Ok(()),
            Bound::Included(most) => write!(f, " to {}", shown(most)),
            Bound::Excluded(most) => write!(f, " and below {}", shown(most)),
            Bound::Unbounded => Ok(()),
        }
    }
}

impl NumberRange {
    /// The range in a few words, without ends that only keep arithmetic from overflowing: `above 0`, `from 0 to 1`.
    pub fn brief(&self) -> String {
        const TINY: f64 = 1e-100;
        const HUGE: f64 = 1e100;
        let tiny = |least: f64| 0.0 < least && least <= TINY;
        let unlimited = matches!(self.most, Bound::Included(most) if most >= HUGE);
        match self.least {
            Bound::Included(0.0) if unlimited => "0 or more".to_string(),
            Bound::Included(least) if tiny(least) && unlimited => "above 0".to_string(),
            Bound::Included(least) if tiny(least) => {
                Self { least: Bound::Excluded(0.0), most: self.most }.to_string()
            }
            _ => self.to_string(),
        }
    }
}

/// A number in a few digits.
fn shown(number: f64) -> String {
    let plain = number == 0.0 || (1e-3..1e6).contains(&number.abs());
    if plain { number.to_string() } else { format!("{number:e}") }
}

impl fmt::Display for OptionKind {
    /// The values in a few words, such as `from 0 to 1`, for help texts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionKind::Number(range) => f.write_str(&range.brief()),
            OptionKind::Whole { least, most } => write!(f, "from {least} to {most}"),
            OptionKind::Size => f.write_str("a size such as 500MB or 2GB"),
            OptionKind::Choice(choices) => {
                f.write_str(&listed(choices.iter().map(|choice| choice.name), "or"))
            }
        }
    }
}

impl OptionDescriptor {
    /// The value that a text denotes, if it is of the right kind. Ranges are checked with the learner as a whole.
    pub fn parse(&self, text: &str) -> Result<OptionValue, String> {
        let value = match self.kind {
            _ if self.auto.is_some() && text == AUTO => OptionValue::Text(text.to_string()),
            OptionKind::Number(_) => match text.trim().parse() {
                Ok(number) => OptionValue::Number(number),
                Err(_) => OptionValue::Text(text.to_string()),
            },
            OptionKind::Whole { .. } => match text.trim().parse() {
                Ok(whole) => OptionValue::Whole(whole),
                Err(_) => OptionValue::Text(text.to_string()),
            },
            OptionKind::Size => bytes(text).map_or(OptionValue::Text(text.to_string()), OptionValue::Whole),
            OptionKind::Choice(_) => OptionValue::Text(text.to_string()),
        };
        if self.fits(&value) { Ok(value) } else { Err(self.wanted()) }
    }

    /// Whether a value is of the right kind.
    fn fits(&self, value: &OptionValue) -> bool {
        match (self.kind, value) {
            (_, OptionValue::Text(text)) if self.auto.is_some() && text == AUTO => true,
            (OptionKind::Number(_), value) => value.number().is_some(),
            (OptionKind::Whole { .. }, value) => value.whole().is_some(),
            (OptionKind::Size, value) => value.size().is_some(),
            (OptionKind::Choice(choices), OptionValue::Text(text)) => {
                choices.iter().any(|choice| choice.name == text)
            }
            (OptionKind::Choice(_), _) => false,
        }
    }

    /// Which values there are.
    fn wanted(&self) -> String {
        let wanted = match self.kind {
            OptionKind::Number(_) => format!("a number ({})", self.kind),
            OptionKind::Whole { .. } => format!("a whole number {}", self.kind),
            OptionKind::Size | OptionKind::Choice(_) => self.kind.to_string(),
        };
        let auto = self.auto.map_or(String::new(), |meaning| format!(", or {AUTO} for {meaning}"));
        format!("expected {wanted}{auto}")
    }
}

/// The value of an option that leaves it to the learner.
pub(crate) const AUTO: &str = "auto";

/// Whether a learner can do something, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// It can.
    Yes,
    /// It cannot, for this reason.
    No(&'static str),
}

impl Ability {
    /// Whether it can.
    pub fn is_yes(self) -> bool {
        self == Ability::Yes
    }

    /// Why it cannot.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Ability::Yes => None,
            Ability::No(reason) => Some(reason),
        }
    }
}

/// The abilities of a learner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Whether it learns each row as it comes, needing none of the others: such a learner can learn from a stream, be
    /// stopped at any row and be resumed. The others need all rows in memory.
    pub row_by_row: bool,
    /// Whether it can learn from rows that stay in their file.
    pub out_of_core: Ability,
    /// Whether shards of the rows can be learned at once and mixed.
    pub shards: Ability,
    /// Whether rows and classes can count more than others.
    pub weights: Ability,
    /// Whether it tells more than two classes apart by itself, instead of each against the rest.
    pub many_classes: bool,
    /// Whether it finds a boundary between two sides: all do but one that knows classes only.
    pub two_sides: bool,
    /// Whether it can start elsewhere than at zero.
    pub start: Ability,
    /// Whether it can start at the first row.
    pub start_at_first_row: Ability,
    /// Whether it can be chosen which agreements count as a mistake.
    pub mistake_rule: bool,
    /// Whether its updates are mistakes that Novikoff's theorem counts.
    pub counts_mistakes: bool,
    /// Whether its mistakes, one after the other, can be written as a trace or a teaching set.
    pub traces_mistakes: bool,
    /// Whether its score is a sum of weights times features.
    pub weighs_features: bool,
    /// Whether it looks for the widest margin, so that rows rest on it but for the gap of the optimum.
    pub widens_margin: bool,
    /// Whether rows may lie within that margin, at a price.
    pub soft_margin: bool,
    /// Whether its scores of new rows differ from row to row.
    pub scores_new_rows: bool,
    /// Whether its scores can be turned into probabilities: they are the logarithm of the odds.
    pub probabilities: bool,
    /// Whether it converges on all rows for which it has a model, given enough passes: a run that ended at a limit is then
    /// unfinished. The others converge only on rows that a boundary separates without a mistake.
    pub always_converges: bool,
}

impl Abilities {
    /// What learners can do that go row by row and keep none of the rows.
    pub(crate) const ROW_BY_ROW: Self = Self {
        row_by_row: true,
        out_of_core: Ability::Yes,
        shards: Ability::No("its steps differ in size, and the mixing theorem needs equal steps"),
        weights: Ability::Yes,
        many_classes: false,
        two_sides: true,
        start: Ability::Yes,
        start_at_first_row: Ability::Yes,
        mistake_rule: false,
        counts_mistakes: false,
        traces_mistakes: false,
        weighs_features: true,
        widens_margin: false,
        soft_margin: false,
        scores_new_rows: true,
        probabilities: false,
        always_converges: false,
    };

    /// What learners can do that need all rows.
    pub(crate) const ALL_ROWS: Self = Self {
        row_by_row: false,
        out_of_core: Ability::No("it needs all rows in memory"),
        shards: Ability::No("it does not update weights row by row, so there is nothing to mix"),
        start: Ability::No("it starts at zero"),
        start_at_first_row: Ability::No("it starts at zero"),
        ..Self::ROW_BY_ROW
    };

    /// Whether it needs all rows in memory.
    pub fn needs_all_rows(&self) -> bool {
        !self.row_by_row
    }
}

/// What the file of a learner says about it. The enum [`Learner`] finds it; the rest of the crate asks the enum.
pub(crate) trait Registered {
    /// The descriptor of the learner.
    fn descriptor(&self) -> &'static Descriptor;

    /// The learner with these options instead of its own. They are its options, and of the right kind.
    fn with_options(&self, _: &Options) -> Result<Learner, SettingsError> {
        Ok((self.descriptor().usual)())
    }

    /// Its options with their values.
    fn options(&self) -> Options {
        Options::default()
    }

    /// Checks the ranges of its options, and which of them go together.
    fn validate(&self) -> Result<(), SettingsError> {
        Ok(())
    }

    /// The learner with its options, in a few words.
    fn describe(&self) -> String {
        self.descriptor().title.to_string()
    }

    /// What it can do with the options that it has.
    fn abilities(&self) -> Abilities {
        self.descriptor().abilities
    }

    /// What it does with one row.
    fn row_rule(&self, _: &Settings, _: Start) -> Result<Core, SettingsError> {
        let name = self.descriptor().name;
        Err(SettingsError::new("learner", format!("the {name} learner does not learn row by row")))
    }

    /// What joins the weights of its run into one answer.
    fn combine(&self) -> Combine {
        Combine::Last
    }

    /// Learns from the rows of all classes at once, from the beginning or from a checkpoint. None where each class is learned
    /// against the rest.
    fn fit_classes(
        &self,
        _: &Dataset,
        _: &Settings,
        _: Option<State>,
        _: &mut dyn Observer,
    ) -> Result<Option<Outcome>, Error> {
        Ok(None)
    }

    /// What the runs of one class after the other against the rest have in common.
    fn shared<'a>(
        &self,
        _: &'a Dataset,
        _: &Settings,
        _: &mut dyn Observer,
    ) -> Option<Box<dyn SharedFit + 'a>> {
        None
    }

    /// Evidence of its own in a few words.
    fn tell(&self, _: &Detail, _: &Evidence) -> Option<String> {
        None
    }

    /// What a run over this many rows of this many classes takes.
    fn work(&self, size: &RunSize) -> Work {
        size.one_by_one()
    }

    /// The memory that a run takes at the least, and what for.
    fn memory(&self, size: &RunSize) -> Option<(u64, String)> {
        Some(size.weights())
    }

    /// The decision function of a model, from its arrays.
    fn load(&self, arrays: &Arrays<'_>, prefix: &str, settings: &Settings) -> Result<Learned, StoreError> {
        Ok(Learned::Linear(get_theta(arrays, &format!("{prefix}theta"), settings)?))
    }

    /// Learns from a binary task. None for learners that go row by row, which the engine runs.
    fn fit(&self, _: &Task<'_>, _: &Settings, _: &mut dyn Observer) -> Result<Option<Fit>, Error> {
        Ok(None)
    }
}

impl Descriptor {
    /// The option of that name.
    pub fn option(&self, name: &str) -> Option<&'static OptionDescriptor> {
        self.options.iter().find(|option| option.name == name)
    }

    /// The learner with its usual options.
    pub fn learner(&self) -> Learner {
        (self.usual)()
    }

    /// Refuses options that the learner does not have, with the learners that do, and values of the wrong kind.
    pub(crate) fn check(&self, options: &Options) -> Result<(), SettingsError> {
        for (name, value) in options.iter() {
            let Some(option) = self.option(name) else { return Err(self.foreign(name)) };
            if !option.fits(value) {
                return Err(self.misfit(option, value));
            }
        }
        Ok(())
    }

    fn foreign(&self, name: &str) -> SettingsError {
        let owners = super::learners().iter().filter_map(|other| Some((other.name, other.option(name)?)));
        let (owners, options): (Vec<&str>, Vec<&OptionDescriptor>) = owners.unzip();
        match options.first() {
            Some(option) => {
                let owners = listed(owners.into_iter(), "and");
                let problem = format!("⟦{name}⟧ is an option of ⟦learner={owners}⟧, not of {}", self.name);
                SettingsError::new(option.name, problem)
            }
            None if self.options.is_empty() => SettingsError::new(
                "options",
                format!("\"{name}\" is not an option of a learner; {} has none", self.name),
            ),
            None => {
                let own = listed(self.options.iter().map(|option| option.name), "and");
                let problem = format!("\"{name}\" is not an option of a learner; {} has {own}", self.name);
                SettingsError::new("options", problem)
            }
        }
    }

    fn misfit(&self, option: &OptionDescriptor, value: &OptionValue) -> SettingsError {
        let name = option.name;
        let problem = match option.kind {
            OptionKind::Choice(choices) => {
                let own = listed(choices.iter().map(|choice| choice.name), "and");
                let others = super::learners().iter().filter(|other| {
                    other.option(name).is_some_and(|option| option.fits(value)) && other.name != self.name
                });
                let others = listed(others.map(|other| other.name), "and");
                let remark =
                    if others.is_empty() { String::new() } else { format!("; {value} is for {others}") };
                format!("the {} learner has ⟦{name}⟧ {own}, not {value}{remark}", self.name)
            }
            _ => format!("⟦{name}⟧ is {value}; {}", option.wanted()),
        };
        SettingsError::new(name, problem)
    }
}

/// The names of the learners with some ability, such as `perceptron, averaged and voted`.
pub fn names_of(has: impl Fn(&Abilities) -> bool) -> String {
    listed(super::learners().iter().filter(|learner| has(&learner.abilities)).map(|other| other.name), "and")
}

/// `a, b and c`
pub(crate) fn listed<'a>(names: impl Iterator<Item = &'a str>, join: &str) -> String {
    let names: Vec<&str> = names.collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.to_string(),
        [most @ .., last] => format!("{} {join} {last}", most.join(", ")),
    }
}

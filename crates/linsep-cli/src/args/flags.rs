//! The settings of a job as flags: what the table of the library says, spelled for the command line.

use super::learner::{grid_args, learner_args, learner_options, options_grid};
use crate::console::flags;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use linsep::job::{CompareSpec, DataSpec, SeparateSpec, TheorySpec, TrainSpec, TuneSpec, VerifySpec};
use linsep::read::Source;
use linsep::settings::{self, Given, Kind, Setting, Tables};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// A command, by the tables of its settings and the specification that they are laid over.
pub(crate) trait Job {
    const TABLES: Tables;
    type Spec: Default + Serialize + DeserializeOwned;
}

/// Names a command after its tables.
macro_rules! jobs {
    ($($(#[$meta:meta])* $name:ident: $tables:ident, $spec:ty;)*) => {$(
        $(#[$meta])*
        pub(crate) struct $name;

        impl Job for $name {
            const TABLES: Tables = settings::$tables;
            type Spec = $spec;
        }
    )*};
}

jobs! {
    /// `train`.
    Training: OF_TRAIN, TrainSpec;
    /// Commands that learn a model in order to show it.
    Learning: OF_LEARNING, TrainSpec;
    /// `compare`.
    Comparing: OF_COMPARE, CompareSpec;
    /// `tune`.
    Tuning: OF_TUNE, TuneSpec;
    /// `theory`.
    Explaining: OF_THEORY, TheorySpec;
    /// `separate`.
    Separating: OF_SEPARATE, SeparateSpec;
    /// `verify`.
    Verifying: OF_VERIFY, VerifySpec;
    /// Commands that read rows.
    Reading: OF_READING, Rows;
    /// Commands that read rows that may have weights.
    WeightedReading: OF_WEIGHTED_READING, Rows;
}

/// The settings of a command, as far as they are given.
pub(crate) struct Flags<J> {
    pub(crate) given: Given,
    job: PhantomData<J>,
}

impl<J> fmt::Debug for Flags<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.given.fmt(f)
    }
}

impl<J> Default for Flags<J> {
    fn default() -> Self {
        Self { given: Given::default(), job: PhantomData }
    }
}

/// Where rows come from, for commands whose specification is not laid over.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Rows {
    pub(crate) data: DataSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) row_weights: Option<PathBuf>,
}

impl<J: Job> Flags<J> {
    /// A specification with what is given laid over it.
    pub(crate) fn over(&self, base: &J::Spec) -> Result<J::Spec, linsep::Error> {
        let wrong = |error: serde_json::Error| linsep::Error::Spec {
            place: "the arguments".to_owned(),
            problem: linsep::spelling::needed(&error),
        };
        let mut spec = serde_json::to_value(base).map_err(wrong)?;
        self.given.lay_over(&mut spec);
        serde_json::from_value(spec).map_err(wrong)
    }

    /// The specification of a job of which nothing else is said.
    pub(crate) fn spec(&self) -> Result<J::Spec, linsep::Error> {
        self.over(&J::Spec::default())
    }
}

impl<J: Job<Spec = Rows>> Flags<J> {
    /// Where rows come from and what they weigh.
    pub(crate) fn rows(&self, path: &Path) -> Result<Rows, linsep::Error> {
        let mut rows = self.spec()?;
        rows.data.source = Source::from_argument(path);
        Ok(rows)
    }
}

/// The help of a setting: what it is for, its meaning, how several values are given, and what holds without it.
fn help(setting: &Setting, usual: &str) -> String {
    let mut text = setting.help.to_owned();
    if setting.takes_several() && !matches!(setting.kind, Kind::Learners) {
        text += " (repeat, or separate by commas)";
    }
    if let Kind::WordOrFile(words) = setting.kind {
        let words: Vec<String> = words.iter().map(|word| format!("{} ({})", word.name, word.help)).collect();
        text += &format!(": {}, or a file", words.join(", "));
    }
    if !setting.only.is_empty() {
        // Beside the word that says what it is for, it is the rest of a sentence.
        let mut letters = text.chars();
        let (first, second) = (letters.next(), letters.next());
        if second.is_some_and(|letter| letter.is_lowercase() || letter == ' ') {
            text = first.into_iter().flat_map(char::to_lowercase).chain(text.chars().skip(1)).collect();
        }
        text = format!("{}: {text}", setting.only);
    }
    if !usual.is_empty() {
        text += &format!(" [default: {usual}]");
    }
    flags(&text)
}

/// A setting as an argument. What it is without being given is said in its words, or is that of a job of which nothing is said.
fn arg(setting: &'static Setting, unsaid: Option<&Value>) -> Arg {
    let usual = unsaid.filter(|_| setting.default.is_empty()).and_then(|value| setting.text(value));
    let help = help(setting, usual.as_deref().unwrap_or(setting.default));
    let mut arg = Arg::new(setting.name).long(setting.flag());
    if !setting.details.is_empty() {
        arg = arg.long_help(flags(&format!("{help}\n\n{}", setting.details)));
    }
    arg = arg.help(help);
    if !setting.heading.is_empty() {
        arg = arg.help_heading(setting.heading);
    }
    arg = match setting.symbol {
        "" => arg.value_name(setting.name.to_uppercase()),
        symbol => arg.value_name(symbol),
    };
    if !setting.alias.is_empty() {
        arg = arg.visible_alias(setting.alias);
    }
    if !setting.needs.is_empty() {
        arg = arg.requires(setting.needs);
    }
    if !setting.one_of.is_empty() {
        arg = arg.group(setting.one_of.to_owned() + "_rule");
    }
    arg = arg.conflicts_with_all(setting.excludes);
    if matches!(setting.kind, Kind::Flag) {
        return arg.action(ArgAction::SetTrue);
    }
    arg = match setting.kind {
        Kind::Choice(_) | Kind::Truth(_) | Kind::Format | Kind::Learner | Kind::Learners => {
            let choices = setting.choices();
            let possible = choices.iter().map(|choice| match choice.help {
                "" => PossibleValue::new(choice.name),
                help => PossibleValue::new(choice.name).help(flags(help)),
            });
            arg.value_parser(PossibleValuesParser::new(possible.collect::<Vec<_>>()))
        }
        _ => arg.value_parser(|text: &str| {
            setting.value(&[text.to_owned()]).map(|_| text.to_owned()).map_err(|problem| flags(&problem))
        }),
    };
    match setting.kind {
        Kind::Number | Kind::Whole(..) => arg.allow_negative_numbers(true),
        kind if setting.takes_several() => arg
            .action(ArgAction::Append)
            .value_delimiter(',')
            .allow_hyphen_values(!matches!(kind, Kind::Learners)),
        Kind::Text => arg.allow_hyphen_values(true),
        _ => arg,
    }
}

impl<J: Job> Args for Flags<J> {
    fn augment_args(mut command: Command) -> Command {
        let unsaid = serde_json::to_value(J::Spec::default()).unwrap_or_default();
        for (prefix, settings) in J::TABLES {
            for setting in *settings {
                command = command.arg(arg(setting, setting.value_in(prefix, &unsaid)));
            }
            // Below the settings that learners share.
            if settings.iter().any(|setting| setting.at == "learner") {
                command = command.args(learner_args());
            }
            if settings.iter().any(|setting| setting.at == "learners") {
                command = command.args(grid_args());
            }
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<J: Job> FromArgMatches for Flags<J> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut found = Self::default();
        found.update_from_arg_matches(matches)?;
        Ok(found)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for (prefix, settings) in J::TABLES {
            for setting in *settings {
                let texts: Vec<String> = match setting.kind {
                    Kind::Flag if !matches.get_flag(setting.name) => continue,
                    Kind::Flag => Vec::new(),
                    _ => match matches.get_many::<String>(setting.name) {
                        None => continue,
                        Some(texts) => texts.cloned().collect(),
                    },
                };
                self.given.add(prefix, setting, &texts).map_err(|problem| {
                    let problem = format!("--{} {}: {}\n", setting.flag(), texts.join(","), flags(&problem));
                    Error::raw(ErrorKind::ValueValidation, problem)
                })?;
            }
            if settings.iter().any(|setting| setting.at == "learner") {
                self.given.options = learner_options(matches);
            }
            if settings.iter().any(|setting| setting.at == "learners") {
                self.given.grid = options_grid(matches);
            }
        }
        Ok(())
    }
}

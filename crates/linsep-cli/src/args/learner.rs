//! Which learner, and the options that each has of its own, as the registry of learners lists them.

use crate::console::flags;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, ValueEnum};
use linsep::job::Grid;
use linsep::train::{Descriptor, Mixing, OptionDescriptor, OptionKind, OptionValue, Options, learners};
use std::sync::LazyLock;

/// A learner by its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LearnerArg(&'static Descriptor);

impl LearnerArg {
    /// The name, as specifications have it.
    pub(crate) fn name(self) -> String {
        self.0.name.to_string()
    }
}

impl ValueEnum for LearnerArg {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<LearnerArg>> =
            LazyLock::new(|| learners().iter().map(|&descriptor| LearnerArg(descriptor)).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name).help(self.0.summary))
    }
}

/// Learner-specific options.
#[derive(Debug, Default)]
pub(crate) struct LearnerArgs {
    /// Those that the registry lists.
    pub(crate) options: Options,
    /// Number of shards.
    pub(crate) shards: Option<usize>,
    /// Weight of each shard in the average.
    pub(crate) mixing: Option<Mixing>,
}

/// Learner-specific options, each with several values.
#[derive(Debug, Default)]
pub(crate) struct GridArgs {
    /// Those that are given.
    pub(crate) values: Grid,
}

/// Learning in shards.
#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
struct ShardArgs {
    /// perceptron, averaged: split the rows into S random shards, train them in parallel and average their
    /// weights after every pass; the result depends on the number of shards, not of threads [default: 1]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    shards: Option<usize>,
    /// perceptron, averaged: weight of each shard in the average [default: uniform]
    #[arg(long, value_enum)]
    mixing: Option<MixingArg>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MixingArg {
    /// Equal weights: fewer passes on most data
    Uniform,
    /// Weights proportional to the updates in the pass: at most (R/γ*)² passes with a mistake, for any number
    /// of shards
    Updates,
}

/// Shorthand options.
#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
struct ShortcutArgs {
    /// logistic: bias-reduced logistic regression, the same as --penalty firth
    #[arg(long, conflicts_with = "penalty")]
    firth: bool,
}

const HEADING: &str = "Learner-specific options";

/// An option that one or more learners have.
struct Shared {
    option: &'static OptionDescriptor,
    owners: Vec<(&'static Descriptor, &'static OptionDescriptor)>,
}

/// The options of all learners, each once.
fn shared_options() -> Vec<Shared> {
    let mut all: Vec<Shared> = Vec::new();
    for &learner in learners() {
        for option in learner.options {
            match all.iter_mut().find(|shared| shared.option.name == option.name) {
                Some(shared) => shared.owners.push((learner, option)),
                None => all.push(Shared { option, owners: vec![(learner, option)] }),
            }
        }
    }
    all
}

impl Shared {
    fn to_arg(&self) -> Arg {
        let arg = Arg::new(self.option.name)
            .long(self.option.name.replace('_', "-"))
            .value_name(self.option.symbol)
            .help(flags(&self.help()))
            .help_heading(HEADING)
            .allow_negative_numbers(true);
        match self.option.kind {
            OptionKind::Choice(_) => arg.value_parser(PossibleValuesParser::new(self.choices())),
            _ => {
                // Whether there is an auto is asked again by the learner.
                let owners = self.owners.iter().map(|&(_, option)| option);
                let option = owners.max_by_key(|option| option.auto.is_some()).unwrap_or(self.option);
                arg.value_parser(|text: &str| option.parse(text))
            }
        }
    }

    /// What the option means for which learner, its values and its default.
    fn help(&self) -> String {
        let same = |part: fn(&OptionDescriptor) -> Option<String>| {
            self.owners.iter().all(|(_, option)| part(option) == part(self.option))
        };
        if !same(|option| Some(option.help.to_string())) {
            let owners = self.owners.iter().map(|(learner, option)| {
                let values = in_brackets(values(option));
                format!("{}: {}{values}{}", learner.name, option.help, default(option.default))
            });
            return owners.collect::<Vec<_>>().join("; ");
        }
        let names: Vec<&str> = self.owners.iter().map(|(learner, _)| learner.name).collect();
        let values = match same(values) {
            true => values(self.option),
            false => Some(self.each(values)),
        };
        let values = in_brackets(values);
        let usual = |option: &OptionDescriptor| Some(option.default.to_string());
        let default = match same(usual) {
            true => default(self.option.default),
            false => default(&self.each(usual)),
        };
        format!("{}: {}{values}{default}", names.join(", "), self.option.help)
    }

    /// A part of the descriptors, where it is not the same for all learners.
    fn each(&self, part: fn(&OptionDescriptor) -> Option<String>) -> String {
        let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
        for (learner, option) in &self.owners {
            let text = part(option).unwrap_or_default();
            match groups.iter_mut().find(|(other, _)| *other == text) {
                Some((_, learners)) => learners.push(learner.name),
                None => groups.push((text, vec![learner.name])),
            }
        }
        let groups =
            groups.into_iter().map(|(text, learners)| format!("{text} for {}", learners.join(" and ")));
        groups.collect::<Vec<_>>().join(", ")
    }

    /// The words that some learner takes; those that not all take say which.
    fn choices(&self) -> Vec<PossibleValue> {
        let mut names: Vec<&'static str> = Vec::new();
        let of = |option: &OptionDescriptor| match option.kind {
            OptionKind::Choice(choices) => choices,
            _ => &[],
        };
        for choice in self.owners.iter().flat_map(|(_, option)| of(option)) {
            if !names.contains(&choice.name) {
                names.push(choice.name);
            }
        }
        let value = |name: &'static str| {
            let takers = self.owners.iter().filter_map(|(learner, option)| {
                Some((learner.name, of(option).iter().find(|choice| choice.name == name)?.help))
            });
            let (takers, helps): (Vec<&str>, Vec<&str>) = takers.unzip();
            let help = helps.first().copied().unwrap_or_default();
            let all = takers.len() == self.owners.len();
            let help =
                if all { help.to_string() } else { format!("{}: {}", takers.join(", "), continued(help)) };
            PossibleValue::new(name).help(flags(&help))
        };
        names.into_iter().map(value).collect()
    }
}

/// The values of an option, where they are not listed one by one.
fn values(option: &OptionDescriptor) -> Option<String> {
    let auto = option.auto.map_or(String::new(), |meaning| format!(", or auto: {meaning}"));
    match option.kind {
        OptionKind::Choice(_) => None,
        kind => Some(format!("{kind}{auto}")),
    }
}

/// A sentence as the rest of another: without its capital, unless that is a symbol.
fn continued(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            first.to_lowercase().chain(text.chars().skip(1)).collect()
        }
        _ => text.to_string(),
    }
}

fn in_brackets(values: Option<String>) -> String {
    values.map_or(String::new(), |values| format!(" ({values})"))
}

fn default(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" [default: {text}]") }
}

/// The values of an option that are given.
fn given(option: &OptionDescriptor, matches: &ArgMatches) -> Vec<OptionValue> {
    match option.kind {
        OptionKind::Choice(_) => {
            let words = matches.get_many::<String>(option.name).into_iter().flatten();
            words.map(|word| OptionValue::from(word.as_str())).collect()
        }
        _ => matches.get_many::<OptionValue>(option.name).into_iter().flatten().cloned().collect(),
    }
}

const GRID_HEADING: &str = "Learner-specific options (one value, or several separated by commas)";

impl Args for GridArgs {
    fn augment_args(command: Command) -> Command {
        let several = |shared: &Shared| {
            let several = format!("{}, …", shared.option.symbol);
            shared.to_arg().value_name(several).value_delimiter(',').help_heading(GRID_HEADING)
        };
        command.args(shared_options().iter().map(several))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for GridArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut found = Self::default();
        found.update_from_arg_matches(matches)?;
        Ok(found)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for Shared { option, .. } in shared_options() {
            let values = given(option, matches);
            if !values.is_empty() {
                self.values.insert(option.name.to_string(), values);
            }
        }
        Ok(())
    }
}

impl Args for LearnerArgs {
    fn augment_args(command: Command) -> Command {
        ShardArgs::augment_args(ShortcutArgs::augment_args(
            command.args(shared_options().iter().map(Shared::to_arg)),
        ))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LearnerArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut found = Self::default();
        found.update_from_arg_matches(matches)?;
        Ok(found)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for Shared { option, .. } in shared_options() {
            if let Some(value) = given(option, matches).pop() {
                self.options.set(option.name, value);
            }
        }
        if ShortcutArgs::from_arg_matches(matches)?.firth {
            self.options.set("penalty", "firth");
        }
        let shards = ShardArgs::from_arg_matches(matches)?;
        self.shards = shards.shards;
        self.mixing = shards.mixing.map(|mixing| match mixing {
            MixingArg::Uniform => Mixing::Uniform,
            MixingArg::Updates => Mixing::Updates,
        });
        Ok(())
    }
}

//! The options that each learner has of its own, as the registry of learners lists them.

use crate::console::flags;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches};
use linsep::job::Grid;
use linsep::train::{Descriptor, OptionDescriptor, OptionKind, OptionValue, Options, learners};

const HEADING: &str = "Learner-specific options";

/// A shorthand for one value of an option.
fn firth() -> Arg {
    Arg::new("firth")
        .long("firth")
        .help("logistic: bias-reduced logistic regression, the same as --penalty firth")
        .help_heading(HEADING)
        .conflicts_with("penalty")
        .action(ArgAction::SetTrue)
}

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

/// The options of learners as arguments, each with one value.
pub(super) fn learner_args() -> Vec<Arg> {
    shared_options().iter().map(Shared::to_arg).chain([firth()]).collect()
}

/// The options of learners as arguments, each with several values.
pub(super) fn grid_args() -> Vec<Arg> {
    let several = |shared: &Shared| {
        let several = format!("{}, …", shared.option.symbol);
        shared.to_arg().value_name(several).value_delimiter(',').help_heading(GRID_HEADING)
    };
    shared_options().iter().map(several).collect()
}

/// The options that are given.
pub(super) fn learner_options(matches: &ArgMatches) -> Options {
    let mut options = Options::new();
    for Shared { option, .. } in shared_options() {
        if let Some(value) = given(option, matches).pop() {
            options.set(option.name, value);
        }
    }
    if matches.get_flag("firth") {
        options.set("penalty", "firth");
    }
    options
}

/// The options that are given, each with its values.
pub(super) fn options_grid(matches: &ArgMatches) -> Grid {
    let values =
        shared_options().into_iter().map(|shared| (shared.option.name, given(shared.option, matches)));
    values.filter(|(_, values)| !values.is_empty()).map(|(name, values)| (name.to_string(), values)).collect()
}

//! Jobs as commands for the shell.

use crate::args::Job;
use crate::args::{Comparing, Explaining, Separating, Training, Tuning, Verifying};
use linsep::classes::is_hidden;
use linsep::job::{DataSpec, Spec};
use linsep::read::Source;
use linsep::settings::words;
use serde_json::Value;
use std::path::Path;

/// The command that runs a job.
pub(crate) fn command(spec: &Spec) -> String {
    match spec {
        Spec::Train(spec) => {
            written::<Training>("train", &[&source(&spec.data)], spec, spec.output.as_deref())
        }
        Spec::Compare(spec) => written::<Comparing>("compare", &[&source(&spec.data)], spec, None),
        Spec::Tune(spec) => written::<Tuning>("tune", &[&source(&spec.data)], spec, spec.output.as_deref()),
        Spec::Separate(spec) => {
            written::<Separating>("separate", &[&source(&spec.data)], spec, spec.output.as_deref())
        }
        Spec::Verify(spec) => {
            let certificate = spec.certificate.display().to_string();
            written::<Verifying>("verify", &[&certificate, &source(&spec.data)], spec, None)
        }
        Spec::Theory(spec) => written::<Explaining>("theory", &[&source(&spec.data)], spec, None),
        _ => String::new(),
    }
}

/// The name of a command, its files, the settings that are given, and its output.
fn written<J: Job>(name: &str, files: &[&str], spec: &J::Spec, output: Option<&Path>) -> String {
    let json = |spec: &J::Spec| serde_json::to_value(spec).unwrap_or(Value::Null);
    let mut text = format!("linsep {name}");
    files.iter().for_each(|file| text += &format!(" {}", quoted(file)));
    for word in words(J::TABLES, &json(spec), &json(&J::Spec::default())) {
        text += &format!(" --{}", word.flag);
        text += &match word.value {
            // What begins like a flag is the value of this one.
            Some(value) if value.starts_with('-') => format!("={}", quoted(&value)),
            Some(value) => format!(" {}", quoted(&value)),
            None => String::new(),
        };
    }
    if let Some(path) = output {
        text += &format!(" -o {}", quoted(&path.display().to_string()));
    }
    text
}

/// The data: standard input where it is no file.
fn source(data: &DataSpec) -> String {
    match &data.source {
        // What begins like a flag is a file of this folder.
        Source::File(path) if path.as_os_str().as_encoded_bytes().starts_with(b"-") => {
            format!("./{}", path.display())
        }
        Source::File(path) => path.display().to_string(),
        _ => "-".to_string(),
    }
}

/// A word for the shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./,:=+%@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_string();
    }
    if !text.contains(is_hidden) {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    let spelled = |c: char| match c {
        '\'' | '\\' => format!("\\{c}"),
        '\n' => "\\n".to_owned(),
        c if is_hidden(c) => format!("\\U{:08x}", u32::from(c)),
        c => c.to_string(),
    };
    format!("$'{}'", text.chars().map(spelled).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Arguments, Command};
    use crate::commands::{compare, separate, train};
    use clap::Parser;
    use linsep::random::Random;
    use linsep::settings::{Given, Kind, Setting, unknown};
    use linsep::train::{OptionKind, OptionValue, Options, learners};

    const ROUNDS: usize = 300;
    /// Names of columns, classes and words as files have them.
    const NAMES: [&str; 9] = ["a", "x y", "it's", "-1", "--label", "Größe", "a\nb", "$HOME `ls`", "1"];
    const FILES: [&str; 3] = ["rows of mine.txt", "Cargo.toml", "sub/f'.csv"];

    fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
        from[random.below(from.len() as u64) as usize]
    }

    /// A number as nobody types it.
    fn number(random: &mut Random) -> f64 {
        (random.below(1 << 53) as f64) * 10f64.powi(random.below(20) as i32 - 25)
    }

    /// Some value of a setting, as it is typed.
    fn texts(setting: &Setting, random: &mut Random) -> Vec<String> {
        let one = |text: &str| vec![text.to_owned()];
        match setting.kind {
            Kind::Flag => Vec::new(),
            Kind::Text => one(pick(random, &NAMES)),
            Kind::Checked(check) => {
                let all = [";", "tab", " ", "2", "1-3", "8x9"];
                let fitting: Vec<&str> = all.into_iter().filter(|text| check(text).is_ok()).collect();
                one(pick(random, &fitting))
            }
            Kind::List => (0..1 + random.below(3)).map(|_| pick(random, &NAMES).to_owned()).collect(),
            Kind::Pairs(_) => vec!["a b=words".to_owned(), "2=day-first".to_owned()],
            Kind::Whole(least, most) => {
                let span = most - least;
                let value =
                    if span == u64::MAX { random.below(u64::MAX) } else { least + random.below(span + 1) };
                one(&value.to_string())
            }
            Kind::Number => one(&number(random).to_string()),
            Kind::Size => one(&format!("{}MB", 1 + random.below(5000))),
            Kind::Truth(choices) => one(choices[random.below(2) as usize].name),
            Kind::Choice(_) | Kind::Format | Kind::Learner => one(pick(random, &setting.choices()).name),
            Kind::Learners => (0..2).map(|_| pick(random, &setting.choices()).name.to_owned()).collect(),
            Kind::File | Kind::WordOrFile(_) => one(pick(random, &FILES)),
            // A column, or a file that there is.
            Kind::FileOrColumn(_) => one(pick(random, &["how often", "Cargo.toml"])),
            Kind::Own { .. } => match setting.name {
                "class_weight" => pick(random, &[&["balanced"][..], &["a=2", "x y=0.1"][..]]),
                "cost" => &["fp=1.5,fn=20"][..],
                "reference" => pick(random, &[&["most-frequent", "a=b c"][..], &["a=b", "c=d"][..]]),
                other => panic!("a value of {other}"),
            }
            .iter()
            .map(|text| (*text).to_owned())
            .collect(),
        }
    }

    /// Options that some learner has.
    fn options(random: &mut Random) -> Options {
        let mut options = Options::new();
        for _ in 0..random.below(3) {
            let learner = pick(random, learners());
            if learner.options.is_empty() {
                continue;
            }
            let option = pick(random, learner.options);
            let value = match option.kind {
                OptionKind::Choice(choices) => OptionValue::from(pick(random, choices).name),
                OptionKind::Whole { least, most } => OptionValue::Whole(pick(random, &[least, most])),
                OptionKind::Size => OptionValue::Whole(12_345_678),
                OptionKind::Number(range) => {
                    let fitting = [0.5, 1.0 / 3.0, 2.0, 17.25, 1e-9].into_iter().find(|&x| range.contains(x));
                    OptionValue::Number(fitting.expect("a number of the range"))
                }
                other => panic!("a value of {other:?}"),
            };
            options.set(option.name, value);
        }
        options
    }

    /// A random specification: whatever the table says that there is.
    fn random_spec<J: Job>(random: &mut Random) -> J::Spec {
        let mut given = Given::default();
        let share = pick(random, &[3, 10, 40]);
        let mut groups = Vec::new();
        for (prefix, settings) in J::TABLES {
            for setting in *settings {
                let is_free = !setting.excludes.iter().any(|other| given.has(other))
                    && (setting.needs.is_empty() || setting.needs == "json" || given.has(setting.needs))
                    && (setting.one_of.is_empty() || !groups.contains(&setting.one_of));
                if is_free && random.below(share) == 0 {
                    groups.push(setting.one_of);
                    given.add(prefix, setting, &texts(setting, random)).expect("a value");
                }
                if setting.at == "learner" {
                    given.options = options(random);
                } else if setting.at == "learners" {
                    given.grid = options(random)
                        .iter()
                        .map(|(name, value)| (name.to_owned(), vec![value.clone()]))
                        .collect();
                }
            }
        }
        let mut spec = serde_json::to_value(J::Spec::default()).unwrap();
        spec["data"]["source"] = "a file.csv".into();
        if spec.get("certificate").is_some() {
            spec["certificate"] = "a proof.cert".into();
        }
        given.lay_over(&mut spec);
        let spec = serde_json::from_value(spec.clone()).unwrap_or_else(|error| panic!("{error}: {spec:#}"));
        let places = serde_json::to_value(&spec).unwrap();
        let mut left = unknown(J::TABLES, &places, |_| true);
        left.retain(|place| !["data.source", "data.counts", "certificate"].contains(&place.as_str()));
        assert!(left.is_empty(), "no setting is for {left:?}");
        spec
    }

    /// The words of commands, as a shell reads them.
    fn words_of(commands: &[String]) -> Vec<Vec<String>> {
        let script: String =
            commands.iter().map(|command| format!("printf '%s\\0' {command}; printf '\\1'\n")).collect();
        let done = std::process::Command::new("bash")
            .args(["-c", &script])
            .env("LC_ALL", "C.UTF-8")
            .output()
            .unwrap();
        let text = String::from_utf8(done.stdout).expect("UTF-8");
        let lines = text.split_terminator('\u{1}');
        lines.map(|line| line.split_terminator('\0').map(str::to_owned).collect()).collect()
    }

    fn round_trips<J: Job>(of: fn(J::Spec) -> Spec, parsed: fn(Command) -> J::Spec)
    where
        J::Spec: Clone,
    {
        let mut random = Random::new(5);
        let specs: Vec<J::Spec> = (0..ROUNDS).map(|_| random_spec::<J>(&mut random)).collect();
        let commands: Vec<String> = specs.iter().map(|spec| command(&of(spec.clone()))).collect();
        for ((spec, command), words) in specs.iter().zip(&commands).zip(words_of(&commands)) {
            let arguments =
                Arguments::try_parse_from(words).unwrap_or_else(|error| panic!("{command}\n{error}"));
            let json = |spec: &J::Spec| serde_json::to_value(spec).unwrap();
            assert_eq!(json(&parsed(arguments.command)), json(spec), "{command}");
            // The same as a file.
            let written = of(spec.clone());
            // TOML has no whole numbers above those with a sign.
            if let Ok(text) = written.to_toml() {
                let read = Spec::parse(&text, "spec.toml").unwrap_or_else(|error| panic!("{text}\n{error}"));
                assert_eq!(
                    serde_json::to_value(&read).unwrap(),
                    serde_json::to_value(&written).unwrap(),
                    "{text}"
                );
            }
        }
    }

    fn at<T>(mut spec: T, source: &Path, set: impl FnOnce(&mut T, Source)) -> T {
        set(&mut spec, Source::from_argument(source));
        spec
    }

    #[test]
    fn the_command_of_a_specification_says_all_of_it() {
        round_trips::<Training>(
            |spec| Spec::Train(Box::new(spec)),
            |parsed| match parsed {
                Command::Train(args) => train::spec(&args).unwrap(),
                other => panic!("{other:?}"),
            },
        );
        round_trips::<Comparing>(Spec::Compare, |parsed| match parsed {
            Command::Compare(args) => compare::spec(&args.contest).unwrap(),
            other => panic!("{other:?}"),
        });
        round_trips::<Separating>(Spec::Separate, |parsed| match parsed {
            Command::Separate(args) => separate::spec(&args.decide).unwrap(),
            other => panic!("{other:?}"),
        });
        round_trips::<Tuning>(Spec::Tune, |parsed| match parsed {
            Command::Tune(args) => {
                at(args.flags.spec().unwrap(), &args.data, |spec, source| spec.data.source = source)
            }
            other => panic!("{other:?}"),
        });
        round_trips::<Explaining>(Spec::Theory, |parsed| match parsed {
            Command::Theory(args) => {
                at(args.flags.spec().unwrap(), &args.data, |spec, source| spec.data.source = source)
            }
            other => panic!("{other:?}"),
        });
        round_trips::<Verifying>(Spec::Verify, |parsed| match parsed {
            Command::Verify(args) => at(args.flags.spec().unwrap(), &args.data, |spec, source| {
                (spec.data.source, spec.certificate) = (source, args.certificate.clone());
            }),
            other => panic!("{other:?}"),
        });
    }

    /// No two settings of a command have one name, and no text of help names a setting that there is not.
    #[test]
    fn the_tables_are_sound() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}

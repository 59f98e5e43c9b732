//! `linsep demo mail DIR`: two words alone, then all words.

use super::print_result;
use crate::console::{Console, ProgressDisplay};
use crate::exit::{Exit, Usage};
use crate::layout::paragraph;
use linsep::job::{DataSpec, TrainSpec, Trained};
use linsep::numbers::{counted, grouped, percent};
use linsep::read::{Format, read};
use std::fmt::Write as _;
use std::path::Path;

/// The words of the lecture notes.
const WORDS: [&str; 2] = ["loan", "prize"];

/// The share of the mails that is held out.
const HELD_OUT: f64 = 0.25;

/// Words that are shown for each class.
const SHOWN: usize = 12;

pub(crate) fn run(folder: Option<&Path>, skip_bad: bool, console: Console) -> anyhow::Result<Exit> {
    let Some(folder) = folder else {
        let problem = "demo mail needs a folder of e-mails with one subfolder per class, such as spam and \
                       ham: \
                       linsep demo mail DIR";
        return Err(Usage(problem.to_string()).into());
    };
    let mut text = String::new();
    let name = folder.display();
    let few = trained(folder, &WORDS, skip_bad, console)?;
    let many = trained(folder, &[], skip_bad, console)?;
    let learned: u64 = few.counts.iter().sum();
    let held_out = few.held_out.as_ref().map_or(0, |held_out| held_out.rows);
    writeln!(
        text,
        "{name}: {} mails, classes {}; {} for training, {} held out\n",
        grouped(learned + held_out),
        few.model.classes.outcomes().join(", "),
        grouped(learned),
        grouped(held_out)
    )?;
    writeln!(
        text,
        "1. Two words only: how often an e-mail contains \"{}\" and \"{}\".\n",
        WORDS[0], WORDS[1]
    )?;
    writeln!(text, "$ linsep train {name} --words {} --holdout {HELD_OUT}", WORDS.join(","))?;
    write_errors(&mut text, &few)?;
    let outcomes = few.model.classes.outcomes();
    if let [_, _] = outcomes.as_slice() {
        for (word, weight) in few.model.strongest() {
            let class = &outcomes[usize::from(weight > 0.0)];
            writeln!(text, "  {word:<8} {weight:+.3}  is evidence for {class}")?;
        }
    } else {
        // Each class has weights of its own.
        for (place, class) in outcomes.iter().enumerate() {
            for (word, weight) in few.model.strongest_of(place) {
                let direction = if weight > 0.0 { "for" } else { "against" };
                writeln!(text, "  {word:<8} {weight:+.3}  is evidence {direction} {class}")?;
            }
        }
    }
    let without = without_words(folder, skip_bad, console)?;
    let origin = match without {
        0 => "None is at the origin: each contains at least one of the words.".to_string(),
        1 => "One is at the origin: it contains neither word.".to_string(),
        _ => {
            let mails = match without == learned + held_out {
                true => "All of them are".to_string(),
                false => format!("{} of them are", grouped(without)),
            };
            format!(
                "{mails} at the origin: they contain neither word. A classifier that uses only these two \
                 words gives all of them the same label."
            )
        }
    };
    writeln!(text, "\n{}", paragraph(&format!("Every e-mail is a point in the plane. {origin}")))?;
    writeln!(text, "2. All words: every word that occurs in two or more training e-mails is a feature.\n")?;
    writeln!(text, "$ linsep train {name} --holdout {HELD_OUT}")?;
    write_errors(&mut text, &many)?;
    writeln!(
        text,
        "  {} for {}",
        counted(many.model.learned.columns() as u64, "word", "words"),
        counted(learned, "training mail", "training mails")
    )?;
    let outcomes = many.model.classes.outcomes();
    let sides: Vec<(&String, usize, f64)> = match outcomes.as_slice() {
        [negative, positive] => vec![(positive, 0, 1.0), (negative, 0, -1.0)],
        classes => classes.iter().enumerate().map(|(place, class)| (class, place, 1.0)).collect(),
    };
    for (class, place, sign) in sides {
        let words: Vec<String> = many
            .model
            .strongest_of(place)
            .into_iter()
            .filter(|(_, weight)| weight * sign > 0.0)
            .take(SHOWN)
            .map(|(word, _)| word)
            .collect();
        writeln!(
            text,
            "  for {class}: {}",
            if words.is_empty() { "none".to_string() } else { words.join(", ") }
        )?;
    }
    let same = match few.model.settings.learner.name() == many.model.settings.learner.name() {
        true => "the same learner and the same e-mails; only the features differ",
        false => "the same e-mails with other features",
    };
    let why = match many.model.learned.columns() as u64 >= learned {
        true => "With at least as many words as training e-mails, a small training error proves nothing",
        false => "The training error is measured on the e-mails used for training",
    };
    let shown = format!(
        "What this shows: {same}. {why}, so the error on the held-out e-mails is the one that matters."
    );
    write!(text, "\n{}", paragraph(&shown))?;
    print_result(|out| out.write_all(text.as_bytes()))
}

/// How many mails have none of the two words.
fn without_words(folder: &Path, skip_bad: bool, console: Console) -> anyhow::Result<u64> {
    let data = data(folder, &WORDS, skip_bad);
    let rows = read(&data.source, &data.read, &mut Quiet(ProgressDisplay::of_whole_job(console)))?.dataset;
    let is_origin = |&i: &usize| rows.row(i).iter().all(|(_, times)| times == 0.0);
    Ok((0..rows.len()).filter(is_origin).count() as u64)
}

fn data(folder: &Path, words: &[&str], skip_bad: bool) -> DataSpec {
    let mut data = DataSpec::file(folder);
    // So that another folder is told by its files, and not by options that nobody gave.
    data.read.format = Some(Format::DOCUMENTS);
    data.read.skip_bad = skip_bad;
    data.read.text.words = words.iter().map(|word| word.to_string()).collect();
    data
}

fn trained(folder: &Path, words: &[&str], skip_bad: bool, console: Console) -> anyhow::Result<Trained> {
    let data = data(folder, words, skip_bad);
    let spec = TrainSpec { data, holdout: Some(HELD_OUT), ..TrainSpec::default() };
    match spec.run(&mut Quiet(ProgressDisplay::of_whole_job(console))) {
        // The share is the demo's own.
        Err(linsep::Error::Settings(error)) if error.field == "holdout" => {
            let problem = "demo mail holds out a quarter of the mails of each class, and no class has enough for that: give a \
                           folder with two or more mails in a class";
            Err(Usage(problem.to_string()).into())
        }
        trained => Ok(trained?),
    }
}

/// Shows progress, and hides remarks, which the demo prints itself.
struct Quiet(ProgressDisplay);

impl linsep::observe::Observer for Quiet {
    fn progress(&mut self, progress: &linsep::observe::Progress) -> std::ops::ControlFlow<()> {
        self.0.progress(progress)
    }

    fn note(&mut self, note: linsep::observe::Note<'_>) {
        if let linsep::observe::Note::Warning(_) = note {
            self.0.note(note);
        }
    }

    fn will_stop(&self) -> bool {
        self.0.will_stop()
    }
}

fn write_errors(text: &mut String, trained: &Trained) -> anyhow::Result<()> {
    let training = trained.model.evidence.training_error.map_or("unknown".to_string(), percent);
    writeln!(text, "  training error {training}")?;
    if let Some(held_out) = &trained.held_out {
        writeln!(
            text,
            "  held-out error {} ({} of {})",
            percent(held_out.errors as f64 / held_out.rows.max(1) as f64),
            grouped(held_out.errors),
            grouped(held_out.rows)
        )?;
        let (class, error) = held_out.evaluated.baseline();
        writeln!(text, "  always predicting \"{class}\": {} of the held-out mails wrong", percent(error))?;
    }
    Ok(())
}

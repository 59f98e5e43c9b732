//! `linsep demo mail DIR`: two words alone, then all words.

use super::print_result;
use crate::console::{Console, ProgressDisplay};
use crate::exit::{Exit, Usage};
use linsep::job::{DataSpec, TrainSpec, Trained};
use linsep::numbers::{counted, grouped, percent};
use linsep::read::Format;
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
        let problem = "demo mail needs a folder of mails with one sub-folder for each class, such as spam and ham: \
                       linsep demo mail DIR";
        return Err(Usage(problem.to_string()).into());
    };
    let mut text = String::new();
    let name = folder.display();
    let few = trained(folder, &WORDS, skip_bad, console)?;
    let many = trained(folder, &[], skip_bad, console)?;
    let rows: u64 =
        few.counts.iter().sum::<u64>() + few.held_out.as_ref().map_or(0, |held_out| held_out.rows);
    writeln!(
        text,
        "{name}: {} mails, classes {}; a quarter of them is held out\n",
        grouped(rows),
        few.model.classes.outcomes().join(", ")
    )?;
    writeln!(text, "1. Two words alone: how often a mail says \"{}\" and \"{}\".\n", WORDS[0], WORDS[1])?;
    writeln!(text, "$ linsep train {name} --words {} --holdout {HELD_OUT}", WORDS.join(","))?;
    write_errors(&mut text, &few)?;
    let outcomes = few.model.classes.outcomes();
    if let [_, _] = outcomes.as_slice() {
        for (word, weight) in few.model.strongest() {
            let class = &outcomes[usize::from(weight > 0.0)];
            writeln!(text, "  {word:<8} {weight:+.3}  speaks for {class}")?;
        }
    } else {
        // Each class has weights of its own.
        for (place, class) in outcomes.iter().enumerate() {
            for (word, weight) in few.model.strongest_of(place) {
                let speaks = if weight > 0.0 { "for" } else { "against" };
                writeln!(text, "  {word:<8} {weight:+.3}  speaks {speaks} {class}")?;
            }
        }
    }
    text.push_str(
        "\nEvery mail is a point of the plane, and most of them are the origin: they have neither word. A line through\n\
         two words cannot do better than call all of these the same.\n\n",
    );
    writeln!(text, "2. All words: every word of two or more training mails is a coordinate.\n")?;
    writeln!(text, "$ linsep train {name} --holdout {HELD_OUT}")?;
    write_errors(&mut text, &many)?;
    writeln!(
        text,
        "  {} for {}",
        counted(many.model.learned.columns() as u64, "word", "words"),
        counted(many.counts.iter().sum(), "training mail", "training mails")
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
        writeln!(text, "  for {class}: {}", words.join(", "))?;
    }
    text.push_str(
        "\nWhat this shows: the same learner, the same mails; only the coordinates differ. With more words than mails a\n\
         small training error proves nothing, which is why the mails that were held out are the ones to look at.\n",
    );
    print_result(|out| out.write_all(text.as_bytes()))
}

fn trained(folder: &Path, words: &[&str], skip_bad: bool, console: Console) -> anyhow::Result<Trained> {
    let mut data = DataSpec::file(folder);
    // So that another folder is told by its files, and not by options that nobody gave.
    data.read.format = Some(Format::DOCUMENTS);
    data.read.skip_bad = skip_bad;
    data.read.text.words = words.iter().map(|word| word.to_string()).collect();
    let spec = TrainSpec { data, holdout: Some(HELD_OUT), ..TrainSpec::default() };
    Ok(spec.run(&mut Quiet(ProgressDisplay::of_whole_job(console)))?)
}

/// Shows progress, and leaves remarks to the story.
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
        let most = trained.counts.iter().max().copied().unwrap_or(0) as f64;
        let all = trained.counts.iter().sum::<u64>().max(1) as f64;
        writeln!(
            text,
            "  always answering the class of most training mails: {} wrong",
            percent(1.0 - most / all)
        )?;
    }
    Ok(())
}

//! `linsep demo cats-dogs`: fifty pictures, of which every labelling can be learned by heart.

use super::print_result;
use crate::console::{Console, ProgressDisplay};
use crate::exit::Exit;
use crate::layout::paragraph;
use anyhow::bail;
use linsep::features::{PictureForm, Recipe, Scaler, Scaling, Schema};
use linsep::generate::shapes;
use linsep::model::Predictor;
use linsep::numbers::{self, percent};
use linsep::read::{Format, Loaded, PictureOptions, PictureSize, ReadOptions, Source, read};
use linsep::separate::{SeparateSettings, Verdict, separate};
use linsep::train::Learner;
use linsep::{Dataset, Model, Settings, Status};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The pictures of the lecture notes.
const SIDE: u32 = 128;
const OF_EACH_CLASS: usize = 25;
/// Pictures that are made for the judgement, where none are at hand.
const MADE: u64 = 450;

/// The pictures to learn from, those to judge by, and where they come from.
struct Pictures {
    train: Dataset,
    held_out: Dataset,
    described: String,
}

/// Runs the demo on fifty pictures from a folder, or on fifty generated ones.
pub(super) fn run(folder: Option<&Path>, skip_bad: bool, console: Console) -> anyhow::Result<Exit> {
    let text = cats_dogs(folder, skip_bad, console)?;
    print_result(|out| out.write_all(text.as_bytes()))
}

fn cats_dogs(folder: Option<&Path>, skip_bad: bool, console: Console) -> anyhow::Result<String> {
    let pictures = match folder {
        Some(folder) => from_folder(folder, skip_bad, console)?,
        None => made()?,
    };
    let (train, held_out) = (&pictures.train, &pictures.held_out);
    let classes = train.classes().join(" and ");
    let mut text = format!("{}\n", pictures.described);
    writeln!(
        text,
        "{} training pictures of {classes}, {}; {} pixels each.\n",
        train.len(),
        numbers::counted(held_out.len() as u64, "test picture", "test pictures"),
        numbers::grouped(train.columns() as u64)
    )?;
    let mut display = ProgressDisplay::of_whole_job(console);
    let found = separate(train, &SeparateSettings::default(), &mut display)?;
    // The perceptron converges on separable pictures, if slowly, and on no others.
    let epochs = if found.verdict == Verdict::Complete { 10_000 } else { 100 };
    writeln!(text, "1. Memorised")?;
    let mut all_learned = true;
    let one_class = format!("always {}", most_frequent(train));
    let width = one_class.chars().count().max(11);
    for (learner, name) in [(Learner::Memoriser, "memoriser"), (Learner::Perceptron, "perceptron")] {
        let (training, unseen) = errors(&pictures, learner, epochs, console)?;
        all_learned &= training == 0.0;
        writeln!(
            text,
            "   {name:<width$} training error {:>8}   error on other pictures {:>8}",
            percent(training),
            percent(unseen)
        )?;
    }
    let of_class = |data: &Dataset| error_of(data, |_| most_frequent(train));
    writeln!(
        text,
        "   {one_class:<width$} training error {:>8}   error on other pictures {:>8}",
        percent(of_class(train)),
        percent(of_class(held_out))
    )?;
    writeln!(text, "\n2. Does the training error of the true labels mean anything?")?;
    writeln!(text, "   The true labels:        {}", verdict(found.verdict))?;
    let mixed = relabelled(train)?;
    let other = separate(&mixed, &SeparateSettings::default(), &mut display)?;
    writeln!(text, "   Alternating labels:     {}", verdict(other.verdict))?;
    let (d, n) = (numbers::grouped(train.columns() as u64), train.len());
    let shown = match all_learned {
        true => "So a training error of 0 proves nothing here; only the error on other pictures matters.",
        false => {
            "The training error says nothing about new pictures; only the error on other pictures matters."
        }
    };
    let shown = format!(
        "What this shows: d = {d} ≥ n = {n}. With at least as many pixels as pictures, some boundary \
         separates any labelling of them, unless the pictures are affinely dependent{} {shown}",
        separability([found.verdict, other.verdict])
    );
    write!(text, "\n{}", paragraph(&shown))?;
    Ok(text)
}

/// The end of the sentence about labels, the true ones and those that were dealt in turn. Rows that do not depend on each other are
/// separable for all labels.
fn separability(verdicts: [Verdict; 2]) -> &'static str {
    match verdicts {
        [_, Verdict::Complete] => {
            "; this is proved above for labels that have nothing to do with the pictures."
        }
        [Verdict::Overlap | Verdict::QuasiComplete, _] | [_, Verdict::Overlap | Verdict::QuasiComplete] => {
            ". These are dependent, as equal pictures would be: not every labelling of them is separable."
        }
        _ => ".",
    }
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Complete => "separable: proved",
        Verdict::QuasiComplete => "quasi-completely separable: proved",
        Verdict::Overlap => "not separable: proved",
        Verdict::Undecided => "not decided",
    }
}

/// The error on the training pictures, and on the others.
fn errors(
    pictures: &Pictures,
    learner: Learner,
    epochs: u64,
    console: Console,
) -> anyhow::Result<(f64, f64)> {
    let settings = Settings { learner, epochs, ..Settings::default() };
    let scaler = Scaler::learn(Scaling::MaxAbs, &pictures.train);
    let train = scaler.apply_all(pictures.train.clone())?;
    let outcome = linsep::train(&train, &settings, &mut ProgressDisplay::of_whole_job(console))?;
    if outcome.status == Status::Interrupted {
        return Err(linsep::Error::Interrupted.into());
    }
    let recipe = Recipe { scaling: scaler, ..Recipe::from(Schema::Array { features: train.columns() }) };
    let model = Model::with_recipe(outcome, recipe, None);
    Ok((error(&model, &pictures.train), error(&model, &pictures.held_out)))
}

/// The share of rows that the model gives another class.
fn error(model: &Model, data: &Dataset) -> f64 {
    let mut predictor = Predictor::new(model);
    let names = model.classes.outcomes();
    error_of(data, |i| &names[predictor.predict(data.row(i)).outcome])
}

/// The share of rows that are given another class than theirs.
fn error_of<'a>(data: &Dataset, mut given: impl FnMut(usize) -> &'a str) -> f64 {
    let wrong = |&i: &usize| given(i) != data.classes()[data.labels()[i] as usize];
    (0..data.len()).filter(wrong).count() as f64 / data.len().max(1) as f64
}

/// The class that most rows have, the first of several.
fn most_frequent(data: &Dataset) -> &str {
    let rows_of = |class: &u32| data.labels().iter().filter(|&label| label == class).count();
    let most = (0..data.classes().len() as u32).rev().max_by_key(rows_of);
    most.map_or("", |class| &data.classes()[class as usize])
}

/// The same pictures with labels that have nothing to do with them.
fn relabelled(data: &Dataset) -> anyhow::Result<Dataset> {
    let mut levels = Vec::new();
    for i in 0..data.len() {
        let start = levels.len();
        levels.resize(start + data.columns(), 0.0);
        data.row(i).iter().for_each(|(j, level)| levels[start + j] = level);
    }
    let label = |i: usize| if i.is_multiple_of(2) { "even" } else { "odd" };
    let labels: Vec<&str> = (0..data.len()).map(label).collect();
    Ok(Dataset::dense(data.columns(), &levels, &labels)?)
}

fn made() -> anyhow::Result<Pictures> {
    let form = PictureForm { width: SIDE, height: SIDE, colour: false };
    let all = shapes(form, 2 * OF_EACH_CLASS as u64 + MADE, 0)?;
    let learned = 2 * OF_EACH_CLASS;
    let train = all.subset(&(0..learned).collect::<Vec<_>>())?;
    let held_out = all.subset(&(learned..all.len()).collect::<Vec<_>>())?;
    let described = "No folder was named: these are generated pictures of discs and squares. With \
                     photographs:\n\
                     linsep demo cats-dogs DIR, where DIR has one sub-folder for each of two classes."
        .to_string();
    Ok(Pictures { train, held_out, described })
}

fn from_folder(folder: &Path, skip_bad: bool, console: Console) -> anyhow::Result<Pictures> {
    let (first, second) = parts(folder);
    let loaded = load(first.as_deref().unwrap_or(folder), skip_bad, console)?;
    let data = loaded.dataset;
    if data.classes().len() != 2 {
        bail!("{}: two classes are needed, and there are {}", folder.display(), data.classes().len());
    }
    let (mut learned, mut others, mut taken) = (Vec::new(), Vec::new(), [0, 0]);
    for (i, &label) in data.labels().iter().enumerate() {
        let taken = &mut taken[label as usize];
        *taken += 1;
        if *taken <= OF_EACH_CLASS { &mut learned } else { &mut others }.push(i);
    }
    let held_out = match &second {
        Some(second) => load(second, skip_bad, console)?.dataset,
        None if others.is_empty() => {
            bail!("{}: more than {} pictures of a class are needed", folder.display(), OF_EACH_CLASS)
        }
        None => data.subset(&others)?,
    };
    if held_out.classes() != data.classes() {
        bail!("{}: the classes of the two parts are not the same", folder.display());
    }
    let described = format!("{}: {}", folder.display(), loaded.notes.format);
    Ok(Pictures { train: data.subset(&learned)?, held_out, described })
}

fn load(folder: &Path, skip_bad: bool, console: Console) -> anyhow::Result<Loaded> {
    let pictures = PictureOptions { size: Some(PictureSize { width: SIDE, height: SIDE }), colour: false };
    let options =
        ReadOptions { format: Some(Format::PICTURES), pictures, skip_bad, ..ReadOptions::default() };
    Ok(read(&Source::from(folder), &options, &mut ProgressDisplay::of_whole_job(console))?)
}

/// The folders of the pictures to learn from and of those to judge by, where a folder is divided so.
fn parts(folder: &Path) -> (Option<PathBuf>, Option<PathBuf>) {
    let entries =
        std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    let named = |start: &str| {
        let begins =
            |path: &&PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start));
        folders.iter().find(begins).cloned()
    };
    match (named("train"), named("test")) {
        (Some(first), Some(second)) => (Some(first), Some(second)),
        _ => (None, None),
    }
}

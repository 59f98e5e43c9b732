//! `linsep demo`: the whole job on data that comes with the program.

use super::{demo_mail, demo_pictures, print_result};
use crate::args::{DemoArg, DemoArgs};
use crate::console::{Console, ProgressDisplay};
use crate::exit::{Exit, Usage};
use crate::layout::{rendered, report_lines};
use anyhow::Context;
use linsep::features::{Recipe, Scaler, Scaling};
use linsep::model::{Predictor, evaluate};
use linsep::numbers;
use linsep::read::{Loaded, ReadOptions, Source, read};
use linsep::report::{self, evaluate_pair};
use linsep::split::hold_out;
use linsep::train::Learner;
use linsep::{Dataset, Model, Settings, Status};
use std::fmt::Write;

pub(super) const IRIS: &[u8] = include_bytes!("../../data/iris.csv");
const BREAST_CANCER: &[u8] = include_bytes!("../../data/breast_cancer.csv");
pub(super) const SPAM: &[u8] = include_bytes!("../../data/spam.csv");

pub(crate) fn run(args: &DemoArgs, console: Console) -> anyhow::Result<Exit> {
    let own = |what: &str| Usage(format!("demo {what} has no built-in data to export"));
    match args.data {
        DemoArg::Mail if args.export.is_some() => return Err(own("mail").into()),
        DemoArg::Mail => return demo_mail::run(args.folder.as_deref(), args.skip_bad, console),
        DemoArg::CatsDogs if args.export.is_some() => return Err(own("cats-dogs").into()),
        DemoArg::CatsDogs => return demo_pictures::run(args.folder.as_deref(), args.skip_bad, console),
        _ if args.folder.is_some() => {
            let problem =
                "only demo mail and demo cats-dogs take a folder: the other data sets come with the program";
            return Err(Usage(problem.to_string()).into());
        }
        _ => {}
    }
    let (name, bytes) = match args.data {
        DemoArg::Iris => ("iris.csv", IRIS),
        DemoArg::BreastCancer => ("breast_cancer.csv", BREAST_CANCER),
        DemoArg::Spam | DemoArg::Mail | DemoArg::CatsDogs => ("spam.csv", SPAM),
    };
    if let Some(path) = &args.export {
        linsep::store::write_atomically(path, |out| out.write_all(bytes))?;
        console.note(&format!("{name} written to {}; its label is the last column", path.display()));
        return Ok(Exit::Fine);
    }
    let demo =
        Demo { name, loaded: read(&Source::Memory(name, bytes), &ReadOptions::default(), &mut ())?, console };
    let text = match args.data {
        DemoArg::Iris => demo.iris()?,
        DemoArg::BreastCancer => demo.breast_cancer()?,
        DemoArg::Spam | DemoArg::Mail | DemoArg::CatsDogs => demo.spam()?,
    };
    print_result(|out| out.write_all(text.as_bytes()))
}

struct Demo {
    name: &'static str,
    loaded: Loaded,
    console: Console,
}

impl Demo {
    fn title(&self) -> String {
        let data = &self.loaded.dataset;
        format!(
            "{}: {} rows, {} features, classes {}\n",
            self.name,
            numbers::grouped(data.len() as u64),
            data.columns(),
            data.classes().join(", ")
        )
    }

    /// Trains and tells; `command` is what the user would type to get the same.
    fn train(
        &self,
        text: &mut String,
        data: &Dataset,
        settings: &Settings,
        scaler: Scaler,
        command: &str,
    ) -> anyhow::Result<Model> {
        let mut display = ProgressDisplay::of_whole_job(self.console);
        let outcome = linsep::train(&scaler.apply_all(data.clone())?, settings, &mut display)?;
        if outcome.status == Status::Interrupted {
            return Err(linsep::Error::Interrupted.into());
        }
        let evidence = &outcome.evidence;
        let recipe = Recipe { scaling: scaler, ..Recipe::from(self.loaded.schema.clone()) };
        writeln!(text, "\n$ linsep train {} {command}", self.name)?;
        let mut facts = vec![
            ("Result", report::describe_end(evidence)),
            (
                "Error",
                format!("training {}", evidence.training_error.map_or("unknown".into(), numbers::percent)),
            ),
            ("Margin", report::describe_margin(evidence, &recipe)),
        ];
        facts.extend(report::describe_bound(evidence, settings).map(|bound| ("Bound", bound)));
        facts.push(("Meaning", report::explain(evidence, settings)));
        text.push_str(&report_lines(&facts));
        Ok(Model::with_recipe(outcome, recipe, None))
    }

    fn iris(&self) -> anyhow::Result<String> {
        let mut text = self.title();
        let data = &self.loaded.dataset;
        let perceptron = Settings { learner: Learner::Perceptron, ..Settings::default() };
        text.push_str("\n1. Is setosa linearly separable from the other two species?\n");
        let settings = Settings { positive: Some("setosa".into()), ..perceptron.clone() };
        let model = self.train(
            &mut text,
            data,
            &settings,
            Scaler::None,
            "--learner perceptron --positive setosa --scale none",
        )?;
        text.push_str("\nThe weights that prove it:\n");
        for (name, weight) in model.strongest() {
            writeln!(text, "  {name:<16} {weight:>+10.4}")?;
        }
        text.push_str("\n2. Is versicolor linearly separable from virginica?\n");
        let pair = data.only_classes(&["versicolor".into(), "virginica".into()])?;
        self.train(
            &mut text,
            &pair,
            &perceptron,
            Scaler::None,
            "--learner perceptron --classes versicolor,virginica --scale none",
        )?;
        text.push_str(
            "\nWhat this shows: the first question is answered by a proof, the weights themselves. In the \
             second the\n\
             perceptron never converges; all it can prove is an upper bound on the margin. These two \
             species\n\
             overlap, so no number of passes is enough; `linsep separate` proves it, and names the rows.\n",
        );
        Ok(text)
    }

    fn breast_cancer(&self) -> anyhow::Result<String> {
        let mut text = self.title();
        let data = &self.loaded.dataset;
        let settings = Settings {
            learner: Learner::Perceptron,
            positive: Some("malignant".into()),
            ..Settings::default()
        };
        let scaler = Scaler::learn(Scaling::Standard, data);
        let command = "--learner perceptron --positive malignant --scale standard";
        self.train(&mut text, data, &settings, scaler.clone(), command)?;
        let longer = Settings { epochs: 200_000, ..settings };
        self.train(&mut text, data, &longer, scaler, &format!("{command} --epochs 200000"))?;
        text.push_str(
            "\nWhat this shows: the two kinds of tumours are separable, but by so thin a margin that the perceptron needs\n\
             very many passes to prove it. Until then the evidence says only how small the margin must be.\n",
        );
        Ok(text)
    }

    fn spam(&self) -> anyhow::Result<String> {
        let mut text = self.title();
        let settings = Settings::default();
        let split = hold_out(&self.loaded.dataset, 0.25, settings.seed)?;
        let scaler = Scaler::learn(Scaling::Standard, &split.train);
        let model =
            self.train(&mut text, &split.train, &settings, scaler, "--scale standard --holdout 0.25")?;
        let mut predictor = Predictor::new(&model);
        let held_out = &split.held_out;
        let scores: Vec<f64> =
            (0..held_out.len()).map(|i| predictor.predict(held_out.row(i)).score).collect();
        let pair = model.classes.pair().context("two classes")?;
        let signs = pair.signs_of(held_out.classes());
        let sign = |&label: &u32| signs[label as usize].unwrap_or(-1);
        let signs: Vec<i8> = held_out.labels().iter().map(sign).collect();
        let counts = signs
            .iter()
            .fold([0, 0], |[no, yes], &sign| if sign > 0 { [no, yes + 1] } else { [no + 1, yes] });
        let larger = pair.name_of(f64::from(counts[1] - counts[0]));
        writeln!(text, "\nOn the {} rows held out:", numbers::grouped(held_out.len() as u64))?;
        text.push_str(&rendered(
            &evaluate_pair(&evaluate(&scores, &signs), pair, &larger),
            usize::MAX,
            false,
        ));
        text.push_str("\nStrongest indicators of spam (+) and of legitimate mail (−):\n");
        for (name, weight) in model.strongest().into_iter().take(10) {
            writeln!(text, "  {name:<20} {weight:>+10.3}")?;
        }
        text.push_str(
            "\nWhat this shows: e-mails overlap (three feature vectors even occur with both labels), so no perceptron ever\n\
             converges here. The mean of all its weights is a good classifier all the same.\n",
        );
        Ok(text)
    }
}

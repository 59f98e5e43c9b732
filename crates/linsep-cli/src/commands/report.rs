//! `linsep report`: everything about a data set, or a model on it, as one page.

use super::{command, print_product};
use crate::args::ReportArgs;
use crate::console::{self, Console, ProgressDisplay, flags};
use crate::exit::{Exit, Usage};
use crate::output;
use linsep::job::{FindingsSpec, refuse_overwriting};
use linsep::page::{self, Spelling};
use linsep::store::{check_writable, write_atomically};
use linsep::{Error, Source};
use std::path::Path;

pub(crate) fn run(args: &ReportArgs, console: Console) -> anyhow::Result<Exit> {
    let mut train = args.learn.spec()?;
    train.data.source = Source::from_argument(&args.data);
    if let Some(path) = &args.output {
        let is_page =
            path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html") || ending == "htm");
        if !is_page && !path.starts_with("/dev") {
            return Err(Usage(format!("{}: the name of a report must end in .html", path.display())).into());
        }
        let labels = train.data.read.array.labels_file.as_deref();
        let inputs: Vec<&Path> =
            [Some(args.data.as_path()), args.model.as_deref(), labels].into_iter().flatten().collect();
        refuse_overwriting(&[path], &inputs).map_err(Error::from)?;
        check_writable(path)?;
        output::will_write(&[path]);
    }
    if !(args.time > 0.0 && args.time <= 1e9) {
        return Err(Usage("--time needs a number of seconds above 0".to_string()).into());
    }
    let spec = FindingsSpec { train, model: args.model.clone(), max_seconds: Some(args.time) };
    let findings = spec.run(&mut ProgressDisplay::of_whole_job(console))?;
    if console::interrupted() {
        return Err(Error::Interrupted.into());
    }
    let spelling = Spelling { text: &flags, command: &command };
    let html = page::html(&findings, &spelling);
    match &args.output {
        Some(path) => {
            write_atomically(path, |out| out.write_all(html.as_bytes()))?;
            console.note(&format!("{} is written; any browser opens it", path.display()));
            Ok(Exit::Fine)
        }
        None => print_product(|out| out.write_all(html.as_bytes())),
    }
}

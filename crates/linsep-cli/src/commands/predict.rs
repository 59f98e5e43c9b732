//! `linsep predict`

use crate::args::PredictArgs;
use crate::console::{self, Console, ProgressDisplay};
use crate::exit::{Exit, Usage};
use crate::output::{self, StandardOutput};
use linsep::job::{PredictSpec, Show};
use std::io::Write;

pub(crate) fn run(args: &PredictArgs, console: Console) -> anyhow::Result<Exit> {
    let spec = PredictSpec {
        model: args.model.clone(),
        data: args.flags.rows(&args.data[0])?.data,
        more: args.data[1..].to_vec(),
        explain: args.explain,
        show: match args.show {
            Show::Probability if args.csv => Show::ProbabilityTable,
            Show::Label if args.csv => Show::Table,
            _ if args.csv => {
                let problem = "--csv can be combined with --show probability only: its table already has labels, \
                     scores and distances";
                return Err(Usage(problem.to_string()).into());
            }
            show => show,
        },
        threshold: args.threshold.threshold,
        output: args.output.clone(),
    };
    if args.output.is_some() {
        console::has_results();
    }
    let mut out = StandardOutput::open();
    let done = spec
        .run_to(&mut out, &mut ProgressDisplay::of_whole_job(console))
        .and_then(|_| out.flush().map_err(output::failed));
    match done {
        // Nothing but the lines was asked for, and whoever read them has had enough.
        Err(_) if out.is_closed() => Ok(Exit::Fine),
        done => Ok(done.map(|()| Exit::Fine)?),
    }
}

//! `linsep export`

use super::{print_json, print_report};
use crate::args::ExportArgs;
use crate::console::{self, Console, ProgressDisplay};
use crate::exit::Exit;
use crate::output;
use linsep::job::ExportSpec;
use linsep::report::export_report;

pub(crate) fn run(args: &ExportArgs, console: Console) -> anyhow::Result<Exit> {
    let spec = ExportSpec {
        model: args.model.clone(),
        output: args.output.clone(),
        input: args.input,
        data: args.data.as_ref().map(|data| args.flags.rows(data)).transpose()?.map(|rows| rows.data),
    };
    output::will_write(&[&args.output]);
    console::has_results();
    let exported = spec.run(&mut ProgressDisplay::new(console))?;
    if args.json { print_json(&exported) } else { print_report(&export_report(&exported), console) }
}

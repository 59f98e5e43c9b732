//! `linsep predict`

use crate::args::PredictArgs;
use crate::console::{Console, ProgressDisplay};
use crate::exit::Exit;
use linsep::job::{PredictSpec, Show};
use std::io::{self, BufWriter, Write};

pub(crate) fn run(args: &PredictArgs, console: Console) -> anyhow::Result<Exit> {
    let spec = PredictSpec {
        model: args.model.clone(),
        data: args.read.data(&args.data),
        show: if args.csv { Show::Table } else { args.show },
        output: args.output.clone(),
    };
    let mut out = BufWriter::new(io::stdout().lock());
    spec.run_to(&mut out, &mut ProgressDisplay::new(console))?;
    out.flush().map_err(|source| linsep::Error::Write { path: "to standard output".into(), source })?;
    Ok(Exit::Fine)
}

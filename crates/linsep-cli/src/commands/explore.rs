//! `linsep explore`

use super::{command, demo};
use crate::args::ExploreArgs;
use crate::console::{Console, ProgressDisplay, has_results, interrupted};
use crate::exit::Exit;
use crate::output;
use linsep::SettingsError;
use linsep_explore::{Embedded, Lesson, ServeError, Start, serve};
use std::process::{Command, Stdio};

pub(crate) fn run(args: &ExploreArgs, console: Console) -> anyhow::Result<Exit> {
    if args.data.is_none() && args.flags.given.has("weights") {
        let problem = "⟦weights⟧ needs a data file";
        return Err(linsep::Error::from(SettingsError::new("weights", problem)).into());
    }
    let rows = args.data.as_deref().map(|path| args.flags.rows(path)).transpose()?;
    let (data, row_weights) = rows.map_or((None, None), |rows| (Some(rows.data), rows.row_weights));
    let start = Start {
        data,
        row_weights,
        lesson: args.lesson.as_deref().map(Lesson::open).transpose()?,
        port: args.port,
        embedded: vec![
            Embedded { name: "iris.csv", bytes: demo::IRIS },
            Embedded { name: "spam.csv", bytes: demo::SPAM },
        ],
        command,
    };
    let ready = |address: &str| {
        // From here on Ctrl-C is the usual way to end, and has a moment for it.
        has_results();
        let _ = output::print(|out| {
            writeln!(out, "{address}")?;
            out.flush()
        });
        let opened = !args.no_open && open_browser(address);
        let how = if opened { "The page is open in your browser" } else { "Open this address in a browser" };
        console.note(&format!("{how}. Nothing leaves this machine. Ctrl-C ends it."));
    };
    match serve(start, &mut ProgressDisplay::of_whole_job(console), ready, interrupted) {
        Ok(()) => Ok(Exit::Fine),
        Err(ServeError::Data(error)) => Err(error.into()),
        Err(error) => Err(error.into()),
    }
}

/// Opens the address in a browser, where the system has a program for that.
fn open_browser(address: &str) -> bool {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    // Without a display there is no browser to be opened, or one in the terminal that this program needs.
    let display = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if !display {
        return false;
    }
    let mut open = Command::new(program);
    open.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    open.spawn().is_ok()
}

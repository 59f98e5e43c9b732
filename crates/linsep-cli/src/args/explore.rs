//! The arguments of `linsep explore`.

use super::{ReadArgs, WeightsArg};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ExploreArgs {
    /// Labelled data that the page opens, in any format that `train` reads; files can also be dropped on the page
    pub(crate) data: Option<PathBuf>,
    /// Listen on this port of 127.0.0.1 [default: one that is free]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// Print the address, and do not open a browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Open a lesson: steps with texts, data and settings, as docs/explore.md describes
    #[arg(long, value_name = "FILE")]
    pub(crate) lesson: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) weights: WeightsArg,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

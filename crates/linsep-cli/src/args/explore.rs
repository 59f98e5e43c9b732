//! The arguments of `linsep explore`.

use super::{Flags, WeightedReading};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ExploreArgs {
    /// Labelled data to open in the page, in any format that `train` reads; files can also be dropped on the
    /// page
    pub(crate) data: Option<PathBuf>,
    /// Listen on this port of 127.0.0.1 [default: any free port]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// Print the address without opening a browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Open a lesson file (see docs/explore.md): a sequence of steps with text, data and settings
    #[arg(long, value_name = "FILE")]
    pub(crate) lesson: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) flags: Flags<WeightedReading>,
}

//! `linsep generate`

use super::print_product;
use crate::args::{GenerateArgs, GenerateFormatArg, KindArg};
use crate::console::{Console, ProgressDisplay};
use crate::exit::{Exit, Usage};
use clap::ValueEnum;
use linsep::generate::{FileFormat, Limit, Synthetic, Written, write};
use linsep::numbers;
use linsep::store::write_atomically;
use std::io::{self, Write};

pub(crate) fn run(args: &GenerateArgs, console: Console) -> anyhow::Result<Exit> {
    let recipe = recipe(args)?;
    recipe.validate().map_err(|error| {
        // The user knows the setting by its flag.
        let flag = format!("--{}", error.setting.replace('_', "-"));
        Usage(error.to_string().replacen(error.setting, &flag, 1))
    })?;
    let format = match args.format {
        Some(GenerateFormatArg::Libsvm) => FileFormat::Libsvm,
        Some(GenerateFormatArg::Csv) => FileFormat::Csv,
        None if args.kind == KindArg::Text => FileFormat::Libsvm,
        None => FileFormat::Csv,
    };
    let limit = match args.size {
        Some(bytes) => Limit::Bytes(bytes),
        None => Limit::Rows(args.rows.unwrap_or(1000)),
    };
    let mut display = match args.output {
        Some(_) => ProgressDisplay::new(console),
        None => ProgressDisplay::of_whole_job(console),
    };
    let mut written = None;
    let mut job = |out: &mut dyn Write| -> io::Result<()> {
        written = Some(write(&recipe, args.seed, limit, format, out, &mut display)?);
        Ok(())
    };
    match &args.output {
        // What was made before Ctrl-C can be used: whole rows. If writing fails, there is no file.
        Some(path) => write_atomically(path, |out| job(out))?,
        None => {
            print_product(|out| job(out))?;
        }
    }
    drop(display);
    let Some(Written { rows, bytes, complete }) = written else { return Ok(Exit::Fine) };
    let name = args.output.as_ref().map_or("standard output".into(), |path| path.display().to_string());
    console.note(&format!(
        "{}, {} bytes, to {name}{}",
        numbers::counted(rows, "row", "rows"),
        numbers::grouped(bytes),
        if complete { "" } else { " (interrupted; all rows are whole)" }
    ));
    Ok(if complete { Exit::Fine } else { Exit::Interrupted })
}

/// The recipe with the settings that were given; a setting that the recipe does not have is refused.
fn recipe(args: &GenerateArgs) -> Result<Synthetic, Usage> {
    // The library knows the defaults; its names and those of the arguments are the same.
    let name = args.kind.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default();
    let unknown = || Usage(format!("there is no kind of data called {name}"));
    let mut recipe = Synthetic::named(&name).ok_or_else(unknown)?;
    let unused = |name: &str| {
        Usage(format!("--{name} does not apply to this kind of data; see linsep generate --help"))
    };
    let (mut margin_slot, mut spread_slot, mut noise_slot, mut per_row_slot, mut features_slot) =
        (None, None, None, None, None);
    match &mut recipe {
        Synthetic::Square => {}
        Synthetic::Blobs { features, margin, spread } => {
            (features_slot, margin_slot, spread_slot) = (Some(features), Some(margin), Some(spread));
        }
        Synthetic::Xor { noise } => noise_slot = Some(noise),
        Synthetic::RandomLabels { features } => features_slot = Some(features),
        Synthetic::Text { features, per_row, noise } => {
            (features_slot, per_row_slot, noise_slot) = (Some(features), Some(per_row), Some(noise));
        }
    }
    fn set<T: Copy>(slot: Option<&mut T>, given: Option<T>, error: Usage) -> Result<(), Usage> {
        match (slot, given) {
            (_, None) => Ok(()),
            (Some(slot), Some(value)) => {
                *slot = value;
                Ok(())
            }
            (None, Some(_)) => Err(error),
        }
    }
    set(features_slot, args.features, unused("features"))?;
    set(margin_slot, args.margin, unused("margin"))?;
    set(spread_slot, args.spread, unused("spread"))?;
    set(noise_slot, args.noise, unused("noise"))?;
    set(per_row_slot, args.per_row, unused("per-row"))?;
    Ok(recipe)
}

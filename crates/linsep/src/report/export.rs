//! The report of a model that was written as ONNX.

use super::Block;
use crate::classes::shortened;
use crate::job::{Exported, Rounding};
use crate::model::{InputNumbers, OnnxInput};
use crate::numbers::{counted, grouped, percent};

/// The inputs and outputs of the file, for people.
pub fn export_report(exported: &Exported) -> Vec<Block> {
    let inputs: Vec<String> = exported.inputs.iter().map(input).collect();
    let mut facts = vec![
        ("File", format!("{}, {}", exported.spec.output.display(), counted(exported.bytes, "byte", "bytes"))),
        ("Inputs", shortened(&inputs, inputs.len(), "; ")),
        ("Outputs", exported.outputs.join(", ")),
        ("Classes", shortened(&exported.classes, exported.classes.len(), ", ")),
    ];
    facts.extend(exported.rounding.as_ref().map(|found| ("f32", rounding(found, exported.spec.input))));
    vec![Block::Facts(facts)]
}

fn input(input: &OnnxInput) -> String {
    let OnnxInput { name, kind, columns, width } = input;
    let of = match &columns[..] {
        [] => String::new(),
        [one] if one == name => String::new(),
        columns => format!(": {}", shortened(columns, columns.len(), ", ")),
    };
    let columns = if *width == 1 { String::new() } else { format!(" × {}", grouped(*width as u64)) };
    format!("{name} ({kind}{columns}){of}")
}

/// What 32 bits change.
fn rounding(found: &Rounding, numbers: InputNumbers) -> String {
    let rows = counted(found.rows, "row", "rows");
    if found.other_class == 0 {
        return format!(
            "rounding the numbers of {rows} to 32 bits changes no class; a score changes by at most {:.1e}",
            found.largest_change
        );
    }
    let lines: Vec<String> = found.lines.iter().map(u64::to_string).collect();
    let cure = match numbers {
        InputNumbers::F32 => "; with ⟦input=f64⟧ none changes",
        InputNumbers::F64 => "; this file takes 64 bits, so none does",
    };
    format!(
        "rounding the numbers of {rows} to 32 bits changes the class of {} ({}), in the lines {}{cure}",
        grouped(found.other_class),
        percent(found.other_class as f64 / found.rows as f64),
        shortened(&lines, usize::try_from(found.other_class).unwrap_or(usize::MAX), ", ")
    )
}

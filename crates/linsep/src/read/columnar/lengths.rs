//! Whether an Arrow file is as long as it says.
//!
//! The library asks for memory by the lengths that a file states, before it reads: a few changed bytes would take gigabytes.

use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{Block, root_as_footer, root_as_message};
use std::io::{Read, Seek, SeekFrom};

/// What is wrong with the lengths of a file or a stream, if anything. The reader is left at its beginning.
pub(super) fn check<R: Read + Seek>(input: &mut R, is_file: bool) -> Result<(), String> {
    let checked = if is_file { of_file(input) } else { of_stream(input) };
    input.rewind().map_err(|error| error.to_string())?;
    checked.ok_or_else(|| "the file is damaged: it is shorter than the parts that it names".to_string())
}

/// The parts of a file are named at its end.
fn of_file<R: Read + Seek>(input: &mut R) -> Option<()> {
    let length = input.seek(SeekFrom::End(0)).ok()?;
    let mut tail = [0; 10];
    input.seek(SeekFrom::End(-10)).ok()?;
    input.read_exact(&mut tail).ok()?;
    let footer = read_footer_length(tail).ok()?;
    let start = length.checked_sub(10)?.checked_sub(footer as u64)?;
    input.seek(SeekFrom::Start(start)).ok()?;
    let mut text = vec![0; footer];
    input.read_exact(&mut text).ok()?;
    let footer = root_as_footer(&text).ok()?;
    let fits = |block: &Block| {
        let parts = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()];
        let end: Option<u64> =
            parts.iter().try_fold(0u64, |end, &part| end.checked_add(u64::try_from(part).ok()?));
        end.is_some_and(|end| end <= length)
    };
    let blocks = footer.recordBatches().into_iter().chain(footer.dictionaries()).flatten();
    blocks.into_iter().all(fits).then_some(())
}

/// The parts of a stream follow each other, each with its lengths before it.
fn of_stream<R: Read + Seek>(input: &mut R) -> Option<()> {
    const CONTINUES: u32 = u32::MAX;
    let length = input.seek(SeekFrom::End(0)).ok()?;
    let mut at = input.seek(SeekFrom::Start(0)).ok()?;
    while at < length {
        let mut number = |at: &mut u64| {
            let mut bytes = [0; 4];
            input.read_exact(&mut bytes).ok()?;
            *at += 4;
            Some(u32::from_le_bytes(bytes))
        };
        let mut metadata = number(&mut at)?;
        if metadata == CONTINUES {
            metadata = number(&mut at)?;
        }
        if metadata == 0 {
            break;
        }
        if u64::from(metadata) > length - at {
            return None;
        }
        let mut text = vec![0; metadata as usize];
        input.read_exact(&mut text).ok()?;
        let body = u64::try_from(root_as_message(&text).ok()?.bodyLength()).ok()?;
        at = (at + u64::from(metadata)).checked_add(body).filter(|&end| end <= length)?;
        input.seek(SeekFrom::Start(at)).ok()?;
    }
    Some(())
}

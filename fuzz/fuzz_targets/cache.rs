#![no_main]

//! Caches: as they come, and with checksums that fit, so that what lies behind them is reached.

use linsep::read::Format;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    linsep_fuzz::read_bytes(data, &[Some(Format::LINSEP)]);
    if let Some(sealed) = sealed(data) {
        linsep_fuzz::read_bytes(&sealed, &[Some(Format::LINSEP)]);
    }
});

/// The same bytes with the checksums of what they hold (docs/formats.md), if they have the shape of a cache. The first
/// byte, which chooses the options, stays.
fn sealed(data: &[u8]) -> Option<Vec<u8>> {
    let (&choice, bytes) = data.split_first()?;
    let number = |bytes: &[u8]| Some(u64::from_le_bytes(bytes.try_into().ok()?) as usize);
    let tail = bytes.len().checked_sub(48)?;
    let start = number(&bytes[tail..tail + 8])?;
    let text = bytes.get(start..tail)?;
    let mut metadata: serde_json::Value = serde_json::from_slice(text).ok()?;
    let count = |key: &str| metadata[key].as_u64().unwrap_or(0) as usize;
    let (rows, stored) = (count("rows"), count("stored"));
    let width = if metadata["values"] == "f32" { 4 } else { 8 };
    let lengths = [
        ("offsets", rows.wrapping_add(1).wrapping_mul(8)),
        ("indices", stored.wrapping_mul(4)),
        ("values", stored.wrapping_mul(width)),
        ("labels", rows.wrapping_mul(4)),
        ("lines", rows.wrapping_mul(8)),
    ];
    for (name, length) in lengths {
        let Some(first) = metadata["arrays"][name]["start"].as_u64() else { continue };
        let first = first as usize;
        let Some(array) = first.checked_add(length).and_then(|end| bytes.get(first..end)) else { continue };
        let mut sum = blake3::Hasher::new();
        array.chunks(1 << 20).for_each(|piece| {
            sum.update(blake3::hash(piece).as_bytes());
        });
        metadata["arrays"][name]["sum"] = sum.finalize().to_hex().to_string().into();
    }
    let text = serde_json::to_vec(&metadata).ok()?;
    let place = [(start as u64).to_le_bytes(), (text.len() as u64).to_le_bytes()].concat();
    let sum = blake3::Hasher::new().update(bytes.get(..64)?).update(&place).update(&text).finalize();
    Some([&[choice][..], bytes.get(..start)?, &text, &place, sum.as_bytes()].concat())
}

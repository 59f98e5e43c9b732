#![no_main]

//! Tables with a column of texts: what is learned from them reads them again as it learned them.

use linsep::features::{Ngrams, TermKind, TermWeights, TextOptions};
use linsep::read::{Format, ReadOptions, Source, read};
use linsep::Dataset;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let bit = |place: u8| choice >> place & 1 == 1;
    let mut text = TextOptions::default();
    text.columns = vec!["1".to_string()];
    text.terms = bit(0).then_some(TermKind::Characters);
    text.ngrams = bit(1).then_some(Ngrams { least: 1, most: 2 });
    text.weights = Some(TermWeights::ALL[usize::from(choice >> 2 & 3) % 3]);
    text.min_count = (!bit(5)).then_some(1);
    text.hash_bits = bit(5).then_some(8);
    let options = ReadOptions {
        format: Some(Format::CSV),
        skip_bad: bit(4),
        max_features: Some(1 << 16),
        text,
        ..ReadOptions::default()
    };
    let source = Source::Shared("fuzz".to_string(), bytes.into());
    let Ok(loaded) = read(&source, &options, &mut ()) else { return };
    let Ok((schema, data)) = linsep::features::settle_columns(loaded.schema, loaded.dataset, None) else { return };
    assert_eq!(schema.features(), data.columns());
    let json = serde_json::to_string(&schema).expect("a schema can be written");
    let schema = serde_json::from_str(&json).expect("what was written can be read");
    let again = ReadOptions { schema: Some(schema), text: TextOptions::default(), ..options };
    if let Ok(again) = read(&source, &again, &mut ()) {
        let rows = |data: &Dataset| (0..data.len()).map(|i| data.row(i).iter().collect::<Vec<_>>()).collect::<Vec<_>>();
        assert_eq!(rows(&again.dataset), rows(&data));
    }
});

#![no_main]

//! Rows for prediction: bytes read by the recipe of a model (names, words, fills, scaling) that was learned from another
//! file. The first byte chooses the model and the options.

use linsep::job::{DataSpec, TrainSpec};
use linsep::model::Predictor;
use linsep::read::{CsvOptions, Format, Labels, Missing, ReadOptions, RowStream, Source};
use linsep::scale::Scaling;
use linsep::{Model, Row};
use std::sync::LazyLock;

const TABLE: &[u8] =
    b"size,colour,weight,kind\n1.5,red,2,a\n-2,green,,b\n3,,1,b\n0.25,blue,7,a\n7,green,-1e3,a\n";
const BARE: &[u8] = b"1,2,left\n2,1,right\n0.5,3,left\n4,1,right\n";
const PAIRS: &[u8] = b"+1 1:0.5 3:2e-3\n-1 2:1.5\n+1 1:1 4:2\n-1 2:3 3:1\n";

static MODELS: LazyLock<Vec<Model>> = LazyLock::new(|| {
    [(TABLE, Scaling::Standard), (TABLE, Scaling::None), (BARE, Scaling::MaxAbs), (PAIRS, Scaling::UnitRows)]
        .into_iter()
        .map(|(rows, scale)| {
            let table = rows != PAIRS;
            let csv = CsvOptions {
                missing: if table { Missing::Mean } else { Missing::Refuse },
                ..CsvOptions::default()
            };
            let data = DataSpec {
                source: Source::Memory("seed", rows),
                read: ReadOptions { csv, ..ReadOptions::default() },
                ..DataSpec::default()
            };
            let spec = TrainSpec { data, scale: Some(scale), ..TrainSpec::default() };
            spec.run(&mut ()).expect("these rows can be learned from").model
        })
        .collect()
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let model = &MODELS[usize::from(choice & 3)];
    let format =
        [None, Some(Format::CSV), Some(Format::LIBSVM), Some(Format::NPY)][usize::from(choice >> 2 & 3)];
    let table = format == Some(Format::CSV);
    let options = ReadOptions {
        format,
        schema: Some(model.recipe.columns.clone()),
        labels: if choice >> 4 & 1 == 1 { Labels::Required } else { Labels::Ignored },
        skip_bad: choice >> 5 & 1 == 1,
        csv: CsvOptions {
            missing: if table && choice >> 6 & 1 == 1 { Missing::DropRow } else { Missing::Refuse },
            header: if table && choice >> 7 & 1 == 1 { Some(false) } else { None },
            ..CsvOptions::default()
        },
        ..ReadOptions::default()
    };
    let source = Source::Shared("fuzz".to_string(), bytes.into());
    let Ok(mut stream) = RowStream::open(&source, &options) else { return };
    let mut predictor = Predictor::new(model);
    loop {
        match stream.next_batch() {
            Ok(Some(batch)) => (0..batch.len()).for_each(|i| label(&mut predictor, batch.row(i))),
            Ok(None) => return drop(stream.notes()),
            Err(error) => return drop(error.to_string()),
        }
    }
});

fn label(predictor: &mut Predictor<'_>, row: Row<'_>) {
    let outcomes = predictor.model().classes.outcomes().len();
    assert!(predictor.predict(row).outcome < outcomes);
}

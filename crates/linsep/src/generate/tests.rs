use super::*;
use crate::dataset::Rows;
use crate::observe::{Observer, Progress};
use crate::read::{ReadOptions, Schema, Source, read};
use proptest::prelude::*;
use std::io;
use std::ops::ControlFlow;

const TEXT: Synthetic = Synthetic::Text { features: 47_000, per_row: 63.5, noise: 0.01 };

fn bytes(kind: &Synthetic, seed: u64, limit: Limit, format: FileFormat) -> Vec<u8> {
    let mut out = Vec::new();
    let written = write(kind, seed, limit, format, &mut out, &mut ()).unwrap();
    assert!(written.complete);
    assert_eq!(written.bytes, out.len() as u64);
    let header = usize::from(format == FileFormat::Csv);
    assert_eq!(written.rows as usize, out.iter().filter(|&&byte| byte == b'\n').count() - header);
    out
}

fn signs(data: &Dataset) -> Vec<f64> {
    data.labels().iter().map(|&label| data.classes()[label as usize].parse().unwrap()).collect()
}

fn dense_rows(data: &Dataset) -> Vec<Vec<f64>> {
    assert!(matches!(data.rows(), Rows::Dense { .. }));
    (0..data.len()).map(|i| data.row(i).iter().map(|(_, value)| value).collect()).collect()
}

#[test]
fn square_is_labelled_by_its_diagonal() {
    let data = dataset(&Synthetic::Square, 2000, 3).unwrap();
    for (row, sign) in dense_rows(&data).iter().zip(signs(&data)) {
        assert!(row.iter().all(|x| (-1.0..1.0).contains(x)));
        assert_ne!(row[0], row[1]);
        assert_eq!(sign > 0.0, row[1] > row[0]);
    }
    assert!(data.class_counts().iter().all(|count| (900..1100).contains(count)));
}

#[test]
fn xor_labels_are_products_and_without_noise_there_are_four_points() {
    let data = dataset(&Synthetic::Xor { noise: 0.0 }, 200, 5).unwrap();
    let mut points: Vec<(i32, i32)> = Vec::new();
    for (row, sign) in dense_rows(&data).iter().zip(signs(&data)) {
        assert_eq!(row[0] * row[1], sign);
        assert!(row.iter().all(|x| x.abs() == 1.0));
        points.push((row[0] as i32, row[1] as i32));
    }
    points.sort_unstable();
    points.dedup();
    assert_eq!(points, [(-1, -1), (-1, 1), (1, -1), (1, 1)]);
    let noisy = dataset(&Synthetic::Xor { noise: 0.1 }, 1000, 5).unwrap();
    for (row, sign) in dense_rows(&noisy).iter().zip(signs(&noisy)) {
        assert_eq!((row[0] * row[1]).signum(), sign);
    }
}

#[test]
fn random_labels_are_patterns_of_ones() {
    let data = dataset(&Synthetic::RandomLabels { features: 130 }, 500, 1).unwrap();
    let ones = dense_rows(&data).concat();
    assert!(ones.iter().all(|x| x.abs() == 1.0));
    assert!(ones.iter().sum::<f64>().abs() < 1500.0);
    assert!(data.class_counts().iter().all(|count| (200..300).contains(count)));
}

/// A number as a sum of two floats: products and sums err by about 2⁻¹⁰⁰, far below what the margin adds.
#[derive(Clone, Copy)]
struct Double(f64, f64);

impl Double {
    fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Double(high, a.mul_add(b, -high))
    }

    fn add(self, other: Self) -> Self {
        let sum = self.0 + other.0;
        let part = sum - self.0;
        let error = (self.0 - (sum - part)) + (other.0 - part);
        let low = error + self.1 + other.1;
        let high = sum + low;
        Double(high, low - (high - sum))
    }

    fn dot(a: &[f64], b: &[f64]) -> Self {
        a.iter().zip(b).fold(Double(0.0, 0.0), |sum, (&x, &y)| sum.add(Double::product(x, y)))
    }

    fn is_at_least(self, other: Self) -> bool {
        let difference = self.add(Double(-other.0, -other.1));
        difference.0 + difference.1 >= 0.0
    }
}

/// Whether sign · ⟨u, x⟩ ≥ margin · ‖u‖, with ‖u‖ from above.
fn keeps_margin(sign: f64, normal: &[f64], row: &[f64], margin: f64) -> bool {
    let agreement = Double::dot(normal, row);
    let agreement = Double(sign * agreement.0, sign * agreement.1);
    // √(1 + e) ≤ 1 + e/2, and e is tiny: u has norm 1 up to rounding.
    let squared = Double::dot(normal, normal);
    let excess = squared.add(Double(-1.0, 0.0)).0;
    assert!(excess.abs() < 1e-9);
    let bound = Double(margin, 0.0).add(Double::product(margin, excess / 2.0));
    agreement.is_at_least(bound)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn blobs_keep_their_margin_exactly(
        features in 1u32..40,
        margin in prop_oneof![Just(1e-6), Just(1e6), 1e-3..10.0f64],
        spread in prop_oneof![Just(0.0), Just(1e6), 1e-3..10.0f64],
        seed: u64,
    ) {
        let kind = Synthetic::Blobs { features, margin, spread };
        let normal = kind.separator(seed).unwrap().unwrap();
        let data = dataset(&kind, 50, seed).unwrap();
        for (row, sign) in dense_rows(&data).iter().zip(signs(&data)) {
            prop_assert!(keeps_margin(sign, &normal, row, margin), "{sign} {row:?}");
        }
    }

    #[test]
    fn a_written_file_reads_back_as_the_data_set(
        kind in prop_oneof![
            Just(Synthetic::Square),
            (1u32..30, 0.01..2.0f64, 0.0..3.0f64)
                .prop_map(|(features, margin, spread)| Synthetic::Blobs { features, margin, spread }),
            (0.0..2.0f64).prop_map(|noise| Synthetic::Xor { noise }),
            (1u32..200).prop_map(|features| Synthetic::RandomLabels { features }),
            (2u32..2000, 0.0..1.0f64, 0.0..0.5f64).prop_map(|(features, share, noise)| Synthetic::Text {
                features,
                per_row: 1.0 + share * (f64::from(features) / 2.0 - 1.0),
                noise,
            }),
        ],
        rows in 1u64..60,
        seed: u64,
    ) {
        let data = dataset(&kind, rows, seed).unwrap();
        let text = bytes(&kind, seed, Limit::Rows(rows), FileFormat::Libsvm).leak();
        let options = ReadOptions {
            // The file alone cannot tell of words that no row has.
            schema: Some(Schema::Numbered { index_base: 1, features: kind.features() }),
            ..ReadOptions::default()
        };
        let loaded = read(&Source::Memory("made", text), &options, &mut ()).unwrap();
        prop_assert_eq!(loaded.dataset.classes(), data.classes());
        prop_assert_eq!(loaded.dataset.labels(), data.labels());
        prop_assert_eq!(loaded.dataset.fingerprint(), data.fingerprint());
    }
}

#[test]
fn blobs_nearly_attain_their_margin() {
    let kind = Synthetic::Blobs { features: 5, margin: 0.5, spread: 1.0 };
    let normal = kind.separator(9).unwrap().unwrap();
    let data = dataset(&kind, 2000, 9).unwrap();
    let close = (0..data.len()).filter(|&i| data.row(i).dot(&normal).abs() < 0.6).count();
    // P(|normal| < 0.1) is 0.08.
    assert!((120..200).contains(&close), "{close}");
}

#[test]
fn text_has_the_size_the_sparsity_and_the_labels_it_promises() {
    let rows = 4000;
    let data = dataset(&TEXT, rows, 1).unwrap();
    let per_row = data.nonzeros() as f64 / rows as f64;
    assert!((62.0..65.0).contains(&per_row), "{per_row}");
    let file = bytes(&TEXT, 1, Limit::Rows(rows), FileFormat::Libsvm).len() as f64;
    let per_value = file / data.nonzeros() as f64;
    assert!((13.5..13.9).contains(&per_value), "{per_value}");
    assert!(data.class_counts().iter().all(|&count| count > 1800), "{:?}", data.class_counts());
    for i in 0..data.len() {
        assert!((data.row(i).norm_squared() - 1.0).abs() < 1e-3);
        assert!(data.row(i).iter().all(|(_, value)| value > 0.0));
    }

    let weights = TEXT.separator(1).unwrap().unwrap();
    // Scores are whole multiples of 10⁻⁵, so that this tells zero from the least other score.
    let wrong =
        (0..data.len()).filter(|&i| (data.row(i).dot(&weights) > -5e-6) != (signs(&data)[i] > 0.0)).count();
    assert!((15..70).contains(&wrong), "{wrong} of {rows} labels are flipped");
}

#[test]
fn text_can_be_learned() {
    let data = dataset(&Synthetic::Text { features: 2000, per_row: 30.0, noise: 0.0 }, 12_000, 4).unwrap();
    let signs = signs(&data);
    let mut weights = vec![0.0; data.columns()];
    for _ in 0..3 {
        for (i, sign) in signs[..10_000].iter().enumerate() {
            if sign * data.row(i).dot(&weights) <= 0.0 {
                data.row(i).add_to(*sign, &mut weights);
            }
        }
    }
    let wrong = (10_000..12_000).filter(|&i| signs[i] * data.row(i).dot(&weights) <= 0.0).count();
    // So few short rows teach it far less than the default sizes do; a guess would have 1000 wrong.
    assert!(wrong < 400, "{wrong} of 2000");
}

#[test]
fn bytes_do_not_depend_on_threads() {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    for kind in Synthetic::NAMES.map(|name| Synthetic::named(name).unwrap()) {
        for limit in [Limit::Rows(3000), Limit::Bytes(1_500_000)] {
            let one = pool(1).install(|| bytes(&kind, 8, limit, FileFormat::Libsvm));
            let three = pool(3).install(|| bytes(&kind, 8, limit, FileFormat::Libsvm));
            assert!(one == three, "{kind:?} {limit:?}");
        }
        assert_ne!(
            bytes(&kind, 8, Limit::Rows(20), FileFormat::Libsvm),
            bytes(&kind, 9, Limit::Rows(20), FileFormat::Libsvm)
        );
    }
}

#[test]
fn a_limit_in_bytes_ends_after_the_row_that_reaches_it() {
    for format in [FileFormat::Libsvm, FileFormat::Csv] {
        let long = bytes(&Synthetic::Square, 2, Limit::Rows(50), format);
        let ends: Vec<usize> = (1..=long.len()).filter(|&end| long[end - 1] == b'\n').collect();
        let least = if format == FileFormat::Csv { ends[1] } else { ends[0] };
        for limit in 0..1000 {
            let made = bytes(&Synthetic::Square, 2, Limit::Bytes(limit), format);
            let end = ends.iter().find(|&&end| end >= least && end as u64 >= limit).unwrap();
            assert_eq!(made, long[..*end], "{limit}");
        }
    }
}

#[test]
fn csv_has_a_header_and_every_value() {
    let text = bytes(&Synthetic::Xor { noise: 0.0 }, 1, Limit::Rows(2), FileFormat::Csv);
    let text = String::from_utf8(text).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "x1,x2,label");
    for line in &lines[1..] {
        let numbers: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert_eq!(numbers[0] * numbers[1], numbers[2]);
    }
    let kind = Synthetic::Text { features: 20, per_row: 4.0, noise: 0.0 };
    let data = dataset(&kind, 10, 1).unwrap();
    let text = String::from_utf8(bytes(&kind, 1, Limit::Rows(10), FileFormat::Csv)).unwrap();
    for (i, line) in text.lines().skip(1).enumerate() {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert_eq!(cells.len(), 21);
        let stored: Vec<(usize, f64)> =
            cells[..20].iter().copied().enumerate().filter(|&(_, value)| value != 0.0).collect();
        assert_eq!(stored, data.row(i).iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_seed_makes_the_same_rows_for_ever() {
    let first = |name: &str| {
        let kind = Synthetic::named(name).unwrap();
        let text = bytes(&kind, 0, Limit::Rows(100), FileFormat::Libsvm);
        blake3::hash(&text).to_hex()[..16].to_string()
    };
    assert_eq!(Synthetic::NAMES.map(first), PINNED);
}
const PINNED: [&str; 5] =
    ["68b2055a37827e8a", "6af6e7cf3b394c19", "7f4e3d3d242060f2", "10defb05efddcfb7", "118dc9be1e3a6c34"];

#[test]
fn bad_settings_are_named_with_their_range() {
    let bad = [
        (Synthetic::Blobs { features: 0, margin: 0.1, spread: 1.0 }, "features"),
        (Synthetic::Blobs { features: 2, margin: 0.0, spread: 1.0 }, "margin"),
        (Synthetic::Blobs { features: 2, margin: 0.1, spread: f64::INFINITY }, "spread"),
        (Synthetic::Xor { noise: f64::NAN }, "noise"),
        (Synthetic::RandomLabels { features: u32::MAX }, "features"),
        (Synthetic::Text { features: 1, per_row: 1.0, noise: 0.0 }, "features"),
        (Synthetic::Text { features: 10, per_row: 6.0, noise: 0.0 }, "per_row"),
        (Synthetic::Text { features: 10, per_row: 2.0, noise: 0.6 }, "noise"),
    ];
    for (kind, setting) in bad {
        let error = kind.validate().unwrap_err();
        assert_eq!(error.setting, setting);
        assert!(matches!(dataset(&kind, 1, 0), Err(Error::Generate(found)) if found == error));
        let failed = write(&kind, 0, Limit::Rows(1), FileFormat::Csv, &mut io::sink(), &mut ()).unwrap_err();
        assert_eq!((failed.kind(), failed.to_string()), (io::ErrorKind::InvalidInput, error.to_string()));
    }
    assert!(Synthetic::NAMES.iter().all(|name| Synthetic::named(name).unwrap().validate().is_ok()));
    assert_eq!(
        Synthetic::Text { features: 10, per_row: 6.0, noise: 0.0 }.validate().unwrap_err().to_string(),
        "per_row = 6 is not in the range 1 to 5: a row has at least one word, and at most half of the vocabulary"
    );
}

#[test]
fn no_rows_make_no_data_set_and_an_empty_file() {
    assert!(matches!(dataset(&Synthetic::Square, 0, 0), Err(Error::Dataset(_))));
    assert!(bytes(&Synthetic::Square, 0, Limit::Rows(0), FileFormat::Libsvm).is_empty());
}

struct Stops(u32);

impl Observer for Stops {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        assert!(matches!(progress, Progress::Writing { bytes, total, rows } if bytes <= total && *rows > 0));
        self.0 -= 1;
        if self.0 == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn an_observer_can_stop_after_a_whole_row() {
    let mut out = Vec::new();
    let limit = Limit::Bytes(u64::MAX);
    let written = write(&TEXT, 1, limit, FileFormat::Libsvm, &mut out, &mut Stops(2)).unwrap();
    assert!(!written.complete);
    assert_eq!(out.last(), Some(&b'\n'));
    assert_eq!(out, bytes(&TEXT, 1, Limit::Rows(written.rows), FileFormat::Libsvm));
}

//! Pictures of two shapes, where no photographs are at hand: discs and squares of the same area.

use crate::dataset::{Dataset, DatasetError};
use crate::features::PictureForm;
use crate::random::{Random, Stream};

/// The classes, in turn.
const CLASSES: [&str; 2] = ["disc", "square"];

/// Grey pictures of discs and squares, in turn: of about the same place and size, brighter than what is behind them by more or
/// less, and noisy. Each is a function of the seed and its number.
pub fn shapes(form: PictureForm, count: u64, seed: u64) -> Result<Dataset, DatasetError> {
    let mut levels = Vec::new();
    let mut labels = Vec::new();
    for number in 0..count {
        levels.extend(shape(form, number, seed));
        labels.push(CLASSES[number as usize % 2]);
    }
    Dataset::dense(form.features(), &levels, &labels)
}

fn shape(form: PictureForm, number: u64, seed: u64) -> Vec<f64> {
    let mut random = Random::of(seed, Stream::MadeRow(number));
    let is_disc = number.is_multiple_of(2);
    let (width, height) = (f64::from(form.width), f64::from(form.height));
    let within = |random: &mut Random, low: f64, high: f64| low + (high - low) * random.uniform();
    let side = width.min(height);
    let (x, y) = (within(&mut random, 0.42, 0.58) * width, within(&mut random, 0.42, 0.58) * height);
    let radius = within(&mut random, 0.22, 0.30) * side;
    let (behind, brighter) = (within(&mut random, 40.0, 120.0), within(&mut random, 30.0, 110.0));
    // Half the side of a square of the same area.
    let half = radius * std::f64::consts::PI.sqrt() / 2.0;
    let mut levels = Vec::with_capacity(form.features());
    for row in 0..form.height {
        for column in 0..form.width {
            let (right, down) = (f64::from(column) + 0.5 - x, f64::from(row) + 0.5 - y);
            let inside = match is_disc {
                true => right * right + down * down <= radius * radius,
                false => right.abs() <= half && down.abs() <= half,
            };
            let level = behind + if inside { brighter } else { 0.0 } + 25.0 * random.normal();
            levels.extend((0..form.channels()).map(|_| level.round().clamp(0.0, 255.0)));
        }
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_made_by_seed_and_number() {
        let form = PictureForm { width: 20, height: 16, colour: false };
        let (few, more) = (shapes(form, 4, 1).unwrap(), shapes(form, 6, 1).unwrap());
        assert_eq!((few.columns(), few.classes()), (320, &["disc".to_string(), "square".to_string()][..]));
        for i in 0..4 {
            assert_eq!(few.row(i).iter().collect::<Vec<_>>(), more.row(i).iter().collect::<Vec<_>>());
        }
        assert!(few.row(0).iter().all(|(_, level)| (0.0..=255.0).contains(&level) && level.fract() == 0.0));
        assert_ne!(shapes(form, 4, 2).unwrap().fingerprint(), few.fingerprint());
    }
}

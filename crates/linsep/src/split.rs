//! Holding rows out: seeded splits that keep the share of every class.

use crate::SettingsError;
use crate::dataset::{Dataset, DatasetError};
use crate::random::{Random, Stream};

/// Training rows and held-out rows.
#[derive(Debug)]
pub struct Split {
    /// Rows to learn from, in their order.
    pub train: Dataset,
    /// Rows to judge on, in their order.
    pub held_out: Dataset,
}

/// Checks that a share of the rows can be held out.
pub fn check_fraction(fraction: f64) -> Result<(), SettingsError> {
    if fraction > 0.0 && fraction < 1.0 {
        return Ok(());
    }
    Err(SettingsError::new(
        "holdout",
        format!(
            "the held-out fraction is {fraction}; it must be above 0 and below 1, so that both parts have rows"
        ),
    ))
}

/// Holds out `fraction` of the rows of each class, rounded to whole rows.
pub fn hold_out(data: &Dataset, fraction: f64, seed: u64) -> Result<Split, crate::Error> {
    check_fraction(fraction)?;
    let mut random = Random::of(seed, Stream::Holdout);
    let mut held = vec![false; data.len()];
    for mut members in data.rows_by_class() {
        random.shuffle(&mut members);
        let count = (members.len() as f64 * fraction).round() as usize;
        members.iter().take(count).for_each(|&i| held[i] = true);
    }
    let side = |want: bool| (0..data.len()).filter(|&i| held[i] == want).collect::<Vec<_>>();
    let part = |want: bool| match data.subset(&side(want)) {
        Err(DatasetError::Empty) => Err(crate::Error::from(SettingsError::new(
            "holdout",
            format!(
                "holding out {fraction} of {} rows leaves one side empty; choose another fraction",
                data.len()
            ),
        ))),
        part => Ok(part?),
    };
    Ok(Split { train: part(false)?, held_out: part(true)? })
}

/// Deals the rows out into `folds` parts of nearly equal size, each with its share of every class: every row is held
/// out once. Gives the rows of each part, in their order.
pub fn folds(data: &Dataset, folds: usize, seed: u64) -> Result<Vec<Vec<usize>>, SettingsError> {
    if folds < 2 || folds > data.len() {
        return Err(SettingsError::new(
            "folds",
            format!(
                "the number of folds is {folds}; it must be from 2 to the number of rows, {}",
                data.len()
            ),
        ));
    }
    let mut random = Random::of(seed, Stream::Folds);
    let mut parts = vec![Vec::new(); folds];
    // Each class goes on where the last one ended, so that the parts differ by one row at most.
    let mut next = 0;
    for mut members in data.rows_by_class() {
        random.shuffle(&mut members);
        for i in members {
            parts[next].push(i);
            next = (next + 1) % folds;
        }
    }
    parts.iter_mut().for_each(|part| part.sort_unstable());
    Ok(parts)
}

/// The places of all rows but those of a part, whose places increase.
pub(crate) fn others(rows: usize, part: &[usize]) -> Vec<usize> {
    (0..rows).filter(|i| part.binary_search(i).is_err()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_are_kept_and_no_row_is_lost(a in 1usize..60, b in 1usize..60, fraction in 0.01f64..0.99, seed: u64) {
            let labels: Vec<&str> = (0..a + b).map(|i| if i < a { "a" } else { "b" }).collect();
            let values: Vec<f64> = (0..a + b).map(|i| i as f64).collect();
            let data = Dataset::dense(1, &values, &labels).unwrap();
            let expected = |n: usize| (n as f64 * fraction).round() as usize;
            let held = expected(a) + expected(b);
            match hold_out(&data, fraction, seed) {
                Err(_) => prop_assert!(held == 0 || held == a + b),
                Ok(split) => {
                    prop_assert_eq!(split.held_out.class_counts(), vec![expected(a), expected(b)]);
                    let mut all: Vec<f64> = [&split.train, &split.held_out]
                        .iter()
                        .flat_map(|part| (0..part.len()).map(|i| part.row(i).iter().next().unwrap().1))
                        .collect();
                    all.sort_by(f64::total_cmp);
                    prop_assert_eq!(all, values);
                    let again = hold_out(&data, fraction, seed).unwrap();
                    prop_assert_eq!(again.train.fingerprint(), split.train.fingerprint());
                }
            }
        }
    }

    proptest! {
        #[test]
        fn folds_hold_every_row_out_once(counts in prop::collection::vec(1usize..20, 1..5), parts in 2usize..8, seed: u64) {
            let labels: Vec<String> =
                counts.iter().enumerate().flat_map(|(class, &n)| vec![class.to_string(); n]).collect();
            let values: Vec<f64> = (0..labels.len()).map(|i| i as f64).collect();
            let data = Dataset::dense(1, &values, &labels).unwrap();
            let Ok(found) = folds(&data, parts, seed) else {
                prop_assert!(parts > labels.len());
                return Ok(());
            };
            let mut all: Vec<usize> = found.concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..labels.len()).collect::<Vec<_>>());
            for part in &found {
                prop_assert!(part.len() == labels.len() / parts || part.len() == labels.len().div_ceil(parts));
                for (class, &n) in counts.iter().enumerate() {
                    let here = part.iter().filter(|&&i| data.labels()[i] as usize == class).count();
                    prop_assert!(here == n / parts || here == n.div_ceil(parts), "{here} of {n} in {parts}");
                }
            }
        }
    }

    #[test]
    fn fractions_outside_the_range_are_refused() {
        let data = Dataset::dense(1, &[1.0, 2.0], &["a", "b"]).unwrap();
        for fraction in [0.0, 1.0, -0.5, f64::NAN, 0.1] {
            assert!(matches!(hold_out(&data, fraction, 0), Err(crate::Error::Settings(_))), "{fraction}");
        }
    }
}

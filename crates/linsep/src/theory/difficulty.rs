//! The difficulty (R/γ*)², which hardly depends on the number of rows and of features.
//!
//! It can be seen on nested subsets. With rows added, γ* can only fall: the minimum is over more of them. With
//! features added it can only rise: weights that were best before, with zeros for the new features, are still there.
//! Both hold at any moment of a sequence of nested sets, so what is proved of one set helps the others: an upper
//! bound of γ* on some rows holds for all sets that contain them, and a lower bound on many rows for all sets
//! within them.

use super::margin::{MarginInterval, larger};
use super::novikoff::MistakeBound;
use crate::SettingsError;
use crate::dataset::{Dataset, DatasetError, Row};
use crate::random::{Random, Stream};
use serde::{Deserialize, Serialize};

/// The difficulty of one of the nested sets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DifficultyPoint {
    /// Its rows.
    pub rows: u64,
    /// Its features.
    pub features: u64,
    /// Updates that the perceptron made on it.
    pub updates: u64,
    /// Whether it then made no more mistakes.
    pub converged: bool,
    /// The proved interval of γ*.
    pub margin: MarginInterval,
    /// Proved bounds on the difficulty (R/γ*)².
    pub difficulty: MistakeBound,
}

/// Row numbers for each of the rising `counts`: random, but each set contains the one before, and the classes keep
/// their shares as nearly as whole rows can. Every class is there as soon as there are as many rows as classes.
/// Each set is in the order of the data.
pub fn nested_rows(data: &Dataset, counts: &[usize], seed: u64) -> Result<Vec<Vec<usize>>, SettingsError> {
    check_counts(counts, data.len(), "rows")?;
    let mut random = Random::of(seed, Stream::NestedRows);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); data.classes().len()];
    data.labels().iter().enumerate().for_each(|(i, &class)| members[class as usize].push(i));
    members.iter_mut().for_each(|rows| random.shuffle(rows));
    // Row j of a class of m comes at j/m: the classes run out together.
    let mut places: Vec<(usize, usize)> = members
        .iter()
        .enumerate()
        .flat_map(|(class, rows)| (0..rows.len()).map(move |j| (class, j)))
        .collect();
    let size = |class: usize| members[class].len() as u128;
    places.sort_by(|&(a, i), &(b, j)| (i as u128 * size(b)).cmp(&(j as u128 * size(a))).then(a.cmp(&b)));
    let order: Vec<usize> = places.into_iter().map(|(class, j)| members[class][j]).collect();
    Ok(prefixes(&order, counts))
}

/// Column numbers for each of the rising `counts`: random, but each set contains the one before. In increasing order.
pub fn nested_features(
    columns: usize,
    counts: &[usize],
    seed: u64,
) -> Result<Vec<Vec<usize>>, SettingsError> {
    check_counts(counts, columns, "features")?;
    let mut order: Vec<usize> = (0..columns).collect();
    Random::of(seed, Stream::NestedFeatures).shuffle(&mut order);
    Ok(prefixes(&order, counts))
}

fn check_counts(counts: &[usize], most: usize, what: &str) -> Result<(), SettingsError> {
    let rising = counts.windows(2).all(|pair| pair[0] < pair[1]);
    if rising && counts.iter().all(|count| (1..=most).contains(count)) {
        return Ok(());
    }
    Err(SettingsError::new(
        "sizes",
        format!(
            "the numbers of {what} are {counts:?}; they must rise, from 1 to at most {most}, so that each set contains \
         the one before"
        ),
    ))
}

/// The first so many of `order`, sorted.
fn prefixes(order: &[usize], counts: &[usize]) -> Vec<Vec<usize>> {
    let sorted = |count: &usize| {
        let mut chosen = order[..*count].to_vec();
        chosen.sort_unstable();
        chosen
    };
    counts.iter().map(sorted).collect()
}

/// The data with zeros in all columns but `features`, which makes γ* and R those of these features alone.
pub fn only_features(data: &Dataset, features: &[usize]) -> Result<Dataset, DatasetError> {
    let mut kept = vec![false; data.columns()];
    for &j in features {
        let missing = || DatasetError::Shape(format!("there is no column {j} (from 0)"));
        *kept.get_mut(j).ok_or_else(missing)? = true;
    }
    let all: Vec<usize> = (0..data.len()).collect();
    let mut values = vec![0.0; data.columns()];
    data.map_rows(&all, |row, keep| {
        values.fill(0.0);
        row.iter().filter(|&(j, _)| kept[j]).for_each(|(j, x)| values[j] = x);
        keep(Row::DenseF64(&values));
    })
}

/// Lets what is proved of nested sets of rows, from the smallest to the largest, help each other: γ* falls, so upper
/// bounds go on to later sets and lower bounds back to earlier ones.
pub fn tighten_rows(margins: &mut [MarginInterval]) {
    let mut upper = f64::INFINITY;
    for margin in margins.iter_mut() {
        upper = upper.min(margin.upper);
        margin.upper = upper;
    }
    let mut lower: Option<f64> = None;
    for margin in margins.iter_mut().rev() {
        lower = larger(lower, margin.lower);
        margin.lower = lower;
    }
}

/// The same for nested sets of features of the same rows, from the smallest to the largest: γ* rises.
pub fn tighten_features(margins: &mut [MarginInterval]) {
    margins.reverse();
    tighten_rows(margins);
    margins.reverse();
}

#[cfg(test)]
mod tests {
    use super::super::adversary::examples;
    use super::*;
    use crate::theory::margin::{Extent, MarginKind, lower_bound};
    use crate::theory::novikoff::mistake_bound;
    use crate::theta::Theta;
    use crate::train::{Bias, Learner, OnlineLearner, Settings};
    use proptest::prelude::*;

    /// The interval that a short run proves.
    fn measure(data: &Dataset, signs: &[i8], bias: Bias, passes: usize) -> (MarginInterval, Theta) {
        let settings = Settings { learner: Learner::Perceptron, bias, ..Settings::default() };
        let mut learner = OnlineLearner::new(&settings, data.columns()).unwrap();
        for _ in 0..passes {
            signs.iter().enumerate().for_each(|(i, &sign)| {
                learner.learn(data.row(i), sign, None);
            });
            learner.end_pass();
        }
        let extent = Extent::of(data, bias.input());
        let upper = learner.margin_upper().map_or(extent.shortest, |upper| upper.min(extent.shortest));
        let lower = lower_bound(data, signs, learner.theta());
        let kind = MarginKind::AppendedBias;
        (MarginInterval { lower, upper, kind }, learner.theta().clone())
    }

    fn counts(most: usize, steps: usize) -> Vec<usize> {
        let mut counts: Vec<usize> = (1..=steps).map(|step| (most * step).div_ceil(steps)).collect();
        counts.dedup();
        counts
    }

    /// What holds after either kind of tightening: no interval is wider than before, none is empty, and both ends
    /// are in order.
    fn check(before: &[MarginInterval], after: &[MarginInterval]) -> Result<(), TestCaseError> {
        for (old, new) in before.iter().zip(after) {
            prop_assert!(new.upper <= old.upper && new.lower >= old.lower, "{old:?} {new:?}");
            prop_assert!(new.lower.is_none_or(|lower| lower <= new.upper), "{old:?} {new:?}");
        }
        for pair in after.windows(2) {
            prop_assert!(pair[1].upper <= pair[0].upper && pair[1].lower <= pair[0].lower, "{pair:?}");
        }
        Ok(())
    }

    proptest! {
        /// Runs on nested rows of any data, of different lengths so that each knows something that others do not:
        /// what they prove of each other is never contradictory.
        #[test]
        fn margins_fall_with_rows(examples in examples(), seed: u64, steps in 1usize..5, passes in prop::collection::vec(1usize..40, 5)) {
            let data = examples.dataset();
            let sets = nested_rows(&data, &counts(data.len(), steps), seed).unwrap();
            let bias = if examples.bias_input == 0.0 { Bias::None } else { Bias::Append(examples.bias_input) };
            let mut thetas = Vec::new();
            let before: Vec<MarginInterval> = sets
                .iter()
                .zip(&passes)
                .map(|(rows, &passes)| {
                    let signs: Vec<i8> = rows.iter().map(|&i| examples.signs[i]).collect();
                    let (margin, theta) = measure(&data.subset(rows).unwrap(), &signs, bias, passes);
                    thetas.push(theta);
                    margin
                })
                .collect();
            let mut after = before.clone();
            tighten_rows(&mut after);
            check(&before, &after)?;
            if examples.are_hopeless() {
                prop_assert_eq!(after.last().unwrap().lower, None);
            }
            // The fact behind it: weights of a larger set have their margin on each smaller one.
            for (k, theta) in thetas.iter().enumerate() {
                for rows in &sets[..k] {
                    let signs: Vec<i8> = rows.iter().map(|&i| examples.signs[i]).collect();
                    prop_assert!(lower_bound(&data.subset(rows).unwrap(), &signs, theta) >= before[k].lower);
                }
            }
        }

        /// And on nested features.
        #[test]
        fn margins_rise_with_features(examples in examples(), seed: u64, passes in prop::collection::vec(1usize..40, 3)) {
            let data = examples.dataset();
            let columns: Vec<usize> = (1..=data.columns()).collect();
            let sets = nested_features(data.columns(), &columns, seed).unwrap();
            let bias = if examples.bias_input == 0.0 { Bias::None } else { Bias::Append(examples.bias_input) };
            let before: Vec<MarginInterval> = sets
                .iter()
                .zip(&passes)
                .map(|(features, &passes)| {
                    let narrow = only_features(&data, features).unwrap();
                    let (margin, theta) = measure(&narrow, &examples.signs, bias, passes);
                    // Weights of features that are gone stay zero, so they have the same margin on all features.
                    assert!(lower_bound(&data, &examples.signs, &theta) >= margin.lower);
                    margin
                })
                .collect();
            let mut after = before.clone();
            tighten_features(&mut after);
            let reversed = |margins: &[MarginInterval]| margins.iter().rev().copied().collect::<Vec<_>>();
            check(&reversed(&before), &reversed(&after))?;
        }

        /// Each set contains the one before, has the asked size, all classes as soon as it can, and their shares.
        #[test]
        fn sets_are_nested_and_fair(labels in prop::collection::vec(0u8..3, 1..60), steps in 1usize..7, seed: u64) {
            let names: Vec<String> = labels.iter().map(u8::to_string).collect();
            let values: Vec<f64> = (0..labels.len()).map(|i| i as f64).collect();
            let data = Dataset::dense(1, &values, &names).unwrap();
            let counts = counts(labels.len(), steps);
            let sets = nested_rows(&data, &counts, seed).unwrap();
            prop_assert_eq!(&sets, &nested_rows(&data, &counts, seed).unwrap());
            let shares = data.class_counts();
            for (set, &count) in sets.iter().zip(&counts) {
                prop_assert_eq!(set.len(), count);
                prop_assert!(set.is_sorted_by(|a, b| a < b) && *set.last().unwrap() < data.len());
                let inside = data.subset(set).unwrap().class_counts();
                if count >= shares.len() {
                    prop_assert!(inside.iter().all(|&rows| rows > 0), "{inside:?}");
                }
                for (&rows, &all) in inside.iter().zip(&shares) {
                    let fair = count as f64 * all as f64 / labels.len() as f64;
                    prop_assert!((rows as f64 - fair).abs() < shares.len() as f64, "{inside:?} of {shares:?}");
                }
            }
            for pair in sets.windows(2) {
                prop_assert!(pair[0].iter().all(|i| pair[1].contains(i)));
            }
        }
    }

    #[test]
    fn counts_must_rise_and_fit() {
        let data = Dataset::dense(2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &["a", "b", "b"]).unwrap();
        for counts in [&[0, 1][..], &[2, 2], &[3, 1], &[4]] {
            assert!(
                nested_rows(&data, counts, 0).is_err_and(|e| e.problem.contains("at most 3")),
                "{counts:?}"
            );
            assert!(
                nested_features(3, counts, 0).is_err_and(|e| e.problem.contains("features")),
                "{counts:?}"
            );
        }
        assert_eq!(nested_features(3, &[3], 0), Ok(vec![vec![0, 1, 2]]));
        let narrow = only_features(&data, &[1]).unwrap();
        assert_eq!((narrow.columns(), narrow.row(2).dot(&[1.0, 1.0])), (2, 6.0));
        assert!(only_features(&data, &[2]).is_err());
    }

    #[test]
    fn what_one_set_knows_helps_the_others() {
        let interval = |lower, upper| MarginInterval { lower, upper, kind: MarginKind::ThroughOrigin };
        let mut margins =
            [interval(None, 5.0), interval(Some(1.0), 9.0), interval(None, 4.0), interval(None, 6.0)];
        tighten_rows(&mut margins);
        let expected =
            [interval(Some(1.0), 5.0), interval(Some(1.0), 5.0), interval(None, 4.0), interval(None, 4.0)];
        assert_eq!(margins, expected);
        let mut margins = [interval(Some(2.0), 9.0), interval(None, 4.0)];
        tighten_features(&mut margins);
        assert_eq!(margins, [interval(Some(2.0), 4.0), interval(Some(2.0), 4.0)]);
    }

    /// The statement itself: a thousand times the rows, and the difficulty stays within a small factor.
    #[test]
    fn difficulty_hardly_grows_with_rows() {
        let mut random = Random::new(5);
        let (mut values, mut names) = (Vec::new(), Vec::new());
        for _ in 0..8_000 {
            let side = if random.below(2) == 0 { 1.0 } else { -1.0 };
            values.extend([side * (0.5 + random.uniform()), random.uniform() - 0.5, random.uniform() - 0.5]);
            names.push(if side > 0.0 { "1" } else { "0" });
        }
        let data = Dataset::dense(3, &values, &names).unwrap();
        let sets = nested_rows(&data, &[8, 80, 800, 8_000], 1).unwrap();
        let (mut margins, mut extents) = (Vec::new(), Vec::new());
        for rows in &sets {
            let part = data.subset(rows).unwrap();
            let signs: Vec<i8> = part.labels().iter().map(|&label| if label == 1 { 1 } else { -1 }).collect();
            margins.push(measure(&part, &signs, Bias::None, 20).0);
            extents.push(Extent::of(&part, 0.0));
        }
        tighten_rows(&mut margins);
        let bounds: Vec<MistakeBound> =
            extents.iter().zip(&margins).map(|(e, m)| mistake_bound(e, m)).collect();
        // R² ≤ 2.75 and γ* ≥ 0.5, whatever the rows.
        assert!(bounds.iter().all(|bound| bound.lower.unwrap() <= 11.0), "{bounds:?}");
        let grown = bounds[3].upper.unwrap() / bounds[0].lower.unwrap();
        assert!(grown < 200.0, "{bounds:?}");
    }
}

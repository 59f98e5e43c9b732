//! Sample compression: the examples that the classifier is learned from.
//!
//! A perceptron from zero is a function of its mistakes alone: going once through the mistaken examples, in the
//! order in which they were made, makes the same updates and ends in the same θ. When the data is separable
//! there are at most (R/γ)² of them, however many rows there are.

use crate::dataset::Dataset;
use std::io::{self, Write};

/// Writes the mistaken rows, in order, as LIBSVM text that loses nothing, with their signs as labels. A comment on
/// each line names the line of the training file and the class.
pub fn write_teaching_set(
    data: &Dataset,
    signs: &[i8],
    mistakes: &[u32],
    out: &mut dyn Write,
) -> io::Result<()> {
    for &i in mistakes {
        let i = i as usize;
        write!(out, "{:+}", signs[i])?;
        for (column, value) in data.row(i).iter().filter(|&(_, value)| value != 0.0) {
            write!(out, " {}:{}", column + 1, value)?;
        }
        let class: String =
            data.classes()[data.labels()[i] as usize].chars().filter(|c| !c.is_control()).collect();
        writeln!(out, " # line {}, {class}", data.line(i))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::adversary::{Examples, examples};
    use super::super::margin::{Extent, MarginInterval, MarginKind, lower_bound};
    use super::super::novikoff::mistake_bound;
    use super::*;
    use crate::observe::{Observer, Update};
    use crate::read::{Format, ReadOptions, Source, read};
    use crate::train::{Learned, Learner, OnlineLearner, Order, Settings, Task, train};
    use proptest::prelude::*;

    #[derive(Default)]
    struct Mistakes(Vec<u32>);

    impl Observer for Mistakes {
        fn update(&mut self, update: &Update<'_>) {
            self.0.push(update.position as u32);
        }
    }

    proptest! {
        /// Whatever the data, separable or not: the mistakes alone teach the same θ, in memory and through a file.
        #[test]
        fn the_mistakes_teach_the_same_weights(
            rows in prop::collection::vec((prop::collection::vec(-2.0f64..2.0, 4), any::<bool>()), 2..30),
            epochs in 1u64..20,
            shuffle: bool,
        ) {
            let labels: Vec<&str> = rows.iter().map(|(_, up)| if *up { "yes" } else { "no" }).collect();
            prop_assume!(labels.contains(&"yes") && labels.contains(&"no"));
            let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
            for (row, _) in &rows {
                for (j, &x) in row.iter().enumerate().filter(|(_, x)| x.abs() > 0.5) {
                    indices.push(j as u32);
                    values.push(x);
                }
                offsets.push(values.len());
            }
            let data = Dataset::sparse(4, &offsets, &indices, &values, &labels).unwrap();
            let order = if shuffle { Order::Shuffle } else { Order::Given };
            let settings = Settings { learner: Learner::Perceptron, epochs, order, ..Settings::default() };
            let mut mistakes = Mistakes::default();
            let outcome = train(&data, &settings, &mut mistakes).unwrap();
            let Learned::Linear(theta) = outcome.learned else { unreachable!() };
            prop_assert_eq!(mistakes.0.len() as u64, outcome.evidence.updates);

            let signs = Task::new(&data, &settings).unwrap().signs;
            let mut again = OnlineLearner::new(&settings, 4).unwrap();
            for &i in &mistakes.0 {
                prop_assert!(again.learn(data.row(i as usize), signs[i as usize], None).is_some());
            }
            prop_assert_eq!(again.theta(), &theta);

            let taught: Vec<i8> = mistakes.0.iter().map(|&i| signs[i as usize]).collect();
            if taught.contains(&1) && taught.contains(&-1) {
                let mut text = Vec::new();
                write_teaching_set(&data, &signs, &mistakes.0, &mut text).unwrap();
                // Named, because rows that happen to have no features look like no format.
                let options = ReadOptions { format: Some(Format::LIBSVM), ..ReadOptions::default() };
                let source = Source::Shared("teaching set".to_string(), text.into());
                let loaded = read(&source, &options, &mut ()).unwrap();
                let once = Settings { epochs: 1, order: Order::Given, ..settings };
                let outcome = train(&loaded.dataset, &once, &mut ()).unwrap();
                let Learned::Linear(mut found) = outcome.learned else { unreachable!() };
                found.widen(4);
                prop_assert_eq!(found, theta);
            }
        }

        /// Repeated, contradictory, zero or lonely rows of any scale: the mistakes alone teach the same θ, and where
        /// a separator turns up there are no more of them than its bound says.
        #[test]
        fn hostile_rows_are_taught_by_their_mistakes(examples in examples(), passes in 1usize..60) {
            let data = examples.dataset();
            let (theta, mistakes) = examples.learn(passes);
            let chosen = |i: &u32| (examples.rows[*i as usize].clone(), examples.signs[*i as usize]);
            let (rows, signs) = mistakes.iter().map(chosen).unzip();
            let applied = Examples { rows, signs, ..examples.clone() };
            // Nothing is mistaken by a run of no passes only.
            prop_assert!(!mistakes.is_empty());
            let (again, all) = applied.learn(1);
            prop_assert_eq!(&again, &theta);
            prop_assert_eq!(all, (0..mistakes.len() as u32).collect::<Vec<_>>());
            let extent = Extent::of(&data, examples.bias_input);
            let lower = lower_bound(&data, &examples.signs, &theta);
            let margin = MarginInterval { lower, upper: extent.shortest, kind: MarginKind::AppendedBias };
            let most = mistake_bound(&extent, &margin).upper;
            prop_assert!(most.is_none_or(|most| mistakes.len() as f64 <= most), "{most:?}");

            // Through a file, values so small or large that their decimals fill a line come back to the bit.
            let mut text = Vec::new();
            write_teaching_set(&data, &examples.signs, &mistakes, &mut text).unwrap();
            let options = ReadOptions { format: Some(Format::LIBSVM), ..ReadOptions::default() };
            let loaded = read(&Source::Shared("teaching set".to_string(), text.into()), &options, &mut ()).unwrap();
            prop_assert_eq!(loaded.dataset.len(), mistakes.len());
            for (k, row) in applied.rows.iter().enumerate() {
                let stored: Vec<(usize, f64)> = loaded.dataset.row(k).iter().collect();
                let expected: Vec<(usize, f64)> = row.iter().copied().enumerate().filter(|&(_, x)| x != 0.0).collect();
                prop_assert_eq!(stored, expected);
            }
        }
    }
}

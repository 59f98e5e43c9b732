use super::*;
use crate::random::Random;
use proptest::prelude::*;

/// Scores of both sides, the positive ones higher on the whole, with ties.
fn scored() -> impl Strategy<Value = (Vec<f64>, Vec<i8>)> {
    (any::<u64>(), 2usize..80, -3i32..4, -2.0f64..2.0).prop_map(|(seed, rows, scale, shift)| {
        let mut random = Random::new(seed);
        let signs: Vec<i8> = (0..rows)
            .map(|i| if i < 2 { 2 * i as i8 - 1 } else { 2 * (random.below(2) as i8) - 1 })
            .collect();
        let score = |sign: &i8| {
            let noise = random.below(9) as f64 - 4.0;
            (f64::from(*sign) + noise + shift) * 10f64.powi(scale)
        };
        (signs.iter().map(score).collect(), signs)
    })
}

fn assert_increasing(calibration: &Calibration, scores: &[f64]) {
    let most = scores.iter().map(|score| score.abs()).fold(1.0, f64::max);
    let mut last = 0.0;
    for step in -300..=300 {
        let p = calibration.probability(most * f64::from(step) / 100.0);
        assert!(p > 0.0 && p < 1.0 && p >= last, "{calibration:?} {p} {last}");
        last = p;
    }
    for extreme in [f64::MIN, f64::MAX] {
        let p = calibration.probability(extreme);
        assert!(p > 0.0 && p < 1.0, "{calibration:?} {p}");
    }
}

proptest! {
    #[test]
    fn probabilities_rise_with_the_score((scores, signs) in scored()) {
        for calibration in [
            Calibration::Natural,
            Calibration::fit_sigmoid(&scores, &signs).unwrap(),
            Calibration::fit_isotonic(&scores, &signs).unwrap(),
        ] {
            prop_assert!(calibration.is_sound(true));
            assert_increasing(&calibration, &scores);
        }
    }

    /// At the best sigmoid the gradient of the loss is zero; or its slope would be negative, and is 0.
    #[test]
    fn the_sigmoid_is_the_best((scores, signs) in scored()) {
        let Calibration::Sigmoid { slope, intercept } = Calibration::fit_sigmoid(&scores, &signs).unwrap() else {
            panic!("a sigmoid was asked for")
        };
        let (high, low) = targets(&signs);
        let (mut by_slope, mut by_intercept, mut size) = (0.0, 0.0, 0.0);
        for (&score, &sign) in scores.iter().zip(&signs) {
            let wrong = sigmoid(slope * score + intercept) - if sign > 0 { high } else { low };
            by_slope += wrong * score;
            by_intercept += wrong;
            size += score.abs();
        }
        // The last digit of the loss is the square of the last digit of its gradient.
        prop_assert!(by_intercept.abs() < 1e-6 * scores.len() as f64, "{by_intercept}");
        let best = by_slope.abs() < 1e-6 * size.max(f64::MIN_POSITIVE) || (slope == 0.0 && by_slope >= 0.0);
        prop_assert!(best || size == 0.0, "{slope} {by_slope} {size}");
    }

    #[test]
    fn units_of_the_scores_do_not_matter((scores, signs) in scored(), power in -200i32..200) {
        let factor = 2f64.powi(power);
        let scaled: Vec<f64> = scores.iter().map(|score| score * factor).collect();
        let (own, other) =
            (Calibration::fit_sigmoid(&scores, &signs).unwrap(), Calibration::fit_sigmoid(&scaled, &signs).unwrap());
        for score in &scores {
            let (a, b) = (own.probability(*score), other.probability(score * factor));
            prop_assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }

    #[test]
    fn probabilities_of_classes_add_up_to_one(
        scores in prop::collection::vec(-1e3f64..1e3, 2..30), inverse in 0.0f64..10.0
    ) {
        for calibration in [Calibration::Natural, Calibration::Temperature { inverse }] {
            let mut found = scores.clone();
            calibration.probabilities_of(&mut found);
            prop_assert!(found.iter().all(|&p| p > 0.0 && p < 1.0));
            prop_assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            for (a, b) in scores.iter().zip(&found) {
                for (c, d) in scores.iter().zip(&found) {
                    prop_assert!(a.partial_cmp(c) == b.partial_cmp(d) || b == d, "the order of the classes stays");
                }
            }
        }
    }

    /// No temperature near the one found has a smaller loss.
    #[test]
    fn the_temperature_is_the_best(seed: u64, rows in 3usize..60, classes in 2usize..6, noise in 0u64..9) {
        let mut random = Random::new(seed);
        let truth: Vec<usize> = (0..rows).map(|_| random.below(classes as u64) as usize).collect();
        let mut scores = Vec::new();
        for &class in &truth {
            for k in 0..classes {
                scores.push(f64::from(u8::from(k == class)) * 3.0 + random.below(noise + 1) as f64);
            }
        }
        let Calibration::Temperature { inverse } = Calibration::fit_many(&scores, classes, &truth).unwrap() else {
            panic!("a temperature was asked for")
        };
        let problem = Temperature::new(&scores, classes, &truth);
        let loss = |inverse: f64| -> f64 {
            scores
                .chunks(classes)
                .zip(&truth)
                .map(|(row, &class)| {
                    let mut shares = row.to_vec();
                    softmax(&mut shares, inverse);
                    let wrong = problem.wrong[class];
                    let right = 1.0 - wrong * (classes - 1) as f64;
                    let target = |k: usize| if k == class { right } else { wrong };
                    -(0..classes).map(|k| target(k) * shares[k].ln()).sum::<f64>()
                })
                .sum()
        };
        prop_assert!(inverse >= 0.0);
        let own = loss(inverse);
        for other in [inverse * 1.01 + 1e-3, inverse * 0.99, 0.0] {
            prop_assert!(own <= loss(other) + 1e-9 * own.abs(), "{inverse} {other} {own} {}", loss(other));
        }
    }
}

#[test]
fn scores_that_separate_keep_some_doubt() {
    let scores: Vec<f64> = (0..2000).map(|i| f64::from(i) - 1000.0).collect();
    let signs: Vec<i8> = scores.iter().map(|&score| if score >= 0.0 { 1 } else { -1 }).collect();
    let sigmoid = Calibration::fit_sigmoid(&scores, &signs).unwrap();
    assert!(sigmoid.probability(1e9) < 1.0 && sigmoid.probability(500.0) > 0.99);
    let Calibration::Isotonic { probabilities, .. } = Calibration::fit_pair(&scores, &signs).unwrap() else {
        panic!("so many rows make it isotonic")
    };
    assert_eq!(probabilities, [1.0 / 1001.0, 1.0 / 1001.0, 1000.0 / 1001.0, 1000.0 / 1001.0]);
}

#[test]
fn few_rows_of_a_side_make_a_sigmoid() {
    let scores: Vec<f64> = (0..2000).map(f64::from).collect();
    let signs: Vec<i8> = (0..2000).map(|i| if i < 50 { 1 } else { -1 }).collect();
    let Some(Calibration::Sigmoid { slope, .. }) = Calibration::fit_pair(&scores, &signs) else {
        panic!("a side has only 50 rows")
    };
    // The positive rows have the lowest scores, which a probability must not rise with.
    assert_eq!(slope, 0.0);
}

#[test]
fn what_cannot_be_calibrated_is_none() {
    assert_eq!(Calibration::fit_pair(&[1.0, 2.0], &[1, 1]), None);
    assert_eq!(Calibration::fit_pair(&[1.0, f64::NAN], &[1, -1]), None);
    assert_eq!(Calibration::fit_pair(&[1.0], &[1, -1]), None);
    assert_eq!(Calibration::fit_many(&[], 3, &[]), None);
    assert_eq!(Calibration::fit_many(&[1.0, f64::INFINITY], 2, &[0]), None);
    assert_eq!(Calibration::fit_many(&[1.0, f64::NEG_INFINITY], 2, &[1]), None);
    assert_eq!(Calibration::fit_many(&[1.0, 2.0], 2, &[2]), None);
}

#[test]
fn a_class_that_no_model_knew_is_left_out() {
    let scores = [2.0, f64::NEG_INFINITY, 1.0, 0.0, f64::NEG_INFINITY, 3.0, 1.0, 0.5, 0.0];
    let found = Calibration::fit_many(&scores, 3, &[0, 2, 0]).unwrap();
    assert!(matches!(found, Calibration::Temperature { inverse } if inverse > 0.0 && inverse.is_finite()));
}

/// The numbers are those of scikit-learn 1.9.1 (`_sigmoid_calibration`), with the signs turned.
#[test]
fn the_sigmoid_is_that_of_scikit_learn() {
    let scores = [-3.0, -2.5, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 4.0];
    let signs = [-1, -1, -1, 1, -1, 1, -1, 1, 1, 1];
    let Some(Calibration::Sigmoid { slope, intercept }) = Calibration::fit_sigmoid(&scores, &signs) else {
        panic!("a sigmoid was asked for")
    };
    assert!(
        (slope - 0.635_614_64).abs() < 1e-5 && (intercept - 0.006_444_09).abs() < 1e-5,
        "{slope} {intercept}"
    );
    let Some(Calibration::Sigmoid { slope, intercept }) =
        Calibration::fit_sigmoid(&[-2.0, -1.0, 1.0, 2.0], &[-1, -1, 1, 1])
    else {
        panic!("a sigmoid was asked for")
    };
    assert!((slope - 0.673_996_39).abs() < 1e-5 && intercept.abs() < 1e-9, "{slope} {intercept}");
}

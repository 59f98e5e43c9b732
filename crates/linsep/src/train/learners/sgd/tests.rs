use super::*;
use crate::dataset::Dataset;
use crate::random::Random;
use crate::train::learners::{Combine, Options};
use crate::train::{Bias, ClassWeight, Learned, Learner, Order, Perceptron, Settings, train};
use proptest::prelude::*;

proptest! {
    /// The pull is the negative slope of the loss; at a kink it is 1.
    #[test]
    fn the_pull_is_minus_the_derivative(a in -30.0f64..30.0) {
        for loss in [Loss::Perceptron, Loss::Hinge, Loss::Log, Loss::Squared] {
            let h = 1e-5;
            prop_assume!(a.abs() > 2.0 * h && (a - 1.0).abs() > 2.0 * h);
            let slope = (loss.value(a + h) - loss.value(a - h)) / (2.0 * h);
            prop_assert!((slope + loss.pull(a)).abs() < 1e-4 * (1.0 + slope.abs()), "{loss:?} {a}");
        }
    }

    /// Against the plain form: a dense θ that is shrunk and averaged in full at every example.
    #[test]
    fn the_lazy_form_is_the_plain_form(
        seed: u64,
        n in 2usize..40,
        loss in prop_oneof![Just(Loss::Perceptron), Just(Loss::Hinge), Just(Loss::Log), Just(Loss::Squared)],
        schedule in prop_oneof![
            Just(StepSchedule::Constant),
            Just(StepSchedule::Power(0.5)),
            Just(StepSchedule::Shrinking)
        ],
        l2 in prop_oneof![Just(0.0), 1e-4f64..0.5],
        average: bool,
    ) {
        let mut random = Random::new(seed);
        let values: Vec<f64> = (0..3 * n).map(|_| random.normal()).collect();
        let labels: Vec<&str> = (0..n).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect();
        let data = Dataset::dense(3, &values, &labels).unwrap();
        let (step, epochs) = (0.3, 3);
        let combine = if average { Combine::Average } else { Combine::Last };
        let options = SgdOptions { loss, schedule, step: Some(step), l2, combine };
        let settings = Settings {
            learner: Learner::Sgd(options),
            epochs,
            order: Order::Given,
            bias: Bias::Append(2.0),
            ..Settings::default()
        };
        let outcome = train(&data, &settings, &mut ()).unwrap();
        let Learned::Linear(found) = &outcome.learned else { unreachable!() };

        let (mut theta, mut sum) = ([0.0f64; 4], [0.0f64; 4]);
        let mut t = 0;
        for _ in 0..epochs {
            let before = theta;
            for i in 0..n {
                let x = [values[3 * i], values[3 * i + 1], values[3 * i + 2], 2.0];
                let y = if i % 2 == 0 { -1.0 } else { 1.0 };
                let a: f64 = y * (0..4).map(|j| theta[j] * x[j]).sum::<f64>();
                let eta = match schedule {
                    StepSchedule::Constant | StepSchedule::Adaptive => step,
                    StepSchedule::Power(p) => step / f64::from(t + 1).powf(p),
                    StepSchedule::Shrinking => step / (1.0 + step * l2 * f64::from(t)),
                };
                for j in 0..4 {
                    theta[j] = (1.0 - eta * l2) * theta[j] + eta * loss.pull(a) * y * x[j];
                    sum[j] += theta[j];
                }
                t += 1;
            }
            // A pass without an update ends the run, unless the penalty moves θ all the same.
            if before == theta && l2 == 0.0 {
                break;
            }
        }
        let expected = if average { sum.map(|s| s / f64::from(t)) } else { theta };
        for (w, e) in found.weights.iter().chain([&found.bias]).zip(expected) {
            prop_assert!((w - e).abs() < 1e-9 * (1.0 + e.abs()), "{w} {e}");
        }
    }

    /// On the perceptron's loss with step 1 the learner is the perceptron, update for update. Whole
    /// numbers on a small grid, so that agreements of exactly zero abound.
    #[test]
    fn on_the_perceptrons_loss_it_is_the_perceptron(seed: u64, n in 1usize..30) {
        let mut random = Random::new(seed);
        let start = Theta::zero(2, 1.0);
        let mut perceptron = Perceptron::new(start.clone(), MistakeRule::NonPositive);
        let mut descent = Sgd::new(start, SgdOptions::of(Loss::Perceptron), 1.0);
        for _ in 0..5 * n {
            let x: Vec<f64> = (0..2).map(|_| random.below(5) as f64 - 2.0).collect();
            let y = if random.below(2) == 0 { 1.0 } else { -1.0 };
            let step = descent.learn(Row::DenseF64(&x), y, 1.0);
            let applied = perceptron.learn(Row::DenseF64(&x), y);
            prop_assert_eq!(applied, (step.size != 0.0).then_some(step.agreement));
            prop_assert_eq!(&descent.theta, &perceptron.theta);
        }
        prop_assert_eq!(descent.updates, perceptron.updates);
    }
}

/// What the textbook has of each coordinate: w, s, the sum of squared gradients as they are, and Σ w over the examples.
#[derive(Clone, Copy, Default)]
struct Plain {
    weight: f64,
    largest: f64,
    gradients: f64,
    sum: f64,
}

/// The flow by its definition: the u at which ∫₀ᵘ dv/pull(a + v) is `time`, by small steps in u.
fn plain_flow(loss: Loss, a: f64, time: f64) -> f64 {
    match loss {
        Loss::Perceptron => time,
        Loss::Hinge => time.min(1.0 - a),
        Loss::Squared => (1.0 - a) * (1.0 - (-time).exp()),
        Loss::Log => {
            // ∫₀ᵘ (1 + e^(a + v)) dv, halved into its root.
            let (mut low, mut high) = (0.0, time);
            for _ in 0..200 {
                let u = 0.5 * (low + high);
                let spent = u + (a + u).exp() - a.exp();
                if spent < time { low = u } else { high = u }
            }
            0.5 * (low + high)
        }
    }
}

/// The agreement at which the pull of a loss jumps; infinite if it never does.
fn kink(loss: Loss) -> f64 {
    match loss {
        Loss::Perceptron => 0.0,
        Loss::Hinge => 1.0,
        Loss::Log | Loss::Squared => f64::INFINITY,
    }
}

/// Adaptive steps as in the paper, on dense vectors whose last coordinate is the appended one. `None` where an agreement is so
/// near a kink of the loss that rounding decides on which side of it the row is.
fn plain_adaptive(
    rows: &[Vec<f64>],
    signs: &[f64],
    loss: Loss,
    step: f64,
    weight: f64,
) -> Option<Vec<Plain>> {
    let kink = kink(loss);
    let mut plain = vec![Plain::default(); rows[0].len()];
    let (mut seen, mut mass) = (0.0, 0.0);
    for (x, y) in rows.iter().zip(signs) {
        for (one, x) in plain.iter_mut().zip(x) {
            if x.abs() > one.largest {
                if one.largest > 0.0 {
                    let factor = one.largest / x.abs();
                    one.weight *= factor;
                    one.sum *= factor;
                }
                one.largest = x.abs();
            }
        }
        seen += 1.0;
        let there = |x: f64| x != 0.0;
        mass += plain
            .iter()
            .zip(x)
            .filter(|(_, x)| there(**x))
            .map(|(one, x)| (x / one.largest).powi(2))
            .sum::<f64>();
        let a = y * plain.iter().zip(x).map(|(one, x)| one.weight * x).sum::<f64>();
        // Before the first update an agreement is exactly 0 however it is computed.
        if (a - kink).abs() < 1e-9 && plain.iter().any(|one| one.weight != 0.0) {
            return None;
        }
        let pull = loss.pull(a);
        let count = if *y > 0.0 { weight } else { 1.0 };
        if pull != 0.0 {
            for (one, x) in plain.iter_mut().zip(x) {
                one.gradients += count * (pull * x).powi(2);
            }
            let rate =
                |one: &Plain, x: f64| if there(x) { x / (one.largest * one.gradients.sqrt()) } else { 0.0 };
            let slope: f64 = plain.iter().zip(x).map(|(one, x)| rate(one, *x) * x).sum();
            let time = count * step * f64::sqrt(seen / mass) * slope;
            let size = if slope > 0.0 { plain_flow(loss, a, time) / slope } else { 0.0 };
            for (one, x) in plain.iter_mut().zip(x) {
                one.weight += y * size * rate(one, *x);
            }
        }
        plain.iter_mut().for_each(|one| one.sum += one.weight);
    }
    Some(plain)
}

/// Rows of whole numbers, many of them zero; the second half has larger ones.
fn growing_rows(seed: u64, n: usize) -> Vec<f64> {
    let mut random = Random::new(seed);
    let value = |i: usize, random: &mut Random| {
        let size = if i < 3 * n / 2 { 3 } else { 20 };
        (random.below(2 * size + 1) as f64 - size as f64) * f64::from(u8::from(random.below(3) > 0))
    };
    (0..3 * n).map(|i| value(i, &mut random)).collect()
}

fn losses() -> impl Strategy<Value = Loss> {
    prop_oneof![Just(Loss::Perceptron), Just(Loss::Hinge), Just(Loss::Log), Just(Loss::Squared)]
}

fn adaptive_settings(loss: Loss, combine: Combine) -> Settings {
    let options = SgdOptions { combine, ..SgdOptions::scheduled(loss, StepSchedule::Adaptive) };
    let bias = Bias::Append(2.0);
    Settings { learner: Learner::Sgd(options), epochs: 3, bias, order: Order::Given, ..Settings::default() }
}

proptest! {
    /// The flow goes as the loss pulls: its slope is the pull where it has got to, two times one after the other are
    /// their sum, and it never passes the least loss.
    #[test]
    fn the_flow_follows_the_pull(loss in losses(), a in -40.0f64..40.0, time in 1e-3f64..200.0) {
        let u = loss.flow(a, time);
        prop_assert!(u.is_finite());
        if loss == Loss::Perceptron {
            prop_assert_eq!(u, if a <= 0.0 { time } else { 0.0 });
            return Ok(());
        }
        prop_assert!(loss.value(a + u) <= loss.value(a) * (1.0 + 1e-12));
        let halves = loss.flow(a, time / 2.0);
        let twice = halves + loss.flow(a + halves, time / 2.0);
        prop_assert!((u - twice).abs() <= 1e-9 * (1.0 + u.abs()), "{u} {twice}");
        let h = 1e-6 * time;
        let end = a + u;
        if loss == Loss::Hinge && (end - 1.0).abs() < 2.0 * h { return Ok(()); }
        let slope = (loss.flow(a, time + h) - loss.flow(a, time - h)) / (2.0 * h);
        prop_assert!((slope - loss.pull(end)).abs() <= 1e-4 * (1.0 + loss.pull(end).abs()), "{slope} {}", loss.pull(end));
    }

    /// Against the textbook: dense vectors, gradients that are not normalised, means that are added up.
    #[test]
    fn adaptive_steps_are_those_of_the_textbook(
        seed: u64, n in 2usize..40, loss in losses(), average: bool, weight in prop_oneof![Just(1.0), 0.1f64..10.0],
    ) {
        let values = growing_rows(seed, n);
        let labels: Vec<&str> = (0..n).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect();
        let data = Dataset::dense(3, &values, &labels).unwrap();
        let mut settings = adaptive_settings(loss, if average { Combine::Average } else { Combine::Last });
        settings.epochs = 1;
        if weight != 1.0 {
            settings.class_weight = ClassWeight::Named(vec![("b".into(), weight)]);
        }
        let outcome = train(&data, &settings, &mut ()).unwrap();
        let Learned::Linear(found) = &outcome.learned else { unreachable!() };
        let rows: Vec<Vec<f64>> = values.chunks(3).map(|x| [x, &[2.0]].concat()).collect();
        let signs: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { -1.0 } else { 1.0 }).collect();
        let plain = plain_adaptive(&rows, &signs, loss, options::ADAPTIVE_STEP, weight);
        prop_assume!(plain.is_some());
        let plain = plain.unwrap();
        for (w, one) in found.weights.iter().chain([&found.bias]).zip(plain) {
            let expected = if average { one.sum / n as f64 } else { one.weight };
            prop_assert!((w - expected).abs() <= 1e-8 * (1.0 + expected.abs()), "{w} {expected}");
        }
    }

    /// A feature in other units changes no score: with a power of two not a bit, with other factors hardly anything.
    #[test]
    fn the_scale_of_a_feature_does_not_matter(
        seed: u64, n in 2usize..40, loss in losses(), average: bool,
        powers in prop::collection::vec(-60i32..60, 3), factor in prop_oneof![Just(1.0), 1e-3f64..1e3],
    ) {
        let values = growing_rows(seed, n);
        let labels: Vec<&str> = (0..n).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect();
        let scaled: Vec<f64> =
            values.iter().enumerate().map(|(i, x)| x * factor * 2f64.powi(powers[i % 3])).collect();
        let settings = adaptive_settings(loss, if average { Combine::Average } else { Combine::Last });
        let scores = |values: &[f64]| {
            let data = Dataset::dense(3, values, &labels).unwrap();
            let outcome = train(&data, &settings, &mut ()).unwrap();
            let scores: Vec<f64> = (0..n).map(|i| outcome.learned.score(data.row(i))).collect();
            (scores, outcome.evidence.updates)
        };
        let ((before, made), (after, made_too)) = (scores(&values), scores(&scaled));
        if factor == 1.0 {
            prop_assert_eq!((before, made), (after, made_too));
        } else if loss == Loss::Log || loss == Loss::Squared {
            // The other losses have kinks, at which a rounding error decides whether there is a step.
            for (a, b) in before.iter().zip(&after) {
                prop_assert!((a - b).abs() <= 1e-6 * (1.0 + a.abs()), "{a} {b}");
            }
        }
    }

    /// Sparse rows are learned as dense ones, and the exchange of labels turns the weights around.
    #[test]
    fn adaptive_steps_do_not_depend_on_the_layout(seed: u64, n in 2usize..40, loss in losses()) {
        let values = growing_rows(seed, n);
        let options = SgdOptions::scheduled(loss, StepSchedule::Adaptive);
        let new = || Sgd::new(Theta::zero(3, 1.0), options, 0.5);
        let (mut dense, mut sparse, mut turned) = (new(), new(), new());
        for (i, x) in values.chunks(3).enumerate() {
            let y = if i % 2 == 0 { 1.0 } else { -1.0 };
            let stored: Vec<u32> = (0..3).filter(|&j| x[j as usize] != 0.0).collect();
            let kept: Vec<f64> = stored.iter().map(|&j| x[j as usize]).collect();
            let one = dense.learn_adaptively(Row::DenseF64(x), y, 1.0, None).unwrap();
            let other = sparse.learn_adaptively(Row::SparseF64(&stored, &kept), y, 1.0, None).unwrap();
            turned.learn_adaptively(Row::DenseF64(x), -y, 1.0, None);
            prop_assert!((one.0 - other.0).abs() <= 1e-6 * (1.0 + one.0.abs()), "{one:?} {other:?}");
            if i > 0 && (one.0 - kink(loss)).abs() < 1e-9 {
                // Rounding decides whether there is a step.
                return Ok(());
            }
        }
        turned.theta.negate();
        prop_assert!(dense.theta.weights.iter().zip(&turned.theta.weights).all(|(a, b)| a == b));
        prop_assert_eq!(dense.adaptive, turned.adaptive);
    }
}

#[test]
fn options_of_adaptive_steps() {
    let sgd = |given: Options| match Learner::named("sgd").unwrap().with_options(&given) {
        Ok(Learner::Sgd(options)) => Ok(options),
        Ok(_) => unreachable!(),
        Err(error) => Err(error.field),
    };
    let usual = sgd(Options::new()).unwrap();
    assert_eq!((usual.schedule, usual.l2, usual.step), (StepSchedule::Adaptive, 0.0, None));
    assert_eq!(usual.first_step(None).unwrap(), options::ADAPTIVE_STEP);
    // A penalty, or another schedule, brings the steps that have one.
    let old = SgdOptions::scheduled(Loss::Hinge, StepSchedule::Shrinking);
    assert_eq!((old.l2, old.step, old.combine), (1e-4, None, Combine::Average));
    assert_eq!(sgd(Options::new().with("schedule", "shrinking")).unwrap(), old);
    assert_eq!(sgd(Options::new().with("l2", 0.01)).unwrap(), SgdOptions { l2: 0.01, ..old });
    assert_eq!(sgd(Options::new().with("l2", 0.0)).unwrap(), usual);
    assert_eq!(sgd(Options::new().with("l2", 0.01).with("schedule", "adaptive")), Err("l2"));
    let perceptron = sgd(Options::new().with("loss", "perceptron")).unwrap();
    assert_eq!(perceptron, SgdOptions::of(Loss::Perceptron));
    assert_eq!(perceptron.schedule, StepSchedule::Constant);
    // All options as they are, given again, give the same.
    for options in [usual, old, perceptron] {
        assert_eq!(sgd(Learner::Sgd(options).options()).unwrap(), options);
    }
}

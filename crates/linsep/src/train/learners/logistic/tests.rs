//! Properties of the optimum, references, and the ends of the range.

use super::problem::Penalty;
use super::*;
use crate::random::Random;
use crate::train::{Learner, Outcome, train};
use proptest::prelude::*;

fn settings(penalty: LogisticPenalty, c: f64) -> Settings {
    let options = LogisticOptions { penalty, c, ..LogisticOptions::default() };
    Settings { learner: Learner::Logistic(options), epochs: 1000, ..Settings::default() }
}

/// Rows of classes that overlap, dense or sparse, some features rare.
fn data(seed: u64, rows: usize, columns: usize, classes: usize, sparse: bool) -> Dataset {
    let random = &mut Random::new(seed);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for i in 0..rows {
        let class = if i < classes { i } else { random.below(classes as u64) as usize };
        for j in 0..columns {
            let present = !sparse || random.below(3) == 0;
            let shift = if j % classes == class { 1.0 } else { 0.0 };
            values.push(if present { random.normal() + shift } else { 0.0 });
        }
        labels.push(class.to_string());
    }
    let dense = Dataset::dense(columns, &values, &labels).unwrap();
    if sparse { without_zeros(&dense) } else { dense }
}

/// The same rows, stored without their zeros.
fn without_zeros(dense: &Dataset) -> Dataset {
    let (mut offsets, mut indices, mut kept) = (vec![0], Vec::new(), Vec::new());
    for i in 0..dense.len() {
        for (j, x) in dense.row(i).iter().filter(|&(_, x)| x != 0.0) {
            indices.push(j as u32);
            kept.push(x);
        }
        offsets.push(kept.len());
    }
    let labels: Vec<&str> = dense.labels().iter().map(|&label| &*dense.classes()[label as usize]).collect();
    Dataset::sparse(dense.columns(), &offsets, &indices, &kept, &labels).unwrap()
}

fn weights(outcome: &Outcome) -> Vec<Theta> {
    match &outcome.learned {
        Learned::Linear(theta) => vec![theta.clone()],
        Learned::Each(each) => each.iter().map(|learned| learned.theta().clone()).collect(),
        other => panic!("{other:?}"),
    }
}

fn detail(outcome: &Outcome) -> (f64, f64, f64) {
    match outcome.evidence.detail {
        Some(Detail::Logistic { primal, dual: Some(dual), gap: Some(gap), .. }) => (primal, dual, gap),
        ref other => panic!("{other:?}"),
    }
}

/// The objective as the definition has it, row by row.
fn objective(data: &Dataset, thetas: &[Theta], penalty: Penalty, c: f64) -> f64 {
    let loss: f64 = (0..data.len())
        .map(|i| {
            let scores: Vec<f64> = thetas.iter().map(|theta| theta.score(data.row(i))).collect();
            let class = data.labels()[i] as usize;
            match scores[..] {
                [score] => (1.0 + (if class == 1 { -score } else { score }).exp()).ln(),
                _ => scores.iter().map(|score| score.exp()).sum::<f64>().ln() - scores[class],
            }
        })
        .sum();
    let loss_weight: f64 = thetas.iter().map(|theta| penalty.of(&theta.weights)).sum();
    loss_weight + c * loss
}

fn penalties() -> impl Strategy<Value = LogisticPenalty> {
    prop_oneof![Just(LogisticPenalty::L2), Just(LogisticPenalty::L1), Just(LogisticPenalty::ElasticNet)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// The result is within its gap, the objective is what the definition says, and nothing near it is smaller than the
    /// dual objective, let alone any other point that is tried.
    #[test]
    fn the_optimum_is_where_it_is_proved_to_be(
        seed: u64,
        rows in 12usize..60,
        columns in 1usize..7,
        classes in 2usize..5,
        penalty in penalties(),
        c in prop_oneof![Just(0.05), Just(1.0), Just(30.0)],
        sparse: bool,
        bias: bool,
    ) {
        let data = data(seed, rows, columns, classes, sparse);
        let bias = if bias { Bias::Append(2.0) } else { Bias::None };
        let settings = Settings { bias, ..settings(penalty, c) };
        let outcome = train(&data, &settings, &mut ()).unwrap();
        prop_assert_eq!(outcome.status, Status::Converged);
        let (primal, dual, gap) = detail(&outcome);
        let Learner::Logistic(options) = settings.learner else { unreachable!() };
        prop_assert!(gap <= options.gap && dual <= primal);
        let (found, loss_weights) = (weights(&outcome), options.norm_weights());
        let defined = objective(&data, &found, loss_weights, c);
        prop_assert!((defined - primal).abs() <= 1e-9 * primal, "{} {}", defined, primal);
        let random = &mut Random::new(seed ^ 1);
        for k in 0..60 {
            let size = 10f64.powi(-(k % 6));
            let mut other = found.clone();
            for theta in &mut other {
                theta.weights.iter_mut().for_each(|w| *w += size * random.normal());
                theta.bias += size * random.normal();
            }
            let there = objective(&data, &other, loss_weights, c);
            prop_assert!(there >= dual * (1.0 - 1e-12), "{} is below {}", there, dual);
        }
        // The margin that the multipliers bound is at least that of any weights.
        if let Some(lower) = outcome.evidence.margin.lower {
            prop_assert!(lower <= outcome.evidence.margin.upper);
        }
    }

    /// Exchanging the classes changes the sign of the scores and nothing else.
    #[test]
    fn the_classes_can_be_exchanged(seed: u64, rows in 12usize..40, columns in 1usize..5, penalty in penalties()) {
        let data = data(seed, rows, columns, 2, false);
        let extent = Extent::of(&data, 1.0);
        let options = LogisticOptions { penalty, gap: 1e-10, ..LogisticOptions::default() };
        let theta = |labels: &[u32]| {
            let rows = Rows { data: &data, labels, classes: 2, weights: None, extent };
            learn(&rows, &settings(penalty, 1.0), &options, &mut ()).unwrap().thetas.swap_remove(0)
        };
        let swapped: Vec<u32> = data.labels().iter().map(|&label| 1 - label).collect();
        let (one, other) = (theta(data.labels()), theta(&swapped));
        for i in 0..data.len() {
            prop_assert!((one.score(data.row(i)) + other.score(data.row(i))).abs() < 1e-3);
        }
    }

    /// A row that counts twice is two rows.
    #[test]
    fn weights_are_repetitions(seed: u64, rows in 12usize..30, columns in 1usize..4, classes in 2usize..4, penalty in penalties()) {
        let data = data(seed, rows, columns, classes, false);
        let random = &mut Random::new(seed ^ 2);
        let counts: Vec<usize> = (0..rows).map(|i| if i < classes { 1 } else { random.below(3) as usize }).collect();
        let repeated: Vec<usize> = (0..rows).flat_map(|i| vec![i; counts[i]]).collect();
        let weighted = data.clone().with_weights(counts.iter().map(|&count| count as f64).collect()).unwrap();
        let settings = settings(penalty, 1.0);
        let weighted = detail(&train(&weighted, &settings, &mut ()).unwrap());
        let plain = detail(&train(&data.subset(&repeated).unwrap(), &settings, &mut ()).unwrap());
        prop_assert!((weighted.0 - plain.0).abs() <= 2e-6 * plain.0, "{:?} {:?}", weighted, plain);
    }
}

#[test]
fn a_problem_that_can_be_solved_by_hand() {
    // Without features the intercept alone is fitted: the odds are those of the classes.
    let data = Dataset::dense(1, &[0.0, 0.0, 0.0, 0.0], &["a", "b", "b", "b"]).unwrap();
    let outcome = train(&data, &settings(LogisticPenalty::L2, 1.0), &mut ()).unwrap();
    let theta = &weights(&outcome)[0];
    assert!((theta.intercept() - 3f64.ln()).abs() < 1e-6, "{theta:?}");
    let entropy = 4f64.ln() + 3.0 * (4.0f64 / 3.0).ln();
    let (primal, dual, _) = detail(&outcome);
    assert!((primal - entropy).abs() < 1e-6 && (dual - entropy).abs() < 1e-6, "{primal} {dual} {entropy}");
}

#[test]
fn a_large_penalty_leaves_all_features_out() {
    let data = data(7, 50, 5, 2, false);
    let outcome = train(&data, &settings(LogisticPenalty::L1, 1e-4), &mut ()).unwrap();
    assert!(
        matches!(outcome.evidence.detail, Some(Detail::Logistic { kept: 0, .. })),
        "{:?}",
        outcome.evidence
    );
    assert_eq!(outcome.status, Status::Converged);
}

#[test]
fn without_a_penalty_there_is_an_optimum_only_where_classes_overlap() {
    let apart = Dataset::dense(1, &[1.0, 2.0, 3.0, 4.0], &["a", "a", "b", "b"]).unwrap();
    let touching = Dataset::dense(1, &[1.0, 2.0, 2.0, 4.0], &["a", "a", "b", "b"]).unwrap();
    let three = Dataset::dense(1, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &["a", "a", "b", "b", "c", "c"]).unwrap();
    for (data, verdict) in
        [(&apart, Verdict::Complete), (&touching, Verdict::QuasiComplete), (&three, Verdict::Complete)]
    {
        let outcome = train(data, &settings(LogisticPenalty::None, 1.0), &mut ()).unwrap();
        assert_eq!((outcome.status, outcome.status.has_model()), (Status::NoOptimum, false));
        assert_eq!(outcome.evidence.detail, Some(Detail::NoOptimum { verdict }));
    }
    for (seed, classes) in [(3, 2), (4, 3)] {
        let data = data(seed, 200, 2, classes, false);
        let outcome = train(&data, &settings(LogisticPenalty::None, 1.0), &mut ()).unwrap();
        assert_eq!(outcome.status, Status::Converged);
        // Every feature is as frequent in what was predicted as in what was seen: the slope is zero.
        let thetas = weights(&outcome);
        for j in 0..2 {
            let slope: f64 = (0..data.len())
                .map(|i| {
                    let mut scores: Vec<f64> = thetas.iter().map(|theta| theta.score(data.row(i))).collect();
                    problem::to_probabilities(&mut scores);
                    let own = if classes == 2 { data.labels()[i] == 1 } else { data.labels()[i] == 0 };
                    data.row(i).iter().nth(j).unwrap().1 * (f64::from(u8::from(own)) - scores[0])
                })
                .sum();
            assert!(slope.abs() < 1e-3, "{slope}");
        }
    }
}

/// The softmax does not change where the weights of a feature, or the intercepts, move together: that constant is taken off, but for
/// ‖w‖₁, which is smallest where the median of the weights of a feature is 0.
#[test]
fn weights_of_several_classes_have_no_constant_in_common() {
    let constant = |numbers: Vec<f64>| {
        let size = numbers.iter().map(|number| number.abs()).fold(0.0, f64::max);
        (numbers.iter().sum::<f64>() / numbers.len() as f64).abs() / size.max(1.0)
    };
    for (seed, sparse, classes) in [(3, false, 3), (4, true, 3), (5, false, 4), (6, true, 5)] {
        let data = data(seed, 300, 4, classes, sparse);
        for penalty in
            [LogisticPenalty::None, LogisticPenalty::L2, LogisticPenalty::L1, LogisticPenalty::ElasticNet]
        {
            let outcome = train(&data, &settings(penalty, 1.0), &mut ()).unwrap();
            assert_eq!(outcome.status, Status::Converged);
            let thetas = weights(&outcome);
            let shared = constant(thetas.iter().map(Theta::intercept).collect());
            assert!(shared < 1e-14, "{penalty:?}: {shared}");
            for j in 0..4 {
                let mut own: Vec<f64> = thetas.iter().map(|theta| theta.weights[j]).collect();
                match penalty {
                    LogisticPenalty::None | LogisticPenalty::L2 => {
                        let shared = constant(own);
                        assert!(shared < 1e-14, "{penalty:?}, feature {j}: {shared}");
                    }
                    LogisticPenalty::L1 => {
                        own.sort_unstable_by(f64::total_cmp);
                        let (low, high) = (own[(classes - 1) / 2], own[classes / 2]);
                        assert!(low <= 0.0 && high >= 0.0, "feature {j}: {own:?}");
                    }
                    _ => {}
                }
            }
        }
    }
}

/// A constant as large as it was seen to become, 152 where the weight is 0.41, changes no probability, and is gone.
#[test]
fn centring_changes_no_probability() {
    let data = data(9, 50, 3, 3, false);
    let problem = Problem::new(&data, data.labels(), 3, vec![1.0; data.len()], true, Penalty::NONE);
    let random = &mut Random::new(9);
    let mut point = problem.zero();
    let constants: Vec<f64> = (0..4).map(|_| 152.0 * random.normal()).collect();
    point.weights.iter_mut().enumerate().for_each(|(k, w)| *w = random.normal() + constants[k / 3]);
    point.intercepts.iter_mut().for_each(|b| *b = random.normal() + constants[3]);
    let mut centred = point.clone();
    centred.centre(3, Penalty::NONE);
    assert!(centred.weights.iter().all(|w| w.abs() < 10.0), "{centred:?}");
    let go_on = &mut || ControlFlow::Continue(());
    let mut probabilities = |point: &Point| {
        let scores = problem.scores(point, go_on).continue_value().unwrap();
        problem.probabilities(&scores, go_on).continue_value().unwrap()
    };
    for (before, after) in probabilities(&point).iter().zip(probabilities(&centred)) {
        assert!((before - after).abs() < 1e-12, "{before} {after}");
    }
}

#[test]
fn the_bits_do_not_depend_on_the_threads() {
    for (classes, penalty) in [
        (2, LogisticPenalty::L2),
        (3, LogisticPenalty::L2),
        (2, LogisticPenalty::L1),
        (2, LogisticPenalty::ElasticNet),
    ] {
        for columns in [5, 500] {
            let data = data(11, 3000, columns, classes, columns > 100);
            let settings = settings(penalty, 0.1);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            let one = pool.install(|| train(&data, &settings, &mut ()).unwrap());
            let many = train(&data, &settings, &mut ()).unwrap();
            assert_eq!(weights(&one), weights(&many));
            assert_eq!(one.evidence, many.evidence);
        }
    }
}

proptest! {
    /// Without a penalty, columns that are combinations of others change neither the objective nor the size of the weights.
    #[test]
    fn without_a_penalty_dependent_columns_do_no_harm(seed: u64, rows in 20usize..200, factor in -3.0f64..3.0) {
        let plain = data(seed, rows, 3, 2, false);
        let (mut fewer, mut more, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..plain.len() {
            let row: Vec<f64> = plain.row(i).iter().map(|(_, x)| x).collect();
            let word = f64::from(u8::from(row[0] > 0.0));
            fewer.extend(row.iter().copied().chain([word]));
            // A column in another unit with another origin, and the other word of a column of two.
            more.extend(row.iter().copied().chain([word, 1.0 - word, factor * row[1] + 1.0]));
            labels.push(plain.classes()[plain.labels()[i] as usize].clone());
        }
        let optimum = |columns: usize, values: &[f64]| {
            let data = Dataset::dense(columns, values, &labels).unwrap();
            let outcome = train(&data, &settings(LogisticPenalty::None, 1.0), &mut ()).unwrap();
            let Some(Detail::Logistic { primal, .. }) = outcome.evidence.detail else { return None };
            let theta = &weights(&outcome)[0];
            let again = objective(&data, std::slice::from_ref(theta), Penalty::NONE, 1.0);
            let largest = theta.weights.iter().chain([&theta.bias]).fold(1.0f64, |most, w| most.max(w.abs()));
            Some((outcome.status, primal, again, largest))
        };
        // Classes that do not overlap have no optimum, with these columns or without them.
        let (fewer, more) = (optimum(4, &fewer), optimum(6, &more));
        prop_assume!(fewer.is_some() && more.is_some());
        let (fewer, more) = (fewer.unwrap(), more.unwrap());
        prop_assert_eq!((fewer.0, more.0), (Status::Converged, Status::Converged));
        prop_assert!((fewer.1 - more.1).abs() <= 1e-8 * fewer.1, "{fewer:?} {more:?}");
        prop_assert!((more.2 - more.1).abs() <= 1e-10 * more.1, "{more:?}");
        prop_assert!(more.3 <= 10.0 * fewer.3, "{fewer:?} {more:?}");
    }
}

/// Rows of many features of which each has few, as texts are.
fn texts(seed: u64, rows: usize, length: f64) -> (Dataset, Vec<f64>) {
    const COLUMNS: usize = 450;
    let random = &mut Random::new(seed);
    let (mut offsets, mut indices, mut values, mut labels) = (vec![0], Vec::new(), Vec::new(), Vec::new());
    for i in 0..rows {
        let class = if i < 2 { i } else { random.below(3) as usize % 2 };
        let mut own: Vec<u32> = (0..12).map(|_| random.below(COLUMNS as u64) as u32).collect();
        own.push(class as u32 + random.below(4) as u32);
        own.sort_unstable();
        own.dedup();
        values.extend(own.iter().map(|_| length * (0.5 + random.uniform())));
        indices.extend(own);
        offsets.push(indices.len());
        labels.push(class.to_string());
    }
    let weights = (0..rows).map(|_| random.below(4) as f64).collect();
    (Dataset::sparse(COLUMNS, &offsets, &indices, &values, &labels).unwrap(), weights)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// The dual method ends where Newton's does.
    #[test]
    fn both_methods_for_many_features_agree(
        seed: u64,
        rows in 20usize..150,
        c in prop_oneof![Just(0.01), Just(1.0), Just(100.0)],
        length in prop_oneof![Just(1.0), Just(0.01), Just(300.0)],
        has_intercept: bool,
        weighted: bool,
    ) {
        let (data, weights) = texts(seed, rows, length);
        let weights = if weighted { weights } else { vec![1.0; rows] };
        let loss_weights: Vec<f64> = weights.iter().map(|w| c * w).collect();
        let penalty = Penalty { absolute: 0.0, square: 1.0 };
        let problem = Problem::new(&data, data.labels(), 2, loss_weights, has_intercept, penalty);
        prop_assert!(Dual::is_for(&problem) && !DenseNewton::is_for(&problem));
        let bias = if has_intercept { Bias::Append(1.0) } else { Bias::None };
        let settings = Settings { bias, ..settings(LogisticPenalty::L2, c) };
        let radius = Extent::of(&data, 1.0).radius_upper;
        let rows = Rows { data: &data, labels: data.labels(), classes: 2, weights: None, extent: Extent::of(&data, 1.0) };
        let observer = &mut ();
        let mut limits = Limits::new(&rows, &settings, Instant::now(), observer);
        let found = solve(&problem, problem.zero(), 1e-7, radius, &mut limits).unwrap();
        prop_assert_eq!(found.status, Status::Converged);
        let go_on = &mut || ControlFlow::Continue(());
        let start = problem.place(problem.zero(), go_on).continue_value().unwrap();
        let mut newton = Newton::new(&problem, start);
        for _ in 0..200 {
            if let Some(Step::Stalled) = newton.step(go_on).continue_value() {
                break;
            }
        }
        let best = newton.place.objective;
        let primal = found.proof.primal;
        prop_assert!((primal - best).abs() <= 2e-7 * best + 1e-12, "{primal} beside {best}");
        prop_assert!(found.proof.dual <= best * (1.0 + 1e-9));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The method with limited memory ends where Newton's does: with the matrix of all classes, with one that they share, and with
    /// none.
    #[test]
    fn the_method_with_limited_memory_ends_where_newtons_does(
        seed: u64,
        classes in 2usize..6,
        sparse: bool,
        shape in prop_oneof![Just((60, 3)), Just((40, 180)), Just((30, 1700))],
        has_intercept: bool,
        c in prop_oneof![Just(0.01), Just(1.0), Just(100.0)],
    ) {
        let (rows, columns) = shape;
        let data = data(seed, rows, columns, classes, sparse);
        let labels: Vec<u32> = (0..rows as u32).map(|i| (i * i + i / 3) % classes as u32).collect();
        let loss_weights = (0..rows).map(|i| c * (0.5 + (i % 3) as f64)).collect();
        let penalty = Penalty { absolute: 0.0, square: 1.0 };
        let problem = Problem::new(&data, &labels, classes, loss_weights, has_intercept, penalty);
        let go_on: &mut Pause<'_> = &mut || ControlFlow::Continue(());
        let start = problem.place(problem.zero(), go_on).continue_value().unwrap();
        let mut newton = Newton::new(&problem, start.clone());
        // Once nothing is gained, intercepts that move together take digits from the scores.
        let mut before = f64::INFINITY;
        while newton.place.objective < before * (1.0 - 1e-13) {
            before = newton.place.objective;
            newton.step(go_on).continue_value().unwrap();
        }
        let mut lbfgs = Lbfgs::new(&problem, start);
        for _ in 0..60 {
            lbfgs.step(go_on).continue_value().unwrap();
        }
        let found = problem.place(lbfgs.place.point, go_on).continue_value().unwrap().objective;
        prop_assert!((before - found).abs() <= 1e-9 * before, "{found} beside {before}");
    }

    /// The matrix of all classes, times a direction, is what the rows say of that direction.
    #[test]
    fn the_matrix_of_classes_is_that_of_its_definition(
        seed: u64,
        classes in 3usize..6,
        sparse: bool,
        has_intercept: bool,
    ) {
        let (rows, columns) = (50, 4);
        let data = data(seed, rows, columns, classes, sparse);
        let labels: Vec<u32> = (0..rows as u32).map(|i| i % classes as u32).collect();
        let loss_weights = (0..rows).map(|i| 0.5 + (i % 4) as f64).collect();
        let penalty = Penalty { absolute: 0.0, square: 1.0 };
        let problem = Problem::new(&data, &labels, classes, loss_weights, has_intercept, penalty);
        let mut random = Random::new(seed);
        let mut number = || random.below(2001) as f64 / 1000.0 - 1.0;
        let scores: Vec<f64> = (0..rows * classes).map(|_| 3.0 * number()).collect();
        let mut direction = problem.zero();
        direction.weights.iter_mut().for_each(|w| *w = number());
        if has_intercept {
            direction.intercepts.iter_mut().for_each(|b| *b = number());
            // All of them together are given a weight of their own.
            let mean = direction.intercepts.iter().sum::<f64>() / classes as f64;
            direction.intercepts.iter_mut().for_each(|b| *b -= mean);
        }
        let go_on: &mut Pause<'_> = &mut || ControlFlow::Continue(());
        let matrix = problem.matrix_of_classes(&scores, go_on).continue_value().unwrap();
        let probabilities = problem.probabilities(&scores, go_on).continue_value().unwrap();
        let expected = problem.curve(&probabilities, &direction, go_on).continue_value().unwrap().joined();
        let direction = direction.joined();
        let size = direction.len();
        let entry = |a: usize, b: usize| if b <= a { matrix[a * size + b] } else { matrix[b * size + a] };
        for (a, expected) in expected.into_iter().enumerate() {
            let found: f64 = (0..size).map(|b| entry(a, b) * direction[b]).sum();
            prop_assert!((found - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{a}: {found} {expected}");
        }
    }

    /// Products of dense rows, many at a time, have the bits of sparse ones, row by row.
    #[test]
    fn dense_rows_of_classes_give_the_bits_of_sparse_ones(
        seed: u64,
        rows in 1usize..200,
        columns in 1usize..9,
        classes in 3usize..30,
    ) {
        let dense = data(seed, rows, columns, 2, false);
        let sparse = without_zeros(&dense);
        let labels: Vec<u32> = (0..rows as u32).map(|i| i % classes as u32).collect();
        let penalty = Penalty { absolute: 0.0, square: 1.0 };
        let mut random = Random::new(seed);
        let mut number = || random.below(2001) as f64 / 700.0 - 1.4;
        let go_on: &mut Pause<'_> = &mut || ControlFlow::Continue(());
        let mut point = None;
        let residuals: Vec<f64> = (0..rows * classes).map(|_| number()).collect();
        let found = [&dense, &sparse].map(|data| {
            let mut problem = Problem::new(data, &labels, classes, vec![1.0; rows], true, penalty);
            // Dense rows have zeros too, so that the blocks might not be the same.
            problem.blocks = vec![0..rows / 2, rows / 2..rows];
            let point = point.get_or_insert_with(|| {
                let mut point = problem.zero();
                point.weights.iter_mut().chain(&mut point.intercepts).for_each(|w| *w = number());
                point
            });
            let scores = problem.scores(point, go_on).continue_value().unwrap();
            (scores, problem.combine(&residuals, go_on).continue_value().unwrap())
        });
        prop_assert_eq!(&found[0], &found[1]);
    }
}

/// Where losses count for much, no row has room for every class, but there is one for enough pairs of them.
#[test]
fn several_classes_are_proved_where_losses_count_for_much() {
    for (seed, columns, classes) in [(1, 3, 10), (2, 12, 8), (3, 2, 30)] {
        let data = data(seed, 240, columns, classes, false);
        for c in [1e2, 1e4, 1e6] {
            let outcome = train(&data, &settings(LogisticPenalty::L2, c), &mut ()).unwrap();
            assert_eq!(outcome.status, Status::Converged, "{seed} {c} {:?}", outcome.evidence.detail);
        }
    }
}

/// Rows that go on to say the same, very long: the dual method is slow there, knows it, and another goes on.
#[test]
fn the_dual_method_knows_where_it_is_slow() {
    let (data, _) = texts(5, 2000, 100.0);
    let penalty = Penalty { absolute: 0.0, square: 1.0 };
    let problem = Problem::new(&data, data.labels(), 2, vec![1e3; 2000], true, penalty);
    let go_on = &mut || ControlFlow::Continue(());
    let start = problem.place(problem.zero(), go_on).continue_value().unwrap();
    let mut dual = Dual::new(&problem, start);
    let steps = (1..100).find(|_| dual.step(go_on).is_break() || dual.is_slow());
    assert!(steps.is_some_and(|steps| steps < 50), "{steps:?}");
    let outcome = train(&data, &settings(LogisticPenalty::L2, 1e3), &mut ()).unwrap();
    assert_eq!(outcome.status, Status::Converged);
    assert!(detail(&outcome).2 <= 1e-6);
}

/// Where a run is stopped just as another method takes over, the best point of the dual method is kept.
#[test]
fn a_stop_between_two_methods_keeps_the_best_point() {
    let (data, _) = texts(5, 2000, 100.0);
    let penalty = Penalty { absolute: 0.0, square: 1.0 };
    let problem = Problem::new(&data, data.labels(), 2, vec![1e3; 2000], true, penalty);
    let extent = Extent::of(&data, 1.0);
    let rows = Rows { data: &data, labels: data.labels(), classes: 2, weights: None, extent };
    let settings = settings(LogisticPenalty::L2, 1e3);
    let (go_on, mut stop) = (&mut (), StopAt(1));
    let mut limits = Limits::new(&rows, &settings, Instant::now(), go_on);
    let begun = Algorithm::begin(&problem, problem.zero(), 1e-6, &mut || limits.patient_pause());
    let mut algorithm = begun.continue_value().unwrap();
    while let Algorithm::Dual(dual) = &algorithm
        && !dual.is_slow()
    {
        assert!(algorithm.step(&mut limits).is_continue());
    }
    let Algorithm::Dual(dual) = &algorithm else { panic!("the dual method was not the first") };
    let (best, least) = (dual.best.clone(), dual.least);
    let mut limits = Limits::new(&rows, &settings, Instant::now(), &mut stop);
    assert!(matches!(algorithm.step(&mut limits), ControlFlow::Break(Status::Interrupted)));
    let proof = algorithm.end(extent.radius_upper, &mut limits).unwrap();
    assert!(proof.objective <= least, "{} {least}", proof.objective);
    if algorithm.objective() == least {
        assert_eq!(algorithm.into_point().weights, best.weights);
    }
}

/// The cycles of a step of a working set.
const MAX_CYCLES: usize = 1000;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// A working set that grows ends where coordinate descent on all features does, whether its steps write a matrix down or not.
    #[test]
    fn working_sets_end_where_all_features_do(
        seed: u64,
        rows in 20usize..150,
        c in prop_oneof![Just(0.01), Just(1.0), Just(100.0)],
        length in prop_oneof![Just(1.0), Just(0.01), Just(30.0)],
        ratio in prop_oneof![Just(1.0), Just(0.5)],
        has_intercept: bool,
        weighted: bool,
        by_rows: bool,
        dense: bool,
    ) {
        let (mut data, weights) = texts(seed, rows, length);
        if dense {
            let mut values = vec![0.0; rows * data.columns()];
            for (i, row) in values.chunks_mut(data.columns()).enumerate() {
                data.row(i).add_to(1.0, row);
            }
            let labels: Vec<&String> = data.labels().iter().map(|&label| &data.classes()[label as usize]).collect();
            data = Dataset::dense(data.columns(), &values, &labels).unwrap();
        }
        let weights = if weighted { weights } else { vec![1.0; rows] };
        let loss_weights: Vec<f64> = weights.iter().map(|w| c * w).collect();
        let penalty = Penalty { absolute: ratio, square: 1.0 - ratio };
        let problem = Problem::new(&data, data.labels(), 2, loss_weights, has_intercept, penalty);
        prop_assert!(WorkingSet::is_for(&problem) && !DenseNewton::is_for(&problem));
        let go_on = &mut || ControlFlow::Continue(());
        let start = problem.place(problem.zero(), go_on).continue_value().unwrap();
        let mut descent = CoordinateDescent::new(&problem, start, CoordinateDescent::FIRST_ENOUGH);
        for _ in 0..200 {
            if let Some(Step::Stalled) = descent.step(go_on).continue_value() {
                break;
            }
        }
        let best = descent.place.objective;
        let mut working = WorkingSet::new(&problem, problem.zero(), 1e-8, go_on).continue_value().unwrap();
        if by_rows {
            working.most_written = 0;
        }
        let radius = Extent::of(&data, 1.0).radius_upper;
        let mut proof = working.prove(radius, 1.0, go_on).continue_value().unwrap();
        for _ in 0..100 {
            if proof.gap.unwrap() <= 1e-7 {
                break;
            }
            // A model that takes thousands of cycles would take minutes in all: such cases are left out.
            let mut cycles = 0;
            let few = &mut || {
                cycles += 1;
                if cycles < MAX_CYCLES { ControlFlow::Continue(()) } else { ControlFlow::Break(Status::Interrupted) }
            };
            let ended = working.step(few).continue_value().is_some();
            prop_assume!(ended);
            proof = working.prove(radius, 1.0, go_on).continue_value().unwrap();
        }
        prop_assert!(proof.gap.unwrap() <= 1e-7, "{proof:?}");
        prop_assert!(proof.dual <= best * (1.0 + 1e-9) && (proof.primal - best).abs() <= 2e-7 * best + 1e-12, "{proof:?} {best}");
        let scores = problem.scores(&working.point, go_on).continue_value().unwrap();
        let defined = problem.objective(&working.point, &scores, go_on).continue_value().unwrap();
        prop_assert!((defined - proof.objective).abs() <= 1e-10 * defined, "{defined} {proof:?}");
    }
}

/// The matrix of second derivatives is that of its definition. Rows with little curvature are left to the diagonal and the intercept.
#[test]
fn the_matrix_is_that_of_its_definition() {
    for sparse in [false, true] {
        let data = data(3, 100, 5, 2, sparse);
        let penalty = Penalty { absolute: 0.0, square: 1.0 };
        let problem = Problem::new(&data, data.labels(), 2, vec![1.0; 100], true, penalty);
        let curvatures: Vec<f64> = (0..100).map(|i| 0.001 + (i % 4) as f64).collect();
        let mean = curvatures.iter().sum::<f64>() / 100.0;
        for rough in [0.0, 0.1, 0.8] {
            let go_on = &mut || ControlFlow::Continue(());
            let found = problem.matrix(&curvatures, 1, rough, go_on).continue_value().unwrap();
            for a in 0..6 {
                for b in 0..=a {
                    let defined: f64 = (0..100)
                        .filter(|&i| a == b || a == 5 || curvatures[i] > rough * mean)
                        .map(|i| {
                            let mut row = [0.0; 6];
                            data.row(i).add_to(1.0, &mut row[..5]);
                            row[5] = 1.0;
                            curvatures[i] * row[a] * row[b]
                        })
                        .sum();
                    assert!((found[a * 6 + b] - defined).abs() <= 1e-12 * (1.0 + defined.abs()), "{a} {b}");
                }
            }
        }
    }
}

/// Many rows of few features: the start is the best of a part of them, and the result that of all, whatever the part was like.
#[test]
fn a_part_of_many_rows_is_only_a_start() {
    for penalty in [LogisticPenalty::L2, LogisticPenalty::L1, LogisticPenalty::ElasticNet] {
        for sparse in [false, true] {
            let data = data(17, 8000, 3, 2, sparse);
            let settings = settings(penalty, 0.3);
            let Learner::Logistic(options) = &settings.learner else { unreachable!() };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            let one = pool.install(|| train(&data, &settings, &mut ()).unwrap());
            let outcome = train(&data, &settings, &mut ()).unwrap();
            assert_eq!(weights(&one), weights(&outcome));
            assert_eq!(outcome.status, Status::Converged);
            let (primal, _, gap) = detail(&outcome);
            let defined = objective(&data, &weights(&outcome), options.norm_weights(), options.c);
            assert!(
                gap <= options.gap && (defined - primal).abs() <= 1e-9 * primal,
                "{gap} {defined} {primal}"
            );
            // The same rows, those of one class first and each tenth of another kind.
            let mut order: Vec<usize> = (0..data.len()).collect();
            order.sort_by_key(|&i| (data.labels()[i], i % 10));
            let sorted = detail(&train(&data.subset(&order).unwrap(), &settings, &mut ()).unwrap());
            assert!((sorted.0 - primal).abs() <= 2e-6 * primal, "{sorted:?} {primal}");
        }
    }
}

/// The losses of two classes from one pass are those of their definition, and what they prove holds where the intercept is not
/// the best.
#[test]
fn one_pass_gives_losses_slopes_and_a_proof() {
    for sparse in [false, true] {
        let data = data(23, 300, 4, 2, sparse);
        let loss_weights: Vec<f64> = (0..300).map(|i| 0.5 + (i % 3) as f64).collect();
        for penalty in [Penalty { absolute: 0.0, square: 1.0 }, Penalty { absolute: 1.0, square: 0.0 }] {
            let problem = Problem::new(&data, data.labels(), 2, loss_weights.clone(), true, penalty);
            let go_on = &mut || ControlFlow::Continue(());
            let mut best = f64::INFINITY;
            let mut largest_bound = 0.0f64;
            for shift in [0.0, 0.3, -2.0, 9.0] {
                let point = Point { weights: vec![0.4, -0.2, 0.1, shift / 10.0], intercepts: vec![shift] };
                let sides = problem.sides(&point, None, go_on).continue_value().unwrap();
                let scores = problem.scores(&point, go_on).continue_value().unwrap();
                let loss = problem.loss(&scores, go_on).continue_value().unwrap();
                assert!((sides.loss - loss).abs() <= 1e-13 * loss);
                let probabilities = problem.probabilities(&scores, go_on).continue_value().unwrap();
                let residuals = problem.residuals(&probabilities, go_on).continue_value().unwrap();
                let slopes = problem.combine(&residuals, go_on).continue_value().unwrap().joined();
                for (found, expected) in sides.down(&problem).joined().iter().zip(slopes) {
                    assert!((found - expected).abs() <= 1e-10, "{found} {expected}");
                }
                let proof = problem.prove_sides(&point, &sides, 100.0, 1.0, go_on).continue_value().unwrap();
                best = best.min(proof.objective);
                largest_bound = largest_bound.max(proof.dual);
            }
            assert!(largest_bound > 0.0 && largest_bound <= best, "{largest_bound} {best}");
        }
    }
}

/// Huge and tiny loss weights: a result with an honest gap, never a number that is none.
#[test]
fn the_ends_of_the_range() {
    let data = data(5, 40, 3, 2, false);
    for c in [1e-100, 1e-12, 1e8, 1e100] {
        for penalty in [LogisticPenalty::L2, LogisticPenalty::L1] {
            let settings = Settings { epochs: 50, ..settings(penalty, c) };
            let outcome = train(&data, &settings, &mut ()).unwrap();
            let (primal, dual, gap) = detail(&outcome);
            assert!(
                primal.is_finite() && dual <= primal && (0.0..=1.0).contains(&gap),
                "{c}: {primal} {dual} {gap}"
            );
        }
    }
}

/// Firth's penalty for a table of two by two: as if half a row were added to each cell.
#[test]
fn firth_adds_half_a_row_to_each_cell_of_a_table() {
    for cells in [[5u32, 3, 2, 7], [4, 0, 0, 6], [1, 1, 0, 9], [0, 3, 2, 0]] {
        let [a, b, c, d] = cells;
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for (count, x, label) in [(a, 1.0, "yes"), (b, 1.0, "no"), (c, 0.0, "yes"), (d, 0.0, "no")] {
            (0..count).for_each(|_| {
                values.push(x);
                labels.push(label);
            });
        }
        let data = Dataset::dense(1, &values, &labels).unwrap();
        let outcome = train(&data, &settings(LogisticPenalty::Firth, 1.0), &mut ()).unwrap();
        assert_eq!(outcome.status, Status::Converged);
        let theta = outcome.learned.theta();
        let odds = |yes: u32, no: u32| ((f64::from(yes) + 0.5) / (f64::from(no) + 0.5)).ln();
        // The classes are sorted by name: "yes" is the positive one.
        assert!((theta.intercept() - odds(c, d)).abs() < 1e-5, "{cells:?} {theta:?}");
        assert!((theta.weights[0] - (odds(a, b) - odds(c, d))).abs() < 1e-5, "{cells:?} {theta:?}");
    }
}

/// Stops a run when it is asked for the time that is given here.
struct StopAt(u32);

impl Observer for StopAt {
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn firth_can_be_interrupted_within_a_step() {
    let data = data(2, 450, 299, 2, false);
    let settings = settings(LogisticPenalty::Firth, 1.0);
    // 300 columns are looked at, then blocks of rows twice for a point: before the first point there is no model.
    for early in [1, 150, 302] {
        let ended = train(&data, &settings, &mut StopAt(early));
        assert!(matches!(ended, Err(Error::Interrupted)), "{early}: {ended:?}");
    }
    let ended = train(&data, &settings, &mut StopAt(310)).unwrap();
    assert_eq!(ended.status, Status::Interrupted);
}

/// ln L + ½ ln det I, computed as it is written.
fn firth_objective(rows: &[(Vec<f64>, bool)], beta: &[f64]) -> f64 {
    let k = beta.len();
    let mut information = vec![vec![0.0; k]; k];
    let mut sum = 0.0;
    for (x, positive) in rows {
        let score: f64 = x.iter().zip(beta).map(|(x, b)| x * b).sum();
        let p = 1.0 / (1.0 + (-score).exp());
        sum += if *positive { p.ln() } else { (1.0 - p).ln() };
        for a in 0..k {
            for b in 0..k {
                information[a][b] += p * (1.0 - p) * x[a] * x[b];
            }
        }
    }
    // Elimination gives the determinant.
    let mut determinant = 1.0;
    for a in 0..k {
        let pivot = information[a][a];
        determinant *= pivot;
        for b in a + 1..k {
            let factor = information[b][a] / pivot;
            let above = information[a].clone();
            information[b].iter_mut().zip(above).for_each(|(x, y)| *x -= factor * y);
        }
    }
    sum + 0.5 * f64::ln(determinant)
}

proptest! {
    /// No step in any direction from Firth's point is better, whether the classes overlap or not; other units of a feature give
    /// the same probabilities; and a copy of a column is set aside.
    #[test]
    fn firth_finds_the_best_point_and_does_not_depend_on_units(
        rows in proptest::collection::vec((-3.0f64..3.0, -3.0f64..3.0, any::<bool>()), 8..30),
    ) {
        let labels: Vec<&str> = rows.iter().map(|row| if row.2 { "b" } else { "a" }).collect();
        prop_assume!(labels.contains(&"a") && labels.contains(&"b"));
        let values: Vec<f64> = rows.iter().flat_map(|row| [row.0, row.1]).collect();
        let other: Vec<f64> = rows.iter().flat_map(|row| [1000.0 * row.0 + row.1, row.1 - 7.0, row.1]).collect();
        let data = Dataset::dense(2, &values, &labels).unwrap();
        let tight = |penalty| {
            let options = LogisticOptions { penalty, gap: 1e-9, ..LogisticOptions::default() };
            Settings { learner: Learner::Logistic(options), ..settings(penalty, 1.0) }
        };
        let outcome = train(&data, &tight(LogisticPenalty::Firth), &mut ()).unwrap();
        prop_assert_eq!(outcome.status, Status::Converged);
        let theta = outcome.learned.theta();
        let beta = [theta.intercept(), theta.weights[0], theta.weights[1]];
        let seen: Vec<(Vec<f64>, bool)> = rows.iter().map(|row| (vec![1.0, row.0, row.1], row.2)).collect();
        let best = firth_objective(&seen, &beta);
        prop_assume!(best.is_finite());
        for direction in 0..6 {
            let mut near = beta;
            near[direction / 2] += if direction % 2 == 0 { 1e-3 } else { -1e-3 };
            prop_assert!(firth_objective(&seen, &near) <= best + 1e-9, "{near:?}");
        }
        let same = Dataset::dense(3, &other, &labels).unwrap();
        let outcome = train(&same, &tight(LogisticPenalty::Firth), &mut ()).unwrap();
        let again = outcome.learned.theta();
        prop_assert!(
            matches!(outcome.evidence.detail, Some(Detail::Firth { set_aside: 1, .. })),
            "{:?}",
            outcome.evidence.detail
        );
        for i in 0..rows.len() {
            let (a, b) = (theta.score(data.row(i)), again.score(same.row(i)));
            prop_assert!((a - b).abs() < 1e-4 * (1.0 + a.abs()), "{a} {b}");
        }
    }
}

/// Columns far from 0 have the same estimates; where floats lose the scores, that is said.
#[test]
fn firth_does_not_depend_on_shifts() {
    let random = &mut Random::new(31);
    let rows: Vec<[f64; 2]> = (0..60).map(|_| [random.normal(), random.normal()]).collect();
    let label = |row: &[f64; 2], noise: f64| if row[0] - row[1] + noise > 0.0 { "b" } else { "a" };
    let labels: Vec<&str> = rows.iter().map(|row| label(row, 2.0 * random.normal())).collect();
    let learn = |shift: f64, unit: f64| {
        // Multiples of 2^-13, so that the shifted values are exact.
        let round = |value: f64| (value * 8192.0).round() / 8192.0;
        let values: Vec<f64> =
            rows.iter().flat_map(|row| [round(row[0]) + shift, unit * (round(row[1]) - shift)]).collect();
        let data = Dataset::dense(2, &values, &labels).unwrap();
        let options =
            LogisticOptions { penalty: LogisticPenalty::Firth, gap: 1e-10, ..LogisticOptions::default() };
        let settings =
            Settings { learner: Learner::Logistic(options), ..settings(LogisticPenalty::Firth, 1.0) };
        train(&data, &settings, &mut ())
    };
    let plain = learn(0.0, 1.0).unwrap();
    let expected = plain.learned.theta();
    for (shift, unit) in [(1e3, 1.0), (1e6, 1024.0), (-1e8, 1.0), (1e9, 1.0)] {
        let outcome = learn(shift, unit).unwrap();
        assert_eq!(outcome.status, Status::Converged);
        let theta = outcome.learned.theta();
        let intercept = expected.intercept() - shift * (expected.weights[0] - expected.weights[1]);
        assert!((theta.weights[0] - expected.weights[0]).abs() < 1e-8, "{shift}: {theta:?} {expected:?}");
        assert!(
            (theta.weights[1] * unit - expected.weights[1]).abs() < 1e-8,
            "{shift}: {theta:?} {expected:?}"
        );
        assert!(
            (theta.intercept() - intercept).abs() < 1e-8 * shift.abs(),
            "{shift}: {theta:?} {expected:?}"
        );
        let objective = |detail: &Option<Detail>| match detail {
            Some(Detail::Firth { objective, .. }) => *objective,
            other => panic!("{other:?}"),
        };
        let same = objective(&outcome.evidence.detail) - unit.ln();
        assert!((same - objective(&plain.evidence.detail)).abs() < 1e-7, "{shift}: {same}");
    }
    let refused = learn(1e11, 1.0).unwrap_err().to_string();
    assert!(refused.contains("the scores lose all precision"), "{refused}");
}

#[test]
fn firth_and_a_weight_of_the_loss_are_refused_where_they_mean_nothing() {
    let three = Dataset::dense(1, &[1.0, 2.0, 3.0], &["a", "b", "c"]).unwrap();
    let refused = train(&three, &settings(LogisticPenalty::Firth, 1.0), &mut ()).unwrap_err().to_string();
    assert!(refused.contains("two classes"), "{refused}");
    let two = Dataset::dense(1, &[1.0, 2.0, 3.0], &["a", "b", "a"]).unwrap();
    let refused = train(&two, &settings(LogisticPenalty::Firth, 2.0), &mut ()).unwrap_err().to_string();
    assert!(refused.contains("no weight"), "{refused}");
    let refused = train(&two, &settings(LogisticPenalty::None, 2.0), &mut ()).unwrap_err().to_string();
    assert!(refused.contains("weighs nothing"), "{refused}");
}

/// Wherever a run is stopped, of few classes or of very many: what is told of the point is true.
#[test]
fn what_is_proved_of_a_run_that_was_stopped_is_true() {
    for (rows, classes, penalty) in [
        (300, 2, LogisticPenalty::L2),
        (300, 3, LogisticPenalty::L2),
        (300, 3, LogisticPenalty::L1),
        (900, 300, LogisticPenalty::L2),
    ] {
        let data = data(5, rows, 3, classes, false);
        let settings = settings(penalty, 0.7);
        let Learner::Logistic(options) = &settings.learner else { unreachable!() };
        let best = detail(&train(&data, &settings, &mut ()).unwrap()).1;
        for stop in [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144] {
            let ended = train(&data, &settings, &mut StopAt(stop)).unwrap();
            let (primal, dual, _) = detail(&ended);
            assert!(ended.status == Status::Interrupted || ended.status == Status::Converged);
            assert!(dual <= primal && dual <= best * (1.0 + 1e-4), "{classes} {stop}: {dual} {best}");
            let here = objective(&data, &weights(&ended), options.norm_weights(), options.c);
            assert!(here <= primal * (1.0 + 1e-9), "{classes} {stop}: {here} {primal}");
        }
    }
    let (data, _) = texts(5, 800, 1.0);
    for penalty in [LogisticPenalty::L1, LogisticPenalty::L2] {
        let settings = settings(penalty, 10.0);
        let Learner::Logistic(options) = &settings.learner else { unreachable!() };
        let best = detail(&train(&data, &settings, &mut ()).unwrap()).1;
        let (mut first, mut last) = (None, f64::INFINITY);
        for stop in 1..100 {
            let ended = train(&data, &settings, &mut StopAt(stop)).unwrap();
            let (primal, dual, _) = detail(&ended);
            assert!(dual <= primal && dual <= best * (1.0 + 1e-4), "{stop}: {dual} {best}");
            let here = objective(&data, &weights(&ended), options.norm_weights(), options.c);
            assert!(here <= primal * (1.0 + 1e-9), "{stop}: {here} {primal}");
            first.get_or_insert(here);
            last = here;
        }
        // Steps that were made before the stop are kept.
        assert!(first.is_some_and(|first| last < 0.9 * first), "{first:?} {last}");
    }
}

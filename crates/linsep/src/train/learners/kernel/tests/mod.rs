//! The kernel perceptron against its plain form, and its claims against attempts to break them.

mod plain;

use super::dual::run;
use super::form::{Form, KernelRounding};
use super::gram::{Gram, Support, Tile, square};
use super::*;
use crate::dataset::Row;
use crate::observe::{Progress, Update};
use crate::random::Random;
use crate::store::mutation::mutations;
use crate::store::{Opened, Tensors};
use crate::train::engine::evidence::Detail;
use crate::train::engine::fit::{Fit, Space};
use crate::train::{Bias, Learned, Learner, Order, Status, train};
use plain::{plain, plain_kernel};
use proptest::prelude::*;
use std::ops::ControlFlow;

/// Notes which rows were mistaken.
#[derive(Default)]
struct Mistakes(Vec<u64>);

impl Observer for Mistakes {
    fn update(&mut self, update: &Update<'_>) {
        self.0.push(update.position);
    }
}

/// Rows of whole numbers, small enough that sums are exact and ties are many; or of random ones.
fn make_rows(seed: u64, (rows, columns): (usize, usize), grid: bool) -> Vec<Vec<f64>> {
    let mut random = Random::new(seed);
    let mut number = || if grid { random.below(5) as f64 - 2.0 } else { random.normal() };
    (0..rows).map(|_| (0..columns).map(|_| number()).collect()).collect()
}

fn make_signs(seed: u64, rows: usize) -> Vec<i8> {
    let mut random = Random::stream(seed, 1);
    // Both classes must be there.
    (0..rows).map(|i| if i < 2 { [1, -1][i] } else { [1, -1][random.below(2) as usize] }).collect()
}

fn dataset(rows: &[Vec<f64>], signs: &[i8], sparse: bool) -> Dataset {
    let labels: Vec<&str> = signs.iter().map(|&sign| if sign > 0 { "1" } else { "0" }).collect();
    let columns = rows[0].len();
    if !sparse {
        return Dataset::dense(columns, &rows.concat(), &labels).unwrap();
    }
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows {
        for (j, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            indices.push(j as u32);
            values.push(x);
        }
        offsets.push(indices.len());
    }
    Dataset::sparse(columns, &offsets, &indices, &values, &labels).unwrap()
}

fn machine(fit: &Fit) -> &KernelMachine {
    match &fit.learned {
        Learned::Kernel(machine) => machine,
        other => panic!("not a kernel machine: {other:?}"),
    }
}

fn kernels() -> impl Strategy<Value = Kernel> {
    prop_oneof![
        Just(Kernel::Linear),
        (1u32..5, prop_oneof![Just(1.0), Just(0.5), 0.1f64..3.0], prop_oneof![Just(0.0), Just(1.0)])
            .prop_map(|(degree, gamma, offset)| Kernel::Polynomial { degree, gamma, offset }),
        prop_oneof![Just(None), (0.05f64..2.0).prop_map(Some)].prop_map(|gamma| Kernel::Rbf { gamma }),
    ]
}

fn combines() -> impl Strategy<Value = Combine> {
    prop_oneof![Just(Combine::Last), Just(Combine::Average), Just(Combine::Vote)]
}

fn all_settings() -> impl Strategy<Value = Settings> {
    let orders = prop_oneof![Just(Order::Given), Just(Order::ShuffleOnce), Just(Order::Shuffle)];
    let biases = prop_oneof![Just(Bias::None), Just(Bias::Append(1.0)), Just(Bias::Append(0.5))];
    (orders, biases, any::<u64>(), 1u64..8).prop_map(|(order, bias, seed, epochs)| Settings {
        order,
        bias,
        seed,
        epochs,
        ..Settings::default()
    })
}

proptest! {
    #[test]
    fn the_run_is_that_of_the_plain_form(
        seed: u64,
        shape in (2usize..30, 1usize..5),
        (grid, sparse, weighted) in any::<(bool, bool, bool)>(),
        settings in all_settings(),
        kernel in kernels(),
        combine in combines(),
    ) {
        let (rows, signs) = (make_rows(seed, shape, grid), make_signs(seed, shape.0));
        let data = dataset(&rows, &signs, sparse);
        let task = Task::new(&data, &settings).unwrap();
        let weights: Vec<f64> = (0..shape.0).map(|i| 0.5 + (i % 3) as f64).collect();
        let weights = weighted.then_some(weights.as_slice());
        let options = KernelOptions { kernel, combine, ..KernelOptions::default() };
        check(&task, &settings, &options).unwrap();
        let mut mistakes = Mistakes::default();
        let fit = learn(&task, weights, &settings, &options, &mut mistakes);
        let plain = plain(&rows, &signs, weights, &settings, kernel);
        prop_assume!(plain.clear);
        prop_assert_eq!(&mistakes.0, &plain.mistakes);
        prop_assert_eq!(fit.updates, mistakes.0.len() as u64);
        let machine = machine(&fit);
        prop_assert!(machine.is_consistent(shape.1));
        let support: std::collections::HashSet<_> = mistakes.0.iter().collect();
        prop_assert_eq!(&fit.detail, &Some(Detail::Kernel { support: support.len() as u64 }));
        // Rows it knows and rows it does not, one by one and together.
        let mut queries = rows.clone();
        queries.extend(make_rows(seed ^ 1, (9, shape.1), grid));
        let views: Vec<Row<'_>> = queries.iter().map(|row| Row::DenseF64(row)).collect();
        let scores = machine.scores(&views);
        for ((query, &view), &score) in queries.iter().zip(&views).zip(&scores) {
            prop_assert_eq!(machine.score(view).to_bits(), score.to_bits());
            let expected = plain.score(&rows, query, settings.bias.input(), &options);
            let scale = if combine == Combine::Vote { 1.0 } else { 1.0 + plain.mistakes.len() as f64 * 1e3 };
            // A vote may turn on a tie that the plain form rounds away from zero: in exact numbers only is it equal.
            if combine != Combine::Vote || !grid {
                prop_assert!((score - expected).abs() <= 1e-9 * scale, "{} is not {}", score, expected);
            }
        }
    }

    /// The linear kernel is the perceptron: the same rows are mistaken in the same order, ties and all.
    #[test]
    fn a_linear_kernel_is_the_perceptron(
        seed: u64,
        shape in (2usize..60, 1usize..6),
        (grid, sparse) in any::<(bool, bool)>(),
        settings in all_settings(),
    ) {
        let (rows, signs) = (make_rows(seed, shape, grid), make_signs(seed, shape.0));
        let data = dataset(&rows, &signs, sparse);
        let settings = Settings { learner: Learner::Perceptron, epochs: settings.epochs * 5, ..settings };
        let (mut expected, mut found) = (Mistakes::default(), Mistakes::default());
        let outcome = train(&data, &settings, &mut expected).unwrap();
        let task = Task::new(&data, &settings).unwrap();
        let options = KernelOptions { kernel: Kernel::Linear, ..KernelOptions::default() };
        let fit = learn(&task, None, &settings, &options, &mut found);
        prop_assert_eq!(found.0, expected.0);
        prop_assert_eq!((fit.status, fit.epochs), (outcome.status, outcome.evidence.epochs));
        let (space, margin) = (fit.space.unwrap(), outcome.evidence.margin);
        prop_assert!((space.margin.upper - margin.upper).abs() <= 1e-6 * margin.upper.max(1.0));
        prop_assert_eq!(space.margin.lower.is_some(), margin.lower.is_some());
        for (ours, theirs) in space.margin.lower.iter().zip(&margin.lower) {
            prop_assert!((ours - theirs).abs() <= 1e-9 * theirs.max(1e-3));
        }
        let theta = outcome.learned.theta();
        for row in &rows {
            let score = machine(&fit).score(Row::DenseF64(row));
            prop_assert!((score - theta.score(Row::DenseF64(row))).abs() <= 1e-9 * (1.0 + score.abs()));
        }
    }

    /// Weak duality: no run's lower bound exceeds another run's upper bound, nor the shortest row.
    #[test]
    fn no_lower_bound_exceeds_an_upper_bound(
        seed: u64,
        shape in (2usize..14, 1usize..4),
        grid: bool,
        settings in all_settings(),
        kernel in kernels(),
        power in prop_oneof![Just(0i32), Just(-30), Just(30)],
    ) {
        let signs = make_signs(seed, shape.0);
        let scale = 2f64.powi(power);
        let rows: Vec<Vec<f64>> =
            make_rows(seed, shape, grid).iter().map(|row| row.iter().map(|x| x * scale).collect()).collect();
        let data = dataset(&rows, &signs, false);
        let (mut lowers, mut uppers) = (Vec::new(), Vec::new());
        for (seed, epochs) in [(1, 1), (2, 5), (3, 200)] {
            let settings = Settings { seed, epochs, ..settings.clone() };
            let task = Task::new(&data, &settings).unwrap();
            let options = KernelOptions { kernel, ..KernelOptions::default() };
            let fit = learn(&task, None, &settings, &options, &mut ());
            let Space { extent, margin } = fit.space.unwrap();
            prop_assert!(extent.radius_lower <= extent.radius_upper && extent.shortest <= extent.radius_upper);
            prop_assert!(fit.status != Status::Converged || margin.lower.is_some(), "a converged run is certain");
            lowers.extend(margin.lower);
            uppers.push(margin.upper);
        }
        for lower in &lowers {
            for upper in &uppers {
                prop_assert!(lower <= upper, "{} > {}", lower, upper);
            }
        }
    }

    /// Kernel values in whole numbers, where the exact value is known: the rounding_error covers the difference.
    #[test]
    fn a_value_is_within_its_rounding_error(
        pairs in prop::collection::vec((-(1i64 << 50)..(1i64 << 50), -(1i64 << 50)..(1i64 << 50)), 1..40),
        small in prop::collection::vec((-(1i64 << 17)..(1i64 << 17), -(1i64 << 17)..(1i64 << 17)), 1..8),
        offset in 0i64..1000,
    ) {
        for (form, pairs, degree, offset) in [
            (Form::Linear, &pairs, 1, 0),
            (Form::Polynomial { degree: 3, gamma: 1.0, offset: offset as f64 }, &small, 3, offset),
        ] {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().map(|&(a, b)| (a as f64, b as f64)).unzip();
            let exact: i128 = pairs.iter().map(|&(a, b)| i128::from(a) * i128::from(b)).sum::<i128>() + i128::from(offset);
            let exact = exact.pow(degree);
            let root = |row: &[f64]| form.own_value(row.iter().map(|x| x * x).sum()).sqrt() * (1.0 + 1e-14);
            let radius = a.iter().chain(&b).map(|x| x * x).sum::<f64>().sqrt();
            let KernelRounding { relative, absolute, .. } = form.rounding_error(a.len() + 1, radius, false);
            let value = plain_values::<1>(form, &a, &b);
            // Both are whole numbers, so their difference is exact.
            let off = (value as i128 - exact).abs() as f64;
            prop_assert!(off <= relative * root(&a) * root(&b) + absolute, "{value} for {exact}");
            prop_assert!(relative < 1e-13);
        }
    }

    /// Distances from differences and from inner products belong to values within both rounding errors.
    #[test]
    fn both_distances_agree_within_their_rounding_error(
        seed: u64,
        columns in 1usize..30,
        shift in prop_oneof![Just(0.0), Just(100.0), Just(1e5)],
        gamma in 1e-3f64..3.0,
    ) {
        let rows = make_rows(seed, (2, columns), false);
        let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|x| x + shift).collect()).collect();
        let form = Form::Rbf { gamma };
        let radius = rows.iter().map(|row| row.iter().map(|x| x * x).sum::<f64>().sqrt()).fold(0.0, f64::max);
        let value = |complete: bool| {
            let mut gram = Gram { form, bias_input: 0.0, support: Support::new(complete) };
            gram.support.push(Row::DenseF64(&rows[0]));
            let mut tile = Tile::<8>::new(columns);
            tile.place(3, Row::DenseF64(&rows[1]), square(Row::DenseF64(&rows[1])));
            let mut out = Vec::new();
            gram.values(&[0], &tile, &mut out);
            out[0][3]
        };
        let rounding_error = |complete: bool| form.rounding_error(columns + 1, radius * (1.0 + 1e-12), complete).relative;
        let (exactly, shortly) = (value(true), value(false));
        prop_assert!((exactly - shortly).abs() <= rounding_error(true) + rounding_error(false));
        prop_assert!(rounding_error(true) < 1e-13);
        let expected = plain_kernel(form.kernel(), 0.0, &rows[0], &rows[1]);
        prop_assert!((exactly - expected).abs() < 1e-13);
    }

    /// Every way to compute a value gives the bits of the plain loop.
    #[test]
    fn a_value_has_the_bits_of_the_plain_loop(seed: u64, columns in 1usize..40, kernel in kernels(), sparse: bool) {
        let mut rows = make_rows(seed, (12, columns), sparse);
        rows[3] = rows[2].clone();
        let form = Form::new(kernel, columns);
        let mut gram = Gram { form, bias_input: 0.7, support: Support::new(false) };
        for row in &rows[..4] {
            gram.support.push(Row::DenseF64(row));
        }
        let (mut wide, mut narrow) = (Tile::<8>::new(columns), Tile::<1>::new(columns));
        for (at, row) in rows[4..].iter().enumerate() {
            wide.place(at, Row::DenseF64(row), square(Row::DenseF64(row)));
        }
        let mut together = Vec::new();
        gram.values(&[0, 1, 2, 3], &wide, &mut together);
        for (at, row) in rows[4..].iter().enumerate() {
            narrow.place(0, Row::DenseF64(row), square(Row::DenseF64(row)));
            let mut alone = Vec::new();
            gram.values(&[0, 1, 2, 3], &narrow, &mut alone);
            narrow.clear(0, Row::DenseF64(row));
            for (support, (together, [alone])) in together.iter().zip(&alone).enumerate() {
                prop_assert_eq!(together[at].to_bits(), alone.to_bits());
                let range = gram.support.offsets[support]..gram.support.offsets[support + 1];
                let (indices, values) = (&gram.support.indices[range.clone()], &gram.support.values[range]);
                let mut lanes = [0.0; 4];
                for (k, (&j, x)) in indices.iter().zip(values).enumerate() {
                    lanes[k % 4] += x * row[j as usize];
                }
                let product = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
                let measure = match form {
                    Form::Rbf { .. } => {
                        let sum = square(Row::DenseF64(&rows[support])) + square(Row::DenseF64(row));
                        (sum - 2.0 * product).max(0.0)
                    }
                    _ => product + 0.7 * 0.7,
                };
                prop_assert_eq!(alone.to_bits(), form.value(measure).to_bits());
            }
        }
        prop_assert_eq!(together[2], together[3]);
    }

    #[test]
    fn a_machine_comes_back_as_it_was(
        seed: u64,
        settings in all_settings(),
        kernel in kernels(),
        combine in combines(),
        far: bool,
        mutations in mutations(),
    ) {
        let mut rows = make_rows(seed, (20, 3), true);
        if far {
            rows.iter_mut().for_each(|row| row[0] += 1e7);
        }
        let data = dataset(&rows, &make_signs(seed, 20), false);
        let task = Task::new(&data, &settings).unwrap();
        let options = KernelOptions { kernel, combine, ..KernelOptions::default() };
        let fit = learn(&task, None, &settings, &options, &mut ());
        let mut tensors = Tensors::default();
        put_kernel(&mut tensors, "class.1.", machine(&fit));
        let mut bytes = tensors.into_bytes("model", &options).unwrap();
        let open = |bytes: &[u8]| -> Option<KernelMachine> {
            let opened: Opened<'_, KernelOptions> = Opened::open(bytes, "model").ok()?;
            get_kernel(&opened, "class.1.", &settings, &opened.content).ok()
        };
        let again = open(&bytes).unwrap();
        // The width that RBF takes from the data is written out in the machine that learned.
        prop_assert_eq!(&again, machine(&fit));
        mutations.iter().for_each(|mutation| mutation.apply(&mut bytes));
        if let Some(damaged) = open(&bytes) {
            let columns = damaged.theta().weights.len();
            prop_assert!(damaged.is_consistent(columns));
            for row in [Row::DenseF64(&[]), Row::DenseF64(&[1.0, -1e300, f64::MAX]), Row::SparseF64(&[2], &[1.0])] {
                let row = row.truncated(columns);
                damaged.score(row);
                prop_assert_eq!(damaged.scores(&[row; 9]).len(), 9);
            }
        }
    }
}

/// One value, by the machinery.
fn plain_values<const R: usize>(form: Form, a: &[f64], b: &[f64]) -> f64 {
    let mut gram = Gram { form, bias_input: 0.0, support: Support::new(false) };
    gram.support.push(Row::DenseF64(a));
    let mut tile = Tile::<R>::new(b.len());
    tile.place(0, Row::DenseF64(b), square(Row::DenseF64(b)));
    let mut out = Vec::new();
    gram.values(&[0], &tile, &mut out);
    out[0][0]
}

/// Enough rows for several blocks, hard enough for thousands of updates.
fn many_rows(sparse: bool) -> (Dataset, Settings) {
    let mut rows = make_rows(5, (700, 12), true);
    for (i, row) in rows.iter_mut().enumerate() {
        row[i % 12] += (i % 7) as f64 / 10.0;
    }
    let settings = Settings { epochs: 6, bias: Bias::None, ..Settings::default() };
    (dataset(&rows, &make_signs(5, 700), sparse), settings)
}

fn same(a: &Fit, b: &Fit) {
    assert_eq!(a.learned, b.learned);
    assert_eq!((a.status, a.updates, a.margin_upper), (b.status, b.updates, b.margin_upper));
    let (a, b) = (a.space.unwrap(), b.space.unwrap());
    assert_eq!((a.extent, a.margin), (b.extent, b.margin));
}

#[test]
fn neither_threads_nor_memory_change_a_bit() {
    for kernel in
        [Kernel::Polynomial { degree: 3, gamma: 0.3, offset: 1.0 }, Kernel::Rbf { gamma: Some(0.001) }]
    {
        for sparse in [false, true] {
            let (data, settings) = many_rows(sparse);
            let task = Task::new(&data, &settings).unwrap();
            let fit = |cache_bytes, threads| {
                let options = KernelOptions { kernel, combine: Combine::Vote, cache_bytes };
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| learn(&task, None, &settings, &options, &mut ()))
            };
            let first = fit(0, 1);
            assert!(
                first.updates > machine(&first).support() as u64 + 50,
                "{kernel:?}: {} updates",
                first.updates
            );
            // No slot at all, a few, all.
            for cache_bytes in [0, 5599, 5600, 100_000, u64::MAX] {
                for threads in [1, 2, 3] {
                    same(&fit(cache_bytes, threads), &first);
                }
            }
            let options = KernelOptions { kernel, combine: Combine::Vote, cache_bytes: 1_000_000 };
            same(&run::<1>(&task, None, &settings, &options, &mut ()), &first);
            same(&run::<3>(&task, None, &settings, &options, &mut ()), &first);
        }
    }
}

#[test]
fn kept_values_stay_within_their_bytes() {
    let (data, settings) = many_rows(false);
    let task = Task::new(&data, &settings).unwrap();
    let kernel = Kernel::Polynomial { degree: 2, gamma: 1.0, offset: 1.0 };
    for (cache_bytes, slots) in [(0, 0), (5599, 0), (5600, 1), (56_000, 10)] {
        let options = KernelOptions { kernel, cache_bytes, ..KernelOptions::default() };
        assert_eq!(super::dual::kept(&task, &settings, &options), (slots, slots * 8 * 700));
    }
}

#[test]
fn zero_rows_and_contradictions_never_converge_and_prove_nothing() {
    let linear = KernelOptions { kernel: Kernel::Linear, ..KernelOptions::default() };
    let settings = Settings { epochs: 9, bias: Bias::None, ..Settings::default() };
    let rows = vec![vec![0.0, 0.0], vec![1.0, 0.0], vec![0.0, 2.0]];
    let data = dataset(&rows, &[1, -1, 1], false);
    let fit = learn(&Task::new(&data, &settings).unwrap(), None, &settings, &linear, &mut ());
    let Space { extent, margin } = fit.space.unwrap();
    assert_eq!((fit.status, margin.lower, margin.upper), (Status::EpochLimit, None, 0.0));
    assert!(extent.radius_lower <= 2.0 && extent.radius_upper >= 2.0 && extent.shortest == 0.0);
    for kernel in [
        Kernel::Linear,
        Kernel::Rbf { gamma: None },
        Kernel::Polynomial { degree: 4, gamma: 0.1, offset: 1.0 },
    ] {
        // The same row with both labels, twice.
        let rows = vec![vec![0.3, 0.1]; 4];
        let data = dataset(&rows, &[1, -1, 1, -1], false);
        let options = KernelOptions { kernel, ..linear };
        let fit = learn(&Task::new(&data, &settings).unwrap(), None, &settings, &options, &mut ());
        assert_eq!((fit.status, fit.space.unwrap().margin.lower), (Status::EpochLimit, None));
        // They cancel: after every pair the function is zero.
        assert!(fit.margin_upper.unwrap() < 1e-6, "{kernel:?} {:?}", fit.margin_upper);
    }
}

#[test]
fn a_power_of_two_on_all_rows_changes_nothing() {
    let (rows, signs) = (make_rows(3, (60, 4), false), make_signs(3, 60));
    let settings = Settings { epochs: 20, bias: Bias::None, ..Settings::default() };
    for homogeneous in [1u32, 3] {
        let run = |power: i32| {
            let scaled: Vec<Vec<f64>> =
                rows.iter().map(|row| row.iter().map(|&x| libm::scalbn(x, power)).collect()).collect();
            let data = dataset(&scaled, &signs, false);
            let task = Task::new(&data, &settings).unwrap();
            let kernel = Kernel::Polynomial { degree: homogeneous, gamma: 1.0, offset: 0.0 };
            let options = KernelOptions { kernel, ..KernelOptions::default() };
            check(&task, &settings, &options).unwrap();
            let mut mistakes = Mistakes::default();
            learn(&task, None, &settings, &options, &mut mistakes);
            mistakes.0
        };
        let expected = run(0);
        assert!(expected.len() > 60);
        let most = if homogeneous == 1 { 300 } else { 100 };
        for power in [-most, -20, 20, most] {
            assert_eq!(run(power), expected, "2^{power}, degree {homogeneous}");
        }
    }
}

#[test]
fn rbf_separates_what_no_line_does_and_proves_it() {
    // A ring around a cluster, far from the origin in one feature, which costs products their precision.
    let mut random = Random::new(2);
    let mut signs = Vec::new();
    let rows: Vec<Vec<f64>> = (0..200)
        .map(|i| {
            let (angle, radius) =
                (random.uniform() * std::f64::consts::TAU, if i % 2 == 0 { 1.0 } else { 3.0 });
            signs.push(if i % 2 == 0 { 1 } else { -1 });
            vec![1e7 + radius * angle.cos(), radius * angle.sin()]
        })
        .collect();
    let data = dataset(&rows, &signs, false);
    let settings = Settings { epochs: 1000, ..Settings::default() };
    let task = Task::new(&data, &settings).unwrap();
    let options = KernelOptions::default();
    check(&task, &settings, &options).unwrap();
    let fit = learn(&task, None, &settings, &options, &mut ());
    let margin = fit.space.unwrap().margin;
    assert_eq!(fit.status, Status::Converged);
    let lower = margin.lower.unwrap();
    assert!(lower > 1e-4 && lower <= margin.upper && margin.upper <= 1.0, "{margin:?}");
    for (row, &sign) in rows.iter().zip(&signs) {
        assert!(machine(&fit).score(Row::DenseF64(row)) * f64::from(sign) > 0.0);
    }
    // The same rows without their layout cannot have their distances from differences.
    let sparse = dataset(&rows, &signs, true);
    let refused = check(&Task::new(&sparse, &settings).unwrap(), &settings, &options).unwrap_err();
    assert!(refused.problem.contains("⟦scale⟧"), "{refused}");
}

#[test]
fn an_interrupted_run_keeps_what_it_has() {
    struct Impatient(usize);
    impl Observer for Impatient {
        fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
            assert!(matches!(progress, Progress::Training { .. }), "an interrupted run is not judged");
            self.0 -= 1;
            if self.0 == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }
    let (data, settings) = many_rows(false);
    let task = Task::new(&data, &settings).unwrap();
    let fit = learn(&task, None, &settings, &KernelOptions::default(), &mut Impatient(2));
    assert_eq!((fit.status, fit.epochs), (Status::Interrupted, 1));
    assert!(fit.updates > 0 && fit.updates <= 512);
    let limited = Settings { max_updates: Some(17), ..settings };
    let fit = learn(&task, None, &limited, &KernelOptions::default(), &mut ());
    assert_eq!((fit.status, fit.updates), (Status::UpdateLimit, 17));
}

#[test]
fn pauses_come_often_enough() {
    // However many updates there are, a block is no more than the work of a pause, or one row.
    assert_eq!(super::dual::rows_between_pauses(0, 100), 256);
    assert_eq!(super::dual::rows_between_pauses(10_000, 1_000), 20);
    assert_eq!(super::dual::rows_between_pauses(usize::MAX, 1_000), 1);
}

#[test]
fn a_row_of_no_weight_is_not_learned() {
    let rows = vec![vec![1.0], vec![-1.0], vec![-2.0]];
    let data = dataset(&rows, &[1, -1, 1], false);
    let settings = Settings { bias: Bias::None, ..Settings::default() };
    let task = Task::new(&data, &settings).unwrap();
    let options = KernelOptions { kernel: Kernel::Linear, ..KernelOptions::default() };
    let fit = learn(&task, Some(&[1.0, 1.0, 0.0]), &settings, &options, &mut ());
    assert_eq!(fit.status, Status::Converged);
    assert_eq!(fit.space.unwrap().margin.lower, None, "the row that is absent still contradicts");
    assert_eq!(machine(&fit).score(Row::DenseF64(&[1.0])).signum(), 1.0);
}

#[test]
fn options_that_make_no_sense_are_refused_with_the_reason() {
    let poly = |degree, gamma, offset| Kernel::Polynomial { degree, gamma, offset };
    for (kernel, word) in [
        (poly(0, 1.0, 1.0), "every kernel value 1"),
        (poly(101, 1.0, 1.0), "at most 100"),
        (poly(2, 0.0, 1.0), "above 0"),
        (poly(2, f64::NAN, 1.0), "above 0"),
        (poly(2, 1.0, -1.0), "not a kernel"),
        (poly(2, 1.0, f64::INFINITY), "at least 0"),
        (Kernel::Rbf { gamma: Some(-1.0) }, "above 0"),
        (Kernel::Rbf { gamma: Some(f64::INFINITY) }, "above 0"),
    ] {
        let error = KernelOptions { kernel, ..KernelOptions::default() }.validate().unwrap_err();
        assert!(error.problem.contains(word), "{kernel:?}: {error}");
    }
    let settings = Settings::default();
    let data = dataset(&[vec![1e60, 0.0], vec![0.0, 1.0]], &[1, -1], false);
    let task = Task::new(&data, &settings).unwrap();
    for (kernel, fits) in [
        (Kernel::Linear, true),
        (poly(1, 1.0, 0.0), true),
        (poly(2, 1.0, 0.0), false),
        (poly(2, 1e-60, 0.0), true),
        (poly(100, 1.0, 0.0), false),
        (Kernel::Rbf { gamma: None }, true),
    ] {
        let options = KernelOptions { kernel, ..KernelOptions::default() };
        let found = check(&task, &settings, &options);
        assert_eq!(found.is_ok(), fits, "{kernel:?}: {found:?}");
        assert!(found.err().is_none_or(|error| error.problem.contains("⟦scale⟧")));
    }
    let warm = Settings { init: Init::First, ..settings };
    assert!(check(&task, &warm, &KernelOptions::default()).unwrap_err().problem.contains("starts at zero"));
}

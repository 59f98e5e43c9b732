use super::*;
use crate::SettingsError;
use crate::classes::ClassPair;
use crate::dataset::Dataset;
use crate::theory::margin::{Extent, lower_bound};
use crate::train::Bias;
use crate::train::learners::registry::Registered;
use proptest::prelude::*;

/// Rows, signs and weights, in plain vectors.
#[derive(Clone, Debug)]
struct Problem {
    rows: Vec<Vec<f64>>,
    signs: Vec<i8>,
    weights: Option<Vec<f64>>,
    bias: f64,
    sparse: bool,
}

impl Problem {
    fn new(rows: &[&[f64]], signs: &[i8]) -> Self {
        let rows = rows.iter().map(|row| row.to_vec()).collect();
        Self { rows, signs: signs.to_vec(), weights: None, bias: 0.0, sparse: false }
    }

    /// Noisy rows around two centres, in `columns` dimensions.
    fn noisy(seed: u64, rows: usize, columns: usize) -> Self {
        let mut random = Random::new(seed);
        let signs: Vec<i8> = (0..rows).map(|_| if random.below(2) == 0 { -1 } else { 1 }).collect();
        let row = |&sign: &i8| (0..columns).map(|_| 0.3 * f64::from(sign) + random.normal()).collect();
        Self { rows: signs.iter().map(row).collect(), signs, weights: None, bias: 1.0, sparse: false }
    }

    fn dataset(&self) -> Dataset {
        let columns = self.rows[0].len();
        let labels: Vec<String> = self.signs.iter().map(|sign| sign.to_string()).collect();
        if !self.sparse {
            return Dataset::dense(columns, &self.rows.concat(), &labels).unwrap();
        }
        let (mut offsets, mut indices, mut values) = (vec![0], vec![], vec![]);
        for row in &self.rows {
            for (j, &x) in row.iter().enumerate().filter(|&(_, &x)| x != 0.0) {
                indices.push(j as u32);
                values.push(x);
            }
            offsets.push(values.len());
        }
        Dataset::sparse(columns, &offsets, &indices, &values, &labels).unwrap()
    }

    /// What a user's settings make of it. Unlike a user, a test may have rows of one class only.
    fn settings(&self) -> Settings {
        let bias = if self.bias == 0.0 { Bias::None } else { Bias::Append(self.bias) };
        Settings { bias, epochs: 300_000, ..Settings::default() }
    }

    fn task<'a>(&self, data: &'a Dataset) -> Task<'a> {
        let classes = ClassPair { positive: "1".into(), negative: vec!["-1".into()].into() };
        Task { data, signs: self.signs.clone(), weights: None, classes, extent: Extent::of(data, self.bias) }
    }

    fn learn(&self, options: &SvmOptions) -> Solution {
        self.learn_watched(options, &self.settings(), &mut ())
    }

    fn learn_watched(
        &self,
        options: &SvmOptions,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Solution {
        options.validate().unwrap();
        let data = self.dataset();
        let fit = learn(&self.task(&data), self.weights.as_deref(), settings, options, observer);
        let Some(Detail::Svm { primal, dual, gap, support }) = fit.detail else { panic!("{fit:?}") };
        let lower = lower_bound(&data, &self.signs, fit.learned.theta());
        Solution { theta: fit.learned.theta().clone(), fit, primal, dual, gap, support, lower }
    }

    /// y·x̃, and C·w
    fn signed_rows(&self, c: f64) -> Vec<(Vec<f64>, f64)> {
        let signed = |(i, row): (usize, &Vec<f64>)| {
            let z = row.iter().chain([&self.bias]).map(|x| x * f64::from(self.signs[i])).collect();
            (z, c * self.weights.as_ref().map_or(1.0, |weights| weights[i]))
        };
        self.rows.iter().enumerate().map(signed).collect()
    }

    /// P(θ), from its definition.
    fn primal(&self, theta: &[f64], options: &SvmOptions) -> f64 {
        let paid = self
            .signed_rows(options.c)
            .iter()
            .map(|(z, loss_weight)| {
                let short = (1.0 - dot(z, theta)).max(0.0);
                loss_weight * if options.loss == SvmLoss::Hinge { short } else { short * short }
            })
            .sum::<f64>();
        0.5 * dot(theta, theta) + paid
    }
}

/// What a run ends with.
struct Solution {
    fit: Fit,
    theta: Theta,
    primal: f64,
    dual: f64,
    gap: f64,
    support: u64,
    /// The margin that θ proves.
    lower: Option<f64>,
}

impl Solution {
    fn extended(&self) -> Vec<f64> {
        self.theta.weights.iter().copied().chain([self.theta.bias]).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The textbook form: every row in turn, nothing left out, until no multiplier moves. Gives θ.
fn textbook(problem: &Problem, options: &SvmOptions) -> Vec<f64> {
    let rows = problem.signed_rows(options.c);
    let mut alpha = vec![0.0; rows.len()];
    let mut theta = vec![0.0; problem.rows[0].len() + 1];
    for _ in 0..300_000 {
        let mut steepest = 0.0f64;
        for ((z, loss_weight), alpha) in
            rows.iter().zip(&mut alpha).filter(|((_, loss_weight), _)| *loss_weight > 0.0)
        {
            let (most, diagonal) = match options.loss {
                SvmLoss::Hinge => (*loss_weight, 0.0),
                SvmLoss::SquaredHinge => (f64::INFINITY, 0.5 / loss_weight),
            };
            let slope = dot(&theta, z) - 1.0 + diagonal * *alpha;
            let curvature = dot(z, z) + diagonal;
            let new = if curvature == 0.0 { most } else { (*alpha - slope / curvature).clamp(0.0, most) };
            if new != *alpha {
                steepest = steepest.max(slope.abs());
            }
            theta.iter_mut().zip(z).for_each(|(w, x)| *w += (new - *alpha) * x);
            *alpha = new;
        }
        if steepest < 1e-12 {
            break;
        }
    }
    theta
}

const LOSSES: [SvmLoss; 2] = [SvmLoss::Hinge, SvmLoss::SquaredHinge];

fn options(loss: SvmLoss, c: f64, gap: f64) -> SvmOptions {
    SvmOptions { loss, c, gap }
}

/// Small problems with everything that can go wrong: one row, zero rows, rows that appear twice, with the same sign
/// or with both, weights of zero.
fn problems() -> impl Strategy<Value = Problem> {
    let weight = prop_oneof![Just(0.0), Just(1.0), 0.1..10.0];
    let value = prop_oneof![Just(0i32), -20i32..20];
    (1usize..4, 1usize..10).prop_flat_map(move |(d, n)| {
        (
            prop::collection::vec((prop::collection::vec(value.clone(), d), any::<bool>()), n),
            prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..4),
            prop::option::of(prop::collection::vec(weight.clone(), n + 3)),
            prop_oneof![Just(0.0), Just(1.0), Just(3.0)],
            any::<bool>(),
        )
            .prop_map(|(mut rows, again, weights, bias, sparse)| {
                for (which, sign) in again {
                    rows.push((which.get(&rows).0.clone(), sign));
                }
                let signs = rows.iter().map(|&(_, sign)| if sign { 1 } else { -1 }).collect();
                let rows: Vec<Vec<f64>> =
                    rows.iter().map(|(row, _)| row.iter().map(|&x| f64::from(x) / 8.0).collect()).collect();
                let weights = weights.map(|weights| weights[..rows.len()].to_vec());
                Problem { rows, signs, weights, bias, sparse }
            })
    })
}

fn losses() -> impl Strategy<Value = SvmLoss> {
    prop::sample::select(&LOSSES[..])
}

proptest! {
    #[test]
    fn agrees_with_the_textbook_form(
        problem in problems(),
        loss in losses(),
        c in prop::sample::select(&[0.01, 1.0, 30.0][..]),
        order in prop::sample::select(&[Order::Given, Order::ShuffleOnce, Order::Shuffle][..]),
    ) {
        let options = options(loss, c, 1e-9);
        let settings = Settings { order, ..problem.settings() };
        let solution = problem.learn_watched(&options, &settings, &mut ());
        let best = problem.primal(&textbook(&problem, &options), &options);
        // Rows that nearly depend on one another can take more passes than are allowed; the gap must say so.
        let near = if solution.fit.status == Status::Converged { 1e-8 } else { 1e-8 + 2.0 * solution.gap };
        prop_assert!((solution.primal - best).abs() <= near * best, "{} {best}", solution.primal);
        let again = problem.primal(&solution.extended(), &options);
        prop_assert!((solution.primal - again).abs() <= 1e-12 * again, "{} {again}", solution.primal);
    }

    /// Weak duality, at any moment of a run and for any θ.
    #[test]
    fn no_theta_is_below_the_dual(
        problem in problems(),
        loss in losses(),
        c in prop::sample::select(&[1e-3, 1.0, 1e3][..]),
        epochs in 1u64..20,
        theta in prop::collection::vec(-3.0..3.0, 4),
    ) {
        let options = options(loss, c, 1e-9);
        let settings = Settings { epochs, ..problem.settings() };
        let solution = problem.learn_watched(&options, &settings, &mut ());
        prop_assert!(0.0 <= solution.dual && solution.dual <= solution.primal);
        prop_assert!((0.0..=1.0).contains(&solution.gap));
        prop_assert_eq!(solution.fit.status == Status::Converged, solution.gap <= 1e-9);
        let best = textbook(&problem, &options);
        for theta in [&best[..], &theta[..best.len()], &solution.extended()] {
            let primal = problem.primal(theta, &options);
            prop_assert!(solution.dual <= primal * (1.0 + 1e-14), "{} {primal}", solution.dual);
        }
    }

    /// The parts of the gap that rows have add up to the gap, and the dual objective has been kept up to date.
    #[test]
    fn the_parts_of_the_gap_add_up(problem in problems(), loss in losses(), passes in 0usize..6) {
        let (data, options, settings) = (problem.dataset(), options(loss, 1.0, 1e-10), problem.settings());
        let task = problem.task(&data);
        let mut descent = CoordinateDescent::new(&task, problem.weights.as_deref(), &settings, &options);
        for _ in 0..passes {
            prop_assert!(descent.pass(&mut ()).is_continue());
        }
        let theta: Vec<f64> = descent.theta.weights.iter().copied().chain([descent.theta.bias]).collect();
        let rows = problem.signed_rows(1.0);
        let parts: Vec<f64> = rows
            .iter()
            .zip(&descent.multipliers)
            .filter(|(_, of)| of.loss_weight > 0.0)
            .map(|((z, _), multiplier)| loss.gap(multiplier, dot(z, &theta)))
            .collect();
        prop_assert!(parts.iter().all(|&part| part >= 0.0));
        let proof = descent.prove();
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-11 * (1.0 + proof.primal);
        prop_assert!(near(parts.iter().sum(), proof.primal - proof.dual), "{parts:?} {proof:?}");
        prop_assert!(near(descent.dual, proof.dual), "{} {proof:?}", descent.dual);
    }

    /// At the solution, a row that is right by more than 1 has no multiplier, one that is right by less has all of
    /// it, and θ is their sum.
    #[test]
    fn the_conditions_of_the_maximum_hold(problem in problems(), loss in losses()) {
        let (data, options, settings) = (problem.dataset(), options(loss, 1.0, 1e-10), problem.settings());
        let task = problem.task(&data);
        let mut descent = CoordinateDescent::new(&task, problem.weights.as_deref(), &settings, &options);
        let (status, proof) = descent.run(&mut ());
        // Rows that nearly depend on one another can take more passes than are allowed: then the gap says how near it is.
        let gap = proof.primal - proof.dual;
        prop_assert!(gap <= 1e-6 * proof.primal, "{proof:?}");
        let near = if status == Status::Converged { 1e-10 * proof.primal } else { gap } + 1e-13;
        let mut sum = vec![0.0; data.columns() + 1];
        let theta: Vec<f64> = descent.theta.weights.iter().copied().chain([descent.theta.bias]).collect();
        for ((z, loss_weight), multiplier) in problem.signed_rows(1.0).iter().zip(&descent.multipliers) {
            let (alpha, short) = (multiplier.alpha, 1.0 - dot(z, &theta));
            prop_assert!(alpha >= 0.0);
            match loss {
                SvmLoss::Hinge => {
                    prop_assert!(alpha <= *loss_weight);
                    prop_assert!((loss_weight - alpha) * short <= near);
                    prop_assert!(-alpha * short <= near);
                }
                SvmLoss::SquaredHinge => {
                    let off = alpha - 2.0 * loss_weight * short.max(0.0);
                    prop_assert!(off * off <= 4.0 * loss_weight * near + 1e-13, "{off}");
                }
            }
            sum.iter_mut().zip(z).for_each(|(sum, x)| *sum += alpha * x);
        }
        prop_assert!(sum.iter().zip(&theta).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + b.abs())));
        prop_assert_eq!(proof.support, descent.multipliers.iter().filter(|of| of.alpha > 0.0).count() as u64);
    }

    /// The margin that α proves from above is not below the one that any θ proves from below.
    #[test]
    fn the_margins_keep_their_order(
        problem in problems(),
        loss in losses(),
        c in prop::sample::select(&[1e-2, 1.0, 1e4][..]),
        epochs in 1u64..30,
        scale in prop::sample::select(&[1.0, 0.1, 1e-45, 1e45][..]),
    ) {
        let mut problem = problem;
        problem.rows.iter_mut().flatten().for_each(|x| *x *= scale);
        problem.bias *= scale;
        let some = options(loss, c, 1e-9);
        let solution = problem.learn_watched(&some, &Settings { epochs, ..problem.settings() }, &mut ());
        let unweighted = Problem { weights: None, ..problem.clone() };
        let hard = options(SvmLoss::Hinge, 1e6 / scale / scale, 1e-6);
        let hard = unweighted.learn_watched(&hard, &Settings { epochs: 2000, ..problem.settings() }, &mut ());
        for lower in [solution.lower, hard.lower].into_iter().flatten() {
            for upper in [solution.fit.margin_upper, hard.fit.margin_upper].into_iter().flatten() {
                prop_assert!(lower <= upper, "{lower} > {upper}");
            }
        }
    }

    /// With a high loss weight and rows that can be separated, θ and α close in on the best margin from both sides.
    #[test]
    fn the_margins_meet_when_separable(seed: u64, n in 2usize..40) {
        let mut random = Random::new(seed);
        let mut problem = Problem { rows: vec![], signs: vec![], weights: None, bias: 1.0, sparse: false };
        while problem.rows.len() < n {
            let row: Vec<f64> = (0..3).map(|_| 4.0 * random.uniform() - 2.0).collect();
            let side = row[0] + row[1] - 0.5 * row[2] + 0.25;
            if side.abs() > 0.3 {
                problem.rows.push(row);
                problem.signs.push(if side > 0.0 { 1 } else { -1 });
            }
        }
        let solution = problem.learn(&options(SvmLoss::Hinge, 1e4, 1e-6));
        let (lower, upper) = (solution.lower.unwrap(), solution.fit.margin_upper.unwrap());
        prop_assert!(lower <= upper && upper <= lower * 1.01, "{lower} {upper}");
    }

    /// Rows times 2ᵏ and C times 4⁻ᵏ is the same problem, bit for bit.
    #[test]
    fn scales_by_powers_of_two(problem in problems(), loss in losses(), power in -150i32..150) {
        let mut scaled = problem.clone();
        scaled.rows.iter_mut().flatten().for_each(|x| *x = libm::scalbn(*x, power));
        scaled.bias = libm::scalbn(scaled.bias, power);
        let plain = problem.learn(&options(loss, 1.0, 1e-6));
        let other = scaled.learn(&options(loss, libm::scalbn(1.0, -2 * power), 1e-6));
        prop_assert_eq!(plain.gap, other.gap);
        prop_assert_eq!(plain.fit.updates, other.fit.updates);
        prop_assert_eq!(plain.primal, libm::scalbn(other.primal, 2 * power));
        for (w, v) in plain.extended().iter().zip(other.extended()) {
            prop_assert_eq!(*w, libm::scalbn(v, power));
        }
    }

    /// The drift covers the distance to the exact sum, in numbers that round at every step.
    #[test]
    fn the_drift_covers_the_rounding(seed: u64, n in 1usize..300) {
        // Values are multiples of 2⁻⁶⁰ below 1, multipliers whole numbers: sums are exact in i128.
        let (mut random, unit) = (Random::new(seed), 2f64.powi(-60));
        let mut value = || (((random.next_u64() >> 11) as i64 - (1 << 52)) >> random.below(9)) as f64 * unit;
        let rows: Vec<Vec<f64>> = (0..n).map(|_| vec![value(), value(), value()]).collect();
        let problem = Problem { rows, signs: vec![1; n], weights: None, bias: 0.0, sparse: false };
        let (data, settings, options) = (problem.dataset(), problem.settings(), SvmOptions::default());
        let task = problem.task(&data);
        let mut descent = CoordinateDescent::new(&task, None, &settings, &options);
        let mut exact = [0i128; 3];
        for (multiplier, row) in descent.multipliers.iter_mut().zip(&problem.rows) {
            let alpha = random.below(1000) as i128;
            multiplier.alpha = alpha as f64;
            exact.iter_mut().zip(row).for_each(|(sum, x)| *sum += alpha * (x / unit) as i128);
        }
        let drift = descent.sum_afresh();
        let off = exact.iter().zip(&descent.theta.weights).map(|(&sum, &w)| {
            // The whole part is exact, and what is below it is no more than a unit.
            ((sum - (w / unit) as i128) as f64 * unit).powi(2)
        }).sum::<f64>().sqrt();
        prop_assert!(off <= drift + 4.0 * unit, "{off} > {drift}");
        let length: f64 = problem.rows.len() as f64 * 1000.0 * task.extent.radius_upper;
        prop_assert!(drift <= 2.0 * n as f64 * U * length, "loose: {drift}");
    }
}

/// x = 1 is positive and x = −1 negative: P = ½θ² + 2C·max(0, 1 − θ), or its square.
#[test]
fn two_rows_by_hand() {
    let problem = Problem::new(&[&[1.0], &[-1.0]], &[1, -1]);
    let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-9, "{a} {b}");
    for (loss, c, theta, primal) in [
        // Σα = θ = 1 satisfies both rows.
        (SvmLoss::Hinge, 1.0, 1.0, 0.5),
        // Both α are C.
        (SvmLoss::Hinge, 0.25, 0.5, 0.125 + 0.25),
        // θ = 4C/(1 + 4C)
        (SvmLoss::SquaredHinge, 1.0, 0.8, 0.32 + 0.08),
        (SvmLoss::SquaredHinge, 0.25, 0.5, 0.125 + 0.125),
    ] {
        let solution = problem.learn(&options(loss, c, 1e-11));
        // P grows with the square of the distance from the best θ.
        assert!((solution.theta.weights[0] - theta).abs() <= 1e-5);
        near(solution.primal, primal);
        near(solution.dual, primal);
        near(solution.fit.margin_upper.unwrap(), 1.0);
        assert!(solution.fit.margin_upper.unwrap() >= 1.0);
        assert_eq!(solution.fit.status, Status::Converged);
    }
}

/// A weight is a number of copies, and none is no row.
#[test]
fn weights_count_rows() {
    for loss in LOSSES {
        let weighted = Problem {
            weights: Some(vec![3.0, 1.0, 0.0, 2.0]),
            ..Problem::new(&[&[1.0, 2.0], &[-1.0, 0.5], &[9.0, 9.0], &[0.5, 1.0]], &[1, -1, -1, -1])
        };
        let [a, b, d] = [&weighted.rows[0][..], &weighted.rows[1], &weighted.rows[3]];
        let copied = Problem::new(&[a, a, a, b, d, d], &[1, 1, 1, -1, -1, -1]);
        let (weighted, copied) =
            [&weighted, &copied].map(|problem| problem.learn(&options(loss, 0.7, 1e-11))).into();
        assert!((weighted.primal - copied.primal).abs() <= 1e-10 * copied.primal);
        assert!(weighted.extended().iter().zip(copied.extended()).all(|(a, b)| (a - b).abs() <= 1e-5));
    }
}

#[test]
fn rows_of_zero_and_weights_of_zero() {
    for loss in LOSSES {
        // Nothing can be learned from a zero row: it costs C, whatever θ is.
        let zero = Problem::new(&[&[0.0, 0.0], &[0.0, 0.0]], &[1, -1]).learn(&options(loss, 2.0, 1e-9));
        assert_eq!((zero.fit.status, zero.primal, zero.support), (Status::Converged, 4.0, 2));
        assert_eq!(zero.theta.weights, [0.0, 0.0]);
        // Its multiplier proves that the margin is none.
        assert!(zero.fit.margin_upper.unwrap() <= 1e-150);
        // Nothing is to be paid.
        let free = Problem { weights: Some(vec![0.0; 2]), ..Problem::new(&[&[1.0], &[2.0]], &[1, -1]) };
        let free = free.learn(&options(loss, 2.0, 1e-9));
        assert_eq!((free.fit.status, free.primal, free.dual, free.gap), (Status::Converged, 0.0, 0.0, 0.0));
        assert_eq!((free.theta.weights[0], free.fit.margin_upper, free.support), (0.0, None, 0));
    }
}

/// Whatever the lengths and the loss weights, every number is a number.
#[test]
fn extremes_stay_finite() {
    let shapes = [
        Problem::new(&[&[1.0, 2.0], &[-1.0, 0.5], &[0.5, 1.0]], &[1, -1, -1]),
        Problem::new(&[&[1.0, 2.0], &[1.0, 2.0], &[0.0, 0.0]], &[1, -1, -1]),
        Problem::new(&[&[1.0, 1e-139], &[1e-30, 1e-139], &[0.0, 1e-60]], &[1, -1, 1]),
    ];
    for (shape, loss) in shapes.iter().flat_map(|shape| LOSSES.map(|loss| (shape, loss))) {
        for (scale, c) in [1e-140, 1e-70, 1.0, 1e70, 1e139]
            .iter()
            .flat_map(|&s| [1e-100, 1e-9, 1.0, 1e9, 1e100].map(|c| (s, c)))
        {
            let mut problem = shape.clone();
            problem.rows.iter_mut().flatten().for_each(|x| *x *= scale);
            for epochs in [1, 2, 50] {
                let settings = Settings { epochs, ..problem.settings() };
                let solution = problem.learn_watched(&options(loss, c, 1e-9), &settings, &mut ());
                let label =
                    format!("{shape:?} {loss:?} {scale} {c} {epochs}: {} {}", solution.primal, solution.dual);
                assert!(solution.theta.is_finite(), "{label}");
                assert!(solution.primal.is_finite() && solution.dual <= solution.primal, "{label}");
                assert!(solution.dual >= 0.0 && (0.0..=1.0).contains(&solution.gap), "{label}");
                assert!(solution.fit.margin_upper.is_none_or(f64::is_finite), "{label}");
            }
        }
    }
}

/// When the objective itself overflows, the result is the θ that costs no more than the loss weights.
#[test]
fn an_objective_that_overflows_is_given_up() {
    let problem = Problem::new(&[&[1e139], &[1e-100]], &[-1, 1]);
    let settings = Settings { epochs: 1, order: Order::Given, ..problem.settings() };
    let solution = problem.learn_watched(&options(SvmLoss::SquaredHinge, 1e100, 1e-3), &settings, &mut ());
    assert_eq!((solution.theta.weights[0], solution.fit.status), (0.0, Status::EpochLimit));
    assert_eq!((solution.primal, solution.dual, solution.gap), (2e100, 0.0, 1.0));
}

/// Rows that are left out wrongly are found and solved.
#[test]
fn rows_left_out_come_back() {
    for loss in LOSSES {
        let (problem, options) = (Problem::noisy(1, 400, 5), options(loss, 1.0, 1e-7));
        let (data, settings) = (problem.dataset(), problem.settings());
        let task = problem.task(&data);
        let mut descent = CoordinateDescent::new(&task, None, &settings, &options);
        descent.active = vec![false; 400];
        let (status, proof) = descent.run(&mut ());
        let best = problem.primal(&textbook(&problem, &options), &options);
        assert_eq!(status, Status::Converged);
        assert!((proof.primal - best).abs() <= 1e-7 * best, "{} {best}", proof.primal);
        let visited = descent.order().end();
        assert!(visited < 400, "nothing was left out");
        assert!(visited > 0 && descent.updates > 400);
    }
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let problem = Problem::noisy(2, 3 * CHUNK + 100, 3);
    let learn = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let solution = pool.install(|| problem.learn(&options(SvmLoss::Hinge, 0.1, 1e-3)));
        let Solution { fit, theta, primal, dual, gap, support, .. } = solution;
        (
            theta,
            primal.to_bits(),
            dual.to_bits(),
            gap.to_bits(),
            support,
            fit.epochs,
            fit.updates,
            fit.margin_upper,
        )
    };
    let one = learn(1);
    assert_eq!(one, learn(2));
    assert_eq!(one, learn(5));
}

/// Stops the run at the `left`-th time that it is heard.
struct Impatient {
    left: u64,
    last: Option<Progress>,
}

impl Observer for Impatient {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.last = Some(progress.clone());
        self.left -= 1;
        if self.left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn checkpoint(&mut self, _: &dyn crate::observe::Checkpoint) {
        panic!("there is no run to save");
    }
}

#[test]
fn limits_stop_the_run_with_what_it_has() {
    let (problem, options) = (Problem::noisy(3, 2000, 100), options(SvmLoss::Hinge, 1.0, 1e-12));
    let run = |settings: Settings| problem.learn_watched(&options, &settings, &mut ());
    let whole = |solution: &Solution, status: Status| {
        assert_eq!(solution.fit.status, status);
        let again = problem.primal(&solution.extended(), &options);
        assert!((solution.primal - again).abs() <= 1e-12 * again);
        assert!(solution.dual > 0.0 && solution.gap > 1e-12);
    };
    let updates = run(Settings { max_updates: Some(77), ..problem.settings() });
    whole(&updates, Status::UpdateLimit);
    assert_eq!((updates.fit.updates, updates.fit.epochs), (77, 1));
    let epochs = run(Settings { epochs: 3, ..problem.settings() });
    whole(&epochs, Status::EpochLimit);
    assert_eq!(epochs.fit.epochs, 3);
    assert!(epochs.gap < updates.gap);
    let time = run(Settings { max_seconds: Some(1e-9), ..problem.settings() });
    whole(&time, Status::TimeLimit);
    let mut observer = Impatient { left: 3, last: None };
    let interrupted = problem.learn_watched(&options, &problem.settings(), &mut observer);
    whole(&interrupted, Status::Interrupted);
    assert!(interrupted.fit.updates > time.fit.updates);
    let Some(Progress::Training { epoch, position, examples, updates, .. }) = observer.last else { panic!() };
    assert_eq!((epoch + 1, updates), (interrupted.fit.epochs, interrupted.fit.updates));
    assert!(position <= examples && examples <= 2000);
}

/// A small problem that cannot reach its gap hears the observer too.
#[test]
fn small_problems_can_be_interrupted() {
    let problem = Problem::new(&[&[1.0, 0.3], &[0.7, -1.0], &[0.1, 0.2]], &[1, -1, -1]);
    let settings = Settings { epochs: u64::MAX, ..problem.settings() };
    let mut observer = Impatient { left: 2, last: None };
    let solution = problem.learn_watched(&options(SvmLoss::Hinge, 1.0, 1e-300), &settings, &mut observer);
    assert_eq!(solution.fit.status, Status::Interrupted);
    assert!(solution.gap < 1e-9);
}

/// So does one that has nothing left to visit.
#[test]
fn a_run_without_active_rows_can_be_interrupted() {
    let problem = Problem::new(&[&[0.0], &[0.0]], &[1, -1]);
    let (data, options) = (problem.dataset(), options(SvmLoss::Hinge, 1.0, 1e-300));
    let (task, settings) = (problem.task(&data), Settings { epochs: u64::MAX, ..problem.settings() });
    let mut descent = CoordinateDescent::new(&task, None, &settings, &options);
    descent.multipliers.iter_mut().for_each(|of| of.alpha = of.loss_weight);
    descent.active = vec![false; 2];
    let (status, _) = descent.run(&mut Impatient { left: 2, last: None });
    assert_eq!((status, descent.updates), (Status::Interrupted, 0));
}

#[test]
fn ranges_are_checked() {
    let good = SvmOptions::default();
    assert!(good.validate().is_ok());
    for c in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e101, 1e-101] {
        let SettingsError { problem: reason, .. } = SvmOptions { c, ..good }.validate().unwrap_err();
        assert!(reason.contains("1e-100 to 1e100"), "{reason}");
    }
    for gap in [0.0, -0.5, 1.0, f64::NAN, f64::INFINITY] {
        let SettingsError { problem: reason, .. } = SvmOptions { gap, ..good }.validate().unwrap_err();
        assert!(reason.contains("above 0 and below 1"), "{reason}");
    }
    assert!(SvmOptions { c: 1e100, gap: 1e-15, ..good }.validate().is_ok());
    assert!(SvmOptions { c: 1e-100, gap: 0.999, ..good }.validate().is_ok());
}

//! The span of B, and both ways to prove it, before the checker.

use super::super::decide::{Found, search};
use super::super::testing::instances::{Instance, instance};
use super::super::testing::oracle::rank;
use super::super::testing::{self, examples, from, grid, problem, times, truth};
use super::super::{Bias, Verdict};
use super::*;
use linsep_check::{Certificate, Claim, Columns, Subject};

fn certificate(examples: &Examples<'_>, claim: Claim) -> Certificate {
    Certificate {
        subject: Subject {
            fingerprint: String::new(),
            rows: examples.len(),
            features: examples.data().columns(),
            positive: vec!["1".to_string()],
            negative: vec!["-1".to_string()],
        },
        bias: examples.bias(),
        claim,
        columns: Columns::default(),
    }
}

/// Proves that all present rows are in B, and has it checked.
fn prove_overlap(faces: &mut Faces<'_>, examples: &Examples<'_>) -> usize {
    let rows: Vec<usize> = examples.present().collect();
    let kernel = faces.prove(&rows, &mut || false).unwrap();
    let count = kernel.len();
    let claim = Claim::Overlap { combination: faces.combination(), kernel };
    let accepted = testing::verify(&certificate(examples, claim), examples).unwrap();
    assert_eq!(accepted.boundary_rows, rows.len());
    assert!(accepted.boundary_is_exact);
    count
}

/// Rows and their opposites span L; many more rows are combinations of them, with coefficients of both signs.
fn spanned(random: &mut Random, d: usize, rank: usize, more: usize) -> Vec<Vec<f64>> {
    let basis = grid(random, rank, d, 3);
    let mut rows = basis.clone();
    rows.extend(basis.iter().map(|row| row.iter().map(|value| -2.0 * value).collect::<Vec<f64>>()));
    for _ in 0..more {
        let shares = grid(random, 1, rank, 2).remove(0);
        rows.push(
            (0..d).map(|j| basis.iter().zip(&shares).map(|(row, share)| row[j] * share).sum()).collect(),
        );
    }
    rows
}

#[test]
fn vectors_orthogonal_to_all_prove_the_span() {
    let mut with_kernel = 0;
    for number in 0..times(200) {
        let random = &mut Random::stream(81, number);
        let (d, more) = (from(random, 2, 7), from(random, 0, 30));
        let count = from(random, 1, d as u64);
        let rows = spanned(random, d, count, more);
        let n = rows.len();
        let expected = rank(&rows);
        let problem = Instance { sparse: random.below(2) == 0, ..problem(rows, vec![1; n], Bias::None) };
        let data = problem.dataset();
        let examples = examples(&data, &problem);
        let mut faces = Faces::new(&examples);
        faces.add_contradictions(&super::super::contradictions::contradictions(&examples));
        assert_eq!(faces.rank(), expected);
        assert_eq!(faces.split(&problem.present()), (problem.present(), vec![]));
        with_kernel += usize::from(prove_overlap(&mut faces, &examples) > 0);
    }
    assert!(with_kernel > 60, "{with_kernel}");
}

/// So many columns that orthogonal vectors would fill memory: rows are named one by one.
#[test]
fn rows_are_named_one_by_one() {
    let random = &mut Random::stream(82, 0);
    let (rank, columns) = (7, 140_000);
    let basis = grid(random, rank, columns, 2);
    let shares = grid(random, 6, rank, 2);
    let mut rows = basis.clone();
    rows.push((0..columns).map(|j| -basis.iter().map(|row| row[j]).sum::<f64>()).collect());
    rows.extend(shares.iter().map(|shares| {
        (0..columns).map(|j| basis.iter().zip(shares).map(|(row, share)| row[j] * share).sum()).collect()
    }));
    let n = rows.len();
    let problem = problem(rows, vec![1; n], Bias::None);
    let data = problem.dataset();
    let examples = examples(&data, &problem);
    let mut faces = Faces::new(&examples);
    let one = || Exact::from_f64(1.0);
    faces.add_circuit((0..=rank).map(|row| (row, one())).collect(), Vec::new());
    assert_eq!(faces.rank(), rank);
    let all: Vec<usize> = examples.present().collect();
    assert!(faces.prove(&all, &mut || true).is_none(), "the time limit was reached");
    assert_eq!(prove_overlap(&mut faces, &examples), 0);
    assert_eq!(faces.combination.len(), n);
    assert!(faces.combination.values().all(|value| value.sign() == Ordering::Greater));
}

/// The coefficients stay positive and the sum stays zero, however the circuits come.
#[test]
fn circuits_add_up() {
    for number in 0..times(800) {
        let (family, problem) = instance(83, number);
        if problem.bias == Bias::Free && !problem.has_both_sides() {
            continue;
        }
        let z = problem.z();
        let data = problem.dataset();
        let examples = examples(&data, &problem);
        let (verdict, _) = truth(&z);
        let observer = &mut ();
        let mut budget = Budget::new(observer, None);
        let (mut faces, found, _) =
            search(&testing::space(&examples), &problem.present(), false, &mut budget);
        let told = format!("{number}, {family}");
        let mut sum = vec![Exact::zero(); examples.dimension()];
        for (&row, value) in &faces.combination {
            assert_eq!(value.sign(), Ordering::Greater, "{told}");
            for (column, entry) in examples.entries(row) {
                sum[column] = sum[column].plus(&Exact::from_f64(entry).times(value));
            }
        }
        assert!(sum.iter().all(|value| value.sign() == Ordering::Equal), "{told}");
        let shares: f64 = faces.witness.iter().map(|(_, share)| share).sum();
        assert!(faces.witness.is_empty() == (verdict == Verdict::Complete), "{told}");
        assert!(faces.witness.is_empty() || (shares - 1.0).abs() < 1e-12, "{told}");
        // Rows of the basis are independent, and as many as the rank of the rows of the combination.
        let of = |rows: &[usize]| rank(&rows.iter().map(|&row| examples.dense(row)).collect::<Vec<_>>());
        if !faces.basis.is_empty() {
            assert_eq!(of(&faces.basis), faces.basis.len(), "{told}");
            let all: Vec<usize> = faces.combination.keys().copied().collect();
            assert_eq!(of(&all), faces.rank(), "{told}");
        }
        if let Found::Positive { boundary, w, .. } = found
            && !boundary.is_empty()
        {
            let kernel = faces.prove(&boundary, &mut || false).unwrap();
            let claim =
                Claim::QuasiComplete { weights: w.to_sparse(), combination: faces.combination(), kernel };
            let accepted = testing::verify(&certificate(&examples, claim), &examples).unwrap();
            assert_eq!(accepted.boundary_rows, boundary.len(), "{told}");
            assert!(accepted.boundary_is_exact, "{told}");
        }
    }
}

/// A vector is made to vanish on L exactly; it changes only where it must.
#[test]
fn vanishing_vectors_vanish() {
    for number in 0..times(200) {
        let random = &mut Random::stream(84, number);
        let d = from(random, 2, 7);
        let count = from(random, 1, d as u64 - 1);
        let mut rows = spanned(random, d, count, 5);
        if random.below(2) == 0 {
            rows.iter_mut().flatten().for_each(|value| *value *= 0.1);
        }
        let n = rows.len();
        let problem = problem(rows, vec![1; n], Bias::None);
        let data = problem.dataset();
        let examples = examples(&data, &problem);
        let mut faces = Faces::new(&examples);
        faces.add_contradictions(&super::super::contradictions::contradictions(&examples));
        let w: Vec<[f64; 2]> = (0..d).map(|_| [random.normal(), 1e-20 * random.normal()]).collect();
        let found = faces.vanishing(&w, &mut || false).unwrap();
        for &row in &faces.basis {
            assert_eq!(found.dot(&examples, row).sign(), Ordering::Equal, "{number}");
        }
        // All other coordinates keep their ratios.
        let others: Vec<usize> = (0..d).filter(|column| !faces.span.pivots().contains(column)).collect();
        let given = ExactVector::from_parts(&w);
        for pair in others.windows(2) {
            let cross = |a: &ExactVector, b: &ExactVector| &a.values[pair[0]] * &b.values[pair[1]];
            assert_eq!(cross(&found, &given), cross(&given, &found), "{number}");
        }
        assert_eq!(others.len(), d - faces.rank());
    }
}

#[test]
fn shares_are_in_order_and_sum_to_one() {
    let of = |value: f64| Exact::from_f64(value);
    let shares = in_shares(&[(4, of(1e-300)), (2, of(3e-300)), (9, of(4e-300)), (7, of(4e-300))]);
    assert_eq!(shares.iter().map(|share| share.0).collect::<Vec<_>>(), [7, 9, 2, 4]);
    assert!((shares.iter().map(|share| share.1).sum::<f64>() - 1.0).abs() < 1e-15);
    let huge = Exact::new(IBig::from(3), 5000);
    assert_eq!(in_shares(&[(1, huge.clone()), (0, huge)]), [(0, 0.5), (1, 0.5)]);
}

/// Shares that vanish but for rounding errors become exact ones, also beside rows that are known to be in B.
#[test]
fn shares_that_nearly_vanish() {
    for number in 0..60 {
        let random = &mut Random::stream(71, number);
        let (n, d) = (20, 4);
        let mut z = testing::grid(random, n, d, 3);
        // The last row makes all of them vanish with the share 1, up to a multiple of the first row if that is in B.
        let known = if number % 2 == 0 { 0.0 } else { 2.0 };
        z.push((0..d).map(|j| known * z[0][j] - z.iter().map(|row| row[j]).sum::<f64>()).collect());
        z.push(z[0].iter().map(|value| -value).collect());
        let problem = testing::of_z(&z, &vec![1; z.len()]);
        let data = problem.dataset();
        let examples = testing::examples(&data, &problem);
        let mut faces = Faces::new(&examples);
        if known > 0.0 && z[0].iter().any(|&value| value != 0.0) {
            let one = || Exact::from_f64(1.0);
            faces.add_circuit(vec![(0, one()), (n + 1, one())], Vec::new());
        }
        let support: Vec<(usize, f64)> =
            (usize::from(known > 0.0)..=n).map(|row| (row, 0.3 * (1.0 + 1e-10 * random.normal()))).collect();
        let Some(Combination { support: found, free, .. }) = faces.meeting_nearly(&support, &mut || false)
        else {
            panic!("{number}: {z:?}")
        };
        assert_eq!(found.len(), support.len(), "{number}");
        assert!(faces.meeting_nearly(&support, &mut || true).is_none(), "a search that is over");
        assert!(found.iter().all(|(_, share)| share.sign().is_gt()), "{number}");
        let sum_of = |column: usize| {
            let term = |(row, share): &(usize, Exact)| share.times(&Exact::from_f64(z[*row][column]));
            found.iter().chain(&free).map(term).fold(Exact::zero(), |sum, term| sum.plus(&term))
        };
        assert!((0..d).all(|column| sum_of(column).sign().is_eq()), "{number}");
    }
    // Rows on one side of a plane never vanish.
    let z: Vec<Vec<f64>> = (0..9).map(|i| vec![1.0, f64::from(i % 3), f64::from(i / 3)]).collect();
    let problem = testing::of_z(&z, &[1; 9]);
    let data = problem.dataset();
    let examples = testing::examples(&data, &problem);
    let support: Vec<(usize, f64)> = (0..9).map(|row| (row, 1.0)).collect();
    assert!(Faces::new(&examples).meeting_nearly(&support, &mut || false).is_none());
}

use super::super::modular::Field;
use super::*;
use crate::random::Random;
use proptest::prelude::*;

fn big(rows: &[Vec<i64>]) -> Vec<Vec<IBig>> {
    rows.iter().map(|row| row.iter().map(|&value| IBig::from(value)).collect()).collect()
}

fn sparse(matrix: &[Vec<IBig>]) -> Vec<SparseRow> {
    let entry = |(column, value): (usize, &IBig)| (!value.is_zero()).then(|| (column, value.clone()));
    matrix.iter().map(|row| row.iter().enumerate().filter_map(entry).collect()).collect()
}

fn solve(matrix: &[Vec<IBig>], rhs: &[IBig]) -> Option<(Vec<IBig>, IBig)> {
    super::solve(sparse(matrix), rhs, &mut || false)
}

fn lifting(matrix: &[Vec<IBig>]) -> Option<Lifting<31>> {
    Lifting::new(&sparse(matrix), &mut || false)
}

fn check_solution(matrix: &[Vec<IBig>], rhs: &[IBig], solution: &(Vec<IBig>, IBig)) {
    let (numerators, denominator) = solution;
    assert!(*denominator > IBig::ZERO);
    for (row, b) in matrix.iter().zip(rhs) {
        assert_eq!(dot(row, numerators), denominator * b);
    }
    let mut all = numerators.clone();
    all.push(denominator.clone());
    let before = all.clone();
    make_primitive(&mut all);
    assert_eq!(all, before, "not in lowest terms");
}

/// Elimination as an oracle, in lowest terms and with a positive denominator.
fn oracle(matrix: &[Vec<IBig>], rhs: &[IBig]) -> Option<(Vec<IBig>, IBig)> {
    let (mut values, denominator) = eliminate(matrix, rhs)?;
    values.push(denominator);
    make_primitive(&mut values);
    if values[matrix.len()] < IBig::ZERO {
        values.iter_mut().for_each(|value| *value = -mem::take(value));
    }
    let denominator = values.pop()?;
    Some((values, denominator))
}

fn entry(random: &mut Random, bits: u32, most_shift: u64) -> IBig {
    let magnitude = random.next_u64() >> (64 - bits);
    let value = IBig::from(magnitude) << random.below(most_shift + 1) as usize;
    if random.next_u64() & 1 == 1 { -value } else { value }
}

#[test]
fn floats_of_any_scale_become_whole_numbers() {
    let (values, exponent) = integers(&[0.0, 1.5, -4.0]);
    assert_eq!((values, exponent), (vec![0.into(), 3.into(), IBig::from(-8)], -1));
    assert_eq!(integers(&[0.0, -0.0]), (vec![IBig::ZERO; 2], 0));
    assert_eq!(integers(&[]), (vec![], 0));
    assert_eq!(integers(&[1e300, 5e-324]).1, -1074);
    assert_eq!(integers(&[5e-324, f64::MIN_POSITIVE]).0, [IBig::ONE, IBig::ONE << 52]);
}

#[test]
fn lifting_agrees_with_elimination() {
    let mut random = Random::new(1);
    for round in 0..60 {
        let size = SMALL + 1 + round % 8;
        let shift = [0, 3, 200][round % 3];
        let mut row = |n: usize| -> Vec<IBig> { (0..n).map(|_| entry(&mut random, 53, shift)).collect() };
        let matrix: Vec<Vec<IBig>> = (0..size).map(|_| row(size)).collect();
        let rhs = row(size);
        let solution = solve(&matrix, &rhs).unwrap();
        check_solution(&matrix, &rhs, &solution);
        assert_eq!(Some(solution), oracle(&matrix, &rhs));
        // The second prime is hardly ever needed, but it must serve.
        let (values, denominator) = lifting(&matrix).unwrap().solve(&rhs, &mut || false).unwrap();
        for (row, b) in matrix.iter().zip(&rhs) {
            assert_eq!(dot(row, &values), &denominator * b);
        }
    }
}

#[test]
fn solutions_that_are_short_or_zero_are_found_early() {
    let mut random = Random::new(2);
    let size = 30;
    let matrix: Vec<Vec<IBig>> =
        (0..size).map(|_| (0..size).map(|_| entry(&mut random, 53, 0)).collect()).collect();
    let x: Vec<IBig> = (0..size).map(|_| entry(&mut random, 20, 0)).collect();
    let rhs: Vec<IBig> = matrix.iter().map(|row| dot(row, &x)).collect();
    assert_eq!(solve(&matrix, &rhs), Some((x, IBig::ONE)));
    let zero = vec![IBig::ZERO; size];
    assert_eq!(solve(&matrix, &zero), Some((zero, IBig::ONE)));
    assert_eq!(solve(&[], &[]), Some((vec![], IBig::ONE)));
}

#[test]
fn mixed_scales_of_rows_and_columns() {
    let mut random = Random::new(3);
    for size in [3, 20] {
        let scales: Vec<usize> = (0..2 * size).map(|_| random.below(2000) as usize).collect();
        let mut cell = |i: usize, j: usize| entry(&mut random, 53, 0) << (scales[i] + scales[size + j]);
        let matrix: Vec<Vec<IBig>> = (0..size).map(|i| (0..size).map(|j| cell(i, j)).collect()).collect();
        let rhs: Vec<IBig> = (0..size).map(|_| entry(&mut random, 53, 500)).collect();
        let solution = solve(&matrix, &rhs).unwrap();
        check_solution(&matrix, &rhs, &solution);
        assert_eq!(Some(solution), oracle(&matrix, &rhs));
    }
}

/// A determinant that the first prime, or both, divide.
fn unlucky(size: usize, primes: &[u64]) -> Vec<Vec<IBig>> {
    let mut random = Random::new(4);
    let mut matrix = vec![vec![IBig::ZERO; size]; size];
    for (i, row) in matrix.iter_mut().enumerate() {
        row[i] = primes.get(i).map_or(IBig::ONE, |&prime| prime.into());
        row[i + 1..].iter_mut().for_each(|value| *value = entry(&mut random, 8, 0));
    }
    // Row operations keep the determinant.
    for i in 1..size {
        let (above, below) = matrix.split_at_mut(i);
        below[0].iter_mut().zip(&above[i - 1]).for_each(|(value, other)| *value += other);
    }
    matrix
}

#[test]
fn unlucky_primes_and_singular_matrices() {
    let size = 20;
    let rhs: Vec<IBig> = (0..size as i64).map(|i| IBig::from(i - 3)).collect();
    let (first, second) = (Field::<31>::PRIME, Field::<45>::PRIME);
    for primes in [vec![first], vec![first, second], vec![first, first]] {
        let matrix = unlucky(size, &primes);
        assert!(lifting(&matrix).is_none());
        let solution = solve(&matrix, &rhs).unwrap();
        check_solution(&matrix, &rhs, &solution);
        // An unlucky prime does not see the whole rank: the kernel is empty all the same.
        assert!(kernel_basis(&matrix, size).is_empty());
        assert_eq!(null_vector(&matrix), None);
    }
    let mut random = Random::new(5);
    for (size, rank) in [(4, 3), (20, 19), (20, 12), (40, 39), (40, 0)] {
        let factor = |r: &mut Random, m: usize, n: usize| -> Vec<Vec<IBig>> {
            (0..m).map(|_| (0..n).map(|_| entry(r, 30, 0)).collect()).collect()
        };
        let (a, b) = (factor(&mut random, size, rank), factor(&mut random, size, rank));
        let matrix: Vec<Vec<IBig>> = a.iter().map(|a| b.iter().map(|b| dot(a, b)).collect()).collect();
        let rhs = vec![IBig::ONE; size];
        assert_eq!(solve(&matrix, &rhs), None);
        let basis = kernel_basis(&matrix, size);
        assert_eq!(basis.len(), size - rank);
        assert_eq!(null_vector(&matrix).is_some(), rank + 1 == size);
    }
}

proptest! {
    #[test]
    fn kernels_of_small_matrices(
        rows in prop::collection::vec(prop::collection::vec(-2i64..3, 5), 0..7),
    ) {
        let rows = big(&rows);
        let basis = kernel_basis(&rows, 5);
        prop_assert_eq!(basis.len(), 5 - Profile::exact(&rows, 5).rows.len());
        for v in &basis {
            prop_assert!(rows.iter().all(|row| dot(row, v).is_zero()));
            let mut primitive = v.clone();
            make_primitive(&mut primitive);
            prop_assert_eq!(&primitive, v);
        }
        prop_assert_eq!(Profile::exact(&basis, 5).rows.len(), basis.len());
        // As columns: Σ λ_k row_k = 0.
        let independent = Profile::exact(&rows, 5).rows.len();
        match null_vector(&rows) {
            Some(lambda) => {
                prop_assert_eq!(independent + 1, rows.len());
                for j in 0..5 {
                    let column: Vec<IBig> = rows.iter().map(|row| row[j].clone()).collect();
                    prop_assert!(dot(&column, &lambda).is_zero());
                }
                prop_assert!(lambda.iter().find(|value| !value.is_zero()).unwrap() > &IBig::ZERO);
            }
            None => prop_assert!(independent + 1 != rows.len()),
        }
    }

    #[test]
    fn small_systems(
        rows in prop::collection::vec(prop::collection::vec(-3i64..4, 3), 3), b in prop::collection::vec(-3i64..4, 3),
    ) {
        let matrix = big(&rows);
        let rhs: Vec<IBig> = b.iter().map(|&value| value.into()).collect();
        match solve(&matrix, &rhs) {
            Some(solution) => check_solution(&matrix, &rhs, &solution),
            None => prop_assert!(Profile::exact(&matrix, 3).rows.len() < 3),
        }
    }
}

#[test]
#[ignore = "measures; run by hand with --release --nocapture"]
#[allow(clippy::print_stderr)]
fn times() {
    for (size, bits) in
        [(16, 53), (20, 53), (50, 53), (100, 53), (200, 53), (300, 53), (100, 110), (200, 110)]
    {
        let mut random = Random::new(6);
        let mut wide = || {
            entry(&mut random, 53, 0) * IBig::from(1u64 << (bits.min(63) - 53))
                + if bits > 64 { entry(&mut random, 57, 0) << 53 } else { IBig::ZERO }
        };
        let matrix: Vec<Vec<IBig>> = (0..size).map(|_| (0..size).map(|_| wide()).collect()).collect();
        let rhs: Vec<IBig> = (0..size).map(|_| wide()).collect();
        let start = std::time::Instant::now();
        let solution = solve(&matrix, &rhs).unwrap();
        let lifted = start.elapsed();
        let start = std::time::Instant::now();
        if size <= 50 {
            oracle(&matrix, &rhs).unwrap();
        }
        eprintln!(
            "{size} {bits}: {lifted:?}, elimination {:?}; {} bits",
            start.elapsed(),
            solution.1.bit_len()
        );
    }
}

//! Margins from comfortable to far below the precision of floats, known by construction.

use super::check::{Effort, check};
use super::instances::{Instance, power};
use super::never_wrong::report;
use super::oracle::{boundary, fraction, rank, squared_margin};
use linsep::random::Random;
use linsep::separate::{Bias, Verdict};
use std::fmt::Write;

/// Powers of ten that γ/R comes near to.
const EXPONENTS: [i64; 17] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 15, 18, 25, 40, 100, 250];

const EFFORT: Effort = Effort { settings_seed: 0, gap: None, threads: false, long_numbers: true };

/// The power of two next to 10^−exponent.
fn gamma(exponent: i64) -> f64 {
    power(-(exponent * 3322 + 500) / 1000)
}

/// Rows v of whole numbers that span all directions, with the origin inside their hull: at least n of them.
fn around_the_origin(random: &mut Random, n: usize, d: usize) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    while rank(&rows) < d {
        rows = (0..d).map(|_| (0..d).map(|_| random.below(9) as f64 - 4.0).collect()).collect();
    }
    let sum = (0..d).map(|j| -rows.iter().map(|row| row[j]).sum::<f64>()).collect();
    rows.push(sum);
    while rows.len() < n {
        rows.push((0..d).map(|_| random.below(9) as f64 - 4.0).collect());
    }
    random.shuffle(&mut rows);
    rows
}

/// The first coordinate before all others.
fn with_first(first: impl Fn(usize) -> f64, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let longer = |(i, row): (usize, &Vec<f64>)| [&[first(i)], row.as_slice()].concat();
    rows.iter().enumerate().map(longer).collect()
}

/// Reflects four coordinates in the plane orthogonal to (±1, ±1, ±1, ±1): lengths stay, exactly, and every
/// coordinate gets its share of the first.
fn reflect(random: &mut Random, rows: &mut [Vec<f64>]) {
    let signs: Vec<f64> = (0..4).map(|_| [1.0, -1.0][random.below(2) as usize]).collect();
    let start = random.below(rows[0].len() as u64 - 3) as usize * random.below(2) as usize;
    for row in rows {
        let part = &mut row[start..start + 4];
        let half: f64 = part.iter().zip(&signs).map(|(value, sign)| value * sign).sum::<f64>() / 2.0;
        part.iter_mut().zip(&signs).for_each(|(value, sign)| *value -= half * sign);
    }
}

/// Rows z become rows of two sides.
fn sided(random: &mut Random, z: &[Vec<f64>], bias: Bias) -> Instance {
    let mut signs: Vec<i8> = z.iter().map(|_| [1, -1][random.below(2) as usize]).collect();
    (signs[0], signs[1]) = (1, -1);
    let flip = |(row, &sign): (&Vec<f64>, &i8)| row.iter().map(|value| value * f64::from(sign)).collect();
    Instance { rows: z.iter().zip(&signs).map(flip).collect(), signs, bias, sparse: random.below(2) == 0 }
}

/// Checks one problem, whose verdict is known, and notes the gap that was reached.
fn expect(instance: &Instance, verdict: Verdict, what: &str) -> Option<f64> {
    let inside = boundary(&instance.z());
    let made = match (inside.contains(&true), inside.contains(&false)) {
        (false, _) => Verdict::Complete,
        (true, true) => Verdict::QuasiComplete,
        (true, false) => Verdict::Overlap,
    };
    assert_eq!(made, verdict, "{what} was not made as told: {instance:?}");
    match check(instance, EFFORT) {
        Ok(seen) => seen.gap,
        Err(reason) => panic!("{what}: {reason}\n{instance:?}"),
    }
}

/// The largest gap of some problems, or that there is none to speak of.
fn shown(gap: Option<f64>) -> String {
    gap.map_or("–".to_string(), |gap| format!("{gap:.1e}"))
}

#[test]
fn margins_of_every_size() {
    let mut table = String::from(
        "| γ | known γ, along an axis | known γ, in all coordinates | free bias | several steps | chain |\n|---:|---:|---:|---:|---:|---:|\n",
    );
    for exponent in EXPONENTS {
        let gamma = gamma(exponent);
        let random = &mut Random::stream(5, exponent as u64);
        let mut gaps: [Option<f64>; 5] = [None; 5];
        let mut note = |place: usize, gap: Option<f64>| {
            gaps[place] = gaps[place].into_iter().chain(gap).reduce(f64::max)
        };
        for d in 1..=4 {
            for n in [d + 1, 12, 40] {
                let v = around_the_origin(random, n, d);
                // The nearest point of the hull is (γ, 0, …): that is known without any oracle.
                let z = with_first(|_| gamma, &v);
                assert_eq!(squared_margin(&z), fraction(gamma) * fraction(gamma));
                note(
                    0,
                    expect(
                        &sided(random, &z, Bias::None),
                        Verdict::Complete,
                        &format!("γ = {gamma:e}, d = {d}, n = {n}"),
                    ),
                );
                // In other coordinates, where floats can still say it exactly.
                if d >= 3 && gamma > power(-45) {
                    let mut z = z.clone();
                    reflect(random, &mut z);
                    assert_eq!(squared_margin(&z), fraction(gamma) * fraction(gamma));
                    note(
                        1,
                        expect(
                            &sided(random, &z, Bias::None),
                            Verdict::Complete,
                            &format!("reflected, γ = {gamma:e}, d = {d}, n = {n}"),
                        ),
                    );
                }
                // The same rows at a distance of 2γ from each other, wherever the origin is.
                let sides: Vec<i8> = (0..2 * v.len()).map(|i| if i < v.len() { 1 } else { -1 }).collect();
                let both: Vec<Vec<f64>> = [v.clone(), v.clone()].concat();
                let rows = with_first(|i| f64::from(sides[i]) * gamma, &both);
                let free = Instance { rows, signs: sides, bias: Bias::Free, sparse: false };
                note(2, expect(&free, Verdict::Complete, &format!("free, γ = {gamma:e}, d = {d}, n = {n}")));
                let appended = Instance { bias: Bias::Append(1.0), ..free };
                note(
                    2,
                    expect(
                        &appended,
                        Verdict::Complete,
                        &format!("appended, γ = {gamma:e}, d = {d}, n = {n}"),
                    ),
                );
                // Steps of several sizes: the oracle alone knows the margin.
                let steps: Vec<f64> = v.iter().map(|_| (1 + random.below(5)) as f64).collect();
                let z = with_first(|i| steps[i] * gamma, &v);
                note(
                    3,
                    expect(
                        &sided(random, &z, Bias::None),
                        Verdict::Complete,
                        &format!("steps, γ = {gamma:e}, d = {d}, n = {n}"),
                    ),
                );
            }
        }
        // Every weight must be larger than the one before by a factor: the margin is about the power of it.
        for d in 2..=6 {
            let factor = power((exponent * 3322 / 1000 / (d - 1)).max(1));
            let mut z: Vec<Vec<f64>> = Vec::new();
            for j in 0..d as usize {
                let mut row = vec![0.0; d as usize];
                row[j] = 1.0;
                if j > 0 {
                    row[j - 1] = -factor;
                }
                z.push(row);
            }
            note(
                4,
                expect(
                    &sided(random, &z, Bias::None),
                    Verdict::Complete,
                    &format!("chain of {d} by {factor:e}"),
                ),
            );
        }
        let [axis, rotated, free, steps, chain] = gaps.map(shown);
        writeln!(table, "| {gamma:.1e} | {axis} | {rotated} | {free} | {steps} | {chain} |").unwrap();
    }
    report("margins.md", &table);
}

/// The same rows without the step: around the origin, nothing separates them. With a step for one row alone, that row
/// is on a side and the others are not, or all are.
#[test]
fn twins_without_a_margin() {
    for exponent in EXPONENTS {
        let gamma = gamma(exponent);
        let random = &mut Random::stream(6, exponent as u64);
        for d in 1..=4 {
            let n = [d + 1, 9, 25][random.below(3) as usize];
            let v = around_the_origin(random, n, d);
            let told = format!("γ = {gamma:e}, d = {d}, n = {n}");
            let z = with_first(|_| 0.0, &v);
            expect(&sided(random, &z, Bias::None), Verdict::Overlap, &format!("without a step, {told}"));
            // Another row, away from the hull of the others: it alone can be on a side.
            let mut z = z;
            z.push([&[gamma], vec![1.0; d].as_slice()].concat());
            expect(
                &sided(random, &z, Bias::None),
                Verdict::QuasiComplete,
                &format!("a step for one, {told}"),
            );
            let last = z.len() - 1;
            let mut turned = z.clone();
            turned.push([&[-gamma], vec![-1.0; d].as_slice()].concat());
            expect(
                &sided(random, &turned, Bias::None),
                Verdict::Overlap,
                &format!("and one against it, {told}"),
            );
            // All a step to one side, but one row as far to the other, with what balances it.
            let mut z = with_first(|_| gamma, &v);
            z.push(vec![0.0; d + 1]);
            z[last][0] = -gamma;
            expect(&sided(random, &z, Bias::None), Verdict::Overlap, &format!("a step against all, {told}"));
        }
    }
}

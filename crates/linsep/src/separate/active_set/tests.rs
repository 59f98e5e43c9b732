//! The nearest point in floats against the exact one, and the QR that it rests on.

use super::super::exact_point::{self, Hull, Start, exact_point};
use super::super::number::{Exact, ExactVector, quotient_up};
use super::super::real::DoubleDouble;
use super::super::testing::{examples, from, grid, normals, of_z, times};
use super::*;
use crate::random::Random;

fn to_points(z: &[Vec<f64>], groups: &[u8]) -> Points {
    let mut points = Points::new(z[0].len());
    for (row, &group) in z.iter().zip(groups) {
        points.push(group, |point| point.copy_from_slice(row));
    }
    points
}

/// The exact distance of hull + L from the origin, rounded.
fn exact_distance(z: &[Vec<f64>], directions: &[Vec<f64>], groups: &[u8], two: bool) -> f64 {
    let all: Vec<Vec<f64>> = z.iter().chain(directions).cloned().collect();
    let signs: Vec<i8> =
        groups.iter().map(|&group| 1 - 2 * group as i8).chain(directions.iter().map(|_| 1)).collect();
    let problem = of_z(&all, &signs);
    let data = problem.dataset();
    let examples = examples(&data, &problem);
    let hull = if two { Hull::TwoSides } else { Hull::Rows };
    let (candidates, free): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|&i| i < z.len());
    let points = exact_point::Points { examples: &examples, hull };
    match exact_point(points, &free, &candidates, &Start::default(), &mut || false) {
        exact_point::End::Outside { weights, exponent, denominator, .. } => {
            let w = ExactVector { values: weights, exponent };
            quotient_up(&w.norm_squared(w.values.len()), &Exact::new(denominator, 0))
        }
        exact_point::End::Inside { .. } => 0.0,
        end => panic!("{end:?}"),
    }
}

struct Case {
    z: Vec<Vec<f64>>,
    directions: Vec<Vec<f64>>,
    groups: Vec<u8>,
    two: bool,
}

impl Case {
    /// Points in general position, on grids (with ties, duplicates and zeros), or on grids far from the origin.
    fn draw(random: &mut Random) -> Self {
        let (n, d) = (from(random, 1, 14), from(random, 1, 6));
        let most = from(random, 1, 4) as u64;
        let mut z = if random.below(2) == 0 { normals(random, n, d) } else { grid(random, n, d, most) };
        if random.below(3) == 0 {
            let away = grid(random, 1, d, 20).remove(0);
            z.iter_mut().for_each(|row| row.iter_mut().zip(&away).for_each(|(value, away)| *value += away));
        }
        let count = if random.below(2) == 0 { 0 } else { random.below(d as u64 + 1) as usize };
        let directions = grid(random, count, d, 2);
        let two = n > 1 && random.below(2) == 0;
        let mut groups: Vec<u8> = z.iter().map(|_| u8::from(two && random.below(2) == 0)).collect();
        if two {
            (groups[0], groups[1]) = (0, 1);
        }
        Self { z, directions, groups, two }
    }

    fn start(&self) -> Vec<(usize, f64)> {
        let first = |group: u8| self.groups.iter().position(|&other| other == group).map(|i| (i, 1.0));
        first(0).into_iter().chain(if self.two { first(1) } else { None }).collect()
    }

    /// Searches, and checks what was found against the exact distance.
    fn check<T: Real>(&self, exact: f64, number: u64) {
        let points = to_points(&self.z, &self.groups);
        let groups = 1 + usize::from(self.two);
        let mut set = ActiveSet::<T>::new(&points, groups, &self.directions, &self.start());
        let end = set.search(&points, 20 * (points.dimension + 50) + points.len(), &mut || false);
        let told = || format!("case {number}, {end:?}: {:e}, exactly {exact:e}", set.distance());
        let tolerance = 1000.0 * T::ROUNDOFF * set.scale.max(1.0);
        // What is told as a float has at least the roundoff of a float.
        let off = (set.distance() - exact).abs();
        assert!(off <= tolerance + 4.0 * f64::EPSILON * exact, "{}", told());
        assert_ne!(end, End::Stopped, "{}", told());
        if end == End::Origin {
            assert!(exact <= tolerance, "{}", told());
        }
        // Positive coefficients, each simplex with sum 1.
        let support = set.support();
        for group in 0..groups {
            let ours = support.iter().filter(|&&(i, _)| points.group(i) == group);
            let sum = ours.clone().fold(-1.0, |sum, &(_, weight)| sum + weight.to_f64());
            assert!(sum.abs() <= 1e-14, "{}: sum off by {sum:e}", told());
            assert!(ours.clone().all(|&(_, weight)| weight >= T::from_f64(0.0)), "{}", told());
        }
        // w is the point of the support but for a part in L, to which it is orthogonal.
        let mut rest = set.w.clone();
        for &(i, weight) in &support {
            rest.iter_mut()
                .zip(points.point(i))
                .for_each(|(rest, &z)| *rest = *rest - weight * T::from_f64(z));
        }
        for q in &set.q[..set.free] {
            let part = T::dot(q, &rest);
            T::add_scaled(&mut rest, -part, q);
            assert!(T::dot(q, &set.w).to_f64().abs() <= tolerance, "{}: not orthogonal to L", told());
        }
        assert!(T::dot(&rest, &rest).sqrt().to_f64() <= 100.0 * tolerance, "{}: w is elsewhere", told());
        if end == End::Optimal {
            for i in 0..points.len() {
                let reference = set.references[points.group(i)].0;
                let level = T::dot_stored(&set.w, points.point(reference));
                let above = (T::dot_stored(&set.w, points.point(i)) - level).to_f64();
                assert!(above >= -tolerance * set.scale, "{}: point {i} is below by {above:e}", told());
            }
        }
    }
}

#[test]
fn nearest_points_are_those_of_the_exact_method() {
    for number in 0..times(3000) {
        let case = Case::draw(&mut Random::stream(1, number));
        let exact = exact_distance(&case.z, &case.directions, &case.groups, case.two);
        case.check::<f64>(exact, number);
        case.check::<DoubleDouble>(exact, number);
    }
}

/// Margins far below the size of the points: pairs of floats see them where floats may not.
#[test]
fn pairs_of_floats_find_tiny_distances() {
    for number in 0..times(200) {
        let random = &mut Random::stream(2, number);
        let d = from(random, 2, 5);
        let mut z = grid(random, 2 * d, d, 3);
        let small = 2f64.powi(-(from(random, 20, 80) as i32));
        let mut mean = vec![0.0; d];
        z.iter().for_each(|row| mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += value));
        z.push(mean.iter().map(|value| -value).collect());
        // The hull has the origin inside, all of it lifted by a small step.
        z.iter_mut().for_each(|row| row.push(small));
        let groups = vec![0; z.len()];
        let exact = exact_distance(&z, &[], &groups, false);
        assert_eq!(exact, small);
        Case { z, directions: Vec::new(), groups, two: false }.check::<DoubleDouble>(exact, number);
    }
}

/// ‖QᵀQ − I‖ and ‖QR − D‖ after many columns have come and gone, some of them nearly dependent.
fn check_qr<T: Real>(number: u64) {
    let random = &mut Random::stream(3, number);
    let d = from(random, 1, 24);
    let points = Points::new(d);
    let mut set = ActiveSet::<T>::new(&points, 1, &[], &[]);
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut appended = 0;
    for _ in 0..400 {
        if !columns.is_empty() && random.below(2) == 0 {
            let k = random.below(columns.len() as u64) as usize;
            columns.remove(k);
            set.remove(k);
        } else {
            let mut column = normals(random, 1, d).remove(0);
            if random.below(4) == 0 && !columns.is_empty() {
                let near = &columns[random.below(columns.len() as u64) as usize];
                column.iter_mut().zip(near).for_each(|(value, near)| *value = near + 1e-6 * *value);
            }
            if set.append(column.iter().map(|&value| T::from_f64(value)).collect()) {
                appended += 1;
                columns.push(column);
            }
        }
        assert!(columns.len() <= d && columns.len() == set.q.len() && columns.len() == set.r.len());
    }
    assert!(appended > 20);
    let tolerance = 2000.0 * T::ROUNDOFF;
    for (i, a) in set.q.iter().enumerate() {
        for (j, b) in set.q.iter().enumerate() {
            let off = T::dot(a, b) - T::from_f64(f64::from(i == j));
            assert!(off.to_f64().abs() <= tolerance, "case {number}: Q is off by {off:?}");
        }
    }
    for (column, r) in columns.iter().zip(&set.r) {
        let mut rest: Vec<T> = column.iter().map(|&value| T::from_f64(value)).collect();
        r.iter().zip(&set.q).for_each(|(&r, q)| T::add_scaled(&mut rest, -r, q));
        let off = T::dot(&rest, &rest).sqrt().to_f64();
        assert!(off <= tolerance * 10.0, "case {number}: QR is off by {off:e}");
    }
}

#[test]
fn q_stays_orthogonal_and_qr_stays_d() {
    for number in 0..20 {
        check_qr::<f64>(number);
        check_qr::<DoubleDouble>(number);
    }
}

/// Whatever the points: it ends, with coefficients that are numbers where the points are of usual size.
#[test]
fn degenerate_points_end() {
    let zero = vec![0.0; 3];
    let one = vec![1.0, 2.0, -2.0];
    let sets: Vec<Vec<Vec<f64>>> = vec![
        vec![zero.clone()],
        vec![one.clone()],
        vec![one.clone(); 9],
        vec![zero.clone(); 9],
        vec![one.clone(), zero.clone(), one.clone()],
        vec![one.clone(), one.iter().map(|x| -x).collect()],
        vec![vec![1.0], vec![2.0], vec![3.0]],
        vec![vec![1.0], vec![-2.0], vec![0.5], vec![-0.5]],
        vec![vec![-0.0]],
        vec![vec![0.0], vec![5e-324]],
        vec![vec![1e-200], vec![2e-200], vec![3e-200]],
        vec![vec![1e200, 1.0], vec![-1e200, 1.0], vec![1.0, 1e-200]],
        vec![vec![f64::MAX, f64::MAX], vec![f64::MAX, f64::MIN], vec![f64::MIN, f64::MAX]],
        vec![vec![]; 2],
    ];
    fn run<T: Real>(z: &[Vec<f64>], directions: &[Vec<f64>], two: bool) {
        let groups: Vec<u8> = (0..z.len()).map(|i| u8::from(two && i % 2 == 1)).collect();
        let points = to_points(z, &groups);
        let start: Vec<(usize, f64)> = (0..=usize::from(two)).map(|i| (i, 1.0)).collect();
        let mut set = ActiveSet::<T>::new(&points, start.len(), directions, &start);
        set.search(&points, 500, &mut || false);
        if z.iter().flatten().all(|value| value.abs() < 1e100) {
            assert!(set.support().iter().all(|(_, weight)| weight.to_f64() >= 0.0), "{z:?}");
            assert!(set.distance().is_finite(), "{z:?}");
        }
    }
    for z in &sets {
        let d = z[0].len();
        let axes: Vec<Vec<f64>> = (0..d).map(|k| (0..d).map(|j| f64::from(j == k)).collect()).collect();
        for directions in [vec![], vec![vec![0.0; d]], vec![vec![1.0; d], vec![1.0; d]], axes] {
            for two in [false, true] {
                if !two || z.len() > 1 {
                    run::<f64>(z, &directions, two);
                    run::<DoubleDouble>(z, &directions, two);
                }
            }
        }
    }
}

/// In one dimension the nearest point is the least, if all have one sign.
#[test]
fn one_dimension() {
    for number in 0..200 {
        let random = &mut Random::stream(4, number);
        let z: Vec<Vec<f64>> = (0..from(random, 1, 9)).map(|_| vec![random.below(9) as f64 - 2.0]).collect();
        let points = to_points(&z, &vec![0; z.len()]);
        let mut set = ActiveSet::<f64>::new(&points, 1, &[], &[(0, 1.0)]);
        set.search(&points, 500, &mut || false);
        let least = z.iter().map(|row| row[0]).fold(f64::INFINITY, f64::min);
        let most = z.iter().map(|row| row[0]).fold(f64::NEG_INFINITY, f64::max);
        let expected = if least <= 0.0 && most >= 0.0 { 0.0 } else { least.abs().min(most.abs()) };
        assert!((set.distance() - expected).abs() < 1e-14, "{z:?}: {}", set.distance());
    }
}

/// On the way a coefficient becomes exactly zero: it is that point which goes, and no other.
#[test]
fn a_target_of_exactly_zero() {
    let z: Vec<Vec<f64>> = [
        [-1, -1, -1, -1, 0],
        [1, 0, 0, 1, 1],
        [1, 1, 1, 1, -1],
        [-1, 0, 0, -1, 1],
        [-1, -1, -1, -1, -1],
        [-1, 0, -1, 0, -1],
        [0, -1, 0, 0, 0],
        [0, 1, 0, 1, 1],
        [-1, 0, -1, 0, -1],
        [-1, 1, -1, 1, 1],
        [0, 1, 0, 1, 0],
        [-1, 1, -1, 1, 0],
        [-1, -1, 0, -1, 0],
    ]
    .iter()
    .map(|row| row.iter().map(|&value| f64::from(value)).collect())
    .collect();
    let groups = vec![0, 1, 1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1];
    let case = Case { z, directions: Vec::new(), groups, two: true };
    assert_eq!(exact_distance(&case.z, &[], &case.groups, true), 0.0);
    case.check::<f64>(0.0, 0);
    // The same by hand.
    let points = to_points(&[vec![1.0], vec![-1.0]], &[0, 0]);
    let mut set = ActiveSet::<f64>::new(&points, 1, &[], &[(0, 0.5), (1, 0.25)]);
    (set.references[0].1, set.members[0].1) = (0.75, 0.25);
    set.step_towards(&points, &[0.0], &[1.0]);
    assert_eq!(set.support(), [(0, 1.0)]);
}

/// A stop from outside is asked for and obeyed.
#[test]
fn stops_when_told() {
    let random = &mut Random::stream(5, 0);
    let z = normals(random, 90, 80);
    let points = to_points(&z, &vec![0; z.len()]);
    let mut set = ActiveSet::<f64>::new(&points, 1, &[], &[(0, 1.0)]);
    assert_eq!(set.search(&points, 10_000, &mut || true), End::Stopped);
    assert_eq!(set.search(&points, 3, &mut || false), End::Stopped);
    assert_eq!(set.search(&points, 10_000, &mut || false), End::Optimal);
}

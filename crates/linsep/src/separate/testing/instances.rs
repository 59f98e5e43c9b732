//! Small problems made to break a solver: one function for each family. A seed and a number give the same problem for
//! ever.

use linsep::classes::ClassPair;
use linsep::dataset::Dataset;
use linsep::random::Random;
use linsep::separate::Bias;

/// A problem: rows x with their sides, and the bias.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) rows: Vec<Vec<f64>>,
    /// +1, −1, or 0 for rows that belong to neither side.
    pub(crate) signs: Vec<i8>,
    pub(crate) bias: Bias,
    pub(crate) sparse: bool,
}

impl Instance {
    /// The rows as the library takes them.
    pub(crate) fn dataset(&self) -> Dataset {
        let labels: Vec<String> = self.signs.iter().map(i8::to_string).collect();
        let columns = self.rows[0].len();
        if !self.sparse {
            return Dataset::dense(columns, &self.rows.concat(), &labels).unwrap();
        }
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in &self.rows {
            for (column, &value) in row.iter().enumerate().filter(|&(_, &value)| value != 0.0) {
                indices.push(column as u32);
                values.push(value);
            }
            offsets.push(indices.len());
        }
        Dataset::sparse(columns, &offsets, &indices, &values, &labels).unwrap()
    }

    pub(crate) fn classes() -> ClassPair {
        ClassPair { positive: "1".to_string(), negative: vec!["-1".to_string()].into() }
    }

    /// Positions of the rows that belong to a side.
    pub(crate) fn present(&self) -> Vec<usize> {
        (0..self.rows.len()).filter(|&i| self.signs[i] != 0).collect()
    }

    /// z of every row that belongs to a side.
    pub(crate) fn z(&self) -> Vec<Vec<f64>> {
        let appended = match self.bias {
            Bias::None => None,
            Bias::Append(value) => Some(value),
            Bias::Free => Some(1.0),
        };
        let of_row = |i: usize| {
            let sign = f64::from(self.signs[i]);
            self.rows[i].iter().copied().chain(appended).map(|value| sign * value).collect()
        };
        self.present().into_iter().map(of_row).collect()
    }

    /// Whether both sides have rows.
    pub(crate) fn has_both_sides(&self) -> bool {
        self.signs.contains(&1) && self.signs.contains(&-1)
    }

    /// The same without row `i`.
    pub(crate) fn without(&self, i: usize) -> Self {
        let mut less = self.clone();
        less.rows.remove(i);
        less.signs.remove(i);
        less
    }
}

/// A maker of rows z; which side they are of, and the bias, is drawn after.
type Maker = fn(&mut Random) -> Vec<Vec<f64>>;

/// Every family with its name.
pub(crate) const FAMILIES: [(&str, Maker); 23] = [
    ("grid", grid),
    ("grid with a hidden boundary", hidden_boundary),
    ("duplicates", duplicates),
    ("contradictions", contradictions),
    ("rank-deficient", rank_deficient),
    ("quasi-complete", quasi_complete),
    ("nested faces", nested_faces),
    ("tiny margin", tiny_margin),
    ("one ulp from a tie", ulp_from_a_tie),
    ("one ulp from a contradiction", ulp_from_a_contradiction),
    ("one ulp from dependent", ulp_from_dependent),
    ("mixed scales", mixed_scales),
    ("scaled grid", scaled_grid),
    ("subnormal", subnormal),
    ("largest and least", largest_and_least),
    ("one row, zero rows", few_rows),
    ("wider than tall", wide),
    ("Gaussian", gaussian),
    ("exponential chain", exponential_chain),
    ("decision list", decision_list),
    ("far from the origin", far_from_the_origin),
    ("moment curve", moment_curve),
    ("powers that a prime cannot tell apart", powers_of_a_prime),
];

/// Problem `number` of the run with this seed: its family, and itself.
pub(crate) fn instance(seed: u64, number: u64) -> (&'static str, Instance) {
    let random = &mut Random::stream(seed, number);
    let (name, maker) = FAMILIES[(number % FAMILIES.len() as u64) as usize];
    let mut z = maker(random);
    // Scaling may have led beyond the largest float.
    z.retain(|row| row.iter().all(|value| value.is_finite()));
    if z.is_empty() {
        z = grid(random);
    }
    (name, dress(random, z))
}

/// Chooses sides, bias and storage for rows z: without a bias they stay what they are, with one they become other
/// rows of the same kind.
fn dress(random: &mut Random, z: Vec<Vec<f64>>) -> Instance {
    let bias = match random.below(8) {
        0..=2 => Bias::None,
        3 | 4 => Bias::Append(1.0),
        5 => Bias::Append([0.5, 0.1, 3.0, 1e-100, 1e100, 1e-9][random.below(6) as usize]),
        _ => Bias::Free,
    };
    let kind = random.below(20);
    let mut signs: Vec<i8> = z
        .iter()
        .map(|_| match kind {
            0 => 1,
            1 => -1,
            2 if random.below(4) == 0 => 0,
            _ => [1, -1][random.below(2) as usize],
        })
        .collect();
    if signs.iter().all(|&sign| sign == 0) {
        signs[0] = 1;
    }
    let flip = |(row, &sign): (&Vec<f64>, &i8)| -> Vec<f64> {
        row.iter().map(|value| if sign < 0 { -value } else { *value }).collect()
    };
    let mut rows: Vec<Vec<f64>> = z.iter().zip(&signs).map(flip).collect();
    let sparse = random.below(3) == 0;
    if sparse && random.below(2) == 0 {
        // Columns that no row uses, before, between or after the others.
        for _ in 0..=random.below(2) {
            let place = random.below(rows[0].len() as u64 + 1) as usize;
            rows.iter_mut().for_each(|row| row.insert(place, 0.0));
        }
    }
    Instance { rows, signs, bias, sparse }
}

/// A whole number from −most to most.
fn int(random: &mut Random, most: u64) -> f64 {
    random.below(2 * most + 1) as f64 - most as f64
}

fn from(random: &mut Random, least: u64, most: u64) -> usize {
    (least + random.below(most - least + 1)) as usize
}

fn ints(random: &mut Random, d: usize, most: u64) -> Vec<f64> {
    (0..d).map(|_| int(random, most)).collect()
}

/// 2^exponent, subnormals included.
pub(crate) fn power(exponent: i64) -> f64 {
    let part = |exponent: i64| 2f64.powi(exponent as i32);
    let half = exponent / 2;
    part(half) * part(exponent - half)
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Moves a value to the next float, up or down.
fn nudge(random: &mut Random, value: &mut f64) {
    *value = if random.below(2) == 0 { value.next_up() } else { value.next_down() };
}

fn nudge_one(random: &mut Random, rows: &mut [Vec<f64>]) {
    let i = random.below(rows.len() as u64) as usize;
    let j = random.below(rows[i].len() as u64) as usize;
    nudge(random, &mut rows[i][j]);
}

/// Whole-number row operations that can be undone: the same problem in other coordinates, exactly, while the numbers
/// stay small.
fn mix(random: &mut Random, rows: &mut [Vec<f64>]) {
    let d = rows[0].len() as u64;
    for _ in 0..random.below(2 * d) {
        let (from, to) = (random.below(d) as usize, random.below(d) as usize);
        let factor = int(random, 2);
        if from != to && rows.iter().all(|row| (row[to] + factor * row[from]).abs() < 1e6) {
            rows.iter_mut().for_each(|row| row[to] += factor * row[from]);
        }
    }
}

/// Small whole numbers: ties, duplicates, zero rows and dependent rows come by themselves.
fn grid(random: &mut Random) -> Vec<Vec<f64>> {
    let (n, d, most) = (from(random, 1, 14), from(random, 1, 6), from(random, 1, 3) as u64);
    (0..n).map(|_| ints(random, d, most)).collect()
}

/// A grid on the right side of a boundary, some of it on the boundary.
fn hidden_boundary(random: &mut Random) -> Vec<Vec<f64>> {
    let (w, mut rows) = (ints(random, 6, 3), grid(random));
    for row in &mut rows {
        if inner(&w, row) < 0.0 {
            row.iter_mut().for_each(|value| *value = -*value);
        }
    }
    rows
}

/// A few rows, many times, at times the other way round or longer.
fn duplicates(random: &mut Random) -> Vec<Vec<f64>> {
    let (n, d) = (from(random, 2, 14), from(random, 1, 5));
    let (kinds, stretch) = (from(random, 1, 4), random.below(2) == 0);
    let bases: Vec<Vec<f64>> = (0..kinds).map(|_| ints(random, d, 4)).collect();
    let turned = random.below(8) + 1;
    (0..n)
        .map(|_| {
            let base = &bases[random.below(bases.len() as u64) as usize];
            let length = if stretch { from(random, 1, 5) as f64 } else { 1.0 };
            let sign = if random.below(turned) == 0 { -1.0 } else { 1.0 };
            base.iter().map(|value| sign * length * value).collect()
        })
        .collect()
}

/// A separable grid with one row and a negative multiple of it, exact.
fn contradictions(random: &mut Random) -> Vec<Vec<f64>> {
    let mut rows = hidden_boundary(random);
    for _ in 0..=random.below(3) {
        let row = rows[random.below(rows.len() as u64) as usize].clone();
        let factor = [1.0, 3.0, 0.5, 7.0, power(-600), power(600), 0.375][random.below(7) as usize];
        let place = random.below(rows.len() as u64 + 1) as usize;
        rows.insert(place, row.iter().map(|value| -factor * value).collect());
    }
    rows
}

/// Whole-number combinations of fewer vectors than columns.
fn rank_deficient(random: &mut Random) -> Vec<Vec<f64>> {
    let (n, d) = (from(random, 2, 14), from(random, 2, 6));
    let rank = random.below(d as u64) as usize;
    let bases: Vec<Vec<f64>> = (0..rank).map(|_| ints(random, d, 3)).collect();
    let one_sided = random.below(2) == 0;
    (0..n)
        .map(|_| {
            let mut shares = ints(random, rank, 3);
            if one_sided && inner(&shares, &[1.0, -2.0, 3.0, 1.0, 1.0]) < 0.0 {
                shares.iter_mut().for_each(|share| *share = -*share);
            }
            (0..d).map(|j| bases.iter().zip(&shares).map(|(base, share)| base[j] * share).sum()).collect()
        })
        .collect()
}

/// A face with rows all around the origin in it, and rows strictly on one side of it.
fn quasi_complete(random: &mut Random) -> Vec<Vec<f64>> {
    let d = from(random, 2, 6);
    let face = from(random, 1, d as u64 - 1);
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut sum = vec![0.0; d];
    for _ in 0..from(random, 1, face as u64 + 2) {
        let row: Vec<f64> = (0..d).map(|j| if j < face { int(random, 3) } else { 0.0 }).collect();
        sum.iter_mut().zip(&row).for_each(|(sum, value)| *sum += value);
        rows.push(row);
    }
    rows.push(sum.iter().map(|value| -value).collect());
    for _ in 0..from(random, 1, 5) {
        let mut row = ints(random, d, 3);
        row[face] = from(random, 1, 3) as f64;
        rows.push(row);
    }
    mix(random, &mut rows);
    random.shuffle(&mut rows);
    rows
}

/// Faces within faces: each is found only when all before it are known.
fn nested_faces(random: &mut Random) -> Vec<Vec<f64>> {
    let d = from(random, 2, 6);
    let depth = from(random, 1, d as u64);
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for level in 0..depth {
        for sign in [1.0, -1.0] {
            let mut row = vec![0.0; d];
            row[..level].iter_mut().for_each(|value| *value = int(random, 4));
            row[level] = sign * from(random, 1, 3) as f64;
            // The rows of a level add to something that the level before has, not to zero.
            if level > 0 {
                row[level - 1] = from(random, 1, 4) as f64;
            }
            rows.push(row);
        }
    }
    if depth < d {
        for _ in 0..random.below(3) {
            let mut row = ints(random, d, 3);
            row[depth] = from(random, 1, 3) as f64;
            rows.push(row);
        }
    }
    mix(random, &mut rows);
    random.shuffle(&mut rows);
    rows
}

/// Rows around the origin in all coordinates but one, where they are a tiny step to one side, or some to the other.
fn tiny_margin(random: &mut Random) -> Vec<Vec<f64>> {
    let mut rows = if random.below(2) == 0 { quasi_complete(random) } else { nested_faces(random) };
    let d = rows[0].len() as u64;
    let smallest = if random.below(4) == 0 { 1000 } else { 70 };
    let exponent = -(from(random, 10, smallest) as i64);
    let (column, mode) = (random.below(d) as usize, random.below(4));
    for row in &mut rows {
        let step = match mode {
            0 => 1.0,
            1 => random.below(2) as f64,
            2 => from(random, 1, 5) as f64,
            _ => int(random, 1),
        };
        if random.below(2) == 0 {
            row[column] = step * power(exponent);
        } else {
            // Lost in rounding where the row has a larger value there.
            row[column] += step * power(exponent);
        }
    }
    rows
}

/// A row that is the rounded sum of others, turned: the sign of a last digit decides.
fn ulp_from_a_tie(random: &mut Random) -> Vec<Vec<f64>> {
    let (n, d) = (from(random, 1, 6), from(random, 1, 5));
    let mut rows: Vec<Vec<f64>> = (0..n).map(|_| (0..d).map(|_| random.normal()).collect()).collect();
    for _ in 0..from(random, 1, 3) {
        let some: Vec<usize> = (0..n).filter(|_| random.below(3) > 0).collect();
        rows.push((0..d).map(|j| -some.iter().map(|&i| rows[i][j]).sum::<f64>()).collect());
    }
    for _ in 0..random.below(3) {
        nudge_one(random, &mut rows);
    }
    rows
}

/// z and −c z, rounded, then moved by a last digit or not.
fn ulp_from_a_contradiction(random: &mut Random) -> Vec<Vec<f64>> {
    let (n, d) = (from(random, 1, 5), from(random, 1, 5));
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|_| (0..d).map(|_| if random.below(4) == 0 { 0.0 } else { random.normal() }).collect())
        .collect();
    for i in 0..n {
        if i == 0 || random.below(3) == 0 {
            let factor = [1.0, 3.0, 0.1, 1.0 / 3.0, power(40)][random.below(5) as usize];
            let mut turned: Vec<f64> = rows[i].iter().map(|value| -factor * value).collect();
            if random.below(2) == 0 {
                let j = random.below(d as u64) as usize;
                nudge(random, &mut turned[j]);
            }
            rows.push(turned);
        }
    }
    rows
}

/// Rows of lower rank, but for rounding: the exact rank and the one that floats suggest differ.
fn ulp_from_dependent(random: &mut Random) -> Vec<Vec<f64>> {
    let (n, d) = (from(random, 3, 12), from(random, 2, 5));
    let rank = from(random, 1, d as u64 - 1);
    let bases: Vec<Vec<f64>> = (0..rank).map(|_| (0..d).map(|_| random.normal()).collect()).collect();
    (0..n)
        .map(|_| {
            let shares: Vec<f64> = (0..rank).map(|_| random.normal()).collect();
            (0..d).map(|j| bases.iter().zip(&shares).map(|(base, share)| base[j] * share).sum()).collect()
        })
        .collect()
}

/// Values of all sizes, side by side.
fn mixed_scales(random: &mut Random) -> Vec<Vec<f64>> {
    let (n, d) = (from(random, 2, 9), from(random, 1, 4));
    let widest = [60, 300, 990][random.below(3) as usize];
    let value = |random: &mut Random| {
        let size = if random.below(2) == 0 { int(random, 2) } else { random.normal() };
        size * power(int(random, widest) as i64)
    };
    (0..n).map(|_| (0..d).map(|_| value(random)).collect()).collect()
}

/// A grid, or one of the other problems in whole numbers, whose rows and columns have scales of their own.
fn scaled_grid(random: &mut Random) -> Vec<Vec<f64>> {
    let maker: Maker =
        [grid, hidden_boundary, quasi_complete, nested_faces, contradictions][random.below(5) as usize];
    let mut rows = maker(random);
    let widest = [30, 150, 480][random.below(3) as usize];
    let columns: Vec<i64> = (0..rows[0].len()).map(|_| int(random, widest) as i64).collect();
    for row in &mut rows {
        let of_row = int(random, widest) as i64;
        row.iter_mut().zip(&columns).for_each(|(value, column)| *value *= power(of_row + column));
    }
    if random.below(3) == 0 {
        nudge_one(random, &mut rows);
    }
    rows
}

/// A problem in whole numbers, each standing for that many of the least floats.
fn subnormal(random: &mut Random) -> Vec<Vec<f64>> {
    let maker: Maker = [grid, hidden_boundary, quasi_complete, nested_faces][random.below(4) as usize];
    let mut rows = maker(random);
    let large = random.below(4) == 0;
    for row in &mut rows {
        for value in row.iter_mut() {
            *value *= power(-1074);
            if large && random.below(4) == 0 {
                *value = int(random, 2);
            }
        }
    }
    rows
}

/// The ends of the range of floats.
fn largest_and_least(random: &mut Random) -> Vec<Vec<f64>> {
    let (n, d) = (from(random, 1, 8), from(random, 1, 4));
    let values = [f64::MAX, f64::MIN_POSITIVE, power(-1074), 1.0, 0.0, 1e300, 1e-300, f64::MAX / 3.0, 1.5];
    let usual = random.below(2) == 0;
    let value = |random: &mut Random| {
        let sign = if random.below(3) == 0 { -1.0 } else { 1.0 };
        sign * if usual {
            [f64::MAX, 0.0][random.below(2) as usize]
        } else {
            values[random.below(9) as usize]
        }
    };
    (0..n).map(|_| (0..d).map(|_| value(random)).collect()).collect()
}

/// One row, zero rows, rows with negative zeros.
fn few_rows(random: &mut Random) -> Vec<Vec<f64>> {
    let (n, d) = (from(random, 1, 3), from(random, 1, 6));
    let mut rows: Vec<Vec<f64>> = (0..n).map(|_| ints(random, d, 2)).collect();
    for row in &mut rows {
        match random.below(4) {
            0 => row.fill(0.0),
            1 => row.fill(-0.0),
            2 => row.iter_mut().for_each(|value| *value *= 0.1),
            _ => {}
        }
    }
    rows
}

/// More columns than rows: independent as a rule, and at times not.
fn wide(random: &mut Random) -> Vec<Vec<f64>> {
    let (n, d) = (from(random, 1, 8), from(random, 6, 16));
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|_| (0..d).map(|_| if random.below(3) == 0 { int(random, 3) } else { 0.0 }).collect())
        .collect();
    if random.below(2) == 0 {
        let sum = (0..d).map(|j| -rows.iter().map(|row| row[j]).sum::<f64>()).collect();
        rows.push(sum);
    }
    if random.below(3) == 0 {
        rows.iter_mut().flatten().for_each(|value| *value *= 0.1);
    }
    rows
}

/// Points in general position, as many as make the verdict a coin flip.
fn gaussian(random: &mut Random) -> Vec<Vec<f64>> {
    let d = from(random, 1, 6);
    let n = from(random, d as u64, 2 * d as u64 + 2);
    let short = random.below(2) == 0;
    let value = |random: &mut Random| {
        let value = random.normal();
        if short { f64::from(value as f32) } else { value }
    };
    (0..n).map(|_| (0..d).map(|_| value(random)).collect()).collect()
}

/// z = e_j − 2^k e_{j−1} forces every weight to be 2^k times the one before. The last row closes the circle, a last
/// digit too early, too late, or exactly.
fn exponential_chain(random: &mut Random) -> Vec<Vec<f64>> {
    let d = from(random, 2, 8);
    let most = if random.below(3) == 0 { 120 } else { 20 };
    let growth = from(random, 1, most) as i64;
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for j in 0..d {
        let mut row = vec![0.0; d];
        row[j] = 1.0;
        if j > 0 {
            row[j - 1] = -power(growth);
        }
        rows.push(row);
    }
    let mut last = vec![0.0; d];
    last[d - 1] = -1.0;
    last[0] += power(growth * (d as i64 - 1));
    match random.below(4) {
        0 => last[0] = last[0].next_up(),
        1 => last[0] = last[0].next_down(),
        2 => last[0] *= 3.0,
        _ => {}
    }
    rows.push(last);
    if random.below(2) == 0 {
        rows.remove(0);
    }
    if random.below(3) == 0 {
        // Without the first column as an anchor, the rows are looser or tighter.
        let factor = 1.0 + power(-40);
        let i = random.below(rows.len() as u64) as usize;
        rows[i].iter_mut().for_each(|value| *value *= factor);
    }
    random.shuffle(&mut rows);
    rows
}

/// Rows of a decision list: the first column that is not zero decides, so weights must grow exponentially.
fn decision_list(random: &mut Random) -> Vec<Vec<f64>> {
    let d = from(random, 2, 9);
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for j in 0..d {
        let sign = if j % 2 == 0 { 1.0 } else { -1.0 };
        rows.push((0..d).map(|k| if k < j { 0.0 } else { sign }).collect());
    }
    for _ in 0..random.below(4) {
        let first = random.below(d as u64) as usize;
        let sign = if first.is_multiple_of(2) { 1.0 } else { -1.0 };
        rows.push(
            (0..d)
                .map(|k| match k.cmp(&first) {
                    std::cmp::Ordering::Less => 0.0,
                    std::cmp::Ordering::Equal => sign,
                    std::cmp::Ordering::Greater => sign * random.below(2) as f64,
                })
                .collect(),
        );
    }
    if random.below(3) == 0 {
        let i = random.below(rows.len() as u64) as usize;
        rows[i].iter_mut().for_each(|value| *value = -*value);
    }
    rows
}

/// Small differences on top of a large common vector.
fn far_from_the_origin(random: &mut Random) -> Vec<Vec<f64>> {
    let (n, d) = (from(random, 2, 12), from(random, 1, 5));
    let exponent = from(random, 10, 52) as i64;
    let centre: Vec<f64> = ints(random, d, 1).iter().map(|value| value * power(exponent)).collect();
    let (spread, turned) = (from(random, 1, 3) as u64, random.below(2) == 0);
    (0..n)
        .map(|_| {
            let sign = if turned && random.below(2) == 0 { -1.0 } else { 1.0 };
            centre.iter().map(|value| sign * (value + int(random, spread))).collect()
        })
        .collect()
}

/// (1, t, t², …): any d of them are independent, and badly conditioned; signs in runs, as many as decide the verdict.
fn moment_curve(random: &mut Random) -> Vec<Vec<f64>> {
    let (n, d) = (from(random, 2, 12), from(random, 2, 6));
    let step = if random.below(2) == 0 { 1.0 } else { 0.1 };
    let changes = random.below(2 * d as u64 + 2);
    let places: Vec<u64> = (0..changes).map(|_| random.below(n as u64)).collect();
    let mut sign = 1.0;
    (0..n)
        .map(|i| {
            if places.contains(&(i as u64)) {
                sign = -sign;
            }
            let t = (i as f64 - 3.0) * step;
            (0..d).map(|k| sign * t.powi(k as i32)).collect()
        })
        .collect()
}

/// Whole numbers times powers of 2⁶¹, which is 1 modulo the prime 2⁶¹ − 1: rows that are independent look dependent to who
/// counts modulo that prime, and sums that are not zero look like zero.
fn powers_of_a_prime(random: &mut Random) -> Vec<Vec<f64>> {
    let maker: Maker = [grid, rank_deficient, quasi_complete, nested_faces][random.below(4) as usize];
    let mut rows = maker(random);
    let (rarely, most) = (random.below(4) + 1, 1 + random.below(3));
    for value in rows.iter_mut().flatten() {
        if random.below(rarely) == 0 {
            *value *= power(61 * int(random, most) as i64);
        }
    }
    rows
}

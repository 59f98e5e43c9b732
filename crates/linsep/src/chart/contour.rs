//! Where a function on a grid crosses a level: marching squares, joined into curves.

use std::collections::HashMap;

/// An edge of the grid: the lower or left end of it, and whether it goes up.
type Edge = (usize, usize, bool);

/// The curves on which `values` are `level`, in cells from 0 to `side` − 1 across and up. `values` are row by row from the
/// lowest, `side` in each. A closed curve ends where it begins.
pub(super) fn contours(values: &[f64], side: usize, level: f64) -> Vec<Vec<(f64, f64)>> {
    let at = |x: usize, y: usize| values[y * side + x] - level;
    let above = |x: usize, y: usize| at(x, y) >= 0.0;
    let mut joined: HashMap<Edge, Vec<Edge>> = HashMap::new();
    for y in 0..side.saturating_sub(1) {
        for x in 0..side - 1 {
            let corners = [above(x, y), above(x + 1, y), above(x + 1, y + 1), above(x, y + 1)];
            let edges: [Edge; 4] = [(x, y, false), (x + 1, y, true), (x, y + 1, false), (x, y, true)];
            let crossed: Vec<usize> = (0..4).filter(|&k| corners[k] != corners[(k + 1) % 4]).collect();
            let mut join = |a: usize, b: usize| {
                joined.entry(edges[a]).or_default().push(edges[b]);
                joined.entry(edges[b]).or_default().push(edges[a]);
            };
            match crossed[..] {
                [a, b] => join(a, b),
                [_, _, _, _] => {
                    // A saddle: the middle tells which corners hang together.
                    let middle = at(x, y) + at(x + 1, y) + at(x + 1, y + 1) + at(x, y + 1) >= 0.0;
                    let turned = middle == corners[0];
                    let [(a, b), (c, d)] = if turned { [(0, 1), (2, 3)] } else { [(3, 0), (1, 2)] };
                    join(a, b);
                    join(c, d);
                }
                _ => {}
            }
        }
    }
    let place = |(x, y, up): Edge| {
        let (from, to) = if up { (at(x, y), at(x, y + 1)) } else { (at(x, y), at(x + 1, y)) };
        let share = if (from - to).is_finite() && from != to { from / (from - to) } else { 0.5 };
        if up { (x as f64, y as f64 + share) } else { (x as f64 + share, y as f64) }
    };
    // Ends of open curves first, then the closed ones; in the order of the grid, so that the result is always the same.
    let mut starts: Vec<Edge> = joined.keys().copied().collect();
    starts.sort_unstable_by_key(|edge| (joined[edge].len(), *edge));
    let mut curves = Vec::new();
    for start in starts {
        let mut curve = Vec::new();
        let mut here = start;
        while let Some(next) = joined.get_mut(&here).and_then(Vec::pop) {
            if curve.is_empty() {
                curve.push(place(here));
            }
            curve.push(place(next));
            if let Some(back) = joined.get_mut(&next)
                && let Some(k) = back.iter().position(|edge| *edge == here)
            {
                back.swap_remove(k);
            }
            here = next;
        }
        if curve.len() > 1 {
            curves.push(curve);
        }
    }
    curves
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_circle_is_one_closed_curve() {
        let side = 41;
        let value = |k: usize| {
            let (x, y) = ((k % side) as f64 - 20.0, (k / side) as f64 - 20.0);
            x * x + y * y
        };
        let values: Vec<f64> = (0..side * side).map(value).collect();
        let curves = contours(&values, side, 100.5);
        assert_eq!(curves.len(), 1);
        let curve = &curves[0];
        assert_eq!(curve.first(), curve.last());
        assert!(curve.iter().all(|(x, y)| ((x - 20.0).hypot(y - 20.0) - 10.025).abs() < 0.05));
    }

    #[test]
    fn a_line_is_one_open_curve_and_a_constant_none() {
        let values: Vec<f64> = (0..100).map(|k| (k % 10) as f64).collect();
        let curves = contours(&values, 10, 3.25);
        assert_eq!(curves.len(), 1);
        assert!(curves[0].len() == 10 && curves[0].iter().all(|(x, _)| (x - 3.25).abs() < 1e-12));
        assert!(contours(&[1.0; 100], 10, 0.0).is_empty());
    }

    proptest! {
        /// Every curve ends at the edge of the grid or where it begins, and every crossed edge is on a curve once.
        #[test]
        fn no_crossing_is_lost(values in prop::collection::vec(-3i32..4, 36)) {
            let values: Vec<f64> = values.into_iter().map(|v| f64::from(v) + 0.5).collect();
            let curves = contours(&values, 6, 0.0);
            let mut crossed = 0;
            for y in 0..6 {
                for x in 0..6 {
                    let sign = |x: usize, y: usize| values[y * 6 + x] >= 0.0;
                    crossed += usize::from(x < 5 && sign(x, y) != sign(x + 1, y));
                    crossed += usize::from(y < 5 && sign(x, y) != sign(x, y + 1));
                }
            }
            let mut points = 0;
            for curve in &curves {
                let closed = curve.first() == curve.last();
                points += curve.len() - usize::from(closed);
                let at_edge = |&(x, y): &(f64, f64)| x == 0.0 || y == 0.0 || x == 5.0 || y == 5.0;
                prop_assert!(closed || (at_edge(&curve[0]) && at_edge(&curve[curve.len() - 1])), "{curve:?}");
            }
            prop_assert_eq!(points, crossed);
        }
    }
}

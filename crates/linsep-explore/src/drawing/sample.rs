//! Which rows are drawn: all, or of many rows a sample and those that matter. Computing always takes all.

use linsep::random::Random;

/// The most rows of a sample.
pub(crate) const MAX_DRAWN: usize = 4000;

/// Of `rows` rows, those that are drawn, in order: at most [`MAX_DRAWN`] at random, and those that must be among them.
pub(crate) fn sample(rows: usize, wanted: impl IntoIterator<Item = usize>) -> Vec<u32> {
    if rows <= MAX_DRAWN {
        return (0..rows as u32).collect();
    }
    // The first of a shuffled list, without making the list: Floyd's way to draw without repetition.
    let mut random = Random::new(0);
    let mut drawn = std::collections::BTreeSet::new();
    for last in rows - MAX_DRAWN..rows {
        let place = random.below(last as u64 + 1) as usize;
        drawn.insert(if drawn.contains(&place) { last } else { place });
    }
    drawn.extend(wanted.into_iter().filter(|&row| row < rows));
    drawn.into_iter().map(|row| row as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_are_all_drawn_and_many_are_thinned() {
        assert_eq!(sample(3, []), [0, 1, 2]);
        let drawn = sample(100_000, [99_999, 5, 5, 100_000]);
        assert!((MAX_DRAWN..=MAX_DRAWN + 2).contains(&drawn.len()));
        assert!(drawn.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(drawn.contains(&5) && drawn.contains(&99_999));
        // Spread over all rows.
        assert!(drawn.iter().filter(|&&row| row < 50_000).count().abs_diff(MAX_DRAWN / 2) < 200);
    }
}

//! Pictures brought to a size: every pixel is a mean of those around its place, with weights that fall off linearly.
//!
//! Where a picture becomes smaller, the mean reaches as far as the pixel is wide, so that nothing is skipped. The sums go in one
//! order and are rounded once.

/// One channel of a picture, row after row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plane {
    pub(super) width: usize,
    pub(super) levels: Vec<u8>,
}

impl Plane {
    pub(super) fn height(&self) -> usize {
        self.levels.len() / self.width.max(1)
    }

    /// The picture upright, if it was stored in this EXIF orientation.
    pub(super) fn turned(self, orientation: u8) -> Self {
        let (width, height) = (self.width, self.height());
        let swaps = orientation >= 5;
        let (new_width, new_height) = if swaps { (height, width) } else { (width, height) };
        if orientation == 1 {
            return self;
        }
        let mut levels = Vec::with_capacity(self.levels.len());
        for y in 0..new_height {
            for x in 0..new_width {
                let (from_x, from_y) = match orientation {
                    2 => (width - 1 - x, y),
                    3 => (width - 1 - x, height - 1 - y),
                    4 => (x, height - 1 - y),
                    5 => (y, x),
                    6 => (y, height - 1 - x),
                    7 => (width - 1 - y, height - 1 - x),
                    8 => (width - 1 - y, x),
                    _ => (x, y),
                };
                levels.push(self.levels[from_y * width + from_x]);
            }
        }
        Self { width: new_width, levels }
    }
}

/// From which pixels of a line one new pixel is made: the first, and their weights, which add up to 1.
struct Reach {
    first: usize,
    weights: Vec<f32>,
}

/// The reaches of `to` pixels on a line of `from`.
fn reaches(from: usize, to: usize) -> Vec<Reach> {
    let scale = from as f64 / to as f64;
    let support = scale.max(1.0);
    let reach = |place: usize| {
        let centre = (place as f64 + 0.5) * scale;
        let first = (centre - support + 0.5).max(0.0) as usize;
        let end = ((centre + support + 0.5) as usize).min(from);
        let weight = |pixel: usize| (1.0 - ((pixel as f64 + 0.5 - centre) / support).abs()).max(0.0);
        let total: f64 = (first..end).map(weight).sum();
        Reach { first, weights: (first..end).map(|pixel| (weight(pixel) / total) as f32).collect() }
    };
    (0..to).map(reach).collect()
}

/// The picture with this many pixels in a row, and rows.
pub(super) fn resized(plane: &Plane, width: usize, height: usize) -> Plane {
    if (plane.width, plane.height()) == (width, height) {
        return plane.clone();
    }
    let across = reaches(plane.width, width);
    let narrow: Vec<f32> = plane
        .levels
        .chunks_exact(plane.width)
        .flat_map(|row| {
            across.iter().map(move |reach| {
                let pixels = &row[reach.first..reach.first + reach.weights.len()];
                pixels
                    .iter()
                    .zip(&reach.weights)
                    .fold(0.0, |sum, (&level, weight)| sum + f32::from(level) * weight)
            })
        })
        .collect();
    let mut levels = Vec::with_capacity(width * height);
    let mut sums = vec![0.0f32; width];
    for reach in reaches(plane.height(), height) {
        sums.fill(0.0);
        for (row, weight) in narrow.chunks_exact(width).skip(reach.first).zip(&reach.weights) {
            sums.iter_mut().zip(row).for_each(|(sum, level)| *sum += level * weight);
        }
        levels.extend(sums.iter().map(|sum| sum.round().clamp(0.0, 255.0) as u8));
    }
    Plane { width, levels }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pictures_are_turned_upright() {
        // The letter F, stored as cameras store it, becomes upright by each of the eight orientations.
        let upright = Plane { width: 3, levels: vec![1, 1, 1, 1, 1, 0, 1, 0, 0, 1, 0, 0] };
        let stored: [(u8, usize, Vec<u8>); 8] = [
            (1, 3, vec![1, 1, 1, 1, 1, 0, 1, 0, 0, 1, 0, 0]),
            (2, 3, vec![1, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 1]),
            (3, 3, vec![0, 0, 1, 0, 0, 1, 0, 1, 1, 1, 1, 1]),
            (4, 3, vec![1, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1]),
            (5, 4, vec![1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0]),
            (6, 4, vec![1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1]),
            (7, 4, vec![0, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1]),
            (8, 4, vec![1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1]),
        ];
        for (orientation, width, levels) in stored {
            assert_eq!(Plane { width, levels }.turned(orientation), upright, "orientation {orientation}");
        }
    }

    proptest! {
        /// A picture of one level stays that; the levels stay within those of the picture; its own size changes nothing.
        #[test]
        fn means_stay_within_the_levels(
            levels in prop::collection::vec(any::<u8>(), 1..120), width in 1usize..12, to in (1usize..20, 1usize..20),
        ) {
            let height = (levels.len() / width).max(1);
            let mut levels = levels;
            levels.resize(width * height, 7);
            let plane = Plane { width, levels };
            prop_assert_eq!(&resized(&plane, width, height), &plane);
            let (least, most) = (plane.levels.iter().min().copied(), plane.levels.iter().max().copied());
            let new = resized(&plane, to.0, to.1);
            prop_assert_eq!((new.width, new.height()), to);
            prop_assert!(new.levels.iter().min().copied() >= least && new.levels.iter().max().copied() <= most);
            let even = Plane { width, levels: vec![plane.levels[0]; width * height] };
            prop_assert!(resized(&even, to.0, to.1).levels.iter().all(|&level| level == plane.levels[0]));
        }
    }
}

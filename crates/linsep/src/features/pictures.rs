//! A picture: one feature for each of its pixels, row after row, or three in colour.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The pictures that a model knows: their size, and whether they have colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureForm {
    /// Pixels in a row.
    pub width: u32,
    /// Rows of pixels.
    pub height: u32,
    /// Whether a pixel is red, green and blue, and not one level of grey.
    pub colour: bool,
}

impl PictureForm {
    /// Numbers of a pixel.
    pub fn channels(self) -> usize {
        if self.colour { 3 } else { 1 }
    }

    /// Number of features: 0 for a size beyond all numbers, which no reader makes.
    pub fn features(self) -> usize {
        let pixels = u64::from(self.width) * u64::from(self.height);
        let numbers = pixels.checked_mul(self.channels() as u64);
        numbers.and_then(|numbers| usize::try_from(numbers).ok()).unwrap_or(0)
    }

    /// The name of feature `j`: the place of its pixel, from the left and from the top.
    pub(crate) fn feature_name(self, j: usize) -> String {
        let (pixel, channel) = (j / self.channels(), j % self.channels());
        let width = (self.width as usize).max(1);
        let colour = if self.colour { ["red", "green", "blue"][channel] } else { "pixel" };
        format!("{colour} {},{}", pixel % width + 1, pixel / width + 1)
    }
}

impl fmt::Display for PictureForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { width, height, colour } = self;
        write!(f, "{width}x{height} pixels in {}", if *colour { "colour" } else { "grey" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_named_by_their_place() {
        let grey = PictureForm { width: 3, height: 2, colour: false };
        assert_eq!(
            (grey.features(), grey.feature_name(0), grey.feature_name(5)),
            (6, "pixel 1,1".into(), "pixel 3,2".into())
        );
        let colour = PictureForm { colour: true, ..grey };
        assert_eq!((colour.features(), colour.feature_name(10)), (18, "green 1,2".into()));
        assert_eq!(colour.to_string(), "3x2 pixels in colour");
        assert_eq!(PictureForm { width: u32::MAX, height: u32::MAX, colour: true }.features(), 0);
    }
}

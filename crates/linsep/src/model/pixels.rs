//! The weights of a model of pictures, as a picture: which pixels are evidence for a class, and which against it.

use super::Model;
use crate::SettingsError;
use crate::classes::Classes;
use crate::features::{PictureForm, Schema};

/// The side that small pictures are enlarged to.
const SIDE: usize = 256;
/// Pixels between two classes, and classes beside each other.
const GAP: usize = 8;
const BESIDE: usize = 5;
/// The share of weights whose colour is not full; the few that are larger do not fade the others.
const SHARE: f64 = 0.995;

/// The weights as a PNG picture, with the classes that its parts belong to, from left to right and from the top.
#[derive(Clone, Debug)]
pub struct WeightsPicture {
    /// The bytes of the file.
    pub png: Vec<u8>,
    /// Width and height.
    pub size: (u32, u32),
    /// The class that red is evidence for, of each part.
    pub classes: Vec<String>,
    /// Whether the parts are red and blue; otherwise they have the colours whose brightness is evidence for the class.
    pub red_and_blue: bool,
}

impl WeightsPicture {
    /// Draws the weights of the scaled pixels.
    pub fn of(model: &Model) -> Result<Self, SettingsError> {
        let refuse = |problem: &str| Err(SettingsError::new("weights_png", problem.to_string()));
        let Schema::Pictures(form) = model.recipe.columns else {
            return refuse(
                "⟦weights_png⟧ draws the pixels of a model that was trained on pictures, and this one was not",
            );
        };
        let has_weights = model.learned.parts().iter().all(|learned| learned.weights().is_some());
        if !has_weights || !model.recipe.expansion.is_none() {
            return refuse("⟦weights_png⟧ draws one weight for each pixel, and this model has none");
        }
        let classes: Vec<String> = match &model.classes {
            Classes::Pair(pair) => vec![pair.positive.clone()],
            Classes::Each { names } => names.clone(),
        };
        let parts: Vec<Vec<f64>> =
            (0..classes.len()).map(|outcome| model.weights_of(outcome).to_vec()).collect();
        let canvas = Canvas::of(form, &parts);
        Ok(Self {
            size: (canvas.width as u32, canvas.height as u32),
            png: canvas.png(),
            classes,
            red_and_blue: !form.colour,
        })
    }
}

struct Canvas {
    width: usize,
    height: usize,
    /// Red, green and blue of each pixel.
    levels: Vec<u8>,
}

impl Canvas {
    fn of(form: PictureForm, parts: &[Vec<f64>]) -> Self {
        let (width, height) = (form.width as usize, form.height as usize);
        let enlarged = (SIDE / width.max(height)).max(1);
        let (wide, high) = (width * enlarged, height * enlarged);
        let across = parts.len().min(BESIDE);
        let down = parts.len().div_ceil(BESIDE);
        let mut canvas = Self {
            width: across * (wide + GAP) - GAP,
            height: down * (high + GAP) - GAP,
            levels: Vec::new(),
        };
        canvas.levels = vec![255; canvas.width * canvas.height * 3];
        for (part, weights) in parts.iter().enumerate() {
            let (left, top) = (part % BESIDE * (wide + GAP), part / BESIDE * (high + GAP));
            let largest = usual_largest(weights);
            for y in 0..high {
                for x in 0..wide {
                    let pixel = y / enlarged * width + x / enlarged;
                    let strength = |channel: usize| {
                        let weight = weights[pixel * form.channels() + channel];
                        if largest > 0.0 { (weight / largest).clamp(-1.0, 1.0) } else { 0.0 }
                    };
                    let colour = if form.colour {
                        [0, 1, 2].map(|channel| brightness(strength(channel)))
                    } else {
                        red_or_blue(strength(0))
                    };
                    let at = ((top + y) * canvas.width + left + x) * 3;
                    canvas.levels[at..at + 3].copy_from_slice(&colour);
                }
            }
        }
        canvas
    }

    fn png(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().expect("memory takes what is written");
        writer.write_image_data(&self.levels).expect("the levels are as many as the header says");
        writer.finish().expect("memory takes what is written");
        bytes
    }
}

/// The size that nearly all weights stay below.
fn usual_largest(weights: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = weights.iter().map(|weight| weight.abs()).filter(|&size| size > 0.0).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    sizes
        .get(((sizes.len() as f64 * SHARE) as usize).min(sizes.len().saturating_sub(1)))
        .copied()
        .unwrap_or(0.0)
}

/// White for nothing, red for weights that are evidence for the class, blue for those against it.
fn red_or_blue(strength: f64) -> [u8; 3] {
    let faded = |full: u8| (255.0 - strength.abs() * f64::from(255 - full)).round() as u8;
    let full = if strength > 0.0 { [178, 24, 43] } else { [33, 102, 172] };
    full.map(faded)
}

/// The middle for nothing, brighter for weights that are evidence for the class.
fn brightness(strength: f64) -> u8 {
    (127.5 + 127.5 * strength).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn red_speaks_for_and_blue_against() {
        let form = PictureForm { width: 2, height: 1, colour: false };
        let canvas = Canvas::of(form, &[vec![1.0, -1.0], vec![0.0, 0.0]]);
        assert_eq!((canvas.width, canvas.height), (2 * 256 + GAP, 128));
        let at = |x: usize, y: usize| &canvas.levels[(y * canvas.width + x) * 3..][..3];
        assert_eq!((at(0, 0), at(255, 127)), (&[178, 24, 43][..], &[33, 102, 172][..]));
        assert_eq!((at(258, 3), at(400, 100)), (&[255, 255, 255][..], &[255, 255, 255][..]));
        #[cfg(feature = "pictures")]
        {
            let decoded = crate::read::decode_picture(
                &canvas.png(),
                PictureForm { width: canvas.width as u32, height: canvas.height as u32, colour: true },
            );
            assert_eq!(decoded.unwrap(), canvas.levels);
        }
        let colour = Canvas::of(PictureForm { width: 1, height: 1, colour: true }, &[vec![1.0, 0.0, -1.0]]);
        assert_eq!(&colour.levels[..3], [255, 128, 0]);
    }
}

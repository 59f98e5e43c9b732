//! Figures as PNG: drawn by tiny-skia, with letters of an embedded font, so that no font has to be installed.

use super::figure::{Anchor, Figure, Layer, Mark, Pen, Rect, Step, What};
use super::ink::{Ink, Theme};
use super::svg::corners;
use super::text::{face, width};
use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider};
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};

/// Dots for each unit of length: pictures stay sharp on paper and on dense screens.
const DENSITY: f32 = 2.0;

/// A picture that could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("the picture could not be drawn as PNG: {0}")]
pub struct PngError(String);

impl Figure {
    /// The figure as a PNG file on light or dark paper. A moving figure shows its end. Letters beyond Latin, Greek and
    /// Cyrillic become boxes; [`Self::letters_without_outline`] tells how many.
    pub fn to_png(&self, theme: Theme) -> Result<Vec<u8>, PngError> {
        let size = |length: f64| (length as f32 * DENSITY).ceil() as u32;
        let (wide, high) = (size(self.width), size(self.height));
        let mut pixmap =
            Pixmap::new(wide, high).ok_or_else(|| PngError(format!("{wide} × {high} dots are too many")))?;
        pixmap.fill(colour(Ink::Paper, theme, 1.0));
        let mut canvas = Canvas { pixmap, theme, mask: None };
        self.marks.iter().filter(|mark| mark.layer != Layer::Moving).for_each(|mark| canvas.mark(mark));
        canvas.pixmap.encode_png().map_err(|error| PngError(error.to_string()))
    }

    /// How many letters of its texts a PNG file shows as boxes.
    pub fn letters_without_outline(&self) -> usize {
        let texts = self.marks.iter().filter_map(|mark| match &mark.what {
            What::Text { text, bold, .. } => Some((text, *bold)),
            _ => None,
        });
        let lacks = |letter: &char, bold: bool| face(bold).is_none_or(|face| face.glyph(*letter).is_none());
        texts.map(|(text, bold)| text.chars().filter(|letter| lacks(letter, bold)).count()).sum()
    }
}

struct Canvas {
    pixmap: Pixmap,
    theme: Theme,
    mask: Option<(Rect, Mask)>,
}

impl Canvas {
    fn mark(&mut self, mark: &Mark) {
        match &mark.what {
            What::Path(steps) => {
                if let Some(path) = path_of(steps) {
                    self.draw(&path, &mark.pen, mark.clip);
                }
            }
            What::Dots { shape, radius, dots } => {
                // All at once, so that points do not shine through each other differently than in SVG.
                let steps: Vec<Step> =
                    dots.iter().flat_map(|dot| corners(*shape, dot.x, dot.y, *radius)).collect();
                if let Some(path) = path_of(&steps) {
                    self.draw(&path, &mark.pen, mark.clip);
                }
            }
            What::Text { x, y, text, size, bold, anchor } => {
                let whole = width(text, *size, *bold);
                let start = match anchor {
                    Anchor::Start => *x,
                    Anchor::Middle => x - whole / 2.0,
                    Anchor::End => x - whole,
                };
                if let Some(path) = letters(text, start, *y, *size, *bold) {
                    self.draw(&path, &mark.pen, None);
                }
            }
            What::MovingLine(_) | What::MovingDot { .. } | What::MovingText { .. } | What::Reveal { .. } => {}
        }
    }

    fn draw(&mut self, path: &Path, pen: &Pen, clip: Option<Rect>) {
        let transform = Transform::from_scale(DENSITY, DENSITY);
        self.set_mask(clip);
        let mask = clip.and(self.mask.as_ref().map(|(_, mask)| mask));
        let mut paint = Paint { anti_alias: true, ..Paint::default() };
        if let Some(ink) = pen.fill {
            paint.set_color(colour(ink, self.theme, pen.opacity));
            self.pixmap.fill_path(path, &paint, FillRule::Winding, transform, mask);
        }
        if let Some(ink) = pen.stroke {
            paint.set_color(colour(ink, self.theme, pen.opacity));
            let dash = pen.dash.pattern().iter().map(|length| *length as f32).collect();
            let stroke = Stroke {
                width: pen.width as f32,
                line_cap: if pen.width > 1.0 { LineCap::Round } else { LineCap::Butt },
                line_join: LineJoin::Round,
                dash: StrokeDash::new(dash, 0.0),
                ..Stroke::default()
            };
            self.pixmap.stroke_path(path, &paint, &stroke, transform, mask);
        }
    }

    /// Makes the mask of a rectangle, unless it is there already.
    fn set_mask(&mut self, clip: Option<Rect>) {
        let Some(rect) = clip else { return };
        if self.mask.as_ref().is_some_and(|(known, _)| *known == rect) {
            return;
        }
        let area =
            tiny_skia::Rect::from_xywh(rect.x as f32, rect.y as f32, rect.width as f32, rect.height as f32);
        self.mask = Mask::new(self.pixmap.width(), self.pixmap.height()).zip(area).map(|(mut mask, area)| {
            let transform = Transform::from_scale(DENSITY, DENSITY);
            mask.fill_path(&PathBuilder::from_rect(area), FillRule::Winding, true, transform);
            (rect, mask)
        });
    }
}

fn colour(ink: Ink, theme: Theme, opacity: f64) -> Color {
    let text = ink.colour(theme);
    let channel = |at: usize| u8::from_str_radix(text.get(at..at + 2).unwrap_or("00"), 16).unwrap_or(0);
    Color::from_rgba8(channel(1), channel(3), channel(5), (255.0 * opacity).round().clamp(0.0, 255.0) as u8)
}

fn path_of(steps: &[Step]) -> Option<Path> {
    let mut path = PathBuilder::new();
    for step in steps {
        match *step {
            Step::Move(x, y) => path.move_to(x as f32, y as f32),
            Step::Line(x, y) => path.line_to(x as f32, y as f32),
            Step::Close => path.close(),
        }
    }
    path.finish()
}

/// The outlines of a text, with a box for each letter that the font lacks.
fn letters(text: &str, x: f64, y: f64, size: f64, bold: bool) -> Option<Path> {
    let face = face(bold)?;
    let mut pen = Outline {
        path: PathBuilder::new(),
        x: x as f32,
        y: y as f32,
        scale: size as f32 / f32::from(face.units_per_em),
    };
    let outlines = FontRef::new(face.bytes).ok()?.outline_glyphs();
    for letter in text.chars() {
        match face.glyph(letter) {
            Some(glyph) => {
                if let Some(outline) = outlines.get(GlyphId::from(glyph)) {
                    // The fonts are our own, and a test draws every letter of them that texts use.
                    let _ = outline
                        .draw(DrawSettings::unhinted(Size::unscaled(), LocationRef::default()), &mut pen);
                }
            }
            None => {
                let (wide, high) = (0.5 * size as f32, 0.72 * size as f32);
                if let Some(rect) =
                    tiny_skia::Rect::from_xywh(pen.x + 0.05 * wide, pen.y - high, 0.9 * wide, high)
                {
                    pen.path.push_rect(rect);
                }
            }
        }
        pen.x += width(letter.encode_utf8(&mut [0; 4]), size, bold) as f32;
    }
    pen.path.finish()
}

struct Outline {
    path: PathBuilder,
    x: f32,
    y: f32,
    scale: f32,
}

impl Outline {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + self.scale * x, self.y - self.scale * y)
    }
}

impl OutlinePen for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skrifa::GlyphId;

    /// The widths of `text.rs`, which reads the fonts itself, are those of the library that draws their letters.
    #[test]
    fn letters_and_widths_are_those_of_the_font() {
        for bold in [false, true] {
            let face = face(bold).expect("a font");
            let font = FontRef::new(face.bytes).expect("a font");
            let widths = font.glyph_metrics(Size::unscaled(), LocationRef::default());
            let mut letters = 0;
            for (code, glyph) in font.charmap().mappings() {
                let letter = char::from_u32(code).expect("a letter");
                assert_eq!(face.glyph(letter).map(GlyphId::from), Some(glyph), "{letter:?}");
                let advance = widths.advance_width(glyph).expect("a width");
                let em = f64::from(face.units_per_em);
                assert_eq!(width(&letter.to_string(), em, bold), f64::from(advance), "{letter:?}");
                letters += 1;
            }
            assert!(letters > 600, "{letters}");
            assert_eq!(face.glyph('\u{e000}'), None);
        }
    }
}

//! Texts in pictures: names from data files made harmless, how wide a text is, lines and ends of long ones.

use crate::classes::is_hidden;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What texts need of a font, read from its tables `cmap`, `head`, `hhea` and `hmtx`. `png.rs` draws the glyphs.
pub(super) struct Face {
    /// The bytes of the font.
    pub(super) bytes: &'static [u8],
    /// For each letter its glyph, and how far it goes to the right.
    letters: HashMap<char, (u16, u16)>,
    /// The units of that, for the size of a text.
    pub(super) units_per_em: u16,
}

impl Face {
    fn parse(bytes: &'static [u8]) -> Option<Self> {
        let short = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        let long = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
        let tables = usize::from(short(4)?);
        let table = |name: &[u8]| {
            let entry = (0..tables).map(|i| 12 + 16 * i).find(|&at| bytes.get(at..at + 4) == Some(name))?;
            long(entry + 8)
        };
        // The last width stands for all glyphs that follow.
        let (widths, hmtx) = (usize::from(short(table(b"hhea")? + 34)?), table(b"hmtx")?);
        let width = |glyph: u16| short(hmtx + 4 * usize::from(glyph).min(widths.checked_sub(1)?));
        let cmap = table(b"cmap")?;
        let encodings = (0..usize::from(short(cmap + 2)?)).map(|i| cmap + 4 + 8 * i);
        let map = encodings.filter_map(|at| Some(cmap + long(at + 4)?)).find(|&map| short(map) == Some(4))?;
        let segments = usize::from(short(map + 6)?);
        let mut letters = HashMap::new();
        for end_at in (0..segments).step_by(2).map(|i| map + 14 + i) {
            let start_at = end_at + segments + 2;
            let (delta, offset_at) = (short(start_at + segments)?, start_at + 2 * segments);
            let (start, end, offset) = (short(start_at)?, short(end_at)?, usize::from(short(offset_at)?));
            for code in start..=end {
                let found = match offset {
                    0 => code,
                    _ => short(offset_at + offset + 2 * usize::from(code - start)).unwrap_or(0),
                };
                let glyph = if offset > 0 && found == 0 { 0 } else { found.wrapping_add(delta) };
                if let Some(letter) = char::from_u32(code.into()).filter(|_| glyph > 0) {
                    letters.insert(letter, (glyph, width(glyph)?));
                }
            }
        }
        Some(Self { bytes, letters, units_per_em: short(table(b"head")? + 18)? })
    }

    /// The place of a letter in the font.
    pub(super) fn glyph(&self, letter: char) -> Option<u16> {
        self.letters.get(&letter).map(|&(glyph, _)| glyph)
    }

    /// How wide a letter is, as a part of the size of the text.
    fn width(&self, letter: char) -> Option<f64> {
        self.letters.get(&letter).map(|&(_, width)| f64::from(width) / f64::from(self.units_per_em))
    }
}

/// The letters of texts whose size is known beforehand: a subset of DejaVu Sans. Programs that show SVG use fonts of their
/// own, which are hardly ever wider.
static REGULAR: LazyLock<Option<Face>> = LazyLock::new(|| Face::parse(include_bytes!("font/regular.ttf")));
static BOLD: LazyLock<Option<Face>> = LazyLock::new(|| Face::parse(include_bytes!("font/bold.ttf")));

/// The font of a text.
pub(super) fn face(bold: bool) -> Option<&'static Face> {
    if bold { BOLD.as_ref() } else { REGULAR.as_ref() }
}

/// How wide a text is at this size. Letters that the font lacks count as wide ones.
pub(super) fn width(text: &str, size: f64, bold: bool) -> f64 {
    let Some(face) = face(bold) else { return 0.62 * size * text.chars().count() as f64 };
    // Letters of another font, by the columns of a terminal that they take.
    let other = |letter| 0.6 * unicode_width::UnicodeWidthChar::width(letter).unwrap_or(0) as f64;
    let advance = |letter: char| face.width(letter).unwrap_or_else(|| other(letter));
    size * text.chars().map(advance).sum::<f64>()
}

/// The text in lines of at most this width, as far as its words allow; a word that is too long is shortened.
pub(super) fn wrapped(text: &str, most: f64, size: f64, bold: bool) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    // A number stays with its percent sign.
    let text = text.replace(" %", "\u{a0}%");
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let word = shortened(word, most, size, bold);
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size, bold) <= most => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// A text that is at most this wide: its end is left out if need be.
pub(super) fn shortened(text: &str, most: f64, size: f64, bold: bool) -> String {
    if width(text, size, bold) <= most {
        return text.to_string();
    }
    let mut short: String = text.chars().take(400).collect();
    while short.pop().is_some() {
        let cut = format!("{}…", short.trim_end());
        if width(&cut, size, bold) <= most {
            return cut;
        }
    }
    "…".to_string()
}

/// The file of a path: where it lies is of no interest to those who see a picture.
pub(crate) fn file_name(source: &str) -> &str {
    source.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(source)
}

/// A name as it came from a file, on one line and without characters that XML forbids or that turn the text around them.
pub fn harmless(name: &str) -> String {
    let letter = |letter: char| match letter {
        '\t' | '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => ' ',
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        letter if is_hidden(letter) => '\u{fffd}',
        letter => letter,
    };
    name.chars().map(letter).collect()
}

/// Text for XML and HTML: nothing in it is markup, neither between tags nor in an attribute in quotes.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // Lines of preformatted text stay.
            '\n' | '\t' => safe.push(letter),
            letter => safe.push_str(&harmless(letter.encode_utf8(&mut [0; 4]))),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fonts_are_whole_and_know_the_letters_of_the_theory() {
        for bold in [false, true] {
            let face = face(bold).expect("a font");
            for letter in "The quick brown fox ⟨θ_k, θ*⟩ ≥ kγ, ‖θ_k‖² ≤ kR², ∠ ± − × ½ … “é” Ж ★".chars()
            {
                assert!(letter == ' ' || face.glyph(letter).is_some(), "{letter}");
            }
        }
        assert!(width("wide", 10.0, true) > width("wide", 10.0, false));
        assert!(width("日本", 10.0, false) > 20.0);
    }

    #[test]
    fn a_title_names_the_file_alone() {
        assert_eq!(
            ["a/b/iris.csv", "iris.csv", "a/", "C:\\x\\y.csv"].map(file_name),
            ["iris.csv", "iris.csv", "a/", "y.csv"]
        );
    }

    #[test]
    fn long_texts_are_wrapped_and_shortened() {
        let text = "one two three four five six seven eight nine ten";
        let lines = wrapped(text, 90.0, 12.0, false);
        assert!(lines.len() > 2 && lines.iter().all(|line| width(line, 12.0, false) <= 90.0), "{lines:?}");
        assert_eq!(lines.join(" "), text);
        let short = shortened(&"x".repeat(5000), 60.0, 12.0, false);
        assert!(short.ends_with('…') && width(&short, 12.0, false) <= 60.0);
        assert_eq!(wrapped("", 50.0, 12.0, false), Vec::<String>::new());
    }

    #[test]
    fn nothing_of_a_name_is_markup() {
        assert_eq!(escaped("<script>alert('x')</script>"), "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;");
        assert_eq!(escaped("a\u{0}b\u{1b}c\u{202e}d\u{ffff}"), "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}");
        assert_eq!(harmless("one\ntwo\u{85}"), "one two ");
        assert_eq!(escaped("\"&\""), "&quot;&amp;&quot;");
    }
}

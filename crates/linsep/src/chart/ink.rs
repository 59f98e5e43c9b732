//! Colours, dashes and shapes. What differs by colour differs by shape or dash too, so that a picture can be read in grey.

/// Light or dark paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark ink on white.
    #[default]
    Light,
    /// Light ink on black.
    Dark,
}

/// The colours of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// Text and boundaries.
    Text,
    /// Text that explains.
    Muted,
    /// Lines behind the data.
    Grid,
    /// The background.
    Paper,
    /// The colour of a class or of a curve; they repeat after the last.
    Series(usize),
}

/// Name, colour on light paper, colour on dark paper. Each has a contrast of at least 4.5 to its paper, but for the grid.
const INKS: [(&str, &str, &str); 10] = [
    ("ink", "#1b2430", "#e8ecf2"),
    ("muted", "#566173", "#a9b4c3"),
    ("grid", "#dde2e9", "#343d4b"),
    ("paper", "#ffffff", "#12171f"),
    ("c0", "#1f6fb4", "#6cb2f0"),
    ("c1", "#bd4b06", "#f59a5b"),
    ("c2", "#1b7a51", "#5cc796"),
    ("c3", "#7d4fb0", "#bb9ae8"),
    ("c4", "#80600b", "#d9b25a"),
    ("c5", "#b03a7a", "#ee8dbd"),
];

/// Where the colours of series begin.
const FIRST_SERIES: usize = 4;

impl Ink {
    fn place(self) -> usize {
        match self {
            Ink::Text => 0,
            Ink::Muted => 1,
            Ink::Grid => 2,
            Ink::Paper => 3,
            Ink::Series(which) => FIRST_SERIES + which % (INKS.len() - FIRST_SERIES),
        }
    }

    /// Its name in style sheets.
    pub(super) fn name(self) -> &'static str {
        INKS[self.place()].0
    }

    /// Its colour, as `#rrggbb`.
    pub(super) fn colour(self, theme: Theme) -> &'static str {
        let (_, light, dark) = INKS[self.place()];
        match theme {
            Theme::Light => light,
            Theme::Dark => dark,
        }
    }
}

/// The style sheet that gives every ink its colour: by the setting of the reader, and dark on white in print. Programs that
/// know no variables use the colours that each element has of its own, which are those of light paper.
pub fn style() -> String {
    let variables = |theme: Theme| -> String {
        let one = |&(name, light, dark): &(&str, &str, &str)| {
            format!("--ls-{name}:{}", if theme == Theme::Light { light } else { dark })
        };
        INKS.iter().map(one).collect::<Vec<_>>().join(";")
    };
    let classes: String = INKS
        .iter()
        .map(|(name, ..)| {
            format!(".ls .s-{name}{{stroke:var(--ls-{name})}}.ls .f-{name}{{fill:var(--ls-{name})}}")
        })
        .collect();
    format!(
        ".ls{{{light}}}@media (prefers-color-scheme:dark){{.ls{{{dark}}}}}@media print{{.ls{{{light}}}}}{classes}\
         .ls .moving{{display:inline}}.ls .still{{display:none}}\
         @media (prefers-reduced-motion:reduce){{.ls .moving{{display:none}}.ls .still{{display:inline}}}}\
         @media print{{.ls .moving{{display:none}}.ls .still{{display:inline}}}}",
        light = variables(Theme::Light),
        dark = variables(Theme::Dark),
    )
}

/// How a line is broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Dash {
    #[default]
    Solid,
    Dashed,
    Dotted,
    Mixed,
    Long,
    TwoDots,
}

impl Dash {
    /// Each of them: as many as there are colours of series.
    const ALL: [Dash; 6] = [Dash::Solid, Dash::Dashed, Dash::Dotted, Dash::Mixed, Dash::Long, Dash::TwoDots];

    /// The dash of a curve, which differs from those of the others as far as its colour does.
    pub(super) fn of(which: usize) -> Self {
        Self::ALL[which % Self::ALL.len()]
    }

    /// Lengths on and off.
    pub(super) fn pattern(self) -> &'static [f64] {
        match self {
            Dash::Solid => &[],
            Dash::Dashed => &[6.0, 4.0],
            Dash::Dotted => &[1.6, 3.4],
            Dash::Mixed => &[8.0, 3.0, 1.8, 3.0],
            Dash::Long => &[16.0, 4.0],
            Dash::TwoDots => &[10.0, 3.0, 1.8, 3.0, 1.8, 3.0],
        }
    }
}

/// The shape of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Triangle,
    Square,
    Diamond,
    Down,
    Plus,
    Cross,
    Star,
    /// A circle that is not filled, around a point.
    Ring,
}

impl Shape {
    /// The shape of a class.
    pub(super) fn of(class: usize) -> Self {
        const SHAPES: [Shape; 6] =
            [Shape::Circle, Shape::Triangle, Shape::Square, Shape::Diamond, Shape::Down, Shape::Plus];
        SHAPES[class % SHAPES.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_differ_without_their_colours() {
        for one in 0..INKS.len() - FIRST_SERIES {
            for other in 0..one {
                assert_ne!(Dash::of(one).pattern(), Dash::of(other).pattern());
                assert_ne!(Shape::of(one), Shape::of(other));
            }
        }
    }

    /// Relative luminance, as WCAG defines it.
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    #[test]
    fn every_ink_can_be_read_on_its_paper() {
        let contrast = |a: &str, b: &str| {
            let (a, b) = (luminance(a), luminance(b));
            (a.max(b) + 0.05) / (a.min(b) + 0.05)
        };
        for theme in [Theme::Light, Theme::Dark] {
            for ink in [Ink::Text, Ink::Muted].into_iter().chain((0..6).map(Ink::Series)) {
                let found = contrast(ink.colour(theme), Ink::Paper.colour(theme));
                assert!(found >= 4.5, "{ink:?} on {theme:?}: {found:.2}");
            }
        }
    }
}

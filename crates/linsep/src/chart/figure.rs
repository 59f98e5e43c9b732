//! A figure as a list of marks, and the sheet that they are laid out on: head, panels, legend, notes.

use super::ink::{Dash, Ink, Shape};
use super::text::{harmless, shortened, width, wrapped};

/// A finished figure, ready to be written as SVG, HTML or PNG.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The kind, such as `boundary`: part of the names inside of it.
    pub(super) name: &'static str,
    /// The title.
    pub(super) title: String,
    /// How to read it.
    pub(super) how: String,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) marks: Vec<Mark>,
    pub(super) motion: Option<Motion>,
}

impl Figure {
    /// The title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// How to read it.
    pub fn how_to_read(&self) -> &str {
        &self.how
    }

    /// Whether it needs the whole width of a printed page to be read.
    pub(crate) fn is_wide(&self) -> bool {
        self.width > 800.0
    }
}

/// When the frames of a moving figure are shown: shares of the whole time, from 0, and the seconds of the whole.
#[derive(Clone, Debug)]
pub(super) struct Motion {
    pub(super) seconds: f64,
    pub(super) times: Vec<f64>,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Rect {
    pub(super) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.y + self.height
    }
}

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    Move(f64, f64),
    Line(f64, f64),
    Close,
}

/// The style of a mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pen {
    pub(super) stroke: Option<Ink>,
    pub(super) width: f64,
    pub(super) fill: Option<Ink>,
    pub(super) dash: Dash,
    pub(super) opacity: f64,
}

impl Pen {
    pub(super) fn line(ink: Ink, width: f64) -> Self {
        Self { stroke: Some(ink), width, fill: None, dash: Dash::Solid, opacity: 1.0 }
    }

    pub(super) fn fill(ink: Ink) -> Self {
        Self { stroke: None, width: 0.0, fill: Some(ink), dash: Dash::Solid, opacity: 1.0 }
    }

    pub(super) fn dashed(self, dash: Dash) -> Self {
        Self { dash, ..self }
    }

    pub(super) fn faint(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }
}

/// Where a text is beside its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A point with what is said about it when it is pointed at.
#[derive(Clone, Debug)]
pub(super) struct Dot {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) says: Option<String>,
}

/// Whether a mark is part of every picture, of moving ones, or of those that stand still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Layer {
    #[default]
    Always,
    Moving,
    Still,
}

/// One mark.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) what: What,
    pub(super) pen: Pen,
    pub(super) clip: Option<Rect>,
    pub(super) layer: Layer,
}

/// The shape of a mark. Moving marks have one entry for each frame.
#[derive(Clone, Debug)]
pub(super) enum What {
    Path(Vec<Step>),
    Dots {
        shape: Shape,
        radius: f64,
        dots: Vec<Dot>,
    },
    Text {
        x: f64,
        y: f64,
        text: String,
        size: f64,
        bold: bool,
        anchor: Anchor,
    },
    MovingLine(Vec<[f64; 4]>),
    MovingDot {
        shape: Shape,
        radius: f64,
        places: Vec<[f64; 2]>,
    },
    MovingText {
        x: f64,
        y: f64,
        texts: Vec<String>,
        size: f64,
        bold: bool,
        anchor: Anchor,
    },
    /// A path that is shown up to a place that moves to the right.
    Reveal {
        steps: Vec<Step>,
        area: Rect,
        rights: Vec<f64>,
    },
}

/// A line of a legend.
#[derive(Clone, Debug)]
pub(super) enum Key {
    Dot(Shape, Ink),
    /// A point that is not filled.
    Open(Shape, Ink),
    Line(Ink, Dash, f64),
    /// A curve with points on it.
    Curve(Ink, Dash, Shape),
}

pub(super) const MARGIN: f64 = 24.0;
const TITLE: f64 = 17.0;
const HOW: f64 = 12.5;
pub(super) const SMALL: f64 = 12.0;

/// A figure while it is laid out, from top to bottom.
pub(super) struct Sheet {
    figure: Figure,
    /// Where the next part begins.
    pub(super) y: f64,
}

impl Sheet {
    /// Lays out the head.
    pub(super) fn new(name: &'static str, width: f64, title: &str, how: &str) -> Self {
        let (title, how) = (harmless(title), harmless(how));
        let figure = Figure { name, title, how, width, height: 0.0, marks: Vec::new(), motion: None };
        let mut sheet = Self { figure, y: MARGIN };
        let room = width - 2.0 * MARGIN;
        for line in wrapped(&sheet.figure.title.clone(), room, TITLE, true) {
            sheet.y += TITLE;
            sheet.text(MARGIN, sheet.y, &line, TITLE, true, Anchor::Start, Ink::Text);
            sheet.y += 5.0;
        }
        sheet.y += 3.0;
        sheet.paragraph(&sheet.figure.how.clone());
        sheet.y += 8.0;
        sheet
    }

    /// A rectangle of this height over the whole width, below what there is.
    pub(super) fn space(&mut self, height: f64) -> Rect {
        let rect = Rect { x: MARGIN, y: self.y, width: self.figure.width - 2.0 * MARGIN, height };
        self.y += height;
        rect
    }

    /// Lines of small text over the whole width.
    pub(super) fn paragraph(&mut self, text: &str) {
        for line in wrapped(&harmless(text), self.figure.width - 2.0 * MARGIN, HOW, false) {
            self.y += HOW;
            self.text(MARGIN, self.y, &line, HOW, false, Anchor::Start, Ink::Muted);
            self.y += 4.5;
        }
    }

    /// A note below the picture, such as that it does not show all rows.
    pub(super) fn note(&mut self, text: &str) {
        self.y += 6.0;
        self.paragraph(text);
    }

    pub(super) fn mark(&mut self, what: What, pen: Pen, clip: Option<Rect>) {
        self.figure.marks.push(Mark { what, pen, clip, layer: Layer::Always });
    }

    pub(super) fn mark_in(&mut self, layer: Layer, what: What, pen: Pen, clip: Option<Rect>) {
        self.figure.marks.push(Mark { what, pen, clip, layer });
    }

    pub(super) fn move_by(&mut self, motion: Motion) {
        self.figure.motion = Some(motion);
    }

    #[expect(clippy::too_many_arguments, reason = "a text is all of these, and each caller says all")]
    pub(super) fn text(
        &mut self,
        x: f64,
        y: f64,
        text: &str,
        size: f64,
        bold: bool,
        anchor: Anchor,
        ink: Ink,
    ) {
        let text = harmless(text);
        self.mark(What::Text { x, y, text, size, bold, anchor }, Pen::fill(ink), None);
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), pen: Pen) {
        self.mark(What::Path(vec![Step::Move(from.0, from.1), Step::Line(to.0, to.1)]), pen, None);
    }

    pub(super) fn rect(&mut self, rect: Rect, pen: Pen, clip: Option<Rect>) {
        let steps = vec![
            Step::Move(rect.x, rect.y),
            Step::Line(rect.right(), rect.y),
            Step::Line(rect.right(), rect.bottom()),
            Step::Line(rect.x, rect.bottom()),
            Step::Close,
        ];
        self.mark(What::Path(steps), pen, clip);
    }

    pub(super) fn dot(&mut self, shape: Shape, radius: f64, x: f64, y: f64, pen: Pen) {
        self.mark(What::Dots { shape, radius, dots: vec![Dot { x, y, says: None }] }, pen, None);
    }

    /// The legend: keys in lines, as many in a line as fit.
    pub(super) fn legend(&mut self, keys: &[(Key, String)]) {
        if keys.is_empty() {
            return;
        }
        self.y += 8.0;
        let most = self.figure.width - 2.0 * MARGIN;
        let texts: Vec<String> =
            keys.iter().map(|(_, text)| shortened(&harmless(text), most - 36.0, SMALL, false)).collect();
        let mut x = MARGIN;
        self.y += 8.0;
        for ((key, _), text) in keys.iter().zip(&texts) {
            let needed = 34.0 + width(text, SMALL, false) + 20.0;
            if x > MARGIN && x + needed - 20.0 > MARGIN + most {
                x = MARGIN;
                self.y += 20.0;
            }
            self.key(key, x, self.y);
            self.text(x + 34.0, self.y + 4.2, text, SMALL, false, Anchor::Start, Ink::Text);
            x += needed;
        }
        self.y += 14.0;
    }

    /// The sample of a legend, 26 wide, with its middle at `y`.
    pub(super) fn key(&mut self, key: &Key, x: f64, y: f64) {
        match *key {
            Key::Dot(shape, ink) => {
                let radius = if shape == Shape::Ring { 7.0 } else { 4.8 };
                self.dot(shape, radius, x + 15.0, y, dot_pen(shape, ink));
            }
            Key::Open(shape, ink) => self.dot(shape, 4.6, x + 15.0, y, open_pen(ink)),
            Key::Line(ink, dash, width) => {
                self.line((x, y), (x + 26.0, y), Pen::line(ink, width).dashed(dash));
            }
            Key::Curve(ink, dash, shape) => {
                self.line((x, y), (x + 26.0, y), Pen::line(ink, 1.8).dashed(dash));
                self.dot(shape, 3.6, x + 13.0, y, dot_pen(shape, ink));
            }
        }
    }

    /// The finished figure.
    pub(super) fn finish(mut self) -> Figure {
        self.figure.height = (self.y + MARGIN - 6.0).ceil();
        self.figure
    }
}

/// The pen of a point that is not filled.
pub(super) fn open_pen(ink: Ink) -> Pen {
    Pen { stroke: Some(ink), width: 1.4, ..Pen::fill(Ink::Paper) }
}

/// The pen of a point: shapes of lines are drawn, others filled.
pub(super) fn dot_pen(shape: Shape, ink: Ink) -> Pen {
    match shape {
        Shape::Ring => Pen::line(ink, 1.3),
        Shape::Cross => Pen::line(ink, 1.5),
        Shape::Plus => Pen::line(ink, 2.2),
        _ => Pen::fill(ink),
    }
}

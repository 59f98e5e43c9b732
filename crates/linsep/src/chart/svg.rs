//! Figures as SVG: without scripts and without anything from elsewhere.

use super::figure::{Anchor, Dot, Figure, Layer, Mark, Motion, Pen, Rect, Step, What};
use super::ink::{Ink, Shape, Theme, style};
use super::text::escaped;
use std::fmt::Write;

/// More points than this say nothing when they are pointed at: the file would be large.
const MAX_SAYING: usize = 600;

impl Figure {
    /// The figure as an SVG file, which follows the light or dark setting of its reader.
    pub fn to_svg(&self) -> String {
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}", self.element("figure", true))
    }

    /// The figure as an element of an HTML page. The page has the [style](super::style) once; `id` is part of the names in
    /// it, and differs between the figures of a page.
    pub fn to_element(&self, id: &str) -> String {
        self.element(id, false)
    }

    fn element(&self, id: &str, alone: bool) -> String {
        let mut out = Writer { text: String::new(), id: format!("ls-{}-{id}", self.name), clips: Vec::new() };
        let (width, height) = (number(self.width), number(self.height));
        let id = out.id.clone();
        let namespace = if alone { " xmlns=\"http://www.w3.org/2000/svg\"" } else { "" };
        let _ = writeln!(
            out.text,
            "<svg{namespace} class=\"ls\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
             aria-labelledby=\"{id}-title {id}-desc\" font-family=\"system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\">"
        );
        let _ = writeln!(out.text, "<title id=\"{id}-title\">{}</title>", escaped(&self.title));
        let _ = writeln!(out.text, "<desc id=\"{id}-desc\">{}</desc>", escaped(&self.how));
        if alone {
            let _ = writeln!(out.text, "<style>{}</style>", style());
        }
        let paper = Ink::Paper;
        let _ = writeln!(
            out.text,
            "<rect class=\"f-{}\" fill=\"{}\" width=\"{width}\" height=\"{height}\"/>",
            paper.name(),
            paper.colour(Theme::Light)
        );
        for mark in &self.marks {
            out.mark(mark, self.motion.as_ref());
        }
        out.text.push_str("</svg>\n");
        out.text
    }
}

struct Writer {
    text: String,
    id: String,
    clips: Vec<Rect>,
}

impl Writer {
    fn mark(&mut self, mark: &Mark, motion: Option<&Motion>) {
        let clip = mark.clip.map_or(String::new(), |rect| self.clip(rect));
        let layer = match mark.layer {
            Layer::Always => "",
            Layer::Moving => " moving",
            Layer::Still => " still",
        };
        let pen = attributes(&mark.pen, layer);
        match &mark.what {
            What::Path(steps) if steps.is_empty() => {}
            What::Path(steps) => {
                let _ = writeln!(self.text, "<path{pen}{clip} d=\"{}\"/>", path(steps));
            }
            What::Dots { dots, .. } if dots.is_empty() => {}
            What::Dots { shape, radius, dots } => self.dots(*shape, *radius, dots, &pen, &clip),
            What::Text { x, y, text, size, bold, anchor } => {
                let _ = writeln!(
                    self.text,
                    "<text{pen}{} x=\"{}\" y=\"{}\">{}</text>",
                    font(*size, *bold, *anchor),
                    number(*x),
                    number(*y),
                    escaped(text)
                );
            }
            What::MovingLine(frames) => self.moving_line(frames, motion, &pen, &clip),
            What::MovingDot { shape, radius, places } => {
                let Some(&[x, y]) = places.last() else { return };
                let d = outline(*shape, 0.0, 0.0, *radius);
                let values = joined(places.iter().map(|[x, y]| format!("{} {}", number(*x), number(*y))));
                let _ = writeln!(
                    self.text,
                    "<g{clip}><path{pen} d=\"{d}\" transform=\"translate({} {})\"><animateTransform attributeName=\"transform\" \
                     type=\"translate\" calcMode=\"discrete\" values=\"{values}\"{}/></path></g>",
                    number(x),
                    number(y),
                    timing(motion)
                );
            }
            What::MovingText { x, y, texts, size, bold, anchor } => {
                for (frame, text) in texts.iter().enumerate() {
                    let last = frame + 1 == texts.len();
                    let values = joined((0..texts.len()).map(|k| u8::from(k == frame).to_string()));
                    let _ = writeln!(
                        self.text,
                        "<text{pen}{} x=\"{}\" y=\"{}\" opacity=\"{}\">{}<animate attributeName=\"opacity\" \
                         calcMode=\"discrete\" values=\"{values}\"{}/></text>",
                        font(*size, *bold, *anchor),
                        number(*x),
                        number(*y),
                        u8::from(last),
                        escaped(text),
                        timing(motion)
                    );
                }
            }
            What::Reveal { steps, area, rights } => self.reveal(steps, *area, rights, motion, &pen),
        }
    }

    fn dots(&mut self, shape: Shape, radius: f64, dots: &[Dot], pen: &str, clip: &str) {
        if dots.len() > MAX_SAYING || dots.iter().all(|dot| dot.says.is_none()) {
            let d: String = dots.iter().map(|dot| outline(shape, dot.x, dot.y, radius)).collect();
            let _ = writeln!(self.text, "<path{pen}{clip} d=\"{d}\"/>");
            return;
        }
        let _ = writeln!(self.text, "<g{pen}{clip}>");
        for dot in dots {
            let d = outline(shape, dot.x, dot.y, radius);
            let says =
                dot.says.as_ref().map_or(String::new(), |says| format!("<title>{}</title>", escaped(says)));
            let _ = writeln!(self.text, "<path d=\"{d}\">{says}</path>");
        }
        self.text.push_str("</g>\n");
    }

    fn moving_line(&mut self, frames: &[[f64; 4]], motion: Option<&Motion>, pen: &str, clip: &str) {
        let Some(last) = frames.last() else { return };
        let names = ["x1", "y1", "x2", "y2"];
        let own: String =
            names.iter().zip(last).map(|(name, at)| format!(" {name}=\"{}\"", number(*at))).collect();
        let _ = write!(self.text, "<g{clip}><line{pen}{own}>");
        for (k, name) in names.iter().enumerate() {
            let values = joined(frames.iter().map(|frame| number(frame[k])));
            let _ = write!(
                self.text,
                "<animate attributeName=\"{name}\" values=\"{values}\"{}/>",
                timing(motion)
            );
        }
        self.text.push_str("</line></g>\n");
    }

    fn reveal(&mut self, steps: &[Step], area: Rect, rights: &[f64], motion: Option<&Motion>, pen: &str) {
        let Some(last) = rights.last() else { return };
        let id = format!("{}-r{}", self.id, self.text.len());
        let values = joined(rights.iter().map(|right| number((right - area.x).max(0.0))));
        let _ = writeln!(
            self.text,
            "<clipPath id=\"{id}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><animate attributeName=\"width\" \
             calcMode=\"discrete\" values=\"{values}\"{}/></rect></clipPath><path{pen} clip-path=\"url(#{id})\" d=\"{}\"/>",
            number(area.x),
            number(area.y),
            number((last - area.x).max(0.0)),
            number(area.height),
            timing(motion),
            path(steps)
        );
    }

    /// The attribute that keeps a mark within a rectangle.
    fn clip(&mut self, rect: Rect) -> String {
        let place = self.clips.iter().position(|other| *other == rect).unwrap_or_else(|| {
            self.clips.push(rect);
            let place = self.clips.len() - 1;
            let _ = writeln!(
                self.text,
                "<clipPath id=\"{}-c{place}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>",
                self.id,
                number(rect.x),
                number(rect.y),
                number(rect.width),
                number(rect.height)
            );
            place
        });
        format!(" clip-path=\"url(#{}-c{place})\"", self.id)
    }
}

/// Colours as a class, for the style sheet, and as attributes, for programs without style sheets.
fn attributes(pen: &Pen, layer: &str) -> String {
    let mut classes = Vec::new();
    let mut own = String::new();
    match pen.fill {
        Some(ink) => {
            classes.push(format!("f-{}", ink.name()));
            let _ = write!(own, " fill=\"{}\"", ink.colour(Theme::Light));
        }
        None => own.push_str(" fill=\"none\""),
    }
    if let Some(ink) = pen.stroke {
        classes.push(format!("s-{}", ink.name()));
        let _ =
            write!(own, " stroke=\"{}\" stroke-width=\"{}\"", ink.colour(Theme::Light), number(pen.width));
        if pen.width > 1.0 {
            own.push_str(" stroke-linecap=\"round\" stroke-linejoin=\"round\"");
        }
        let pattern = pen.dash.pattern();
        if !pattern.is_empty() {
            let pattern: Vec<String> = pattern.iter().map(|length| number(*length)).collect();
            let _ = write!(own, " stroke-dasharray=\"{}\"", pattern.join(" "));
        }
    }
    if pen.opacity < 1.0 {
        let _ = write!(own, " opacity=\"{}\"", number(pen.opacity));
    }
    format!(" class=\"{}{layer}\"{own}", classes.join(" "))
}

fn font(size: f64, bold: bool, anchor: Anchor) -> String {
    let weight = if bold { " font-weight=\"600\"" } else { "" };
    let anchor = match anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    format!(" font-size=\"{}\"{weight}{anchor}", number(size))
}

fn timing(motion: Option<&Motion>) -> String {
    let Some(motion) = motion else { return String::new() };
    let times = joined(motion.times.iter().map(|time| short(*time, 5)));
    format!(" keyTimes=\"{times}\" dur=\"{}s\" repeatCount=\"indefinite\"", number(motion.seconds))
}

fn joined(values: impl Iterator<Item = String>) -> String {
    values.collect::<Vec<_>>().join(";")
}

fn path(steps: &[Step]) -> String {
    let mut d = String::new();
    for step in steps {
        let _ = match step {
            Step::Move(x, y) => write!(d, "M{} {}", number(*x), number(*y)),
            Step::Line(x, y) => write!(d, "L{} {}", number(*x), number(*y)),
            Step::Close => write!(d, "Z"),
        };
    }
    d
}

/// The outline of a point.
fn outline(shape: Shape, x: f64, y: f64, r: f64) -> String {
    match shape {
        Shape::Circle | Shape::Ring => {
            let (r, d) = (number(r), number(2.0 * r));
            format!("M{} {}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0", number(x - r_of(&r)), number(y))
        }
        _ => path(&corners(shape, x, y, r)),
    }
}

fn r_of(text: &str) -> f64 {
    text.parse().unwrap_or(0.0)
}

/// The corners of a shape that has some.
pub(super) fn corners(shape: Shape, x: f64, y: f64, r: f64) -> Vec<Step> {
    let polygon = |points: &[(f64, f64)]| {
        let mut steps: Vec<Step> = Vec::with_capacity(points.len() + 1);
        for (k, (dx, dy)) in points.iter().enumerate() {
            let (x, y) = (x + r * dx, y + r * dy);
            steps.push(if k == 0 { Step::Move(x, y) } else { Step::Line(x, y) });
        }
        steps.push(Step::Close);
        steps
    };
    let strokes = |lines: [[f64; 4]; 2]| {
        lines
            .into_iter()
            .flat_map(|[a, b, c, d]| [Step::Move(x + r * a, y + r * b), Step::Line(x + r * c, y + r * d)])
            .collect()
    };
    match shape {
        Shape::Triangle => polygon(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
        Shape::Down => polygon(&[(0.0, 1.2), (-1.1, -0.8), (1.1, -0.8)]),
        Shape::Square => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        Shape::Diamond => polygon(&[(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)]),
        Shape::Plus => strokes([[-1.1, 0.0, 1.1, 0.0], [0.0, -1.1, 0.0, 1.1]]),
        Shape::Cross => strokes([[-1.0, -1.0, 1.0, 1.0], [-1.0, 1.0, 1.0, -1.0]]),
        Shape::Star => {
            let point = |k: usize| {
                let angle = std::f64::consts::PI * (k as f64 / 5.0 - 0.5);
                let length = if k.is_multiple_of(2) { 1.4 } else { 0.58 };
                (length * libm::cos(angle), length * libm::sin(angle))
            };
            polygon(&(0..10).map(point).collect::<Vec<_>>())
        }
        Shape::Circle | Shape::Ring => {
            let point = |k: usize| {
                let angle = std::f64::consts::TAU * k as f64 / 24.0;
                (libm::cos(angle), libm::sin(angle))
            };
            polygon(&(0..24).map(point).collect::<Vec<_>>())
        }
    }
}

/// A number with at most two decimals.
fn number(value: f64) -> String {
    short(value, 2)
}

fn short(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_string() } else { text.to_string() }
}

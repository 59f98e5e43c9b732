//! The parts of a page: headings, facts, tables, figures. Whatever comes from data is escaped here, and nowhere else written.

use crate::chart::{Figure, escaped, harmless};
use crate::job::Spec;
use crate::report::Block;
use std::fmt::Write;

/// How a front end spells settings and commands.
pub struct Spelling<'a> {
    /// A text of the library with its settings spelled, such as `--holdout`.
    pub text: &'a dyn Fn(&str) -> String,
    /// The command that runs a job; empty where there is none.
    pub command: &'a dyn Fn(&Spec) -> String,
}

/// A page while it is written.
pub(super) struct Page<'a> {
    body: String,
    spelling: &'a Spelling<'a>,
    sections: Vec<(&'static str, String)>,
    figures: usize,
}

impl<'a> Page<'a> {
    pub(super) fn new(spelling: &'a Spelling<'a>) -> Self {
        Self { body: String::new(), spelling, sections: Vec::new(), figures: 0 }
    }

    /// The text as the front end spells it, harmless in HTML.
    fn safe(&self, text: &str) -> String {
        escaped(&(self.spelling.text)(text))
    }

    /// The same for text that is wrapped: a number stays with its percent sign.
    fn flowing(&self, text: &str) -> String {
        self.safe(text).replace(" %", "\u{a0}%")
    }

    /// Begins a section that the list of contents names.
    pub(super) fn section(&mut self, id: &'static str, title: &str) {
        if !self.sections.is_empty() {
            self.body.push_str("</section>\n");
        }
        let title = self.safe(title);
        let _ = writeln!(self.body, "<section id=\"{id}\">\n<h2>{title}</h2>");
        self.sections.push((id, title));
    }

    pub(super) fn heading(&mut self, text: &str) {
        let text = self.safe(text);
        let _ = writeln!(self.body, "<h3>{text}</h3>");
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        let text = self.flowing(text);
        let _ = writeln!(self.body, "<p>{text}</p>");
    }

    pub(super) fn list(&mut self, class: &str, items: &[String]) {
        if items.is_empty() {
            return;
        }
        let _ = writeln!(self.body, "<ul class=\"{class}\">");
        for item in items {
            let item = self.flowing(item);
            let _ = writeln!(self.body, "<li>{item}</li>");
        }
        self.body.push_str("</ul>\n");
    }

    pub(super) fn facts(&mut self, facts: &[(&str, String)]) {
        self.body.push_str("<dl>\n");
        for (name, text) in facts {
            let (name, text) = (self.safe(name), self.flowing(text));
            let _ = writeln!(self.body, "<dt>{name}</dt><dd>{text}</dd>");
        }
        self.body.push_str("</dl>\n");
    }

    /// A table; the columns that `numbers` names are on the right.
    pub(super) fn table(&mut self, caption: &str, head: &[&str], numbers: &[usize], rows: &[Vec<String>]) {
        let class = |k: usize| if numbers.contains(&k) { " class=\"n\"" } else { "" };
        let caption = self.safe(caption);
        let _ =
            writeln!(self.body, "<div class=\"table\"><table>\n<caption>{caption}</caption>\n<thead><tr>");
        for (k, name) in head.iter().enumerate() {
            let _ = write!(self.body, "<th scope=\"col\"{}>{}</th>", class(k), escaped(name));
        }
        self.body.push_str("</tr></thead>\n<tbody>\n");
        for row in rows {
            self.body.push_str("<tr>");
            for (k, cell) in row.iter().enumerate() {
                let _ = write!(self.body, "<td{}>{}</td>", class(k), escaped(&harmless(cell)));
            }
            self.body.push_str("</tr>\n");
        }
        self.body.push_str("</tbody>\n</table></div>\n");
    }

    /// Lines that stand as they are.
    pub(super) fn lines(&mut self, text: &str) {
        let text = self.safe(text.trim_matches('\n'));
        let _ = writeln!(self.body, "<pre tabindex=\"0\">{text}</pre>");
    }

    /// Figures beside each other, where there is room.
    pub(super) fn figures(&mut self, figures: &[Figure]) {
        self.body.push_str("<div class=\"beside\">\n");
        figures.iter().for_each(|figure| self.figure(figure));
        self.body.push_str("</div>\n");
    }

    pub(super) fn figure(&mut self, figure: &Figure) {
        self.figures += 1;
        let element = figure.to_element(&self.figures.to_string());
        let class = if figure.is_wide() { " class=\"wide\"" } else { "" };
        let _ = writeln!(self.body, "<figure{class}>\n{element}</figure>");
    }

    /// The blocks of a report as the other commands print it. The time that it took is no finding.
    pub(super) fn blocks(&mut self, blocks: &[Block]) {
        let mut items: Vec<String> = Vec::new();
        for block in blocks {
            if !matches!(block, Block::Item(_)) {
                self.list("", &std::mem::take(&mut items));
            }
            match block {
                Block::Facts(facts) | Block::Details(facts) => {
                    let told: Vec<(&str, String)> = facts
                        .iter()
                        .filter(|(name, _)| *name != "Time")
                        .map(|(name, text)| (*name, text.clone()))
                        .collect();
                    self.facts(&told);
                }
                Block::Heading(text) => self.heading(text),
                Block::Paragraph { text, .. } => self.paragraph(text),
                Block::Item(text) => items.push(text.clone()),
                Block::Text(text) if text.trim().is_empty() => {}
                // One line is no table.
                Block::Text(text) if !text.trim().contains('\n') => self.paragraph(text.trim()),
                Block::Text(text) => self.lines(text),
                Block::Job(spec) => {
                    let command = (self.spelling.command)(spec);
                    if !command.is_empty() {
                        self.lines(&command);
                    }
                }
            }
        }
        self.list("", &items);
    }

    /// The whole page.
    pub(super) fn finish(self, title: &str, subtitle: &str) -> String {
        let contents: String = self
            .sections
            .iter()
            .map(|(id, title)| format!("<li><a href=\"#{id}\">{title}</a></li>\n"))
            .collect();
        let (title, subtitle) = (escaped(&harmless(title)), escaped(&harmless(subtitle)));
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <title>{title}</title>\n<style>{}{STYLE}</style>\n</head>\n<body class=\"ls\">\n<header>\n<h1>{title}</h1>\n\
             <p>{subtitle}</p>\n</header>\n<nav aria-label=\"Contents\"><ol>\n{contents}</ol></nav>\n<main>\n{}</section>\n</main>\n\
             </body>\n</html>\n",
            crate::chart::style(),
            self.body
        )
    }
}

/// The look of the page: one column, tables and figures that scroll on narrow screens, figures that are not torn apart in print.
const STYLE: &str = "\
:root{color-scheme:light dark}\
body{margin:0 auto;max-width:60rem;padding:1.5rem 1.25rem 4rem;background:var(--ls-paper);color:var(--ls-ink);\
font:16px/1.55 system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;overflow-wrap:anywhere}\
h1{font-size:1.9rem;line-height:1.2;margin:.5rem 0 .25rem}\
h2{font-size:1.35rem;margin:2.75rem 0 .75rem;padding-top:1rem;border-top:1px solid var(--ls-grid)}\
h3{font-size:1.05rem;margin:1.5rem 0 .5rem}\
header p{color:var(--ls-muted);margin:0}\
nav ol{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;padding:0;margin:1.25rem 0 0;list-style:none}\
a{color:var(--ls-c0)}\
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.35rem 1.25rem;margin:1rem 0}\
dt{font-weight:600}dd{margin:0}\
ul{padding-left:1.25rem}li{margin:.3rem 0}\
ul.short{list-style:none;padding:0;display:grid;gap:.6rem}\
ul.short li{margin:0;padding:.7rem 1rem;border-left:4px solid var(--ls-c0);background:color-mix(in srgb,var(--ls-c0) 8%,var(--ls-paper))}\
ul.warnings{list-style:none;padding:0;display:grid;gap:.6rem}\
ul.warnings li{margin:0;padding:.7rem 1rem;border-left:4px solid var(--ls-c1);background:color-mix(in srgb,var(--ls-c1) 9%,var(--ls-paper))}\
.table{overflow-x:auto}table{border-collapse:collapse;margin:1rem 0;min-width:60%}\
caption{text-align:left;color:var(--ls-muted);padding-bottom:.35rem}\
th,td{text-align:left;padding:.3rem 1rem .3rem 0;border-bottom:1px solid var(--ls-grid);vertical-align:top}\
th{font-weight:600}td:not(.n){max-width:min(24rem,45vw)}th,td{overflow-wrap:break-word}.n{text-align:right;font-variant-numeric:tabular-nums}td.n{white-space:nowrap}\
pre{overflow-x:auto;padding:.8rem 1rem;border:1px solid var(--ls-grid);font:13px/1.5 ui-monospace,'DejaVu Sans Mono',monospace}\
figure{margin:1.25rem 0}@media (min-width:56rem){.beside{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:0 1rem}}\
figure svg{max-width:100%;height:auto;display:block}\
@media (max-width:38rem){dl{grid-template-columns:minmax(0,1fr)}dt{margin-top:.5rem}}\
@media screen and (max-width:38rem){figure{overflow-x:auto}figure svg{max-width:none;width:36rem}table{font-size:.88rem}}\
@media print{body{max-width:none;padding:0;font-size:10.5pt}nav{display:none}h2,h3{break-after:avoid}\
h2+p,caption,thead,tbody tr:first-child{break-after:avoid}figure,tr,pre,ul.short li,ul.warnings li{break-inside:avoid}thead{display:table-header-group}\
figure svg{max-width:160mm;max-height:225mm;width:auto}.beside svg{max-width:115mm}figure.wide svg{max-width:100%}td:not(.n){max-width:90mm}pre{white-space:pre-wrap;overflow-wrap:anywhere}a{color:inherit;text-decoration:none}}";

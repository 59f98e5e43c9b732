//! A figure as a page of its own.

use super::figure::Figure;
use super::ink::{Ink, Theme, style};
use super::text::escaped;

impl Figure {
    /// The figure as an HTML page, without scripts and without anything from elsewhere.
    pub fn to_html(&self) -> String {
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>{}</title>\n<style>{}</style>\n</head>\n\
             <body class=\"ls\">\n<main>\n{}</main>\n</body>\n</html>\n",
            escaped(&self.title),
            page_style(),
            self.to_element("figure")
        )
    }
}

fn page_style() -> String {
    format!(
        "{}:root{{color-scheme:light dark}}body{{margin:0;background:var(--ls-paper,{})}}main{{max-width:{}px;margin:0 auto;\
         padding:1rem}}svg{{max-width:100%;height:auto;display:block}}@media print{{main{{padding:0}}}}",
        style(),
        Ink::Paper.colour(Theme::Light),
        1000
    )
}

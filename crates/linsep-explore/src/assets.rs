//! The files of the page, embedded.

use crate::server::App;
use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use std::sync::Arc;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// Each file with its path and type.
macro_rules! files {
    ($($path:literal: $kind:ident $name:literal,)*) => {
        const FILES: &[(&str, &str, &str)] = &[$(($path, $kind, include_str!(concat!("../page/", $name))),)*];
    };
}

files! {
    "/": HTML "index.html",
    "/icon.svg": SVG "icon.svg",
    "/style.css": CSS "style.css",
    "/main.js": SCRIPT "main.js",
    "/api.js": SCRIPT "api.js",
    "/compare.js": SCRIPT "compare.js",
    "/curves.js": SCRIPT "curves.js",
    "/data.js": SCRIPT "data.js",
    "/dom.js": SCRIPT "dom.js",
    "/edit.js": SCRIPT "edit.js",
    "/form.js": SCRIPT "form.js",
    "/learn.js": SCRIPT "learn.js",
    "/lesson.js": SCRIPT "lesson.js",
    "/pen.js": SCRIPT "pen.js",
    "/picture.js": SCRIPT "picture.js",
    "/player.js": SCRIPT "player.js",
    "/proof.js": SCRIPT "proof.js",
    "/reading.js": SCRIPT "reading.js",
    "/report.js": SCRIPT "report.js",
    "/separate.js": SCRIPT "separate.js",
    "/state.js": SCRIPT "state.js",
}

pub(crate) fn routes() -> Router<Arc<App>> {
    FILES.iter().fold(Router::new(), |router, &(path, kind, text)| {
        router.route(path, get(move || async move { ([(header::CONTENT_TYPE, kind)], text).into_response() }))
    })
}

//! `GET /api/v1/about`: what there is.

use super::answer;
use crate::data::Store;
use crate::server::App;
use crate::watch::worded;
use axum::extract::State;
use axum::response::Response;
use linsep::job::DEFAULT_LEARNER;
use linsep::read::FORMATS;
use linsep::settings::{learner_form, reading_form, settings_form};
use linsep::train::learners;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) async fn about(State(app): State<Arc<App>>) -> Response {
    let learners: Vec<Value> = learners().iter().map(|learner| learner_form(learner)).collect();
    let formats: Vec<Value> =
        FORMATS.iter().map(|format| json!({"name": format.name, "help": format.help})).collect();
    answer(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "learners": learners,
        "default_learner": worded(DEFAULT_LEARNER),
        "settings": shown(settings_form()),
        "reading": shown(reading_form()),
        "formats": formats,
        "data": Store::built_in(),
        "lessons": app.lessons,
        "first": { "data": app.first, "lesson": app.lesson },
        "limits": { "upload": super::data::MAX_UPLOAD, "drawn": crate::drawing::MAX_DRAWN },
    }))
}

/// The fields of a form, with other settings in their sentences named as the page names them.
fn shown(mut fields: Vec<Value>) -> Value {
    for field in &mut fields {
        for sentence in ["help", "default"] {
            field[sentence] = json!(worded(field[sentence].as_str().unwrap_or_default()));
        }
        for choice in field["values"].as_array_mut().into_iter().flatten() {
            choice["help"] = json!(worded(choice["help"].as_str().unwrap_or_default()));
        }
    }
    Value::from(fields)
}

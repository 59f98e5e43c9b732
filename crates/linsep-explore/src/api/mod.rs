//! The interface between the page and the jobs, version 1: `docs/explore.md` describes it.

mod about;
mod data;
mod results;
mod run;
mod stream;

use crate::server::App;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use std::sync::Arc;

/// The most bytes of a request that is no file.
const MAX_REQUEST: usize = 1 << 20;

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/api/v1/about", get(about::about))
        .route("/api/v1/data", post(data::add).layer(DefaultBodyLimit::disable()))
        .route("/api/v1/data/{id}", get(data::summary))
        .route("/api/v1/data/{id}/points", get(data::points))
        .route("/api/v1/data/{id}/file", get(data::file))
        .route("/api/v1/run", post(run::run))
        .route("/api/v1/results/{id}/{part}", get(results::part))
        .layer(DefaultBodyLimit::max(MAX_REQUEST))
}

/// The answer to a request for an unknown address.
pub(crate) async fn unknown() -> Failure {
    Failure::new(StatusCode::NOT_FOUND, "there is nothing here")
}

/// A request that cannot be answered: why, and what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    message: String,
    help: Option<String>,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), help: None }
    }

    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(crate) fn record(&self) -> Value {
        json!({ "error": { "message": self.message, "help": self.help } })
    }
}

impl From<linsep::Error> for Failure {
    fn from(error: linsep::Error) -> Self {
        let help = error.help().map(crate::watch::worded);
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, message: message_of(&error), help }
    }
}

/// The text of an error, with settings named as on the page.
fn message_of(error: &linsep::Error) -> String {
    match error {
        linsep::Error::Settings(error) => crate::watch::worded(&error.problem),
        linsep::Error::Located { place, error } => format!("{place}: {}", message_of(error)),
        error => crate::watch::worded(&error.to_string()),
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.status, JSON, self.record().to_string()).into_response()
    }
}

/// Headers of an answer in JSON.
const JSON: [(header::HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/json")];

/// An answer in JSON.
fn answer(value: &Value) -> Response {
    (JSON, value.to_string()).into_response()
}

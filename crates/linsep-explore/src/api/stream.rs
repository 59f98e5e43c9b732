//! Answers that come line by line while a job runs: each line is a JSON object. A page that goes away ends the job, because
//! then nobody takes the lines.

use super::Failure;
use crate::watch::Listener;
use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::Value;
use std::convert::Infallible;
use tokio::sync::mpsc::unbounded_channel;

/// Does the work in a thread of its own; what it sends goes to the page.
pub(super) fn streamed(work: impl FnOnce(&Listener) -> Value + Send + 'static) -> Response {
    let (sender, receiver) = unbounded_channel();
    let listener = Listener::new(sender);
    tokio::task::spawn_blocking(move || {
        let mut last = work(&listener);
        if let Some(reason) = listener.stopped() {
            last = Failure::new(StatusCode::INSUFFICIENT_STORAGE, reason).record();
        }
        listener.send(last);
    });
    let lines = stream::unfold(receiver, |mut receiver| async move {
        let line: Value = receiver.recv().await?;
        let bytes = Bytes::from(format!("{line}\n"));
        Some((Ok::<_, Infallible>(bytes), receiver))
    });
    ([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(lines)).into_response()
}

//! `GET /api/v1/results/ID/PART`: what can be drawn or saved of a job that is done.

use super::Failure;
use super::data::off_thread;
use crate::server::App;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use linsep::theory::trace::TracePoint;
use std::sync::Arc;

pub(super) async fn part(
    State(app): State<Arc<App>>,
    Path((id, part)): Path<(String, String)>,
) -> Result<Response, Failure> {
    off_thread(move || {
        let missing = |message: &str| Failure::new(StatusCode::NOT_FOUND, message);
        let kept = app
            .results
            .get(&id)
            .ok_or_else(|| missing("this result is no longer available: run it again"))?;
        let bytes = match part.as_str() {
            "drawing" => kept.drawing.clone(),
            "model" => {
                let model = kept.model.as_ref().ok_or_else(|| missing("this job has no model"))?;
                model.to_bytes().map_err(linsep::Error::from)?
            }
            "trace" => lines_of(kept.trace.as_ref().ok_or_else(|| missing("this job has no trace"))?),
            "certificate" => {
                kept.certificate.clone().ok_or_else(|| missing("this job has no certificate"))?.into_bytes()
            }
            "spec" => kept.spec.to_toml()?.into_bytes(),
            _ => return Err(missing("a result has drawing, model, trace, certificate and spec")),
        };
        let name = format!("inline; filename=\"{}\"", file_name(&kept.name, &part));
        let headers = [
            (header::CONTENT_TYPE, "application/octet-stream".to_string()),
            (header::CONTENT_DISPOSITION, name),
        ];
        Ok((headers, bytes).into_response())
    })
    .await
}

/// The trace as the command line writes it: JSON Lines.
fn lines_of(points: &[TracePoint]) -> Vec<u8> {
    let mut text = Vec::new();
    for point in points {
        // Numbers and texts can always be written.
        let _ = serde_json::to_writer(&mut text, point);
        text.push(b'\n');
    }
    text
}

/// What a part is called when it is saved, in letters that every header may hold.
fn file_name(name: &str, part: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
    let ending = match part {
        "certificate" => "cert",
        "trace" => "trace.jsonl",
        "spec" => "toml",
        other => other,
    };
    format!("{plain}.{ending}")
}

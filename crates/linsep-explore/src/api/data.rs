//! Data sets: sent by the page, shown, and given back as files.

use super::stream::streamed;
use super::{Failure, answer};
use crate::data::DataSet;
use crate::drawing::{Arrays, Drawn, Plane, Seen, sample};
use crate::jobs::wrong;
use crate::server::App;
use crate::watch::Watch;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use linsep::read::ReadOptions;
use linsep::settings::reading_form;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The most bytes of a file that a page sends.
pub(super) const MAX_UPLOAD: u64 = 1 << 30;
/// The longest name of a file.
const LONGEST_NAME: usize = 255;

/// How a file that is sent is to be read.
#[derive(Deserialize)]
pub(super) struct Sent {
    name: String,
    /// The options of reading, as JSON.
    options: Option<String>,
}

/// `POST /api/v1/data?name=NAME&options=JSON` with the bytes of a file.
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Query(sent): Query<Sent>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Failure> {
    let name = checked_name(&sent.name)?;
    let options: ReadOptions = match &sent.options {
        None => ReadOptions::default(),
        Some(text) => understood(text).map_err(Failure::bad)?,
    };
    if options.array.labels_file.is_some() {
        return Err(Failure::bad(
            "a page cannot name a file of this machine: labels belong into the file that is sent",
        ));
    }
    let told =
        headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if told.is_some_and(|told| told > MAX_UPLOAD) {
        return Err(too_large());
    }
    let _place = app.uploads.acquire().await.map_err(|_| Failure::bad("the server is ending"))?;
    let bytes = received(body, told).await?;
    drop(_place);
    let app = Arc::clone(&app);
    Ok(streamed(move |listener| match app.data.add(&name, bytes, options, &mut Watch::new(listener)) {
        Ok(set) => json!({ "data": set.summary() }),
        Err(error) => Failure::from(error).record(),
    }))
}

/// How to read a file, as the controls of the page say it. What is wrong is named by its control.
fn understood(text: &str) -> Result<ReadOptions, String> {
    let unclear = |error: serde_json::Error| format!("the reading options are invalid: {error}");
    let options: Value = serde_json::from_str(text).map_err(unclear)?;
    for field in reading_form() {
        let at: Vec<&str> = field["at"].as_str().unwrap_or_default().split('.').collect();
        let Some(value) = at.iter().try_fold(&options, |inner, name| inner.get(name)) else { continue };
        let alone = at.iter().rev().fold(value.clone(), |inner, &name| json!({ name: inner }));
        if let Err(error) = serde_json::from_value::<ReadOptions>(alone) {
            let label = field["label"].as_str().unwrap_or_default();
            return Err(wrong(label, value, &error));
        }
    }
    serde_json::from_value(options).map_err(unclear)
}

/// The bytes of a file as they arrive. Where its length is told they are put where they stay, so that the file is in memory once.
async fn received(body: Body, told: Option<u64>) -> Result<Arc<[u8]>, Failure> {
    let no_memory =
        || Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "there is not enough memory for this file");
    let broken = |error| Failure::bad(format!("the file did not arrive: {error}"));
    let mut parts = body.into_data_stream();
    let Some(length) = told.and_then(|told| usize::try_from(told).ok()) else {
        let mut bytes = Vec::new();
        while let Some(part) = parts.next().await {
            let part = part.map_err(broken)?;
            if bytes.len() as u64 + part.len() as u64 > MAX_UPLOAD {
                return Err(too_large());
            }
            bytes.try_reserve(part.len()).map_err(|_| no_memory())?;
            bytes.extend_from_slice(&part);
        }
        return Ok(bytes.into());
    };
    // Asked first, because making the bytes themselves cannot fail with an answer.
    Vec::<u8>::new().try_reserve_exact(length).map_err(|_| no_memory())?;
    let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, length).collect();
    let mut filled = 0;
    while let Some(part) = parts.next().await {
        let part = part.map_err(broken)?;
        let place = Arc::get_mut(&mut bytes).and_then(|bytes| bytes.get_mut(filled..filled + part.len()));
        place.ok_or_else(|| Failure::bad("the file is longer than its length says"))?.copy_from_slice(&part);
        filled += part.len();
    }
    if filled < length {
        return Err(Failure::bad("the file did not arrive: it ended early"));
    }
    Ok(bytes)
}

fn too_large() -> Failure {
    Failure::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!(
            "the file is larger than {} MB: name it on the command line, linsep explore FILE",
            MAX_UPLOAD >> 20
        ),
    )
}

/// A name is a name, and no path.
fn checked_name(name: &str) -> Result<String, Failure> {
    let plain = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain: String = plain.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect();
    if plain.is_empty() { Err(Failure::bad("the file has no name")) } else { Ok(plain) }
}

/// The set that a page names.
pub(super) fn named(app: &App, id: &str) -> Result<Arc<DataSet>, Failure> {
    match app.data.get(id) {
        Some(set) => Ok(set?),
        None => Err(Failure::new(
            StatusCode::NOT_FOUND,
            "this data is no longer open: choose the file again, or drop it on the page",
        )),
    }
}

/// `GET /api/v1/data/ID`
pub(super) async fn summary(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Response, Failure> {
    off_thread(move || Ok(answer(&named(&app, &id)?.summary()))).await
}

/// Which rows are drawn.
#[derive(Deserialize)]
pub(super) struct Which {
    /// The classes that are kept, as a JSON array; all if not said.
    only: Option<String>,
}

/// `GET /api/v1/data/ID/points`: the rows before anything was learned from them.
pub(super) async fn points(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Query(which): Query<Which>,
) -> Result<Response, Failure> {
    off_thread(move || {
        let set = named(&app, &id)?;
        let only: Vec<String> = match &which.only {
            None => Vec::new(),
            Some(text) => {
                serde_json::from_str(text).map_err(|error| Failure::bad(format!("only: {error}")))?
            }
        };
        let (schema, data) = set.settled();
        let rows = crate::jobs::rows_of(data, &only);
        let seen = Seen::as_read(data, &rows);
        let classes: Vec<&String> =
            data.classes().iter().filter(|class| only.is_empty() || only.contains(class)).collect();
        let place = |i: usize| {
            classes
                .iter()
                .position(|class| **class == data.classes()[data.labels()[rows[i] as usize] as usize])
        };
        let last = classes.len().saturating_sub(1);
        let signs: Vec<i8> = (0..rows.len()).map(|i| if place(i) == Some(last) { 1 } else { -1 }).collect();
        let plane = Plane::of(&seen, None, &signs);
        let drawn = sample(rows.len(), []);
        let mut arrays = Arrays::default();
        let outcomes = classes.iter().map(|class| class.to_string()).collect();
        let rows_drawn = Drawn { seen: &seen, plane: &plane, which: &drawn, schema, outcomes };
        rows_drawn.put(&mut arrays, |i| place(i).unwrap_or(0));
        Ok(([(header::CONTENT_TYPE, "application/octet-stream")], arrays.into_bytes()).into_response())
    })
    .await
}

/// `GET /api/v1/data/ID/file`
pub(super) async fn file(State(app): State<Arc<App>>, Path(id): Path<String>) -> Result<Response, Failure> {
    let set = named(&app, &id)?;
    match set.file() {
        Some(bytes) => Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response()),
        None => {
            Err(Failure::new(StatusCode::NOT_FOUND, "this is the file that was named on the command line"))
        }
    }
}

/// Does short work that computes away from the thread that answers requests.
pub(super) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(_) => Err(Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "the work ended without an answer")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_option_is_named_by_its_control() {
        for (options, label) in [
            (r#"{"csv": {"delimiter": "ab"}, "max_classes": 7}"#, "“delimiter”"),
            (r#"{"csv": {"label": "y"}, "text": {"min_count": "many"}}"#, "“rows that have a term”"),
            (r#"{"max_features": "x"}"#, "“most features”"),
            (r#"{"text": {"ngrams": "3-1"}}"#, "“neighbours in a term”"),
            (r#"{"csv": {"columns": {"zip": "wurds"}}}"#, "“what columns hold”"),
        ] {
            let error = understood(options).unwrap_err();
            assert!(error.contains(label), "{error}");
            assert!(!error.contains("line 1") && !error.contains("column 9"), "{error}");
            assert!(!["u32", "u64", "usize"].iter().any(|kind| error.contains(kind)), "{error}");
        }
        assert!(understood(r#"{"csv": {"label": "y"}, "skip_bad": true}"#).is_ok());
    }
}

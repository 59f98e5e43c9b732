//! `POST /api/v1/run`: the specification of a job in, lines about its progress and its record out.

use super::Failure;
use super::data::named;
use super::stream::streamed;
use crate::jobs;
use crate::server::App;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// How much of a job is drawn.
#[derive(Deserialize)]
pub(super) struct Drawn {
    /// Whether the way to the result is drawn too, which takes runs of its own.
    #[serde(default = "usually")]
    history: bool,
}

fn usually() -> bool {
    true
}

pub(super) async fn run(
    State(app): State<Arc<App>>,
    Query(drawn): Query<Drawn>,
    body: Bytes,
) -> Result<Response, Failure> {
    let value: Value = serde_json::from_slice(&body)
        .map_err(|error| Failure::bad(format!("the job is not JSON: {error}")))?;
    let (spec, id) = jobs::parse(value).map_err(Failure::bad)?;
    let job = {
        let app = Arc::clone(&app);
        super::data::off_thread(move || named(&app, &id)).await?
    };
    let runtime = tokio::runtime::Handle::current();
    Ok(streamed(move |listener| {
        // Waits here, in the thread of the job: the page hears of it by hearing nothing yet.
        let place = runtime.block_on(app.jobs.acquire());
        if place.is_err() || listener.is_gone() {
            return Value::Null;
        }
        match jobs::run(&app, &job, spec, drawn.history, listener) {
            Ok((result, kept)) => {
                app.results.keep(kept);
                json!({ "result": result })
            }
            Err(error) => Failure::from(error).record(),
        }
    }))
}

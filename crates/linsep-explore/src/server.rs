//! The server: it listens on the loopback interface, and ends when it is asked to.

use crate::data::Store;
use crate::guard::{Guard, guard};
use crate::lesson::{Lesson, included};
use crate::results::Results;
use crate::{Start, api, assets};
use axum::Router;
use linsep::job::Spec;
use linsep::observe::Observer;
use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// The state that all requests share.
pub(crate) struct App {
    pub(crate) guard: Guard,
    pub(crate) data: Store,
    pub(crate) results: Results,
    pub(crate) lessons: Vec<Lesson>,
    /// The data that the page opens, by its id.
    pub(crate) first: Option<String>,
    /// The lesson that the page opens, by its place in the list.
    pub(crate) lesson: Option<usize>,
    pub(crate) command: fn(&Spec) -> String,
    /// Jobs that run at once; others wait.
    pub(crate) jobs: Semaphore,
    /// Files that are received at once.
    pub(crate) uploads: Semaphore,
}

/// Why there is no server.
#[derive(Debug)]
pub enum ServeError {
    /// The port cannot be listened on.
    Port(Option<u16>, io::Error),
    /// The system gave no server, no threads or no random numbers.
    System(io::Error),
    /// The data cannot be read.
    Data(linsep::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::Port(Some(port), error) if error.kind() == io::ErrorKind::AddrInUse => {
                write!(
                    f,
                    "port {port} is in use by another program: choose another with --port, or leave it out for a free one"
                )
            }
            ServeError::Port(Some(port), error) => write!(f, "cannot listen on port {port}: {error}"),
            ServeError::Port(None, error) => write!(f, "cannot listen on 127.0.0.1: {error}"),
            ServeError::System(error) => write!(f, "cannot start the server: {error}"),
            ServeError::Data(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ServeError::Data(error) => Some(error),
            _ => None,
        }
    }
}

/// How often the server asks whether it is to end.
const PAUSE: Duration = Duration::from_millis(50);
/// How long jobs that were called off may take to notice.
const GRACE: Duration = Duration::from_millis(1500);

/// Serves the page until `stop` says so. `ready` hears the address to open.
pub fn serve(
    start: Start,
    observer: &mut dyn Observer,
    ready: impl FnOnce(&str),
    stop: impl Fn() -> bool,
) -> Result<(), ServeError> {
    let system = ServeError::System;
    // One thread answers all requests: they are short, and jobs have threads of their own.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(system)?;
    let port = start.port;
    let listener = runtime
        .block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))))
        .map_err(|error| ServeError::Port(port, error))?;
    let address = listener.local_addr().map_err(system)?;
    let guard = Guard::new(address.port()).map_err(|error| system(io::Error::other(error)))?;
    let open = guard.address();
    let data = Store::new(start.embedded);
    let first = start
        .data
        .map(|named| data.add_named(named, start.row_weights, observer))
        .transpose()
        .map_err(ServeError::Data)?;
    let mut lessons = included();
    let lesson = start.lesson.map(|lesson| {
        lessons.push(lesson);
        lessons.len() - 1
    });
    let app = Arc::new(App {
        guard,
        data,
        results: Results::default(),
        lessons,
        first: first.map(|set| set.id.clone()),
        lesson,
        command: start.command,
        jobs: Semaphore::new(8),
        uploads: Semaphore::new(4),
    });
    ready(&open);
    runtime
        .block_on(async {
            let until = async {
                while !stop() {
                    tokio::time::sleep(PAUSE).await;
                }
            };
            // Dropping the connections calls off the jobs of their pages.
            tokio::select! {
                served = async { axum::serve(listener, router(app)).await } => served,
                () = until => Ok(()),
            }
        })
        .map_err(system)?;
    runtime.shutdown_timeout(GRACE);
    Ok(())
}

fn router(app: Arc<App>) -> Router {
    let guarded = axum::middleware::from_fn_with_state(Arc::clone(&app), guard);
    assets::routes().merge(api::routes()).fallback(api::unknown).layer(guarded).with_state(app)
}

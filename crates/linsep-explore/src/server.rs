//! The server: it listens on the loopback interface, and ends when it is asked to.

use crate::data::Store;
use crate::guard::{Guard, guard};
use crate::lesson::{Lesson, included};
use crate::results::Results;
use crate::{Start, api, assets};
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
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
    /// How long a request may take to name itself, and its body to arrive, part by part.
    pub(crate) patience: Duration,
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

/// How long is waited for a request.
const PATIENCE: Duration = Duration::from_secs(20);
/// Connections at once. A page has six; one that waits costs little.
const MAX_CONNECTIONS: usize = 256;

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
        patience: PATIENCE,
    });
    ready(&open);
    runtime.block_on(async {
        let until = async {
            while !stop() {
                tokio::time::sleep(PAUSE).await;
            }
        };
        tokio::select! {
            () = answer(listener, app) => {},
            () = until => {},
        }
    });
    // Dropping the connections calls off the jobs of their pages.
    runtime.shutdown_timeout(GRACE);
    Ok(())
}

/// Answers whoever connects. A connection whose request does not come in time is closed.
async fn answer(listener: TcpListener, app: Arc<App>) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(app.patience);
    let service = TowerToHyperService::new(router(app));
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let place = Arc::clone(&places).acquire_owned().await;
        let Ok((stream, _)) = listener.accept().await else {
            // The one who asked is gone, or the system has no room for it just now.
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let connection = http.serve_connection(TokioIo::new(stream), service.clone());
        tokio::spawn(async move {
            // A connection that fails is one that ended.
            let _ = connection.await;
            drop(place);
        });
    }
}

fn router(app: Arc<App>) -> Router {
    let guarded = axum::middleware::from_fn_with_state(Arc::clone(&app), guard);
    assets::routes().merge(api::routes()).fallback(api::unknown).layer(guarded).with_state(app)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpStream};

    /// A server of little patience, which ends with the tests.
    struct Running {
        address: SocketAddr,
        token: String,
    }

    fn running() -> Running {
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap();
            let address = listener.local_addr().unwrap();
            let guard = Guard::new(address.port()).unwrap();
            let token = guard.address().rsplit('=').next().unwrap().to_string();
            tell.send(Running { address, token }).unwrap();
            let app = Arc::new(App {
                guard,
                data: Store::new(Vec::new()),
                results: Results::default(),
                lessons: Vec::new(),
                first: None,
                lesson: None,
                command: |_| String::new(),
                jobs: Semaphore::new(1),
                uploads: Semaphore::new(4),
                patience: Duration::from_millis(300),
            });
            runtime.block_on(answer(listener, app));
        });
        told.recv().unwrap()
    }

    impl Running {
        /// Sends a text, to which the answer is not awaited.
        fn send(&self, text: &str) -> TcpStream {
            let mut stream = TcpStream::connect(self.address).unwrap();
            // Longer than any answer takes: a server that never closes fails the test instead of stopping it.
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            stream.write_all(text.as_bytes()).unwrap();
            stream
        }

        /// A request with these headers and a body, of which some is sent.
        fn upload(&self, body: &str, length: usize) -> TcpStream {
            let Self { address, token } = self;
            self.send(&format!(
                "POST /api/v1/data?name=rows.csv HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nContent-Length: \
                 {length}\r\nConnection: close\r\n\r\n{body}"
            ))
        }
    }

    fn rest(mut stream: TcpStream) -> String {
        let mut text = Vec::new();
        stream.read_to_end(&mut text).expect("the server closes the connection");
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_request_that_does_not_come_is_no_longer_awaited() {
        let server = running();
        for half in ["", "GET / HT", "GET / HTTP/1.1\r\nHost: 127.0.0.1"] {
            let answer = rest(server.send(half));
            assert!(!answer.starts_with("HTTP/1.1 2"), "{half:?}: {answer}");
        }
    }

    #[test]
    fn stalled_files_give_their_places_back() {
        let server = running();
        let rows = "x,kind\n1,a\n2,b\n";
        let stalled: Vec<TcpStream> = (0..6).map(|_| server.upload(rows, 1000)).collect();
        let answer = rest(server.upload(rows, rows.len()));
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"data\""), "{answer}");
        for stream in stalled {
            let answer = rest(stream);
            assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
            assert!(answer.contains("the file did not arrive") && answer.contains("too slowly"), "{answer}");
        }
    }

    #[test]
    fn a_request_names_its_host_once() {
        let server = running();
        let host = format!("Host: {}\r\n", server.address);
        for (request, status) in [
            (format!("GET / HTTP/1.1\r\n{host}"), "200"),
            (format!("GET / HTTP/1.1\r\n{host}{host}"), "400"),
            (format!("GET http://evil.example/ HTTP/1.1\r\n{host}"), "400"),
            (format!("GET http://{}/ HTTP/1.1\r\n{host}", server.address), "400"),
            ("GET / HTTP/1.1\r\n".to_string(), "403"),
        ] {
            let answer = rest(server.send(&format!("{request}Connection: close\r\n\r\n")));
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{request}{answer}");
        }
    }
}

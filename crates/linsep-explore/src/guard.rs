//! Who may ask: the browser of the user, at the address that was opened, and nobody else.
//!
//! The server listens on the loopback interface only. That keeps out other machines, but not pages of other sites in the same
//! browser. A page that has its own name point to 127.0.0.1 is known by its Host; one that posts across sites by its Origin
//! and by what the browser says of the request; and neither knows the token, which every request of the interface carries in
//! a header, where a browser never puts it by itself.

use crate::api::Failure;
use crate::server::App;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The sources that the page may load: its own files, and pictures that it makes itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEADERS: &[(&str, &str)] = &[
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    // The address holds the token.
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-embedder-policy", "require-corp"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), usb=()"),
];

/// The names by which the server is reached, with its port.
#[derive(Debug)]
pub(crate) struct Guard {
    hosts: [String; 2],
    token: String,
}

impl Guard {
    pub(crate) fn new(port: u16) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes)?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")], token })
    }

    /// The address to open.
    pub(crate) fn address(&self) -> String {
        format!("http://{}/?token={}", self.hosts[0], self.token)
    }

    /// Why a request is refused, if it is.
    fn refusal(&self, uri: &Uri, headers: &HeaderMap) -> Option<Failure> {
        let refuse = |message: &str| Some(Failure::new(StatusCode::FORBIDDEN, message));
        // Two answers to the question who is asked: no browser gives them, and others may believe the other one.
        if uri.scheme().is_some()
            || uri.authority().is_some()
            || headers.get_all(header::HOST).iter().count() > 1
        {
            return Some(Failure::bad("a request names its host once, in one header, and its path alone"));
        }
        let path = uri.path();
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        if !self.hosts.iter().any(|own| own == host) {
            return refuse("this server answers to 127.0.0.1 and localhost only");
        }
        if let Some(origin) = headers.get(header::ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            if origin.strip_prefix("http://") != Some(host) {
                return refuse("this server answers to its own page only");
            }
        }
        // Browsers say where a request comes from; a page that was opened by hand or from a link list comes from nowhere.
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        let is_page = !path.starts_with("/api/");
        if site.is_some_and(|site| site != b"same-origin" && !(is_page && site == b"none"))
            && !is_navigation(headers, is_page)
        {
            return refuse("this server answers to its own page only");
        }
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        if !is_page && !same(given, &self.token) {
            return Some(Failure::new(
                StatusCode::UNAUTHORIZED,
                "this page lacks the token: open the address that linsep explore printed",
            ));
        }
        None
    }
}

/// Whether a person opens the page itself, by a link from elsewhere.
fn is_navigation(headers: &HeaderMap, is_page: bool) -> bool {
    is_page && headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate")
}

/// Compares in a time that does not tell how much is right.
fn same(given: &str, wanted: &str) -> bool {
    given.len() == wanted.len()
        && given.bytes().zip(wanted.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

/// Refuses, or lets the request through; every answer carries the headers.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let refusal = app.guard.refusal(request.uri(), request.headers());
    let mut response = match refusal {
        Some(failure) => failure.into_response(),
        None => next.run(request.map(|body| patient(body, app.patience))).await,
    };
    let headers = response.headers_mut();
    for &(name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

/// The fewest bytes of a body that arrive while the server is patient.
const LEAST_BYTES: usize = 1 << 14;

/// The body of a request, which fails where less of it arrives than that: whoever waits for it has a place that others wait for.
fn patient(body: Body, patience: Duration) -> Body {
    let window = move || (Instant::now() + patience, 0);
    let arriving = (body.into_data_stream(), window());
    Body::from_stream(stream::unfold(Some(arriving), move |arriving| async move {
        let (mut parts, (until, mut bytes)) = arriving?;
        let Ok(part) = timeout_at(until, parts.next()).await else {
            let problem = format!("it came too slowly: {bytes} bytes in {} seconds", patience.as_secs_f64());
            return Some((Err(io::Error::new(io::ErrorKind::TimedOut, problem)), None));
        };
        match part? {
            Ok(part) => {
                bytes += part.len();
                let now = if bytes < LEAST_BYTES { (until, bytes) } else { window() };
                Some((Ok(part), Some((parts, now))))
            }
            Err(error) => Some((Err(io::Error::other(error)), None)),
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(guard: &Guard, path: &'static str, headers: &[(&'static str, &str)]) -> Option<StatusCode> {
        let mut named = HeaderMap::new();
        for &(name, value) in headers {
            named.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        guard.refusal(&Uri::from_static(path), &named).map(|failure| failure.status)
    }

    #[test]
    fn only_the_page_itself_is_answered() {
        let guard = Guard::new(4000).unwrap();
        let bearer = format!("Bearer {}", guard.token);
        let own = ("host", "127.0.0.1:4000");
        let token = ("authorization", bearer.as_str());
        assert_eq!(asks(&guard, "/", &[own]), None);
        assert_eq!(asks(&guard, "/api/v1/about", &[own, token]), None);
        assert_eq!(asks(&guard, "/api/v1/about", &[("host", "localhost:4000"), token]), None);
        let forbidden = Some(StatusCode::FORBIDDEN);
        for host in ["", "evil.example:4000", "127.0.0.1:4001", "127.0.0.1", "127.0.0.1:4000.evil.example"] {
            assert_eq!(asks(&guard, "/", &[("host", host)]), forbidden, "{host}");
        }
        for origin in [
            "http://evil.example",
            "null",
            "https://127.0.0.1:4000",
            "http://localhost:4000",
            "http://127.0.0.1:40000",
        ] {
            assert_eq!(
                asks(&guard, "/api/v1/about", &[own, token, ("origin", origin)]),
                forbidden,
                "{origin}"
            );
        }
        assert_eq!(asks(&guard, "/api/v1/about", &[own, token, ("origin", "http://127.0.0.1:4000")]), None);
        for site in ["cross-site", "same-site", "none"] {
            assert_eq!(
                asks(&guard, "/api/v1/about", &[own, token, ("sec-fetch-site", site)]),
                forbidden,
                "{site}"
            );
        }
        assert_eq!(asks(&guard, "/main.js", &[own, ("sec-fetch-site", "cross-site")]), forbidden);
        assert_eq!(
            asks(&guard, "/", &[own, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]),
            None
        );
        let unauthorised = Some(StatusCode::UNAUTHORIZED);
        assert_eq!(asks(&guard, "/api/v1/about", &[own]), unauthorised);
        assert_eq!(asks(&guard, "/api/v1/about", &[own, ("authorization", "Bearer ")]), unauthorised);
        let longer = format!("{bearer}0");
        assert_eq!(asks(&guard, "/api/v1/about", &[own, ("authorization", &longer)]), unauthorised);
    }

    #[test]
    fn a_host_is_named_once() {
        let guard = Guard::new(4000).unwrap();
        let own = ("host", "127.0.0.1:4000");
        let bad = Some(StatusCode::BAD_REQUEST);
        assert_eq!(asks(&guard, "/", &[own, own]), bad);
        assert_eq!(asks(&guard, "/", &[own, ("host", "evil.example")]), bad);
        assert_eq!(asks(&guard, "http://evil.example/", &[own]), bad);
        assert_eq!(asks(&guard, "http://127.0.0.1:4000/", &[own]), bad);
        assert_eq!(asks(&guard, "127.0.0.1:4000", &[own]), bad);
    }

    #[test]
    fn tokens_differ() {
        assert_ne!(Guard::new(1).unwrap().token, Guard::new(1).unwrap().token);
        assert!(Guard::new(4000).unwrap().address().starts_with("http://127.0.0.1:4000/?token="));
    }
}

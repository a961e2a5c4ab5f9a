//! The client's end, for commands: one connection, blocking.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::{Request as HttpRequest, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use tokio::net::UnixStream;
use tokio::runtime::Runtime;

use crate::api::failure::{Failure, NOT_KNOWN};
use crate::api::request::{Request, SessionRequest};

/// How long a daemon may take to answer at all before it counts as stuck (DESIGN.md 8).
const PATIENCE: Duration = Duration::from_secs(5);
/// After so long without an answer it is asked whether the daemon is alive.
const DOUBT: Duration = Duration::from_secs(1);
/// How long an answer may take of a daemon that is known to be alive.
const LONG_PATIENCE: Duration = Duration::from_mins(1);

/// A connection to a daemon.
pub struct Client {
    runtime: Runtime,
    sender: http1::SendRequest<Full<Bytes>>,
    socket: PathBuf,
}

impl Client {
    /// Connects. An error of the kinds `NotFound` and `ConnectionRefused` says that nobody listens.
    pub fn connect(socket: &Path) -> io::Result<Self> {
        // Mostly nobody listens, and that is known without a runtime.
        socket.symlink_metadata()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let sender = runtime.block_on(connect(socket))?;
        Ok(Self { runtime, sender, socket: socket.to_owned() })
    }

    /// Whether the daemon answers within 5 s.
    pub fn check(&mut self) -> Result<(), Failure> {
        // Nothing else has been said yet: whoever finds that it ends may ask the next one.
        self.exchange::<IgnoredAny>("GET", "/healthz", String::new(), Lost::Harmless, PATIENCE).map(drop)
    }

    /// Sends a request, and returns its answer or its failure. A daemon that does not answer at all is not even sent
    /// what changes anything: what was reported as failed must not be done a minute later.
    pub fn call(&mut self, request: &Request) -> Result<Value, Failure> {
        self.call_for(request)
    }

    /// The same, with the answer read as what it is.
    pub fn call_for<T: DeserializeOwned>(&mut self, request: &Request) -> Result<T, Failure> {
        let body = serde_json::to_string(request).map_err(|error| Failure::failed(format!("the request: {error}")))?;
        if request.only_asks() {
            return self.ask("/api/requests", body);
        }
        self.check()?;
        self.exchange("POST", "/api/requests", body, Lost::Uncertain, LONG_PATIENCE)
    }

    /// An exchange of which whether the daemon is alive is asked, beside it, only when it takes long.
    fn ask<T: DeserializeOwned>(&mut self, path: &str, body: String) -> Result<T, Failure> {
        let request = self.request("POST", path, body)?;
        let socket = self.socket.clone();
        let Self { runtime, sender, .. } = self;
        runtime.block_on(async {
            let answer = async {
                let response = send(sender, &socket, request, Lost::Harmless).await?;
                read(&socket, response, Lost::Harmless).await
            };
            tokio::pin!(answer);
            if let Ok(answer) = tokio::time::timeout(DOUBT, &mut answer).await {
                return answer;
            }
            let another = async {
                let mut sender = connect(&socket).await.map_err(|error| gone(&socket, &error, Lost::Harmless))?;
                let request = request_of(&socket, "GET", "/healthz", String::new())?;
                send(&mut sender, &socket, request, Lost::Harmless).await.map(drop)
            };
            let left = PATIENCE.saturating_sub(DOUBT);
            tokio::time::timeout(left, another).await.unwrap_or_else(|_| Err(silent(&socket, PATIENCE)))?;
            let left = LONG_PATIENCE.saturating_sub(DOUBT);
            tokio::time::timeout(left, answer).await.unwrap_or_else(|_| Err(silent(&socket, LONG_PATIENCE)))
        })
    }

    /// Asks the daemon to end; returns its answer. The same holds.
    pub fn stop(&mut self) -> Result<Value, Failure> {
        self.check()?;
        self.exchange("POST", "/api/stop", String::new(), Lost::Harmless, PATIENCE)
    }

    /// Streams the history from `after` on, a JSON text a record, until `line` returns false or the daemon ends.
    pub fn follow(&mut self, after: i64, ticket: Option<&str>, line: impl FnMut(&str) -> bool) -> Result<(), Failure> {
        let ticket = ticket.map(|id| format!("&ticket={}", encode(id))).unwrap_or_default();
        let request = self.request("GET", &format!("/api/events?after={after}{ticket}"), String::new())?;
        self.stream(request, Lost::Harmless, line).map(drop)
    }

    /// Registers a session and streams its kicks, a JSON text each, until `line` returns false, the session is gone or
    /// the daemon ends: then it says false.
    pub fn watch(&mut self, session: &SessionRequest, line: impl FnMut(&str) -> bool) -> Result<bool, Failure> {
        self.check()?;
        let body = serde_json::to_string(session).map_err(|error| Failure::failed(format!("the request: {error}")))?;
        let request = self.request("POST", "/api/orchestrator/watch", body)?;
        self.stream(request, Lost::Uncertain, line)
    }

    /// False where it broke off.
    fn stream(
        &mut self,
        request: HttpRequest<Full<Bytes>>,
        lost: Lost,
        mut line: impl FnMut(&str) -> bool,
    ) -> Result<bool, Failure> {
        let socket = self.socket.clone();
        let Self { runtime, sender, .. } = self;
        runtime.block_on(async {
            let mut response = send(sender, &socket, request, lost).await?;
            if response.status() != StatusCode::OK {
                return read::<IgnoredAny>(&socket, response, lost).await.map(|_| true);
            }
            let mut rest: Vec<u8> = Vec::new();
            while let Some(frame) = response.body_mut().frame().await {
                // A daemon that ends breaks the stream off.
                let Ok(frame) = frame else { return Ok(false) };
                let Some(data) = frame.data_ref() else { continue };
                rest.extend_from_slice(data);
                while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                    let text = String::from_utf8_lossy(&rest.drain(..=end).collect::<Vec<_>>()).into_owned();
                    if let Some(json) = text.strip_prefix("data: ")
                        && !line(json.trim_end())
                    {
                        return Ok(true);
                    }
                }
            }
            Ok(true)
        })
    }

    fn request(&self, method: &str, path: &str, body: String) -> Result<HttpRequest<Full<Bytes>>, Failure> {
        request_of(&self.socket, method, path, body)
    }

    fn exchange<T: DeserializeOwned>(
        &mut self,
        method: &str,
        path: &str,
        body: String,
        lost: Lost,
        patience: Duration,
    ) -> Result<T, Failure> {
        let request = self.request(method, path, body)?;
        let socket = self.socket.clone();
        let Self { runtime, sender, .. } = self;
        runtime.block_on(async {
            let answered = tokio::time::timeout(patience, async {
                let response = send(sender, &socket, request, lost).await?;
                read(&socket, response, lost).await
            });
            answered.await.unwrap_or_else(|_| Err(silent(&socket, patience)))
        })
    }
}

/// What it means that an answer got lost.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lost {
    /// Nothing: it may be asked again.
    Harmless,
    /// Nobody knows whether it was carried out.
    Uncertain,
}

async fn connect(socket: &Path) -> io::Result<http1::SendRequest<Full<Bytes>>> {
    let stream = tokio::time::timeout(PATIENCE, UnixStream::connect(socket)).await??;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(connection);
    Ok(sender)
}

fn request_of(socket: &Path, method: &str, path: &str, body: String) -> Result<HttpRequest<Full<Bytes>>, Failure> {
    HttpRequest::builder()
        .method(method)
        .uri(path)
        .header("host", "yoi")
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(body)))
        .map_err(|error| Failure::failed(format!("{}: {error}", socket.display())))
}

fn silent(socket: &Path, patience: Duration) -> Failure {
    let seconds = patience.as_secs();
    Failure::failed(format!("{}: the daemon did not answer within {seconds} s", socket.display()))
        .hint("`yoi logs` may say what keeps it; if nothing does, end its process: `yoi down` cannot")
}

/// One request after another on the same connection: the next is sent when the last answer has been taken.
async fn send(
    sender: &mut http1::SendRequest<Full<Bytes>>,
    socket: &Path,
    request: HttpRequest<Full<Bytes>>,
    lost: Lost,
) -> Result<Response<Incoming>, Failure> {
    sender.ready().await.map_err(|error| gone(socket, &error, Lost::Harmless))?;
    sender.send_request(request).await.map_err(|error| {
        // Given back by the library: not a byte of it has left.
        let lost = if error.is_canceled() { Lost::Harmless } else { lost };
        gone(socket, &error, lost)
    })
}

async fn read<T: DeserializeOwned>(socket: &Path, response: Response<Incoming>, lost: Lost) -> Result<T, Failure> {
    let status = response.status();
    let body = response.into_body().collect().await.map_err(|error| gone(socket, &error, lost))?.to_bytes();
    if status == StatusCode::OK {
        let strange = |error| {
            let message = format!("{}: the answer is not what this yoi expects: {error}", socket.display());
            Failure::failed(message).hint("is the daemon of another version? restart it with `yoi down` and `yoi up`")
        };
        return serde_json::from_slice(&body).map_err(strange);
    }
    Err(serde_json::from_slice::<Failure>(&body).unwrap_or_else(|_| {
        let text = String::from_utf8_lossy(&body);
        Failure::failed(format!("the daemon answered {status}: {text}"))
            .hint("is the daemon of another version? restart it with `yoi down` and `yoi up`")
    }))
}

fn gone(socket: &Path, error: &dyn std::fmt::Display, lost: Lost) -> Failure {
    let failure = Failure::failed(format!("{}: the daemon ended before it answered ({error})", socket.display()));
    match lost {
        Lost::Harmless => Failure { passing: true, ..failure },
        Lost::Uncertain => failure.hint(NOT_KNOWN),
    }
}

/// Percent-encodes what is not plainly safe in a query.
fn encode(text: &str) -> String {
    use std::fmt::Write;
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

//! Who is let in at the socket: so many at once, each for as long as it has something to say.
//!
//! Must not know: any request; how many is many (`domain::doors`).

use std::convert::Infallible;
use std::future::ready;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep, timeout};

use super::answer::refusal;
use super::answering::Answering;
use crate::api::failure::Failure;
use crate::domain::doors::{Doors, REFUSALS, REFUSED, UNREAD};
use crate::ports::{self, Traffic};

/// The largest request.
const LARGEST: usize = 2 << 20;
/// How long to wait where nobody can be let in, for want of files that may be open.
const PAUSE: Duration = Duration::from_secs(1);

/// The door of one socket.
pub struct Door {
    socket: PathBuf,
    doors: Doors,
    /// Places, and as many more as may be told that there is none.
    entrances: Arc<Semaphore>,
    places: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    /// How long an answer may be left unread.
    unread: Duration,
    refused: AtomicU64,
    let_go: AtomicU64,
    trouble: Mutex<Option<String>>,
    answering: Arc<Answering>,
}

/// One connection, as its requests see it.
#[derive(Clone)]
pub(super) struct Guest {
    door: Arc<Door>,
    /// It lasts for as long as its client likes, and may read when it likes.
    lasting: Arc<AtomicBool>,
}

impl Door {
    /// Of a socket, in a process that may have so many files open.
    pub fn new(socket: PathBuf, descriptors: Option<u64>) -> Self {
        let doors = Doors::of(descriptors);
        let places = |number: usize| Arc::new(Semaphore::new(number));
        Self {
            socket,
            doors,
            entrances: places(doors.most + REFUSALS),
            places: places(doors.most),
            streams: places(doors.most_streams),
            unread: UNREAD,
            refused: AtomicU64::new(0),
            let_go: AtomicU64::new(0),
            trouble: Mutex::new(None),
            answering: Arc::default(),
        }
    }

    /// The answers that are on their way.
    pub fn answering(&self) -> &Answering {
        &self.answering
    }

    /// Lets in whoever comes, for ever.
    pub(super) async fn admit(self: Arc<Self>, listener: UnixListener, router: Router) -> Infallible {
        loop {
            // Who can neither be served nor told so waits outside: there it costs no open file.
            let entrance = Arc::clone(&self.entrances).acquire_owned().await.ok();
            match listener.accept().await {
                Ok((stream, _)) => {
                    self.set_trouble(None);
                    let place = Arc::clone(&self.places).try_acquire_owned().ok();
                    tokio::spawn(Arc::clone(&self).serve(stream, router.clone(), (entrance, place)));
                }
                Err(error) => {
                    self.set_trouble(Some(error.to_string()));
                    sleep(PAUSE).await;
                }
            }
        }
    }

    /// Serves one connection to its end; where it has no place, tells it so.
    async fn serve(
        self: Arc<Self>,
        stream: UnixStream,
        router: Router,
        (_entrance, place): (Option<OwnedSemaphorePermit>, Option<OwnedSemaphorePermit>),
    ) {
        let guest = Guest { door: Arc::clone(&self), lasting: Arc::default() };
        let io = TokioIo::new(Unread { stream, guest: guest.clone(), stalled: None });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new());
        let ended = if place.is_some() {
            let router = TowerToHyperService::new(router);
            let service = service_fn(move |mut request: hyper::Request<Incoming>| {
                request.extensions_mut().insert(guest.clone());
                router.call(request)
            });
            http.header_read_timeout(self.patience()).serve_connection(io, service).await
        } else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            let service = service_fn(move |_| ready(Ok::<_, Infallible>(refusal(503, full(&guest.door)))));
            http.keep_alive(false).header_read_timeout(REFUSED).serve_connection(io, service).await
        };
        if place.is_some() && ended.is_err_and(|error| error.is_timeout()) {
            self.let_go.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn patience(&self) -> Duration {
        self.doors.patience(self.open())
    }

    fn open(&self) -> usize {
        self.doors.most - self.places.available_permits()
    }

    fn set_trouble(&self, trouble: Option<String>) {
        let mut known = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = trouble.as_ref().filter(|_| known.is_none()) {
            tracing::error!(socket = %self.socket.display(), %why, "no connection can be accepted; it is tried again");
        }
        *known = trouble;
    }
}

fn full(door: &Door) -> Failure {
    let message = format!(
        "{}: {} connections are open at its socket, and no more are served at once",
        door.socket.display(),
        door.doors.most
    );
    passing(message, "it passes when one of them ends; silent ones are let go within seconds")
}

fn passing(message: String, hint: &str) -> Failure {
    Failure { passing: true, ..Failure::failed(message).hint(hint) }
}

impl ports::Door for Door {
    fn traffic(&self) -> Traffic {
        Traffic {
            open: self.open(),
            most: self.doors.most,
            streams: self.doors.most_streams - self.streams.available_permits(),
            most_streams: self.doors.most_streams,
            refused: self.refused.load(Ordering::Relaxed),
            let_go: self.let_go.load(Ordering::Relaxed),
            trouble: self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

/// A connection that is to last has its place among those that do for as long as this is held.
pub(super) struct Lasting(pub OwnedSemaphorePermit);

impl<S: Sync> FromRequestParts<S> for Lasting {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Response> {
        let Some(guest) = parts.extensions.get::<Guest>() else {
            return Err(refusal(500, Failure::failed("this connection did not come in by the door")));
        };
        guest.last().map(Self).map_err(|failure| refusal(503, failure))
    }
}

impl Guest {
    fn last(&self) -> Result<OwnedSemaphorePermit, Failure> {
        let Ok(stream) = Arc::clone(&self.door.streams).try_acquire_owned() else {
            self.door.refused.fetch_add(1, Ordering::Relaxed);
            let (socket, most) = (self.door.socket.display(), self.door.doors.most_streams);
            let message = format!("{socket}: {most} streams are open at its socket, and no more are served at once");
            return Err(passing(message, "end a `yoi events --follow` or `yoi orchestrator watch`"));
        };
        self.lasting.store(true, Ordering::Relaxed);
        Ok(stream)
    }
}

/// The whole request first: a client that stops half-way, or goes on for ever, is told so.
pub(super) async fn whole(request: Request, next: Next) -> Response {
    let Some(guest) = request.extensions().get::<Guest>().cloned() else { return next.run(request).await };
    let (parts, body) = request.into_parts();
    let too_much = |why: &dyn std::fmt::Display| {
        refusal(413, Failure::usage(format!("the request may have {LARGEST} bytes at most: {why}")))
    };
    if body.size_hint().lower() > LARGEST as u64 {
        return too_much(&"it says that it has more");
    }
    let patience = guest.door.patience();
    match timeout(patience, to_bytes(body, LARGEST)).await {
        Ok(Ok(bytes)) => {
            let underway = guest.door.answering.begin();
            let response = next.run(Request::from_parts(parts, Body::from(bytes))).await;
            // What lasts is broken off by the daemon's end.
            if guest.lasting.load(Ordering::Relaxed) { response } else { underway.until_written(response) }
        }
        Ok(Err(error)) => too_much(&error),
        Err(_) => {
            guest.door.let_go.fetch_add(1, Ordering::Relaxed);
            let seconds = patience.as_secs();
            refusal(408, Failure::failed(format!("the rest of the request did not come within {seconds} s")))
        }
    }
}

/// A connection whose client has to read what it is told.
struct Unread {
    stream: UnixStream,
    guest: Guest,
    /// It does not read just now; when that has been for too long.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Unread {
    /// What came of writing.
    fn written(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() || self.guest.lasting.load(Ordering::Relaxed) {
            self.stalled = None;
            return written;
        }
        let unread = self.guest.door.unread;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(unread)));
        stalled.as_mut().poll(cx).map(|()| {
            self.guest.door.let_go.fetch_add(1, Ordering::Relaxed);
            Err(io::ErrorKind::WriteZero.into())
        })
    }
}

impl AsyncRead for Unread {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Unread {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.written(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.written(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use tokio::io::AsyncWriteExt;

    use super::*;
    use crate::ports::Door as _;

    const SHORT: Duration = Duration::from_millis(60);

    /// Writes without end to somebody who reads nothing; what came of it within ten times as long as that is let be.
    fn unread(lasting: bool) -> (Option<io::ErrorKind>, Duration, u64) {
        let door = Door { unread: SHORT, ..Door::new("socket".into(), Some(1_024)) };
        let guest = Guest { door: Arc::new(door), lasting: Arc::new(AtomicBool::new(lasting)) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (stream, _reads_nothing) = UnixStream::pair().unwrap();
            let mut unread = Unread { stream, guest: guest.clone(), stalled: None };
            let began = Instant::now();
            let writing = async {
                loop {
                    if let Err(error) = unread.write_all(&[b'x'; 4_096]).await {
                        break error.kind();
                    }
                }
            };
            let ended = timeout(SHORT * 10, writing).await.ok();
            (ended, began.elapsed(), guest.door.traffic().let_go)
        })
    }

    #[test]
    fn who_leaves_an_answer_unread_is_let_go_and_who_reads_a_stream_is_not() {
        assert_eq!(Door::new("socket".into(), None).unread, Duration::from_secs(30));
        let (ended, after, let_go) = unread(false);
        assert_eq!((ended, let_go), (Some(io::ErrorKind::WriteZero), 1));
        assert!(after >= SHORT, "{after:?}");
        let (ended, _, let_go) = unread(true);
        assert_eq!((ended, let_go), (None, 0));
    }
}

//! The server's end: each request visits the host, which is one thread's own, and waits for its answer.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use axum::extract::{Path as UrlPath, Query as UrlQuery, State};
use axum::http::header::CONTENT_TYPE;
use axum::middleware::from_fn;
use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{Notify, OwnedSemaphorePermit, mpsc, oneshot, watch};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

use super::answer::answer;
use super::door::{Door, Lasting, whole};
use super::socket::{bind, replaced};
use crate::api;
use crate::api::failure::Failure;
use crate::api::listing;
use crate::api::request::{Caller, HookRequest, Request, SessionRequest};
use crate::daemon::{Host, Message, Stop, Visitor};
use crate::domain::ticket::TicketId;
use crate::ports::Query;

/// How long a visit may wait for its turn before the caller is told that the daemon is stuck.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long a daemon that is told to end may take to say what it could not keep.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How many records one look at the store hands over.
const CHUNK: usize = 500;

/// Measures what `status` is to say of the watcher.
pub type Measure = Arc<dyn Fn() + Send + Sync>;

/// Listens on the socket, and serves until the process ends. A file left there by a killed daemon is replaced: the
/// caller holds the daemon's lock. When told to look, and another file or none lies there, the socket is made anew;
/// `bound` is called each time that it was made.
/// `measure` is called before the status is asked for, on a thread that may wait.
pub async fn serve(
    socket: &Path,
    mail: Sender<Message>,
    (measure, door): (Measure, Arc<Door>),
    look: &Notify,
    bound: impl Fn(),
) -> io::Result<()> {
    let router = Router::new()
        .route("/healthz", get(|| async { Json(json!({"ok": true})) }))
        .route("/api/requests", post(requests))
        .route("/api/lifecycle/{boundary}", post(lifecycle))
        .route("/api/events", get(events))
        .route("/api/orchestrator/watch", post(watch_kicks))
        .route("/api/stop", post(stop))
        .layer(from_fn(whole))
        .layer(Extension(measure))
        .with_state(mail);
    loop {
        let (listener, ours) = bind(socket)?;
        bound();
        tokio::select! {
            never = Arc::clone(&door).admit(listener, router.clone()) => match never {},
            () = replaced(socket, ours, look) => {
                tracing::warn!(socket = %socket.display(), "the socket was removed or replaced; it is made anew");
            }
        }
    }
}

async fn visit<T: Send + 'static>(
    mail: &Sender<Message>,
    call: impl FnOnce(&mut Host) -> T + Send + 'static,
) -> Result<T, Failure> {
    let (answer, answered) = oneshot::channel();
    let begun = Arc::new(AtomicBool::new(false));
    let begins = Arc::clone(&begun);
    let message = Message::Visit(Box::new(move |host| {
        // Who has been told that there is no answer must not find it carried out after all.
        if !answer.is_closed() {
            begins.store(true, Ordering::Release);
            let _ = answer.send(call(host));
        }
    }));
    // What was not begun may be asked for again: of the next daemon, or of the files themselves.
    let ending = |begun: bool| Failure { passing: !begun, ..Failure::failed("the daemon ended before it answered") };
    mail.send(message).map_err(|_| ending(false))?;
    match tokio::time::timeout(PATIENCE, answered).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(_)) => Err(ending(begun.load(Ordering::Acquire))),
        Err(_) => Err(Failure::failed("the daemon did not answer within a minute; `yoi logs` may say what keeps it")),
    }
}

async fn requests(
    State(mail): State<Sender<Message>>,
    Extension(measure): Extension<Measure>,
    Json(request): Json<Request>,
) -> Response {
    // Here, because it takes as long as the watcher does: the host's thread has other things to do meanwhile.
    if request == Request::Status && tokio::task::spawn_blocking(move || measure()).await.is_err() {
        tracing::error!("the watcher's lag could not be measured");
    }
    if let Request::List(list) = request {
        let text = visit(&mail, move |host| listing::text(&list, host, false)).await.and_then(|result| result);
        return match text {
            Ok(text) => ([(CONTENT_TYPE, "application/json")], text).into_response(),
            Err(failure) => answer(Err(failure)),
        };
    }
    if request.moves_a_claim() || request.is_about_worktrees() {
        let (tell, told) = oneshot::channel();
        let carry_out = move || {
            let mut visitor = Visitor::new(mail);
            // Who has gone meanwhile is told of nothing: this waits for no answer then.
            if let Err(Ok(answer)) = tell.send(api::carry_out(request.clone(), &mut visitor)) {
                api::take_back(&request, answer, &mut visitor);
            }
        };
        drop(tokio::task::spawn_blocking(carry_out));
        return answer(told.await.unwrap_or_else(|error| Err(Failure::failed(error.to_string()))));
    }
    answer(visit(&mail, move |host| api::handle(request, host)).await.and_then(|result| result))
}

async fn lifecycle(State(mail): State<Sender<Message>>, UrlPath(boundary): UrlPath<String>) -> Response {
    let request = match boundary.as_str() {
        "user-kick" => Request::Kick { dry_run: false, caller: Caller::default() },
        other => Request::Hook(HookRequest { event: other.to_owned(), ..HookRequest::default() }),
    };
    answer(visit(&mail, move |host| api::handle(request, host)).await.and_then(|result| result))
}

async fn stop(State(mail): State<Sender<Message>>) -> Response {
    let unkept = visit(&mail, |host| {
        host.insist();
        host.unkept()
    });
    // Whoever wants it to end does not wait for a host that is busy.
    let unkept = tokio::time::timeout(LAST_WORDS, unkept).await.ok().and_then(Result::ok).unwrap_or_default();
    answer(match mail.send(Message::Stop(Stop::Asked)) {
        Ok(()) => Ok(json!({"version": 1, "pid": std::process::id(), "unkept": unkept})),
        // Whoever asks again finds it gone.
        Err(_) => Err(Failure { passing: true, ..Failure::failed("the daemon is stopping already") }),
    })
}

/// A session that reads its kicks as Server-Sent Events. It is gone when its reader is, and its reader is let go when the
/// session is gone.
async fn watch_kicks(
    State(mail): State<Sender<Message>>,
    Lasting(place): Lasting,
    Json(request): Json<SessionRequest>,
) -> Response {
    let (lines, stream) = mpsc::channel(CHUNK);
    // Dropped with the line that the host holds.
    let (held, let_go) = oneshot::channel::<std::convert::Infallible>();
    let lines_of_host = lines.clone();
    let line = Box::new(move |text: String| {
        let _ = &held;
        lines_of_host.try_send(SseEvent::default().data(text)).is_ok()
    });
    let report = match visit(&mail, move |host| api::watch(host, request, line)).await.and_then(|result| result) {
        Ok(report) => report,
        Err(failure) => return answer(Err(failure)),
    };
    tokio::spawn(async move {
        tokio::select! {
            () = lines.closed() => {}
            _ = let_go => {}
        }
        drop(place);
        let _ = visit(&mail, move |host| host.close_stream(report)).await;
    });
    let stream = ReceiverStream::new(stream).map(Ok::<SseEvent, std::convert::Infallible>);
    Sse::new(stream).keep_alive(KeepAlive::default()).into_response()
}

/// Which part of the history is streamed.
#[derive(Deserialize)]
struct Wanted {
    after: Option<i64>,
    ticket: Option<String>,
}

/// The history after a number, then what is appended to it, as Server-Sent Events whose ids are the numbers.
async fn events(
    State(mail): State<Sender<Message>>,
    Lasting(place): Lasting,
    UrlQuery(wanted): UrlQuery<Wanted>,
) -> Response {
    // Only the newest number counts, and a reader that does not keep up is waited for: neither grows.
    let (tell, told) = watch::channel(0_i64);
    let (lines, stream) = mpsc::channel(CHUNK);
    let registered = visit(&mail, move |host| host.listen(Box::new(move |newest| tell.send(newest).is_ok()))).await;
    if let Err(failure) = registered {
        return answer(Err(failure));
    }
    tokio::spawn(pass_on(mail, wanted, told, (lines, place)));
    let stream = ReceiverStream::new(stream).map(Ok::<SseEvent, std::convert::Infallible>);
    Sse::new(stream).keep_alive(KeepAlive::default()).into_response()
}

async fn pass_on(
    mail: Sender<Message>,
    wanted: Wanted,
    mut told: watch::Receiver<i64>,
    (lines, _place): (mpsc::Sender<SseEvent>, OwnedSemaphorePermit),
) {
    let mut last = wanted.after.unwrap_or(0);
    let ticket = wanted.ticket.map(TicketId::new);
    // What is there already is handed over by the first look.
    loop {
        loop {
            let query = Query { after: Some(last), ticket: ticket.clone(), oldest: Some(CHUNK), ..Query::default() };
            let read = move |host: &mut Host| host.history().records(&query);
            let Ok(Ok(records)) = visit(&mail, read).await else { return };
            let Some(newest) = records.last().map(|stored| stored.seq) else { break };
            last = newest;
            for stored in records {
                let id = stored.seq.to_string();
                let data = serde_json::to_string(&api::event(stored)).unwrap_or_default();
                if lines.send(SseEvent::default().id(id).data(data)).await.is_err() {
                    return;
                }
            }
        }
        tokio::select! {
            changed = told.changed() => if changed.is_err() { return },
            () = lines.closed() => return,
        }
    }
}

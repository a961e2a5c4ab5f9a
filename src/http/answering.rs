//! Answers that are on their way: a daemon that ends lets them reach whoever asked, the one who told it to end first of all.
//!
//! Must not know: what was asked, or answered.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};

/// How often it is looked whether all have been written; and how long what was handed to the connection may take to leave.
const PAUSE: Duration = Duration::from_millis(2);

/// How many there are.
#[derive(Debug, Default)]
pub struct Answering(AtomicUsize);

/// One of them, until it is dropped.
pub(super) struct Underway(Arc<Answering>);

impl Answering {
    /// A request came in that will be answered.
    pub(super) fn begin(self: &Arc<Self>) -> Underway {
        self.0.fetch_add(1, Ordering::AcqRel);
        Underway(Arc::clone(self))
    }

    /// Waits until all have been written, but not for longer than this.
    pub fn settle(&self, within: Duration) {
        let end = Instant::now() + within;
        while self.0.load(Ordering::Acquire) > 0 && Instant::now() < end {
            thread::sleep(PAUSE);
        }
        thread::sleep(PAUSE);
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Underway {
    /// Lasts until the answer has been handed to the connection, or its client has gone.
    pub(super) fn until_written(self, response: Response) -> Response {
        response.map(|body| Body::new(Written { body, _underway: self }))
    }
}

/// A body that says when it is through with.
struct Written {
    body: Body,
    _underway: Underway,
}

impl HttpBody for Written {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;

    use super::*;

    #[test]
    fn it_is_waited_for_what_was_not_written_yet_and_not_for_ever() {
        let answering = Arc::new(Answering::default());
        let response = answering.begin().until_written("text".into_response());
        assert_eq!(response.body().size_hint().exact(), Some(4));
        let begun = Instant::now();
        answering.settle(Duration::from_millis(50));
        assert!(begun.elapsed() >= Duration::from_millis(50), "nobody has taken it");
        let writer = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            drop(response);
        });
        answering.settle(Duration::from_mins(10));
        assert_eq!(answering.0.load(Ordering::Acquire), 0);
        writer.join().unwrap();
    }
}

//! Lends the host for moments to whoever does the slow part of a verb without it: git, a remote above all, may take
//! seconds, and the host has other things to do meanwhile.
//!
//! Must not know: what the host is borrowed for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::{Host, Message, VerbError};

/// How long a visit may wait for its turn before the caller is told that the daemon is stuck.
const PATIENCE: Duration = Duration::from_mins(1);

/// Somebody who can have the host for a moment.
pub trait Lending {
    /// Calls with the host. An error where there is none any more.
    fn lend<T: Send + 'static>(&mut self, call: impl FnOnce(&mut Host) -> T + Send + 'static) -> Result<T, VerbError>;

    /// Whether claims are moved for this machine alone, beside a remote that says who has them.
    fn is_alone(&self) -> bool {
        false
    }
}

/// Somebody for whom claims are moved for this machine alone (`--local`).
pub struct Alone<'l, L>(pub &'l mut L);

impl<L: Lending> Lending for Alone<'_, L> {
    fn lend<T: Send + 'static>(&mut self, call: impl FnOnce(&mut Host) -> T + Send + 'static) -> Result<T, VerbError> {
        self.0.lend(call)
    }

    fn is_alone(&self) -> bool {
        true
    }
}

/// In the host's own process and on its own thread: a command without a daemon.
impl Lending for Host {
    fn lend<T: Send + 'static>(&mut self, call: impl FnOnce(&mut Host) -> T + Send + 'static) -> Result<T, VerbError> {
        Ok(call(self))
    }
}

/// On another thread than the daemon's: each time is a visit, and waits for its turn.
pub struct Visitor {
    mail: Sender<Message>,
}

impl Visitor {
    /// By this way into the daemon's inbox.
    pub fn new(mail: Sender<Message>) -> Self {
        Self { mail }
    }
}

impl Lending for Visitor {
    fn lend<T: Send + 'static>(&mut self, call: impl FnOnce(&mut Host) -> T + Send + 'static) -> Result<T, VerbError> {
        let (answer, answered) = channel();
        // Who has been told that there is no answer must not find it carried out after all.
        let (given_up, begun) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (is_given_up, begins) = (Arc::clone(&given_up), Arc::clone(&begun));
        let ending = |begun: &AtomicBool| VerbError::DaemonEnded { begun: begun.load(Ordering::Acquire) };
        let message = Message::Visit(Box::new(move |host| {
            if !is_given_up.load(Ordering::Acquire) {
                begins.store(true, Ordering::Release);
                let _ = answer.send(call(host));
            }
        }));
        self.mail.send(message).map_err(|_| ending(&begun))?;
        answered.recv_timeout(PATIENCE).map_err(|error| match error {
            RecvTimeoutError::Disconnected => ending(&begun),
            RecvTimeoutError::Timeout => {
                given_up.store(true, Ordering::Release);
                VerbError::Failed("the daemon did not answer within a minute; `yoi logs` may say what keeps it".into())
            }
        })
    }
}

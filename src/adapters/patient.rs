//! The main worktree, asked for a bounded time: a status of a huge repository, or a git program that hangs, must not
//! hold up the daemon's loop.
//!
//! A probe that takes longer goes on by itself; its answer is told when it comes. Of several wishes at once the first is
//! carried out, and one more for all that came meanwhile: what was asked later is never answered with what was seen
//! before.
//!
//! Must not know: git; what the answer is for.

use std::mem;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::domain::facts::Dirty;
use crate::ports::{MainWorktree, Obstacle};

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// A worktree that answers in time, or later.
pub struct PatientWorktree {
    worktree: Arc<dyn MainWorktree>,
    asked: Arc<Mutex<Asked>>,
    /// Told an answer that came too late for whoever asked.
    late: Arc<dyn Fn(Dirty) + Send + Sync>,
    patience: Duration,
}

#[derive(Default)]
struct Asked {
    /// Who waits for the next probe.
    waiting: Vec<Sender<Dirty>>,
    /// A thread is at it.
    running: bool,
    /// The last answer.
    known: Option<Dirty>,
}

impl PatientWorktree {
    /// `late` is called with each answer that nobody waited for any more.
    pub fn new(worktree: Arc<dyn MainWorktree>, late: impl Fn(Dirty) + Send + Sync + 'static) -> Self {
        Self::with(worktree, late, PATIENCE)
    }

    fn with(worktree: Arc<dyn MainWorktree>, late: impl Fn(Dirty) + Send + Sync + 'static, patience: Duration) -> Self {
        Self { worktree, asked: Arc::default(), late: Arc::new(late), patience }
    }

    /// Starts the thread, unless one is at it. Returns whether there is one.
    fn set_going(&self) -> bool {
        let (worktree, asked, late) = (Arc::clone(&self.worktree), Arc::clone(&self.asked), Arc::clone(&self.late));
        let probe = move || {
            loop {
                let waiting = {
                    let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
                    asked.running = !asked.waiting.is_empty();
                    if !asked.running {
                        return;
                    }
                    mem::take(&mut asked.waiting)
                };
                let answer = worktree.dirty();
                asked.lock().unwrap_or_else(PoisonError::into_inner).known = Some(answer.clone());
                let too_late = waiting.iter().filter(|whoever| whoever.send(answer.clone()).is_err()).count();
                if too_late > 0 {
                    late(answer);
                }
            }
        };
        thread::Builder::new().name("yoi probe".into()).spawn(probe).is_ok()
    }
}

impl PatientWorktree {
    /// Asks. The answer comes to whoever holds what is returned, or to nobody.
    fn ask(&self) -> Result<Receiver<Dirty>, Dirty> {
        let (tell, told) = channel();
        let running = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.waiting.push(tell);
            mem::replace(&mut asked.running, true)
        };
        if !running && !self.set_going() {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            (asked.running, asked.waiting) = (false, Vec::new());
            return Err(Dirty::Failed("no thread could be started to look at the main worktree".into()));
        }
        Ok(told)
    }
}

impl MainWorktree for PatientWorktree {
    fn dirty(&self) -> Dirty {
        match self.ask().map(|told| told.recv_timeout(self.patience)) {
            Ok(Ok(answer)) | Err(answer) => return answer,
            Ok(Err(_)) => {}
        }
        // Until the answer comes nothing is known to have changed; with no answer yet at all nothing may start.
        self.newest().unwrap_or_else(|| Dirty::Failed("git is still looking at the main worktree".into()))
    }

    fn dirty_in_time(&self) -> Option<Dirty> {
        self.ask().err()
    }

    fn newest(&self) -> Option<Dirty> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).known.clone()
    }

    fn obstacle(&self) -> Option<Obstacle> {
        self.worktree.obstacle()
    }

    fn emptied_tickets(&self) -> bool {
        self.worktree.emptied_tickets()
    }

    fn user_name(&self) -> Option<String> {
        self.worktree.user_name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers when it is told what.
    struct Slow {
        begun: Sender<()>,
        answers: Mutex<Receiver<Dirty>>,
    }

    impl MainWorktree for Slow {
        fn dirty(&self) -> Dirty {
            self.begun.send(()).unwrap();
            self.answers.lock().unwrap().recv().unwrap()
        }

        fn obstacle(&self) -> Option<Obstacle> {
            None
        }

        fn user_name(&self) -> Option<String> {
            None
        }
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn who_asks_is_answered_in_time_and_the_late_answer_is_told() {
        let ((start, begun), (answer, answers), (tell, told)) = (channel(), channel(), channel());
        let slow = Slow { begun: start, answers: Mutex::new(answers) };
        let tell = Mutex::new(tell);
        let late = move |dirty| tell.lock().unwrap().send(dirty).unwrap();
        let patient = PatientWorktree::with(Arc::new(slow), late, Duration::from_millis(50));

        answer.send(Dirty::Clean).unwrap();
        // In time on any machine that runs threads at all; if not, the answer is told.
        if !matches!(patient.dirty(), Dirty::Clean) {
            assert_eq!(told.recv_timeout(LONG), Ok(Dirty::Clean));
        }
        begun.recv_timeout(LONG).unwrap();
        assert_eq!(patient.dirty(), Dirty::Clean, "nothing is known to have changed");
        begun.recv_timeout(LONG).unwrap();
        assert_eq!(patient.dirty(), Dirty::Clean, "one probe at a time");
        assert!(begun.try_recv().is_err());
        answer.send(Dirty::Changed(vec!["a".into()])).unwrap();
        assert_eq!(told.recv_timeout(LONG), Ok(Dirty::Changed(vec!["a".into()])));
        begun.recv_timeout(LONG).unwrap();
        answer.send(Dirty::Changed(vec!["b".into()])).unwrap();
        assert_eq!(told.recv_timeout(LONG), Ok(Dirty::Changed(vec!["b".into()])), "and one for what came meanwhile");
    }

    #[test]
    fn who_does_not_need_it_now_is_told_later_and_what_was_overtaken_is_known() {
        let ((start, begun), (answer, answers), (tell, told)) = (channel(), channel(), channel());
        let slow = Slow { begun: start, answers: Mutex::new(answers) };
        let tell = Mutex::new(tell);
        let late = move |dirty| tell.lock().unwrap().send(dirty).unwrap();
        let patient = PatientWorktree::with(Arc::new(slow), late, LONG);

        assert_eq!((patient.dirty_in_time(), patient.newest()), (None, None));
        begun.recv_timeout(LONG).unwrap();
        answer.send(Dirty::Changed(vec!["a".into()])).unwrap();
        answer.send(Dirty::Clean).unwrap();
        assert_eq!(patient.dirty(), Dirty::Clean, "asked later, it waits for a probe of its own");
        assert_eq!(told.recv_timeout(LONG), Ok(Dirty::Changed(vec!["a".into()])), "which overtakes what is told");
        assert_eq!(patient.newest(), Some(Dirty::Clean));
    }

    #[test]
    fn with_no_answer_yet_nothing_may_start() {
        let ((begun, _began), (answer, answers)) = (channel(), channel());
        let slow = Slow { begun, answers: Mutex::new(answers) };
        let patient = PatientWorktree::with(Arc::new(slow), |_| (), Duration::from_millis(10));
        assert!(matches!(patient.dirty(), Dirty::Failed(_)));
        answer.send(Dirty::Clean).unwrap();
        drop(answer);
    }
}

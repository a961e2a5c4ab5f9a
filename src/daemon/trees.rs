//! Who works in the tickets' worktrees: looked at on a thread of its own, since it goes through every process of the machine;
//! and at once where a decision is in hand.
//!
//! Must not know: what follows from it; git, files.

use std::collections::VecDeque;
use std::thread;

use super::{Host, Message};
use crate::domain::engine::Event;
use crate::domain::facts::Worktree;

/// Looks are numbered, so that the answer of one that took long does not replace a newer one's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LookNumber(u64);

impl Host {
    /// The answer comes as a message.
    pub(super) fn ask_for_worktrees(&mut self, events: &mut VecDeque<Event>) {
        let unanswered = self.engine.unanswered_looks();
        if unanswered > 0 {
            tracing::warn!(
                unanswered,
                "nobody can say who works in the worktrees: a look was not answered, as if their folder hung; it is asked again"
            );
        }
        let number = self.next_look();
        let (trees, mail) = (self.worktrees(), self.mail.clone());
        let look = move || {
            let _ = mail.send(Message::Worktrees(number, trees.standing()));
        };
        if let Err(error) = thread::Builder::new().name("yoi worktrees".into()).spawn(look) {
            tracing::warn!(%error, "worktrees are looked at without a thread of their own");
            events.push_back(self.worktrees_now());
        }
    }

    pub(super) fn worktrees_shown(&mut self, number: LookNumber, standing: Vec<(String, Worktree)>) {
        if number == self.tree_looks {
            self.tell(Event::WorktreesRead(standing));
        }
    }

    /// What they are just now.
    pub(super) fn worktrees_now(&mut self) -> Event {
        self.next_look();
        Event::WorktreesRead(self.worktrees().standing())
    }

    /// Somebody else looked just now.
    pub(super) fn worktrees_found(&mut self, standing: Vec<(String, Worktree)>) {
        self.next_look();
        self.tell(Event::WorktreesRead(standing));
    }

    /// Looks before somebody asks what would be decided.
    pub fn look_at_worktrees(&mut self) {
        let now = self.worktrees_now();
        self.tell(now);
    }

    fn next_look(&mut self) -> LookNumber {
        self.tree_looks.0 += 1;
        self.tree_looks
    }
}

//! The worktrees of tickets, as the settings want them.
//!
//! Must not know: what is done with one.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;

use super::App;
use super::programs::secrets;
use crate::adapters::starts::StartFolder;
use crate::adapters::worktrees::{GitWorktrees, Hooks};
use crate::daemon::mending::mend_all;
use crate::daemon::{Message, Visitor, mend_starts};
use crate::ports::{Runs, Worktrees};

impl App {
    pub(super) fn worktrees(&self) -> Arc<dyn Worktrees> {
        let settings = &self.config.worktrees;
        let hooks = Hooks {
            after_create: settings.after_create.clone(),
            before_remove: settings.before_remove.clone(),
            limit: settings.hook_timeout.to_std().unwrap_or_default(),
            unset: secrets(),
            trusted: self.trust.holds(),
        };
        let common = self.workspace.git_common_dir.as_deref();
        Arc::new(GitWorktrees::new(&self.workspace.root, common, &settings.root, self.state.worktrees(), hooks))
    }

    /// Ends what a start, or a removal, that was cut off has left. The board need not wait for git.
    pub(super) fn mend_worktrees(&self, mail: Sender<Message>, runs: Arc<dyn Runs>) {
        let (trees, starts) = (self.worktrees(), StartFolder::new(self.state.starts()));
        let mend = move || {
            if let Err(error) = mend_starts(&mut Visitor::new(mail), (&starts, runs.as_ref()), None) {
                tracing::warn!(%error, "the claim of a start that was cut off");
            }
            match mend_all(trees.as_ref()) {
                Ok(troubles) => troubles.iter().for_each(|trouble| tracing::warn!(%trouble, "a worktree")),
                Err(error) => tracing::warn!(%error, "worktrees"),
            }
        };
        if let Err(error) = thread::Builder::new().name("yoi worktrees".into()).spawn(mend) {
            tracing::warn!(%error, "worktrees: no thread could be started");
        }
    }
}

//! What lies in a git directory while git is in the middle of something, and what that is: one table for whoever asks.
//!
//! Must not know: what it holds up.

/// While this lies there a git command is at work, or was killed.
pub(super) const INDEX_LOCK: &str = "index.lock";

/// What changes the files by itself, or will, when it goes on: no conclusions are drawn from them meanwhile.
pub(super) const CHANGING: [(&str, &str); 6] = [
    ("rebase-merge", "a rebase is under way"),
    ("rebase-apply", "a rebase, or `git am`, is under way"),
    ("MERGE_HEAD", "a merge is under way"),
    ("CHERRY_PICK_HEAD", "a cherry-pick is under way"),
    ("REVERT_HEAD", "a revert is under way"),
    (INDEX_LOCK, "another git command is writing the index, or one was killed while it did"),
];

/// What leaves the files alone and would be lost with the folder all the same.
pub(super) const REMEMBERED: [(&str, &str); 2] =
    [("sequencer", "a row of cherry-picks or reverts is under way"), ("BISECT_LOG", "a bisection is under way")];

//! Worktrees with everything real around them: adapters, and what the daemon does with them.

mod starting;

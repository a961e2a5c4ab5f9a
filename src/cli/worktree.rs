//! `yoi worktree list`, `remove` and `restore`.
//!
//! Must not know: any rule of its own.

use clap::{Args, Subcommand};

use super::{Outcome, context::Context, output};
use crate::api::failure::Failure;
use crate::api::request::Request;
use crate::api::view::{RestoredView, WorktreeRemovedView, WorktreeView, WorktreesView};

/// What the help of `remove` says below the options.
const REMOVING: &str = "\
Only a clean worktree goes, whose commits are merged or pushed; its branch goes
with it where it is merged. Uncommitted, untracked and ignored files, a stash, a
merge or rebase under way, commits that are nowhere else, submodules and inner
repositories with something in them, a lock of somebody else's and a process at
work there are each named, and it stays. What lies in an ignored folder with a
CACHEDIR.TAG (cargo's `target`) can be made anew, and does not count.

--force first saves every file, the index and what git is in the middle of as a
commit, refs/yoi/salvage/ID/TIME, and reads all of it back. It passes over
nothing that cannot be saved so: the lock, the process, inner repositories with
something in them, sockets and pipes, and what cannot be read.";

/// What the help of `restore` says below the options.
const RESTORING: &str = "\
Branch (or detached HEAD), index, every file with its bytes and mode, empty
folders, and a merge or rebase under way are as they were. What was saved stays:
`git update-ref -d REF` removes it.";

/// Worktrees of tickets: worktree list, remove, restore
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: WorktreeCommand,
}

#[derive(Subcommand)]
enum WorktreeCommand {
    /// List them: whose, clean or not, merged or not
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove one that holds nothing that would be lost
    #[command(after_help = REMOVING)]
    Remove {
        /// The exact id of the ticket
        id: String,
        /// Save everything first, then remove it
        #[arg(long)]
        force: bool,
        /// The worker that asks: its own hold is no obstacle (default: YOI_WORKER)
        #[arg(long, env = "YOI_WORKER", value_name = "W", hide_env_values = true)]
        worker: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Bring back one that was saved when it was removed
    #[command(after_help = RESTORING)]
    Restore {
        /// The exact id of the ticket
        id: String,
        /// Which of those that were saved (default: the newest): a ref, or its time
        #[arg(long, value_name = "REF")]
        from: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs one of them.
pub fn run(context: &Context, arguments: Arguments) -> Outcome {
    let app = context.open()?;
    match arguments.command {
        WorktreeCommand::List { json } => output::answer(app.call(&Request::Worktrees)?, json, listed),
        WorktreeCommand::Remove { id, force, worker, json } => {
            output::answer(app.call(&Request::RemoveWorktree { id, force, worker })?, json, removed)
        }
        WorktreeCommand::Restore { id, from, json } => {
            output::answer(app.call(&Request::RestoreWorktree { id, from })?, json, restored)
        }
    }
}

fn listed(view: &WorktreesView) -> Result<(), Failure> {
    if view.worktrees.is_empty() {
        output::print("no ticket has a worktree")?;
    } else {
        let head = ["TICKET", "OWNER", "FILES", "COMMITS", "UNTIL", "PATH"].map(str::to_owned);
        let rows: Vec<_> = std::iter::once(head).chain(view.worktrees.iter().map(row)).collect();
        output::table(&rows, output::head)?;
    }
    output::remarks(&view.remarks)
}

fn row(tree: &WorktreeView) -> [String; 6] {
    let dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
    let owner = match &tree.locked {
        Some(why) if why.is_empty() => "(locked)".into(),
        Some(why) => format!("(locked: {why})"),
        None => match (&tree.owner, &tree.retained_for) {
            (Some(owner), Some(why)) => format!("{owner} (for: {why})"),
            (owner, _) => dash(owner),
        },
    };
    let files = match (tree.gone, tree.dirty) {
        (true, _) => "gone",
        (false, true) => "dirty",
        (false, false) => "clean",
    };
    let commits = if tree.merged { "merged" } else { "not merged" };
    [dash(&tree.ticket), owner, files.into(), commits.into(), dash(&tree.expires), tree.path.clone()]
}

fn removed(view: &WorktreeRemovedView) -> Result<(), Failure> {
    let branch = view.branch_removed.as_ref().map(|branch| format!(", and its branch {branch}")).unwrap_or_default();
    output::print(&output::harmless(&format!("removed {}{branch}", view.path)))?;
    if let Some(salvage) = &view.salvage {
        let text = format!("  saved as {salvage}; `yoi worktree restore {}` brings it back", view.id);
        output::print(&output::harmless(&text))?;
    }
    output::remarks(&view.remarks)
}

fn restored(view: &RestoredView) -> Result<(), Failure> {
    let files = output::count(view.files, "file");
    let on = view.branch.as_ref().map_or_else(|| "a detached HEAD".to_owned(), |branch| format!("branch {branch}"));
    output::print(&output::harmless(&format!("restored {}: {files}, on {on}", view.path)))?;
    output::print(&output::harmless(&format!("  from {}, which is kept", view.salvage)))?;
    output::remarks(&view.remarks)
}

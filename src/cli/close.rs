//! `yoi close`.
//!
//! Must not know: what is demanded; whatever is missing is named by the answer.

use clap::Args;

use super::ending::Of;
use super::{Outcome, context::Context};
use crate::api::request::{CloseRequest, Request};
use crate::domain::evidence::close::MergeState;

/// What the help says below the options.
const MORE: &str = "\
Five things are demanded, and go into the ticket's thread:

1. --pr URL with --merge-state, or --no-pr WHY
     merged      it is in the target branch. git is asked: refused if the branch
                 yoi/ID has commits that are not
     auto-merge  it will be, when the required checks pass
     open        somebody else decides
     closed      it was turned down or given up
2. --tests: which ran, and what they showed
3. --artifact, or --no-artifact WHY: what there is now that somebody can open or
   use, like a file's path, a release, a page, a screenshot, a document. A test's
   result or a green CI run is none: text that only says how tests, checks, a
   build or CI went, the address of a CI run, or a file of test results is
   refused
4. --residual: what is left to do or known not to work; `none` if nothing
5. --workspace removed, or retained:OWNER:REASON:EXPIRY with an expiry like
   2026-12-07, 2026-12-07T12:00:00Z or 7d. git is asked: refused if the ticket's
   worktree is there still, or is not there. A retained one is locked for OWNER
   until EXPIRY: nobody else removes it, or starts in it, before

  yoi close fix-login --worker coder-7k2m9x4q \\
    --pr https://example.org/acme/web/pull/7 --merge-state merged \\
    --tests 'cargo test: 120 passed; login tried by hand in Safari 18' \\
    --artifact src/login/safari.rs --residual none --workspace removed

It records `done`, then `closed`; the claim ends `done`. After `yoi release
--outcome pr-opened` the same worker closes it still. A person closes a ticket
that nobody holds in the same way, without --worker.

Exit codes: 0 it is closed; 3 refused, with all that is missing, or with who
holds the ticket; 1 it could not be written; 2 the command line is wrong.";

/// Close a ticket, on evidence
#[derive(Args)]
#[command(after_help = MORE)]
pub struct Arguments {
    #[command(flatten)]
    of: Of,
    #[command(flatten)]
    change: Change,
    /// Which tests ran, and what they showed
    #[arg(long, value_name = "TEXT")]
    tests: Option<String>,
    /// What there is now: a path, an address or a few words
    #[arg(long, value_name = "WHAT")]
    artifact: Option<String>,
    /// Why nothing is left that somebody could open or use
    #[arg(long, value_name = "WHY", conflicts_with = "artifact")]
    no_artifact: Option<String>,
    /// What is left to do; may be `none`
    #[arg(long, value_name = "TEXT")]
    residual: Option<String>,
    /// removed, or retained:OWNER:REASON:EXPIRY
    #[arg(long, value_name = "WHAT")]
    workspace: Option<String>,
}

/// What became of the change.
#[derive(Args)]
struct Change {
    /// The pull request
    #[arg(long, value_name = "URL")]
    pr: Option<String>,
    /// What became of it
    #[arg(long, value_name = "STATE", value_parser = MergeState::ALL.map(MergeState::as_str))]
    merge_state: Option<String>,
    /// Why there is no pull request
    #[arg(long, value_name = "WHY", conflicts_with = "pr")]
    no_pr: Option<String>,
}

/// Closes.
pub fn run(context: &Context, arguments: Arguments) -> Outcome {
    let Arguments { of, change: Change { pr, merge_state, no_pr }, tests, artifact, no_artifact, residual, workspace } =
        arguments;
    let end = of.request()?;
    let request = CloseRequest { end, pr, merge_state, no_pr, tests, artifact, no_artifact, residual, workspace };
    of.show(context.open()?.call(&Request::Close(request))?)
}

//! `yoi block`.
//!
//! Must not know: what is demanded; whatever is missing is named by the answer.

use clap::Args;

use super::ending::Of;
use super::{Outcome, context::Context};
use crate::api::request::{BlockRequest, Request};
use crate::domain::evidence::block::Then;

/// What the help says below the options.
const MORE: &str = "\
All four are demanded, and go into the ticket's thread: whoever takes it up next
starts from them. The ticket goes back to the queue with the label `blocked`, so
that it is offered to nobody until a person takes the label off; the claim ends
`blocked`. Then take the next ticket.

  yoi block fix-login --worker coder-7k2m9x4q \\
    --blocker 'the payment provider refuses our key' \\
    --evidence '401 on every call since 10:20, log in .yoi/worktrees/fix-login/log' \\
    --unblock 'ops puts a new key into the vault' \\
    --then retry

--then: retry (the same work again), decompose (it turned out to be several
things), reassign (somebody who knows or may do what this worker cannot).

Exit codes: 0 it is blocked; 3 refused, with all that is missing, or with who
holds the ticket; 1 it could not be written; 2 the command line is wrong.";

/// Stop working on a ticket that cannot go on, and say why
#[derive(Args)]
#[command(after_help = MORE)]
pub struct Arguments {
    #[command(flatten)]
    of: Of,
    /// What stands in the way
    #[arg(long, value_name = "TEXT")]
    blocker: Option<String>,
    /// What was tried and seen
    #[arg(long, value_name = "TEXT")]
    evidence: Option<String>,
    /// What would clear it, and who can do that
    #[arg(long, value_name = "TEXT")]
    unblock: Option<String>,
    /// What is to happen then
    #[arg(long, value_name = "WHAT", value_parser = Then::ALL.map(Then::as_str))]
    then: Option<String>,
}

/// Blocks.
pub fn run(context: &Context, arguments: Arguments) -> Outcome {
    let Arguments { of, blocker, evidence, unblock, then } = arguments;
    let request = BlockRequest { end: of.request()?, blocker, evidence, unblock, then };
    of.show(context.open()?.call(&Request::Block(request))?)
}

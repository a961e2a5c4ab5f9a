//! Who asks: the options of every command that changes something.
//!
//! Must not know: what is done with a name.

use clap::Args;

use crate::adapters::environment::agent_session;
use crate::api::request::Caller;

/// The Orchestrator's session alone, for notes that carry no name.
#[derive(Args)]
pub struct InSession {
    /// The Orchestrator's session (default: YOI_SESSION, else the agent's own variable)
    #[arg(long, env = "YOI_SESSION", value_name = "S", hide_env_values = true)]
    session: Option<String>,
}

/// A name to record, and the session.
#[derive(Args)]
pub struct By {
    /// The name to record (default: YOI_BY; in the Orchestrator's session `orchestrator`, else git's user.name)
    #[arg(long, env = "YOI_BY", value_name = "NAME", hide_env_values = true)]
    by: Option<String>,
    #[command(flatten)]
    session: InSession,
}

impl InSession {
    /// `--session` or YOI_SESSION, else what the agent itself says.
    pub fn id(&self) -> Option<String> {
        self.session.clone().or_else(|| agent_session().map(|(_, id)| id))
    }

    /// On the wire.
    pub fn caller(&self) -> Caller {
        Caller { session: self.id(), name: None }
    }
}

impl By {
    /// On the wire.
    pub fn caller(&self) -> Caller {
        Caller { name: self.by.clone(), ..self.session.caller() }
    }
}

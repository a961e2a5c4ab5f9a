//! Who asks, as the engine and the files name it.
//!
//! Must not know: what is asked for.

use super::request::Caller;
use crate::daemon::Host;
use crate::domain::engine::Actor;

/// Who the engine takes the caller for.
pub fn actor(host: &Host, caller: &Caller) -> Actor {
    let current = &host.engine().work_set().session;
    match &caller.session {
        Some(session) if session == current && !current.is_empty() => Actor::Orchestrator,
        _ => Actor::Somebody(name(host, caller)),
    }
}

/// The name that the caller gives, else git's `user.name`.
pub fn name(host: &Host, caller: &Caller) -> String {
    let asked = || {
        if host.resident() {
            host.ports().worktree.user_name().unwrap_or_else(|| "somebody".into())
        } else {
            // Asked when it began, moments ago.
            host.engine().editor_name().to_owned()
        }
    };
    caller.name.clone().unwrap_or_else(asked)
}

/// The name to record: given, else the Orchestrator's role in its session, else the person's.
pub fn recorded_name(host: &Host, caller: &Caller) -> String {
    match (&caller.name, actor(host, caller)) {
        (Some(name), _) => name.clone(),
        (None, Actor::Orchestrator) => "orchestrator".into(),
        (None, _) => name(host, caller),
    }
}

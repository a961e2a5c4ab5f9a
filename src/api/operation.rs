//! `pause`, `resume`, `reload`: what a person does to the daemon.

use serde_json::Value;

use super::caller::{actor, name};
use super::failure::Failure;
use super::request::Caller;
use super::view::{DoneView, VERSION, value};
use crate::daemon::Host;
use crate::domain::engine::may_pause;
use crate::domain::ticket::Ticket;

/// What a pause means.
pub(super) const PAUSE: &str =
    "no kicks until `yoi resume`; a running turn goes on, and tickets can be edited, moved and accepted";

/// The longest reason that is kept.
const LONGEST_REASON: usize = 280;

/// Holds all kicks.
pub fn pause(host: &mut Host, reason: Option<String>, caller: &Caller) -> Result<Value, Failure> {
    may_pause(&actor(host, caller))?;
    let reason = reason.filter(|reason| !reason.trim().is_empty());
    if reason.as_ref().is_some_and(|reason| reason.chars().count() > LONGEST_REASON) {
        return Err(Failure::usage(format!("a reason has at most {LONGEST_REASON} characters")));
    }
    let by = name(host, caller);
    host.pause(&by, reason);
    kept(host, "kicks are held from now on, but a restart of the daemon would let them go on")?;
    done(host, format!("paused: {PAUSE}"))
}

/// Lets them go on.
pub fn resume(host: &mut Host, caller: &Caller) -> Result<Value, Failure> {
    may_pause(&actor(host, caller))?;
    let by = name(host, caller);
    let was = host.resume(&by);
    kept(host, "kicks go on from now on, but a restart of the daemon would hold them again")?;
    done(host, if was { "resumed: kicks go on" } else { "nothing was paused" })
}

/// Reads the configuration again.
pub fn reload(host: &mut Host) -> Result<Value, Failure> {
    match host.reload() {
        Ok(changed) if changed.is_empty() => done(host, "the configuration was read again: nothing has changed"),
        Ok(changed) => done(host, format!("the configuration was read again; changed: {}", changed.join(", "))),
        Err(lines) => Err(Failure::failed("the configuration cannot be used; the last good one stays in force")
            .evidence(lines)
            .hint("mend .yoi/config.toml: it is read again when it is saved")),
    }
}

/// Stamps the queued tickets that have no `queued_at`: from now on they have an age (DESIGN.md 7.1). What was mended
/// around the tickets is taken at once.
pub fn fix(host: &mut Host, caller: &Caller) -> Result<Vec<String>, Failure> {
    host.insist();
    let by = name(host, caller);
    let stamped = host.stamp_unstamped(&by)?;
    let line = |ticket: &Ticket| format!("{}: queued_at was written, as of now", ticket.path.display());
    Ok(stamped.iter().map(line).collect())
}

/// Without a daemon the pause is in the store alone; with one it holds as long as that runs.
fn kept(host: &Host, until_restart: &str) -> Result<(), Failure> {
    match host.history().trouble() {
        Some(why) if !host.resident() => Err(Failure::failed(format!("it could not be kept: {why}"))),
        Some(why) if !host.keeps_the_pause() => {
            Err(Failure::failed(format!("{until_restart}: it could not be kept: {why}"))
                .hint("the daemon goes on trying to keep it; `yoi status` names it as long as it cannot"))
        }
        _ => Ok(()),
    }
}

/// The plain answer to a request that has taken effect.
pub(super) fn done(host: &mut Host, what: impl Into<String>) -> Result<Value, Failure> {
    let remarks = not_kept(host);
    value(&DoneView { version: VERSION, done: what.into(), remarks })
}

/// What has taken effect is lost by a restart as long as the store takes nothing: whoever asked for it is told. It is no
/// failure: what was asked for holds, and nothing has to be asked for again.
pub(super) fn not_kept(host: &mut Host) -> Vec<String> {
    host.insist();
    host.unkept().into_iter().map(|lost| format!("taken, but not kept yet: {lost}")).collect()
}

//! What `status` says of the remote that says who has a claim.
//!
//! Must not know: when it is asked.

use super::view::RemoteView;
use crate::domain::classify::clock;
use crate::domain::engine::Engine;

/// None where this repository says it.
pub(super) fn remote(engine: &Engine) -> Option<RemoteView> {
    let remote = engine.remote_summary()?;
    let (silent_since, why) = remote.silent.unzip();
    Some(RemoteView {
        name: remote.name.to_owned(),
        seen_at: remote.seen_at.map(clock),
        silent_since: silent_since.map(clock),
        why: why.map(str::to_owned),
    })
}

/// What is in the way, where it does not answer.
pub(super) fn trouble(engine: &Engine) -> Option<String> {
    let remote = engine.remote_summary()?;
    let (since, why) = remote.silent?;
    Some(format!("the remote `{}` does not say who has claimed what since {}: {why}", remote.name, clock(since)))
}

//! The section `[claims]`.
//!
//! Must not know: what a claim is.

use chrono::TimeDelta;

use super::values::Values;
use crate::domain::claim::{LEAST_TTL, MOST_TTL};
use crate::domain::git_name::is_remote_name;
use crate::domain::policy::ClaimPolicy;
use crate::text::duration;

/// So often a remote is asked at most, and at least.
const LEAST_REFRESH: TimeDelta = TimeDelta::seconds(1);
const MOST_REFRESH: TimeDelta = TimeDelta::hours(1);

/// How long a claim holds, what shows and keeps it, and who says whose it is.
pub(super) fn policy(values: &mut Values<'_>) -> ClaimPolicy {
    let default = ClaimPolicy::default();
    let ttl = values.duration("claims.ttl").unwrap_or(default.ttl);
    if let Some(offset) = values.offset("claims.ttl").filter(|_| ttl < LEAST_TTL || ttl > MOST_TTL) {
        let (least, most) = (duration::text(LEAST_TTL), duration::text(MOST_TTL));
        values.refuse(
            offset,
            format!("`claims.ttl` takes from `{least}` to `{most}`: after it a claim is taken for abandoned"),
        );
    }
    let label =
        values.text("claims.label").map_or(default.label, |(_, label)| Some(label).filter(|label| !label.is_empty()));
    let heartbeat = values.duration("claims.heartbeat").unwrap_or(default.heartbeat.min(ttl / 3));
    if let Some(offset) = values.offset("claims.heartbeat").filter(|_| heartbeat >= ttl) {
        let (every, ttl) = (duration::text(heartbeat), duration::text(ttl));
        values.refuse(
            offset,
            format!("`claims.heartbeat` of `{every}` would renew a claim that has run out: `claims.ttl` is `{ttl}`"),
        );
    }
    let refresh = values.duration("claims.refresh").unwrap_or(default.refresh);
    if let Some(offset) = values.offset("claims.refresh").filter(|_| refresh < LEAST_REFRESH || refresh > MOST_REFRESH)
    {
        let (least, most) = (duration::text(LEAST_REFRESH), duration::text(MOST_REFRESH));
        values.refuse(
            offset,
            format!("`claims.refresh` takes from `{least}` to `{most}`: so late the claims of other clones are known"),
        );
    }
    ClaimPolicy { ttl, label, heartbeat, refresh, remote: remote(values) }
}

fn remote(values: &mut Values<'_>) -> Option<String> {
    let (offset, name) = values.text("claims.remote").filter(|(_, name)| !name.is_empty())?;
    if !is_remote_name(&name) {
        values.refuse(offset, "`claims.remote` takes the name of a git remote, like `origin`; `git remote` lists them");
    }
    Some(name)
}

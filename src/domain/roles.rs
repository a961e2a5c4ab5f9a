//! Whether a role may begin on one more ticket (`[roles.NAME] max`, DESIGN.md 6.1 and 6.3).
//!
//! Must not know: what a role's program is.

use std::collections::BTreeSet;

use super::facts::{Facts, Pod, ProcessIdentity};
use super::harmless::is_harmful;
use super::refusal::Refusal;
use super::ticket::{TicketId, Timestamp};

/// The longest name of a role, or of a worker, in bytes.
pub const LONGEST_NAME: usize = 100;

/// Whether a role, or a worker, may be called so: the name stands in a commit's subject and in notes, as one word.
pub fn is_name(name: &str) -> bool {
    let odd = |c: char| c.is_whitespace() || c.is_control() || is_harmful(c);
    !name.is_empty() && name.len() <= LONGEST_NAME && !name.contains(odd)
}

/// The most tickets that are named.
const MOST_NAMED: usize = 10;

/// Refused where as many other tickets as may be are with this role already, under a fresh claim or by a live Pod.
pub fn has_room(facts: &Facts, role: &str, max: Option<usize>, id: &TicketId, now: Timestamp) -> Result<(), Refusal> {
    let Some(max) = max else { return Ok(()) };
    let claims = facts.claims.iter().filter(|(_, claim)| claim.role == role && claim.fresh_for_others(now));
    let pods = facts.pods.values().filter(|pod| pod.role == role).filter_map(|pod| pod.ticket.as_ref());
    let with: BTreeSet<_> = claims.map(|(ticket, _)| ticket).chain(pods).filter(|ticket| *ticket != id).collect();
    if with.len() < max {
        return Ok(());
    }
    let tickets = if max == 1 { "ticket" } else { "tickets" };
    let message = format!("`{id}` is not started: {role} has {} of at most {max} {tickets} already", with.len());
    let named = with.iter().take(MOST_NAMED).map(|ticket| format!("`{ticket}`"));
    let more = with.len().checked_sub(MOST_NAMED).filter(|more| *more > 0).map(|more| format!("and {more} more"));
    Err(Refusal::new(message)
        .evidence(named.chain(more))
        .hint(format!("`[roles.{role}] max` says how many there may be")))
}

/// Refused where somebody else is at work on the ticket, whoever holds its claim.
pub fn nobody_else_works(facts: &Facts, id: &TicketId, asker: &ProcessIdentity) -> Result<(), Refusal> {
    match facts.pods_on(id).find(|pod| pod.process != *asker) {
        None => Ok(()),
        Some(pod) => {
            let Pod { id: pod, role, process, .. } = pod;
            let message = format!("`{id}` is not started: {pod} ({role}, pid {}) works on it", process.pid);
            Err(Refusal::new(message)
                .hint(format!("`yoi why {id}` says what it waits for; `yoi pod list` shows who is at work")))
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::domain::facts::{Claim, PodId, PodState, TimeDeltaSeconds};
    use crate::domain::sample::{at, id};

    fn process(pid: u32) -> ProcessIdentity {
        ProcessIdentity { host: "h".into(), boot_id: "b".into(), pid, started: 1 }
    }

    fn facts() -> Facts {
        let claim = |role: &str, minutes: i64| Claim {
            worker: "w".into(),
            role: role.into(),
            beat: at(0),
            ttl: TimeDeltaSeconds(minutes * 60),
        };
        let mut facts = Facts::default();
        facts.claims.insert(id("a"), claim("coder", 90));
        facts.claims.insert(id("b"), claim("reviewer", 90));
        facts.claims.insert(id("stale"), claim("coder", 1));
        for (ticket, pid) in [("a", 7), ("c", 8)] {
            let pod = Pod {
                id: PodId(format!("pod-{ticket}")),
                role: "coder".into(),
                ticket: Some(id(ticket)),
                agent: None,
                process: process(pid),
                state: PodState::Busy,
                since: at(0),
                supervised: true,
            };
            facts.pods.insert(pod.id.clone(), pod);
        }
        facts
    }

    #[test]
    fn a_role_has_room_for_as_many_other_tickets_as_it_may() {
        let now = at(0) + TimeDelta::minutes(10);
        let facts = facts();
        for (role, max, ticket, room) in [
            ("coder", None, "d", true),
            ("coder", Some(3), "d", true),
            // `a` by claim and by Pod, `c` by Pod; the stale claim of `stale` is nobody's.
            ("coder", Some(2), "d", false),
            ("coder", Some(2), "c", true),
            ("coder", Some(1), "a", false),
            ("reviewer", Some(1), "d", false),
            ("reviewer", Some(1), "b", true),
            ("writer", Some(1), "d", true),
        ] {
            assert_eq!(has_room(&facts, role, max, &id(ticket), now).is_ok(), room, "{role} {max:?} {ticket}");
        }
        let refusal = has_room(&facts, "coder", Some(2), &id("d"), now).unwrap_err();
        insta::assert_snapshot!(refusal.to_string(), @r"`d` is not started: coder has 2 of at most 2 tickets already");
    }

    #[test]
    fn whoever_is_at_work_on_it_is_named_but_for_the_asker() {
        let facts = facts();
        assert!(nobody_else_works(&facts, &id("b"), &process(9)).is_ok());
        assert!(nobody_else_works(&facts, &id("c"), &process(8)).is_ok());
        let refusal = nobody_else_works(&facts, &id("c"), &process(9)).unwrap_err();
        insta::assert_snapshot!(refusal.message, @r"`c` is not started: pod-c (coder, pid 8) works on it");
    }
}

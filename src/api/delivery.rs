//! How kicks reached the Orchestrator lately, and what waits to: in words, for `status`, `why` and `kick`.

use crate::daemon::Host;
use crate::domain::classify::clock;
use crate::domain::engine::{Reach, Record, RecordKind, Way};
use crate::domain::explain::reached;
use crate::ports::Query;

/// How far back the last delivery is looked for.
const RECENT: usize = 500;

/// The last delivery: when, how, and what came of it.
pub(super) fn last(host: &Host) -> Option<String> {
    let recent = host.history().records(&Query { newest: Some(RECENT), ..Query::default() }).unwrap_or_default();
    recent.into_iter().rev().find_map(|stored| in_words(&stored.record))
}

fn in_words(record: &Record) -> Option<String> {
    let at = clock(record.at);
    let text = |key: &str| record.data.get(key).and_then(serde_json::Value::as_str);
    match record.kind {
        RecordKind::KickSent => {
            Some(format!("kick {} was handed over at {at} ({})", text("kick")?, text("way").unwrap_or("exec")))
        }
        RecordKind::TurnEnded if record.data.get("delivered")?.as_bool() == Some(false) => {
            Some(format!("kick {} could not be handed over at {at}: {}", text("kick")?, text("failed")?))
        }
        RecordKind::WakeEnded => Some(match text("failed") {
            Some(why) => format!("waking the session failed at {at}: {why}"),
            None => format!("the session was woken at {at}"),
        }),
        _ => None,
    }
}

/// What waits for the session's next contact, and what is in the way.
pub(super) fn pending(host: &Host) -> Option<String> {
    let engine = host.engine();
    let session = engine.summary(host.now()).live?;
    let lines = reached(session, engine.policy().session.can_wake);
    session.pending.as_ref().map(|_| lines.join(" "))
}

/// How a kick that is decided now would be handed over, where that is not at once.
pub(super) fn later(host: &Host) -> Option<&'static str> {
    let engine = host.engine();
    let summary = engine.summary(host.now());
    let attached = *summary.reach == Reach::Session && summary.live.is_some_and(|live| live.way == Way::Attached);
    let woken = engine.policy().session.can_wake;
    attached.then_some(if woken {
        "at the session's next prompt or stop, for which it is woken"
    } else {
        "at the session's next prompt or stop; no [orchestrator] wake is in effect"
    })
}

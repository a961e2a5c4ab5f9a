//! What of the past still concerns somebody: an alert or inbox entry is no more than history as soon as it is no longer
//! true, and so is a turn that failed before the Orchestrator's command was replaced.
//!
//! Must not know: where history is kept, how it is shown.

use std::collections::BTreeSet;

use serde_json::Value;

use super::classify::clock;
use super::engine::{Record, Session};
use super::kick::PATIENCE;
use super::ledger::{Ledger, SavedLedger};
use super::ticket::Timestamp;

/// What an entry is about (`about` in its data), where it can come to be over. Of each only the newest is shown.
pub const SETTINGS: &str = "settings";
/// Turns that failed one after the other.
pub const FAILURES: &str = "failures";
/// Kicks that led to nothing one after the other.
pub const FRUITLESS: &str = "fruitless";
/// Too many of them within an hour.
pub const BRAKE: &str = "brake";
/// A rate limit.
pub const RATE_LIMIT: &str = "rate_limit";
/// A session that cannot be woken.
pub const WAKING: &str = "waking";
/// A turn that is silent.
pub const SILENCE: &str = "silence";
/// A report that did not count.
pub const IGNORED: &str = "ignored_report";
/// The remote that keeps the claims does not answer.
pub const REMOTE: &str = "remote";
/// A second session.
pub const REFUSED: &str = "refused_session";

/// What is true now, of all that an entry can be about. `settings`: they cannot be used as they are written; `remote`: a
/// person was told that it does not answer, and it does not still.
pub fn current(
    saved: &SavedLedger,
    session: Option<&Session>,
    (settings, remote): (bool, bool),
    max_per_hour: u32,
    now: Timestamp,
) -> BTreeSet<&'static str> {
    let standing = Ledger { saved: saved.clone(), ..Ledger::default() }.standing(max_per_hour, now);
    let holds = [
        (SETTINGS, settings),
        (REMOTE, remote),
        (FAILURES, standing.failures >= PATIENCE),
        (FRUITLESS, standing.fruitless >= PATIENCE),
        (BRAKE, standing.brake_until.is_some()),
        (RATE_LIMIT, standing.rate_limited_until.is_some_and(|until| until > now)),
        (WAKING, session.is_some_and(|session| session.waking.failures > 0)),
        (SILENCE, session.is_some_and(|session| session.silent)),
        (IGNORED, session.is_some_and(|session| session.ignored.is_some())),
        (REFUSED, session.is_some_and(|session| session.refused.is_some())),
    ];
    holds.into_iter().filter_map(|(about, holds)| holds.then_some(about)).collect()
}

/// Whether the next entry, from the newest on, still concerns somebody. Each kind of `current` is shown once.
pub fn still_holds(data: &Value, current: &mut BTreeSet<&'static str>) -> bool {
    data.get("about").and_then(Value::as_str).is_none_or(|about| current.remove(about))
}

/// What became of the Orchestrator's last turn, where that still says something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LastTurn {
    /// It failed; why.
    Failed(String),
    /// A rate limit ended it.
    Limited {
        /// How that was seen.
        why: String,
        /// It holds until then.
        until: Timestamp,
        /// Too many of them came one after the other.
        given_up: bool,
    },
}

/// Judges the record of its end.
pub fn last_turn(turn: &Record, saved: &SavedLedger, now: Timestamp) -> Option<LastTurn> {
    // What a former command came to says nothing of this one.
    if saved.anew_at.is_some_and(|anew| turn.at <= anew) {
        return None;
    }
    let why = turn.data.get("failed")?.as_str()?.to_owned();
    if turn.data.get("limited_until").is_none_or(Value::is_null) {
        return Some(LastTurn::Failed(why));
    }
    let until = saved.rate_limited_until.filter(|until| *until > now)?;
    Some(LastTurn::Limited { why, until, given_up: saved.failures >= PATIENCE })
}

impl LastTurn {
    /// In a sentence without its stop. `at`: when the turn ended; `look`: where more is to be seen of a failure.
    pub fn in_words(&self, at: &str, look: &str) -> String {
        match self {
            LastTurn::Failed(why) => format!("The Orchestrator's last turn failed at {at}: {why}{look}"),
            LastTurn::Limited { why, until, given_up } => {
                let then = if *given_up {
                    "after that only `yoi kick`, a panel or a restart kicks"
                } else {
                    "it goes on by itself"
                };
                format!(
                    "The Orchestrator is rate limited until {}; {then} (its last turn, at {at}: {why})",
                    clock(*until)
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::engine::RecordKind;
    use crate::domain::sample::at;

    #[test]
    fn an_entry_is_shown_while_it_is_true_and_once() {
        let shown = |saved: &SavedLedger, settings: bool, entries: &[&str]| {
            let mut current = current(saved, None, (settings, settings), 6, at(100));
            let data = entries.iter().map(|about| json!({"what": about, "about": about}));
            data.filter(|data| still_holds(data, &mut current)).count()
        };
        let well = SavedLedger::default();
        assert_eq!(
            shown(
                &well,
                false,
                &[SETTINGS, FAILURES, FRUITLESS, BRAKE, RATE_LIMIT, WAKING, SILENCE, IGNORED, REFUSED, REMOTE]
            ),
            0
        );
        assert_eq!(shown(&well, true, &[SETTINGS, SETTINGS, SETTINGS, REMOTE]), 2);
        let failed = SavedLedger { failures: 3, ..SavedLedger::default() };
        assert_eq!(shown(&failed, false, &[FAILURES, FRUITLESS, FAILURES]), 1);
        let limited = |until| SavedLedger { rate_limited_until: Some(at(until)), ..SavedLedger::default() };
        assert_eq!((shown(&limited(101), false, &[RATE_LIMIT]), shown(&limited(100), false, &[RATE_LIMIT])), (1, 0));
        let braked = SavedLedger { fruitless: 3, fruitless_at: vec![at(0); 6], ..SavedLedger::default() };
        assert_eq!(shown(&braked, false, &[BRAKE, FRUITLESS]), 2);
        // What is about nothing of the kind stays.
        assert!(still_holds(&json!({"what": "a text was saved over"}), &mut BTreeSet::new()));
    }

    #[test]
    fn a_last_turn_is_a_failure_a_limit_or_nobodys_business() {
        let check = |data: Value, saved: SavedLedger, expected: Option<LastTurn>| {
            let turn = Record { kind: RecordKind::TurnEnded, at: at(50), ticket: None, data };
            assert_eq!(last_turn(&turn, &saved, at(100)), expected, "{turn:?}");
        };
        let failed = || json!({"failed": "exit code 1", "limited_until": null});
        let limited = || json!({"failed": "exit code 75", "limited_until": "2026-01-01T00:00:00Z"});
        let saved = |anew: Option<i64>, until: Option<i64>| SavedLedger {
            anew_at: anew.map(at),
            rate_limited_until: until.map(at),
            ..SavedLedger::default()
        };
        check(json!({"failed": null}), saved(None, None), None);
        check(failed(), saved(None, Some(200)), Some(LastTurn::Failed("exit code 1".into())));
        check(json!({"failed": "old"}), saved(None, None), Some(LastTurn::Failed("old".into())));
        check(
            limited(),
            saved(None, Some(200)),
            Some(LastTurn::Limited { why: "exit code 75".into(), until: at(200), given_up: false }),
        );
        check(limited(), saved(None, Some(100)), None);
        // Another command since.
        check(failed(), saved(Some(50), None), None);
        check(failed(), saved(Some(49), None), Some(LastTurn::Failed("exit code 1".into())));
    }
}

//! The remote that says who has a claim: when it is asked for all of them, and what is said of one that does not answer
//! (DESIGN.md 6.2).
//!
//! Must not know: git; how it is asked.

use chrono::TimeDelta;
use serde_json::json;

use super::{Effect, Engine, RecordKind};
use crate::domain::classify::clock;
use crate::domain::concern;
use crate::domain::ticket::Timestamp;

/// With so many unanswered questions in a row a person is told: a single one happens on every network.
const TOLD_AFTER: u32 = 2;
/// The longest wait between two questions that are not answered, where `[claims] refresh` is not longer itself.
const LONGEST_WAIT: TimeDelta = TimeDelta::minutes(5);

/// What is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Remote {
    /// When it is asked next; None before the start.
    due: Option<Timestamp>,
    under_way: bool,
    seen_at: Option<Timestamp>,
    /// Since when it does not answer, how often in a row, and what git last said.
    silent: Option<Silence>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Silence {
    since: Timestamp,
    count: u32,
    why: String,
}

/// How the remote stands, for `status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteSummary<'a> {
    /// Its name in git.
    pub name: &'a str,
    /// When it last said which claims there are.
    pub seen_at: Option<Timestamp>,
    /// Since when it does not answer, and why not.
    pub silent: Option<(Timestamp, &'a str)>,
    /// Whether a person was told that it does not.
    pub told: bool,
}

/// What is to be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    /// It does not answer.
    Silent,
    /// It answers again, after it had been said that it did not.
    Back(Timestamp),
}

impl Remote {
    pub(super) fn begin(&mut self, now: Timestamp) {
        self.due = Some(now);
    }

    fn next(&self) -> Option<Timestamp> {
        self.due.filter(|_| !self.under_way)
    }

    pub(super) fn shift(&mut self, back: TimeDelta) {
        let since = self.silent.as_mut().map(|silent| &mut silent.since);
        self.due.iter_mut().chain(&mut self.seen_at).chain(since).for_each(|at| *at -= back);
    }

    /// It was asked. Returns what is to be said of that.
    fn asked(&mut self, failed: Option<String>, refresh: TimeDelta, jitter: u16, now: Timestamp) -> Option<Word> {
        self.under_way = false;
        let Some(why) = failed else {
            (self.due, self.seen_at) = (Some(now + refresh), Some(now));
            let silent = self.silent.take()?;
            return (silent.count >= TOLD_AFTER).then_some(Word::Back(silent.since));
        };
        let before = self.silent.take();
        let count = before.as_ref().map_or(0, |silent| silent.count).saturating_add(1);
        let since = before.map_or(now, |silent| silent.since);
        self.silent = Some(Silence { since, count, why });
        self.due = Some(now + wait(count, refresh, jitter));
        (count == TOLD_AFTER).then_some(Word::Silent)
    }
}

/// After so many unanswered questions in a row: twice as long each time, and up to a quarter longer by `jitter` (per mille), so
/// that many clones do not ask at the same moment.
fn wait(count: u32, refresh: TimeDelta, jitter: u16) -> TimeDelta {
    let longest = LONGEST_WAIT.max(refresh);
    let doubled = 1_i32.checked_shl(count.saturating_sub(1)).filter(|factor| *factor > 0);
    let wait = doubled.and_then(|factor| refresh.checked_mul(factor)).map_or(longest, |wait| wait.min(longest));
    wait + wait * i32::from(jitter.min(1000)) / 4000
}

impl Engine {
    /// How the remote stands; None where claims are this repository's own.
    pub fn remote_summary(&self) -> Option<RemoteSummary<'_>> {
        let silent = self.remote.silent.as_ref();
        Some(RemoteSummary {
            name: self.policy.claims.remote.as_deref()?,
            seen_at: self.remote.seen_at,
            silent: silent.map(|silent| (silent.since, silent.why.as_str())),
            told: silent.is_some_and(|silent| silent.count >= TOLD_AFTER),
        })
    }

    /// When the remote is asked next.
    pub(super) fn remote_due(&self) -> Option<Timestamp> {
        self.policy.claims.remote.as_ref().and_then(|_| self.remote.next())
    }

    pub(super) fn ask_remote_if_due(&mut self, now: Timestamp) {
        if self.remote_due().is_some_and(|at| at <= now) {
            self.remote.under_way = true;
            self.want(Effect::AskRemote);
        }
    }

    /// The remote was asked for all claims: whether any is another than it was, or why it did not say.
    pub(super) fn remote_asked(&mut self, answer: Result<bool, String>, jitter: u16, now: Timestamp) {
        let Some(name) = self.policy.claims.remote.clone() else { return };
        if answer == Ok(true) {
            self.want(Effect::ReadClaims);
        }
        let word = self.remote.asked(answer.err(), self.policy.claims.refresh, jitter, now);
        let (what, to_do) = match word {
            None => return,
            Some(Word::Silent) => self.silent_words(&name),
            Some(Word::Back(since)) => {
                let what = format!(
                    "the remote `{name}`, which keeps the claims, answers again; it did not since {}",
                    clock(since)
                );
                (what, None)
            }
        };
        self.record(RecordKind::Inbox, None, json!({"what": what, "do": to_do, "about": concern::REMOTE}), now);
    }

    fn silent_words(&self, name: &str) -> (String, Option<&'static str>) {
        let known = self.remote.seen_at.map_or_else(
            || "what others have claimed since this daemon started is not known".into(),
            |at| format!("what others have claimed since {} is not known", clock(at)),
        );
        let silent = self.remote.silent.as_ref();
        let why = silent.map(|silent| silent.why.as_str()).unwrap_or_default();
        let what = format!("the remote `{name}`, which keeps the claims, does not answer: {known}; {why}");
        (what, Some("nothing can be claimed until it does, but with `--local` for this machine alone"))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::domain::sample::at;

    #[test]
    fn an_unanswered_question_is_asked_again_later_and_later() {
        let minute = TimeDelta::minutes(1);
        let table = [
            (1, minute, 0, 60),
            (1, minute, 1000, 75),
            (2, minute, 0, 120),
            (3, minute, 500, 270),
            (4, minute, 0, 300),
            (99, minute, 0, 300),
            (u32::MAX, minute, 1000, 375),
            (1, TimeDelta::seconds(1), 0, 1),
            (9, TimeDelta::seconds(1), 0, 256),
            // Who asks seldom is not made to ask more often.
            (3, TimeDelta::minutes(20), 0, 1200),
        ];
        for (count, refresh, jitter, seconds) in table {
            assert_eq!(wait(count, refresh, jitter), TimeDelta::seconds(seconds), "{count} {refresh} {jitter}");
        }
    }

    #[test]
    fn silence_is_told_once_and_its_end_once() {
        let mut remote = Remote::default();
        assert_eq!(remote.next(), None, "before the start");
        remote.begin(at(0));
        // `+` an answer, `-` none; each a minute after the last.
        let story = "+-+--+---++-";
        let mut told = Vec::new();
        for (minute, answer) in story.chars().enumerate() {
            let now = at(60 * i64::try_from(minute).unwrap());
            let failed = (answer == '-').then(|| "no route".to_owned());
            let word = remote.asked(failed, TimeDelta::minutes(1), 0, now);
            told.push(format!("{answer} {} {word:?}", (remote.next().unwrap() - now).num_seconds()));
        }
        assert_snapshot!(told.join("\n"), @r"
        + 60 None
        - 60 None
        + 60 None
        - 60 None
        - 120 Some(Silent)
        + 60 Some(Back(2026-11-30T09:03:00Z))
        - 60 None
        - 120 Some(Silent)
        - 240 None
        + 60 Some(Back(2026-11-30T09:06:00Z))
        + 60 None
        - 60 None
        ");
    }
}

//! `removed`, or `retained:OWNER:REASON:EXPIRY`: what became of a workspace, as people write it.
//!
//! Must not know: the current time (it is an argument), what was looked at.

use chrono::NaiveDate;

use super::duration;
use super::timestamp::{self, Reading};
use crate::domain::evidence::close::Workspace;
use crate::domain::ticket::Timestamp;

/// How it is written.
const FORM: &str = "retained:OWNER:REASON:EXPIRY";

/// Reads it; each part that is missing or wrong is a line.
pub fn read(text: &str, now: Timestamp) -> Result<Workspace, Vec<String>> {
    let text = text.trim();
    if text == "removed" {
        return Ok(Workspace::Removed);
    }
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    if kind.trim() != "retained" {
        let what = if text.is_empty() { "it is blank".to_owned() } else { format!("not `{text}`") };
        return Err(vec![format!("--workspace is removed or {FORM}, {what}")]);
    }
    let (owner, rest) = rest.split_once(':').unwrap_or((rest, ""));
    let (reason, until) = last(rest, now);
    let (owner, reason) = (owner.trim(), reason.trim());
    let mut lines = Vec::new();
    if owner.is_empty() {
        lines.push(format!("--workspace {FORM}: OWNER is missing: who looks after it"));
    }
    if reason.is_empty() {
        lines.push(format!("--workspace {FORM}: REASON is missing: what it is kept for"));
    }
    match until {
        Ok(until) if lines.is_empty() => {
            Ok(Workspace::Retained { owner: owner.to_owned(), reason: reason.to_owned(), until })
        }
        Ok(_) => Err(lines),
        Err(why) => {
            lines.push(format!("--workspace {FORM}: {why}"));
            Err(lines)
        }
    }
}

/// The reason, and the expiry at its end. Both may have colons in them: the expiry is the longest end that is one.
fn last(rest: &str, now: Timestamp) -> (&str, Result<Timestamp, String>) {
    let form = "as a time (2026-12-07T12:00:00Z), a date (2026-12-07) or how long from now on (7d)";
    // The reason itself may be missing.
    let ends = std::iter::once((rest, "")).filter(|(end, _)| !end.is_empty()).map(|(end, before)| (before, end));
    let cuts = rest.match_indices(':').map(|(at, _)| (&rest[..at], &rest[at + 1..]));
    let found = ends.chain(cuts).find_map(|(before, end)| Some((before, expiry(end.trim(), now)?)));
    if let Some((reason, until)) = found {
        return (reason, Ok(until));
    }
    match rest.rsplit_once(':') {
        Some((reason, end)) if end.trim().is_empty() => (reason, Err(format!("EXPIRY is missing: {form}"))),
        Some((reason, end)) => (reason, Err(format!("EXPIRY is written {form}, not `{}`", end.trim()))),
        None => (rest, Err(format!("EXPIRY is missing: {form}"))),
    }
}

fn expiry(text: &str, now: Timestamp) -> Option<Timestamp> {
    if let Reading::Exact(moment) = timestamp::read(text) {
        return Some(moment);
    }
    // A day is over when it ends.
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().and_then(|day| day.and_hms_opt(23, 59, 59));
    day.map(|end| end.and_utc()).or_else(|| duration::parse(text).ok().map(|span| now + span))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::classify::clock;
    use crate::domain::sample::at;

    #[test]
    fn every_part_is_read_or_named() {
        // 2026-11-30T09:00:00Z is now.
        let rows = [
            ("removed", "removed"),
            (" removed ", "removed"),
            ("retained:ana:review:7d", "ana | review | 2026-12-07T09:00:00Z"),
            ("retained: ana : for review : 24h ", "ana | for review | 2026-12-01T09:00:00Z"),
            (
                "retained:ana:see http://x.org:80/a: the log:2026-12-07",
                "ana | see http://x.org:80/a: the log | 2026-12-07T23:59:59Z",
            ),
            ("retained:ana:at 10:30: review:2026-12-07T12:30:00Z", "ana | at 10:30: review | 2026-12-07T12:30:00Z"),
            ("retained:ana:review:2026-12-07T12:30:00+01:00", "ana | review | 2026-12-07T11:30:00Z"),
            ("retained:ana:until 2026-12-05:2026-12-07", "ana | until 2026-12-05 | 2026-12-07T23:59:59Z"),
            ("retained", "OWNER is missing; REASON is missing; EXPIRY is missing"),
            ("retained:", "OWNER is missing; REASON is missing; EXPIRY is missing"),
            ("retained:ana", "REASON is missing; EXPIRY is missing"),
            ("retained:ana:review", "EXPIRY is missing"),
            ("retained:ana:review:", "EXPIRY is missing"),
            ("retained:ana:7d", "REASON is missing"),
            ("retained:ana::7d", "REASON is missing"),
            ("retained::review:7d", "OWNER is missing"),
            ("retained:ana:review:soon", "EXPIRY is written"),
            ("retained:ana:review:2026-02-30", "EXPIRY is written"),
            ("kept:ana:review:7d", "removed or retained"),
            ("", "it is blank"),
        ];
        for (written, expected) in rows {
            let shown = match read(written, at(0)) {
                Ok(Workspace::Removed) => "removed".to_owned(),
                Ok(Workspace::Retained { owner, reason, until }) => format!("{owner} | {reason} | {}", clock(until)),
                Err(lines) => {
                    let parts: Vec<_> = expected.split("; ").collect();
                    assert_eq!(lines.len(), parts.len(), "{written}: {lines:?}");
                    assert!(lines.iter().zip(&parts).all(|(line, part)| line.contains(part)), "{written}: {lines:?}");
                    continue;
                }
            };
            assert_eq!(shown, expected, "{written}");
        }
    }
}

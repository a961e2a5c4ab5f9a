//! Reads the timestamps that people really write, and says which are not RFC 3339.
//!
//! Must not know: the current time, the machine's time zone (a text without a zone is UTC). DESIGN.md 2.1.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, Utc};

use crate::domain::ticket::Timestamp;

/// A timestamp as read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// RFC 3339.
    Exact(Timestamp),
    /// Another form that leaves no doubt but the zone, which is then taken as UTC.
    Odd(Timestamp),
    /// No moment can be made of it.
    Unreadable,
}

/// With an offset, in other forms than RFC 3339.
const ZONED: [&str; 6] = [
    "%Y-%m-%dT%H:%M:%S%.f%#z",
    "%Y-%m-%d %H:%M:%S%.f %#z",
    "%Y-%m-%d %H:%M:%S%.f%#z",
    "%Y-%m-%dT%H:%M%#z",
    "%Y-%m-%d %H:%M %#z",
    "%Y-%m-%d %H:%M%#z",
];
const LOCAL: [&str; 4] = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"];
/// As RFC 3339 has them. chrono reads years far beyond, up to the last moment that it can count: adding to that one is a
/// panic.
const YEARS: std::ops::RangeInclusive<i32> = 0..=9999;
const DATES: [&str; 2] = ["%Y-%m-%d", "%Y/%m/%d"];

/// Reads one timestamp.
pub fn read(text: &str) -> Reading {
    let text = text.trim();
    if let Ok(moment) = DateTime::parse_from_rfc3339(text) {
        let exact = text.as_bytes().get(10).is_some_and(|b| matches!(b, b'T' | b't'));
        let moment = moment.with_timezone(&Utc);
        return if exact { Reading::Exact(moment) } else { Reading::Odd(moment) };
    }
    let zoned =
        || ZONED.iter().find_map(|form| DateTime::parse_from_str(text, form).ok()).map(|t| t.with_timezone(&Utc));
    let bare = text.strip_suffix(['Z', 'z']).unwrap_or(text).trim_end();
    let local = || LOCAL.iter().find_map(|form| NaiveDateTime::parse_from_str(bare, form).ok());
    let date = || DATES.iter().find_map(|form| NaiveDate::parse_from_str(text, form).ok()?.and_hms_opt(0, 0, 0));
    let found = zoned().or_else(|| local().or_else(date).map(|naive| naive.and_utc()));
    found.filter(|moment| YEARS.contains(&moment.year())).map_or(Reading::Unreadable, Reading::Odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let shown = match read(text) {
            Reading::Exact(t) => format!("exact {}", t.format("%FT%T%.fZ")),
            Reading::Odd(t) => format!("odd {}", t.format("%FT%T%.fZ")),
            Reading::Unreadable => "unreadable".into(),
        };
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn what_people_write_is_read_or_named() {
        check("2026-11-30T08:00:00Z", "exact 2026-11-30T08:00:00Z");
        check("2026-11-30T09:00:00+01:00", "exact 2026-11-30T08:00:00Z");
        check("2026-11-30T08:00:00.25Z", "exact 2026-11-30T08:00:00.250Z");
        check("2026-11-30 08:00:00Z", "odd 2026-11-30T08:00:00Z");
        check("2026-11-30 09:00 +0100", "odd 2026-11-30T08:00:00Z");
        check("2026-11-30T08:00", "odd 2026-11-30T08:00:00Z");
        check("2026-11-30 08:00:00", "odd 2026-11-30T08:00:00Z");
        check("2016-12-15", "odd 2016-12-15T00:00:00Z");
        check("12345-01-01T00:00:00Z", "unreadable");
        // Moments at the end of what can be counted: an hour later is nothing that can be.
        check("+262142-12-31 23:59:59", "unreadable");
        check("-262143-01-01", "unreadable");
        check("+10000-01-01", "unreadable");
        check("9999-12-31 23:59:59", "odd 9999-12-31T23:59:59Z");
        check("2026-02-30T08:00:00Z", "unreadable");
        check("2026-02-30", "unreadable");
        check("yesterday", "unreadable");
        check("1764489600", "unreadable");
        check("", "unreadable");
    }
}

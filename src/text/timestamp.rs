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
    if let Some(moment) = usual(text) {
        return Reading::Exact(moment);
    }
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

/// `2026-11-30T08:00:00Z`, as nearly all are written: the same moment that the reader of all forms finds, sooner.
fn usual(text: &str) -> Option<Timestamp> {
    const MARKS: [(usize, u8); 6] = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'Z')];
    let bytes: &[u8; 20] = text.as_bytes().try_into().ok()?;
    if MARKS.iter().any(|(at, mark)| bytes[*at] != *mark) {
        return None;
    }
    let number = |from: usize, to: usize| {
        let mut digits = bytes[from..to].iter();
        digits.try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + u32::from(digit - b'0')))
    };
    let date = NaiveDate::from_ymd_opt(number(0, 4)?.try_into().ok()?, number(5, 7)?, number(8, 10)?)?;
    Some(date.and_hms_opt(number(11, 13)?, number(14, 16)?, number(17, 19)?)?.and_utc())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_read_sooner_is_the_same_moment(
            text in "[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]Z|[0-9T:Z +-]{20}"
        ) {
            let moment = DateTime::parse_from_rfc3339(&text).ok().map(|moment| moment.with_timezone(&Utc));
            if let Some(sooner) = usual(&text) {
                prop_assert_eq!(Some(sooner), moment);
            } else {
                // A leap second is left to the other reader.
                prop_assert!(moment.is_none() || text.ends_with(":60Z") || !text.ends_with('Z'));
            }
        }
    }

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

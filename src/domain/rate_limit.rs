//! A rate limit as the Orchestrator's command reports it: by its exit code, or by what it printed last (DESIGN.md 5).
//!
//! Must not know: how a program is run; what follows from a rate limit.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ticket::Timestamp;

/// Nobody is believed who wants to be left alone for longer.
pub const LONGEST_WAIT: Duration = Duration::from_hours(7 * 24);
/// Where nobody says how long a limit holds, the wait doubles from one to the next in a row, up to this.
const LONGEST_DOUBLED: Duration = Duration::from_hours(4);
/// How much may stand between the words and the number: `": "`, ` in `.
const BETWEEN: usize = 6;

/// A rate limit, as it was reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateLimit {
    /// How long it holds; where `named` is false, how long the first of several in a row is waited for.
    pub wait: Duration,
    /// Whoever reported it said how long.
    #[serde(default)]
    pub named: bool,
}

impl RateLimit {
    /// How long to wait where it is the n-th in a row (the first is 1).
    pub fn wait_for(self, nth: u32) -> Duration {
        if self.named {
            return self.wait.min(LONGEST_WAIT);
        }
        let doubled = self.wait.saturating_mul(2_u32.saturating_pow(nth.saturating_sub(1)));
        doubled.min(LONGEST_DOUBLED.max(self.wait)).min(LONGEST_WAIT)
    }
}

/// What says that a turn ended because of a rate limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateLimitSigns {
    /// Exit codes.
    pub exit_codes: Vec<i32>,
    /// Pieces of text near the end of the output, whatever their case.
    pub patterns: Vec<String>,
    /// How long to wait where the output does not say it.
    pub wait: Duration,
}

impl RateLimitSigns {
    /// The rate limit of a turn that exited with this code (None: it did not exit by itself) and printed this last; None
    /// where nothing says that there was one.
    pub fn limit_of(&self, exit_code: Option<i32>, output: &str, now: Timestamp) -> Option<RateLimit> {
        let output = output.to_lowercase();
        let by_code = exit_code.is_some_and(|code| self.exit_codes.contains(&code));
        let by_text = || self.patterns.iter().any(|pattern| output.contains(&pattern.to_lowercase()));
        (by_code || by_text()).then(|| {
            let named = named_wait(&output, now);
            RateLimit { wait: named.unwrap_or(self.wait).min(LONGEST_WAIT), named: named.is_some() }
        })
    }
}

/// How long a limit holds, where a text says so: a time to wait, or a moment.
pub fn named_wait(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.to_lowercase();
    retry_after(&text).or_else(|| (reset_at(&text)? - now).max(chrono::TimeDelta::zero()).to_std().ok())
}

/// The last `limit reached|1767225600` or `resets_at: 1767225600` of a text in lower case: seconds since 1970.
fn reset_at(text: &str) -> Option<Timestamp> {
    ["limit reached|", "resets_at"].into_iter().find_map(|words| {
        let rest = &text[text.rfind(words)? + words.len()..];
        let digits = rest.find(|c: char| c.is_ascii_digit()).filter(|between| *between <= BETWEEN)?;
        let number: String = rest[digits..].chars().take_while(char::is_ascii_digit).collect();
        Timestamp::from_timestamp(number.parse().ok()?, 0)
    })
}

/// The last `retry-after: 120`, `"retry_after": 2.5`, `retry after 90s`, `retry after 2 minutes` of a text in lower
/// case. A number without a unit is seconds.
fn retry_after(text: &str) -> Option<Duration> {
    text.rmatch_indices("retry").find_map(|(at, word)| {
        let rest = text[at + word.len()..].trim_start_matches(['-', '_', ' ']).strip_prefix("after")?;
        let digits = rest.find(|c: char| c.is_ascii_digit()).filter(|between| *between <= BETWEEN)?;
        let rest = &rest[digits..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, unit) = rest.split_at(end);
        let number: f64 = number.trim_end_matches('.').parse().ok()?;
        let unit: String = unit.trim_start().chars().take_while(char::is_ascii_alphabetic).collect();
        let seconds = match unit.as_str() {
            "ms" | "millisecond" | "milliseconds" => number / 1000.0,
            "m" | "min" | "minute" | "minutes" => number * 60.0,
            "h" | "hour" | "hours" => number * 3600.0,
            _ => number,
        };
        Duration::try_from_secs_f64(seconds.ceil()).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sample::at;

    fn check(code: Option<i32>, output: &str) -> Option<u64> {
        let signs = RateLimitSigns {
            exit_codes: vec![75, 76],
            patterns: vec!["Usage limit".into(), "429".into()],
            wait: Duration::from_mins(15),
        };
        let limit = signs.limit_of(code, output, at(0))?;
        assert!(limit.named || limit.wait == signs.wait);
        Some(limit.wait.as_secs())
    }

    #[test]
    fn the_wait_doubles_where_nobody_says_how_long() {
        let waits = |wait: u64, named| -> Vec<_> {
            let limit = RateLimit { wait: Duration::from_secs(wait), named };
            [1, 2, 3, 4, 5, 6, 50, u32::MAX].map(|nth| limit.wait_for(nth).as_secs()).into()
        };
        assert_eq!(waits(900, false), [900, 1800, 3600, 7200, 14_400, 14_400, 14_400, 14_400]);
        assert_eq!(waits(30_000, false), [30_000; 8], "never less than what was asked for");
        assert_eq!(waits(0, false), [0; 8]);
        assert_eq!(waits(7, true), [7; 8]);
        assert_eq!(waits(u64::MAX, true), [LONGEST_WAIT.as_secs(); 8]);
    }

    #[test]
    fn a_moment_may_be_named_too() {
        let wait = |text: &str| named_wait(text, at(0)).map(|wait| wait.as_secs());
        let then = (at(0) + chrono::TimeDelta::minutes(90)).timestamp();
        assert_eq!(wait(&format!("Claude AI usage limit reached|{then}")), Some(5400));
        assert_eq!(wait(&format!("{{\"resets_at\": {then}}}")), Some(5400));
        assert_eq!(wait("limit reached|1000000000"), Some(0), "it is over");
        for odd in ["limit reached", "limit reached|soon", "limit reached|99999999999999999999", "resets_at: noon"] {
            assert_eq!(wait(odd), None, "{odd}");
        }
    }

    #[test]
    fn an_exit_code_or_a_text_says_it() {
        let table = [
            (Some(75), "", Some(900)),
            (Some(76), "all is well", Some(900)),
            (Some(1), "", None),
            (Some(0), "", None),
            (None, "", None),
            (Some(1), "error: USAGE LIMIT reached", Some(900)),
            (Some(0), "usage limit", Some(900)),
            (None, "HTTP 429", Some(900)),
            (Some(1), "retry-after: 60", None),
        ];
        for (code, output, expected) in table {
            assert_eq!(check(code, output), expected, "{code:?} {output}");
        }
    }

    #[test]
    fn the_output_may_say_how_long() {
        let table = [
            ("Retry-After: 120", 120),
            ("{\"retry_after\": 2.5}", 3),
            ("please retry after 90s.", 90),
            ("Retry after 2 minutes", 120),
            ("retry after 1h", 3600),
            ("retry-after: 1500 ms", 2),
            ("retry-after: 10\nretry-after: 20", 20),
            ("retry-after: soon", 900),
            ("retry after a while, error 500", 900),
            ("retry", 900),
            ("retry-after: 999999999999999999999999999", 900),
            ("retry-after: 99999999", 7 * 24 * 3600),
            ("retry-after: 1.2.3", 900),
            ("retry-after: 0", 0),
            ("r\u{e9}try after 5", 900),
        ];
        for (output, expected) in table {
            assert_eq!(check(Some(75), output), Some(expected), "{output}");
        }
    }

    #[test]
    fn nothing_is_a_sign_where_nothing_is_configured() {
        assert_eq!(RateLimitSigns::default().limit_of(Some(75), "429 retry-after: 1", at(0)), None);
    }
}

//! A rate limit as the Orchestrator's command reports it: by its exit code, or by what it printed last (DESIGN.md 5).
//!
//! Must not know: how a program is run; what follows from a rate limit.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Nobody is believed who wants to be left alone for longer.
pub const LONGEST_WAIT: Duration = Duration::from_hours(7 * 24);
/// How much may stand between the words and the number: `": "`, ` in `.
const BETWEEN: usize = 6;

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
    /// How long to wait after a turn that exited with this code (None: it did not exit by itself) and printed this
    /// last; None where nothing says that there was a rate limit.
    pub fn wait_after(&self, exit_code: Option<i32>, output: &str) -> Option<Duration> {
        let output = output.to_lowercase();
        let by_code = exit_code.is_some_and(|code| self.exit_codes.contains(&code));
        let by_text = || self.patterns.iter().any(|pattern| output.contains(&pattern.to_lowercase()));
        (by_code || by_text()).then(|| retry_after(&output).unwrap_or(self.wait).min(LONGEST_WAIT))
    }
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

    fn check(code: Option<i32>, output: &str) -> Option<u64> {
        let signs = RateLimitSigns {
            exit_codes: vec![75, 76],
            patterns: vec!["Usage limit".into(), "429".into()],
            wait: Duration::from_mins(15),
        };
        signs.wait_after(code, output).map(|wait| wait.as_secs())
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
        assert_eq!(RateLimitSigns::default().wait_after(Some(75), "429 retry-after: 1"), None);
    }
}

//! A length of time as people write it: one number and one unit.
//!
//! Must not know: which setting or option it is for. DESIGN.md section 9.

use chrono::TimeDelta;

/// Units from small to large, in milliseconds.
const UNITS: [(&str, i64); 5] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// The longest that is taken, in days: whoever writes more means something else.
const MOST_DAYS: i64 = 366;

/// Reads `90m`, `24h`, `30s`, `500ms`, `7d`. The error says what to write instead.
pub fn parse(text: &str) -> Result<TimeDelta, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return Err(format!("`{text}` is not a duration: write a whole number and a unit, like `30s`, `90m` or `24h`"));
    }
    if unit.is_empty() {
        return Err(without_unit(number));
    }
    let Some(&(_, millis)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(format!("`{text}` is not a duration: after the number comes one of ms, s, m, h, d (`90m`, `24h`)"));
    };
    let total = number.parse::<i64>().ok().and_then(|n| n.checked_mul(millis));
    match total {
        Some(0) => Err(format!("`{text}` is no time at all: write a duration longer than zero")),
        Some(total) if total <= MOST_DAYS * 86_400_000 => Ok(TimeDelta::milliseconds(total)),
        _ => Err(format!("`{text}` is too long: at most {MOST_DAYS}d")),
    }
}

/// What to say about a number that stands without a unit.
pub fn without_unit(number: &str) -> String {
    format!("`{number}` has no unit: write `{number}s` for seconds, `{number}m` for minutes or `{number}h` for hours")
}

/// The shortest text that [`parse`] reads as the same length: in the largest unit that divides it.
pub fn text(length: TimeDelta) -> String {
    let millis = length.num_milliseconds();
    // A day is never written for whole hours below two days: `24h` is how people say it.
    let fits = |(name, unit): &&(&str, i64)| millis % unit == 0 && (*name != "d" || millis >= 2 * unit);
    let (name, unit) = UNITS.iter().rev().find(fits).unwrap_or(&UNITS[0]);
    format!("{}{name}", millis / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write() {
        let rows = [
            ("500ms", Ok((500, "500ms"))),
            ("30s", Ok((30_000, "30s"))),
            ("90m", Ok((5_400_000, "90m"))),
            ("60m", Ok((3_600_000, "1h"))),
            ("24h", Ok((86_400_000, "24h"))),
            ("1d", Ok((86_400_000, "24h"))),
            ("7d", Ok((604_800_000, "7d"))),
            ("", Err("is not a duration")),
            ("h", Err("is not a duration")),
            ("-1h", Err("is not a duration")),
            ("1.5h", Err("comes one of ms, s, m, h, d")),
            ("1h30m", Err("comes one of ms, s, m, h, d")),
            ("90 m", Err("comes one of ms, s, m, h, d")),
            ("90M", Err("comes one of ms, s, m, h, d")),
            ("90", Err("write `90s` for seconds, `90m` for minutes")),
            ("0s", Err("longer than zero")),
            ("367d", Err("at most 366d")),
            ("99999999999999999999d", Err("at most 366d")),
            ("9223372036854775807h", Err("at most 366d")),
        ];
        for (written, expected) in rows {
            match (parse(written), expected) {
                (Ok(length), Ok((millis, shown))) => {
                    assert_eq!((length.num_milliseconds(), text(length).as_str()), (millis, shown), "{written}");
                }
                (Err(message), Err(part)) => assert!(message.contains(part), "{written}: {message}"),
                (got, _) => panic!("{written}: {got:?}"),
            }
        }
    }
}

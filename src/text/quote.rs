//! Writes a value as YAML that every reader takes for the same: plain where that is safe, quoted where plain text would
//! read as something else by the rules of YAML 1.1 or 1.2.
//!
//! Must not know: where in a file the text goes.

use serde_yaml::{Mapping, Value};

/// How a scalar is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    /// `'...'`
    Single,
    /// `"..."`
    Double,
}

/// Words that some YAML reads as null, a truth value, a number, a merge or a default.
const WORDS: [&str; 17] = [
    "null", "~", "true", "false", "yes", "no", "on", "off", "y", "n", ".inf", "-.inf", "+.inf", ".nan", "<<", "=",
    "nan",
];

/// One string. `like` is the quoting that stood there before; it stays where it can hold the text.
pub fn string(text: &str, like: Option<Quote>, in_flow: bool) -> String {
    let special = text.chars().any(needs_escape);
    match like {
        Some(Quote::Single) if !special => single(text),
        None if !special && is_plain(text, in_flow) => text.to_owned(),
        None if !special && text.contains(['"', '\\']) => single(text),
        _ => double(text),
    }
}

/// Any value on one line; None for what has no plain form (a tag).
pub fn value(value: &Value, like: Option<Quote>, in_flow: bool) -> Option<String> {
    Some(match value {
        Value::Null => "null".into(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => n.to_string(),
        Value::String(text) => string(text, like, in_flow),
        Value::Sequence(items) => list(items, None)?,
        Value::Mapping(map) => mapping(map)?,
        Value::Tagged(_) => return None,
    })
}

/// A flow list; `like` is the quoting of its strings.
pub fn list(items: &[Value], like: Option<Quote>) -> Option<String> {
    let items: Option<Vec<String>> = items.iter().map(|item| value(item, like, true)).collect();
    Some(format!("[{}]", items?.join(", ")))
}

fn mapping(map: &Mapping) -> Option<String> {
    let pair = |(k, v): (&Value, &Value)| Some(format!("{}: {}", value(k, None, true)?, value(v, None, true)?));
    let pairs: Option<Vec<String>> = map.iter().map(pair).collect();
    Some(format!("{{{}}}", pairs?.join(", ")))
}

/// Whether every reader takes this unquoted text for the same string.
pub fn is_plain(text: &str, in_flow: bool) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let starts_badly = "-?:,[]{}#&*!|>'\"%@`".contains(first) || text.starts_with("...");
    let ends_badly =
        text.starts_with(char::is_whitespace) || text.ends_with(char::is_whitespace) || text.ends_with(':');
    let cut = text.contains(": ") || text.contains(" #") || text.contains(":\t") || text.contains("\t#");
    let flow = in_flow && text.contains([',', '[', ']', '{', '}']);
    let odd = starts_badly || ends_badly || cut || flow || looks_typed(text) || text.chars().any(needs_escape);
    !odd && serde_yaml::from_str::<Value>(text).is_ok_and(|read| read == Value::String(text.to_owned()))
}

/// Text that some YAML takes for a number, date, time, truth value or null.
fn looks_typed(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let numeric_start = text.trim_start_matches(['+', '-', '.']).starts_with(|c: char| c.is_ascii_digit());
    let numeric_rest = lower.chars().all(|c| c.is_ascii_hexdigit() || "xo_.:+-tz ".contains(c));
    WORDS.contains(&lower.as_str()) || (numeric_start && numeric_rest)
}

fn needs_escape(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn double(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if needs_escape(c) => out.extend(format!("\\u{:04X}", c as u32).chars()),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let written = string(text, None, false);
        assert_eq!(written, expected);
        for like in [None, Some(Quote::Single), Some(Quote::Double)] {
            for in_flow in [false, true] {
                let written = string(text, like, in_flow);
                assert_eq!(serde_yaml::from_str::<Value>(&written).unwrap(), Value::from(text), "{written}");
                let listed: Value = serde_yaml::from_str(&list(&[text.into(), text.into()], like).unwrap()).unwrap();
                assert_eq!(listed, Value::from(vec![text, text]));
            }
        }
    }

    #[test]
    fn what_plain_text_would_retype_is_quoted() {
        for same in
            ["queued", "src/auth", "a:b", "C#", "12 apples", "Fix it, now", "http://x.org/a?b=c", "v1.2", "naïve 🌎"]
        {
            check(same, same);
        }
        for typed in
            ["0010", "21E08", "NO", "no", "Yes", "on", "10:00", "2016-12-15", "1.10", "~", "null", "Null", "true"]
        {
            check(typed, &format!("\"{typed}\""));
        }
        for typed in
            ["0x1F", "0o17", "1_000", ".inf", "-.5", "+1", "12e03", "2026-11-30T08:00:00Z", "<<", "=", "", " a ", "..."]
        {
            check(typed, &format!("\"{typed}\""));
        }
        for marked in [
            "#42", "see #12", "a: b", "a:", "@me", "`x`", "*", "&x", "!x", "- x", "?", "[a", "{a", "| x", "> y", "%a",
            "'q'",
        ] {
            check(marked, &format!("\"{marked}\""));
        }
        check("$1, $& and \\1: x", "'$1, $& and \\1: x'");
        check("say \"hi\" #1", "'say \"hi\" #1'");
        check("two\nlines", "\"two\\nlines\"");
        check("it's \"#\" \t\u{1b}", "\"it's \\\"#\\\" \\t\\u001B\"");
        check("a\u{2028}b\u{85}", "\"a\\u2028b\\u0085\"");
    }

    #[test]
    fn lists_and_mappings_stay_on_one_line() {
        let read: Value = serde_yaml::from_str("{a: [x, 'y, z', 5, true, null], b: {c: '5'}}").unwrap();
        assert_eq!(value(&read, None, false).unwrap(), "{a: [x, \"y, z\", 5, true, null], b: {c: \"5\"}}");
    }
}

//! The file as TOML with places: syntax, and names that do not belong.
//!
//! Must not know: what a value means.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{KEYS, LATER_KEYS, LATER_SECTIONS, ROLE_KEYS, ROLES, sections};
use super::nearest;
use crate::domain::roles::{LONGEST_NAME, is_name};
use crate::domain::ticket::Diagnostic;

/// 1-based line and column (in characters) of a byte offset.
pub(super) fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before[line_start..].trim_start_matches('\u{feff}').chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

/// A problem at a byte offset.
pub(super) fn problem(text: &str, offset: usize, message: impl Into<String>) -> Diagnostic {
    let (line, column) = place(text, offset);
    Diagnostic { line, column, message: message.into() }
}

/// Parses the text; on failure, every syntax error.
pub(super) fn table(text: &str) -> Result<DeTable<'_>, Vec<Diagnostic>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(table.into_inner());
    }
    Err(errors.iter().map(|error| syntax(text, error)).collect())
}

fn syntax(text: &str, error: &toml::de::Error) -> Diagnostic {
    let span = error.span().unwrap_or(text.len()..text.len());
    let message = match (error.message(), text.get(span.clone())) {
        ("duplicate key", Some(key)) => format!("`{key}` is written twice"),
        (message, _) => format!("is not TOML: {message}"),
    };
    problem(text, span.start, message)
}

/// A table's entries in file order.
pub(super) fn in_order<'a, 'i>(table: &'a DeTable<'i>) -> Vec<(&'a str, usize, &'a Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> =
        table.iter().map(|(key, value)| (key.get_ref().as_ref(), key.span().start, value)).collect();
    entries.sort_by_key(|(_, offset, _)| *offset);
    entries
}

/// Names that this version does not know, or knows and does not act on.
pub(super) fn misplaced(text: &str, table: &DeTable<'_>) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (name, offset, value) in in_order(table) {
        match value.get_ref() {
            DeValue::Table(roles) if name == ROLES => problems.extend(misplaced_in_roles(text, roles)),
            _ if name == ROLES => {
                let message = "`roles` holds a section for each role: write `[roles.coder]`, say, and its keys on the lines below it";
                problems.push(problem(text, offset, message));
            }
            _ if LATER_SECTIONS.contains(&name) => problems.push(problem(text, offset, later(&format!("[{name}]")))),
            DeValue::Table(section) if sections().contains(&name) => {
                let unknown = in_order(section).into_iter().filter(|(key, ..)| !is_key(name, key));
                problems.extend(unknown.map(|(key, offset, _)| problem(text, offset, unknown_key(name, key))));
            }
            _ if sections().contains(&name) => {
                let message = format!("`{name}` is a section: write `[{name}]`, and its keys on the lines below it");
                problems.push(problem(text, offset, message));
            }
            _ => problems.push(problem(text, offset, unknown_section(name, value.get_ref().is_table()))),
        }
    }
    problems
}

/// What does not belong among the roles, or in one of them.
fn misplaced_in_roles(text: &str, roles: &DeTable<'_>) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (role, offset, value) in in_order(roles) {
        let DeValue::Table(section) = value.get_ref() else {
            let message = if ROLE_KEYS.iter().any(|key| key.name == role) {
                format!("`{role}` is a role's: write it below `[roles.coder]`, say")
            } else {
                format!("a role is a section: write `[roles.{role}]`, and its keys on the lines below it")
            };
            problems.push(problem(text, offset, message));
            continue;
        };
        if let Some(message) = role_trouble(role) {
            problems.push(problem(text, offset, message));
        }
        let is_key = |name: &str| ROLE_KEYS.iter().any(|key| key.name == name);
        for (name, offset, _) in in_order(section).into_iter().filter(|(name, ..)| !is_key(name)) {
            let hint = match nearest(name, ROLE_KEYS.iter().map(|key| key.name)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("its keys are {}", ROLE_KEYS.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")),
            };
            problems.push(problem(text, offset, format!("unknown key `{name}` in `[roles.{role}]`; {hint}")));
        }
    }
    problems
}

fn role_trouble(role: &str) -> Option<String> {
    if role == "orchestrator" {
        return Some(
            "the Orchestrator is no role that works on tickets: its command is that of `[orchestrator]`".into(),
        );
    }
    let message = format!("the name of a role is one word of at most {LONGEST_NAME} bytes");
    (!is_name(role)).then_some(message)
}

fn is_key(section: &str, name: &str) -> bool {
    KEYS.iter().any(|key| key.section == section && key.name == name)
}

fn later(what: &str) -> String {
    format!("this version of yoi does not act on `{what}` yet; remove it")
}

/// The section where a key of this name belongs.
fn home(name: &str) -> Option<&'static str> {
    KEYS.iter().find(|key| key.name == name).map(|key| key.section)
}

fn unknown_key(section: &str, name: &str) -> String {
    if LATER_KEYS.contains(&(section, name)) {
        return later(&format!("{section}.{name}"));
    }
    if let Some(home) = home(name) {
        return format!("`{name}` does not belong in `[{section}]` but in `[{home}]`");
    }
    let here: Vec<_> = KEYS.iter().filter(|key| key.section == section).map(|key| key.name).collect();
    if let Some(meant) = nearest(name, here.iter().copied()) {
        return format!("unknown key `{name}` in `[{section}]`; did you mean `{meant}`?");
    }
    if let Some((home, meant)) = nearest(name, KEYS.iter().map(|key| key.name)).and_then(|m| Some((home(m)?, m))) {
        return format!("unknown key `{name}` in `[{section}]`; did you mean `{meant}` in `[{home}]`?");
    }
    format!("unknown key `{name}` in `[{section}]`; its keys are {}", here.join(", "))
}

fn unknown_section(name: &str, is_table: bool) -> String {
    if let Some(home) = home(name) {
        return format!("`{name}` stands outside of any section; it belongs in `[{home}]`");
    }
    if name == "role" {
        return "unknown section `[role]`; did you mean `[roles.coder]`, say?".to_owned();
    }
    if let Some(meant) = nearest(name, sections()) {
        return format!("unknown section `[{name}]`; did you mean `[{meant}]`?");
    }
    if let Some(meant) = nearest(name, LATER_SECTIONS) {
        return format!(
            "unknown section `[{name}]`; the nearest is `[{meant}]`, which this version does not act on yet"
        );
    }
    if let Some((home, meant)) = nearest(name, KEYS.iter().map(|key| key.name)).and_then(|m| Some((home(m)?, m))) {
        return format!("unknown key `{name}`; did you mean `{meant}` in `[{home}]`?");
    }
    let what = if is_table { format!("section `[{name}]`") } else { format!("key `{name}`") };
    format!("unknown {what}; the sections are {}", sections().join(", "))
}

//! From the document to settings: every key read once, defaults filled in, all problems collected.
//!
//! Must not know: files, the environment.

use std::path::PathBuf;

use chrono::TimeDelta;
use toml::de::DeTable;

use super::keys::KEYS;
use super::values::{Count, Values};
use super::written::{list, lists, off_or, quoted};
use super::{
    Config, OrchestratorCommand, SessionSettings, Setting, WorktreeSettings, claims, contradictions, document, roles,
};
use crate::domain::policy::{Capacity, DirtyGate, KickPolicy, Mode, SessionPolicy, WritePolicy};
use crate::domain::rate_limit::RateLimitSigns;
use crate::domain::ticket::{Diagnostic, State};
use crate::text::duration;

/// How long a turn may run where nothing is written.
const TURN_TIMEOUT: TimeDelta = TimeDelta::hours(4);
/// How long to wait after a rate limit that does not say so itself.
const RATE_LIMIT_WAIT: TimeDelta = TimeDelta::minutes(15);

/// Where worktrees are made where nothing is written.
const WORKTREES: &str = ".yoi/worktrees";
/// How long one of their hooks may run then.
const HOOK_TIMEOUT: TimeDelta = TimeDelta::minutes(10);

/// The shortest time between two comparisons.
const LEAST_VERIFY: TimeDelta = TimeDelta::seconds(1);
/// How often files are compared where nothing is written.
const VERIFY_EVERY: TimeDelta = TimeDelta::minutes(10);

/// Resolves a text; on failure, every problem in file order.
pub(super) fn resolve(text: &str) -> Result<Config, Vec<Diagnostic>> {
    let table = document::table(text)?;
    let mut values = Values::new(text, &table, document::misplaced(text, &table));
    let config = read(&mut values);
    let mut problems = values.problems;
    problems.sort();
    problems.dedup();
    if problems.is_empty() { Ok(config) } else { Err(problems) }
}

/// What holds where nothing is written.
pub(super) fn defaults() -> Config {
    let nothing = DeTable::new();
    read(&mut Values::new("", &nothing, Vec::new()))
}

fn read(values: &mut Values<'_>) -> Config {
    let written_mode = values.word("dispatch.mode", Mode::ALL, Mode::as_str);
    let mode = written_mode.unwrap_or_default();
    let mode_is_known = written_mode.is_some() || values.offset("dispatch.mode").is_none();
    if mode_is_known {
        contradictions::without_effect(values, mode);
    }
    let mut config = Config {
        tickets_root: tickets_root(values),
        state_key: state_key(values),
        states: contradictions::states(values),
        mode,
        orchestrator: orchestrator(values),
        session: session(values),
        kick: kick(values),
        capacity: capacity(values, mode),
        worktrees: worktrees(values),
        dirty_workspace: values.word("gates.dirty_workspace", DirtyGate::ALL, DirtyGate::as_str).unwrap_or_default(),
        writes: writes(values),
        verify_every: verify_every(values),
        claims: claims::policy(values),
        roles: roles::read(values),
        settings: Vec::new(),
    };
    config.settings = KEYS.iter().map(|key| setting(&config, &key.path(), values)).collect();
    config.settings.extend(roles::settings(&config.roles, values));
    config
}

fn tickets_root(values: &mut Values<'_>) -> PathBuf {
    let default = PathBuf::from("tickets");
    let Some((offset, written)) = values.text("tickets.root") else { return default };
    contradictions::folder(&written).unwrap_or_else(|message| {
        values.refuse(offset, message);
        default
    })
}

fn state_key(values: &mut Values<'_>) -> String {
    let Some((offset, written)) = values.text("frontmatter.state_key") else { return "state".to_owned() };
    if let Some(message) = contradictions::state_key(&written) {
        values.refuse(offset, message);
    }
    written
}

fn orchestrator(values: &mut Values<'_>) -> Option<OrchestratorCommand> {
    let command = values.command("orchestrator.command");
    let turn_timeout = values.duration("orchestrator.turn_timeout").unwrap_or(TURN_TIMEOUT);
    let stall_timeout = values.duration("orchestrator.stall_timeout");
    if let Some(stall) = stall_timeout {
        contradictions::timeouts(values, turn_timeout, stall);
    }
    let rate_limit = rate_limit(values);
    Some(OrchestratorCommand { command: command?, turn_timeout, stall_timeout, rate_limit })
}

fn rate_limit(values: &mut Values<'_>) -> RateLimitSigns {
    let exit_codes = values.exit_codes("orchestrator.rate_limit_exit");
    let patterns = values.texts("orchestrator.rate_limit_pattern");
    let wait = values.duration("orchestrator.rate_limit_wait").unwrap_or(RATE_LIMIT_WAIT);
    let signs = !exit_codes.is_empty() || !patterns.is_empty();
    contradictions::rate_limit(values, wait, signs);
    RateLimitSigns { exit_codes, patterns, wait: wait.to_std().unwrap_or_default() }
}

fn session(values: &mut Values<'_>) -> SessionSettings {
    SessionSettings {
        wake: values.commands("orchestrator.wake"),
        busy_max: values.duration("orchestrator.busy_max").unwrap_or(SessionPolicy::default().busy_max),
    }
}

fn kick(values: &mut Values<'_>) -> KickPolicy {
    let default = KickPolicy::default();
    let mut count = |path: &str, default: u32| values.count(path).and_then(Count::bound).unwrap_or(default);
    KickPolicy {
        max_per_hour: count("kick.max_per_hour", default.max_per_hour),
        max_attempts: count("kick.max_attempts", default.max_attempts),
        max_items: values.count("kick.max_items").and_then(Count::bound).map_or(default.max_items, |n| n as usize),
        reoffer_idle: values.duration("kick.reoffer_idle"),
    }
}

fn verify_every(values: &mut Values<'_>) -> Option<TimeDelta> {
    let path = "watch.verify_every";
    let Some(offset) = values.offset(path) else { return Some(VERIFY_EVERY) };
    let written = values.duration(path);
    if written.is_some_and(|every| every < LEAST_VERIFY) {
        let least = duration::text(LEAST_VERIFY);
        values.refuse(offset, format!("`{path}` takes at least `{least}`: each time all ticket files are looked at"));
    }
    written
}

fn worktrees(values: &mut Values<'_>) -> WorktreeSettings {
    let default = PathBuf::from(WORKTREES);
    let root = match values.text("worktrees.root") {
        None => default,
        Some((offset, written)) => contradictions::worktrees_root(&written).unwrap_or_else(|message| {
            values.refuse(offset, message);
            default
        }),
    };
    WorktreeSettings {
        root,
        after_create: values.commands("worktrees.after_create"),
        before_remove: values.commands("worktrees.before_remove"),
        hook_timeout: values.duration("worktrees.hook_timeout").unwrap_or(HOOK_TIMEOUT),
    }
}

fn writes(values: &mut Values<'_>) -> WritePolicy {
    let default = WritePolicy::default();
    WritePolicy { polite_max: values.duration("writes.polite_max").unwrap_or(default.polite_max) }
}

fn capacity(values: &mut Values<'_>, mode: Mode) -> Capacity {
    match values.count("capacity.max_inprogress") {
        Some(written) => Capacity { max_inprogress: written.bound().map(|n| n as usize) },
        None => Capacity::of(mode),
    }
}

/// One row of the listing: the value as it would be written.
fn setting(config: &Config, path: &str, values: &Values<'_>) -> Setting {
    let exec = config.orchestrator.as_ref();
    let value = match path {
        "tickets.root" => quoted(&config.tickets_root.to_string_lossy()),
        "frontmatter.state_key" => quoted(&config.state_key),
        "frontmatter.states" => states(config),
        "dispatch.mode" => quoted(config.mode.as_str()),
        "orchestrator.command" => list(exec.map_or(&[], |exec| exec.command.as_slice())),
        "orchestrator.turn_timeout" => quoted(&duration::text(exec.map_or(TURN_TIMEOUT, |exec| exec.turn_timeout))),
        "orchestrator.stall_timeout" => off_or(exec.and_then(|exec| exec.stall_timeout)),
        "orchestrator.rate_limit_exit" => {
            let codes = exec.map_or(&[][..], |exec| exec.rate_limit.exit_codes.as_slice());
            format!("[{}]", codes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
        "orchestrator.rate_limit_pattern" => list(exec.map_or(&[], |exec| exec.rate_limit.patterns.as_slice())),
        "orchestrator.rate_limit_wait" => {
            let wait = exec.and_then(|exec| TimeDelta::from_std(exec.rate_limit.wait).ok());
            quoted(&duration::text(wait.unwrap_or(RATE_LIMIT_WAIT)))
        }
        "orchestrator.wake" => lists(&config.session.wake),
        "orchestrator.busy_max" => quoted(&duration::text(config.session.busy_max)),
        "kick.max_items" => config.kick.max_items.to_string(),
        "kick.max_per_hour" => config.kick.max_per_hour.to_string(),
        "kick.max_attempts" => config.kick.max_attempts.to_string(),
        "kick.reoffer_idle" => off_or(config.kick.reoffer_idle),
        "capacity.max_inprogress" => {
            config.capacity.max_inprogress.map_or_else(|| quoted("unlimited"), |n| n.to_string())
        }
        "worktrees.root" => quoted(&config.worktrees.root.to_string_lossy()),
        "worktrees.after_create" => lists(&config.worktrees.after_create),
        "worktrees.before_remove" => lists(&config.worktrees.before_remove),
        "worktrees.hook_timeout" => quoted(&duration::text(config.worktrees.hook_timeout)),
        "writes.polite_max" => quoted(&duration::text(config.writes.polite_max)),
        "gates.dirty_workspace" => quoted(config.dirty_workspace.as_str()),
        "claims.ttl" => quoted(&duration::text(config.claims.ttl)),
        "claims.heartbeat" => quoted(&duration::text(config.claims.heartbeat)),
        "claims.remote" => quoted(config.claims.remote.as_deref().unwrap_or_default()),
        "claims.refresh" => quoted(&duration::text(config.claims.refresh)),
        "claims.label" => quoted(config.claims.label.as_deref().unwrap_or_default()),
        "watch.verify_every" => off_or(config.verify_every),
        // A key without a row here would be listed without a value; the test of the listing sees that.
        _ => String::new(),
    };
    Setting { key: path.to_owned(), value, source: values.source(path) }
}

/// Only names that say something: a state's own name stands for itself anyway.
fn states(config: &Config) -> String {
    let says = |(name, state): &&(String, State)| name != state.as_str();
    let rows: Vec<_> =
        config.states.iter().filter(says).map(|(n, s)| format!("{} = {}", quoted(n), quoted(s.as_str()))).collect();
    if rows.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", rows.join(", ")) }
}

#[cfg(test)]
mod listing {
    use super::*;
    use crate::config::Source;

    #[test]
    fn every_key_has_a_value_and_says_where_it_came_from() {
        for setting in defaults().settings {
            assert!(!setting.value.is_empty(), "{} has no row", setting.key);
            assert_eq!(setting.source, Source::Default, "{}", setting.key);
        }
    }

    #[test]
    fn the_defaults_are_what_the_reference_says() {
        for (setting, key) in defaults().settings.iter().zip(KEYS) {
            let of_mode = key.default.strip_suffix("` in pull mode").and_then(|text| text.rsplit('`').next());
            assert_eq!(setting.value, of_mode.unwrap_or(key.default), "{}", setting.key);
        }
    }
}

//! What cannot be meant together, and what could never have an effect: refused at load.
//!
//! Must not know: how a single value is read.

use std::path::{Component, Path, PathBuf};

use super::values::Values;
use crate::domain::policy::Mode;
use crate::domain::rate_limit::LONGEST_WAIT;
use crate::domain::ticket::State;
use crate::text::duration;

/// Keys of a ticket that cannot hold its state as well (DESIGN.md 2.1).
const TAKEN_KEYS: [&str; 20] = [
    "title",
    "priority",
    "labels",
    "created_at",
    "updated_at",
    "queued_by",
    "queued_at",
    "accepted_by",
    "accepted_at",
    "orphan_status",
    "depends_on",
    "conflicts_with",
    "touches",
    "human_gate",
    "repo",
    "requires",
    "parent",
    "children",
    "github",
    "pr",
];

/// The ticket folder without `.` parts, or why it cannot be one.
pub(super) fn folder(written: &str) -> Result<PathBuf, String> {
    let says =
        |what: &str| Err(format!("`tickets.root` {what}; write a folder inside the workspace, like \"tickets\""));
    if written.trim().is_empty() {
        return says("is empty");
    }
    let mut folder = PathBuf::new();
    for part in Path::new(written).components() {
        match part {
            Component::Normal(name) => folder.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                return says(&format!("may not contain `..`: `{written}` could leave the workspace"));
            }
            Component::RootDir | Component::Prefix(_) => {
                return says(&format!("is `{written}`, an absolute path"));
            }
        }
    }
    match folder.iter().next().and_then(|first| first.to_str()) {
        Some(own @ (".git" | ".yoi")) => says(&format!("may not lie in `{own}`, which belongs to a program")),
        Some(_) => Ok(folder),
        None => Ok(PathBuf::from(".")),
    }
}

/// The folder for worktrees without `.` parts, or why it cannot be one.
pub(super) fn worktrees_root(written: &str) -> Result<PathBuf, String> {
    let says = |what: &str| {
        Err(format!(
            "`worktrees.root` {what}; write a folder inside the workspace, like \".yoi/worktrees\", or an absolute path"
        ))
    };
    if written.trim().is_empty() {
        return says("is empty");
    }
    if written.starts_with('~') {
        return says(&format!("is `{written}`, and `~` stands for nothing here"));
    }
    let path = Path::new(written);
    if path.components().any(|part| part == Component::ParentDir) {
        return says(&format!("may not contain `..`: `{written}` could leave the workspace"));
    }
    let folder: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
    let parts: Vec<_> = folder.iter().filter_map(|part| part.to_str()).collect();
    match parts.as_slice() {
        [] | ["/"] => says("has to be a folder of its own"),
        [".git", ..] => says("may not lie in `.git`, which belongs to git"),
        [".yoi"] | [".yoi", "run", ..] => says("may not lie among yoi's own files"),
        _ => Ok(folder),
    }
}

/// Why a key cannot hold the state.
pub(super) fn state_key(written: &str) -> Option<String> {
    if TAKEN_KEYS.contains(&written) {
        return Some(format!("`frontmatter.state_key`: `{written}` is a ticket's key for something else"));
    }
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    let fits = !written.is_empty() && written.trim() == written && written.chars().all(plain);
    (!fits).then(|| {
        format!("`frontmatter.state_key`: `{written}` cannot be a key: write letters, digits, `_`, `-`, `.` or spaces")
    })
}

/// The complete list of names, from what is written: each state has a name that reads as that state.
pub(super) fn states(values: &mut Values<'_>) -> Vec<(String, State)> {
    let written = values.states("frontmatter.states");
    for (offset, name, _) in &written {
        if name.is_empty() || name.trim() != name || name.chars().any(char::is_control) {
            let message = format!("`frontmatter.states`: {name:?} cannot be a state's name in a file");
            values.refuse(*offset, message);
        }
    }
    for (offset, name, state) in &written {
        let own = name.parse::<State>().ok().filter(|own| own != state);
        if let Some(own) = own.filter(|own| written.iter().all(|(_, _, state)| state != own)) {
            let message = format!(
                "`frontmatter.states`: `{name}` stands for {state} here, so no name is left for the state {own}; add \
                 one for it, like `\"...\" = \"{own}\"`"
            );
            values.refuse(*offset, message);
        }
    }
    let own_names = State::ALL.into_iter().map(|state| (state.as_str().to_owned(), state));
    let left: Vec<_> = own_names.filter(|(own, _)| written.iter().all(|(_, name, _)| name != own)).collect();
    written.into_iter().map(|(_, name, state)| (name, state)).chain(left).collect()
}

/// Keys that are written and could do nothing under this mode.
pub(super) fn without_effect(values: &mut Values<'_>, mode: Mode) {
    let keys = super::keys::KEYS.iter().map(super::keys::Key::path);
    for path in keys.filter(|path| path.starts_with("orchestrator.") || path.starts_with("kick.")) {
        let Some(offset) = values.offset(&path) else { continue };
        if mode == Mode::Pull {
            let message = format!(
                "`{path}` has no effect in pull mode, which has no Orchestrator; write `mode = \"orchestrated\"` under \
                 `[dispatch]`, or remove this key"
            );
            values.refuse(offset, message);
        } else if matches!(path.as_str(), "orchestrator.wake" | "orchestrator.busy_max")
            && values.offset("orchestrator.command").is_some()
        {
            let message = format!(
                "`{path}` has no effect with `orchestrator.command`, which runs the Orchestrator anew for each kick; \
                 remove one of the two"
            );
            values.refuse(offset, message);
        } else if (path.ends_with("_timeout") || path.contains(".rate_limit_"))
            && values.offset("orchestrator.command").is_none()
        {
            values.refuse(
                offset,
                format!("`{path}` has no effect without `orchestrator.command`; write that, or remove it"),
            );
        }
    }
}

/// A turn that is silent for longer than a turn may run.
pub(super) fn timeouts(values: &mut Values<'_>, turn: chrono::TimeDelta, stall: chrono::TimeDelta) {
    let written = values.offset("orchestrator.stall_timeout");
    if let Some(offset) = written.filter(|_| stall >= turn) {
        let message = format!(
            "`orchestrator.stall_timeout` ({}) has no effect: it is not shorter than `orchestrator.turn_timeout` ({})",
            duration::text(stall),
            duration::text(turn)
        );
        values.refuse(offset, message);
    }
}

/// A wait that nothing leads to, or that is longer than anybody may be left alone.
pub(super) fn rate_limit(values: &mut Values<'_>, wait: chrono::TimeDelta, signs: bool) {
    let path = "orchestrator.rate_limit_wait";
    let Some(offset) = values.offset(path) else { return };
    let written =
        ["exit", "pattern"].iter().any(|name| values.offset(&format!("orchestrator.rate_limit_{name}")).is_some());
    if !signs && !written {
        let message = format!(
            "`{path}` has no effect without a sign of a rate limit; write `rate_limit_exit` or `rate_limit_pattern`, or \
             remove it"
        );
        values.refuse(offset, message);
    } else if wait.to_std().is_ok_and(|wait| wait > LONGEST_WAIT) {
        values.refuse(offset, format!("`{path}` ({}) is longer than a week, the longest wait", duration::text(wait)));
    }
}

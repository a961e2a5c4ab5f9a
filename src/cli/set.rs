//! `yoi set`: the lossless edit for scripts and agents.
//!
//! `--file F` is a bare edit of one file anywhere: no lifecycle, no stamps, no state folder, only the file's own compare
//! and swap. Must not know: how a line is patched, what a key means.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_yaml::Value;

use super::caller::By;
use super::{Outcome, context::Context, output};
use crate::adapters::files;
use crate::adapters::kept::Found;
use crate::adapters::swap::{self, SwapError};
use crate::api::failure::Failure;
use crate::api::request::{KeyChange, Request};
use crate::api::view::{MoveView, SetView, VERSION};
use crate::domain::edit::Change;
use crate::domain::lifecycle::settable;
use crate::text::keys::KeyMap;
use crate::text::merge::Clash;
use crate::text::read::problems;

/// Set frontmatter keys; nothing else in the file is touched
#[derive(Args)]
#[command(override_usage = "yoi set <ID|--file <F>> [KEY=VALUE]... [--unset KEY] [--add KEY=ITEM] [--remove KEY=ITEM]")]
pub struct Arguments {
    /// The ticket's exact id (not with --file), then KEY=VALUE; VALUE is YAML (`labels=[a, b]`), what is not YAML is a
    /// string; `state=S` is `yoi move`
    #[arg(value_name = "ID | KEY=VALUE")]
    words: Vec<String>,
    /// Edit this file, wherever it lies: no lifecycle, no stamps
    #[arg(long, value_name = "F")]
    file: Option<PathBuf>,
    /// Remove the key with its lines
    #[arg(long, value_name = "KEY")]
    unset: Vec<String>,
    /// Add the item to the list under the key, if it is not in it
    #[arg(long, value_name = "KEY=ITEM")]
    add: Vec<String>,
    /// Remove the item from the list under the key
    #[arg(long, value_name = "KEY=ITEM")]
    remove: Vec<String>,
    #[command(flatten)]
    by: By,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Makes the edit.
pub fn run(context: &Context, arguments: &Arguments) -> Outcome {
    if let Some(file) = &arguments.file {
        let edited = edit_file(file, &changes(arguments, &arguments.words)?)?;
        return done(
            &SetView { version: VERSION, id: None, path: file.display().to_string(), changed: edited },
            arguments,
        );
    }
    let which = "yoi set ID KEY=VALUE, or yoi set --file F KEY=VALUE";
    let Some((id, pairs)) = arguments.words.split_first() else {
        return Err(Failure::usage("which ticket?").hint(which));
    };
    if id.contains('=') && context.workspace().is_ok() {
        return Err(Failure::usage(format!("which ticket? `{id}` stands where its id belongs")).hint(which));
    }
    let app = context.open()?;
    let state_key = app.keys().state_key;
    let is_state = |change: &Change| change.key() == "state" || change.key() == state_key;
    let (states, others): (Vec<_>, Vec<_>) = changes(arguments, pairs)?.into_iter().partition(is_state);
    // Judged before anything is written, since the state goes first.
    others.iter().try_for_each(|change| settable(change.key(), &state_key)).map_err(Failure::from)?;
    let caller = arguments.by.caller();
    let mut answer = None;
    // The lifecycle first: if it refuses, nothing has been written.
    for change in states {
        let to = state_name(change)?;
        let request = Request::Move { id: id.clone(), to, force: false, reason: None, caller: caller.clone() };
        let moved: MoveView = output::view(app.call(&request)?)?;
        answer =
            Some(SetView { version: VERSION, id: Some(moved.id), path: moved.path, changed: moved.from != moved.to });
    }
    if !others.is_empty() {
        let changes = others.into_iter().map(on_the_wire).collect::<Result<_, _>>()?;
        let set: SetView = output::view(app.call(&Request::Set { id: id.clone(), changes, caller })?)?;
        let moved = answer.is_some_and(|moved| moved.changed);
        answer = Some(SetView { changed: set.changed || moved, ..set });
    }
    match answer {
        Some(answer) => {
            let path = context.workspace()?.root.join(&answer.path);
            odd(&path, &answer.path, &app.keys());
            done(&answer, arguments)
        }
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Says on standard error what is odd about the ticket as it is now: a value that is not read as it was meant.
fn odd(path: &Path, shown: &str, keys: &KeyMap) {
    let Ok(bytes) = files::read(path) else { return };
    for problem in problems(&bytes, keys) {
        let place = output::place(shown, problem.line, problem.column);
        output::aside(&output::harmless(&format!("{place}: {}", problem.message)));
    }
}

fn done(view: &SetView, arguments: &Arguments) -> Outcome {
    if arguments.json {
        output::json(view)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn state_name(change: Change) -> Result<String, Failure> {
    match change {
        Change::Set(_, Value::String(state)) => Ok(state),
        _ => Err(Failure::usage("the state is set to one of the six states").hint("yoi set ID state=queued")),
    }
}

fn on_the_wire(change: Change) -> Result<KeyChange, Failure> {
    let json = |value: Value| {
        let no_json = |error| Failure::usage(format!("this value cannot be given to `set ID`: {error}"));
        serde_json::to_value(value).map_err(no_json)
    };
    Ok(match change {
        Change::Set(key, value) => KeyChange::Set { key, value: json(value)?, written: None },
        Change::Written(key, value, text) => KeyChange::Set { key, value: json(value)?, written: Some(text) },
        Change::Unset(key) => KeyChange::Unset { key },
        Change::Add(key, item) => KeyChange::Add { key, item: json(item)? },
        Change::Remove(key, item) => KeyChange::Remove { key, item: json(item)? },
    })
}

/// The changes that the arguments ask for: sets, unsets, additions, removals, in this order.
fn changes(arguments: &Arguments, pairs: &[String]) -> Result<Vec<Change>, Failure> {
    let mut changes = Vec::new();
    for pair in pairs {
        let (key, text) = split(pair, "KEY=VALUE")?;
        changes.push(set(key, text));
    }
    changes.extend(arguments.unset.iter().map(|key| Change::Unset(key.clone())));
    for pair in &arguments.add {
        let (key, item) = split(pair, "KEY=ITEM")?;
        changes.push(Change::Add(key.to_owned(), scalar(item)));
    }
    for pair in &arguments.remove {
        let (key, item) = split(pair, "KEY=ITEM")?;
        changes.push(Change::Remove(key.to_owned(), scalar(item)));
    }
    if changes.is_empty() {
        let failure = Failure::usage("nothing to set");
        return Err(failure.hint("give KEY=VALUE, --unset KEY, --add KEY=ITEM or --remove KEY=ITEM"));
    }
    Ok(changes)
}

fn split<'a>(pair: &'a str, form: &str) -> Result<(&'a str, &'a str), Failure> {
    match pair.split_once('=') {
        Some((key, text)) if !key.trim().is_empty() => Ok((key.trim(), text)),
        _ => Err(Failure::usage(format!("`{pair}` is not {form}"))
            .hint(format!("write {form}; --unset KEY takes a key out"))),
    }
}

/// A number keeps the text it was given in (`1.10`); what is not YAML, or would be cut by a comment, is a string.
fn set(key: &str, text: &str) -> Change {
    match yaml(text) {
        Some(value @ (Value::Number(_) | Value::Bool(_) | Value::Null)) if !text.trim().is_empty() => {
            Change::Written(key.to_owned(), value, text.trim().to_owned())
        }
        Some(value) => Change::Set(key.to_owned(), value),
        None => Change::text(key, text),
    }
}

/// An item of a list: a number whose text says more than the number (`1.10`, `0010`) is a string.
fn scalar(text: &str) -> Value {
    match yaml(text) {
        Some(Value::Number(n)) if n.to_string() != text.trim() => Value::String(text.trim().to_owned()),
        Some(value) => value,
        None => Value::String(text.to_owned()),
    }
}

/// The text as YAML; None where it is none, where YAML would drop a part of it (`see #12`), or where it is tagged.
fn yaml(text: &str) -> Option<Value> {
    if text.is_empty() {
        return Some(Value::String(String::new()));
    }
    let value: Value = serde_yaml::from_str(text).ok()?;
    let kept = match &value {
        Value::Null => matches!(text.trim(), "null" | "Null" | "NULL" | "~"),
        Value::Tagged(_) => false,
        Value::String(read) => {
            !text.contains('#') || read == text || text.trim_start().starts_with(['"', '\'', '|', '>'])
        }
        Value::Number(_) | Value::Bool(_) => !text.contains('#'),
        Value::Sequence(_) | Value::Mapping(_) => !is_prose(text),
    };
    kept.then_some(value)
}

/// `note: see that`, `- a`: a mapping or list that is written without brackets on one line is a sentence.
fn is_prose(text: &str) -> bool {
    !text.trim_start().starts_with(['[', '{']) && !text.trim().contains('\n')
}

/// Returns whether anything had to change.
fn edit_file(file: &Path, changes: &[Change]) -> Result<bool, Failure> {
    let mut decide = |_: &[u8]| Ok::<_, Infallible>(changes.to_vec());
    let (swapped, found) = swap::edit_alone(file, &mut decide).map_err(|error| failure(file, error))?;
    for found in found {
        if let Found::Conflict { kept, why } = found {
            let said = format!("{}: what somebody else wrote is kept in {}: {why}", file.display(), kept.display());
            output::aside(&output::harmless(&said));
        }
    }
    Ok(swapped.before != swapped.after)
}

fn failure(file: &Path, error: SwapError<Infallible>) -> Failure {
    let path = file.display();
    match error {
        SwapError::Refused(never) => match never {},
        SwapError::Conflict(Clash { key, theirs, ours }) => {
            Failure::refused(format!("{path}: `{key}` was changed by somebody else meanwhile; nothing was written"))
                .evidence([format!("it is now: {theirs}"), format!("this edit wanted: {ours}")])
                .hint("look at the file, then set it again if you still want to")
        }
        SwapError::Unsafe(message) => Failure::failed(format!("{path}: {message}")),
        SwapError::Absent => Failure::failed(format!("{path}: there is no such file")),
        SwapError::Io(error) => Failure::failed(format!("{path}: {error}")),
    }
}

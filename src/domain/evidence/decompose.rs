//! `decompose`: a ticket becomes 2 to 5 tickets, each of which can be shipped by itself.
//!
//! Must not know: how the children are written down by whoever asks, or in files.

use std::path::{Component, Path, PathBuf};

use super::{LONGEST, Lacking, Wanted, Writer, and_also, name_of, quoted, without_state};
use crate::domain::classify::clock;
use crate::domain::edit::Change;
use crate::domain::refusal::Refusal;
use crate::domain::ticket::{Priority, State, Ticket, TicketId, Timestamp};

/// The label of a ticket that stands for its children.
pub const LABEL: &str = "tracking";

/// How many children there may be.
pub const CHILDREN: std::ops::RangeInclusive<usize> = 2..=5;
/// The most characters of a title.
const LONGEST_TITLE: usize = 200;
/// The most criteria of a child: with more it is not one thing.
const MOST_CRITERIA: usize = 20;

const WHY: Wanted = ("--why", "why it is several things and not one, for the thread");
const KEEP: Wanted = ("--keep-priority", "why the children are as urgent as their parent");

/// One child as it is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Child {
    /// What it is about.
    pub title: String,
    /// When it is done, at least one.
    pub acceptance: Vec<String>,
    /// How somebody sees that it is done.
    pub validation: String,
    /// Its labels.
    pub labels: Vec<String>,
    /// Ids, or the titles of other children.
    pub depends_on: Vec<String>,
    /// Files or folders.
    pub touches: Vec<String>,
    /// For scope matching.
    pub repo: Option<String>,
    /// What else there is to say.
    pub body: String,
    /// Where it was written, if that is known.
    pub line: Option<usize>,
}

/// A decomposition with all that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decomposition {
    children: Vec<Child>,
    why: String,
    keep_priority: Option<String>,
}

/// What is missing or wrong with children, a line each.
pub fn faults(children: &[Child]) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, child) in children.iter().enumerate() {
        let line = child.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        let title = if child.title.trim().is_empty() { String::new() } else { format!(" {}", quoted(&child.title)) };
        let before = &children[..at];
        let faults = faults_of(child, before);
        lines.extend(faults.into_iter().map(|fault| format!("child {}{title}{line}: {fault}", at + 1)));
    }
    lines
}

fn faults_of(child: &Child, before: &[Child]) -> Vec<String> {
    let mut found = Vec::new();
    let title = one_line(&child.title);
    let length = title.chars().count();
    if title.is_empty() {
        found.push("no title (`title:`)".to_owned());
    } else if let Some(other) = before.iter().position(|other| one_line(&other.title) == title) {
        found.push(format!("its title is that of child {} too", other + 1));
    }
    if length > LONGEST_TITLE {
        found.push(format!("its title has {length} characters, at most {LONGEST_TITLE}"));
    }
    let blank = |text: &String| text.trim().is_empty();
    if child.acceptance.iter().all(blank) {
        found.push("no acceptance criteria (`acceptance:`, a list of at least one: when is it done?)".to_owned());
    } else if child.acceptance.iter().any(blank) {
        found.push("an acceptance criterion is blank".to_owned());
    }
    if child.acceptance.len() > MOST_CRITERIA {
        let number = child.acceptance.len();
        found.push(format!("{number} acceptance criteria, at most {MOST_CRITERIA}: it is more than one thing"));
    }
    if child.validation.trim().is_empty() {
        found.push("no validation (`validation:`, one line: how does somebody see that it is done?)".to_owned());
    }
    let long = |text: &&String| text.chars().count() > LONGEST;
    if child.acceptance.iter().chain([&child.validation]).any(|text| long(&text)) {
        found.push(format!("more than {LONGEST} characters in one line; `body:` takes more"));
    }
    found
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Decomposition {
    /// Refuses where anything is missing, and names all of it.
    pub fn of(
        id: &TicketId,
        children: Vec<Child>,
        why: Option<&str>,
        keep_priority: Option<&str>,
    ) -> Result<Self, Refusal> {
        let mut lacking = Lacking::default();
        let (least, most) = (CHILDREN.start(), CHILDREN.end());
        match children.len() {
            0 => lacking.add(format!("no child is given: it becomes {least} to {most}")),
            1 => lacking.add(format!("1 child is the ticket itself under another name: it becomes {least} to {most}")),
            number if number > *most => {
                lacking.add(format!("{number} children are too many at once: it becomes {least} to {most}, which may be decomposed again"));
            }
            _ => {}
        }
        lacking.0.extend(faults(&children));
        let why = lacking.said(WHY, why);
        let keep_priority = keep_priority.map(|why| lacking.optional(KEEP, why));
        lacking.refuse(
            format!("`{id}` is not decomposed: each child has to be a ticket that somebody can start on"),
            format!("`yoi decompose {id} --template` prints a file to fill in; nothing was changed"),
        )?;
        let tidy = |child: Child| Child { title: one_line(&child.title), ..child };
        Ok(Self { children: children.into_iter().map(tidy).collect(), why, keep_priority })
    }

    /// The children, as they were given.
    pub fn children(&self) -> &[Child] {
        &self.children
    }

    /// Their priority: urgency is not inherited unless somebody says why.
    pub fn priority(&self, parent: &Ticket) -> Priority {
        if self.keep_priority.is_some() { parent.priority } else { Priority::default() }
    }

    /// What a child waits for, with the titles of other children as their ids.
    pub fn depends_on(&self, child: &Child, ids: &[TicketId]) -> Vec<String> {
        let id_of = |text: &String| {
            let title = one_line(text);
            let found = self.children.iter().zip(ids).find(|(other, _)| other.title == title);
            found.map_or_else(|| text.trim().to_owned(), |(_, id)| id.to_string())
        };
        child.depends_on.iter().map(id_of).collect()
    }

    /// Whether the ticket may be decomposed as it is now.
    pub fn allowed(ticket: &Ticket) -> Result<(), Refusal> {
        match ticket.state {
            Some(state @ (State::Done | State::Closed)) => {
                let id = &ticket.id;
                let refusal = Refusal::new(format!("`{id}` is {state}: there is nothing left of it to decompose"));
                Err(refusal.hint(format!("`yoi new` makes new tickets; `yoi why {id}` says what became of this one")))
            }
            Some(_) => Ok(()),
            None => Err(without_state(ticket)),
        }
    }

    /// What it changes in the parent's file as it is now, once the children are there.
    pub fn changes(ticket: &Ticket, ids: &[TicketId], writer: &Writer, now: Timestamp) -> Result<Vec<Change>, Refusal> {
        Self::allowed(ticket)?;
        let mut changes = Vec::new();
        if ticket.state != Some(State::Planning) {
            changes.push(Change::text("state", State::Planning.as_str()));
        }
        if !ticket.has_label(LABEL) {
            changes.push(Change::Add("labels".into(), LABEL.into()));
        }
        // Children of an earlier time stay its children.
        let new: Vec<_> = ids.iter().filter(|id| !ticket.children.contains(id)).collect();
        if !new.is_empty() {
            let all = ticket.children.iter().chain(new).map(|id| id.as_str().into()).collect();
            changes.push(Change::Set("children".into(), serde_yaml::Value::Sequence(all)));
        }
        changes.extend(and_also(ticket, writer, now));
        Ok(changes)
    }

    /// The note for the parent's thread, with a link to each child.
    pub fn note(&self, before: &Ticket, children: &[(String, PathBuf)], writer: &Writer, now: Timestamp) -> String {
        let (at, from, by) = (clock(now), name_of(before.state), &writer.by);
        let folder = before.path.parent().unwrap_or(Path::new(""));
        let links: Vec<_> = children.iter().map(|(title, path)| link(title, folder, path)).collect();
        let priority = match &self.keep_priority {
            Some(why) => format!("{} kept, because {}", before.priority, quoted(why)),
            None if before.priority == Priority::default() => before.priority.to_string(),
            None => format!("{}, not the parent's {}", Priority::default(), before.priority),
        };
        let why = quoted(&self.why);
        format!(
            "{at} DECOMPOSED {from} -> planning by {by}: into {}; why {why}; children's priority {priority}",
            links.join(", ")
        )
    }
}

/// A Markdown link from a file in this folder.
fn link(title: &str, folder: &Path, path: &Path) -> String {
    let title = one_line(title).replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]");
    format!("[{title}]({})", encoded(&relative(folder, path)))
}

fn relative(folder: &Path, path: &Path) -> String {
    let (from, to): (Vec<_>, Vec<_>) = (folder.components().collect(), path.components().collect());
    let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = from[common..].iter().map(|_| "..".to_owned());
    let down = to[common..].iter().map(|part: &Component<'_>| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// What would end a link's address, or mean something in it, by its bytes.
fn encoded(path: &str) -> String {
    let mut text = String::new();
    for c in path.chars() {
        if c.is_alphanumeric() || "/._-~+=@,".contains(c) {
            text.push(c);
        } else {
            let mut bytes = [0; 4];
            text.extend(c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")));
        }
    }
    text
}

#[cfg(test)]
#[path = "decompose_tests.rs"]
mod tests;

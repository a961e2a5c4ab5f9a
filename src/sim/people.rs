//! People and their editors, other programs, and the clock.

use std::path::PathBuf;

use super::disk::Inode;
use super::messages::Message;
use super::story::{ticket_text, with_line, with_line_before};
use super::wishes::Wish;
use super::world::{Happening, World};
use crate::domain::engine::Actor;
use crate::domain::facts::Dirty;
use crate::domain::kick::Boundary;
use crate::domain::ticket::{State, TicketId};

/// The longest time for which the main worktree is dirty: every minute of it is probed.
const DIRTY: i64 = 20 * 60_000;

/// How an editor saves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A new file, renamed over the old one.
    Rename,
    /// The old file renamed away, then a new one.
    Away,
    /// The old file emptied, then filled.
    InPlace,
}

/// An editor with a text open.
#[derive(Clone, Debug)]
pub(super) struct Editor {
    number: u64,
    pub(super) path: PathBuf,
    /// What the person made of it.
    pub(super) text: Vec<u8>,
    /// When it had read the file.
    pub(super) read_at: u64,
    way: Way,
    /// The file that it is writing into.
    open: Option<Inode>,
    begun: bool,
}

impl Editor {
    /// Between the first and the last step of a save.
    pub(super) fn is_saving(&self) -> bool {
        self.begun
    }
}

impl World {
    /// Something that people or other programs do.
    pub(super) fn somebody_acts(&mut self) {
        let name = self.any();
        match self.dice.roll(22) {
            0..=8 => self.open_editor(&name),
            9 | 10 => {
                let to = self.dice.of(&[State::Queued, State::Queued, State::Ready, State::Done, State::Planning]);
                self.ask(&name, Wish::Move(to, "al".into()), Actor::Somebody("al".into()));
            }
            11 => {
                let wish = Wish::Priority(self.dice.roll(5));
                self.ask(&name, wish, Actor::Somebody("al".into()));
            }
            12 => {
                let wish = Wish::Label(self.dice.of(&["ui", "big", "needs-human"]).into());
                self.ask(&name, wish, Actor::Somebody("bo".into()));
            }
            13 => self.tell(Message::Boundary(self.dice.clone().of(&[Boundary::PanelOpen, Boundary::UserKick]))),
            14 => self.delete_or_restore(&name),
            15 => self.move_folder(),
            16 => self.change_workspace(),
            17 => self.set_clock(),
            18 => self.start_daemon(),
            19 => self.kill_daemon("by its user"),
            20 => self.checkout(),
            _ => {
                let pause = self.store.ledger.paused.is_none() && self.dice.once_in(2);
                self.tell(if pause { Message::Pause } else { Message::Resume });
            }
        }
    }

    pub(super) fn any(&mut self) -> TicketId {
        let n = self.dice.roll(self.tickets.len());
        self.tickets[n].clone()
    }

    /// Somebody opens a ticket, thinks, and saves it some time later.
    pub(super) fn open_editor(&mut self, id: &TicketId) {
        let Some(path) = self.path_of(id) else { return };
        let Some(read) = self.disk.read(&path).cloned() else { return };
        let read_at = self.count;
        let Some(text) = self.edited(&read) else { return };
        self.count += 1;
        let number = self.count;
        let way = self.dice.of(&[Way::Rename, Way::Away, Way::InPlace]);
        self.editors.push(Editor { number, path, text, read_at, way, open: None, begun: false });
        let thinks = self.dice.span() / 4;
        self.at(thinks, Happening::Editor(number));
    }

    /// What a person makes of a text; None where it is not whole just now.
    fn edited(&mut self, read: &[u8]) -> Option<Vec<u8>> {
        self.count += 1;
        let state = self.dice.of(&["queued", "queued", "ready", "inprogress", "done"]);
        match self.dice.roll(8) {
            0..=2 => with_line(read, "state:", Some(&format!("state: {state}"))),
            3 => with_line(read, "human_gate:", None)
                .or_else(|| with_line_before(read, "state:", "human_gate: sign-off")),
            4 => with_line(read, "queued_at:", None),
            5 => with_line(read, "title:", Some(&format!("title: edited {}", self.count))),
            _ => (!read.is_empty()).then(|| [read, format!("Line {}.\n", self.count).as_bytes()].concat()),
        }
    }

    /// The next step of an editor that saves.
    pub(super) fn editor_step(&mut self, number: u64) {
        let Some(at) = self.editors.iter().position(|editor| editor.number == number) else { return };
        let mut editor = self.editors.remove(at);
        let path = editor.path.clone();
        let between = self.dice.of(&[0, 2, 60, 160, 280]);
        match (editor.way, editor.begun) {
            (Way::Away, false) => self.disk.remove(&path),
            (Way::InPlace, false) => {
                editor.open = self.disk.names.get(&path).copied();
                let Some(inode) = editor.open else { return };
                self.disk.write(inode, b"");
            }
            (Way::InPlace, true) => {
                let Some(inode) = editor.open else { return };
                self.disk.write(inode, &editor.text);
                if self.disk.names.get(&path) != Some(&inode) {
                    self.say(|| format!("editor {number} writes into a file that was displaced"));
                    return self.saved_elsewhere(editor, inode);
                }
                self.owe(&editor);
                self.saved(&editor);
                return self.changed_on_disk(&path);
            }
            _ => {
                let inode = self.disk.new_file(&editor.text);
                self.disk.rename(inode, &path);
                self.owe(&editor);
                self.saved(&editor);
                return self.changed_on_disk(&path);
            }
        }
        editor.begun = true;
        self.say(|| format!("editor {number} begins to save {} (file {:?})", path.display(), editor.open));
        self.editors.push(editor);
        self.changed_on_disk(&path);
        self.at(between, Happening::Editor(number));
    }

    fn delete_or_restore(&mut self, id: &TicketId) {
        if let Some(path) = self.path_of(id) {
            if let Some(text) = self.disk.read(&path).cloned().filter(|text| !text.is_empty()) {
                self.say(|| format!("{id} is deleted"));
                self.deleted.push((path.clone(), text));
                self.disk.remove(&path);
                self.forget_writes(&path);
                self.changed_on_disk(&path);
            }
        } else if let Some(at) = self.deleted.iter().position(|(path, _)| path.ends_with(format!("{}.md", id.as_str())))
        {
            let (path, text) = self.deleted.remove(at);
            self.put_file(&path, &text);
        }
    }

    /// A whole text put there by another program.
    pub(super) fn put_file(&mut self, path: &std::path::Path, text: &[u8]) {
        let inode = self.disk.new_file(text);
        self.disk.rename(inode, path);
        self.forget_writes(path);
        self.changed_on_disk(path);
    }

    /// The whole folder away, or what is away back.
    fn move_folder(&mut self) {
        if self.writes.iter().any(|write| self.disk.names.contains_key(&write.path)) || !self.editors.is_empty() {
            return;
        }
        if self.away.is_empty() {
            self.say(|| "the folder is moved away".into());
            for path in self.paths() {
                if let Some(inode) = self.disk.names.remove(&path) {
                    self.away.push((path.clone(), inode));
                    self.changed_on_disk(&path);
                }
            }
            let back = self.dice.span();
            self.at(back, Happening::FolderBack);
        }
    }

    pub(super) fn folder_back(&mut self) {
        self.say(|| "the folder is back".into());
        for (path, inode) in std::mem::take(&mut self.away) {
            if !self.disk.names.contains_key(&path) {
                self.disk.rename(inode, &path);
                self.changed_on_disk(&path);
            }
        }
    }

    /// Somebody changes a file of the main worktree, or takes that back and says so.
    fn change_workspace(&mut self) {
        if self.dirty == Dirty::Clean {
            self.dirty = Dirty::Changed(vec!["src/x".into()]);
            self.at(DIRTY, Happening::Cleaned);
        } else {
            self.dirty = Dirty::Clean;
        }
        self.tell(Message::Git);
    }

    /// What was changed is put right by a program that nothing in the git directory tells of: only a probe finds it.
    pub(super) fn clean(&mut self) {
        self.say(|| "the main worktree is clean".into());
        self.dirty = Dirty::Clean;
    }

    /// Many files at once, as git does it.
    fn checkout(&mut self) {
        for id in self.tickets.clone() {
            let Some(path) = self.path_of(&id) else { continue };
            let state = self.dice.of(&[State::Ready, State::Queued, State::Done]);
            let style = self.dice.roll(3);
            if self.dice.once_in(2) && !self.editors.iter().any(|editor| editor.path == path) {
                self.put_file(&path, &ticket_text(id.as_str(), state, style));
            }
        }
    }

    fn set_clock(&mut self) {
        let ms = self.dice.of(&[-9 * 3_600_000, -61_000, -1_000, 5_000, 7_200_000]);
        self.say(|| format!("the clock is set by {ms} ms"));
        self.set_by += ms;
    }
}

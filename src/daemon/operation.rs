//! What a person does to the daemon while it runs: other settings, pause, resume (DESIGN.md 5, 8).
//!
//! Must not know: where settings are written, how they are checked.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use super::{Command, Host, Message, Stop};
use crate::domain::concern;
use crate::domain::engine::{Event, Reach, Record, RecordKind, Reload};
use crate::domain::ledger::{Paused, SavedLedger};
use crate::domain::policy::Policy;
use crate::domain::ticket::Digest;
use crate::ports::{Wake, Worktrees};

/// The program of a role.
#[derive(Clone, Debug)]
pub struct RoleCommand {
    /// How it is run; where is the ticket's to say.
    pub command: Command,
    /// Whether the user has agreed to it.
    pub trusted: bool,
}

/// The settings as a daemon acts on them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Settings of the decisions.
    pub policy: Policy,
    /// Whether an Orchestrator can be reached, and if not, why.
    pub reach: Reach,
    /// How it is run.
    pub command: Option<Command>,
    /// The programs of roles that have one, by the role's name.
    pub roles: BTreeMap<String, RoleCommand>,
    /// What wakes an Orchestrator that registers itself, if anything does.
    pub wake: Option<Wake>,
    /// What is in the way by them: an untrusted command, say.
    pub obstacles: Vec<String>,
    /// The worktrees of tickets, where and how they want them made.
    pub worktrees: Arc<dyn Worktrees>,
    /// All settings, each with its value as it would be written.
    pub listed: Vec<(String, String)>,
}

impl Settings {
    /// What everything that is known rests on, which is taken at a fresh start only.
    pub fn foundations(&self) -> Vec<&(String, String)> {
        let fundamental = |key: &str| FOUNDATIONS.iter().any(|section| key.starts_with(section));
        self.listed.iter().filter(|(key, _)| fundamental(key)).collect()
    }

    /// What stands for the Orchestrator, for as long as it is kept: its command, or that it registers itself; None where
    /// none can be reached.
    pub fn whom(&self) -> Option<Digest> {
        // No argument holds a zero byte.
        let parts = |command: &Command| {
            command.command.iter().fold(Digest::of(b"command"), |digest, part| digest.and(b"\0").and(part.as_bytes()))
        };
        match self.reach {
            Reach::No(_) => None,
            Reach::Exec => self.command.as_ref().map(parts),
            Reach::Session => Some(Digest::of(b"session")),
        }
    }
}

/// Reads the settings again; the problems, a line each, where they cannot be used.
pub type Reread = Box<dyn Fn() -> Result<Settings, Vec<String>> + Send>;

/// Sections and keys that are taken at a fresh start only: everything that is known rests on them.
const FOUNDATIONS: [&str; 3] = ["tickets.", "frontmatter.", "claims.remote"];

impl Host {
    /// Reads the settings again, and acts on them from now on. Bad ones change nothing: the last good ones stay in
    /// force, and what is wrong is said until it is right. Returns the keys that changed.
    pub fn reload(&mut self) -> Result<Vec<String>, Vec<String>> {
        let settings = match (self.reread)() {
            Ok(settings) => settings,
            Err(lines) => {
                self.bad_settings(&lines);
                return Err(lines);
            }
        };
        self.settings_trouble = None;
        let is_new = |setting: &&(String, String)| !self.settings.listed.contains(setting);
        let changed: Vec<String> = settings.listed.iter().filter(is_new).map(|(key, _)| key.clone()).collect();
        if settings.foundations() != self.settings.foundations() {
            // Until then the ones before stay in force, all of them.
            let _ = self.mail.send(Message::Stop(Stop::Reopen));
            return Ok(changed);
        }
        let before = std::mem::replace(&mut self.settings, settings.clone());
        // Trust alone changes no key: but who can be reached, and whether it can be woken.
        if changed.is_empty() && before.reach == settings.reach && before.policy == settings.policy {
            return Ok(changed);
        }
        let session = self.is_another_way(&before).then(|| (self.sessions)());
        let whom = settings.whom();
        let (policy, reach) = (settings.policy, settings.reach);
        self.tell(Event::Reloaded(Box::new(Reload { policy, reach, whom, session, changed: changed.clone() })));
        Ok(changed)
    }

    /// Another command, or one where none could be reached before, is another Orchestrator: a new session.
    fn is_another_way(&self, before: &Settings) -> bool {
        let program = |settings: &Settings| settings.command.as_ref().map(|command| command.command.clone());
        let now = &self.settings;
        !matches!(now.reach, Reach::No(_)) && (now.reach != before.reach || program(now) != program(before))
    }

    fn bad_settings(&mut self, lines: &[String]) {
        let what = lines.join("; ");
        if self.settings_trouble.as_ref() == Some(&what) {
            return;
        }
        let data = json!({"what": format!("the configuration cannot be used, the daemon goes on with the last good one: {what}"),
            "about": concern::SETTINGS});
        let at = self.now();
        self.record(Record { kind: RecordKind::Inbox, at, ticket: None, data });
        self.settings_trouble = Some(what);
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The worktrees of tickets, by the settings of now.
    pub fn worktrees(&self) -> Arc<dyn Worktrees> {
        Arc::clone(&self.settings.worktrees)
    }

    /// What is wrong with the settings as they are written now, while the last good ones are in force.
    pub fn settings_trouble(&self) -> Option<&str> {
        self.settings_trouble.as_deref()
    }

    /// Holds all kicks, with a daemon or for the next one.
    pub fn pause(&mut self, by: &str, reason: Option<String>) {
        let by = by.to_owned();
        if self.resident {
            self.tell(Event::Paused { by, reason });
            return self.insist();
        }
        let now = self.now();
        let data = json!({"by": by, "reason": reason});
        self.keep_paused(Some(Paused { at: now, by, reason }));
        self.record(Record { kind: RecordKind::Paused, at: now, ticket: None, data });
    }

    /// Lets them go on. Returns whether they were held.
    pub fn resume(&mut self, by: &str) -> bool {
        let was = self.paused().is_some();
        if self.resident {
            self.tell(Event::Resumed { by: by.to_owned() });
            self.insist();
        } else if was {
            self.keep_paused(None);
            let data = json!({"by": by});
            let at = self.now();
            self.record(Record { kind: RecordKind::Resumed, at, ticket: None, data });
        }
        was
    }

    /// Whether all kicks are held.
    pub fn paused(&self) -> Option<Paused> {
        self.ledger().paused
    }

    /// The counts and waits: the daemon's, or those that the last one left.
    pub fn ledger(&self) -> SavedLedger {
        if self.resident { self.engine.saved_ledger().clone() } else { self.history.ledger() }
    }

    /// Whether the next daemon would be paused, or not, as this one is now.
    pub fn keeps_the_pause(&self) -> bool {
        self.history.keeps_the_pause()
    }

    /// What waits to be kept is tried again at once: whoever asked is told what came of it.
    pub fn insist(&mut self) {
        let now = self.now();
        self.history.insist(now);
        self.note_reports();
        self.insist_on_registers();
        self.tell_listeners();
    }

    /// What the next daemon would not find, and why, a sentence each. The work set is not among it: that is nowhere but in
    /// the daemon's memory.
    pub fn unkept(&self) -> Vec<String> {
        let waiting = self.history.unkept();
        let history = (!waiting.is_empty()).then(|| {
            let why = self.history.why().unwrap_or("it was not tried yet");
            format!("a restart would not find {}: {why}", waiting.join(", "))
        });
        history.into_iter().chain(self.registers_trouble().map(str::to_owned)).collect()
    }

    fn keep_paused(&mut self, paused: Option<Paused>) {
        let now = self.now();
        let ledger = SavedLedger { paused, ..self.history.ledger() };
        self.history.save_ledger(ledger, now);
    }
}

//! A backlog made up for measuring: the same tickets each time, in a workspace of their own.
//!
//! Must not know: what is measured.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// How ticket files lie in their folder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `<id>.md`.
    Flat,
    /// `<id>/item.md`.
    Folders,
}

/// A git repository with tickets and a home of its own, removed at the end.
pub struct Backlog {
    folder: TempDir,
    layout: Layout,
    count: usize,
}

/// One of two branches, between which tickets differ in a label.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Where the backlog begins.
    Left,
    /// The other one.
    Right,
}

impl Side {
    /// The other one.
    pub fn other(self) -> Self {
        if self == Self::Left { Self::Right } else { Self::Left }
    }

    /// The labels that are gone once so many tickets of the other side are known.
    pub fn labels_of(self, number: usize) -> &'static [&'static str] {
        let labels = if self == Self::Left { &["near-left", "far-left"] } else { &["near-right", "far-right"] };
        if number > NEAR { labels } else { &labels[..1] }
    }
}

/// Numbers that look drawn, the same each time (splitmix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % most as u64).unwrap_or_default()
    }

    fn of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }
}

/// In the proportions of a backlog that has been worked on for a while.
const STATES: [&str; 20] = [
    "planning",
    "planning",
    "ready",
    "ready",
    "queued",
    "queued",
    "queued",
    "inprogress",
    "done",
    "done",
    "done",
    "done",
    "closed",
    "closed",
    "closed",
    "closed",
    "closed",
    "closed",
    "closed",
    "closed",
];
const VERBS: [&str; 6] = ["Fix", "Add", "Remove", "Document", "Split", "Rename"];
const NOUNS: [&str; 6] = ["the watcher", "retries: all of them", "the lock", "ticket lists", "exit codes", "the log"];
const LABELS: [&str; 5] = ["bug", "feature", "docs", "ui", "infra"];
const PEOPLE: [&str; 3] = ["Ana", "Ben", "Chiyo"];
/// A smaller checkout is of so many tickets, a larger one of so many.
pub const NEAR: usize = 1000;
pub const MOST: usize = 10_000;
/// So many tickets carry the label `rare`, however many there are.
const RARE: usize = 40;
const WORDS: [&str; 12] =
    ["when", "the", "agent", "reads", "a", "ticket", "it", "should", "see", "every", "change", "at once"];

impl Backlog {
    /// Writes `count` tickets of about 1.5 KB.
    pub fn new(count: usize, layout: Layout) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let backlog = Self { folder, layout, count };
        let work = backlog.work();
        fs::create_dir_all(work.join(".yoi"))?;
        fs::create_dir_all(backlog.folder.path().join("home"))?;
        fs::write(work.join(".yoi/config.toml"), "")?;
        fs::write(backlog.folder.path().join("home/.gitconfig"), "[user]\n\tname = Ana\n")?;
        // Without git there is no repository, and everything works.
        let _ = Command::new("git").args(["init", "--quiet"]).arg(&work).stdout(Stdio::null()).status();
        let mut chance = Chance(1);
        for number in 0..count {
            let path = backlog.file(number);
            fs::create_dir_all(path.parent().unwrap_or(&work))?;
            fs::write(path, text(number, &mut chance))?;
        }
        Ok(backlog)
    }

    /// The workspace.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// The ticket folder.
    pub fn tickets(&self) -> PathBuf {
        self.work().join("tickets")
    }

    /// How many tickets there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The n-th ticket's id.
    pub fn id(number: usize) -> String {
        format!("ticket-{number:06}")
    }

    /// The n-th ticket's file.
    pub fn file(&self, number: usize) -> PathBuf {
        let id = Self::id(number);
        match self.layout {
            Layout::Flat => self.tickets().join(id + ".md"),
            Layout::Folders => self.tickets().join(id).join("item.md"),
        }
    }

    /// Commits the tickets on a branch `left`, and on a branch for each number that many with the label of the other side
    /// (`right-1000`). Afterwards `left` is checked out.
    pub fn branches(&self, numbers: &[usize]) -> Result<(), String> {
        self.git(&["checkout", "-q", "-b", "left"])?;
        self.git(&["add", "tickets"])?;
        self.git(&["commit", "-q", "-m", "left"])?;
        for number in numbers {
            self.git(&["checkout", "-q", "-b", &format!("right-{number}")])?;
            for n in 0..*number {
                let file = self.file(n);
                let text = fs::read_to_string(&file).map_err(|error| error.to_string())?;
                let text = text.replacen("-left", "-right", 1);
                fs::write(file, text).map_err(|error| error.to_string())?;
            }
            self.git(&["commit", "-q", "-a", "-m", "right"])?;
            self.git(&["checkout", "-q", "left"])?;
        }
        Ok(())
    }

    /// Takes back whatever was changed since.
    pub fn as_committed(&self) -> Result<(), String> {
        self.git(&["reset", "-q", "--hard"])
    }

    /// Checks out one side.
    pub fn checkout(&self, side: Side, number: usize) -> Result<(), String> {
        match side {
            Side::Left => self.git(&["checkout", "-q", "left"]),
            Side::Right => self.git(&["checkout", "-q", &format!("right-{number}")]),
        }
    }

    fn git(&self, arguments: &[&str]) -> Result<(), String> {
        let mut command = self.command("git");
        command.args(["-c", "user.name=Ana", "-c", "user.email=ana@example.org", "-c", "gc.auto=0"]).args(arguments);
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("git {} ended with {status}", arguments.join(" "))),
            Err(error) => Err(format!("git: {error}")),
        }
    }

    /// A program that runs in the workspace, with nothing of this environment but where programs are found.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(self.work()).env_clear().env("HOME", self.folder.path().join("home"));
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
        command
    }
}

fn moment(minutes: usize) -> String {
    let (hour, day) = (minutes / 60 % 24, minutes / 1440 % 28 + 1);
    format!("2026-{:02}-{day:02}T{hour:02}:{:02}:00Z", minutes / 40_320 % 12 + 1, minutes % 60)
}

fn text(number: usize, chance: &mut Chance) -> String {
    let state = chance.of(&STATES);
    let mut text = format!("---\ntitle: \"{} {} ({number})\"\nstate: {state}\n", chance.of(&VERBS), chance.of(&NOUNS));
    let created = number * 2;
    let _ = writeln!(text, "created_at: {}\nupdated_at: {}", moment(created), moment(created + chance.below(9000)));
    if matches!(state, "queued" | "inprogress" | "done" | "closed") {
        let _ = writeln!(text, "queued_by: {}\nqueued_at: {}", chance.of(&PEOPLE), moment(created + chance.below(900)));
    }
    let mut labels: Vec<_> = (0..chance.below(3)).map(|n| LABELS[(number + n) % LABELS.len()]).collect();
    labels.extend((number < RARE).then_some("rare"));
    labels.push(Side::Left.labels_of(MOST)[usize::from(number >= NEAR)]);
    let first = number.saturating_sub(50);
    let depends_on: Vec<_> =
        (0..chance.below(10).saturating_sub(7)).map(|n| Backlog::id(first + n)).filter(|_| number > 2).collect();
    let _ = writeln!(text, "labels: [{}]\npriority: P{}", labels.join(", "), chance.below(4));
    let _ = writeln!(text, "depends_on: [{}]\nrepo: core\n---\n", depends_on.join(", "));
    text.push_str("## Background\n\n```yaml\nstate: quoted-in-the-body\n```\n\n---\n\n");
    while text.len() < 1500 {
        text.push_str(chance.of(&WORDS));
        text.push(if chance.below(12) == 0 { '\n' } else { ' ' });
    }
    text.push('\n');
    text
}

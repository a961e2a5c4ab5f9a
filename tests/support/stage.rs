//! A workspace with a scripted Orchestrator (`orchestrator.sh`), tickets, an editor's ways of saving, and a daemon that
//! is ended with it, whatever happens.
//!
//! Must not know: what a test expects.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::wait::until;
use super::{Answer, Bench};

/// How long anything may take that is waited for, on a machine that has other things to do.
pub const BOUND: Duration = Duration::from_mins(1);

/// The settings of a stage that says nothing else.
const CONFIG: &str = "[dispatch]\nmode = \"orchestrated\"\n";

/// The workspace `work`, and what plays in it.
pub struct Stage {
    /// The folder, git, commands.
    pub bench: Bench,
    daemon: RefCell<Option<Child>>,
    workers: RefCell<Vec<Child>>,
}

/// One turn of the Orchestrator, as its script kept it.
#[derive(Debug)]
pub struct Turn {
    /// When it began, in nanoseconds since 1970.
    pub began: u128,
    /// The kick file.
    pub kick: Value,
    /// What came on standard input.
    pub list: String,
    /// `YOI_SESSION`.
    pub session: String,
}

impl Turn {
    /// The ids handed over, in their order.
    pub fn items(&self) -> Vec<&str> {
        self.kick["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
    }

    /// The boundaries that led to it.
    pub fn boundaries(&self) -> Vec<&str> {
        self.kick["boundaries"].as_array().unwrap().iter().map(|b| b.as_str().unwrap()).collect()
    }
}

impl Stage {
    /// A git repository with a trusted Orchestrator, and no ticket yet.
    pub fn new() -> Self {
        Self::with("")
    }

    /// The same with more settings.
    pub fn with(settings: &str) -> Self {
        let mut bench = Bench::with_git();
        bench.folder("orchestrator/turns");
        bench.write("orchestrator/run.sh", include_str!("orchestrator.sh"));
        bench.folder("bin");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_yoi"), bench.path("bin/yoi")).unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        bench.set("PATH", format!("{}:{path}", bench.path("bin").display()));
        let script = bench.path("orchestrator/run.sh");
        let command = format!("[orchestrator]\ncommand = [\"sh\", \"{}\"]\n", script.display());
        bench.write("work/.yoi/config.toml", &format!("{CONFIG}{command}{settings}"));
        bench.folder("work/tickets");
        let stage = Self { bench, daemon: RefCell::new(None), workers: RefCell::new(Vec::new()) };
        stage.done("trust");
        stage
    }

    /// Runs `yoi` in the workspace; the line is split at spaces.
    pub fn yoi(&self, line: &str) -> Answer {
        self.bench.yoi("work", line)
    }

    /// The same with arguments that may have spaces in them.
    pub fn run(&self, arguments: &[&str]) -> Answer {
        self.bench.run(self.bench.command("work").args(arguments))
    }

    /// The same; it has to succeed.
    pub fn done(&self, line: &str) -> Answer {
        let answer = self.yoi(line);
        assert_eq!(answer.code, 0, "yoi {line}: {answer}");
        answer
    }

    /// The JSON that a command answers.
    pub fn json(&self, line: &str) -> Value {
        self.yoi(&format!("{line} --json")).json()
    }

    /// Writes a ticket in place: a title, the state, further lines of frontmatter.
    pub fn ticket(&self, id: &str, state: &str, more: &str) {
        self.bench.write(&ticket_path(id), &ticket_text(id, state, more));
    }

    /// A ticket's file.
    pub fn text(&self, id: &str) -> String {
        self.bench.read(&ticket_path(id))
    }

    /// Changes a ticket as an editor does that writes in place.
    pub fn save_in_place(&self, id: &str, from: &str, to: &str) {
        self.bench.write(&ticket_path(id), &self.changed(id, from, to));
    }

    /// Changes a ticket as an editor does that writes a new file and renames it over the old one.
    pub fn save(&self, id: &str, from: &str, to: &str) {
        let (new, path) = (self.bench.path(&format!("work/tickets/.{id}.md~")), self.bench.path(&ticket_path(id)));
        fs::write(&new, self.changed(id, from, to)).unwrap();
        fs::rename(new, path).unwrap();
    }

    /// Changes a ticket as an editor does that keeps a backup: the old file is moved aside, a new one is written.
    pub fn save_with_backup(&self, id: &str, from: &str, to: &str) {
        let (text, path) = (self.changed(id, from, to), self.bench.path(&ticket_path(id)));
        fs::rename(&path, self.bench.path(&format!("work/tickets/{id}.md~"))).unwrap();
        fs::write(path, text).unwrap();
    }

    fn changed(&self, id: &str, from: &str, to: &str) -> String {
        let text = self.text(id);
        assert!(text.contains(from), "{id}: no `{from}` in\n{text}");
        text.replacen(from, to, 1)
    }

    /// What the Orchestrator does in each turn from now on: lines of sh.
    pub fn act(&self, script: &str) {
        self.bench.write("orchestrator/act.new", script);
        fs::rename(self.bench.path("orchestrator/act.new"), self.bench.path("orchestrator/act.sh")).unwrap();
    }

    /// Turns do not end from now on.
    pub fn hold(&self) {
        self.bench.write("orchestrator/hold", "");
    }

    /// Turns end again.
    pub fn release(&self) {
        fs::remove_file(self.bench.path("orchestrator/hold")).unwrap();
    }

    /// The exit code of turns from now on.
    pub fn exit_code(&self, code: u8) {
        self.bench.write("orchestrator/code", &code.to_string());
    }

    /// Starts the daemon, and waits until it answers.
    pub fn start(&self) {
        self.start_with([]);
    }

    /// The same with these environment variables.
    pub fn start_with<const N: usize>(&self, env: [(&str, &str); N]) {
        let pid = self.spawn(env);
        // A daemon that is slow to listen makes whoever asks fail: it is asked again.
        let answers = || {
            let status = self.yoi("status --json");
            (status.code == 0 && status.json()["pid"] == pid).then_some(())
        };
        until("the daemon", BOUND, answers, || self.bench.read("daemon.log"));
    }

    /// Starts a daemon that is killed, or whose supervisor is, at this fault point.
    pub fn start_to_fail(&self, point: &str) {
        self.spawn([("YOI_FAULT", point)]);
    }

    fn spawn<const N: usize>(&self, env: [(&str, &str); N]) -> u32 {
        let log = fs::File::create(self.bench.path("daemon.log")).unwrap();
        let mut command = self.bench.command("work");
        command.arg("daemon").envs(env);
        let daemon = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let pid = daemon.id();
        assert!(self.daemon.replace(Some(daemon)).is_none(), "one daemon a stage");
        pid
    }

    /// Ends it.
    pub fn stop(&self) {
        self.done("down");
        let mut daemon = self.daemon.take().unwrap();
        assert!(daemon.wait().unwrap().success());
    }

    /// Ends it as a crash does.
    pub fn kill(&self) {
        let mut daemon = self.daemon.take().unwrap();
        daemon.kill().unwrap();
        daemon.wait().unwrap();
    }

    /// Ends it as the system does, and waits until it has ended.
    pub fn terminate(&self) {
        let pid = rustix::process::Pid::from_child(self.daemon.borrow().as_ref().unwrap());
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.ended();
    }

    /// Waits until it has ended by itself.
    pub fn ended(&self) {
        let mut daemon = self.daemon.take().unwrap();
        until("the daemon's end", BOUND, || daemon.try_wait().unwrap(), || self.bench.read("daemon.log"));
    }

    /// The history.
    pub fn events(&self) -> Vec<Value> {
        let answer = self.done("events --json");
        answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// How long the history is now.
    pub fn mark(&self) -> usize {
        self.events().len()
    }

    /// Waits for an event after a mark.
    pub fn event(&self, mark: usize, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        until(what, BOUND, || self.events().into_iter().skip(mark).find(&is), || self.story())
    }

    /// Waits until a kick is suppressed by this boundary, for this reason.
    pub fn suppressed(&self, mark: usize, boundary: &str, why: &str) -> Value {
        self.event(mark, &format!("{boundary}: {why}"), |event| {
            event["kind"] == "KICK_SUPPRESSED" && event["data"]["why"] == why && names(event, boundary)
        })
    }

    /// Waits until a kick is sent because of this boundary.
    pub fn kicked(&self, mark: usize, boundary: &str) -> Value {
        self.event(mark, &format!("a kick for {boundary}"), |event| {
            event["kind"] == "KICK_SENT" && names(event, boundary)
        })
    }

    /// Waits until a turn has ended and its end led to nothing more.
    pub fn rest(&self) {
        let telling = ["KICK_SENT", "KICK_SUPPRESSED", "TURN_ENDED"];
        let at_rest = || {
            let events = self.events();
            let last = events.iter().rev().find(|event| telling.contains(&event["kind"].as_str().unwrap()));
            last.is_some_and(|e| e["kind"] == "KICK_SUPPRESSED" && e["data"]["why"] != "busy").then_some(())
        };
        until("rest", BOUND, at_rest, || self.story());
    }

    /// How many kicks were sent so far.
    pub fn kicks(&self) -> usize {
        self.events().iter().filter(|event| event["kind"] == "KICK_SENT").count()
    }

    /// The Orchestrator's turns so far.
    pub fn turns(&self) -> Vec<Turn> {
        let folder = fs::read_dir(self.bench.path("orchestrator/turns")).unwrap();
        let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut began: Vec<u128> = names.filter_map(|name| name.parse().ok()).collect();
        began.sort_unstable();
        began.into_iter().map(|began| self.turn(began)).collect()
    }

    fn turn(&self, began: u128) -> Turn {
        let read = |file: &str| self.bench.read(&format!("orchestrator/turns/{began}/{file}"));
        let kick = serde_json::from_str(&read("kick.json")).unwrap();
        Turn { began, kick, list: read("list.md"), session: read("session").trim().to_owned() }
    }

    /// Waits for the turn with this number (the first is 1).
    pub fn nth_turn(&self, number: usize) -> Turn {
        until(
            &format!("turn {number}"),
            BOUND,
            || (self.turns().len() >= number).then(|| self.turns().swap_remove(number - 1)),
            || self.story(),
        )
    }

    /// The Orchestrator's current session.
    pub fn session(&self) -> String {
        self.json("status")["session"].as_str().unwrap().to_owned()
    }

    /// A line of the Orchestrator's, given in its session from outside a turn.
    pub fn order(&self, line: &str) -> Answer {
        let session = self.session();
        self.yoi(&format!("{line} --session {session}"))
    }

    /// Starts a process that does nothing, and registers it as a role's Pod on a ticket.
    pub fn worker(&self, role: &str, ticket: &str) -> u32 {
        let worker = self.bench.program("sleep", "work").arg("600").spawn().unwrap();
        let pid = worker.id();
        self.workers.borrow_mut().push(worker);
        self.done(&format!("hook busy --role {role} --ticket {ticket} --pid {pid}"));
        pid
    }

    /// Ends such a process.
    pub fn end_worker(&self, pid: u32) {
        let mut workers = self.workers.borrow_mut();
        let worker = workers.iter_mut().find(|worker| worker.id() == pid).unwrap();
        worker.kill().unwrap();
        worker.wait().unwrap();
    }

    /// Every regular file of the workspace, git's and yoi's state included.
    pub fn files(&self) -> Vec<PathBuf> {
        let walk = walkdir::WalkDir::new(self.bench.path("work")).into_iter().map(Result::unwrap);
        walk.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
    }

    /// What happened, for a failed test.
    pub fn story(&self) -> String {
        format!(
            "{}\ndaemon: {}",
            self.yoi("events"),
            fs::read_to_string(self.bench.path("daemon.log")).unwrap_or_default()
        )
    }
}

/// Whether a decision's event names this boundary.
fn names(event: &Value, boundary: &str) -> bool {
    event["data"]["boundaries"].as_array().is_some_and(|all| all.iter().any(|b| b == boundary))
}

/// A ticket's path in the bench.
pub fn ticket_path(id: &str) -> String {
    format!("work/tickets/{id}.md")
}

/// A ticket's file.
pub fn ticket_text(id: &str, state: &str, more: &str) -> String {
    let more = if more.is_empty() { String::new() } else { format!("{}\n", more.trim_end()) };
    format!("---\ntitle: \"The ticket {id}\"\nstate: {state}\n{more}---\nBody of {id}.\n")
}

/// Ends everything that was started here: by asking, and failing that by this stage's own handles.
impl Drop for Stage {
    fn drop(&mut self) {
        for worker in self.workers.get_mut() {
            let _ = worker.kill();
            let _ = worker.wait();
        }
        let _ = fs::remove_file(self.bench.path("orchestrator/hold"));
        // By a plain run: one that panics would abort the test program, because this may be a panic's unwinding.
        let mut down = self.bench.command("work");
        let _ = down.args(["down", "--pods"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        let overlaps = fs::read_to_string(self.bench.path("orchestrator/overlaps")).unwrap_or_default();
        assert!(std::thread::panicking() || overlaps.is_empty(), "two Orchestrators at once: {overlaps}");
    }
}

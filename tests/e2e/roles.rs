//! Roles' programs from outside: started with a claim and a worktree, kept by a supervisor, ended when the claim is lost, found
//! again by the next daemon; whoever is killed.

mod killed;

use std::fs;
use std::ops::Deref;
use std::process::Stdio;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::claims::age;
use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

/// What most programs here do: they keep what they were told, then stay.
const STAYS: &str = "cat >brief; sleep 1000 & echo $! >child; env >environment; echo here; wait";

/// A stage whose Pods end with it.
struct Roles(Stage);

impl Deref for Roles {
    type Target = Stage;

    fn deref(&self) -> &Stage {
        &self.0
    }
}

impl Drop for Roles {
    fn drop(&mut self) {
        let _ = self.0.yoi("down --pods");
    }
}

impl Roles {
    fn new(mode: &str, settings: &str, script: &str) -> Self {
        let stage = Stage::new();
        let script = serde_json::to_string(script).unwrap();
        let orchestrator = "[orchestrator]\ncommand = [\"true\"]\n";
        let orchestrator = if mode == "pull" { "" } else { orchestrator };
        let config = format!(
            "[dispatch]\nmode = \"{mode}\"\n{orchestrator}[gates]\ndirty_workspace = \"off\"\n{settings}\n\
             [roles.coder]\ncommand = [\"sh\", \"-c\", {script}]\n"
        );
        stage.bench.write("work/.yoi/config.toml", &config);
        stage.done("trust");
        Self(stage)
    }

    fn pull(script: &str) -> Self {
        Self::new("pull", "", script)
    }

    /// A queued ticket, started; what the command says.
    fn started(&self, id: &str, worker: &str) -> Value {
        self.ticket(id, "queued", "");
        self.start_of(id, worker)
    }

    fn start_of(&self, id: &str, worker: &str) -> Value {
        // A ticket that was written just now may not have been read yet.
        let line = format!("start {id} --worker {worker} --json");
        let started = || Some(self.yoi(&line)).filter(|answer| answer.code == 0);
        until("the start", BOUND, started, || format!("{}{}", self.yoi(&line), self.story())).json()
    }

    /// A queued ticket, accepted as soon as a daemon has read it.
    fn accepted(&self, id: &str) {
        self.ticket(id, "queued", "");
        let accepted = || (self.yoi(&format!("accept {id}")).code == 0).then_some(());
        until("the acceptance", BOUND, accepted, || self.story());
    }

    fn in_worktree(&self, id: &str, file: &str) -> Option<String> {
        fs::read_to_string(self.bench.path(&format!("work/.yoi/worktrees/{id}/{file}"))).ok()
    }

    /// A file that the program writes, when it is there.
    fn written(&self, id: &str, file: &str) -> String {
        let whole = || self.in_worktree(id, file).filter(|text| text.ends_with('\n'));
        until(file, BOUND, whole, || self.story())
    }

    fn child(&self, id: &str) -> u32 {
        self.written(id, "child").trim().parse().unwrap()
    }

    fn newest(&self, id: &str) -> String {
        let name = format!("refs/yoi/claims/{id}");
        self.bench.git("work", &["log", "-1", "--format=%s", &name]).trim().to_owned()
    }

    /// Waits until the claim's newest step says this.
    fn says(&self, id: &str, what: &str) -> String {
        let newest = || Some(self.newest(id)).filter(|subject| subject.contains(what));
        until(what, BOUND, newest, || format!("{}\n{}", self.newest(id), self.story()))
    }

    fn pods(&self) -> Vec<String> {
        let view = self.json("pod list");
        let pods = view["pods"].as_array().unwrap().iter().filter(|pod| pod["role"] != "orchestrator");
        let words = |pod: &Value| format!("{} {}", pod["role"].as_str().unwrap(), pod["ticket"].as_str().unwrap());
        let mut pods: Vec<_> = pods.map(words).collect();
        pods.sort();
        pods
    }

    fn state(&self, id: &str) -> String {
        self.json(&format!("show {id}"))["ticket"]["state"].as_str().unwrap().to_owned()
    }

    fn class(&self, id: &str) -> String {
        self.json(&format!("show {id}"))["ticket"]["class"].as_str().unwrap_or("none").to_owned()
    }

    /// Waits until the Pods are no more.
    fn gone(&self) {
        until("the end of the Pods", BOUND, || self.pods().is_empty().then_some(()), || self.story());
    }
}

fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
}

fn ended(pid: u32) {
    until("the end of a process", BOUND, || (!is_alive(pid)).then_some(()), || format!("{pid}"));
}

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

fn parent(pid: u32) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn pid(view: &Value) -> u32 {
    u32::try_from(view["pod"]["pid"].as_u64().unwrap()).unwrap()
}

#[test]
fn a_roles_program_works_in_the_worktree_under_its_own_claim() {
    for daemon in [false, true] {
        let stage = Roles::pull(STAYS);
        if daemon {
            stage.start();
        }
        let view = stage.started("a", "w");
        assert_eq!(stage.pods(), ["coder a"], "daemon {daemon}");
        assert_eq!(stage.class("a"), "active_inprogress");
        let brief = stage.written("a", "brief");
        assert!(brief.contains("`a` `The ticket a`") && brief.contains("yoi/a"), "{brief}");
        let environment = stage.written("a", "environment");
        for line in ["YOI_TICKET=a", "YOI_WORKER=w", "YOI_GENERATION=1", "YOI_ROLE=coder"] {
            assert!(environment.lines().any(|other| other == line), "{line}: {environment}");
        }
        assert!(!environment.contains("YOI_SESSION="), "{environment}");
        // The claim is the program's, and nobody else's.
        let claim = stage.bench.git("work", &["log", "-1", "--format=%b", "refs/yoi/claims/a"]);
        assert!(claim.contains(&format!("Yoi-PID: {}\n", pid(&view))), "{claim}");
        let other = stage.yoi("start a --worker v");
        assert!(other.code == 3 && other.stderr.contains("works on it"), "{other}");
        let logged =
            || stage.done(&format!("logs --pod {}", view["pod"]["id"].as_str().unwrap())).stdout.contains("here");
        until("the log", BOUND, || logged().then_some(()), || stage.story());
        assert!(stage.done("down --pods").stdout.contains("was ended"));
        ended(pid(&view));
        ended(stage.child("a"));
        // Nothing came of it: in pull mode the ticket is in the queue again.
        assert_eq!(stage.says("a", "RELEASE").split(" ts=").next(), Some("🔓 RELEASE worker=w outcome=abandoned"));
        assert_eq!(stage.state("a"), "queued");
        if daemon {
            stage.ended();
        }
    }
}

#[test]
fn a_program_that_ends_gives_its_claim_back_and_takes_its_children_along() {
    for (mode, daemon, state) in
        [("pull", false, "queued"), ("pull", true, "queued"), ("orchestrated", true, "inprogress")]
    {
        let stage = Roles::new(mode, "", "sleep 1000 & echo $! >child; read go <../../../go; exit 7");
        let go = stage.bench.path("work/go");
        rustix::fs::mknodat(rustix::fs::CWD, &go, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
        if daemon {
            stage.start();
        }
        if mode == "orchestrated" {
            stage.accepted("a");
        } else {
            stage.ticket("a", "queued", "");
        }
        stage.start_of("a", "w");
        let child = stage.child("a");
        fs::write(&go, "go\n").unwrap();
        stage.says("a", "outcome=abandoned");
        ended(child);
        stage.gone();
        assert_eq!(stage.state("a"), state, "{mode}");
        let thread = stage.bench.read("work/tickets/a.thread.md");
        assert!(thread.contains("RELEASE by w: abandoned") && thread.contains("exit code 7"), "{thread}");
        if daemon {
            let class = if mode == "pull" { "new_queued" } else { "actionable_inprogress" };
            until("the class", BOUND, || (stage.class("a") == class).then_some(()), || stage.story());
            until("the run's files gone", BOUND, || (runs(&stage) == 0).then_some(()), || stage.story());
            stage.stop();
        } else {
            stage.started("b", "v");
            assert!(runs(&stage) <= 5, "the former run is forgotten by the next start");
        }
    }
}

fn runs(stage: &Stage) -> usize {
    fs::read_dir(stage.bench.path("work/.git/yoi/runs")).map_or(0, Iterator::count)
}

#[test]
fn a_program_that_ends_its_claim_itself_may_say_its_last_words() {
    let stage = Roles::pull("yoi release a --outcome pr-opened --pr https://example.org/7; sleep 1; echo last >last");
    stage.start();
    stage.started("a", "w");
    assert_eq!(stage.written("a", "last"), "last\n");
    stage.gone();
    assert!(stage.newest("a").contains("outcome=pr-opened"));
    assert!(stage.text("a").contains("https://example.org/7"));
    stage.stop();
}

#[test]
fn a_program_whose_claim_was_taken_is_ended_also_when_it_was_suspended_meanwhile() {
    for daemon in [false, true] {
        let stage = Roles::pull(STAYS);
        if daemon {
            stage.start();
        }
        let view = stage.started("a", "old");
        let (program, child) = (pid(&view), stage.child("a"));
        let supervisor = parent(program);
        for pid in [supervisor, program, child] {
            signal(pid, Signal::STOP);
        }
        age(&stage, "a");
        // In pull mode a daemon breaks a stale claim by itself; the ticket is there again for anybody.
        let taken = || (stage.yoi("claim a --worker new").code == 0).then_some(());
        until("the claim", BOUND, taken, || stage.story());
        assert!(is_alive(program) && is_alive(child));
        for verb in
            ["heartbeat a", "release a --outcome done", "block a --blocker x --evidence x --unblock x --then retry"]
        {
            let refused = stage.yoi(&format!("{verb} --worker old"));
            assert!(refused.code == 3 && refused.stderr.contains("held by new"), "{verb}: {refused}");
        }
        for pid in [child, program, supervisor] {
            signal(pid, Signal::CONT);
        }
        ended(program);
        ended(child);
        stage.gone();
        assert!(stage.newest("a").contains("worker=new"), "{}", stage.newest("a"));
        if daemon {
            stage.stop();
        }
    }
}

#[test]
fn a_program_that_shows_life_keeps_its_claim_and_one_that_does_not_loses_it() {
    let script = "if [ $YOI_TICKET = talks ]; then while :; do echo x; sleep 0.1; done; else exec sleep 1000; fi";
    let stage = Roles::new("pull", "[claims]\nheartbeat = \"1s\"", script);
    stage.started("talks", "w1");
    let dumb = stage.started("dumb", "w2");
    let beat = |id: &str| stage.bench.git("work", &["rev-parse", &format!("refs/yoi/claims/{id}")]);
    let first = beat("talks");
    until("a renewal", BOUND, || (beat("talks") != first).then_some(()), || stage.story());
    let renewed = || {
        let before = beat("talks");
        until("another", BOUND, || (beat("talks") != before).then_some(()), || stage.story());
    };
    // To begin is work, too: that is a renewal for everybody.
    (0..2).for_each(|_| renewed());
    let silent = beat("dumb");
    (0..2).for_each(|_| renewed());
    assert_eq!(beat("dumb"), silent);
    // The chain stays short: each heartbeat takes the place of the one before it.
    let count = stage.bench.git("work", &["rev-list", "--count", "refs/yoi/claims/talks"]);
    assert_eq!(count.trim(), "2");
    assert!(is_alive(pid(&dumb)));
}

#[test]
fn limits_are_kept_and_a_person_who_takes_the_ticket_ends_the_work_on_it() {
    let stage = Roles::pull(STAYS);
    let config = stage.bench.read("work/.yoi/config.toml");
    stage.bench.write("work/.yoi/config.toml", &format!("{config}timeout = \"2s\"\n"));
    let view = stage.started("a", "w");
    ended(pid(&view));
    stage.says("a", "outcome=abandoned");
    assert!(stage.bench.read("work/tickets/a.thread.md").contains("longer than it may"));

    stage.bench.write("work/.yoi/config.toml", &config);
    for daemon in [false, true] {
        if daemon {
            stage.start();
        }
        let view = stage.started("b", &format!("w{daemon}"));
        stage.run(&["move", "b", "planning", "--force", "--reason", "not now"]);
        ended(pid(&view));
        stage.says("b", "outcome=abandoned");
        assert_eq!(stage.state("b"), "planning");
    }
    stage.stop();
}

#[test]
fn a_start_that_cannot_have_its_program_leaves_nothing() {
    let stage = Roles::pull(STAYS);
    let config = stage.bench.read("work/.yoi/config.toml");
    let left = || {
        let branches = stage.bench.git("work", &["for-each-ref", "--format=%(refname:short)", "refs/heads/yoi"]);
        let trees = stage.bench.git("work", &["worktree", "list"]);
        let marks = fs::read_dir(stage.bench.path("work/.git/yoi/starts")).map_or(0, Iterator::count);
        (branches, trees.lines().count(), marks)
    };
    stage.ticket("a", "queued", "");
    // Another command, to which nobody has agreed.
    stage.bench.write("work/.yoi/config.toml", &config.replace("echo here", "echo there"));
    let refused = stage.yoi("start a --worker w");
    assert!(refused.code == 3 && refused.stderr.contains("yoi trust"), "{refused}");
    let status = stage.done("status");
    assert!(status.stdout.contains("the [roles] commands are not trusted as they are"), "{status}");
    stage.bench.write("work/.yoi/config.toml", &config.replace("\"sh\"", "\"no-such-program\""));
    stage.done("trust");
    for daemon in [false, true] {
        if daemon {
            stage.start();
        }
        let failed = stage.yoi("start a --worker w");
        assert!(failed.code == 1 && failed.stderr.contains("no-such-program"), "{failed}");
        until("nothing", BOUND, || (left() == (String::new(), 1, 0)).then_some(()), || format!("{:?}", left()));
        assert_eq!(stage.state("a"), "queued", "daemon {daemon}");
        assert!(stage.pods().is_empty());
    }
    stage.stop();
}

#[test]
fn a_role_has_no_more_tickets_at_once_than_it_may() {
    for daemon in [false, true] {
        let stage = Roles::pull(STAYS);
        let config = stage.bench.read("work/.yoi/config.toml");
        stage.bench.write("work/.yoi/config.toml", &format!("{config}max = 2\n"));
        if daemon {
            stage.start();
        }
        for number in 0..6 {
            stage.ticket(&format!("t{number}"), "queued", "");
        }
        let start = |number: usize| {
            let mut command = stage.bench.command("work");
            command.args(["start", &format!("t{number}")]).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let children: Vec<_> = (0..6).map(start).collect();
        let ended: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
        let won = ended.iter().filter(|output| output.status.success()).count();
        for output in ended.iter().filter(|output| !output.status.success()) {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() == Some(3) && said.contains("coder has 2 of at most 2 tickets"), "{said}");
        }
        assert_eq!((won, stage.pods().len()), (2, 2), "daemon {daemon}");
        // Another role is not bound by it.
        let free = (0..6).map(|number| format!("t{number}")).find(|id| stage.state(id) == "queued").unwrap();
        stage.done(&format!("start {free} --role reviewer --worker r"));
        if daemon {
            stage.done("down");
            stage.ended();
        }
    }
}

#[test]
fn of_starts_by_the_command_and_through_the_socket_at_once_one_gets_one_pod() {
    let stage = Roles::pull(STAYS);
    stage.ticket("a", "queued", "");
    let start = |worker: usize| {
        let mut command = stage.bench.command("work");
        command.args(["start", "a", "--worker", &format!("w{worker}")]).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    // Some find no daemon, and some do.
    let mut children: Vec<_> = (0..3).map(start).collect();
    stage.start();
    children.extend((3..6).map(start));
    let ended: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let won = ended.iter().filter(|output| output.status.success()).count();
    for output in ended.iter().filter(|output| !output.status.success()) {
        let said = String::from_utf8_lossy(&output.stderr);
        let named = said.contains("is held by w") || said.contains("works on it");
        assert!(output.status.code() == Some(3) && named, "{said}");
    }
    assert_eq!(won, 1);
    let one = || (stage.pods().len() == 1).then_some(());
    until("one Pod", BOUND, one, || stage.story());
    let trees = stage.bench.git("work", &["worktree", "list"]);
    assert_eq!(trees.lines().count(), 2, "{trees}");
    let claims = stage.bench.git("work", &["log", "--format=%s", "refs/yoi/claims/a"]);
    assert_eq!(claims.lines().filter(|line| line.contains("CLAIM")).count(), 1, "{claims}");
    stage.done("down");
    stage.ended();
}

#[test]
fn two_programs_go_on_while_the_daemon_is_killed_and_the_next_one_finds_them() {
    let stage = Roles::new("orchestrated", "[capacity]\nmax_inprogress = 5", STAYS);
    stage.start();
    let mut views = Vec::new();
    for id in ["a", "b"] {
        stage.accepted(id);
        views.push(stage.start_of(id, &format!("w-{id}")));
    }
    for round in 0..2 {
        stage.kill();
        assert!(views.iter().all(|view| is_alive(pid(view))));
        assert_eq!(stage.pods(), ["coder a", "coder b"], "without a daemon");
        stage.start();
        let began = Instant::now();
        assert_eq!(stage.pods(), ["coder a", "coder b"], "round {round}");
        assert_eq!((stage.class("a"), stage.class("b")), ("active_inprogress".into(), "active_inprogress".into()));
        eprintln!("the board is right {} ms after the daemon answers", began.elapsed().as_millis());
        let refused = stage.yoi("start a --worker other");
        assert_eq!(refused.code, 3, "{refused}");
    }
    // It is watched from now on: an end is seen at once.
    signal(stage.child("a"), Signal::TERM);
    stage.says("a", "outcome=abandoned");
    until("the end", BOUND, || (stage.pods() == ["coder b"]).then_some(()), || stage.story());
    let back = || (stage.class("a") == "actionable_inprogress").then_some(());
    until("the ticket", BOUND, back, || stage.story());
    stage.done("down");
    stage.ended();
    assert!(is_alive(pid(&views[1])), "`down` leaves Pods running");
}

#[test]
fn a_state_that_an_editor_writes_ends_nothing_and_is_shown_as_a_conflict() {
    for daemon in [false, true] {
        let stage = Roles::pull(STAYS);
        if daemon {
            stage.start();
        }
        let view = stage.started("a", "w");
        stage.save("a", "state: inprogress", "state: closed");
        let said = "It is closed, although w (coder) works on it under a claim.";
        let shown = || stage.yoi("why a").stdout.contains(said).then_some(());
        until("the conflict", BOUND, shown, || stage.yoi("why a").to_string());
        let doctor = stage.yoi("doctor").stdout;
        assert!(doctor.contains("it is closed, although w (coder) works on it"), "{doctor}");
        let beat = || stage.bench.git("work", &["rev-parse", "refs/yoi/claims/a"]);
        let before = beat();
        stage.done("heartbeat a --worker w");
        assert!(is_alive(pid(&view)) && beat() != before);
        stage.done("release a --worker w --outcome abandoned");
        assert_eq!(stage.state("a"), "closed");
        if daemon {
            stage.done("down");
            stage.ended();
        }
    }
}

#[test]
fn a_role_whose_program_fails_each_time_does_not_keep_the_orchestrator_going_in_circles() {
    let stage = Stage::with(
        "[kick]\nmax_attempts = 3\n[gates]\ndirty_workspace = \"off\"\n[roles.coder]\ncommand = [\"false\"]\n",
    );
    stage.act("yoi accept a; yoi start a --role coder");
    stage.start();
    stage.ticket("a", "queued", "");
    let why = |event: &Value| event["data"]["why"].as_str().unwrap_or_default().to_owned();
    let holds = |event: &Value| ["ignored", "backing_off", "brake"].contains(&&*why(event));
    stage.event(0, "an end of it", holds);
    stage.rest();
    let kicks = stage.kicks();
    assert!((2..=6).contains(&kicks), "{kicks} kicks: {}", stage.story());
    let started = stage.events().iter().filter(|event| event["kind"] == "AGENT_STARTED").count();
    assert!(started <= kicks, "{started} starts: {}", stage.story());
    stage.stop();
}

//! A remote that says who has a claim, and two clones of it, each with its daemon (DESIGN.md 6.2).

mod faults;
mod roles;

use std::fs;

use serde_json::Value;

use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

const SETTINGS: &str = "[gates]\ndirty_workspace = \"off\"\n[claims]\nremote = \"origin\"\nrefresh = \"1s\"\n";

/// Two clones, and a server that is a folder.
struct Clones {
    one: Stage,
    two: Stage,
}

impl Clones {
    fn new() -> Self {
        let clones = Self { one: Stage::with(SETTINGS), two: Stage::with(SETTINGS) };
        clones.one.bench.folder("server.git");
        clones.one.bench.git("server.git", &["init", "--quiet", "--bare"]);
        let server = clones.one.bench.path("server.git");
        for stage in clones.both() {
            stage.bench.git("work", &["remote", "add", "origin", server.to_str().unwrap()]);
        }
        clones
    }

    fn both(&self) -> [&Stage; 2] {
        [&self.one, &self.two]
    }

    /// An accepted ticket, as both have it.
    fn accepted(&self, id: &str) {
        for stage in self.both() {
            stage.ticket(id, "inprogress", "accepted_by: ana\naccepted_at: 2026-11-30T08:00:00Z\n");
        }
    }

    /// Whether anybody answers at the server.
    fn reachable(&self, reachable: bool) {
        let (there, away) = (self.one.bench.path("server.git"), self.one.bench.path("away.git"));
        let (from, to) = if reachable { (away, there) } else { (there, away) };
        fs::rename(from, to).unwrap();
    }

    /// The subjects of a ticket's claim at the server, oldest first.
    fn at_server(&self, id: &str) -> Vec<String> {
        let name = format!("refs/yoi/claims/{id}");
        let log = self.one.bench.git("server.git", &["log", "--reverse", "--format=%s", &name]);
        log.lines().map(|line| line.split(" ts=").next().unwrap().to_owned()).collect()
    }
}

/// Waits until a ticket is of this class here.
fn is_of_class(stage: &Stage, id: &str, class: &str) -> Value {
    let look = || {
        let ticket = stage.json(&format!("show {id}"))["ticket"].clone();
        (ticket["class"] == class).then_some(ticket)
    };
    until(&format!("{id} to be {class}"), BOUND, look, || stage.story())
}

/// Waits for what `status` says of the remote.
fn remote(stage: &Stage, what: &str, is: impl Fn(&Value) -> bool) -> Value {
    let look = || Some(stage.json("status")["remote"].clone()).filter(&is);
    until(what, BOUND, look, || stage.story())
}

/// The newest step of a ticket's claim at the server, made years older and on another machine.
fn age(clones: &Clones, id: &str) {
    let (bench, name) = (&clones.one.bench, format!("refs/yoi/claims/{id}"));
    let text = bench.git("server.git", &["cat-file", "commit", &name]);
    let aged = |line: &str| match line.split_once(": ") {
        Some(("Yoi-At", _)) => "Yoi-At: 2020-01-01T00:00:00Z".to_owned(),
        Some(("Yoi-Boot", _)) => "Yoi-Boot: another".to_owned(),
        _ => line.to_owned(),
    };
    bench.write("aged", &text.lines().fold(String::new(), |all, line| all + &aged(line) + "\n"));
    let path = bench.path("aged");
    let object = bench.git("server.git", &["hash-object", "-t", "commit", "-w", path.to_str().unwrap()]);
    bench.git("server.git", &["update-ref", &name, object.trim()]);
}

#[test]
fn what_one_clone_claims_the_other_ones_daemon_knows() {
    let clones = Clones::new();
    clones.accepted("t");
    let [one, two] = clones.both();
    one.start();
    two.start();
    is_of_class(two, "t", "actionable_inprogress");
    one.done("claim t --worker w");
    let ticket = is_of_class(two, "t", "active_inprogress");
    assert_eq!(ticket["claim"]["worker"], "w", "{ticket:#}");
    one.done("release t --worker w --outcome abandoned");
    is_of_class(two, "t", "actionable_inprogress");
    // One that goes stale: nobody tells of that, and its own clone may be gone.
    two.done("claim t --worker v");
    is_of_class(one, "t", "active_inprogress");
    age(&clones, "t");
    for stage in clones.both() {
        is_of_class(stage, "t", "actionable_inprogress");
    }
    let ended = |stage: &Stage| stage.events().into_iter().filter(|event| event["kind"] == "CLAIM_ENDED").count();
    assert_eq!(ended(two), 1);
    // Nobody without a daemon is offered what another clone has.
    one.done("claim t --worker u");
    two.stop();
    let idle = two.yoi("next");
    assert!(idle.code == 3 && idle.stdout.contains("held by u"), "{idle}");
}

#[test]
fn a_remote_that_is_silent_is_said_once_and_blocks_no_ticket_command() {
    let clones = Clones::new();
    clones.accepted("t");
    let one = &clones.one;
    let view = one.json("status");
    assert!(view["remote"]["name"] == "origin" && view["remote"]["seen_at"].is_null(), "{view:#}");
    one.start();
    let seen = remote(one, "an answer", |remote| remote["seen_at"].is_string());
    assert!(seen["silent_since"].is_null(), "{seen:#}");
    assert!(one.done("status").stdout.contains("origin said at "));
    let mark = one.mark();
    clones.reachable(false);
    let about = |event: &Value| event["kind"] == "INBOX" && event["data"]["about"] == "remote";
    let told = one.event(mark, "that it is silent", about);
    let what = told["data"]["what"].as_str().unwrap();
    assert!(what.starts_with("the remote `origin`, which keeps the claims, does not answer"), "{what}");
    let status = one.done("status").stdout;
    assert!(status.contains("the remote `origin` does not say who has claimed what since"), "{status}");
    one.done("set t note=x");
    one.done("show t");
    let refused = one.yoi("claim t --worker w");
    assert!(refused.code == 1 && refused.stderr.contains("cannot be asked, and nothing was changed"), "{refused}");
    clones.reachable(true);
    let back = remote(one, "that it is back", |remote| remote["silent_since"].is_null());
    assert_ne!(back["seen_at"], seen["seen_at"]);
    let all: Vec<_> = one.events().into_iter().skip(mark).filter(about).collect();
    assert_eq!(all.len(), 2, "{all:#?}");
    assert!(all[1]["data"]["what"].as_str().unwrap().contains("answers again"), "{all:#?}");
    let attention = one.json("status")["attention"].clone();
    assert!(attention.as_array().unwrap().iter().all(|event| event["data"]["about"] != "remote"), "{attention:#}");
    one.done("claim t --worker w");
    assert_eq!(clones.at_server("t"), ["🔒 CLAIM worker=w"]);
}

#[test]
fn offline_a_claim_is_refused_and_with_local_it_is_this_machines() {
    let clones = Clones::new();
    clones.accepted("t");
    let one = &clones.one;
    clones.reachable(false);
    for line in ["claim t --worker w", "next --claim --worker w", "start t --worker w"] {
        let refused = one.yoi(line);
        assert!(refused.code == 1 && refused.stderr.contains("take `--local` then"), "{line}: {refused}");
    }
    let won = one.done("claim t --worker w --local");
    assert!(won.stdout.contains("for this machine alone"), "{won}");
    let other = one.yoi("claim t --worker v --local");
    assert!(other.code == 3 && other.stderr.contains("held by w"), "{other}");
    // What was claimed so goes on so.
    one.done("heartbeat t --worker w");
    clones.reachable(true);
    one.done("heartbeat t --worker w");
    assert_eq!(clones.at_server("t"), ["🔒 CLAIM worker=w", "🔒 HEARTBEAT worker=w"]);
    let other = clones.two.yoi("claim t --worker v");
    assert!(other.code == 3 && other.stderr.contains("held by w"), "{other}");
    one.done("release t --worker w --outcome abandoned");
    assert_eq!(clones.at_server("t"), ["🔒 CLAIM worker=w", "🔓 RELEASE worker=w outcome=abandoned"]);
}

#[test]
fn who_was_first_at_the_remote_has_what_another_claimed_beside_it() {
    let clones = Clones::new();
    clones.accepted("t");
    let [one, two] = clones.both();
    clones.reachable(false);
    one.done("claim t --worker w --local");
    clones.reachable(true);
    two.done("claim t --worker v");
    for line in ["heartbeat t --worker w", "heartbeat t --worker w --local", "release t --worker w --outcome done"] {
        let refused = one.yoi(line);
        assert!(refused.code == 3 && refused.stderr.contains("held by v"), "{line}: {refused}");
    }
    two.done("heartbeat t --worker v");
    assert_eq!(clones.at_server("t"), ["🔒 CLAIM worker=v", "🔒 HEARTBEAT worker=v"]);
}

#[test]
fn a_daemon_tells_the_remote_what_was_claimed_beside_it() {
    let clones = Clones::new();
    clones.accepted("t");
    clones.accepted("u");
    let [one, two] = clones.both();
    one.start();
    two.start();
    remote(two, "an answer", |remote| remote["seen_at"].is_string());
    clones.reachable(false);
    one.done("claim t --worker w --local");
    one.done("claim u --worker w --local");
    is_of_class(one, "u", "active_inprogress");
    clones.reachable(true);
    // Of the same ticket in the very moment in which the remote is back: whoever is first.
    let taken = two.yoi("claim u --worker v");
    is_of_class(two, "t", "active_inprogress");
    let winner = if taken.code == 0 { "v" } else { "w" };
    for stage in clones.both() {
        let holds = || (stage.json("show u")["ticket"]["claim"]["worker"] == winner).then_some(());
        until(&format!("{winner} to hold u"), BOUND, holds, || stage.story());
    }
    assert_eq!(clones.at_server("u"), [format!("🔒 CLAIM worker={winner}")]);
    assert_eq!(one.yoi("heartbeat u --worker w").code == 0, winner == "w");
}

#[test]
fn every_command_of_a_worker_goes_on_beside_a_silent_remote() {
    let clones = Clones::new();
    let one = &clones.one;
    one.bench.write(
        "children.yaml",
        "- {title: one, acceptance: [x], validation: y}\n- {title: two, acceptance: [x], validation: y}\n",
    );
    clones.reachable(false);
    let children = one.bench.path("children.yaml").display().to_string();
    let ends = [
        "release ID --outcome abandoned".to_owned(),
        "block ID --blocker x --evidence x --unblock x --then retry".into(),
        format!("decompose ID --from {children} --why two"),
        "close ID --no-pr x --merge-state closed --tests x --artifact src/a.rs --residual none --workspace removed"
            .into(),
    ];
    for (number, end) in ends.iter().enumerate() {
        let id = format!("t{number}");
        clones.accepted(&id);
        one.done("next --claim --worker w --local");
        one.done(&format!("heartbeat {id} --worker w --local"));
        one.done(&format!("{} --worker w --local", end.replace("ID", &id)));
    }
    clones.accepted("s");
    one.done("start s --worker w --local");
    clones.reachable(true);
    one.start();
    let there = || one.bench.git("server.git", &["for-each-ref"]).lines().count();
    until("all of it at the remote", BOUND, || (there() == 5).then_some(()), || one.story());
    let outcomes = ["abandoned", "blocked", "decomposed", "done"];
    for (number, outcome) in outcomes.iter().enumerate() {
        let release = format!("🔓 RELEASE worker=w outcome={outcome}");
        assert_eq!(clones.at_server(&format!("t{number}")), ["🔒 CLAIM worker=w".to_owned(), release]);
    }
}

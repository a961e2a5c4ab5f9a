//! A ticket from the queue to its end, as workers take it there: claimed, blocked, claimed again, closed; another one
//! decomposed. With claims in git, without a daemon and with one.
//!
//! Must not know: how a claim is kept.

use crate::support::Bench;
use crate::support::stage::{Stage, ticket_path, ticket_text};

const CHILDREN: &str = "\
why: they ship apart
children:
  - {title: The form, acceptance: [it is seen], validation: make form}
  - {title: The mails, acceptance: [they are sent], validation: make mails, depends_on: [The form]}
";
const BLOCK: [&str; 8] =
    ["--blocker", "no key", "--evidence", "401 on every call", "--unblock", "ops makes one", "--then", "retry"];
const CLOSE: [&str; 12] = [
    "--pr",
    "https://example.org/7",
    "--merge-state",
    "merged",
    "--tests",
    "make test: 12 passed",
    "--artifact",
    "docs/login.md",
    "--residual",
    "none",
    "--workspace",
    "removed",
];

/// What the thread says, without times.
fn thread(stage: &Stage, id: &str) -> String {
    let text = stage.bench.read(&format!("work/tickets/{id}.thread.md"));
    let verbs = text.lines().skip(2).map(|line| line.split_once(' ').unwrap().1);
    let verbs = verbs.filter(|line| !line.starts_with("CLAIM") && !line.starts_with("QUEUED"));
    verbs.fold(String::new(), |all, line| all + line + "\n")
}

/// What git says of the claim to a person without yoi, without times.
fn chain(bench: &Bench, id: &str) -> String {
    let log = bench.git("work", &["log", "--reverse", "--format=%s", &format!("refs/yoi/claims/{id}")]);
    let words = |line: &str| line.split(' ').filter(|word| !word.starts_with("ts=")).collect::<Vec<_>>().join(" ");
    log.lines().map(words).collect::<Vec<_>>().join("\n")
}

#[test]
fn from_the_queue_to_the_end() {
    for with_daemon in [false, true] {
        let stage = Stage::new();
        stage.bench.write("work/.yoi/config.toml", "[dispatch]\nmode = \"pull\"\n");
        for id in ["a", "b"] {
            stage.bench.write(&ticket_path(id), &ticket_text(id, "queued", "queued_at: \"2026-11-30T08:00:00Z\""));
        }
        stage.bench.write("work/c.yaml", CHILDREN);
        if with_daemon {
            stage.start();
        }
        stage.done("claim a --worker w --by ana");
        stage.done("heartbeat a --worker w");
        let block = stage.run(&[&["block", "a", "--worker", "w"][..], &BLOCK].concat());
        assert_eq!(block.to_string(), "a: blocked; inprogress -> queued; the claim of w has ended\n(exit 0)");
        let held = stage.yoi("claim a --worker v --by ana");
        assert!(held.code == 3 && held.stderr.contains("blocked"), "{held}");
        stage.done("set a --remove labels=blocked");
        stage.done("claim a --worker v --by ana");
        let late = stage.run(&[&["close", "a", "--worker", "w"][..], &CLOSE].concat());
        assert!(late.code == 3 && late.stderr.contains("`a` is held by v (generation"), "{late}");
        let close = stage.run(&[&["close", "a", "--worker", "v"][..], &CLOSE].concat());
        assert_eq!(close.to_string(), "a: closed; inprogress -> closed; the claim of v has ended\n(exit 0)");
        insta::allow_duplicates! {
            insta::assert_snapshot!(thread(&stage, "a"), @r#"
            STATE queued -> inprogress by ana: accepted with the claim of w
            BLOCKED inprogress -> queued by w: blocker "no key"; evidence "401 on every call"; unblock "ops makes one"; then retry; worktree none
            STATE queued -> inprogress by ana: accepted with the claim of v
            STATE inprogress -> done by v
            CLOSED by v: pr "https://example.org/7" (merged); tests "make test: 12 passed"; artifact "docs/login.md"; residual "none"; workspace removed
            "#);
            insta::assert_snapshot!(chain(&stage.bench, "a"), @r"
            🔒 CLAIM worker=w ttl-minutes=90
            🔓 RELEASE worker=w outcome=blocked
            🔒 CLAIM worker=v ttl-minutes=90
            🔓 RELEASE worker=v outcome=abandoned
            🔒 CLAIM worker=v ttl-minutes=90
            🔓 RELEASE worker=v outcome=done
            ");
        }
        stage.done("claim b --worker w");
        stage.done("decompose b --worker w --from c.yaml");
        assert!(
            chain(&stage.bench, "b").ends_with("RELEASE worker=w outcome=decomposed"),
            "{}",
            chain(&stage.bench, "b")
        );
        assert!(
            stage.text("b").contains("children: [b-the-form, b-the-mails]") && !stage.text("b").contains("claimed")
        );
        assert!(stage.text("b-the-mails").contains("depends_on: [b-the-form]"));
    }
}

/// Said again, whatever was killed in between: the claim has ended once, and nothing is made twice.
#[test]
fn whoever_is_killed_in_the_middle_says_the_same_again() {
    for (fault, line) in [
        ("decompose:child", "decompose a --worker w --from c.yaml"),
        ("decompose:parent", "decompose a --worker w --from c.yaml"),
        ("close:done", "close a --worker w --no-pr x --tests y --no-artifact z --residual none --workspace removed"),
    ] {
        let stage = Stage::new();
        stage.bench.write("work/.yoi/config.toml", "[dispatch]\nmode = \"pull\"\n");
        stage.bench.write(&ticket_path("a"), &ticket_text("a", "queued", "queued_at: \"2026-11-30T08:00:00Z\""));
        stage.bench.write("work/c.yaml", CHILDREN);
        stage.done("claim a --worker w");
        let killed = stage.bench.command("work").args(line.split(' ')).env("YOI_FAULT", fault).status().unwrap();
        assert_eq!(killed.code(), None, "{fault}: it was killed");
        assert!(chain(&stage.bench, "a").ends_with("HEARTBEAT worker=w"), "{fault}: {}", chain(&stage.bench, "a"));
        stage.done(line);
        let chain = chain(&stage.bench, "a");
        assert!(chain.lines().count() == 2 && chain.contains("RELEASE worker=w outcome=d"), "{fault}: {chain}");
        let tickets = stage.json("list --all")["tickets"].as_array().unwrap().len();
        assert_eq!(tickets, if line.starts_with("close") { 1 } else { 3 }, "{fault}");
    }
}

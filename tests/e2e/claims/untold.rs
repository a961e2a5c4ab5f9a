//! Claims whose worker could not be told of them.

use std::fs::File;
use std::io::{PipeReader, PipeWriter, Write};
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde_json::json;

use super::stage;
use crate::support::Answer;
use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

/// Where an answer does not arrive: on a full disk, and where nobody reads any more.
fn nowhere() -> [Stdio; 2] {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let (_, written) = std::io::pipe().unwrap();
    [full.into(), written.into()]
}

fn unread(stage: &Stage, line: &str, to: Stdio) -> Answer {
    let mut command = stage.bench.command("work");
    let output = command.args(line.split(' ')).stdout(to).stderr(Stdio::piped()).spawn().unwrap().wait_with_output();
    let output = output.unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    Answer { code: output.status.code().unwrap(), stdout: String::new(), stderr }
}

#[test]
fn a_claim_that_nobody_was_told_of_is_given_back() {
    let stage = stage("");
    for daemon in [false, true] {
        if daemon {
            stage.start();
        }
        for line in ["claim a", "claim a --json", "next --claim --json", "next --claim", "start a --json"] {
            for to in nowhere() {
                stage.ticket("a", "queued", "");
                let answer = unread(&stage, line, to);
                let said = answer.stderr.contains("yoi: standard output: ")
                    && answer.stderr.contains("`a` was claimed for coder-")
                    && answer.stderr.contains("and the claim was given back");
                assert!(answer.code == 1 && said, "{line}: {answer}");
                let ticket = &stage.json("show a")["ticket"];
                assert_eq!(
                    (&ticket["state"], &ticket["claim"]),
                    (&"queued".into(), &serde_json::Value::Null),
                    "{line}"
                );
            }
        }
    }
    stage.done("worktree remove a");
}

/// Who has claimed a ticket before knows of it, whatever a later start can tell him.
#[test]
fn a_claim_that_was_there_before_stays() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.done("claim a --worker w");
    for to in nowhere() {
        let answer = unread(&stage, "start a --worker w", to);
        assert!(answer.code == 1 && !answer.stderr.contains("given back"), "{answer}");
        stage.done("heartbeat a --worker w");
    }
}

/// The claim cannot be given back either: who has it, and how it ends, is said.
#[test]
fn a_claim_that_cannot_be_given_back_is_named() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    let (reader, writer) = filled();
    let mut command = stage.bench.command("work");
    command.args(["claim", "a", "--worker", "w"]).stdout(writer).stderr(Stdio::piped());
    let claimer = command.spawn().unwrap();
    // That has the pipe's other end, too.
    drop(command);
    let is_claimed = || stage.text("a").contains("claimed").then_some(());
    until("the claim", BOUND, is_claimed, || stage.text("a"));
    stage.bench.write("work/tickets/a.md", "---\ntitle: [\n---\n");
    drop(reader);
    let output = claimer.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("`a` is claimed by w (generation 1), and could not be given back: "), "{said}");
    assert!(said.contains("hint: `yoi release a --worker w --outcome abandoned` ends the claim"), "{said}");
}

/// A pipe that takes nothing more: who writes waits.
fn filled() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let flags = fcntl_getfl(&writer).unwrap();
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).unwrap();
    while writer.write(b"x").is_ok() {}
    fcntl_setfl(&writer, flags).unwrap();
    (reader, writer)
}

/// The name that is made up for a run would be known to nobody.
#[test]
fn nothing_is_claimed_under_a_name_that_is_told_to_nobody() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    let yoi = env!("CARGO_BIN_EXE_yoi");
    for line in ["claim a >&-", "next --claim >/dev/null", "claim a --json >/dev/null"] {
        let refused = stage.bench.run(stage.bench.program("sh", "work").args(["-c", &format!("'{yoi}' {line}")]));
        assert!(refused.code == 2 && refused.stderr.contains("--worker W, or YOI_WORKER"), "{line}: {refused}");
    }
    assert_eq!(stage.json("show a")["ticket"]["claim"], serde_json::Value::Null);
    let named = format!("'{yoi}' claim a --worker w >&-");
    assert_eq!(stage.bench.run(stage.bench.program("sh", "work").args(["-c", &named])).code, 0);
    stage.done("heartbeat a --worker w");
}

/// Whoever has asked a daemon is gone when that has carried it out.
#[test]
fn a_claim_whose_asker_has_gone_is_given_back_by_the_daemon() {
    if !super::cut_off::has_fault_points() {
        return;
    }
    let stage = stage("");
    // The claim is won, and it takes a while until that stands in the ticket.
    stage.start_with([("YOI_DELAY", "before-exchange:500")]);
    for kind in ["claim", "start", "next"] {
        stage.ticket(kind, "queued", "");
        until("the ticket", BOUND, || (stage.yoi(&format!("show {kind}")).code == 0).then_some(()), String::new);
        let pid = std::process::id();
        let body = match kind {
            "next" => json!({"do": kind, "claim": true, "pid": pid}),
            _ => json!({"do": kind, "id": kind, "pid": pid, "caller": {}}),
        };
        let socket = stage.bench.path("work/.git/yoi/yoi.sock");
        let head = "POST /api/requests HTTP/1.1\r\nhost: yoi\r\ncontent-type: application/json\r\ncontent-length";
        let text = body.to_string();
        let mut asker = UnixStream::connect(socket).unwrap();
        asker.write_all(format!("{head}: {}\r\n\r\n{text}", text.len()).as_bytes()).unwrap();
        let claim = stage.bench.path(&format!("work/.git/refs/yoi/claims/{kind}"));
        until("the claim", BOUND, || claim.exists().then_some(()), || stage.bench.read("daemon.log"));
        drop(asker);
        let is_had = || (stage.yoi(&format!("claim {kind} --worker later")).code == 0).then_some(());
        until(kind, BOUND, is_had, || stage.bench.read("daemon.log"));
        let thread = stage.bench.read(&format!("work/tickets/{kind}.thread.md"));
        assert!(thread.contains("abandoned; inprogress -> queued: its worker could not be told of it"), "{thread}");
    }
}

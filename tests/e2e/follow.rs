//! `yoi events --follow`: what happens, as it happens, until the daemon ends.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

/// The events that a follower prints, each as soon as it is there.
fn follow(stage: &Stage, arguments: &[&str]) -> (Child, Receiver<Value>) {
    let mut command = stage.bench.command("work");
    command.args(["events", "--follow", "--json"]).args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (printed, events) = channel();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let _ = printed.send(serde_json::from_str(&line).unwrap());
        }
    });
    (child, events)
}

#[test]
fn everything_and_one_tickets_alone() {
    let stage = Stage::new();
    for id in ["a", "b"] {
        stage.ticket(id, "ready", "");
    }
    stage.start();
    stage.rest();
    let (mut all, events) = follow(&stage, &[]);
    let (mut one, only) = follow(&stage, &["--ticket", "b"]);
    let first = events.recv_timeout(BOUND).unwrap();
    assert_eq!((&first["kind"], &first["seq"]), (&"DAEMON_STARTED".into(), &1.into()), "what was before comes first");
    stage.save("a", "state: ready", "state: queued");
    let mut seen = vec![first];
    while seen.last().unwrap()["kind"] != "TURN_ENDED" {
        seen.push(events.recv_timeout(BOUND).unwrap_or_else(|error| panic!("{error}: {seen:?}")));
    }
    stage.done("move b queued");
    assert_eq!(only.recv_timeout(BOUND).unwrap()["ticket"], "b");
    stage.rest();
    stage.stop();
    assert!(all.wait().unwrap().success() && one.wait().unwrap().success(), "both end with the daemon");
    seen.extend(events.try_iter());
    // The record of the end itself may come too late for a follower; nothing else is missing or out of order.
    let numbers: Vec<_> = seen.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert!(numbers.iter().zip(1..).all(|(seq, expected)| *seq == expected), "{numbers:?}");
    assert!(numbers.len() + 1 >= stage.events().len(), "{} of {}", numbers.len(), stage.events().len());
    assert!(only.try_iter().all(|event| event["ticket"] == "b"));
}

#[test]
fn a_follower_whose_reader_is_gone_ends() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.start();
    stage.rest();
    let mut command = stage.bench.command("work");
    command.args(["events", "--follow"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("DAEMON_STARTED"));
    drop(lines);
    stage.done("move a queued");
    stage.rest();
    until("its end", BOUND, || child.try_wait().unwrap(), || stage.story());
}

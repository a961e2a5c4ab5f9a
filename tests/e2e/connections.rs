//! Many clients at the daemon's socket, silent ones, and ones that come while it starts, ends or starts anew
//! (DESIGN.md 8; STYLE.md 14: everything has a limit).

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

/// A daemon that may have so many files open, ended with this.
struct Scarce<'a>(&'a Stage, Child);

impl<'a> Scarce<'a> {
    fn start(stage: &'a Stage, descriptors: u32) -> Self {
        let limited = format!("ulimit -n {descriptors}; exec yoi daemon");
        let log = std::fs::File::create(stage.bench.path("daemon.log")).unwrap();
        let mut command = stage.bench.program("sh", "work");
        command.args(["-c", &limited]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let scarce = Self(stage, command.spawn().unwrap());
        let answers = || (stage.json("status")["running"] == true).then_some(());
        until("the daemon", BOUND, answers, || stage.bench.read("daemon.log"));
        scarce
    }
}

impl Drop for Scarce<'_> {
    fn drop(&mut self) {
        let _ = self.0.yoi("down");
        let _ = self.1.kill();
        let _ = self.1.wait();
    }
}

fn connect(stage: &Stage) -> UnixStream {
    let stream = UnixStream::connect(stage.bench.path("work/.git/yoi/yoi.sock")).unwrap();
    stream.set_read_timeout(Some(BOUND)).unwrap();
    stream
}

/// All that the daemon says until it closes the connection.
fn rest(mut stream: &UnixStream) -> String {
    let mut said = Vec::new();
    match stream.read_to_end(&mut said) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{}", String::from_utf8_lossy(&said)),
    }
    String::from_utf8(said).unwrap()
}

/// The first line of an answer that goes on.
fn status_line(mut stream: &UnixStream) -> String {
    let mut said = [0; 64];
    let length = stream.read(&mut said).unwrap();
    String::from_utf8_lossy(&said[..length]).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn idle_clients_take_neither_the_socket_nor_the_files_from_anybody() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    let _scarce = Scarce::start(&stage, 100);
    let idle: Vec<_> = (0..90).map(|_| connect(&stage)).collect();
    // Whoever has something to say is heard, and everything that needs a file goes on.
    stage.done("set a note=x");
    stage.ticket("b", "queued", "");
    let seen = || stage.yoi("show b --json").stdout.contains("queued_at\": \"2").then_some(());
    until("the stamp of what an editor queued", BOUND, seen, || stage.story());
    let status = stage.json("status");
    assert_eq!(status["watching"]["backend"], "inotify", "{status}");
    assert_eq!(status["obstacles"], serde_json::json!([]), "{status}");
    let limit = status["connections"]["most"].as_u64().unwrap();
    assert!((8..=40).contains(&limit), "{status}");
    let none_left = || (stage.json("status")["connections"]["open"] == 1).then_some(());
    until("the silent ones let go", BOUND, none_left, || stage.yoi("status").stdout);
    assert!(stage.json("status")["connections"]["let_go"].as_u64().unwrap() >= limit);
    drop(idle);
}

#[test]
fn who_is_refused_is_told_so_and_commands_wait_until_there_is_a_place() {
    let stage = Stage::new();
    let _scarce = Scarce::start(&stage, 100);
    let most = stage.json("status")["connections"]["most"].as_u64().unwrap();
    let idle: Vec<_> = (0..most).map(|_| connect(&stage)).collect();
    let refused = connect(&stage);
    (&refused).write_all(b"GET /healthz HTTP/1.1\r\nhost: yoi\r\n\r\n").unwrap();
    let said = rest(&refused);
    assert!(said.starts_with("HTTP/1.1 503 "), "{said}");
    assert!(said.contains(&format!("{most} connections are open at its socket")), "{said}");
    assert!(said.contains("yoi.sock") && said.contains("hint"), "{said}");
    stage.done("list");
    assert!(stage.json("status")["connections"]["refused"].as_u64().unwrap() >= 1);
    drop(idle);
}

#[test]
fn a_client_that_stops_half_way_is_let_go() {
    let stage = Stage::new();
    stage.start();
    let half_a_head = connect(&stage);
    (&half_a_head).write_all(b"POST /api/requests HTTP/1.1\r\nhost: y").unwrap();
    let half_a_body = connect(&stage);
    let head =
        "POST /api/requests HTTP/1.1\r\nhost: yoi\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    (&half_a_body).write_all(head.as_bytes()).unwrap();
    let too_much = connect(&stage);
    let head = head.replace("content-length: 100", "content-length: 100000000");
    (&too_much).write_all(head.as_bytes()).unwrap();
    let said = rest(&half_a_body);
    assert!(said.starts_with("HTTP/1.1 408 ") && said.contains("did not come within 5 s"), "{said}");
    let said = rest(&half_a_head);
    assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{said}");
    let said = rest(&too_much);
    assert!(said.starts_with("HTTP/1.1 413 "), "{said}");
    stage.stop();
}

#[test]
fn streams_go_on_for_as_long_as_anybody_reads_and_are_bounded() {
    let stage = Stage::new();
    let _scarce = Scarce::start(&stage, 100);
    let most = stage.json("status")["connections"]["most_streams"].as_u64().unwrap();
    let ask = "GET /api/events?after=0 HTTP/1.1\r\nhost: yoi\r\n\r\n";
    let streams: Vec<_> = (0..most)
        .map(|_| {
            let stream = connect(&stage);
            (&stream).write_all(ask.as_bytes()).unwrap();
            assert_eq!(status_line(&stream), "HTTP/1.1 200 OK");
            stream
        })
        .collect();
    let one_more = connect(&stage);
    (&one_more).write_all(ask.replace("host: yoi", "host: yoi\r\nconnection: close").as_bytes()).unwrap();
    let said = rest(&one_more);
    assert!(said.starts_with("HTTP/1.1 503 ") && said.contains(&format!("{most} streams are open")), "{said}");
    assert_eq!(stage.json("status")["connections"]["streams"], most);
    // Longer than a silent client is let be.
    assert_eq!(rest(&connect(&stage)), "");
    assert_eq!(rest(&connect(&stage)), "");
    assert_eq!(stage.json("status")["connections"]["streams"], most);
    stage.ticket("a", "queued", "");
    for mut stream in &streams {
        let mut said = String::new();
        until(
            "the event",
            BOUND,
            || {
                let mut some = [0; 4096];
                let length = stream.read(&mut some).unwrap();
                said.push_str(&String::from_utf8_lossy(&some[..length]));
                said.contains("ISSUE_APPROVED").then_some(())
            },
            || stage.story(),
        );
    }
    drop(streams);
    let over = || (stage.json("status")["connections"]["streams"] == 0).then_some(());
    until("the end of the streams", BOUND, over, || stage.yoi("status").stdout);
}

/// How many files a process has open.
fn files_of(pid: rustix::process::Pid) -> u64 {
    std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count() as u64
}

#[test]
fn a_daemon_that_may_open_no_more_files_says_so_and_goes_on_when_it_may() {
    let stage = Stage::new();
    stage.start();
    let pid = i32::try_from(stage.json("status")["pid"].as_u64().unwrap()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    let limit = |current: Option<u64>| {
        let before = rustix::process::getrlimit(rustix::process::Resource::Nofile);
        let limit = rustix::process::Rlimit { current, maximum: before.maximum };
        rustix::process::prlimit(Some(pid), rustix::process::Resource::Nofile, limit).unwrap().current
    };
    // Whoever has just asked is gone from there soon.
    let mut open = files_of(pid);
    let steady = || {
        let before = std::mem::replace(&mut open, files_of(pid));
        (before == open).then_some(())
    };
    until("no client", BOUND, steady, String::new);
    // What is free below the highest is not to be had either.
    let usual = limit(Some(3));
    let waiting = connect(&stage);
    (&waiting).write_all(b"GET /healthz HTTP/1.1\r\nhost: yoi\r\nconnection: close\r\n\r\n").unwrap();
    let log = || stage.bench.read("daemon.log");
    let said = || log().contains("no connection can be accepted; it is tried again").then_some(());
    until("the daemon's complaint", BOUND, said, log);
    assert!(log().contains("Too many open files"), "{}", log());
    limit(usual);
    assert!(rest(&waiting).starts_with("HTTP/1.1 200 "), "who waited is served");
    stage.ticket("a", "ready", "");
    stage.done("set a extra=1");
    let status = stage.json("status");
    assert_eq!(status["obstacles"], serde_json::json!([]), "{status}");
    assert_eq!(log().matches("no connection can be accepted").count(), 1, "once, however often it was tried");
    stage.stop();
}

#[test]
fn who_asks_while_a_daemon_starts_anew_gets_an_answer() {
    let stage = Stage::new();
    stage.bench.folder("work/other");
    stage.ticket("a", "ready", "");
    stage.bench.write("work/other/a.md", "---\ntitle: a\nstate: ready\n---\n");
    stage.start();
    let pid = stage.json("status")["pid"].clone();
    let (path, good) = ("work/.yoi/config.toml", stage.bench.read("work/.yoi/config.toml"));
    for round in 0..8 {
        let root = if round % 2 == 0 { "other" } else { "tickets" };
        stage.bench.write(path, &format!("{good}[tickets]\nroot = \"{root}\"\n"));
        for line in ["list", "show a", "why a", "work-set", "status", "kick --dry-run", "pod list", "list --json"] {
            let answer = stage.yoi(line);
            let fine = answer.code == 0 || (line.starts_with("kick") && answer.code == 3);
            assert!(fine, "round {round}: {line}: {answer}");
        }
        assert_eq!(stage.json("status")["pid"], pid, "it is never seen not to run");
    }
    stage.stop();
}

#[test]
fn whatever_is_started_and_ended_in_any_mix_says_what_happened() {
    let stage = Stage::new();
    let pid_of = |status: &Value| status["running"].as_bool().unwrap().then(|| status["pid"].as_u64().unwrap());
    for mix in ["ud", "du", "uudd", "udududud", "uuuuuddddd", "dudududududu", "uduuduudud"] {
        let started = mix.chars().map(|which| {
            let mut command = stage.bench.command("work");
            command.arg(if which == 'u' { "up" } else { "down" });
            (which, command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
        });
        for (which, child) in started.collect::<Vec<_>>() {
            let output = child.wait_with_output().unwrap();
            let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            let told_to_end = which == 'u' && complained.contains("told to end by somebody else each time");
            assert!(output.status.success() || told_to_end, "{mix}: {which}: {said}{complained}");
            assert!(!said.contains("pid 0"), "{mix}: {said}");
        }
        // What is there is one daemon that can be ended, or none.
        let before = pid_of(&stage.json("status"));
        let down = stage.json("down");
        assert_eq!(down["pid"].as_u64(), before, "{mix}: {down}");
        assert_eq!(pid_of(&stage.json("status")), None, "{mix}");
        let up = stage.json("up");
        assert_eq!(up["already"], false, "{mix}: {up}");
        assert_eq!(stage.json("down")["pid"], up["pid"], "{mix}");
    }
}

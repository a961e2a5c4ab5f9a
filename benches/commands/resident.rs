//! What a daemon costs: its start, its memory, its rest, and how soon it knows what an editor saved.
//!
//! Must not know: how a table looks.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use yoi::api::request::{ListRequest, Request};
use yoi::http::client::Client;

use crate::backlog::Backlog;
use crate::measure::{ms, spread};

/// How long anything may take that is waited for.
const BOUND: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_micros(200);

/// A running daemon, ended at the end.
pub struct Resident<'b> {
    backlog: &'b Backlog,
    process: Child,
    socket: PathBuf,
}

impl<'b> Resident<'b> {
    /// Starts one, and waits for its first answer; how long that took.
    pub fn start(backlog: &'b Backlog, yoi: &Path) -> (Self, Duration) {
        let begun = Instant::now();
        let process = backlog.command(yoi).arg("daemon").stderr(Stdio::null()).spawn().expect("the daemon");
        let git = backlog.work().join(".git/yoi/yoi.sock");
        let run = backlog.work().join(".yoi/run/yoi.sock");
        let end = begun + BOUND;
        let socket = loop {
            let there = [&git, &run].into_iter().find(|socket| UnixStream::connect(socket).is_ok());
            if let Some(socket) = there {
                break socket.clone();
            }
            assert!(Instant::now() < end, "the daemon does not listen");
            thread::sleep(PAUSE);
        };
        let resident = Self { backlog, process, socket };
        resident.client().call(&Request::Status).expect("an answer");
        (resident, begun.elapsed())
    }

    /// A connection.
    pub fn client(&self) -> Client {
        Client::connect(&self.socket).expect("a connection")
    }

    fn of_status(&self, key: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or_default()
    }

    /// Resident memory now and at most, in MB.
    pub fn memory(&self) -> (f64, f64) {
        let mb = |kb: u64| f64::from(u32::try_from(kb).unwrap_or(u32::MAX)) / 1024.0;
        (mb(self.of_status("VmRSS:")), mb(self.of_status("VmHWM:")))
    }

    /// CPU time (clock ticks, a hundredth of a second each) and wakes in this much time of rest.
    pub fn rest(&self, time: Duration) -> (u64, u64) {
        let ticks = || {
            let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap_or_default();
            let after_name = stat.rsplit(')').next().unwrap_or_default();
            after_name.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok()).sum::<u64>()
        };
        let wakes = || self.of_status("voluntary_ctxt_switches:");
        let before = (ticks(), wakes());
        thread::sleep(time);
        (ticks() - before.0, wakes() - before.1)
    }

    /// How long after a save by rename, and one in place, the daemon shows the new text; told to a person.
    pub fn saves(&self, rounds: usize) -> [String; 2] {
        let mut client = self.client();
        [true, false].map(|by_rename| {
            let mut times = Vec::new();
            for round in 0..rounds {
                // Another file each time: yoi joins notices of one file within 150 ms.
                let number = round * 37 % self.backlog.count();
                let marker = format!("saved {by_rename} {round}");
                self.save(number, &marker, by_rename);
                let begun = Instant::now();
                let shown = Request::Show { id: Backlog::id(number) };
                let seen = |client: &mut Client| {
                    client.call(&shown).is_ok_and(|answer| answer["ticket"]["repo"] == marker.as_str())
                };
                while !seen(&mut client) && begun.elapsed() < BOUND {}
                times.push(begun.elapsed());
            }
            spread(times)
        })
    }

    fn save(&self, number: usize, marker: &str, by_rename: bool) {
        let file = self.backlog.file(number);
        let text = fs::read_to_string(&file).expect("the ticket");
        let lines: Vec<_> = text.lines().map(|line| if line.starts_with("repo: ") { "" } else { line }).collect();
        let text = lines.join("\n").replacen("---\n", &format!("---\nrepo: {marker}\n"), 1);
        if by_rename {
            let beside = file.with_extension("tmp~");
            fs::write(&beside, text).expect("a file beside it");
            fs::rename(beside, file).expect("the save");
        } else {
            fs::write(file, text).expect("the save");
        }
    }

    /// How long after the end of so many saves in a row all of them are known.
    pub fn burst(&self, number: usize) -> String {
        let mut client = self.client();
        let marker = format!("burst {number}");
        for n in 0..number {
            self.save(n, &marker, true);
        }
        let begun = Instant::now();
        let list = Request::List(ListRequest { all: true, ..ListRequest::default() });
        loop {
            let answer = client.call(&list).expect("an answer");
            let tickets = answer["tickets"].as_array().expect("tickets");
            let known = tickets.iter().filter(|ticket| ticket["repo"] == marker.as_str()).count();
            if known >= number || begun.elapsed() > BOUND {
                return format!("{} (a look takes part of it)", ms(begun.elapsed()));
            }
        }
    }
}

impl Drop for Resident<'_> {
    fn drop(&mut self) {
        let _ = self.client().stop();
        let _ = self.process.wait();
    }
}

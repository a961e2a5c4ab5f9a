//! What a daemon costs: its start, its memory, its rest, and how soon it knows what an editor saved.
//!
//! Must not know: how a table looks.

use std::error::Error;
use std::fs;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use yoi::api::request::{ListRequest, Request};
use yoi::http::client::Client;

use crate::backlog::Backlog;
use crate::measure::{ms, spread};

/// What may fail for many reasons, none of which is yoi's speed.
pub type Fallible<T> = Result<T, Box<dyn Error>>;

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
    pub fn start(backlog: &'b Backlog, yoi: &Path) -> Fallible<(Self, Duration)> {
        let begun = Instant::now();
        let process = backlog.command(yoi).arg("daemon").stderr(Stdio::null()).spawn()?;
        let git = backlog.work().join(".git/yoi/yoi.sock");
        let run = backlog.work().join(".yoi/run/yoi.sock");
        let end = begun + BOUND;
        let socket = loop {
            let there = [&git, &run].into_iter().find(|socket| UnixStream::connect(socket).is_ok());
            if let Some(socket) = there {
                break socket.clone();
            }
            if Instant::now() > end {
                return Err("the daemon does not listen".into());
            }
            thread::sleep(PAUSE);
        };
        let resident = Self { backlog, process, socket };
        resident.client()?.call(&Request::Status)?;
        Ok((resident, begun.elapsed()))
    }

    /// A connection.
    pub fn client(&self) -> Fallible<Client> {
        Ok(Client::connect(&self.socket)?)
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
    pub fn saves(&self, rounds: usize, by_rename: bool) -> Fallible<String> {
        let mut client = self.client()?;
        let mut times = Vec::new();
        for round in 0..rounds {
            // Another file each time: yoi joins notices of one file within 150 ms.
            let number = round * 37 % self.backlog.count();
            let marker = format!("saved {by_rename} {round}");
            self.save(number, &marker, by_rename)?;
            let begun = Instant::now();
            let shown = Request::Show { id: Backlog::id(number), brief: true };
            while client.call(&shown)?["ticket"]["repo"] != marker.as_str() && begun.elapsed() < BOUND {}
            times.push(begun.elapsed());
        }
        Ok(spread(times))
    }

    fn save(&self, number: usize, marker: &str, by_rename: bool) -> io::Result<()> {
        let file = self.backlog.file(number);
        let text = fs::read_to_string(&file)?;
        let lines: Vec<_> = text.lines().map(|line| if line.starts_with("repo: ") { "" } else { line }).collect();
        let text = lines.join("\n").replacen("---\n", &format!("---\nrepo: {marker}\n"), 1);
        if by_rename {
            let beside = file.with_extension("tmp~");
            fs::write(&beside, text)?;
            fs::rename(beside, file)
        } else {
            fs::write(file, text)
        }
    }

    /// How long after the end of so many saves in a row all of them are known.
    pub fn burst(&self, number: usize) -> Fallible<String> {
        let mut client = self.client()?;
        let marker = format!("burst {number}");
        for n in 0..number {
            self.save(n, &marker, true)?;
        }
        let begun = Instant::now();
        let list = Request::List(ListRequest { all: true, ..ListRequest::default() });
        loop {
            let answer = client.call(&list)?;
            let tickets = answer["tickets"].as_array();
            let known = tickets.into_iter().flatten().filter(|ticket| ticket["repo"] == marker.as_str()).count();
            if known >= number || begun.elapsed() > BOUND {
                return Ok(format!("{} (a look takes part of it)", ms(begun.elapsed())));
            }
        }
    }
}

impl Drop for Resident<'_> {
    fn drop(&mut self) {
        let _ = self.client().map(|mut client| client.stop());
        let _ = self.process.wait();
    }
}

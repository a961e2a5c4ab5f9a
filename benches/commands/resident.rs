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

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use yoi::api::request::{ListRequest, Request};
use yoi::http::client::Client;

use crate::backlog::Backlog;
use crate::measure::spread;

/// What may fail for many reasons, none of which is yoi's speed.
pub type Fallible<T> = Result<T, Box<dyn Error>>;

/// How long anything may take that is waited for.
const BOUND: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_micros(200);

/// What a process has done since it began.
#[derive(Clone, Copy, Debug, Default)]
pub struct Doings {
    /// Time on a processor.
    pub cpu: Duration,
    /// How often any of its threads was given one.
    pub wakes: u64,
    /// Calls that write, to files and pipes.
    pub writes: u64,
}

impl Doings {
    /// What came after that.
    pub fn since(self, before: Self) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(before.cpu),
            wakes: self.wakes.saturating_sub(before.wakes),
            writes: self.writes.saturating_sub(before.writes),
        }
    }
}

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

    /// What of it is its own, and no part of a file that is mapped, in MB.
    pub fn own_memory(&self) -> f64 {
        f64::from(u32::try_from(self.of_status("RssAnon:")).unwrap_or(u32::MAX)) / 1024.0
    }

    /// What it has done so far.
    pub fn doings(&self) -> Doings {
        let of = |file: &str| fs::read_to_string(format!("/proc/{}/{file}", self.process.id())).unwrap_or_default();
        let schedules = fs::read_dir(format!("/proc/{}/task", self.process.id())).into_iter().flatten().flatten();
        let mut doings = Doings::default();
        // Nanoseconds on a processor, nanoseconds waited for one, how often it was given one.
        for task in schedules {
            let line = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
            let numbers: Vec<u64> = line.split_whitespace().filter_map(|number| number.parse().ok()).collect();
            doings.cpu += Duration::from_nanos(numbers.first().copied().unwrap_or_default());
            doings.wakes += numbers.get(2).copied().unwrap_or_default();
        }
        let io = of("io");
        let line = io.lines().find_map(|line| line.strip_prefix("syscw: "));
        doings.writes = line.and_then(|number| number.parse().ok()).unwrap_or_default();
        doings
    }

    /// Stops it where it stands, or lets it go on.
    pub fn suspend(&self, suspended: bool) {
        let signal = if suspended { Signal::STOP } else { Signal::CONT };
        let process = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw);
        let _ = process.map(|process| kill_process(process, signal));
    }

    /// Waits until no ticket carries any of these labels; how long after that moment.
    pub fn settled(&self, labels: &[&str], since: Instant) -> Fallible<Duration> {
        let mut client = self.client()?;
        for label in labels {
            let label = Some((*label).to_owned());
            let left = Request::List(ListRequest { all: true, label, ..ListRequest::default() });
            while !client.call(&left)?["tickets"].as_array().is_some_and(Vec::is_empty) {
                if since.elapsed() > BOUND {
                    return Err("the daemon does not come to know what was checked out".into());
                }
                thread::sleep(PAUSE);
            }
        }
        Ok(since.elapsed())
    }

    /// All tickets, as it knows them.
    pub fn tickets(&self) -> Fallible<Value> {
        let all = Request::List(ListRequest { all: true, ..ListRequest::default() });
        Ok(self.client()?.call(&all)?["tickets"].take())
    }

    /// How long after a save by rename, and one in place, the daemon shows the new text; told to a person.
    pub fn saves(&self, rounds: usize, by_rename: bool) -> Fallible<String> {
        let mut client = self.client()?;
        let mut times = Vec::new();
        for round in 0..rounds {
            // Another file each time: notices of one file are joined.
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
}

impl Drop for Resident<'_> {
    fn drop(&mut self) {
        let _ = self.client().map(|mut client| client.stop());
        let _ = self.process.wait();
    }
}

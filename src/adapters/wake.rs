//! Runs the `wake` commands: short ones, one after the other, each within a time limit and in a group of its own.
//!
//! Must not know: why a session is woken. No ticket text comes this way (DESIGN.md 5.1).

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::ports::{Wake, Waker, Woken};

/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(10);
/// How much of what a failed one complained is told on.
const TOLD: u64 = 300;

/// The machine's programs.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemWaker;

impl Waker for SystemWaker {
    fn wake(&self, wake: Wake, call: Woken) {
        let run = move || {
            let failed = wake.commands.iter().find_map(|command| {
                let program = command.first().map_or("", String::as_str);
                run(command, &wake, LIMIT).err().map(|why| format!("`{program}`: {why}"))
            });
            call(failed);
        };
        // A thread that cannot be started drops the call: whoever waits for it has a limit of its own.
        if let Err(error) = thread::Builder::new().name("yoi wake".into()).spawn(run) {
            tracing::warn!(%error, "the wake commands could not be run");
        }
    }
}

fn run(command: &[String], wake: &Wake, limit: Duration) -> Result<(), String> {
    let (program, arguments) = command.split_first().ok_or("names no program")?;
    let mut complaints = tempfile::tempfile().map_err(|error| error.to_string())?;
    let stderr = complaints.try_clone().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&wake.folder).envs(wake.set.iter().map(|(name, value)| (name, value)));
    for name in &wake.unset {
        command.env_remove(name);
    }
    let streams = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
    let mut child = streams.process_group(0).spawn().map_err(|error| error.to_string())?;
    match wait(&mut child, limit).map_err(|error| error.to_string())? {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(format!("{}{}", ended(status), said(&mut complaints))),
        None => Err(format!("was ended after {} s", limit.as_secs())),
    }
}

/// None: it took too long, and its group was ended.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let end = Instant::now() + limit;
    let fd = pidfd_open(Pid::from_child(child), PidfdFlags::empty());
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            // Not waited for yet, so the number is still this child's, and its group's.
            let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
            child.wait()?;
            return Ok(None);
        }
        match &fd {
            Ok(fd) => {
                let left = Timespec::try_from(left).map_err(io::Error::other)?;
                match poll(&mut [PollFd::new(fd, PollFlags::IN)], Some(&left)) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            // An old kernel cannot tell.
            Err(_) => thread::sleep(left.min(Duration::from_millis(50))),
        }
    }
}

fn ended(status: ExitStatus) -> String {
    status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"))
}

fn said(complaints: &mut File) -> String {
    let mut text = Vec::new();
    let read = complaints.rewind().and_then(|()| complaints.take(TOLD).read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text);
    match text.lines().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) if read.is_ok() => format!(" ({line})"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn words(commands: &[&[&str]]) -> Vec<Vec<String>> {
        commands.iter().map(|words| words.iter().map(|word| (*word).to_owned()).collect()).collect()
    }

    fn wake(commands: &[&[&str]]) -> Wake {
        let folder = std::env::temp_dir();
        let set = vec![("YOI_WORKSPACE".into(), "/w".into())];
        Wake { commands: words(commands), folder, set, unset: vec!["HOME".into()] }
    }

    fn check(commands: &[&[&str]], expected: Option<&str>) {
        let (tell, told) = mpsc::channel();
        SystemWaker.wake(wake(commands), Box::new(move |failed| tell.send(failed).unwrap()));
        assert_eq!(told.recv_timeout(Duration::from_secs(20)).unwrap().as_deref(), expected, "{commands:?}");
    }

    #[test]
    fn all_run_in_order_until_one_fails() {
        check(&[&["true"], &["true"]], None);
        check(&[&["sh", "-c", "test \"$YOI_WORKSPACE\" = /w && test -z \"${HOME+set}\""]], None);
        check(&[&["sh", "-c", "echo no such pane >&2; exit 3"], &["true"]], Some("`sh`: exit code 3 (no such pane)"));
        check(&[&["sh", "-c", "kill -9 $$"]], Some("`sh`: signal: 9 (SIGKILL)"));
        check(&[&["no-such-program-of-yoi"]], Some("`no-such-program-of-yoi`: No such file or directory (os error 2)"));
    }

    #[test]
    fn one_that_hangs_is_ended_with_its_group() {
        let command = &words(&[&["sh", "-c", "sleep 600 & wait"]])[0];
        let begun = Instant::now();
        assert_eq!(run(command, &wake(&[]), Duration::from_millis(200)), Err("was ended after 0 s".into()));
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
}

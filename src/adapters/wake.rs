//! Runs the `wake` commands: short ones, one after the other, each within a time limit and in a group of its own.
//!
//! Must not know: why a session is woken. No ticket text comes this way (DESIGN.md 5.1).

use std::io::{self, PipeReader, Read};
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
const TOLD: usize = 300;
/// How many pieces of it are taken before it is looked again whether it has ended.
const TAKEN_AT_ONCE: usize = 16;

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
    let (complaints, stderr) = io::pipe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&wake.folder).envs(wake.set.iter().map(|(name, value)| (name, value)));
    for name in &wake.unset {
        command.env_remove(name);
    }
    let streams = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
    let child = streams.process_group(0).spawn();
    // It has the other end of the pipe too.
    drop(command);
    let mut child = child.map_err(|error| error.to_string())?;
    let mut complaints = Complaints::of(complaints).map_err(|error| error.to_string())?;
    let ended_as = wait(&mut child, &mut complaints, limit).map_err(|error| error.to_string())?;
    let said = complaints.end();
    match ended_as {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(format!("{}{said}", ended(status))),
        None => Err(format!("was ended after {} s", limit.as_secs())),
    }
}

/// None: it took too long, and its group was ended.
fn wait(child: &mut Child, complaints: &mut Complaints, limit: Duration) -> io::Result<Option<ExitStatus>> {
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
        // An old kernel cannot tell the end: then it is looked for.
        let left = if fd.is_ok() { left } else { left.min(Duration::from_millis(50)) };
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        let pipe = complaints.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN));
        let mut fds: Vec<_> = fd.iter().map(|fd| PollFd::new(fd, PollFlags::IN)).chain(pipe).collect();
        match poll(&mut fds, Some(&left)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        complaints.take();
    }
}

/// What a command complains: the beginning is kept, the rest thrown away, however much it is.
struct Complaints {
    /// None: nobody can write any more.
    pipe: Option<PipeReader>,
    text: Vec<u8>,
}

impl Complaints {
    fn of(pipe: PipeReader) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Self { pipe: Some(pipe), text: Vec::new() })
    }

    /// Takes what is there, a bounded amount.
    fn take(&mut self) {
        let mut bytes = [0; 4096];
        for _ in 0..TAKEN_AT_ONCE {
            let Some(pipe) = &mut self.pipe else { return };
            match pipe.read(&mut bytes) {
                Ok(0) => self.pipe = None,
                Ok(length) => {
                    let wanted = TOLD.saturating_sub(self.text.len()).min(length);
                    self.text.extend_from_slice(&bytes[..wanted]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// What was said, in a form to be added to a sentence. Whoever the command left behind may go on complaining, and is
    /// not broken by it.
    fn end(mut self) -> String {
        self.take();
        if let Some(mut pipe) = self.pipe.take()
            && rustix::io::ioctl_fionbio(&pipe, false).is_ok()
        {
            let drain = move || drop(io::copy(&mut pipe, &mut io::sink()));
            let _ = thread::Builder::new().name("yoi wake".into()).spawn(drain);
        }
        let text = String::from_utf8_lossy(&self.text);
        let line = text.lines().map(str::trim).find(|line| !line.is_empty());
        line.map(|line| format!(" ({line})")).unwrap_or_default()
    }
}

fn ended(status: ExitStatus) -> String {
    status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"))
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
    fn however_much_one_complains_nothing_grows_and_its_beginning_is_told() {
        let script = "echo no pane >&2; head -c 20000000 /dev/zero >&2; exit 3";
        check(&[&["sh", "-c", script]], Some("`sh`: exit code 3 (no pane)"));
        let command = &words(&[&["sh", "-c", "exec yes >&2"]])[0];
        let files = || {
            let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
            open.filter(|entry| {
                std::fs::read_link(entry.path()).is_ok_and(|name| name.to_string_lossy().ends_with(" (deleted)"))
                    && std::fs::metadata(entry.path()).is_ok_and(|found| found.is_file() && found.len() > 1 << 20)
            })
            .count()
        };
        let before = files();
        let limit = Duration::from_millis(300);
        let told = thread::scope(|scope| {
            let running = scope.spawn(|| run(command, &wake(&[]), limit));
            while !running.is_finished() {
                assert!(files() <= before, "it goes to no file");
                thread::yield_now();
            }
            running.join().unwrap()
        });
        assert_eq!(told, Err("was ended after 0 s".into()));
    }

    #[test]
    fn whoever_is_left_behind_may_go_on_complaining() {
        let folder = tempfile::tempdir().unwrap();
        let after = folder.path().join("after");
        let behind = format!("(head -c 1000000 /dev/zero >&2 && touch {}) & exit 0", after.display());
        check(&[&["sh", "-c", &behind]], None);
        let began = Instant::now();
        while !after.exists() {
            assert!(began.elapsed() < Duration::from_secs(20));
            thread::yield_now();
        }
    }

    #[test]
    fn one_that_hangs_is_ended_with_its_group() {
        let command = &words(&[&["sh", "-c", "sleep 600 & wait"]])[0];
        let begun = Instant::now();
        assert_eq!(run(command, &wake(&[]), Duration::from_millis(200)), Err("was ended after 0 s".into()));
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
}

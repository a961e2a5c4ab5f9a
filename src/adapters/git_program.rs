//! The one file that starts git: argument lists only, locale and settings fixed, a time limit on each run.
//!
//! Must not know: what is asked of git. House rule 13; FAULTS kinds 3 and 12.

mod streaming;

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

pub use streaming::stream;

/// The longest that one run may take.
pub const TIME_LIMIT: Duration = Duration::from_secs(30);
/// The most output that is kept; more is an error.
const MOST_OUTPUT: u64 = 64 << 20;

/// Variables of git's that would make it look at another repository than the one in the folder it is started in, as
/// they are set wherever a hook runs.
const OF_THE_CALLER: [&str; 11] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CONFIG_PARAMETERS",
    "GIT_EXTERNAL_DIFF",
    "GIT_LITERAL_PATHSPECS",
];

/// Why git gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no such program.
    #[error("the git program was not found on PATH")]
    NotInstalled,
    /// It could not be run, or not be read from.
    #[error("git {arguments} could not be run: {error}")]
    NotRun {
        /// What was asked.
        arguments: String,
        /// What the system said.
        error: io::Error,
    },
    /// It took too long, and was ended.
    #[error("git {arguments} did not end within {} s and was ended", .limit.as_secs())]
    TimedOut {
        /// What was asked.
        arguments: String,
        /// How long it had.
        limit: Duration,
    },
    /// It said no.
    #[error("git {arguments} failed ({how}): {message}")]
    Failed {
        /// What was asked.
        arguments: String,
        /// The exit code or signal, in words.
        how: String,
        /// The exit code; None if a signal ended it.
        code: Option<i32>,
        /// What it wrote to its standard error.
        message: String,
    },
}

/// Runs git in this folder; returns its standard output if it exits with 0.
pub fn run(folder: &Path, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
    run_within_limit(folder, arguments, TIME_LIMIT)
}

/// The same for what nobody should wait for so long.
pub fn run_within_limit(folder: &Path, arguments: &[&str], limit: Duration) -> Result<Vec<u8>, GitError> {
    let mut command = in_folder(folder, arguments);
    command.stdin(Stdio::null());
    let shown = arguments.join(" ");
    successful(run_within(command, &shown, &[], limit)?, shown)
}

/// The same for what may take long, may have to fetch what a partial clone lacks, and runs the user's own hooks. `holding` is
/// open as long as git, and whatever it starts, runs.
pub fn run_holding(
    folder: &Path,
    arguments: &[&OsStr],
    holding: impl Into<Stdio>,
    limit: Duration,
) -> Result<Vec<u8>, GitError> {
    let mut command = in_folder(folder, arguments);
    command.env_remove("GIT_NO_LAZY_FETCH").stdin(holding);
    let shown = shown(arguments);
    successful(run_within(command, &shown, &[], limit)?, shown)
}

fn shown(arguments: &[&OsStr]) -> String {
    arguments.join(OsStr::new(" ")).to_string_lossy().into_owned()
}

/// How a run ended, and what it wrote.
#[derive(Debug)]
pub struct Said {
    /// How it ended.
    status: ExitStatus,
    /// Its standard output.
    pub out: Vec<u8>,
    /// Its standard error, as text.
    pub err: String,
}

impl Said {
    /// Whether it exited with 0.
    pub fn success(&self) -> bool {
        self.status.success()
    }
}

/// Runs git in this folder with something to read; however it ends is an answer.
pub fn ask(folder: &Path, arguments: &[&str], input: &[u8], limit: Duration) -> Result<Said, GitError> {
    let mut command = in_folder(folder, arguments);
    command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
    run_within(command, &arguments.join(" "), input, limit)
}

/// Runs git in this folder for something that needs another machine. Credentials, ssh and proxies are the user's; nobody is
/// asked for anything: `ssh` is the command for it, where it is not to be git's own choice.
pub fn ask_remote(folder: &Path, arguments: &[&str], ssh: Option<&str>, limit: Duration) -> Result<Said, GitError> {
    let mut command = in_folder(folder, arguments);
    command
        .env_remove("GIT_NO_LAZY_FETCH")
        .stdin(Stdio::null())
        .env("SSH_ASKPASS_REQUIRE", "never")
        .env("GCM_INTERACTIVE", "never");
    command.envs(ssh.map(|ssh| ("GIT_SSH_COMMAND", ssh)));
    run_within(command, &arguments.join(" "), &[], limit)
}

/// Git in this folder, and nothing else of the caller's.
fn in_folder(folder: &Path, arguments: &[impl AsRef<OsStr>]) -> Command {
    let mut command = Command::new("git");
    // What a repository's own settings could start, or make slow: none of it is needed for an answer.
    command.args(["-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "--no-pager"]);
    for name in OF_THE_CALLER {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C").env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
    command.env("GIT_NO_LAZY_FETCH", "1").args(arguments).current_dir(folder);
    command
}

/// Its output, if it ended well.
fn successful(said: Said, arguments: String) -> Result<Vec<u8>, GitError> {
    if said.success() {
        return Ok(said.out);
    }
    let how = how(said.status);
    Err(GitError::Failed { arguments, how, code: said.status.code(), message: said.err })
}

/// The version, as `git --version` says it.
pub fn version() -> Result<String, GitError> {
    let said = run(Path::new("/"), &["--version"])?;
    Ok(String::from_utf8_lossy(&said).trim().to_owned())
}

fn run_within(mut command: Command, arguments: &str, input: &[u8], limit: Duration) -> Result<Said, GitError> {
    let not_run = |error| GitError::NotRun { arguments: arguments.into(), error };
    let mut child = spawn(&mut command, arguments)?;
    let given = write(child.stdin.take(), input);
    let output = given.and_then(|()| Ok((read(child.stdout.take())?, read(child.stderr.take())?)));
    let (out, err) = output.inspect_err(|_| drop(end(&mut child))).map_err(not_run)?;
    let due = Instant::now() + limit;
    // Both are closed when it ends: so waiting for their ends is waiting for its end.
    let read_out = rest_until(&out, due);
    let read_err = rest_until(&err, due);
    let (Some(out), Some(err)) = (read_out, read_err) else {
        end(&mut child).map_err(not_run)?;
        return Err(GitError::TimedOut { arguments: arguments.into(), limit });
    };
    let status = wait_until(&mut child, due).map_err(not_run)?;
    let Some(status) = status else {
        end(&mut child).map_err(not_run)?;
        return Err(GitError::TimedOut { arguments: arguments.into(), limit });
    };
    let err = String::from_utf8_lossy(&err.map_err(not_run)?).trim().to_owned();
    Ok(Said { status, out: out.map_err(not_run)?, err })
}

fn spawn(command: &mut Command, arguments: &str) -> Result<Child, GitError> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    command.spawn().map_err(|error| match error.kind() {
        // The folder may be what is missing.
        io::ErrorKind::NotFound if command.get_current_dir().is_none_or(Path::is_dir) => GitError::NotInstalled,
        _ => GitError::NotRun { arguments: arguments.into(), error },
    })
}

type Answer = Receiver<io::Result<Vec<u8>>>;

/// Writes on a thread of its own, because git may not read before its own output is read. What it does not want to read is
/// no error.
fn write(pipe: Option<impl Write + Send + 'static>, input: &[u8]) -> io::Result<()> {
    let Some(mut pipe) = pipe else { return Ok(()) };
    let input = input.to_vec();
    let write_all = move || drop(pipe.write_all(&input));
    thread::Builder::new().name("yoi git input".into()).spawn(write_all).map(drop)
}

/// Reads on a thread of its own, because git stops when a pipe that nobody empties is full.
fn read(pipe: Option<impl Read + Send + 'static>) -> io::Result<Answer> {
    let (send, answer) = channel();
    let read_all = move || {
        let mut all = Vec::new();
        let read = pipe.map_or(Ok(0), |pipe| pipe.take(MOST_OUTPUT + 1).read_to_end(&mut all));
        let too_much = || io::Error::other(format!("more than {} MiB of output", MOST_OUTPUT >> 20));
        let read = read.and_then(|_| if all.len() as u64 > MOST_OUTPUT { Err(too_much()) } else { Ok(all) });
        let _ = send.send(read);
    };
    thread::Builder::new().name("yoi git output".into()).spawn(read_all)?;
    Ok(answer)
}

fn rest_until(answer: &Answer, due: Instant) -> Option<io::Result<Vec<u8>>> {
    answer.recv_timeout(due.saturating_duration_since(Instant::now())).ok()
}

/// It has closed its output, so that this is a matter of a moment, unless it does something odd.
fn wait_until(child: &mut Child, due: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= due {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Ends it with whatever it started. Its number is its own until it has been waited for.
fn end(child: &mut Child) -> io::Result<ExitStatus> {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    child.wait()
}

fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "unknown end".into(),
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn shell(script: &str, limit: Duration) -> Result<String, String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        let said = run_within(command, "test", &[], limit);
        let said = said.and_then(|said| successful(said, "test".into())).map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(&said).into_owned())
    }

    #[test]
    fn what_it_says_and_how_it_fails() {
        let table = [
            ("echo out; echo err >&2", Ok("out\n")),
            ("cat", Ok("")),
            ("echo 'fatal: no' >&2; exit 128", Err("git test failed (exit code 128): fatal: no")),
            ("kill -9 $$", Err("git test failed (signal 9): ")),
        ];
        for (script, expected) in table {
            let expected = expected.map(String::from).map_err(String::from);
            assert_eq!(shell(script, TIME_LIMIT), expected, "{script}");
        }
    }

    #[test]
    fn more_than_a_pipe_holds_is_read_from_both() {
        let script = "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero";
        assert_eq!(shell(script, TIME_LIMIT).map(|out| out.len()), Ok(300_000));
    }

    #[test]
    fn whatever_takes_too_long_is_ended_with_its_children() {
        for script in ["sleep 1000", "sleep 1000 & exit 0", "exec >&- 2>&-; sleep 1000"] {
            let began = Instant::now();
            let message = shell(script, Duration::from_millis(200)).unwrap_err();
            assert!(message.contains("did not end within"), "{message}");
            assert!(began.elapsed() < Duration::from_secs(20), "{script}");
        }
    }

    #[test]
    fn what_is_missing_is_told_apart() {
        let missing = run_within(Command::new("no-such-program-here"), "x", &[], TIME_LIMIT);
        assert!(matches!(missing, Err(GitError::NotInstalled)));
        assert!(matches!(run(Path::new("/no-such-folder"), &["status"]), Err(GitError::NotRun { .. })));
    }

    #[test]
    fn it_is_given_something_to_read_however_much_it_says_meanwhile() {
        let folder = TempDir::new().unwrap();
        let input = b"HEAD 0123456789\n".repeat(50_000);
        let said = ask(folder.path(), &["stripspace"], &input, TIME_LIMIT).unwrap();
        assert!(said.success() && said.out == input);
        // It ends without reading anything.
        let said = ask(folder.path(), &["--no-such-option"], &input, TIME_LIMIT).unwrap();
        assert!(!said.success() && said.err.contains("unknown option"), "{}", said.err);
    }

    #[test]
    fn git_speaks_english_here_and_about_this_folder() {
        assert!(version().unwrap().starts_with("git version "));
        let folder = TempDir::new().unwrap();
        let message = run(folder.path(), &["rev-parse", "--verify", "nothing"]).unwrap_err().to_string();
        assert!(message.contains("exit code 128") && message.contains("not a git repository"), "{message}");
    }
}

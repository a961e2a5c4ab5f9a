//! Git with much to read, or to say: neither has to fit into memory.
//!
//! Must not know: what is asked of git.

use std::ffi::OsStr;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::{GitError, end, how, in_folder, read, rest_until, shown, spawn, wait_until};

/// Runs git with all that `feed` writes as its standard input, while `take` reads its standard output to the end. Neither
/// has to fit into memory.
pub fn stream<T>(
    folder: &Path,
    arguments: &[&OsStr],
    limit: Duration,
    feed: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send,
    take: impl FnOnce(&mut dyn Read) -> io::Result<T>,
) -> Result<T, GitError> {
    let shown = shown(arguments);
    let not_run = |error| GitError::NotRun { arguments: shown.clone(), error };
    let mut command = in_folder(folder, arguments);
    command.stdin(Stdio::piped());
    let mut child = spawn(&mut command, &shown)?;
    let streams = (child.stdin.take(), child.stdout.take(), read(child.stderr.take()));
    let (Some(stdin), Some(mut stdout), Ok(err)) = streams else {
        end(&mut child).map_err(not_run)?;
        return Err(not_run(io::Error::other("its streams could not be taken")));
    };
    let due = Instant::now() + limit;
    let group = Pid::from_child(&child);
    let (over, is_over) = channel::<()>();
    let (fed, taken, late) = thread::scope(|scope| {
        let feeding = scope.spawn(move || {
            let mut stdin = BufWriter::new(stdin);
            feed(&mut stdin).and_then(|()| stdin.flush())
        });
        // It is waited for after this has ended: until then the number is its own.
        let watching = scope.spawn(move || {
            let late = is_over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
            late && kill_process_group(group, Signal::KILL).is_ok()
        });
        let taken = take(&mut stdout);
        // Whoever still writes there is told that nobody reads.
        drop(stdout);
        let fed = feeding.join().unwrap_or_else(|_| Err(io::Error::other("what feeds it failed")));
        drop(over);
        (fed, taken, watching.join().unwrap_or_default())
    });
    let status = if late { None } else { wait_until(&mut child, due).map_err(not_run)? };
    let Some(status) = status else {
        end(&mut child).map_err(not_run)?;
        return Err(GitError::TimedOut { arguments: shown, limit });
    };
    // What it could not be told is the cause of what it says then; a closed pipe is the effect of it.
    if let Err(error) = fed
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        return Err(not_run(error));
    }
    if !status.success() {
        let message = rest_until(&err, due).and_then(Result::ok).unwrap_or_default();
        let message = String::from_utf8_lossy(&message).trim().to_owned();
        return Err(GitError::Failed { arguments: shown, how: how(status), code: status.code(), message });
    }
    taken.map_err(not_run)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(limit: Duration, feed: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send) -> Result<String, String> {
        let arguments = ["hash-object", "--stdin"].map(OsStr::new);
        let said = stream(Path::new("/"), &arguments, limit, feed, |out| io::read_to_string(out));
        said.map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_fed_is_read_to_its_end_and_a_failure_on_either_side_is_told() {
        let minute = Duration::from_mins(1);
        let much = hash(minute, |out| (0..3000).try_for_each(|_| out.write_all(&[b'x'; 1000])));
        assert_eq!(much.as_deref(), Ok("42ec5fc0f485f764cdf0eaa85ab061c055f5f518\n"));
        let failed = hash(minute, |_| Err(io::Error::other("the file is shorter now")));
        assert!(failed.unwrap_err().contains("the file is shorter now"));
        let arguments = ["cat-file", "--batch", "--no-such-option"].map(OsStr::new);
        let feed = |out: &mut dyn Write| (0..3000).try_for_each(|_| out.write_all(&[b'x'; 1000]));
        let refused = stream(Path::new("/"), &arguments, minute, feed, |out| io::read_to_string(out));
        assert!(matches!(refused, Err(GitError::Failed { code: Some(_), .. })), "{refused:?}");
    }

    #[test]
    fn one_that_is_fed_for_too_long_is_ended() {
        let began = Instant::now();
        let limit = Duration::from_millis(300);
        let endless = hash(limit, |out| {
            loop {
                out.write_all(&[b'x'; 100])?;
                out.flush()?;
            }
        });
        assert!(endless.unwrap_err().contains("did not end within"));
        assert!(began.elapsed() < Duration::from_secs(20));
    }
}

//! The configuration's hooks: commands that run in a worktree, one after the other, to the end or to their time limit.
//!
//! Must not know: when they run; whether the user agreed to them (that is an argument).

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::ports::worktrees::{Holding, Hook, Hooked, WorktreesError};

/// How much of what one said is told on: lines, and characters of each.
const TOLD_LINES: usize = 20;
const TOLD_WIDTH: usize = 300;
/// How much of it is kept meanwhile.
const KEPT: usize = 64 << 10;
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How long the rest of its output may take after its end: whoever it left behind may go on talking.
const REST: Duration = Duration::from_millis(200);

/// The hooks of one configuration.
#[derive(Clone, Debug, Default)]
pub struct Hooks {
    /// Run in a new worktree.
    pub after_create: Vec<Vec<String>>,
    /// Run in one that is to go.
    pub before_remove: Vec<Vec<String>>,
    /// How long one command may run.
    pub limit: Duration,
    /// Variables that they do not get.
    pub unset: Vec<String>,
    /// The user has agreed to them.
    pub trusted: bool,
}

impl Hooks {
    fn commands(&self, hook: Hook) -> &[Vec<String>] {
        match hook {
            Hook::AfterCreate => &self.after_create,
            Hook::BeforeRemove => &self.before_remove,
        }
    }

    pub(super) fn hooked(&self, hook: Hook) -> Hooked {
        match self.commands(hook) {
            [] => Hooked::None,
            _ if self.trusted => Hooked::Runs,
            _ => Hooked::Untrusted,
        }
    }

    /// Runs those of one key; the first that fails is the last. The lock is held as long as any of them runs.
    pub(super) fn run(
        &self,
        hook: Hook,
        holding: &Holding,
        workspace: &Path,
        path: &Path,
    ) -> Result<(), WorktreesError> {
        if self.hooked(hook) != Hooked::Runs {
            return Ok(());
        }
        for arguments in self.commands(hook) {
            let failed = |how: String, output| WorktreesError::Hook {
                message: format!(
                    "the hook {} failed in {}: `{}`: {how}",
                    hook.key(),
                    path.display(),
                    arguments.join(" ")
                ),
                output,
            };
            let (program, rest) =
                arguments.split_first().ok_or_else(|| failed("names no program".into(), Vec::new()))?;
            let mut command = Command::new(program);
            command.args(rest).current_dir(path).env("YOI_WORKSPACE", workspace).env("YOI_WORKTREE", path);
            for name in &self.unset {
                command.env_remove(name);
            }
            let run = run(command, holding, self.limit).map_err(|error| failed(error.to_string(), Vec::new()))?;
            match run {
                (Some(status), _) if status.success() => {}
                (Some(status), output) => return Err(failed(ended(status), output)),
                (None, output) => {
                    return Err(failed(format!("did not end within {} s and was ended", self.limit.as_secs()), output));
                }
            }
        }
        Ok(())
    }
}

/// None: it took too long, and its group was ended.
fn run(mut command: Command, holding: &Holding, limit: Duration) -> io::Result<(Option<ExitStatus>, Vec<String>)> {
    let (reader, writer) = io::pipe()?;
    command.stdin(holding.file().try_clone()?).stdout(writer.try_clone()?).stderr(writer).process_group(0);
    let child = command.spawn();
    // It has the other ends of the pipe too.
    drop(command);
    let mut child = child?;
    let said = gather(reader);
    let status = wait(&mut child, limit)?;
    Ok((status, said.recv_timeout(REST).map(|text| last_lines(&text)).unwrap_or_default()))
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let due = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= due {
            // Not waited for yet, so the number is still this child's, and its group's.
            let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// Reads to the end on a thread of its own, and tells the last part of it whenever it stands still.
fn gather(mut reader: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (send, said) = channel();
    let read = move || {
        let mut kept = Vec::new();
        let mut bytes = [0; 8192];
        while let Ok(length @ 1..) = reader.read(&mut bytes) {
            kept.extend_from_slice(&bytes[..length]);
            let surplus = kept.len().saturating_sub(KEPT);
            kept.drain(..surplus);
        }
        let _ = send.send(kept);
    };
    // Without the thread nothing is told, and a command that says much is ended by a broken pipe.
    let _ = thread::Builder::new().name("yoi hook".into()).spawn(read);
    said
}

fn last_lines(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(TOLD_LINES)..].iter();
    last.map(|line| line.chars().take(TOLD_WIDTH).collect()).collect()
}

fn ended(status: ExitStatus) -> String {
    status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"))
}

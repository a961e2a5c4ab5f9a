//! Which of a configuration's commands this user has agreed to run (DESIGN.md 9): repositories are cloned and merged, so
//! a configuration alone starts nothing.
//!
//! Must not know: what the commands are for; the current time.

use std::borrow::Cow;
use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use git2::{ObjectType, Oid};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::environment::Environment;
use super::files::named;
use crate::config::Config;
use crate::domain::ticket::{Digest, Timestamp};

/// One thing that a configuration would run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Command {
    /// The key it is written under.
    pub key: Cow<'static, str>,
    /// Program and arguments.
    pub arguments: Vec<String>,
}

/// Whether a configuration's commands may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It runs nothing.
    NothingToRun,
    /// The user has agreed to exactly these commands.
    Trusted,
    /// The user has never been asked about this workspace.
    NeverTrusted,
    /// The user has agreed to other commands than these.
    Changed,
}

impl Trust {
    /// Whether the commands take effect.
    pub fn holds(self) -> bool {
        matches!(self, Trust::NothingToRun | Trust::Trusted)
    }
}

/// What is kept for a workspace, in a file of its own.
#[derive(Serialize, Deserialize)]
struct Record {
    version: u32,
    /// Two roots may share a file name's digest; they never share this.
    root: PathBuf,
    commands: String,
    recorded_at: Timestamp,
}

/// What the configuration would run, in the order of the reference.
pub fn commands_of(config: &Config) -> Vec<Command> {
    let command = config.orchestrator.iter().map(|exec| ("orchestrator.command", exec.command.clone()));
    let wake = config.session.wake.iter().map(|command| ("orchestrator.wake", command.clone()));
    let made = config.worktrees.after_create.iter().map(|command| ("worktrees.after_create", command.clone()));
    let removed = config.worktrees.before_remove.iter().map(|command| ("worktrees.before_remove", command.clone()));
    let fixed = command.chain(wake).chain(made).chain(removed).map(|(key, arguments)| (Cow::Borrowed(key), arguments));
    let roles = config.roles.iter().filter(|(_, role)| !role.command.is_empty());
    let roles = roles.map(|(name, role)| (Cow::Owned(format!("roles.{name}.command")), role.command.clone()));
    fixed.chain(roles).map(|(key, arguments)| Command { key, arguments }).collect()
}

/// Whether this user has agreed to these commands in the workspace at `root`.
pub fn status(environment: &Environment, root: &Path, commands: &[Command]) -> io::Result<Trust> {
    if commands.is_empty() {
        return Ok(Trust::NothingToRun);
    }
    let file = file(environment, root)?;
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Trust::NeverTrusted),
        Err(error) => return Err(named(&file, &error)),
    };
    // A record that cannot be read is none: trusting again replaces it.
    let record = serde_json::from_slice::<Record>(&bytes).ok().filter(|record| record.root == root);
    let hash = hash(commands)?;
    Ok(match record {
        None => Trust::NeverTrusted,
        Some(record) if record.commands == hash => Trust::Trusted,
        Some(_) => Trust::Changed,
    })
}

/// Records that this user agrees to these commands; to none is recorded too. Returns the file.
pub fn record(environment: &Environment, root: &Path, commands: &[Command], now: Timestamp) -> io::Result<PathBuf> {
    let file = file(environment, root)?;
    let record = Record { version: 1, root: root.to_owned(), commands: hash(commands)?, recorded_at: now };
    write(&file, &record).map_err(|error| named(&file, &error))?;
    Ok(file)
}

fn write(file: &Path, record: &Record) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    // A temporary file's mode is 0600, and the rename shows the record whole or not at all.
    let mut temporary = NamedTempFile::new_in(folder)?;
    serde_json::to_writer_pretty(&mut temporary, record)?;
    temporary.write_all(b"\n")?;
    temporary.as_file().sync_all()?;
    temporary.persist(file).map(drop).map_err(|failed| failed.error)
}

fn file(environment: &Environment, root: &Path) -> io::Result<PathBuf> {
    let no_home = || io::Error::other("neither XDG_STATE_HOME nor HOME is set, so there is nowhere to keep trust");
    let folder = environment.user_state().ok_or_else(no_home)?.join("trust");
    Ok(folder.join(format!("{:016x}.json", Digest::of(root.as_os_str().as_bytes()).0)))
}

/// Git's own object hash (it detects the known collisions), over a text that no two lists of commands share.
fn hash(commands: &[Command]) -> io::Result<String> {
    let text = serde_json::to_vec(commands)?;
    let hash = Oid::hash_object(ObjectType::Blob, &text).map_err(io::Error::other)?;
    Ok(format!("git-blob-sha1:{hash}"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn environment(home: &Path) -> Environment {
        let home = Some(home.to_owned());
        Environment {
            current: "/".into(),
            workspace: None,
            home,
            state_home: None,
            runtime: None,
            user: 0,
            login: None,
            editor: None,
        }
    }

    fn commands(arguments: &[&str]) -> Vec<Command> {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        vec![Command { key: "orchestrator.command".into(), arguments }]
    }

    #[test]
    fn trust_is_for_one_workspace_and_exactly_these_commands() {
        let home = tempfile::tempdir().unwrap();
        let environment = environment(home.path());
        let status =
            |root: &str, arguments: &[&str]| status(&environment, Path::new(root), &commands(arguments)).unwrap();
        assert_eq!(status("/a", &["x", "y"]), Trust::NeverTrusted);
        let file = record(&environment, Path::new("/a"), &commands(&["x", "y"]), Timestamp::UNIX_EPOCH).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        for (root, arguments, expected) in [
            ("/a", ["x", "y"].as_slice(), Trust::Trusted),
            ("/b", &["x", "y"], Trust::NeverTrusted),
            ("/a", &["x y"], Trust::Changed),
            ("/a", &["x", "y", ""], Trust::Changed),
            ("/a", &["y", "x"], Trust::Changed),
        ] {
            assert_eq!(status(root, arguments), expected, "{root} {arguments:?}");
        }
        assert_eq!(super::status(&environment, Path::new("/a"), &[]).unwrap(), Trust::NothingToRun);

        fs::write(&file, "{").unwrap();
        assert_eq!(status("/a", &["x", "y"]), Trust::NeverTrusted, "a record that cannot be read is none");
        let text = r#"{"version":1,"root":"/other","commands":"","recorded_at":"1970-01-01T00:00:00Z"}"#;
        fs::write(&file, text).unwrap();
        assert_eq!(status("/a", &["x", "y"]), Trust::NeverTrusted, "another workspace's");
    }

    #[test]
    fn what_was_agreed_to_stays_agreed_to_until_a_role_has_a_command() {
        let configured = |roles: &str| {
            let text = format!("dispatch.mode = 'orchestrated'\norchestrator.command = [\"x\", \"y\"]\n{roles}");
            commands_of(&crate::config::of_text(Path::new("/a"), text.as_bytes()).unwrap())
        };
        // The bytes that versions without roles hashed.
        let before = r#"[{"key":"orchestrator.command","arguments":["x","y"]}]"#;
        let before = format!("git-blob-sha1:{}", Oid::hash_object(ObjectType::Blob, before.as_bytes()).unwrap());
        for (roles, same) in
            [("", true), ("[roles.coder]\nmax = 2\n", true), ("[roles.coder]\ncommand = [\"z\"]\n", false)]
        {
            assert_eq!(hash(&configured(roles)).unwrap() == before, same, "{roles}");
        }
        let hashes = ["a", "b"].map(|role| hash(&configured(&format!("[roles.{role}]\ncommand = [\"z\"]\n"))).unwrap());
        assert_ne!(hashes[0], hashes[1], "the same program for another role is another agreement");
        let keys: Vec<_> = configured("[roles.\"v1.2\"]\ncommand = [\"z\"]\n").into_iter().map(|c| c.key).collect();
        assert_eq!(keys, ["orchestrator.command", "roles.v1.2.command"]);
    }

    #[test]
    fn without_a_home_nothing_can_be_trusted() {
        let environment = Environment { home: None, ..environment(Path::new("/")) };
        assert!(status(&environment, Path::new("/a"), &commands(&["x"])).unwrap_err().to_string().contains("HOME"));
    }
}

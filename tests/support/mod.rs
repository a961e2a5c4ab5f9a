//! The test bench: a folder with a home of its own, git, and the program under test.
//!
//! Must not know: what a test expects.

pub mod namespace;
pub mod stage;
pub mod terminal;
pub mod wait;

use std::fmt;
use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

/// How long one run of a program may take before the test fails.
const LIMIT: Duration = Duration::from_mins(1);

/// A folder of its own, removed at the end, with a scrubbed environment for what runs in it.
pub struct Bench {
    _folder: TempDir,
    root: PathBuf,
    variables: Vec<(String, String)>,
}

impl Bench {
    /// An empty one.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let bench = Self { _folder: folder, root, variables: Vec::new() };
        for own in ["home", "tmp", "runtime"] {
            bench.folder(own);
        }
        bench
    }

    /// One with a git repository `work` that has a commit.
    pub fn with_git() -> Self {
        let bench = Self::new();
        bench.repository("work");
        bench
    }

    /// Sets a variable for what runs from now on.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.variables.push((name.to_owned(), value.into()));
    }

    /// A path in it.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Makes a folder, with those above it.
    pub fn folder(&self, path: &str) -> PathBuf {
        fs::create_dir_all(self.path(path)).unwrap();
        self.path(path)
    }

    /// Writes a file, with the folders above it.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A file's text.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Every file and folder below this one, sorted; a folder ends with `/`. Git's own folder is left out.
    pub fn tree(&self, path: &str) -> Vec<String> {
        let walk = walkdir::WalkDir::new(self.path(path)).min_depth(1).sort_by_file_name();
        let entries = walk.into_iter().filter_entry(|entry| entry.file_name() != ".git").map(Result::unwrap);
        let shown = entries.map(|entry| {
            let relative = entry.path().strip_prefix(self.path(path)).unwrap().display().to_string();
            relative + if entry.file_type().is_dir() { "/" } else { "" }
        });
        shown.collect()
    }

    /// Makes a git repository with one commit.
    pub fn repository(&self, path: &str) {
        self.folder(path);
        self.git(path, &["init", "--quiet", "--initial-branch=main"]);
        self.git(path, &["commit", "--quiet", "--allow-empty", "--message=first"]);
    }

    /// Runs git, which has to succeed.
    pub fn git(&self, folder: &str, arguments: &[&str]) -> String {
        let answer = self.run(self.program("git", folder).args(arguments));
        assert_eq!(answer.code, 0, "git {arguments:?}: {answer}");
        answer.stdout
    }

    /// Runs `yoi` in a folder. `line` is split at spaces; where an argument has some, use [`Bench::command`].
    pub fn yoi(&self, folder: &str, line: &str) -> Answer {
        self.run(self.command(folder).args(line.split_whitespace()))
    }

    /// `yoi` in a folder, to be given arguments and to [`Bench::run`], or to be spawned.
    pub fn command(&self, folder: &str) -> Command {
        self.program(env!("CARGO_BIN_EXE_yoi"), folder)
    }

    /// A program in a folder, in the scrubbed environment.
    pub fn program(&self, program: &str, folder: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path(folder)).env_clear().envs(self.environment());
        command
    }

    /// Runs a program with nothing on its standard input to its end, which has to come in time.
    pub fn run(&self, command: &mut Command) -> Answer {
        let shown = format!("{command:?}");
        let mut limited = assert_cmd::Command::from_std(mem::replace(command, Command::new("")));
        let output = limited.timeout(LIMIT).write_stdin("").output().unwrap_or_else(|e| panic!("{shown}: {e}"));
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace(self.root.to_str().unwrap(), "[BENCH]");
        let code = output.status.code().unwrap_or_else(|| panic!("{shown}: {:?}", output.status));
        Answer { code, stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// The environment of everything that runs here: nothing of the machine's but the way to its programs.
    fn environment(&self) -> Vec<(String, String)> {
        let own = |path: &str| self.path(path).to_str().unwrap().to_owned();
        let who = [("NAME", "Test"), ("EMAIL", "test@example.org"), ("DATE", "2026-11-30T08:00:00Z")];
        let git = who.iter().flat_map(|(what, value)| {
            ["AUTHOR", "COMMITTER"].map(|role| (format!("GIT_{role}_{what}"), (*value).to_owned()))
        });
        let fixed = [
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("HOME", own("home")),
            ("TMPDIR", own("tmp")),
            ("XDG_STATE_HOME", own("home/state")),
            ("XDG_CONFIG_HOME", own("home/config")),
            ("XDG_RUNTIME_DIR", own("runtime")),
            ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("TZ", "UTC".to_owned()),
            ("LC_ALL", "C".to_owned()),
        ];
        let fixed = fixed.into_iter().map(|(name, value)| (name.to_owned(), value));
        fixed.chain(git).chain(self.variables.iter().cloned()).collect()
    }
}

/// What a program said, with the bench's folder shown as `[BENCH]`.
pub struct Answer {
    /// The exit code.
    pub code: i32,
    /// What it printed.
    pub stdout: String,
    /// What it complained.
    pub stderr: String,
}

impl Answer {
    /// The printed JSON, of a run that has to succeed.
    pub fn json(&self) -> serde_json::Value {
        assert_eq!(self.code, 0, "{self}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self}"))
    }
}

/// Exit code, output and complaints in one text, for a snapshot.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.stdout)?;
        for line in self.stderr.lines() {
            writeln!(f, "! {line}")?;
        }
        write!(f, "(exit {})", self.code)
    }
}

/// The repository's own folder.
pub fn source() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

//! Which agent this process runs under: the nearest ancestor that is not a shell, nor a program that only runs another
//! (DESIGN.md 5.1).
//!
//! Must not know: what an agent is asked, or told.

use std::fs;

/// Names of shells, as the kernel shows them.
const SHELLS: [&str; 12] = ["sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "ash", "busybox", "csh", "tcsh", "nu"];
/// Names of programs that run another one and are gone with it: a session lives no longer in them than in a shell.
const WRAPPERS: [&str; 9] = ["timeout", "env", "nice", "nohup", "setsid", "stdbuf", "sudo", "doas", "flock"];
/// A program that, called so, runs many sessions at once and outlives each of them.
const HOST: (&str, &str) = ("codex", "app-server");
/// Where such a word stands, options before it included.
const FIRST_ARGUMENTS: usize = 8;
/// How far up it is looked.
const HIGHEST: usize = 32;

/// A process, as far as the kernel says here.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    parent: u32,
    name: String,
    /// The terminal that it can read and be stopped by; 0 where there is none.
    terminal: i64,
}

/// What a process runs under.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ancestry {
    /// The agent's process; None where nothing but shells is found.
    pub agent: Option<u32>,
    /// What runs there, by name.
    pub program: Option<String>,
    /// It runs many sessions at once: nothing can be told of one by it.
    pub is_host: bool,
    /// All that were looked at, the nearest first: up to the first that is in another terminal than the agent. That is
    /// what shows the agent's, and others' too.
    pub pids: Vec<u32>,
}

impl Ancestry {
    /// Why the agent's process cannot be a session's, if so.
    fn trouble(&self) -> Option<String> {
        let (pid, (program, role)) = (self.agent.filter(|_| self.is_host)?, HOST);
        Some(format!(
            "this session runs in `{program} {role}` (process {pid}), which runs others too, outlives them and does not \
             hand their environment on, so that it cannot be told apart: set `daemon_auto_start = false` under `[features]` \
             in ~/.codex/config.toml, and start it anew"
        ))
    }
}

/// What a session runs under (`given`: its process, where that is named); why it cannot be told apart, where so.
pub fn of_session(given: Option<u32>) -> Result<Ancestry, String> {
    let found = of(given);
    found.trouble().map_or(Ok(found), Err)
}

/// What this process runs under; or what is known of a process that is given as the agent's.
pub fn of(given: Option<u32>) -> Ancestry {
    let mut found = Ancestry::default();
    let mut next = given.or_else(|| Some(process(std::process::id())?.parent));
    let mut terminal = 0;
    for _ in 0..HIGHEST {
        let Some(pid) = next.filter(|pid| *pid > 1) else { break };
        let Some(Process { parent, name, terminal: its }) = process(pid) else { break };
        if terminal != 0 && its != terminal {
            break;
        }
        found.pids.push(pid);
        if found.agent.is_none() && (given.is_some() || !is_passed_over(&name)) {
            found.is_host = given.is_none() && name == HOST.0 && is_called_with(pid, HOST.1);
            (found.agent, found.program, terminal) = (Some(pid), Some(name), its);
        }
        next = Some(parent);
    }
    found
}

fn is_passed_over(name: &str) -> bool {
    // A login shell has a dash before its name.
    SHELLS.contains(&name.strip_prefix('-').unwrap_or(name)) || WRAPPERS.contains(&name)
}

/// Whether one of a process's first arguments is this word.
fn is_called_with(pid: u32, word: &str) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).skip(1).take(FIRST_ARGUMENTS).any(|argument| argument == word.as_bytes())
}

fn process(pid: u32) -> Option<Process> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse(&String::from_utf8_lossy(&text))
}

/// `pid (name) state parent group session terminal ...`; the name may hold parentheses itself.
fn parse(text: &str) -> Option<Process> {
    let (begin, end) = (text.find('(')?, text.rfind(')')?);
    let name = text.get(begin + 1..end)?.to_owned();
    let mut rest = text.get(end + 1..)?.split_ascii_whitespace().skip(1);
    let parent = rest.next()?.parse().ok()?;
    let terminal = rest.nth(2)?.parse().ok()?;
    Some(Process { parent, name, terminal })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_ends_at_the_last_parenthesis() {
        let found = |name: &str, parent, terminal| Some(Process { parent, name: name.into(), terminal });
        assert_eq!(parse("7 (a) b) S 42 7 7 34816 0"), found("a) b", 42, 34816));
        assert_eq!(parse("7 (bash) S 1 7 7 0 -1"), found("bash", 1, 0));
        for text in ["", "7", "7 (x", "7 (x) S", "7 (x) S 1 7 7", ")("] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn shells_and_what_only_runs_another_are_passed_over() {
        let passed = ["bash", "-zsh", "sh", "timeout", "env"];
        for name in passed.into_iter().chain(["node", "bashful", "python3"]) {
            assert_eq!(is_passed_over(name), passed.contains(&name), "{name}");
        }
        let found = of(None);
        assert_eq!(of_session(None).as_ref(), Ok(&found));
        assert!(found.agent.is_some_and(|pid| pid > 1 && found.pids.contains(&pid)), "{found:?}");
        let own = std::process::id();
        assert!(is_called_with(own, &std::env::args().nth(1).unwrap_or_default()) || std::env::args().count() == 1);
        assert!(!is_called_with(own, HOST.1) && !is_called_with(u32::MAX, HOST.1));
        let host = Ancestry { agent: Some(7), is_host: true, ..Ancestry::default() };
        assert!(host.trouble().is_some_and(|why| why.contains("`codex app-server` (process 7)")));
        assert_eq!((of(Some(own)).agent, of(Some(own)).pids.first()), (Some(own), Some(&own)));
    }
}

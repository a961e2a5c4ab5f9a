//! Which agent this process runs under: the nearest ancestor that is not a shell (DESIGN.md 5.1).
//!
//! Must not know: what an agent is asked, or told.

use std::fs;

/// Names of shells, as the kernel shows them.
const SHELLS: [&str; 12] = ["sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "ash", "busybox", "csh", "tcsh", "nu"];
/// How far up it is looked.
const HIGHEST: usize = 32;

/// The agent's process; None where nothing but shells is found.
pub fn agent_process() -> Option<u32> {
    let mut pid = parent_and_name(std::process::id())?.0;
    for _ in 0..HIGHEST {
        if pid <= 1 {
            return None;
        }
        let (parent, name) = parent_and_name(pid)?;
        if !is_shell(&name) {
            return Some(pid);
        }
        pid = parent;
    }
    None
}

fn is_shell(name: &str) -> bool {
    // A login shell has a dash before its name.
    SHELLS.contains(&name.strip_prefix('-').unwrap_or(name))
}

/// A process's parent, and its name.
fn parent_and_name(pid: u32) -> Option<(u32, String)> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse(&String::from_utf8_lossy(&text))
}

/// `pid (name) state parent ...`; the name may hold parentheses itself.
fn parse(text: &str) -> Option<(u32, String)> {
    let (begin, end) = (text.find('(')?, text.rfind(')')?);
    let name = text.get(begin + 1..end)?.to_owned();
    let parent = text.get(end + 1..)?.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some((parent, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_ends_at_the_last_parenthesis() {
        assert_eq!(parse("7 (a) b) S 42 7 0"), Some((42, "a) b".into())));
        assert_eq!(parse("7 (bash) S 1 7 0"), Some((1, "bash".into())));
        for text in ["", "7", "7 (x", "7 (x) S", ")("] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn shells_are_passed_over() {
        for (name, expected) in [("bash", true), ("-zsh", true), ("sh", true), ("node", false), ("bashful", false)] {
            assert_eq!(is_shell(name), expected, "{name}");
        }
        assert!(agent_process().is_some_and(|pid| pid > 1));
    }
}

//! What `/proc` says about a process: state, group, start time; and which machine and boot this is.
//!
//! Must not know: signals; why somebody asks.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use crate::domain::facts::ProcessIdentity;

/// The fields of `/proc/PID/stat` that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::adapters) struct Stat {
    /// A zombie has ended, although its parent has not asked for it yet.
    pub(in crate::adapters) ended: bool,
    /// Who started it, or who has adopted it.
    pub(in crate::adapters) parent: u32,
    /// Process group.
    pub(in crate::adapters) group: u32,
    /// Start time in clock ticks since boot.
    pub(in crate::adapters) started: u64,
    /// What it, and those of its children that it has waited for, used of a processor, in clock ticks.
    pub(in crate::adapters) used: u64,
}

impl Stat {
    pub(in crate::adapters) fn of(pid: u32) -> io::Result<Self> {
        let text = fs::read(format!("/proc/{pid}/stat"))?;
        Self::parse(&text).ok_or_else(|| io::Error::other(format!("/proc/{pid}/stat is not what it should be")))
    }

    /// The second field is the program's name in parentheses, and may itself hold parentheses, spaces and newlines: the
    /// fields that follow are counted from the last `)`.
    fn parse(text: &[u8]) -> Option<Self> {
        let end_of_name = text.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(text.get(end_of_name + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3).copied();
        let ticks = |number: usize| field(number)?.parse::<u64>().ok();
        Some(Self {
            ended: matches!(field(3)?, "Z" | "X" | "x"),
            parent: field(4)?.parse().ok()?,
            group: field(5)?.parse().ok()?,
            started: ticks(22)?,
            used: [14, 15, 16, 17]
                .into_iter()
                .try_fold(0_u64, |sum, number| Some(sum.saturating_add(ticks(number)?)))?,
        })
    }
}

/// Every process of this machine that this one may see.
pub(in crate::adapters) fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Every process of the group, ended ones too: pid and start time.
pub(in crate::adapters) fn members(group: u32) -> Vec<(u32, Stat)> {
    pids().filter_map(|pid| Stat::of(pid).ok().filter(|stat| stat.group == group).map(|stat| (pid, stat))).collect()
}

/// Every process of the group, and whatever descends from one of them in a group of its own: pid and what it is.
pub(in crate::adapters) fn family(group: u32) -> Vec<(u32, Stat)> {
    let all: Vec<_> = pids().filter_map(|pid| Some((pid, Stat::of(pid).ok()?))).collect();
    let mut within: BTreeSet<u32> = all.iter().filter(|(_, stat)| stat.group == group).map(|(pid, _)| *pid).collect();
    loop {
        let known = within.len();
        within.extend(
            all.iter().filter(|(_, stat)| within.contains(&stat.parent)).map(|(pid, _)| *pid).collect::<Vec<_>>(),
        );
        if within.len() == known {
            return all.into_iter().filter(|(pid, _)| within.contains(pid)).collect();
        }
    }
}

/// This machine, since it was last started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::adapters) struct Boot {
    host: String,
    id: String,
}

impl Boot {
    pub(in crate::adapters) fn current() -> io::Result<Self> {
        let line = |path: &str| fs::read_to_string(path).map(|text| text.trim().to_owned());
        Ok(Self { host: line("/proc/sys/kernel/hostname")?, id: line("/proc/sys/kernel/random/boot_id")? })
    }

    /// The kernel's id of this boot.
    pub(in crate::adapters) fn id(&self) -> &str {
        &self.id
    }

    pub(in crate::adapters) fn identity(&self, pid: u32, stat: Stat) -> ProcessIdentity {
        ProcessIdentity { host: self.host.clone(), boot_id: self.id.clone(), pid, started: stat.started }
    }

    /// The boot id alone says that it is the same boot of the same machine; its name may change meanwhile.
    pub(in crate::adapters) fn is_of(&self, process: &ProcessIdentity) -> bool {
        process.boot_id == self.id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, state: &str) -> Vec<u8> {
        let after = "5000 0 18446744073709551615";
        // 1 pid, 2 name, 3 state, 4 parent, 5 group, 6 to 13, 14 to 17 processor time, 18 to 21, 22 start time, ...
        format!("77 ({name}) {state} 1 70 {}1 20 300 4000 {}98765 {after}\n", "0 ".repeat(8), "0 ".repeat(4))
            .into_bytes()
    }

    #[test]
    fn the_fields_are_counted_from_the_end_of_the_name() {
        let names = ["cat", "a b", "x) S 9 9 9 (", "))", "(", "new\nline) Z", "\u{e4}"];
        for name in names {
            let expected = Stat { ended: false, parent: 1, group: 70, started: 98765, used: 4321 };
            assert_eq!(Stat::parse(&line(name, "S")), Some(expected), "{name:?}");
        }
    }

    #[test]
    fn only_ended_states_are_ended() {
        for (state, ended) in [("R", false), ("S", false), ("D", false), ("T", false), ("Z", true), ("X", true)] {
            assert_eq!(Stat::parse(&line("cat", state)).map(|stat| stat.ended), Some(ended), "{state}");
        }
    }

    #[test]
    fn a_cut_or_strange_line_is_no_process() {
        let whole = line("cat", "S");
        for text in [&whole[..20], b"", b"77 cat S 1 70", b"77 (cat) S one two"] {
            assert_eq!(Stat::parse(text), None, "{:?}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn a_name_that_is_not_utf8_is_no_obstacle() {
        let mut text = line("cat", "S");
        text[4] = 0xff;
        assert!(Stat::parse(&text).is_some());
    }

    #[test]
    fn this_process_is_described() {
        let stat = Stat::of(std::process::id()).unwrap();
        assert!(!stat.ended && stat.started > 0);
        assert!(members(stat.group).contains(&(std::process::id(), Stat::of(std::process::id()).unwrap())));
    }
}

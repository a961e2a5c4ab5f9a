//! Every key of the configuration, once: what it takes, its default, what it is for.
//!
//! Must not know: what a file says. The reference and "did you mean" are made from this table.

use super::takes::Takes;

/// One key that this version acts on.
pub(super) struct Key {
    /// Its section.
    pub section: &'static str,
    /// Its name there.
    pub name: &'static str,
    /// What may be written.
    pub takes: Takes,
    /// What holds where nothing is written, as it would be written; in words (with backquotes) where it depends.
    pub default: &'static str,
    /// What it is for, in a sentence or two.
    pub about: &'static str,
}

impl Key {
    /// Section and name, with a dot between.
    pub(super) fn path(&self) -> String {
        format!("{}.{}", self.section, self.name)
    }
}

/// All keys, in the order of the reference.
pub(super) const KEYS: &[Key] = &[
    Key {
        section: "tickets",
        name: "root",
        takes: Takes::Folder,
        default: "\"tickets\"",
        about: "The ticket folder, at any depth of which the tickets lie.",
    },
    Key {
        section: "frontmatter",
        name: "state_key",
        takes: Takes::Name,
        default: "\"state\"",
        about: "The frontmatter key that holds the state, for an existing folder of tickets with another one.",
    },
    Key {
        section: "frontmatter",
        name: "states",
        takes: Takes::States,
        default: "{}",
        about: "Other names for the states. Of several names for one state the first is the one yoi writes; the states' \
                own names are read too, unless they stand for another state here.",
    },
    Key {
        section: "dispatch",
        name: "mode",
        takes: Takes::OneOf(&["orchestrated", "pull"]),
        default: "\"pull\"",
        about: "`orchestrated`: one Orchestrator decides what starts. `pull`: workers drain the queue themselves, and \
                there is no Orchestrator.",
    },
    Key {
        section: "orchestrator",
        name: "command",
        takes: Takes::Command,
        default: "[]",
        about: "What is run when there is something for the Orchestrator to decide; the work list goes to its standard \
                input. Never a shell string. Takes effect once trusted (`yoi trust`).",
    },
    Key {
        section: "orchestrator",
        name: "turn_timeout",
        takes: Takes::Duration { off: false },
        default: "\"4h\"",
        about: "How long one turn of that command may run before it is ended.",
    },
    Key {
        section: "orchestrator",
        name: "stall_timeout",
        takes: Takes::Duration { off: true },
        default: "\"off\"",
        about: "How long that command may print nothing before it is ended. Shorter than `turn_timeout`.",
    },
    Key {
        section: "orchestrator",
        name: "rate_limit_exit",
        takes: Takes::ExitCodes,
        default: "[]",
        about: "The exit codes by which that command says that it ran into a rate limit: no kick until it is over.",
    },
    Key {
        section: "orchestrator",
        name: "rate_limit_pattern",
        takes: Takes::Texts,
        default: "[]",
        about: "The same by a piece of text near the end of what it printed, in upper or lower case; no pattern language.",
    },
    Key {
        section: "orchestrator",
        name: "rate_limit_wait",
        takes: Takes::Duration { off: false },
        default: "\"15m\"",
        about: "How long to wait then, unless the end of the output says it (`Retry-After: 120`); twice as long after each further one in a row, up to 4 h. At most a week.",
    },
    Key {
        section: "orchestrator",
        name: "wake",
        takes: Takes::Commands,
        default: "[]",
        about: "Without `command`, for an Orchestrator that registers itself: what is run, in this order, when a list \
                waits for it and it is idle. No ticket text goes into it. Takes effect once trusted (`yoi trust`).",
    },
    Key {
        section: "orchestrator",
        name: "busy_max",
        takes: Takes::Duration { off: false },
        default: "\"30m\"",
        about: "Without `command`: how long a turn may go on without any sign of life before it is shown as silent.",
    },
    Key {
        section: "kick",
        name: "max_items",
        takes: Takes::Count { most: 100, unlimited: false },
        default: "10",
        about: "How many tickets one kick hands over; the rest is a count.",
    },
    Key {
        section: "kick",
        name: "max_per_hour",
        takes: Takes::Count { most: 3600, unlimited: false },
        default: "20",
        about: "The last brake, on automatic kicks that led to nothing.",
    },
    Key {
        section: "kick",
        name: "max_attempts",
        takes: Takes::Count { most: 1000, unlimited: false },
        default: "10",
        about: "How often accepting, delegating or awaiting one ticket counts as progress since a person changed it.",
    },
    Key {
        section: "kick",
        name: "reoffer_idle",
        takes: Takes::Duration { off: true },
        default: "\"off\"",
        about: "After how long work that the Orchestrator saw, and that has not moved, is offered again while it is idle.",
    },
    Key {
        section: "capacity",
        name: "max_inprogress",
        takes: Takes::Count { most: 10_000, unlimited: true },
        default: "`1` in orchestrated mode, `\"unlimited\"` in pull mode",
        about: "How many tickets may be `inprogress` at once; those that a human gate holds do not count.",
    },
    Key {
        section: "gates",
        name: "dirty_workspace",
        takes: Takes::OneOf(&["block", "warn", "off"]),
        default: "\"block\"",
        about: "What uncommitted changes to tracked files do to a start, outside the ticket folder and `.yoi/`.",
    },
    Key {
        section: "claims",
        name: "ttl",
        takes: Takes::Duration { off: false },
        default: "\"90m\"",
        about: "How long a claim holds after its last sign of life (`yoi heartbeat`). Two minutes later others may take it.",
    },
    Key {
        section: "claims",
        name: "heartbeat",
        takes: Takes::Duration { off: false },
        default: "\"15m\"",
        about: "How often the claim of a program that `yoi start` began is renewed, as long as that prints or computes \
                something. Where nothing is written, never more than a third of `ttl`.",
    },
    Key {
        section: "claims",
        name: "remote",
        takes: Takes::Remote,
        default: "\"\"",
        about: "The git remote, like `\"origin\"`, that says who has a claim, where several machines or clones work on the \
                same tickets; the git program asks it. Empty: this repository does, for itself and its worktrees.",
    },
    Key {
        section: "claims",
        name: "refresh",
        takes: Takes::Duration { off: false },
        default: "\"1m\"",
        about: "How often the daemon asks `[claims] remote` which claims there are; so late it knows of those of other clones.",
    },
    Key {
        section: "claims",
        name: "label",
        takes: Takes::Label,
        default: "\"claimed\"",
        about: "The label that a ticket carries while it is claimed; an empty text for none. The claim itself is kept in git.",
    },
    Key {
        section: "worktrees",
        name: "root",
        takes: Takes::Place,
        default: "\".yoi/worktrees\"",
        about: "The folder in which the worktrees of tickets are made. Where a symlink leads out of the workspace nothing is made; \
                an absolute path is taken as it is.",
    },
    Key {
        section: "worktrees",
        name: "after_create",
        takes: Takes::Commands,
        default: "[]",
        about: "What is run, in this order, in a worktree that was just made. If one fails the worktree is taken away again. \
                `YOI_WORKTREE` and `YOI_WORKSPACE` name both folders. Takes effect once trusted (`yoi trust`).",
    },
    Key {
        section: "worktrees",
        name: "before_remove",
        takes: Takes::Commands,
        default: "[]",
        about: "The same in one that is to be removed, before it is looked at: it can take away what a build made. If one \
                fails the worktree stays. Takes effect once trusted (`yoi trust`).",
    },
    Key {
        section: "worktrees",
        name: "hook_timeout",
        takes: Takes::Duration { off: false },
        default: "\"10m\"",
        about: "How long each of these commands may run before it is ended, which counts as a failure.",
    },
    Key {
        section: "writes",
        name: "polite_max",
        takes: Takes::Duration { off: false },
        default: "\"10m\"",
        about: "How long yoi's own stamps and labels wait for an editor that has the file open (vim, Emacs, LibreOffice \
                and Kate leave a mark beside it; VS Code and JetBrains' editors leave none). What people ask for does \
                not wait.",
    },
    Key {
        section: "watch",
        name: "verify_every",
        takes: Takes::Duration { off: true },
        default: "\"10m\"",
        about: "How often the daemon compares all ticket files with what it last read of them, in case a change was not \
                noticed; `yoi status` counts what was missed.",
    },
];

/// The section of a role, of which there may be several: `[roles.coder]`.
pub(super) const ROLES: &str = "roles";

/// The keys of each of them.
pub(super) const ROLE_KEYS: &[Key] = &[
    Key {
        section: "roles.NAME",
        name: "command",
        takes: Takes::Command,
        default: "[]",
        about: "What `yoi start ID --role NAME` runs in the ticket's worktree; what it is to do goes to its standard input. \
                Without it whoever starts the ticket works on it. Never a shell string. Takes effect once trusted (`yoi trust`).",
    },
    Key {
        section: "roles.NAME",
        name: "max",
        takes: Takes::Count { most: 10_000, unlimited: true },
        default: "\"unlimited\"",
        about: "How many tickets may be with this role at once, claimed or at work; `yoi start` refuses one more.",
    },
    Key {
        section: "roles.NAME",
        name: "timeout",
        takes: Takes::Duration { off: false },
        default: "\"4h\"",
        about: "How long that command may run before it is ended; its claim is given back then.",
    },
];

/// What later versions act on: refused until then, because a key that is taken and does nothing misleads.
pub(super) const LATER_SECTIONS: [&str; 4] = ["orphans", "agents", "alerts", "http"];

/// The same, of sections that this version knows.
pub(super) const LATER_KEYS: [(&str, &str); 0] = [];

/// The key of this path.
pub(super) fn key(path: &str) -> Option<&'static Key> {
    match of_role(path) {
        Some((_, name)) => ROLE_KEYS.iter().find(|key| key.name == name),
        None => KEYS.iter().find(|key| key.path() == path),
    }
}

/// The role and the key that a path names, if it names a role's. A role's name may have dots in it, a key's has none.
pub(super) fn of_role(path: &str) -> Option<(&str, &str)> {
    path.strip_prefix(ROLES)?.strip_prefix('.')?.rsplit_once('.')
}

/// The sections that this version knows, each once.
pub(super) fn sections() -> Vec<&'static str> {
    let mut sections: Vec<_> = KEYS.iter().map(|key| key.section).collect();
    sections.dedup();
    sections
}

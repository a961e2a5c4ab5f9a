//! What is found in a worktree: everything that removing it could destroy. Data only.
//!
//! Must not know: how it is found; what follows from it.

/// Things of one kind: the first few by name, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// The first few.
    pub first: Vec<String>,
    /// All of them.
    pub count: usize,
}

impl Named {
    /// How many are named.
    pub const MOST: usize = 5;

    /// Adds one.
    pub fn add(&mut self, name: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < Self::MOST {
            self.first.push(name());
        }
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl FromIterator<String> for Named {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        let mut named = Self::default();
        names.into_iter().for_each(|name| named.add(|| name));
        named
    }
}

/// The names, and how many more there are.
impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.first.join(", "))?;
        match self.count - self.first.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// Where the commits of a worktree are besides in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Commits {
    /// In the default branch, or in what the main worktree is on.
    Merged,
    /// In a remote's branch, as far as it was last heard of.
    Pushed,
    /// Nowhere else: how many, and the newest, a line each.
    Alone(Named),
    /// Git cannot say.
    Unknown(String),
}

/// A process that works in a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupant {
    /// Its number.
    pub pid: u32,
    /// Its program's name.
    pub program: String,
    /// A file that it has open there; None: it is where it works.
    pub open: Option<String>,
}

/// What was found in a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Changes to tracked files, staged or not; also those that git was told not to look at.
    pub changed: Named,
    /// Untracked files, and folders of nothing else.
    pub untracked: Named,
    /// Ignored ones that are no caches.
    pub ignored: Named,
    /// Ignored folders that say of themselves that they can be made anew (`CACHEDIR.TAG`).
    pub caches: Named,
    /// Entries of the stash that were made on its branch.
    pub stashes: usize,
    /// What git is in the middle of, in words.
    pub under_way: Vec<String>,
    /// Where its commits are.
    pub commits: Commits,
    /// Whether its own branch (`yoi/NAME`) holds nothing that is not merged; None where there is no such branch.
    pub branch_merged: Option<bool>,
    /// Submodules with changes, or with commits that are nowhere else.
    pub submodules: Named,
    /// Repositories of their own inside it.
    pub nested: Named,
    /// What no commit can hold: sockets, pipes, devices.
    pub odd: Named,
    /// Who works in it.
    pub occupants: Vec<Occupant>,
    /// What could not be looked at, in words.
    pub unreadable: Vec<String>,
}

impl Default for Probe {
    /// A clean worktree whose commits are merged.
    fn default() -> Self {
        Self {
            changed: Named::default(),
            untracked: Named::default(),
            ignored: Named::default(),
            caches: Named::default(),
            stashes: 0,
            under_way: Vec::new(),
            commits: Commits::Merged,
            branch_merged: None,
            submodules: Named::default(),
            nested: Named::default(),
            odd: Named::default(),
            occupants: Vec::new(),
            unreadable: Vec::new(),
        }
    }
}

impl Probe {
    /// Of a worktree that cannot be looked at.
    pub fn unreadable(why: impl Into<String>) -> Self {
        let why = why.into();
        Self { commits: Commits::Unknown(why.clone()), unreadable: vec![why], ..Self::default() }
    }

    /// Whether there is something in it that no commit holds, or nobody knows.
    pub fn is_dirty(&self) -> bool {
        let lists = [&self.changed, &self.untracked, &self.ignored, &self.submodules, &self.nested, &self.odd];
        lists.iter().any(|list| !list.is_empty())
            || !self.under_way.is_empty()
            || !self.unreadable.is_empty()
            || self.stashes > 0
    }

    /// Whether all its commits are in the default branch.
    pub fn is_merged(&self) -> bool {
        self.commits == Commits::Merged
    }
}

//! The names that a folder of tickets uses for the lifecycle: which key holds the state, and which word means what.
//!
//! Must not know: the configuration file they come from. DESIGN.md 2.1.

use crate::domain::ticket::State;

/// `[frontmatter] state_key` and `[frontmatter.states]`, resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyMap {
    /// The frontmatter key that holds the state.
    pub state_key: String,
    /// Each name as it stands in files, and the state it means. Several names may mean one state: the first is written.
    pub states: Vec<(String, State)>,
}

impl Default for KeyMap {
    fn default() -> Self {
        let states = State::ALL.into_iter().map(|state| (state.as_str().to_owned(), state)).collect();
        Self { state_key: "state".into(), states }
    }
}

impl KeyMap {
    /// The state that a file's text means.
    pub fn state(&self, text: &str) -> Option<State> {
        self.states.iter().find(|(name, _)| name == text).map(|(_, state)| *state)
    }

    /// How a state is written; yoi's own name for it where no name is given.
    pub fn name(&self, state: State) -> &str {
        self.states.iter().find(|(_, s)| *s == state).map_or(state.as_str(), |(name, _)| name)
    }

    /// The known names, for a message.
    pub fn names(&self) -> String {
        self.states.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
    }
}

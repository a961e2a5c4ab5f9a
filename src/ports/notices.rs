//! Whoever notices changes, as the host and `status` see it: how it does so, and how well.
//!
//! Must not know: how the system reports changes.

use std::time::Duration;

/// How long a notice takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lag {
    /// It took this long.
    Of(Duration),
    /// It did not come within this time.
    Beyond(Duration),
    /// It was not measured; why, in words.
    NotMeasured(String),
}

/// How changes are noticed just now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noticing {
    /// Why they are looked for by the clock; None where the system reports them.
    pub polling: Option<String>,
    /// How many folders of tickets the system watches.
    pub folders: usize,
    /// As last measured; None: never yet.
    pub lag: Option<Lag>,
}

/// The watcher. One implementation: `adapters::watcher`.
pub trait Notices: Send + Sync {
    /// How it does.
    fn noticing(&self) -> Noticing;

    /// Something was missed: everything that notices rest on is made anew, and everything is to be read again.
    fn doubt(&self, why: &str);
}

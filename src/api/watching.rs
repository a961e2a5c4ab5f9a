//! What `status` says of the watching: how changes are noticed, how fast, and what was missed (DESIGN.md 8, Self-proof).

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::daemon::Host;
use crate::domain::classify::clock;
use crate::ports::{Lag, Noticing};
use crate::text::duration;

/// The watching, as it is now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchView {
    /// `inotify`, or `polling` where the system does not report changes.
    pub backend: String,
    /// Why it polls.
    pub why: Option<String>,
    /// How long a notice took just now, in milliseconds; null where it was not measured.
    pub lag_ms: Option<f64>,
    /// The same in words, or why it was not measured.
    pub lag: Option<String>,
    /// Tickets whose files are watched.
    pub tickets: usize,
    /// Folders that the system watches for them; 0 while polling.
    pub folders: usize,
    /// Full rescans since the start, those by the clock aside.
    pub rescans: u64,
    /// Why and when the last one was.
    pub last_rescan: Option<String>,
    /// Changes that no notice told of, found by comparing with the disk.
    pub missed: u64,
    /// When all files were last compared with what was read of them.
    pub verified_at: Option<String>,
}

/// None where nobody watches.
pub(super) fn watching(host: &Host) -> Option<WatchView> {
    let Noticing { polling, folders, lag } = host.about().watcher.as_ref()?.noticing();
    let engine = host.engine().watch_summary();
    let lag_ms = match &lag {
        Some(Lag::Of(length)) => Some(milliseconds(*length)),
        _ => None,
    };
    Some(WatchView {
        backend: if polling.is_some() { "polling" } else { "inotify" }.into(),
        why: polling,
        lag_ms,
        lag: lag.map(|lag| words(&lag)),
        tickets: host.engine().backlog().tickets().count(),
        folders,
        rescans: engine.rescans,
        last_rescan: engine.last_rescan.map(|(why, at)| format!("{} at {}", why, clock(at))),
        missed: engine.missed,
        verified_at: engine.verified_at.map(clock),
    })
}

/// To a tenth.
fn milliseconds(length: Duration) -> f64 {
    (length.as_secs_f64() * 10_000.0).round() / 10.0
}

fn words(lag: &Lag) -> String {
    match lag {
        Lag::Of(length) => format!("{} ms", milliseconds(*length)),
        Lag::Beyond(limit) => format!("more than {} s", limit.as_secs()),
        Lag::NotMeasured(why) => format!("not measured: {why}"),
    }
}

/// What of it is in the way.
pub(super) fn obstacles(host: &Host) -> Vec<String> {
    let late = host.about().watcher.as_ref().and_then(|watcher| match watcher.noticing().lag {
        Some(Lag::Beyond(limit)) => Some(format!(
            "the watcher did not notice a new file within {} s: changes are seen late{}",
            limit.as_secs(),
            host.engine().policy().verify_every.map_or_else(String::new, |every| format!(
                ", the missed ones when files are compared (every {})",
                duration::text(every)
            ))
        )),
        _ => None,
    });
    let unread = host
        .folder_trouble()
        .map(|why| format!("the ticket folder cannot be read, what was last read of it is shown: {why}"));
    let uncompared = host.engine().watch_summary().trouble.filter(|_| unread.is_none());
    let uncompared = uncompared.map(|why| format!("ticket files could not be compared with what was read: {why}"));
    late.into_iter().chain(unread).chain(uncompared).collect()
}

//! What `status` says of who is connected to the daemon.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::daemon::Host;
use crate::ports::Traffic;

/// The daemon's socket, as it is now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionsView {
    /// Connections now, this one included.
    pub open: usize,
    /// So many are served at once.
    pub most: usize,
    /// Of these, streams (`yoi events --follow`, `yoi orchestrator watch`).
    pub streams: usize,
    /// So many of them are served at once.
    pub most_streams: usize,
    /// Clients that were told that there is no place, since the start.
    pub refused: u64,
    /// Clients that were let go because they said nothing, stopped half-way or did not read, since the start.
    pub let_go: u64,
}

/// None where nobody can connect.
pub(super) fn connections(host: &Host) -> Option<ConnectionsView> {
    let Traffic { open, most, streams, most_streams, refused, let_go, trouble: _ } =
        host.about().door.as_ref()?.traffic();
    Some(ConnectionsView { open, most, streams, most_streams, refused, let_go })
}

/// What of it is in the way.
pub(super) fn obstacle(host: &Host) -> Option<String> {
    let why = host.about().door.as_ref()?.traffic().trouble?;
    Some(format!("{}: no connection can be accepted just now: {why}", host.about().socket.display()))
}

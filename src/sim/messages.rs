//! What reaches the daemon's inbox.

use std::path::PathBuf;

use super::wishes::Wish;
use crate::domain::engine::{Actor, KickId, Orders, TurnOutcome};
use crate::domain::facts::{Pod, PodId, PodState};
use crate::domain::kick::Boundary;
use crate::domain::ticket::TicketId;

/// One message.
#[derive(Clone, Debug)]
pub(super) enum Message {
    Paths(Vec<PathBuf>),
    Overflow,
    Git,
    Boundary(Boundary),
    Pause,
    Resume,
    /// A write that somebody asked for.
    Request {
        path: PathBuf,
        wish: Wish,
        by: Actor,
    },
    Order {
        session: String,
        id: TicketId,
        orders: Orders,
    },
    Pod(Pod, PodState),
    PodEnded(PodId),
    TurnEnded(KickId, TurnOutcome),
    RateLimited(i64),
}

//! What a face gets to see: types on the wire, pinned by `docs/schema.json`. Ticket fields are `snake_case`.

mod claim;
mod evidence;
mod next;
mod operation;
mod orchestrator;
mod ticket;
mod worktree;

use serde::Serialize;
use serde_json::Value;

pub use claim::{BeatView, ClaimView, HeldTicketView, HolderView, StartView, StartedPod};
pub use evidence::{ChildView, EndView};
pub use next::{HeldBackView, NextView, ReasonView};
pub use operation::{
    DoctorView, DownView, EventView, FindingView, RemoteView, StatusView, TICKET_FOLDER, TimerView, UpView,
};
pub use orchestrator::{DoneView, HeldView, HookView, ItemView, KickView, PodView, PodsView, WorkSetView};
pub use ticket::{
    AwaitedView, FaultView, GateView, ListView, MoveView, NewView, ProblemView, SetView, ShowView, TicketView,
    WaitingView, WhyView,
};
pub use worktree::{RestoredView, WorktreeRemovedView, WorktreeView, WorktreesView};

use super::failure::Failure;

/// The version of every answer.
pub const VERSION: u32 = 1;

/// A view as JSON.
pub(super) fn value(view: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(view).map_err(|error| Failure::failed(format!("the answer is no JSON: {error}")))
}

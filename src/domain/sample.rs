//! Tickets, backlogs and moments for the tests of this floor: one builder for all of them.

use chrono::{DateTime, TimeDelta, Utc};

use super::backlog::{Backlog, Entry};
use super::facts::{Claim, Pod, PodId, PodState, ProcessIdentity, TimeDeltaSeconds};
use super::ticket::{Apart, Digest, Fields, Priority, Stamps, State, Ticket, TicketId, Timestamp, YOI_LABELS};

/// So many seconds after the moment at which all tests begin, 2026-11-30T09:00:00Z.
pub fn at(seconds: i64) -> Timestamp {
    DateTime::<Utc>::from_timestamp(1_796_029_200, 0).unwrap() + TimeDelta::seconds(seconds)
}

/// An id.
pub fn id(id: &str) -> TicketId {
    TicketId::from(id)
}

/// A ticket in this state with nothing else said.
pub fn ticket(id: &str, state: State) -> Ticket {
    let said = Fields {
        id: TicketId::from(id),
        path: format!("tickets/{id}.md").into(),
        title: format!("Title of {id}"),
        state: Some(state),
        priority: Priority::default(),
        labels: Vec::new(),
        stamps: Stamps::default(),
        depends_on: Vec::new(),
        repo: None,
        seldom: Apart::default(),
        content: Digest::default(),
        meaning: Digest::default(),
    };
    sealed(said.into(), "")
}

/// A ticket with something changed in it.
pub fn with(mut ticket: Ticket, change: impl FnOnce(&mut Ticket)) -> Ticket {
    change(&mut ticket);
    ticket
}

/// Queued an hour before the tests begin.
pub fn queued(id: &str) -> Ticket {
    with(ticket(id, State::Queued), |t| t.stamps.queued_at = Some(at(-3600)))
}

/// In progress with a recorded acceptance.
pub fn accepted(id: &str) -> Ticket {
    with(ticket(id, State::Inprogress), |t| {
        t.stamps.queued_at = Some(at(-3600));
        t.stamps.accepted_by = Some("orchestrator".into());
        t.stamps.accepted_at = Some(at(-1800));
    })
}

/// A list of texts.
pub fn texts(items: &[&str]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

/// A list of ids.
pub fn ids(items: &[&str]) -> Vec<TicketId> {
    items.iter().map(|i| TicketId::from(*i)).collect()
}

/// The digests that a reader would compute for this ticket with this body.
pub fn sealed(mut ticket: Ticket, body: &str) -> Ticket {
    let bare = with(ticket.clone(), |t| {
        t.stamps = Stamps::default();
        t.orphan_status = None;
        t.labels.retain(|l| !YOI_LABELS.contains(&l.as_str()));
        t.content = Digest::default();
        t.meaning = Digest::default();
    });
    ticket.meaning = Digest::of(format!("{bare:?}").as_bytes()).and(body.as_bytes());
    let stamps = format!("{:?} {:?} {:?}", ticket.stamps, ticket.orphan_status, ticket.labels);
    ticket.content = ticket.meaning.and(stamps.as_bytes());
    ticket
}

/// A backlog of these tickets, each in its own file.
pub fn backlog(tickets: impl IntoIterator<Item = Ticket>) -> Backlog {
    Backlog::of(tickets.into_iter().map(|t| (t.path.clone(), Entry::Ticket(t))))
}

/// A live Pod of this role on a ticket.
pub fn pod(name: &str, role: &str, ticket: &str) -> Pod {
    let process = ProcessIdentity { host: "here".into(), boot_id: "boot".into(), pid: 4711, started: 17 };
    let ticket = Some(TicketId::from(ticket));
    Pod {
        id: PodId(name.into()),
        role: role.into(),
        ticket,
        agent: None,
        process,
        state: PodState::Busy,
        since: at(0),
        supervised: false,
    }
}

/// A claim of a worker whose last beat was so many seconds after the beginning, with a TTL of 90 minutes.
pub fn claim(role: &str, beat: i64) -> Claim {
    Claim { worker: "lane-3".into(), role: role.into(), beat: at(beat), ttl: TimeDeltaSeconds(90 * 60) }
}

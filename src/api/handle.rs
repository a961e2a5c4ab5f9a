//! The one place where a request meets the host: looks ids up, calls, presents. Answers are JSON values of the types
//! in `view`.

use serde_json::Value;

use super::caller::{actor, recorded_name};
use super::failure::{Failure, MOVED};
use super::request::{Caller, KeyChange, Request};
use super::view::value;
use super::view::{HeldView, MoveView, NewView, SetView, ShowView, TicketView, VERSION, WhyView, WorkSetView};
use super::{hook, listing, operation, present, report, session};
use crate::daemon::{AcceptRequest, Host, MoveRequest, Moved};
use crate::domain::accept::Way;
use crate::domain::edit::Change;
use crate::domain::engine::Orders;
use crate::domain::explain::{dirty_remark, explain};
use crate::domain::lifecycle::may_begin;
use crate::domain::refusal::no_ticket;
use crate::domain::ticket::{Priority, State, Ticket, TicketId};
use crate::domain::workset::WaitKind;
use crate::text::draft::Draft;

/// Carries out one request.
pub fn handle(request: Request, host: &mut Host) -> Result<Value, Failure> {
    if matches!(request, Request::Status | Request::Why { .. } | Request::Doctor { .. }) {
        // What is in the way is said as it is now.
        host.obstacle_now();
    }
    match request {
        Request::List(request) if request.brief => value(&listing::lines(&request, host)?),
        Request::List(request) => value(&listing::view(&request, host)?),
        Request::Show { id, brief } => show(&id, brief, host),
        Request::Why { id } => {
            host.look_at_writes(&TicketId::new(&id));
            why(&id, host)
        }
        Request::Status => report::status(host),
        Request::WorkSet => work_set(host),
        Request::Pods => report::pods(host),
        Request::Doctor { fix, caller } => {
            let fixed = if fix { operation::fix(host, &caller)? } else { Vec::new() };
            report::doctor(host, fixed)
        }
        Request::Kick { dry_run, caller } => report::kick(host, dry_run, &actor(host, &caller)),
        Request::Pause { reason, caller } => operation::pause(host, reason, &caller),
        Request::Resume { caller } => operation::resume(host, &caller),
        Request::Reload => operation::reload(host),
        Request::Move { id, to, force, reason, caller } => move_ticket(host, &id, &to, force, reason, &caller),
        Request::Accept { id, caller } => accept(host, &id, Way::Accept, &caller),
        // Git may take its time with these: `carry_out` does not hold the host meanwhile.
        Request::Worktrees
        | Request::RemoveWorktree { .. }
        | Request::RestoreWorktree { .. }
        | Request::Claim(_)
        | Request::Start(_)
        | Request::Heartbeat(_)
        | Request::Release(_)
        | Request::Block(_)
        | Request::Decompose(_)
        | Request::Close(_)
        | Request::Next(_)
        | Request::Offer { .. } => Err(Failure::failed("this request is not carried out in one visit of the host")),
        Request::Set { id, changes, caller } => set(host, &id, changes, &caller),
        Request::New { id, title, state, priority, labels, caller } => {
            new(host, id, &title, (&state, &priority, &labels), &caller)
        }
        Request::Plan { id, order, caller } => orders(host, &id, Orders::Plan { order }, &caller, "planned"),
        Request::Wait { id, kind, detail, caller } => {
            let kind: WaitKind = kind.parse().map_err(Failure::usage)?;
            orders(host, &id, Orders::Wait { kind, detail }, &caller, "waits")
        }
        Request::Await { id, step, seconds, caller } => {
            let span = chrono::TimeDelta::try_seconds(seconds).unwrap_or(chrono::TimeDelta::MAX);
            orders(host, &id, Orders::Await { step, span }, &caller, "is awaited")
        }
        Request::Hook(request) => hook::hook(host, request),
        Request::Printed { kick } => session::printed(host, &kick),
        Request::Attach(request) => session::attach(host, request),
        Request::Reset { caller } => session::reset(host, &actor(host, &caller)),
    }
}

/// The ticket with this id, or with an id that begins so uniquely. For requests that write nothing.
fn find<'a>(host: &'a Host, id: &str) -> Result<&'a Ticket, Failure> {
    let backlog = host.engine().backlog();
    let exact = TicketId::new(id);
    if let Some(ticket) = backlog.get(&exact) {
        return Ok(ticket);
    }
    let faults: Vec<_> = backlog.faults().into_iter().filter(|f| f.id == exact).collect();
    if !faults.is_empty() {
        let lines = faults.iter().map(ToString::to_string);
        return Err(Failure::failed(format!("`{id}` cannot be read")).evidence(lines));
    }
    let alike: Vec<_> = backlog.tickets().filter(|t| !id.is_empty() && t.id.as_str().starts_with(id)).take(6).collect();
    match alike.as_slice() {
        [one] => Ok(one),
        [] => Err(Failure::failed(no_ticket(id)).hint("`yoi list --all` shows every id")),
        several => {
            let names = several.iter().map(|t| t.id.to_string());
            Err(Failure::failed(format!("`{id}` is the beginning of several ids"))
                .evidence(names)
                .hint("write more of it"))
        }
    }
}

fn view_of(host: &Host, ticket: &Ticket) -> TicketView {
    present::ticket(&host.engine().row(ticket, host.now()))
}

fn show(id: &str, brief: bool, host: &Host) -> Result<Value, Failure> {
    let ticket = find(host, id)?;
    let text = host
        .ports()
        .tickets
        .text(&ticket.path)
        .map_err(|error| Failure::failed(format!("{}: {error}", ticket.path.display())).hint(MOVED))?;
    let mut ticket = view_of(host, ticket);
    if brief {
        ticket.gates.clear();
    }
    value(&ShowView { version: VERSION, ticket, text })
}

fn why(id: &str, host: &Host) -> Result<Value, Failure> {
    let ticket = find(host, id)?;
    let now = host.now();
    let mut because = explain(host.engine(), &host.engine().row(ticket, now), now);
    if matches!(ticket.state, Some(State::Queued | State::Inprogress)) {
        because.extend(host.paused().map(|paused| format!("All kicks are {paused}: `yoi resume` goes on.")));
        because.extend(report::last_turn(host).map(|what| format!("{what}.")));
    }
    because.extend(host.obstruction().map(|o| format!("{}: ticket files are not written meanwhile.", o.what)));
    value(&WhyView { version: VERSION, daemon: host.resident(), ticket: view_of(host, ticket), because })
}

fn work_set(host: &Host) -> Result<Value, Failure> {
    let engine = host.engine();
    let now = host.now();
    let entries = engine.work_set().in_order();
    let entries = entries.into_iter().filter_map(|(id, _)| engine.backlog().get(id));
    let list = engine.attention(false, now);
    let evidence = |id: &TicketId| {
        let classified = engine.backlog().get(id).and_then(|t| engine.row(t, now).class);
        let lines: Vec<_> = classified.iter().flat_map(|c| &c.evidence).map(ToString::to_string).collect();
        HeldView { id: id.to_string(), kind: Some("active_inprogress".into()), reason: lines.join("; ") }
    };
    value(&WorkSetView {
        version: VERSION,
        session: engine.work_set().session.clone(),
        paused: host.paused().map(|paused| paused.to_string()),
        entries: entries.map(|ticket| view_of(host, ticket)).collect(),
        next: list.items.iter().map(present::item).collect(),
        waiting: list.held.iter().map(present::held).collect(),
        holding_back: list.active.iter().map(evidence).collect(),
    })
}

fn move_ticket(
    host: &mut Host,
    id: &str,
    to: &str,
    force: bool,
    reason: Option<String>,
    caller: &Caller,
) -> Result<Value, Failure> {
    let to: State = to.parse().map_err(Failure::usage)?;
    if to == State::Inprogress && !force {
        return accept(host, id, Way::Move, caller);
    }
    if force && reason.as_deref().is_none_or(|r| r.trim().is_empty()) {
        return Err(Failure::usage("--force needs --reason TEXT: the thread records why a rule was passed over"));
    }
    let by = recorded_name(host, caller);
    let request = MoveRequest { id: TicketId::new(id), to, by, force, reason, actor: actor(host, caller) };
    let done = host.move_ticket(&request)?;
    value(&moved(host, done))
}

fn accept(host: &mut Host, id: &str, way: Way, caller: &Caller) -> Result<Value, Failure> {
    let request =
        AcceptRequest { id: TicketId::new(id), by: recorded_name(host, caller), way, actor: actor(host, caller) };
    let (mut done, _proof) = host.accept(&request)?;
    done.remarks.extend(dirty_remark(host.engine()));
    value(&moved(host, done))
}

/// What a ticket was, and is now.
pub(super) fn move_view(before: &Ticket, after: &Ticket, remarks: Vec<String>) -> MoveView {
    MoveView {
        version: VERSION,
        id: after.id.to_string(),
        path: after.path.display().to_string(),
        from: before.state.map(|state| state.to_string()),
        to: after.state.map(|state| state.to_string()),
        remarks,
    }
}

fn moved(host: &Host, done: Moved) -> MoveView {
    let Moved { before, after, mut remarks } = done;
    remarks.extend(host.history().trouble().map(|why| format!("history could not be kept: {why}")));
    move_view(&before, &after, remarks)
}

/// The file is written here, from its parts: a request cannot say what only the lifecycle may.
fn new(
    host: &mut Host,
    id: String,
    title: &str,
    (state, priority, labels): (&str, &str, &[String]),
    caller: &Caller,
) -> Result<Value, Failure> {
    let state: State = state.parse().map_err(Failure::usage)?;
    may_begin(state)?;
    let priority: Priority = priority.parse().map_err(Failure::usage)?;
    let queued_by = recorded_name(host, caller);
    let draft = Draft {
        title,
        state,
        priority,
        labels,
        now: host.now(),
        queued_by: &queued_by,
        keys: host.ports().tickets.keys(),
    };
    let text = draft.text();
    let ticket = host.create(&TicketId::new(id), &text, actor(host, caller))?;
    let path = ticket.path.display().to_string();
    value(&NewView { version: VERSION, id: ticket.id.to_string(), path })
}

fn set(host: &mut Host, id: &str, changes: Vec<KeyChange>, caller: &Caller) -> Result<Value, Failure> {
    let changes = changes.into_iter().map(change).collect::<Result<Vec<_>, _>>()?;
    let by = actor(host, caller);
    let (before, after) = host.set_keys(&TicketId::new(id), &changes, by)?;
    let is_new_text = before.content != after.content;
    let path = after.path.display().to_string();
    value(&SetView { version: VERSION, id: Some(after.id.to_string()), path, changed: is_new_text })
}

fn change(change: KeyChange) -> Result<Change, Failure> {
    let yaml = |value: Value| {
        serde_yaml::to_value(value).map_err(|error| Failure::usage(format!("the value is no YAML: {error}")))
    };
    Ok(match change {
        KeyChange::Set { key, value, written: Some(text) } => Change::Written(key, yaml(value)?, text),
        KeyChange::Set { key, value, written: None } => Change::Set(key, yaml(value)?),
        KeyChange::Unset { key } => Change::Unset(key),
        KeyChange::Add { key, item } => Change::Add(key, yaml(item)?),
        KeyChange::Remove { key, item } => Change::Remove(key, yaml(item)?),
    })
}

fn orders(host: &mut Host, id: &str, orders: Orders, caller: &Caller, what: &str) -> Result<Value, Failure> {
    let Some(session) = &caller.session else {
        let current = host.engine().work_set().session.clone();
        return Err(Failure::usage("the work set belongs to the Orchestrator's session, and none was given")
            .hint(format!("set YOI_SESSION, or give --session (the current one is `{current}`)")));
    };
    let now = host.now();
    host.order(session, &TicketId::new(id), orders, now)?;
    operation::done(host, format!("`{id}` {what}"))
}

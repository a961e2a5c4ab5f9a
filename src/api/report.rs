//! `status`, `pod list`, `kick`, `doctor`: what the daemon is doing, and what is wrong.

use std::collections::{BTreeMap, BTreeSet};

use chrono::Timelike;
use serde_json::Value;

use super::delivery;
use super::failure::Failure;
use super::present;
use super::view::{
    DoctorView, EventView, FindingView, ItemView, KickView, PodView, PodsView, StatusView, TICKET_FOLDER, VERSION,
    value,
};
use crate::daemon::Host;
use crate::domain::classify::{ORCHESTRATOR, clock};
use crate::domain::concern;
use crate::domain::engine::{Actor, Engine, Event, Orchestrator, Reach, Record, RecordKind, may_kick};
use crate::domain::explain;
use crate::domain::facts::PodState;
use crate::domain::kick::{Boundary, Decision};
use crate::domain::remarks::{maybe_tickets, on_claim, on_plain_files, remarks};
use crate::domain::ticket::{Diagnostic, State, Ticket, Timestamp};
use crate::ports::{Query, StoreError, Stored};

/// How many alerts and inbox entries `status` shows.
const SHOWN: usize = 10;
/// How far back the last turn is looked for.
const RECENT: usize = 500;
/// How far back it looks for them.
const LOOKED_AT: usize = 2000;

/// What the daemon is doing, as far as the host knows it.
pub fn status(host: &Host) -> Result<Value, Failure> {
    let engine = host.engine();
    let now = host.now();
    let summary = engine.summary(now);
    let about = host.about();
    let mut tickets = BTreeMap::new();
    let mut classes = BTreeMap::new();
    for ticket in engine.backlog().tickets() {
        let state = ticket.state.map_or("unreadable", State::as_str);
        *tickets.entry(state.to_owned()).or_default() += 1;
        if let Some(classified) = engine.row(ticket, now).class {
            *classes.entry(classified.class.to_string()).or_default() += 1;
        }
    }
    let mut obstacles = host.settings().obstacles.clone();
    obstacles.extend(host.settings_trouble().map(|why| format!("{why} (the last good settings stay in force)")));
    obstacles.extend(host.paused().map(|paused| format!("{paused}: {}", super::operation::PAUSE)));
    obstacles.extend(host.obstruction().map(|o| format!("{}: ticket files are not read or written meanwhile", o.what)));
    obstacles.extend(super::watching::obstacles(host));
    obstacles.extend(super::connections::obstacle(host));
    obstacles.extend(super::remote::trouble(engine));
    obstacles.extend(last_turn(host));
    obstacles.extend(host.history().trouble().map(|why| format!("history cannot be kept: {why}")));
    obstacles.extend(pause_not_kept(host).map(str::to_owned));
    obstacles.extend(host.registers_trouble().map(str::to_owned));
    let watching = super::watching::watching(host);
    let attention = attention_events(host).unwrap_or_else(|why| {
        obstacles.push(format!("history cannot be read: {why}"));
        Vec::new()
    });
    value(&StatusView {
        version: VERSION,
        running: host.resident(),
        workspace: about.workspace.display().to_string(),
        state_folder: about.state_folder.display().to_string(),
        socket: about.socket.display().to_string(),
        pid: host.resident().then(std::process::id),
        started_at: host.resident().then(|| clock(host.started())),
        mode: engine.policy().mode.as_str().to_owned(),
        watcher: watching
            .as_ref()
            .map(|w| w.why.as_ref().map_or_else(|| w.backend.clone(), |why| format!("{}: {why}", w.backend))),
        watching,
        connections: super::connections::connections(host),
        tickets,
        classes,
        claims: present::claims(engine, now),
        remote: super::remote::remote(engine),
        errors: engine.backlog().faults().into_iter().map(present::fault).collect(),
        without_frontmatter: maybe_tickets(host.ports().tickets.without_frontmatter()).len(),
        orchestrator: host.resident().then(|| orchestrator(engine, now)),
        session: host.resident().then(|| summary.session.to_owned()).filter(|session| !session.is_empty()),
        last_boundary: summary.last_boundary.map(|(boundary, at)| format!("{boundary} at {}", clock(at))),
        last_decision: summary.last_decision.map(explain::last),
        timers: if host.resident() { engine.timers().into_iter().map(present::timer).collect() } else { Vec::new() },
        kicks_sent: summary.kicks_sent,
        kicks_saved: summary.kicks_saved,
        pending: delivery::pending(host),
        delivery: delivery::last(host),
        failed_deliveries: host.failed_deliveries() + summary.undelivered,
        obstacles,
        attention,
    })
}

fn pause_not_kept(host: &Host) -> Option<&'static str> {
    match (host.keeps_the_pause(), host.paused()) {
        (true, _) => None,
        (false, Some(_)) => Some("the pause could not be kept yet: a restart would not find it"),
        (false, None) => Some("that the pause has ended could not be kept yet: a restart would be paused again"),
    }
}

/// The newest alerts and inbox entries that still hold.
fn attention_events(host: &Host) -> Result<Vec<EventView>, StoreError> {
    let (engine, now) = (host.engine(), host.now());
    let session = engine.summary(now).live;
    let settings = host.settings_trouble().is_some();
    let remote = engine.remote_summary().is_some_and(|remote| remote.told);
    let mut current =
        concern::current(&host.ledger(), session, (settings, remote), engine.policy().kick.max_per_hour, now);
    let is_unstamped = |record: &Record| record.ticket.as_ref().is_some_and(|id| engine.is_unstamped(id));
    let mut shown = BTreeSet::new();
    // Of one ticket the newest is enough, and nothing when that is resolved.
    let mut is_over = |record: &Record| {
        record.data.get("reverted").is_some()
            && record.ticket.as_ref().is_none_or(|id| !engine.is_reverted(id) || !shown.insert(id.clone()))
    };
    let mut found: Vec<_> = host
        .history()
        .records(&Query { newest: Some(LOOKED_AT), ..Query::default() })?
        .into_iter()
        .rev()
        .filter(|stored| matches!(stored.record.kind, RecordKind::Alert | RecordKind::Inbox | RecordKind::StampFailed))
        .filter(|stored| stored.record.kind != RecordKind::StampFailed || is_unstamped(&stored.record))
        .filter(|stored| !is_over(&stored.record))
        .filter(|stored| concern::still_holds(&stored.record.data, &mut current))
        .take(SHOWN)
        .map(present::event)
        .collect();
    found.reverse();
    Ok(found)
}

/// What became of the Orchestrator's last turn, if it failed or was limited: a command that cannot be started, or ends
/// with an error, is why nothing moves.
pub(super) fn last_turn(host: &Host) -> Option<String> {
    let stored = host.history().records(&Query { newest: Some(RECENT), ..Query::default() }).unwrap_or_default();
    // On a full disk the newest ones are still waiting to be written.
    let recent = stored.into_iter().map(|stored| stored.record).chain(host.history().waiting().cloned());
    let turn = recent.filter(|record| record.kind == RecordKind::TurnEnded).last()?;
    let last = concern::last_turn(&turn, &host.ledger(), host.now())?;
    let started = turn.data.get("delivered").and_then(Value::as_bool).unwrap_or(true);
    let look = match (host.engine().summary(host.now()).reach, started) {
        // A session's own screen shows what came of it.
        (Reach::Session, _) => "",
        (_, true) => " (what it printed: `yoi logs --turn last`)",
        (_, false) => " (`yoi doctor` looks for its program)",
    };
    Some(last.in_words(&clock(turn.at), look))
}

fn orchestrator(engine: &Engine, now: Timestamp) -> PodView {
    let summary = engine.summary(now);
    let mut pod = PodView {
        id: ORCHESTRATOR.into(),
        role: ORCHESTRATOR.into(),
        state: "idle".into(),
        ticket: None,
        agent: None,
        pid: None,
        since: String::new(),
        detail: None,
    };
    match (summary.absence, summary.orchestrator) {
        (Some(why), _) => {
            "gone".clone_into(&mut pod.state);
            pod.detail = Some(why.to_owned());
        }
        (_, Orchestrator::Idle { since }) => pod.since = clock(*since),
        (_, Orchestrator::Preparing { kick, .. }) => pod.detail = Some(format!("kick {} is being prepared", kick.0)),
        (_, Orchestrator::Busy(turn)) => {
            "busy".clone_into(&mut pod.state);
            pod.since = clock(turn.since);
            pod.pid = turn.process.as_ref().map(|p| p.pid);
            pod.detail = Some(match &turn.kick {
                Some(kick) => format!("works on kick {}", kick.0),
                None => "a turn that was not yoi's doing".into(),
            });
        }
    }
    if let Some(session) = summary.live {
        pod.agent.clone_from(&session.agent);
        pod.pid = pod.pid.or(session.process.as_ref().map(|p| p.pid));
        if session.silent {
            pod.detail = Some(format!("busy, silent since {}", clock(session.heard)));
        }
        if let Some(until) = session.doubt {
            let what = "what its last hook came from has ended: it counts as gone if it does not report again until";
            pod.detail = Some(format!("{what} {}", clock(until)));
        }
    }
    pod
}

/// The registered Pods.
pub fn pods(host: &Host) -> Result<Value, Failure> {
    let engine = host.engine();
    let mut pods = if host.resident() { vec![orchestrator(engine, host.now())] } else { Vec::new() };
    pods.extend(engine.facts().pods.values().map(|pod| PodView {
        id: pod.id.to_string(),
        role: pod.role.clone(),
        state: match pod.state {
            PodState::Idle => "idle".into(),
            PodState::Busy => "busy".into(),
        },
        ticket: pod.ticket.as_ref().map(ToString::to_string),
        agent: pod.agent.clone(),
        pid: Some(pod.process.pid),
        since: clock(pod.since),
        detail: None,
    }));
    value(&PodsView { version: VERSION, pods })
}

/// Considers a kick now, or says what would be decided.
pub fn kick(host: &mut Host, dry_run: bool, by: &Actor) -> Result<Value, Failure> {
    if !dry_run {
        may_kick(by)?;
    }
    host.look_at_worktrees();
    let now = host.now();
    let decision = host.engine().decide(&[Boundary::UserKick], now);
    let (name, detail, items, left_out) = match &decision {
        Decision::Kick { items, left_out } => {
            let later = delivery::later(host).map(|how| format!(", {how}")).unwrap_or_default();
            let detail = format!("{} to hand over, {left_out} left out{later}", items.len());
            ("kick", detail, items.iter().map(present::item).collect::<Vec<ItemView>>(), *left_out)
        }
        Decision::Suppress(why) => (why.as_str(), host.engine().suppression_detail(why), Vec::new(), 0),
    };
    let midnight = now
        .with_hour(0)
        .and_then(|t| t.with_minute(0))
        .and_then(|t| t.with_second(0))
        .and_then(|t| t.with_nanosecond(0))
        .unwrap_or(now);
    // Counts only: a history that cannot be read must not keep anybody from a kick; `yoi status` says so.
    let today = host.history().records(&Query { since: Some(midnight), ..Query::default() }).unwrap_or_default();
    let kicks_today = today.iter().filter(|s| s.record.kind == RecordKind::KickSent).count();
    let ran = |s: &Stored| s.record.data.get("ran_ms").and_then(Value::as_f64).unwrap_or_default();
    let turns = today.iter().filter(|s| s.record.kind == RecordKind::TurnEnded);
    let view = KickView {
        version: VERSION,
        dry_run,
        row: decision.row(),
        decision: name.to_owned(),
        detail,
        items,
        left_out,
        kicks_today,
        turn_seconds_today: turns.map(ran).sum::<f64>() / 1000.0,
    };
    if !dry_run {
        host.tell(Event::BoundaryReached(Boundary::UserKick));
    }
    value(&view)
}

/// Faults of files, and what is odd about tickets.
pub fn doctor(host: &Host, fixed: Vec<String>) -> Result<Value, Failure> {
    let engine = host.engine();
    let mut findings: Vec<FindingView> = engine
        .backlog()
        .faults()
        .into_iter()
        .map(|fault| {
            let Diagnostic { line, column, message } = fault.error;
            FindingView::new("error", fault.path.display(), message).at(line, column)
        })
        .collect();
    let mut count = 0;
    for ticket in engine.backlog().tickets() {
        count += 1;
        findings.extend(ticket.problems.iter().map(|p| remark(ticket, p.message.clone()).at(p.line, p.column)));
        let mut odd = remarks(ticket, engine.backlog(), host.now());
        odd.extend(on_claim(&engine.row(ticket, host.now()), host.now()));
        findings.extend(odd.into_iter().map(|message| remark(ticket, message)));
    }
    findings.extend(present::lost_claims(host));
    let of_folder = host.ports().tickets.trouble();
    findings.extend(of_folder.map(|message| FindingView::new("error", TICKET_FOLDER, message)));
    findings.extend(
        host.obstruction()
            .map(|o| FindingView::new("remark", "git", format!("{}: finish it, yoi waits meanwhile", o.what))),
    );
    let plain = maybe_tickets(host.ports().tickets.without_frontmatter());
    let on_plain = on_plain_files(&plain).into_iter();
    findings.extend(on_plain.map(|(path, message)| FindingView::new("remark", path.display(), message)));
    let tickets = if count == 1 { "ticket" } else { "tickets" };
    value(&DoctorView { version: VERSION, well: vec![format!("{count} {tickets} read")], findings, fixed })
}

fn remark(ticket: &Ticket, message: String) -> FindingView {
    FindingView::new("remark", ticket.path.display(), message)
}

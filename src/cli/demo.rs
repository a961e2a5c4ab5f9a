//! `yoi demo`: the main job, running, on a copy of the example workspace.

mod example;
mod stage;
mod timeline;

use std::process::ExitCode;

use clap::Args;

use super::terminal::Colour;
use super::{Outcome, context::Context, output};
use crate::api::failure::Failure;
use crate::api::request::{ListRequest, Request};
use crate::api::view::{EventView, ListView, WorkSetView};
use crate::app::App;
use stage::Stage;
use timeline::Timeline;

/// See it work in ten seconds: a real daemon on an example backlog
#[derive(Args)]
pub struct Arguments {
    /// Leave the daemon running, to play with
    #[arg(long)]
    keep: bool,
}

/// What a stranger has to know to follow the story.
const WORDS: &str = "\
A daemon watches a folder of tickets; a scripted Orchestrator decides, scripted coders work. The words:
  kick   yoi wakes the Orchestrator with a list of what it has to decide; a kick starts nothing
  at     the moment that made yoi consider a kick: queued, gate cleared, idle, delegate finished, ...
  turn   one run of the Orchestrator's command
  Pod    an agent at work on a ticket: here a script that takes a second
  gate   what keeps a queued ticket from starting: dependency, conflict, dirty workspace, capacity, human
  class  new_queued: nobody has taken note of it; planned_queued: noted, and waiting for its turn;
         active_inprogress: a Pod is at work on it; actionable_inprogress: somebody has to see to it
";

/// Plays it.
pub fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let stage = Stage::set(context)?;
    output::print(&format!("{WORDS}\nThe example lies in {}.\n", stage.repository.display()))?;
    let mut timeline = Timeline::new();
    let outcome = play(&stage, &mut timeline);
    if !arguments.keep || outcome.is_err() {
        stage.yoi(&["down", "--pods"])?;
    }
    outcome?;
    let folder = stage.repository.display();
    output::print(&format!("\nThe folder stays: {folder}"))?;
    if arguments.keep {
        output::print(&try_it(&stage))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// For a shell in which this program may have another name, or none.
fn try_it(stage: &Stage) -> String {
    let lines = [
        ("cd", stage.repository.display().to_string()),
        ("export", format!("PATH={}:$PATH  # this very yoi", stage.bin().display())),
        (
            "export",
            format!("XDG_STATE_HOME={}  # where the demo's trust is kept", stage.folder.join("state").display()),
        ),
        ("yoi", "status".to_owned()),
        ("yoi", "list --all".to_owned()),
        ("yoi", "new \"Try it\" --state queued  # the scripted Orchestrator starts it".to_owned()),
        ("yoi", "events --follow  # what happens; Ctrl-C ends it".to_owned()),
        ("yoi", "why try-it".to_owned()),
        ("yoi", "down  # at the end".to_owned()),
    ];
    let lines = lines.map(|(program, rest)| format!("\n  {program} {rest}"));
    format!("The daemon runs on, on this folder. Try:{}", lines.concat())
}

fn is(kind: &'static str, ticket: &'static str) -> impl Fn(&EventView) -> bool {
    move |event| event.kind == kind && (ticket.is_empty() || event.ticket.as_deref() == Some(ticket))
}

fn suppressed(why: &'static str) -> impl Fn(&EventView) -> bool {
    move |event| event.kind == "KICK_SUPPRESSED" && event.data.get("why").and_then(|v| v.as_str()) == Some(why)
}

fn play(stage: &Stage, timeline: &mut Timeline) -> Result<(), Failure> {
    let app = stage.app()?;
    first_turn(stage, timeline, &app)?;
    queue_while_active(stage, timeline, &app)?;
    restart(stage, timeline, &app)?;
    drain(timeline, &app)?;
    human_gate(stage, timeline, &app)?;
    output::print("")?;
    timeline.say("demo", "what became of it:")?;
    list(&app)
}

/// The daemon finds a backlog: one ticket to be routed, three queued. The Orchestrator takes note of all.
fn first_turn(stage: &Stage, timeline: &mut Timeline, app: &App) -> Result<(), Failure> {
    timeline.say("demo", "the backlog at first:")?;
    list(app)?;
    timeline.say("you", "yoi up")?;
    stage.yoi(&["up"])?;
    timeline.until(app, 0, "the first turn", is("TURN_ENDED", ""))?;
    timeline.until(app, 0, "the idle boundary", is("KICK_SUPPRESSED", ""))?;
    work_set(timeline, app)?;
    timeline.say("demo", "the classes now:")?;
    list(app)
}

/// While a Pod works, queueing kicks nobody; when it has finished, the next is presented.
fn queue_while_active(stage: &Stage, timeline: &mut Timeline, app: &App) -> Result<(), Failure> {
    let from = timeline.events.len();
    timeline.say("you", "set `state: queued` in tickets/db-migration.md, in an editor")?;
    stage.save("tickets/db-migration.md", |text| text.replace("state: ready", "state: queued"))?;
    timeline.until(app, from, "the entry into the queue", is("ISSUE_APPROVED", "db-migration"))?;
    timeline.until(app, from, "the suppressed kick", suppressed("active_inprogress"))?;
    list_class(timeline, app, "new_queued")?;
    timeline.until(app, from, "the Pod's end", is("ISSUE_DONE", "safari-crash"))?;
    timeline.until(app, from, "the next acceptance", is("AGENT_STARTED", "db-migration"))?;
    timeline.until(app, from, "the turn's end", is("TURN_ENDED", ""))?;
    work_set(timeline, app)
}

/// A daemon that was away finds the queue again, and stamps what was queued meanwhile; the Pod goes on.
fn restart(stage: &Stage, timeline: &mut Timeline, app: &App) -> Result<(), Failure> {
    let from = timeline.events.len();
    timeline.say("you", "yoi down")?;
    stage.yoi(&["down"])?;
    timeline.say("you", "queue tickets/search-index/item.md in an editor, while no daemon runs")?;
    stage.save("tickets/search-index/item.md", |text| text.replace("state: planning", "state: queued"))?;
    timeline.say("you", "yoi up")?;
    stage.yoi(&["up"])?;
    timeline.until(app, from, "the queue's rediscovery", is("ISSUE_APPROVED", "search-index"))?;
    timeline.until(app, from, "the turn after the restart", is("TURN_ENDED", ""))
}

/// Everything that no person holds gets done, in the order that the gates allow.
fn drain(timeline: &mut Timeline, app: &App) -> Result<(), Failure> {
    for ticket in ["db-migration", "login-form", "api-cleanup", "search-index"] {
        timeline.until(app, 0, &format!("{ticket} to be done"), is("ISSUE_DONE", ticket))?;
    }
    timeline.until(app, 0, "rest", suppressed("nothing_startable"))
}

/// A person clears the human gate.
fn human_gate(stage: &Stage, timeline: &mut Timeline, app: &App) -> Result<(), Failure> {
    let from = timeline.events.len();
    timeline.say("you", "take `human_gate` out of tickets/pricing-page.md, in an editor")?;
    stage.save("tickets/pricing-page.md", |text| text.replace("human_gate: \"needs design sign-off\"\n", ""))?;
    timeline.until(app, from, "pricing-page to be done", is("ISSUE_DONE", "pricing-page"))?;
    timeline.until(app, from, "rest", suppressed("nothing_queued"))
}

fn rows(app: &App, request: ListRequest) -> Result<ListView, Failure> {
    output::view(app.call(&Request::List(request))?)
}

fn list(app: &App) -> Result<(), Failure> {
    let view = rows(app, ListRequest { all: true, ..ListRequest::default() })?;
    let rows: Vec<_> = view
        .tickets
        .iter()
        .map(|ticket| {
            let class = ticket.class.clone().unwrap_or_else(|| "-".into());
            let waiting = ticket.waiting.as_ref().map(|w| format!("waits: {}", w.kind));
            let held = ticket.gates.first().map(|gate| format!("held: {}", gate.evidence));
            let why = waiting.or(held).or_else(|| ticket.evidence.first().cloned()).unwrap_or_default();
            [String::from("              "), ticket.id.clone(), ticket.state.clone().unwrap_or_default(), class, why]
        })
        .collect();
    let states: Vec<_> =
        rows.iter().map(|row| [output::state_colour(&row[2]), output::state_colour(&row[3])]).collect();
    output::table(&rows, |row, column| match column {
        2 | 3 => states[row][column - 2],
        4 => Colour::Dim,
        _ => Colour::Plain,
    })
}

fn list_class(timeline: &Timeline, app: &App, class: &str) -> Result<(), Failure> {
    let view = rows(app, ListRequest { class: Some(class.into()), ..ListRequest::default() })?;
    let ids: Vec<_> = view.tickets.into_iter().map(|ticket| ticket.id).collect();
    timeline.say("demo", &format!("{class}: {}", ids.join(", ")))
}

/// What the session has noted: it is in the daemon's memory alone.
fn work_set(timeline: &Timeline, app: &App) -> Result<(), Failure> {
    let view: WorkSetView = output::view(app.call_daemon(&Request::WorkSet)?)?;
    for ticket in &view.entries {
        let waits = ticket.waiting.as_ref().map(|w| format!("waits ({}): {}", w.kind, w.detail));
        let order = ticket.order.map(|n| format!("number {n}"));
        let note = waits.or(order).unwrap_or_else(|| "noted".into());
        let class = ticket.class.as_deref().unwrap_or("-");
        timeline.say("work set", &format!("{} ({class}): {note}", ticket.id))?;
    }
    Ok(())
}

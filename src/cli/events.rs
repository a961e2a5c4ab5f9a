//! `yoi events`.

use std::process::ExitCode;

use clap::Args;
use serde_json::Value;

use super::terminal::{self, Colour};
use super::{Outcome, context::Context, output};
use crate::api::failure::Failure;
use crate::api::view::EventView;
use crate::app::App;
use crate::domain::ticket::TicketId;
use crate::ports::Query;
use crate::text::{duration, timestamp};

/// Print the workspace's history; --follow: as it happens
#[derive(Args)]
pub struct Arguments {
    /// Go on printing what happens (needs the daemon)
    #[arg(long, short)]
    follow: bool,
    /// Only this ticket's
    #[arg(long, value_name = "ID")]
    ticket: Option<String>,
    /// Only from then on: a time (2026-11-30T09:00:00Z) or how long ago (90m, 24h)
    #[arg(long, value_name = "T")]
    since: Option<String>,
    /// Only the newest N
    #[arg(long, short = 'n', value_name = "N")]
    newest: Option<usize>,
    /// Print JSON, one object a line
    #[arg(long)]
    json: bool,
}

/// Prints.
pub fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let app = context.open_as_it_is()?;
    let since = arguments.since.as_deref().map(|text| moment(text, app.now())).transpose()?;
    let ticket = arguments.ticket.clone();
    let query =
        Query { ticket: ticket.clone().map(TicketId::new), since, newest: arguments.newest, ..Query::default() };
    // Asked for before the history is read: what happens in between must not fall out of both.
    let mut last = app.newest_event()?;
    let events = app.events(&query)?;
    if events.is_empty() && !arguments.json && !arguments.follow {
        output::aside("(nothing of the kind has happened yet)");
    }
    for event in &events {
        last = last.max(event.seq);
        if !print(event, arguments.json)? {
            return Ok(ExitCode::SUCCESS);
        }
    }
    if arguments.follow {
        follow(&app, last, arguments)?;
    } else if !arguments.json && !app.daemon_is_running() {
        output::aside("(the daemon is not running)");
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints on, until nobody reads any more or the daemon ends.
fn follow(app: &App, last: i64, arguments: &Arguments) -> Result<(), Failure> {
    let mut going = Ok(true);
    app.follow(last, arguments.ticket.as_deref(), |line| {
        going = serde_json::from_str::<EventView>(line)
            .map_err(|error| Failure::failed(format!("the daemon sent no event: {error}")))
            .and_then(|event| print(&event, arguments.json));
        matches!(going, Ok(true))
    })?;
    if going? {
        output::aside("(the daemon has ended)");
    }
    Ok(())
}

fn moment(text: &str, now: crate::domain::ticket::Timestamp) -> Result<crate::domain::ticket::Timestamp, Failure> {
    if let Ok(span) = duration::parse(text) {
        return Ok(now - span);
    }
    match timestamp::read(text) {
        timestamp::Reading::Exact(at) | timestamp::Reading::Odd(at) => Ok(at),
        timestamp::Reading::Unreadable => Err(Failure::usage(format!("--since {text}: neither a time nor a duration"))
            .hint("write 2026-11-30T09:00:00Z, or 90m for the last 90 minutes")),
    }
}

/// False where nobody reads any more.
fn print(event: &EventView, json: bool) -> Result<bool, Failure> {
    if json {
        return output::offer(&output::json_line(event));
    }
    let ticket = event.ticket.as_ref().map(|id| format!(" {id}")).unwrap_or_default();
    let data = match &event.data {
        Value::Object(map) => {
            let pairs = map.iter().filter(|(_, v)| !is_empty(v)).map(|(k, v)| format!("{k}={}", plain(v)));
            pairs.collect::<Vec<_>>().join(" ")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let colour = match event.kind.as_str() {
        "KICK_SENT" => Colour::Green,
        "KICK_SUPPRESSED" => Colour::Dim,
        "ALERT" => Colour::Red,
        _ => Colour::Plain,
    };
    let kind = terminal::paint(colour, &output::harmless(&event.kind));
    let rest = output::harmless(&format!("{ticket} {data}"));
    output::offer(&format!("{:>5} {} {kind}{}\n", event.seq, event.at, rest.trim_end()))
}

/// What says nothing to a person; `--json` has it.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) if !text.contains(' ') && !text.is_empty() => text.clone(),
        other => other.to_string(),
    }
}

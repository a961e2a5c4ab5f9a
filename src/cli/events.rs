//! `yoi events`.

use std::process::ExitCode;

use clap::Args;
use serde_json::Value;

use super::{Outcome, context::Context, output};
use crate::api::failure::Failure;
use crate::api::view::EventView;
use crate::domain::ticket::TicketId;
use crate::ports::Query;
use crate::text::{duration, timestamp};

/// Print the workspace's history
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
    let app = context.open()?;
    let since = arguments.since.as_deref().map(|text| moment(text, app.now())).transpose()?;
    let ticket = arguments.ticket.clone();
    let query =
        Query { after: None, ticket: ticket.clone().map(TicketId::new), since, newest: arguments.newest, oldest: None };
    // Before the events are read: what comes between the two is then printed, and not left out of what follows.
    let mut last = app.newest_event()?;
    let events = app.events(&query)?;
    for event in &events {
        last = last.max(event.seq);
        print(event, arguments.json)?;
    }
    if arguments.follow {
        let mut failed = None;
        app.follow(last, ticket.as_deref(), |line| {
            let printed = serde_json::from_str::<EventView>(line)
                .map_err(|error| Failure::failed(format!("the daemon sent no event: {error}")))
                .and_then(|event| print(&event, arguments.json));
            failed = printed.err();
            failed.is_none()
        })?;
        if let Some(failure) = failed {
            return Err(failure);
        }
    } else if !arguments.json && !app.daemon_is_running() {
        eprintln!("(the daemon is not running)");
    }
    Ok(ExitCode::SUCCESS)
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

fn print(event: &EventView, json: bool) -> Result<(), Failure> {
    if json {
        return output::verbatim(&output::json_line(event));
    }
    let ticket = event.ticket.as_ref().map(|id| format!(" {id}")).unwrap_or_default();
    let data = match &event.data {
        Value::Object(map) => {
            let pairs = map.iter().filter(|(_, v)| !v.is_null()).map(|(k, v)| format!("{k}={}", plain(v)));
            pairs.collect::<Vec<_>>().join(" ")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    };
    output::print(&output::harmless(&format!("{:>5} {} {}{ticket} {data}", event.seq, event.at, event.kind)))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) if !text.contains(' ') && !text.is_empty() => text.clone(),
        other => other.to_string(),
    }
}

//! Tells the workspace's history as it happens: one readable line an event, with the seconds since the start.
//!
//! Must not know: the story; any rule.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::api::failure::Failure;
use crate::api::view::EventView;
use crate::app::App;
use crate::cli::output;
use crate::cli::terminal::{self, Colour};
use crate::ports::Query;

/// How often the history is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// What has been told so far.
pub struct Timeline {
    started: Instant,
    told: i64,
    /// Everything told, for waiting on.
    pub events: Vec<EventView>,
}

impl Timeline {
    /// Nothing told yet.
    pub fn new() -> Self {
        Self { started: Instant::now(), told: 0, events: Vec::new() }
    }

    /// A line of somebody's.
    pub fn say(&self, who: &str, what: &str) -> Result<(), Failure> {
        let seconds = self.started.elapsed().as_secs_f64();
        let colour = match (who, what.starts_with("KICK")) {
            ("you" | "demo", _) => Colour::Bold,
            ("orchestrator", _) => Colour::Cyan,
            (_, true) => Colour::Green,
            _ => Colour::Plain,
        };
        let who = terminal::paint(colour, &terminal::filled(&output::harmless(who), 13));
        output::print(&format!("{seconds:6.2} s  {who} {}", output::harmless(what)))
    }

    /// Tells what is new.
    pub fn catch_up(&mut self, app: &App) -> Result<(), Failure> {
        let query = Query { after: Some(self.told), ..Query::default() };
        for event in app.events(&query)? {
            self.told = event.seq;
            for (who, what) in sentences(&event, app) {
                self.say(&who, &what)?;
            }
            self.events.push(event);
        }
        Ok(())
    }

    /// Tells until something has been told after the first `from` events; fails when that takes too long.
    pub fn until(
        &mut self,
        app: &App,
        from: usize,
        what: &str,
        has_come: impl Fn(&EventView) -> bool,
    ) -> Result<(), Failure> {
        let end = Instant::now() + Duration::from_secs(15);
        loop {
            self.catch_up(app)?;
            if self.events[from..].iter().any(&has_come) {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(Failure::failed(format!("the demo waited 15 s for {what}, and it did not come")));
            }
            std::thread::sleep(LOOK);
        }
    }
}

fn text<'a>(data: &'a Value, key: &str) -> &'a str {
    data.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn words(data: &Value, key: &str) -> String {
    let list = data.get(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
}

/// An event in the words of a story.
fn sentences(event: &EventView, app: &App) -> Vec<(String, String)> {
    let data = &event.data;
    let ticket = event.ticket.as_deref().unwrap_or_default();
    let yoi = |what: String| vec![("yoi".to_owned(), what)];
    match event.kind.as_str() {
        "DAEMON_STARTED" => yoi(format!("the daemon starts; session {}", text(data, "session"))),
        "DAEMON_STOPPED" => yoi("the daemon stops".into()),
        "ISSUE_APPROVED" => yoi(format!("{ticket} is queued (by {})", text(data, "by"))),
        "ISSUE_ACCEPTED" => yoi(format!("{ticket} is accepted by {}: every gate let it pass", text(data, "by"))),
        "ISSUE_DONE" => yoi(format!("{ticket} is done (by {})", text(data, "by"))),
        "ISSUE_MOVED" => yoi(format!("{ticket}: {} -> {}", text(data, "from"), text(data, "to"))),
        "AGENT_STARTED" => yoi(format!("a {} Pod works on {ticket}: it is active_inprogress", text(data, "role"))),
        "AGENT_ENDED" => yoi(format!("the {} Pod of {ticket} has ended", text(data, "role"))),
        "KICK_SENT" => yoi(format!("KICK at {}: {}", words(data, "boundaries"), words(data, "items"))),
        "KICK_SUPPRESSED" => {
            yoi(format!("no kick at {}: {} ({})", words(data, "boundaries"), text(data, "detail"), text(data, "why")))
        }
        "TURN_ENDED" => turn(data, app),
        _ => Vec::new(),
    }
}

/// What the Orchestrator said in its turn, then that the turn is over.
fn turn(data: &Value, app: &App) -> Vec<(String, String)> {
    let log = app.log(Some(text(data, "kick")), None).ok().and_then(|path| std::fs::read_to_string(path).ok());
    let said = log.unwrap_or_default();
    let mut lines: Vec<_> = said.lines().map(|line| ("orchestrator".to_owned(), line.to_owned())).collect();
    let ran = data.get("ran_ms").and_then(Value::as_f64).unwrap_or_default() / 1000.0;
    let failed = data.get("failed").and_then(Value::as_str).map(|why| format!(", failed: {why}")).unwrap_or_default();
    lines.push(("yoi".into(), format!("its turn took {ran:.2} s{failed}; the Orchestrator is idle")));
    lines
}

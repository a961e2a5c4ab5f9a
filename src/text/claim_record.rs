//! One step of a claim's chain as a commit message, and back (DESIGN.md 6.2). The subject is for people who read
//! `git log`; the trailers, git's own form for such things, are what counts.
//!
//! Must not know: git's objects and refs, which step may follow which.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::str::FromStr;

use chrono::SecondsFormat;

use super::timestamp::{self, Reading};
use crate::domain::claim::{Step, StepKind};
use crate::domain::facts::{ProcessIdentity, TimeDeltaSeconds};
use crate::domain::ticket::{TicketId, Timestamp};

/// The most bytes of one value.
const MOST_BYTES: usize = 4096;
/// The most bytes of a message that is read.
const MOST_MESSAGE_BYTES: usize = 256 << 10;
/// The longest time that is written or read, in seconds: a thousand years, which can be added to any moment.
const LONGEST: i64 = 1000 * 366 * 24 * 60 * 60;

/// What all trailers begin with.
const PREFIX: &str = "Yoi-";

/// The message of the commit that is this step. An error is a sentence: the step has a value that no message can hold.
pub fn write(step: &Step) -> Result<String, String> {
    check_written(step)?;
    let at = shown(step.at);
    let (mark, sentence) = (mark(&step.kind), sentence(step));
    let rest = match &step.kind {
        StepKind::Claim => format!("ts={at} ttl-minutes={}", minutes(step.ttl)),
        StepKind::Heartbeat => format!("ts={at}"),
        StepKind::StaleBreak { prior } => format!("prior={} ts={at}", word(prior)),
        StepKind::Release { outcome } => format!("outcome={outcome} ts={at}"),
    };
    let mut text = format!("{mark} worker={} {rest}\n\n{sentence}\n\n", word(&step.worker));
    for (key, value) in trailers(step) {
        let _ = writeln!(text, "{PREFIX}{key}: {}", written(&value));
    }
    Ok(text)
}

/// The step of a commit's message. An error is a sentence that says what is wrong with it.
pub fn read(message: &str) -> Result<Step, String> {
    if message.len() > MOST_MESSAGE_BYTES {
        return Err(format!("its message is longer than {} KiB", MOST_MESSAGE_BYTES >> 10));
    }
    let trailers = Trailers::of(message)?;
    let kind = match trailers.required("Step")?.as_str() {
        "claim" => StepKind::Claim,
        "heartbeat" => StepKind::Heartbeat,
        "stale-break" => StepKind::StaleBreak { prior: trailers.required("Prior")? },
        "release" => StepKind::Release { outcome: trailers.parsed("Outcome")? },
        other => return Err(format!("its step is `{other}`, which this version of yoi does not know")),
    };
    let step = Step {
        ticket: TicketId::new(trailers.required("Ticket")?),
        kind,
        worker: trailers.required("Worker")?,
        role: trailers.required("Role")?,
        at: trailers.moment("At")?,
        ttl: TimeDeltaSeconds(trailers.parsed("TTL-Seconds")?),
        generation: trailers.parsed("Generation")?,
        nonce: trailers.required("Nonce")?,
        process: ProcessIdentity {
            host: trailers.required("Host")?,
            boot_id: trailers.required("Boot")?,
            pid: trailers.parsed("PID")?,
            started: trailers.parsed("Started")?,
        },
        session: trailers.optional("Session")?,
        awake: match trailers.optional("Awake-Seconds")? {
            Some(_) => Some(TimeDeltaSeconds(trailers.parsed("Awake-Seconds")?)),
            None => None,
        },
    };
    check(&step)?;
    Ok(step)
}

/// Refuses what would not come back as it was.
fn check_written(step: &Step) -> Result<(), String> {
    check(step)?;
    if !matches!(timestamp::read(&shown(step.at)), Reading::Exact(at) if at == step.at) {
        return Err(format!("its time {} is out of all bounds", step.at));
    }
    match trailers(step).into_iter().find(|(_, value)| value.len() > MOST_BYTES) {
        Some((key, value)) => Err(format!("its {key} has {} bytes; at most {MOST_BYTES} are kept", value.len())),
        None => Ok(()),
    }
}

/// Refuses what nobody could count with.
fn check(step: &Step) -> Result<(), String> {
    let in_range = |what: &str, seconds: i64| {
        let range = 0..=LONGEST;
        if range.contains(&seconds) { Ok(()) } else { Err(format!("its {what} of {seconds} s is out of all bounds")) }
    };
    in_range("TTL", step.ttl.0)?;
    in_range("awake time", step.awake.map_or(0, |awake| awake.0))?;
    if step.at.timestamp_subsec_nanos() == 0 { Ok(()) } else { Err("its time has fractions of a second".into()) }
}

/// All that a step says, in the order in which it is written.
fn trailers(step: &Step) -> Vec<(&'static str, String)> {
    let mut all = vec![("Step", kind_name(&step.kind).to_owned())];
    match &step.kind {
        StepKind::StaleBreak { prior } => all.push(("Prior", prior.clone())),
        StepKind::Release { outcome } => all.push(("Outcome", outcome.to_string())),
        StepKind::Claim | StepKind::Heartbeat => {}
    }
    all.extend([
        ("Ticket", step.ticket.to_string()),
        ("Worker", step.worker.clone()),
        ("Role", step.role.clone()),
        ("At", shown(step.at)),
        ("TTL-Seconds", step.ttl.0.to_string()),
        ("Generation", step.generation.to_string()),
        ("Nonce", step.nonce.clone()),
        ("Host", step.process.host.clone()),
        ("Boot", step.process.boot_id.clone()),
        ("PID", step.process.pid.to_string()),
        ("Started", step.process.started.to_string()),
    ]);
    all.extend(step.session.clone().map(|session| ("Session", session)));
    all.extend(step.awake.map(|awake| ("Awake-Seconds", awake.0.to_string())));
    all
}

fn kind_name(kind: &StepKind) -> &'static str {
    match kind {
        StepKind::Claim => "claim",
        StepKind::Heartbeat => "heartbeat",
        StepKind::StaleBreak { .. } => "stale-break",
        StepKind::Release { .. } => "release",
    }
}

fn mark(kind: &StepKind) -> &'static str {
    match kind {
        StepKind::Claim => "🔒 CLAIM",
        StepKind::Heartbeat => "🔒 HEARTBEAT",
        StepKind::StaleBreak { .. } => "🔓 STALE-BREAK",
        StepKind::Release { .. } => "🔓 RELEASE",
    }
}

/// The same for somebody who does not know the words.
fn sentence(step: &Step) -> String {
    let (worker, ticket) = (written(&step.worker), written(step.ticket.as_str()));
    match &step.kind {
        StepKind::Claim => format!("{worker} ({}) works on {ticket}.", written(&step.role)),
        StepKind::Heartbeat => format!("{worker} ({}) works on {ticket} still.", written(&step.role)),
        StepKind::StaleBreak { prior } => {
            format!("{} has not been heard of for too long: {worker} ends its claim of {ticket}.", written(prior))
        }
        StepKind::Release { outcome } => format!("{worker} gives up its claim of {ticket}: {outcome}."),
    }
}

/// Begun ones count.
fn minutes(ttl: TimeDeltaSeconds) -> i64 {
    (ttl.0 + 59) / 60
}

fn shown(at: Timestamp) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// A value on one line that comes back as it was: what a line cannot hold is encoded, and blanks at its ends, which git
/// trims. An empty one is a bare `%`.
fn written(value: &str) -> String {
    let last = value.len() - value.chars().next_back().map_or(0, char::len_utf8);
    encoded(value, |at, c| c.is_control() || (c.is_whitespace() && (c != ' ' || at == 0 || at == last)))
}

/// A value as one word without an `=`.
fn word(value: &str) -> String {
    encoded(value, |_, c| c.is_control() || c.is_whitespace() || c == '=')
}

fn encoded(value: &str, is_odd: impl Fn(usize, char) -> bool) -> String {
    let mut text = String::with_capacity(value.len());
    for (at, c) in value.char_indices() {
        if c == '%' || is_odd(at, c) {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(text, "%{byte:02X}");
            }
        } else {
            text.push(c);
        }
    }
    if text.is_empty() { "%".into() } else { text }
}

/// The value that was written so; None where nobody writes so.
fn decoded(text: &str) -> Option<String> {
    if text == "%" {
        return Some(String::new());
    }
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?);
            rest = after;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The trailers of a message that are ours.
struct Trailers<'m> {
    all: Vec<(&'m str, &'m str)>,
}

impl<'m> Trailers<'m> {
    /// Those of its last paragraph, as git has it.
    fn of(message: &'m str) -> Result<Self, String> {
        let message = message.trim_end();
        let (_, paragraph) = message.rsplit_once("\n\n").ok_or("its message has no trailers")?;
        let all: Vec<_> = paragraph.lines().filter_map(trailer).collect();
        if all.is_empty() { Err("its message has no trailers of yoi's".into()) } else { Ok(Self { all }) }
    }

    fn optional(&self, key: &str) -> Result<Option<String>, String> {
        let mut found = self.all.iter().filter(|(other, _)| other.eq_ignore_ascii_case(key)).map(|(_, value)| *value);
        let Some(value) = found.next() else { return Ok(None) };
        if found.next().is_some() {
            return Err(format!("its message has `{PREFIX}{key}` twice"));
        }
        let odd = || format!("its `{PREFIX}{key}` is `{value}`, which yoi never writes");
        decoded(value).filter(|_| !value.is_empty()).ok_or_else(odd).map(Some)
    }

    fn required(&self, key: &str) -> Result<String, String> {
        self.optional(key)?.ok_or_else(|| format!("its message has no `{PREFIX}{key}`"))
    }

    fn parsed<T: FromStr>(&self, key: &str) -> Result<T, String> {
        let value = self.required(key)?;
        value.parse().map_err(|_| format!("its `{PREFIX}{key}` is `{value}`, which this version of yoi cannot read"))
    }

    fn moment(&self, key: &str) -> Result<Timestamp, String> {
        let value = self.required(key)?;
        match timestamp::read(&value) {
            Reading::Exact(at) => Ok(at),
            _ => Err(format!("its `{PREFIX}{key}` is `{value}`, which is no time")),
        }
    }
}

/// Key and value of a line that is a trailer of ours.
fn trailer(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let (prefix, key) = key.split_at_checked(PREFIX.len())?;
    prefix.eq_ignore_ascii_case(PREFIX).then(|| (key.trim_end(), value.trim()))
}

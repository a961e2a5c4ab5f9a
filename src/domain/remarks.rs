//! What is odd about a ticket and no fault of its file: for `yoi doctor`. A person's edit is accepted as it is; this may
//! be remarked on it (DESIGN.md 2.4).
//!
//! Must not know: how it is shown.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use chrono::TimeDelta;

use super::backlog::Backlog;
use super::claim::{ClaimNews, conflict, reverted_hint, reverted_words};
use super::classify::clock;
use super::engine::Row;
use super::facts::Claim;
use super::gates::cycle;
use super::harmless::quoted;
use super::ticket::{State, Ticket, TicketId, Timestamp};

/// Clocks of machines that share a folder drift a little.
const DRIFT: TimeDelta = TimeDelta::minutes(2);

/// Files that lie in many a folder for people to read.
const FOR_READERS: [&str; 7] = ["readme", "index", "contributing", "changelog", "license", "agents", "claude"];
/// Of so many files without frontmatter each is named.
const NAMED: usize = 20;

/// Of the files without frontmatter in the ticket folder those that may have been meant as tickets.
pub fn maybe_tickets(plain: Vec<PathBuf>) -> Vec<PathBuf> {
    let for_readers = |path: &Path| {
        path.file_stem().is_some_and(|stem| FOR_READERS.iter().any(|name| stem.eq_ignore_ascii_case(name)))
    };
    plain.into_iter().filter(|path| !for_readers(path)).collect()
}

/// The remarks on them, each with its path; what goes beyond a screenful is a count on the last.
pub fn on_plain_files(maybe_tickets: &[PathBuf]) -> Vec<(&Path, String)> {
    let more = maybe_tickets.len().saturating_sub(NAMED);
    let named = maybe_tickets.iter().take(NAMED).enumerate().map(|(number, path)| {
        let mut what = String::from(
            "it has no frontmatter, so it is no ticket: begin it with keys between two lines `---`, or leave it if it is \
             meant to be none",
        );
        if more > 0 && number + 1 == NAMED {
            let _ = write!(what, " (and {more} more files like it)");
        }
        (path.as_path(), what)
    });
    named.collect()
}

/// The remarks on one ticket, a sentence each.
pub fn remarks(ticket: &Ticket, backlog: &Backlog, now: Timestamp) -> Vec<String> {
    let mut found = from_the_future(ticket, now);
    match ticket.state {
        Some(State::Inprogress) if !ticket.acceptance_recorded() => {
            found.push("it is inprogress without a recorded acceptance: `yoi accept` it, or move it back".into());
        }
        Some(State::Queued) if ticket.stamps.queued_at.is_none() => {
            found.push("it is queued without queued_at: its age is not known; re-queue it, or write queued_at".into());
        }
        Some(State::Done | State::Closed) => return found,
        _ => {}
    }
    let unknown = ticket.depends_on.iter().filter(|id| backlog.paths_of(id).next().is_none());
    found.extend(unknown.map(|id| format!("depends on {}, which is no ticket here", quoted(id.as_str()))));
    if let Some(circle) = cycle(ticket, backlog) {
        found.push(format!("the dependencies go in a circle: {}", circle.join(" -> ")));
    }
    found
}

/// The remarks on its claim, a sentence each.
pub fn on_claim(row: &Row<'_>, now: Timestamp) -> Vec<String> {
    let label = row.stale_label.map(|label| {
        let stale = row.claim.map(|(claim, _)| format!(" (that of {} is stale)", claim.worker)).unwrap_or_default();
        format!("its label `{label}` is stale: nobody holds a fresh claim of it{stale}")
    });
    let reverted = row.reverted.map(|ended| {
        let (what, hint) = (reverted_words(row.ticket, ended), reverted_hint(row.ticket));
        format!("it is {what}; {hint}")
    });
    let held = row.claim.filter(|(_, fresh)| *fresh).and_then(|(claim, _)| conflict(row.ticket, claim));
    let conflict = held.map(|(what, hint)| format!("it is {what}; {hint}"));
    label.into_iter().chain(reverted).chain(conflict).chain(ahead(row, now)).collect()
}

/// Claims of what is no ticket (any more), by id, a sentence each: no ticket's line shows them. What goes beyond a screenful is a
/// count on the last.
pub fn without_ticket(backlog: &Backlog, claims: &[ClaimNews], now: Timestamp) -> Vec<(TicketId, String)> {
    let held = claims.iter().filter_map(|news| Some((&news.ticket, news.stands.as_ref().ok()?)));
    let lost = held.filter(|(id, _)| backlog.paths_of(id).next().is_none());
    let more = lost.clone().count().saturating_sub(NAMED);
    let sentence = |(number, (id, claim)): (usize, (&TicketId, &Claim))| {
        let Claim { worker, role, .. } = claim;
        let until = clock(claim.expires());
        let held = if claim.fresh_for_others(now) {
            format!("held by {worker} ({role}) until {until}")
        } else {
            format!("last held by {worker} ({role}), stale since {until}")
        };
        let mut what = format!(
            "{held}, and no ticket has this id: was its file moved, renamed or deleted? `yoi release {id} --worker {worker} \
             --outcome abandoned` ends the claim"
        );
        if more > 0 && number + 1 == NAMED {
            let _ = write!(what, " (and {more} more claims like it)");
        }
        (id.clone(), what)
    };
    lost.take(NAMED).enumerate().map(sentence).collect()
}

/// A claim of a machine whose clock is ahead holds until that date.
fn ahead(row: &Row<'_>, now: Timestamp) -> Option<String> {
    let (claim, _) = row.claim.filter(|(claim, _)| claim.beat > now + DRIFT)?;
    let (id, Claim { worker, beat, .. }) = (&row.ticket.id, claim);
    Some(format!(
        "its claim was last renewed in the future ({}): a clock is wrong; `yoi release {id} --worker {worker} --outcome abandoned` \
         ends a claim that nobody works under",
        clock(*beat)
    ))
}

fn from_the_future(ticket: &Ticket, now: Timestamp) -> Vec<String> {
    let stamps = &ticket.stamps;
    let times = [
        ("created_at", stamps.created_at),
        ("updated_at", stamps.updated_at),
        ("queued_at", stamps.queued_at),
        ("accepted_at", stamps.accepted_at),
    ];
    let future = times.into_iter().filter_map(|(key, at)| Some((key, at.filter(|at| *at > now + DRIFT)?)));
    future
        .map(|(key, at)| format!("its {key} lies in the future ({}): correct it, or look at the clock", clock(at)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sample::{at, backlog, queued, with};

    #[test]
    fn what_is_for_readers_is_no_ticket_that_somebody_got_wrong() {
        let paths = ["t/README.md", "t/a/Index.md", "t/CLAUDE.md", "t/WEB-12.md", "t/readme-again.md", "t/fix.md"];
        let maybe = maybe_tickets(paths.map(PathBuf::from).to_vec());
        assert_eq!(maybe, ["t/WEB-12.md", "t/readme-again.md", "t/fix.md"].map(PathBuf::from));
        let many: Vec<_> = (0..25).map(|number| PathBuf::from(format!("{number}.md"))).collect();
        let said = on_plain_files(&many);
        assert_eq!((said.len(), said[19].1.ends_with("(and 5 more files like it)")), (20, true), "{said:?}");
        assert!(on_plain_files(&many[..20]).iter().all(|(_, what)| !what.contains("more files")));
    }

    #[test]
    fn times_in_the_future_are_remarked_on_and_small_drifts_are_not() {
        for (ahead, count) in [(-60, 0), (119, 0), (121, 1), (86_400 * 365, 1)] {
            let ticket = with(queued("a"), |t| t.stamps.queued_at = Some(at(ahead)));
            let found = remarks(&ticket, &backlog([ticket.clone()]), at(0));
            assert_eq!(found.len(), count, "{ahead}: {found:?}");
        }
    }
}

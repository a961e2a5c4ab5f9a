//! Which tickets are offered, in which order, and each reason against one.

use insta::assert_snapshot;

use super::*;
use crate::domain::backlog::{Backlog, Entry};
use crate::domain::claim::Outcome;
use crate::domain::facts::{Facts, Worktree};
use crate::domain::policy::Policy;
use crate::domain::sample::{accepted, at, claim, id, ids, pod, queued, texts, ticket, with};
use crate::domain::ticket::{Diagnostic, Priority};
use crate::domain::workset::Awaited;

const STALE: i64 = -(92 * 60);

struct Stall {
    tickets: Vec<Ticket>,
    policy: Policy,
    facts: Facts,
    work_set: WorkSet,
    seeker: Seeker,
}

fn stall(mode: Mode, tickets: impl IntoIterator<Item = Ticket>) -> Stall {
    Stall {
        tickets: tickets.into_iter().collect(),
        policy: Policy { mode, ..Policy::default() },
        facts: Facts::default(),
        work_set: WorkSet::new("s1"),
        seeker: Seeker::default(),
    }
}

impl Stall {
    fn offers(&self) -> Offers {
        let backlog = Backlog::of(self.tickets.iter().map(|t| (t.path.clone(), Entry::Ticket(t.clone()))));
        let ground = Ground { backlog: &backlog, facts: &self.facts, policy: &self.policy };
        offers(Market { ground, work_set: &self.work_set, now: at(0) }, &self.seeker)
    }

    /// The offered ids, then each other one with its reasons.
    fn shown(&self) -> String {
        let offers = self.offers();
        let offered: Vec<_> = offers.offered.iter().map(TicketId::as_str).collect();
        let held = offers.held.iter().map(|held| {
            let reasons: Vec<_> = held.reasons.iter().map(|(kind, why)| format!("{}: {why}", kind.as_str())).collect();
            format!("{} | {}", held.id, reasons.join(" | "))
        });
        std::iter::once(offered.join(" ")).chain(held).collect::<Vec<_>>().join("\n")
    }

    fn ended(mut self, ticket: &str, end: End, at_second: i64) -> Self {
        let ended = EndedClaim { worker: "lane-3".into(), end, at: at(at_second) };
        self.facts.ended_claims.insert(id(ticket), ended);
        self
    }
}

fn urgent(ticket: Ticket, priority: u8, since: i64) -> Ticket {
    with(ticket, |t| {
        t.priority = Priority::new(priority).unwrap();
        t.stamps.queued_at = Some(at(since));
        t.stamps.accepted_at = t.stamps.accepted_at.map(|_| at(since));
    })
}

#[test]
fn the_most_urgent_comes_first_then_the_oldest_then_by_id() {
    let tickets = || {
        [
            urgent(queued("d"), 2, -50),
            urgent(queued("c"), 2, -100),
            urgent(accepted("b"), 2, -100),
            urgent(queued("a"), 3, -900),
            urgent(queued("z"), 0, -1),
            with(queued("y"), |t| t.stamps.queued_at = None),
        ]
    };
    assert_eq!(stall(Mode::Pull, tickets()).shown(), "z b c d y a");
    assert_snapshot!(stall(Mode::Orchestrated, tickets()).shown(), @r"
    b
    z | not_accepted: queued: the Orchestrator has not accepted it
    c | not_accepted: queued: the Orchestrator has not accepted it
    d | not_accepted: queued: the Orchestrator has not accepted it
    y | not_accepted: queued: the Orchestrator has not accepted it
    a | not_accepted: queued: the Orchestrator has not accepted it
    ");
}

#[test]
fn each_reason_against_a_ticket_is_named() {
    let plain = |name: &str, change: fn(&mut Ticket)| with(queued(name), change);
    let mut stall = stall(
        Mode::Pull,
        [
            plain("a-dependency", |t| t.depends_on = ids(&["free", "nowhere"])),
            plain("b-label", |t| t.labels = texts(&["needs-human", "blocked"])),
            plain("c-orphan", |t| t.orphan_status = Some(OrphanStatus::NeedsHuman)),
            plain("d-pr", |t| t.pr = Some("https://example.org/7".into())),
            plain("e-claimed", |_| ()),
            plain("f-stale", |_| ()),
            plain("g-scope", |t| t.repo = Some("acme/web".into())),
            plain("h-scope", |t| t.repo = Some("acme/api".into())),
            plain("i-can", |t| t.requires = texts(&["rust"])),
            plain("j-cannot", |t| t.requires = texts(&["rust", "swift"])),
            with(accepted("k-pod"), |t| t.priority = Priority::new(4).unwrap()),
            accepted("l-awaited"),
            accepted("m-worktree"),
            with(accepted("n-by-hand"), |t| t.stamps.accepted_by = None),
            accepted("o-free"),
            with(accepted("p-human"), |t| t.human_gate = Some("ask bob".into())),
            plain("q-done", |t| t.title = "brought back".into()),
            with(ticket("r-no-state", State::Queued), |t| t.state = None),
            ticket("s-planning", State::Planning),
            queued("free"),
        ],
    )
    .ended("q-done", End::Released(Outcome::Done), -60)
    .ended("o-free", End::Released(Outcome::Blocked), -60);
    stall.seeker = Seeker { repos: texts(&["acme/api"]), can: texts(&["rust", "docs"]) };
    stall.facts.claims.insert(id("e-claimed"), claim("coder", 0));
    stall.facts.claims.insert(id("f-stale"), claim("coder", STALE));
    let of = |name: &str| pod(&format!("pod-{name}"), "reviewer", name);
    stall.facts.pods.insert(of("k-pod").id, of("k-pod"));
    let worktree = Worktree { path: "w".into(), live_process: Some(9) };
    stall.facts.worktrees.insert(id("m-worktree"), worktree);
    stall.work_set.entry(&id("l-awaited")).awaited = Some(Awaited { step: "merge".into(), due: at(60) });
    assert_snapshot!(stall.shown(), @r"
    f-stale free h-scope i-can o-free
    a-dependency | dependency: depends on `free`, which is queued | dependency: depends on `nowhere`, which is no ticket here
    b-label | human_gate: label `needs-human` | human_gate: label `blocked`
    c-orphan | needs_human: orphan_status: needs_human, a person decides
    d-pr | pull_request: its pull request is open: `https://example.org/7`
    e-claimed | claimed: held by lane-3 (coder) until 2026-11-30T10:32:00Z
    g-scope | scope: it belongs to `acme/web`, the worker to `acme/api`
    j-cannot | capability: it requires `swift`, which the worker cannot do
    l-awaited | under_way: step `merge` is awaited until 2026-11-30T09:01:00Z
    m-worktree | under_way: a live process works in its worktree (pid 9)
    n-by-hand | not_accepted: inprogress without a recorded acceptance: `yoi accept` records it
    p-human | human_gate: human_gate: `ask bob`
    q-done | reverted: reverted: lane-3 released its claim as done at 2026-11-30T08:59:00Z, and the file says queued
    k-pod | under_way: a live reviewer Pod works on it (pid 4711)
    r-no-state | fault: its state cannot be read
    ");
    assert_snapshot!(format!("{:?}", stall.offers().counts()), @r#"{"capability": 1, "claimed": 1, "dependency": 1, "fault": 1, "human_gate": 2, "needs_human": 1, "not_accepted": 1, "pull_request": 1, "reverted": 1, "scope": 1, "under_way": 3}"#);
}

#[test]
fn a_file_at_fault_is_named_with_its_place() {
    let error = Diagnostic { line: 3, column: 1, message: "a tab".into() };
    let unreadable = Entry::Unreadable { id: id("x"), path: "tickets/x.md".into(), error };
    let twin = with(queued("t"), |t| t.path = "tickets/other/t.md".into());
    let files = [queued("t"), twin].map(|t| (t.path.clone(), Entry::Ticket(t)));
    let backlog = Backlog::of(files.into_iter().chain([("tickets/x.md".into(), unreadable)]));
    let (facts, policy, work_set) = (Facts::default(), Policy::default(), WorkSet::new("s"));
    let ground = Ground { backlog: &backlog, facts: &facts, policy: &policy };
    let found = offers(Market { ground, work_set: &work_set, now: at(0) }, &Seeker::default());
    let lines: Vec<_> = found.held.iter().map(|held| format!("{}: {}", held.id, held.reasons[0].1)).collect();
    assert_snapshot!(lines.join("\n"), @r"
    t: tickets/other/t.md: the id `t` is also that of tickets/t.md; rename one of the files, neither is started
    t: tickets/t.md: the id `t` is also that of tickets/other/t.md; rename one of the files, neither is started
    x: tickets/x.md:3:1: a tab
    ");
    assert!(found.offered.is_empty());
}

#[test]
fn whoever_says_nothing_of_itself_is_offered_everything() {
    let tickets = || {
        [with(queued("a"), |t| {
            t.repo = Some("acme/web".into());
            t.requires = texts(&["rust"]);
        })]
    };
    assert_eq!(stall(Mode::Pull, tickets()).shown(), "a");
    let picky = Stall { seeker: Seeker { repos: texts(&["x"]), can: Vec::new() }, ..stall(Mode::Pull, tickets()) };
    assert!(picky.shown().contains("scope: it belongs to `acme/web`, the worker to `x`"), "{}", picky.shown());
}

/// `accepted` was accepted half an hour before now.
#[test]
fn in_orchestrated_mode_what_was_claimed_since_its_acceptance_waits_for_an_offer() {
    let check = |end: Option<(End, i64)>, beat: Option<i64>, offered: bool| {
        let mut stall = stall(Mode::Orchestrated, [accepted("a")]);
        if let Some((end, at)) = end {
            stall = stall.ended("a", end, at);
        }
        if let Some(beat) = beat {
            stall.facts.claims.insert(id("a"), claim("coder", beat));
        }
        assert_eq!(stall.offers().offered.len() == 1, offered, "{}", stall.shown());
    };
    let abandoned = End::Released(Outcome::Abandoned);
    check(None, None, true);
    check(Some((abandoned, -1799)), None, false);
    check(Some((abandoned, -1800)), None, false);
    check(Some((abandoned, -1801)), None, true);
    check(Some((End::Broken, -60)), None, false);
    check(None, Some(0), false);
    // Stale, and from before the acceptance.
    check(None, Some(STALE), true);
    let late = with(accepted("a"), |t| {
        t.stamps.queued_at = Some(at(STALE - 90));
        t.stamps.accepted_at = Some(at(STALE - 60));
    });
    let mut stall = stall(Mode::Orchestrated, [late]);
    stall.facts.claims.insert(id("a"), claim("coder", STALE));
    assert_snapshot!(stall.shown(), @r"a | claimed_before: the claim of lane-3 is stale; `yoi offer a` offers it again");
    let broken = self::stall(Mode::Orchestrated, [accepted("a"), accepted("b")])
        .ended("a", End::Broken, -60)
        .ended("b", abandoned, -60);
    assert_snapshot!(broken.shown(), @r"
    a | claimed_before: claimed since its acceptance: lane-3 was not heard of, and its claim was broken at 2026-11-30T08:59:00Z; `yoi offer a` offers it again
    b | claimed_before: claimed since its acceptance: lane-3 released it as abandoned at 2026-11-30T08:59:00Z; `yoi offer b` offers it again
    ");
}

#[test]
fn an_offer_renews_the_acceptance_and_is_later_than_the_claim() {
    let check = |ended: Option<i64>, expected: &str| {
        let changes = renewed(&accepted("a"), ended.map(at), "bob", at(0));
        assert_eq!(format!("{changes:?}"), expected);
    };
    check(None, "[]");
    check(Some(-1801), "[]");
    let set = |time: &str| {
        format!(r#"[Set("accepted_by", String("bob")), Set("accepted_at", String("2026-11-30T09:00:{time}Z"))]"#)
    };
    check(Some(-60), &set("00"));
    check(Some(0), &set("01"));
    let offerable = |ticket: &Ticket, mode| offerable(ticket, mode).map_err(|refusal| refusal.message);
    assert_eq!(offerable(&accepted("a"), Mode::Orchestrated), Ok(()));
    let waits = with(accepted("a"), |t| t.pr = Some("https://example.org/7".into()));
    let lines = [
        offerable(&accepted("a"), Mode::Pull),
        offerable(&queued("a"), Mode::Orchestrated),
        offerable(&waits, Mode::Orchestrated),
        offerable(&ticket("a", State::Done), Mode::Orchestrated),
    ];
    let lines: Vec<_> = lines.into_iter().map(Result::unwrap_err).collect();
    assert_snapshot!(lines.join("\n"), @r"
    in pull mode every ticket that nobody holds is offered to workers by itself
    `a` is queued: workers are offered what is accepted
    `a` waits for its pull request: `https://example.org/7`
    `a` is done: nothing is to be worked on
    ");
}

#[test]
fn a_ticket_whose_file_says_otherwise_than_its_last_claim_is_reverted() {
    use crate::domain::claim::{reverted, reverted_hint, reverted_words};
    let end =
        |outcome, at_second| EndedClaim { worker: "lane-3".into(), end: End::Released(outcome), at: at(at_second) };
    let check = |ticket: &Ticket, outcome, at_second, expected: bool| {
        let ended = end(outcome, at_second);
        assert_eq!(reverted(ticket, Some(&ended)).is_some(), expected, "{ticket:?} {ended:?}");
    };
    for ticket in [queued("a"), accepted("a")] {
        check(&ticket, Outcome::Done, 0, true);
        check(&ticket, Outcome::PrOpened, 0, true);
        check(&ticket, Outcome::Decomposed, 0, true);
        for none in [Outcome::Abandoned, Outcome::Blocked, Outcome::LostRace] {
            check(&ticket, none, 0, false);
        }
    }
    let with_pr = with(accepted("a"), |t| t.pr = Some("https://example.org/7".into()));
    let parent = with(queued("a"), |t| t.children = ids(&["b"]));
    check(&with_pr, Outcome::PrOpened, 0, false);
    check(&parent, Outcome::Decomposed, 0, false);
    // Queued, or accepted, since.
    check(&queued("a"), Outcome::Done, -3601, false);
    check(&queued("a"), Outcome::Done, -3600, false);
    check(&accepted("a"), Outcome::Done, -1800, false);
    check(&accepted("a"), Outcome::Done, -1799, true);
    for state in [State::Planning, State::Ready, State::Done, State::Closed] {
        check(&ticket("a", state), Outcome::Done, 0, false);
    }
    assert_eq!(reverted(&queued("a"), None), None);
    let ended = end(Outcome::PrOpened, 0);
    assert_snapshot!(format!("{}\n{}", reverted_words(&accepted("a"), &ended), reverted_hint(&accepted("a"))), @r"
    reverted: lane-3 released its claim as pr-opened at 2026-11-30T09:00:00Z, and the file says inprogress, without its pull request
    bring the newer text back (git has it, or another clone), or if it is to be worked on again: `yoi move a queued`
    ");
    assert_snapshot!(reverted_hint(&queued("a")), @r"bring the newer text back (git has it, or another clone), or if it is to be worked on again: `yoi move a ready`, then `yoi move a queued`");
    // What somebody queues in an editor still has the record of its acceptance.
    let by_hand = with(accepted("a"), |t| t.state = Some(State::Queued));
    check(&by_hand, Outcome::Done, 0, false);
}

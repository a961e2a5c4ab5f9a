//! Claims at the host: won, lost, fenced, given back, brought back.

use chrono::TimeDelta;
use insta::assert_snapshot;

use super::bench::Bench;
use crate::daemon::{ClaimRequest, Claimed, Holder, VerbError, claim, heartbeat, release};
use crate::domain::claim::{Challenge, Ending, Outcome, Step, StepKind};
use crate::domain::engine::Actor;
use crate::domain::facts::{ProcessIdentity, TimeDeltaSeconds};
use crate::domain::policy::{Mode, Policy};
use crate::domain::sample::{accepted, at, id, queued, with};
use crate::domain::ticket::{State, Ticket};
use crate::ports::{Claims, ClaimsError, Swapped};

/// Beyond its last beat, and the two minutes that others wait longer.
const STALE: i64 = 90 * 60 + 2 * 60;

pub(super) fn bench(mode: Mode, tickets: impl IntoIterator<Item = Ticket>) -> Bench {
    Bench::with(Policy { mode, ..Policy::default() }, tickets)
}

pub(super) fn request(ticket: &str, worker: &str) -> ClaimRequest {
    let process = ProcessIdentity { host: "h".into(), boot_id: "boot".into(), pid: 7, started: 1 };
    let (role, ttl) = ("coder".into(), TimeDeltaSeconds(90 * 60));
    let challenge = Challenge { worker: worker.into(), role, ttl, process, session: None };
    ClaimRequest { id: id(ticket), challenge, own: Vec::new(), by: "bob".into(), actor: Actor::Somebody("bob".into()) }
}

pub(super) fn take(bench: &mut Bench, ticket: &str, worker: &str) -> Result<Claimed, VerbError> {
    claim(&mut bench.host, &request(ticket, worker))
}

fn holder(ticket: &str, worker: &str) -> Holder {
    Holder { id: id(ticket), worker: worker.into(), generation: None }
}

pub(super) fn give_up(
    bench: &mut Bench,
    ticket: &str,
    worker: &str,
    outcome: Outcome,
    pr: Option<&str>,
) -> Result<(), VerbError> {
    let mode = bench.host.engine().policy().mode;
    let ending = Ending { outcome, pr: pr.map(str::to_owned), by: "bob".into(), mode, label: Some("claimed".into()) };
    let actor = Actor::Somebody("bob".into());
    release(&mut bench.host, &holder(ticket, worker), (ending, None), actor).map(drop)
}

/// What the chain of a ticket says, oldest first.
pub(super) fn chain(bench: &Bench, ticket: &str) -> String {
    let line = |step: Step| format!("{:?} {} {}", step.kind, step.worker, step.generation);
    bench.world.claims.steps(&id(ticket)).into_iter().map(line).collect::<Vec<_>>().join("\n")
}

pub(super) fn notes(bench: &Bench) -> String {
    bench.world.notes.lock().unwrap().join("\n")
}

pub(super) fn shown(bench: &Bench, ticket: &str) -> String {
    let ticket = bench.host.engine().backlog().get(&id(ticket)).unwrap();
    let class = bench.host.engine().row(ticket, bench.host.now()).class.map(|classified| classified.class);
    let state = ticket.state.unwrap();
    format!("{state} {class:?} {:?} by {:?}", ticket.labels, ticket.stamps.accepted_by)
}

pub(super) fn said(result: Result<impl Sized, VerbError>) -> String {
    match result {
        Ok(_) => "done".into(),
        Err(VerbError::Refused(refusal)) => format!("refused: {refusal} {:?}", refusal.evidence),
        Err(error) => format!("failed: {error}"),
    }
}

/// Another worker is faster.
pub(super) fn somebody_claims(claims: &dyn Claims, ticket: &str) {
    let process = ProcessIdentity { host: "h".into(), boot_id: "boot".into(), pid: 8, started: 1 };
    let step = Step {
        ticket: id(ticket),
        kind: StepKind::Claim,
        worker: "first".into(),
        role: "coder".into(),
        at: at(0),
        ttl: TimeDeltaSeconds(5400),
        generation: 1,
        nonce: "another".into(),
        process,
        session: None,
        awake: None,
    };
    assert!(matches!(claims.swap(&id(ticket), None, None, &[step]), Ok(Swapped::Moved(_))));
}

#[test]
fn in_pull_mode_a_claim_accepts_a_queued_ticket_and_its_end_puts_it_back() {
    let mut bench = bench(Mode::Pull, [queued("a")]);
    let won = take(&mut bench, "a", "w").unwrap();
    assert_eq!((won.tip.step.generation, won.broken.clone()), (1, None));
    assert_eq!(shown(&bench, "a"), r#"inprogress Some(ActiveInprogress) ["claimed"] by Some("w")"#);
    assert_snapshot!(said(take(&mut bench, "a", "v")), @"refused: lost-race: `a` is held by w (coder) until 2026-11-30T10:32:00Z []");
    heartbeat(&mut bench.host, &holder("a", "w")).unwrap();
    heartbeat(&mut bench.host, &holder("a", "w")).unwrap();
    give_up(&mut bench, "a", "w", Outcome::Abandoned, None).unwrap();
    assert_eq!(shown(&bench, "a"), "queued Some(NewQueued) [] by None");
    assert_snapshot!(chain(&bench, "a"), @"
    Claim w 1
    Release { outcome: Abandoned } w 1
    ");
    assert_snapshot!(notes(&bench), @r"
    2026-11-30T09:00:00Z STATE queued -> inprogress by bob: accepted with the claim of w
    2026-11-30T09:00:00Z CLAIM by w (coder, generation 1), respected until 2026-11-30T10:32:00Z without a beat; owner bob; branch yoi/a, worktree /no-such-folder/a; at the end the worktree stays for whoever comes next, but `yoi block` removes it if nothing in it would be lost, and `yoi close` asks what became of it
    2026-11-30T09:00:00Z RELEASE by w: abandoned; inprogress -> queued
    ");
    assert_eq!(take(&mut bench, "a", "v").unwrap().tip.step.generation, 2);
}

#[test]
fn in_orchestrated_mode_only_an_accepted_ticket_is_claimed() {
    let bare = with(accepted("c"), |t| t.stamps.accepted_by = None);
    let waits = with(accepted("d"), |t| t.pr = Some("https://example.org/7".into()));
    let mut bench = bench(Mode::Orchestrated, [queued("a"), accepted("b"), bare, waits]);
    let lines: Vec<_> = ["a", "b", "c", "d", "e"].map(|ticket| said(take(&mut bench, ticket, "w"))).into();
    assert_snapshot!(lines.join("\n"), @"
    refused: `a` is queued: in orchestrated mode only an accepted ticket is claimed []
    done
    refused: `c` is inprogress without a recorded acceptance []
    refused: `d` waits for its pull request: `https://example.org/7` []
    refused: there is no ticket `e` []
    ");
    assert_eq!(shown(&bench, "b"), r#"inprogress Some(ActiveInprogress) ["claimed"] by Some("orchestrator")"#);
    give_up(&mut bench, "b", "w", Outcome::Abandoned, None).unwrap();
    assert_eq!(shown(&bench, "b"), r#"inprogress Some(ActionableInprogress) [] by Some("orchestrator")"#);
    assert_eq!(chain(&bench, "a"), "", "nothing was moved for what was refused");
}

#[test]
fn a_gate_that_holds_gives_the_claim_back() {
    let conflicting = with(queued("a"), |t| t.depends_on = vec!["b".into()]);
    let mut bench = bench(Mode::Pull, [conflicting, queued("b")]);
    assert_snapshot!(said(take(&mut bench, "a", "w")), @r#"refused: `a` cannot start: a gate holds it ["dependency: depends on `b`, which is queued"]"#);
    assert_eq!(chain(&bench, "a"), "Claim w 1\nRelease { outcome: Abandoned } w 1");
    assert_eq!(shown(&bench, "a"), "queued Some(NewQueued) [] by None");
}

#[test]
fn how_a_claim_ends() {
    let mut bench = bench(Mode::Orchestrated, [accepted("a"), accepted("b"), accepted("c")]);
    for ticket in ["a", "b", "c"] {
        take(&mut bench, ticket, "w").unwrap();
    }
    let url = Some("https://example.org/7");
    let lines = [
        said(give_up(&mut bench, "a", "w", Outcome::PrOpened, None)),
        said(give_up(&mut bench, "a", "w", Outcome::PrOpened, Some("example"))),
        said(give_up(&mut bench, "a", "w", Outcome::Blocked, None)),
        said(give_up(&mut bench, "a", "w", Outcome::Decomposed, None)),
        said(give_up(&mut bench, "a", "w", Outcome::LostRace, None)),
        said(give_up(&mut bench, "a", "w", Outcome::Done, url)),
        said(give_up(&mut bench, "a", "w", Outcome::PrOpened, url)),
        said(take(&mut bench, "a", "v")),
        said(give_up(&mut bench, "b", "w", Outcome::Done, None)),
        said(heartbeat(&mut bench.host, &holder("b", "w"))),
        shown(&bench, "b"),
    ];
    assert_snapshot!(lines.join("\n"), @r#"
    refused: --outcome pr-opened needs --pr URL: the pull request supersedes the claim []
    refused: `example` is no address of a pull request []
    refused: a claim ends as blocked by `yoi block`, which asks for what belongs to it []
    refused: a claim ends as decomposed by `yoi decompose`, which asks for what belongs to it []
    refused: `lost-race` is what somebody is told who never had the claim []
    refused: --pr belongs to --outcome pr-opened, not to done []
    done
    refused: `a` waits for its pull request: `https://example.org/7` []
    done
    refused: `b` is held by nobody: w released it as done at 2026-11-30T09:00:00Z []
    done None [] by Some("orchestrator")
    "#);
}

#[test]
fn whoever_was_replaced_is_refused_by_every_verb() {
    let mut bench = bench(Mode::Orchestrated, [accepted("a")]);
    take(&mut bench, "a", "w").unwrap();
    bench.pass(STALE);
    assert_eq!(shown(&bench, "a"), r#"inprogress Some(ActionableInprogress) ["claimed"] by Some("orchestrator")"#);
    let won = take(&mut bench, "a", "v").unwrap();
    assert_eq!((won.broken.as_deref(), won.tip.step.generation), (Some("w"), 2));
    let lines = [
        said(heartbeat(&mut bench.host, &holder("a", "w"))),
        said(give_up(&mut bench, "a", "w", Outcome::Done, None)),
        said(heartbeat(&mut bench.host, &Holder { generation: Some(1), ..holder("a", "v") })),
        said(heartbeat(&mut bench.host, &Holder { generation: Some(2), ..holder("a", "v") })),
    ];
    assert_snapshot!(lines.join("\n"), @"
    refused: `a` is held by v (generation 2, last beat 2026-11-30T10:32:00Z), not by w []
    refused: `a` is held by v (generation 2, last beat 2026-11-30T10:32:00Z), not by w []
    refused: `a` is held by v (generation 2, last beat 2026-11-30T10:32:00Z), not by v (generation 1) []
    done
    ");
    assert_eq!(bench.state("a"), Some(State::Inprogress));
}

#[test]
fn a_late_beat_of_a_claim_that_nobody_has_broken_renews_it() {
    let mut bench = bench(Mode::Orchestrated, [accepted("a")]);
    take(&mut bench, "a", "w").unwrap();
    bench.pass(STALE + 60);
    heartbeat(&mut bench.host, &holder("a", "w")).unwrap();
    assert_eq!(shown(&bench, "a"), r#"inprogress Some(ActiveInprogress) ["claimed"] by Some("orchestrator")"#);
}

#[test]
fn in_pull_mode_a_ticket_whose_worker_is_gone_enters_the_queue_again() {
    let mut bench = bench(Mode::Pull, [queued("a")]);
    take(&mut bench, "a", "w").unwrap();
    bench.pass(STALE - 1);
    assert_eq!(bench.state("a"), Some(State::Inprogress));
    bench.pass(1);
    bench.until(|bench| bench.state("a") == Some(State::Queued));
    assert_eq!(shown(&bench, "a"), "queued Some(NewQueued) [] by None");
    assert_snapshot!(chain(&bench, "a"), @r#"
    Claim w 1
    StaleBreak { prior: "w" } yoi 1
    "#);
    assert_snapshot!(said(heartbeat(&mut bench.host, &holder("a", "w"))), @"refused: `a` is held by nobody: the claim of w went stale and was broken by yoi at 2026-11-30T10:32:00Z []");
    assert!(notes(&bench).contains("STALE-BREAK by yoi: w has not been heard of; inprogress -> queued"));
}

#[test]
fn a_machine_that_slept_breaks_no_claim() {
    for jump in [TimeDelta::hours(9), TimeDelta::hours(-9)] {
        let mut bench = bench(Mode::Pull, [queued("a")]);
        take(&mut bench, "a", "w").unwrap();
        bench.pass(60);
        *bench.world.now.lock().unwrap() += jump;
        bench.pass(60);
        assert_eq!(chain(&bench, "a"), "Claim w 1", "{jump}");
        let kind = bench.world.claims.steps(&id("a")).pop().unwrap().kind;
        assert_eq!((kind, bench.state("a")), (StepKind::Claim, Some(State::Inprogress)), "{jump}");
        assert!(shown(&bench, "a").contains("ActiveInprogress"), "{jump}");
    }
}

#[test]
fn whoever_comes_in_between_wins_and_is_named() {
    let mut bench = bench(Mode::Pull, [queued("a")]);
    bench.world.claims.before_next_swap(|claims| somebody_claims(claims, "a"));
    assert_snapshot!(said(take(&mut bench, "a", "w")), @"refused: lost-race: `a` is held by first (coder) until 2026-11-30T10:32:00Z []");
    assert_eq!(bench.state("a"), Some(State::Queued), "the winner's own business");
}

#[test]
fn what_fails_outside_is_no_lost_race() {
    let mut bench = bench(Mode::Pull, [queued("a")]);
    bench.world.claims.fail(Some(ClaimsError::Unreachable("no route to origin".into())));
    assert_eq!(
        said(take(&mut bench, "a", "w")),
        "failed: no route to origin; a worker's commands take `--local` then, for this machine alone"
    );
    bench.world.claims.fail(None);
    take(&mut bench, "a", "w").unwrap();
    bench.world.claims.lose_next_answer();
    let lost = said(give_up(&mut bench, "a", "w", Outcome::Done, None));
    assert!(lost.starts_with("failed: "), "{lost}");
    assert_eq!(bench.state("a"), Some(State::Inprogress), "without the fence nothing is written");
    give_up(&mut bench, "a", "w", Outcome::Done, None).unwrap();
}

/// The gate holds, and before the claim is given back another one has it, or nobody has.
#[test]
fn a_claim_that_is_somebody_elses_when_it_is_given_back_is_said() {
    let conflicting = with(queued("a"), |t| t.depends_on = vec!["b".into()]);
    let mut bench = bench(Mode::Pull, [conflicting, queued("b")]);
    bench.world.claims.before_next_swap(|claims| {
        claims.before_next_swap(|claims| {
            let tip = claims.read(&id("a")).unwrap().unwrap();
            let nonce = |nonce: &str| Step { nonce: nonce.into(), ..tip.step.clone() };
            let broken = Step { kind: StepKind::StaleBreak { prior: "w".into() }, worker: "v".into(), ..nonce("x") };
            let claim = Step { worker: "v".into(), generation: 2, ..nonce("y") };
            let swapped = claims.swap(&id("a"), Some(&tip.revision), Some(tip.base()), &[broken, claim]);
            assert!(matches!(swapped, Ok(Swapped::Moved(_))));
        });
    });
    assert_snapshot!(said(take(&mut bench, "a", "w")), @r#"refused: `a` cannot start: a gate holds it ["dependency: depends on `b`, which is queued", "nothing was left to give back: its claim is over: v has had the ticket since (generation 2)"]"#);
    assert_eq!(bench.host.engine().facts().claims.get(&id("a")).map(|claim| claim.worker.as_str()), Some("v"));
}

#[test]
fn a_beat_from_beside_does_not_keep_a_claim_from_being_given_back() {
    let conflicting = with(queued("a"), |t| t.depends_on = vec!["b".into()]);
    let mut bench = bench(Mode::Pull, [conflicting, queued("b")]);
    bench.world.claims.before_next_swap(|claims| {
        claims.before_next_swap(|claims| {
            let tip = claims.read(&id("a")).unwrap().unwrap();
            let beat = Step { kind: StepKind::Heartbeat, nonce: "x".into(), ..tip.step.clone() };
            let swapped = claims.swap(&id("a"), Some(&tip.revision), Some(tip.base()), &[beat]);
            assert!(matches!(swapped, Ok(Swapped::Moved(_))));
        });
    });
    assert!(said(take(&mut bench, "a", "w")).contains("a gate holds it"));
    assert_eq!(chain(&bench, "a"), "Claim w 1\nRelease { outcome: Abandoned } w 1");
}

#[test]
fn what_is_not_done_is_said_of_a_ticket_that_was_moved_under_its_claim() {
    let mut bench = bench(Mode::Pull, [queued("a")]);
    take(&mut bench, "a", "w").unwrap();
    let moved = with(bench.host.engine().backlog().get(&id("a")).unwrap().clone(), |t| t.state = Some(State::Planning));
    bench.save(moved);
    let ending = Ending { outcome: Outcome::Done, pr: None, by: "bob".into(), mode: Mode::Pull, label: None };
    let actor = Actor::Somebody("bob".into());
    let released = release(&mut bench.host, &holder("a", "w"), (ending, None), actor).unwrap();
    assert_snapshot!(released.remarks.join("\n"), @"`a` is planning, not done: somebody has moved it since it was claimed, and only what is inprogress becomes done; `yoi why a` says what comes next");
    assert_eq!(bench.state("a"), Some(State::Planning));
}

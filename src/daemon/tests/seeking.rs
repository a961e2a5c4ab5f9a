//! `next` and `offer` at the host: races that are lost, gates that hold after all, failures outside, and what is offered again.

use insta::assert_snapshot;

use super::bench::Bench;
use super::claims::{bench, chain, give_up, notes, request, said, shown, take};
use crate::daemon::{Next, Seeking, VerbError, next, offer};
use crate::domain::claim::{Outcome, Seeker};
use crate::domain::engine::Actor;
use crate::domain::policy::Mode;
use crate::domain::sample::{accepted, id, queued, texts, with};
use crate::domain::ticket::{Priority, State};
use crate::ports::ClaimsError;

/// Beyond a claim's last beat, and the two minutes that others wait longer.
const STALE: i64 = 90 * 60 + 2 * 60;

fn seek(bench: &mut Bench, worker: Option<&str>) -> Result<Next, VerbError> {
    let claims = worker.map(|worker| request("", worker));
    next(&mut bench.host, &Seeking { seeker: Seeker::default(), claims })
}

fn found(result: Result<Next, VerbError>) -> String {
    match result {
        Ok(Next::Free(ticket)) => format!("free: {}", ticket.id),
        Ok(Next::Won(claimed, remarks)) => {
            format!("won: {} {} {remarks:?}", claimed.ticket.id, claimed.tip.step.generation)
        }
        Ok(Next::Idle(offers, passed)) => format!("idle: {:?} {passed:?}", offers.counts()),
        Err(error) => said(Err::<(), _>(error)),
    }
}

fn offered(bench: &mut Bench, ticket: &str) -> String {
    match offer(&mut bench.host, &id(ticket), "alice", Actor::Somebody("alice".into())) {
        Ok(moved) => format!("done {:?}", moved.remarks),
        error => said(error),
    }
}

#[test]
fn the_queue_is_drained_in_order_and_then_a_worker_is_idle() {
    let urgent = with(queued("z"), |t| t.priority = Priority::new(0).unwrap());
    let waits = with(queued("c"), |t| t.depends_on = vec!["z".into()]);
    let mut bench = bench(Mode::Pull, [queued("a"), urgent, waits]);
    let lines: Vec<_> =
        [None, Some("w"), Some("w"), Some("w"), None].map(|worker| found(seek(&mut bench, worker))).into();
    assert_snapshot!(lines.join("\n"), @r#"
    free: z
    won: z 1 []
    won: a 1 []
    idle: {"claimed": 2, "dependency": 1} {}
    idle: {"claimed": 2, "dependency": 1} {}
    "#);
    assert_eq!(chain(&bench, "z"), "Claim w 1");
    assert_eq!(chain(&bench, "c"), "", "nothing is moved for what a gate is known to hold");
}

#[test]
fn who_is_beaten_to_one_ticket_is_given_the_next() {
    let mut bench = bench(Mode::Pull, [queued("a"), queued("b")]);
    bench.world.claims.before_next_swap(|claims| super::claims::somebody_claims(claims, "a"));
    assert_snapshot!(found(seek(&mut bench, Some("w"))), @r#"won: b 1 ["`a` was passed over: lost-race: `a` is held by first (coder) until 2026-11-30T10:32:00Z"]"#);
    assert_eq!((bench.state("a"), bench.state("b")), (Some(State::Queued), Some(State::Inprogress)));
}

#[test]
fn what_turns_out_to_be_held_by_a_gate_is_passed_over() {
    let alone = |name: &str| with(queued(name), |t| t.touches = texts(&["src"]));
    let mut bench = bench(Mode::Pull, [alone("a"), queued("b")]);
    // Saved by somebody, and not noticed yet.
    bench.save_unnoticed(with(queued("a"), |t| t.human_gate = Some("ask bob".into())));
    assert_snapshot!(found(seek(&mut bench, Some("w"))), @r#"won: b 1 ["`a` was passed over: `a` cannot start: a gate holds it: human_gate: human_gate: `ask bob`"]"#);
}

#[test]
fn what_fails_outside_is_no_idleness() {
    let mut bench = bench(Mode::Pull, [queued("a")]);
    bench.world.claims.fail(Some(ClaimsError::Unreachable("no route to origin".into())));
    for worker in [None, Some("w")] {
        assert_eq!(
            found(seek(&mut bench, worker)),
            "failed: no route to origin; a worker's commands take `--local` then, for this machine alone"
        );
    }
    bench.world.claims.fail(None);
    take(&mut bench, "a", "w").unwrap();
    bench.world.claims.fail(Some(ClaimsError::NoGit("there is no git here".into())));
    bench.save(queued("b"));
    assert_eq!(found(seek(&mut bench, Some("v"))), "failed: there is no git here");
    bench.world.claims.fail(None);
    assert_eq!(found(seek(&mut bench, None)), "free: b");
}

#[test]
fn a_stale_claim_is_broken_by_the_offer_and_its_worker_is_out() {
    let mut bench = bench(Mode::Orchestrated, [accepted("a")]);
    take(&mut bench, "a", "w").unwrap();
    bench.pass(STALE);
    assert_snapshot!(found(seek(&mut bench, Some("v"))), @r#"idle: {"claimed_before": 1} {}"#);
    assert_eq!(offered(&mut bench, "a"), "done []");
    assert_snapshot!(found(seek(&mut bench, Some("v"))), @r"won: a 2 []");
    assert_snapshot!(chain(&bench, "a"), @r#"
    Claim w 1
    StaleBreak { prior: "w" } yoi 1
    Claim v 2
    "#);
    assert!(said(give_up(&mut bench, "a", "w", Outcome::Done, None)).contains("not by w"));
}

#[test]
fn in_orchestrated_mode_each_acceptance_is_offered_once_and_again_by_an_offer() {
    let mut bench = bench(Mode::Orchestrated, [accepted("a"), queued("q")]);
    assert_eq!(
        offered(&mut bench, "a"),
        "done [\"it is offered to workers already: nobody has claimed it since it was accepted\"]"
    );
    assert_snapshot!(found(seek(&mut bench, Some("w"))), @r"won: a 1 []");
    assert_snapshot!(offered(&mut bench, "a"), @r"refused: `a` is held by w (coder) until 2026-11-30T10:32:00Z []");
    give_up(&mut bench, "a", "w", Outcome::Abandoned, None).unwrap();
    assert_snapshot!(found(seek(&mut bench, Some("v"))), @r#"idle: {"claimed_before": 1, "not_accepted": 1} {}"#);
    // In the same second as the release.
    assert_eq!(offered(&mut bench, "a"), "done []");
    assert!(shown(&bench, "a").ends_with(r#"by Some("alice")"#), "{}", shown(&bench, "a"));
    assert_snapshot!(found(seek(&mut bench, Some("v"))), @r"won: a 2 []");
    bench.pass(5);
    give_up(&mut bench, "a", "v", Outcome::Abandoned, None).unwrap();
    assert!(found(seek(&mut bench, None)).starts_with("idle"), "it was offered once");
    let lines = [offered(&mut bench, "q"), offered(&mut bench, "nowhere")];
    assert_snapshot!(lines.join("\n"), @r"
    refused: `q` is queued: workers are offered what is accepted []
    refused: there is no ticket `nowhere` []
    ");
    assert_snapshot!(notes(&bench), @r"
    2026-11-30T09:00:00Z CLAIM by w (coder, generation 1), respected until 2026-11-30T10:32:00Z without a beat; owner bob; branch yoi/a, worktree /no-such-folder/a; at the end the worktree stays for whoever comes next, but `yoi block` removes it if nothing in it would be lost, and `yoi close` asks what became of it
    2026-11-30T09:00:00Z RELEASE by w: abandoned
    2026-11-30T09:00:00Z OFFER by alice: offered to workers again
    2026-11-30T09:00:00Z CLAIM by v (coder, generation 2), respected until 2026-11-30T10:32:00Z without a beat; owner bob; branch yoi/a, worktree /no-such-folder/a; at the end the worktree stays for whoever comes next, but `yoi block` removes it if nothing in it would be lost, and `yoi close` asks what became of it
    2026-11-30T09:00:05Z RELEASE by v: abandoned
    ");
}

#[test]
fn in_pull_mode_nothing_needs_an_offer() {
    let mut bench = bench(Mode::Pull, [queued("a")]);
    assert_snapshot!(offered(&mut bench, "a"), @r"refused: in pull mode every ticket that nobody holds is offered to workers by itself []");
}

#[test]
fn what_was_done_and_came_back_is_offered_to_nobody() {
    let mut bench = bench(Mode::Pull, [queued("a")]);
    bench.pass(60);
    assert!(found(seek(&mut bench, Some("w"))).starts_with("won"));
    bench.pass(60);
    give_up(&mut bench, "a", "w", Outcome::Done, None).unwrap();
    bench.save(queued("a"));
    assert_snapshot!(found(seek(&mut bench, Some("v"))), @r#"idle: {"reverted": 1} {}"#);
    assert_eq!(bench.state("a"), Some(State::Queued));
}

//! Every row of the tables of DESIGN.md 2.4.

use chrono::TimeDelta;
use serde_yaml::Value;

use super::*;
use crate::domain::sample::{accepted, at, queued, texts, ticket, with};
use crate::domain::ticket::{OrphanStatus, State, Ticket};
use State::{Closed, Done, Inprogress, Planning, Queued, Ready};

fn text(key: &str, value: &str) -> Change {
    Change::text(key, value)
}

fn unset(key: &str) -> Change {
    Change::Unset(key.into())
}

fn unlabel(label: &str) -> Change {
    Change::Remove("labels".into(), Value::String(label.into()))
}

fn needy(id: &str) -> Ticket {
    with(queued(id), |t| {
        t.labels = texts(&["orphan", "needs-human", "own"]);
        t.orphan_status = Some(OrphanStatus::NeedsHuman);
    })
}

/// What a move without force leads to.
#[track_caller]
fn check_move(ticket: &Ticket, to: State, expected: &[Change]) {
    assert_eq!(plan_move(ticket, to, "alice", at(0), false).as_deref(), Ok(expected), "{:?} -> {to}", ticket.state);
}

#[track_caller]
fn check_refused(ticket: &Ticket, to: State, names: &[&str]) {
    let refused = plan_move(ticket, to, "alice", at(0), false).expect_err("a refusal");
    let said = format!("{} / {}", refused.message, refused.hint.clone().unwrap_or_default());
    for name in names {
        assert!(said.contains(name), "`{name}` is missing in: {said}");
    }
    assert!(refused.hint.is_some());
}

#[test]
fn the_moves_of_the_lifecycle_and_no_others() {
    let moves = [
        (Planning, Ready),
        (Ready, Queued),
        (Queued, Inprogress),
        (Inprogress, Done),
        (Done, Closed),
        (Ready, Planning),
        (Queued, Ready),
        (Queued, Planning),
        (Inprogress, Queued),
        (Inprogress, Planning),
        (Done, Inprogress),
        (Closed, Planning),
    ];
    for from in State::ALL {
        for to in State::ALL {
            assert_eq!(allowed(from, to), moves.contains(&(from, to)), "{from} -> {to}");
        }
    }
}

#[test]
fn a_move_outside_the_lifecycle_is_refused_unless_forced() {
    for from in State::ALL {
        for to in State::ALL {
            let it = ticket("a", from);
            let plain = plan_move(&it, to, "alice", at(0), false);
            // Closing takes evidence and is `yoi close`.
            let is_accept = to == Inprogress;
            assert_eq!(plain.is_ok(), allowed(from, to) && to != Closed && !is_accept, "{from} -> {to}");
            let forced = plan_move(&it, to, "alice", at(0), true).unwrap();
            assert_eq!(forced.first(), Some(&text("state", to.as_str())), "{from} -> {to} by force");
        }
    }
}

#[test]
fn a_refusal_says_what_and_what_to_do() {
    check_refused(&ticket("a", Planning), Queued, &["`a` is planning", "queued", "goes to ready", "--force --reason"]);
    check_refused(&ticket("a", Inprogress), Ready, &["goes to planning or queued or done", "--force"]);
    check_refused(&ticket("a", Done), Closed, &["yoi close", "evidence"]);
    check_refused(&ticket("a", Queued), Queued, &["is queued already"]);
    let stateless = with(ticket("a", Queued), |t| t.state = None);
    check_refused(&stateless, Ready, &["no state that can be read", "tickets/a.md"]);
}

#[test]
fn a_plain_move_changes_the_state_alone() {
    check_move(&ticket("a", Planning), Ready, &[text("state", "ready")]);
    check_move(&queued("a"), Ready, &[text("state", "ready")]);
    check_move(&accepted("a"), Done, &[text("state", "done")]);
}

#[test]
fn entering_queued_stamps_and_clears_the_orphan_marks() {
    let stamps = [text("state", "queued"), text("queued_by", "alice"), text("queued_at", "2026-11-30T09:00:00Z")];
    check_move(&ticket("a", Ready), Queued, &stamps);
    let marked = with(needy("a"), |t| t.state = Some(Ready));
    let cleared = [unset("orphan_status"), unlabel("orphan"), unlabel("needs-human")];
    check_move(&marked, Queued, &[stamps.as_slice(), &cleared].concat());
    // From inprogress the former acceptance is no acceptance of the next round.
    let again = [unset("accepted_by"), unset("accepted_at")];
    check_move(&accepted("a"), Queued, &[stamps.as_slice(), &again].concat());
    // Forced, too.
    let forced = plan_move(&ticket("a", Done), Queued, "bob", at(0), true).unwrap();
    assert!(forced.contains(&text("queued_by", "bob")), "{forced:?}");
}

#[test]
fn requeueing_is_how_a_person_clears_needs_human() {
    let expected = [
        text("state", "queued"),
        text("queued_by", "alice"),
        text("queued_at", "2026-11-30T09:00:00Z"),
        unset("orphan_status"),
        unlabel("orphan"),
        unlabel("needs-human"),
    ];
    check_move(&needy("a"), Queued, &expected);
    // `agent-ready` is not put back.
    assert!(expected.iter().all(|change| !format!("{change:?}").contains("agent-ready")));
}

#[test]
fn updated_at_is_kept_true_and_not_introduced() {
    let it = with(ticket("a", Planning), |t| t.stamps.updated_at = Some(at(-99)));
    check_move(&it, Ready, &[text("state", "ready"), text("updated_at", "2026-11-30T09:00:00Z")]);
    assert_eq!(updated(&ticket("a", Planning), at(0)), None);
}

#[test]
fn an_acceptance_records_who_and_when() {
    let record = [text("accepted_by", "orchestrator"), text("accepted_at", "2026-11-30T09:00:00Z")];
    let state = [text("state", "inprogress")];
    assert_eq!(acceptance(&queued("a"), "orchestrator", at(0)), [state.as_slice(), &record].concat());
    // A bare `inprogress` is put on record.
    assert_eq!(acceptance(&ticket("a", Inprogress), "orchestrator", at(0)), record);
}

#[test]
fn only_a_record_of_this_round_is_proof_of_acceptance() {
    type Edit = fn(&mut Ticket);
    let cases: [(&str, Edit, bool); 6] = [
        ("both stamps", |_| {}, true),
        ("by hand: neither", |t| (t.stamps.accepted_by, t.stamps.accepted_at) = (None, None), false),
        ("who is missing", |t| t.stamps.accepted_by = None, false),
        ("when is missing", |t| t.stamps.accepted_at = None, false),
        ("queued again since", |t| t.stamps.queued_at = Some(at(-60)), false),
        ("never stamped as queued", |t| t.stamps.queued_at = None, true),
    ];
    for (name, edit, expected) in cases {
        assert_eq!(with(accepted("a"), edit).acceptance_recorded(), expected, "{name}");
    }
}

#[test]
fn an_entry_newer_than_its_stamp_is_unstamped() {
    let cases = [
        ("no stamp", None, true),
        ("stamped before", Some(-61), true),
        ("stamped by the mover", Some(-30), false),
        ("stamped in the second of the entry, which is cut off", Some(-60), false),
        ("stamped just now by a clock slightly ahead", Some(119), false),
        ("stamped in the future", Some(600), true),
    ];
    for (name, stamp, expected) in cases {
        let it = with(queued("a"), |t| t.stamps.queued_at = stamp.map(at));
        let since = at(-60) + TimeDelta::milliseconds(400);
        assert_eq!(entry_unstamped(&it, since, at(0)), expected, "{name}");
    }
}

#[test]
fn what_verbs_do_to_the_state() {
    use Mode::{Orchestrated as O, Pull as P};
    use Verb::*;
    let rows = [
        (Accept, O, Queued, Some(Inprogress)),
        (Accept, P, Queued, Some(Inprogress)),
        (Claim, O, Queued, None),
        (Claim, P, Queued, Some(Inprogress)),
        (Claim, O, Inprogress, Some(Inprogress)),
        (Claim, P, Inprogress, Some(Inprogress)),
        (ReleaseAbandoned, O, Inprogress, Some(Inprogress)),
        (ReleaseAbandoned, P, Inprogress, Some(Queued)),
        (ClaimStale, O, Inprogress, Some(Inprogress)),
        (ClaimStale, P, Inprogress, Some(Queued)),
        (ReleasePrOpened, O, Inprogress, Some(Inprogress)),
        (ReleasePrOpened, P, Inprogress, Some(Inprogress)),
        (ReleaseDone, O, Inprogress, Some(Done)),
        (ReleaseDone, P, Inprogress, Some(Done)),
        (Block, O, Inprogress, Some(Queued)),
        (Block, P, Inprogress, Some(Queued)),
        (Decompose, O, Inprogress, Some(Planning)),
        (Decompose, P, Inprogress, Some(Planning)),
        (Close, O, Inprogress, Some(Closed)),
        (Close, P, Done, Some(Closed)),
        (StartFailed, O, Inprogress, Some(Inprogress)),
        (StartFailed, P, Inprogress, Some(Inprogress)),
    ];
    for (verb, mode, from, expected) in rows {
        assert_eq!(state_after(verb, from, mode), expected, "{verb:?} of {from} in {mode:?}");
    }
    for from in [Planning, Ready, Done, Closed] {
        for mode in [O, P] {
            assert_eq!(state_after(Accept, from, mode), None, "accept of {from}");
            assert_eq!(state_after(Claim, from, mode), None, "claim of {from}");
        }
    }
}

/// The stamp is decided on the file as it is when it is written, not on what was known when it was wanted.
#[test]
fn a_stamp_is_for_an_entry_that_is_still_there_and_nobody_has_stamped() {
    let young = with(queued("t"), |t| t.stamps.queued_at = Some(at(5)));
    assert_eq!(queue_stamp(&young, "ed", at(0), false, at(10)), []);
    assert_eq!(queue_stamp(&young, "ed", at(0), true, at(10)).len(), 2, "a person took the mark off");
    assert_eq!(queue_stamp(&queued("t"), "ed", at(0), false, at(10)).len(), 2, "the stamp of a former entry");
    for state in [Planning, Ready, Inprogress, Done, Closed] {
        assert_eq!(queue_stamp(&ticket("t", state), "ed", at(0), true, at(10)), [], "{state}");
    }
}

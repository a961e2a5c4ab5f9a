//! When an item counts as seen, and what takes that off it (DESIGN.md 5).

use chrono::TimeDelta;

use super::super::{Actor, Orders, RecordKind, TurnOutcome};
use super::host::Host;
use super::scripts::lazy;
use crate::domain::kick::Boundary;
use crate::domain::policy::{KickPolicy, Policy};
use crate::domain::sample::{accepted, id, queued, texts, ticket, with};
use crate::domain::ticket::{OrphanStatus, Priority, State};
use crate::domain::workset::WaitKind;

/// These tickets were handed over once, in a turn that did nothing about them.
fn presented(tickets: impl IntoIterator<Item = crate::domain::ticket::Ticket>) -> Host {
    let mut host = Host::new(Policy::default(), tickets);
    host.run(3);
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(60);
    assert_eq!(host.kicks.len(), 1);
    assert_eq!(host.decisions(0).last().map(String::as_str), Some("already_presented"));
    host
}

fn seen(host: &Host) -> String {
    let list = host.engine.attention(true, host.now).items;
    list.iter().filter(|i| i.seen).map(|i| i.id.to_string()).collect::<Vec<_>>().join(" ")
}

/// What is still seen after a change, and whether the change led to a kick.
#[track_caller]
fn check(name: &str, expected: &str, kicked: bool, change: fn(&mut Host)) {
    let mut host = presented([queued("a"), queued("b")]);
    assert_eq!(seen(&host), "a b");
    change(&mut host);
    assert_eq!(seen(&host), expected, "{name}");
    host.run(60);
    assert_eq!(host.kicks.len() > 1, kicked, "{name}: {:?}", host.decisions(0));
}

#[test]
fn a_fruitless_turn_makes_seen_and_one_with_progress_does_not() {
    presented([queued("a"), queued("b")]);
    let mut host = Host::new(Policy::default(), [queued("a"), queued("b")]);
    host.plan("a");
    host.finish_turn(TurnOutcome::Succeeded);
    assert_eq!(seen(&host), "");
    host.run(1);
    assert_eq!(host.handed(0), ["a b", "b a"], "it is asked for the next step");
    let mut host = Host::new(Policy::default(), [queued("a")]);
    host.finish_turn(TurnOutcome::Failed("exit 1".into()));
    assert_eq!(seen(&host), "", "a failed turn leaves nothing seen");
}

#[test]
fn a_turn_with_progress_leaves_nothing_seen_at_all() {
    let mut host = presented([queued("a")]);
    host.add(queued("b"));
    assert_eq!(host.handed(1), ["b a"], "unseen first");
    host.order("b", Orders::Wait { kind: WaitKind::Other, detail: "later".into() }).unwrap();
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(1);
    assert_eq!(host.handed(2), ["a"], "it got somewhere: it is asked for the next step");
}

#[test]
fn changes_that_take_seen_off_one_item() {
    check("its text", "b", true, |h| h.reword("a"));
    check("its title", "b", true, |h| h.edit("a", |t| t.title = "new".into()));
    check("its priority", "b", true, |h| h.edit("a", |t| t.priority = Priority::new(0).unwrap()));
    check("a label of people's", "b", true, |h| h.edit("a", |t| t.labels = texts(&["urgent"])));
    check("by a request", "b", true, |h| h.write("a", Actor::Somebody("al".into()), |t| t.title = "new".into()));
    check("being taken into the work set", "b", true, |h| h.plan("a"));
    check("another ticket's change", "a b", false, |h| h.add(ticket("z", State::Planning)));
}

#[test]
fn yois_own_stamps_and_labels_are_no_change() {
    let stamps = |h: &mut Host, by: Actor| {
        h.write("a", by, |t| {
            t.stamps.queued_by = Some("x".into());
            t.stamps.updated_at = t.stamps.queued_at;
            t.labels = texts(&["orphan", "claimed"]);
            t.orphan_status = Some(OrphanStatus::Orphan);
        });
    };
    let mut host = presented([queued("a"), queued("b")]);
    stamps(&mut host, Actor::Daemon);
    assert_eq!(seen(&host), "a b");
    stamps(&mut host, Actor::Unknown);
    assert_eq!(seen(&host), "a b");
    host.run(600);
    assert_eq!(host.kicks.len(), 1);
}

#[test]
fn the_orchestrators_order_reason_and_wording_are_no_change() {
    let mut host = presented([queued("a")]);
    host.plan("a");
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(1);
    assert_eq!(seen(&host), "a", "planned, handed over again, and nothing came of it");
    host.order("a", Orders::Plan { order: Some(7) }).unwrap();
    assert_eq!(seen(&host), "a");
    host.order("a", Orders::Wait { kind: WaitKind::Other, detail: "words".into() }).unwrap();
    host.order("a", Orders::Wait { kind: WaitKind::Other, detail: "other words".into() }).unwrap();
    host.plan("a");
    assert_eq!(seen(&host), "a");
    host.run(600);
    assert_eq!(host.kicks.len(), 2);
}

#[test]
fn the_situation_as_a_whole_takes_seen_off_every_item() {
    type Change = fn(&mut Host);
    let cases: [(&str, Change); 4] = [
        ("a ticket leaves inprogress", |h| h.edit("w", |t| t.state = Some(State::Planning))),
        ("a Pod ends", |h| drop(h.delegate("w", "coder", 0))),
        ("a Pod on no ticket of ours ends", |h| drop(h.delegate("elsewhere", "coder", 0))),
        ("an awaited step is overdue", |h| {
            h.order("w", Orders::Await { step: "merge".into(), span: TimeDelta::seconds(30) }).unwrap();
        }),
    ];
    for (name, change) in cases {
        let mut host = presented([accepted("w"), queued("a"), queued("b")]);
        assert_eq!(seen(&host), "w a b");
        change(&mut host);
        host.run(31);
        assert_eq!(seen(&host), "", "{name}");
        let last = host.handed(1).pop().unwrap_or_default();
        assert!(last.ends_with("a b"), "{name}: {:?}", host.handed(0));
    }
}

#[test]
fn what_changes_during_a_turn_is_not_seen_by_it() {
    type Change = fn(&mut Host);
    let cases: [(&str, &str, Change); 4] = [
        ("nothing", "w a b", |_| {}),
        ("one item's text", "w b", |h| h.reword("a")),
        ("a ticket leaves inprogress", "", |h| h.edit("x", |t| t.state = Some(State::Planning))),
        ("a Pod on no ticket of ours ends", "", |h| drop(h.delegate("elsewhere", "coder", 0))),
    ];
    for (name, expected, change) in cases {
        let gated = with(accepted("x"), |t| t.human_gate = Some("sign-off".into()));
        let mut host = Host::new(Policy::default(), [accepted("w"), gated, queued("a"), queued("b")]);
        host.run(5);
        change(&mut host);
        host.run(5);
        host.finish_turn(TurnOutcome::Succeeded);
        assert_eq!(seen(&host), expected, "{name}");
    }
}

#[test]
fn the_end_of_any_pod_is_a_finished_delegate() {
    let mut host = presented([queued("a")]);
    host.delegate("elsewhere", "coder", 5);
    host.run(6);
    assert_eq!(host.kicks[1].1.causes, [Boundary::DelegateFinished]);
}

#[test]
fn needs_human_cleared_by_label_or_status_is_an_entry_and_new() {
    type Change = fn(&mut Host);
    let cases: [(&str, Change); 4] = [
        ("label", |h| h.edit("a", |t| t.labels.retain(|l| l != "needs-human"))),
        ("status", |h| h.edit("a", |t| t.orphan_status = None)),
        ("both", |h| {
            h.edit("a", |t| {
                t.labels.clear();
                t.orphan_status = None;
            });
        }),
        ("by a request", |h| h.write("a", Actor::Somebody("al".into()), |t| t.orphan_status = None)),
    ];
    for (name, change) in cases {
        let mut host = presented([queued("a")]);
        host.write("a", Actor::Daemon, |t| {
            t.labels = texts(&["needs-human", "orphan"]);
            t.orphan_status = Some(OrphanStatus::NeedsHuman);
        });
        host.run(10);
        assert_eq!((host.kicks.len(), host.stamped.len()), (1, 0), "{name}: yoi's own step");
        change(&mut host);
        let it = host.ticket("a");
        assert_eq!(host.stamped, [id("a")], "{name}");
        assert_eq!(
            (it.labels.clone(), it.orphan_status, it.stamps.queued_at),
            (vec![], None, Some(host.now)),
            "{name}"
        );
        host.run(60);
        assert_eq!(host.stamped.len(), 1, "{name}: stamped once");
        assert_eq!(host.handed(1), ["a"], "{name}: what a person decided is new");
    }
}

#[test]
fn a_human_gated_new_ticket_is_handed_over_once() {
    let gated = || with(queued("a"), |t| t.human_gate = Some("sign-off".into()));
    let mut host = Host::new(Policy::default(), [gated()]);
    host.finish_turn(TurnOutcome::Failed("not shown".into()));
    host.script = Some(lazy);
    host.run(60);
    assert_eq!(host.kicks.len(), 2, "a failed turn has shown nothing");
    for boundary in [Boundary::PanelOpen, Boundary::UserKick, Boundary::OrchestratorIdle] {
        host.boundary(boundary);
        host.run(60);
    }
    assert_eq!(host.kicks.len(), 2);
    host.edit("a", |t| t.human_gate = None);
    host.run(60);
    assert_eq!(host.kicks.len(), 3, "a person cleared it");
}

#[test]
fn a_gated_ticket_is_shown_although_its_entry_was_marked_needs_human() {
    let marked = with(ticket("a", State::Ready), |t| {
        (t.human_gate, t.labels) = (Some("sign-off".into()), texts(&["needs-human"]));
    });
    let mut host = Host::new(Policy::default(), [marked]);
    host.run(1);
    host.queue("a");
    host.run(1);
    assert_eq!(host.handed(0), ["a"], "the stamp of the entry has taken the label off");
}

#[test]
fn a_human_gate_taken_off_work_in_progress_is_news() {
    let gated = with(accepted("a"), |t| t.human_gate = Some("sign-off".into()));
    let mut host = Host::new(Policy::default(), [gated]);
    host.run(60);
    assert_eq!(host.kicks.len(), 0);
    host.edit("a", |t| t.human_gate = None);
    assert_eq!(host.handed(0), ["a"]);
    // So is a ticket that somebody moves to inprogress by hand.
    let mut host = Host::new(Policy::default(), [ticket("a", State::Planning)]);
    host.run(60);
    host.edit("a", |t| t.state = Some(State::Inprogress));
    assert_eq!(host.handed(0), ["a"]);
}

fn unmoved(host: &Host) -> Vec<String> {
    let alerts = host.records.iter().filter(|r| r.kind == RecordKind::Alert);
    alerts.filter(|r| r.data["what"].to_string().contains("60 minutes")).map(|r| r.data["items"].to_string()).collect()
}

#[test]
fn seen_work_that_does_not_move_for_60_minutes_is_in_the_inbox_with_one_alert() {
    let mut host = presented([queued("a"), queued("b")]);
    host.run(3600 - 60 - 1);
    assert!(unmoved(&host).is_empty());
    host.run(2);
    assert_eq!(unmoved(&host), [r#"["a","b"]"#]);
    assert_eq!(host.count(RecordKind::Inbox), 1);
    host.run(48 * 3600);
    assert_eq!(unmoved(&host).len(), 1);
    assert_eq!(host.kicks.len(), 1, "a clock is no boundary");
}

#[test]
fn what_is_taken_up_again_after_a_wait_is_news_and_lies_anew() {
    let mut host = presented([queued("a")]);
    let wait = Orders::Wait { kind: WaitKind::Other, detail: "later".into() };
    host.order("a", wait.clone()).unwrap();
    host.run(5);
    assert_eq!(host.kicks.len(), 1, "it waits");
    host.plan("a");
    host.run(90);
    assert_eq!(host.handed(1), ["a"], "it is on the list again, and was not seen since it was planned");
    // Seen, put aside, and taken up after an hour in which nobody could have been told of it.
    host.finish_turn(TurnOutcome::Succeeded);
    host.order("a", wait).unwrap();
    host.run(2 * 3600);
    assert!(unmoved(&host).is_empty(), "what waits is not unmoved");
    host.plan("a");
    host.run(3600 - 1);
    assert!(unmoved(&host).is_empty());
    host.run(2);
    assert_eq!(unmoved(&host), [r#"["a"]"#]);
}

#[test]
fn a_save_at_the_very_moment_of_the_alert_does_not_swallow_it() {
    let mut host = presented([queued("a")]);
    let whole = crate::domain::backlog::Entry::Ticket(host.ticket("a"));
    host.run_ms(3_600_000 - 60_000 - 100);
    host.save("tickets/a.md", None);
    host.run_ms(200);
    host.save("tickets/a.md", Some(whole));
    host.run(5);
    assert_eq!(unmoved(&host), [r#"["a"]"#]);
}

#[test]
fn what_others_do_to_other_tickets_does_not_put_the_alert_off() {
    let mut host = presented([queued("a"), ticket("z", State::Planning)]);
    for _ in 0..20 {
        host.run(300);
        host.reword("z");
    }
    assert_eq!(unmoved(&host), [r#"["a"]"#]);
}

#[test]
fn reoffer_idle_is_a_boundary_which_row_6_bounds() {
    let kick = KickPolicy { reoffer_idle: Some(TimeDelta::minutes(10)), ..KickPolicy::default() };
    let mut host = Host::new(Policy { kick, ..Policy::default() }, []);
    host.script = Some(lazy);
    host.run(1);
    host.add(queued("a"));
    host.run(24 * 3600);
    let causes: Vec<_> = host.kicks.iter().map(|(_, k)| k.causes.clone()).collect();
    let again = vec![Boundary::ReofferIdle];
    assert_eq!(causes, [vec![Boundary::TicketQueued], again.clone(), again]);
    let apart = (host.kicks[1].0 - host.kicks[0].0).num_seconds();
    assert_eq!(apart, 602, "ten minutes after the turn of two seconds");
    assert_eq!(host.decisions(0).last().map(String::as_str), Some("ignored"));
    assert_eq!(unmoved(&host).len(), 1);
}

/// Nothing follows from it until a person moves; a change is such a move, and is looked at once as well.
#[test]
fn a_human_gated_new_ticket_that_changes_is_shown_once_more() {
    let mut host = Host::new(Policy::default(), [with(queued("a"), |t| t.human_gate = Some("sign-off".into()))]);
    for shown in 1..=2 {
        host.finish_turn(TurnOutcome::Succeeded);
        host.run(61);
        host.boundary(Boundary::UserKick);
        host.run(61);
        assert_eq!(host.handed(0), vec!["a"; shown]);
        host.reword("a");
        host.run(61);
    }
    assert_eq!(host.handed(0), ["a"; 3]);
}

//! Every boundary from each of its sources (DESIGN.md section 5), once while the Orchestrator is idle and once while it
//! is busy.

use crate::support::stage::{BOUND, Stage, Turn, ticket_path};
use crate::support::wait::until;

/// Makes the boundary happen, for the first (0) or second (1) time.
type Source<'a> = &'a dyn Fn(&Stage, usize);

/// Idle: the source leads to a kick that names the boundary and hands over what `items` says. Busy: it leads to
/// nothing but a suppression that names it; when the turn ends, what is new is handed over.
fn check(stage: &Stage, boundary: &str, items: [&str; 2], source: Source<'_>) {
    stage.start();
    stage.rest();
    let (mark, turns) = (stage.mark(), stage.turns().len());
    source(stage, 0);
    stage.kicked(mark, boundary);
    let turn = stage.nth_turn(turns + 1);
    assert!(turn.boundaries().contains(&boundary), "{turn:?}");
    assert_eq!(turn.items(), [items[0]], "{boundary}: {}", stage.story());
    stage.rest();

    stage.hold();
    let turns = stage.turns().len();
    stage.done("new Filler --state queued");
    let busy = stage.nth_turn(turns + 1);
    let (mark, turns) = (stage.mark(), stage.turns().len());
    source(stage, 1);
    stage.suppressed(mark, boundary, "busy");
    assert_eq!(stage.turns().len(), turns, "while busy nobody is kicked: {}", stage.story());
    stage.release();
    stage.event(mark, "the end of the busy turn", |event| {
        event["kind"] == "TURN_ENDED" && event["data"]["kick"] == busy.kick["kick"]
    });
    if !items[1].is_empty() {
        let next = stage.nth_turn(turns + 1);
        assert!(next.items().contains(&items[1]), "{boundary}: {next:?}");
    }
    stage.rest();
}

#[test]
fn a_panel_opens() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    // It has been handed over at the start, and nothing was done about it: an automatic boundary would not show it.
    check(&stage, "panel_open", ["a", ""], &|stage, _| {
        stage.done("hook panel-open");
    });
}

#[test]
fn the_daemon_starts() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    stage.start();
    stage.kicked(0, "orchestrator_spawn");
    let turn = stage.nth_turn(1);
    assert_eq!((turn.boundaries(), turn.items()), (vec!["orchestrator_spawn"], vec!["a"]));
    assert!(turn.list.contains("`a` `The ticket a` (new_queued)"), "{}", turn.list);
    until("the end", BOUND, || stage.turns().len().eq(&1).then_some(()), || stage.story());
    stage.rest();
}

#[test]
fn the_orchestrator_goes_idle() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    stage.ticket("b", "queued", "");
    // Getting somewhere: it is asked for the next step as soon as it is idle.
    stage.act("yoi plan a --order 1; yoi plan b --order 2");
    stage.start();
    stage.rest();
    let turns = stage.turns();
    let causes: Vec<_> = turns.iter().map(Turn::boundaries).collect();
    assert_eq!(causes, [["orchestrator_spawn"], ["orchestrator_idle"]]);
    assert_eq!(turns[1].items(), ["a", "b"]);
    assert!(turns[1].list.contains("`a` `The ticket a` (planned_queued)"), "{}", turns[1].list);
    assert_eq!(turns[0].session, turns[1].session, "turns of one session");
}

#[test]
fn a_ticket_is_queued_by_a_save_that_renames() {
    queued_by(&|stage, id| stage.save(id, "state: ready", "state: queued"));
}

#[test]
fn a_ticket_is_queued_by_a_save_in_place() {
    queued_by(&|stage, id| stage.save_in_place(id, "state: ready", "state: queued"));
}

#[test]
fn a_ticket_is_queued_by_a_save_that_keeps_a_backup() {
    queued_by(&|stage, id| stage.save_with_backup(id, "state: ready", "state: queued"));
}

#[test]
fn a_ticket_is_queued_by_a_command() {
    queued_by(&|stage, id| drop(stage.done(&format!("move {id} queued"))));
}

#[test]
fn a_file_appears_as_queued() {
    queued_by(&|stage, id| {
        std::fs::remove_file(stage.bench.path(&ticket_path(id))).unwrap();
        let gone = || stage.yoi(&format!("show {id}")).code.eq(&1).then_some(());
        until("the file's disappearance", BOUND, gone, || stage.story());
        stage.ticket(id, "queued", "");
    });
}

fn queued_by(queue: &dyn Fn(&Stage, &str)) {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.ticket("b", "ready", "");
    check(&stage, "ticket_queued", ["a", "b"], &|stage, time| queue(stage, ["a", "b"][time]));
    for id in ["a", "b"] {
        let text = stage.text(id);
        assert!(text.contains("queued_at: ") && text.contains("queued_by: "), "{text}");
    }
}

#[test]
fn an_edit_clears_a_gate() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "human_gate: ask the designer");
    stage.ticket("b", "queued", "depends_on: [nowhere]");
    stage.act("yoi plan a; yoi plan b");
    check(&stage, "gate_cleared", ["a", "b"], &|stage, time| match time {
        0 => stage.save("a", "human_gate: ask the designer\n", ""),
        _ => stage.save_in_place("b", "depends_on: [nowhere]\n", ""),
    });
}

#[test]
fn a_dependency_gets_done() {
    let stage = Stage::new();
    for (id, on) in [("a", "first"), ("b", "second")] {
        stage.ticket(on, "ready", "");
        stage.ticket(id, "queued", &format!("depends_on: [{on}]"));
    }
    stage.act("yoi plan a; yoi plan b");
    check(&stage, "gate_cleared", ["a", "b"], &|stage, time| {
        stage.save(["first", "second"][time], "state: ready", "state: done");
    });
}

#[test]
fn a_commit_clears_the_dirty_gate() {
    let stage = Stage::new();
    let dirty = |stage: &Stage, text: &str| {
        stage.bench.write("work/app.txt", text);
        stage.bench.git("work", &["add", "app.txt"]);
    };
    dirty(&stage, "zero");
    stage.bench.git("work", &["commit", "--quiet", "--message=app"]);
    dirty(&stage, "one");
    stage.ticket("a", "queued", "");
    stage.act("yoi plan a");
    check(&stage, "gate_cleared", ["a", "a"], &|stage, time| {
        if time == 1 {
            dirty(stage, "two");
        }
        let held = || stage.yoi("why a").stdout.contains("The dirty_workspace gate holds it").then_some(());
        until("the dirty gate", BOUND, held, || stage.story());
        stage.bench.git("work", &["commit", "--quiet", "--message=more"]);
    });
}

const ACCEPTED: &str = "accepted_by: orchestrator\naccepted_at: \"2026-11-30T08:00:00Z\"";

#[test]
fn a_pods_process_ends() {
    let stage = Stage::new();
    stage.ticket("a", "inprogress", ACCEPTED);
    check(&stage, "delegate_finished", ["a", "a"], &|stage, _| {
        let pid = stage.worker("coder", "a");
        stage.end_worker(pid);
    });
}

#[test]
fn a_pod_says_that_it_is_gone() {
    let stage = Stage::new();
    stage.ticket("a", "inprogress", ACCEPTED);
    check(&stage, "delegate_finished", ["a", "a"], &|stage, _| {
        let pid = stage.worker("coder", "a");
        stage.done(&format!("hook gone --role coder --pid {pid}"));
        stage.end_worker(pid);
    });
}

#[test]
fn an_awaited_step_is_overdue() {
    let stage = Stage::new();
    stage.ticket("a", "inprogress", ACCEPTED);
    check(&stage, "delegate_finished", ["a", "a"], &|stage, _| {
        let answer = stage.order("await a --step merge --for 1s");
        assert_eq!(answer.code, 0, "{answer}");
    });
}

#[test]
fn an_active_ticket_leaves_inprogress() {
    let stage = Stage::with("[capacity]\nmax_inprogress = \"unlimited\"\n");
    for id in ["a", "b"] {
        stage.ticket(id, "inprogress", ACCEPTED);
    }
    stage.ticket("next", "queued", "");
    stage.act("yoi plan next; yoi await a --step coder --for 1h; yoi await b --step coder --for 1h");
    stage.start();
    stage.rest();
    let mark = stage.mark();
    stage.save("a", "state: inprogress", "state: done");
    stage.suppressed(mark, "delegate_finished", "active_inprogress");
    let (mark, turns) = (stage.mark(), stage.turns().len());
    stage.save("b", "state: inprogress", "state: done");
    stage.kicked(mark, "delegate_finished");
    assert_eq!(stage.nth_turn(turns + 1).items(), ["next"]);
}

#[test]
fn somebody_asks() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    check(&stage, "user_kick", ["a", ""], &|stage, time| {
        let dry = stage.json("kick --dry-run");
        let answer = stage.yoi("kick");
        assert_eq!(answer.code, [0, 3][time], "{answer}");
        assert_eq!((&dry["decision"], &dry["row"]), [(&"kick".into(), &7.into()), (&"busy".into(), &2.into())][time]);
    });
}

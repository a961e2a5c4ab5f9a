//! Every boundary from each of its sources (DESIGN.md section 5), once while the Orchestrator is idle and once while it
//! is busy.

use crate::support::stage::{BOUND, Stage};
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
    stage.done("new Filler --state queued");
    let busy = stage.nth_turn(stage.turns().len() + 1);
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

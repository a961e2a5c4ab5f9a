//! While delegated work is under way, queueing kicks nobody; when it ends, the next ticket is presented within a second
//! (DESIGN.md section 5, rows 3 and 7).

use std::time::{SystemTime, UNIX_EPOCH};

use crate::support::stage::Stage;

const ACCEPTED: &str = "accepted_by: orchestrator\naccepted_at: \"2026-11-30T08:00:00Z\"";
const SECOND: u128 = 1_000_000_000;

fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()
}

/// `begin` makes the ticket `a` active and returns what `end` needs to end that.
fn check(begin: impl Fn(&Stage) -> u32, end: impl Fn(&Stage, u32)) {
    // A machine that is busy with other tests may be slow once, but not each time.
    let took: Vec<_> = (0..3).map(|_| seconds(&begin, &end)).take_while(|took| *took > SECOND).collect();
    assert!(took.len() < 3, "presented after {took:?} ns");
}

/// How long it took from the end of the delegated work to the Orchestrator's turn.
fn seconds(begin: impl Fn(&Stage) -> u32, end: impl Fn(&Stage, u32)) -> u128 {
    let stage = Stage::new();
    stage.ticket("a", "inprogress", ACCEPTED);
    for id in ["edited", "moved"] {
        stage.ticket(id, "ready", "");
    }
    stage.start();
    stage.rest();
    let handle = begin(&stage);
    stage.rest();
    assert_eq!(stage.json("why a")["ticket"]["class"], "active_inprogress");
    let (turns, mark) = (stage.turns().len(), stage.mark());

    stage.save("edited", "state: ready", "state: queued");
    stage.suppressed(mark, "ticket_queued", "active_inprogress");
    let mark = stage.mark();
    stage.done("move moved queued");
    stage.suppressed(mark, "ticket_queued", "active_inprogress");
    let mark = stage.mark();
    stage.done("hook panel-open");
    stage.suppressed(mark, "panel_open", "active_inprogress");
    let refused = stage.yoi("kick");
    assert_eq!(refused.code, 3, "even by name: {refused}");
    assert!(refused.stdout.contains("(active_inprogress, row 3)"), "{refused}");
    stage.suppressed(mark, "user_kick", "active_inprogress");
    assert_eq!(stage.turns().len(), turns, "{}", stage.story());

    let ended = now();
    end(&stage, handle);
    let turn = stage.nth_turn(turns + 1);
    let mut items = turn.items();
    items.retain(|id| *id != "a");
    assert_eq!(items, ["edited", "moved"], "{}", stage.story());
    turn.began - ended
}

fn pod(stage: &Stage) -> u32 {
    stage.worker("coder", "a")
}

#[test]
fn a_pod_whose_process_exits() {
    check(pod, Stage::end_worker);
}

#[test]
fn a_pod_that_reports_its_end() {
    check(pod, |stage, pid| drop(stage.done(&format!("hook gone --role coder --pid {pid}"))));
}

#[test]
fn a_pod_whose_ticket_gets_done() {
    check(pod, |stage, _| drop(stage.done("move a done --by coder")));
}

#[test]
fn a_pod_whose_ticket_gets_done_in_an_editor() {
    check(pod, |stage, _| stage.save("a", "state: inprogress", "state: done"));
}

#[test]
fn an_awaited_step_whose_ticket_gets_done() {
    let begin = |stage: &Stage| {
        let answer = stage.order("await a --step coder --for 2h");
        assert_eq!(answer.code, 0, "{answer}");
        0
    };
    check(begin, |stage, _| drop(stage.done("move a done --by coder")));
}

#[test]
fn one_of_two_pods_ends() {
    let stage = Stage::new();
    stage.ticket("a", "inprogress", ACCEPTED);
    stage.ticket("next", "ready", "");
    stage.start();
    stage.rest();
    let [coder, reviewer] = ["coder", "reviewer"].map(|role| stage.worker(role, "a"));
    let (mark, turns) = (stage.mark(), stage.turns().len());
    stage.done("move next queued");
    stage.suppressed(mark, "ticket_queued", "active_inprogress");
    let mark = stage.mark();
    stage.end_worker(coder);
    stage.suppressed(mark, "delegate_finished", "active_inprogress");
    assert_eq!(stage.turns().len(), turns);
    stage.end_worker(reviewer);
    let items: Vec<_> = stage.nth_turn(turns + 1).items().into_iter().map(str::to_owned).collect();
    assert_eq!(items, ["a", "next"], "the ticket whose work has ended is to be routed");
}

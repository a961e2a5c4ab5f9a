//! kill -9 at every effect, then a start: no ticket is lost, no Orchestrator is started beside another, the queue is
//! found again, and nothing is left behind (DESIGN.md 6.5; FAULTS kinds 8 and 17). Two Orchestrators at once are noticed
//! by their script, and asserted when a stage ends.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

/// An Orchestrator that accepts, gives the work to a worker that needs a moment, and closes what comes back.
const DILIGENT: &str = r#"
unset YOI_FAULT
git -C "$YOI_WORKSPACE" commit --quiet --allow-empty --message=work
for id in $(grep -o '"id":"[^"]*"' "$YOI_KICK_FILE" | cut -d'"' -f4); do
  if yoi accept "$id"; then
    # It does not end before it is registered, however long that takes, nor lives on if that never happens.
    registered="$YOI_WORKSPACE/../orchestrator/registered-$id-$$"
    sh -c 'n=0; while [ ! -e "$0" ] && [ $n -lt 500 ]; do n=$((n + 1)); sleep 0.02; done; sleep 0.1' "$registered" \
      >/dev/null 2>&1 &
    yoi hook busy --role coder --ticket "$id" --pid $!
    : >"$registered"
  else
    yoi move "$id" done
  fi
done
:
"#;

/// A stage whose daemon has run once, and does not now.
fn watched() -> Stage {
    let stage = Stage::new();
    stage.act(DILIGENT);
    stage.start();
    stage.rest();
    stage.stop();
    stage
}

/// A ticket comes into the queue while no daemon runs. Returns its id.
fn queued(stage: &Stage) -> String {
    let id = format!("t{}", fs::read_dir(stage.bench.path("work/tickets")).unwrap().count());
    stage.ticket(&id, "queued", "");
    id
}

/// What has to be true whatever was killed: the work gets done, once, and nothing lies around.
fn all_is_well(stage: &Stage, id: &str, point: &str, mark: usize) {
    let what = format!("the work, after {point}");
    until(&what, BOUND, || stage.text(id).contains("state: done").then_some(()), || stage.story());
    stage.rest();
    assert_eq!(stage.text(id).matches("queued_at:").count(), 1, "{point}: {}", stage.text(id));
    assert_eq!(stage.text(id).matches("accepted_by:").count(), 1, "{point}: {}", stage.text(id));
    for folder in ["runs", "kicks"] {
        // Files go last of all, a moment after the records.
        let left = || stage.bench.tree(&format!("work/.git/yoi/{folder}"));
        let gone = || left().is_empty().then_some(());
        until("an empty folder", BOUND, gone, || format!("{point}: {:?}", left()));
    }
    let events = stage.events().split_off(mark);
    let of = |kind: &str| {
        let kicks = events.iter().filter(|event| event["kind"] == kind).map(|event| event["data"]["kick"].to_string());
        kicks.collect::<Vec<_>>()
    };
    let (sent, ended) = (of("KICK_SENT"), of("TURN_ENDED"));
    assert!((1..=5).contains(&sent.len()), "{point}: {sent:?}: {}", stage.story());
    let once = |kicks: &[String]| kicks.iter().collect::<BTreeSet<_>>().len() == kicks.len();
    // A turn that began has an end; a kick that was decided on need not have begun.
    let began = stage.turns().into_iter().map(|turn| turn.kick["kick"].to_string());
    let endless: Vec<_> = began.filter(|kick| sent.contains(kick) && !ended.contains(kick)).collect();
    assert!(endless.is_empty(), "{point}: {endless:?}: {}", stage.story());
    assert!(once(&sent) && once(&ended), "{point}: each kick, and each end, once: {}", stage.story());
}

/// Whether this build has fault points: a release build has none.
fn has_fault_points() -> bool {
    if !cfg!(debug_assertions) {
        eprintln!("skipped: fault points are in debug builds only");
    }
    cfg!(debug_assertions)
}

/// Has the daemon killed at each of these points, and started again.
fn daemon_killed(points: &[&str]) {
    if !has_fault_points() {
        return;
    }
    let stage = watched();
    for point in points {
        let (id, mark) = (queued(&stage), stage.mark());
        stage.start_to_fail(point);
        stage.ended();
        stage.start();
        all_is_well(&stage, &id, point, mark);
        stage.stop();
    }
}

#[test]
fn daemon_killed_around_history() {
    daemon_killed(&[
        "before:record",
        "after:record",
        "before:record#2",
        "before:record#3",
        "after:record#4",
        "before:save-seen",
        "after:save-seen#2",
        "before:save-ledger",
        "after:save-ledger",
    ]);
}

#[test]
fn daemon_killed_between_deciding_and_delivering() {
    daemon_killed(&[
        "before:stamp",
        "after:stamp",
        "before:refresh",
        "after:refresh",
        "before:launch",
        "launch:ordered",
        "launch:spawned",
        "after:launch",
    ]);
}

#[test]
fn daemon_killed_while_a_turn_runs_or_ends() {
    daemon_killed(&[
        "before:read",
        "after:read",
        "before:probe",
        "after:probe",
        "before:save-pods",
        "after:save-pods",
        "before:watch-pod",
        "after:watch-pod",
    ]);
}

#[test]
fn daemon_killed_around_the_end_of_a_turn() {
    daemon_killed(&[
        "before:turn-over",
        "before:turn-over#2",
        "before:judged",
        "before:judged#2",
        "before:forget",
        "before:refresh#2",
        "before:launch#2",
        "launch:ordered#2",
        "launch:spawned#2",
        "after:launch#2",
    ]);
}

#[test]
fn daemon_killed_while_it_adopts() {
    if !has_fault_points() {
        return;
    }
    let stage = watched();
    for point in ["before:watch-turn", "after:watch-turn", "before:record"] {
        let (id, mark, turns) = (queued(&stage), stage.mark(), stage.turns().len());
        stage.hold();
        stage.start();
        stage.nth_turn(turns + 1);
        stage.kill();
        stage.start_to_fail(point);
        stage.ended();
        let adopted = stage.mark();
        stage.start();
        stage.suppressed(adopted, "orchestrator_idle", "busy");
        assert_eq!(stage.turns().len(), turns + 1, "{point}");
        stage.release();
        all_is_well(&stage, &id, point, mark);
        stage.stop();
    }
}

/// A killed supervisor is a failed turn, or one that was not delivered; the next start goes on.
#[test]
fn supervisor_killed_at_each_of_its_steps() {
    if !has_fault_points() {
        return;
    }
    let table = [
        ("run:begun", Some("its supervisor ended before it had started it")),
        ("run:spawned", Some("its supervisor ended before it had started it")),
        ("run:started", Some("its supervisor was killed, and it with it")),
        ("run:ended", Some("its supervisor was killed, and it with it")),
        ("run:recorded", None),
    ];
    let stage = watched();
    for (point, failed) in table {
        let (id, mark) = (queued(&stage), stage.mark());
        stage.start_to_fail(point);
        let end = stage.event(mark, &format!("the end, after {point}"), |event| event["kind"] == "TURN_ENDED");
        let expected = failed.map_or(Value::Null, Value::from);
        assert_eq!(end["data"]["failed"], expected, "{point}");
        stage.stop();
        stage.start();
        all_is_well(&stage, &id, point, mark);
        stage.stop();
    }
}

#[test]
fn daemon_and_supervisor_killed_together() {
    if !has_fault_points() {
        return;
    }
    let stage = watched();
    let (id, mark) = (queued(&stage), stage.mark());
    stage.hold();
    stage.start();
    let turn = stage.nth_turn(1);
    let pid = stage.bench.read(&format!("orchestrator/turns/{}/pid", turn.began));
    stage.kill();
    // As at a loss of power: whoever supervises is gone, and has written nothing.
    let supervisor = |pid: &str| {
        let status = std::fs::read_to_string(format!("/proc/{}/status", pid.trim())).unwrap();
        status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap().trim().to_owned()
    };
    stage.bench.run(stage.bench.program("kill", "work").args(["-9", &supervisor(&pid)]));
    stage.release();
    stage.start();
    all_is_well(&stage, &id, "both", mark);
}

//! Supervisors, daemons and starts that are killed. `YOI_ROUNDS` says how often at each step, 1 where nothing is set.

use super::*;

fn rounds() -> u32 {
    std::env::var("YOI_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1)
}

#[test]
fn a_killed_supervisor_takes_its_program_along_and_the_ticket_comes_back() {
    for daemon_lives in [true, false] {
        let stage = Roles::new("orchestrated", "", STAYS);
        stage.start();
        stage.accepted("a");
        let view = stage.start_of("a", "w");
        let (program, child) = (pid(&view), stage.child("a"));
        if !daemon_lives {
            stage.kill();
        }
        signal(parent(program), Signal::KILL);
        ended(program);
        if !daemon_lives {
            // Nobody is there to end what it had started; the next daemon does.
            stage.start();
        }
        ended(child);
        stage.says("a", "outcome=abandoned");
        let back = || (stage.class("a") == "actionable_inprogress").then_some(());
        until("the ticket", BOUND, back, || stage.story());
        assert!(stage.pods().is_empty());
        let again = stage.start_of("a", "next");
        assert!(is_alive(pid(&again)));
        stage.done("down --pods");
        stage.ended();
    }
}

#[test]
fn a_supervisor_that_is_killed_at_any_step_leaves_a_ticket_that_can_be_started() {
    if !cfg!(debug_assertions) {
        return eprintln!("skipped: fault points are in debug builds only");
    }
    let points = ["run:begun", "run:spawned", "run:started", "run:ended", "run:noted", "run:recorded"];
    for point in points.into_iter().cycle().take(points.len() * rounds() as usize) {
        let stage = Roles::pull("cat >brief; echo x >>ran");
        stage.start_with([("YOI_FAULT", point)]);
        stage.ticket("a", "queued", "");
        // Whether it is told that its program did not start is a matter of which step that is.
        let first = stage.yoi("start a --worker w");
        let free = || (stage.state("a") == "queued" && stage.pods().is_empty()).then_some(());
        until("the ticket in the queue again", BOUND, free, || format!("{point}: {first}\n{}", stage.story()));
        stage.kill();
        stage.start();
        let again = stage.yoi("start a --worker v");
        assert_eq!(again.code, 0, "{point}: {again}\n{}", stage.story());
        stage.says("a", "worker=v outcome=abandoned");
        stage.gone();
        stage.stop();
    }
}

#[test]
fn a_start_that_is_killed_with_its_program_begun_is_taken_for_what_it_is() {
    if !cfg!(debug_assertions) {
        return eprintln!("skipped: fault points are in debug builds only");
    }
    let points =
        [("start:launching", false), ("launch:ordered", false), ("launch:spawned", true), ("start:launched", true)];
    for (point, begun) in points.into_iter().cycle().take(points.len() * rounds() as usize) {
        for daemon in [false, true] {
            let stage = Roles::pull(STAYS);
            stage.ticket("a", "queued", "");
            if daemon {
                stage.start_with([("YOI_FAULT", point)]);
                assert_ne!(stage.yoi("start a --worker w").code, 0, "{point}");
                stage.kill();
                stage.start();
            } else {
                let mut command = stage.bench.command("work");
                let killed = command.args(["start", "a", "--worker", "w"]).env("YOI_FAULT", point).output().unwrap();
                assert_eq!(killed.status.code(), None, "{point}: {}", String::from_utf8_lossy(&killed.stderr));
            }
            let next = stage.yoi("start a --worker v");
            assert_eq!(next.code, if begun { 3 } else { 0 }, "{point} {daemon}: {next}\n{}", stage.story());
            let one = || (stage.pods() == ["coder a"]).then_some(());
            until("one Pod", BOUND, one, || format!("{point} {daemon} {:?}\n{}", stage.pods(), stage.story()));
            let worker = if begun { "w" } else { "v" };
            assert_eq!(
                stage.written("a", "environment").lines().find(|line| line.starts_with("YOI_WORKER=")),
                Some(&*format!("YOI_WORKER={worker}")),
                "{point}"
            );
            stage.done("down --pods");
            if daemon {
                stage.ended();
            }
        }
    }
}

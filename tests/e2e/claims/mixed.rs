//! Claimers that go the direct way and claimers that go through the daemon, in one race: the daemon begins, or is killed,
//! while they claim. (Beside a daemon that runs nobody goes the direct way.)

use super::*;

/// Who failed because the daemon was killed under it was told so, and not that it had lost.
fn check_but_for_the_killed(ended: &[(String, Output)], winner: Option<&str>) {
    for (worker, output) in ended {
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => assert_eq!(Some(worker.as_str()), winner, "{worker}: {said}"),
            Some(3) => {
                let holder = format!("held by {} (coder)", winner.unwrap_or("nobody"));
                assert!(said.contains("lost-race: ") && said.contains(&holder), "{worker}: {said}");
            }
            code => assert!(code == Some(1) && !said.contains("lost-race"), "{worker}: {code:?} {said}"),
        }
    }
}

/// Who has it by its ref.
fn holder(stage: &Stage, ticket: &str) -> Option<String> {
    let refs = stage.bench.git("work", &["for-each-ref", "--format=%(subject)", &format!("refs/yoi/claims/{ticket}")]);
    let lines: Vec<_> = refs.lines().collect();
    assert!(lines.len() <= 1 && !refs.contains("RELEASE"), "{refs}");
    lines.first().map(|line| line.split("worker=").nth(1).unwrap().split(' ').next().unwrap().to_owned())
}

#[test]
fn of_those_on_both_ways_one_wins_while_a_daemon_begins() {
    let stage = stage("");
    for round in 0..rounds() {
        let ticket = format!("t{round}");
        stage.ticket(&ticket, "queued", "");
        let winner = check(&race_while(&stage.bench, &["work"], CLAIMERS, &ticket, || stage.start()));
        assert_eq!(holder(&stage, &ticket).as_deref(), Some(winner.as_str()));
        stage.stop();
    }
}

#[test]
fn of_those_on_both_ways_one_wins_while_a_daemon_is_killed() {
    let stage = stage("");
    for round in 0..rounds() {
        let ticket = format!("t{round}");
        stage.ticket(&ticket, "queued", "");
        stage.start();
        let ended = race_while(&stage.bench, &["work"], CLAIMERS, &ticket, || {
            // Not always in the same moment of the race.
            std::thread::sleep(std::time::Duration::from_millis(u64::try_from(round % 12).unwrap() * 10));
            stage.kill();
        });
        let winner = holder(&stage, &ticket);
        check_but_for_the_killed(&ended, winner.as_deref());
        let later = stage.yoi(&format!("claim {ticket} --worker later"));
        match winner {
            None => assert_eq!(later.code, 0, "{later}"),
            Some(winner) => {
                assert!(later.code == 3 && later.stderr.contains(&format!("held by {winner} ")), "{later}");
            }
        }
    }
}

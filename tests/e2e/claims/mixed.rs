//! Claimers that go the direct way and claimers that go through the daemon, in one race: the daemon begins, or is killed,
//! while they claim. (Beside a daemon that runs nobody goes the direct way.)

use super::*;

/// At most one was told that it has won. Who failed because the daemon was killed under it was told so, and not that it had lost;
/// its claim is given back. Returns the winner, and who was killed.
fn check_but_for_the_killed(ended: &[(String, Output)]) -> (Option<&str>, Vec<&str>) {
    let of = |code: i32| {
        let these = ended.iter().filter(move |(_, output)| output.status.code() == Some(code));
        these.map(|(worker, _)| worker.as_str()).collect::<Vec<_>>()
    };
    let (winners, killed) = (of(0), of(1));
    assert!(winners.len() <= 1, "{winners:?}");
    for (worker, output) in ended {
        let said = String::from_utf8_lossy(&output.stderr);
        let lost_to = |other: &&&str| said.contains(&format!("held by {other} (coder)"));
        match output.status.code() {
            Some(0) => {}
            Some(3) => {
                let holder = winners.iter().chain(&killed).find(lost_to);
                assert!(said.contains("lost-race: ") && holder.is_some(), "{worker}: {said}");
            }
            code => assert!(code == Some(1) && said.contains("is not known: `yoi show "), "{worker}: {code:?} {said}"),
        }
    }
    (winners.first().copied(), killed)
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
        let (winner, killed) = check_but_for_the_killed(&ended);
        let later = stage.yoi(&format!("claim {ticket} --worker later"));
        let held_by = |worker: &str| later.code == 3 && later.stderr.contains(&format!("held by {worker} "));
        match winner {
            Some(winner) => assert!(held_by(winner), "{later}"),
            // One that was done, but for its answer, stands.
            None => assert!(later.code == 0 || killed.iter().any(|worker| held_by(worker)), "{later}"),
        }
    }
}

#[test]
fn whoever_asks_a_daemon_that_is_killed_is_answered_or_told_what_is_not_known() {
    let stage = stage("");
    for round in 0..rounds() {
        let ticket = format!("t{round}");
        stage.ticket(&ticket, "planning", "labels: []");
        stage.start();
        let asking = |number: usize| {
            let change = format!("set {ticket} --add labels=l{number}");
            let line = if number.is_multiple_of(2) { change } else { format!("show {ticket}") };
            let mut command = stage.bench.command("work");
            command.args(line.split(' ')).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            (number, command.spawn().unwrap())
        };
        let children: Vec<_> = (0..CLAIMERS).map(asking).collect();
        std::thread::sleep(std::time::Duration::from_millis(u64::try_from(round % 12).unwrap() * 10));
        stage.kill();
        for (number, child) in children {
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            match output.status.code() {
                Some(0) if number % 2 == 0 => {
                    let text = stage.text(&ticket);
                    let kept = text.contains(&format!("l{number},")) || text.contains(&format!("l{number}]"));
                    assert!(kept, "{number} is lost: {text}");
                }
                Some(0) => {}
                code => {
                    let told = said.contains("the daemon ended before it answered")
                        && said.contains(&format!("is not known: `yoi show {ticket}`"));
                    assert!(code == Some(1) && number % 2 == 0 && told, "{number}: {code:?} {said}");
                }
            }
        }
    }
}

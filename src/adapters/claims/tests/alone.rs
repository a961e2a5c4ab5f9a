//! Claims beside a remote that cannot be asked: for this machine alone, until it hears of them.

use super::super::remote::RemoteClaims;
use super::remote::Clones;
use super::*;

impl Clones {
    /// Whether anybody answers at the server.
    fn reachable(&self, reachable: bool) {
        self.shell(if reachable { "mv away.git server.git" } else { "mv server.git away.git" });
    }

    /// What is left of chains that only this clone knew.
    fn left(&self) -> String {
        self.shell(
            "git -C 0 for-each-ref --format='%(refname:lstrip=4)' refs/yoi/remotes/origin | grep -v ^claims/ || :",
        )
    }
}

fn first(claims: &dyn Claims, worker: &str) -> Result<Swapped, ClaimsError> {
    claims.swap(&id("t"), None, None, &[step("t", StepKind::Claim, worker, 1)])
}

fn beat(claims: &dyn Claims, tip: &Tip) -> Result<Swapped, ClaimsError> {
    let Step { worker, generation, .. } = &tip.step;
    let beat = [step("t", StepKind::Heartbeat, worker, *generation)];
    claims.swap(&id("t"), Some(&tip.revision), Some(tip.base()), &beat)
}

#[test]
fn the_contract_holds_for_this_machine_alone() {
    let clones = Clones::new(1);
    clones.reachable(false);
    contract::holds(&*clones.claims(0).alone().unwrap());
    clones.shell("rm -rf 0; git init -q --ref-format=reftable 0; git -C 0 remote add origin ../server.git");
    contract::holds(&*clones.claims(0).alone().unwrap());
}

#[test]
fn the_remote_hears_of_it_when_it_answers_again() {
    let clones = Clones::new(1);
    let claims = clones.claims(0);
    for how in ["a look", "a question"] {
        clones.reachable(false);
        let tip = moved(first(&*claims.alone().unwrap(), "a"));
        assert_eq!(claims.all().unwrap().tips, std::slice::from_ref(&tip), "it is seen here");
        // What was claimed so goes on so; whoever wants to claim waits for the remote.
        assert_eq!(claims.read(&id("t")).unwrap().as_ref(), Some(&tip));
        let tip = moved(beat(&claims, &tip));
        let other = first(&claims, "b");
        assert!(matches!(other, Err(ClaimsError::Unreachable(_))), "{other:?}");
        assert!(matches!(claims.refresh(), Err(ClaimsError::Unreachable(_))));
        clones.reachable(true);
        assert_eq!(clones.at_server(), "", "{how}");
        if how == "a look" {
            assert_eq!(claims.refresh(), Ok(true));
        } else {
            assert_eq!(claims.read(&id("t")).unwrap().as_ref(), Some(&tip));
        }
        assert_eq!((clones.at_server(), clones.left()), (tip.revision.0.clone(), String::new()), "{how}");
        assert_eq!(claims.all().unwrap().tips, [tip]);
        clones.shell("git -C server.git update-ref -d refs/yoi/claims/t");
        claims.refresh().unwrap();
    }
}

#[test]
fn a_claim_that_the_remote_knows_goes_on_beside_it() {
    let clones = Clones::new(1);
    let claims = clones.claims(0);
    let tip = moved(first(&claims, "a"));
    clones.reachable(false);
    assert!(matches!(beat(&claims, &tip), Err(ClaimsError::Unreachable(_))));
    let alone = claims.alone().unwrap();
    let tip = moved(beat(&*alone, &tip));
    let tip = moved(beat(&*alone, &tip));
    clones.reachable(true);
    let tip = {
        let read = claims.read(&id("t")).unwrap().unwrap();
        assert_eq!(read, tip);
        moved(beat(&claims, &read))
    };
    assert_eq!((clones.at_server(), clones.left()), (tip.revision.0, String::new()));
}

#[test]
fn whoever_was_first_at_the_remote_has_it() {
    let clones = Clones::new(2);
    let [one, two] = [clones.claims(0), clones.claims(1)];
    let alone = one.alone().unwrap();
    let by_looking: fn(&RemoteClaims) = |claims| assert_eq!(claims.refresh(), Ok(true));
    let by_reading: fn(&RemoteClaims) = |claims| assert!(claims.read(&id("t")).unwrap().is_some());
    for hears in [by_looking, by_reading] {
        clones.reachable(false);
        let mine = moved(first(&*alone, "a"));
        let mine = moved(beat(&*alone, &mine));
        clones.reachable(true);
        let theirs = moved(first(&two, "b"));
        hears(&one);
        assert_eq!(one.read(&id("t")).unwrap().as_ref(), Some(&theirs));
        assert_eq!(one.all().unwrap().tips, std::slice::from_ref(&theirs));
        assert_eq!(lost(beat(&one, &mine)).as_ref(), Some(&theirs));
        assert_eq!(clones.at_server(), theirs.revision.0);
        assert_eq!(clones.left().trim(), "lost/t", "what was done beside it is kept");
        clones.shell(
            "git -C server.git update-ref -d refs/yoi/claims/t; git -C 0 update-ref -d refs/yoi/remotes/origin/lost/t",
        );
        one.refresh().unwrap();
        two.refresh().unwrap();
    }
}

/// A holder that beats at the remote is not overtaken by a step that rests on an older beat of it.
#[test]
fn a_beat_that_was_not_seen_counts() {
    let clones = Clones::new(2);
    let [one, two] = [clones.claims(0), clones.claims(1)];
    let tip = moved(beat(&two, &moved(first(&two, "b"))));
    one.refresh().unwrap();
    let newer = moved(beat(&two, &tip));
    let steps = [step("t", StepKind::StaleBreak { prior: "b".into() }, "a", 1), step("t", StepKind::Claim, "a", 2)];
    let alone = one.alone().unwrap();
    moved(alone.swap(&id("t"), Some(&tip.revision), Some(tip.base()), &steps));
    assert_eq!(one.read(&id("t")).unwrap(), Some(newer.clone()));
    assert_eq!(clones.at_server(), newer.revision.0);
}

#[test]
fn what_a_hook_of_the_remotes_refuses_stays_with_this_machine() {
    let clones = Clones::new(1);
    let claims = clones.claims(0);
    clones.reachable(false);
    let tip = moved(first(&*claims.alone().unwrap(), "a"));
    clones.reachable(true);
    clones.hook("pre-receive", "echo 'no claims on Friday' >&2; exit 1");
    assert!(matches!(claims.read(&id("t")), Err(ClaimsError::Rejected(_))));
    assert_eq!(claims.refresh(), Ok(false));
    assert_eq!(claims.all().unwrap().tips, std::slice::from_ref(&tip));
    clones.shell("rm server.git/hooks/pre-receive");
    assert_eq!(claims.refresh(), Ok(true));
    assert_eq!(clones.at_server(), tip.revision.0);
}

/// It is pushed, and nobody hears that it was: the next question finds it there.
#[test]
fn an_answer_that_is_lost_is_found_out() {
    let clones = Clones::new(1);
    let claims = clones.claims(0);
    clones.reachable(false);
    let tip = moved(first(&*claims.alone().unwrap(), "a"));
    clones.reachable(true);
    clones.hook(
        "reference-transaction",
        "test $1 = committed || exit 0; mv \"$PWD\" \"${PWD%/*}/away.git\"; kill -9 $PPID",
    );
    let unknown = claims.read(&id("t"));
    assert!(matches!(unknown, Err(ClaimsError::Unknown(_))), "{unknown:?}");
    clones.shell("rm away.git/hooks/reference-transaction");
    clones.reachable(true);
    assert_eq!(claims.read(&id("t")).unwrap().as_ref(), Some(&tip));
    assert_eq!((clones.at_server(), clones.left()), (tip.revision.0, String::new()));
}

fn release(claims: &dyn Claims, tip: &Tip) -> Tip {
    let Step { worker, generation, .. } = &tip.step;
    let end = [step("t", StepKind::Release { outcome: crate::domain::claim::Outcome::Abandoned }, worker, *generation)];
    moved(claims.swap(&id("t"), Some(&tip.revision), Some(tip.base()), &end))
}

const ALONE: &str = "refs/yoi/remotes/origin/alone/t";

/// The holder moves its claim on beside the remote, in the very moment in which that is told of it.
#[test]
fn what_is_done_beside_while_the_remote_is_told_is_kept() {
    for beats in [false, true] {
        let clones = Clones::new(1);
        let claims = clones.claims(0);
        let alone = claims.alone().unwrap();
        clones.reachable(false);
        let mut tip = moved(first(&*alone, "a"));
        if beats {
            tip = moved(beat(&*alone, &tip));
        }
        let end = release(&*alone, &tip);
        clones.shell(&format!("git -C 0 update-ref {ALONE} {}", tip.revision));
        clones.reachable(true);
        let beside = format!("git -C ../0 update-ref {ALONE} {} {} || :", end.revision, tip.revision);
        clones.hook("post-receive", &format!("unset GIT_DIR GIT_QUARANTINE_PATH\n{beside}"));
        assert_eq!(claims.refresh(), Ok(true));
        assert_eq!((clones.at_server(), clones.left()), (end.revision.0.clone(), String::new()), "beats: {beats}");
        assert_eq!(claims.read(&id("t")), Ok(Some(end)));
    }
}

/// It was pushed, whoever pushed it was killed before he could note that, and its holder went on.
#[test]
fn what_is_done_beside_after_a_push_that_nobody_noted_is_kept() {
    for (beats, ends) in [(false, true), (true, true), (true, false)] {
        let clones = Clones::new(1);
        let claims = clones.claims(0);
        let alone = claims.alone().unwrap();
        clones.reachable(false);
        let mut tip = moved(first(&*alone, "a"));
        if beats {
            tip = moved(beat(&*alone, &tip));
        }
        clones.reachable(true);
        clones.shell(&format!("git -C 0 push -q origin {}:refs/yoi/claims/t", tip.revision));
        let newest = if ends { release(&*alone, &tip) } else { moved(beat(&*alone, &tip)) };
        assert_eq!(claims.read(&id("t")), Ok(Some(newest.clone())), "{beats} {ends}");
        assert_eq!((clones.at_server(), clones.left()), (newest.revision.0, String::new()), "{beats} {ends}");
    }
}

/// The same run has beaten at the remote since: its claim is not pushed back to what it was before.
#[test]
fn a_later_beat_of_the_same_claim_stands() {
    let clones = Clones::new(2);
    let [one, two] = [clones.claims(0), clones.claims(1)];
    clones.reachable(false);
    let tip = moved(first(&*one.alone().unwrap(), "a"));
    clones.reachable(true);
    clones.shell(&format!("git -C 0 push -q origin {}:refs/yoi/claims/t", tip.revision));
    let later = moved(beat(&two, &two.read(&id("t")).unwrap().unwrap()));
    assert_eq!(one.read(&id("t")), Ok(Some(later.clone())));
    assert_eq!((clones.at_server(), clones.left()), (later.revision.0, String::new()));
}

//! What everybody may rely on of claims, whoever keeps them: in memory, by libgit2, by the git program, in a remote.
//!
//! Must not know: which of them it is.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::domain::claim::{Outcome, Revision, Step, StepKind, Tip};
use crate::domain::facts::{ProcessIdentity, TimeDeltaSeconds};
use crate::domain::sample::{at, id};
use crate::domain::ticket::TicketId;
use crate::ports::{Claims, ClaimsError, Swapped};

/// A step of this ticket like none before it.
pub fn step(ticket: &str, kind: StepKind, worker: &str, generation: u64) -> Step {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let made = MADE.fetch_add(1, Ordering::Relaxed);
    Step {
        ticket: id(ticket),
        kind,
        worker: worker.into(),
        role: "coder".into(),
        at: at(i64::try_from(made % 1000).unwrap()),
        ttl: TimeDeltaSeconds(5400),
        generation,
        nonce: format!("nonce-{}-{made}", std::process::id()),
        process: ProcessIdentity { host: "höst".into(), boot_id: "boot".into(), pid: 7, started: u64::MAX },
        session: Some("a session".into()),
        awake: Some(TimeDeltaSeconds(1000)),
    }
}

/// The tip of a swap that is expected to be taken.
#[track_caller]
pub fn moved(swapped: Result<Swapped, ClaimsError>) -> Tip {
    match swapped {
        Ok(Swapped::Moved(tip)) => tip,
        other => panic!("not moved: {other:?}"),
    }
}

/// The tip that was there, where a swap is expected to be lost.
#[track_caller]
pub fn lost(swapped: Result<Swapped, ClaimsError>) -> Option<Tip> {
    match swapped {
        Ok(Swapped::Lost(tip)) => tip,
        other => panic!("not lost: {other:?}"),
    }
}

/// Takes the next steps of a ticket from where it stands.
#[track_caller]
fn go_on(claims: &dyn Claims, tip: &Tip, steps: &[Step]) -> Tip {
    moved(claims.swap(&tip.step.ticket, Some(&tip.revision), Some(tip.base()), steps))
}

/// The whole contract. They must be empty.
pub fn holds(claims: &dyn Claims) {
    assert_eq!(claims.all().unwrap(), crate::ports::AllClaims::default());
    let of_t = a_life(claims);
    of_other_names(claims);
    misuse_changes_nothing(claims, &of_t);
    one_of_many_wins(claims);
}

/// One ticket from its first claim to its third.
fn a_life(claims: &dyn Claims) -> Tip {
    let t = id("t");
    assert_eq!(claims.read(&t).unwrap(), None);
    // Somebody believes in what never was.
    for made_up in ["0123456789012345678901234567890123456789", "nonsense", ""] {
        let made_up = Revision(made_up.into());
        let heartbeat = step("t", StepKind::Heartbeat, "a", 1);
        assert_eq!(lost(claims.swap(&t, Some(&made_up), Some(&made_up), &[heartbeat])), None);
    }

    let first = step("t", StepKind::Claim, "a", 1);
    let claim = moved(claims.swap(&t, None, None, std::slice::from_ref(&first)));
    assert_eq!((&claim.step, &claim.parent), (&first, &None));
    assert_eq!(claims.read(&t).unwrap().as_ref(), Some(&claim));
    assert_eq!(claims.all().unwrap().tips, std::slice::from_ref(&claim));
    let late = step("t", StepKind::Claim, "b", 1);
    assert_eq!(lost(claims.swap(&t, None, None, std::slice::from_ref(&late))).as_ref(), Some(&claim));

    // Each heartbeat takes the place of the one before.
    let mut beat = claim.clone();
    for _ in 0..3 {
        let before = beat.revision.clone();
        beat = go_on(claims, &beat, &[step("t", StepKind::Heartbeat, "a", 1)]);
        assert_eq!(beat.parent.as_ref(), Some(&claim.revision));
        let old = claims.swap(&t, Some(&before), Some(&claim.revision), &[step("t", StepKind::Heartbeat, "a", 1)]);
        assert_eq!(lost(old).as_ref(), Some(&beat));
    }
    assert_eq!(lost(claims.swap(&t, None, None, &[late])).as_ref(), Some(&beat));

    // Two steps in one swap.
    let breaking = step("t", StepKind::StaleBreak { prior: "a".into() }, "b", 1);
    let taking = step("t", StepKind::Claim, "b", 2);
    let taken = go_on(claims, &beat, &[breaking, taking.clone()]);
    assert_eq!(taken.step, taking);
    assert!(![None, Some(&claim.revision), Some(&beat.revision)].contains(&taken.parent.as_ref()));
    assert_eq!(claims.read(&t).unwrap().as_ref(), Some(&taken));

    let released = go_on(claims, &taken, &[step("t", StepKind::Release { outcome: Outcome::PrOpened }, "b", 2)]);
    assert_eq!(released.parent.as_ref(), Some(&taken.revision));
    let again = go_on(claims, &released, &[step("t", StepKind::Claim, "c", 3)]);
    assert_eq!(claims.all().unwrap().tips, std::slice::from_ref(&again));
    again
}

/// Any file name is an id, and every ticket has a chain of its own; `all` is in the order of nothing.
fn of_other_names(claims: &dyn Claims) {
    let before = claims.all().unwrap().tips.len();
    let long = "länge".repeat(60);
    let names = ["T", "a b", "..", "x.lock", "refs/heads/main", "-d", "ログイン", "a\nYoi-Ticket: t", "%41", &long];
    for name in names {
        let mut claim = step(name, StepKind::Claim, "Yoi-Worker: x", 1);
        claim.session = None;
        claim.awake = None;
        claim.role = "ein Prüfer = x".into();
        let tip = moved(claims.swap(&id(name), None, None, std::slice::from_ref(&claim)));
        assert_eq!(tip.step, claim);
        assert_eq!(claims.read(&id(name)).unwrap().as_ref(), Some(&tip));
        assert!(claims.all().unwrap().tips.contains(&tip), "{name}");
    }
    let all = claims.all().unwrap();
    assert_eq!((all.tips.len(), all.unreadable.len()), (before + names.len(), 0));
}

/// What no caller may ask for is an error, and not a race that was lost.
fn misuse_changes_nothing(claims: &dyn Claims, tip: &Tip) {
    let t = &tip.step.ticket;
    let (holder, generation) = (tip.step.worker.as_str(), tip.step.generation);
    let beat = || step(t.as_str(), StepKind::Heartbeat, holder, generation);
    let other = Revision("0123456789012345678901234567890123456789".into());
    let table: [(&str, Option<&Revision>, Vec<Step>); 5] = [
        ("no step", Some(&tip.revision), vec![]),
        ("another ticket's", Some(&tip.revision), vec![step("other", StepKind::Heartbeat, holder, generation)]),
        ("on something else", Some(&other), vec![beat()]),
        ("on nothing", None, vec![beat()]),
        ("on what was not stood in for", tip.parent.as_ref(), vec![beat()]),
    ];
    for (what, on, steps) in table {
        let refused = claims.swap(t, Some(&tip.revision), on, &steps);
        assert!(matches!(refused, Err(ClaimsError::Failed(_))), "{what}: {refused:?}");
    }
    assert_eq!(claims.read(t).unwrap().as_ref(), Some(tip));
}

/// Threads race for one ticket, and then for its next step.
fn one_of_many_wins(claims: &dyn Claims) {
    let raced = id("raced");
    let race = |expected: Option<&Tip>, kind: &StepKind, generation: u64| -> Tip {
        let one = |worker: &str| {
            let step = step(raced.as_str(), kind.clone(), worker, generation);
            let on = expected.map(Tip::base);
            claims.swap(&raced, expected.map(|tip| &tip.revision), on, &[step]).unwrap()
        };
        let results: Vec<Swapped> = std::thread::scope(|scope| {
            let holder = expected.map(|tip| tip.step.worker.clone());
            let worker = |n: usize| holder.clone().unwrap_or_else(|| format!("worker-{n}"));
            let threads: Vec<_> = (0..6).map(|n| (worker(n), scope)).collect();
            let threads: Vec<_> =
                threads.into_iter().map(|(worker, scope)| scope.spawn(move || one(&worker))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let won: Vec<&Tip> =
            results.iter().filter_map(|r| if let Swapped::Moved(tip) = r { Some(tip) } else { None }).collect();
        assert_eq!(won.len(), 1, "{results:?}");
        let newest = claims.read(&raced).unwrap();
        assert_eq!(newest.as_ref(), Some(won[0]));
        assert!(results.iter().all(|r| matches!(r, Swapped::Moved(_)) || *r == Swapped::Lost(newest.clone())));
        won[0].clone()
    };
    let claim = race(None, &StepKind::Claim, 1);
    let beat = race(Some(&claim), &StepKind::Heartbeat, 1);
    race(Some(&beat), &StepKind::Release { outcome: Outcome::Done }, 1);
}

/// The chain of a ticket can be read by no one, and says so.
pub fn is_unreadable(claims: &dyn Claims, id: &TicketId) -> String {
    let read = claims.read(id).unwrap_err();
    let claim = step(id.as_str(), StepKind::Claim, "a", 1);
    assert_eq!(claims.swap(id, None, None, &[claim]), Err(read.clone()));
    let unreadable = claims.all().unwrap().unreadable;
    assert_eq!(unreadable.len(), 1, "{unreadable:?}");
    read.to_string()
}

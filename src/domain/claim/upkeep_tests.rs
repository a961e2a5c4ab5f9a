//! When a claim is renewed, given up, and taken for lost.

use super::*;
use crate::domain::claim::{Outcome, Revision, Step};
use crate::domain::facts::{ProcessIdentity, TimeDeltaSeconds};
use crate::domain::sample::{at, id};

const MINUTE: Duration = Duration::from_mins(1);
const UPKEEP: Upkeep = Upkeep { ttl: Duration::from_mins(90), every: Duration::from_mins(15) };
const NONE: Life = Life { printed: false, worked: Duration::ZERO };
const PRINTED: Life = Life { printed: true, worked: Duration::ZERO };

fn worked(seconds: u64) -> Life {
    Life { printed: false, worked: Duration::from_secs(seconds) }
}

#[test]
fn a_claim_is_renewed_by_signs_of_life_and_by_nothing_else() {
    for (since_beat, since_try, life, expected) in [
        (0, None, PRINTED, Duty::Wait(15 * MINUTE)),
        (14, None, PRINTED, Duty::Wait(MINUTE)),
        (15, None, PRINTED, Duty::Renew),
        (15, None, worked(3), Duty::Renew),
        // Two seconds in fifteen minutes are the timers of a program that waits for nothing that comes.
        (15, None, worked(2), Duty::Wait(MINUTE)),
        (15, None, NONE, Duty::Wait(MINUTE)),
        (89, None, NONE, Duty::Wait(MINUTE)),
        (90, None, NONE, Duty::Stop),
        // Its supervisor was stopped meanwhile, and it was not: what fences is whether somebody took its ticket.
        (900, None, PRINTED, Duty::Renew),
        (900, None, NONE, Duty::Stop),
        // It could not be renewed: tried again, and given up at its end, when others may take it somewhere else.
        (15, Some(0), PRINTED, Duty::Wait(MINUTE)),
        (16, Some(1), PRINTED, Duty::Renew),
        (89, Some(0), PRINTED, Duty::Wait(MINUTE)),
        (90, Some(0), PRINTED, Duty::Stop),
        (90, Some(5), PRINTED, Duty::Stop),
        (16, Some(1), NONE, Duty::Wait(MINUTE)),
    ] {
        let duty = UPKEEP.duty(since_beat * MINUTE, since_try.map(|tried: u32| tried * MINUTE), life);
        assert_eq!(duty, expected, "{since_beat} {since_try:?} {life:?}");
    }
}

#[test]
fn it_never_waits_for_nothing_and_never_beyond_the_end() {
    let spans = [0, 1, 7, 59, 60, 61, 100, 1000, 5400, 10_000];
    for (ttl, every) in [(60, 20), (5400, 900), (120, 119), (604_800, 900)] {
        let upkeep = Upkeep { ttl: Duration::from_secs(ttl), every: Duration::from_secs(every) };
        for (since, tried) in spans.iter().flat_map(|since| spans.iter().map(move |tried| (*since, *tried))) {
            for (tried, life) in [(None, NONE), (None, PRINTED), (Some(tried), NONE), (Some(tried), PRINTED)] {
                let since = Duration::from_secs(since);
                if let Duty::Wait(span) = upkeep.duty(since, tried.map(Duration::from_secs), life) {
                    assert!(
                        !span.is_zero() && since + span <= upkeep.ttl,
                        "{ttl} {every} {since:?} {tried:?}: {span:?}"
                    );
                }
            }
        }
    }
}

fn tip(kind: StepKind, worker: &str, generation: u64) -> Tip {
    let process = ProcessIdentity { host: "h".into(), boot_id: "b".into(), pid: 7, started: 1 };
    let step = Step {
        ticket: id("t"),
        kind,
        worker: worker.into(),
        role: "coder".into(),
        at: at(0),
        ttl: TimeDeltaSeconds(5400),
        generation,
        nonce: "n".into(),
        process,
        session: None,
        awake: None,
    };
    Tip { revision: Revision("2".into()), parent: None, step }
}

#[test]
fn who_was_replaced_has_lost_it_and_who_ended_it_has_not() {
    let done = StepKind::Release { outcome: Outcome::Done };
    let broken = StepKind::StaleBreak { prior: "w".into() };
    let words = |hold: Hold| match hold {
        Hold::Own => "own".to_owned(),
        Hold::Ended(words) => format!("ended: {words}"),
        Hold::Lost(words) => format!("lost: {words}"),
    };
    let mut seen: Vec<_> = [
        tip(StepKind::Claim, "w", 3),
        tip(StepKind::Heartbeat, "w", 3),
        tip(done.clone(), "w", 3),
        tip(broken, "yoi", 3),
        tip(StepKind::Claim, "v", 4),
        tip(StepKind::Claim, "w", 4),
        tip(done, "v", 4),
    ]
    .iter()
    .map(|tip| words(Hold::of(Some(tip), "w", 3)))
    .collect();
    seen.push(words(Hold::of(None, "w", 3)));
    insta::assert_snapshot!(seen.join("\n"), @r"
    own
    own
    ended: it had ended its claim as done at 2026-11-30T09:00:00Z
    lost: its claim went stale and was broken by yoi at 2026-11-30T09:00:00Z
    lost: its claim is over: v has had the ticket since (generation 4)
    lost: its claim is over: w has had the ticket since (generation 4)
    lost: its claim is over: v has had the ticket since (generation 4)
    lost: there is no trace of its claim any more
    ");
}

//! Names, freshness, and who may take the next step.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use insta::assert_snapshot;

use super::*;
use crate::domain::facts::{ProcessIdentity, TimeDeltaSeconds};
use crate::domain::sample::{at, id};
use crate::domain::ticket::TicketId;

const TTL: i64 = 90 * 60;

fn machine(boot: &str, awake: i64) -> Standing {
    Standing { boot_id: boot.into(), awake: TimeDelta::seconds(awake) }
}

/// The newest step of `t`, made by `worker` at second 0 on boot `b` after 1,000 s awake.
fn tip(kind: StepKind, worker: &str) -> Tip {
    let process = ProcessIdentity { host: "h".into(), boot_id: "b".into(), pid: 7, started: 1 };
    let step = Step {
        ticket: id("t"),
        kind,
        worker: worker.into(),
        role: "coder".into(),
        at: at(0),
        ttl: TimeDeltaSeconds(TTL),
        generation: 3,
        nonce: "n".into(),
        process,
        session: None,
        awake: Some(TimeDeltaSeconds(1000)),
    };
    Tip { revision: Revision("2".into()), parent: Some(Revision("1".into())), step }
}

#[test]
fn every_id_has_a_name_of_its_own_that_git_and_file_systems_take() {
    let long = "x".repeat(300);
    let other = format!("{long}y");
    let wide = "ä".repeat(150);
    let ids = [
        "fix-login",
        "v1.2",
        ".hidden",
        "trailing.",
        "a..b",
        "a.lock",
        ".lock",
        "lock",
        "with space",
        "@{",
        "a@{b",
        "@",
        "~^:?*[\\",
        "ログイン",
        "a/b",
        "%41",
        "A",
        "-x",
        "",
        "a\u{7f}",
        "a\n",
        "..",
        ".",
        "é",
        "e\u{301}",
        "🙂",
        &long,
        &other,
        &wide,
    ];
    let names: BTreeSet<String> = ids.iter().map(|id| name::of(&TicketId::new(id))).collect();
    assert_eq!(names.len(), ids.len(), "{names:?}");
    for name in &names {
        assert!(name.len() <= 200 && !name.is_empty(), "{name}");
        let legal = !name.starts_with(['.', '-'])
            && !name.ends_with('.')
            && name.rsplit_once('.').is_none_or(|(_, end)| end != "lock")
            && !name.contains("..");
        assert!(legal && !name.contains(|c: char| c.is_control() || " ~^:?*[\\/@".contains(c)), "{name}");
    }
    let shown: Vec<_> = ids[..14].iter().map(|id| name::of(&TicketId::new(id))).collect();
    assert_snapshot!(shown.join("\n"), @"
    fix-login
    v1.2
    %2Ehidden
    trailing%2E
    a%2E%2Eb
    a%2Elock
    %2Elock
    lock
    with%20space
    %40%7B
    a%40%7Bb
    %40
    %7E%5E%3A%3F%2A%5B%5C
    ログイン
    ");
}

#[test]
fn a_claim_holds_for_others_until_its_ttl_and_two_minutes() {
    let elsewhere = machine("another", 9);
    let table = [(0, true), (TTL, true), (TTL + 119, true), (TTL + 120, false)];
    for (seconds, held) in table {
        let stands = Stands::of(Some(&tip(StepKind::Claim, "w")), &elsewhere, at(seconds));
        assert_eq!(matches!(stands, Stands::Held(_)), held, "{seconds}");
        assert_eq!(matches!(stands, Stands::Stale(_)), !held, "{seconds}");
    }
    assert_eq!(Stands::of(None, &elsewhere, at(0)), Stands::Free);
    for ended in [StepKind::Release { outcome: Outcome::Done }, StepKind::StaleBreak { prior: "w".into() }] {
        assert_eq!(Stands::of(Some(&tip(ended, "w")), &elsewhere, at(0)), Stands::Free);
    }
}

#[test]
fn on_the_same_boot_the_time_awake_counts_and_no_clock() {
    let claim = tip(StepKind::Heartbeat, "w");
    // Asleep for a day, and a clock that jumped a year: awake for a minute.
    for seconds in [86_400, 31_536_000, -86_400] {
        assert!(matches!(Stands::of(Some(&claim), &machine("b", 1060), at(seconds)), Stands::Held(_)), "{seconds}");
    }
    assert!(matches!(Stands::of(Some(&claim), &machine("b", 1000 + TTL + 120), at(0)), Stands::Stale(_)));
    // A time awake that cannot be is not believed.
    assert!(matches!(Stands::of(Some(&claim), &machine("b", 10), at(TTL + 120)), Stands::Stale(_)));
}

#[test]
fn a_challenger_takes_what_is_free_or_stale_and_is_told_who_holds_the_rest() {
    let ask = |tip: Option<&Tip>, worker: &str, seconds: i64| match may_claim(
        &id("t"),
        tip,
        worker,
        &machine("another", 0),
        at(seconds),
    ) {
        Ok(steps) => format!("{steps:?}"),
        Err(refused) => {
            format!("{} | {} | {:?}", refused.refusal, refused.refusal.hint.clone().unwrap_or_default(), refused.holder)
        }
    };
    let held = tip(StepKind::Claim, "w");
    let lines = [
        ask(None, "v", 0),
        ask(Some(&tip(StepKind::Release { outcome: Outcome::Abandoned }, "w")), "v", 0),
        ask(Some(&held), "v", 60),
        ask(Some(&held), "w", 60),
        ask(Some(&held), "v", TTL + 120),
        ask(Some(&held), "w", TTL + 120),
    ];
    assert_snapshot!(lines.join("\n"), @r#"
    [Claim]
    [Claim]
    lost-race: `t` is held by w (coder) until 2026-11-30T10:32:00Z | take another one: `yoi next --claim` | Some("w")
    lost-race: `t` is held by w (coder) until 2026-11-30T10:32:00Z | a worker's name stands for one run: take another one than w; if this is that very run, `yoi heartbeat t --worker w` renews that claim | Some("w")
    [StaleBreak { prior: "w" }, Claim]
    the stale claim of `t` is of another run of the name w | a worker's name stands for one run: claim it under another; if this is that very run, `yoi heartbeat t --worker w` renews its claim | Some("w")
    "#);
}

#[test]
fn only_the_holder_passes_the_fence_however_late_it_is() {
    let ask = |tip: Option<&Tip>, worker: &str, generation: Option<u64>, seconds: i64| match fence(
        &id("t"),
        tip,
        worker,
        generation,
        (&machine("another", 0), at(seconds)),
    ) {
        Ok(tip) => format!("passes on {}", tip.base()),
        Err(refused) => format!("{} | {}", refused.refusal, refused.refusal.hint.clone().unwrap_or_default()),
    };
    let held = tip(StepKind::Heartbeat, "w");
    let lines = [
        ask(Some(&held), "w", None, 0),
        ask(Some(&tip(StepKind::Claim, "w")), "w", Some(3), TTL * 9),
        ask(Some(&held), "w", Some(2), 0),
        ask(Some(&held), "v", None, TTL * 9),
        ask(Some(&tip(StepKind::StaleBreak { prior: "w".into() }, "yoi")), "w", None, 0),
        ask(Some(&tip(StepKind::Release { outcome: Outcome::PrOpened }, "w")), "w", None, 0),
        ask(None, "w", None, 0),
    ];
    assert_snapshot!(lines.join("\n"), @"
    passes on 1
    passes on 2
    `t` is held by w (generation 3, last beat 2026-11-30T09:00:00Z), not by w (generation 2) | stop working on it; what was not pushed is still where the work was done
    `t` was last held by w (generation 3, last beat 2026-11-30T09:00:00Z), not by v | stop working on it; what was not pushed is still where the work was done
    `t` is held by nobody: the claim of w went stale and was broken by yoi at 2026-11-30T09:00:00Z | `yoi claim t` takes it again, if nobody else does
    `t` is held by nobody: w released it as pr-opened at 2026-11-30T09:00:00Z | `yoi why t` says what comes next
    `t` has no claim | `yoi claim t` takes it
    ");
}

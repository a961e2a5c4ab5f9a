//! Steps as messages: what they look like, that they come back, and what is no step.

use insta::assert_snapshot;

use super::*;
use crate::domain::claim::Outcome;
use crate::domain::sample::{at, id};

fn step(kind: StepKind) -> Step {
    Step {
        ticket: id("fix-login"),
        kind,
        worker: "codex-lane-3".into(),
        role: "coder".into(),
        at: at(300),
        ttl: TimeDeltaSeconds(5400),
        generation: 3,
        nonce: "01JDZ".into(),
        process: ProcessIdentity { host: "build-1".into(), boot_id: "b00t".into(), pid: 4711, started: 99 },
        session: Some("s-1".into()),
        awake: Some(TimeDeltaSeconds(1000)),
    }
}

#[test]
fn a_claim_as_git_log_shows_it() {
    assert_snapshot!(write(&step(StepKind::Claim)).unwrap(), @r"
    🔒 CLAIM worker=codex-lane-3 ts=2026-11-30T09:05:00Z ttl-minutes=90

    codex-lane-3 (coder) works on fix-login.

    Yoi-Step: claim
    Yoi-Ticket: fix-login
    Yoi-Worker: codex-lane-3
    Yoi-Role: coder
    Yoi-At: 2026-11-30T09:05:00Z
    Yoi-TTL-Seconds: 5400
    Yoi-Generation: 3
    Yoi-Nonce: 01JDZ
    Yoi-Host: build-1
    Yoi-Boot: b00t
    Yoi-PID: 4711
    Yoi-Started: 99
    Yoi-Session: s-1
    Yoi-Awake-Seconds: 1000
    ");
}

#[test]
fn the_subjects() {
    let other = Step {
        worker: "a b=c\nYoi-Worker: x".into(),
        ttl: TimeDeltaSeconds(61),
        session: None,
        awake: None,
        ..step(StepKind::Claim)
    };
    let steps = [
        step(StepKind::Heartbeat),
        step(StepKind::StaleBreak { prior: "claude lane 7".into() }),
        step(StepKind::Release { outcome: Outcome::PrOpened }),
        other,
    ];
    let shown: Vec<String> =
        steps.iter().map(|step| write(step).unwrap().lines().take(3).collect::<Vec<_>>().join("\n")).collect();
    assert_snapshot!(shown.join("\n---\n"), @r"
    🔒 HEARTBEAT worker=codex-lane-3 ts=2026-11-30T09:05:00Z

    codex-lane-3 (coder) works on fix-login still.
    ---
    🔓 STALE-BREAK worker=codex-lane-3 prior=claude%20lane%207 ts=2026-11-30T09:05:00Z

    claude lane 7 has not been heard of for too long: codex-lane-3 ends its claim of fix-login.
    ---
    🔓 RELEASE worker=codex-lane-3 outcome=pr-opened ts=2026-11-30T09:05:00Z

    codex-lane-3 gives up its claim of fix-login: pr-opened.
    ---
    🔒 CLAIM worker=a%20b%3Dc%0AYoi-Worker:%20x ts=2026-11-30T09:05:00Z ttl-minutes=2

    a b=c%0AYoi-Worker: x (coder) works on fix-login.
    ");
}

#[test]
fn every_value_comes_back() {
    let long = "ü".repeat(MOST_BYTES / 2);
    let values = [
        "",
        " ",
        "%",
        "%41",
        "%zz",
        " both ends ",
        "a=b: c",
        "Yoi-Worker: x",
        "line\nline\r\n\nYoi-Ticket: x\n",
        "\0\u{1b}[31m\u{7f}\u{85}\u{2028}\u{a0}",
        "ログイン 🔒",
        "\t",
        "#comment",
        "-----BEGIN",
        &long,
    ];
    for value in values {
        let step = Step {
            ticket: id(value),
            kind: StepKind::StaleBreak { prior: value.into() },
            worker: value.into(),
            role: value.into(),
            nonce: value.into(),
            session: Some(value.into()),
            process: ProcessIdentity { host: value.into(), boot_id: value.into(), pid: u32::MAX, started: u64::MAX },
            generation: u64::MAX,
            ttl: TimeDeltaSeconds(LONGEST),
            awake: Some(TimeDeltaSeconds(0)),
            ..step(StepKind::Claim)
        };
        let message = write(&step).unwrap();
        assert_eq!(read(&message).as_ref(), Ok(&step), "{message}");
        assert!(!message.contains(['\0', '\r', '\u{1b}']) && message.lines().all(|line| line.trim_end() == line));
    }
    let kinds = Outcome::ALL.map(|outcome| StepKind::Release { outcome });
    for kind in kinds.into_iter().chain([StepKind::Claim, StepKind::Heartbeat]) {
        let step = Step { session: None, awake: None, ..step(kind) };
        assert_eq!(read(&write(&step).unwrap()), Ok(step));
    }
}

#[test]
fn what_cannot_be_kept_is_refused() {
    let base = || step(StepKind::Claim);
    let long = "x".repeat(MOST_BYTES + 1);
    let steps = [
        Step { worker: long.clone(), ..base() },
        Step { session: Some(long), ..base() },
        Step { ttl: TimeDeltaSeconds(-1), ..base() },
        Step { ttl: TimeDeltaSeconds(i64::MAX), ..base() },
        Step { awake: Some(TimeDeltaSeconds(i64::MIN)), ..base() },
        Step { at: at(0) + chrono::TimeDelta::milliseconds(1), ..base() },
        Step { at: Timestamp::MAX_UTC, ..base() },
        Step { at: at(0) - chrono::TimeDelta::days(366 * 3000), ..base() },
    ];
    let refusals: Vec<String> = steps.iter().map(|step| write(step).unwrap_err()).collect();
    assert_snapshot!(refusals.join("\n"), @r"
    its Worker has 4097 bytes; at most 4096 are kept
    its Session has 4097 bytes; at most 4096 are kept
    its TTL of -1 s is out of all bounds
    its TTL of 9223372036854775807 s is out of all bounds
    its awake time of -9223372036854775808 s is out of all bounds
    its time has fractions of a second
    its time has fractions of a second
    its time -0980-09-10 09:00:00 UTC is out of all bounds
    ");
}

#[test]
fn others_trailers_and_edits_of_the_text_change_nothing() {
    let step = step(StepKind::Claim);
    let message = write(&step).unwrap();
    let trailers = message.rsplit_once("\n\n").unwrap().1;
    let table = [
        format!("{message}Signed-off-by: A <a@b>\nyoi-later: new\n\n\n"),
        format!("anything\n\n{trailers}"),
        format!("🔒 HEARTBEAT worker=other\n\nYoi-Worker: other\n\nnot: this\n\n{trailers}"),
        message.replace("Yoi-Worker:", "YOI-WORKER :"),
        message.replace('\n', "\r\n").replace("\r\n\r\n", "\n\n"),
    ];
    for message in table {
        assert_eq!(read(&message).as_ref(), Ok(&step), "{message}");
    }
}

#[test]
fn what_is_no_step_says_why() {
    let message = write(&step(StepKind::Release { outcome: Outcome::Done })).unwrap();
    let with = |from: &str, to: &str| {
        assert!(message.contains(from), "{from}");
        message.replace(from, to)
    };
    let table = [
        String::new(),
        "fix: a commit of somebody's".into(),
        "fix: another\n\nSigned-off-by: A <a@b>".into(),
        with("Yoi-Step: release", "Yoi-Step: pause"),
        with("Yoi-Outcome: done", "Yoi-Outcome: well"),
        with("Yoi-Outcome: done\n", ""),
        with("Yoi-Worker: codex-lane-3\n", ""),
        with("Yoi-Worker: codex-lane-3", "Yoi-Worker: a\nYoi-Worker: b"),
        with("Yoi-Worker: codex-lane-3", "Yoi-Worker:"),
        with("Yoi-Worker: codex-lane-3", "Yoi-Worker: 100%"),
        with("Yoi-Worker: codex-lane-3", "Yoi-Worker: %FF"),
        with("Yoi-PID: 4711", "Yoi-PID: -1"),
        with("Yoi-Generation: 3", "Yoi-Generation: 99999999999999999999999"),
        with("Yoi-TTL-Seconds: 5400", "Yoi-TTL-Seconds: 9223372036854775807"),
        with("Yoi-Awake-Seconds: 1000", "Yoi-Awake-Seconds: many"),
        with("Yoi-At: 2026-11-30T09:05:00Z", "Yoi-At: noon"),
        with("Yoi-At: 2026-11-30T09:05:00Z", "Yoi-At: 2026-11-30T09:05:00.5Z"),
        "x".repeat(MOST_MESSAGE_BYTES + 1),
    ];
    let sentences: Vec<String> = table.iter().map(|message| read(message).unwrap_err()).collect();
    assert_snapshot!(sentences.join("\n"), @r"
    its message has no trailers
    its message has no trailers
    its message has no trailers of yoi's
    its step is `pause`, which this version of yoi does not know
    its `Yoi-Outcome` is `well`, which this version of yoi cannot read
    its message has no `Yoi-Outcome`
    its message has no `Yoi-Worker`
    its message has `Yoi-Worker` twice
    its `Yoi-Worker` is ``, which yoi never writes
    its `Yoi-Worker` is `100%`, which yoi never writes
    its `Yoi-Worker` is `%FF`, which yoi never writes
    its `Yoi-PID` is `-1`, which this version of yoi cannot read
    its `Yoi-Generation` is `99999999999999999999999`, which this version of yoi cannot read
    its TTL of 9223372036854775807 s is out of all bounds
    its `Yoi-Awake-Seconds` is `many`, which this version of yoi cannot read
    its `Yoi-At` is `noon`, which is no time
    its time has fractions of a second
    its message is longer than 256 KiB
    ");
}

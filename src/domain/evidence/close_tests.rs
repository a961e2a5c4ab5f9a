//! What `close` demands, what it looks at, and what it writes.

use super::*;
use crate::domain::sample::{accepted, at, ticket, with};

fn whole() -> Asked<'static> {
    Asked {
        pr: Some("https://example.org/acme/web/pull/7"),
        merge_state: Some("merged"),
        tests: Some("cargo test: 120 passed"),
        artifact: Some("docs/login.md"),
        residual: Some("none"),
        workspace: Some(Ok(Workspace::Removed)),
        ..Asked::default()
    }
}

fn retained() -> Workspace {
    Workspace::Retained { owner: "ana".into(), reason: "review: of the log".into(), until: at(3600) }
}

fn writer(holds: bool) -> Writer {
    Writer { by: "lane-3".into(), holds, label: Some("claimed".into()) }
}

fn lacking(asked: &Asked<'_>, checks: &Checks) -> Vec<String> {
    match Closing::of(&"a".into(), asked, checks, at(0)) {
        Ok(_) => Vec::new(),
        Err(refusal) => {
            assert_eq!(refusal.message, "`a` is not closed: the evidence is not complete");
            refusal.evidence
        }
    }
}

/// One line is said, with this in it; none, where nothing is expected.
fn check(asked: &Asked<'_>, checks: &Checks, expected: &str) {
    let lines = lacking(asked, checks);
    let fits = if expected.is_empty() { lines.is_empty() } else { lines.len() == 1 && lines[0].contains(expected) };
    assert!(fits, "{asked:?}: {expected:?}, not {lines:?}");
}

#[test]
fn each_missing_thing_is_named_and_all_of_them_at_once() {
    let none = Checks::default();
    let at_odds = Some(Err(vec!["--workspace is odd".to_owned()]));
    let past = Workspace::Retained { owner: "ana".into(), reason: "r".into(), until: at(0) };
    let rows = [
        (whole(), ""),
        (Asked { pr: None, ..whole() }, "--pr URL is missing: the pull request; without one: --no-pr WHY"),
        (Asked { pr: Some(" "), ..whole() }, "--pr URL is blank"),
        (Asked { pr: None, no_pr: Some("pushed to main"), merge_state: None, ..whole() }, ""),
        (Asked { pr: None, no_pr: Some("merged by hand"), ..whole() }, ""),
        (Asked { pr: None, no_pr: Some(""), merge_state: None, ..whole() }, "--no-pr is blank"),
        (Asked { no_pr: Some("x"), ..whole() }, "--pr and --no-pr exclude each other"),
        (Asked { merge_state: None, ..whole() }, "--merge-state is missing"),
        (Asked { merge_state: Some("done"), ..whole() }, "is one of merged, auto-merge, open, closed, not `done`"),
        (Asked { merge_state: Some("auto-merge"), ..whole() }, ""),
        (Asked { tests: None, ..whole() }, "--tests is missing"),
        (Asked { tests: Some("\n"), ..whole() }, "--tests is blank"),
        (Asked { artifact: None, ..whole() }, "--artifact is missing"),
        (Asked { artifact: None, no_artifact: Some("a refactoring"), ..whole() }, ""),
        (Asked { artifact: None, no_artifact: Some(" "), ..whole() }, "--no-artifact is blank"),
        (Asked { no_artifact: Some("x"), ..whole() }, "--artifact and --no-artifact exclude each other"),
        (
            Asked { artifact: Some("all tests pass"), ..whole() },
            "and no artifact: an artifact is what somebody can open",
        ),
        (Asked { artifact: Some("https://"), ..whole() }, "--artifact \"https://\": write the whole address"),
        (Asked { residual: None, ..whole() }, "--residual is missing: what is left to do"),
        (Asked { residual: Some(""), ..whole() }, "--residual is blank"),
        (Asked { workspace: None, ..whole() }, "--workspace is missing: removed, or retained:OWNER:REASON:EXPIRY"),
        (Asked { workspace: at_odds, ..whole() }, "--workspace is odd"),
        (Asked { workspace: Some(Ok(retained())), ..whole() }, ""),
        (Asked { workspace: Some(Ok(past)), ..whole() }, "2026-11-30T09:00:00Z is not in the future"),
    ];
    for (asked, expected) in rows {
        check(&asked, &none, expected);
    }
    insta::assert_snapshot!(lacking(&Asked::default(), &none).join("\n"), @r"
    --pr URL is missing: the pull request; without one: --no-pr WHY
    --merge-state is missing: what became of the pull request: merged, auto-merge, open or closed
    --tests is missing: which tests ran, and what they showed
    --artifact is missing: what there is now: a path, an address or a few words; without one: --no-artifact WHY
    --residual is missing: what is left to do, or known not to work; may be `none`
    --workspace is missing: removed, or retained:OWNER:REASON:EXPIRY
    ");
}

#[test]
fn an_address_is_whole_and_of_the_web() {
    for (url, fits) in [
        ("https://example.org/pull/7", true),
        ("http://localhost:3000/a#b", true),
        ("https://\u{4f8b}.jp/7", true),
        ("example.org/pull/7", false),
        ("ftp://example.org/7", false),
        ("#7", false),
        ("https://", false),
        ("https:///x", false),
        ("https://example.org/a b", false),
        ("https://example.org/a\nb", false),
        ("https://example.org/\u{1b}[2J", false),
        ("https://example.org/\u{202e}x", false),
        ("javascript:alert(1)", false),
    ] {
        check(
            &Asked { pr: Some(url), ..whole() },
            &Checks::default(),
            if fits { "" } else { "write the whole address" },
        );
    }
}

#[test]
fn what_was_looked_at_counts_more_than_what_is_said() {
    let branch = |merged| Checks { branch: Some("yoi/a".into()), merged, ..Checks::default() };
    let worktree = |worktree| Checks { worktree, ..Checks::default() };
    let there = || worktree(Standing::There(".yoi/worktrees/a".into()));
    let open = Asked { merge_state: Some("open"), ..whole() };
    let by_hand = Asked { pr: None, no_pr: Some("pushed"), merge_state: None, ..whole() };
    let kept = Asked { workspace: Some(Ok(retained())), ..whole() };
    let rows = [
        (whole(), branch(Some(true)), ""),
        (whole(), branch(None), ""),
        (whole(), branch(Some(false)), "the branch yoi/a is not merged"),
        (open, branch(Some(false)), ""),
        (by_hand.clone(), branch(Some(false)), "the branch yoi/a has commits that are not merged"),
        (Asked { merge_state: Some("closed"), ..by_hand.clone() }, branch(Some(false)), ""),
        (Asked { merge_state: Some("merged"), ..by_hand }, branch(Some(false)), "the branch yoi/a is not merged"),
        (whole(), there(), "--workspace removed: the worktree .yoi/worktrees/a is there still"),
        (whole(), worktree(Standing::Gone), ""),
        (kept.clone(), worktree(Standing::Gone), "there is no worktree of this ticket"),
        (kept.clone(), there(), ""),
        (kept, Checks::default(), ""),
    ];
    for (asked, checks, expected) in rows {
        check(&asked, &checks, expected);
    }
    let both = Checks { worktree: Standing::There("w".into()), ..branch(Some(false)) };
    assert_eq!(lacking(&Asked { tests: None, ..whole() }, &both).len(), 3, "with what is missing, all at once");
}

#[test]
fn a_result_is_no_artifact() {
    for result in [
        "tests pass",
        "All 42 tests passed.",
        "CI is green",
        "green CI run",
        "CI \u{2705}",
        "ci run 4711",
        "cargo test: 120 passed; 0 failed",
        "all tests passed on linux",
        "pytest ok",
        "test results",
        "the build succeeded",
        "clippy clean, fmt clean",
        "3/3 checks passed",
        "pass/fail",
        "unit and integration tests",
        "npm test exits with 0 errors",
        "https://github.com/acme/web/actions/runs/4711",
        "https://github.com/acme/web/actions/runs/4711/job/12",
        "https://github.com/acme/web/pull/7/checks",
        "https://gitlab.com/acme/web/-/pipelines/12",
        "https://gitlab.com/acme/web/-/jobs/12",
        "https://app.circleci.com/pipelines/github/acme/web/12",
        "https://jenkins.example.org/job/web/12/",
        "(https://buildkite.com/acme/web/builds/12).",
        "target/junit.xml",
        "build/test-results/",
        "coverage/index.html",
        "build/junit-report.xml",
        "log in 1.5 s: tests ok",
        "42",
    ] {
        assert!(is_result(result), "{result}");
    }
    for artifact in [
        "docs/login.md",
        "./dist",
        "src/auth/mod.rs",
        "tests/cli/login.rs",
        "target/release/yoi",
        "login.png",
        "a screenshot of the login page",
        "release v1.2.0",
        "the dashboard \"logins\" on grafana",
        "https://example.org/login",
        "https://github.com/acme/web/releases/tag/v1.2.0",
        "https://github.com/acme/web/actions/runs/4711/artifacts/12",
        "https://github.com/acme/web/pull/7",
        "crate yoi 0.2.0 on crates.io",
        "report.pdf (tests passed)",
        "\u{30ed}\u{30b0}\u{30a4}\u{30f3}\u{753b}\u{9762}",
        "C:\\out\\login.exe",
        "docker image acme/web",
        "runbook in the wiki",
        "instructions for a clean build",
        "an error page with tests",
        "new unit tests for the form",
        "the job board",
    ] {
        assert!(!is_result(artifact), "{artifact}");
    }
}

#[test]
fn done_comes_first_then_closed() {
    let text = |key: &str, value: &str| Change::text(key, value);
    let claimed = with(accepted("a"), |t| {
        t.labels = vec!["claimed".into()];
        t.stamps.updated_at = Some(at(-60));
    });
    let rest = [Change::Remove("labels".into(), "claimed".into()), text("updated_at", "2026-11-30T09:00:00Z")];
    let done = Closing::done(&claimed, &writer(true), at(0)).unwrap();
    assert_eq!(
        done,
        [&[text("state", "done")], &rest[..]].concat(),
        "the acceptance stays: it belongs to what was done"
    );
    let closed = Closing::closed(&with(claimed, |t| t.labels.clear()), &writer(true), at(0));
    assert_eq!(closed, [text("state", "closed"), text("updated_at", "2026-11-30T09:00:00Z")]);
}

#[test]
fn who_holds_it_closes_what_is_in_progress_and_a_person_whatever_is_not_closed() {
    let may = |state, holds| Closing::done(&ticket("a", state), &writer(holds), at(0));
    for state in State::ALL {
        let worker = matches!(state, State::Inprogress | State::Done | State::Closed);
        assert_eq!(may(state, true).is_ok(), worker, "a worker: {state}");
        assert_eq!(may(state, false).is_ok(), state != State::Closed, "a person: {state}");
    }
    assert_eq!(may(State::Done, true).unwrap(), [], "it was interrupted after the first edit");
    assert_eq!(may(State::Closed, true).unwrap(), [], "and after the second");
    assert!(may(State::Planning, true).unwrap_err().message.contains("took it out of inprogress"));
    let stateless = with(ticket("a", State::Done), |t| t.state = None);
    assert!(Closing::done(&stateless, &writer(false), at(0)).is_err());
}

#[test]
fn the_notes_have_every_field() {
    let without = Asked {
        pr: None,
        merge_state: None,
        no_pr: Some("a spike"),
        artifact: None,
        no_artifact: Some("only \"knowledge\"\nis left"),
        residual: Some("the # cache\r\nis cold \\"),
        workspace: Some(Ok(retained())),
        ..whole()
    };
    let notes = [whole(), without]
        .map(|asked| Closing::of(&"a".into(), &asked, &Checks::default(), at(0)).unwrap().note(&writer(true), at(0)));
    insta::assert_snapshot!(notes.join("\n"), @r#"
    2026-11-30T09:00:00Z CLOSED by lane-3: pr "https://example.org/acme/web/pull/7" (merged); tests "cargo test: 120 passed"; artifact "docs/login.md"; residual "none"; workspace removed
    2026-11-30T09:00:00Z CLOSED by lane-3: pr none, because "a spike"; tests "cargo test: 120 passed"; artifact none, because "only \"knowledge\" is left"; residual "the # cache is cold \\"; workspace retained by "ana" for "review: of the log" until 2026-11-30T10:00:00Z
    "#);
    let note = |state| Closing::done_note(&ticket("a", state), &writer(true), at(0));
    assert_eq!(note(State::Inprogress).unwrap(), "2026-11-30T09:00:00Z STATE inprogress -> done by lane-3");
    assert_eq!((note(State::Done), note(State::Closed)), (None, None));
}

//! Exit codes, as a table (DESIGN.md 8): 0 done, 1 failed, 2 usage, 3 refused by a rule, 4 the daemon is needed.

use crate::support::stage::Stage;

fn check(stage: &Stage, rows: &[(i32, &str)]) {
    let mut wrong = Vec::new();
    for (code, line) in rows {
        let answer = stage.yoi(line);
        // A failure is on standard error, and nothing else is (but the remark in brackets that no daemon runs); an
        // inspection of a bad file is an answer.
        let complained = !answer.stderr.is_empty() && !answer.stderr.starts_with('(');
        let expected = *code != 0 && !line.starts_with("inspect");
        if answer.code != *code || complained != expected {
            wrong.push(format!("{line}: expected {code}: {answer}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What comes out the same with a daemon and without one.
const EITHER: [(i32, &str); 38] = [
    (0, "list"),
    (0, "list --all --state closed --class new_queued --label x"),
    (0, "show ready"),
    (0, "show unique-pre"),
    (0, "why queued"),
    (0, "doctor"),
    (0, "status"),
    (0, "events"),
    (0, "config"),
    (0, "trust --show"),
    (0, "inspect tickets/ready.md"),
    (0, "set ready note=x"),
    (0, "set ready note=x"),
    (0, "pod list"),
    (0, "--help"),
    (0, "--version"),
    (1, "show nowhere"),
    (1, "show twin"),
    (1, "why nowhere"),
    (1, "edit nowhere"),
    (1, "inspect nowhere.md"),
    (1, "set --file nowhere.md a=b"),
    (2, "frobnicate"),
    (2, "list --state someday"),
    (2, "list --class someday"),
    (2, "move ready someday"),
    (2, "move ready queued --force"),
    (2, "set ready"),
    (2, "set ready note"),
    (2, "new"),
    (2, "new x --priority P9"),
    (2, "events --since someday"),
    (3, "move ready done"),
    (3, "move nowhere queued"),
    (3, "move uniq queued"),
    (3, "accept gated"),
    (3, "set ready accepted_by=me"),
    (3, "new x --state done"),
];

fn stage() -> Stage {
    let stage = Stage::new();
    stage.ticket("ready", "ready", "");
    stage.ticket("queued", "queued", "");
    stage.ticket("gated", "queued", "human_gate: yes");
    stage.ticket("unique-prefix", "ready", "");
    stage.ticket("twin-1", "ready", "");
    stage.ticket("twin-2", "ready", "");
    stage
}

#[test]
fn without_a_daemon() {
    let stage = stage();
    check(&stage, &EITHER);
    check(
        &stage,
        &[
            (0, "down"),
            (1, "logs"),
            (4, "work-set"),
            (4, "plan queued --session s"),
            (4, "wait queued --kind other --detail x --session s"),
            (4, "await queued --step x --for 1h --session s"),
            (4, "kick"),
            (4, "kick --dry-run"),
            (4, "hook panel-open"),
            (4, "events --follow"),
        ],
    );
    assert!(stage.yoi("kick").stderr.contains("\n  hint: start it with `yoi up`\n"), "{}", stage.yoi("kick"));
    stage.bench.write("work/.yoi/config.toml", "[kick]\nmax_item = 3\n");
    check(&stage, &[(1, "list"), (1, "up"), (1, "status"), (1, "daemon"), (1, "move ready queued"), (0, "--help")]);
    stage.bench.folder("elsewhere");
    assert_eq!(stage.bench.yoi("elsewhere", "list").code, 1);
}

#[test]
fn with_a_daemon() {
    let stage = stage();
    stage.start();
    stage.rest();
    check(&stage, &EITHER);
    let session = stage.session();
    let with_session = |line: &str| format!("{line} --session {session}");
    check(
        &stage,
        &[
            (0, "up"),
            (0, "work-set"),
            (0, &with_session("plan queued")),
            (0, &with_session("wait gated --kind human_gate --detail x")),
            (0, "hook panel-open"),
            (0, "kick --dry-run"),
            (2, "plan queued"),
            // Agents take a hook's exit code 2 for a veto.
            (1, "hook tea-time"),
            (1, "hook busy --role coder --ticket queued"),
            (1, "hook rate-limited"),
            (2, &with_session("wait queued --kind weather --detail x")),
            (2, &with_session("await queued --step x --for soon")),
            (3, "daemon"),
            (3, "plan queued --session old"),
            (3, "hook busy"),
            (3, "hook orchestrator-spawn"),
            (0, "hook claude-code"),
            (3, "hook busy --role coder --ticket nowhere --pid 1"),
            (3, "hook gone --role coder --pid 1"),
            (3, &with_session("await queued --step x --for 1h")),
        ],
    );
    stage.stop();
}

#[test]
fn a_suppressed_kick_is_a_refusal() {
    let stage = Stage::new();
    stage.start();
    check(&stage, &[(0, "kick --dry-run")]);
    let answer = stage.yoi("kick");
    assert_eq!((answer.code, answer.stderr.as_str()), (3, ""), "{answer}");
    assert!(
        answer.stdout.starts_with("no kick: nothing is queued") && answer.stdout.contains("(nothing_queued, row 3)"),
        "{answer}"
    );
}

//! Another file system is mounted over the tickets, and taken away again: within seconds the board is that of what lies
//! there, and changes there are noticed (FAULTS kind 23).

use serde_json::Value;

use crate::support::namespace;
use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

fn in_a_namespace(name: &str, test: fn()) {
    let name = format!("e2e::mounts::{name}");
    // As root of its own namespace only: a mount that nobody else sees.
    let may = "mount -t tmpfs probe \"$TMPDIR\" && umount \"$TMPDIR\"";
    namespace::in_its_own(&name, may, "nothing can be mounted here, so mounts are not tried", test);
}

fn shell(stage: &Stage, line: &str) {
    let answer = stage.bench.run(stage.bench.program("sh", "work").args(["-euc", line]));
    assert_eq!(answer.code, 0, "{line}: {answer}");
}

fn ids(stage: &Stage) -> Vec<String> {
    let list = stage.json("list --all");
    let ids = list["tickets"].as_array().unwrap().iter().map(|ticket| ticket["id"].as_str().unwrap().to_owned());
    let mut ids: Vec<_> = ids.collect();
    ids.sort();
    ids
}

fn shows(stage: &Stage, expected: &[&str]) {
    until(
        "the board",
        BOUND,
        || (ids(stage) == expected).then_some(()),
        || format!("{:?}\n{}", ids(stage), stage.story()),
    );
}

fn watching(stage: &Stage) -> Value {
    stage.json("status")["watching"].clone()
}

#[test]
fn what_is_mounted_over_the_tickets_is_noticed_and_so_is_its_end() {
    in_a_namespace("what_is_mounted_over_the_tickets_is_noticed_and_so_is_its_end", || {
        let stage = Stage::new();
        stage.ticket("a", "ready", "");
        stage.ticket("deep/b", "ready", "");
        stage.start();
        stage.rest();
        shows(&stage, &["a", "b"]);
        for folder in ["tickets", "tickets/deep"] {
            shell(&stage, &format!("mount -t tmpfs over {folder}"));
            shows(&stage, if folder == "tickets" { &[] } else { &["a"] });
            let why = watching(&stage)["last_rescan"].as_str().unwrap().to_owned();
            assert!(why.contains("a file system was mounted or unmounted at") && why.contains(folder), "{why}");
            // It is watched, not only read.
            let name = if folder == "tickets" { "c" } else { "deep/c" };
            stage.ticket(name, "queued", "");
            let stamped = || stage.text(name).contains("queued_at").then_some(());
            until("the stamp of what came there", BOUND, stamped, || stage.story());
            shell(&stage, &format!("umount {folder} || umount -l {folder}"));
            shows(&stage, &["a", "b"]);
            stage.save("a", "Body", "Other body");
            let noticed = || stage.yoi("show a").stdout.contains("Other body").then_some(());
            until("a change of what is there again", BOUND, noticed, || stage.story());
            stage.save("a", "Other body", "Body");
            assert_eq!(watching(&stage)["missed"], 0);
        }
        stage.stop();
    });
}

#[test]
fn the_same_file_system_in_another_place_is_another_one() {
    in_a_namespace("the_same_file_system_in_another_place_is_another_one", || {
        let stage = Stage::new();
        stage.ticket("a", "ready", "");
        stage.bench.write("work/others/z.md", "---\ntitle: z\nstate: ready\n---\n");
        stage.start();
        stage.rest();
        shell(&stage, "mount --bind others tickets");
        shows(&stage, &["z"]);
        shell(&stage, "umount tickets || umount -l tickets");
        shows(&stage, &["a"]);
        stage.stop();
    });
}

#[test]
fn tickets_that_can_only_be_read_are_named_and_every_refusal_says_what_to_do() {
    in_a_namespace("tickets_that_can_only_be_read_are_named_and_every_refusal_says_what_to_do", || {
        let stage = Stage::new();
        stage.ticket("a", "ready", "");
        stage.ticket("b", "queued", "queued_at: \"2026-11-30T08:00:00Z\"");
        shell(&stage, "mount --bind tickets tickets && mount -o remount,bind,ro tickets");
        let named = |when: &str| {
            for line in ["set a extra=1", "move a queued", "accept b", "new Another"] {
                let answer = stage.yoi(line);
                for what in ["Read-only file system", "nothing was changed", "mount it writable"] {
                    assert!(answer.code == 1 && answer.stderr.contains(what), "{when}: {line}: {answer}");
                }
            }
            let found = stage.yoi("doctor");
            let what =
                "error   ticket folder: [BENCH]/work/tickets: nothing can be written there: Read-only file system";
            assert!(found.code == 1 && found.to_string().matches(what).count() == 1, "{when}: {found}");
        };
        named("without a daemon");
        stage.start();
        named("with a daemon");
    });
}

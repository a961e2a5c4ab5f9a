//! `yoi doctor --fix`: what it mends, and that it deletes nothing (DESIGN.md 7.1, 8; FAULTS kind 22).

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::stage::Stage;

#[test]
fn what_can_be_mended_is_named_first_and_mended_with_fix_alone() {
    let stage = Stage::new();
    stage.ticket("unstamped", "queued", "");
    stage.ticket("stamped", "queued", "queued_at: \"2026-11-30T08:00:00Z\"");
    let stamped = stage.text("stamped");
    let state = stage.bench.folder("work/.git/yoi");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).unwrap();
    let store = "work/.git/yoi/store.sqlite";
    let damaged = "SQLite format 3\0 and then nothing of the kind, for long enough to be looked at: ".repeat(20);
    stage.bench.write(store, &damaged);
    let before = stage.bench.tree("work");

    let answer = stage.yoi("doctor");
    assert_eq!(answer.code, 1, "{answer}");
    for wrong in [
        "error   [BENCH]/work/.git/yoi: others may look into it (mode 0755); `yoi doctor --fix` mends it",
        "error   [BENCH]/work/.git/yoi/store.sqlite: ",
        "remark  [BENCH]/work/.yoi/.gitignore: does not name /run/ and /worktrees/, which must not be tracked; ",
        "remark  tickets/unstamped.md: it is queued without queued_at",
    ] {
        assert!(answer.to_string().contains(wrong), "{wrong}\n{answer}");
    }
    assert_eq!((stage.bench.tree("work"), stage.bench.read(store)), (before, damaged.clone()));

    let answer = stage.run(&["doctor", "--fix", "--by", "ana"]);
    assert_eq!(answer.code, 0, "{answer}");
    for mended in [
        "fixed   [BENCH]/work/.git/yoi: only you may look into it now",
        "fixed   the store was moved to [BENCH]/work/.git/yoi/store.sqlite.damaged-",
        "fixed   [BENCH]/work/.yoi/.gitignore: names /run/ and /worktrees/ now",
        "fixed   tickets/unstamped.md: queued_at was written, as of now",
    ] {
        assert!(answer.to_string().contains(mended), "{mended}\n{answer}");
    }
    assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
    let aside: Vec<_> = fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().path()).collect();
    let aside = aside.iter().find(|path| path.to_string_lossy().contains("damaged")).unwrap();
    assert_eq!(fs::read_to_string(aside).unwrap(), damaged);
    assert_eq!(stage.text("stamped"), stamped);
    assert!(stage.text("unstamped").contains("queued_by: ana\nqueued_at: "), "{}", stage.text("unstamped"));

    let tree = stage.bench.tree("work");
    let again = stage.json("doctor --fix");
    assert_eq!((again.get("fixed"), stage.bench.tree("work")), (None, tree), "nothing is left to mend");
}

#[test]
fn claims_in_a_thousand_files_are_packed_where_that_is_wanted() {
    let stage = Stage::new();
    let commit = stage.bench.git("work", &["commit-tree", "-m", "one", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"]);
    for number in 0..1_001 {
        stage.bench.write(&format!("work/.git/refs/yoi/claims/t{number}"), &commit);
    }
    let loose = || fs::read_dir(stage.bench.path("work/.git/refs/yoi/claims")).map_or(0, Iterator::count);
    let said = stage.yoi("doctor");
    assert!(said.stdout.contains("1001 claims lie in a file each") && loose() == 1_001, "{said}");
    let mended = stage.yoi("doctor --fix");
    assert!(mended.stdout.contains("1001 claims were packed into one file") && loose() == 0, "{mended}");
    assert!(!stage.yoi("doctor").stdout.contains("in a file each"));
    let there = stage.bench.git("work", &["for-each-ref", "refs/yoi/claims"]);
    assert_eq!(there.lines().count(), 1_001);
}

#[test]
fn a_running_daemon_mends_tickets_and_goes_on_with_a_new_store() {
    let stage = Stage::new();
    stage.ticket("unstamped", "queued", "");
    stage.start();
    stage.rest();
    stage.done("doctor --fix --by ana");
    assert!(stage.text("unstamped").contains("queued_by: ana"));
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(stage.bench.path(&format!("work/.git/yoi/store.sqlite{end}")));
    }
    stage.ticket("b", "queued", "");
    stage.nth_turn(2);
    stage.rest();
    assert!(stage.events().iter().any(|event| event["kind"] == "ISSUE_APPROVED" && event["ticket"] == "b"));
}

#[test]
fn a_damaged_store_names_what_mends_it_and_is_mended_for_the_running_daemon_too() {
    let stage = Stage::new();
    let (well, store) = (stage.done("doctor"), "work/.git/yoi/store.sqlite");
    assert!(well.stdout.contains("ok      no store yet: ") && !well.stdout.contains("ok      store "), "{well}");
    stage.bench.write(store, &"nothing of the kind, for long enough to be looked at: ".repeat(20));
    stage.start();
    let status = || stage.done("status").stdout;
    assert!(
        status().contains("history cannot be kept: ") && status().contains("`yoi doctor --fix` does"),
        "{}",
        status()
    );
    let fixed = stage.done("doctor --fix");
    assert!(fixed.stdout.contains("fixed   the store was moved to "), "{fixed}");
    assert!(!status().contains("history cannot be"), "at once: {}", status());
    stage.stop();
    assert!(stage.done("doctor").stdout.contains("ok      store [BENCH]/work/.git/yoi/store.sqlite\n"));
}

#[test]
fn a_store_that_somebody_else_holds_is_not_damaged_and_stays() {
    let stage = Stage::new();
    stage.done("pause");
    let path = stage.bench.path("work/.git/yoi/store.sqlite");
    let holder = rusqlite::Connection::open(&path).unwrap();
    holder.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let found = stage.yoi("doctor --fix");
    assert!(found.code == 1 && found.stdout.contains("error   [BENCH]/work/.git/yoi/store.sqlite: "), "{found}");
    assert!(!found.stdout.contains("moved to"), "{found}");
    drop(holder);
    assert!(stage.done("doctor").stdout.contains("ok      store "));
    assert!(stage.done("status").stdout.contains("paused"), "nothing of it is lost");
}

#[test]
fn without_a_daemon_it_looks_at_the_rest_where_the_settings_or_the_folder_cannot_be_read() {
    let stage = Stage::new();
    let config = "work/.yoi/config.toml";
    let good = stage.bench.read(config);
    stage.bench.write(config, &good.replace("mode = \"orchestrated\"", "mode = \"orchestrate\""));
    fs::remove_dir(stage.bench.path("work/tickets")).unwrap();
    let found = stage.yoi("doctor");
    let all = ["error   .yoi/config.toml:2:8: ", "ok      workspace ", "remark  daemon: it is not running"];
    assert_eq!(stage.yoi("events").code, 0, "history does not depend on them");
    assert!(found.code == 1 && all.iter().all(|part| found.to_string().contains(part)), "{found}");
    stage.bench.write(config, &good);
    let found = stage.yoi("doctor");
    let folder = "error   ticket folder: [BENCH]/work/tickets: there is no such folder";
    assert!(
        found.code == 1 && found.to_string().contains(folder) && !found.to_string().contains("tickets read"),
        "{found}"
    );
    assert!(stage.yoi("doctor --json").stdout.contains("\"version\": 1"));
}

#[test]
fn beside_a_daemon_the_settings_are_read_as_they_are_written_and_the_folder_as_it_is() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.start();
    let config = "work/.yoi/config.toml";
    let good = stage.bench.read(config);
    stage.bench.write(config, &good.replace("mode = \"orchestrated\"", "mode = \"orchestrate\""));
    let found = stage.yoi("doctor");
    assert!(found.code == 1 && found.to_string().contains("error   .yoi/config.toml:2:8: "), "{found}");
    assert!(!found.to_string().contains("settings\n"), "{found}");
    stage.bench.write(config, &good);
    let found = stage.yoi("doctor");
    assert!(found.code == 0 && found.to_string().contains("ok      .yoi/config.toml: "), "{found}");

    let (there, away) = (stage.bench.path("work/tickets"), stage.bench.path("work/away"));
    fs::rename(&there, &away).unwrap();
    let found = stage.yoi("doctor");
    let what = "error   ticket folder: [BENCH]/work/tickets: there is no such folder";
    assert!(found.code == 1 && found.to_string().matches(what).count() == 1, "{found}");
    fs::rename(&away, &there).unwrap();
    let found = stage.yoi("doctor");
    assert_eq!(found.code, 0, "{found}");
}

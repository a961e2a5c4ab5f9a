//! What is said when something goes wrong: what, where (path, line, column), and what to do (DESIGN.md 8).

use std::process::Command;

use crate::support::Bench;
use crate::support::stage::Stage;

/// What several lines say, each under its line.
fn said(stage: &Stage, lines: &[&str]) -> String {
    let said = lines.iter().map(|line| format!("$ yoi {line}\n{}\n", stage.yoi(line)));
    said.collect::<Vec<_>>().concat()
}

#[test]
fn ids() {
    let stage = Stage::new();
    for id in ["login-form", "login-page"] {
        stage.ticket(id, "ready", "");
    }
    for file in ["twice.md", "deep/twice.md"] {
        stage.bench.write(&format!("work/tickets/{file}"), "---\ntitle: x\nstate: queued\n---\n");
    }
    stage.bench.write("work/tickets/tab.md", "---\ntitle: x\n\tstate: ready\n---\n");
    let lines = [
        "show nowhere",
        "show login",
        "move login ready",
        "why twice",
        "move twice ready",
        "edit twice",
        "show tab",
        "set tab x=y",
    ];
    let without = said(&stage, &lines);
    insta::assert_snapshot!(without, @r"
    $ yoi show nowhere
    ! yoi: there is no ticket `nowhere`
    !   hint: `yoi list --all` shows every id
    (exit 1)
    $ yoi show login
    ! yoi: `login` is the beginning of several ids
    !   - login-form
    !   - login-page
    !   hint: write more of it
    (exit 1)
    $ yoi move login ready
    ! yoi: there is no ticket `login`
    !   hint: where something is written it takes the whole id: login-form, login-page
    (exit 3)
    $ yoi why twice
    ! yoi: `twice` cannot be read
    !   - tickets/deep/twice.md: the id `twice` is also that of tickets/twice.md; rename one of the files, neither is started
    !   - tickets/twice.md: the id `twice` is also that of tickets/deep/twice.md; rename one of the files, neither is started
    (exit 1)
    $ yoi move twice ready
    ! yoi: `twice` cannot be changed as long as its file is at fault
    !   - tickets/deep/twice.md: the id `twice` is also that of tickets/twice.md; rename one of the files, neither is started
    !   - tickets/twice.md: the id `twice` is also that of tickets/deep/twice.md; rename one of the files, neither is started
    (exit 3)
    $ yoi edit twice
    ! yoi: the id `twice` is that of two files
    !   - tickets/deep/twice.md
    !   - tickets/twice.md
    !   hint: rename one of them
    (exit 1)
    $ yoi show tab
    ! yoi: `tab` cannot be read
    !   - tickets/tab.md:3:1: a tab as indentation: YAML wants spaces here
    (exit 1)
    $ yoi set tab x=y
    ! yoi: `tab` cannot be changed as long as its file is at fault
    !   - tickets/tab.md:3:1: a tab as indentation: YAML wants spaces here
    (exit 3)
    ");
    stage.start();
    assert_eq!(said(&stage, &lines), without, "with a daemon");
}

#[test]
fn files_that_cannot_be_read_are_listed_and_stop_nothing_else() {
    let stage = Stage::new();
    let file = |name: &str, bytes: &[u8]| {
        stage.bench.write(&format!("work/tickets/{name}"), "");
        std::fs::write(stage.bench.path(&format!("work/tickets/{name}")), bytes).unwrap();
    };
    file("alias-bomb.md", b"---\na: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\ntitle: [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\nstate: queued\n---\n");
    file("conflict.md", b"---\ntitle: x\n<<<<<<< ours\nstate: queued\n=======\nstate: ready\n>>>>>>> theirs\n---\n");
    file("empty-map.md", b"---\n---\n");
    file("latin.md", b"---\ntitle: caf\xe9\nstate: queued\n---\n");
    file("list.md", b"---\n- a\n- b\n---\n");
    file("nul.md", b"---\ntitle: a\0b\nstate: queued\n---\n");
    file("open.md", b"---\ntitle: never closed\nstate: queued\n");
    file("tab.md", b"---\ntitle: x\n\tstate: queued\n---\n");
    file("twice.md", b"---\ntitle: x\nstate: queued\nstate: ready\n---\n");
    file("utf16.md", b"\xff\xfe-\0-\0-\0\n\0");
    file("large.md", &[b"---\ntitle: x\nstate: queued\n---\n".as_slice(), &vec![b'x'; 5 << 20]].concat());
    std::fs::create_dir(stage.bench.path("work/tickets/folder.md")).unwrap();
    std::os::unix::fs::symlink("nowhere", stage.bench.path("work/tickets/dangling.md")).unwrap();
    stage.ticket("good", "queued", "");
    let before: Vec<_> = stage.files().into_iter().map(|path| std::fs::read(path).unwrap()).collect();
    let list = stage.yoi("list").to_string();
    insta::assert_snapshot!(list, @r"
    ID         STATE       PRI  TITLE
    good       new_queued  P2   The ticket good
    empty-map  ?           P2   (no title)

    1 ticket without a known state, which nothing happens to:
      tickets/empty-map.md:1:1: there is no `state`: one of planning, ready, queued, inprogress, done, closed
      tickets/empty-map.md:1:1: there is no `title`
      other names: `state_key` and `states` under [frontmatter] in .yoi/config.toml

    11 files not readable as tickets:
      tickets/alias-bomb.md:6:45: aliases (`*name`) would make more than 10000 values of this frontmatter; it is not read
      tickets/conflict.md:3:1: merge conflict marker (`<<<<<<< ours`): resolve the conflict in this file
      tickets/dangling.md: this symlink points to nothing
      tickets/large.md: the file is longer than 4194304 bytes, and is not read; what is long belongs beside it
      tickets/latin.md:2:11: byte 14 (0xe9) is not UTF-8: save the file as UTF-8
      tickets/list.md:2:1: the frontmatter is a list, not a mapping: write `key: value` lines
      tickets/nul.md:2:1: not readable as YAML: control characters are not allowed at position 8
      tickets/open.md:1:1: the frontmatter has no closing line: write `---` alone on the line after its last key
      tickets/tab.md:3:1: a tab as indentation: YAML wants spaces here
      tickets/twice.md:4:1: the key `state` stands twice, on lines 3 and 4: remove one
      tickets/utf16.md:1:1: the file is UTF-16; yoi reads UTF-8: save it as UTF-8
    (exit 0)
    ");
    let files = || stage.files().into_iter().filter(|path| path.to_str().unwrap().contains("/tickets/"));
    assert!(files().all(|path| before.contains(&std::fs::read(path).unwrap())), "none is rewritten");
    // The good one is kicked for, beside all of them.
    stage.start();
    let turn = stage.nth_turn(1);
    assert!(turn.items().contains(&"good") && !turn.items().contains(&"tab"), "{turn:?}");
    stage.rest();
    assert_eq!(stage.yoi("list").to_string(), list);
    let mark = stage.mark();
    stage.save("open", "state: queued\n", "state: queued\n---\n");
    stage.kicked(mark, "ticket_queued");
}

#[test]
fn workspaces() {
    let bench = Bench::new();
    bench.folder("plain");
    insta::assert_snapshot!(bench.yoi("plain", "list"), @r"
    ! yoi: no workspace: there is no `.yoi` folder in [BENCH]/plain or above it
    !   hint: `yoi init` makes one in this repository or folder
    (exit 1)
    ");
    insta::assert_snapshot!(bench.yoi("plain", "-C nowhere list"), @r"
    ! yoi: nowhere (given by -C): No such file or directory (os error 2)
    (exit 1)
    ");
    bench.repository("repository");
    insta::assert_snapshot!(bench.yoi("repository", "up"), @r"
    ! yoi: no workspace: there is no `.yoi` folder in [BENCH]/repository or above it
    !   hint: `yoi init` makes one in this repository or folder
    (exit 1)
    ");
    bench.write("plain/.yoi/config.toml", "[tickets]\nroot = \"issues\"\n");
    insta::assert_snapshot!(bench.yoi("plain", "up"), @r"
    ! yoi: the daemon ended at once (exit status: 1)
    !   - yoi: [BENCH]/plain/issues: there is no ticket folder
    !   -   hint: was it moved? then move it back; or is [tickets] root in .yoi/config.toml another folder? In a new workspace `yoi new TITLE` makes it, and where git took it with its last ticket
    !   hint: `yoi daemon` runs it in the foreground
    (exit 1)
    ");
    bench.write("plain/.yoi/config.toml", "[tickets]\nroot = \"../elsewhere\"\n");
    insta::assert_snapshot!(bench.yoi("plain", "list"), @r#"
    ! yoi: [BENCH]/plain/.yoi/config.toml:2:8: `tickets.root` may not contain `..`: `../elsewhere` could leave the workspace; write a folder inside the workspace, like "tickets"
    (exit 1)
    "#);
}

#[test]
fn configurations() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    for (config, expected) in [
        ("[kick]\nmax_itmes = 3\n", "2:1: unknown key `max_itmes` in `[kick]`; did you mean `max_items`?"),
        ("[orchestrator]\nturn_timeout = 90\n", "2:16: "),
        ("[orchestrator]\nturn_timeout = \"90\"\n", "2:16: "),
        ("[dispatch]\nmode = \"both\"\n", "2:8: "),
        ("[gates]\nmax_items = 3\n", "2:1: "),
        ("[orchestrator]\ncommand = \"claude -p\"\n", "2:11: "),
        ("kick = 3\n", "1:"),
        ("[kick\n", "1:6: is not TOML: "),
    ] {
        stage.bench.write("work/.yoi/config.toml", config);
        for line in ["list", "up", "move a queued"] {
            let answer = stage.yoi(line);
            let place = format!("[BENCH]/work/.yoi/config.toml:{expected}");
            assert!(answer.code == 1 && answer.stderr.contains(&place), "{config}{line}: {answer}");
        }
        let found = stage.yoi("doctor");
        let place = format!("error   .yoi/config.toml:{expected}");
        assert!(found.code == 1 && found.stdout.contains(&place), "{config}: {found}");
    }
    assert!(stage.text("a").contains("state: ready"));
}

#[test]
fn a_daemon_that_does_not_answer() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.start();
    let pid = stage.json("status")["pid"].to_string();
    let signal = |name: &str| {
        let status = Command::new("sh").args(["-c", &format!("kill -{name} {pid}")]).status().unwrap();
        assert!(status.success());
    };
    signal("STOP");
    // Going the direct way beside it could lose a write.
    let children = ["move a queued", "status", "down"].map(|line| {
        let mut command = stage.bench.command("work");
        let command = command.args(line.split(' ')).stdout(std::process::Stdio::piped());
        command.stderr(std::process::Stdio::piped()).spawn().unwrap()
    });
    let answers = children.map(|child| {
        let output = child.wait_with_output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    });
    signal("CONT");
    let root = stage.bench.path("").display().to_string();
    let shown: Vec<_> = answers.iter().map(|(code, text)| format!("{text}(exit {code})")).collect();
    insta::assert_snapshot!(shown.join("\n").replace(root.trim_end_matches('/'), "[BENCH]"), @r"
    yoi: [BENCH]/work/.git/yoi/yoi.sock: the daemon did not answer within 5 s
      hint: `yoi logs` may say what keeps it; if nothing does, end its process: `yoi down` cannot
    (exit 1)
    yoi: [BENCH]/work/.git/yoi/yoi.sock: the daemon did not answer within 5 s
      hint: `yoi logs` may say what keeps it; if nothing does, end its process: `yoi down` cannot
    (exit 1)
    yoi: [BENCH]/work/.git/yoi/yoi.sock: the daemon did not answer within 5 s
      hint: `yoi logs` may say what keeps it; if nothing does, end its process: `yoi down` cannot
    (exit 1)
    ");
    assert_eq!(
        (stage.json("status")["pid"].to_string(), stage.text("a").contains("ready")),
        (pid, true),
        "nothing is done late"
    );
}

#[test]
fn while_git_is_in_the_middle_of_something() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.bench.write("work/.git/MERGE_HEAD", "0000000000000000000000000000000000000000\n");
    let without = said(&stage, &["move a queued", "accept a", "new Title"]);
    insta::assert_snapshot!(without, @r"
    $ yoi move a queued
    ! yoi: a merge is under way (.git/MERGE_HEAD): ticket files are not written meanwhile
    !   hint: finish it (or end it), then try again
    (exit 3)
    $ yoi accept a
    ! yoi: a merge is under way (.git/MERGE_HEAD): ticket files are not written meanwhile
    !   hint: finish it (or end it), then try again
    (exit 3)
    $ yoi new Title
    ! yoi: a merge is under way (.git/MERGE_HEAD): ticket files are not written meanwhile
    !   hint: finish it (or end it), then try again
    (exit 3)
    ");
    stage.start();
    assert_eq!(said(&stage, &["move a queued", "accept a", "new Title"]), without, "with a daemon");
    assert!(stage.json("status")["obstacles"][0].as_str().unwrap().contains("merge"), "{}", stage.json("status"));
    std::fs::remove_file(stage.bench.path("work/.git/MERGE_HEAD")).unwrap();
    stage.done("move a queued");
}

#[test]
fn the_daemon_is_needed() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    insta::assert_snapshot!(said(&stage, &["work-set", "plan a --session s", "hook panel-open", "events --follow"]), @r"
    $ yoi work-set
    ! yoi: this needs the daemon of [BENCH]/work, and it is not running
    !   hint: start it with `yoi up`
    (exit 4)
    $ yoi plan a --session s
    ! yoi: this needs the daemon of [BENCH]/work, and it is not running
    !   hint: start it with `yoi up`
    (exit 4)
    $ yoi hook panel-open
    ! yoi: this needs the daemon of [BENCH]/work, and it is not running
    !   hint: start it with `yoi up`
    (exit 4)
    $ yoi events --follow
    ! yoi: this needs the daemon of [BENCH]/work, and it is not running
    !   hint: start it with `yoi up`
    (exit 4)
    ");
}

/// What is said where something else lies in the place of a file or folder of yoi's own: which, and what to do.
#[test]
fn what_is_in_the_way_of_yois_own_files_is_named() {
    let in_the_way = |name: &str, folder: bool| {
        let stage = Stage::new();
        stage.ticket("a", "queued", "");
        stage.bench.folder("work/.git/yoi");
        if folder {
            stage.bench.folder(&format!("work/.git/yoi/{name}"));
        } else {
            stage.bench.write(&format!("work/.git/yoi/{name}"), "");
        }
        stage
    };
    let names_it = |name: &str, said: &str| {
        assert!(said.contains(&format!(".git/yoi/{name}")) && said.contains("move it away"), "{name}: {said}");
    };
    for (name, folder, line) in [
        ("locks", false, "set a k=v"),
        ("accept.lock", true, "accept a"),
        ("daemon.lock", true, "up"),
        ("daemon.log", true, "up"),
    ] {
        let answer = in_the_way(name, folder).yoi(line);
        assert_eq!(answer.code, 1, "{name}: {answer}");
        names_it(name, &answer.stderr);
    }
    for name in ["kicks", "runs", "turns"] {
        let stage = in_the_way(name, false);
        stage.start();
        let ended = stage.event(0, "the failed delivery", |event| event["kind"] == "TURN_ENDED");
        names_it(name, ended["data"]["failed"].as_str().unwrap());
        names_it(name, &stage.yoi("status").stdout);
        stage.stop();
    }
    for (name, folder) in [("pods.json", true), ("session.json", true)] {
        let stage = in_the_way(name, folder);
        stage.start();
        stage.rest();
        stage.worker("coder", "a");
        let log = stage.bench.read("daemon.log") + &stage.yoi("status").stdout;
        assert!(log.contains(&format!(".git/yoi/{name}: ")), "{name}: {log}");
        stage.stop();
    }
}

//! `yoi init`.

use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::Bench;

#[test]
fn a_repository_without_options() {
    let bench = Bench::with_git();
    bench.write("work/.gitignore", "target\n");
    insta::assert_snapshot!(bench.yoi("work", "init"), @r"
    Made the workspace [BENCH]/work
      .yoi/config.toml   pull mode
      .yoi/.gitignore    what must not be tracked of it
      tickets/           the tickets
    In pull mode workers take what is queued by `yoi next --claim`, and yoi kicks nobody; `mode` in .yoi/config.toml changes that.
    Go on with `yoi new TITLE` (a ticket), `yoi up` (the daemon) and `yoi status` (what it does).
    (exit 0)
    ");
    insta::assert_snapshot!(bench.tree("work").join("\n"), @r"
    .gitignore
    .yoi/
    .yoi/.gitignore
    .yoi/config.toml
    tickets/
    ");
    insta::assert_snapshot!(bench.read("work/.yoi/config.toml"), @r#"
    # The settings of this yoi workspace. Every key is optional; `yoi config` prints what holds and where it came from.

    [tickets]
    root = "tickets"

    [dispatch]
    # orchestrated: one Orchestrator decides what starts. pull: workers drain the queue themselves.
    mode = "pull"
    "#);
    insta::assert_snapshot!(bench.read("work/.yoi/.gitignore"), @r"
    # What must not be tracked: state and worktrees.
    /run/
    /worktrees/
    ");
    assert_eq!(bench.read("work/.gitignore"), "target\n", "the root's is the user's");
    let mode = bench.path("work/.yoi/config.toml").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o600, 0o600);
    assert_ne!(mode & 0o044, 0, "the configuration is shared, as far as the user's umask lets it be");
    assert_eq!(bench.yoi("work", "config --json").json()["trust"], "nothing_to_run");
}

#[test]
fn an_orchestrator_is_trusted_from_the_start() {
    let bench = Bench::with_git();
    let mut init = bench.command("work");
    init.args([
        "init",
        "--tickets",
        "work items",
        "--orchestrator-command",
        "claude",
        "-p",
        "--allowedTools",
        "Bash(yoi:*)",
    ]);
    insta::assert_snapshot!(bench.run(&mut init), @r#"
    Made the workspace [BENCH]/work
      .yoi/config.toml   orchestrated mode
      .yoi/.gitignore    what must not be tracked of it
      work items/        the tickets
    The Orchestrator's command, trusted because you gave it: ["claude", "-p", "--allowedTools", "Bash(yoi:*)"]
    Go on with `yoi new TITLE` (a ticket), `yoi up` (the daemon) and `yoi status` (what it does).
    (exit 0)
    "#);
    insta::assert_snapshot!(bench.read("work/.yoi/config.toml"), @r#"
    # The settings of this yoi workspace. Every key is optional; `yoi config` prints what holds and where it came from.

    [tickets]
    root = "work items"

    [dispatch]
    # orchestrated: one Orchestrator decides what starts. pull: workers drain the queue themselves.
    mode = "orchestrated"

    [orchestrator]
    # Program and arguments, never a shell string; the work list goes to its standard input. After a change
    # `yoi trust` puts it into effect. Without a command the Orchestrator is an agent's own session that registers
    # itself (`yoi orchestrator attach`).
    command = ["claude", "-p", "--allowedTools", "Bash(yoi:*)"]
    "#);
    assert!(bench.path("work/work items").is_dir());
    let config = bench.yoi("work", "config --json").json();
    assert_eq!(
        (&config["trust"], config["settings"][0]["value"].as_str()),
        (&"trusted".into(), Some("\"work items\""))
    );
}

#[test]
fn an_orchestrator_that_is_not_there_yet() {
    let bench = Bench::with_git();
    insta::assert_snapshot!(bench.yoi("work", "init --mode orchestrated"), @r"
    Made the workspace [BENCH]/work
      .yoi/config.toml   orchestrated mode
      .yoi/.gitignore    what must not be tracked of it
      tickets/           the tickets
    The Orchestrator is either a program that yoi runs: write its command into .yoi/config.toml, then `yoi trust`;
    or an agent's own session that registers itself: `yoi orchestrator attach` in it.
    Go on with `yoi new TITLE` (a ticket), `yoi up` (the daemon) and `yoi status` (what it does).
    (exit 0)
    ");
    assert_eq!(bench.yoi("work", "config").code, 0);
}

#[test]
fn a_folder_without_git() {
    let bench = Bench::new();
    bench.folder("plain");
    insta::assert_snapshot!(bench.yoi("plain", "init"), @r"
    Made the workspace [BENCH]/plain
      .yoi/config.toml   pull mode
      .yoi/.gitignore    what must not be tracked of it
      tickets/           the tickets
    No git here: yoi's state lies in .yoi/run, the dirty-workspace gate has nothing to look at, and workers cannot claim tickets, because claims are kept in git.
    In pull mode workers take what is queued by `yoi next --claim`, and yoi kicks nobody; `mode` in .yoi/config.toml changes that.
    Go on with `yoi new TITLE` (a ticket), `yoi up` (the daemon) and `yoi status` (what it does).
    (exit 0)
    ");
    insta::assert_snapshot!(bench.tree("plain").join(" "), @".yoi/ .yoi/.gitignore .yoi/config.toml tickets/");
}

#[test]
fn nothing_that_is_there_is_overwritten() {
    let bench = Bench::with_git();
    bench.write("work/tickets/a.md", "mine");
    bench.write("work/.yoi/.gitignore", "# mine\n/run/");
    assert_eq!(bench.yoi("work", "init").code, 0);
    assert_eq!(bench.read("work/tickets/a.md"), "mine");
    assert_eq!(bench.read("work/.yoi/.gitignore"), "# mine\n/run/\n/worktrees/\n");
    bench.write("work/.yoi/config.toml", "# mine\n");
    insta::assert_snapshot!(bench.yoi("work", "init --mode orchestrated"), @r"
    ! yoi: [BENCH]/work/.yoi/config.toml is there already, and is never overwritten
    !   hint: edit it; `yoi config` prints what holds
    (exit 3)
    ");
    assert_eq!(bench.read("work/.yoi/config.toml"), "# mine\n");
}

#[test]
fn the_main_worktree_gets_it_wherever_it_is_run() {
    let bench = Bench::with_git();
    bench.git("work", &["worktree", "add", "--quiet", "../linked"]);
    bench.folder("linked/sub");
    insta::assert_snapshot!(bench.yoi("linked/sub", "init"), @r"
    Made the workspace [BENCH]/work
      .yoi/config.toml   pull mode
      .yoi/.gitignore    what must not be tracked of it
      tickets/           the tickets
    In pull mode workers take what is queued by `yoi next --claim`, and yoi kicks nobody; `mode` in .yoi/config.toml changes that.
    Go on with `yoi new TITLE` (a ticket), `yoi up` (the daemon) and `yoi status` (what it does).
    (exit 0)
    ");
    assert!(bench.path("work/tickets").is_dir() && !bench.path("linked/.yoi").exists());
    insta::assert_snapshot!(bench.yoi("linked/sub", "init"), @r"
    ! yoi: [BENCH]/work/.yoi/config.toml is there already, and is never overwritten
    !   hint: edit it; `yoi config` prints what holds
    (exit 3)
    ");
}

#[test]
fn places_where_no_workspace_can_be() {
    let bench = Bench::new();
    bench.folder("plain/sub");
    assert_eq!(bench.yoi("plain", "init").code, 0);
    insta::assert_snapshot!(bench.yoi("plain/sub", "init"), @r"
    ! yoi: [BENCH]/plain/sub belongs to the workspace [BENCH]/plain already
    (exit 3)
    ");
    bench.git("", &["init", "--quiet", "--bare", "bare.git"]);
    insta::assert_snapshot!(bench.yoi("bare.git", "init"), @r"
    ! yoi: [BENCH]/bare.git is a bare repository: tickets lie in one of its worktrees
    !   hint: run it inside one of them, or name one with `-C DIR`
    (exit 1)
    ");
    insta::assert_snapshot!(bench.yoi("", "-C nowhere init"), @r"
    ! yoi: nowhere (given by -C): No such file or directory (os error 2)
    (exit 1)
    ");
}

#[test]
fn options_that_cannot_be() {
    let bench = Bench::with_git();
    for (line, part) in [
        ("init --tickets ../elsewhere", "may not contain `..`"),
        ("init --tickets /elsewhere", "an absolute path"),
        ("init --mode pull --orchestrator-command x", "no sense with --mode pull"),
        ("init --mode both", "possible values: orchestrated, pull"),
        ("init --orchestrator-command", "a value is required"),
    ] {
        let answer = bench.yoi("work", line);
        assert!(answer.code == 2 && answer.stderr.contains(part), "{line}: {answer}");
        assert!(bench.tree("work").is_empty(), "{line}");
    }
}

#[test]
fn links_that_lead_out_of_the_workspace_are_never_written_through() {
    let bench = Bench::with_git();
    bench.folder("elsewhere");
    for (link, line) in [("work/.yoi", "init"), ("work/out", "init --tickets out/tickets")] {
        symlink(bench.path("elsewhere"), bench.path(link)).unwrap();
        let answer = bench.yoi("work", line);
        assert!(answer.code == 1 && answer.stderr.contains("leads out of the workspace"), "{link}: {answer}");
        assert!(bench.tree("elsewhere").is_empty(), "{link}");
        std::fs::remove_file(bench.path(link)).unwrap();
    }
    bench.write("work/tickets", "a file");
    let answer = bench.yoi("work", "init");
    assert!(answer.code == 1 && answer.stderr.contains("tickets is there and is not a folder"), "{answer}");
}

//! Tables of configurations: what is understood, and what is said about what is not.

use super::*;

mod roles;

/// The settings that a text changes, or its problems, one a line.
fn check(text: &str) -> String {
    match parse_bytes(text.as_bytes()) {
        Ok(config) => {
            let defaults = Config::default().settings;
            let written = config.settings.iter().filter(|now| !defaults.contains(now));
            let row = |setting: &Setting| match setting.source {
                Source::File { line } => format!("{} = {} (line {line})", setting.key, setting.value),
                Source::Default => format!("{} = {} (default)", setting.key, setting.value),
            };
            written.map(row).collect::<Vec<_>>().join("\n")
        }
        Err(problems) => {
            problems.iter().map(|p| format!("{}:{} {}", p.line, p.column, p.message)).collect::<Vec<_>>().join("\n")
        }
    }
}

#[test]
fn defaults_hold_where_nothing_is_written() {
    for text in ["", "\n# nothing\n", "\u{feff}", "[kick]\n[gates]\n"] {
        assert_eq!(parse(text).unwrap().kick, KickPolicy::default(), "{text:?}");
    }
}

#[test]
fn everything_written() {
    insta::assert_snapshot!(check(
        r#"
        [tickets]
        root = "./work//items/"
        [frontmatter]
        state_key = "status"
        states = { todo = "queued", "next up" = "queued", doing = "inprogress" }
        [dispatch]
        mode = "orchestrated"
        [orchestrator]
        command = ["claude", "-p", "--allowedTools", "Bash(yoi:*)", ""]
        turn_timeout = "90m"
        stall_timeout = "10m"
        [kick]
        max_items = 5
        max_per_hour = 0x10
        max_attempts = 1_000
        reoffer_idle = "10m"
        [capacity]
        max_inprogress = 3
        [gates]
        dirty_workspace = "warn"
        "#
    ), @r#"
    tickets.root = "work/items" (line 3)
    frontmatter.state_key = "status" (line 5)
    frontmatter.states = { "todo" = "queued", "next up" = "queued", "doing" = "inprogress" } (line 6)
    dispatch.mode = "orchestrated" (line 8)
    orchestrator.command = ["claude", "-p", "--allowedTools", "Bash(yoi:*)", ""] (line 10)
    orchestrator.turn_timeout = "90m" (line 11)
    orchestrator.stall_timeout = "10m" (line 12)
    kick.max_items = 5 (line 14)
    kick.max_per_hour = 16 (line 15)
    kick.max_attempts = 1000 (line 16)
    kick.reoffer_idle = "10m" (line 17)
    capacity.max_inprogress = 3 (line 19)
    gates.dirty_workspace = "warn" (line 21)
    "#);
}

#[test]
fn other_ways_to_write_it() {
    let orchestrated = "dispatch.mode = 'orchestrated'\n";
    assert_eq!(check(orchestrated).lines().count(), 2, "capacity follows the mode");
    insta::assert_snapshot!(check(orchestrated), @r#"
    dispatch.mode = "orchestrated" (line 1)
    capacity.max_inprogress = 1 (default)
    "#);
    insta::assert_snapshot!(check("capacity.max_inprogress = \"unlimited\"\r\ntickets.root = \".\"\r\n"), @r#"
    tickets.root = "." (line 2)
    capacity.max_inprogress = "unlimited" (line 1)
    "#);
    insta::assert_snapshot!(check("[frontmatter.states]\n\"Très \\\"vite\\\"\" = 'queued'\nqueued = 'done'\n"), @r#"frontmatter.states = { "Très \"vite\"" = "queued", "queued" = "done" } (line 1)"#);
}

#[test]
fn the_remote_of_claims() {
    let remote = |name: &str| parse(&format!("[claims]\nremote = '{name}'\n")).unwrap().claims.remote;
    assert_eq!((remote(""), remote("origin")), (None, Some("origin".into())));
    insta::assert_snapshot!(check("[claims]\nremote = '--upload-pack=x'\n"), @r"2:10 `claims.remote` takes the name of a git remote, like `origin`; `git remote` lists them");
}

#[test]
fn names_for_states_are_complete_and_keep_their_order() {
    let names = |text: &str| parse(text).unwrap().states;
    assert_eq!(names("").len(), 6);
    let states = names("[frontmatter.states]\nz = 'queued'\na = 'queued'\nqueued = 'done'\n");
    let rows: Vec<_> = states.iter().map(|(name, state)| format!("{name}={state}")).collect();
    assert_eq!(
        rows.join(" "),
        "z=queued a=queued queued=done planning=planning ready=ready inprogress=inprogress done=done closed=closed"
    );
    assert_eq!(states.iter().find(|(_, state)| *state == State::Done).unwrap().0, "queued", "the first is written");
}

#[test]
fn unknown_and_misplaced_names() {
    insta::assert_snapshot!(check(
        r#"mode = "pull"
colour = true
[kik]
[kick]
max_item = 3
mode = "pull"
max_inprogres = 3
weather = "fine"
[dispach]
[claim]
[weather]
[[tickets]]
root = "x"
"#
    ), @r"
    1:1 `mode` stands outside of any section; it belongs in `[dispatch]`
    2:1 unknown key `colour`; the sections are tickets, frontmatter, dispatch, orchestrator, kick, capacity, gates, claims, worktrees, writes, watch
    3:2 unknown section `[kik]`; did you mean `[kick]`?
    5:1 unknown key `max_item` in `[kick]`; did you mean `max_items`?
    6:1 `mode` does not belong in `[kick]` but in `[dispatch]`
    7:1 unknown key `max_inprogres` in `[kick]`; did you mean `max_inprogress` in `[capacity]`?
    8:1 unknown key `weather` in `[kick]`; its keys are max_items, max_per_hour, max_attempts, reoffer_idle
    9:2 unknown section `[dispach]`; did you mean `[dispatch]`?
    10:2 unknown section `[claim]`; did you mean `[claims]`?
    11:2 unknown section `[weather]`; the sections are tickets, frontmatter, dispatch, orchestrator, kick, capacity, gates, claims, worktrees, writes, watch
    12:3 `tickets` is a section: write `[tickets]`, and its keys on the lines below it
    ");
    insta::assert_snapshot!(check("tickets = 'tickets'\nmax_itms = 3\n"), @r"
    1:1 `tickets` is a section: write `[tickets]`, and its keys on the lines below it
    2:1 unknown key `max_itms`; did you mean `max_items` in `[kick]`?
    ");
}

#[test]
fn what_later_versions_act_on_is_not_taken_silently() {
    insta::assert_snapshot!(check(
        r#"[dispatch]
mode = "orchestrated"
[orchestrator]
command = ["x"]
[claims]
ttl = "90m"
[worktrees]
[orphans]
[agents]
[alerts]
[http]
listen = "127.0.0.1:7420"
"#
    ), @r"
    8:2 this version of yoi does not act on `[orphans]` yet; remove it
    9:2 this version of yoi does not act on `[agents]` yet; remove it
    10:2 this version of yoi does not act on `[alerts]` yet; remove it
    11:2 this version of yoi does not act on `[http]` yet; remove it
    ");
}

#[test]
fn an_orchestrator_that_registers_itself() {
    let head = "[dispatch]\nmode = 'orchestrated'\n[orchestrator]\n";
    let said = |rest: &str| check(&format!("{head}{rest}"));
    insta::assert_snapshot!(said("wake = [['tmux', 'send-keys', 'x'], [\"true\"]]\nbusy_max = '1h'\n"), @r#"
    dispatch.mode = "orchestrated" (line 2)
    orchestrator.wake = [["tmux", "send-keys", "x"], ["true"]] (line 4)
    orchestrator.busy_max = "1h" (line 5)
    capacity.max_inprogress = 1 (default)
    "#);
    let rows = [
        "wake = ['x']",
        "wake = [[]]",
        "wake = [['']]",
        "wake = 'x'",
        "wake = [[3]]",
        "busy_max = 30",
        "command = ['x']\nwake = [['x']]\nbusy_max = '1h'",
    ];
    insta::assert_snapshot!(rows.map(said).join("\n"), @r#"
    4:9 `orchestrator.wake` takes a list of argument lists, one a command, like `[["sh", "first.sh"], ["sh", "second.sh"]]`, not 'x'
    4:9 `orchestrator.wake` names no program; write one, or remove the key
    4:9 `orchestrator.wake`: the first item, the program, is empty
    4:8 `orchestrator.wake` takes a list of argument lists, one a command, like `[["sh", "first.sh"], ["sh", "second.sh"]]`, not 'x'
    4:9 `orchestrator.wake` names no program; write one, or remove the key
    4:10 `orchestrator.wake`: every argument is a text; write "3"
    4:12 `orchestrator.busy_max`: `30` has no unit: write `30s` for seconds, `30m` for minutes or `30h` for hours
    5:1 `orchestrator.wake` has no effect with `orchestrator.command`, which runs the Orchestrator anew for each kick; remove one of the two
    6:1 `orchestrator.busy_max` has no effect with `orchestrator.command`, which runs the Orchestrator anew for each kick; remove one of the two
    "#);
}

#[test]
fn values_that_cannot_be_read() {
    insta::assert_snapshot!(check(
        r#"[tickets]
root = 3
[frontmatter]
state_key = ["status"]
states = { todo = "queue", doing = 3 }
[dispatch]
mode = "Orchestrate"
[orchestrator]
command = "claude -p"
[kick]
max_items = "10"
max_per_hour = 0
max_attempts = 1001
[capacity]
max_inprogress = -1
[gates]
dirty_workspace = true
"#
    ), @r#"
    2:8 `tickets.root` takes a folder inside the workspace, not 3; write `root = "tickets"`
    4:13 `frontmatter.state_key` takes the name of a frontmatter key, not a list; write `state_key = "status"`
    5:19 `frontmatter.states`: `queue` is not a state; the states are planning, ready, queued, inprogress, done and closed; did you mean `queued`?
    5:36 `frontmatter.states`: `3` is not a state; the states are planning, ready, queued, inprogress, done and closed
    7:8 `dispatch.mode` takes `"orchestrated"` or `"pull"`, not `Orchestrate`; did you mean `orchestrated`?
    9:11 `orchestrator.command` takes a list of the program and its arguments, like `["claude", "-p"]`, not "claude -p"; write `command = ["claude", "-p"]`
    11:13 `kick.max_items` takes a whole number from 1 to 100, not "10"; write `max_items = 10`
    12:16 `kick.max_per_hour` takes a whole number from 1 to 3600, not 0
    13:16 `kick.max_attempts` takes a whole number from 1 to 1000, not 1001
    15:18 `capacity.max_inprogress` takes a whole number from 1 to 10000, or `"unlimited"`, not -1
    17:19 `gates.dirty_workspace` takes `"block"`, `"warn"` or `"off"`, not true
    "#);
    insta::assert_snapshot!(check("[frontmatter]\nstates = ['todo']\n[gates]\ndirty_workspace = 'blok'\n"), @r#"
    2:10 `frontmatter.states` takes a table of `"name in the files" = "state"`, not a list; write `states = { "todo" = "queued" }`
    4:19 `gates.dirty_workspace` takes `"block"`, `"warn"` or `"off"`, not `blok`; did you mean `block`?
    "#);
    insta::assert_snapshot!(check("[capacity]\nmax_inprogress = 'all'\n[kick]\nmax_items = 1.5\n"), @r#"
    2:18 `capacity.max_inprogress` takes a whole number from 1 to 10000, or `"unlimited"`, not 'all'; write `max_inprogress = 10`
    4:1 `kick.max_items` has no effect in pull mode, which has no Orchestrator; write `mode = "orchestrated"` under `[dispatch]`, or remove this key
    4:13 `kick.max_items` takes a whole number from 1 to 100, not 1.5; write `max_items = 10`
    "#);
}

#[test]
fn durations_without_a_unit() {
    let head = "[dispatch]\nmode = 'orchestrated'\n[orchestrator]\ncommand = ['x']\n";
    let rows = ["90", "'90'", "'off'", "'0s'", "'1h30m'", "true", "1.5"];
    let said = rows.map(|written| check(&format!("{head}turn_timeout = {written}\n"))).join("\n");
    insta::assert_snapshot!(said, @r#"
    5:16 `orchestrator.turn_timeout`: `90` has no unit: write `90s` for seconds, `90m` for minutes or `90h` for hours
    5:16 `orchestrator.turn_timeout`: `90` has no unit: write `90s` for seconds, `90m` for minutes or `90h` for hours
    5:16 `orchestrator.turn_timeout`: `off` is not a duration: write a whole number and a unit, like `30s`, `90m` or `24h`
    5:16 `orchestrator.turn_timeout`: `0s` is no time at all: write a duration longer than zero
    5:16 `orchestrator.turn_timeout`: `1h30m` is not a duration: after the number comes one of ms, s, m, h, d (`90m`, `24h`)
    5:16 `orchestrator.turn_timeout` takes a duration like `"30s"`, `"90m"` or `"24h"`, not true
    5:16 `orchestrator.turn_timeout` takes a duration like `"30s"`, `"90m"` or `"24h"`, not 1.5
    "#);
    insta::assert_snapshot!(check(&format!("{head}[kick]\nreoffer_idle = 10\n")), @r#"6:16 `kick.reoffer_idle`: `10` has no unit: write `10s` for seconds, `10m` for minutes or `10h` for hours, or "off""#);
}

#[test]
fn commands_that_name_no_program() {
    let head = "[dispatch]\nmode = 'orchestrated'\n[orchestrator]\n";
    let rows = ["[]", "['', 'x']", "['x', 3, true]", "[['x']]", "[\"x\\u0000\"]"];
    let said = rows.map(|written| check(&format!("{head}command = {written}\n"))).join("\n");
    insta::assert_snapshot!(said, @r#"
    4:11 `orchestrator.command` names no program; write one, or remove the key
    4:11 `orchestrator.command`: the first item, the program, is empty
    4:17 `orchestrator.command`: every argument is a text; write "3"
    4:20 `orchestrator.command`: every argument is a text; write "true"
    4:11 `orchestrator.command` names no program; write one, or remove the key
    4:12 `orchestrator.command`: every argument is a text; write "['x']"
    4:11 `orchestrator.command` names no program; write one, or remove the key
    4:12 `orchestrator.command`: no argument can hold a NUL character
    "#);
}

#[test]
fn contradictions() {
    insta::assert_snapshot!(check("[orchestrator]\ncommand = ['x']\n[kick]\nmax_items = 3\n"), @r#"
    2:1 `orchestrator.command` has no effect in pull mode, which has no Orchestrator; write `mode = "orchestrated"` under `[dispatch]`, or remove this key
    4:1 `kick.max_items` has no effect in pull mode, which has no Orchestrator; write `mode = "orchestrated"` under `[dispatch]`, or remove this key
    "#);
    insta::assert_snapshot!(check("[dispatch]\nmode = 'orchestrated'\n[orchestrator]\nturn_timeout = '1h'\n"), @"4:1 `orchestrator.turn_timeout` has no effect without `orchestrator.command`; write that, or remove it");
    let head = "[dispatch]\nmode = 'orchestrated'\n[orchestrator]\ncommand = ['x']\n";
    insta::assert_snapshot!(check(&format!("{head}stall_timeout = '4h'\n")), @"5:1 `orchestrator.stall_timeout` (4h) has no effect: it is not shorter than `orchestrator.turn_timeout` (4h)");
    insta::assert_snapshot!(check(&format!("{head}turn_timeout = '5m'\nstall_timeout = '10m'\n")), @"6:1 `orchestrator.stall_timeout` (10m) has no effect: it is not shorter than `orchestrator.turn_timeout` (5m)");
}

#[test]
fn names_for_states_that_contradict() {
    let rows = [
        "queued = 'done'",
        "queued = 'done'\ndone = 'queued'\nready = 'ready'",
        "'' = 'done'",
        "' todo' = 'queued'",
        "todo = 'queued'\ntodo = 'ready'",
    ];
    let said = rows.map(|written| format!("--\n{}", check(&format!("[frontmatter.states]\n{written}\n")))).join("\n");
    insta::assert_snapshot!(said, @r#"
    --
    2:1 `frontmatter.states`: `queued` stands for done here, so no name is left for the state queued; add one for it, like `"..." = "queued"`
    --
    frontmatter.states = { "queued" = "done", "done" = "queued" } (line 1)
    --
    2:1 `frontmatter.states`: "" cannot be a state's name in a file
    --
    2:1 `frontmatter.states`: " todo" cannot be a state's name in a file
    --
    3:1 `todo` is written twice
    "#);
    let rows = ["title", "", " status", "a: b", "état", "work state"];
    let said =
        rows.map(|written| format!("--\n{}", check(&format!("frontmatter.state_key = '{written}'\n")))).join("\n");
    insta::assert_snapshot!(said, @r#"
    --
    1:25 `frontmatter.state_key`: `title` is a ticket's key for something else
    --
    1:25 `frontmatter.state_key`: `` cannot be a key: write letters, digits, `_`, `-`, `.` or spaces
    --
    1:25 `frontmatter.state_key`: ` status` cannot be a key: write letters, digits, `_`, `-`, `.` or spaces
    --
    1:25 `frontmatter.state_key`: `a: b` cannot be a key: write letters, digits, `_`, `-`, `.` or spaces
    --
    frontmatter.state_key = "état" (line 1)
    --
    frontmatter.state_key = "work state" (line 1)
    "#);
}

#[test]
fn ticket_folders_that_leave_the_workspace() {
    let rows = ["", "/srv/tickets", "../tickets", "a/../../b", ".git/x", ".yoi", "./.yoi/run", ".yoix", "a/.git"];
    let said = rows.map(|written| format!("{written}: {}", check(&format!("tickets.root = '{written}'\n")))).join("\n");
    insta::assert_snapshot!(said, @r#"
    : 1:16 `tickets.root` is empty; write a folder inside the workspace, like "tickets"
    /srv/tickets: 1:16 `tickets.root` is `/srv/tickets`, an absolute path; write a folder inside the workspace, like "tickets"
    ../tickets: 1:16 `tickets.root` may not contain `..`: `../tickets` could leave the workspace; write a folder inside the workspace, like "tickets"
    a/../../b: 1:16 `tickets.root` may not contain `..`: `a/../../b` could leave the workspace; write a folder inside the workspace, like "tickets"
    .git/x: 1:16 `tickets.root` may not lie in `.git`, which belongs to a program; write a folder inside the workspace, like "tickets"
    .yoi: 1:16 `tickets.root` may not lie in `.yoi`, which belongs to a program; write a folder inside the workspace, like "tickets"
    ./.yoi/run: 1:16 `tickets.root` may not lie in `.yoi`, which belongs to a program; write a folder inside the workspace, like "tickets"
    .yoix: tickets.root = ".yoix" (line 1)
    a/.git: tickets.root = "a/.git" (line 1)
    "#);
}

#[test]
fn what_is_not_toml() {
    let rows =
        ["[kick\n", "kick = \n", "[kick]\nmax_items = 1\nmax_items = 2\n", "[kick]\n[kick]\n", "a b\nc = \"x\nd = 1\n"];
    let said = rows.map(|text| format!("--\n{}", check(text))).join("\n");
    insta::assert_snapshot!(said, @r"
    --
    1:6 is not TOML: unclosed table, expected `]`
    --
    1:8 is not TOML: string values must be quoted, expected literal string
    --
    3:1 `max_items` is written twice
    --
    2:2 `kick` is written twice
    --
    1:3 is not TOML: key with no value, expected `=`
    ");
}

#[test]
fn columns_count_characters_and_no_byte_order_mark() {
    insta::assert_snapshot!(check("\u{feff}kik = 1\r\ntickets.root = \"é/..\" \r\nkick = { 'é' = 1, max_item = 2 }\r\n"), @r#"
    1:1 unknown section `[kik]`; did you mean `[kick]`?
    2:16 `tickets.root` may not contain `..`: `é/..` could leave the workspace; write a folder inside the workspace, like "tickets"
    3:10 unknown key `é` in `[kick]`; its keys are max_items, max_per_hour, max_attempts, reoffer_idle
    3:19 unknown key `max_item` in `[kick]`; did you mean `max_items`?
    "#);
}

#[test]
fn bytes_that_are_no_text() {
    let said = |bytes: &[u8]| parse_bytes(bytes).map_or_else(|p| p[0].clone(), |_| panic!("taken"));
    let problem = said(b"# fine\n# caf\xe9\n");
    assert_eq!((problem.line, problem.column), (2, 6));
    let most = usize::try_from(MOST_BYTES).unwrap();
    assert!(said(&vec![b'\n'; most + 1]).message.contains("larger than 1 MiB"));
}

#[test]
fn every_word_in_the_table_of_keys_is_taken() {
    for key in keys::KEYS {
        let takes::Takes::OneOf(words) = key.takes else { continue };
        for word in words {
            assert!(parse(&format!("{} = '{word}'\n", key.path())).is_ok(), "{} = {word}", key.path());
        }
    }
}

#[test]
fn a_file_that_is_none() {
    let workspace = tempfile::tempdir().unwrap();
    let load = || load(workspace.path());
    assert_eq!(load().unwrap(), Config::default(), "no file");
    std::fs::create_dir_all(workspace.path().join(FILE)).unwrap();
    assert!(load().unwrap_err().to_string().ends_with(".yoi/config.toml: is not a file"));
    std::fs::remove_dir(workspace.path().join(FILE)).unwrap();
    std::os::unix::fs::symlink("nowhere", workspace.path().join(FILE)).unwrap();
    assert!(load().unwrap_err().to_string().contains("No such file"));
    std::fs::remove_file(workspace.path().join(FILE)).unwrap();
    std::fs::write(workspace.path().join(FILE), "[kick]\nmax_item = 1\nmode = 'pull'\n").unwrap();
    let problems = load().unwrap_err().to_string();
    assert_eq!(problems.matches(".yoi/config.toml:").count(), 2, "each with its path: {problems}");
}

#[test]
fn how_often_files_are_compared() {
    let every = |text: &str| parse(text).map(|config| config.verify_every);
    assert_eq!(every(""), Ok(Some(TimeDelta::minutes(10))));
    assert_eq!(every("[watch]\nverify_every = '1h'\n"), Ok(Some(TimeDelta::hours(1))));
    assert_eq!(every("[watch]\nverify_every = 'off'\n"), Ok(None));
    insta::assert_snapshot!(check("[watch]\nverify_every = '10ms'\n"), @"2:1 `watch.verify_every` takes at least `1s`: each time all ticket files are looked at");
}

#[test]
fn signs_of_a_rate_limit() {
    let with = |lines: &str| {
        check(&format!("dispatch.mode = 'orchestrated'\n[orchestrator]\ncommand = [\"x\"]\n{lines}"))
            .replace('\n', "; ")
    };
    let table = [
        ("rate_limit_exit = 75", "orchestrator.rate_limit_exit = [75] (line 4)"),
        ("rate_limit_exit = [75, 0x4c]", "orchestrator.rate_limit_exit = [75, 76] (line 4)"),
        ("rate_limit_pattern = 'Limit'", "orchestrator.rate_limit_pattern = [\"Limit\"] (line 4)"),
        ("rate_limit_pattern = ['a', 'b c']", "orchestrator.rate_limit_pattern = [\"a\", \"b c\"] (line 4)"),
        ("rate_limit_exit = 1\nrate_limit_wait = '5m'", "orchestrator.rate_limit_wait = \"5m\" (line 5)"),
        ("rate_limit_exit = 0", "takes an exit code from 1 to 255, or a list of them, not 0"),
        (
            "rate_limit_exit = [75, 256]",
            "4:24 `orchestrator.rate_limit_exit` takes an exit code from 1 to 255, or a list of them, not 256",
        ),
        ("rate_limit_exit = '75'", "takes an exit code from 1 to 255, or a list of them, not '75'"),
        ("rate_limit_pattern = 429", "`orchestrator.rate_limit_pattern` takes a text, or a list of texts, not 429"),
        ("rate_limit_pattern = ['']", "an empty text is found in every output"),
        ("rate_limit_wait = '5m'", "has no effect without a sign of a rate limit"),
        ("rate_limit_exit = 1\nrate_limit_wait = '200h'", "is longer than a week"),
    ];
    for (lines, expected) in table {
        let said = with(lines);
        assert!(said.contains(expected), "{lines}: {said}");
    }
    let without = check("dispatch.mode = 'orchestrated'\norchestrator.rate_limit_exit = 75\n");
    assert!(without.contains("has no effect without `orchestrator.command`"), "{without}");
    assert!(check("orchestrator.rate_limit_exit = 75\n").contains("has no effect in pull mode"));
}

#[test]
fn where_worktrees_may_be_made_and_what_is_run_in_them() {
    insta::assert_snapshot!(
        check("[worktrees]\nroot = \"./trees/x\"\nafter_create = [[\"npm\", \"ci\"], [\"true\"]]\nhook_timeout = \"90s\"\n"),
        @r#"
    worktrees.root = "trees/x" (line 2)
    worktrees.after_create = [["npm", "ci"], ["true"]] (line 3)
    worktrees.hook_timeout = "90s" (line 4)
    "#
    );
    assert!(check("worktrees.root = \"/srv/trees\"\n").contains("worktrees.root = \"/srv/trees\""));
    for root in ["", "../x", "a/../../b", "~/trees", ".", "/", ".git/x", ".yoi", ".yoi/run/x"] {
        let problem = check(&format!("worktrees.root = \"{root}\"\n"));
        assert!(
            problem.starts_with("1:18 `worktrees.root` ") && problem.contains("; write a folder"),
            "{root}: {problem}"
        );
    }
    insta::assert_snapshot!(check("worktrees.after_create = [\"npm\", \"ci\"]\nworktrees.hook_timeout = \"off\"\n"), @r#"
    1:27 `worktrees.after_create` takes a list of argument lists, one a command, like `[["sh", "first.sh"], ["sh", "second.sh"]]`, not "npm"
    1:34 `worktrees.after_create` takes a list of argument lists, one a command, like `[["sh", "first.sh"], ["sh", "second.sh"]]`, not "ci"
    2:26 `worktrees.hook_timeout`: `off` is not a duration: write a whole number and a unit, like `30s`, `90m` or `24h`
    "#);
}

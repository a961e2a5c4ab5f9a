//! `yoi config`, and what every command says to a configuration that cannot be used.

use crate::support::Bench;

#[test]
fn every_value_says_where_it_came_from() {
    let mut bench = Bench::with_git();
    bench.write("work/.yoi/config.toml", "[dispatch]\nmode = \"orchestrated\"\n\n[kick]\nmax_items = 3\n");
    insta::assert_snapshot!(bench.yoi("work", "config"), @r#"
    workspace     [BENCH]/work (from the current folder)
    state folder  [BENCH]/work/.git/yoi
    tickets.root                     "tickets"         default
    frontmatter.state_key            "state"           default
    frontmatter.states               {}                default
    dispatch.mode                    "orchestrated"    .yoi/config.toml:2
    orchestrator.command             []                default
    orchestrator.turn_timeout        "4h"              default
    orchestrator.stall_timeout       "off"             default
    orchestrator.rate_limit_exit     []                default
    orchestrator.rate_limit_pattern  []                default
    orchestrator.rate_limit_wait     "15m"             default
    orchestrator.wake                []                default
    orchestrator.busy_max            "30m"             default
    kick.max_items                   3                 .yoi/config.toml:5
    kick.max_per_hour                20                default
    kick.max_attempts                10                default
    kick.reoffer_idle                "off"             default
    capacity.max_inprogress          1                 default
    gates.dirty_workspace            "block"           default
    claims.ttl                       "90m"             default
    claims.heartbeat                 "15m"             default
    claims.remote                    ""                default
    claims.refresh                   "1m"              default
    claims.label                     "claimed"         default
    worktrees.root                   ".yoi/worktrees"  default
    worktrees.after_create           []                default
    worktrees.before_remove          []                default
    worktrees.hook_timeout           "10m"             default
    writes.polite_max                "10m"             default
    watch.verify_every               "10m"             default
    (exit 0)
    "#);
    let view = bench.yoi("", "-C work config --json").json();
    let head = ["version", "workspace_source", "trust"].map(|key| view[key].to_string()).join(" ");
    assert_eq!(head, r#"1 {"kind":"option","option":"-C"} "nothing_to_run""#);
    let shown = [2, 3, 16].map(|row| view["settings"][row].to_string()).join("\n");
    insta::assert_snapshot!(shown, @r#"
    {"key":"frontmatter.states","value":"{}","source":{"kind":"default"}}
    {"key":"dispatch.mode","value":"\"orchestrated\"","source":{"kind":"file","line":2}}
    {"key":"capacity.max_inprogress","value":"1","source":{"kind":"default"}}
    "#);
    bench.set("YOI_WORKSPACE", bench.path("work").to_str().unwrap());
    let view = bench.yoi("", "config --json").json();
    assert_eq!(view["workspace_source"]["variable"], "YOI_WORKSPACE");
}

#[test]
fn each_command_that_is_not_trusted_says_so() {
    let bench = Bench::with_git();
    bench.write(
        "work/.yoi/config.toml",
        "[worktrees]\nafter_create = [[\"true\"]]\n[roles.coder]\ncommand = [\"true\"]\nmax = 2\n[roles.writer]\n",
    );
    let marked = || {
        let shown = bench.yoi("work", "config").stdout;
        let lines = shown.lines().filter(|line| line.contains("see `yoi trust`"));
        lines.filter_map(|line| line.split(' ').next().map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(marked(), ["worktrees.after_create", "roles.coder.command"]);
    assert_eq!(bench.yoi("work", "trust").code, 0);
    assert_eq!(marked(), Vec::<String>::new());
}

#[test]
fn mistakes_are_listed_all_at_once() {
    let bench = Bench::with_git();
    bench.write(
        "work/.yoi/config.toml",
        "[kick]\nmax_item = 3\n[claims]\nttl = 90\n[gates]\ndirty_workspace = \"no\"\n",
    );
    for line in ["config", "config --json", "trust"] {
        let answer = bench.yoi("work", line);
        assert_eq!((answer.code, answer.stdout.as_str()), (1, ""), "{line}: {answer}");
    }
    insta::assert_snapshot!(bench.yoi("work", "config"), @r#"
    ! yoi: [BENCH]/work/.yoi/config.toml has 3 problems
    !   - [BENCH]/work/.yoi/config.toml:2:1: unknown key `max_item` in `[kick]`; did you mean `max_items`?
    !   - [BENCH]/work/.yoi/config.toml:4:7: `claims.ttl`: `90` has no unit: write `90s` for seconds, `90m` for minutes or `90h` for hours
    !   - [BENCH]/work/.yoi/config.toml:6:19: `gates.dirty_workspace` takes `"block"`, `"warn"` or `"off"`, not `no`
    (exit 1)
    "#);
    bench.write("work/.yoi/config.toml", "[kick\n");
    insta::assert_snapshot!(bench.yoi("work", "config"), @r"
    ! yoi: [BENCH]/work/.yoi/config.toml:1:6: is not TOML: unclosed table, expected `]`
    (exit 1)
    ");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let bench = Bench::with_git();
    bench.folder("work/.yoi");
    for line in [&["config"][..], &["config", "--json"], &["trust"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = bench.command("work").args(line).stdout(writer).output().unwrap();
        assert_eq!((String::from_utf8_lossy(&output.stderr).as_ref(), output.status.code()), ("", Some(0)), "{line:?}");
    }
}

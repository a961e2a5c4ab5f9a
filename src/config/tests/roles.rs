//! Roles, and how often their claims are renewed.

use super::*;

#[test]
fn roles() {
    insta::assert_snapshot!(check(
        r#"
        [claims]
        ttl = "30m"
        [roles.coder]
        command = ["claude", "-p"]
        max = 2
        timeout = "90m"
        [roles."v1.2"]
        max = "unlimited"
        [roles]
        reviewer = { timeout = "1h" }
        [roles.writer]
        "#
    ), @r#"
    claims.ttl = "30m" (line 3)
    claims.heartbeat = "10m" (default)
    roles.coder.command = ["claude", "-p"] (line 5)
    roles.coder.max = 2 (line 6)
    roles.coder.timeout = "90m" (line 7)
    roles.reviewer.command = [] (default)
    roles.reviewer.max = "unlimited" (default)
    roles.reviewer.timeout = "1h" (line 11)
    roles.v1.2.command = [] (default)
    roles.v1.2.max = "unlimited" (line 9)
    roles.v1.2.timeout = "4h" (default)
    roles.writer.command = [] (default)
    roles.writer.max = "unlimited" (default)
    roles.writer.timeout = "4h" (default)
    "#);
    for (text, expected) in [
        ("[claims]\nttl = \"30m\"", 10),
        ("[claims]\nttl = \"90m\"", 15),
        ("[claims]\nttl = \"90m\"\nheartbeat = \"40m\"", 40),
    ] {
        assert_eq!(parse(text).unwrap().claims.heartbeat, TimeDelta::minutes(expected), "{text}");
    }
}

#[test]
fn what_is_no_role() {
    for text in [
        "roles = 3",
        "[roles]\ncoder = 3",
        "[roles]\nmax = 3",
        "[roles.coder]\ncomand = [\"x\"]",
        "[roles.coder]\ncolour = 1",
        "[roles.coder]\ncommand = \"claude -p\"\nmax = 0\ntimeout = 90",
        "[roles.orchestrator]",
        "[roles.\"\"]",
        "[roles.\"two words\"]\nmax = 1",
        "[roles.a.b]\nmax = 1",
        "[[roles.coder]]",
        "[role.coder]",
        "[claims]\nheartbeat = \"90m\"",
        "[claims]\nttl = \"10m\"\nheartbeat = \"11m\"",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
    insta::assert_snapshot!(check("[roles]\ncoder = 3\nmax = 3\n[roles.a]\ncomand = []\ncolour = 1\ncommand = \"x y\"\ntimeout = 90\n[roles.orchestrator]\n[roles.\"a b\"]\n"), @r#"
    2:1 a role is a section: write `[roles.coder]`, and its keys on the lines below it
    3:1 `max` is a role's: write it below `[roles.coder]`, say
    5:1 unknown key `comand` in `[roles.a]`; did you mean `command`?
    6:1 unknown key `colour` in `[roles.a]`; its keys are command, max, timeout
    7:11 `roles.a.command` takes a list of the program and its arguments, like `["claude", "-p"]`, not "x y"; write `command = ["x", "y"]`
    8:11 `roles.a.timeout`: `90` has no unit: write `90s` for seconds, `90m` for minutes or `90h` for hours
    9:8 the Orchestrator is no role that works on tickets: its command is that of `[orchestrator]`
    10:8 the name of a role is one word of at most 100 bytes
    "#);
    insta::assert_snapshot!(check("roles = 3\n[claims]\nttl = \"10m\"\nheartbeat = \"11m\""), @r"
    1:1 `roles` holds a section for each role: write `[roles.coder]`, say, and its keys on the lines below it
    4:1 `claims.heartbeat` of `11m` would renew a claim that has run out: `claims.ttl` is `10m`
    ");
    insta::assert_snapshot!(check("[role.coder]"), @r"1:2 unknown section `[role]`; did you mean `[roles.coder]`, say?");
}

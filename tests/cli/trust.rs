//! `yoi trust`.

use crate::support::Bench;

const ORCHESTRATED: &str = "[dispatch]\nmode = \"orchestrated\"\n[orchestrator]\ncommand = [\"agent\", \"-p\"]\n";

#[test]
fn a_cloned_configuration_runs_nothing_until_trusted_and_again_after_a_change() {
    let bench = Bench::with_git();
    let trust = |line: &str| bench.yoi("work", line);
    bench.write("work/.yoi/config.toml", ORCHESTRATED);
    insta::assert_snapshot!(trust("trust --show"), @r#"
    [BENCH]/work would run:
      orchestrator.command  ["agent", "-p"]
    not trusted yet, so not run; `yoi trust` agrees to it
    (exit 0)
    "#);
    assert_eq!(trust("config --json").json()["trust"], "never_trusted", "showing agrees to nothing");
    insta::assert_snapshot!(trust("trust"), @r#"
    [BENCH]/work would run:
      orchestrator.command  ["agent", "-p"]
    trusted from now on (before: not trusted yet, so not run)
    (exit 0)
    "#);
    insta::assert_snapshot!(trust("trust"), @r#"
    [BENCH]/work would run:
      orchestrator.command  ["agent", "-p"]
    trusted already
    (exit 0)
    "#);
    bench.write("work/.yoi/config.toml", &ORCHESTRATED.replace("-p", "-q"));
    insta::assert_snapshot!(trust("trust --show"), @r#"
    [BENCH]/work would run:
      orchestrator.command  ["agent", "-q"]
    changed since it was trusted, so not run; `yoi trust` agrees to it
    (exit 0)
    "#);
    let row = |answer: String| answer.lines().find(|line| line.contains("orchestrator.command")).unwrap().to_owned();
    insta::assert_snapshot!(row(trust("config").stdout), @r#"orchestrator.command             ["agent", "-q"]   .yoi/config.toml:4 (changed since it was trusted, so not run; see `yoi trust`)"#);
    insta::assert_snapshot!(trust("trust --json"), @r#"
    {
      "version": 1,
      "workspace": "[BENCH]/work",
      "commands": [
        {
          "key": "orchestrator.command",
          "arguments": [
            "agent",
            "-q"
          ]
        }
      ],
      "before": "changed",
      "now": "trusted"
    }
    (exit 0)
    "#);
    bench.write("work/.yoi/config.toml", &ORCHESTRATED.replace("-p", "-q").replace("[dispatch]", "# more\n[dispatch]"));
    assert_eq!(trust("config --json").json()["trust"], "trusted", "only the commands count");
}

#[test]
fn trust_belongs_to_one_folder() {
    let bench = Bench::with_git();
    bench.repository("other");
    for folder in ["work", "other"] {
        bench.write(&format!("{folder}/.yoi/config.toml"), ORCHESTRATED);
    }
    assert_eq!(bench.yoi("work", "trust").code, 0);
    assert_eq!(bench.yoi("other", "config --json").json()["trust"], "never_trusted");
    assert_eq!(bench.yoi("other", "-C ../work config --json").json()["trust"], "trusted");
}

#[test]
fn nothing_to_trust() {
    let bench = Bench::with_git();
    bench.folder("work/.yoi");
    insta::assert_snapshot!(bench.yoi("work", "trust"), @r"
    [BENCH]/work: the configuration names no command
    (exit 0)
    ");
    assert!(!bench.path("home/state").exists(), "nothing is recorded");
}

#[test]
fn escapes_in_a_command_are_shown_harmlessly() {
    let bench = Bench::with_git();
    bench.write("work/.yoi/config.toml", &ORCHESTRATED.replace("-p", "\\u001b[2J\\u202e\\nx"));
    insta::assert_snapshot!(bench.yoi("work", "trust --show"), @r#"
    [BENCH]/work would run:
      orchestrator.command  ["agent", "\u{1b}[2J\u{202e}\nx"]
    not trusted yet, so not run; `yoi trust` agrees to it
    (exit 0)
    "#);
}

#[test]
fn where_trust_cannot_be_read_nothing_is_trusted_and_everything_else_works() {
    let mut bench = Bench::with_git();
    bench.write("work/.yoi/config.toml", ORCHESTRATED);
    bench.write("work/tickets/a.md", "---\ntitle: A\nstate: ready\n---\n");
    bench.set("HOME", "");
    bench.set("XDG_STATE_HOME", "");
    assert_eq!(bench.yoi("work", "list --json").json()["tickets"][0]["id"], "a");
    assert_eq!(bench.yoi("work", "move a queued").code, 0);
    let asked = bench.yoi("work", "trust");
    assert!(asked.code == 1 && asked.stderr.contains("HOME"), "{asked}");
}

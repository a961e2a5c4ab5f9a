//! Every `--json` answer, as the program really gives it, against `docs/schema.json`.

use std::collections::BTreeSet;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::support::stage::Stage;
use crate::support::{Answer, Bench, source};

const ACCEPTED: &str = "accepted_by: orchestrator\naccepted_at: \"2026-11-30T08:00:00Z\"";

/// The document, as it is handed out.
fn document() -> Value {
    serde_json::from_str(&std::fs::read_to_string(source().join("docs/schema.json")).unwrap()).unwrap()
}

fn validator(document: &Value, command: &str) -> Validator {
    let schema = &document["commands"][command];
    assert!(schema.is_object(), "docs/schema.json says nothing of `{command}`");
    jsonschema::validator_for(&json!({"$ref": schema["$ref"], "$defs": document["$defs"]})).unwrap()
}

/// Checks answers, and keeps which commands were checked.
struct Checks {
    document: Value,
    done: BTreeSet<String>,
}

impl Checks {
    /// One object, or one a line; each one valid and of version 1.
    fn check(&mut self, command: &str, answer: &Answer) {
        assert!([0, 1, 3].contains(&answer.code) && !answer.stdout.is_empty(), "{command}: {answer}");
        let validator = validator(&self.document, command);
        let one = serde_json::from_str(&answer.stdout).map(|value| vec![value]);
        let values: Vec<Value> =
            one.unwrap_or_else(|_| answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect());
        for value in values {
            let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
            assert!(errors.is_empty() && value["version"] == 1, "{command}: {errors:?}\n{value:#}");
        }
        self.done.insert(command.to_owned());
    }

    /// Runs a line with `--json` behind it.
    fn run(&mut self, stage: &Stage, command: &str, rest: &str) -> Value {
        let answer = stage.yoi(&format!("{command} {rest} --json"));
        self.check(command, &answer);
        serde_json::from_str(&answer.stdout).unwrap_or_default()
    }
}

/// Every command, and every command below a command, whose help names `--json`.
fn commands_with_json(bench: &Bench) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![String::new()];
    while let Some(command) = open.pop() {
        let help = bench.yoi("", &format!("{command} --help")).stdout;
        if help.contains("--json") {
            found.insert(command.clone());
        }
        // Commands stand in groups above the options; so do arguments, in brackets.
        let above = help.split("\nOptions:").next().unwrap_or_default();
        let names = above.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let names = names.filter_map(|line| line.split_whitespace().next());
        let names = names.filter(|name| *name != "help" && !name.starts_with(['<', '[']));
        open.extend(names.map(|name| format!("{command} {name}").trim().to_owned()));
    }
    found
}

#[test]
fn every_answer_is_as_the_schema_says() {
    let stage = Stage::new();
    let mut checks = Checks { document: document(), done: BTreeSet::new() };
    stage.ticket(
        "a",
        "queued",
        "human_gate: design\nlabels: [x, y]\npriority: P1\nparent: b\ntouches: [src]\ndue: odd",
    );
    stage.ticket("b", "inprogress", ACCEPTED);
    stage.ticket("c", "queued", "depends_on: [nowhere]");
    stage.ticket("d", "queued", "");
    stage.ticket("e", "planning", "");
    let child = |title: &str| format!("- {{title: {title}, acceptance: [x], validation: y}}\n");
    stage.bench.write("work/children.yaml", &(child("one") + &child("two")));
    stage.bench.write("work/tickets/broken.md", "---\ntitle: [x\n---\n");
    without_a_daemon(&mut checks, &stage);

    stage.act("yoi wait a --kind human_gate --detail later; yoi plan c --order 3; yoi await b --step merge --for 1h");
    let up = checks.run(&stage, "up", "");
    assert_eq!(up["already"], false);
    stage.rest();
    checks.run(&stage, "up", "");
    with_a_daemon(&mut checks, &stage);
    checks.run(&stage, "down", "");
    checks.run(&stage, "down", "");
    with_a_session(&mut checks);
    assert_eq!(checks.done, commands_with_json(&stage.bench), "each command that takes --json is checked here");
}

fn without_a_daemon(checks: &mut Checks, stage: &Stage) {
    stage.bench.git("work", &["worktree", "add", "--quiet", "-b", "yoi/w", ".yoi/worktrees/w"]);
    stage.bench.write("work/.yoi/worktrees/w/new", "new");
    for (command, rest) in [
        ("config", ""),
        ("trust", ""),
        ("list", "--all"),
        ("show", "a"),
        ("why", "a"),
        ("inspect", "tickets/a.md tickets/broken.md .yoi/config.toml nowhere.md"),
        ("new", "Title --state ready --label x"),
        ("set", "a note=x"),
        ("set", "a note=x"),
        ("set", "--file tickets/a.md note=y"),
        ("worktree list", ""),
        ("worktree remove", "w --force"),
        ("worktree restore", "w"),
        ("doctor", ""),
        ("status", ""),
        ("next", ""),
        ("events", ""),
        ("pod list", ""),
        ("pause", "--reason later"),
        ("resume", ""),
        ("move", "b done"),
        ("accept", "d"),
        ("start", "d --worker v"),
        ("release", "d --worker v --outcome abandoned"),
        ("offer", "d"),
        ("claim", "d --worker w"),
        ("heartbeat", "d --worker w"),
        ("release", "d --worker w --outcome abandoned"),
        ("move", "d done"),
        ("move", "b inprogress --force --reason again"),
    ] {
        checks.run(stage, command, rest);
    }
}

fn with_a_daemon(checks: &mut Checks, stage: &Stage) {
    let session = format!("--session {}", stage.session());
    let list = checks.run(stage, "list", "");
    assert_eq!((&list["daemon"], &list["errors"][0]["path"]), (&true.into(), &"tickets/broken.md".into()));
    let set = checks.run(stage, "work-set", "");
    assert_eq!(set["entries"].as_array().unwrap().len(), 3, "{set:#}");
    assert_eq!(set["holding_back"][0]["id"], "b", "{set:#}");
    checks.run(stage, "plan", &format!("c --order 1 {session}"));
    checks.run(stage, "wait", &format!("a --kind human_gate --detail x {session}"));
    checks.run(stage, "await", &format!("b --step merge --for 1h {session}"));
    checks.run(stage, "hook", "panel-open");
    stage.worker("coder", "b");
    let pods = checks.run(stage, "pod list", "");
    assert_eq!(pods["pods"].as_array().unwrap().len(), 2);
    for (command, rest) in [
        ("kick", "--dry-run"),
        ("kick", ""),
        ("show", "a"),
        ("why", "a"),
        ("why", "b"),
        ("doctor", ""),
        ("set", "a note=z"),
        ("new", "Another --state queued"),
        ("move", "c ready"),
        ("block", "a --blocker x --evidence y --unblock z --then retry"),
        ("close", "b --no-pr x --tests y --no-artifact z --residual none --workspace removed"),
        ("decompose", "e --from children.yaml --why two"),
        ("status", ""),
        ("events", ""),
    ] {
        checks.run(stage, command, rest);
    }
}

/// An Orchestrator that registers itself.
fn with_a_session(checks: &mut Checks) {
    let stage = Stage::new();
    stage.bench.write("work/.yoi/config.toml", "[dispatch]\nmode = \"orchestrated\"\n");
    stage.ticket("a", "queued", "");
    stage.start();
    checks.run(&stage, "orchestrator attach", "--session s");
    let pid = std::process::id();
    let list = checks.run(&stage, "hook", &format!("busy --take-list --session s --pid {pid}"));
    assert_eq!(list["kick"]["items"][0]["id"], "a", "{list:#}");
    checks.run(&stage, "hook", "gone --session s");
    checks.run(&stage, "orchestrator reset", "");
    let status = checks.run(&stage, "status", "");
    assert!(status["delivery"].is_string(), "{status:#}");
}

#[test]
fn a_schema_that_would_take_anything_is_none() {
    let document = document();
    for (command, schema) in document["commands"].as_object().unwrap() {
        let definition = &document["$defs"][schema["$ref"].as_str().unwrap().trim_start_matches("#/$defs/")];
        assert!(!definition["required"].as_array().unwrap().is_empty(), "{command}");
        let validator = validator(&document, command);
        assert!(!validator.is_valid(&json!({})) && !validator.is_valid(&json!([])), "{command}");
        let kinds = definition["properties"].as_object().unwrap();
        assert!(command.starts_with('(') || kinds.contains_key("version"), "{command}");
    }
}

#[test]
fn a_failure_over_the_socket_is_as_the_schema_says() {
    use std::io::{Read, Write};
    let stage = Stage::new();
    stage.start();
    let socket =
        stage.json("status")["socket"].as_str().unwrap().replace("[BENCH]", stage.bench.path("").to_str().unwrap());
    let body = r#"{"do":"accept","id":"nowhere","caller":{}}"#;
    let mut stream = std::os::unix::net::UnixStream::connect(socket).unwrap();
    write!(
        stream,
        "POST /api/requests HTTP/1.1\r\nhost: yoi\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 409"), "{answer}");
    let value: Value = serde_json::from_str(body).unwrap();
    assert!(validator(&document(), "(failure, over HTTP)").is_valid(&value), "{value:#}");
    assert_eq!((&value["kind"], &value["message"]), (&"refused".into(), &"there is no ticket `nowhere`".into()));
}

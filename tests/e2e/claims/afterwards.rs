//! What is left of a claim when it has ended: the worktree, and a ticket that waits for its pull request.

use super::stage;
use crate::support::stage::Stage;

const URL: &str = "https://example.org/pull/7";
const FATE: &str = "at the end the worktree stays for whoever comes next, but `yoi block` removes it if nothing in it would be \
                    lost, and `yoi close` asks what became of it";
const BLOCK: [&str; 8] = ["--blocker", "x", "--evidence", "x", "--unblock", "x", "--then", "retry"];

/// Its own worktree, the state in which it is, and with what its claim ends.
fn ends(stage: &Stage, id: &str, is_dirty: bool, end: &[&str]) -> bool {
    stage.ticket(id, "queued", "");
    stage.done(&format!("claim {id} --worker w"));
    stage.done(&format!("start {id} --worker w"));
    let thread = stage.bench.read(&format!("work/tickets/{id}.thread.md"));
    assert!(thread.contains(FATE), "{thread}");
    let worktree = format!("work/.yoi/worktrees/{id}");
    if is_dirty {
        stage.bench.write(&format!("{worktree}/new"), "");
    }
    let verb = [&[end[0], id, "--worker", "w"], &end[1..]].concat();
    let ended = stage.run(&verb);
    assert_eq!(ended.code, 0, "{verb:?}: {ended}");
    stage.bench.path(&worktree).exists()
}

#[test]
fn the_note_of_a_claim_says_what_becomes_of_the_worktree() {
    let stage = stage("");
    let block = [&["block"][..], &BLOCK].concat();
    let close = "close --no-pr x --merge-state closed --tests x --artifact src/a.rs --residual none --workspace";
    let close: Vec<_> = close.split(' ').chain(["retained:ana:needed:2999-01-01"]).collect();
    stage.bench.write(
        "work/two.yaml",
        "why: x\nchildren:\n  - {title: one, acceptance: [x], validation: y}\n  - {title: two, acceptance: [x], validation: y}\n",
    );
    assert!(ends(&stage, "abandoned", false, &["release", "--outcome", "abandoned"]));
    assert!(ends(&stage, "opened", false, &["release", "--outcome", "pr-opened", "--pr", URL]));
    assert!(ends(&stage, "done", false, &["release", "--outcome", "done"]));
    assert!(ends(&stage, "several", false, &["decompose", "--from", "two.yaml"]));
    assert!(ends(&stage, "closed", false, &close));
    assert!(ends(&stage, "dirty", true, &block));
    assert!(!ends(&stage, "clean", false, &block));
}

/// `why`, `list` and `next` agree about it.
fn is_offered_to_nobody(stage: &Stage, id: &str, state: &str) {
    assert_eq!(stage.json(&format!("show {id}"))["ticket"]["state"], state);
    let why = stage.done(&format!("why {id}")).stdout;
    let waits = format!(
        "  It waits for its pull request: `{URL}`. Nobody is offered it until it is closed (`yoi close {id}`), or `pr` is taken \
         out (`yoi set {id} --unset pr`).\n"
    );
    assert!(why.contains(&waits) && !why.contains("No gate") && !why.contains("Orchestrator"), "{why}");
    assert!(why.contains(&format!("  Workers are not offered it: its pull request is open: `{URL}`.\n")), "{why}");
    let list = stage.done("list").stdout;
    let line = list.lines().find(|line| line.starts_with(&format!("{id} "))).unwrap();
    assert!(line.ends_with(&format!("[waits for its pull request: `{URL}`]")), "{list}");
    let next = stage.yoi("next");
    assert!(next.code == 3 && next.stdout.contains(&format!("  {id}: its pull request is open: `{URL}`")), "{next}");
}

#[test]
fn a_ticket_that_waits_for_its_pull_request_is_offered_to_nobody_and_says_so() {
    let stage = stage("");
    for (id, daemon) in [("a", false), ("b", true)] {
        if daemon {
            stage.start();
        }
        stage.ticket(id, "queued", "");
        stage.done(&format!("claim {id} --worker w"));
        stage.done(&format!("set {id} pr={URL}"));
        stage.done(&format!("release {id} --worker w --outcome abandoned"));
        is_offered_to_nobody(&stage, id, "queued");
        stage.done(&format!("set {id} --unset pr"));
        let why = stage.done(&format!("why {id}")).stdout;
        let is_offered = "  No gate holds it.\n";
        assert!(
            why.contains(is_offered) && why.contains("  Workers are offered it: `yoi next --claim` takes "),
            "{why}"
        );
        assert!(why.contains("  Its class is new_queued.\n"), "{why}");
        assert_eq!(stage.json("next")["ticket"]["id"], id);

        stage.done(&format!("claim {id} --worker v"));
        let show = stage.done(&format!("show {id}")).stdout;
        let line = show.lines().nth(1).unwrap();
        assert!(
            line.starts_with("claimed by v (coder) until ") && line.contains("; others respect that until "),
            "{show}"
        );
        let why = stage.done(&format!("why {id}")).stdout;
        assert!(why.contains("  Workers are not offered it: held by v (coder) until "), "{why}");
        stage.done(&format!("release {id} --worker v --outcome pr-opened --pr {URL}"));
        is_offered_to_nobody(&stage, id, "inprogress");

        stage.done(&format!("move {id} planning"));
        let refused = stage.yoi(&format!("claim {id} --worker v"));
        assert!(refused.code == 3 && refused.stderr.contains("is planning: nothing is to be worked on"), "{refused}");
    }
}

fn closed_and_retained(stage: &Stage, id: &str) {
    stage.ticket(id, "queued", "");
    stage.done(&format!("start {id} --worker w"));
    let words = "--no-pr x --merge-state closed --tests x --artifact src/a.rs --residual none --workspace";
    let words: Vec<_> = words.split(' ').chain(["retained:ana:the log until: it is read:2999-01-01"]).collect();
    let closed = stage.run(&[&["close", id, "--worker", "w"], &words[..]].concat());
    assert_eq!(closed.code, 0, "{closed}");
}

#[test]
fn a_worktree_that_is_retained_is_locked_for_its_owner_until_the_day() {
    let stage = stage("");
    closed_and_retained(&stage, "a");
    let git = stage.bench.git("work", &["worktree", "list", "--porcelain"]);
    assert!(
        git.contains("locked yoi: retained by ana until 2999-01-01T23:59:59Z: the log until: it is read\n"),
        "{git}"
    );
    let list = stage.json("worktree list");
    let tree = &list["worktrees"][0];
    assert_eq!((&tree["owner"], &tree["retained_for"]), (&"ana".into(), &"the log until: it is read".into()));
    assert_eq!(tree["expires"], "2999-01-01T23:59:59Z");
    let words = "`ana` retains it until 2999-01-01T23:59:59Z, for: the log until: it is read";
    assert_eq!(tree["stays_because"][0], words);
    let list = stage.done("worktree list").stdout;
    assert!(list.contains("ana (for: the log until: it is read)"), "{list}");
    for line in ["worktree remove a", "worktree remove a --worker w", "worktree remove a --force"] {
        let refused = stage.yoi(line);
        assert!(refused.code == 3 && refused.stderr.contains(words), "{line}: {refused}");
    }
    // Whoever opens the ticket again does not work in it either.
    stage.done("move a planning");
    stage.done("move a ready");
    stage.done("move a queued");
    let refused = stage.yoi("start a --worker v");
    assert!(refused.code == 3 && refused.stderr.contains(words), "{refused}");
    stage.done("worktree remove a --worker ana");
    stage.done("start a --worker v");
}

#[test]
fn a_worktree_that_is_restored_is_locked_for_whoever_holds_the_ticket() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.done("start a --worker w");
    stage.bench.write("work/.yoi/worktrees/a/new", "new");
    stage.done("worktree remove a --worker w --force");
    let back = stage.done("worktree restore a").stdout;
    assert!(back.contains("it is locked again: `w` holds it until "), "{back}");
    assert_eq!(stage.json("worktree list")["worktrees"][0]["owner"], "w");
    stage.done("worktree remove a --worker w --force");
    stage.done("release a --worker w --outcome abandoned");
    let back = stage.done("worktree restore a").stdout;
    assert!(!back.contains("locked"), "{back}");
    assert_eq!(stage.json("worktree list")["worktrees"][0]["owner"], serde_json::Value::Null);
}

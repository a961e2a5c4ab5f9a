//! `block`, `decompose`, `close` at the host: behind the fence, on a real ticket folder.

use std::path::Path;
use std::sync::Arc;

use insta::assert_snapshot;
use tempfile::TempDir;

use super::bench::Bench;
use crate::adapters::ticket_folder::TicketFolder;
use crate::daemon::{ClaimRequest, EndRequest, Ended, Ending, Holder, VerbError, claim, end_work, release};
use crate::domain::claim::{self, Challenge, Outcome, Step};
use crate::domain::edit::Change;
use crate::domain::engine::{Actor, Event};
use crate::domain::evidence::block::{self, Block};
use crate::domain::evidence::close::{self, Checks, Closing, Workspace};
use crate::domain::evidence::decompose::{Child, Decomposition};
use crate::domain::facts::{ProcessIdentity, TimeDeltaSeconds};
use crate::domain::policy::{Mode, Policy};
use crate::domain::sample::{at, id};
use crate::ports::Tickets;
use crate::text::keys::KeyMap;

const STALE: i64 = 90 * 60 + 2 * 60;

/// A daemon on a real ticket folder; git is in memory.
struct Scene {
    bench: Bench,
    folder: Arc<TicketFolder>,
    _root: TempDir,
}

impl Scene {
    fn new(mode: Mode, tickets: &[(&str, &str)]) -> Self {
        let root = TempDir::new().unwrap();
        let folder = TicketFolder::new(root.path(), "tickets", root.path().join("state/locks"), KeyMap::default());
        folder.make_folder().unwrap();
        for (name, more) in tickets {
            folder.create(&id(name), &format!("---\ntitle: The {name}\n{more}\n---\nBody.\n")).unwrap();
        }
        let folder = Arc::new(folder);
        let mut bench = Bench::with(Policy { mode, ..Policy::default() }, []);
        bench.host.ports.tickets = Arc::<TicketFolder>::clone(&folder);
        let mut scene = Self { bench, folder, _root: root };
        scene.look();
        scene
    }

    fn look(&mut self) {
        let entries = self.folder.scan().unwrap();
        self.bench.host.tell(Event::FilesRead { entries, full: true });
    }

    fn claim(&mut self, ticket: &str, worker: &str) {
        let process = ProcessIdentity { host: "h".into(), boot_id: "boot".into(), pid: 7, started: 1 };
        let (role, ttl) = ("coder".into(), TimeDeltaSeconds(90 * 60));
        let challenge = Challenge { worker: worker.into(), role, ttl, process, session: None };
        let request = ClaimRequest { id: id(ticket), challenge, own: Vec::new(), by: "bob".into(), actor: bob() };
        claim(&mut self.bench.host, &request).unwrap();
    }

    fn end(&mut self, ticket: &str, worker: Option<&str>, ending: Ending) -> Result<Ended, VerbError> {
        let holder = worker.map(|worker| Holder { id: id(ticket), worker: worker.into(), generation: None });
        let request = EndRequest { id: id(ticket), holder, by: "bob".into(), actor: bob(), ending };
        end_work(&mut self.bench.host, request)
    }

    fn edit(&mut self, ticket: &str, change: &Change) {
        let path = format!("tickets/{ticket}.md");
        self.folder.edit(Path::new(&path), &mut |_| Ok(vec![change.clone()])).unwrap();
        self.look();
    }

    fn text(&self, file: &str) -> String {
        self.folder.text(Path::new(&format!("tickets/{file}.md"))).unwrap_or_default()
    }

    /// What the chain of a ticket says, oldest first.
    fn chain(&self, ticket: &str) -> String {
        let line = |step: Step| format!("{:?} {} {}", step.kind, step.worker, step.generation);
        self.bench.world.claims.steps(&id(ticket)).into_iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Every file's name.
    fn files(&self) -> String {
        let entries = self.folder.scan().unwrap();
        entries.iter().map(|(path, _)| path.display().to_string()).collect::<Vec<_>>().join(" ")
    }
}

fn bob() -> Actor {
    Actor::Somebody("bob".into())
}

fn blocked() -> Ending {
    let asked = block::Asked {
        blocker: Some("no key"),
        evidence: Some("401 on every call"),
        unblock: Some("ops puts one into the vault"),
        then: Some("retry"),
    };
    Ending::Block(Block::of(&id("a"), &asked).unwrap())
}

fn child(title: &str, after: &[&str]) -> Child {
    Child {
        title: title.into(),
        acceptance: vec!["it is seen".into()],
        validation: "make test".into(),
        depends_on: after.iter().map(ToString::to_string).collect(),
        ..Child::default()
    }
}

fn decomposed() -> Ending {
    let children = vec![child("The form", &[]), child("The mails", &["The form"])];
    Ending::Decompose(Decomposition::of(&id("a"), children, Some("they ship apart"), None).unwrap())
}

fn closed() -> Ending {
    let asked = close::Asked {
        pr: Some("https://example.org/7"),
        merge_state: Some("merged"),
        tests: Some("make test: 12 passed"),
        artifact: Some("docs/login.md"),
        residual: Some("none"),
        workspace: Some(Ok(Workspace::Removed)),
        ..close::Asked::default()
    };
    Ending::Close(Closing::of(&id("a"), &asked, &Checks::default(), at(0)).unwrap())
}

fn said(result: Result<Ended, VerbError>) -> String {
    match result {
        Ok(ended) => format!("done {:?} {:?}", ended.after.state.unwrap().as_str(), ended.remarks),
        Err(VerbError::Refused(refusal)) => format!("refused: {refusal}"),
        Err(error) => format!("failed: {error}"),
    }
}

const QUEUED: &str = "state: queued\nqueued_by: ana\nqueued_at: \"2026-11-30T08:00:00Z\"";

#[test]
fn one_whole_story() {
    let mut scene = Scene::new(Mode::Pull, &[("a", &format!("{QUEUED}\nlabels: [ui] # of the form"))]);
    scene.claim("a", "w");
    assert_eq!(said(scene.end("a", Some("w"), blocked())), "done \"queued\" []");
    assert_snapshot!(scene.text("a"), @r#"
    ---
    title: The a
    state: queued
    queued_by: w
    queued_at: "2026-11-30T09:00:00Z"
    labels: [ui, blocked] # of the form
    ---
    Body.
    "#);
    // Its blocker is gone.
    scene.edit("a", &Change::Remove("labels".into(), "blocked".into()));
    scene.bench.pass(10);
    scene.claim("a", "v");
    scene.bench.pass(10);
    assert_eq!(said(scene.end("a", Some("v"), closed())), "done \"closed\" []");
    assert_snapshot!(scene.text("a"), @r#"
    ---
    title: The a
    state: closed
    queued_by: w
    queued_at: "2026-11-30T09:00:00Z"
    labels: [ui] # of the form
    accepted_by: v
    accepted_at: "2026-11-30T09:00:10Z"
    ---
    Body.
    "#);
    assert_snapshot!(scene.text("a.thread"), @r#"
    # Thread of a

    2026-11-30T09:00:00Z QUEUED by alice, seen in the file
    2026-11-30T09:00:00Z STATE queued -> inprogress by bob: accepted with the claim of w
    2026-11-30T09:00:00Z CLAIM by w (coder, generation 1), respected until 2026-11-30T10:32:00Z without a beat; owner bob; branch yoi/a, worktree /no-such-folder/a; at the end the worktree stays for whoever comes next, but `yoi block` removes it if nothing in it would be lost, and `yoi close` asks what became of it
    2026-11-30T09:00:00Z BLOCKED inprogress -> queued by w: blocker "no key"; evidence "401 on every call"; unblock "ops puts one into the vault"; then retry; worktree none
    2026-11-30T09:00:10Z STATE queued -> inprogress by bob: accepted with the claim of v
    2026-11-30T09:00:10Z CLAIM by v (coder, generation 2), respected until 2026-11-30T10:32:10Z without a beat; owner bob; branch yoi/a, worktree /no-such-folder/a; at the end the worktree stays for whoever comes next, but `yoi block` removes it if nothing in it would be lost, and `yoi close` asks what became of it
    2026-11-30T09:00:20Z STATE inprogress -> done by v
    2026-11-30T09:00:20Z CLOSED by v: pr "https://example.org/7" (merged); tests "make test: 12 passed"; artifact "docs/login.md"; residual "none"; workspace removed
    "#);
    assert_snapshot!(scene.chain("a"), @r"
    Claim w 1
    Release { outcome: Blocked } w 1
    Claim v 2
    Release { outcome: Done } v 2
    ");
}

#[test]
fn a_decomposed_ticket_stands_for_its_children() {
    let mut scene = Scene::new(Mode::Pull, &[("a", &format!("{QUEUED}\npriority: P0")), ("a-the-form", QUEUED)]);
    scene.claim("a", "w");
    let ended = scene.end("a", Some("w"), decomposed()).unwrap();
    let children: Vec<_> = ended.children.iter().map(|(child, there)| (child.id.as_str(), *there)).collect();
    assert_eq!(children, [("a-the-form-2", false), ("a-the-mails", false)], "nothing is written over");
    assert_snapshot!(scene.text("a"), @r#"
    ---
    title: The a
    state: planning
    queued_by: alice
    queued_at: "2026-11-30T09:00:00Z"
    priority: P0
    labels: [tracking]
    children: [a-the-form-2, a-the-mails]
    ---
    Body.
    "#);
    assert_snapshot!(scene.text("a-the-mails"), @r#"
    ---
    title: "The mails"
    state: planning
    priority: P2
    labels: []
    created_at: "2026-11-30T09:00:00Z"
    updated_at: "2026-11-30T09:00:00Z"
    depends_on: [a-the-form-2]
    parent: a
    ---

    ## Acceptance criteria

    - it is seen

    ## Validation

    make test
    "#);
    assert!(scene.text("a.thread").ends_with(&format!("{}\n", ended.note)));
    assert!(scene.chain("a").ends_with("Release { outcome: Decomposed } w 1"), "{}", scene.chain("a"));
}

/// Whoever was interrupted says the same again.
#[test]
fn what_was_begun_is_found_and_nothing_is_made_twice() {
    let made = "title: The mails\nparent: a\nstate: ready";
    let mut scene = Scene::new(Mode::Orchestrated, &[("a", "state: planning"), ("odd", "state: planning")]);
    scene.folder.create(&id("a-the-mails"), &format!("---\n{made}\n---\n")).unwrap();
    // No ticket, and its name is taken all the same.
    scene.folder.create(&id("a-the-form"), "Notes.\n").unwrap();
    // The daemon has not been told of either.
    let ended = scene.end("a", None, decomposed()).unwrap();
    let children: Vec<_> = ended.children.iter().map(|(child, there)| (child.id.as_str(), *there)).collect();
    assert_eq!(children, [("a-the-form-2", false), ("a-the-mails", true)]);
    assert!(scene.text("a-the-mails").contains("state: ready"), "what was made of it meanwhile stays");
    let files = scene.files();
    let (parent, again) = (scene.text("a"), scene.end("a", None, decomposed()).unwrap());
    assert!(again.children.iter().all(|(_, there)| *there));
    assert_eq!((scene.files(), scene.text("a")), (files, parent), "all of it is there");
}

#[test]
fn who_was_replaced_meanwhile_is_refused_and_nothing_is_written() {
    for ending in [blocked(), decomposed(), closed()] {
        let mut scene = Scene::new(Mode::Orchestrated, &[("a", &format!("{QUEUED}\nstate2: x"))]);
        scene.edit("a", &Change::text("state", "inprogress"));
        scene.edit("a", &Change::text("accepted_by", "orchestrator"));
        scene.edit("a", &Change::text("accepted_at", "2026-11-30T09:00:00Z"));
        scene.claim("a", "w");
        // Its machine slept; somebody else has taken it up.
        scene.bench.pass(STALE);
        scene.claim("a", "v");
        let (file, thread, files) = (scene.text("a"), scene.text("a.thread"), scene.files());
        let refused = said(scene.end("a", Some("w"), ending.clone()));
        assert!(refused.starts_with("refused: `a` is held by v (generation 2"), "{refused}");
        assert_eq!((scene.text("a"), scene.text("a.thread"), scene.files()), (file, thread, files));
        assert_eq!(scene.chain("a").lines().last(), Some("Claim v 2"));
        // Who holds it goes on.
        assert!(said(scene.end("a", Some("v"), ending)).starts_with("done"));
    }
}

#[test]
fn a_person_ends_only_what_nobody_holds() {
    for (ending, verb) in [(blocked(), "block"), (decomposed(), "decompose"), (closed(), "close")] {
        let mut scene = Scene::new(Mode::Pull, &[("a", QUEUED)]);
        scene.claim("a", "w");
        let refused = said(scene.end("a", None, ending.clone()));
        let expected =
            format!("refused: `a` is held by w (coder) until 2026-11-30T10:32:00Z: to {verb} it is that worker's");
        assert_eq!(refused, expected);
        let mut free = Scene::new(Mode::Pull, &[("a", QUEUED)]);
        assert!(said(free.end("a", None, ending.clone())).starts_with("done"), "{verb}");
        assert_eq!(free.chain("a"), "", "{verb}: there is no claim, and none is made");
        let refused = said(free.end("a", Some("w"), ending));
        assert_eq!(refused, "refused: `a` has no claim", "{verb}");
    }
}

#[test]
fn a_claim_that_has_gone_stale_is_in_nobodys_way() {
    let mut scene = Scene::new(Mode::Orchestrated, &[("a", QUEUED)]);
    scene.edit("a", &Change::text("state", "inprogress"));
    scene.edit("a", &Change::text("accepted_by", "orchestrator"));
    scene.edit("a", &Change::text("accepted_at", "2026-11-30T09:00:00Z"));
    scene.claim("a", "w");
    scene.bench.pass(STALE);
    assert_eq!(said(scene.end("a", None, blocked())), "done \"queued\" []");
    assert!(scene.text("a").contains("queued_by: bob"), "{}", scene.text("a"));
}

#[test]
fn who_has_opened_a_pull_request_closes_the_ticket_when_it_is_merged() {
    let mut scene = Scene::new(Mode::Pull, &[("a", QUEUED)]);
    scene.claim("a", "w");
    let pr = Some("https://example.org/7".to_owned());
    let ending = claim::Ending {
        outcome: Outcome::PrOpened,
        pr,
        by: "bob".into(),
        mode: Mode::Pull,
        label: Some("claimed".into()),
    };
    let holder = Holder { id: id("a"), worker: "w".into(), generation: None };
    release(&mut scene.bench.host, &holder, (ending, None), bob()).unwrap();
    assert!(said(scene.end("a", Some("v"), closed())).contains("is held by nobody"), "not everybody");
    assert!(said(scene.end("a", Some("w"), blocked())).contains("is held by nobody"), "and not everything");
    assert_eq!(said(scene.end("a", Some("w"), closed())), "done \"closed\" []");
    assert!(scene.text("a.thread").contains(" CLOSED by w: "));
    assert_eq!(scene.chain("a").lines().last(), Some("Release { outcome: PrOpened } w 1"));
}

#[test]
fn who_was_interrupted_between_the_edits_closes_it_again() {
    for (state, notes) in [("done", 0), ("closed", 0), ("inprogress", 1)] {
        let mut scene = Scene::new(Mode::Pull, &[("a", QUEUED)]);
        scene.claim("a", "w");
        scene.edit("a", &Change::text("state", state));
        assert_eq!(said(scene.end("a", Some("w"), closed())), "done \"closed\" []", "{state}");
        let thread = scene.text("a.thread");
        assert_eq!((thread.matches("-> done").count(), thread.matches("CLOSED").count()), (notes, 1), "{thread}");
        assert!(scene.chain("a").ends_with("Release { outcome: Done } w 1"));
    }
}

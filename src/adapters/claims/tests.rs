//! Real repositories of every kind, whatever else lies and happens in them.

use std::fs;
use std::process::{Child, Command};

use insta::assert_snapshot;
use tempfile::TempDir;

use super::contract::{self, is_unreadable, lost, moved, step};
use super::*;
use crate::domain::claim::name;
use crate::domain::sample::id;

mod alone;
mod race;
mod remote;
mod servers;

/// A repository for one test.
pub(super) struct Scene {
    pub folder: TempDir,
}

impl Scene {
    /// As `git init` makes it with these options.
    pub fn new(init: &str) -> Self {
        let scene = Self { folder: TempDir::new().unwrap() };
        scene.shell(&format!("git init -q -b main {init} ."));
        scene
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a script of sh in it; returns what it prints.
    #[track_caller]
    pub fn shell(&self, script: &str) -> String {
        shell(self.path(), script)
    }

    /// Claims of it, waiting for locks for so long.
    pub fn claims(&self, program_only: bool) -> GitClaims {
        let common_dir = self.shell("git rev-parse --path-format=absolute --git-common-dir");
        GitClaims { program_only, ..GitClaims::new(self.path(), Some(Path::new(common_dir.trim()))) }
    }

    /// By libgit2 and by the program.
    fn both(&self) -> [GitClaims; 2] {
        [self.claims(false), self.claims(true)]
    }
}

/// With a machine's own settings kept away.
fn command(folder: &Path, script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-euc", script]).current_dir(folder);
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env_remove("GIT_DIR");
    command.env("GIT_AUTHOR_NAME", "A").env("GIT_AUTHOR_EMAIL", "a@example.org");
    command.env("GIT_COMMITTER_NAME", "A").env("GIT_COMMITTER_EMAIL", "a@example.org");
    command
}

#[track_caller]
pub(super) fn shell(folder: &Path, script: &str) -> String {
    let done = command(folder, script).output().unwrap();
    assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// Something that goes on beside until it is dropped.
pub(super) struct Beside(Child);

impl Beside {
    /// A script of sh.
    pub fn new(folder: &Path, script: &str) -> Self {
        Self(command(folder, script).spawn().unwrap())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const KINDS: [&str; 6] = [
    "",
    "--bare",
    "--ref-format=reftable",
    "--object-format=sha256",
    "--object-format=sha256 --ref-format=reftable",
    "--separate-git-dir=elsewhere",
];

#[test]
fn the_contract_holds_in_repositories_of_every_kind() {
    for kind in KINDS {
        contract::holds(&Scene::new(kind).claims(false));
    }
    contract::holds(&Scene::new("").claims(true));
}

#[test]
fn the_contract_holds_whatever_the_settings_are() {
    let settings = [
        "git config core.logAllRefUpdates always",
        "git config extensions.preciousObjects true; git config core.repositoryFormatVersion 1",
        "git config extensions.partialClone origin; git config core.repositoryFormatVersion 1",
        "git config commit.gpgSign true; git config gpg.program false; git config user.useConfigOnly true",
        "mkdir h; printf '#!/bin/sh\\nexit 1\\n' > h/reference-transaction; chmod +x h/*; git config core.hooksPath $PWD/h",
        "git commit -q --no-gpg-sign --allow-empty -m one; git -c core.hooksPath=/dev/null worktree add -q linked",
    ];
    for setting in settings {
        let scene = Scene::new("");
        scene.shell(setting);
        contract::holds(&scene.claims(false));
        scene.shell("git fsck --strict");
    }
    // What the program is told of such settings it obeys at once.
    let scene = Scene::new("");
    for setting in &settings[..settings.len() - 1] {
        scene.shell(setting);
    }
    let tip = moved(scene.claims(true).swap(&id("t"), None, None, &[step("t", StepKind::Claim, "a", 1)]));
    assert_eq!(scene.claims(true).read(&id("t")).unwrap(), Some(tip));
}

/// What one of the two wrote the other one goes on with, and both write the very same.
#[test]
fn library_and_program_are_one() {
    let scene = Scene::new("");
    let [library, program] = scene.both();
    let first = step("t", StepKind::Claim, "a", 1);
    let tip = moved(library.swap(&id("t"), None, None, std::slice::from_ref(&first)));
    assert_eq!(program.read(&id("t")).unwrap().as_ref(), Some(&tip));
    assert_eq!(lost(program.swap(&id("t"), None, None, std::slice::from_ref(&first))).as_ref(), Some(&tip));
    let beat = [step("t", StepKind::Heartbeat, "a", 1)];
    let tip = moved(program.swap(&id("t"), Some(&tip.revision), Some(tip.base()), &beat));
    let tip = moved(library.swap(&id("t"), Some(&tip.revision), Some(tip.base()), &beat));
    assert_eq!(library.all(), program.all());

    let again = Scene::new("");
    let other = moved(again.claims(true).swap(&id("t"), None, None, &[first]));
    assert_eq!(tip.parent, Some(other.revision));
}

#[test]
fn what_git_log_shows() {
    let scene = Scene::new("");
    let [library, _] = scene.both();
    let tip = moved(library.swap(&id("t"), None, None, &[step("t", StepKind::Claim, "a", 1)]));
    let breaking = step("t", StepKind::StaleBreak { prior: "a".into() }, "b", 1);
    let taken = [breaking, step("t", StepKind::Claim, "b", 2)];
    moved(library.swap(&id("t"), Some(&tip.revision), Some(tip.base()), &taken));
    let shown = scene.shell("git log --format='%an <%ae> %s' refs/yoi/claims/t | sed 's/ts=[^ ]*/ts=T/'");
    assert_snapshot!(shown, @r"
    yoi <yoi@localhost> 🔒 CLAIM worker=b ts=T ttl-minutes=90
    yoi <yoi@localhost> 🔓 STALE-BREAK worker=b prior=a ts=T
    yoi <yoi@localhost> 🔒 CLAIM worker=a ts=T ttl-minutes=90
    ");
    scene.shell("git fsck --strict; git log -p --stat refs/yoi/claims/t; test -z \"$(git status --porcelain)\"");
}

#[test]
fn refs_that_others_put_there_are_named_and_left_alone() {
    let foreign = [
        "git commit --allow-empty -qm mine; git update-ref refs/yoi/claims/t HEAD",
        "git update-ref refs/yoi/claims/t $(echo blob | git hash-object -w --stdin)",
        "git commit --allow-empty -qm mine; git branch kept; git symbolic-ref refs/yoi/claims/t refs/heads/main",
        "mkdir -p .git/refs/yoi/claims; echo 0123456789012345678901234567890123456789 > .git/refs/yoi/claims/t",
        "mkdir -p .git/refs/yoi/claims; : > .git/refs/yoi/claims/t",
        "mkdir -p .git/refs/yoi/claims; echo rubbish > .git/refs/yoi/claims/t",
        "git update-ref refs/yoi/claims/t refs/yoi/claims/other; git update-ref -d refs/yoi/claims/other",
        "git update-ref refs/yoi/claims/t/below refs/yoi/claims/other; git update-ref -d refs/yoi/claims/other",
    ];
    let mut sentences = Vec::new();
    for script in foreign {
        for program_only in [false, true] {
            let scene = Scene::new("");
            let claims = GitClaims { patience: Duration::from_millis(100), ..scene.claims(program_only) };
            let (good, other) = (id("good"), id("other"));
            let tip = moved(claims.swap(&good, None, None, &[step("good", StepKind::Claim, "a", 1)]));
            moved(claims.swap(&other, None, None, &[step("other", StepKind::Claim, "a", 1)]));
            scene.shell(script);
            scene.shell("git update-ref -d refs/yoi/claims/other");
            let refs = || scene.shell("cat $(find .git/refs/yoi -type f | sort)");
            let before = refs();
            if script.contains("below") {
                // One that lies in the way of a ticket's own.
                let claim = [step("t", StepKind::Claim, "a", 1)];
                let refused = claims.swap(&id("t"), None, None, &claim).unwrap_err();
                assert!(matches!(refused, ClaimsError::Failed(_)), "{refused:?}");
                sentences.push(refused.to_string());
            } else {
                sentences.push(is_unreadable(&claims, &id("t")));
            }
            let all = claims.all().unwrap();
            assert_eq!((all.tips, all.unreadable.len()), (vec![tip], 1), "{script}");
            assert_eq!(refs(), before);
            // What the sentence says helps, and harms nothing else.
            let sentence = sentences.last().unwrap();
            match sentence.split('`').find(|part| part.starts_with("git update-ref")) {
                Some(remedy) => drop(scene.shell(remedy)),
                None => drop(scene.shell("rm -r .git/refs/yoi/claims/t")),
            }
            moved(claims.swap(&id("t"), None, None, &[step("t", StepKind::Claim, "a", 1)]));
        }
    }
    let shown = sentences.join("\n").replace(|c: char| c.is_ascii_digit(), "0");
    assert_snapshot!(shown, @r"
    refs/yoi/claims/t is no claim that this version of yoi can read: its message has no trailers. It is left as it is, and so the ticket cannot be claimed; if nobody needs it, `git update-ref --no-deref -d refs/yoi/claims/t` removes it
    refs/yoi/claims/t is no claim that this version of yoi can read: its message has no trailers. It is left as it is, and so the ticket cannot be claimed; if nobody needs it, `git update-ref --no-deref -d refs/yoi/claims/t` removes it
    refs/yoi/claims/t is no claim that this version of yoi can read: it leads to a blob, 00000e0ea0e000b000000ceb0d0a0000e0d00ae0. It is left as it is, and so the ticket cannot be claimed; if nobody needs it, `git update-ref --no-deref -d refs/yoi/claims/t` removes it
    refs/yoi/claims/t is no claim that this version of yoi can read: it leads to a blob. It is left as it is, and so the ticket cannot be claimed; if nobody needs it, `git update-ref --no-deref -d refs/yoi/claims/t` removes it
    refs/yoi/claims/t is no claim that this version of yoi can read: it points to the ref refs/heads/main. It is left as it is, and so the ticket cannot be claimed; if nobody needs it, `git update-ref --no-deref -d refs/yoi/claims/t` removes it
    refs/yoi/claims/t is no claim that this version of yoi can read: it points to the ref refs/heads/main. It is left as it is, and so the ticket cannot be claimed; if nobody needs it, `git update-ref --no-deref -d refs/yoi/claims/t` removes it
    refs/yoi/claims/t is no claim that this version of yoi can read: its object 0000000000000000000000000000000000000000 cannot be read: object not found - no match for id (0000000000000000000000000000000000000000). It is left as it is, and so the ticket cannot be claimed; if nobody needs it, `git update-ref --no-deref -d refs/yoi/claims/t` removes it
    refs/yoi/claims/t is no claim that this version of yoi can read: its object is gone: 0000000000000000000000000000000000000000 missing. It is left as it is, and so the ticket cannot be claimed; if nobody needs it, `git update-ref --no-deref -d refs/yoi/claims/t` removes it
    refs/yoi/claims/t is no claim that this version of yoi can read: what keeps the ref is damaged. It is left as it is, and so the ticket cannot be claimed; if nobody needs it, the file refs/yoi/claims/t in git's folder can be removed
    refs/yoi/claims/t is no claim that this version of yoi can read: what keeps the ref is damaged. It is left as it is, and so the ticket cannot be claimed; if nobody needs it, the file refs/yoi/claims/t in git's folder can be removed
    refs/yoi/claims/t is no claim that this version of yoi can read: what keeps the ref is damaged. It is left as it is, and so the ticket cannot be claimed; if nobody needs it, the file refs/yoi/claims/t in git's folder can be removed
    refs/yoi/claims/t is no claim that this version of yoi can read: what keeps the ref is damaged. It is left as it is, and so the ticket cannot be claimed; if nobody needs it, the file refs/yoi/claims/t in git's folder can be removed
    refs/yoi/claims/t is no claim that this version of yoi can read: it is a step of another ticket, `other`. It is left as it is, and so the ticket cannot be claimed; if nobody needs it, `git update-ref --no-deref -d refs/yoi/claims/t` removes it
    refs/yoi/claims/t is no claim that this version of yoi can read: it is a step of another ticket, `other`. It is left as it is, and so the ticket cannot be claimed; if nobody needs it, `git update-ref --no-deref -d refs/yoi/claims/t` removes it
    git cannot get at refs/yoi/claims/t: cannot lock ref 'refs/yoi/claims/t', there are refs beneath that folder
    git did not move refs/yoi/claims/t, which nobody else moved: fatal: update_ref failed for ref 'refs/yoi/claims/t': cannot lock ref 'refs/yoi/claims/t': 'refs/yoi/claims/t/below' exists; cannot create 'refs/yoi/claims/t'
    ");
}

#[test]
fn a_lock_of_somebody_elses_is_waited_for() {
    for program_only in [false, true] {
        let scene = Scene::new("");
        let claims = scene.claims(program_only);
        scene.shell("mkdir -p .git/refs/yoi/claims; : > .git/refs/yoi/claims/t.lock");
        let _beside = Beside::new(scene.path(), "sleep 0.7; rm .git/refs/yoi/claims/t.lock");
        let began = Instant::now();
        moved(claims.swap(&id("t"), None, None, &[step("t", StepKind::Claim, "a", 1)]));
        assert!(began.elapsed() > Duration::from_millis(100), "{:?}", began.elapsed());
    }
}

#[test]
fn a_lock_that_was_left_is_named_and_left_alone() {
    let mut sentences = Vec::new();
    for program_only in [false, true] {
        let scene = Scene::new("");
        let claims = GitClaims { patience: Duration::from_millis(60), ..scene.claims(program_only) };
        scene.shell("mkdir -p .git/refs/yoi/claims; : > .git/refs/yoi/claims/t.lock");
        let refused = claims.swap(&id("t"), None, None, &[step("t", StepKind::Claim, "a", 1)]).unwrap_err();
        assert!(matches!(refused, ClaimsError::Failed(_)), "{refused:?}");
        sentences.push(refused.to_string().replace(&*scene.path().canonicalize().unwrap().to_string_lossy(), "REPO"));
        assert!(scene.path().join(".git/refs/yoi/claims/t.lock").exists());
        assert_eq!(claims.all().unwrap(), AllClaims::default());
        scene.shell("rm .git/refs/yoi/claims/t.lock");
        moved(claims.swap(&id("t"), None, None, &[step("t", StepKind::Claim, "a", 1)]));
    }
    assert_snapshot!(sentences.join("\n"), @r"
    git's lock REPO/.git/refs/yoi/claims/t.lock was held for 0 s: another git program is at work there, or one was killed in the middle. If no git program is running, remove that file
    git's lock REPO/.git/refs/yoi/claims/t.lock was held for 0 s: another git program is at work there, or one was killed in the middle. If no git program is running, remove that file
    ");
}

#[test]
fn a_lock_that_a_killed_yoi_left_is_taken_away_and_no_other_one() {
    for program_only in [false, true] {
        let scene = Scene::new("");
        let claims = GitClaims { patience: Duration::from_millis(600), ..scene.claims(program_only) };
        let claim = moved(claims.swap(&id("t"), None, None, &[step("t", StepKind::Claim, "a", 1)]));
        let on = Some(&claim.revision);
        let beat = |nonce: &str| Step { nonce: nonce.into(), ..step("t", StepKind::Heartbeat, "a", 1) };
        let lost = moved(claims.swap(&id("t"), on, on, &[beat("one")]));
        // It was killed before the ref had moved.
        let lock = |text: &str| {
            scene.shell(&format!("git update-ref refs/yoi/claims/t {}", claim.revision));
            scene.shell(&format!("printf '{text}' > .git/refs/yoi/claims/t.lock"));
        };
        lock(&format!("{}\n", lost.revision));
        moved(claims.swap(&id("t"), on, on, &[beat("two")]));
        assert!(!scene.path().join(".git/refs/yoi/claims/t.lock").exists());
        let other = moved(claims.swap(&id("u"), None, None, &[step("u", StepKind::Claim, "a", 1)]));
        let head = scene.shell("git commit -q --allow-empty -m x; git rev-parse HEAD");
        for text in [other.revision.0.as_str(), head.trim(), "", "1234", "mine"] {
            lock(text);
            assert!(matches!(claims.swap(&id("t"), on, on, &[beat("three")]), Err(ClaimsError::Failed(_))), "{text}");
            assert!(scene.path().join(".git/refs/yoi/claims/t.lock").exists(), "{text}");
            scene.shell("rm .git/refs/yoi/claims/t.lock");
        }
    }
}

#[test]
fn what_cannot_be_written_is_no_race_that_was_lost() {
    let script = "rm -rf .git/objects; : > .git/objects";
    for program_only in [false, true] {
        let scene = Scene::new("");
        let claims = scene.claims(program_only);
        moved(claims.swap(&id("t"), None, None, &[step("t", StepKind::Claim, "a", 1)]));
        scene.shell(script);
        let refused = claims.swap(&id("u"), None, None, &[step("u", StepKind::Claim, "a", 1)]);
        assert!(matches!(refused, Err(ClaimsError::Failed(_) | ClaimsError::NoGit(_))), "{refused:?}");
    }
    // A value that no message holds.
    let scene = Scene::new("");
    let long = Step { worker: "x".repeat(10_000), ..step("t", StepKind::Claim, "a", 1) };
    let refused = scene.claims(false).swap(&id("t"), None, None, &[long]).unwrap_err();
    assert_snapshot!(refused, @r"the claim of `t` was not moved: its Worker has 10000 bytes; at most 4096 are kept");
}

#[test]
fn where_there_is_no_git_a_sentence_says_so() {
    let folder = TempDir::new().unwrap();
    let mut sentences = Vec::new();
    let mut say = |claims: GitClaims| {
        let refused = claims.read(&id("t")).unwrap_err();
        assert!(matches!(refused, ClaimsError::NoGit(_)), "{refused:?}");
        assert!(matches!(claims.all(), Err(ClaimsError::NoGit(_))));
        sentences.push(refused.to_string().replace(&*folder.path().to_string_lossy(), "FOLDER"));
    };
    say(GitClaims::new(folder.path(), None));
    say(GitClaims::new(folder.path(), Some(&folder.path().join(".git"))));
    shell(folder.path(), "git init -q; git config core.repositoryFormatVersion 1; git config extensions.later 1");
    say(GitClaims::new(folder.path(), Some(&folder.path().join(".git"))));
    assert_snapshot!(sentences.join("\n"), @r#"
    claims are kept in git, and this workspace is in no git repository (`git init` makes one)
    claims are git refs, and this repository cannot be opened: libgit2 says "failed to resolve path 'FOLDER/.git': No such file or directory", and git says "fatal: not a git repository (or any of the parent directories): .git"
    claims are git refs, and this repository cannot be opened: libgit2 says "unsupported extension name extensions.later", and git says "fatal: unknown repository extension found:"
    "#);
}

/// Needs to be root, to give a repository away.
#[test]
fn a_repository_of_another_users_is_not_opened_unasked() {
    let scene = Scene::new("");
    let claims = scene.claims(false);
    if !command(scene.path(), "chown -R 65534 . && ! git rev-parse 2>&-").status().unwrap().success() {
        eprintln!("SKIPPED: this user cannot give away a repository");
        return;
    }
    let refused = claims.read(&id("t")).unwrap_err();
    assert!(matches!(refused, ClaimsError::NoGit(_)), "{refused:?}");
    assert!(refused.to_string().contains("git config --global --add safe.directory"), "{refused}");
}

/// What was read before is not read again, and is right all the same.
#[test]
fn all_is_right_a_second_time() {
    for program_only in [false, true] {
        let scene = Scene::new("");
        let claims = scene.claims(program_only);
        let tips = ["a", "b", "c"].map(|t| moved(claims.swap(&id(t), None, None, &[step(t, StepKind::Claim, "w", 1)])));
        assert_eq!(claims.all().unwrap().tips, tips);
        assert_eq!(claims.all().unwrap().tips, tips);
        let beat = [step("b", StepKind::Heartbeat, "w", 1)];
        // By somebody else.
        let beat = moved(scene.claims(false).swap(&id("b"), Some(&tips[1].revision), Some(tips[1].base()), &beat));
        scene.shell("git update-ref -d refs/yoi/claims/a; git update-ref refs/yoi/claims/other refs/yoi/claims/c");
        let all = claims.all().unwrap();
        assert_eq!(all.tips, [beat, tips[2].clone()]);
        assert_eq!(all.unreadable.len(), 1, "one step is no other ticket's");
    }
}

#[test]
fn all_is_read_from_loose_and_packed_refs_alike() {
    for program_only in [false, true] {
        let scene = Scene::new("");
        let claims = scene.claims(program_only);
        let names: Vec<String> = (0..8).map(|n| format!("ticket-{n}")).collect();
        for (at, name) in names.iter().enumerate() {
            moved(claims.swap(&id(name), None, None, &[step(name, StepKind::Claim, "a", 1)]));
            if at % 3 == 0 {
                scene.shell("git pack-refs --all; git repack -adq");
            }
        }
        let mut found: Vec<String> = claims.all().unwrap().tips.iter().map(|tip| tip.step.ticket.to_string()).collect();
        found.sort();
        assert_eq!(found, names);
        // A packed one is moved as well.
        let tip = claims.read(&id("ticket-0")).unwrap().unwrap();
        let beat = step("ticket-0", StepKind::Heartbeat, "a", 1);
        let beat = moved(claims.swap(&id("ticket-0"), Some(&tip.revision), Some(tip.base()), &[beat]));
        scene.shell("git pack-refs --all");
        assert_eq!(claims.read(&id("ticket-0")).unwrap(), Some(beat));
        assert_eq!(fs::read_dir(scene.path().join(".git/refs/yoi/claims")).map_or(0, Iterator::count), 0);
        assert!(name::of(&id("ticket-0")) == "ticket-0");
    }
}

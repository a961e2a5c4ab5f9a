//! Real repositories, made with the git program, its settings kept away from the machine's own.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use super::*;

struct Scene {
    folder: TempDir,
}

impl Scene {
    /// A repository with a committed `src/a.rs`, `b.txt`, `tickets/t.md` and `.yoi/config.toml`.
    fn new(init: &str) -> Self {
        let scene = Self { folder: TempDir::new().unwrap() };
        scene.shell(&format!("git init -q -b main {init} ."));
        scene.shell(
            "git config user.name 'Ann Editor'; git config user.email ann@example.org
            mkdir src tickets .yoi; echo a > src/a.rs; echo b > b.txt; echo t > tickets/t.md; echo c > .yoi/config.toml
            git add .; git commit -qm one",
        );
        scene
    }

    fn shell(&self, script: &str) {
        shell(self.folder.path(), script);
    }

    fn worktree(&self) -> GitWorktree {
        let git = self.folder.path().join(".git");
        GitWorktree::new(self.folder.path(), Some(&git), Path::new("tickets"))
    }
}

fn shell(folder: &Path, script: &str) {
    let mut command = Command::new("sh");
    command
        .args(["-euc", script])
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    command
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "protocol.file.allow")
        .env("GIT_CONFIG_VALUE_0", "always");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    let done = command.output().unwrap();
    assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
}

fn changed(paths: &[&str]) -> Dirty {
    if paths.is_empty() { Dirty::Clean } else { Dirty::Changed(paths.iter().map(ToString::to_string).collect()) }
}

const CHANGES: [(&str, &[&str]); 18] = [
    ("true", &[]),
    ("echo new > untracked; mkdir u; echo x > u/x", &[]),
    ("echo x >> tickets/t.md; echo x > tickets/new.md; git add tickets", &[]),
    ("echo x >> .yoi/config.toml", &[]),
    ("rm -r tickets .yoi", &[]),
    ("touch b.txt src/a.rs", &[]),
    ("echo x >> b.txt", &["b.txt"]),
    ("echo x >> b.txt; git add b.txt", &["b.txt"]),
    ("echo x > staged; git add staged", &["staged"]),
    ("rm src/a.rs", &["src/a.rs"]),
    ("chmod +x b.txt", &["b.txt"]),
    ("git mv b.txt c.txt", &["b.txt", "c.txt"]),
    ("mkdir tickets.old; echo x > tickets.old/t.md; git add -f tickets.old", &["tickets.old/t.md"]),
    ("git rm -q --cached b.txt", &["b.txt"]),
    ("git rm -qr --cached src; echo x >> tickets/t.md", &["src/a.rs"]),
    ("git rm -qr src tickets; echo x > src", &["src/a.rs"]),
    ("rm -r src; echo x > src; git add src", &["src", "src/a.rs"]),
    ("for n in 7 6 5 4 3 2 1; do echo > ä$n; done; git add .", &["ä1", "ä2", "ä3", "ä4", "ä5"]),
];

#[test]
fn what_counts_as_a_change_is_the_same_by_library_and_by_program() {
    for (script, expected) in CHANGES {
        let scene = Scene::new("");
        scene.shell(script);
        let worktree = scene.worktree();
        let library = worktree.changed_by_library().unwrap().unwrap();
        let by_program = worktree.changed_by_program().unwrap();
        assert_eq!(Dirty::from(library), changed(expected), "library: {script}");
        assert_eq!(Dirty::from(by_program), changed(expected), "program: {script}");
        assert_eq!(worktree.dirty(), changed(expected), "{script}");
    }
}

#[test]
fn what_counts_lies_beside_a_ticket_folder_that_lies_deep() {
    let check = |script: &str, expected: &[&str]| {
        let scene = Scene::new("");
        scene.shell(
            "mkdir -p docs/work/tickets docs/other; echo x > docs/work/tickets/t.md; echo x > docs/work/notes
            echo x > docs/other/o; git add .; git commit -qm two",
        );
        scene.shell(script);
        let git = scene.folder.path().join(".git");
        let worktree = GitWorktree::new(&scene.folder.path().join("docs"), Some(&git), Path::new("work/tickets"));
        let (library, program) = (worktree.changed_by_library().unwrap().unwrap(), worktree.changed_by_program());
        assert_eq!(Dirty::from(library), changed(expected), "library: {script}");
        assert_eq!(Dirty::from(program.unwrap()), changed(expected), "program: {script}");
    };
    check("true", &[]);
    check("echo y >> docs/work/tickets/t.md; git rm -q --cached docs/work/tickets/t.md", &[]);
    check("echo y >> docs/work/notes", &["docs/work/notes"]);
    check("git rm -q --cached docs/work/notes docs/other/o", &["docs/other/o", "docs/work/notes"]);
    check("git rm -qr --cached docs; echo y >> tickets/t.md", &["docs/other/o", "docs/work/notes", "tickets/t.md"]);
    check("rm -r docs/work; echo y > docs/work; git add -A", &["docs/work", "docs/work/notes"]);
}

#[test]
fn a_ticket_folder_that_git_took_is_told_from_one_that_was_moved_away() {
    let table = [
        ("true", false),
        ("mv tickets issues", false),
        ("git rm -qr tickets", true),
        ("git rm -qr tickets; git commit -qm two; echo x > c; git add c; git commit -qm three", true),
        ("mv tickets issues; git add -A", false),
        ("git mv tickets issues; git commit -qm two; echo x > c; git add c; git commit -qm three", false),
        ("mkdir old; git mv tickets/t.md old/t.md", false),
        ("git rm -qr tickets; git commit -qm two; git checkout -q --orphan new; git commit -qm none", false),
    ];
    for (script, expected) in table {
        let scene = Scene::new("");
        scene.shell(script);
        assert_eq!(scene.worktree().emptied_tickets(), expected, "{script}");
    }
}

#[test]
fn repositories_that_the_library_cannot_open_are_asked_through_the_program() {
    for init in ["--ref-format=reftable", "--object-format=sha256"] {
        let probe = TempDir::new().unwrap();
        if git_program::run(probe.path(), &["init", init]).is_err() {
            // A git from before 2.45 makes no such repository.
            continue;
        }
        let scene = Scene::new(init);
        let worktree = scene.worktree();
        assert!(worktree.changed_by_library().is_err(), "{init}: then this test proves nothing");
        assert_eq!(worktree.dirty(), Dirty::Clean, "{init}");
        assert_eq!(worktree.user_name().as_deref(), Some("Ann Editor"), "{init}");
        scene.shell("echo x >> b.txt");
        assert_eq!(worktree.dirty(), changed(&["b.txt"]), "{init}");
    }
}

#[test]
fn a_partial_clone_is_no_obstacle() {
    let origin = Scene::new("");
    origin.shell("git config uploadpack.allowFilter true");
    let folder = TempDir::new().unwrap();
    let url = format!("file://{}", origin.folder.path().display());
    shell(folder.path(), &format!("git clone -q --filter=blob:none {url} copy"));
    let copy = folder.path().join("copy");
    let worktree = GitWorktree::new(&copy, Some(&copy.join(".git")), Path::new("tickets"));
    assert_eq!(worktree.dirty(), Dirty::Clean);
    shell(&copy, "echo x >> b.txt");
    assert_eq!(worktree.dirty(), changed(&["b.txt"]));
}

#[test]
fn of_a_submodule_only_another_commit_counts() {
    let inner = Scene::new("");
    let scene = Scene::new("");
    scene.shell(&format!("git submodule add -q {} sub; git commit -qm sub", inner.folder.path().display()));
    let worktree = scene.worktree();
    for (script, expected) in [
        ("true", &[][..]),
        ("echo x >> sub/b.txt; echo x > sub/untracked", &[]),
        ("cd sub; git -c user.name=a -c user.email=a@b commit -qam two", &["sub"]),
    ] {
        scene.shell(script);
        assert_eq!(worktree.dirty(), changed(expected), "{script}");
        let library = worktree.changed_by_library().unwrap().unwrap();
        assert_eq!(Dirty::from(library), changed(expected), "library: {script}");
    }
}

#[test]
fn what_the_library_takes_for_a_change_is_asked_again() {
    let table = [
        // A filter program: what lies in the folder is not what lies in git.
        "git config filter.x.clean 'tr a-z A-Z'; git config filter.x.smudge 'tr A-Z a-z'; echo '*.txt filter=x' > .gitattributes
        git add .; git commit -qm filter; rm b.txt; git checkout -q b.txt; touch b.txt",
        "git sparse-checkout set --no-cone /tickets /b.txt",
    ];
    for script in table {
        let scene = Scene::new("");
        scene.shell(script);
        assert_eq!(scene.worktree().dirty(), Dirty::Clean, "{script}");
        scene.shell("echo more >> b.txt");
        assert_eq!(scene.worktree().dirty(), changed(&["b.txt"]), "{script}");
    }
}

#[test]
fn looking_touches_nothing_in_git() {
    let scene = Scene::new("");
    scene.shell("touch -d '2001-01-01' b.txt; echo x >> src/a.rs; : > .git/index.lock");
    let before = fs::metadata(scene.folder.path().join(".git/index")).unwrap().modified().unwrap();
    assert_eq!(scene.worktree().dirty(), changed(&["src/a.rs"]));
    assert_eq!(fs::metadata(scene.folder.path().join(".git/index")).unwrap().modified().unwrap(), before);
    assert!(scene.folder.path().join(".git/index.lock").exists(), "somebody else's lock stays");
}

#[test]
fn without_git_nothing_is_probed_and_nothing_in_the_way() {
    let folder = TempDir::new().unwrap();
    let worktree = GitWorktree::new(folder.path(), None, Path::new("tickets"));
    assert_eq!((worktree.dirty(), worktree.obstacle()), (Dirty::NotProbed, None));
}

#[test]
fn what_git_is_in_the_middle_of_is_named_with_its_path() {
    let conflict = "git checkout -qb side; echo side > b.txt; git commit -qam side
        git checkout -q main; echo main > b.txt; git commit -qam main; ";
    let table = [
        ("true", None),
        ("git merge side || true", Some("a merge is under way (.git/MERGE_HEAD)")),
        ("git rebase side || true", Some("a rebase is under way (.git/rebase-merge)")),
        ("git rebase --apply side || true", Some("a rebase, or `git am`, is under way (.git/rebase-apply)")),
        ("git cherry-pick side || true", Some("a cherry-pick is under way (.git/CHERRY_PICK_HEAD)")),
        ("git revert --no-edit HEAD~ side || true", Some("a revert is under way (.git/REVERT_HEAD)")),
        (
            ": > .git/index.lock",
            Some("another git command is writing the index, or one was killed while it did (.git/index.lock)"),
        ),
    ];
    for (script, expected) in table {
        let scene = Scene::new("");
        scene.shell(&format!("{conflict}{script}"));
        assert_eq!(scene.worktree().obstacle().map(|obstacle| obstacle.what).as_deref(), expected, "{script}");
    }
}

#[test]
fn a_workspace_in_a_subfolder_or_a_linked_worktree() {
    let scene = Scene::new("");
    let at = scene.folder.path();
    let git = at.join(".git");
    scene.shell(
        "mkdir -p src/tickets; echo t > src/tickets/t.md; git add .; git commit -qm two; git worktree add -q linked",
    );
    let inside = GitWorktree::new(&at.join("src"), Some(&git), Path::new("tickets"));
    scene.shell("echo x >> src/tickets/t.md");
    assert_eq!(inside.dirty(), Dirty::Clean);
    scene.shell("echo x >> src/a.rs; echo x >> tickets/t.md");
    assert_eq!(inside.dirty(), changed(&["src/a.rs", "tickets/t.md"]));

    let linked = GitWorktree::new(&at.join("linked"), Some(&git), Path::new("tickets"));
    assert_eq!(linked.dirty(), Dirty::Clean);
    scene.shell(": > .git/worktrees/linked/index.lock; echo x >> linked/b.txt");
    assert_eq!(linked.dirty(), changed(&["b.txt"]));
    assert!(linked.obstacle().unwrap().what.contains("worktrees/linked/index.lock"));
    assert_eq!(scene.worktree().obstacle(), None);
}

#[test]
fn a_damaged_repository_fails_in_words() {
    let scene = Scene::new("");
    scene.shell("echo garbage > .git/index");
    let Dirty::Failed(why) = scene.worktree().dirty() else { panic!("it is neither clean nor dirty") };
    assert!(why.contains("index file"), "{why}");
}

#[test]
fn the_users_name_is_gits() {
    let scene = Scene::new("");
    assert_eq!(scene.worktree().user_name().as_deref(), Some("Ann Editor"));
    scene.shell("git config user.name '  '");
    assert_eq!(scene.worktree().user_name(), None);
}
